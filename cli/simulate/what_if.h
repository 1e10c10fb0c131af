#ifndef CLI_SIMULATE_WHAT_IF_H
#define CLI_SIMULATE_WHAT_IF_H

#include "cli/simulate/scenario.h"

/*
 * what_if: applies one change to the documents of a scenario, before a world is built from them.
 * Forms of a change:
 *
 *   machines+=N, machines.TYPE+=N
 *       adds machines of a type that exactly one Provider has
 *   pool.NAME.max=N, .weight=N, .expander=WHAT, .paused=true|false
 *       sets spec.limits.nodes, spec.weight, spec.expander or spec.paused of a NodePool
 *   tenant.NAME.gpus=N, .weight=N, .priority=N
 *       sets spec.quota of nvidia.com/gpu, spec.weight or spec.priority
 *   times.boot=D, .drain=D, .wipe=D, .idle=D, .settle=D, until=D
 *       sets times of the Scenario; D: a duration such as 5m
 *
 * The values are checked later, when the documents are decoded.
 * Tests: tests/unit/cli/simulate/test_scenario.c
 */
/* all forms of a change, for help and errors */
#define WHAT_IF_FORMS                                                                              \
	"machines+=N, machines.TYPE+=N, pool.NAME.max|weight|expander|paused=VALUE, "              \
	"tenant.NAME.gpus|weight|priority=VALUE, "                                                 \
	"times.boot|drain|wipe|idle|settle=DURATION, until=DURATION"

/* Applies change to the documents of f. Returns 0, or -1 with *e: the form is unknown, or f lacks
 * the named object. */
int what_if_apply(struct scenario_file *f, const char *change, struct err *e)
	__attribute__((warn_unused_result));

#endif
