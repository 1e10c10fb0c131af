#ifndef CONTROLLER_CONTROLLER_H
#define CONTROLLER_CONTROLLER_H

#include "base/http/http.h"
#include "base/httpd/httpd.h"
#include "controller/core/context.h"
#include "kube/config.h"

/*
 * controller: one replica, composed of its rooms.
 *
 *   tenants --pods, Nodes--> claims --NodeClaims--> steps (one life for each Machine)
 *                              ^                      |         |         |
 *      host caches (context) --'                  hardware    agent     tenant
 *                                               (BMC, ports) (orders) (token, Node)
 *
 * Everything is on one loop thread. A room tells what happened by a notice (core/notify.h) or by
 * the callbacks that it was made with; controller.c alone knows who listens.
 * Tests: tests/world/test_fence.c, tests/world/test_crash.c, tests/world/test_chaos.c
 */
struct agent_endpoint;
struct controller;

struct controller_options {
	struct context_options context;
	/* path of the ISO; NULL: no machine can be booted */
	const char *agent_image;
	/* "ed25519:BASE64": who signed it (controller/agent/boot_image.h); NULL: this process made
	 * it itself. */
	const char *agent_image_key;
	/* Once, when caches and keys are in: the agent endpoint may open. */
	void (*on_ready)(void *arg);
	void *on_ready_arg;
};

/* NULL with *e when the host's kubeconfig cannot be used.  o is copied. */
struct controller *controller_new(struct loop_group *g, struct http *h,
				  const struct kube_config *host,
				  const struct controller_options *o, struct err *e);
void controller_free(struct controller *c);
DEFINE_OWN(controller)

struct context *controller_context(struct controller *c);
struct agent_endpoint *controller_agent_endpoint(struct controller *c);

/* Routes of /healthz, /readyz, /leadz (200 on the leader alone) and /metrics. */
void controller_ops_routes(struct controller *c, struct httpd *d);
/* Of those, what others may ask: /leadz, and /metrics with the token of the Secret
 * drover-metrics-token. */
void controller_remote_routes(struct controller *c, struct httpd *d);
/* Bring the gauges of /metrics up to date. */
void controller_read_gauges(struct controller *c);
/* Give the lease back, then done(arg). */
void controller_stop(struct controller *c, void (*done)(void *arg), void *arg);

#endif
