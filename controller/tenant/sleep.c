/*
 * sleep: observes the tenant's control plane in the host cluster, stores the last observation, and
 * decides whether the tenant sleeps, once for messages and once (more strictly) for acts.
 * rules/sleep.c interprets an observation.
 */
#include "controller/tenant/sleep.h"
#include "api/annotations.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/resources.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/clock_jumps.h"
#include "controller/rules/sleep.h"
#include "kube/call.h"
#include "kube/want.h"

#define LOOK_MS 30000 /* interval while the tenant's API server does not answer */

#define LOOK_AWAKE_MS 300000 /* interval while the tenant's API server answers */

#define FRESH_MS 10000

struct tenant_sleep {
	struct tenant *t;
	void (*changed)(struct tenant *t);
	struct loop_timer timer;
	struct kube_call *call;
	/* kind and name of the control plane object to observe; NULL: none */
	char *spec;
	/* loop_now() at the start of the last observation, which may be in progress; 0: none */
	int64_t asked_at;
	/* loop_now() at the start of the observation that is stored in `view`; 0: none */
	int64_t seen_at;
	/* value of tenant_sleep_until() when the tenant's machines were last notified */
	int64_t until;
	/* True: a machine waits for a new observation */
	bool wanted;
	struct tenant_sleep_view view;
};

/* --- observation ------------------------------------------------------------------------------ */

static const struct virtual_cluster *cluster_of(const struct tenant *t)
{
	return CTX_GET(t->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster, t->name);
}

static const char *name_of(const struct virtual_cluster_control_plane *p, struct arena *a)
{
	return arena_printf(a, "%s %s/%s", control_plane_kind_names[p->kind], p->namespace,
			    p->name);
}

static int64_t period(const struct tenant_sleep *s)
{
	return tenant_usable(s->t) ? LOOK_AWAKE_MS : LOOK_MS;
}

/* Starts the timer for the next observation, one period after the start of the last. */
static void plan(struct tenant_sleep *s)
{
	int64_t due = s->asked_at ? s->asked_at + period(s) - loop_now(s->t->c->loop) : 0;

	loop_timer_start(&s->timer, due > 0 ? due : 0);
}

static void tell(const struct tenant_sleep *s, enum tenant_sleep_is was)
{
	const struct virtual_cluster *vc = cluster_of(s->t);
	const struct tenant_sleep_view *v = &s->view;

	log_info("tenant's control plane", LOG_S("tenant", s->t->name), LOG_S("is", v->reason),
		 LOG_S("text", v->message));
	if (vc && (v->is != TENANT_SLEEP_NO || was == TENANT_SLEEP_YES))
		ctx_event(s->t->c, OBJECT_VIRTUAL_CLUSTER, &vc->meta,
			  v->is == TENANT_SLEEP_UNKNOWN ? "Warning" : "Normal", v->reason,
			  v->message);
}

static void saw(struct tenant_sleep *s, const struct tenant_sleep_view *v)
{
	enum tenant_sleep_is was = s->view.is;
	bool changed = !s->seen_at || v->is != was || !str_eq(v->reason, s->view.reason) ||
		       !str_eq(v->object, s->view.object);

	s->view = *v;
	s->seen_at = s->asked_at;
	if (changed) {
		tell(s, was);
		s->changed(s->t);
	}
	if (changed || s->wanted)
		notify(s->t->c, NOTICE_TENANT, s->t->name);
	s->wanted = false;
}

static void on_control_plane(json_t *o, const struct err *e, void *arg)
{
	struct tenant_sleep *s = arg;
	struct tenant_sleep_view v;

	s->call = NULL;
	plan(s);
	if (!e) {
		tenant_sleep_read(o, s->spec, &v);
	} else if (!tenant_sleep_refused(e, s->spec, &v)) {
		/* keep the last observation; unless a later read succeeds, current() soon rejects
		 * it as too old */
		log_warn("tenant's control plane not read", LOG_S("tenant", s->t->name), LOG_E(e));
		return;
	}
	saw(s, &v);
}

/* Compares spec.controlPlane with the observed object. Returns true if it is unchanged; otherwise
 * drops the observation and returns false. */
static bool follow_spec(struct tenant_sleep *s, const struct virtual_cluster *vc)
{
	const struct virtual_cluster_control_plane *p = vc ? vc->spec.control_plane : NULL;
	OWN(arena) a = arena_new();
	const char *name = p ? name_of(p, a) : NULL;

	if (str_eq(name, s->spec))
		return true;
	kube_call_cancel(s->call);
	s->call = NULL;
	free(s->spec);
	s->spec = mem_strdup(name);
	s->asked_at = s->seen_at = 0;
	s->view = (struct tenant_sleep_view){0};
	s->changed(s->t);
	return false;
}

static void on_cluster(json_t *o, const struct err *e, void *arg)
{
	struct tenant_sleep *s = arg;
	struct context *c = s->t->c;
	const struct virtual_cluster_control_plane *p;
	const struct virtual_cluster *vc;

	s->call = NULL;
	if (!e)
		kube_cache_learn(c->cache[OBJECT_VIRTUAL_CLUSTER], o);
	vc = cluster_of(s->t);
	if (e || !vc || !follow_spec(s, vc)) {
		plan(s);
		return;
	}
	p = vc->spec.control_plane;
	if (p)
		s->call = kube_get(c->host,
				   p->kind == CONTROL_PLANE_DEPLOYMENT ? &KUBE_DEPLOYMENTS
								       : &KUBE_STATEFULSETS,
				   p->namespace, p->name, on_control_plane, s);
}

static void look(void *arg)
{
	struct tenant_sleep *s = arg;
	struct context *c = s->t->c;

	if (s->call || !s->spec || !c->leading || !c->ready)
		/* do nothing: tenant_sleep_kick() is called when this replica leads and is ready */
		return;
	s->asked_at = loop_now(c->loop);
	s->call = kube_get(c->host, &object_resources[OBJECT_VIRTUAL_CLUSTER], NULL, s->t->name,
			   on_cluster, s);
	kube_call_want(s->call, kube_want_with_writers);
}

void tenant_sleep_kick(struct tenant_sleep *s)
{
	const struct virtual_cluster *vc = cluster_of(s->t);
	int64_t until = vc && !vc->spec.paused ? tenant_sleep_until(vc) : 0;

	(void)follow_spec(s, vc);
	if (until != s->until)
		notify(s->t->c, NOTICE_TENANT, s->t->name);
	s->until = until;
	if (s->spec && !s->call)
		plan(s);
	else if (!s->spec)
		loop_timer_stop(&s->timer);
}

struct tenant_sleep *tenant_sleep_new(struct tenant *t, void (*changed)(struct tenant *t))
{
	struct tenant_sleep *s = mem_new(struct tenant_sleep);

	s->t = t;
	s->changed = changed;
	loop_timer_init(&s->timer, t->c->group, look, s);
	return s;
}

void tenant_sleep_free(struct tenant_sleep *s)
{
	if (!s)
		return;
	kube_call_cancel(s->call);
	loop_timer_stop(&s->timer);
	free(s->spec);
	free(s);
}

/* --- decisions -------------------------------------------------------------------------------- */

/* True if the last observation is recent enough to be used. It becomes too old while another
 * replica leads, or while the host's API server does not answer. */
static bool current(const struct tenant_sleep *s)
{
	return s->seen_at && loop_now(s->t->c->loop) - s->seen_at <= LOOK_AWAKE_MS + LOOK_MS;
}

bool tenant_sleep_now(const struct tenant *t)
{
	return current(t->asleep) && t->asleep->view.is == TENANT_SLEEP_YES && tenant_is_silent(t);
}

/* True if the sleep that was observed is the one recorded in the status. view.object names the
 * object and its generation. */
static bool same_sleep(const struct tenant_sleep *s, const struct virtual_cluster *vc)
{
	return vc->status.asleep_since && str_eq(vc->status.asleep_object, s->view.object);
}

bool tenant_sleep_too_long(struct tenant *t)
{
	struct tenant_sleep *s = t->asleep;
	const struct virtual_cluster *vc = cluster_of(t);
	int64_t now = loop_wall(t->c->loop);

	if (!vc || vc->spec.paused || !tenant_sleep_until(vc) || !tenant_sleep_now(t) ||
	    !same_sleep(s, vc))
		return false;
	if (vc->status.asleep_since > now ||
	    now - clock_jumps_since(t->c, vc->status.asleep_since) < tenant_sleep_until(vc))
		return false;
	if (loop_now(t->c->loop) - s->seen_at < FRESH_MS)
		return true;
	s->wanted = true;
	if (!s->call)
		loop_timer_start(&s->timer, 0);
	return false;
}

/* --- status ----------------------------------------------------------------------------------- */

static const char *what_then(const struct virtual_cluster *vc, int64_t since, struct arena *a)
{
	char when[STR_TIME_SIZE];

	if (vc->spec.paused)
		return "its machines stay: spec.paused";
	if (vc->spec.sleep_grace < 0)
		return "its machines stay: sleepGrace is Never";
	return arena_printf(a, "its machines are released after %s",
			    str_time(when, since + vc->spec.sleep_grace));
}

static bool take_out(struct conditions *cs, const char *type)
{
	for (size_t i = 0; i < cs->n; i++)
		if (str_eq(cs->v[i].type, type)) {
			memmove(&cs->v[i], &cs->v[i + 1], (--cs->n - i) * sizeof(*cs->v));
			return true;
		}
	return false;
}

/* True if something answers at the tenant's address, even with a refusal. Then the tenant is awake,
 * whatever the host cluster shows. */
static bool answers(const struct tenant *t)
{
	return t->reachable || str_eq(t->reason, "NotPermitted");
}

bool tenant_sleep_status(const struct tenant *t, const struct virtual_cluster *vc, struct arena *a,
			 struct conditions *cs, struct virtual_cluster_status *out)
{
	const struct tenant_sleep *s = t->asleep;
	const struct tenant_sleep_view *v = &s->view;
	int64_t now = loop_wall(t->c->loop), since = vc->status.asleep_since;
	struct condition want = {.type = TENANT_SLEEP_CONDITION,
				 .reason = v->reason,
				 .message = v->message,
				 .observed_generation = vc->meta.generation};
	bool changed = false;

	out->asleep_object = vc->status.asleep_object;
	if (!vc->spec.control_plane) {
		since = 0;
		changed = take_out(cs, TENANT_SLEEP_CONDITION);
	} else if (current(s) &&
		   (v->is == TENANT_SLEEP_NO || (v->is == TENANT_SLEEP_YES && answers(t)))) {
		since = 0;
		want.status = CONDITION_FALSE;
		if (v->is == TENANT_SLEEP_YES) {
			want.reason = "Awake";
			want.message = "its API server answers";
		}
		changed = condition_set(cs, a, &want, now);
	} else if (current(s) && v->is == TENANT_SLEEP_UNKNOWN) {
		if (answers(t))
			since = 0;
		want.status = CONDITION_UNKNOWN;
		changed = condition_set(cs, a, &want, now);
	} else if (tenant_sleep_now(t)) {
		/* Begin the time of sleep now if this is a different sleep, or if the stored time
		 * is in the future because the clock was set back. */
		if (!same_sleep(s, vc) || since > now)
			since = now / 1000 * 1000;
		out->asleep_object = v->object;
		want.status = CONDITION_TRUE;
		want.message = arena_printf(a, "%s; %s", v->message, what_then(vc, since, a));
		changed = condition_set(cs, a, &want, now);
	}
	if (!since)
		out->asleep_object = NULL;
	out->asleep_since = since;
	return changed || since != vc->status.asleep_since ||
	       !str_eq(str_or(out->asleep_object, ""), str_or(vc->status.asleep_object, ""));
}
