#ifndef TESTS_CONTRACT_FAKE_IPMITOOL_H
#define TESTS_CONTRACT_FAKE_IPMITOOL_H

#include <stdbool.h>
#include <stdint.h>
#include "base/loop/loop_sim.h"
#include "tests/contract/fake_bmc.h"

/*
 * fake_ipmitool: ipmitool for the simulated loop: what 1.8.19 prints (taken down from it beside
 * ipmi_sim), for machines that are fakes of a BMC.
 *
 * It asserts what must hold of each call: the password by its file and neither in argv nor in the
 * environment, one process at a time for a BMC, 5 s between two.
 */
struct fake_ipmitool {
	/* The machine at a host; NULL: nothing answers there. */
	struct fake_bmc *(*find)(const char *host, void *arg);
	/* NULL: none */
	bool (*hangs)(const char *host, void *arg);
	void *arg;
	const char *user, *password;
	/* each call takes so long */
	int64_t ms;
	/* misdeeds, for the calls that follow */
	bool garbage, huge;
	/* does what it is told, and then finds no answer */
	bool lost;
	/* the BMC has none free */
	bool no_sessions;
	/* that "sdr info" tells; 0: "sdr elist" would erase */
	unsigned records;
	/* what "sdr elist" prints, lines; NULL: it is never done with it */
	const char *sensors;
	/* with which it ends then */
	int sensors_status;
	/* times it was asked for */
	unsigned sensings;
	/* that reached a BMC */
	unsigned logins;
	unsigned starts, ends;

	struct loop_group *group;
	/* of fake_ipmitool.c */
	struct list calls;
	struct {
		char host[64];
		int64_t ended;
	} last[16];
};

void fake_ipmitool_init(struct fake_ipmitool *f, struct loop_group *g);

#endif
