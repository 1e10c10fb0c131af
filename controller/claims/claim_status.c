/*
 * claim_status: computes the status of a claim from the machine that is bound to it.
 * Tests: tests/unit/controller/claims/test_claims.c
 */
#include <stdlib.h>
#include <string.h>

#include "controller/claims/claim_status.h"
#include "controller/claims/approval_asks.h"
#include "controller/claims/approval_status.h"
#include "controller/claims/drift.h"
#include "controller/claims/underused.h"
#include "api/annotations.h"
#include "api/reasons.h"
#include "base/arena.h"
#include "base/list.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/eta.h"
#include "controller/core/clock_jumps.h"
#include "controller/core/lookup.h"
#include "controller/rules/claim.h"
#include "controller/tenant/tenant.h"
#include "kube/call.h"

#define CONDITIONS 13 /* Maximum number of conditions that this file sets */
#define NODE_GONE                                                                                  \
	"its Node no longer exists in the tenant's cluster; drover releases the machine after "    \
	"deadlines.notReady"

/* A status that is being written */
struct draft {
	const struct claim_status_spec *in;
	const struct node_claim *n;
	/* Machine that has accepted the claim, and its state; NULL: none has */
	const struct machine *m;
	enum machine_state s;
	struct arena *a;
	struct conditions *cs;
	/* True if a condition differs from that of the claim */
	bool changed;
};

static void put(struct draft *d, const struct condition *want)
{
	d->changed |= condition_set(d->cs, d->a, want, loop_wall(d->in->c->loop));
}

static void condition(struct draft *d, const char *type, int status, const char *reason,
		      const char *message)
{
	put(d, &(struct condition){.type = type,
				   .status = status,
				   .reason = reason,
				   .message = message,
				   .observed_generation = d->n->meta.generation});
}

/* True if state s is `what` or a later state, up to and including draining. */
static bool past(enum machine_state s, enum machine_state what)
{
	return s >= what && s <= MACHINE_DRAINING;
}

/* Sets the conditions about the release of the machine. They exist from draining on, and become
 * False if the machine serves again. */
static void leaving(struct draft *d)
{
	const struct claim_status_spec *in = d->in;
	const struct machine *m = d->m;
	const enum machine_state s = d->s;
	const struct provider_object *p = m ? CTX_GET(in->c, OBJECT_PROVIDER, provider_object,
						      str_or(m->spec.provider_ref.name, ""))
					    : NULL;
	const char *id = m && m->status.operation ? m->status.operation->id : NULL;
	bool stopped = (s >= MACHINE_STOPPING && s <= MACHINE_LEAVING) || s == MACHINE_QUARANTINED;
	bool asked_off = stopped && s != MACHINE_STOPPING, confirmed, off, cut, drained;
	/* An instance leaves only after its cloud reported that it is gone. */
	bool released = m && m->spec.elastic && s == MACHINE_LEAVING;
	int volumes = s == MACHINE_LEAVING && m ? in->volumes_left(m->meta.name, in->arg) : -1;

	if (!m || (!stopped && s != MACHINE_DRAINING && !condition_get(d->cs, "Drained")))
		return;
	drained = stopped && (!m->status.leave || !m->status.leave->pods_left);
	confirmed = id && str_eq(m->status.power.confirmed_by, id);
	off = asked_off && (confirmed || (str_eq(m->status.power.state, "Off") &&
					  !(id && str_eq(m->status.power.doubted, id))));
	cut = asked_off && s != MACHINE_ISOLATING && p &&
	      str_eq(m->status.network.segment,
		     str_or(p->spec.network.segments.quarantine, "quarantine"));
	condition(d, "Drained", drained,
		  drained		  ? "Drained"
		  : stopped		  ? "PodsLeft"
		  : s == MACHINE_DRAINING ? "Draining"
					  : "NotLeaving",
		  "");
	condition(d, "VolumesDetached",
		  volumes < 0	? stopped ? CONDITION_UNKNOWN : CONDITION_FALSE
		  : volumes > 0 ? CONDITION_FALSE
				: CONDITION_TRUE,
		  volumes < 0	? stopped ? "NotLooked" : "NotLeaving"
		  : volumes > 0 ? "Attached"
				: "Detached",
		  "");
	condition(d, "PoweredOff", released || off,
		  released	     ? "Terminated"
		  : off && confirmed ? "Confirmed"
		  : off		     ? "Observed"
		  : asked_off	     ? "PowerNotConfirmed"
		  : stopped	     ? "Stopping"
				     : "NotLeaving",
		  released ? MACHINE_RELEASED : "");
	condition(d, "Isolated", released || cut,
		  released					   ? "Terminated"
		  : cut && str_eq(m->status.network.proof, "None") ? "NotProved"
		  : cut						   ? "Proved"
		  : s == MACHINE_QUARANTINED && !m->spec.elastic   ? "NetworkNotConfirmed"
		  : stopped					   ? "Waiting"
								   : "NotLeaving",
		  "");
}

/* Returns the UID of the Node that was proved to be the machine of claim n; NULL: not proved yet.
 * Once set, the UID never changes, even if another Node gets the same name later. */
static const char *node_uid(const struct claim_status_spec *in, const struct node_claim *n,
			    enum machine_state s)
{
	const struct tenant_node *node =
		past(s, MACHINE_GATING) ? tenant_node_of(in->tenants, n) : NULL;

	return n->status.node_uid ? n->status.node_uid : node ? node->uid : NULL;
}

static bool replaced(const struct context *c, enum object_kind_id kind,
		     const struct object_ref *ref)
{
	const struct kube_entry *en = kube_cache_get(c->cache[kind], "", str_or(ref->name, ""));
	const struct object_meta *m = en ? object_meta_of(en->object) : NULL;

	return m && ref->uid && !m->deletion_timestamp && !str_eq(m->uid, ref->uid);
}

/* Returns the kind of the claim's owner ("VirtualCluster" or "NodePool") whose name now belongs
 * to a different object; NULL: none. A restored backup causes this; the claim is not deleted for
 * it. */
static const char *claims_owner_replaced(const struct context *c, const struct node_claim *n)
{
	if (replaced(c, OBJECT_VIRTUAL_CLUSTER, &n->spec.virtual_cluster_ref))
		return object_kinds[OBJECT_VIRTUAL_CLUSTER].kind;
	if (replaced(c, OBJECT_NODE_POOL, &n->spec.node_pool_ref))
		return object_kinds[OBJECT_NODE_POOL].kind;
	return NULL;
}

/* Sets condition OwnersMatch. It is first added when an owner does not match. */
static void owners(struct draft *d)
{
	const char *kind = claims_owner_replaced(d->in->c, d->n), *text = "";
	const struct condition *was = condition_get(d->cs, "OwnersMatch");

	if (!kind && !was)
		return;
	if (kind)
		text = arena_printf(
			d->a,
			"its %s was replaced by one with another UID (a restored backup?): the "
			"claim stays until an operator deletes it",
			kind);
	if (kind && (!was || was->status != CONDITION_FALSE))
		ctx_event(d->in->c, OBJECT_NODE_CLAIM, &d->n->meta, "Warning", "OwnerReplaced",
			  text);
	condition(d, "OwnersMatch", kind ? CONDITION_FALSE : CONDITION_TRUE,
		  kind ? "OwnerReplaced" : "OwnersMatch", text);
}

/* Sets condition Consolidatable, which reports whether the Node's pods fit on other Nodes. The
 * condition is evaluated only while the machine serves, and only if the pool's policy asks for
 * it. */
static void consolidatable(struct draft *d)
{
	struct underused_words w = {
		.reason = "NotJudged",
		.text = "not evaluated: the pool consolidates only empty Nodes, or the Node is not "
			"in service"};
	const bool said = d->s == MACHINE_SERVING && d->in->underused &&
			  underused_condition(d->in->underused, d->n, &w);

	if (said || condition_get(d->cs, "Consolidatable"))
		condition(d, "Consolidatable", w.goes ? CONDITION_TRUE : CONDITION_FALSE, w.reason,
			  w.text);
}

/* Sets condition Drifted, which reports whether the Node no longer matches its pool's template.
 * The condition is evaluated only while the machine serves, and only if the pool's policy asks
 * for it. */
static void drifted(struct draft *d)
{
	struct drift_words w = {
		.reason = "NotJudged",
		.text = "not evaluated: the pool does not replace drifted Nodes, or the Node is "
			"not in service"};
	const bool said = d->s == MACHINE_SERVING && d->in->drift &&
			  drift_condition(d->in->drift, d->n, d->a, &w);

	if (said || (d->s != MACHINE_DRAINING && condition_get(d->cs, "Drifted")))
		condition(d, "Drifted", w.drifted ? CONDITION_TRUE : CONDITION_FALSE, w.reason,
			  w.text);
}

/* Sets status.eta, the time at which the machine is expected to serve. It is calculated again for
 * each state of the machine. 0 if unknown, and once the machine serves or the claim failed. */
static void expect(const struct claim_status_spec *in, const struct machine *m,
		   enum machine_state s, struct node_claim_status *out)
{
	struct eta_span span;

	out->eta.p50 = out->eta.p90 = 0;
	if (!m || s > MACHINE_GATING ||
	    !eta_from(in->eta, m->spec.provider_ref.name, m->spec.instance_type, s,
		      loop_wall(in->c->loop) - m->status.state_since, &span))
		return;
	out->eta.p50 = m->status.state_since + span.p50;
	out->eta.p90 = m->status.state_since + span.p90;
}

/* True if the machine serves but its Node no longer exists at the tenant's API server, so that
 * nothing can run on the machine. */
static bool node_is_gone(const struct claim_status_spec *in, const struct node_claim *n,
			 enum machine_state s)
{
	struct tenant *t = tenant_get(in->tenants, str_or(n->spec.virtual_cluster_ref.name, ""));

	return s == MACHINE_SERVING && n->status.node_uid && t && tenant_usable(t) && t->nodes &&
	       kube_cache_synced(t->nodes) && !tenant_node_now(in->tenants, n);
}

/* Returns the message for a Node that exists but is not Ready, in the arena; NULL: none. Uses the
 * same rule as is_dead() in steps/leave_reason.c, which additionally checks for a Hold and whether
 * any Node of the tenant is Ready. */
static const char *node_is_unready(const struct claim_status_spec *in, const struct node_claim *n,
				   enum machine_state s, struct arena *a)
{
	const struct tenant_node *node =
		s == MACHINE_SERVING ? tenant_node_now(in->tenants, n) : NULL;
	char since[STR_TIME_SIZE], end[STR_TIME_SIZE];
	int64_t after = n->spec.deadlines.not_ready;

	if (!node || node->world.ready || !node->ready_since)
		return NULL;
	str_time(since, node->ready_since);
	if (after < 0)
		return arena_printf(
			a,
			"Node %s has not been Ready since %s; its machine stays, because "
			"deadlines.notReady is Never",
			n->meta.name, since);
	str_time(end, node->ready_since + after + clock_jumps_since(in->c, node->ready_since));
	return arena_printf(
		a,
		"Node %s has not been Ready since %s: from %s on (deadlines.notReady), drover "
		"releases its machine without waiting for pods, except while a Drain holds the "
		"machine",
		n->meta.name, since, end);
}

/* Returns the error that prevents the start of the machine, such as an unreachable BMC or a cloud
 * without capacity; NULL: none. */
static const struct machine_error *waits_for(const struct machine *m, enum machine_state s)
{
	const struct machine_operation *op = m ? m->status.operation : NULL;

	return op && !past(s, MACHINE_BOOTING) && !str_empty(op->last_error.reason)
		       ? &op->last_error
		       : NULL;
}

/* Returns why claim n does not serve, as text for the operator, in the arena. m: the machine that
 * has accepted the claim, in state s; NULL: none has. */
static const char *not_ready(const struct node_claim *n, const struct machine *m,
			     enum machine_state s, struct arena *a)
{
	if (m)
		return s == MACHINE_STATE_NONE ? ""
					       : arena_printf(a, "machine %s is %s", m->meta.name,
							      machine_state_info[s].name);
	if (n->meta.deletion_timestamp)
		return "the claim was deleted, and no machine is bound to it";
	return n->spec.machine_ref
		       ? arena_printf(a,
				      "waiting for machine %s to accept the claim; a claim that is "
				      "not accepted within 30 s is deleted, and its pods are "
				      "planned again",
				      str_or(n->spec.machine_ref->name, ""))
		       : "waiting for its Provider to create a machine";
}

/* Sets condition Approved. It exists if the tenant's claims need an approval. */
static void approved(struct draft *d, const struct approval *is)
{
	struct condition want;

	if (!approval_condition(d->in->c, d->n, is,
				approval_asks_trouble(d->in->approval_asks, d->n), d->a, &want))
		return;
	approval_tell(d->in->c, d->n, &want);
	put(d, &want);
}

/* Writes the decision to be recorded in the claim's status to *out. False: there is none yet. */
static bool decide(const struct claim_status_spec *in, const struct node_claim *n,
		   struct node_claim_approval *out)
{
	const struct approval a = approval_decision(in->c, n);
	const struct node_claim_approval *answer = approval_asks_answer(in->approval_asks, n);

	if (!approval_asked(in->c, n) || (!a.decision && !answer))
		return false;
	*out = a.decision ? *a.decision : *answer;
	out->time = a.decision ? a.time : answer->time;
	out->claim = a.decision ? a.on : n->meta.name;
	return true;
}

json_t *claim_status_new(const struct claim_status_spec *in, const struct node_claim *n,
			 char failing[static CLAIM_FAILING_SIZE])
{
	struct context *c = in->c;
	OWN(arena) a = arena_new();
	const struct machine *m = machine_of_claim(c, n);
	struct node_claim out = {.status = n->status};
	struct conditions *cs = &out.status.conditions;
	struct object_ref ref;
	enum machine_state s =
		m ? machine_state_find(str_or(m->status.state, "")) : MACHINE_STATE_NONE;
	const struct machine_error *waits = waits_for(m, s);
	const char *reason, *message, *phase, *unready = node_is_unready(in, n, s, a),
					      *waiting = not_ready(n, m, s, a);
	struct draft d = {.in = in, .n = n, .m = m, .s = s, .a = a, .cs = cs};
	bool failed, gone = node_is_gone(in, n, s), told_gone = claim_node_gone(n);
	const struct approval approval = approval_of(c, n);
	struct node_claim_approval decision;
	OWN_JSON whole = NULL;

	failing[0] = '\0';
	phase = claim_phase(n, m, &failed, &reason, &message);
	if (approval.state == APPROVAL_REFUSED && !n->meta.deletion_timestamp)
		phase = CLAIM_PHASE_DENIED;
	cs->v = arena_calloc(a, n->status.conditions.n + CONDITIONS, sizeof(*cs->v));
	cs->n = n->status.conditions.n;
	if (cs->n)
		memcpy(cs->v, n->status.conditions.v, cs->n * sizeof(*cs->v));
	out.status.phase = phase;
	expect(in, failed ? NULL : m, s, &out.status);
	if (m) {
		ref = (struct object_ref){m->meta.name, m->meta.uid};
		out.status.machine_ref = &ref;
		out.status.tenancy = m->status.tenancy;
		out.status.node_name = n->meta.name;
		out.status.node_uid = node_uid(in, n, s);
		out.status.provider_id = arena_printf(
			a, "drover://%s/%s", str_or(m->spec.provider_ref.name, ""), m->meta.name);
	}
	if (!out.status.approval && decide(in, n, &decision)) {
		out.status.approval = &decision;
		d.changed = true;
	}
	approved(&d, &approval);
	condition(&d, "Launched", past(s, MACHINE_BOOTING),
		  failed		     ? reason
		  : past(s, MACHINE_BOOTING) ? "Launched"
		  : waits		     ? waits->reason
					     : "Waiting",
		  failed  ? message
		  : waits ? str_or(waits->message, "")
		  : m	  ? ""
			  : waiting);
	condition(&d, "Registered", past(s, MACHINE_GATING),
		  failed		    ? reason
		  : past(s, MACHINE_GATING) ? "Registered"
					    : "NodeNotFound",
		  failed ? message : "");
	condition(&d, "Initialized", past(s, MACHINE_SERVING),
		  failed		     ? reason
		  : past(s, MACHINE_SERVING) ? "Initialized"
					     : "NodeNotReady",
		  failed ? message : "");
	if (gone && !told_gone)
		ctx_event(c, OBJECT_NODE_CLAIM, &n->meta, "Warning", LEAVE_NODE_GONE, NODE_GONE);
	condition(&d, "Ready",
		  s == MACHINE_SERVING && /* mutant: node-gone-untold */ !gone && !unready,
		  failed		 ? reason
		  : gone		 ? LEAVE_NODE_GONE
		  : unready		 ? reason_name(REASON_NodeNotReady)
		  : s == MACHINE_SERVING ? "Ready"
					 : "NotReady",
		  failed		 ? message
		  : gone		 ? NODE_GONE
		  : unready		 ? unready
		  : s == MACHINE_SERVING ? ""
					 : waiting);
	d.changed |= condition_set_stalled(cs, a, failed ? condition_get(cs, "Ready") : NULL,
					   n->meta.generation, loop_wall(c->loop));
	leaving(&d);
	owners(&d);
	consolidatable(&d);
	drifted(&d);
	out.status.observed_generation = n->meta.generation;
	if (!d.changed && n->status.observed_generation == n->meta.generation &&
	    str_eq(n->status.phase, phase) && str_eq(n->status.node_uid, out.status.node_uid) &&
	    (!m || n->status.machine_ref) && n->status.tenancy == out.status.tenancy)
		return NULL;
	whole = fields_encode(object_kinds[OBJECT_NODE_CLAIM].fields, &out);
	if (n->status.eta.p50 && !out.status.eta.p50)
		json_object_set_new(json_object_get(whole, "status"), "eta", json_null());
	if (failed && !str_eq(n->status.phase, "Failed")) {
		str_copy(failing, CLAIM_FAILING_SIZE, reason);
		ctx_event(c, OBJECT_NODE_CLAIM, &n->meta, "Warning", reason, message);
	}
	return json_incref(json_object_get(whole, "status"));
}
