#ifndef CLI_WHY_TENANT_H
#define CLI_WHY_TENANT_H

#include "cli/client.h"

/*
 * why_tenant: `drover why` for a user of a tenant's cluster, who has no access to drover's objects.
 * Reads only the tenant's cluster: the ConfigMap that drover keeps there
 * (controller/view/tenant_list.h), and the pod.
 * Tests: tests/unit/cli/test_why_tenant.c
 */

/* True if the API server has no objects of drover, so that it can only be a tenant's. */
bool why_tenant_is(struct cli_client *c);

/* Prints why a pod waits, or, with pod NULL, all waiting pods of the tenant. pod: POD,
 * NAMESPACE/POD or TENANT/NAMESPACE/POD, also behind "pod/" or "pods/". ns: namespace of a POD
 * without one. Returns the exit status. */
int cli_do_why_tenant(struct cli_client *c, const char *pod, const char *ns);

#endif
