#ifndef TESTS_CONTRACT_FAKE_IPMITOOL_H
#define TESTS_CONTRACT_FAKE_IPMITOOL_H

#include <stdbool.h>
#include <stdint.h>
#include "base/loop/loop_sim.h"
#include "tests/contract/fake_bmc.h"

/*
 * fake_ipmitool: ipmitool for the simulated loop. Prints what version 1.8.19 prints (recorded
 * against ipmi_sim), for machines that are fake BMCs.
 *
 * Asserts for each call: the password is in its file and neither in argv nor in the environment,
 * only one process at a time runs for a BMC, and 5 s lie between two.
 */
struct fake_ipmitool {
	/* Returns the machine at host; NULL: nothing answers there. */
	struct fake_bmc *(*find)(const char *host, void *arg);
	/* Returns true if the BMC does not answer; NULL: never. */
	bool (*hangs)(const char *host, void *arg);
	void *arg;
	const char *user, *password;
	/* Duration of each call. */
	int64_t ms;
	/* --- faults, for the calls that follow ------------------------------------------------ */
	bool garbage, huge;
	/* The command takes effect, but no answer arrives. */
	bool lost;
	/* The BMC has no free session. */
	bool no_sessions;
	/* Record count in "sdr info"; 0 means that "sdr elist" would erase the repository. */
	unsigned records;
	/* Output of "sdr elist", in lines; NULL: it never ends. */
	const char *sensors;
	/* Exit status of "sdr elist". */
	int sensors_status;
	/* Number of sensor reads. */
	unsigned sensings;
	/* Number of logins that reached a BMC. */
	unsigned logins;
	unsigned starts, ends;

	struct loop_group *group;
	/* Private to fake_ipmitool.c. */
	struct list calls;
	struct {
		char host[64];
		int64_t ended;
	} last[16];
};

void fake_ipmitool_init(struct fake_ipmitool *f, struct loop_group *g);

#endif
