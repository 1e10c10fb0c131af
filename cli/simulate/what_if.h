#ifndef CLI_SIMULATE_WHAT_IF_H
#define CLI_SIMULATE_WHAT_IF_H

#include "cli/simulate/scenario.h"

/*
 * what_if: applies one change to the documents of a scenario, before a world is built from them:
 *
 *   machines+=N, machines.TYPE+=N
 *       adds machines of a type that exactly one Provider has
 *   pool.NAME.max=N, .weight=N, .paused=true|false
 *       spec.limits.nodes, spec.weight, spec.paused
 *   tenant.NAME.gpus=N, .weight=N, .priority=N
 *       spec.quota of nvidia.com/gpu, spec.weight, spec.priority
 *   times.boot=D, .drain=D, .wipe=D, .idle=D, .settle=D, until=D
 *       of the Scenario; durations such as 5m
 *
 * Decoding the documents checks the values.
 * Tests: tests/unit/cli/simulate/test_scenario.c
 */
/* All forms, for help and errors */
#define WHAT_IF_FORMS                                                                              \
	"machines+=N, machines.TYPE+=N, pool.NAME.max|weight|paused=VALUE, "                       \
	"tenant.NAME.gpus|weight|priority=VALUE, "                                                 \
	"times.boot|drain|wipe|idle|settle=DURATION, until=DURATION"

/* Applies change to f. Returns -1 with e: change has an unknown form, or names no object of f. */
int what_if_apply(struct scenario_file *f, const char *change, struct err *e)
	__attribute__((warn_unused_result));

#endif
