/* A claim reports when it is expected to be ready, and its pod gets an event. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/str.h"
#include "tests/world/world.h"

/* Returns status.eta.p50 of the server's claim in Unix ms; 0: not set. */
static int64_t expected(struct sim_world *w, const struct server *b)
{
	char key[160];
	OWN_JSON o = NULL;
	int64_t ms = 0;

	str_format(key, sizeof(key), "nodeclaims.drover.dev/%s", b->claim);
	o = cluster_get(&w->host, key);
	(void)str_to_time(str_or(json_str_at(o, "status", "eta", "p50"), ""), &ms);
	return ms;
}

static bool says_when(const json_t *o, void *arg)
{
	const char *text = str_or(json_str_at(o, "message"), "");

	*(unsigned *)arg += strstr(text, ", ready in about ") && strstr(text, " min");
	return true;
}

static unsigned told(const struct cluster *p)
{
	unsigned n = 0;

	cluster_each(p, "events/", says_when, &n);
	return n;
}

static void the_fourth_claim_knows_when_it_will_serve(void **state)
{
	static const char *const pods[] = {"a", "b", "c"};
	struct sim_world w;
	struct server *b = NULL;
	int64_t due;

	(void)state;
	world_start(&w, 731, 4);
	world_replica(&w);
	world_wait_all(&w, "free", 1800);
	for (int i = 0; i < 3; i++)
		world_pod(&w, &w.tenants[0], pods[i]);
	world_run(&w, 30000);
	for (int i = 0; i < 4; i++)
		assert_int_equal(expected(&w, &w.servers[i]), 0);
	for (int i = 0; i < 3; i++)
		world_wait_running(&w, &w.tenants[0], pods[i], 900);
	assert_int_equal(told(&w.tenants[0]), 0);
	for (int i = 0; i < 4; i++)
		if (str_eq(w.servers[i].state, "free"))
			b = &w.servers[i];
	assert_non_null(b);
	world_pod(&w, &w.tenants[1], "d");
	world_wait_state(b, "imaging", 120);
	world_run(&w, 3000);
	due = expected(&w, b);
	assert_true(due > loop_wall(w.loop));
	assert_true(told(&w.tenants[1]) >= 1);
	world_wait_state(b, "serving", 900);
	assert_in_range(loop_wall(w.loop), due - 15000, due + 15000);
	world_run(&w, 3000);
	assert_int_equal(expected(&w, b), 0);
	world_stop(&w);
}

static void a_restart_forgets_nothing(void **state)
{
	static const char *const pods[] = {"a", "b", "c"};
	struct sim_world w;
	struct server *b = NULL;

	(void)state;
	world_start(&w, 732, 4);
	world_replica(&w);
	world_wait_all(&w, "free", 1800);
	for (int i = 0; i < 3; i++)
		world_pod(&w, &w.tenants[0], pods[i]);
	for (int i = 0; i < 3; i++)
		world_wait_running(&w, &w.tenants[0], pods[i], 900);
	world_run(&w, 5000);
	world_kill(&w.replicas[0]);
	world_run(&w, 60000);
	world_replica(&w);
	for (int i = 0; i < 4; i++)
		if (str_eq(w.servers[i].state, "free"))
			b = &w.servers[i];
	assert_non_null(b);
	world_pod(&w, &w.tenants[1], "d");
	world_wait_state(b, "claimed", 120);
	world_wait_state(b, "imaging", 120);
	world_run(&w, 3000);
	assert_true(expected(&w, b) > loop_wall(w.loop));
	assert_true(told(&w.tenants[1]) >= 1);
	world_stop(&w);
}

/* Expected time range in an event of the pod, in minutes of the day; to == 0: no event has a
 * range. */
struct range {
	const char *pod;
	int from, to;
};

static int minutes(const char *hhmm)
{
	return (hhmm[0] * 10 + hhmm[1] - '0' * 11) * 60 + hhmm[3] * 10 + hhmm[4] - '0' * 11;
}

static bool has_range(const json_t *o, void *arg)
{
	static const char word[] = ", expected ";
	const char *text = str_or(json_str_at(o, "message"), ""), *at = strstr(text, word);
	struct range *r = arg;

	if (at && str_eq(json_str_at(o, "involvedObject", "name"), r->pod)) {
		at += strlen(word);
		assert_true(strlen(at) > 18 && str_starts(at + 5, " to ") &&
			    str_starts(at + 14, " UTC: pool "));
		r->from = minutes(at);
		r->to = minutes(at + 9);
	}
	return true;
}

static void all_serve(struct sim_world *w)
{
	static const char *const pods[] = {"a", "b", "c"};

	for (int i = 0; i < 3; i++)
		world_pod(w, &w->tenants[0], pods[i]);
	for (int i = 0; i < 3; i++)
		world_wait_running(w, &w->tenants[0], pods[i], 900);
	world_run(w, 3000);
}

static void who_waits_for_a_machine_that_is_wiped_is_told_when_and_is_served_then(void **state)
{
	static const char *const pods[] = {"a", "b", "c"};
	struct range r = {.pod = "d"};
	struct sim_world w;
	struct server *b;
	int at;

	(void)state;
	world_start(&w, 733, 3);
	world_replica(&w);
	world_wait_all(&w, "free", 1800);
	all_serve(&w);
	for (int i = 0; i < 3; i++) {
		world_delete_pod(&w, &w.tenants[0], pods[i]);
		world_release(&w.servers[i]);
	}
	world_wait_all(&w, "free", 7200);
	all_serve(&w);
	b = world_box_of(&w, &w.tenants[0], "a");
	assert_non_null(b);
	world_delete_pod(&w, &w.tenants[0], "a");
	world_release(b);
	world_wait_state(b, "wiping", 3600);
	world_pod(&w, &w.tenants[1], "d");
	world_run(&w, 10000);
	cluster_each(&w.tenants[1], "events/", has_range, &r);
	assert_true(r.to);
	world_wait_running(&w, &w.tenants[1], "d", 7200);
	at = (int)(loop_wall(w.loop) / 60000 % 1440);
	assert_in_range(at, r.from - 1, r.to + 1);
	world_stop(&w);
}

/* Sets the pod's start time to now and its end to `seconds` from now, as its kubelet would report
 * it. */
static void end_in(struct sim_world *w, const char *pod, int seconds)
{
	char path[120], now[STR_TIME_SIZE];

	str_format(path, sizeof(path), "/api/v1/namespaces/default/pods/%s", pod);
	world_do(w, &w->tenants[0], "PATCH", path,
		 json_pack("{s:{s:i}}", "spec", "activeDeadlineSeconds", seconds));
	str_format(path, sizeof(path), "/api/v1/namespaces/default/pods/%s/status", pod);
	world_do(w, &w->tenants[0], "PATCH", path,
		 json_pack("{s:{s:s}}", "status", "startTime", str_time(now, loop_wall(w->loop))));
}

static void who_waits_for_a_machine_whose_pods_have_an_end_is_told_when(void **state)
{
	static const char *const pods[] = {"a", "b", "c"};
	struct range r = {.pod = "d"};
	struct sim_world w;
	int at;

	(void)state;
	world_start(&w, 734, 3);
	world_replica(&w);
	world_wait_all(&w, "free", 1800);
	all_serve(&w);
	for (int i = 0; i < 3; i++) {
		world_delete_pod(&w, &w.tenants[0], pods[i]);
		world_release(&w.servers[i]);
	}
	world_wait_all(&w, "free", 7200);
	all_serve(&w);
	world_pod(&w, &w.tenants[1], "d");
	world_run(&w, 10000);
	cluster_each(&w.tenants[1], "events/", has_range, &r);
	assert_int_equal(r.to, 0); /* no end is known yet */
	end_in(&w, "b", 3600);
	world_run(&w, 600000);
	cluster_each(&w.tenants[1], "events/", has_range, &r);
	assert_true(r.to);
	world_run(&w, 3000000);
	world_delete_pod(&w, &w.tenants[0], "b"); /* as the kubelet does at the deadline */
	world_wait_running(&w, &w.tenants[1], "d", 7200);
	at = (int)(loop_wall(w.loop) / 60000 % 1440);
	assert_in_range(at, r.from - 1, r.to + 1);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_fourth_claim_knows_when_it_will_serve),
		cmocka_unit_test(a_restart_forgets_nothing),
		cmocka_unit_test(
			who_waits_for_a_machine_that_is_wiped_is_told_when_and_is_served_then),
		cmocka_unit_test(who_waits_for_a_machine_whose_pods_have_an_end_is_told_when),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
