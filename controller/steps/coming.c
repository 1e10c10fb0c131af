/*
 * coming: claimed, imaging, attaching, booting, joining, gating.
 *
 * Up to the end of claimed nothing of the tenant's has been written.  The one
 * write that leaves claimed raises the tenancy and takes clean away: from then
 * on every way out leads through stopping and the wipe.
 * Tests: tests/world/test_join.c, tests/world/test_boot.c
 */
#include <stdlib.h>
#include <string.h>

#include "api/annotations.h"
#include "base/crypto.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/agent/endpoint.h"
#include "controller/core/secrets.h"
#include "controller/life/agent_boot.h"
#include "controller/life/ask.h"
#include "controller/life/bmc.h"
#include "controller/life/clean_proof.h"
#include "controller/life/consent.h"
#include "controller/life/identity.h"
#include "controller/life/join.h"
#include "controller/life/journal.h"
#include "controller/life/life.h"
#include "controller/life/port.h"
#include "controller/life/power.h"
#include "controller/rules/inventory.h"
#include "controller/rules/provider.h"
#include "controller/steps/steps.h"
#include "controller/steps/warm.h"

#define AGENT_SILENT_MS (5 * 60 * 1000)
#define TOKEN_SLACK_MS (5 * 60 * 1000)

/* --- shared -------------------------------------------------------------------------------------- */

/* The claim is there and wanted.  False: the machine is on its way out of it. */
static const struct node_claim *asked_for(struct life *l, bool *leaving)
{
	const struct node_claim *n = life_claim(l);

	if (n && !n->meta.deletion_timestamp)
		return n;
	if (n ? life_may_leave(l) : life_claim_gone(l))
		*leaving = true;
	return NULL;
}

/* ... after claimed, where the way out is the wipe. */
static const struct node_claim *wanted(struct life *l)
{
	bool leaving = false;
	const struct node_claim *n = asked_for(l, &leaving);

	if (leaving)
		life_goto(l, MACHINE_STOPPING, NULL, REASON_NONE, NULL);
	return n;
}

static bool agent_there(struct life *l)
{
	bool there = life_agent(l);

	if (agent_session_rebooted(l->agent)) { /* also of a session that the journal knows */
		life_fail(l, REASON_AgentRebooted, "the machine rebooted under the agent");
		return false;
	}
	if (!there)
		return false;
	if (loop_now(l->c->loop) - agent_session_info(l->agent)->last_seen > AGENT_SILENT_MS) {
		life_fail(l, REASON_AgentSilent, "the agent said nothing for 5 minutes");
		return false;
	}
	return true;
}

static bool bmc_is_ours(struct life *l)
{
	struct err e;

	if (!life_seen(l, l->c->o.poll_ms * 10))
		return false;
	if (life_identity(l, &e) < 0) {
		life_fail(l, REASON_DuplicateIdentity, "%s", e.text);
		return false;
	}
	return true;
}

/* --- claimed ------------------------------------------------------------------------------------ */

static int stamps_fit(const struct life *l, const struct proto_inventory *inv, struct err *e)
{
	const struct wipe_record *rec = life_record(l);
	uint8_t d[CRYPTO_SHA256];
	char want[CRYPTO_DIGEST_TEXT];

	if (!rec)
		return err_set(e, ERR_DENIED, 0, "no WipeRecord of tenancy %lld",
			       (long long)l->m->status.tenancy);
	evidence_digest(rec->spec.envelope, d);
	crypto_digest_text(d, want);
	for (size_t i = 0; i < inv->drives.n; i++)
		if (!str_eq(inv->drives.v[i].stamp, want))
			return err_set(e, ERR_DENIED, 0, "drive %s carries %s, not the stamp of %s",
				       str_or(inv->drives.v[i].wwn, "(none)"),
				       inv->drives.v[i].stamp ? "another stamp" : "no stamp",
				       rec->meta.name);
	return 0;
}

void step_claimed(struct life *l)
{
	const struct provider_object *p = life_provider(l);
	bool leaving = false;
	const struct node_claim *n = asked_for(l, &leaving);
	struct proto_order o = {.kind = PROTO_INSPECT};
	const struct proto_report *r;
	char check[64];
	struct err e;
	json_t *x;

	if (!n) { /* nothing was written: free again, and off unless it was warm */
		if (leaving && !life_warm_stays(l) && life_agent_off(l))
			life_goto(l, MACHINE_FREE, json_pack("{s:n, s:n}", "claimRef", "agent"),
				  REASON_NONE, NULL);
		return;
	}
	if (!bmc_is_ours(l) || !life_can_sign(l) || !life_may_move(l) ||
	    !life_placed(l, str_or(p->spec.network.segments.provisioning, "provisioning")) ||
	    !life_warm_answers(l) || !agent_there(l))
		return;
	/* By the claim: of a warm machine, what was found for one that was withdrawn says nothing for the next. */
	str_format(check, sizeof(check), "%s/check",
		   str_or(l->m->status.claim_ref->uid, n->meta.name));
	r = life_order(l, &o, check);
	if (!r)
		return;
	if (r->state != PROTO_DONE || !r->inventory) {
		life_fail(l, agent_reason(r, REASON_InventoryMismatch), "inspection failed: %s",
			  str_or(r->message, "no inventory"));
		return;
	}
	if (inventory_fits(l->m, life_provider(l), r->inventory, &e) < 0) {
		life_fail(l, REASON_InventoryMismatch, "%s", e.text);
		return;
	}
	if (life_clean(l, &n->spec.wipe, &e) < 0) {
		life_goto(l, MACHINE_STOPPING, json_pack("{s:b}", "clean", 0),
			  REASON_EraseUnverified, "%s", e.text);
		return;
	}
	/* Somebody was there of whom nothing is known: a tenancy of its own, which the wipe ends. */
	if (stamps_fit(l, r->inventory, &e) < 0) {
		life_goto(l, MACHINE_STOPPING,
			  json_pack("{s:I, s:b}", "tenancy", (json_int_t)(l->m->status.tenancy + 1),
				    "clean", 0),
			  REASON_EraseUnverified, "%s", e.text);
		return;
	}
	switch (life_asked(l, "claim")) {
	case ASK_NONE:
		life_ask_claim(l, "claim");
		return;
	case ASK_FAILED:
		life_ask_again(l);
		return;
	case ASK_OK:
		break;
	}
	if (!ctx_may_destroy(l->c))
		return;
	x = json_pack("{s:I, s:b, s:{s:s, s:s}}", "tenancy", (json_int_t)(l->m->status.tenancy + 1),
		      "clean", 0, "tenant", "name", n->spec.virtual_cluster_ref.name, "uid",
		      str_or(n->spec.virtual_cluster_ref.uid, ""));
	life_goto(l, MACHINE_IMAGING, x, REASON_NONE, NULL);
}

/* --- imaging ------------------------------------------------------------------------------------ */

/* The one drive that the instance type describes as root. */
static const char *root_drive(const struct life *l, struct err *e)
{
	const struct provider_object *p = life_provider(l);
	const struct provider_object_instance_type *t =
		p ? provider_instance_type(p, l->m->spec.instance_type) : NULL;
	const char *found = NULL;

	for (size_t i = 0; t && i < l->m->spec.drives.n; i++) {
		const struct object_drive *d = &l->m->spec.drives.v[i];

		if ((t->root_device.model && !str_eq(t->root_device.model, d->model)) ||
		    d->bytes < t->root_device.min_bytes ||
		    (t->root_device.max_bytes && d->bytes > t->root_device.max_bytes))
			continue;
		if (found) {
			(void)!err_set(e, ERR_INVALID, 0, "rootDevice of %s fits both %s and %s",
				       t->name, found, d->wwn);
			return NULL;
		}
		found = d->wwn;
	}
	if (!found)
		(void)!err_set(e, ERR_INVALID, 0, "rootDevice of %s fits no drive",
			       str_or(l->m->spec.instance_type, "(none)"));
	return found;
}

static bool ended(struct life *l, const struct proto_report *r, const char *what)
{
	if (!r)
		return false;
	if (r->state == PROTO_DONE)
		return true;
	life_fail(l, agent_reason(r, REASON_DriveFailed), "%s: %s", what,
		  str_or(r->message, "no reason given"));
	return false;
}

static bool minted(struct life *l, const struct node_claim *n, struct tenant *t)
{
	struct life_token token;
	json_t *s;

	switch (life_asked(l, "token")) {
	case ASK_OK:
		return true;
	case ASK_FAILED:
		if (l->answer.err.kind == ERR_CONFLICT) /* minted before a crash: the same one */
			return true;
		life_wait(l, WAITING_DEVICE, REASON_TenantUnreachable, "bootstrap token: %s",
			  l->answer.err.text);
		life_ask_again(l);
		return false;
	case ASK_NONE:
		break;
	}
	life_token(l, n->meta.uid, &token);
	life_asking(l, "token", t);
	s = life_token_secret(
		&token, n->meta.name,
		loop_wall(l->c->loop) +
			(n->spec.deadlines.booting > 0 ? n->spec.deadlines.booting : 1800000) +
			(n->spec.deadlines.joining > 0 ? n->spec.deadlines.joining : 600000) +
			TOKEN_SLACK_MS);
	l->call = kube_create(t->client, &KUBE_SECRETS, "kube-system", s, life_answer, l);
	json_decref(s);
	secret_wipe(&token, sizeof(token));
	return false;
}

static const char *user_data(struct life *l, const struct node_claim *n, bool *ready)
{
	const struct secret *s;
	enum secret_state st;

	*ready = true;
	if (!n->spec.user_data_secret_ref)
		return NULL;
	st = secrets_want(l->c->secrets, NULL, n->spec.user_data_secret_ref->name);
	if (st != SECRET_LOADED) {
		*ready = false;
		if (st != SECRET_LOADING)
			life_wait(l, WAITING_APPROVAL, REASON_SecretNotFound,
				  "spec.userDataSecretRef: Secret %s cannot be read",
				  n->spec.user_data_secret_ref->name);
		return NULL;
	}
	s = secrets_value(l->c->secrets, NULL, n->spec.user_data_secret_ref->name, "user-data");
	return s ? secret_expose(s) : NULL;
}

static const struct proto_report *write_config(struct life *l, const struct node_claim *n,
					       struct tenant *t, const struct virtual_cluster *vc,
					       struct proto_order *o)
{
	OWN(arena) a = arena_new();
	const struct proto_report *r;
	struct life_token token;
	uint8_t d[CRYPTO_SHA256];
	char hash[CRYPTO_DIGEST_TEXT];
	struct err e;
	const char *extra;
	bool ready;

	extra = user_data(l, n, &ready);
	if (!ready)
		return NULL;
	if (crypto_cert_spki_sha256(t->ca_pem, d, &e) < 0) {
		life_fail(l, REASON_TenantCAInvalid, "%s", e.text);
		return NULL;
	}
	crypto_digest_text(d, hash);
	life_token(l, n->meta.uid, &token);
	if (life_config_files(l, n, vc, &token, hash, extra, a, o, &e) < 0) {
		life_fail(l, REASON_ConfigInvalid, "%s", e.text);
		return NULL;
	}
	r = life_order(l, o, "config");
	secret_wipe(&token, sizeof(token));
	return r;
}

void step_imaging(struct life *l)
{
	OWN(arena) a = arena_new();
	const struct node_claim *n = wanted(l);
	struct proto_order unstamp = {.kind = PROTO_WRITE, .what = PROTO_WRITE_UNSTAMP};
	struct proto_order image = {.kind = PROTO_WRITE, .what = PROTO_WRITE_IMAGE};
	struct proto_order config = {.kind = PROTO_WRITE, .what = PROTO_WRITE_CONFIG};
	const struct virtual_cluster *vc;
	struct tenant *t;
	struct err e;

	if (!n)
		return;
	if (life_agent_dismissed(l))
		l->progress = 3;
	if (l->progress < 3 && !agent_there(l))
		return;
	if (l->progress == 0) {
		unstamp.expected.v = arena_calloc(a, l->m->spec.drives.n + 1, sizeof(char *));
		for (size_t i = 0; i < l->m->spec.drives.n; i++)
			unstamp.expected.v[unstamp.expected.n++] = l->m->spec.drives.v[i].wwn;
		if (!ended(l, life_order(l, &unstamp, "unstamp"),
			   "the clean stamps were not erased"))
			return;
		l->progress = 1;
	}
	image.drive = config.drive = root_drive(l, &e);
	if (!image.drive) {
		life_fail(l, REASON_InventoryMismatch, "%s", e.text);
		return;
	}
	if (l->progress == 1) {
		image.url = n->spec.image.url;
		if (str_starts(image.url, "https://"))
			image.ca_pem = l->c->o.image_ca_pem;
		image.digest = n->spec.image.digest;
		image.format = n->spec.image.format == IMAGE_RAW ? 0 : 1;
		if (!ended(l, life_order(l, &image, "image"), "the image was not written"))
			return;
		l->progress = 2;
	}
	if (l->progress == 2) {
		t = tenant_get(l->parts->tenants, n->spec.virtual_cluster_ref.name);
		vc = CTX_GET(l->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster,
			     n->spec.virtual_cluster_ref.name);
		if (!t || !vc || !tenant_usable(t)) {
			life_wait(l, WAITING_DEVICE, REASON_TenantUnreachable, "tenant %s: %s",
				  n->spec.virtual_cluster_ref.name,
				  t ? t->message : "does not exist");
			return;
		}
		if (!minted(l, n, t) || !ended(l, write_config(l, n, t, vc, &config),
					       "the config drive was not written"))
			return;
		l->progress = 3;
	}
	if (life_agent_off(l))
		life_goto(l, MACHINE_ATTACHING, NULL, REASON_NONE, NULL);
}

/* --- attaching, booting ------------------------------------------------------------------------- */

void step_attaching(struct life *l)
{
	const struct node_claim *n = wanted(l);
	const struct virtual_cluster *vc;
	char segment[256];

	if (!n || !bmc_is_ours(l) || !life_agent_off(l))
		return;
	vc = CTX_GET(l->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster,
		     n->spec.virtual_cluster_ref.name);
	if (!vc) {
		life_fail(l, REASON_TenantGone, "VirtualCluster %s does not exist",
			  n->spec.virtual_cluster_ref.name);
		return;
	}
	str_format(segment, sizeof(segment), "tenant/%s",
		   str_or(vc->spec.network.segment, vc->meta.name));
	if (life_placed(l, segment))
		life_goto(l, MACHINE_BOOTING, NULL, REASON_NONE, NULL);
}

void step_booting(struct life *l)
{
	const struct node_claim *n = wanted(l);

	if (!n)
		return;
	if (tenant_node_of(l->parts->tenants, n)) {
		life_goto(l, MACHINE_JOINING, NULL, REASON_NONE, NULL);
		return;
	}
	if (!life_seen(l, l->c->o.poll_ms * 10) || !l->seen.media_known)
		return;
	if (l->seen.media ||
	    l->seen.override) { /* nothing but its own disk may boot in a tenant's network */
		life_fail(l, REASON_BootOverrideNotCleared,
			  "the BMC shows a medium or a boot override again");
		return;
	}
	if (l->seen.power == PROVIDER_POWER_OFF)
		life_power(l, true);
}

/* --- joining, gating ---------------------------------------------------------------------------- */

/* The token has done its work: it goes before the Node is trusted with anything. */
static bool token_gone(struct life *l, const struct node_claim *n, struct tenant *t)
{
	struct life_token token;
	char name[32];

	switch (life_asked(l, "untoken")) {
	case ASK_OK:
		return true;
	case ASK_FAILED:
		if (l->answer.err.kind == ERR_NOT_FOUND)
			return true;
		life_wait(l, WAITING_DEVICE, REASON_TenantUnreachable, "bootstrap token: %s",
			  l->answer.err.text);
		life_ask_again(l);
		return false;
	case ASK_NONE:
		break;
	}
	life_token(l, n->meta.uid, &token);
	str_format(name, sizeof(name), "bootstrap-token-%s", token.id);
	secret_wipe(&token, sizeof(token));
	life_asking(l, "untoken", t);
	l->call = kube_delete(t->client, &KUBE_SECRETS, "kube-system", name,
			      &(struct kube_delete_opts){.grace_s = -1}, life_answer, l);
	return false;
}

void step_joining(struct life *l)
{
	const struct node_claim *n = wanted(l);
	const struct tenant_node *node = n ? tenant_node_of(l->parts->tenants, n) : NULL;
	struct tenant *t;
	struct err e;
	json_t *patch;

	if (!n)
		return;
	t = tenant_get(l->parts->tenants, n->spec.virtual_cluster_ref.name);
	if (!node) { /* it was there: deleted or not known, the deadline decides */
		life_wait(l, WAITING_DEVICE, REASON_NodeNotFound,
			  "Node %s is not in the tenant's cluster", n->meta.name);
		return;
	}
	if (life_proves(l, n, node, &e) < 0) {
		if (!node->system_uuid ||
		    !node->boot_id) /* registered, its status is not written yet */
			return;
		life_fail(l, REASON_NodeIdentityMismatch, "%s", e.text);
		return;
	}
	if (l->progress == 0 && !token_gone(l, n, t))
		return;
	l->progress = 1;
	switch (life_asked(l, "labels")) {
	case ASK_NONE:
		life_asking(l, "labels", t);
		patch = life_node_labels(l, n);
		l->call = kube_patch(t->client, &KUBE_NODES, NULL, n->meta.name, NULL,
				     KUBE_PATCH_MERGE, patch, life_answer, l);
		json_decref(patch);
		return;
	case ASK_FAILED:
		life_wait(l, WAITING_DEVICE, REASON_TenantUnreachable, "Node labels: %s",
			  l->answer.err.text);
		life_ask_again(l);
		return;
	case ASK_OK:
		break;
	}
	life_goto(l, MACHINE_GATING, json_pack("{s:s}", "bootID", node->boot_id), REASON_NONE,
		  NULL);
}

static bool startup_taints_gone(const struct node_claim *n, const struct tenant_node *node)
{
	for (size_t i = 0; i < n->spec.startup_taints.n; i++)
		for (size_t k = 0; k < node->world.taints.n; k++)
			if (str_eq(n->spec.startup_taints.v[i].key, node->world.taints.v[k].key))
				return false;
	return true;
}

/* Ready, and without the taints that the node controller takes off a moment later: until then no pod fits,
 * and a machine that counts as serving would look full. */
static bool schedulable(const struct tenant_node *node)
{
	for (size_t i = 0; i < node->world.taints.n; i++)
		if (str_starts(node->world.taints.v[i].key, "node.kubernetes.io/"))
			return false;
	return node->world.ready && !node->world.unschedulable;
}

/* Every extended resource that the instance type promises is registered in full. */
static const char *resource_missing(const struct life *l, const struct tenant_node *node)
{
	const struct provider_object *p = life_provider(l);
	const struct provider_object_instance_type *t =
		p ? provider_instance_type(p, l->m->spec.instance_type) : NULL;

	for (size_t i = 0; t && i < t->capacity.n; i++) {
		const struct quantity *has = resources_get(&node->capacity, t->capacity.v[i].name);

		if (strchr(t->capacity.v[i].name, '/') &&
		    (!has || quantity_cmp(*has, t->capacity.v[i].q) < 0))
			return t->capacity.v[i].name;
	}
	return NULL;
}

static json_t *without_unregistered(const struct tenant_node *node)
{
	struct err e;
	OWN_JSON old = node->taints_json
			       ? json_parse(node->taints_json, strlen(node->taints_json), &e)
			       : NULL;
	json_t *kept = json_array(), *v;
	size_t i;

	json_array_foreach (old, i, v)
		if (!str_eq(json_str_at(v, "key"), TENANT_TAINT_UNREGISTERED))
			json_array_append(kept, v);
	return json_pack("{s:{s:s}, s:{s:o}}", "metadata", "resourceVersion", node->rv, "spec",
			 "taints", kept);
}

void step_gating(struct life *l)
{
	const struct node_claim *n = wanted(l);
	const struct tenant_node *node = n ? tenant_node_of(l->parts->tenants, n) : NULL;
	struct tenant *t;
	const char *missing;
	json_t *patch;

	if (!n || !node)
		return;
	if (!schedulable(node) || !startup_taints_gone(n, node)) {
		life_wait(l, WAITING_DEVICE,
			  schedulable(node) ? REASON_StartupTaintsExist : REASON_NodeNotReady,
			  "Node %s", n->meta.name);
		return;
	}
	missing = resource_missing(l, node);
	if (missing) {
		life_wait(l, WAITING_DEVICE, REASON_ResourceNotRegistered,
			  "Node %s does not offer all of %s", n->meta.name, missing);
		return;
	}
	if (node->unregistered) {
		t = tenant_get(l->parts->tenants, n->spec.virtual_cluster_ref.name);
		if (life_asked(l, "taint") == ASK_OK) /* done; the cache will show it */
			return;
		if (life_asked(l, "taint") == ASK_FAILED) {
			life_ask_again(l);
			return;
		}
		life_asking(l, "taint", t);
		patch = without_unregistered(node);
		l->call = kube_patch(t->client, &KUBE_NODES, NULL, n->meta.name, NULL,
				     KUBE_PATCH_MERGE, patch, life_answer, l);
		json_decref(patch);
		return;
	}
	/* A passed wipe and gate: earlier failures of the machine's own are history. */
	life_goto(l, MACHINE_SERVING, json_pack("{s:[], s:n}", "failures", "agent"), REASON_NONE,
		  NULL);
}
