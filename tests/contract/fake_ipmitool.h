#ifndef TESTS_CONTRACT_FAKE_IPMITOOL_H
#define TESTS_CONTRACT_FAKE_IPMITOOL_H

#include <stdbool.h>
#include <stdint.h>
#include "base/loop/loop_sim.h"
#include "tests/contract/fake_bmc.h"

/*
 * fake_ipmitool: ipmitool for the simulated loop: what 1.8.19 prints (taken down from it beside ipmi_sim), for machines
 * that are fakes of a BMC.
 *
 * It asserts what must hold of each call: the password by its file and neither in argv nor in the
 * environment, one process at a time for a BMC, 5 s between two.
 */
struct fake_ipmitool {
	/* The machine at a host; NULL: nothing answers there. */
	struct fake_bmc *(*find)(const char *host, void *arg);
	bool (*hangs)(const char *host, void *arg); /* NULL: none */
	void *arg;
	const char *user, *password;
	int64_t ms; /* each call takes so long */
	/* misdeeds, for the calls that follow */
	bool garbage, huge;
	bool lost;	     /* does what it is told, and then finds no answer */
	bool no_sessions;    /* the BMC has none free */
	unsigned records;    /* that "sdr info" tells; 0: "sdr elist" would erase */
	const char *sensors; /* what "sdr elist" prints, lines; NULL: it is never done with it */
	int sensors_status;  /* with which it ends then */
	unsigned sensings;   /* times it was asked for */
	unsigned logins;     /* that reached a BMC */
	unsigned starts, ends;

	struct loop_group *group;
	struct list calls; /* of fake_ipmitool.c */
	struct {
		char host[64];
		int64_t ended;
	} last[16];
};

void fake_ipmitool_init(struct fake_ipmitool *f, struct loop_group *g);

#endif
