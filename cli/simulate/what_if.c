#include "cli/simulate/what_if.h"

#include <string.h>

#include "api/kinds.h"
#include "base/mem.h"
#include "base/str.h"

static json_t *find(const struct scenario_file *f, const char *kind, const char *name)
{
	for (size_t i = 0; i < f->n; i++)
		if (str_eq(json_str_at(f->v[i].j, "kind"), kind) &&
		    (!name || str_eq(json_str_at(f->v[i].j, "metadata", "name"), name)))
			return f->v[i].j;
	return NULL;
}

/* Returns member key of o, which is an object; creates it if it is missing or has another type. */
static json_t *sub(json_t *o, const char *key)
{
	json_t *v = json_object_get(o, key);

	if (!json_is_object(v)) {
		v = json_object();
		json_object_set_new(o, key, v);
	}
	return v;
}

static json_t *head(struct scenario_file *f)
{
	json_t *j = find(f, "Scenario", NULL);

	if (!j) {
		j = json_pack("{s:s, s:s, s:{s:s}}", "apiVersion", OBJECT_API_VERSION, "kind",
			      "Scenario", "metadata", "name", "what-if");
		mem_grow(f->v, f->n, f->cap);
		f->v[f->n++] =
			(struct scenario_doc){.j = j, .path = f->path, .text = "", .line = 1};
	}
	return sub(j, "spec");
}

static int unknown(const char *change, struct err *e)
{
	return err_set(e, ERR_INVALID, 0,
		       "--what-if %.80s: not supported; want one of " WHAT_IF_FORMS, change);
}

/* --- machines --------------------------------------------------------------------------------- */

struct found_type {
	const char *provider, *type;
	size_t n;
};

static void find_types(const struct scenario_file *f, const char *type, struct found_type *out)
{
	json_t *t;
	size_t k;

	for (size_t i = 0; i < f->n; i++) {
		if (!str_eq(json_str_at(f->v[i].j, "kind"), "Provider"))
			continue;
		json_array_foreach (json_at(f->v[i].j, "spec", "instanceTypes"), k, t) {
			const char *name = json_str_at(t, "name");

			if (!name || (*type && !str_eq(name, type)))
				continue;
			out->provider = json_str_at(f->v[i].j, "metadata", "name");
			out->type = name;
			out->n++;
		}
	}
}

static int more_machines(struct scenario_file *f, const char *type, const char *value,
			 const char *change, struct err *e)
{
	struct found_type t = {0};
	json_t *list, *spec;
	int64_t n;

	if (!str_to_i64(value, 1, SCENARIO_MACHINES, &n))
		return err_set(e, ERR_INVALID, 0, "--what-if %.80s: want 1 to %d machines", change,
			       SCENARIO_MACHINES);
	find_types(f, type, &t);
	if (t.n != 1 || !t.provider)
		return err_set(e, ERR_INVALID, 0,
			       t.n ? "--what-if %.80s: which type? %s"
				   : "--what-if %.80s: no Provider has that type%s",
			       change,
			       t.n ? "give machines.TYPE+=N with a type that exactly one Provider "
				     "has"
				   : "");
	spec = head(f);
	list = json_object_get(spec, "machines");
	if (!json_is_array(list)) {
		list = json_array();
		json_object_set_new(spec, "machines", list);
	}
	json_array_append_new(list,
			      json_pack("{s:{s:s}, s:s, s:I}", "providerRef", "name", t.provider,
					"instanceType", t.type, "count", (json_int_t)n));
	return 0;
}

/* --- members ---------------------------------------------------------------------------------- */

static const struct {
	const char *what, *key, *kind, *inside, *member;
	/* true: the value is stored as a string; false: as a number, true or false */
	bool text;
} members[] = {
	{"pool", "max", "NodePool", "limits", "nodes", true},
	{"pool", "weight", "NodePool", NULL, "weight", false},
	{"pool", "expander", "NodePool", NULL, "expander", true},
	{"pool", "paused", "NodePool", NULL, "paused", false},
	{"tenant", "gpus", "VirtualCluster", "quota", "nvidia.com/gpu", true},
	{"tenant", "weight", "VirtualCluster", NULL, "weight", false},
	{"tenant", "priority", "VirtualCluster", NULL, "priority", false},
	{"times", "boot", NULL, "times", "boot", true},
	{"times", "drain", NULL, "times", "drain", true},
	{"times", "wipe", NULL, "times", "wipe", true},
	{"times", "idle", NULL, "times", "idle", true},
	{"times", "settle", NULL, "times", "settle", true},
	{"until", "", NULL, NULL, "until", true},
};

static json_t *value_of(const char *text, bool as_text)
{
	int64_t n;

	if (!as_text && (str_eq(text, "true") || str_eq(text, "false")))
		return json_boolean(str_eq(text, "true"));
	if (!as_text && str_to_i64(text, INT64_MIN, INT64_MAX, &n))
		return json_integer(n);
	return json_string(text);
}

static int set_member(struct scenario_file *f, size_t row, const char *name, const char *value,
		      const char *change, struct err *e)
{
	json_t *o, *v;

	if (members[row].kind) {
		o = find(f, members[row].kind, name);
		if (!o)
			return err_set(e, ERR_INVALID, 0, "--what-if %.80s: there is no %s '%.63s'",
				       change, members[row].kind, name);
		o = sub(o, "spec");
	} else {
		o = head(f);
	}
	if (members[row].inside)
		o = sub(o, members[row].inside);
	v = value_of(value, members[row].text);
	if (!v || json_object_set_new(o, members[row].member, v) < 0)
		return err_set(e, ERR_INVALID, 0, "--what-if %.80s: not UTF-8", change);
	return 0;
}

/* Applies a change whose path is "what.NAME.key", "what.key" or "what". NAME may contain dots.
 * change: the whole text, for errors. */
static int apply(struct scenario_file *f, char *path, const char *value, const char *change,
		 struct err *e)
{
	char *first = strchr(path, '.'), *last = strrchr(path, '.');
	const char *name = NULL, *key = "";

	if (first) {
		*first = '\0';
		*last = '\0';
		key = last + 1;
		name = last > first ? first + 1 : NULL;
	}
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (str_eq(members[i].what, path) && str_eq(members[i].key, key) &&
		    (members[i].kind != NULL) == (name != NULL))
			return set_member(f, i, name, value, change, e);
	return unknown(change, e);
}

int what_if_apply(struct scenario_file *f, const char *change, struct err *e)
{
	OWN(arena) a = arena_new();
	char *path = arena_strdup(a, change), *by = strchr(path, '=');

	if (!by)
		return unknown(change, e);
	*by = '\0';
	if (by > path && by[-1] == '+') {
		by[-1] = '\0';
		if (str_eq(path, "machines"))
			return more_machines(f, "", by + 1, change, e);
		if (str_starts(path, "machines."))
			return more_machines(f, path + strlen("machines."), by + 1, change, e);
		return unknown(change, e);
	}
	return apply(f, path, by + 1, change, e);
}
