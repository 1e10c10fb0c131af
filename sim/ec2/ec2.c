#include "sim/ec2/ec2.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "sim/ec2/ec2_impl.h"

/*
 * Instances, reservations, and their cost.
 *
 * Tests: tests/unit/sim/ec2/test_ec2.c, tests/real/ec2.py
 */
#define PENDING_MS 20000
#define ENDING_MS 30000
#define GONE_MS (3600 * (int64_t)1000)
#define TOKEN_MS (24 * GONE_MS)
#define FORGET_MS 60000
#define BILLED_S 60
#define BLOCK_WHY "Server.ScheduledStop: Stopped due to the end of its Capacity Block"

const char *const e2_state_names[] = {"pending", "running", "shutting-down", "terminated"};
const int e2_state_codes[] = {0, 16, 32, 48};

int64_t e2_wall(const struct sim_ec2 *s)
{
	const struct fault *f = e2_stands(s, "Skew", NULL, NULL, NULL);

	return loop_wall(s->loop) + (f ? f->value : 0);
}

/* --- instances -------------------------------------------------------------------------------- */

enum e2_state e2_state_at(const struct e2_instance *i, int64_t now)
{
	return now >= i->gone	   ? E2_TERMINATED
	       : now >= i->ending  ? E2_ENDING
	       : now >= i->running ? E2_RUNNING
				   : E2_PENDING;
}

struct e2_instance *e2_instance_new(struct sim_ec2 *s, const struct e2_type *t, const char *zone,
				    const char *account)
{
	struct e2_instance *i = mem_new(struct e2_instance);

	i->seq = ++s->next;
	str_format(i->id, sizeof(i->id), "i-0%016llx", (unsigned long long)loop_random(s->loop));
	i->type = t;
	i->zone = zone;
	i->account = account;
	i->launched = loop_now(s->loop);
	i->launched_wall = e2_wall(s);
	i->running = i->launched + s->spec.pending_ms;
	i->ending = i->gone = i->noticed = E2_NEVER;
	i->told = E2_PENDING;
	list_push_back(&s->instances, &i->link);
	map_put(s->by_id, i->id, i);
	s->launched++;
	return i;
}

static void instance_free(struct e2_instance *i)
{
	list_remove(&i->link);
	for (size_t k = 0; k < i->ntags; k++) {
		free(i->tags[k].key);
		free(i->tags[k].value);
	}
	free(i->tags);
	free(i->image);
	free(i->subnet);
	free(i->token);
	free(i->user_data);
	free(i->why);
	free(i->profile);
	free(i);
}

void e2_tag(struct e2_instance *i, const char *key, const char *value)
{
	for (size_t k = 0; k < i->ntags; k++)
		if (str_eq(i->tags[k].key, key)) {
			free(i->tags[k].value);
			i->tags[k].value = mem_strdup(value);
			return;
		}
	mem_grow(i->tags, i->ntags, i->tags_cap);
	i->tags[i->ntags++] = (struct e2_tag){mem_strdup(key), mem_strdup(value)};
}

/* Makes the instance shut down at the loop time `at`; if the instance already ends earlier, nothing
 * changes. */
void e2_end(struct sim_ec2 *s, struct e2_instance *i, int64_t at, const char *why)
{
	if (at >= i->ending)
		return;
	i->ending = at;
	i->gone = at + s->spec.ending_ms;
	free(i->why);
	i->why = mem_strdup(why);
}

/* --- cost ------------------------------------------------------------------------------------- */

/* Returns the price of `seconds` seconds in millionths, rounded up. */
static int64_t micros_of(int64_t per_hour, int64_t seconds)
{
	return (int64_t)(((__int128)per_hour * seconds + 3599) / 3600);
}

int64_t e2_cost(const struct e2_instance *i, int64_t now)
{
	int64_t until = now < i->ending ? now : i->ending;
	int64_t seconds = until > i->running ? (until - i->running + 999) / 1000 : 0;

	if (until <= i->running || i->reserved)
		return 0;
	return micros_of(i->spot ? i->type->spot_micros : i->type->micros,
			 seconds < BILLED_S ? BILLED_S : seconds);
}

int64_t e2_reserved_cost(const struct e2_reserved *r, int64_t now)
{
	int64_t from = r->past_until > r->starts ? r->past_until : r->starts;
	int64_t until = now < r->ends ? now : r->ends;

	if (r->upfront >= 0)
		return r->upfront;
	return r->past_micros +
	       (until > from ? micros_of(r->type->micros * r->count, (until - from + 999) / 1000)
			     : 0);
}

int64_t sim_ec2_micros(const struct sim_ec2 *s)
{
	int64_t sum = s->past_micros, now = loop_now(s->loop);

	list_for_each (i, &s->instances, struct e2_instance, link)
		sum += e2_cost(i, now);
	list_for_each (r, &s->reserved, struct e2_reserved, link)
		sum += e2_reserved_cost(r, now);
	return sum;
}

/* --- reservations ----------------------------------------------------------------------------- */

struct e2_reserved *e2_reserved_of(const struct sim_ec2 *s, const char *id, const char *account)
{
	list_for_each (r, &s->reserved, struct e2_reserved, link)
		if (str_eq(r->id, id) && (!account || str_eq(r->account, account)))
			return r;
	return NULL;
}

int64_t e2_reserved_used(const struct sim_ec2 *s, const struct e2_reserved *r, int64_t now)
{
	int64_t n = 0;

	list_for_each (i, &s->instances, struct e2_instance, link)
		n += i->reserved == r && now < i->ending;
	return n;
}

/* Makes all instances of a capacity block end SIM_EC2_BLOCK_ENDS_MS before the block does. If the
 * block's end has changed, an end that was set earlier is moved. */
static void end_block(struct sim_ec2 *s, struct e2_reserved *r)
{
	int64_t now = loop_now(s->loop), at = r->ends - SIM_EC2_BLOCK_ENDS_MS;

	list_for_each (i, &s->instances, struct e2_instance, link) {
		if (i->reserved != r || now >= i->ending || r->upfront < 0)
			continue;
		if (str_eq(i->why, BLOCK_WHY))
			i->ending = i->gone = E2_NEVER;
		if (r->ends != E2_NEVER)
			e2_end(s, i, at > now ? at : now, BLOCK_WHY);
	}
	e2_watch(s);
}

int sim_ec2_reserve(struct sim_ec2 *s, const struct sim_ec2_reservation *in, struct err *e)
{
	const struct e2_type *t = e2_type_of(s, in->type);
	const char *zone = e2_zone_of(s, str_or(in->zone, ""));
	struct e2_reserved *r = in->id ? e2_reserved_of(s, in->id, NULL) : NULL;
	int64_t now = loop_now(s->loop), ends = in->ends ? in->ends : E2_NEVER;

	if (!in->id || in->count < 0 || (!r && (!t || !zone)) || ends < in->starts)
		return err_set(e, ERR_INVALID, 0,
			       "want an id, a known type and zone, a count, and an end after the "
			       "start");
	if (r && r->upfront < 0) {
		r->past_micros = e2_reserved_cost(r, now);
		r->past_until = now;
	}
	if (!r) {
		r = mem_new(struct e2_reserved);
		r->id = mem_strdup(in->id);
		r->account = mem_strdup(str_or(in->account, SIM_EC2_ACCOUNT));
		r->type = t;
		r->zone = zone;
		r->starts = in->starts;
		r->upfront = in->upfront_micros;
		list_push_back(&s->reserved, &r->link);
	}
	r->count = in->count;
	r->ends = ends;
	end_block(s, r);
	return 0;
}

/* --- reported state, retention ---------------------------------------------------------------- */

static struct sim_ec2_instance as_told(const struct sim_ec2 *s, const struct e2_instance *i)
{
	int64_t now = loop_now(s->loop);

	return (struct sim_ec2_instance){.id = i->id,
					 .type = i->type->name,
					 .zone = i->zone,
					 .account = i->account,
					 .state = e2_state_names[e2_state_at(i, now)],
					 .spot = i->spot,
					 .user_data = i->user_data,
					 .user_data_len = i->user_data_len,
					 .micros = e2_cost(i, now)};
}

bool sim_ec2_find(struct sim_ec2 *s, const char *id, struct sim_ec2_instance *out)
{
	const struct e2_instance *i = map_get(s->by_id, id);

	if (i)
		*out = as_told(s, i);
	return i != NULL;
}

size_t sim_ec2_live(const struct sim_ec2 *s)
{
	size_t n = 0;

	list_for_each (i, &s->instances, struct e2_instance, link)
		n += loop_now(s->loop) < i->ending;
	return n;
}

size_t sim_ec2_launched(const struct sim_ec2 *s)
{
	return s->launched;
}

unsigned sim_ec2_calls(const struct sim_ec2 *s, const char *action)
{
	const unsigned *n = map_get(s->calls, str_or(action, ""));

	return n ? *n : 0;
}

static void earlier(int64_t at, int64_t now, int64_t *next)
{
	if (at > now && at < *next)
		*next = at;
}

/* Calls on_change() for each instance whose state has changed since the last call. If an instance
 * passed several states meanwhile, reports only the latest. */
static void on_moment(void *arg)
{
	struct sim_ec2 *s = arg;
	int64_t now = loop_now(s->loop);

	list_for_each (i, &s->instances, struct e2_instance, link) {
		struct sim_ec2_instance t;

		if (e2_state_at(i, now) == i->told)
			continue;
		i->told = e2_state_at(i, now);
		t = as_told(s, i);
		s->spec.on_change(&t, s->spec.arg);
	}
	e2_watch(s);
}

void e2_watch(struct sim_ec2 *s)
{
	int64_t now = loop_now(s->loop), next = E2_NEVER;

	if (!s->spec.on_change)
		return;
	list_for_each (i, &s->instances, struct e2_instance, link) {
		if (i->told != e2_state_at(i, now))
			next = now;
		earlier(i->running, now, &next);
		earlier(i->ending, now, &next);
		earlier(i->gone, now, &next);
	}
	loop_timer_stop(&s->change);
	if (next != E2_NEVER)
		loop_timer_start(&s->change, next - now);
}

void e2_forget(struct sim_ec2 *s)
{
	int64_t now = loop_now(s->loop);
	struct map_iter it;

	if (now < s->forgot + FORGET_MS)
		return;
	s->forgot = now;
	list_for_each (i, &s->instances, struct e2_instance, link) {
		if (i->gone == E2_NEVER || now < i->gone + s->spec.gone_ms + TOKEN_MS)
			continue;
		s->past_micros += e2_cost(i, now);
		map_del(s->by_id, i->id);
		instance_free(i);
	}
	map_for_each (it, s->tokens) {
		const struct e2_token *t = it.value;

		if (now >= t->since + TOKEN_MS)
			map_del(s->tokens, it.key);
	}
}

/* --- start and end ---------------------------------------------------------------------------- */

struct sim_ec2 *sim_ec2_new(const struct sim_ec2_spec *spec, struct err *e)
{
	static const char *const zones[] = {"eu-west-1a", "eu-west-1b", "eu-west-1c", "us-east-1a",
					    NULL};
	struct sim_ec2 *s = mem_new(struct sim_ec2);

	s->spec = *spec;
	s->spec.pending_ms = spec->pending_ms ? spec->pending_ms : PENDING_MS;
	s->spec.ending_ms = spec->ending_ms ? spec->ending_ms : ENDING_MS;
	s->spec.gone_ms = spec->gone_ms ? spec->gone_ms : GONE_MS;
	s->loop = loop_of(spec->group);
	s->arena = arena_new();
	s->zones = spec->zones ? spec->zones : zones;
	list_init(&s->instances);
	list_init(&s->reserved);
	list_init(&s->faults);
	sim_delays_init(&s->delays, spec->group);
	s->by_id = map_new(NULL);
	s->tokens = map_new(free);
	s->calls = map_new(free);
	loop_timer_init(&s->change, spec->group, on_moment, s);
	if (e2_types_read(s, spec->prices, e) < 0) {
		sim_ec2_free(s);
		return NULL;
	}
	return s;
}

void sim_ec2_free(struct sim_ec2 *s)
{
	if (!s)
		return;
	loop_timer_stop(&s->change);
	sim_delays_done(&s->delays);
	sim_ec2_well(s);
	list_for_each (i, &s->instances, struct e2_instance, link)
		instance_free(i);
	list_for_each (r, &s->reserved, struct e2_reserved, link) {
		list_remove(&r->link);
		free(r->id);
		free(r->account);
		free(r);
	}
	map_free(s->by_id);
	map_free(s->tokens);
	map_free(s->calls);
	arena_free(s->arena);
	free(s);
}
