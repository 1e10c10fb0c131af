/* ledgers: has one entry for each BurstLedger that changed, until its reset is complete. */
#include "controller/burst/ledgers.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/burst/settle.h"
#include "controller/core/reconciled.h"

#define AGAIN_MS 2000

struct ledgers {
	struct context *c;
	/* Key: name of a BurstLedger; value: struct kept_ledger */
	struct map *entries;
};

struct kept_ledger {
	/* The object is the BurstLedger. */
	struct reconciled it;
	struct ledgers *owner;
};

static bool is_asked(const struct burst_ledger *l)
{
	const struct burst_ledger_reset *r = l->spec.reset;

	return r && !(l->status.resets.n && str_eq(l->status.resets.v[0].id, r->id));
}

static void on_written(json_t *o, const struct err *e, void *arg)
{
	struct kept_ledger *en = arg;
	struct context *c = en->owner->c;
	const struct burst_ledger *l = CTX_GET(c, OBJECT_BURST_LEDGER, burst_ledger, en->it.name);
	const struct burst_ledger_done *r =
		!e && l && l->status.resets.n ? &l->status.resets.v[0] : NULL;
	OWN(arena) a = arena_new();

	(void)o;
	if (r) {
		log_info("burst ledger reset", LOG_S("policy", en->it.name), LOG_S("by", r->by),
			 LOG_S("reason", r->reason));
		ctx_event(c, OBJECT_BURST_LEDGER, &l->meta, "Warning", "Reset",
			  arena_printf(a, "reset by %s: %s", r->by, r->reason));
	}
	loop_timer_start(&en->it.timer, e ? AGAIN_MS : 0);
}

/* Returns the new status.resets: one entry for this reset, then the entries of l. amounts: cost
 * removed by the reset, one text per currency. */
static json_t *resets_of(const struct burst_ledger *l, const struct strings *amounts, int64_t now,
			 struct arena *a)
{
	struct burst_ledger out = {.meta.name = ""};
	const size_t kept = l->status.resets.n < BURST_LEDGER_RESETS - 1 ? l->status.resets.n
									 : BURST_LEDGER_RESETS - 1;
	struct burst_ledger_done *v = arena_calloc(a, kept + 1, sizeof(*v));
	OWN_JSON o = NULL;

	v[0] = (struct burst_ledger_done){.time = now,
					  .id = l->spec.reset->id,
					  .by = l->spec.reset->by,
					  .reason = l->spec.reset->reason,
					  .amounts = *amounts};
	for (size_t i = 0; i < kept; i++)
		v[i + 1] = l->status.resets.v[i];
	out.status.resets.v = v;
	out.status.resets.n = kept + 1;
	o = fields_encode(object_kinds[OBJECT_BURST_LEDGER].fields, &out);
	return json_incref(json_at(o, "status", "resets"));
}

static void reset(struct kept_ledger *en, const struct burst_ledger *l)
{
	struct context *c = en->owner->c;
	OWN(arena) a = arena_new();
	struct strings amounts;
	const struct settle_list kept = settle_forget(l, settle_is_there, c, &amounts, a);

	writer_status(&en->it.write, OBJECT_BURST_LEDGER, &l->meta,
		      json_pack("{s:o, s:o}", "rows", settle_encode(&kept), "resets",
				resets_of(l, &amounts, loop_wall(c->loop), a)),
		      on_written);
}

static void look(void *arg)
{
	struct kept_ledger *en = arg;
	struct context *c = en->owner->c;
	const struct burst_ledger *l = CTX_GET(c, OBJECT_BURST_LEDGER, burst_ledger, en->it.name);

	if (writer_busy(&en->it.write))
		return;
	if (!l || !is_asked(l)) {
		map_del(en->owner->entries, en->it.name);
		return;
	}
	if (ctx_may_act(c) && c->ready)
		reset(en, l);
	else
		loop_timer_start(&en->it.timer, AGAIN_MS);
}

void ledgers_kick(struct ledgers *s, const char *name)
{
	struct kept_ledger *en = reconciled_get(s->entries, name, sizeof(*en), s->c, look);

	en->owner = s;
	reconciled_kick(&en->it);
}

struct ledgers *ledgers_new(struct context *c)
{
	struct ledgers *s = mem_new(struct ledgers);

	s->c = c;
	s->entries = map_new(reconciled_free);
	return s;
}

void ledgers_free(struct ledgers *s)
{
	if (!s)
		return;
	map_free(s->entries);
	free(s);
}
