#include "controller/explain/answer.h"

#include <string.h>

#include "api/reasons.h"
#include "base/arena.h"
#include "base/str.h"
#include "api/target.h"

void answer_put(json_t *o, const char *key, const char *text)
{
	if (!str_empty(text))
		json_object_set_new(o, key, json_string(text));
}

void answer_time(json_t *o, const char *key, int64_t ms)
{
	char t[STR_TIME_SIZE];

	if (ms)
		answer_put(o, key, str_time(t, ms));
}

void answer_error(json_t *o, const char *key, const char *reason, const char *message, int64_t time)
{
	json_t *e;

	if (str_empty(reason))
		return;
	e = json_object();
	answer_put(e, "reason", reason);
	answer_put(e, "message", message);
	answer_time(e, "time", time);
	json_object_set_new(o, key, e);
}

void answer_conditions(json_t *o, const struct conditions *cs)
{
	json_t *list = json_array();

	for (size_t i = 0; i < cs->n; i++)
		json_array_append_new(list, fields_encode(condition_fields, &cs->v[i]));
	json_object_set_new(o, "conditions", list);
}

const char *answer_ready(const struct conditions *cs)
{
	const struct condition *ready = condition_get(cs, "Ready");

	return !ready ? "New" : ready->status == CONDITION_TRUE ? "Ready" : "NotReady";
}

void answer_help(json_t *o, const char *format, const char *name)
{
	json_t *list = json_object_get(o, "helps"), *x;
	OWN(arena) a = arena_new();
	const char *text = "", *at;
	size_t i;

	if (!list)
		json_object_set_new(o, "helps", list = json_array());
	for (; (at = strstr(format, "%s")); format = at + 2)
		text = arena_printf(a, "%s%.*s%s", text, (int)(at - format), format, name);
	text = arena_printf(a, "%s%s", text, format);
	json_array_foreach (list, i, x)
		if (str_eq(json_string_value(x), text))
			return;
	json_array_append_new(list, json_string(text));
}

void answer_help_with(json_t *o, const char *reason, const char *name)
{
	enum reason r = reason_find(reason);

	if (r != REASON_NONE)
		answer_help(o, reason_info[r].helps, name);
}

void answer_help_unpause(json_t *o, enum object_kind_id kind, const char *name)
{
	OWN(arena) a = arena_new();

	answer_help(o, arena_printf(a, "to end the pause: drover resume %s/%%s", target_word(kind)),
		    name);
}

void answer_help_valid(json_t *o, enum object_kind_id kind, const struct conditions *cs,
		       const char *name)
{
	const struct condition *valid = condition_get(cs, "Valid");
	OWN(arena) a = arena_new();

	if (valid && valid->status == CONDITION_FALSE)
		answer_help(
			o,
			arena_printf(
				a,
				"correct the field that condition Valid reports: kubectl edit %s "
				"%%s",
				object_kinds[kind].singular),
			name);
}
