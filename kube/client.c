#include "kube/client.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "kube/call.h"

/* Recorded in metadata.managedFields, so that an administrator sees which program wrote a field. */
#define FIELD_MANAGER "drover"

struct kube_client *kube_client_new(struct loop_group *g, struct http *h,
				    const struct kube_client_spec *s, struct err *e)
{
	struct kube_client *c = mem_new(struct kube_client);

	c->group = g;
	c->http = h;
	c->name = mem_strdup(str_or(s->name, "kube"));
	c->plain_ok = s->plain_ok;
	c->may_reach = s->may_reach;
	c->may_reach_arg = s->may_reach_arg;
	c->max_in_flight = s->max_in_flight ? s->max_in_flight : 16;
	c->timeout_ms = s->timeout_ms ? s->timeout_ms : 15000;
	c->queue_ms = s->queue_ms;
	c->may_change = s->may_change;
	c->may_change_arg = s->may_change_arg;
	c->counted = s->counted;
	c->counted_arg = s->counted_arg;
	bucket_init(&c->bucket, s->qps > 0 ? s->qps : 20, s->burst > 0 ? s->burst : 40,
		    loop_now(loop_of(g)));
	list_init(&c->peers);
	list_init(&c->queued);
	list_init(&c->others);
	loop_defer_init(&c->pump, g, kube_client_pump, c);
	loop_timer_init(&c->pump_timer, g, kube_client_pump, c);
	if (kube_client_reload(c, s->config, e) < 0) {
		kube_client_free(c);
		return NULL;
	}
	return c;
}

void kube_client_pace(struct kube_client *c, double qps)
{
	c->bucket.per_s = qps;
}

size_t kube_client_queued(const struct kube_client *c)
{
	return c->in_line;
}

const char *kube_client_ca_pem(const struct kube_client *c)
{
	return c->config->ca_pem;
}

int kube_client_reload(struct kube_client *c, const struct kube_config *config, struct err *e)
{
	struct kube_peer *p = kube_peer_new(c, config, e), *old = c->peer;

	if (!p)
		return -1;
	c->peer = p;
	if (old && !old->calls)
		kube_peer_free(old);
	kube_config_free(c->config);
	c->config = kube_config_copy(config);
	c->token_read_at = INT64_MIN / 2;
	return 0;
}

void kube_client_free(struct kube_client *c)
{
	struct kube_call *call;
	struct kube_peer *p;

	if (!c)
		return;
	while ((call = list_first(&c->queued, struct kube_call, link)) ||
	       (call = list_first(&c->others, struct kube_call, link))) {
		assert(!call->feeding);
		kube_call_cancel(call);
	}
	loop_defer_cancel(&c->pump);
	loop_timer_stop(&c->pump_timer);
	while ((p = list_first(&c->peers, struct kube_peer, link)))
		kube_peer_free(p);
	kube_config_free(c->config);
	free(c->name);
	free(c);
}

int64_t kube_client_last_contact(const struct kube_client *c)
{
	return c->last_contact;
}

bool kube_client_date(const struct kube_client *c, int64_t *wall_ms, int64_t *at)
{
	*wall_ms = c->date;
	*at = c->date_at;
	return c->date != 0;
}

static void end_plain(struct kube_call *call, json_t *json, const struct err *e)
{
	call->done(json, e, call->arg);
}

struct kube_call *kube_call_json(struct kube_client *c, const char *method, char *path,
				 const struct err *why, kube_done *done, void *arg)
{
	struct kube_call *call = kube_call_new(c, method, path, why);

	call->end = end_plain;
	call->done = done;
	call->arg = arg;
	return call;
}

void kube_call_body(struct kube_call *call, const json_t *body, const char *content_type)
{
	if (!body)
		return;
	call->body = json_text(body);
	call->body_len = strlen(call->body);
	call->content_type = content_type;
}

static char *managed(char *path)
{
	char *full = path ? mem_printf("%s?fieldManager=" FIELD_MANAGER, path) : NULL;

	free(path);
	return full;
}

struct kube_call *kube_get(struct kube_client *c, const struct kube_resource *r, const char *ns,
			   const char *name, kube_done *done, void *arg)
{
	struct err e;
	char *path = kube_path(r, ns, str_or(name, ""), NULL, &e);
	struct kube_call *call = kube_call_json(c, "GET", path, &e, done, arg);

	kube_call_start(call);
	return call;
}

struct kube_call *kube_get_metadata(struct kube_client *c, const struct kube_resource *r,
				    const char *ns, const char *name, kube_done *done, void *arg)
{
	struct err e;
	char *path = kube_path(r, ns, str_or(name, ""), NULL, &e);
	struct kube_call *call = kube_call_json(c, "GET", path, &e, done, arg);

	/* mutant: secret-whole */
	call->accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
	kube_call_start(call);
	return call;
}

struct kube_call *kube_get_path_with(struct kube_client *c, const char *path,
				     const struct kube_path_options *o, kube_done *done, void *arg)
{
	struct kube_call *call = kube_call_json(c, "GET", mem_strdup(path), NULL, done, arg);

	if (o->secret_header) {
		call->secret_header = o->secret_header;
		call->secret_value = secret_copy(o->secret_value);
	}
	call->connect_ms = o->connect_ms;
	call->idle_ms = o->idle_ms;
	call->no_wait = o->no_wait;
	if (o->total_ms)
		call->timeout_ms = o->total_ms;
	kube_call_start(call);
	return call;
}

struct kube_call *kube_get_path(struct kube_client *c, const char *path, kube_done *done, void *arg)
{
	return kube_get_path_with(c, path, &(struct kube_path_options){0}, done, arg);
}

struct kube_call *kube_get_text(struct kube_client *c, const char *path, kube_done *done, void *arg)
{
	struct kube_call *call = kube_call_json(c, "GET", mem_strdup(path), NULL, done, arg);

	call->accept = "*/*";
	call->plain = true;
	kube_call_start(call);
	return call;
}

struct kube_call *kube_create(struct kube_client *c, const struct kube_resource *r, const char *ns,
			      const json_t *object, kube_done *done, void *arg)
{
	struct kube_call *call;
	struct err e;
	char *path = NULL;

	if (r->namespaced && !ns)
		err_note(&e, ERR_INVALID, 0, "%s: no namespace given", r->plural);
	else
		path = managed(kube_path(r, ns, NULL, NULL, &e));
	call = kube_call_json(c, "POST", path, &e, done, arg);
	kube_call_body(call, object, "application/json");
	call->tells = r == &KUBE_EVENTS;
	kube_call_start(call);
	return call;
}

struct kube_call *kube_request_token(struct kube_client *c, const char *ns, const char *account,
				     const json_t *request, kube_done *done, void *arg)
{
	static const struct kube_resource accounts = {"", "v1", "serviceaccounts", "ServiceAccount",
						      true};
	struct err e;
	char *path = managed(kube_path(&accounts, ns, str_or(account, ""), "token", &e));
	struct kube_call *call = kube_call_json(c, "POST", path, &e, done, arg);

	kube_call_body(call, request, "application/json");
	kube_call_start(call);
	return call;
}

static void drop_certificate(struct kube_config *c)
{
	c->client_cert_pem = NULL;
	c->client_key_pem = NULL;
}

struct kube_call *kube_review_token(struct kube_client *c, const struct secret *token,
				    kube_done *done, void *arg)
{
	static const struct kube_resource reviews = {
		"authentication.k8s.io", "v1", "selfsubjectreviews", "SelfSubjectReview", false};
	OWN_JSON review = json_pack("{s:s, s:s}", "apiVersion", "authentication.k8s.io/v1", "kind",
				    reviews.kind);
	struct kube_config bare = *c->config;
	struct kube_peer *own;
	struct kube_call *call;
	struct err e;

	/* mutant: token-with-certificate */
	drop_certificate(&bare);
	own = kube_peer_new(c, &bare, &e);
	call = kube_call_json(c, "POST", own ? kube_path(&reviews, NULL, NULL, NULL, &e) : NULL, &e,
			      done, arg);
	kube_call_body(call, review, "application/json");
	call->no_wait = true;
	call->bearer = secret_copy(token);
	call->peer = own;
	if (own)
		own->calls++;
	kube_call_start(call);
	return call;
}

struct kube_call *kube_patch(struct kube_client *c, const struct kube_resource *r, const char *ns,
			     const char *name, const char *subresource, enum kube_patch_type type,
			     const json_t *patch, kube_done *done, void *arg)
{
	static const char *const types[] = {
		[KUBE_PATCH_MERGE] = "application/merge-patch+json",
		[KUBE_PATCH_JSON] = "application/json-patch+json",
		[KUBE_PATCH_STRATEGIC] = "application/strategic-merge-patch+json",
	};
	struct err e;
	char *path = managed(kube_path(r, ns, str_or(name, ""), subresource, &e));
	struct kube_call *call = kube_call_json(c, "PATCH", path, &e, done, arg);

	kube_call_body(call, patch, types[type]);
	call->tells = r == &KUBE_EVENTS;
	kube_call_start(call);
	return call;
}

static void set_text(json_t *o, const char *name, const char *value)
{
	if (value)
		json_object_set_new(o, name, json_string(value));
}

static json_t *delete_options(const struct kube_delete_opts *o, const char *propagation)
{
	json_t *j = json_pack("{s:s, s:s}", "apiVersion", "v1", "kind", "DeleteOptions");

	set_text(j, "propagationPolicy", propagation);
	if (o->grace_s >= 0)
		json_object_set_new(j, "gracePeriodSeconds", json_integer(o->grace_s));
	if (o->uid || o->resource_version) {
		json_t *pre = json_object();

		set_text(pre, "uid", o->uid);
		set_text(pre, "resourceVersion", o->resource_version);
		json_object_set_new(j, "preconditions", pre);
	}
	return j;
}

struct kube_call *kube_delete(struct kube_client *c, const struct kube_resource *r, const char *ns,
			      const char *name, const struct kube_delete_opts *o, kube_done *done,
			      void *arg)
{
	static const struct kube_delete_opts defaults = {.grace_s = -1};
	struct err e;
	char *path = kube_path(r, ns, str_or(name, ""), NULL, &e);
	struct kube_call *call;
	OWN_JSON body = NULL;

	if (!o)
		o = &defaults;
	body = delete_options(o, str_or(o->propagation, "Background"));
	call = kube_call_json(c, "DELETE", path, &e, done, arg);
	kube_call_body(call, body, "application/json");
	call->prompt = true;
	kube_call_start(call);
	return call;
}

struct kube_call *kube_evict(struct kube_client *c, const char *ns, const char *pod,
			     const char *uid, int64_t grace_s, kube_done *done, void *arg)
{
	const struct kube_delete_opts o = {.uid = uid, .grace_s = grace_s};
	struct err e;
	char *path = kube_path(&KUBE_PODS, str_or(ns, ""), str_or(pod, ""), "eviction", &e);
	OWN_JSON body =
		json_pack("{s:s, s:s, s:{s:s, s:s}, s:o}", "apiVersion", "policy/v1", "kind",
			  "Eviction", "metadata", "name", str_or(pod, ""), "namespace",
			  str_or(ns, ""), "deleteOptions", delete_options(&o, NULL));
	struct kube_call *call = kube_call_json(c, "POST", path, &e, done, arg);

	kube_call_body(call, body, "application/json");
	call->no_wait = call->prompt = true;
	kube_call_start(call);
	return call;
}
