#ifndef CONTROLLER_CLAIMS_STOP_LINE_H
#define CONTROLLER_CLAIMS_STOP_LINE_H

#include "api/annotations.h"
#include "controller/core/context.h"

/*
 * stop_line: circuit breaker that pauses new claims where claims fail for a common cause. It trips
 * if the same reason occurs on three machines of one image, pool, provider or rack within 30 min
 * (ImageMismatch: at its first occurrence). The failures that tripped it do not count against the
 * machines. 10 min after the last failure one claim is allowed as a trial, and no other one while
 * the trial is in progress. Each trial that fails doubles the wait, up to 2 h.
 *
 * A provider or rack is paused only if the three machines belong to more than one pool, so that a
 * fault of one pool pauses no other pool. A tenant's own fault (TenantGone ...) never trips the
 * breaker. In booting, joining and gating, a tenant's API server can make claims fail on purpose.
 * Therefore failures in these states that all belong to one tenant neither trip the breaker nor
 * count against a machine, if other tenants have claims in the same scope as well.
 *
 * If only one tenant has had claims in the scope, either the scope or the tenant may be the cause,
 * and the breaker pauses all tenants. The doubled wait then applies to that tenant alone: a claim
 * of another tenant may be the trial from 10 min after the breaker tripped, so that a tenant whose
 * claims keep failing does not block others. If that trial reaches serving, the breaker closes, and
 * the failures count as the first tenant's. If it fails for the same reason, they do not.
 *
 * The breaker closes again (LineStopped False, reason Open) when a claim in the scope reaches
 * serving (condition Initialized, newer than the failures); when the pool or provider is changed,
 * that is, its condition LineStopped is True for an older generation; and by `drover resume`
 * (steps/requests.h). An image has no object of its own: its pool's condition is used, and a new
 * digest is a new image.
 *
 * Everything is derived from status.failures of all Machines, the existing claims and condition
 * LineStopped, which claims/supply_status.c writes, so every leader reaches the same result.
 * Failures from before the condition became False are over: they trip nothing and count against no
 * machine.
 */
/* Reason of a failure and of a quarantine: three claims in a row failed on this machine, for causes
 * in the machine. */
#define STOP_LINE_WORN "FailsRepeatedly"

struct stop_line_place {
	/* NULL: not known */
	const char *pool;
	/* Digest; NULL: not known. */
	const char *image;
	/* NULL: not known */
	const char *provider;
	/* Rack: value of the Machine's label limits.perDomain.key; NULL: none. */
	const char *rack;
	/* NULL: not known */
	const char *tenant;
};
struct stopped_line {
	/* scope: "image", "pool", "rack" or "provider"; name: of that object, or the image's
	 * digest; reason: the common reason, such as "ImageMismatch" */
	const char *scope, *name, *reason;
	/* Number of machines that failed for this reason */
	int64_t machines;
	/* Wall ms from which the next trial is allowed; 0: now, unless a trial is in progress */
	int64_t next;
};

/* Failures, claims and conditions as they are now, for many queries in one loop turn. Allocated in
 * the arena; names point into the caches. */
struct stop_line;
struct stop_line *stop_line_read(const struct context *c, struct arena *a);
/* Counts a claim that was sent but is not in the cache yet. */
void stop_line_claim(struct stop_line *l, const struct node_claim *n);
/* True if a claim may be created in this scope now; why->scope is then not NULL if the claim is a
 * trial. False: *why is what paused it. */
bool stop_line_admits(struct stop_line *l, const struct stop_line_place *p,
		      struct stopped_line *why);
/* Counts a claim that is being created in this scope. */
void stop_line_sent(struct stop_line *l, const struct stop_line_place *p);
/* Returns the wall ms up to which failures of this pool (NULL: any) and provider (NULL: any) are
 * over. */
int64_t stop_line_since(const struct stop_line *l, const char *pool, const char *provider);
/* stop_line_stops_pool(): true if claims of this pool, or of one of its images, are paused.
 * stop_line_stops_provider(): true if claims on machines of this provider, or of one of its racks,
 * are paused. *why then has the cause. */
bool stop_line_stops_pool(struct stop_line *l, const struct node_pool *p, struct stopped_line *why);
bool stop_line_stops_provider(struct stop_line *l, const struct provider_object *p,
			      struct stopped_line *why);

/* A scope in which a tenant may get no new claim now. */
struct stop_line_held {
	/* An image with its pool, a pool, a rack with its provider, or a provider */
	struct stop_line_place at;
	/* Tenant that is paused; NULL: all tenants */
	const char *tenant;
	/* True: all tenants except `tenant` are paused */
	bool others;
	struct stopped_line why;
};
/* Sets *v to all scopes that are paused, in the arena, and returns their number. */
size_t stop_line_list(struct stop_line *l, struct stop_line_held **v);

/* True for a failure that only the tenant can cause: it proves nothing about pool, image or
 * machine. */
bool stop_line_is_tenants(const char *reason);
/* Returns the rack of a machine; NULL: none. */
const char *stop_line_rack(const struct context *c, const struct machine *m);
/* True after three failures in a row that are the machine's own: it has to be quarantined. Of each
 * claim only the first failure counts, not what followed from it. Serving and that quarantine end
 * the row; a wipe does not. */
bool stop_line_machine_worn(const struct context *c, const struct machine *m);

#endif
