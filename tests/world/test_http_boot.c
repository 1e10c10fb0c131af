/* Agents that are booted by UefiHttp in place of virtual media. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/str.h"
#include "tests/world/world.h"

#define INSERT "POST /redfish/v1/Systems/1/VirtualMedia"

static void start(struct earth *w, uint64_t seed, json_t *methods /* taken */)
{
	earth_start(w, seed, 1);
	earth_do(w, &w->host, "PATCH", "/apis/" OBJECT_API_VERSION "/providers/rack",
		 json_pack("{s:{s:{s:o}}}", "spec", "boot", "methods", methods));
}

/* From nothing to free, to a tenant and back. */
static void once_round(struct earth *w)
{
	struct box *b = &w->boxes[0];

	earth_replica(w);
	earth_wait_state(b, "free", 1800);
	assert_string_equal(str_or(b->bmc.http_uri, ""), "");
	earth_pod(w, &w->tenants[0], "train");
	earth_wait_running(w, &w->tenants[0], "train", 1800);
	earth_check_serving(w, &w->tenants[0], "train");
	assert_string_equal(str_or(b->bmc.http_uri, ""), "");
	earth_delete_pod(w, &w->tenants[0], "train");
	earth_release(b);
	earth_wait_state(b, "free", 1800);
	earth_stop(w);
}

static void an_agent_is_booted_by_http(void **state)
{
	struct earth w;

	(void)state;
	start(&w, 171, json_pack("[s]", "UefiHttp"));
	w.boxes[0].bmc.no_media = true;
	once_round(&w);
}

static void with_http_first_no_medium_is_put_in(void **state)
{
	struct earth w;

	(void)state;
	start(&w, 172, json_pack("[s,s]", "UefiHttp", "VirtualMedia"));
	earth_replica(&w);
	earth_wait_state(&w.boxes[0], "free", 1800);
	assert_int_equal(fake_bmc_count(&w.boxes[0].bmc, INSERT), 0);
	earth_stop(&w);
}

static void a_bmc_that_forgets_the_address_is_known_to_boot_our_agent(void **state)
{
	struct earth w;

	(void)state;
	start(&w, 173, json_pack("[s]", "UefiHttp"));
	w.boxes[0].bmc.http_forgotten = true;
	once_round(&w);
}

static void a_bmc_without_http_boot_gets_a_medium(void **state)
{
	struct earth w;

	(void)state;
	start(&w, 174, json_pack("[s,s]", "UefiHttp", "VirtualMedia"));
	w.boxes[0].bmc.no_http_boot = true;
	once_round(&w);
}

static void a_provider_that_says_nothing_takes_what_the_bmc_offers(void **state)
{
	struct earth w;

	(void)state;
	start(&w, 175, json_null());
	w.boxes[0].bmc.no_media = true;
	once_round(&w);
}

static bool is_booting(void *arg)
{
	const struct box *b = arg;

	return b->bmc.on && str_eq(earth_at(b, "status.operation.step"), "power-on");
}

static void a_new_leader_goes_on_with_a_boot_by_http(void **state)
{
	(void)state;
	for (int forgets = 0; forgets < 2; forgets++) {
		struct earth w;
		struct box *b = &w.boxes[0];

		start(&w, 176, json_pack("[s]", "UefiHttp"));
		b->bmc.http_forgotten = forgets;
		earth_replica(&w);
		earth_wait(&w, is_booting, b, 600, "it is switched on");
		earth_kill(&w.replicas[0]);
		earth_replica(&w);
		earth_wait_state(b, "free", 3600); /* its agent found no drover while nobody led */
		earth_stop(&w);
	}
}

static void an_agent_that_fell_silent_is_switched_off(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];

	(void)state;
	start(&w, 178, json_pack("[s]", "UefiHttp"));
	b->bmc.http_forgotten = b->mute = true;
	earth_replica(&w);
	earth_wait_state(b, "quarantined", 12 * 3600);
	b->mute = false;
	earth_wait_state(b, "free", 12 * 3600);
	earth_stop(&w);
}

/* A later look would take a tenant's system for our agent. */
static void a_machine_whose_address_stays_is_offered_to_nobody(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];

	(void)state;
	start(&w, 177, json_pack("[s]", "UefiHttp"));
	b->bmc.http_sticks = true;
	earth_replica(&w);
	earth_pod(&w, &w.tenants[0], "train");
	earth_run(&w, 4 * 3600 * 1000);
	assert_string_equal(b->claim, "");
	assert_string_not_equal(b->state, "free");
	earth_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_agent_is_booted_by_http),
		cmocka_unit_test(with_http_first_no_medium_is_put_in),
		cmocka_unit_test(a_bmc_that_forgets_the_address_is_known_to_boot_our_agent),
		cmocka_unit_test(a_bmc_without_http_boot_gets_a_medium),
		cmocka_unit_test(a_provider_that_says_nothing_takes_what_the_bmc_offers),
		cmocka_unit_test(a_new_leader_goes_on_with_a_boot_by_http),
		cmocka_unit_test(an_agent_that_fell_silent_is_switched_off),
		cmocka_unit_test(a_machine_whose_address_stays_is_offered_to_nobody),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
