#ifndef CONTROLLER_CONTROLLER_H
#define CONTROLLER_CONTROLLER_H

#include "base/http/http.h"
#include "base/httpd/httpd.h"
#include "controller/core/context.h"
#include "kube/config.h"

/*
 * controller: one replica of drover, composed of its parts.
 *
 *   tenants --pods, Nodes--> claims --NodeClaims--> steps (one struct life for each Machine)
 *                              ^                      |         |         |
 *      host caches (context) --'                  hardware    agent     tenant
 *                                               (BMC, ports) (orders) (token, Node)
 *
 * Everything runs on one loop thread. A part reports events by a notice (core/notify.h) or by the
 * callbacks that were passed to its constructor. Only controller.c knows which part receives an
 * event.
 * Tests: tests/world/test_fence.c, tests/world/test_crash.c, tests/world/test_chaos.c
 */
struct agent_endpoint;
struct controller;
struct leader_service_spec;
struct spans_spec;

struct controller_options {
	struct context_options context;
	/* Path of the agent's ISO; NULL: no machine can be booted */
	const char *agent_image;
	/* Public key of the ISO's signer, "ed25519:BASE64" (controller/agent/boot_image.h); NULL:
	 * this process built the ISO. */
	const char *agent_image_key;
	/* Called once, when caches and keys are loaded. From then on the agent endpoint may
	 * listen. */
	void (*on_ready)(void *arg);
	void *on_ready_arg;
};

/* Creates a controller that works on the cluster of the kubeconfig `host`; copies *o. Returns NULL
 * with *e set if the kubeconfig cannot be used. */
struct controller *controller_new(struct loop_group *g, struct http *h,
				  const struct kube_config *host,
				  const struct controller_options *o, struct err *e);
void controller_free(struct controller *c);
DEFINE_OWN(controller)

struct context *controller_context(struct controller *c);
struct agent_endpoint *controller_agent_endpoint(struct controller *c);

/* Adds /healthz, /readyz, /leadz (200 on the leader only) and /metrics to a server that only local
 * clients reach. */
void controller_ops_routes(struct controller *c, struct httpd *d);
/* Adds /healthz, /readyz, /leadz and /metrics to a server that other hosts reach. /metrics then
 * requires the token of the Secret drover-metrics-token. */
void controller_remote_routes(struct controller *c, struct httpd *d);
/* Adds the paths of the view (controller/view/view.h) to a server that other hosts reach by TLS. */
void controller_view_routes(struct controller *c, struct httpd *d);
/* Publishes the address of the view for readers (controller/view/published.h) while this replica
 * leads. listen: ADDRESS:PORT of the listener. May be called once. */
void controller_view_publish(struct controller *c, const char *listen);
/* Makes a Service lead to this replica while it leads (core/leader_service.h). The listeners of
 * agents and boot media must be open. May be called once. */
void controller_leader_service(struct controller *c, const struct leader_service_spec *s);
/* Sends traces of claims and Drains to a collector (core/spans.h); off until this is called. May be
 * called once. -1 with *e: the endpoint cannot be used. */
int controller_trace(struct controller *c, const struct spans_spec *s, struct err *e)
	__attribute__((warn_unused_result));
/* Computes the gauges of /metrics from the present objects, at once. For tests. */
void controller_read_gauges(struct controller *c);
/* Checks the counts and indexes that are kept up to date with each change (billing/supply_tally.h,
 * core/recheck.h) against all objects. Returns how many objects were counted or indexed wrongly.
 * For tests. */
size_t controller_check_counts(struct controller *c);
/* Stores the view's history, marks the endpoint of the leader's Service as not ready, releases the
 * lease, then calls done(arg). */
void controller_stop(struct controller *c, void (*done)(void *arg), void *arg);

#endif
