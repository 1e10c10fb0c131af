/* Leaders that die, replicas that are isolated, requests that are lost. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "base/str.h"
#include "tests/world/bootagent.h"
#include "tests/world/sweep.h"
#include "tests/world/warming.h"

#define RUNS 3
#define KILLS 3
#define FRESH_MS 5050 /* longest age of a lease for an act, plus a moment for a request in flight */
#define SPAN_MS 150000 /* time from an empty world to Running, without faults */

static void both_pods_run(struct sim_world *w, int64_t limit_s)
{
	world_wait_running(w, &w->tenants[0], "train", limit_s);
	world_wait_running(w, &w->tenants[1], "train", limit_s);
	world_run(w, 30000);
	world_check_serving(w, &w->tenants[0], "train");
	world_check_serving(w, &w->tenants[1], "train");
}

static void a_leader_killed_at_any_moment_is_followed_by_one_that_finishes(void **state)
{
	(void)state;
	for (uint64_t seed = 100; seed < 100 + RUNS; seed++) {
		struct sim_world w;
		struct replica *r;

		world_start(&w, seed, 2);
		world_pod(&w, &w.tenants[0], "train");
		world_pod(&w, &w.tenants[1], "train");
		for (int k = 0; k < KILLS; k++) {
			r = world_replica(&w);
			world_run(&w, 1 + (int64_t)loop_random_below(w.loop, SPAN_MS));
			world_kill(r);
		}
		world_replica(&w);
		both_pods_run(&w, 3600);
		world_settle(&w);
		world_stop(&w);
	}
}

static void a_leader_killed_while_machines_leave_is_followed_too(void **state)
{
	(void)state;
	for (uint64_t seed = 200; seed < 200 + RUNS / 2; seed++) {
		struct sim_world w;

		world_start(&w, seed, 1);
		world_replica(&w);
		world_pod(&w, &w.tenants[0], "train");
		world_wait_running(&w, &w.tenants[0], "train", 900);
		world_wait_state(&w.servers[0], "serving", 60);
		world_delete_pod(&w, &w.tenants[0], "train");
		world_release(&w.servers[0]);
		for (int k = 0; k < KILLS; k++) {
			world_run(&w, 1 + (int64_t)loop_random_below(w.loop, 40000));
			world_kill(&w.replicas[w.nreplicas - 1]);
			world_replica(&w);
		}
		world_wait_state(&w.servers[0], "free", 3600);
		world_settle(&w);
		world_stop(&w);
	}
}

struct watch_bmc {
	struct sim_world *w;
	unsigned foreign, writes, late;
	/* Writes except logins, which change no machine. */
	unsigned changes;
};

/* Counts a request to the BMC. The address of its transport identifies the caller. */
static bool note_caller(struct httpd_req *q, unsigned n, void *arg)
{
	struct watch_bmc *watch = arg;
	struct replica *leader = world_leader(watch->w);

	(void)n;
	if (str_eq(httpd_method(q), "GET"))
		return false;
	watch->writes++;
	watch->changes += !strstr(httpd_path(q), "/SessionService/");
	if (!leader || !str_starts(httpd_identity(q)->address, leader->name))
		watch->foreign++;
	else if (kube_lease_renewed_age(controller_context(leader->controller)->lease) > FRESH_MS &&
		 !strstr(httpd_path(q), "/SessionService/"))
		watch->late++;
	return false;
}

static void of_two_replicas_one_acts(void **state)
{
	struct sim_world w;
	struct watch_bmc watch = {.w = &w};

	(void)state;
	world_start(&w, 31, 2);
	for (unsigned i = 0; i < 2; i++) {
		w.servers[i].bmc.tamper = note_caller;
		w.servers[i].bmc.tamper_arg = &watch;
	}
	world_replica(&w);
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_pod(&w, &w.tenants[1], "train");
	both_pods_run(&w, 900);
	assert_true(watch.writes > 10);
	assert_int_equal(watch.foreign, 0);
	world_settle(&w);
	world_stop(&w);
}

/* The first leader keeps running without the API server; it must stop leading before the second one
 * starts to lead. */
static void a_leader_that_is_cut_off_hands_over(void **state)
{
	struct sim_world w;
	struct watch_bmc watch = {.w = &w};
	struct replica *first;

	(void)state;
	world_start(&w, 32, 2);
	for (unsigned i = 0; i < 2; i++) {
		w.servers[i].bmc.tamper = note_caller;
		w.servers[i].bmc.tamper_arg = &watch;
	}
	first = world_replica(&w);
	world_run(&w, 5000);
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_pod(&w, &w.tenants[1], "train");
	world_run(&w, 25000);
	assert_ptr_equal(world_leader(&w), first);
	world_cut(first, true);
	world_run(&w, 60000);
	assert_ptr_equal(world_leader(&w), &w.replicas[1]);
	world_cut(first, false);
	both_pods_run(&w, 1800);
	assert_ptr_equal(world_leader(&w), &w.replicas[1]);
	assert_int_equal(watch.foreign, 0);
	for (unsigned i = 0; i < 2; i++)
		assert_true(w.servers[i].seen_fence >= 2);
	world_settle(&w);
	world_stop(&w);
}

static void switch_while_leases_grow_old(uint64_t seed)
{
	struct sim_world w;
	struct watch_bmc watch = {.w = &w};

	world_start(&w, seed, 2);
	for (unsigned i = 0; i < 2; i++) {
		w.servers[i].bmc.tamper = note_caller;
		w.servers[i].bmc.tamper_arg = &watch;
	}
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_pod(&w, &w.tenants[1], "train");
	for (unsigned i = 0; i < 10; i++) {
		world_run(&w, 5000 + (int64_t)loop_random_below(w.loop, 10000));
		w.lease_fails = true;
		world_run(&w, 12000);
		w.lease_fails = false;
	}
	/* The limit is long, because a medium may have been fetched while no replica led; state
	 * claimed may then last 2400 s. */
	both_pods_run(&w, 3600);
	assert_int_equal(watch.late, 0);
	assert_int_equal(watch.foreign, 0);
	world_settle(&w);
	world_stop(&w);
}

/* In several worlds, because few of them have a machine to switch while the lease is old. */
static void nothing_is_switched_on_an_old_lease(void **state)
{
	(void)state;
	for (uint64_t seed = 38; seed < 46; seed++)
		switch_while_leases_grow_old(seed);
}

/* Waits until the machine is in `state`, and late_ms longer. Then lets the API server refuse lease
 * renewals until the leader gives up. */
static void let_the_lease_grow_old(struct server *b, const char *state, int64_t late_ms)
{
	world_wait_state(b, state, 1800);
	world_run(b->world, late_ms);
	b->world->lease_fails = true;
	world_run(b->world, 9000);
	b->world->lease_fails = false;
}

/* A request that was decided in time is sent some seconds later, in each state of the machine. */
static void nothing_is_written_to_a_tenant_on_an_old_lease(void **state)
{
	static const char *const coming[] = {"imaging", "booting", "joining", "gating"};
	static const char *const going[] = {"draining", "stopping", "isolating", "leaving"};
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 37, 1);
	world_replica(&w);
	for (int64_t late_ms = 0; late_ms < 6000; late_ms += 1000)
		for (size_t i = 0; i < sizeof(coming) / sizeof(*coming); i++) {
			world_wait_state(b, "free", 1800);
			world_pod(&w, &w.tenants[0], "train");
			let_the_lease_grow_old(b, coming[i], late_ms);
			world_wait_state(b, "serving", 1800);
			world_delete_pod(&w, &w.tenants[0], "train");
			world_release(b);
			let_the_lease_grow_old(b, going[i], late_ms);
		}
	world_settle(&w);
	world_stop(&w);
}

static bool is_off(void *arg)
{
	const struct server *b = arg;

	return b->doing == SERVER_OFF;
}

static int64_t lease_age(struct sim_world *w)
{
	struct replica *leader = world_leader(w);

	assert_non_null(leader); /* the replica never stops leading */
	return kube_lease_renewed_age(controller_context(leader->controller)->lease);
}

/* The API server refuses lease renewals for some seconds, not long enough for the leader to give
 * up. A power-off becomes due during these seconds. */
static void what_is_due_on_an_old_lease_goes_out_when_it_is_renewed(void **state)
{
	static const char told[] =
		"destructive request not sent: the lease was not renewed in time";
	struct sim_world w;
	struct server *b = &w.servers[0];
	struct watch_bmc watch = {.w = &w};
	unsigned changes;
	int64_t fence;

	(void)state;
	world_start(&w, 35, 1);
	b->bmc.tamper = note_caller;
	b->bmc.tamper_arg = &watch;
	warming_want(&w, "gpus", 1);
	world_replica(&w);
	warming_wait(&w, 1, 900);
	world_run(&w, 60000);
	w.lease_fails = true;
	while (lease_age(&w) < 5000)
		world_run(&w, 50);
	assert_null(strstr(w.log, told));
	changes = watch.changes;
	fence = json_int_at(b->object, "status", "operation", "fence");
	world_do(&w, &w.host, "PATCH", "/apis/" OBJECT_API_VERSION "/machines/gpu-1",
		 json_pack("{s:{s:{s:s}}}", "metadata", "annotations", "drover.dev/quarantine",
			   "a noise"));
	world_wait_state(b, "quarantined", 1);
	while (lease_age(&w) < 7000)
		world_run(&w, 50);
	assert_int_equal(watch.changes, changes);
	assert_int_equal(b->doing, SERVER_AGENT);
	assert_non_null(strstr(w.log, told));
	w.lease_fails = false;
	while (lease_age(&w) >= 5000) {
		assert_int_equal(watch.changes, changes);
		world_run(&w, 10);
	}
	world_wait(&w, is_off, b, 30, "it is off");
	assert_int_equal(json_int_at(b->object, "status", "operation", "fence"), fence);
	world_settle(&w);
	world_stop(&w);
}

/* A read that belongs to an act. The BMC delays its answer until the test releases it. */
struct kept {
	struct sim_world *w;
	struct httpd_req *q;
	bool was;
};

static void on_gone(void *arg)
{
	((struct kept *)arg)->q = NULL;
}

static bool keep_look(struct httpd_req *q, unsigned n, void *arg)
{
	struct kept *k = arg;

	(void)n;
	if (k->was || !str_eq(httpd_method(q), "GET") || !strstr(httpd_path(q), "/VirtualMedia/") ||
	    !str_eq(world_at(&k->w->servers[0], "status.operation.step"), "eject-media"))
		return false;
	k->was = true;
	k->q = q;
	httpd_on_gone(q, on_gone, k);
	k->w->lease_fails = true;
	return true;
}

static bool is_kept(void *arg)
{
	return ((struct kept *)arg)->was;
}

/* The act began on a fresh lease, but its own reads took so long that it must not be sent any
 * more. */
static void an_act_whose_lease_grows_old_on_the_way_is_not_sent(void **state)
{
	static const char told[] =
		"destructive request not sent: the lease was not renewed in time";
	struct sim_world w;
	struct server *b = &w.servers[0];
	struct kept kept = {.w = &w};

	(void)state;
	world_start(&w, 36, 1);
	b->bmc.tamper_arg = &kept;
	warming_want(&w, "gpus", 1);
	world_replica(&w);
	warming_wait(&w, 1, 900);
	world_run(&w, 60000);
	b->bmc.tamper = keep_look;
	warming_want(&w, "gpus", 0);
	world_wait(&w, is_kept, &kept, 60, "its medium is to be taken out");
	while (lease_age(&w) < 5000)
		world_run(&w, 50);
	assert_non_null(kept.q);
	assert_null(strstr(w.log, told));
	fake_bmc_answer(&b->bmc, kept.q);
	while (lease_age(&w) < 6000)
		world_run(&w, 50);
	assert_non_null(b->bmc.image);
	assert_non_null(strstr(w.log, told));
	w.lease_fails = false;
	while (lease_age(&w) >= 5000) {
		assert_non_null(b->bmc.image);
		world_run(&w, 10);
	}
	warming_wait_off(&w, 1, 30);
	assert_string_equal(world_at(b, "status.operation.lastError.reason"), "");
	world_settle(&w);
	world_stop(&w);
}

/* The old and the new leader both number their orders from 1: the agent must still obey the new
 * leader's. */
static void an_agent_gets_its_order_from_each_new_leader(void **state)
{
	static const char *const states[] = {"inspecting", "wiping", "verifying"};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct sim_world w;

		world_start(&w, 34, 1);
		world_replica(&w);
		world_wait_state(&w.servers[0], states[i], 300);
		world_kill(&w.replicas[0]);
		world_replica(&w);
		world_wait_state(&w.servers[0], "free", 120);
		assert_int_equal(w.servers[0].boots, 1);
		world_settle(&w);
		world_stop(&w);
	}
}

/* The agent has finished and is powering off. The next leader must not wait for this agent. */
static void nobody_waits_for_an_agent_that_was_sent_away(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 35, 1);
	world_replica(&w);
	for (unsigned way = 0; way < 2; way++) {
		world_wait_state(b, way ? "imaging" : "verifying", 300);
		world_wait(&w, is_off, b, 300, "the agent was sent away");
		assert_string_equal(b->state, way ? "imaging" : "verifying");
		world_kill(&w.replicas[w.nreplicas - 1]);
		world_replica(&w);
		if (way)
			world_wait_running(&w, &w.tenants[0], "train", 150);
		else
			world_wait_state(b, "free", 60);
		if (!way)
			world_pod(&w, &w.tenants[0], "train");
	}
	/* The machine booted three times: the agent, the agent again, and the tenant's disk. */
	assert_int_equal(b->boots, 3);
	world_settle(&w);
	world_stop(&w);
}

/* The full cycle: a pod runs on the machine, and the machine becomes free again. */
static void full_circle(struct sim_world *w)
{
	struct server *b = &w->servers[0];

	world_pod(w, &w->tenants[0], "train");
	world_replica(w);
	world_wait_running(w, &w->tenants[0], "train", 3600);
	world_wait_state(b, "serving", 3600);
	world_delete_pod(w, &w->tenants[0], "train");
	world_release(b);
	world_wait_state(b, "free", 3600);
	assert_true(server_is_blank(b));
	world_run(w, 10000);
	assert_string_equal(b->state, "free");
}

/* Pairs of state and step that were seen in the journal, each once. */
struct moments {
	struct sim_world *w;
	/* State that ends this part of the cycle. */
	const char *until;
	char met[64][80];
	unsigned nmet, skip, kills;
};

static bool is_new_moment(void *arg)
{
	struct moments *m = arg;
	const struct server *b = &m->w->servers[0];
	char now[80];

	str_format(now, sizeof(now), "%s/%s", b->state, world_at(b, "status.operation.step"));
	for (unsigned i = 0; i < m->nmet; i++)
		if (str_eq(m->met[i], now))
			return false;
	assert_true(m->nmet < 64);
	str_copy(m->met[m->nmet++], sizeof(m->met[0]), now);
	return true;
}

static bool is_there_or_new(void *arg)
{
	struct moments *m = arg;

	return str_eq(m->w->servers[0].state, m->until) || is_new_moment(m);
}

/* Kills the leader at each new entry of the journal. Returns false once the machine is in `state`,
 * true if the world has no more replicas to start. */
static bool killed_until(struct moments *m, const char *state)
{
	m->until = state;
	for (;;) {
		world_wait(m->w, is_there_or_new, m, 600, "something new in the journal");
		if (str_eq(m->w->servers[0].state, state))
			return false;
		if (m->nmet <= m->skip)
			continue;
		if (m->w->nreplicas == WORLD_REPLICAS)
			return true;
		world_kill(&m->w->replicas[m->w->nreplicas - 1]);
		world_replica(m->w);
		m->kills++;
	}
}

/* The leader is killed once in each state and after each entry of the journal. The result equals
 * that of an undisturbed cycle, with no additional boot, attempt or claim. (tests/real/crash.py
 * does the same with real components.) */
static void a_leader_that_dies_at_each_entry_of_the_journal_is_followed(void **state)
{
	unsigned skip = 0;
	bool more = true;

	(void)state;
	while (more) {
		struct sim_world w;
		struct moments m = {.w = &w, .skip = skip};
		struct server *b = &w.servers[0];

		world_start(&w, 36, 1);
		world_replica(&w);
		world_wait_state(b, "free", 300);
		(void)is_new_moment(&m);
		world_pod(&w, &w.tenants[0], "train");
		more = killed_until(&m, "serving");
		world_wait_state(b, "serving", 600);
		world_wait_running(&w, &w.tenants[0], "train", 60);
		world_delete_pod(&w, &w.tenants[0], "train");
		world_release(b);
		if (!more)
			more = killed_until(&m, "free");
		world_wait_state(b, "free", 600);
		world_run(&w, 10000);
		assert_string_equal(b->state, "free");
		assert_int_equal(b->boots, 4); /* boots: wipe; claim, the tenant's disk, wipe */
		assert_int_equal(b->tenancy, 2);
		assert_true(server_is_blank(b));
		assert_int_equal(json_array_size(json_at(b->object, "status", "failures")), 0);
		skip += m.kills;
		world_settle(&w);
		world_stop(&w);
	}
	assert_true(skip > 25);
}

static void no_lost_request_and_no_death_changes_anything_in_the_end(void **state)
{
	struct sweep s = {.seed = 300, .servers = 1, .every = 503, .trip = full_circle};

	(void)state;
	assert_true(sweep_run(&s) > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_leader_killed_at_any_moment_is_followed_by_one_that_finishes),
		cmocka_unit_test(a_leader_killed_while_machines_leave_is_followed_too),
		cmocka_unit_test(of_two_replicas_one_acts),
		cmocka_unit_test(a_leader_that_is_cut_off_hands_over),
		cmocka_unit_test(an_agent_gets_its_order_from_each_new_leader),
		cmocka_unit_test(nobody_waits_for_an_agent_that_was_sent_away),
		cmocka_unit_test(nothing_is_switched_on_an_old_lease),
		cmocka_unit_test(nothing_is_written_to_a_tenant_on_an_old_lease),
		cmocka_unit_test(an_act_whose_lease_grows_old_on_the_way_is_not_sent),
		cmocka_unit_test(what_is_due_on_an_old_lease_goes_out_when_it_is_renewed),
		cmocka_unit_test(a_leader_that_dies_at_each_entry_of_the_journal_is_followed),
		cmocka_unit_test(no_lost_request_and_no_death_changes_anything_in_the_end),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
