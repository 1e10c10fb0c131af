/*
 * audit_entries: compares two versions of an object. Texts that an entry cannot hold are truncated.
 * Tests: tests/unit/controller/core/test_audit_entries.c
 */
#include "controller/core/audit_entries.h"

#include <string.h>

#include "api/annotations.h"
#include "api/machine_states.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

#define DROVER "drover"
#define UNKNOWN "unknown"
#define OURS "drover.dev/"
/* Longest texts, in bytes of audit_char_bytes(). */
#define WHO_MAX 253
#define FIELD_MAX 317
#define TEXT_MAX 512
#define OPERATION_MAX 128
#define PROGRAM_MAX 128
/* Names of changed fields have at most this many parts, as in template.spec.images. */
#define DEPTH_MAX 3

struct change {
	struct arena *a;
	enum object_kind_id kind;
	const void *old, *new_;
	/* metadata of old and new_; NULL: no such object */
	const struct object_meta *was, *is;
	struct audit_entry about;
	void (*add)(const struct audit_entry *e, void *arg);
	void *arg;
};

/* Returns s, or a copy of its beginning that has at most `max` bytes of audit_char_bytes(), and no
 * broken character at the end. */
static const char *cut(const char *s, size_t max, struct arena *a)
{
	size_t n = 0;

	if (!s)
		return NULL;
	for (size_t bytes = 0; s[n]; n++) {
		bytes += audit_char_bytes(s[n]);
		if (bytes > max)
			break;
	}
	if (!s[n])
		return s;
	while (n && (s[n] & 0xc0) == 0x80)
		n--;
	return arena_strndup(a, s, n);
}

static const char *tenant_of(enum object_kind_id kind, const void *object)
{
	switch (kind) {
	case OBJECT_MACHINE:
		return ((const struct machine *)object)->status.tenant.name;
	case OBJECT_NODE_CLAIM:
		return ((const struct node_claim *)object)->spec.virtual_cluster_ref.name;
	case OBJECT_VIRTUAL_CLUSTER:
		return object_meta_of(object)->name;
	case OBJECT_WIPE_RECORD:
		return ((const struct wipe_record *)object)->spec.evidence.virtual_cluster.name;
	case OBJECT_NODE_POOL:
	case OBJECT_PROVIDER:
	case OBJECT_DRAIN:
	case OBJECT_BURST_POLICY:
	case OBJECT_BURST_LEDGER:
	case OBJECT_AUDIT_SEGMENT:
	case OBJECT_KINDS:
		break;
	}
	return NULL;
}

struct audit_entry audit_entries_about(enum object_kind_id kind, const void *object, int64_t now)
{
	const struct object_meta *m = object_meta_of(object);

	return (struct audit_entry){.kind = object_kinds[kind].kind,
				    .name = m->name,
				    .uid = m->uid,
				    .tenant = tenant_of(kind, object),
				    .version = m->resource_version,
				    .time = now,
				    .who = DROVER};
}

const char *audit_entries_state(enum object_kind_id kind, const void *object, const char **field)
{
	const struct node_claim *n = object;
	const struct drain *d = object;

	if (field)
		*field = kind == OBJECT_MACHINE ? "status.state" : "status.phase";
	if (kind == OBJECT_MACHINE)
		return ((const struct machine *)object)->status.state;
	if (kind == OBJECT_DRAIN && d->status.phase >= 0)
		return drain_phase_names[d->status.phase];
	return kind == OBJECT_NODE_CLAIM && str_eq(n->status.phase, "Failed") ? "Failed" : NULL;
}

bool audit_entries_has_spec(enum object_kind_id kind)
{
	return kind == OBJECT_NODE_POOL || kind == OBJECT_PROVIDER ||
	       kind == OBJECT_VIRTUAL_CLUSTER || kind == OBJECT_BURST_POLICY ||
	       kind == OBJECT_BURST_LEDGER || kind == OBJECT_DRAIN || kind == OBJECT_MACHINE;
}

/* --- who and why ------------------------------------------------------------------------------ */

/* Returns the user whom the annotation AUDIT_REQUESTED_BY of this change names; NULL: the change
 * did not set the annotation. An object other than a Drain may have been restored with the name of
 * whoever changed it before the backup, so its creation names nobody (deploy/rbac.yaml). */
static const char *requester(const struct change *c)
{
	const char *now = c->is ? labels_get(&c->is->annotations, AUDIT_REQUESTED_BY) : NULL,
		   *then = c->was ? labels_get(&c->was->annotations, AUDIT_REQUESTED_BY) : NULL,
		   *end = now ? strrchr(now, ' ') : NULL;

	if (!end || end == now || str_eq(now, then) || (!c->was && c->kind != OBJECT_DRAIN))
		return NULL;
	return arena_strndup(c->a, now, (size_t)(end - now));
}

/* Returns the program that made this change of spec or metadata; NULL: not known. A write moves the
 * time of its program's entry in metadata.managedFields, unless the write only removes fields of
 * other programs. Therefore an entry that was there before the change names nobody. */
static const char *program(const struct change *c)
{
	if (!c->is || (c->was && (!c->was->written || c->is->written <= c->was->written)))
		return NULL;
	return c->is->writer;
}

/* True if drover created the object, as far as the object shows. */
static bool is_drovers(const struct change *c)
{
	const struct object_meta *m = c->is ? c->is : c->was;

	return c->kind == OBJECT_WIPE_RECORD || c->kind == OBJECT_BURST_LEDGER ||
	       labels_get(&m->annotations, CLAIM_FOR_PODS) ||
	       labels_get(&m->annotations, CLAIM_REPLACES);
}

static const char *why_machine(const struct machine *m)
{
	const struct machine_status *s = &m->status;

	if (s->quarantine && !str_empty(s->quarantine->reason))
		return s->quarantine->reason;
	if (s->leave && !str_empty(s->leave->reason))
		return s->leave->reason;
	return s->operation ? s->operation->last_error.reason : NULL;
}

static const char *why(const struct change *c)
{
	const struct conditions *conditions =
		c->kind == OBJECT_NODE_CLAIM
			? &((const struct node_claim *)c->new_)->status.conditions
			: NULL;
	const struct condition *ready = conditions ? condition_get(conditions, "Ready") : NULL;

	if (c->kind == OBJECT_MACHINE)
		return why_machine(c->new_);
	if (c->kind == OBJECT_DRAIN)
		return ((const struct drain *)c->new_)->spec.reason;
	return ready ? ready->reason : NULL;
}

/* --- changes ---------------------------------------------------------------------------------- */

static void pass(const struct change *c, const struct audit_entry *e)
{
	struct audit_entry bounded = *e;

	bounded.who = cut(e->who, WHO_MAX, c->a);
	bounded.program = cut(e->program, PROGRAM_MAX, c->a);
	bounded.tenant = cut(e->tenant, WHO_MAX, c->a);
	bounded.field = cut(e->field, FIELD_MAX, c->a);
	bounded.from = cut(e->from, TEXT_MAX, c->a);
	bounded.to = cut(e->to, TEXT_MAX, c->a);
	bounded.operation = cut(e->operation, OPERATION_MAX, c->a);
	bounded.why = cut(e->why, TEXT_MAX, c->a);
	c->add(&bounded, c->arg);
}

/* Returns the generation as text; NULL: no object, or no SpecChanged entries for its kind. */
static const char *generation(const struct change *c, const struct object_meta *m)
{
	return m && audit_entries_has_spec(c->kind)
		       ? arena_printf(c->a, "%lld", (long long)m->generation)
		       : NULL;
}

/* Returns what the deletion of a Machine lets go; NULL: nothing. drover's finalizer holds a Machine
 * that was not wiped, so another writer has removed the finalizer. The same holds for the Machine
 * of a cloud instance that was not terminated. */
static const char *let_go(const struct change *c)
{
	const struct machine *m = c->old;

	if (c->kind == OBJECT_MACHINE && m->spec.elastic && m->status.instance &&
	    !str_empty(m->status.instance->id))
		return str_eq(m->status.state, machine_state_info[MACHINE_GONE].name)
			       ? arena_printf(c->a, "instance %s: " MACHINE_RELEASED,
					      m->status.instance->id)
			       : arena_printf(c->a, "instance %s may still run; last state %s",
					      m->status.instance->id,
					      str_or(m->status.state, "known"));
	if (c->kind != OBJECT_MACHINE || /* mutant: deletion-unwiped-unlogged */
	    !machine_is_unwiped(m))
		return NULL;
	return arena_printf(c->a, "no wipe after tenancy %lld was proved or waived; last state %s",
			    (long long)m->status.tenancy, str_or(m->status.state, "known"));
}

static void lifetime(const struct change *c)
{
	struct audit_entry e = c->about;
	const struct wipe_record *w = c->new_;

	e.who = str_or(requester(c), is_drovers(c) ? DROVER : UNKNOWN);
	if (!c->was) {
		e.event = AUDIT_CREATED;
		e.program = str_eq(e.who, DROVER) ? NULL : program(c);
		e.to = generation(c, c->is);
		if (c->kind == OBJECT_WIPE_RECORD)
			e.why = w->spec.evidence.verdict >= 0
					? wipe_level_names[w->spec.evidence.verdict]
					: NULL;
		if (c->kind == OBJECT_DRAIN)
			e.why = why(c);
		pass(c, &e);
		return;
	}
	e.who = str_or(requester(c), UNKNOWN);
	if (!c->is) {
		e.event = AUDIT_DELETED;
		e.why = let_go(c);
		pass(c, &e);
	} else if (c->is->deletion_timestamp && !c->was->deletion_timestamp) {
		e.event = AUDIT_DELETING;
		e.from = generation(c, c->was);
		e.to = generation(c, c->is);
		pass(c, &e);
	}
}

static void state(const struct change *c)
{
	struct audit_entry e = c->about;
	const struct machine *m = c->new_;

	e.event = AUDIT_STATE;
	e.from = c->old ? audit_entries_state(c->kind, c->old, NULL) : NULL;
	e.to = audit_entries_state(c->kind, c->new_, &e.field);
	if (str_empty(e.to) || str_eq(e.from, e.to))
		return;
	e.why = why(c);
	if (c->kind == OBJECT_MACHINE && m->status.operation)
		e.operation = m->status.operation->id;
	pass(c, &e);
}

/* Appends the names of the members of a merge patch, as dotted paths. */
static void name_fields(const json_t *patch, const char *prefix, int depth, struct buf *out,
			struct arena *a)
{
	const char *key;
	json_t *v;

	json_object_foreach ((json_t *)patch, key, v) {
		const char *path = arena_printf(a, "%s%s%s", prefix, prefix[0] ? "." : "", key);

		if (depth < DEPTH_MAX && json_object_size(v))
			name_fields(v, path, depth + 1, out, a);
		else
			buf_printf(out, "%s%s", out->len ? "," : "", path);
	}
}

static void spec(const struct change *c)
{
	const struct field *f = object_kinds[c->kind].fields;
	struct audit_entry e = c->about;
	OWN_JSON was = NULL;
	OWN_JSON is = NULL;
	OWN_JSON diff = NULL;
	struct buf names;

	if (!audit_entries_has_spec(c->kind) || c->was->generation == c->is->generation)
		return;
	was = fields_encode(f, c->old);
	is = fields_encode(f, c->new_);
	diff = json_merge_diff(json_object_get(was, "spec"), json_object_get(is, "spec"));
	/* A request for deletion increases the generation too. */
	if (!json_object_size(diff) && c->is->deletion_timestamp && !c->was->deletion_timestamp)
		return;
	buf_init(&names, 1 << 20);
	name_fields(diff, "", 1, &names, c->a);
	e.event = AUDIT_SPEC;
	e.who = str_or(requester(c), UNKNOWN);
	e.program = program(c);
	e.field = names.len ? names.data : NULL;
	e.from = generation(c, c->was);
	e.to = generation(c, c->is);
	pass(c, &e);
	buf_done(&names);
}

static bool has_waiver(const struct machine *m, const struct evidence_waiver *w)
{
	for (size_t i = 0; i < m->spec.waivers.n; i++) {
		const struct evidence_waiver *x = &m->spec.waivers.v[i];

		if (x->what == w->what && x->time == w->time && x->tenancy == w->tenancy &&
		    str_eq(x->by, w->by) && str_eq(x->wwn, w->wwn) &&
		    str_eq(x->serial, w->serial) && str_eq(x->reason, w->reason))
			return true;
	}
	return false;
}

/* Records the new entries of spec.waivers. The policy drover-waivers of deploy/rbac.yaml refuses
 * the name of another user in them; without the policy, the annotation is as good a source. */
static void waivers(const struct change *c)
{
	const struct machine *was = c->old, *is = c->new_;

	for (size_t i = 0; c->kind == OBJECT_MACHINE && i < is->spec.waivers.n; i++) {
		const struct evidence_waiver *w = &is->spec.waivers.v[i];
		struct audit_entry e = c->about;

		if (/* mutant: waiver-unlogged */ has_waiver(was, w))
			continue;
		e.event = AUDIT_WAIVED;
		e.who = str_or(requester(c), w->by);
		e.program = program(c);
		e.field = arena_printf(c->a, "spec.waivers.%s.%s", evidence_waived_names[w->what],
				       str_or(w->wwn, "machine"));
		e.to = evidence_waiver_text(w, c->a);
		e.why = w->reason;
		pass(c, &e);
	}
}

static void annotation(const struct change *c, const char *key)
{
	struct audit_entry e = c->about;

	e.event = AUDIT_ANNOTATION;
	e.field = key;
	e.from = labels_get(&c->was->annotations, key);
	e.to = labels_get(&c->is->annotations, key);
	if (str_eq(e.from, e.to) || !str_starts(key, OURS) || str_eq(key, AUDIT_REQUESTED_BY))
		return;
	e.who = str_or(requester(c), UNKNOWN);
	e.program = program(c);
	pass(c, &e);
}

static void annotations(const struct change *c)
{
	const struct labels *was = &c->was->annotations, *is = &c->is->annotations;

	if (c->kind == OBJECT_NODE_CLAIM || c->kind == OBJECT_WIPE_RECORD)
		return;
	for (size_t i = 0; i < is->n; i++)
		annotation(c, is->v[i].key);
	for (size_t i = 0; i < was->n; i++)
		if (!labels_get(is, was->v[i].key))
			annotation(c, was->v[i].key);
}

void audit_entries_of(enum object_kind_id kind, const void *old, const void *new_, int64_t now,
		      void (*add)(const struct audit_entry *e, void *arg), void *arg)
{
	OWN(arena) a = arena_new();
	const void *object = new_ ? new_ : old;
	const struct change c = {.a = a,
				 .kind = kind,
				 .old = old,
				 .new_ = new_,
				 .was = old ? object_meta_of(old) : NULL,
				 .is = new_ ? object_meta_of(new_) : NULL,
				 .about = audit_entries_about(kind, object, now),
				 .add = add,
				 .arg = arg};

	if (kind == OBJECT_AUDIT_SEGMENT)
		return;
	if (old && new_) {
		annotations(&c);
		spec(&c);
		waivers(&c);
	}
	lifetime(&c);
	if (new_)
		state(&c);
}
