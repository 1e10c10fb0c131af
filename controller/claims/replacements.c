/* replacements: records for which claims a replacement was requested, and for which none was
 * found. */
#include "controller/claims/replacements.h"

#include <stdlib.h>

#include "api/annotations.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/approval.h"
#include "controller/core/lookup.h"
#include "controller/rules/claim.h"
#include "planner/replacement.h"

struct replacements {
	struct context *c;
	void (*kick)(void *arg);
	void *arg;
	/* Key: name of the claim to replace; value: struct replacement */
	struct map *wishes;
};

struct replacement {
	/* True: a replacement is requested, and no search for one has been made yet */
	bool asked;
	/* loop_now() until which no new search is made, because the last one found nothing */
	int64_t denied_until;
	/* loop_now() until which to expect that a replacement that was sent appears in the cache */
	int64_t made_until;
};

static bool is_open(const struct replacements *s, const struct replacement *w)
{
	return w->asked || w->made_until > loop_now(s->c->loop);
}

/* True if a replacement for a claim other than this one is to be searched for, or was just sent. */
static bool another_is_first(const struct replacements *s, const char *claim)
{
	struct map_iter it;

	map_for_each (it, s->wishes)
		if (!str_eq(it.key, claim) && is_open(s, it.value) &&
		    CTX_GET(s->c, OBJECT_NODE_CLAIM, node_claim, it.key))
			return true;
	return false;
}

/* Returns what the replacement waits for. A denied one is kept until its denial ends, and its old
 * Node serves meanwhile; then a new one is made, which waits for an approval again. */
static const char *waits_for(const struct context *c, const struct node_claim *found)
{
	switch (approval_of(c, found).state) {
	case APPROVAL_WAITING:
		return "waits until its replacement is approved (drover get claims)";
	case APPROVAL_REFUSED:
		return "its replacement was denied; drover makes another one when the denial ends";
	case APPROVAL_NOT_NEEDED:
	case APPROVAL_GIVEN:
		break;
	}
	return "waits until its replacement is Ready";
}

const char *replacements_awaited(struct replacements *s, const struct node_claim *n)
{
	const struct node_claim *found = claim_replacement_of(s->c, n);
	struct replacement *w = map_get(s->wishes, n->meta.name);

	if (found && /* mutant: stand-in-not-awaited */ claim_is_ready(found))
		return NULL;
	if (found)
		return waits_for(s->c, found);
	if (w && w->denied_until > loop_now(s->c->loop))
		return NULL;
	if (another_is_first(s, n->meta.name))
		return "waits for the replacements of other Nodes";
	if (!w) {
		w = mem_new(struct replacement);
		map_put(s->wishes, n->meta.name, w);
	}
	if (!is_open(s, w)) {
		w->asked = true;
		s->kick(s->arg);
	}
	return "looks for a machine to replace it";
}

static void deny(struct replacements *s, const char *claim, struct replacement *w)
{
	const struct node_claim *n = CTX_GET(s->c, OBJECT_NODE_CLAIM, node_claim, claim);
	const struct machine *m = n ? machine_of_claim(s->c, n) : NULL;

	w->asked = false;
	w->denied_until = loop_now(s->c->loop) + STAND_IN_DENIED_MS;
	if (m)
		notify(s->c, NOTICE_MACHINE, m->meta.name);
}

static void forget_gone(struct replacements *s)
{
	OWN(map) gone = map_new(NULL);
	struct map_iter it;

	map_for_each (it, s->wishes)
		if (!CTX_GET(s->c, OBJECT_NODE_CLAIM, node_claim, it.key))
			map_put(gone, it.key, s);
	map_for_each (it, gone)
		map_del(s->wishes, it.key);
}

const struct node_claim *replacements_plan(struct replacements *s, const struct plan *p,
					   struct world *w, bool waits, struct arena *a,
					   struct plan_claim *out)
{
	const struct node_claim *n;
	struct map_iter it;

	forget_gone(s);
	if (p->nclaims) /* The plan's own claims come first; search after the next plan instead. */
		return NULL;
	map_for_each (it, s->wishes) {
		struct replacement *x = it.value;

		if (!x->asked)
			continue;
		n = CTX_GET(s->c, OBJECT_NODE_CLAIM, node_claim, it.key);
		if (waits || p->nholds || !n || !plan_replacement(w, it.key, a, out)) {
			deny(s, it.key, x);
			continue;
		}
		x->asked = false;
		x->made_until = loop_now(s->c->loop) + STAND_IN_MADE_MS;
		return n;
	}
	return NULL;
}

void replacements_clear(struct replacements *s)
{
	map_clear(s->wishes);
}

bool replacements_is_one(const struct context *c, const struct node_claim *n)
{
	const char *of = labels_get(&n->meta.annotations, CLAIM_REPLACES);
	const struct node_claim *old = of ? CTX_GET(c, OBJECT_NODE_CLAIM, node_claim, of) : NULL;

	return old && !old->meta.deletion_timestamp;
}

struct replacements *replacements_new(struct context *c, void (*kick)(void *arg), void *arg)
{
	struct replacements *s = mem_new(struct replacements);

	*s = (struct replacements){.c = c, .kick = kick, .arg = arg, .wishes = map_new(free)};
	return s;
}

void replacements_free(struct replacements *s)
{
	if (!s)
		return;
	map_free(s->wishes);
	free(s);
}
