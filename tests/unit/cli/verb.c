#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/str.h"
#include "tests/unit/cli/verb.h"

char verb_said[1 << 20];

int verb_run(const char *name, int (*fn)(int argc, char **argv), const char *input,
	     const char *const *args)
{
	char *argv[16] = {(char *)name};
	int argc = 1, out[2], in[2], status;
	size_t n = 0;
	ssize_t got;
	pid_t pid;

	for (; args[argc - 1]; argc++)
		argv[argc] = (char *)args[argc - 1];
	assert_int_equal(pipe(out), 0);
	assert_int_equal(pipe(in), 0);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		unsetenv("KUBECONFIG");
		setenv("HOME", "/nonexistent", 1); /* The command must not find a ~/.kube/config. */
		unsetenv("KUBERNETES_SERVICE_HOST");
		dup2(in[0], 0);
		dup2(out[1], 1);
		dup2(out[1], 2);
		close(in[0]);
		close(in[1]);
		close(out[0]);
		close(out[1]);
		status = fn(argc, argv);
		fflush(NULL);
		test_exit(status);
	}
	close(out[1]);
	close(in[0]);
	if (input)
		assert_int_equal(write(in[1], input, strlen(input)), strlen(input));
	close(in[1]);
	while ((got = read(out[0], verb_said + n, sizeof(verb_said) - 1 - n)) > 0)
		n += (size_t)got;
	verb_said[n] = '\0';
	close(out[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

void verb_assert_said(const char *what)
{
	if (!strstr(verb_said, what))
		fail_msg("want '%s' in: %.2000s", what, verb_said);
}

static int errors_to;
static FILE *errors;

void verb_errors_begin(void)
{
	fflush(stderr);
	errors = tmpfile();
	assert_non_null(errors);
	errors_to = dup(STDERR_FILENO);
	assert_true(dup2(fileno(errors), STDERR_FILENO) >= 0);
}

void verb_errors_end(const char *what)
{
	char text[2048];
	size_t n;

	fflush(stderr);
	assert_true(dup2(errors_to, STDERR_FILENO) >= 0);
	close(errors_to);
	rewind(errors);
	n = fread(text, 1, sizeof(text) - 1, errors);
	fclose(errors);
	text[n] = '\0';
	if (what ? !strstr(text, what) : n)
		fail_msg("want '%s' in: %s", str_or(what, "nothing"), text);
}
