/* Boot media over TLS: used where a BMC reports support, and reported where the BMC does not
 * support them. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "base/str.h"
#include "tests/contract/slow_bmc.h"
#include "tests/world/world.h"

#define RESET "ComputerSystem.Reset"

static const json_t *protected(const struct server *b)
{
	json_t *x;
	size_t i;

	json_array_foreach (json_at(b->object, "status", "conditions"), i, x)
		if (str_eq(json_str_at(x, "type"), "BootProtected"))
			return x;
	return NULL;
}

static void offer_both(struct sim_world *w)
{
	world_do(w, &w->host, "PATCH", "/apis/drover.dev/v1alpha1/providers/rack",
		 json_pack("{s:{s:{s:s}, s:{s:[s]}}}", "spec", "boot", "httpsMediaURL", WORLD_AGENT,
			   "agent", "networks", "10.1.0.0/16"));
}

static bool has_medium(void *arg)
{
	const struct server *b = arg;

	return b->bmc.image && !str_eq(b->bmc.boot_enabled, "Disabled");
}

static void each_bmc_gets_the_address_that_it_takes(void **state)
{
	struct sim_world w;
	struct slow_bmc slow;
	char was[256];

	(void)state;
	world_start(&w, 940, 3);
	offer_both(&w);
	w.servers[0].bmc.lists_https = 2;
	w.servers[1].bmc.lists_https = 3;
	slow_bmc_init(&slow, &w.servers[1].bmc, w.hardware, 3000);
	w.refused = RESET;
	world_replica(&w);
	for (unsigned i = 0; i < 3; i++)
		world_wait(&w, has_medium, &w.servers[i], 300, "the medium is in");
	assert_true(str_starts(w.servers[0].bmc.image, WORLD_AGENT "/boot/"));
	assert_true(str_starts(w.servers[1].bmc.image, WORLD_AGENT "/boot/"));
	assert_true(str_starts(w.servers[2].bmc.image, WORLD_MEDIA "/boot/"));
	/* An inserted medium stays, even if the BMC no longer reports HTTPS and another replica
	 * leads. */
	str_copy(was, sizeof(was), w.servers[0].bmc.image);
	w.servers[0].bmc.lists_https = 0;
	world_kill(&w.replicas[0]);
	world_replica(&w);
	world_run(&w, 60000);
	assert_string_equal(w.servers[0].bmc.image, was);
	w.servers[0].bmc.lists_https = 2;
	w.refused = NULL;
	world_wait_all(&w, "free", 3600);
	assert_string_equal(json_str_at(protected(&w.servers[0]), "reason"), "Bound");
	assert_string_equal(json_str_at(protected(&w.servers[1]), "status"), "True");
	assert_string_equal(json_str_at(protected(&w.servers[2]), "reason"), "PlainMedium");
	assert_non_null(strstr(json_str_at(protected(&w.servers[2]), "message"),
			       "does not list HTTPS for virtual media"));
	world_stop(&w);
}

static bool is_told(void *arg)
{
	return str_eq(world_at(arg, "status.operation.lastError.reason"), "MediaNotMounted");
}

/* The BMC behaves like OpenBMC of GB200, GB300 and GH200: it reports no supported protocols, and
 * refuses plain HTTP. */
static void a_bmc_that_refuses_plain_media_gets_them_over_tls(void **state)
{
	static const char insert[] = "POST /redfish/v1/Systems/1/VirtualMedia";
	struct sim_world w;
	struct server *b = &w.servers[0];
	unsigned plain;

	(void)state;
	world_start(&w, 419, 2);
	w.servers[0].bmc.https_only = w.servers[1].bmc.https_only = true;
	w.servers[0].bmc.verifies = 1;
	w.servers[1].bmc.verifies = 2;
	world_replica(&w);
	world_wait(&w, is_told, b, 300, "MediaNotMounted");
	assert_non_null(strstr(world_at(b, "status.operation.lastError.message"),
			       "ActionParameterValueFormatError"));
	assert_non_null(strstr(world_at(b, "status.operation.lastError.message"),
			       "spec.boot.httpsMediaURL of provider rack"));
	world_run(&w, 600000);
	assert_true(fake_bmc_count(&b->bmc, insert) < 20);
	offer_both(&w);
	world_wait_all(&w, "free", 7200);
	assert_string_equal(world_at(b, "status.bmc.mediaOver"), "HTTPS");
	assert_string_equal(json_str_at(protected(b), "reason"), "Bound");
	assert_string_equal(str_or(json_str_at(protected(b), "message"), ""), "");
	assert_true(w.servers[1].bmc.unverified);
	assert_string_equal(json_str_at(protected(&w.servers[1]), "message"),
			    "its BMC does not verify the TLS certificate of the boot medium's "
			    "server");
	/* The next leader uses the protocol that worked, and does not try the other one. */
	plain = fake_bmc_count(&b->bmc, insert) + fake_bmc_count(&w.servers[1].bmc, insert);
	world_kill(&w.replicas[0]);
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	plain = fake_bmc_count(&b->bmc, insert) + fake_bmc_count(&w.servers[1].bmc, insert) - plain;
	assert_in_range(plain, 2,
			4); /* the machine that serves needs one InsertMedia and one EjectMedia */
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bmc_that_refuses_plain_media_gets_them_over_tls),
		cmocka_unit_test(each_bmc_gets_the_address_that_it_takes),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
