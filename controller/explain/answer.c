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

const json_t *answer_false_condition(const json_t *o, const char *type)
{
	size_t i;
	const json_t *c;

	json_array_foreach (json_object_get(o, "conditions"), i, c)
		if (str_eq(json_str_at(c, "type"), type) &&
		    str_eq(json_str_at(c, "status"), "False"))
			return c;
	return NULL;
}

const char *answer_ready(const struct conditions *cs)
{
	const struct condition *ready = condition_get(cs, "Ready");

	return !ready ? "New" : ready->status == CONDITION_TRUE ? "Ready" : "NotReady";
}

void answer_help(json_t *o, const char *format, const char *name)
{
	json_t *list = json_object_get(o, "helps");
	OWN(arena) a = arena_new();
	const char *text = "", *at;

	if (!list)
		json_object_set_new(o, "helps", list = json_array());
	for (; (at = strstr(format, "%s")); format = at + 2)
		text = arena_printf(a, "%s%.*s%s", text, (int)(at - format), format, name);
	text = arena_printf(a, "%s%s", text, format);
	if (!json_has_str(list, text))
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

const char *answer_quoted(const char *s, struct arena *a)
{
	char *out = arena_alloc(a, strlen(s) * 4 + 3), *to = out;

	*to++ = '\'';
	for (; *s; s++) {
		if (*s == '\'') {
			memcpy(to, "'\\''", 4);
			to += 4;
		} else {
			*to++ = (unsigned char)*s < 0x20 || *s == 0x7f ? ' ' : *s;
		}
	}
	*to++ = '\'';
	*to = '\0';
	return out;
}

/* Returns the length of the shell word at s; a word may contain parts in single quotes. 0: no word,
 * or a quote that does not end. */
static size_t word_len(const char *s)
{
	const char *p = s, *end;

	for (; *p && !strchr(" ;,()", *p); p++) {
		if (*p == '\\' && p[1])
			p++;
		else if (*p == '\'') {
			end = strchr(p + 1, '\'');
			if (!end)
				return 0;
			p = end;
		}
	}
	return (size_t)(p - s);
}

/* True if the last part of the word after '/' consists of capital letters only. */
static bool is_variable(const char *word, size_t len)
{
	const char *p = word + len;

	while (p > word && p[-1] >= 'A' && p[-1] <= 'Z')
		p--;
	return p < word + len && (p == word || p[-1] == '/');
}

/* True if this option of a drover command is followed by a value. */
static bool has_value(const char *option, size_t len)
{
	static const char *const with[] = {"--reason", "--deadline", "--on-deadline", "--adopt",
					   "--then"};

	for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++)
		if (strlen(with[i]) == len && !strncmp(option, with[i], len))
			return true;
	return false;
}

/* Returns the length of the command at s, which begins with "drover "; 0: it is not complete. */
static size_t command_len(const char *s)
{
	const char *p = s + strlen("drover ");
	size_t n = word_len(p), end;
	bool value = true;

	/* the verb, then one operand, then options */
	for (p += n; n && *p == ' '; p += n + 1) {
		end = (size_t)(p - s);
		n = word_len(p + 1);
		if (!value && strncmp(p + 1, "--", 2) != 0)
			return end;
		if (!n || is_variable(p + 1, n))
			return 0;
		value = !value && has_value(p + 1, n);
	}
	return value ? 0 : (size_t)(p - s);
}

/* Returns the length of the command at s, which begins with "drover ", if the command can be run
 * unchanged; 0: it cannot. */
static size_t runnable_len(const char *s)
{
	static const char *const verbs[] = {"approve ", "cancel ", "confirm-off ", "drain ",
					    "release ", "resume ", "retire ",	   "retry "};

	for (size_t k = 0; k < sizeof(verbs) / sizeof(verbs[0]); k++)
		if (str_starts(s + strlen("drover "), verbs[k]))
			return command_len(s);
	return 0;
}

json_t *answer_commands(const json_t *o)
{
	json_t *list = json_array(), *x;
	size_t i, n;

	json_array_foreach (json_object_get(o, "helps"), i, x)
		for (const char *at = json_string_value(x); (at = strstr(at, "drover ")); at++)
			if ((n = runnable_len(at)))
				json_array_append_new(list, json_stringn(at, n));
	return list;
}

const char *answer_command(const json_t *o, struct arena *a)
{
	OWN_JSON list = answer_commands(o);
	const char *first = json_string_value(json_array_get(list, 0));

	return first ? arena_strdup(a, first) : NULL;
}
