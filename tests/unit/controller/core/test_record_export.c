#include "api/annotations.h"
#include "tests/unit/controller/bench.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/audit.h"
#include "controller/core/record_export.h"
#include "controller/core/record_files.h"

#define DAY_MS (24ll * 3600 * 1000)

static char dir[64];

static int setup(void **state)
{
	struct bench *d;

	bench_setup(state);
	d = *state;
	bench_fleet(d);
	bench_keys(d);
	str_copy(dir, sizeof(dir), "/tmp/drover-records-XXXXXX");
	assert_non_null(mkdtemp(dir));
	d->c.leading = d->c.ready = true;
	d->c.o.evidence_dir = dir;
	return 0;
}

static void remove_all(const char *path)
{
	DIR *f = opendir(path);
	struct dirent *en;

	while (f && (en = readdir(f)) != NULL)
		if (!str_eq(en->d_name, ".") && !str_eq(en->d_name, "..")) {
			char *sub = mem_printf("%s/%s", path, en->d_name);

			if (unlink(sub) < 0)
				remove_all(sub);
			free(sub);
		}
	if (f)
		closedir(f);
	rmdir(path);
}

static int teardown(void **state)
{
	struct bench *d = *state;

	d->c.o.evidence_dir = NULL;
	d->c.leading = d->c.ready = false;
	remove_all(dir);
	return bench_teardown(state);
}

/* Stores a good WipeRecord of the machine, signed by the agent and by drover. held: the record has
 * the finalizer that keeps it until it is exported (as if created with evidence_dir set). */
static void put_record(struct bench *d, const char *machine, int64_t tenancy, int64_t end,
		       bool held)
{
	static int64_t success[] = {0};
	static struct evidence_device drive = {.type = "NVMe",
					       .wwn = "eui.1",
					       .level = WIPE_PURGE,
					       .technique = "SanitizeCryptoErase",
					       .raw_status = {success, 1},
					       .canaries = {.planted = 64},
					       .reads = {.clean = 10512}};
	OWN(arena) a = arena_new();
	OWN(crypto_key) agent = crypto_key_new();
	struct evidence ev = {.machine = {.name = machine, .uid = "u"},
			      .tenancy = tenancy,
			      .attempt = 1,
			      .start_time = end,
			      .end_time = end,
			      .verdict = WIPE_PURGE,
			      .inventory = {.expected = 1, .seen = 1},
			      .devices = {&drive, 1}};
	char *one = evidence_sign(&ev, agent),
	     *both = evidence_countersign(one, keys_evidence(d->c.keys), &d->e), *text;
	struct wipe_record r = {.spec = {.evidence = ev, .envelope = both}};
	OWN_JSON o = fields_encode(object_kinds[OBJECT_WIPE_RECORD].fields, &r);

	json_object_set_new(o, "kind", json_string("WipeRecord"));
	json_object_set_new(
		o, "metadata",
		json_pack("{s:s, s:{s:s}}", "name",
			  arena_printf(a, "%s-%lld-1", strchr(machine, '/') ? "odd" : machine,
				       (long long)tenancy),
			  "labels", "drover.dev/machine", strchr(machine, '/') ? "odd" : machine));
	if (held)
		json_object_set_new(json_at(o, "metadata"), "finalizers",
				    json_pack("[s]", FINALIZER_WIPE_RECORD));
	text = json_text(o);
	bench_put(d, text);
	free(text);
	free(both);
	free(one);
}

static bool is_held(struct bench *d, const char *name)
{
	OWN_JSON o = bench_get(d, OBJECT_WIPE_RECORD, name);

	assert_non_null(o);
	return json_array_size(json_at(o, "metadata", "finalizers")) > 0;
}

static bool stands(struct bench *d, const char *name)
{
	OWN_JSON o = bench_get(d, OBJECT_WIPE_RECORD, name);

	return o && !json_at(o, "metadata", "deletionTimestamp");
}

/* Returns the text of a file in the machine's directory; the caller frees it. NULL: no such
 * file. */
static char *file(const char *machine, const char *name)
{
	char *folder = mem_printf("%s/%s", dir, machine), *text;
	struct err e;

	text = record_files_read(folder, name, &e);
	free(folder);
	return text;
}

static bool has_file(const char *machine, const char *name)
{
	char *text = file(machine, name);
	bool has = text != NULL;

	free(text);
	return has;
}

static void a_record_is_written_and_then_let_go(void **state)
{
	struct bench *d = *state;
	struct record_export *r;
	char *text, *want, *path;
	struct audit *a;
	struct stat st;

	put_record(d, "m-1", 41, loop_wall(d->l), true);
	r = record_export_new(&d->c);
	bench_run(d, 10000);
	text = file("m-1", "m-1-41-1.json");
	assert_non_null(text);
	want = record_export_text(CTX_GET(&d->c, OBJECT_WIPE_RECORD, wipe_record, "m-1-41-1"));
	assert_string_equal(text, want);
	assert_false(is_held(d, "m-1-41-1"));
	path = mem_printf("%s/m-1/m-1-41-1.json", dir);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
	free(path);
	free(want);

	/* An auditor can verify the exported files. */
	a = audit_new();
	want = record_files_read(dir, "keys.json", &d->e);
	/* The current key, and the same key in the list of all keys. */
	assert_int_equal(audit_keys(a, want), 2);
	audit_add(a, "file", text, strlen(text));
	audit_run(a, NULL);
	assert_int_equal(audit_count(a, AUDIT_PROVED), 1);
	audit_free(a);
	free(want);
	free(text);
	record_export_free(r);
}

static void a_machine_may_be_called_as_the_file_of_keys_is(void **state)
{
	struct bench *d = *state;
	struct record_export *r;
	char *text;

	put_record(d, "keys.json", 41, loop_wall(d->l), true);
	r = record_export_new(&d->c);
	bench_run(d, 10000);
	assert_true(has_file("keys.json_", "keys.json-41-1.json"));
	assert_false(is_held(d, "keys.json-41-1"));
	text = record_files_read(dir, "keys.json", &d->e);
	assert_non_null(text);
	free(text);
	record_export_free(r);
}

static void a_record_that_comes_later_is_written_too(void **state)
{
	struct bench *d = *state;
	struct record_export *r = record_export_new(&d->c);

	bench_run(d, 10000);
	put_record(d, "m-1", 41, loop_wall(d->l), true);
	record_export_kick(r, "m-1-41-1");
	bench_run(d, 5000);
	assert_true(has_file("m-1", "m-1-41-1.json"));
	assert_false(is_held(d, "m-1-41-1"));
	record_export_free(r);
}

static void who_does_not_lead_writes_nothing(void **state)
{
	struct bench *d = *state;
	struct record_export *r = record_export_new(&d->c);

	d->c.leading = false;
	put_record(d, "m-1", 41, loop_wall(d->l), true);
	bench_run(d, 60000);
	assert_false(has_file("m-1", "m-1-41-1.json"));
	assert_true(is_held(d, "m-1-41-1"));
	record_export_free(r);
}

static void a_file_is_never_written_over(void **state)
{
	struct bench *d = *state;
	struct record_export *r;
	char *folder = mem_printf("%s/m-1", dir), *text;

	put_record(d, "m-1", 40, loop_wall(d->l), true);
	put_record(d, "m-1", 41, loop_wall(d->l), true);
	text = record_export_text(CTX_GET(&d->c, OBJECT_WIPE_RECORD, wipe_record, "m-1-40-1"));
	assert_ok(record_files_keep(dir, "m-1", "m-1-40-1.json", text, &d->e), &d->e);
	free(text);
	assert_ok(record_files_keep(dir, "m-1", "m-1-41-1.json", "another\n", &d->e), &d->e);
	r = record_export_new(&d->c);
	bench_run(d, 30000);
	/* The file already has the same text, so the record counts as exported. */
	assert_false(is_held(d, "m-1-40-1"));
	assert_true(is_held(d, "m-1-41-1"));
	text = file("m-1", "m-1-41-1.json");
	assert_string_equal(text, "another\n");
	free(text);
	assert_int_equal(bench_events(&d->host, "RecordFileDiffers"), 1);
	/* An operator moves away the file with the different text. */
	text = mem_printf("%s/m-1-41-1.json", folder);
	unlink(text);
	free(text);
	bench_run(d, 1300000);
	assert_false(is_held(d, "m-1-41-1"));
	free(folder);
	record_export_free(r);
}

static void a_disk_that_takes_nothing_loses_nothing(void **state)
{
	struct bench *d = *state;
	char *blocked = mem_printf("%s/m-1", dir);
	FILE *f = fopen(blocked, "w"); /* A file blocks the path of the machine's directory. */
	struct record_export *r;

	fclose(f);
	put_record(d, "m-1", 41, loop_wall(d->l), true);
	put_record(d, "m-2", 7, loop_wall(d->l), true);
	r = record_export_new(&d->c);
	bench_run(d, 600000);
	assert_true(is_held(d, "m-1-41-1"));
	assert_false(is_held(d, "m-2-7-1")); /* Records of other machines are still exported. */
	assert_true(bench_events(&d->host, "RecordNotExported") >= 1);
	unlink(blocked);
	bench_run(d, 600000);
	assert_false(is_held(d, "m-1-41-1"));
	assert_true(has_file("m-1", "m-1-41-1.json"));
	free(blocked);
	record_export_free(r);
}

/* A limit on the size of files (RLIMIT_FSIZE) simulates a disk that becomes full in the middle of a
 * file. */
static void a_full_disk_leaves_no_half_file(void **state)
{
	struct bench *d = *state;
	struct rlimit was, small;
	struct record_export *r;
	DIR *f;
	char *folder = mem_printf("%s/m-1", dir);
	struct dirent *en;

	put_record(d, "m-1", 41, loop_wall(d->l), true);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &was);
	small = was;
	small.rlim_cur = 300;
	r = record_export_new(&d->c);
	setrlimit(RLIMIT_FSIZE, &small);
	bench_run(d, 60000);
	setrlimit(RLIMIT_FSIZE, &was);
	assert_true(is_held(d, "m-1-41-1"));
	f = opendir(folder);
	assert_non_null(f);
	while ((en = readdir(f)) != NULL)
		assert_true(en->d_name[0] == '.' && en->d_name[1] != 'm');
	closedir(f);
	assert_true(bench_events(&d->host, "RecordNotExported") >= 1);
	bench_run(d, 600000);
	assert_false(is_held(d, "m-1-41-1"));
	free(folder);
	record_export_free(r);
}

/* Two replicas act as leader at the same time and write to the same directory. One writes the file,
 * the other gets an error. */
static void of_two_that_write_at_once_one_is_whole_and_the_other_told(void **state)
{
	size_t len = 1 << 20;
	pid_t pids[2];
	int status;

	(void)state;
	for (int k = 0; k < 2; k++) {
		pids[k] = fork();
		assert_true(pids[k] >= 0);
		if (pids[k] == 0) {
			char *mine = mem_alloc(len + 1), name[32], *is;
			struct err e;

			memset(mine, 'a' + k, len);
			mine[len] = '\0';
			for (int i = 0; i < 60; i++) {
				int rc;

				str_format(name, sizeof(name), "r-%d.json", i);
				rc = record_files_keep(dir, "m-1", name, mine, &e);
				is = file("m-1", name);
				if (!is || strlen(is) != len || is[0] != is[len - 1] ||
				    (rc == 0) != (is[0] == mine[0]) ||
				    (rc < 0 && e.kind != ERR_CONFLICT))
					_exit(1);
				free(is);
			}
			_exit(0);
		}
	}
	for (int k = 0; k < 2; k++) {
		assert_int_equal(waitpid(pids[k], &status, 0), pids[k]);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
	}
}

/* Another program with write access to the directory must not be able to redirect drover's files or
 * to block drover. */
static void what_is_no_plain_file_is_refused_and_left_alone(void **state)
{
	struct bench *d = *state;
	char *folder = mem_printf("%s/m-1", dir), *pipe_ = mem_printf("%s/m-1/m-1-41-1.json", dir),
	     *link_ = mem_printf("%s/m-1/m-1-40-1.json", dir), *out = mem_printf("%s/m-2", dir),
	     *elsewhere = mem_printf("%s/elsewhere", dir);
	struct record_export *r;

	mkdir(folder, 0755);
	mkdir(elsewhere, 0755);
	assert_int_equal(mkfifo(pipe_, 0600), 0);
	assert_int_equal(symlink("/etc/hostname", link_), 0);
	assert_int_equal(symlink(elsewhere, out), 0);
	put_record(d, "m-1", 40, loop_wall(d->l), true);
	put_record(d, "m-1", 41, loop_wall(d->l), true);
	put_record(d, "m-1", 42, loop_wall(d->l), true);
	put_record(d, "m-2", 1, loop_wall(d->l), true);
	alarm(60); /* Opening a pipe without a writer would block; then the alarm ends the test. */
	r = record_export_new(&d->c);
	bench_run(d, 60000);
	alarm(0);
	assert_true(is_held(d, "m-1-40-1") && is_held(d, "m-1-41-1") && is_held(d, "m-2-1-1"));
	/* The record whose path is free is exported without delay. */
	assert_false(is_held(d, "m-1-42-1"));
	assert_false(has_file("elsewhere", "m-2-1-1.json"));
	record_export_free(r);
	free(folder);
	free(pipe_);
	free(link_);
	free(out);
	free(elsewhere);
}

static void a_name_with_a_slash_leads_nowhere(void **state)
{
	struct bench *d = *state;
	struct record_export *r;

	put_record(d, "../../../tmp/drover-escaped", 1, loop_wall(d->l), true);
	assert_non_null(CTX_GET(&d->c, OBJECT_WIPE_RECORD, wipe_record, "odd-1-1"));
	r = record_export_new(&d->c);
	bench_run(d, 60000);
	assert_int_equal(access("/tmp/drover-escaped", F_OK), -1);
	assert_true(is_held(d, "odd-1-1"));
	assert_int_equal(record_files_keep(dir, "..", "x", "x", &d->e), -1);
	assert_int_equal(record_files_keep(dir, "a", "b/c", "x", &d->e), -1);
	assert_int_equal(record_files_keep(dir, "a", ".x", "x", &d->e), -1);
	record_export_free(r);
}

/* --- how long records stay -------------------------------------------------------------------- */

static void the_newest_three_of_each_machine_stay(void **state)
{
	struct bench *d = *state;
	struct record_export *r;

	for (int64_t t = 36; t <= 41; t++)
		put_record(d, "m-1", t, loop_wall(d->l), true);
	for (int64_t t = 1; t <= 3; t++)
		put_record(d, "m-2", t, loop_wall(d->l), true);
	/* Record 36 is old, but it is the one that proves m-1 clean (lastWipe). A different file
	 * blocks the export of record 37. Both records stay. */
	bench_status(d, OBJECT_MACHINE, "m-1", "{'lastWipe': {'record': 'm-1-36-1'}}");
	assert_ok(record_files_keep(dir, "m-1", "m-1-37-1.json", "another\n", &d->e), &d->e);
	r = record_export_new(&d->c);
	bench_run(d, 700000);
	for (int64_t t = 36; t <= 41; t++) {
		char name[32];

		str_format(name, sizeof(name), "m-1-%lld-1", (long long)t);
		if (stands(d, name) != (t != 38))
			fail_msg("%s", name);
	}
	assert_true(stands(d, "m-2-1-1"));
	assert_true(has_file("m-1", "m-1-38-1.json"));
	record_export_free(r);
}

static void without_an_export_they_stay_400_days(void **state)
{
	struct bench *d = *state;
	int64_t now = loop_wall(d->l);
	struct record_export *r;

	d->c.o.evidence_dir = NULL;
	put_record(d, "m-1", 38, now, false); /* lastWipe names this record. */
	/* The finalizer waits for an export, which is no longer configured. */
	put_record(d, "m-1", 39, now, true);
	put_record(d, "m-1", 40, now, false);
	put_record(d, "gone", 7, now, false); /* The newest record of its machine. */
	loop_sim_set_clock(d->l, 2 * DAY_MS);
	put_record(d, "m-1", 41, 0, false); /* Signed by an agent whose clock was at 1970. */
	bench_status(d, OBJECT_MACHINE, "m-1", "{'lastWipe': {'record': 'm-1-38-1'}}");
	/* Advancing drover's own clock, which may be wrong, deletes nothing: only newer records
	 * show that time passed. */
	r = record_export_new(&d->c);
	loop_sim_set_clock(d->l, 9000 * DAY_MS);
	bench_run(d, 1300000);
	assert_true(stands(d, "m-1-40-1") && stands(d, "m-1-41-1"));
	loop_sim_set_clock(d->l, -9000 * DAY_MS + 399 * DAY_MS);
	put_record(d, "m-1", 42, loop_wall(d->l), false);
	bench_run(d, 1300000);
	assert_true(stands(d, "m-1-38-1"));
	assert_true(stands(d, "m-1-39-1"));
	assert_false(stands(d, "m-1-40-1"));
	assert_true(stands(d, "m-1-41-1"));
	assert_true(stands(d, "gone-7-1"));
	loop_sim_set_clock(d->l, 2 * DAY_MS);
	put_record(d, "m-2", 1, loop_wall(d->l), false);
	bench_run(d, 1300000);
	assert_false(stands(d, "m-1-41-1"));
	assert_true(stands(d, "m-1-42-1"));
	record_export_free(r);
}

/* Deletes the definition of pools, which a finalizer holds, and starts to watch definitions. */
static void terminate_definition(struct bench *d)
{
	const char *crd =
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/nodepools." OBJECT_GROUP;

	bench_must(d, &d->host, "PATCH", crd, "{'metadata': {'finalizers': ['example.com/x']}}");
	bench_must(d, &d->host, "DELETE", crd, NULL);
	ctx_watch_crds(&d->c);
	bench_run(d, 1000);
	assert_true(ctx_crds_terminating(&d->c));
}

/* A record created with an evidence_dir, in a drover that runs without one. */
static void without_an_export_only_an_operator_deletes_a_record(void **state)
{
	struct bench *d = *state;
	struct record_export *r;

	d->c.o.evidence_dir = NULL;
	put_record(d, "m-1", 41, 1, true);
	put_record(d, "m-1", 42, 1, true);
	r = record_export_new(&d->c);
	bench_run(d, 30000);
	assert_true(is_held(d, "m-1-41-1"));
	bench_must(d, &d->host, "DELETE", "/apis/" OBJECT_API_VERSION "/wiperecords/m-1-41-1",
		   NULL);
	bench_run(d, 1000);
	record_export_kick(r, "m-1-41-1");
	bench_run(d, 30000);
	OWN_JSON gone = bench_get(d, OBJECT_WIPE_RECORD, "m-1-41-1");
	assert_null(gone);
	assert_true(is_held(d, "m-1-42-1"));

	/* A user deletes the definitions: no operator has deleted the record. */
	terminate_definition(d);
	bench_must(d, &d->host, "DELETE", "/apis/" OBJECT_API_VERSION "/wiperecords/m-1-42-1",
		   NULL);
	bench_run(d, 1000);
	record_export_kick(r, "m-1-42-1");
	bench_run(d, 30000);
	assert_true(is_held(d, "m-1-42-1"));
	record_export_free(r);
	kube_cache_free(d->c.crds);
	d->c.crds = NULL;
}

static void old_keys_stay_in_the_file(void **state)
{
	struct bench *d = *state;
	struct record_export *r;
	char *text;
	size_t n;

	assert_ok(record_files_replace(dir, "keys.json",
				       "{\"current\":\"ed25519:old\",\"keys\":[\"ed25519:old\"]}",
				       &d->e),
		  &d->e);
	r = record_export_new(&d->c);
	bench_run(d, 10000);
	text = record_files_read(dir, "keys.json", &d->e);
	assert_non_null(strstr(text, "\"ed25519:old\""));
	assert_non_null(strstr(text, keys_evidence_publics(d->c.keys, &n)[0]));
	assert_null(strstr(text, "\"current\":\"ed25519:old\""));
	free(text);
	record_export_free(r);
}

/* The existing file may come from an earlier version. Auditors verify records with the keys in it,
 * so drover must not replace it. */
static void keys_that_cannot_be_read_are_not_written_over(void **state)
{
	static const char torn[] = "{\"keys\":[\"ed25519:abc";
	struct bench *d = *state;
	char *path = mem_printf("%s/keys.json", dir), *text;
	struct record_export *r;

	assert_ok(record_files_replace(dir, "keys.json", torn, &d->e), &d->e);
	put_record(d, "m-1", 41, loop_wall(d->l), true);
	r = record_export_new(&d->c);
	bench_run(d, 60000);
	text = record_files_read(dir, "keys.json", &d->e);
	assert_string_equal(text, torn);
	free(text);
	/* Records are exported even though keys.json cannot be written. */
	assert_false(is_held(d, "m-1-41-1"));
	unlink(path);
	assert_int_equal(symlink("elsewhere.json", path), 0);
	bench_run(d, 700000);
	/* The link was not followed: its target was not created. */
	assert_int_equal(access(path, F_OK), -1);
	unlink(path);
	bench_run(d, 700000);
	text = record_files_read(dir, "keys.json", &d->e);
	assert_non_null(text);
	free(text);
	free(path);
	record_export_free(r);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_record_is_written_and_then_let_go),
		T(a_machine_may_be_called_as_the_file_of_keys_is),
		T(a_record_that_comes_later_is_written_too),
		T(who_does_not_lead_writes_nothing),
		T(a_file_is_never_written_over),
		T(a_disk_that_takes_nothing_loses_nothing),
		T(a_full_disk_leaves_no_half_file),
		T(of_two_that_write_at_once_one_is_whole_and_the_other_told),
		T(what_is_no_plain_file_is_refused_and_left_alone),
		T(keys_that_cannot_be_read_are_not_written_over),
		T(a_name_with_a_slash_leads_nowhere),
		T(the_newest_three_of_each_machine_stay),
		T(without_an_export_they_stay_400_days),
		T(without_an_export_only_an_operator_deletes_a_record),
		T(old_keys_stay_in_the_file),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
