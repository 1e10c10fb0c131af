#include "tests/world/burst_rule.h"

#include <string.h>
#include "base/data/json.h"
#include "base/money.h"
#include "base/str.h"
#include "tests/world/sky.h"
#include "tests/world/world.h"

struct look {
	struct sky *s;
	struct burst_rule *r;
	/* Sum of the amounts in claims and in ledger rows. */
	int64_t committed;
	/* UID for which the iteration searches; found: an object has it. */
	const char *uid;
	bool found;
};

static int64_t micros(const char *text)
{
	int64_t m;
	struct err e;

	return money_parse(str_or(text, ""), &m, &e) < 0 ? INT64_MAX / 2 : m;
}

/* --- pods ------------------------------------------------------------------------------------- */

static bool is_pod(const json_t *o, void *arg)
{
	struct look *k = arg;

	k->found = str_eq(json_str_at(o, "metadata", "uid"), k->uid);
	return !k->found;
}

static bool has_pod(struct look *k, const json_t *claim)
{
	const json_t *uid;
	size_t i;

	json_array_foreach (json_at(claim, "spec", "pods"), i, uid)
		for (int t = 0; t < 2; t++) {
			k->uid = json_string_value(uid);
			k->found = false;
			cluster_each(&k->s->world->tenants[t], "pods/", is_pod, k);
			if (k->found)
				return true;
		}
	return false;
}

/* --- claims ----------------------------------------------------------------------------------- */

static struct burst_seen *seen_of(struct burst_rule *r, const char *uid)
{
	for (unsigned i = 0; i < r->n; i++)
		if (str_eq(r->v[i].uid, uid))
			return &r->v[i];
	return NULL;
}

static bool look_at_claim(const json_t *o, void *arg)
{
	const int64_t now = loop_now(((struct look *)arg)->s->world->loop);
	const char *uid = json_str_at(o, "metadata", "uid");
	struct look *k = arg;
	struct burst_seen *x = seen_of(k->r, uid);

	if (!json_at(o, "spec", "burst"))
		return true;
	k->committed += micros(json_str_at(o, "spec", "burst", "committed"));
	if (!x && k->r->n < BURST_RULE_CLAIMS) {
		x = &k->r->v[k->r->n++];
		*x = (struct burst_seen){.wanted_at = now};
		str_copy(x->uid, sizeof(x->uid), uid);
		str_copy(x->gang, sizeof(x->gang),
			 str_or(json_str_at(o, "spec", "gang", "uid"), ""));
	}
	if (x && !x->launched && has_pod(k, o))
		x->wanted_at = now;
	return true;
}

static bool is_there(const json_t *o, void *arg)
{
	struct look *k = arg;

	k->found = str_eq(json_str_at(o, "metadata", "uid"), k->uid);
	return !k->found;
}

static bool look_at_ledger(const json_t *o, void *arg)
{
	struct look *k = arg;
	const json_t *x;
	size_t i;

	json_array_foreach (json_at(o, "status", "rows"), i, x) {
		k->uid = json_str_at(x, "claim");
		k->found = false;
		if (k->uid)
			cluster_each(&k->s->world->host, "nodeclaims.drover.dev/", is_there, k);
		if (!k->found)
			k->committed += micros(json_str_at(x, "amount"));
	}
	return true;
}

/* --- the rule --------------------------------------------------------------------------------- */

static bool launched_wrongly(struct sky *s, struct burst_rule *r, const struct fake_instance *i,
			     char *why, size_t size)
{
	struct burst_seen *x = seen_of(r, json_str_at(i->tags, "drover.dev/claim"));

	if (!x || x->launched)
		return false;
	x->launched = true;
	if (loop_now(s->world->loop) - x->wanted_at <= BURST_RULE_GONE_MS)
		return false;
	str_format(why, size, "S6: instance %s was launched for pods that had gone %lld s before",
		   i->id, (long long)(loop_now(s->world->loop) - x->wanted_at) / 1000);
	return true;
}

static int64_t billed(const struct sky *s)
{
	const int64_t now = loop_now(s->world->loop);
	int64_t sum = 0, one;

	list_for_each (i, &s->cloud.instances, struct fake_instance, link)
		for (int z = 0; z < FAKE_CLOUD_ZONES; z++)
			if (json_str_at(i->tags, "drover.dev/policy") &&
			    str_eq(s->cloud.zones[z].zone, i->zone) &&
			    money_for_ms(s->cloud.zones[z].micros,
					 (i->gone ? i->ended_at : now) - i->launched_at, &one))
				sum += one + s->bursts.egress;
	return sum;
}

static const char *gang_of(struct burst_rule *r, const struct fake_instance *i)
{
	const struct burst_seen *x = seen_of(r, json_str_at(i->tags, "drover.dev/claim"));

	return x && x->gang[0] && !i->gone ? x->gang : NULL;
}

static bool in_two_zones(struct sky *s, char *why, size_t size)
{
	list_for_each (i, &s->cloud.instances, struct fake_instance, link)
		list_for_each (k, &s->cloud.instances, struct fake_instance, link) {
			const char *gang = gang_of(&s->bursts, i);

			if (!gang || !str_eq(gang, gang_of(&s->bursts, k)) ||
			    str_eq(i->zone, k->zone))
				continue;
			str_format(why, size, "S6: gang %s is in zones %s and %s", gang, i->zone,
				   k->zone);
			return true;
		}
	return false;
}

bool burst_rule_wrong(struct sky *s, char *why, size_t size)
{
	const int64_t now = loop_now(s->world->loop);
	struct burst_rule *r = &s->bursts;
	struct look k = {.s = s, .r = r};

	list_for_each (i, &s->cloud.instances, struct fake_instance, link)
		if (launched_wrongly(s, r, i, why, size))
			return true;
	if (r->looked_at && now - r->looked_at < 5000)
		return false;
	r->looked_at = now;
	cluster_each(&s->world->host, "nodeclaims.drover.dev/", look_at_claim, &k);
	if (in_two_zones(s, why, size))
		return true;
	if (!r->budget)
		return false;
	cluster_each(&s->world->host, "burstledgers.drover.dev/", look_at_ledger, &k);
	if (k.committed <= r->budget && billed(s) <= r->budget)
		return false;
	str_format(why, size,
		   "S6: %lld millionths are committed and %lld billed, the budget is %lld",
		   (long long)k.committed, (long long)billed(s), (long long)r->budget);
	return true;
}
