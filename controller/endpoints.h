#ifndef CONTROLLER_ENDPOINTS_H
#define CONTROLLER_ENDPOINTS_H

#include "base/httpd/httpd.h"
#include "controller/core/context.h"
#include "controller/gauges.h"

/*
 * endpoints: a replica's own status over HTTP: /healthz, /readyz, /leadz (200 on the leader only)
 * and /metrics.
 * Tests: tests/unit/controller/test_endpoints.c
 */
struct endpoints {
	struct context *c;
	struct gauges *gauges;
};
/* Adds all routes to a server that only local clients reach. *ep and its members must outlive the
 * server. */
void endpoints_routes(struct endpoints *ep, struct httpd *d);
/* Adds all routes to a server that other hosts reach. /metrics requires the token of
 * keys_metrics_token() as bearer token. The other routes need no token: /leadz reveals only what
 * any caller of the agent endpoint can learn, and /healthz and /readyz are for a kubelet. */
void endpoints_remote_routes(struct endpoints *ep, struct httpd *d);

#endif
