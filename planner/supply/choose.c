/*
 * choose: compares instance types, by their cost per pod served or by the number of machines
 * that the waiting pods need in all (world_pool.expander).
 *
 * A new machine would be filled with the pod that needs it and with waiting pods that are like that
 * pod, until no more fit. Pods are alike if they are of the same fit (they differ only in their
 * requests) and request the same resources. Each of the other pods counts with their average size.
 * The machine's cost is divided by the number of pods that the machine serves. For the number of
 * machines, pods with any topology constraints count as alike, because a machine that is large
 * enough for them saves a machine, and planner/supply/resize.h replaces it if they do not come.
 * Tests: tests/unit/planner/supply/test_supply.c, tests/unit/planner/test_expander.c
 */
#include "planner/supply/overhead.h"
#include "planner/supply/reserve.h"

/* Cost of one GPU. Higher than the cost of any CPUs and memory, because GPUs are scarce. */
#define GPU_COST ((int64_t)10000000)
/* Cost of booting, wiping and running one more machine: as much as 4 CPUs. */
#define MACHINE_COST ((int64_t)4000)
#define MIB_PER_CPU 4096 /* Amount of memory, in MiB, that costs as much as one CPU. */

static int64_t amount(const struct resources *r, const char *name, int64_t most)
{
	const struct quantity *q = resources_get(r, name);
	const int64_t n = q ? quantity_floor(*q) : 0;

	return n < 0 ? 0 : n < most ? n : most;
}

int64_t supply_gpus(const struct resources *capacity)
{
	return amount(capacity, PLANNING_GPU, 100000);
}

int64_t supply_cost(const struct resources *capacity)
{
	const int64_t gpus = supply_gpus(capacity), cpus = amount(capacity, "cpu", 1000000),
		      mib = amount(capacity, "memory", INT64_MAX) / 1048576;

	return MACHINE_COST + gpus * GPU_COST + cpus * 1000 +
	       (mib < MIB_PER_CPU * (int64_t)1000000 ? mib : MIB_PER_CPU * (int64_t)1000000) *
		       1000 / MIB_PER_CPU;
}

/* Returns a * b / c, at most INT64_MAX. a and b must not be negative, c must be greater than 0. */
static int64_t scale(int64_t a, int64_t b, int64_t c)
{
	int64_t product;
	__int128 wide;

	if (!__builtin_mul_overflow(a, b, &product))
		return product / c;
	wide = (__int128)a * b / c;
	return wide < INT64_MAX ? (int64_t)wide : INT64_MAX;
}

/* Adds to r n pods with the average requests of the pods in party *of. */
static void add(struct supply_rest *r, const struct party *of, size_t n)
{
	if (!n)
		return;
	r->n += n;
	for (size_t i = 0; i < r->nasks; i++)
		r->sum[i] = planning_add(r->sum[i], scale(of->sum[r->asks[i].column], (int64_t)n,
							  (int64_t)of->left));
}

static const struct party *riders(const struct plan_cell *c)
{
	const struct party *x = c->class_->fit->parties;

	while (x && x->columns != c->class_->columns)
		x = x->next;
	return x;
}

struct supply_rest supply_rest_of(struct planning *p, const struct plan_cell *c)
{
	struct supply_rest r = {
		.asks = c->class_->of_new.v, .nasks = c->class_->of_new.n, .fit = c->class_->fit};
	const struct party *others = c->topology ? riders(c) : NULL;
	size_t own = c->party->left;

	r.sum = arena_calloc(p->a, r.nasks, sizeof(*r.sum));
	if (c->topology) {
		const size_t most = topology_on_one(c->topology);

		own = (own + 1) / topology_parts(c->topology);
		own = own ? own - 1 : 0;
		own = own < most ? own : most - 1;
	}
	add(&r, c->party, own);
	if (others)
		add(&r, others, others->left);
	return r;
}

struct supply_rest supply_crowd_of(struct planning *p, const struct plan_cell *c)
{
	struct supply_rest r = {
		.asks = c->class_->of_new.v, .nasks = c->class_->of_new.n, .fit = c->class_->fit};
	const size_t most = c->topology ? topology_on_one(c->topology) : SIZE_MAX,
		     own = c->party->left, all = c->crowd->left - own, machines = own / most + 1,
		     apart = reserve_wants(c);
	size_t others = all > c->crowd->expected ? all - c->crowd->expected : 0;

	others = others / machines + (others % machines != 0);
	others = others > apart ? others : apart;
	others = others < all ? others : all;
	r.sum = arena_calloc(p->a, r.nasks, sizeof(*r.sum));
	add(&r, c->party, own < most ? own : most - 1);
	add(&r, c->crowd, others);
	return r;
}

struct asks supply_asks_for(const struct supply_rest *r, size_t k, struct ask *out)
{
	for (size_t i = 0; i < r->nasks; i++) {
		out[i] = r->asks[i];
		if (k > 1)
			out[i].amount = planning_add(
				out[i].amount, scale(r->sum[i], (int64_t)k - 1, (int64_t)r->n));
	}
	return (struct asks){out, r->nasks};
}

size_t supply_serves(const struct supply_rest *r, const struct supply_type_offer *l)
{
	const int64_t *row = overhead_row(r->fit, l);
	int64_t k = (int64_t)r->n;

	for (size_t i = 0; i < r->nasks; i++) {
		const int64_t room = planning_sub(row[r->asks[i].column], r->asks[i].amount);

		if (room < r->sum[i] && scale(room, (int64_t)r->n, r->sum[i]) < k)
			k = scale(room, (int64_t)r->n, r->sum[i]);
	}
	return (size_t)k + 1;
}

bool supply_is_cheaper(const struct supply_type_offer *a, size_t k,
		       const struct supply_type_offer *b, size_t m)
{
	return (__int128)a->cost * (__int128)m < (__int128)b->cost * (__int128)k;
}

bool supply_is_better(const struct supply_pool *pool, const struct supply_type_offer *a, size_t k,
		      const struct supply_type_offer *b, size_t m)
{
	const __int128 x = (__int128)a->gpus * (__int128)m, y = (__int128)b->gpus * (__int128)k;

	if (!pool->least_nodes)
		return supply_is_cheaper(a, k, b, m);
	return x != y ? x < y : k != m ? k > m : a->cost < b->cost;
}

struct supply_total supply_total_of(const struct supply_type_offer *l, size_t k, size_t n,
				    const struct supply_type_offer *last)
{
	const size_t whole = n / k, rest = n % k != 0;

	if (!last)
		last = l;
	return (struct supply_total){
		.gpus = (__int128)l->gpus * (__int128)whole + (rest ? last->gpus : 0),
		.cost = (__int128)l->cost * (__int128)whole + (rest ? last->cost : 0),
		.machines = whole + rest,
	};
}

bool supply_is_less(const struct supply_total *a, const struct supply_total *b)
{
	if (a->gpus != b->gpus)
		return a->gpus < b->gpus;
	return a->machines != b->machines ? a->machines < b->machines : a->cost < b->cost;
}
