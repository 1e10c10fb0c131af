/* The traces of claims and Drains, as a collector receives them. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "api/resources.h"
#include "base/str.h"
#include "base/traces/traces.h"
#include "controller/core/counters.h"
#include "controller/core/spans.h"
#include "otlp.pb-c.h"
#include "tests/world/leaving.h"
#include "tests/world/world.h"

#define COLLECTOR "https://collector:4318"
#define SPANS_MAX 2000

struct got {
	char name[40], error[200], machine[64], act[80], server[80], path[200];
	uint8_t trace[16], id[8], parent[8];
	bool root, client;
	int64_t start, end;
};

static struct {
	struct loop_group *group;
	struct httpd *httpd;
	struct got v[SPANS_MAX];
	size_t n;
} collector;

static const char *text_of(const Otlp__Span *s, const char *key)
{
	for (size_t i = 0; i < s->n_attributes; i++)
		if (str_eq(s->attributes[i]->key, key))
			return s->attributes[i]->value->string_value;
	return "";
}

static void on_post(struct httpd_req *q, void *arg)
{
	size_t len;
	const char *body = httpd_body(q, &len);
	Otlp__ExportTraceServiceRequest *r =
		otlp__export_trace_service_request__unpack(NULL, len, (const uint8_t *)body);

	(void)arg;
	assert_non_null(r);
	for (size_t i = 0; i < r->resource_spans[0]->scope_spans[0]->n_spans; i++) {
		const Otlp__Span *s = r->resource_spans[0]->scope_spans[0]->spans[i];
		struct got *g = &collector.v[collector.n];

		if (++collector.n == SPANS_MAX)
			fail_msg("more than %d spans", SPANS_MAX);
		*g = (struct got){.root = !s->parent_span_id.len,
				  .client = s->kind == OTLP__SPAN_KIND__SPAN_KIND_CLIENT,
				  .start = (int64_t)(s->start_time_unix_nano / 1000000),
				  .end = (int64_t)(s->end_time_unix_nano / 1000000)};
		str_copy(g->name, sizeof(g->name), s->name);
		str_copy(g->error, sizeof(g->error), s->status ? s->status->message : "");
		str_copy(g->machine, sizeof(g->machine), text_of(s, "drover.machine"));
		str_copy(g->act, sizeof(g->act), text_of(s, "drover.act"));
		str_copy(g->server, sizeof(g->server), text_of(s, "server.address"));
		str_copy(g->path, sizeof(g->path), text_of(s, "url.path"));
		memcpy(g->trace, s->trace_id.data, 16);
		memcpy(g->id, s->span_id.data, 8);
		if (!g->root)
			memcpy(g->parent, s->parent_span_id.data, 8);
	}
	otlp__export_trace_service_request__free_unpacked(r, NULL);
	httpd_reply(q, 200, "application/x-protobuf", "", 0);
}

static void trace_to(struct replica *r)
{
	const struct spans_spec s = {.endpoint = COLLECTOR};
	struct err e;

	assert_ok(controller_trace(r->controller, &s, &e), &e);
}

static void begin(struct sim_world *w, uint64_t seed, unsigned servers)
{
	world_start(w, seed, servers);
	collector.n = 0;
	collector.group = loop_group_new(w->loop, "collector");
	collector.httpd = httpd_new(collector.group);
	httpd_route(collector.httpd, "POST", "/v1/traces", 1 << 20, on_post, NULL);
	http_mem_serve(w->net, COLLECTOR, collector.httpd);
	trace_to(world_replica(w));
}

static void end(struct sim_world *w)
{
	http_mem_serve(w->net, COLLECTOR, NULL);
	httpd_free(collector.httpd);
	loop_group_free(collector.group);
	world_stop(w);
}

/* Returns the nth span with this name, from 0, in the trace; trace NULL: in any. Fails the test if
 * there is none. */
static const struct got *span(const char *name, const uint8_t *trace, size_t nth)
{
	for (size_t i = 0; i < collector.n; i++)
		if (str_eq(collector.v[i].name, name) &&
		    (!trace || memcmp(collector.v[i].trace, trace, 16) == 0) && nth-- == 0)
			return &collector.v[i];
	fail_msg("no span %s", name);
	return NULL;
}

static size_t count(const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < collector.n; i++)
		n += str_eq(collector.v[i].name, name);
	return n;
}

/* True if g is a request to the server with this URL. */
static bool is_to(const struct got *g, const char *url)
{
	char *origin = http_origin(url);
	bool is = str_eq(g->server, origin);

	free(origin);
	return is;
}

/* Returns the number of requests to the server with this URL. */
static size_t count_to(const char *url)
{
	size_t n = 0;

	for (size_t i = 0; i < collector.n; i++)
		n += is_to(&collector.v[i], url);
	return n;
}

/* Returns the first request of this method to the server whose path begins with `path`, and ends
 * with `tail`. */
static const struct got *request(const char *url, const char *method, const char *path,
				 const char *tail)
{
	for (size_t i = 0; i < collector.n; i++) {
		const struct got *g = &collector.v[i];

		if (is_to(g, url) && str_eq(g->name, method) && str_starts(g->path, path) &&
		    str_ends(g->path, tail))
			return g;
	}
	fail_msg("no %s %s...%s to %s", method, path, tail, url);
	return NULL;
}

/* Returns the name of the span of which g is a part; "": it was not sent. */
static const char *part_of(const struct got *g)
{
	for (size_t i = 0; i < collector.n; i++)
		if (memcmp(collector.v[i].id, g->parent, 8) == 0 &&
		    memcmp(collector.v[i].trace, g->trace, 16) == 0)
			return collector.v[i].name;
	return "";
}

/* Each span but the first has its parent in the same trace. */
static void assert_no_orphan(void)
{
	for (size_t i = 0; i < collector.n; i++) {
		const struct got *g = &collector.v[i];

		if (!g->root && !*part_of(g))
			fail_msg("the parent of %s %s was not sent", g->name, g->path);
	}
}

static void assert_child(const struct got *g, const struct got *parent)
{
	assert_false(g->root);
	assert_memory_equal(g->trace, parent->trace, 16);
	assert_memory_equal(g->parent, parent->id, 8);
}

/* True if the leader's metrics name this trace beside the times that machines spent in a state.
 * trace NULL: any trace. */
static bool has_exemplar(struct sim_world *w, const char *state, const uint8_t *trace)
{
	char head[96], want[64] = "# {trace_id=\"";
	bool found = false;
	struct buf b;

	str_format(head, sizeof(head), "\ndrover_machine_state_seconds_bucket{state=\"%s\",",
		   state);
	if (trace)
		str_hex(want + strlen(want), trace, 16);
	buf_init(&b, 16u << 20);
	metrics_write_open(controller_context(world_leader(w)->controller)->metrics, &b);
	assert_non_null(strstr(b.data, "\ndrover_plans_created 1"));
	for (const char *p = b.data; (p = strstr(p, head)); p++) {
		const char *at = strstr(p, want), *end = strchr(p + 1, '\n');

		found |= at && at < end;
	}
	buf_done(&b);
	return found;
}

static void a_claim_is_one_trace_from_the_pod_to_the_wipe(void **state)
{
	static const char *const coming[] = {"claimed", "imaging", "attaching",
					     "booting", "joining", "gating"};
	static const char *const back[] = {"draining", "stopping",   "isolating", "leaving",
					   "dirty",    "inspecting", "wiping",	  "verifying"};
	const struct got *claim, *returned, *g;
	struct sim_world w;

	(void)state;
	begin(&w, 911, 1);
	world_wait_all(&w, "free", 600);
	/* The first inspection and wipe belong to no claim. */
	world_run(&w, COUNTERS_DELAY_MS);
	assert_int_equal(collector.n, 0);
	assert_false(has_exemplar(&w, "wiping", NULL));
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 900);
	world_run(&w, COUNTERS_DELAY_MS);
	claim = span("claim", NULL, 0);
	assert_true(has_exemplar(&w, "booting", claim->trace));
	assert_true(claim->root);
	assert_string_equal(claim->error, "");
	assert_string_equal(claim->machine, w.servers[0].name);
	assert_true(claim->end - claim->start > 30000);
	for (size_t i = 0; i < sizeof(coming) / sizeof(coming[0]); i++) {
		g = span(coming[i], claim->trace, 0);
		assert_child(g, claim);
		assert_string_equal(g->error, "");
		assert_true(g->start >= claim->start - 1000 && g->end <= claim->end);
	}
	/* An act is part of the phase in which it was sent. */
	assert_child(span("place", claim->trace, 0), span("attaching", claim->trace, 0));
	assert_true(span("place", claim->trace, 0)->client);
	assert_int_equal(count("serving"), 0);
	assert_int_equal(count("return"), 0);

	world_release(&w.servers[0]);
	world_wait_state(&w.servers[0], "draining", 60);
	world_wait_state(&w.servers[0], "free", 900);
	world_run(&w, 10000);
	returned = span("return", NULL, 0);
	assert_child(returned, claim);
	for (size_t i = 0; i < sizeof(back) / sizeof(back[0]); i++)
		assert_child(span(back[i], claim->trace, 0), returned);
	assert_true(span("wiping", NULL, 0)->end <= returned->end);
	/* A second claim is a second trace. */
	world_pod(&w, &w.tenants[1], "next");
	world_wait_running(&w, &w.tenants[1], "next", 900);
	world_run(&w, 10000);
	assert_int_equal(count("claim"), 2);
	assert_true(memcmp(span("claim", NULL, 1)->trace, claim->trace, 16) != 0);
	end(&w);
}

static void a_request_that_changes_a_bmc_is_part_of_its_phase(void **state)
{
	const struct got *post, *booting;
	struct sim_world w;

	(void)state;
	begin(&w, 912, 1);
	world_wait_all(&w, "free", 600);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 900);
	world_run(&w, 60000);
	booting = span("booting", NULL, 0);
	for (size_t i = 0;; i++) {
		post = span("POST", booting->trace, i);
		if (memcmp(post->parent, booting->id, 8) == 0 && is_to(post, w.servers[0].origin))
			break;
	}
	assert_true(post->client);
	assert_true(post->start >= booting->start - 1000 && post->end <= booting->end);
	assert_true(post->start < post->end);
	assert_true(count_to(w.servers[0].origin) > 0);
	assert_string_equal(post->machine, w.servers[0].name);
	/* Reads that succeed are not sent: there are hundreds. */
	assert_int_equal(count("GET"), 0);
	end(&w);
}

#define HOST "/apis/drover.dev/"
#define CORE "/api/v1/"

static void writes_to_api_servers_are_part_of_what_they_belong_to(void **state)
{
	const struct cluster *team;
	const struct got *g;
	struct sim_world w;
	char claim[80];

	(void)state;
	begin(&w, 921, 1);
	world_wait_all(&w, "free", 600);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 900);
	str_copy(claim, sizeof(claim), world_at(&w.servers[0], "status.claimRef.name"));
	team = &w.tenants[0];
	/* What drover writes while the machine serves belongs to no phase. */
	world_run(&w, 3600 * 1000);
	leaving_drain(&w, "fans", 0, "");
	world_wait_state(&w.servers[0], "draining", 60);
	world_wait_state(&w.servers[0], "free", 900);
	leaving_wait_target(&w, "Done");
	world_run(&w, 60000);
	g = request(w.replicas[0].origin, "PATCH", HOST, "/machines/gpu-1/status");
	assert_string_equal(part_of(g), "claimed");
	assert_true(g->client);
	assert_string_equal(g->machine, "gpu-1");
	assert_true(g->start <= g->end);
	g = request(team->origin, "POST", CORE "namespaces/kube-system/secrets", "");
	assert_string_equal(part_of(g), "imaging");
	g = request(team->origin, "PATCH", CORE "nodes/", claim);
	assert_string_equal(part_of(g), "joining");
	g = request(team->origin, "POST", CORE "namespaces/default/pods/train/", "eviction");
	assert_string_equal(part_of(g), "draining");
	assert_string_equal(g->machine, "gpu-1");
	g = request(team->origin, "DELETE", CORE "nodes/", claim);
	assert_string_equal(part_of(g), "leaving");
	g = request(w.replicas[0].origin, "PATCH", HOST, "/drains/fans/status");
	assert_string_equal(part_of(g), "drain");
	assert_string_equal(g->machine, "");
	assert_int_equal(count("GET"), 0);
	assert_no_orphan();
	end(&w);
}

static void on_read(json_t *o, const struct err *e, void *arg)
{
	(void)o;
	(void)e;
	++*(unsigned *)arg;
}

static void read_machine(struct context *c, const char *name, unsigned *done)
{
	struct kube_call *call =
		kube_get(c->host, &object_resources[OBJECT_MACHINE], NULL, name, on_read, done);

	spans_call(c, call, OBJECT_MACHINE, "gpu-1");
}

/* A former leader sends no spans, whatever it had begun. */
static void of_reads_of_api_servers_only_those_of_a_leader_that_fail_are_sent(void **state)
{
	struct sim_world w;
	struct context *c;
	unsigned done = 0;

	(void)state;
	begin(&w, 923, 1);
	world_wait_all(&w, "free", 600);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(&w.servers[0], "imaging", 600);
	c = controller_context(w.replicas[0].controller);
	read_machine(c, "gpu-1", &done);
	read_machine(c, "none", &done);
	world_run(&w, 2000);
	read_machine(c, "nobody", &done);
	c->leading = false;
	for (int i = 0; i < 100 && done < 3; i++)
		world_run(&w, 1);
	c->leading = true;
	assert_int_equal(done, 3);
	world_wait_running(&w, &w.tenants[0], "train", 900);
	world_run(&w, 10000);
	assert_int_equal(count("GET"), 1);
	assert_non_null(strstr(span("GET", NULL, 0)->path, "/machines/none"));
	assert_string_equal(span("GET", NULL, 0)->error, "HTTP status 404");
	end(&w);
}

/* An eviction that a budget refuses is shown with its status. */
static void a_write_that_is_refused_says_why(void **state)
{
	const struct got *g;
	struct sim_world w;

	(void)state;
	begin(&w, 922, 1);
	world_wait_all(&w, "free", 600);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 900);
	leaving_budget(&w, "train");
	leaving_drain(&w, "fans", 0, "");
	world_wait_state(&w.servers[0], "draining", 60);
	world_run(&w, 60000);
	g = request(w.tenants[0].origin, "POST", CORE "namespaces/default/pods/train/", "eviction");
	assert_string_equal(g->error, "HTTP status 429");
	end(&w);
}

static void a_claim_that_fails_says_why(void **state)
{
	const struct got *claim;
	struct sim_world w;

	(void)state;
	begin(&w, 913, 1);
	world_wait_all(&w, "free", 600);
	w.bad_images = 1000;
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(&w.servers[0], "imaging", 600);
	world_wait_state(&w.servers[0], "stopping", 1200);
	world_run(&w, 10000);
	claim = span("claim", NULL, 0);
	assert_true(claim->root);
	assert_non_null(strstr(claim->error, "digest"));
	assert_string_equal(span("imaging", claim->trace, 0)->error, claim->error);
	w.bad_images = 0;
	/* A machine that never served does not return from serving. */
	world_wait_state(&w.servers[0], "free", 1800);
	world_run(&w, 10000);
	assert_child(span("wiping", claim->trace, 0), claim);
	assert_int_equal(count("return"), 0);
	end(&w);
}

static void set_bmc(struct server *b, const char *address)
{
	world_patch_machine(b, json_pack("{s:{s:s}}", "bmc", "address", address));
	world_run(b->world, 1000);
}

/* A request to a BMC of two Machines, as in a chassis, cannot be attributed to either. */
static void requests_to_a_bmc_of_two_machines_are_left_out(void **state)
{
	struct sim_world w;
	char address[128], other[128];

	(void)state;
	begin(&w, 917, 2);
	world_wait_all(&w, "free", 600);
	str_copy(address, sizeof(address), world_at(&w.servers[0], "spec.bmc.address"));
	str_format(other, sizeof(other), "%s/redfish/v1/Systems/2", w.servers[0].origin);
	/* The one that serves is the last that got the address. */
	set_bmc(&w.servers[1], other);
	set_bmc(&w.servers[0], "https://10.9.9.9");
	set_bmc(&w.servers[0], address);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 900);
	world_run(&w, 10000);
	assert_string_equal(span("claim", NULL, 0)->machine, w.servers[0].name);
	assert_int_equal(count_to(w.servers[0].origin), 0);
	end(&w);
}

static void a_drain_that_is_cancelled_is_no_return(void **state)
{
	const struct got *claim;
	struct sim_world w;

	(void)state;
	begin(&w, 918, 1);
	world_wait_all(&w, "free", 600);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 900);
	leaving_budget(&w, "train");
	leaving_drain(&w, "fans", 0, "");
	world_wait_state(&w.servers[0], "draining", 60);
	leaving_cancel(&w, "fans");
	world_wait_state(&w.servers[0], "serving", 30);
	world_run(&w, 10000);
	claim = span("claim", NULL, 0);
	assert_child(span("draining", claim->trace, 0), claim);
	assert_int_equal(count("return"), 0);
	end(&w);
}

static void a_replica_that_does_not_lead_sends_nothing(void **state)
{
	struct sim_world w;

	(void)state;
	begin(&w, 919, 1);
	trace_to(world_replica(&w));
	world_wait_all(&w, "free", 600);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 900);
	world_release(&w.servers[0]);
	world_wait_state(&w.servers[0], "draining", 60);
	world_wait_state(&w.servers[0], "free", 900);
	world_run(&w, 10000);
	assert_int_equal(count("imaging"), 1);
	assert_int_equal(count("claim"), 1);
	assert_int_equal(count("return"), 1);
	end(&w);
}

static void a_drain_is_a_trace_with_its_machines(void **state)
{
	const struct got *drain, *machine;
	struct sim_world w;

	(void)state;
	begin(&w, 914, 1);
	world_wait_all(&w, "free", 600);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 900);
	leaving_drain(&w, "fans", 0, "");
	world_wait_state(&w.servers[0], "draining", 60);
	world_wait_state(&w.servers[0], "free", 900);
	world_run(&w, 60000);
	drain = span("drain", NULL, 0);
	assert_true(drain->root);
	machine = span("drain machine", drain->trace, 0);
	assert_child(machine, drain);
	assert_string_equal(machine->machine, w.servers[0].name);
	end(&w);
}

/* Another leader continues the trace: its identifiers are derived from the claim. */
static void a_new_leader_continues_the_trace(void **state)
{
	const struct got *claim;
	struct sim_world w;

	(void)state;
	begin(&w, 915, 1);
	world_wait_all(&w, "free", 600);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(&w.servers[0], "booting", 900);
	world_run(&w, 6000);
	world_kill(&w.replicas[0]);
	trace_to(world_replica(&w));
	world_wait_running(&w, &w.tenants[0], "train", 900);
	world_run(&w, 60000);
	claim = span("claim", NULL, 0);
	assert_int_equal(count("claim"), 1);
	assert_child(span("imaging", claim->trace, 0), claim);
	assert_child(span("booting", claim->trace, 0), claim);
	assert_child(span("gating", claim->trace, 0), claim);
	end(&w);
}

static void a_collector_that_hangs_delays_nothing(void **state)
{
	struct sim_world w;

	(void)state;
	begin(&w, 916, 1);
	http_mem_hang(w.net, COLLECTOR, true);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 900);
	world_check_serving(&w, &w.tenants[0], "train");
	assert_int_equal(collector.n, 0);
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_claim_is_one_trace_from_the_pod_to_the_wipe),
		cmocka_unit_test(a_request_that_changes_a_bmc_is_part_of_its_phase),
		cmocka_unit_test(writes_to_api_servers_are_part_of_what_they_belong_to),
		cmocka_unit_test(of_reads_of_api_servers_only_those_of_a_leader_that_fail_are_sent),
		cmocka_unit_test(a_write_that_is_refused_says_why),
		cmocka_unit_test(a_claim_that_fails_says_why),
		cmocka_unit_test(requests_to_a_bmc_of_two_machines_are_left_out),
		cmocka_unit_test(a_drain_is_a_trace_with_its_machines),
		cmocka_unit_test(a_drain_that_is_cancelled_is_no_return),
		cmocka_unit_test(a_new_leader_continues_the_trace),
		cmocka_unit_test(a_replica_that_does_not_lead_sends_nothing),
		cmocka_unit_test(a_collector_that_hangs_delays_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
