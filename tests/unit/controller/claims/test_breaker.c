#include "tests/unit/controller/bench.h"

#include "api/annotations.h"
#include "base/str.h"
#include "controller/claims/breaker.h"
#include "controller/steps/requests.h"

#define IMAGE "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define MIN 60000

static int setup(void **state)
{
	struct bench *d;

	bench_setup(state);
	d = *state;
	bench_fleet(d);
	bench_patch(d, OBJECT_PROVIDER, "hall-a",
		    "{'spec': {'limits': {'perDomain': {"
		    "'key': 'example.com/rack', 'concurrent': 1}}}}");
	for (int i = 2; i < 9; i++)
		bench_put(d, arena_printf(d->a,
					  "{'kind': 'Machine', 'metadata': {'name': 'm-%d', "
					  "'labels': {'example.com/rack': 'r%d'}},"
					  " 'spec': {'providerRef': {'name': 'hall-a'}, "
					  "'instanceType': 'hgx'}, 'status': {'state': 'free'}}",
					  i, i % 2));
	return 0;
}

static int64_t now(const struct bench *d)
{
	return loop_wall(d->l);
}

static const char *at(struct bench *d, int64_t ms)
{
	char t[STR_TIME_SIZE];

	return arena_strdup(d->a, str_time(t, ms));
}

/* Returns the JSON text of one failure of m-n, `ago` minutes ago, of a claim that no other failure
 * names. */
static const char *failure(struct bench *d, int n, const char *reason, int ago, const char *pool)
{
	return arena_printf(d->a,
			    "{'time': '%s', 'step': 'booting', 'reason': '%s', "
			    "'message': 'x', 'claim': 'c-%d-%d',"
			    " 'pool': '%s', 'image': '%s'}",
			    at(d, now(d) - ago * MIN), reason, n, ago, pool,
			    str_eq(pool, "h100") ? IMAGE : "sha256:of another");
}

static void fails(struct bench *d, int n, const char *reason, int ago, const char *pool)
{
	bench_status(d, OBJECT_MACHINE, arena_printf(d->a, "m-%d", n),
		     arena_printf(d->a, "{'failures': [%s]}", failure(d, n, reason, ago, pool)));
}

static const struct breaker_scope here = {
	.pool = "h100", .image = IMAGE, .provider = "hall-a", .rack = "r0"};

static struct breaker_cause stop;
static bool open_at(struct bench *d, const struct breaker_scope *p)
{
	return breaker_admits(breaker_read(&d->c, d->a), p, &stop);
}

static void the_third_machine_stops_the_line_and_not_the_third_failure(void **state)
{
	struct bench *d = *state;

	bench_status(d, OBJECT_MACHINE, "m-2",
		     arena_printf(d->a, "{'failures': [%s, %s, %s]}",
				  failure(d, 2, "JoinTimeout", 8, "h100"),
				  failure(d, 2, "JoinTimeout", 5, "h100"),
				  failure(d, 2, "JoinTimeout", 4, "h100")));
	fails(d, 3, "JoinTimeout", 3, "h100");
	assert_true(open_at(d, &here));
	assert_null(stop.scope);
	/* A failure with a different reason does not count. */
	fails(d, 4, "AgentSilent", 2, "h100");
	assert_true(open_at(d, &here));
	fails(d, 5, "JoinTimeout", 1, "h100");
	assert_false(open_at(d, &here));
	assert_string_equal(stop.scope, "image");
	assert_string_equal(stop.name, IMAGE);
	assert_string_equal(stop.reason, "JoinTimeout");
	assert_int_equal(stop.machines, 3);
	assert_true(stop.next > now(d) + 8 * MIN && stop.next <= now(d) + 9 * MIN);
}

static const char *failure_of(struct bench *d, int n, int ago, const char *tenant, const char *step)
{
	return arena_printf(d->a,
			    "{'time': '%s', 'step': '%s', 'reason': 'JoinTimeout', "
			    "'message': 'x', 'claim': 'c-%d-%d',"
			    " 'pool': 'h100', 'image': '" IMAGE "', 'tenant': '%s'}",
			    at(d, now(d) - ago * MIN), step, n, ago, tenant);
}

static void fails_for(struct bench *d, int n, int ago, const char *tenant, const char *step)
{
	bench_status(d, OBJECT_MACHINE, arena_printf(d->a, "m-%d", n),
		     arena_printf(d->a, "{'failures': [%s]}", failure_of(d, n, ago, tenant, step)));
}

static void claim(struct bench *d, const char *name, const char *status)
{
	bench_put(
		d,
		arena_printf(
			d->a,
			"{'kind': 'NodeClaim', 'metadata': {'name': '%s'}, 'spec': {"
			" 'virtualClusterRef': {'name': 'team-a'}, 'nodePoolRef': {'name': 'h100'},"
			" 'machineRef': {'name': 'm-8'}, 'image': {'kubernetesVersion': '1.36',"
			" 'url': 'https://img.example/n136.raw', 'format': 'raw', 'digest': '" IMAGE
			"'}}, 'status': %s}",
			name, status));
}

/* A tenant's API server may refuse Nodes for as long as it likes: the circuit breaker (breaker)
 * still lets claims of other tenants pass. */
static void one_tenant_stops_no_line_of_others(void **state)
{
	struct bench *d = *state;

	for (int n = 2; n < 5; n++)
		fails_for(d, n, n, "team-a", "joining");
	assert_false(open_at(
		d, &here)); /* No other tenant has claims here, so the image may be the cause. */
	fails_for(d, 5, 300, "team-b", "joining");
	assert_true(open_at(d, &here));
	/* A tenant cannot cause a failure of imaging, so this failure counts for all tenants. */
	fails_for(d, 4, 4, "team-a", "imaging");
	assert_false(open_at(d, &here));
	/* Another tenant fails as well, so the image is the cause for all. */
	fails_for(d, 4, 4, "team-b", "joining");
	assert_false(open_at(d, &here));
}

/* No other tenant has had claims here, so the image may be the cause, and all tenants wait. A
 * failed trial doubles the wait only for the tenant whose trial failed. */
static void a_newcomer_does_not_wait_for_what_another_tenants_claims_come_to(void **state)
{
	struct bench *d = *state;
	struct breaker_scope a = here, b = here;

	a.tenant = "team-a";
	b.tenant = "team-b";
	for (int n = 2; n < 5; n++)
		fails_for(d, n, n, "team-a", "joining");
	assert_false(open_at(d, &b));
	assert_true(stop.next > now(d) + 7 * MIN && stop.next <= now(d) + 8 * MIN);
	for (int n = 2; n < 5; n++)
		fails_for(d, n, 60 + n, "team-a", "joining");
	fails_for(d, 5, 5, "team-a", "joining"); /* A failed trial */
	assert_false(open_at(d, &a));
	assert_true(stop.next > now(d) + 14 * MIN && stop.next <= now(d) + 15 * MIN);
	assert_true(open_at(d, &b));
	/* One claim of team-b may pass, as a trial of the image. */
	assert_string_equal(stop.scope, "image");
	assert_int_equal(stop.next, 0);
	/* A trial is in progress; only one trial at a time is allowed, whichever tenant it belongs
	 * to. */
	claim(d, "the-one", "{'phase': 'Pending'}");
	assert_false(open_at(d, &b));
	bench_status(d, OBJECT_NODE_CLAIM, "the-one", "{'phase': 'Failed'}");
	assert_true(open_at(d, &b));
	/* The trial of team-b fails for the same reason: the image is the cause, and all tenants
	 * wait. */
	fails_for(d, 6, 1, "team-b", "joining");
	assert_false(open_at(d, &a));
	assert_false(open_at(d, &b));
	assert_true(stop.next > now(d) + 18 * MIN && stop.next <= now(d) + 19 * MIN);
	bench_status(d, OBJECT_MACHINE, "m-6", "{'failures': []}");
	/* Failures that no tenant can cause (imaging) pause all tenants. */
	for (int n = 2; n < 6; n++)
		fails_for(d, n, n == 5 ? 5 : 60 + n, "team-a", "imaging");
	assert_false(open_at(d, &b));
}

static void one_tenant_wears_no_machine_of_others(void **state)
{
	struct bench *d = *state;
	const char *three = arena_printf(d->a, "{'failures': [%s, %s, %s]}",
					 failure_of(d, 2, 300, "team-a", "joining"),
					 failure_of(d, 2, 200, "team-a", "gating"),
					 failure_of(d, 2, 100, "team-a", "booting"));

	bench_status(d, OBJECT_MACHINE, "m-2", three);
	assert_true(breaker_machine_worn(&d->c, CTX_GET(&d->c, OBJECT_MACHINE, machine, "m-2")));
	fails_for(d, 5, 400, "team-b", "joining");
	assert_false(breaker_machine_worn(&d->c, CTX_GET(&d->c, OBJECT_MACHINE, machine, "m-2")));
}

static void failures_further_apart_than_half_an_hour_stop_nothing(void **state)
{
	struct bench *d = *state;

	fails(d, 2, "JoinTimeout", 36, "h100");
	fails(d, 3, "JoinTimeout", 20, "h100");
	fails(d, 4, "JoinTimeout", 5, "h100");
	assert_true(open_at(d, &here));
	fails(d, 2, "JoinTimeout", 34, "h100");
	assert_false(open_at(d, &here));
}

/* Each failed trial doubles the wait up to 2 h, whatever its reason. */
static void the_wait_doubles(void **state)
{
	struct bench *d = *state;

	fails(d, 2, "JoinTimeout", 302, "h100");
	fails(d, 3, "JoinTimeout", 301, "h100");
	bench_status(d, OBJECT_MACHINE, "m-4",
		     arena_printf(d->a, "{'failures': [%s, %s]}",
				  failure(d, 4, "JoinTimeout", 300, "h100"),
				  /* This claim was in progress when the pause began: its failure is
				   * no failed trial and does not double the wait. */
				  failure(d, 4, "AgentSilent", 295, "h100")));
	assert_true(open_at(d, &here));
	assert_string_equal(stop.scope, "image");
	assert_int_equal(stop.next, 0);
	fails(d, 5, "AgentSilent", 15, "h100");
	assert_false(open_at(d, &here));
	/* The wait is 20 min from the last failure, 15 minutes ago. */
	assert_int_equal((stop.next - now(d) + MIN / 2) / MIN, 5);
	fails(d, 5, "AgentSilent", 270, "h100");
	fails(d, 6, "AgentSilent", 240, "h100");
	fails(d, 7, "AgentSilent", 190, "h100");
	fails(d, 8, "AgentSilent", 100, "h100");
	assert_false(open_at(d, &here));
	/* The wait is 120 min, its maximum, from the last failure. */
	assert_int_equal((stop.next - now(d) + MIN / 2) / MIN, 20);
}

static void one_wrong_image_stops_the_image_alone(void **state)
{
	struct bench *d = *state;
	struct breaker_scope other = here;

	fails(d, 2, "ImageMismatch", 1, "h100");
	assert_false(open_at(d, &here));
	assert_int_equal(stop.machines, 1);
	other.image = "sha256:of another";
	assert_true(open_at(d, &other));
}

static void a_provider_or_rack_is_blamed_when_more_than_one_pool_fails_there(void **state)
{
	struct bench *d = *state;
	const struct breaker_scope elsewhere = {.pool = "spare",
						.image = "sha256:third",
						.provider = "hall-a",
						.rack = "r0"},
				   next_rack = {.pool = "spare",
						.image = "sha256:third",
						.provider = "hall-a",
						.rack = "r1"};
	const struct provider_object *hall;

	fails(d, 2, "BmcUnreachable", 3, "h100");
	fails(d, 4, "BmcUnreachable", 2, "h100");
	fails(d, 6, "BmcUnreachable", 1, "h100");
	assert_false(open_at(d, &here));
	assert_true(open_at(d, &elsewhere));
	fails(d, 6, "BmcUnreachable", 1, "old");
	assert_false(open_at(d, &elsewhere));
	assert_string_equal(stop.scope, "rack");
	assert_string_equal(stop.name, "r0");
	/* The next rack is paused too, because the three machines belong to its Provider. */
	assert_false(open_at(d, &next_rack));
	assert_string_equal(stop.scope, "provider");
	hall = CTX_GET(&d->c, OBJECT_PROVIDER, provider_object, "hall-a");
	assert_true(breaker_stops_provider(breaker_read(&d->c, d->a), hall, &stop));
	assert_string_equal(stop.scope, "provider");
	fails(d, 6, "AgentSilent", 1, "old");
	assert_false(breaker_stops_provider(breaker_read(&d->c, d->a), hall, &stop));
	fails(d, 7, "BmcUnreachable", 1, "old");
	assert_true(open_at(d, &(struct breaker_scope){.pool = "spare",
						       .image = "sha256:third",
						       .provider = "elsewhere",
						       .rack = "r1"}));
}

static void what_is_a_tenants_or_a_wipes_stops_nothing(void **state)
{
	struct bench *d = *state;

	for (int i = 2; i < 8; i++)
		fails(d, i, "TenantGone", i, "h100");
	assert_true(open_at(d, &here));
	for (int i = 2; i < 8; i++)
		bench_status(d, OBJECT_MACHINE, arena_printf(d->a, "m-%d", i),
			     arena_printf(d->a,
					  "{'failures': [{'time': '%s', 'step': 'wiping', "
					  "'reason': 'AgentSilent'}]}",
					  at(d, now(d) - MIN)));
	fails(d, 2, "AgentSilent", 1, "h100");
	assert_true(open_at(d, &here));
}

static const char *initialized(struct bench *d, int ago)
{
	return arena_printf(d->a,
			    "{'conditions': [{'type': 'Initialized', 'status': 'True', "
			    "'reason': 'x', 'message': '', 'lastTransitionTime': '%s'}]}",
			    at(d, now(d) - ago * MIN));
}

static void a_claim_that_came_to_serve_after_the_failures_opens_the_line(void **state)
{
	struct bench *d = *state;

	for (int i = 2; i < 5; i++)
		fails(d, i, "JoinTimeout", i, "h100");
	claim(d, "before", initialized(d, 20));
	assert_false(open_at(d, &here));
	claim(d, "after", initialized(d, 1));
	assert_true(open_at(d, &here));
	assert_null(stop.scope);
}

static void no_second_claim_while_the_one_is_on_its_way(void **state)
{
	struct bench *d = *state;
	OWN(arena) a = arena_new();
	struct breaker *l;

	for (int i = 2; i < 5; i++)
		fails(d, i, "JoinTimeout", 20 + i, "h100");
	l = breaker_read(&d->c, a);
	assert_true(breaker_admits(l, &here, &stop));
	assert_string_equal(stop.scope, "image");
	breaker_sent(l, &here);
	assert_false(breaker_admits(l, &here, &stop));
	assert_int_equal(stop.next, 0);
	claim(d, "the-one", "{'phase': 'Pending'}");
	assert_false(open_at(d, &here));
	bench_status(d, OBJECT_NODE_CLAIM, "the-one", "{'phase': 'Failed'}");
	assert_true(open_at(d, &here));
}

static void approvals(struct bench *d, const char *who)
{
	bench_patch(d, OBJECT_VIRTUAL_CLUSTER, "team-a",
		    arena_printf(d->a, "{'spec': {'approval': {'claims': '%s'}}}", who));
}

static const char *decided(struct bench *d, const char *phase, const char *decision)
{
	return arena_printf(d->a,
			    "{'phase': '%s', 'approval': {'decision': '%s', 'by': 'alice', "
			    "'at': '%s'}}",
			    phase, decision, at(d, now(d)));
}

/* Returns the number of scopes that are paused for the tenant alone. */
static size_t paused_for(struct bench *d, const char *tenant)
{
	struct breaker_paused *v;
	size_t n = breaker_list(breaker_read(&d->c, d->a), &v), count = 0;

	for (size_t i = 0; i < n; i++)
		count += str_eq(v[i].tenant, tenant) && !v[i].others && v[i].why.waits;
	return count;
}

/* A claim may never be decided on, so it must not keep the breaker half open for other tenants. */
static void a_claim_that_waits_for_an_approval_is_a_trial_of_its_tenant_alone(void **state)
{
	struct bench *d = *state;
	struct breaker_scope a = here, b = here;

	a.tenant = "team-a";
	b.tenant = "team-b";
	for (int i = 2; i < 5; i++)
		fails(d, i, "JoinTimeout", 20 + i, "h100");
	approvals(d, "Manual");
	assert_true(open_at(d, &a));
	claim(d, "the-one", "{'phase': 'Pending'}");
	assert_false(open_at(d, &a));
	assert_true(stop.waits);
	assert_true(open_at(d, &b));
	assert_false(stop.waits);
	assert_int_equal(paused_for(d, "team-a"), 2); /* pool and image */
	assert_int_equal(paused_for(d, "team-b"), 0);
	/* A denied claim is no trial, and an approved one is a trial for all tenants. */
	bench_status(d, OBJECT_NODE_CLAIM, "the-one", decided(d, "Denied", "Denied"));
	assert_true(open_at(d, &a));
	assert_int_equal(paused_for(d, "team-a"), 0);
	bench_status(d, OBJECT_NODE_CLAIM, "the-one", "{'phase': 'Pending', 'approval': null}");
	assert_false(open_at(d, &a));
	approvals(d, "None");
	assert_false(open_at(d, &b));
	assert_false(stop.waits);
}

static void what_was_before_the_line_opened_is_over(void **state)
{
	struct bench *d = *state;

	for (int i = 2; i < 5; i++)
		fails(d, i, "JoinTimeout", i, "h100");
	bench_status(d, OBJECT_NODE_POOL, "h100",
		     arena_printf(d->a,
				  "{'conditions': [{'type': 'LineStopped', "
				  "'status': 'False', 'reason': 'Open',"
				  " 'message': '', 'lastTransitionTime': '%s'}]}",
				  at(d, now(d) - MIN)));
	assert_true(open_at(d, &here));
	fails(d, 5, "JoinTimeout", 0, "h100");
	assert_true(open_at(d, &here));
}

static void resume(struct bench *d, int64_t when)
{
	bench_patch(d, OBJECT_NODE_POOL, "h100",
		    arena_printf(d->a,
				 "{'metadata': {'annotations': {'" REQUEST_RESUME "': '%s'}}}",
				 at(d, when)));
}

static void a_person_opens_the_line_for_what_was_and_not_for_what_comes(void **state)
{
	struct bench *d = *state;

	for (int i = 2; i < 5; i++)
		fails(d, i, "JoinTimeout", i, "h100");
	resume(d, now(d) - 10 * MIN);
	assert_false(open_at(d, &here));
	resume(d, now(d) + 60 * MIN);
	assert_false(open_at(d, &here));
	resume(d, now(d) - MIN);
	assert_true(open_at(d, &here));
	for (int i = 2; i < 5; i++)
		fails(d, i, "JoinTimeout", 0, "h100");
	assert_false(open_at(d, &here));
}

static bool worn(struct bench *d, const char *failures)
{
	bench_status(d, OBJECT_MACHINE, "m-2", arena_printf(d->a, "{'failures': [%s]}", failures));
	return breaker_machine_worn(&d->c, CTX_GET(&d->c, OBJECT_MACHINE, machine, "m-2"));
}

static void three_claims_wear_a_machine_out_and_not_what_followed_from_them(void **state)
{
	struct bench *d = *state;
	const char *a = failure(d, 2, "JoinTimeout", 90, "h100"),
		   *b = failure(d, 2, "InventoryMismatch", 60, "h100"),
		   *b2 = failure(d, 2, "PowerNotConfirmed", 60, "h100"),
		   *c = failure(d, 2, "JoinTimeout", 30, "h100"),
		   *wipe = "{'time': '2026-01-01T00:00:00Z', 'step': 'wiping', "
			   "'reason': 'AgentSilent'}",
		   *out = "{'time': '2026-01-01T00:00:00Z', "
			  "'step': 'verifying', 'reason': '" BREAKER_WORN "'}",
		   *image = failure(d, 2, "ImageMismatch", 20, "h100");

	assert_true(worn(d, arena_printf(d->a, "%s, %s, %s, %s", a, b, wipe, c)));
	assert_false(worn(d, arena_printf(d->a, "%s, %s, %s", a, b, b2)));
	assert_false(worn(d, arena_printf(d->a, "%s, %s, %s, %s", a, wipe, wipe, c)));
	assert_false(worn(d, arena_printf(d->a, "%s, %s, %s", a, c, image)));
	assert_false(worn(d, arena_printf(d->a, "%s, %s, %s, %s", a, b, out, c)));
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(the_third_machine_stops_the_line_and_not_the_third_failure),
		T(one_tenant_stops_no_line_of_others),
		T(a_newcomer_does_not_wait_for_what_another_tenants_claims_come_to),
		T(one_tenant_wears_no_machine_of_others),
		T(failures_further_apart_than_half_an_hour_stop_nothing),
		T(the_wait_doubles),
		T(one_wrong_image_stops_the_image_alone),
		T(a_provider_or_rack_is_blamed_when_more_than_one_pool_fails_there),
		T(what_is_a_tenants_or_a_wipes_stops_nothing),
		T(a_claim_that_came_to_serve_after_the_failures_opens_the_line),
		T(no_second_claim_while_the_one_is_on_its_way),
		T(a_claim_that_waits_for_an_approval_is_a_trial_of_its_tenant_alone),
		T(what_was_before_the_line_opened_is_over),
		T(a_person_opens_the_line_for_what_was_and_not_for_what_comes),
		T(three_claims_wear_a_machine_out_and_not_what_followed_from_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
