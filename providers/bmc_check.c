#include "providers/bmc_check.h"

#include <stdarg.h>
#include <stdio.h>
#include "base/mem.h"
#include "base/str.h"
#include "redfish/redfish.h"

/*
 * bmc_check: goes through these steps, one Redfish read after the other.
 *
 *   System -> abilities -> media -> drives, in rounds -> facts -> log out -> done
 *      \---- failed, or stopped -------------------------------------^
 *
 * A request that fails with a transient error is repeated. A failed read of media or drives becomes
 * a finding, and the check continues.
 */
#define TRIES 4
#define WAIT_MS 2000 /* Delay before a request is repeated, unless the BMC names a delay */
/* Latency in ms from which the report has a note, because each operation of drover then takes
 * minutes longer. */
#define SLOW_MS 1500
/* Maximum number of requests for the list of drives, which a BMC may report in several parts. */
#define ROUNDS 120
#define SYSTEMS 16

enum bmc_check_step { READ_SYSTEM, READ_ABILITIES, READ_MEDIA, READ_DRIVES, LOG_OUT };

struct bmc_check {
	struct bmc_check_spec s;
	struct redfish *r;
	struct loop_timer again;
	struct loop_defer stop;
	enum bmc_check_step step;
	unsigned tries, rounds, wrong;
	bool stopped;
	/* First error of the present step */
	struct err first;
	json_t *told, *findings, *bmc;
	/* What the BMC supports. able.tpm is valid only inside on_abilities(). */
	struct redfish_abilities able;
	/* able_known, media_known: true after a successful read of `able` or of the media slots.
	 * verifies: true if the media slot verifies TLS certificates (copied from struct
	 * redfish_media). */
	bool able_known, media_known, verifies;
};

static void ask(struct bmc_check *c);

__attribute__((format(printf, 5, 6))) static void found(struct bmc_check *c, const char *of,
							const char *result, const char *mend,
							const char *fmt, ...)
{
	char says[640];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(says, sizeof(says), fmt, ap);
	va_end(ap);
	json_array_append_new(c->findings, json_pack("{s:s, s:s, s:s, s:s*}", "of", of, "result",
						     result, "says", says, "mend", mend));
	c->wrong += str_eq(result, "wrong");
}

static void put(struct bmc_check *c, const char *member, const char *text)
{
	if (!str_empty(text))
		json_object_set_new(c->bmc, member, json_string(text));
}

/* --- the end ---------------------------------------------------------------------------------- */

static void over(struct bmc_check *c)
{
	c->s.done(c->told, c->wrong, c->s.arg);
}

static void on_logged_out(const struct err *e, void *arg)
{
	struct bmc_check *c = arg;

	if (e && err_is_transient(e) && ++c->tries < TRIES) {
		loop_timer_start(&c->again, e->retry_after_ms ? e->retry_after_ms : WAIT_MS);
		return;
	}
	if (e)
		found(c, "session", "note", "nothing: the BMC ends the session by its own time-out",
		      "%s could not be ended: %s", str_or(redfish_session_uri(c->r), "the session"),
		      e->text);
	over(c);
}

static void leave(struct bmc_check *c)
{
	c->step = LOG_OUT;
	c->tries = 0;
	ask(c);
}

/* --- facts ------------------------------------------------------------------------------------ */

static void tell_way(struct bmc_check *c, const struct redfish_facts *k)
{
	static const char of[] = "virtual media";
	const char *mend = "the agent can also be started by UEFI HTTP boot";

	if (!c->media_known)
		return;
	switch (k->slot_kind) {
	case REDFISH_SLOT_UNKNOWN:
		break;
	case REDFISH_SLOT_NONE:
		found(c, of, "note", mend, "the BMC has no virtual media slot for a CD");
		break;
	case REDFISH_SLOT_DISABLED:
		found(c, of, "note",
		      "nothing: drover enables remote media before it inserts the first medium",
		      "the BMC offers slots only after remote media are enabled");
		break;
	case REDFISH_SLOT_HTTP:
		found(c, of, "ok", NULL,
		      "slot %s; the medium is fetched from spec.boot.mediaURL of the Provider",
		      k->slot);
		break;
	case REDFISH_SLOT_HTTPS:
		found(c, of, "ok", NULL,
		      "slot %s, also over TLS: the medium is fetched from spec.boot.httpsMediaURL "
		      "of the Provider if that is set",
		      k->slot);
		if (c->verifies)
			found(c, of, "note",
			      "nothing: drover installs its CA in the BMC, or switches the check "
			      "off for this slot",
			      "the slot checks the certificate of the media server");
		break;
	}
}

/* Reports how the BMC can boot drover's agent. */
static void tell_boot(struct bmc_check *c, const struct redfish_facts *k)
{
	bool slot = c->media_known && k->slot_kind != REDFISH_SLOT_NONE &&
		    k->slot_kind != REDFISH_SLOT_UNKNOWN,
	     media = slot && c->able.boots_cd;

	if (!c->able_known)
		return;
	if (media && c->able.boots_http)
		found(c, "boot of the agent", "ok", NULL,
		      "from a virtual CD, or by UEFI HTTP boot");
	else if (media)
		found(c, "boot of the agent", "ok", NULL,
		      "from a virtual CD only: the BMC does not support UEFI HTTP boot as a "
		      "fallback");
	else if (c->able.boots_http && c->media_known)
		found(c, "boot of the agent", "ok", NULL, "by UEFI HTTP boot only: %s",
		      slot ? "the machine cannot be told to boot from a virtual CD"
			   : "the BMC has no slot for media");
	else if (c->media_known)
		found(c, "boot of the agent", "wrong",
		      "a licence or newer firmware may add virtual media or HttpBootUri",
		      "neither from a virtual CD nor by HTTP boot: the agent cannot be started, "
		      "so the machine would be quarantined");
}

static void tell_power(struct bmc_check *c, const struct redfish_abilities *a)
{
	if (!a->on || !a->off)
		found(c, "power", "wrong", "use a Provider of type ipmi if the BMC supports IPMI",
		      "the machine cannot be switched %s: its System lists no such reset type",
		      a->off  ? "on"
		      : a->on ? "off"
			      : "at all");
	else if (a->forced_off)
		found(c, "power", "ok", NULL, "on, and off by ForceOff");
	else
		found(c, "power", "note",
		      "check whether newer firmware supports ForceOff; otherwise an operator may "
		      "have to run `drover confirm-off`",
		      "ForceOff is not supported: drover uses GracefulShutdown, which the running "
		      "system may ignore");
}

static void tell_known(struct bmc_check *c)
{
	static const char *const logins[] = {
		[REDFISH_LOGIN_SESSION] = "Session", [REDFISH_LOGIN_BASIC] = "Basic"};
	static const char *const ways[] = {[REDFISH_SLOT_NONE] = "None",
					   [REDFISH_SLOT_DISABLED] = "Disabled",
					   [REDFISH_SLOT_HTTP] = "HTTP",
					   [REDFISH_SLOT_HTTPS] = "HTTPS"};
	struct redfish_facts k = redfish_facts(c->r);
	json_t *quirks = json_array();

	put(c, "vendor", k.vendor);
	put(c, "product", k.product);
	put(c, "firmwareVersion", k.firmware);
	put(c, "redfishVersion", k.redfish_version);
	put(c, "system", k.system);
	put(c, "media", ways[k.slot_kind]);
	put(c, "mediaSlot", k.slot);
	put(c, "login", logins[k.login]);
	json_object_set_new(c->bmc, "quirks", quirks);
	tell_way(c, &k);
	tell_boot(c, &k);
	if (k.login == REDFISH_LOGIN_BASIC)
		found(c, "login", "note", NULL,
		      "Basic: the BMC has no session service or no free session, so each request "
		      "contains the password");
	for (size_t i = 0; i < k.nquirks; i++) {
		json_array_append_new(quirks, json_string(k.quirks[i].id));
		found(c, "quirk", "note", NULL, "%s: %s", k.quirks[i].id, k.quirks[i].name);
	}
	if (k.latency_ms < 0)
		return;
	json_object_set_new(c->bmc, "latencyMilliseconds", json_integer(k.latency_ms));
	json_object_set_new(c->bmc, "calls", json_integer((json_int_t)k.calls));
	found(c, "latency", k.latency_ms > SLOW_MS ? "note" : "ok",
	      k.latency_ms > SLOW_MS
		      ? "nothing: each operation on the machine takes some minutes longer"
		      : NULL,
	      "%lld ms per request, over %llu requests", (long long)k.latency_ms,
	      (unsigned long long)k.calls);
}

/* Ends the reads, whether complete or not: adds the facts to the report and logs out. */
static void conclude(struct bmc_check *c)
{
	const char *pin = redfish_learned_pin(c->r);

	if (pin) {
		char text[80];

		str_format(text, sizeof(text), "sha256:%s", pin);
		put(c, "fingerprint", text);
		found(c, "certificate", "note",
		      "compare the fingerprint with the one that the BMC shows, then set "
		      "spec.bmc.tls.fingerprint",
		      "%s, trusted on first use", text);
	}
	tell_known(c);
	leave(c);
}

/* --- answers ---------------------------------------------------------------------------------- */

/* True if the caller must not use the answer: the request will be repeated after a transient error,
 * or the check was stopped and now logs out. */
static bool is_put_off(struct bmc_check *c, const struct err *e)
{
	if (c->stopped) {
		conclude(c);
		return true;
	}
	if (!e || !err_is_transient(e))
		return false;
	if (c->tries == 0)
		c->first = *e;
	if (++c->tries >= TRIES)
		return false;
	loop_timer_start(&c->again, e->retry_after_ms ? e->retry_after_ms : WAIT_MS);
	return true;
}

/* Returns the text of the first error of this step. A later error may only mean that the Redfish
 * client pauses after failures. */
static const char *why(const struct bmc_check *c, const struct err *e)
{
	return c->tries > 0 ? c->first.text : e->text;
}

static void go_on(struct bmc_check *c, enum bmc_check_step step)
{
	c->step = step;
	c->tries = 0;
	ask(c);
}

static void on_drives(const struct redfish_drives *d, const struct err *e, void *arg)
{
	struct bmc_check *c = arg;
	int64_t bytes = 0;

	if (is_put_off(c, e))
		return;
	if (d && d->more && ++c->rounds < ROUNDS) {
		go_on(c, READ_DRIVES);
		return;
	}
	for (size_t i = 0; d && i < d->n; i++)
		bytes += d->v[i].bytes;
	if (e || d->more)
		found(c, "drives", "note",
		      "nothing: drover cannot compare the drives with those that the agent finds",
		      "the list of drives cannot be read: %s", e ? why(c, e) : "too many requests");
	else if (d->lacks)
		found(c, "drives", "note",
		      "nothing: drover compares only the listed drives with those that the agent "
		      "finds",
		      "%zu listed; part of the list cannot be read: %s", d->n, d->lacks->text);
	else if (d->n == 0)
		found(c, "drives", "note",
		      "nothing: drover cannot compare the drives with those that the agent finds",
		      "the BMC lists none");
	else
		found(c, "drives", "ok", NULL, "%zu listed, %lld GB in all", d->n,
		      (long long)(bytes / 1000000000));
	conclude(c);
}

static void on_media(const struct redfish_media *m, const struct err *e, void *arg)
{
	struct bmc_check *c = arg;

	if (is_put_off(c, e))
		return;
	c->media_known = m || e->kind == ERR_UNSUPPORTED;
	c->verifies = m && m->verifies;
	if (!c->media_known)
		found(c, "virtual media", "wrong", NULL,
		      "the virtual media slots cannot be read: %s", why(c, e));
	else if (m && m->inserted)
		found(c, "virtual media", "note",
		      "nothing: drover ejects the medium before it inserts its own",
		      "a medium is inserted");
	go_on(c, READ_DRIVES);
}

static void on_abilities(const struct redfish_abilities *a, const struct err *e, void *arg)
{
	struct bmc_check *c = arg;

	if (is_put_off(c, e))
		return;
	if (!a) {
		found(c, "System", "wrong", NULL, "the supported actions cannot be read: %s",
		      why(c, e));
		conclude(c);
		return;
	}
	c->able = *a;
	c->able_known = true;
	tell_power(c, a);
	found(c, "TPM", "note", NULL, "%s; drover does not need a TPM",
	      str_or(a->tpm, "the System reports none"));
	found(c, "firmware", "note", NULL,
	      "the BMC has %s UpdateService; drover does not update firmware",
	      a->updates ? "an" : "no");
	put(c, "tpm", a->tpm);
	go_on(c, READ_MEDIA);
}

static void tell_identity(struct bmc_check *c, const struct redfish_system *s)
{
	put(c, "systemUUID", s->system_uuid);
	put(c, "serialNumber", s->serial);
	put(c, "biosVersion", s->bios_version);
	if (s->system_uuid || s->serial)
		found(c, "identity", "ok", NULL, "UUID %s, serial number %s",
		      str_or(s->system_uuid, "none"), str_or(s->serial, "none"));
	else
		found(c, "identity", "wrong",
		      "set the UUID or serial number of the System with the tools of its maker",
		      "neither UUID nor serial number, or only a default of the maker: drover "
		      "cannot verify the identity of the machine, so it does not use the machine");
	if (s->health_reported && s->fault[0])
		found(c, "health", "note", "repair the hardware", "%s", s->fault);
}

static bool is_of_login(const struct err *e)
{
	return e->code == 401 || e->code == REDFISH_PASSWORD_CHANGE;
}

static const char *mend_of(const struct err *e)
{
	if (e->code == 401)
		return "correct the user or the password (the login was tried only once)";
	if (e->code == REDFISH_PASSWORD_CHANGE)
		return "change the password at the BMC; drover does not change passwords";
	return e->code == REDFISH_ADDRESS
		       ? "set the path of a System in the address, or omit the path"
		       : NULL;
}

static void tell_systems(struct bmc_check *c, const struct err *e)
{
	const char *v[SYSTEMS];
	size_t n = redfish_systems(c->r, v, SYSTEMS);
	json_t *list;

	if (n == 0) {
		found(c, is_of_login(e) ? "login" : "System", "wrong", mend_of(e), "%s", why(c, e));
		return;
	}
	list = json_array();
	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_string(v[i]));
	json_object_set_new(c->told, "systems", list);
	found(c, "System", "wrong", "append the path of one of these Systems to the address",
	      "the BMC has %zu Systems with power control, and drover does not guess which one is "
	      "the machine",
	      n);
}

static void on_system(const struct redfish_system *s, const struct err *e, void *arg)
{
	struct bmc_check *c = arg;

	if (is_put_off(c, e))
		return;
	if (s) {
		tell_identity(c, s);
		go_on(c, READ_ABILITIES);
	} else {
		tell_systems(c, e);
		conclude(c);
	}
}

/* --- requests --------------------------------------------------------------------------------- */

static void ask(struct bmc_check *c)
{
	switch (c->step) {
	case READ_SYSTEM:
		redfish_read_system(c->r, on_system, c);
		break;
	case READ_ABILITIES:
		redfish_read_abilities(c->r, on_abilities, c);
		break;
	case READ_MEDIA:
		redfish_read_media(c->r, on_media, c);
		break;
	case READ_DRIVES:
		redfish_read_drives(c->r, NULL, on_drives, c);
		break;
	case LOG_OUT:
		/* mutant: probe-session */
		redfish_log_out(c->r, on_logged_out, c);
		break;
	}
}

static void on_again(void *arg)
{
	ask(arg);
}

static bool never(void *arg)
{
	(void)arg;
	return false;
}

/* Ends a delay before a repeated request at once. If a request is in flight, waits for its answer
 * instead, because the answer shows which session is open. */
static void on_stop(void *arg)
{
	struct bmc_check *c = arg;

	if (!loop_timer_active(&c->again))
		return;
	loop_timer_stop(&c->again);
	conclude(c);
}

struct bmc_check *bmc_check_new(const struct bmc_check_spec *s, struct err *e)
{
	struct redfish_spec spec = {
		.system_url = s->address,
		.ca_pem = s->ca_pem,
		.pin_sha256 = s->pin_sha256,
		.learn_pin = s->learn_pin,
		.user = s->user,
		.password = s->password,
		.plain_ok = s->plain_ok,
		.may_act = never,
	};
	struct redfish *r = redfish_new(s->group, s->http, &spec, e);
	struct bmc_check *c;

	if (!r)
		return NULL;
	c = mem_new(struct bmc_check);
	c->s = *s;
	c->r = r;
	c->told = json_object();
	c->findings = json_array();
	c->bmc = json_object();
	json_object_set_new(c->told, "bmc", c->bmc);
	json_object_set_new(c->told, "findings", c->findings);
	put(c, "address", s->address);
	loop_timer_init(&c->again, s->group, on_again, c);
	loop_defer_init(&c->stop, s->group, on_stop, c);
	ask(c);
	return c;
}

void bmc_check_stop(struct bmc_check *c)
{
	if (c->stopped || c->step == LOG_OUT)
		return;
	c->stopped = true;
	loop_defer(&c->stop);
}

void bmc_check_free(struct bmc_check *c)
{
	if (!c)
		return;
	loop_timer_stop(&c->again);
	loop_defer_cancel(&c->stop);
	redfish_free(c->r);
	json_decref(c->told);
	free(c);
}
