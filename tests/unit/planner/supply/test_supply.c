/* test_supply: tests which machine a pod gets, and the reasons if no machine suits. */
#include "base/str.h"
#include "tests/unit/planner/worlds.h"
#include "tests/unit/testing.h"

static void add_machine(struct world *w, const char *name, const char *type)
{
	struct world_machine m = worlds_machine(name, type);

	world_put_machine(w, &m);
}

static void add_pod(struct world *w, struct arena *a, const char *name, const char *requests)
{
	struct world_pod p = worlds_pod(a, name, requests);

	world_put_pod(w, &p);
}

static const char *said(struct world *w, struct arena *a, const char *pod)
{
	return worlds_pod_text(plan_make(w, 0, a), pod, a);
}

#define assert_said(w, text) assert_string_equal(said((w), a, "p"), (text))

static void no_pool_selects_the_tenant(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_tenant t = worlds_tenant(a);

	(void)state;
	t.labels = worlds_labels(a, "team=z");
	world_put_tenant(w, &t);
	add_machine(w, "m1", "small");
	add_pod(w, a, "p", "cpu=1");
	assert_said(w, "nothing; NoPool: no pool selects tenant acme");
}

static void a_paused_pool_says_why(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_pool p = worlds_pool(a);

	(void)state;
	p.paused = true;
	p.paused_reason = "StopTheLine";
	world_put_pool(w, &p);
	add_machine(w, "m1", "small");
	add_pod(w, a, "p", "cpu=1");
	assert_said(w, "nothing; PoolPaused: pool main: StopTheLine");
}

static void a_limit_counts_what_claims_hold(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_pool p = worlds_pool(a);
	struct world_claim c = worlds_claim(a, "c1", "m1");

	(void)state;
	p.limits = worlds_resources(a, "cpu=7");
	world_put_pool(w, &p);
	add_machine(w, "m1", "small");
	add_machine(w, "m2", "small");
	c.ready = c.leaving = true;
	world_put_claim(w, &c);
	add_pod(w, a, "p", "cpu=1");
	assert_said(w, "nothing; LimitExceeded: pool main: the pool's limit of cpu is reached: 4 "
		       "of 7 used, a machine of type small would add 4");
	p.limits = worlds_resources(a, "cpu=8");
	world_put_pool(w, &p);
	assert_said(w, "new 0 on m2");
}

static void a_limit_of_nodes_counts_claims(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_pool p = worlds_pool(a);
	struct world_claim c = worlds_claim(a, "c1", "m1");

	(void)state;
	p.limits = worlds_resources(a, "nodes=1");
	world_put_pool(w, &p);
	add_machine(w, "m1", "small");
	add_machine(w, "m2", "small");
	c.failed = true;
	world_put_claim(w, &c);
	add_pod(w, a, "p", "cpu=1");
	assert_said(w, "nothing; LimitExceeded: pool main: the pool's limit of nodes "
		       "is reached: 1 of 1 used");
	c.machine = NULL; /* A failed claim counts only while it has a machine. */
	world_put_claim(w, &c);
	assert_said(w, "new 0 on m1");
}

static void a_limit_also_counts_what_this_plan_opens(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_pool p = worlds_pool(a);

	(void)state;
	p.limits = worlds_resources(a, "nodes=1");
	world_put_pool(w, &p);
	add_machine(w, "m1", "small");
	add_machine(w, "m2", "small");
	add_pod(w, a, "o", "cpu=3");
	add_pod(w, a, "p", "cpu=3");
	assert_said(w, "nothing; LimitExceeded: pool main: the pool's limit of nodes "
		       "is reached: 1 of 1 used");
}

static void a_cluster_that_takes_no_nodes_gets_none_and_its_pods_wait_for_nobody(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_tenant t = worlds_tenant(a);

	(void)state;
	t.no_nodes = "it shares its host's";
	assert_true(world_put_tenant(w, &t));
	add_machine(w, "m1", "small");
	add_pod(w, a, "p", "cpu=3");
	assert_said(
		w,
		"nothing; NodesNotTaken: pool main: virtual cluster acme does not accept nodes: it "
		"shares its host's");
	assert_int_equal(plan_make(w, 0, a)->pods[0].place, 0);
	t.no_nodes = NULL;
	assert_true(world_put_tenant(w, &t));
	assert_false(world_put_tenant(w, &t));
	assert_said(w, "new 0 on m1");
}

static void a_pool_says_whose_nodes_its_machines_may_become(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_tenant t = worlds_tenant(a);
	struct world_pool p = worlds_pool(a);

	(void)state;
	add_machine(w, "m1", "small");
	add_pod(w, a, "p", "cpu=3");
	t.on_host = true;
	assert_true(world_put_tenant(w, &t));
	assert_said(
		w, "nothing; NodesNotTaken: pool main: its spec.template.spec.nodes does not allow "
		   "Host nodes");
	p.host = p.not_private = true;
	world_put_pool(w, &p);
	assert_said(w, "new 0 on m1");
	t.on_host = false;
	world_put_tenant(w, &t);
	assert_said(
		w, "nothing; NodesNotTaken: pool main: its spec.template.spec.nodes does not allow "
		   "Private nodes");
}

static void a_machine_whose_place_cannot_be_proved_is_not_offered(void **state)
{
	static const struct {
		enum world_proof demanded, shown;
		/* True if addresses for test packets are configured. */
		bool tenant, provider;
		const char *text;
	} cases[] = {
		{WORLD_PROOF_NONE, WORLD_PROOF_NONE, false, false, "new 0 on m1"},
		{WORLD_PROOF_WEAK, WORLD_PROOF_WEAK, false, false, "new 0 on m1"},
		{WORLD_PROOF_STRONG, WORLD_PROOF_STRONG, false, false, "new 0 on m1"},
		{WORLD_PROOF_STRONG, WORLD_PROOF_WEAK, true, true, "new 0 on m1"},
		{WORLD_PROOF_WEAK, WORLD_PROOF_NONE, true, false,
		 "nothing; NetworkProofWeak: pool main: tenant acme requires network proof Weak, "
		 "the network of provider metal proves only None"},
		{WORLD_PROOF_STRONG, WORLD_PROOF_WEAK, false, true,
		 "nothing; NetworkProofWeak: pool main: tenant acme requires network proof Strong, "
		 "the network of provider metal proves only Weak: for a proof by packets, set "
		 "spec.network.probe of the tenant"},
		{WORLD_PROOF_STRONG, WORLD_PROOF_WEAK, true, false,
		 "nothing; NetworkProofWeak: pool main: tenant acme requires network proof Strong, "
		 "the network of provider metal proves only Weak: for a proof by packets, set "
		 "spec.network.probe.provisioning of the provider"},
		{WORLD_PROOF_STRONG, WORLD_PROOF_WEAK, false, false,
		 "nothing; NetworkProofWeak: pool main: tenant acme requires network proof Strong, "
		 "the network of provider metal proves only Weak: for a proof by packets, set "
		 "spec.network.probe of the tenant and spec.network.probe.provisioning of the "
		 "provider"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		OWN(arena) a = arena_new();
		OWN(world) w = worlds_new(a);
		struct world_tenant t = worlds_tenant(a);
		struct world_provider p = worlds_provider(a);

		add_machine(w, "m1", "small");
		add_pod(w, a, "p", "cpu=3");
		p.proof = cases[i].shown;
		p.probed = cases[i].provider;
		world_put_provider(w, &p);
		t.proof = cases[i].demanded;
		t.probed = cases[i].tenant;
		(void)world_put_tenant(w, &t);
		assert_false(world_put_tenant(w, &t));
		assert_said(w, cases[i].text);
	}
}

/* A pool has two Providers: the machine whose Provider shows sufficient proof of isolation is
 * chosen, although it costs more. */
static void a_provider_that_proves_enough_serves_beside_one_that_does_not(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_tenant t = worlds_tenant(a);
	struct world_provider p = worlds_provider(a);
	struct world_pool pool = worlds_pool(a);
	const char *providers[] = {"metal", "proved"};
	struct world_machine m = {.name = "m2",
				  .provider = "proved",
				  .instance_type = "small",
				  .offered = true,
				  .level_flash = -1,
				  .level_hdd = -1};

	(void)state;
	add_machine(w, "m1", "small");
	add_pod(w, a, "p", "cpu=3");
	p.name = "proved";
	p.proof = WORLD_PROOF_WEAK;
	world_put_provider(w, &p);
	pool.providers = providers;
	pool.nproviders = 2;
	world_put_pool(w, &pool);
	assert_said(w, "new 0 on m1");
	t.proof = WORLD_PROOF_WEAK;
	assert_true(world_put_tenant(w, &t));
	assert_said(
		w, "nothing; NoCapacity: pool main: there is no machine of type small, big or gpu");
	assert_true(world_put_machine(w, &m));
	assert_said(w, "new 0 on m2");
}

static void an_image_must_be_no_newer_than_the_server_and_three_minors_old_at_most(void **state)
{
	static const struct {
		const char *image, *server, *text;
	} cases[] = {
		{"1.36", "1.36", "new 0 on m1"},
		{"1.33", "1.36", "new 0 on m1"},
		{"1.32", "1.36",
		 "nothing; NoImageForVersion: pool main: no image for Kubernetes 1.36"},
		{"1.37", "1.36",
		 "nothing; NoImageForVersion: pool main: no image for Kubernetes 1.36"},
		{"1.36", "2.0",
		 "nothing; NoImageForVersion: pool main: no image for Kubernetes 2.0"},
		{"next", "1.36",
		 "nothing; NoImageForVersion: pool main: no image for Kubernetes 1.36"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		OWN(arena) a = arena_new();
		OWN(world) w = worlds_new(a);
		struct world_pool p = worlds_pool(a);
		struct world_tenant t = worlds_tenant(a);

		p.versions[0] = cases[i].image;
		world_put_pool(w, &p);
		t.version = cases[i].server;
		world_put_tenant(w, &t);
		add_machine(w, "m1", "small");
		add_pod(w, a, "p", "cpu=1");
		assert_said(w, cases[i].text);
	}
}

static void the_newest_image_that_suits_is_taken(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_pool p = worlds_pool(a);
	struct plan *plan;

	(void)state;
	p.versions = (const char *[]){"1.34", "1.35", "1.33", "1.37"};
	p.nversions = 4;
	world_put_pool(w, &p);
	add_machine(w, "m1", "small");
	add_pod(w, a, "p", "cpu=1");
	plan = plan_make(w, 0, a);
	assert_string_equal(plan->claims[0].version, "1.35");
}

static void no_type_fits_the_node_selector(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_pod p = worlds_pod(a, "p", "cpu=1");

	(void)state;
	add_machine(w, "m1", "small");
	p.node_selector = worlds_labels(a, "gpu=b200");
	world_put_pod(w, &p);
	assert_said(w, "nothing; RequirementsNotMet: pool main: no instance type fits nodeSelector "
		       "gpu=b200: type gpu has h100");
}

static void a_label_of_the_type_or_the_pool_or_a_well_known_one_can_be_selected(void **state)
{
	static const char *const selectors[] = {
		"disk=ssd",
		"rack=r1",
		"node.kubernetes.io/instance-type=small",
		"kubernetes.io/arch=amd64",
		"kubernetes.io/os=linux",
		"drover.dev/nodepool=main",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(selectors) / sizeof(selectors[0]); i++) {
		OWN(arena) a = arena_new();
		OWN(world) w = worlds_new(a);
		struct world_pod p = worlds_pod(a, "p", "cpu=1");
		struct world_pool pool = worlds_pool(a);

		pool.labels = worlds_labels(a, "rack=r1");
		world_put_pool(w, &pool);
		add_machine(w, "b1", "big");
		add_machine(w, "m1", "small");
		p.node_selector = worlds_labels(a, selectors[i]);
		world_put_pod(w, &p);
		assert_said(w, "new 0 on m1");
	}
}

static void the_pools_own_requirements_narrow_the_types(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_pool p = worlds_pool(a);

	(void)state;
	add_machine(w, "m1", "small");
	add_machine(w, "b1", "big");
	p.requirements = worlds_term(a, "cores>8");
	world_put_pool(w, &p);
	add_pod(w, a, "p", "cpu=1");
	assert_said(w, "new 0 on b1");
	p.requirements = worlds_term(a, "cores>16");
	world_put_pool(w, &p);
	assert_said(w, "nothing; RequirementsNotMet: pool main: no instance type fits the pool's "
		       "own requirement cores Gt (16): type gpu has none");
}

static void a_taint_of_the_pool_is_named(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_pool pool = worlds_pool(a);
	struct world_pod p = worlds_pod(a, "p", "cpu=1");
	struct world_toleration t = {.key = "gpu", .op = WORLD_TOLERATES_EXISTS};

	(void)state;
	pool.taints = worlds_taints(a, "gpu=yes:NoSchedule");
	world_put_pool(w, &pool);
	add_machine(w, "m1", "small");
	world_put_pod(w, &p);
	assert_said(w,
		    "nothing; TaintNotTolerated: pool main: the pod does not tolerate taint gpu");
	p.tolerations.v = &t;
	p.tolerations.n = 1;
	world_put_pod(w, &p);
	assert_said(w, "new 0 on m1");
}

static void what_no_type_has_enough_of_is_named(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);

	(void)state;
	add_machine(w, "m1", "small");
	add_machine(w, "g1", "gpu");
	add_pod(w, a, "p", "cpu=65");
	assert_said(w, "nothing; TooBig: pool main: type gpu has too little cpu: the pod requests "
		       "65, the largest type has 64");
	add_pod(w, a, "p", "nvidia.com/gpu=9");
	assert_said(w, "nothing; TooBig: pool main: type gpu has too little nvidia.com/gpu: the "
		       "pod requests 9, the largest type has 8");
	add_pod(w, a, "p", "example.com/fpga=1");
	assert_said(w, "nothing; TooBig: pool main: type gpu has too little example.com/fpga: the "
		       "pod requests 1, the largest type has 0");
}

static void machines_that_are_taken_are_counted_by_what_they_do(void **state)
{
	static const char *const doing[] = {"serving", "quarantined", "serving", "wiping"};
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_claim c = worlds_claim(a, "c1", "m9");

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct world_machine m = worlds_machine((const char *[]){"m1", "m2", "m3", "m4"}[i],
							i < 2 ? "small" : "big");

		m.offered = false;
		m.not_offered = doing[i];
		world_put_machine(w, &m);
	}
	add_machine(w, "m9", "small");
	add_machine(w, "g1", "gpu");
	c.leaving = true;
	world_put_claim(w, &c);
	add_pod(w, a, "p", "cpu=1");
	world_del_machine(w, "g1");
	assert_said(w, "nothing; NoCapacity: pool main: 5 machines fit, all taken (1 claimed, 1 "
		       "quarantined, 2 serving, 1 wiping)");
	add_pod(w, a, "p", "cpu=5");
	assert_said(
		w,
		"nothing; NoCapacity: pool main: 2 machines fit, all taken (1 serving, 1 wiping)");
	add_pod(w, a, "p", "nvidia.com/gpu=1");
	assert_said(w, "nothing; NoCapacity: pool main: there is no machine of type gpu");
}

static void a_machine_is_not_given_twice(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct plan *plan;

	(void)state;
	add_machine(w, "m1", "small");
	add_machine(w, "m2", "small");
	add_pod(w, a, "p1", "cpu=3");
	add_pod(w, a, "p2", "cpu=3");
	add_pod(w, a, "p3", "cpu=3");
	plan = plan_make(w, 0, a);
	assert_string_equal(worlds_pod_text(plan, "p1", a), "new 0 on m1");
	assert_string_equal(worlds_pod_text(plan, "p2", a), "new 1 on m2");
	assert_string_equal(
		worlds_pod_text(plan, "p3", a),
		"nothing; NoCapacity: pool main: 2 machines fit, all taken (2 claimed)");
}

static void a_machine_wiped_below_the_pools_floor_is_not_given(void **state)
{
	static const struct {
		int flash, hdd, trust;
		bool good;
		unsigned must_cover, covered;
	} cases[] = {{2, 2, 1, true, 0, 0},  {1, 2, 1, false, 0, 0}, {2, 1, 1, false, 0, 0},
		     {2, 2, 0, false, 0, 0}, {-1, 2, 1, true, 0, 0}, {2, -1, 1, true, 0, 0},
		     {2, 2, 1, true, 1, 1},  {2, 2, 1, false, 1, 0}, {2, 2, 1, false, 3, 1},
		     {2, 2, 1, true, 0, 1}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		OWN(arena) a = arena_new();
		OWN(world) w = worlds_new(a);
		struct world_pool p = worlds_pool(a);
		struct world_machine m = worlds_machine("m1", "small");

		p.minimum_level_flash = p.minimum_level_hdd = 2;
		p.minimum_trust = 1;
		p.must_cover = cases[i].must_cover;
		world_put_pool(w, &p);
		m.level_flash = cases[i].flash;
		m.level_hdd = cases[i].hdd;
		m.trust = cases[i].trust;
		m.covered = cases[i].covered;
		world_put_machine(w, &m);
		add_pod(w, a, "p", "cpu=1");
		assert_said(w, cases[i].good ? "new 0 on m1"
					     : "nothing; EraseBelowPolicy: pool main: 1 free "
					       "machine was wiped less thoroughly than the pool's "
					       "spec.wipe requires");
	}
}

static void the_quota_counts_all_machines_of_the_tenant(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_tenant t = worlds_tenant(a);
	struct world_claim c = worlds_claim(a, "c1", "m1");

	(void)state;
	t.quota = worlds_resources(a, "cpu=7,nvidia.com/gpu=16");
	world_put_tenant(w, &t);
	add_machine(w, "m1", "small");
	add_machine(w, "m2", "small");
	c.pool = "another";
	c.leaving = true;
	world_put_claim(w, &c);
	add_pod(w, a, "p", "cpu=1");
	assert_said(w, "nothing; QuotaExceeded: pool main: the tenant's quota of cpu is used up: 4 "
		       "of 7 used, a machine of type small would add 4");
	c.tenant = "other";
	world_put_claim(w, &c);
	assert_said(w, "new 0 on m2");
}

static void a_tenant_that_is_not_ready_gets_no_machine(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_tenant t = worlds_tenant(a);

	(void)state;
	add_machine(w, "m1", "small");
	add_pod(w, a, "p", "cpu=1");
	t.paused = true;
	t.paused_reason = "TenantUnreachable";
	world_put_tenant(w, &t);
	assert_said(w, "nothing; TenantNotReady: tenant acme: TenantUnreachable");
	t.paused = false;
	t.paused_reason = NULL;
	t.version = NULL;
	world_put_tenant(w, &t);
	assert_said(
		w, "nothing; TenantNotReady: tenant acme: its Kubernetes version is not known yet");
}

static void a_constraint_that_cannot_be_judged_is_named(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_pod p = worlds_pod(a, "p", "cpu=1");

	(void)state;
	add_machine(w, "m1", "small");
	p.unsupported = "a persistentVolumeClaim";
	world_put_pod(w, &p);
	assert_said(
		w,
		"nothing; ConstraintNotSupported: drover does not support a persistentVolumeClaim");
}

static void a_provider_that_is_paused_or_missing_is_named(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_provider p = worlds_provider(a);

	(void)state;
	add_machine(w, "m1", "small");
	add_pod(w, a, "p", "cpu=1");
	p.paused = true;
	p.paused_reason = "ProviderPaused";
	world_put_provider(w, &p);
	assert_said(w, "nothing; NoCapacity: pool main: provider metal: ProviderPaused");
	world_del_provider(w, "metal");
	assert_said(w, "nothing; NoCapacity: pool main: provider metal: not found");
}

static void a_pool_without_a_limit_buys_nothing_and_says_so(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_provider p = worlds_provider(a);
	struct world_pool pool = worlds_pool(a);

	(void)state;
	add_pod(w, a, "p", "cpu=1");
	p.elastic = true;
	pool.permits_only = true;
	world_put_provider(w, &p);
	world_put_pool(w, &pool);
	assert_said(w, "nothing; NoCapacity: pool main: the pool has no limits.nodes, so provider "
		       "metal launches no instances for it");
	p.types.n = 0;
	world_put_provider(w, &p);
	assert_said(w, "nothing; NoCapacity: pool main: the pool has no limits.nodes, so provider "
		       "metal launches instances for it only when a BurstPolicy decides so");
}

static void a_heavier_pool_comes_first_and_the_nearest_miss_is_told_first(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_pool p = worlds_pool(a);

	(void)state;
	add_machine(w, "m1", "small");
	p.name = "abc";
	p.weight = 20;
	p.taints = worlds_taints(a, "k=v:NoSchedule");
	world_put_pool(w, &p);
	p.name = "heavy";
	p.weight = 11;
	p.taints = worlds_taints(a, "");
	world_put_pool(w, &p);
	add_pod(w, a, "p", "cpu=1");
	assert_string_equal(plan_make(w, 0, a)->claims[0].pool, "heavy");
	world_del_machine(w, "m1");
	assert_said(
		w,
		"nothing; NoCapacity: pool heavy: there is no machine of type small, big or gpu; "
		"NoCapacity: pool main: there is no machine of type small, big or gpu; "
		"TaintNotTolerated: pool abc: the pod does not tolerate taint k");
}

static void the_type_that_wastes_least_is_taken_gpus_before_all_else(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);

	(void)state;
	add_machine(w, "a-gpu", "gpu");
	add_machine(w, "b-big", "big");
	add_machine(w, "c-small", "small");
	add_pod(w, a, "p", "cpu=1");
	assert_said(w, "new 0 on c-small");
	add_pod(w, a, "p", "cpu=5");
	assert_said(w, "new 0 on b-big");
	world_del_machine(w, "b-big");
	assert_said(w, "new 0 on a-gpu");
}

/* Puts a pool with the Providers "zone" and "metal", in this order, which offer the same types. */
static void two_providers(struct world *w, struct arena *a)
{
	struct world_pool p = worlds_pool(a);
	struct world_provider second = worlds_provider(a);

	second.name = "zone";
	world_put_provider(w, &second);
	p.providers = (const char *[]){"zone", "metal"};
	p.nproviders = 2;
	world_put_pool(w, &p);
}

/* Asserts which machine a small pod gets. The pool's first Provider has one machine of type
 * firsts_type, the second has a small one. */
static void assert_small_pod_gets(const char *firsts_type, const char *machine)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_machine m = worlds_machine("z1", firsts_type);

	two_providers(w, a);
	m.provider = "zone";
	world_put_machine(w, &m);
	add_machine(w, "m1", "small");
	add_pod(w, a, "p", "cpu=1");
	assert_said(w, arena_printf(a, "new 0 on %s", machine));
}

static void of_equal_types_the_one_of_the_pools_first_provider_is_taken(void **state)
{
	(void)state;
	assert_small_pod_gets("small", "z1");
}

static void a_type_that_wastes_less_is_taken_whoever_provides_it(void **state)
{
	(void)state;
	assert_small_pod_gets("big", "m1");
}

static size_t claims_of(struct world *w, const char *type)
{
	OWN(arena) a = arena_new();
	const struct plan *p = plan_make(w, 0, a);
	size_t n = 0;

	for (size_t i = 0; i < p->nclaims; i++)
		n += str_eq(p->claims[i].instance_type, type);
	return n;
}

static void add_pods(struct world *w, struct arena *a, unsigned n, const char *requests)
{
	for (unsigned i = 0; i < n; i++)
		add_pod(w, a, arena_printf(a, "p%02u", i), requests);
}

/* Four small machines could serve the eight pods, but one big machine serves all of them. */
static void the_type_is_chosen_for_all_who_wait(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);

	(void)state;
	for (int i = 0; i < 8; i++)
		add_machine(w, arena_printf(a, "s%d", i), "small");
	add_machine(w, "b", "big");
	add_machine(w, "g", "gpu");
	add_pods(w, a, 2, "cpu=2");
	assert_int_equal(claims_of(w, "small"), 1);
	assert_int_equal(claims_of(w, "big"), 0);
	add_pods(w, a, 8, "cpu=2");
	assert_int_equal(claims_of(w, "small"), 0);
	assert_int_equal(claims_of(w, "big"), 1);
	/* The remaining two pods go to a small machine again, and none to a GPU machine while there
	 * are others. */
	add_pods(w, a, 10, "cpu=2");
	assert_int_equal(claims_of(w, "small"), 1);
	assert_int_equal(claims_of(w, "big"), 1);
	assert_int_equal(claims_of(w, "gpu"), 0);
}

/* Only one of these pods may be on a machine, so their number is no reason to take a large
 * machine. */
static void who_must_be_apart_gets_no_more_than_each_needs(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_topology t = {.kind = WORLD_APART, .key = "kubernetes.io/hostname"};

	(void)state;
	for (int i = 0; i < 8; i++)
		add_machine(w, arena_printf(a, "s%d", i), "small");
	add_machine(w, "b", "big");
	for (int i = 0; i < 8; i++) {
		struct world_pod p = worlds_pod(a, arena_printf(a, "p%d", i), "cpu=2");

		p.topology.v = &t;
		p.topology.n = 1;
		world_put_pod(w, &p);
	}
	assert_int_equal(claims_of(w, "small"), 8);
	assert_int_equal(claims_of(w, "big"), 0);
}

/* Eight of the nine pods share a machine with 8 GPUs. The ninth gets a machine with 1 GPU. */
static void gpus_are_not_left_over_where_they_need_not_be(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_provider p = worlds_provider(a);

	(void)state;
	p.types.v[2] = (struct world_instance_type){
		"one", worlds_resources(a, "cpu=8,memory=64Gi,nvidia.com/gpu=1,pods=110"),
		worlds_labels(a, "gpu=h100"), 0};
	world_put_provider(w, &p);
	for (int i = 0; i < 9; i++)
		add_machine(w, arena_printf(a, "o%d", i), "one");
	for (int i = 0; i < 2; i++)
		add_machine(w, arena_printf(a, "g%d", i), "gpu");
	add_pods(w, a, 9, "cpu=1,nvidia.com/gpu=1");
	assert_int_equal(claims_of(w, "gpu"), 1);
	assert_int_equal(claims_of(w, "one"), 1);
}

static void warm_before_cold_and_fewer_failures_first_then_by_name(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_machine m = worlds_machine("m1", "small");

	(void)state;
	m.failures = 1;
	world_put_machine(w, &m);
	add_machine(w, "m4", "small");
	add_machine(w, "m3", "small");
	add_pod(w, a, "p", "cpu=1");
	assert_said(w, "new 0 on m3");
	m = worlds_machine("m5", "small");
	m.warm = true;
	m.failures = 3;
	world_put_machine(w, &m);
	assert_said(w, "new 0 on m5");
}

static void a_claim_says_all_that_its_maker_needs(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_pool p = worlds_pool(a);
	struct plan *plan;

	(void)state;
	p.labels = worlds_labels(a, "rack=r1,disk=fast");
	p.requirements = worlds_term(a, "disk in (fast)");
	world_put_pool(w, &p);
	add_machine(w, "m1", "small");
	add_pod(w, a, "p1", "cpu=1,memory=1Gi");
	add_pod(w, a, "p2", "cpu=500m,memory=1Gi");
	plan = plan_make(w, 0, a);
	assert_string_equal(worlds_text(plan, a),
			    "1 acme/default/p1: new 0 on m1\n"
			    "2 acme/default/p2: new 0 on m1\n"
			    "acme main metal m1 small "
			    "1.36: 2 pods, cpu=1500m memory=2Gi disk=fast drover.dev/nodepool=main "
			    "kubernetes.io/arch=amd64 kubernetes.io/os=linux "
			    "node.kubernetes.io/instance-type=small rack=r1\n");
	assert_int_equal(plan->claims[0].requirements.n, 1);
	assert_string_equal(plan->claims[0].requirements.v[0].key, "disk");
}

static const char *stock_text(struct world *w, struct arena *a)
{
	struct plan_stock st = plan_stock(w, "main", a);
	const char *text = arena_printf(a, "%zu of", st.room);

	for (size_t i = 0; i < st.n; i++)
		text = arena_printf(a, "%s %s", text, st.v[i]->name);
	return text;
}

static void the_stock_of_a_pool_is_what_it_could_claim(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_pool p = worlds_pool(a);
	struct world_machine m = worlds_machine("m2", "small");
	struct world_claim c = worlds_claim(a, "c1", "m1");

	(void)state;
	assert_string_equal(stock_text(w, a), "0 of");
	add_machine(w, "m1", "big");
	m.failures = 1;
	world_put_machine(w, &m);
	add_machine(w, "m3", "small");
	/* The text lists machines in the order in which a plan uses them. */
	assert_string_equal(stock_text(w, a), "3 of m3 m2 m1");
	world_put_claim(w, &c);
	assert_string_equal(stock_text(w, a), "2 of m3 m2");
	p.limits = worlds_resources(a, "nodes=2");
	world_put_pool(w, &p);
	assert_string_equal(stock_text(w, a), "1 of m3 m2");
	m.offered = false;
	world_put_machine(w, &m);
	assert_string_equal(stock_text(w, a), "1 of m3");
	p.limits = (struct resources){0};
	p.minimum_level_flash = 2;
	world_put_pool(w, &p);
	m = worlds_machine("m3", "small");
	m.level_flash = 1;
	world_put_machine(w, &m);
	assert_string_equal(stock_text(w, a), "0 of");
	p.minimum_level_flash = 1;
	p.requirements = worlds_term(a, "node.kubernetes.io/instance-type in (gpu)");
	world_put_pool(w, &p);
	assert_string_equal(stock_text(w, a), "0 of");
	assert_int_equal(plan_stock(w, "none", a).n, 0);
}

/* Puts pool "a" with cloud instances and pool "b" with the operator's own machines. sky: weight of
 * pool "a". */
static void put_both(struct world *w, struct arena *a, int64_t sky)
{
	static const char *const cloud[] = {"cloud"}, *const metal[] = {"metal"};
	struct world_provider p = worlds_provider(a);
	struct world_pool pool = worlds_pool(a);
	struct world_machine m = worlds_machine("cloud/small/0", "small");

	p.name = m.provider = "cloud";
	p.elastic = true;
	world_put_provider(w, &p);
	world_del_pool(w, "main");
	pool.name = "a";
	pool.weight = sky;
	pool.providers = (const char **)cloud;
	pool.nproviders = 1;
	world_put_pool(w, &pool);
	pool.name = "b";
	pool.weight = 10;
	pool.providers = (const char **)metal;
	world_put_pool(w, &pool);
	world_put_machine(w, &m);
	add_machine(w, "m1", "small");
}

static void of_equal_pools_an_owned_machine_comes_before_a_rented_one(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_pod x = worlds_pod(a, "p", "cpu=1");

	(void)state;
	put_both(w, a, 10);
	world_put_pod(w, &x);
	assert_said(w, "new 0 on m1");
	x.gang.key = "g"; /* A gang of one pod is served like a single pod. */
	x.gang.min = 1;
	world_put_pod(w, &x);
	assert_said(w, "new 0 on m1");
	put_both(w, a, 11);
	assert_said(w, "new 0 on cloud/small/0");
	x.gang.key = NULL;
	world_put_pod(w, &x);
	assert_said(w, "new 0 on cloud/small/0");
	put_both(w, a, 10);
	world_del_machine(w, "m1");
	assert_said(w, "new 0 on cloud/small/0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_equal_pools_an_owned_machine_comes_before_a_rented_one),
		cmocka_unit_test(no_pool_selects_the_tenant),
		cmocka_unit_test(a_paused_pool_says_why),
		cmocka_unit_test(a_limit_counts_what_claims_hold),
		cmocka_unit_test(a_limit_of_nodes_counts_claims),
		cmocka_unit_test(a_limit_also_counts_what_this_plan_opens),
		cmocka_unit_test(
			a_cluster_that_takes_no_nodes_gets_none_and_its_pods_wait_for_nobody),
		cmocka_unit_test(a_pool_says_whose_nodes_its_machines_may_become),
		cmocka_unit_test(a_machine_whose_place_cannot_be_proved_is_not_offered),
		cmocka_unit_test(a_provider_that_proves_enough_serves_beside_one_that_does_not),
		cmocka_unit_test(
			an_image_must_be_no_newer_than_the_server_and_three_minors_old_at_most),
		cmocka_unit_test(the_newest_image_that_suits_is_taken),
		cmocka_unit_test(no_type_fits_the_node_selector),
		cmocka_unit_test(
			a_label_of_the_type_or_the_pool_or_a_well_known_one_can_be_selected),
		cmocka_unit_test(the_pools_own_requirements_narrow_the_types),
		cmocka_unit_test(a_taint_of_the_pool_is_named),
		cmocka_unit_test(what_no_type_has_enough_of_is_named),
		cmocka_unit_test(machines_that_are_taken_are_counted_by_what_they_do),
		cmocka_unit_test(a_machine_is_not_given_twice),
		cmocka_unit_test(a_machine_wiped_below_the_pools_floor_is_not_given),
		cmocka_unit_test(the_quota_counts_all_machines_of_the_tenant),
		cmocka_unit_test(a_tenant_that_is_not_ready_gets_no_machine),
		cmocka_unit_test(a_constraint_that_cannot_be_judged_is_named),
		cmocka_unit_test(a_provider_that_is_paused_or_missing_is_named),
		cmocka_unit_test(a_pool_without_a_limit_buys_nothing_and_says_so),
		cmocka_unit_test(a_heavier_pool_comes_first_and_the_nearest_miss_is_told_first),
		cmocka_unit_test(the_type_that_wastes_least_is_taken_gpus_before_all_else),
		cmocka_unit_test(of_equal_types_the_one_of_the_pools_first_provider_is_taken),
		cmocka_unit_test(a_type_that_wastes_less_is_taken_whoever_provides_it),
		cmocka_unit_test(the_type_is_chosen_for_all_who_wait),
		cmocka_unit_test(who_must_be_apart_gets_no_more_than_each_needs),
		cmocka_unit_test(gpus_are_not_left_over_where_they_need_not_be),
		cmocka_unit_test(warm_before_cold_and_fewer_failures_first_then_by_name),
		cmocka_unit_test(a_claim_says_all_that_its_maker_needs),
		cmocka_unit_test(the_stock_of_a_pool_is_what_it_could_claim),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
