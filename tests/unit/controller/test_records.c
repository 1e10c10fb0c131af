#include "tests/unit/controller/desk.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/audit.h"
#include "controller/records.h"
#include "controller/records_file.h"

#define DAY_MS (24ll * 3600 * 1000)

static char dir[64];

static int setup(void **state)
{
	struct desk *d;

	desk_setup(state);
	d = *state;
	desk_fleet(d);
	desk_keys(d);
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
	struct desk *d = *state;

	d->c.o.evidence_dir = NULL;
	d->c.leading = d->c.ready = false;
	remove_all(dir);
	return desk_teardown(state);
}

/* A record of that machine, good and signed by both; held: as it is created with an evidence_dir. */
static void put_record(struct desk *d, const char *machine, int64_t tenancy, int64_t end, bool held)
{
	static struct evidence_device drive = {
		.type = "NVMe", .wwn = "eui.1", .level = WIPE_PURGE, .technique = "Overwrite"};
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
				    json_pack("[s]", RECORDS_FINALIZER));
	text = json_text(o);
	desk_put(d, text);
	free(text);
	free(both);
	free(one);
}

static bool is_held(struct desk *d, const char *name)
{
	OWN_JSON o = desk_get(d, OBJECT_WIPE_RECORD, name);

	assert_non_null(o);
	return json_array_size(json_at(o, "metadata", "finalizers")) > 0;
}

static bool stands(struct desk *d, const char *name)
{
	OWN_JSON o = desk_get(d, OBJECT_WIPE_RECORD, name);

	return o && !json_at(o, "metadata", "deletionTimestamp");
}

/* NULL: there is none. */
static char *file(const char *machine, const char *name)
{
	char *folder = mem_printf("%s/%s", dir, machine), *text;
	struct err e;

	text = records_file_read(folder, name, &e);
	free(folder);
	return text;
}

static bool has_file(const char *machine, const char *name)
{
	char *text = file(machine, name);

	free(text);
	return text;
}

static void a_record_is_written_and_then_let_go(void **state)
{
	struct desk *d = *state;
	struct records *r;
	char *text, *want, *path;
	struct audit *a;
	struct stat st;

	put_record(d, "m-1", 41, loop_wall(d->l), true);
	r = records_new(&d->c);
	desk_run(d, 10000);
	text = file("m-1", "m-1-41-1.json");
	assert_non_null(text);
	want = records_text(CONTROLLER_GET(&d->c, OBJECT_WIPE_RECORD, wipe_record, "m-1-41-1"));
	assert_string_equal(text, want);
	assert_false(is_held(d, "m-1-41-1"));
	path = mem_printf("%s/m-1/m-1-41-1.json", dir);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
	free(path);
	free(want);

	/* What is there is enough for an auditor. */
	a = audit_new();
	want = records_file_read(dir, "keys.json", &d->e);
	assert_int_equal(audit_keys(a, want), 2); /* current, and in the list */
	audit_add(a, "file", text, strlen(text));
	audit_run(a, NULL);
	assert_int_equal(audit_count(a, AUDIT_PROVED), 1);
	audit_free(a);
	free(want);
	free(text);
	records_free(r);
}

static void a_record_that_comes_later_is_written_too(void **state)
{
	struct desk *d = *state;
	struct records *r = records_new(&d->c);

	desk_run(d, 10000);
	put_record(d, "m-1", 41, loop_wall(d->l), true);
	records_kick(r, "m-1-41-1");
	desk_run(d, 5000);
	assert_true(has_file("m-1", "m-1-41-1.json"));
	assert_false(is_held(d, "m-1-41-1"));
	records_free(r);
}

static void who_does_not_lead_writes_nothing(void **state)
{
	struct desk *d = *state;
	struct records *r = records_new(&d->c);

	d->c.leading = false;
	put_record(d, "m-1", 41, loop_wall(d->l), true);
	desk_run(d, 60000);
	assert_false(has_file("m-1", "m-1-41-1.json"));
	assert_true(is_held(d, "m-1-41-1"));
	records_free(r);
}

static void a_file_is_never_written_over(void **state)
{
	struct desk *d = *state;
	struct records *r;
	char *folder = mem_printf("%s/m-1", dir), *text;

	put_record(d, "m-1", 40, loop_wall(d->l), true);
	put_record(d, "m-1", 41, loop_wall(d->l), true);
	text = records_text(CONTROLLER_GET(&d->c, OBJECT_WIPE_RECORD, wipe_record, "m-1-40-1"));
	assert_ok(records_file_keep(dir, "m-1", "m-1-40-1.json", text, &d->e), &d->e);
	free(text);
	assert_ok(records_file_keep(dir, "m-1", "m-1-41-1.json", "another\n", &d->e), &d->e);
	r = records_new(&d->c);
	desk_run(d, 30000);
	assert_false(is_held(d, "m-1-40-1")); /* the same */
	assert_true(is_held(d, "m-1-41-1"));
	text = file("m-1", "m-1-41-1.json");
	assert_string_equal(text, "another\n");
	free(text);
	assert_int_equal(desk_events(&d->host, "RecordFileDiffers"), 1);
	/* Somebody moves it away. */
	text = mem_printf("%s/m-1-41-1.json", folder);
	unlink(text);
	free(text);
	desk_run(d, 1300000);
	assert_false(is_held(d, "m-1-41-1"));
	free(folder);
	records_free(r);
}

static void a_disk_that_takes_nothing_loses_nothing(void **state)
{
	struct desk *d = *state;
	char *blocked = mem_printf("%s/m-1", dir);
	FILE *f = fopen(blocked, "w"); /* where its folder would be */
	struct records *r;

	fclose(f);
	put_record(d, "m-1", 41, loop_wall(d->l), true);
	put_record(d, "m-2", 7, loop_wall(d->l), true);
	r = records_new(&d->c);
	desk_run(d, 600000);
	assert_true(is_held(d, "m-1-41-1"));
	assert_false(is_held(d, "m-2-7-1")); /* others go on */
	assert_true(desk_events(&d->host, "RecordNotExported") >= 1);
	unlink(blocked);
	desk_run(d, 600000);
	assert_false(is_held(d, "m-1-41-1"));
	assert_true(has_file("m-1", "m-1-41-1.json"));
	free(blocked);
	records_free(r);
}

/* The limit on the size of files stands for a disk that is full in the middle of one. */
static void a_full_disk_leaves_no_half_file(void **state)
{
	struct desk *d = *state;
	struct rlimit was, small;
	struct records *r;
	DIR *f;
	char *folder = mem_printf("%s/m-1", dir);
	struct dirent *en;

	put_record(d, "m-1", 41, loop_wall(d->l), true);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &was);
	small = was;
	small.rlim_cur = 300;
	r = records_new(&d->c);
	setrlimit(RLIMIT_FSIZE, &small);
	desk_run(d, 60000);
	setrlimit(RLIMIT_FSIZE, &was);
	assert_true(is_held(d, "m-1-41-1"));
	f = opendir(folder);
	assert_non_null(f);
	while ((en = readdir(f)) != NULL)
		assert_true(en->d_name[0] == '.' && en->d_name[1] != 'm');
	closedir(f);
	assert_true(desk_events(&d->host, "RecordNotExported") >= 1);
	desk_run(d, 600000);
	assert_false(is_held(d, "m-1-41-1"));
	free(folder);
	records_free(r);
}

static void a_name_with_a_slash_leads_nowhere(void **state)
{
	struct desk *d = *state;
	struct records *r;

	put_record(d, "../../../tmp/drover-escaped", 1, loop_wall(d->l), true);
	assert_non_null(CONTROLLER_GET(&d->c, OBJECT_WIPE_RECORD, wipe_record, "odd-1-1"));
	r = records_new(&d->c);
	desk_run(d, 60000);
	assert_int_equal(access("/tmp/drover-escaped", F_OK), -1);
	assert_true(is_held(d, "odd-1-1"));
	assert_int_equal(records_file_keep(dir, "..", "x", "x", &d->e), -1);
	assert_int_equal(records_file_keep(dir, "a", "b/c", "x", &d->e), -1);
	assert_int_equal(records_file_keep(dir, "a", ".x", "x", &d->e), -1);
	records_free(r);
}

/* --- retention -------------------------------------------------------------------------------------- */

static void the_newest_three_of_each_machine_stay(void **state)
{
	struct desk *d = *state;
	struct records *r;

	for (int64_t t = 36; t <= 41; t++)
		put_record(d, "m-1", t, loop_wall(d->l), true);
	for (int64_t t = 1; t <= 3; t++)
		put_record(d, "m-2", t, loop_wall(d->l), true);
	/* The machine's clean status rests on an old one; and one could not be exported. */
	desk_status(d, OBJECT_MACHINE, "m-1", "{'lastWipe': {'record': 'm-1-36-1'}}");
	assert_ok(records_file_keep(dir, "m-1", "m-1-37-1.json", "another\n", &d->e), &d->e);
	r = records_new(&d->c);
	desk_run(d, 700000);
	for (int64_t t = 36; t <= 41; t++) {
		char name[32];

		str_format(name, sizeof(name), "m-1-%lld-1", (long long)t);
		if (stands(d, name) != (t != 38))
			fail_msg("%s", name);
	}
	assert_true(stands(d, "m-2-1-1"));
	assert_true(has_file("m-1", "m-1-38-1.json"));
	records_free(r);
}

static void without_an_export_they_stay_400_days(void **state)
{
	struct desk *d = *state;
	int64_t now = loop_wall(d->l);
	struct records *r;

	d->c.o.evidence_dir = NULL;
	put_record(d, "m-1", 38, now - 401 * DAY_MS, false); /* the machine rests on it */
	put_record(d, "m-1", 39, now - 401 * DAY_MS, true);  /* waits for an export that is gone */
	put_record(d, "m-1", 40, now - 401 * DAY_MS, false);
	put_record(d, "m-1", 41, now - 399 * DAY_MS, false);
	put_record(d, "m-1", 42, now, false);
	put_record(d, "gone", 7, now - 900 * DAY_MS, false); /* the newest of its machine */
	desk_status(d, OBJECT_MACHINE, "m-1", "{'lastWipe': {'record': 'm-1-38-1'}}");
	r = records_new(&d->c);
	desk_run(d, 30000);
	assert_true(stands(d, "m-1-38-1"));
	assert_true(stands(d, "m-1-39-1"));
	assert_false(stands(d, "m-1-40-1"));
	assert_true(stands(d, "m-1-41-1"));
	assert_true(stands(d, "gone-7-1"));
	desk_run(d, 2 * DAY_MS);
	assert_false(stands(d, "m-1-41-1"));
	assert_true(stands(d, "m-1-42-1"));
	records_free(r);
}

static void old_keys_stay_in_the_file(void **state)
{
	struct desk *d = *state;
	struct records *r;
	char *text;
	size_t n;

	assert_ok(records_file_replace(dir, "keys.json",
				       "{\"current\":\"ed25519:old\",\"keys\":[\"ed25519:old\"]}",
				       &d->e),
		  &d->e);
	r = records_new(&d->c);
	desk_run(d, 10000);
	text = records_file_read(dir, "keys.json", &d->e);
	assert_non_null(strstr(text, "\"ed25519:old\""));
	assert_non_null(strstr(text, keys_evidence_publics(d->c.keys, &n)[0]));
	assert_null(strstr(text, "\"current\":\"ed25519:old\""));
	free(text);
	records_free(r);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_record_is_written_and_then_let_go),
		T(a_record_that_comes_later_is_written_too),
		T(who_does_not_lead_writes_nothing),
		T(a_file_is_never_written_over),
		T(a_disk_that_takes_nothing_loses_nothing),
		T(a_full_disk_leaves_no_half_file),
		T(a_name_with_a_slash_leads_nowhere),
		T(the_newest_three_of_each_machine_stay),
		T(without_an_export_they_stay_400_days),
		T(old_keys_stay_in_the_file),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
