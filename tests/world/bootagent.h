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
/* Somebody elsewhere with its boot block: calls from that address as a boot of that id, wipes and
 * writes nothing, and swears to all of it. Knows the machine's identity and what stands on its
 * drives. boot_id NULL: the machine's. */
struct bootagent *bootagent_thief(struct server *b, const char *block, size_t len,
				  const char *address, const char *boot_id);
void bootagent_free(struct bootagent *a);
/* The highest fence that it obeyed, and how many orders it refused for a lower one. */
struct bootagent_seen {
	long long fence;
	unsigned stale;
	/* how many came, and how many of them had a bootstrap token in it */
	unsigned orders, tokens;
};
struct bootagent_seen bootagent_seen(const struct bootagent *a);

#endif
