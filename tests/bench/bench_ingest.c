/*
 * bench_ingest: a cache reads 100,000 pods of 4 KB from a server in another process, over plain
 * HTTP and in pages. The reference is jansson, which parses the same bytes as one text and does
 * nothing else.
 *
 *   ingest_extra_mb     peak memory of the process above its memory at the end (the cached pods)
 *   ingest_max_turn_ms  longest turn of the loop, in processor time, including the first watch
 *                       event
 *   ingest_ratio        bytes per second relative to jansson's, including the network
 *   ingest_cpu_ratio    bytes per second of processor time relative to jansson's: stable on a busy
 *                       computer
 *
 * Memory is that of the first round. Times, including the reference's, are the best of the rounds,
 * because other load can only make them worse. Argument: number of pods.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <jemalloc/jemalloc.h>
#include "base/buf.h"
#include "base/http/http_curl.h"
#include "base/httpd/httpd_mhd.h"
#include "base/loop/loop_uv.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/cache.h"

#define PODS 100000
#define PAGE 500
#define POD_BYTES 4096
#define ROUNDS 2
#define MIB (1024.0 * 1024)

static double seconds(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double cpu_seconds(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static _Noreturn void die(const char *what)
{
	(void)fprintf(stderr, "bench_ingest: %s\n", what);
	exit(1);
}

static double peak_mib(void)
{
	struct rusage u;

	(void)getrusage(RUSAGE_SELF, &u);
	return (double)u.ru_maxrss / 1024;
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

/* Returns the memory in MiB that is allocated by jemalloc and not freed. */
static double used_mib(void)
{
	uint64_t epoch = 1;
	size_t bytes, size = sizeof(bytes);

	/* The statistics are those of the last advance of the epoch. */
	if (mallctl("epoch", NULL, NULL, &epoch, sizeof(epoch)) ||
	    mallctl("stats.allocated", &bytes, &size, NULL, 0))
		die("no statistics of jemalloc");
	return (double)bytes / MIB;
}

/* --- the pods --------------------------------------------------------------------------------- */

/* Writes pod number n. All pods have the same length; only the digits of n differ. */
static void put_pod(struct buf *b, unsigned n)
{
	size_t from = b->len, left;

	buf_printf(b,
		   "{\"metadata\":{\"name\":\"train-%08u\",\"generateName\":\"train-\","
		   "\"namespace\":\"team-%02u\","
		   "\"uid\":\"0f6d0b1c-7a55-4b0f-9b57-2f5c%08u\",\"resourceVersion\":\"%08u\","
		   "\"creationTimestamp\":\"2026-11-01T10:00:00Z\","
		   "\"labels\":{\"app\":\"train\",\"pod-template-hash\":\"7c5ddbdf54\","
		   "\"team\":\"research\"},"
		   "\"ownerReferences\":[{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\","
		   "\"name\":\"train\","
		   "\"uid\":\"7fb2\",\"controller\":true,\"blockOwnerDeletion\":true}],"
		   "\"managedFields\":[",
		   n, n % 50, n, n + 1);
	for (int i = 0; i < 2; i++)
		buf_printf(b,
			   "%s{\"manager\":\"kube-controller-manager\",\"operation\":\"Update\","
			   "\"apiVersion\":\"v1\","
			   "\"time\":\"2026-11-01T10:00:00Z\",\"fieldsType\":\"FieldsV1\","
			   "\"fieldsV1\":{\"f:metadata\":"
			   "{\"f:generateName\":{},\"f:labels\":{\".\":{},\"f:app\":{},"
			   "\"f:team\":{}}},\"f:spec\":"
			   "{\"f:containers\":{\"k:{\\\"name\\\":\\\"main\\\"}\":{\".\":{},"
			   "\"f:image\":{},\"f:resources\":"
			   "{\".\":{},\"f:limits\":{\".\":{},\"f:nvidia.com/gpu\":{}}}}}}}}",
			   i ? "," : "");
	buf_puts(b, "]},\"spec\":{\"containers\":[");
	for (int i = 0; i < 2; i++)
		buf_printf(b,
			   "%s{\"name\":\"c%d\",\"image\":\"registry.example/train:v%d\","
			   "\"command\":[\"python\",\"train.py\"],"
			   "\"env\":[{\"name\":\"RANK\",\"value\":\"%d\"},{\"name\":\"NCCL_DEBUG\","
			   "\"value\":\"WARN\"}],"
			   "\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"4\","
			   "\"memory\":\"512Gi\"},\"requests\":"
			   "{\"cpu\":\"48\",\"memory\":\"512Gi\",\"nvidia.com/gpu\":\"4\"}},"
			   "\"volumeMounts\":"
			   "[{\"name\":\"data\",\"mountPath\":\"/data\"}]}",
			   i ? "," : "", i, i, i);
	buf_puts(b, "],\"volumes\":[{\"name\":\"data\","
		    "\"persistentVolumeClaim\":{\"claimName\":\"data\"}}],"
		    "\"nodeSelector\":{\"nvidia.com/gpu.product\":\"NVIDIA-H100-80GB-HBM3\"},"
		    "\"priority\":1000,"
		    "\"tolerations\":[{\"key\":\"nvidia.com/gpu\",\"operator\":\"Exists\","
		    "\"effect\":\"NoSchedule\"},"
		    "{\"key\":\"node.kubernetes.io/not-ready\",\"operator\":\"Exists\","
		    "\"effect\":\"NoExecute\","
		    "\"tolerationSeconds\":300}]},\"status\":{\"phase\":\"Pending\","
		    "\"conditions\":[{\"type\":"
		    "\"PodScheduled\",\"status\":\"False\",\"reason\":\"Unschedulable\","
		    "\"lastProbeTime\":null,"
		    "\"lastTransitionTime\":\"2026-11-01T10:00:01Z\",\"message\":\"0/12 nodes are "
		    "available\"}],"
		    "\"qosClass\":\"Burstable\",\"note\":\"");
	left = b->len - from + 3 < POD_BYTES ? POD_BYTES - 3 - (b->len - from) : 0;
	for (size_t i = 0; i < left; i++)
		buf_puts(b, "x");
	buf_puts(b, "\"}}");
}

static void put_page(struct buf *b, unsigned from, unsigned n, unsigned total)
{
	buf_printf(b, "{\"kind\":\"PodList\",\"apiVersion\":\"v1\","
		      "\"metadata\":{\"resourceVersion\":\"99999999\"");
	if (from + n < total)
		buf_printf(b, ",\"continue\":\"%u\"", from + n);
	buf_puts(b, "},\"items\":[");
	for (unsigned i = 0; i < n && from + i < total; i++) {
		buf_puts(b, i ? "," : "");
		put_pod(b, from + i);
	}
	buf_puts(b, "]}");
}

/* --- the server ------------------------------------------------------------------------------- */

struct server {
	unsigned total;
	/* Texts of the pages of the list, created before the measurement */
	char **pages;
	size_t *sizes;
};

/* State of a watch, which gets a single event and then nothing */
struct event {
	const struct server *s;
	bool sent;
};

static int64_t watch_read(char *out, size_t max, uint64_t pos, void *arg)
{
	struct event *ev = arg;
	struct buf b;
	size_t n;

	(void)pos;
	if (ev->sent)
		return 0;
	ev->sent = true;
	buf_init(&b, 65536);
	buf_puts(&b, "{\"type\":\"MODIFIED\",\"object\":");
	put_pod(&b, ev->s->total - 1);
	memcpy(strstr(b.data, "\"resourceVersion\":\"") + strlen("\"resourceVersion\":\""),
	       "99999999", 8);
	buf_puts(&b, "}\n");
	n = b.len;
	if (n > max)
		die("the listener asks for less than one event");
	memcpy(out, b.data, n);
	buf_done(&b);
	return (int64_t)n;
}

static void on_list(struct httpd_req *q, void *arg)
{
	struct server *s = arg;
	const char *from = httpd_query(q, "continue");
	size_t page = from ? (size_t)atoi(from) / PAGE : 0;

	if (httpd_query(q, "watch")) {
		struct event *ev = mem_new(struct event);

		ev->s = s;
		httpd_reply_stream(
			q, 200, "application/json",
			&(struct httpd_reader){
				.read = watch_read, .done = free, .arg = ev, .size = -1});
		return;
	}
	if (page >= (s->total + PAGE - 1) / PAGE)
		die("a page that is none was asked for");
	httpd_reply(q, 200, "application/json", s->pages[page], s->sizes[page]);
}

static _Noreturn void serve(unsigned total, int to_parent)
{
	struct server s = {.total = total};
	struct loop *l = loop_uv_new();
	struct loop_group *g = loop_group_new(l, "server");
	struct httpd *d = httpd_new(g);
	struct httpd_mhd *m;
	unsigned port;
	struct err e;
	size_t npages = (total + PAGE - 1) / PAGE;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	s.pages = mem_calloc(npages, sizeof(*s.pages));
	s.sizes = mem_calloc(npages, sizeof(*s.sizes));
	for (size_t i = 0; i < npages; i++) {
		struct buf b;

		buf_init(&b, (size_t)PAGE * POD_BYTES * 2);
		put_page(&b, (unsigned)i * PAGE, PAGE, total);
		s.sizes[i] = b.len;
		s.pages[i] = buf_steal(&b);
	}
	httpd_route(d, "GET", "/api/v1/pods", 0, on_list, &s);
	m = httpd_mhd_new(d, &(struct httpd_mhd_spec){.address = "127.0.0.1:0"}, &e);
	if (!m)
		die(e.text);
	port = httpd_mhd_port(m);
	if (write(to_parent, &port, sizeof(port)) != (ssize_t)sizeof(port))
		die("nobody wants the port");
	loop_run(l);
	exit(0);
}

/* --- the reference ---------------------------------------------------------------------------- */

struct reference {
	double bytes, seconds, cpu, mib;
};

static _Noreturn void parse_whole(unsigned total, int to_parent)
{
	struct reference r;
	struct buf b;
	struct err e;
	double peak, from, cpu;
	json_t *j;

	buf_init(&b, (size_t)total * POD_BYTES * 2 + 65536);
	put_page(&b, 0, total, total);
	peak = peak_mib();
	from = seconds();
	cpu = cpu_seconds();
	j = json_parse_most(b.data, b.len, SIZE_MAX, &e);
	r.seconds = seconds() - from;
	r.cpu = cpu_seconds() - cpu;
	if (json_array_size(json_object_get(j, "items")) != total)
		die(j ? "the reference did not read all pods" : e.text);
	r.bytes = (double)b.len;
	r.mib = peak_mib() - peak;
	if (write(to_parent, &r, sizeof(r)) != (ssize_t)sizeof(r))
		die("nobody wants the reference");
	_exit(0);
}

static pid_t child(void (*fn)(unsigned total, int to_parent), unsigned total, void *answer,
		   size_t len)
{
	int fds[2];
	pid_t pid;

	if (pipe(fds) < 0 || (pid = fork()) < 0)
		die("no child process");
	if (pid == 0)
		fn(total, fds[1]);
	(void)close(fds[1]);
	if (read(fds[0], answer, len) != (ssize_t)len)
		die("the child gave no answer");
	(void)close(fds[0]);
	return pid;
}

/* --- measurement ------------------------------------------------------------------------------ */

/* Values that a controller stores of a waiting pod */
struct pod {
	const char *uid, *phase, *node, *reason, *gpus, *cpu, *memory, *product;
	int64_t priority;
};

struct ingest {
	struct loop *loop;
	double began, took, cpu;
	size_t events;
};

static const struct scan_want meta[] = {KUBE_WANT_META, SCAN_END};
static const struct scan_want amounts[] = {SCAN_ALL("requests", 0), SCAN_ALL("limits", 0),
					   SCAN_END};
static const struct scan_want container[] = {SCAN_SOME("resources", amounts), SCAN_END};
static const struct scan_want spec[] = {
	SCAN_PLAIN("nodeName"),	     SCAN_PLAIN("priority"),	 SCAN_SOME("containers", container),
	SCAN_ALL("nodeSelector", 0), SCAN_ALL("tolerations", 0), SCAN_END};
static const struct scan_want condition[] = {SCAN_PLAIN("type"), SCAN_PLAIN("status"),
					     SCAN_PLAIN("reason"), SCAN_END};
static const struct scan_want status[] = {SCAN_PLAIN("phase"), SCAN_SOME("conditions", condition),
					  SCAN_END};
static const struct scan_want pod[] = {SCAN_SOME("metadata", meta), SCAN_SOME("spec", spec),
				       SCAN_SOME("status", status), SCAN_END};

static void *project(const json_t *o, struct arena *a, void *arg, struct err *e)
{
	struct pod *p = arena_new_obj(a, struct pod);
	const json_t *of = json_object_get(o, "spec"), *is = json_object_get(o, "status");
	const json_t *requests = json_at(json_array_get(json_object_get(of, "containers"), 0),
					 "resources", "requests");

	(void)arg;
	(void)e;
	p->uid = arena_strdup(a, json_str_at(o, "metadata", "uid"));
	p->phase = arena_strdup(a, json_str_at(is, "phase"));
	p->node = arena_strdup(a, json_str_at(of, "nodeName"));
	p->reason = arena_strdup(
		a, json_str_at(json_array_get(json_object_get(is, "conditions"), 0), "reason"));
	p->gpus = arena_strdup(a, json_str_at(requests, "nvidia.com/gpu"));
	p->cpu = arena_strdup(a, json_str_at(requests, "cpu"));
	p->memory = arena_strdup(a, json_str_at(requests, "memory"));
	p->product = arena_strdup(a, json_str_at(of, "nodeSelector", "nvidia.com/gpu.product"));
	p->priority = json_int_at(of, "priority");
	return p;
}

static void on_change(const struct kube_entry *old, const struct kube_entry *new_, void *arg)
{
	struct ingest *in = arg;

	if (old && new_ && ++in->events)
		loop_stop(in->loop);
}

static void on_sync(void *arg)
{
	struct ingest *in = arg;

	in->took = seconds() - in->began;
	in->cpu = cpu_seconds() - in->cpu;
}

static void on_health(const struct err *e, void *arg)
{
	(void)arg;
	if (e)
		die(e->text);
}

static void cpu_name(char out[static 128])
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[256];

	(void)str_copy(out, 128, "unknown");
	while (f && fgets(line, sizeof(line), f)) {
		char *colon = strchr(line, ':');

		if (!colon || !str_starts(line, "model name"))
			continue;
		colon[strcspn(colon, "\n")] = '\0';
		(void)str_copy(out, 128, colon + 2);
		break;
	}
	if (f)
		(void)fclose(f);
}

static void print(const char *name, double value, const char *unit, double goal, const char *better,
		  const char *reference, double reference_value, double ratio, unsigned n)
{
	char cpu[128], *text;
	json_t *j;

	cpu_name(cpu);
	j = json_pack("{s:s, s:f, s:s, s:f, s:s, s:{s:s, s:f}, s:f, s:i, s:s}", "name", name,
		      "value", value, "unit", unit, "goal", goal, "better", better, "reference",
		      "name", reference, "value", reference_value, "ratio", ratio, "n", (int)n,
		      "cpu", cpu);
	text = json_dumps(j, JSON_COMPACT | JSON_REAL_PRECISION(6));
	(void)puts(text);
	free(text);
	json_decref(j);
}

struct round {
	double extra, store, turn_ms, seconds, cpu;
};

static struct round ingest(struct kube_config *config, unsigned total)
{
	struct ingest in = {.loop = loop_uv_new()};
	struct loop_group *g = loop_group_new(in.loop, "ingest");
	struct http *h = http_new(g, http_curl_new(g, 8), 0);
	struct kube_cache *cache;
	struct kube_client *c;
	struct round r;
	struct err e;
	double resident, used;

	c = kube_client_new(
		g, h, &(struct kube_client_spec){.config = config, .plain_ok = true, .qps = 10000},
		&e);
	if (!c)
		die(e.text);
	resident = resident_mib();
	used = used_mib();
	in.began = seconds();
	in.cpu = cpu_seconds();
	cache = kube_cache_new(g, &(struct kube_cache_spec){
					  .client = c,
					  .resource = &KUBE_PODS,
					  .want = pod,
					  .project = project,
					  .on_change = on_change,
					  .on_sync = on_sync,
					  .on_health = on_health,
					  .arg = &in,
				  });
	loop_run(in.loop);
	if (kube_cache_size(cache) != total || !in.events)
		die("the cache is not complete");
	r.store = used_mib() - used;
	r.extra = peak_mib() - resident - r.store;
	r.turn_ms = (double)loop_stats(in.loop).longest_cpu_us / 1000;
	r.seconds = in.took;
	r.cpu = in.cpu;
	kube_cache_free(cache);
	kube_client_free(c);
	http_free(h);
	loop_group_free(g);
	loop_free(in.loop);
	return r;
}

int main(int argc, char **argv)
{
	unsigned total = argc > 1 ? (unsigned)atoi(argv[1]) : PODS, port;
	struct kube_config config = {0};
	struct reference ref = {0};
	struct round best;
	double ratio;
	pid_t server;

	mem_init();
	for (int i = 0; i < ROUNDS; i++) {
		struct reference r;

		(void)waitpid(child(parse_whole, total, &r, sizeof(r)), NULL, 0);
		if (i && ref.cpu < r.cpu)
			r.cpu = ref.cpu;
		if (i && ref.seconds < r.seconds)
			r.seconds = ref.seconds;
		ref = r;
	}
	server = child(serve, total, &port, sizeof(port));
	config.server = mem_printf("http://127.0.0.1:%u", port);
	best = ingest(&config, total);
	for (int i = 1; i < ROUNDS; i++) {
		struct round r = ingest(&config, total);

		best.turn_ms = r.turn_ms < best.turn_ms ? r.turn_ms : best.turn_ms;
		best.seconds = r.seconds < best.seconds ? r.seconds : best.seconds;
		best.cpu = r.cpu < best.cpu ? r.cpu : best.cpu;
	}
	ratio = ref.seconds / best.seconds;
	print("ingest_extra_mb", best.extra, "MB", 64, "lower", "jansson, whole list", ref.mib,
	      best.extra / ref.mib, total);
	print("ingest_max_turn_ms", best.turn_ms, "ms", 20, "lower", "jansson, whole list",
	      ref.cpu * 1000, best.turn_ms / (ref.cpu * 1000), total);
	print("ingest_ratio", ratio, "x", 1, "higher", "jansson, whole list, MB/s",
	      ref.bytes / MIB / ref.seconds, ratio, total);
	print("ingest_cpu_ratio", ref.cpu / best.cpu, "x", 1, "higher",
	      "jansson, whole list, MB/s of CPU time", ref.bytes / MIB / ref.cpu,
	      ref.cpu / best.cpu, total);
	print("ingest_store_mb", best.store, "MB", 128, "lower", "bytes of the list",
	      ref.bytes / MIB, best.store / (ref.bytes / MIB), total);
	free(config.server);
	(void)kill(server, SIGKILL);
	(void)waitpid(server, NULL, 0);
	return 0;
}
