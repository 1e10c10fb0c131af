#include <stdio.h>
#include <string.h>

#include "controller/tenant/budget.h"
#include "api/annotations.h"
#include "base/data/json.h"
#include "base/log.h"
#include "base/str.h"
#include "controller/tenant/tenant.h"
#include "controller/tenant/volumes.h"

#define EVENTS_MAX 50 /* maximum number of events per tenant that report unread pods */
#define LOG_BURST 60
#define LOG_PER_S 0.2
/* Half of the requests per second that drover sends to a tenant's API server (kube/client.h) */
#define EVENTS_PER_S 10
#define EVENTS_BURST 200

void tenant_budget_init(struct tenant *t)
{
	bucket_init(&t->budget.log, LOG_PER_S, LOG_BURST, loop_now(t->c->loop));
	bucket_init(&t->budget.events, EVENTS_PER_S, EVENTS_BURST, loop_now(t->c->loop));
}

void tenant_budget_reset(struct tenant *t)
{
	t->budget.large = 0;
	t->budget.pods_out = t->budget.nodes_out = t->budget.plan_out = false;
	t->budget.told = 0;
}

/* --- pods ------------------------------------------------------------------------------------- */

static void set_example(struct tenant *t, const char *ns, const char *name)
{
	(void)str_format(t->budget.example, sizeof(t->budget.example), "%s/%s", ns, name);
	str_clean(t->budget.example);
}

static bool is_large(const struct kube_entry *en)
{
	return en && ((const struct tenant_pod *)en->object)->large;
}

bool tenant_budget_pod(struct tenant *t, const struct kube_entry *old,
		       const struct kube_entry *new_)
{
	size_t before = t->budget.large;

	t->budget.large -= is_large(old);
	t->budget.large += is_large(new_);
	if (is_large(new_) && !is_large(old))
		set_example(t, new_->ns, new_->name);
	return !before != !t->budget.large;
}

static void tell(struct tenant *t, const json_t *pod)
{
	const json_t *meta = json_object_get(pod, "metadata");
	const struct kube_ref ref = {.api_version = "v1",
				     .kind = "Pod",
				     .ns = json_str_at(meta, "namespace"),
				     .name = json_str_at(meta, "name"),
				     .uid = json_str_at(meta, "uid")};
	char note[128];

	if (t->budget.told >= EVENTS_MAX || !t->events)
		return;
	t->budget.told++;
	(void)str_format(note, sizeof(note),
			 "not read: drover reads at most %d pods, or %zu MiB of pods, of a cluster",
			 TENANT_PODS, TENANT_PODS_BYTES >> 20);
	kube_event(t->events, &ref, "Warning", "OverBudget", "Provision", note);
}

bool tenant_budget_pods_over(struct tenant *t, const json_t *pod)
{
	bool was = t->budget.pods_out;

	t->budget.pods_out = pod != NULL;
	if (pod) {
		set_example(t, str_or(json_str_at(pod, "metadata", "namespace"), ""),
			    str_or(json_str_at(pod, "metadata", "name"), ""));
		tell(t, pod);
	} else {
		t->budget.told = 0;
	}
	return was != t->budget.pods_out;
}

bool tenant_budget_plan(struct tenant *t, bool over)
{
	bool was = t->budget.plan_out;

	t->budget.plan_out = over;
	return was != over;
}

/* --- log -------------------------------------------------------------------------------------- */

bool tenant_may_log(struct tenant *t)
{
	if (bucket_take(&t->budget.log, loop_now(t->c->loop)) > 0) {
		t->budget.log_left_out++;
		return false;
	}
	if (t->budget.log_left_out)
		log_warn("log messages about a tenant were suppressed", LOG_S("tenant", t->name),
			 LOG_I("lines", t->budget.log_left_out));
	t->budget.log_left_out = 0;
	return true;
}

/* --- events ----------------------------------------------------------------------------------- */

bool tenant_may_event(struct tenant *t)
{
	return !bucket_take(&t->budget.events, loop_now(t->c->loop));
}

/* --- status ----------------------------------------------------------------------------------- */

static const char *excess(const struct tenant *t, struct arena *a, const char **reason)
{
	const struct tenant_budget *b = &t->budget;

	if (b->nodes_out) {
		*reason = "NodesOverBudget";
		return arena_printf(
			a, "drover reads at most %d Nodes, %zu KiB each and %zu MiB in total",
			TENANT_NODES, TENANT_NODE_BYTES >> 10, TENANT_NODES_BYTES >> 20);
	}
	if (b->pods_out) {
		*reason = "PodsOverBudget";
		return arena_printf(
			a,
			"drover reads at most %d pods, %zu MiB in total; not read, for example: %s",
			TENANT_PODS, TENANT_PODS_BYTES >> 20, b->example);
	}
	if (volumes_over(t->volumes)) {
		*reason = "VolumesOverBudget";
		return arena_printf(a, "drover reads at most %d %s, %zu MiB in total",
				    TENANT_VOLUMES, volumes_over(t->volumes),
				    TENANT_VOLUMES_BYTES >> 20);
	}
	if (b->large) {
		*reason = "PodTooLarge";
		return arena_printf(
			a,
			"pods with more than %zu KiB of labels, tolerations and constraints get no "
			"machine; for example: %s",
			TENANT_POD_BYTES >> 10, b->example);
	}
	if (b->plan_out) {
		*reason = "PlanOverBudget";
		return "placing all its pods takes more planning work than a tenant may use: pods "
		       "that were not placed get an event; use fewer different constraints";
	}
	return NULL;
}

bool tenant_budget_status(const struct tenant *t, const struct virtual_cluster *vc, struct arena *a,
			  struct conditions *cs)
{
	const char *reason = "Ok", *text = excess(t, a, &reason);
	struct condition want = {.type = TENANT_BUDGET_CONDITION,
				 .status = text ? CONDITION_FALSE : CONDITION_TRUE,
				 .reason = reason,
				 .message = str_or(text, ""),
				 .observed_generation = vc->meta.generation};

	if (!text && !condition_get(cs, TENANT_BUDGET_CONDITION))
		return false;
	return condition_set(cs, a, &want, loop_wall(t->c->loop));
}
