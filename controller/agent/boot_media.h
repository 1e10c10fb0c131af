#ifndef CONTROLLER_AGENT_BOOT_MEDIA_H
#define CONTROLLER_AGENT_BOOT_MEDIA_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"
#include "base/httpd/httpd.h"
#include "base/own.h"
#include "wipe/proto.h"

/*
 * boot_media: the agent's ISO, served with one machine's boot block patched in.
 *
 * The image is held once in memory; an item is a token and a block. GET
 * /boot/TOKEN/drover-agent.iso with ranges; any other token, any other reader, and plain HTTP for
 * an item that is offered over TLS, is 404.
 * Tests: tests/unit/controller/agent/test_boot_media.c,
 * tests/unit/controller/agent/test_media_tls.c
 */
struct boot_media;
struct boot_media_item;

struct boot_media *boot_media_new(void);
void boot_media_free(struct boot_media *m);
DEFINE_OWN(boot_media)
/* ERR_INVALID when the boot block's mark does not stand in it exactly once; at most 256 MiB. key:
 * who signed it (boot_image_check(), whose errors come too); NULL: it is not asked who, this
 * process made it. */
int boot_media_load(struct boot_media *m, const char *path, const char *key, struct err *e);
/* tls: all that reaches d came over TLS. */
void boot_media_routes(struct boot_media *m, struct httpd *d, bool tls);

/* Who may read an item, by the caller's address (struct httpd_identity); asked at each request. */
struct boot_media_readers {
	bool (*may_read)(const char *address, void *arg);
	void *arg;
};
struct boot_media_item *boot_media_open(struct boot_media *m, const char *token,
					const struct proto_boot *b,
					const struct boot_media_readers *r, struct err *e);
/* From now on: over TLS alone, or (at first) over either. */
void boot_media_tls_only(struct boot_media_item *i, bool only);
/* downloads in flight break */
void boot_media_close(struct boot_media_item *i);

#endif
