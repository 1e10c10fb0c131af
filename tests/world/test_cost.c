/* The bill: the time that a machine spends in each phase is billed exactly once, even if leaders
 * die meanwhile. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "base/money.h"
#include "base/str.h"
#include "controller/rules/ledger.h"
#include "tests/world/leaving.h"
#include "tests/world/world.h"

static void with_price(struct sim_world *w, const char *price)
{
	OWN_JSON o = cluster_get(&w->host, "providers.drover.dev/rack");
	json_t *types = json_deep_copy(json_at(o, "spec", "instanceTypes"));

	json_object_set_new(json_array_get(types, 0), "pricePerHour", json_string(price));
	json_object_set_new(json_array_get(types, 0), "currency", json_string("EUR"));
	world_do(w, &w->host, "PATCH", "/apis/drover.dev/v1alpha1/providers/rack",
		 json_pack("{s:{s:o}}", "spec", "instanceTypes", types));
}

/* Returns the seconds billed for the phase up to now; phase -1: for all phases. */
static int64_t billed(const struct sim_world *w, int phase)
{
	OWN(arena) a = arena_new();
	OWN_JSON o = cluster_get(&w->host, "virtualclusters.drover.dev/team-a");
	struct err e;
	void *object = NULL;
	const struct virtual_cluster *vc;
	struct virtual_cluster_cost c;
	int64_t sum = 0;

	assert_int_equal(object_decode(&object_kinds[OBJECT_VIRTUAL_CLUSTER], o, a, &object, &e),
			 0);
	vc = object;
	c = ledger_at(vc->status.cost, loop_wall(w->loop), a);
	for (size_t i = 0; i < c.charges.n; i++) {
		const struct virtual_cluster_charge *x = &c.charges.v[i];

		assert_string_equal(x->pool, "gpus");
		assert_string_equal(x->provider, "rack");
		assert_string_equal(x->instance_type, "gpu-8");
		assert_int_equal(x->price_per_hour, 6500000);
		assert_string_equal(x->currency, "EUR");
		assert_int_equal(x->gpus, 8);
		sum += phase < 0 || x->phase == phase ? x->seconds : 0;
	}
	return sum;
}

/* Checks that /metrics shows the same sum for this month as the bill. */
static void shown(struct sim_world *w)
{
	const struct replica *r = world_leader(w);
	OWN(arena) a = arena_new();
	int64_t micro = 0;
	struct buf b;

	controller_read_gauges(r->controller);
	buf_init(&b, 4u << 20);
	metrics_write(controller_context(r->controller)->metrics, &b);
	assert_non_null(strstr(
		b.data,
		arena_printf(
			a,
			"drover_cost_month_gpu_seconds{tenant=\"team-a\",phase=\"Ready\"} %lld\n",
			(long long)billed(w, PHASE_READY) * 8)));
	assert_true(money_for_seconds(6500000, billed(w, -1), &micro));
	assert_in_range(
		strtod(strstr(b.data,
			      "drover_cost_month_amount{tenant=\"team-a\",currency=\"EUR\"} ") +
			       strlen("drover_cost_month_amount{tenant=\"team-a\","
				      "currency=\"EUR\"} "),
		       NULL) *
			MONEY_UNIT,
		micro - 1, micro + 5);
	buf_done(&b);
}

static int64_t now_s(const struct sim_world *w)
{
	return loop_wall(w->loop) / 1000;
}

static void leader_dies(struct sim_world *w, bool really)
{
	if (!really)
		return;
	world_kill(&w->replicas[w->nreplicas - 1]);
	world_run(w, 40000);
	world_replica(w);
}

/* Runs a machine's whole cycle and checks the bill. The ledger notices each change at most 3 s
 * late. */
static void trip(uint64_t seed, bool crashes)
{
	const int64_t late = 6;
	struct sim_world w;
	int64_t claimed, serving, leaves, freed, total;

	world_start(&w, seed, 1);
	world_replica(&w);
	world_wait_all(&w, "free", 900);
	with_price(&w, "6.50");
	world_run(&w, 5000);
	assert_int_equal(billed(&w, -1), 0);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(&w.servers[0], "claimed", 60);
	claimed = now_s(&w);
	world_wait_state(&w.servers[0], "imaging", 900);
	leader_dies(&w, crashes);
	world_wait_state(&w.servers[0], "serving", 1800);
	serving = now_s(&w);
	world_run(&w, 600 * 1000);
	leader_dies(&w, crashes);
	world_run(&w, 3000 * 1000);
	world_delete_pod(&w, &w.tenants[0], "train");
	world_release(&w.servers[0]);
	leaves = now_s(&w);
	world_wait_state(&w.servers[0], "wiping", 1800);
	leader_dies(&w, crashes);
	world_wait_all(&w, "free", 1800);
	freed = now_s(&w);
	world_run(&w, 5000);
	total = billed(&w, -1);
	assert_in_range(total, freed - claimed - late, freed - claimed + late);
	assert_in_range(billed(&w, PHASE_ALLOCATED), serving - claimed - late,
			serving - claimed + late);
	assert_in_range(billed(&w, PHASE_READY), leaves - serving - late, freed - serving - late);
	assert_true(billed(&w, PHASE_DRAINING) > 0);
	assert_true(billed(&w, PHASE_WIPING) > 0);
	world_run(&w, 7200 * 1000);
	assert_int_equal(billed(&w, -1), total);
	shown(&w);
	world_stop(&w);
}

static void a_machine_is_on_the_bill_from_its_claim_until_it_is_clean(void **state)
{
	(void)state;
	trip(861, false);
}

static void leaders_that_die_leave_no_gap_and_count_nothing_twice(void **state)
{
	(void)state;
	trip(862, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_machine_is_on_the_bill_from_its_claim_until_it_is_clean),
		cmocka_unit_test(leaders_that_die_leave_no_gap_and_count_nothing_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
