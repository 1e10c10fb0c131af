/*
 * bench_reclaim: the plan of a full fleet whose pool has reclaim: Borrowed. Of n machines of 8 GPUs
 * 95 % serve 8 of 16 tenants, which have borrowed half of them from the other 8; n pods of these
 * wait. Each size is planned in its own process.
 *
 *   plan_reclaim_4k_ms      one plan of 4,000 machines and 4,000 waiting pods
 *   plan_reclaim_10k_ms     the same for 10,000
 *   plan_reclaim_exponent   growth of the time over the sizes 1,280, 2,560, 5,120 and 10,240: 1 is
 *                           linear, 2 is quadratic. The reference is the same growth of a walk that
 *                           reads each line (64 bytes) of as much memory once, in random order: its
 *                           work is linear, and its time grows as the memory outgrows the caches.
 *                           Instructions grow with 1.06 (valgrind), since machines are sorted
 *   plan_reclaim_work_exponent   growth of the number of work units over these sizes; independent
 *                           of the computer
 *   plan_reclaim_slice_ms   longest slice (plan_step()) of the plan of 10,000
 *   plan_reclaim_unit_ns    time of one work unit (plan.h) in the slice in which a unit takes
 *                           longest; plan.h promises 10 to 50 ns
 *
 * Times are processor time, the best of the rounds. All machines that are borrowed must be taken
 * back, and no other.
 */
#include "base/mem.h"
#include "tests/bench/entry.h"
#include "tests/bench/plan_world.h"

#define ROUNDS 3
#define TENANTS 16
#define HOUR ((int64_t)3600 * 1000)
#define NOW (1000 * HOUR)
#define GPU "nvidia.com/gpu"

static struct resource capacity[] = {{"cpu", {0}}, {"memory", {0}}, {GPU, {0}}, {"pods", {0}}};
static struct resource eight[] = {{GPU, {0}}};

static void put_tenants(struct world *w, unsigned n)
{
	struct resource quota[] = {{GPU, quantity_of((int64_t)n * 8 / TENANTS)}};

	for (unsigned i = 0; i < TENANTS; i++) {
		char name[16];

		(void)str_format(name, sizeof(name), "tenant-%02u", i);
		world_put_tenant(w, &(struct world_tenant){.name = name,
							   .weight = 1,
							   .version = "1.36",
							   .cohort = "research",
							   .quota = {quota, 1}});
	}
}

static void put_supply(struct world *w)
{
	static const char *providers[] = {"hall"}, *versions[] = {"1.36"};
	struct world_instance_type type = {.name = "hgx", .capacity = {capacity, 4}};

	world_put_provider(w, &(struct world_provider){.name = "hall", .types = {&type, 1}});
	world_put_pool(w, &(struct world_pool){.name = "pool",
					       .providers = providers,
					       .nproviders = 1,
					       .versions = versions,
					       .nversions = 1,
					       .reclaim = WORLD_RECLAIM_BORROWED});
}

/* Puts machine i, which serves a tenant with one pod of 8 GPUs for 1 to 9 hours. */
static void put_serving(struct world *w, unsigned i)
{
	char machine[32], name[32], tenant[16], pod[32];
	struct label label = {BENCH_HOST, name};

	(void)str_format(machine, sizeof(machine), "machine-%05u", i);
	(void)str_format(name, sizeof(name), "claim-%05u", i * 7919 % 100000);
	(void)str_format(tenant, sizeof(tenant), "tenant-%02u", i % (TENANTS / 2));
	(void)str_format(pod, sizeof(pod), "on-%05u", i);
	world_put_machine(w, &(struct world_machine){.name = machine,
						     .provider = "hall",
						     .instance_type = "hgx",
						     .not_offered = "serving",
						     .level_flash = -1,
						     .level_hdd = -1});
	world_put_claim(w, &(struct world_claim){.tenant = tenant,
						 .name = name,
						 .pool = "pool",
						 .machine = machine,
						 .instance_type = "hgx",
						 .capacity = {capacity, 4},
						 .ready = true,
						 .created_ms = NOW - 500 * HOUR});
	world_put_node(w, &(struct world_node){.tenant = tenant,
					       .name = name,
					       .claim = name,
					       .ready = true,
					       .labels = {&label, 1},
					       .allocatable = {capacity, 4}});
	world_put_pod(w, &(struct world_pod){.tenant = tenant,
					     .ns = "default",
					     .name = pod,
					     .uid = pod,
					     .node = name,
					     .since = NOW - (1 + i % 9) * HOUR,
					     .requests = {eight, 1}});
}

static void put_waiting(struct world *w, unsigned i)
{
	char tenant[16], name[32];

	(void)str_format(tenant, sizeof(tenant), "tenant-%02u", TENANTS / 2 + i % (TENANTS / 2));
	(void)str_format(name, sizeof(name), "waits-%05u", i);
	world_put_pod(w, &(struct world_pod){.tenant = tenant,
					     .ns = "default",
					     .name = name,
					     .uid = name,
					     .unschedulable = true,
					     .since = NOW - 20 * HOUR - i * 1000,
					     .requests = {eight, 1}});
}

static struct world *full_fleet(unsigned n)
{
	struct world *w = world_new();

	capacity[0].q = quantity_of(64);
	capacity[1].q = quantity_of(512 * 1024 * BENCH_MIB);
	capacity[2].q = eight[0].q = quantity_of(8);
	capacity[3].q = quantity_of(110);
	put_tenants(w, n);
	put_supply(w);
	for (unsigned i = 0; i < n * 95 / 100; i++)
		put_serving(w, i);
	for (unsigned i = 0; i < n; i++)
		put_waiting(w, i);
	return w;
}

/* Times of one plan: the whole, its longest slice, and one work unit in the slice in which a unit
 * takes longest. */
struct times {
	double plan_ms, slice_ms, unit_ns, work;
	size_t taken;
};

static void highest(double *x, double value)
{
	if (value > *x)
		*x = value;
}

static void lowest(double *x, double value, bool first)
{
	if (first || value < *x)
		*x = value;
}

static struct times plan_once(struct world *w)
{
	OWN(arena) a = arena_new();
	const double began = bench_ms();
	struct plan_run *r = plan_begin(w, NOW, a);
	const struct plan *p = NULL;
	struct times t = {0};
	double last = began;

	while (!p) {
		const uint64_t before = plan_work(r);
		double now;

		p = plan_step(r, PLAN_SLICE);
		now = bench_ms();
		highest(&t.slice_ms, now - last);
		highest(&t.unit_ns, (now - last) * 1e6 / (double)(plan_work(r) - before));
		last = now;
	}
	t.plan_ms = last - began;
	t.taken = p->nreclaims;
	t.work = (double)plan_work(r);
	plan_end(r);
	return t;
}

/* --- a walk over memory ----------------------------------------------------------------------- */

struct line {
	_Alignas(64) size_t next;
};

/* Returns the peak of memory of this process so far, in bytes. */
static size_t peak(void)
{
	struct rusage u;

	if (getrusage(RUSAGE_SELF, &u) < 0)
		bench_die("getrusage");
	return (size_t)u.ru_maxrss * 1024;
}

/* Returns the best time of a walk over `bytes` of memory, in ms. Each line names the next one, so
 * the processor cannot read ahead. The order is a random cycle (Sattolo 1986). */
static double walk_ms(size_t bytes)
{
	const size_t n = bytes / sizeof(struct line);
	struct line *v = aligned_alloc(sizeof(*v), n * sizeof(*v));
	uint64_t seed = 88172645463325252;
	double best = 0;
	size_t at = 0;

	if (!v)
		bench_die("out of memory");
	for (size_t i = 0; i < n; i++)
		v[i].next = i;
	for (size_t i = n; i-- > 1;) {
		const size_t k = (size_t)(bench_next(&seed) % i), other = v[k].next;

		v[k].next = v[i].next;
		v[i].next = other;
	}
	for (int i = 0; i < ROUNDS; i++) {
		const double began = bench_ms();

		for (size_t k = 0; k < n; k++)
			at = v[at].next;
		lowest(&best, bench_ms() - began, !i);
	}
	free(v);
	if (at)
		bench_die("the walk is no cycle");
	return best;
}

/* Plans a full fleet of n machines. plan_ms: the whole plan; all_ms: its longest slice; unit_ns: as
 * in struct times; served: machines that are taken back; pods: machines that are borrowed. */
static struct bench_figure measure(unsigned n)
{
	const size_t before = peak();
	OWN(world) w = full_fleet(n);
	struct bench_figure best = {.pods = n * 95 / 100 - n / 2};

	for (int i = 0; i < ROUNDS; i++) {
		const struct times t = plan_once(w);

		best.served = t.taken;
		best.work = t.work;
		lowest(&best.plan_ms, t.plan_ms, !i);
		lowest(&best.all_ms, t.slice_ms, !i);
		lowest(&best.unit_ns, t.unit_ns, !i);
	}
	best.walk_ms = walk_ms(peak() - before);
	return best;
}

static struct bench_figure planned(unsigned n)
{
	const struct bench_figure f = bench_apart(measure, n);

	(void)fprintf(stderr,
		      "%u machines: %.1f ms, longest slice %.1f ms, %.0f work units, a walk over "
		      "as much memory %.2f ms, %zu of %zu borrowed machines are taken back\n",
		      n, f.plan_ms, f.all_ms, f.work, f.walk_ms, f.served, f.pods);
	if (f.served != f.pods)
		bench_die("other machines than the borrowed ones are taken back");
	return f;
}

static void print(const char *name, const char *unit, double value, double goal, unsigned n,
		  const struct entry_curve *curve)
{
	entry_print_curve(&(struct entry){name, unit, "lower", value, goal, "goal", goal, n},
			  curve);
}

int main(void)
{
	struct entry_curve times = {.n = 4, .sizes = {1280, 2560, 5120, 10240}}, walks = times,
			   works = times;
	struct bench_figure f;

	mem_init();
	for (size_t i = 0; i < times.n; i++) {
		f = planned(times.sizes[i]);
		times.values[i] = f.plan_ms;
		walks.values[i] = f.walk_ms;
		works.values[i] = f.work;
	}
	print("plan_reclaim_4k_ms", "ms", planned(4000).plan_ms, 60, 4000, NULL);
	f = planned(10000);
	print("plan_reclaim_10k_ms", "ms", f.plan_ms, 200, 10000, &times);
	print("plan_reclaim_slice_ms", "ms", f.all_ms, 5, 10000, NULL);
	print("plan_reclaim_unit_ns", "ns", f.unit_ns, 50, 10000, NULL);
	entry_print(&(struct entry){"plan_reclaim_exponent", "", "lower", entry_exponent(&times),
				    1.1, "a walk over as much memory", entry_exponent(&walks),
				    10240});
	print("plan_reclaim_work_exponent", "", entry_exponent(&works), 1.1, 10240, NULL);
	return 0;
}
