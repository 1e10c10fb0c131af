/*
 * objects: handles changes of the pods and Nodes of one tenant.
 * Tests: tests/unit/controller/tenant/test_tenant.c
 */
#include "controller/tenant/tenant_impl.h"

#include "api/annotations.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/counters.h"
#include "controller/tenant/daemon_sets.h"
#include "controller/tenant/pod_ends.h"
#include "controller/tenant/projection.h"
#include "controller/tenant/status.h"

/* Counts of the pods on one Node, without those of DaemonSets. */
struct load {
	/* pods: their number; endless: number of pods without a known end */
	size_t pods, endless;
	/* latest known end among the pods, wall ms */
	int64_t end;
	/* wall ms of the last change of the Node's pods */
	int64_t since;
};

static void count(struct tenant *t, const struct kube_entry *en, int by)
{
	const struct tenant_pod *tp = en ? en->object : NULL;
	const struct world_pod *p = tp ? &tp->world : NULL;
	struct load *load;

	if (!p || !p->node || p->daemon)
		return;
	load = map_get(t->loads, p->node);
	if (!load) {
		load = mem_new(struct load);
		map_put(t->loads, p->node, load);
	}
	if (by > 0) {
		load->pods++;
		load->endless += !tp->ends;
		if (tp->ends > load->end)
			load->end = tp->ends;
	} else if (load->pods) {
		load->pods--;
		load->endless -= load->endless && !tp->ends;
	}
	if (!load->pods)
		load->end = 0;
	load->since = loop_wall(t->c->loop);
}

size_t tenant_pods_on(const struct tenant *t, const char *node, int64_t *since)
{
	const struct load *load = t->loads ? map_get(t->loads, node) : NULL;
	int64_t given_up;
	bool kept;

	*since = load ? load->since : t->counted_since;
	kept = provisioning_requests_is_reserved(t->requests, node, &given_up);
	if (given_up > *since)
		*since = given_up;
	return (load ? load->pods : 0) + (t->pods && kube_cache_over(t->pods)) + kept;
}

bool tenant_pods_end(const struct tenant *t, const char *node, int64_t *at)
{
	const struct load *load = t->loads ? map_get(t->loads, node) : NULL;
	const size_t kept =
		/* More than load->pods if slots are reserved on the Node, or if not all pods are
		 * read */
		tenant_pods_on(t, node, at);

	if (load && load->pods)
		*at = load->end;
	return t->loads && kept == (load ? load->pods : 0) && !(load && load->endless);
}

static const struct world_pod *as_planned(const struct tenant *t, const struct tenant_pod *p,
					  struct arena *a)
{
	const struct world_pod *w =
		devices_of_pod(t->devices, p, volumes_of_pod(t->volumes, p, a), a);

	return provisioning_requests_of_pod(t->requests, p, pod_groups_of_pod(t->groups, p, w, a),
					    a);
}

const struct world_pod *tenant_world_pod(const struct tenant *t, const char *ns, const char *name,
					 struct arena *a)
{
	const struct tenant_pod *p = t->pods ? KUBE_CACHE_GET(t->pods, tenant_pod, ns, name) : NULL;
	const char *set;

	if (daemon_sets_is_name(name, &set, a))
		return daemon_sets_get(t->daemon_sets, ns, name);
	if (request_of_pod(name, NULL, NULL))
		return provisioning_requests_to_come(t->requests, ns, name, a);
	return p ? as_planned(t, p, a) : NULL;
}

struct world_node tenant_world_node(const struct tenant *t, const struct tenant_node *n,
				    struct arena *a)
{
	const struct world_node with = volumes_of_node(t->volumes, &n->world, a);

	return devices_of_node(t->devices, &with, a);
}

struct quantity tenant_node_has(const struct tenant *t, const struct tenant_node *n,
				const char *resource)
{
	const struct quantity *has = resources_get(&n->capacity, resource);
	const struct quantity whole = quantity_of(
		str_eq(resource, DEVICES_GPU) ? (int64_t)devices_on(t->devices, n->world.name) : 0);

	return has && quantity_cmp(*has, whole) > 0 ? *has : whole;
}

void tenant_look_for_devices(struct tenant *t)
{
	devices_want(t->devices);
}

void tenant_replan_pod(struct tenant *t, const char *ns, const char *name)
{
	OWN(arena) a = arena_new();
	const struct world_pod *p = tenant_world_pod(t, ns, name, a);

	if (p)
		t->all->hooks.pod(t, ns, name, p, t->all->hooks.arg);
}

static void on_claims_of_pod(struct tenant *t, const char *ns, const char *name)
{
	/* The name belongs to a PodTemplate, so requests that use it are evaluated again. */
	if (request_of_pod(name, NULL, NULL))
		provisioning_requests_kick(t->requests);
	else
		tenant_replan_pod(t, ns, name);
}

static void tell_to_come(struct tenant *t, const char *ns, const char *name,
			 const struct world_pod *p)
{
	t->all->hooks.pod(t, ns, name, p, t->all->hooks.arg);
}

const struct provisioning_requests_hooks tenant_requests_hooks = {tell_to_come, tenant_replan_pod};

static void tell_node(struct tenant *t, const char *name)
{
	const struct tenant_node *n = tenant_node_get(t, name);

	if (n)
		t->all->hooks.node(t, name, n, t->all->hooks.arg);
}

const struct volumes_hooks tenant_volumes_hooks = {on_claims_of_pod, tell_node,
						   tenant_status_write};
const struct devices_hooks tenant_devices_hooks = {on_claims_of_pod, tell_node};

/* Reconciles the machine of the pod's Node, because the Node may now be empty, or in use. ends:
 * true if the time at which the Node becomes empty has changed. */
static void kick_machine_of(struct tenant *t, const struct kube_entry *en, bool ends)
{
	const struct world_pod *p = en ? en->object : NULL;
	const struct node_claim *n =
		p && p->node ? CTX_GET(t->c, OBJECT_NODE_CLAIM, node_claim, p->node) : NULL;

	if (!n || !n->spec.machine_ref)
		return;
	notify(t->c, NOTICE_MACHINE, n->spec.machine_ref->name);
	if (ends)
		notify(t->c, NOTICE_OFFER, n->spec.machine_ref->name);
}

/* Returns the wall ms at which the pod's Node becomes empty; 0: not known. */
static int64_t end_of(const struct tenant *t, const struct kube_entry *en)
{
	const struct world_pod *p = en->object;
	int64_t at;

	return p->node && tenant_pods_end(t, p->node, &at) ? at : 0;
}

static bool runs_on_machine(const struct tenant *t, const struct tenant_pod *p)
{
	return p && p->running && !p->world.daemon && p->world.node &&
	       CTX_GET(t->c, OBJECT_NODE_CLAIM, node_claim, p->world.node);
}

/* Adds to the metrics how long a pod waited until it was placed, and how long the tenant waited for
 * its first running pod. Never compares a time of the tenant's clock with one of drover's. */
static void count_waits(struct tenant *t, const struct tenant_pod *was, const struct tenant_pod *is)
{
	const struct virtual_cluster *vc;

	if (was && is && !was->world.node && was->world.unschedulable && was->world.since &&
	    is->world.node && is->world.since && !is->world.daemon)
		counters_pod_placed(t->c->counters, t->name, was->unplaced->priority_class,
				    is->world.since - was->world.since);
	if (t->served || !runs_on_machine(t, is))
		return;
	t->served = true;
	vc = CTX_GET(t->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster, t->name);
	/* Only for a tenant that is younger than this process: an older one may have had a running
	 * pod before. */
	if (vc && was && vc->meta.creation_timestamp > t->c->began)
		counters_first_pod(t->c->counters,
				   loop_wall(t->c->loop) - vc->meta.creation_timestamp);
}

void tenant_on_pod(const struct kube_entry *old, const struct kube_entry *new_, void *arg)
{
	struct tenant *t = arg;
	const struct kube_entry *en = new_ ? new_ : old;
	const int64_t end = end_of(t, en);
	OWN(arena) a = arena_new();

	count(t, old, -1);
	count(t, new_, 1);
	if (tenant_budget_pod(t, old, new_))
		tenant_status_write(t);
	kick_machine_of(t, en, end_of(t, en) != end);
	count_waits(t, old ? old->object : NULL, new_ ? new_->object : NULL);
	volumes_pod(t->volumes, old ? old->object : NULL, new_ ? new_->object : NULL);
	devices_pod(t->devices, old ? old->object : NULL, new_ ? new_->object : NULL);
	pod_ends_pod(t->ends, old ? old->object : NULL, new_ ? new_->object : NULL);
	pod_groups_pod(t->groups, old ? old->object : NULL, new_ ? new_->object : NULL);
	t->all->hooks.pod(t, en->ns, en->name, new_ ? as_planned(t, new_->object, a) : NULL,
			  t->all->hooks.arg);
	provisioning_requests_pod(t->requests, old ? old->object : NULL,
				  new_ ? new_->object : NULL);
}

/* Records when the Node was first seen not Ready. Uses drover's own clock, because times in the
 * Node are by the tenant's clock. */
static void see_readiness(const struct tenant *t, const struct kube_entry *old,
			  const struct kube_entry *new_)
{
	const struct tenant_node *was = old ? old->object : NULL;
	struct tenant_node *is = new_->object;

	if (!is->world.ready)
		is->unready_seen =
			was && was->unready_seen ? was->unready_seen : loop_now(t->c->loop);
}

void tenant_on_node(const struct kube_entry *old, const struct kube_entry *new_, void *arg)
{
	struct tenant *t = arg;
	const struct kube_entry *en = new_ ? new_ : old;
	const struct load *load = new_ ? NULL : map_get(t->loads, en->name);

	if (new_) {
		see_readiness(t, old, new_);
		((struct tenant_node *)new_->object)->rv = new_->rv;
	}
	if (old && new_ && tenant_node_same(old->object, new_->object))
		return;
	if (load && !load->pods)
		map_del(t->loads, en->name);
	if (!new_)
		pod_ends_node_gone(t->ends, en->name);
	t->all->hooks.node(t, en->name, new_ ? new_->object : NULL, t->all->hooks.arg);
}
