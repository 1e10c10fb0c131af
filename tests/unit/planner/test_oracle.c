/*
 * test_oracle: plans random small fleets and pods. An independent checker places each pod by
 * checking every node and counting all pods anew; the plan must give the same placements.
 */
#include "tests/unit/planner/worlds.h"
#include "tests/unit/testing.h"
#include "base/str.h"

#define ZONE "topology.kubernetes.io/zone"
#define RACK "topology.drover.dev/rack"
#define HOST "kubernetes.io/hostname"
#define NONE (SIZE_MAX - 1) /* Domain of a node that lacks the label */
#define ANY SIZE_MAX

enum { NODES = 90, PODS = 220, WORLDS = 45, RULES = 2, LIKES = 7, APPS = 3 };

static uint64_t next(uint64_t *s)
{
	*s ^= *s << 13; /* source: xorshift64, Marsaglia 2003 */
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

struct fleet {
	uint64_t seed;
	size_t nodes, racks;
	struct node {
		const char *name;
		/* Domains of the node by zone, rack and host */
		size_t domain[3];
		int64_t cpus;
		bool ssd, tainted;
	} node[NODES];
	struct pod {
		struct world_pod it;
		int64_t cpus;
		bool ssd, tolerates;
		/* Index + 1 of the pod's node; 0: not placed */
		size_t at;
	} pod[PODS];
	/* Number of placed pods; order[] has them in the order of placement */
	size_t placed;
	struct pod *order[PODS];
};
static const char *const keys[] = {ZONE, RACK, HOST};
static const char *const apps[APPS] = {"x", "y", "z"};

static size_t key_of(const struct world_topology *t)
{
	size_t k = 0;

	while (!str_eq(keys[k], t->key))
		k++;
	return k;
}

static void make_nodes(struct fleet *f, struct world *w, struct arena *a)
{
	f->nodes = 5 + next(&f->seed) % (NODES - 5);
	/* Fewer or more racks than TOPOLOGY_FEW, so that both implementations are tested. */
	f->racks = 2 + next(&f->seed) % 88;
	for (size_t i = 0; i < f->nodes; i++) {
		struct world_node n;
		const char *labels;

		f->node[i] = (struct node){
			.name = arena_printf(a, "n%02zu", i),
			.domain = {next(&f->seed) % 3, i % f->racks, i},
			.cpus = 1 + (int64_t)(next(&f->seed) % 6),
			.ssd = next(&f->seed) % 3 != 0,
			.tainted = next(&f->seed) % 5 == 0,
		};
		for (size_t k = 0; k < 2; k++)
			if (next(&f->seed) % 12 == 0)
				f->node[i].domain[k] = NONE;
		n = worlds_node(a, f->node[i].name);
		n.allocatable = worlds_resources(
			a, arena_printf(a, "cpu=%lld,pods=1000", (long long)f->node[i].cpus));
		labels =
			arena_printf(a, HOST "=%s,disk=%s", n.name, f->node[i].ssd ? "ssd" : "hdd");
		for (size_t k = 0; k < 2; k++)
			if (f->node[i].domain[k] != NONE)
				labels = arena_printf(a, "%s,%s=%zu", labels, keys[k],
						      f->node[i].domain[k]);
		n.labels = worlds_labels(a, labels);
		if (f->node[i].tainted)
			n.taints = worlds_taints(a, "dedicated=a:NoSchedule");
		world_put_node(w, &n);
	}
}

static void make_pods(struct fleet *f, struct world *w, struct arena *a)
{
	static const enum world_topology_kind kinds[] = {WORLD_SPREAD, WORLD_SPREAD, WORLD_APART,
							 WORLD_TOGETHER};

	struct pod like[LIKES];

	for (size_t i = 0; i < LIKES; i++) {
		struct pod *p = &like[i];
		struct world_topology *t = arena_calloc(a, RULES, sizeof(*t));

		p->cpus = (int64_t)(next(&f->seed) % 3);
		p->it = worlds_pod(a, "p", arena_printf(a, "cpu=%lld", (long long)p->cpus));
		p->it.labels =
			worlds_labels(a, arena_printf(a, "app=%s", apps[next(&f->seed) % APPS]));
		p->ssd = next(&f->seed) % 3 == 0;
		if (p->ssd && next(&f->seed) % 2) {
			p->it.node_selector = worlds_labels(a, "disk=ssd");
		} else if (p->ssd) {
			p->it.affinity.v = arena_calloc(a, 1, sizeof(*p->it.affinity.v));
			p->it.affinity.v[p->it.affinity.n++] = worlds_term(a, "disk notin (hdd)");
		}
		p->tolerates = next(&f->seed) % 2;
		if (p->tolerates) {
			p->it.tolerations.v = arena_new_obj(a, struct world_toleration);
			p->it.tolerations.v[p->it.tolerations.n++] = (struct world_toleration){
				.key = "dedicated", .value = "a", .effect = "NoSchedule"};
		}
		p->it.topology.v = t;
		p->it.topology.n = next(&f->seed) % (RULES + 1);
		for (size_t k = 0; k < p->it.topology.n; k++)
			t[k] = (struct world_topology){
				.kind = kinds[next(&f->seed) % 4],
				.key = keys[next(&f->seed) % 3],
				.max_skew = 1 + (int64_t)(next(&f->seed) % 3),
				.min_domains = (int64_t)(next(&f->seed) % 6),
				.nodes = {next(&f->seed) % 3 == 0, next(&f->seed) % 3 == 0},
				.pods = worlds_term(
					a, arena_printf(a, "app %s (%s)",
							next(&f->seed) % 4 ? "in" : "notin",
							apps[next(&f->seed) % APPS])),
			};
	}
	for (size_t i = 0; i < PODS; i++) {
		f->pod[i] = like[next(&f->seed) % LIKES];
		f->pod[i].it.name = f->pod[i].it.uid = arena_printf(a, "p%03zu", i);
		f->pod[i].at = 0;
		world_put_pod(w, &f->pod[i].it);
	}
}

/* --- checker ---------------------------------------------------------------------------------- */

static bool all_terms_select(const struct pod *of, const struct pod *p)
{
	for (size_t i = 0; i < of->it.topology.n; i++)
		if (of->it.topology.v[i].kind == WORLD_TOGETHER &&
		    !selector_matches(&of->it.topology.v[i].pods, &p->it.labels))
			return false;
	return true;
}

static bool counts(const struct pod *of, const struct world_topology *t, const struct pod *p)
{
	return t->kind == WORLD_TOGETHER ? all_terms_select(of, p)
					 : selector_matches(&t->pods, &p->it.labels);
}

static bool suits(const struct pod *p, const struct node *n)
{
	return (n->ssd || !p->ssd) && (!n->tainted || p->tolerates);
}

/* True if the spread constraint counts node n. That depends on kube-scheduler's
 * matchNodeInclusionPolicies, and n needs a label for each key over which the pod spreads. */
static bool is_included(const struct pod *of, const struct world_topology *t, const struct node *n)
{
	for (size_t i = 0; i < of->it.topology.n; i++)
		if (of->it.topology.v[i].kind == WORLD_SPREAD &&
		    n->domain[key_of(&of->it.topology.v[i])] == NONE)
			return false;
	return (t->nodes.ignore_affinity || n->ssd || !of->ssd) &&
	       (!t->nodes.honor_taints || !n->tainted || of->tolerates);
}

static int64_t count(const struct fleet *f, const struct pod *of, const struct world_topology *t,
		     size_t domain)
{
	int64_t n = 0;

	for (size_t i = 0; i < f->placed; i++) {
		const struct node *on = &f->node[f->order[i]->at - 1];

		n += on->domain[key_of(t)] != NONE &&
		     (domain == ANY || on->domain[key_of(t)] == domain) &&
		     (t->kind != WORLD_SPREAD || is_included(of, t, on)) &&
		     counts(of, t, f->order[i]);
	}
	return n;
}

static int64_t least(const struct fleet *f, const struct pod *p, const struct world_topology *t)
{
	int64_t min = INT64_MAX, domains = 0;
	bool seen[NODES] = {0};

	/* A new node is always one more, empty domain for the key hostname, so the lowest count is
	 * 0. */
	if (t->kind != WORLD_SPREAD || key_of(t) == 2)
		return 0;
	for (size_t i = 0; i < f->nodes; i++) {
		const size_t domain = f->node[i].domain[key_of(t)];
		int64_t n;

		if (!is_included(p, t, &f->node[i]) || seen[domain])
			continue;
		seen[domain] = true;
		domains++;
		n = count(f, p, t, domain);
		min = n < min ? n : min;
	}
	return domains < t->min_domains ? 0 : min;
}

static bool waits(const struct fleet *f, const struct pod *p)
{
	for (size_t i = 0; i < p->it.topology.n; i++) {
		const struct world_topology *t = &p->it.topology.v[i];

		if (t->kind == WORLD_TOGETHER && !count(f, p, t, ANY) && !counts(p, t, p))
			return true;
	}
	return false;
}

static bool rule_admits(const struct fleet *f, const struct pod *p, const struct world_topology *t,
			int64_t min, size_t domain)
{
	const int64_t here = domain == NONE ? 0 : count(f, p, t, domain);

	if (domain == NONE && t->kind != WORLD_APART)
		return false;
	if (t->kind == WORLD_SPREAD)
		return here + counts(p, t, p) - min <= t->max_skew;
	if (t->kind == WORLD_APART)
		return !here;
	return here || !count(f, p, t, ANY);
}

static bool admits(const struct fleet *f, const struct pod *p, const int64_t *min, size_t node)
{
	int64_t left = f->node[node].cpus;

	if (!suits(p, &f->node[node]))
		return false;
	for (size_t i = 0; i < f->placed; i++)
		left -= f->order[i]->at == node + 1 ? f->order[i]->cpus : 0;
	if (p->cpus && left < p->cpus)
		return false;
	for (size_t i = 0; i < p->it.topology.n; i++)
		if (!rule_admits(f, p, &p->it.topology.v[i], min[i],
				 f->node[node].domain[key_of(&p->it.topology.v[i])]))
			return false;
	for (size_t i = 0; i < f->placed; i++)
		for (size_t k = 0; k < f->order[i]->it.topology.n; k++) {
			const struct world_topology *t = &f->order[i]->it.topology.v[k];

			if (t->kind == WORLD_APART && counts(f->order[i], t, p) &&
			    f->node[node].domain[key_of(t)] != NONE &&
			    f->node[f->order[i]->at - 1].domain[key_of(t)] ==
				    f->node[node].domain[key_of(t)])
				return false;
		}
	return true;
}

static bool put(struct fleet *f, struct pod *p)
{
	int64_t min[RULES];

	for (size_t i = 0; i < p->it.topology.n; i++)
		min[i] = least(f, p, &p->it.topology.v[i]);
	for (size_t i = 0; i < f->nodes && !waits(f, p); i++)
		if (admits(f, p, min, i)) {
			p->at = i + 1;
			f->order[f->placed++] = p;
			return true;
		}
	return false;
}

/* True if other pods may let the pod's constraints admit further nodes. */
static bool may_open(const struct pod *p)
{
	for (size_t i = 0; i < p->it.topology.n; i++) {
		const struct world_topology *t = &p->it.topology.v[i];

		if (t->kind == WORLD_TOGETHER || (t->kind == WORLD_SPREAD && key_of(t) != 2))
			return true;
	}
	return false;
}

/* Places all pods in order. Then tries those again for which other pods may have made a place,
 * until a round places none. */
static void place_all(struct fleet *f)
{
	struct pod *waiting[PODS];
	size_t n = 0, kept;
	bool placed = true;

	for (size_t i = 0; i < PODS; i++) {
		if (!put(f, &f->pod[i]) && may_open(&f->pod[i]))
			waiting[n++] = &f->pod[i];
	}
	while (placed) {
		placed = false;
		kept = 0;
		for (size_t i = 0; i < n; i++) {
			if (put(f, waiting[i]))
				placed = true;
			else
				waiting[kept++] = waiting[i];
		}
		n = kept;
	}
}

static void each_pod_gets_the_first_node_that_admits_it(void **state)
{
	size_t served = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= WORLDS; seed++) {
		OWN(arena) a = arena_new();
		OWN(world) w = worlds_new(a);
		struct fleet *f = arena_new_obj(a, struct fleet);
		const struct plan *p;

		f->seed = seed * 7919;
		make_nodes(f, w, a);
		make_pods(f, w, a);
		p = plan_make(w, 0, a);
		place_all(f);
		assert_int_equal(p->npods, PODS);
		for (size_t i = 0; i < PODS; i++) {
			const char *want = f->pod[i].at ? f->node[f->pod[i].at - 1].name : NULL;

			assert_string_equal(p->pods[i].name, f->pod[i].it.name);
			if (!str_eq(want, p->pods[i].target))
				fail_msg("world %llu, pod %zu: %s, not %s",
					 (unsigned long long)seed, i,
					 p->pods[i].target ? p->pods[i].target : "nowhere",
					 want ? want : "nowhere");
			served += want != NULL;
		}
	}
	assert_true(served > (size_t)WORLDS * PODS / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_pod_gets_the_first_node_that_admits_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
