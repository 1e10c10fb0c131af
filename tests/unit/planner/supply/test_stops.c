/* test_stops: tests that the planner does not use a part of the supply that is stopped (by a
 * circuit breaker, for example), and that the reasons name the stop. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "tests/unit/planner/worlds.h"

#define NOW 1000000

static struct world_pool put_pool(struct world *w, struct arena *a, const char *name,
				  int64_t weight)
{
	struct world_pool p = worlds_pool(a);

	p.name = name;
	p.weight = weight;
	world_put_pool(w, &p);
	return p;
}

static void put_machine(struct world *w, const char *name, const char *type, const char *domain)
{
	struct world_machine m = worlds_machine(name, type);

	m.domain = domain;
	(void)world_put_machine(w, &m);
}

static void put_stop(struct world *w, struct world_stop s)
{
	s.text = "not now";
	world_put_stops(w, &s, 1);
}

static void is(struct world *w, struct arena *a, const char *want)
{
	const char *text = worlds_pod_text(plan_make(w, NOW, a), "x", a);

	if (!strstr(text, want))
		fail_msg("want \"%s\" in \"%s\"", want, text);
}

/* Returns a world in which pool "first" comes before "main", with machines m-1 (rack r1) and m-2
 * (rack r2). */
static struct world *begin(struct arena *a)
{
	struct world *w = worlds_new(a);
	struct world_pod x = worlds_pod(a, "x", "cpu=3");

	(void)put_pool(w, a, "first", 90);
	put_machine(w, "m-1", "small", "r1");
	put_machine(w, "m-2", "small", "r2");
	(void)world_put_pod(w, &x);
	return w;
}

static const char *pool_of_claim(struct world *w, struct arena *a)
{
	const struct plan *p = plan_make(w, NOW, a);

	return p->nclaims == 1 ? p->claims[0].pool : "";
}

static void the_next_pool_serves_instead_of_one_that_is_stopped(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = begin(a);

	(void)state;
	assert_string_equal(pool_of_claim(w, a), "first");
	put_stop(w, (struct world_stop){.pool = "first"});
	assert_string_equal(pool_of_claim(w, a), "main");
	put_stop(w, (struct world_stop){.pool = "first", .version = "1.99"});
	assert_string_equal(pool_of_claim(w, a), "first");
	put_stop(w, (struct world_stop){.pool = "first", .version = "1.36"});
	assert_string_equal(pool_of_claim(w, a), "main");
	put_stop(w, (struct world_stop){.pool = "first", .tenant = "other"});
	assert_string_equal(pool_of_claim(w, a), "first");
	put_stop(w, (struct world_stop){.pool = "first", .tenant = "other", .others = true});
	assert_string_equal(pool_of_claim(w, a), "main");
	put_stop(w, (struct world_stop){.pool = "first", .tenant = "acme", .others = true});
	assert_string_equal(pool_of_claim(w, a), "first");
	world_put_stops(w, NULL, 0);
	assert_string_equal(pool_of_claim(w, a), "first");
}

static void machines_of_another_rack_serve(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = begin(a);

	(void)state;
	is(w, a, "new 0 on m-1");
	put_stop(w, (struct world_stop){.provider = "metal", .domain = "r1"});
	is(w, a, "new 0 on m-2");
	put_stop(w, (struct world_stop){.provider = "clay", .domain = "r1"});
	is(w, a, "new 0 on m-1");
	put_stop(w, (struct world_stop){.provider = "metal", .instance_type = "small"});
	put_machine(w, "m-3", "big", NULL);
	is(w, a, "new 0 on m-3");
}

static void the_reason_names_all_that_is_in_the_way(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = begin(a);
	struct world_pod x = worlds_pod(a, "x", "cpu=3");

	(void)state;
	put_stop(w, (struct world_stop){.pool = "first"});
	(void)world_del_machine(w, "m-1");
	(void)world_del_machine(w, "m-2");
	is(w, a,
	   "NoCapacity: pool main: there is no machine of type small, big or gpu; "
	   "LineStopped: pool first: not now");
	put_stop(w, (struct world_stop){.why = WORLD_STOP_PROVIDER, .provider = "metal"});
	is(w, a, "nothing; ProviderNotReady: pool first: not now; ProviderNotReady: pool main");
	put_stop(w, (struct world_stop){.why = WORLD_STOP_BACK_OFF});
	is(w, a, "nothing; BackingOff: pool first: not now");
	put_stop(w, (struct world_stop){.why = WORLD_STOP_OFFER, .instance_type = "small"});
	is(w, a, "no machine of type big or gpu; NoOffer: not now");
	/* The pod would not fit even without the stop. */
	x.requests = worlds_resources(a, "cpu=999");
	(void)world_put_pod(w, &x);
	put_stop(w, (struct world_stop){.pool = NULL});
	is(w, a,
	   "TooBig: pool first: type gpu has too little cpu: the pod requests 999, "
	   "the largest type has 64");
	x.requests = worlds_resources(a, "cpu=3");
	x.node_selector = worlds_labels(a, "no=such");
	(void)world_put_pod(w, &x);
	is(w, a, "RequirementsNotMet");
	x = worlds_pod(a, "x", "cpu=60");
	(void)world_put_pod(w, &x);
	put_stop(w, (struct world_stop){.why = WORLD_STOP_OFFER, .instance_type = "gpu"});
	is(w, a, "NoOffer: pool first: not now");
}

static void what_is_bought_by_permit_is_not_judged_by_offers(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = begin(a);
	struct world_machine m = worlds_machine("m-9", "gpu");
	struct world_pod x = worlds_pod(a, "x", "cpu=60");

	(void)state;
	m.permit = x.permit = "p1";
	(void)world_put_machine(w, &m);
	(void)world_put_pod(w, &x);
	put_stop(w, (struct world_stop){.why = WORLD_STOP_OFFER, .instance_type = "gpu"});
	is(w, a, "new 0 on m-9");
	put_stop(w, (struct world_stop){.pool = NULL});
	is(w, a, "LineStopped");
}

static void what_is_on_its_way_stays(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = begin(a);
	struct world_claim c = worlds_claim(a, "c-1", "m-1");

	(void)state;
	c.pods = arena_calloc(a, 1, sizeof(*c.pods));
	c.pods[0] = "x";
	c.npods = 1;
	c.capacity = worlds_resources(a, "cpu=4,memory=8Gi,pods=10");
	(void)world_put_claim(w, &c);
	put_stop(w, (struct world_stop){.pool = NULL});
	is(w, a, "claim c-1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_next_pool_serves_instead_of_one_that_is_stopped),
		cmocka_unit_test(machines_of_another_rack_serve),
		cmocka_unit_test(the_reason_names_all_that_is_in_the_way),
		cmocka_unit_test(what_is_bought_by_permit_is_not_judged_by_offers),
		cmocka_unit_test(what_is_on_its_way_stays),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
