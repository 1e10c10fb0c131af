#include "controller/tenant/request_writer.h"

#include "base/log.h"
#include "base/str.h"
#include "controller/tenant/tenant.h"

#define AGAIN_MS 5000
#define DENIED_MS 60000

const struct kube_resource request_resource = {"autoscaling.x-k8s.io", "v1", "provisioningrequests",
					       "ProvisioningRequest", true};

void request_writer_init(struct request_writer *w, struct tenant *t, struct kube_cache *cache)
{
	*w = (struct request_writer){.t = t, .cache = cache};
}

void request_writer_stop(struct request_writer *w)
{
	kube_call_cancel(w->call);
	w->call = NULL;
}

static void on_written(json_t *o, const struct err *e, void *arg)
{
	struct request_writer *w = arg;
	const bool denied = e && e->kind == ERR_DENIED;

	w->call = NULL;
	if (denied && !w->denied && tenant_may_log(w->t))
		log_warn("drover may not write ProvisioningRequests", LOG_S("tenant", w->t->name),
			 LOG_E(e));
	w->denied = denied;
	if (e)
		w->not_before = loop_now(w->t->c->loop) + (denied ? DENIED_MS : AGAIN_MS);
	else
		kube_cache_learn(w->cache, o);
}

/* Returns the conditions as a JSON list of metav1.Condition, which requires all members except
 * observedGeneration. */
static json_t *list_of(const struct conditions *cs)
{
	json_t *list = json_array();
	char at[STR_TIME_SIZE];

	for (size_t i = 0; i < cs->n; i++) {
		const struct condition *c = &cs->v[i];

		json_array_append_new(
			list, json_pack("{s:s,s:s,s:s,s:s,s:s,s:I}", "type", c->type, "status",
					condition_status_names[c->status], "reason",
					str_or(c->reason, ""), "message", str_or(c->message, ""),
					"lastTransitionTime", str_time(at, c->last_transition_time),
					"observedGeneration", (json_int_t)c->observed_generation));
	}
	return list;
}

void request_writer_look(struct request_writer *w, const struct kube_entry *en,
			 const struct request_result *said)
{
	OWN(arena) a = arena_new();
	struct conditions cs;

	if (w->call || !w->t->client || loop_now(w->t->c->loop) < w->not_before ||
	    !request_conditions(en->object, said, loop_wall(w->t->c->loop), a, &cs))
		return;

	OWN_JSON patch = json_pack("{s:{s:s},s:{s:o}}", "metadata", "resourceVersion", en->rv,
				   "status", "conditions", list_of(&cs));

	w->call = kube_patch(w->t->client, &request_resource, en->ns, en->name, "status",
			     KUBE_PATCH_MERGE, patch, on_written, w);
}
