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
 * simulated world (tests/world). It implements the protocol from its specification alone and shares
 * no code with the client in kube/.
 *
 * It serves /api, /apis, /healthz /livez /readyz /version /openapi/v3. Stock kubectl, the Python
 * client and operators work with it (tests/real/apiserver_clients.py). Discovery is available in
 * the aggregated and in the older form. Request bodies may be JSON, YAML, and for built-in kinds
 * protobuf, which Go clients send (volumes of particular vendors excepted). Replies are JSON, as
 * Table and PartialObjectMetadata(List) if requested. OpenAPI describes a custom kind as its
 * CustomResourceDefinition does, and a built-in kind by its fields and types, with one line of text
 * for each of the common fields. /openapi/v2 is empty and exists because old kubectl versions
 * require it.
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
 *   events.k8s.io/v1             events (the core events, with renamed fields)
 *   policy/v1                    poddisruptionbudgets
 *   rbac.authorization.k8s.io/v1 roles rolebindings clusterroles clusterrolebindings
 *   scheduling.k8s.io/v1         priorityclasses
 *   storage.k8s.io/v1            storageclasses csinodes volumeattachments
 *   apiextensions.k8s.io/v1      customresourcedefinitions, and every kind that they define
 *
 * Verbs: get, list (limit, continue, labelSelector, fieldSelector), watch (resourceVersion,
 * bookmarks, sendInitialEvents, timeoutSeconds, 410 Expired as an ERROR event), create
 * (generateName, dryRun=All), update, patch (JSON, merge, and for built-in kinds strategic merge
 * patch, without $setElementOrder), /status, /scale, delete (preconditions, finalizers,
 * propagationPolicy, dryRun), deletecollection, pods/eviction, pods/binding, serviceaccounts/token,
 * namespaces/finalize. Errors are Status objects. resourceVersion is the store's revision (one
 * counter for all kinds), so clients can compare it across kinds.
 *
 * Identity, rights, controllers and validation are options in struct apiserver_spec. The simulated
 * world uses none of them, a server for users sets all of them.
 *
 * Differences from kube-apiserver, even with all options: no server-side apply. Later pages of a
 * list show the objects as they are then, but name the first page's revision (a watch from there
 * leads to the same state). resourceVersionMatch=Exact supports only the present revision. CEL
 * rules (x-kubernetes-validations) are stored and not evaluated; for drover's own
 * CustomResourceDefinitions drover's controller checks again. Validation reports the first error
 * only, as the one entry of details.causes. A duplicate member is refused whatever fieldValidation
 * is. No scheduler, no workload controllers, no taint eviction. No CertificateSigningRequests, so a
 * kubelet works with its bootstrap token. Admission is limited to the option `checks`: no webhooks,
 * no quotas. Secrets and the key that signs tokens are stored unencrypted.
 *
 * A reply, list item or watch event is sent only when everything in it is durable (written to
 * disk): whatever a client has received survives a power cut.
 *
 * Free in this order: the httpd, the apiserver, the store.
 * Tests: tests/unit/kube/apiserver/test_auth.c, tests/unit/kube/apiserver/test_discovery.c
 */
struct apiserver;

/* A bearer token that is valid as long as the server runs. */
struct apiserver_token {
	const struct secret *token;
	const char *user;
	/* Groups of the user; NULL-terminated; NULL: none. */
	const char *const *groups;
};

struct apiserver_spec {
	/* gitVersion in /version; NULL: "v1.33.0". */
	const char *version;
	/* Names the user who sent the request: returns the user's name, valid during the call, or
	 * NULL for a 401. user_of NULL: everyone is admitted (unless authenticate is set). */
	const char *(*user_of)(const struct httpd_req *q, void *arg);
	void *arg;
	/* Authenticates requests that user_of() does not: by client certificate (CN is the user, O
	 * the group), by one of the member `tokens`, by a ServiceAccount token
	 * (serviceaccounts/NAME/token, or a Secret of type kubernetes.io/service-account-token) or
	 * by a bootstrap Secret in kube-system (user system:bootstrap:ID). A request without
	 * credentials is from system:anonymous if rbac is set, otherwise a 401. Supports
	 * Impersonate-User, and one Impersonate-Group. */
	bool authenticate;
	/* Tokens that are valid as long as the server runs; the array must outlive the server. */
	const struct apiserver_token *tokens;
	size_t ntokens;
	/* Enables role-based access control. Creates the default roles if they are missing.
	 * Certificate requests are not signed: a node keeps its bootstrap token, and the group
	 * system:bootstrappers has the role system:node (which reads no Secrets). */
	bool rbac;
	/* Enables the controllers of kube-controller-manager that maintain objects, but not those
	 * that run workloads. The garbage collector follows ownerReferences (propagationPolicy
	 * Background, Foreground, Orphan). Namespaces stay Terminating until they are empty
	 * (finalizer kubernetes). The status of a PodDisruptionBudget follows its pods and decides
	 * about evictions. Each namespace gets the ServiceAccount default, and, if ca_pem is set,
	 * the ConfigMap kube-root-ca.crt. Without this option the deletion of a namespace deletes
	 * its contents at once, and evictions use the status that clients wrote. */
	bool controllers;
	/* CA of the server as PEM, stored next to the token in ServiceAccount token Secrets; NULL:
	 * none. */
	const char *ca_pem;
	/* HOST:PORT at which nodes join, as written to the ConfigMap kube-system/kubeadm-config;
	 * NULL: no such ConfigMap. */
	const char *join_endpoint;
	/* True: the deletion of a pod that is bound to a node and has not finished only sets
	 * deletionTimestamp; the pod exists until a kubelet deletes it with gracePeriodSeconds
	 * 0. */
	bool graceful_pods;
	/* True: built-in kinds get their defaults and are validated by the common rules of
	 * kube-apiserver, and the query parameter fieldValidation (Strict, Warn, Ignore) has its
	 * effect. A duplicate member is refused whether checks is set or not. */
	bool checks;
	/* True: custom objects are pruned, defaulted and validated by the structural schema of
	 * their CustomResourceDefinition. CEL rules are not evaluated. */
	bool schemas;
	/* Kinds ("StatefulSet") for which no controller runs here: the reply to a create has a
	 * Warning header. NULL-terminated, must outlive the server; NULL: none. */
	const char *const *inert_kinds;
};

/* Creates the server's state; copies the spec. Creates the namespaces default, kube-system,
 * kube-public and kube-node-lease if they are missing. */
struct apiserver *apiserver_new(struct loop_group *g, struct store *s,
				const struct apiserver_spec *spec);
void apiserver_free(struct apiserver *a);
DEFINE_OWN(apiserver)

void apiserver_routes(struct apiserver *a, struct httpd *d);

#endif
