/*
 * boot_method: within a boot of the agent, changes from one boot method to the next, and from
 * media over plain HTTP to HTTPS, but never back. A BMC that refuses HTTPS is not offered plain
 * HTTP instead, because an attacker on the network could provoke such refusals.
 * Tests: tests/world/test_http_boot.c, tests/world/test_media_tls.c
 */
#include <string.h>

#include "controller/life/boot_method.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/agent/endpoint.h"
#include "controller/life/act.h"
#include "controller/life/life.h"
#include "controller/life/power.h"

#define INSERT "insert-media"
#define OVER_TLS "HTTPS"
/* Size of the stored text of refusals, with its final NUL */
#define REFUSED_SIZE 256

void life_boot_of_now(const struct life *l, char out[static LIFE_BOOT_TEXT])
{
	const struct machine_operation *op = l->m->status.operation;

	str_format(out, LIFE_BOOT_TEXT, "%s/%lld", str_or(op->id, ""), (long long)op->boot_number);
}

/* --- the boot method -------------------------------------------------------------------------- */

static unsigned method_count(const struct life *l)
{
	size_t n = life_provider(l)->spec.boot.methods.n;

	return n ? (unsigned)n : 2;
}

/* True if the present method is HTTP boot. The Provider sets the order of the methods. If it does
 * not, virtual media come first, then HTTP boot. */
bool life_boot_method_is_http(const struct life *l)
{
	const struct strings *m = &life_provider(l)->spec.boot.methods;

	return m->n ? str_eq(m->v[l->boot.method < m->n ? l->boot.method : m->n - 1], "UefiHttp")
		    : l->boot.method > 0;
}

void life_boot_method_begin(struct life *l)
{
	char now[LIFE_BOOT_TEXT];

	life_boot_of_now(l, now);
	if (str_eq(l->boot.method_for, now))
		return;
	mem_save(&l->boot.method_for, sizeof(now), now);
	l->boot.method = 0;
	mem_save(&l->boot.refused, REFUSED_SIZE, NULL);
}

static const char *method_name(const struct life *l)
{
	return life_boot_method_is_http(l) ? "UefiHttp" : "VirtualMedia";
}

/* --- the URL ---------------------------------------------------------------------------------- */

static bool wants_tls(const struct life *l)
{
	return l->observation.media_https || l->boot.over_tls ||
	       str_eq(l->m->status.bmc.media_over, OVER_TLS);
}

/* Uses HTTPS for virtual media if the media slot lists HTTPS, or the BMC has refused plain HTTP. A
 * medium of this boot that is already inserted keeps its URL: with a different URL, drover would
 * take the system that runs from the medium for an earlier boot, and switch it off. */
void life_boot_method_choose_address(struct life *l, bool is_on)
{
	const struct machine_operation *op = l->m->status.operation;
	bool https = wants_tls(l);

	if (l->observation.media && l->observation.media_url &&
	    agent_session_makes(l->agent, op->id, op->boot_number, l->observation.media_url))
		https = str_starts(l->observation.media_url, "https:");
	agent_session_media_over(l->agent, https && !life_boot_method_is_http(l) && !is_on);
}

bool life_ensure_media_over_written(struct life *l)
{
	if (!l->boot.over_tls || str_eq(l->m->status.bmc.media_over, OVER_TLS))
		return true;
	life_write(l, json_pack("{s:{s:s}}", "bmc", "mediaOver", OVER_TLS), NULL);
	return false;
}

/* --- answers ---------------------------------------------------------------------------------- */

/* Puts the refusals of the earlier boot methods in front of the text of *e, so that the text names
 * the error of every method. */
static void tell_all(const struct life *l, struct err *e)
{
	char last[sizeof(e->text)];

	str_copy(last, sizeof(last), e->text);
	str_format(e->text, sizeof(e->text), "%.*s%s: %s", (int)sizeof(e->text) / 2,
		   str_or(l->boot.refused, ""), method_name(l), last);
}

static void next_method(struct life *l, const struct err *e)
{
	char all[REFUSED_SIZE];

	log_info("BMC does not support this boot method", LOG_S("machine", l->name),
		 LOG_S("way", method_name(l)), LOG_E(e));
	str_format(all, sizeof(all), "%s%s: %.100s; ", str_or(l->boot.refused, ""), method_name(l),
		   e->text);
	mem_save(&l->boot.refused, sizeof(all), all);
	l->boot.method++;
}

/* Handles a BMC that refused every form of a medium over plain HTTP. OpenBMC does so without
 * listing its protocols. Offers HTTPS from now on, or, without an HTTPS URL, adds a hint to the
 * text of *e. */
static void plain_refused(struct life *l, struct err *e)
{
	const struct provider_object *p = life_provider(l);
	size_t n = strlen(e->text);

	if (wants_tls(l) || str_starts(p->spec.boot.media_url, "https:"))
		return;
	if (p->spec.boot.https_media_url) {
		log_info("BMC refuses media over plain HTTP; drover offers HTTPS",
			 LOG_S("machine", l->name), LOG_E(e));
		l->boot.over_tls = true;
		return;
	}
	str_format(e->text + n, sizeof(e->text) - n,
		   " (if the BMC accepts HTTPS only, set spec.boot.httpsMediaURL of provider %s)",
		   p->meta.name);
}

static void failed(struct life *l, const struct err *e, bool refused)
{
	struct err all = *e;

	l->m = CTX_GET(l->c, OBJECT_MACHINE, machine, l->name);
	if (!l->m || !life_provider(l)) {
		life_bmc_acted(NULL, NULL, e, l);
		return;
	}
	if (refused && e->kind == ERR_INVALID && str_eq(l->act.step, INSERT))
		plain_refused(l, &all);
	if (l->boot.refused)
		tell_all(l, &all);
	if (e->kind == ERR_UNSUPPORTED && l->boot.method + 1 < method_count(l))
		next_method(l, e);
	life_bmc_acted(NULL, NULL, &all, l);
}

void life_boot_method_acted(const struct provider_observation *o, const char *handle,
			    const struct err *e, void *life)
{
	if (e)
		failed(life, e, true);
	else
		life_bmc_acted(o, handle, e, life);
}

bool life_boot_method_in_vain(struct life *l, const char *step, const char *seen)
{
	struct err e;

	if (!str_eq(l->act.step, step) || l->act.in_progress || l->act.journaled ||
	    !l->act.began_at || l->observation.read_at < l->act.ended_at ||
	    loop_now(l->c->loop) - l->act.began_at < LIFE_BOOT_PATIENCE_MS)
		return false;
	err_note(&e, ERR_INVALID, 0, "the BMC accepted the request, but %s after %d s", seen,
		 LIFE_BOOT_PATIENCE_MS / 1000);
	failed(l, &e, false);
	return true;
}
