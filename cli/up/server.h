#ifndef CLI_UP_SERVER_H
#define CLI_UP_SERVER_H

#include <stdbool.h>
#include "base/err.h"
#include "base/loop/loop.h"
#include "base/own.h"
#include "base/secret.h"
#include "base/store/store.h"

/*
 * server: one embedded API server (kube/apiserver) behind TLS, as `drover apiserver` serves one and
 * `drover up` several.
 *
 * Its folder holds what must outlast the process: ca.crt and ca.key (made at the first start),
 * token (of the administrator, in group system:masters), and the store. The server's certificate is
 * made anew at each start, so its address may change. Opening reads and writes files: before
 * loop_run(), or where a short stop does no harm.
 * Tests: tests/unit/cli/up/test_apiserver.c, tests/real/up.py
 */
struct up_server;

struct up_server_spec {
	/* made when it is not there; NULL: everything is in memory */
	const char *folder;
	/* "127.0.0.1:6443"; port 0: any free one */
	const char *listen;
	/* of cluster, user and context in the kubeconfig; NULL: "drover" */
	const char *name;
	/* there are kubelets: see struct apiserver_spec */
	bool graceful_pods;
	/* sim/workloads.h runs on it; false: whoever creates a Deployment is warned */
	bool workloads;
	/* lets nodes in that have joined; NULL: none */
	const struct secret *kubelet_token;
	/* HOST:PORT where nodes join it; NULL: it takes none */
	const char *join_endpoint;
};

/* Errors name the folder or the address.  ERR_CONFLICT: another process has the folder. */
struct up_server *up_server_new(struct loop_group *g, const struct up_server_spec *spec,
				struct err *e);
void up_server_free(struct up_server *s);
/* "https://127.0.0.1:6443" */
DEFINE_OWN(up_server)

/* Valid as long as the server is. */
const char *up_server_url(const struct up_server *s);
const char *up_server_ca_pem(const struct up_server *s);
const struct secret *up_server_ca_key(const struct up_server *s);
const struct secret *up_server_token(const struct up_server *s);
struct store *up_server_store(struct up_server *s);

/* For the administrator; gives. */
struct secret *up_server_kubeconfig(const struct up_server *s);
/* Write it there, whole or not at all, for its owner's eyes alone. */
int up_server_save_kubeconfig(const struct up_server *s, const char *path, struct err *e);

#endif
