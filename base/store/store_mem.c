#include <stdlib.h>
#include "base/mem.h"
#include "base/store/store_internal.h"

/* Tests: tests/unit/base/store/test_store.c */

/* A store without a disk. Its commits are reported as durable one turn later, because with a disk
 * they also complete later. */
struct store_mem {
	struct store base;
	struct loop_defer defer;
};

static void on_defer(void *arg)
{
	struct store_mem *m = arg;

	store_durable(&m->base, m->base.rev, NULL);
}

static void store_mem_persist(struct store *s)
{
	loop_defer(&container_of(s, struct store_mem, base)->defer);
}

static void store_mem_free(struct store *s)
{
	struct store_mem *m = container_of(s, struct store_mem, base);

	loop_defer_cancel(&m->defer);
	store_base_done(s);
	free(m);
}

static const struct store_ops store_mem_ops = {
	.free = store_mem_free,
	.persist = store_mem_persist,
};

struct store *store_mem_new(struct loop_group *g, size_t history)
{
	struct store_mem *m = mem_new(struct store_mem);

	store_base_init(&m->base, &store_mem_ops, g, history);
	loop_defer_init(&m->defer, g, on_defer, m);
	return &m->base;
}
