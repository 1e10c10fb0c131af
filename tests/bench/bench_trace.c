/*
 * bench_trace: replays months of a fleet: 100,000 jobs of 16 tenants on 2,000 machines of 8 GPUs in
 * 30 days.
 *
 *   trace_gpu_use_pct   share of GPUs that running pods use, over the 30 days; drain, wipe and boot
 *                       count as unused
 *   trace_bound_pct     upper bound of that share for any planner (bound_use()); boot, drain and
 *                       wipe cost nothing there
 *   trace_gain_ratio    that share relative to the same trace with the machines split evenly and
 *                       permanently among the tenants
 *   trace_gain_bound    the bound of the share relative to the same replay
 *   trace_replay_s      processor time of the first of these replays
 *   trace_turns_...     the same for a second trace, in which tenants have bursts in turn
 *
 * The first trace follows the demand model of the fleet reference (section 6: Meta's RSC clusters,
 * and the suggestions for simulators). Sizes and times have heavy tails, and gangs have powers of
 * two. There are many small jobs, while a few large ones use most GPU time. Tenants have different
 * habits and independent bursts. The second trace differs from the first only in when jobs arrive:
 * it shows what sharing gains if tenants need machines at different times.
 *
 *   size     2^k GPUs, k from 0 to 9, each a third as frequent as the one before; over 8: a gang of
 *            whole machines
 *   time     log-normal with sigma 1.5, at most 5 days
 *   tenant   the demand of the tenant of rank r is 1/r of the first one's
 *   burst    on for 1.5 days and off for 4.5 on average, exponential; jobs arrive while it is on
 *   turns    second trace: one burst of 3 days, which starts 1/16 of the 30 days after that of
 *            another tenant
 *   load     GPU-hours are scaled together to LOAD of the machines' GPU-hours in the 30 days
 *
 * The planner sees the 64 oldest waiting pods of each tenant.
 *
 * Each cause of randomness (size, time, burst, arrival) draws from its own stream, so that changing
 * one leaves the others unchanged. Machines do not fail. Jobs wait as long as needed; none is
 * withdrawn.
 *
 * A machine takes 5 min to boot, 1 min to drain, and 10 min to be wiped, verified and checked
 * before the next use. A Node is released after 10 min of idleness. Plans are at least 5 min apart.
 * A tenant with permanent machines never releases one, and so never wipes or boots one again.
 */
#include <math.h>
#include "base/mem.h"
#include "planner/replay/bound.h"
#include "planner/replay/replay.h"
#include "tests/bench/entry.h"
#include "tests/bench/plan_world.h"

#define TENANTS 16
#define MACHINES 2000
#define JOBS 100000
#define DAYS 30
#define GPUS_EACH 8
#define LOAD 0.85
#define HOUR_MS INT64_C(3600000)
#define MONTH_MS (DAYS * 24 * HOUR_MS)
#define SIZES 10

/* --- the trace -------------------------------------------------------------------------------- */

enum cause { SIZE, TIME, BURST, ARRIVAL, CAUSES };

static double draw(uint64_t *s) /* Returns a number in (0, 1). */
{
	return ((double)(bench_next(s) >> 11) + 0.5) / 9007199254740992.0;
}

static double draw_exponential(uint64_t *s, double mean)
{
	return -mean * log(draw(s));
}

static double draw_normal(uint64_t *s)
{
	const double r = sqrt(-2 * log(draw(s)));

	return r * cos(2 * 3.14159265358979 * draw(s));
}

static unsigned draw_size(uint64_t *s)
{
	unsigned k = 0;

	while (k < SIZES - 1 && draw(s) < 1.0 / 3)
		k++;
	return 1U << k;
}

struct trace {
	struct replay_job jobs[JOBS];
	struct resource gpu[SIZES][1];
	char tenants[TENANTS][16];
	double gpu_ms;
};

static void add_job(struct trace *t, size_t i, unsigned tenant, int64_t at, uint64_t *s)
{
	const unsigned gpus = draw_size(&s[SIZE]);
	const unsigned each = gpus < GPUS_EACH ? gpus : GPUS_EACH;
	struct resource *r = t->gpu[each == 8 ? 3 : each == 4 ? 2 : each == 2 ? 1 : 0];

	r[0] = (struct resource){"nvidia.com/gpu", quantity_of(each)};
	t->jobs[i] = (struct replay_job){
		.at_ms = at,
		.takes_ms = (int64_t)(exp(1.5 * draw_normal(&s[TIME])) * (double)HOUR_MS),
		.tenant = t->tenants[tenant],
		.pods = gpus / each,
		.gang = gpus > GPUS_EACH,
		.requests = {r, 1}};
}

struct bursts {
	/* In hours. n: number of bursts; all: the sum of their lengths. */
	struct {
		double from, to;
	} on[256];
	size_t n;
	double all;
};

static void add_burst(struct bursts *b, double from, double hours)
{
	const double end = from + hours < DAYS * 24 ? from + hours : DAYS * 24;

	b->on[b->n].from = from;
	b->on[b->n].to = end;
	b->n++;
	b->all += end - from;
}

static void draw_bursts(struct bursts *b, uint64_t *s)
{
	double at = draw_exponential(s, 2.25 * 24);

	while (at < DAYS * 24 && b->n < 256) {
		const double hours = draw_exponential(s, 1.5 * 24);

		add_burst(b, at, hours);
		at += hours + draw_exponential(s, 4.5 * 24);
	}
}

/* Tenants with much demand do not follow each other: 7 is coprime to their number. */
static void take_turn(struct bursts *b, unsigned tenant)
{
	add_burst(b, tenant * 7 % TENANTS * DAYS * 24.0 / TENANTS, 3 * 24);
}

/* Adds n jobs of one tenant. Jobs arrive while a burst is on; the arrivals are stretched so that
 * exactly n fit into the 30 days. */
static void add_tenant(struct trace *t, unsigned tenant, size_t first, size_t n, bool turns)
{
	uint64_t s[CAUSES];
	struct bursts b = {.n = 0};

	for (unsigned c = 0; c < CAUSES; c++) {
		s[c] = 0x9e3779b97f4a7c15 * (tenant * CAUSES + c + 1);
		for (int i = 0; i < 8; i++)
			(void)bench_next(&s[c]);
	}
	if (turns)
		take_turn(&b, tenant);
	else
		draw_bursts(&b, &s[BURST]);
	for (size_t i = 0; i < n; i++) {
		double x = draw(&s[ARRIVAL]) * b.all;
		size_t k = 0;

		while (k + 1 < b.n && x > b.on[k].to - b.on[k].from) {
			x -= b.on[k].to - b.on[k].from;
			k++;
		}
		add_job(t, first + i, tenant, (int64_t)((b.on[k].from + x) * (double)HOUR_MS), s);
	}
}

static double gpus_of(const struct replay_job *j)
{
	return (double)j->pods * ((double)j->requests.v[0].q.nano / 1e9);
}

/* Scales all run times by one factor, until the jobs need gpu_ms in total. No run time exceeds its
 * limit. */
static void scale(struct trace *t, double gpu_ms)
{
	const double most = 5 * 24 * (double)HOUR_MS;

	for (int round = 0; round < 20; round++) {
		double sum = 0;

		for (size_t i = 0; i < JOBS; i++)
			sum += (double)t->jobs[i].takes_ms * gpus_of(&t->jobs[i]);
		t->gpu_ms = sum;
		for (size_t i = 0; i < JOBS; i++) {
			const double ms = (double)t->jobs[i].takes_ms * gpu_ms / sum;

			t->jobs[i].takes_ms = ms > most	  ? (int64_t)most
					      : ms < 1000 ? 1000
							  : (int64_t)ms;
		}
	}
}

static struct trace *trace_new(bool turns)
{
	struct trace *t = mem_new(struct trace);
	double weights = 0;
	size_t first = 0;

	for (unsigned i = 0; i < TENANTS; i++) {
		weights += 1.0 / (i + 1);
		(void)str_format(t->tenants[i], sizeof(t->tenants[i]), "tenant-%02u", i);
	}
	for (unsigned i = 0; i < TENANTS; i++) {
		const size_t n =
			i + 1 == TENANTS ? JOBS - first : (size_t)(JOBS / weights / (i + 1));

		add_tenant(t, i, first, n, turns);
		first += n;
	}
	scale(t, LOAD * (double)MACHINES * GPUS_EACH * (double)MONTH_MS);
	return t;
}

/* --- the fleet -------------------------------------------------------------------------------- */

static void put_pool(struct world *w, const char *name, const char *provider, const char *tenant)
{
	const char *versions[] = {"1.36"};
	struct requirement of = {"name", SELECTOR_IN, &tenant, 1};

	world_put_pool(w, &(struct world_pool){.name = name,
					       .providers = &provider,
					       .nproviders = 1,
					       .tenants = {&of, tenant ? 1 : 0},
					       .versions = versions,
					       .nversions = 1});
}

static void put_provider(struct world *w, const char *name)
{
	struct resource capacity[] = {{"cpu", quantity_of(192)},
				      {"nvidia.com/gpu", quantity_of(GPUS_EACH)},
				      {"pods", quantity_of(110)}};
	struct world_instance_type type = {.name = "hgx", .capacity = {capacity, 3}};

	world_put_provider(w, &(struct world_provider){.name = name, .types = {&type, 1}});
}

static struct world *fleet(const struct trace *t, bool split)
{
	struct world *w = world_new();

	for (unsigned i = 0; i < TENANTS; i++) {
		struct label name = {"name", t->tenants[i]};

		world_put_tenant(w, &(struct world_tenant){.name = t->tenants[i],
							   .labels = {&name, 1},
							   .weight = 1,
							   .version = "1.36"});
		if (split) {
			put_provider(w, t->tenants[i]);
			put_pool(w, t->tenants[i], t->tenants[i], t->tenants[i]);
		}
	}
	if (!split) {
		put_provider(w, "all");
		put_pool(w, "all", "all", NULL);
	}
	for (unsigned i = 0; i < MACHINES; i++) {
		char name[16];

		(void)str_format(name, sizeof(name), "gpu-%04u", i);
		world_put_machine(w, &(struct world_machine){
					     .name = name,
					     .provider = split ? t->tenants[i % TENANTS] : "all",
					     .instance_type = "hgx",
					     .offered = true,
					     .level_flash = -1,
					     .level_hdd = -1});
	}
	return w;
}

/* --- measurement ------------------------------------------------------------------------------ */

static int by_value(const void *x, const void *y)
{
	const double a = *(const double *)x, b = *(const double *)y;

	return a < b ? -1 : a > b;
}

static void tell(const char *what, const struct trace *t, const struct replay *r, double ms)
{
	double *waits = mem_calloc(JOBS, sizeof(*waits));
	size_t never = 0;

	for (size_t i = 0; i < JOBS; i++) {
		const bool ran = r->jobs[i].start_ms >= 0;

		never += !ran;
		waits[i] =
			(double)((ran ? r->jobs[i].start_ms : MONTH_MS) - t->jobs[i].at_ms) / 60000;
	}
	qsort(waits, JOBS, sizeof(*waits), by_value);
	(void)fprintf(
		stderr,
		"%s: %.1f %% of GPUs in use, %.1f %% in Nodes; %zu plans, %zu boots, %zu wipes; "
		"waits p50 %.1f min, "
		"p90 %.0f, p99 %.0f, %zu not begun; %.1f s\n",
		what, r->used_ms / r->gpus / (double)MONTH_MS * 100,
		r->serving_ms / r->gpus / (double)MONTH_MS * 100, r->plans, r->boots, r->wipes,
		waits[JOBS / 2], waits[JOBS * 9 / 10], waits[JOBS * 99 / 100], never, ms / 1000);
	free(waits);
}

static double use(const struct trace *t, bool split, double *ms)
{
	OWN(arena) a = arena_new();
	OWN(world) w = fleet(t, split);
	const struct replay_spec s = {.world = w,
				      .jobs = t->jobs,
				      .njobs = JOBS,
				      .times = {.boot_ms = 5 * 60000,
						.drain_ms = 60000,
						.wipe_ms = 10 * 60000,
						.idle_ms = split ? 2 * MONTH_MS : 10 * 60000,
						.settle_ms = 5 * 60000},
				      .until_ms = MONTH_MS,
				      .samples = 720,
				      .window = 64};
	const double began = bench_ms();
	const struct replay *r = replay_run(&s, a);

	*ms = bench_ms() - began;
	tell(split ? "split" : "shared", t, r, *ms);
	return r->used_ms / r->gpus / (double)MONTH_MS * 100;
}

static void print(const char *trace, const char *what, const char *unit, double value, double goal,
		  double split)
{
	char name[64];

	(void)str_format(name, sizeof(name), "%s_%s", trace, what);
	entry_print(&(struct entry){name, unit, "higher", value, goal,
				    "the same machines split by tenant", split, JOBS});
}

/* Replays one trace and prints its figures. Returns the processor time of the first replay, in
 * ms. */
static double measure(const char *name, bool turns)
{
	struct trace *t = trace_new(turns);
	const double gpus = (double)MACHINES * GPUS_EACH, all = gpus * (double)MONTH_MS,
		     bound = bound_use(t->jobs, JOBS, gpus, MONTH_MS) / all * 100;
	double ms, other;

	(void)fprintf(stderr,
		      "%s: %d jobs ask for %.1f %% of the GPU-hours; at most %.1f %% can be "
		      "used\n",
		      name, JOBS, t->gpu_ms / all * 100, bound);
	const double shared = use(t, false, &ms), split = use(t, true, &other);

	print(name, "gpu_use_pct", "%", shared, 70, split);
	print(name, "bound_pct", "%", bound, 70, split);
	print(name, "gain_ratio", "", shared / split, 2, 1);
	print(name, "gain_bound", "", bound / split, 2, 1);
	free(t);
	return ms;
}

int main(void)
{
	double ms;

	mem_init();
	ms = measure("trace", false);
	(void)measure("trace_turns", true);
	entry_print(
		&(struct entry){"trace_replay_s", "s", "lower", ms / 1000, 60, "goal", 60, JOBS});
	return 0;
}
