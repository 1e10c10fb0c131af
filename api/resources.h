#ifndef API_RESOURCES_H
#define API_RESOURCES_H

#include "api/kinds.h"
#include "kube/client.h"

/*
 * resources: the kinds of drover as resources of the Kubernetes API, for calls of kube/.
 * Tests: tests/unit/cli/test_client.c
 */
extern const struct kube_resource object_resources[OBJECT_KINDS];

#endif
