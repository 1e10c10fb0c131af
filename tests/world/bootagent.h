#ifndef TESTS_WORLD_BOOTAGENT_H
#define TESTS_WORLD_BOOTAGENT_H

#include <stddef.h>

/*
 * bootagent: agent of the simulated world, written from wipe/proto.h alone. It sends a hello,
 * fetches orders by long poll and reports results, on the drives of a server. One bootagent runs
 * for one boot.
 */
struct server;
struct bootagent;

/* Starts an agent on machine b. block: the boot block read from the medium. Returns NULL if the
 * block cannot be parsed. */
struct bootagent *bootagent_new(struct server *b, const char *block, size_t len);
/* Returns an agent that a thief of the boot block runs on another machine. It calls drover from
 * `address`, as boot boot_id (NULL: the present boot of b). It wipes and writes nothing, but
 * reports success for every order. It knows the identity of b and the contents of its drives. */
struct bootagent *bootagent_thief(struct server *b, const char *block, size_t len,
				  const char *address, const char *boot_id);
void bootagent_free(struct bootagent *a);
/* fence: highest fence of an order that the agent obeyed. stale: number of orders refused because
 * their fence was lower. */
struct bootagent_seen {
	long long fence;
	unsigned stale;
	/* orders: number of orders received. tokens: number of orders that contained a bootstrap
	 * token. */
	unsigned orders, tokens;
};
struct bootagent_seen bootagent_seen(const struct bootagent *a);

#endif
