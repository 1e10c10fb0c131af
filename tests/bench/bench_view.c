/*
 * bench_view: measures how long the leader's loop is busy with one page of the queue.
 *
 *   view_queue_page_ms  the first page of /v1/queue, with 20,000 waiting pods: the slowest of 20
 *                       requests, from the request to the complete reply
 *
 * Client and server are one process on the simulated loop, so the time is processor time and does
 * not contain TLS. Every fifth pod belongs to a gang of 8. The reference is the time to encode the
 * reply once more with jansson. Argument: number of pods.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/arena.h"
#include "tests/simulated/http_mem.h"
#include "tests/simulated/loop_sim.h"
#include "base/str.h"
#include "controller/view/queue.h"
#include "tests/bench/entry.h"

#define PODS 20000
#define TENANTS 50
#define GANG 8
#define ROUNDS 20
#define ORIGIN "https://view.test:8444"

struct bed {
	struct context c;
	struct http_mem_net *net;
	struct httpd *d;
	struct http *http;
	struct http_peer *peer;
	struct waiting *waiting;
	bool done;
	json_t *reply;
};

static _Noreturn void die(const char *what)
{
	(void)fprintf(stderr, "bench_view: %s\n", what);
	exit(1);
}

static double cpu_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void on_queue(struct httpd_req *q, void *arg)
{
	struct bed *b = arg;
	struct page p;

	if (page_begin(&p, q, "1", view_queue_parameters))
		view_queue_reply(b->waiting, &p, NULL);
}

static void on_published(void *arg)
{
	(void)arg;
}

static void start(struct bed *b)
{
	struct http_peer_spec peer = {.base_url = ORIGIN};
	struct err e;

	b->c.loop = loop_sim_new(7, INT64_C(1764000000000));
	b->c.group = loop_group_new(b->c.loop, "view");
	b->waiting = waiting_new(&b->c, on_published, NULL);
	b->net = http_mem_net_new(b->c.loop);
	b->d = httpd_new(b->c.group);
	httpd_route(b->d, "GET", "/v1/queue", 0, on_queue, b);
	http_mem_serve(b->net, ORIGIN, b->d);
	b->http = http_new(b->c.group,
			   http_mem_transport(b->net, b->c.group, "10.0.0.1", NULL, NULL), 0);
	b->peer = http_peer_new(b->http, &peer, &e);
	if (!b->peer)
		die(e.text);
}

static void stop(struct bed *b)
{
	json_decref(b->reply);
	http_peer_free(b->peer);
	http_free(b->http);
	httpd_free(b->d);
	http_mem_net_free(b->net);
	waiting_free(b->waiting);
	loop_group_free(b->c.group);
	loop_free(b->c.loop);
}

static void publish(struct bed *b, size_t pods)
{
	OWN(arena) a = arena_new();

	waiting_begin(b->waiting);
	for (size_t i = 0; i < pods; i++) {
		struct waiting_gang gang = {
			.name = arena_printf(a, "default/podgroups/train-%zu", i / (5 * GANG)),
			.size = GANG};

		waiting_put(b->waiting,
			    &(struct waiting_row){
				    .tenant = arena_printf(a, "team-%zu",
							   (i % 5 ? i : i / (5 * GANG)) % TENANTS),
				    .at = {.pod = arena_printf(a, "default/train-%zu", i),
					   .place = (int64_t)i + 1,
					   .reason = "NoCapacity",
					   .message = "pool h100: 412 machines fit, all taken (398 "
						      "serving, 9 quarantined, 5 wiping)"},
				    .p50 = INT64_C(1764000000000),
				    .p90 = INT64_C(1764000600000),
				    .gang = i % 5 ? NULL : &gang});
	}
	waiting_end(b->waiting);
	loop_sim_run_until(b->c.loop, loop_now(b->c.loop) + WAITING_MS);
}

static void on_reply(const struct http_reply *r, const struct err *e, void *arg)
{
	struct bed *b = arg;
	struct err bad;

	if (!r || r->status != 200)
		die(e ? e->text : "no page");
	json_decref(b->reply);
	b->reply = json_parse(r->body, r->body_len, &bad);
	b->done = true;
}

static bool is_done(void *arg)
{
	return ((struct bed *)arg)->done;
}

/* Returns the processor time of one page in ms, with the client's parsing of the reply. */
static double page_ms(struct bed *b)
{
	const double from = cpu_ms();

	b->done = false;
	http_start(b->peer, &(struct http_call){.path = "/v1/queue", .done = on_reply, .arg = b});
	if (!loop_sim_run_cond(b->c.loop, is_done, b, loop_now(b->c.loop) + 60000))
		die("no reply");
	return cpu_ms() - from;
}

int main(int argc, char **argv)
{
	const size_t pods = argc > 1 ? strtoul(argv[1], NULL, 10) : PODS;
	struct bed b = {0};
	double slowest = 0, reference;

	start(&b);
	publish(&b, pods);
	for (int i = 0; i < ROUNDS; i++) {
		const double ms = page_ms(&b);

		slowest = ms > slowest ? ms : slowest;
	}
	if (json_array_size(json_object_get(b.reply, "pods")) != PAGE_ROWS)
		die("not a full page");
	reference = cpu_ms();
	free(json_text(b.reply));
	reference = cpu_ms() - reference;
	entry_print(&(struct entry){.name = "view_queue_page_ms",
				    .unit = "ms",
				    .better = "lower",
				    .value = slowest,
				    .goal = 20,
				    .reference = "encoding of the same reply, ms",
				    .reference_value = reference,
				    .n = ROUNDS});
	stop(&b);
	return 0;
}
