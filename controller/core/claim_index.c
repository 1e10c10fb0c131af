#include "controller/core/claim_index.h"

#include <stdlib.h>

#include "api/annotations.h"
#include "base/index.h"
#include "base/map.h"
#include "base/mem.h"

struct claim_index {
	struct index *names;
	/* Claims for pods that do not serve yet. Key: name of a NodeClaim; value: not used */
	struct map *starting;
};

struct claim_index *claim_index_new(void)
{
	struct claim_index *x = mem_new(struct claim_index);

	x->names = index_new(CLAIM_KEYS);
	x->starting = map_new(NULL);
	return x;
}

void claim_index_free(struct claim_index *x)
{
	if (!x)
		return;
	index_free(x->names);
	map_free(x->starting);
	free(x);
}

static bool is_starting(const struct node_claim *n)
{
	return labels_get(&n->meta.annotations, CLAIM_FOR_PODS) &&
	       !condition_is_true(&n->status.conditions, "Initialized");
}

bool claim_index_put(struct claim_index *x, const char *name, const struct node_claim *n)
{
	const struct object_ref *wanted = n ? n->spec.machine_ref : NULL,
				*had = n ? n->status.machine_ref : NULL;
	const char *gang = n && n->spec.gang ? n->spec.gang->uid : NULL;
	const bool starts = n && is_starting(n), started = map_has(x->starting, name);
	const struct index_text now[] = {
		{CLAIM_BY_TENANT, n ? n->spec.virtual_cluster_ref.name : NULL},
		{CLAIM_BY_MACHINE, wanted ? wanted->name : NULL},
		{CLAIM_BY_MACHINE, had ? had->name : NULL},
		{CLAIM_BY_GANG, gang},
		{CLAIM_DECIDED_BY_GANG,
		 n && (n->spec.approval || n->status.approval) ? gang : NULL},
	};

	if (started && !starts)
		map_del(x->starting, name);
	else if (starts && !started)
		map_put(x->starting, name, x);
	return index_put(x->names, name, now, sizeof(now) / sizeof(now[0])) || starts != started;
}

struct claim_query {
	const struct context *c;
	bool (*fn)(const struct node_claim *n, void *arg);
	void *arg;
};

static bool on_name(const char *name, void *arg)
{
	const struct claim_query *a = arg;
	const struct node_claim *n = CTX_GET(a->c, OBJECT_NODE_CLAIM, node_claim, name);

	return !n || a->fn(n, a->arg);
}

void claim_index_each(const struct context *c, enum claim_key key, const char *value,
		      bool (*fn)(const struct node_claim *n, void *arg), void *arg)
{
	struct claim_query a = {c, fn, arg};

	index_each(c->claim_index->names, key, value, on_name, &a);
}

void claim_index_starting(const struct context *c,
			  bool (*fn)(const struct node_claim *n, void *arg), void *arg)
{
	struct claim_query a = {c, fn, arg};
	struct map_iter it;

	map_for_each (it, c->claim_index->starting)
		if (!on_name(it.key, &a))
			break;
}

size_t claim_index_count(const struct context *c, enum claim_key key, const char *value)
{
	return index_count(c->claim_index->names, key, value);
}
