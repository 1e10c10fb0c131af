#include <stdlib.h>
#include <string.h>

#include "api/resources.h"
#include "base/http/http_impl.h"
#include "base/log.h"
#include "base/loop/loop.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/agent/endpoint.h"
#include "controller/claims/claims.h"
#include "controller/claims/eta.h"
#include "controller/claims/provisioner.h"
#include "controller/claims/supply_status.h"
#include "controller/claims/warm_pool.h"
#include "controller/core/clock_jumps.h"
#include "controller/core/counters.h"
#include "controller/core/keys.h"
#include "controller/core/record_export.h"
#include "controller/core/secrets.h"
#include "controller/core/validation.h"
#include "controller/drain/drains.h"
#include "controller/hardware/driver.h"
#include "controller/hardware/login_guard.h"
#include "controller/hardware/power_pacing.h"
#include "controller/life/life.h"
#include "controller/tenant/debts.h"
#include "controller/tenant/tenant.h"

#define IMAGE_AGAIN_MS 10000
#define LEASE "drover-controller"
#define DESTROY_LEASE_AGE_MS 5000

/* Kinds that this controller acts on. */
static const enum object_kind_id watched[] = {
	OBJECT_NODE_POOL,	OBJECT_NODE_CLAIM, OBJECT_MACHINE,     OBJECT_PROVIDER,
	OBJECT_VIRTUAL_CLUSTER, OBJECT_DRAIN,	   OBJECT_WIPE_RECORD,
};
#define WATCHED (sizeof(watched) / sizeof(watched[0]))

/* What one cache's callbacks know. */
struct kind_watch {
	struct controller *c;
	enum object_kind_id kind;
};

/* --- telling one another -------------------------------------------------------------------------- */

void controller_kick_machine(struct controller *c, const char *machine)
{
	struct life *l = map_get(c->lives, machine);

	if (l)
		life_kick(l);
}

void controller_kick_all(struct controller *c)
{
	struct map_iter it;

	map_for_each (it, c->lives)
		life_kick(it.value);
}

bool controller_may_destroy(const struct controller *c)
{
	return c->leading && kube_lease_renewed_age(c->lease) < DESTROY_LEASE_AGE_MS;
}

void controller_event(struct controller *c, enum object_kind_id kind,
		      const struct object_meta *about, const char *type, const char *reason,
		      const char *note)
{
	struct kube_ref ref = {
		.api_version = OBJECT_API_VERSION,
		.kind = object_kinds[kind].kind,
		.name = about->name,
		.uid = about->uid,
	};

	kube_event(c->events, &ref, type, reason, "Reconcile", note);
}

/* --- host caches ---------------------------------------------------------------------------------- */

static void *project(const json_t *o, struct arena *a, void *arg, struct err *e)
{
	struct kind_watch *w = arg;
	const struct kube_entry *old;
	void *out = NULL;

	if (object_decode(&object_kinds[w->kind], o, a, &out, e) == 0 &&
	    object_check(&object_kinds[w->kind], out, NULL, e) == 0)
		return out;
	old = kube_cache_get(w->c->cache[w->kind], "",
			     str_or(json_str_at(o, "metadata", "name"), ""));
	out = old ? validation_keep(w->kind, old->object, o, a) : NULL;
	if (out) {
		validation_bad(w->c->validation, w->kind, o, e);
		err_clear(e);
	}
	return out;
}

static void on_bad(const json_t *o, const struct err *e, void *arg)
{
	struct kind_watch *w = arg;

	w->c->records_unread |= w->kind == OBJECT_WIPE_RECORD;
	validation_bad(w->c->validation, w->kind, o, e);
}

static void machine_changed(struct controller *c, const char *name, const struct machine *m)
{
	life_update(c, name, m);
	provisioner_machine(c->provisioner, name, m);
	drains_machine(c->drains, name);
	if (m && m->status.claim_ref)
		claims_kick(c->claims, m->status.claim_ref->name);
}

static void kick_claim_of(struct controller *c, const struct kube_entry *en)
{
	const struct machine *m = en ? en->object : NULL;

	if (m && m->status.claim_ref)
		claims_kick(c->claims, m->status.claim_ref->name);
}

static void claim_changed(struct controller *c, const char *name, const struct node_claim *n)
{
	const struct object_ref *r = n ? n->spec.machine_ref : NULL;

	claims_kick(c->claims, name);
	debts_kick(c->debts, n ? n->spec.virtual_cluster_ref.name : NULL);
	provisioner_claim(c->provisioner, name, n);
	if (r)
		controller_kick_machine(c, r->name);
	else if (!n)
		controller_kick_all(c);
}

/* Status alone: ours, as a rule, and nothing hangs on it. */
static bool same_spec(const struct kube_entry *old, const struct kube_entry *new_)
{
	const struct object_meta *a = old ? object_meta_of(old->object) : NULL,
				 *b = new_ ? object_meta_of(new_->object) : NULL;

	return a && b && a->generation && a->generation == b->generation &&
	       a->deletion_timestamp == b->deletion_timestamp;
}

static void on_change(const struct kube_entry *old, const struct kube_entry *new_, void *arg)
{
	struct kind_watch *w = arg;
	struct controller *c = w->c;
	const char *name = new_ ? new_->name : old->name;
	void *o = new_ ? new_->object : NULL;

	if (o)
		validation_good(c->validation, w->kind, o);
	supply_status_kick(c->supply_status);
	warm_pool_kick(c->warm_pool);
	switch (w->kind) {
	case OBJECT_NODE_POOL:
		if (!same_spec(old, new_))
			provisioner_pool(c->provisioner, name, o);
		provisioner_kick(
			c->provisioner); /* its line may have been opened (claims/stop_line.h) */
		debts_kick(c->debts, NULL);
		break;
	case OBJECT_NODE_CLAIM:
		claim_changed(c, name, o);
		break;
	case OBJECT_MACHINE:
		kick_claim_of(c, old); /* one that it has just let go of ends now */
		counters_machine(c->counters, old ? old->object : NULL, o);
		eta_saw(c->eta, old ? old->object : NULL, o);
		machine_changed(c, name, o);
		break;
	case OBJECT_PROVIDER:
		provisioner_kick(c->provisioner);
		if (same_spec(old, new_))
			break;
		driver_update(c, name);
		provisioner_provider(c->provisioner, name, o);
		break;
	case OBJECT_VIRTUAL_CLUSTER:
		tenant_update(c, name);
		debts_kick(c->debts, name);
		break;
	case OBJECT_WIPE_RECORD:
		record_export_kick(c->record_export, name);
		controller_kick_all(c);
		break;
	case OBJECT_DRAIN:
		drains_kick(c->drains, name);
		break;
	case OBJECT_BURST_POLICY:
	case OBJECT_KINDS:
		break;
	}
}

static bool claim_again(const struct kube_entry *en, void *arg)
{
	claim_changed(arg, en->name, en->object);
	return true;
}

/* What was derived from other kinds while they were still coming in is derived again, once. */
static void rederive(void *arg)
{
	struct controller *c = arg;
	struct map_iter it;
	struct err e;

	for (size_t i = 0; i < WATCHED; i++)
		if (!kube_cache_synced(c->cache[watched[i]]))
			return;
	if (!agent_endpoint_ready(c->agent_endpoint) && keys_ready(c->keys, NULL)) {
		struct agent_endpoint_spec s = {.image = c->o.agent_image,
						.ca_pem = keys_ca_pem(c->keys),
						.boot_key = keys_boot(c->keys)};

		if (agent_endpoint_configure(c->agent_endpoint, &s, &e) < 0) {
			log_error("the agent's image cannot be used", LOG_E(&e));
			loop_timer_start(&c->settle, IMAGE_AGAIN_MS);
			return;
		}
	}
	if (!agent_endpoint_ready(c->agent_endpoint)) {
		loop_timer_start(&c->settle, 500);
		return;
	}
	keys_publish(c->keys);
	map_for_each (it, c->lives) {
		const struct machine *m = CONTROLLER_GET(c, OBJECT_MACHINE, machine, it.key);

		if (m)
			machine_changed(c, it.key, m);
	}
	if (!c->ready && c->o.on_ready)
		c->o.on_ready(c->o.on_ready_arg);
	c->ready = true;
	kube_cache_each(c->cache[OBJECT_NODE_CLAIM], claim_again, c);
	map_for_each (it, c->tenants)
		tenant_update(c, it.key);
	controller_kick_all(c);
	drains_kick(c->drains, NULL);
	debts_kick(c->debts, NULL);
	provisioner_kick(c->provisioner);
	supply_status_kick(c->supply_status);
	warm_pool_kick(c->warm_pool);
}

static void on_sync(void *arg)
{
	struct kind_watch *w = arg;

	loop_timer_start(&w->c->settle, 0);
}

static void on_health(const struct err *e, void *arg)
{
	struct kind_watch *w = arg;

	if (e)
		log_warn("host API watch", LOG_S("kind", object_kinds[w->kind].kind), LOG_E(e));
}

bool controller_ready(const struct controller *c)
{
	return c->ready;
}

/* --- leading -------------------------------------------------------------------------------------- */

static void on_leading(int64_t transitions, void *arg)
{
	struct controller *c = arg;

	c->leading = true;
	log_info("leading", LOG_S("identity", c->o.identity), LOG_I("transitions", transitions));
	validation_lead(c->validation);
	loop_timer_start(&c->settle, 0);
}

static void on_following(void *arg)
{
	struct controller *c = arg;

	c->leading = false;
	warm_pool_kick(c->warm_pool);
	log_warn("not leading any more: nothing is written", LOG_S("identity", c->o.identity));
	controller_kick_all(c);
}

/* Does the BMC of this machine hang on that Secret of ours? */
static bool hangs_on(const struct controller *c, const char *machine, const char *name)
{
	const struct machine *m = CONTROLLER_GET(c, OBJECT_MACHINE, machine, machine);
	const struct machine_bmc *b = m ? m->spec.bmc : NULL;
	const struct provider_object *p =
		m && m->spec.provider_ref.name ? CONTROLLER_GET(c, OBJECT_PROVIDER, provider_object,
								m->spec.provider_ref.name)
					       : NULL;

	return b && ((b->credentials_secret_ref && str_eq(b->credentials_secret_ref->name, name)) ||
		     (b->tls.ca_secret_ref && str_eq(b->tls.ca_secret_ref->name, name)) ||
		     (!b->credentials_secret_ref && p && p->spec.credentials_secret_ref &&
		      str_eq(p->spec.credentials_secret_ref->name, name)));
}

static void on_secret(const char *ns, const char *name, void *arg)
{
	struct controller *c = arg;
	struct map_iter it;

	if (str_eq(ns, c->o.ns))
		map_for_each (it, c->lives)
			if (hangs_on(c, it.key, name)) {
				((struct life *)it.value)->reattach = true;
				life_kick(it.value);
			}
	map_for_each (it, c->tenants)
		tenant_update(c, it.key);
	loop_timer_start(&c->settle, 0);
}

/* --- our definitions ------------------------------------------------------------------------------ */

static void *project_crd(const json_t *o, struct arena *a, void *arg, struct err *e)
{
	bool *terminating;

	(void)arg;
	(void)e;
	if (!str_eq(json_str_at(o, "spec", "group"), OBJECT_GROUP))
		return NULL;
	terminating = arena_alloc(a, sizeof(*terminating));
	*terminating = json_at(o, "metadata", "deletionTimestamp") != NULL;
	return terminating;
}

static bool is_terminating(const struct kube_entry *en, void *arg)
{
	bool *any = arg;

	*any |= *(const bool *)en->object;
	return !*any;
}

bool controller_crds_terminating(const struct controller *c)
{
	bool any;

	if (!c->crds) /* a part run alone, as tests do */
		return false;
	any = !kube_cache_synced(c->crds);
	kube_cache_each(c->crds, is_terminating, &any);
	return any;
}

/* --- start and stop ------------------------------------------------------------------------------- */

static void start_caches(struct controller *c)
{
	struct kube_cache_spec crds = {
		.client = c->host, .resource = &KUBE_CRDS, .project = project_crd, .arg = c};

	c->crds = kube_cache_new(c->group, &crds);
	for (size_t i = 0; i < WATCHED; i++) {
		struct kind_watch *w = &c->watches[watched[i]];
		struct kube_cache_spec s = {
			.client = c->host,
			.resource = &object_resources[watched[i]],
			.project = project,
			.on_change = on_change,
			.on_sync = on_sync,
			.on_bad = on_bad,
			.on_health = on_health,
			.arg = w,
		};

		*w = (struct kind_watch){c, watched[i]};
		c->cache[watched[i]] = kube_cache_new(c->group, &s);
	}
}

struct controller *controller_new(struct loop_group *g, struct http *h,
				  const struct kube_config *host,
				  const struct controller_options *o, struct err *e)
{
	struct controller *c = mem_new(struct controller);
	struct kube_client_spec cs = {.config = host,
				      .name = "host",
				      .qps = 100,
				      .burst = 200,
				      .max_in_flight = 64,
				      .plain_ok = o->plain_ok};
	struct kube_lease_spec ls = {
		.ns = o->ns,
		.name = LEASE,
		.identity = o->identity,
		.on_started = on_leading,
		.on_stopped = on_following,
		.arg = c,
	};

	c->loop = loop_of(g);
	c->group = g;
	c->http = h;
	c->o = *o;
	c->o.ns = mem_strdup(o->ns);
	c->o.identity = mem_strdup(o->identity);
	c->o.agent_image = mem_strdup(o->agent_image);
	c->o.image_ca_pem = mem_strdup(o->image_ca_pem);
	c->o.evidence_dir = mem_strdup(o->evidence_dir);
	c->o.poll_ms = o->poll_ms ? o->poll_ms : 1000;
	c->o.idle_poll_ms = o->idle_poll_ms ? o->idle_poll_ms : 120000;
	c->o.settle_ms = o->settle_ms ? o->settle_ms : 5000;
	loop_timer_init(&c->settle, g, rederive, c);
	c->watches = mem_calloc(OBJECT_KINDS, sizeof(*c->watches));
	c->metrics = metrics_new();
	c->counters = counters_new(c);
	c->eta = eta_new();
	c->clock_jumps = clock_jumps_new(c);
	c->lives = map_new(NULL);
	c->tenants = map_new(NULL);
	c->drivers = map_new(NULL);
	c->agent_endpoint = agent_endpoint_new(g);
	c->keys = keys_new(c);
	c->record_export = record_export_new(c);
	c->claims = claims_new(c);
	c->drains = drains_new(c);
	c->debts = debts_new(c);
	c->provisioner = provisioner_new(c);
	c->power_pacing = power_pacing_new(c);
	c->login_guard = login_guard_new(c);
	c->validation = validation_new(c);
	c->supply_status = supply_status_new(c);
	c->warm_pool = warm_pool_new(c);
	c->host = kube_client_new(g, h, &cs, e);
	if (!c->host) {
		controller_free(c);
		return NULL;
	}
	c->events = kube_events_new(g, c->host, "drover.dev/controller", c->o.identity);
	c->secrets = secrets_new(g, c->host, c->o.ns, on_secret, c);
	start_caches(c);
	ls.client = c->host;
	c->lease = kube_lease_new(g, &ls);
	return c;
}

void controller_stop(struct controller *c, void (*done)(void *arg), void *arg)
{
	kube_lease_release(c->lease, done, arg);
}

void controller_free(struct controller *c)
{
	struct map_iter it;

	if (!c)
		return;
	c->leading = false;
	kube_lease_free(c->lease);
	loop_timer_stop(&c->settle);
	map_for_each (it, c->lives)
		life_free(it.value);
	map_for_each (it, c->drivers)
		driver_free(it.value);
	map_for_each (it, c->tenants)
		tenant_free(it.value);
	record_export_free(c->record_export);
	debts_free(c->debts);
	drains_free(c->drains);
	claims_free(c->claims);
	validation_free(c->validation);
	supply_status_free(c->supply_status);
	warm_pool_free(c->warm_pool);
	kube_cache_free(c->crds);
	for (int i = 0; i < OBJECT_KINDS; i++)
		kube_cache_free(c->cache[i]);
	secrets_free(c->secrets);
	keys_free(c->keys);
	agent_endpoint_free(c->agent_endpoint);
	provisioner_free(c->provisioner);
	power_pacing_free(c->power_pacing);
	login_guard_free(c->login_guard);
	kube_events_free(c->events);
	kube_client_free(c->host);
	map_free(c->lives);
	map_free(c->tenants);
	map_free(c->drivers);
	counters_free(c->counters);
	eta_free(c->eta);
	clock_jumps_free(c->clock_jumps);
	metrics_free(c->metrics);
	free(c->watches);
	free((char *)c->o.ns);
	free((char *)c->o.identity);
	free((char *)c->o.agent_image);
	free((char *)c->o.image_ca_pem);
	free((char *)c->o.evidence_dir);
	free(c);
}
