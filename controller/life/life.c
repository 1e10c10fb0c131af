/*
 * life: what all parts of a life need: its claim, Provider, time limits and fence.
 * Tests: tests/world/test_review.c, tests/world/test_fence.c
 */
#include <stdlib.h>
#include <string.h>
#include <assert.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

#include "controller/life/life.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/approval.h"
#include "controller/core/claim_index.h"

void life_parts_free(struct life *l)
{
	free(l->attached.error);
	free(l->observation.media_url);
	free(l->observation.http_url);
	free(l->observation.unsensed);
	free(l->observation.fault);
	free(l->observation.session_uri);
	free(l->observation.error);
	free(l->boot.method_for);
	free(l->boot.refused);
	free(l->follow.begun);
	free(l->follow.move);
	free(l->question.answer.err);
	free(l->journal.decided);
	free(l->install);
	free(l->elastic);
	if (l->listing)
		arena_free(l->listing->arena);
	free(l->listing);
}

void life_kick(struct life *l)
{
	loop_defer(&l->tick);
}

const struct provider_object *life_provider(const struct life *l)
{
	const char *name = l->m->spec.provider_ref.name;

	return name ? CTX_GET(l->c, OBJECT_PROVIDER, provider_object, name) : NULL;
}

const struct node_claim *life_claim(const struct life *l)
{
	const struct object_ref *r = l->m->status.claim_ref;
	const struct node_claim *n =
		r ? CTX_GET(l->c, OBJECT_NODE_CLAIM, node_claim, r->name) : NULL;

	return n && str_eq(n->meta.uid, r->uid) ? n : NULL;
}

struct wanting {
	const struct life *l;
	const struct node_claim *found;
};

static bool wants_machine(const struct node_claim *n, void *arg)
{
	struct wanting *w = arg;
	const struct object_ref *r = n->spec.machine_ref;

	if (r && str_eq(r->name, w->l->name) && (!r->uid || str_eq(r->uid, w->l->m->meta.uid)) &&
	    !n->status.machine_ref && !n->meta.deletion_timestamp &&
	    !str_eq(n->status.phase, "Failed") &&
	    /* mutant: unapproved-bound */ approval_admits(w->l->c, n))
		w->found = n;
	return !w->found;
}

const struct node_claim *life_claim_wanting(const struct life *l)
{
	struct wanting w = {.l = l};

	claim_index_each(l->c, CLAIM_BY_MACHINE, l->name, wants_machine, &w);
	return w.found;
}

int64_t life_deadline(const struct life *l)
{
	return l->m->status.operation ? l->m->status.operation->deadline : 0;
}

void life_set_time(json_t *o, const char *key, int64_t ms)
{
	char t[STR_TIME_SIZE];

	json_object_set_new(o, key, ms ? json_string(str_time(t, ms)) : json_null());
}

int64_t life_fence(const struct life *l)
{
	int64_t f = l->m->status.operation ? l->m->status.operation->fence : 0;

	return l->journal.took_over ? f : f + 1;
}

bool life_is_managed(const struct life *l)
{
	return l->driver && l->driver->provider && provider_is_managed(l->driver->provider);
}

void life_operation_id(struct life *l, char out[static 33])
{
	uint8_t b[16];

	loop_random_bytes(l->c->loop, b, sizeof(b));
	str_hex(out, b, sizeof(b));
}

/* Returns the number of bytes that are wiped one after the other together with drive `of` of list
 * *v. These are the bytes of all entries with the serial number of this drive, that is, of all its
 * namespaces; without a serial number, the bytes of this entry alone. */
static int64_t bytes_in_turn(const struct object_drives *v, size_t of)
{
	int64_t bytes = 0;

	for (size_t i = 0; i < v->n; i++)
		if (i == of || (!str_empty(v->v[i].serial_number) &&
				str_eq(v->v[i].serial_number, v->v[of].serial_number)))
			if (__builtin_add_overflow(bytes, v->v[i].bytes, &bytes))
				return INT64_MAX;
	return bytes;
}

/* Returns the time limit for wiping: the time to overwrite the largest drive at a low rate, such as
 * that of a disk on its inner tracks or of QLC flash without its cache. No drive stays below this
 * rate for long. The agent gives up a stalled drive much earlier. */
static int64_t wipe_limit_ms(const struct machine *m)
{
	const struct object_drives *v = &m->spec.drives;
	int64_t most = machine_state_info[MACHINE_WIPING].limit_s * 1000;

	for (size_t i = 0; i < v->n; i++) {
		int64_t per_ms = str_eq(v->v[i].type, "NVMe") ? 500000 : 100000;
		int64_t ms = bytes_in_turn(v, i) / per_ms;

		if (ms > most)
			most = ms;
	}
	return most < LIFE_WIPE_MOST_MS ? most : LIFE_WIPE_MOST_MS;
}

int64_t life_limit_ms(const struct life *l, enum machine_state s)
{
	const struct node_claim *n = life_claim(l);
	const struct provider_object *p = life_provider(l);
	int64_t ms = machine_state_info[s].limit_s * 1000;

	if (n && s == MACHINE_IMAGING && n->spec.deadlines.imaging > 0)
		ms = n->spec.deadlines.imaging;
	else if (n && s == MACHINE_BOOTING && n->spec.deadlines.booting > 0)
		ms = n->spec.deadlines.booting;
	else if (n && s == MACHINE_JOINING && n->spec.deadlines.joining > 0)
		ms = n->spec.deadlines.joining;
	else if (n && s == MACHINE_GATING && n->spec.deadlines.gating > 0)
		ms = n->spec.deadlines.gating;
	else if (s == MACHINE_WIPING)
		ms = p && p->spec.wipe.deadline > 0 ? p->spec.wipe.deadline : wipe_limit_ms(l->m);
	else if (n && s == MACHINE_DRAINING && n->spec.termination_grace_period)
		ms = n->spec.termination_grace_period > 0 ? n->spec.termination_grace_period : 0;
	return ms;
}

void life_drop_work(struct life *l)
{
	if (l->work.of)
		l->work.free(l->work.of);
	l->work.of = NULL;
}
