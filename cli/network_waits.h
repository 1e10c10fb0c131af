#ifndef CLI_NETWORK_WAITS_H
#define CLI_NETWORK_WAITS_H

#include <stdio.h>

#include <jansson.h>

/*
 * network_waits: finds machines whose switch port does not move, for `drover network check`, and
 * prints the last line of that command. The check of the network controller alone finds nothing
 * wrong while ports are stuck.
 * Tests: tests/unit/cli/test_network_waits.c
 */

/* Result of a finding about a machine that waits for its port */
#define NETWORK_WAITS "waits"

/* Returns the finding {of, result: NETWORK_WAITS, machine, at, says, mend} about a Machine whose
 * port does not move; the caller owns it. at: what the machine waits for, such as "place
 * quarantine, attempt 11". NULL: the machine does not wait for its port. The texts have no control
 * characters. */
json_t *network_waits_finding(const json_t *machine);

/* Prints the verdict of the command in one line. all: name of each Provider -> its findings. wrong:
 * number of findings with result "wrong". */
void network_waits_verdict(const json_t *all, unsigned wrong, FILE *out);

#endif
