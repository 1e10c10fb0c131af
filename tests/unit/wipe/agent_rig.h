#ifndef TESTS_UNIT_WIPE_AGENT_RIG_H
#define TESTS_UNIT_WIPE_AGENT_RIG_H

#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/crypto.h"
#include "tests/simulated/http_mem.h"
#include "tests/simulated/loop_sim.h"
#include "base/str.h"
#include "tests/unit/wipe/machine.h"
#include "wipe/agent.h"

/*
 * agent_rig: runs the agent of a machine with two drives on the simulated loop. The controller is
 * simulated too: it answers as the test sets it and records what it receives. There is one rig per
 * program.
 */
#define ORIGIN "https://drover:8443"
#define SECRET "0011223344556677889900112233445566778899001122334455667788990011"
#define NONCE "a1a2a3a4a5a6a7a8a9a0a1a2a3a4a5a6"
#define DIGEST "sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define WALL 1790000000000
#define DRIVE (8 << 20)
#define MAX_REPORTS 64

struct agent_rig {
	struct machine m;
	struct loop *loop;
	struct loop_group *agent_group, *server_group;
	struct http_mem_net *net;
	struct httpd *httpd;
	struct http *http;
	struct proto_boot boot;
	struct agent *agent;
	struct arena *arena;

	unsigned hellos, polls, off, renewals;
	int64_t off_at, clock;
	/* HTTP status of the controller's replies to hello, poll and report; 0: the normal reply */
	int hello_status, poll_status, report_status;
	/* Number of further reports that the controller answers with 503 */
	unsigned fail_reports;
	/* Order that the controller sends next; NULL: none */
	const struct proto_order *order;
	/* True: the controller sends the order with every poll, whatever `after` says */
	bool repeat;
	struct proto_hello hello;
	struct crypto_key *key;
	/* Results and progress reports, in the order of arrival */
	struct proto_report reports[MAX_REPORTS];
	size_t nreports;
};
extern struct agent_rig agent_rig;

int agent_rig_setup(void **state);
int agent_rig_teardown(void **state);
void agent_rig_run_for(int64_t ms);
/* Sends the order and runs for 30 s. Returns the agent's report of the result; NULL: none came. */
const struct proto_report *agent_rig_order(const struct proto_order *o);

#endif
