#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/str.h"
#include "controller/cli.h"

static char said[1 << 20];

/* Run a verb in a process of its own: it may exit.  Its status; what it wrote to both streams is in `said`. */
static int verb(int (*fn)(int argc, char **argv), const char *const *args)
{
	char *argv[16] = {(char *)"drover"};
	int argc = 1, fds[2], status;
	size_t n = 0;
	ssize_t got;
	pid_t pid;

	for (; args && args[argc - 1]; argc++)
		argv[argc] = (char *)args[argc - 1];
	assert_int_equal(pipe(fds), 0);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		unsetenv("KUBECONFIG");
		unsetenv("KUBERNETES_SERVICE_HOST");
		dup2(fds[1], 1);
		dup2(fds[1], 2);
		close(fds[0]);
		close(fds[1]);
		status = fn(argc, argv);
		fflush(NULL);
		_exit(status);
	}
	close(fds[1]);
	while ((got = read(fds[0], said + n, sizeof(said) - 1 - n)) > 0)
		n += (size_t)got;
	said[n] = '\0';
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}
#define VERB(fn, ...) verb(fn, (const char *const[]){__VA_ARGS__, NULL})

static void assert_said(const char *what)
{
	if (!strstr(said, what))
		fail_msg("want '%s' in: %.2000s", what, said);
}

static void version_names_program_and_api(void **state)
{
	(void)state;
	assert_int_equal(verb(cli_version, NULL), 0);
	assert_true(str_starts(said, "drover "));
	assert_said("drover.dev/v1alpha1");
}

static void crds_prints_every_kind(void **state)
{
	size_t n = 0;

	(void)state;
	assert_int_equal(verb(cli_crds, NULL), 0);
	for (const char *p = said; (p = strstr(p, "kind: CustomResourceDefinition")); p++)
		n++;
	assert_int_equal(n, 8);
}

static void approve_wants_exactly_one_machine(void **state)
{
	(void)state;
	assert_int_equal(VERB(cli_approve, "--wipe"), 2);
	assert_said("which machine?");
	assert_int_equal(VERB(cli_approve, "m-1", "m-2"), 2);
	assert_said("one machine at a time");
	assert_int_equal(VERB(cli_approve, "--force", "m-1"), 2);
	assert_int_equal(VERB(cli_approve, "--help"), 0);
	assert_said("kubectl");
}

static void a_kubeconfig_that_cannot_be_used_is_named(void **state)
{
	(void)state;
	assert_int_equal(VERB(cli_approve, "-k", "/nonexistent/host.conf", "m-1"), 1);
	assert_said("drover approve: ");
	assert_said("/nonexistent/host.conf");
	assert_int_equal(VERB(cli_run, "-k", "/nonexistent/host.conf"), 1);
	assert_said("/nonexistent/host.conf");
	assert_int_equal(VERB(cli_approve, "m-1"), 1); /* not in a cluster either */
	assert_said("drover approve: ");
}

static void run_says_which_option_is_wrong_and_what_is_allowed(void **state)
{
	(void)state;
	assert_int_equal(VERB(cli_run, "--poll-ms", "5"), 2);
	assert_said("--poll-ms: want 50 to 60000, got 5");
	assert_int_equal(VERB(cli_run, "--settle-ms", "soon"), 2);
	assert_said("--settle-ms: want 1000 to 60000, got soon");
	assert_int_equal(VERB(cli_run, "extra"), 2);
	assert_said("no argument wanted: extra");
	assert_int_equal(VERB(cli_run, "--agent-name=1", "--agent-name=2", "--agent-name=3",
			      "--agent-name=4", "--agent-name=5", "--agent-name=6",
			      "--agent-name=7", "--agent-name=8", "--agent-name=9"),
			 2);
	assert_said("--agent-name: at most 8");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(version_names_program_and_api),
		cmocka_unit_test(crds_prints_every_kind),
		cmocka_unit_test(approve_wants_exactly_one_machine),
		cmocka_unit_test(a_kubeconfig_that_cannot_be_used_is_named),
		cmocka_unit_test(run_says_which_option_is_wrong_and_what_is_allowed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
