#ifndef SIM_RACK_FIRMWARE_H
#define SIM_RACK_FIRMWARE_H

#include "sim/machine/machine.h"

/*
 * firmware: what a machine boots at the end of POST:
 *
 *   medium inserted and boot override set: fetches it over HTTP, finds its boot block, and runs
 *   sim/agent/agent.h; else a network boot, if there is one; else the root drive: an image with
 *   a config drive runs sim/node/node.h; with anything else the machine stays on and does nothing
 *
 * Tests: tests/unit/sim/machine/test_machine.c
 */
extern const struct sim_firmware sim_firmware;

#endif
