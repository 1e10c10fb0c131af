#include "cli/why_near.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/target.h"
#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/near.h"

struct search {
	struct near near;
	struct arena *a;
};

/* The name must outlive the JSON object that contains it. */
static void try_name(struct search *s, const char *name)
{
	if (name)
		near_try(&s->near, arena_strdup(s->a, name));
}

static void on_object(json_t *o, void *arg)
{
	struct search *s = arg;

	try_name(s, json_str_at(o, "metadata", "name"));
}

/* Adds the names in s->near to the list `out`, with this prefix. */
static void put_names(const struct search *s, const char *prefix, json_t *out)
{
	for (size_t i = 0; i < s->near.n; i++) {
		json_t *x = json_pack("{s:s, s:i}", "name",
				      arena_printf(s->a, "%s%s", prefix, s->near.v[i].name),
				      "distance", (int)s->near.v[i].distance);

		if (x)
			json_array_append_new(out, x);
	}
}

/* Adds the near names of one kind to the list `out`, with this prefix. */
static void search_kind(struct cli_client *c, struct search *s, enum object_kind_id kind,
			const char *word, const char *prefix, json_t *out)
{
	struct err e;

	s->near = (struct near){.word = word};
	if (cli_list(c, kind, on_object, s, &e) == 0)
		put_names(s, prefix, out);
}

static int by_distance(const void *a, const void *b)
{
	return (int)(json_int_at(*(json_t *const *)a, "distance") -
		     json_int_at(*(json_t *const *)b, "distance"));
}

static void print_names(const struct cli_client *c, json_t **found)
{
	OWN(arena) a = arena_new();
	const char *text = "";
	size_t n;

	json_sort(found, by_distance);
	n = json_array_size(*found);
	n = n > NEAR_NAMES ? NEAR_NAMES : n;
	for (size_t i = 0; i < n; i++)
		text = arena_printf(a, "%s%s%s", text,
				    !i		 ? ""
				    : i + 1 == n ? " or "
						 : ", ",
				    json_str_at(json_array_get(*found, i), "name"));
	if (n)
		(void)cli_failed(c, "did you mean %s?", text);
}

/* Searches the pod TENANT/NAMESPACE/POD. tenant: without the rest; pod: NAMESPACE/POD. */
static void search_pod(struct cli_client *c, struct search *s, const char *tenant, const char *pod,
		       json_t *out)
{
	struct err e;
	OWN_JSON vc = cli_get(c, OBJECT_VIRTUAL_CLUSTER, tenant, &e);
	json_t *x;
	size_t i;

	s->near = (struct near){.word = pod};
	json_array_foreach (json_at(vc, "status", "waiting"), i, x)
		try_name(s, json_str_at(x, "pod"));
	put_names(s, arena_printf(s->a, "%s/", tenant), out);
	if (!json_array_size(out))
		search_kind(c, s, OBJECT_VIRTUAL_CLUSTER, tenant, "tenant/", out);
}

void why_near(struct cli_client *c, const char *target)
{
	static const enum object_kind_id kinds[] = {
		OBJECT_MACHINE,	 OBJECT_NODE_CLAIM, OBJECT_VIRTUAL_CLUSTER, OBJECT_NODE_POOL,
		OBJECT_PROVIDER, OBJECT_DRAIN,	    OBJECT_BURST_POLICY};
	OWN(arena) a = arena_new();
	char *first = arena_strdup(a, target + (str_starts(target, "gang/") ? strlen("gang/") : 0)),
	     *slash = strchr(first, '/');
	const char *word = slash ? slash + 1 : first;
	const enum object_kind_id only =
		slash ? target_kind(first, (size_t)(slash - first)) : OBJECT_KINDS;
	struct search s = {.a = a};
	OWN_JSON found = json_array();

	if (slash && strchr(slash + 1, '/')) {
		*slash = '\0';
		search_pod(c, &s, first, slash + 1, found);
	} else {
		for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
			if (only == OBJECT_KINDS || only == kinds[i])
				search_kind(c, &s, kinds[i], word,
					    arena_printf(a, "%s/", target_word(kinds[i])), found);
	}
	print_names(c, &found);
}

char *why_near_type(const char *type, size_t len)
{
	OWN(arena) a = arena_new();
	struct near near = {.word = arena_strndup(a, type, len)};

	near_try(&near, "pod");
	for (int k = 0; k < OBJECT_KINDS; k++) {
		near_try(&near, object_kinds[k].singular);
		near_try(&near, target_word((enum object_kind_id)k));
	}
	return mem_printf("%s%s%s", near.n ? "; did you mean " : "", near.n ? near.v[0].name : "",
			  near.n ? "?" : "");
}
