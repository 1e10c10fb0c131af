/*
 * boot_marks: compares what the BMC shows (medium, HTTP boot URL) and what the journal records with
 * what drover's own boots leave there. Only answers questions; agent_boot.c acts.
 * Tests: tests/world/test_boot.c, tests/world/test_http_boot.c
 */
#include <string.h>

#include "controller/life/boot_marks.h"
#include "base/crypto.h"
#include "base/log.h"
#include "base/str.h"
#include "controller/life/life.h"

/* True if url is below `base` as controller/agent builds it. A plain prefix is not enough, because
 * the address of another server may begin with the same digits. */
static bool is_below(const char *base, const char *url)
{
	return base && url && str_starts(url, base) && str_starts(url + strlen(base), "/boot/");
}

static bool is_ours(const struct life *l, const char *url)
{
	const struct provider_object *p = life_provider(l);

	return is_below(p->spec.boot.media_url, url) || is_below(p->spec.boot.https_media_url, url);
}

static bool shows_our_medium(const struct life *l)
{
	return l->observation.media && is_ours(l, l->observation.media_url);
}

void life_url_digest(const char *url, char out[static CRYPTO_DIGEST_TEXT])
{
	uint8_t d[CRYPTO_SHA256];

	crypto_sha256(url, strlen(url), d);
	crypto_digest_text(d, out);
}

bool life_address_kept(const struct life *l)
{
	char digest[CRYPTO_DIGEST_TEXT];

	if (!l->m->status.bmc.kept_address)
		return false;
	life_url_digest(str_or(l->observation.http_url, ""), digest);
	return str_eq(l->m->status.bmc.kept_address, digest);
}

bool life_has_our_address(const struct life *l)
{
	return is_ours(l, l->observation.http_url) && !life_address_kept(l);
}

void life_boot_forget(struct life *l)
{
	l->boot.by_http = false;
	l->boot.whereabouts = LIFE_NOT_ASKED;
	l->boot.due_at = 0;
	l->boot.retry = false;
}

bool life_booted_by_drover(const struct life *l)
{
	return shows_our_medium(l) || l->boot.by_http;
}

bool life_agent_left(const struct life *l)
{
	return shows_our_medium(l) || l->m->status.power.http_boot || life_has_our_address(l);
}
