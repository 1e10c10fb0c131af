#include "tests/world/leaving.h"

#include <stdlib.h>
#include "base/arena.h"
#include "base/str.h"
#include "tests/unit/testing.h"

/* --- asking the world ------------------------------------------------------------------------- */

struct until {
	struct sim_world *w;
	struct server *b;
	struct cluster *p;
	const char *a, *text;
	uint64_t rev;
	bool found;
};

static bool says(void *arg)
{
	struct until *u = arg;

	return str_eq(world_at(u->b, u->a), u->text);
}

void leaving_wait_at(struct server *b, const char *path, const char *text, int64_t limit_s)
{
	struct until u = {.b = b, .a = path, .text = text};
	OWN(arena) a = arena_new();

	world_wait(b->world, says, &u, limit_s, arena_printf(a, "%s is \"%s\"", path, text));
}

static bool gone(void *arg)
{
	struct until *u = arg;
	OWN_JSON o = NULL;

	if (u->rev == store_rev(u->p->store))
		return false;
	u->rev = store_rev(u->p->store);
	o = cluster_get(u->p, u->text);
	return o == NULL;
}

void leaving_wait_gone(struct sim_world *w, struct cluster *p, const char *key, int64_t limit_s)
{
	struct until u = {.p = p, .text = key};

	world_wait(w, gone, &u, limit_s, key);
}

static bool tells(const json_t *event, void *arg)
{
	struct until *u = arg;
	const char *note = str_or(json_str_at(event, "message"), "");

	u->found |= str_eq(json_str_at(event, "reason"), u->a) && strstr(note, u->text) != NULL;
	return !u->found;
}

static bool told(void *arg)
{
	struct until *u = arg;

	u->found = false;
	if (u->rev != store_rev(u->p->store))
		cluster_each(u->p, "events/", tells, u);
	u->rev = store_rev(u->p->store);
	return u->found;
}

void leaving_wait_event(struct sim_world *w, struct cluster *p, const char *reason,
			const char *text)
{
	struct until u = {.p = p, .a = reason, .text = text};

	world_wait(w, told, &u, 60, reason);
}

bool leaving_was_told(struct cluster *p, const char *reason, const char *text)
{
	struct until u = {.p = p, .a = reason, .text = text};

	return told(&u);
}

static json_t *node_of(const struct server *b)
{
	char key[160];

	str_format(key, sizeof(key), "nodes/%s", b->claim);
	return cluster_get(&b->world->tenants[0], key);
}

bool leaving_runs_still(const struct sim_world *w)
{
	OWN_JSON pod = cluster_get(&w->tenants[0], "pods/default/train");

	return pod != NULL;
}

bool leaving_is_marked(const struct server *b)
{
	OWN_JSON node = node_of(b);
	json_t *t;
	size_t i;

	json_array_foreach (json_at(node, "spec", "taints"), i, t)
		if (str_eq(json_str_at(t, "key"), "drover.dev/draining"))
			return true;
	return false;
}

bool leaving_is_cordoned(const struct server *b)
{
	OWN_JSON node = node_of(b);

	return json_true_at(node, "spec", "unschedulable");
}

bool leaving_is_clear(void *arg)
{
	return !leaving_is_marked(arg) && !leaving_is_cordoned(arg);
}

bool leaving_has(struct cluster *p, const char *what, const char *name)
{
	char key[200];
	struct store_entry en;

	str_format(key, sizeof(key), "%s/%s", what, name);
	return store_get(p->store, key, &en);
}

const char *leaving_condition(struct sim_world *w, struct arena *a, const char *claim,
			      const char *type)
{
	OWN_JSON o = cluster_get(&w->host, arena_printf(a, "nodeclaims.drover.dev/%s", claim));
	json_t *c;
	size_t i;

	json_array_foreach (json_at(o, "status", "conditions"), i, c)
		if (str_eq(json_str_at(c, "type"), type))
			return arena_printf(a, "%s %s", json_str_at(c, "status"),
					    json_str_at(c, "reason"));
	return "";
}

struct counted {
	const char *reason;
	unsigned n;
};

static bool count_event(const json_t *o, void *arg)
{
	struct counted *ev = arg;

	ev->n += str_eq(json_str_at(o, "reason"), ev->reason);
	return true;
}

unsigned leaving_events(struct sim_world *w, const char *reason)
{
	struct counted ev = {reason, 0};

	world_run(w, 5000);
	cluster_each(&w->host, "events/", count_event, &ev);
	return ev.n;
}

size_t leaving_debts(struct sim_world *w)
{
	OWN_JSON vc = cluster_get(&w->host, "virtualclusters.drover.dev/team-a");

	return json_array_size(json_at(vc, "status", "debts"));
}

bool leaving_is_owed(void *arg)
{
	return leaving_debts(arg) > 0;
}

bool leaving_is_quits(void *arg)
{
	return leaving_debts(arg) == 0;
}

/* --- doing ------------------------------------------------------------------------------------ */

struct server *leaving_serving(struct sim_world *w, uint64_t seed)
{
	world_start(w, seed, 1);
	world_replica(w);
	world_pod(w, &w->tenants[0], "train");
	world_wait_running(w, &w->tenants[0], "train", 900);
	world_wait_state(&w->servers[0], "serving", 60);
	return &w->servers[0];
}

void leaving_alive(struct sim_world *w, uint64_t seed)
{
	world_start(w, seed, 1);
	w->servers[0].beats = true;
	world_replica(w);
	world_pod(w, &w->tenants[0], "train");
	world_wait_running(w, &w->tenants[0], "train", 900);
	world_wait_state(&w->servers[0], "serving", 60);
	world_run(w, 15000); /* time for the claim's status to become up to date */
}

void leaving_begin(struct sim_world *w)
{
	world_delete_pod(w, &w->tenants[0], "train");
	world_release(&w->servers[0]);
}

void leaving_patch_pod(struct sim_world *w, const char *name, json_t *patch)
{
	char path[200];

	str_format(path, sizeof(path), "/api/v1/namespaces/default/pods/%s", name);
	world_do(w, &w->tenants[0], "PATCH", path, patch);
}

void leaving_patch_node(struct server *b, const char *sub, json_t *patch)
{
	char path[200];

	str_format(path, sizeof(path), "/api/v1/nodes/%s%s", b->claim, sub);
	world_do(b->world, &b->world->tenants[0], "PATCH", path, patch);
}

void leaving_cordon(struct server *b, bool on)
{
	leaving_patch_node(b, "", json_pack("{s:{s:b}}", "spec", "unschedulable", on));
}

void leaving_small_pod(struct server *b, const char *name)
{
	world_do(b->world, &b->world->tenants[0], "POST", "/api/v1/namespaces/default/pods",
		 json_pack("{s:s,s:s,s:{s:s,s:s},s:{s:s,s:[{s:s,s:s}]}}", "apiVersion", "v1",
			   "kind", "Pod", "metadata", "name", name, "namespace", "default", "spec",
			   "nodeName", b->claim, "containers", "name", "main", "image", "web:1"));
}

void leaving_release(struct server *b, const char *value)
{
	world_do(
		b->world, &b->world->host, "PATCH", "/apis/drover.dev/v1alpha1/machines/gpu-1",
		json_pack("{s:{s:{s:s}}}", "metadata", "annotations", "drover.dev/release", value));
}

void leaving_budget(struct sim_world *w, const char *pod)
{
	leaving_patch_pod(w, pod, json_pack("{s:{s:{s:s}}}", "metadata", "labels", "app", "web"));
	world_do(w, &w->tenants[0], "POST",
		 "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
		 json_pack("{s:s,s:s,s:{s:s,s:s},s:{s:{s:{s:s}}},s:{s:i}}", "apiVersion",
			   "policy/v1", "kind", "PodDisruptionBudget", "metadata", "name", "web",
			   "namespace", "default", "spec", "selector", "matchLabels", "app", "web",
			   "status", "disruptionsAllowed", 0));
}

void leaving_lift_budget(struct sim_world *w)
{
	world_do(w, &w->tenants[0], "DELETE",
		 "/apis/policy/v1/namespaces/default/poddisruptionbudgets/web", NULL);
}

void leaving_drain_of(struct sim_world *w, const char *name, const char *machine,
		      int64_t deadline_s, const char *more)
{
	OWN(arena) a = arena_new();
	char when[STR_TIME_SIZE];
	const char *deadline =
		deadline_s ? arena_printf(a, "  deadline: \"%s\"\n",
					  str_time(when, loop_wall(w->loop) + deadline_s * 1000))
			   : "";

	world_apply(w, arena_printf(a,
				    "apiVersion: drover.dev/v1alpha1\nkind: Drain\n"
				    "metadata: {name: %s}\n"
				    "spec:\n  reason: fans\n  machineNames: [%s]\n%s%s",
				    name, machine, deadline, more));
}

void leaving_drain(struct sim_world *w, const char *name, int64_t deadline_s, const char *more)
{
	leaving_drain_of(w, name, "gpu-1", deadline_s, more);
}

void leaving_cancel(struct sim_world *w, const char *name)
{
	OWN(arena) a = arena_new();

	world_do(w, &w->host, "PATCH", arena_printf(a, "/apis/drover.dev/v1alpha1/drains/%s", name),
		 json_pack("{s:{s:b}}", "spec", "cancelled", 1));
}

static bool target_is(void *arg)
{
	struct until *u = arg;
	OWN_JSON d = NULL;

	if (u->rev == store_rev(u->w->host.store))
		return false;
	u->rev = store_rev(u->w->host.store);
	d = cluster_get(&u->w->host, "drains.drover.dev/fans");
	return str_eq(json_str_at(json_array_get(json_at(d, "status", "targets"), 0), "phase"),
		      u->text);
}

void leaving_wait_target(struct sim_world *w, const char *phase)
{
	struct until u = {.w = w, .text = phase};

	world_wait(w, target_is, &u, 60, phase);
}

void leaving_set_pool(struct sim_world *w, json_t *spec)
{
	world_do(w, &w->host, "PATCH", "/apis/drover.dev/v1alpha1/nodepools/gpus",
		 json_pack("{s:o}", "spec", spec));
}

void leaving_go_round(struct server *b)
{
	struct sim_world *w = b->world;

	world_wait_state(b, "free", 1800);
	world_pod(w, &w->tenants[0], "train");
	world_wait_running(w, &w->tenants[0], "train", 1200);
	world_check_serving(w, &w->tenants[0], "train");
	world_delete_pod(w, &w->tenants[0], "train");
	world_release(b);
	world_wait_state(b, "stopping", 1200);
	world_wait_state(b, "free", 1800);
	assert_true(server_is_blank(b));
	assert_false(b->bmc.on);
	assert_null(b->bmc.image);
}
