/* node: sets drover's marks on the Node of a machine in its tenant, and counts the volumes attached
 * to the Node. */
#include <stdlib.h>
#include <string.h>

#include "controller/life/node.h"
#include "api/annotations.h"
#include "base/data/scan.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/life/ask.h"
#include "controller/life/journal.h"

static const struct scan_want attachment_spec[] = {SCAN_PLAIN("nodeName"), SCAN_END};
static const struct scan_want attachment[] = {SCAN_SOME("spec", attachment_spec), SCAN_END};

static void on_attachment(json_t *o, void *arg)
{
	struct life *l = arg;
	const struct machine *m = CTX_GET(l->c, OBJECT_MACHINE, machine, l->name);
	const struct object_ref *r = m ? m->status.claim_ref : NULL;

	l->volumes += r && str_eq(json_str_at(o, "spec", "nodeName"), r->name);
}

static void on_attachments_restart(void *arg)
{
	((struct life *)arg)->volumes = 0;
}

static void on_attachments(const char *rv, const struct err *e, void *arg)
{
	struct life *l = arg;
	const struct machine *m = CTX_GET(l->c, OBJECT_MACHINE, machine, l->name);

	(void)rv;
	if (e)
		l->volumes = -1;
	if (m && m->status.claim_ref)
		notify(l->c, NOTICE_CLAIM, m->status.claim_ref->name);
	life_answer(NULL, e, l);
}

void life_ask_volumes(struct life *l, struct tenant *t)
{
	struct kube_list_spec s = {.resource = &KUBE_VOLUMEATTACHMENTS,
				   .want = attachment,
				   .on_item = on_attachment,
				   .on_restart = on_attachments_restart,
				   .done = on_attachments,
				   .arg = l};

	l->volumes = 0;
	life_asking(l, "volumes", t);
	l->question.call = kube_list(tenant_nodes_client(t), &s);
}

/* Sends the patch that sets cordon and draining taint. It contains the resourceVersion of the Node
 * as read, because it replaces the whole list of taints. */
static void patch_node(struct life *l, struct tenant *t, const struct tenant_node *node,
		       const char *reason, bool cordon, const char *about)
{
	struct err e;
	OWN_JSON old = node->taints_json
			       ? json_parse(node->taints_json, strlen(node->taints_json), &e)
			       : NULL;
	json_t *kept = json_array(), *v;
	OWN_JSON patch = NULL;
	size_t i;

	json_array_foreach (old, i, v)
		if (!str_eq(json_str_at(v, "key"), TENANT_TAINT_DRAINING))
			json_array_append(kept, v);
	if (reason)
		json_array_append_new(kept,
				      json_pack("{s:s, s:s, s:s}", "key", TENANT_TAINT_DRAINING,
						"value", reason, "effect", "NoSchedule"));
	patch = json_pack("{s:{s:s}, s:{s:o, s:b}}", "metadata", "resourceVersion", node->rv,
			  "spec", "taints", kept, "unschedulable", cordon);
	life_asking(l, about, t);
	life_ask_tenant(l, kube_patch(tenant_nodes_client(t), &KUBE_NODES, NULL, node->world.name,
				      NULL, KUBE_PATCH_MERGE, patch, life_answer, l));
}

bool life_mark_node(struct life *l, struct tenant *t, const struct tenant_node *node,
		    const char *reason, bool cordon, const char *about)
{
	switch (life_asked(l, about)) {
	case ASK_NONE:
		if (ctx_may_act(l->c))
			patch_node(l, t, node, reason, cordon, about);
		break;
	/* the cache does not show the marks yet, or another writer has removed them since: ask
	 * again soon */
	case ASK_OK:
		life_ask_again(l);
		break;
	case ASK_FAILED:
		if (life_answer_error(l)->kind != ERR_CONFLICT)
			life_wait(l, WAITING_DEVICE, REASON_NodeNotMarked,
				  "Node %s could not be updated (cordon, taint): %s",
				  node->world.name, life_answer_error(l)->text);
		life_ask_again(l);
		break;
	}
	return false;
}

bool life_ensure_node_marked(struct life *l, struct tenant *t, const struct tenant_node *node,
			     const char *reason)
{
	if (node->world.unschedulable && node->draining)
		return true;
	return life_mark_node(l, t, node, reason, true, "cordon");
}
