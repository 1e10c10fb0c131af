#ifndef TESTS_WORLD_SCRIPTED_H
#define TESTS_WORLD_SCRIPTED_H

#include <stdbool.h>

/*
 * scripted: what the image of a server does where its config drive says JOIN_METHOD=Script, as
 * docs/image-contract.md has it: it fetches /node/join with its token, from a server whose
 * certificate the CA on the drive has signed, and no more than 1 MiB of it.
 */
struct server;

/* Its Node may be registered: there is nothing to fetch, or it was run. False: done() is called in
 * a while. */
bool scripted_ready(struct server *b, void (*done)(struct server *b));
/* Its power goes. */
void scripted_stop(struct server *b);

#endif
