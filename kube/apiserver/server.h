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
 * form no cycle: code that needs to know of a write observes (see below).
 */

#define MAX_BODY ((size_t)3 << 20) /* As in kube-apiserver. */

/* --- faults: reasons for which a request is refused ------------------------------------------- */

/* In the order of the table in fault.c. */
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
	/* For an eviction that a budget refuses; "": none. */
	char cause[300];
};
int fault_set(struct fault *f, enum fault_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4), warn_unused_result));

/* --- resources -------------------------------------------------------------------------------- */

struct resource {
	/* "" for the core group. */
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
	/* Answered, never stored; only POST. */
	bool review;
	/* The name may be any path segment, as in RBAC. */
	bool loose_name;
	/* Schema of a custom kind; NULL: none. */
	const json_t *schema;
	/* Compiled patterns of the schema; NULL: not cached. */
	struct patterns *patterns;
	/* Table columns of a custom kind; NULL: none. */
	const json_t *columns;
	/* Paths of wanted number, actual number and selector (".spec.replicas"); NULL: no scale
	 * subresource. */
	const char *scale_spec, *scale_status, *scale_selector;
	/* An update without resourceVersion is refused. */
	bool must_say_rev;
	/* Served as events.k8s.io. */
	bool renamed_event;
};

/* A path below an object's name: "status", "pods/eviction". */
struct subresource {
	/* group NULL: the resource's group. */
	const char *name, *group, *version, *kind;
	/* Only POST; otherwise GET, PUT and PATCH. */
	bool create;
};
#define MAX_SUBS 4
/* Returns at most MAX_SUBS. */
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
	/* NULL: no garbage collection. */
	struct collector *collector;
	/* NULL: their status is not maintained. */
	struct budgets *budgets;
	/* NULL: not needed so far. */
	struct crypto_key *token_key;
	char *ca_pem;
};

/* --- users and their rights ------------------------------------------------------------------- */

/* The strings belong to the request's arena. */
struct user {
	const char *name, *uid;
	const char **groups;
	size_t ngroups;
};
/* Copies group; at most 32. */
void user_add_group(struct user *u, struct arena *a, const char *group);
bool user_in_group(const struct user *u, const char *group);

struct request;
/* Fills rq->user. */
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
	/* "/api"; NULL: a resource. */
	const char *path;
	/* "pods", "pods/eviction". */
	const char *group, *resource;
	/* NULL: none. */
	const char *ns, *name;
};
struct rbac;
void rbac_start(struct apiserver *a);
void rbac_free(struct rbac *b);
void rbac_create_defaults(struct apiserver *a);
/* Only if spec.rbac is set. *by: the binding that allows it, valid until the next write; by may be
 * NULL. */
bool rbac_allows(struct apiserver *a, const struct user *u, const struct access *x,
		 const char **by);
/* Calls fn for every rule that u holds, in ns too if ns is given; fn returns true to stop. */
void rbac_rules(struct apiserver *a, const struct user *u, const char *ns,
		bool (*fn)(const json_t *rule, void *arg), void *arg);
/* Checks whether rq->user may do what the request asks. */
int rbac_check(struct request *rq) __attribute__((warn_unused_result));
/* Checks whether the user may write this role or binding: a user may grant only rights that he
 * holds. */
int rbac_check_grant(struct request *rq, const json_t *obj, struct fault *f)
	__attribute__((warn_unused_result));
void do_review(struct request *rq);

/* One request while it is answered; the arena is freed with it. */
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
/* Iterates from the first (*r NULL) to the last. */
bool resource_next(const struct apiserver *a, const struct resource **r);
/* Reads the definitions in the store. */
void resources_load(struct apiserver *a);
void resources_put(struct apiserver *a, const json_t *crd);
void resources_del(struct apiserver *a, const char *crd_name);
void resources_free(struct apiserver *a);
/* Validates a definition on create and update, and adds what the server sets. */
bool resource_is_crd(const struct resource *r);
int resource_crd_check(json_t *crd, int64_t wall_ms, struct fault *f)
	__attribute__((warn_unused_result));
const char *resource_api_version(const struct resource *r, struct arena *a);

/* Returns "pods/ns/name" or "nodes/name"; without a name the prefix of all. */
const char *resource_key(const struct resource *r, struct arena *a, const char *ns,
			 const char *name);

/* --- objects ---------------------------------------------------------------------------------- */

/* NULL: no metadata. */
json_t *object_meta(const json_t *obj);
/* True if a LabelSelector (meta/v1) matches these metadata.labels (NULL: none). NULL selects
 * nothing, an empty selector everything. */
bool selector_object_matches(const json_t *selector, const json_t *labels);
/* Checks that name, namespace and kind agree with the path; fills in missing ones. */
int object_address(const struct request *rq, json_t *obj, struct fault *f)
	__attribute__((warn_unused_result));
/* Turns obj into what is stored, in two steps: the metadata of a new object, or of one that is to
 * replace old; then the rules of its kind (old NULL: a new object). */
int object_create(struct request *rq, json_t *obj, struct fault *f)
	__attribute__((warn_unused_result));
int object_update(struct request *rq, const json_t *old, json_t *obj, struct fault *f)
	__attribute__((warn_unused_result));
int object_complete(struct request *rq, const json_t *old, json_t *obj, struct fault *f)
	__attribute__((warn_unused_result));
int kind_adjust(const struct request *rq, json_t *obj, bool creating, struct fault *f)
	__attribute__((warn_unused_result));
/* True if it has a deletionTimestamp. */
bool object_is_going(const json_t *obj);
bool object_may_go(const struct apiserver *a, const struct resource *r, const json_t *obj);
/* Sets the deletionTimestamp; grace_s: for pods. */
void object_mark_deleted(const struct apiserver *a, const struct resource *r, json_t *obj,
			 int64_t grace_s);
/* Removes empty members that kube-apiserver omits, and adds those that it always sends: in whole
 * objects of built-in kinds, in the metadata of all others. */
void object_drop_zeros(const struct resource *r, json_t *obj);
void object_add_zeros(const struct resource *r, json_t *obj);
/* Converts in place between the core form, which is stored, and events.k8s.io. */
void object_event_to_core(json_t *obj);
void object_event_from_core(json_t *obj);

/* Only if spec.controllers is set. */
struct collector;
void collector_start(struct apiserver *a);
void collector_free(struct collector *c);
struct budgets;
void budgets_start(struct apiserver *a);
void budgets_free(struct budgets *b);
/* Updates the status at once. */
void budgets_update(struct apiserver *a, const char *ns);
bool pod_is_ready(const json_t *pod);

int jsonpatch_apply(const json_t *patch, json_t **doc, struct fault *f)
	__attribute__((warn_unused_result));
/* Only if spec.checks is set; for built-in kinds, and the metadata of all: sets defaults,
 * validates, and refuses changes of immutable fields. */
void object_fill(const struct resource *r, json_t *obj, bool creating);
int checks_object(const struct request *rq, const json_t *obj, struct fault *f)
	__attribute__((warn_unused_result));
int checks_change(const struct request *rq, const json_t *old, const json_t *obj, struct fault *f)
	__attribute__((warn_unused_result));
/* Handles unknown fields as the query fieldValidation demands; removes them from built-in kinds. */
int fields_check(struct request *rq, json_t *obj) __attribute__((warn_unused_result));
/* NULL: not named in the schema. */
const json_t *schema_of_member(const json_t *schema, const char *name);
bool schema_keeps_unknown(const json_t *schema);
/* True for apiVersion, kind and metadata. */
bool schema_is_server_member(const char *name);
/* For example "date-time"; true for an unknown format. */
bool format_holds(const char *format, const char *s);
/* Cache of compiled patterns: a limited number, and no large ones. */
struct patterns;
struct patterns *patterns_new(void);
void patterns_free(struct patterns *known);
/* True for a pattern that cannot be translated or would cost too much. *work grows by the cost
 * without the cache. known NULL: not cached. */
bool pattern_holds(struct patterns *known, const char *pattern, const char *s, struct arena *a,
		   size_t *work);
/* Checks whether the schemas of a definition may be served. */
int structural_check(const json_t *crd, struct arena *a, struct fault *f)
	__attribute__((warn_unused_result));
int schema_apply(const json_t *schema, struct patterns *known, json_t *obj, struct fault *f)
	__attribute__((warn_unused_result));
/* Both must be objects; returns a new one, NULL with the fault set. */
json_t *strategic_apply(const json_t *doc, const json_t *patch, struct fault *f);

/* --- filters ---------------------------------------------------------------------------------- */

struct field_term {
	/* "spec.nodeName". */
	const char *path;
	const char *value;
	bool equal;
};
struct filter {
	struct arena *arena;
	struct selector labels;
	struct field_term *fields;
	size_t nfields;
	/* PartialObjectMetadata was requested. */
	bool partial;
	/* A Table was requested; NULL: not requested. */
	struct table *table;
};
int filter_init(struct filter *f, const struct request *rq, struct fault *fault)
	__attribute__((warn_unused_result));
void filter_done(struct filter *f);
/* Returns the prefix of the keys that can match: a full key if the selector names one object. */
const char *filter_prefix(const struct filter *f, const struct request *rq, struct arena *a);
bool filter_is_empty(const struct filter *f);
bool filter_matches(const struct filter *f, const json_t *obj);
/* True if each object must be parsed, to be selected or to be shown. */
bool filter_parses(const struct filter *f, const struct resource *r);
/* Returns the object in the requested form; j is modified. */
char *filter_text(const struct filter *f, const struct resource *r, json_t *j);

/* --- requests --------------------------------------------------------------------------------- */

void reply_fault(struct request *rq);
void reply_object(struct request *rq, int status, json_t *obj);
/* Replies too. */
void fault_not_found(struct request *rq);
/* A Status, in the request's arena. */
const char *success_text(struct request *rq, const json_t *obj);
/* Status for a successful subresource request on a pod. */
extern const char created_text[];
json_t *status_object(const struct request *rq, const struct fault *f);
/* True for "true" and "1". */
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
/* Replies in the aggregated form if the client accepts it; false: no reply was sent. */
bool do_discovery_aggregated(struct request *rq, bool core);
/* Separated by spaces; "": none. */
const char *resource_categories(const struct resource *r);
json_t *discovery_verbs(const struct resource *r, const struct subresource *sub);
json_t *discovery_words(const char *words, struct arena *a);
void do_version(struct request *rq);
void do_openapi(struct request *rq);
void do_openapi_v2(struct request *rq);

/* Returns the body, from JSON, YAML or protobuf; NULL with rq->fault set. */
json_t *request_body(struct request *rq);
/* True if this is its Content-Type, whatever the parameters. */
bool body_has_type(const struct request *rq, const char *type);

/* Delays replies until they are durable.
 *
 * barrier: fn is called by a deferred call when everything that can be read now is durable, or will
 * never be (e). NULL: it already is, and fn is not called. The barrier frees itself after fn,
 * cancelled or not. */
struct barrier;
struct barrier *barrier_new(struct apiserver *a, void (*fn)(const struct err *e, void *arg),
			    void *arg);
/* fn is not called afterwards; NULL is allowed. */
void barrier_cancel(struct barrier *b);
/* Replies at once, or when `rev` is durable: the last change that the reply may depend on. type is
 * not copied. */
void reply_text(struct request *rq, int status, const char *type, const char *body, size_t len,
		uint64_t rev);
/* A reply that waits for the store. Takes ownership of body; NULL: the written object. */
struct answer;
struct answer *answer_new(struct request *rq, int status, char *body);
/* Callback for store_commit(). */
void answer_done(const struct err *e, void *answer);
/* Call it after store_commit(). */
void answer_waits(struct answer *c);
/* Sets the body if there is none, and takes ownership of it. */
bool answer_fill(struct answer *c, char *body, size_t len);

/* --- the store -------------------------------------------------------------------------------- */

/* Returns a new reference; NULL: no such object. */
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
/* Called for each write, before it is durable. An observer that writes must wait for a turn of its
 * own. Remove it with list_remove(). */
struct observer {
	void (*written)(struct observer *o, const struct written *w);
	struct list link;
};
void observe(struct apiserver *a, struct observer *o);
/* Changes one key; obj NULL: deletes it. Replies with c (NULL: no reply), or with a fault. */
void write_object(struct request *rq, const struct resource *r, const char *key, json_t *obj,
		  int64_t if_rev, struct answer *c);
/* Sets the resourceVersion to that of the next change. */
void object_set_rev(const struct apiserver *a, json_t *obj);
/* Creates an object on behalf of the server itself, unless one of its name exists. */
void apiserver_create(struct apiserver *a, const char *group, const char *plural, json_t *obj);

#endif
