/*
 * drains: one entry for each Drain. Decides when a Drain is reconciled, writes its status, and
 * tells a machine which Drain it must obey. drain/targets.c computes the state of the targets.
 */
#include <stdlib.h>
#include <string.h>

#include "controller/drain/drains.h"
#include "api/annotations.h"
#include "api/machine_states.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/clock_jumps.h"
#include "controller/core/reconciled.h"
#include "controller/drain/targets.h"
#include "controller/rules/machine.h"

#define AGAIN_MS 500 /* delay after a failed write */
#define TARGETS_MAX 1000
#define CLOCK_AGAIN_MS 10000 /* interval of retries while drover may not act (ctx_may_act()) */

struct drains {
	struct context *c;
	const struct tenants *tenants;
	/* name of the Drain -> struct drain_entry */
	struct map *entries;
};

struct drain_entry {
	struct reconciled it;
	struct drains *owner;
	/* generation of the Drain's spec of which the target machines were last notified */
	int64_t generation;
	/* names of the machines to notify when the status write in flight is done */
	struct arena *changed;
	const char **names;
	size_t nnames;
};

/* --- which Drain wants a machine -------------------------------------------------------------- */

struct drain_wish {
	const char *machine;
	const struct machine *m;
	const struct context *c;
	const struct drain *found;
	/* True: the Drain in `found` merely holds the machine (then: Hold). A Drain that still
	 * wants the machine to leave takes precedence. */
	bool holding;
	/* True: the Drain in `found` is past its deadline and escalates. That Drain takes
	 * precedence over Drains that do not escalate. */
	bool late;
	struct drains_together all;
};

static bool older(const struct drain *a, const struct drain *b)
{
	if (a->meta.creation_timestamp != b->meta.creation_timestamp)
		return a->meta.creation_timestamp < b->meta.creation_timestamp;
	return strcmp(a->meta.name, b->meta.name) < 0;
}

static bool goes_before(const struct drain_wish *w, const struct drain *d, bool holding, bool late)
{
	if (!w->found || w->holding != holding)
		return !w->found || w->holding;
	return w->late == late ? older(d, w->found) : late;
}

/* True if the machine is wiped and free, but not yet quarantined or retired as the Drain asks. The
 * phase of the target then still is Leaving or Wiping, until the machine's next step. */
static bool comes_next(const struct drain *d, const struct machine *m, enum drain_step p)
{
	return (d->spec.then == DRAIN_QUARANTINE || d->spec.then == DRAIN_RETIRE) &&
	       (p == DRAIN_STEP_LEAVING || p == DRAIN_STEP_WIPING) && m &&
	       str_eq(m->status.state, machine_state_info[MACHINE_FREE].name);
}

/* Merges the Drain d, whose target has started, into w->all: the earliest deadline with Escalate,
 * and the strictest `then` except Hold. */
static void add_wish(struct drain_wish *w, const struct drain *d)
{
	int64_t at = d->spec.deadline + clock_jumps_since(w->c, d->meta.creation_timestamp);

	if (d->spec.deadline && d->spec.on_deadline == DRAIN_ESCALATE &&
	    (!w->all.deadline || at < w->all.deadline)) {
		w->all.deadline = at;
		w->all.hurried = d;
	}
	if (d->spec.then != DRAIN_HOLD && (!w->all.after || d->spec.then > w->all.after->spec.then))
		w->all.after = d;
}

static bool wants(const struct kube_entry *en, void *arg)
{
	const struct drain *d = en->object;
	struct drain_wish *w = arg;
	bool past = drain_late(w->c, d), stop = d->spec.on_deadline == DRAIN_STOP && past,
	     late = d->spec.on_deadline == DRAIN_ESCALATE && past;

	if (drain_withdrawn(d) || (d->status.completion_time && d->spec.then != DRAIN_HOLD))
		return true;
	for (size_t i = 0; i < d->status.targets.n; i++) {
		const struct drain_target *t = &d->status.targets.v[i];
		enum drain_step p = drain_step_of(t);
		bool its_turn = p == DRAIN_STEP_EVICTING || p == DRAIN_STEP_ESCALATING;
		/* Accept Evicting and Escalating too, because the Machine's status shows the hold
		 * before the Drain's status shows Done. */
		bool holding = (its_turn || p == DRAIN_STEP_DONE) && drain_holds(d, w->m);
		bool active = its_turn && !stop && !holding;

		if (!str_eq(t->machine, w->machine) ||
		    (!active && !holding && !comes_next(d, w->m, p)))
			continue;
		if (active)
			add_wish(w, d);
		if (goes_before(w, d, holding, late)) {
			w->found = d;
			w->holding = holding;
			w->late = late;
		}
	}
	return true;
}

static struct drain_wish look_for(const struct context *c, const char *machine)
{
	struct drain_wish w = {.machine = machine, .c = c};

	if (!c->cache[OBJECT_DRAIN])
		return w;
	w.m = CTX_GET(c, OBJECT_MACHINE, machine, machine);
	kube_cache_each(c->cache[OBJECT_DRAIN], wants, &w);
	return w;
}

const struct drain *drains_wants(const struct context *c, const char *machine, bool *escalate)
{
	struct drain_wish w = look_for(c, machine);

	*escalate = w.found && w.late;
	return w.found;
}

struct drains_together drains_together(const struct context *c, const char *machine)
{
	return look_for(c, machine).all;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void tell(struct context *c, const char *machine)
{
	notify(c, NOTICE_MACHINE, machine);
	notify(c, NOTICE_OFFER, machine);
}

static void on_written(json_t *o, const struct err *e, void *arg)
{
	struct drain_entry *en = arg;
	struct context *c = en->owner->c;

	(void)o;
	for (size_t i = 0; !e && i < en->nnames; i++)
		tell(c, en->names[i]);
	arena_free(en->changed);
	en->changed = NULL;
	en->nnames = 0;
	loop_timer_start(&en->it.timer, e && e->kind != ERR_NOT_FOUND ? AGAIN_MS : 0);
}

/* Returns a copy of the Drain's status. Its lists are copied to the arena and may be changed. */
static struct drain_status copy(const struct drain *d, struct arena *a)
{
	struct drain_status s = d->status;

	s.targets.v = arena_calloc(a, s.targets.n + 1, sizeof(*s.targets.v));
	if (s.targets.n)
		memcpy(s.targets.v, d->status.targets.v, s.targets.n * sizeof(*s.targets.v));
	s.conditions.v = arena_calloc(a, s.conditions.n + 2, sizeof(*s.conditions.v));
	if (s.conditions.n)
		memcpy(s.conditions.v, d->status.conditions.v,
		       s.conditions.n * sizeof(*s.conditions.v));
	return s;
}

/* Records in en->names the machines whose phase changes with this status write. on_written()
 * notifies these machines. */
static void note_changes(struct drain_entry *en, const struct drain *d,
			 const struct drain_status *s)
{
	en->changed = arena_new();
	en->names = arena_calloc(en->changed, s->targets.n + 1, sizeof(*en->names));
	en->nnames = 0;
	for (size_t i = 0; i < s->targets.n; i++) {
		const struct drain_target *t = &s->targets.v[i];
		const char *was = i < d->status.targets.n ? d->status.targets.v[i].phase : NULL;

		if (str_eq(was, t->phase))
			continue;
		log_info("drain target", LOG_S("drain", en->it.name), LOG_S("machine", t->machine),
			 LOG_S("phase", t->phase));
		en->names[en->nnames++] = arena_strdup(en->changed, t->machine);
	}
}

static void say_end(struct drain_entry *en, const struct drain *d, const struct drain_status *s)
{
	const struct condition *ready = condition_get(&s->conditions, "Ready");
	bool good = s->phase == DRAIN_SUCCEEDED || s->phase == DRAIN_CANCELLED;

	log_info("drain ended", LOG_S("drain", en->it.name), LOG_S("phase", ready->reason),
		 LOG_S("message", str_or(ready->message, "")));
	ctx_event(en->owner->c, OBJECT_DRAIN, &d->meta, good ? "Normal" : "Warning", ready->reason,
		  str_or(ready->message, ""));
}

static void write_status(struct drain_entry *en, const struct drain *d,
			 const struct drain_status *s)
{
	struct drain was = {.status = d->status}, is = {.status = *s};
	const struct field *f = object_kinds[OBJECT_DRAIN].fields;
	OWN_JSON before = fields_encode(f, &was);
	OWN_JSON after = fields_encode(f, &is);

	if (json_equal(json_object_get(before, "status"), json_object_get(after, "status")))
		return;
	if (s->completion_time && !d->status.completion_time)
		say_end(en, d, s);
	note_changes(en, d, s);
	writer_status(&en->it.write, OBJECT_DRAIN, &d->meta,
		      json_incref(json_object_get(after, "status")), on_written);
}

/* --- the start: resolving the targets --------------------------------------------------------- */

struct resolving {
	struct arena *a;
	struct selector selector;
	struct drain_status *s;
	size_t room;
	/* number of machines left out because there are more than TARGETS_MAX */
	size_t left_out;
};

static void add_target(struct resolving *r, const char *machine, const char *claim)
{
	struct drain_target *v;

	if (r->s->targets.n == TARGETS_MAX) {
		r->left_out++;
		return;
	}
	if (r->s->targets.n == r->room) {
		v = arena_calloc(r->a, r->room * 2 + 16, sizeof(*v));
		if (r->room)
			memcpy(v, r->s->targets.v, r->room * sizeof(*v));
		r->room = r->room * 2 + 16;
		r->s->targets.v = v;
	}
	r->s->targets.v[r->s->targets.n++] = (struct drain_target){
		.machine = machine, .claim = claim, .phase = drain_step_names[DRAIN_STEP_PENDING]};
}

static bool selected(const struct kube_entry *en, void *arg)
{
	struct resolving *r = arg;
	const struct machine *m = en->object;

	if (selector_matches(&r->selector, &m->meta.labels))
		add_target(r, m->meta.name, m->status.claim_ref ? m->status.claim_ref->name : NULL);
	return true;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct drain_target *)a)->machine,
		      ((const struct drain_target *)b)->machine);
}

static void resolve_names(struct resolving *r, const struct context *c, const struct drain *d,
			  const char **missing)
{
	const struct strings *ms = &d->spec.machine_names, *cs = &d->spec.node_claim_names;

	for (size_t i = 0; i < ms->n; i++) {
		const struct machine *m = CTX_GET(c, OBJECT_MACHINE, machine, ms->v[i]);

		if (!m)
			*missing = arena_printf(r->a, "Machine %s does not exist", ms->v[i]);
		add_target(r, ms->v[i],
			   m && m->status.claim_ref ? m->status.claim_ref->name : NULL);
		if (!m)
			r->s->targets.v[r->s->targets.n - 1].phase =
				drain_step_names[DRAIN_STEP_FAILED];
	}
	for (size_t i = 0; i < cs->n; i++) {
		const struct node_claim *n = CTX_GET(c, OBJECT_NODE_CLAIM, node_claim, cs->v[i]);
		const struct object_ref *ref = n && n->spec.machine_ref ? n->spec.machine_ref
					       : n			? n->status.machine_ref
									: NULL;

		if (ref && ref->name)
			add_target(r, ref->name, n->meta.name);
		else
			*missing = arena_printf(r->a,
						n ? "NodeClaim %s has no machine"
						  : "NodeClaim %s does not exist",
						cs->v[i]);
	}
}

/* missing: the first target that was not found; NULL: all were found. */
static void set_resolved(const struct drain *d, struct drain_status *s, struct arena *a,
			 int64_t now, const char *missing)
{
	const struct condition want = {
		.type = "Resolved",
		.status = missing ? CONDITION_FALSE : CONDITION_TRUE,
		.reason = missing ? "NotFound" : "Resolved",
		.message = str_or(missing, ""),
		.observed_generation = d->meta.generation,
	};

	(void)condition_set(&s->conditions, a, &want, now);
}

static void begin(struct drain_entry *en, const struct drain *d, int64_t now)
{
	const struct context *c = en->owner->c;
	OWN(arena) a = arena_new();
	struct drain_status s = copy(d, a);
	struct resolving r = {.a = a, .s = &s};
	const char *missing = NULL;
	int64_t left;

	s.targets.v = NULL;
	s.targets.n = 0;
	if (drain_withdrawn(d)) {
		s.phase = DRAIN_CANCELLED;
		s.start_time = s.completion_time = now;
		drain_ready(d, &s, a, now, "Cancelled", "cancelled before it began");
		write_status(en, d, &s);
		return;
	}
	left = d->spec.not_before + clock_jumps_since(c, d->meta.creation_timestamp) - now;
	s.phase = d->spec.not_before && left > 0 ? DRAIN_PENDING : DRAIN_DRAINING;
	if (s.phase == DRAIN_PENDING) {
		loop_timer_start(&en->it.timer, left);
		drain_ready(d, &s, a, now, "Pending", "begins at spec.notBefore");
		write_status(en, d, &s);
		return;
	}
	s.start_time = now;
	if (d->spec.machine_selector) {
		r.selector = object_selector(d->spec.machine_selector, a);
		kube_cache_each(c->cache[OBJECT_MACHINE], selected, &r);
		if (s.targets.n)
			qsort(s.targets.v, s.targets.n, sizeof(*s.targets.v), by_name);
		else
			missing = "no Machine matched spec.machineSelector when the Drain began";
	} else {
		resolve_names(&r, c, d, &missing);
	}
	if (r.left_out)
		missing = arena_printf(a, "%zu machines beyond the limit of %d were left out",
				       r.left_out, TARGETS_MAX);
	set_resolved(d, &s, a, now, missing);
	drain_ready(d, &s, a, now, "Draining", "");
	write_status(en, d, &s);
}

/* --- after the start: following the targets --------------------------------------------------- */

static void go_on(struct drain_entry *en, const struct drain *d, int64_t now)
{
	OWN(arena) a = arena_new();
	struct drain_status s = copy(d, a);
	int64_t left = d->spec.deadline +
		       clock_jumps_since(en->owner->c, d->meta.creation_timestamp) - now;

	drains_advance(en->owner->c, en->owner->tenants, d, &s, a, now);
	if (d->spec.deadline && left > 0)
		loop_timer_start(&en->it.timer, left);
	write_status(en, d, &s);
}

static bool still_holds(const struct context *c, const struct drain *d)
{
	for (size_t i = 0; i < d->status.targets.n; i++)
		if (drain_holds(
			    d, CTX_GET(c, OBJECT_MACHINE, machine, d->status.targets.v[i].machine)))
			return true;
	return false;
}

/* Deletes a completed Drain once its ttl has passed, but not while it holds a machine. */
static void expire(struct drain_entry *en, const struct drain *d, int64_t now)
{
	struct context *c = en->owner->c;
	int64_t end = d->status.completion_time + d->spec.ttl_seconds_after_finished * 1000;

	if (d->meta.deletion_timestamp || (!drain_withdrawn(d) && still_holds(c, d)))
		return;
	if (now < end) {
		loop_timer_start(&en->it.timer, end - now);
		return;
	}
	log_info("drain deleted: its ttl has passed", LOG_S("drain", en->it.name));
	writer_delete(&en->it.write, OBJECT_DRAIN, &d->meta, on_written);
}

/* Notifies all target machines if this process has not notified them of this generation of the spec
 * yet. */
static void tell_all(struct drain_entry *en, const struct drain *d)
{
	if (en->generation == d->meta.generation)
		return;
	en->generation = d->meta.generation;
	for (size_t i = 0; i < d->status.targets.n; i++)
		tell(en->owner->c, d->status.targets.v[i].machine);
}

static void on_timer(void *arg)
{
	struct drain_entry *en = arg;
	struct context *c = en->owner->c;
	const struct drain *d = CTX_GET(c, OBJECT_DRAIN, drain, en->it.name);
	int64_t now = loop_wall(c->loop);

	if (!d) {
		/* The targets of a deleted Drain are not known any more, so notify all machines. */
		notify(c, NOTICE_MACHINE, NULL);
		if (!writer_busy(&en->it.write))
			map_del(en->owner->entries, en->it.name);
		return;
	}
	if (!c->leading || writer_busy(&en->it.write) || !c->ready)
		return;
	if (!ctx_may_act(c)) {
		loop_timer_start(&en->it.timer, CLOCK_AGAIN_MS);
		return;
	}
	tell_all(en, d);
	if (d->status.completion_time)
		expire(en, d, now);
	else if (d->status.start_time)
		go_on(en, d, now);
	else
		begin(en, d, now);
}

/* --- construction ----------------------------------------------------------------------------- */

static void entry_free(void *p)
{
	struct drain_entry *en = p;

	arena_free(en->changed);
	reconciled_free(en);
}

struct drains *drains_new(struct context *c, const struct tenants *tenants)
{
	struct drains *d = mem_new(struct drains);

	d->c = c;
	d->tenants = tenants;
	d->entries = map_new(entry_free);
	return d;
}

void drains_free(struct drains *d)
{
	if (!d)
		return;
	map_free(d->entries);
	free(d);
}

static void kick(struct drains *d, const char *name)
{
	struct drain_entry *en = reconciled_get(d->entries, name, sizeof(*en), d->c, on_timer);

	en->owner = d;
	reconciled_kick(&en->it);
}

static bool kick_each(const struct kube_entry *en, void *arg)
{
	kick(arg, en->name);
	return true;
}

void drains_kick(struct drains *d, const char *name)
{
	if (name)
		kick(d, name);
	else
		kube_cache_each(d->c->cache[OBJECT_DRAIN], kick_each, d);
}

struct changed {
	struct drains *d;
	const char *machine;
};

/* Reconciles the Drain if the machine is one of its targets. Includes completed Drains, because a
 * machine that they held may have been released. */
static bool kick_if_target(const struct kube_entry *en, void *arg)
{
	const struct changed *ch = arg;
	const struct drain *d = en->object;

	for (size_t i = 0; i < d->status.targets.n; i++)
		if (str_eq(d->status.targets.v[i].machine, ch->machine)) {
			kick(ch->d, en->name);
			break;
		}
	return true;
}

void drains_machine(struct drains *d, const char *machine)
{
	struct changed ch = {d, machine};

	if (d->c->cache[OBJECT_DRAIN])
		kube_cache_each(d->c->cache[OBJECT_DRAIN], kick_if_target, &ch);
}

bool drains_take_out(const struct context *c, const struct machine *m)
{
	bool escalate;
	const struct drain *d;

	if (labels_get(&m->meta.annotations, REQUEST_QUARANTINE) ||
	    leave_then(m) == DRAIN_QUARANTINE || leave_then(m) == DRAIN_RETIRE)
		return true;
	d = drains_wants(c, m->meta.name, &escalate);
	return d && (d->spec.then == DRAIN_QUARANTINE || d->spec.then == DRAIN_RETIRE);
}
