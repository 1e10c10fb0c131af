/*
 * counters: registers the counting metrics, and derives some of them from each change of a Machine.
 */
#include <stdlib.h>
#include <string.h>

#include "controller/core/counters.h"
#include "api/annotations.h"
#include "api/machine_states.h"
#include "api/reasons.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/spans.h"

struct counters {
	struct context *c;
	struct metric *state_seconds, *act_failures, *claims_created, *claims_failed, *claims_warm,
		*leaves, *wipes, *revoked, *turns, *transitions, *requests, *looks, *pod_waits,
		*first_pods, *pods_ended, *provider_calls, *request_seconds, *drives, *audit_lost,
		*audit_failed, *claim_ready, *returns, *corrected;
	/* Names of PriorityClasses that have series; at most CLASSES */
	struct map *classes;
	/* name of a Machine that is leaving its tenant -> struct began */
	struct map *since;
	int64_t recycle_ms;
};

struct began {
	/* wall ms at which the machine began to leave */
	int64_t at;
	/* the machine was quarantined on its way */
	bool quarantined;
};

#define LABELS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* A tenant chooses the names of its PriorityClasses. */
enum { CLASSES = 16 };

/* Tenants of which a family with several series for each tenant shows all. */
enum { COUNTERS_TENANTS = 500 };

static const double request_bounds[] = {0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60};

/* A call ends after at most 60 s (PROVIDER_CALL_MS). */
static const double call_bounds[] = {0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60};

static const double seconds[] = {1,   2,   5,	 10,   20,   30,   60,	 120,
				 300, 600, 1200, 1800, 3600, 7200, 21600};

/* True if this replica counts what happens in the fleet. A former leader does not count the end of
 * what it began, because the new leader counts the repetition. */
static bool counts(const struct counters *f)
{
	return f && f->c->leading;
}

/* True if an operator took the machine out of use. */
static bool taken_by_operator(const struct machine *m)
{
	return m->status.quarantine &&
	       str_eq(m->status.quarantine->reason, reason_name(REASON_QuarantinedByOperator));
}

/* Counts the return of a machine that is free again. A quarantine on the way belongs to the time
 * that the fleet lacks the machine, but not to the time that a return usually takes. A free machine
 * has no pool any more, so the pool is that of `was`. */
static void returned(struct counters *f, const struct began *b, const struct machine *was,
		     const struct machine *is)
{
	const int64_t ms = is->status.state_since - b->at;

	if (!b->quarantined)
		f->recycle_ms = f->recycle_ms ? (3 * f->recycle_ms + ms) / 4 : ms;
	if (counts(f) && ms >= 0)
		metric_observe(f->returns, LABELS(str_or(was->status.pool, "")), (double)ms / 1000);
}

/* Measures how long the machine takes from draining (or from stopping, if nothing was drained) to
 * free. A replica that does not lead measures too, because it may lead when the machine is free. */
static void recycle(struct counters *f, const struct machine *was, const struct machine *is)
{
	struct began *b = map_get(f->since, is->meta.name);
	enum machine_state from = machine_state_find(was->status.state),
			   to = machine_state_find(str_or(is->status.state, ""));

	if (from == MACHINE_SERVING && (to == MACHINE_DRAINING || to == MACHINE_STOPPING)) {
		b = mem_new(struct began);
		b->at = is->status.state_since;
		map_put(f->since, is->meta.name, b);
	} else if (b && to == MACHINE_QUARANTINED && !taken_by_operator(is)) {
		b->quarantined = true;
	} else if (b && to == MACHINE_FREE) {
		returned(f, b, was, is);
		map_del(f->since, is->meta.name);
	} else if (b && (to == MACHINE_SERVING || to == MACHINE_QUARANTINED ||
			 to == MACHINE_RETIRED || to == MACHINE_GONE)) {
		map_del(f->since, is->meta.name);
	}
}

/* Returns the wall ms at which drover could begin to work for the NodeClaim: its creation, or its
 * approval if an approval was needed. */
static int64_t claim_began(const struct node_claim *n)
{
	const struct condition *approved = condition_get(&n->status.conditions, APPROVED_CONDITION);
	const int64_t at =
		approved && approved->status == CONDITION_TRUE ? approved->last_transition_time : 0;

	return at > n->meta.creation_timestamp ? at : n->meta.creation_timestamp;
}

/* Counts a machine that begins to serve its NodeClaim. */
static void served(struct counters *f, const struct machine *was, const struct machine *is)
{
	const struct object_ref *ref = is->status.claim_ref;
	const struct node_claim *n;
	int64_t ms;

	if (!ref || !f->c->cache[OBJECT_NODE_CLAIM] || !str_eq(was->status.state, "gating") ||
	    !machine_is_in(is, MACHINE_SERVING))
		return;
	n = CTX_GET(f->c, OBJECT_NODE_CLAIM, node_claim, ref->name);
	ms = n ? is->status.state_since - claim_began(n) : -1;
	if (ms >= 0 && str_eq(n->meta.uid, ref->uid))
		metric_observe(f->claim_ready, LABELS(str_or(n->spec.node_pool_ref.name, "")),
			       (double)ms / 1000);
}

int64_t counters_recycle_ms(const struct counters *f)
{
	return f ? f->recycle_ms : 0;
}

void counters_machine(struct counters *f, const struct machine *was, const struct machine *is)
{
	char trace[METRICS_TRACE + 1];
	int64_t ms;

	if (!f || !was || !is || !was->status.state ||
	    str_eq(was->status.state, is->status.state) ||
	    machine_state_find(was->status.state) == MACHINE_STATE_NONE)
		return;
	recycle(f, was, is);
	if (!counts(f))
		return;
	served(f, was, is);
	if (machine_is_in(was, MACHINE_SERVING) && is->status.leave)
		metric_add(f->leaves, LABELS(str_or(is->status.leave->reason, "")), 1);
	ms = is->status.state_since - was->status.state_since;
	if (was->status.state_since && ms >= 0)
		metric_observe_traced(f->state_seconds, LABELS(was->status.state),
				      (double)ms / 1000,
				      spans_trace_of(f->c->spans, was, trace) ? trace : NULL);
}

void counters_act_failed(struct counters *f, const char *act, const char *reason)
{
	/* An act that moves ports is named "place SEGMENT". Cut off the segment, because its name
	 * contains the name of a tenant, and the metric would get a series for each tenant. */
	if (counts(f))
		metric_add(f->act_failures,
			   LABELS(str_starts(act, "place ") ? "place" : act, reason), 1);
}

void counters_claim_created(struct counters *f, const char *pool)
{
	if (counts(f))
		metric_add(f->claims_created, LABELS(str_or(pool, "")), 1);
}

void counters_claim_failed(struct counters *f, const char *pool, const char *reason)
{
	if (counts(f))
		metric_add(f->claims_failed, LABELS(str_or(pool, ""), reason), 1);
}

void counters_claimed_warm(struct counters *f, bool answered)
{
	if (counts(f))
		metric_add(f->claims_warm, LABELS(answered ? "answered" : "booted"), 1);
}

void counters_wipe(struct counters *f, const char *verdict)
{
	if (counts(f))
		metric_add(f->wipes, LABELS(str_or(verdict, "Fail")), 1);
}

void counters_wiped_drive(struct counters *f, const char *technique, const char *level)
{
	if (counts(f))
		metric_add(f->drives, LABELS(technique, level), 1);
}

void counters_wipe_revoked(struct counters *f)
{
	if (counts(f))
		metric_add(f->revoked, NULL, 1);
}

void counters_audit_lost(struct counters *f, int64_t n)
{
	if (f)
		metric_add(f->audit_lost, NULL, (double)n);
}

void counters_audit_file_failed(struct counters *f)
{
	if (f)
		metric_add(f->audit_failed, NULL, 1);
}

void counters_transition(struct counters *f, const char *transition, const char *by)
{
	if (counts(f))
		metric_add(f->transitions, LABELS(transition, by), 1);
}

void counters_request(struct counters *f, const char *client, const char *method, int status,
		      int64_t ms)
{
	char code[16];

	if (!f)
		return;
	str_format(code, sizeof(code), "%d", status);
	metric_add(f->requests, LABELS(client, method, status ? code : "<error>"), 1);
	if (ms >= 0)
		metric_observe(f->request_seconds, LABELS(method, client), (double)ms / 1000);
}

void counters_observation(struct counters *f, const char *provider, bool answered)
{
	if (counts(f))
		metric_add(f->looks, LABELS(provider, answered ? "answered" : "failed"), 1);
}

void counters_provider_call(struct counters *f, const char *provider, const char *operation,
			    const struct err *e, int64_t ms)
{
	const char *result = !e ? "ok" : e->kind == ERR_TIMEOUT ? "timeout" : "error";

	if (counts(f))
		metric_observe(f->provider_calls, LABELS(provider, operation, result),
			       (double)ms / 1000);
}

/* Returns the value of the label for this PriorityClass. */
static const char *class_label(struct counters *f, const char *class)
{
	if (str_empty(class))
		return "none";
	if (!map_has(f->classes, class) && map_size(f->classes) >= CLASSES)
		return "other";
	map_put(f->classes, class, NULL);
	return class;
}

void counters_pod_placed(struct counters *f, const char *tenant, const char *class, int64_t ms)
{
	if (counts(f) && ms >= 0)
		metric_observe(f->pod_waits, LABELS(tenant, class_label(f, class)),
			       (double)ms / 1000);
}

void counters_pod_ended(struct counters *f, const char *tenant, const char *result)
{
	if (counts(f))
		metric_add(f->pods_ended, LABELS(tenant, result), 1);
}

void counters_first_pod(struct counters *f, int64_t ms)
{
	if (counts(f) && ms >= 0)
		metric_observe(f->first_pods, NULL, (double)ms / 1000);
}

void counters_turn(struct counters *f)
{
	if (counts(f))
		metric_add(f->turns, NULL, 1);
}

void counters_corrected(struct counters *f, const char *kind)
{
	if (f)
		metric_add(f->corrected, LABELS(kind), 1);
}

/* Delays the series of what the leader counts (not those of requests): many are created by their
 * first event, or too shortly before for a scrape. */
static void delay_new_series(struct counters *f)
{
	struct metric *const all[] = {f->state_seconds, f->act_failures, f->claims_created,
				      f->claims_failed, f->claims_warm,	 f->leaves,
				      f->wipes,		f->revoked,	 f->turns,
				      f->transitions,	f->looks,	 f->pod_waits,
				      f->first_pods,	f->drives,	 f->claim_ready,
				      f->returns,	f->pods_ended,	 f->provider_calls};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		metric_delay(all[i], COUNTERS_DELAY_MS);
}

struct counters *counters_new(struct context *c)
{
	struct counters *f = mem_new(struct counters);
	struct metrics *m = c->metrics;

	f->c = c;
	f->since = map_new(free);
	f->classes = map_new(NULL);
	f->state_seconds = metrics_histogram(
		m, "drover_machine_state_seconds",
		"Time that machines spent in a state, observed when they left it.", LABELS("state"),
		seconds, sizeof(seconds) / sizeof(seconds[0]));
	f->turns =
		metrics_counter(m, "drover_machine_turns_total",
				"Ticks: times that the step of a machine's state was run.", NULL);
	f->act_failures =
		metrics_counter(m, "drover_act_failures_total",
				"Failed acts on BMC, fabric or agent.", LABELS("act", "reason"));
	f->claims_created = metrics_counter(m, "drover_claims_created_total", "NodeClaims created.",
					    LABELS("pool"));
	f->claims_failed = metrics_counter(m, "drover_claims_failed_total",
					   "NodeClaims that failed.", LABELS("pool", "reason"));
	/* Beyond the limit a failure loses its pool, but not its reason. */
	metric_limit(f->claims_failed, 10000);
	metric_keep(f->claims_failed, 1);
	f->claims_warm = metrics_counter(
		m, "drover_claims_warm_total",
		"Claims of warm machines, by whether the agent answered or the machine was booted.",
		LABELS("agent"));
	f->leaves = metrics_counter(m, "drover_leaves_total",
				    "Machines that began to leave their tenant, by reason.",
				    LABELS("reason"));
	f->wipes =
		metrics_counter(m, "drover_wipes_total",
				"Wipes that ended with a record, by verdict.", LABELS("verdict"));
	f->revoked = metrics_counter(
		m, "drover_wipes_revoked_total",
		"Wipe records that were revoked because a drive was found with data or canaries.",
		NULL);
	f->audit_lost = metrics_counter(
		m, "drover_audit_entries_lost_total",
		"Changes without an entry in the audit log, because a queue was full or the API "
		"server refused the entry.",
		NULL);
	f->audit_failed = metrics_counter(m, "drover_audit_file_failures_total",
					  "Failed writes of the file of the audit log.", NULL);
	f->corrected = metrics_counter(
		m, "drover_tally_corrections_total",
		"Objects that were counted or indexed wrongly when all were checked; an error in "
		"drover.",
		LABELS("kind"));
	f->transitions = metrics_counter(
		m, "drover_eta_ways_total",
		"Completed machine transitions, by the expected time within which they ended.",
		LABELS("way", "by"));
	f->requests = metrics_counter(
		m, "rest_client_requests_total",
		"Completed requests to API servers, by client (host, tenant), method and status.",
		LABELS("client", "method", "code"));
	f->request_seconds = metrics_histogram(
		m, "rest_client_request_duration_seconds",
		"Duration of requests to API servers, without drover's own queue and without "
		"watches.",
		LABELS("verb", "client"), request_bounds,
		sizeof(request_bounds) / sizeof(request_bounds[0]));
	f->drives = metrics_counter(
		m, "drover_wiped_drives_total",
		"Drives in records of wipes, by the erase technique and the level it earned.",
		LABELS("technique", "result"));
	f->looks = metrics_counter(
		m, "drover_machine_looks_total",
		"Observations of machines' power at their BMC or manager, by outcome.",
		LABELS("provider", "outcome"));
	f->provider_calls = metrics_histogram(
		m, "drover_provider_call_seconds",
		"Duration of calls to a Provider's backend or fabric, by operation and result.",
		LABELS("provider", "operation", "result"), call_bounds,
		sizeof(call_bounds) / sizeof(call_bounds[0]));
	/* Beyond the limit a call loses its Provider and operation, but not its result. */
	metric_keep(f->provider_calls, 2);
	f->pod_waits = metrics_histogram(
		m, "drover_pod_wait_seconds",
		"Time from a pod being marked unschedulable until it had a Node.",
		LABELS("tenant", "priority"), seconds, sizeof(seconds) / sizeof(seconds[0]));
	metric_limit(f->pod_waits, 2000);
	f->pods_ended = metrics_counter(
		m, "drover_gpu_pods_ended_total",
		"Pods with GPUs that ended on machines of drover, by how they ended.",
		LABELS("tenant", "result"));
	/* Beyond the limit an end loses its tenant, but not its result. */
	metric_limit(f->pods_ended, (size_t)COUNTERS_TENANTS * COUNTERS_POD_RESULTS);
	metric_keep(f->pods_ended, 1);
	f->first_pods = metrics_histogram(
		m, "drover_tenant_first_pod_seconds",
		"Time from a VirtualCluster's creation until its first pod ran on a machine.", NULL,
		seconds, sizeof(seconds) / sizeof(seconds[0]));
	f->claim_ready = metrics_histogram(
		m, "drover_claim_ready_seconds",
		"Time from a NodeClaim's creation, or its approval if it needs one, until its "
		"machine served.",
		LABELS("pool"), seconds, sizeof(seconds) / sizeof(seconds[0]));
	f->returns = metrics_histogram(
		m, "drover_machine_return_seconds",
		"Time from the moment a serving machine began to leave until it was free again.",
		LABELS("pool"), seconds, sizeof(seconds) / sizeof(seconds[0]));
	delay_new_series(f);
	return f;
}

void counters_free(struct counters *f)
{
	if (!f)
		return;
	map_free(f->since);
	map_free(f->classes);
	free(f);
}
