/* Machines of one gang in the same Drain leave together. Drover creates all claims. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/arena.h"
#include "base/str.h"
#include "tests/world/leaving.h"

/* Three machines that serve: `first` and `second` run the pods of a gang, `other` runs a single
 * pod. */
struct trio {
	struct sim_world w;
	struct server *first, *second, *other;
	/* Largest number of machines that were leaving at the same time. */
	unsigned most;
	/* True: one machine of the gang had to wait while the other was leaving. */
	bool apart;
};

static void add_member(struct sim_world *w, const char *name)
{
	world_pod(w, &w->tenants[0], name);
	leaving_patch_pod(w, name,
			  json_pack("{s:{s:{s:s,s:s}}}", "metadata", "annotations",
				    "drover.dev/gang", "train", "drover.dev/gang-size", "2"));
}

static void begin(struct trio *t, uint64_t seed)
{
	struct sim_world *w = &t->w;
	struct cluster *team = &w->tenants[0];

	*t = (struct trio){0};
	world_start(w, seed, 3);
	world_replica(w);
	add_member(w, "train-0");
	add_member(w, "train-1");
	world_pod(w, &w->tenants[0], "alone");
	world_wait_running(w, &w->tenants[0], "train-0", 1800);
	world_wait_running(w, &w->tenants[0], "train-1", 1800);
	world_wait_running(w, &w->tenants[0], "alone", 1800);
	world_wait_all(w, "serving", 600);
	t->first = world_box_of(w, team, "train-0");
	t->second = world_box_of(w, team, "train-1");
	t->other = world_box_of(w, team, "alone");
}

/* Creates a Drain of all three, with the gang's machines first and last. One machine at a time may
 * leave. */
static void drain_all(struct trio *t, const char *more)
{
	OWN(arena) a = arena_new();

	leaving_drain_of(
		&t->w, "fans",
		arena_printf(a, "%s, %s, %s", t->first->name, t->other->name, t->second->name), 0,
		more);
}

static void end_gang(struct trio *t)
{
	world_delete_pod(&t->w, &t->w.tenants[0], "train-0");
	world_delete_pod(&t->w, &t->w.tenants[0], "train-1");
	world_run(&t->w, 10000);
}

static bool leaves(const struct server *b)
{
	return str_eq(b->state, "draining") || str_eq(b->state, "stopping") ||
	       str_eq(b->state, "isolating") || str_eq(b->state, "leaving");
}

static bool waits(const json_t *drain, size_t target)
{
	const json_t *v = json_at(drain, "status", "targets");

	return str_eq(json_str_at(json_array_get(v, target), "phase"), "Pending");
}

static bool all_have_left(void *arg)
{
	struct trio *t = arg;
	const unsigned n = leaves(t->first) + leaves(t->second) + leaves(t->other);
	OWN_JSON o = cluster_get(&t->w.host, "drains.drover.dev/fans");

	if (n > t->most)
		t->most = n;
	t->apart |= waits(o, 0) != waits(o, 2);
	return str_eq(json_str_at(o, "status", "phase"), "Succeeded");
}

/* Returns spec.gang.uid of the machine's claim, in the arena; "": the claim has no gang. */
static const char *gang_of(const struct server *b, struct arena *a)
{
	OWN_JSON o =
		cluster_get(&b->world->host, arena_printf(a, "nodeclaims.drover.dev/%s", b->claim));

	return arena_strdup(a, str_or(json_str_at(o, "spec", "gang", "uid"), ""));
}

static void claims_that_a_plan_makes_for_a_gang_name_it(void **state)
{
	OWN(arena) a = arena_new();
	struct trio t;

	(void)state;
	begin(&t, 316);
	assert_string_not_equal(gang_of(t.first, a), "");
	assert_string_equal(gang_of(t.first, a), gang_of(t.second, a));
	assert_string_equal(gang_of(t.other, a), "");
	world_stop(&t.w);
}

/* The gang's second machine leaves before the machine listed between the two. */
static void machines_of_one_gang_leave_together(void **state)
{
	struct trio t;

	(void)state;
	begin(&t, 317);
	leaving_budget(&t.w, "train-0");
	drain_all(&t, "");
	world_run(&t.w, 30000);
	assert_string_equal(t.first->state, "draining");
	assert_string_not_equal(t.second->state, "serving");
	assert_string_equal(t.other->state, "serving");
	world_stop(&t.w);
}

/* Until the gang's pods are created again, only the claims show that the two machines belong
 * together. */
static void machines_whose_gang_has_no_pods_leave_together(void **state)
{
	struct trio t;

	(void)state;
	begin(&t, 318);
	end_gang(&t);
	drain_all(&t, "");
	world_wait(&t.w, all_have_left, &t, 3600, "all are drained");
	assert_false(t.apart);
	assert_int_equal(t.most, 2);
	world_settle(&t.w);
	world_stop(&t.w);
}

static void of_a_drain_that_splits_gangs_one_machine_leaves_after_the_other(void **state)
{
	struct trio t;

	(void)state;
	begin(&t, 319);
	end_gang(&t);
	drain_all(&t, "  gangs: Split\n");
	world_wait(&t.w, all_have_left, &t, 3600, "all are drained");
	assert_true(t.apart);
	assert_int_equal(t.most, 1);
	world_settle(&t.w);
	world_stop(&t.w);
}

/* One of the gang's two machines now also serves a pod outside the gang, which its claim does not
 * record. */
static void a_machine_that_serves_others_by_now_waits_for_its_turn(void **state)
{
	struct trio t;

	(void)state;
	begin(&t, 320);
	end_gang(&t);
	leaving_small_pod(t.second, "web");
	world_run(&t.w, 10000);
	drain_all(&t, "");
	world_wait(&t.w, all_have_left, &t, 3600, "all are drained");
	assert_true(t.apart);
	assert_int_equal(t.most, 1);
	world_settle(&t.w);
	world_stop(&t.w);
}

static void a_machine_that_the_drain_does_not_name_is_left_alone(void **state)
{
	struct trio t;

	(void)state;
	begin(&t, 321);
	leaving_drain_of(&t.w, "fans", t.first->name, 0, "");
	world_wait(&t.w, all_have_left, &t, 3600, "it is drained");
	assert_string_equal(t.second->state, "serving");
	assert_string_equal(t.other->state, "serving");
	world_stop(&t.w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(claims_that_a_plan_makes_for_a_gang_name_it),
		cmocka_unit_test(machines_of_one_gang_leave_together),
		cmocka_unit_test(machines_whose_gang_has_no_pods_leave_together),
		cmocka_unit_test(of_a_drain_that_splits_gangs_one_machine_leaves_after_the_other),
		cmocka_unit_test(a_machine_that_serves_others_by_now_waits_for_its_turn),
		cmocka_unit_test(a_machine_that_the_drain_does_not_name_is_left_alone),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
