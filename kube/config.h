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
 * not loopback or link-local, an inline CA, and an inline key pair or token. These limits on the
 * server do not apply to the parameter `server` of kube_config_parse(), which an administrator
 * wrote. Refused are exec, auth-provider, any file path, proxy-url, insecure-skip-tls-verify, user
 * and password, every unknown member, a name with control characters, an encrypted key, a key that
 * does not match its certificate, and anything larger than its size limit. The error is
 * ERR_INVALID, and its text names the field ("users[0].user.exec: not allowed in a tenant's
 * kubeconfig"). If the server is a host name, the addresses to which it resolves are checked on
 * connecting (http.h, local_ok), also for a host name in the parameter `server`.
 *
 * KUBE_CONFIG_OWN (drover's own config) reads file paths (relative to dir) too. exec and
 * auth-provider are ERR_UNSUPPORTED, as are proxies, passwords and impersonation;
 * insecure-skip-tls-verify is refused. A plain http server is accepted only with KUBE_CONFIG_OWN,
 * and only by a client with plain_ok. Format:
 * https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/
 */
enum kube_config_trust { KUBE_CONFIG_OWN, KUBE_CONFIG_TENANT };

struct kube_config {
	/* URL of the server, https://host:port. */
	char *server;
	/* True: drover's own config, so the name of the server may resolve to loopback (http.h). */
	bool local_ok;
	/* CA of the server. CA and key pair are not the text from the file: pem.h has parsed that
	 * text and written it anew. */
	char *ca_pem;
	/* Name that the server's certificate must have; NULL: the host in server. */
	char *tls_server_name;
	char *client_cert_pem;
	struct secret *client_key_pem;
	/* True: pem.h has already parsed CA and key pair, so a client need not check them again
	 * (http.h). */
	bool pem_read;
	struct secret *token;
	/* File with the token of a pod's service account; the client reads it again at least every
	 * 60 s; NULL: no file. */
	char *token_file;
	/* Namespace of the context or the pod; "default" if none. */
	char *namespace_;
};

struct kube_config *kube_config_parse(const char *text, size_t len, enum kube_config_trust trust,
				      const char *server, const char *dir, struct err *e);
/* Loads drover's own config (KUBE_CONFIG_OWN) from files. paths: one file, or several separated by
 * colons, which are merged as in kubectl: the first entry of a name and the first current-context
 * win, paths in a file are relative to that file's directory, missing files are ignored
 * (ERR_NOT_FOUND if all are missing). context: used instead of current-context; NULL:
 * current-context. */
struct kube_config *kube_config_load(const char *paths, const char *context, struct err *e);
/* Returns the config for a process inside a pod, from KUBERNETES_SERVICE_HOST,
 * KUBERNETES_SERVICE_PORT and /var/run/secrets/kubernetes.io/serviceaccount. */
struct kube_config *kube_config_in_cluster(struct err *e);
/* Returns the config for a process inside a pod. host, port: address of the API server's Service;
 * dir: directory of the service account. */
struct kube_config *kube_config_in_cluster_at(const char *host, const char *port, const char *dir,
					      struct err *e);
struct kube_config *kube_config_copy(const struct kube_config *c);
/* Returns the current contents of a token file without white space at the end; NULL with *e. */
struct secret *kube_config_read_token(const char *path, struct err *e);
void kube_config_free(struct kube_config *c);
DEFINE_OWN(kube_config)

#endif
