#ifndef SIM_MACHINE_H
#define SIM_MACHINE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/http.h"
#include "base/loop.h"
#include "sim/drive.h"

/*
 * machine: one server of the rack: power, firmware, drives, and what boots.
 *
 *	power on --> POST --> medium in and override set: fetch it over HTTP, find the boot block, run sim/agent.h
 *	                  '-> else the root drive: an image with a config drive runs sim/node.h, anything else just stays on
 *
 * The BMC (sim/bmc.h) turns its knobs and is told what changed.  Times are of spec.times, with jitter
 * from loop_random.
 */
#define MACHINE_DRIVES 4
struct sim_agent;
struct sim_node;
struct sim_rack;

enum sim_doing { SIM_OFF, SIM_POST, SIM_AGENT, SIM_NODE, SIM_NOTHING };

struct sim_times {
	int64_t power_ms, post_ms, kernel_ms,
		system_ms; /* until off/on; until boot; until agent's hello; until kubelet */
	int64_t wipe_bytes_per_s, write_bytes_per_s; /* what the agent claims and takes */
};

struct sim_machine {
	struct sim_rack *rack;
	unsigned number; /* from 1 */
	char name[32], uuid[40], serial[32], mac[20], model[48];
	struct drive *drives[MACHINE_DRIVES];
	char wwns[MACHINE_DRIVES][40];
	unsigned ndrives;

	/* knobs of the BMC */
	bool on;
	char *image, *boot_target, *boot_enabled, *http_boot_uri;

	enum sim_doing doing;
	unsigned boots;
	char boot_id[40];
	struct sim_agent *agent;
	struct sim_node *node;
	struct loop_timer timer;
	void (*changed)(void *bmc); /* power or boot settings changed by themselves */
	void *bmc;
};

void sim_machine_init(struct sim_machine *m, struct sim_rack *r, unsigned number);
void sim_machine_done(struct sim_machine *m);
void sim_machine_power(struct sim_machine *m, bool on); /* takes times.power_ms */
void sim_machine_cut(struct sim_machine *m);		/* the plug pulled: at once */
const char *sim_doing_name(enum sim_doing d);

#endif
