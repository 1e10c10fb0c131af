#ifndef SIM_MACHINE_FAULTS_H
#define SIM_MACHINE_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/err.h"

/*
 * faults: the faults of a rack, read from YAML:
 *
 *   faults:
 *   - machine: gpu-3            # or "*"
 *     when: wipe                # one of the phases below; absent: always
 *     what: PullDrive           # one of the faults below
 *     count: 1                  # number of times; absent: no limit
 *     probability: 0.1          # absent: 1
 *     value: 503                # only for faults that need one
 *
 * Phases: POST, Agent, Node, inspect, wipe, verify, write, Request (a request to the BMC or to the
 * machine's switch port).
 *
 * Faults; docs/sim.md describes each of them:
 *
 *   PowerLie PowerSlow(seconds) BmcSlow(seconds) BmcStatus(HTTP status) BmcHang BmcGarbage
 *   SessionsFull TaskFails EtagAlways412 EtagRequired MediaVanishes BootsDisk NoKubelet PullDrive
 *   DriveUnreadable WipeFails AgentSilent Reboot PortLie WrongUUID RetryAfter(seconds)
 *   Async           answers every action with a Task
 *   PasswordChange  answers 403 to everything but the login's own account
 *   LoginMoved      redirects the login with this HTTP status
 *   AgentVersion    the agent is of another version, with the next protocol
 *   TokenRefused    the kubelet's bootstrap token is not the one of the cluster
 *   DriveLies       a drive acknowledges writes and loses them
 *   SwappedUUID     the System reports its UUID in the other byte order
 */
struct sim_fault {
	const char *machine, *when, *what;
	int64_t count, value;
	double probability;
};
struct sim_faults {
	struct sim_fault *v;
	size_t n;
};
/* The phases, ending with NULL. */
extern const char *const sim_fault_whens[];

/* Reads the faults of a YAML text into *out, in the arena. Errors name the row, the member and the
 * permitted values; errors of the YAML syntax name the line. In *out, count 0 means no limit. */
int sim_faults_read(const char *yaml, size_t len, struct arena *a, struct sim_faults *out,
		    struct err *e) __attribute__((warn_unused_result));

#endif
