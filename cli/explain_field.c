#include "cli/explain_field.h"

#include <string.h>
#include <strings.h>

#include "api/target.h"
#include "base/str.h"

/* Finds the object type at the beginning of path. Returns the length of its name; 0: there is none.
 * The longest name counts, because a type may be written with its group: nodepools.drover.dev. */
static size_t kind_at(const char *path, enum object_kind_id *kind)
{
	size_t found = 0;

	for (size_t n = strcspn(path, "."); n;) {
		enum object_kind_id id = target_kind(path, n);

		if (id != OBJECT_KINDS) {
			*kind = id;
			found = n;
		}
		n = path[n] ? n + 1 + strcspn(path + n + 1, ".") : 0;
	}
	return found;
}

bool explain_field_shown(const struct field *row)
{
	return !str_eq(row->name, "metadata");
}

const struct field *explain_field_below(const struct explain_field *f)
{
	if (!f->row)
		return f->kind->fields;
	return f->row->sub && !f->row->refused ? f->row->sub : fields_none;
}

static const struct field *row_named(const struct explain_field *f, const char *name)
{
	for (const struct field *row = explain_field_below(f); row->name; row++)
		if (explain_field_shown(row) && strcasecmp(row->name, name) == 0)
			return row;
	return NULL;
}

bool explain_field_find(const char *path, struct arena *a, struct explain_field *out)
{
	enum object_kind_id kind = OBJECT_KINDS;
	size_t n = kind_at(path, &kind);

	if (!n)
		return false;
	*out = (struct explain_field){.kind = &object_kinds[kind],
				      .path = object_kinds[kind].singular};
	for (const char *at = path + n; *at && at[1]; at += n) {
		const char *name;
		const struct field *row;

		at++; /* skip the '.' */
		n = strcspn(at, ".");
		name = arena_strndup(a, at, strcspn(at, ".["));
		row = row_named(out, name);
		if (!row) {
			out->unknown = arena_strndup(a, at, n);
			return true;
		}
		out->row = row;
		out->path = arena_printf(a, "%s.%s", out->path, row->name);
	}
	return true;
}

json_t *explain_field_json(const struct explain_field *f)
{
	json_t *o = json_pack("{s:s, s:s, s:s}", "field", f->path, "kind", f->kind->kind,
			      "apiVersion", OBJECT_API_VERSION);
	json_t *below = json_array();

	json_object_update_new(
		o, f->row ? fields_describe(f->row)
			  : json_pack("{s:s, s:s}", "type", "object", "meaning", f->kind->doc));
	for (const struct field *row = explain_field_below(f); row->name; row++) {
		json_t *child;

		if (!explain_field_shown(row))
			continue;
		child = json_pack("{s:s}", "name", row->name);
		json_object_update_new(child, fields_describe(row));
		json_array_append_new(below, child);
	}
	if (json_array_size(below))
		json_object_set(o, "fields", below);
	json_decref(below);
	return o;
}
