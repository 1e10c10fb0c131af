#ifndef KUBE_APISERVER_SERVER_H
#define KUBE_APISERVER_SERVER_H

#include "base/arena.h"
#include "base/crypto.h"
#include "base/data/json.h"
#include "base/list.h"
#include "base/data/selector.h"
#include "kube/apiserver/apiserver.h"

/*
 * server: what the files of this folder share; README.md says what each of them does. None calls
 * one that calls it: whoever wants to know of a write observes (below).
 */

#define MAX_BODY ((size_t)3 << 20) /* as in kube-apiserver */

/* --- faults: why a request was refused -------------------------------------------------------- */

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
	/* of an eviction that a budget refuses; "": none */
	char cause[300];
};
int fault_set(struct fault *f, enum fault_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4), warn_unused_result));

/* --- resources -------------------------------------------------------------------------------- */

struct resource {
	/* "" for core */
	const char *group;
	const char *version, *plural, *singular, *kind;
	/* separated by spaces; "" */
	const char *short_names;
	/* the same; NULL: none */
	const char *categories;
	/* of the store, with its final slash: "pods/" */
	const char *key;
	/* for fieldSelector, beside metadata; NULL-terminated; may be NULL */
	const char *const *fields;
	bool namespaced, has_status, has_generation, custom;
	/* answered, never kept: only POST */
	bool review;
	/* any path segment, as in RBAC */
	bool loose_name;
	/* of a custom kind; NULL: none */
	const json_t *schema;
	/* of that schema, compiled; NULL: none is kept */
	struct patterns *patterns;
	/* of a custom kind, for tables; NULL: none */
	const json_t *columns;
	/* Where wish, number and selector are, as ".spec.replicas"; NULL: there is no scale. */
	const char *scale_spec, *scale_status, *scale_selector;
	/* an update without resourceVersion is refused */
	bool must_say_rev;
	/* events.k8s.io */
	bool renamed_event;
};

/* What stands under the name of an object: "status", "pods/eviction". */
struct subresource {
	/* group NULL: that of the resource */
	const char *name, *group, *version, *kind;
	/* POST alone; else GET, PUT and PATCH */
	bool create;
};
#define MAX_SUBS 4
/* At most MAX_SUBS. */
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
	/* struct custom */
	struct list customs;
	struct list watches;
	/* struct observer */
	struct list observers;
	/* NULL: everybody may everything */
	struct rbac *rbac;
	/* NULL: nothing is collected */
	struct collector *collector;
	/* NULL: nobody keeps their status */
	struct budgets *budgets;
	/* NULL: not needed so far */
	struct crypto_key *token_key;
	char *ca_pem;
};

/* --- who asks, and what he may ---------------------------------------------------------------- */

/* Its strings belong to the request's arena. */
struct user {
	const char *name, *uid;
	const char **groups;
	size_t ngroups;
};
/* copied; 32 at most */
void user_add_group(struct user *u, struct arena *a, const char *group);
bool user_in_group(const struct user *u, const char *group);

struct request;
/* Fills rq->user. */
int auth_request(struct request *rq) __attribute__((warn_unused_result));
/* Whose token it is; false: nobody's. */
bool auth_token(struct apiserver *a, const struct secret *token, struct user *u, struct arena *m);
bool token_user(struct apiserver *a, const struct secret *token, struct user *u, struct arena *m);
void do_token_request(struct request *rq);
int token_fill_secret(const struct request *rq, json_t *secret, struct fault *f)
	__attribute__((warn_unused_result));

/* What somebody wants to do: with a path, or with a resource. */
struct access {
	const char *verb;
	/* "/api"; NULL: a resource */
	const char *path;
	/* "pods", "pods/eviction" */
	const char *group, *resource;
	/* NULL: none */
	const char *ns, *name;
};
struct rbac;
void rbac_start(struct apiserver *a);
void rbac_free(struct rbac *b);
void rbac_create_defaults(struct apiserver *a);
/* Only where spec.rbac is set. *by: the binding that says so, until the next write; may be NULL. */
bool rbac_allows(struct apiserver *a, const struct user *u, const struct access *x,
		 const char **by);
/* Every rule that u holds, in ns too if that is given; fn returns true to stop. */
void rbac_rules(struct apiserver *a, const struct user *u, const char *ns,
		bool (*fn)(const json_t *rule, void *arg), void *arg);
/* May rq->user do what the request asks? */
int rbac_check(struct request *rq) __attribute__((warn_unused_result));
/* May he write this role or binding?  Nobody grants what he does not hold. */
int rbac_check_grant(struct request *rq, const json_t *obj, struct fault *f)
	__attribute__((warn_unused_result));
void do_review(struct request *rq);

/* One request while it is being answered; the arena goes with it. */
struct request {
	struct apiserver *a;
	struct httpd_req *q;
	struct arena *arena;
	const struct resource *r;
	/* NULL: not in the path */
	const char *ns, *name, *sub;
	bool dry_run;
	struct user user;
	struct fault fault;
};

const struct resource *resource_find(const struct apiserver *a, const char *group,
				     const char *version, const char *plural);
/* From the first (*r NULL) to the last. */
bool resource_next(const struct apiserver *a, const struct resource **r);
/* what the store holds */
void resources_load(struct apiserver *a);
void resources_put(struct apiserver *a, const json_t *crd);
void resources_del(struct apiserver *a, const char *crd_name);
void resources_free(struct apiserver *a);
/* Is it in order, and what would the server add to it?  For create and update of a definition. */
bool resource_is_crd(const struct resource *r);
int resource_crd_check(json_t *crd, int64_t wall_ms, struct fault *f)
	__attribute__((warn_unused_result));
const char *resource_api_version(const struct resource *r, struct arena *a);

/* "pods/ns/name", "nodes/name"; without name the prefix of all. */
const char *resource_key(const struct resource *r, struct arena *a, const char *ns,
			 const char *name);

/* --- objects ---------------------------------------------------------------------------------- */

/* NULL when there is none */
json_t *object_meta(const json_t *obj);
/* Does a LabelSelector (meta/v1) match these metadata.labels (NULL: none)?  NULL selects nothing,
 * an empty one everything. */
bool selector_object_matches(const json_t *selector, const json_t *labels);
/* Name, namespace and kind agree with the path, or are filled in from it. */
int object_address(const struct request *rq, json_t *obj, struct fault *f)
	__attribute__((warn_unused_result));
/* Make of obj what is to be stored, in two steps: the metadata of a new object, or of one that asks
 * to replace old; then what its kind wants (old NULL: it is new). */
int object_create(struct request *rq, json_t *obj, struct fault *f)
	__attribute__((warn_unused_result));
int object_update(struct request *rq, const json_t *old, json_t *obj, struct fault *f)
	__attribute__((warn_unused_result));
int object_complete(struct request *rq, const json_t *old, json_t *obj, struct fault *f)
	__attribute__((warn_unused_result));
int kind_adjust(const struct request *rq, json_t *obj, bool creating, struct fault *f)
	__attribute__((warn_unused_result));
/* has a deletionTimestamp */
bool object_is_going(const json_t *obj);
bool object_may_go(const struct apiserver *a, const struct resource *r, const json_t *obj);
/* Mark as being deleted; grace_s: for pods. */
void object_mark_deleted(const struct apiserver *a, const struct resource *r, json_t *obj,
			 int64_t grace_s);
/* Removes empty members that kube-apiserver omits, and adds those that it always sends: in whole
 * objects of built-in kinds, in the metadata of all others. */
void object_drop_zeros(const struct resource *r, json_t *obj);
void object_add_zeros(const struct resource *r, json_t *obj);
/* Between the core form, which is stored, and events.k8s.io; in place. */
void object_event_to_core(json_t *obj);
void object_event_from_core(json_t *obj);

/* Only where spec.controllers is set. */
struct collector;
void collector_start(struct apiserver *a);
void collector_free(struct collector *c);
struct budgets;
void budgets_start(struct apiserver *a);
void budgets_free(struct budgets *b);
/* now */
void budgets_update(struct apiserver *a, const char *ns);
bool pod_is_ready(const json_t *pod);

int jsonpatch_apply(const json_t *patch, json_t **doc, struct fault *f)
	__attribute__((warn_unused_result));
/* Where spec.checks is set, of built-in kinds (and the metadata of all): defaults; what is refused;
 * what an update may not change. */
void object_fill(const struct resource *r, json_t *obj, bool creating);
int checks_object(const struct request *rq, const json_t *obj, struct fault *f)
	__attribute__((warn_unused_result));
int checks_change(const struct request *rq, const json_t *old, const json_t *obj, struct fault *f)
	__attribute__((warn_unused_result));
/* Fields that the kind does not have, by the query fieldValidation; drops those of built-in
 * kinds. */
int fields_check(struct request *rq, json_t *obj) __attribute__((warn_unused_result));
/* NULL: not named */
const json_t *schema_of_member(const json_t *schema, const char *name);
bool schema_keeps_unknown(const json_t *schema);
/* of an object: apiVersion, kind, metadata */
bool schema_is_server_member(const char *name);
/* "date-time"; true for one not known */
bool format_holds(const char *format, const char *s);
/* Patterns that were compiled, so that not each object compiles them again: a few, and no large
 * ones. */
struct patterns;
struct patterns *patterns_new(void);
void patterns_free(struct patterns *known);
/* true for one that is not known, or would cost too much. *work rises by what it costs uncompiled.
 * known NULL: nothing is kept. */
bool pattern_holds(struct patterns *known, const char *pattern, const char *s, struct arena *a,
		   size_t *work);
/* May the schemas of a definition be served? */
int structural_check(const json_t *crd, struct arena *a, struct fault *f)
	__attribute__((warn_unused_result));
int schema_apply(const json_t *schema, struct patterns *known, json_t *obj, struct fault *f)
	__attribute__((warn_unused_result));
/* Both objects; a new one, NULL with the fault set. */
json_t *strategic_apply(const json_t *doc, const json_t *patch, struct fault *f);

/* --- filters ---------------------------------------------------------------------------------- */

struct field_term {
	/* "spec.nodeName" */
	const char *path;
	const char *value;
	bool equal;
};
struct filter {
	struct arena *arena;
	struct selector labels;
	struct field_term *fields;
	size_t nfields;
	/* PartialObjectMetadata was asked for */
	bool partial;
	/* a Table was asked for; NULL: none was */
	struct table *table;
};
int filter_init(struct filter *f, const struct request *rq, struct fault *fault)
	__attribute__((warn_unused_result));
void filter_done(struct filter *f);
/* The prefix of the keys that can match: of one name where the selector names it. */
const char *filter_prefix(const struct filter *f, const struct request *rq, struct arena *a);
bool filter_is_empty(const struct filter *f);
bool filter_matches(const struct filter *f, const json_t *obj);
/* Must each object be parsed, to be chosen or to be shown? */
bool filter_parses(const struct filter *f, const struct resource *r);
/* As the client asked for it; j is changed. */
char *filter_text(const struct filter *f, const struct resource *r, json_t *j);

/* --- requests --------------------------------------------------------------------------------- */

void reply_fault(struct request *rq);
void reply_object(struct request *rq, int status, json_t *obj);
/* and replies */
void fault_not_found(struct request *rq);
/* a Status, in the request's arena */
const char *success_text(struct request *rq, const json_t *obj);
/* A Status of what a subresource of pods has done. */
extern const char created_text[];
json_t *status_object(const struct request *rq, const struct fault *f);
/* "true", "1" */
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
/* The aggregated form, where the client accepts it: false, nothing answered, where it does not. */
bool do_discovery_aggregated(struct request *rq, bool core);
/* separated by spaces; "" */
const char *resource_categories(const struct resource *r);
json_t *discovery_verbs(const struct resource *r, const struct subresource *sub);
json_t *discovery_words(const char *words, struct arena *a);
void do_version(struct request *rq);
void do_openapi(struct request *rq);
void do_openapi_v2(struct request *rq);

/* The body, JSON, YAML or protobuf; NULL with rq->fault set. */
json_t *request_body(struct request *rq);
/* Is this its Content-Type, whatever the parameters? */
bool body_has_type(const struct request *rq, const char *type);

/* Nothing is told before it is durable.
 *
 * barrier: fn is called by defer when all that can be read now is durable, or will never be (e).
 * NULL: it is, and fn is not called.  It frees itself after fn, cancelled or not. */
struct barrier;
struct barrier *barrier_new(struct apiserver *a, void (*fn)(const struct err *e, void *arg),
			    void *arg);
/* fn is not called any more; NULL is fine */
void barrier_cancel(struct barrier *b);
/* At once, or when `rev` is durable: the last change that it may rest on.  type is not copied. */
void reply_text(struct request *rq, int status, const char *type, const char *body, size_t len,
		uint64_t rev);
/* An answer that waits for the store.  body is taken; NULL: what is written. */
struct answer;
struct answer *answer_new(struct request *rq, int status, char *body);
/* of store_commit() */
void answer_done(const struct err *e, void *answer);
/* after store_commit() */
void answer_waits(struct answer *c);
/* takes it, where there is none */
bool answer_fill(struct answer *c, char *body, size_t len);

/* --- the store -------------------------------------------------------------------------------- */

/* A new reference, or NULL when it is not there. */
json_t *object_read(struct apiserver *a, const char *key, struct store_entry *entry);
/* Those that begin with prefix: NULL-terminated, in the arena. */
const char **object_keys(struct apiserver *a, const char *prefix, struct arena *m);

/* A key that was written. */
struct written {
	const struct resource *r;
	const char *key;
	/* NULL: deleted */
	const json_t *obj;
	/* of one deleted: what was there; else NULL */
	const json_t *old;
};
/* Is told of each write, before it is durable; to write itself, it waits for its own turn of the
 * loop. Taken out with list_remove(). */
struct observer {
	void (*written)(struct observer *o, const struct written *w);
	struct list link;
};
void observe(struct apiserver *a, struct observer *o);
/* Change one key; obj NULL: delete.  Answers with c (NULL: nobody), or with a fault. */
void write_object(struct request *rq, const struct resource *r, const char *key, json_t *obj,
		  int64_t if_rev, struct answer *c);
/* Give it the resourceVersion of the change that comes next. */
void object_set_rev(const struct apiserver *a, json_t *obj);
/* An object of the server's own, if there is none of its name. */
void apiserver_create(struct apiserver *a, const char *group, const char *plural, json_t *obj);

#endif
