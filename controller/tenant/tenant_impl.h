#ifndef CONTROLLER_TENANT_TENANT_IMPL_H
#define CONTROLLER_TENANT_TENANT_IMPL_H

#include "controller/tenant/devices.h"
#include "controller/tenant/pod_groups.h"
#include "controller/tenant/provisioning_requests.h"
#include "controller/tenant/tenant.h"
#include "controller/tenant/volumes.h"

/*
 * tenant_impl: what tenant.c, which builds a tenant's client and caches, needs of objects.c, which
 * follows the caches.  For controller/tenant/tenant.c alone.
 */
/* Follow a change of a pod or a Node: kube_cache_spec.on_change, arg: the struct tenant. */
void tenant_on_pod(const struct kube_entry *old, const struct kube_entry *new_, void *arg);
void tenant_on_node(const struct kube_entry *old, const struct kube_entry *new_, void *arg);
/* Tells the planner of the pod again: what it asks for may have changed with another object. */
void tenant_tell_pod(struct tenant *t, const char *ns, const char *name);
extern const struct provisioning_requests_hooks tenant_requests_hooks;
extern const struct volumes_hooks tenant_volumes_hooks;
extern const struct devices_hooks tenant_devices_hooks;

#endif
