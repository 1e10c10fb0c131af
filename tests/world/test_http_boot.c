/* Agents that boot by UefiHttp instead of virtual media. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "tests/world/sweep.h"

#define RESET "POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset"
#define CLAIMS "nodeclaims.drover.dev/"
#define INSERT "POST /redfish/v1/Systems/1/VirtualMedia"

/* Sets the rack's boot methods; takes ownership of methods. */
static void boot_methods(struct sim_world *w, json_t *methods)
{
	world_do(w, &w->host, "PATCH", "/apis/" OBJECT_API_VERSION "/providers/rack",
		 json_pack("{s:{s:{s:o}}}", "spec", "boot", "methods", methods));
}

/* Starts a world with one machine; takes ownership of methods. */
static void start(struct sim_world *w, uint64_t seed, json_t *methods)
{
	world_start(w, seed, 1);
	boot_methods(w, methods);
}

/* Runs the cycle: from a new machine to free, to a tenant and back. */
static void once_round(struct sim_world *w)
{
	struct server *b = &w->servers[0];

	world_replica(w);
	world_wait_state(b, "free", 1800);
	assert_string_equal(str_or(b->bmc.http_uri, ""), "");
	world_pod(w, &w->tenants[0], "train");
	world_wait_running(w, &w->tenants[0], "train", 1800);
	world_check_serving(w, &w->tenants[0], "train");
	assert_string_equal(str_or(b->bmc.http_uri, ""), "");
	world_delete_pod(w, &w->tenants[0], "train");
	world_release(b);
	world_wait_state(b, "free", 1800);
	world_stop(w);
}

static void an_agent_is_booted_by_http(void **state)
{
	struct sim_world w;

	(void)state;
	start(&w, 171, json_pack("[s]", "UefiHttp"));
	w.servers[0].bmc.no_media = true;
	once_round(&w);
}

static void with_http_first_no_medium_is_put_in(void **state)
{
	struct sim_world w;

	(void)state;
	start(&w, 172, json_pack("[s,s]", "UefiHttp", "VirtualMedia"));
	world_replica(&w);
	world_wait_state(&w.servers[0], "free", 1800);
	assert_int_equal(fake_bmc_count(&w.servers[0].bmc, INSERT), 0);
	world_settle(&w);
	world_stop(&w);
}

static void a_bmc_that_forgets_the_address_is_known_to_boot_our_agent(void **state)
{
	struct sim_world w;

	(void)state;
	start(&w, 173, json_pack("[s]", "UefiHttp"));
	w.servers[0].bmc.http_forgotten = true;
	once_round(&w);
}

static void a_bmc_without_http_boot_gets_a_medium(void **state)
{
	struct sim_world w;

	(void)state;
	start(&w, 174, json_pack("[s,s]", "UefiHttp", "VirtualMedia"));
	w.servers[0].bmc.no_http_boot = true;
	once_round(&w);
}

static void a_provider_that_says_nothing_takes_what_the_bmc_offers(void **state)
{
	struct sim_world w;

	(void)state;
	start(&w, 175, json_null());
	w.servers[0].bmc.no_media = true;
	once_round(&w);
}

static bool says_both(void *arg)
{
	const char *text = str_or(world_at(arg, "status.operation.lastError.message"), "");

	return strstr(text, "VirtualMedia: the BMC has no virtual media slot") &&
	       strstr(text, "UefiHttp: this System has no HttpBootUri");
}

static void what_was_said_to_each_way_is_told(void **state)
{
	struct sim_world w;

	(void)state;
	start(&w, 185, json_null());
	w.servers[0].bmc.no_media = w.servers[0].bmc.no_http_boot = true;
	world_replica(&w);
	world_wait(&w, says_both, &w.servers[0], 600, "both answers are told");
	world_stop(&w);
}

static bool is_booting(void *arg)
{
	const struct server *b = arg;

	return b->bmc.on && str_eq(world_at(b, "status.operation.step"), "power-on");
}

static void a_new_leader_goes_on_with_a_boot_by_http(void **state)
{
	(void)state;
	for (int forgets = 0; forgets < 2; forgets++) {
		struct sim_world w;
		struct server *b = &w.servers[0];

		start(&w, 176, json_pack("[s]", "UefiHttp"));
		b->bmc.http_forgotten = forgets;
		world_replica(&w);
		world_wait(&w, is_booting, b, 600, "it is switched on");
		world_kill(&w.replicas[0]);
		world_replica(&w);
		/* The agent's calls fail while no replica leads; afterwards the boot must
		 * continue. */
		world_wait_state(b, "free", 3600);
		world_settle(&w);
		world_stop(&w);
	}
}

static void an_agent_that_fell_silent_is_switched_off(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	start(&w, 178, json_pack("[s]", "UefiHttp"));
	b->bmc.http_forgotten = b->mute = true;
	world_replica(&w);
	world_wait_state(b, "quarantined", 12 * 3600);
	b->mute = false;
	world_wait_state(b, "free", 12 * 3600);
	world_settle(&w);
	world_stop(&w);
}

/* --- URLs that stay set ----------------------------------------------------------------------- */

enum keeper { SILENTLY, WITH_400 };

static void keep_addresses(struct server *b, enum keeper how)
{
	b->bmc.http_sticks = how == SILENTLY;
	b->bmc.http_refused = how == WITH_400;
}

/* The BMC keeps the URL for HTTP boot. Such a URL boots nothing, because the boot override is
 * disabled and nothing is served at the URL. */
static void a_machine_whose_bmc_keeps_the_address_goes_on(void **state)
{
	(void)state;
	for (int how = SILENTLY; how <= WITH_400; how++) {
		struct sim_world w;
		struct server *b = &w.servers[0];
		char first[512];

		start(&w, 177, json_pack("[s]", "UefiHttp"));
		keep_addresses(b, (enum keeper)how);
		world_replica(&w);
		world_wait_state(b, "free", 1800);
		str_copy(first, sizeof(first), str_or(b->bmc.http_uri, ""));
		assert_true(str_starts(first, WORLD_MEDIA "/boot/"));
		assert_true(str_starts(world_at(b, "status.bmc.keptAddress"), "sha256:"));
		assert_string_equal(world_at(b, "status.power.httpBoot"), "");
		world_pod(&w, &w.tenants[0], "train");
		world_wait_running(&w, &w.tenants[0], "train", 1800);
		world_check_serving(&w, &w.tenants[0], "train");
		assert_string_not_equal(b->bmc.http_uri, first);
		world_delete_pod(&w, &w.tenants[0], "train");
		world_release(b);
		world_wait_state(b, "free", 1800);
		world_settle(&w);
		world_stop(&w);
	}
}

static void an_address_that_goes_by_null_alone_goes(void **state)
{
	struct sim_world w;

	(void)state;
	start(&w, 179, json_pack("[s]", "UefiHttp"));
	w.servers[0].bmc.http_null = true;
	once_round(&w);
}

/* An operator switched the machine on: the URL that is still set belongs to an earlier boot. */
static void what_is_on_beside_a_kept_address_is_not_our_agent(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	unsigned resets;

	(void)state;
	start(&w, 180, json_pack("[s]", "UefiHttp"));
	keep_addresses(b, SILENTLY);
	world_replica(&w);
	world_wait_state(b, "free", 1800);
	resets = fake_bmc_count(&b->bmc, RESET);
	server_power(b, true);
	world_run(&w, 10000);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_reason(b, "PowerStateUnexpected", 900);
	world_kill(&w.replicas[0]); /* the next leader does not treat it as drover's agent either */
	world_replica(&w);
	world_run(&w, 1800 * 1000);
	assert_int_equal(fake_bmc_count(&b->bmc, RESET), resets);
	assert_true(b->bmc.on);
	assert_string_equal(b->state, "free");
	world_patch_machine(b,
			    json_pack("{s:{s:s,s:s}}", "approval", "action", "Wipe", "id", "01"));
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	world_settle(&w);
	world_stop(&w);
}

static void a_quarantined_machine_with_a_kept_address_can_be_approved(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	start(&w, 181, json_pack("[s]", "UefiHttp"));
	keep_addresses(b, WITH_400);
	b->wipe_fails = true;
	world_replica(&w);
	world_wait_state(b, "quarantined", 3600);
	world_run(&w, 600 * 1000);
	assert_false(b->bmc.on); /* drover switched its agent off */
	server_power(b, true);	 /* drover does not switch off what an operator boots */
	world_run(&w, 600 * 1000);
	assert_true(b->bmc.on);
	b->wipe_fails = false;
	world_patch_machine(b,
			    json_pack("{s:{s:s,s:s}}", "approval", "action", "Wipe", "id", "01"));
	world_wait_state(b, "free", 3600);
	world_settle(&w);
	world_stop(&w);
}

/* --- boots in the journal --------------------------------------------------------------------- */

static void set_status(struct server *b, json_t *status)
{
	char path[200];

	str_format(path, sizeof(path), "/apis/" OBJECT_API_VERSION "/machines/%s/status", b->name);
	world_do(b->world, &b->world->host, "PATCH", path, json_pack("{s:o}", "status", status));
}

static void pause_rack(struct sim_world *w, bool on)
{
	world_do(w, &w->host, "PATCH", "/apis/" OBJECT_API_VERSION "/providers/rack",
		 json_pack("{s:{s:b}}", "spec", "paused", on));
}

/* A boot that ended with a power-off is not the boot that an operator starts afterwards. */
static void a_boot_ends_when_it_is_seen_off(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	unsigned resets;

	(void)state;
	start(&w, 183, json_pack("[s]", "UefiHttp"));
	b->bmc.http_forgotten = true;
	world_replica(&w);
	world_wait_state(b, "free", 1800);
	b->reboots_at = "image";
	world_pod(&w, &w.tenants[0], "train");
	world_wait_reason(b, "AgentSilent", 1800); /* the override was for one boot */
	world_wait_state(b, "dirty", 600);
	pause_rack(&w, true);
	server_power(b, true);
	world_run(&w, 60 * 1000);
	resets = fake_bmc_count(&b->bmc, RESET);
	pause_rack(&w, false);
	world_wait_reason(b, "PowerStateUnexpected", 600);
	world_run(&w, 600 * 1000);
	assert_true(b->bmc.on);
	assert_int_equal(fake_bmc_count(&b->bmc, RESET), resets);
	world_settle(&w);
	world_stop(&w);
}

struct keys {
	char *v[16];
	size_t n;
};

static bool note_key(const struct store_entry *en, void *arg)
{
	struct keys *k = arg;

	assert_true(k->n < 16);
	k->v[k->n++] = mem_strdup(en->key);
	return true;
}

static void forget(struct sim_world *w, const char *prefix)
{
	struct keys k = {.n = 0};
	struct err e;

	store_list(w->host.store, prefix, NULL, 0, note_key, &k);
	for (size_t i = 0; i < k.n; i++) {
		struct store_change gone = {.key = k.v[i], .if_rev = -1};

		assert_ok(store_commit(w->host.store, &gone, 1, NULL, NULL, NULL, &e), &e);
		free(k.v[i]);
	}
}

static void put_back(struct sim_world *w, json_t *claim)
{
	OWN(arena) a = arena_new();
	const char *version =
		arena_printf(a, "%llu", (unsigned long long)store_rev(w->host.store) + 1);
	struct store_change ch = {
		.key = arena_printf(a, CLAIMS "%s", json_str_at(claim, "metadata", "name")),
		.if_rev = -1};
	struct err e;
	char *text;

	json_object_set_new(json_at(claim, "metadata"), "resourceVersion", json_string(version));
	text = json_text(claim);
	ch.value = text;
	ch.value_len = strlen(text);
	assert_ok(store_commit(w->host.store, &ch, 1, NULL, NULL, NULL, &e), &e);
	free(text);
}

/* Status is restored from a backup of a time when the agent was booted. Since then a tenant's
 * system was started on the machine, and it still runs. */
static void a_journal_that_is_put_back_makes_no_agent_of_a_tenants_system(void **state)
{
	static const struct {
		bool away, cut, claimed;
	} cases[] = {{0}, {.away = true}, {.cut = true}, {.claimed = true}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct sim_world w;
		struct server *b = &w.servers[0];
		OWN(arena) a = arena_new();
		OWN_JSON old = NULL;
		OWN_JSON claim = NULL;
		unsigned resets;

		start(&w, 184, json_pack("[s]", "UefiHttp"));
		b->bmc.http_forgotten = true;
		world_replica(&w);
		if (cases[i].claimed) {
			world_wait_state(b, "free", 1800);
			world_pod(&w, &w.tenants[0], "train");
		}
		world_wait(&w, is_booting, b, 600, "its agent is switched on");
		old = json_deep_copy(json_at(b->object, "status"));
		if (cases[i].claimed)
			claim = cluster_get(&w.host, arena_printf(a, CLAIMS "%s", b->claim));
		else
			world_pod(&w, &w.tenants[0], "train");
		world_wait_running(&w, &w.tenants[0], "train", 1800);
		world_wait_state(b, "serving", 60);
		world_kill(&w.replicas[0]);
		w.restored = true;
		resets = fake_bmc_count(&b->bmc, RESET);
		if (claim) {
			put_back(&w, claim);
		} else {
			forget(&w, CLAIMS);
			forget(&w, "wiperecords.drover.dev/");
			json_object_set_new(old, "claimRef", json_null());
		}
		json_object_set_new(old, "bootID", json_null());
		json_object_set_new(old, "tenant", json_null());
		set_status(b, json_incref(old));
		/* The tenant's Node cannot be read. The segment of the port still shows that a
		 * tenant uses the machine. */
		if (cases[i].away)
			cluster_away(&w.tenants[0], true);
		if (cases[i].cut) /* only the Node shows the tenant, not the port */
			str_copy(b->segment, sizeof(b->segment), "quarantine");
		world_replica(&w);
		world_wait_reason(b, "PowerStateUnexpected", 600);
		world_run(&w, 4 * 3600 * 1000);
		assert_int_equal(fake_bmc_count(&b->bmc, RESET), resets);
		assert_true(b->bmc.on);
		assert_string_equal(b->segment, cases[i].cut ? "quarantine" : "tenant/team-a");
		world_settle(&w);
		world_stop(&w);
	}
}

/* The agent stops sending. The next leader switches the machine off and boots the agent again. */
static void a_new_leader_switches_a_silent_agent_off(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct sim_world w;
		struct server *b = &w.servers[0];

		start(&w, 182, json_pack("[s]", "UefiHttp"));
		b->bmc.http_forgotten = i == 1;
		keep_addresses(b, i == 2 ? SILENTLY : WITH_400 + 1);
		b->mute = true;
		world_replica(&w);
		world_wait_state(b, "inspecting", 1800);
		assert_string_not_equal(world_at(b, "status.power.httpBoot"), "");
		world_kill(&w.replicas[0]);
		if (i == 3) /* status has only the URL; the boot itself is not recorded */
			set_status(b, json_pack("{s:{s:n}}", "power", "httpBoot"));
		world_replica(&w);
		world_wait_reason(b, "AgentSilent", 1800);
		b->mute = false;
		world_wait_state(b, "free", 1800);
		assert_null(strstr(w.log, "PowerStateUnexpected"));
		assert_string_equal(world_at(b, "status.power.httpBoot"), "");
		world_settle(&w);
		world_stop(&w);
	}
}

/* --- faults ----------------------------------------------------------------------------------- */

static void circle(struct sim_world *w)
{
	struct server *b = &w->servers[0];

	world_replica(w);
	world_pod(w, &w->tenants[0], "train");
	world_wait_running(w, &w->tenants[0], "train", 7200);
	world_wait_state(b, "serving", 3600);
	world_delete_pod(w, &w->tenants[0], "train");
	world_release(b);
	world_wait_state(b, "free", 7200);
	assert_true(server_is_blank(b));
	/* No boot was taken for that of an operator: each one was drover's own. */
	assert_null(strstr(w->log, "PowerStateUnexpected"));
	assert_string_equal(world_at(b, "status.power.httpBoot"), "");
}

static void boot_by_http(struct sim_world *w, uint64_t at)
{
	boot_methods(w, json_pack("[s]", "UefiHttp"));
	w->servers[0].bmc.http_forgotten = at % 2;
	w->servers[0].bmc.http_sticks = at % 2 == 0;
}

static void no_lost_request_and_no_death_needs_a_person(void **state)
{
	struct sweep s = {
		.seed = 1000, .servers = 1, .every = 503, .prepare = boot_by_http, .trip = circle};

	(void)state;
	assert_true(sweep_run(&s) > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_agent_is_booted_by_http),
		cmocka_unit_test(with_http_first_no_medium_is_put_in),
		cmocka_unit_test(a_bmc_that_forgets_the_address_is_known_to_boot_our_agent),
		cmocka_unit_test(a_bmc_without_http_boot_gets_a_medium),
		cmocka_unit_test(what_was_said_to_each_way_is_told),
		cmocka_unit_test(a_provider_that_says_nothing_takes_what_the_bmc_offers),
		cmocka_unit_test(a_new_leader_goes_on_with_a_boot_by_http),
		cmocka_unit_test(an_agent_that_fell_silent_is_switched_off),
		cmocka_unit_test(a_machine_whose_bmc_keeps_the_address_goes_on),
		cmocka_unit_test(an_address_that_goes_by_null_alone_goes),
		cmocka_unit_test(what_is_on_beside_a_kept_address_is_not_our_agent),
		cmocka_unit_test(a_quarantined_machine_with_a_kept_address_can_be_approved),
		cmocka_unit_test(a_boot_ends_when_it_is_seen_off),
		cmocka_unit_test(a_journal_that_is_put_back_makes_no_agent_of_a_tenants_system),
		cmocka_unit_test(a_new_leader_switches_a_silent_agent_off),
		cmocka_unit_test(no_lost_request_and_no_death_needs_a_person),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
