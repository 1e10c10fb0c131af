/* How a serving machine comes to leave its tenant, and how its pods go. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/arena.h"
#include "base/str.h"
#include "tests/world/world.h"

/* --- asking the world ------------------------------------------------------------------------------- */

struct until {
	struct earth *w;
	struct box *b;
	struct plane *p;
	const char *a, *text;
	uint64_t rev;
	bool found;
};

static bool says(void *arg)
{
	struct until *u = arg;

	return str_eq(earth_at(u->b, u->a), u->text);
}

static void wait_at(struct box *b, const char *path, const char *text, int64_t limit_s)
{
	struct until u = {.b = b, .a = path, .text = text};
	OWN(arena) a = arena_new();

	earth_wait(b->earth, says, &u, limit_s, arena_printf(a, "%s is \"%s\"", path, text));
}

static bool gone(void *arg)
{
	struct until *u = arg;
	OWN_JSON o = NULL;

	if (u->rev == store_rev(u->p->store))
		return false;
	u->rev = store_rev(u->p->store);
	o = plane_get(u->p, u->text);
	return o == NULL;
}

static void wait_gone(struct earth *w, struct plane *p, const char *key, int64_t limit_s)
{
	struct until u = {.p = p, .text = key};

	earth_wait(w, gone, &u, limit_s, key);
}

static bool tells(const json_t *event, void *arg)
{
	struct until *u = arg;
	const char *note =
		str_or(json_str_at(event, "note"), str_or(json_str_at(event, "message"), ""));

	u->found |= str_eq(json_str_at(event, "reason"), u->a) && strstr(note, u->text) != NULL;
	return !u->found;
}

static bool told(void *arg)
{
	struct until *u = arg;

	u->found = false;
	if (u->rev != store_rev(u->p->store))
		plane_each(u->p, "events/", tells, u);
	u->rev = store_rev(u->p->store);
	return u->found;
}

/* An event with that reason whose text has this in it. */
static void wait_event(struct earth *w, struct plane *p, const char *reason, const char *text)
{
	struct until u = {.p = p, .a = reason, .text = text};

	earth_wait(w, told, &u, 60, reason);
}

static bool was_told(struct plane *p, const char *reason, const char *text)
{
	struct until u = {.p = p, .a = reason, .text = text};

	return told(&u);
}

static json_t *node_of(const struct box *b)
{
	char key[160];

	str_format(key, sizeof(key), "nodes/%s", b->claim);
	return plane_get(&b->earth->tenants[0], key);
}

static bool runs_still(const struct earth *w)
{
	OWN_JSON pod = plane_get(&w->tenants[0], "pods/default/train");

	return pod != NULL;
}

static bool is_marked(const struct box *b)
{
	OWN_JSON node = node_of(b);
	json_t *t;
	size_t i;

	json_array_foreach (json_at(node, "spec", "taints"), i, t)
		if (str_eq(json_str_at(t, "key"), "drover.dev/draining"))
			return true;
	return false;
}

static bool is_cordoned(const struct box *b)
{
	OWN_JSON node = node_of(b);

	return json_true_at(node, "spec", "unschedulable");
}

static bool is_clear(void *arg)
{
	return !is_marked(arg) && !is_cordoned(arg);
}

/* --- doing ------------------------------------------------------------------------------------------ */

/* One machine that serves a pod of team-a. */
static struct box *serving(struct earth *w, uint64_t seed)
{
	earth_start(w, seed, 1);
	earth_replica(w);
	earth_pod(w, &w->tenants[0], "train");
	earth_wait_running(w, &w->tenants[0], "train", 900);
	earth_wait_state(&w->boxes[0], "serving", 60);
	return &w->boxes[0];
}

static void patch_pod(struct earth *w, const char *name, json_t *patch)
{
	char path[200];

	str_format(path, sizeof(path), "/api/v1/namespaces/default/pods/%s", name);
	earth_do(w, &w->tenants[0], "PATCH", path, patch);
}

static void patch_node(struct box *b, const char *sub, json_t *patch)
{
	char path[200];

	str_format(path, sizeof(path), "/api/v1/nodes/%s%s", b->claim, sub);
	earth_do(b->earth, &b->earth->tenants[0], "PATCH", path, patch);
}

static void cordon(struct box *b, bool on)
{
	patch_node(b, "", json_pack("{s:{s:b}}", "spec", "unschedulable", on));
}

/* A pod without GPUs, bound to that machine's node. */
static void small_pod(struct box *b, const char *name)
{
	earth_do(b->earth, &b->earth->tenants[0], "POST", "/api/v1/namespaces/default/pods",
		 json_pack("{s:s,s:s,s:{s:s,s:s},s:{s:s,s:[{s:s,s:s}]}}", "apiVersion", "v1",
			   "kind", "Pod", "metadata", "name", name, "namespace", "default", "spec",
			   "nodeName", b->claim, "containers", "name", "main", "image", "web:1"));
}

/* As `drover release` does. */
static void release(struct box *b, const char *value)
{
	earth_do(
		b->earth, &b->earth->host, "PATCH", "/apis/drover.dev/v1alpha1/machines/gpu-1",
		json_pack("{s:{s:{s:s}}}", "metadata", "annotations", "drover.dev/release", value));
}

/* A budget that allows no disruption of any pod with this label. */
static void budget(struct earth *w, const char *pod)
{
	patch_pod(w, pod, json_pack("{s:{s:{s:s}}}", "metadata", "labels", "app", "web"));
	earth_do(w, &w->tenants[0], "POST",
		 "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
		 json_pack("{s:s,s:s,s:{s:s,s:s},s:{s:{s:{s:s}}},s:{s:i}}", "apiVersion",
			   "policy/v1", "kind", "PodDisruptionBudget", "metadata", "name", "web",
			   "namespace", "default", "spec", "selector", "matchLabels", "app", "web",
			   "status", "disruptionsAllowed", 0));
}

static void lift_budget(struct earth *w)
{
	earth_do(w, &w->tenants[0], "DELETE",
		 "/apis/policy/v1/namespaces/default/poddisruptionbudgets/web", NULL);
}

/* deadline_s: from now; 0: none.  more: further members of spec, in YAML. */
static void drain_of(struct earth *w, const char *name, const char *machine, int64_t deadline_s,
		     const char *more)
{
	OWN(arena) a = arena_new();
	char when[STR_TIME_SIZE];
	const char *deadline =
		deadline_s ? arena_printf(a, "  deadline: \"%s\"\n",
					  str_time(when, loop_wall(w->loop) + deadline_s * 1000))
			   : "";

	earth_apply(w, arena_printf(a,
				    "apiVersion: drover.dev/v1alpha1\nkind: Drain\n"
				    "metadata: {name: %s}\n"
				    "spec:\n  reason: fans\n  machineNames: [%s]\n%s%s",
				    name, machine, deadline, more));
}

static void drain(struct earth *w, const char *name, int64_t deadline_s, const char *more)
{
	drain_of(w, name, "gpu-1", deadline_s, more);
}

static void cancel(struct earth *w, const char *name)
{
	OWN(arena) a = arena_new();

	earth_do(w, &w->host, "PATCH", arena_printf(a, "/apis/drover.dev/v1alpha1/drains/%s", name),
		 json_pack("{s:{s:b}}", "spec", "cancelled", 1));
}

static bool target_is(void *arg)
{
	struct until *u = arg;
	OWN_JSON d = NULL;

	if (u->rev == store_rev(u->w->host.store))
		return false;
	u->rev = store_rev(u->w->host.store);
	d = plane_get(&u->w->host, "drains.drover.dev/fans");
	return str_eq(json_str_at(json_array_get(json_at(d, "status", "targets"), 0), "phase"),
		      u->text);
}

/* What the Drain "fans" makes of how its machine is. */
static void wait_target(struct earth *w, const char *phase)
{
	struct until u = {.w = w, .text = phase};

	earth_wait(w, target_is, &u, 60, phase);
}

/* --- budgets of pods -------------------------------------------------------------------------------- */

static void a_budget_is_waited_for_and_named(void **state)
{
	struct earth w;
	struct box *b = serving(&w, 300);

	(void)state;
	budget(&w, "train");
	earth_release(b);
	wait_at(b, "status.leave.blockedBy", "pdb default/web", 60);
	assert_string_equal(earth_at(b, "status.leave.reason"), "ClaimDeleted");
	assert_int_equal(json_int_at(b->object, "status", "leave", "podsLeft"), 1);
	assert_true(is_marked(b) && is_cordoned(b));
	earth_run(&w, 1800 * 1000);
	assert_string_equal(b->state, "draining");
	lift_budget(&w);
	wait_gone(&w, &w.tenants[0], "pods/default/train", 60);
	earth_wait_state(b, "free", 900);
	assert_false(was_told(&w.host, "PodDeleted", ""));
	earth_stop(&w);
}

static void a_budget_does_not_outlast_the_deadline(void **state)
{
	struct earth w;
	struct box *b = serving(&w, 301);
	int64_t began;

	(void)state;
	budget(&w, "train");
	drain(&w, "fans", 600, "  onDeadline: Escalate\n");
	wait_at(b, "status.leave.blockedBy", "pdb default/web", 60);
	began = loop_wall(w.loop);
	assert_string_equal(earth_at(b, "status.leave.drain"), "fans");
	earth_wait_state(b, "stopping", 660);
	assert_true(loop_wall(w.loop) - began > 500 * 1000);
	wait_event(&w, &w.host, "PodDeleted", "what kept it: pdb default/web");
	wait_event(&w, &w.host, "PodDeleted", "Drain fans: fans");
	wait_event(&w, &w.tenants[0], "PodDeleted", "pod default/train");
	wait_gone(&w, &w.tenants[0], "pods/default/train", 60);
	assert_false(earth_has_failure(b, "DeadlineExceeded"));
	earth_wait_state(b, "free", 900);
	wait_target(&w, "Done");
	earth_stop(&w);
}

static void what_refuses_every_eviction_is_told_and_passed_at_the_deadline(void **state)
{
	struct earth w;
	struct box *b = serving(&w, 302);

	(void)state;
	w.refused = "/eviction";
	earth_release(b);
	earth_run(&w, 120 * 1000);
	assert_true(str_starts(earth_at(b, "status.leave.blockedBy"), "pod default/train: "));
	earth_wait_state(b, "stopping", 3600);
	wait_event(&w, &w.host, "PodDeleted", "pod default/train");
	earth_wait_state(b, "free", 900);
	earth_stop(&w);
}

static void a_pod_that_cannot_end_does_not_outlast_the_deadline(void **state)
{
	struct earth w;
	struct box *b = serving(&w, 303);
	int64_t began;

	(void)state;
	patch_pod(&w, "train",
		  json_pack("{s:{s:[s]}}", "metadata", "finalizers", "example.com/stuck"));
	earth_release(b);
	earth_wait_state(b, "draining", 60);
	began = loop_wall(w.loop);
	earth_run(&w, 120 * 1000);
	assert_string_equal(earth_at(b, "status.leave.blockedBy"),
			    "pod default/train: deleted, and does not end");
	earth_wait_state(b, "stopping", 3700);
	assert_true(loop_wall(w.loop) - began >= 3600 * 1000);
	assert_true(loop_wall(w.loop) - began < 3640 * 1000);
	patch_pod(&w, "train", json_pack("{s:{s:[]}}", "metadata", "finalizers"));
	earth_wait_state(b, "free", 900);
	earth_stop(&w);
}

static void many_pods_are_asked_side_by_side(void **state)
{
	struct earth w;
	struct box *b = serving(&w, 304);
	int64_t began;

	(void)state;
	for (int i = 0; i < 30; i++) {
		OWN(arena) a = arena_new();

		small_pod(b, arena_printf(a, "web-%d", i));
	}
	w.unanswered = "/eviction"; /* each call lasts as long as it may */
	earth_release(b);
	earth_wait_state(b, "draining", 60);
	began = loop_wall(w.loop);
	earth_wait_state(b, "stopping", 120);
	assert_true(loop_wall(w.loop) - began < 75000);
	earth_wait_state(b, "free", 900);
	earth_stop(&w);
}

/* --- Drains ----------------------------------------------------------------------------------------- */

static void a_drain_that_stops_lets_the_machine_serve_on(void **state)
{
	struct earth w;
	struct box *b = serving(&w, 310);

	(void)state;
	budget(&w, "train");
	drain(&w, "fans", 300, "  onDeadline: Stop\n");
	earth_wait_state(b, "draining", 60);
	earth_run(&w, 60 * 1000);
	assert_true(is_marked(b));
	earth_wait_state(b, "serving", 400);
	wait_target(&w, "Stopped");
	earth_wait(&w, is_clear, b, 30, "the Node is clear");
	assert_string_equal(earth_at(b, "status.leave.reason"), "");
	earth_run(&w, 1200 * 1000);
	earth_check_serving(&w, &w.tenants[0], "train");
	earth_stop(&w);
}

static void a_cancelled_drain_lets_the_machine_serve_on(void **state)
{
	struct earth w;
	struct box *b = serving(&w, 311);

	(void)state;
	budget(&w, "train");
	drain(&w, "fans", 0, "");
	wait_at(b, "status.leave.blockedBy", "pdb default/web", 60);
	cancel(&w, "fans");
	earth_wait_state(b, "serving", 30);
	wait_target(&w, "Cancelled");
	earth_wait(&w, is_clear, b, 30, "the Node is clear");
	wait_event(&w, &w.host, "DrainWithdrawn", "");
	earth_run(&w, 60 * 1000);
	earth_check_serving(&w, &w.tenants[0], "train");
	earth_stop(&w);
}

static void a_person_s_cordon_outlives_a_drain_that_was_cancelled(void **state)
{
	struct earth w;
	struct box *b = serving(&w, 312);

	(void)state;
	budget(&w, "train");
	cordon(b, true);
	earth_run(&w, 10000);
	drain(&w, "fans", 0, "");
	wait_at(b, "status.leave.blockedBy", "pdb default/web", 60);
	cancel(&w, "fans");
	earth_wait_state(b, "serving", 30);
	earth_run(&w, 60 * 1000);
	assert_true(is_cordoned(b) && !is_marked(b));
	assert_string_not_equal(earth_at(b, "status.hold.since"), "");
	release(b, "1");
	wait_at(b, "status.requests.release", "1", 30);
	assert_true(is_clear(b));
	earth_stop(&w);
}

static void a_tenant_that_goes_away_in_the_middle_is_not_waited_for_past_the_deadline(void **state)
{
	struct earth w;
	struct box *b = serving(&w, 313);
	int64_t began;

	(void)state;
	budget(&w, "train");
	began = loop_wall(w.loop);
	drain(&w, "fans", 900, "  onDeadline: Escalate\n");
	wait_at(b, "status.leave.blockedBy", "pdb default/web", 60);
	plane_away(&w.tenants[0], true);
	w.tenants[0].owed = true;
	earth_run(&w, 600 * 1000);
	assert_string_equal(b->state, "draining");
	assert_string_equal(earth_at(b, "status.operation.lastError.reason"), "TenantUnreachable");
	earth_wait_state(b, "stopping", 400);
	assert_true(loop_wall(w.loop) - began < 910 * 1000);
	earth_wait_state(b, "free", 1200);
	earth_stop(&w);
}

static void a_claim_deleted_while_a_drain_waits_cannot_be_called_back(void **state)
{
	struct earth w;
	struct box *b = serving(&w, 314);

	(void)state;
	budget(&w, "train");
	drain(&w, "fans", 0, "  then: Hold\n");
	wait_at(b, "status.leave.blockedBy", "pdb default/web", 60);
	earth_release(b);
	wait_at(b, "status.leave.reason", "ClaimDeleted", 30);
	assert_string_equal(earth_at(b, "status.leave.then"), "Release");
	cancel(&w, "fans");
	earth_run(&w, 60 * 1000);
	assert_string_equal(b->state, "draining");
	lift_budget(&w);
	earth_wait_state(b, "free", 900);
	earth_stop(&w);
}

static void a_machine_that_drains_is_no_room_for_anybody(void **state)
{
	struct earth w;
	struct box *b;

	(void)state;
	earth_start(&w, 315, 2);
	earth_replica(&w);
	earth_pod(&w, &w.tenants[0], "train");
	earth_wait_running(&w, &w.tenants[0], "train", 900);
	b = earth_box_of(&w, &w.tenants[0], "train");
	earth_wait_state(b, "serving", 60);
	small_pod(b, "web");
	earth_delete_pod(&w, &w.tenants[0], "train");
	earth_run(&w, 10000);
	budget(&w, "web");
	drain_of(&w, "fans", b->name, 0, "");
	wait_at(b, "status.leave.blockedBy", "pdb default/web", 60);
	earth_pod(&w, &w.tenants[0], "next");
	earth_wait_running(&w, &w.tenants[0], "next", 900);
	assert_ptr_not_equal(earth_box_of(&w, &w.tenants[0], "next"), b);
	earth_stop(&w);
}

/* What a drain is at stands in the journal: whoever leads goes on with it, forward or back. */
static void leaders_die_and_the_drain_goes_on(void **state)
{
	(void)state;
	for (uint64_t seed = 316; seed < 320; seed++) {
		struct earth w;
		struct box *b = serving(&w, seed);
		bool back = seed % 2;

		budget(&w, "train");
		drain(&w, "fans", 60, back ? "  onDeadline: Stop\n" : "  onDeadline: Escalate\n");
		for (int k = 0; k < 4; k++) {
			earth_run(&w, 1 + (int64_t)loop_random_below(w.loop, 30000));
			earth_kill(&w.replicas[w.nreplicas - 1]);
			earth_replica(&w);
		}
		if (!back) {
			earth_wait_state(b, "free", 900);
		} else {
			earth_run(&w, 120 * 1000);
			assert_true(is_clear(b));
			earth_check_serving(&w, &w.tenants[0], "train");
		}
		wait_target(&w, back ? "Stopped" : "Done");
		earth_stop(&w);
	}
}

/* --- holds ------------------------------------------------------------------------------------------ */

static void a_cordon_holds_and_an_uncordon_ends_it(void **state)
{
	struct earth w;
	struct box *b = serving(&w, 320);

	(void)state;
	earth_delete_pod(&w, &w.tenants[0], "train");
	cordon(b, true);
	earth_run(&w, 30000);
	assert_string_not_equal(earth_at(b, "status.hold.since"), "");
	earth_run(&w, 3600 * 1000); /* empty, and not given back */
	assert_string_equal(b->state, "serving");
	assert_true(is_cordoned(b) && !is_marked(b));
	cordon(b, false);
	wait_at(b, "status.hold.since", "", 30);
	earth_run(&w, 300 * 1000); /* its emptiness counts from now on */
	assert_string_equal(b->state, "serving");
	earth_wait_state(b, "free", 1800);
	earth_stop(&w);
}

static void release_uncordons_what_a_person_cordoned(void **state)
{
	struct earth w;
	struct box *b = serving(&w, 321);

	(void)state;
	cordon(b, true);
	earth_run(&w, 10000);
	for (int i = 1; i < 3; i++) { /* a value is acted on once */
		char value[8];

		str_format(value, sizeof(value), "%d", i);
		release(b, value);
		wait_at(b, "status.requests.release", value, 30);
		assert_true(is_clear(b));
		assert_string_equal(earth_at(b, "status.hold.since"), "");
		cordon(b, true);
		earth_run(&w, 30000);
		assert_string_not_equal(earth_at(b, "status.hold.since"), "");
	}
	earth_stop(&w);
}

static void a_drain_that_holds_keeps_the_machine_until_it_ends(void **state)
{
	struct earth w;
	struct box *b = serving(&w, 322);

	(void)state;
	drain(&w, "fans", 0, "  then: Hold\n");
	wait_at(b, "status.hold.drain", "fans", 120);
	wait_target(&w, "Done");
	wait_gone(&w, &w.tenants[0], "pods/default/train", 10);
	assert_string_equal(b->state, "serving");
	assert_string_equal(earth_at(b, "status.leave.reason"), "");
	earth_run(&w, 3600 * 1000);
	assert_string_equal(b->state, "serving");
	assert_true(is_marked(b) && is_cordoned(b));
	cancel(&w, "fans");
	wait_at(b, "status.hold.since", "", 60);
	assert_true(is_clear(b));
	assert_string_equal(b->state, "serving");
	earth_stop(&w);
}

static void a_drain_that_is_deleted_is_a_cancelled_one(void **state)
{
	struct earth w;
	struct box *b = serving(&w, 325);

	(void)state;
	drain(&w, "fans", 0, "  then: Hold\n");
	wait_at(b, "status.hold.drain", "fans", 120);
	earth_run(&w, 60 * 1000);
	earth_do(&w, &w.host, "DELETE", "/apis/drover.dev/v1alpha1/drains/fans", NULL);
	wait_at(b, "status.hold.since", "", 200);
	assert_true(is_clear(b));
	earth_pod(&w, &w.tenants[0], "next");
	earth_wait_running(&w, &w.tenants[0], "next", 60);
	budget(&w, "next");
	drain(&w, "again", 0, "");
	earth_wait_state(b, "draining", 60);
	earth_run(&w, 30000);
	earth_do(&w, &w.host, "DELETE", "/apis/drover.dev/v1alpha1/drains/again", NULL);
	earth_wait_state(b, "serving", 60);
	earth_wait(&w, is_clear, b, 30, "the Node is clear");
	earth_stop(&w);
}

static void a_person_may_uncordon_what_a_drain_holds(void **state)
{
	struct earth w;
	struct box *b = serving(&w, 323);

	(void)state;
	drain(&w, "fans", 0, "  then: Hold\n");
	wait_at(b, "status.hold.drain", "fans", 120);
	earth_run(&w, 30000);
	cordon(b, false);
	wait_at(b, "status.hold.since", "", 60);
	earth_run(&w, 120 * 1000);
	assert_string_equal(b->state, "serving"); /* and the Drain does not ask for it again */
	assert_true(is_clear(b));
	earth_stop(&w);
}

static void a_claim_that_is_deleted_is_not_held_any_more(void **state)
{
	struct earth w;
	struct box *b = serving(&w, 324);

	(void)state;
	cordon(b, true);
	earth_run(&w, 10000);
	earth_release(b);
	earth_wait_state(b, "free", 900);
	assert_string_equal(earth_at(b, "status.hold.since"), "");
	earth_stop(&w);
}

/* --- drover's own accord ------------------------------------------------------------------------------ */

static void what_is_empty_for_long_is_given_back(void **state)
{
	struct earth w;
	struct box *b = serving(&w, 330);

	(void)state;
	earth_delete_pod(&w, &w.tenants[0], "train");
	earth_run(&w, 590 * 1000);
	assert_string_equal(b->state, "serving");
	earth_wait_state(b, "draining", 60);
	assert_string_equal(earth_at(b, "status.leave.reason"), "Empty");
	earth_wait_state(b, "free", 900);
	wait_event(&w, &w.host, "Draining", "Empty");
	earth_stop(&w);
}

static void a_pod_that_comes_at_the_last_moment_keeps_the_machine(void **state)
{
	struct earth w;
	struct box *b = serving(&w, 331);

	(void)state;
	earth_delete_pod(&w, &w.tenants[0], "train");
	earth_wait_state(b, "draining", 700);
	/* It was bound before the Node was marked, as far as its scheduler knew. */
	small_pod(b, "late");
	earth_wait_state(b, "serving", 30);
	earth_wait(&w, is_clear, b, 30, "the Node is clear");
	earth_run(&w, 1200 * 1000);
	earth_check_serving(&w, &w.tenants[0], "late");
	earth_stop(&w);
}

static void a_paused_pool_gives_nothing_back(void **state)
{
	struct earth w;
	struct box *b = serving(&w, 332);

	(void)state;
	earth_do(&w, &w.host, "PATCH", "/apis/drover.dev/v1alpha1/nodepools/gpus",
		 json_pack("{s:{s:b}}", "spec", "paused", 1));
	earth_delete_pod(&w, &w.tenants[0], "train");
	earth_run(&w, 3600 * 1000);
	assert_string_equal(b->state, "serving");
	earth_do(&w, &w.host, "PATCH", "/apis/drover.dev/v1alpha1/nodepools/gpus",
		 json_pack("{s:{s:b}}", "spec", "paused", 0));
	earth_wait_state(b, "free", 1200);
	earth_stop(&w);
}

static void set_pool(struct earth *w, json_t *spec)
{
	earth_do(w, &w->host, "PATCH", "/apis/drover.dev/v1alpha1/nodepools/gpus",
		 json_pack("{s:o}", "spec", spec));
}

struct both {
	struct earth *w;
	unsigned most; /* at once on their way out */
};

static bool both_are_free(void *arg)
{
	struct both *o = arg;
	unsigned leaving = 0, free_ = 0;

	for (unsigned i = 0; i < 2; i++) {
		leaving += str_eq(o->w->boxes[i].state, "draining") ||
			   str_eq(o->w->boxes[i].state, "stopping") ||
			   str_eq(o->w->boxes[i].state, "isolating");
		free_ += str_eq(o->w->boxes[i].state, "free");
	}
	o->most = leaving > o->most ? leaving : o->most;
	return free_ == 2;
}

static void the_budget_of_the_pool_holds_though_all_are_empty(void **state)
{
	struct earth w;
	struct both both = {&w, 0};
	struct box *b;

	(void)state;
	earth_start(&w, 333, 2);
	earth_replica(&w);
	for (int i = 0; i < 2; i++) {
		earth_pod(&w, &w.tenants[i], "train");
		earth_wait_running(&w, &w.tenants[i], "train", 900);
	}
	earth_wait_all(&w, "serving", 60);
	b = earth_box_of(&w, &w.tenants[0], "train");
	set_pool(&w, json_pack("{s:b}", "paused", 1));
	for (int i = 0; i < 2; i++)
		earth_delete_pod(&w, &w.tenants[i], "train");
	earth_run(&w, 1200 * 1000);
	set_pool(&w, json_pack("{s:b}", "paused", 0));
	/* Any change of a Node makes all machines look at once. */
	patch_node(b, "", json_pack("{s:{s:{s:s}}}", "metadata", "labels", "a", "b"));
	earth_wait(&w, both_are_free, &both, 3600, "both are free");
	assert_int_equal(both.most, 1); /* 10 % of two, rounded up */
	earth_stop(&w);
}

static void what_is_older_than_it_may_be_leaves(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];

	(void)state;
	earth_start(&w, 334, 1);
	set_pool(&w, json_pack("{s:{s:{s:s,s:s}}}", "template", "spec", "expireAfter", "30m",
			       "terminationGracePeriod", "10m"));
	earth_replica(&w);
	earth_pod(&w, &w.tenants[0], "train");
	earth_wait_running(&w, &w.tenants[0], "train", 900);
	budget(&w, "train");
	earth_wait_state(b, "draining", 1900);
	assert_string_equal(earth_at(b, "status.leave.reason"), "Expired");
	earth_wait_state(b, "stopping", 700);
	wait_event(&w, &w.host, "PodDeleted", "Expired");
	earth_wait_state(b, "free", 900);
	earth_stop(&w);
}

static void not_ready(struct box *b, int64_t since)
{
	char when[STR_TIME_SIZE];

	patch_node(b, "/status",
		   json_pack("{s:{s:[{s:s,s:s,s:s}]}}", "status", "conditions", "type", "Ready",
			     "status", "Unknown", "lastTransitionTime", str_time(when, since)));
}

static void a_dead_node_is_given_up_without_waiting_for_pods(void **state)
{
	struct earth w;
	struct box *b = serving(&w, 335);

	(void)state;
	budget(&w, "train");
	not_ready(b, loop_wall(w.loop));
	earth_run(&w, 29 * 60 * 1000);
	assert_string_equal(b->state, "serving");
	earth_wait_state(b, "stopping", 90);
	assert_true(earth_has_failure(b, "NodeDead"));
	earth_delete_pod(&w, &w.tenants[0], "train");
	earth_wait_state(b, "free", 900);
	earth_stop(&w);
}

static void a_dead_node_that_is_held_is_left_alone(void **state)
{
	struct earth w;
	struct box *b = serving(&w, 336);

	(void)state;
	cordon(b, true);
	not_ready(b, loop_wall(w.loop));
	earth_run(&w, 7200 * 1000);
	assert_string_equal(b->state, "serving");
	earth_stop(&w);
}

/* --- checkpoints ------------------------------------------------------------------------------------ */

struct saver {
	struct httpd *d;
	unsigned posts, done_at; /* which post is answered with done; 0: none */
	char body[2048];
};

static void on_checkpoint(struct httpd_req *q, void *arg)
{
	struct saver *s = arg;
	size_t len;
	bool done = s->done_at && ++s->posts >= s->done_at;

	if (!s->done_at)
		s->posts++;
	str_copy(s->body, sizeof(s->body), httpd_body(q, &len));
	httpd_reply_json(q, done || s->posts == 1 ? 200 : 202,
			 done ? "{\"done\":true}" : "{\"done\":false}");
}

/* A pool whose claims have a checkpoint to be told, and one machine that serves. */
static struct box *saving(struct earth *w, uint64_t seed, struct saver *s)
{
	earth_start(w, seed, 1);
	s->d = httpd_new(w->hardware);
	httpd_route(s->d, "POST", "/save", 65536, on_checkpoint, s);
	http_mem_serve(w->net, "https://saver.test:8443", s->d);
	set_pool(w, json_pack("{s:{s:{s:{s:s,s:s}}}}", "template", "spec", "checkpoint", "url",
			      "https://saver.test:8443/save?x=1", "timeout", "3m"));
	earth_replica(w);
	earth_pod(w, &w->tenants[0], "train");
	earth_wait_running(w, &w->tenants[0], "train", 900);
	earth_wait_state(&w->boxes[0], "serving", 60);
	return &w->boxes[0];
}

static void saved(struct earth *w, struct saver *s)
{
	http_mem_serve(w->net, "https://saver.test:8443", NULL);
	httpd_free(s->d);
	earth_stop(w);
}

static void who_saves_work_is_asked_until_it_is_done(void **state)
{
	struct earth w;
	struct saver s = {.done_at = 4};
	struct box *b = saving(&w, 340, &s);
	struct err e;
	OWN_JSON body = NULL;
	int64_t began;

	(void)state;
	drain(&w, "fans", 3600, "  onDeadline: Escalate\n");
	earth_wait_state(b, "draining", 60);
	began = loop_wall(w.loop);
	wait_at(b, "status.leave.blockedBy", "checkpoint saver.test:8443", 30);
	wait_gone(&w, &w.tenants[0], "pods/default/train", 120);
	assert_int_equal(s.posts, 4);
	assert_true(loop_wall(w.loop) - began >= 15000 && loop_wall(w.loop) - began < 60000);
	body = json_parse(s.body, strlen(s.body), &e);
	assert_string_equal(json_str_at(body, "apiVersion"), "drover.dev/v1alpha1");
	assert_string_equal(json_str_at(body, "machine"), "gpu-1");
	assert_string_equal(json_str_at(body, "virtualCluster"), "team-a");
	assert_string_equal(json_str_at(body, "reason"), "Drain");
	assert_non_null(json_str_at(body, "deadline"));
	assert_string_equal(json_str_at(json_array_get(json_object_get(body, "pods"), 0), "name"),
			    "train");
	earth_wait_state(b, "free", 900);
	saved(&w, &s);
}

static void who_never_says_done_is_waited_for_until_its_timeout_and_no_longer(void **state)
{
	struct earth w;
	struct saver s = {0};
	struct box *b = saving(&w, 341, &s);
	int64_t began;

	(void)state;
	earth_release(b);
	earth_wait_state(b, "draining", 60);
	began = loop_wall(w.loop);
	wait_gone(&w, &w.tenants[0], "pods/default/train", 300);
	assert_true(loop_wall(w.loop) - began >= 180 * 1000);
	assert_true(loop_wall(w.loop) - began < 200 * 1000);
	wait_event(&w, &w.host, "CheckpointTimedOut", "");
	earth_wait_state(b, "free", 900);
	saved(&w, &s);
}

static void a_checkpoint_is_not_begun_anew_by_the_next_leader(void **state)
{
	struct earth w;
	struct saver s = {0};
	struct box *b = saving(&w, 342, &s);
	int64_t began;

	(void)state;
	earth_release(b);
	earth_wait_state(b, "draining", 60);
	began = loop_wall(w.loop);
	earth_run(&w, 100 * 1000);
	earth_kill(&w.replicas[0]);
	earth_replica(&w);
	earth_run(&w, 60 * 1000);
	assert_true(runs_still(&w));
	wait_gone(&w, &w.tenants[0], "pods/default/train", 60);
	assert_true(loop_wall(w.loop) - began < 200 * 1000);
	earth_wait_state(b, "free", 900);
	saved(&w, &s);
}

static void a_checkpoint_does_not_outlast_the_deadline_of_the_drain(void **state)
{
	struct earth w;
	struct saver s = {0};
	struct box *b = saving(&w, 343, &s);

	(void)state;
	drain(&w, "fans", 60, "  onDeadline: Escalate\n");
	wait_gone(&w, &w.tenants[0], "pods/default/train", 70);
	earth_wait_state(b, "free", 900);
	saved(&w, &s);
}

static void checkpoint_pod(struct earth *w, const char *value)
{
	patch_pod(w, "train",
		  json_pack("{s:{s:{s:s,s:s}}}", "metadata", "annotations", "drover.dev/checkpoint",
			    value, "drover.dev/checkpoint-done", "of an earlier time"));
}

static bool is_requested(void *arg)
{
	OWN_JSON pod = plane_get(arg, "pods/default/train");

	return json_at(pod, "metadata", "annotations", "drover.dev/checkpoint-requested") != NULL;
}

static void a_pod_that_asks_for_it_is_told_and_waited_for(void **state)
{
	struct earth w;
	struct box *b = serving(&w, 344);
	OWN_JSON pod = NULL;

	(void)state;
	checkpoint_pod(&w, "true");
	earth_release(b);
	wait_at(b, "status.leave.blockedBy", "checkpoint default/train", 30);
	earth_wait(&w, is_requested, &w.tenants[0], 10, "the pod is told");
	earth_run(&w, 200 * 1000);
	pod = plane_get(&w.tenants[0], "pods/default/train");
	assert_non_null(pod);
	assert_null(json_at(pod, "metadata", "annotations", "drover.dev/checkpoint-done"));
	patch_pod(&w, "train",
		  json_pack("{s:{s:{s:s}}}", "metadata", "annotations",
			    "drover.dev/checkpoint-done", "yes"));
	wait_gone(&w, &w.tenants[0], "pods/default/train", 20);
	assert_false(was_told(&w.host, "CheckpointTimedOut", ""));
	earth_wait_state(b, "free", 900);
	earth_stop(&w);
}

static void a_pod_that_does_not_answer_has_as_long_as_it_said(void **state)
{
	struct earth w;
	struct box *b = serving(&w, 345);
	int64_t began;

	(void)state;
	checkpoint_pod(&w, "90s");
	earth_release(b);
	earth_wait_state(b, "draining", 60);
	began = loop_wall(w.loop);
	wait_gone(&w, &w.tenants[0], "pods/default/train", 300);
	assert_true(loop_wall(w.loop) - began >= 90 * 1000);
	assert_true(loop_wall(w.loop) - began < 110 * 1000);
	wait_event(&w, &w.host, "CheckpointTimedOut", "default/train");
	earth_wait_state(b, "free", 900);
	earth_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_budget_is_waited_for_and_named),
		cmocka_unit_test(a_budget_does_not_outlast_the_deadline),
		cmocka_unit_test(what_refuses_every_eviction_is_told_and_passed_at_the_deadline),
		cmocka_unit_test(a_pod_that_cannot_end_does_not_outlast_the_deadline),
		cmocka_unit_test(many_pods_are_asked_side_by_side),
		cmocka_unit_test(a_drain_that_stops_lets_the_machine_serve_on),
		cmocka_unit_test(a_cancelled_drain_lets_the_machine_serve_on),
		cmocka_unit_test(a_person_s_cordon_outlives_a_drain_that_was_cancelled),
		cmocka_unit_test(
			a_tenant_that_goes_away_in_the_middle_is_not_waited_for_past_the_deadline),
		cmocka_unit_test(a_claim_deleted_while_a_drain_waits_cannot_be_called_back),
		cmocka_unit_test(a_machine_that_drains_is_no_room_for_anybody),
		cmocka_unit_test(leaders_die_and_the_drain_goes_on),
		cmocka_unit_test(a_cordon_holds_and_an_uncordon_ends_it),
		cmocka_unit_test(release_uncordons_what_a_person_cordoned),
		cmocka_unit_test(a_drain_that_holds_keeps_the_machine_until_it_ends),
		cmocka_unit_test(a_drain_that_is_deleted_is_a_cancelled_one),
		cmocka_unit_test(a_person_may_uncordon_what_a_drain_holds),
		cmocka_unit_test(a_claim_that_is_deleted_is_not_held_any_more),
		cmocka_unit_test(what_is_empty_for_long_is_given_back),
		cmocka_unit_test(a_pod_that_comes_at_the_last_moment_keeps_the_machine),
		cmocka_unit_test(a_paused_pool_gives_nothing_back),
		cmocka_unit_test(the_budget_of_the_pool_holds_though_all_are_empty),
		cmocka_unit_test(what_is_older_than_it_may_be_leaves),
		cmocka_unit_test(a_dead_node_is_given_up_without_waiting_for_pods),
		cmocka_unit_test(a_dead_node_that_is_held_is_left_alone),
		cmocka_unit_test(who_saves_work_is_asked_until_it_is_done),
		cmocka_unit_test(who_never_says_done_is_waited_for_until_its_timeout_and_no_longer),
		cmocka_unit_test(a_checkpoint_is_not_begun_anew_by_the_next_leader),
		cmocka_unit_test(a_checkpoint_does_not_outlast_the_deadline_of_the_drain),
		cmocka_unit_test(a_pod_that_asks_for_it_is_told_and_waited_for),
		cmocka_unit_test(a_pod_that_does_not_answer_has_as_long_as_it_said),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
