#include <stdlib.h>
#include <string.h>
#include "base/data/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/uuid.h"
#include "providers/helper.h"

#define OBSERVE_MS 20000
/* The request to the process times out this many ms before the call does. */
#define SPARE_MS 1000
#define TEXT_MAX 2048

struct helper_machine *helper_machine_of(const struct provider_machine *m)
{
	return container_of(m, struct helper_machine, base);
}

static struct helper_machine *machine_of(const struct job *j)
{
	return helper_machine_of(j->machine);
}

static int64_t left_ms(const struct job *j)
{
	int64_t left = j->deadline - loop_now(loop_of(j->machine->queue->group)) - SPARE_MS;

	return left > SPARE_MS ? left : SPARE_MS;
}

static void request(struct job *j, json_t *request_, int64_t limit_ms,
		    void (*done)(const json_t *reply, int64_t sent_at, const struct err *e,
				 void *arg))
{
	struct helper_machine *m = machine_of(j);

	if (request_) {
		json_object_set_new(request_, m->helper->words->thing, json_string(m->name));
		json_object_set_new(request_, "operation", json_string(str_or(j->call.op_id, "")));
		json_object_set_new(request_, "fence", json_integer((json_int_t)j->call.fence));
	}
	m->request = child_ask(m->helper->child, request_, limit_ms, done, j);
}

/* --- observing -------------------------------------------------------------------------------- */

/* Sets *out to the text of the member `name`; NULL if it is missing or null. False: it is not a
 * text, or too long. */
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

	const struct helper_words *words = machine_of(j)->helper->words;
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
	    !text_at(reply, "mediaURL", &o->media_url) ||
	    !text_at(reply, "httpURL", &o->http_url) || !text_at(reply, "address", &o->address))
		return err_set(e, ERR_PROTOCOL, 0, "%s reports no valid state of %s %.100s",
			       words->self, words->thing, machine_of(j)->name);
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

/* --- changing --------------------------------------------------------------------------------- */

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
	static const char *const hows[] = {
		[PROVIDER_BOOT_DISK] = "disk",
		[PROVIDER_BOOT_MEDIA] = "media",
		[PROVIDER_BOOT_HTTP] = "http",
	};
	const char *uuid = j->seen.system_uuid;

	switch (j->kind) {
	case JOB_POWER:
		return json_pack("{s:s,s:b,s:s?}", "op", "power", "on", j->on, "uuid", uuid);
	case JOB_BOOT:
		return json_pack("{s:s,s:s,s:s?,s:s?}", "op", "boot", "how", hows[j->how], "url",
				 j->url, "uuid", uuid);
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
		/* Unreachable: these jobs are never queued, because the corresponding members of
		 * provider_ops are NULL. */
		break;
	}
}

/* --- functions of provider_ops ---------------------------------------------------------------- */

struct helper *helper_new(const struct helper_words *words, const struct provider_spec *s,
			  struct child *child, double rate, unsigned concurrent)
{
	struct helper *g = mem_new(struct helper);

	g->words = words;
	g->name = mem_strdup(s->name);
	g->child = child;
	list_init(&g->elastic);
	job_queue_init(&g->queue, s, rate, concurrent, run);
	return g;
}

void helper_close(struct provider *p)
{
	struct helper *g = p->state;

	job_queue_done(&g->queue);
	child_free(g->child);
	free(g->name);
	free(g);
}

/* Returns the part NAME of an address TYPE://PROVIDER/NAME. NULL if the address has a different
 * form, or the name has a character that is not in `letters`; libvirt itself allows more
 * characters. */
static const char *name_of(const struct helper *g, const char *address)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._-+";
	char prefix[128];
	const char *at;

	str_format(prefix, sizeof(prefix), "%s://%s/", g->words->type, g->name);
	if (!address || !str_starts(address, prefix))
		return NULL;
	at = address + strlen(prefix);
	return *at && strlen(at) <= 200 && strspn(at, letters) == strlen(at) ? at : NULL;
}

struct provider_machine *helper_attach(struct provider *p, const struct provider_machine_spec *s,
				       struct err *e)
{
	struct helper *g = p->state;
	const char *name = name_of(g, s->bmc_address);
	struct helper_machine *m;

	if (!name) {
		err_note(e, ERR_INVALID, PROVIDER_ADDRESS,
			 "spec.bmc.address: want %s://%s/%s, with letters, digits and . _ - +, got "
			 "%.100s",
			 g->words->type, g->name,
			 str_eq(g->words->thing, "domain") ? "DOMAIN" : "NAME",
			 str_or(s->bmc_address, "nothing"));
		return NULL;
	}
	m = mem_new(struct helper_machine);
	job_machine_init(&m->base, &g->queue);
	m->helper = g;
	m->name = mem_strdup(name);
	return &m->base;
}

void helper_detach(struct provider *p, struct provider_machine *base)
{
	struct helper_machine *m = helper_machine_of(base);

	(void)p;
	child_call_drop(m->request);
	job_machine_done(base);
	free(m->name);
	free(m);
}

void helper_observe(struct provider *p, struct provider_machine *m, const struct provider_call *c)
{
	(void)p;
	job_ask(m, JOB_OBSERVE, c);
}

void helper_power(struct provider *p, struct provider_machine *m, bool on,
		  const struct provider_call *c)
{
	(void)p;
	job_ask(m, JOB_POWER, c)->on = on;
}

void helper_boot(struct provider *p, struct provider_machine *m, enum provider_boot how,
		 const char *url, const struct provider_call *c)
{
	struct job *j;

	if (how == PROVIDER_BOOT_HTTP && !helper_machine_of(m)->helper->words->http) {
		provider_refuse(p, c, "boot by HTTP");
		return;
	}
	j = job_ask(m, JOB_BOOT, c);
	j->how = how;
	j->url = how == PROVIDER_BOOT_HTTP ? mem_strdup(url) : NULL;
}

void helper_media(struct provider *p, struct provider_machine *m, const char *url,
		  const struct provider_call *c)
{
	(void)p;
	job_ask(m, JOB_MEDIA, c)->url = mem_strdup(url);
}

void helper_ask(struct provider_machine *m, enum job_kind kind, json_t *request_,
		const struct provider_call *c)
{
	job_ask(m, kind, c)->text = json_text(request_);
	json_decref(request_);
}
