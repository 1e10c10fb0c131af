/*
 * bench_http: measures drover's HTTP client with 2,000 hosts. One process on one loop sends 10
 * requests to each host, one after the other. The server, in another process, answers after 200 ms.
 *
 *   http_fanout_ratio   wall time relative to the ideal of 10 × 200 ms
 *   http_fanout_cpu_us  the client's processor time for each request
 *
 * The hosts are addresses in 127.0.0.0/8 on one listener, each a peer with its own connection.
 * Argument: number of hosts.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/http/http_curl.h"
#include "base/httpd/httpd_mhd.h"
#include "base/loop/loop_uv.h"
#include "base/mem.h"
#include "base/str.h"
#include "tests/bench/child_server.h"

#define HOSTS 2000
#define ROUNDS 10
#define DELAY_MS 200

static _Noreturn void die(const char *what)
{
	(void)fprintf(stderr, "bench_http: %s\n", what);
	exit(1);
}

/* --- server ----------------------------------------------------------------------------------- */

struct answer {
	struct httpd_req *q;
	struct loop_timer timer;
};

static void on_time(void *arg)
{
	struct answer *a = arg;

	httpd_reply_json(a->q, 200, "{\"PowerState\":\"On\"}");
	free(a);
}

static void serve(struct httpd_req *q, void *arg)
{
	struct answer *a = mem_new(struct answer);

	a->q = q;
	loop_timer_init(&a->timer, arg, on_time, a);
	loop_timer_start(&a->timer, DELAY_MS);
}

static void server(int out, void *arg)
{
	const unsigned hosts = *(const unsigned *)arg;
	struct loop *l = loop_uv_new();
	struct loop_group *g = loop_group_new(l, "server");
	struct httpd *d = httpd_new(g);
	struct httpd_mhd *m;
	unsigned port;
	struct err e;

	m = httpd_mhd_new(
		d, &(struct httpd_mhd_spec){.address = "0.0.0.0:0", .max_connections = hosts + 100},
		&e);
	if (!m)
		die(e.text);
	httpd_route(d, "GET", "/redfish/v1/Systems/1", 0, serve, g);
	port = httpd_mhd_port(m);
	if (write(out, &port, sizeof(port)) != sizeof(port))
		die("pipe");
	loop_run(l);
	exit(0);
}

/* --- client ----------------------------------------------------------------------------------- */

struct host {
	struct http_peer *peer;
	unsigned rounds, *left;
	struct loop *loop;
};

static void ask(struct host *h);

static void on_done(const struct http_reply *r, const struct err *e, void *arg)
{
	struct host *h = arg;

	if (e || r->status != 200)
		die(e ? e->text : "a reply that is not 200");
	if (++h->rounds < ROUNDS)
		ask(h);
	else if (--*h->left == 0)
		loop_stop(h->loop);
}

static void ask(struct host *h)
{
	http_start(h->peer,
		   &(struct http_call){.path = "/redfish/v1/Systems/1", .done = on_done, .arg = h});
}

static double cpu_us(void)
{
	struct rusage u;

	(void)getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void cpu_name(char out[static 128])
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[256];

	str_copy(out, 128, "unknown");
	while (f && fgets(line, sizeof(line), f))
		if (str_starts(line, "model name") && strchr(line, ':')) {
			line[strcspn(line, "\n")] = '\0';
			str_copy(out, 128, strchr(line, ':') + 2);
			break;
		}
	if (f)
		(void)fclose(f);
}

static void print(const char *name, double value, const char *unit, double goal,
		  const char *reference, double reference_value, unsigned n)
{
	char cpu[128], *text;
	json_t *j;

	cpu_name(cpu);
	j = json_pack("{s:s, s:f, s:s, s:f, s:s, s:{s:s, s:f}, s:f, s:i, s:s}", "name", name,
		      "value", value, "unit", unit, "goal", goal, "better", "lower", "reference",
		      "name", reference, "value", reference_value, "ratio", value / goal, "n",
		      (int)n, "cpu", cpu);
	text = json_dumps(j, JSON_COMPACT | JSON_REAL_PRECISION(6));
	(void)puts(text);
	free(text);
	json_decref(j);
}

int main(int argc, char **argv)
{
	unsigned hosts = argc > 1 ? (unsigned)atoi(argv[1]) : HOSTS, left = hosts, port;
	struct rlimit files;
	struct loop_group *g;
	struct host *all;
	struct loop *l;
	struct http *h;
	double cpu, wall, ideal = ROUNDS * DELAY_MS / 1000.0;
	int64_t from;
	pid_t child;

	(void)getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &files);
	if (hosts == 0 || hosts > 60000 || files.rlim_cur < hosts + 100)
		die("too many hosts for the limit of open files");
	port = child_server_start(server, &hosts, &child);
	l = loop_uv_new();
	g = loop_group_new(l, "client");
	h = http_new(g, http_curl_new(g, hosts + 100), 0);
	all = mem_calloc(hosts, sizeof(*all));
	from = loop_now(l);
	cpu = cpu_us();
	for (unsigned i = 0; i < hosts; i++) {
		char url[64];
		struct http_peer_spec spec = {
			.base_url = url, .plain_ok = true, .max_in_flight = 1};
		struct err e;

		str_format(url, sizeof(url), "http://127.0.%u.%u:%u", 1 + i / 250, 1 + i % 250,
			   port);
		all[i] = (struct host){
			.peer = http_peer_new(h, &spec, &e), .left = &left, .loop = l};
		if (!all[i].peer)
			die(e.text);
		ask(&all[i]);
	}
	loop_run(l);
	wall = (double)(loop_now(l) - from) / 1000;
	cpu = (cpu_us() - cpu) / (hosts * ROUNDS);
	print("http_fanout_ratio", wall / ideal, "ratio", 1.25, "ideal wall time, s", ideal,
	      hosts * ROUNDS);
	print("http_fanout_cpu_us", cpu, "us", 100, "wall time, s", wall, hosts * ROUNDS);

	for (unsigned i = 0; i < hosts; i++)
		http_peer_free(all[i].peer);
	free(all);
	http_free(h);
	loop_group_free(g);
	loop_free(l);
	child_server_end(child);
	return 0;
}
