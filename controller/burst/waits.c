/* waits: collects the pods that the plan did not place, and adds up the pods of each gang. */
#include "controller/burst/waits.h"

#include "base/map.h"
#include "base/str.h"
#include "controller/burst/selects.h"
#include "controller/core/eta.h"
#include "controller/core/lookup.h"
#include "controller/tenant/pod_asks.h"
#include "controller/tenant/pod_workload.h"
#include "controller/tenant/provisioning_requests.h"
#include "controller/tenant/tenant.h"
#include "planner/planning.h"

#define PRODUCT "nvidia.com/gpu.product"

/* Returns the GPU product (value of the label PRODUCT) that the pod requires, if it requires
 * exactly one; else NULL. */
static const char *product_of(const struct world_pod *p)
{
	const char *name = labels_get(&p->node_selector, PRODUCT);
	const struct selector *s = p->affinity.n == 1 ? &p->affinity.v[0] : NULL;

	for (size_t i = 0; s && i < s->n && !name; i++)
		if (str_eq(s->v[i].key, PRODUCT) && s->v[i].op == SELECTOR_IN &&
		    s->v[i].nvalues == 1)
			name = s->v[i].values[0];
	return name;
}

/* Raises the expected times of the work w to those of machine x, if x will serve later. The plan
 * expects x for a pod of w: x first becomes free, then it needs its time to start. */
static void expect(struct burst_work *w, const struct eta *eta, const struct plan_expected *x)
{
	struct eta_span span;

	if (!x->machine || !eta_from(eta, x->provider, x->instance_type, MACHINE_CLAIMED, 0, &span))
		return;
	if (x->p50 + span.p50 > w->p50)
		w->p50 = x->p50 + span.p50;
	if (x->p90 + span.p90 > w->p90)
		w->p90 = x->p90 + span.p90;
}

/* Returns the longest of the times that the pods of a piece of work declare; 0: a pod declares
 * none. so_far: of the earlier pods. first: true if there are none. */
static int64_t longest(int64_t so_far, int64_t next, bool first)
{
	return !next || (!first && !so_far) ? 0 : next > so_far ? next : so_far;
}

static bool reads(const struct burst_work *w, const char *name)
{
	for (size_t i = 0; i < w->data.n; i++)
		if (str_eq(w->data.v[i], name))
			return true;
	return false;
}

/* Adds what a pod of the work w declares. The longest run time and checkpoint interval, the
 * earliest start, the most restarts, all data sets and any error count for the whole work; a run
 * time, an interval or a data class that not all pods declare is not known. */
static void ask(struct burst_work *w, const struct pod_asks *x, struct arena *a)
{
	const bool first = !w->pods;

	w->said = true;
	w->runs_ms = longest(w->runs_ms, x ? x->runs_ms : 0, first);
	w->interval_ms = longest(w->interval_ms, x ? x->interval_ms : 0, first);
	if (first || !x || !str_eq(w->data_class, x->data_class))
		w->data_class = first && x ? x->data_class : NULL;
	if (x && x->start_by && (!w->start_by || x->start_by < w->start_by))
		w->start_by = x->start_by;
	if (x && x->restarts > w->restarts)
		w->restarts = x->restarts;
	if (x && x->wrong)
		w->wrong = x->wrong;
	for (size_t i = 0; x && i < x->data.n; i++)
		if (!reads(w, x->data.v[i])) {
			w->data.v = arena_grow(a, w->data.v, w->data.n, sizeof(*w->data.v));
			w->data.v[w->data.n++] = x->data.v[i];
		}
}

/* Adds pod p to the work w. The rank of w is the highest priority of its pods, but at most
 * `most`. */
static void join(struct burst_work *w, const struct world_pod *p, const struct plan_pod *d,
		 const struct eta *eta, int64_t most)
{
	const struct quantity *gpus = resources_get(&p->requests, PLANNING_GPU);
	const int64_t n = gpus ? quantity_ceil(*gpus) : 0;

	w->saves = p->saves && (w->saves || !w->pods);
	w->impossible |= !d->place || (d->nreasons && d->reasons[0].code == PLAN_BY_POLICY);
	w->pods++;
	if (n > w->gpus)
		w->gpus = n;
	if (w->pods == 1 || p->priority > w->priority)
		w->priority = p->priority;
	w->rank = w->priority < most ? w->priority : most;
	if (w->pods == 1 || p->since < w->since)
		w->since = p->since;
	expect(w, eta, &d->expected);
}

static struct burst_traits copy_traits(const struct burst_traits *t, struct arena *a)
{
	struct burst_traits out = {
		.ns = arena_strdup(a, t->ns),
		.queue = arena_strdup(a, t->queue),
		.labels = {arena_calloc(a, t->labels.n + 1, sizeof(*out.labels.v)), t->labels.n}};

	for (size_t i = 0; i < t->labels.n; i++)
		out.labels.v[i] = (struct label){arena_strdup(a, t->labels.v[i].key),
						 arena_strdup(a, t->labels.v[i].value)};
	return out;
}

static bool same_traits(const struct burst_traits *x, const struct burst_traits *y)
{
	if (!str_eq(x->ns, y->ns) || !str_eq(x->queue, y->queue) || x->labels.n != y->labels.n)
		return false;
	for (size_t i = 0; i < x->labels.n; i++)
		if (!str_eq(x->labels.v[i].key, y->labels.v[i].key) ||
		    !str_eq(x->labels.v[i].value, y->labels.v[i].value))
			return false;
	return true;
}

/* Adds the traits of pod p to the work w; call before join(). labels: true if labels matter. */
static void add_traits(struct burst_work *w, const struct world_pod *p, bool labels,
		       struct arena *a)
{
	struct burst_traits t = burst_traits_of(p);

	if (!labels)
		t.labels.n = 0;
	if (!w->pods) {
		w->traits = copy_traits(&t, a);
	} else if (!same_traits(&w->traits, &t)) {
		w->others.v = arena_grow(a, w->others.v, w->others.n, sizeof(*w->others.v));
		w->others.v[w->others.n++] = copy_traits(&t, a);
	}
}

static int64_t counts_up_to(const struct context *c, const char *tenant)
{
	const struct virtual_cluster *vc =
		CTX_GET(c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster, tenant);

	return c->o.pods_rank_everywhere ? INT64_MAX : vc ? vc->spec.priority : 0;
}

/* True if the pod could not run even with one more machine. */
static bool is_hopeless(const struct plan_pod *d)
{
	static const bool codes[PLAN_REASONS] = {
		[PLAN_GANG_SHORT] = true, [PLAN_GANG_UNKNOWN] = true, [PLAN_UNSUPPORTED] = true,
		[PLAN_VOLUME] = true,	  [PLAN_TENANT] = true,	      [PLAN_DEVICE] = true,
		[PLAN_DENIED] = true,
	};

	return d->nreasons && codes[d->reasons[0].code];
}

struct burst_waits burst_waits_of(const struct tenants *ts, const struct context *c,
				  const struct eta *eta, const struct plan *p, struct arena *a)
{
	struct burst_waits out = {.v = arena_calloc(a, p->npods + 1, sizeof(*out.v)),
				  .pods = arena_calloc(a, p->npods + 1, sizeof(*out.pods)),
				  .gangs = arena_calloc(a, p->npods + 1, sizeof(*out.gangs)),
				  .members = arena_calloc(a, p->npods + 1, sizeof(*out.members))};
	OWN(arena) of = arena_new();
	OWN(map) gangs = map_new(NULL);
	const char *last = NULL;
	const bool labels = burst_any_selector(c);
	bool governed = false;

	for (size_t i = 0; i < p->npods; i++) {
		const struct plan_pod *d = &p->pods[i];
		const struct tenant *t = tenant_get(ts, d->tenant);
		const struct world_pod *pod;
		struct burst_work *w;
		const char *key;

		if (d->outcome != PLAN_NOTHING || !t || is_hopeless(d) ||
		    request_of_pod(d->name, NULL, NULL))
			continue;
		if (!str_eq(last, d->tenant))
			governed = burst_governs(c, d->tenant);
		last = d->tenant;
		pod = governed ? tenant_world_pod(t, d->ns, d->name, of) : NULL;
		if (!pod || pod->node)
			continue;
		key = pod->gang.key ? arena_printf(of, "%s/%s", d->tenant, pod->gang.key) : NULL;
		w = key ? map_get(gangs, key) : NULL;
		if (!w) {
			out.pods[out.n] = (struct burst_waiting){arena_strdup(a, d->ns),
								 arena_strdup(a, d->name),
								 arena_strdup(a, d->uid)};
			out.gangs[out.n] = key;
			w = &out.v[out.n++];
			w->tenant = arena_strdup(a, d->tenant);
			w->name = pod->gang.key ? arena_strdup(a, pod->gang.key)
						: arena_printf(a, "%s/%s", d->ns, d->name);
			w->owner = pod_workload_of(t, d->ns, d->name, pod->gang.key, a);
			w->product = arena_strdup(a, product_of(pod));
			if (key)
				map_put(gangs, key, w);
		}
		out.members[out.nmembers++] = (struct burst_member){
			(size_t)(w - out.v), arena_strdup(a, d->ns), arena_strdup(a, d->name)};
		ask(w, pod_asks_get(t, d->ns, d->name, a), a);
		add_traits(w, pod, labels, a);
		join(w, pod, d, eta, counts_up_to(c, d->tenant));
	}
	return out;
}
