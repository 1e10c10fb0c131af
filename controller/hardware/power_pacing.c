/*
 * power_pacing: one lane per Provider. A lane has two queues of machines that wait to be switched
 * on, and a list of machines that were called (their turn has come) or are coming up.
 *
 *   ask --> QUEUED --its turn--> CALLED --asks, spacing kept--> COMING_UP --on, or 3 min--> dropped
 *                                  '---- 2 min ----> dropped
 *
 * Calls and power-ons are spaced independently: a machine observes its BMC between the two, and a
 * slow BMC must not delay other machines.
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
#define CALLED_MS (2 * MINUTE_MS)
#define SWITCHED_MS 30000
#define TOLD_AT_ONCE 3
/* number of turns for claims after which one is for the other queue, if that is not empty */
#define CLAIMS_IN_A_ROW 3
#define LOOK_MS 1000 /* interval at which the timer checks whether a full domain has room again */

enum stage { QUEUED, CALLED, COMING_UP };
/* Queues of a lane: of machines that a claim waits for, and of all others. */
enum { OF_CLAIMS, OF_REST, QUEUES };

struct pacing_domain {
	/* number of machines in the domain that are in the stages CALLED or COMING_UP */
	int64_t taken;
};

/* One machine that is queued, called (notified that it may now be switched on) or coming up. */
struct paced_machine {
	struct list link;
	struct lane *lane;
	/* operation, state: the Machine's operation and state when it asked to be switched on */
	char *machine, *domain_name, *operation, *state;
	/* the machine's domain (rack or power feed); NULL: the Machine lacks the label, or
	 * limits.perDomain is not set */
	struct pacing_domain *domain;
	enum stage stage;
	/* OF_CLAIMS or OF_REST */
	int queue;
	/* True: the machine was called and has asked again, but too soon after another power-on */
	bool knocked;
	/* loop_now() at which the machine entered `stage` */
	int64_t at;
	int64_t number;
};

/* State of one Provider. */
struct lane {
	struct context *c;
	char *provider;
	/* name of the Machine -> struct paced_machine */
	struct map *places;
	/* label value of a domain -> struct pacing_domain */
	struct map *domains;
	/* lists of struct paced_machine, oldest first. up: machines that are called or coming up */
	struct list queue[QUEUES], up;
	/* number of places created so far in each queue; also the `number` of the newest place */
	int64_t numbers[QUEUES];
	/* length of each queue */
	int64_t waiting[QUEUES];
	/* number of turns for claims since the last one for another machine, while such wait */
	int64_t in_a_row;
	/* number of places in `up` whose stage is CALLED */
	int64_t called;
	/* next_call: loop_now() before which no machine is called. next_on: loop_now() before which
	 * none is switched on. */
	int64_t next_call, next_on;
	struct loop_timer timer;
};

struct power_pacing {
	struct context *c;
	struct map *lanes;
};

static void free_place(void *arg)
{
	struct paced_machine *p = arg;

	list_remove(&p->link);
	if (p->domain && p->stage != QUEUED)
		p->domain->taken--;
	p->lane->called -= p->stage == CALLED;
	p->lane->waiting[p->queue] -= p->stage == QUEUED;
	free(p->machine);
	free(p->domain_name);
	free(p->operation);
	free(p->state);
	free(p);
}

static void drop(struct paced_machine *p)
{
	map_del(p->lane->places, p->machine);
}

static void into(struct paced_machine *p, enum stage stage)
{
	list_remove(&p->link);
	list_push_back(&p->lane->up, &p->link);
	if (p->domain && p->stage == QUEUED)
		p->domain->taken++;
	p->lane->waiting[p->queue] -= p->stage == QUEUED;
	p->lane->called += (stage == CALLED) - (p->stage == CALLED);
	p->stage = stage;
	p->at = loop_now(p->lane->c->loop);
}

/* --- lanes ------------------------------------------------------------------------------------ */

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

static bool is_full(const struct provider_object_limits *l, const struct paced_machine *p)
{
	return l && p->domain && l->per_domain.concurrent > 0 &&
	       p->domain->taken >= l->per_domain.concurrent;
}

static struct paced_machine *add(struct lane *ln, const struct machine *m)
{
	const struct provider_object_limits *l = limits_of(ln);
	const struct machine_operation *op = m->status.operation;
	struct paced_machine *p = mem_new(struct paced_machine);

	p->lane = ln;
	p->machine = mem_strdup(m->meta.name);
	p->operation = mem_strdup(op ? op->id : NULL);
	p->state = mem_strdup(m->status.state);
	p->domain_name = mem_strdup(
		l && l->per_domain.key ? labels_get(&m->meta.labels, l->per_domain.key) : NULL);
	if (p->domain_name) {
		p->domain = map_get(ln->domains, p->domain_name);
		if (!p->domain) {
			p->domain = mem_new(struct pacing_domain);
			map_put(ln->domains, p->domain_name, p->domain);
		}
	}
	p->queue = machine_is_awaited(m) ? OF_CLAIMS : OF_REST;
	p->number = ++ln->numbers[p->queue];
	ln->waiting[p->queue]++;
	p->stage = QUEUED;
	p->at = loop_now(ln->c->loop);
	list_init(&p->link);
	list_push_back(&ln->queue[p->queue], &p->link);
	map_put(ln->places, p->machine, p);
	return p;
}

static bool is_of_now(const struct paced_machine *p, const struct machine *m)
{
	const struct machine_operation *op = m->status.operation;

	return str_eq(p->state, m->status.state) && str_eq(p->operation, op ? op->id : NULL) &&
	       str_eq(p->lane->provider, str_or(m->spec.provider_ref.name, ""));
}

/* True if the place must be dropped: the Machine is gone or on; or its stage is CALLED or COMING_UP
 * and the time limit has passed; or its stage is QUEUED or CALLED and its state or operation has
 * changed. */
static bool is_over(const struct paced_machine *p)
{
	const struct machine *m = CTX_GET(p->lane->c, OBJECT_MACHINE, machine, p->machine);
	int64_t age = loop_now(p->lane->c->loop) - p->at;

	if (!m || str_eq(m->status.power.state, "On"))
		return true;
	switch (p->stage) {
	case QUEUED:
		return !is_of_now(p, m);
	case CALLED:
		return age > CALLED_MS || !is_of_now(p, m);
	case COMING_UP:
		return age > COMING_UP_MS;
	}
	return true;
}

/* True if more machines are called than may be switched on in a minute. Then the caller calls no
 * more, because the turn of the last machine would expire before it could be switched on. */
static bool enough_called(const struct lane *ln, const struct provider_object_limits *l)
{
	return l && l->power_on_per_minute > 0 && ln->called > l->power_on_per_minute;
}

/* Returns the first machine of the queue whose domain has room; NULL: none. Drops places for which
 * is_over() is true. */
static struct paced_machine *first_of(struct lane *ln, int queue,
				      const struct provider_object_limits *l)
{
	list_for_each (p, &ln->queue[queue], struct paced_machine, link) {
		if (is_full(l, p))
			continue;
		if (!is_over(p))
			return p;
		drop(p);
	}
	return NULL;
}

/* Returns the machine that is called next; NULL: none. */
static struct paced_machine *next_of(struct lane *ln, const struct provider_object_limits *l)
{
	const int preferred = ln->in_a_row < CLAIMS_IN_A_ROW ? OF_CLAIMS : OF_REST;
	struct paced_machine *p = first_of(ln, preferred, l);

	if (!p)
		p = first_of(ln, preferred == OF_CLAIMS ? OF_REST : OF_CLAIMS, l);
	if (p)
		ln->in_a_row = p->queue == OF_CLAIMS && ln->waiting[OF_REST] ? ln->in_a_row + 1 : 0;
	return p;
}

/* Calls (notifies) the queued machines whose turn has come, and drops places for which is_over() is
 * true. */
static void serve(struct lane *ln)
{
	const struct provider_object_limits *l = limits_of(ln);
	int64_t now = loop_now(ln->c->loop);

	list_for_each (u, &ln->up, struct paced_machine, link)
		if (is_over(u))
			drop(u);
	while (now >= ln->next_call && !enough_called(ln, l)) {
		struct paced_machine *p = next_of(ln, l);

		if (!p)
			break;
		into(p, CALLED);
		ln->next_call = now + distance(ln);
		notify(ln->c, NOTICE_MACHINE, p->machine);
	}
}

static int64_t sooner(int64_t wait, int64_t when, int64_t now)
{
	return when > now && when - now < wait ? when - now : wait;
}

/* Starts the timer if any machine is queued, called (told that its turn has come to be switched on)
 * or coming up. */
static void arm(struct lane *ln)
{
	int64_t now = loop_now(ln->c->loop), wait = sooner(LOOK_MS, ln->next_call, now);

	if (ln->waiting[OF_CLAIMS] || ln->waiting[OF_REST] || !list_empty(&ln->up))
		loop_timer_start(&ln->timer, ln->called ? sooner(wait, ln->next_on, now) : wait);
}

/* Notifies the oldest machines that asked too soon after another power-on (knocked). One of them is
 * switched on; the others ask again in their next step. */
static void tell_knockers(struct lane *ln)
{
	unsigned told = 0;

	list_for_each (p, &ln->up, struct paced_machine, link) {
		if (p->stage != CALLED || !p->knocked)
			continue;
		p->knocked = false;
		notify(ln->c, NOTICE_MACHINE, p->machine);
		if (++told == TOLD_AT_ONCE)
			return;
	}
}

static void on_turn(void *arg)
{
	struct lane *ln = arg;

	serve(ln);
	if (loop_now(ln->c->loop) >= ln->next_on)
		tell_knockers(ln);
	arm(ln);
}

/* Adds a machine that the previous leader has just switched on, so that the spacing continues. */
static bool seed(const struct kube_entry *en, void *arg)
{
	const struct machine *m = en->object;
	const struct machine_operation *op = m->status.operation;
	struct lane *ln = arg;
	int64_t ago = op ? loop_wall(ln->c->loop) - op->started : 0;
	struct paced_machine *p;

	if (!op || !str_eq(m->spec.provider_ref.name, ln->provider) ||
	    !str_eq(op->step, "power-on") || !op->started || ago < 0 || ago > COMING_UP_MS)
		return true;
	p = add(ln, m);
	into(p, COMING_UP);
	p->at -= ago;
	if (p->at + distance(ln) > ln->next_on)
		ln->next_call = ln->next_on = p->at + distance(ln);
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
	ln->places = map_new(free_place);
	ln->domains = map_new(free);
	for (int i = 0; i < QUEUES; i++)
		list_init(&ln->queue[i]);
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
	map_free(ln->places);
	map_free(ln->domains);
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

/* --- asking ----------------------------------------------------------------------------------- */

/* Returns how many machines of the other queue may be called before p. */
static int64_t others_before(const struct paced_machine *p, int64_t before)
{
	const struct lane *ln = p->lane;
	const int64_t turns = p->queue == OF_CLAIMS ? (before + ln->in_a_row) / CLAIMS_IN_A_ROW
						    : (before + 1) * CLAIMS_IN_A_ROW - ln->in_a_row,
		      most = ln->waiting[p->queue == OF_CLAIMS ? OF_REST : OF_CLAIMS];

	return turns < 0 ? 0 : turns < most ? turns : most;
}

static void tell(const struct paced_machine *p, struct power_pacing_wait *w)
{
	const struct lane *ln = p->lane;
	int64_t now = loop_now(ln->c->loop),
		next = p->stage == QUEUED ? ln->next_call : ln->next_on;

	*w = (struct power_pacing_wait){0};
	if (p->stage == QUEUED) {
		const struct paced_machine *head =
			container_of(ln->queue[p->queue].next, struct paced_machine, link);

		w->before = p->number - head->number;
		w->before += others_before(p, w->before);
		w->domain = is_full(limits_of(ln), p) ? p->domain_name : NULL;
	}
	w->at_least = (next > now ? next - now : 0) + w->before * distance(ln);
}

bool power_pacing_power_on(struct power_pacing *p, const struct machine *m,
			   struct power_pacing_wait *w)
{
	struct paced_machine *me;
	struct lane *ln;
	int64_t now;

	*w = (struct power_pacing_wait){0};
	if (!p)
		return true;
	now = loop_now(p->c->loop);
	ln = lane_of(p, str_or(m->spec.provider_ref.name, ""));
	me = map_get(ln->places, m->meta.name);
	if (me && me->stage == COMING_UP && now - me->at <= SWITCHED_MS)
		return true;
	/* Queue the machine again if it did not come up, or if it was called for an earlier
	 * operation. */
	if (me && (me->stage == COMING_UP || !is_of_now(me, m))) {
		drop(me);
		me = NULL;
	}
	if (!me) {
		me = add(ln, m);
		serve(ln);
		arm(ln);
	}
	if (me->stage == CALLED && now >= ln->next_on) {
		into(me, COMING_UP);
		ln->next_on = now + distance(ln);
		return true;
	}
	me->knocked = true;
	tell(me, w);
	return false;
}

enum power_position power_pacing_place(const struct power_pacing *p, const struct machine *m,
				       struct power_pacing_wait *w)
{
	const struct lane *ln = p ? map_get(p->lanes, str_or(m->spec.provider_ref.name, "")) : NULL;
	const struct paced_machine *me = ln ? map_get(ln->places, m->meta.name) : NULL;

	*w = (struct power_pacing_wait){0};
	if (!me || me->stage == COMING_UP || !is_of_now(me, m))
		return POWER_PLACE_NONE;
	tell(me, w);
	return me->stage == QUEUED ? POWER_PLACE_QUEUED : POWER_PLACE_CALLED;
}
