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
 * form no cycle: a file that must react to writes registers a struct observer, instead of being
 * called by write.c.
 */

#define MAX_BODY ((size_t)3 << 20) /* Largest request body in bytes, as in kube-apiserver. */

/* --- faults: reasons for which a request is refused ------------------------------------------- */

/* Kinds of faults, in the order of the table in fault.c. */
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
	/* Message of the PodDisruptionBudget that refused an eviction, for details.causes; "": the
	 * fault is not about an eviction. */
	char cause[300];
};
int fault_set(struct fault *f, enum fault_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4), warn_unused_result));

/* --- resources -------------------------------------------------------------------------------- */

struct resource {
	/* API group; "" for the core group. */
	const char *group;
	const char *version, *plural, *singular, *kind;
	/* Short names, separated by spaces; "": none. */
	const char *short_names;
	/* Categories, separated by spaces; NULL: none. */
	const char *categories;
	/* Prefix of the kind's keys in the store, with a final slash: "pods/". */
	const char *key;
	/* Paths of the fields, besides metadata, that a fieldSelector may use; NULL-terminated;
	 * NULL: none. */
	const char *const *fields;
	bool namespaced, has_status, has_generation, custom;
	/* True: objects of the kind are answered and never stored, for example SubjectAccessReview;
	 * only POST is allowed. */
	bool review;
	/* True: the object's name may be any path segment, as for RBAC kinds. */
	bool loose_name;
	/* Schema of a custom kind; NULL: none. */
	const json_t *schema;
	/* Compiled patterns of the schema; NULL: not cached. */
	struct patterns *patterns;
	/* additionalPrinterColumns of a custom kind; NULL: none. */
	const json_t *columns;
	/* Paths in the object for the scale subresource: requested replicas (".spec.replicas"),
	 * actual replicas, and selector; NULL: no scale subresource (scale_selector NULL: no
	 * selector). */
	const char *scale_spec, *scale_status, *scale_selector;
	/* True: an update of this kind without resourceVersion is refused. */
	bool must_say_rev;
	/* True: this is the events.k8s.io form of core/v1 events; the objects are stored in the
	 * core/v1 form. */
	bool renamed_event;
};

/* A path below an object's name, for example "status" or "pods/eviction". */
struct subresource {
	/* Name of the subresource, and group, version and kind of the object that requests and
	 * replies contain. group NULL: the group of the parent resource. */
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

struct lines;
struct apiserver {
	struct loop_group *group;
	struct loop *loop;
	struct store *store;
	struct apiserver_spec spec;
	char *version;
	/* List of struct custom: the kinds defined by CustomResourceDefinitions. */
	struct list customs;
	struct list watches;
	/* What the watches share of the events that are being delivered. */
	struct lines *lines;
	/* List of struct observer, which are called at each write. */
	struct list observers;
	/* Role-based access control; NULL: everyone may do everything. */
	struct rbac *rbac;
	/* The garbage collector; NULL: objects are not collected. */
	struct collector *collector;
	/* The disruption controller; NULL: the status of PodDisruptionBudgets is not maintained. */
	struct budgets *budgets;
	/* Key that signs ServiceAccount tokens; NULL: not loaded yet. */
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
/* Authenticates a bearer token for one of the audiences, an array of texts; NULL or empty: this
 * server. Fills *u with the token's user. Returns the audiences that fit, an array that the caller
 * owns; NULL: the token is unknown, no longer valid, or for other audiences. */
json_t *auth_token(struct apiserver *a, const struct secret *token, const json_t *audiences,
		   struct user *u, struct arena *m);
/* Authenticates the token of a ServiceAccount. Parameters and result are those of auth_token(). */
json_t *token_user(struct apiserver *a, const struct secret *token, const json_t *audiences,
		   struct user *u, struct arena *m);
/* Returns the audiences that both arrays contain, as an array that the caller owns; NULL: none. An
 * empty or NULL `asked`, and a NULL `had`, stand for an array with this server's audience only. */
json_t *token_audiences(const json_t *asked, const json_t *had);
void do_token_request(struct request *rq);
int token_fill_secret(const struct request *rq, json_t *secret, struct fault *f)
	__attribute__((warn_unused_result));

/* An action on a resource or on a non-resource path, for authorization. */
struct access {
	const char *verb;
	/* Path of a non-resource request ("/api"); NULL: the action is on a resource. */
	const char *path;
	/* resource: "pods", or with a subresource "pods/eviction". */
	const char *group, *resource;
	/* Namespace and name of the object; NULL: the action is not limited to a namespace or
	 * name. */
	const char *ns, *name;
};
struct rbac;
void rbac_start(struct apiserver *a);
void rbac_free(struct rbac *b);
void rbac_create_defaults(struct apiserver *a);
/* True if u may do x. Must be called only if spec.rbac is set. *by: name of the binding that allows
 * x, valid until the next write; by may be NULL. */
bool rbac_allows(struct apiserver *a, const struct user *u, const struct access *x,
		 const char **by);
/* Calls fn for every rule that u has in the cluster and, unless ns is NULL, in namespace ns. fn
 * returns true to stop. */
void rbac_rules(struct apiserver *a, const struct user *u, const char *ns,
		bool (*fn)(const json_t *rule, void *arg), void *arg);
/* Checks whether rq->user has the right to do what the request asks. Returns 0, or -1 with
 * rq->fault. */
int rbac_check(struct request *rq) __attribute__((warn_unused_result));
/* Checks whether rq->user may write this role or binding: users may grant only rights that they
 * have themselves. Returns 0, or -1 with *f. */
int rbac_check_grant(struct request *rq, const json_t *obj, struct fault *f)
	__attribute__((warn_unused_result));
void do_review(struct request *rq);

/* One request while the server answers it. The request's arena is freed together with the
 * request. */
struct request {
	struct apiserver *a;
	struct httpd_req *q;
	struct arena *arena;
	const struct resource *r;
	/* Namespace, name and subresource from the path; NULL: the path has none. */
	const char *ns, *name, *sub;
	bool dry_run;
	struct user user;
	struct fault fault;
};

const struct resource *resource_find(const struct apiserver *a, const char *group,
				     const char *version, const char *plural);
/* Iterates over all kinds: sets *r to the resource after *r (*r NULL: the first). False: no
 * more. */
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

/* Returns the key of an object in the store: "pods/ns/name" or "nodes/name". name NULL: the prefix
 * of all keys of the kind, in namespace ns (NULL: in all). */
const char *resource_key(const struct resource *r, struct arena *a, const char *ns,
			 const char *name);

/* --- objects ---------------------------------------------------------------------------------- */

/* Returns the metadata of obj; NULL: obj has none. */
json_t *object_meta(const json_t *obj);
/* True if a LabelSelector (meta/v1) matches labels, an object's metadata.labels (NULL: no labels).
 * A selector that is NULL matches nothing, an empty selector everything. */
bool selector_object_matches(const json_t *selector, const json_t *labels);
/* Checks that name, namespace, apiVersion and kind in obj agree with the request's path; fills in
 * missing ones. */
int object_address(const struct request *rq, json_t *obj, struct fault *f)
	__attribute__((warn_unused_result));
/* Turn the object of a request into the object to store, in two steps. First object_create() sets
 * the metadata of a new object, or object_update() those of an object that replaces old. Then
 * object_complete() applies the rules of the kind (old NULL: a new object). */
int object_create(struct request *rq, json_t *obj, struct fault *f)
	__attribute__((warn_unused_result));
int object_update(struct request *rq, const json_t *old, json_t *obj, struct fault *f)
	__attribute__((warn_unused_result));
int object_complete(struct request *rq, const json_t *old, json_t *obj, struct fault *f)
	__attribute__((warn_unused_result));
int kind_adjust(const struct request *rq, json_t *obj, bool creating, struct fault *f)
	__attribute__((warn_unused_result));
/* object_is_going(): true if obj has a deletionTimestamp. object_may_go(): true if the object can
 * be removed now. It must have no finalizer, and must not be a running pod whose grace period a
 * kubelet has to end (spec.graceful_pods). */
bool object_is_going(const json_t *obj);
bool object_may_go(const struct apiserver *a, const struct resource *r, const json_t *obj);
/* Sets metadata.deletionTimestamp. grace_s: grace period of the deletion in seconds; 0 except for
 * pods. */
void object_mark_deleted(const struct apiserver *a, const struct resource *r, json_t *obj,
			 int64_t grace_s);
/* object_drop_zeros() removes empty members that kube-apiserver omits; object_add_zeros() adds
 * members that kube-apiserver always sends. Both process the whole object of a built-in kind, but
 * only the metadata of a custom object. */
void object_drop_zeros(const struct resource *r, json_t *obj);
void object_add_zeros(const struct resource *r, json_t *obj);
/* Convert an event in place. object_event_to_core(): from the events.k8s.io form to the core/v1
 * form, in which it is stored. object_event_from_core(): from core/v1 to events.k8s.io. */
void object_event_to_core(json_t *obj);
void object_event_from_core(json_t *obj);

/* The controllers (garbage collector and disruption controller); created only if spec.controllers
 * is set. */
struct collector;
void collector_start(struct apiserver *a);
void collector_free(struct collector *c);
struct budgets;
void budgets_start(struct apiserver *a);
void budgets_free(struct budgets *b);
/* Updates the status of the PodDisruptionBudgets in namespace ns at once. */
void budgets_update(struct apiserver *a, const char *ns);
bool pod_is_ready(const json_t *pod);

int jsonpatch_apply(const json_t *patch, json_t **doc, struct fault *f)
	__attribute__((warn_unused_result));
/* Defaults and validation, used only if spec.checks is set, for built-in kinds and for the metadata
 * of all kinds. object_fill() sets defaults, checks_object() validates, checks_change() refuses
 * changes of immutable fields. */
void object_fill(const struct resource *r, json_t *obj, bool creating);
int checks_object(const struct request *rq, const json_t *obj, struct fault *f)
	__attribute__((warn_unused_result));
int checks_change(const struct request *rq, const json_t *old, const json_t *obj, struct fault *f)
	__attribute__((warn_unused_result));
/* Handles fields that the kind does not have as the query parameter fieldValidation demands:
 * refuses the request (Strict), adds a warning to the reply (Warn) or ignores them. Removes such
 * fields from objects of built-in kinds. Returns 0, or -1 with rq->fault. */
int fields_check(struct request *rq, json_t *obj) __attribute__((warn_unused_result));
/* Returns the schema of the member name of an object; NULL: the schema does not define the
 * member. */
const json_t *schema_of_member(const json_t *schema, const char *name);
bool schema_keeps_unknown(const json_t *schema);
/* True for apiVersion, kind and metadata. */
bool schema_is_server_member(const char *name);
/* True if s has the format, for example "date-time". An unknown format accepts every s. */
bool format_holds(const char *format, const char *s);
/* Cache of compiled patterns of one schema. It is limited in number and contains no large
 * pattern. */
struct patterns;
struct patterns *patterns_new(void);
void patterns_free(struct patterns *known);
/* True if s matches the pattern. True too if the pattern cannot be translated or would cost too
 * much. *work grows by the cost of compiling and matching; the compilation is counted even if the
 * compiled pattern was cached, so that the total does not depend on the cache. known NULL: no
 * cache. */
bool pattern_holds(struct patterns *known, const char *pattern, const char *s, struct arena *a,
		   size_t *work);
/* structural_check() checks whether the schemas of a CustomResourceDefinition are structural, as
 * required before the kind is served; schema_apply() prunes, defaults and validates obj. */
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
	/* True: the client requested PartialObjectMetadata (only the metadata of objects). */
	bool partial;
	/* Table in which the reply shows the objects; NULL: the client did not request a Table. */
	struct table *table;
	/* Form of the objects in the reply, whatever is selected: filter_text() gives the same text
	 * of an object for filters of equal form. */
	const char *form;
};
int filter_init(struct filter *f, const struct request *rq, struct fault *fault)
	__attribute__((warn_unused_result));
void filter_done(struct filter *f);
/* Returns a prefix with which the keys of all matching objects begin. It is a full key if the field
 * selector names one object and its namespace is known. */
const char *filter_prefix(const struct filter *f, const struct request *rq, struct arena *a);
bool filter_is_empty(const struct filter *f);
bool filter_matches(const struct filter *f, const json_t *obj);
/* True if the reply needs a form other than the stored text. */
bool filter_encodes(const struct filter *f, const struct resource *r);
/* True if each stored object must be parsed, because the filter selects by its contents or
 * filter_encodes(). */
bool filter_parses(const struct filter *f, const struct resource *r);
/* Returns the object j as text in the form that the client requested, malloc'd; modifies j. */
char *filter_text(const struct filter *f, const struct resource *r, json_t *j);

/* --- requests --------------------------------------------------------------------------------- */

void reply_fault(struct request *rq);
void reply_object(struct request *rq, int status, json_t *obj);
/* Sends a 404 for the object that the request names. */
void fault_not_found(struct request *rq);
/* Returns the Status "Success" for an object that was deleted, in the request's arena. */
const char *success_text(struct request *rq, const json_t *obj);
/* Text of a Status "Success" with code 201, the reply to a successful subresource request on a
 * pod. */
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
/* Sends discovery in the aggregated form (apidiscovery.k8s.io) if the client accepts that form.
 * core: for /api instead of /apis. False: the client does not accept it, and no reply was sent. */
bool do_discovery_aggregated(struct request *rq, bool core);
/* Returns the categories of the kind, separated by spaces; "": none. */
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

/* A barrier delays a reply until everything that the reply may contain is durable.
 *
 * barrier_new() arranges that fn is called, in a later turn of the loop, when everything that can
 * be read now is durable (e NULL), or when the disk has failed (e set). Returns NULL if everything
 * is already durable; fn is then not called. A barrier frees itself after the call of fn; a
 * cancelled barrier frees itself at the time at which fn would have been called. */
struct barrier;
struct barrier *barrier_new(struct apiserver *a, void (*fn)(const struct err *e, void *arg),
			    void *arg);
/* Prevents the call of the barrier's fn; b may be NULL. */
void barrier_cancel(struct barrier *b);
/* Sends a reply when the change with revision rev is durable; at once if it already is. rev: the
 * last change on which the reply may depend. type is not copied and must outlive the reply. */
void reply_text(struct request *rq, int status, const char *type, const char *body, size_t len,
		uint64_t rev);
/* A reply that waits until the store has written a change. answer_new() takes ownership of body;
 * body NULL: write_object() sets the body to the written object. */
struct answer;
struct answer *answer_new(struct request *rq, int status, char *body);
/* Callback for store_commit(): sends the reply c, or the error. */
void answer_done(const struct err *e, void *answer);
/* Watches whether the client disconnects while c waits for the store. Must be called after
 * store_commit(). */
void answer_waits(struct answer *c);
/* Sets the body of c, and takes ownership of body. Returns false, and takes nothing, if c is NULL
 * or already has a body. */
bool answer_fill(struct answer *c, char *body, size_t len);

/* --- the store -------------------------------------------------------------------------------- */

/* Returns a new reference to the object under key and fills *entry; NULL: no such object. */
json_t *object_read(struct apiserver *a, const char *key, struct store_entry *entry);
/* Returns the keys that begin with prefix, NULL-terminated, in the arena. */
const char **object_keys(struct apiserver *a, const char *prefix, struct arena *m);

/* Describes one write to an observer. */
struct written {
	const struct resource *r;
	const char *key;
	/* The object as written; NULL: the object was deleted. */
	const json_t *obj;
	/* Last state of an object that was deleted; NULL: not a deletion. */
	const json_t *old;
};
/* An observer reacts to writes. Its written() is called for each write, before the write is
 * durable. If an observer writes objects itself, it must do so in a later turn of the loop. Remove
 * an observer with list_remove(). */
struct observer {
	void (*written)(struct observer *o, const struct written *w);
	struct list link;
};
void observe(struct apiserver *a, struct observer *o);
/* Writes the object under key; obj NULL: deletes the object. Replies with c (NULL: no reply) when
 * the write is durable, or with a fault. if_rev: revision that the stored object must still have;
 * negative: any. */
void write_object(struct request *rq, const struct resource *r, const char *key, json_t *obj,
		  int64_t if_rev, struct answer *c);
/* Sets the resourceVersion of obj to the revision that the next change of the store will get. */
void object_set_rev(const struct apiserver *a, json_t *obj);
/* Creates an object on behalf of the server itself, unless an object of this name exists. */
void apiserver_create(struct apiserver *a, const char *group, const char *plural, json_t *obj);

#endif
