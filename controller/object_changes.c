/*
 * object_changes: handles a changed object of the host API: decodes and checks the object, and
 * passes it on to the parts that depend on it.
 *
 * Tests: tests/world/test_news.c, tests/world/test_rest.c, tests/world/test_reserved.c
 */
#include "controller/parts.h"

#include "base/log.h"
#include "base/str.h"
#include "controller/claims/claims.h"
#include "controller/claims/drift.h"
#include "controller/core/eta.h"
#include "controller/claims/owners.h"
#include "controller/claims/provisioner.h"
#include "controller/claims/supply_status.h"
#include "controller/billing/supply_tally.h"
#include "controller/claims/warm_pool.h"
#include "controller/claims/changes.h"
#include "controller/claims/world_sync.h"
#include "controller/core/approval.h"
#include "controller/core/claim_index.h"
#include "controller/core/counters.h"
#include "controller/burst/ledgers.h"
#include "controller/core/known_series.h"
#include "controller/core/machine_lists.h"
#include "controller/core/audit_trail.h"
#include "controller/core/record_export.h"
#include "controller/core/record_index.h"
#include "controller/core/reserved.h"
#include "controller/core/spans.h"
#include "controller/core/validation.h"
#include "controller/drain/drains.h"
#include "controller/hardware/driver.h"
#include "controller/hardware/fleet.h"
#include "controller/hardware/machine_index.h"
#include "controller/hardware/provisioned_machines.h"
#include "controller/hardware/provider_finalizer.h"
#include "controller/hardware/api_path_checks.h"
#include "controller/rules/machine.h"
#include "controller/steps/lives.h"
#include "controller/tenant/pending_cleanup.h"
#include "controller/view/view.h"
#include "kube/want.h"

/* Limits of the cache of AuditSegments, above those of the segments that drover writes. */
#define SEGMENTS_MAX (AUDIT_FILE_SEGMENTS + 128)
#define SEGMENT_BYTES (2u << 20)

/* Kinds that the controller watches. */
static const enum object_kind_id watched[] = {
	OBJECT_NODE_POOL,	OBJECT_NODE_CLAIM,    OBJECT_MACHINE,	  OBJECT_PROVIDER,
	OBJECT_VIRTUAL_CLUSTER, OBJECT_DRAIN,	      OBJECT_WIPE_RECORD, OBJECT_BURST_POLICY,
	OBJECT_BURST_LEDGER,	OBJECT_AUDIT_SEGMENT,
};
#define WATCHED (sizeof(watched) / sizeof(watched[0]))

void object_changes_kick_machine_of_claim(struct controller *c, const struct node_claim *n)
{
	if (n && n->spec.machine_ref)
		lives_kick(c->lives, n->spec.machine_ref->name);
	if (n && n->status.machine_ref)
		lives_kick(c->lives, n->status.machine_ref->name);
}

bool object_changes_kick_machine(const char *machine, void *arg)
{
	struct controller *c = arg;

	lives_kick(c->lives, machine);
	return true;
}

static void note_writer(struct object_meta *m, const json_t *o, struct arena *a)
{
	const char *writer;

	m->written = kube_last_writer(o, &writer);
	m->writer = writer ? arena_strdup(a, writer) : NULL;
}

static void *project(const json_t *o, struct arena *a, void *arg, struct err *e)
{
	struct kind_watch *w = arg;
	const struct kube_entry *old;
	void *out = NULL;

	if (object_decode(&object_kinds[w->kind], o, a, &out, e) == 0 &&
	    object_check(&object_kinds[w->kind], out, NULL, e) == 0) {
		note_writer(out, o, a);
		return out;
	}
	old = kube_cache_get(w->c->ctx.cache[w->kind], "",
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

	w->c->ctx.records_unread |= w->kind == OBJECT_WIPE_RECORD;
	if (w->kind == OBJECT_VIRTUAL_CLUSTER)
		tenants_bad(w->c->tenants, str_or(json_str_at(o, "metadata", "name"), ""));
	validation_bad(w->c->validation, w->kind, o, e);
}

/* Kicks a claim that names a changed Machine, if it has no machine yet: it may end if the Machine
 * cannot accept it any more. */
static bool kick_hoping(const struct node_claim *n, void *arg)
{
	struct controller *c = arg;

	if (!n->status.machine_ref)
		claims_kick(c->claims, n->meta.name);
	return true;
}

void object_changes_machine(struct controller *c, const char *name, const struct machine *m)
{
	lives_update(c->lives, name, m);
	changes_machine(c->changes, name, m);
	drains_machine(c->drains, name);
	if (m && m->status.claim_ref)
		claims_kick(c->claims, m->status.claim_ref->name);
	claim_index_each(&c->ctx, CLAIM_BY_MACHINE, name, kick_hoping, c);
}

static void kick_claim_of(struct controller *c, const struct kube_entry *en)
{
	const struct machine *m = en ? en->object : NULL;

	if (m && m->status.claim_ref)
		claims_kick(c->claims, m->status.claim_ref->name);
}

static bool kick_claim(const struct node_claim *n, void *arg)
{
	struct controller *c = arg;

	claims_kick(c->claims, n->meta.name);
	object_changes_kick_machine_of_claim(c, n);
	return true;
}

/* True if a decision was made on the claim itself, which is copied to the others of its gang. */
static bool decides(const struct node_claim *n)
{
	return n && (n->spec.approval ||
		     (n->status.approval && str_eq(n->status.approval->claim, n->meta.name)));
}

/* Handles a claim that may have been approved or denied, or is being deleted: the decision also
 * counts for the other claims of its gang, and the webhook may have to be asked for another one. */
static void claim_decided(struct controller *c, const struct kube_entry *old,
			  const struct node_claim *n)
{
	const struct node_claim *was = old ? old->object : NULL, *any = n ? n : was;
	const bool left =
		was && (!n || (n->meta.deletion_timestamp && !was->meta.deletion_timestamp));

	if (any->spec.gang && approval_asked(&c->ctx, any) &&
	    (left || decides(was) != decides(n) ||
	     (n && was && !was->status.approval && decides(n))))
		claim_index_each(&c->ctx, CLAIM_BY_GANG, any->spec.gang->uid, kick_claim, c);
}

/* Handles a changed VirtualCluster: its claims may need an approval now, or no longer. */
static void approvals_changed(struct controller *c, const struct kube_entry *old,
			      const struct virtual_cluster *vc)
{
	const struct virtual_cluster *was = old ? old->object : NULL;

	if (!vc || (was && was->spec.approval.claims == vc->spec.approval.claims))
		return;
	claim_index_each(&c->ctx, CLAIM_BY_TENANT, vc->meta.name, kick_claim, c);
	fleet_kick(c->fleet);
}

/* True if spec and deletion timestamp are unchanged, so that at most the status differs. Most
 * changes of a status are drover's own writes, on which nothing depends. */
static bool same_spec(const struct kube_entry *old, const struct kube_entry *new_)
{
	const struct object_meta *a = old ? object_meta_of(old->object) : NULL,
				 *b = new_ ? object_meta_of(new_->object) : NULL;

	return a && b && a->generation && a->generation == b->generation &&
	       a->deletion_timestamp == b->deletion_timestamp;
}

static bool count_claim_again(const struct node_claim *n, void *arg)
{
	supply_tally_claim(arg, n->meta.name);
	return true;
}

static void count_machines_of(struct supply_tally *t, const struct node_claim *n)
{
	if (n && n->spec.machine_ref)
		supply_tally_machine(t, str_or(n->spec.machine_ref->name, ""));
	if (n && n->status.machine_ref)
		supply_tally_machine(t, str_or(n->status.machine_ref->name, ""));
}

/* Marks what counts differently in a status after a change of one object (supply_tally.h). */
static void count_again(struct controller *c, enum object_kind_id kind, const char *name,
			const struct kube_entry *old, const struct kube_entry *new_)
{
	struct supply_tally *t = supply_status_tally(c->supply_status);

	if (kind == OBJECT_MACHINE) {
		supply_tally_machine(t, name);
		claim_index_each(&c->ctx, CLAIM_BY_MACHINE, name, count_claim_again, t);
	} else if (kind == OBJECT_NODE_CLAIM) {
		supply_tally_claim(t, name);
		count_machines_of(t, old ? old->object : NULL);
		count_machines_of(t, new_ ? new_->object : NULL);
	} else if (kind == OBJECT_PROVIDER
			   ? !same_spec(old, new_)
			   : kind == OBJECT_VIRTUAL_CLUSTER &&
				     !str_eq(old ? old->uid : NULL, new_ ? new_->uid : NULL)) {
		supply_tally_all(t);
	}
}

static void claim_changed(struct controller *c, const char *name, const struct node_claim *n)
{
	claims_kick(c->claims, name);
	pending_cleanup_kick(c->pending_cleanup, n ? n->spec.virtual_cluster_ref.name : NULL);
	owners_kick(c->owners, n ? n->spec.virtual_cluster_ref.name : NULL);
	changes_claim(c->changes, name, n);
	object_changes_kick_machine_of_claim(c, n);
}

/* Schedules ticks of all Machines that may be the server of the record: by name, system UUID and
 * serial number. The server's Machine may have a different name by now. */
static void kick_machine_of_record(struct controller *c, const struct wipe_record *r)
{
	lives_kick(c->lives, str_or(r->spec.evidence.machine.name, ""));
	machine_index_each(c->machine_index, MACHINE_BY_UUID, r->spec.evidence.machine.system_uuid,
			   object_changes_kick_machine, c);
	machine_index_each(c->machine_index, MACHINE_BY_SERIAL, r->spec.evidence.machine.serial,
			   object_changes_kick_machine, c);
}

/* True if the Secret versions of the last accepted and the last refused BMC login, which are in
 * status, are unchanged. */
static bool same_logins(const struct kube_entry *old, const struct kube_entry *new_)
{
	const struct machine *a = old ? old->object : NULL, *b = new_ ? new_->object : NULL;

	return a && b && str_eq(a->status.bmc.secret_version, b->status.bmc.secret_version) &&
	       str_eq(a->status.bmc.refused_secret_version, b->status.bmc.refused_secret_version);
}

/* Handles a changed spec of Machine `name`: attaches its BMC again if needed, and adds the address
 * of the BMC to the reserved addresses. No tenant endpoint may use a reserved address. old NULL:
 * the Machine is new. m NULL: the Machine was deleted. */
static void machine_spec_changed(struct controller *c, const char *name, const struct machine *old,
				 const struct machine *m)
{
	OWN(arena) a = arena_new();

	if (old && m && !machine_same_reach(old, m))
		lives_reattach(c->lives, name);

	reserved_put(c->ctx.reserved, arena_printf(a, "the BMC of machine %s", name),
		     m && m->spec.bmc ? m->spec.bmc->address : NULL, false);
	/* also remove the entry that life/bmc.c added for the address from which the BMC
	 * answered */
	if (!m)
		reserved_put(c->ctx.reserved, arena_printf(a, RESERVED_ANSWERED, name), NULL,
			     false);
}

/* Adds the addresses of Provider `name`, at which agents and BMCs reach drover, to the reserved
 * addresses. No tenant endpoint may use a reserved address. p NULL: the Provider was deleted, so
 * removes its addresses. */
static void reserve_endpoints(struct controller *c, const char *name,
			      const struct provider_object *p)
{
	const char *const places[][2] = {
		{"spec.agent.endpoint", p ? p->spec.agent.endpoint : NULL},
		{"spec.boot.mediaURL", p ? p->spec.boot.media_url : NULL},
		{"spec.boot.httpsMediaURL", p ? p->spec.boot.https_media_url : NULL}};
	OWN(arena) a = arena_new();

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		reserved_put(c->ctx.reserved,
			     arena_printf(a, "%s of provider %s", places[i][0], name), places[i][1],
			     true);
}

/* Adapts the rate limit of the host API server to the number of Machines (parts.h). */
static void pace_host(const struct context *c)
{
	const size_t qps = kube_cache_size(c->cache[OBJECT_MACHINE]) / CONTROLLER_MACHINES_EACH_QPS;

	kube_client_pace(c->host, qps < CONTROLLER_HOST_QPS	   ? CONTROLLER_HOST_QPS
				  : qps > CONTROLLER_HOST_QPS_MOST ? CONTROLLER_HOST_QPS_MOST
								   : (double)qps);
}

static void on_change(const struct kube_entry *old, const struct kube_entry *new_, void *arg)
{
	struct kind_watch *w = arg;
	struct controller *c = w->c;
	const char *name = new_ ? new_->name : old->name;
	void *o = new_ ? new_->object : NULL;
	struct eta_end end;

	if (w->kind == OBJECT_AUDIT_SEGMENT) { /* Nothing else depends on the audit log. */
		audit_trail_segment(c->audit_trail, old ? old->object : NULL, o);
		audit_file_kick(c->audit_file);
		return;
	}
	if (o)
		validation_good(c->validation, w->kind, o);
	if (o && !old)
		known_series_object(&c->ctx, w->kind, name);
	audit_trail_change(c->audit_trail, w->kind, old ? old->object : NULL, o);
	if (!o)
		known_series_gone(&c->ctx, w->kind, name);
	count_again(c, w->kind, name, old, new_);
	supply_status_kick(c->supply_status);
	warm_pool_kick(c->warm_pool);
	view_changed(c->view, w->kind, name);
	switch (w->kind) {
	case OBJECT_NODE_POOL:
		if (!same_spec(old, new_)) {
			changes_pool(c->changes, name, o);
			drift_pool(c->drift, name);
		}
		provisioner_kick(
			/* plan again: the pool's circuit breaker may have been reset
			 * (claims/breaker.h) */
			c->provisioner);
		if (!same_spec(old, new_))
			owners_kick(c->owners, NULL);
		break;
	case OBJECT_NODE_CLAIM:
		(void)claim_index_put(c->ctx.claim_index, name, o);
		object_changes_kick_machine_of_claim(c, old ? old->object : NULL);
		claim_changed(c, name, o);
		claim_decided(c, old, o);
		if (!o)
			drift_claim_gone(c->drift, name);
		fleet_kick(c->fleet);
		break;
	case OBJECT_MACHINE:
		(void)machine_lists_put(c->ctx.machine_lists, name, o);
		if (!old || !o)
			pace_host(&c->ctx);
		if (!same_spec(old, new_) || !same_logins(old, new_))
			(void)machine_index_put(c->machine_index, name, o);
		if (!same_spec(old, new_))
			machine_spec_changed(c, name, old ? old->object : NULL, o);
		/* also kick the claim to which the Machine was bound before: if the Machine has
		 * just released that claim, the claim can end now */
		kick_claim_of(c, old);
		view_machine(c->view, old ? old->object : NULL, o);
		counters_machine(c->ctx.counters, old ? old->object : NULL, o);
		spans_machine(c->ctx.spans, old ? old->object : NULL, o);
		end = eta_saw(c->eta, old ? old->object : NULL, o);
		if (end.by != ETA_BY_NONE)
			counters_transition(c->ctx.counters, eta_transition_names[end.transition],
					    eta_by_names[end.by]);
		object_changes_machine(c, name, o);
		provisioned_machines_kick(c->provisioned_machines);
		if (!same_spec(old, new_))
			provider_finalizer_kick(c->provider_finalizer);
		break;
	case OBJECT_PROVIDER:
		provisioner_kick(c->provisioner);
		provider_finalizer_kick(c->provider_finalizer);
		if (o)
			eta_provider(c->eta, o);
		if (same_spec(old, new_))
			break;
		reserve_endpoints(c, name, o);
		drivers_update(c->drivers, name);
		provisioned_machines_kick(c->provisioned_machines);
		fleet_kick(c->fleet);
		/* check the pending cleanups of all tenants again: the network of this
		 * Provider may contain segments that are still to be deleted */
		pending_cleanup_kick(c->pending_cleanup, NULL);
		world_sync_provider(c->sync, name, o);
		break;
	case OBJECT_VIRTUAL_CLUSTER:
		tenants_update(c->tenants, name);
		api_path_checks_kick(c->api_path_checks, name);
		pending_cleanup_kick(c->pending_cleanup, name);
		owners_kick(c->owners, name);
		world_sync_segment(c->sync, name);
		approvals_changed(c, old, o);
		break;
	case OBJECT_WIPE_RECORD:
		(void)record_index_put(c->ctx.record_index, name, o);
		record_export_kick(c->record_export, name);
		kick_machine_of_record(c, o ? o : old->object);
		break;
	case OBJECT_DRAIN:
		spans_drain(c->ctx.spans, old ? old->object : NULL, o);
		drains_kick(c->drains, name);
		break;
	case OBJECT_BURST_POLICY:
		if (!same_spec(old, new_)) {
			world_sync_waiting(c->sync);
			provisioner_kick(c->provisioner);
		}
		break;
	case OBJECT_BURST_LEDGER:
		ledgers_kick(c->ledgers, name);
		if (!same_spec(old, new_))
			provisioner_kick(c->provisioner); /* work may have been approved */
		break;
	case OBJECT_AUDIT_SEGMENT:
	case OBJECT_KINDS:
		break;
	}
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
		log_warn("a watch of the host API "
			 "has failed",
			 LOG_S("kind", object_kinds[w->kind].kind), LOG_E(e));
}

static void on_over(const json_t *object, void *arg)
{
	(void)arg;
	if (object)
		log_error("a segment of the audit log is too large, or there are too many; it is "
			  "ignored",
			  LOG_S("segment", json_str_at(object, "metadata", "name")));
}

void object_changes_watch(struct controller *c)
{
	ctx_watch_crds(&c->ctx);
	for (size_t i = 0; i < WATCHED; i++) {
		struct kind_watch *w = &c->watches[watched[i]];
		struct kube_cache_spec s = {
			.client = c->ctx.host,
			.resource = &object_resources[watched[i]],
			.want = kube_want_with_writers,
			.project = project,
			.on_change = on_change,
			.on_sync = on_sync,
			.on_bad = on_bad,
			.on_health = on_health,
			.arg = w,
		};

		if (watched[i] == OBJECT_AUDIT_SEGMENT) {
			s.max_each = SEGMENT_BYTES;
			s.max_objects = SEGMENTS_MAX;
			s.on_over = on_over;
		}
		*w = (struct kind_watch){c, watched[i]};
		c->ctx.cache[watched[i]] = kube_cache_new(c->ctx.group, &s);
	}
}

/* --- checks of the indexes -------------------------------------------------------------------- */

static bool claim_is_news(const struct kube_entry *en, void *arg)
{
	const struct controller *c = arg;

	return claim_index_put(c->ctx.claim_index, en->name, en->object);
}

static bool machine_is_news(const struct kube_entry *en, void *arg)
{
	const struct controller *c = arg;
	const bool listed = machine_lists_put(c->ctx.machine_lists, en->name, en->object);

	return machine_index_put(c->machine_index, en->name, en->object) || listed;
}

static bool record_is_news(const struct kube_entry *en, void *arg)
{
	const struct controller *c = arg;

	return record_index_put(c->ctx.record_index, en->name, en->object);
}

void object_changes_check(struct controller *c)
{
	static const struct {
		enum object_kind_id kind;
		bool (*again)(const struct kube_entry *en, void *arg);
	} checked[OBJECT_CHANGES_CHECKED] = {{OBJECT_NODE_CLAIM, claim_is_news},
					     {OBJECT_MACHINE, machine_is_news},
					     {OBJECT_WIPE_RECORD, record_is_news}};

	for (size_t i = 0; i < OBJECT_CHANGES_CHECKED; i++)
		recheck_init(&c->rechecks[i], &c->ctx, checked[i].kind, checked[i].again, c);
}

bool object_changes_synced(const struct controller *c)
{
	/* The controller does not wait for the audit log: audit_trail.c does. */
	for (size_t i = 0; i < WATCHED; i++)
		if (watched[i] != OBJECT_AUDIT_SEGMENT &&
		    !kube_cache_synced(c->ctx.cache[watched[i]]))
			return false;
	return true;
}
