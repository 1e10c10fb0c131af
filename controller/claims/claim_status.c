/*
 * The status of a claim, derived from the machine that holds it.
 * Tests: tests/unit/controller/claims/test_claims.c
 */
#include <stdlib.h>
#include <string.h>

#include "api/annotations.h"
#include "api/resources.h"
#include "base/arena.h"
#include "base/list.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/claims/claims.h"
#include "controller/claims/eta.h"
#include "controller/claims/provisioner.h"
#include "controller/core/counters.h"
#include "controller/life/life.h"
#include "controller/rules/claim.h"
#include "controller/rules/identity.h"
#include "controller/tenant/debts.h"
#include "controller/tenant/tenant.h"
#include "kube/call.h"

/* A claim that no machine took in this time was planned on a view that has passed. */
#define UNTAKEN_MS 30000

#define CONDITIONS 9 /* that are derived here */

struct claims {
	struct controller *c;
	struct map *entries; /* claim -> struct entry */
};

struct entry {
	struct claims *owner;
	char *name;
	struct loop_timer timer;
	struct kube_call *write;
	int64_t first_seen; /* loop_now(), of the claim with this UID */
	char uid[64];
	char failing[64]; /* the write says for the first time that it failed, and why */
};

/* --- building ------------------------------------------------------------------------------------ */

static struct object_requirements with_type(const struct node_pool *pool, const char *type,
					    struct arena *a)
{
	const struct object_requirements *r = &pool->spec.template_.spec.requirements;
	struct object_requirements out = {.v = arena_calloc(a, r->n + 1, sizeof(*out.v))};
	const char **value = arena_calloc(a, 1, sizeof(*value));

	for (size_t i = 0; i < r->n; i++)
		if (!str_eq(r->v[i].key, "node.kubernetes.io/instance-type"))
			out.v[out.n++] = r->v[i];
	*value = type;
	out.v[out.n++] = (struct object_requirement){.key = "node.kubernetes.io/instance-type",
						     .operator= OPERATOR_IN,
						     .values = {value, 1}};
	return out;
}

json_t *claims_build(struct controller *c, const struct plan_claim *p, struct err *e)
{
	const struct node_pool *pool = CONTROLLER_GET(c, OBJECT_NODE_POOL, node_pool, p->pool);
	const struct virtual_cluster *vc =
		CONTROLLER_GET(c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster, p->tenant);
	const struct machine *m = CONTROLLER_GET(c, OBJECT_MACHINE, machine, p->machine);
	const struct object_image *image = pool ? claim_image(pool, p->version) : NULL;
	const struct node_pool_template_spec *t = pool ? &pool->spec.template_.spec : NULL;
	OWN(arena) a = arena_new();
	struct node_claim n = {0};
	struct object_ref machine;
	json_t *o, *spec;
	char tail[9];
	uint8_t raw[4];

	if (!pool || !vc || !m || !image) {
		(void)!err_set(e, ERR_CONFLICT, 0,
			       "pool %s, tenant %s or machine %s changed under the plan", p->pool,
			       p->tenant, p->machine);
		return NULL;
	}
	loop_random_bytes(c->loop, raw, sizeof(raw));
	str_hex(tail, raw, sizeof(raw));
	machine = (struct object_ref){m->meta.name, m->meta.uid};
	n.spec = (struct node_claim_spec){
		.virtual_cluster_ref = {vc->meta.name, vc->meta.uid},
		.node_pool_ref = {pool->meta.name, pool->meta.uid},
		.machine_ref = &machine,
		.requirements = with_type(pool, p->instance_type, a),
		.image = *image,
		.labels = pool->spec.template_.metadata.labels,
		.annotations = pool->spec.template_.metadata.annotations,
		.taints = t->taints,
		.startup_taints = t->startup_taints,
		.user_data_secret_ref = t->user_data_secret_ref,
		.kubelet = t->kubelet,
		.network = t->network,
		.checkpoint = t->checkpoint,
		.gate = t->gate,
		.deadlines = pool->spec.deadlines,
		.wipe = pool->spec.wipe,
		.expire_after = t->expire_after,
		.termination_grace_period = t->termination_grace_period,
	};
	n.spec.resources.requests = p->requests;
	o = fields_encode(object_kinds[OBJECT_NODE_CLAIM].fields, &n);
	spec = json_incref(json_object_get(o, "spec"));
	json_decref(o);
	return json_pack("{s:s, s:s, s:{s:s, s:{s:s, s:s}, s:[s]}, s:o}", "apiVersion",
			 OBJECT_API_VERSION, "kind", "NodeClaim", "metadata", "name",
			 arena_printf(a, "%.50s-%s", pool->meta.name, tail), "labels",
			 "drover.dev/nodepool", pool->meta.name, "drover.dev/virtual-cluster",
			 vc->meta.name, "finalizers", FINALIZER_CLAIM, "spec", spec);
}

/* --- status -------------------------------------------------------------------------------------- */

const struct machine *claims_machine(const struct controller *c, const struct node_claim *n)
{
	const struct object_ref *r =
		n->spec.machine_ref ? n->spec.machine_ref : n->status.machine_ref;
	const struct machine *m = r ? CONTROLLER_GET(c, OBJECT_MACHINE, machine, r->name) : NULL;

	return m && m->status.claim_ref && str_eq(m->status.claim_ref->uid, n->meta.uid) ? m : NULL;
}

static void condition(struct conditions *cs, struct arena *a, const struct controller *c,
		      const struct node_claim *n, const char *type, int status, const char *reason,
		      const char *message, bool *changed)
{
	struct condition want = {
		.type = type,
		.status = status,
		.reason = reason,
		.message = message,
		.observed_generation = n->meta.generation,
	};

	*changed |= condition_set(cs, a, &want, loop_wall(c->loop));
}

/* How far along the states are for the conditions that follow one another. */
static bool past(enum machine_state s, enum machine_state what)
{
	return s >= what && s <= MACHINE_DRAINING;
}

/* How its machine leaves: there from draining on, and False again when it serves on. */
static void leaving(struct conditions *cs, struct arena *a, const struct controller *c,
		    const struct node_claim *n, const struct machine *m, enum machine_state s,
		    bool *changed)
{
	const struct provider_object *p = m ? CONTROLLER_GET(c, OBJECT_PROVIDER, provider_object,
							     str_or(m->spec.provider_ref.name, ""))
					    : NULL;
	const struct life *l = m ? map_get(c->lives, m->meta.name) : NULL;
	const char *id = m && m->status.operation ? m->status.operation->id : NULL;
	bool stopped = (s >= MACHINE_STOPPING && s <= MACHINE_LEAVING) || s == MACHINE_QUARANTINED;
	bool asked_off = stopped && s != MACHINE_STOPPING, confirmed, off, cut, drained;
	int volumes = s == MACHINE_LEAVING && l ? l->volumes : -1;

	if (!m || (!stopped && s != MACHINE_DRAINING && !condition_get(cs, "Drained")))
		return;
	drained = stopped && (!m->status.leave || !m->status.leave->pods_left);
	confirmed = id && str_eq(m->status.power.confirmed_by, id);
	off = asked_off && (confirmed || (str_eq(m->status.power.state, "Off") &&
					  !(id && str_eq(m->status.power.doubted, id))));
	cut = asked_off && s != MACHINE_ISOLATING && p &&
	      str_eq(m->status.network.segment,
		     str_or(p->spec.network.segments.quarantine, "quarantine"));
	condition(cs, a, c, n, "Drained", drained,
		  drained		  ? "Drained"
		  : stopped		  ? "PodsLeft"
		  : s == MACHINE_DRAINING ? "Draining"
					  : "NotLeaving",
		  "", changed);
	condition(cs, a, c, n, "VolumesDetached",
		  volumes < 0	? stopped ? CONDITION_UNKNOWN : CONDITION_FALSE
		  : volumes > 0 ? CONDITION_FALSE
				: CONDITION_TRUE,
		  volumes < 0	? stopped ? "NotLooked" : "NotLeaving"
		  : volumes > 0 ? "Attached"
				: "Detached",
		  "", changed);
	condition(cs, a, c, n, "PoweredOff", off,
		  off && confirmed ? "Confirmed"
		  : off		   ? "Observed"
		  : asked_off	   ? "PowerNotConfirmed"
		  : stopped	   ? "Stopping"
				   : "NotLeaving",
		  "", changed);
	condition(cs, a, c, n, "Isolated", cut,
		  cut && str_eq(m->status.network.proof, "None") ? "NotProved"
		  : cut						 ? "Proved"
		  : s == MACHINE_QUARANTINED			 ? "NetworkNotConfirmed"
		  : stopped					 ? "Waiting"
								 : "NotLeaving",
		  "", changed);
}

/* UID of the Node that was proved to be this machine; it never changes, whoever has the name later. */
static const char *node_uid(const struct controller *c, const struct node_claim *n,
			    enum machine_state s)
{
	struct tenant *t = past(s, MACHINE_GATING)
				   ? tenant_get((struct controller *)c,
						str_or(n->spec.virtual_cluster_ref.name, ""))
				   : NULL;
	const struct tenant_node *node = t ? tenant_node_get(t, n->meta.name) : NULL;

	return n->status.node_uid ? n->status.node_uid : node ? node->uid : NULL;
}

static bool replaced(const struct controller *c, enum object_kind_id kind,
		     const struct object_ref *ref)
{
	const struct kube_entry *en = kube_cache_get(c->cache[kind], "", str_or(ref->name, ""));
	const struct object_meta *m = en ? object_meta_of(en->object) : NULL;

	return m && ref->uid && !m->deletion_timestamp && !str_eq(m->uid, ref->uid);
}

const char *claims_owner_replaced(const struct controller *c, const struct node_claim *n)
{
	if (replaced(c, OBJECT_VIRTUAL_CLUSTER, &n->spec.virtual_cluster_ref))
		return object_kinds[OBJECT_VIRTUAL_CLUSTER].kind;
	if (replaced(c, OBJECT_NODE_POOL, &n->spec.node_pool_ref))
		return object_kinds[OBJECT_NODE_POOL].kind;
	return NULL;
}

/* There from the first time on that they do not fit. */
static void owners(struct conditions *cs, struct arena *a, struct controller *c,
		   const struct node_claim *n, bool *changed)
{
	const char *kind = claims_owner_replaced(c, n), *text = "";
	const struct condition *was = condition_get(cs, "OwnersMatch");

	if (!kind && !was)
		return;
	if (kind)
		text = arena_printf(
			a,
			"its %s has another UID than the claim says (a restored backup?): the claim stays until it is deleted",
			kind);
	if (kind && (!was || was->status != CONDITION_FALSE))
		controller_event(c, OBJECT_NODE_CLAIM, &n->meta, "Warning", "OwnerReplaced", text);
	condition(cs, a, c, n, "OwnersMatch", kind ? CONDITION_FALSE : CONDITION_TRUE,
		  kind ? "OwnerReplaced" : "OwnersMatch", text, changed);
}

static void on_written(json_t *o, const struct err *e, void *arg)
{
	struct entry *en = arg;

	en->write = NULL;
	if (!e && en->failing[0])
		counters_claim_failed(en->owner->c->counters,
				      json_str_at(o, "spec", "nodePoolRef", "name"), en->failing);
	en->failing[0] = '\0';
	if (!e && json_object_get(o, "spec"))
		kube_cache_learn(en->owner->c->cache[OBJECT_NODE_CLAIM], o);
	loop_timer_start(&en->timer, e && e->kind != ERR_NOT_FOUND ? 500 : 0);
}

/* Written with each new phase; where it is not known, or it serves or failed, there is none. */
static void expect(const struct controller *c, const struct machine *m, enum machine_state s,
		   struct node_claim_status *out)
{
	struct eta_span span;

	out->eta.p50 = out->eta.p90 = 0;
	if (!m || !eta_from(c->eta, m->spec.instance_type, s, &span))
		return;
	out->eta.p50 = m->status.state_since + span.p50;
	out->eta.p90 = m->status.state_since + span.p90;
}

static void derive(struct entry *en, const struct node_claim *n)
{
	struct controller *c = en->owner->c;
	OWN(arena) a = arena_new();
	const struct machine *m = claims_machine(c, n);
	struct node_claim out = {.status = n->status};
	struct conditions *cs = &out.status.conditions;
	struct object_ref ref;
	enum machine_state s =
		m ? machine_state_find(str_or(m->status.state, "")) : MACHINE_STATE_NONE;
	const char *reason, *message, *phase;
	bool failed, changed = false;
	json_t *whole, *patch;

	phase = claim_phase(n, m, &failed, &reason, &message);
	cs->v = arena_calloc(a, n->status.conditions.n + CONDITIONS, sizeof(*cs->v));
	cs->n = n->status.conditions.n;
	if (cs->n)
		memcpy(cs->v, n->status.conditions.v, cs->n * sizeof(*cs->v));
	out.status.phase = phase;
	expect(c, failed ? NULL : m, s, &out.status);
	if (m) {
		ref = (struct object_ref){m->meta.name, m->meta.uid};
		out.status.machine_ref = &ref;
		out.status.tenancy = m->status.tenancy;
		out.status.node_name = n->meta.name;
		out.status.node_uid = node_uid(c, n, s);
		out.status.provider_id = arena_printf(
			a, "drover://%s/%s", str_or(m->spec.provider_ref.name, ""), m->meta.name);
	}
	condition(cs, a, c, n, "Launched", past(s, MACHINE_BOOTING),
		  failed		     ? reason
		  : past(s, MACHINE_BOOTING) ? "Launched"
					     : "Waiting",
		  failed ? message : "", &changed);
	condition(cs, a, c, n, "Registered", past(s, MACHINE_GATING),
		  failed		    ? reason
		  : past(s, MACHINE_GATING) ? "Registered"
					    : "NodeNotFound",
		  failed ? message : "", &changed);
	condition(cs, a, c, n, "Initialized", past(s, MACHINE_SERVING),
		  failed		     ? reason
		  : past(s, MACHINE_SERVING) ? "Initialized"
					     : "NodeNotReady",
		  failed ? message : "", &changed);
	condition(cs, a, c, n, "Ready", s == MACHINE_SERVING,
		  failed		 ? reason
		  : s == MACHINE_SERVING ? "Ready"
					 : "NotReady",
		  failed ? message : "", &changed);
	leaving(cs, a, c, n, m, s, &changed);
	owners(cs, a, c, n, &changed);
	if (!changed && str_eq(n->status.phase, phase) &&
	    str_eq(n->status.node_uid, out.status.node_uid) && (!m || n->status.machine_ref) &&
	    n->status.tenancy == out.status.tenancy)
		return;
	whole = fields_encode(object_kinds[OBJECT_NODE_CLAIM].fields, &out);
	if (n->status.eta.p50 && !out.status.eta.p50)
		json_object_set_new(json_object_get(whole, "status"), "eta", json_null());
	patch = json_pack("{s:{s:s}, s:O}", "metadata", "resourceVersion", n->meta.resource_version,
			  "status", json_object_get(whole, "status"));
	json_decref(whole);
	if (failed && !str_eq(n->status.phase, "Failed")) {
		str_copy(en->failing, sizeof(en->failing), reason);
		controller_event(c, OBJECT_NODE_CLAIM, &n->meta, "Warning", reason, message);
	}
	en->write = kube_patch(c->host, &object_resources[OBJECT_NODE_CLAIM], NULL, en->name,
			       "status", KUBE_PATCH_MERGE, patch, on_written, en);
	json_decref(patch);
}

/* A person said that this machine serves the claim already. */
static bool adopts(const struct machine *m, const struct node_claim *n)
{
	const struct machine_approval *ap = m ? m->spec.approval : NULL;

	return ap && ap->action == APPROVE_ADOPT && str_eq(ap->claim, n->meta.name) &&
	       !str_eq(ap->id, m->status.approval_id);
}

/* False: it has none, and said so itself. */
static bool may_have_node(struct tenant *t, const char *name)
{
	return !tenant_usable(t) || !t->nodes || !kube_cache_synced(t->nodes) ||
	       tenant_node_get(t, name);
}

/* The Machine that it was made for was made anew, and what it made may run there still: only a tenant that has no such
 * Node says that it does not. */
static bool may_serve(struct controller *c, const struct node_claim *n, const struct object_ref *r,
		      const struct machine *m)
{
	struct tenant *t = tenant_get(c, str_or(n->spec.virtual_cluster_ref.name, ""));

	if (!r || !r->uid || !m || str_eq(r->uid, m->meta.uid))
		return false;
	return !t || may_have_node(t, n->meta.name);
}

/* Nothing is known of its machine, and its tenant has such a Node: a person made it for a server that runs already, and
 * is about to approve that (steps/adopt.h). */
static bool may_be_adopted(struct controller *c, const struct node_claim *n, enum machine_state s)
{
	struct tenant *t = tenant_get(c, str_or(n->spec.virtual_cluster_ref.name, ""));

	return s == MACHINE_KNOWN && t && may_have_node(t, n->meta.name);
}

static void on_owed(json_t *o, const struct err *e, void *arg)
{
	struct entry *en = arg;

	en->write = NULL;
	if (!e && json_object_get(o, "spec"))
		kube_cache_learn(en->owner->c->cache[OBJECT_VIRTUAL_CLUSTER], o);
	loop_timer_start(&en->timer, 1000);
}

/* The Node runs on the hardware that this Machine is, which is off and cut by now: it is deleted as a debt.
 * False: nothing is to be done, or not known. */
static bool owe_node(struct entry *en, const struct node_claim *n, const struct machine *m)
{
	struct controller *c = en->owner->c;
	const char *name = str_or(n->spec.virtual_cluster_ref.name, "");
	const struct virtual_cluster *vc =
		CONTROLLER_GET(c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster, name);
	struct tenant *t = tenant_get(c, name);
	const struct tenant_node *node =
		t && tenant_usable(t) ? tenant_node_get(t, en->name) : NULL;
	const struct machine_identity *id = m->spec.identity;
	OWN(arena) a = arena_new();
	char when[STR_TIME_SIZE];
	json_t *list, *patch;

	if (!vc || !node || !id ||
	    !identity_node(id->system_uuid, identity_provider_id(m, a), node->system_uuid,
			   node->provider_id))
		return false;
	for (size_t i = 0; i < vc->status.debts.n; i++)
		if (str_eq(vc->status.debts.v[i].node_uid, node->uid))
			return false; /* it is being paid */
	list = debts_without(vc, en->name);
	while (json_array_size(list) >= DEBTS_MAX)
		json_array_remove(list, 0);
	json_array_append_new(list,
			      json_pack("{s:s, s:s, s:s}", "nodeName", en->name, "nodeUID",
					node->uid, "since", str_time(when, loop_wall(c->loop))));
	patch = json_pack("{s:{s:s}, s:{s:o}}", "metadata", "resourceVersion",
			  vc->meta.resource_version, "status", "debts", list);
	en->write = kube_patch(c->host, &object_resources[OBJECT_VIRTUAL_CLUSTER], NULL, name,
			       "status", KUBE_PATCH_MERGE, patch, on_owed, en);
	json_decref(patch);
	return true;
}

/* Nobody took it, or it was deleted before anybody did: nothing was started, so it just goes. */
static bool withdraw(struct entry *en, const struct node_claim *n)
{
	struct controller *c = en->owner->c;
	int64_t age = loop_now(c->loop) - en->first_seen;
	const struct object_ref *r =
		n->spec.machine_ref ? n->spec.machine_ref : n->status.machine_ref;
	const struct machine *m = r ? CONTROLLER_GET(c, OBJECT_MACHINE, machine, r->name) : NULL;
	enum machine_state s =
		m ? machine_state_find(str_or(m->status.state, "")) : MACHINE_STATE_NONE;
	/* Its machine has let it go: free again before anything was written, or proved off and cut.  A
	 * machine whose status was lost, or is older than the claim's, proves nothing. */
	bool released = n->meta.deletion_timestamp && m && m->status.tenancy >= n->status.tenancy &&
			(s == MACHINE_FREE || (s >= MACHINE_DIRTY && s <= MACHINE_VERIFYING));
	struct kube_delete_opts o = {.uid = n->meta.uid, .grace_s = -1};
	json_t *patch, *kept;

	/* A Machine that was made anew does not say when it is done with the claim of the one before. */
	if (n->meta.deletion_timestamp && r && r->uid && m && !str_eq(r->uid, m->meta.uid))
		loop_timer_start(&en->timer, UNTAKEN_MS);
	if (claims_machine(c, n) || (n->status.machine_ref && !released))
		return false;
	if (n->meta.deletion_timestamp && may_serve(c, n, r, m)) /* its Node is all that is left */
		return released && owe_node(en, n, m);
	if (!n->meta.deletion_timestamp &&
	    (adopts(m, n) || may_serve(c, n, r, m))) /* it waits for its proofs */
		return false;
	/* It was made anew, as from a backup without statuses, and the machine may serve the one before (ClaimReplaced). */
	if (!n->meta.deletion_timestamp && m && m->status.claim_ref &&
	    str_eq(m->status.claim_ref->name, n->meta.name))
		return false;
	if (n->meta.deletion_timestamp) {
		if (controller_crds_terminating(c))
			return false;
		kept = json_array();
		for (size_t i = 0; i < n->meta.finalizers.n; i++)
			if (!str_eq(n->meta.finalizers.v[i], FINALIZER_CLAIM))
				json_array_append_new(kept, json_string(n->meta.finalizers.v[i]));
		if (json_array_size(kept) == n->meta.finalizers.n) {
			json_decref(kept);
			return false;
		}
		patch = json_pack("{s:{s:s, s:o}}", "metadata", "resourceVersion",
				  n->meta.resource_version, "finalizers", kept);
		en->write = kube_patch(c->host, &object_resources[OBJECT_NODE_CLAIM], NULL,
				       en->name, NULL, KUBE_PATCH_MERGE, patch, on_written, en);
		json_decref(patch);
		return true;
	}
	if (age < UNTAKEN_MS || may_be_adopted(c, n, s)) {
		loop_timer_start(&en->timer, age < UNTAKEN_MS ? UNTAKEN_MS - age : UNTAKEN_MS);
		return false;
	}
	log_info("claim withdrawn: no machine took it", LOG_S("claim", en->name));
	if (r)
		provisioner_avoid(c->provisioner, r->name);
	en->write = kube_delete(c->host, &object_resources[OBJECT_NODE_CLAIM], NULL, en->name, &o,
				on_written, en);
	return true;
}

/* A machine is held by it: it must not vanish under that, whoever made it or took the finalizer away. */
static bool finalizer(struct entry *en, const struct node_claim *n)
{
	struct controller *c = en->owner->c;
	json_t *list, *patch;

	if (n->meta.deletion_timestamp || !claims_machine(c, n))
		return false;
	for (size_t i = 0; i < n->meta.finalizers.n; i++)
		if (str_eq(n->meta.finalizers.v[i], FINALIZER_CLAIM))
			return false;
	list = json_array();
	for (size_t i = 0; i < n->meta.finalizers.n; i++)
		json_array_append_new(list, json_string(n->meta.finalizers.v[i]));
	json_array_append_new(list, json_string(FINALIZER_CLAIM));
	patch = json_pack("{s:{s:s, s:o}}", "metadata", "resourceVersion", n->meta.resource_version,
			  "finalizers", list);
	en->write = kube_patch(c->host, &object_resources[OBJECT_NODE_CLAIM], NULL, en->name, NULL,
			       KUBE_PATCH_MERGE, patch, on_written, en);
	json_decref(patch);
	return true;
}

static void look(void *arg)
{
	struct entry *en = arg;
	struct controller *c = en->owner->c;
	const struct node_claim *n = CONTROLLER_GET(c, OBJECT_NODE_CLAIM, node_claim, en->name);

	if (!n) {
		if (!en->write)
			map_del(en->owner->entries, en->name);
		return;
	}
	if (!str_eq(en->uid, n->meta.uid)) { /* new, or another of the same name */
		str_copy(en->uid, sizeof(en->uid), n->meta.uid);
		en->first_seen = loop_now(c->loop);
	}
	if (!c->leading || en->write || !controller_ready(c))
		return;
	if (!withdraw(en, n) && !finalizer(en, n))
		derive(en, n);
}

static void entry_free(void *p)
{
	struct entry *en = p;

	kube_call_cancel(en->write);
	loop_timer_stop(&en->timer);
	free(en->name);
	free(en);
}

struct claims *claims_new(struct controller *c)
{
	struct claims *cl = mem_new(struct claims);

	cl->c = c;
	cl->entries = map_new(entry_free);
	return cl;
}

void claims_free(struct claims *cl)
{
	if (!cl)
		return;
	map_free(cl->entries);
	free(cl);
}

void claims_kick(struct claims *cl, const char *claim)
{
	struct entry *en = map_get(cl->entries, claim);

	if (!en) {
		en = mem_new(struct entry);
		en->owner = cl;
		en->name = mem_strdup(claim);
		en->first_seen = loop_now(cl->c->loop);
		loop_timer_init(&en->timer, cl->c->group, look, en);
		map_put(cl->entries, claim, en);
	}
	if (!en->write)
		loop_timer_start(&en->timer, 0);
}
