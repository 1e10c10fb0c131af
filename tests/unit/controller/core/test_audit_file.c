/* Tests the file of the audit log: restarts, cut-off lines, a full disk, rotation, gaps. */
#include "tests/unit/controller/bench.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "controller/core/audit_file.h"
#include "controller/core/audit_lines.h"
#include "controller/core/audit_trail.h"
#include "tests/unit/cli/program.h"

static char folder[64], path[128];
static struct audit_file *file;
static struct audit_trail *trail;

static void on_change(struct bench *d, enum object_kind_id kind, const char *name, void *object)
{
	(void)d;
	(void)name;
	if (kind == OBJECT_AUDIT_SEGMENT && object && trail)
		audit_trail_segment(trail, NULL, object);
	if (kind == OBJECT_AUDIT_SEGMENT)
		audit_file_kick(file);
}

static int setup(void **state)
{
	struct bench *d;

	bench_setup(state);
	d = *state;
	program_folder(folder);
	str_format(path, sizeof(path), "%s/audit", folder);
	d->c.leading = d->c.ready = true;
	d->c.o.audit_log = path;
	d->on_change = on_change;
	file = audit_file_new(&d->c);
	trail = audit_trail_new(&d->c, file);
	return 0;
}

static int teardown(void **state)
{
	struct bench *d = *state;

	audit_trail_free(trail);
	audit_file_free(file);
	trail = NULL;
	file = NULL;
	d->on_change = NULL;
	d->c.o.audit_log = NULL;
	d->c.leading = d->c.ready = false;
	program_folder_done(folder);
	return bench_teardown(state);
}

static void create(struct bench *d, int from, int to)
{
	char name[32];
	const struct machine m = {.meta = {.name = name,
					   .uid = name,
					   .resource_version = "1",
					   .creation_timestamp = loop_wall(d->l)}};

	for (int i = from; i < to; i++) {
		str_format(name, sizeof(name), "gpu-%d", i);
		audit_trail_change(trail, OBJECT_MACHINE, NULL, &m);
	}
}

/* Checks the named files of the folder as one log. *torn gets the number of lines without an
 * entry. */
static struct audit_verdict check(const char *const *names, unsigned *torn)
{
	OWN(audit_check) c = audit_check_new();

	*torn = 0;
	for (; *names; names++) {
		char *name = mem_printf("%s/%s", folder, *names), *line = NULL;
		FILE *f = fopen(name, "r");
		size_t cap = 0;
		struct err e;

		assert_non_null(f);
		audit_check_input(c, *names);
		while (getline(&line, &cap, f) > 0) {
			OWN_JSON j = json_parse(line, strlen(line), &e);

			if (!audit_check_add(c, j))
				++*torn;
		}
		fclose(f);
		free(line);
		free(name);
	}
	return audit_check_run(c);
}

static void assert_file(size_t entries, unsigned torn)
{
	unsigned found;
	struct audit_verdict v = check((const char *const[]){"audit", NULL}, &found);

	assert_string_equal(v.text, "");
	assert_int_equal(v.entries, entries);
	assert_int_equal(v.first, 1);
	assert_int_equal(found, torn);
}

/* Checks the output, in which lines are repeated. torn: number of lines without an entry; firsts:
 * number of lines with the first entry. */
static void assert_lines(const char *name, size_t entries, unsigned torn, unsigned firsts)
{
	OWN(audit_check) c = audit_check_new();
	char *full = mem_printf("%s/%s", folder, name), *line = NULL;
	FILE *f = fopen(full, "r");
	unsigned found = 0, first = 0;
	size_t cap = 0;
	struct err e;

	assert_non_null(f);
	while (getline(&line, &cap, f) > 0) {
		OWN_JSON j = json_parse(line, strlen(line), &e);

		first += json_int_at(j, "seq") == 1;
		audit_check_input(c, "line");
		if (!audit_check_add(c, j))
			found++;
	}
	fclose(f);
	free(line);
	free(full);
	assert_string_equal(audit_check_run(c).text, "");
	assert_int_equal(audit_check_run(c).entries, entries);
	assert_int_equal(found, torn);
	assert_int_equal(first, firsts);
}

/* A newer version writes a member that this one does not know. Its entry keeps its digest. */
static void an_entry_with_an_unknown_member_is_copied_as_it_is(void **state)
{
	struct bench *d = *state;
	const struct audit_entry e = {
		.time = 1790000000000, .who = "drover", .event = AUDIT_LEADER};
	OWN_JSON first = audit_entry_encode(&e);
	OWN_JSON second = audit_entry_encode(&e);
	struct audit_verdict v;
	unsigned torn;
	char *one, *two;

	json_object_set_new(first, "note", json_string("of a newer version"));
	audit_entry_seal(first, 1, AUDIT_GENESIS);
	audit_entry_seal(second, 2, json_str_at(first, "digest"));
	one = json_text(first);
	two = json_text(second);
	bench_must(d, &d->host, "POST", "/apis/" OBJECT_API_VERSION "/auditsegments",
		   arena_printf(d->a,
				"{'apiVersion': '" OBJECT_API_VERSION "', 'kind': 'AuditSegment', "
				"'metadata': {'name': 'audit-00000001'}, 'spec': {'number': 1, "
				"'entries': [%s, %s]}}",
				one, two));
	free(one);
	free(two);
	bench_run(d, 10000);
	assert_file(2, 0);
	/* This version continues the log after it. */
	create(d, 0, 3);
	bench_run(d, 10000);
	v = check((const char *const[]){"audit", NULL}, &torn);
	assert_string_equal(v.text, "");
	assert_true(v.entries >= 5);
	assert_int_equal(torn, 0);
}

static void every_entry_is_a_line_once(void **state)
{
	struct bench *d = *state;

	create(d, 0, 300);
	bench_run(d, 10000);
	assert_file(300, 0);
	create(d, 300, 310);
	bench_run(d, 10000);
	assert_file(310, 0);
	assert_true(audit_file_has(file, 310));
	assert_false(audit_file_has(file, 311));
}

static void a_restart_continues_after_the_last_whole_line(void **state)
{
	struct bench *d = *state;
	struct stat st;

	create(d, 0, 20);
	bench_run(d, 10000);
	audit_file_free(file);
	file = NULL;
	create(d, 20, 30);
	bench_run(d, 10000);
	assert_file(20, 0);
	/* the machine lost power in the middle of a line */
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(truncate(path, st.st_size - 40), 0);
	file = audit_file_new(&d->c);
	bench_run(d, 10000);
	assert_file(30, 1);
}

/* The file is of a log with more entries. */
static void a_log_that_begins_anew_is_in_the_file(void **state)
{
	struct bench *d = *state;
	OWN_JSON j = json_pack("{s:s}", "event", AUDIT_LEADER);
	int64_t seq;
	char *text, *line;
	struct err e;

	audit_entry_seal(j, 5000, AUDIT_GENESIS);
	text = json_text(j);
	line = mem_printf("%s\n", text);
	assert_ok(audit_lines_append(path, line, &e), &e);
	create(d, 0, 20);
	bench_run(d, 10000);
	assert_false(audit_file_has(file, 5001));
	assert_ok(audit_lines_last(path, &seq, &e), &e);
	assert_int_equal(seq, 5000);
	bench_run(d, 120000);
	assert_ok(audit_lines_last(path, &seq, &e), &e);
	assert_int_equal(seq, 20);
	free(line);
	free(text);
}

/* Standard output is a file on a full disk. */
static void standard_output_goes_on_with_a_new_line(void **state)
{
	struct bench *d = *state;
	const int was = dup(STDOUT_FILENO);
	struct rlimit all, small;
	int fd;

	audit_file_free(file);
	d->c.o.audit_log = "-";
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &all);
	small = all;
	small.rlim_cur = 3000;
	fflush(stdout);
	fd = open(path, O_RDWR | O_CREAT | O_APPEND, 0600);
	assert_true(fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0);
	close(fd);
	setrlimit(RLIMIT_FSIZE, &small);
	file = audit_file_new(&d->c);
	create(d, 0, 100);
	bench_run(d, 30000);
	setrlimit(RLIMIT_FSIZE, &all);
	bench_run(d, 600000);
	fflush(stdout);
	dup2(was, STDOUT_FILENO);
	close(was);
	d->c.o.audit_log = path;
	assert_lines("audit", 100, 1, 2);
}

static void a_full_disk_loses_no_entry(void **state)
{
	struct bench *d = *state;
	struct rlimit was, small;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &was);
	small = was;
	small.rlim_cur = 3000;
	setrlimit(RLIMIT_FSIZE, &small);
	create(d, 0, 100);
	bench_run(d, 60000);
	setrlimit(RLIMIT_FSIZE, &was);
	assert_false(audit_file_has(file, 100));
	assert_non_null(
		strstr(audit_file_error(file), " cannot write the file of its audit log: "));
	assert_int_equal(bench_events(&d->host, "AuditFileFails"), 1);
	bench_run(d, 600000);
	assert_null(audit_file_error(file));
	assert_file(100, 1);
}

static void a_renamed_file_is_followed_by_a_new_one(void **state)
{
	struct bench *d = *state;
	char *old = mem_printf("%s.1", path);
	struct audit_verdict v;
	unsigned torn;

	create(d, 0, 20);
	bench_run(d, 10000);
	assert_int_equal(rename(path, old), 0);
	create(d, 20, 30);
	bench_run(d, 10000);
	v = check((const char *const[]){"audit", NULL}, &torn);
	assert_int_equal(v.first, 21);
	v = check((const char *const[]){"audit.1", "audit", NULL}, &torn);
	assert_string_equal(v.text, "");
	assert_int_equal(v.entries, 30);
	free(old);
}

/* While the file cannot be written, no segment is deleted. */
static void segments_wait_for_the_file(void **state)
{
	struct bench *d = *state;
	OWN_JSON first = NULL;
	OWN_JSON gone = NULL;

	assert_int_equal(mkdir(path, 0700), 0);
	for (int i = 0; i < AUDIT_SEGMENTS_KEPT + 2; i++) {
		create(d, i * AUDIT_SEGMENT_ENTRIES, (i + 1) * AUDIT_SEGMENT_ENTRIES);
		bench_run(d, 3000);
	}
	bench_run(d, 30000);
	first = bench_get(d, OBJECT_AUDIT_SEGMENT, "audit-00000001");
	assert_non_null(first);
	assert_int_equal(rmdir(path), 0);
	bench_run(d, 900000);
	assert_file((size_t)(AUDIT_SEGMENTS_KEPT + 2) * AUDIT_SEGMENT_ENTRIES, 0);
	create(d, 0, 1);
	bench_run(d, 30000);
	gone = bench_get(d, OBJECT_AUDIT_SEGMENT, "audit-00000001");
	assert_null(gone);
}

static void only_a_regular_file_is_written(void **state)
{
	char *link = mem_printf("%s.link", path), *pipe = mem_printf("%s.pipe", path);
	int64_t seq;
	struct err e;

	(void)state;
	assert_int_equal(symlink(path, link), 0);
	assert_int_equal(mkfifo(pipe, 0600), 0);
	assert_int_equal(audit_lines_append(link, "x\n", &e), -1);
	assert_int_equal(audit_lines_last(pipe, &seq, &e), -1);
	assert_non_null(strstr(e.text, "not a regular file"));
	assert_int_equal(audit_lines_last(path, &seq, &e), 0);
	assert_int_equal(seq, 0);
	free(link);
	free(pipe);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_entry_is_a_line_once),
		TEST(an_entry_with_an_unknown_member_is_copied_as_it_is),
		TEST(a_restart_continues_after_the_last_whole_line),
		TEST(a_log_that_begins_anew_is_in_the_file),
		TEST(standard_output_goes_on_with_a_new_line),
		TEST(a_full_disk_loses_no_entry),
		TEST(a_renamed_file_is_followed_by_a_new_one),
		TEST(segments_wait_for_the_file),
		TEST(only_a_regular_file_is_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
