#include "controller/explain/chain.h"

#include "api/target.h"
#include "base/arena.h"
#include "base/str.h"
#include "controller/explain/answer.h"
#include "controller/explain/explain.h"
#include "controller/explain/owner.h"

static json_t *link_new(json_t *answer, const char *kind, const char *name)
{
	json_t *list = json_object_get(answer, "chain"), *o = json_object();

	if (!list)
		json_object_set_new(answer, "chain", list = json_array());
	answer_put(o, "kind", kind);
	answer_put(o, "name", name);
	json_array_append_new(list, o);
	return o;
}

static void put_problem(json_t *o, const json_t *problem)
{
	answer_put(o, "reason", json_str_at(problem, "reason"));
	answer_put(o, "message", json_str_at(problem, "message"));
}

void chain_add(json_t *answer, enum object_kind_id kind, const void *object, int64_t now)
{
	static const char *const same[] = {"state", "since", "lastContact", "waitingFor",
					   "nextTry"};
	OWN_JSON of = explain_object(kind, object, now);
	json_t *o;

	if (!of)
		return;
	o = link_new(answer, object_kinds[kind].kind, json_str_at(of, "name"));
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		answer_put(o, same[i], json_str_at(of, same[i]));
	put_problem(o, owner_problem(of));
	answer_put(o, "owner", owner_find(of));
	if (json_object_get(of, "helps"))
		json_object_set(o, "helps", json_object_get(of, "helps"));
}

void chain_add_device(json_t *answer, const struct machine *m)
{
	const struct condition *c = condition_get(&m->status.conditions, "Reachable");
	json_t *o;

	if (str_empty(m->status.power.state) && !c)
		return;
	o = link_new(answer, "Device", m->meta.name);
	answer_put(o, "state", m->status.power.state);
	answer_time(o, "lastContact", m->status.power.observed_time);
	if (!c || c->status != CONDITION_FALSE)
		return;
	answer_time(o, "since", c->last_transition_time);
	answer_put(o, "reason", c->reason);
	answer_put(o, "message", c->message);
	answer_put(o, "owner", owner_of_reason(c->reason));
}

void chain_add_unread(json_t *answer, enum object_kind_id kind, const char *name,
		      const struct err *why)
{
	const bool none = why->kind == ERR_NOT_FOUND;
	json_t *o = link_new(answer, object_kinds[kind].kind, name);

	answer_put(o, "state", none ? "Missing" : "Unread");
	answer_put(o, "reason", none ? "NotFound" : "NotRead");
	answer_put(o, "message", why->text);
	if (none)
		answer_put(o, "owner", "operator");
}

/* Returns the first object of the chain that has a problem, preferably one that is not merely
 * waiting for drover; NULL: none. */
static const json_t *first_problem(const json_t *chain)
{
	const json_t *o, *waits = NULL;
	const char *owner;
	size_t i;

	json_array_foreach (chain, i, o) {
		owner = json_str_at(o, "owner");
		if (owner && !str_eq(owner, "drover"))
			return o;
		if (owner && !waits)
			waits = o;
	}
	return waits;
}

static const char *name_of(const json_t *link, struct arena *a)
{
	const char *kind = str_or(json_str_at(link, "kind"), "");
	const struct object_kind *k = object_kind_find(kind);

	return arena_printf(a, "%s/%s",
			    k ? target_word((enum object_kind_id)(k - object_kinds)) : "machine",
			    str_or(json_str_at(link, "name"), "-"));
}

void chain_end(json_t *answer)
{
	OWN(arena) a = arena_new();
	const char *owner = owner_find(answer);
	const json_t *machine = json_object_get(answer, "machine"), *cause = NULL, *x;
	size_t i;

	if (!owner && json_is_object(machine))
		owner = owner_find(machine);
	if (!owner || str_eq(owner, "drover"))
		cause = first_problem(json_object_get(answer, "chain"));
	if (cause && (!owner || !str_eq(json_str_at(cause, "owner"), "drover"))) {
		owner = json_str_at(cause, "owner");
		answer_put(answer, "cause", name_of(cause, a));
		json_array_foreach (json_object_get(cause, "helps"), i, x)
			answer_help(answer, "%s", json_string_value(x));
	}
	answer_put(answer, "owner", owner);
	answer_put(answer, "command", answer_command(answer, a));
	if (!json_object_get(answer, "command") && json_is_object(machine))
		answer_put(answer, "command", answer_command(machine, a));
	json_array_foreach (json_object_get(answer, "chain"), i, x)
		json_object_del((json_t *)json_array_get(json_object_get(answer, "chain"), i),
				"helps");
}
