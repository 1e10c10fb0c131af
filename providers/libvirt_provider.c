#include <stdlib.h>
#include <string.h>
#include "base/data/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/uuid.h"
#include "providers/child.h"
#include "providers/jobs.h"
#include "providers/registry.h"

/*
 * Machines that are libvirt's domains, by the helper process drover-libvirt (docs/providers/libvirt.md has its requests).
 *
 * A machine's address is libvirt://PROVIDER/DOMAIN: which host is the Provider's, so that nothing in a Machine leads
 * anywhere.  What changes a domain is preceded by a look of the same call, and names the UUID that was seen there.
 * There is no login, no session, and no boot by HTTP: firmware is told nothing but an order of devices.
 * Tests: tests/contract/test_provider.c
 */
#define SCHEME "libvirt://"
#define OBSERVE_MS 20000
#define RATE 50
#define CONCURRENT 64
#define SPARE_MS 1000 /* the helper is given up so long before the call itself */
#define TEXT_MAX 2048

struct libvirt_provider {
	char *name;
	struct job_line line;
	struct child *child;
};

struct provider_machine {
	struct job_seat seat; /* first: a job's seat is its machine */
	struct libvirt_provider *lp;
	char *domain;
	struct child_call *request; /* of the job that runs */
};

static struct provider_machine *machine_of(const struct job *j)
{
	return (struct provider_machine *)j->seat;
}

static int64_t left_ms(const struct job *j)
{
	int64_t left = j->deadline - loop_now(loop_of(j->seat->line->group)) - SPARE_MS;

	return left > SPARE_MS ? left : SPARE_MS;
}

static void request(struct job *j, json_t *request_, int64_t limit_ms,
		    void (*done)(const json_t *reply, int64_t sent_at, const struct err *e,
				 void *arg))
{
	struct provider_machine *m = machine_of(j);

	if (request_) {
		json_object_set_new(request_, "domain", json_string(m->domain));
		json_object_set_new(request_, "operation", json_string(str_or(j->call.op_id, "")));
		json_object_set_new(request_, "fence", json_integer((json_int_t)j->call.fence));
	}
	m->request = child_ask(m->lp->child, request_, limit_ms, done, j);
}

/* --- looking ---------------------------------------------------------------------------------------- */

/* NULL where there is none; false: it is neither text nor null, or too long. */
static bool text_at(const json_t *j, const char *name, const char **out)
{
	const json_t *v = json_object_get(j, name);

	*out = json_string_value(v);
	return !v || json_is_null(v) || (*out && strlen(*out) <= TEXT_MAX);
}

static int see(struct job *j, const json_t *reply, int64_t read_at, struct err *e)
{
	static const char *const boots[] = {
		[PROVIDER_OVERRIDE_NONE] = "disk",
		[PROVIDER_OVERRIDE_MEDIA] = "media",
		[PROVIDER_OVERRIDE_HTTP] = "http",
		[PROVIDER_OVERRIDE_OTHER] = "other",
	};
	struct provider_observation *o = &j->seen;
	const char *power = json_str_at(reply, "power"), *boot = json_str_at(reply, "boot");

	char canonical[UUID_TEXT];

	*o = (struct provider_observation){.read_at = read_at, .media_known = true};
	for (size_t i = 0; i <= PROVIDER_POWER_CHANGING; i++)
		if (str_eq(power, provider_power_names[i]))
			o->power = (enum provider_power)i;
	o->boot_override = PROVIDER_OVERRIDE_OTHER;
	for (size_t i = 0; i < sizeof(boots) / sizeof(*boots); i++)
		if (str_eq(boot, boots[i]))
			o->boot_override = (enum provider_override)i;
	o->media_inserted = json_true_at(reply, "inserted");
	if (!power || !boot || !json_is_boolean(json_object_get(reply, "inserted")) ||
	    !text_at(reply, "uuid", &o->system_uuid) || !text_at(reply, "serial", &o->serial) ||
	    !text_at(reply, "mediaURL", &o->media_url) || !text_at(reply, "address", &o->address))
		return err_set(e, ERR_PROTOCOL, 0, "drover-libvirt tells no state of domain %.100s",
			       machine_of(j)->domain);
	if (!j->strings)
		j->strings = arena_new();
	o->system_uuid = uuid_read(o->system_uuid, canonical) == UUID_IS
				 ? arena_strdup(j->strings, canonical)
				 : NULL;
	return 0;
}

static void on_observed(const json_t *reply, int64_t sent_at, const struct err *failed, void *arg)
{
	struct job *j = arg;
	struct err e;

	machine_of(j)->request = NULL;
	if (failed) {
		job_end(j, NULL, failed);
	} else if (see(j, reply, sent_at, &e) < 0) {
		e.scope = ERR_MACHINE;
		job_end(j, NULL, &e);
	} else {
		job_end(j, &j->seen, NULL);
	}
}

/* --- changing --------------------------------------------------------------------------------------- */

static void on_changed(const json_t *reply, int64_t sent_at, const struct err *failed, void *arg)
{
	struct job *j = arg;

	(void)reply;
	(void)sent_at;
	machine_of(j)->request = NULL;
	job_end(j, NULL, failed);
}

static json_t *change_of(const struct job *j)
{
	const char *uuid = j->seen.system_uuid;

	switch (j->kind) {
	case JOB_POWER:
		return json_pack("{s:s,s:b,s:s?}", "op", "power", "on", j->on, "uuid", uuid);
	case JOB_BOOT:
		return json_pack("{s:s,s:b,s:s?}", "op", "boot", "media",
				 j->how == PROVIDER_BOOT_MEDIA, "uuid", uuid);
	case JOB_MEDIA:
		return json_pack("{s:s,s:s?,s:s?}", "op", "media", "url", j->url, "uuid", uuid);
	case JOB_OBSERVE:
	case JOB_DRIVES:
	case JOB_LOG_OUT:
	case JOB_DEFINE:
	case JOB_UNDEFINE:
	case JOB_ACQUIRE:
	case JOB_RELEASE:
		break;
	}
	return NULL;
}

static void on_looked(const json_t *reply, int64_t sent_at, const struct err *failed, void *arg)
{
	struct job *j = arg;
	struct err e;

	machine_of(j)->request = NULL;
	if (failed) {
		job_end(j, NULL, failed);
		return;
	}
	if (see(j, reply, sent_at, &e) < 0 ||
	    (j->call.fits && j->call.fits(&j->seen, j->call.arg, &e) < 0) || !job_may_act(j, &e))
		job_end(j, NULL, &e);
	else
		request(j, change_of(j), left_ms(j), on_changed);
}

static void run(struct job *j)
{
	struct err e;

	switch (j->kind) {
	case JOB_OBSERVE:
		request(j, json_pack("{s:s}", "op", "observe"), OBSERVE_MS, on_observed);
		break;
	case JOB_POWER:
	case JOB_BOOT:
	case JOB_MEDIA:
		request(j, json_pack("{s:s}", "op", "observe"), OBSERVE_MS, on_looked);
		break;
	case JOB_DEFINE:
	case JOB_UNDEFINE:
		if (job_may_act(j, &e))
			request(j, json_parse(j->text, strlen(j->text), &e), left_ms(j),
				on_changed);
		else
			job_end(j, NULL, &e);
		break;
	case JOB_DRIVES:
	case JOB_LOG_OUT:
	case JOB_ACQUIRE:
	case JOB_RELEASE:
		break; /* nobody asks: the slots are NULL */
	}
}

/* --- the slots -------------------------------------------------------------------------------------- */

/* Whoever may write Providers may not choose what drover opens with its own rights: whoever starts drover does. */
static bool is_allowed(const struct provider_libvirt *l)
{
	for (size_t i = 0; l->allowed && l->allowed[i]; i++)
		if (str_eq(l->allowed[i], l->uri))
			return true;
	return false;
}

/* What libvirt would encrypt and verify; and the host's own socket. */
static bool is_safe(const char *uri)
{
	static const char *const schemes[] = {"qemu:///", "qemu+unix://", "qemu+tls://",
					      "qemu+ssh://", "test:///"};

	for (size_t i = 0; i < sizeof(schemes) / sizeof(*schemes); i++)
		if (str_starts(uri, schemes[i]))
			return !strstr(uri, "no_verify") && !strstr(uri, "no_sanity");
	return false;
}

static int libvirt_open(struct provider *p, const struct provider_spec *s, struct err *e)
{
	const struct provider_libvirt *l = s->libvirt;
	const char *argv[] = {l ? l->helper : NULL, NULL};
	/* Where libvirt looks for the socket of qemu:///session, and ssh for its keys. */
	const char *home = getenv("HOME"), *run_dir = getenv("XDG_RUNTIME_DIR");
	char *env[5] = {mem_strdup("PATH=/usr/sbin:/usr/bin:/sbin:/bin"),
			mem_strdup("LANG=C.UTF-8")};
	struct child_spec child = {
		.group = s->group, .argv = argv, .env = (const char *const *)env, .pings = true};
	struct libvirt_provider *lp;
	size_t n = 2;
	int rc = 0;

	if (!l || str_empty(l->uri) || str_empty(l->pool))
		rc = err_set(e, ERR_INVALID, 0, "libvirt: uri and storagePool are needed");
	else if (!is_safe(l->uri))
		rc = err_set(
			e, ERR_DENIED, 0,
			"libvirt.uri: want qemu:///, qemu+tls://, qemu+ssh:// or test:///, all checks on, got %.150s",
			l->uri);
	else if (!is_allowed(l))
		rc = err_set(e, ERR_DENIED, 0,
			     "libvirt.uri: %.200s may not be opened: no --allow-libvirt names it",
			     l->uri);
	else if (!l->helper)
		rc = err_set(e, ERR_UNSUPPORTED, 0, "drover-libvirt is not installed");
	if (rc == 0) {
		if (home)
			env[n++] = mem_printf("HOME=%s", home);
		if (run_dir)
			env[n++] = mem_printf("XDG_RUNTIME_DIR=%s", run_dir);
		child.hello = json_pack("{s:s,s:s,s:s?}", "uri", l->uri, "pool", l->pool,
					"mediaURL", s->media_url);
		lp = mem_new(struct libvirt_provider);
		lp->name = mem_strdup(s->name);
		lp->child = child_new(&child);
		job_line_init(&lp->line, s, RATE, CONCURRENT, run);
		p->state = lp;
	}
	for (size_t i = 0; i < n; i++)
		free(env[i]);
	return rc;
}

static void libvirt_close(struct provider *p)
{
	struct libvirt_provider *lp = p->state;

	job_line_done(&lp->line);
	child_free(lp->child);
	free(lp->name);
	free(lp);
}

/* libvirt://PROVIDER/DOMAIN; a domain's name may be more than this, and is not then drover's. */
static const char *domain_of(const struct libvirt_provider *lp, const char *address)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._-+";
	size_t n = strlen(lp->name);
	const char *at = address && str_starts(address, SCHEME) ? address + strlen(SCHEME) : "";

	if (strncmp(at, lp->name, n) != 0 || at[n] != '/')
		return NULL;
	at += n + 1;
	return *at && strlen(at) <= 200 && strspn(at, letters) == strlen(at) ? at : NULL;
}

static struct provider_machine *libvirt_attach(struct provider *p,
					       const struct provider_machine_spec *s, struct err *e)
{
	struct libvirt_provider *lp = p->state;
	const char *domain = domain_of(lp, s->bmc_address);
	struct provider_machine *m;

	if (!domain) {
		(void)!err_set(
			e, ERR_INVALID, 0,
			"spec.bmc.address: want libvirt://%s/DOMAIN, with letters, digits and . _ - +, got %.100s",
			lp->name, str_or(s->bmc_address, "nothing"));
		return NULL;
	}
	m = mem_new(struct provider_machine);
	job_seat_init(&m->seat, &lp->line);
	m->lp = lp;
	m->domain = mem_strdup(domain);
	return m;
}

static void libvirt_detach(struct provider *p, struct provider_machine *m)
{
	(void)p;
	child_call_drop(m->request);
	job_seat_done(&m->seat);
	free(m->domain);
	free(m);
}

static void libvirt_observe(struct provider *p, struct provider_machine *m,
			    const struct provider_call *c)
{
	(void)p;
	job_ask(&m->seat, JOB_OBSERVE, c);
}

static void libvirt_power(struct provider *p, struct provider_machine *m, bool on,
			  const struct provider_call *c)
{
	(void)p;
	job_ask(&m->seat, JOB_POWER, c)->on = on;
}

static void libvirt_boot(struct provider *p, struct provider_machine *m, enum provider_boot how,
			 const char *url, const struct provider_call *c)
{
	(void)url;
	if (how == PROVIDER_BOOT_HTTP)
		provider_refuse(p, c, "boot by HTTP");
	else
		job_ask(&m->seat, JOB_BOOT, c)->how = how;
}

static void libvirt_media(struct provider *p, struct provider_machine *m, const char *url,
			  const struct provider_call *c)
{
	(void)p;
	job_ask(&m->seat, JOB_MEDIA, c)->url = mem_strdup(url);
}

static json_t *drives_of(const struct provider_template *t)
{
	json_t *list = json_array();

	for (size_t i = 0; i < t->ndrives; i++)
		json_array_append_new(list, json_pack("{s:I,s:s}", "bytes",
						      (json_int_t)t->drives[i].bytes, "bus",
						      provider_bus_names[t->drives[i].bus]));
	return list;
}

static void ask_about(struct provider_machine *m, enum job_kind kind, json_t *request_ /* taken */,
		      const struct provider_template *t, const struct provider_call *c)
{
	json_object_set_new(request_, "uuid", json_string(t->uuid));
	json_object_set_new(request_, "owner", json_string(t->owner));
	json_object_set_new(request_, "machine", json_string(m->domain));
	job_ask(&m->seat, kind, c)->text = json_text(request_);
	json_decref(request_);
}

static void libvirt_define(struct provider *p, struct provider_machine *m,
			   const struct provider_template *t, const struct provider_call *c)
{
	(void)p;
	ask_about(m, JOB_DEFINE,
		  json_pack("{s:s,s:I,s:I,s:s?,s:s?,s:s?,s:o}", "op", "define", "cpus",
			    (json_int_t)t->cpus, "memoryBytes", (json_int_t)t->memory_bytes,
			    "network", t->network, "bridge", t->bridge, "type", t->type, "drives",
			    drives_of(t)),
		  t, c);
}

static void libvirt_undefine(struct provider *p, struct provider_machine *m,
			     const struct provider_template *t, const struct provider_call *c)
{
	(void)p;
	ask_about(m, JOB_UNDEFINE, json_pack("{s:s}", "op", "undefine"), t, c);
}

const struct provider_ops libvirt_provider_ops = {
	.type = "libvirt",
	.open = libvirt_open,
	.close = libvirt_close,
	.attach = libvirt_attach,
	.detach = libvirt_detach,
	.observe = libvirt_observe,
	.power = libvirt_power,
	.boot = libvirt_boot,
	.media = libvirt_media,
	.define = libvirt_define,
	.undefine = libvirt_undefine,
};
