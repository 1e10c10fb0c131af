#ifndef SIM_MEDIUM_H
#define SIM_MEDIUM_H

#include "sim/machine.h"
#include "wipe/proto.h"

/*
 * medium: the firmware's way to the boot block on virtual media: the image is fetched over
 * HTTP and looked through as it comes, until the boot block of wipe/proto.h was found (by its JSON
 * start) or there is no more of it.  What breaks off is resumed by Range, a few times.
 * Tests: tests/unit/sim/test_agent.c, tests/unit/sim/test_machine.c
 */
#define MEDIUM_MAX (512ll << 20) /* more is no boot medium */

/* done once, never from inside: block is PROTO_BOOT_BLOCK bytes, or NULL with *e: nothing
 * bootable. */
struct sim_medium *sim_medium_fetch(struct sim_machine *m, const char *url,
				    void (*done)(const char *block, const struct err *e,
						 struct sim_machine *m));
/* done is not called any more */
void sim_medium_free(struct sim_medium *f);

/* As much of the agent's ISO as a media server and a simulated machine look at: its boot block.
 * Text. */
#define SIM_AGENT_IMAGE_BYTES (2 * PROTO_BOOT_BLOCK)
void sim_agent_image(char out[static SIM_AGENT_IMAGE_BYTES + 1]);

#endif
