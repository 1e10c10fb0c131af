#include "controller/life/bmc_facts.h"

#include <stdlib.h>

#include "base/str.h"

#define LATENCY_MS 600000 /* minimum time between two writes for a changed latency alone */
#define AGAIN_MS 600000	  /* minimum time between two writes of the same changes */
/* Smallest difference of the BMC's latency that is written, in ms. Smaller differences come from
 * the network. */
#define LATENCY_FLOOR 20

static const char *const members[] = {
	"vendor",    "product", "firmwareVersion",     "redfishVersion", "quirks",	    "media",
	"mediaSlot", "login",	"latencyMilliseconds", "tripCalls",	 "drivesNotListed",
};

void life_bmc_unknown(json_t *bmc)
{
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++)
		json_object_set_new(bmc, members[i], json_null());
}

/* Adds the member to the JSON object `news` if its value changed from `was` to `is`. A NULL `is`
 * means that the BMC does not report the value. Then the old value stays if `keeps` is true, and is
 * set to null if `keeps` is false. */
static void put(json_t *news, const char *member, const char *was, const char *is, bool keeps)
{
	if (!str_eq(str_or(was, ""), str_or(is, "")) && (is || !keeps))
		json_object_set_new(news, member, is ? json_string(is) : json_null());
}

static void put_quirks(json_t *news, const struct strings *was, const struct provider_bmc *k)
{
	bool same = was->n == k->nquirks;
	json_t *list;

	for (size_t i = 0; same && i < was->n; i++)
		same = str_eq(was->v[i], k->quirks[i]);
	if (same)
		return;
	list = json_array();
	for (size_t i = 0; i < k->nquirks; i++)
		json_array_append_new(list, json_string(k->quirks[i]));
	json_object_set_new(news, "quirks", list);
}

/* Returns the latency to write; 0: do not write it, because it is unknown or changed too little. */
static int64_t latency_of(const struct provider_bmc *k, int64_t was)
{
	int64_t is = k->latency_ms > 0 ? k->latency_ms : 1, by = is > was ? is - was : was - is;

	if (k->latency_ms < 0 || (was && (by < LATENCY_FLOOR || by * 4 < was)))
		return 0;
	return is;
}

/* True if the same changes were returned less than AGAIN_MS ago. They must not be written in every
 * turn: a host cluster with an older CustomResourceDefinition drops unknown fields, so that the
 * changes never appear in status. */
static bool is_told(struct life *l, const json_t *news, int64_t now)
{
	char *text = json_text(news);

	if (str_eq(text, l->facts.told) && now < l->facts.told_after) {
		free(text);
		return true;
	}
	free(l->facts.told);
	l->facts.told = text;
	l->facts.told_after = now + AGAIN_MS;
	return false;
}

json_t *life_bmc_changes(struct life *l)
{
	const struct machine_status *st = &l->m->status;
	int64_t now = loop_now(l->c->loop), latency;
	struct provider_bmc k;
	json_t *news;
	bool same;

	if (!l->bmc || !provider_bmc(l->driver->provider, l->bmc, &k))
		return NULL;
	news = json_object();
	same = str_eq(str_or(st->bmc.vendor, ""), str_or(k.vendor, "")) &&
	       str_eq(str_or(st->bmc.product, ""), str_or(k.product, ""));
	put(news, "vendor", st->bmc.vendor, k.vendor, false);
	put(news, "product", st->bmc.product, k.product, false);
	put(news, "redfishVersion", st->bmc.redfish_version, k.service_version, false);
	put(news, "firmwareVersion", st->bmc.firmware_version, k.firmware, same);
	put_quirks(news, &st->bmc.quirks, &k);
	put(news, "media", st->bmc.media, k.media, same);
	put(news, "mediaSlot", st->bmc.media_slot, k.slot, same && !k.media);
	put(news, "login", st->bmc.login, k.login, true);
	latency = latency_of(&k, st->bmc.latency_ms);
	if (latency && (json_object_size(news) || now >= l->facts.latency_after)) {
		json_object_set_new(news, "latencyMilliseconds", json_integer(latency));
		l->facts.latency_after = now + LATENCY_MS;
	}
	if (json_object_size(news) && !is_told(l, news, now))
		return news;
	json_decref(news);
	return NULL;
}

/* Compares the times of the two answers in whole seconds, because status stores times in whole
 * seconds. */
json_t *life_bmc_unlisted(const struct life *l)
{
	const struct machine_unlisted *was = l->m->status.bmc.drives_not_listed;
	const struct life_listing *is = l->listing;
	struct provider_bmc k = {0};
	json_t *o;

	if (!is)
		return NULL;
	if (is->says == LISTING_SERVED && was)
		return json_pack("{s:{s:n}}", "bmc", "drivesNotListed");
	if (is->says != LISTING_LACKS || (was && was->observed_time / 1000 >= is->said_at / 1000))
		return NULL;
	(void)provider_bmc(l->driver->provider, l->bmc, &k);
	o = json_pack("{s:s?, s:s}", "firmwareVersion", k.firmware, "message", is->error.text);
	life_set_time(o, "observedTime", is->said_at);
	return json_pack("{s:{s:o}}", "bmc", "drivesNotListed", o);
}

void life_bmc_facts_done(struct life *l)
{
	free(l->facts.told);
}

static uint64_t calls(const struct life *l)
{
	struct provider_bmc k = {0};

	if (l->bmc)
		(void)provider_bmc(l->driver->provider, l->bmc, &k);
	return l->facts.calls + k.calls;
}

void life_bmc_left(struct life *l)
{
	l->facts.calls = calls(l);
}

void life_bmc_trip_lost(struct life *l)
{
	l->facts.on_trip = false;
}

void life_bmc_trip(struct life *l, enum machine_state to, json_t *status)
{
	json_t *bmc;

	if (to != MACHINE_FREE) {
		if (l->state == MACHINE_FREE) {
			l->facts.on_trip = true;
			l->facts.trip_from = calls(l);
		}
		return;
	}
	if (!l->facts.on_trip)
		return;
	l->facts.on_trip = false;
	bmc = json_object_get(status, "bmc");
	if (!bmc) {
		bmc = json_object();
		json_object_set_new(status, "bmc", bmc);
	}
	json_object_set_new(bmc, "tripCalls",
			    json_integer((json_int_t)(calls(l) - l->facts.trip_from)));
}
