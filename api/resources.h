#ifndef API_RESOURCES_H
#define API_RESOURCES_H

#include "api/kinds.h"
#include "kube/client.h"

/*
 * resources: group, version, plural and kind of each kind of drover, for calls of the Kubernetes
 * API (kube/).
 * Tests: tests/unit/cli/test_client.c
 */
extern const struct kube_resource object_resources[OBJECT_KINDS];

#endif
