/*
 * stopping: the states stopping and isolating. Their order is a guarantee (safety invariant S3 of
 * docs/architecture.md): first the machine is off, as observed; then it is isolated, as proved;
 * then follows steps/leaving.c.
 *
 * A BMC may report Off while the machine runs. Two sources reveal this: messages of drover's agent,
 * and the machine's kubelet, which renews its Lease every 10 s (a quarter of 40 s). Clocks of two
 * machines are never compared. What counts is that the Lease changes between two requests that were
 * both sent after Off was read. The age of the Lease at the first request is computed from the
 * clock of its API server alone (managedFields and Date).
 *
 * One such change may come from a write that was in flight when the machine stopped. Two changes
 * mean that the machine runs: status.power.doubted then contains the id of the operation, and
 * drover does not believe the BMC's Off until the BMC has reported a different state, or the
 * operation has ended. The doubt does not outlast the operation, because a tenant can renew the
 * Lease itself to keep its machine. Once the machine is isolated, a changed Lease no longer counts.
 */
#include <string.h>

#include "controller/steps/stopping.h"
#include "base/log.h"
#include "base/str.h"
#include "controller/agent/endpoint.h"
#include "controller/core/clock_jumps.h"
#include "controller/life/bmc.h"
#include "controller/life/consent.h"
#include "controller/life/journal.h"
#include "controller/life/life.h"
#include "controller/life/port.h"
#include "controller/life/power.h"
#include "controller/rules/provider.h"
#include "controller/steps/steps.h"
#include "controller/tenant/tenant.h"
#include "kube/want.h"

#define BEAT_EVERY_MS 1000
/* A kubelet renews its Lease every 10 s, plus 4 % jitter. If the Lease does not change for this
 * time (rounded up), no kubelet runs. */
#define BEAT_SILENT_MS 11000
/* Time in which a tenant must answer a request for the Lease. After that time drover stops waiting
 * for the tenant. */
#define BEAT_ANSWER_MS 5000
#define BEATS_ALIVE 2
/* Longest wait for the isolation if the pool does not require it. */
#define CUT_PATIENCE_MS 60000

/* --- heartbeats ------------------------------------------------------------------------------- */

static const struct scan_want lease_meta[] = {KUBE_WANT_META, KUBE_WANT_WRITTEN, SCAN_END};
static const struct scan_want lease_spec[] = {SCAN_PLAIN("renewTime"), SCAN_END};
static const struct scan_want lease[] = {SCAN_SOME("metadata", lease_meta),
					 SCAN_SOME("spec", lease_spec), SCAN_END};

/* Returns a lower bound of the time since the Lease was last written, in ms; 0: unknown. Subtracts
 * a second, because both times that are compared have whole seconds. */
static int64_t unwritten_ms(const struct life *l, const json_t *o)
{
	const int64_t written = kube_written_at(o);
	int64_t date, at, ms;

	if (!written || !kube_client_date(tenant_nodes_client(l->beat.to), &date, &at))
		return 0;
	ms = date - written - 1000;
	return ms < 0 ? 0 : ms > BEAT_SILENT_MS ? BEAT_SILENT_MS : ms;
}

static void on_beat(json_t *o, const struct err *e, void *arg)
{
	struct life *l = arg;
	const char *text = json_str_at(o, "spec", "renewTime");
	int64_t off = l->observation.off_since;

	l->beat.call = NULL;
	l->beat.silent = e || !text;
	if (!l->beat.silent && !str_eq(text, l->beat.text)) {
		if (l->beat.text[0] && off && l->beat.read_at >= off)
			l->beat.after_off++;
		l->beat.changed_at =
			loop_now(l->c->loop) - (l->beat.text[0] ? 0 : unwritten_ms(l, o));
		str_copy(l->beat.text, sizeof(l->beat.text), text);
	}
	l->beat.read_at = l->beat.asked_at;
	life_kick(l);
}

void life_beat_hang_up(struct life *l, const struct tenant *t)
{
	if (!l->beat.call || l->beat.to != t)
		return;
	kube_call_cancel(l->beat.call);
	l->beat.call = NULL;
	l->beat.silent = true;
}

/* True if status shows the machine as isolated already. A heartbeat that arrives now must be
 * forged, because an isolated machine cannot reach its tenant. */
static bool is_cut(const struct life *l)
{
	const struct provider_object *p = life_provider(l);
	const struct machine_status *st = &l->m->status;

	return p && !str_eq(st->network.proof, fabric_proof_names[FABRIC_PROOF_NONE]) &&
	       str_eq(st->network.segment,
		      str_or(p->spec.network.segments.quarantine, "quarantine"));
}

static struct tenant *listens_to(const struct life *l)
{
	const struct node_claim *n = life_claim(l);
	struct tenant *t =
		n ? tenant_get(l->parts->tenants, n->spec.virtual_cluster_ref.name) : NULL;

	return t && !is_cut(l) && tenant_node_now(l->parts->tenants, n) ? t : NULL;
}

void life_beat_listen(struct life *l)
{
	struct tenant *t = listens_to(l);
	int64_t now = loop_now(l->c->loop);
	const char *claim = t ? str_or(life_claim(l)->meta.uid, "") : "";

	if (t && !str_eq(l->beat.of, claim)) {
		kube_call_cancel(l->beat.call);
		memset(&l->beat, 0, sizeof(l->beat));
		str_copy(l->beat.of, sizeof(l->beat.of), claim);
	}
	if (!t || l->beat.call || (l->beat.asked_at && now - l->beat.asked_at < BEAT_EVERY_MS))
		return;
	l->beat.asked_at = now;
	l->beat.to = t;
	l->beat.call = kube_get(tenant_nodes_client(t), &KUBE_LEASES, "kube-node-lease",
				life_claim(l)->meta.name, on_beat, l);
	kube_call_want(l->beat.call, lease);
}

/* True if the machine has shown no sign of life for long enough since Off was read. Signs of life
 * are a message of the agent and a changed Lease. Also true if the Lease cannot be observed, for
 * example because the tenant does not answer. */
static bool ensure_silent(struct life *l)
{
	const struct agent_session_info *s = agent_session_info(l->agent);
	int64_t now = loop_now(l->c->loop);

	if (s->boot_id && s->last_seen > l->observation.off_since) {
		life_wait(l, WAITING_DEVICE, REASON_PowerNotConfirmed,
			  "the BMC reports off, but drover's agent sent a message after that");
		l->beat.after_off++;
		life_observation_doubt(l);
		return false;
	}
	if (!listens_to(l) || l->beat.silent ||
	    (l->beat.call && now - l->beat.asked_at > BEAT_ANSWER_MS))
		return true;
	return l->beat.read_at >= l->observation.off_since &&
	       l->beat.read_at - l->beat.changed_at >= BEAT_SILENT_MS;
}

bool life_ensure_undoubted(struct life *l)
{
	const struct machine_operation *op = l->m->status.operation;
	bool doubted = op && op->id && str_eq(l->m->status.power.doubted, op->id);

	if (!doubted && op && op->id && l->beat.after_off >= BEATS_ALIVE) {
		l->beat.after_off = 0;
		life_write(l, json_pack("{s:{s:s}}", "power", "doubted", op->id), NULL);
		return false;
	}
	if (!doubted)
		return true;
	if (l->observation.power == PROVIDER_POWER_OFF) {
		life_wait(l, WAITING_DEVICE, REASON_PowerNotConfirmed,
			  "the BMC reports off, but the agent or the kubelet of the machine sent a "
			  "message after that; if the machine is off, run `drover confirm-off %s`",
			  l->name);
		return false;
	}
	/* The BMC no longer reports Off, so its next Off can be believed again. */
	memset(l->beat.text, 0, sizeof(l->beat.text));
	l->beat.after_off = 0;
	life_write(l, json_pack("{s:{s:n}}", "power", "doubted"), NULL);
	return false;
}

/* Returns for how long the machine has been in its present state, in ms. */
static int64_t here_for(const struct life *l)
{
	int64_t since = l->m->status.state_since;

	return loop_wall(l->c->loop) - clock_jumps_since(l->c, since) - since;
}

/* --- stopping --------------------------------------------------------------------------------- */

bool life_ensure_rested(struct life *l, int64_t off_for)
{
	const struct provider_object_instance_type *t =
		provider_instance_type(life_provider(l), l->m->spec.instance_type);
	int64_t rest = t ? t->minimum_off_time : 0;

	if (off_for < rest)
		loop_timer_start(&l->timer, rest - off_for);
	return off_for >= rest;
}

enum life_decision step_stopping(struct life *l)
{
	if (!l->work.progress) {
		l->work.progress = 1;
		l->volumes = -1;
		l->beat.silent = false;
		l->beat.after_off = 0;
	}
	life_beat_listen(l);
	if (life_ensure_off_confirmed(l)) {
		if (life_ensure_rested(l, here_for(l)))
			return life_goto(l, MACHINE_ISOLATING, NULL, REASON_NONE, NULL);
		return LIFE_STAY;
	}
	if (!life_ensure_observed(l, l->c->o.poll_ms * 2))
		return LIFE_STAY;
	/* Never switch off a machine that may not be the approved one. */
	if (!life_ensure_approved_identity(l, REASON_DuplicateIdentity) ||
	    /* mutant: off-heard */ !life_ensure_undoubted(l))
		return LIFE_STAY;
	/* mutant: off-not-asked */
	if (l->observation.power != PROVIDER_POWER_OFF) {
		life_power(l, false);
		return LIFE_STAY;
	}
	agent_session_check_alive(l->agent);
	/* mutant: off-not-proved */
	if (!life_ensure_off_proved(l) || !ensure_silent(l) ||
	    !life_ensure_rested(l, l->observation.read_at - l->observation.off_since))
		return LIFE_STAY;
	return life_goto(l, MACHINE_ISOLATING, NULL, REASON_NONE, NULL);
}

/* --- isolating -------------------------------------------------------------------------------- */

bool life_ensure_isolated(struct life *l)
{
	const struct node_claim *n = life_claim(l);
	bool optional = n && n->spec.network.isolation == ISOLATION_NOT_REQUIRED;

	/* state isolating has already tried to isolate the machine, and the pool does not require
	 * it: do not wait longer */
	if (optional && l->state != MACHINE_ISOLATING)
		return true;
	if (life_ensure_placed(
		    l, str_or(life_provider(l)->spec.network.segments.quarantine, "quarantine")))
		return true;
	return optional && !writer_busy(&l->journal.write) && here_for(l) > CUT_PATIENCE_MS;
}

enum life_decision step_isolating(struct life *l)
{
	agent_session_close(l->agent);
	/* mutant: isolating-skipped */
	if (life_ensure_isolated(l))
		return life_goto(l, MACHINE_LEAVING, NULL, REASON_NONE, NULL);
	return LIFE_STAY;
}
