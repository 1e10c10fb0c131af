/*
 * power_pacing: one queue for each Provider of machines that wait to be switched on, and a list of
 * those that are coming up.
 */
#include "controller/hardware/power_pacing.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"

#define MINUTE_MS 60000
#define COMING_UP_MS (3 * MINUTE_MS)
#define TURN_MS 30000
#define ASK_MS 15000

/* One machine: waiting in the queue, or on its way up. */
struct place {
	struct list link;
	char *machine, *domain;
	int64_t at; /* loop_now(): asked last, or was granted */
};

/* Of one provider. */
struct lane {
	struct context *c;
	char *provider;
	struct list queue, up; /* struct place, oldest first */
	int64_t next;	       /* loop_now(): none before */
	struct loop_timer timer;
};

struct power_pacing {
	struct context *c;
	struct map *lanes;
};

static void drop(struct place *p)
{
	list_remove(&p->link);
	free(p->machine);
	free(p->domain);
	free(p);
}

static struct place *add(struct list *to, const char *machine, const char *domain, int64_t at)
{
	struct place *p = mem_new(struct place);

	p->machine = mem_strdup(machine);
	p->domain = mem_strdup(domain);
	p->at = at;
	list_push_back(to, &p->link);
	return p;
}

static struct place *find(struct list *in, const char *machine)
{
	list_for_each (p, in, struct place, link)
		if (str_eq(p->machine, machine))
			return p;
	return NULL;
}

/* --- lanes ---------------------------------------------------------------------------------------- */

static const struct provider_object_limits *limits_of(const struct lane *ln)
{
	const struct provider_object *p =
		CTX_GET(ln->c, OBJECT_PROVIDER, provider_object, ln->provider);

	return p ? &p->spec.limits : NULL;
}

static int64_t distance(const struct lane *ln)
{
	const struct provider_object_limits *l = limits_of(ln);

	return l && l->power_on_per_minute > 0 ? MINUTE_MS / l->power_on_per_minute : 0;
}

static bool is_full(const struct lane *ln, const char *domain)
{
	const struct provider_object_limits *l = limits_of(ln);
	int64_t n = 0;

	if (!domain || !l || l->per_domain.concurrent <= 0)
		return false;
	list_for_each (p, &ln->up, struct place, link)
		n += str_eq(p->domain, domain);
	return n >= l->per_domain.concurrent;
}

static void sweep(struct lane *ln)
{
	int64_t now = loop_now(ln->c->loop);

	list_for_each (p, &ln->queue, struct place, link)
		if (now - p->at > ASK_MS)
			drop(p);
	list_for_each (q, &ln->up, struct place, link) {
		const struct machine *m = CTX_GET(ln->c, OBJECT_MACHINE, machine, q->machine);

		if (!m || now - q->at > COMING_UP_MS || str_eq(m->status.power.state, "On"))
			drop(q);
	}
}

static void on_turn(void *arg)
{
	struct lane *ln = arg;

	sweep(ln);
	list_for_each (p, &ln->queue, struct place, link)
		if (!is_full(ln, p->domain)) {
			notify(ln->c, NOTICE_MACHINE, p->machine);
			break;
		}
}

static const char *domain_of(const struct lane *ln, const struct machine *m)
{
	const struct provider_object_limits *l = limits_of(ln);

	return l && l->per_domain.key ? labels_get(&m->meta.labels, l->per_domain.key) : NULL;
}

/* What the leader before this one switched on just now. */
static bool seed(const struct kube_entry *en, void *arg)
{
	const struct machine *m = en->object;
	const struct machine_operation *op = m->status.operation;
	struct lane *ln = arg;
	int64_t ago = op ? loop_wall(ln->c->loop) - op->started : 0, at;

	if (!op || !str_eq(m->spec.provider_ref.name, ln->provider) ||
	    !str_eq(op->step, "power-on") || !op->started || ago < 0 || ago > COMING_UP_MS)
		return true;
	at = loop_now(ln->c->loop) - ago;
	(void)add(&ln->up, m->meta.name, domain_of(ln, m), at);
	if (at + distance(ln) > ln->next)
		ln->next = at + distance(ln);
	return true;
}

static struct lane *lane_of(struct power_pacing *p, const char *provider)
{
	struct lane *ln = map_get(p->lanes, provider);

	if (ln)
		return ln;
	ln = mem_new(struct lane);
	ln->c = p->c;
	ln->provider = mem_strdup(provider);
	list_init(&ln->queue);
	list_init(&ln->up);
	loop_timer_init(&ln->timer, p->c->group, on_turn, ln);
	map_put(p->lanes, provider, ln);
	kube_cache_each(p->c->cache[OBJECT_MACHINE], seed, ln);
	return ln;
}

static void lane_free(void *arg)
{
	struct lane *ln = arg;

	loop_timer_stop(&ln->timer);
	list_for_each (p, &ln->queue, struct place, link)
		drop(p);
	list_for_each (q, &ln->up, struct place, link)
		drop(q);
	free(ln->provider);
	free(ln);
}

struct power_pacing *power_pacing_new(struct context *c)
{
	struct power_pacing *p = mem_new(struct power_pacing);

	p->c = c;
	p->lanes = map_new(lane_free);
	return p;
}

void power_pacing_free(struct power_pacing *p)
{
	if (!p)
		return;
	map_free(p->lanes);
	free(p);
}

/* --- asking --------------------------------------------------------------------------------------- */

bool power_pacing_power_on(struct power_pacing *p, const struct machine *m,
			   struct power_pacing_wait *w)
{
	struct place *me;
	struct lane *ln;
	int64_t now;

	*w = (struct power_pacing_wait){0};
	if (!p)
		return true;
	now = loop_now(p->c->loop);
	ln = lane_of(p, str_or(m->spec.provider_ref.name, ""));
	sweep(ln);
	me = find(&ln->up, m->meta.name);
	if (me && now - me->at <= TURN_MS)
		return true;
	if (me) /* it did not come up: a turn like any other */
		drop(me);
	me = find(&ln->queue, m->meta.name);
	if (!me)
		me = add(&ln->queue, m->meta.name, domain_of(ln, m), now);
	me->at = now;
	list_for_each (e, &ln->queue, struct place, link) {
		if (e == me)
			break;
		w->before += !is_full(ln, e->domain);
	}
	w->domain = is_full(ln, me->domain) ? me->domain : NULL;
	w->at_least = (ln->next > now ? ln->next - now : 0) + w->before * distance(ln);
	if (!w->before && !w->domain && now >= ln->next) {
		list_remove(&me->link);
		list_push_back(&ln->up, &me->link);
		ln->next = now + distance(ln);
		loop_timer_start(&ln->timer, distance(ln));
		return true;
	}
	if (!loop_timer_active(&ln->timer) && now < ln->next)
		loop_timer_start(&ln->timer, ln->next - now);
	return false;
}
