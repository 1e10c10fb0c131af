/* `drover burst plan` on a cluster decides like the leader. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "api/annotations.h"
#include "base/str.h"
#include "base/zone.h"
#include "cli/burst/docs.h"
#include "cli/burst/live.h"
#include "tests/world/burst_scene.h"

#define VIEW "https://view.drover:8444"

/* What the command would show. */
struct shown {
	struct arena *a;
	struct zones *zones;
	struct burst_live live;
	struct burst_input in;
	const struct burst *b;
};

/* Serves the leader's view, and writes where it is, as a leader does. */
static struct httpd *serve(struct burst_scene *s)
{
	struct controller *c = s->w.replicas[s->w.nreplicas - 1].controller;
	struct httpd *d = httpd_new(controller_context(c)->group);

	controller_view_routes(c, d);
	http_mem_serve(s->w.net, VIEW, d);
	world_do(&s->w, &s->w.host, "POST", "/api/v1/namespaces/drover-system/configmaps",
		 json_pack("{s:{s:s}, s:{s:s, s:s}}", "metadata", "name", VIEW_NAME, "data",
			   "endpoint", VIEW, "ca.crt", s->w.ca_pem));
	world_do(&s->w, &s->w.host, "POST", "/api/v1/namespaces/drover-system/serviceaccounts",
		 json_pack("{s:{s:s}}", "metadata", "name", VIEW_NAME));
	return d;
}

/* Reads the cluster as the command does; shown_free() frees the result. */
static struct shown *show(struct burst_scene *s)
{
	const struct replica *r = &s->w.replicas[s->w.nreplicas - 1];
	const struct context *x = controller_context(r->controller);
	struct cli_client c = {.verb = "drover burst",
			       .loop = s->w.loop,
			       .group = x->group,
			       .http = x->http,
			       .host = x->host};
	const struct view_where w = {.ns = "drover-system"};
	struct shown *o = calloc(1, sizeof(*o));
	struct burst_doc docs[4];
	struct err e;

	o->a = arena_new();
	o->zones = zones_new();
	assert_ok(burst_live_read(&c, &w, &o->live, &e), &e);
	assert_true(json_array_size(o->live.docs) < 4);
	for (size_t i = 0; i < json_array_size(o->live.docs); i++)
		docs[i] = (struct burst_doc){json_array_get(o->live.docs, i), NULL};
	assert_ok(burst_docs_read(docs, json_array_size(o->live.docs), o->zones, &o->in, o->a, &e),
		  &e);
	o->b = burst_decide(&o->in, o->a);
	return o;
}

static void shown_free(struct shown *o)
{
	burst_live_done(&o->live);
	zones_free(o->zones);
	arena_free(o->a);
	free(o);
}

/* Asserts that the newest row of the policy's status is for this work and says the same as decision
 * d. A row is not written again when only the time in its message would change. */
static void assert_as_told(struct burst_scene *s, const struct burst_decision *d)
{
	OWN_JSON p = cluster_get(&s->w.host, "burstpolicies.drover.dev/research");
	const json_t *row = json_array_get(json_at(p, "status", "decisions"), 0);
	OWN(arena) a = arena_new();

	assert_string_equal(json_str_at(row, "work"), d->work->name);
	assert_string_equal(json_str_at(row, "reason"), burst_code_names[d->code]);
	if (d->code == BURST_CHOSEN)
		assert_true(str_ends(json_str_at(row, "message"), burst_launch_text(d, a)));
	else if (d->code != BURST_WAITS)
		assert_string_equal(json_str_at(row, "message"), burst_text(d, a));
}

static void a_plan_shows_what_the_leader_decides(void **state)
{
	struct burst_scene *s = burst_start(7601, "40");
	struct httpd *d;
	struct shown *o;

	(void)state;
	d = serve(s);
	burst_pod(s, "first");
	world_run(&s->w, 20000);
	o = show(s);
	assert_int_equal(o->b->n, 1);
	assert_int_equal(o->b->v[0].code, BURST_WAITS);
	assert_as_told(s, &o->b->v[0]);
	shown_free(o);

	burst_running(s, "first");
	burst_pod(s, "second");
	world_run(&s->w, 120 * 1000);
	o = show(s);
	/* The first pod's instance commits more than half of the budget. */
	assert_int_equal(o->in.nlaunches, 1);
	assert_int_equal(o->b->n, 1);
	assert_int_equal(o->b->v[0].code, BURST_BUDGET);
	assert_as_told(s, &o->b->v[0]);
	shown_free(o);
	httpd_free(d);
	burst_stop(s);
}

static void work_without_a_decision_has_its_reason(void **state)
{
	struct burst_scene *s = burst_start(7602, "40");
	struct httpd *d;
	struct shown *o;

	(void)state;
	d = serve(s);
	burst_unfit_pod(s, "arm");
	world_run(&s->w, 200 * 1000);
	o = show(s);
	assert_int_equal(o->b->n, 0);
	assert_int_equal(json_array_size(o->live.aside), 1);
	assert_string_equal(json_str_at(json_array_get(o->live.aside, 0), "work"), "default/arm");
	assert_string_equal(json_str_at(json_array_get(o->live.aside, 0), "reason"), "NotPlaced");
	shown_free(o);
	httpd_free(d);
	burst_stop(s);
}

static void a_cluster_without_policies_is_an_error_that_says_so(void **state)
{
	struct burst_scene *s = burst_start(7603, "40");
	const struct context *x = controller_context(s->w.replicas[0].controller);
	struct cli_client c = {
		.loop = s->w.loop, .group = x->group, .http = x->http, .host = x->host};
	const struct view_where w = {.ns = "drover-system"};
	struct burst_live live;
	struct err e;

	(void)state;
	world_run(&s->w, 1000);
	/* Nothing serves the view here. */
	assert_int_equal(burst_live_read(&c, &w, &live, &e), -1);
	assert_non_null(strstr(e.text, "the leader's view cannot be read: "));
	world_do(&s->w, &s->w.host, "DELETE", "/apis/drover.dev/v1alpha1/burstpolicies/research",
		 NULL);
	assert_int_equal(burst_live_read(&c, &w, &live, &e), -1);
	assert_non_null(strstr(e.text, "the cluster has no BurstPolicy"));
	burst_stop(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plan_shows_what_the_leader_decides),
		cmocka_unit_test(work_without_a_decision_has_its_reason),
		cmocka_unit_test(a_cluster_without_policies_is_an_error_that_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
