/*
 * api_path_checks: one entry for each tenant with a network path to check, or with a load balancer
 * to remove.
 *
 * 	tick --> status.apiServer --> fabric_ensure_api_path() --> core/api_paths, status.apiServer
 * 	    '--> fabric_remove_api_path() --> removed from status.apiServer
 */
#include "controller/hardware/api_path_checks.h"

#include <stdlib.h>
#include <string.h>

#include "api/annotations.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/finalizer.h"
#include "controller/core/status_writer.h"
#include "controller/hardware/leftovers.h"
#include "controller/hardware/segments.h"
#include "controller/rules/api_path.h"

/* Timeout of a call. A driver that is freed never answers its calls in progress; any other driver
 * answers within 60 s. */
#define LOST_MS 90000
#define SOON_MS 500

struct api_path_checks {
	struct context *c;
	const struct drivers *drivers;
	void (*changed)(const char *tenant, void *arg);
	void *arg;
	struct leftovers *entries;
};

struct api_path_entry {
	struct leftover of;
	struct api_path_checks *all;
	/* api_path_key() of the network path for which a check is in progress; "": the load
	 * balancer is being removed; NULL: no request in progress */
	char *asked;
	/* loop_now() of the first failed request since the last success; 0: the last request
	 * succeeded */
	int64_t silent_at;
	struct loop_timer timer;
	struct status_writer write;
};

static void entry_free(void *p)
{
	struct api_path_entry *en = p;

	loop_timer_stop(&en->timer);
	writer_stop(&en->write);
	free(en->asked);
	free(en);
}

static void answered(struct api_path_entry *en)
{
	free(en->asked);
	en->asked = NULL;
	loop_timer_start(&en->timer, API_PATH_CHECK_MS);
}

static bool may_act(void *arg)
{
	const struct api_path_entry *en = arg;
	const struct virtual_cluster *vc = leftover_cluster(&en->of);

	return vc && !vc->spec.paused && ctx_may_act(en->all->c);
}

static void on_written(json_t *o, const struct err *e, void *arg)
{
	struct api_path_entry *en = arg;

	(void)o;
	loop_timer_start(&en->timer, e ? SOON_MS : 0);
}

/* Records provider and address in status.apiServer; both NULL: clears it. Returns true if a write
 * was started, false if the status already has these values. */
static bool write_down(struct api_path_entry *en, const struct virtual_cluster *vc,
		       const char *provider, const char *address)
{
	const struct virtual_cluster_api_path *was = vc->status.api_server;

	if (str_eq(was ? was->provider : NULL, provider) &&
	    str_eq(was ? was->address : NULL, address))
		return false;
	writer_status(&en->write, OBJECT_VIRTUAL_CLUSTER, &vc->meta,
		      provider || address ? json_pack("{s:{s:s?, s:s?}}", "apiServer", "provider",
						      provider, "address", address)
					  : json_pack("{s:n}", "apiServer"),
		      on_written);
	return true;
}

static void know(struct api_path_entry *en, const struct virtual_cluster *vc,
		 const struct api_path_state *seen)
{
	struct context *c = en->all->c;
	OWN(arena) a = arena_new();

	if (!api_paths_put(c->api_paths, en->of.tenant, api_path_key(vc, a), seen))
		return;
	log_info("state of the path to a tenant's API server", LOG_S("tenant", en->of.tenant),
		 LOG_S("reason", seen->reason), LOG_S("why", seen->why));
	en->all->changed(en->of.tenant, en->all->arg);
}

static void know_not(struct api_path_entry *en, const struct virtual_cluster *vc,
		     const char *reason, const char *why)
{
	struct api_path_state seen = {.reason = reason};

	str_copy(seen.why, sizeof(seen.why), why);
	str_clean(seen.why);
	know(en, vc, &seen);
}

/* --- checking the path ------------------------------------------------------------------------ */

static void on_api_path(const struct fabric_api_path_state *s, const struct err *e, void *arg)
{
	struct api_path_entry *en = arg;
	const struct virtual_cluster *vc = leftover_cluster(&en->of);
	struct api_path_state seen = {0};
	int64_t now = loop_now(en->all->c->loop);
	OWN(arena) a = arena_new();
	const char *address;
	bool same = vc && str_eq(en->asked, api_path_key(vc, a));

	answered(en);
	if (!same) { /* Check again at once: the spec has changed since the request. */
		loop_timer_start(&en->timer, 0);
		return;
	}
	if (e) {
		log_warn("cannot check the path to a tenant's API server",
			 LOG_S("tenant", en->of.tenant), LOG_E(e));
		if (!en->silent_at)
			en->silent_at = now;
		if (!api_paths_get(en->all->c->api_paths, en->of.tenant, api_path_key(vc, a)) ||
		    now - en->silent_at >= API_PATH_VALID_MS)
			know_not(en, vc, "NotAnswered", e->text);
		return;
	}
	en->silent_at = 0;
	seen.up = s->up;
	seen.reason = s->reason;
	str_copy(seen.why, sizeof(seen.why), str_or(s->why, ""));
	str_clean(seen.why);
	address = vc->spec.network.api_server->address;
	if (!address)
		address = s->address ? s->address : api_path_address(vc);
	if (!writer_busy(&en->write) && write_down(en, vc, api_path_balancer(vc), address))
		loop_timer_stop(&en->timer); /* on_written() starts the timer again */
	if (seen.up && !api_path_balancer(vc) && loop_timer_active(&en->timer))
		loop_timer_start(&en->timer, API_PATH_VIP_CHECK_MS);
	know(en, vc, &seen);
}

static void on_api_path_removed(const struct fabric_api_path_state *s, const struct err *e,
				void *arg)
{
	struct api_path_entry *en = arg;
	const struct virtual_cluster *vc = leftover_cluster(&en->of);

	(void)s;
	answered(en);
	if (!vc)
		loop_timer_start(&en->timer, 0);
	if (e) {
		log_warn("cannot remove a load balancer", LOG_S("tenant", en->of.tenant), LOG_E(e));
		return;
	}
	if (vc && !writer_busy(&en->write) && write_down(en, vc, NULL, NULL))
		loop_timer_stop(&en->timer);
}

/* Returns the fabric of a Provider. Returns NULL if it is not available now; `why` then contains
 * the reason for users. */
static struct fabric *fabric_of(const struct api_path_entry *en, const char *provider,
				char why[static 256])
{
	const struct driver *d = driver_get(en->all->drivers, provider);

	if (d && d->fabric)
		return d->fabric;
	if (!CTX_GET(en->all->c, OBJECT_PROVIDER, provider_object, provider))
		str_format(why, 256, "Provider %.200s does not exist", provider);
	else
		str_format(why, 256, "Provider %.100s cannot be used: %.120s", provider,
			   d ? d->error.text : "it is not read yet");
	return NULL;
}

static void kick(struct api_path_checks *w, const char *tenant);

static void begin(struct api_path_entry *en, const char *key)
{
	en->asked = mem_strdup(key);
	loop_timer_start(&en->timer, LOST_MS);
}

static void remove_lb(struct api_path_entry *en, const struct virtual_cluster *vc)
{
	const struct fabric_api_path_call call = {
		.done = on_api_path_removed, .may_act = may_act, .arg = en};
	char segment[TENANT_SEGMENT], why[256];
	const struct fabric_api_path want = {
		.via = FABRIC_VIA_L4LB, .segment = segment, .uid = vc->meta.uid};
	struct fabric *f = fabric_of(en, vc->status.api_server->provider, why);

	segment_of_tenant(vc, segment);
	if (!f || !fabric_has_api_paths(f) || !ctx_may_act(en->all->c) || vc->spec.paused) {
		loop_timer_start(&en->timer, API_PATH_CHECK_MS);
		return;
	}
	begin(en, "");
	fabric_remove_api_path(f, &want, &call);
}

/* True if status.apiServer records a load balancer that the spec no longer asks for. */
static bool is_left(const struct virtual_cluster *vc)
{
	const struct virtual_cluster_api_path *w = vc->status.api_server;

	return w && w->provider && !str_eq(w->provider, api_path_balancer(vc));
}

/* Stores what is known of a network path whose fabric cannot check paths to API servers. balanced:
 * the path needs a load balancer, which the fabric cannot create either. */
static void know_without(struct api_path_entry *en, const struct virtual_cluster *vc, bool balanced)
{
	struct api_path_state seen = {.up = !balanced,
				      .reason = balanced ? "NotSupported" : "VIPUnchecked"};

	str_format(
		seen.why, sizeof(seen.why),
		"the network of Provider %.100s is not of type netris: %s",
		vc->spec.network.api_server->provider_ref->name,
		balanced
			? "it cannot create load balancers"
			: "drover cannot check there whether the VIP can work; only the probe of a "
			  "joining machine shows whether it does");
	en->silent_at = 0;
	know(en, vc, &seen);
}

static void look(struct api_path_entry *en, const struct virtual_cluster *vc)
{
	const struct virtual_cluster_api_server *w = vc->spec.network.api_server;
	const struct fabric_api_path_call call = {
		.done = on_api_path, .may_act = may_act, .arg = en};
	const char *by = api_path_balancer(vc), **backends;
	char segment[TENANT_SEGMENT], why[256];
	struct fabric_api_path want = {.via = by ? FABRIC_VIA_L4LB : FABRIC_VIA_VIP,
				       .segment = segment,
				       .uid = vc->meta.uid,
				       .address = w->address};
	struct fabric *f = fabric_of(en, w->provider_ref->name, why);
	OWN(arena) a = arena_new();

	loop_timer_start(&en->timer, API_PATH_CHECK_MS);
	segment_of_tenant(vc, segment);
	if (!f) {
		know_not(en, vc, "NoProvider", why);
		return;
	}
	if (!fabric_has_api_paths(f)) {
		know_without(en, vc, by != NULL);
		return;
	}
	/* Wait for the finalizer: it protects status.apiServer, where the load balancer is recorded
	 * before it is created, so that the next leader knows of it. */
	if (by && !finalizer_is_on(&vc->meta.finalizers, FINALIZER_VIRTUAL_CLUSTER)) {
		loop_timer_start(&en->timer, SOON_MS);
		return;
	}
	/* mutant: way-unjournaled */
	if (by && write_down(en, vc, by, api_path_address(vc)))
		return;
	backends = arena_calloc(a, w->backends.n + 1, sizeof(*backends));
	for (size_t i = 0; i < w->backends.n; i++)
		backends[i] = w->backends.v[i];
	want.backends = backends;
	begin(en, api_path_key(vc, a));
	fabric_ensure_api_path(f, &want, &call);
}

/* Drops the entry of a VirtualCluster that was deleted. Creates an entry if a new VirtualCluster
 * has the same name. */
static void forget(struct api_path_entry *en)
{
	struct api_path_checks *w = en->all;
	char tenant[sizeof(en->of.tenant)];

	str_copy(tenant, sizeof(tenant), en->of.tenant);
	api_paths_forget(w->c->api_paths, tenant);
	leftovers_drop(w->entries, &en->of);
	kick(w, tenant);
}

static void on_timer(void *arg)
{
	struct api_path_entry *en = arg;
	struct context *c = en->all->c;
	const struct virtual_cluster *vc = leftover_cluster(&en->of);
	const struct virtual_cluster_api_server *w = vc ? vc->spec.network.api_server : NULL;

	/* Clear an earlier request that will not be answered, because its driver was freed and the
	 * request has timed out. */
	free(en->asked);
	en->asked = NULL;
	if (!vc) {
		forget(en);
		return;
	}
	if (!c->leading)
		api_paths_forget(c->api_paths, en->of.tenant);
	if (vc->meta.deletion_timestamp) {
		/* changed() leads to api_path_checks_block_deletion(), which starts the removal */
		en->all->changed(en->of.tenant, en->all->arg);
		return;
	}
	if (!c->leading || !c->ready || writer_busy(&en->write) || vc->spec.paused) {
		loop_timer_start(&en->timer, API_PATH_CHECK_MS);
		return;
	}
	if (is_left(vc))
		remove_lb(en, vc);
	else if (w && w->via != VIA_ADDRESS)
		look(en, vc);
	else
		(void)write_down(en, vc, NULL, NULL);
}

static struct leftover *make_entry(const struct virtual_cluster *vc, void *arg)
{
	struct api_path_entry *en = mem_new(struct api_path_entry);

	(void)vc;
	en->all = arg;
	writer_init(&en->write, en->all->c, en);
	loop_timer_init(&en->timer, en->all->c->group, on_timer, en);
	return &en->of;
}

static bool in_progress(const struct leftover *l)
{
	return ((const struct api_path_entry *)l)->asked != NULL;
}

static void kick(struct api_path_checks *w, const char *tenant)
{
	struct api_path_entry *en = (struct api_path_entry *)leftovers_find(w->entries, tenant);
	const struct virtual_cluster *vc =
		CTX_GET(w->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster, tenant);
	OWN(arena) a = arena_new();

	if (vc && (en || vc->spec.network.api_server || vc->status.api_server))
		en = (struct api_path_entry *)leftovers_of(w->entries, vc);
	if (en && !en->asked &&
	    (!vc || !api_paths_get(w->c->api_paths, tenant, api_path_key(vc, a))))
		loop_timer_start(&en->timer, 0);
}

static bool kick_one(const struct kube_entry *e, void *arg)
{
	kick(arg, e->name);
	return true;
}

void api_path_checks_kick(struct api_path_checks *w, const char *tenant)
{
	if (tenant)
		kick(w, tenant);
	else
		kube_cache_each(w->c->cache[OBJECT_VIRTUAL_CLUSTER], kick_one, w);
}

static bool give_up(struct api_path_entry *en, const struct virtual_cluster *vc)
{
	char note[400];

	str_format(note, sizeof(note),
		   "a load balancer of Provider %.100s may be left over: it could not be removed "
		   "in 10 min",
		   vc->status.api_server->provider);
	return leftover_given_up(&en->of, vc, "WayLeft", note);
}

bool api_path_checks_block_deletion(struct api_path_checks *w, const struct virtual_cluster *vc,
				    bool gone)
{
	const struct virtual_cluster_api_path *left = vc->status.api_server;
	struct api_path_entry *en;

	if (!gone)
		return api_path_balancer(vc) != NULL || (left && left->provider);
	if (!left || !left->provider)
		return false;
	kick(w, vc->meta.name);
	en = (struct api_path_entry *)leftovers_of(w->entries, vc);
	/* wait: on_timer() calls changed() when the call of the earlier VirtualCluster has ended */
	if (!en)
		return true;
	if (give_up(en, vc))
		return false;
	if (!en->asked && !writer_busy(&en->write))
		remove_lb(en, vc);
	return true;
}

struct api_path_checks *api_path_checks_new(struct context *c, const struct drivers *ds,
					    void (*changed)(const char *tenant, void *arg),
					    void *arg)
{
	struct api_path_checks *w = mem_new(struct api_path_checks);

	*w = (struct api_path_checks){.c = c, .drivers = ds, .changed = changed, .arg = arg};
	w->entries = leftovers_new(&(struct leftovers_spec){.c = c,
							    .make = make_entry,
							    .in_progress = in_progress,
							    .free = entry_free,
							    .arg = w});
	return w;
}

void api_path_checks_free(struct api_path_checks *w)
{
	if (!w)
		return;
	leftovers_free(w->entries);
	free(w);
}
