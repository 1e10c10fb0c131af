/* Stop the line: what fails alike on several machines is no machine's fault. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/str.h"
#include "controller/line.h"
#include "controller/requests.h"
#include "tests/world/world.h"

#define POOL "/apis/" OBJECT_API_VERSION "/nodepools/gpus"

struct count {
	const char *reason, *text; /* NULL: all */
	unsigned n;
};

static bool count_one(const json_t *o, void *arg)
{
	struct count *c = arg;

	c->n += (!c->reason || str_eq(json_str_at(o, "reason"), c->reason)) &&
		(!c->text || strstr(str_or(json_str_at(o, "message"), ""), c->text));
	return true;
}

static unsigned claims(struct earth *w)
{
	struct count c = {0};

	plane_each(&w->host, "nodeclaims.drover.dev/", count_one, &c);
	return c.n;
}

/* A pod of the tenant is told so, with this in the text. */
static bool told(struct plane *p, const char *reason, const char *text)
{
	struct count c = {reason, text, 0};

	plane_each(p, "events/", count_one, &c);
	return c.n;
}

/* "True JoinTimeout" of the pool's condition. */
static const char *line_of(struct earth *w)
{
	static char text[80];
	OWN_JSON o = plane_get(&w->host, "nodepools.drover.dev/gpus");
	json_t *x;
	size_t i;

	text[0] = '\0';
	json_array_foreach (json_at(o, "status", "conditions"), i, x)
		if (str_eq(json_str_at(x, "type"), LINE_CONDITION))
			str_format(text, sizeof(text), "%s %s", json_str_at(x, "status"),
				   json_str_at(x, "reason"));
	return text;
}

static unsigned failed(const struct earth *w, const char *reason)
{
	unsigned n = 0;

	for (unsigned i = 0; i < w->nboxes; i++)
		n += earth_has_failure(&w->boxes[i], reason);
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
	const struct earth *w = arg;

	for (unsigned i = 0; i < w->nboxes; i++)
		if (str_eq(w->boxes[i].state, "serving"))
			return true;
	return false;
}

static void kubelets(struct earth *w, bool come)
{
	for (unsigned i = 0; i < w->nboxes; i++)
		w->boxes[i].no_kubelet = !come;
}

/* Three machines of four fail for one image, all for one tenant. */
static void stop_for_one(struct earth *w, uint64_t seed)
{
	earth_start(w, seed, 4);
	kubelets(w, false);
	/* Not to be had while the three fail one after the other. */
	earth_patch_machine(&w->boxes[3], json_pack("{s:s}", "managementPolicy", "Observe"));
	earth_replica(w);
	for (int i = 0; i < 3; i++)
		earth_wait_state(&w->boxes[i], "free", 1800);
	for (int i = 0; i < 3; i++) {
		const char *const names[] = {"a", "b", "c"};

		earth_pod(w, &w->tenants[0], names[i]);
	}
	earth_wait(w, three_timed_out, w, 7200, "three machines fail alike");
	earth_patch_machine(&w->boxes[3], json_pack("{s:s}", "managementPolicy", "Manage"));
}

/* ... and a pod of another tenant comes. */
static void stop_the_line(struct earth *w, uint64_t seed)
{
	stop_for_one(w, seed);
	earth_pod(w, &w->tenants[1], "late");
}

static void three_machines_that_fail_alike_are_enough(void **state)
{
	struct earth w;

	(void)state;
	stop_the_line(&w, 701);
	for (int i = 0; i < 9 * 6; i++) {
		earth_run(&w, 10000);
		assert_string_equal(w.boxes[3].claim, "");
	}
	assert_int_equal(failed(&w, "JoinTimeout"), 3);
	assert_int_equal(claims(&w), 0); /* the three have ended, and none came */
	assert_true(told(&w.tenants[1], "LineStopped", "JoinTimeout on 3 machines"));
	assert_true(told(&w.tenants[1], "LineStopped", w.image_digest));
	assert_string_equal(line_of(&w), "True JoinTimeout");
	/* One goes, and no other while it is on its way. */
	kubelets(&w, true);
	earth_run(&w, 80 * 1000);
	assert_int_equal(claims(&w), 1);
	assert_string_equal(line_of(&w), "True JoinTimeout");
	/* It serves: the line is open. */
	earth_wait(&w, one_serves, &w, 1800, "the one serves");
	earth_run(&w, 10000);
	assert_int_equal(claims(&w), 4);
	assert_string_equal(line_of(&w), "False Open");
	earth_wait_running(&w, &w.tenants[1], "late", 1800);
	earth_stop(&w);
}

static bool four_timed_out(void *arg)
{
	return failed(arg, "JoinTimeout") == 4;
}

/* The one that was let through was of the same tenant and failed, too: that tenant waits twice as long, nobody else does. */
static void a_newcomer_is_let_through_before_those_who_failed(void **state)
{
	struct earth w;

	(void)state;
	stop_for_one(&w, 707);
	earth_wait(&w, four_timed_out, &w, 7200, "the one that was let through fails");
	earth_run(&w, 120000);
	assert_int_equal(claims(&w), 0);
	kubelets(&w, true);
	earth_pod(&w, &w.tenants[1], "late");
	earth_run(&w, 20000);
	assert_int_equal(claims(&w), 1);
	earth_wait_running(&w, &w.tenants[1], "late", 600);
	earth_run(&w, 30000);
	assert_string_equal(line_of(&w), "False Open");
	earth_stop(&w);
}

static void one_wrong_image_is_enough_and_a_person_opens_the_line(void **state)
{
	struct earth w;
	char now[STR_TIME_SIZE];

	(void)state;
	earth_start(&w, 702, 2);
	w.bad_images = 1000;
	earth_replica(&w);
	earth_wait_all(&w, "free", 1800);
	earth_pod(&w, &w.tenants[0], "train");
	earth_wait(&w, a_mismatch, &w, 3600, "the image is refused");
	earth_run(&w, 9 * 60 * 1000);
	assert_int_equal(failed(&w, "ImageMismatch"), 1);
	assert_int_equal(claims(&w), 0);
	assert_true(told(&w.tenants[0], "LineStopped", "ImageMismatch on 1 machine"));
	w.bad_images = 0;
	earth_do(&w, &w.host, "PATCH", POOL,
		 json_pack("{s:{s:{s:s}}}", "metadata", "annotations", REQUEST_RESUME,
			   str_time(now, loop_wall(w.loop))));
	earth_run(&w, 5000);
	assert_string_equal(line_of(&w), "False Open");
	assert_int_equal(claims(&w), 1);
	earth_wait_running(&w, &w.tenants[0], "train", 1800);
	earth_stop(&w);
}

static void a_changed_pool_is_tried_at_once(void **state)
{
	struct earth w;

	(void)state;
	earth_start(&w, 703, 2);
	w.bad_images = 1;
	earth_replica(&w);
	earth_wait_all(&w, "free", 1800);
	earth_pod(&w, &w.tenants[0], "train");
	earth_wait(&w, a_mismatch, &w, 3600, "the image is refused");
	earth_run(&w, 60000);
	assert_int_equal(claims(&w), 0);
	earth_do(&w, &w.host, "PATCH", POOL, json_pack("{s:{s:i}}", "spec", "weight", 7));
	earth_run(&w, 5000);
	assert_int_equal(claims(&w), 1);
	assert_string_equal(line_of(&w), "False Open");
	earth_stop(&w);
}

/* Who leads next comes to the same answer. */
static void a_stopped_line_stays_stopped_under_another_leader(void **state)
{
	struct earth w;

	(void)state;
	stop_the_line(&w, 704);
	earth_run(&w, 60000);
	earth_kill(&w.replicas[0]);
	earth_replica(&w);
	earth_run(&w, 5 * 60 * 1000);
	assert_int_equal(failed(&w, "JoinTimeout"), 3);
	assert_int_equal(claims(&w), 0);
	assert_string_equal(line_of(&w), "True JoinTimeout");
	earth_stop(&w);
}

static size_t failures_of(const struct box *b)
{
	return json_array_size(json_at(b->object, "status", "failures"));
}

static void failures_of_a_stopped_line_wear_no_machine_out(void **state)
{
	struct earth w;

	(void)state;
	stop_the_line(&w, 705);
	earth_run(&w, 24 * 3600 * 1000);
	assert_int_equal(failed(&w, LINE_WORN), 0);
	assert_true(failures_of(&w.boxes[0]) + failures_of(&w.boxes[1]) + failures_of(&w.boxes[2]) +
			    failures_of(&w.boxes[3]) >=
		    12);
	earth_stop(&w);
}

static void three_claims_in_a_row_wear_a_machine_out_whatever_its_wipes_say(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];

	(void)state;
	earth_start(&w, 706, 1);
	b->no_kubelet = true;
	earth_replica(&w);
	earth_pod(&w, &w.tenants[0], "train");
	earth_wait_state(b, "quarantined", 4 * 3600);
	assert_int_equal(failures_of(b), 4);
	assert_string_equal(earth_at(b, "status.quarantine.reason"), LINE_WORN);
	assert_string_equal(earth_at(b, "status.quarantine.exit"), "auto");
	assert_non_null(strstr(earth_at(b, "status.quarantine.message"), "JoinTimeout"));
	assert_true(box_is_blank(b));
	b->no_kubelet = false;
	earth_wait_running(&w, &w.tenants[0], "train", 4 * 3600); /* by itself */
	assert_int_equal(failures_of(b), 0);
	earth_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_machines_that_fail_alike_are_enough),
		cmocka_unit_test(a_newcomer_is_let_through_before_those_who_failed),
		cmocka_unit_test(one_wrong_image_is_enough_and_a_person_opens_the_line),
		cmocka_unit_test(a_changed_pool_is_tried_at_once),
		cmocka_unit_test(a_stopped_line_stays_stopped_under_another_leader),
		cmocka_unit_test(failures_of_a_stopped_line_wear_no_machine_out),
		cmocka_unit_test(three_claims_in_a_row_wear_a_machine_out_whatever_its_wipes_say),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
