/* The circuit breaker: a failure that is equal on several machines is not the machines' fault. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "api/annotations.h"
#include "base/str.h"
#include "controller/claims/breaker.h"
#include "controller/steps/requests.h"
#include "tests/world/world.h"

#define POOLS "/apis/" OBJECT_API_VERSION "/nodepools"
#define POOL POOLS "/gpus"

/* Digest of an image that does not exist */
#define OTHER "abababababababababababababababababababababababababababababababab"

struct count {
	/* Reason and text that an event must have; reason NULL: any reason. */
	const char *reason, *text;
	unsigned n;
};

static bool count_one(const json_t *o, void *arg)
{
	struct count *c = arg;

	c->n += (!c->reason || str_eq(json_str_at(o, "reason"), c->reason)) &&
		(!c->text || strstr(str_or(json_str_at(o, "message"), ""), c->text));
	return true;
}

static unsigned claims(struct sim_world *w)
{
	struct count c = {0};

	cluster_each(&w->host, "nodeclaims.drover.dev/", count_one, &c);
	return c.n;
}

/* True if a pod of the tenant has an event with this reason and text. */
static bool told(struct cluster *p, const char *reason, const char *text)
{
	struct count c = {reason, text, 0};

	cluster_each(p, "events/", count_one, &c);
	return c.n;
}

/* Returns status and reason of a condition of the pool, for example "True JoinTimeout". */
static const char *condition_of(const struct sim_world *w, const char *type)
{
	static char text[80];
	OWN_JSON o = cluster_get(&w->host, "nodepools.drover.dev/gpus");
	json_t *x;
	size_t i;

	text[0] = '\0';
	json_array_foreach (json_at(o, "status", "conditions"), i, x)
		if (str_eq(json_str_at(x, "type"), type))
			str_format(text, sizeof(text), "%s %s", json_str_at(x, "status"),
				   json_str_at(x, "reason"));
	return text;
}

static const char *line_of(const struct sim_world *w)
{
	return condition_of(w, BREAKER_CONDITION);
}

static unsigned failed(const struct sim_world *w, const char *reason)
{
	unsigned n = 0;

	for (unsigned i = 0; i < w->nboxes; i++)
		n += world_has_failure(&w->servers[i], reason);
	return n;
}

static bool three_timed_out(void *arg)
{
	return failed(arg, "JoinTimeout") == 3;
}

static bool a_mismatch(void *arg)
{
	return failed(arg, "ImageMismatch") == 1;
}

static bool one_serves(void *arg)
{
	const struct sim_world *w = arg;

	for (unsigned i = 0; i < w->nboxes; i++)
		if (str_eq(w->servers[i].state, "serving"))
			return true;
	return false;
}

static void kubelets(struct sim_world *w, bool come)
{
	for (unsigned i = 0; i < w->nboxes; i++)
		w->servers[i].no_kubelet = !come;
}

/* Lets three of four machines fail with one image, all for one tenant. */
static void stop_for_one(struct sim_world *w, uint64_t seed)
{
	world_start(w, seed, 4);
	kubelets(w, false);
	/* The fourth machine is unavailable until the other three have failed. */
	world_patch_machine(&w->servers[3], json_pack("{s:s}", "managementPolicy", "Observe"));
	world_replica(w);
	for (int i = 0; i < 3; i++)
		world_wait_state(&w->servers[i], "free", 1800);
	for (int i = 0; i < 3; i++) {
		const char *const names[] = {"a", "b", "c"};

		world_pod(w, &w->tenants[0], names[i]);
	}
	world_wait(w, three_timed_out, w, 7200, "three machines fail alike");
	world_patch_machine(&w->servers[3], json_pack("{s:s}", "managementPolicy", "Manage"));
}

/* Lets three machines fail for one tenant; then creates a pod of another tenant. */
static void stop_the_line(struct sim_world *w, uint64_t seed)
{
	stop_for_one(w, seed);
	world_pod(w, &w->tenants[1], "late");
}

static void three_machines_that_fail_alike_are_enough(void **state)
{
	struct sim_world w;

	(void)state;
	stop_the_line(&w, 701);
	for (int i = 0; i < 9 * 6; i++) {
		world_run(&w, 10000);
		assert_string_equal(w.servers[3].claim, "");
	}
	assert_int_equal(failed(&w, "JoinTimeout"), 3);
	assert_int_equal(claims(&w), 0); /* the three have ended, and no new one was created */
	assert_true(told(&w.tenants[1], "LineStopped", "JoinTimeout on 3 machines"));
	assert_true(told(&w.tenants[1], "LineStopped", w.image_digest));
	assert_string_equal(line_of(&w), "True JoinTimeout");
	assert_string_equal(condition_of(&w, "Ready"), "False LineStopped");
	/* Only one claim, the trial, is allowed until the trial has ended. */
	kubelets(&w, true);
	world_run(&w, 80 * 1000);
	assert_int_equal(claims(&w), 1);
	assert_string_equal(line_of(&w), "True JoinTimeout");
	/* The trial serves: the circuit breaker closes. */
	world_wait(&w, one_serves, &w, 1800, "the one serves");
	world_run(&w, 10000);
	assert_int_equal(claims(&w), 4);
	assert_string_equal(line_of(&w), "False Open");
	world_wait_running(&w, &w.tenants[1], "late", 1800);
	world_stop(&w);
}

static bool four_timed_out(void *arg)
{
	return failed(arg, "JoinTimeout") == 4;
}

/* The trial claim belongs to the tenant of the failed claims and fails as well. The back-off
 * doubles for that tenant only, so another tenant's pod is tried first. */
static void a_newcomer_is_let_through_before_those_who_failed(void **state)
{
	struct sim_world w;

	(void)state;
	stop_for_one(&w, 707);
	world_wait(&w, four_timed_out, &w, 7200, "the one that was let through fails");
	world_run(&w, 120000);
	assert_int_equal(claims(&w), 0);
	kubelets(&w, true);
	world_pod(&w, &w.tenants[1], "late");
	world_run(&w, 20000);
	assert_int_equal(claims(&w), 1);
	world_wait_running(&w, &w.tenants[1], "late", 600);
	world_run(&w, 30000);
	assert_string_equal(line_of(&w), "False Open");
	world_stop(&w);
}

static void one_wrong_image_is_enough_and_a_person_opens_the_line(void **state)
{
	struct sim_world w;
	char now[STR_TIME_SIZE];

	(void)state;
	world_start(&w, 702, 2);
	w.bad_images = 1000;
	world_replica(&w);
	world_wait_all(&w, "free", 1800);
	world_pod(&w, &w.tenants[0], "train");
	world_wait(&w, a_mismatch, &w, 3600, "the image is refused");
	world_run(&w, 9 * 60 * 1000);
	assert_int_equal(failed(&w, "ImageMismatch"), 1);
	assert_int_equal(claims(&w), 0);
	assert_true(told(&w.tenants[0], "LineStopped", "ImageMismatch on 1 machine"));
	assert_true(told(&w.host, "ImageMismatch", w.image_digest));
	assert_string_equal(condition_of(&w, "Ready"), "False LineStopped");
	w.bad_images = 0;
	world_do(&w, &w.host, "PATCH", POOL,
		 json_pack("{s:{s:{s:s}}}", "metadata", "annotations", REQUEST_RESUME,
			   str_time(now, loop_wall(w.loop))));
	world_run(&w, 5000);
	assert_string_equal(line_of(&w), "False Open");
	assert_string_equal(condition_of(&w, "Ready"), "True Ready");
	assert_int_equal(claims(&w), 1);
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	world_stop(&w);
}

static void a_changed_pool_is_tried_at_once(void **state)
{
	struct sim_world w;

	(void)state;
	world_start(&w, 703, 2);
	w.bad_images = 1;
	world_replica(&w);
	world_wait_all(&w, "free", 1800);
	world_pod(&w, &w.tenants[0], "train");
	world_wait(&w, a_mismatch, &w, 3600, "the image is refused");
	world_run(&w, 60000);
	assert_int_equal(claims(&w), 0);
	world_do(&w, &w.host, "PATCH", POOL, json_pack("{s:{s:i}}", "spec", "weight", 7));
	world_run(&w, 5000);
	assert_int_equal(claims(&w), 1);
	assert_string_equal(line_of(&w), "False Open");
	world_stop(&w);
}

/* The next leader comes to the same result as the first. */
static void a_stopped_line_stays_stopped_under_another_leader(void **state)
{
	struct sim_world w;

	(void)state;
	stop_the_line(&w, 704);
	world_run(&w, 60000);
	world_kill(&w.replicas[0]);
	world_replica(&w);
	world_run(&w, 5 * 60 * 1000);
	assert_int_equal(failed(&w, "JoinTimeout"), 3);
	assert_int_equal(claims(&w), 0);
	assert_string_equal(line_of(&w), "True JoinTimeout");
	world_stop(&w);
}

static size_t failures_of(const struct server *b)
{
	return json_array_size(json_at(b->object, "status", "failures"));
}

static void failures_of_a_stopped_line_wear_no_machine_out(void **state)
{
	struct sim_world w;

	(void)state;
	stop_the_line(&w, 705);
	world_run(&w, 24 * 3600 * 1000);
	assert_int_equal(failed(&w, BREAKER_WORN), 0);
	assert_true(failures_of(&w.servers[0]) + failures_of(&w.servers[1]) +
			    failures_of(&w.servers[2]) + failures_of(&w.servers[3]) >=
		    12);
	world_stop(&w);
}

static void three_claims_in_a_row_wear_a_machine_out_whatever_its_wipes_say(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 706, 1);
	b->no_kubelet = true;
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(b, "quarantined", 4 * 3600);
	assert_int_equal(failures_of(b), 4);
	assert_string_equal(world_at(b, "status.quarantine.reason"), BREAKER_WORN);
	assert_string_equal(world_at(b, "status.quarantine.exit"), "auto");
	assert_non_null(strstr(world_at(b, "status.quarantine.message"), "JoinTimeout"));
	assert_true(server_is_blank(b));
	b->no_kubelet = false;
	world_wait_running(&w, &w.tenants[0], "train", 4 * 3600); /* no operator is needed */
	assert_int_equal(failures_of(b), 0);
	world_stop(&w);
}

/* The preferred pool has a wrong image: its circuit breaker opens, and the other pool serves. */
static void the_next_pool_serves_while_a_line_is_stopped(void **state)
{
	struct sim_world w;
	OWN_JSON pool = NULL;

	(void)state;
	world_start(&w, 708, 3);
	pool = cluster_get(&w.host, "nodepools.drover.dev/gpus");
	json_object_set_new(pool, "metadata", json_pack("{s:s}", "name", "preferred"));
	json_object_del(pool, "status");
	json_object_set_new(json_object_get(pool, "spec"), "weight", json_integer(90));
	json_object_set_new(json_array_get(json_at(pool, "spec", "template", "spec", "images"), 0),
			    "digest", json_string("sha256:" OTHER));
	world_do(&w, &w.host, "POST", POOLS, json_incref(pool));
	world_replica(&w);
	world_wait_all(&w, "free", 1800);
	world_pod(&w, &w.tenants[0], "train");
	world_wait(&w, a_mismatch, &w, 3600, "the image is refused");
	world_wait_running(&w, &w.tenants[0], "train", 300);
	/* After the back-off, one trial claim is allowed in the pool with the wrong image, for a
	 * pod that is created then. */
	world_run(&w, 11 * 60 * 1000);
	assert_int_equal(claims(&w), 1);
	world_stop(&w);
}

/* Adds to status.failures of the machine that failed the same failure of the image OTHER. */
static void other_image_fails_too(struct sim_world *w)
{
	for (unsigned i = 0; i < w->nboxes; i++) {
		const char *name = w->servers[i].name;
		char path[160];
		OWN_JSON m = NULL;
		json_t *list, *more;

		if (!world_has_failure(&w->servers[i], "ImageMismatch"))
			continue;
		str_format(path, sizeof(path), "machines.drover.dev/%s", name);
		m = cluster_get(&w->host, path);
		list = json_at(m, "status", "failures");
		more = json_deep_copy(json_array_get(list, 0));
		json_object_set_new(more, "image", json_string("sha256:" OTHER));
		json_array_append_new(list, more);
		str_format(path, sizeof(path), "/apis/" OBJECT_API_VERSION "/machines/%s/status",
			   name);
		world_do(w, &w->host, "PATCH", path,
			 json_pack("{s:{s:O}}", "status", "failures", list));
	}
}

/* Other tenants use the pool's other image, until that fails too. */
static void one_wrong_image_of_several_leaves_the_pool_ready(void **state)
{
	struct sim_world w;

	(void)state;
	world_start(&w, 711, 2);
	OWN_JSON pool = cluster_get(&w.host, "nodepools.drover.dev/gpus");
	json_t *images = json_at(pool, "spec", "template", "spec", "images");
	json_t *other = json_deep_copy(json_array_get(images, 0));

	json_object_set_new(other, "kubernetesVersion", json_string("1.35"));
	json_object_set_new(other, "digest", json_string("sha256:" OTHER));
	json_array_append_new(images, other);
	world_do(&w, &w.host, "PATCH", POOL,
		 json_pack("{s:{s:{s:{s:O}}}}", "spec", "template", "spec", "images", images));
	w.bad_images = 1000;
	world_replica(&w);
	world_wait_all(&w, "free", 1800);
	world_pod(&w, &w.tenants[0], "train");
	world_wait(&w, a_mismatch, &w, 3600, "the image is refused");
	world_run(&w, 10000);
	assert_string_equal(line_of(&w), "True ImageMismatch");
	assert_string_equal(condition_of(&w, "Ready"), "True Ready");
	other_image_fails_too(&w);
	world_run(&w, 10000);
	assert_string_equal(condition_of(&w, "Ready"), "False " BREAKER_CONDITION);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_machines_that_fail_alike_are_enough),
		cmocka_unit_test(a_newcomer_is_let_through_before_those_who_failed),
		cmocka_unit_test(one_wrong_image_is_enough_and_a_person_opens_the_line),
		cmocka_unit_test(one_wrong_image_of_several_leaves_the_pool_ready),
		cmocka_unit_test(the_next_pool_serves_while_a_line_is_stopped),
		cmocka_unit_test(a_changed_pool_is_tried_at_once),
		cmocka_unit_test(a_stopped_line_stays_stopped_under_another_leader),
		cmocka_unit_test(failures_of_a_stopped_line_wear_no_machine_out),
		cmocka_unit_test(three_claims_in_a_row_wear_a_machine_out_whatever_its_wipes_say),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
