#ifndef CONTROLLER_VIEW_TENANT_LIST_H
#define CONTROLLER_VIEW_TENANT_LIST_H

#include "controller/claims/waiting.h"
#include "controller/core/context.h"
#include "controller/tenant/tenant.h"

/*
 * tenant_list: publishes in each tenant's cluster which pods of the tenant wait for a machine.
 *
 * The leader keeps one ConfigMap in each tenant's cluster, so that `drover why POD` works with
 * nothing but the tenant's kubeconfig: TENANT_LIST_NAME in TENANT_LIST_NS, with a JSON text under
 * the key TENANT_LIST_KEY. It contains the tenant's waiting pods, its quota and its use. About
 * other tenants it contains one number, the length of the queue. docs/view.md describes the
 * members.
 *
 * The ConfigMap is written at most every TENANT_LIST_MS, if something in it changed, and every
 * TENANT_LIST_KEEP_MS in any case, so that its time shows that it is current. A tenant whose
 * cluster refuses the write (deploy/tenant-rbac.yaml of an older release) is tried again after
 * TENANT_LIST_AGAIN_MS. After another error, for example because TENANT_LIST_NS is missing, the
 * delay begins with TENANT_LIST_MS and doubles up to TENANT_LIST_AGAIN_MS. On the loop thread.
 * Tests: tests/unit/controller/view/test_tenant_list.c
 */
#define TENANT_LIST_MS 15000
#define TENANT_LIST_KEEP_MS 300000
#define TENANT_LIST_AGAIN_MS 600000
/* Maximum size of the JSON text in bytes; pods that do not fit are counted in `left`. */
#define TENANT_LIST_MAX (256 << 10)

struct tenant_list;
/* waiting: the published list of all tenants; must outlive the tenant_list. */
struct tenant_list *tenant_list_new(struct context *c, const struct tenants *tenants,
				    const struct waiting *waiting);
void tenant_list_free(struct tenant_list *l);
DEFINE_OWN(tenant_list)
/* Drops the call in progress to the tenant's cluster. Call before its client is freed. */
void tenant_list_hang_up(struct tenant_list *l, const char *tenant);

#endif
