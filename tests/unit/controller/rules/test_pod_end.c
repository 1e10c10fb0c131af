#include "tests/unit/testing.h"

#include "api/annotations.h"
#include "base/str.h"
#include "controller/rules/pod_end.h"

static void the_reason_of_a_disruption_is_read(void **state)
{
	(void)state;
	assert_int_equal(pod_disruption_of("EvictionByEvictionAPI"), POD_EVICTED_BY_API);
	assert_int_equal(pod_disruption_of("DeletionByTaintManager"), POD_DELETED_BY_TAINT);
	assert_int_equal(pod_disruption_of("DeletionByPodGC"), POD_DELETED_BY_GC);
	assert_int_equal(pod_disruption_of("PreemptionByScheduler"), POD_PREEMPTED);
	assert_int_equal(pod_disruption_of("TerminationByKubelet"), POD_ENDED_BY_KUBELET);
	assert_int_equal(pod_disruption_of("OfTomorrow"), POD_DISRUPTED);
	assert_int_equal(pod_disruption_of(NULL), POD_DISRUPTED);
}

static void a_machine_is_judged_for_the_claim_of_the_node_alone(void **state)
{
	struct object_ref ours = {.name = "c-1"}, other = {.name = "c-2"};
	struct machine_leave drain = {.reason = LEAVE_DRAIN}, dead = {.reason = LEAVE_NODE_DEAD},
			     gone = {.reason = LEAVE_NODE_GONE};
	struct machine_failure of_claim = {.reason = "InstanceGone", .claim = "c-1"},
			       of_other = {.reason = "InstanceGone", .claim = "c-0"},
			       harmless = {.reason = "BmcBusy", .claim = "c-1"};
	const struct {
		const char *state;
		struct object_ref *claim;
		struct machine_leave *leave;
		struct machine_failure *failure;
		enum pod_machine is;
	} cases[] = {
		{"gating", &ours, NULL, NULL, POD_MACHINE_STAYS},
		{"serving", &ours, NULL, NULL, POD_MACHINE_STAYS},
		{"serving", &ours, NULL, &of_other, POD_MACHINE_STAYS},
		{"serving", &other, NULL, NULL, POD_MACHINE_UNKNOWN},
		{"serving", NULL, NULL, NULL, POD_MACHINE_UNKNOWN},
		{"draining", &ours, &drain, NULL, POD_MACHINE_DRAINS},
		{"draining", &ours, &drain, &of_other, POD_MACHINE_DRAINS},
		{"stopping", &ours, &drain, NULL, POD_MACHINE_STOPS},
		{"stopping", &ours, NULL, &harmless, POD_MACHINE_STOPS},
		{"stopping", &ours, NULL, &of_claim, POD_MACHINE_LOST},
		{"stopping", &ours, &drain, &of_claim, POD_MACHINE_LOST},
		{"stopping", &ours, &dead, NULL, POD_MACHINE_LOST},
		{"leaving", &ours, &gone, NULL, POD_MACHINE_LOST},
		/* After leaving, status names the claim no more. */
		{"verifying", NULL, &drain, NULL, POD_MACHINE_STOPS},
		{"verifying", NULL, &dead, NULL, POD_MACHINE_LOST},
		{"free", NULL, NULL, NULL, POD_MACHINE_UNKNOWN},
		{"quarantined", NULL, NULL, NULL, POD_MACHINE_UNKNOWN},
		{"gone", NULL, NULL, &of_claim, POD_MACHINE_UNKNOWN},
		{"of-tomorrow", &ours, NULL, NULL, POD_MACHINE_UNKNOWN},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct machine m = {.status = {.state = cases[i].state,
					       .claim_ref = cases[i].claim,
					       .leave = cases[i].leave}};

		m.status.failures.v = cases[i].failure;
		m.status.failures.n = cases[i].failure != NULL;
		if (pod_machine_of(&m, "c-1") != cases[i].is)
			fail_msg("case %zu: %d", i, pod_machine_of(&m, "c-1"));
	}
	assert_int_equal(pod_machine_of(NULL, "c-1"), POD_MACHINE_UNKNOWN);
}

#define ENDED .ended = true
#define DONE .ended = true, .succeeded = true
#define DELETED .deleted = true, .first = true, .known_before = true
#define READY .node_ready = true
#define ON(m) .machine = POD_MACHINE_##m

static void each_end_is_told_from_what_is_known(void **state)
{
	static const struct {
		struct pod_end_facts f;
		enum pod_end is;
	} cases[] = {
		/* by itself */
		{{DONE, READY}, POD_END_SUCCEEDED},
		{{ENDED, READY}, POD_END_FAILED},
		{{DONE, ON(DRAINS), .by_drover = true}, POD_END_SUCCEEDED},
		{{ENDED, ON(DRAINS)}, POD_END_FAILED},
		{{DONE, ON(STOPS)}, POD_END_SUCCEEDED},
		{{ENDED, ON(STOPS)}, POD_END_BY_DROVER},
		{{ENDED, ON(LOST)}, POD_END_FAILED},
		/* A pod that ends with code 0 when it is asked to end has not done its work. */
		{{DONE, DELETED, READY}, POD_END_DELETED},
		{{DONE, DELETED, ON(DRAINS), .by_drover = true}, POD_END_BY_DROVER},
		{{DONE, .disruption = POD_PREEMPTED, READY}, POD_END_PREEMPTED},
		/* Both were seen at once: which was first? */
		{{DONE, .deleted = true, .known_before = true, READY}, POD_END_UNKNOWN},
		{{ENDED, .deleted = true, .known_before = true, READY}, POD_END_UNKNOWN},
		/* The deletion had begun before this process saw the pod. */
		{{ENDED, .deleted = true, .first = true, READY}, POD_END_UNKNOWN},
		{{.deleted = true, .first = true, ON(DRAINS)}, POD_END_UNKNOWN},
		/* evictions */
		{{DELETED, .disruption = POD_EVICTED_BY_API, READY}, POD_END_EVICTED},
		{{DELETED, .disruption = POD_EVICTED_BY_API, ON(DRAINS)}, POD_END_BY_DROVER},
		{{DELETED, .disruption = POD_EVICTED_BY_API, ON(STOPS)}, POD_END_BY_DROVER},
		{{DELETED, .disruption = POD_EVICTED_BY_API, ON(UNKNOWN)}, POD_END_UNKNOWN},
		{{DELETED, .disruption = POD_EVICTED_BY_API, .by_drover = true, ON(UNKNOWN)},
		 POD_END_BY_DROVER},
		{{DELETED, .by_drover = true, ON(DRAINS)}, POD_END_BY_DROVER},
		{{DELETED, ON(DRAINS), READY}, POD_END_DELETED},
		{{DELETED, ON(STOPS)}, POD_END_BY_DROVER},
		{{ENDED, .disruption = POD_ENDED_BY_KUBELET, READY}, POD_END_EVICTED},
		{{ENDED, .disruption = POD_ENDED_BY_KUBELET, ON(STOPS)}, POD_END_BY_DROVER},
		{{DELETED, .disruption = POD_DISRUPTED, READY}, POD_END_UNKNOWN},
		/* lost machines */
		{{ENDED, .disruption = POD_DELETED_BY_GC}, POD_END_NODE_LOST},
		{{ENDED, .disruption = POD_DELETED_BY_GC, READY}, POD_END_UNKNOWN},
		{{ENDED, .disruption = POD_DELETED_BY_GC, ON(STOPS)}, POD_END_BY_DROVER},
		{{ENDED, .disruption = POD_DELETED_BY_GC, ON(LOST)}, POD_END_NODE_LOST},
		{{DELETED, .disruption = POD_DELETED_BY_TAINT}, POD_END_NODE_LOST},
		{{DELETED, .disruption = POD_DELETED_BY_TAINT, READY}, POD_END_EVICTED},
		{{DELETED, ON(LOST)}, POD_END_NODE_LOST},
		{{.known_before = true, ON(LOST)}, POD_END_NODE_LOST},
		{{.known_before = true}, POD_END_NODE_LOST},
		/* gone without a word */
		{{.known_before = true, READY}, POD_END_UNKNOWN},
		{{.known_before = true, ON(DRAINS), READY}, POD_END_UNKNOWN},
		{{.known_before = true, ON(STOPS)}, POD_END_BY_DROVER},
		{{.known_before = true, ON(UNKNOWN)}, POD_END_UNKNOWN},
		/* by its owner */
		{{DELETED, READY}, POD_END_DELETED},
		{{DELETED}, POD_END_DELETED},
		{{DELETED, ON(UNKNOWN)}, POD_END_DELETED},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (pod_end_of(&cases[i].f) != cases[i].is)
			fail_msg("case %zu: %s, not %s", i, pod_end_names[pod_end_of(&cases[i].f)],
				 pod_end_names[cases[i].is]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_reason_of_a_disruption_is_read),
		cmocka_unit_test(a_machine_is_judged_for_the_claim_of_the_node_alone),
		cmocka_unit_test(each_end_is_told_from_what_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
