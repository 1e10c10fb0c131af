#ifndef CONTROLLER_TENANT_PROJECTION_H
#define CONTROLLER_TENANT_PROJECTION_H

#include <jansson.h>
#include "base/arena.h"
#include "base/data/scan.h"
#include "base/err.h"

/*
 * projection: of a tenant's pods and Nodes what drover needs, typed: struct tenant_pod and struct
 * tenant_node (tenant/tenant.h), as kube/cache wants them. arg: the struct tenant. The tables say
 * what they read: nothing else of an object is built.
 * Tests: tests/unit/controller/tenant/test_projection.c
 */
extern const struct scan_want tenant_want_pod[], tenant_want_node[];
void *tenant_project_pod(const json_t *o, struct arena *a, void *tenant, struct err *e);
void *tenant_project_node(const json_t *o, struct arena *a, void *tenant, struct err *e);

/* Of a PodTemplate a struct tenant_pod, as if a pod with the template's name had been made of it,
 * with no Node. */
extern const struct scan_want tenant_want_template[];
void *tenant_project_template(const json_t *o, struct arena *a, void *tenant, struct err *e);

struct tenant_node;
/* Nothing but the resourceVersion is another: a heartbeat, an image that was pulled. */
bool tenant_node_same(const struct tenant_node *a, const struct tenant_node *b);

#endif
