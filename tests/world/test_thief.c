/* Tests the limits of a thief who has a boot medium or its URL. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"
#include "tests/world/bootagent.h"
#include "tests/world/world.h"
#include "wipe/proto.h"

#define RESET "ComputerSystem.Reset"
#define NOWHERE "10.66.6.6:999"

/* --- stealing --------------------------------------------------------------------------------- */

struct theft {
	bool done;
	int status;
	/* Boot block in the reply; NULL: the reply contained none. */
	char *block;
};

static void on_stolen(const struct http_reply *r, const struct err *e, void *arg)
{
	static const char mark[] = "{\"endpoint\"";
	struct theft *t = arg;
	const char *at = NULL;

	(void)e;
	t->done = true;
	t->status = r ? r->status : -1;
	if (r && r->status == 200)
		at = memmem(r->body, r->body_len, mark, sizeof(mark) - 1);
	if (at)
		t->block = mem_strndup(at, PROTO_BOOT_BLOCK);
}

static bool is_done(void *arg)
{
	return ((struct theft *)arg)->done;
}

/* Fetches the medium, as a client at `address`. */
static struct theft steal(struct sim_world *w, const char *url, const char *address)
{
	const char *path = strchr(strstr(url, "://") + 3, '/');
	char *origin = mem_strndup(url, (size_t)(path - url));
	struct http_peer_spec s = {.base_url = origin, .plain_ok = true};
	struct theft t = {0};
	struct http_call c = {.path = path, .done = on_stolen, .arg = &t};
	struct http *h = http_new(w->hardware,
				  http_mem_transport(w->net, w->hardware, address, NULL, NULL), 0);
	struct err e;
	struct http_peer *p = http_peer_new(h, &s, &e);

	http_start(p, &c);
	world_wait(w, is_done, &t, 10, "the medium is asked for");
	http_peer_free(p);
	http_free(h);
	free(origin);
	return t;
}

static bool has_medium(void *arg)
{
	const struct server *b = arg;

	return b->bmc.image && !str_eq(b->bmc.boot_enabled, "Disabled");
}

static bool has_address(void *arg)
{
	const struct server *b = arg;

	return !str_empty(b->bmc.http_uri) && str_eq(b->bmc.boot_target, "UefiHttp");
}

/* --- the medium ------------------------------------------------------------------------------- */

static void a_medium_is_served_to_the_bmc_that_it_is_for(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	struct theft t;

	(void)state;
	world_start(&w, 301, 2);
	w.refused = RESET;
	world_replica(&w);
	world_wait(&w, has_medium, b, 120, "the medium is in");
	t = steal(&w, b->bmc.image, NOWHERE);
	assert_int_equal(t.status, 404);
	t = steal(&w, b->bmc.image, "10.0.8.2:40001"); /* another machine's BMC */
	assert_int_equal(t.status, 404);
	t = steal(&w, b->bmc.image, "10.1.0.1:40001"); /* the machine itself */
	assert_int_equal(t.status, 404);
	t = steal(&w, b->bmc.image, "10.0.8.1:555");
	assert_int_equal(t.status, 200);
	assert_non_null(t.block);
	free(t.block);
	w.refused = NULL;
	world_wait_state(b, "free", 600);
	world_settle(&w);
	world_stop(&w);
}

static void a_proxy_before_the_bmcs_is_named_in_the_provider(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	struct theft t;

	(void)state;
	world_start(&w, 302, 1);
	world_do(&w, &w.host, "PATCH", "/apis/drover.dev/v1alpha1/providers/rack",
		 json_pack("{s:{s:{s:[s]}}}", "spec", "boot", "proxies", "10.66.6.0/24"));
	w.refused = RESET;
	world_replica(&w);
	world_wait(&w, has_medium, b, 120, "the medium is in");
	t = steal(&w, b->bmc.image, NOWHERE);
	assert_int_equal(t.status, 200);
	free(t.block);
	w.refused = NULL;
	world_wait_state(b, "free", 600);
	world_settle(&w);
	world_stop(&w);
}

/* Firmware fetches this URL: it is served only after power-on, and only to the first client. */
static void an_address_for_http_boot_is_served_once_power_came_and_to_one(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	struct theft t;

	(void)state;
	world_start(&w, 303, 1);
	world_do(&w, &w.host, "PATCH", "/apis/drover.dev/v1alpha1/providers/rack",
		 json_pack("{s:{s:{s:[s]}}}", "spec", "boot", "methods", "UefiHttp"));
	world_replica(&w);
	world_wait(&w, has_address, b, 120, "the address is set");
	assert_false(b->bmc.on);
	t = steal(&w, b->bmc.http_uri, "10.1.0.1:333");
	assert_int_equal(t.status, 404);
	world_wait_state(b, "inspecting", 120);
	t = steal(&w, b->bmc.http_uri, "10.1.0.77:333");
	assert_int_equal(t.status, 404);
	world_wait_state(b, "free", 600);
	world_settle(&w);
	world_stop(&w);
}

/* --- the boot secret -------------------------------------------------------------------------- */

/* The thief gets the boot block while the machine is off, and reports to drover that everything is
 * wiped. */
static void a_caller_before_power_wipes_nothing(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	struct bootagent *thief;
	struct theft t;

	(void)state;
	world_start(&w, 304, 1);
	server_put_old_system(b);
	w.refused = RESET;
	world_replica(&w);
	world_wait(&w, has_medium, b, 120, "the medium is in");
	t = steal(&w, b->bmc.image, "10.0.8.1:555"); /* for example through the BMC's own address */
	assert_non_null(t.block);
	thief = bootagent_thief(b, t.block, PROTO_BOOT_BLOCK, NOWHERE, "boot-of-his");
	world_wait_state(b, "quarantined", 60);
	assert_string_equal(world_at(b, "status.quarantine.reason"), "SecondCaller");
	assert_string_equal(world_at(b, "status.quarantine.exit"), "operator");
	w.refused = NULL;
	world_run(&w, 1800 * 1000);
	assert_int_equal(bootagent_seen(thief).orders, 0);
	assert_string_equal(b->state, "quarantined");
	assert_false(server_is_blank(b));
	bootagent_free(thief);
	free(t.block);
	world_settle(&w);
	world_stop(&w);
}

/* The thief calls while the machine boots its agent for a tenant's image, and asks for the order
 * that contains the config drive. */
static void a_caller_at_the_claim_gets_no_bootstrap_token(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	struct bootagent *thief;
	struct theft t;

	(void)state;
	world_start(&w, 305, 1);
	world_replica(&w);
	world_wait_state(b, "free", 600);
	w.refused = RESET;
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(b, "claimed", 60);
	world_wait(&w, has_medium, b, 120, "the medium is in");
	t = steal(&w, b->bmc.image, "10.0.8.1:555");
	thief = bootagent_thief(b, t.block, PROTO_BOOT_BLOCK, NOWHERE, "boot-of-his");
	world_wait_reason(b, "SecondCaller", 60);
	w.refused = NULL;
	world_wait_running(&w, &w.tenants[0], "train", 3600); /* with a new boot secret */
	assert_int_equal(bootagent_seen(thief).orders, 0);
	assert_int_equal(bootagent_seen(thief).tokens, 0);
	bootagent_free(thief);
	free(t.block);
	world_settle(&w);
	world_stop(&w);
}

static bool is_starting(void *arg)
{
	const struct server *b = arg;

	return b->bmc.on && b->doing == SERVER_FIRMWARE &&
	       str_eq(world_at(b, "status.power.state"), "On");
}

/* The thief calls first: after power-on, while the firmware still runs. When the agent calls later,
 * this proves that there are two callers. */
static void a_caller_who_comes_before_the_agent_is_shown_by_it(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	struct bootagent *thief;
	struct theft t;

	(void)state;
	world_start(&w, 306, 1);
	server_put_old_system(b);
	world_replica(&w);
	b->bmc.power_delay_ms = 10000;
	world_wait(&w, has_medium, b, 120, "the medium is in");
	t = steal(&w, b->bmc.image, "10.0.8.1:555");
	world_wait(&w, is_starting, b, 120, "it starts");
	/* A thief that does not know the drives gets no further than a wipe, which takes its
	 * time. */
	b->wipe_ms = 60000;
	thief = bootagent_thief(b, t.block, PROTO_BOOT_BLOCK, NOWHERE, "boot-of-his");
	world_wait_state(b, "quarantined", 300);
	assert_string_equal(world_at(b, "status.quarantine.reason"), "SecondCaller");
	bootagent_free(thief);
	free(t.block);
	world_settle(&w);
	world_stop(&w);
}

static bool is_dismissed(void *arg)
{
	return json_is_true(
		json_at(((struct server *)arg)->object, "status", "agent", "dismissed"));
}

/* Everything is wiped and verified, and the agent was sent its last order. A second caller still
 * invalidates the wipe. */
static void a_caller_after_the_agents_last_order_counts_too(void **state)
{
	(void)state;
	for (unsigned kill = 0; kill < 2; kill++) {
		struct sim_world w;
		struct server *b = &w.servers[0];
		struct bootagent *thief;
		char *block;

		world_start(&w, 307 + kill, 1);
		world_replica(&w);
		world_wait_state(b, "verifying", 300);
		block = mem_strndup(b->block, PROTO_BOOT_BLOCK);
		world_wait(&w, is_dismissed, b, 120, "its agent is dismissed");
		/* With kill, the next leader learns from the journal that the agent was
		 * dismissed. */
		if (kill) {
			b->port_stuck = true;
			str_copy(b->segment, sizeof(b->segment), "quarantine");
			world_kill(&w.replicas[0]);
			world_replica(&w);
			world_run(&w, 60000);
		}
		assert_string_equal(b->state, "verifying");
		thief = bootagent_thief(b, block, PROTO_BOOT_BLOCK, NOWHERE, "boot-of-his");
		world_wait_state(b, "quarantined", 120);
		assert_string_equal(world_at(b, "status.quarantine.reason"), "SecondCaller");
		world_run(&w, 1800 * 1000);
		assert_string_equal(b->state, "quarantined");
		bootagent_free(thief);
		free(block);
		world_settle(&w);
		world_stop(&w);
	}
}

/* A second caller reports a different boot while the agent works. This is not a reboot, because the
 * agent still reports. */
static void another_boot_while_the_agent_reports_is_a_second_caller(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	struct bootagent *thief;

	(void)state;
	world_start(&w, 310, 1);
	b->wipe_ms = 120000;
	world_replica(&w);
	world_wait_state(b, "wiping", 300);
	world_run(&w, 20000);
	thief = bootagent_thief(b, b->block, PROTO_BOOT_BLOCK, NOWHERE, "boot-of-his");
	world_wait_state(b, "quarantined", 60);
	assert_string_equal(world_at(b, "status.quarantine.reason"), "SecondCaller");
	assert_int_equal(b->boots, 1);
	bootagent_free(thief);
	world_settle(&w);
	world_stop(&w);
}

/* --- calls that are legitimate ---------------------------------------------------------------- */

static bool is_about_to_call(void *arg)
{
	const struct server *b = arg;

	return b->doing == SERVER_AGENT && !world_at(b, "status.agent.bootID")[0];
}

/* The leader dies between power-on and hello: the next one accepts the boot in the journal, and
 * boots nothing again. */
static void an_agent_that_calls_under_the_next_leader_is_heard(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 311, 1);
	world_replica(&w);
	world_wait(&w, is_about_to_call, b, 300, "its agent runs");
	world_kill(&w.replicas[0]);
	world_replica(&w);
	world_wait_state(b, "free", 600);
	assert_int_equal(b->boots, 1);
	world_settle(&w);
	world_stop(&w);
}

/* An operator pressed the power button while the medium was inserted: the agent runs, but drover
 * had not observed the machine off before. */
static void a_machine_that_a_person_switched_on_is_booted_again(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 312, 1);
	w.refused = RESET;
	world_replica(&w);
	world_wait(&w, has_medium, b, 120, "the medium is in");
	server_power(b, true);
	world_run(&w, 5000);
	w.refused = NULL;
	world_wait_state(b, "free", 900);
	assert_true(b->boots >= 2);
	assert_false(world_has_failure(b, "SecondCaller"));
	world_settle(&w);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_medium_is_served_to_the_bmc_that_it_is_for),
		cmocka_unit_test(a_proxy_before_the_bmcs_is_named_in_the_provider),
		cmocka_unit_test(an_address_for_http_boot_is_served_once_power_came_and_to_one),
		cmocka_unit_test(a_caller_before_power_wipes_nothing),
		cmocka_unit_test(a_caller_at_the_claim_gets_no_bootstrap_token),
		cmocka_unit_test(a_caller_who_comes_before_the_agent_is_shown_by_it),
		cmocka_unit_test(a_caller_after_the_agents_last_order_counts_too),
		cmocka_unit_test(another_boot_while_the_agent_reports_is_a_second_caller),
		cmocka_unit_test(an_agent_that_calls_under_the_next_leader_is_heard),
		cmocka_unit_test(a_machine_that_a_person_switched_on_is_booted_again),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
