/*
 * pending_cleanup: one entry (struct debtor) for each tenant with claims or pending cleanups, with
 * at most one call in flight.
 *
 * One reconciliation (look()) tries the following in this order, and ends with the first that
 * starts a call:
 *
 *   1. save the bill of a deleted tenant (rules/kept_bills.h)
 *   2. set or remove the finalizer
 *   3. abandon a cleanup that is too old
 *   4. continue the current cleanup: delete the Node, delete the token, remove it from the list
 */
#include <stdlib.h>
#include <string.h>

#include "controller/tenant/pending_cleanup.h"
#include "api/annotations.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/retry.h"
#include "base/str.h"
#include "controller/core/claim_index.h"
#include "controller/core/clock_jumps.h"
#include "controller/core/status_writer.h"
#include "controller/rules/kept_bills.h"
#include "controller/rules/sleep.h"
#include "controller/tenant/tenant.h"
#include "kube/call.h"

#define LOOK_MS 10000
#define SOON_MS 500
#define DEBT_LIMIT_MS (24 * 3600 * 1000)
/* age at which a cleanup is abandoned if the tenant is being deleted */
#define LAST_TRY_MS (10 * 60 * 1000)
#define PROVIDER_ID "drover://"

struct pending_cleanup {
	struct context *c;
	const struct tenants *tenants;
	/* name of a VirtualCluster -> struct debtor */
	struct map *debtors;
	bool (*held)(const struct virtual_cluster *vc, bool gone, void *arg);
	void *held_arg;
};

enum paying { PAY_NODE, PAY_TOKEN, PAY_STRIKE };

struct debtor {
	struct pending_cleanup *owner;
	char *tenant;
	struct loop_timer timer;
	/* writes the VirtualCluster; idle while `call` is set */
	struct status_writer write;
	/* call in flight; NULL: none */
	struct kube_call *call;
	/* True: `call` uses the tenant's client, and must be dropped before that client is freed */
	bool abroad;
	/* Node name of the current cleanup; "": none */
	char debt[254];
	/* Node name of the cleanup that failed last. The next attempt begins with the cleanup
	 * behind it in the list, so that one failing cleanup does not block the others. */
	char after[254];
	enum paying paying;
	struct backoff backoff;
	/* loop_now() before which no cleanup is tried */
	int64_t pay_after;
	/* resourceVersion of the VirtualCluster from which the bill was last saved; bill_kept is
	 * false until the bill is saved */
	char *kept;
	bool bill_kept;
};

json_t *pending_cleanup_without(const struct virtual_cluster *vc, const char *node)
{
	json_t *list = json_array(), *o;
	char when[STR_TIME_SIZE];

	for (size_t i = 0; i < vc->status.debts.n; i++) {
		const struct virtual_cluster_debt *d = &vc->status.debts.v[i];

		if (str_eq(d->node_name, node))
			continue;
		o = json_pack("{s:s, s:s*, s:s*, s:s}", "nodeName", str_or(d->node_name, ""),
			      "nodeUID", d->node_uid, "tokenID", d->token_id, "since",
			      str_time(when, d->since));
		json_array_append_new(list, o);
	}
	return list;
}

static const struct virtual_cluster *cluster_of(const struct debtor *d)
{
	return CTX_GET(d->owner->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster, d->tenant);
}

static bool busy(const struct debtor *d)
{
	return d->call || writer_busy(&d->write);
}

static void later(struct debtor *d, int64_t ms)
{
	loop_timer_start(&d->timer, ms);
}

/* --- the finalizer ---------------------------------------------------------------------------- */

static void on_cluster_written(json_t *o, const struct err *e, void *arg)
{
	struct debtor *d = arg;

	(void)o;
	later(d, e ? SOON_MS : 0);
}

/* --- the bill of a deleted tenant ------------------------------------------------------------- */

static bool has_bill(const struct virtual_cluster *vc)
{
	return vc->status.cost && vc->status.cost->charges.n;
}

/* True if the tenant has no bill, or its bill was saved from exactly this version of the object.
 * The finalizer is removed from the same version, so no charge can be lost in between. */
static bool is_bill_kept(const struct debtor *d, const struct virtual_cluster *vc)
{
	return !has_bill(vc) || (d->bill_kept && str_eq(d->kept, vc->meta.resource_version));
}

/* Shows on the VirtualCluster why it is not deleted. */
static void report_unsaved(struct debtor *d, const struct err *e)
{
	const struct virtual_cluster *vc = cluster_of(d);
	char note[512];

	log_warn("bill of a deleted tenant not saved", LOG_S("tenant", d->tenant), LOG_E(e));
	if (!vc)
		return;
	str_format(note, sizeof(note),
		   "the VirtualCluster is deleted once its bill is saved in a ConfigMap "
		   "drover-bills-* of namespace %.63s: %.300s",
		   d->owner->c->o.ns, e->text);
	ctx_event(d->owner->c, OBJECT_VIRTUAL_CLUSTER, &vc->meta, "Warning", "BillNotSaved", note);
}

static void on_bill_kept(json_t *o, const struct err *e, void *arg)
{
	struct debtor *d = arg;

	(void)o;
	d->call = NULL;
	d->bill_kept = !e;
	if (e && e->kind != ERR_CONFLICT)
		report_unsaved(d, e);
	later(d, e ? backoff_next(&d->backoff, loop_random(d->owner->c->loop)) : 0);
}

/* Adds the bill to the ConfigMap that was just read (creates the ConfigMap if there is none). The
 * write carries the resourceVersion that was read, so that it fails if another writer changed the
 * ConfigMap in between. */
static void on_bills(json_t *o, const struct err *e, void *arg)
{
	struct debtor *d = arg;
	struct context *c = d->owner->c;
	const struct virtual_cluster *vc = cluster_of(d);
	OWN(arena) a = arena_new();
	OWN_JSON write = NULL;
	char name[KEPT_BILLS_NAME];
	size_t dropped;
	json_t *data;

	d->call = NULL;
	if (e && e->kind != ERR_NOT_FOUND) {
		on_bill_kept(NULL, e, d);
		return;
	}
	if (!vc || !has_bill(vc) || !str_eq(vc->meta.resource_version, d->kept) || !c->leading) {
		later(d, 0);
		return;
	}
	kept_bills_name(kept_bills_of(vc->meta.uid), name);
	data = kept_bills_patch(json_at(o, "data"), vc, loop_wall(c->loop), a, &dropped);
	if (dropped)
		log_warn("old bills of deleted tenants dropped", LOG_S("configmap", name),
			 LOG_I("bills", (int64_t)dropped));
	if (e) {
		write = json_pack("{s:s, s:s, s:{s:s, s:s, s:{s:s}}, s:o}", "apiVersion", "v1",
				  "kind", "ConfigMap", "metadata", "name", name, "namespace",
				  c->o.ns, "labels", "app.kubernetes.io/managed-by", "drover",
				  "data", data);
		d->call = kube_create(c->host, &KUBE_CONFIGMAPS, c->o.ns, write, on_bill_kept, d);
		return;
	}
	write = json_pack("{s:{s:s*}, s:o}", "metadata", "resourceVersion",
			  json_str_at(o, "metadata", "resourceVersion"), "data", data);
	d->call = kube_patch(c->host, &KUBE_CONFIGMAPS, c->o.ns, name, NULL, KUBE_PATCH_MERGE,
			     write, on_bill_kept, d);
}

/* Starts to save the bill of a deleted tenant, unless it is saved. Returns true if a call was
 * started. Must precede the removal of the finalizer: afterwards the object, with the only other
 * copy of the bill, is gone. */
static bool keep_bill(struct debtor *d, const struct virtual_cluster *vc)
{
	char name[KEPT_BILLS_NAME];

	if (!vc->meta.deletion_timestamp || is_bill_kept(d, vc))
		return false;
	free(d->kept);
	d->kept = mem_strdup(str_or(vc->meta.resource_version, ""));
	d->bill_kept = false;
	kept_bills_name(kept_bills_of(vc->meta.uid), name);
	d->call =
		kube_get(d->owner->c->host, &KUBE_CONFIGMAPS, d->owner->c->o.ns, name, on_bills, d);
	return true;
}

/* --- the finalizer, on and off ---------------------------------------------------------------- */

/* Sets or removes the finalizer. Returns true if a write was started. */
static bool finalizer(struct debtor *d, const struct virtual_cluster *vc, bool needed)
{
	return !(needed && vc->meta.deletion_timestamp) &&
	       writer_finalizer(&d->write, OBJECT_VIRTUAL_CLUSTER, &vc->meta,
				FINALIZER_VIRTUAL_CLUSTER, needed, on_cluster_written);
}

/* --- cleanups --------------------------------------------------------------------------------- */

static void strike(struct debtor *d, const struct virtual_cluster *vc, const char *node,
		   kube_done *on_written)
{
	writer_status(&d->write, OBJECT_VIRTUAL_CLUSTER, &vc->meta,
		      json_pack("{s:o}", "debts", pending_cleanup_without(vc, node)), on_written);
}

/* Follows the event Owed about the same Node, so that the last event on the tenant is true. */
static void on_paid_off(json_t *o, const struct err *e, void *arg)
{
	struct debtor *d = arg;
	const struct virtual_cluster *vc = cluster_of(d);
	char note[512];

	if (!e && vc) {
		str_format(note, sizeof(note),
			   "Node %.253s and its bootstrap token no longer exist in the tenant's "
			   "cluster; %zu other Nodes are not deleted yet",
			   d->debt, json_array_size(json_at(o, "status", "debts")));
		ctx_event(d->owner->c, OBJECT_VIRTUAL_CLUSTER, &vc->meta, "Normal", "CleanupDone",
			  note);
	}
	on_cluster_written(o, e, d);
}

/* Abandons one cleanup that is older than DEBT_LIMIT_MS, or than LAST_TRY_MS while the
 * VirtualCluster is being deleted. Returns true if a write was started. */
static bool write_off(struct debtor *d, const struct virtual_cluster *vc)
{
	int64_t now = loop_wall(d->owner->c->loop), gone = vc->meta.deletion_timestamp;
	char note[512];

	for (size_t i = 0; i < vc->status.debts.n; i++) {
		const struct virtual_cluster_debt *b = &vc->status.debts.v[i];
		int64_t since = tenant_sleep_debt_since(vc, gone > b->since ? gone : b->since);

		if (since == INT64_MAX || now - clock_jumps_since(d->owner->c, since) - since <=
						  (gone ? LAST_TRY_MS : DEBT_LIMIT_MS))
			continue;
		str_format(note, sizeof(note),
			   "gave up deleting Node %.253s (UID %.64s) and bootstrap token %.16s: "
			   "delete them by hand",
			   str_or(b->node_name, ""), str_or(b->node_uid, "unknown"),
			   str_or(b->token_id, "none"));
		log_warn("gave up a cleanup in a tenant's cluster", LOG_S("tenant", d->tenant),
			 LOG_S("node", str_or(b->node_name, "")));
		ctx_event(d->owner->c, OBJECT_VIRTUAL_CLUSTER, &vc->meta, "Warning",
			  "DebtWrittenOff", note);
		strike(d, vc, str_or(b->node_name, ""), on_cluster_written);
		return true;
	}
	return false;
}

/* Returns the current cleanup. If there is none, makes the cleanup behind the last failed one
 * (`after`) in the list the current one. */
static const struct virtual_cluster_debt *choose(struct debtor *d, const struct virtual_cluster *vc)
{
	const struct virtual_cluster_debt *v = vc->status.debts.v;
	size_t n = vc->status.debts.n, from = 0;

	for (size_t i = 0; i < n; i++) {
		if (d->debt[0] && str_eq(v[i].node_name, d->debt))
			return &v[i];
		if (d->after[0] && str_eq(v[i].node_name, d->after))
			from = (i + 1) % n;
	}
	str_copy(d->debt, sizeof(d->debt), str_or(v[from].node_name, ""));
	d->paying = PAY_NODE;
	return &v[from];
}

static void on_paid(json_t *o, const struct err *e, void *arg)
{
	struct debtor *d = arg;
	struct err kept;
	int64_t delay;

	d->call = NULL;
	d->abroad = false;
	if (!e && d->paying == PAY_NODE && json_at(o, "metadata", "deletionTimestamp")) {
		err_note(&kept, ERR_CONFLICT, 0, "deleted, but finalizers keep the Node");
		e = &kept;
	}
	/* On success, or if the object does not exist, continue with the next part. Other errors
	 * are retried below. If the Node was replaced by one with a new UID (conflict), the cache
	 * shows the new Node by the time of the retry. */
	if (!e || e->kind == ERR_NOT_FOUND) {
		d->paying++;
		backoff_reset(&d->backoff);
		later(d, 0);
		return;
	}
	log_warn("cleanup in a tenant's cluster failed", LOG_S("tenant", d->tenant),
		 LOG_S("node", d->debt), LOG_E(e));
	str_copy(d->after, sizeof(d->after), d->debt);
	d->debt[0] = '\0';
	delay = backoff_next(&d->backoff, loop_random(d->owner->c->loop));
	d->pay_after = loop_now(d->owner->c->loop) + delay;
	later(d, delay);
}

/* Returns the UID of the Node to delete; NULL: there is no Node that drover may delete. A kubelet
 * whose Node was deleted registers a Node again, with a new UID. drover may delete the new Node too
 * if its providerID is drover's and no claim has its name. */
static const char *uid_owed(struct context *c, struct tenant *t,
			    const struct virtual_cluster_debt *b)
{
	const struct tenant_node *node = tenant_node_get(t, b->node_name);
	bool ours = node && str_starts(str_or(node->provider_id, ""), PROVIDER_ID) &&
		    !CTX_GET(c, OBJECT_NODE_CLAIM, node_claim, b->node_name);

	if (node && str_eq(node->uid, b->node_uid))
		return node->uid;
	if (node && !str_empty(node->uid))
		return ours ? node->uid : NULL;
	return str_empty(b->node_uid) ? NULL : b->node_uid;
}

/* Fails a queued call just before it is sent if drover may not act any more. Needed because the
 * client for the host cluster makes no such check itself. */
static int may_still(void *arg, struct err *e)
{
	return ctx_may_change(((struct debtor *)arg)->owner->c, e);
}

/* Starts the next part of a cleanup (Node, token, list). The caller has checked that drover may
 * delete objects now. */
static void pay(struct debtor *d, const struct virtual_cluster *vc, struct tenant *t)
{
	const struct virtual_cluster_debt *b = choose(d, vc);
	struct kube_delete_opts o = {.grace_s = -1};
	char name[64];

	if (d->paying == PAY_NODE) {
		o.uid = uid_owed(d->owner->c, t, b);
		if (o.uid) {
			d->abroad = true;
			d->call = kube_delete(tenant_nodes_client(t), &KUBE_NODES, NULL,
					      b->node_name, &o, on_paid, d);
			kube_call_check(d->call, may_still, d);
			return;
		}
		d->paying = PAY_TOKEN;
	}
	if (d->paying == PAY_TOKEN && !str_empty(b->token_id)) {
		str_format(name, sizeof(name), "bootstrap-token-%s", b->token_id);
		d->abroad = true;
		d->call = kube_delete(tenant_nodes_client(t), &KUBE_SECRETS, "kube-system", name,
				      &o, on_paid, d);
		kube_call_check(d->call, may_still, d);
		return;
	}
	log_info("cleanup in a tenant's cluster done", LOG_S("tenant", d->tenant),
		 LOG_S("node", d->debt));
	strike(d, vc, d->debt, on_paid_off);
}

/* --- reconciliation --------------------------------------------------------------------------- */

static void debtor_free(void *p)
{
	struct debtor *d = p;

	writer_stop(&d->write);
	kube_call_cancel(d->call);
	loop_timer_stop(&d->timer);
	free(d->tenant);
	free(d->kept);
	free(d);
}

static bool synced(const struct context *c)
{
	return kube_cache_synced(c->cache[OBJECT_NODE_CLAIM]) &&
	       kube_cache_synced(c->cache[OBJECT_VIRTUAL_CLUSTER]);
}

static bool is_kept(const struct debtor *d, const struct virtual_cluster *vc, size_t claims)
{
	const struct pending_cleanup *ds = d->owner;

	return claims || vc->status.debts.n ||
	       (ds->held && ds->held(vc, vc->meta.deletion_timestamp != 0, ds->held_arg));
}

static void look(void *arg)
{
	struct debtor *d = arg;
	struct context *c = d->owner->c;
	const struct virtual_cluster *vc = cluster_of(d);
	struct tenant *t = tenant_get(d->owner->tenants, d->tenant);
	bool kept;

	/* do nothing: pending_cleanup_kick() is called when this replica leads and is ready */
	if (busy(d) || !c->leading || !c->ready)
		return;
	later(d, LOOK_MS);
	if (!synced(c) || ctx_crds_terminating(c))
		return;
	if (!vc) {
		map_del(d->owner->debtors, d->tenant);
		return;
	}
	kept = is_kept(d, vc, claim_index_count(c, CLAIM_BY_TENANT, d->tenant));
	if (!kept && keep_bill(d, vc))
		return;
	if (finalizer(d, vc, kept || !is_bill_kept(d, vc)) || (ctx_may_act(c) && write_off(d, vc)))
		return;
	if (!vc->status.debts.n) {
		d->debt[0] = d->after[0] = '\0';
		loop_timer_stop(
			&d->timer); /* pending_cleanup_kick() is called when anything changes */
		return;
	}
	if (loop_now(c->loop) < d->pay_after)
		return;
	if (t && tenant_usable(t) && t->nodes && kube_cache_synced(t->nodes) && !vc->spec.paused &&
	    ctx_may_act(c))
		pay(d, vc, t);
}

static void kick(struct pending_cleanup *ds, const char *tenant)
{
	struct debtor *d = map_get(ds->debtors, tenant);

	if (!d) {
		d = mem_new(struct debtor);
		d->owner = ds;
		d->tenant = mem_strdup(tenant);
		d->backoff = (struct backoff){.base_ms = 2000, .cap_ms = 300000};
		writer_init(&d->write, ds->c, d);
		loop_timer_init(&d->timer, ds->c->group, look, d);
		map_put(ds->debtors, tenant, d);
	}
	if (!busy(d))
		later(d, 0);
}

static bool kick_cluster(const struct kube_entry *en, void *arg)
{
	kick(arg, en->name);
	return true;
}

struct pending_cleanup *pending_cleanup_new(struct context *c, const struct tenants *tenants,
					    bool (*held)(const struct virtual_cluster *vc,
							 bool gone, void *arg),
					    void *arg)
{
	struct pending_cleanup *d = mem_new(struct pending_cleanup);

	d->c = c;
	d->tenants = tenants;
	d->held = held;
	d->held_arg = arg;
	d->debtors = map_new(debtor_free);
	return d;
}

void pending_cleanup_free(struct pending_cleanup *d)
{
	if (!d)
		return;
	map_free(d->debtors);
	free(d);
}

void pending_cleanup_kick(struct pending_cleanup *d, const char *tenant)
{
	if (!d ||
	    /* pending_cleanup_kick() is called for all tenants once drover is ready */
	    !d->c->ready)
		return;
	if (tenant) {
		kick(d, tenant);
		return;
	}
	kube_cache_each(d->c->cache[OBJECT_VIRTUAL_CLUSTER], kick_cluster, d);
}

void pending_cleanup_hang_up(struct pending_cleanup *ds, const char *tenant)
{
	struct debtor *d = ds ? map_get(ds->debtors, tenant) : NULL;

	if (!d || !d->call || !d->abroad)
		return;
	kube_call_cancel(d->call);
	d->call = NULL;
	d->abroad = false;
	later(d, LOOK_MS);
}
