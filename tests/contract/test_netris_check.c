#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "providers/netris_check.h"
#include "tests/contract/fake_netris.h"

struct world {
	struct loop *loop;
	struct loop_group *group;
	struct fake_netris fake;
	struct netris_check_spec s;
	struct netris_check *check;
	bool answered;
	unsigned wrong;
	json_t *findings;
};

static int setup(void **state)
{
	static const char *const machines[] = {"gpu-1", "gpu-2", NULL}, *const none[] = {NULL};
	struct world *w = mem_new(struct world);

	mem_init();
	w->loop = loop_sim_new(13, 1764000000000);
	w->group = loop_group_new(w->loop, "cli");
	fake_netris_init(&w->fake, w->loop, w->group, 2, 20, false);
	w->s = (struct netris_check_spec){.group = w->group,
					  .netris = &w->fake.config,
					  .quarantine = "quarantine",
					  .provisioning = "provisioning",
					  .machines = machines,
					  .tenants = none,
					  .wait_ms = 20000};
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	netris_check_free(w->check);
	json_decref(w->findings);
	fake_netris_done(&w->fake);
	loop_group_free(w->group);
	loop_free(w->loop);
	free(w);
	return 0;
}

static void on_done(const json_t *findings, unsigned wrong, void *arg)
{
	struct world *w = arg;

	assert_false(w->answered);
	w->answered = true;
	w->wrong = wrong;
	json_decref(w->findings);
	w->findings = json_deep_copy(findings);
}

static unsigned check(struct world *w)
{
	char *text;
	struct err e;

	netris_check_free(w->check);
	w->answered = false;
	w->s.done = on_done;
	w->s.arg = w;
	w->check = netris_check_new(&w->s, &e);
	assert_non_null(w->check);
	loop_sim_run_until(w->loop, loop_now(w->loop) + 90000);
	assert_true(w->answered);
	text = json_text(w->findings);
	assert_null(strstr(text, "staple"));
	free(text);
	return w->wrong;
}

/* Asserts that there is a finding "wrong" about `of` that contains `says` and has a remedy. */
static void assert_wrong(struct world *w, const char *of, const char *says)
{
	const json_t *f;
	size_t i;

	json_array_foreach (w->findings, i, f)
		if (str_eq(json_str_at(f, "result"), "wrong") && str_eq(json_str_at(f, "of"), of) &&
		    strstr(json_str_at(f, "says"), says)) {
			assert_true(strlen(json_str_at(f, "mend")) > 10);
			return;
		}
	fail_msg("%s: nothing wrong says %s", of, says);
}

static void a_good_installation_has_nothing_wrong(void **state)
{
	static const char *const tenants[] = {"team-a", NULL};
	struct world *w = *state;

	w->s.tenants = tenants;
	assert_int_equal(check(w), 0);
	assert_int_equal(sim_netris_changes(w->fake.sim), 0);
	assert_true(json_array_size(w->findings) >= 10);
}

static void each_name_that_is_not_there_is_wrong(void **state)
{
	static const char *const machines[] = {"gpu-1", "gpu-99", NULL};
	static const char *const names[] = {"host-77", NULL};
	struct world *w = *state;
	struct fabric_netris *c = &w->fake.config;

	c->site = "hell";
	c->admin = "Nobody";
	c->template_ = "none";
	c->host_servers = names;
	c->common_vnets = names;
	w->s.machines = machines;
	w->s.quarantine = "q-9";
	check(w);
	assert_wrong(w, "site", "hell");
	assert_wrong(w, "tenant of Netris", "Nobody");
	assert_wrong(w, "template", "none");
	assert_wrong(w, "host server", "host-77");
	assert_wrong(w, "common V-net", "host-77");
	assert_wrong(w, "machine gpu-99", "gpu-99");
	assert_wrong(w, "machine gpu-1", "hall");
	assert_wrong(w, "segment quarantine", "q-9");
}

static void a_template_whose_nics_a_machine_has_not_is_wrong(void **state)
{
	struct world *w = *state;

	w->fake.config.template_ = "other-nics";
	check(w);
	assert_wrong(w, "machine gpu-1", "wants NIC eth8");
}

static void a_quarantine_from_the_tenants_template_is_wrong(void **state)
{
	struct world *w = *state;

	w->fake.config.template_ = "isolated";
	w->s.provisioning = "quarantine";
	check(w);
	assert_wrong(w, "segment quarantine", "the template for tenants");
	assert_wrong(w, "segment quarantine", "the same segment");
}

/* The check learns the networks of each segment from the V-nets that the controller lists. */
static void an_address_that_another_segment_has_is_wrong(void **state)
{
	static const char *const none[] = {NULL};
	static char texts[250][16];
	const char *theirs[250];
	struct world *w = *state;
	struct probe_check_segment v[] = {
		{.name = "quarantine", .field = "f.q", .cluster = "quarantine", .addresses = none},
		{.name = "tenant team-a", .field = "f.a", .addresses = theirs, .naddresses = 250}};

	for (int i = 0; i < 250; i++) {
		str_format(texts[i], sizeof(texts[i]), "10.20.%d.77", i);
		theirs[i] = texts[i];
	}
	w->s.probes = v;
	w->s.nprobes = 2;
	assert_int_equal(check(w), 1);
	assert_wrong(w, "probe of tenant team-a", "of quarantine");
}

static void a_switch_that_is_silent_is_wrong(void **state)
{
	struct world *w = *state;

	sim_netris_fault(w->fake.sim, "SwitchDead", NULL, "leaf-2", 0, 0);
	assert_int_equal(check(w), 1);
	assert_wrong(w, "switch leaf-2", "did not report");
}

/* Replaces the controller by one of release `version` (NULL: the release is not reported). */
static void replace(struct world *w, const char *version)
{
	sim_netris_free(w->fake.sim);
	httpd_free(w->fake.httpd);
	w->fake.sim = sim_netris_new(&(struct sim_netris_spec){.group = w->fake.group,
							       .servers = 2,
							       .user = "drover",
							       .password = FAKE_NETRIS_PASSWORD,
							       .version = version,
							       .begin_in = "quarantine"});
	w->fake.httpd = httpd_new(w->fake.group);
	sim_netris_routes(w->fake.sim, w->fake.httpd);
	http_mem_serve(w->fake.net, FAKE_NETRIS, w->fake.httpd);
}

static bool says(struct world *w, const char *result, const char *text)
{
	const json_t *f;
	size_t i;

	json_array_foreach (w->findings, i, f)
		if (str_eq(json_str_at(f, "of"), "release") &&
		    str_eq(json_str_at(f, "result"), result) &&
		    strstr(json_str_at(f, "says"), text))
			return true;
	return false;
}

static void its_release_is_told_and_one_that_is_too_old_is_wrong(void **state)
{
	struct world *w = *state;

	assert_int_equal(check(w), 0);
	assert_true(says(w, "ok", "4.14.0"));
	replace(w, "4.16.1");
	assert_int_equal(check(w), 0);
	assert_true(says(w, "note", "newer than 4.15"));
	replace(w, "4.5.2");
	assert_int_equal(check(w), 1);
	assert_wrong(w, "release", "older than 4.5.3");
	/* Without the right to read the release, a note says so and all other checks run. */
	replace(w, NULL);
	sim_netris_fault(w->fake.sim, "Status", "GET /api/users/permissions", NULL, 403, 0);
	assert_int_equal(check(w), 0);
	assert_true(says(w, "note", "cannot be read"));
}

static void a_release_that_does_not_say_who_is_shared_is_wrong(void **state)
{
	struct world *w = *state;

	replace(w, NULL);
	assert_int_equal(check(w), 0);
	sim_netris_fault(w->fake.sim, "NoShared", NULL, NULL, 0, 0);
	check(w);
	assert_wrong(w, "release", "quarantine");
}

static const char *const backends[] = {"10.20.0.11:6443", NULL};

static void on_way(const struct fabric_api_path_state *s, const struct err *e, void *arg)
{
	(void)arg;
	assert_null(e);
	assert_true(s->up);
}

/* Creates the network path to a tenant's API server, as drover does. */
static void make_way(struct world *w, const struct fabric_api_path *way)
{
	const struct fabric_spec s = {
		.type = "netris", .netris = &w->fake.config, .group = w->group};
	const struct fabric_api_path_call c = {.done = on_way};
	struct err e;
	struct fabric *f = fabric_new(&s, &e);

	assert_non_null(f);
	fabric_ensure_api_path(f, way, &c);
	loop_sim_run_until(w->loop, loop_now(w->loop) + 10000);
	fabric_free(f);
}

static void ways_to_api_servers_are_checked(void **state)
{
	static const char *const tenants[] = {"team-a", "team-b", NULL};
	struct netris_check_api_path ways[] = {{"team-a",
						{.via = FABRIC_VIA_L4LB,
						 .segment = "tenant/team-a",
						 .uid = "5d1c",
						 .backends = backends}},
					       {"team-b",
						{.via = FABRIC_VIA_VIP,
						 .segment = "tenant/team-b",
						 .uid = "77aa",
						 .address = "10.20.1.10:6443"}}};
	struct world *w = *state;

	w->s.tenants = tenants;
	w->s.paths = ways;
	w->s.npaths = 2;
	/* Missing objects are not wrong, because drover will create them. */
	assert_int_equal(check(w), 0);
	assert_int_equal(sim_netris_changes(w->fake.sim), 0);
	make_way(w, &ways[0].path);
	make_way(w, &ways[1].path);
	assert_int_equal(check(w), 0);
	sim_netris_fault(w->fake.sim, "BackendDown", NULL, NULL, 0, 0);
	ways[1].path.address = "10.20.1.150:6443";
	assert_int_equal(check(w), 2);
	assert_wrong(w, "API server of tenant team-a", "BackendUnhealthy");
	assert_wrong(w, "API server of tenant team-b", "VIPInDHCPRange");
}

static void a_site_without_addresses_for_load_balancers_is_wrong(void **state)
{
	static const char *const tenants[] = {"team-a", NULL};
	struct netris_check_api_path way = {"team-a",
					    {.via = FABRIC_VIA_L4LB,
					     .segment = "tenant/team-a",
					     .uid = "5d1c",
					     .backends = backends}};
	struct world *w = *state;

	w->s.tenants = tenants;
	w->s.paths = &way;
	w->s.npaths = 1;
	assert_int_equal(check(w), 0);
	way.path.address = "10.99.0.7:6443";
	assert_int_equal(check(w), 1);
	assert_wrong(w, "API server of tenant team-a", "10.99.0.7 is in no subnet");
	way.path.address = SIM_NETRIS_FREE "7:6443";
	assert_int_equal(check(w), 0);
	sim_netris_fault(w->fake.sim, "NoLbSubnet", NULL, NULL, 0, 0);
	assert_int_equal(check(w), 1);
	assert_wrong(w, "API server of tenant team-a", "none of 1 subnets");
	/* A missing right to read subnets is not reported as wrong. */
	sim_netris_fault(w->fake.sim, "Status", "GET /api/v2/ipam", NULL, 403, 0);
	assert_int_equal(check(w), 0);
}

static void a_login_that_is_refused_names_the_secret(void **state)
{
	struct world *w = *state;
	OWN(secret) bad = secret_from_str("wrong");

	w->fake.config.password = bad;
	assert_int_equal(check(w), 1);
	assert_wrong(w, "controller", "refused");
	assert_non_null(strstr(json_str_at(json_array_get(w->findings, 0), "mend"),
			       "credentialsSecretRef"));
	w->fake.config.url = "https://nobody.example";
	assert_int_equal(check(w), 1);
	assert_wrong(w, "controller", "");
}

#define check_test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		check_test(a_good_installation_has_nothing_wrong),
		check_test(each_name_that_is_not_there_is_wrong),
		check_test(a_template_whose_nics_a_machine_has_not_is_wrong),
		check_test(a_quarantine_from_the_tenants_template_is_wrong),
		check_test(an_address_that_another_segment_has_is_wrong),
		check_test(a_switch_that_is_silent_is_wrong),
		check_test(its_release_is_told_and_one_that_is_too_old_is_wrong),
		check_test(a_release_that_does_not_say_who_is_shared_is_wrong),
		check_test(ways_to_api_servers_are_checked),
		check_test(a_site_without_addresses_for_load_balancers_is_wrong),
		check_test(a_login_that_is_refused_names_the_secret),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
