#ifndef TESTS_WORLD_SCRIPTED_H
#define TESTS_WORLD_SCRIPTED_H

#include <stdbool.h>

/*
 * scripted: the join script of a server's image, which the image runs if its config drive contains
 * JOIN_METHOD=Script (docs/image-contract.md). It fetches /node/join with its token, at most 1 MiB,
 * from a server whose certificate is signed by the CA on the drive.
 */
struct server;

/* True if the server may register its Node: no script is required, or the script has run. False:
 * fetches the script, and calls done() later. */
bool scripted_ready(struct server *b, void (*done)(struct server *b));
/* Cancels the fetch of the script. Call at power-off. */
void scripted_stop(struct server *b);

#endif
