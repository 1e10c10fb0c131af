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
 * kube_client: one Kubernetes API server: get, list, create, patch, delete, evict; watches are in
 * kube/cache.h.
 *
 * All on the loop thread. Every call completes exactly once through done(), never inside the
 * starting function; kube_call_cancel() before that means done() is not called. The json_t given to
 * done() is borrowed: json_incref to keep it. A token bucket and a cap of requests in flight belong
 * to each client, so one slow cluster never delays another; while the bucket is empty, calls go out
 * in bunches. 429 and 503 with Retry-After are waited for inside the deadline, but for evictions,
 * where 429 is a budget's answer; nothing else is repeated here. A call that found no place in time
 * ends as ERR_UNAVAILABLE, unsent, and so does one that finds KUBE_LINE_MAX others in line.
 * Deletions and evictions wait within timeout_ms whatever line_ms says: what they were decided on
 * grows old. Watches and leases do not stand in line.
 *
 * Errors: the kind follows the HTTP status (409: ERR_CONFLICT, 404: ERR_NOT_FOUND, 422 and 400:
 * ERR_INVALID, 401 and 403: ERR_DENIED), code is the status, the text carries the Status reason and
 * message ("NotFound: pods \"x\" not found"). AlreadyExists and Conflict are both ERR_CONFLICT; the
 * text begins with which. There is no PUT: decoded objects are never written back, so unknown
 * fields survive.
 */
#define KUBE_LINE_MAX 8192

struct kube_client;
struct kube_call;
struct scan_want;
/* kube/want.h */
struct scan_want;

struct kube_client_spec {
	/* copied */
	const struct kube_config *config;
	/* "host" or the tenant's; for errors and User-Agent part */
	const char *name;
	/* 0: 20 */
	double qps;
	/* 0: 40 */
	double burst;
	/* 0: 16; watches not counted */
	unsigned max_in_flight;
	/* of one call; 0: 15 s */
	uint32_t timeout_ms;
	/* in line for rate and place, before timeout_ms begins; 0: within timeout_ms */
	uint32_t line_ms;
	/* http:// servers (tests, measurements) */
	bool plain_ok;
	/* http.h; NULL: anywhere */
	bool (*may_reach)(const char *address, int port, void *arg);
	void *may_reach_arg;
	/* Asked when a call that changes something leaves the line, for the first time or again
	 * after a Retry-After: who decided on it may not act any more, or knows better by now. -1
	 * with *e (ERR_UNAVAILABLE): it ends with that, unsent. Events and leases are not asked
	 * about. NULL: all may leave. */
	int (*may_change)(void *arg, struct err *e);
	void *may_change_arg;
	/* A request is over, for those who count: its method, and the status; 0: no reply came, or
	 * was cut off. NULL: nobody counts. */
	void (*counted)(const char *method, int status, void *arg);
	void *counted_arg;
};
struct kube_client *kube_client_new(struct loop_group *g, struct http *h,
				    const struct kube_client_spec *s, struct err *e);
/* cancels its calls; caches first; not from on_item or on_restart */
void kube_client_free(struct kube_client *c);
DEFINE_OWN(kube_client)
/* Another address, CA or login for the same cluster: new calls use it, those in flight end as they
 * began (watches within 10 min).  On error everything stays as it was. */
int kube_client_reload(struct kube_client *c, const struct kube_config *config, struct err *e)
	__attribute__((warn_unused_result));
/* Calls that are in line end as ERR_UNAVAILABLE, unsent: who asked for them may not act any
 * more. */
void kube_client_clear_line(struct kube_client *c);
/* wall ms of the last reply; 0: never */
int64_t kube_client_last_contact(const struct kube_client *c);

/* The CA that it is verified by, PEM; NULL: none was given.  Until the next reload. */
const char *kube_client_ca_pem(const struct kube_client *c);

/* What the server's own clock said last (Date of RFC 9110), and loop_now() when that came. False:
 * it never said. */
bool kube_client_date(const struct kube_client *c, int64_t *wall_ms, int64_t *at);

struct kube_resource {
	/* "" for core */
	const char *group;
	/* "v1" */
	const char *version;
	/* "pods" */
	const char *plural;
	/* "Pod" */
	const char *kind;
	bool namespaced;
};
extern const struct kube_resource KUBE_PODS, KUBE_NODES, KUBE_SECRETS, KUBE_CONFIGMAPS,
	KUBE_NAMESPACES, KUBE_LEASES, KUBE_EVENTS /* core/v1 */, KUBE_DAEMONSETS, KUBE_DEPLOYMENTS,
	KUBE_STATEFULSETS, KUBE_PVCS, KUBE_PVS, KUBE_STORAGECLASSES, KUBE_CSINODES, KUBE_CRDS,
	KUBE_VOLUMEATTACHMENTS, KUBE_PDBS;

typedef void kube_done(json_t *object, const struct err *e, void *arg);

/* ns: NULL for cluster-scoped. */
struct kube_call *kube_get(struct kube_client *c, const struct kube_resource *r, const char *ns,
			   const char *name, kube_done *done, void *arg);
/* Reads only the metadata of an object, as PartialObjectMetadata, so the data of a Secret is never
 * sent. https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches */
struct kube_call *kube_get_metadata(struct kube_client *c, const struct kube_resource *r,
				    const char *ns, const char *name, kube_done *done, void *arg);
/* Reads the members of an object that the table want names, metadata.managedFields among them if it
 * is named. The table must outlive the call. */
struct kube_call *kube_get_wanted(struct kube_client *c, const struct kube_resource *r,
				  const char *ns, const char *name, const struct scan_want *want,
				  kube_done *done, void *arg);
struct kube_call *kube_create(struct kube_client *c, const struct kube_resource *r, const char *ns,
			      const json_t *object, kube_done *done, void *arg);

enum kube_patch_type { KUBE_PATCH_MERGE, KUBE_PATCH_JSON, KUBE_PATCH_STRATEGIC };
/* subresource: NULL or "status". For compare-and-swap put metadata.resourceVersion into a merge
 * patch. */
struct kube_call *kube_patch(struct kube_client *c, const struct kube_resource *r, const char *ns,
			     const char *name, const char *subresource, enum kube_patch_type type,
			     const json_t *patch, kube_done *done, void *arg);

struct kube_delete_opts {
	/* precondition; NULL: none */
	const char *uid;
	/* precondition; NULL: none */
	const char *resource_version;
	/* NULL: Background */
	const char *propagation;
	/* -1: the object's own */
	int64_t grace_s;
};
struct kube_call *kube_delete(struct kube_client *c, const struct kube_resource *r, const char *ns,
			      const char *name, const struct kube_delete_opts *o, kube_done *done,
			      void *arg);
struct kube_call *kube_evict(struct kube_client *c, const char *ns, const char *pod,
			     const char *uid, int64_t grace_s, kube_done *done, void *arg);
/* GET of a path that is not a resource ("/version"). */
struct kube_call *kube_get_path(struct kube_client *c, const char *path, kube_done *done,
				void *arg);

/* The same where the answer is text (a pod's log): a JSON string, at most 4 MiB; '?' stands for
 * what is no UTF-8, and a NUL ends it. */
struct kube_call *kube_get_text(struct kube_client *c, const char *path, kube_done *done,
				void *arg);

/* Paged (500), items one at a time as bytes arrive.  A 410 in the middle starts again: on_restart
 * (may be NULL) says forget what came.  rv: the list's resourceVersion, valid during the call. */
struct kube_list_spec {
	const struct kube_resource *resource;
	/* NULL: all */
	const char *ns, *label_selector, *field_selector;
	/* of each object; lives as long as the call; NULL: kube_want_all */
	const struct scan_want *want;
	void (*on_item)(json_t *object, void *arg);
	void (*on_restart)(void *arg);
	void (*done)(const char *rv, const struct err *e, void *arg);
	void *arg;
};
struct kube_call *kube_list(struct kube_client *c, const struct kube_list_spec *s);

/* NULL is fine */
void kube_call_cancel(struct kube_call *call);

/* Asked besides, of this call alone, as spec.may_change is: does what it was decided on still hold?
 * Set in the turn that started it. */
void kube_call_check(struct kube_call *call, int (*holds)(void *arg, struct err *e), void *arg);

/* Of a patch: asked with the version that its answer has. True: that is known from elsewhere by
 * now, and done() gets of the object only metadata's name, namespace, uid and resourceVersion;
 * nothing else is built. Set in the turn that started it. */
void kube_call_brief(struct kube_call *call, bool (*is_known)(const char *rv, void *arg),
		     void *arg);

#endif
