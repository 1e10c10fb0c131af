#ifndef KUBE_APISERVER_SERVER_H
#define KUBE_APISERVER_SERVER_H

#include "base/arena.h"
#include "base/crypto.h"
#include "base/data/json.h"
#include "base/list.h"
#include "base/data/selector.h"
#include "kube/apiserver/apiserver.h"

/*
 * server: shared declarations of this directory; README.md describes each file. Calls between files
 * form no cycle: a file that must react to writes registers a struct observer (see below).
 */

#define MAX_BODY ((size_t)3 << 20) /* Largest request body in bytes, as in kube-apiserver. */

/* --- faults: reasons for which a request is refused ------------------------------------------- */

/* Order as in the table in fault.c. */
enum fault_kind {
	FAULT_BAD_REQUEST,
	FAULT_UNAUTHORIZED,
	FAULT_FORBIDDEN,
	FAULT_NOT_FOUND,
	FAULT_METHOD,
	FAULT_EXISTS,
	FAULT_CONFLICT,
	FAULT_EXPIRED,
	FAULT_TOO_LARGE,
	FAULT_MEDIA_TYPE,
	FAULT_INVALID,
	FAULT_TOO_MANY,
	FAULT_INTERNAL,
	FAULT_TIMEOUT,
	FAULTS,
};
struct fault {
	enum fault_kind kind;
	char text[512];
	/* Message for an eviction that a budget refuses; "": no eviction. */
	char cause[300];
};
int fault_set(struct fault *f, enum fault_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4), warn_unused_result));

/* --- resources -------------------------------------------------------------------------------- */

struct resource {
	/* API group; "" for the core group. */
	const char *group;
	const char *version, *plural, *singular, *kind;
	/* Separated by spaces; "": none. */
	const char *short_names;
	/* Separated by spaces; NULL: none. */
	const char *categories;
	/* Prefix in the store, with its final slash: "pods/". */
	const char *key;
	/* Fields for fieldSelector besides metadata; NULL-terminated; NULL: none. */
	const char *const *fields;
	bool namespaced, has_status, has_generation, custom;
	/* The kind is answered and never stored, as SubjectAccessReview; only POST. */
	bool review;
	/* The object's name may be any path segment, as in RBAC. */
	bool loose_name;
	/* Schema of a custom kind; NULL: none. */
	const json_t *schema;
	/* Compiled patterns of the schema; NULL: not cached. */
	struct patterns *patterns;
	/* Table columns of a custom kind; NULL: none. */
	const json_t *columns;
	/* Paths of wanted number, actual number and selector for the scale subresource
	 * (".spec.replicas"); NULL: no scale subresource. */
	const char *scale_spec, *scale_status, *scale_selector;
	/* An update of this kind without resourceVersion is refused. */
	bool must_say_rev;
	/* The events.k8s.io form of core events. */
	bool renamed_event;
};

/* A path below an object's name, for example "status" or "pods/eviction". */
struct subresource {
	/* group NULL: the group of the resource itself. */
	const char *name, *group, *version, *kind;
	/* True: only POST is allowed; otherwise GET, PUT and PATCH. */
	bool create;
};
#define MAX_SUBS 4
/* Writes the subresources of r to out (room for MAX_SUBS); returns their number. */
size_t resource_subs(const struct resource *r, struct subresource *out);

struct custom {
	struct resource r;
	struct arena *arena;
	json_t *schema, *columns;
	struct list link;
};

struct apiserver {
	struct loop_group *group;
	struct loop *loop;
	struct store *store;
	struct apiserver_spec spec;
	char *version;
	/* List of struct custom. */
	struct list customs;
	struct list watches;
	/* List of struct observer. */
	struct list observers;
	/* NULL: everyone may do everything. */
	struct rbac *rbac;
	/* The garbage collector; NULL: objects are not collected. */
	struct collector *collector;
	/* The disruption controller; NULL: the status of PodDisruptionBudgets is not maintained. */
	struct budgets *budgets;
	/* Key that signs ServiceAccount tokens; NULL: not needed so far. */
	struct crypto_key *token_key;
	char *ca_pem;
};

/* --- users and their rights ------------------------------------------------------------------- */

/* The user of a request. The strings belong to the request's arena. */
struct user {
	const char *name, *uid;
	const char **groups;
	size_t ngroups;
};
/* Adds a copy of group to the user's groups; ignored beyond 32 groups. */
void user_add_group(struct user *u, struct arena *a, const char *group);
bool user_in_group(const struct user *u, const char *group);

struct request;
/* Authenticates the request and fills rq->user; -1 with rq->fault. */
int auth_request(struct request *rq) __attribute__((warn_unused_result));
/* Fills *u with the owner of the token; false: unknown token. */
bool auth_token(struct apiserver *a, const struct secret *token, struct user *u, struct arena *m);
bool token_user(struct apiserver *a, const struct secret *token, struct user *u, struct arena *m);
void do_token_request(struct request *rq);
int token_fill_secret(const struct request *rq, json_t *secret, struct fault *f)
	__attribute__((warn_unused_result));

/* An action on a path or on a resource, for authorization. */
struct access {
	const char *verb;
	/* Path of a non-resource request ("/api"); NULL: a resource. */
	const char *path;
	/* resource: "pods", or with a subresource "pods/eviction". */
	const char *group, *resource;
	/* NULL: none. */
	const char *ns, *name;
};
struct rbac;
void rbac_start(struct apiserver *a);
void rbac_free(struct rbac *b);
void rbac_create_defaults(struct apiserver *a);
/* True if u may do x; for use only if spec.rbac is set. *by: name of the binding that allows it,
 * valid until the next write; by may be NULL. */
bool rbac_allows(struct apiserver *a, const struct user *u, const struct access *x,
		 const char **by);
/* Calls fn for every rule that u has in the cluster and, unless ns is NULL, in namespace ns. fn
 * returns true to stop. */
void rbac_rules(struct apiserver *a, const struct user *u, const char *ns,
		bool (*fn)(const json_t *rule, void *arg), void *arg);
/* Checks whether rq->user may do what the request asks; -1 with rq->fault. */
int rbac_check(struct request *rq) __attribute__((warn_unused_result));
/* Checks whether the user may write this role or binding, because users may grant only rights that
 * they have themselves. -1 with *f. */
int rbac_check_grant(struct request *rq, const json_t *obj, struct fault *f)
	__attribute__((warn_unused_result));
void do_review(struct request *rq);

/* One request while it is answered; its arena is freed with it. */
struct request {
	struct apiserver *a;
	struct httpd_req *q;
	struct arena *arena;
	const struct resource *r;
	/* NULL: not in the path. */
	const char *ns, *name, *sub;
	bool dry_run;
	struct user user;
	struct fault fault;
};

const struct resource *resource_find(const struct apiserver *a, const char *group,
				     const char *version, const char *plural);
/* Iterates over all resources: sets *r to the one after *r (NULL: the first). False: no more. */
bool resource_next(const struct apiserver *a, const struct resource **r);
/* Registers the custom kinds whose definitions are in the store. */
void resources_load(struct apiserver *a);
void resources_put(struct apiserver *a, const json_t *crd);
void resources_del(struct apiserver *a, const char *crd_name);
void resources_free(struct apiserver *a);
/* True for the kind CustomResourceDefinition. resource_crd_check() validates a definition on create
 * and update, and adds the members that the server sets. */
bool resource_is_crd(const struct resource *r);
int resource_crd_check(json_t *crd, int64_t wall_ms, struct fault *f)
	__attribute__((warn_unused_result));
const char *resource_api_version(const struct resource *r, struct arena *a);

/* Returns the key of an object: "pods/ns/name" or "nodes/name". name NULL: the prefix of all
 * keys. */
const char *resource_key(const struct resource *r, struct arena *a, const char *ns,
			 const char *name);

/* --- objects ---------------------------------------------------------------------------------- */

/* Returns the metadata of obj; NULL: obj has none. */
json_t *object_meta(const json_t *obj);
/* True if a LabelSelector (meta/v1) matches these metadata.labels (NULL: none). NULL selects
 * nothing, an empty selector everything. */
bool selector_object_matches(const json_t *selector, const json_t *labels);
/* Checks that name, namespace and kind agree with the path; fills in missing ones. */
int object_address(const struct request *rq, json_t *obj, struct fault *f)
	__attribute__((warn_unused_result));
/* Turns obj into what is stored, in two steps. object_create() sets the metadata of a new object,
 * object_update() those of an object that replaces old. Then object_complete() applies the rules of
 * its kind (old NULL: a new object). */
int object_create(struct request *rq, json_t *obj, struct fault *f)
	__attribute__((warn_unused_result));
int object_update(struct request *rq, const json_t *old, json_t *obj, struct fault *f)
	__attribute__((warn_unused_result));
int object_complete(struct request *rq, const json_t *old, json_t *obj, struct fault *f)
	__attribute__((warn_unused_result));
int kind_adjust(const struct request *rq, json_t *obj, bool creating, struct fault *f)
	__attribute__((warn_unused_result));
/* object_is_going(): true if obj has a deletionTimestamp. object_may_go(): true if the object can
 * be removed: it has no finalizer, and is no running pod whose grace period a kubelet has to end
 * (spec.graceful_pods). */
bool object_is_going(const json_t *obj);
bool object_may_go(const struct apiserver *a, const struct resource *r, const json_t *obj);
/* Sets the deletionTimestamp. grace_s: grace period in seconds, for pods. */
void object_mark_deleted(const struct apiserver *a, const struct resource *r, json_t *obj,
			 int64_t grace_s);
/* object_drop_zeros() removes empty members that kube-apiserver omits; object_add_zeros() adds
 * members that it always sends. Both treat whole objects of built-in kinds, and the metadata of
 * custom objects. */
void object_drop_zeros(const struct resource *r, json_t *obj);
void object_add_zeros(const struct resource *r, json_t *obj);
/* Convert an event in place: object_event_to_core() from events.k8s.io to the core form, which is
 * stored; object_event_from_core() back. */
void object_event_to_core(json_t *obj);
void object_event_from_core(json_t *obj);

/* The controllers; created only if spec.controllers is set. */
struct collector;
void collector_start(struct apiserver *a);
void collector_free(struct collector *c);
struct budgets;
void budgets_start(struct apiserver *a);
void budgets_free(struct budgets *b);
/* Updates the status of the budgets in namespace ns at once. */
void budgets_update(struct apiserver *a, const char *ns);
bool pod_is_ready(const json_t *pod);

int jsonpatch_apply(const json_t *patch, json_t **doc, struct fault *f)
	__attribute__((warn_unused_result));
/* Used only if spec.checks is set, for built-in kinds and for the metadata of all kinds.
 * object_fill() sets defaults, checks_object() validates, checks_change() refuses changes of
 * immutable fields. */
void object_fill(const struct resource *r, json_t *obj, bool creating);
int checks_object(const struct request *rq, const json_t *obj, struct fault *f)
	__attribute__((warn_unused_result));
int checks_change(const struct request *rq, const json_t *old, const json_t *obj, struct fault *f)
	__attribute__((warn_unused_result));
/* Handles unknown fields as the query parameter fieldValidation demands; removes them from objects
 * of built-in kinds. */
int fields_check(struct request *rq, json_t *obj) __attribute__((warn_unused_result));
/* Returns the schema of member name; NULL: the schema does not define it. */
const json_t *schema_of_member(const json_t *schema, const char *name);
bool schema_keeps_unknown(const json_t *schema);
/* True for apiVersion, kind and metadata. */
bool schema_is_server_member(const char *name);
/* True if s has the format, for example "date-time"; also for an unknown format. */
bool format_holds(const char *format, const char *s);
/* Cache of compiled patterns. It is limited in number and contains no large pattern. */
struct patterns;
struct patterns *patterns_new(void);
void patterns_free(struct patterns *known);
/* True if s matches the pattern, or if the pattern cannot be translated or would cost too much.
 * *work grows by the cost of the match, with the compilation even if it was cached. known NULL: no
 * cache. */
bool pattern_holds(struct patterns *known, const char *pattern, const char *s, struct arena *a,
		   size_t *work);
/* structural_check() checks whether the schemas of a definition may be served; schema_apply()
 * prunes, defaults and validates obj. */
int structural_check(const json_t *crd, struct arena *a, struct fault *f)
	__attribute__((warn_unused_result));
int schema_apply(const json_t *schema, struct patterns *known, json_t *obj, struct fault *f)
	__attribute__((warn_unused_result));
/* Applies a strategic merge patch; doc and patch must be objects. Returns a new object; NULL with
 * the fault set. */
json_t *strategic_apply(const json_t *doc, const json_t *patch, struct fault *f);

/* --- filters ---------------------------------------------------------------------------------- */

struct field_term {
	/* Path of a field, for example "spec.nodeName". */
	const char *path;
	const char *value;
	bool equal;
};
struct filter {
	struct arena *arena;
	struct selector labels;
	struct field_term *fields;
	size_t nfields;
	/* True: the client requested PartialObjectMetadata. */
	bool partial;
	/* Set if the client requested a Table; NULL: it did not. */
	struct table *table;
};
int filter_init(struct filter *f, const struct request *rq, struct fault *fault)
	__attribute__((warn_unused_result));
void filter_done(struct filter *f);
/* Returns the prefix of all keys that can match: a full key if the selector names one object. */
const char *filter_prefix(const struct filter *f, const struct request *rq, struct arena *a);
bool filter_is_empty(const struct filter *f);
bool filter_matches(const struct filter *f, const json_t *obj);
/* True if each object must be parsed, to be selected or to be shown. */
bool filter_parses(const struct filter *f, const struct resource *r);
/* Returns the object in the requested form, malloc'd; modifies j. */
char *filter_text(const struct filter *f, const struct resource *r, json_t *j);

/* --- requests --------------------------------------------------------------------------------- */

void reply_fault(struct request *rq);
void reply_object(struct request *rq, int status, json_t *obj);
/* Sends a 404 for the object that the request names. */
void fault_not_found(struct request *rq);
/* Returns the Status "Success" for an object that was deleted, in the request's arena. */
const char *success_text(struct request *rq, const json_t *obj);
/* Status "Success" for a successful subresource request on a pod (201). */
extern const char created_text[];
json_t *status_object(const struct request *rq, const struct fault *f);
/* True if a query value is "true" or "1". */
bool name_is_true(const char *query_value);

void do_get(struct request *rq);
void do_list(struct request *rq);
void do_watch(struct request *rq);
void do_create(struct request *rq);
void do_update(struct request *rq);
void do_patch(struct request *rq);
void do_delete(struct request *rq);
void do_delete_all(struct request *rq);
void do_eviction(struct request *rq);
void do_binding(struct request *rq);
void do_scale(struct request *rq);
void do_discovery(struct request *rq, const char *group, const char *version);
/* Sends discovery in the aggregated form if the client accepts that form; false: no reply was
 * sent. */
bool do_discovery_aggregated(struct request *rq, bool core);
/* Returns the categories, separated by spaces; "": none. */
const char *resource_categories(const struct resource *r);
json_t *discovery_verbs(const struct resource *r, const struct subresource *sub);
json_t *discovery_words(const char *words, struct arena *a);
void do_version(struct request *rq);
void do_openapi(struct request *rq);
void do_openapi_v2(struct request *rq);

/* Returns the object in the body, which is JSON, YAML or protobuf; NULL with rq->fault set. */
json_t *request_body(struct request *rq);
/* True if the Content-Type of the request is type, whatever its parameters. */
bool body_has_type(const struct request *rq, const char *type);

/* A barrier delays a reply until it is durable.
 *
 * barrier_new() arranges that fn is called, in a later turn of the loop, when everything that can
 * be read now is durable (e NULL), or when the disk has failed (e). Returns NULL if everything is
 * already durable; fn is then not called. A barrier frees itself after fn, even if it was
 * cancelled. */
struct barrier;
struct barrier *barrier_new(struct apiserver *a, void (*fn)(const struct err *e, void *arg),
			    void *arg);
/* Prevents the call of fn; b may be NULL. */
void barrier_cancel(struct barrier *b);
/* Sends a reply when the change with revision rev, the last one on which the reply may depend, is
 * durable; at once if it already is. type is not copied. */
void reply_text(struct request *rq, int status, const char *type, const char *body, size_t len,
		uint64_t rev);
/* A reply that waits for the store. answer_new() takes ownership of body; NULL: the written object
 * becomes the body. */
struct answer;
struct answer *answer_new(struct request *rq, int status, char *body);
/* Callback for store_commit(): sends the reply c, or the error. */
void answer_done(const struct err *e, void *answer);
/* Watches for a disconnect of the client while c waits; call it after store_commit(). */
void answer_waits(struct answer *c);
/* Sets the body of c unless it has one, and takes ownership of it. Returns false if c is NULL or
 * has a body. */
bool answer_fill(struct answer *c, char *body, size_t len);

/* --- the store -------------------------------------------------------------------------------- */

/* Returns a new reference to the object under key and fills *entry; NULL: no such object. */
json_t *object_read(struct apiserver *a, const char *key, struct store_entry *entry);
/* Returns the keys that begin with prefix, NULL-terminated, in the arena. */
const char **object_keys(struct apiserver *a, const char *prefix, struct arena *m);

/* A key that was written. */
struct written {
	const struct resource *r;
	const char *key;
	/* NULL: deleted. */
	const json_t *obj;
	/* For a deletion: the last object; else NULL. */
	const json_t *old;
};
/* Reacts to writes. written() is called for each write, before the write is durable. An observer
 * that writes itself must do so in a later turn of the loop. Remove an observer with
 * list_remove(). */
struct observer {
	void (*written)(struct observer *o, const struct written *w);
	struct list link;
};
void observe(struct apiserver *a, struct observer *o);
/* Writes the object under key; obj NULL: deletes it. Replies with c (NULL: no reply), or with a
 * fault. if_rev: revision that the object must still have. */
void write_object(struct request *rq, const struct resource *r, const char *key, json_t *obj,
		  int64_t if_rev, struct answer *c);
/* Sets the resourceVersion of obj to the revision of the next change. */
void object_set_rev(const struct apiserver *a, json_t *obj);
/* Creates an object on behalf of the server itself, unless an object of this name exists. */
void apiserver_create(struct apiserver *a, const char *group, const char *plural, json_t *obj);

#endif
