#ifndef CONTROLLER_CORE_API_PATHS_H
#define CONTROLLER_CORE_API_PATHS_H

#include <stdbool.h>

/*
 * api_paths: the observed state of each tenant's API server path, the network path from the
 * tenant's machines to the tenant's API server (spec.network.apiServer of the VirtualCluster).
 *
 * Written by hardware/api_path_checks.h, which reads the networks; read by the code that lets
 * machines join. Only in memory: a new process has observed no path, so no machine joins because of
 * what another replica saw. On the loop thread.
 * Tests: tests/unit/controller/core/test_api_paths.c
 */
struct api_paths;
struct api_path_state {
	bool up;
	/* machine-readable reason in CamelCase; a static string */
	const char *reason;
	char why[400];
};

struct api_paths *api_paths_new(void);
void api_paths_free(struct api_paths *w);
/* Stores the observed state of a tenant's path. key: identifies the path (api_path_key() of
 * controller/rules/api_path.h). Returns true if the state differs from the stored one. */
bool api_paths_put(struct api_paths *w, const char *tenant, const char *key,
		   const struct api_path_state *seen);
void api_paths_forget(struct api_paths *w, const char *tenant);
/* Returns the observed state of the tenant's path `key`; NULL: not observed yet. */
const struct api_path_state *api_paths_get(const struct api_paths *w, const char *tenant,
					   const char *key);

#endif
