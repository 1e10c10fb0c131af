/* Tests how the process of the rack of `drover up` reports that it cannot serve. tests/real/up.py
 * tests the rest. */
#include "tests/unit/testing.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "base/loop/loop_uv.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/up/rack_process.h"
#include "tests/unit/cli/program.h"
#include "tests/unit/cli/verb.h"

static char folder[64];

struct run {
	struct loop *loop;
	char said[512];
};

static int setup(void **state)
{
	(void)state;
	program_folder(folder);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	program_folder_done(folder);
	return 0;
}

static void on_ready(const json_t *objects, const char *digest, void *arg)
{
	(void)objects;
	(void)digest;
	(void)arg;
	fail_msg("the rack serves");
}

static void on_end(const struct err *e, void *arg)
{
	struct run *r = arg;

	(void)str_copy(r->said, sizeof(r->said), e->text);
	loop_stop(r->loop);
}

static void on_log(const char *data, size_t len, void *arg)
{
	(void)data;
	(void)len;
	(void)arg;
}

/* Runs the rack's process until it ends, and asserts that its error contains `what`. */
static void assert_ends(const char *faults, const char *what)
{
	struct run r = {.loop = loop_uv_new()};
	struct loop_group *g = loop_group_new(r.loop, "test");
	char program[PROGRAM_PATH];
	struct up_rack_process_spec s = {
		.rack = {.machines = 1,
			 .racks = 1,
			 .speed = 1,
			 .port = 1024,
			 .data = folder,
			 .program = program_path("drover", program),
			 .faults = faults,
			 .bmc_password = "p",
			 .kubelet_token = "t",
			 .ca_key = "k",
			 .ca_pem = "c",
			 .tenants = {{"team-a", "u", "c"}, {"team-b", "u", "c"}}},
		.on_ready = on_ready,
		.on_end = on_end,
		.on_log = on_log,
		.arg = &r,
	};
	struct up_rack_process *p;
	struct err e;

	p = up_rack_process_new(g, &s, &e);
	assert_ok(p ? 0 : -1, &e);
	loop_run(r.loop);
	assert_non_null(strstr(r.said, "the simulated rack: "));
	assert_non_null(strstr(r.said, what));
	up_rack_process_free(p);
	loop_group_free(g);
	loop_free(r.loop);
}

static void faults_that_cannot_be_read_end_the_process(void **state)
{
	(void)state;
	assert_ends("/nonexistent/faults", "--faults /nonexistent/faults: ");
}

static void a_folder_in_use_ends_the_process_after_a_while(void **state)
{
	char path[128];
	int fd;

	(void)state;
	str_format(path, sizeof(path), "%s/rack", folder);
	assert_int_equal(mkdir(path, 0700), 0);
	str_format(path, sizeof(path), "%s/rack/lock", folder);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_ends(NULL, "another simulated rack uses it");
	close(fd);
}

static void only_drover_up_starts_it(void **state)
{
	(void)state;
	assert_int_equal(verb_run("drover up", cli_up, NULL,
				  (const char *const[]){"--" UP_RACK_OPTION, NULL}),
			 1);
	verb_assert_said("--" UP_RACK_OPTION " is for `drover up` itself: ");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(faults_that_cannot_be_read_end_the_process),
		TEST(a_folder_in_use_ends_the_process_after_a_while),
		TEST(only_drover_up_starts_it),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
