#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/drains.h"
#include "controller/life.h"
#include "controller/scheduler.h"

#define AGAIN_MS 500 /* after a write that failed */
#define TARGETS_MAX 1000

struct drains {
	struct controller *c;
	struct map *entries; /* Drain -> struct entry */
};

struct entry {
	struct drains *owner;
	char *name;
	struct loop_timer timer;
	struct kube_call *write;
	int64_t generation;    /* of the spec that its machines were told of */
	struct arena *changed; /* names of machines to be told when the write under way is done */
	const char **names;
	size_t nnames;
};

/* --- phases of a target --------------------------------------------------------------------------- */

enum phase {
	PENDING,
	EVICTING,
	ESCALATING,
	LEAVING,
	WIPING,
	DONE,
	STOPPED,
	FAILED,
	CANCELLED,
	PHASES
};
static const char *const phase_names[PHASES] = {"Pending", "Evicting", "Escalating",
						"Leaving", "Wiping",   "Done",
						"Stopped", "Failed",   "Cancelled"};

static enum phase phase_of(const struct drain_target *t)
{
	for (int i = 0; i < PHASES; i++)
		if (str_eq(phase_names[i], t->phase))
			return (enum phase)i;
	return PENDING;
}

static bool ended(enum phase p)
{
	return p >= DONE;
}

static bool withdrawn(const struct drain *d)
{
	return d->spec.cancelled || d->meta.deletion_timestamp;
}

static bool late(const struct drain *d, int64_t now)
{
	return d->spec.deadline && now >= d->spec.deadline;
}

/* This machine serves on, out of use, as long as the Drain stands. */
static bool holds(const struct drain *d, const struct machine *m)
{
	return d->spec.then == DRAIN_HOLD && m && m->status.hold &&
	       str_eq(m->status.hold->drain, d->meta.name);
}

/* --- who wants a machine --------------------------------------------------------------------------- */

struct wish {
	const char *machine;
	const struct machine *m;
	int64_t now;
	const struct drain *found;
	bool holding; /* found has what it wants: any other that does not goes first */
};

static bool older(const struct drain *a, const struct drain *b)
{
	if (a->meta.creation_timestamp != b->meta.creation_timestamp)
		return a->meta.creation_timestamp < b->meta.creation_timestamp;
	return strcmp(a->meta.name, b->meta.name) < 0;
}

static bool wants(const struct kube_entry *en, void *arg)
{
	const struct drain *d = en->object;
	struct wish *w = arg;
	bool stop = d->spec.on_deadline == DRAIN_STOP && late(d, w->now);

	if (withdrawn(d) || (d->status.completion_time && d->spec.then != DRAIN_HOLD))
		return true;
	for (size_t i = 0; i < d->status.targets.n; i++) {
		const struct drain_target *t = &d->status.targets.v[i];
		enum phase p = phase_of(t);
		bool active = (p == EVICTING || p == ESCALATING) && !stop;
		bool holding = p == DONE && holds(d, w->m);

		if (!str_eq(t->machine, w->machine) || (!active && !holding))
			continue;
		if (!w->found || w->holding > holding ||
		    (w->holding == holding && older(d, w->found))) {
			w->found = d;
			w->holding = holding;
		}
	}
	return true;
}

const struct drain *drains_wants(const struct controller *c, const char *machine, bool *escalate)
{
	struct wish w = {.machine = machine, .now = loop_wall(c->loop)};

	*escalate = false;
	if (!c->cache[OBJECT_DRAIN])
		return NULL;
	w.m = CONTROLLER_GET(c, OBJECT_MACHINE, machine, machine);
	kube_cache_each(c->cache[OBJECT_DRAIN], wants, &w);
	*escalate = w.found && w.found->spec.on_deadline == DRAIN_ESCALATE && late(w.found, w.now);
	return w.found;
}

/* --- writing --------------------------------------------------------------------------------------- */

static void tell(struct controller *c, const char *machine)
{
	controller_kick_machine(c, machine);
	scheduler_machine(c->scheduler, machine,
			  CONTROLLER_GET(c, OBJECT_MACHINE, machine, machine));
}

static void on_written(json_t *o, const struct err *e, void *arg)
{
	struct entry *en = arg;
	struct controller *c = en->owner->c;

	en->write = NULL;
	if (!e && json_object_get(o, "spec"))
		kube_cache_learn(c->cache[OBJECT_DRAIN], o);
	else if (e && e->kind != ERR_NOT_FOUND && e->kind != ERR_CONFLICT)
		log_warn("drain not written", LOG_S("drain", en->name), LOG_E(e));
	for (size_t i = 0; !e && i < en->nnames; i++)
		tell(c, en->names[i]);
	arena_free(en->changed);
	en->changed = NULL;
	en->nnames = 0;
	loop_timer_start(&en->timer, e && e->kind != ERR_NOT_FOUND ? AGAIN_MS : 0);
}

/* One condition; says whether it is another than before. */
static void condition(struct drain_status *s, struct arena *a, const struct entry *en,
		      const struct drain *d, const char *type, int status, const char *reason,
		      const char *message)
{
	struct condition want = {
		.type = type,
		.status = status,
		.reason = reason,
		.message = message,
		.observed_generation = d->meta.generation,
	};

	(void)condition_set(&s->conditions, a, &want, loop_wall(en->owner->c->loop));
}

/* A copy of the status whose lists may be changed. */
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

/* Which machines are to be told once it is written: those whose phase changed. */
static void note_changes(struct entry *en, const struct drain *d, const struct drain_status *s)
{
	en->changed = arena_new();
	en->names = arena_calloc(en->changed, s->targets.n + 1, sizeof(*en->names));
	en->nnames = 0;
	for (size_t i = 0; i < s->targets.n; i++) {
		const struct drain_target *t = &s->targets.v[i];
		const char *was = i < d->status.targets.n ? d->status.targets.v[i].phase : NULL;

		if (str_eq(was, t->phase))
			continue;
		log_info("drain target", LOG_S("drain", en->name), LOG_S("machine", t->machine),
			 LOG_S("phase", t->phase));
		en->names[en->nnames++] = arena_strdup(en->changed, t->machine);
	}
}

static void write_status(struct entry *en, const struct drain *d, const struct drain_status *s)
{
	struct controller *c = en->owner->c;
	struct drain was = {.status = d->status}, is = {.status = *s};
	const struct field *f = object_kinds[OBJECT_DRAIN].fields;
	OWN_JSON before = fields_encode(f, &was);
	OWN_JSON after = fields_encode(f, &is);
	json_t *patch;

	if (json_equal(json_object_get(before, "status"), json_object_get(after, "status")))
		return;
	if (s->completion_time && !d->status.completion_time)
		log_info("drain ended", LOG_S("drain", en->name), LOG_I("phase", s->phase));
	note_changes(en, d, s);
	patch = json_pack("{s:{s:s}, s:O}", "metadata", "resourceVersion", d->meta.resource_version,
			  "status", json_object_get(after, "status"));
	en->write = kube_patch(c->host, &controller_resources[OBJECT_DRAIN], NULL, en->name,
			       "status", KUBE_PATCH_MERGE, patch, on_written, en);
	json_decref(patch);
}

/* --- the start: whom it means ---------------------------------------------------------------------- */

struct resolving {
	struct arena *a;
	struct selector selector;
	struct drain_status *s;
	size_t room;
	size_t left_out; /* no room */
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
		.machine = machine, .claim = claim, .phase = phase_names[PENDING]};
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

static void resolve_names(struct resolving *r, const struct controller *c, const struct drain *d,
			  const char **missing)
{
	const struct strings *ms = &d->spec.machine_names, *cs = &d->spec.node_claim_names;

	for (size_t i = 0; i < ms->n; i++) {
		const struct machine *m = CONTROLLER_GET(c, OBJECT_MACHINE, machine, ms->v[i]);

		if (!m)
			*missing = arena_printf(r->a, "there is no Machine %s", ms->v[i]);
		add_target(r, ms->v[i],
			   m && m->status.claim_ref ? m->status.claim_ref->name : NULL);
		if (!m)
			r->s->targets.v[r->s->targets.n - 1].phase = phase_names[FAILED];
	}
	for (size_t i = 0; i < cs->n; i++) {
		const struct node_claim *n =
			CONTROLLER_GET(c, OBJECT_NODE_CLAIM, node_claim, cs->v[i]);
		const struct object_ref *ref = n && n->spec.machine_ref ? n->spec.machine_ref
					       : n			? n->status.machine_ref
									: NULL;

		if (ref && ref->name)
			add_target(r, ref->name, n->meta.name);
		else
			*missing = arena_printf(r->a,
						n ? "NodeClaim %s has no machine"
						  : "there is no NodeClaim %s",
						cs->v[i]);
	}
}

static void begin(struct entry *en, const struct drain *d, int64_t now)
{
	const struct controller *c = en->owner->c;
	OWN(arena) a = arena_new();
	struct drain_status s = copy(d, a);
	struct resolving r = {.a = a, .s = &s};
	const char *missing = NULL;

	s.targets.v = NULL;
	s.targets.n = 0;
	if (withdrawn(d)) {
		s.phase = DRAIN_CANCELLED;
		s.start_time = s.completion_time = now;
		condition(&s, a, en, d, "Ready", CONDITION_FALSE, "Cancelled", "before it began");
		write_status(en, d, &s);
		return;
	}
	s.phase = d->spec.not_before > now ? DRAIN_PENDING : DRAIN_DRAINING;
	if (s.phase == DRAIN_PENDING) {
		loop_timer_start(&en->timer, d->spec.not_before - now);
		condition(&s, a, en, d, "Ready", CONDITION_FALSE, "Pending",
			  "it begins at spec.notBefore");
		write_status(en, d, &s);
		return;
	}
	s.start_time = now;
	if (d->spec.machine_selector) {
		r.selector = object_selector(d->spec.machine_selector, a);
		kube_cache_each(c->cache[OBJECT_MACHINE], selected, &r);
		if (s.targets.n)
			qsort(s.targets.v, s.targets.n, sizeof(*s.targets.v), by_name);
	} else {
		resolve_names(&r, c, d, &missing);
	}
	if (r.left_out)
		missing = arena_printf(a, "%zu machines more than %d were left out", r.left_out,
				       TARGETS_MAX);
	condition(&s, a, en, d, "Resolved", missing ? CONDITION_FALSE : CONDITION_TRUE,
		  missing ? "NotFound" : "Resolved", missing ? missing : "");
	condition(&s, a, en, d, "Ready", CONDITION_FALSE, "Draining", "");
	write_status(en, d, &s);
}

/* --- going on -------------------------------------------------------------------------------------- */

/* What one look at a Drain goes by. */
struct look {
	const struct controller *c;
	const struct drain *d;
	struct arena *a;
	int64_t now;
};

static const struct machine *machine_of(const struct look *k, const struct drain_target *t)
{
	return CONTROLLER_GET(k->c, OBJECT_MACHINE, machine, t->machine);
}

/* Nobody of those whom it means is on the machine. */
static bool serves_nobody(const struct look *k, const struct drain_target *t,
			  const struct machine *m)
{
	const struct object_ref *r = m->status.claim_ref;

	return !r || (k->d->spec.node_claim_names.n && !str_eq(r->name, t->claim));
}

static enum phase quarantined(const struct look *k, const struct drain_target *t,
			      const struct machine *m, enum phase was)
{
	const struct machine_quarantine *q = m->status.quarantine;
	bool by_itself = q && q->exit == EXIT_AUTO;

	if (m->status.claim_ref)
		return FAILED; /* off or cut is not proved */
	if (k->d->spec.then == DRAIN_QUARANTINE &&
	    (q && str_eq(q->reason, "QuarantinedByOperator")))
		return DONE;
	if (k->d->spec.then == DRAIN_QUARANTINE && by_itself)
		return was; /* it is made to stay: life_rest.c */
	if (!t->claim && k->d->spec.then == DRAIN_QUARANTINE)
		return DONE;
	if (!t->claim && k->d->spec.then == DRAIN_RETIRE)
		return was;
	return FAILED;
}

/* Of a target whose turn has come: as far as its machine is. */
static enum phase follow(const struct look *k, const struct drain_target *t,
			 const struct machine *m)
{
	const struct drain_spec *spec = &k->d->spec;
	enum machine_state s = machine_state_find(str_or(m->status.state, "known"));
	enum phase was = phase_of(t);
	bool ours = m->status.claim_ref && str_eq(m->status.claim_ref->name, t->claim);
	bool stays = spec->then == DRAIN_QUARANTINE || spec->then == DRAIN_RETIRE;
	bool draining = s == MACHINE_DRAINING && m->status.leave &&
			str_eq(m->status.leave->drain, k->d->meta.name);

	if (s == MACHINE_RETIRED || s == MACHINE_GONE)
		return DONE;
	if (s == MACHINE_QUARANTINED)
		return quarantined(k, t, m, was);
	if (s == MACHINE_STOPPING || s == MACHINE_ISOLATING || s == MACHINE_LEAVING)
		return ours || !t->claim ? LEAVING : DONE;
	if (s >= MACHINE_DIRTY && s <= MACHINE_VERIFYING)
		return WIPING;
	if (holds(k->d, m))
		return DONE;
	if (!ours && t->claim && !stays)
		return DONE;
	if ((was == LEAVING || was == WIPING) && stays && m->status.leave &&
	    m->status.leave->then == spec->then)
		return was; /* free, but not for long */
	if (withdrawn(k->d))
		return draining ? was : CANCELLED;
	if (late(k->d, k->now) && spec->on_deadline == DRAIN_STOP)
		return draining ? was : STOPPED;
	return late(k->d, k->now) && spec->on_deadline == DRAIN_ESCALATE ? ESCALATING : EVICTING;
}

static enum phase derive(const struct look *k, struct drain_target *t)
{
	const struct machine *m = machine_of(k, t);
	enum phase was = phase_of(t);
	bool stays = k->d->spec.then == DRAIN_QUARANTINE || k->d->spec.then == DRAIN_RETIRE;

	if (ended(was))
		return was;
	if (!m)
		return was == PENDING && k->d->spec.then != DRAIN_RETIRE ? FAILED : DONE;
	if (was != PENDING)
		return follow(k, t, m);
	if (withdrawn(k->d))
		return CANCELLED;
	if (late(k->d, k->now) && k->d->spec.on_deadline == DRAIN_STOP)
		return STOPPED;
	if (!serves_nobody(k, t, m))
		return PENDING;
	t->claim = NULL;
	if (!stays || m->status.claim_ref)
		return DONE;
	return EVICTING; /* it disturbs nobody: no need to wait for a turn */
}

static const char *gang_of(const struct look *k, const struct drain_target *t)
{
	const struct node_claim *n =
		t->claim ? CONTROLLER_GET(k->c, OBJECT_NODE_CLAIM, node_claim, t->claim) : NULL;

	return k->d->spec.gangs == DRAIN_WHOLE && n && n->spec.gang ? n->spec.gang->uid : NULL;
}

/* Its tenant is not rid of it yet. */
static bool takes_a_turn(const struct drain_target *t)
{
	enum phase p = phase_of(t);

	return t->claim && (p == EVICTING || p == ESCALATING || p == LEAVING);
}

/* The next ones, in their order; those of one gang together, even if that is more than spec.concurrent, and
 * all that are left when the deadline is past. */
static void start_next(const struct look *k, struct drain_status *s)
{
	bool hurry = late(k->d, k->now);
	int64_t turns = 0;

	for (size_t i = 0; i < s->targets.n; i++)
		turns += takes_a_turn(&s->targets.v[i]);
	for (size_t i = 0; i < s->targets.n; i++) {
		struct drain_target *t = &s->targets.v[i];
		const char *gang = gang_of(k, t);

		if (phase_of(t) != PENDING)
			continue;
		if (turns >= k->d->spec.concurrent && !hurry)
			break;
		for (size_t j = i; j < s->targets.n; j++) {
			struct drain_target *o = &s->targets.v[j];

			if (phase_of(o) != PENDING ||
			    (j != i && !(gang && str_eq(gang, gang_of(k, o)))))
				continue;
			o->phase = phase_names[hurry ? ESCALATING : EVICTING];
			turns++;
		}
	}
}

/* Whom it serves now, until its turn has come; what holds it up, from then on. */
static void copy_machine(const struct look *k, struct drain_target *t)
{
	const struct machine *m = machine_of(k, t);
	const struct machine_leave *l = m ? m->status.leave : NULL;
	enum phase p = phase_of(t);

	if (p == PENDING && m && m->status.claim_ref && !k->d->spec.node_claim_names.n)
		t->claim = arena_strdup(k->a, m->status.claim_ref->name);
	t->pods_left = 0;
	t->blocked_by = NULL;
	if ((p == EVICTING || p == ESCALATING) && l) {
		t->pods_left = l->pods_left;
		t->blocked_by = l->blocked_by;
	} else if (p == FAILED) {
		t->blocked_by = !m		       ? "there is no such Machine"
				: m->status.quarantine ? m->status.quarantine->reason
						       : NULL;
	}
}

static void judge(const struct look *k, struct entry *en, struct drain_status *s)
{
	static const char *const names[] = {"Pending", "Draining", "Succeeded", "Partial",
					    "Cancelled"};
	size_t done = 0, over = 0, cancelled = 0;
	const struct condition *resolved = condition_get(&s->conditions, "Resolved");
	bool whole = !resolved || resolved->status == CONDITION_TRUE;

	for (size_t i = 0; i < s->targets.n; i++) {
		enum phase p = phase_of(&s->targets.v[i]);

		done += p == DONE;
		over += ended(p);
		cancelled += p == CANCELLED;
	}
	s->phase = withdrawn(k->d) && (cancelled || over < s->targets.n) ? DRAIN_CANCELLED
		   : over < s->targets.n				 ? DRAIN_DRAINING
		   : done == s->targets.n && whole			 ? DRAIN_SUCCEEDED
									 : DRAIN_PARTIAL;
	if (over == s->targets.n)
		s->completion_time = k->now;
	condition(s, k->a, en, k->d, "Ready",
		  s->phase == DRAIN_SUCCEEDED ? CONDITION_TRUE : CONDITION_FALSE, names[s->phase],
		  arena_printf(k->a, "%zu of %zu machines done", done, s->targets.n));
}

static void go_on(struct entry *en, const struct drain *d, int64_t now)
{
	OWN(arena) a = arena_new();
	struct look k = {en->owner->c, d, a, now};
	struct drain_status s = copy(d, a);

	for (size_t i = 0; i < s.targets.n; i++) {
		copy_machine(&k, &s.targets.v[i]);
		s.targets.v[i].phase = phase_names[derive(&k, &s.targets.v[i])];
	}
	start_next(&k, &s);
	for (size_t i = 0; i < s.targets.n; i++)
		copy_machine(&k, &s.targets.v[i]);
	judge(&k, en, &s);
	if (d->spec.deadline > now)
		loop_timer_start(&en->timer, d->spec.deadline - now);
	write_status(en, d, &s);
}

static bool still_holds(const struct controller *c, const struct drain *d)
{
	for (size_t i = 0; i < d->status.targets.n; i++)
		if (holds(d, CONTROLLER_GET(c, OBJECT_MACHINE, machine,
					    d->status.targets.v[i].machine)))
			return true;
	return false;
}

/* A hold lasts until somebody ends it: no clock does. */
static void expire(struct entry *en, const struct drain *d, int64_t now)
{
	struct controller *c = en->owner->c;
	struct kube_delete_opts o = {.uid = d->meta.uid, .grace_s = -1};
	int64_t end = d->status.completion_time + d->spec.ttl_seconds_after_finished * 1000;

	if (d->meta.deletion_timestamp || (!withdrawn(d) && still_holds(c, d)))
		return;
	if (now < end) {
		loop_timer_start(&en->timer, end - now);
		return;
	}
	log_info("drain deleted: its time is over", LOG_S("drain", en->name));
	en->write = kube_delete(c->host, &controller_resources[OBJECT_DRAIN], NULL, en->name, &o,
				on_written, en);
}

/* Its spec is new to this process: every machine it means looks at it. */
static void tell_all(struct entry *en, const struct drain *d)
{
	if (en->generation == d->meta.generation)
		return;
	en->generation = d->meta.generation;
	for (size_t i = 0; i < d->status.targets.n; i++)
		tell(en->owner->c, d->status.targets.v[i].machine);
}

static void on_timer(void *arg)
{
	struct entry *en = arg;
	struct controller *c = en->owner->c;
	const struct drain *d = CONTROLLER_GET(c, OBJECT_DRAIN, drain, en->name);
	int64_t now = loop_wall(c->loop);

	if (!d) {
		controller_kick_all(c); /* who was wanted by it is not known any more */
		if (!en->write)
			map_del(en->owner->entries, en->name);
		return;
	}
	if (!c->leading || en->write || !controller_ready(c))
		return;
	tell_all(en, d);
	if (d->status.completion_time)
		expire(en, d, now);
	else if (d->status.start_time)
		go_on(en, d, now);
	else
		begin(en, d, now);
}

/* --- making it --------------------------------------------------------------------------------------- */

static void entry_free(void *p)
{
	struct entry *en = p;

	kube_call_cancel(en->write);
	loop_timer_stop(&en->timer);
	arena_free(en->changed);
	free(en->name);
	free(en);
}

struct drains *drains_new(struct controller *c)
{
	struct drains *d = mem_new(struct drains);

	d->c = c;
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
	struct entry *en = map_get(d->entries, name);

	if (!en) {
		en = mem_new(struct entry);
		en->owner = d;
		en->name = mem_strdup(name);
		loop_timer_init(&en->timer, d->c->group, on_timer, en);
		map_put(d->entries, name, en);
	}
	if (!en->write)
		loop_timer_start(&en->timer, 0);
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

/* Also those that are over: what they hold may have been let go. */
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
