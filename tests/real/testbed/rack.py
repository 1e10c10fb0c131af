"""A rack: virtual machines with UEFI, NVMe drives and a BMC.

The machines are libvirt domains under software emulation; the BMC is sushy-tools' Redfish emulator
over TLS with a password. No code of drover is used.
"""
import atexit
import datetime
import fcntl
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import uuid
import xml.sax.saxutils

from . import pace, parts, process
from .network import QEMU

REAPER = pathlib.Path(__file__).resolve().parent / "reaper.py"
# Separate daemons, beside a libvirtd that may run here: one set for each version of their
# arguments.
HOME = (pathlib.Path("/var/lib/drover-testbed")
        / hashlib.sha256(REAPER.read_bytes()).hexdigest()[:12])
URI = f"qemu:///system?socket={HOME}/run/libvirt-sock"
LOG = HOME / "libvirt.log"
FIRST_BOOT = "the agent's first boot, from its kernel to its first answer,"
QUIET_BOOT_S = {1: 4.5, 2: 6.0, 3: 7.5}  # by number of machines that boot at the same time
KERNEL = "the start of an agent's kernel"
HUNG = re.compile(r"nvme nvme\d+: I/O \d+ .*timeout")
QUIET_KERNEL_S = {1: 3.5, 2: 4.7, 3: 6.0}
POOL = pathlib.Path("/var/lib/libvirt/images")  # path for libvirtd
MIB = 1 << 20

# libvirt 9 supports neither NVMe disks nor a user-mode card at a fixed address, so these are
# arguments for QEMU; sushy-tools keeps them when it redefines the domain. A drive unknown to
# libvirt has no <boot>: its bootindex is higher than those that libvirt assigns (1, 2, ...), so a
# medium with an override boots first and the first drive next.
DOMAIN = """\
<domain type='qemu' xmlns:qemu='http://libvirt.org/schemas/domain/qemu/1.0'>
  <name>{name}</name>
  <uuid>{uuid}</uuid>
  <memory unit='MiB'>{memory_mib}</memory>
  <vcpu>{cpus}</vcpu>
  <sysinfo type='smbios'>
    <system>
      <entry name='manufacturer'>drover test bed</entry>
      <entry name='product'>rack</entry>
      <entry name='serial'>{serial}</entry>
      <entry name='uuid'>{uuid}</entry>
    </system>
  </sysinfo>
  <os firmware='efi'>
    <type arch='x86_64' machine='q35'>hvm</type>
    <firmware><feature enabled='no' name='secure-boot'/></firmware>
    <smbios mode='sysinfo'/>
  </os>
  <features><acpi/><apic/></features>
  <cpu mode='custom' match='exact'><model>{cpu}</model></cpu>
  <clock offset='utc'/>
  <on_poweroff>destroy</on_poweroff>
  <on_reboot>restart</on_reboot>
  <on_crash>destroy</on_crash>
  <devices>
    <emulator>{emulator}</emulator>
    <controller type='sata' index='0'/>
    <controller type='usb' model='none'/>
    <memballoon model='none'/>
    <rng model='virtio'><backend model='random'>/dev/urandom</backend></rng>
    <serial type='file'><source path='{console}' append='on'/><target port='0'/></serial>
    <console type='file'><source path='{console}' append='on'/><target type='serial'/></console>
  </devices>
  <qemu:commandline>
{arguments}
  </qemu:commandline>
</domain>
"""


def virsh(*args, check=True):
    done = subprocess.run(["virsh", "-q", "-c", URI, *[str(a) for a in args]],
                          capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise RuntimeError(f"virsh {' '.join(map(str, args))}: {done.stderr.strip()}")
    return done.stdout.strip()


def libvirt_up():
    """Starts libvirtd with its log daemon and the pool for virtual media. It stays running, since
    another run may use it."""
    def answers():
        return subprocess.run(["virsh", "-c", URI, "version"], capture_output=True,
                              check=False).returncode == 0
    with open("/run/lock/drover-testbed-libvirt", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not answers():
            HOME.mkdir(parents=True, exist_ok=True)
            with open(LOG, "ab") as log:
                # The lock's descriptor is not inherited: Python opens with O_CLOEXEC.
                subprocess.Popen([sys.executable, REAPER, HOME, *[
                    shutil.which(d) or f"/usr/sbin/{d}" for d in ("virtlogd", "libvirtd")]],
                    stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                    cwd="/")
            pace.wait_for("libvirtd", answers, 60)
        if "default" not in virsh("pool-list", "--all", "--name").split():
            (HOME / "lib" / POOL.name).mkdir(exist_ok=True)
            virsh("pool-define-as", "default", "dir", "--target", POOL)
        if "default" not in virsh("pool-list", "--name").split():
            virsh("pool-start", "default")


class Vm:
    """One machine: name, uuid, serial, mac, drives (paths of their bytes), console (log), bmc_url."""

    def __init__(self, rack, index):
        self.rack, self.index = rack, index
        self.name = f"{rack.prefix}-{index}"
        self.uuid = str(uuid.uuid4())
        self.serial = f"DRV{uuid.uuid4().hex[:9].upper()}"
        tail = uuid.uuid4().bytes
        self.mac = "52:54:00:" + ":".join(f"{b:02x}" for b in tail[:3])
        self.console = rack.folder / f"{self.name}.console.log"
        self.drives = []
        self.looked_at = 0
        self.bmc_url = f"{rack.url}/redfish/v1/Systems/{self.uuid}"

    def define(self):
        self.console.unlink(missing_ok=True)
        arguments = []
        for n, size_mib in enumerate(self.rack.drives_mib):
            path = self.rack.folder / f"{self.name}.nvme{n}"
            with open(path, "wb") as f:
                f.truncate(size_mib * MIB)
            path.chmod(0o666)  # libvirt's QEMU runs as its own user
            self.drives.append(path)
            lost = ",snapshot=on" if (self.index, n) in self.rack.lost_writes else ""
            arguments += [
                "-drive", f"if=none,id=d{n},file={path},format=raw,cache=unsafe,discard=unmap,"
                          f"detect-zeroes=unmap{lost}",
                "-device", f"nvme,serial={self.serial}N{n},drive=d{n},addr={0x10 + n:#x},"
                           f"bootindex={10 + n}"]
        arguments += [
            "-netdev", self._netdev(),
            "-device", f"virtio-net-pci,id=card0,netdev=n0,mac={self.mac},addr=0x18,romfile="]
        lines = "\n".join(f"    <qemu:arg value={xml.sax.saxutils.quoteattr(a)}/>"
                          for a in arguments)
        description = DOMAIN.format(
            name=self.name, uuid=self.uuid, serial=self.serial, cpu=self.rack.cpu,
            memory_mib=self.rack.memory_mib, cpus=self.rack.cpus, console=self.console,
            emulator=self.rack.network.emulator if self.rack.network else QEMU, arguments=lines)
        path = self.rack.folder / f"{self.name}.xml"
        path.write_text(description)
        virsh("define", path)

    def _netdev(self):
        if not self.rack.network:
            return "user,id=n0"
        return (f"tap,id=n0,ifname={self.rack.network.port(self.name)},"
                "script=no,downscript=no")

    def power(self):
        """Returns "On" or "Off" as libvirt reports it, independently of the BMC."""
        return "On" if virsh("domstate", self.name) == "running" else "Off"

    def power_off(self):
        """Cuts the power, like pulling the plug."""
        virsh("destroy", self.name, check=False)

    def link(self, up):
        """Connects or disconnects the card's cable, while the machine is on or off."""
        virsh("qemu-monitor-command", self.name, "--hmp",
              f"set_link card0 {'on' if up else 'off'}")

    def processor(self):
        """Returns the state of the emulated processor; for a guest that hangs it shows whether it
        waits for a timer that never fires."""
        asked = "".join(virsh("qemu-monitor-command", self.name, "--hmp", f"info {what}", check=False)
                        for what in ("registers", "lapic"))
        return " ".join(re.findall(r"RIP=\w+|HLT=\d|current_count = \d+|(?:ISR|IRR)\s+\S+", asked))

    def console_text(self):
        """Returns the serial console's output so far. virtlogd writes it, as root."""
        try:
            return self.console.read_text(errors="replace")
        except OSError:
            return ""

    def wait_console(self, text, limit_s):
        pace.wait_for(f"{text!r} on the console of {self.name}, {self.console}",
                         lambda: text in self.console_text(), limit_s, 0.05)

    def look_for_hang(self):
        """Cuts the power if the emulated NVMe controller has lost a command since the last look."""
        text = self.console_text()
        if HUNG.search(text, self.looked_at):
            print(f"  the emulated NVMe controller of {self.name} hangs: its power is cut", flush=True)
            self.power_off()
        self.looked_at = len(text)

    def agent_homes(self):
        """Returns, for each boot of the agent, the seconds from kernel start to drover's first
        answer, from the console: the agent prints the kernel's uptime at its start."""
        took, began = [], None
        for at, msg, rest in re.findall(r"^time=(\S+) level=info msg=(drover-agent|welcome)(.*)$",
                                        self.console_text(), re.M):
            now = datetime.datetime.fromisoformat(at.strip().rstrip("Z"))
            if msg == "drover-agent":
                up = re.search(r"up_ms=(\d+)", rest)
                began = now - datetime.timedelta(milliseconds=int(up[1])) if up else None
            elif began:
                took.append((now - began).total_seconds())
                began = None
        return took

    def agent_kernels(self):
        """Returns, for each boot of the agent, the seconds that its kernel needed."""
        return [int(ms) / 1000 for ms in re.findall(r"^time=\S+ level=info msg=drover-agent .*up_ms=(\d+)",
                                                    self.console_text(), re.M)]

    def undefine(self):
        self.power_off()
        virsh("undefine", self.name, "--nvram", check=False)
        for volume in virsh("vol-list", "default", check=False).splitlines():
            if self.uuid in volume:
                virsh("vol-delete", volume.split()[0], "--pool", "default", check=False)
        for path in self.drives:
            path.unlink(missing_ok=True)


class Rack:
    """start() defines the machines, powered off, and starts their BMCs; stop() removes both.

    prefix begins each domain's name; it must differ between runs that share a machine. The BMC of
    machines[i] is machines[i].bmc_url, with .user, .password and the CA .ca_file. media_ca is a
    file of CAs that the BMC trusts when it fetches media over https. address is where the BMC
    listens. network is a started Network
    with the machines' ports; without it each machine has QEMU's user network, and reaches this
    machine's loopback. A drive in lost_writes, (machine, drive) by number, returns written data
    until the machine goes off, and the earlier data afterwards. One processor each: on a busy
    machine QEMU's emulation loses the timer of a second one, and the guest hangs.

    In rare cases the NVMe controller of QEMU 7.2 does not see a command, nor any later one (a race in
    its shadow doorbells). Linux reports that after 30 s. The rack then cuts the machine's power, from
    which whoever manages the machine must recover.
    """

    def __init__(self, folder, prefix="drover-test", count=1, memory_mib=2560, cpus=1,
                 drives_mib=(4096, 1024), cpu="qemu64", media_ca=None,
                 network=None, address="127.0.0.1"):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.prefix, self.count, self.cpu = prefix, count, cpu
        self.memory_mib, self.cpus, self.drives_mib = memory_mib, cpus, drives_mib
        self.media_ca = media_ca
        self.network = network
        self.lost_writes = set()
        self.address, self.port = address, process.free_port()
        self.url = f"https://{address}:{self.port}"
        self.user, self.password = "admin", f"pw-{uuid.uuid4().hex[:12]}"
        self.ca_file = self.folder / "bmc-ca.crt"
        self.machines = []
        self.emulator = None
        self.over = threading.Event()

    def start(self, limit_s=30):
        for parent in [self.folder, *self.folder.parents]:
            if not parent.stat().st_mode & 0o001:
                raise RuntimeError(f"{parent}: libvirt's QEMU user cannot pass through it")
        libvirt_up()
        sweep(self.prefix)
        atexit.register(self.stop)  # a test that dies leaves no machine running
        for index in range(self.count):
            vm = Vm(self, index)
            vm.define()
            self.machines.append(vm)
        self._certificates()
        venv = parts.paths()["venv"]
        crypt = ("import bcrypt,sys; print(bcrypt.hashpw(sys.argv[1].encode(),"
                 " bcrypt.gensalt(4)).decode())")
        hashed = subprocess.run([str(venv / "bin/python"), "-c", crypt, self.password],
                                check=True, capture_output=True, text=True).stdout.strip()
        (self.folder / "htpasswd").write_text(f"{self.user}:{hashed}\n")
        state = self.folder / "sushy"
        state.mkdir(exist_ok=True)
        config = self.folder / "sushy.conf.py"
        config.write_text("\n".join([
            f"SUSHY_EMULATOR_LIBVIRT_URI = {URI!r}",
            "SUSHY_EMULATOR_IGNORE_BOOT_DEVICE = False",
            f"SUSHY_EMULATOR_SSL_CERT = {str(self.folder / 'bmc.crt')!r}",
            f"SUSHY_EMULATOR_SSL_KEY = {str(self.folder / 'bmc.key')!r}",
            f"SUSHY_EMULATOR_AUTH_FILE = {str(self.folder / 'htpasswd')!r}",
            f"SUSHY_EMULATOR_STATE_DIR = {str(state)!r}",
            f"SUSHY_EMULATOR_LISTEN_IP = {self.address!r}",
            f"SUSHY_EMULATOR_LISTEN_PORT = {self.port}", ""]))
        environment = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "TMPDIR": str(state),
                       "PYTHONUNBUFFERED": "1"}
        if self.media_ca:
            environment["REQUESTS_CA_BUNDLE"] = str(self.media_ca)
        self.emulator = process.Process("sushy", self.folder, [
            venv / "bin/python", "-m", "sushy_tools.emulator.main", "--config", config],
            env=environment)
        pace.wait_for("the BMC emulator", self._answers, limit_s)
        threading.Thread(target=self._look_for_hangs, daemon=True).start()
        pace.watch(FIRST_BOOT, QUIET_BOOT_S[min(self.count, 3)], self._first_boot)
        pace.watch(KERNEL, QUIET_KERNEL_S[min(self.count, 3)], self._slowest_kernel, again=True)
        return self

    def _look_for_hangs(self):
        while not self.over.wait(5):
            for vm in list(self.machines):
                vm.look_for_hang()

    def _first_boot(self):
        """Returns the seconds of the first boot; None before it."""
        return max((homes[0] for homes in (vm.agent_homes() for vm in self.machines) if homes), default=None)

    def _slowest_kernel(self):
        return max((s for vm in self.machines for s in vm.agent_kernels()), default=None)

    def stop(self):
        """Stops and removes the machines. Logs and consoles stay."""
        self.over.set()
        if self.emulator:
            self.emulator.stop()
        for vm in self.machines:
            vm.undefine()
        self.machines = []
        atexit.unregister(self.stop)

    def _answers(self):
        self.emulator.check()
        return subprocess.run(["openssl", "s_client", "-connect", f"{self.address}:{self.port}"],
                              stdin=subprocess.DEVNULL, capture_output=True,
                              check=False).returncode == 0

    def _certificates(self):
        f = self.folder

        def openssl(*args):
            subprocess.run(["openssl", *[str(a) for a in args]], check=True,
                           capture_output=True, cwd=f)
        new = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
               "-days", "30"]
        openssl(*new, "-subj", "/CN=drover test bed BMC CA", "-keyout", f / "bmc-ca.key",
                "-out", self.ca_file, "-addext", "keyUsage=critical,keyCertSign,cRLSign")
        openssl(*new, "-subj", "/CN=127.0.0.1", "-keyout", f / "bmc.key", "-out", f / "bmc.crt",
                "-CA", self.ca_file, "-CAkey", f / "bmc-ca.key",
                "-addext", f"subjectAltName=IP:127.0.0.1,IP:10.0.2.2,IP:{self.address},DNS:localhost",
                "-addext", "basicConstraints=critical,CA:FALSE",
                "-addext", "extendedKeyUsage=serverAuth")


def sweep(prefix):
    """Removes the domains whose name begins with prefix, as left by a killed run."""
    for name in virsh("list", "--all", "--name").split():
        if name.startswith(prefix + "-"):
            virsh("destroy", name, check=False)
            virsh("undefine", name, "--nvram", check=False)
