#ifndef CONTROLLER_CLAIMS_BREAKER_H
#define CONTROLLER_CLAIMS_BREAKER_H

#include "api/annotations.h"
#include "controller/core/context.h"

/*
 * breaker: circuit breaker that pauses new claims where claims fail for a common cause. A scope
 * is an image, a pool, a Provider or a rack. The breaker of a scope trips if the same reason occurs
 * on three machines of the scope within 30 min (ImageMismatch: at its first occurrence). The
 * failures that tripped it do not count against the machines. 10 min after the last failure one
 * claim is allowed as a trial, and no other one while the trial is in progress. Each trial that
 * fails doubles these 10 min, up to 2 h.
 *
 * A claim that waits for its tenant's approval (core/approval.h) may wait for days. It counts as a
 * trial in progress for its own tenant, but not for other tenants, who make a trial meanwhile. A
 * denied claim counts for nobody.
 *
 * A Provider or rack is paused only if the three machines belong to more than one pool, so that a
 * fault of one pool pauses no other pool. A tenant's own fault (breaker_is_tenants()) never trips
 * the breaker. In the states booting, joining and gating, a tenant's API server can make claims
 * fail on purpose. Therefore failures in these states that all belong to one tenant neither trip
 * the breaker nor count against a machine, if other tenants have claims in the same scope as well.
 *
 * If only one tenant has had claims in the scope, either the scope or the tenant may be the cause,
 * and the breaker pauses all tenants. The doubled time then applies to that tenant alone. A claim
 * of another tenant may be the trial from 10 min after the breaker tripped, so that a tenant whose
 * claims keep failing does not block others. If that trial reaches serving, the breaker closes, and
 * the failures are attributed to the first tenant. If the trial fails for the same reason, the
 * failures are not attributed to the first tenant.
 *
 * The breaker closes again (condition LineStopped False, reason Open) in these cases:
 *
 * - A claim in the scope reaches serving (condition Initialized, newer than the failures).
 * - The pool or Provider is changed: its condition LineStopped is True for an older generation.
 * - An operator runs `drover resume` (steps/requests.h).
 *
 * An image has no object of its own: its pool's condition is used, and a new digest is a new image.
 *
 * Everything is derived from status.failures of all Machines, the existing claims and condition
 * LineStopped, which claims/supply_status.c writes. So every leader reaches the same result.
 * Failures from before the condition became False no longer count: they trip no breaker and count
 * against no machine.
 */
/* Reason of the quarantine of a machine on which three claims in a row failed for causes in the
 * machine; also the reason of that failure. */
#define BREAKER_WORN "FailsRepeatedly"

struct breaker_scope {
	/* Name of the NodePool; NULL: not known */
	const char *pool;
	/* Image digest; NULL: not known */
	const char *image;
	/* Name of the Provider; NULL: not known */
	const char *provider;
	/* Rack: value of the Machine's label limits.perDomain.key; NULL: none. */
	const char *rack;
	/* Name of the tenant; NULL: not known */
	const char *tenant;
};
struct breaker_cause {
	/* scope: "image", "pool", "rack" or "provider"; name: name of the pool, rack or provider,
	 * or the image's digest; reason: the common failure reason, such as "ImageMismatch" */
	const char *scope, *name, *reason;
	/* Number of machines that failed for this reason */
	int64_t machines;
	/* Wall ms from which the next trial is allowed; 0: a trial is allowed now, unless one is
	 * already in progress */
	int64_t next;
	/* True: a claim of the tenant waits for its approval, and is the tenant's trial */
	bool waits;
};

/* Snapshot of the present failures, claims and conditions, for many queries in one loop turn.
 * breaker_read() allocates it in the arena; names point into the caches. */
struct breaker;
struct breaker *breaker_read(const struct context *c, struct arena *a);
/* Counts a claim that was sent but is not in the cache yet. */
void breaker_claim(struct breaker *l, const struct node_claim *n);
/* True if a claim may be created now at p. *why: the tripped breaker, if the claim is its trial;
 * scope NULL: no breaker of these scopes has tripped. False: *why is the breaker that pauses the
 * claim. */
bool breaker_admits(struct breaker *l, const struct breaker_scope *p, struct breaker_cause *why);
/* Counts a claim at p that is being created now. */
void breaker_sent(struct breaker *l, const struct breaker_scope *p);
/* Returns the wall ms up to which failures in this pool and provider no longer count. pool or
 * provider NULL: the condition of that object is ignored. */
int64_t breaker_since(const struct breaker *l, const char *pool, const char *provider);
/* breaker_stops_pool(): true if claims of pool p, or of one of its images, are paused.
 * breaker_stops_provider(): true if claims on machines of Provider p, or of one of its racks, are
 * paused. breaker_stops_images(): true if claims of each image of pool p are paused. All then write
 * the cause to *why. */
bool breaker_stops_pool(struct breaker *l, const struct node_pool *p, struct breaker_cause *why);
bool breaker_stops_images(struct breaker *l, const struct node_pool *p, struct breaker_cause *why);
bool breaker_stops_provider(struct breaker *l, const struct provider_object *p,
			    struct breaker_cause *why);

/* A scope in which new claims are paused now. */
struct breaker_paused {
	/* The scope: an image with its pool, a pool, a rack with its provider, or a provider; other
	 * members are NULL */
	struct breaker_scope at;
	/* Tenant that is paused; NULL: all tenants */
	const char *tenant;
	/* True: all tenants except `tenant` are paused instead */
	bool others;
	struct breaker_cause why;
};
/* Sets *v to a list of all paused scopes, in the arena. Returns its length; if that is 0, *v may be
 * left unset. */
size_t breaker_list(struct breaker *l, struct breaker_paused **v);

/* True for a failure reason that only the tenant can cause: such a failure proves nothing about
 * pool, image or machine. */
bool breaker_is_tenants(const char *reason);
/* Returns the rack of machine m, as in struct breaker_scope; NULL: none. */
const char *breaker_rack(const struct context *c, const struct machine *m);
/* True after three failures in a row that are the machine's own fault: machine m has to be
 * quarantined. Only the first failure of each claim counts, because later ones may follow from it.
 * The count starts anew when the machine serves, or after this quarantine; a wipe does not reset
 * it. */
bool breaker_machine_worn(const struct context *c, const struct machine *m);

#endif
