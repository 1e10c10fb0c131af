/*
 * bench_netris: measures moves of machines between segments, and their proofs, with a simulated
 * Netris controller of 1,000 servers in another process.
 *
 *   netris_move_own_ms   drover's processor time for one move into a tenant's cluster, until it is
 *                        proved. Reference: the elapsed time, mostly the wait for heartbeats of
 *                        switches
 *   netris_500_moves_s   500 moves at once into 10 tenants' clusters, until each is proved.
 *                        Reference: the time of three heartbeats of a switch
 *   netris_lost_servers  servers that are afterwards not where they were moved to
 *
 * Argument: number of servers.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/http/http_curl.h"
#include "base/httpd/httpd_mhd.h"
#include "base/loop/loop_uv.h"
#include "base/mem.h"
#include "providers/fabric.h"
#include "sim/netris/netris.h"
#include "tests/bench/entry.h"

#define SERVERS 1000
#define MOVES 500
#define TENANTS 10
#define BEAT_MS 500
#define PASSWORD "pw"

static _Noreturn void die(const char *what)
{
	(void)fprintf(stderr, "bench_netris: %s\n", what);
	exit(1);
}

static _Noreturn void server(int out, unsigned servers)
{
	struct loop *l = loop_uv_new();
	struct loop_group *g = loop_group_new(l, "netris");
	struct httpd *d = httpd_new(g);
	struct err e;
	struct httpd_mhd *m =
		httpd_mhd_new(d, &(struct httpd_mhd_spec){.address = "127.0.0.1:0"}, &e);
	unsigned port;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!m)
		die(e.text);
	sim_netris_routes(sim_netris_new(&(struct sim_netris_spec){.group = g,
								   .servers = servers,
								   .user = "drover",
								   .password = PASSWORD,
								   .plan_ms = 50,
								   .beat_ms = BEAT_MS,
								   .begin_in = "provisioning"}),
			  d);
	port = httpd_mhd_port(m);
	if (write(out, &port, sizeof(port)) != sizeof(port))
		die("pipe");
	loop_run(l);
	exit(0);
}

/* --- client ----------------------------------------------------------------------------------- */

struct bench {
	struct loop *loop;
	struct fabric *fabric;
	unsigned left, failed, lost;
};

struct move {
	struct bench *b;
	char name[16], segment[32];
	struct loop_timer again;
};

static void finish(struct bench *b)
{
	if (--b->left == 0)
		loop_stop(b->loop);
}

static void look(struct move *m);

static void on_again(void *arg)
{
	look(arg);
}

static void on_seen(const struct fabric_place *p, const struct err *e, void *arg)
{
	struct move *m = arg;

	if (e || !str_eq(p->segment, m->segment)) {
		m->b->lost++;
		finish(m->b);
	} else if (p->proof == FABRIC_PROOF_NONE) {
		loop_timer_start(&m->again, 200);
	} else {
		finish(m->b);
	}
}

static void look(struct move *m)
{
	const struct fabric_port p = {.machine = m->name};
	const struct fabric_call c = {.op_id = "b", .fence = 1, .done = on_seen, .arg = m};

	fabric_observe(m->b->fabric, &p, &c);
}

static void on_placed(const struct fabric_place *p, const struct err *e, void *arg)
{
	struct move *m = arg;

	(void)p;
	if (!e) {
		look(m);
		return;
	}
	(void)fprintf(stderr, "bench_netris: %s: %s\n", m->name, e->text);
	m->b->failed++;
	finish(m->b);
}

static double cpu_ms(void)
{
	struct rusage u;

	(void)getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e3;
}

/* Moves n servers at once, beginning with server number `from`. *wall, *cpu: elapsed time and
 * processor time in ms. */
static void run(struct bench *b, struct loop_group *g, unsigned from, unsigned n, double *wall,
		double *cpu)
{
	struct move *moves = mem_calloc(n, sizeof(*moves));
	double cpu_at = cpu_ms();
	int64_t at = loop_clock(b->loop);

	b->left = n;
	for (unsigned i = 0; i < n; i++) {
		struct move *m = &moves[i];
		const struct fabric_port p = {.machine = m->name};
		const struct fabric_call c = {
			.op_id = "b", .fence = 1, .done = on_placed, .arg = m};

		m->b = b;
		(void)str_format(m->name, sizeof(m->name), "gpu-%u", from + i);
		(void)str_format(m->segment, sizeof(m->segment), "tenant/team-%u", i % TENANTS);
		loop_timer_init(&m->again, g, on_again, m);
		fabric_place(b->fabric, &p, m->segment, &c);
	}
	loop_run(b->loop);
	*wall = (double)(loop_clock(b->loop) - at);
	*cpu = cpu_ms() - cpu_at;
	free(moves);
}

int main(int argc, char **argv)
{
	unsigned servers = argc > 1 ? (unsigned)atoi(argv[1]) : SERVERS, port;
	unsigned moves = servers / 2 < MOVES ? servers / 2 : MOVES;
	int ends[2];
	pid_t child;
	struct bench b = {0};
	double wall, cpu;
	char url[64];
	struct err e;

	mem_init();
	if (pipe(ends) < 0 || (child = fork()) < 0)
		die("fork");
	if (child == 0)
		server(ends[1], servers);
	if (read(ends[0], &port, sizeof(port)) != sizeof(port))
		die("the controller did not start");
	(void)str_format(url, sizeof(url), "http://127.0.0.1:%u", port);
	b.loop = loop_uv_new();
	struct loop_group *g = loop_group_new(b.loop, "bench");
	struct http *http = http_new(g, http_curl_new(g, 16), 0);
	struct secret *password = secret_from_str(PASSWORD);
	const struct fabric_netris n = {.http = http,
					.url = url,
					.user = "drover",
					.password = password,
					.plain_ok = true,
					.site = "hall",
					.template_ = "gpu-tenant",
					.admin = "Admin",
					.prefix = "drover"};

	b.fabric =
		fabric_new(&(struct fabric_spec){.type = "netris", .netris = &n, .group = g}, &e);
	if (!b.fabric)
		die(e.text);
	/* The first move creates cluster team-0 and the session; it is not counted. */
	run(&b, g, servers, 1, &wall, &cpu);
	run(&b, g, servers - 1, 1, &wall, &cpu);
	entry_print(&(struct entry){"netris_move_own_ms", "ms", "lower", cpu, 2000,
				    "time that passes, heartbeats waited for", wall, servers});
	run(&b, g, 1, moves, &wall, &cpu);
	entry_print(&(struct entry){"netris_500_moves_s", "s", "lower", wall / 1e3, 10,
				    "three heartbeats of a switch", 3.0 * BEAT_MS / 1e3, moves});
	entry_print(&(struct entry){"netris_lost_servers", "servers", "lower", b.lost + b.failed, 0,
				    "moves", moves, moves});
	fabric_free(b.fabric);
	http_free(http);
	secret_free(password);
	loop_group_free(g);
	loop_free(b.loop);
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
	return b.lost + b.failed > 0;
}
