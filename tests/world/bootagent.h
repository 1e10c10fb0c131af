#ifndef TESTS_WORLD_BOOTAGENT_H
#define TESTS_WORLD_BOOTAGENT_H

#include <stddef.h>

/*
 * bootagent: an agent of the world's own, written from wipe/proto.h alone: hello,
 * orders by long poll, results, on the drives of a server.  One lives for one boot.
 */
struct server;
struct bootagent;

/* block: the boot block as the medium had it.  NULL: it cannot be read. */
struct bootagent *bootagent_new(struct server *b, const char *block, size_t len);
void bootagent_free(struct bootagent *a);
/* The highest fence that it obeyed, and how many orders it refused for a lower one. */
struct bootagent_seen {
	long long fence;
	unsigned stale;
};
struct bootagent_seen bootagent_seen(const struct bootagent *a);

#endif
