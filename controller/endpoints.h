#ifndef CONTROLLER_ENDPOINTS_H
#define CONTROLLER_ENDPOINTS_H

#include "base/httpd/httpd.h"
#include "controller/core/context.h"
#include "controller/gauges.h"

/*
 * endpoints: what a replica says of itself over HTTP: /healthz, /readyz, /leadz (200 on the leader
 * alone) and /metrics.
 * Tests: tests/unit/controller/test_endpoints.c
 */
struct endpoints {
	struct context *c;
	struct gauges *gauges;
};
/* Both have to live as long as the server. */
void endpoints_routes(struct endpoints *ep, struct httpd *d);
/* For a listener that others reach: /metrics for who shows the token of keys_metrics_token() as
 * bearer; /leadz, which tells no more than who answers agents; /healthz and /readyz, which a
 * kubelet asks. */
void endpoints_remote_routes(struct endpoints *ep, struct httpd *d);

#endif
