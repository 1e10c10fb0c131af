"""How much slower than a quiet one this machine is: every wait of the real tests grows by it.

A wait is given for a quiet machine with 2 cores and without KVM.  What takes a known time there is
measured in passing: above all the first boot of the agent, and before it the start of what the test
stands on; and later, how long the kernel of each further boot needed.  The slowest of them, against its time on a quiet machine, is the factor: 1 at least, and
no more than MOST, so that a test that hangs still ends.  It is looked at anew while a wait lasts.
DROVER_PACE is a factor to begin with; children inherit what was learnt in it.
"""
import os
import time

MOST = 10.0
PROBE_EVERY_S = 1

_factor = min(MOST, max(1.0, float(os.environ.get("DROVER_PACE", "1"))))
_because = "DROVER_PACE" if _factor > 1 else "nothing was slower than on a quiet machine"
_probes = {}  # what -> (its seconds on a quiet machine, called for the seconds here: None as yet, again)
_learnt = {}  # what -> its seconds here, the most so far
_probed_at = 0.0


def learn(what, took_s, quiet_s):
    """`what` took so long here; on a quiet machine it takes quiet_s."""
    global _factor, _because
    because = f"{what} took {took_s:.1f} s, on a quiet machine {quiet_s:.1f} s"
    found = min(MOST, max(1.0, took_s / quiet_s))
    if found > _factor:
        _factor, _because = found, because
        os.environ["DROVER_PACE"] = f"{found:.2f}"
    print(f"   pace: {because}: waits × {_factor:.1f}", flush=True)


def watch(what, quiet_s, probe, again=False):
    """learn() it once probe() gives the seconds that it took; probe is called from waits, at most
    once a second.  again: it happens more than once, and a machine may become slow in the middle: each
    time that it takes longer counts."""
    _probes[what] = (quiet_s, probe, again)


def _look():
    global _probed_at
    now = time.monotonic()
    if not _probes or now - _probed_at < PROBE_EVERY_S:
        return
    _probed_at = now
    for what, (quiet_s, probe, again) in list(_probes.items()):
        took_s = probe()
        if took_s and took_s > _learnt.get(what, 0):
            _learnt[what] = took_s
            learn(what, took_s, quiet_s)
        if took_s and not again:
            del _probes[what]


def limit(quiet_s):
    """How long to wait here for what takes no longer than quiet_s on a quiet machine."""
    _look()
    return quiet_s * _factor


def words(quiet_s):
    """The limit as a failure tells it."""
    here_s = limit(quiet_s)
    return f"{here_s:.{0 if here_s >= 10 else 1}f} s ({quiet_s:g} s × {_factor:.1f}: {_because})"


def wait_for(what, test, limit_s, every_s=0.1):
    """Calls test() until it gives something true, which is returned.  limit_s: on a quiet machine."""
    began = time.monotonic()
    while True:
        got = test()
        if got:
            return got
        if time.monotonic() - began > limit(limit_s):
            raise TimeoutError(f"waited for {what}: not within {words(limit_s)}")
        time.sleep(every_s)
