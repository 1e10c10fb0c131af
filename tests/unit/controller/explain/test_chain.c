/* Tests the chain of an explanation and the cause that is found in it. */
#include "tests/unit/testing.h"

#include "base/arena.h"
#include "controller/explain/chain.h"
#include "controller/explain/explain.h"

#define NOW INT64_C(1790000000000)

static void *decoded(enum object_kind_id kind, json_t *o, struct arena *a)
{
	struct err e;
	void *out;

	assert_non_null(o);
	assert_ok(object_decode(&object_kinds[kind], o, a, &out, &e), &e);
	json_decref(o);
	return out;
}

static void *tenant(const char *reason, struct arena *a)
{
	return decoded(
		OBJECT_VIRTUAL_CLUSTER,
		json_pack("{s:{s:s, s:s}, s:{s:{s:s}, s:{}}, s:{s:[{s:s, s:s, s:s, s:s, s:s}]}}",
			  "metadata", "name", "team-a", "uid", "u", "spec", "kubeconfigSecretRef",
			  "name", "x", "quota", "status", "conditions", "type", "Ready", "status",
			  reason ? "False" : "True", "reason", reason ? reason : "Synced",
			  "message", "connection refused", "lastTransitionTime",
			  "2026-09-21T13:00:00Z"),
		a);
}

static struct machine *machine(const char *state, const char *reachable, struct arena *a)
{
	return decoded(
		OBJECT_MACHINE,
		json_pack("{s:{s:s, s:s}, s:{s:{s:s}}, s:{s:s, s:{s:s, s:s}, s:[{s:s, s:s, s:s, "
			  "s:s, s:s}]}}",
			  "metadata", "name", "gpu-1", "uid", "u", "spec", "providerRef", "name",
			  "rack", "status", "state", state, "power", "state", "On", "observedTime",
			  "2026-09-21T14:00:00Z", "conditions", "type", "Reachable", "status",
			  reachable, "reason", "BmcUnreachable", "message", "timeout",
			  "lastTransitionTime", "2026-09-21T13:00:00Z"),
		a);
}

static json_t *link_at(const json_t *answer, size_t i)
{
	return json_array_get(json_object_get(answer, "chain"), i);
}

static void a_serving_machine_whose_tenant_is_away_names_the_tenant(void **state)
{
	OWN(arena) a = arena_new();
	const struct machine *m = machine("serving", "True", a);
	OWN_JSON answer = explain_machine(m, NULL, NOW);

	(void)state;
	chain_add(answer, OBJECT_VIRTUAL_CLUSTER, tenant("Unreachable", a), NOW);
	chain_add_device(answer, m);
	chain_end(answer);
	assert_string_equal(json_str_at(answer, "owner"), "tenant");
	assert_string_equal(json_str_at(answer, "cause"), "tenant/team-a");
	assert_string_equal(json_str_at(link_at(answer, 0), "since"), "2026-09-21T13:00:00Z");
	assert_string_equal(json_str_at(link_at(answer, 0), "message"), "connection refused");
	assert_string_equal(json_string_value(json_array_get(json_object_get(answer, "helps"), 0)),
			    "check that drover can reach spec.server of the tenant");
	assert_string_equal(json_str_at(link_at(answer, 1), "kind"), "Device");
	assert_string_equal(json_str_at(link_at(answer, 1), "lastContact"), "2026-09-21T14:00:00Z");
	assert_null(json_object_get(link_at(answer, 0), "helps"));
}

static void its_own_problem_comes_first(void **state)
{
	OWN(arena) a = arena_new();
	const struct machine *m = machine("serving", "False", a);
	OWN_JSON answer = explain_machine(m, NULL, NOW);

	(void)state;
	chain_add(answer, OBJECT_VIRTUAL_CLUSTER, tenant("Unreachable", a), NOW);
	chain_add_device(answer, m);
	chain_end(answer);
	assert_string_equal(json_str_at(answer, "owner"), "device");
	assert_null(json_str_at(answer, "cause"));
	assert_string_equal(json_str_at(answer, "command"), "drover retry gpu-1");
	assert_string_equal(json_str_at(link_at(answer, 1), "reason"), "BmcUnreachable");
}

static void what_is_well_has_no_cause(void **state)
{
	OWN(arena) a = arena_new();
	const struct machine *m = machine("serving", "True", a);
	OWN_JSON answer = explain_machine(m, NULL, NOW);

	(void)state;
	chain_add(answer, OBJECT_VIRTUAL_CLUSTER, tenant(NULL, a), NOW);
	chain_add_device(answer, m);
	chain_end(answer);
	assert_null(json_str_at(answer, "owner"));
	assert_null(json_str_at(answer, "cause"));
	assert_null(json_str_at(answer, "command"));
}

static void a_missing_object_needs_an_operator_and_an_unread_one_nobody(void **state)
{
	OWN(arena) a = arena_new();
	OWN_JSON answer = explain_machine(machine("free", "True", a), NULL, NOW);
	struct err e;

	(void)state;
	err_note(&e, ERR_DENIED, 403, "forbidden");
	chain_add_unread(answer, OBJECT_NODE_POOL, "h100", &e);
	chain_end(answer);
	assert_null(json_str_at(answer, "owner"));
	assert_string_equal(json_str_at(link_at(answer, 0), "state"), "Unread");
	err_note(&e, ERR_NOT_FOUND, 404, "not found");
	chain_add_unread(answer, OBJECT_PROVIDER, "rack", &e);
	chain_end(answer);
	assert_string_equal(json_str_at(answer, "owner"), "operator");
	assert_string_equal(json_str_at(answer, "cause"), "provider/rack");
}

static void a_tenant_that_drover_is_still_reading_is_a_wait_for_drover(void **state)
{
	OWN(arena) a = arena_new();
	OWN_JSON answer = explain_machine(machine("serving", "True", a), NULL, NOW);

	(void)state;
	chain_add(answer, OBJECT_VIRTUAL_CLUSTER, tenant("Syncing", a), NOW);
	chain_end(answer);
	assert_string_equal(json_str_at(answer, "owner"), "drover");
}

static void a_claim_has_the_problem_and_the_command_of_its_machine(void **state)
{
	OWN(arena) a = arena_new();
	struct node_claim n = {.meta.name = "c-1", .status.phase = "Draining"};
	OWN_JSON answer = explain_claim(&n, machine("draining", "False", a), NULL, NOW);

	(void)state;
	chain_end(answer);
	assert_string_equal(json_str_at(answer, "owner"), "device");
	assert_string_equal(json_str_at(answer, "command"), "drover retry gpu-1");
}

static void a_problem_beats_a_wait_for_drover_that_comes_before_it(void **state)
{
	OWN(arena) a = arena_new();
	OWN_JSON answer = explain_machine(machine("serving", "True", a), NULL, NOW);
	struct err e;

	(void)state;
	err_note(&e, ERR_NOT_FOUND, 404, "not found");
	chain_add(answer, OBJECT_VIRTUAL_CLUSTER, tenant("Syncing", a), NOW);
	chain_add_unread(answer, OBJECT_PROVIDER, "rack", &e);
	chain_end(answer);
	assert_string_equal(json_str_at(answer, "cause"), "provider/rack");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_serving_machine_whose_tenant_is_away_names_the_tenant),
		cmocka_unit_test(its_own_problem_comes_first),
		cmocka_unit_test(what_is_well_has_no_cause),
		cmocka_unit_test(a_missing_object_needs_an_operator_and_an_unread_one_nobody),
		cmocka_unit_test(a_tenant_that_drover_is_still_reading_is_a_wait_for_drover),
		cmocka_unit_test(a_claim_has_the_problem_and_the_command_of_its_machine),
		cmocka_unit_test(a_problem_beats_a_wait_for_drover_that_comes_before_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
