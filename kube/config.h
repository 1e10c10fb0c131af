#ifndef KUBE_CONFIG_H
#define KUBE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"
#include "base/own.h"
#include "base/secret.h"

/*
 * kube_config: address of an API server and its login, from a kubeconfig or from inside a pod.
 *
 * A tenant's kubeconfig is hostile input. KUBE_CONFIG_TENANT accepts only: an https server that is
 * not loopback or link-local (unless `server` was given, which an administrator wrote), an inline
 * CA, and an inline key pair or token. Refused are exec, auth-provider, any path, proxy-url,
 * insecure-skip-tls-verify, user and password, every unknown member, a name with control
 * characters, an encrypted key, a key that does not match its certificate, and anything larger than
 * its bound: ERR_INVALID, and the text names the field ("users[0].user.exec: not allowed in a
 * tenant's kubeconfig"). Addresses that a name resolves to are judged on connecting (http.h,
 * local_ok), also for a name in `server`. KUBE_CONFIG_OWN reads paths (relative to dir) too; exec
 * and auth-provider are ERR_UNSUPPORTED, as are proxies, passwords and impersonation;
 * insecure-skip-tls-verify is refused. A plain http server is accepted only with KUBE_CONFIG_OWN; a
 * client needs plain_ok for it. Format:
 * https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/
 */
enum kube_config_trust { KUBE_CONFIG_OWN, KUBE_CONFIG_TENANT };

struct kube_config {
	/* https://host:port. */
	char *server;
	/* An own config: a name may resolve to loopback (http.h). */
	bool local_ok;
	/* CA and key pair are written anew by pem.h from the parsed contents. */
	char *ca_pem;
	/* NULL: the host. */
	char *tls_server_name;
	char *client_cert_pem;
	struct secret *client_key_pem;
	/* kube_config.c has read CA and key pair by pem.h; a client need not do it again
	 * (http.h). */
	bool pem_read;
	struct secret *token;
	/* Re-read at least every 60 s; in-cluster. */
	char *token_file;
	/* Namespace of the context or the pod; "default" if none. */
	char *namespace_;
};

struct kube_config *kube_config_parse(const char *text, size_t len, enum kube_config_trust trust,
				      const char *server, const char *dir, struct err *e);
/* KUBE_CONFIG_OWN, from files. paths: one file, or several separated by colons, merged as in
 * kubectl: the first entry of a name and the first current-context win, paths in a file are
 * relative to it, missing files are ignored (ERR_NOT_FOUND if all are missing). context: used
 * instead of current-context; NULL: current-context. */
struct kube_config *kube_config_load(const char *paths, const char *context, struct err *e);
/* Reads KUBERNETES_SERVICE_HOST, _PORT and /var/run/secrets/kubernetes.io/serviceaccount. */
struct kube_config *kube_config_in_cluster(struct err *e);
/* As kube_config_in_cluster(), with the service's address and the service account's folder
 * given. */
struct kube_config *kube_config_in_cluster_at(const char *host, const char *port, const char *dir,
					      struct err *e);
struct kube_config *kube_config_copy(const struct kube_config *c);
/* Returns the present contents of token_file without white space at the end. */
struct secret *kube_config_read_token(const char *path, struct err *e);
void kube_config_free(struct kube_config *c);
DEFINE_OWN(kube_config)

#endif
