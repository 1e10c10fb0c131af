#ifndef KUBE_CLIENT_H
#define KUBE_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "base/http/http.h"
#include "base/data/json.h"
#include "base/loop/loop.h"
#include "base/own.h"
#include "kube/config.h"

/*
 * kube_client: client of one Kubernetes API server: get, list, create, patch, delete, evict;
 * watches are in kube/cache.h.
 *
 * All functions run on the loop thread. Every call completes exactly once through done(), never
 * inside the starting function; after kube_call_cancel() done() is not called. The json_t passed to
 * done() is borrowed: json_incref() to retain it.
 *
 * Each client has its own token bucket and its own limit of requests in flight, so a slow cluster
 * never delays calls to another one. While the bucket is empty, calls are sent in bunches. 429 and
 * 503 with Retry-After are retried within the deadline, except for evictions, where 429 is the
 * answer of a PodDisruptionBudget; the client retries nothing else. A call that gets no token and
 * concurrency slot in time ends as ERR_UNAVAILABLE without being sent, and so does a call that
 * finds KUBE_QUEUE_MAX others queued. For deletions and evictions the time in the queue counts
 * against timeout_ms even if queue_ms is set, because the decision behind them becomes outdated.
 * Watches and leases bypass the queue.
 *
 * Errors: the kind follows the HTTP status (409: ERR_CONFLICT, 404: ERR_NOT_FOUND, 422 and 400:
 * ERR_INVALID, 401 and 403: ERR_DENIED), code is the status, the text contains the Status reason
 * and message ("NotFound: pods \"x\" not found"). AlreadyExists and Conflict are both ERR_CONFLICT;
 * the text begins with the reason. There is no PUT: a parsed object lacks the fields that drover
 * does not read, so writing it back would delete them.
 */
#define KUBE_QUEUE_MAX 8192

struct kube_client;
struct kube_call;
struct scan_want;
/* Table of wanted members; see kube/want.h. */
struct scan_want;

struct kube_client_spec {
	/* Copied by kube_client_new(). */
	const struct kube_config *config;
	/* "host" or the tenant's name; used in errors and in User-Agent. */
	const char *name;
	/* Rate limit in requests per second; 0 means 20. */
	double qps;
	/* Maximum number of requests sent at once before the rate limit applies; 0 means 40. */
	double burst;
	/* Limit of concurrent requests, watches not counted; 0 means 16. */
	unsigned max_in_flight;
	/* Limit of one call in ms; 0 means 15 s. */
	uint32_t timeout_ms;
	/* Longest time in ms in the queue (for a token and a concurrency slot), before timeout_ms
	 * begins; 0: the time in the queue counts against timeout_ms. */
	uint32_t queue_ms;
	/* True: http:// servers are allowed (tests, measurements). */
	bool plain_ok;
	/* Called with each resolved address before a connection to it is opened (see http.h); NULL:
	 * any address is allowed. */
	bool (*may_reach)(const char *address, int port, void *arg);
	void *may_reach_arg;
	/* Called when a call that changes something leaves the queue, for the first time or again
	 * after a Retry-After. Since the call was queued, the caller may have lost the right to act
	 * or have learned something new. 0: the call is sent. -1 with *e (ERR_UNAVAILABLE): the
	 * call ends with *e, unsent. Not called for events and leases. NULL: every call may be
	 * sent. */
	int (*may_change)(void *arg, struct err *e);
	void *may_change_arg;
	/* Called when a request is over, for metrics, with its method and HTTP status. Status 0: no
	 * reply arrived, or the reply was incomplete. ms: time since the request left the client's
	 * queue, -1 for a watch, whose duration is chosen by the server. NULL: not counted. */
	void (*counted)(const char *method, int status, int64_t ms, void *arg);
	void *counted_arg;
};
struct kube_client *kube_client_new(struct loop_group *g, struct http *h,
				    const struct kube_client_spec *s, struct err *e);
/* Frees the client and cancels its calls. The caller must free the client's caches first. Must not
 * be called from on_item() or on_restart(). */
void kube_client_free(struct kube_client *c);
DEFINE_OWN(kube_client)
/* Replaces address, CA and credentials for new calls; the cluster must be the same one. Calls in
 * flight continue with the old ones until they end (watches end within 10 min). On error nothing is
 * changed. */
int kube_client_reload(struct kube_client *c, const struct kube_config *config, struct err *e)
	__attribute__((warn_unused_result));
/* Changes the rate limit to qps requests per second. */
void kube_client_pace(struct kube_client *c, double qps);
/* Returns the number of calls that wait for the rate limit or for a call in flight to end. */
size_t kube_client_queued(const struct kube_client *c);
/* Ends all queued calls with ERR_UNAVAILABLE, unsent. For a replica that is no longer the
 * leader. */
void kube_client_drop_queued(struct kube_client *c);
/* Returns the wall ms at which data from the server last arrived; 0: never. */
int64_t kube_client_last_contact(const struct kube_client *c);

/* Returns the bearer token of the config, valid until the next call of this client or its reload;
 * NULL: the config has none (a client certificate). */
const struct secret *kube_client_token(struct kube_client *c);

/* Returns the CA that verifies the server, as PEM; NULL: the config has none. Valid until the next
 * reload. */
const char *kube_client_ca_pem(const struct kube_client *c);

/* Returns the server's latest Date header (RFC 9110) in *wall_ms, and loop_now() at its arrival in
 * *at. False: no Date header was received. */
bool kube_client_date(const struct kube_client *c, int64_t *wall_ms, int64_t *at);

struct kube_resource {
	/* API group; "" for the core group. */
	const char *group;
	/* Version, for example "v1". */
	const char *version;
	/* Plural name in paths, for example "pods". */
	const char *plural;
	/* Kind, for example "Pod". */
	const char *kind;
	bool namespaced;
};
extern const struct kube_resource KUBE_PODS, KUBE_NODES, KUBE_SECRETS, KUBE_CONFIGMAPS,
	KUBE_NAMESPACES, KUBE_LEASES, KUBE_EVENTS /* core/v1 */, KUBE_DAEMONSETS, KUBE_DEPLOYMENTS,
	KUBE_STATEFULSETS, KUBE_PVCS, KUBE_PVS, KUBE_STORAGECLASSES, KUBE_CSINODES, KUBE_CRDS,
	KUBE_VOLUMEATTACHMENTS, KUBE_PDBS, KUBE_SERVICES, KUBE_ENDPOINTSLICES;

typedef void kube_done(json_t *object, const struct err *e, void *arg);

/* Reads one object. ns NULL: cluster-scoped. */
struct kube_call *kube_get(struct kube_client *c, const struct kube_resource *r, const char *ns,
			   const char *name, kube_done *done, void *arg);
/* Reads only the metadata of an object, as PartialObjectMetadata, so the data of a Secret is never
 * sent. https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches */
struct kube_call *kube_get_metadata(struct kube_client *c, const struct kube_resource *r,
				    const char *ns, const char *name, kube_done *done, void *arg);
struct kube_call *kube_create(struct kube_client *c, const struct kube_resource *r, const char *ns,
			      const json_t *object, kube_done *done, void *arg);

enum kube_patch_type { KUBE_PATCH_MERGE, KUBE_PATCH_JSON, KUBE_PATCH_STRATEGIC };
/* Patches an object. subresource: NULL or "status". For compare-and-swap put
 * metadata.resourceVersion into a merge patch. */
struct kube_call *kube_patch(struct kube_client *c, const struct kube_resource *r, const char *ns,
			     const char *name, const char *subresource, enum kube_patch_type type,
			     const json_t *patch, kube_done *done, void *arg);

struct kube_delete_opts {
	/* UID that the object must have; NULL: any. */
	const char *uid;
	/* resourceVersion that the object must have; NULL: any. */
	const char *resource_version;
	/* propagationPolicy; NULL means Background. */
	const char *propagation;
	/* Grace period in seconds; -1: the object's own. */
	int64_t grace_s;
};
struct kube_call *kube_delete(struct kube_client *c, const struct kube_resource *r, const char *ns,
			      const char *name, const struct kube_delete_opts *o, kube_done *done,
			      void *arg);
struct kube_call *kube_evict(struct kube_client *c, const char *ns, const char *pod,
			     const char *uid, int64_t grace_s, kube_done *done, void *arg);
/* Reads a path that belongs to no resource, for example "/version". */
struct kube_call *kube_get_path(struct kube_client *c, const char *path, kube_done *done,
				void *arg);

/* Parameters of kube_get_path_with(). */
struct kube_path_options {
	/* Header whose value is secret, for example a token for a server behind the API server's
	 * proxy; the name must be a static text, the value is copied. NULL: no such header. */
	const char *secret_header;
	const struct secret *secret_value;
	/* Limits in ms for connecting, and without a received byte; 0: those of the client. */
	uint32_t connect_ms, idle_ms;
	/* Limit in ms of the whole call, with all repetitions; 0: that of the client. */
	uint32_t total_ms;
	/* True: a 429 or 503 with Retry-After ends the call at once instead of a retry. */
	bool no_wait;
};
/* Reads a path as kube_get_path() does, with these parameters. */
struct kube_call *kube_get_path_with(struct kube_client *c, const char *path,
				     const struct kube_path_options *o, kube_done *done, void *arg);

/* Requests a token of the ServiceAccount ns/account. request: a TokenRequest
 * (authentication.k8s.io/v1); done() gets it with its status, which contains the token. */
struct kube_call *kube_request_token(struct kube_client *c, const char *ns, const char *account,
				     const json_t *request, kube_done *done, void *arg);

/* Asks the API server which user the bearer token is (a SelfSubjectReview). The request has a
 * connection of its own without the client's credentials, because a client certificate would take
 * precedence over the token. token: copied, never logged. done() gets the review; ERR_DENIED with
 * code 401: the server refuses the token. A 429 or 503 is not retried. */
struct kube_call *kube_review_token(struct kube_client *c, const struct secret *token,
				    kube_done *done, void *arg);

/* Reads a path whose reply is text, for example a pod's log. The object passed to done() is a JSON
 * string of at most 4 MiB; invalid UTF-8 is replaced by '?', and a NUL ends the text. */
struct kube_call *kube_get_text(struct kube_client *c, const char *path, kube_done *done,
				void *arg);

/* Parameters of a list, which is read in pages of 500. Each object is passed to on_item() as soon
 * as its bytes have arrived. A 410 in the middle restarts the list: on_restart() (may be NULL) is
 * called, and the caller must discard all items so far. rv in done(): resourceVersion of the list,
 * valid during the call. */
struct kube_list_spec {
	const struct kube_resource *resource;
	/* Restrictions of the list; NULL: none. */
	const char *ns, *label_selector, *field_selector;
	/* Table of the wanted members of each object; must outlive the call. NULL:
	 * kube_want_all. */
	const struct scan_want *want;
	void (*on_item)(json_t *object, void *arg);
	void (*on_restart)(void *arg);
	void (*done)(const char *rv, const struct err *e, void *arg);
	void *arg;
};
struct kube_call *kube_list(struct kube_client *c, const struct kube_list_spec *s);

/* Drops the call without done(); call may be NULL. */
void kube_call_cancel(struct kube_call *call);

/* Adds a check for this call alone, called in the same situations as spec.may_change(). holds()
 * returns 0 if the reasons for the call still hold; -1 with *e ends the call unsent. Must be called
 * in the turn of the loop that started the call. */
void kube_call_check(struct kube_call *call, int (*holds)(void *arg, struct err *e), void *arg);

/* Observer of the requests of one call. */
struct kube_call_watch {
	/* Called when a request of the call is over, before done(), and again for each repetition
	 * after a Retry-After. Must not start, cancel or free anything. */
	void (*ended)(const struct http_ended *x, void *arg);
	/* Frees arg with the call */
	void (*free)(void *arg);
	void *arg;
};
/* Sets the observer of the call, which takes ownership of w->arg. Must be called in the turn of the
 * loop that started the call, at most once. */
void kube_call_watch(struct kube_call *call, const struct kube_call_watch *w);

/* Sets the table of the members that done() receives, instead of kube_want_all
 * (metadata.managedFields only if the table names it). The table must outlive the call. Must be
 * called in the turn of the loop that started the call. */
void kube_call_want(struct kube_call *call, const struct scan_want *want);
/* Avoids parsing the whole reply of a patch. is_known() is called with the resourceVersion in the
 * reply. If it returns true, done() receives only metadata's name, namespace, uid and
 * resourceVersion; otherwise the complete object. Must be called in the turn of the loop that
 * started the call. */
void kube_call_brief(struct kube_call *call, bool (*is_known)(const char *rv, void *arg),
		     void *arg);

#endif
