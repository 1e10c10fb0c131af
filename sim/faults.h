#ifndef SIM_FAULTS_H
#define SIM_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/err.h"

/*
 * faults: what goes wrong in the rack, on request, from YAML:
 *
 *   faults:
 *   - machine: gpu-3            # or "*"
 *     when: wiping              # a name below; absent: always
 *     what: PullDrive           # a name below
 *     count: 1                  # how often; absent: for ever
 *     probability: 0.1          # absent: 1
 *     value: 503                # of those that want one
 *
 * when: POST, Agent, Node, inspect, wipe, verify, write, Request (each request to the BMC) what:
 * PowerLie PowerSlow(seconds) BmcSlow(seconds) BmcStatus(HTTP status) BmcHang BmcGarbage
 * SessionsFull
 *       TaskFails Async (every action is answered with a Task) EtagAlways412 EtagRequired (428 without If-Match)
 *       MediaVanishes BootsDisk NoKubelet PullDrive DriveUnreadable WipeFails AgentSilent Reboot
 *       PasswordChange (403 to all but the own account) LoginMoved(HTTP status)
 *       PortLie WrongUUID SwappedUUID (the System says its own in the other byte order) RetryAfter(seconds)
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
/* Errors name the row, the member and what is allowed; of YAML itself the line. count 0: for
 * ever. */
int sim_faults_read(const char *yaml, size_t len, struct arena *a, struct sim_faults *out,
		    struct err *e) __attribute__((warn_unused_result));

#endif
