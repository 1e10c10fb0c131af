#include "tests/world/reason_rule.h"

#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "tests/world/world.h"

struct look {
	const char *key;
	char *why;
	size_t size;
};

/* True if text contains "REASON: ", at its start or further inside: "place 1 in the queue:
 * NoCapacity: ..." repeats the reason NoCapacity. */
static bool repeats(const char *text, const char *reason)
{
	OWN(arena) a = arena_new();

	return text && !str_empty(reason) && strstr(text, arena_printf(a, "%s: ", reason));
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
	return !l->why[0];
}

bool reason_rule_look(const struct sim_world *w, char *why, size_t size)
{
	const struct cluster *clusters[] = {&w->host, &w->tenants[0], &w->tenants[1]};
	struct look l = {.why = why, .size = size};

	why[0] = '\0';
	for (int i = 0; i < 3; i++)
		store_list(clusters[i]->store, "", NULL, 0, look, &l);
	return !why[0];
}
