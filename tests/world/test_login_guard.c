/* A Secret shared by many BMCs is tried on one BMC first. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/str.h"
#include "tests/contract/slow_bmc.h"
#include "tests/world/leaving.h"
#include "tests/world/world.h"

static unsigned wrong_passwords(const struct sim_world *w)
{
	unsigned n = 0;

	for (unsigned i = 0; i < w->nboxes; i++)
		n += w->servers[i].bmc.wrong_passwords;
	return n;
}

static unsigned saying(const struct sim_world *w, const char *reason)
{
	unsigned n = 0;

	for (unsigned i = 0; i < w->nboxes; i++)
		n += str_eq(world_at(&w->servers[i], "status.operation.lastError.reason"), reason);
	return n;
}

static void a_wrong_password_is_tried_on_one_bmc_alone(void **state)
{
	struct sim_world w;

	(void)state;
	world_start(&w, 721, 4);
	world_replica(&w);
	world_wait_all(&w, "free", 1800);
	assert_int_equal(wrong_passwords(&w), 0);
	world_secret(&w, "drover-system", "bmc", "username", "drover", "password", "wrong");
	world_run(&w, 30 * 60 * 1000);
	assert_int_equal(wrong_passwords(&w), 1);
	assert_int_equal(saying(&w, "BmcAuthFailed"), 4);
	/* The new leader knows the result of the earlier leader's attempt. */
	world_kill(&w.replicas[0]);
	world_replica(&w);
	world_run(&w, 30 * 60 * 1000);
	assert_int_equal(wrong_passwords(&w), 1);
	world_secret(&w, "drover-system", "bmc", "username", "drover", "password", WORLD_PASSWORD);
	world_run(&w, 60 * 1000);
	for (unsigned i = 1; i < 4; i++)
		assert_string_equal(world_at(&w.servers[i], "status.bmc.secretVersion"),
				    world_at(&w.servers[0], "status.bmc.secretVersion"));
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 900);
	world_stop(&w);
}

/* One BMC has a password of its own and refuses the Secret. The Secret stays usable for the BMCs
 * that accepted it, also under a new leader. */
static void one_bmc_that_refuses_stops_no_other_when_others_accepted(void **state)
{
	struct sim_world w;

	(void)state;
	world_start(&w, 722, 3);
	world_replica(&w);
	world_wait_all(&w, "free", 1800);
	w.servers[0].bmc.password = "its own";
	world_kill(&w.replicas[0]);
	world_replica(&w);
	world_run(&w, 10 * 60 * 1000);
	assert_true(wrong_passwords(&w) >= 1);
	assert_int_equal(saying(&w, "BmcAuthFailed"), 1);
	world_pod(&w, &w.tenants[0], "train");
	world_pod(&w, &w.tenants[0], "train-2");
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	world_wait_running(&w, &w.tenants[0], "train-2", 1800);
	world_stop(&w);
}

/* The first BMC that is tried does not answer. */
static void a_dead_bmc_does_not_hold_the_others_up(void **state)
{
	struct sim_world w;

	(void)state;
	world_start(&w, 723, 3);
	http_mem_hang(w.net, w.servers[0].origin, true);
	http_mem_hang(w.net, w.servers[1].origin, true);
	world_replica(&w);
	world_wait_state(&w.servers[2], "free", 900);
	world_stop(&w);
}

static bool is_logged_in(void *arg)
{
	return fake_bmc_sessions(&((struct server *)arg)->bmc) > 0;
}

/* The first BMC on which the Secret is tried does not answer. Soon a second BMC is tried in
 * parallel, so that the others do not wait for the first. */
static void a_scout_that_does_not_answer_is_joined_by_another(void **state)
{
	struct sim_world w;

	(void)state;
	world_start(&w, 728, 8);
	for (int i = 0; i < 8; i++)
		http_mem_hang(w.net, w.servers[i].origin, i != 4);
	world_replica(&w);
	world_wait(&w, is_logged_in, &w.servers[4], 45, "a login on the BMC that answers");
	world_stop(&w);
}

/* Every BMC answers slowly and refuses. The Secret is tried on further BMCs before the first
 * refusal arrives, but on three at most. */
static void slow_bmcs_that_refuse_are_three_at_most(void **state)
{
	struct slow_bmc slow[8];
	struct sim_world w;

	(void)state;
	world_start(&w, 729, 8);
	for (int i = 0; i < 8; i++) {
		slow_bmc_init(&slow[i], &w.servers[i].bmc, w.hardware, 12000);
		w.servers[i].bmc.password = "another";
	}
	world_replica(&w);
	world_run(&w, 1800 * 1000);
	assert_int_equal(saying(&w, "BmcAuthFailed"), 8);
	assert_true(wrong_passwords(&w) >= 1 && wrong_passwords(&w) <= 3);
	world_stop(&w);
}

static bool is_cut(void *arg)
{
	return str_eq(((struct server *)arg)->segment, "quarantine");
}

/* The BMC's password was changed while the machine serves: drover does all that is possible without
 * the BMC. */
static void without_its_login_a_machine_leaves_its_tenant(void **state)
{
	struct sim_world w;
	struct server *b;

	(void)state;
	b = leaving_serving(&w, 724);
	b->bmc.password = "changed by hand";
	fake_bmc_expire(&b->bmc);
	world_wait_reason(b, "BmcAuthFailed", 300);
	leaving_drain(&w, "fans", 0, "");
	leaving_wait_gone(&w, &w.tenants[0], "pods/default/train", 120);
	world_wait_state(b, "stopping", 300);
	/* The port is moved only after the attempts to switch the machine off have reached their
	 * time limit. */
	assert_string_equal(b->segment, "tenant/team-a");
	world_wait(&w, is_cut, b, 600, "the port in quarantine");
	world_run(&w, 1800 * 1000);
	assert_true(b->bmc.on && b->claim[0]); /* off is not proved */
	assert_int_equal(b->bmc.wrong_passwords, 1);
	world_secret(&w, "drover-system", "bmc", "username", "drover", "password",
		     "changed by hand");
	world_wait_state(b, "free", 12 * 3600);
	world_stop(&w);
}

/* One BMC refuses the login. Another machine is drained nevertheless, although its BMC uses the
 * same Secret. */
static void a_refused_login_holds_no_other_machines_drain_up(void **state)
{
	struct sim_world w;
	struct server *b;

	(void)state;
	world_start(&w, 725, 2);
	world_replica(&w);
	world_wait_all(&w, "free", 1800);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 900);
	b = world_box_of(&w, &w.tenants[0], "train");
	world_wait_state(b, "serving", 60);
	world_secret(&w, "drover-system", "bmc", "username", "drover", "password", "wrong");
	world_run(&w, 300 * 1000);
	assert_int_equal(saying(&w, "BmcAuthFailed"), 2);
	leaving_drain_of(&w, "fans", b->name, 0, "");
	leaving_wait_gone(&w, &w.tenants[0], "pods/default/train", 120);
	world_wait(&w, is_cut, b, 600, "the port in quarantine");
	assert_int_equal(wrong_passwords(&w), 1);
	world_stop(&w);
}

static void a_machine_retires_without_its_login(void **state)
{
	struct sim_world w;

	(void)state;
	world_start(&w, 726, 2);
	world_replica(&w);
	world_wait_all(&w, "free", 1800);
	world_secret(&w, "drover-system", "bmc", "username", "drover", "password", "wrong");
	world_run(&w, 300 * 1000);
	for (int i = 1; i <= 2; i++) {
		char path[80];

		str_format(path, sizeof(path), "/apis/drover.dev/v1alpha1/machines/gpu-%d", i);
		world_do(&w, &w.host, "DELETE", path, NULL);
	}
	leaving_wait_gone(&w, &w.host, "machines.drover.dev/gpu-1", 120);
	leaving_wait_gone(&w, &w.host, "machines.drover.dev/gpu-2", 120);
	assert_int_equal(wrong_passwords(&w), 1);
	world_stop(&w);
}

static bool has_no_session(void *arg)
{
	struct server *b = arg;

	return fake_bmc_sessions(&b->bmc) == 0 && str_eq(world_at(b, "status.bmc.sessionURI"), "");
}

/* The sessions of a BMC are few, so a retired machine must end its own. */
static void a_retired_machine_keeps_no_session(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	unsigned logins;

	(void)state;
	world_start(&w, 727, 2);
	world_replica(&w);
	world_wait_all(&w, "free", 1800);
	assert_int_equal(fake_bmc_sessions(&b->bmc), 1);
	world_patch_machine(b, json_pack("{s:s}", "managementPolicy", "Retire"));
	world_wait_state(b, "retired", 300);
	world_wait(&w, has_no_session, b, 60, "no session");
	logins = b->bmc.logins;
	world_run(&w, 1800 * 1000);
	assert_int_equal(b->bmc.logins, logins);
	world_patch_machine(b, json_pack("{s:s}", "managementPolicy", "Manage"));
	world_wait_state(b, "free", 1800);
	/* A deleted machine's session ends before the object is deleted; a BMC that does not answer
	 * does not delay the deletion. */
	http_mem_hang(w.net, w.servers[1].origin, true);
	for (int i = 1; i <= 2; i++) {
		char path[80];

		str_format(path, sizeof(path), "/apis/drover.dev/v1alpha1/machines/gpu-%d", i);
		world_do(&w, &w.host, "DELETE", path, NULL);
	}
	leaving_wait_gone(&w, &w.host, "machines.drover.dev/gpu-1", 120);
	leaving_wait_gone(&w, &w.host, "machines.drover.dev/gpu-2", 120);
	assert_int_equal(fake_bmc_sessions(&b->bmc), 0);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wrong_password_is_tried_on_one_bmc_alone),
		cmocka_unit_test(one_bmc_that_refuses_stops_no_other_when_others_accepted),
		cmocka_unit_test(a_dead_bmc_does_not_hold_the_others_up),
		cmocka_unit_test(a_scout_that_does_not_answer_is_joined_by_another),
		cmocka_unit_test(slow_bmcs_that_refuse_are_three_at_most),
		cmocka_unit_test(without_its_login_a_machine_leaves_its_tenant),
		cmocka_unit_test(a_refused_login_holds_no_other_machines_drain_up),
		cmocka_unit_test(a_machine_retires_without_its_login),
		cmocka_unit_test(a_retired_machine_keeps_no_session),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
