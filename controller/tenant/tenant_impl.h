#ifndef CONTROLLER_TENANT_TENANT_IMPL_H
#define CONTROLLER_TENANT_TENANT_IMPL_H

#include "controller/tenant/devices.h"
#include "controller/tenant/pod_groups.h"
#include "controller/tenant/provisioning_requests.h"
#include "controller/tenant/tenant.h"
#include "controller/tenant/volumes.h"

/*
 * tenant_impl: declarations shared by tenant.c, which builds a tenant's client and caches, and
 * objects.c, which handles changes in the caches. Included only by these two files.
 */
/* tenant_on_pod() and tenant_on_node() are kube_cache_spec.on_change for pods and Nodes; arg: the
 * struct tenant. */
void tenant_on_pod(const struct kube_entry *old, const struct kube_entry *new_, void *arg);
void tenant_on_node(const struct kube_entry *old, const struct kube_entry *new_, void *arg);
/* Passes the pod to the planner again. Call when another object that affects the pod may have
 * changed. */
void tenant_replan_pod(struct tenant *t, const char *ns, const char *name);
extern const struct provisioning_requests_hooks tenant_requests_hooks;
extern const struct volumes_hooks tenant_volumes_hooks;
extern const struct devices_hooks tenant_devices_hooks;

#endif
