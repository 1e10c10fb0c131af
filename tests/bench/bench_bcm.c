/*
 * bench_bcm: measures how drover polls one BCM head node with 1,000 nodes while all of them are
 * being installed. The head node runs in its own process, reached by plain HTTP over the loopback
 * interface.
 *
 *   bcm_poll_1k_cpu_pct  drover's processor time, in per cent of one core. It reads the states of
 *                        all nodes every 2 s, with a request for each node, and the whole
 *                        inventory every 60 s (here every 20 s, which is more). Reference: jansson
 *                        parsing the same replies
 *   bcm_change_us        processor time to change one member of a device and to copy the rest
 *                        unchanged. Reference: jansson parsing and printing the device
 */
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include "base/http/http_curl.h"
#include "base/httpd/httpd_mhd.h"
#include "base/loop/loop_uv.h"
#include "base/mem.h"
#include "providers/bcm/client.h"
#include "providers/bcm/discover.h"
#include "providers/bcm/status.h"
#include "providers/managed.h"
#include "sim/bcm/head.h"
#include "tests/bench/child_server.h"
#include "tests/bench/entry.h"

#define NODES 1000
#define SECONDS 20
#define CHANGES 20000
#define GOAL_PCT 5
#define GOAL_US 200

static struct {
	struct loop *loop;
	struct loop_group *group;
	struct bcm_statuses *statuses;
	struct bcm *bcm;
	struct loop_timer ask, look, end;
	unsigned answers, inventories, errors;
} run;

static _Noreturn void die(const char *what)
{
	(void)fprintf(stderr, "bench_bcm: %s\n", what);
	exit(1);
}

static double cpu_s(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct secret *password(void)
{
	return secret_from_str("correct horse");
}

/* --- the head node ---------------------------------------------------------------------------- */

static struct sim_head *make_head(struct loop_group *g)
{
	struct sim_head_spec s = {.user = "drover", .password = password()};
	struct sim_head *h = sim_head_new(g, &s);
	char name[16], mac[20], bmc[24];

	for (unsigned i = 0; i < NODES; i++) {
		(void)str_format(name, sizeof(name), "node%04u", i);
		(void)str_format(mac, sizeof(mac), "b8:ce:f6:00:%02x:%02x", i >> 8, i & 255);
		(void)str_format(bmc, sizeof(bmc), "10.0.%u.%u", i / 250, i % 250 + 1);
		(void)sim_head_add(h, name, mac, bmc, NULL, NULL);
	}
	return h;
}

static void server(int out, void *arg)
{
	struct loop *l = loop_uv_new();
	struct loop_group *g = loop_group_new(l, "server");
	struct httpd *d = httpd_new(g);
	struct httpd_mhd *m;
	unsigned port;
	struct err e;

	(void)arg;
	m = httpd_mhd_new(
		d, &(struct httpd_mhd_spec){.address = "127.0.0.1:0", .max_connections = 100}, &e);
	if (!m)
		die(e.text);
	sim_head_routes(make_head(g), d);
	port = httpd_mhd_port(m);
	if (write(out, &port, sizeof(port)) != sizeof(port))
		die("pipe");
	loop_run(l);
	exit(0);
}

/* --- drover's side ---------------------------------------------------------------------------- */

static void on_state(const struct bcm_state *s, const struct err *e, void *arg)
{
	(void)arg;
	(void)s;
	run.answers++;
	run.errors += e != NULL;
}

static void on_ask(void *arg)
{
	char uuid[40], name[16];

	(void)arg;
	for (unsigned i = 0; i < NODES; i++) {
		(void)str_format(uuid, sizeof(uuid), "d0000000-0000-4000-8000-%012x", i + 1);
		(void)str_format(name, sizeof(name), "node%04u", i);
		(void)bcm_status_ask(run.statuses, uuid, name, on_state, NULL);
	}
	loop_timer_start(&run.ask, STATUS_MS);
}

static void on_found(const struct provider_inventory *i, const struct err *e, void *arg)
{
	(void)arg;
	run.errors += e != NULL;
	run.inventories += i && i->machines.n == NODES;
}

static void on_look(void *arg)
{
	(void)arg;
	(void)bcm_discover(run.bcm, on_found, NULL);
	loop_timer_start(&run.look, SECONDS * 1000);
}

static void on_end(void *arg)
{
	(void)arg;
	loop_stop(run.loop);
}

/* Polls the head node for some time; returns the processor time used, in seconds. */
static double poll_for_a_while(unsigned port)
{
	struct loop *l = run.loop = loop_uv_new();
	struct loop_group *g = run.group = loop_group_new(l, "drover");
	struct http *h = http_new(g, http_curl_new(g, 16), 0);
	struct bcm_spec s = {.user = "drover", .password = password(), .plain_ok = true};
	char url[64];
	struct err e;
	double cpu;

	(void)str_format(url, sizeof(url), "http://127.0.0.1:%u", port);
	s.endpoint = url;
	run.bcm = bcm_new(g, h, &s, &e);
	if (!run.bcm)
		die(e.text);
	run.statuses = bcm_statuses_new(g, run.bcm);
	loop_timer_init(&run.ask, g, on_ask, NULL);
	loop_timer_init(&run.look, g, on_look, NULL);
	loop_timer_init(&run.end, g, on_end, NULL);
	loop_timer_start(&run.ask, 0);
	loop_timer_start(&run.look, 0);
	loop_timer_start(&run.end, SECONDS * 1000 + 500);
	cpu = cpu_s();
	loop_run(l);
	cpu = cpu_s() - cpu;
	if (run.errors || !run.inventories ||
	    run.answers < NODES * (SECONDS * 1000 / STATUS_MS - 2))
		die("not everything was answered");
	bcm_statuses_free(run.statuses);
	bcm_free(run.bcm);
	http_free(h);
	loop_group_free(g);
	loop_free(l);
	return cpu;
}

/* Returns the device without the number that jansson cannot represent. */
static const char *in_trees(const char *device)
{
	static char text[8192];
	static const char *of;
	const char *odd = strstr(device, "18446744073709551615");

	if (of != device)
		(void)str_format(text, sizeof(text), "%.*s7%s", (int)(odd - device), device,
				 odd + strlen("18446744073709551615"));
	of = device;
	return text;
}

/* Parses the same replies with jansson: the list of states `lists` times, and the list of devices
 * once. Returns the processor time in seconds. */
static double trees(const char *states, const char *devices, unsigned lists)
{
	double cpu = cpu_s();
	struct err e;

	for (unsigned i = 0; i < lists; i++)
		json_decref(json_parse(states, strlen(states), &e));
	json_decref(json_parse(devices, strlen(devices), &e));
	return cpu_s() - cpu;
}

int main(void)
{
	struct loop *l;
	struct loop_group *g;
	struct sim_head *h;
	const char *device;
	struct buf states, devices;
	struct exact o;
	struct err e;
	double poll, tree, exact_us, tree_us;
	unsigned port;
	pid_t pid;

	mem_init();
	port = child_server_start(server, NULL, &pid);
	poll = poll_for_a_while(port);
	child_server_end(pid);

	l = loop_uv_new();
	g = loop_group_new(l, "texts");
	h = make_head(g);
	device = sim_head_device(sim_head_node(h, "node0001"));
	buf_init(&states, 1u << 20);
	buf_init(&devices, 16u << 20);
	for (unsigned i = 0; i < NODES; i++) {
		buf_printf(&states,
			   "%s{\"ref_device_uuid\":\"d0000000-0000-4000-8000-%012x\","
			   "\"status\":\"DOWN\",\"message\":\"\"}",
			   i ? "," : "[", i + 1);
		buf_puts(&devices, i ? "," : "[");
		buf_puts(&devices, in_trees(device));
	}
	buf_puts(&states, "]");
	buf_puts(&devices, "]");
	tree = trees(states.data, devices.data, SECONDS * 1000 / STATUS_MS);

	exact_us = cpu_s();
	for (unsigned i = 0; i < CHANGES; i++) {
		struct arena *b = arena_new();

		if (exact_read(device, strlen(device), &o, &e) < 0 ||
		    !exact_with(o, "category", "\"c\"", b, &e))
			die(e.text);
		arena_free(b);
	}
	exact_us = (cpu_s() - exact_us) * 1e6 / CHANGES;
	tree_us = cpu_s();
	for (unsigned i = 0; i < CHANGES; i++) {
		json_t *j = json_loads(in_trees(device), 0, NULL);

		free(json_dumps(j, JSON_COMPACT));
		json_decref(j);
	}
	tree_us = (cpu_s() - tree_us) * 1e6 / CHANGES;
	entry_print(&(struct entry){.name = "bcm_poll_1k_cpu_pct",
				    .unit = "%",
				    .better = "lower",
				    .value = poll * 100 / SECONDS,
				    .goal = GOAL_PCT,
				    .reference = "the same replies read by jansson, %",
				    .reference_value = tree * 100 / SECONDS,
				    .n = run.answers});
	entry_print(&(struct entry){.name = "bcm_change_us",
				    .unit = "us",
				    .better = "lower",
				    .value = exact_us,
				    .goal = GOAL_US,
				    .reference = "jansson reads and prints it, us",
				    .reference_value = tree_us,
				    .n = CHANGES});
	buf_done(&states);
	buf_done(&devices);
	sim_head_free(h);
	loop_group_free(g);
	loop_free(l);
	return 0;
}
