"""The stages of `make check`, `make test` and `make test-long`, in the order in which they run.

A group names the stages that test one kind of thing: `make test-long ONLY=api`. A stage of `make
test` belongs to the group "test"; its other goals are not repeated.
"""
import dataclasses
import os
import re

CORES = len(os.sched_getaffinity(0))
MAKE = f"make --no-print-directory -j{CORES} WERROR=1"


@dataclasses.dataclass(frozen=True)
class Stage:
    """name; words: description for people; command: shell command, run from the top of the tree;
    needs: stages whose results it uses; groups: further names for ONLY=."""
    name: str
    words: str
    command: str
    needs: tuple = ()
    groups: tuple = ()

    @property
    def on_real_parts(self):
        """True if the stage depends on third-party programs and real clocks, so that a second run
        is worthwhile."""
        return "parts" in self.needs


class Unknown(Exception):
    """A stage or group that does not exist."""


def real(name, words, *needs, groups=("real",), before="", script=""):
    """A stage that runs tests/real/NAME.py, or script, on the real parts."""
    return Stage(name, words, f"{before}tests/real/{script or name + '.py'}", ("build", "parts", *needs), groups)


def scheduler(name, cases):
    return Stage(name, f"drover's promises in {cases} cases, compared with the real kube-scheduler",
                 f"{MAKE} build/rel/tests/real/plan_objects && tests/real/scheduler.py --cases {cases}",
                 ("build", "parts"), ("api",))


def program(name, words, command, needs=("build",), groups=("sim",)):
    return Stage(name, words, command, needs, groups)


PACKAGES = Stage("packages", "Debian packages", "tests/tools/deps build lint test man")
TOOLS = Stage("tools", "the tests' own tools",
              " && ".join(f"tests/tools/test_{tool}" for tool in
                          ("run_tests", "stages", "which", "mutants", "layers", "words", "pace", "join_script", "packages")),
              ("packages",))
BUILD = Stage("build", "drover and its agent", f"{MAKE} all", ("packages",))
LAYERS = Stage("layers", "which room includes which", f"{MAKE} layers", ("build",))
HEADERS = Stage("headers", "each header alone, with gcc and clang", f"{MAKE} headers", ("packages",))
SAN = Stage("san", "unit, contract and world tests under AddressSanitizer and UndefinedBehaviorSanitizer",
            f"{MAKE} VARIANT=san unit", ("build",))
CORPORA = Stage("corpora", "the corpora of all fuzz targets, under the sanitizers", f"{MAKE} corpora", ("build",))

CHECK = [
    Stage("packages", "Debian packages", "tests/tools/deps build"),
    TOOLS, BUILD, LAYERS, HEADERS, SAN, CORPORA,
]

TEST = [
    PACKAGES, TOOLS, BUILD, LAYERS, HEADERS,
    Stage("lint", "clang-format, cppcheck, codespell, shellcheck, banned functions", f"{MAKE} lint", ("build",)),
    Stage("cli", "completion, and a manual page for each verb",
          f"tests/tools/test_completion && {MAKE} man", ("build",)),
    Stage("clang", "warnings of clang", f"{MAKE} clang", ("packages",)),
    SAN,
    CORPORA,
    Stage("mutants", "fourteen safety checks broken, one at a time: a test sees each", "tests/tools/mutants --quick",
          ("build",)),
    program("demo_view", "make demo, on a pipe and on a terminal", "tests/real/demo_view.py"),
    program("up", "drover up: killed at bad moments", "tests/real/up.py --short"),
    Stage("parts", "real parts: Kubernetes, etcd, images", "tests/real/parts/build", ("packages",)),
    Stage("image", "the agent's boot image", f"{MAKE} image", ("build",)),
    real("quickstart", "the commands of docs/quickstart.md", groups=("sim",)),
    real("circle", "the main job, and the way back: drained, isolated, wiped, given to the other tenant", "image"),
]

LONG = [
    # Optimised, as shipped.
    Stage("unit", "unit, contract and world tests as they are shipped, without sanitizers", f"{MAKE} unit",
          ("build",), ("optimised",)),
    # Exhaustive forms of tests that `make test` runs in part.
    Stage("sweep", "each external effect of a machine's whole trip goes wrong in each way",
          f"WORLD_EVERY=1 TEST_CPU_S=3600 {MAKE} unit T='world/test_sweep world/test_burst_sweep'", ("build",),
          ("kills",)),
    Stage("store_kills", "the store killed a thousand times",
          f"DROVER_KILLS=1000 TEST_CPU_S=600 {MAKE} unit T=unit/base/store/test_store_kill", ("build",),
          ("kills",)),
    Stage("mutants_all", "each safety line broken that tests/mutants knows", "tests/tools/mutants", ("build",)),
    Stage("fuzz", "each fuzz target for two minutes, by chance", f"FUZZ_SEED=0 {MAKE} fuzz FUZZ_S=120",
          ("build",)),
    # drover up and the simulators, as programs.
    program("up_long", "drover up: killed in more states, beside a slow BMC", "tests/real/up.py"),
    program("up_fleet", "drover up with 300 machines: claims and drains, without a lost Lease", "tests/real/up_fleet.py"),
    program("slow_bmc", "drover up: a BMC that needs 3 s for each request", "tests/real/up.py 3"),
    program("drills", "drover up: machines stuck in many ways, each mended by the verb that drover why and the page show",
            "tests/tools/deps browser && tests/drills/run.py --page"),
    program("status_judges", "kstatus and Argo CD's Lua on drover's objects in every state", "tests/real/judges.py",
            groups=("judges",)),
    program("upgrade", "drover replaced by the next version and back, while machines boot, serve and are wiped",
            "tests/real/upgrade.py", groups=("sim", "deploy")),
    real("upgrade_states", "drover replaced by the previous version and back in each state, on a real control plane",
         "image", groups=("deploy",)),
    program("spans", "the traces of drover up, as an OpenTelemetry collector receives them", "tests/real/spans.py"),
    program("web_page", "the page of the view in Chromium, with axe-core as the judge of accessibility",
            "tests/tools/deps browser && tests/real/web_page.py"),
    real("sim_page", "the commands of docs/sim.md", groups=("sim",)),
    real("sim_clients", "the simulated rack before clients that others wrote", groups=("sim",)),
    real("sim_makes", "a simulated BMC of each make, wiped by drover as docs/sim.md says", groups=("sim",)),
    real("ec2", "the simulated EC2 before botocore and the AWS CLI; drover before moto", groups=("cloud",),
         before=f"{MAKE} build/rel/tests/real/ec2_drive && "),
    real("burst", "cloud burst: a pod without an owned machine on an instance of moto's server, and home again",
         groups=("cloud",)),
    real("burst_examples", "each BurstPolicy of examples/ on a real API server: launched on moto's server as its page says, "
         "and ended with its work", groups=("cloud",)),
    real("netris", "the simulated Netris controller, and the check of a network", groups=("network",)),
    real("netris_job", "the main job over a simulated Netris that moves real ports", "image",
         groups=("network",)),
    # The Kubernetes API.
    Stage("conformance", "the embedded API server beside the real one", f"{MAKE} conformance",
          ("build", "parts"), ("api",)),
    real("apiserver_clients", "kubectl, a Python client and an operator against drover apiserver", groups=("api",)),
    real("rights", "what deploy/ lets operators and drover do, and what not", groups=("api",)),
    real("examples", "each file of examples/ applied to a real API server", groups=("api",)),
    real("leader_service", "the Service that follows the leader, on a real API server", "image", groups=("api",)),
    scheduler("scheduler", 40),
    scheduler("scheduler_all", 300),
    # What an operator installs.
    Stage("monitoring", "alert rules and the Grafana boards, by promtool", "tests/tools/monitoring", ("packages",),
          ("deploy",)),
    program("boards", "the Grafana boards, by Grafana's types and a Prometheus that scrapes drover up",
            "tests/real/boards.py", groups=("judges",)),
    real("charts", "the Helm chart and the overlays, by Helm 3 and 4, kustomize and a real API server",
         groups=("deploy",)),
    Stage("images", "the container images: contents, user, SBOM, started alone, built twice",
          f"{MAKE} container && tests/tools/images", ("image",), ("deploy",)),
    real("install", "docs/install.md on real nodes: a pod on a machine, the leader deleted, an upgrade, uninstalled",
         "image",
         groups=("deploy",), before="tests/tools/deps container install && "),
    Stage("debs", "the Debian packages: lintian, files, the upgrade from the single package, built twice",
          f"tests/tools/deps install && {MAKE} deb && tests/tools/debs.py", ("image",), ("deploy",)),
    real("package", "the Debian packages in a machine with systemd: started by its unit, upgraded, purged", "image",
         groups=("deploy",), before=f"tests/tools/deps install && {MAKE} deb && "),
    Stage("release", "all files of a release, built twice in different places", "tests/tools/release", ("image",),
          ("deploy",)),
    Stage("reproducible", "the agent's image, built twice", "tests/tools/reproducible", ("image",), ("agent",)),
    Stage("agent_drives", "the agent in QEMU on NVMe, SATA, SCSI, virtio and SD drives",
          " && ".join(f"wipe/image/try --orders --drive {d}" for d in ("nvme", "sata", "scsi", "virtio", "sd")),
          ("image", "parts"), ("agent",)),
    # Machines on real components.
    real("ipmi", "IPMI against a BMC that others wrote"),
    real("failover", "two replicas: the leader killed and stopped", "image"),
    real("crash", "the controller killed in every state", "image"),
    real("libvirt", "virtual machines that drover defines, on QEMU", "image"),
    real("bcm", "machines that a simulated BCM head node installs, on a real Kubernetes"),
    real("host_nodes", "a machine of a real host cluster, for one virtual cluster alone"),
    real("join_script", "a machine that joins by the script of its tenant's cluster", "image"),
    real("asleep", "a tenant that sleeps", "image"),
    real("intruders", "bad inputs: a second caller, a BMC that goes away", "image"),
]

GOALS = {"check": ("make check", CHECK), "test": ("make test", TEST), "long": ("make test-long", TEST + LONG)}


def groups(stages):
    """Returns group -> names of its stages, in order; a stage's own name is not a group."""
    found = {"test": [s.name for s in TEST]}
    for stage in stages:
        for group in stage.groups:
            found.setdefault(group, []).append(stage.name)
    return found


def closure(stages, names):
    """Returns the names of these stages and of all stages that they need."""
    by_name, found, waiting = {s.name: s for s in stages}, set(), list(names)
    while waiting:
        name = waiting.pop()
        if name in by_name and name not in found:
            found.add(name)
            waiting += by_name[name].needs
    return found


def chosen(stages, first, only):
    """Returns the stages to run, in order. only: names of stages, whose needs are assumed to be
    met, and of groups, which include what their stages need. No name is both."""
    names, grouped = [s.name for s in stages], groups(stages)
    wanted = set()
    for name in filter(None, re.split(r"[,\s]+", only)):
        if name in names:
            wanted.add(name)
        elif name in grouped:
            wanted |= closure(stages, grouped[name])
        else:
            raise Unknown(f"no stage or group {name}; groups: {', '.join(sorted(grouped))}; "
                          f"stages: {', '.join(names)}")
    if first and first not in names:
        raise Unknown(f"no stage {first}; there are: {', '.join(names)}")
    if only:
        return [s for s in stages if s.name in wanted]
    return stages[names.index(first):] if first else stages
