#ifndef SIM_MACHINE_MACHINE_H
#define SIM_MACHINE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/http/http.h"
#include "base/loop/loop.h"
#include "sim/machine/drive.h"
#include "sim/machine/site.h"

/*
 * machine: one server of the rack: power, firmware, drives, and the system that boots.
 *
 *   power on --> POST --> what the site's firmware boots (firmware.h): the agent on a medium, or
 *                         the system on the root drive
 *
 * The BMC (sim/bmc/bmc.h) changes power and boot settings, and is called back when they change.
 * Durations are those of spec.times, with jitter from loop_random.
 *
 * With spec.data, each drive is a file, NAME-drive0 and so on. Power, boot settings, boot count and
 * boot id are stored in NAME.json, written at each change. So a rack that was killed and started
 * again continues with its machines as they were. A machine whose operating system ran continues in
 * the same boot. A machine that was in POST or ran the agent boots again, as after a power loss,
 * because the contents of its memory are lost.
 */
#define MACHINE_DRIVES 4
#define MACHINE_ROOT_MODEL "SIM-ROOT" /* Model of drive 0. */
#define MACHINE_DATA_MODEL "SIM-DATA" /* Model of all other drives. */
#define MACHINE_GPUS 8		      /* GPUs of a machine (NVIDIA H100). */
struct sim_agent;
struct sim_machine;
struct sim_medium;
struct sim_node;

enum sim_doing { SIM_OFF, SIM_POST, SIM_AGENT, SIM_NODE, SIM_NOTHING };

/* Network boot by a head node (head_rack.h). boots() is called when no medium boots, before the
 * disk boots; powered() on each power change. */
struct sim_net_boot {
	/* True if the head node boots the machine; the machine then boots nothing else. */
	bool (*boots)(struct sim_machine *m, void *arg);
	void (*powered)(struct sim_machine *m, void *arg);
	void *arg;
};

struct sim_machine {
	/* Borrowed. */
	const struct sim_site *site;
	/* Segment of the machine's port on the switch, malloc'd; "": none. */
	char *segment;
	/* Number of the machine in the rack, from 1. */
	unsigned number;
	char name[32], uuid[40], serial[32], mac[20], model[48];
	struct drive *drives[MACHINE_DRIVES];
	char wwns[MACHINE_DRIVES][40];
	unsigned ndrives;

	/* Members from here to legacy_boot: settings of the BMC. sim_machine_save() must be called
	 * after each change of them. */
	bool on;
	/* Medium, boot override and HTTP boot URL; malloc'd. NULL: not set. */
	char *image, *boot_target, *boot_enabled, *http_boot_uri;
	/* True: the boot override is for legacy BIOS, in which no medium of the rack boots. */
	bool legacy_boot;
	/* Boot target that boots virtual media; borrowed. NULL: Cd and UsbCd do. */
	const char *virtual_cd;

	enum sim_doing doing;
	unsigned boots;
	char boot_id[40];
	struct sim_agent *agent;
	struct sim_node *node;
	/* Medium that is being fetched; NULL: none. */
	struct sim_medium *medium;
	/* Timer that ends POST. */
	struct loop_timer timer;
	/* Callback into the BMC with the argument `bmc`. Called when power or boot settings changed
	 * without a request of the BMC. */
	void (*changed)(void *bmc);
	void *bmc;

	/* Network boot of the machine; borrowed. NULL: no network boot. */
	const struct sim_net_boot *net_boot;
	struct loop_timer power_timer;
	bool power_wanted;
	/* Last line of the console, for users. */
	char console[160];
	/* Error that makes the machine's files unusable; kind ERR_NONE: they are usable. */
	struct err problem;
};

/* Initializes machine `number` of the site, with its port in no segment. */
void sim_machine_init(struct sim_machine *m, const struct sim_site *s, unsigned number,
		      const char *virtual_cd);
/* Frees the machine as if the process were killed: its stored state stays unchanged. */
void sim_machine_done(struct sim_machine *m);
void sim_machine_save(struct sim_machine *m);
/* Saves the machine and calls its changed(). */
void sim_machine_changed(struct sim_machine *m);

/* Requests a power change, which happens after times.power_ms. */
void sim_machine_power(struct sim_machine *m, bool on);
/* Removes mains power at once. */
void sim_machine_cut(struct sim_machine *m);
/* Resets the machine at once: POST begins again. */
void sim_machine_reboot(struct sim_machine *m);
/* True while a power change is in progress; *on is then its target state. */
bool sim_machine_switching(const struct sim_machine *m, bool *on);
const char *sim_doing_name(enum sim_doing d);

/* sim_machine_times() returns the times of the rack, none of them 0. sim_machine_jitter() returns
 * ms plus a random part of up to a tenth. */
struct sim_times sim_machine_times(const struct sim_machine *m);
int64_t sim_machine_jitter(const struct sim_machine *m, int64_t ms);
struct loop_group *sim_machine_group(const struct sim_machine *m);
/* True if the machine reaches the origin from its segment. */
bool sim_machine_reaches(const struct sim_machine *m, const char *origin);
/* True if the fault `what` applies to the machine now (sim_site_fault()). */
bool sim_machine_fault(const struct sim_machine *m, const char *when, const char *what,
		       int64_t *value);
/* Replaces the text in *slot, which is malloc'd or NULL, by a copy of text. */
void sim_text_set(char **slot, const char *text);
/* Replaces the machine's console line. */
void sim_machine_say(struct sim_machine *m, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
