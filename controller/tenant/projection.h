#ifndef CONTROLLER_TENANT_PROJECTION_H
#define CONTROLLER_TENANT_PROJECTION_H

#include <jansson.h>
#include "base/arena.h"
#include "base/data/scan.h"
#include "base/err.h"

/*
 * projection: typed projections, for kube/cache, of a tenant's pods and Nodes to struct tenant_pod
 * and struct tenant_node (tenant/tenant.h). The argument `tenant` is the struct tenant. The tables
 * tenant_want_... list the members that are read; nothing else of an object is parsed.
 * Tests: tests/unit/controller/tenant/test_projection.c
 */
extern const struct scan_want tenant_want_pod[], tenant_want_node[];
void *tenant_project_pod(const json_t *o, struct arena *a, void *tenant, struct err *e);
void *tenant_project_node(const json_t *o, struct arena *a, void *tenant, struct err *e);

/* Table and projection of a PodTemplate. The result is a struct tenant_pod, as if a pending pod
 * with the template's name had been created from the template. */
extern const struct scan_want tenant_want_template[];
void *tenant_project_template(const json_t *o, struct arena *a, void *tenant, struct err *e);

/* Table and projection of a DaemonSet. The result is a struct tenant_pod with
 * world_pod.daemon_set; its name is that of the DaemonSet with the suffix, so that it differs from
 * the name of any pod. */
#define TENANT_DAEMON_SET_SUFFIX ":daemonset"
extern const struct scan_want tenant_want_daemon_set[];
void *tenant_project_daemon_set(const json_t *o, struct arena *a, void *tenant, struct err *e);

struct tenant_node;
/* True if the Nodes a and b differ at most in the resourceVersion (after a heartbeat or a pulled
 * image). */
bool tenant_node_same(const struct tenant_node *a, const struct tenant_node *b);

#endif
