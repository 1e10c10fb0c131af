#ifndef TESTS_WORLD_SCRIPTED_H
#define TESTS_WORLD_SCRIPTED_H

#include <stdbool.h>

/*
 * scripted: what a server's image does if its config drive contains JOIN_METHOD=Script
 * (docs/image-contract.md). It fetches /node/join with its token, from a server whose certificate
 * is signed by the CA on the drive, and at most 1 MiB.
 */
struct server;

/* True if the server may register its Node: no script is required, or the script has run. False:
 * calls done() later. */
bool scripted_ready(struct server *b, void (*done)(struct server *b));
/* Cancels the fetch at power-off. */
void scripted_stop(struct server *b);

#endif
