/* test_home: tests which owned machine is found for the pods of a cloud instance. */
#include "tests/unit/planner/worlds.h"
#include "tests/unit/testing.h"

#include <string.h>

#include "base/str.h"
#include "planner/home.h"

#define NOW 5000

struct set {
	struct arena *a;
	struct world *w;
};

static void put_pod(const struct set *s, const char *name, const char *node, const char *requests,
		    enum world_keep keep, bool saves)
{
	struct world_pod p = worlds_pod(s->a, name, requests);

	p.unschedulable = false;
	p.uid = name;
	p.node = node;
	p.keep = keep;
	p.saves = saves;
	world_put_pod(s->w, &p);
}

static void put_node(const struct set *s, const char *name)
{
	struct world_node n = worlds_node(s->a, name);

	n.claim = name;
	world_put_node(s->w, &n);
}

/* Sets up instance "cloud" of an elastic Provider with one pod that saves its work, and the free
 * machines m-1 (small), m-2 (big) and c-2, which is elastic. */
static struct set start(void)
{
	struct set s = {.a = arena_new()};
	struct world_provider sky = worlds_provider(s.a);
	struct world_pool p = worlds_pool(s.a);
	struct world_machine m[] = {worlds_machine("c-1", "big"), worlds_machine("c-2", "big"),
				    worlds_machine("m-1", "small"), worlds_machine("m-2", "big")};
	struct world_claim c;

	s.w = worlds_new(s.a);
	sky.name = "sky";
	sky.elastic = true;
	world_put_provider(s.w, &sky);
	p.providers[p.nproviders++] = "sky";
	world_put_pool(s.w, &p);
	m[0].offered = false;
	m[0].not_offered = "serving";
	m[0].provider = m[1].provider = "sky";
	for (size_t i = 0; i < 4; i++)
		world_put_machine(s.w, &m[i]);
	c = worlds_claim(s.a, "cloud", "c-1");
	c.provider = "sky";
	c.instance_type = "big";
	c.ready = true;
	world_put_claim(s.w, &c);
	put_node(&s, "cloud");
	put_pod(&s, "train", "cloud", "cpu=2,memory=4Gi", WORLD_KEEP_NOT, true);
	return s;
}

static struct plan_home look(const struct set *s, const char *to)
{
	struct plan_home h = {.claim = "cloud", .to = to};

	plan_homes(s->w, &h, 1, NOW, s->a);
	return h;
}

static void stop(struct set *s)
{
	world_free(s->w);
	arena_free(s->a);
}

static void the_smallest_owned_machine_that_holds_all_pods_is_found(void **state)
{
	struct set s = start();
	struct plan_home h = look(&s, NULL);

	(void)state;
	assert_true(h.found && h.saves);
	assert_int_equal(h.pods, 1);
	assert_string_equal(h.out.machine, "m-1");
	assert_string_equal(h.out.pool, "main");
	assert_string_equal(h.out.tenant, "acme");
	put_pod(&s, "more", "cloud", "cpu=3", WORLD_KEEP_NOT, false);
	h = look(&s, NULL);
	assert_true(h.found && !h.saves);
	assert_string_equal(h.out.machine, "m-2");
	put_pod(&s, "most", "cloud", "cpu=12", WORLD_KEEP_NOT, true);
	assert_false(look(&s, NULL).found);
	stop(&s);
}

static void what_a_daemon_set_uses_is_not_free(void **state)
{
	struct set s = start();
	struct world_pod p = worlds_pod(s.a, "agent", "cpu=3");

	(void)state;
	p.daemon = p.daemon_set = true;
	p.unschedulable = false;
	world_put_pod(s.w, &p);
	assert_string_equal(look(&s, NULL).out.machine, "m-2");
	stop(&s);
}

static void a_pod_that_must_stay_keeps_all(void **state)
{
	static const struct {
		enum world_keep keep;
		bool saves, moves;
	} rows[] = {
		{WORLD_KEEP_ASKED, true, false},  {WORLD_KEEP_ALONE, true, false},
		{WORLD_KEEP_LOCAL, true, true},	  {WORLD_KEEP_LOCAL, false, false},
		{WORLD_KEEP_VOLUMES, true, true}, {WORLD_KEEP_VOLUMES, false, false},
		{WORLD_KEEP_OTHERS, true, false}, {WORLD_KEEP_UNKNOWN, true, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct set s = start();
		struct plan_home h;

		put_pod(&s, "other", "cloud", "cpu=1", rows[i].keep, rows[i].saves);
		h = look(&s, NULL);
		assert_int_equal(h.found, rows[i].moves);
		assert_int_equal(!h.kept, rows[i].moves);
		if (h.kept)
			assert_non_null(strstr(h.kept, "pod default/other stays: "));
		stop(&s);
	}
}

static void a_pod_of_a_gang_stays(void **state)
{
	struct set s = start();
	struct world_pod p = worlds_pod(s.a, "rank-0", "cpu=1");

	(void)state;
	p.unschedulable = false;
	p.uid = "rank-0";
	p.node = "cloud";
	p.gang.key = "gang";
	p.gang.min = 2;
	world_put_pod(s.w, &p);
	assert_non_null(strstr(look(&s, NULL).kept, "it belongs to a gang"));
	stop(&s);
}

static void an_empty_instance_and_an_unknown_one_have_nothing_to_move(void **state)
{
	struct set s = start();
	struct plan_home h = {.claim = "unknown"};

	(void)state;
	plan_homes(s.w, &h, 1, NOW, s.a);
	assert_false(h.found);
	world_del_pod(s.w, "acme", "default", "train");
	assert_false(look(&s, NULL).found);
	stop(&s);
}

static void labels_taints_and_quota_exclude_machines(void **state)
{
	struct set s = start(), t = start(), u = start();
	struct world_pod p = worlds_pod(s.a, "train", "cpu=2");
	struct world_pool pool = worlds_pool(t.a);
	struct world_tenant tenant = worlds_tenant(u.a);

	(void)state;
	p.unschedulable = false;
	p.uid = "train";
	p.node = "cloud";
	p.node_selector = worlds_labels(s.a, "node.kubernetes.io/instance-type=big");
	world_put_pod(s.w, &p);
	assert_string_equal(look(&s, NULL).out.machine, "m-2");
	stop(&s);
	pool.taints = worlds_taints(t.a, "only=others:NoSchedule");
	world_put_pool(t.w, &pool);
	assert_false(look(&t, NULL).found);
	stop(&t);
	/* The instance counts until it is released. */
	tenant.quota = worlds_resources(u.a, "cpu=7");
	world_put_tenant(u.w, &tenant);
	assert_false(look(&u, NULL).found);
	stop(&u);
}

/* The machine that was found has joined as "home". */
static void the_pods_have_to_fit_on_the_node_that_was_made_for_them(void **state)
{
	struct set s = start();
	struct world_claim c = worlds_claim(s.a, "home", "m-1");
	struct world_node n;

	(void)state;
	c.ready = true;
	world_put_claim(s.w, &c);
	assert_false(look(&s, "home").found);
	put_node(&s, "home");
	assert_true(look(&s, "home").found);
	put_pod(&s, "thief", "home", "cpu=1", WORLD_KEEP_NOT, true);
	assert_false(look(&s, "home").found);
	world_del_pod(s.w, "acme", "default", "thief");
	put_pod(&s, "more", "cloud", "cpu=3", WORLD_KEEP_NOT, true);
	assert_false(look(&s, "home").found);
	world_del_pod(s.w, "acme", "default", "more");
	n = worlds_node(s.a, "home");
	n.claim = "home";
	n.ready = false;
	world_put_node(s.w, &n);
	assert_false(look(&s, "home").found);
	stop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_smallest_owned_machine_that_holds_all_pods_is_found),
		cmocka_unit_test(what_a_daemon_set_uses_is_not_free),
		cmocka_unit_test(a_pod_that_must_stay_keeps_all),
		cmocka_unit_test(a_pod_of_a_gang_stays),
		cmocka_unit_test(an_empty_instance_and_an_unknown_one_have_nothing_to_move),
		cmocka_unit_test(labels_taints_and_quota_exclude_machines),
		cmocka_unit_test(the_pods_have_to_fit_on_the_node_that_was_made_for_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
