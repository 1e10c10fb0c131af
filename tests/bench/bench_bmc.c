/*
 * bench_bmc: measures one process that polls many BMCs. The BMCs run in a second process, behind
 * one listener, each with its own address in 127.0.0.0/8. Each BMC has a session, a System and a
 * media slot, and answers after a latency.
 *
 *   bmc_watch_10k_p99_ratio   (and _ms) 10,000 BMCs, observed every 30 s by one thread with a
 *                             Provider's default limits. The figure is the p99 of the time to
 *                             observe a healthy BMC while 100 others hang, relative to the p99
 *                             while none hangs. The two phases alternate. A BMC may also begin to
 *                             hang while it is being observed.
 *   inspect_1k_cold_ratio     (and _s) a controller that starts with 1,000 unknown machines and one
 *                             login for all. The figure is the time until each was observed and its
 *                             status written, relative to the time that the slowest BMC takes for
 *                             its own answers.
 *
 * Argument: "watch" or "inspect" runs only that measurement.
 */
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include "base/http/http_curl.h"
#include "base/log.h"
#include "controller/controller.h"
#include "providers/hardware.h"
#include "providers/provider.h"
#include "tests/bench/entry.h"
#include "tests/bench/fleet.h"

#define WATCHED 10000
#define HUNG_EVERY 100
#define LOOK_MS 30000
#define COLD_MS 45000 /* Time until every BMC was observed once, ms */
#define WINDOW_MS 15000
#define WINDOWS 4 /* Number of windows: none hangs, 100 hang, none, 100 */
#define WATCH_LATENCY_MS 200
#define INSPECTED 1000
#define SLOW_EVERY 100 /* One in SLOW_EVERY BMCs has the latency SLOW_LATENCY_MS */
#define SLOW_LATENCY_MS 3000
#define LIMIT_S 120

/* Memory shared by both processes. */
struct board {
	atomic_bool hang;
	atomic_bool inspecting;
	/* Number of requests of the first observation of each BMC, which ends with the request for
	 * the slot */
	atomic_uint requests[WATCHED];
	atomic_bool looked[WATCHED];
};

static struct board *board;

static _Noreturn void die(const char *what)
{
	(void)fprintf(stderr, "bench_bmc: %s\n", what);
	exit(1);
}

static void tell(const char *name, const char *unit, double value, double goal,
		 const char *reference_name, double reference_value, size_t n)
{
	entry_print(&(struct entry){.name = name,
				    .unit = unit,
				    .better = "lower",
				    .value = value,
				    .goal = goal,
				    .reference = reference_name,
				    .reference_value = reference_value,
				    .n = n});
}

static double now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void address_of(unsigned i, char out[static 24])
{
	str_format(out, 24, "127.1.%u.%u", i / 250, i % 250 + 1);
}

/* --- the BMCs --------------------------------------------------------------------------------- */

struct answer {
	struct httpd_req *q;
	unsigned i;
	struct loop_timer timer;
};

static bool is_slow(unsigned i)
{
	return i % SLOW_EVERY == SLOW_EVERY - 1;
}

static int64_t latency_of(unsigned i)
{
	if (!atomic_load(&board->inspecting))
		return WATCH_LATENCY_MS;
	return is_slow(i) ? SLOW_LATENCY_MS : 200 + i * 7919 % 300;
}

static void on_gone(void *arg)
{
	struct answer *a = arg;

	loop_timer_stop(&a->timer);
	free(a);
}

#define ROOT "/redfish/v1"
#define LINK "{\"@odata.id\":\"" ROOT /* a path and "} follow */
static const char root[] = "{\"RedfishVersion\":\"1.11.0\","
			   "\"Systems\":" LINK "/Systems\"},"
			   "\"Managers\":" LINK "/Managers\"},"
			   "\"SessionService\":" LINK "/SessionService\"},"
			   "\"Links\":{\"Sessions\":" LINK "/SessionService/Sessions\"}}}";
static const char media[] = "{\"Members\":[" LINK "/Systems/1/VirtualMedia/1\"}]}";
static const char slot[] = "{\"MediaTypes\":[\"CD\"],\"Image\":null,\"Inserted\":false,\"Actions\":"
			   "{\"#VirtualMedia.InsertMedia\":{\"target\":\"" ROOT
			   "/Systems/1/VirtualMedia/1/Actions/VirtualMedia.InsertMedia\"}}}";

static void reply_system(struct httpd_req *q, unsigned i)
{
	OWN(arena) a = arena_new();

	httpd_reply_json(q, 200,
			 arena_printf(a,
				      "{\"@odata.id\":\"" ROOT
				      "/Systems/1\",\"UUID\":\"%s\",\"SerialNumber\":\"S%u\","
				      "\"PowerState\":\"Off\","
				      "\"Boot\":{\"BootSourceOverrideEnabled\":\"Disabled\","
				      "\"BootSourceOverrideTarget\":\"None\"},"
				      "\"VirtualMedia\":" LINK "/Systems/1/VirtualMedia\"},"
				      "\"Actions\":{\"#ComputerSystem.Reset\":{\"target\":\"" ROOT
				      "/Systems/1/Actions/ComputerSystem.Reset\"}}}",
				      fleet_uuid(i, a), i));
}

static void reply(struct httpd_req *q, unsigned i)
{
	const char *path = httpd_path(q);

	if (str_eq(httpd_method(q), "POST")) {
		httpd_reply_header(q, "X-Auth-Token", "0123456789abcdef");
		httpd_reply_header(q, "Location", ROOT "/SessionService/Sessions/1");
		httpd_reply_json(q, 201, LINK "/SessionService/Sessions/1\"}");
	} else if (str_eq(path, ROOT)) {
		httpd_reply_json(q, 200, root);
	} else if (str_eq(path, ROOT "/Systems/1")) {
		reply_system(q, i);
	} else if (str_eq(path, ROOT "/Systems/1/VirtualMedia")) {
		httpd_reply_json(q, 200, media);
	} else if (str_eq(path, ROOT "/Systems/1/VirtualMedia/1")) {
		httpd_reply_json(q, 200, slot);
	} else {
		httpd_reply_json(q, 404, "{}");
	}
}

static void on_time(void *arg)
{
	struct answer *a = arg;
	struct httpd_req *q = a->q;
	unsigned i = a->i;

	if (i % HUNG_EVERY == 0 && atomic_load(&board->hang))
		return; /* Leaves the request unanswered until the client disconnects. */
	httpd_on_gone(q, NULL, NULL);
	free(a);
	reply(q, i);
}

static void serve(struct httpd_req *q, void *arg)
{
	struct answer *a = mem_new(struct answer);
	const char *host = httpd_header(q, "Host");
	unsigned high = 0, low = 0;

	if (!host || sscanf(host, "127.1.%u.%u", &high, &low) != 2)
		die("a request without an address");
	a->i = high * 250 + low - 1;
	a->q = q;
	if (!atomic_load(&board->looked[a->i % WATCHED]))
		atomic_fetch_add(&board->requests[a->i % WATCHED], 1);
	if (str_ends(httpd_path(q), "/VirtualMedia/1"))
		atomic_store(&board->looked[a->i % WATCHED], true);
	loop_timer_init(&a->timer, arg, on_time, a);
	loop_timer_start(&a->timer, latency_of(a->i));
	httpd_on_gone(q, on_gone, a);
}

static unsigned open_bmcs(struct loop_group *g)
{
	struct httpd *d = httpd_new(g);
	struct httpd_mhd_spec s = {.address = "0.0.0.0:0", .max_connections = WATCHED + 500};
	struct httpd_mhd *m;
	struct err e;

	httpd_route(d, "*", "/**", 4096, serve, g);
	m = httpd_mhd_new(d, &s, &e);
	if (!m)
		die(e.text);
	return httpd_mhd_port(m);
}

/* --- watching --------------------------------------------------------------------------------- */

struct watch;
struct watched {
	struct watch *w;
	struct provider_machine *m;
	struct loop_timer timer;
	double asked;
	/* Number of the window in which the observation began */
	unsigned window;
	bool healthy, known;
};

struct watch {
	struct loop *l;
	struct provider *p;
	struct watched *all;
	/* window: number of the window in progress; 0: not measured yet */
	unsigned window, known;
	/* Times of the observations of healthy BMCs: [0] while none hangs, [1] while 100 hang */
	double *ms[2];
	size_t n[2], failed;
	struct loop_timer turn;
};

static void on_looked(const struct provider_observation *o, const char *handle, const struct err *e,
		      void *arg)
{
	struct watched *x = arg;
	struct watch *w = x->w;
	unsigned hung = x->window % 2 ? 0 : 1;
	int64_t next = LOOK_MS;

	(void)o;
	(void)handle;
	w->known += !x->known && !e;
	x->known = x->known || !e;
	if (x->healthy && e)
		w->failed++;
	else if (x->healthy && x->window)
		w->ms[hung][w->n[hung]++] = now_ms() - x->asked;
	if (e && e->retry_after_ms > next)
		next = e->retry_after_ms;
	loop_timer_start(&x->timer, next);
}

static void look(void *arg)
{
	struct watched *x = arg;
	struct provider_call c = {.op_id = "look", .done = on_looked, .arg = x};

	x->asked = now_ms();
	x->window = x->w->window;
	provider_observe(x->w->p, x->m, &c);
}

static void on_turn(void *arg)
{
	struct watch *w = arg;

	if (w->window == 0 && w->known < WATCHED)
		die("not every BMC was looked at in time");
	if (w->window == WINDOWS) {
		loop_stop(w->l);
		return;
	}
	w->window++;
	atomic_store(&board->hang, w->window % 2 == 0);
	loop_timer_start(&w->turn, WINDOW_MS);
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double p99(double *v, size_t n)
{
	if (n < 1000)
		die("too few looks");
	qsort(v, n, sizeof(*v), by_size);
	return v[n * 99 / 100];
}

static void attach(struct watch *w, struct loop_group *g, unsigned port, struct secret *password)
{
	for (unsigned i = 0; i < WATCHED; i++) {
		char url[64], address[24];
		struct provider_machine_spec s = {
			.name = "m", .bmc_address = url, .user = "drover"};
		struct watched *x = &w->all[i];
		struct err e;

		address_of(i, address);
		str_format(url, sizeof(url), "http://%s:%u", address, port);
		str_format(url + strlen(url), sizeof(url) - strlen(url), ROOT "/Systems/1");
		s.password = password;
		*x = (struct watched){.w = w, .healthy = i % HUNG_EVERY != 0};
		x->m = provider_attach(w->p, &s, &e);
		if (!x->m)
			die(e.text);
		loop_timer_init(&x->timer, g, look, x);
		loop_timer_start(&x->timer, (int64_t)i * (COLD_MS - 10000) / WATCHED);
	}
}

static void watch(unsigned port)
{
	struct watch w = {.l = loop_uv_new()};
	struct loop_group *g = loop_group_new(w.l, "watch");
	struct http *h = http_new(g, http_curl_new(g, WATCHED + 100), 0);
	struct provider_spec s = {
		.name = "hall", .type = "redfish", .group = g, .http = h, .plain_ok = true};
	OWN(secret) password = secret_from_str("correct horse");
	double without, with;
	struct err e;

	w.p = provider_new(&s, &e);
	if (!w.p)
		die(e.text);
	w.all = mem_calloc(WATCHED, sizeof(*w.all));
	for (int i = 0; i < 2; i++)
		w.ms[i] = mem_calloc((size_t)WATCHED * WINDOWS, sizeof(double));
	attach(&w, g, port, password);
	loop_timer_init(&w.turn, g, on_turn, &w);
	loop_timer_start(&w.turn, COLD_MS);
	loop_run(w.l);
	if (w.failed)
		(void)fprintf(stderr, "%zu looks at healthy BMCs failed\n", w.failed);
	without = p99(w.ms[0], w.n[0]);
	with = p99(w.ms[1], w.n[1]);
	tell("bmc_watch_10k_p99_ms", "ms", with, 500, "none hung", without, w.n[1]);
	tell("bmc_watch_10k_p99_ratio", "ratio", w.failed ? 1000 : with / without, 1.05,
	     "none hung", 1, w.n[0] + w.n[1]);
}

/* --- inspecting ------------------------------------------------------------------------------- */

static void put_machine(struct fleet *f, unsigned i, struct arena *a)
{
	char address[24];

	address_of(i, address);
	fleet_put(
		f, &f->host, arena_printf(a, "machines.drover.dev/m-%u", i),
		arena_printf(a,
			     "{'apiVersion': 'drover.dev/v1alpha1', 'kind': 'Machine', 'metadata': "
			     "{'name': 'm-%u',"
			     " 'uid': 'uid-m-%u', 'generation': 1},"
			     " 'spec': {'providerRef': {'name': 'rack'}, 'instanceType': 'gpu-8', "
			     "'bootMACAddress': '52:54:00:00:%02x:%02x',"
			     " 'bmc': {'address': 'http://%s:%u" ROOT
			     "/Systems/1', 'credentialsSecretRef': {'name': 'bmc'},"
			     " 'tls': {'trustOnFirstUse': true}}}}",
			     i, i, i >> 8, i & 255, address, f->bmc.port));
}

static _Noreturn void serve_fleet(int to_parent)
{
	struct fleet *f = mem_new(struct fleet);
	struct fleet_door door;
	struct rlimit files;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	f->l = loop_uv_new();
	f->g = loop_group_new(f->l, "fleet");
	f->bmc.port = open_bmcs(f->g);
	f->host.store = store_mem_new(f->g, FLEET_HISTORY);
	fleet_open(f, &f->host);
	fleet_definitions(f);
	for (unsigned i = 0; i < INSPECTED; i++) {
		OWN(arena) a = arena_new();

		if (i == 0) {
			fleet_common(f, "");
			fleet_put(
				f, &f->host, "secrets/drover-system/bmc",
				"{'apiVersion': 'v1', 'kind': 'Secret', 'metadata': {'name': 'bmc',"
				" 'namespace': 'drover-system', 'uid': 'b'}, 'data': {'username': "
				"'ZHJvdmVy',"
				" 'password': 'Y29ycmVjdCBob3JzZQ=='}}");
		}
		put_machine(f, i, a);
	}
	fleet_api(f, &f->host);
	door = (struct fleet_door){.host = f->host.port, .bmc = f->bmc.port};
	if (write(to_parent, &door, sizeof(door)) != (ssize_t)sizeof(door))
		die("nobody wants the address");
	loop_run(f->l);
	exit(0);
}

struct inspection {
	struct loop *l;
	struct controller *c;
	struct loop_timer timer;
	double from;
};

static bool count_looked(const struct kube_entry *en, void *arg)
{
	const struct machine *m = en->object;

	*(unsigned *)arg += !str_empty(m->status.bmc.secret_version);
	return true;
}

static void on_look(void *arg)
{
	struct inspection *x = arg;
	unsigned looked = 0;

	kube_cache_each(controller_context(x->c)->cache[OBJECT_MACHINE], count_looked, &looked);
	if (now_ms() - x->from > LIMIT_S * 1e3)
		die("not every machine was looked at in time");
	if (getenv("BENCH_LOG"))
		(void)fprintf(stderr, "%.1f s: %u\n", (now_ms() - x->from) / 1e3, looked);
	if (looked == INSPECTED)
		loop_stop(x->l);
	else
		loop_timer_start(&x->timer, 20);
}

/* Returns the time in ms that the slowest BMC itself took for its answers to one first
 * observation. */
static double slowest_ms(void)
{
	unsigned most = 0;

	for (unsigned i = 0; i < INSPECTED; i++) {
		unsigned n = is_slow(i) ? atomic_load(&board->requests[i]) : 0;

		most = n > most ? n : most;
	}
	return most * (double)SLOW_LATENCY_MS;
}

static void no_log(const char *line, size_t len, void *arg)
{
	(void)line;
	(void)len;
	(void)arg;
}

static void inspect(unsigned host)
{
	struct controller_options o = {
		.context.ns = "drover-system",
		.context.identity = "bench",
		.context.plain_ok = true,
	};
	struct kube_config config = {.server = mem_printf("http://127.0.0.1:%u", host),
				     .local_ok = true};
	struct inspection x = {.l = loop_uv_new()};
	struct loop_group *g = loop_group_new(x.l, "controller");
	struct http *h = http_new(g, http_curl_new(g, 16384), 4096);
	double took, slowest;
	struct err e;

	log_redirect(getenv("BENCH_LOG") ? NULL : no_log, NULL);
	x.from = now_ms();
	x.c = controller_new(g, h, &config, &o, &e);
	if (!x.c)
		die(e.text);
	loop_timer_init(&x.timer, g, on_look, &x);
	loop_timer_start(&x.timer, 20);
	loop_run(x.l);
	took = now_ms() - x.from;
	slowest = slowest_ms();
	tell("inspect_1k_cold_s", "s", took / 1e3, 1.2 * slowest / 1e3,
	     "the slowest BMC's own answers", slowest / 1e3, INSPECTED);
	tell("inspect_1k_cold_ratio", "ratio", took / slowest, 1.2, "the slowest BMC's own answers",
	     1, INSPECTED);
	free(config.server);
}

/* --- processes -------------------------------------------------------------------------------- */

static _Noreturn void serve_bmcs(int to_parent)
{
	struct loop *l = loop_uv_new();
	struct fleet_door door = {.bmc = open_bmcs(loop_group_new(l, "bmcs"))};

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (write(to_parent, &door, sizeof(door)) != (ssize_t)sizeof(door))
		die("nobody wants the address");
	loop_run(l);
	exit(0);
}

/* Runs the servers in one child process, and the measurement in another. */
static void run(void (*server)(int to_parent), bool inspecting)
{
	struct fleet_door door;
	pid_t servers, client;
	int ends[2], status;

	memset(board, 0, sizeof(*board));
	atomic_store(&board->inspecting, inspecting);
	if (pipe(ends) < 0 || (servers = fork()) < 0)
		die("no child process");
	if (servers == 0)
		server(ends[1]);
	(void)close(ends[1]);
	if (read(ends[0], &door, sizeof(door)) != (ssize_t)sizeof(door))
		die("the servers did not start");
	client = fork();
	if (client == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (inspecting)
			inspect(door.host);
		else
			watch(door.bmc);
		_exit(0);
	}
	if (client < 0 || waitpid(client, &status, 0) != client || status != 0)
		die("nothing was measured");
	(void)kill(servers, SIGKILL);
	(void)waitpid(servers, NULL, 0);
	(void)close(ends[0]);
}

int main(int argc, char **argv)
{
	const char *only = argc > 1 ? argv[1] : NULL;
	struct rlimit files;

	mem_init();
	(void)getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &files);
	if (files.rlim_cur < WATCHED + 1000)
		die("too few open files are allowed");
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (board == MAP_FAILED)
		die("no shared memory");
	if (!only || str_eq(only, "watch"))
		run(serve_bmcs, false);
	if (!only || str_eq(only, "inspect"))
		run(serve_fleet, true);
	return 0;
}
