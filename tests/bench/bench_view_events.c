/*
 * bench_view_events: measures what 200 readers of /v1/events cost the leader, over TLS, with 1,000
 * machines, as processor time of the leader's process in percent of a core.
 *
 *   view_events_rest_pct    no machine changes
 *   view_events_change_pct  one machine changes each second
 *
 * Each measurement lasts a minute: in this time all machines are compared once, and the readers'
 * grant is reviewed. The readers are another process. The leader's process contains the API server
 * that reviews the readers and sends the changes, so the leader alone costs less. The reference is
 * the number of events that the readers received.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "api/kinds.h"
#include "api/resources.h"
#include "base/arena.h"
#include "base/crypto.h"
#include "base/http/http_curl.h"
#include "base/httpd/httpd_mhd.h"
#include "base/loop/loop_uv.h"
#include "base/mem.h"
#include "base/store/store.h"
#include "base/str.h"
#include "controller/view/attention.h"
#include "controller/view/events.h"
#include "kube/apiserver/apiserver.h"
#include "tests/bench/entry.h"

#define MACHINES 1000
#define READERS 200
#define OPEN_MS 5000
#define MEASURE_MS 60000
#define TOKEN "token-of-the-readers-0123456789"

/* Memory that both processes share */
struct shared {
	/* Port of the view; 0: it does not listen yet */
	volatile unsigned port;
	char ca[4096];
	/* Number of events that all readers received */
	volatile uint64_t events;
};

struct leader {
	struct context c;
	struct shared *s;
	struct store *store;
	struct apiserver *api;
	struct apiserver_token token;
	struct httpd *plain, *tls;
	struct httpd_mhd *plain_l, *tls_l;
	struct waiting *waiting;
	struct view_source source;
	struct view_access *access;
	struct attention *attention;
	struct view_events *events;
	struct http *http;
	struct loop_timer change, phase;
	unsigned changes, phases;
	double cpu, rest, changing;
	uint64_t received, rest_events, change_events;
};

static _Noreturn void die(const char *what)
{
	(void)fprintf(stderr, "bench_view_events: %s\n", what);
	exit(1);
}

static double cpu_seconds(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* --- readers ---------------------------------------------------------------------------------- */

struct readers {
	struct shared *s;
	struct http *http;
	struct secret *token;
	struct loop_timer rest;
	char url[64];
	int open;
};

static int on_data(const char *data, size_t len, void *arg, struct err *e)
{
	struct readers *r = arg;
	const char *at = data;

	(void)e;
	while ((at = memmem(at, len - (size_t)(at - data), "event: ", 7))) {
		r->s->events++;
		at++;
	}
	/* All readers have one token, which is reviewed once if the first reader is alone. */
	if (r->open == 1)
		loop_timer_start(&r->rest, 0);
	return 0;
}

static void on_end(const struct http_reply *r, const struct err *e, void *arg)
{
	(void)arg;
	die(e ? e->text : r->body);
}

static void open_one(struct readers *r)
{
	struct http_peer_spec spec = {.base_url = r->url, .ca_pem = r->s->ca, .local_ok = true};
	struct err e;
	struct http_peer *p = http_peer_new(r->http, &spec, &e);

	if (!p)
		die(e.text);
	r->open++;
	http_start(p, &(struct http_call){.path = "/v1/events",
					  .bearer = r->token,
					  .no_timeout = true,
					  .on_data = on_data,
					  .done = on_end,
					  .arg = r});
}

static void open_rest(void *arg)
{
	struct readers *r = arg;

	while (r->open < READERS)
		open_one(r);
}

static _Noreturn void read_streams(struct shared *s)
{
	struct loop *l = loop_uv_new();
	struct loop_group *g = loop_group_new(l, "readers");
	struct readers r = {.s = s, .token = secret_from_str(TOKEN)};

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (!s->port)
		(void)usleep(10000);
	str_format(r.url, sizeof(r.url), "https://127.0.0.1:%u", s->port);
	r.http = http_new(g, http_curl_new(g, READERS + 10), 0);
	loop_timer_init(&r.rest, g, open_rest, &r);
	open_one(&r);
	loop_run(l);
	exit(1);
}

/* --- leader ----------------------------------------------------------------------------------- */

static void put_machine(struct leader *b, unsigned m, unsigned rack)
{
	char key[64],
		*text = mem_printf(
			"{\"apiVersion\": \"drover.dev/v1alpha1\", \"kind\": \"Machine\", "
			"\"metadata\": {\"resourceVersion\": \"%llu\", \"name\": \"m-%u\", "
			"\"uid\": \"u-%u\", \"labels\": {\"topology.drover.dev/rack\": "
			"\"r%u\"}}, \"spec\": {\"providerRef\": {\"name\": \"hall-a\"}, "
			"\"instanceType\": \"h100x8\", \"bmc\": {\"address\": "
			"\"https://10.0.0.1\", \"tls\": {\"trustOnFirstUse\": true}}}, "
			"\"status\": {\"state\": \"serving\", \"stateSince\": "
			"\"2026-11-01T10:10:00Z\", \"tenant\": {\"name\": \"team-a\", \"uid\": "
			"\"t\"}}}",
			(unsigned long long)store_rev(b->store) + 1, m, m, rack);
	struct store_change c = {
		.key = key, .value = text, .value_len = strlen(text), .if_rev = -1};
	struct err e;
	uint64_t rev;

	str_format(key, sizeof(key), "machines.drover.dev/m-%u", m);
	if (store_commit(b->store, &c, 1, &rev, NULL, NULL, &e) < 0)
		die(e.text);
	free(text);
}

static void put_definition(struct leader *b)
{
	static const char key[] = "customresourcedefinitions.apiextensions.k8s.io/"
				  "machines.drover.dev";
	static const char text[] =
		"{\"apiVersion\": \"apiextensions.k8s.io/v1\", \"kind\": "
		"\"CustomResourceDefinition\", \"metadata\": {\"name\": \"machines.drover.dev\", "
		"\"uid\": \"crd\"}, \"spec\": {\"group\": \"drover.dev\", \"scope\": \"Cluster\", "
		"\"names\": {\"plural\": \"machines\", \"singular\": \"machine\", \"kind\": "
		"\"Machine\"}, \"versions\": [{\"name\": \"v1alpha1\", \"served\": true, "
		"\"storage\": true, \"subresources\": {\"status\": {}}}]}}";
	struct store_change c = {
		.key = key, .value = text, .value_len = sizeof(text) - 1, .if_rev = -1};
	struct err e;
	uint64_t rev;

	if (store_commit(b->store, &c, 1, &rev, NULL, NULL, &e) < 0)
		die(e.text);
}

static void *project(const json_t *o, struct arena *a, void *arg, struct err *e)
{
	void *out = NULL;

	(void)arg;
	return object_decode(&object_kinds[OBJECT_MACHINE], o, a, &out, e) < 0 ? NULL : out;
}

static void on_change(const struct kube_entry *old, const struct kube_entry *new_, void *arg)
{
	struct leader *b = arg;

	b->source.fleet++;
	view_events_changed(b->events, OBJECT_MACHINE, new_ ? new_->name : old->name);
}

static void on_bad(const json_t *object, const struct err *e, void *arg)
{
	(void)object;
	(void)arg;
	die(e->text);
}

static void on_granted(struct httpd_req *q, void *arg)
{
	view_events_reply(((struct leader *)arg)->events, q);
}

static void on_request(struct httpd_req *q, void *arg)
{
	view_access_check(((struct leader *)arg)->access, q, on_granted, arg);
}

static void on_published(void *arg)
{
	(void)arg;
}

/* The host cluster: API server, client, lease and cache. */
static void start_host(struct leader *b)
{
	struct secret *token = secret_from_str(TOKEN);
	struct apiserver_spec api = {.authenticate = true, .tokens = &b->token, .ntokens = 1};
	struct kube_config config = {.local_ok = true, .token = token};
	struct kube_client_spec client = {.config = &config, .name = "host", .plain_ok = true};
	struct err e;

	b->token = (struct apiserver_token){.token = token, .user = "reader"};
	b->store = store_mem_new(b->c.group, 10000);
	put_definition(b);
	b->api = apiserver_new(b->c.group, b->store, &api);
	for (unsigned m = 0; m < MACHINES; m++)
		put_machine(b, m, m / 20);
	b->plain = httpd_new(b->c.group);
	apiserver_routes(b->api, b->plain);
	b->plain_l =
		httpd_mhd_new(b->plain, &(struct httpd_mhd_spec){.address = "127.0.0.1:0"}, &e);
	if (!b->plain_l)
		die(e.text);
	config.server = mem_printf("http://127.0.0.1:%u", httpd_mhd_port(b->plain_l));
	b->http = http_new(b->c.group, http_curl_new(b->c.group, 100), 0);
	b->c.host = kube_client_new(b->c.group, b->http, &client, &e);
	if (!b->c.host)
		die(e.text);
	free(config.server);
	b->c.lease = kube_lease_new(b->c.group, &(struct kube_lease_spec){.client = b->c.host,
									  .ns = "default",
									  .name = "drover",
									  .identity = "bench"});
	b->c.cache[OBJECT_MACHINE] = kube_cache_new(
		b->c.group, &(struct kube_cache_spec){.client = b->c.host,
						      .resource = &object_resources[OBJECT_MACHINE],
						      .project = project,
						      .on_change = on_change,
						      .on_bad = on_bad,
						      .arg = b});
}

static void start_view(struct leader *b)
{
	static const char *const names[] = {"127.0.0.1", NULL};
	const int64_t now = loop_wall(b->c.loop);
	struct secret *ca_key, *key;
	char *ca, *cert;
	struct err e;

	b->source = (struct view_source){.c = &b->c, .waiting = b->waiting, .process = 1};
	b->access = view_access_new(&b->c, NULL);
	b->attention = attention_new(&b->source);
	b->events = view_events_new(&b->source, b->attention, b->access, VIEW_EVENTS_BYTES);
	b->tls = httpd_new(b->c.group);
	httpd_route(b->tls, "GET", "/v1/events", 0, on_request, b);
	if (crypto_ca_new("bench", now, 2, &ca, &ca_key, &e) < 0 ||
	    crypto_cert_issue(&(struct crypto_cert_spec){.ca_pem = ca,
							 .ca_key = ca_key,
							 .cn = "bench",
							 .names = names,
							 .wall_ms = now,
							 .days = 1},
			      &cert, &key, &e) < 0)
		die(e.text);
	b->tls_l =
		httpd_mhd_new(b->tls,
			      &(struct httpd_mhd_spec){
				      .address = "127.0.0.1:0", .cert_pem = cert, .key_pem = key},
			      &e);
	if (!b->tls_l)
		die(e.text);
	str_copy(b->s->ca, sizeof(b->s->ca), ca);
	secret_free(ca_key);
	free(ca);
}

static void on_change_due(void *arg)
{
	struct leader *b = arg;

	put_machine(b, b->changes % MACHINES, 1000 + b->changes);
	b->changes++;
	loop_timer_start(&b->change, 1000);
}

static void on_phase(void *arg)
{
	struct leader *b = arg;
	const double cpu = cpu_seconds();
	const uint64_t received = b->s->events;

	switch (b->phases++) {
	case 0:
		if (!kube_lease_held(b->c.lease) || !kube_cache_synced(b->c.cache[OBJECT_MACHINE]))
			die("the lease is not held, or the cache is not loaded");
		b->s->port = httpd_mhd_port(b->tls_l);
		loop_timer_start(&b->phase, OPEN_MS);
		return;
	case 1:
		if (received != READERS)
			die("not all streams are open");
		break;
	case 2:
		b->rest = cpu - b->cpu;
		b->rest_events = received - b->received;
		loop_timer_start(&b->change, 0);
		break;
	default:
		b->changing = cpu - b->cpu;
		b->change_events = received - b->received;
		loop_stop(b->c.loop);
		return;
	}
	b->cpu = cpu;
	b->received = received;
	loop_timer_start(&b->phase, MEASURE_MS);
}

static void print(const char *name, double seconds, uint64_t events)
{
	entry_print(&(struct entry){.name = name,
				    .unit = "%",
				    .better = "lower",
				    .value = seconds * 1e5 / MEASURE_MS,
				    .goal = 5,
				    .reference = "events received",
				    .reference_value = events ? (double)events : 1,
				    .n = READERS});
}

int main(void)
{
	struct leader b = {.s = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0)};
	pid_t readers;

	if (b.s == MAP_FAILED || (readers = fork()) < 0)
		die("cannot start the readers");
	if (!readers)
		read_streams(b.s);
	b.c.loop = loop_uv_new();
	b.c.group = loop_group_new(b.c.loop, "leader");
	b.c.o.identity = "bench";
	b.c.ready = b.c.leading = true;
	b.waiting = waiting_new(&b.c, on_published, NULL);
	start_host(&b);
	start_view(&b);
	loop_timer_init(&b.change, b.c.group, on_change_due, &b);
	loop_timer_init(&b.phase, b.c.group, on_phase, &b);
	loop_timer_start(&b.phase, OPEN_MS);
	loop_run(b.c.loop);
	(void)kill(readers, SIGKILL);
	(void)waitpid(readers, NULL, 0);
	if (b.change_events < READERS * (MEASURE_MS / 1000 - 2))
		die("events are missing");
	print("view_events_rest_pct", b.rest, b.rest_events);
	print("view_events_change_pct", b.changing, b.change_events);
	return 0;
}
