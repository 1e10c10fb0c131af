#include "controller/core/leader_service.h"

#include <stdlib.h>
#include <string.h>

#include "api/annotations.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/retry.h"
#include "base/str.h"

/*
 *   lead --> GET --wanted--> wait LEADER_SERVICE_MS --> GET ...
 *             |--other content--> PATCH ----------.
 *             |--other family---> DELETE --> POST-+--> wait
 *             '--404------------> POST -----------'
 *
 * Any error: wait, then GET again.
 */
/* delay in ms before the next try after a conflict, or after an error that may pass soon */
#define AGAIN_MS 1000
/* longest time in ms for which leader_service_stop() delays the release of the Lease */
#define STOP_MS 2000

struct leader_service {
	struct context *c;
	char *service, *slice;
	/* the slice that the leader writes */
	json_t *wanted;
	/* resourceVersion of the slice when this replica last wrote it or found the wanted content;
	 * NULL: neither has happened yet */
	char *version;
	/* error that was reported last; NULL: none since the last success */
	char *reported;
	struct kube_call *call;
	/* next: the next check; limit: end of leader_service_stop() */
	struct loop_timer next, limit;
	bool stopping;
	void (*done)(void *arg);
	void *done_arg;
};

static void set(char **p, const char *text)
{
	char *copy = mem_strdup(text);

	free(*p);
	*p = copy;
}

static bool leads(const struct leader_service *s)
{
	return !s->stopping && s->c->leading &&
	       (!s->c->lease || /* NULL in unit tests */
		/* mutant: slice-of-a-former-leader */ kube_lease_held(s->c->lease));
}

static int still_leads(void *arg, struct err *e)
{
	return leads(arg) ? 0
			  : err_set(e, ERR_UNAVAILABLE, 0, "this replica is no longer the leader");
}

/* --- the slice -------------------------------------------------------------------------------- */

static json_t *slice_json(const struct leader_service *s, const struct leader_service_spec *p)
{
	json_t *endpoint =
		json_pack("{s:[s], s:{s:b, s:b, s:b}, s:s, s:{s:s, s:s, s:s}}", "addresses",
			  p->pod_ip, "conditions", "ready", true, "serving", true, "terminating",
			  false, "nodeName", p->node_name, "targetRef", "kind", "Pod", "namespace",
			  s->c->o.ns, "name", s->c->o.identity);

	return json_pack("{s:s, s:s, s:{s:s, s:s, s:{s:s, s:s}}, s:s, s:[o], s:[{s:s, s:s, s:i}, "
			 "{s:s, s:s, s:i}]}",
			 "apiVersion", "discovery.k8s.io/v1", "kind", "EndpointSlice", "metadata",
			 "name", s->slice, "namespace", s->c->o.ns, "labels",
			 LEADER_SLICE_SERVICE_LABEL, s->service, LEADER_SLICE_WRITER_LABEL,
			 LEADER_SLICE_WRITER, "addressType",
			 strchr(p->pod_ip, ':') ? "IPv6" : "IPv4", "endpoints", endpoint, "ports",
			 "name", "agent", "protocol", "TCP", "port", (int)p->agent_port, "name",
			 "media", "protocol", "TCP", "port", (int)p->media_port);
}

static bool same_member(const struct leader_service *s, const json_t *o, const char *key)
{
	return json_equal(json_object_get(o, key), json_object_get(s->wanted, key));
}

static bool same_label(const struct leader_service *s, const json_t *o, const char *key)
{
	return str_eq(json_str_at(o, "metadata", "labels", key),
		      json_str_at(s->wanted, "metadata", "labels", key));
}

/* True if the slice needs no write: it has the wanted content, or the version that this replica
 * last wrote. The version counts although the content differs, because an admission webhook may add
 * members to each write. */
static bool is_wanted(const struct leader_service *s, const json_t *o)
{
	return str_eq(json_str_at(o, "metadata", "resourceVersion"), s->version) ||
	       (same_member(s, o, "endpoints") && same_member(s, o, "ports") &&
		same_label(s, o, LEADER_SLICE_SERVICE_LABEL) &&
		same_label(s, o, LEADER_SLICE_WRITER_LABEL));
}

/* --- results ---------------------------------------------------------------------------------- */

static void wait_ms(struct leader_service *s, int64_t ms)
{
	loop_timer_start(&s->next, ms);
}

/* The slice o is correct: waits until the next check. */
static void keep(struct leader_service *s, const json_t *o)
{
	set(&s->version, json_str_at(o, "metadata", "resourceVersion"));
	set(&s->reported, NULL);
	wait_ms(s, LEADER_SERVICE_MS);
}

static void report(struct leader_service *s, const char *verb, const struct err *e)
{
	struct kube_ref service = {
		.api_version = "v1", .kind = "Service", .ns = s->c->o.ns, .name = s->service};
	char *note, *hint = NULL;

	if (e->kind == ERR_DENIED)
		hint = mem_printf("drover needs the right to %s endpointslices in group "
				  "discovery.k8s.io (deploy/rbac.yaml; on OpenShift see "
				  "docs/install.md): ",
				  verb);
	note = mem_printf("cannot %s EndpointSlice %s, by which machines reach the leader: %s%s",
			  verb, s->slice, str_or(hint, ""), e->text);
	if (!str_eq(note, s->reported)) {
		log_warn("the Service may not lead to the leader", LOG_S("service", s->service),
			 LOG_S("message", note));
		if (!err_is_transient(e))
			kube_event(s->c->events, &service, "Warning", "LeaderNotPublished",
				   "Publish", note);
	}
	free(s->reported);
	s->reported = note;
	free(hint);
}

/* Ends a try with an error. A conflict is not reported: another writer changed the slice between
 * this replica's read and its write, and the next try reads it again. */
static void failed(struct leader_service *s, const char *verb, const struct err *e)
{
	bool soon = e->kind == ERR_CONFLICT || err_is_transient(e);

	if (!leads(s))
		return;
	if (e->kind != ERR_CONFLICT)
		report(s, verb, e);
	wait_ms(s, soon ? AGAIN_MS : LEADER_SERVICE_MS);
}

static void wrote(struct leader_service *s, const char *verb, const json_t *o, const struct err *e)
{
	s->call = NULL;
	if (e) {
		failed(s, verb, e);
		return;
	}
	log_info("the leader's Service leads to this replica", LOG_S("service", s->service),
		 LOG_S("slice", s->slice));
	keep(s, o);
}

static void on_created(json_t *o, const struct err *e, void *arg)
{
	wrote(arg, "create", o, e);
}

static void on_patched(json_t *o, const struct err *e, void *arg)
{
	wrote(arg, "patch", o, e);
}

/* --- calls ------------------------------------------------------------------------------------ */

static void create(struct leader_service *s)
{
	s->call =
		kube_create(s->c->host, &KUBE_ENDPOINTSLICES, s->c->o.ns, s->wanted, on_created, s);
	kube_call_check(s->call, still_leads, s);
}

static void on_deleted(json_t *o, const struct err *e, void *arg)
{
	struct leader_service *s = arg;

	(void)o;
	s->call = NULL;
	if (e && e->kind != ERR_NOT_FOUND)
		failed(s, "delete", e);
	else if (leads(s))
		create(s);
}

static void delete (struct leader_service *s, const json_t *o)
{
	struct kube_delete_opts opts = {.uid = json_str_at(o, "metadata", "uid"),
					.resource_version =
						json_str_at(o, "metadata", "resourceVersion"),
					.grace_s = -1};

	s->call = kube_delete(s->c->host, &KUBE_ENDPOINTSLICES, s->c->o.ns, s->slice, &opts,
			      on_deleted, s);
	kube_call_check(s->call, still_leads, s);
}

static void patch(struct leader_service *s, const json_t *o)
{
	OWN_JSON body = json_pack("{s:{s:s*, s:O}, s:O, s:O}", "metadata", "resourceVersion",
				  json_str_at(o, "metadata", "resourceVersion"), "labels",
				  json_at(s->wanted, "metadata", "labels"), "endpoints",
				  json_object_get(s->wanted, "endpoints"), "ports",
				  json_object_get(s->wanted, "ports"));

	s->call = kube_patch(s->c->host, &KUBE_ENDPOINTSLICES, s->c->o.ns, s->slice, NULL,
			     KUBE_PATCH_MERGE, body, on_patched, s);
	kube_call_check(s->call, still_leads, s);
}

static void on_read(json_t *o, const struct err *e, void *arg)
{
	struct leader_service *s = arg;

	s->call = NULL;
	if (!leads(s))
		return;
	if (e && e->kind == ERR_NOT_FOUND)
		create(s);
	else if (e)
		failed(s, "get", e);
	else if (!same_member(s, o, "addressType"))
		delete (s, o);
	else if (is_wanted(s, o))
		keep(s, o);
	else
		patch(s, o);
}

static void on_next(void *arg)
{
	struct leader_service *s = arg;

	if (s->call || !leads(s))
		return;
	s->call = kube_get(s->c->host, &KUBE_ENDPOINTSLICES, s->c->o.ns, s->slice, on_read, s);
}

void leader_service_lead(struct leader_service *s)
{
	if (!s || s->stopping)
		return;
	/* Drop a call of an earlier term: its reply may be older than another leader's write. */
	kube_call_cancel(s->call);
	s->call = NULL;
	wait_ms(s, 0);
}

/* --- stop ------------------------------------------------------------------------------------- */

static void stopped(void *arg)
{
	struct leader_service *s = arg;
	void (*done)(void *arg) = s->done;

	loop_timer_stop(&s->limit);
	kube_call_cancel(s->call);
	s->call = NULL;
	s->done = NULL;
	if (done)
		done(s->done_arg);
}

static void on_marked(json_t *o, const struct err *e, void *arg)
{
	struct leader_service *s = arg;

	(void)o;
	s->call = NULL;
	if (e && e->kind != ERR_CONFLICT && e->kind != ERR_NOT_FOUND)
		log_warn("the endpoint of this replica stays ready", LOG_S("slice", s->slice),
			 LOG_E(e));
	stopped(s);
}

static json_t *not_ready(const struct leader_service *s)
{
	json_t *all = json_deep_copy(json_object_get(s->wanted, "endpoints")),
	       *conditions = json_object_get(json_array_get(all, 0), "conditions");

	json_object_set_new(conditions, "ready", json_false());
	json_object_set_new(conditions, "serving", json_false());
	json_object_set_new(conditions, "terminating", json_true());
	return all;
}

void leader_service_stop(struct leader_service *s, void (*done)(void *arg), void *arg)
{
	OWN_JSON body = NULL;
	bool own = s && leads(s) && s->version;

	if (s) {
		s->stopping = true;
		loop_timer_stop(&s->next);
		kube_call_cancel(s->call);
		s->call = NULL;
	}
	if (!own) {
		done(arg);
		return;
	}
	s->done = done;
	s->done_arg = arg;
	body = json_pack("{s:{s:s}, s:o}", "metadata", "resourceVersion", s->version, "endpoints",
			 not_ready(s));
	s->call = kube_patch(s->c->host, &KUBE_ENDPOINTSLICES, s->c->o.ns, s->slice, NULL,
			     KUBE_PATCH_MERGE, body, on_marked, s);
	loop_timer_start(&s->limit, STOP_MS);
}

/* --- life cycle ------------------------------------------------------------------------------- */

struct leader_service *leader_service_new(struct context *c, const struct leader_service_spec *p)
{
	struct leader_service *s = mem_new(struct leader_service);

	s->c = c;
	s->service = mem_strdup(p->service);
	s->slice = mem_printf("%s" LEADER_SLICE_SUFFIX, p->service);
	s->wanted = slice_json(s, p);
	loop_timer_init(&s->next, c->group, on_next, s);
	loop_timer_init(&s->limit, c->group, stopped, s);
	wait_ms(s, 0);
	return s;
}

void leader_service_free(struct leader_service *s)
{
	if (!s)
		return;
	kube_call_cancel(s->call);
	loop_timer_stop(&s->next);
	loop_timer_stop(&s->limit);
	json_decref(s->wanted);
	free(s->service);
	free(s->slice);
	free(s->version);
	free(s->reported);
	free(s);
}
