#include "controller/tenant/request_nodes.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "controller/tenant/tenant.h"

struct request_node {
	bool now;
	uint64_t round;
	int64_t since;
};
struct request_nodes {
	struct tenant *t;
	/* name of a Node -> struct request_node */
	struct map *kept;
	uint64_t round;
};

void request_nodes_begin(struct request_nodes *n)
{
	n->round++;
}

void request_nodes_reserve(struct request_nodes *n, const char *node)
{
	struct request_node *k = map_get(n->kept, node);

	if (!k) {
		k = mem_new(struct request_node);
		map_put(n->kept, node, k);
	}
	*k = (struct request_node){.now = true, .round = n->round};
}

/* Records that no plan reserves slots on the Node any more, and reconciles its machine, which may
 * now leave. */
static void let_go(const struct request_nodes *n, const char *node, struct request_node *k)
{
	const struct node_claim *c = CTX_GET(n->t->c, OBJECT_NODE_CLAIM, node_claim, node);

	*k = (struct request_node){.since = loop_wall(n->t->c->loop)};
	if (c && c->spec.machine_ref)
		notify(n->t->c, NOTICE_MACHINE, c->spec.machine_ref->name);
}

void request_nodes_end(struct request_nodes *n)
{
	struct map_iter it;

	map_for_each (it, n->kept) {
		struct request_node *k = it.value;

		if (k->round == n->round)
			continue;
		if (k->now)
			let_go(n, it.key, k);
		if (!tenant_node_get(n->t, it.key))
			map_del(n->kept, it.key);
	}
}

bool request_nodes_is_reserved(const struct request_nodes *n, const char *node, int64_t *since)
{
	const struct request_node *k = map_size(n->kept) ? map_get(n->kept, node) : NULL;

	*since = k && !k->now ? k->since : 0;
	return k && k->now;
}

void request_nodes_clear(struct request_nodes *n)
{
	map_clear(n->kept);
}

struct request_nodes *request_nodes_new(struct tenant *t)
{
	struct request_nodes *n = mem_new(struct request_nodes);

	n->t = t;
	n->kept = map_new(free);
	return n;
}

void request_nodes_free(struct request_nodes *n)
{
	if (!n)
		return;
	map_free(n->kept);
	free(n);
}
