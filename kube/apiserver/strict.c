#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/str.h"
#include "kube/apiserver/amount.h"
#include "kube/apiserver/messages.h"
#include "kube/apiserver/strict.h"

/*
 * Handles fields that a kind does not have (query parameter fieldValidation: Strict, Warn, Ignore),
 * and refuses values of a wrong type. Built-in kinds are described by the table of messages
 * (messages.def), custom kinds by the schema in their CustomResourceDefinition. The recursion is
 * bounded by the depth of the object, which json_parse() has limited.
 */
#define MAX_STRAYS 20
/* Maximum total length of warnings in bytes; they share one header line. */
#define MAX_WARNINGS ((size_t)3 << 10)

struct strays {
	struct arena *arena;
	struct fault *f;
	const char *path[MAX_STRAYS];
	size_t n;
};

static void stray(struct strays *s, const char *path)
{
	if (s->n < MAX_STRAYS)
		s->path[s->n] = path;
	s->n++;
}

static int wrong(struct strays *s, const char *path, const char *want)
{
	return fault_set(s->f, FAULT_BAD_REQUEST, "%.300s: want %s", path, want);
}

static const char *join(struct strays *s, const char *path, const char *name)
{
	return arena_printf(s->arena, "%s%s%.100s", path, *path ? "." : "", name);
}

/* --- built-in kinds --------------------------------------------------------------------------- */

static bool find_field(const struct message *m, const char *name, struct message_field *f)
{
	for (const char *at = NULL; m && message_next(m, &at, f);) {
		struct message_field inner;

		if (!f->is_inline && str_eq(f->name, name))
			return true;
		if (f->is_inline && find_field(message_find(f->of), name, &inner)) {
			*f = inner;
			return true;
		}
	}
	return false;
}

/* True if the table of messages has all fields of the message. False for volumes, because the table
 * omits the volumes of particular vendors; unknown fields in them are accepted. */
static bool is_whole(const struct message *m)
{
	return !str_eq(m->name, "core.v1.Volume") &&
	       !str_starts(m->name, "core.v1.PersistentVolume");
}

static int walk_message(struct strays *s, const struct message *m, json_t *v, const char *path,
			bool top);

static bool is_quantity(const json_t *v)
{
	return json_is_number(v) || (json_is_string(v) && amount_is_valid(json_string_value(v)));
}

/* Checks one value of the field; for a field that is a list or map, one of its elements. */
static int check_one(struct strays *s, const struct message_field *f, json_t *v, const char *path)
{
	const struct message *m;
	int64_t ms;

	if (json_is_null(v))
		return 0;
	switch (f->type) {
	case MESSAGE_STRING:
	case MESSAGE_BYTES:
		return json_is_string(v) ? 0 : wrong(s, path, "a string");
	case MESSAGE_BOOL:
		return json_is_boolean(v) ? 0 : wrong(s, path, "true or false");
	case MESSAGE_INT:
		return json_is_integer(v) ? 0 : wrong(s, path, "a whole number");
	case MESSAGE_STRINGS:
		return json_is_array(v) ? 0 : wrong(s, path, "a list");
	case MESSAGE_TIME:
	case MESSAGE_MICRO_TIME:
		return json_is_string(v) && str_to_time(json_string_value(v), &ms)
			       ? 0
			       : wrong(s, path, "a time in RFC 3339");
	case MESSAGE_QUANTITY:
		return is_quantity(v) ? 0 : wrong(s, path, "a quantity");
	case MESSAGE_INT_OR_STRING:
		return json_is_integer(v) || json_is_string(v)
			       ? 0
			       : wrong(s, path, "a whole number or a string");
	case MESSAGE_ANY:
		return 0;
	case MESSAGE_MESSAGE:
		break;
	}
	m = message_find(f->of);
	if (!json_is_object(v))
		return m ? wrong(s, path, "an object") : 0;
	return m ? walk_message(s, m, v, path, false) : 0;
}

static int check_field(struct strays *s, const struct message_field *f, json_t *v, const char *path)
{
	const char *name;
	json_t *one;
	size_t i;

	if (json_is_null(v))
		return 0;
	if (f->list ? !json_is_array(v) : f->map && !json_is_object(v))
		return wrong(s, path, f->list ? "a list" : "an object");
	if (!f->list && !f->map)
		return check_one(s, f, v, path);
	json_array_foreach (v, i, one)
		if (check_one(s, f, one, arena_printf(s->arena, "%s[%zu]", path, i)) < 0)
			return -1;
	json_object_foreach (v, name, one)
		if (check_one(s, f, one, join(s, path, name)) < 0)
			return -1;
	return 0;
}

static int walk_message(struct strays *s, const struct message *m, json_t *v, const char *path,
			bool top)
{
	const char *name;
	json_t *one;
	void *next;

	json_object_foreach_safe(v, next, name, one)
	{
		const char *full = join(s, path, name);
		struct message_field f;

		if (top && (str_eq(name, "apiVersion") || str_eq(name, "kind")))
			continue;
		if (find_field(m, name, &f)) {
			if (check_field(s, &f, one, full) < 0)
				return -1;
		} else if (is_whole(m)) {
			stray(s, full);
			json_object_del(v, name);
		}
	}
	return 0;
}

int strict_check(const char *kind, json_t *obj, struct arena *a, struct err *e)
{
	const struct message *m = message_of_kind("", "v1", kind);
	struct fault f = {.text = ""};
	struct strays s = {.arena = a, .f = &f};

	if (!m)
		return err_set(e, ERR_UNSUPPORTED, 0, "kind %s is not known", kind);
	if (walk_message(&s, m, obj, "", true) < 0)
		return err_set(e, ERR_INVALID, 0, "%s", f.text);
	return s.n ? err_set(e, ERR_INVALID, 0, "%.300s: unknown field", s.path[0]) : 0;
}

/* --- custom kinds ----------------------------------------------------------------------------- */

static void walk_schema(struct strays *s, const json_t *schema, json_t *v, const char *path,
			bool top)
{
	const char *name;
	json_t *one;
	size_t i;

	json_array_foreach (v, i, one)
		walk_schema(s, json_object_get(schema, "items"), one,
			    arena_printf(s->arena, "%s[%zu]", path, i), false);
	json_object_foreach (v, name, one) {
		const json_t *member = schema_of_member(schema, name);

		if ((top || json_true_at(schema, "x-kubernetes-embedded-resource")) &&
		    schema_is_server_member(name))
			continue;
		if (member)
			walk_schema(s, member, one, join(s, path, name), false);
		else if (!schema_keeps_unknown(schema))
			stray(s, join(s, path, name));
	}
}

/* --- the request ------------------------------------------------------------------------------ */

static int refuse_strays(struct request *rq, const struct strays *s)
{
	struct buf b;
	int rc;

	buf_init(&b, sizeof(rq->fault.text));
	for (size_t i = 0; i < s->n && i < MAX_STRAYS; i++)
		buf_printf(&b, "%sunknown field \"%.80s\"", i ? ", " : "", s->path[i]);
	rc = fault_set(
		&rq->fault, FAULT_BAD_REQUEST,
		"%s in version \"%s\" cannot be handled as a %s: strict decoding error: %.380s",
		rq->r->kind, rq->r->version, rq->r->kind, b.data);
	buf_done(&b);
	return rc;
}

/* True if s may be put between quotes in a header without escapes (quoted-string in RFC 9110,
 * 5.6.4). */
static bool is_quotable(const char *s)
{
	for (; *s; s++)
		if (*s < ' ' || *s > '~' || *s == '"' || *s == '\\')
			return false;
	return true;
}

static void warn_of_strays(struct request *rq, const struct strays *s)
{
	struct buf b;

	buf_init(&b, MAX_WARNINGS);
	for (size_t i = 0; i < s->n && i < MAX_STRAYS; i++)
		if (is_quotable(s->path[i]) && b.len + 200 < MAX_WARNINGS)
			buf_printf(&b, "%s299 - \"unknown field \\\"%.100s\\\"\"",
				   b.len ? ", " : "", s->path[i]);
	if (b.len)
		httpd_reply_header(rq->q, "Warning", b.data);
	buf_done(&b);
}

static int walk(struct strays *s, const struct resource *r, json_t *obj)
{
	const struct message *m = message_of_kind(r->group, r->version, r->kind);
	const struct message *meta = message_find("meta.v1.ObjectMeta");

	if (!r->custom)
		return m ? walk_message(s, m, obj, "", true) : 0;
	if (object_meta(obj) && walk_message(s, meta, object_meta(obj), "metadata", false) < 0)
		return -1;
	if (r->schema)
		walk_schema(s, r->schema, obj, "", true);
	return 0;
}

int fields_check(struct request *rq, json_t *obj)
{
	const char *mode = str_or(httpd_query(rq->q, "fieldValidation"), "Warn");
	struct strays s = {.arena = rq->arena, .f = &rq->fault};

	if (!rq->a->spec.checks)
		return 0;
	if (!str_eq(mode, "Strict") && !str_eq(mode, "Warn") && !str_eq(mode, "Ignore"))
		return fault_set(&rq->fault, FAULT_INVALID,
				 "fieldValidation: Unsupported value: \"%.40s\": supported "
				 "values: \"Ignore\", \"Strict\", \"Warn\"",
				 mode);
	if (walk(&s, rq->r, obj) < 0)
		return -1;
	if (s.n && str_eq(mode, "Strict"))
		return refuse_strays(rq, &s);
	if (s.n && str_eq(mode, "Warn"))
		warn_of_strays(rq, &s);
	return 0;
}
