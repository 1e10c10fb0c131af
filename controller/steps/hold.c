/*
 * hold: makes status.hold and the marks on the Node (cordon, draining taint) match what users and
 * Drains want.
 */
#include <string.h>

#include "controller/steps/hold.h"
#include "api/annotations.h"
#include "base/log.h"
#include "base/str.h"
#include "controller/life/ask.h"
#include "controller/life/journal.h"
#include "controller/life/node.h"

static bool drain_is_valid(const struct life *l, const char *name)
{
	const struct drain *d = CTX_GET(l->c, OBJECT_DRAIN, drain, name);

	/* While drover's CustomResourceDefinitions are being deleted, a Drain may be missing
	 * although nobody withdrew it. */
	if (ctx_crds_terminating(l->c))
		return true;
	return d && !d->spec.cancelled && !d->meta.deletion_timestamp;
}

void hold_report(const struct life *l, bool held, const char *why)
{
	ctx_event(l->c, OBJECT_MACHINE, &l->m->meta, "Normal", held ? "Held" : "HoldEnded", why);
	log_info("machine hold", LOG_S("machine", l->name), LOG_I("held", held), LOG_S("why", why));
}

static void write_hold(struct life *l, json_t *hold, const char *released, const char *why)
{
	json_t *status = json_pack("{s:o}", "hold", hold);

	if (released)
		json_object_set_new(status, "requests", json_pack("{s:s}", "release", released));
	hold_report(l, !json_is_null(hold), why);
	life_ask_forget(l);
	l->leave.quiet_since = loop_wall(l->c->loop);
	life_write(l, status, NULL);
}

bool life_ensure_hold_settled(struct life *l, const struct node_claim *n)
{
	struct tenant *t = tenant_get(l->parts->tenants, n->spec.virtual_cluster_ref.name);
	const struct tenant_node *node = tenant_node_now(l->parts->tenants, n);
	const struct machine_hold *h = l->m->status.hold;
	const char *release = labels_get(&l->m->meta.annotations, REQUEST_RELEASE);
	char when[STR_TIME_SIZE];

	if (release && (str_eq(release, l->m->status.requests.release) || strlen(release) > 253))
		release = NULL;
	/* Nothing to settle if the Node is not in the cache, or if the claim is being deleted,
	 * because the deletion ends the hold. */
	if (!node || n->meta.deletion_timestamp)
		return true;
	if (h && (release || (h->drain && !drain_is_valid(l, h->drain)))) {
		if (node->world.unschedulable || node->draining)
			return life_mark_node(l, t, node, NULL, false, "uncordon");
		write_hold(l, json_null(), release,
			   release ? "released by an operator" : "its Drain ended");
		return false;
	}
	if (h && !node->world.unschedulable) {
		if (node->draining)
			return life_mark_node(l, t, node, NULL, false, "uncordon");
		write_hold(l, json_null(), NULL, "its Node was uncordoned (not by drover)");
		return false;
	}
	if (node->draining &&
	    /* Remove the taint of a withdrawn drain. If there is a hold without a Drain, keep the
	     * cordon: a user began this hold by the cordon. */
	    !(h && h->drain))
		return life_mark_node(l, t, node, NULL, h != NULL, "uncordon");
	if (!h && node->world.unschedulable) {
		write_hold(l, json_pack("{s:s}", "since", str_time(when, loop_wall(l->c->loop))),
			   NULL, "its Node was cordoned (not by drover)");
		return false;
	}
	if (release) { /* there is no hold: only record that the request was handled */
		life_write(l, json_pack("{s:{s:s}}", "requests", "release", release), NULL);
		return false;
	}
	/* The marks match. Forget the answer to the last request, so that the next change of the
	 * marks sends a new request. */
	if (life_asked(l, "uncordon") != ASK_NONE)
		life_ask_forget(l);
	return true;
}
