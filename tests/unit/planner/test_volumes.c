/* test_volumes: tests what a pod's volumes require of a node, and the reasons if no node meets
 * it. */
#include "base/str.h"
#include "tests/unit/planner/worlds.h"
#include "tests/unit/testing.h"

#define ZONE "topology.kubernetes.io/zone"
#define HOST "kubernetes.io/hostname"
#define EBS "@ebs.csi.aws.com"

static void add_machine(struct world *w, struct arena *a, const char *name, const char *zone)
{
	struct world_machine m = worlds_machine(name, "small");

	m.labels = worlds_labels(a, arena_printf(a, ZONE "=%s", zone));
	world_put_machine(w, &m);
}

static const char *said(struct world *w, struct arena *a, const char *pod)
{
	return worlds_pod_text(plan_make(w, 0, a), pod, a);
}

static void add_pod(struct world *w, struct arena *a, const char *name, const char *requests,
		    struct world_volume *v, size_t n)
{
	struct world_pod p = worlds_pod(a, name, requests);

	p.volumes.v = v;
	p.volumes.n = n;
	world_put_pod(w, &p);
}

static void a_volume_chooses_the_machine(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct selector in_b = worlds_term(a, ZONE " in (b)"),
			in_d = worlds_term(a, ZONE " in (d)");
	struct world_volume b = {.v = &in_b, .n = 1}, d = {.v = &in_d, .n = 1};

	(void)state;
	add_machine(w, a, "m1", "a");
	add_machine(w, a, "m2", "b");
	add_pod(w, a, "p", "cpu=1", &b, 1);
	assert_string_equal(said(w, a, "p"), "new 0 on m2");
	add_pod(w, a, "p", "cpu=1", &d, 1);
	assert_non_null(strstr(said(w, a, "p"), "nothing; RequirementsNotMet: pool main: "));
	add_pod(w, a, "p", "cpu=1", (struct world_volume[]){b, d}, 2);
	assert_non_null(strstr(said(w, a, "p"), "nothing; RequirementsNotMet: pool main: "));
}

static void a_volume_chooses_among_nodes(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct selector in_b = worlds_term(a, ZONE " in (b)");
	struct world_volume b = {.v = &in_b, .n = 1};
	struct world_node n = worlds_node(a, "n1");

	(void)state;
	n.labels = worlds_labels(a, ZONE "=a");
	world_put_node(w, &n);
	n.name = "n2";
	n.labels = worlds_labels(a, ZONE "=b");
	world_put_node(w, &n);
	add_pod(w, a, "free", "cpu=1", NULL, 0);
	add_pod(w, a, "p", "cpu=1", &b, 1);
	assert_string_equal(said(w, a, "free"), "node n1");
	assert_string_equal(said(w, a, "p"), "node n2");
}

static void a_volume_on_a_node_that_is_gone_is_told_so(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct selector on = worlds_term(a, HOST " in (n1)");
	struct world_volume v = {"persistentVolumeClaim data: volume pv-1", "n1", &on, 1};
	struct world_node n = worlds_node(a, "n1");
	const struct plan *p;

	(void)state;
	add_machine(w, a, "m1", "a");
	n.labels = worlds_labels(a, HOST "=n1");
	world_put_node(w, &n);
	add_pod(w, a, "p", "cpu=1", &v, 1);
	assert_string_equal(said(w, a, "p"), "node n1");
	/* The volume's node is not ready, but may be again: no other node suits. */
	n.ready = false;
	world_put_node(w, &n);
	assert_non_null(strstr(said(w, a, "p"), "nothing; RequirementsNotMet: pool main: "));
	n.tenant = "other";
	world_put_node(w, &n);
	world_del_node(w, "acme", "n1");
	p = plan_make(w, 0, a);
	assert_string_equal(
		worlds_pod_text(p, "p", a),
		"nothing; VolumeNotReady: persistentVolumeClaim data: volume pv-1 is on "
		"Node n1, which no longer exists");
	assert_int_equal(p->pods[0].place, 0);
}

static void a_pod_whose_volumes_are_not_there_has_no_place(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_pod p = worlds_pod(a, "p", "cpu=1");
	const struct plan *plan;

	(void)state;
	add_machine(w, a, "m1", "a");
	p.volume_wait = "persistentVolumeClaim data does not exist";
	assert_true(world_put_pod(w, &p));
	add_pod(w, a, "q", "cpu=1", NULL, 0);
	plan = plan_make(w, 0, a);
	assert_string_equal(worlds_pod_text(plan, "p", a),
			    "nothing; VolumeNotReady: persistentVolumeClaim data does not exist");
	assert_string_equal(worlds_pod_text(plan, "q", a), "new 0 on m1");
	assert_int_equal(plan->pods[0].place + plan->pods[1].place, 1);
	p.volume_wait = NULL;
	assert_true(world_put_pod(w, &p));
	assert_string_equal(said(w, a, "p"), "new 0 on m1");
}

static void a_node_has_so_many_volumes_of_a_driver(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_node n = worlds_node(a, "n1");
	struct world_pod p = worlds_pod(a, "runs", "cpu=100m," EBS "=1");
	const struct plan *plan;

	(void)state;
	add_machine(w, a, "m1", "a");
	add_machine(w, a, "m2", "a");
	n.allocatable = worlds_resources(a, "cpu=4,memory=8Gi,pods=10," EBS "=3");
	world_put_node(w, &n);
	p.node = "n1";
	p.unschedulable = false;
	world_put_pod(w, &p);
	add_pod(w, a, "two", "cpu=100m," EBS "=2", NULL, 0);
	assert_string_equal(said(w, a, "two"), "node n1");
	add_pod(w, a, "three", "cpu=100m," EBS "=3", NULL, 0);
	plan = plan_make(w, 0, a);
	assert_string_equal(worlds_pod_text(plan, "three", a), "new 0 on m1");
	assert_string_equal(worlds_pod_text(plan, "two", a), "node n1");
	assert_int_equal(plan->claims[0].requests.n,
			 /* A claim requests only cpu, because volume attachments are not a resource
			  * of a claim. */
			 1);
	add_pod(w, a, "other", "cpu=100m,@nfs.csi.k8s.io=300", NULL, 0);
	/* The node has no limit of attachments for that driver. */
	assert_string_equal(said(w, a, "other"), "node n1");
}

/* A new node is expected to have no more attachments than the tenant's Ready nodes. Otherwise
 * drover would claim one machine after the other without effect. */
static void a_new_node_has_no_more_than_the_least_of_those_that_serve(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_claim c = worlds_claim(a, "c1", "m1"),
			   on_its_way = worlds_claim(a, "c2", "m2");
	struct world_node n = worlds_node(a, "n1");

	(void)state;
	add_machine(w, a, "m1", "a");
	add_machine(w, a, "m2", "a");
	add_machine(w, a, "m3", "a");
	add_pod(w, a, "p", "cpu=4," EBS "=4", NULL, 0);
	assert_string_equal(said(w, a, "p"), "new 0 on m1");
	c.ready = true;
	world_put_claim(w, &c);
	n.claim = "c1";
	n.allocatable = worlds_resources(a, "cpu=3,memory=8Gi,pods=10," EBS "=3");
	world_put_node(w, &n);
	assert_string_equal(said(w, a, "p"),
			    "nothing; TooBig: pool main: the pod has 4 volumes of CSI driver "
			    "ebs.csi.aws.com, a new node can attach 3");
	world_put_claim(w, &on_its_way);
	assert_non_null(strstr(said(w, a, "p"), "TooBig"));
	add_pod(w, a, "p", "cpu=4," EBS "=3", NULL, 0);
	assert_string_equal(said(w, a, "p"), "claim c2");
	world_del_claim(w, "c2");
	assert_string_equal(said(w, a, "p"), "new 0 on m2");
}

#define EFS "@efs.csi.aws.com"

/* Adds n pods named PREFIX0, PREFIX1 ... that each request cpu=100m and the volumes of `claims`, a
 * list of names of shared volumes of driver EBS; node NULL: the pods wait. */
static void add_sharers(struct world *w, struct arena *a, const char *prefix, size_t n,
			const char *const *claims, const char *node)
{
	struct world_shared shared[4];
	struct world_pod p;

	for (size_t i = 0; i < n; i++) {
		p = worlds_pod(a, arena_printf(a, "%s%zu", prefix, i), "cpu=100m");
		p.node = node;
		p.unschedulable = !node;
		for (; claims[p.shared.n]; p.shared.n++)
			shared[p.shared.n] = (struct world_shared){EBS, claims[p.shared.n]};
		p.requests =
			worlds_resources(a, arena_printf(a, "cpu=100m," EBS "=%zu", p.shared.n));
		p.shared.v = shared;
		world_put_pod(w, &p);
	}
}

static size_t count_placed(const struct plan *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->npods; i++)
		n += p->pods[i].outcome != PLAN_NOTHING;
	return n;
}

/* Adds a Ready node of a claim; new nodes are expected to attach as many volumes as this one. */
static void add_limited(struct world *w, struct arena *a, const char *allocatable)
{
	struct world_claim c = worlds_claim(a, "c0", "m0");
	struct world_node n = worlds_node(a, "n0");

	add_machine(w, a, "m0", "a");
	c.ready = true;
	world_put_claim(w, &c);
	n.claim = "c0";
	n.allocatable = worlds_resources(a, allocatable);
	world_put_node(w, &n);
}

static void a_hundred_pods_of_one_claim_take_one_attachment_on_each_node(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	const struct plan *p;

	(void)state;
	add_limited(w, a, "cpu=0,memory=8Gi,pods=200," EBS "=10");
	for (int i = 1; i <= 12; i++) {
		struct world_machine m = worlds_machine(arena_printf(a, "b%d", i), "big");

		world_put_machine(w, &m);
	}
	add_sharers(w, a, "p", 100, (const char *const[]){"default/data", NULL}, NULL);
	p = plan_make(w, 0, a);
	/* One machine has 16 CPUs and room for 110 pods. */
	assert_int_equal(p->nclaims, 1);
	assert_int_equal(count_placed(p), 100);
}

static void shared_volumes_are_counted_once_on_a_node_that_serves(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	const char *const one[] = {"default/one", NULL}, *const two[] = {"default/two", NULL},
			  *const both[] = {"default/one", "default/two", NULL},
			  *const three[] = {"default/three", NULL};
	const struct plan *p;

	(void)state;
	add_limited(w, a, "cpu=4,memory=8Gi,pods=200," EBS "=2");
	add_sharers(w, a, "runs", 5, one, "n0");
	add_sharers(w, a, "a", 2, both, NULL);
	add_sharers(w, a, "b", 2, two, NULL);
	add_sharers(w, a, "c", 1, three, NULL);
	p = plan_make(w, 0, a);
	assert_string_equal(worlds_pod_text(p, "a0", a), "node n0");
	assert_string_equal(worlds_pod_text(p, "a1", a), "node n0");
	assert_string_equal(worlds_pod_text(p, "b1", a), "node n0");
	/* Both attachments are taken, although the node has 7 pods with volumes. */
	assert_non_null(strstr(worlds_pod_text(p, "c0", a), "nothing; "));
	/* The volume stays attached until its last pod leaves. */
	for (size_t i = 0; i < 4; i++)
		world_del_pod(w, "acme", "default", arena_printf(a, "runs%zu", i));
	assert_non_null(strstr(said(w, a, "c0"), "nothing; "));
	world_del_pod(w, "acme", "default", "runs4");
	world_del_pod(w, "acme", "default", "a0");
	world_del_pod(w, "acme", "default", "a1");
	assert_string_equal(said(w, a, "c0"), "node n0");
}

static void shared_volumes_and_own_ones_share_the_limit(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_pod p = worlds_pod(a, "mixed", "cpu=100m," EBS "=3," EFS "=1");
	struct world_shared shared[] = {{EBS, "default/one"}, {EFS, "default/files"}};

	(void)state;
	p.shared.v = shared;
	p.shared.n = 2;
	add_limited(w, a, "cpu=4,memory=8Gi,pods=200," EBS "=3," EFS "=1");
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "mixed"), "node n0");
	p.name = p.uid = "again";
	world_put_pod(w, &p);
	/* The second pod needs two attachments of its own; none is left. */
	assert_string_equal(said(w, a, "again"), "node n0");
	assert_non_null(strstr(said(w, a, "mixed"), "nothing; "));
}

static void a_gang_that_is_not_placed_attaches_nothing(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_shared data = {EBS, "default/data"};
	const struct plan *plan;

	(void)state;
	add_limited(w, a, "cpu=4,memory=8Gi,pods=200," EBS "=1");
	for (int i = 0; i < 3; i++) {
		struct world_pod p = worlds_pod(a, arena_printf(a, "g%d", i), "cpu=2," EBS "=1");

		p.shared.v = &data;
		p.shared.n = 1;
		p.gang.key = "job";
		p.gang.min = 3;
		world_put_pod(w, &p);
	}
	add_sharers(w, a, "other", 1, (const char *const[]){"default/more", NULL}, NULL);
	plan = plan_make(w, 0, a);
	assert_non_null(strstr(worlds_pod_text(plan, "g0", a), "nothing; "));
	assert_string_equal(worlds_pod_text(plan, "other0", a), "node n0");
	world_del_pod(w, "acme", "default", "other0");
	world_del_pod(w, "acme", "default", "g2");
	for (int i = 0; i < 2; i++) {
		struct world_pod p = worlds_pod(a, arena_printf(a, "g%d", i), "cpu=2," EBS "=1");

		p.shared.v = &data;
		p.shared.n = 1;
		p.gang.key = "job";
		p.gang.min = 2;
		world_put_pod(w, &p);
	}
	assert_string_equal(said(w, a, "g1"), "node n0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_volume_chooses_the_machine),
		cmocka_unit_test(a_volume_chooses_among_nodes),
		cmocka_unit_test(a_volume_on_a_node_that_is_gone_is_told_so),
		cmocka_unit_test(a_pod_whose_volumes_are_not_there_has_no_place),
		cmocka_unit_test(a_node_has_so_many_volumes_of_a_driver),
		cmocka_unit_test(a_new_node_has_no_more_than_the_least_of_those_that_serve),
		cmocka_unit_test(a_hundred_pods_of_one_claim_take_one_attachment_on_each_node),
		cmocka_unit_test(shared_volumes_are_counted_once_on_a_node_that_serves),
		cmocka_unit_test(shared_volumes_and_own_ones_share_the_limit),
		cmocka_unit_test(a_gang_that_is_not_placed_attaches_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
