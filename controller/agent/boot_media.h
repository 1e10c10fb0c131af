#ifndef CONTROLLER_AGENT_BOOT_MEDIA_H
#define CONTROLLER_AGENT_BOOT_MEDIA_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"
#include "base/httpd/httpd.h"
#include "base/own.h"
#include "wipe/proto.h"

/*
 * boot_media: serves the agent's ISO. The boot block of one machine (its keys and endpoint) is
 * patched into each copy.
 *
 * The image is kept in memory once. An item (struct boot_media_item) consists of a token and a boot
 * block. GET /boot/TOKEN/drover-agent.iso supports ranges. The answer is 404 for an unknown token,
 * for a caller that may not read the item, and for plain HTTP if the item is offered over TLS only.
 * Tests: tests/unit/controller/agent/test_boot_media.c,
 * tests/unit/controller/agent/test_media_tls.c
 */
struct boot_media;
struct boot_media_item;

struct boot_media *boot_media_new(void);
void boot_media_free(struct boot_media *m);
DEFINE_OWN(boot_media)
/* Loads the ISO at `path`, which is a regular file of at most 256 MiB. No effect if this path is
 * loaded already. Returns -1 with *e if the file cannot be read, if its size is wrong, or unless it
 * contains exactly one contiguous boot block (ERR_INVALID). key: public key of the image's signer;
 * then *e may also be an error of boot_image_check(). key NULL: no signature check, because this
 * process built the image. */
int boot_media_load(struct boot_media *m, const char *path, const char *key, struct err *e);
/* Adds the route /boot/TOKEN/drover-agent.iso, which serves all items, to server d. tls: true if d
 * is a TLS listener. */
void boot_media_routes(struct boot_media *m, struct httpd *d, bool tls);

/* Callback that decides by the caller's address (struct httpd_identity) who may read an item.
 * Called at each request. */
struct boot_media_readers {
	bool (*may_read)(const char *address, void *arg);
	void *arg;
};
struct boot_media_item *boot_media_open(struct boot_media *m, const char *token,
					const struct proto_boot *b,
					const struct boot_media_readers *r, struct err *e);
/* Sets whether the item is served over TLS only, from now on. Initially it is served over TLS and
 * plain HTTP. */
void boot_media_tls_only(struct boot_media_item *i, bool only);
/* Closes the item and frees it. Downloads in progress fail. */
void boot_media_close(struct boot_media_item *i);

#endif
