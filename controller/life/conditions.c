/*
 * conditions: computes the conditions that a Machine shows to humans and `kubectl wait`. Nothing in
 * drover decides by them.
 */
#include <ctype.h>
#include <string.h>

#include "controller/life/conditions.h"
#include "base/arena.h"
#include "base/str.h"
#include "controller/life/bmc_reason.h"
#include "controller/life/identity.h"
#include "controller/life/life.h"
#include "controller/rules/identity.h"
#include "controller/rules/machine.h"

#define CONDITIONS 6

/* Text for the message of BootProtected if the medium is served over HTTPS to a BMC that does not
 * verify certificates. Nobody can read such a medium on the network, but an attacker between BMC
 * and drover can substitute a different one. */
#define UNCHECKED "its BMC does not verify the TLS certificate of the boot medium's server"

/* Sets the condition Ready of a free machine to False if its BMC or Provider cannot be used,
 * because then the machine could not be booted for a claim. */
static void out_of_reach(const struct life *l, const json_t *status, struct condition *c,
			 struct arena *a)
{
	const struct machine_operation *op = l->m->status.operation;
	const json_t *told = json_object_get(json_object_get(status, "operation"), "lastError");
	const char *reason = told ? json_str_at(told, "reason") : op ? op->last_error.reason : NULL;
	const char *message = told ? json_str_at(told, "message")
			      : op ? op->last_error.message
				   : NULL;

	if (!machine_is_out_of_reach(reason))
		return;
	c->status = CONDITION_FALSE;
	c->reason = arena_strdup(a, reason);
	c->message = arena_strdup(a, str_or(message, ""));
}

static void ready(const struct life *l, const json_t *status, struct condition *c, struct arena *a)
{
	const struct machine_quarantine *q = l->m->status.quarantine;
	const char *state =
		str_or(json_str_at(status, "state"), str_or(l->m->status.state, "known"));
	const json_t *given = json_object_get(status, "quarantine"),
		     *clean = json_object_get(status, "clean");
	enum machine_state s = machine_state_find(state);
	char *name = arena_strdup(a, state);

	name[0] = (char)toupper((unsigned char)name[0]);
	*c = (struct condition){.type = "Ready",
				.status = s == MACHINE_FREE || s == MACHINE_SERVING,
				.reason = name,
				.message = ""};
	if (s == MACHINE_FREE && !(clean ? json_is_true(clean) : l->m->status.clean)) {
		c->status = CONDITION_FALSE;
		c->reason = "NotClean";
	}
	if (s == MACHINE_FREE)
		out_of_reach(l, status, c, a);
	if (s != MACHINE_QUARANTINED)
		return;
	if (given) {
		c->reason = arena_strdup(a, str_or(json_str_at(given, "reason"), name));
		c->message = arena_strdup(a, str_or(json_str_at(given, "message"), ""));
	} else if (q) {
		c->reason = str_or(q->reason, name);
		c->message = str_or(q->message, "");
	}
}

/* True if the machine is quarantined until an operator acts. */
static bool needs_operator(const struct life *l, const json_t *status)
{
	const struct machine_quarantine *q = l->m->status.quarantine;
	const json_t *given = json_object_get(status, "quarantine");
	const char *state = str_or(json_str_at(status, "state"), str_or(l->m->status.state, ""));
	const char *ends = json_str_at(given, "exit");

	if (!str_eq(state, machine_state_info[MACHINE_QUARANTINED].name))
		return false;
	return ends ? str_eq(ends, "operator") : q && q->exit != EXIT_AUTO;
}

/* Computes the condition Stalled in *c from the condition Ready. Returns false if the machine is
 * not stalled and has no such condition. */
static bool stalled(const struct life *l, const json_t *status, const struct condition *ready,
		    struct condition *c)
{
	const bool is = needs_operator(l, status);

	*c = (struct condition){.type = CONDITION_STALLED,
				.status = is ? CONDITION_TRUE : CONDITION_FALSE,
				.reason = is ? ready->reason : "NotStalled",
				.message = is ? ready->message : ""};
	return is || condition_get(&l->m->status.conditions, CONDITION_STALLED);
}

/* Computes the condition Reachable in *c. Returns false if this process knows nothing of the BMC
 * yet; the caller then keeps the condition that is in status. */
static bool reachable(const struct life *l, struct condition *c)
{
	if (!l->m->spec.bmc || (!l->observation.known && !l->observation.error))
		return false;
	*c = (struct condition){
		.type = "Reachable", .status = CONDITION_TRUE, .reason = "Answered", .message = ""};
	if (l->observation.error) {
		c->status = CONDITION_FALSE;
		c->reason = reason_name(life_bmc_reason(l->observation.error));
		c->message = l->observation.error->text;
	}
	return true;
}

static bool managed(const struct life *l, struct condition *c, struct arena *a)
{
	const struct machine_operation *op = l->m->status.operation;
	const char *unwiped = machine_wipe_required(l->m, a);
	struct err e;

	*c = (struct condition){.type = "Managed", .status = CONDITION_FALSE, .message = ""};
	if (unwiped) {
		c->reason = reason_name(REASON_WipeRequired);
		c->message = unwiped;
	} else if (l->m->spec.management_policy == MACHINE_RETIRE) {
		c->reason = "Retired";
		c->message = "spec.managementPolicy is Retire";
	} else if (l->m->spec.management_policy != MACHINE_MANAGE) {
		c->reason = "Observed";
		c->message = arena_printf(
			a,
			"spec.managementPolicy is Observe: drover only reads; to let drover "
			"manage the machine, run `drover approve %s`",
			l->name);
	} else if (l->m->spec.bmc && !l->observation.known) {
		return false;
	} else if (l->m->spec.bmc && life_identity(l, &e) < 0) {
		/* the BMC does not report its identity at present: keep the condition in status */
		if (e.code == IDENTITY_UNTOLD)
			return false;
		c->reason = e.kind == ERR_NOT_FOUND ? "NotApproved" : "IdentityMismatch";
		c->message = arena_strdup(a, e.text);
	} else if (op && reason_find(op->last_error.reason) == REASON_DuplicateIdentity) {
		c->reason = op->last_error.reason;
		c->message = str_or(op->last_error.message, "");
	} else {
		c->status = CONDITION_TRUE;
		c->reason = "Approved";
	}
	return true;
}

/* Computes the condition Healthy in *c. Returns false if this process knows nothing of the sensors
 * yet; the caller then keeps the condition that is in status. */
static bool healthy(const struct life *l, struct condition *c)
{
	const bool unread = l->observation.unsensed, fault = l->observation.fault;

	*c = (struct condition){.type = "Healthy",
				.status = unread  ? CONDITION_UNKNOWN
					  : fault ? CONDITION_FALSE
						  : CONDITION_TRUE,
				.reason = unread  ? "SensorsUnread"
					  : fault ? reason_name(REASON_HardwareFault)
						  : "NothingCritical",
				.message = unread  ? l->observation.unsensed
					   : fault ? l->observation.fault
						   : ""};
	return l->m->spec.bmc && (l->observation.sensed || unread);
}

/* Returns why others can read the boot medium on the network; NULL: the medium is served over TLS
 * only. */
static const char *plain_medium(const struct life *l, struct arena *a)
{
	const struct provider_object *p = life_provider(l);

	if (str_starts(p->spec.boot.media_url, "https:") ||
	    (p->spec.boot.https_media_url && !l->m->status.power.http_boot &&
	     (l->observation.media_https || l->m->status.bmc.media_over)))
		return NULL;
	return arena_printf(
		a, "its boot medium is served over plain HTTP (%s)",
		!p->spec.boot.https_media_url
			? arena_printf(a, "no spec.boot.httpsMediaURL in provider %s", p->meta.name)
		: l->m->status.power.http_boot
			? "UEFI HTTP boot, for which BMCs do not report TLS support"
			: "its BMC does not list HTTPS for virtual media");
}

/* Computes the condition BootProtected in *c. Returns false if this process does not know the media
 * slot yet, or the machine has no BMC or no media URL; the caller then keeps the condition that is
 * in status. */
static bool boot_protected(const struct life *l, struct condition *c, struct arena *a)
{
	const struct provider_object *p = life_provider(l);
	const char *plain, *any;

	if (!l->m->spec.bmc || !l->observation.known || !l->observation.media_known || !p ||
	    !p->spec.boot.media_url)
		return false;
	plain = plain_medium(l, a);
	any = (l->m->spec.provisioning && l->m->spec.provisioning->address) ||
			      p->spec.agent.networks.n
		      ? NULL
		      : arena_printf(a,
				     "its agent may connect from any address (set "
				     "spec.provisioning.address, or spec.agent.networks in "
				     "provider %s)",
				     p->meta.name);
	*c = (struct condition){
		.type = "BootProtected",
		.status = plain || any ? CONDITION_FALSE : CONDITION_TRUE,
		.reason = plain ? "PlainMedium"
			  : any ? "AnyAddress"
				: "Bound",
		.message = arena_printf(
			a, "%s%s%s%s", plain ? plain : "", plain && any ? "; " : "", any ? any : "",
			plain || l->observation.media_verified || l->m->status.power.http_boot ? ""
			: any ? "; " UNCHECKED
			      : UNCHECKED),
	};
	return true;
}

static bool stands(const struct conditions *cs, const struct condition *want)
{
	const struct condition *c = condition_get(cs, want->type);

	return c && c->status == want->status && str_eq(c->reason, want->reason) &&
	       str_eq(str_or(c->message, ""), want->message) &&
	       c->observed_generation == want->observed_generation;
}

json_t *life_conditions(const struct life *l, const json_t *status)
{
	const struct conditions *old = &l->m->status.conditions;
	OWN(arena) a = arena_new();
	struct condition want[CONDITIONS];
	struct conditions cs = {.n = old->n};
	size_t n = 0;
	bool same = l->m->status.observed_generation == l->m->meta.generation;
	json_t *list;

	ready(l, status, &want[n++], a);
	n += stalled(l, status, &want[0], &want[n]);
	n += reachable(l, &want[n]);
	n += managed(l, &want[n], a);
	n += boot_protected(l, &want[n], a);
	n += healthy(l, &want[n]);
	for (size_t i = 0; i < n; i++) {
		want[i].observed_generation = l->m->meta.generation;
		same &= stands(old, &want[i]);
	}
	if (same)
		return NULL;
	cs.v = arena_calloc(a, old->n + CONDITIONS, sizeof(*cs.v));
	if (old->n)
		memcpy(cs.v, old->v, old->n * sizeof(*cs.v));
	for (size_t i = 0; i < n; i++)
		(void)condition_set(&cs, a, &want[i], loop_wall(l->c->loop));
	list = json_array();
	for (size_t i = 0; i < cs.n; i++)
		json_array_append_new(list, fields_encode(condition_fields, &cs.v[i]));
	return list;
}
