/*
 * listing: reads the BMC's list of drives, a few drives in each call, and stores it for the present
 * boot of the agent.
 * Tests: tests/world/test_listed.c
 */
#include <stdlib.h>
#include <string.h>

#include "controller/life/listing.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/life/bmc.h"
#include "controller/life/bmc_open.h"
#include "controller/life/bmc_reason.h"
#include "controller/life/journal.h"
#include "providers/provider.h"

/*
 * Limits for reading the list, because drover can also work without the list. drover believes the
 * answer that the BMC does not serve the list when it comes for the second time, because a BMC may
 * still collect its inventory after the power-on. If a BMC answers other reads and fails at this
 * one (timeouts, 503), drover gives up the list after FAILED_TRIES calls.
 */
#define LACKING_TRIES 2
#define FAILED_TRIES 3
#define AGAIN_MS 2000
/* longest pause between two calls, even if the BMC asks for a longer one */
#define AGAIN_MOST_MS 5000
#define DAY_MS (24 * 3600 * INT64_C(1000))
/* longest time for which the list is read again because of drives that the agent does not see: a
 * BMC may still show drives from before the power-on */
#define PATIENCE_MS (3 * 60 * 1000)
#define LOOK_AGAIN_MS (30 * 1000)

void life_listing_forget(struct life *l)
{
	if (l->listing)
		arena_free(l->listing->arena);
	free(l->listing);
	l->listing = NULL;
}

static struct life_listing *listing_of(struct life *l)
{
	if (!l->listing) {
		l->listing = mem_new(struct life_listing);
		l->listing->backoff =
			(struct backoff){.base_ms = AGAIN_MS, .cap_ms = AGAIN_MOST_MS};
	}
	return l->listing;
}

void life_listing_retry(struct life *l)
{
	struct life_listing *k = l->listing;

	if (!k)
		return;
	k->known = false;
	k->says = LISTING_NOT_ASKED;
	k->lacking = k->failed = 0;
	k->after = 0;
	backoff_reset(&k->backoff);
}

static void begin(struct life *l)
{
	char boot[sizeof(l->listing->boot)];
	const struct machine_operation *op = l->m->status.operation;

	str_format(boot, sizeof(boot), "%s/%lld", str_or(op->id, ""), (long long)op->boot_number);
	if (l->listing && str_eq(l->listing->boot, boot))
		return;
	life_listing_forget(l);
	str_copy(listing_of(l)->boot, sizeof(boot), boot);
}

static const char *kept(struct arena *a, const char *text)
{
	char *copy = text ? arena_strdup(a, text) : NULL;

	if (copy)
		str_clean(copy);
	return copy;
}

static void keep(struct life_listing *k, const struct provider_observation *o)
{
	arena_free(k->arena);
	k->arena = arena_new();
	k->v = arena_calloc(k->arena, o->ndrives + 1, sizeof(*k->v));
	k->n = o->ndrives;
	for (size_t i = 0; i < k->n; i++) {
		const struct provider_drive *d = &o->drives[i];

		k->v[i] = (struct listed_drive){.serial = kept(k->arena, d->serial),
						.model = kept(k->arena, d->model),
						.durable = kept(k->arena, d->durable),
						.slot = kept(k->arena, d->slot),
						.bytes = d->bytes,
						.volume = kept(k->arena, d->volume),
						.volume_durable = kept(k->arena, d->volume_durable),
						.volume_bytes = d->volume_bytes};
	}
	k->known = true;
}

static const struct provider_observation none = {0};

static void say(struct life *l, int says)
{
	listing_of(l)->says = says;
	l->listing->said_at = loop_wall(l->c->loop);
}

/* Returns the record in status.bmc that the BMC does not serve the list; NULL: no record, or older
 * than a day. */
static const struct machine_unlisted *remembered(const struct life *l)
{
	const struct machine_unlisted *u = l->m->status.bmc.drives_not_listed;
	int64_t age = u ? loop_wall(l->c->loop) - u->observed_time : 0;

	return u && age >= 0 && age < DAY_MS ? u : NULL;
}

static void log_gap(const struct life *l, const char *text)
{
	log_warn(text, LOG_S("machine", l->name), LOG_E(&l->listing->error));
}

/* Handles the answer of a BMC that it does not serve the list (whole is true), or not all of it
 * (whole is false). o: the drives that the BMC lists nevertheless. Believes the second such
 * answer. */
static void on_lacking(struct life *l, const struct provider_observation *o, bool whole)
{
	struct life_listing *k = listing_of(l);

	if (++k->lacking < LACKING_TRIES) {
		k->after = loop_now(l->c->loop) + AGAIN_MS;
		return;
	}
	keep(k, o);
	say(l, whole ? LISTING_LACKS : LISTING_SERVED);
	log_gap(l, o->ndrives ? "BMC lists only part of its drives" : "BMC lists no drives");
}

static void on_failed(struct life *l, const struct err *e)
{
	struct life_listing *k = listing_of(l);
	int64_t wait = backoff_next(&k->backoff, loop_random(l->c->loop));

	if (wait < (int64_t)e->retry_after_ms)
		wait = e->retry_after_ms;
	if (wait > AGAIN_MOST_MS)
		wait = AGAIN_MOST_MS;
	k->failed++;
	k->failed_at = loop_now(l->c->loop);
	k->after = k->failed_at + wait;
}

static void on_listed(const struct provider_observation *o, const char *handle, const struct err *e,
		      void *arg)
{
	struct life *l = arg;
	struct life_listing *k = listing_of(l);

	(void)handle;
	k->busy = false;
	if (e)
		k->error = *e;
	else
		k->failed = 0;
	if (o && o->drives_more) {
		backoff_reset(&k->backoff);
	} else if (o && o->drives_lack && o->drives_lack->code) {
		k->error = *o->drives_lack;
		on_lacking(l, o, o->drives_simple);
	} else if (o) {
		/* store the list: it is whole, or lacks only a part that status.bmc already records
		 * as missing */
		keep(k, o);
		if (!o->drives_lack)
			say(l, LISTING_SERVED);
	} else if (e->kind == ERR_UNSUPPORTED && e->code) {
		on_lacking(l, &none, true);
	} else if (e->kind == ERR_UNSUPPORTED || e->kind == ERR_NOT_FOUND) {
		/* no BMC of this type lists drives, or status.bmc already records this answer */
		keep(k, &none);
	} else {
		on_failed(l, e);
	}
	life_kick(l);
}

/* Gives up the list of a BMC that answers other reads but fails at this one: sends an event, and
 * stores an empty list. */
static void let_be(struct life *l)
{
	log_gap(l, "BMC lists no drives");
	ctx_event(l->c, OBJECT_MACHINE, &l->m->meta, "Warning", "DrivesNotListed",
		  l->listing->error.text);
	keep(listing_of(l), &none);
}

/* Call after FAILED_TRIES failed calls. Gives up the list, and returns true, if the BMC has
 * answered an observation since the last failed call: this shows that only this request fails.
 * Otherwise starts the observation and returns false. If `waits` is false, does nothing and returns
 * false. */
static bool ensure_given_up(struct life *l, bool waits)
{
	if (!waits || !life_ensure_observed(l, loop_now(l->c->loop) - l->listing->failed_at))
		return false;
	let_be(l);
	return true;
}

/* True if l->listing contains the list of this boot, or drover has given it up. Otherwise continues
 * to read the list and returns false. waits: true if the machine waits for the list; status then
 * shows why. */
static bool ensure_listed(struct life *l, bool waits)
{
	struct life_listing *k;
	const struct machine_unlisted *u = remembered(l);
	struct provider_call call = {.op_id = str_or(l->m->status.operation->id, "drives"),
				     .unless_firmware = u ? str_or(u->firmware_version, "") : NULL,
				     .done = on_listed,
				     .arg = l};
	enum reason why;
	char text[400];
	int64_t left;

	begin(l);
	k = l->listing;
	left = k->after - loop_now(l->c->loop);
	if (k->known || !l->m->spec.bmc)
		return true;
	if (k->busy)
		return false;
	if (k->failed >= FAILED_TRIES)
		return ensure_given_up(l, waits);
	if (left > 0 && waits) {
		loop_timer_start(&l->timer, left);
		if (k->failed > 1)
			life_wait(l, WAITING_DEVICE,
				  k->error.code >= 400 && k->error.code < 600
					  ? REASON_BmcBusy
					  : life_bmc_reason(&k->error),
				  "%s", k->error.text);
	}
	if (left > 0 || !(waits ? life_ensure_bmc_open(l, false) : life_bmc_is_open(l, &why, text)))
		return false;
	/* Observe the BMC before the first call: only an observation writes the session that drover
	 * opens at the BMC to the journal. */
	if (!l->observation.known && !life_ensure_observed(l, -1))
		return false;
	k->busy = true;
	provider_drives(l->driver->provider, l->bmc, &call);
	return false;
}

bool life_ensure_listed(struct life *l)
{
	return ensure_listed(l, true);
}

bool life_listing_ask(struct life *l)
{
	return ensure_listed(l, false);
}

/* Writes to *e the first two of those drives for which spec does not account. Returns the number of
 * all such drives. */
static size_t name_missing(const struct life *l, const struct listed_unseen *u, size_t n,
			   struct err *e)
{
	OWN(arena) a = arena_new();
	const char *text = "";
	size_t missing = 0;

	for (size_t i = 0; i < n; i++) {
		if (listed_accounted(l->m, u[i].id))
			continue;
		if (missing++ < 2)
			text = arena_printf(a, "%s%s%s", text, *text ? ", " : "",
					    listed_text(&u[i], a));
	}
	if (missing > 2)
		text = arena_printf(a, "%s and %zu more", text, missing - 2);
	err_note(e, ERR_INVALID, 0, "the BMC lists drives that the agent does not see: %s", text);
	return missing;
}

bool life_ensure_listed_seen(struct life *l, const struct listed_unseen *u, size_t n, bool *misfit,
			     struct err *e)
{
	struct life_listing *k = listing_of(l);
	int64_t now = loop_now(l->c->loop);

	*misfit = false;
	/* mutant: listed-unasked */
	if (!name_missing(l, u, n, e))
		return true;
	if (!k->differs_since)
		k->differs_since = now;
	if (now - k->differs_since >= PATIENCE_MS) {
		*misfit = true;
		return false;
	}
	k->known = false;
	k->lacking = 0;
	k->after = now + LOOK_AGAIN_MS;
	life_wait(l, WAITING_DEVICE, REASON_DriveMissing, "%s; drover asks the BMC again", e->text);
	return false;
}
