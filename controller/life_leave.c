/*
 * life_leave: leaving.  Off and cut, the Node is deleted by UID and the token with it, and then
 * the claim ends (S3).  A tenant that cannot be reached is owed that (debts.h).
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "controller/debts.h"
#include "controller/life.h"
#include "controller/life_join.h"

/* A tenant that does not do its step in this time is owed it, and holds nothing up. */
#define TENANT_PATIENCE_MS (2 * 60 * 1000)
#define DEBTS_MAX 250

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
	loop_timer_start(&l->timer, l->answer.ok ? 0 : l->c->o.poll_ms);
}

static bool answer_is(const struct life *l, const char *about)
{
	return str_eq(l->answer.about, about) && l->answer.ok;
}

static void owe(struct life *l, const struct node_claim *n, const char *node_uid,
		const char *token_id)
{
	const struct virtual_cluster *vc = CONTROLLER_GET(
		l->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster, n->spec.virtual_cluster_ref.name);
	char when[STR_TIME_SIZE];
	json_t *list, *o, *patch;

	if (!vc) {
		l->progress = 2;
		return;
	}
	list = debts_without(vc, n->meta.name);
	while (json_array_size(list) >= DEBTS_MAX) /* a debt never holds a machine up */
		json_array_remove(list, 0);
	o = json_pack("{s:s, s:s*, s:s*, s:s}", "nodeName", n->meta.name, "nodeUID", node_uid,
		      "tokenID", token_id, "since", str_time(when, loop_wall(l->c->loop)));
	json_array_append_new(list, o);
	patch = json_pack("{s:{s:s}, s:{s:o}}", "metadata", "resourceVersion",
			  vc->meta.resource_version, "status", "debts", list);
	life_asking(l, "debt", NULL);
	l->call = kube_patch(l->c->host, &controller_resources[OBJECT_VIRTUAL_CLUSTER], NULL,
			     vc->meta.name, "status", KUBE_PATCH_MERGE, patch, on_step, l);
	json_decref(patch);
}

/* Node by UID, then token.  True when both are gone, or owed. */
static bool left_tenant(struct life *l, const struct node_claim *n)
{
	struct tenant *t = tenant_get(l->c, n->spec.virtual_cluster_ref.name);
	const struct tenant_node *node = t ? tenant_node_get(t, n->meta.name) : NULL;
	bool late = loop_wall(l->c->loop) - l->m->status.state_since > TENANT_PATIENCE_MS;
	struct kube_delete_opts o = {.grace_s = -1};
	struct life_token token;
	char name[32];

	if (life_paused(l) || !controller_may_destroy(l->c))
		return false;
	if (l->progress >= 2 || answer_is(l, "debt"))
		return true;
	if (l->m->status.tenant.name == NULL) /* nothing was ever written for a tenant */
		return true;
	life_token(l, n, &token);
	secret_wipe(token.secret, sizeof(token.secret));
	if (!t || !tenant_usable(t) || !t->nodes || !kube_cache_synced(t->nodes) || late) {
		if (late || !t)
			owe(l, n, node ? node->uid : NULL, token.id);
		return false;
	}
	if (l->progress == 0 && node && !answer_is(l, "node")) {
		o.uid = node->uid;
		life_asking(l, "node", t);
		l->call = kube_delete(t->client, &KUBE_NODES, NULL, n->meta.name, &o, on_step, l);
		return false;
	}
	l->progress = 1;
	if (!answer_is(l, "token")) {
		str_format(name, sizeof(name), "bootstrap-token-%s", token.id);
		life_asking(l, "token", t);
		l->call = kube_delete(t->client, &KUBE_SECRETS, "kube-system", name,
				      &(struct kube_delete_opts){.grace_s = -1}, on_step, l);
		return false;
	}
	l->progress = 2;
	return true;
}

/* The claim ends: our finalizer goes, and the object with it. */
static void end_claim(struct life *l, const struct node_claim *n)
{
	json_t *kept, *patch;

	if (!n->meta.deletion_timestamp) {
		life_asking(l, "claim", NULL);
		l->call = kube_delete(
			l->c->host, &controller_resources[OBJECT_NODE_CLAIM], NULL, n->meta.name,
			&(struct kube_delete_opts){.uid = n->meta.uid, .grace_s = -1}, on_step, l);
		return;
	}
	kept = json_array();
	for (size_t i = 0; i < n->meta.finalizers.n; i++)
		if (!str_eq(n->meta.finalizers.v[i], LIFE_CLAIM_FINALIZER))
			json_array_append_new(kept, json_string(n->meta.finalizers.v[i]));
	patch = json_pack("{s:{s:s, s:o}}", "metadata", "resourceVersion", n->meta.resource_version,
			  "finalizers", kept);
	life_asking(l, "claim", NULL);
	l->call = kube_patch(l->c->host, &controller_resources[OBJECT_NODE_CLAIM], NULL,
			     n->meta.name, NULL, KUBE_PATCH_MERGE, patch, on_step, l);
	json_decref(patch);
}

static bool finalized(const struct node_claim *n)
{
	for (size_t i = 0; i < n->meta.finalizers.n; i++)
		if (str_eq(n->meta.finalizers.v[i], LIFE_CLAIM_FINALIZER))
			return true;
	return false;
}

void step_leaving(struct life *l)
{
	const struct node_claim *n = life_claim(l);
	struct err e;

	/* Stopping may have passed its deadline: cut first, but nothing ends before off is observed. */
	if (!life_seen(l, l->c->o.poll_ms * 5))
		return;
	if (life_identity(l, &e) < 0) { /* another machine's off proves nothing of ours */
		life_wait(l, WAITING_APPROVAL, "DuplicateIdentity", "%s", e.text);
		return;
	}
	if (l->seen.power != PROVIDER_POWER_OFF) {
		life_power(l, false);
		return;
	}
	if (!life_off_proved(l))
		return;
	if (n && finalized(n)) {
		if (left_tenant(l, n))
			end_claim(l, n);
		return;
	}
	if (!n && !life_claim_gone(l))
		return;
	life_goto(l, MACHINE_DIRTY, json_pack("{s:n, s:n}", "claimRef", "agent"), NULL, NULL);
}
