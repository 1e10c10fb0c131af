/* Tests which pods are denied a new claim, and which are planned again. tests/world/test_approval.c
 * tests it as a whole. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "api/annotations.h"
#include "base/str.h"
#include "controller/claims/denied.h"
#include "controller/rules/claim.h"

/* "TENANT: UIDs" of the pods that were planned again, each with a space after it */
static char again[256];

static void on_again(const char *tenant, const char *const *uids, size_t n, void *arg)
{
	(void)arg;
	str_format(again, sizeof(again), "%s: ", tenant);
	for (size_t i = 0; i < n; i++)
		str_format(again + strlen(again), sizeof(again) - strlen(again), "%s ", uids[i]);
}

static int setup(void **state)
{
	again[0] = '\0';
	*state = denied_new(on_again, NULL);
	return 0;
}

static int teardown(void **state)
{
	denied_free(*state);
	return 0;
}

/* Reports a claim of the tenant for two pods. message: of its condition Approved; NULL: the claim
 * is not denied. */
static void claim(struct denied *d, const char *tenant, const char *name, const char *message,
		  const char *uid, const char *uid2)
{
	const char *uids[] = {uid, uid2};
	struct condition c = {.type = APPROVED_CONDITION,
			      .status = CONDITION_FALSE,
			      .reason = "ClaimDenied",
			      .message = message};
	struct node_claim n = {.meta = {.name = name}};

	n.spec.virtual_cluster_ref.name = tenant;
	n.spec.pods.v = uids;
	n.spec.pods.n = uid2 ? 2 : 1;
	n.status.phase = message ? CLAIM_PHASE_DENIED : "Pending";
	n.status.conditions.v = &c;
	n.status.conditions.n = message ? 1 : 0;
	denied_claim(d, name, &n);
}

static void expect_again(const char *want)
{
	assert_string_equal(again, want);
	again[0] = '\0';
}

static void a_denial_is_for_the_pods_of_its_claim(void **state)
{
	struct denied *d = *state;

	claim(d, "a", "c", NULL, "1", "2");
	expect_again("");
	claim(d, "a", "c", "denied by alice", "1", "2");
	expect_again("a: 1 2 ");
	assert_string_equal(denied_text(d, "a", "1"), "claim c was denied by alice");
	assert_string_equal(denied_text(d, "a", "2"), "claim c was denied by alice");
	assert_null(denied_text(d, "a", "3"));
	assert_null(denied_text(d, "a", NULL));
	/* The same denial again changes nothing; another text does. */
	claim(d, "a", "c", "denied by alice", "1", "2");
	expect_again("");
	claim(d, "a", "c", "denied by bob", "1", "2");
	expect_again("a: 1 2 ");
	assert_string_equal(denied_text(d, "a", "1"), "claim c was denied by bob");
	denied_claim(d, "c", NULL);
	expect_again("a: 1 2 ");
	assert_null(denied_text(d, "a", "1"));
}

/* A tenant's API server may serve pods with the UIDs of another tenant's pods. */
static void the_uid_of_another_tenants_pod_is_not_denied(void **state)
{
	struct denied *d = *state;

	claim(d, "a", "c", "denied by alice", "1", NULL);
	expect_again("a: 1 ");
	assert_null(denied_text(d, "b", "1"));
	assert_non_null(denied_text(d, "a", "1"));
}

static void a_pod_with_two_denied_claims_is_denied_until_both_are_gone(void **state)
{
	struct denied *d = *state;

	claim(d, "a", "c", "denied by alice", "1", NULL);
	claim(d, "a", "e", "denied by bob", "1", NULL);
	assert_string_equal(denied_text(d, "a", "1"), "claim e was denied by bob");
	denied_claim(d, "c", NULL);
	assert_string_equal(denied_text(d, "a", "1"), "claim e was denied by bob");
	denied_claim(d, "e", NULL);
	assert_null(denied_text(d, "a", "1"));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_denial_is_for_the_pods_of_its_claim),
		T(the_uid_of_another_tenants_pod_is_not_denied),
		T(a_pod_with_two_denied_claims_is_denied_until_both_are_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
