#ifndef SIM_MEDIUM_H
#define SIM_MEDIUM_H

#include "sim/machine.h"
#include "wipe/proto.h"

/*
 * medium: how the firmware finds the boot block on virtual media: it fetches the image over HTTP
 * and searches the data as they arrive, until it has found the boot block of wipe/proto.h (by the
 * start of its JSON) or the image ends. An interrupted download is resumed with Range, a few times.
 * Tests: tests/unit/sim/test_agent.c, tests/unit/sim/test_machine.c
 */
#define MEDIUM_MAX (512ll << 20) /* A longer image is not a boot medium. */

/* Calls done() once, never before returning. block: PROTO_BOOT_BLOCK bytes; NULL with *e if nothing
 * is bootable. */
struct sim_medium *sim_medium_fetch(struct sim_machine *m, const char *url,
				    void (*done)(const char *block, const struct err *e,
						 struct sim_machine *m));
/* Frees f; done() is not called any more. */
void sim_medium_free(struct sim_medium *f);

/* Writes the part of the agent's ISO that a media server and a simulated machine read: its boot
 * block. Text. */
#define SIM_AGENT_IMAGE_BYTES (2 * PROTO_BOOT_BLOCK)
void sim_agent_image(char out[static SIM_AGENT_IMAGE_BYTES + 1]);

#endif
