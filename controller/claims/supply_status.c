/*
 * supply_status: computes the status of each NodePool, Provider and VirtualCluster and writes the
 * differences. Separate from the provisioner, because it runs rarely and nothing waits for it.
 */
#include <stdlib.h>
#include <string.h>

#include "controller/claims/supply_status.h"
#include "api/annotations.h"
#include "api/machine_states.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/billing/bill.h"
#include "controller/claims/breaker.h"
#include "controller/core/eta.h"
#include "controller/billing/supply_tally.h"
#include "controller/claims/usable.h"
#include "controller/billing/used.h"
#include "controller/claims/waiting.h"
#include "controller/claims/warm_pool.h"
#include "controller/core/finalizer.h"
#include "controller/core/lookup.h"
#include "controller/core/status_writer.h"
#include "controller/core/sweep.h"
#include "controller/hardware/driver.h"
#include "controller/hardware/fleet.h"
#include "controller/rules/claim.h"
#include "controller/rules/ledger.h"
#include "controller/rules/provider.h"

#define PASS_MS 2000
/* Number of changed objects that are counted in one loop turn */
#define COUNTED_EACH_TURN 250

/* Sums over the machines of one tenant, pool or Provider, computed in each pass from the groups of
 * supply_tally. */
struct supply_sum {
	/* Sum of the machines' capacity. Names of resources are in the pass's arena. */
	struct resources resources;
	int64_t nodes;
	int64_t by_state[MACHINE_STATES];
	/* In the sum of a tenant only: the machines that the tenant is charged for */
	struct virtual_cluster_charges held;
};

struct supply_status {
	struct context *c;
	const struct drivers *drivers;
	const struct warm_pool *warm_pool;
	const struct eta *eta;
	const struct fleet *fleet;
	/* List of waiting pods; NULL: this process makes no plans */
	const struct waiting *waiting;
	struct supply_tally *tally;
	struct loop_timer timer;
	/* loop_now() at which the last pass began */
	int64_t passed_at;
	/* Arena of the pass in progress; NULL: no pass is in progress */
	struct arena *arena;
	/* Key: name of the tenant, pool or Provider; value: struct supply_sum */
	struct map *by_tenant, *by_pool, *by_provider;
	/* True: the sums of this pass are complete */
	bool counted;
	struct sweep sweep;
	size_t step;
	/* True: something changed during the pass, so another pass follows */
	bool again;
	/* Arena of this loop turn */
	struct arena *turn;
	struct breaker *breaker;
	/* Writes in flight, and versions whose write was refused. Key: "Kind/name"; value: struct
	 * entry */
	struct map *entries;
};

struct supply_entry {
	struct supply_status *owner;
	/* refused: resourceVersion for which the API server refused the status write */
	char *key, *refused;
	char *tried;
	struct status_writer write;
};

/* --- conditions ------------------------------------------------------------------------------- */

static struct conditions copy(const struct conditions *from, struct arena *a)
{
	struct conditions cs = {.v = arena_calloc(a, from->n + 1, sizeof(*cs.v)), .n = from->n};

	if (from->n)
		memcpy(cs.v, from->v, from->n * sizeof(*cs.v));
	return cs;
}

/* The conditions of one object, while its status is computed. */
struct report {
	struct conditions *cs;
	struct arena *a;
	/* metadata.generation of the object. */
	int64_t generation;
	/* Wall ms. */
	int64_t now;
};

static void say(const struct report *r, const char *type, bool status, const char *reason,
		const char *message)
{
	const struct condition want = {
		.type = type,
		.status = status ? CONDITION_TRUE : CONDITION_FALSE,
		.reason = reason,
		.message = message,
		.observed_generation = r->generation,
	};

	(void)condition_set(r->cs, r->a, &want, r->now);
}

/* Sets the condition Stalled from Ready: True if Ready is False for a reason that only a change of
 * this object or of another ends. */
static void say_stalled(const struct report *r)
{
	static const char *const reasons[] = {"ProviderNotFound", "NotAllowed", "Unsupported",
					      "InvalidSpec", "NoProviders"};
	const struct condition *ready = condition_get(r->cs, "Ready"), *because = NULL;

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (ready->status == CONDITION_FALSE && str_eq(ready->reason, reasons[i]))
			because = ready;
	(void)condition_set_stalled(r->cs, r->a, because, r->generation, r->now);
}

/* Returns the message about claims that a circuit breaker pauses, in the arena. */
static const char *line_text(const struct breaker_cause *why, struct arena *a)
{
	char t[STR_TIME_SIZE];

	return why->next ? arena_printf(a,
					"claims for %s %s failed on %lld machines; drover makes "
					"one trial claim from %s on",
					why->scope, why->name, (long long)why->machines,
					str_time(t, why->next))
			 : arena_printf(a,
					"claims for %s %s failed on %lld machines; drover makes "
					"one trial claim at a time",
					why->scope, why->name, (long long)why->machines);
}

static void say_line(const struct report *r, bool stopped, const struct breaker_cause *why)
{
	say(r, BREAKER_CONDITION, stopped, stopped ? why->reason : "Open",
	    stopped ? line_text(why, r->a) : "");
}

/* Sets condition WarmReady, or removes it if the pool requests no warm machines. */
static void say_warm(const struct report *r, const struct supply_status *s,
		     const struct node_pool *p)
{
	struct conditions *cs = r->cs;
	struct warm_pool_tally t;

	if (warm_pool_tally(s->warm_pool, p, r->a, &t))
		say(r, "WarmReady", t.ready >= t.wanted, t.reason, t.message);
	for (size_t i = 0; i < cs->n && !warm_pool_asked(p); i++)
		if (str_eq(cs->v[i].type, "WarmReady")) {
			memmove(&cs->v[i], &cs->v[i + 1], (--cs->n - i) * sizeof(*cs->v));
			break;
		}
}

/* --- providers -------------------------------------------------------------------------------- */

static struct supply_sum *sum_of(struct supply_status *s, struct map *by, const char *name)
{
	struct supply_sum *sum = map_get(by, str_or(name, ""));

	if (!sum) {
		sum = arena_new_obj(s->arena, struct supply_sum);
		map_put(by, str_or(name, ""), sum);
	}
	return sum;
}

static void count_machines(const struct supply_machines *g, void *arg)
{
	struct supply_status *s = arg;

	sum_of(s, s->by_provider, g->provider)->by_state[g->state] += g->n;
	if (g->tenant)
		ledger_count(&sum_of(s, s->by_tenant, g->tenant)->held, &g->like, g->n, s->arena);
}

/* Returns the snapshot of the circuit breakers. It is read once per loop turn, because that scans
 * all machines with failures, and all claims if there are any. */
static struct breaker *line_now(struct supply_status *s)
{
	if (!s->breaker)
		s->breaker = breaker_read(s->c, s->turn);
	return s->breaker;
}

/* Sets condition Offering: True if the cloud has all instance types now. Otherwise the message
 * names the types that the cloud does not have, and why. */
static void say_offers(const struct report *r, const struct supply_status *s,
		       const struct provider_object *p)
{
	const char *text = "";
	int64_t until;

	for (size_t i = 0; i < p->spec.instance_types.n; i++) {
		const char *type = p->spec.instance_types.v[i].name,
			   *why = fleet_no_offer(s->fleet, p->meta.name, type, &until);

		if (why)
			text = arena_printf(r->a, "%s%s%s: %s", text, *text ? "; " : "", type, why);
	}
	say(r, "Offering", !*text, *text ? "NoOffer" : "Offering", text);
}

static void provider_status(struct supply_status *s, const struct provider_object *p,
			    struct arena *a, struct provider_object_status *out)
{
	const struct context *c = s->c;
	static const bool always[MACHINE_STATES] = {
		[MACHINE_FREE] = true, [MACHINE_SERVING] = true, [MACHINE_QUARANTINED] = true};
	const struct supply_sum *n = sum_of(s, s->by_provider, p->meta.name);
	const char *message, *reason = usable_not(c, s->drivers, s->fleet, p->meta.name, &message);
	struct resources *r = &out->machines;
	const struct report to = {&out->conditions, a, p->meta.generation, loop_wall(c->loop)};
	bool none = p->spec.network.type == FABRIC_NONE;
	char trouble[256], about[256];
	bool troubled = driver_trouble(s->drivers, p->meta.name, trouble, sizeof(trouble));
	struct breaker_cause stop = {0};

	*out = p->status;
	out->observed_generation = p->meta.generation;
	*r = (struct resources){.v = arena_calloc(a, MACHINE_STATES, sizeof(*r->v))};
	for (int i = 0; i < MACHINE_STATES; i++)
		if (n->by_state[i] || always[i])
			r->v[r->n++] = (struct resource){machine_state_info[i].name,
							 quantity_of(n->by_state[i])};
	resources_sort(r);
	eta_paths(s->eta, p, a, out);
	if (provider_is_elastic(p))
		offer_refusals_status(fleet_refusals(s->fleet), p, a, out);
	out->conditions = copy(&p->status.conditions, a);
	say(&to, "Ready", !reason, reason ? reason : "DriverRunning", message);
	say_stalled(&to);
	say(&to, "Isolating", !none && !troubled,
	    none       ? "NoNetworkDriver"
	    : troubled ? "NetworkIncident"
		       : "NetworkDriver",
	    troubled ? arena_strdup(a, trouble)
	    : none   ? "spec.network.type is none: a machine is isolated only while it is off, and "
		       "drover has no proof of its isolation"
	    : driver_network_about(s->drivers, p->meta.name, about, sizeof(about))
		    ? arena_printf(a, "%s, %s", provider_object_fabric_names[p->spec.network.type],
				   about)
		    : provider_object_fabric_names[p->spec.network.type]);
	say(&to, "Paused", p->spec.paused, p->spec.paused ? "SpecPaused" : "NotPaused", "");
	if (provider_is_elastic(p))
		say_offers(&to, s, p);
	say_line(&to, breaker_stops_provider(line_now(s), p, &stop), &stop);
}

/* --- pools ------------------------------------------------------------------------------------ */

/* Returns q times n, by doubling. */
static struct quantity times(struct quantity q, int64_t n)
{
	struct quantity product = quantity_of(0);

	for (; n > 0; n /= 2, q = quantity_add(q, q))
		if (n % 2)
			product = quantity_add(product, q);
	return product;
}

/* Adds `more` n times to sum. */
static void add(struct resources *sum, const struct resources *more, int64_t n, struct arena *a)
{
	for (size_t i = 0; i < more->n; i++) {
		struct quantity *q = (struct quantity *)resources_get(sum, more->v[i].name),
				product = times(more->v[i].q, n);
		struct resource *v;

		if (q) {
			*q = quantity_add(*q, product);
			continue;
		}
		v = arena_calloc(a, sum->n + 1, sizeof(*v));
		if (sum->n)
			memcpy(v, sum->v, sum->n * sizeof(*v));
		v[sum->n++] = (struct resource){arena_strdup(a, more->v[i].name), product};
		sum->v = v;
		resources_sort(sum);
	}
}

static void count_for(struct supply_status *s, struct map *by, const char *name,
		      const struct resources *capacity, int64_t n)
{
	struct supply_sum *sum = sum_of(s, by, name);

	sum->nodes += n;
	if (capacity)
		add(&sum->resources, capacity, n, s->arena);
}

static void count_claims(const struct supply_claims *g, void *arg)
{
	struct supply_status *s = arg;
	const struct provider_object *p =
		CTX_GET(s->c, OBJECT_PROVIDER, provider_object, g->provider);
	const struct provider_object_instance_type *t =
		p && *g->instance_type ? provider_instance_type(p, g->instance_type) : NULL;
	const struct resources *capacity = t ? &t->capacity : NULL;

	count_for(s, s->by_pool, g->pool, capacity, g->n);
	count_for(s, s->by_tenant, g->tenant, capacity, g->n);
}

/* Returns the message about the circuit breaker that pauses all new claims of pool p, in the arena;
 * NULL: claims can be made. usable: number of the pool's Providers that can be used. The breakers
 * of some of its images do not pause the claims of the other images. */
static const char *all_stopped(struct supply_status *s, const struct node_pool *p, size_t usable,
			       const struct breaker_cause *own, struct arena *a)
{
	struct breaker_cause why = {0};
	const char *text, *message = NULL;
	size_t open = usable;

	if (own->scope &&
	    (!str_eq(own->scope, "image") || breaker_stops_images(line_now(s), p, &why)))
		return line_text(own, a);
	for (size_t i = 0; i < p->spec.template_.spec.provider_refs.n; i++) {
		const char *name = p->spec.template_.spec.provider_refs.v[i].name;
		const struct provider_object *of =
			CTX_GET(s->c, OBJECT_PROVIDER, provider_object, name);

		if (!of || usable_not(s->c, s->drivers, s->fleet, name, &text) ||
		    !breaker_stops_provider(line_now(s), of, &why) ||
		    !str_eq(why.scope, "provider"))
			continue;
		open--;
		message = message ? message : line_text(&why, a);
	}
	return open ? NULL : message;
}

static void pool_status(struct supply_status *s, const struct node_pool *p, struct arena *a,
			struct node_pool_status *out)
{
	const struct context *c = s->c;
	const struct supply_sum *sum = sum_of(s, s->by_pool, p->meta.name);
	const char *reason = NULL, *message = "", *why, *text, *line;
	const struct report to = {&out->conditions, a, p->meta.generation, loop_wall(c->loop)};
	struct breaker_cause stop = {0};
	size_t usable = 0;
	bool ready, stopped;

	*out = p->status;
	out->observed_generation = p->meta.generation;
	out->nodes = sum->nodes;
	out->resources = sum->resources;
	for (size_t i = 0; i < p->spec.template_.spec.provider_refs.n; i++) {
		const char *name = p->spec.template_.spec.provider_refs.v[i].name;

		why = usable_not(c, s->drivers, s->fleet, name, &text);
		if (!why) {
			usable++;
			continue;
		}
		reason = reason ? reason : why;
		message = arena_printf(a, "%s%sspec.template.spec.providerRefs[%zu]: %s: %s",
				       message, *message ? "; " : "", i, name, *text ? text : why);
	}
	stopped = breaker_stops_pool(line_now(s), p, &stop);
	line = all_stopped(s, p, usable, &stop, a);
	ready = usable && !p->spec.paused && !p->meta.deletion_timestamp && !line;
	out->conditions = copy(&p->status.conditions, a);
	say(&to, "ProvidersReady", !reason, reason ? reason : "ProvidersReady", message);
	say(&to, "Ready", ready,
	    ready			 ? "Ready"
	    : p->meta.deletion_timestamp ? "PoolDeleted"
	    : p->spec.paused		 ? "PoolPaused"
	    : line			 ? BREAKER_CONDITION
	    : reason			 ? reason
					 : "NoProviders",
	    line && !p->spec.paused && !p->meta.deletion_timestamp ? line
	    : usable						   ? ""
								   : message);
	say_stalled(&to);
	say_line(&to, stopped, &stop);
	say_warm(&to, s, p);
}

/* --- writing ---------------------------------------------------------------------------------- */

static void entry_free(void *p)
{
	struct supply_entry *en = p;

	writer_stop(&en->write);
	free(en->key);
	free(en->refused);
	free(en->tried);
	free(en);
}

static void on_written(json_t *o, const struct err *e, void *arg)
{
	struct supply_entry *en = arg;
	struct supply_status *s = en->owner;

	(void)o;
	free(en->refused);
	en->refused =
		e && e->kind != ERR_NOT_FOUND && !err_is_transient(e) ? give(en->tried) : NULL;
	if (!en->refused)
		map_del(s->entries, en->key);
	supply_status_kick(s);
}

static void write_status(struct supply_status *s, enum object_kind_id kind, const void *object,
			 const void *wanted)
{
	const struct object_meta *m = object_meta_of(object);
	OWN(arena) a = arena_new();
	const char *key = arena_printf(a, "%s/%s", object_kinds[kind].kind, m->name);
	struct supply_entry *en = map_get(s->entries, key);
	OWN_JSON was = NULL, *will = NULL, *diff = NULL;

	if (en && (writer_busy(&en->write) || str_eq(en->refused, m->resource_version)))
		return;
	was = fields_encode(object_kinds[kind].fields, object);
	will = fields_encode(object_kinds[kind].fields, wanted);
	if (!json_object_get(was, "status"))
		json_object_set_new(was, "status", json_object());
	diff = json_merge_diff(json_object_get(was, "status"), json_object_get(will, "status"));
	if (!json_object_size(diff)) {
		if (en)
			map_del(s->entries, key);
		return;
	}
	if (!en) {
		en = mem_new(struct supply_entry);
		en->owner = s;
		en->key = mem_strdup(key);
		writer_init(&en->write, s->c, en);
		map_put(s->entries, key, en);
	}
	free(en->tried);
	en->tried = mem_strdup(str_or(m->resource_version, ""));
	writer_status(&en->write, kind, m, give(diff), on_written);
}

static bool pass_pool(const struct kube_entry *e, void *arg)
{
	struct supply_status *s = arg;
	OWN(arena) a = arena_new();
	const struct node_pool *p = e->object;
	struct node_pool out = *p;

	pool_status(s, p, a, &out.status);
	write_status(s, OBJECT_NODE_POOL, p, &out);
	return true;
}

static bool pass_provider(const struct kube_entry *e, void *arg)
{
	struct supply_status *s = arg;
	OWN(arena) a = arena_new();
	const struct provider_object *p = e->object;
	struct provider_object out = *p;

	provider_status(s, p, a, &out.status);
	write_status(s, OBJECT_PROVIDER, p, &out);
	return true;
}

/* Writes the status of one VirtualCluster. Skips a VirtualCluster that has machines but not yet its
 * finalizer, which tenant/pending_cleanup.c adds with the first claim. If finalizer and status were
 * written from the same resourceVersion, the second write would be refused. */
static bool pass_tenant(const struct kube_entry *e, void *arg)
{
	struct supply_status *s = arg;
	OWN(arena) a = arena_new();
	const struct virtual_cluster *vc = e->object;
	const struct supply_sum *sum = map_get(s->by_tenant, vc->meta.name);
	struct virtual_cluster out = *vc;
	struct virtual_cluster_usage used = used_now(s->c, vc);
	struct virtual_cluster_cost cost;
	struct virtual_cluster_waits waits;
	const bool charged = bill_changed(s->c, vc, sum ? &sum->held : NULL, a, &cost),
		   waiting = waiting_status(s->waiting, vc, a, &waits);

	out.status.allocated = sum ? sum->resources : (struct resources){0};
	if (!resources_equal(&out.status.allocated, &vc->status.allocated) ||
	    used_unwritten(s->c, vc) >= USED_UNWRITTEN)
		out.status.usage = &used;
	else if (!charged && !waiting)
		return true;
	if (waiting)
		out.status.waiting = waits;
	if (charged)
		out.status.cost = &cost;
	if (!sum || !sum->nodes || vc->meta.deletion_timestamp ||
	    finalizer_is_on(&vc->meta.finalizers, FINALIZER_VIRTUAL_CLUSTER))
		write_status(s, OBJECT_VIRTUAL_CLUSTER, vc, &out);
	return true;
}

static const struct {
	enum object_kind_id kind;
	size_t each_turn;
	bool (*look)(const struct kube_entry *e, void *arg);
} steps[] = {
	{OBJECT_NODE_POOL, 10, pass_pool},
	{OBJECT_PROVIDER, 10, pass_provider},
	{OBJECT_VIRTUAL_CLUSTER, 10, pass_tenant},
};
#define STEPS (sizeof(steps) / sizeof(steps[0]))

static void pass_over(struct supply_status *s)
{
	map_free(s->by_tenant);
	map_free(s->by_pool);
	map_free(s->by_provider);
	s->by_tenant = s->by_pool = s->by_provider = NULL;
	arena_free(s->arena);
	s->arena = NULL;
}

static void pass_begins(struct supply_status *s)
{
	s->passed_at = loop_now(s->c->loop);
	s->arena = arena_new();
	s->by_tenant = map_new(NULL);
	s->by_pool = map_new(NULL);
	s->by_provider = map_new(NULL);
	s->step = 0;
	s->counted = s->again = false;
}

/* Counts the changed objects, a limited number in each call. Returns true once the sums are
 * complete. */
static bool count(struct supply_status *s)
{
	if (s->counted)
		return true;
	if (supply_tally_step(s->tally, COUNTED_EACH_TURN))
		return false;
	supply_tally_each_claims(s->tally, count_claims, s);
	supply_tally_each_machines(s->tally, count_machines, s);
	s->counted = true;
	sweep_begin(&s->sweep, s->c->cache[steps[0].kind], s->arena);
	return true;
}

/* Runs one slice of a pass. A pass counts what changed, and then handles one kind of object after
 * the other. */
static void pass(void *arg)
{
	struct supply_status *s = arg;
	OWN(arena) turn = arena_new();

	if (!s->c->leading || !s->c->ready) {
		pass_over(s);
		return;
	}
	if (!s->arena)
		pass_begins(s);
	s->turn = turn;
	s->breaker = NULL;
	if (count(s) && !sweep_go_on(&s->sweep, steps[s->step].each_turn, steps[s->step].look, s)) {
		if (++s->step == STEPS) {
			pass_over(s);
			if (s->again)
				supply_status_kick(s);
			return;
		}
		sweep_begin(&s->sweep, s->c->cache[steps[s->step].kind], s->arena);
	}
	loop_timer_start(&s->timer, 0);
}

struct supply_tally *supply_status_tally(const struct supply_status *s)
{
	return s->tally;
}

void supply_status_kick(struct supply_status *s)
{
	int64_t due;

	if (s->arena)
		s->again = true;
	if (loop_timer_active(&s->timer) || s->arena || !s->c->leading)
		return;
	due = s->passed_at ? s->passed_at + PASS_MS - loop_now(s->c->loop) : 0;
	loop_timer_start(&s->timer, due > 0 ? due : 0);
}

/* --- start ------------------------------------------------------------------------------------ */

struct supply_status *supply_status_new(struct context *c, const struct drivers *drivers,
					const struct warm_pool *warm_pool, const struct eta *eta,
					const struct fleet *fleet, const struct waiting *waiting)
{
	struct supply_status *s = mem_new(struct supply_status);

	s->c = c;
	s->drivers = drivers;
	s->warm_pool = warm_pool;
	s->eta = eta;
	s->fleet = fleet;
	s->waiting = waiting;
	s->tally = supply_tally_new(c);
	s->entries = map_new(entry_free);
	loop_timer_init(&s->timer, c->group, pass, s);
	return s;
}

void supply_status_free(struct supply_status *s)
{
	if (!s)
		return;
	loop_timer_stop(&s->timer);
	pass_over(s);
	supply_tally_free(s->tally);
	map_free(s->entries);
	free(s);
}
