#ifndef CONTROLLER_CLAIMS_STOP_LINE_H
#define CONTROLLER_CLAIMS_STOP_LINE_H

#include "api/annotations.h"
#include "controller/core/context.h"

/*
 * stop_line: pauses new claims where claims fail for a common cause. The same reason on three
 * machines of one image, pool, provider or rack within 30 min (an ImageMismatch at the first) stops
 * the line there, and those failures do not count against the machines. 10 min after the last
 * failure one claim is let through as a trial, and no other while it is on its way. Each trial that
 * fails doubles the wait, up to 2 h.
 *
 * A provider or rack is stopped only when the three machines are of more than one pool: a fault of
 * one pool stops no other. A tenant's own fault (TenantGone ...) stops nothing. In booting, joining
 * and gating a tenant's API can make claims fail on purpose. So failures in these states that are
 * all of one tenant stop nothing, and count against no machine, where other tenants have claims as
 * well.
 *
 * Where only one tenant has had claims, the cause may be the place or the tenant, and the line
 * stops for all. The doubled wait holds for claims of that tenant alone: a claim of another tenant
 * may be the trial from 10 min after the stop on, so a tenant whose claims keep failing does not
 * keep others out. If that trial comes to serve, the line opens, and the failures count as the
 * first tenant's; if it fails alike, they do not.
 *
 * The line opens when a claim there comes to serve (condition Initialized, younger than the
 * failures); when the pool or provider is changed: its condition LineStopped is True of an older
 * generation; and by `drover resume` (steps/requests.h). An image has no object: its pool's stand
 * for it, and another digest is another image.
 *
 * It is derived from status.failures of all Machines, the claims that exist and that condition,
 * which claims/supply_status.c writes, so any leader comes to the same answer. Failures from before
 * it became False are over: they stop nothing and count against no machine.
 */
/* Of failures and quarantine: three claims in a row failed on this machine, for reasons of its
 * own. */
#define STOP_LINE_WORN "FailsRepeatedly"

struct stop_line_place {
	/* of what has been, or whose claim it would be; NULL: not known */
	const char *pool, *image /* digest */, *provider,
		/* rack: value of perDomain.key's label; NULL: none */
		*rack, *tenant;
};
struct stopped_line {
	/* "image", its digest, "ImageMismatch" */
	const char *scope, *name, *reason;
	/* how many have it */
	int64_t machines;
	/* wall ms when one is let through; 0: now, unless one is on its way */
	int64_t next;
};

/* All that is known now, for many questions in one turn of the loop. Lives in the arena, names are
 * the caches'. */
struct stop_line;
struct stop_line *stop_line_read(const struct context *c, struct arena *a);
/* One that no cache has yet. */
void stop_line_claim(struct stop_line *l, const struct node_claim *n);
/* May a claim be made there now? False: *why says what stopped it. True with why->scope not NULL:
 * it is the one that is let through. */
bool stop_line_admits(struct stop_line *l, const struct stop_line_place *p,
		      struct stopped_line *why);
/* a claim is being made there */
void stop_line_sent(struct stop_line *l, const struct stop_line_place *p);
/* Failures of this pool (NULL: any) and provider before this (wall ms) are over. */
int64_t stop_line_since(const struct stop_line *l, const char *pool, const char *provider);
/* What stops claims of this pool, or of an image of it; machines of this provider, or of a rack of
 * it. */
bool stop_line_stops_pool(struct stop_line *l, const struct node_pool *p, struct stopped_line *why);
bool stop_line_stops_provider(struct stop_line *l, const struct provider_object *p,
			      struct stopped_line *why);

/* A place where no claim may be made now, for a tenant. */
struct stop_line_held {
	/* image with its pool; pool; rack with its provider; or provider */
	struct stop_line_place at;
	/* for which it is stopped; NULL: for all */
	const char *tenant;
	/* for all tenants but that one */
	bool others;
	struct stopped_line why;
};
/* Returns all of them, in the arena. */
size_t stop_line_list(struct stop_line *l, struct stop_line_held **v);

/* A failure that its tenant alone has made: it says nothing of pool, image or machine. */
bool stop_line_is_tenants(const char *reason);
/* The rack of a machine, or NULL. */
const char *stop_line_rack(const struct context *c, const struct machine *m);
/* Three failures in a row that are its own: the machine is due for quarantine. Of a claim its first
 * failure counts, what followed from it does not; a wipe ends no row, serving does, and so does
 * that quarantine. */
bool stop_line_machine_worn(const struct context *c, const struct machine *m);

#endif
