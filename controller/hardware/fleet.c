/* fleet: lists the instances and offers of elastic Providers (clouds), creates the Machines of
 * claims, and terminates instances that have no owner. */
#include "controller/hardware/fleet.h"

#include <stdlib.h>
#include <string.h>

#include "api/annotations.h"
#include "api/resources.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/approval.h"
#include "controller/rules/claim.h"
#include "controller/rules/provider.h"

#define LOOK_MS 5000
#define LIST_MS 60000 /* interval between lists if no Machine waits for one */
#define LIST_GAP_MS 2000
/* time without an answer after which a cloud counts as unreachable */
#define AWAY_MS (5 * 60 * 1000)
#define OFFERS_MS 60000
/* Shortest time without an owner before an instance is terminated. Until then its claim or Machine
 * may be missing only because it has not reached the cache yet. */
#define ORPHAN_MS 60000

struct cloud {
	struct fleet *f;
	char *name;
	/* memory of `v` and its members */
	struct arena *arena;
	struct elastic_instance *v;
	size_t n;
	/* asked_at: loop_now() of the last request for a list. listed_at: loop_now() of the request
	 * whose list is in `v`. -1: never */
	int64_t asked_at, listed_at;
	bool listing, wanted;
	struct arena *offers_arena;
	struct offer *offers;
	size_t noffers;
	/* loop_now() of the last answer to a request for offers, even if it was an error; 0:
	 * never */
	int64_t offers_at;
	/* wall ms at which `offers` arrived */
	int64_t priced_at;
	bool offering;
	/* error of the last request for instances or offers; kind ERR_NONE: none */
	struct err error;
	/* id of an instance -> loop_now() at which it was first seen without an owner, as decimal
	 * text */
	struct map *orphans;
};

struct fleet {
	struct context *c;
	struct drivers *drivers;
	struct map *clouds;
	struct offer_refusals *refusals;
	struct loop_timer timer;
	struct kube_call *call;
	char cluster[65];
	/* the instance that may have no owner; its Machine and claim are being read before it is
	 * terminated */
	struct {
		char *provider, *region, *id, *machine, *claim_uid;
	} orphan;
};

static struct cloud *cloud_of(struct fleet *f, const char *provider)
{
	struct cloud *k = map_get(f->clouds, provider);

	if (!k) {
		k = mem_new(struct cloud);
		k->f = f;
		k->name = mem_strdup(provider);
		k->orphans = map_new(free);
		k->asked_at = k->listed_at = -1;
		map_put(f->clouds, provider, k);
	}
	return k;
}

static void cloud_free(struct cloud *k)
{
	arena_free(k->arena);
	arena_free(k->offers_arena);
	map_free(k->orphans);
	free(k->name);
	free(k);
}

static struct provider *provider_of(const struct fleet *f, const char *name)
{
	struct driver *s = driver_get(f->drivers, name);

	return s ? s->provider : NULL;
}

void fleet_kick(struct fleet *f)
{
	if (!loop_timer_active(&f->timer) || f->timer.at > loop_now(f->c->loop) + 50)
		loop_timer_start(&f->timer, 50);
}

const char *fleet_cluster(const struct fleet *f)
{
	return f->cluster[0] ? f->cluster : NULL;
}

/* --- lists ------------------------------------------------------------------------------------ */

static bool tell_machine(const struct kube_entry *en, void *arg)
{
	const struct machine *m = en->object;
	const struct cloud *k = arg;

	if (m->spec.elastic && str_eq(m->spec.provider_ref.name, k->name))
		notify(k->f->c, NOTICE_MACHINE, en->name);
	return true;
}

static void tell_machines(struct cloud *k)
{
	kube_cache_each(k->f->c->cache[OBJECT_MACHINE], tell_machine, k);
}

static const char *tag_of(const struct elastic_instance *i, const char *key)
{
	for (size_t k = 0; k < i->ntags; k++)
		if (str_eq(i->tags[k].key, key))
			return i->tags[k].value;
	return NULL;
}

static void keep(struct arena *a, struct elastic_instance *to, const struct elastic_instance *from)
{
	struct elastic_tag *tags = arena_calloc(a, from->ntags + 1, sizeof(*tags));

	*to = *from;
	to->id = arena_strdup(a, from->id);
	to->provider_id = arena_strdup(a, from->provider_id);
	to->region = arena_strdup(a, from->region);
	to->zone = arena_strdup(a, from->zone);
	to->type = arena_strdup(a, from->type);
	to->token = arena_strdup(a, from->token);
	to->reason = arena_strdup(a, from->reason);
	to->address = arena_strdup(a, from->address);
	to->reservation = arena_strdup(a, from->reservation);
	for (size_t i = 0; i < from->ntags; i++)
		tags[i] = (struct elastic_tag){arena_strdup(a, from->tags[i].key),
					       arena_strdup(a, from->tags[i].value)};
	to->tags = tags;
}

static void on_listed(const struct elastic_instance *v, size_t n, const struct err *e, void *arg)
{
	struct cloud *k = arg;

	k->listing = false;
	if (e || k->error.kind != ERR_NONE)
		notify(k->f->c, NOTICE_POOL, NULL);
	if (e) {
		k->error = *e;
		log_warn("cannot list instances", LOG_S("provider", k->name), LOG_E(e));
	} else {
		err_clear(&k->error);
		arena_free(k->arena);
		k->arena = arena_new();
		k->v = arena_calloc(k->arena, n + 1, sizeof(*k->v));
		k->n = n;
		for (size_t i = 0; i < n; i++)
			keep(k->arena, &k->v[i], &v[i]);
		k->listed_at = k->asked_at;
		k->wanted = false;
	}
	tell_machines(k);
	fleet_kick(k->f);
}

static void list(struct cloud *k)
{
	struct provider *p = provider_of(k->f, k->name);

	if (!p || k->listing || !k->f->cluster[0])
		return;
	k->asked_at = loop_now(k->f->c->loop);
	k->listing = provider_list_owned(p, k->f->cluster, on_listed, k);
}

bool fleet_ensure_listed(struct fleet *f, const char *provider, int64_t since)
{
	struct cloud *k = cloud_of(f, provider);

	if (k->listed_at >= since)
		return true;
	k->wanted = true;
	fleet_kick(f);
	return false;
}

const struct err *fleet_trouble(const struct fleet *f, const char *provider)
{
	const struct cloud *k = f ? map_get(f->clouds, provider) : NULL;
	enum err_kind kind = k ? k->error.kind : ERR_NONE;
	bool passes = kind == ERR_TIMEOUT || kind == ERR_UNAVAILABLE;

	if (kind == ERR_NONE ||
	    (passes && k->listed_at >= 0 && loop_now(f->c->loop) - k->listed_at < AWAY_MS))
		return NULL;
	return &k->error;
}

static bool is_ending(const struct elastic_instance *i)
{
	return i->state == ELASTIC_ENDING || i->state == ELASTIC_TERMINATED;
}

const struct elastic_instance *fleet_find(const struct fleet *f, const char *provider,
					  const char *claim_uid, const char *id)
{
	const struct cloud *k = map_get(f->clouds, provider);

	for (size_t i = 0; k && i < k->n; i++)
		if (!str_empty(id) ? str_eq(k->v[i].id, id)
				   : str_eq(tag_of(&k->v[i], ELASTIC_TAG_CLAIM), claim_uid) &&
					     !is_ending(&k->v[i]))
			return &k->v[i];
	return NULL;
}

/* --- offers ----------------------------------------------------------------------------------- */

static void on_offers(const struct offer *o, size_t n, const struct err *e, void *arg)
{
	struct cloud *k = arg;
	struct arena *a;

	k->offering = false;
	k->offers_at = loop_now(k->f->c->loop);
	if (e) {
		k->error = *e;
		log_warn("cannot read offers", LOG_S("provider", k->name), LOG_E(e));
		tell_machines(k);
		return;
	}
	a = arena_new();
	arena_free(k->offers_arena);
	k->offers_arena = a;
	k->offers = arena_calloc(a, n + 1, sizeof(*k->offers));
	k->noffers = n;
	k->priced_at = loop_wall(k->f->c->loop);
	for (size_t i = 0; i < n; i++) {
		k->offers[i] = offer_copy(&o[i], a);
	}
	tell_machines(k);
}

static void ask_offers(struct cloud *k)
{
	struct provider *p = provider_of(k->f, k->name);

	if (p && !k->offering &&
	    (!k->offers_at || loop_now(k->f->c->loop) - k->offers_at > OFFERS_MS))
		k->offering = provider_offers(p, on_offers, k);
}

const struct offer *fleet_offers(struct fleet *f, const char *provider, size_t *n, int64_t *at,
				 bool *answered)
{
	struct cloud *k = cloud_of(f, provider);

	ask_offers(k);
	*n = k->noffers;
	*at = k->priced_at;
	*answered = k->offers_at;
	return k->offers;
}

struct offer_refusals *fleet_refusals(const struct fleet *f)
{
	return f->refusals;
}

const struct offer *fleet_offer(struct fleet *f, const char *provider, const char *type, char *why,
				size_t size)
{
	struct cloud *k = cloud_of(f, provider);
	const struct offer *best = NULL;
	const struct provider_object_refusal *refused = NULL, *x;
	bool priceless = false;

	str_format(why, size, "%s",
		   k->error.kind == ERR_NONE ? "its offers are being read" : k->error.text);
	ask_offers(k);
	if (!k->offers_arena)
		return NULL;
	str_format(why, size, "it offers no %s", str_or(type, "(none)"));
	for (size_t i = 0; i < k->noffers; i++) {
		const struct offer *o = &k->offers[i];

		if (!str_eq(o->type, type) || o->market != MARKET_ON_DEMAND || !o->available)
			continue;
		if (o->micros_per_hour < 0 || !o->currency)
			priceless = true;
		else if ((x = offer_refusals_find(f->refusals, provider, o)))
			refused = x;
		else if (!best || o->micros_per_hour < best->micros_per_hour)
			best = o;
	}
	if (refused)
		str_copy(why, size, refused->message);
	else if (priceless)
		str_format(why, size, "the price of %s is not known", type);
	return best;
}

const char *fleet_no_offer(const struct fleet *f, const char *provider, const char *type,
			   int64_t *until)
{
	const struct cloud *k = f ? map_get(f->clouds, provider) : NULL;
	const char *why = "the cloud has no capacity for it";

	*until = 0;
	if (!k || !k->offers_arena)
		return NULL;
	for (size_t i = 0; i < k->noffers; i++) {
		const struct offer *o = &k->offers[i];
		const struct provider_object_refusal *refused =
			offer_refusals_find(f->refusals, provider, o);

		if (!str_eq(o->type, type) || o->market != MARKET_ON_DEMAND || !o->available)
			continue;
		if (!refused && o->micros_per_hour >= 0 && o->currency)
			return NULL;
		if (!refused) {
			why = "its price is not known";
			continue;
		}
		*until = !*until || refused->until < *until ? refused->until : *until;
		why = refused->message;
	}
	return why;
}

static bool is_wanted(const struct offer *o, const struct offer *w)
{
	return str_eq(o->region, w->region) && str_eq(str_or(o->zone, ""), str_or(w->zone, "")) &&
	       str_eq(o->type, w->type) && o->market == w->market;
}

const struct offer *fleet_offer_of(struct fleet *f, const char *provider, const struct offer *w,
				   bool *no_offer, char *why, size_t size)
{
	struct cloud *k = cloud_of(f, provider);
	const struct provider_object_refusal *refused;
	const struct offer *o = NULL;
	bool fresh;

	ask_offers(k);
	fresh = k->offers_arena &&
		/* mutant: burst-dearer */ loop_wall(f->c->loop) - k->priced_at <= OFFERS_MS;
	*no_offer = fresh;
	str_format(why, size, "%s",
		   fresh		       ? "it is no longer offered"
		   : k->error.kind == ERR_NONE ? "its offers are being read"
					       : k->error.text);
	for (size_t i = 0; fresh && i < k->noffers && !o; i++)
		if (is_wanted(&k->offers[i], w))
			o = &k->offers[i];
	if (!o)
		return NULL;
	refused = offer_refusals_find(f->refusals, provider, o);
	if (!o->available)
		str_copy(why, size, "the cloud has no capacity for it");
	else if (refused)
		str_copy(why, size, refused->message);
	else if (w->micros_per_hour >= 0 &&
		 (o->micros_per_hour < 0 || o->micros_per_hour > w->micros_per_hour ||
		  !str_eq(o->currency, w->currency)))
		str_copy(why, size, "its price has risen since the decision to launch it");
	else
		return o;
	return NULL;
}

/* --- instances without an owner --------------------------------------------------------------- */

static void orphan_over(struct fleet *f)
{
	free(f->orphan.provider);
	free(f->orphan.region);
	free(f->orphan.id);
	free(f->orphan.machine);
	free(f->orphan.claim_uid);
	memset(&f->orphan, 0, sizeof(f->orphan));
	fleet_kick(f);
}

static void on_ended(const struct elastic_instance *v, size_t n, const struct err *e, void *arg)
{
	struct cloud *k = arg;

	(void)v;
	(void)n;
	if (e)
		log_warn("cannot terminate an instance that has no owner",
			 LOG_S("provider", k->name), LOG_E(e));
}

static bool may_end(void *arg)
{
	return ctx_may_act(((struct cloud *)arg)->f->c);
}

static void end_orphan(struct fleet *f)
{
	struct cloud *k = map_get(f->clouds, f->orphan.provider);
	struct provider *p = provider_of(f, f->orphan.provider);

	log_warn("terminating an instance that has no owner", LOG_S("provider", f->orphan.provider),
		 LOG_S("instance", f->orphan.id), LOG_S("claim", f->orphan.claim_uid));
	if (k && p)
		(void)provider_terminate(p, f->orphan.region, f->orphan.id, may_end, on_ended, k);
	if (k)
		map_del(k->orphans, f->orphan.id);
	orphan_over(f);
}

static void on_claim_read(json_t *o, const struct err *e, void *arg)
{
	struct fleet *f = arg;

	f->call = NULL;
	if ((e && e->kind == ERR_NOT_FOUND) ||
	    (!e && !str_eq(json_str_at(o, "metadata", "uid"), f->orphan.claim_uid)))
		end_orphan(f);
	else
		orphan_over(f);
}

/* True if the claim's Machine records the ID of a different instance. Then two instances were
 * launched for the claim, and f->orphan is superfluous. */
static bool is_another(const struct fleet *f, const json_t *o)
{
	const char *id = json_str_at(o, "status", "instance", "id");

	return !str_empty(id) && !str_eq(id, f->orphan.id);
}

static void on_machine_read(json_t *o, const struct err *e, void *arg)
{
	struct fleet *f = arg;
	bool same = !e &&
		    str_eq(json_str_at(o, "spec", "elastic", "claim", "uid"), f->orphan.claim_uid);

	f->call = NULL;
	if (e && e->kind != ERR_NOT_FOUND)
		orphan_over(f);
	else if (same && is_another(f, o))
		end_orphan(f);
	else if (same)
		orphan_over(f);
	else
		f->call = kube_get(f->c->host, &object_resources[OBJECT_NODE_CLAIM], NULL,
				   f->orphan.machine, on_claim_read, f);
}

/* True if a Machine or a claim in the caches owns the instance. The caches may lag behind the API
 * server. */
static bool is_owned(const struct fleet *f, const struct elastic_instance *i)
{
	const char *name = tag_of(i, ELASTIC_TAG_MACHINE), *uid = tag_of(i, ELASTIC_TAG_CLAIM);
	const struct machine *m = name ? CTX_GET(f->c, OBJECT_MACHINE, machine, name) : NULL;
	const struct node_claim *n =
		name ? CTX_GET(f->c, OBJECT_NODE_CLAIM, node_claim, name) : NULL;

	if (m && m->spec.elastic && str_eq(m->spec.elastic->claim.uid, uid))
		return !m->status.instance || str_empty(m->status.instance->id) ||
		       str_eq(m->status.instance->id, i->id);
	return n && str_eq(n->meta.uid, uid);
}

/* True if the instance must be terminated: it was first seen without an owner at least ORPHAN_MS
 * ago, and a list that was requested after these ORPHAN_MS still contains it. Records when the
 * instance was first seen without an owner. */
static bool is_due(struct cloud *k, const struct elastic_instance *i)
{
	int64_t now = loop_now(k->f->c->loop), since;
	const char *text = map_get(k->orphans, i->id);

	if (!text) {
		map_put(k->orphans, i->id, mem_printf("%lld", (long long)now));
		return false;
	}
	return str_to_i64(text, 0, INT64_MAX, &since) && now - since >= ORPHAN_MS &&
	       k->listed_at >= since + ORPHAN_MS;
}

static void look_for_orphans(struct fleet *f, struct cloud *k)
{
	for (size_t i = 0; i < k->n && !f->call; i++) {
		const struct elastic_instance *x = &k->v[i];
		const char *name = tag_of(x, ELASTIC_TAG_MACHINE);

		if (x->state == ELASTIC_TERMINATED || is_owned(f, x)) {
			map_del(k->orphans, x->id);
			continue;
		}
		/* mutant: orphan-kept */
		if (!is_due(k, x) || !ctx_may_act(f->c))
			continue;
		f->orphan.provider = mem_strdup(k->name);
		f->orphan.region = mem_strdup(x->region);
		f->orphan.id = mem_strdup(x->id);
		f->orphan.machine = mem_strdup(str_or(name, "none"));
		f->orphan.claim_uid = mem_strdup(str_or(tag_of(x, ELASTIC_TAG_CLAIM), ""));
		f->call = kube_get(f->c->host, &object_resources[OBJECT_MACHINE], NULL,
				   f->orphan.machine, on_machine_read, f);
	}
}

/* --- Machines --------------------------------------------------------------------------------- */

static void on_created(json_t *o, const struct err *e, void *arg)
{
	struct fleet *f = arg;

	(void)o;
	f->call = NULL;
	if (e)
		log_warn("cannot create the Machine of a NodeClaim", LOG_E(e));
	else
		fleet_kick(f);
}

/* True if the claim may have an instance. A Machine in the claim's status is no approval: either
 * the claim had an instance, whose Machine was deleted by force, or the status is wrong. */
static bool may_launch(const struct context *c, const struct node_claim *n)
{
	return approval_admits(c, n) && (!n->status.machine_ref || !approval_asked(c, n) ||
					 approval_decision(c, n).state == APPROVAL_GIVEN);
}

static bool make_machine(const struct kube_entry *en, void *arg)
{
	const struct node_claim *n = en->object;
	struct fleet *f = arg;
	OWN_JSON o = NULL;

	if (!n->spec.provider_ref || n->meta.deletion_timestamp ||
	    CTX_GET(f->c, OBJECT_MACHINE, machine, n->meta.name) ||
	    /* mutant: unapproved-launched */ !may_launch(f->c, n))
		return true;
	o = json_pack("{s:s, s:s, s:{s:s, s:[s], s:[{s:s, s:s, s:s, s:s}]}, "
		      "s:{s:{s:{s:s, s:s}}, s:{s:s}, s:s*, s:s}}",
		      "apiVersion", OBJECT_API_VERSION, "kind", "Machine", "metadata", "name",
		      n->meta.name, "finalizers", FINALIZER_MACHINE, "ownerReferences",
		      "apiVersion", OBJECT_API_VERSION, "kind", "NodeClaim", "name", n->meta.name,
		      "uid", n->meta.uid, "spec", "elastic", "claim", "name", n->meta.name, "uid",
		      n->meta.uid, "providerRef", "name", n->spec.provider_ref->name,
		      "instanceType", claim_instance_type(n, NULL), "managementPolicy", "Manage");
	f->call =
		kube_create(f->c->host, &object_resources[OBJECT_MACHINE], NULL, o, on_created, f);
	return false;
}

static void on_cluster(json_t *o, const struct err *e, void *arg)
{
	struct fleet *f = arg;
	const char *uid = json_str_at(o, "metadata", "uid");

	f->call = NULL;
	if (e || str_empty(uid) || strlen(uid) >= sizeof(f->cluster)) {
		log_warn("cannot read the UID of the host cluster's namespace kube-system: no "
			 "instance is launched",
			 LOG_S("error", e ? e->text : "none"));
		return;
	}
	str_copy(f->cluster, sizeof(f->cluster), uid);
	fleet_kick(f);
}

/* --- the scan --------------------------------------------------------------------------------- */

static bool look_at_provider(const struct kube_entry *en, void *arg)
{
	struct fleet *f = arg;
	struct cloud *k;
	int64_t since;

	if (!provider_is_elastic(en->object))
		return true;
	k = cloud_of(f, en->name);
	since = k->asked_at < 0 ? INT64_MAX : loop_now(f->c->loop) - k->asked_at;
	if (since >= (k->wanted ? LIST_GAP_MS : LIST_MS))
		list(k);
	look_for_orphans(f, k);
	return true;
}

static bool any_elastic(const struct kube_entry *en, void *arg)
{
	*(bool *)arg |= provider_is_elastic(en->object);
	return !*(bool *)arg;
}

static void look(void *arg)
{
	struct fleet *f = arg;
	struct context *c = f->c;
	struct map_iter it;
	bool any = false;

	if (!c->leading || !c->ready)
		return;
	kube_cache_each(c->cache[OBJECT_PROVIDER], any_elastic, &any);
	if (!any)
		return;
	loop_timer_start(&f->timer, LOOK_MS);
	if (!f->cluster[0]) {
		if (!f->call)
			f->call = kube_get(c->host, &KUBE_NAMESPACES, NULL, "kube-system",
					   on_cluster, f);
		return;
	}
	if (!f->call)
		kube_cache_each(c->cache[OBJECT_NODE_CLAIM], make_machine, f);
	kube_cache_each(c->cache[OBJECT_PROVIDER], look_at_provider, f);
	map_for_each (it, f->clouds) {
		const struct cloud *k = it.value;

		if (k->wanted && !k->listing)
			loop_timer_start(&f->timer, LIST_GAP_MS);
	}
}

void fleet_closing(struct fleet *f, const struct driver *s)
{
	struct cloud *k = f ? map_get(f->clouds, s->name) : NULL;

	if (!k)
		return;
	/* Requests in progress are never answered once the driver is freed. */
	k->listing = k->offering = false;
	err_clear(&k->error);
	k->asked_at = k->listed_at = -1;
	/* Forget the offers, because the new driver may have other prices and zones. Also forget
	 * the refusals that cover all types, because the cloud may accept the new driver's
	 * login. */
	arena_free(k->offers_arena);
	k->offers_arena = NULL;
	k->noffers = 0;
	k->offers_at = 0;
	offer_refusals_new_login(f->refusals, k->name);
	fleet_kick(f);
}

struct fleet *fleet_new(struct context *c, struct drivers *ds)
{
	struct fleet *f = mem_new(struct fleet);

	f->c = c;
	f->drivers = ds;
	f->clouds = map_new(NULL);
	f->refusals = offer_refusals_new(c);
	loop_timer_init(&f->timer, c->group, look, f);
	return f;
}

void fleet_free(struct fleet *f)
{
	struct map_iter it;

	if (!f)
		return;
	kube_call_cancel(f->call);
	f->call = NULL;
	loop_timer_stop(&f->timer);
	map_for_each (it, f->clouds)
		cloud_free(it.value);
	map_free(f->clouds);
	offer_refusals_free(f->refusals);
	free(f->orphan.provider);
	free(f->orphan.region);
	free(f->orphan.id);
	free(f->orphan.machine);
	free(f->orphan.claim_uid);
	free(f);
}
