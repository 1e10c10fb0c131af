#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "tests/contract/fake_netris.h"

/* Tests how drover manages the network path to a tenant's API server at a Netris controller that
 * misbehaves. */
#define POST_LB "POST /api/v2/l4lb"
#define PUT_LB "PUT /api/v2/l4lb"
#define DELETE_LB "DELETE /api/v2/l4lb"
#define GET_LB "GET /api/v2/l4lb"

static const char *const two[] = {"10.20.0.11:6443", "10.20.0.12:6443", NULL};
static const char *const one[] = {"10.20.0.11:6443", NULL};

struct world {
	struct loop *loop;
	struct loop_group *group;
	struct fake_netris fake;
	struct fabric *fabric;
	struct fabric_api_path way;
	bool allowed;
	unsigned count;
	struct err err;
	bool up;
	char reason[64], why[256], address[64];
};

static void start(struct world *w, bool loose)
{
	struct fabric_spec s = {.type = "netris"};
	struct err e;

	mem_init();
	w->loop = loop_sim_new(17, 1764000000000);
	w->group = loop_group_new(w->loop, "controller");
	w->allowed = true;
	fake_netris_init(&w->fake, w->loop, w->group, 2, 20, loose);
	s.netris = &w->fake.config;
	s.group = w->group;
	w->fabric = fabric_new(&s, &e);
	assert_non_null(w->fabric);
	assert_true(fabric_has_api_paths(w->fabric));
	w->way = (struct fabric_api_path){
		.via = FABRIC_VIA_L4LB, .segment = "tenant/team-a", .uid = "5d1c", .backends = two};
}

static int setup(void **state)
{
	*state = mem_new(struct world);
	start(*state, false);
	return 0;
}

static int setup_loose(void **state)
{
	*state = mem_new(struct world);
	start(*state, true);
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	fabric_free(w->fabric);
	fake_netris_done(&w->fake);
	loop_group_free(w->group);
	loop_free(w->loop);
	free(w);
	return 0;
}

static bool may(void *arg)
{
	return ((struct world *)arg)->allowed;
}

static void on_done(const struct fabric_api_path_state *s, const struct err *e, void *arg)
{
	struct world *w = arg;

	w->count++;
	if (e)
		w->err = *e;
	if (!s)
		return;
	w->up = s->up;
	str_copy(w->reason, sizeof(w->reason), s->reason);
	str_copy(w->why, sizeof(w->why), str_or(s->why, ""));
	str_copy(w->address, sizeof(w->address), str_or(s->address, ""));
}

static enum err_kind ask(struct world *w, bool remove)
{
	const struct fabric_api_path_call c = {.done = on_done, .may_act = may, .arg = w};

	w->count = 0;
	w->up = false;
	err_clear(&w->err);
	w->reason[0] = w->why[0] = w->address[0] = '\0';
	(remove ? fabric_remove_api_path : fabric_ensure_api_path)(w->fabric, &w->way, &c);
	assert_int_equal(w->count, 0);
	loop_sim_run_until(w->loop, loop_now(w->loop) + 61000);
	assert_int_equal(w->count, 1);
	return w->err.kind;
}

static void assert_up(struct world *w, const char *reason)
{
	assert_int_equal(ask(w, false), ERR_NONE);
	assert_string_equal(w->reason, reason);
	assert_true(w->up);
}

static void assert_down(struct world *w, const char *reason, const char *why)
{
	assert_int_equal(ask(w, false), ERR_NONE);
	assert_string_equal(w->reason, reason);
	assert_false(w->up);
	assert_non_null(strstr(w->why, why));
}

static void a_load_balancer_is_made_once_and_removed(void **state)
{
	struct world *w = *state;
	unsigned changes;

	assert_up(w, "Healthy");
	assert_string_equal(w->address, SIM_NETRIS_FREE "1:6443");
	assert_true(sim_netris_has(w->fake.sim, "drover-team-a"));
	changes = sim_netris_changes(w->fake.sim);
	for (int i = 0; i < 8; i++)
		assert_up(w, "Healthy");
	assert_int_equal(sim_netris_changes(w->fake.sim), changes);
	assert_int_equal(sim_netris_balancers(w->fake.sim), 1);
	assert_int_equal(ask(w, true), ERR_NONE);
	assert_int_equal(sim_netris_balancers(w->fake.sim), 0);
	assert_int_equal(ask(w, true), ERR_NONE);
}

static void a_release_that_is_too_old_gets_none(void **state)
{
	struct world *w = *state;

	sim_netris_free(w->fake.sim);
	httpd_free(w->fake.httpd);
	w->fake.sim = sim_netris_new(&(struct sim_netris_spec){.group = w->fake.group,
							       .servers = 2,
							       .user = "drover",
							       .password = FAKE_NETRIS_PASSWORD,
							       .version = "4.5.2",
							       .begin_in = "quarantine"});
	w->fake.httpd = httpd_new(w->fake.group);
	sim_netris_routes(w->fake.sim, w->fake.httpd);
	http_mem_serve(w->fake.net, FAKE_NETRIS, w->fake.httpd);
	assert_int_equal(ask(w, false), ERR_UNSUPPORTED);
	assert_non_null(strstr(w->err.text, "older than 4.5.3"));
	assert_int_equal(sim_netris_changes(w->fake.sim), 0);
}

static void the_address_that_is_wanted_is_taken(void **state)
{
	struct world *w = *state;

	w->way.address = "10.20.0.50:7443";
	assert_up(w, "Healthy");
	assert_string_equal(w->address, "10.20.0.50:7443");
}

static void one_whose_answer_was_lost_is_found_again(void **state)
{
	struct world *w = *state;

	sim_netris_fault(w->fake.sim, "LostReply", POST_LB, NULL, 0, 1);
	assert_up(w, "Healthy");
	assert_int_equal(sim_netris_balancers(w->fake.sim), 1);
}

static void one_whose_answer_never_comes_is_found_again(void **state)
{
	struct world *w = *state;

	sim_netris_fault(w->fake.sim, "Silent", POST_LB, NULL, 0, 1);
	assert_up(w, "Healthy");
	assert_int_equal(sim_netris_balancers(w->fake.sim), 1);
}

static void a_success_that_is_none_is_asked_for_again_later(void **state)
{
	struct world *w = *state;

	sim_netris_fault(w->fake.sim, "Ignored", POST_LB, NULL, 0, 1);
	assert_down(w, "Making", "not listed yet");
	assert_up(w, "Healthy");
	assert_int_equal(sim_netris_balancers(w->fake.sim), 1);
}

/* One list omits the load balancer, so drover creates a second one. After the next list, drover
 * removes the second one. */
static void a_second_one_is_removed(void **state)
{
	struct world *w = *state;

	assert_up(w, "Healthy");
	sim_netris_fault(w->fake.sim, "Forget", GET_LB, NULL, 0, 1);
	assert_up(w, "Healthy");
	assert_string_equal(w->address, SIM_NETRIS_FREE "1:6443");
	assert_int_equal(sim_netris_balancers(w->fake.sim), 1);
}

static void another_tenant_s_and_an_operator_s_are_let_alone(void **state)
{
	struct world *w = *state;

	assert_up(w, "Healthy");
	/* A different VirtualCluster in the same segment has its own load balancer. */
	w->way.uid = "77aa";
	assert_up(w, "Healthy");
	assert_int_equal(sim_netris_balancers(w->fake.sim), 2);
	assert_int_equal(ask(w, true), ERR_NONE);
	assert_int_equal(sim_netris_balancers(w->fake.sim), 1);
	w->way.uid = "5d1c";
	assert_up(w, "Healthy");
	assert_string_equal(w->address, SIM_NETRIS_FREE "1:6443");
}

static void backends_follow(void **state)
{
	struct world *w = *state;

	w->way.backends = one;
	assert_up(w, "Healthy");
	w->way.backends = two;
	assert_up(w, "Healthy");
	assert_non_null(strstr(w->why, "all 2"));
	assert_string_equal(w->address, SIM_NETRIS_FREE "1:6443");
	w->way.backends = one;
	sim_netris_fault(w->fake.sim, "Ignored", PUT_LB, NULL, 0, 1);
	assert_down(w, "NotAsWanted", "and 2 backends");
	assert_up(w, "Healthy");
}

static void health_is_told_by_backend(void **state)
{
	struct world *w = *state;

	assert_up(w, "Healthy");
	sim_netris_fault(w->fake.sim, "BackendDown", NULL, "10.20.0.12", 0, 0);
	assert_up(w, "Degraded");
	assert_non_null(strstr(w->why, "10.20.0.12:6443 is \"down\": connection refused"));
	sim_netris_fault(w->fake.sim, "BackendDown", NULL, NULL, 0, 0);
	assert_down(w, "BackendUnhealthy", "10.20.0.11:6443");
	sim_netris_well(w->fake.sim);
	sim_netris_fault(w->fake.sim, "NoHealth", NULL, NULL, 0, 0);
	assert_down(w, "BackendUnhealthy", "reports no health");
	sim_netris_well(w->fake.sim);
	sim_netris_fault(w->fake.sim, "NoLbVPC", NULL, NULL, 0, 0);
	assert_down(w, "VPCNotSaid", "");
	sim_netris_well(w->fake.sim);
	assert_up(w, "Healthy");
}

static void what_is_refused_is_told_and_nothing_is_left_half(void **state)
{
	struct world *w = *state;

	sim_netris_fault(w->fake.sim, "Status", POST_LB, NULL, 403, 1);
	assert_int_equal(ask(w, false), ERR_DENIED);
	assert_int_equal(sim_netris_balancers(w->fake.sim), 0);
	w->fake.config.site = "hall";
	assert_up(w, "Healthy");
	sim_netris_fault(w->fake.sim, "Status", DELETE_LB, NULL, 503, 0);
	assert_int_equal(ask(w, true), ERR_UNAVAILABLE);
	assert_int_equal(sim_netris_balancers(w->fake.sim), 1);
	sim_netris_well(w->fake.sim);
	sim_netris_fault(w->fake.sim, "LostReply", DELETE_LB, NULL, 0, 1);
	assert_int_equal(ask(w, true), ERR_NONE);
	assert_int_equal(sim_netris_balancers(w->fake.sim), 0);
}

static void nothing_is_made_by_who_may_not_act(void **state)
{
	struct world *w = *state;

	w->allowed = false;
	assert_int_not_equal(ask(w, false), ERR_NONE);
	assert_int_equal(sim_netris_changes(w->fake.sim), 0);
	assert_int_equal(sim_netris_balancers(w->fake.sim), 0);
}

static void what_a_vip_needs_is_looked_at(void **state)
{
	struct world *w = *state;

	w->way = (struct fabric_api_path){.via = FABRIC_VIA_VIP,
					  .segment = "tenant/team-a",
					  .uid = "5d1c",
					  .address = "10.20.0.10:6443"};
	assert_up(w, "VIP");
	assert_string_equal(w->address, "10.20.0.10:6443");
	assert_int_equal(sim_netris_balancers(w->fake.sim), 0);
	w->way.address = "10.20.0.150:6443";
	assert_down(w, "VIPInDHCPRange", "10.20.0.150");
	w->way.address = "10.99.0.1:6443";
	assert_down(w, "VIPOutside", "10.99.0.1");
	sim_netris_fault(w->fake.sim, "NoGateways", NULL, NULL, 0, 0);
	assert_up(w, "VIPUnchecked");
}

static void on_dropped(const struct fabric_place *p, const struct err *e, void *arg)
{
	(void)p;
	on_done(NULL, e, arg);
}

static enum err_kind drop(struct world *w)
{
	const struct fabric_call c = {.done = on_dropped, .may_act = may, .arg = w};

	w->count = 0;
	err_clear(&w->err);
	fabric_drop(w->fabric, w->way.segment, &c);
	loop_sim_run_until(w->loop, loop_now(w->loop) + 61000);
	assert_int_equal(w->count, 1);
	return w->err.kind;
}

/* The load balancer of a tenant must be deleted before its VPC. */
static void a_segment_goes_after_its_load_balancer(void **state)
{
	struct world *w = *state;

	assert_up(w, "Healthy");
	assert_int_equal(drop(w), ERR_INVALID);
	assert_int_equal(ask(w, true), ERR_NONE);
	assert_int_equal(drop(w), ERR_NONE);
	assert_false(sim_netris_has(w->fake.sim, "drover-team-a"));
}

#define TENANTS 40

static void many_tenants_cost_as_many_lists_as_one(void **state)
{
	struct world *w = *state;
	const struct fabric_api_path_call c = {.done = on_done, .may_act = may, .arg = w};
	char segments[TENANTS][32];

	for (int round = 0; round < 2; round++) {
		w->count = w->fake.balancer_lists = 0;
		for (int i = 0; i < TENANTS; i++) {
			str_format(segments[i], sizeof(segments[i]), "tenant/t-%d", i);
			w->way.segment = segments[i];
			fabric_ensure_api_path(w->fabric, &w->way, &c);
		}
		loop_sim_run_until(w->loop, loop_now(w->loop) + 61000);
		assert_int_equal(w->count, TENANTS);
		assert_int_equal(w->err.kind, ERR_NONE);
		assert_true(w->up);
		assert_int_equal(sim_netris_balancers(w->fake.sim), TENANTS);
		/* The first round reads few lists for all tenants together: to see that no load
		 * balancer exists, to see that the VPCs exist, and to see what was created. Later
		 * rounds read one list. */
		assert_true(w->fake.balancer_lists <= (round ? 1 : 10));
	}
}

static void frees_it(const struct fabric_api_path_state *s, const struct err *e, void *arg)
{
	struct world *w = arg;

	on_done(s, e, arg);
	fabric_free(w->fabric);
	w->fabric = NULL;
}

static void whoever_hears_may_free_the_fabric(void **state)
{
	struct world *w = *state;
	const struct fabric_api_path_call c = {.done = frees_it, .may_act = may, .arg = w},
					  other = {.done = on_done, .may_act = may, .arg = w};

	assert_up(w, "Healthy");
	w->count = 0;
	fabric_ensure_api_path(w->fabric, &w->way, &c);
	fabric_ensure_api_path(w->fabric, &w->way, &other);
	loop_sim_run_until(w->loop, loop_now(w->loop) + 61000);
	assert_int_equal(w->count, 1);
}

static void calls_in_flight_end_with_the_fabric(void **state)
{
	struct world *w = *state;
	const struct fabric_api_path_call c = {.done = on_done, .arg = w};

	w->count = 0;
	fabric_ensure_api_path(w->fabric, &w->way, &c);
	loop_sim_run_until(w->loop, loop_now(w->loop) + 30);
	fabric_free(w->fabric);
	w->fabric = fabric_new(&(struct fabric_spec){.type = "netris",
						     .netris = &w->fake.config,
						     .group = w->group},
			       &w->err);
	loop_sim_run_until(w->loop, loop_now(w->loop) + 61000);
	assert_int_equal(w->count, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define LOOSE(name) cmocka_unit_test_setup_teardown(name, setup_loose, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_load_balancer_is_made_once_and_removed),
		LOOSE(a_load_balancer_is_made_once_and_removed),
		TEST(a_release_that_is_too_old_gets_none),
		TEST(the_address_that_is_wanted_is_taken),
		TEST(one_whose_answer_was_lost_is_found_again),
		TEST(one_whose_answer_never_comes_is_found_again),
		TEST(a_success_that_is_none_is_asked_for_again_later),
		TEST(a_second_one_is_removed),
		TEST(another_tenant_s_and_an_operator_s_are_let_alone),
		TEST(backends_follow),
		TEST(health_is_told_by_backend),
		LOOSE(health_is_told_by_backend),
		TEST(what_is_refused_is_told_and_nothing_is_left_half),
		TEST(nothing_is_made_by_who_may_not_act),
		TEST(what_a_vip_needs_is_looked_at),
		LOOSE(what_a_vip_needs_is_looked_at),
		TEST(a_segment_goes_after_its_load_balancer),
		TEST(many_tenants_cost_as_many_lists_as_one),
		TEST(whoever_hears_may_free_the_fabric),
		TEST(calls_in_flight_end_with_the_fabric),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
