#include "tests/world/reason_rule.h"

#include <string.h>
#include <strings.h>

#include "api/burstpolicy.h"
#include "api/codes.h"
#include "api/machine.h"
#include "api/machine_states.h"
#include "api/reasons.h"
#include "base/arena.h"
#include "base/str.h"
#include "planner/burst/burst.h"
#include "planner/plan.h"
#include "tests/world/world.h"

/* Events on waiting pods, which docs/pods.md and docs/burst.md explain */
static const char *const of_pods[] = {"Nominated",   "RoomOnNode", "NotServed",
				      "BurstChosen", "NoBurst",	   NULL};

struct look {
	const char *key;
	char *why;
	size_t size;
	/* also wants a page of each reason */
	bool pages;
};

/* True if text contains "REASON: ", at its start or further inside: "place 1 in the queue:
 * NoCapacity: ..." repeats the reason NoCapacity. */
static bool repeats(const char *text, const char *reason)
{
	OWN(arena) a = arena_new();

	return text && !str_empty(reason) && strstr(text, arena_printf(a, "%s: ", reason));
}

static bool one_of(const char *s, const char *const *list)
{
	for (; *list; list++)
		if (str_eq(s, *list))
			return true;
	return false;
}

/* True if the reason is in a list that has a page. */
static bool has_page(const char *reason)
{
	const struct code_info *c = code_find(reason);

	if (reason_find(reason) != REASON_NONE || (c && str_eq(c->name, reason)) ||
	    one_of(reason, plan_reason_names) || one_of(reason, of_pods) ||
	    one_of(reason, machine_leave_reasons) || one_of(reason, burst_policy_mode_names))
		return true;
	for (int i = 0; i < BURST_CODES; i++)
		if (str_eq(reason, burst_code_names[i]))
			return true;
	/* Condition Ready of a Machine has the name of its state. */
	for (int i = 0; i < MACHINE_STATES; i++)
		if (!strcasecmp(reason, machine_state_info[i].name))
			return true;
	return false;
}

static void wants_page(struct look *l, const json_t *o)
{
	const char *reason = json_str_at(o, "reason");

	if (!str_empty(reason) && !has_page(reason))
		str_format(l->why, l->size,
			   "%s has reason %s, which is neither in api/reasons.def nor in "
			   "api/codes.def",
			   l->key, reason);
}

/* Checks the reasons that drover wrote: of its objects' conditions, and of its events. */
static void look_for_pages(struct look *l, const json_t *o)
{
	const char *by = json_str_at(o, "source", "component");
	const json_t *conditions = json_at(o, "status", "conditions"), *c;
	size_t i;

	if (strstr(l->key, ".drover.dev/"))
		json_array_foreach ((json_t *)conditions, i, c)
			wants_page(l, c);
	if (by && str_starts(by, "drover"))
		wants_page(l, o);
}

static void walk(struct look *l, const json_t *o)
{
	const char *reason = json_str_at(o, "reason"), *text = json_str_at(o, "message"), *key;
	json_t *x;
	size_t i;

	if (repeats(text, reason))
		str_format(l->why, l->size, "%s says its reason twice: %s: %s", l->key, reason,
			   text);
	if (json_is_object(o))
		json_object_foreach ((json_t *)o, key, x)
			walk(l, x);
	json_array_foreach (o, i, x)
		walk(l, x);
}

static bool look(const struct store_entry *en, void *arg)
{
	struct look *l = arg;
	struct err e;
	OWN_JSON o = json_parse(en->value, en->value_len, &e);

	l->key = en->key;
	walk(l, o);
	if (l->pages)
		look_for_pages(l, o);
	return !l->why[0];
}

bool reason_rule_look(const struct sim_world *w, char *why, size_t size)
{
	const struct cluster *clusters[] = {&w->host, &w->tenants[0], &w->tenants[1]};
	struct look l = {.why = why, .size = size, .pages = w->reasons_have_pages};

	why[0] = '\0';
	for (int i = 0; i < 3; i++)
		store_list(clusters[i]->store, "", NULL, 0, look, &l);
	return !why[0];
}
