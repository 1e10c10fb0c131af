#include "controller/tenant/daemon_sets.h"

#include <stdlib.h>
#include <string.h>

#include "api/annotations.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/tenant/projection.h"
#include "controller/tenant/tenant.h"

struct daemon_sets {
	struct tenant *t;
	void (*changed)(struct tenant *t);
	/* NULL: reading has not started */
	struct kube_cache *cache;
	/* known: the result of daemon_sets_known(). denied: drover may not read DaemonSets. over:
	 * some are not read because of the limits. */
	bool known, denied, over;
};

bool daemon_sets_is_name(const char *pod, const char **name, struct arena *a)
{
	if (!str_ends(pod, TENANT_DAEMON_SET_SUFFIX))
		return false;
	*name = arena_strndup(a, pod, strlen(pod) - strlen(TENANT_DAEMON_SET_SUFFIX));
	return true;
}

bool daemon_sets_known(const struct daemon_sets *d)
{
	return d->known;
}

const struct world_pod *daemon_sets_get(const struct daemon_sets *d, const char *ns,
					const char *pod)
{
	OWN(arena) a = arena_new();
	const char *name;
	const struct tenant_pod *p = d->cache && daemon_sets_is_name(pod, &name, a)
					     ? KUBE_CACHE_GET(d->cache, tenant_pod, ns, name)
					     : NULL;

	return p ? &p->world : NULL;
}

/* --- cache ------------------------------------------------------------------------------------ */

static void *project(const json_t *o, struct arena *a, void *arg, struct err *e)
{
	return tenant_project_daemon_set(o, a, ((const struct daemon_sets *)arg)->t, e);
}

static void on_change(const struct kube_entry *old, const struct kube_entry *new_, void *arg)
{
	const struct daemon_sets *d = arg;
	const struct tenant_pod *was = old ? old->object : NULL, *is = new_ ? new_->object : NULL;
	const struct world_pod *p = is ? &is->world : &was->world;

	d->t->all->hooks.pod(d->t, p->ns, p->name, is ? p : NULL, d->t->all->hooks.arg);
}

static void know(struct daemon_sets *d, bool denied)
{
	const bool news = !d->known || denied != d->denied;

	d->known = true;
	d->denied = denied;
	if (news)
		d->changed(d->t);
}

static void on_sync(void *arg)
{
	know(arg, false);
}

static void on_health(const struct err *e, void *arg)
{
	struct daemon_sets *d = arg;
	const bool denied = e && e->kind == ERR_DENIED;

	if (denied && !d->denied && tenant_may_log(d->t))
		log_warn("drover may not read DaemonSets", LOG_S("tenant", d->t->name), LOG_E(e));
	/* Another error does not show whether the permission is there again. */
	if (e)
		know(d, denied || d->denied);
	else if (d->known)
		know(d, false);
}

static void on_over(const json_t *object, void *arg)
{
	struct daemon_sets *d = arg;

	if (d->over == (object != NULL))
		return;
	d->over = object != NULL;
	d->changed(d->t);
}

void daemon_sets_start(struct daemon_sets *d)
{
	const struct kube_cache_spec s = {
		.client = d->t->client,
		.resource = &KUBE_DAEMONSETS,
		.want = tenant_want_daemon_set,
		.same_untold = true,
		.project = project,
		.on_change = on_change,
		.on_sync = on_sync,
		.on_health = on_health,
		.on_over = on_over,
		.max_objects = DAEMON_SETS,
		.max_bytes = DAEMON_SETS_BYTES,
		.arg = d,
	};

	d->cache = kube_cache_new(d->t->c->group, &s);
}

/* --- status ----------------------------------------------------------------------------------- */

bool daemon_sets_status(const struct daemon_sets *d, const struct virtual_cluster *vc,
			struct arena *a, struct conditions *cs)
{
	struct condition want = {.type = TENANT_DAEMON_SETS_CONDITION,
				 .status = CONDITION_TRUE,
				 .reason = "Ok",
				 .message = "",
				 .observed_generation = vc->meta.generation};

	if (d->denied) {
		want.status = CONDITION_FALSE;
		want.reason = "NotPermitted";
		want.message = "drover may not get, list and watch daemonsets.apps in this "
			       "cluster: apply deploy/tenant-rbac.yaml there; until then a new "
			       "machine has room only for what was measured on a Node";
	} else if (d->over) {
		want.status = CONDITION_FALSE;
		want.reason = "OverBudget";
		want.message = arena_printf(
			a,
			"drover reads at most %d DaemonSets, %zu MiB in total; a new machine "
			"has room for the others only once they were measured on a Node",
			DAEMON_SETS, DAEMON_SETS_BYTES >> 20);
	} else if (!d->known || !condition_get(cs, want.type)) {
		return false;
	}
	return condition_set(cs, a, &want, loop_wall(d->t->c->loop));
}

/* --- lifecycle -------------------------------------------------------------------------------- */

void daemon_sets_forget(struct daemon_sets *d)
{
	kube_cache_free(d->cache);
	d->cache = NULL;
	d->known = d->denied = d->over = false;
}

struct daemon_sets *daemon_sets_new(struct tenant *t, void (*changed)(struct tenant *t))
{
	struct daemon_sets *d = mem_new(struct daemon_sets);

	d->t = t;
	d->changed = changed;
	return d;
}

void daemon_sets_free(struct daemon_sets *d)
{
	if (!d)
		return;
	daemon_sets_forget(d);
	free(d);
}
