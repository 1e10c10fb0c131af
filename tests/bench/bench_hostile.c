/*
 * bench_hostile: measures the effect of one hostile tenant, at its limits, on 499 ordinary tenants.
 * The reference is the same run without the hostile tenant.
 *
 *   hostile_tenant_plan_ms   one plan for all: time until the pods of the 499 are placed
 *   hostile_tenant_turn_ms   longest turn of the loop during the plan
 *   hostile_tenant_read_mb   peak of memory while the pods of a tenant are read and added to the
 *                            world: 130 pods with 1 MB of labels, 20 with 2.5 MB of containers and
 *                            owners, and 3,000 just below the limit of one pod. The reference is as
 *                            many ordinary pods
 *   hostile_tenant_read_ms   longest turn of the loop meanwhile, in processor time
 *
 * The hostile tenant's waiting pods are first in the queue: 1,500 that each have 32 different
 * anti-affinity terms, and 10,000 that each have a different node selector. The other tenants have
 * 10 nodes, 20 bound pods and 4 waiting pods each. Times of a plan are processor time, the best of
 * the rounds.
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
#include "base/buf.h"
#include "base/http/http_curl.h"
#include "base/httpd/httpd_mhd.h"
#include "base/loop/loop_uv.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/tenant/projection.h"
#include "controller/tenant/tenant.h"
#include "kube/cache.h"
#include "planner/plan.h"
#include "tests/bench/entry.h"

#define TENANTS 499
#define NODES 10
#define BOUND 20
#define WAITING 4
#define MACHINES 100
#define TERMS 32
#define APART_PODS 1500
#define PICKY_PODS 10000
#define ROUNDS 5

#define BIG_PODS 130
#define BIG_LABELS 9000 /* Number of labels of a big pod: about 1 MB */
#define DENSE_PODS 20
#define DENSE 30000 /* Number of containers, and of owners, of a dense pod: 2.5 MB */
#define FULL_PODS 3000
/* Number of labels of a full pod, whose size is just below TENANT_POD_BYTES */
#define FULL_LABELS 100
#define PAGE 10

/* Returns the processor time of this thread in ms. A plan never waits, and other processes do not
 * count. */
static double now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static _Noreturn void die(const char *what)
{
	(void)fprintf(stderr, "bench_hostile: %s\n", what);
	exit(1);
}

/* --- the world -------------------------------------------------------------------------------- */

static struct resource wants[] = {{"cpu", {(__int128)1000000000}},
				  {"nvidia.com/gpu", {(__int128)1000000000}}};
static struct resource has[] = {{"cpu", {(__int128)64 * 1000000000}},
				{"nvidia.com/gpu", {(__int128)8 * 1000000000}},
				{"pods", {(__int128)110 * 1000000000}}};

static void put_tenant(struct world *w, const char *name, int64_t priority)
{
	world_put_tenant(
		w, &(struct world_tenant){
			   .name = name, .weight = 1, .version = "1.36", .priority = priority});
}

static void put_pod(struct world *w, const char *tenant, const char *node, unsigned i)
{
	char name[32];
	struct world_pod p = {.tenant = tenant,
			      .ns = "default",
			      .name = name,
			      .uid = name,
			      .node = node,
			      .unschedulable = !node,
			      .requests = {wants, 2}};

	(void)str_format(name, sizeof(name), "pod-%u", i);
	world_put_pod(w, &p);
}

static void put_ordinary(struct world *w, unsigned i)
{
	char tenant[32], node[32];

	(void)str_format(tenant, sizeof(tenant), "tenant-%u", i);
	put_tenant(w, tenant, 0);
	for (unsigned k = 0; k < NODES; k++) {
		(void)str_format(node, sizeof(node), "node-%u", k);
		world_put_node(w, &(struct world_node){.tenant = tenant,
						       .name = node,
						       .allocatable = {has, 3},
						       .ready = true});
	}
	for (unsigned k = 0; k < BOUND + WAITING; k++) {
		(void)str_format(node, sizeof(node), "node-%u", k % NODES);
		put_pod(w, tenant, k < BOUND ? node : NULL, k);
	}
}

static struct world *make_world(void)
{
	static struct world_instance_type type = {.name = "gpu", .capacity = {has, 3}};
	const char *providers[] = {"rack"}, *versions[] = {"1.36"};
	struct world *w = world_new();
	char name[32];

	world_put_provider(w, &(struct world_provider){.name = "rack", .types = {&type, 1}});
	world_put_pool(w, &(struct world_pool){.name = "pool",
					       .providers = providers,
					       .nproviders = 1,
					       .versions = versions,
					       .nversions = 1});
	for (unsigned i = 0; i < MACHINES; i++) {
		(void)str_format(name, sizeof(name), "machine-%u", i);
		world_put_machine(w, &(struct world_machine){.name = name,
							     .provider = "rack",
							     .instance_type = "gpu",
							     .offered = true,
							     .level_flash = -1,
							     .level_hdd = -1});
	}
	for (unsigned i = 0; i < TENANTS; i++)
		put_ordinary(w, i);
	return w;
}

static void put_apart(struct world *w, unsigned i)
{
	char name[32], values[TERMS][32];
	const char *value[TERMS];
	struct requirement of[TERMS];
	struct world_topology t[TERMS];
	struct world_pod p = {.tenant = "hostile",
			      .ns = "default",
			      .name = name,
			      .uid = name,
			      .unschedulable = true,
			      .requests = {wants, 2},
			      .topology = {t, TERMS}};

	(void)str_format(name, sizeof(name), "apart-%u", i);
	for (unsigned k = 0; k < TERMS; k++) {
		(void)str_format(values[k], sizeof(values[k]), "v-%u-%u", i, k);
		value[k] = values[k];
		of[k] = (struct requirement){"app", SELECTOR_IN, &value[k], 1};
		t[k] = (struct world_topology){
			.kind = WORLD_APART, .key = "kubernetes.io/hostname", .pods = {&of[k], 1}};
	}
	world_put_pod(w, &p);
}

static void put_picky(struct world *w, unsigned i)
{
	char name[32];
	struct label want = {"only", name};
	struct world_pod p = {.tenant = "hostile",
			      .ns = "default",
			      .name = name,
			      .uid = name,
			      .unschedulable = true,
			      .requests = {wants, 2},
			      .node_selector = {&want, 1}};

	(void)str_format(name, sizeof(name), "picky-%u", i);
	world_put_pod(w, &p);
}

struct planned {
	double ms, turn_ms;
};

/* Makes a plan as controller/claims/provisioner.c does, without the other work of the loop. Returns
 * the best times of the rounds. */
static struct planned plan(struct world *w, size_t pods)
{
	struct planned best = {1e9, 1e9};

	for (int i = 0; i < ROUNDS; i++) {
		OWN(arena) a = arena_new();
		double from = now_ms(), at = from, turn = 0;
		struct plan_run *r = plan_begin(w, 0, a);
		struct plan *p = NULL;

		turn = now_ms() - at;
		at = now_ms();
		while (!p) {
			p = plan_step(r, PLAN_SLICE);
			turn = now_ms() - at > turn ? now_ms() - at : turn;
			at = now_ms();
		}
		if (p->npods != pods)
			die("not all pods are in the plan");
		plan_end(r);
		best.ms = at - from < best.ms ? at - from : best.ms;
		best.turn_ms = turn < best.turn_ms ? turn : best.turn_ms;
	}
	return best;
}

static void bench_plan(void)
{
	struct world *w = make_world();
	struct planned without = plan(w, (size_t)TENANTS * WAITING), with;

	put_tenant(w, "hostile", 1000000);
	for (unsigned i = 0; i < APART_PODS; i++)
		put_apart(w, i);
	for (unsigned i = 0; i < PICKY_PODS; i++)
		put_picky(w, i);
	with = plan(w, (size_t)TENANTS * WAITING + APART_PODS + PICKY_PODS);
	world_free(w);
	entry_print(&(struct entry){"hostile_tenant_plan_ms", "ms", "lower", with.ms, 500,
				    "without it", without.ms, TENANTS + 1});
	entry_print(&(struct entry){"hostile_tenant_turn_ms", "ms", "lower", with.turn_ms, 20,
				    "without it", without.turn_ms, TENANTS + 1});
}

/* --- reading ---------------------------------------------------------------------------------- */

static void put_text(struct buf *b, unsigned n, unsigned labels)
{
	buf_printf(b,
		   "{\"metadata\":{\"name\":\"p-%u\",\"namespace\":\"default\",\"uid\":\"u-%u\","
		   "\"resourceVersion\":\"%u\",\"labels\":{\"app\":\"p-%u\"",
		   n, n, n + 1, n);
	for (unsigned i = 0; i < labels; i++)
		buf_printf(b, ",\"k%06u-%050u\":\"v%050u\"", i, n, n);
	buf_puts(
		b,
		"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"limits\":"
		"{\"nvidia.com/gpu\":\"8\"}}}]},\"status\":{\"phase\":\"Pending\",\"conditions\":["
		"{\"type\":\"PodScheduled\",\"status\":\"False\",\"reason\":\"Unschedulable\"}]}}");
}

/* Writes a pod with as many small values as fit, in members that are read. */
static void put_dense(struct buf *b, unsigned n)
{
	buf_printf(b,
		   "{\"metadata\":{\"name\":\"p-%u\",\"namespace\":\"default\",\"uid\":\"u-%u\","
		   "\"resourceVersion\":\"%u\",\"ownerReferences\":[",
		   n, n, n + 1);
	for (unsigned i = 0; i < DENSE; i++)
		buf_puts(b, i ? ",{\"controller\":true,\"kind\":[]}" : "{}");
	buf_puts(b, "]},\"spec\":{\"containers\":[");
	for (unsigned i = 0; i < DENSE; i++)
		buf_printf(b, "%s{\"resources\":{\"requests\":{\"%u\":1,\"cpu\":1}}}", i ? "," : "",
			   i);
	buf_puts(b, "]},\"status\":{\"phase\":\"Pending\"}}");
}

struct server {
	bool hostile;
};

static int64_t silence(char *out, size_t max, uint64_t pos, void *arg)
{
	(void)out, (void)max, (void)pos, (void)arg;
	return 0;
}

static void on_list(struct httpd_req *q, void *arg)
{
	const struct server *s = arg;
	const char *from = httpd_query(q, "continue");
	unsigned at = from ? (unsigned)atoi(from) : 0, total = BIG_PODS + DENSE_PODS + FULL_PODS;
	struct buf b;

	if (httpd_query(q, "watch")) {
		httpd_reply_stream(q, 200, "application/json",
				   &(struct httpd_reader){.read = silence, .size = -1});
		return;
	}
	buf_init(&b, (size_t)64 << 20);
	buf_puts(&b,
		 "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":"
		 "\"99999999\"");
	if (at + PAGE < total)
		buf_printf(&b, ",\"continue\":\"%u\"", at + PAGE);
	buf_puts(&b, "},\"items\":[");
	for (unsigned i = at; i < at + PAGE && i < total; i++) {
		buf_puts(&b, i > at ? "," : "");
		if (s->hostile && i >= BIG_PODS && i < BIG_PODS + DENSE_PODS)
			put_dense(&b, i);
		else
			put_text(&b, i, !s->hostile ? 3 : i < BIG_PODS ? BIG_LABELS : FULL_LABELS);
	}
	buf_puts(&b, "]}");
	httpd_reply(q, 200, "application/json", b.data, b.len);
	buf_done(&b);
}

static _Noreturn void serve(bool hostile, int to_parent)
{
	struct server s = {hostile};
	struct loop *l = loop_uv_new();
	struct httpd *d = httpd_new(loop_group_new(l, "server"));
	struct httpd_mhd *m;
	unsigned port;
	struct err e;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
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

struct reading {
	/* Tenant of the pods; only its name is set, which the projection needs */
	struct tenant tenant;
	struct loop *loop;
	struct world *world;
};

static void on_change(const struct kube_entry *old, const struct kube_entry *new_, void *arg)
{
	struct reading *in = arg;

	(void)old;
	if (new_)
		world_put_pod(in->world, new_->object);
}

static void on_sync(void *arg)
{
	loop_stop(((struct reading *)arg)->loop);
}

struct read_result {
	double mb, turn_ms;
};

static double peak_mb(void)
{
	struct rusage u;

	(void)getrusage(RUSAGE_SELF, &u);
	return (double)u.ru_maxrss / 1024;
}

/* Reads all pods in a process of its own, so that its memory can be measured. */
static _Noreturn void read_all(unsigned port, int to_parent)
{
	static char name[] = "hostile";
	struct reading in = {.tenant.name = name, .loop = loop_uv_new(), .world = world_new()};
	struct loop_group *g = loop_group_new(in.loop, "reading");
	struct http *h = http_new(g, http_curl_new(g, 8), 0);
	struct kube_config config = {.server = mem_printf("http://127.0.0.1:%u", port)};
	struct kube_client *c;
	struct read_result r;
	struct err e;
	double before = peak_mb();

	c = kube_client_new(
		g, h, &(struct kube_client_spec){.config = &config, .plain_ok = true, .qps = 10000},
		&e);
	if (!c)
		die(e.text);
	(void)kube_cache_new(g, &(struct kube_cache_spec){
					.client = c,
					.resource = &KUBE_PODS,
					.want = tenant_want_pod,
					.project = tenant_project_pod,
					.on_change = on_change,
					.on_sync = on_sync,
					.max_bytes = TENANT_PODS_BYTES,
					.max_objects = TENANT_PODS,
					.arg = &in,
				});
	loop_run(in.loop);
	r = (struct read_result){peak_mb() - before,
				 (double)loop_stats(in.loop).longest_cpu_us / 1000};
	if (write(to_parent, &r, sizeof(r)) != (ssize_t)sizeof(r))
		die("nobody wants the result");
	_exit(0);
}

static pid_t child(int fds[2])
{
	pid_t pid;

	if (pipe(fds) < 0 || (pid = fork()) < 0)
		die("no child process");
	if (pid > 0)
		(void)close(fds[1]);
	return pid;
}

static void answer(int fds[2], void *to, size_t len)
{
	if (read(fds[0], to, len) != (ssize_t)len)
		die("the child gave no answer");
	(void)close(fds[0]);
}

static struct read_result reading(bool hostile)
{
	struct read_result r;
	unsigned port;
	pid_t server, reader;
	int fds[2];

	server = child(fds);
	if (!server)
		serve(hostile, fds[1]);
	answer(fds, &port, sizeof(port));
	reader = child(fds);
	if (!reader)
		read_all(port, fds[1]);
	answer(fds, &r, sizeof(r));
	(void)waitpid(reader, NULL, 0);
	(void)kill(server, SIGKILL);
	(void)waitpid(server, NULL, 0);
	return r;
}

static void bench_read(void)
{
	const struct read_result without = reading(false), with = reading(true);

	entry_print(&(struct entry){"hostile_tenant_read_mb", "MB", "lower", with.mb, 192,
				    "ordinary pods", without.mb,
				    BIG_PODS + DENSE_PODS + FULL_PODS});
	entry_print(&(struct entry){"hostile_tenant_read_ms", "ms", "lower", with.turn_ms, 20,
				    "ordinary pods", without.turn_ms,
				    BIG_PODS + DENSE_PODS + FULL_PODS});
}

int main(void)
{
	mem_init();
	/* Reading comes first, because a child process starts with the memory of this one. */
	bench_read();
	bench_plan();
	return 0;
}
