/*
 * bench_why: measures `drover why` without a name, on the objects of 1,000 machines, 500 tenants
 * and 20,000 waiting pods, with an API server in another process.
 *
 *   why_all_ms       from the first connection until the list is printed
 *   why_all_rss_mb   peak resident memory of the process that prints it
 *
 * 50 machines are quarantined; each tenant has 40 pods, which wait too long for two reasons. Each
 * round is a process of its own; the time is the median, the memory the highest. The reference of
 * the time is a process that reads the same lists and does nothing with them, that of the memory
 * the size of the objects as text. The number of rows is checked.
 */
#include <fcntl.h>
#include <sys/wait.h>
#include <time.h>

#include "base/http/http.h"
#include "base/http/http_curl.h"
#include "cli/verbs.h"
#include "kube/config.h"
#include "tests/bench/entry.h"
#include "tests/bench/fleet.h"

#define MIB (1024.0 * 1024)
enum { ROUNDS = 5, MACHINES = 1000, TENANTS = 500, PODS = 40, BROKEN = 50 };

static _Noreturn void die(const char *what)
{
	(void)fprintf(stderr, "bench_why: %s\n", what);
	exit(1);
}

/* --- the API server --------------------------------------------------------------------------- */

static void put_tenant(struct fleet *f, unsigned t)
{
	OWN(arena) a = arena_new();
	const char *pods = "";

	for (int i = 0; i < PODS; i++)
		pods = arena_printf(
			a,
			"%s%s{'pod': 'default/train-%d', 'place': %d, 'reason': '%s', 'message': "
			"'pool gpus: 1000 machines fit, all taken (950 serving, 50 quarantined)', "
			"'since': '2026-11-01T10:00:00Z'}",
			pods, i ? ", " : "", i, i + 1, i % 2 ? "TooBig" : "GangIncomplete");
	fleet_put(f, &f->host, arena_printf(a, "virtualclusters.drover.dev/team-%u", t),
		  arena_printf(a,
			       "{'apiVersion': 'drover.dev/v1alpha1', 'kind': 'VirtualCluster', "
			       "'metadata': {'name': 'team-%u', 'uid': 'uid-team-%u', "
			       "'generation': 1}, 'spec': {'kubeconfigSecretRef': {'namespace': "
			       "'vc-%u', 'name': 'vc-%u'}, 'quota': {'nvidia.com/gpu': '64'}}, "
			       "'status': {'waiting': [%s]}}",
			       t, t, t, t, pods));
}

static void put_broken(struct fleet *f, unsigned m)
{
	OWN(arena) a = arena_new();

	fleet_put(f, &f->host, arena_printf(a, "machines.drover.dev/m-%u", m),
		  arena_printf(a,
			       "{'apiVersion': 'drover.dev/v1alpha1', 'kind': 'Machine', "
			       "'metadata': {'name': 'm-%u', 'uid': 'uid-m-%u', 'generation': 1}, "
			       "'spec': {'providerRef': {'name': 'rack'}, 'managementPolicy': "
			       "'Manage'}, 'status': {'state': 'quarantined', 'stateSince': "
			       "'2026-11-01T10:10:00Z', 'quarantine': {'reason': 'DriveMissing', "
			       "'message': 'eui.2 was not seen', 'exit': 'operator', 'since': "
			       "'2026-11-01T10:10:00Z'}}}",
			       m, m));
}

static _Noreturn void serve(int to_parent)
{
	struct fleet *f = mem_new(struct fleet);
	struct fleet_door door;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	f->size = (struct fleet_size){.machines = MACHINES, .tenants = TENANTS};
	f->l = loop_uv_new();
	f->g = loop_group_new(f->l, "fleet");
	f->host.store = store_mem_new(f->g, FLEET_HISTORY);
	fleet_open(f, &f->host);
	fleet_definitions(f);
	f->bytes = 0;
	fleet_common(f, "");
	for (unsigned m = 0; m < MACHINES; m++) {
		OWN(arena) a = arena_new();

		if (m < BROKEN)
			put_broken(f, m);
		else
			fleet_machine(f, m, a);
	}
	for (unsigned t = 0; t < TENANTS; t++)
		put_tenant(f, t);
	fleet_api(f, &f->host);
	door = (struct fleet_door){.host = f->host.port, .bytes = f->bytes};
	if (write(to_parent, &door, sizeof(door)) != (ssize_t)sizeof(door))
		fleet_die("nobody wants the address");
	loop_run(f->l);
	exit(0);
}

/* --- one round -------------------------------------------------------------------------------- */

static double now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void on_any(json_t *o, void *arg)
{
	(void)o;
	++*(size_t *)arg;
}

static void read_only(struct cli_client *c)
{
	static const enum object_kind_id kinds[] = {
		OBJECT_PROVIDER, OBJECT_NODE_POOL,  OBJECT_VIRTUAL_CLUSTER, OBJECT_MACHINE,
		OBJECT_DRAIN,	 OBJECT_NODE_CLAIM, OBJECT_BURST_POLICY};
	size_t n = 0;
	struct err e;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (cli_list(c, kinds[i], on_any, &n, &e) < 0)
			die(e.text);
}

/* Lists everything, or, if not `whole`, only reads the objects. Ends the process. */
static _Noreturn void client(unsigned port, bool whole, int to_parent)
{
	char url[64], *said = NULL;
	size_t len = 0;
	double took = now_ms();
	struct kube_config config = {.server = url, .local_ok = true};
	const struct kube_client_spec s = {.config = &config, .name = "host", .plain_ok = true};
	struct cli_client c = {.verb = "drover why", .out = open_memstream(&said, &len)};
	struct err e;

	str_format(url, sizeof(url), "http://127.0.0.1:%u", port);
	c.loop = loop_uv_new();
	c.group = loop_group_new(c.loop, "cli");
	c.http = http_new(c.group, http_curl_new(c.group, 4), 4);
	c.host = kube_client_new(c.group, c.http, &s, &e);
	if (!c.host)
		die(e.text);
	if (!whole)
		read_only(&c);
	else if (cli_do_stuck(&c, NULL) != 0)
		die("drover why failed");
	(void)fflush(c.out);
	took = now_ms() - took;
	if (whole && (!strstr(said, "Needs an operator (50)\n") ||
		      !strstr(said, "Needs a change by its tenant (1000)\n")))
		die("the list is not complete");
	if (write(to_parent, &took, sizeof(took)) != (ssize_t)sizeof(took))
		die("nobody wants the time");
	exit(0);
}

static double round_ms(unsigned port, bool whole, double *mib)
{
	struct rusage use;
	double took;
	int pipes[2], status;
	pid_t child;

	if (pipe2(pipes, O_CLOEXEC) < 0 || (child = fork()) < 0)
		die("fork");
	if (!child)
		client(port, whole, pipes[1]);
	if (wait4(child, &status, 0, &use) < 0 || status != 0 ||
	    read(pipes[0], &took, sizeof(took)) != (ssize_t)sizeof(took))
		die("a round failed");
	(void)close(pipes[0]);
	(void)close(pipes[1]);
	if (mib && (double)use.ru_maxrss / 1024 > *mib)
		*mib = (double)use.ru_maxrss / 1024;
	return took;
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(void)
{
	struct fleet_door door;
	double whole[ROUNDS], lists[ROUNDS], mib = 0;
	int pipes[2];
	pid_t server;

	mem_init();
	if (pipe2(pipes, O_CLOEXEC) < 0 || (server = fork()) < 0)
		die("fork");
	if (!server)
		serve(pipes[1]);
	if (read(pipes[0], &door, sizeof(door)) != (ssize_t)sizeof(door))
		die("the API server did not start");
	for (int i = 0; i < ROUNDS; i++) {
		lists[i] = round_ms(door.host, false, NULL);
		whole[i] = round_ms(door.host, true, &mib);
	}
	(void)kill(server, SIGKILL);
	(void)waitpid(server, NULL, 0);
	qsort(whole, ROUNDS, sizeof(whole[0]), by_value);
	qsort(lists, ROUNDS, sizeof(lists[0]), by_value);
	entry_print(&(struct entry){.name = "why_all_ms",
				    .unit = "ms",
				    .better = "lower",
				    .value = whole[ROUNDS / 2],
				    .goal = 300,
				    .reference = "reading the same lists",
				    .reference_value = lists[ROUNDS / 2],
				    .n = MACHINES});
	entry_print(&(struct entry){.name = "why_all_rss_mb",
				    .unit = "MB",
				    .better = "lower",
				    .value = mib,
				    .goal = 32,
				    .reference = "the objects as text",
				    .reference_value = (double)door.bytes / MIB,
				    .n = MACHINES});
	return 0;
}
