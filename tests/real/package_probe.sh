#!/bin/sh
# Runs in the machine of tests/real/package.py, under its systemd, as root. Prints what failed; the
# last line is "whole" if nothing failed.
# $1: external address of drover. /probe contains the kubeconfig and the newer packages.
set -eu
wrong() {
	echo "wrong: $*"
	journalctl -q -o cat -n 40 -u drover
	exit 1
}
until_said() { # by drover's unit
	for _ in $(seq 200); do
		if journalctl -q -o cat -u drover | grep -qF "$1"; then return 0; fi
		sleep 0.3
	done
	wrong "never said: $1"
}
until_status() {
	for _ in $(seq 200); do
		if [ "$(systemctl show -P StatusText drover)" = "$1" ]; then return 0; fi
		sleep 0.3
	done
	wrong "its status is not '$1': $(systemctl show -P StatusText drover)"
}
until_ready() {
	for _ in $(seq 200); do
		if curl -sf -o /dev/null http://127.0.0.1:9090/readyz; then return 0; fi
		sleep 0.3
	done
	wrong "not ready: $1"
}
of_process() { sed -n "s/^$1:[[:space:]]*//p" "/proc/$(systemctl show -P MainPID drover)/status"; }

[ "$(systemctl is-enabled drover || true)" = disabled ] || wrong "enabled before it has its settings"
if systemctl start drover; then wrong "started without its settings"; fi
until_said "/etc/drover/drover.yaml: agent-name: has no value"
sed -i "s/^agent-name:.*/agent-name: $1/" /etc/drover/drover.yaml
systemctl start --no-block drover
until_said "/etc/drover/kubeconfig is missing"
install -m 600 /probe/kubeconfig /etc/drover/kubeconfig
mkdir -p /run/systemd/system/drover.service.d # a shorter limit of the watchdog, until the machine is booted again
printf '[Service]\nWatchdogSec=5\n' >/run/systemd/system/drover.service.d/watchdog.conf
systemctl daemon-reload
systemctl enable -q drover
systemctl restart drover || wrong "does not start"
curl -sf -o /dev/null http://127.0.0.1:9090/readyz || wrong "started before it is ready"
until_status "leading, 0 machines"

before=$(systemctl show -P MainPID drover)
kill -STOP "$before"
until_said "Watchdog timeout"
# The watchdog may have ended the process already.
[ ! -d "/proc/$before" ] || kill -CONT "$before" 2>/dev/null || [ ! -d "/proc/$before" ] || wrong "cannot be continued"
until_ready "after its loop hung"

case $(of_process Uid) in 0[!0-9]*) wrong "runs as root" ;; esac
[ "$(of_process NoNewPrivs) $(of_process Seccomp)" = "1 2" ] || wrong "new privileges, or no filter of calls"
[ "$(of_process CapEff)$(of_process CapBnd)" = 00000000000000000000000000000000 ] || wrong "has capabilities"
systemd-analyze security --no-pager --threshold=20 drover.service >/probe/security || wrong "exposed: $(tail -n 1 /probe/security)"

before=$(systemctl show -P MainPID drover)
dpkg -i /probe/newer-*.deb >/probe/dpkg.log 2>&1 || wrong "the upgrade: $(tail -n 3 /probe/dpkg.log)"
until_ready "after the upgrade"
[ "$(systemctl show -P MainPID drover)" != "$before" ] || wrong "the old program runs on after the upgrade"
grep -q "^agent-name: $1" /etc/drover/drover.yaml || wrong "the upgrade lost the settings"
[ "$(dpkg-query -W -f '${Version}' drover)" = 9999 ] || wrong "no newer package is installed"

/probe/install.sh --uninstall --package drover
if systemctl -q is-active drover; then wrong "runs after it was removed"; fi
[ ! -e /usr/bin/drover ] || wrong "the program is left"
[ ! -e /usr/share/drover ] || wrong "the agent's boot image is left"
for file in drover.yaml kubeconfig; do [ -e /etc/drover/$file ] || wrong "its $file went with it"; done
/probe/install.sh --uninstall --purge --package drover
[ ! -e /etc/drover ] || wrong "settings are left: $(ls /etc/drover)"
systemctl daemon-reload
[ -z "$(systemctl list-unit-files --no-legend 'drover*')" ] || wrong "a unit is left"
echo whole
