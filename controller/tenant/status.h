#ifndef CONTROLLER_TENANT_STATUS_H
#define CONTROLLER_TENANT_STATUS_H

#include "controller/tenant/tenant.h"

/*
 * status: the conditions, version, cluster UID and sleep of a VirtualCluster, written when they changed.
 * Tests: tests/unit/controller/tenant/test_tenant.c
 */
void tenant_status_write(struct tenant *t);
void tenant_status_tick(void *tenant);
/* The tenant is not usable for this reason (CamelCase, static); NULL: it is. */
void tenant_say(struct tenant *t, const char *reason, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
