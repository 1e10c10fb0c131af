/* A free machine that cannot be booted is not claimed, and reports why. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/str.h"
#include "tests/world/leaving.h"
#include "tests/world/world.h"

static const json_t *ready(const struct server *b)
{
	json_t *x;
	size_t i;

	json_array_foreach (json_at(b->object, "status", "conditions"), i, x)
		if (str_eq(json_str_at(x, "type"), "Ready"))
			return x;
	return NULL;
}

static bool names(const json_t *o, void *arg)
{
	const char **text = arg;

	if (strstr(str_or(json_str_at(o, "message"), ""), *text)) {
		*text = NULL;
		return false;
	}
	return true;
}

/* True if an event in the tenant's cluster contains text. */
static bool told(const struct cluster *p, const char *text)
{
	cluster_each(p, "events/", names, &text);
	return !text;
}

static void stays_free(struct sim_world *w, struct server *b, const char *reason)
{
	world_wait_reason(b, reason, 900);
	world_pod(w, &w->tenants[0], "train");
	world_run(w, 20 * 60 * 1000);
	assert_string_equal(b->state, "free");
	assert_string_equal(b->claim, "");
	assert_int_equal(json_array_size(json_at(b->object, "status", "failures")), 0);
	assert_string_equal(json_str_at(ready(b), "status"), "False");
	assert_string_equal(json_str_at(ready(b), "reason"), reason);
	assert_true(told(&w->tenants[0], reason));
}

static void works_again(struct sim_world *w, struct server *b)
{
	world_wait_running(w, &w->tenants[0], "train", 1800);
	assert_string_equal(json_str_at(ready(b), "reason"), "Serving");
}

static void one_whose_bmc_refuses_the_login_is_not_taken(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 970, 1);
	world_replica(&w);
	world_wait_state(b, "free", 1800);
	b->bmc.password = "changed by hand";
	world_secret(&w, "drover-system", "bmc", "username", "drover", "password", "also wrong");
	stays_free(&w, b, "BmcAuthFailed");
	world_secret(&w, "drover-system", "bmc", "username", "drover", "password",
		     "changed by hand");
	works_again(&w, b);
	world_stop(&w);
}

static void one_whose_bmc_does_not_answer_is_not_taken(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 971, 1);
	world_replica(&w);
	world_wait_state(b, "free", 1800);
	http_mem_hang(w.net, b->origin, true);
	stays_free(&w, b, "BmcUnreachable");
	http_mem_hang(w.net, b->origin, false);
	works_again(&w, b);
	world_stop(&w);
}

static void one_whose_bmc_is_not_trusted_is_not_taken(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	char was[128];

	(void)state;
	world_start(&w, 972, 1);
	world_replica(&w);
	world_wait_state(b, "free", 1800);
	str_copy(was, sizeof(was), world_at(b, "spec.bmc.address"));
	world_patch_machine(b, json_pack("{s:{s:s}}", "bmc", "address", "https://10.6.6.6/x"));
	stays_free(&w, b, "BmcNotTrusted");
	world_patch_machine(b, json_pack("{s:{s:s}}", "bmc", "address", was));
	works_again(&w, b);
	world_stop(&w);
}

/* The pod gets another machine at once. */
static void another_one_is_taken_instead(void **state)
{
	struct sim_world w;

	(void)state;
	world_start(&w, 973, 2);
	world_replica(&w);
	world_wait_all(&w, "free", 1800);
	http_mem_hang(w.net, w.servers[0].origin, true);
	world_wait_reason(&w.servers[0], "BmcUnreachable", 900);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 900);
	assert_ptr_equal(world_box_of(&w, &w.tenants[0], "train"), &w.servers[1]);
	assert_string_equal(w.servers[0].state, "free");
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_whose_bmc_refuses_the_login_is_not_taken),
		cmocka_unit_test(one_whose_bmc_does_not_answer_is_not_taken),
		cmocka_unit_test(one_whose_bmc_is_not_trusted_is_not_taken),
		cmocka_unit_test(another_one_is_taken_instead),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
