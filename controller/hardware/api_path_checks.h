#ifndef CONTROLLER_HARDWARE_API_PATH_CHECKS_H
#define CONTROLLER_HARDWARE_API_PATH_CHECKS_H

#include "controller/core/api_paths.h"
#include "controller/core/context.h"
#include "controller/hardware/driver.h"

/*
 * api_path_checks: checks the network paths from tenants' machines to their API servers
 * repeatedly, and creates what the paths need. If the path uses a load balancer, asks the
 * Provider's network to create, correct and check it; if it uses a VIP, asks the network to check
 * what the VIP needs (providers/fabric.h). core/api_paths.h stores the results.
 *
 * A load balancer is recorded in status.apiServer of the VirtualCluster, protected by drover's
 * finalizer, before the request that creates it. It is removed when the VirtualCluster is deleted
 * (before its segment is removed) and when the spec no longer asks for it. 10 min after a deletion,
 * the removal is given up with an event that names what may be left over.
 *
 * A check runs every API_PATH_CHECK_MS, or every API_PATH_VIP_CHECK_MS for a VIP that has what it
 * needs. If a network does not answer, the last result stays valid for API_PATH_VALID_MS; after
 * that the path is unknown and no machine joins. On the loop thread; only the leader asks.
 * Tests: tests/world/test_api_path.c
 */
#define API_PATH_CHECK_MS 30000
/* Interval for a VIP that has what it needs, which rarely changes */
#define API_PATH_VIP_CHECK_MS 300000
#define API_PATH_VALID_MS 90000

struct api_path_checks;

/* Creates the module. changed() is called when the known state of the tenant's network path has
 * changed, or when the result of api_path_checks_block_deletion() may have changed. */
struct api_path_checks *api_path_checks_new(struct context *c, const struct drivers *ds,
					    void (*changed)(const char *tenant, void *arg),
					    void *arg);
/* Frees the module. Call after drivers_free(). */
void api_path_checks_free(struct api_path_checks *w);
/* Schedules a check of the network path from a tenant's machines to the tenant's API server, unless
 * the state of the path is known. tenant: name of the tenant; NULL: all tenants. Call when the
 * VirtualCluster has changed or was deleted. */
void api_path_checks_kick(struct api_path_checks *w, const char *tenant);
/* True if vc must keep drover's finalizer because its load balancer may exist. gone: true if vc is
 * being deleted and has no other reason to keep the finalizer; the call then starts or continues
 * the removal. */
bool api_path_checks_block_deletion(struct api_path_checks *w, const struct virtual_cluster *vc,
				    bool gone);

#endif
