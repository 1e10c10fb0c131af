#ifndef KUBE_APISERVER_APISERVER_H
#define KUBE_APISERVER_APISERVER_H

#include <stdbool.h>
#include <stddef.h>
#include "base/httpd/httpd.h"
#include "base/loop/loop.h"
#include "base/own.h"
#include "base/secret.h"
#include "base/store/store.h"

/*
 * apiserver: a Kubernetes-compatible API server, for the demo, a laptop and the API servers of the
 * simulated world. It knows the protocol from its specification alone and shares no code with the
 * client in kube/.
 *
 * Serves under /api and /apis, and /healthz /livez /readyz /version /openapi/v3. Stock kubectl, the
 * Python client and operators work on it (tests/real/apiserver_clients.py). Discovery is told in
 * both forms; bodies may be JSON, YAML, and for built-in kinds protobuf, which Go clients send
 * (volumes of particular vendors excepted); answers are JSON, as Table and
 * PartialObjectMetadata(List) where asked for. OpenAPI has custom kinds as their definition has
 * them, built-in ones with a line about what is met often; /openapi/v2 is empty: old kubectls want
 * one.
 *
 *   core/v1                      pods nodes secrets configmaps namespaces events serviceaccounts
 *                                services persistentvolumeclaims persistentvolumes
 *                                resourcequotas
 *   authentication.k8s.io/v1     selfsubjectreviews tokenreviews
 *   authorization.k8s.io/v1      selfsubjectaccessreviews selfsubjectrulesreviews
 *                                subjectaccessreviews localsubjectaccessreviews
 *   apps/v1                      daemonsets deployments replicasets statefulsets
 *   batch/v1                     jobs
 *   coordination.k8s.io/v1       leases
 *   events.k8s.io/v1             events (the same objects as the core ones, renamed at the edge)
 *   policy/v1                    poddisruptionbudgets
 *   rbac.authorization.k8s.io/v1 roles rolebindings clusterroles clusterrolebindings
 *   scheduling.k8s.io/v1         priorityclasses
 *   storage.k8s.io/v1            storageclasses csinodes volumeattachments
 *   apiextensions.k8s.io/v1      customresourcedefinitions, and every kind that they define
 *
 * get, list (limit, continue, labelSelector, fieldSelector), watch (resourceVersion, bookmarks,
 * sendInitialEvents, timeoutSeconds, 410 Expired as an ERROR event), create (generateName,
 * dryRun=All), update, patch (JSON, merge, and for built-in kinds strategic merge patch, without
 * $setElementOrder), /status, /scale, delete (preconditions, finalizers, propagationPolicy,
 * dryRun), deletecollection, pods/eviction, pods/binding, serviceaccounts/token,
 * namespaces/finalize. Errors are Status objects. resourceVersion is the store's revision, so it
 * can be compared over all kinds.
 *
 * Identity, rights, controllers and validation are options (below): the simulated world does
 * without, a server for people sets all of them.
 *
 * Where it differs from kube-apiserver, even so: no server-side apply; pages of a list after the
 * first show the present, with the revision of the first (a watch from there brings everything to
 * the same state), and resourceVersionMatch=Exact knows the present alone; rules in CEL
 * (x-kubernetes-validations) are kept and not evaluated, so that drover's own definitions rely on
 * the controller, which checks again; validation tells the first thing that is wrong, as the one of
 * details.causes; a member that stands twice is refused whatever fieldValidation says; no
 * scheduler, no controllers of workloads, no taint eviction; no CertificateSigningRequests, so a
 * kubelet works with its bootstrap token; admission is what `checks` names, no webhooks, no quotas;
 * Secrets and the key that signs tokens are in the store as they are.
 *
 * An answer to a write is sent when the store has made it durable, and so is every other answer,
 * item of a list and event of a watch: what a client was told is still there after a power cut.
 *
 * Free in this order: the httpd, the apiserver, the store.
 * Tests: tests/unit/kube/apiserver/test_auth.c, tests/unit/kube/apiserver/test_discovery.c
 */
struct apiserver;

/* A bearer token of the server's own. */
struct apiserver_token {
	const struct secret *token;
	const char *user;
	/* NULL-terminated; NULL: none */
	const char *const *groups;
};

struct apiserver_spec {
	/* gitVersion in /version; NULL: "v1.33.0" */
	const char *version;
	/* Who asks: a name, valid during the call, or NULL for 401.  No function: everybody may. */
	const char *(*user_of)(const struct httpd_req *q, void *arg);
	void *arg;
	/* Identity by client certificate (CN the user, O the group), by one of `tokens`, by a token
	 * of a ServiceAccount (serviceaccounts/NAME/token; a Secret of type
	 * kubernetes.io/service-account-token) or of a bootstrap Secret in kube-system
	 * (system:bootstrap:ID), after user_of. Who shows nothing is system:anonymous with rbac,
	 * 401 without. Impersonate-User, and one Impersonate-Group. */
	bool authenticate;
	/* outlive the server */
	const struct apiserver_token *tokens;
	size_t ntokens;
	/* Role-based access control. The default roles are created when they are absent. There is
	 * no signing of certificate requests: a node keeps its bootstrap token, and the group
	 * system:bootstrappers holds the role system:node (which reads no Secrets). */
	bool rbac;
	/* What kube-controller-manager does for the objects themselves: ownerReferences are
	 * collected (propagationPolicy Background, Foreground, Orphan), namespaces stay Terminating
	 * until they are empty (finalizer kubernetes), PodDisruptionBudgets have a status that
	 * follows their pods and counts for evictions; each namespace gets the ServiceAccount
	 * default, and with ca_pem the ConfigMap kube-root-ca.crt. Without: a namespace is emptied
	 * within its deletion, and evictions look at what others wrote into the status. */
	bool controllers;
	/* of the server, for those who get a token of it; NULL: none */
	const char *ca_pem;
	/* HOST:PORT where nodes join it, as the ConfigMap kube-system/kubeadm-config then says it;
	 * NULL: there is none. */
	const char *join_endpoint;
	/* A pod that is bound to a node and not finished stays after its deletion, with
	 * deletionTimestamp, until a kubelet deletes it with gracePeriodSeconds 0. */
	bool graceful_pods;
	/* Check built-in kinds as kube-apiserver does, as far as users meet it, set their defaults,
	 * and heed fieldValidation=Strict, Warn and Ignore. A member that stands twice is refused
	 * always. */
	bool checks;
	/* Prune, default and check custom objects by the structural schema of their definition. CEL
	 * rules are not looked at. */
	bool schemas;
	/* Kinds ("StatefulSet") without a controller: creating one is answered with a Warning
	 * header that says so. NULL-terminated, outlives the server; NULL: none. */
	const char *const *inert_kinds;
};

/* Copies the spec.  Creates the namespaces default, kube-system, kube-public and kube-node-lease
 * when they are absent. */
struct apiserver *apiserver_new(struct loop_group *g, struct store *s,
				const struct apiserver_spec *spec);
void apiserver_free(struct apiserver *a);
DEFINE_OWN(apiserver)

void apiserver_routes(struct apiserver *a, struct httpd *d);

#endif
