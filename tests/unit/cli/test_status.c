/* Tests `drover status`: what is read from the leader's view and from objects, and the screen. */
#include "tests/unit/cli/verb.h"
#include "tests/unit/controller/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/crypto.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/status_print.h"
#include "cli/status_read.h"
#include "cli/verbs.h"
#include "controller/claims/waiting.h"
#include "controller/view/view.h"

#define VIEW "https://view.test:8444"
#define NOW INT64_C(1800000000000) /* 2027-01-15T08:00:00Z */

/* --- the screen ------------------------------------------------------------------------------- */

static char *drawn;

static void draw(const json_t *status, size_t width, size_t height, bool colour)
{
	struct buf b;
	struct screen_text t = {.out = &b, .colour = colour};
	struct screen s = {.width = width,
			   .height = height,
			   .pen = screen_text_pen(&t),
			   .limit = height ? height - 1 : SIZE_MAX};

	buf_init(&b, 1 << 24);
	status_print(status, NOW, &s);
	screen_text_end(&t);
	free(drawn);
	drawn = buf_steal(&b);
}

static void assert_drawn(const char *what)
{
	if (!strstr(drawn, what))
		fail_msg("want '%s' in:\n%.3000s", what, drawn);
}

static void assert_undrawn(const char *what)
{
	if (strstr(drawn, what))
		fail_msg("'%s' is in:\n%.3000s", what, drawn);
}

/* Returns the number of lines of the drawn screen. Asserts that no line is wider than width. */
static size_t lines(size_t width)
{
	size_t n = 0;

	for (const char *p = drawn, *end; (end = strchr(p, '\n')); p = end + 1, n++)
		if ((size_t)(end - p) > width)
			fail_msg("wider than %zu: %.*s", width, (int)(end - p), p);
	return n;
}

/* Returns a status with this many racks, pods, tenants and stopped objects. */
static json_t *status_of(int racks, int pods, int tenants, int stopped)
{
	json_t *r = json_array(), *p = json_array(), *t = json_array(), *x = json_array();

	for (int i = 0; i < racks; i++)
		json_array_append_new(r, json_pack("{s:s++, s:i, s:i, s:i, s:i, s:i, s:i}", "rack",
						   "r", i % 2 ? "1" : "2", "", "total", 96,
						   "serving", 60, "free", 20, "moving", 10, "out",
						   i ? 0 : 2, "other", 4));
	for (int i = 0; i < pods; i++)
		json_array_append_new(p, json_pack("{s:s, s:s, s:i, s:s, s:s, s:s, s:s}", "tenant",
						   "team-a", "pod", "default/train\033[2J", "place",
						   i + 1, "reason", "NoCapacity", "since",
						   "2027-01-15T06:00:00Z", "expectedP50",
						   "2027-01-15T08:20:00Z", "expectedP90",
						   "2027-01-15T08:31:00Z"));
	for (int i = 0; i < tenants; i++)
		json_array_append_new(t, json_pack("{s:s, s:s, s:{s:s}, s:{s:s}, s:i}", "name",
						   "team-a", "state", "Ready", "quota",
						   "nvidia.com/gpu", "64", "allocated",
						   "nvidia.com/gpu", "40", "waiting", pods));
	for (int i = 0; i < stopped; i++)
		json_array_append_new(x, json_pack("{s:s, s:s, s:s, s:s, s:s}", "object",
						   "nodepool/h100", "state", "Stopped", "since",
						   "2027-01-15T07:58:00Z", "reason", "JoinTimeout",
						   "message", "on 3 machines"));
	return json_pack("{s:{s:i, s:i, s:{s:i, s:i, s:i}, s:o}, s:{s:i, s:s, s:o}, s:o, s:o, "
			 "s:{s:i, s:i, s:i, s:i, s:i}}",
			 "machines", "total", racks * 96, "gpus", racks * 768, "byState", "free",
			 racks * 20, "serving", racks * 60, "quarantined", 2, "racks", r, "queue",
			 "total", pods, "since", "2027-01-15T06:00:00Z", "pods", p, "tenants", t,
			 "stopped", x, "needs", "Person", stopped, "Late", 0, "Slow", 3, "Waits",
			 pods, "Held", 0);
}

static void one_screen_shows_every_section(void **state)
{
	OWN_JSON s = status_of(2, 3, 2, 1);

	(void)state;
	draw(s, 80, 24, false);
	assert_true(lines(80) <= 23);
	assert_drawn("Machines 192, 1536 GPUs\n  free 40  serving 120  quarantined 2\n");
	assert_drawn("Needs attention (drover why)\n"
		     "  needs an operator 1  slow 3  waits 3\n");
	assert_drawn("Racks 2\n  RACK              TOTAL SERVING    FREE  MOVING     OUT   OTHER\n"
		     "  r2                   96      60      20      10       2       4\n");
	assert_drawn("Queue 3, longest 120m\n     1  120m  team-a/default/train?[2J  NoCapacity, "
		     "08:20 to 08:31 UTC\n");
	assert_drawn("Tenants 2\n  TENANT                      GPUS        WAIT  STATE\n"
		     "  team-a         [######----] 40 of 64       3  Ready\n");
	assert_drawn("Stopped 1\n  nodepool/h100  Stopped for 2m, JoinTimeout: on 3 machines\n");
	assert_undrawn("\033");
}

static void a_large_fleet_fits_and_names_what_shows_more(void **state)
{
	OWN_JSON s = status_of(400, 1000, 300, 20);

	(void)state;
	draw(s, 80, 24, false);
	assert_int_equal(lines(80), 23);
	assert_drawn("Racks 400 (all: drover status | cat)\n");
	assert_drawn("Queue 1000, longest 120m (one: drover why TENANT/NAMESPACE/POD)\n");
	assert_drawn("Tenants 300 (all: drover get tenants)\n");
	assert_drawn("Stopped 20 (all: drover why)\n  nodepool/h100");
	draw(s, 40, 24, false);
	assert_int_equal(lines(40), 23);
	assert_drawn(
		"  RACK        ALL SERVE FREE MOVE OUT\n  r2           96    60   20   10   2\n");
	assert_drawn("  team-a         40 of 64    1000  Ready\n");
	draw(s, 0, 0, false); /* no screen size: output to a pipe */
	assert_true(lines(200) > 1700);
	assert_undrawn("(all: ");
	draw(s, 20, 3, false);
	assert_int_equal(lines(20), 2);
}

static void trouble_is_in_colour(void **state)
{
	OWN_JSON s = status_of(2, 1, 1, 1);

	(void)state;
	draw(s, 80, 24, true);
	assert_drawn("\033[31m  r2 ");
	assert_drawn("\033[31m  nodepool/h100");
	assert_drawn("\033[31m  needs an operator 1");
	assert_drawn("  r1 ");
	assert_undrawn("\033[31m  r1 ");
}

static void an_empty_fleet_says_so(void **state)
{
	OWN_JSON s = status_of(0, 0, 0, 0);

	(void)state;
	json_object_set_new(json_object_get(s, "needs"), "Slow", json_integer(0));
	draw(s, 80, 24, false);
	assert_drawn("Machines 0\n");
	assert_drawn("none; docs/add-rack.md adds machines\n");
	assert_drawn("Nothing is stuck\n");
	assert_drawn("Queue: no pod waits\n");
	assert_undrawn("Racks");
}

/* --- reading ---------------------------------------------------------------------------------- */

struct bed {
	struct bench *d;
	struct cli_client c;
	struct view_where where;
	struct waiting *waiting;
	struct view *view;
	struct httpd *server;
	char *said;
	size_t said_len;
};

static void on_published(void *arg)
{
	(void)arg;
}

/* Writes the ConfigMap with address and CA of the view, as a leader does. */
static void publish(struct bench *d)
{
	struct secret *key;
	struct err e;
	char *ca, *text;

	assert_int_equal(crypto_ca_new("test", loop_wall(d->l), 365, &ca, &key, &e), 0);
	OWN_JSON map = json_pack("{s:{s:s}, s:{s:s, s:s}}", "metadata", "name", "drover-view",
				 "data", "endpoint", VIEW, "ca.crt", ca);

	text = json_text(map);
	bench_must(d, &d->host, "POST", "/api/v1/namespaces/drover-system/configmaps", text);
	free(text);
	free(ca);
	secret_free(key);
	bench_must(d, &d->host, "POST", "/api/v1/namespaces/drover-system/serviceaccounts",
		   "{'metadata': {'name': 'drover-view'}}");
}

static int setup(void **state)
{
	struct bed *b = calloc(1, sizeof(*b));
	struct kube_lease_spec lease = {
		.ns = BENCH_NS, .name = "drover-controller", .identity = "me"};
	struct bench *d;

	assert_int_equal(bench_setup_fleet((void **)&b->d), 0);
	d = b->d;
	lease.client = d->c.host;
	d->c.o.identity = "me";
	d->c.lease = kube_lease_new(d->g, &lease);
	d->c.ready = d->c.leading = true;
	b->waiting = waiting_new(&d->c, on_published, b);
	b->view = view_new(&d->c, d->tenants, b->waiting, provisioner_last_plan(d->provisioner),
			   provisioner_bursts(d->provisioner));
	b->server = httpd_new(d->g);
	view_routes(b->view, b->server);
	http_mem_serve(d->net, VIEW, b->server);
	b->c = (struct cli_client){.verb = "drover status",
				   .loop = d->l,
				   .group = d->g,
				   .http = d->c.http,
				   .host = d->c.host,
				   .out = open_memstream(&b->said, &b->said_len)};
	b->where.ns = BENCH_NS;
	bench_run(d, 5000);
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bed *b = *state;
	struct bench *d = b->d;

	fclose(b->c.out);
	free(b->said);
	httpd_free(b->server);
	view_free(b->view);
	waiting_free(b->waiting);
	kube_lease_free(d->c.lease);
	d->c.lease = NULL;
	free(b);
	free(drawn);
	drawn = NULL;
	return bench_teardown((void **)&d);
}

static void queue(struct bed *b)
{
	waiting_begin(b->waiting);
	for (int i = 0; i < 3; i++)
		waiting_put(b->waiting,
			    &(struct waiting_row){.tenant = "team-a",
						  .at = {.pod = arena_printf(b->d->a, "ns/p-%d", i),
							 .place = i + 1,
							 .reason = "NoCapacity",
							 .message = "all taken"}});
	waiting_end(b->waiting);
	bench_run(b->d, WAITING_MS);
}

/* Returns the status as JSON; the caller owns it. */
static json_t *read_json(struct bed *b)
{
	OWN(view_client) v = view_client_new(&b->c, &b->where);
	json_t *j = status_read(&b->c, v);

	assert_non_null(j);
	return j;
}

static void the_leader_knows_every_waiting_pod(void **state)
{
	struct bed *b = *state;

	publish(b->d);
	queue(b);
	OWN_JSON j = read_json(b);

	assert_string_equal(json_str_at(j, "source"), "leader");
	assert_null(json_str_at(j, "problem"));
	assert_int_equal(json_int_at(j, "machines", "total"), 1);
	assert_int_equal(json_int_at(j, "machines", "byState", "free"), 1);
	assert_int_equal(json_int_at(j, "queue", "total"), 3);
	assert_string_equal(json_str_at(json_array_get(json_at(j, "queue", "pods"), 0), "pod"),
			    "ns/p-0");
	assert_int_equal(json_int_at(json_array_get(json_object_get(j, "tenants"), 0), "waiting"),
			 3);
}

static void a_gang_is_one_row_of_all_its_pods(void **state)
{
	struct bed *b = *state;
	struct waiting_gang gang = {.name = "ns/podgroups/train\033[2J", .size = 4, .begun = 1};

	publish(b->d);
	waiting_begin(b->waiting);
	for (int i = 0; i < 4; i++)
		waiting_put(b->waiting,
			    &(struct waiting_row){.tenant = "team-a",
						  .at = {.pod = arena_printf(b->d->a, "ns/p-%d", i),
							 .place = i + 1,
							 .reason = "GangNotWhole",
							 .message = "m"},
						  .gang = i ? &gang : NULL});
	waiting_end(b->waiting);
	bench_run(b->d, WAITING_MS);
	OWN_JSON j = read_json(b);

	assert_int_equal(json_int_at(j, "queue", "total"), 4);
	assert_int_equal(json_array_size(json_at(j, "queue", "pods")), 2);
	assert_int_equal(json_int_at(json_array_get(json_object_get(j, "tenants"), 0), "waiting"),
			 4);
	assert_int_equal(cli_do_status(&b->c, &b->where), 0);
	fflush(b->c.out);
	assert_non_null(strstr(b->said, "Queue 4"));
	assert_non_null(
		strstr(b->said, "team-a/ns/podgroups/train?[2J (3 of 4 wait)  GangNotWhole"));
}

static void without_a_leader_objects_are_shown(void **state)
{
	struct bed *b = *state;

	publish(b->d);
	b->d->c.leading = false;
	bench_status(b->d, OBJECT_VIRTUAL_CLUSTER, "team-a",
		     "{'allocated': {'nvidia.com/gpu': '8'}, 'waiting': ["
		     "{'pod': 'ns/never', 'reason': 'NoMachineFits', 'message': 'm', 'since': "
		     "'2027-01-15T07:00:00Z'},"
		     "{'pod': 'ns/second', 'place': 2, 'reason': 'NoCapacity', 'message': 'm', "
		     "'since': '2027-01-15T07:30:00Z'},"
		     "{'pod': 'ns/first', 'place': 1, 'reason': 'NoCapacity', 'message': 'm', "
		     "'since': '2027-01-15T07:40:00Z'}]}");
	OWN_JSON j = read_json(b);
	const json_t *pods = json_at(j, "queue", "pods"),
		     *tenant = json_array_get(json_object_get(j, "tenants"), 0);

	assert_string_equal(json_str_at(j, "source"), "objects");
	assert_non_null(strstr(json_str_at(j, "problem"), "what helps: "));
	assert_int_equal(json_int_at(j, "machines", "byState", "free"), 1);
	assert_string_equal(json_str_at(json_array_get(pods, 0), "pod"), "ns/first");
	assert_string_equal(json_str_at(json_array_get(pods, 2), "pod"), "ns/never");
	assert_string_equal(json_str_at(j, "queue", "since"), "2027-01-15T07:00:00Z");
	assert_string_equal(json_str_at(tenant, "allocated", "nvidia.com/gpu"), "8");
	assert_int_equal(json_int_at(tenant, "waiting"), 3);

	verb_errors_begin();
	assert_int_equal(cli_do_status(&b->c, &b->where), 0);
	verb_errors_end("drover status: drover's leader does not answer (");
	fflush(b->c.out);
	assert_non_null(strstr(b->said, "Machines 1"));
	assert_non_null(strstr(b->said, "     1 "));
}

static void what_is_stopped_is_named(void **state)
{
	struct bed *b = *state;

	publish(b->d);
	bench_patch(b->d, OBJECT_PROVIDER, "hall-a", "{'spec': {'paused': true}}");
	bench_patch(b->d, OBJECT_MACHINE, "m-1",
		    "{'metadata': {'labels': {'topology.drover.dev/rack': 'r1'}}}");
	bench_status(b->d, OBJECT_MACHINE, "m-1",
		     "{'state': 'quarantined', 'quarantine': {'reason': 'Operator', 'message': "
		     "'RMA', 'time': '2027-01-15T07:00:00Z'}}");
	OWN_JSON j = read_json(b);
	const json_t *rack = json_array_get(json_at(j, "machines", "racks"), 0);

	assert_string_equal(json_str_at(json_array_get(json_object_get(j, "stopped"), 0), "object"),
			    "provider/hall-a");
	assert_int_equal(json_int_at(j, "needs", "Held"), 1);
	assert_int_equal(json_int_at(j, "needs", "Person"), 1);
	assert_string_equal(json_str_at(rack, "rack"), "r1");
	assert_int_equal(json_int_at(rack, "out"), 1);
}

static void json_is_for_programs(void **state)
{
	struct bed *b = *state;
	struct err e;

	b->c.json = true;
	assert_int_equal(cli_do_status(&b->c, &b->where), 0);
	fflush(b->c.out);
	OWN_JSON j = json_parse(b->said, b->said_len, &e);

	assert_string_equal(json_str_at(j, "source"), "objects");
	assert_non_null(json_str_at(j, "problem"));
}

static void a_cluster_without_drover_is_named(void **state)
{
	struct bed *b = *state;

	b->d->host.denied = true;
	verb_errors_begin();
	assert_int_equal(cli_do_status(&b->c, &b->where), 1);
	verb_errors_end("the cluster does not know this user: log in again");
}

static void wrong_arguments_are_refused(void **state)
{
	(void)state;
	assert_int_equal(
		verb_run("drover status", cli_status, NULL, (const char *const[]){"m-1", NULL}), 2);
	verb_assert_said("`drover why NAME` shows one object");
	assert_int_equal(verb_run("drover status", cli_status, NULL,
				  (const char *const[]){"-k", "/nonexistent", NULL}),
			 1);
	verb_assert_said("drover status: /nonexistent");
	assert_int_equal(
		verb_run("drover status", cli_status, NULL, (const char *const[]){"--help", NULL}),
		0);
	verb_assert_said("Examples:");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_screen_shows_every_section),
		cmocka_unit_test(a_large_fleet_fits_and_names_what_shows_more),
		cmocka_unit_test(trouble_is_in_colour),
		cmocka_unit_test(an_empty_fleet_says_so),
		cmocka_unit_test_setup_teardown(the_leader_knows_every_waiting_pod, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_gang_is_one_row_of_all_its_pods, setup, teardown),
		cmocka_unit_test_setup_teardown(without_a_leader_objects_are_shown, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_is_stopped_is_named, setup, teardown),
		cmocka_unit_test_setup_teardown(json_is_for_programs, setup, teardown),
		cmocka_unit_test_setup_teardown(a_cluster_without_drover_is_named, setup, teardown),
		cmocka_unit_test(wrong_arguments_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
