/*
 * listing: asks the BMC for its drives, a few at a time, and keeps them for this boot of the agent.
 */
#include <string.h>

#include "controller/life/listing.h"
#include "base/log.h"
#include "base/str.h"
#include "controller/life/bmc.h"
#include "controller/life/bmc_open.h"
#include "controller/life/bmc_reason.h"
#include "controller/life/journal.h"

#define TRIES 6 /* in a row in which a BMC that answers fails at this */
/* ... so long after one another at most: by then the agent runs, and the BMC has had the time since the power came. */
#define FAILS_AGAIN_MS 4000
#define PATIENCE_MS (3 * 60 * 1000) /* for what it shows of the time before the power came */
#define LOOK_AGAIN_MS (30 * 1000)

void life_listing_forget(struct life *l)
{
	arena_free(l->listing.arena);
	l->listing = (struct life_listing){.backoff = {.base_ms = 2000, .cap_ms = 30000}};
}

static void begin(struct life *l)
{
	char boot[sizeof(l->listing.boot)];
	const struct machine_operation *op = l->m->status.operation;

	str_format(boot, sizeof(boot), "%s/%lld", str_or(op->id, ""), (long long)op->boot_number);
	if (str_eq(l->listing.boot, boot))
		return;
	life_listing_forget(l);
	str_copy(l->listing.boot, sizeof(l->listing.boot), boot);
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

static void on_listed(const struct provider_observation *o, const char *handle, const struct err *e,
		      void *arg)
{
	static const struct provider_observation none = {0};
	struct life *l = arg;
	struct life_listing *k = &l->listing;
	int64_t wait;

	(void)handle;
	k->busy = false;
	if (!e) {
		k->failed = 0;
		backoff_reset(&k->backoff);
		if (!o->drives_more)
			keep(k, o);
	} else if (e->kind == ERR_UNSUPPORTED || e->kind == ERR_NOT_FOUND) {
		keep(k, &none);
	} else {
		k->error = *e;
		k->failed++;
		wait = backoff_next(&k->backoff, loop_random(l->c->loop));
		if (e->code >= 500 && wait > FAILS_AGAIN_MS)
			wait = FAILS_AGAIN_MS;
		k->after = loop_now(l->c->loop) + wait;
	}
	life_kick(l);
}

/* It answers, and fails at this. */
static void let_be(struct life *l)
{
	static const struct provider_observation none = {0};

	log_warn("BMC lists no drives", LOG_S("machine", l->name), LOG_E(&l->listing.error));
	ctx_event(l->c, OBJECT_MACHINE, &l->m->meta, "Warning", "DrivesNotListed",
		  l->listing.error.text);
	keep(&l->listing, &none);
}

bool life_ensure_listed(struct life *l)
{
	struct life_listing *k = &l->listing;
	struct provider_call call = {
		.op_id = str_or(l->m->status.operation->id, "drives"), .done = on_listed, .arg = l};

	begin(l);
	if (k->known || !l->m->spec.bmc)
		return true;
	if (k->busy)
		return false;
	if (k->failed >= TRIES && k->error.kind != ERR_DENIED && k->error.code >= 500) {
		let_be(l);
		return true;
	}
	if (loop_now(l->c->loop) < k->after) {
		if (k->failed > 1)
			life_wait(l, WAITING_DEVICE, life_bmc_reason(&k->error), "%s",
				  k->error.text);
		return false;
	}
	if (!life_ensure_bmc_open(l, false))
		return false;
	/* Its session is in the journal first: it is a look that tells it. */
	if (!l->look.known && !life_ensure_looked(l, -1))
		return false;
	k->busy = true;
	provider_drives(l->driver->provider, l->bmc, &call);
	return false;
}

/* The first two by name. */
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
	(void)!err_set(e, ERR_INVALID, 0, "its BMC lists what the agent does not see: %s", text);
	return missing;
}

bool life_ensure_listed_seen(struct life *l, const struct listed_unseen *u, size_t n, bool *misfit,
			     struct err *e)
{
	struct life_listing *k = &l->listing;
	int64_t now = loop_now(l->c->loop);

	*misfit = false;
	if (!name_missing(l, u, n, e))
		return true;
	if (!k->differs_since)
		k->differs_since = now;
	if (now - k->differs_since >= PATIENCE_MS) {
		*misfit = true;
		return false;
	}
	k->known = false;
	k->after = now + LOOK_AGAIN_MS;
	life_wait(l, WAITING_DEVICE, REASON_DriveMissing, "%s; it is asked again", e->text);
	return false;
}
