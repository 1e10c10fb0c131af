/* Tests drover as a program: the list of commands, and how the first argument selects one. */
#include "tests/unit/testing.h"

#include <stdio.h>
#include "api/machine_states.h"
#include "base/mem.h"
#include "base/str.h"
#include "tests/unit/cli/program.h"
#include "tests/unit/cli/verb.h"

#define DROVER(...) verb_run("drover", drover, NULL, (const char *const[]){__VA_ARGS__, NULL})
/* Column in which the example of a command begins, counted from the first letter of the command */
#define HELP_EXAMPLE 54

static int drover(int argc, char **argv)
{
	(void)argc;
	return program_exec("drover", argv);
}

static void help_lists_verbs_and_each_of_them_has_help_of_its_own(void **state)
{
	static char list[8192];
	char verb[32];
	int n, verbs = 0;

	(void)state;
	assert_int_equal(DROVER("help"), 0);
	verb_assert_said("Usage: drover COMMAND");
	str_copy(list, sizeof(list), strstr(verb_said, "\n  "));
	for (const char *p = list; sscanf(p, " %31s%*[^\n]%n", verb, &n) == 1 && *verb != '`';
	     p += n) {
		bool plain = str_eq(verb, "crds") || str_eq(verb, "version");

		verbs++;
		if (strncmp(p + strspn(p, "\n ") + HELP_EXAMPLE - 2, "  ", 2) != 0)
			fail_msg("drover help: what %s does leaves no gap before its example",
				 verb);
		assert_int_equal(DROVER(verb, "-h"), 0);
		if (!plain && !strstr(verb_said, verb))
			fail_msg("drover %s -h: %s", verb, verb_said);
		assert_int_equal(DROVER("help", verb), 0);
		if (!plain && !strstr(verb_said, verb))
			fail_msg("drover help %s: %s", verb, verb_said);
		assert_int_equal(DROVER(verb, "--help"), 0);
		if (!plain && !strstr(verb_said, verb))
			fail_msg("the help of %s does not name it: %s", verb, verb_said);
	}
	assert_in_range(verbs, 15, 40);
	assert_int_equal(DROVER("--help"), 0);
	assert_int_equal(DROVER("-h"), 0);
}

static void what_is_below_a_verb_has_help_too(void **state)
{
	static const char *const below[][2] = {{"sim", "rack"},
					       {"sim", "port-move"},
					       {"wipe", "verify"},
					       {"wipe", "report"},
					       {"wipe", "keys"}};

	(void)state;
	for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++) {
		assert_int_equal(DROVER(below[i][0], below[i][1], "-h"), 0);
		verb_assert_said("Usage: drover ");
		assert_int_equal(DROVER("help", below[i][0], below[i][1]), 0);
		verb_assert_said(below[i][1]);
		verb_assert_said("-h, --help");
	}
	assert_int_equal(DROVER("help", "dance"), 2);
	verb_assert_said("unknown command 'dance'");
}

static void the_version_names_the_commit(void **state)
{
	static const char *const ways[] = {"version", "--version", "-V"};

	(void)state;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		assert_int_equal(DROVER(ways[i]), 0);
		assert_true(str_starts(verb_said, "drover "));
		verb_assert_said(" (commit ");
		verb_assert_said(", drover.dev/v1alpha1)\n");
	}
	assert_int_equal(DROVER("version", "-o", "json"), 0);
	assert_true(str_starts(verb_said, "{\n  \"version\": "));
	verb_assert_said("\"apiVersion\": \"drover.dev/v1alpha1\"");
	assert_int_equal(DROVER("version", "-o", "yaml"), 2);
	verb_assert_said("--output: want json, got 'yaml'");
}

static void without_a_verb_or_with_an_unknown_one_it_says_what_there_is(void **state)
{
	(void)state;
	assert_int_equal(verb_run("drover", drover, NULL, (const char *const[]){NULL}), 2);
	verb_assert_said("Usage: drover COMMAND");
	assert_int_equal(DROVER("dance"), 2);
	verb_assert_said("unknown command 'dance'");
	assert_int_equal(DROVER("drain", "--nonsense"), 2);
	verb_assert_said("drover drain: "); /* Errors begin with the full name of the command. */
}

static void as_a_plug_in_of_kubectl_it_is_called_so(void **state)
{
	static const char *const names[] = {"kubectl-drover", "/usr/local/bin/kubectl-drover"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(
			verb_run(names[i], drover, NULL, (const char *const[]){"help", NULL}), 0);
		verb_assert_said("Usage: kubectl drover COMMAND");
		verb_assert_said(" kubectl drover why; kubectl drover why gpu-r1-07\n");
		verb_assert_said(" source <(kubectl drover completion bash)\n");
		verb_assert_said(" let drover manage and wipe a machine ");
		assert_null(strstr(verb_said, "  drover drain"));
		assert_int_equal(
			verb_run(names[i], drover, NULL, (const char *const[]){"why", "-h", NULL}),
			0);
		verb_assert_said("Usage: kubectl drover why ");
		verb_assert_said("\n  kubectl drover why gpu-r1-07");
		assert_null(strstr(verb_said, "  drover why"));
	}
	assert_int_equal(
		verb_run("kubectl-drover", drover, NULL, (const char *const[]){"dance", NULL}), 2);
	verb_assert_said(
		"kubectl drover: unknown command 'dance'; `kubectl drover help` lists all");
}

static void kubectl_is_told_the_words_and_whether_files_may_follow(void **state)
{
	static const char name[] = "/usr/bin/kubectl_complete-drover";

	(void)state;
	assert_int_equal(verb_run(name, drover, NULL, (const char *const[]){"qua", NULL}), 0);
	assert_string_equal(verb_said, "quarantine\n:4\n");
	assert_int_equal(
		verb_run(name, drover, NULL, (const char *const[]){"drain", "--rea", NULL}), 0);
	assert_string_equal(verb_said, "--reason\n:4\n");
	assert_int_equal(verb_run(name, drover, NULL, (const char *const[]){"simulate", "", NULL}),
			 0);
	assert_string_equal(verb_said, ":0\n");
	assert_int_equal(verb_run(name, drover, NULL, (const char *const[]){NULL}), 0);
	assert_string_equal(verb_said, ":0\n");
}

static void a_reason_is_explained_without_a_cluster(void **state)
{
	(void)state;
	assert_int_equal(DROVER("explain", "drivemissing"), 0);
	verb_assert_said("DriveMissing\n"
			 "  meaning       drover's agent did not see a drive");
	verb_assert_said("drover approve MACHINE --drives");
	assert_int_equal(DROVER("explain", "KubeconfigAbsent"), 0);
	verb_assert_said("create the Secret");
	assert_int_equal(DROVER("explain"), 0);
	verb_assert_said("\nEraseUnverified          the record of the last wipe is missing, ");
	assert_int_equal(DROVER("explain", "-o", "json", "NotApproved"), 0);
	verb_assert_said(
		"\"means\": \"spec.identity is not set, so drover does not manage the machine\"");
	assert_int_equal(DROVER("explain", "NoSuchReason"), 1);
	verb_assert_said("`drover explain` lists all reasons");
	assert_int_equal(DROVER("explain", "BmcUnreachable"), 0);
	verb_assert_said("\n  by itself     drover asks the BMC again by itself");
	assert_int_equal(DROVER("explain", "DriveMising"), 1);
	verb_assert_said(
		"unknown reason, state or field 'DriveMising'; did you mean DriveMissing?");
	assert_int_equal(DROVER("explain", "x\033[31m"), 1);
	verb_assert_said("field 'x?[31m'");
	assert_int_equal(DROVER("explain", "wiping", "free"), 2);
	verb_assert_said("one name at a time");
}

static void a_state_is_explained_from_its_table(void **state)
{
	(void)state;
	assert_int_equal(DROVER("explain", "Wiping"), 0);
	verb_assert_said("wiping (state of a machine)\n"
			 "  meaning       the agent is wiping its drives\n"
			 "  machines      hardware, managed\n"
			 "  time limit    6h, or as set by spec.wipe.deadline of the Provider\n"
			 "  after that    quarantined\n"
			 "  may go to     dirty, verifying, quarantined\n");
	assert_int_equal(DROVER("explain", "stopping"), 0);
	verb_assert_said("  after that    isolating; a cloud instance: quarantined\n");
	assert_int_equal(DROVER("explain", "gone"), 0);
	verb_assert_said("  time limit    none\n  may go to     none\n");
	assert_int_equal(DROVER("explain", "booting", "-o", "json"), 0);
	verb_assert_said("\"limitSeconds\": 1800");
	verb_assert_said("\"limitSetBy\": \"spec.deadlines of the NodeClaim\"");
	assert_int_equal(DROVER("explain", "wipng"), 1);
	verb_assert_said("did you mean wiping?");
	for (int s = 0; s < MACHINE_STATES; s++) {
		assert_int_equal(DROVER("explain", machine_state_info[s].name), 0);
		verb_assert_said("(state of a machine)\n  meaning       ");
		assert_null(strstr(verb_said, "(null)"));
	}
}

static void a_field_is_explained_from_its_table(void **state)
{
	(void)state;
	assert_int_equal(DROVER("explain", "nodepool.spec.disruption.budgets"), 0);
	verb_assert_said("nodepool.spec.disruption.budgets (field of NodePool, "
			 "drover.dev/v1alpha1)\n  type          list\n");
	verb_assert_said("  rule          schedule and duration must be set together\nfields:\n"
			 "  nodes (text; required; a count or a percentage such as \"10%\")\n"
			 "      Highest number of nodes");
	assert_int_equal(DROVER("explain", "pool.spec.disruption.drift", "-o", "json"), 0);
	verb_assert_said("\"allowed\": \"Never, WhenEmpty, WithinBudgets\"");
	assert_int_equal(DROVER("explain", "machine"), 0);
	verb_assert_said("\nfields:\n  spec (object; required)\n");
	assert_int_equal(DROVER("explain", "nodepool.spec.disruptoin"), 1);
	verb_assert_said("nodepool.spec has no field 'disruptoin'; did you mean "
			 "nodepool.spec.disruption?\n");
	assert_int_equal(DROVER("explain", "nodepool.spec.\033]0;x"), 1);
	verb_assert_said("no field '?]0;x'; `drover explain nodepool.spec` shows its fields\n");
	assert_int_equal(DROVER("explain", "nodpool"), 1);
	verb_assert_said("did you mean nodepool?");
}

static void completion_is_for_shells_that_it_knows(void **state)
{
	(void)state;
	assert_int_equal(DROVER("completion", "bash"), 0);
	verb_assert_said("complete -o filenames -F _drover drover\n");
	assert_int_equal(DROVER("completion", "zsh"), 0);
	verb_assert_said("compdef _drover_zsh drover\n");
	assert_int_equal(DROVER("completion", "fish"), 0);
	verb_assert_said("complete -c drover -f -a '(__drover_words)'\n");
	assert_int_equal(DROVER("completion", "tcsh"), 2);
	verb_assert_said("want bash, fish or zsh, got 'tcsh'");
	assert_int_equal(DROVER("completion", "bash", "zsh"), 2);
	verb_assert_said("one shell at a time");
	assert_int_equal(DROVER("completion"), 2);
}

static void assert_offers(const char *want)
{
	if (!str_eq(verb_said, want))
		fail_msg("want '%s', got '%s'", want, verb_said);
}

static void the_words_that_complete_a_line_are_those_of_the_help(void **state)
{
	(void)state;
	assert_int_equal(DROVER("completion", "words", "--", "qua"), 0);
	assert_offers("quarantine\n");
	assert_int_equal(DROVER("completion", "words", "--", "drain", "--rea"), 0);
	assert_offers("--reason\n");
	assert_int_equal(DROVER("completion", "words", "--", "drain", "gpu-1", "--rea"), 0);
	assert_offers("--reason\n");
	assert_int_equal(DROVER("completion", "words", "--", "wipe", "verify", "--key"), 0);
	assert_offers("--key\n--keys\n");
	assert_int_equal(DROVER("completion", "words", "--", "sim", "r"), 0);
	assert_offers("rack\n");
	assert_int_equal(DROVER("completion", "words", "--", "explain", "DriveM"), 0);
	assert_offers("DriveMissing\n");
	assert_int_equal(DROVER("completion", "words", "--", "help", "retr"), 0);
	assert_offers("retry\n");
	/* Without a cluster there are no names, and no error text either. */
	assert_int_equal(DROVER("completion", "words", "--", "retry", ""), 0);
	assert_offers("");
	assert_int_equal(DROVER("completion", "words", "--", "dance", ""), 0);
	assert_offers("");
	assert_int_equal(DROVER("completion", "words"), 0);
	assert_offers("");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(help_lists_verbs_and_each_of_them_has_help_of_its_own),
		cmocka_unit_test(what_is_below_a_verb_has_help_too),
		cmocka_unit_test(the_version_names_the_commit),
		cmocka_unit_test(without_a_verb_or_with_an_unknown_one_it_says_what_there_is),
		cmocka_unit_test(as_a_plug_in_of_kubectl_it_is_called_so),
		cmocka_unit_test(kubectl_is_told_the_words_and_whether_files_may_follow),
		cmocka_unit_test(a_reason_is_explained_without_a_cluster),
		cmocka_unit_test(a_state_is_explained_from_its_table),
		cmocka_unit_test(a_field_is_explained_from_its_table),
		cmocka_unit_test(completion_is_for_shells_that_it_knows),
		cmocka_unit_test(the_words_that_complete_a_line_are_those_of_the_help),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
