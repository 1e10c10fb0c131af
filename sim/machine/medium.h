#ifndef SIM_MACHINE_MEDIUM_H
#define SIM_MACHINE_MEDIUM_H

#include "sim/machine/machine.h"
#include "wipe/proto.h"

/*
 * medium: how the firmware finds the boot block on virtual media. The firmware fetches the image
 * over HTTP and searches the data as they arrive, until it has found the boot block of wipe/proto.h
 * (by the start of the block's JSON) or the image ends. An interrupted download is resumed by an
 * HTTP Range request, a few times.
 *
 * For virtual media any TLS certificate is accepted: a slot that verifies has refused the medium
 * before, at InsertMedia (writes.c). For HTTP boot, the system's CAs must verify it.
 * Tests: tests/unit/sim/agent/test_agent.c, tests/unit/sim/machine/test_machine.c,
 * tests/real/sim_makes.py
 */
#define MEDIUM_MAX (512ll << 20) /* Largest boot medium in bytes; a longer image is refused. */

/* Fetches the medium and searches it for a boot block. done() is called once, never before
 * sim_medium_fetch() returns. block: PROTO_BOOT_BLOCK bytes; NULL with *e: nothing is bootable. */
struct sim_medium *sim_medium_fetch(struct sim_machine *m, const char *url,
				    void (*done)(const char *block, const struct err *e,
						 struct sim_machine *m));
/* Frees f; done() is not called afterwards. */
void sim_medium_free(struct sim_medium *f);

/* Writes a text to out that serves as the agent's ISO: its boot block, the only part that a media
 * server and a simulated machine read. */
#define SIM_AGENT_IMAGE_BYTES (2 * PROTO_BOOT_BLOCK)
void sim_agent_image(char out[static SIM_AGENT_IMAGE_BYTES + 1]);

#endif
