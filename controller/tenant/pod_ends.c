#include "controller/tenant/pod_ends.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/counters.h"
#include "controller/rules/gpu_use.h"
#include "controller/tenant/devices.h"

struct pod_ends {
	struct tenant *t;
	/* UID of a pod -> struct followed */
	struct map *pods;
};

_Static_assert(POD_ENDS == COUNTERS_POD_RESULTS, "the limit of the metric fits all results");

struct followed {
	/* machine: name of the Machine of the Node's claim; NULL: no claim was seen, so the Node
	 * may not be one of drover's */
	char *node, *machine;
	/* True: the pod requests GPUs. Pods with resource claims are followed before that is
	 * known. */
	bool gpus;
	/* drover's last request to evict or delete the pod; accepted: one of the requests was */
	bool sent, accepted;
	/* facts.machine: the first state other than POD_MACHINE_STAYS that was seen when the pod's
	 * deletion began or its Node was deleted */
	struct pod_end_facts facts;
};

static void followed_free(void *p)
{
	struct followed *x = p;

	free(x->node);
	free(x->machine);
	free(x);
}

static bool requests_gpus(const struct pod_ends *f, const struct tenant_pod *p)
{
	OWN(arena) a = arena_new();
	struct gpu_parts parts = {0};

	gpu_parts_add(&parts, p->ndevices
				      ? &devices_of_pod(f->t->devices, p, &p->world, a)->requests
				      : &p->world.requests);
	return parts.whole > 0 || parts.slices > 0;
}

/* Notes the Machine of the Node's claim. The claim may become known after the pod, and may be gone
 * when the pod ends. */
static void find_machine(const struct pod_ends *f, struct followed *x)
{
	const struct node_claim *n =
		x->machine ? NULL : CTX_GET(f->t->c, OBJECT_NODE_CLAIM, node_claim, x->node);

	if (n && n->spec.machine_ref && str_eq(n->spec.virtual_cluster_ref.name, f->t->name))
		x->machine = mem_strdup(n->spec.machine_ref->name);
}

/* Notes the state of the machine, unless another state than "serves" was noted before: the Machine
 * may belong to another claim when the pod ends. */
static void note_machine(const struct pod_ends *f, struct followed *x)
{
	find_machine(f, x);
	if (!x->machine)
		return;
	if (x->facts.machine == POD_MACHINE_STAYS || x->facts.machine == POD_MACHINE_UNKNOWN)
		x->facts.machine = pod_machine_of(
			CTX_GET(f->t->c, OBJECT_MACHINE, machine, x->machine), x->node);
}

static struct followed *follow(struct pod_ends *f, const struct tenant_pod *p)
{
	struct followed *x;

	if (p->ended || p->world.daemon || !p->world.node || (!p->ndevices && !requests_gpus(f, p)))
		return NULL;
	x = mem_new(struct followed);
	x->node = mem_strdup(p->world.node);
	map_put(f->pods, p->world.uid, x);
	return x;
}

/* Notes what a cached pod shows that has not ended. */
static void observe(const struct pod_ends *f, struct followed *x, const struct tenant_pod *p)
{
	find_machine(f, x);
	x->gpus = x->gpus || requests_gpus(f, p);
	if (p->disruption)
		x->facts.disruption = p->disruption;
	if (!p->world.terminating) {
		x->facts.known_before = true;
		return;
	}
	if (!x->facts.deleted)
		note_machine(f, x);
	x->facts.deleted = x->facts.first = true;
}

static void count(struct pod_ends *f, struct followed *x)
{
	const struct tenant_node *node = tenant_node_get(f->t, x->node);

	note_machine(f, x);
	if (!x->machine)
		return;
	x->facts.by_drover = x->sent || x->accepted;
	x->facts.node_ready = node && node->world.ready;
	counters_pod_ended(f->t->c->counters, f->t->name, pod_end_names[pod_end_of(&x->facts)]);
}

void pod_ends_ended(struct pod_ends *f, const char *uid, bool succeeded, bool deleted,
		    enum pod_disruption disruption)
{
	struct followed *x = f ? map_get(f->pods, uid) : NULL;

	if (!x)
		return;
	x->facts.ended = true;
	x->facts.succeeded = succeeded;
	x->facts.deleted |= deleted;
	if (disruption)
		x->facts.disruption = disruption;
}

void pod_ends_pod(struct pod_ends *f, const struct tenant_pod *old, const struct tenant_pod *new_)
{
	const char *uid = (new_ ? new_ : old)->world.uid;
	struct followed *x = f ? map_get(f->pods, uid) : NULL;

	if (f && !x && new_)
		x = follow(f, new_);
	if (!x)
		return;
	if (new_ && !new_->ended) {
		observe(f, x, new_);
		return;
	}
	if (old && !x->gpus)
		x->gpus = requests_gpus(f, old);
	if (x->gpus)
		count(f, x);
	map_del(f->pods, uid);
}

void pod_ends_node_gone(struct pod_ends *f, const char *node)
{
	struct map_iter it;

	if (!f)
		return;
	map_for_each (it, f->pods) {
		struct followed *x = it.value;

		if (str_eq(x->node, node))
			note_machine(f, x);
	}
}

void pod_ends_lose(struct pod_ends *f, const char *uid)
{
	if (f && uid)
		map_del(f->pods, uid);
}

void pod_ends_asked(struct pod_ends *f, const char *uid, enum pod_ask ask)
{
	struct followed *x = f ? map_get(f->pods, uid) : NULL;

	if (!x)
		return;
	x->sent = ask == POD_ASK_SENT;
	x->accepted |= ask == POD_ASK_ACCEPTED;
}

struct pod_ends *pod_ends_new(struct tenant *t)
{
	struct pod_ends *f = mem_new(struct pod_ends);

	f->t = t;
	f->pods = map_new(followed_free);
	return f;
}

void pod_ends_free(struct pod_ends *f)
{
	if (!f)
		return;
	map_free(f->pods);
	free(f);
}

void pod_ends_forget(struct pod_ends *f)
{
	if (f)
		map_clear(f->pods);
}
