/* BMCs that refuse, report something false, or belong to another machine: the machine waits and
 * reports why, and nothing is switched. */
#include "tests/unit/testing.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "tests/world/world.h"

#define RESET "POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset"

static void set_text(char **slot, const char *text)
{
	free(*slot);
	*slot = mem_strdup(text);
}

/* Checks that the BMC got no request that changes the machine: power, media, boot order. */
static void assert_untouched(const struct server *b)
{
	assert_int_equal(fake_bmc_count(&b->bmc, "POST /redfish/v1/Systems"), 0);
	assert_int_equal(fake_bmc_count(&b->bmc, "PATCH"), 0);
}

static void a_wrong_password_is_tried_once_until_the_secret_changes(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 11, 1);
	b->bmc.password = "changed by hand";
	world_replica(&w);
	world_wait_reason(b, "BmcAuthFailed", 60);
	world_run(&w, 1800 * 1000);
	assert_int_equal(b->bmc.logins, 1);
	assert_string_equal(world_at(b, "status.operation.waitingFor"), "Approval");
	assert_non_null(strstr(world_at(b, "status.operation.lastError.message"),
			       " refused the login of user drover with Secret bmc (version "));
	assert_null(strstr(w.log, WORLD_PASSWORD));
	assert_non_null(strstr(world_at(b, "status.operation.lastError.message"),
			       world_at(b, "spec.bmc.address")));
	assert_untouched(b);
	world_kill(&w.replicas[0]); /* the next leader must not try the password */
	world_replica(&w);
	world_run(&w, 1800 * 1000);
	assert_int_equal(b->bmc.logins, 1);
	world_secret(&w, "drover-system", "bmc", "username", "drover", "password",
		     "changed by hand");
	world_wait_state(b, "free", 900);
	world_stop(&w);
}

/* The password is correct but must be changed. So the Secret is not marked as refused, and drover
 * does not log in again, which would change nothing. */
static void a_password_that_has_to_be_changed_is_told_as_that(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	for (int how = 1; how <= 2; how++) {
		world_start(&w, 16, 1);
		b->bmc.must_change = how;
		b->bmc.lock_after = 3;
		world_replica(&w);
		world_wait_reason(b, "BmcPasswordChange", 60);
		world_run(&w, 1800 * 1000);
		assert_int_equal(b->bmc.logins, 1);
		assert_string_equal(world_at(b, "status.operation.lastError.reason"),
				    "BmcPasswordChange");
		assert_non_null(strstr(world_at(b, "status.operation.lastError.message"),
				       "/redfish/v1/AccountService/Accounts/3"));
		assert_string_equal(world_at(b, "status.operation.waitingFor"), "Approval");
		assert_true(str_empty(world_at(b, "status.bmc.refusedSecretVersion")));
		assert_untouched(b);
		b->bmc.must_change = 0;
		if (how == 1) {
			b->bmc.password = "changed";
			world_secret(&w, "drover-system", "bmc", "username", "drover", "password",
				     "changed");
		} else {
			world_do(&w, &w.host, "PATCH", "/apis/drover.dev/v1alpha1/machines/gpu-1",
				 json_pack("{s:{s:{s:s}}}", "metadata", "annotations",
					   "drover.dev/retry", "1"));
		}
		world_wait_state(b, "free", 900);
		assert_true(fake_bmc_sessions(&b->bmc) <= 1);
		world_stop(&w);
	}
}

static void another_machine_at_the_address_is_left_alone(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 12, 2);
	set_text(&b->bmc.uuid, "ffffffff-0035-3410-8050-c6c04f314733");
	server_power(b, true);
	world_replica(&w);
	world_wait_reason(b, "IdentityMismatch", 60);
	world_wait_state(&w.servers[1], "free", 600);
	world_run(&w, 1800 * 1000);
	assert_string_equal(b->state, "known");
	assert_true(b->bmc.on);
	assert_untouched(b);
	world_stop(&w);
}

/* A resource that is no ComputerSystem does not identify the machine. A changed address does not
 * count as a changed password. */
static void an_address_that_names_no_system_is_told_as_that(void **state)
{
	static const struct {
		const char *of, *path, *message;
	} cases[] = {
		{"", "/redfish/v1/Managers/BMC", "is no ComputerSystem, but #Manager."},
		{"", "/redfish/v1/Systems", "is no ComputerSystem, but #ComputerSystemCollection."},
		{"", "/redfish/v1/Systems/9", "/redfish/v1/Systems/9 does not exist"},
		{"http://127.0.0.1", "", "no password is sent in the clear"},
		{"ipmi://10.0.8.1", "", "want a BMC address like https://"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sim_world w;
		struct server *b = &w.servers[0];
		OWN(arena) a = arena_new();

		world_start(&w, 14, 1);
		world_patch_machine(
			b,
			json_pack("{s:{s:s}}", "bmc", "address",
				  arena_printf(a, "%s%s", cases[i].of[0] ? cases[i].of : b->origin,
					       cases[i].path)));
		world_replica(&w);
		world_wait_reason(b, "BmcAddressInvalid", 60);
		world_run(&w, 600 * 1000);
		assert_non_null(strstr(world_at(b, "status.operation.lastError.message"),
				       cases[i].message));
		assert_true(str_empty(world_at(b, "status.identity.systemUUID")));
		assert_untouched(b);
		world_stop(&w);
	}
}

static void a_secret_that_is_not_there_is_told_as_that(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 15, 1);
	world_do(&w, &w.host, "DELETE", "/api/v1/namespaces/drover-system/secrets/bmc", NULL);
	world_replica(&w);
	world_wait_reason(b, "SecretNotFound", 60);
	assert_int_equal(b->bmc.requests, 0);
	world_secret(&w, "drover-system", "bmc", "username", "drover", "password", WORLD_PASSWORD);
	world_wait_state(b, "free", 900);
	world_stop(&w);
}

/* The BMC's cable was moved while the machine served: the other machine now at that address is
 * never switched off. */
static void a_machine_that_became_another_is_never_switched(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	unsigned resets;

	(void)state;
	world_start(&w, 13, 1);
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 900);
	world_wait_state(b, "serving", 60);
	set_text(&b->bmc.uuid, "ffffffff-0035-3410-8050-c6c04f314733");
	resets = fake_bmc_count(&b->bmc, RESET);
	world_delete_pod(&w, &w.tenants[0], "train");
	world_release(b);
	world_run(&w, 3600 * 1000);
	assert_int_equal(fake_bmc_count(&b->bmc, RESET), resets);
	assert_true(b->bmc.on);
	assert_true(b->claim[0]); /* off is not proved, so the machine stays claimed */
	assert_string_equal(b->segment, "quarantine");
	set_text(&b->bmc.uuid, b->uuid);
	world_wait_state(b, "free", 12 * 3600);
	world_stop(&w);
}

static void a_changed_certificate_stops_it(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	unsigned resets;
	char pin[80];

	(void)state;
	world_start(&w, 14, 1);
	world_replica(&w);
	world_wait_state(b, "free", 600);
	resets = fake_bmc_count(&b->bmc, RESET);
	str_copy(pin, sizeof(pin), world_at(b, "status.bmc.fingerprint") + strlen("sha256:"));
	http_mem_pin(w.net, b->origin,
		     "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff");
	world_pod(&w, &w.tenants[0], "train");
	world_run(&w, 1800 * 1000);
	assert_int_equal(fake_bmc_count(&b->bmc, RESET), resets);
	assert_string_equal(world_at(b, "status.tenant.name"), "");
	http_mem_pin(w.net, b->origin, pin);
	world_wait_running(&w, &w.tenants[0], "train", 24 * 3600);
	world_stop(&w);
}

static void a_reply_without_end_is_an_error_of_that_machine_alone(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 15, 3);
	b->bmc.huge = true;
	world_replica(&w);
	world_wait_reason(b, "BmcProtocolError", 300);
	world_wait_state(&w.servers[1], "free", 600);
	world_wait_state(&w.servers[2], "free", 60);
	assert_string_equal(b->state, "known");
	assert_untouched(b);
	b->bmc.huge = false;
	world_wait_state(b, "free", 1200);
	world_stop(&w);
}

static void a_machine_found_on_waits_for_a_person(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 16, 1);
	server_put_old_system(b);
	str_copy(b->segment, sizeof(b->segment), "somewhere");
	server_power(b, true);
	world_replica(&w);
	world_wait_reason(b, "PowerStateUnexpected", 60);
	world_run(&w, 3600 * 1000);
	assert_true(b->bmc.on);
	assert_untouched(b);
	assert_false(server_is_blank(b));
	world_patch_machine(b,
			    json_pack("{s:{s:s,s:s}}", "approval", "action", "Wipe", "id", "01"));
	world_wait_state(b, "free", 900);
	assert_true(server_is_blank(b));
	assert_string_equal(world_at(b, "status.approvalID"), "01");
	world_stop(&w);
}

/* The Machine object is lost and created anew, as after a restored backup, while a tenant's
 * workload runs on the machine. */
static void a_machine_whose_object_was_lost_keeps_its_tenant(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	int64_t tenancy;
	unsigned resets;

	(void)state;
	world_start(&w, 20, 1);
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 900);
	world_wait_state(b, "serving", 60);
	tenancy = b->tenancy;
	resets = fake_bmc_count(&b->bmc, RESET);
	w.restored = true;
	world_do(&w, &w.host, "DELETE", "/apis/" OBJECT_API_VERSION "/machines/gpu-1", NULL);
	/* Drover's finalizer keeps the object; an operator who removes the finalizer by force
	 * deletes the object anyway. */
	world_do(&w, &w.host, "PATCH", "/apis/" OBJECT_API_VERSION "/machines/gpu-1",
		 json_pack("{s:{s:[]}}", "metadata", "finalizers"));
	world_machine(&w, b);
	world_wait_reason(b, "PowerStateUnexpected", 300);
	world_run(&w, 3600 * 1000);
	assert_true(b->bmc.on);
	assert_int_equal(fake_bmc_count(&b->bmc, RESET), resets);
	assert_true(b->tenancy > tenancy);
	world_stop(&w);
}

/* An operator switched a free machine on by hand: it gets no claim, and drover does not switch it
 * off. */
static void a_free_machine_that_is_on_serves_nobody(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	unsigned resets;

	(void)state;
	world_start(&w, 17, 1);
	world_replica(&w);
	world_wait_state(b, "free", 600);
	server_power(b, true);
	resets = fake_bmc_count(&b->bmc, RESET);
	world_run(&w, 10000);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_reason(b, "PowerStateUnexpected", 900);
	world_run(&w, 1800 * 1000);
	assert_int_equal(fake_bmc_count(&b->bmc, RESET), resets);
	assert_string_equal(b->state, "free");
	assert_string_equal(b->claim, "");
	world_patch_machine(b,
			    json_pack("{s:{s:s,s:s}}", "approval", "action", "Wipe", "id", "02"));
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	world_stop(&w);
}

static void two_machines_with_one_bmc_both_wait(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0], twin;

	(void)state;
	world_start(&w, 18, 1);
	twin = *b;
	str_copy(twin.name, sizeof(twin.name), "gpu-twin");
	world_machine(&w, &twin);
	world_replica(&w);
	world_wait_reason(b, "DuplicateIdentity", 60);
	world_run(&w, 1800 * 1000);
	assert_string_equal(b->state, "known");
	assert_untouched(b);
	world_do(&w, &w.host, "DELETE", "/apis/" OBJECT_API_VERSION "/machines/gpu-twin", NULL);
	world_wait_state(b, "free", 900);
	world_stop(&w);
}

static void a_bmc_that_only_says_yes_is_found_out(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 19, 1);
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 900);
	world_wait_state(b, "serving", 60);
	b->bmc.power_lie = true;
	world_delete_pod(&w, &w.tenants[0], "train");
	world_release(b);
	world_run(&w, 1800 * 1000);
	assert_true(b->bmc.on);
	assert_true(b->claim[0]); /* the claim must not end */
	assert_string_equal(b->segment, "quarantine");
	b->bmc.power_lie = false;
	world_wait_state(b, "free", 12 * 3600);
	world_stop(&w);
}

/* The BMC reports Off for less than five seconds while the machine runs on: a single read proves
 * nothing. */
static void a_bmc_that_says_off_for_a_moment_is_not_believed(void **state)
{
	static const char *const states[] = {"stopping", "leaving"};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct sim_world w;
		struct server *b = &w.servers[0];

		world_start(&w, 21 + i, 1);
		world_replica(&w);
		world_pod(&w, &w.tenants[0], "train");
		world_wait_running(&w, &w.tenants[0], "train", 900);
		world_wait_state(b, "serving", 60);
		b->bmc.power_lie = true;
		world_delete_pod(&w, &w.tenants[0], "train");
		world_release(b);
		world_wait_state(b, states[i], 900);
		world_run(&w, 2000);
		b->bmc.on = false; /* only the BMC's report changes: nothing was switched */
		world_run(&w, 4800);
		b->bmc.on = true;
		world_run(&w, 30000);
		assert_string_equal(b->state, states[i]);
		assert_true(b->claim[0]);
		b->bmc.power_lie = false;
		world_wait_state(b, "free", 12 * 3600);
		world_stop(&w);
	}
}

/* A BMC that refuses a medium and quotes the medium's URL in its own spelling. */
struct quoting {
	/* Start of the token in the medium's URL; NULL: the URL was not seen yet. */
	char *token;
	unsigned n;
};

static bool refuses_and_quotes(struct httpd_req *q, unsigned n, void *arg)
{
	static const char *const before[] = {"http://d/boot/", "http%3A%2F%2Fd%2Fboot%2F",
					     "HTTP:\\/\\/D\\/BOOT\\/", ""};
	struct quoting *k = arg;
	OWN(arena) a = arena_new();
	const char *body, *at;
	char *quote;
	size_t len;

	(void)n;
	if (!str_ends(httpd_path(q), "InsertMedia"))
		return false;
	body = httpd_body(q, &len);
	at = strstr(body, "/boot/") + strlen("/boot/");
	if (!k->token)
		k->token = mem_strndup(at, 64);
	quote = arena_strndup(a, at, 64);
	for (char *c = quote; k->n % 2 && *c; c++)
		*c = (char)toupper((unsigned char)*c);
	httpd_reply_json(q, 503,
			 arena_printf(a,
				      "{\"error\":{\"@Message.ExtendedInfo\":[{\"MessageId\":"
				      "\"B.1.0.Busy\",\"Message\":\"cannot mount %s%s\"}]}}",
				      before[k->n % 4], quote));
	k->n++;
	return true;
}

static void what_a_bmc_quotes_opens_nothing(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	struct quoting k = {0};
	char *text;

	(void)state;
	world_start(&w, 781, 1);
	b->bmc.tamper = refuses_and_quotes;
	b->bmc.tamper_arg = &k;
	world_replica(&w);
	world_wait_state(b, "dirty", 600);
	while (k.n < 8)
		world_run(&w, 10 * 1000);
	assert_non_null(strstr(world_at(b, "status.operation.lastError.message"), "cannot mount"));
	text = json_text(b->object);
	k.token[40] = '\0'; /* not even a large part of the token may appear */
	assert_null(strcasestr(text, k.token));
	assert_non_null(strstr(w.log, "cannot mount"));
	assert_null(strcasestr(w.log, k.token));
	assert_int_equal(strlen(k.token), 40);
	free(text);
	free(k.token);
	world_stop(&w);
}

static bool is_healthy(const struct server *b, const char *want)
{
	char text[512];
	json_t *x;
	size_t i;

	json_array_foreach (json_at(b->object, "status", "conditions"), i, x) {
		if (!str_eq(json_str_at(x, "type"), "Healthy"))
			continue;
		str_format(text, sizeof(text), "%s %s %s", json_str_at(x, "status"),
			   json_str_at(x, "reason"), str_or(json_str_at(x, "message"), ""));
		return str_eq(text, want);
	}
	return str_eq(want, "");
}

/* A critical fault that the BMC reports appears in a condition, which is cleared when the fault
 * ends. The machine's operation continues. */
static void what_its_bmc_calls_critical_is_named(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 39, 1);
	world_replica(&w);
	world_wait_state(b, "free", 1800);
	assert_true(is_healthy(b, ""));
	b->bmc.health = "{'Status': {'HealthRollup': 'Critical'}, 'MemorySummary': {'Status': "
			"{'HealthRollup': 'Critical'}}}";
	world_run(&w, 300000);
	assert_true(is_healthy(
		b, "False HardwareFault the BMC reports Critical: MemorySummary Critical"));
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	b->bmc.health = "{'Status': {'HealthRollup': 'OK'}}";
	world_run(&w, 300000);
	assert_true(is_healthy(b, "True NothingCritical "));
	world_stop(&w);
}

static void a_medium_that_is_taken_and_not_there_is_told(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	unsigned inserts;

	(void)state;
	world_start(&w, 416, 1);
	b->bmc.write_lie = true;
	world_replica(&w);
	world_wait_reason(b, "MediaNotMounted", 120);
	assert_non_null(strstr(world_at(b, "status.operation.lastError.message"),
			       "the BMC accepted the request, but its slot is empty after 20 s"));
	inserts = fake_bmc_count(&b->bmc, "POST /redfish/v1/Systems/1/VirtualMedia");
	world_run(&w, 600000); /* the insert is retried with growing back-off */
	assert_in_range(
		fake_bmc_count(&b->bmc, "POST /redfish/v1/Systems/1/VirtualMedia") - inserts, 2, 9);
	b->bmc.write_lie = false;
	world_wait_state(b, "free", 7200);
	world_stop(&w);
}

static void one_failed_look_is_soon_repeated(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 417, 1);
	b->bmc.garbage = true;
	world_replica(&w);
	world_wait_reason(b, "BmcProtocolError", 60);
	b->bmc.garbage = false;
	world_run(&w, 20000);
	assert_string_not_equal(world_at(b, "status.identity.systemUUID"), "");
	world_stop(&w);
}

/* Each leader logs in, but its read of the System fails, so the session's name is unknown. Still no
 * session is left over. */
static void logins_whose_looks_fail_leave_no_sessions(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	struct replica *r;

	(void)state;
	world_start(&w, 418, 1);
	b->bmc.garbage = true;
	for (unsigned i = 0; i < 5; i++) {
		r = world_replica(&w);
		world_run(&w, 60000);
		assert_int_equal(fake_bmc_sessions(&b->bmc), 1);
		world_kill(r);
	}
	world_replica(&w);
	for (unsigned i = 0; i < 5; i++) { /* the changed Secret makes drover attach the BMC anew */
		world_run(&w, 60000);
		assert_int_equal(fake_bmc_sessions(&b->bmc), 1);
		world_secret(&w, "drover-system", "bmc", "username", "drover", "password",
			     WORLD_PASSWORD);
	}
	b->bmc.garbage = false;
	world_wait_state(b, "free", 1800);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wrong_password_is_tried_once_until_the_secret_changes),
		cmocka_unit_test(a_password_that_has_to_be_changed_is_told_as_that),
		cmocka_unit_test(another_machine_at_the_address_is_left_alone),
		cmocka_unit_test(what_its_bmc_calls_critical_is_named),
		cmocka_unit_test(an_address_that_names_no_system_is_told_as_that),
		cmocka_unit_test(a_secret_that_is_not_there_is_told_as_that),
		cmocka_unit_test(a_machine_that_became_another_is_never_switched),
		cmocka_unit_test(a_changed_certificate_stops_it),
		cmocka_unit_test(a_reply_without_end_is_an_error_of_that_machine_alone),
		cmocka_unit_test(a_machine_found_on_waits_for_a_person),
		cmocka_unit_test(a_machine_whose_object_was_lost_keeps_its_tenant),
		cmocka_unit_test(a_free_machine_that_is_on_serves_nobody),
		cmocka_unit_test(two_machines_with_one_bmc_both_wait),
		cmocka_unit_test(a_bmc_that_only_says_yes_is_found_out),
		cmocka_unit_test(a_medium_that_is_taken_and_not_there_is_told),
		cmocka_unit_test(one_failed_look_is_soon_repeated),
		cmocka_unit_test(logins_whose_looks_fail_leave_no_sessions),
		cmocka_unit_test(what_a_bmc_quotes_opens_nothing),
		cmocka_unit_test(a_bmc_that_says_off_for_a_moment_is_not_believed),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
