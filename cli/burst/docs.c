/* burst_docs: decodes each document by its kind. */
#include "cli/burst/docs.h"

#include "api/kinds.h"
#include "base/data/fields.h"
#include "base/str.h"
#include "cli/simulate/scenario.h"
#include "controller/burst/policy_objects.h"
#include "controller/burst/state.h"

struct reading {
	struct burst_policy_in *policies;
	size_t npolicies;
	bool has_state;
	struct burst_input state;
	struct zones *zones;
	struct arena *a;
	struct err *e;
};

static int read_policy(struct reading *r, const json_t *j, json_t *body)
{
	const struct object_kind *k = &object_kinds[OBJECT_BURST_POLICY];
	void *o = arena_alloc(r->a, k->size);
	const char *name = str_or(json_str_at(j, "metadata", "name"), "");

	if (fields_decode_strict(k->fields, body, NULL, o, r->a, r->e) < 0 ||
	    object_decode(k, j, r->a, &o, r->e) < 0 || object_check(k, o, NULL, r->e) < 0)
		return err_wrap(r->e, "BurstPolicy %s", name);
	for (size_t i = 0; i < r->npolicies; i++)
		if (str_eq(r->policies[i].name, name))
			return err_set(r->e, ERR_INVALID, 0,
				       "BurstPolicy %s: the files contain a second policy of this "
				       "name",
				       name);
	r->policies[r->npolicies++] = burst_object_policy(o, r->zones, r->a);
	return 0;
}

static int read_state(struct reading *r, const json_t *body)
{
	if (r->has_state)
		return err_set(r->e, ERR_INVALID, 0, "the files contain more than one BurstState");
	r->has_state = true;
	if (burst_state_decode(body, &r->state, r->a, r->e) < 0)
		return err_wrap(r->e, "BurstState");
	return 0;
}

static int read_one(struct reading *r, const json_t *j)
{
	const char *kind = str_or(json_str_at(j, "kind"), "");
	OWN_JSON body = scenario_body(j);

	if (!str_eq(json_str_at(j, "apiVersion"), OBJECT_API_VERSION))
		return err_set(r->e, ERR_INVALID, 0, "apiVersion: want " OBJECT_API_VERSION);
	if (str_eq(kind, "BurstPolicy"))
		return read_policy(r, j, body);
	if (str_eq(kind, "BurstState"))
		return read_state(r, body);
	return err_set(r->e, ERR_INVALID, 0, "kind: want BurstPolicy or BurstState, got '%.63s'",
		       kind);
}

int burst_docs_read(const struct burst_doc *v, size_t n, struct zones *zones,
		    struct burst_input *out, struct arena *a, struct err *e)
{
	struct reading r = {.zones = zones, .a = a, .e = e};

	r.policies = arena_calloc(a, n + 1, sizeof(*r.policies));
	for (size_t i = 0; i < n; i++)
		if (read_one(&r, v[i].j) < 0)
			return v[i].from ? err_wrap(e, "%s", v[i].from) : -1;
	if (!r.npolicies || !r.has_state)
		return err_set(e, ERR_INVALID, 0,
			       "want at least one BurstPolicy and exactly one BurstState");
	*out = r.state;
	out->policies = r.policies;
	out->npolicies = r.npolicies;
	return 0;
}
