#ifndef CLI_LEADER_OPTIONS_H
#define CLI_LEADER_OPTIONS_H

#include "base/err.h"
#include "controller/core/leader_service.h"

/*
 * leader_options: the options of `drover run` that make a Service lead to the leader:
 * --leader-service, --pod-ip and --node-name. They are given together or not at all.
 * Tests: tests/unit/cli/test_run.c
 */
struct leader_options {
	/* Each NULL: the option was not given. */
	const char *service, *pod_ip, *node_name;
};

/* Checks the options, also against the listeners (ADDRESS:PORT), which must accept connections to
 * the pod's address. Writes them to *s; s->service NULL: no option was given. The strings in *s are
 * those of *o. -1 with *e, which names the option. */
int leader_options_read(const struct leader_options *o, const char *agent_listen,
			const char *media_listen, struct leader_service_spec *s, struct err *e)
	__attribute__((warn_unused_result));

#endif
