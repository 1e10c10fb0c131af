/*
 * checkpoint: asks the workloads on one Node to save their state (a checkpoint), by an annotation
 * on the pod or by a POST to the claim's URL, and reports which have not answered. drain/evict.c
 * evicts the pods afterwards.
 */
#include <stdlib.h>
#include <string.h>

#include "controller/drain/checkpoint.h"
#include "api/annotations.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/clock_jumps.h"
#include "controller/core/spans.h"
#include "controller/core/webhook.h"
#include "kube/call.h"

/* time limit of a pod whose checkpoint annotation is "true" or is not a positive duration */
#define POD_MS (5 * 60 * 1000)
#define POD_MAX_MS (24 * 3600 * 1000)
#define AGAIN_MS 5000
#define AGAIN_MAX_MS 30000
#define CALL_MS 10000
/* maximum number of pods listed in the POST, because a tenant can bind any number of pods to the
 * Node */
#define PODS_LISTED 1000

struct checkpoint {
	struct context *c;
	struct tenant *t;
	char *machine;
	void (*changed)(void *arg);
	void *arg;
	/* patch in flight; only one pod is patched at a time */
	struct kube_call *patch;
	/* loop_now() before which no patch is sent */
	int64_t patch_after;
	/* UIDs of pods for which a timeout was reported */
	struct map *told;
	struct webhook *webhook;
	/* loop_now() before which no POST is sent */
	int64_t post_after;
	bool url_done, url_told;
	/* text of the last CheckpointFailed event */
	char trouble[300];
	char who[300];
};

const struct tenant *checkpoint_tenant(const struct checkpoint *cp)
{
	return cp->t;
}

static void tell(struct checkpoint *cp, const char *reason, const char *text)
{
	struct context *c = cp->c;
	const struct machine *m = CTX_GET(c, OBJECT_MACHINE, machine, cp->machine);

	if (m)
		ctx_event(c, OBJECT_MACHINE, &m->meta, "Warning", reason, text);
	log_warn("checkpoint", LOG_S("machine", cp->machine), LOG_S("reason", reason),
		 LOG_S("text", text));
}

/* Returns the ms since the checkpoint began (wall ms began), without forward jumps of the wall
 * clock, so that a jump shortens no time limit. */
static int64_t running_for(const struct checkpoint *cp, int64_t began)
{
	return loop_wall(cp->c->loop) - clock_jumps_since(cp->c, began) - began;
}

/* Reports the error `text` about `whose`, unless the last reported error was the same. */
static void trouble(struct checkpoint *cp, const char *whose, const char *text)
{
	char now[sizeof(cp->trouble)];

	str_format(now, sizeof(now), "%.120s: %.170s", whose, text);
	str_clean(now);
	if (str_eq(now, cp->trouble))
		return;
	str_copy(cp->trouble, sizeof(cp->trouble), now);
	tell(cp, "CheckpointFailed", now);
}

/* --- pods ------------------------------------------------------------------------------------- */

static bool asks_for_it(const struct tenant_pod *p, const char *node)
{
	return p->checkpoint && p->checkpoint->wanted && p->running && !p->world.terminating &&
	       !p->world.daemon && str_eq(p->world.node, node);
}

static int64_t patience(const struct tenant_pod *p)
{
	int64_t ms;

	if (!str_to_duration(p->checkpoint->wanted, &ms) || ms <= 0)
		return POD_MS;
	return ms < POD_MAX_MS ? ms : POD_MAX_MS;
}

static void on_patched(json_t *o, const struct err *e, void *arg)
{
	struct checkpoint *cp = arg;

	(void)o;
	cp->patch = NULL;
	/* Delay the next patch by 1 s: by then the cache shows the pod's new state. After an error
	 * other than a conflict or a missing pod, delay it longer. */
	cp->patch_after = loop_now(cp->c->loop) + 1000;
	if (e && e->kind != ERR_CONFLICT && e->kind != ERR_NOT_FOUND) {
		trouble(cp, CHECKPOINT_REQUESTED, e->text);
		cp->patch_after += AGAIN_MS;
	}
	cp->changed(cp->arg);
}

/* Sets CHECKPOINT_REQUESTED on the pod. Removes CHECKPOINT_DONE, because an answer to an earlier
 * request does not count. The patch contains the resourceVersion, so that it fails if an answer has
 * just arrived. */
static void request(struct checkpoint *cp, const struct kube_entry *en, const char *when)
{
	OWN_JSON patch = json_pack("{s:{s:s, s:s, s:{s:s, s:n}}}", "metadata", "uid", en->uid,
				   "resourceVersion", en->rv, "annotations", CHECKPOINT_REQUESTED,
				   when, CHECKPOINT_DONE);

	if (cp->patch || loop_now(cp->c->loop) < cp->patch_after || !ctx_may_act(cp->c))
		return;
	cp->patch = kube_patch(cp->t->client, &KUBE_PODS, en->ns, en->name, NULL, KUBE_PATCH_MERGE,
			       patch, on_patched, cp);
	spans_call(cp->c, cp->patch, OBJECT_MACHINE, cp->machine);
}

struct checkpoint_wait {
	struct checkpoint *cp;
	const char *node, *when;
	int64_t running;
	/* first pod (by namespace and name) from which the drain waits for a checkpoint */
	const struct kube_entry *first;
};

static bool before(const struct kube_entry *a, const struct kube_entry *b)
{
	int order = strcmp(a->ns, b->ns);

	return order ? order < 0 : strcmp(a->name, b->name) < 0;
}

static bool look_at_pod(const struct kube_entry *en, void *arg)
{
	const struct tenant_pod *p = en->object;
	struct checkpoint_wait *k = arg;
	char text[300];

	if (!asks_for_it(p, k->node))
		return true;
	if (str_eq(p->checkpoint->requested, k->when) && p->checkpoint->done)
		return true;
	if (k->running >= patience(p)) {
		if (!map_has(k->cp->told, p->world.uid)) {
			map_put(k->cp->told, p->world.uid, k->cp);
			str_format(text, sizeof(text),
				   "pod %.60s/%.100s did not report its checkpoint as done in time",
				   en->ns, en->name);
			tell(k->cp, "CheckpointTimedOut", text);
		}
		return true;
	}
	if (!str_eq(p->checkpoint->requested, k->when))
		request(k->cp, en, k->when);
	if (!k->first || before(en, k->first))
		k->first = en;
	return true;
}

/* --- POST to the claim's checkpoint URL ------------------------------------------------------- */

static void on_posted(const struct http_reply *r, const struct err *e, void *arg)
{
	struct checkpoint *cp = arg;
	struct err bad;
	OWN_JSON answer = NULL;
	int64_t delay = AGAIN_MS;
	char text[120];

	if (r && r->retry_after_ms > delay)
		delay = r->retry_after_ms < AGAIN_MAX_MS ? r->retry_after_ms : AGAIN_MAX_MS;
	cp->post_after = loop_now(cp->c->loop) + delay;
	cp->changed(cp->arg);
	if (!r) {
		trouble(cp, "spec.checkpoint.url", e->text);
		return;
	}
	answer = r->status == 200 ? json_parse(r->body, r->body_len, &bad) : NULL;
	if (json_true_at(answer, "done")) {
		cp->url_done = true;
	} else if (r->status != 202 && !json_is_object(answer)) {
		str_format(text, sizeof(text), "HTTP %d%s", r->status,
			   r->status == 200 ? ", but the body is not a JSON object" : "");
		trouble(cp, "spec.checkpoint.url", text);
	}
}

struct list_pods {
	const char *node;
	json_t *list;
	json_int_t n;
};

static bool list_pod(const struct kube_entry *en, void *arg)
{
	const struct tenant_pod *p = en->object;
	struct list_pods *lp = arg;

	if (str_eq(p->world.node, lp->node) && !p->world.daemon && lp->n++ < PODS_LISTED)
		json_array_append_new(lp->list, json_pack("{s:s, s:s, s:s}", "namespace", en->ns,
							  "name", en->name, "uid", p->world.uid));
	return true;
}

static char *body_of(const struct checkpoint *cp, const struct node_claim *n,
		     const struct leave *lv)
{
	struct list_pods lp = {n->meta.name, json_array(), 0};
	char when[STR_TIME_SIZE];
	OWN_JSON o = NULL;

	kube_cache_each(cp->t->pods, list_pod, &lp);
	o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s*, s:I, s:o}", "apiVersion",
		      OBJECT_API_VERSION, "machine", cp->machine, "node", n->meta.name, "nodeClaim",
		      n->meta.name, "virtualCluster", cp->t->name, "reason", lv->reason, "deadline",
		      lv->deadline ? str_time(when, lv->deadline) : NULL, "podsLeft", lp.n, "pods",
		      lp.list);
	return json_text(o);
}

static void post(struct checkpoint *cp, const struct node_claim *n, const struct leave *lv)
{
	const struct object_checkpoint *to = n->spec.checkpoint;
	const char *member;
	char whose[40];
	struct err e;
	char *body;

	if (webhook_busy(cp->webhook) || loop_now(cp->c->loop) < cp->post_after)
		return;
	body = body_of(cp, n, lv);
	switch (webhook_post(cp->webhook,
			     &(struct webhook_call){.url = to->url,
						    .ca = to->ca_secret_ref,
						    .body = body,
						    .timeout_ms = CALL_MS},
			     &member, &e)) {
	case WEBHOOK_SENT:
	case WEBHOOK_NOT_YET:
		break;
	case WEBHOOK_NOT_SENT:
		str_format(whose, sizeof(whose), "spec.checkpoint.%s", member);
		trouble(cp, whose, e.text);
		cp->post_after = loop_now(cp->c->loop) + AGAIN_MS;
		break;
	}
	free(body);
}

/* Sends the POST to the claim's checkpoint URL if it is due. Returns true if the drain waits for
 * the answer of the URL; false if the claim has no URL, the URL has reported the checkpoint as
 * done, or its time is over. */
static bool look_at_url(struct checkpoint *cp, const struct node_claim *n, const struct leave *lv,
			int64_t began)
{
	const struct object_checkpoint *want = n->spec.checkpoint;

	if (!want || cp->url_done)
		return false;
	if (running_for(cp, began) >= want->timeout) {
		if (!cp->url_told)
			tell(cp, "CheckpointTimedOut",
			     "spec.checkpoint.url did not report the checkpoint as done in time");
		cp->url_told = true;
		return false;
	}
	post(cp, n, lv);
	return true;
}

/* --- one checkpoint --------------------------------------------------------------------------- */

struct checkpoint *checkpoint_new(const struct leave_of *s)
{
	struct checkpoint *cp = mem_new(struct checkpoint);

	cp->c = s->c;
	cp->t = s->t;
	cp->machine = mem_strdup(s->machine);
	cp->changed = s->changed;
	cp->arg = s->arg;
	cp->told = map_new(NULL);
	cp->webhook = webhook_new(cp->c, on_posted, cp);
	return cp;
}

void checkpoint_free(struct checkpoint *cp)
{
	if (!cp)
		return;
	kube_call_cancel(cp->patch);
	webhook_free(cp->webhook);
	map_free(cp->told);
	free(cp->machine);
	free(cp);
}

/* --- pods and URL ----------------------------------------------------------------------------- */

struct any {
	const char *node;
	bool found, counts;
};

static bool is_any(const struct kube_entry *en, void *arg)
{
	const struct tenant_pod *p = en->object;
	struct any *any = arg;

	any->found |= asks_for_it(p, any->node);
	any->counts |= str_eq(p->world.node, any->node) && !p->world.daemon;
	return !any->found;
}

bool checkpoint_needed(struct tenant *t, const struct node_claim *n)
{
	struct any any = {.node = n->meta.name};

	kube_cache_each(t->pods, is_any, &any);
	return any.found || (any.counts && n->spec.checkpoint);
}

const char *checkpoint_look(struct checkpoint *cp, const struct node_claim *n,
			    const struct leave *lv, int64_t began)
{
	char when[STR_TIME_SIZE];
	struct checkpoint_wait k = {.cp = cp,
				    .node = n->meta.name,
				    .when = str_time(when, began),
				    .running = running_for(cp, began)};
	OWN(arena) a = arena_new();
	bool url;

	kube_cache_each(cp->t->pods, look_at_pod, &k);
	url = look_at_url(cp, n, lv, began);
	if (k.first) {
		str_format(cp->who, sizeof(cp->who), "checkpoint %.60s/%.200s", k.first->ns,
			   k.first->name);
	} else if (url) {
		str_format(cp->who, sizeof(cp->who), "checkpoint %.250s",
			   webhook_shown(n->spec.checkpoint->url, a));
	}
	return k.first || url ? cp->who : NULL;
}

struct unsaved {
	const char *node, *when;
	bool found;
};

static bool is_unsaved(const struct kube_entry *en, void *arg)
{
	const struct tenant_pod *p = en->object;
	const struct pod_checkpoint *k = p->checkpoint;
	struct unsaved *u = arg;

	if (p->running && !p->world.terminating && !p->world.daemon &&
	    str_eq(p->world.node, u->node))
		u->found |= !k || !k->done || !str_eq(k->requested, u->when);
	return !u->found;
}

bool checkpoint_saved(struct tenant *t, const struct node_claim *n, int64_t began)
{
	char when[STR_TIME_SIZE];
	struct unsaved u = {.node = n->meta.name, .when = str_time(when, began)};

	kube_cache_each(t->pods, is_unsaved, &u);
	return /* mutant: home-unsaved */ !u.found;
}
