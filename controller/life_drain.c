/*
 * life_drain: serving and draining: whether the machine has to leave its tenant,
 * and how its pods go.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "controller/leave.h"
#include "controller/life.h"
#include "controller/tenant.h"

struct leftover {
	const char *node;
	const char *last;	      /* UID of the pod asked about last: others first */
	const struct world_pod *next; /* to be evicted */
	size_t n;		      /* all that are left, those on their way out too */
};

static bool counts(const struct kube_entry *en, void *arg)
{
	const struct world_pod *p = en->object;
	struct leftover *f = arg;

	if (!str_eq(p->node, f->node) || p->daemon)
		return true;
	f->n++;
	if (!p->terminating && (!f->next || str_eq(f->next->uid, f->last)))
		f->next = p;
	return true;
}

static void on_step(json_t *o, const struct err *e, void *arg)
{
	struct life *l = arg;

	(void)o;
	l->call = NULL;
	l->call_to = NULL;
	l->answer.ok = !e || e->kind == ERR_NOT_FOUND;
	if (e)
		l->answer.err = *e;
	str_copy(l->answer.about, sizeof(l->answer.about), l->asking);
	loop_timer_start(&l->timer, l->c->o.poll_ms);
}

void step_serving(struct life *l)
{
	const struct node_claim *n = life_claim(l);

	if (n ? n->meta.deletion_timestamp && life_may_leave(l) : life_claim_gone(l)) {
		if (!life_paused(l))
			life_goto(l, MACHINE_DRAINING, NULL, NULL, NULL);
		return;
	}
	(void)life_seen(l, l->c->o.idle_poll_ms);
}

/* Cordon, then evict one pod after the other; the deadline leads to stopping. */
void step_draining(struct life *l)
{
	const struct node_claim *n = life_claim(l);
	struct tenant *t = n ? tenant_get(l->c, n->spec.virtual_cluster_ref.name) : NULL;
	const struct tenant_node *node = t ? tenant_node_get(t, n->meta.name) : NULL;
	struct leftover f = {0};
	json_t *patch;

	if (life_paused(l) || !controller_may_destroy(l->c))
		return;
	if (!n && life_claim_gone(l)) { /* nobody's any more, and no tenant to ask */
		life_goto(l, MACHINE_STOPPING, NULL, NULL, NULL);
		return;
	}
	if (!node || !tenant_usable(t)) /* unreachable is not gone: its deadline decides */
		return;
	l->call_to = t;
	if (!node->world.unschedulable) {
		patch = json_pack("{s:{s:b}}", "spec", "unschedulable", 1);
		l->call = kube_patch(t->client, &KUBE_NODES, NULL, n->meta.name, NULL,
				     KUBE_PATCH_MERGE, patch, on_step, l);
		json_decref(patch);
		return;
	}
	f.node = n->meta.name;
	f.last = l->asking;
	kube_cache_each(t->pods, counts, &f);
	if (!f.n) {
		life_goto(l, MACHINE_STOPPING, NULL, NULL, NULL);
		return;
	}
	if (!f.next) /* all of them are on their way out */
		return;
	if (str_eq(l->asking, f.next->uid) && !l->answer.ok)
		life_wait(l, WAITING_DEVICE, "EvictionBlocked", "pod %s/%s: %s", f.next->ns,
			  f.next->name, l->answer.err.text);
	str_copy(l->asking, sizeof(l->asking), f.next->uid);
	l->call = kube_evict(t->client, f.next->ns, f.next->name, f.next->uid, -1, on_step, l);
}
