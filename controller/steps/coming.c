/*
 * coming: the states claimed, imaging and attaching. Afterwards the machine boots the written image
 * (steps/joining.c).
 *
 * Until the end of claimed, nothing of the tenant has been written to the machine. The status write
 * that changes claimed to imaging also raises the tenancy and clears `clean`. From then on the
 * machine can leave the tenant only through stopping and the wipe.
 * Tests: tests/world/test_join.c, tests/world/test_boot.c
 */
#include "controller/steps/coming.h"

#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/agent/endpoint.h"
#include "controller/claims/unwanted.h"
#include "controller/core/counters.h"
#include "controller/core/secrets.h"
#include "controller/life/agent_boot.h"
#include "controller/life/ask.h"
#include "controller/life/bmc.h"
#include "controller/life/clean_proof.h"
#include "controller/life/consent.h"
#include "controller/life/identity.h"
#include "controller/life/install.h"
#include "controller/life/join.h"
#include "controller/life/journal.h"
#include "controller/life/life.h"
#include "controller/hardware/segments.h"
#include "controller/life/port.h"
#include "controller/life/probe.h"
#include "controller/life/power_turn.h"
#include "controller/life/wipe_attempt.h"
#include "controller/rules/inventory.h"
#include "controller/rules/provider.h"
#include "controller/tenant/join_probe.h"
#include "controller/steps/lives.h"
#include "controller/steps/steps.h"
#include "controller/steps/warm.h"

#define AGENT_SILENT_MS (5 * 60 * 1000)

#define TOKEN_SLACK_MS (5 * 60 * 1000)
/* Interval at which drover checks that the bootstrap token of a booting machine exists. */
#define TOKEN_CHECK_MS 120000
/* Time before the deadline of booting from which drover checks once more, so that the text of the
 * deadline is current. */
#define LAST_CHECK_MS 30000

/* --- shared ----------------------------------------------------------------------------------- */

/* Returns the claim to which the machine is bound, if the claim exists and is not being deleted.
 * Otherwise returns NULL, and sets *leaving to true if the claim is proved to be gone, or if it is
 * being deleted and drover may act on that. *leaving stays unchanged while this is not known. */
static const struct node_claim *asked_for(struct life *l, bool *leaving)
{
	const struct node_claim *n = life_claim(l);

	if (n && !n->meta.deletion_timestamp)
		return n;
	if (n ? life_ensure_may_leave(l) : life_ensure_claim_proved_gone(l))
		*leaving = true;
	return NULL;
}

const struct node_claim *coming_claim(struct life *l, enum life_decision *d)
{
	bool leaving = false;
	const struct node_claim *n = asked_for(l, &leaving);

	if (leaving)
		*d = life_goto(l, MACHINE_STOPPING, NULL, REASON_NONE, NULL);
	return n;
}

static bool ensure_agent_there(struct life *l, enum life_decision *d)
{
	bool there = life_ensure_agent(l, d);

	if (*d == LIFE_CHANGE)
		return false;
	if (agent_session_rebooted(l->agent)) {
		/* check for a reboot even if the agent is not there: a session that was restored
		 * from the journal detects a reboot, too */
		*d = life_fail(l, REASON_AgentRebooted,
			       "the machine rebooted while the agent was running");
		return false;
	}
	if (!there)
		return false;
	if (loop_now(l->c->loop) - agent_session_info(l->agent)->last_seen > AGENT_SILENT_MS) {
		*d = life_fail(l, REASON_AgentSilent, "the agent was silent for 5 minutes");
		return false;
	}
	return true;
}

static bool ensure_bmc_ours(struct life *l, enum life_decision *d)
{
	struct err e;

	if (!life_ensure_observed(l, l->c->o.poll_ms * 10))
		return false;
	if (life_identity_differs(l, &e)) {
		*d = life_fail(l, REASON_DuplicateIdentity, "%s", e.text);
		return false;
	}
	return life_ensure_approved_identity(l, REASON_DuplicateIdentity);
}

/* --- claimed ---------------------------------------------------------------------------------- */

static int stamps_fit(const struct life *l, const struct proto_inventory *inv, struct err *e)
{
	const struct wipe_record *rec = life_record(l);
	uint8_t d[CRYPTO_SHA256];
	char want[CRYPTO_DIGEST_TEXT], text[INVENTORY_DRIVE_TEXT];

	if (!rec)
		return err_set(e, ERR_DENIED, 0, "no WipeRecord of tenancy %lld",
			       (long long)l->m->status.tenancy);
	evidence_digest(rec->spec.envelope, d);
	crypto_digest_text(d, want);
	for (size_t i = 0; i < inv->drives.n; i++) {
		const struct proto_drive *found = &inv->drives.v[i];

		if (str_eq(found->stamp, want))
			continue;
		inventory_drive_text(l->m, str_or(found->wwn, "(none)"), text);
		return found->stamp
			       ? err_set(e, ERR_DENIED, 0,
					 "drive %s has a clean stamp that wipe %.80s did not "
					 "write: the drive was exchanged or restored since; drover "
					 "wipes the machine again",
					 text, rec->meta.name)
			       : err_set(e, ERR_DENIED, 0,
					 "drive %s lost the clean stamp that wipe %.80s wrote: the "
					 "drive was changed or exchanged since; drover wipes the "
					 "machine again",
					 text, rec->meta.name);
	}
	return 0;
}

/* Returns 0 if the sampled blocks of each drive still read as the wipe left them, although the
 * drive's power was off and on again since the wipe. Otherwise returns -1, and e names the
 * drive. */
static int still_clean(const struct life *l, const struct proto_inventory *inv, struct err *e)
{
	char text[INVENTORY_DRIVE_TEXT];

	for (size_t i = 0; i < inv->drives.n; i++) {
		const struct proto_drive *d = &inv->drives.v[i];

		if (d->again.dirty ||
		    /* mutant: wipe-not-read-again */ d->again.clean < EVIDENCE_AGAIN_READS)
			return err_set(e, ERR_DENIED, 0,
				       "drive %s: %lld sampled blocks are clean, %lld are not",
				       inventory_drive_text(l->m, d->wwn, text),
				       (long long)d->again.clean, (long long)d->again.dirty);
	}
	return 0;
}

/* Revokes the machine's WipeRecord: the wipe that it proves no longer counts. The record itself
 * stays. Clears status.clean and status.lastWipe, so that the machine cannot retire by that wipe,
 * and begins a new wipe attempt of the same tenancy. That attempt gets no evidence from an agent:
 * its record, signed by drover alone, documents the revocation. */
static enum life_decision revoke_record(struct life *l, const char *why)
{
	const struct machine_operation *op = l->m->status.operation;
	OWN(arena) a = arena_new();
	json_t *attempt;
	char hex[65];

	life_wipe_nonce(l, op->id, op->boot_number, hex);
	attempt = life_attempt_begin(l, life_digest(a, hex, strlen(hex)));
	if (!attempt)
		return LIFE_STAY;
	counters_wipe_revoked(l->c->counters);
	return life_goto(
		l, MACHINE_STOPPING,
		/* mutant: revoked-wipe-counts */
		json_pack("{s:b, s:n, s:o}", "clean", 0, "lastWipe", "wipeAttempt", attempt),
		REASON_WipeRevoked, "WipeRecord %s is no longer valid: %s",
		str_or(l->m->status.last_wipe.record, "(none)"), why);
}

/* Fills order *o so that the inspection also reads each drive again, at positions derived from the
 * nonce of the last wipe. */
static void set_again(const struct life *l, struct proto_order *o, char hex[static 65],
		      struct arena *a)
{
	const struct wipe_record *rec = life_record(l);
	size_t n = rec ? rec->spec.evidence.devices.n : 0;

	life_wipe_nonce(l, str_or(l->m->status.last_wipe.operation, ""),
			l->m->status.last_wipe.boot_number, hex);
	o->nonce = hex;
	o->noise.v = arena_calloc(a, n + 1, sizeof(*o->noise.v));
	for (size_t i = 0; i < n; i++) {
		const struct evidence_device *d = &rec->spec.evidence.devices.v[i];

		if (evidence_leaves_noise(d->technique))
			o->noise.v[o->noise.n++] = d->wwn;
	}
}

bool coming_ensure_taken(struct life *l, const struct node_claim *n)
{
	const struct tenant *t = tenant_get(l->parts->tenants, n->spec.virtual_cluster_ref.name);
	const struct virtual_cluster *vc = CTX_GET(l->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster,
						   n->spec.virtual_cluster_ref.name);
	struct join_answer joins;

	if (!t || !vc)
		return true;
	join_probe_answer(t->joins, vc, &joins);
	if (joins.takes || !joins.known)
		return true;
	life_wait(l, WAITING_DEVICE, REASON_NodesNotTaken, "tenant %s: %s", t->name, joins.text);
	return false;
}

enum life_decision step_claimed(struct life *l)
{
	const struct provider_object *p = life_provider(l);
	bool leaving = false;
	const struct node_claim *n = asked_for(l, &leaving);
	struct proto_order o = {.kind = PROTO_INSPECT};
	const struct proto_report *r;
	enum life_decision d = LIFE_STAY;
	OWN(arena) a = arena_new();
	char check[64], probe[64], hex[65], lacks[LIFE_PROOF_TEXT];
	enum reason why;
	struct err e;
	json_t *x;

	if (!n) {
		/* nothing was written: make the machine free again, and switch it off unless it was
		 * warm */
		if (leaving && !life_warm_release(l, &d) && life_ensure_agent_gone(l))
			return life_goto(l, MACHINE_FREE,
					 json_pack("{s:n, s:n}", "claimRef", "agent"), REASON_NONE,
					 NULL);
		return d;
	}
	if (life_is_managed(l) ? !n->spec.image.category : !n->spec.image.url)
		return life_fail(l, REASON_ConfigInvalid, "the image for Kubernetes %s has no %s",
				 n->spec.image.kubernetes_version,
				 life_is_managed(l) ? "category, which BCM needs" : "url");
	if (!coming_ensure_taken(l, n) || life_waits_for_power(l) || !ensure_bmc_ours(l, &d) ||
	    !life_ensure_signable(l) || !life_ensure_movable(l) ||
	    !life_ensure_placed(l, str_or(p->spec.network.segments.provisioning, "provisioning")) ||
	    !life_ensure_warm_answer(l, &d) || !ensure_agent_there(l, &d))
		return d;
	/* The order ids contain the claim's UID. Otherwise results that the agent of a warm machine
	 * reported for a withdrawn claim would count for the next claim. */
	str_format(check, sizeof(check), "%s/check",
		   str_or(l->m->status.claim_ref->uid, n->meta.name));
	str_format(probe, sizeof(probe), "%s/probe",
		   str_or(l->m->status.claim_ref->uid, n->meta.name));
	if (!life_ensure_probed(l, probe, &d))
		return d;
	/* mutant: proof-not-awaited */
	if (!life_proof_suffices(l, n, lacks) || !life_proof_may_suffice(l, n, lacks))
		return life_wait(l, WAITING_DEVICE, REASON_NetworkProofWeak, "%s", lacks);
	set_again(l, &o, hex, a);
	r = life_order(l, &o, check);
	if (!r)
		return d;
	if (r->state != PROTO_DONE || !r->inventory)
		return life_fail(l, agent_reason(r, REASON_InventoryMismatch),
				 "inspection failed: %s", str_or(r->message, "no inventory"));
	why = inventory_misfit(l->m, life_provider(l), r->inventory, &e);
	if (why != REASON_NONE)
		return life_fail(l, why, "%s", e.text);
	if (life_clean(l, &n->spec.wipe, &e) < 0)
		return life_goto(l, MACHINE_STOPPING, json_pack("{s:b}", "clean", 0),
				 REASON_EraseUnverified, "%s", e.text);
	/* The stamps do not match the WipeRecord, so an unknown party used the machine. Count that
	 * use as a tenancy of its own, which the next wipe ends. */
	if (stamps_fit(l, r->inventory, &e) < 0)
		return life_goto(l, MACHINE_STOPPING,
				 json_pack("{s:I, s:b}", "tenancy",
					   (json_int_t)(l->m->status.tenancy + 1), "clean", 0),
				 REASON_EraseUnverified, "%s", e.text);
	/* mutant: wipe-forgotten */
	if (still_clean(l, r->inventory, &e) < 0)
		return revoke_record(l, e.text);
	/* No pod needs the claim at present. Write nothing until the claim is withdrawn, or a pod
	 * needs it after all. */
	/* mutant: unwanted-imaged */
	if (unwanted_ms(l->all->spec.unwanted, n) >= 0)
		return d;
	switch (life_asked(l, "claim")) {
	case ASK_NONE:
		life_ask_claim(l, "claim");
		return d;
	case ASK_FAILED:
		life_ask_again(l);
		return d;
	case ASK_OK:
		break;
	}
	if (!ctx_may_act(l->c))
		return d;
	x = json_pack(
		"{s:I, s:b, s:{s:s, s:s}, s:s}", "tenancy", (json_int_t)(l->m->status.tenancy + 1),
		"clean", 0, "tenant", "name", n->spec.virtual_cluster_ref.name, "uid",
		str_or(n->spec.virtual_cluster_ref.uid, ""), "pool", n->spec.node_pool_ref.name);
	return life_goto(l, MACHINE_IMAGING, x, REASON_NONE, NULL);
}

/* --- imaging ---------------------------------------------------------------------------------- */

/* Returns the WWN of the one drive that the rootDevice of the instance type matches. NULL with *e:
 * no drive, or several drives match. */
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
			err_note(
				e, ERR_INVALID, 0,
				"rootDevice of instance type %s matches both drive %s and drive %s",
				t->name, found, d->wwn);
			return NULL;
		}
		found = d->wwn;
	}
	if (!found)
		err_note(e, ERR_INVALID, 0, "rootDevice of instance type %s matches no drive",
			 str_or(l->m->spec.instance_type, "(none)"));
	return found;
}

/* True if the order is done. False if the order is in progress, or has failed; if it has failed,
 * sets *d to fail the claim. r: result of life_order(). what: beginning of the failure message. */
static bool ensure_ended(struct life *l, const struct proto_report *r, const char *what,
			 enum life_decision *d)
{
	if (!r)
		return false;
	if (r->state == PROTO_DONE)
		return true;
	*d = life_fail(l, agent_reason(r, REASON_DriveFailed), "%s: %s", what,
		       str_or(r->message, "no reason given"));
	return false;
}

/* Starts the request that creates the bootstrap token of claim n in its tenant's cluster. */
static void ask_token(struct life *l, const struct node_claim *n, struct tenant *t)
{
	struct life_token token;
	json_t *s;

	life_token(l, n->meta.uid, &token);
	str_copy(l->work.join.token_id, sizeof(l->work.join.token_id), token.id);
	life_asking(l, "token", t);
	s = life_token_secret(
		&token, n->meta.name,
		loop_wall(l->c->loop) +
			/* Add the time limit of claimed for a cloud instance, which is launched
			 * only after the token was created: its launch may have to wait for
			 * capacity. */
			(l->m->spec.elastic ? life_limit_ms(l, MACHINE_CLAIMED) : 0) +
			(n->spec.deadlines.booting > 0 ? n->spec.deadlines.booting : 1800000) +
			(n->spec.deadlines.joining > 0 ? n->spec.deadlines.joining : 600000) +
			TOKEN_SLACK_MS);
	life_ask_tenant(l, kube_create(tenant_nodes_client(t), &KUBE_SECRETS, "kube-system", s,
				       life_answer, l));
	json_decref(s);
	secret_wipe(&token, sizeof(token));
}

static bool ensure_minted(struct life *l, const struct node_claim *n, struct tenant *t)
{
	switch (life_asked(l, "token")) {
	case ASK_OK:
		return true;
	case ASK_FAILED:
		if (life_answer_error(l)->kind ==
		    /* the token was created before a crash of drover; it is equal, because it is
		     * derived from the claim's UID */
		    ERR_CONFLICT)
			return true;
		life_wait(l, WAITING_DEVICE, REASON_TenantUnreachable,
			  "the bootstrap token could not be created: %s",
			  life_answer_error(l)->text);
		life_ask_again(l);
		return false;
	case ASK_NONE:
		break;
	}
	ask_token(l, n, t);
	return false;
}

/* True if the token is to be checked now. */
static bool is_check_due(const struct life *l)
{
	int64_t ago = loop_now(l->c->loop) - l->work.join.checked_at;
	int64_t left = life_deadline(l) - loop_wall(l->c->loop);

	return ago >= TOKEN_CHECK_MS ||
	       (life_deadline(l) && left <= LAST_CHECK_MS && ago >= LAST_CHECK_MS / 2);
}

static void try_token(struct life *l, const struct node_claim *n, struct tenant *t)
{
	struct life_token token;

	life_token(l, n->meta.uid, &token);
	join_seen_try(l, t, &token);
	secret_wipe(&token, sizeof(token));
}

void coming_check_token(struct life *l, const struct node_claim *n)
{
	struct tenant *t = tenant_get(l->parts->tenants, n->spec.virtual_cluster_ref.name);
	const struct life_question *q = &l->question;
	struct join_seen *seen = &l->work.join;
	int64_t now = loop_now(l->c->loop);

	if (q->call)
		return;
	if (!seen->checked_at) /* first check of this process in the present state */
		seen->checked_at = now;
	if (life_asked(l, "try") != ASK_NONE)
		life_ask_forget(l);
	if (life_asked(l, "csr") != ASK_NONE) {
		life_ask_forget(l);
		if (t && tenant_usable(t) && join_seen_try_due(l)) {
			try_token(l, n, t);
			return;
		}
	}
	switch (life_asked(l, "token")) {
	case ASK_OK:
		seen->token_again = loop_wall(l->c->loop);
		/* the API server may need a moment until it accepts the new token */
		seen->tried_at = now;
		seen->token = JOIN_TOKEN_UNKNOWN;
		life_wait(l, WAITING_DEVICE, REASON_NodeNotFound,
			  "the bootstrap token of Node %s was deleted from the cluster of tenant "
			  "%s; drover created it again",
			  n->meta.name, n->spec.virtual_cluster_ref.name);
		break;
	case ASK_FAILED:
		/* Report only other errors: ERR_CONFLICT means that the token exists, and the
		 * tenant's condition Reachable shows a transient error. */
		if (life_answer_error(l)->kind == ERR_CONFLICT)
			seen->token_seen = loop_wall(l->c->loop);
		else if (!err_is_transient(life_answer_error(l)))
			life_wait(l, WAITING_DEVICE, REASON_TenantUnreachable,
				  "the bootstrap token of Node %s could not be checked: %s",
				  n->meta.name, life_answer_error(l)->text);
		break;
	case ASK_NONE:
		if (t && tenant_usable(t) && is_check_due(l)) {
			seen->checked_at = now;
			ask_token(l, n, t);
		}
		return;
	}
	life_ask_forget(l);
	if (t && tenant_usable(t))
		join_seen_ask(l, t);
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

/* Fills o->files with the files of the config drive, allocated in a. False: a Secret is not loaded
 * yet, or the files cannot be built; in the second case *d fails the claim. */
static bool config_files(struct life *l, const struct node_claim *n, struct tenant *t,
			 const struct join_answer *joins, struct arena *a, struct proto_order *o,
			 enum life_decision *d)
{
	struct life_token token;
	uint8_t spki[CRYPTO_SHA256];
	char hash[CRYPTO_DIGEST_TEXT];
	struct life_join_config join = {
		.endpoint = joins->endpoint,
		.ca_hash = hash,
		.on_host = t->on_host,
		.script_ca = joins->by_script ? tenant_nodes_ca(t) : NULL,
		.token = &token,
	};
	struct err e;
	bool ready;
	int rc;

	join.user_data = user_data(l, n, &ready);
	if (!ready)
		return false;
	if (crypto_cert_spki_sha256(str_or(tenant_nodes_ca(t), ""), spki, &e) < 0) {
		*d = life_fail(l, REASON_TenantCAInvalid, "%s", e.text);
		return false;
	}
	crypto_digest_text(spki, hash);
	life_token(l, n->meta.uid, &token);
	rc = life_config_files(l, n, &join, a, o, &e);
	secret_wipe(&token, sizeof(token));
	if (rc < 0)
		*d = life_fail(l, REASON_ConfigInvalid, "%s", e.text);
	return rc == 0;
}

static bool ensure_unstamped(struct life *l, enum life_decision *d)
{
	OWN(arena) a = arena_new();
	struct proto_order o = {.kind = PROTO_WRITE, .what = PROTO_WRITE_UNSTAMP};

	o.expected.v = arena_calloc(a, l->m->spec.drives.n + 1, sizeof(char *));
	for (size_t i = 0; i < l->m->spec.drives.n; i++)
		o.expected.v[o.expected.n++] = l->m->spec.drives.v[i].wwn;
	return ensure_ended(l, life_order(l, &o, "unstamp"), "the clean stamps were not erased", d);
}

static bool ensure_imaged(struct life *l, const struct node_claim *n, const char *drive,
			  enum life_decision *d)
{
	struct proto_order o = {.kind = PROTO_WRITE,
				.what = PROTO_WRITE_IMAGE,
				.drive = drive,
				.url = n->spec.image.url,
				.digest = n->spec.image.digest,
				.format = n->spec.image.format == IMAGE_RAW ? 0 : 1};
	const struct proto_report *r;

	if (str_starts(str_or(o.url, ""), "https://"))
		o.ca_pem = l->c->o.image_ca_pem;
	r = life_order(l, &o, "image");
	if (!r || agent_reason(r, REASON_DriveFailed) != REASON_ImageMismatch ||
	    r->state == PROTO_DONE || strstr(str_or(r->message, ""), str_or(o.digest, "sha256:")))
		return ensure_ended(l, r, "the image was not written", d);
	*d = life_fail(l, REASON_ImageMismatch, "the image was not written: %.200s; wanted: %s",
		       str_or(r->message, "no reason given"), str_or(o.digest, "(no digest)"));
	return false;
}

bool coming_ensure_config(struct life *l, const struct node_claim *n, struct arena *a,
			  struct proto_order *o, enum life_decision *d)
{
	struct tenant *t = tenant_get(l->parts->tenants, n->spec.virtual_cluster_ref.name);
	const struct virtual_cluster *vc = CTX_GET(l->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster,
						   n->spec.virtual_cluster_ref.name);
	struct join_answer joins;

	if (!t || !vc || !tenant_usable(t)) {
		*d = life_wait(l, WAITING_DEVICE, REASON_TenantUnreachable, "tenant %s: %s",
			       n->spec.virtual_cluster_ref.name, t ? t->message : "does not exist");
		return false;
	}
	join_probe_answer(t->joins, vc, &joins);
	if (!joins.takes) {
		*d = life_wait(l, WAITING_DEVICE, REASON_NodesNotTaken, "tenant %s: %s", t->name,
			       joins.text);
		return false;
	}
	return ensure_minted(l, n, t) && config_files(l, n, t, &joins, a, o, d);
}

/* True if the agent has written the config drive. It is written after the image, as the last step,
 * because it contains the bootstrap token of the machine's Node. */
static bool ensure_configured(struct life *l, const struct node_claim *n, const char *drive,
			      enum life_decision *d)
{
	struct proto_order o = {.kind = PROTO_WRITE, .what = PROTO_WRITE_CONFIG, .drive = drive};
	OWN(arena) a = arena_new();

	return coming_ensure_config(l, n, a, &o, d) &&
	       ensure_ended(l, life_order(l, &o, "config"), "the config drive was not written", d);
}

/* Does the imaging for a machine whose manager installs the image. In the agent's boot before the
 * installation, the agent erases the clean stamps. In its boot after the installation, it writes
 * the config drive, so that the manager never sees the config drive. */
static enum life_decision image_managed(struct life *l, const struct node_claim *n,
					const char *drive)
{
	const struct machine_install *i = l->m->status.install;
	bool before = !i || !str_eq(i->handle, l->m->status.operation->id);
	enum life_decision d = LIFE_STAY;

	if (!before && !life_ensure_installed(l, &d))
		return d;
	if (!life_agent_dismissed(l) &&
	    (!ensure_agent_there(l, &d) ||
	     !(before ? ensure_unstamped(l, &d) : ensure_configured(l, n, drive, &d))))
		return d;
	if (!life_ensure_agent_gone(l) || (before && !life_ensure_acquired(l, n)))
		return d;
	return before ? d : life_goto(l, MACHINE_ATTACHING, NULL, REASON_NONE, NULL);
}

enum life_decision step_imaging(struct life *l)
{
	enum life_decision d = LIFE_STAY;
	const struct node_claim *n = coming_claim(l, &d);
	const char *drive;
	struct err e;

	if (!n)
		return d;
	drive = root_drive(l, &e);
	if (!drive)
		return life_fail(l, REASON_InventoryMismatch, "%s", e.text);
	if (life_is_managed(l))
		return image_managed(l, n, drive);
	if (life_agent_dismissed(l))
		l->work.progress = 3;
	if (l->work.progress < 3 && !ensure_agent_there(l, &d))
		return d;
	if (l->work.progress == 0) {
		if (!ensure_unstamped(l, &d))
			return d;
		l->work.progress = 1;
	}
	if (l->work.progress == 1) {
		if (!ensure_imaged(l, n, drive, &d))
			return d;
		l->work.progress = 2;
	}
	if (l->work.progress == 2) {
		if (!ensure_configured(l, n, drive, &d))
			return d;
		l->work.progress = 3;
	}
	if (life_ensure_agent_gone(l))
		return life_goto(l, MACHINE_ATTACHING, NULL, REASON_NONE, NULL);
	return d;
}

/* --- attaching -------------------------------------------------------------------------------- */

enum life_decision step_attaching(struct life *l)
{
	enum life_decision d = LIFE_STAY;
	const struct node_claim *n = coming_claim(l, &d);
	const struct virtual_cluster *vc;
	char segment[TENANT_SEGMENT], lacks[LIFE_PROOF_TEXT];

	if (!n || !ensure_bmc_ours(l, &d) || !life_ensure_agent_gone(l))
		return d;
	vc = CTX_GET(l->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster,
		     n->spec.virtual_cluster_ref.name);
	if (!vc)
		return life_fail(l, REASON_TenantGone, "VirtualCluster %s does not exist",
				 n->spec.virtual_cluster_ref.name);
	segment_of_tenant(vc, segment);
	if (!life_ensure_placed(l, segment))
		return d;
	if (!life_proof_may_suffice(l, n, lacks))
		return life_fail(l, REASON_NetworkProofWeak, "%s", lacks);
	return life_goto(l, MACHINE_BOOTING, NULL, REASON_NONE, NULL);
}
