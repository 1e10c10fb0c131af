"""Random cases for scheduler.py: the same seed gives the same cases."""
import random

ZONE = "topology.kubernetes.io/zone"
RACK = "topology.drover.dev/rack"
HOST = "kubernetes.io/hostname"
TYPE = "node.kubernetes.io/instance-type"
GPU = "nvidia.com/gpu"
MODEL = "nvidia.com/gpu.product"
NAMESPACES = {"one": {"team": "x"}, "two": {"team": "y"}, "three": {"team": "x", "kind": "batch"}}
OVERHEAD = {"kata": {"cpu": "250m", "memory": "160Mi"}}
APPS = ("web", "train", "db")
NUMBERS = ("0", "99", "100", "950")  # values of taints, and of tolerations that are compared with them

CATALOGUE = (
    ("small", {"cpu": "4", "memory": "8Gi", "pods": "8"}, {"gen": "1", "disk": "ssd"}),
    ("odd", {"cpu": "7950m", "memory": "31Gi", "pods": "20"}, {"gen": "2"}),
    ("big", {"cpu": "32", "memory": "128Gi", "pods": "60", "ephemeral-storage": "100Gi"}, {"gen": "3", "disk": "hdd"}),
    ("t4", {"cpu": "8", "memory": "32Gi", "pods": "20", GPU: "1"}, {"gen": "2", MODEL: "T4", "disk": "ssd"}),
    ("l40", {"cpu": "48", "memory": "256Gi", "pods": "60", GPU: "4"}, {"gen": "4", MODEL: "L40S"}),
    ("hgx", {"cpu": "96", "memory": "1Ti", "pods": "110", GPU: "8"}, {"gen": "5", MODEL: "H100", "disk": "ssd"}),
    ("mig", {"cpu": "32", "memory": "256Gi", "pods": "60", "nvidia.com/mig-1g.10gb": "7"}, {"gen": "5", MODEL: "H100-MIG"}),
)


def fixed_objects():
    """Objects shared by all cases, as (path, object)."""
    for name, labels in NAMESPACES.items():
        yield "/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}}
    for name, value in (("high", 1000), ("plain", 0), ("low", -10)):
        yield "/apis/scheduling.k8s.io/v1/priorityclasses", {
            "metadata": {"name": name}, "value": value, "globalDefault": name == "plain",
            "preemptionPolicy": "Never"}
    for name, overhead in OVERHEAD.items():
        yield "/apis/node.k8s.io/v1/runtimeclasses", {
            "metadata": {"name": name}, "handler": name, "overhead": {"podFixed": overhead}}


class Case:
    """nodes, bound, waiting: objects for the API server. nominated: pod name -> nominated Node of a
    waiting pod. supply: types, pool and machines for the planner."""

    def __init__(self, seed, number):
        self.r = random.Random(f"{seed}/{number}")
        self.number = number
        self.types = self.r.sample(CATALOGUE, self.r.randint(2, 5))
        self.racks = self.r.randint(1, 5)
        self.zones = self.r.randint(1, 3)
        self.pool = {"metadata": {"name": "main", "labels": {"pool": "main"}}}
        if self.chance(20):
            self.pool["spec"] = {"taints": [self.taint()]}
        self.machines = [self.machine(i) for i in range(self.r.randint(2, 14))]
        self.nodes = [self.standing(i) for i in range(self.r.choice((0, 0, 1, 2, 3, 5)))]
        self.bound = self.pods_on_nodes()
        self.waiting = self.pods_that_wait()
        self.nominated = {p["metadata"]["name"]: self.node_name() for p in self.waiting if self.chance(15)}
        if self.nodes and self.chance(25):
            self.waiting.append(self.greedy())
            self.nominated["greedy"] = self.r.choice(self.nodes)["metadata"]["name"]
        self.supply = {"types": [{"metadata": {"name": name, "labels": labels}, "status": {"allocatable": room}}
                                 for name, room, labels in self.types],
                       "pool": self.pool, "machines": self.machines}

    # -- names, random numbers

    def name(self, name):
        return f"case-{self.number}-{name}"

    def owns(self, node):
        return node is None or node.startswith(self.name(""))

    def chance(self, percent):
        return self.r.randrange(100) < percent

    # -- machines and Nodes

    def taint(self):
        key = self.r.choice(("dedicated", "gpu", "sla", "sla"))
        texts = NUMBERS + ("007", "9223372036854775808", "many", "") if key == "sla" else ("a", "b")
        return {"key": key, "value": self.r.choice(texts),
                "effect": self.r.choice(("NoSchedule", "NoSchedule", "NoExecute", "PreferNoSchedule"))}

    def place(self):
        rack = self.r.randrange(self.racks)
        labels = {} if self.chance(6) else {RACK: f"r{rack}"}
        if self.zones > 1 or self.chance(50):
            labels[ZONE] = f"z{rack % self.zones}"
        return labels

    def machine(self, i):
        return {"metadata": {"name": f"m{i:02}", "labels": self.place()},
                "spec": {"providerID": self.r.choice(self.types)[0]}}

    def node(self, name, room, labels, taints, unschedulable=False):
        name = self.name(name)
        labels = {"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", **labels, HOST: name}
        return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
                "spec": {**({"taints": taints} if taints else {}),
                         **({"unschedulable": True} if unschedulable else {})},
                "status": {"capacity": room, "allocatable": room,
                           "conditions": [{"type": "Ready", "status": "True"}]}}

    def node_name(self):
        """Returns the name of an existing Node, or of none."""
        return self.r.choice([n["metadata"]["name"] for n in self.nodes] + [self.name("gone")])

    def standing(self, i):
        name, room, labels = self.r.choice(CATALOGUE)
        taints = [self.taint()] if self.chance(20) else []
        return self.node(f"old-{i}", room, {**labels, TYPE: name, **self.place()}, taints, self.chance(8))

    def node_of(self, name, claim):
        """Returns the Node predicted for a claim of drover's plan."""
        room = next(room for type_name, room, _ in self.types if type_name == claim["type"])
        return self.node(name, room, claim["labels"], self.pool.get("spec", {}).get("taints", []))

    def one_of_each(self):
        """Returns an empty Node for every type of which a machine exists."""
        for i, (name, room, labels) in enumerate(self.types):
            here = [m for m in self.machines if m["spec"]["providerID"] == name]
            for k, m in enumerate(here):
                labels_all = {"drover.dev/nodepool": "main", TYPE: name, **labels, **m["metadata"]["labels"],
                              **self.pool["metadata"]["labels"]}
                yield self.node(f"each-{i}-{k}", room, labels_all, self.pool.get("spec", {}).get("taints", []))

    # -- pods

    def amount(self):
        some = {"cpu": self.r.choice(("100m", "250m", "500m", "1", "1500m", "2", "3", "6")),
                "memory": self.r.choice(("64Mi", "256M", "512Mi", "1Gi", "1500Mi", "4Gi", "12Gi"))}
        for name in list(some):
            if self.chance(15):
                del some[name]
        return some

    def container(self, name, devices=True):
        requests = self.amount()
        limits = {}
        if devices and self.chance(25):
            n = str(self.r.choice((1, 1, 1, 2, 4, 8)))
            limits[self.r.choice((GPU, GPU, GPU, "nvidia.com/mig-1g.10gb"))] = n
            if self.chance(50):
                requests.update(limits)
        if self.chance(10):
            limits.update({k: v for k, v in self.amount().items() if k not in requests})
        if self.chance(4):
            requests["ephemeral-storage"] = "1Gi"
        out = {"name": name, "image": "drover.test/pause:1", "resources": {"requests": requests, "limits": limits}}
        # The same port twice in a pod is refused.
        ports = {"c0": (8080, 8081), "side": (8081, 8082)}.get(name)
        if ports and self.chance(8):
            out["ports"] = [{"containerPort": 80, "hostPort": self.r.choice(ports),
                             "protocol": "TCP" if name == "c0" else "UDP"}]
        return out

    def expression(self):
        op = self.r.choice(("In", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"))
        if op in ("Gt", "Lt"):
            return {"key": self.r.choice(("gen", "gen", "gen", "disk", "absent")), "operator": op,
                    "values": ["many" if self.chance(5) else self.r.choice(("0", "03", *"12345"))]}
        key, values = self.r.choice((("gen", "12345"), ("disk", ("ssd", "hdd")), (MODEL, ("T4", "L40S", "H100")),
                                     (ZONE, ("z0", "z1", "z2")), (RACK, ("r0", "r1", "r2")),
                                     (TYPE, [t[0] for t in CATALOGUE]), ("pool", ("main", "other")),
                                     ("absent", ("x", "y"))))
        if op in ("Exists", "DoesNotExist"):
            return {"key": key, "operator": op}
        return {"key": key, "operator": op, "values": self.r.sample(list(values), self.r.randint(1, 2))}

    def field(self):
        return {"key": "metadata.name", "operator": self.r.choice(("In", "NotIn", "NotIn")), "values": [self.node_name()]}

    def node_term(self):
        if self.chance(6):
            return {}
        fields = [self.field() for _ in range(self.r.choice((1, 1, 2)))] if self.chance(25) else []
        labels = [self.expression() for _ in range(self.r.choice((0, 1, 1, 2) if fields else (1, 1, 2)))]
        return {**({"matchExpressions": labels} if labels else {}), **({"matchFields": fields} if fields else {})}

    def selector(self):
        if self.chance(5):
            return {}
        if self.chance(20):
            return {"matchExpressions": [{"key": "app", "operator": self.r.choice(("In", "NotIn")),
                                          "values": [self.r.choice(APPS)]}]}
        return {"matchLabels": {"app": self.r.choice(APPS)}}

    def pod_term(self, hosts):
        term = {"topologyKey": self.r.choice((ZONE, RACK, HOST) if hosts else (ZONE, RACK)),
                "labelSelector": self.selector()}
        if self.chance(10):
            term["namespaces"] = self.r.sample(list(NAMESPACES), self.r.randint(1, 2))
        elif self.chance(8):
            term["namespaceSelector"] = self.r.choice(({}, {"matchLabels": {"team": "x"}}))
        if self.chance(8) and "labelSelector" in term:
            term[self.r.choice(("matchLabelKeys", "mismatchLabelKeys"))] = ["rev"]
        return term

    def spread(self):
        out = {"maxSkew": self.r.choice((1, 1, 2, 3)), "topologyKey": self.r.choice((ZONE, RACK, HOST)),
               "whenUnsatisfiable": "DoNotSchedule" if self.chance(75) else "ScheduleAnyway",
               "labelSelector": self.selector()}
        if self.chance(25) and out["whenUnsatisfiable"] == "DoNotSchedule":
            out["minDomains"] = self.r.randint(1, 4)
        if self.chance(25):
            out["nodeAffinityPolicy"] = self.r.choice(("Honor", "Ignore", "Ignore"))
        if self.chance(25):
            out["nodeTaintsPolicy"] = self.r.choice(("Honor", "Honor", "Ignore"))
        if self.chance(8):
            out["matchLabelKeys"] = ["rev"]
        return out

    def affinity(self):
        required, preferred = ("requiredDuringSchedulingIgnoredDuringExecution",
                               "preferredDuringSchedulingIgnoredDuringExecution")
        out = {}
        if self.chance(20):
            out.setdefault("nodeAffinity", {})[required] = {
                "nodeSelectorTerms": [self.node_term() for _ in range(self.r.choice((1, 1, 2, 3)))]}
        if self.chance(15):
            out.setdefault("nodeAffinity", {})[preferred] = [
                {"weight": self.r.randint(1, 100), "preference": self.node_term()} for _ in range(2)]
        if self.chance(12):
            out["podAffinity"] = {required: [self.pod_term(True)]}
        elif self.chance(10):
            out["podAffinity"] = {preferred: [{"weight": 50, "podAffinityTerm": self.pod_term(True)}]}
        if self.chance(15):
            out["podAntiAffinity"] = {required: [self.pod_term(True)]}
        elif self.chance(10):
            out["podAntiAffinity"] = {preferred: [{"weight": 50, "podAffinityTerm": self.pod_term(True)}]}
        return out

    def toleration(self, key):
        op = self.r.choice(("Exists", "Equal", "", None) + (("Gt", "Lt") * 3 if key == "sla" else ()))
        values = NUMBERS if key == "sla" else ("a", "b")
        if op in ("Gt", "Lt"):  # non-numeric values are refused
            values += ("-6", "9223372036854775807")
        return {"key": key, **({"operator": op} if op is not None else {}),
                **({"value": self.r.choice(values)} if op != "Exists" else {})}

    def tolerations(self):
        if self.chance(25):
            return [{"operator": "Exists"}]
        out = [self.toleration(key) for key in ("dedicated", "gpu", "sla", "sla") if self.chance(50)]
        if self.chance(5):
            out.append({"operator": "Exists"})
        for t in out:
            if self.chance(30):
                t["effect"] = self.r.choice(("NoSchedule", "NoExecute", "PreferNoSchedule"))
        return out

    def like(self, name):
        """Returns another pod like this one, as a Deployment would create."""
        spec = {"containers": [self.container(f"c{i}") for i in range(self.r.choice((1, 1, 1, 2)))],
                "terminationGracePeriodSeconds": 0}
        starts = []
        if self.chance(15):
            starts.append({**self.container("init", False)})
        if self.chance(15):
            starts.insert(self.r.randint(0, len(starts)), {**self.container("side", False), "restartPolicy": "Always"})
        if starts:
            spec["initContainers"] = starts
        if self.chance(8):
            spec["resources"] = {"requests": {"cpu": "20", "memory": "40Gi"}}
        if self.chance(8):
            spec["runtimeClassName"] = self.r.choice(list(OVERHEAD))
        if self.chance(20):
            spec["nodeSelector"] = dict([self.r.choice((("disk", "ssd"), ("gen", "2"), (MODEL, "H100"), (ZONE, "z0"),
                                                        ("pool", "main"), ("nowhere", "x")))])
        spec["affinity"] = self.affinity()
        spec["tolerations"] = self.tolerations()
        spec["topologySpreadConstraints"] = [self.spread() for _ in range(self.r.choice((0, 0, 0, 1, 1, 2)))]
        keys = set()
        spec["topologySpreadConstraints"] = [c for c in spec["topologySpreadConstraints"] if not (
            (c["topologyKey"], c["whenUnsatisfiable"]) in keys or
            keys.add((c["topologyKey"], c["whenUnsatisfiable"])))]
        if self.chance(15):
            spec["priorityClassName"] = self.r.choice(("high", "low"))
        labels = {"app": self.r.choice(APPS), "rev": self.r.choice(("1", "2"))}
        return {"apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": name, "namespace": self.r.choice(list(NAMESPACES)), "labels": labels}, "spec": spec}

    def copies(self, like, n):
        for i in range(n):
            yield {**like, "metadata": {**like["metadata"], "name": f"{like['metadata']['name']}-{i}"}}

    def greedy(self):
        """Returns a pod for which no Node has free capacity: nominated for a Node, it blocks pods
        of at most its priority."""
        pod = self.like("greedy")
        pod["spec"]["containers"] = [{"name": "c", "image": "drover.test/pause:1",
                                      "resources": {"requests": {"cpu": "300", "memory": "4Ti"}}}]
        pod["spec"].pop("resources", None)
        return pod

    def pods_that_wait(self):
        out = []
        for i in range(self.r.randint(1, 4)):
            out.extend(self.copies(self.like(f"wait-{i}"), self.r.choice((1, 1, 2, 3, 5, 8))))
        return out

    def pods_on_nodes(self):
        """Adds small pods on random Nodes: their affinity applies to new pods, too."""
        out = []
        for n in self.nodes:
            for i in range(self.r.randint(0, 4)):
                pod = self.like(f"on-{n['metadata']['name']}-{i}")
                some = {"requests": {"cpu": "200m", "memory": "100Mi"}}
                pod["spec"] = {"nodeName": n["metadata"]["name"], "terminationGracePeriodSeconds": 0,
                               "containers": [{"name": "c", "image": "drover.test/pause:1", "resources": some}],
                               "affinity": pod["spec"]["affinity"], "tolerations": [{"operator": "Exists"}]}
                pod["spec"]["affinity"].pop("nodeAffinity", None)
                out.append(pod)
        return out
