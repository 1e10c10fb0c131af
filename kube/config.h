#ifndef KUBE_CONFIG_H
#define KUBE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"
#include "base/own.h"
#include "base/secret.h"

/*
 * kube_config: where an API server is and how to log in. From a kubeconfig or from inside a pod.
 *
 * A tenant's kubeconfig is hostile input. With KUBE_CONFIG_TENANT only this is accepted: an https
 * server that is not loopback or link-local (unless `server` was given, which an admin wrote), an
 * inline CA, and an inline key pair or token. exec, auth-provider, any path, proxy-url,
 * insecure-skip-tls-verify, user and password are refused, as is each member that is not known, a
 * name with control characters, an encrypted key, a key of another certificate, and what is larger
 * than its bound: ERR_INVALID, and the text names the field ("users[0].user.exec: not allowed in a
 * tenant's kubeconfig"). Addresses behind names are judged when they are connected to (http.h,
 * local_ok), also those behind a name in `server`. With KUBE_CONFIG_OWN paths (relative to dir) are
 * read as well; exec and auth-provider are ERR_UNSUPPORTED, as are proxies, passwords and
 * impersonation; insecure-skip-tls-verify is refused. A plain http server passes here and only
 * here; a client wants plain_ok for it. Format:
 * https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/
 */
enum kube_config_trust { KUBE_CONFIG_OWN, KUBE_CONFIG_TENANT };

struct kube_config {
	/* https://host:port */
	char *server;
	/* our own: a name may lead to loopback (http.h) */
	bool local_ok;
	/* this and the key pair: written anew by pem.h, from what was understood */
	char *ca_pem;
	/* NULL: the host */
	char *tls_server_name;
	char *client_cert_pem;
	struct secret *client_key_pem;
	/* they were, by kube_config.c: a client need not do it once more (http.h) */
	bool pem_read;
	struct secret *token;
	/* re-read at least every 60 s; in-cluster */
	char *token_file;
	/* of the context or the pod; "default" if none */
	char *namespace_;
};

struct kube_config *kube_config_parse(const char *text, size_t len, enum kube_config_trust trust,
				      const char *server, const char *dir, struct err *e);
/* KUBE_CONFIG_OWN, of files. paths: one, or several with colons between, merged as kubectl does: of
 * one name the first entry counts, as the first current-context does, paths in a file are relative
 * to it, files that are not there are left out (ERR_NOT_FOUND when none is). context: instead of
 * current-context; NULL: none. */
struct kube_config *kube_config_load(const char *paths, const char *context, struct err *e);
/* KUBERNETES_SERVICE_HOST, _PORT and /var/run/secrets/kubernetes.io/serviceaccount. */
struct kube_config *kube_config_in_cluster(struct err *e);
/* The same with the pod's surroundings given: the service's address and the folder of the service
 * account. */
struct kube_config *kube_config_in_cluster_at(const char *host, const char *port, const char *dir,
					      struct err *e);
struct kube_config *kube_config_copy(const struct kube_config *c);
/* What token_file holds now, without white space at its end. */
struct secret *kube_config_read_token(const char *path, struct err *e);
void kube_config_free(struct kube_config *c);
DEFINE_OWN(kube_config)

#endif
