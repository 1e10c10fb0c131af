/*
 * supply_status: computes the status of each NodePool and Provider and writes what differs.  Apart
 * from the provisioner: it runs seldom, and nothing waits for it.
 */
#include <stdlib.h>
#include <string.h>

#include "controller/claims/supply_status.h"
#include "api/machine_states.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/claims/stop_line.h"
#include "controller/claims/warm_pool.h"
#include "controller/core/lookup.h"
#include "controller/core/status_writer.h"
#include "controller/hardware/driver.h"
#include "controller/rules/claim.h"
#include "controller/rules/provider.h"

#define PASS_MS 2000

struct supply_status {
	struct context *c;
	const struct drivers *drivers;
	const struct warm_pool *warm_pool;
	struct loop_timer timer;
	int64_t passed_at;	  /* loop_now() of the last pass */
	enum object_kind_id next; /* whose turn it is in a pass */
	struct map *
		entries; /* "Kind/name" -> struct entry: writes in flight, versions that were refused */
};

struct entry {
	struct supply_status *owner;
	char *key, *refused; /* refused: this resourceVersion */
	char *tried;
	struct status_writer write;
};

/* --- conditions --------------------------------------------------------------------------------- */

static struct conditions copy(const struct conditions *from, struct arena *a)
{
	struct conditions cs = {.v = arena_calloc(a, from->n + 1, sizeof(*cs.v)), .n = from->n};

	if (from->n)
		memcpy(cs.v, from->v, from->n * sizeof(*cs.v));
	return cs;
}

static void say(const struct context *c, struct conditions *cs, struct arena *a, int64_t generation,
		const char *type, bool status, const char *reason, const char *message)
{
	const struct condition want = {
		.type = type,
		.status = status ? CONDITION_TRUE : CONDITION_FALSE,
		.reason = reason,
		.message = message,
		.observed_generation = generation,
	};

	(void)condition_set(cs, a, &want, loop_wall(c->loop));
}

static void say_line(const struct context *c, struct conditions *cs, struct arena *a,
		     int64_t generation, bool stopped, const struct stopped_line *why)
{
	char t[STR_TIME_SIZE];

	say(c, cs, a, generation, STOP_LINE_CONDITION, stopped, stopped ? why->reason : "Open",
	    !stopped ? ""
	    : why->next
		    ? arena_printf(a, "%s %s: %lld machines; one claim is let through at %s",
				   why->scope, why->name, (long long)why->machines,
				   str_time(t, why->next))
		    : arena_printf(a, "%s %s: %lld machines; one claim at a time is let through",
				   why->scope, why->name, (long long)why->machines));
}

/* As long as warm machines are asked for. */
static void say_warm(const struct supply_status *s, struct conditions *cs, struct arena *a,
		     const struct node_pool *p)
{
	struct warm_pool_tally t;

	if (warm_pool_tally(s->warm_pool, p, a, &t))
		say(s->c, cs, a, p->meta.generation, "WarmReady", t.ready >= p->spec.warm.nodes,
		    t.reason, t.message);
	for (size_t i = 0; i < cs->n && p->spec.warm.nodes <= 0; i++)
		if (str_eq(cs->v[i].type, "WarmReady")) {
			memmove(&cs->v[i], &cs->v[i + 1], (--cs->n - i) * sizeof(*cs->v));
			break;
		}
}

/* --- providers ---------------------------------------------------------------------------------- */

struct machines {
	const char *provider;
	int64_t by_state[MACHINE_STATES];
};

static bool count_machine(const struct kube_entry *en, void *arg)
{
	const struct machine *m = en->object;
	struct machines *n = arg;
	enum machine_state s = machine_state_find(str_or(m->status.state, "known"));

	if (str_eq(m->spec.provider_ref.name, n->provider) && s != MACHINE_STATE_NONE)
		n->by_state[s]++;
	return true;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct resource *)a)->name, ((const struct resource *)b)->name);
}

/* Why no machine of this provider can be driven; NULL: they can. */
static const char *unusable(const struct supply_status *st, const char *provider,
			    const char **message)
{
	const struct context *c = st->c;
	const struct driver *s = driver_get(st->drivers, provider);

	*message = "";
	if (!CTX_GET(c, OBJECT_PROVIDER, provider_object, provider)) {
		*message = "there is no Provider of this name";
		return "ProviderNotFound";
	}
	if (!s)
		return "Starting";
	if (s->provider)
		return NULL;
	*message = s->error.text;
	return s->error.kind == ERR_UNSUPPORTED ? "Unsupported"
	       : s->error.kind == ERR_INVALID	? "InvalidSpec"
	       : s->error.kind == ERR_DENIED	? "NotAllowed"
						: "DriverFailed";
}

static void provider_status(const struct supply_status *s, const struct provider_object *p,
			    struct arena *a, struct provider_object_status *out)
{
	const struct context *c = s->c;
	static const bool always[MACHINE_STATES] = {
		[MACHINE_FREE] = true, [MACHINE_SERVING] = true, [MACHINE_QUARANTINED] = true};
	struct machines n = {.provider = p->meta.name};
	const char *message, *reason = unusable(s, p->meta.name, &message);
	struct resources *r = &out->machines;
	int64_t generation = p->meta.generation;
	bool none = p->spec.network.type == FABRIC_NONE;
	struct stopped_line stop = {0};

	*out = p->status;
	kube_cache_each(c->cache[OBJECT_MACHINE], count_machine, &n);
	*r = (struct resources){.v = arena_calloc(a, MACHINE_STATES, sizeof(*r->v))};
	for (int i = 0; i < MACHINE_STATES; i++)
		if (n.by_state[i] || always[i])
			r->v[r->n++] = (struct resource){machine_state_info[i].name,
							 quantity_of(n.by_state[i])};
	qsort(r->v, r->n, sizeof(*r->v), by_name);
	out->conditions = copy(&p->status.conditions, a);
	say(c, &out->conditions, a, generation, "Ready", !reason, reason ? reason : "DriverRunning",
	    message);
	say(c, &out->conditions, a, generation, "Isolating", !none,
	    none ? "NoNetworkDriver" : "NetworkDriver",
	    none ? "spec.network.type is none: machines are cut off by being off alone, and nothing proves it"
		 : provider_object_fabric_names[p->spec.network.type]);
	say(c, &out->conditions, a, generation, "Paused", p->spec.paused,
	    p->spec.paused ? "SpecPaused" : "NotPaused", "");
	say_line(c, &out->conditions, a, generation,
		 stop_line_stops_provider(stop_line_read(c, a), p, &stop), &stop);
}

/* --- pools -------------------------------------------------------------------------------------- */

struct nodes {
	const struct context *c;
	const char *pool;
	struct arena *a;
	struct node_pool_status *out;
};

static void add(struct resources *sum, const struct resources *more, struct arena *a)
{
	for (size_t i = 0; i < more->n; i++) {
		struct quantity *q = (struct quantity *)resources_get(sum, more->v[i].name);
		struct resource *v;

		if (q) {
			*q = quantity_add(*q, more->v[i].q);
			continue;
		}
		v = arena_calloc(a, sum->n + 1, sizeof(*v));
		if (sum->n)
			memcpy(v, sum->v, sum->n * sizeof(*v));
		v[sum->n++] = more->v[i];
		sum->v = v;
		qsort(sum->v, sum->n, sizeof(*sum->v), by_name);
	}
}

/* A claim that holds a machine, or is on its way to one. */
static bool counts(const struct node_claim *n)
{
	return !str_eq(n->status.phase, "Ended");
}

/* What its node has, or will have. */
static void add_capacity(const struct context *c, const struct node_claim *n, struct arena *a,
			 struct resources *sum)
{
	const struct machine *m = machine_of_claim(c, n);
	const struct provider_object *p =
		m && m->spec.provider_ref.name
			? CTX_GET(c, OBJECT_PROVIDER, provider_object, m->spec.provider_ref.name)
			: NULL;
	const struct provider_object_instance_type *t =
		p ? provider_instance_type(p, claim_instance_type(n)) : NULL;

	if (t)
		add(sum, &t->capacity, a);
}

static bool count_claim(const struct kube_entry *en, void *arg)
{
	const struct node_claim *n = en->object;
	struct nodes *sum = arg;

	if (!str_eq(n->spec.node_pool_ref.name, sum->pool) || !counts(n))
		return true;
	sum->out->nodes++;
	add_capacity(sum->c, n, sum->a, &sum->out->resources);
	return true;
}

static void pool_status(const struct supply_status *s, const struct node_pool *p, struct arena *a,
			struct node_pool_status *out)
{
	const struct context *c = s->c;
	struct nodes sum = {c, p->meta.name, a, out};
	const char *reason = NULL, *message = "", *why, *text;
	int64_t generation = p->meta.generation;
	struct stopped_line stop = {0};
	size_t usable = 0;
	bool ready;

	*out = p->status;
	out->nodes = 0;
	out->resources = (struct resources){0};
	kube_cache_each(c->cache[OBJECT_NODE_CLAIM], count_claim, &sum);
	for (size_t i = 0; i < p->spec.template_.spec.provider_refs.n; i++) {
		const char *name = p->spec.template_.spec.provider_refs.v[i].name;

		why = unusable(s, name, &text);
		if (!why) {
			usable++;
			continue;
		}
		reason = reason ? reason : why;
		message = arena_printf(a, "%s%sspec.template.spec.providerRefs[%zu]: %s: %s",
				       message, *message ? "; " : "", i, name, *text ? text : why);
	}
	ready = usable && !p->spec.paused && !p->meta.deletion_timestamp;
	out->conditions = copy(&p->status.conditions, a);
	say(c, &out->conditions, a, generation, "ProvidersReady", !reason,
	    reason ? reason : "ProvidersReady", message);
	say(c, &out->conditions, a, generation, "Ready", ready,
	    ready			 ? "Ready"
	    : p->meta.deletion_timestamp ? "PoolDeleted"
	    : p->spec.paused		 ? "PoolPaused"
	    : reason			 ? reason
					 : "NoProviders",
	    usable ? "" : message);
	say_line(c, &out->conditions, a, generation,
		 stop_line_stops_pool(stop_line_read(c, a), p, &stop), &stop);
	say_warm(s, &out->conditions, a, p);
}

/* --- tenants ------------------------------------------------------------------------------------ */

/* One pass over the claims for all tenants. */
struct allocated {
	const struct context *c;
	struct arena *a;
	struct map *by_tenant; /* name -> struct resources, in the arena */
};

static bool count_tenants_claim(const struct kube_entry *en, void *arg)
{
	const struct node_claim *n = en->object;
	struct allocated *all = arg;
	struct resources *sum;

	if (!counts(n))
		return true;
	sum = map_get(all->by_tenant, n->spec.virtual_cluster_ref.name);
	if (!sum) {
		sum = arena_calloc(all->a, 1, sizeof(*sum));
		map_put(all->by_tenant, n->spec.virtual_cluster_ref.name, sum);
	}
	add_capacity(all->c, n, all->a, sum);
	return true;
}

/* --- writing ------------------------------------------------------------------------------------ */

static void entry_free(void *p)
{
	struct entry *en = p;

	writer_stop(&en->write);
	free(en->key);
	free(en->refused);
	free(en->tried);
	free(en);
}

static void on_written(json_t *o, const struct err *e, void *arg)
{
	struct entry *en = arg;
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
	struct entry *en = map_get(s->entries, key);
	OWN_JSON was = fields_encode(object_kinds[kind].fields, object);
	OWN_JSON will = fields_encode(object_kinds[kind].fields, wanted);
	OWN_JSON diff = NULL;

	if (en && (writer_busy(&en->write) || str_eq(en->refused, m->resource_version)))
		return;
	if (!json_object_get(was, "status"))
		json_object_set_new(was, "status", json_object());
	diff = json_merge_diff(json_object_get(was, "status"), json_object_get(will, "status"));
	if (!json_object_size(diff)) {
		if (en)
			map_del(s->entries, key);
		return;
	}
	if (!en) {
		en = mem_new(struct entry);
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

struct tenants_pass {
	struct supply_status *s;
	const struct map *by_tenant;
};

static bool pass_tenant(const struct kube_entry *e, void *arg)
{
	const struct tenants_pass *p = arg;
	const struct virtual_cluster *vc = e->object;
	const struct resources *sum = map_get(p->by_tenant, vc->meta.name);
	struct virtual_cluster out = *vc;

	out.status.allocated = sum ? *sum : (struct resources){0};
	if (!resources_equal(&out.status.allocated, &vc->status.allocated))
		write_status(p->s, OBJECT_VIRTUAL_CLUSTER, vc, &out);
	return true;
}

static void pass_tenants(struct supply_status *s)
{
	OWN(arena) a = arena_new();
	struct allocated all = {s->c, a, map_new(NULL)};
	struct tenants_pass p = {s, all.by_tenant};

	kube_cache_each(s->c->cache[OBJECT_NODE_CLAIM], count_tenants_claim, &all);
	kube_cache_each(s->c->cache[OBJECT_VIRTUAL_CLUSTER], pass_tenant, &p);
	map_free(all.by_tenant);
}

/* One kind in a turn: a look at all machines for each takes a while. */
static void pass(void *arg)
{
	struct supply_status *s = arg;
	struct context *c = s->c;

	if (!c->leading || !c->ready)
		return;
	s->passed_at = loop_now(c->loop);
	if (s->next == OBJECT_NODE_POOL) {
		kube_cache_each(c->cache[OBJECT_NODE_POOL], pass_pool, s);
		s->next = OBJECT_PROVIDER;
	} else if (s->next == OBJECT_PROVIDER) {
		kube_cache_each(c->cache[OBJECT_PROVIDER], pass_provider, s);
		s->next = OBJECT_VIRTUAL_CLUSTER;
	} else {
		pass_tenants(s);
		s->next = OBJECT_NODE_POOL;
		return;
	}
	loop_timer_start(&s->timer, 0);
}

void supply_status_kick(struct supply_status *s)
{
	int64_t due;

	if (loop_timer_active(&s->timer) || !s->c->leading)
		return;
	due = s->passed_at ? s->passed_at + PASS_MS - loop_now(s->c->loop) : 0;
	loop_timer_start(&s->timer, due > 0 ? due : 0);
}

/* --- start -------------------------------------------------------------------------------------- */

struct supply_status *supply_status_new(struct context *c, const struct drivers *drivers,
					const struct warm_pool *warm_pool)
{
	struct supply_status *s = mem_new(struct supply_status);

	s->c = c;
	s->drivers = drivers;
	s->warm_pool = warm_pool;
	s->entries = map_new(entry_free);
	s->next = OBJECT_NODE_POOL;
	loop_timer_init(&s->timer, c->group, pass, s);
	return s;
}

void supply_status_free(struct supply_status *s)
{
	if (!s)
		return;
	loop_timer_stop(&s->timer);
	map_free(s->entries);
	free(s);
}
