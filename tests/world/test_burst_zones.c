/* Time zones of BurstPolicies: windows open by local time, and a policy with an unknown zone
 * launches nothing. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/str.h"
#include "base/zone.h"
#include "tests/world/burst_scene.h"

#define POLICY "/apis/drover.dev/v1alpha1/burstpolicies/research"

/* Sets a window of an hour that opens at the present local time of Kathmandu (UTC+5:45). */
static void set_window(struct burst_scene *s, const char *zone)
{
	OWN(zones) zs = zones_new();
	const struct zone *z;
	char cron[32];
	time_t local;
	struct tm tm;
	struct err e;

	assert_ok(zones_get(zs, "Asia/Kathmandu", &z, &e), &e);
	local = (time_t)((loop_wall(s->w.loop) + zone_offset(z, loop_wall(s->w.loop))) / 1000);
	gmtime_r(&local, &tm);
	str_format(cron, sizeof(cron), "%d %d * * *", tm.tm_min, tm.tm_hour);
	world_do(&s->w, &s->w.host, "PATCH", POLICY,
		 json_pack("{s:{s:{s:[{s:s,s:s,s:s}]}}}", "spec", "windows", "allow", "cron", cron,
			   "duration", "1h", "timezone", zone));
}

static void a_window_opens_by_the_time_of_its_zone(void **state)
{
	struct burst_scene *s = burst_start(7501, "1000");

	(void)state;
	set_window(s, "UTC");
	burst_pod(s, "train");
	world_run(&s->w, 600 * 1000);
	assert_int_equal(s->sky.cloud.launched, 0);
	set_window(s, "Asia/Kathmandu");
	burst_running(s, "train");
	assert_int_equal(s->sky.cloud.launched, 1);
	burst_stop(s);
}

/* The policy is created anew, so that there is no last good spec. */
static void a_zone_that_is_not_known_launches_nothing_and_is_named(void **state)
{
	struct burst_scene *s = burst_start(7502, "1000");
	OWN_JSON o = NULL;
	const json_t *c;
	const char *text = "";
	size_t i;

	(void)state;
	world_do(&s->w, &s->w.host, "DELETE", POLICY, NULL);
	world_apply(&s->w, "apiVersion: drover.dev/v1alpha1\nkind: BurstPolicy\n"
			   "metadata: {name: research}\n"
			   "spec:\n  mode: Enforce\n  match: {tenants: [team-a]}\n"
			   "  trigger: {maxQueueWait: {default: 1m}}\n"
			   "  tiers: [{market: OnDemand}]\n"
			   "  offers: [{name: sky, provider: sky, regions: [r1], instanceTypes: "
			   "[gpu-8]}]\n"
			   "  cost: {currency: USD}\n  runtime: {maxRuntime: 1h}\n"
			   "  budget: [{scope: Policy, amount: '1000', per: Day, timezone: "
			   "Europe/Atlantis}]\n");
	burst_pod(s, "train");
	world_run(&s->w, 600 * 1000);
	assert_int_equal(s->sky.cloud.launched, 0);
	o = cluster_get(&s->w.host, "burstpolicies.drover.dev/research");
	json_array_foreach (json_at(o, "status", "conditions"), i, c)
		if (str_eq(json_str_at(c, "type"), "Valid") &&
		    str_eq(json_str_at(c, "status"), "False"))
			text = json_str_at(c, "message");
	assert_non_null(strstr(text, "Europe/Atlantis"));
	burst_stop(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_window_opens_by_the_time_of_its_zone),
		cmocka_unit_test(a_zone_that_is_not_known_launches_nothing_and_is_named),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
