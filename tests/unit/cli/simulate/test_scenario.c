#include "tests/unit/testing.h"

#include <string.h>
#include "base/str.h"
#include "cli/simulate/what_if.h"
#include "planner/plan.h"
#include "planner/world_report.h"
#include "tests/unit/planner/worlds.h"

#define PROVIDER                                                                                   \
	"apiVersion: drover.dev/v1alpha1\nkind: Provider\nmetadata: {name: hall}\nspec:\n"         \
	"  type: redfish\n  credentialsSecretRef: {name: bmc}\n  instanceTypes:\n"                 \
	"  - name: hgx\n    match: {pci: [{id: \"10de:2330\", count: 8}]}\n"                       \
	"    capacity: {cpu: \"192\", nvidia.com/gpu: \"8\", pods: \"110\"}\n"
#define POOL                                                                                       \
	"---\napiVersion: drover.dev/v1alpha1\nkind: NodePool\nmetadata: {name: h.100}\nspec:\n"   \
	"  virtualClusterSelector: {}\n  template:\n    spec:\n"                                   \
	"      providerRefs: [{name: hall}]\n      images:\n      - kubernetesVersion: \"1.36\"\n" \
	"        url: https://img.example/n.zst\n"                                                 \
	"        digest: sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n"
#define TENANT                                                                                     \
	"---\napiVersion: drover.dev/v1alpha1\nkind: VirtualCluster\nmetadata: {name: acme}\n"     \
	"spec: {kubeconfigSecretRef: {name: x}, quota: {nvidia.com/gpu: \"64\"}}\n"
#define HEAD                                                                                       \
	"---\napiVersion: drover.dev/v1alpha1\nkind: Scenario\nmetadata: {name: s}\nspec:\n"       \
	"  kubernetesVersion: \"1.36\"\n"                                                          \
	"  machines: [{providerRef: {name: hall}, instanceType: hgx, count: 2}]\n"
#define FLEET PROVIDER POOL TENANT HEAD
#define POD(n, rest)                                                                               \
	"---\napiVersion: v1\nkind: Pod\ntenant: acme\nmetadata: {name: " n "}\nspec:\n"           \
	"  containers:\n  - resources: {requests: {nvidia.com/gpu: \"8\"}}\n" rest

struct rig {
	struct arena *a;
	struct scenario_file f;
	struct scenario s;
	struct err e;
};

static int setup(void **state)
{
	static struct rig r;

	r = (struct rig){.a = arena_new()};
	*state = &r;
	return 0;
}

static int teardown(void **state)
{
	struct rig *r = *state;

	scenario_file_done(&r->f);
	scenario_done(&r->s);
	arena_free(r->a);
	return 0;
}

static int build(struct rig *r, const char *text)
{
	scenario_file_done(&r->f);
	scenario_done(&r->s);
	if (scenario_parse(&r->f, "f.yaml", text, strlen(text), &r->e) < 0)
		return -1;
	return scenario_build(&r->f, &r->s, r->a, &r->e);
}

static void assert_refused(struct rig *r, const char *text, const char *want)
{
	assert_int_equal(build(r, text), -1);
	if (!strstr(r->e.text, want))
		fail_msg("want '%s' in: %s", want, r->e.text);
}

static size_t served(struct rig *r, enum plan_outcome how)
{
	const struct plan *p = plan_make(r->s.world, 0, r->a);
	size_t n = 0;

	for (size_t i = 0; i < p->npods; i++)
		n += p->pods[i].outcome == how;
	return n;
}

static void a_scenario_is_the_world_that_the_planner_has(void **state)
{
	struct rig *r = *state;
	size_t n;
	struct world_use *u;

	assert_ok(build(r, FLEET POD("a", "") POD("b", "") POD("c", "")), &r->e);
	assert_string_equal(r->s.name, "s");
	assert_int_equal(r->s.times.boot_ms, 300000);
	u = world_uses(r->s.world, &n);
	assert_int_equal(n, 1);
	assert_int_equal(u[0].offered, 2);
	free(u);
	assert_int_equal(served(r, PLAN_ON_NEW), 2);
	assert_int_equal(served(r, PLAN_NOTHING), 1);
}

static void machines_claims_nodes_and_bound_pods_count(void **state)
{
	struct rig *r = *state;

	assert_ok(
		build(r, FLEET
		      "---\napiVersion: drover.dev/v1alpha1\nkind: Machine\nmetadata: {name: m}\n"
		      "spec: {providerRef: {name: hall}, instanceType: hgx}\n"
		      "status: {state: serving, claimRef: {name: c, uid: u}}\n"
		      "---\napiVersion: drover.dev/v1alpha1\nkind: NodeClaim\nmetadata: {name: c, "
		      "uid: u}\n"
		      "spec:\n  virtualClusterRef: {name: acme}\n  nodePoolRef: {name: h.100}\n"
		      "  machineRef: {name: m}\n"
		      "  requirements: [{key: node.kubernetes.io/instance-type, operator: In, "
		      "values: [hgx]}]\n"
		      "status: {conditions: [{type: Ready, status: \"True\"}]}\n"
		      "---\napiVersion: v1\nkind: Node\ntenant: acme\n"
		      "metadata: {name: c, labels: {drover.dev/nodeclaim: c}}\n"
		      "status:\n  allocatable: {nvidia.com/gpu: \"8\", pods: \"10\"}\n"
		      "  conditions: [{type: Ready, status: \"True\"}]\n"
		      "---\napiVersion: v1\nkind: Pod\ntenant: acme\nmetadata: {name: runs}\n"
		      "spec:\n  nodeName: c\n  containers: [{resources: {requests: "
		      "{nvidia.com/gpu: \"4\"}}}]\n"
		      "---\napiVersion: v1\nkind: Pod\ntenant: acme\nmetadata: {name: half}\n"
		      "spec: {containers: [{resources: {requests: {nvidia.com/gpu: \"4\"}}}]}\n"),
		&r->e);
	assert_int_equal(served(r, PLAN_ON_NODE), 1);
}

#define GANG(n, size)                                                                              \
	"---\napiVersion: v1\nkind: Pod\ntenant: acme\nmetadata:\n  name: " n                      \
	"\n  annotations: {drover.dev/gang: g, drover.dev/gang-size: \"" size "\"}\nspec:\n"       \
	"  containers:\n  - resources: {requests: {nvidia.com/gpu: \"8\"}}\n"
#define MEMBER(n)                                                                                  \
	"---\napiVersion: v1\nkind: Pod\ntenant: acme\nmetadata:\n  name: " n                      \
	"\n  annotations: {scheduling.k8s.io/group-name: pg}\nspec:\n"                             \
	"  containers:\n  - resources: {requests: {nvidia.com/gpu: \"8\"}}\n"
#define GROUP(size)                                                                                \
	"---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\ntenant: acme\n"           \
	"metadata: {name: pg, namespace: default}\nspec: {minMember: " size ", queue: q}\n"

static void assert_gang(struct rig *r, const char *text, size_t new_, const char *reason)
{
	const struct plan *p;

	assert_ok(build(r, text), &r->e);
	p = plan_make(r->s.world, 0, r->a);
	assert_int_equal(served(r, PLAN_ON_NEW), new_);
	if (reason && !strstr(worlds_text(p, r->a), reason))
		fail_msg("want %s in: %s", reason, worlds_text(p, r->a));
}

static void a_gang_comes_whole_or_not_at_all(void **state)
{
	struct rig *r = *state;

	assert_gang(r, FLEET GANG("a", "2") GANG("b", "2"), 2, NULL);
	assert_gang(r, FLEET GANG("a", "3") GANG("b", "3") GANG("c", "3"), 0, "GangNotWhole");
	assert_gang(r, FLEET GANG("a", "2"), 0, "GangIncomplete");
	assert_gang(r, FLEET GROUP("2") MEMBER("a") MEMBER("b"), 2, NULL);
	assert_gang(r, FLEET MEMBER("a") MEMBER("b") MEMBER("c") GROUP("3"), 0, "GangNotWhole");
	assert_gang(r, FLEET MEMBER("a"), 0,
		    "PodGroup pg of podgroups.scheduling.volcano.sh does not exist");
	assert_refused(r, FLEET "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\n",
		       "tenant: want a name, got");
	assert_refused(r, FLEET "---\napiVersion: scheduling.volcano.sh/v1\nkind: PodGroup\n",
		       "kind: simulate does not support kind 'PodGroup'");
}

static void what_nothing_reads_is_refused_by_name_and_line(void **state)
{
	struct rig *r = *state;

	assert_refused(r, PROVIDER "  racks: 3\n",
		       "f.yaml:11: Provider hall: spec.racks: unknown field");
	assert_refused(r, FLEET "  wipes: 3m\n", "Scenario s: spec.wipes:");
	assert_refused(r, PROVIDER TENANT HEAD POD("a", "    imagee: x\n"),
		       "f.yaml:31: Pod a: spec.containers[0].imagee: unknown field");
	assert_refused(r, FLEET POD("a", "  tolerationz: []\n"), "spec.tolerationz: unknown field");
	assert_refused(r, FLEET POD("a", "  nodeSelector: [x]\n"),
		       "spec.nodeSelector: want an object");
	assert_refused(r, PROVIDER "---\nkind: Secret\napiVersion: v1\n",
		       "f.yaml:12: kind: simulate does not support kind 'Secret'");
	assert_refused(r, "apiVersion: v2\nkind: Pod\n",
		       "apiVersion: not a version of this kind: 'v2'");
	assert_refused(r, PROVIDER "---\n- 1\n", "f.yaml:11: want an object");
	assert_refused(r, PROVIDER "---\na: *b\n", "document at line 11");
}

/* A pod as `kubectl get pods -o yaml --show-managed-fields` prints it */
#define ITEM(n)                                                                                    \
	"- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: " n "\n    namespace: default\n"    \
	"    uid: u-" n "\n    resourceVersion: \"7\"\n    generateName: a-\n"                     \
	"    creationTimestamp: \"2026-11-28T00:00:00Z\"\n"                                        \
	"    annotations: {kubectl.kubernetes.io/last-applied-configuration: '{}'}\n"              \
	"    managedFields: [{manager: kubectl, operation: Update, apiVersion: v1}]\n"             \
	"  spec:\n    containers:\n    - name: main\n      image: x:1\n      command: [train]\n"   \
	"      env: [{name: A, value: b}]\n      volumeMounts: [{name: v, mountPath: /v}]\n"       \
	"      resources: {requests: {nvidia.com/gpu: \"8\", cpu: 0.5}}\n"                         \
	"    volumes: [{name: v, configMap: {name: m}}]\n    schedulerName: default-scheduler\n"   \
	"  status:\n    phase: Pending\n    qosClass: Burstable\n    conditions:\n"                \
	"    - {type: PodScheduled, status: \"False\", reason: Unschedulable, message: 0/1}\n"

static void files_that_other_programs_wrote_are_read(void **state)
{
	struct rig *r = *state;
	const char *list = FLEET "---\napiVersion: v1\nkind: List\ntenant: acme\nitems:\n" ITEM("a")
		ITEM("b") "metadata: {resourceVersion: \"\"}\n---\n# the end\n---\n";

	const char *wrong =
		FLEET "---\nkind: List\ntenant: acme\nitems:\n" ITEM("a") ITEM("b") "  sepc: 1\n";
	size_t line = 1;

	for (const char *p = wrong; p < strstr(wrong, "sepc"); p++)
		line += *p == '\n';
	assert_ok(build(r, list), &r->e);
	assert_int_equal(served(r, PLAN_ON_NEW), 2);
	assert_ok(build(r, "\xef\xbb\xbf# a comment\r\n---\r\n" FLEET POD("a", "")), &r->e);
	assert_ok(build(r, "\xef\xbb\xbf---\r\n" FLEET POD("a", "")), &r->e);
	assert_int_equal(served(r, PLAN_ON_NEW), 1);
	assert_ok(build(r, FLEET "---\nkind: PodList\napiVersion: v1\ntenant: acme\nitems: []\n"),
		  &r->e);
	assert_ok(build(r, "{\"kind\": \"List\", \"items\": []}"), &r->e);
	assert_refused(r, FLEET "---\nkind: List\nitems:\n" ITEM("a"),
		       "want the name of a VirtualCluster");
	assert_refused(r, "kind: List\nitems:\n- 1\n", "f.yaml:3: want an object");
	assert_refused(r, "kind: List\nitems:\n- {kind: List, items: []}\n",
		       "f.yaml:3: a List inside a List");
	assert_refused(r, wrong,
		       arena_printf(r->a, "f.yaml:%zu: Pod b: sepc: unknown field", line));
	assert_refused(r, FLEET "  image: x\n\timage: y\n", "indented with a tab");
}

static void what_refers_to_nothing_is_refused(void **state)
{
	struct rig *r = *state;

	assert_refused(r, PROVIDER POOL HEAD POD("a", ""),
		       "want the name of a VirtualCluster, got 'acme'");
	assert_refused(r, TENANT HEAD, "Provider 'hall' has no type 'hgx'");
	assert_refused(r, FLEET PROVIDER,
		       /* Without "---" between the objects, the second one repeats a key. */
		       "key apiVersion is there twice");
	assert_refused(r, FLEET "---\n" PROVIDER,
		       "more than one object of this kind has the name 'hall'");
	assert_refused(r, FLEET HEAD, "a file has at most one 'Scenario'");
	assert_refused(
		r, PROVIDER TENANT,
		"status.version: set it, or kubernetesVersion of the Scenario, for VirtualCluster "
		"'acme'");
	assert_refused(r, FLEET "  until: 1000000h\n", "spec.until: want");
	assert_refused(r, FLEET "  times: {idle: 0s}\n", "idle");
}

static int arrivals(struct rig *r, const char *text)
{
	return scenario_arrivals(&r->s, "a.csv", text, strlen(text), r->a, &r->e);
}

static void assert_no_arrivals(struct rig *r, const char *text, const char *want)
{
	assert_int_equal(arrivals(r, text), -1);
	if (!strstr(r->e.text, want))
		fail_msg("want '%s' in: %s", want, r->e.text);
}

static void arrivals_are_jobs(void **state)
{
	struct rig *r = *state;

	assert_ok(build(r, FLEET), &r->e);
	assert_ok(arrivals(r, "time,tenant,count,gpus,cpu,memory,duration_s,gang\n# a comment\n\n"
			      "0, acme ,2,8,500m,1Gi,60,1\r\n90,acme,1,1,,,5,0"),
		  &r->e);
	assert_int_equal(r->s.njobs, 2);
	assert_int_equal(r->s.jobs[0].pods, 2);
	assert_true(r->s.jobs[0].gang);
	assert_int_equal(r->s.jobs[0].requests.n, 3);
	assert_int_equal(r->s.jobs[1].at_ms, 90000);
	assert_int_equal(r->s.jobs[1].takes_ms, 5000);
	assert_int_equal(r->s.jobs[1].requests.n, 1);
#define HEADS "time,tenant,count,gpus,cpu,memory,duration_s\n"
	assert_no_arrivals(r, "", "want a header line with the names of the columns");
	assert_no_arrivals(r, "time,tenant\n", "a.csv:1: no column 'count'");
	assert_no_arrivals(r, "time,time\n", "repeated column 'time'");
	assert_no_arrivals(r, "time,nodes\n", "unknown column 'nodes'");
	assert_no_arrivals(r, HEADS "0,acme,1\n", "a.csv:2: want 7 cells, got 3");
	assert_no_arrivals(r, HEADS "-1,acme,1,1,1,1,1\n", "a.csv:2: time: want 0 to");
	assert_no_arrivals(r, HEADS "0,nobody,1,1,1,1,1\n",
			   "tenant: want the name of a VirtualCluster, got 'nobody'");
	assert_no_arrivals(r, HEADS "0,acme,5000,1,1,1,1\n", "count: want 1 to 4096");
	assert_no_arrivals(r, HEADS "0,acme,1,500m,1,1,1\n", "gpus: want whole GPUs");
	assert_no_arrivals(r, HEADS "0,acme,1,-1,1,1,1\n", "gpus: want 0 to 2^50");
	assert_no_arrivals(r, HEADS "0,acme,1,1,x,1,1\n", "cpu: want a quantity, got 'x'");
	assert_no_arrivals(r, HEADS "0,acme,1,1,1,1,0\n", "duration_s: want 1 to");
	assert_no_arrivals(r, HEADS "0,acme,1,1,1,1,1,1,1\n", "a.csv:2: want 7 cells, got 9");
}

static void arrivals_are_read_as_spreadsheets_write_them(void **state)
{
	struct rig *r = *state;

	assert_ok(build(r, FLEET), &r->e);
	assert_ok(arrivals(r,
			   "\xef\xbb\xbf\"time\";\"tenant\";\"count\";\"gpus\";\"cpu\";\"memory\";"
			   "\"duration_s\";\"gang\";;\r\n"
			   "\"0\" ;\"acme\";2;8;\"0.5\";1Gi;60;1;;\r\n;;;;;;;\r\n"
			   "90;acme;1;1;;;5;\r\n"),
		  &r->e);
	assert_int_equal(r->s.njobs, 2);
	assert_true(r->s.jobs[0].gang);
	assert_int_equal(r->s.jobs[0].requests.n, 3);
	assert_int_equal(r->s.jobs[1].at_ms, 90000);
	assert_false(r->s.jobs[1].gang);
	assert_ok(arrivals(r, "time\ttenant\tcount\tgpus\tcpu\tmemory\tduration_s\n"
			      "5\tacme\t1\t1\t\t\t7\n"),
		  &r->e);
	assert_int_equal(r->s.jobs[0].takes_ms, 7000);
	assert_ok(arrivals(r, "tenant,time,count,duration_s,gpus,cpu,memory\nacme,0,1,1,8\n"),
		  &r->e);
	assert_no_arrivals(r, "time;tenant;count;gpus;cpu;memory;duration_s\n0;acme;1;1;0,5;1;1\n",
			   "a.csv:2: cpu: want a decimal point, no comma, got '0,5'");
	assert_no_arrivals(r, "time;tenant;count;gpus;cpu;memory;duration_s\n0,5;acme;1;1;1;1;1\n",
			   "a.csv:2: time: want a number without a comma, got '0,5'");
	assert_no_arrivals(r, HEADS "\"0,acme,1,1,1,1,1\n", "a.csv:2: a quoted cell does not end");
	assert_no_arrivals(r, "\xff\xfet\0i\0",
			   "a.csv: the file is UTF-16; save it as CSV in UTF-8");
	assert_no_arrivals(r, HEADS "\"\"\"acme\"\"\",acme,1,1,1,1,1\n", "got '\"acme\"'");
}

static void arrivals_may_have_times_of_a_clock(void **state)
{
	struct rig *r = *state;

	assert_ok(build(r, FLEET), &r->e);
	assert_ok(arrivals(r, HEADS "1764288090,acme,1,1,1,1,1\n1764288000,acme,1,1,1,1,1\n"
				    "2025-11-28T00:01:00Z,acme,1,1,1,1,1\n"
				    "1764288000500,acme,1,1,1,1,1\n"),
		  &r->e);
	assert_int_equal(r->s.jobs[0].at_ms, 90000);
	assert_int_equal(r->s.jobs[1].at_ms, 0);
	assert_int_equal(r->s.jobs[2].at_ms, 60000);
	assert_int_equal(r->s.jobs[3].at_ms, 500);
	assert_no_arrivals(r, HEADS "0,acme,1,1,1,1,1\n1764288000,acme,1,1,1,1,1\n",
			   "a.csv:3: time: want the same kind of time in each line: seconds since");
	assert_no_arrivals(r, HEADS "1000000000,acme,1,1,1,1,1\n1764288000,acme,1,1,1,1,1\n",
			   "a.csv:3: time: want a time at most ten years from all others");
	assert_no_arrivals(r, HEADS "28.11.2026 00:00,acme,1,1,1,1,1\n", "time: want 0 to");
	assert_no_arrivals(r, HEADS "9223372036854775807,acme,1,1,1,1,1\n", "time: want 0 to");
}

/* Applies the change to the scenario `text`; returns 0 or -1 with r's error set. */
static int changed_text(struct rig *r, const char *text, const char *change)
{
	scenario_file_done(&r->f);
	scenario_done(&r->s);
	assert_ok(scenario_parse(&r->f, "f.yaml", text, strlen(text), &r->e), &r->e);
	if (what_if_apply(&r->f, change, &r->e) < 0)
		return -1;
	return scenario_build(&r->f, &r->s, r->a, &r->e);
}

static int changed(struct rig *r, const char *change)
{
	return changed_text(r, FLEET, change);
}

static void a_what_if_changes_the_scenario(void **state)
{
	struct rig *r = *state;
	static const char *const good[] = {
		"pool.h.100.max=1",	  "pool.h.100.weight=7",
		"pool.h.100.paused=true", "pool.h.100.expander=LeastCost",
		"tenant.acme.gpus=8",	  "tenant.acme.weight=3",
		"tenant.acme.priority=2", "times.drain=2m",
		"times.wipe=2m",	  "times.idle=2m",
		"times.settle=2m"};
	static const struct {
		const char *change, *why;
	} bad[] = {
		{"machines+=0", "want 1 to 100000"},
		{"machines+=x", "want 1 to 100000"},
		{"machines.dgx+=1", "no Provider has that type"},
		{"machines=3", "not supported; want one of machines+=N"},
		{"pool.x.max=1", "there is no NodePool 'x'"},
		{"pool.h.100.colour=1", "not supported"},
		{"pool.max=1", "not supported"},
		{"price", "not supported"},
		{"tenant.acme.weight=heavy", "spec.weight"},
		{"pool.h.100.max=many", "spec.limits"},
		{"pool.h.100.expander=LeastWaste", "want Auto, LeastNodes or LeastCost"},
		{"times.boot=soon", "spec.times.boot"},
	};
	size_t n;
	struct world_use *u;

	assert_ok(changed(r, "machines+=3"), &r->e);
	u = world_uses(r->s.world, &n);
	assert_int_equal(u[0].offered, 5);
	free(u);
	assert_ok(changed(r, "machines.hgx+=3"), &r->e);
	assert_ok(changed(r, "times.boot=2m"), &r->e);
	assert_int_equal(r->s.times.boot_ms, 120000);
	assert_ok(changed(r, "until=5h"), &r->e);
	assert_int_equal(r->s.until_ms, 5 * 3600000);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_ok(changed(r, good[i]), &r->e);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(changed(r, bad[i].change), -1);
		if (!strstr(r->e.text, bad[i].why))
			fail_msg("%s: want '%s' in: %s", bad[i].change, bad[i].why, r->e.text);
	}
}

#define TYPE(name, cpus) "  - name: " name "\n    capacity: {cpu: \"" cpus "\"}\n"
#define CPU_POD(n)                                                                                 \
	"---\napiVersion: v1\nkind: Pod\ntenant: acme\nmetadata: {name: " n "}\nspec:\n"           \
	"  containers: [{resources: {requests: {cpu: \"2\"}}}]\n"

/* A machine of 16 CPUs holds all three pods; two of 4 CPUs cost less. */
static void a_pool_chooses_types_by_its_expander(void **state)
{
	static const char text[] =
		"apiVersion: drover.dev/v1alpha1\nkind: Provider\nmetadata: {name: hall}\nspec:\n"
		"  type: redfish\n  credentialsSecretRef: {name: bmc}\n"
		"  instanceTypes:\n" TYPE("small", "4") TYPE("big", "16") POOL TENANT
		"---\napiVersion: drover.dev/v1alpha1\nkind: Scenario\nmetadata: {name: s}\nspec:\n"
		"  kubernetesVersion: \"1.36\"\n  machines:\n"
		"  - {providerRef: {name: hall}, instanceType: small, count: 2}\n"
		"  - {providerRef: {name: hall}, instanceType: big, count: 2}\n" CPU_POD("a")
			CPU_POD("b") CPU_POD("c");
	static const struct {
		const char *change;
		size_t claims;
	} cases[] = {{"pool.h.100.expander=Auto", 1},
		     {"pool.h.100.expander=LeastNodes", 1},
		     {"pool.h.100.expander=LeastCost", 2}};
	struct rig *r = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_ok(changed_text(r, text, cases[i].change), &r->e);
		assert_int_equal(plan_make(r->s.world, 0, r->a)->nclaims, cases[i].claims);
	}
}

#define POLICY                                                                                     \
	"---\napiVersion: drover.dev/v1alpha1\nkind: BurstPolicy\nmetadata: {name: p}\nspec:\n"    \
	"  match: {tenants: [acme]}\n  trigger: {onPremImpossible: true}\n"                        \
	"  tiers: [{market: OnDemand}]\n  cost: {currency: EUR}\n"                                 \
	"  offers: [{name: x, provider: x, regions: [r], instanceTypes: [t]}]\n"                   \
	"  runtime: {maxRuntime: 1h}\n  budget: [{scope: Policy, amount: \"1\", per: Day}]\n"
#define STATE(more)                                                                                \
	"---\napiVersion: drover.dev/v1alpha1\nkind: BurstState\nmetadata: {name: s}\nspec:\n"     \
	"  now: \"2026-11-02T00:00:00Z\"\n" more
#define ARRIVALS "  arrivals: a.csv\n"

static void burst_policies_need_offers_and_jobs(void **state)
{
	struct rig *r = *state;

	assert_ok(build(r, FLEET ARRIVALS POLICY STATE("")), &r->e);
	assert_int_equal(r->s.bursts->npolicies, 1);
	assert_true(r->s.bursts->now > 0);
	assert_ok(build(r, FLEET STATE("")), &r->e);
	assert_null(r->s.bursts);
	assert_refused(r, FLEET ARRIVALS POLICY,
		       "f.yaml: a BurstPolicy needs a BurstState with the offers of clouds");
	assert_refused(r, FLEET POLICY STATE(""), "a BurstPolicy needs jobs: set spec.arrivals");
	assert_refused(r, FLEET ARRIVALS POLICY STATE("") STATE(""),
		       "kind: a file has at most one 'BurstState'");
	assert_refused(r,
		       FLEET ARRIVALS POLICY STATE(
			       "  work: [{tenant: acme, name: w, gpusPerPod: 1, since: "
			       "\"2026-11-02T00:00:00Z\"}]\n"),
		       "spec.work: remove it: simulate takes its work from the arrivals");
	assert_refused(r, FLEET ARRIVALS POLICY STATE("  spent: \"5\"\n"),
		       "BurstState s: spec.spent: unknown field");
}

static void arrivals_say_what_policies_ask(void **state)
{
	struct rig *r = *state;
	const struct replay_job *j;

	assert_ok(build(r, FLEET), &r->e);
	assert_ok(arrivals(r,
			   "time,tenant,count,gpus,cpu,memory,duration_s,product,priority,"
			   "checkpointable,approved,slack_s,data_class,checkpoint_interval_s,data\n"
			   "100,acme,1,8,1,1Gi,60,H100,-5,1,1,30,public,600,\"a,b\"\n"
			   "200,acme,1,8,1,1Gi,60\n"),
		  &r->e);
	j = r->s.jobs;
	assert_string_equal(j[0].product, "H100");
	assert_int_equal(j[0].priority, -5);
	assert_true(j[0].saves && j[0].approved);
	assert_int_equal(j[0].start_by_ms, 130 * 1000);
	assert_string_equal(j[0].data_class, "public");
	assert_int_equal(j[0].interval_ms, 600 * 1000);
	assert_int_equal(j[0].data.n, 2);
	assert_string_equal(j[0].data.v[1], "b");
	assert_int_equal(j[1].data.n, 0);
	assert_null(j[1].product);
	assert_false(j[1].saves || j[1].approved);
	assert_int_equal(j[1].start_by_ms, 0);
	assert_no_arrivals(r,
			   "time,tenant,count,gpus,cpu,memory,duration_s,approved\n"
			   "0,acme,1,1,1,1,1,yes\n",
			   "a.csv:2: approved: want 0 to 1, got 'yes'");
	assert_no_arrivals(r,
			   "time,tenant,count,gpus,cpu,memory,duration_s,data\n"
			   "0,acme,1,1,1,1,1,a b\n",
			   "a.csv:2: data: want names of data sets, separated by commas, got 'a "
			   "b'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_scenario_is_the_world_that_the_planner_has, setup,
						teardown),
		cmocka_unit_test_setup_teardown(machines_claims_nodes_and_bound_pods_count, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_gang_comes_whole_or_not_at_all, setup, teardown),
		cmocka_unit_test_setup_teardown(what_nothing_reads_is_refused_by_name_and_line,
						setup, teardown),
		cmocka_unit_test_setup_teardown(files_that_other_programs_wrote_are_read, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_refers_to_nothing_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(arrivals_are_jobs, setup, teardown),
		cmocka_unit_test_setup_teardown(arrivals_are_read_as_spreadsheets_write_them, setup,
						teardown),
		cmocka_unit_test_setup_teardown(arrivals_may_have_times_of_a_clock, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_what_if_changes_the_scenario, setup, teardown),
		cmocka_unit_test_setup_teardown(a_pool_chooses_types_by_its_expander, setup,
						teardown),
		cmocka_unit_test_setup_teardown(burst_policies_need_offers_and_jobs, setup,
						teardown),
		cmocka_unit_test_setup_teardown(arrivals_say_what_policies_ask, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
