#include <stdlib.h>
#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "providers/jobs.h"
#include "providers/registry.h"
#include "redfish/redfish.h"

/* Limits for all BMCs together. Each BMC gets only one request at a time anyway, so the limits are
 * high and only protect drover itself. */
#define RATE 1000
#define CONCURRENT 1024

/*
 * Provider type redfish: machines with Redfish BMCs. Calls wait in one queue (jobs.h).
 * Tests: tests/contract/test_provider.c
 */
struct redfish_provider {
	struct loop_group *group;
	struct http *http;
	bool plain_ok;
	struct job_queue queue;
};

/* Check that these codes are equal, because the provider returns errors of the Redfish client
 * unchanged. */
_Static_assert(REDFISH_ADDRESS == PROVIDER_ADDRESS, "one code");
_Static_assert(REDFISH_PASSWORD_CHANGE == PROVIDER_PASSWORD_CHANGE, "one code");

struct redfish_machine {
	struct provider_machine base;
	struct redfish *bmc;
};

static struct redfish_machine *machine_of(const struct provider_machine *m)
{
	return container_of(m, struct redfish_machine, base);
}

static struct redfish *bmc_of(const struct job *j)
{
	return machine_of(j->machine)->bmc;
}

/* may_act() for the Redfish client; arg is the job. True if the job may send a change now. False
 * also if the open session is not recorded in the journal yet. Not called for observations. */
static bool may_act(void *arg)
{
	struct job *j = arg;

	struct err e;

	j->new_login =
		j->session && !str_eq(j->session, str_or(redfish_session_uri(bmc_of(j)), ""));
	return !j->new_login && job_may_act(j, &e);
}

static enum provider_power power_of(enum redfish_power p)
{
	switch (p) {
	case REDFISH_POWER_UNKNOWN:
		return PROVIDER_POWER_UNKNOWN;
	case REDFISH_POWER_OFF:
		return PROVIDER_POWER_OFF;
	case REDFISH_POWER_ON:
		return PROVIDER_POWER_ON;
	case REDFISH_POWER_TURNING_ON:
	case REDFISH_POWER_TURNING_OFF:
		return PROVIDER_POWER_CHANGING;
	}
	return PROVIDER_POWER_UNKNOWN;
}

/* Returns the provider's word for the boot override of *s. "Hdd" counts as no override: the machine
 * then boots its disk as well, and some BMCs offer only "Hdd" instead of "None". */
static enum provider_override override_of(const struct redfish_system *s)
{
	static const struct {
		const char *target;
		enum provider_override is;
	} targets[] = {
		{"None", PROVIDER_OVERRIDE_NONE},     {"Hdd", PROVIDER_OVERRIDE_NONE},
		{"Cd", PROVIDER_OVERRIDE_MEDIA},      {"UsbCd", PROVIDER_OVERRIDE_MEDIA},
		{"UefiHttp", PROVIDER_OVERRIDE_HTTP},
	};

	if (!s->boot_target || str_eq(s->boot_enabled, "Disabled"))
		return PROVIDER_OVERRIDE_NONE;
	for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++)
		if (str_eq(targets[i].target, s->boot_target))
			return targets[i].is;
	return PROVIDER_OVERRIDE_OTHER;
}

/* Copies the state in *s to *o. The strings are not copied and still belong to the client. */
static void see(const struct redfish_system *s, struct provider_observation *o)
{
	o->read_at = s->read_at;
	o->power = power_of(s->power);
	o->system_uuid = s->system_uuid;
	o->serial = s->serial;
	o->boot_override = override_of(s);
	o->http_url = s->http_boot_uri;
}

static int fits(const struct redfish_system *s, void *arg, struct err *e)
{
	struct job *j = arg;
	struct provider_observation o = {0};

	if (!j->call.fits)
		return 0;
	see(s, &o);
	return j->call.fits(&o, j->call.arg, e);
}

/* --- answers of the Redfish client ------------------------------------------------------------ */

static void on_plain(const struct err *e, void *arg)
{
	struct job *j = arg;
	struct err new_login;

	if (e && j->new_login) {
		err_note(&new_login, ERR_UNAVAILABLE, 0,
			 "the session is new: drover must record it before the next change");
		new_login.scope = ERR_MACHINE;
		e = &new_login;
	}
	job_end(j, NULL, e);
}

static void on_media(const struct redfish_media *m, const struct err *e, void *arg)
{
	struct job *j = arg;
	struct redfish *bmc = bmc_of(j);

	/* Report the power state that was read before, even if the media cannot be read. */
	j->seen.media_known = m || e->kind == ERR_UNSUPPORTED;
	if (m) {
		j->seen.media_inserted = m->inserted;
		j->seen.media_url = m->image;
		j->seen.media_https = m->takes_https;
		j->seen.media_verified = m->verifies;
	}
	j->seen.address = redfish_address(bmc);
	j->seen.session_uri = redfish_session_uri(bmc);
	j->seen.learned_pin = redfish_learned_pin(bmc);
	job_end(j, &j->seen, NULL);
}

static void on_system(const struct redfish_system *s, const struct err *e, void *arg)
{
	struct job *j = arg;

	if (e) {
		job_end(j, NULL, e);
		return;
	}
	j->strings = arena_new();
	see(s, &j->seen);
	j->seen.system_uuid = arena_strdup(j->strings, s->system_uuid);
	j->seen.serial = arena_strdup(j->strings, s->serial);
	j->seen.http_url = arena_strdup(j->strings, s->http_boot_uri);
	j->seen.fault = s->health_reported ? arena_strdup(j->strings, s->fault) : NULL;
	redfish_read_media(bmc_of(j), on_media, j);
}

static void on_drives(const struct redfish_drives *l, const struct err *e, void *arg)
{
	struct job *j = arg;
	struct provider_drive *v;

	if (e) {
		job_end(j, NULL, e);
		return;
	}
	j->strings = arena_new();
	v = arena_calloc(j->strings, l->n + 1, sizeof(*v));
	for (size_t i = 0; i < l->n; i++) {
		const struct redfish_drive *d = &l->v[i];

		v[i] = (struct provider_drive){.serial = d->serial,
					       .model = d->model,
					       .durable = d->durable,
					       .slot = d->slot,
					       .bytes = d->bytes};
		if (d->volume) {
			v[i].volume = d->volume->name;
			v[i].volume_durable = d->volume->durable;
			v[i].volume_bytes = d->volume->bytes;
		}
	}
	j->seen.drives = v;
	j->seen.ndrives = l->n;
	j->seen.drives_more = l->more;
	j->seen.drives_lack = l->lacks;
	j->seen.drives_simple = l->simple;
	job_end(j, &j->seen, NULL);
}

/* --- requests --------------------------------------------------------------------------------- */

static void boot(struct job *j)
{
	enum redfish_boot how = REDFISH_BOOT_NONE;

	switch (j->how) {
	case PROVIDER_BOOT_DISK:
		break;
	case PROVIDER_BOOT_MEDIA:
		how = REDFISH_BOOT_CD;
		break;
	case PROVIDER_BOOT_HTTP:
		how = REDFISH_BOOT_HTTP;
		break;
	}
	redfish_boot(bmc_of(j), how, j->url, on_plain, j);
}

static void run(struct job *j)
{
	struct redfish *bmc = bmc_of(j);

	switch (j->kind) {
	case JOB_OBSERVE:
		redfish_read_system(bmc, on_system, j);
		break;
	case JOB_POWER:
		redfish_power(bmc, j->on, on_plain, j);
		break;
	case JOB_BOOT:
		boot(j);
		break;
	case JOB_MEDIA:
		if (j->url)
			redfish_insert(bmc, j->url, j->media_ca, on_plain, j);
		else
			redfish_eject(bmc, on_plain, j);
		break;
	case JOB_DRIVES:
		redfish_read_drives(bmc, j->text, on_drives, j);
		break;
	case JOB_LOG_OUT:
		redfish_log_out(bmc, on_plain, j);
		break;
	case JOB_DEFINE:
	case JOB_UNDEFINE:
	case JOB_ACQUIRE:
	case JOB_RELEASE:
		/* Unreachable: these jobs are never queued, because the corresponding members of
		 * provider_ops are NULL. */
		break;
	}
}

/* --- functions of provider_ops ---------------------------------------------------------------- */

static int redfish_open(struct provider *p, const struct provider_spec *s, struct err *e)
{
	struct redfish_provider *rp;

	if (!s->http || !s->group)
		return err_set(e, ERR_INVALID, 0, "provider %s: no HTTP client", s->name);
	rp = mem_new(struct redfish_provider);
	rp->group = s->group;
	rp->http = s->http;
	rp->plain_ok = s->plain_ok;
	job_queue_init(&rp->queue, s, RATE, CONCURRENT, run);
	p->state = rp;
	return 0;
}

static void redfish_close(struct provider *p)
{
	struct redfish_provider *rp = p->state;

	job_queue_done(&rp->queue);
	free(rp);
}

static struct provider_machine *redfish_attach(struct provider *p,
					       const struct provider_machine_spec *s, struct err *e)
{
	struct redfish_provider *rp = p->state;
	struct redfish_spec spec = {
		.system_url = s->bmc_address,
		.ca_pem = s->ca_pem,
		.pin_sha256 = s->pin_sha256,
		.learn_pin = s->learn_pin,
		.user = s->user,
		.password = s->password,
		.old_session = s->old_session,
		.plain_ok = rp->plain_ok,
		.may_act = may_act,
		.fits = fits,
	};
	struct redfish *bmc = redfish_new(rp->group, rp->http, &spec, e);
	struct redfish_machine *m;

	if (!bmc) {
		err_note_wrap(e, "machine %s", s->name);
		return NULL;
	}
	m = mem_new(struct redfish_machine);
	job_machine_init(&m->base, &rp->queue);
	m->bmc = bmc;
	return &m->base;
}

static void redfish_detach(struct provider *p, struct provider_machine *m)
{
	struct redfish_machine *rm = machine_of(m);

	(void)p;
	redfish_free(rm->bmc);
	job_machine_done(m);
	free(rm);
}

static void redfish_observe(struct provider *p, struct provider_machine *m,
			    const struct provider_call *c)
{
	(void)p;
	job_ask(m, JOB_OBSERVE, c);
}

static void redfish_switch(struct provider *p, struct provider_machine *m, bool on,
			   const struct provider_call *c)
{
	(void)p;
	job_ask(m, JOB_POWER, c)->on = on;
}

static void redfish_boot_from(struct provider *p, struct provider_machine *m,
			      enum provider_boot how, const char *url,
			      const struct provider_call *c)
{
	struct job *j = job_ask(m, JOB_BOOT, c);

	(void)p;
	j->how = how;
	j->url = mem_strdup(url);
}

static void redfish_put_media(struct provider *p, struct provider_machine *m, const char *url,
			      const struct provider_call *c)
{
	struct job *j = job_ask(m, JOB_MEDIA, c);

	(void)p;
	j->url = mem_strdup(url);
	j->media_ca = mem_strdup(c->media_ca);
}

static void redfish_drives_of(struct provider *p, struct provider_machine *m,
			      const struct provider_call *c)
{
	(void)p;
	job_ask(m, JOB_DRIVES, c)->text = mem_strdup(c->unless_firmware);
}

static const char *redfish_session(const struct provider_machine *m, bool *only)
{
	const struct redfish *bmc = machine_of(m)->bmc;

	*only = redfish_session_is_only(bmc);
	return redfish_session_uri(bmc);
}

static bool redfish_known(const struct provider_machine *m, struct provider_bmc *out)
{
	static const char *const ways[] = {[REDFISH_SLOT_NONE] = "None",
					   [REDFISH_SLOT_DISABLED] = "Disabled",
					   [REDFISH_SLOT_HTTP] = "HTTP",
					   [REDFISH_SLOT_HTTPS] = "HTTPS"};
	static const char *const logins[] = {
		[REDFISH_LOGIN_SESSION] = "Session", [REDFISH_LOGIN_BASIC] = "Basic"};
	struct redfish_facts k = redfish_facts(machine_of(m)->bmc);

	*out = (struct provider_bmc){.vendor = k.vendor,
				     .product = k.product,
				     .firmware = k.firmware,
				     .service_version = k.redfish_version,
				     .media = ways[k.slot_kind],
				     .slot = k.slot,
				     .login = logins[k.login],
				     .latency_ms = k.latency_ms,
				     .calls = k.calls};
	for (size_t i = 0; i < k.nquirks && i < PROVIDER_QUIRKS; i++)
		out->quirks[out->nquirks++] = k.quirks[i].id;
	return k.system;
}

static void redfish_take_session(struct provider_machine *m, const char *session)
{
	redfish_inherit(machine_of(m)->bmc, session);
}

static void redfish_leave(struct provider *p, struct provider_machine *m,
			  const struct provider_call *c)
{
	(void)p;
	job_ask(m, JOB_LOG_OUT, c);
}

static const struct provider_hardware_ops hardware = {
	.observe = redfish_observe,
	.power = redfish_switch,
	.boot = redfish_boot_from,
	.media = redfish_put_media,
	.drives = redfish_drives_of,
	.log_out = redfish_leave,
	.session = redfish_session,
	.bmc = redfish_known,
	.inherit = redfish_take_session,
};

const struct provider_ops redfish_provider_ops = {
	.type = "redfish",
	.open = redfish_open,
	.close = redfish_close,
	.attach = redfish_attach,
	.detach = redfish_detach,
	.hardware = &hardware,
};
