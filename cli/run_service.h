#ifndef CLI_RUN_SERVICE_H
#define CLI_RUN_SERVICE_H

#include "base/loop/service.h"

/*
 * run_service: what `drover run` reports to the service manager that started it (systemd). The
 * status line says whether this replica leads, and how many Machines it knows.
 * Tests: tests/unit/cli/test_run.c
 */
struct controller;

/* Starts to report, with the variables NOTIFY_SOCKET and WATCHDOG_* of the environment. c must
 * outlive the result, which the caller frees by service_free(). A variable that cannot be used is
 * logged; NULL is returned, and drover runs without reports. */
struct service *run_service_new(struct loop_group *g, struct controller *c);

#endif
