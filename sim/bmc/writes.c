#include "sim/bmc/bmc_impl.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"

/*
 * bmc_dialect: requests that write to a BMC of a dialect, answered as that make does (dialect.h).
 * Tests: tests/unit/sim/bmc/test_dialect.c, tests/contract/test_dialects.c
 */
static const struct sim_quirks *quirks(const struct bmc_call *c)
{
	return &c->b->dialect->quirks;
}

/* Answers the request in the form `answer` (enum sim_answer). Returns true if the caller must now
 * execute the action. Returns false if the caller must not, because bmc_task() refused the request
 * or created a task that fails. */
static bool taken(struct bmc_call *c, int answer, const char *name, bool power, bool to)
{
	if (answer == SIM_ANSWER_TASK || bmc_wants_task(c))
		return bmc_task(c, name, power, to);
	if (answer == SIM_ANSWER_OK)
		bmc_reply(c, 200,
			  json_pack("{s:[o]}", "@Message.ExtendedInfo",
				    bmc_message(NULL, "Success")));
	else
		bmc_reply(c, answer == SIM_ANSWER_NOWHERE ? 202 : 204, NULL);
	return true;
}

/* --- power ------------------------------------------------------------------------------------ */

/* True if a BMC of this make accepts the Reset `type` in the present power state. False: the Reset
 * was refused, and the request was answered. */
static bool reset_is_welcome(struct bmc_call *c, const char *type, bool changes, bool on)
{
	const struct sim_quirks *q = quirks(c);
	struct sim_bmc *b = c->b;

	if (on && q->power.on_busy_ms && !b->m->on && b->switched_at != INT64_MIN &&
	    bmc_now(b) - b->switched_at < q->power.on_busy_ms) {
		bmc_error_as(c, 409, "IDRAC.2.8.ActionParameterValueConflict",
			     "The host is still powering off.");
		return false;
	}
	if (!changes && q->power.same && !str_eq(type, "ForceRestart")) {
		bmc_error_as(c, (int)q->power.same, "Base.1.8.InvalidOperation",
			     "The host is already in this power state.");
		return false;
	}
	return true;
}

void bmc_dialect_reset(struct bmc_call *c)
{
	static const char action[] = "ComputerSystem.Reset";
	const char *type = json_str_at(c->body, "ResetType");
	OWN_JSON allowed = bmc_tree_allowed(c->b);
	struct sim_bmc *b = c->b;
	bool changes, to;

	if (!type) {
		bmc_error(c, 400, "ActionParameterMissing", action, "ResetType");
		return;
	}
	if (allowed && !json_has_str(allowed, type)) {
		bmc_error(c, 400, "ActionParameterValueNotInList", type, "ResetType", action);
		return;
	}
	changes = bmc_reset_changes(b->m, type, &to);
	if (!reset_is_welcome(c, type, changes, to) ||
	    !taken(c, quirks(c)->power.answer, "Computer Reset", changes, to))
		return;
	if (to && changes && b->deaf < (unsigned)quirks(c)->power.deaf)
		b->deaf++;
	else
		bmc_reset(b, type);
}

/* --- boot ------------------------------------------------------------------------------------- */

/* Returns the permitted values of a member of Boot. They are listed beside the member, or elsewhere
 * in the System. */
static const json_t *values_of(const struct bmc_call *c, const json_t *system, const char *member)
{
	char name[96];
	const json_t *v;

	str_format(name, sizeof(name), "%s@Redfish.AllowableValues", member);
	v = json_at(c->now, "Boot", name);
	return v ? v : json_at(system, "Boot", name);
}

/* Checks the values of a boot override against the permitted values. False: a value was refused,
 * and the request was answered. */
static bool boot_values_ok(struct bmc_call *c, const json_t *boot)
{
	const struct sim_tree *t = c->b->dialect->tree;
	OWN_JSON system = sim_tree_get(t, t->system);
	const char *member, *text;
	json_t *v;

	json_object_foreach ((json_t *)boot, member, v) {
		const json_t *allowed = values_of(c, system, member);

		text = json_string_value(v);
		if (!json_at(c->now, "Boot", member)) {
			bmc_error(c, 400, "PropertyUnknown", member);
			return false;
		}
		if (allowed && (!text || !json_has_str(allowed, text))) {
			bmc_error(c, 400, "PropertyValueNotInList", str_or(text, "?"), member);
			return false;
		}
	}
	return true;
}

/* Checks the combination of members of a boot override against the quirks. False: the combination
 * was refused, and the request was answered. */
static bool boot_is_welcome(struct bmc_call *c, const json_t *boot)
{
	const char *target = json_str_at(boot, "BootSourceOverrideTarget");
	bool mode = json_object_get(boot, "BootSourceOverrideMode");
	int wants = quirks(c)->boot.mode;

	if (quirks(c)->boot.post_busy && c->b->m->doing == SIM_POST) {
		bmc_error_as(c, 400, "iLO.2.14.UnableToModifyDuringSystemPOST",
			     "The system is in POST.");
		return false;
	}
	if (quirks(c)->boot.no_none && str_eq(target, "None")) {
		bmc_error(c, 400, "PropertyValueNotInList", "None", "BootSourceOverrideTarget");
		return false;
	}
	if (target && !str_eq(target, "None") &&
	    ((wants == SIM_MODE_REQUIRED && !mode) || (wants == SIM_MODE_REFUSED && mode))) {
		bmc_error(c, 400, "GeneralError");
		return false;
	}
	return true;
}

/* Stores a boot override in the machine. A target without Enabled applies to the next boot. BMCs of
 * some makes reset the boot mode when only the target is set (Q18 in redfish/quirks.def). */
static void set_boot(struct sim_bmc *b, const json_t *boot)
{
	const char *target = json_str_at(boot, "BootSourceOverrideTarget"),
		   *when = json_str_at(boot, "BootSourceOverrideEnabled"),
		   *mode = json_str_at(boot, "BootSourceOverrideMode");
	const json_t *uri = json_object_get(boot, "HttpBootUri");
	struct sim_machine *m = b->m;

	if (uri)
		sim_text_set(&m->http_boot_uri, str_or(json_string_value(uri), NULL));
	if (str_eq(target, "None") || str_eq(when, "Disabled")) {
		sim_text_set(&m->boot_target, "None");
		sim_text_set(&m->boot_enabled, "Disabled");
	} else {
		if (target)
			sim_text_set(&m->boot_target, target);
		if (when || target)
			sim_text_set(&m->boot_enabled, str_or(when, "Once"));
	}
	if (mode)
		m->legacy_boot = str_eq(mode, "Legacy");
	else if (target && b->dialect->quirks.boot.mode == SIM_MODE_FORGOTTEN)
		m->legacy_boot = true;
	sim_machine_save(m);
}

static void patch_boot(struct bmc_call *c)
{
	const json_t *boot = json_object_get(c->body, "Boot");

	if (!json_is_object(boot) || json_object_size(c->body) != 1)
		bmc_error(c, 400, "PropertyUnknown", "Boot alone can be written");
	else if (boot_is_welcome(c, boot) && boot_values_ok(c, boot) &&
		 taken(c, quirks(c)->boot.answer, "Boot Override", false, false))
		set_boot(c->b, boot);
}

void bmc_dialect_boot(struct bmc_call *c)
{
	if (quirks(c)->boot.place == SIM_PLACE_SYSTEM)
		patch_boot(c);
	else
		bmc_error_as(c, 400, "Ami.1.0.OperationSupportedInFutureStateURI",
			     "Write this to the settings object.");
}

void bmc_dialect_settings(struct bmc_call *c)
{
	if (quirks(c)->boot.place == SIM_PLACE_SETTINGS)
		patch_boot(c);
	else
		bmc_error(c, 400, "PropertyNotWritable", "Boot");
}

/* Handles a PATCH of a Dell manager's attributes. Only two of an iDRAC's attributes are simulated:
 * those that select the boot device. */
void bmc_dialect_attributes(struct bmc_call *c)
{
	const json_t *all = json_object_get(c->body, "Attributes");
	const char *device = json_str_at(all, BMC_FIRST_DEVICE), *name;
	json_t *v;

	json_object_foreach ((json_t *)all, name, v) {
		if (str_eq(name, BMC_FIRST_DEVICE) || str_eq(name, BMC_BOOT_ONCE))
			continue;
		bmc_error_as(c, 400, "IDRAC.2.8.SYS410", "This attribute is not simulated.");
		return;
	}
	if (!str_eq(device, BMC_VCD) && !str_eq(device, "Normal")) {
		bmc_error_as(c, 400, "IDRAC.2.8.SYS407",
			     BMC_FIRST_DEVICE " must be VCD-DVD or Normal.");
		return;
	}
	if (!taken(c, SIM_ANSWER_OK, "Attributes", false, false))
		return;
	if (str_eq(device, BMC_VCD) || str_eq(c->b->m->boot_target, BMC_VCD)) {
		bool cd = str_eq(device, BMC_VCD);

		sim_text_set(&c->b->m->boot_target, cd ? BMC_VCD : "None");
		sim_text_set(&c->b->m->boot_enabled, cd ? "Once" : "Disabled");
		sim_machine_save(c->b->m);
	}
}

/* --- media ------------------------------------------------------------------------------------ */

static bool is_inner(const struct bmc_call *c, const struct sim_slot *s)
{
	const struct strings *inner = &quirks(c)->media.inner;

	for (size_t i = 0; s && i < inner->n; i++)
		if (str_eq(inner->v[i], s->path))
			return true;
	return false;
}

/* Checks the members of an InsertMedia request against the quirks. False: the body was refused, and
 * the request was answered. */
static bool body_fits(struct bmc_call *c)
{
	const char *image = json_str_at(c->body, "Image");
	bool good = true;

	switch ((enum sim_media_body)quirks(c)->media.body) {
	case SIM_BODY_ANY:
		break;
	case SIM_BODY_BARE:
		good = json_object_size(c->body) == 1;
		break;
	case SIM_BODY_WORDY:
		good = json_str_at(c->body, "TransferProtocolType");
		break;
	case SIM_BODY_NAMED:
		good = json_str_at(c->body, "UserName") && json_str_at(c->body, "Password");
		break;
	}
	if (!image || (!str_starts(image, "http://") && !str_starts(image, "https://")))
		bmc_error(c, 400, "PropertyValueNotInList", str_or(image, "nothing"), "Image");
	else if (!good)
		bmc_error(c, 400, "GeneralError");
	return good && image && str_starts(image, "http");
}

/* Checks the URL of an image against the quirks. False: the URL was refused, and the request was
 * answered. */
static bool server_fits(struct bmc_call *c)
{
	const char *image = str_or(json_str_at(c->body, "Image"), "");

	if (quirks(c)->media.tls_only && !str_starts(image, "https://"))
		bmc_error_as(c, 400, "Base.1.13.ActionParameterValueFormatError",
			     "The URL of the image must begin with https://.");
	else if (quirks(c)->media.verifies && !c->b->unverified)
		bmc_error_as(c, 400, "Base.1.13.ResourceAtUriUnauthorized",
			     "The certificate of the server is not trusted.");
	else
		return true;
	return false;
}

/* True if the slot accepts a medium now. replaces: true if the new medium may replace one that is
 * already in this slot. False: the slot refused, and the request was answered. */
static bool slot_takes(struct bmc_call *c, bool replaces)
{
	const struct sim_slot *s = bmc_tree_slot(c->b, c->at);

	if (is_inner(c, s)) {
		bmc_error(c, 405, "ActionNotSupported", "InsertMedia");
	} else if (quirks(c)->media.licence) {
		bmc_error_as(c, 403, quirks(c)->media.licence,
			     "A licence is needed for virtual media.");
	} else if (s && !s->cd) {
		bmc_error(c, 400, "PropertyValueNotInList", "an image of a CD", "Image");
	} else if (c->b->m->image && (c->at != c->b->slot || !replaces)) {
		bmc_error(c, 409, "ResourceInUse");
	} else if (c->b->busy < (unsigned)quirks(c)->media.busy) {
		c->b->busy++;
		bmc_error(c, 500, "InternalError");
	} else {
		return true;
	}
	return false;
}

static void put(struct sim_bmc *b, size_t at, const char *image)
{
	const char *slash = b->m->image ? strrchr(b->m->image, '/') : NULL;

	if (slash)
		sim_text_set(&b->last_name, slash + 1);
	b->was_in = b->m->image && !image;
	b->slot = at;
	bmc_put_medium(b, image);
}

static void insert(struct bmc_call *c, bool replaces)
{
	const char *image = json_str_at(c->body, "Image");

	if (slot_takes(c, replaces) && body_fits(c) && server_fits(c) &&
	    taken(c, quirks(c)->media.answer, "Insert Media", false, false))
		put(c->b, c->at, image);
}

static void eject(struct bmc_call *c)
{
	bool in = c->b->m->image && c->at == c->b->slot;

	if (!in && quirks(c)->media.empty_eject)
		bmc_error(c, (int)quirks(c)->media.empty_eject, "GeneralError");
	else if (taken(c, quirks(c)->media.answer, "Eject Media", false, false) && in)
		put(c->b, c->at, NULL);
}

void bmc_dialect_insert(struct bmc_call *c)
{
	insert(c, false);
}

void bmc_dialect_eject(struct bmc_call *c)
{
	int body = quirks(c)->media.eject_body;

	if (body == SIM_EJECT_OBJECT && !c->body)
		bmc_error(c, 400, "MalformedJSON");
	else if (body == SIM_EJECT_NONE && c->body)
		bmc_error(c, 415, "UnrecognizedRequestBody");
	else
		eject(c);
}

/* Handles a PATCH of a media slot. The PATCH changes the medium only if the slot has no actions. */
void bmc_dialect_slot(struct bmc_call *c)
{
	const struct sim_slot *s = bmc_tree_slot(c->b, c->at);
	const json_t *image = json_object_get(c->body, "Image");

	if (s && quirks(c)->media.verifies && json_object_get(c->body, "VerifyCertificate")) {
		c->b->unverified = !json_true_at(c->body, "VerifyCertificate");
		(void)taken(c, SIM_ANSWER_NO_CONTENT, "Slot", false, false);
	} else if (!s || s->insert)
		bmc_error(c, 405, "OperationNotAllowed");
	else if (!image)
		bmc_error(c, 400, "PropertyMissing", "Image");
	else if (json_is_null(image))
		eject(c);
	else
		insert(c, true);
}

void bmc_dialect_enable(struct bmc_call *c)
{
	bool on = str_eq(json_str_at(c->body, "RMediaState"), "Enable");

	if (!on && !str_eq(json_str_at(c->body, "RMediaState"), "Disable")) {
		bmc_error(c, 400, "ActionParameterMissing", "EnableRMedia", "RMediaState");
		return;
	}
	c->b->enabled_at = on ? bmc_now(c->b) : -1;
	(void)taken(c, SIM_ANSWER_NO_CONTENT, "Remote Media", false, false);
}
