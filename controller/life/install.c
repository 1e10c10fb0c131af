#include "controller/life/install.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/agent/endpoint.h"
#include "controller/core/clock_jumps.h"
#include "controller/life/act.h"
#include "controller/life/agent_boot.h"
#include "controller/life/bmc.h"
#include "controller/life/bmc_open.h"
#include "controller/life/bmc_reason.h"
#include "controller/life/consent.h"
#include "controller/life/power.h"
#include "controller/life/power_turn.h"
#include "providers/managed.h"

/* Time in which an act at the manager (acquire, release) is not repeated. The time is long, because
 * one such act consists of several calls. */
#define PATIENCE_MS 60000
/* Time for which the manager must have reported the machine as UP before the machine is switched
 * off. In this time the kernel writes the last data of the installation to disk
 * (vm.dirty_expire_centisecs, 30 s). */
#define SETTLED_MS 30000
/* Time after which drover restarts a machine whose installation has not begun. The unit is a part:
 * spec.bcm.noProgress divided by UNBEGUN_PARTS.
 *
 * If drover saw the manager's head node disappear and return, it restarts the machine one part
 * after the return. Otherwise it waits UNSEEN_PARTS parts, because an absence of the head node may
 * have been too short to see, or may have ended while no replica led. A machine whose firmware is
 * still in its self-test would boot by itself later. If the self-test takes longer than this wait,
 * the restart costs one more boot, but no installation. */
#define UNBEGUN_PARTS 3
#define UNSEEN_PARTS 2
/* Shortest absence of the head node that can make a network boot of a machine fail. Firmware
 * requests its network boot for about a minute (PXE: DHCP after 4, 8, 16, 32 s). */
#define AWAY_MS 30000

static struct life_install *install_of(struct life *l)
{
	if (!l->install)
		l->install = mem_new(struct life_install);
	return l->install;
}

/* Forgets what was observed of the installation in an earlier boot of the machine. */
static void forget_seen(struct life *l)
{
	struct life_install *i = install_of(l);

	i->known = false;
	i->up_since = i->away_since = i->after = 0;
	err_clear(&i->error);
}

void life_install_forget(struct life *l)
{
	if (!l->install)
		return;
	l->install->busy = false;
	forget_seen(l);
}

/* --- acquiring and releasing the node --------------------------------------------------------- */

static void on_acquired(const struct provider_observation *o, const char *handle,
			const struct err *e, void *arg)
{
	struct life *l = arg;

	if (!e)
		str_copy(install_of(l)->acquired, sizeof(l->install->acquired), str_or(handle, ""));
	life_bmc_acted(o, handle, e, l);
}

static void on_released(const struct provider_observation *o, const char *handle,
			const struct err *e, void *arg)
{
	struct life *l = arg;

	if (!e)
		str_copy(install_of(l)->released, sizeof(l->install->released),
			 l->install->releasing);
	life_bmc_acted(o, handle, e, l);
}

static void write_acquired(struct life *l, const struct node_claim *n)
{
	json_t *i = json_pack("{s:s, s:s, s:s, s:s}", "handle", l->install->acquired, "category",
			      n->spec.image.category, "phase", "Installing", "text", "requested");

	life_set_time(i, "changedTime", loop_wall(l->c->loop));
	life_write(l, json_pack("{s:o}", "install", i), NULL);
}

bool life_ensure_acquired(struct life *l, const struct node_claim *n)
{
	const struct provider_object_bcm *b = life_provider(l)->spec.bcm;
	const char *id = l->m->status.operation->id;
	struct provider_target t = {.category = n->spec.image.category,
				    .image = n->spec.image.software_image};
	struct provider_call call;

	if (l->m->status.install && str_eq(l->m->status.install->handle, id))
		return true;
	if (str_eq(install_of(l)->acquired, id)) {
		write_acquired(l, n);
		return false;
	}
	if (life_bmc_act(l, "acquire", LIFE_PROBE_FIRST, PATIENCE_MS) != LIFE_GO)
		return false;
	if (b) {
		t.network = b->management_network;
		t.clear = b->clear_block_devices.v;
		t.nclear = b->clear_block_devices.n;
	}
	call = life_bmc_call(l);
	call.done = on_acquired;
	provider_acquire(l->driver->provider, l->bmc, &t, &call);
	return false;
}

bool life_ensure_released(struct life *l)
{
	struct provider_call call;

	if (!life_is_managed(l))
		return true;
	if (str_eq(install_of(l)->released, l->m->status.operation->id)) {
		if (!l->m->status.install)
			return true;
		life_write(l, json_pack("{s:n}", "install"), NULL);
		return false;
	}
	if (!life_ensure_observed(l, l->c->o.poll_ms * 5) ||
	    life_bmc_act(l, "release", LIFE_PROBE_FIRST, PATIENCE_MS) != LIFE_GO)
		return false;
	call = life_bmc_call(l);
	call.done = on_released;
	str_copy(l->install->releasing, sizeof(l->install->releasing), call.op_id);
	provider_release(l->driver->provider, l->bmc, &call);
	return false;
}

/* --- progress --------------------------------------------------------------------------------- */

static void on_progress(const struct provider_observation *o, const char *handle,
			const struct err *e, void *arg)
{
	struct life *l = arg;
	const struct machine *m = CTX_GET(l->c, OBJECT_MACHINE, machine, l->name);
	struct life_install *i = install_of(l);
	int64_t now = loop_now(l->c->loop), delay;

	(void)handle;
	i->busy = false;
	err_clear(&i->error);
	/* Ignore an answer for an installation that is over. */
	if (!m || !m->status.install || !str_eq(m->status.install->handle, i->asked))
		return;
	if (e) {
		i->known = false;
		i->up_since = 0;
		i->error = *e;
		delay = backoff_next(&i->backoff, loop_random(l->c->loop));
		i->after = now + delay;
		loop_timer_start(&l->timer, delay);
		life_kick(l);
		return;
	}
	backoff_reset(&i->backoff);
	i->known = true;
	i->after = now + l->c->o.poll_ms;
	i->progress = o->progress;
	str_copy(i->text, sizeof(i->text), str_or(o->handle_state, ""));
	str_clean(i->text);
	if (o->progress != PROVIDER_PROGRESS_DONE)
		i->up_since = 0;
	else if (!i->up_since)
		i->up_since = now;
	life_kick(l);
}

static void ask(struct life *l)
{
	struct life_install *i = install_of(l);
	struct provider_call call = {.op_id = l->m->status.operation->id,
				     .handle = l->m->status.install->handle,
				     .done = on_progress,
				     .arg = l};

	if (i->busy || loop_now(l->c->loop) < i->after || !life_ensure_bmc_open(l, false))
		return;
	i->backoff =
		(struct backoff){.base_ms = 2000, .cap_ms = 60000, .failures = i->backoff.failures};
	i->busy = true;
	str_copy(i->asked, sizeof(i->asked), call.handle);
	provider_observe(l->driver->provider, l->bmc, &call);
}

static void write_phase(struct life *l, const char *phase, const char *text)
{
	json_t *i = json_pack("{s:s, s:s}", "phase", phase, "text", text);

	life_set_time(i, "changedTime", loop_wall(l->c->loop));
	life_write(l, json_pack("{s:o}", "install", i), NULL);
}

/* True unless status still shows a reason about the manager or the installation that no longer
 * applies. In that case clears the reason and returns false. */
static bool ensure_past_cleared(struct life *l)
{
	static const enum reason ours[] = {REASON_ManagerUnreachable, REASON_ManagerRefused,
					   REASON_ManagerConflict,    REASON_InstallHeld,
					   REASON_InstallUnclear,     REASON_InstallNotBegun};
	enum reason said = reason_find(l->m->status.operation->last_error.reason);

	for (size_t k = 0; k < sizeof(ours) / sizeof(*ours); k++)
		if (said == ours[k]) {
			life_write(
				l,
				json_pack("{s:{s:n, s:n}}", "operation", "lastError", "waitingFor"),
				NULL);
			return false;
		}
	return true;
}

static bool is_stalled(const struct life *l)
{
	const struct provider_object_bcm *b = life_provider(l)->spec.bcm;
	int64_t since = l->m->status.install->changed_time;

	return b && b->no_progress > 0 &&
	       loop_wall(l->c->loop) - clock_jumps_since(l->c, since) - since > b->no_progress;
}

/* --- a boot that did not reach the head node -------------------------------------------------- */

/* Call when the manager answers a progress query. If the manager was away for AWAY_MS or longer
 * before, writes the time of its return to status (backTime), and returns false; the restart of the
 * machine is counted from that time. Otherwise returns true. */
static bool ensure_back_noted(struct life *l)
{
	int64_t since = l->install->away_since;
	json_t *i;

	l->install->away_since = 0;
	if (!since || loop_now(l->c->loop) - since < AWAY_MS)
		return true;
	i = json_object();
	life_set_time(i, "backTime", loop_wall(l->c->loop));
	life_write(l, json_pack("{s:o}", "install", i), NULL);
	return false;
}

/* True if the fraction parts / UNBEGUN_PARTS of the time limit spec.bcm.noProgress has passed since
 * the wall time `since`. */
static bool are_over(const struct life *l, int64_t since, int parts)
{
	const struct provider_object_bcm *b = life_provider(l)->spec.bcm;

	return b && b->no_progress > 0 &&
	       loop_wall(l->c->loop) - clock_jumps_since(l->c, since) - since >
		       b->no_progress / UNBEGUN_PARTS * parts;
}

/* True if the machine must have booted while its head node was away, so that nothing will start the
 * installation. False if drover has restarted the machine for this before. */
static bool is_left_behind(const struct life *l)
{
	const struct machine_install *i = l->m->status.install;
	int64_t back = i->back_time > i->changed_time ? i->back_time : i->changed_time;

	return !i->restart_time && ((i->back_time && are_over(l, back, 1)) ||
				    are_over(l, i->changed_time, UNSEEN_PARTS));
}

static void begin_restart(struct life *l)
{
	json_t *i = json_pack("{s:s, s:s}", "phase", "Restarting", "text", l->install->text);

	log_warn("machine is switched off and on: its boot did not reach the installer",
		 LOG_S("machine", l->name));
	life_set_time(i, "changedTime", loop_wall(l->c->loop));
	life_set_time(i, "restartTime", loop_wall(l->c->loop));
	life_write(l, json_pack("{s:o}", "install", i), NULL);
}

/* Switches the machine off. Once Off is read, writes the phase Installing; in that phase
 * life_ensure_installed() switches the machine on again. */
static void restart(struct life *l)
{
	if (l->observation.power == PROVIDER_POWER_OFF) {
		if (!l->act.in_progress)
			write_phase(l, "Installing", "switched off to boot again");
		return;
	}
	if (reason_find(l->m->status.operation->last_error.reason) == REASON_InstallNotBegun)
		life_power(l, false);
	else
		life_wait(l, WAITING_DEVICE, REASON_InstallNotBegun,
			  "BCM has reported %s since %s; drover switches the machine off and on, "
			  "once",
			  str_or(l->m->status.install->text, "nothing"),
			  l->m->status.install->back_time ? "its head node came back"
							  : "the machine was switched on");
}

/* Evaluates the manager's answers for a machine that is on. True if the manager has reported the
 * machine as UP for long enough. *d: decision if the installation failed. */
static bool ensure_up(struct life *l, enum life_decision *d)
{
	const struct life_install *i = install_of(l);
	const struct machine_install *was = l->m->status.install;

	ask(l);
	if (is_stalled(l)) {
		*d = life_fail(
			l, REASON_InstallStalled,
			"BCM has reported no progress for longer than spec.bcm.noProgress; its "
			"last status: %s",
			str_or(was->text, "nothing"));
		return false;
	}
	if (i->error.kind != ERR_NONE) {
		if (!i->away_since && life_bmc_reason(&i->error) == REASON_ManagerUnreachable)
			l->install->away_since = loop_now(l->c->loop);
		life_wait(l, WAITING_DEVICE, life_bmc_reason(&i->error), "%s", i->error.text);
		return false;
	}
	if (!i->known || !ensure_back_noted(l))
		return false;
	if (!str_eq(i->text, str_or(was->text, ""))) {
		write_phase(l, "Installing", i->text);
		return false;
	}
	switch (i->progress) {
	case PROVIDER_PROGRESS_FAILED:
		*d = life_fail(l, REASON_InstallFailed, "BCM reports: %s", i->text);
		return false;
	case PROVIDER_PROGRESS_HELD:
		life_wait(l, WAITING_APPROVAL, REASON_InstallHeld,
			  "BCM reports %s, which an administrator of BCM has set; change it in BCM",
			  i->text);
		return false;
	case PROVIDER_PROGRESS_UNKNOWN:
		life_wait(l, WAITING_DEVICE, REASON_InstallUnclear,
			  "BCM reports %s, which does not show whether the install continues or is "
			  "done",
			  i->text);
		return false;
	case PROVIDER_PROGRESS_UNBEGUN:
		if (ensure_past_cleared(l) && is_left_behind(l))
			begin_restart(l);
		return false;
	case PROVIDER_PROGRESS_WAITING:
		(void)ensure_past_cleared(l);
		return false;
	case PROVIDER_PROGRESS_DONE:
		break;
	}
	if (loop_now(l->c->loop) - i->up_since >= SETTLED_MS)
		return ensure_past_cleared(l);
	loop_timer_start(&l->timer, l->c->o.poll_ms);
	return false;
}

/* Begins a new boot of the agent for a machine that is off. The boot gets a new number and shares
 * nothing with the first boot. */
static void begin_configuring(struct life *l)
{
	const struct machine_operation *op = l->m->status.operation;

	life_write(l,
		   json_pack("{s:{s:s}, s:n, s:{s:I}}", "install", "phase", "Configuring", "agent",
			     "operation", "bootNumber", (json_int_t)(op->boot_number + 1)),
		   NULL);
	agent_session_close(l->agent);
}

bool life_ensure_installed(struct life *l, enum life_decision *d)
{
	const struct machine_install *i = l->m->status.install;

	if (i->phase == INSTALL_CONFIGURING)
		return true;
	if (life_waits_for_power(l) || !life_ensure_observed(l, l->c->o.poll_ms * 3) ||
	    !life_ensure_approved_identity(l, REASON_DuplicateIdentity))
		return false;
	if (i->phase == INSTALL_DONE) {
		if (l->observation.power != PROVIDER_POWER_OFF)
			life_power(l, false);
		else if (!l->act.in_progress)
			begin_configuring(l);
		return false;
	}
	if (i->phase == INSTALL_RESTARTING) {
		restart(l);
	} else if (l->observation.power == PROVIDER_POWER_OFF) {
		forget_seen(l);
		life_power(l, true);
	} else if (ensure_up(l, d)) {
		write_phase(l, "Installed", "UP");
	}
	return false;
}
