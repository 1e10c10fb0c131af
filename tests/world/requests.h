#ifndef TESTS_WORLD_REQUESTS_H
#define TESTS_WORLD_REQUESTS_H

#include "tests/world/world.h"

/* requests: helpers for ProvisioningRequests in a tenant's cluster. */
#define REQUESTS_PATH "/apis/autoscaling.x-k8s.io/v1/namespaces/default/provisioningrequests"
#define REQUESTS_ATOMIC "best-effort-atomic-scale-up.autoscaling.x-k8s.io"
#define REQUESTS_CHECK "check-capacity.autoscaling.x-k8s.io"
#define REQUESTS_QUEUED "queued.drover.dev"

/* Returns a pod's spec that requests this number of GPUs; the caller owns it. */
json_t *requests_pod_spec(const char *gpus);
/* Makes the cluster serve ProvisioningRequests, and creates PodTemplate "train" with this number of
 * GPUs. */
void requests_serve(struct sim_world *w, struct cluster *c, const char *gpus);
/* Creates a ProvisioningRequest for count pods of PodTemplate "train". Takes ownership of
 * parameters, which may be NULL. */
void requests_ask(struct sim_world *w, struct cluster *c, const char *name, const char *class_,
		  int count, json_t *parameters);

#endif
