#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/str.h"
#include "cli/cli.h"
#include "tests/unit/cli/verb.h"

#define VERB(fn, ...) verb_run("drover", fn, NULL, (const char *const[]){__VA_ARGS__, NULL})

static void version_names_program_and_api(void **state)
{
	(void)state;
	assert_int_equal(verb_run("drover", cli_version, NULL, (const char *const[]){NULL}), 0);
	assert_true(str_starts(verb_said, "drover "));
	verb_assert_said("drover.dev/v1alpha1");
}

static void crds_prints_every_kind(void **state)
{
	size_t n = 0;

	(void)state;
	assert_int_equal(verb_run("drover", cli_crds, NULL, (const char *const[]){NULL}), 0);
	for (const char *p = verb_said; (p = strstr(p, "kind: CustomResourceDefinition")); p++)
		n++;
	assert_int_equal(n, 10);
	assert_int_equal(VERB(cli_crds, "--help"), 0);
	verb_assert_said("kubectl apply");
	assert_int_equal(VERB(cli_crds, "nodepools"), 2);
	verb_assert_said("unexpected argument: nodepools");
}

static void approve_wants_exactly_one_machine(void **state)
{
	(void)state;
	assert_int_equal(VERB(cli_approve, "--wipe"), 2);
	verb_assert_said("which machine or claim?");
	assert_int_equal(VERB(cli_approve, "m-1", "m-2"), 2);
	verb_assert_said("one machine or claim at a time");
	assert_int_equal(VERB(cli_approve, "--force", "m-1"), 2);
	assert_int_equal(VERB(cli_approve, "--help"), 0);
	verb_assert_said("kubectl");
}

static void a_kubeconfig_that_cannot_be_used_is_named(void **state)
{
	(void)state;
	assert_int_equal(VERB(cli_approve, "-k", "/nonexistent/host.conf", "m-1"), 1);
	verb_assert_said("drover approve: ");
	verb_assert_said("/nonexistent/host.conf");
	assert_int_equal(VERB(cli_approve, "-k", "/dev/null", "--context", "x", "m-1"), 1);
	verb_assert_said("/dev/null: ");
	assert_int_equal(VERB(cli_wipe, "keys", "-k", "/nonexistent/host.conf", "--context", "x"),
			 1);
	verb_assert_said("/nonexistent/host.conf");
	assert_int_equal(VERB(cli_run, "-k", "/nonexistent/host.conf"), 1);
	verb_assert_said("/nonexistent/host.conf");
	/* There is no kubeconfig, and the test does not run in a cluster. */
	assert_int_equal(VERB(cli_approve, "m-1"), 1);
	verb_assert_said("drover approve: no cluster given");
	assert_int_equal(VERB(cli_wipe, "verify", "gpu-1-1-1"), 1);
	verb_assert_said("gpu-1-1-1: there is no such file");
	verb_assert_said("no cluster given");
}

static void run_says_which_option_is_wrong_and_what_is_allowed(void **state)
{
	(void)state;
	assert_int_equal(VERB(cli_run, "--poll-ms", "5"), 2);
	verb_assert_said("--poll-ms: want 50 to 60000, got 5");
	assert_int_equal(VERB(cli_run, "--settle-ms", "soon"), 2);
	verb_assert_said("--settle-ms: want 1000 to 60000, got soon");
	assert_int_equal(VERB(cli_run, "--usage-half-life", "1s"), 2);
	verb_assert_said("--usage-half-life: want 1m to 8784h, got 1s");
	assert_int_equal(VERB(cli_run, "--aging-points", "-1"), 2);
	verb_assert_said("--aging-points: want 0 to 1000000000, got -1");
	assert_int_equal(VERB(cli_run, "--aging-max", "much"), 2);
	verb_assert_said("--aging-max: want 0 to 2000000000, got much");
	assert_int_equal(VERB(cli_run, "--gang-level", "example.com/rack"), 2);
	verb_assert_said("--gang-level: want up to 8 of topology.drover.dev/...");
	assert_int_equal(VERB(cli_run, "--batch-idle-ms", "0"), 2);
	verb_assert_said("--batch-idle-ms: want 1 to 60000, got 0");
	assert_int_equal(VERB(cli_run, "--batch-max-ms", "1h"), 2);
	verb_assert_said("--batch-max-ms: want 1 to 600000, got 1h");
	assert_int_equal(VERB(cli_run, "extra"), 2);
	verb_assert_said("unexpected argument: extra");
	assert_int_equal(VERB(cli_run, "--agent-name=1", "--agent-name=2", "--agent-name=3",
			      "--agent-name=4", "--agent-name=5", "--agent-name=6",
			      "--agent-name=7", "--agent-name=8", "--agent-name=9"),
			 2);
	verb_assert_said("--agent-name: at most 8");
}

static void every_verb_has_help_with_an_example_and_kubectl(void **state)
{
	static const struct {
		int (*fn)(int argc, char **argv);
		const char *example;
	} verbs[] = {
		{cli_drain, "drover drain gpu"},
		{cli_cancel, "drover cancel drain-"},
		{cli_release, "drover release gpu"},
		{cli_retry, "drover retry gpu"},
		{cli_quarantine, "drover quarantine gpu"},
		{cli_retire, "drover retire gpu"},
		{cli_confirm_off, "drover confirm-off gpu"},
		{cli_resume, "drover resume pool/"},
		{cli_pause, "drover pause pool/"},
		{cli_approve, "drover approve gpu"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		assert_int_equal(VERB(verbs[i].fn, "--help"), 0);
		verb_assert_said(verbs[i].example);
		verb_assert_said("kubectl");
		assert_int_equal(VERB(verbs[i].fn, "--nonsense"), 2);
		assert_int_equal(VERB(verbs[i].fn, "-o", "yaml"), 2);
		verb_assert_said("want json");
		assert_int_equal(verb_run("drover", verbs[i].fn, NULL, (const char *const[]){NULL}),
				 2); /* Exit status 2, because no object is given. */
	}
}

static void a_drain_says_which_option_is_wrong(void **state)
{
	(void)state;
	assert_int_equal(VERB(cli_drain, "m-1"), 2);
	verb_assert_said("--reason");
	assert_int_equal(VERB(cli_drain, "m-1", "-r", "x", "-l", "rack=r1"), 2);
	verb_assert_said("by name or by --selector, not both");
	assert_int_equal(VERB(cli_drain, "-r", "x"), 2);
	verb_assert_said("give machines by name, or with --selector");
	assert_int_equal(VERB(cli_drain, "m-1", "-r", "x", "--then", "Reboot"), 2);
	verb_assert_said("want Release, Hold, Quarantine or Retire, got Reboot");
	assert_int_equal(VERB(cli_drain, "m-1", "-r", "x", "--on-deadline", "Escalate"), 2);
	verb_assert_said("--on-deadline needs --deadline");
	assert_int_equal(
		VERB(cli_drain, "m-1", "-r", "x", "--deadline", "1h", "--on-deadline", "Wait"), 2);
	verb_assert_said("want Stop or Escalate, got Wait");
	assert_int_equal(VERB(cli_drain, "m-1", "-r", "x", "-c", "0"), 2);
	verb_assert_said("--concurrent: want 1 to 1000");
	assert_int_equal(VERB(cli_drain, "--follow", "d", "m-1"), 2);
	assert_int_equal(VERB(cli_drain, "m-1", "-r", "x"), 1); /* There is no kubeconfig. */
	verb_assert_said("drover drain: ");
}

static void why_wants_a_name_or_a_whole_pod(void **state)
{
	static const char *const wrong[] = {"", "a/", "a/b/c/d", "/b/c", "a//c", "a/b/"};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(VERB(cli_why, wrong[i]), 2);
		verb_assert_said("want NAME, TYPE/NAME or TENANT/NAMESPACE/POD, got '");
	}
	assert_int_equal(VERB(cli_why, "team-a/default/train"), 1);
	verb_assert_said("no cluster given");
}

static void verbs_that_need_a_reason_say_so(void **state)
{
	(void)state;
	assert_int_equal(VERB(cli_quarantine, "m-1"), 2);
	verb_assert_said("--reason");
	assert_int_equal(VERB(cli_approve, "m-1", "--wipe", "--adopt", "c"), 2);
	verb_assert_said("--adopt and --wipe exclude each other");
	assert_int_equal(VERB(cli_resume, "a", "b"), 2);
	verb_assert_said("one pool/NAME, provider/NAME, tenant/NAME, machine/NAME or");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(version_names_program_and_api),
		cmocka_unit_test(crds_prints_every_kind),
		cmocka_unit_test(approve_wants_exactly_one_machine),
		cmocka_unit_test(a_kubeconfig_that_cannot_be_used_is_named),
		cmocka_unit_test(every_verb_has_help_with_an_example_and_kubectl),
		cmocka_unit_test(a_drain_says_which_option_is_wrong),
		cmocka_unit_test(why_wants_a_name_or_a_whole_pod),
		cmocka_unit_test(verbs_that_need_a_reason_say_so),
		cmocka_unit_test(run_says_which_option_is_wrong_and_what_is_allowed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
