#ifndef CONTROLLER_TENANT_STATUS_H
#define CONTROLLER_TENANT_STATUS_H

#include "controller/tenant/tenant.h"

/*
 * status: writes the conditions, version, cluster UID and sleep of a VirtualCluster when they
 * changed.
 * Tests: tests/unit/controller/tenant/test_tenant.c
 */
void tenant_status_write(struct tenant *t);
void tenant_status_tick(void *tenant);

#endif
