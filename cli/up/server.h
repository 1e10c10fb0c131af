#ifndef CLI_UP_SERVER_H
#define CLI_UP_SERVER_H

#include <stdbool.h>
#include "base/err.h"
#include "base/loop/loop.h"
#include "base/own.h"
#include "base/secret.h"
#include "base/store/store.h"

/*
 * server: one embedded API server (kube/apiserver) behind TLS. `drover apiserver` runs one, `drover
 * up` several.
 *
 * The server's folder contains what outlives the process: ca.crt and ca.key, created at the first
 * start; the token of the administrator (group system:masters); the store. The server's certificate
 * is issued at each start, so the address may change. up_server_new() reads and writes files: call
 * it before loop_run(), or where a short block is harmless.
 * Tests: tests/unit/cli/up/test_apiserver.c, tests/real/up.py
 */
struct up_server;

struct up_server_spec {
	/* folder of the server, created if missing; NULL: all data is only in memory */
	const char *folder;
	/* address, such as "127.0.0.1:6443"; port 0: any free port */
	const char *listen;
	/* name of cluster, user and context in the kubeconfig; NULL: "drover" */
	const char *name;
	/* true: kubelets run, so that the server deletes pods gracefully (apiserver_spec) */
	bool graceful_pods;
	/* true: the controllers of sim/cluster/workloads.h run; false: no controllers run, and a
	 * client that creates a Deployment gets a warning */
	bool workloads;
	/* token with which joined nodes authenticate; NULL: none */
	const struct secret *kubelet_token;
	/* HOST:PORT where nodes join the cluster; NULL: the cluster accepts no nodes */
	const char *join_endpoint;
};

/* Opens folder, store and listener, and starts to serve. NULL with *e, which names the folder or
 * the address; ERR_CONFLICT: another process uses the folder. */
struct up_server *up_server_new(struct loop_group *g, const struct up_server_spec *spec,
				struct err *e);
void up_server_free(struct up_server *s);
DEFINE_OWN(up_server)

/* Returns the URL of the server, such as "https://127.0.0.1:6443"; valid until up_server_free(). */
const char *up_server_url(const struct up_server *s);
/* Returns the certificate of the server's CA, PEM; valid until up_server_free(). */
const char *up_server_ca_pem(const struct up_server *s);
/* Returns the key of the server's CA; valid until up_server_free(). */
const struct secret *up_server_ca_key(const struct up_server *s);
/* Returns the token of the administrator; valid until up_server_free(). */
const struct secret *up_server_token(const struct up_server *s);
/* Returns the store of the server; valid until up_server_free(). */
struct store *up_server_store(struct up_server *s);

/* Returns a kubeconfig of the administrator; the caller owns it. */
struct secret *up_server_kubeconfig(const struct up_server *s);
/* Writes a kubeconfig of the administrator to path: completely or not at all, readable only by its
 * owner. Returns 0, or -1 with *e. */
int up_server_save_kubeconfig(const struct up_server *s, const char *path, struct err *e);

#endif
