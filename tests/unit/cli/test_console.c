/* Tests `drover console`, with a program in place of ipmitool that prints its arguments. */
#include "tests/unit/controller/bench.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/console.h"
#include "tests/unit/cli/verb.h"

#define PASSWORD "correct horse"

static char folder[] = "/tmp/drover-console-XXXXXX";
static char program[64], said_at[80], said[16384];
static struct bench *now;

static void say_all(const char *path)
{
	FILE *f = fopen(path, "r");

	said[f ? fread(said, 1, sizeof(said) - 1, f) : 0] = '\0';
	if (f)
		fclose(f);
}

static int setup(void **state)
{
	FILE *f;

	bench_setup(state);
	now = *state;
	bench_fleet(now);
	assert_non_null(mkdtemp(folder));
	str_format(program, sizeof(program), "%s/ipmitool", folder);
	str_format(said_at, sizeof(said_at), "%s.said", program);
	f = fopen(program, "w");
	assert_non_null(f);
	fputs("#!/bin/sh\nexec >>\"$0.said\"\necho \"args: $*\"\n"
	      "tr '\\0' '\\n' </proc/$$/environ | grep -v ^PWD= | sed 's/^/env: /'\n"
	      "for a; do case $a in /proc/self/fd/*) echo \"password: $(cat \"$a\")\";; esac; "
	      "done\n"
	      "echo \"shown: $(cat /proc/$$/environ /proc/$$/cmdline | grep -c 'correct "
	      "hors[e]')\"\n"
	      "echo \"leaked: $(ls -l /proc/$$/fd | grep -c /dev/zero)\"\n",
	      f);
	fclose(f);
	assert_int_equal(chmod(program, 0755), 0);
	return 0;
}

static int teardown(void **state)
{
	unlink(said_at);
	unlink(program);
	rmdir(folder);
	str_copy(folder + strlen(folder) - 6, 7, "XXXXXX");
	return bench_teardown(state);
}

/* Runs `drover console` in a process of its own, because the command replaces its process by
 * ipmitool. */
static int console(int argc, char **argv)
{
	struct cli_client c = {.verb = "drover console",
			       .loop = now->l,
			       .group = now->g,
			       .host = now->c.host,
			       .out = stdout};
	struct cli_console o = {.machine = argv[1],
				.ns = BENCH_NS,
				.program = program,
				.take = argc > 2 && str_eq(argv[2], "--take")};

	assert_true(open("/dev/zero", O_RDONLY) >=
		    /* A descriptor that stays open without close-on-exec, as a library might leave
		     * it. */
		    0);
	setenv("TERM", "vt100", 1);
	setenv("IPMI_PASSWORD", "of the user", 1);
	if (argc > 2 && str_eq(argv[2], "--missing"))
		o.program = "/nonexistent/ipmitool";
	return cli_do_console(&c, &o);
}

static int run(const char *machine, const char *option)
{
	int status =
		verb_run("console", console, NULL, (const char *const[]){machine, option, NULL});

	say_all(said_at);
	unlink(said_at);
	return status;
}

static void assert_given(const char *what)
{
	if (!strstr(said, what))
		fail_msg("want '%s' in: %s", what, said);
}

/* Creates a Provider of this type and its Machine. more: further members of spec.bmc. */
static void put(const char *type, const char *address, const char *trusted, const char *more)
{
	bool vm = str_eq(type, "libvirt");

	bench_put(now,
		  arena_printf(now->a,
			       "{'kind': 'Provider', 'metadata': {'name': 'old'}, 'spec': {"
			       "'type': '%s', %s, 'boot': {'mediaURL': 'http://10.0.8.2:8080'},"
			       " 'agent': {'endpoint': 'https://10.1.0.5:8443'}}}",
			       type,
			       vm ? "'libvirt': {'uri': 'qemu+ssh://kvm-1/system'}"
				  : "'credentialsSecretRef': {'name': 'ipmi'}"));
	bench_put(now, arena_printf(now->a,
				    "{'kind': 'Machine', 'metadata': {'name': 'old-7'}, 'spec': {"
				    "'providerRef': {'name': 'old'}, 'bmc': {'address': '%s'%s}},"
				    " 'status': {'state': 'known', 'trustedBMC': {'address': '%s',"
				    " 'tls': {}, 'credentials': 'ipmi'}}}",
				    address, more, trusted));
}

static void put_ipmi(void)
{
	put("ipmi", "ipmi://10.0.8.17:6230", "ipmi://10.0.8.17:6230", "");
}

static void ipmitool_gets_the_password_by_a_file_alone(void **state)
{
	(void)state;
	put_ipmi();
	bench_secret(now, "ipmi", "username", "drover", "password", PASSWORD);
	assert_int_equal(run("old-7", NULL), 0);
	assert_given("args: -I lanplus -H 10.0.8.17 -p 6230 -U drover -f /proc/self/fd/");
	assert_given(" sol activate\n");
	assert_given("password: " PASSWORD "\n");
	assert_given("shown: 0\n");
	assert_given("env: TERM=vt100\n");
	assert_given("leaked: 0\n");
	/* ipmitool gets no variable of the caller's environment except TERM. */
	assert_null(strstr(said, "IPMI_PASSWORD"));
	assert_null(strstr(said, "deactivate"));
	verb_assert_said("~. at the start of a line to end the console");
	assert_null(strstr(verb_said, PASSWORD));
}

static void a_session_that_holds_it_is_ended_on_request(void **state)
{
	const char *first, *then;

	(void)state;
	put_ipmi();
	bench_secret(now, "ipmi", "username", "drover", "password", PASSWORD);
	assert_int_equal(run("old-7", "--take"), 0);
	first = strstr(said, " sol deactivate\n");
	then = strstr(said, " sol activate\n");
	assert_true(first && then && first < then);
	assert_non_null(strstr(first, "password: " PASSWORD "\n"));
	assert_non_null(strstr(then, "password: " PASSWORD "\n"));
	assert_null(strstr(said, "shown: 1"));
}

static void what_has_no_console_here_is_named(void **state)
{
	(void)state;
	assert_int_equal(run("m-9", NULL), 1);
	verb_assert_said("drover console: machine m-9: ");
	assert_int_equal(run("m-1", NULL), 1);
	verb_assert_said(
		"drover opens a console only for Provider type ipmi, not for type redfish");
	put("libvirt", "libvirt://old/vm-7", "libvirt://old/vm-7", "");
	assert_int_equal(run("old-7", NULL), 1);
	verb_assert_said("run on its host: virsh -c qemu+ssh://kvm-1/system console vm-7");
}

/* The controller's rule applies here as well: a caller who may change a Machine, but not read its
 * Secret, must not get the password sent to another BMC. */
static void a_bmc_that_was_not_approved_gets_no_password(void **state)
{
	(void)state;
	put("ipmi", "ipmi://10.6.6.6", "ipmi://10.0.8.17", "");
	bench_secret(now, "ipmi", "username", "drover", "password", PASSWORD);
	assert_int_equal(run("old-7", NULL), 1);
	verb_assert_said(
		"spec.bmc.address differs from what was approved, so the password is not sent; "
		"to approve it: drover approve old-7 --bmc");
	assert_string_equal(said, "");
	bench_status(now, OBJECT_MACHINE, "old-7", "{'trustedBMC': null}");
	assert_int_equal(run("old-7", NULL), 1);
	verb_assert_said("differs from what was approved");
	assert_string_equal(said, "");
}

static void another_secret_than_was_approved_is_not_sent(void **state)
{
	(void)state;
	put("ipmi", "ipmi://10.0.8.17", "ipmi://10.0.8.17",
	    ", 'credentialsSecretRef': {'name': 'another'}");
	bench_secret(now, "another", "username", "drover", "password", PASSWORD);
	assert_int_equal(run("old-7", NULL), 1);
	verb_assert_said("the Secret with its password");
	assert_string_equal(said, "");
}

static void a_login_that_cannot_be_used_is_named(void **state)
{
	(void)state;
	put_ipmi();
	assert_int_equal(run("old-7", NULL), 1);
	verb_assert_said("cannot read Secret ipmi in namespace " BENCH_NS);
	bench_secret(now, "ipmi", "username", "drover", NULL, NULL);
	assert_int_equal(run("old-7", NULL), 1);
	verb_assert_said("Secret ipmi has no key password");
	assert_string_equal(said, "");
}

static void a_password_that_would_be_cut_is_not_sent(void **state)
{
	(void)state;
	put_ipmi();
	bench_secret(now, "ipmi", "username", "drover", "password", PASSWORD "\n");
	assert_int_equal(run("old-7", NULL), 1);
	verb_assert_said("without tabs and line breaks");
	assert_null(strstr(verb_said, PASSWORD));
	assert_string_equal(said, "");
}

static void an_ipmitool_that_is_not_there_is_named(void **state)
{
	(void)state;
	put_ipmi();
	bench_secret(now, "ipmi", "username", "drover", "password", PASSWORD);
	assert_int_equal(run("old-7", "--missing"), 1);
	verb_assert_said("cannot start /nonexistent/ipmitool (apt-get install ipmitool)");
}

static void it_wants_one_machine(void **state)
{
	(void)state;
	assert_int_equal(verb_run("drover console", cli_console, NULL, (const char *const[]){NULL}),
			 2);
	verb_assert_said("give a machine");
	assert_int_equal(verb_run("drover console", cli_console, NULL,
				  (const char *const[]){"a", "b", NULL}),
			 2);
	verb_assert_said("one machine at a time");
	assert_int_equal(verb_run("drover console", cli_console, NULL,
				  (const char *const[]){"--help", NULL}),
			 0);
	verb_assert_said("drover console old-7 --take");
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(ipmitool_gets_the_password_by_a_file_alone),
		CASE(a_session_that_holds_it_is_ended_on_request),
		CASE(what_has_no_console_here_is_named),
		CASE(a_bmc_that_was_not_approved_gets_no_password),
		CASE(another_secret_than_was_approved_is_not_sent),
		CASE(a_login_that_cannot_be_used_is_named),
		CASE(a_password_that_would_be_cut_is_not_sent),
		CASE(an_ipmitool_that_is_not_there_is_named),
		CASE(it_wants_one_machine),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
