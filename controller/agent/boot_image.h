#ifndef CONTROLLER_AGENT_BOOT_IMAGE_H
#define CONTROLLER_AGENT_BOOT_IMAGE_H

#include <stddef.h>
#include "base/err.h"

/*
 * boot_image: is this ISO the one that its builder signed? `make image` writes beside it
 *
 *   drover-agent.iso.sha256   lines of sha256sum, the first of them the ISO's
 *   drover-agent.iso.sig      Ed25519 signature (RFC 8032) of that file's bytes, in base64, and a line's end
 *
 * What whoever may write the file can do is bounded by the key, which comes from the command line.
 * Tests: tests/unit/controller/agent/test_boot_image.c
 */

/* data: what was read from path, and is offered. key: "ed25519:BASE64". -1: ERR_INVALID (the key),
 * ERR_NOT_FOUND (a file beside it), ERR_DENIED (signature or digest do not fit); the text names the
 * file. */
int boot_image_check(const char *path, const void *data, size_t size, const char *key,
		     struct err *e) __attribute__((warn_unused_result));

#endif
