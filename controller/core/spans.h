#ifndef CONTROLLER_CORE_SPANS_H
#define CONTROLLER_CORE_SPANS_H

#include "base/metrics.h"
#include "base/traces/traces.h"
#include "controller/core/context.h"

/*
 * spans: what drover does, as OpenTelemetry traces. Each NodeClaim is one trace, each Drain is one
 * trace. docs/traces.md lists the spans and their attributes.
 *
 *   claim			root: from the creation of the NodeClaim until its machine serves
 *     claimed, imaging ...	a phase: the machine was in this state
 *       power-on, place ...	an act in this phase, or a request that changed something or failed,
 *				to a BMC or an API server
 *   return			from the end of serving until the machine is free or quarantined
 *     draining, stopping ...	a phase: the machine was in this state
 *
 * Identifiers are derived from the UID of the claim or Drain, the state and the time at which the
 * state began, so that the spans of a claim form one trace although leaders change. The phases
 * after the machine has left its claim are an exception: another leader does not know the claim any
 * more, and sends no spans of them.
 *
 * Only the leader sends spans. All functions accept f NULL and then do nothing. On the loop thread.
 */
struct spans;

/* The collector; see base/traces/traces.h. */
struct spans_spec {
	const char *endpoint;
	/* CAs of the collector, as PEM; NULL: the system's CAs. */
	const char *ca_pem;
	/* Token for the collector; NULL: none. */
	const struct secret *token;
};
/* Observes the HTTP client of c (http_on_ended()), and adds a metric. Returns NULL with *e if the
 * endpoint cannot be used. */
struct spans *spans_new(struct context *c, const struct spans_spec *s, struct err *e);
void spans_free(struct spans *f);

/* Sends the spans of the phase that ended with this change of a Machine. was: the object before,
 * is: the object now; NULL: it did not exist, or no longer does. */
void spans_machine(struct spans *f, const struct machine *was, const struct machine *is);
/* Writes the trace of the claim to which the Machine belongs, as hex digits. False: there is no
 * claim, or traces are off. */
bool spans_trace_of(const struct spans *f, const struct machine *m,
		    char out[static METRICS_TRACE + 1]);
/* Sends the span of a Drain that has ended with this change. */
void spans_drain(struct spans *f, const struct drain *was, const struct drain *is);
/* Sends the span of an act at the Machine. began: loop_now() at its start. e: why it failed; NULL:
 * it did not. */
void spans_act(struct spans *f, const struct machine *m, const char *act, int64_t began,
	       const struct err *e);
/* Sends a span for each request of the call that changes something or fails, as part of what the
 * object does now: the phase of a Machine or of a NodeClaim's machine, or the Drain. Does nothing
 * for other objects, for a machine that serves or belongs to no claim, and without traces. Call in
 * the turn of the loop that started the call. */
struct kube_call;
void spans_call(struct context *c, struct kube_call *call, enum object_kind_id kind,
		const char *name);
/* Logs and counts spans that were lost. Call before the metrics are written. */
void spans_count(struct spans *f);

#endif
