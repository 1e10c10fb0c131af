#ifndef SIM_MACHINE_H
#define SIM_MACHINE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/http/http.h"
#include "base/loop/loop.h"
#include "sim/drive.h"

/*
 * machine: one server of the rack: power, firmware, drives, and what boots.
 *
 *   power on --> POST --> medium in and override set: fetch it over HTTP, find the boot block, run sim/agent.h
 *                     '-> else the root drive: an image with a config drive runs sim/node.h, anything else just stays on
 *
 * The BMC (sim/bmc.h) turns its knobs and is told what changed. Times are of spec.times, with
 * jitter from loop_random.
 *
 * With spec.data its drives are the files NAME-drive0 ..., and power, boot settings, boot count and
 * boot id stand in NAME.json, written at each change: a rack that was killed comes back with its
 * machines as they were. One whose operating system ran goes on in the same boot; one that was in
 * POST or ran the agent boots again, as after a loss of power, because what was in its memory is
 * lost.
 */
#define MACHINE_DRIVES 4
#define MACHINE_ROOT_MODEL "SIM-ROOT" /* drive 0 */
#define MACHINE_DATA_MODEL "SIM-DATA" /* all others */
#define MACHINE_GPUS 8		      /* NVIDIA H100 */
struct sim_agent;
struct sim_machine;
struct sim_medium;
struct sim_node;
struct sim_rack;

enum sim_doing { SIM_OFF, SIM_POST, SIM_AGENT, SIM_NODE, SIM_NOTHING };

struct sim_times {
	/* until off/on; until boot; until agent's hello; until kubelet */
	int64_t power_ms, post_ms, kernel_ms, system_ms;
	/* what the agent claims and takes, of one drive */
	int64_t wipe_bytes_per_s, write_bytes_per_s;
};
/* What is 0 becomes that of a fast laptop demo. */
struct sim_times sim_times_or_fast(const struct sim_times *t);

/* Who is asked when no medium boots, before the disk, and told of power: a head node
 * (head_rack.h). */
struct sim_net_boot {
	/* it is taken care of: nothing else boots */
	bool (*boots)(struct sim_machine *m, void *arg);
	void (*powered)(struct sim_machine *m, void *arg);
	void *arg;
};

struct sim_machine {
	struct sim_rack *rack;
	/* from 1 */
	unsigned number;
	char name[32], uuid[40], serial[32], mac[20], model[48];
	struct drive *drives[MACHINE_DRIVES];
	char wwns[MACHINE_DRIVES][40];
	unsigned ndrives;

	/* knobs of the BMC: sim_machine_save() when turned */
	bool on;
	/* malloc'd; NULL: none */
	char *image, *boot_target, *boot_enabled, *http_boot_uri;
	/* the override is for a BIOS, where nothing of these media boots */
	bool legacy_boot;

	enum sim_doing doing;
	unsigned boots;
	char boot_id[40];
	struct sim_agent *agent;
	struct sim_node *node;
	/* being fetched */
	struct sim_medium *medium;
	/* what it does next */
	struct loop_timer timer;
	/* power or boot settings changed by themselves */
	void (*changed)(void *bmc);
	void *bmc;

	/* borrowed; NULL: none */
	const struct sim_net_boot *net_boot;
	struct loop_timer power_timer;
	bool power_wanted;
	/* the last thing that it said there, for people */
	char console[160];
	/* kind other than ERR_NONE: its files cannot be used */
	struct err problem;
};

/* The rack's spec and group are there already; nothing else of the rack is asked until the loop
 * runs. */
void sim_machine_init(struct sim_machine *m, struct sim_rack *r, unsigned number);
/* As when the process dies: nothing about the machine changes. */
void sim_machine_done(struct sim_machine *m);
void sim_machine_save(struct sim_machine *m);

/* takes times.power_ms */
void sim_machine_power(struct sim_machine *m, bool on);
/* the plug pulled: at once */
void sim_machine_cut(struct sim_machine *m);
/* reset: POST again, at once */
void sim_machine_reboot(struct sim_machine *m);
/* Is a change of power under way, and to what? */
bool sim_machine_switching(const struct sim_machine *m, bool *on);
const char *sim_doing_name(enum sim_doing d);

/* The times of its rack, none of them 0, and one of them with a little jitter. */
struct sim_times sim_machine_times(const struct sim_machine *m);
int64_t sim_machine_jitter(const struct sim_machine *m, int64_t ms);
struct loop_group *sim_machine_group(const struct sim_machine *m);
/* One line on the console. */
void sim_machine_say(struct sim_machine *m, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
