#ifndef CONTROLLER_CLAIMS_MACHINE_GPUS_H
#define CONTROLLER_CLAIMS_MACHINE_GPUS_H

#include "controller/core/context.h"

/*
 * machine_gpus: the number of GPUs of a machine, as metrics and the history of the view count it.
 * Tests: tests/unit/controller/claims/test_machine_gpus.c
 */

/* Returns the number of GPUs that the inspection found in the machine. If the machine was not
 * inspected, or the inspection found none, returns the GPUs of the machine's instance type; 0 if
 * the Provider does not describe the type. */
int64_t machine_gpus(const struct context *c, const struct machine *m);

#endif
