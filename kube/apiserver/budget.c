#include <stdlib.h>
#include <string.h>
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/apiserver/server.h"

/*
 * The disruption controller of kube-controller-manager: updates the status of PodDisruptionBudgets
 * shortly after their pods change. A pod is healthy if it is Ready and not being deleted. For a
 * percentage or maxUnavailable, the expected number of pods is the sum of the replicas in the pods'
 * controllers; a pod without a controller counts as one.
 * Tests: tests/unit/kube/apiserver/test_collect.c
 */
#define MOMENT_MS 100
#define PODS "pods/"
#define BUDGETS "poddisruptionbudgets.policy/"

struct budgets {
	struct apiserver *a;
	struct observer observer;
	/* Namespaces in which the pods of each PodDisruptionBudget must be counted again; the
	 * values are unused. */
	struct map *stale;
	struct loop_timer timer;
};

/* --- counting --------------------------------------------------------------------------------- */

struct count {
	struct apiserver *a;
	struct arena *arena;
	const json_t *selector;
	/* UIDs of controllers whose replicas are already counted. */
	struct map *controllers;
	json_int_t pods, healthy, wished;
};

bool pod_is_ready(const json_t *pod)
{
	size_t i;
	json_t *v;

	json_array_foreach (json_at(pod, "status", "conditions"), i, v)
		if (str_eq(json_str_at(v, "type"), "Ready"))
			return str_eq(json_str_at(v, "status"), "True");
	return false;
}

static const json_t *controller_of(const json_t *obj)
{
	size_t i;
	json_t *ref;

	json_array_foreach (json_at(obj, "metadata", "ownerReferences"), i, ref)
		if (json_true_at(ref, "controller"))
			return ref;
	return NULL;
}

static json_t *read_controller(struct count *c, const json_t *ref, const char *ns)
{
	static const struct {
		const char *kind, *key;
	} kinds[] = {
		{"ReplicaSet", "replicasets.apps"},
		{"Deployment", "deployments.apps"},
		{"StatefulSet", "statefulsets.apps"},
	};
	struct store_entry entry;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (str_eq(json_str_at(ref, "kind"), kinds[i].kind) && json_str_at(ref, "name"))
			return object_read(c->a,
					   arena_printf(c->arena, "%s/%s/%s", kinds[i].key, ns,
							json_str_at(ref, "name")),
					   &entry);
	return NULL;
}

/* Adds the replicas of the pod's controller to c->wished, once for each controller. For a
 * ReplicaSet that belongs to a Deployment, the Deployment is counted. */
static void add_wish(struct count *c, const json_t *pod)
{
	const char *ns = json_str_at(pod, "metadata", "namespace");
	const json_t *ref = controller_of(pod);
	OWN_JSON controller = ref ? read_controller(c, ref, ns) : NULL;
	const json_t *above = controller ? controller_of(controller) : NULL;
	OWN_JSON top = above ? read_controller(c, above, ns) : NULL;
	const json_t *wish = json_at(top ? top : controller, "spec", "replicas");
	const char *uid = str_or(json_str_at(top ? top : controller, "metadata", "uid"), "");

	if (!json_is_integer(wish)) {
		c->wished++;
	} else if (!map_has(c->controllers, uid)) {
		map_put(c->controllers, uid, c);
		c->wished += json_integer_value(wish);
	}
}

static bool count_pod(const struct store_entry *e, void *arg)
{
	struct count *c = arg;
	struct err err;
	OWN_JSON pod = json_parse(e->value, e->value_len, &err);

	if (!pod || !selector_object_matches(c->selector, json_at(pod, "metadata", "labels")))
		return true;
	c->pods++;
	c->healthy += pod_is_ready(pod) && !object_is_going(pod);
	add_wish(c, pod);
	return true;
}

/* --- a status --------------------------------------------------------------------------------- */

/* Returns the number in v. If v is a percentage, returns that share of `all`, rounded up. */
static json_int_t scaled(const json_t *v, json_int_t all)
{
	const char *text = json_string_value(v);
	int64_t percent;
	char digits[8];

	if (!text)
		return json_integer_value(v);
	if (!str_ends(text, "%") ||
	    !str_format(digits, sizeof(digits), "%.*s", (int)strlen(text) - 1, text) ||
	    !str_to_i64(digits, 0, 1000, &percent))
		return 0;
	return (all * percent + 99) / 100;
}

static json_t *condition_of(const json_t *old, bool allowed, json_int_t generation, const char *now)
{
	const char *status = allowed ? "True" : "False";
	const char *since = now;
	size_t i;
	json_t *v;

	json_array_foreach (json_at(old, "conditions"), i, v)
		if (str_eq(json_str_at(v, "type"), "DisruptionAllowed") &&
		    str_eq(json_str_at(v, "status"), status))
			since = str_or(json_str_at(v, "lastTransitionTime"), now);
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:I}", "type", "DisruptionAllowed", "status",
			 status, "reason", allowed ? "SufficientPods" : "InsufficientPods",
			 "message", "", "lastTransitionTime", since, "observedGeneration",
			 generation);
}

static json_t *status_of(struct apiserver *a, struct arena *m, const json_t *pdb)
{
	const json_t *min = json_at(pdb, "spec", "minAvailable");
	const json_t *max = json_at(pdb, "spec", "maxUnavailable");
	json_int_t generation = json_int_at(pdb, "metadata", "generation"), want, allowed;
	OWN(map) controllers = map_new(NULL);
	struct count c = {.a = a,
			  .arena = m,
			  .selector = json_at(pdb, "spec", "selector"),
			  .controllers = controllers};
	char now[STR_TIME_SIZE];

	store_list(a->store, arena_printf(m, PODS "%s/", json_str_at(pdb, "metadata", "namespace")),
		   NULL, 0, count_pod, &c);
	if (json_is_integer(min))
		c.wished = c.pods;
	want = max ? c.wished - scaled(max, c.wished) : scaled(min, c.wished);
	want = want < 0 ? 0 : want;
	allowed = c.wished > 0 && c.healthy > want ? c.healthy - want : 0;
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:[o]}", "disruptionsAllowed", allowed,
			 "currentHealthy", c.healthy, "desiredHealthy", want, "expectedPods",
			 c.wished, "observedGeneration", generation, "conditions",
			 condition_of(json_at(pdb, "status"), allowed > 0, generation,
				      str_time(now, loop_wall(a->loop))));
}

/* --- when to count ---------------------------------------------------------------------------- */

void budgets_update(struct apiserver *a, const char *ns)
{
	struct request rq = {.a = a, .arena = arena_new()};
	const char **keys = object_keys(a, arena_printf(rq.arena, BUDGETS "%s/", ns), rq.arena);
	struct store_entry entry;

	rq.r = resource_find(a, "policy", "v1", "poddisruptionbudgets");
	for (const char **key = keys; *key; key++) {
		OWN_JSON pdb = object_read(a, *key, &entry);
		OWN_JSON status = pdb ? status_of(a, rq.arena, pdb) : NULL;

		if (!pdb || json_equal(status, json_at(pdb, "status")))
			continue;
		json_object_set(pdb, "status", status);
		object_set_rev(a, pdb);
		write_object(&rq, rq.r, *key, pdb, -1, NULL);
	}
	arena_free(rq.arena);
}

static void on_written(struct observer *o, const struct written *w)
{
	struct budgets *b = container_of(o, struct budgets, observer);
	const char *key = w->key, *ns = strchr(key, '/');
	char name[256];

	if (!(str_starts(key, PODS) || str_starts(key, BUDGETS) ||
	      str_starts(key, "replicasets.apps/") || str_starts(key, "deployments.apps/") ||
	      str_starts(key, "statefulsets.apps/")))
		return;
	if (!str_format(name, sizeof(name), "%.*s", (int)strcspn(ns + 1, "/"), ns + 1))
		return;
	map_put(b->stale, name, b);
	if (!loop_timer_active(&b->timer))
		loop_timer_start(&b->timer, MOMENT_MS);
}

static void on_moment(void *arg)
{
	struct budgets *b = arg;
	struct map *stale = b->stale;
	struct map_iter it;

	/* Writing a budget's status is a write too and marks the namespace as stale again: start a
	 * new map before the loop that writes. */
	b->stale = map_new(NULL);
	map_for_each (it, stale)
		budgets_update(b->a, it.key);
	map_free(stale);
}

void budgets_start(struct apiserver *a)
{
	struct budgets *b = mem_new(struct budgets);

	b->a = a;
	b->stale = map_new(NULL);
	loop_timer_init(&b->timer, a->group, on_moment, b);
	b->observer.written = on_written;
	observe(a, &b->observer);
	a->budgets = b;
}

void budgets_free(struct budgets *b)
{
	if (!b)
		return;
	list_remove(&b->observer.link);
	loop_timer_stop(&b->timer);
	map_free(b->stale);
	free(b);
}
