#ifndef TESTS_CONTRACT_FAKE_IPMITOOL_H
#define TESTS_CONTRACT_FAKE_IPMITOOL_H

#include <stdbool.h>
#include <stdint.h>
#include "tests/simulated/loop_sim.h"
#include "tests/contract/fake_bmc.h"

/*
 * fake_ipmitool: simulates ipmitool on the simulated loop, for machines that are fake BMCs. It
 * prints what version 1.8.19 prints (recorded against ipmi_sim).
 *
 * Each call asserts that the password is in its file, and neither in argv nor in the environment.
 * It also asserts that only one process at a time runs for a BMC, and that 5 s lie between two
 * processes.
 */
struct fake_ipmitool {
	/* Returns the machine at host; NULL: no machine answers there */
	struct fake_bmc *(*find)(const char *host, void *arg);
	/* True if the BMC at host does not answer; NULL: every BMC answers */
	bool (*hangs)(const char *host, void *arg);
	void *arg;
	const char *user, *password;
	/* Duration of each call, ms */
	int64_t ms;
	/* --- faults of the next calls --------------------------------------------------------- */
	bool garbage, huge;
	/* True: the command takes effect, but no answer arrives */
	bool lost;
	/* True: the BMC has no free session */
	bool no_sessions;
	/* Number of records that "sdr info" reports. While it is 0, "sdr elist" must not be called,
	 * because the real ipmitool would erase the repository */
	unsigned records;
	/* Output of "sdr elist", in lines; NULL: "sdr elist" never ends */
	const char *sensors;
	/* Exit status of "sdr elist" */
	int sensors_status;
	/* Number of calls of "sdr elist" */
	unsigned sensings;
	/* Number of logins that reached a BMC */
	unsigned logins;
	unsigned starts, ends;

	struct loop_group *group;
	/* Used by fake_ipmitool.c only */
	struct list calls;
	struct {
		char host[64];
		int64_t ended;
	} last[16];
};

void fake_ipmitool_init(struct fake_ipmitool *f, struct loop_group *g);

#endif
