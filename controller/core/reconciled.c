#include "controller/core/reconciled.h"

#include <stdlib.h>

#include "base/mem.h"

void *reconciled_get(struct map *entries, const char *name, size_t size, struct context *c,
		     void (*look)(void *entry))
{
	struct reconciled *r = map_get(entries, name);

	if (!r) {
		r = mem_calloc(1, size);
		r->name = mem_strdup(name);
		writer_init(&r->write, c, r);
		loop_timer_init(&r->timer, c->group, look, r);
		map_put(entries, name, r);
	}
	return r;
}

void reconciled_kick(struct reconciled *r)
{
	if (!writer_busy(&r->write))
		loop_timer_start(&r->timer, 0);
}

void reconciled_free(void *entry)
{
	struct reconciled *r = entry;

	writer_stop(&r->write);
	loop_timer_stop(&r->timer);
	free(r->name);
	free(r);
}
