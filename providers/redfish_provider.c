#include <stdlib.h>
#include "base/arena.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/retry.h"
#include "base/str.h"
#include "providers/registry.h"
#include "redfish/redfish.h"

/*
 * Machines behind Redfish BMCs.  A call waits in one line for its turn: its
 * machine idle, a place among `concurrent`, a token of the bucket.  Calls whose machine is
 * busy are passed over, so that one wedged BMC holds up nobody else.
 *
 *	waiting --pump--> running (at the BMC) --> done
 *	   \---- 60 s ----> timed out \---- 60 s ----> abandoned: answered, may act no more, still running
 *
 * Tests: tests/contract/test_provider.c
 */
#define RATE 50.0
#define CONCURRENT 64

enum kind { OBSERVE, POWER, BOOT, MEDIA, DRIVES, LOG_OUT };

struct redfish_provider {
	struct loop_group *group;
	struct http *http;
	bool plain_ok;
	struct bucket bucket;
	unsigned concurrent, running;
	struct list waiting; /* of job.link */
	struct loop_timer pump;
};

struct provider_machine {
	struct redfish_provider *rp;
	struct redfish *bmc;
	struct list jobs; /* of job.sibling */
	bool busy;
};

struct job {
	struct list link, sibling;
	struct provider_machine *m;
	enum kind kind;
	bool on, running, abandoned, new_login; /* new_login: refused, as another than `session` */
	enum provider_boot how;
	char *url, *session;
	struct provider_call call;
	struct loop_timer limit;
	struct provider_observation seen;
	struct arena *strings; /* of seen */
};

static void wake(struct redfish_provider *rp)
{
	loop_timer_start(&rp->pump, 0);
}

static void job_free(struct job *j)
{
	list_remove(&j->link);
	list_remove(&j->sibling);
	loop_timer_stop(&j->limit);
	arena_free(j->strings);
	free(j->url);
	free(j->session);
	free(j);
}

/* Out of every list and the counts right, then tell, then free: done() may detach the machine. */
static void job_end(struct job *j, const struct provider_observation *o, const struct err *e)
{
	struct redfish_provider *rp = j->m->rp;

	list_remove(&j->link);
	list_remove(&j->sibling);
	loop_timer_stop(&j->limit);
	if (j->running) {
		j->m->busy = false;
		rp->running--;
		wake(rp);
	}
	if (!j->abandoned)
		j->call.done(o, NULL, e, j->call.arg);
	job_free(j);
}

static void on_limit(void *arg)
{
	struct job *j = arg;
	struct err e;

	(void)!err_set(&e, ERR_TIMEOUT, 0, "no answer within %d s", PROVIDER_CALL_MS / 1000);
	e.scope = ERR_MACHINE;
	if (j->running) {
		j->abandoned = true;
		j->call.done(NULL, NULL, &e, j->call.arg);
	} else {
		job_end(j, NULL, &e);
	}
}

/* The client asks with the operation's arg, which is the job; observations are never asked. */
static bool may_act(void *arg)
{
	struct job *j = arg;

	j->new_login =
		j->session && !str_eq(j->session, str_or(redfish_session_uri(j->m->bmc), ""));
	return !j->abandoned && !j->new_login && (!j->call.may_act || j->call.may_act(j->call.arg));
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

/* The disk is what boots without an override, and all that some BMCs have for "none". */
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

/* Texts stay the client's. */
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

/* --- answers of the client ------------------------------------------------------------------------ */

static void on_plain(const struct err *e, void *arg)
{
	struct job *j = arg;
	struct err new_login;

	if (e && j->new_login) {
		(void)!err_set(
			&new_login, ERR_UNAVAILABLE, 0,
			"the login is new and has to be written down before anything is done in it");
		new_login.scope = ERR_MACHINE;
		e = &new_login;
	}
	job_end(j, NULL, e);
}

static void on_media(const struct redfish_media *m, const struct err *e, void *arg)
{
	struct job *j = arg;
	struct redfish *bmc = j->m->bmc;

	/* What was learnt about power stands, whatever became of the media. */
	j->seen.media_known = m || e->kind == ERR_UNSUPPORTED;
	if (m) {
		j->seen.media_inserted = m->inserted;
		j->seen.media_url = m->image;
		j->seen.media_https = m->takes_https;
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
	redfish_read_media(j->m->bmc, on_media, j);
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
	job_end(j, &j->seen, NULL);
}

/* --- the line ------------------------------------------------------------------------------------- */

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
	redfish_boot(j->m->bmc, how, j->url, on_plain, j);
}

static void run(struct job *j)
{
	struct redfish *bmc = j->m->bmc;

	j->running = j->m->busy = true;
	j->m->rp->running++;
	switch (j->kind) {
	case OBSERVE:
		redfish_read_system(bmc, on_system, j);
		break;
	case POWER:
		redfish_power(bmc, j->on, on_plain, j);
		break;
	case BOOT:
		boot(j);
		break;
	case MEDIA:
		if (j->url)
			redfish_insert(bmc, j->url, on_plain, j);
		else
			redfish_eject(bmc, on_plain, j);
		break;
	case DRIVES:
		redfish_read_drives(bmc, on_drives, j);
		break;
	case LOG_OUT:
		redfish_log_out(bmc, on_plain, j);
		break;
	}
}

static void pump(void *arg)
{
	struct redfish_provider *rp = arg;

	list_for_each (j, &rp->waiting, struct job, link) {
		int64_t wait;

		if (rp->running >= rp->concurrent)
			return;
		if (j->m->busy)
			continue;
		wait = bucket_take(&rp->bucket, loop_now(loop_of(rp->group)));
		if (wait > 0) {
			loop_timer_start(&rp->pump, wait);
			return;
		}
		list_remove(&j->link);
		run(j);
	}
}

static struct job *ask(struct provider_machine *m, enum kind kind, const struct provider_call *c)
{
	struct job *j = mem_new(struct job);

	j->m = m;
	j->kind = kind;
	j->call = *c;
	j->session = mem_strdup(c->session);
	list_push_back(&m->rp->waiting, &j->link);
	list_push_back(&m->jobs, &j->sibling);
	loop_timer_init(&j->limit, m->rp->group, on_limit, j);
	loop_timer_start(&j->limit, PROVIDER_CALL_MS);
	wake(m->rp);
	return j;
}

/* --- the slots ------------------------------------------------------------------------------------ */

static int redfish_open(struct provider *p, const struct provider_spec *s, struct err *e)
{
	struct redfish_provider *rp;
	double rate = s->requests_per_s > 0 ? s->requests_per_s : RATE;

	if (!s->http || !s->group)
		return err_set(e, ERR_INVALID, 0, "provider %s: no HTTP client", s->name);
	rp = mem_new(struct redfish_provider);
	rp->group = s->group;
	rp->http = s->http;
	rp->plain_ok = s->plain_ok;
	rp->concurrent = s->concurrent ? s->concurrent : CONCURRENT;
	bucket_init(&rp->bucket, rate, rate < 1 ? 1 : rate, loop_now(loop_of(s->group)));
	list_init(&rp->waiting);
	loop_timer_init(&rp->pump, s->group, pump, rp);
	p->state = rp;
	return 0;
}

static void redfish_close(struct provider *p)
{
	struct redfish_provider *rp = p->state;

	loop_timer_stop(&rp->pump);
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
	struct provider_machine *m;

	if (!bmc) {
		(void)!err_wrap(e, "machine %s", s->name);
		return NULL;
	}
	m = mem_new(struct provider_machine);
	m->rp = rp;
	m->bmc = bmc;
	list_init(&m->jobs);
	return m;
}

static void redfish_detach(struct provider *p, struct provider_machine *m)
{
	struct redfish_provider *rp = p->state;

	redfish_free(m->bmc);
	list_for_each (j, &m->jobs, struct job, sibling)
		job_free(j);
	if (m->busy) {
		rp->running--;
		wake(rp);
	}
	free(m);
}

static void redfish_observe(struct provider *p, struct provider_machine *m,
			    const struct provider_call *c)
{
	(void)p;
	ask(m, OBSERVE, c);
}

static void redfish_switch(struct provider *p, struct provider_machine *m, bool on,
			   const struct provider_call *c)
{
	(void)p;
	ask(m, POWER, c)->on = on;
}

static void redfish_boot_from(struct provider *p, struct provider_machine *m,
			      enum provider_boot how, const char *url,
			      const struct provider_call *c)
{
	struct job *j = ask(m, BOOT, c);

	(void)p;
	j->how = how;
	j->url = mem_strdup(url);
}

static void redfish_put_media(struct provider *p, struct provider_machine *m, const char *url,
			      const struct provider_call *c)
{
	(void)p;
	ask(m, MEDIA, c)->url = mem_strdup(url);
}

static void redfish_drives_of(struct provider *p, struct provider_machine *m,
			      const struct provider_call *c)
{
	(void)p;
	ask(m, DRIVES, c);
}

static void redfish_leave(struct provider *p, struct provider_machine *m,
			  const struct provider_call *c)
{
	(void)p;
	ask(m, LOG_OUT, c);
}

const struct provider_ops redfish_provider_ops = {
	.type = "redfish",
	.open = redfish_open,
	.close = redfish_close,
	.attach = redfish_attach,
	.detach = redfish_detach,
	.observe = redfish_observe,
	.power = redfish_switch,
	.boot = redfish_boot_from,
	.media = redfish_put_media,
	.drives = redfish_drives_of,
	.log_out = redfish_leave,
};
