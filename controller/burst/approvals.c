/* approvals: reads the ledgers anew for each decision, because they are few. */
#include "controller/burst/approvals.h"

#include "base/str.h"

#define SECOND_MS 1000

struct search {
	struct burst_work *w;
	int64_t now;
	struct arena *arena;
	const char **names;
	size_t n;
};

/* True if the approval is for work w as it waits now. Times in objects have a resolution of one
 * second. */
static bool counts(const struct burst_ledger_approval *x, const struct burst_work *w, int64_t now)
{
	return str_eq(x->tenant, w->tenant) && str_eq(x->work, w->name) &&
	       /* mutant: burst-approval-kept */ now - x->time < BURST_APPROVAL_MS &&
	       /* mutant: burst-approval-inherited */ x->time / SECOND_MS >= w->since / SECOND_MS;
}

/* Returns "approved by alice: paper deadline". */
static const char *words_of(const struct burst_ledger_approval *x, struct arena *a)
{
	return arena_printf(a, "approved by %.200s%s%.300s", x->by,
			    str_empty(x->reason) ? "" : ": ", str_or(x->reason, ""));
}

static bool look_at(const struct kube_entry *en, void *arg)
{
	const struct burst_ledger *l = en->object;
	struct search *s = arg;

	for (size_t i = 0; i < l->spec.approvals.n; i++)
		if (counts(&l->spec.approvals.v[i], s->w, s->now)) {
			s->names[s->n++] = l->meta.name;
			s->w->approval = words_of(&l->spec.approvals.v[i], s->arena);
			break;
		}
	return true;
}

static bool count_one(const struct kube_entry *en, void *arg)
{
	(void)en;
	++*(size_t *)arg;
	return true;
}

void burst_approvals_put(const struct context *c, struct burst_work *w, struct arena *a)
{
	struct search s = {.w = w, .now = loop_wall(c->loop), .arena = a};
	size_t ledgers = 0;

	kube_cache_each(c->cache[OBJECT_BURST_LEDGER], count_one, &ledgers);
	s.names = arena_calloc(a, ledgers + 1, sizeof(*s.names));
	kube_cache_each(c->cache[OBJECT_BURST_LEDGER], look_at, &s);
	w->approved_by = (struct burst_names){s.names, s.n};
}
