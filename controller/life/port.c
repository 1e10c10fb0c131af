/*
 * port: observes the machine's switch port and moves it. The moves are the acts at the fabric.
 * Tests: tests/world/test_leave.c, tests/world/test_restore.c
 */
#include <stdio.h>
#include <string.h>

#include "controller/life/port.h"
#include "base/log.h"
#include "base/str.h"
#include "controller/hardware/segments.h"
#include "controller/life/act.h"
#include "controller/life/journal.h"
#include "controller/life/life.h"
#include "controller/life/takeover.h"

static struct fabric_port port(const struct life *l)
{
	return (struct fabric_port){.machine = l->name, .mac = l->m->spec.boot_mac_address};
}

bool life_in_tenants_segment(const struct life *l)
{
	return l->port.known && str_starts(l->port.segment, SEGMENT_TENANTS);
}

bool life_in_drovers_segment(const struct life *l)
{
	const struct provider_object *p = life_provider(l);
	const char *seg = l->port.segment;

	return l->port.known && l->port.proof != FABRIC_PROOF_NONE &&
	       (str_eq(seg, str_or(p->spec.network.segments.quarantine, "quarantine")) ||
		str_eq(seg, str_or(p->spec.network.segments.provisioning, "provisioning")));
}

static void on_place_seen(const struct fabric_place *p, const struct err *e, void *arg)
{
	struct life *l = arg;

	l->port.busy = false;
	l->port.known = !e;
	if (!e) {
		str_copy(l->port.segment, sizeof(l->port.segment), str_or(p->segment, ""));
		l->port.proof = p->proof;
		str_copy(l->port.why, sizeof(l->port.why), str_or(p->why, ""));
		l->port.read_at = p->read_at;
		l->port.answered_at = loop_now(l->c->loop);
	} else {
		log_warn("fabric could not be read", LOG_S("machine", l->name), LOG_E(e));
		l->m = CTX_GET(l->c, OBJECT_MACHINE, machine, l->name);
		if (l->m && !writer_busy(&l->journal.write))
			life_wait(l, WAITING_DEVICE, REASON_NetworkNotConfirmed, "%s", e->text);
		loop_timer_start(&l->timer, e->retry_after_ms > 1000 ? e->retry_after_ms : 1000);
		return;
	}
	life_kick(l);
}

static void on_placed(const struct fabric_place *p, const struct err *e, void *arg)
{
	struct life *l = arg;

	(void)p;
	l->port.busy = false;
	l->port.known = false;
	l->port.moving[0] = '\0';
	life_acted(l, e);
}

/* Called immediately before a move of the port is sent (invariant S7), because the move may wait a
 * long time in the queue to the switch. True if the move may be sent. */
static bool may_act(void *arg)
{
	const struct life *l = arg;

	return ctx_may_act(l->c);
}

void life_port_forget(struct life *l)
{
	l->port.known = false;
}

void life_port_over(struct life *l)
{
	l->port.wanted_at = 0;
}

void life_port_drop(struct life *l)
{
	l->port.busy = l->port.known = false;
	if (!l->port.moving[0])
		return;
	life_move_unheard(l, l->port.moving);
	l->port.moving[0] = '\0';
	life_act_unanswered(l);
}

/* True if the last observation of the port is at most max_age_ms old and began after the last act
 * had ended. The age counts from the end of the observation if the observation started after the
 * present state first wanted one; otherwise a slow fabric would make every observation too old. */
static bool is_fresh(const struct life *l, int64_t max_age_ms)
{
	const struct life_port *k = &l->port;
	bool since = k->wanted_at && k->read_at >= k->wanted_at;

	return k->known && k->read_at >= l->act.ended_at &&
	       loop_now(l->c->loop) - (since ? k->answered_at : k->read_at) <= max_age_ms;
}

bool life_ensure_port_observed(struct life *l, int64_t max_age_ms)
{
	const struct fabric_port at = port(l);
	struct fabric_call call = {
		.op_id = l->m->status.operation ? l->m->status.operation->id : NULL,
		.fence = l->m->status.operation ? l->m->status.operation->fence : 0,
		.done = on_place_seen,
		.arg = l};

	if (l->port.busy)
		return false;
	if (is_fresh(l, max_age_ms))
		return true;
	if (!l->port.wanted_at)
		l->port.wanted_at = loop_now(l->c->loop);
	l->port.busy = true;
	fabric_observe(l->driver->fabric, &at, &call);
	return false;
}

/* True if status.network does not match this observation: status shows a different segment, a proof
 * that was lost and is back, or a probe result of an earlier operation. */
static bool is_old(const struct life *l, const char *segment)
{
	const struct machine_probe *p = l->m->status.network.probe;
	const char *id = l->m->status.operation->id;
	size_t n = strlen(id);

	if (p && !strncmp(str_or(p->order, ""), id, n) && p->order[n] == '/')
		return !str_eq(l->m->status.network.segment, segment);
	return p || !str_eq(l->m->status.network.segment, segment) ||
	       (l->port.proof != FABRIC_PROOF_NONE &&
		str_eq(l->m->status.network.proof, fabric_proof_names[FABRIC_PROOF_NONE]));
}

static void write_place(struct life *l, const char *segment, enum fabric_proof proof)
{
	char when[STR_TIME_SIZE];

	life_write(l,
		   json_pack("{s:{s:s?, s:s, s:s, s:n}}", "network", "segment", segment, "proof",
			     fabric_proof_names[proof], "observedTime",
			     str_time(when, loop_wall(l->c->loop)), "probe"),
		   NULL);
}

/* Reports what the fabric answered after the last move, if the port is not in `segment`. Before the
 * second attempt only a reason that the fabric itself reports counts, because a move takes a
 * moment. */
static void report_not_placed(struct life *l, const char *segment)
{
	const char *mac = str_or(l->m->spec.boot_mac_address, "unknown"), *why = l->port.why;

	if (!str_eq(l->port.segment, segment) && l->m->status.operation->attempt >= 2)
		life_wait(l, WAITING_DEVICE, REASON_NetworkNotConfirmed,
			  "the fabric accepted the move to segment %s, but still reports the port "
			  "(MAC address %s) in %s%s%s",
			  segment, mac, str_or(l->port.segment, "no segment"), *why ? ": " : "",
			  why);
	else if (*why)
		life_wait(l, WAITING_DEVICE, REASON_NetworkNotConfirmed, "%s", why);
}

bool life_ensure_placed(struct life *l, const char *segment)
{
	const struct provider_object *p = life_provider(l);
	bool isolated = p->spec.network.type != FABRIC_NONE;
	const struct fabric_port at = port(l);
	struct fabric_call call = {.op_id = l->m->status.operation->id,
				   .fence = l->m->status.operation->fence,
				   .may_act = may_act,
				   .arg = l};
	char step[48];

	if (l->port.busy || !life_ensure_moves_landed(l, segment))
		return false;
	if (!life_ensure_port_observed(l, l->c->o.poll_ms * 10))
		return false;
	if (str_eq(l->port.segment, segment) &&
	    (!isolated || /* mutant: cut-not-proved */ l->port.proof != FABRIC_PROOF_NONE)) {
		if (!is_old(l, segment))
			return true;
		write_place(l, segment, l->port.proof);
		return false;
	}
	/* First clear the result of the last probe and its proof in status: they are for the
	 * segment that the port is about to leave. */
	if (l->m->status.network.probe) {
		write_place(l, l->m->status.network.segment, FABRIC_PROOF_NONE);
		return false;
	}
	str_format(step, sizeof(step), "place %.40s", segment);
	if (life_act(l, step, LIFE_IDEMPOTENT, 10000) != LIFE_GO) {
		/* The move was answered, but the port is not in the segment yet: forget the
		 * observation, so that the next turn observes the port again. */
		if (str_eq(l->act.step, step) && !l->act.in_progress &&
		    !writer_busy(&l->journal.write)) {
			l->port.known = false;
			report_not_placed(l, segment);
		}
		return false;
	}
	l->port.busy = true;
	str_copy(l->port.moving, sizeof(l->port.moving), segment);
	call.done = on_placed;
	fabric_place(l->driver->fabric, &at, segment, &call);
	return false;
}
