/* Tests the stream of changes: what readers get, when their streams end, and what is shared. */
#include "tests/unit/controller/bench.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "controller/claims/waiting.h"
#include "controller/view/events.h"

#define ORIGIN "https://view.test:8444"
#define RING ((size_t)256 << 10)

struct reader {
	struct buf got;
	struct http_req *q;
	bool done, paced;
	int status;
};

struct bed {
	struct bench *d;
	struct waiting *waiting;
	struct view_source source;
	struct attention *attention;
	struct view_access *access;
	struct view_events *events;
	struct httpd *server;
	struct http_peer *peer;
	struct secret *token;
	struct reader r[VIEW_EVENTS_STREAMS + 1];
	/* Number of requests that may read so far */
	int granted;
};

static void on_granted(struct httpd_req *q, void *arg)
{
	struct bed *b = arg;

	b->granted++;
	view_events_reply(b->events, q);
}

static void on_request(struct httpd_req *q, void *arg)
{
	view_access_check(((struct bed *)arg)->access, q, on_granted, arg);
}

static void on_published(void *arg)
{
	(void)arg;
}

static struct bed *changes_to;

static void on_change(struct bench *d, enum object_kind_id kind, const char *name, void *object)
{
	bench_to_provisioner(d, kind, name, object);
	if (changes_to) {
		changes_to->source.fleet++;
		attention_changed(changes_to->attention, kind, name);
		view_events_changed(changes_to->events, kind, name);
	}
}

static int setup(void **state)
{
	struct bed *b = calloc(1, sizeof(*b));
	struct http_peer_spec peer = {.base_url = ORIGIN};
	struct kube_lease_spec lease = {
		.ns = BENCH_NS, .name = "drover-controller", .identity = "me"};
	struct bench *d;
	struct err e;

	assert_int_equal(bench_setup_fleet((void **)&b->d), 0);
	d = b->d;
	lease.client = d->c.host;
	d->c.o.identity = "me";
	d->c.lease = kube_lease_new(d->g, &lease);
	d->c.ready = d->c.leading = true;
	d->on_change = on_change;
	changes_to = b;
	b->waiting = waiting_new(&d->c, on_published, b);
	b->source = (struct view_source){.c = &d->c, .waiting = b->waiting, .process = 1};
	b->access = view_access_new(&d->c, d->tenants);
	b->attention = attention_new(&b->source);
	b->events = view_events_new(&b->source, b->attention, b->access, RING);
	b->server = httpd_new(d->g);
	httpd_route(b->server, "GET", "/v1/events", 0, on_request, b);
	http_mem_serve(d->net, ORIGIN, b->server);
	b->peer = http_peer_new(d->admin, &peer, &e);
	bench_must(d, &d->host, "POST", "/api/v1/namespaces/drover-system/serviceaccounts",
		   "{'metadata': {'name': 'reader'}}");
	bench_must(d, &d->host, "POST",
		   "/api/v1/namespaces/drover-system/serviceaccounts/reader/token",
		   "{'spec': {'audiences': ['drover.dev/view']}}");
	OWN_JSON made = json_parse(d->text, strlen(d->text), &e);

	b->token = secret_from_str(json_str_at(made, "status", "token"));
	bench_run(d, 5000);
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bed *b = *state;
	struct bench *d = b->d;

	changes_to = NULL;
	for (size_t i = 0; i <= VIEW_EVENTS_STREAMS; i++) {
		if (!b->r[i].done)
			http_cancel(b->r[i].q);
		buf_done(&b->r[i].got);
	}
	secret_free(b->token);
	http_peer_free(b->peer);
	httpd_free(b->server);
	view_events_free(b->events);
	attention_free(b->attention);
	view_access_free(b->access);
	waiting_free(b->waiting);
	kube_lease_free(d->c.lease);
	d->c.lease = NULL;
	free(b);
	return bench_teardown((void **)&d);
}

static int on_data(const char *data, size_t len, void *arg, struct err *e)
{
	struct reader *r = arg;

	(void)e;
	buf_put(&r->got, data, len);
	return 0;
}

static void on_done(const struct http_reply *reply, const struct err *e, void *arg)
{
	struct reader *r = arg;

	r->done = true;
	r->q = NULL;
	r->status = reply && !e ? reply->status : -1;
	if (reply && reply->status != 200)
		buf_puts(&r->got, reply->body);
}

/* Starts reader n and waits until it has the first lines of the stream. */
static struct reader *open_stream(struct bed *b, size_t n, const char *path)
{
	struct reader *r = &b->r[n];
	struct http_call c = {.path = path,
			      .bearer = b->token,
			      .no_timeout = true,
			      .on_data = on_data,
			      .paced = r->paced,
			      .done = on_done,
			      .arg = r};

	buf_init(&r->got, 1 << 20);
	r->q = http_start(b->peer, &c);
	bench_run(b->d, 200);
	return r;
}

static unsigned count(const struct reader *r, const char *text)
{
	unsigned n = 0;

	for (const char *s = r->got.data; (s = strstr(s, text)); s += strlen(text))
		n++;
	return n;
}

/* Returns the data of the last event of this name; the caller owns it. NULL: no such event. */
static json_t *last(const struct reader *r, const char *event)
{
	OWN(arena) a = arena_new();
	const char *name = arena_printf(a, "event: %s\n", event), *at = NULL, *end;
	struct err e;

	for (const char *s = r->got.data; (s = strstr(s, name)); s++)
		at = s;
	at = at ? strstr(at, "data: ") : NULL;
	end = at ? strchr(at, '\n') : NULL;
	return end ? json_parse(at + 6, (size_t)(end - at) - 6, &e) : NULL;
}

static void rack(struct bed *b, const char *name)
{
	OWN(arena) a = arena_new();

	bench_patch(b->d, OBJECT_MACHINE, "m-1",
		    arena_printf(a, "{'metadata': {'labels': {'topology.drover.dev/rack': '%s'}}}",
				 name));
}

static void tenant(struct bed *b, const char *name)
{
	OWN(arena) a = arena_new();

	bench_status(b->d, OBJECT_MACHINE, "m-1",
		     arena_printf(a, "{'state': 'serving', 'tenant': {'name': '%s', 'uid': 't'}}",
				  name));
}

static void queue(struct bed *b, int n)
{
	waiting_begin(b->waiting);
	for (int i = 0; i < n; i++)
		waiting_put(b->waiting, &(struct waiting_row){
						.tenant = i % 2 ? "team-b" : "team-a",
						.at = {.pod = arena_printf(b->d->a, "ns/p-%d", i),
						       .place = i + 1,
						       .reason = "NoCapacity",
						       .message = "a\n\nevent: hello\r\x1b[31m"}});
	waiting_end(b->waiting);
	bench_run(b->d, WAITING_MS + 2000);
}

/* --- events ----------------------------------------------------------------------------------- */

static void the_first_event_has_the_versions_of_the_lists(void **state)
{
	struct bed *b = *state;
	const struct reader *r = open_stream(b, 0, "/v1/events");
	char version[VIEW_VERSION_SIZE];

	assert_true(str_starts(r->got.data, "retry: 3000\n\nevent: hello\ndata: {"));
	OWN_JSON hello = last(r, "hello");

	assert_string_equal(json_str_at(hello, "leader"), "me");
	assert_string_equal(json_str_at(hello, "fleet"), view_source_fleet(&b->source, version));
	assert_string_equal(json_str_at(hello, "queue"), view_source_queue(&b->source, version));
	assert_string_equal(json_str_at(hello, "attention"),
			    attention_version(b->attention, version));
	bench_run(b->d, 31000);
	assert_int_equal(count(r, ": ok\n\n"), 2);
	assert_int_equal(count(r, "event: "), 1);
}

static void changes_of_a_machine_within_a_second_are_one_row(void **state)
{
	struct bed *b = *state;
	const struct reader *r = open_stream(b, 0, "/v1/events"),
			    *other = open_stream(b, 1, "/v1/events?only=queue");

	bench_run(b->d, 3000);
	for (int i = 0; i < 10; i++)
		rack(b, i % 2 ? "r-odd" : "r-even");
	bench_run(b->d, 3000);
	assert_in_range(count(r, "event: fleet\n"), 1, 2);
	OWN_JSON fleet = last(r, "fleet");
	const json_t *m = json_array_get(json_object_get(fleet, "machines"), 0);

	assert_int_equal(json_array_size(json_object_get(fleet, "machines")), 1);
	assert_string_equal(json_str_at(m, "name"), "m-1");
	assert_string_equal(json_str_at(m, "rack"), "r-odd");
	assert_int_equal(json_array_size(json_object_get(fleet, "removed")), 0);
	assert_non_null(strstr(r->got.data, json_str_at(fleet, "version")));
	assert_int_equal(count(other, "event: fleet\n"), 0);
	/* A change that is not visible in the row causes no event. */
	const unsigned before = count(r, "event: fleet\n");

	bench_patch(b->d, OBJECT_MACHINE, "m-1", "{'metadata': {'annotations': {'a/b': 'c'}}}");
	bench_run(b->d, 3000);
	assert_int_equal(count(r, "event: fleet\n"), before);
}

static void a_deleted_machine_is_named(void **state)
{
	struct bed *b = *state;
	const struct reader *r;

	bench_patch(b->d, OBJECT_MACHINE, "m-1", "{'metadata': {'finalizers': null}}");
	r = open_stream(b, 0, "/v1/events?only=fleet");
	bench_must(b->d, &b->d->host, "DELETE", "/apis/drover.dev/v1alpha1/machines/m-1", NULL);
	bench_run(b->d, 3000);
	OWN_JSON fleet = last(r, "fleet");

	assert_non_null(fleet);
	assert_string_equal(json_string_value(json_array_get(json_object_get(fleet, "removed"), 0)),
			    "m-1");
	assert_int_equal(json_array_size(json_object_get(fleet, "machines")), 0);
}

static void an_explanation_that_changes_by_time_is_sent(void **state)
{
	struct bed *b = *state;
	const struct reader *r;
	char now[STR_TIME_SIZE];
	OWN(arena) a = arena_new();

	bench_status(b->d, OBJECT_MACHINE, "m-1",
		     arena_printf(a, "{'state': 'isolating', 'stateSince': '%s'}",
				  str_time(now, loop_wall(b->d->l))));
	r = open_stream(b, 0, "/v1/events");
	bench_run(b->d, 300000);
	assert_int_equal(count(r, "event: fleet\n"), 1);
}

static void the_first_pods_of_a_new_queue_are_sent(void **state)
{
	struct bed *b = *state;
	const struct reader *r = open_stream(b, 0, "/v1/events"),
			    *other = open_stream(b, 1, "/v1/events?only=fleet");

	queue(b, 120);
	OWN_JSON q = last(r, "queue");
	const json_t *first = json_object_get(q, "first");
	char version[VIEW_VERSION_SIZE];

	assert_int_equal(json_int_at(q, "total"), 120);
	assert_int_equal(json_array_size(first), VIEW_EVENTS_PODS);
	assert_string_equal(json_str_at(json_array_get(first, 0), "pod"), "ns/p-0");
	assert_string_equal(json_str_at(q, "version"), view_source_queue(&b->source, version));
	/* Text of others cannot begin an event or a line. */
	assert_int_equal(count(r, "event: hello\n"), 1);
	assert_null(strchr(r->got.data, '\r'));
	assert_null(strchr(r->got.data, '\x1b'));
	assert_int_equal(count(other, "event: queue\n"), 0);
}

static void a_reader_of_one_tenant_gets_its_rows_only(void **state)
{
	struct bed *b = *state;
	const struct reader *a = open_stream(b, 0, "/v1/events?tenant=team-a"),
			    *c = open_stream(b, 1, "/v1/events?tenant=team-b");

	queue(b, 3);
	OWN_JSON qa = last(a, "queue");
	OWN_JSON qc = last(c, "queue");

	assert_int_equal(json_int_at(qa, "total"), 2);
	assert_int_equal(json_int_at(qc, "total"), 1);
	tenant(b, "team-a");
	bench_run(b->d, 3000);
	assert_int_equal(count(a, "event: fleet\n"), 1);
	assert_int_equal(count(c, "event: fleet\n"), 0);
	tenant(b, "team-b");
	bench_run(b->d, 3000);
	OWN_JSON fa = last(a, "fleet");
	OWN_JSON fc = last(c, "fleet");

	assert_int_equal(json_array_size(json_object_get(fa, "machines")), 0);
	assert_string_equal(json_string_value(json_array_get(json_object_get(fa, "removed"), 0)),
			    "m-1");
	assert_int_equal(json_array_size(json_object_get(fc, "machines")), 1);
	assert_int_equal(json_array_size(json_object_get(fc, "removed")), 0);
}

static void what_begins_and_ends_to_need_attention_is_sent(void **state)
{
	struct bed *b = *state;
	const struct reader *r = open_stream(b, 0, "/v1/events?brief=true"),
			    *a = open_stream(b, 1, "/v1/events?tenant=team-a&only=attention"),
			    *fleet = open_stream(b, 2, "/v1/events?only=fleet");
	char version[VIEW_VERSION_SIZE];

	bench_patch(b->d, OBJECT_PROVIDER, "hall-a", "{'spec': {'paused': true}}");
	bench_run(b->d, 3000);
	OWN_JSON begins = last(r, "attention");
	const json_t *row = json_array_get(json_object_get(begins, "rows"), 0);

	assert_string_equal(json_str_at(row, "object"), "provider/hall-a");
	assert_string_equal(json_str_at(row, "need"), "Held");
	assert_string_equal(json_str_at(begins, "version"),
			    attention_version(b->attention, version));
	bench_status(b->d, OBJECT_PROVIDER, "hall-a",
		     "{'conditions': [{'type': 'Valid', 'status': 'False', 'reason': 'Invalid', "
		     "'message': 'm', 'lastTransitionTime': '2025-01-02T03:04:05Z'}]}");
	bench_run(b->d, 3000);
	OWN_JSON changes = last(r, "attention");

	assert_string_equal(
		json_str_at(json_array_get(json_object_get(changes, "rows"), 0), "need"), "Person");
	bench_status(b->d, OBJECT_PROVIDER, "hall-a", "{'conditions': []}");
	bench_patch(b->d, OBJECT_PROVIDER, "hall-a", "{'spec': {'paused': false}}");
	bench_run(b->d, 3000);
	OWN_JSON ends = last(r, "attention");

	assert_int_equal(json_array_size(json_object_get(ends, "rows")), 0);
	assert_string_equal(json_string_value(json_array_get(json_object_get(ends, "removed"), 0)),
			    "provider/hall-a");
	bench_run(b->d, 120000);
	assert_int_equal(count(r, "event: attention\n"), 3);
	assert_int_equal(count(a, "event: attention\n"), 0);
	assert_int_equal(count(fleet, "event: attention\n"), 0);
}

static void a_brief_reader_gets_no_event_for_what_it_does_not_show(void **state)
{
	struct bed *b = *state;
	const struct reader *r = open_stream(b, 0, "/v1/events?brief=true"),
			    *full = open_stream(b, 1, "/v1/events");

	bench_status(b->d, OBJECT_MACHINE, "m-1",
		     "{'power': {'state': 'On', 'observedTime': '2026-01-02T03:04:05Z'}}");
	bench_run(b->d, 3000);
	assert_int_equal(count(full, "event: fleet\n"), 1);
	assert_int_equal(count(r, "event: fleet\n"), 0);
	tenant(b, "team-a");
	bench_run(b->d, 3000);
	OWN_JSON fleet = last(r, "fleet");
	const json_t *m = json_array_get(json_object_get(fleet, "machines"), 0);

	assert_string_equal(json_str_at(m, "tenant"), "team-a");
	assert_null(json_object_get(m, "power"));
	assert_null(json_object_get(m, "conditions"));
	queue(b, 3);
	queue(b, 3);
	assert_int_equal(count(full, "event: queue\n"), 2);
	assert_int_equal(count(r, "event: queue\n"), 1);
}

/* --- more machines than a slice --------------------------------------------------------------- */

#define MANY 250
/* Callbacks of the loop from the begin of a round to its end, at most */
#define STEPS 25

static void many_machines(struct bed *b)
{
	for (int i = 2; i <= MANY; i++) {
		OWN(arena) a = arena_new();

		bench_put(b->d, arena_printf(a,
					     "{'kind': 'Machine', 'metadata': {'name': 'm-%d'}, "
					     "'spec': {'providerRef': {'name': 'hall-a'}, "
					     "'instanceType': 'h100x8', 'bmc': {'address': "
					     "'https://10.0.0.%d', 'tls': {'trustOnFirstUse': "
					     "true}}}, 'status': {'state': 'free'}}",
					     i, i));
	}
}

static bool is_over(void *arg)
{
	return --*(int *)arg < 0;
}

/* Runs this number of callbacks of the loop. */
static void step(struct bed *b, int callbacks)
{
	loop_sim_run_cond(b->d->l, is_over, &callbacks, loop_now(b->d->l) + 1000);
}

/* Changes the cached object of a machine, as if its watch had delivered the change now: both forms
 * of its row change. */
static void change_now(struct bed *b, const char *name, const char *type)
{
	struct machine *m = CTX_GET(&b->d->c, OBJECT_MACHINE, machine, name);

	m->spec.instance_type = type;
	m->status.state_since += 1000;
	b->source.fleet++;
	view_events_changed(b->events, OBJECT_MACHINE, name);
}

/* Changes machines of the first, second and last slice, and returns their new instance type. */
static const char *change_three(struct bed *b, const char *round, int callbacks)
{
	const char *type = arena_printf(b->d->a, "%s-%d", round, callbacks);

	change_now(b, "m-1", type);
	change_now(b, "m-120", type);
	change_now(b, "m-250", type);
	return type;
}

static void a_change_during_the_slices_is_sent_once(void **state)
{
	struct bed *b = *state;
	const struct reader *r;

	many_machines(b);
	r = open_stream(b, 0, "/v1/events?only=fleet");
	bench_run(b->d, 2799);
	assert_int_equal(count(r, "event: fleet\n"), 0);
	for (int callbacks = 0; callbacks < STEPS; callbacks++) {
		const int64_t next = loop_now(b->d->l) + 3000;
		const char *type;

		view_events_changed(b->events, OBJECT_DRAIN, "d");
		step(b, callbacks);
		type = change_three(b, "round", callbacks);
		loop_sim_run_until(b->d->l, next);
		assert_int_equal(count(r, arena_printf(b->d->a, "\"%s\"", type)), 3);
	}
}

static void only_the_last_slice_has_the_version_of_its_round(void **state)
{
	struct bed *b = *state;
	const struct reader *r;
	OWN_JSON hello = NULL;
	OWN_JSON fleet = NULL;
	char version[VIEW_VERSION_SIZE];
	const char *before;

	many_machines(b);
	r = open_stream(b, 0, "/v1/events?only=fleet");
	hello = last(r, "hello");
	before = json_str_at(hello, "fleet");
	assert_int_equal(count(r, before), 1);
	for (int i = 1; i <= MANY; i++)
		change_now(b, arena_printf(b->d->a, "m-%d", i), "gb200");
	view_source_fleet(&b->source, version);
	bench_run(b->d, 2000);
	assert_int_equal(count(r, "event: fleet\n"), 3);
	assert_int_equal(count(r, "\"gb200\""), MANY);
	/* in the lines id and data */
	assert_int_equal(count(r, before), 1 + 2 * 2);
	fleet = last(r, "fleet");
	assert_string_equal(json_str_at(fleet, "version"), version);
	assert_int_equal(json_array_size(json_object_get(fleet, "machines")), 50);
}

static void a_change_while_the_first_stream_begins_is_sent(void **state)
{
	struct bed *b = *state;

	many_machines(b);
	bench_run(b->d, 2000);
	for (int callbacks = 0; callbacks < STEPS; callbacks++) {
		const char *type;
		struct reader *r = &b->r[callbacks];
		const bool brief = callbacks % 2;
		struct http_call c = {.path = brief ? "/v1/events?only=fleet&brief=true"
						    : "/v1/events?only=fleet",
				      .bearer = b->token,
				      .no_timeout = true,
				      .on_data = on_data,
				      .done = on_done,
				      .arg = r};

		buf_init(&r->got, 1 << 20);
		r->q = http_start(b->peer, &c);
		while (b->granted <= callbacks)
			step(b, 1);
		step(b, callbacks);
		type = change_three(b, "first", callbacks);
		bench_run(b->d, 3000);
		assert_int_equal(count(r, arena_printf(b->d->a, "\"%s\"", type)), brief ? 0 : 3);
		assert_int_equal(count(r, "\"name\""), 3);
		http_cancel(r->q);
		r->q = NULL;
		bench_run(b->d, 1000);
	}
}

/* --- readers that are slow, leave, or lose the right ------------------------------------------ */

static void a_reader_behind_the_ring_is_disconnected_and_others_go_on(void **state)
{
	struct bed *b = *state;
	const struct reader *slow, *quick;

	b->r[0].paced = true; /* receives one piece, then no more */
	slow = open_stream(b, 0, "/v1/events");
	quick = open_stream(b, 1, "/v1/events");
	/* The transport buffers 256 KiB for the slow reader, then the ring fills. */
	for (int i = 0; i < 100; i++)
		queue(b, 60 + i % 2);
	assert_false(quick->done);
	assert_int_equal(count(quick, "event: queue\n"), 100);
	assert_int_equal(count(slow, "event: queue\n"), 0);
	http_want(b->r[0].q);
	for (int i = 0; i < 10000 && !slow->done; i++) {
		http_want(b->r[0].q);
		bench_run(b->d, 10);
	}
	assert_true(slow->done);
	assert_int_equal(slow->status, -1);
	assert_true(count(slow, "event: queue\n") < count(quick, "event: queue\n"));
}

static void a_reader_that_leaves_is_forgotten(void **state)
{
	struct bed *b = *state;
	const struct reader *r;

	open_stream(b, 0, "/v1/events?tenant=team-a");
	r = open_stream(b, 1, "/v1/events?tenant=team-b");
	http_cancel(b->r[0].q);
	b->r[0].q = NULL;
	tenant(b, "team-b");
	bench_run(b->d, 3000);
	assert_int_equal(count(r, "event: fleet\n"), 1);
	http_cancel(b->r[1].q);
	b->r[1].q = NULL;
	bench_run(b->d, 3000);
	tenant(b, "team-a");
	bench_run(b->d, 3000);
	r = open_stream(b, 2, "/v1/events");
	bench_run(b->d, 61000);
	assert_int_equal(count(r, "event: fleet\n"), 0); /* hello already had the change */
}

static void streams_end_with_the_leadership(void **state)
{
	struct bed *b = *state;
	const struct reader *r = open_stream(b, 0, "/v1/events");

	b->d->c.leading = false;
	bench_run(b->d, 2000);
	assert_true(r->done);
	assert_int_equal(r->status, 200);
}

static void a_stream_whose_caller_lost_the_right_ends(void **state)
{
	struct bed *b = *state;
	const struct reader *r = open_stream(b, 0, "/v1/events"),
			    *s = open_stream(b, 1, "/v1/events");

	bench_run(b->d, 3 * VIEW_GRANT_MS);
	assert_false(r->done);
	bench_must(b->d, &b->d->host, "DELETE",
		   "/api/v1/namespaces/drover-system/serviceaccounts/reader", NULL);
	bench_run(b->d, VIEW_GRANT_MS + 2 * VIEW_EVENTS_ALIVE_MS);
	assert_true(r->done);
	assert_true(s->done);
	assert_int_equal(r->status, 200);
}

static void a_host_cluster_that_does_not_answer_ends_streams_later(void **state)
{
	struct bed *b = *state;
	const struct reader *r = open_stream(b, 0, "/v1/events");

	b->d->host.denied_at = "tokenreviews";
	bench_run(b->d, 2 * VIEW_GRANT_MS);
	assert_false(r->done);
	bench_run(b->d, 5 * VIEW_GRANT_MS);
	assert_true(r->done);
}

static void streams_are_limited(void **state)
{
	struct bed *b = *state;
	const struct reader *r;

	for (size_t i = 0; i < VIEW_EVENTS_STREAMS; i++)
		open_stream(b, i, "/v1/events?only=queue");
	assert_false(b->r[VIEW_EVENTS_STREAMS - 1].done);
	r = open_stream(b, VIEW_EVENTS_STREAMS, "/v1/events");
	assert_true(r->done);
	assert_int_equal(r->status, 503);
}

static void bad_parameters_are_refused(void **state)
{
	static const char *const bad[] = {"limit=3", "only=pods", "only=", "tenant=", "brief=1"};
	struct bed *b = *state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const struct reader *r =
			open_stream(b, i, arena_printf(b->d->a, "/v1/events?%s", bad[i]));

		assert_int_equal(r->status, 400);
	}
	assert_non_null(strstr(b->r[0].got.data, "limit: unknown"));
}

static void streams_end_before_the_server(void **state)
{
	struct bed *b = *state;
	const struct reader *r = open_stream(b, 0, "/v1/events");

	view_events_free(b->events);
	b->events = NULL;
	changes_to = NULL;
	bench_run(b->d, 1000);
	assert_true(r->done);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(the_first_event_has_the_versions_of_the_lists),
		T(changes_of_a_machine_within_a_second_are_one_row),
		T(a_deleted_machine_is_named),
		T(an_explanation_that_changes_by_time_is_sent),
		T(the_first_pods_of_a_new_queue_are_sent),
		T(a_reader_of_one_tenant_gets_its_rows_only),
		T(what_begins_and_ends_to_need_attention_is_sent),
		T(a_brief_reader_gets_no_event_for_what_it_does_not_show),
		T(a_change_during_the_slices_is_sent_once),
		T(only_the_last_slice_has_the_version_of_its_round),
		T(a_change_while_the_first_stream_begins_is_sent),
		T(a_reader_behind_the_ring_is_disconnected_and_others_go_on),
		T(a_reader_that_leaves_is_forgotten),
		T(streams_end_with_the_leadership),
		T(a_stream_whose_caller_lost_the_right_ends),
		T(a_host_cluster_that_does_not_answer_ends_streams_later),
		T(streams_are_limited),
		T(bad_parameters_are_refused),
		T(streams_end_before_the_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
