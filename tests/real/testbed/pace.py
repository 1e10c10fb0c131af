"""Measures how much slower this machine is than a quiet one; every time limit of the real tests
grows by that factor.

Limits are given for a quiet machine with 2 cores and without KVM. Things whose duration there is
known are measured here: above all the first boot of the agent; before that, the start of the test's
base; and later, the kernel start of each further boot. The slowest of them, relative to its time on
a quiet machine, is the factor: at least 1, and at most MOST, so that a test that hangs still ends.
The factor is updated during a wait. DROVER_PACE is an initial factor; child processes inherit the
current one in it.
"""
import os
import time

MOST = 10.0
PROBE_EVERY_S = 1

_factor = min(MOST, max(1.0, float(os.environ.get("DROVER_PACE", "1"))))
_because = "DROVER_PACE" if _factor > 1 else "nothing was slower than on a quiet machine"
# What -> (its seconds on a quiet machine, function that returns its seconds here or None, again).
_probes = {}
_learnt = {}  # what -> its seconds here, the longest so far
_probed_at = 0.0


def learn(what, took_s, quiet_s):
    """Records that `what` took took_s here, and quiet_s on a quiet machine."""
    global _factor, _because
    because = f"{what} took {took_s:.1f} s, on a quiet machine {quiet_s:.1f} s"
    found = min(MOST, max(1.0, took_s / quiet_s))
    if found > _factor:
        _factor, _because = found, because
        os.environ["DROVER_PACE"] = f"{found:.2f}"
    print(f"   pace: {because}: waits × {_factor:.1f}", flush=True)


def watch(what, quiet_s, probe, again=False):
    """Calls learn() once probe() returns the seconds that it took; waits call probe at most once a
    second. again: it happens more than once, and the machine may become slow later, so each longer
    time counts."""
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
    """Returns the time limit here for what takes at most quiet_s on a quiet machine."""
    _look()
    return quiet_s * _factor


def words(quiet_s):
    """Returns the limit as text for a failure."""
    here_s = limit(quiet_s)
    return f"{here_s:.{0 if here_s >= 10 else 1}f} s ({quiet_s:g} s × {_factor:.1f}: {_because})"


def wait_for(what, test, limit_s, every_s=0.1):
    """Calls test() until it returns something true, and returns that. limit_s: on a quiet machine."""
    began = time.monotonic()
    while True:
        got = test()
        if got:
            return got
        if time.monotonic() - began > limit(limit_s):
            raise TimeoutError(f"waited for {what}: not within {words(limit_s)}")
        time.sleep(every_s)
