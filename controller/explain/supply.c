/*
 * supply: explains why NodePools, Providers, Drains and BurstPolicies do not make progress.
 * Tests: tests/unit/cli/test_why.c
 */
#include "controller/explain/answer.h"
#include "controller/explain/explain.h"
#include "controller/explain/waits.h"
#include "api/annotations.h"
#include "base/arena.h"
#include "base/str.h"
#include "api/target.h"

static json_t *begin(enum object_kind_id kind, const struct object_meta *meta,
		     const struct conditions *cs, bool paused)
{
	const struct condition *line = condition_get(cs, BREAKER_CONDITION),
			       *ready = condition_get(cs, "Ready");
	bool stopped = line && line->status == CONDITION_TRUE;
	OWN(arena) a = arena_new();
	json_t *o = json_object();

	answer_put(o, "kind", object_kinds[kind].kind);
	answer_put(o, "name", meta->name);
	answer_put(o, "state", paused ? "Paused" : stopped ? "Stopped" : answer_ready(cs));
	answer_time(o, "since",
		    stopped ? line->last_transition_time
		    : ready ? ready->last_transition_time
			    : meta->creation_timestamp);
	answer_time(o, "deletingSince", meta->deletion_timestamp);
	answer_conditions(o, cs);
	answer_help_valid(o, kind, cs, meta->name);
	if (stopped) {
		answer_error(o, "lineStopped", line->reason, line->message,
			     line->last_transition_time);
		answer_help_with(o, line->reason, "MACHINE");
		answer_help(o,
			    arena_printf(a, "once you have fixed the cause: drover resume %s/%%s",
					 target_word(kind)),
			    meta->name);
	}
	if (paused)
		answer_help_unpause(o, kind, meta->name);
	if (!stopped && ready && ready->status == CONDITION_FALSE)
		answer_help_with(o, ready->reason, meta->name);
	return o;
}

static json_t *explain_pool(const struct node_pool *p)
{
	json_t *o = begin(OBJECT_NODE_POOL, &p->meta, &p->status.conditions, p->spec.paused);

	json_object_set_new(o, "nodes", json_integer(p->status.nodes));
	if (p->meta.deletion_timestamp)
		answer_help(
			o,
			"wait: drover releases its Nodes first; to list their claims: drover get "
			"claims -l drover.dev/nodepool=%s",
			p->meta.name);
	return o;
}

static json_t *explain_provider(const struct provider_object *p)
{
	json_t *o = begin(OBJECT_PROVIDER, &p->meta, &p->status.conditions, p->spec.paused);

	if (p->status.bcm)
		answer_error(o, "lastError", str_empty(p->status.bcm->error) ? NULL : "HeadNode",
			     p->status.bcm->error, 0);
	return o;
}

static bool is_over(const struct drain *d)
{
	return d->status.phase == DRAIN_SUCCEEDED || d->status.phase == DRAIN_PARTIAL ||
	       d->status.phase == DRAIN_CANCELLED;
}

static void put_target(json_t *list, const struct drain_target *t)
{
	json_t *o = json_object();

	answer_put(o, "machine", str_or(t->machine, t->claim));
	answer_put(o, "phase", t->phase);
	if (t->pods_left)
		json_object_set_new(o, "podsLeft", json_integer(t->pods_left));
	answer_put(o, "blockedBy", t->blocked_by);
	json_array_append_new(list, o);
}

static json_t *explain_drain(const struct drain *d, int64_t now)
{
	json_t *o = begin(OBJECT_DRAIN, &d->meta, &d->status.conditions, false),
	       *targets = json_array();
	bool blocked = false;

	answer_put(o, "state",
		   drain_phase_names[d->status.phase < 0 ? DRAIN_PENDING : d->status.phase]);
	answer_time(o, "since",
		    is_over(d)		   ? d->status.completion_time
		    : d->status.start_time ? d->status.start_time
					   : d->meta.creation_timestamp);
	answer_put(o, "asked", d->spec.reason);
	json_object_set_new(o, "targets", targets);
	for (size_t i = 0; i < d->status.targets.n; i++) {
		const struct drain_target *t = &d->status.targets.v[i];

		if (str_eq(t->phase, "Done"))
			continue;
		blocked |= !str_empty(t->blocked_by) && !str_eq(t->phase, "Pending");
		put_target(targets, t);
	}
	if (is_over(d))
		return o;
	if (d->spec.not_before > now) {
		answer_put(o, "waitingFor", "its start time (spec.notBefore)");
		answer_time(o, "nextTry", d->spec.not_before);
	}
	if (d->spec.deadline) {
		answer_time(o, "deadline", d->spec.deadline);
		answer_put(o, "then",
			   d->spec.on_deadline == DRAIN_STOP
				   ? "machines that have not left stay in service"
				   : "drover deletes remaining pods");
	} else if (blocked) {
		answer_put(o, "waitingFor", wait_info[WAIT_PODS_NO_DEADLINE].text);
		answer_help(
			o, "find out in the tenant's cluster what refuses the eviction of the pods",
			"");
		answer_help(
			o,
			"to set a deadline (TIME: RFC 3339): kubectl patch drain %s --type merge "
			"-p '{\"spec\":{\"deadline\":\"TIME\"}}'",
			d->meta.name);
	}
	answer_help(o, "to keep machines that have not left in service: drover cancel %s",
		    d->meta.name);
	return o;
}

static json_t *judged_json(const struct burst_policy_judged *j)
{
	json_t *o = json_object();

	answer_put(o, "provider", j->provider);
	answer_put(o, "region", j->region);
	answer_put(o, "zone", j->zone);
	answer_put(o, "instanceType", j->instance_type);
	answer_put(o, "market", j->market);
	answer_put(o, "cost", j->cost);
	answer_put(o, "reason", j->reason);
	answer_put(o, "message", j->message);
	return o;
}

void explain_burst_decisions(json_t *answer, const struct burst_policy *p, const char *tenant,
			     const char *work)
{
	json_t *list = json_object_get(answer, "decisions"), *o, *offers;
	OWN(arena) a = arena_new();

	if (!list)
		json_object_set_new(answer, "decisions", list = json_array());
	for (size_t i = 0; i < p->status.decisions.n; i++) {
		const struct burst_policy_decision *d = &p->status.decisions.v[i];

		if (tenant && (!str_eq(d->tenant, tenant) || !str_eq(d->work, work)))
			continue;
		o = json_object();
		offers = json_array();
		answer_put(o, "policy", p->meta.name);
		answer_put(o, "tenant", d->tenant);
		answer_put(o, "work", d->work);
		answer_time(o, "time", d->time);
		answer_put(o, "reason", d->reason);
		answer_put(o, "message", d->message);
		answer_put(o, "cost", d->cost);
		answer_put(o, "currency", p->spec.cost.currency);
		if (str_eq(d->reason, "ApprovalNeeded"))
			answer_help(answer, "drover approve burst/%s",
				    arena_printf(a, "%s/%s/%s", p->meta.name, d->tenant, d->work));
		for (size_t k = 0; k < d->offers.n; k++)
			json_array_append_new(offers, judged_json(&d->offers.v[k]));
		json_object_set_new(o, "offers", offers);
		json_array_append_new(list, o);
	}
}

static json_t *spend_json(const struct burst_policy_spend *s, const char *currency)
{
	json_t *o = json_object();

	answer_put(o, "scope", burst_policy_scope_names[s->scope]);
	answer_put(o, "per", burst_policy_per_names[s->per]);
	answer_put(o, "of", s->of);
	answer_put(o, "amount", s->amount);
	answer_put(o, "spent", s->spent);
	answer_put(o, "alert", s->alert);
	answer_put(o, "forecast", s->forecast);
	answer_put(o, "currency", currency);
	return o;
}

static json_t *explain_burst(const struct burst_policy *p)
{
	const struct condition *active = condition_get(&p->status.conditions, "Active");
	json_t *o = begin(OBJECT_BURST_POLICY, &p->meta, &p->status.conditions, p->spec.paused),
	       *spend = json_array();

	if (active && !p->spec.paused) {
		answer_put(o, "state", active->reason);
		answer_time(o, "since", active->last_transition_time);
		if (active->status == CONDITION_FALSE)
			answer_error(o, "lastError", active->reason, active->message,
				     active->last_transition_time);
	}
	explain_burst_decisions(o, p, NULL, NULL);
	json_object_set_new(o, "spend", spend);
	for (size_t i = 0; i < p->status.spend.n; i++)
		json_array_append_new(spend,
				      spend_json(&p->status.spend.v[i], p->spec.cost.currency));
	return o;
}

json_t *explain_object(enum object_kind_id kind, const void *object, int64_t now)
{
	switch (kind) {
	case OBJECT_NODE_POOL:
		return explain_pool(object);
	case OBJECT_PROVIDER:
		return explain_provider(object);
	case OBJECT_VIRTUAL_CLUSTER:
		return explain_virtual_cluster(object);
	case OBJECT_DRAIN:
		return explain_drain(object, now);
	case OBJECT_BURST_POLICY:
		return explain_burst(object);
	case OBJECT_MACHINE:
		return explain_machine(object, NULL, now);
	case OBJECT_NODE_CLAIM:
		return explain_claim(object, NULL, NULL, now);
	case OBJECT_WIPE_RECORD:
	case OBJECT_BURST_LEDGER:
	case OBJECT_AUDIT_SEGMENT:
	case OBJECT_KINDS:
		break;
	}
	return NULL;
}
