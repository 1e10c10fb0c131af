/*
 * bench_launch: measures drover's own time for launches of cloud instances. 1,000 launches are
 * started at once in one loop, each for one instance with user data of 8 KiB. The simulated EC2
 * runs in its own process, reached by plain HTTP over the loopback interface, and checks each
 * signature.
 *
 *   launch_1k_p99_ms   99th percentile of the processor time of a launch: its share of the start of
 *                      all launches, and the time from the answer before it to its own
 *   launch_1k_turn_ms  processor time of the longest turn of the loop
 */
#include <time.h>
#include <unistd.h>
#include "base/http/http_curl.h"
#include "base/httpd/httpd_mhd.h"
#include "base/loop/loop_uv.h"
#include "base/mem.h"
#include "providers/ec2/provider.h"
#include "providers/elastic.h"
#include "providers/provider.h"
#include "sim/ec2/ec2.h"
#include "tests/bench/child_server.h"
#include "tests/bench/entry.h"

#define LAUNCHES 1000
#define USER_DATA 8192
#define KEY "AKIABENCH"
#define SECRET "correct horse battery staple"
#define ZONE "eu-west-1a"
#define TYPE "p5.48xlarge"
#define GOAL_MS 5.0
#define GOAL_TURN_MS 5.0

static struct {
	struct loop *loop;
	struct provider *provider;
	struct loop_defer starts[LAUNCHES];
	double last, own[LAUNCHES];
	size_t n;
} run;

static _Noreturn void die(const char *what)
{
	(void)fprintf(stderr, "bench_launch: %s\n", what);
	exit(1);
}

static double cpu_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* --- the cloud -------------------------------------------------------------------------------- */

static void server(int out, void *arg)
{
	static const struct sim_ec2_key key = {.id = KEY, .secret = SECRET};
	struct loop *l = loop_uv_new();
	struct loop_group *g = loop_group_new(l, "server");
	struct httpd *d = httpd_new(g);
	const struct sim_ec2_spec spec = {.group = g, .keys = &key, .nkeys = 1};
	struct httpd_mhd *m;
	struct sim_ec2 *s;
	unsigned port;
	struct err e;

	(void)arg;
	s = sim_ec2_new(&spec, &e);
	m = s ? httpd_mhd_new(
			d,
			&(struct httpd_mhd_spec){.address = "127.0.0.1:0", .max_connections = 100},
			&e)
	      : NULL;
	if (!m)
		die(e.text);
	sim_ec2_routes(s, d);
	port = httpd_mhd_port(m);
	if (write(out, &port, sizeof(port)) != sizeof(port))
		die("pipe");
	loop_run(l);
	exit(0);
}

/* --- drover's side ---------------------------------------------------------------------------- */

static void on_launched(const struct elastic_instance *v, size_t n, const struct err *e, void *arg)
{
	double now = cpu_ms();

	(void)v;
	(void)arg;
	if (e || n != 1)
		die(e ? e->text : "not one instance");
	run.own[run.n++] = now - run.last;
	run.last = now;
	if (run.n == LAUNCHES)
		loop_stop(run.loop);
}

static void start(void *arg)
{
	const struct loop_defer *d = arg;
	static char data[USER_DATA];
	char token[24], claim[40];
	const struct elastic_tag tags[] = {{ELASTIC_TAG_CLUSTER, "bench"},
					   {ELASTIC_TAG_CLAIM, claim}};
	const unsigned i = (unsigned)(d - run.starts);

	memset(data, '#', sizeof(data));
	(void)str_format(token, sizeof(token), "launch-%u", i);
	(void)str_format(claim, sizeof(claim), "c0000000-0000-4000-8000-%012u", i);
	(void)provider_launch(run.provider,
			      &(struct elastic_launch){.token = token,
						       .offer = {.region = "eu-west-1",
								 .zone = ZONE,
								 .type = TYPE,
								 .micros_per_hour = -1,
								 .available = -1},
						       .user_data = data,
						       .user_data_len = sizeof(data),
						       .count = 1,
						       .max_micros_per_hour = -1,
						       .tags = tags,
						       .ntags = 2},
			      on_launched, NULL);
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Launches all instances; returns the processor time of the longest turn in ms. */
static double launch_all(unsigned port)
{
	char url[64];
	const char *const groups[] = {"sg-1", NULL};
	const struct provider_cloud_zone zone = {"eu-west-1", ZONE, "subnet-" ZONE, groups, NULL};
	const struct provider_cloud_type type = {TYPE, 0, true, false};
	const struct provider_cloud cloud = {.endpoint = url,
					     .zones = {&zone, 1},
					     .types = {&type, 1},
					     .image = "ami-1",
					     .login = PROVIDER_LOGIN_ENVIRONMENT};
	struct loop *l = run.loop = loop_uv_new();
	struct loop_group *g = loop_group_new(l, "drover");
	struct http *h = http_new(g, http_curl_new(g, 16), 0);
	struct loop_stats stats;
	struct provider *p;
	struct err e;

	(void)str_format(url, sizeof(url), "http://127.0.0.1:%u", port);
	p = provider_new(&(struct provider_spec){.name = "aws",
						 .type = "ec2",
						 .cloud = &cloud,
						 .group = g,
						 .http = h,
						 .requests_per_s = LAUNCHES,
						 .plain_ok = true},
			 &e);
	if (!p)
		die(e.text);
	run.provider = p;
	for (size_t i = 0; i < LAUNCHES; i++) {
		loop_defer_init(&run.starts[i], g, start, &run.starts[i]);
		loop_defer(&run.starts[i]);
	}
	run.last = cpu_ms();
	loop_run(l);
	stats = loop_stats(l);
	provider_free(p);
	http_free(h);
	loop_group_free(g);
	loop_free(l);
	return (double)stats.longest_cpu_us / 1e3;
}

int main(void)
{
	double turn, all = 0, p99;
	pid_t pid;
	unsigned port;

	mem_init();
	port = child_server_start(server, NULL, &pid);
	(void)setenv("AWS_ACCESS_KEY_ID", KEY, 1);
	(void)setenv("AWS_SECRET_ACCESS_KEY", SECRET, 1);
	turn = launch_all(port);
	child_server_end(pid);
	for (size_t i = 0; i < LAUNCHES; i++)
		all += run.own[i];
	qsort(run.own, LAUNCHES, sizeof(run.own[0]), ascending);
	p99 = run.own[LAUNCHES * 99 / 100 - 1];
	entry_print(&(struct entry){.name = "launch_1k_p99_ms",
				    .unit = "ms",
				    .better = "lower",
				    .value = p99,
				    .goal = GOAL_MS,
				    .reference = "mean of all, ms",
				    .reference_value = all / LAUNCHES,
				    .n = LAUNCHES});
	entry_print(&(struct entry){.name = "launch_1k_turn_ms",
				    .unit = "ms",
				    .better = "lower",
				    .value = turn,
				    .goal = GOAL_TURN_MS,
				    .reference = "mean of all launches, ms",
				    .reference_value = all / LAUNCHES,
				    .n = LAUNCHES});
	return 0;
}
