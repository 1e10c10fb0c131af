#ifndef CONTROLLER_HARDWARE_FLEET_H
#define CONTROLLER_HARDWARE_FLEET_H

#include "controller/hardware/driver.h"

/*
 * fleet: what the elastic Providers have: offers, and the instances that carry this cluster's tag;
 * one list for all Machines of a Provider, each of which says how young it has to be.
 *
 *   NodeClaim with spec.providerRef --> Machine of the claim's name, whose life launches and ends (steps/elastic.c)
 *   listed, and neither its Machine nor its claim is there, as the API itself says --> ended here (S4)
 *
 * What is not listed is not known to be gone: clouds show late what they launched. On the loop
 * thread.
 * Tests: tests/world/test_elastic.c
 */
/* From the first list that shows an instance as nobody's until it is ended, at most. */
#define FLEET_REAP_MS (5 * 60 * 1000)

struct fleet;
struct fleet *fleet_new(struct context *c, struct drivers *ds);
void fleet_free(struct fleet *f);
/* a claim, a Machine or a Provider changed */
void fleet_kick(struct fleet *f);
void fleet_closing(struct fleet *f, const struct driver *s);

/* UID of the host cluster's kube-system, by which what is owned is tagged; NULL: not read yet. */
const char *fleet_cluster(const struct fleet *f);

/* There is a list that was asked for at or after `since` (loop_now()). False: it is asked for, and
 * the Machines of the Provider are told when it is there. */
bool fleet_ensure_listed(struct fleet *f, const char *provider, int64_t since);
/* Why the Provider launches nothing, as its cloud said or did not say; NULL: nothing speaks against
 * it. Gone with its driver. f NULL: there are no clouds. */
const struct err *fleet_trouble(const struct fleet *f, const char *provider);
/* In the newest list: by its id where that is known, else one of that claim that is not ending;
 * NULL: none. */
const struct elastic_instance *fleet_find(const struct fleet *f, const char *provider,
					  const char *claim_uid, const char *id);

/* The cheapest offer of the type whose price is known and that nothing speaks against now. NULL:
 * why says what does; it is looked at again. */
const struct elastic_offer *fleet_offer(struct fleet *f, const char *provider, const char *type,
					char *why, size_t size);
/* Returns why no offer of the type can be had now, as far as the last list and the refusals since
 * say; NULL: one can be had, or nothing is known. *until: Unix ms at which a refused offer is tried
 * again; 0: not known. Asks the cloud nothing. f may be NULL. */
const char *fleet_no_offer(const struct fleet *f, const char *provider, const char *type,
			   int64_t *until);
/* That very offer, as it was told less than a minute ago, where nothing speaks against it now and
 * it costs at most so much; no_offer: it is known that there is none. NULL: why says what does. */
struct fleet_want {
	const char *region, *zone, *type, *currency;
	enum elastic_market market;
	/* -1: whatever it costs */
	int64_t micros_per_hour;
};
const struct elastic_offer *fleet_offer_of(struct fleet *f, const char *provider,
					   const struct fleet_want *w, bool *no_offer, char *why,
					   size_t size);
/* All that it offers, as it said last, at that wall time; 0: it has not said yet; answered: it was
 * asked, and did or failed. Older ones than a minute are asked for anew; valid until the loop's
 * next turn. */
const struct elastic_offer *fleet_offers(struct fleet *f, const char *provider, size_t *n,
					 int64_t *at, bool *answered);
/* It was refused: for a while not asked for again, nor what the error's scope takes in. */
void fleet_cool(struct fleet *f, const char *provider, const struct elastic_offer *o,
		const struct err *e);

/* What was refused since this replica began, the last 64 of each Provider. */
struct fleet_refusal {
	/* region, zone, type NULL: any */
	const char *provider, *region, *zone, *type;
	bool quota;
	/* wall ms */
	int64_t at;
};
void fleet_refusals(const struct fleet *f, void (*fn)(const struct fleet_refusal *x, void *arg),
		    void *arg);

#endif
