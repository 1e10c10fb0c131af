#ifndef CONTROLLER_MEDIA_H
#define CONTROLLER_MEDIA_H

#include <stddef.h>
#include "base/err.h"
#include "base/httpd.h"
#include "base/own.h"
#include "wipe/proto.h"

/*
 * media: the agent's ISO, served with one machine's boot block patched in.
 *
 * The image is held once in memory; an item is a token and a block.  GET
 * /boot/TOKEN/drover-agent.iso with ranges; any other token is 404.
 */
struct media;
struct media_item;

struct media *media_new(void);
void media_free(struct media *m);
DEFINE_OWN(media)
/* ERR_INVALID when the boot block's mark does not stand in it exactly once; at most 256 MiB. */
int media_load(struct media *m, const char *path, struct err *e);
void media_routes(struct media *m, struct httpd *d);

struct media_item *media_open(struct media *m, const char *token, const struct proto_boot *b,
			      struct err *e);
void media_close(struct media_item *i); /* downloads in flight break */

#endif
