/*
 * targets: evaluates a Drain as a pure function of the caches: the phase of each target (machine),
 * whose turn is next, deadline, completion. drains.c writes the result.
 */
#include <string.h>

#include "controller/drain/targets.h"
#include "api/machine_states.h"
#include "base/arena.h"
#include "base/str.h"
#include "controller/core/clock_jumps.h"
#include "controller/drain/gangs.h"

const char *const drain_step_names[DRAIN_STEPS] = {"Pending", "Evicting", "Escalating",
						   "Leaving", "Wiping",	  "Done",
						   "Stopped", "Failed",	  "Cancelled"};

enum drain_step drain_step_of(const struct drain_target *t)
{
	for (int i = 0; i < DRAIN_STEPS; i++)
		if (str_eq(drain_step_names[i], t->phase))
			return (enum drain_step)i;
	return DRAIN_STEP_PENDING;
}

static bool ended(enum drain_step p)
{
	return p >= DRAIN_STEP_DONE;
}

bool drain_withdrawn(const struct drain *d)
{
	return d->spec.cancelled || d->meta.deletion_timestamp;
}

bool drain_late(const struct context *c, const struct drain *d)
{
	return d->spec.deadline &&
	       loop_wall(c->loop) - clock_jumps_since(c, d->meta.creation_timestamp) >=
		       d->spec.deadline;
}

bool drain_holds(const struct drain *d, const struct machine *m)
{
	return d->spec.then == DRAIN_HOLD && m && m->status.hold &&
	       str_eq(m->status.hold->drain, d->meta.name);
}

void drain_ready(const struct drain *d, struct drain_status *s, struct arena *a, int64_t now,
		 const char *reason, const char *message)
{
	const struct condition want = {
		.type = "Ready",
		.status = s->phase == DRAIN_SUCCEEDED ? CONDITION_TRUE : CONDITION_FALSE,
		.reason = reason,
		.message = message,
		.observed_generation = d->meta.generation,
	};

	(void)condition_set(&s->conditions, a, &want, now);
	(void)condition_set_stalled(&s->conditions, a,
				    s->phase == DRAIN_PARTIAL || s->phase == DRAIN_CANCELLED ? &want
											     : NULL,
				    d->meta.generation, now);
	s->observed_generation = d->meta.generation;
}

/* --- phase of a target ------------------------------------------------------------------------ */

/* Input of one evaluation of a Drain. */
struct target_eval {
	const struct context *c;
	const struct tenants *tenants;
	const struct drain *d;
	struct arena *a;
	int64_t now;
};

static const struct machine *machine_of(const struct target_eval *k, const struct drain_target *t)
{
	return CTX_GET(k->c, OBJECT_MACHINE, machine, t->machine);
}

/* True if the machine serves no claim, or not the claim that the Drain names. */
static bool serves_nobody(const struct target_eval *k, const struct drain_target *t,
			  const struct machine *m)
{
	const struct object_ref *r = m->status.claim_ref;

	return !r || (k->d->spec.node_claim_names.n && !str_eq(r->name, t->claim));
}

static enum drain_step quarantined(const struct target_eval *k, const struct drain_target *t,
				   const struct machine *m, enum drain_step was)
{
	const struct machine_quarantine *q = m->status.quarantine;
	bool by_itself = q && q->exit == EXIT_AUTO;

	if (m->status.claim_ref)
		/* Failed: the Machine is still bound to the claim, because neither power off nor
		 * isolation was proved. */
		return DRAIN_STEP_FAILED;
	if (k->d->spec.then == DRAIN_QUARANTINE &&
	    (q && str_eq(q->reason, "QuarantinedByOperator")))
		return DRAIN_STEP_DONE;
	if (k->d->spec.then == DRAIN_QUARANTINE && by_itself)
		/* Keep the phase: the quarantine has exit Auto, and steps/rest.c will turn it into
		 * the quarantine that the Drain asks for. */
		return was;
	if (!t->claim && k->d->spec.then == DRAIN_QUARANTINE)
		return DRAIN_STEP_DONE;
	if (!t->claim && k->d->spec.then == DRAIN_RETIRE)
		return was;
	/* Done: the machine has left its tenant. Another Drain or an operator wanted it
	 * quarantined. */
	if (k->d->spec.then == DRAIN_RELEASE && q && str_eq(q->reason, "QuarantinedByOperator"))
		return DRAIN_STEP_DONE;
	return DRAIN_STEP_FAILED;
}

/* Returns the phase of a started target, derived from the state of its machine. */
static enum drain_step follow(const struct target_eval *k, const struct drain_target *t,
			      const struct machine *m)
{
	const struct drain_spec *spec = &k->d->spec;
	enum machine_state s = machine_state_find(str_or(m->status.state, "known"));
	enum drain_step was = drain_step_of(t);
	bool ours = m->status.claim_ref && str_eq(m->status.claim_ref->name, t->claim);
	bool stays = spec->then == DRAIN_QUARANTINE || spec->then == DRAIN_RETIRE;
	bool draining = s == MACHINE_DRAINING && m->status.leave &&
			str_eq(m->status.leave->drain, k->d->meta.name);

	if (s == MACHINE_RETIRED || s == MACHINE_GONE)
		return DRAIN_STEP_DONE;
	if (s == MACHINE_QUARANTINED)
		return quarantined(k, t, m, was);
	if (s == MACHINE_STOPPING || s == MACHINE_ISOLATING || s == MACHINE_LEAVING)
		return ours || !t->claim ? DRAIN_STEP_LEAVING : DRAIN_STEP_DONE;
	if (s >= MACHINE_DIRTY && s <= MACHINE_VERIFYING)
		return DRAIN_STEP_WIPING;
	if (drain_holds(k->d, m))
		return DRAIN_STEP_DONE;
	if (!ours && t->claim && !stays)
		return DRAIN_STEP_DONE;
	if ((was == DRAIN_STEP_LEAVING || was == DRAIN_STEP_WIPING) && stays && m->status.leave &&
	    m->status.leave->then == spec->then)
		/* Keep the phase: in its next step the free machine does what the Drain's `then`
		 * asks for. */
		return was;
	if (drain_withdrawn(k->d))
		return draining ? was : DRAIN_STEP_CANCELLED;
	if (drain_late(k->c, k->d) && spec->on_deadline == DRAIN_STOP)
		return draining ? was : DRAIN_STEP_STOPPED;
	return drain_late(k->c, k->d) && spec->on_deadline == DRAIN_ESCALATE ? DRAIN_STEP_ESCALATING
									     : DRAIN_STEP_EVICTING;
}

static enum drain_step derive(const struct target_eval *k, struct drain_target *t)
{
	const struct machine *m = machine_of(k, t);
	enum drain_step was = drain_step_of(t);
	bool stays = k->d->spec.then == DRAIN_QUARANTINE || k->d->spec.then == DRAIN_RETIRE;

	if (ended(was))
		return was;
	if (!m)
		return was == DRAIN_STEP_PENDING && k->d->spec.then != DRAIN_RETIRE
			       ? DRAIN_STEP_FAILED
			       : DRAIN_STEP_DONE;
	if (was != DRAIN_STEP_PENDING)
		return follow(k, t, m);
	if (drain_withdrawn(k->d))
		return DRAIN_STEP_CANCELLED;
	if (drain_late(k->c, k->d) && k->d->spec.on_deadline == DRAIN_STOP)
		return DRAIN_STEP_STOPPED;
	if (!serves_nobody(k, t, m))
		return DRAIN_STEP_PENDING;
	t->claim = NULL;
	if (!stays || m->status.claim_ref)
		return DRAIN_STEP_DONE;
	/* No tenant is disturbed, so the target need not wait for its turn. */
	return DRAIN_STEP_EVICTING;
}

/* Returns which targets leave together (one element per target). NULL: no target waits for its
 * turn, or spec.gangs is Split. */
static const struct drain_gang *gangs_of(const struct target_eval *k, const struct drain_status *s)
{
	bool *waits = arena_calloc(k->a, s->targets.n + 1, sizeof(*waits)), any = false;

	for (size_t i = 0; i < s->targets.n; i++) {
		waits[i] = drain_step_of(&s->targets.v[i]) == DRAIN_STEP_PENDING;
		any |= waits[i];
	}
	return any && k->d->spec.gangs == DRAIN_WHOLE
		       ? drain_gangs(k->c, k->tenants, s, waits, k->a)
		       : NULL;
}

/* True if the target counts against spec.concurrent: it is leaving and still belongs to its
 * tenant. */
static bool takes_a_turn(const struct drain_target *t)
{
	enum drain_step p = drain_step_of(t);

	return t->claim &&
	       (p == DRAIN_STEP_EVICTING || p == DRAIN_STEP_ESCALATING || p == DRAIN_STEP_LEAVING);
}

/* Starts the next waiting targets, in order. If one target of a gang is leaving, the others start
 * at once, even above spec.concurrent. After the deadline all remaining targets start. */
static void start_next(const struct target_eval *k, struct drain_status *s,
		       const struct drain_gang *gangs)
{
	bool hurry = drain_late(k->c, k->d);
	int64_t turns = 0;

	for (size_t i = 0; i < s->targets.n; i++)
		turns += takes_a_turn(&s->targets.v[i]);
	for (size_t i = 0; i < s->targets.n; i++) {
		struct drain_target *t = &s->targets.v[i];
		bool begun = hurry || turns < k->d->spec.concurrent;

		if (drain_step_of(t) != DRAIN_STEP_PENDING)
			continue;
		for (size_t j = 0; gangs && j < i; j++)
			begun |= gangs[j].first == gangs[i].first && takes_a_turn(&s->targets.v[j]);
		for (size_t j = i + 1; gangs && j < s->targets.n; j++)
			begun |= gangs[j].first == gangs[i].first && takes_a_turn(&s->targets.v[j]);
		if (!begun)
			continue;
		t->phase = drain_step_names[hurry ? DRAIN_STEP_ESCALATING : DRAIN_STEP_EVICTING];
		turns++;
	}
}

/* Sets blockedBy of each target that waits for its turn and will leave together with others of its
 * gang. */
static void name_gangs(const struct target_eval *k, struct drain_status *s,
		       const struct drain_gang *gangs)
{
	for (size_t i = 0; gangs && i < s->targets.n; i++) {
		size_t others = 0;

		if (drain_step_of(&s->targets.v[i]) != DRAIN_STEP_PENDING)
			continue;
		for (size_t j = 0; j < s->targets.n; j++)
			others += j != i && gangs[j].first == gangs[i].first;
		if (others)
			s->targets.v[i].blocked_by = arena_printf(
				k->a,
				"its turn: it leaves together with %zu other %s of gang %.200s",
				others, others == 1 ? "machine" : "machines",
				str_or(gangs[i].name, ""));
	}
}

/* Copies podsLeft and blockedBy from the Machine to the target. If the Machine no longer has these
 * values, the target keeps the last ones. */
static void copy_left(const struct target_eval *k, struct drain_target *t, const struct machine *m)
{
	const struct machine_leave *l = m ? m->status.leave : NULL;

	switch (drain_step_of(t)) {
	case DRAIN_STEP_EVICTING:
	case DRAIN_STEP_ESCALATING:
		if (l) {
			t->pods_left = l->pods_left;
			t->blocked_by = l->blocked_by;
		}
		break;
	case DRAIN_STEP_STOPPED:
		break;
	case DRAIN_STEP_DONE:
		if (drain_holds(k->d, m)) {
			t->pods_left = m->status.hold->pods_left;
			t->blocked_by = m->status.hold->blocked_by;
		} else if (k->d->spec.then != DRAIN_HOLD) {
			t->pods_left = 0;
			t->blocked_by = NULL;
		}
		break;
	case DRAIN_STEP_FAILED:
		t->pods_left = 0;
		t->blocked_by = !m		       ? "the Machine does not exist"
				: m->status.quarantine ? m->status.quarantine->reason
						       : NULL;
		break;
	case DRAIN_STEP_PENDING:
	case DRAIN_STEP_LEAVING:
	case DRAIN_STEP_WIPING:
	case DRAIN_STEP_CANCELLED:
	case DRAIN_STEPS:
		t->pods_left = 0;
		t->blocked_by = NULL;
		break;
	}
}

/* Updates the target from its Machine. Until the target's turn comes, the target's claim is the one
 * that the machine serves now, unless the Drain names claims. */
static void copy_machine(const struct target_eval *k, struct drain_target *t)
{
	const struct machine *m = machine_of(k, t);

	if (drain_step_of(t) == DRAIN_STEP_PENDING && m && m->status.claim_ref &&
	    !k->d->spec.node_claim_names.n)
		t->claim = arena_strdup(k->a, m->status.claim_ref->name);
	copy_left(k, t, m);
}

/* Returns the summary for the condition: "1 of 3 machines done", and what happened to the other
 * machines. */
static const char *sum_up(const struct target_eval *k, const struct drain_status *s, size_t done)
{
	const struct condition *resolved = condition_get(&s->conditions, "Resolved");
	size_t stopped = 0, failed = 0;
	long long left = 0;
	const char *text = arena_printf(k->a, "%zu of %zu machines done", done, s->targets.n);

	for (size_t i = 0; i < s->targets.n; i++) {
		enum drain_step p = drain_step_of(&s->targets.v[i]);

		stopped += p == DRAIN_STEP_STOPPED;
		failed += p == DRAIN_STEP_FAILED;
		left += p == DRAIN_STEP_DONE ? s->targets.v[i].pods_left : 0;
	}
	if (stopped)
		text = arena_printf(k->a, "%s; %zu stopped at the deadline%s", text, stopped,
				    k->d->spec.deadline <= s->start_time
					    ? ", which had passed before the Drain began"
					    : "");
	if (failed)
		text = arena_printf(k->a, "%s; %zu failed", text, failed);
	if (left)
		text = arena_printf(k->a, "%s; %lld %s left on held machines", text, left,
				    left == 1 ? "pod is" : "pods are");
	if (resolved && resolved->status != CONDITION_TRUE)
		text = arena_printf(k->a, "%s; %s", text, str_or(resolved->message, ""));
	return text;
}

static void judge(const struct target_eval *k, struct drain_status *s)
{
	static const char *const names[] = {"Pending", "Draining", "Succeeded", "Partial",
					    "Cancelled"};
	size_t done = 0, over = 0, cancelled = 0;
	const struct condition *resolved = condition_get(&s->conditions, "Resolved");
	bool whole = !resolved || resolved->status == CONDITION_TRUE;

	for (size_t i = 0; i < s->targets.n; i++) {
		enum drain_step p = drain_step_of(&s->targets.v[i]);

		done += p == DRAIN_STEP_DONE;
		over += ended(p);
		cancelled += p == DRAIN_STEP_CANCELLED;
	}
	s->phase = drain_withdrawn(k->d) && (cancelled || over < s->targets.n) ? DRAIN_CANCELLED
		   : over < s->targets.n				       ? DRAIN_DRAINING
		   : done == s->targets.n && whole			       ? DRAIN_SUCCEEDED
									       : DRAIN_PARTIAL;
	if (over == s->targets.n)
		s->completion_time = k->now;
	drain_ready(k->d, s, k->a, k->now, names[s->phase], sum_up(k, s, done));
}

void drains_advance(const struct context *c, const struct tenants *tenants, const struct drain *d,
		    struct drain_status *s, struct arena *a, int64_t now)
{
	struct target_eval k = {c, tenants, d, a, now};
	const struct drain_gang *gangs;

	for (size_t i = 0; i < s->targets.n; i++) {
		struct drain_target *t = &s->targets.v[i];

		copy_machine(&k, t);
		t->phase = drain_step_names[derive(&k, t)];
	}
	gangs = gangs_of(&k, s);
	start_next(&k, s, gangs);
	for (size_t i = 0; i < s->targets.n; i++)
		copy_machine(&k, &s->targets.v[i]);
	name_gangs(&k, s, gangs);
	judge(&k, s);
}
