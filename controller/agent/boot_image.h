#ifndef CONTROLLER_AGENT_BOOT_IMAGE_H
#define CONTROLLER_AGENT_BOOT_IMAGE_H

#include <stddef.h>
#include "base/err.h"

/*
 * boot_image: checks that an ISO is the file that its builder signed. `make image` writes two files
 * beside the ISO:
 *
 *   drover-agent.iso.sha256   output of sha256sum; the first line is for the ISO
 *   drover-agent.iso.sig      Ed25519 signature (RFC 8032) of drover-agent.iso.sha256, in base64,
 *                             with newline
 *
 * The key comes from the command line, so write access to the files is not enough to replace the
 * image.
 * Tests: tests/unit/controller/agent/test_boot_image.c
 */

/* Checks `data`, the content of file `path` that will be served, against the two files beside
 * `path`. key: "ed25519:BASE64". Returns 0 if signature and digest match. Returns -1 with *e:
 * ERR_INVALID (key unusable), ERR_NOT_FOUND (a file is missing), ERR_DENIED (signature or digest
 * does not match); the text names the file. */
int boot_image_check(const char *path, const void *data, size_t size, const char *key,
		     struct err *e) __attribute__((warn_unused_result));

#endif
