#ifndef CONTROLLER_CORE_RECONCILED_H
#define CONTROLLER_CORE_RECONCILED_H

#include "base/map.h"
#include "controller/core/status_writer.h"

/*
 * reconciled: an object of the host cluster that a part of the controller reconciles: the part's
 * look() reads the object from the cache and decides on at most one write.
 *
 * The part has a map with one entry for each such object. The entry begins with a struct
 * reconciled; the map's key is the object's name.
 *
 * On the loop thread.
 * Tests: tests/unit/controller/claims/test_claims.c, tests/unit/controller/drain/test_drains.c,
 * tests/unit/controller/claims/test_owners.c, tests/world/test_burst_ledger.c
 */
struct reconciled {
	char *name;
	/* Calls look() with the entry. */
	struct loop_timer timer;
	struct status_writer write;
};

/* Returns the entry `name` of the map; if it is missing, adds a zeroed entry of `size` bytes, which
 * begins with an initialized struct reconciled. */
void *reconciled_get(struct map *entries, const char *name, size_t size, struct context *c,
		     void (*look)(void *entry));
/* Calls look() as soon as possible, unless a write is in flight: done() of the write decides
 * then. */
void reconciled_kick(struct reconciled *r);
/* Drops the write in flight and frees the entry; for map_new(). */
void reconciled_free(void *entry);

#endif
