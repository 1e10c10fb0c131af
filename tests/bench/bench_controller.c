/*
 * bench_controller: a whole controller over real sockets, with its environment in another process
 * (fleet.h).
 *
 *   start_cpu_s           processor time from start until 1,000 machines, each with its own Secret,
 *                         and 500 tenants are known, observed and quiet
 *   loop_turn_max_ms      longest turn of the loop during the start, in processor time; see
 *                         drover_loop_slowest_ms
 *   node_event_cpu_us     processor time of one change of a Node, out of 5,000
 *   scale_*               start and changes of Nodes with SCALE machines, each with a Node; the
 *                         entry has the value of the last size, or of the worst, and the curve:
 *                         processor time and time of the start, resident memory, longest turn,
 *                         processor time of one change of a Node, and the exponent of the growth
 *                         of the start's processor time. In this start drover writes the status of
 *                         each object for the first time. scale_restart_cpu_s: a second controller
 *                         starts after the first one has ended
 *   waiting_*             start with 1,000 machines, all in use, 500 tenants and WAITING pods that
 *                         wait: resident memory, longest turn, and the exponent of the growth of
 *                         the processor time
 *   mark_to_first_call_p99_ms
 *                         from a pod marked unschedulable to the first request to the BMC of the
 *                         machine that it gets; 200 pods, one after the other, with 5,000 Nodes
 *   page_first_load_kb    bytes of the view's page for 1,000 machines and 500 tenants (page_load.h)
 *   page_rest_bytes_s     bytes per second of its stream while nothing happens
 *   controller_rss_1k_mb  resident memory: 1,000 machines, 2,000 pods, 10 tenants
 *   controller_rss_mb     resident memory: 20,000 pods, 2,000 nodes, 1,000 machines, 500 tenants
 *
 * An event's processor time is measured in ROUNDS windows of FLEET_EVENTS events, each after a
 * window of the same length without events, whose processor time is subtracted. The figure is the
 * median of the rounds, because periodic work falls into some windows only.
 *
 * `bench_controller NAME` measures one row of this list only; `bench_controller scale MACHINES` and
 * `bench_controller waiting PODS` one size only. BENCH_REQUESTS=1 also counts the requests of
 * start_cpu_s by kind.
 *
 * All requests use plain HTTP, also those to tenants, although the tenants' kubeconfigs specify
 * https: the scheme is replaced below the client. The reference for a time is the time in which
 * jansson parses the same objects, or the same Node, once; for scale_start_cpu_s and
 * waiting_start_cpu_s it is the time in which libcurl alone sends as many requests. The reference
 * for a size is the size of the same objects as text.
 */
#include <sys/wait.h>
#include <time.h>
#include <curl/curl.h>
#include "base/http/http_curl.h"
#include "base/http/http_transport.h"
#include "base/log.h"
#include "base/metrics.h"
#include "controller/controller.h"
#include "tests/bench/entry.h"

#include "tests/bench/fleet.h"
#include "tests/bench/page_load.h"
#include "wipe/proto.h"

#define MIB (1024.0 * 1024)
#define QUIET_MS 3000
#define LIMIT_MS 600000
/* Numbers of machines of the figures scale_* */
#define SCALE                                                                                      \
	{                                                                                          \
		1000, 2000, 4000, 10000                                                            \
	}
/* Numbers of pods of the figures waiting_* */
#define WAITING                                                                                    \
	{                                                                                          \
		2500, 5000, 10000, 20000                                                           \
	}
#define ROUNDS 5
#define WINDOW_MS (FLEET_EVENTS * FLEET_EVENT_MS + 2000)

static _Noreturn void die(const char *what)
{
	(void)fprintf(stderr, "bench_controller: %s\n", what);
	exit(1);
}

static double cpu_seconds(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double resident_mib(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	long all, resident;

	if (!f || fscanf(f, "%ld %ld", &all, &resident) != 2)
		die("no /proc");
	(void)fclose(f);
	return (double)resident * (double)sysconf(_SC_PAGESIZE) / MIB;
}

/* --- requests by kind ------------------------------------------------------------------------- */

#define KIND 128

struct kind_count {
	char name[KIND];
	unsigned n;
};

static struct {
	struct kind_count v[200];
	size_t n;
	/* systems: requests for the System of a BMC */
	unsigned all, systems;
} asked;

/* Writes method and path of the request to out, with each number replaced by "N". */
static void kind_of(const struct http_exchange *x, char out[static KIND])
{
	const char *p = strchr(strstr(x->url, "://") + 3, '/');
	size_t n = (size_t)snprintf(out, KIND, "%s ", x->method);
	bool watch = strstr(x->url, "watch=true");

	while (p && *p && *p != '?' && n + 8 < KIND) {
		size_t digits = strspn(p, "0123456789");

		out[n++] = digits ? 'N' : *p;
		p += digits ? digits : 1;
	}
	str_format(out + n, KIND - n, "%s", watch ? " watch" : "");
}

static void count_request(const struct http_exchange *x)
{
	char name[KIND];
	size_t i = 0;

	kind_of(x, name);
	while (i < asked.n && !str_eq(asked.v[i].name, name))
		i++;
	if (i == sizeof(asked.v) / sizeof(asked.v[0]))
		return;
	if (i == asked.n)
		str_copy(asked.v[asked.n++].name, KIND, name);
	asked.v[i].n++;
}

static int by_count(const void *a, const void *b)
{
	const struct kind_count *x = a, *y = b;

	return x->n < y->n ? 1 : x->n > y->n ? -1 : strcmp(x->name, y->name);
}

static void tell_requests(void)
{
	unsigned all = 0;

	qsort(asked.v, asked.n, sizeof(asked.v[0]), by_count);
	for (size_t i = 0; i < asked.n; i++) {
		all += asked.v[i].n;
		(void)fprintf(stderr, "%6u %s\n", asked.v[i].n, asked.v[i].name);
	}
	(void)fprintf(stderr, "%6u requests\n", all);
}

/* --- https without TLS ------------------------------------------------------------------------ */

struct plain {
	struct http_transport base;
	struct http_transport *below;
};

static int plain_start(struct http_transport *t, struct http_exchange *x, struct err *e)
{
	struct http_transport *below = ((struct plain *)t)->below;
	const char *url = x->url;
	char *other = str_starts(url, "https://") ? mem_printf("http://%s", url + 8) : NULL;
	int rc;

	asked.all++;
	asked.systems += strstr(url, "/redfish/v1/Systems/") != NULL;
	if (getenv("BENCH_REQUESTS"))
		count_request(x);
	x->url = other ? other : url;
	rc = below->ops->start(below, x, e);
	x->url = url;
	free(other);
	return rc;
}

static void plain_want(struct http_transport *t, struct http_exchange *x)
{
	struct http_transport *below = ((struct plain *)t)->below;

	below->ops->want(below, x);
}

static void plain_cancel(struct http_transport *t, struct http_exchange *x)
{
	struct http_transport *below = ((struct plain *)t)->below;

	below->ops->cancel(below, x);
}

static void plain_free(struct http_transport *t)
{
	struct http_transport *below = ((struct plain *)t)->below;

	below->ops->free(below);
	free(t);
}

static struct http_transport *plain_new(struct http_transport *below)
{
	static const struct http_transport_ops ops = {plain_start, plain_want, plain_cancel,
						      plain_free};
	struct plain *p = mem_new(struct plain);

	p->base.ops = &ops;
	p->below = below;
	return &p->base;
}

/* --- one controller --------------------------------------------------------------------------- */

struct measured {
	/* start_s: time until the controller came to rest */
	double start_cpu, start_s, turn_ms, event_us, rss, json_cpu, node_us;
	/* Processor time of the start of a second controller, after the first one has ended */
	double restart_cpu;
	/* Processor time in which libcurl alone sends the start's number of requests */
	double curl_cpu;
	uint64_t bytes;
	struct page_figures page;
};

struct run {
	struct fleet_size size;
	pid_t server;
	struct loop *l;
	struct controller *c;
	struct loop_timer timer;
	double cpu, from, idle;
	/* Number of requests during the start */
	unsigned requests;
	/* Processor time of one event, in us, in each round that is over */
	double rounds[ROUNDS];
	size_t nrounds;
	int64_t began;
	/* True: changes of Nodes are measured after the start */
	bool events;
	/* True: pods are created after the start, until the process is killed */
	bool pods;
	/* True: the page's bytes are counted after the start */
	bool page;
	struct page_load load;
	struct http *http;
	const char *host_url;
	enum { STARTING, IDLE, EVENTS } phase;
	struct measured out;
};

static double metric(struct run *r, const char *name)
{
	char head[80];
	struct buf b;
	const char *at;
	double x;

	controller_read_gauges(r->c);
	buf_init(&b, 4u << 20);
	metrics_write(controller_context(r->c)->metrics, &b);
	str_format(head, sizeof(head), "\n%s ", name);
	at = strstr(b.data, head);
	x = at ? strtod(at + strlen(head), NULL) : 0;
	buf_done(&b);
	return x;
}

/* Counts machines that serve and whose status shows that their BMC was read, in *arg (unsigned). */
static bool count_looked(const struct kube_entry *en, void *arg)
{
	const struct machine *m = en->object;

	*(unsigned *)arg +=
		str_eq(m->status.state, "serving") && !str_empty(m->status.bmc.secret_version);
	return true;
}

static bool all_is_known(struct run *r)
{
	unsigned looked = 0;

	kube_cache_each(controller_context(r->c)->cache[OBJECT_MACHINE], count_looked, &looked);
	return looked == r->size.machines - r->size.free && asked.systems >= looked &&
	       (unsigned)metric(r, "drover_tenants_usable") == r->size.tenants;
}

static void on_page(void *arg)
{
	struct run *r = arg;

	r->out.page = r->load.out;
	loop_stop(r->l);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void on_timer(void *arg)
{
	struct run *r = arg;
	double now = cpu_seconds(), spent = now - r->cpu;

	if (loop_now(r->l) - r->began > LIMIT_MS)
		die("the controller does not come to rest");
	r->cpu = now;
	loop_timer_start(&r->timer, QUIET_MS);
	switch (r->phase) {
	case STARTING:
		if (spent > 0.15 || !all_is_known(r))
			return;
		r->out.start_cpu = now - r->from;
		r->requests = asked.all;
		r->out.start_s = (double)(loop_now(r->l) - r->began - QUIET_MS) / 1000;
		if (getenv("BENCH_REQUESTS"))
			tell_requests();
		r->out.rss = resident_mib();
		r->out.turn_ms = (double)loop_stats(r->l).longest_cpu_us / 1000;
		if (loop_stats(r->l).slowest)
			/* slowest_ms is wall time: on a busy computer it includes time of other
			 * processes. */
			(void)fprintf(stderr, "slowest callback: %s, %lld ms on the clock\n",
				      loop_stats(r->l).slowest,
				      (long long)loop_stats(r->l).slowest_ms);
		r->phase = IDLE;
		if (r->pods) {
			loop_timer_stop(&r->timer);
			(void)kill(r->server, SIGUSR2);
			return;
		}
		if (r->page) {
			loop_timer_stop(&r->timer);
			r->load = (struct page_load){.l = r->l, .done = on_page, .arg = r};
			page_load_begin(&r->load, r->c, r->http, r->host_url, r->size.tenants);
			return;
		}
		if (r->events)
			loop_timer_start(&r->timer, WINDOW_MS);
		else
			loop_stop(r->l);
		break;
	case IDLE:
		r->idle = spent;
		r->phase = EVENTS;
		(void)kill(r->server, SIGUSR1);
		loop_timer_start(&r->timer, WINDOW_MS);
		break;
	case EVENTS:
		r->rounds[r->nrounds++] = (spent - r->idle) * 1e6 / FLEET_EVENTS;
		r->phase = IDLE;
		loop_timer_start(&r->timer, WINDOW_MS);
		if (r->nrounds < ROUNDS)
			return;
		qsort(r->rounds, ROUNDS, sizeof(r->rounds[0]), by_value);
		r->out.event_us = r->rounds[ROUNDS / 2];
		(void)fprintf(stderr, "one event: %.1f to %.1f us, median %.1f\n", r->rounds[0],
			      r->rounds[ROUNDS - 1], r->out.event_us);
		loop_stop(r->l);
		break;
	}
}

/* Parses the text of one Node repeatedly, until as many bytes were parsed as all objects have. */
static void reference(struct run *r)
{
	struct fleet f = {.size = r->size};
	OWN(arena) a = arena_new();
	char *text = mem_strdup(fleet_node(&f, 0, 0, a));
	size_t len = strlen(text), times = r->out.bytes / len;
	double from = cpu_seconds();
	struct err e;

	for (char *p = text; *p; p++)
		if (*p == '\'')
			*p = '"';
	for (size_t i = 0; i < times; i++)
		json_decref(json_parse(text, len, &e));
	r->out.json_cpu = cpu_seconds() - from;
	r->out.node_us = r->out.json_cpu * 1e6 / (double)times;
	free(text);
}

static size_t drop(char *data, size_t size, size_t n, void *arg)
{
	(void)data;
	(void)arg;
	return size * n;
}

/* Reads /version of the host cluster over one connection, as often as is needed for a mean, and
 * multiplies by the number of requests of the start. */
static void reference_curl(struct run *r)
{
	const unsigned times = 2000;
	char *url = mem_printf("%s/version", r->host_url);
	CURL *easy = curl_easy_init();
	double from = cpu_seconds();

	curl_easy_setopt(easy, CURLOPT_URL, url);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, drop);
	for (unsigned i = 0; i < times; i++)
		if (curl_easy_perform(easy) != CURLE_OK)
			die("no reply to libcurl");
	r->out.curl_cpu = (cpu_seconds() - from) / times * r->requests;
	curl_easy_cleanup(easy);
	free(url);
}

static void no_log(const char *line, size_t len, void *arg)
{
	(void)line;
	(void)len;
	(void)arg;
}

static void run(struct run *r, const char *iso, unsigned host)
{
	struct controller_options o = {
		.context.ns = "drover-system",
		.context.identity = "bench",
		.context.plain_ok = true,
		/* Machines at rest are not polled during this measurement. */
		.context.idle_poll_ms = r->pods || r->events ? 3600000 : 0,
		/* mark_to_first_call measures single pods, so the planner must not wait for more
		 * pods of a batch. */
		.context.batch_idle_ms = 1,
		.agent_image = iso,
	};
	struct kube_config config = {.server = mem_printf("http://127.0.0.1:%u", host),
				     .local_ok = true};
	struct loop_group *g;
	struct http *h;
	struct err e;

	log_redirect(getenv("BENCH_LOG") ? NULL : no_log, NULL);
	log_config(LOG_INFO, LOG_TEXT);
	r->from = r->cpu = cpu_seconds();
	r->l = loop_uv_new();
	g = loop_group_new(r->l, "controller");
	h = http_new(g, plain_new(http_curl_new(g, 16384)), 4096);
	r->http = h;
	r->host_url = config.server;
	r->c = controller_new(g, h, &config, &o, &e);
	if (!r->c)
		die(e.text);
	r->began = loop_now(r->l);
	loop_timer_init(&r->timer, g, on_timer, r);
	loop_timer_start(&r->timer, QUIET_MS);
	loop_run(r->l);
	reference(r);
	reference_curl(r);
	free(config.server);
}

/* --- processes -------------------------------------------------------------------------------- */

static pid_t fork_with(int fds[2])
{
	pid_t pid;

	if (pipe(fds) < 0 || (pid = fork()) < 0)
		die("no child process");
	return pid;
}

/* Runs a controller in a child process, until it has its figures; returns them. */
static struct measured in_child(const struct run *like, const char *iso,
				const struct fleet_door *door)
{
	struct measured m;
	int from[2];
	pid_t controller = fork_with(from);

	if (controller == 0) {
		struct run r = *like;

		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		r.out.bytes = door->bytes;
		run(&r, iso, door->host);
		if (write(from[1], &r.out, sizeof(r.out)) != (ssize_t)sizeof(r.out))
			die("nobody wants the figures");
		_exit(0);
	}
	(void)close(from[1]);
	if (read(from[0], &m, sizeof(m)) != (ssize_t)sizeof(m))
		die("the controller gave no figures");
	(void)waitpid(controller, NULL, 0);
	(void)close(from[0]);
	return m;
}

/* Runs the servers and the controller in one child process each; returns the controller's
 * figures. restart: starts a second controller afterwards. */
static struct measured measure(const struct fleet_size *size, const char *iso, bool events,
			       bool page, bool restart)
{
	struct run r = {.size = *size, .events = events, .page = page};
	struct measured m;
	struct fleet_door door;
	int to[2];

	r.server = fork_with(to);
	if (r.server == 0)
		fleet_serve(size, to[1]);
	if (read(to[0], &door, sizeof(door)) != (ssize_t)sizeof(door))
		die("the servers did not start");
	m = in_child(&r, iso, &door);
	r.events = r.page = false;
	if (restart)
		m.restart_cpu = in_child(&r, iso, &door).start_cpu;
	(void)kill(r.server, SIGKILL);
	(void)waitpid(r.server, NULL, 0);
	(void)close(to[0]);
	(void)close(to[1]);
	return m;
}

static int by_size(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return x < y ? -1 : x > y;
}

/* Measures the pods' times and stores them in took, sorted. */
static void measure_pods(const struct fleet_size *size, const char *iso, int32_t took[FLEET_PODS])
{
	const ssize_t bytes = FLEET_PODS * (ssize_t)sizeof(*took);
	struct fleet_door door;
	int to[2];
	pid_t server = fork_with(to), controller;

	if (server == 0)
		fleet_serve(size, to[1]);
	if (read(to[0], &door, sizeof(door)) != (ssize_t)sizeof(door))
		die("the servers did not start");
	controller = fork();
	if (controller == 0) {
		struct run r = {.size = *size, .server = server, .pods = true};

		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		run(&r, iso, door.host);
		_exit(1);
	}
	if (read(to[0], took, (size_t)bytes) != bytes)
		die("no pod was served");
	(void)kill(controller, SIGKILL);
	(void)kill(server, SIGKILL);
	(void)waitpid(server, NULL, 0);
	(void)waitpid(controller, NULL, 0);
	(void)close(to[0]);
	(void)close(to[1]);
	qsort(took, FLEET_PODS, sizeof(*took), by_size);
}

static void make_iso(char path[static 64])
{
	char *block = mem_alloc(PROTO_BOOT_BLOCK);
	FILE *f;
	int fd;

	str_copy(path, 64, "/tmp/drover-bench-XXXXXX");
	fd = mkstemp(path);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f)
		die("no file in /tmp");
	memset(block, ' ', PROTO_BOOT_BLOCK);
	memcpy(block, PROTO_BOOT_MARK, sizeof(PROTO_BOOT_MARK) - 1);
	(void)fwrite("head ", 1, 5, f);
	(void)fwrite(block, 1, PROTO_BOOT_BLOCK, f);
	(void)fwrite("end", 1, 3, f);
	(void)fclose(f);
	free(block);
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

static void tell_curve(const char *name, const char *unit, const struct entry_curve *curve,
		       double value, double goal, const char *reference, double reference_value)
{
	entry_print_curve(&(struct entry){.name = name,
					  .unit = unit,
					  .better = "lower",
					  .value = value,
					  .goal = goal,
					  .reference = reference,
					  .reference_value = reference_value,
					  .n = curve->sizes[curve->n - 1]},
			  curve);
}

/* Starts a controller with each number of machines. only_start: with the first number only, for the
 * figures that are no curve. size: the only number of machines; 0: all numbers. */
static void measure_scale(const char *iso, bool only_start, unsigned size)
{
	struct entry_curve cpu = {.n = only_start || size ? 1 : 4, .sizes = SCALE}, wall, rss, turn,
			   event;
	const size_t last = cpu.n - 1;
	double slowest_event = 0;
	struct measured m = {0};

	if (size)
		cpu.sizes[0] = size;
	wall = rss = turn = event = cpu;
	for (size_t i = 0; i <= last; i++) {
		const unsigned n = cpu.sizes[i];

		m = measure(&(struct fleet_size){n, 500, 0, n, 0, false, 0}, iso, !only_start,
			    false, i == last && !only_start);
		cpu.values[i] = m.start_cpu;
		wall.values[i] = m.start_s;
		rss.values[i] = m.rss;
		turn.values[i] = m.turn_ms;
		event.values[i] = m.event_us;
		slowest_event = m.event_us > slowest_event ? m.event_us : slowest_event;
		if (i || size)
			continue;
		tell("start_cpu_s", "s", m.start_cpu, 3, "jansson, the same objects", m.json_cpu,
		     n);
		tell("loop_turn_max_ms", "ms", m.turn_ms, 20, "jansson, one Node", m.node_us / 1000,
		     n);
	}
	if (only_start)
		return;
	tell_curve("scale_start_cpu_s", "s", &cpu, cpu.values[last], 8,
		   "libcurl alone, as many requests", m.curl_cpu);
	if (last)
		tell_curve("scale_start_cpu_exponent", "", &cpu, entry_exponent(&cpu), 1.1,
			   "linear growth", 1);
	tell("scale_restart_cpu_s", "s", m.restart_cpu, 8, "the start before it", m.start_cpu,
	     cpu.sizes[last]);
	tell_curve("scale_start_s", "s", &wall, wall.values[last], 60, "its processor time",
		   m.start_cpu);
	tell_curve("scale_rss_mb", "MB", &rss, rss.values[last], 256, "the objects as text",
		   (double)m.bytes / MIB);
	tell_curve("scale_turn_max_ms", "ms", &turn, turn.values[last], 20, "jansson, one Node",
		   m.node_us / 1000);
	tell_curve("scale_node_event_us", "us", &event, slowest_event, 100,
		   "jansson, the same Node", m.node_us);
}

/* Starts a controller with each number of waiting pods. size: the only number; 0: all numbers. */
static void measure_waiting(const char *iso, unsigned size)
{
	struct entry_curve cpu = {.n = size ? 1 : 4, .sizes = WAITING}, rss, turn;
	const size_t last = cpu.n - 1;
	struct measured m = {0};

	if (size)
		cpu.sizes[0] = size;
	rss = turn = cpu;
	for (size_t i = 0; i <= last; i++) {
		m = measure(&(struct fleet_size){1000, 500, 0, 1000, 0, false, cpu.sizes[i]}, iso,
			    false, false, false);
		cpu.values[i] = m.start_cpu;
		rss.values[i] = m.rss;
		turn.values[i] = m.turn_ms;
	}
	tell_curve("waiting_rss_mb", "MB", &rss, rss.values[last], 160, "the objects as text",
		   (double)m.bytes / MIB);
	tell_curve("waiting_turn_max_ms", "ms", &turn, turn.values[last], 20, "jansson, one Node",
		   m.node_us / 1000);
	tell_curve("waiting_start_cpu_s", "s", &cpu, cpu.values[last], 8,
		   "libcurl alone, as many requests", m.curl_cpu);
	if (last)
		tell_curve("waiting_start_cpu_exponent", "", &cpu, entry_exponent(&cpu), 1.1,
			   "linear growth", 1);
}

int main(int argc, char **argv)
{
	static const struct fleet_size small = {1000, 10, 2000, 1000, 0, false, 0},
				       large = {1000, 500, 20000, 2000, 0, false, 0},
				       nodes = {1000, 500, 0, 5000, 0, false, 0},
				       pods = {1000, 500, 0, 5000, FLEET_PODS + 20, false, 0},
				       page = {1000, 500, 0, 1000, 0, true, 0};
	int32_t took[FLEET_PODS];
	const char *only = argc > 1 ? argv[1] : NULL;
	struct measured m;
	char iso[64];

	mem_init();
	make_iso(iso);
	if (!only || str_eq(only, "start") || str_eq(only, "scale"))
		measure_scale(iso, str_eq(only, "start"),
			      argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0);
	if (!only || str_eq(only, "waiting"))
		measure_waiting(iso, argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0);
	if (!only || str_eq(only, "nodes")) {
		m = measure(&nodes, iso, true, false, false);
		tell("node_event_cpu_us", "us", m.event_us, 100, "jansson, the same Node",
		     m.node_us, 5000);
	}
	if (!only || str_eq(only, "pods")) {
		measure_pods(&pods, iso, took);
		tell("mark_to_first_call_p99_ms", "ms", took[FLEET_PODS * 99 / 100], 1000,
		     "the median of the same", took[FLEET_PODS / 2], FLEET_PODS);
	}
	if (!only || str_eq(only, "page")) {
		m = measure(&page, iso, false, true, false);
		tell("page_first_load_kb", "kB", m.page.first / 1000, 200,
		     "the machines with full rows", m.page.full_first / 1000, 1000);
		tell("page_rest_bytes_s", "B/s", m.page.rest, 2000, "the stream with full rows",
		     m.page.full_rest, 1000);
	}
	if (!only || str_eq(only, "small")) {
		m = measure(&small, iso, false, false, false);
		tell("controller_rss_1k_mb", "MB", m.rss, 64, "the objects as text",
		     (double)m.bytes / MIB, 1000);
	}
	if (!only || str_eq(only, "large")) {
		m = measure(&large, iso, false, false, false);
		tell("controller_rss_mb", "MB", m.rss, 128, "the objects as text",
		     (double)m.bytes / MIB, 20000);
	}
	(void)unlink(iso);
	return 0;
}
