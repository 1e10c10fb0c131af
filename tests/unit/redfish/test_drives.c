#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/str.h"
#include "tests/unit/redfish/bmc_rig.h"

/* The reported list of drives. */
static struct {
	char text[4096];
	size_t n;
	bool more, lacks, simple;
	/* HTTP status with which the list was refused, if lacks. */
	int code;
} got;

static void on_drives(const struct redfish_drives *d, const struct err *e, void *arg)
{
	struct bmc_rig *f = arg;

	bmc_answered(f, e);
	got.text[0] = '\0';
	got.more = d && d->more;
	got.lacks = d && d->lacks;
	got.simple = d && d->simple;
	got.code = got.lacks ? d->lacks->code : 0;
	got.n = d ? d->n : 0;
	for (size_t i = 0; d && i < d->n; i++)
		str_format(got.text + strlen(got.text), sizeof(got.text) - strlen(got.text),
			   "%s|%s|%s|%s|%lld%s%s;", str_or(d->v[i].serial, "-"),
			   str_or(d->v[i].model, "-"), str_or(d->v[i].durable, "-"),
			   str_or(d->v[i].slot, "-"), (long long)d->v[i].bytes,
			   d->v[i].volume ? "|" : "", d->v[i].volume ? d->v[i].volume->name : "");
}

static enum err_kind ask(struct bmc_rig *f)
{
	redfish_read_drives(bmc_client(f), NULL, on_drives, f);
	return bmc_wait_answer(f);
}

static unsigned ask_all(struct bmc_rig *f)
{
	unsigned calls = 0;

	do {
		assert_done(ask(f));
		assert_true(++calls < 200);
	} while (got.more);
	return calls;
}

static void drives_are_listed_with_what_tells_them_apart(void **state)
{
	static const struct fake_drive drives[] = {
		{"  S1 ", "CM6", "0025389A210108DA", "bay 1", NULL, 1000, NULL, NULL, NULL, 0},
		{"S2", NULL, NULL, NULL, "Absent", 1000, NULL, NULL, NULL, 0},
		{"S3", "PM9", NULL, NULL, "Disabled", 2000, "OS", "naa.6", "RAID1", 900},
		{"S4", "PM9", NULL, NULL, NULL, 2000, "Bay 4", NULL, "None", 2000},
		{"bad\nserial", "PM9", NULL, NULL, NULL, -5, NULL, NULL, NULL, 0},
	};
	struct bmc_rig *f = *state;

	f->bmc.drives = drives;
	f->bmc.ndrives = 5;
	(void)ask_all(f);
	assert_string_equal(got.text, "S1|CM6|0025389A210108DA|bay 1|1000;S3|PM9|-|-|2000|OS;"
				      "S4|PM9|-|-|2000;-|PM9|-|-|0;");
}

static void a_bmc_that_lists_none_is_no_error(void **state)
{
	struct bmc_rig *f = *state;

	assert_int_equal(ask_all(f), 1);
	assert_int_equal(got.n, 0);
}

static void models_and_sizes_are_taken_where_there_is_nothing_else(void **state)
{
	static const struct fake_drive drives[] = {
		{NULL, "KCM6", NULL, "NVMe 1", NULL, 3840, NULL, NULL, NULL, 0},
		{NULL, "Backplane", NULL, NULL, NULL, 0, NULL, NULL, NULL, 0},
		{NULL, "KCM6", NULL, "NVMe 2", NULL, 3840, NULL, NULL, NULL, 0},
	};
	struct bmc_rig *f = *state;

	f->bmc.drives = drives;
	f->bmc.ndrives = 3;
	f->bmc.simple_storage = true;
	(void)ask_all(f);
	assert_string_equal(got.text, "-|KCM6|-|NVMe 1|3840;-|KCM6|-|NVMe 2|3840;");
}

/* Each call ends before its limit, and other calls run in between. */
static void a_long_list_takes_several_calls(void **state)
{
	static struct fake_drive drives[64];
	static char serial[64][16];
	struct bmc_rig *f = *state;

	for (int i = 0; i < 64; i++) {
		str_format(serial[i], sizeof(serial[i]), "SERIAL%d", i);
		drives[i].serial = serial[i];
	}
	f->bmc.drives = drives;
	f->bmc.ndrives = 64;
	assert_done(ask(f));
	assert_true(got.more);
	assert_done(bmc_read_system(f));
	assert_true(ask_all(f) > 10);
	assert_int_equal(got.n, 64);
	assert_true(strstr(got.text, "SERIAL0|") < strstr(got.text, "SERIAL63|"));
}

static void what_is_not_served_is_passed_over_and_what_is_not_answered_is_asked_again(void **state)
{
	static const struct fake_drive drives[] = {{.serial = "S1"}, {.serial = "S2"}};
	struct bmc_rig *f = *state;
	struct bmc_selective s = {&f->bmc, "GET /redfish/v1/Systems/1/Storage/0/Drives/1", 404,
				  NULL};

	f->bmc.drives = drives;
	f->bmc.ndrives = 2;
	f->bmc.tamper = bmc_select_tamper;
	f->bmc.tamper_arg = &s;
	(void)ask_all(f);
	assert_string_equal(got.text, "S2|-|-|-|0;");
	assert_false(got.lacks); /* The drive was deleted since it was listed. */
	s.status = 500;
	(void)ask_all(f);
	assert_string_equal(got.text, "S2|-|-|-|0;");
	assert_true(got.lacks);
	s.status = 503;
	assert_int_equal(ask(f), ERR_UNAVAILABLE);
	assert_int_equal(f->err.code, 503);
	f->bmc.tamper = NULL;
	(void)ask_all(f);
	assert_string_equal(got.text, "S1|-|-|-|0;S2|-|-|-|0;");
}

/* The BMC lists many drives, which all link to one volume. The list ends after a bounded number of
 * requests all the same. */
static void a_list_without_an_end_ends(void **state)
{
	static struct fake_drive drives[200];
	struct bmc_rig *f = *state;

	for (int i = 0; i < 200; i++) /* More drives than one operation requests. */
		drives[i] = (struct fake_drive){.serial = "S", .volume = "V"};
	f->bmc.drives = drives;
	f->bmc.ndrives = 200;
	f->bmc.writes_only = true;
	assert_true(ask_all(f) < 100);
	assert_true(got.n > 0 && got.n <= 256);
}

/* The agent sees only the volume. If the volume is not served, it is unknown which drives the agent
 * can see. */
static void a_drive_of_a_volume_that_is_not_served_is_left_out(void **state)
{
	static const struct fake_drive drives[] = {
		{.serial = "S1", .volume = "OS", .raid = "RAID1"}, {.serial = "S2"}};
	struct bmc_rig *f = *state;
	struct bmc_selective s = {&f->bmc, "GET /redfish/v1/Systems/1/Storage/0/Volumes", 500,
				  NULL};

	f->bmc.drives = drives;
	f->bmc.ndrives = 2;
	f->bmc.tamper = bmc_select_tamper;
	f->bmc.tamper_arg = &s;
	(void)ask_all(f);
	assert_string_equal(got.text, "S2|-|-|-|0;");
	assert_true(got.lacks);
}

static void a_list_that_is_not_served_is_answered_in_one_call(void **state)
{
	static const int statuses[] = {400, 403, 404, 405, 500, 501};
	static const struct fake_drive drive = {.serial = "S1", .slot = "bay 1"};
	struct bmc_rig *f = *state;
	struct bmc_selective s = {&f->bmc, "GET /redfish/v1/Systems/1/Storage", 0, NULL};

	f->bmc.drives = &drive;
	f->bmc.ndrives = 1;
	f->bmc.tamper = bmc_select_tamper;
	f->bmc.tamper_arg = &s;
	for (size_t i = 0; i < sizeof(statuses) / sizeof(*statuses); i++) {
		s.status = statuses[i];
		assert_int_equal(ask(f), ERR_UNSUPPORTED);
		assert_int_equal(f->err.code, statuses[i]);
		assert_int_equal(fake_bmc_count(&f->bmc, s.start), i + 1);
	}
	assert_done(bmc_read_system(f)); /* These refusals do not pause the BMC. */
}

static void a_list_that_is_not_answered_may_be_answered_later(void **state)
{
	struct bmc_rig *f = *state;
	struct bmc_selective s = {&f->bmc, "GET /redfish/v1/Systems/1/Storage", 0, NULL};
	static const struct {
		int status;
		const char *id;
	} busy[] = {{503, NULL}, {429, NULL}, {500, "IDRAC.2.8.SYS518"}};
	static const struct fake_drive drive = {.serial = "S1"};

	f->bmc.drives = &drive;
	f->bmc.ndrives = 1;
	f->bmc.tamper = bmc_select_tamper;
	f->bmc.tamper_arg = &s;
	for (size_t i = 0; i < sizeof(busy) / sizeof(*busy); i++) {
		s.status = busy[i].status;
		s.id = busy[i].id;
		(void)ask(f);
		assert_true(err_is_transient(&f->err));
		bmc_drop_client(f);
	}
	f->bmc.tamper = NULL;
	(void)ask_all(f);
	assert_int_equal(got.n, 1);
}

static enum err_kind ask_unless(struct bmc_rig *f, const char *firmware)
{
	redfish_read_drives(bmc_client(f), firmware, on_drives, f);
	return bmc_wait_answer(f);
}

static void a_firmware_that_is_known_to_list_none_is_not_asked(void **state)
{
	static const struct fake_drive drive = {.serial = "S1"};
	struct bmc_rig *f = *state;

	f->bmc.drives = &drive;
	f->bmc.ndrives = 1;
	assert_int_equal(ask_unless(f, "7.10.30"), ERR_UNSUPPORTED);
	assert_int_equal(f->err.code, 0);
	assert_int_equal(fake_bmc_count(&f->bmc, "GET /redfish/v1/Systems/1/Storage"), 0);
	assert_done(ask_unless(f, "7.10.29"));
	assert_int_equal(got.n, 1);
	assert_done(ask_unless(f, ""));
	assert_int_equal(got.n, 1);
}

/* The simple list gives only the number of drives of each model, but that is better than
 * nothing. */
static void a_simple_list_stands_in_for_one_that_is_not_served(void **state)
{
	static const struct fake_drive drive = {.serial = "S1", .model = "KCM6", .bytes = 3840};
	struct bmc_rig *f = *state;

	f->bmc.drives = &drive;
	f->bmc.ndrives = 1;
	f->bmc.simple_too = f->bmc.storage_fails = true;
	(void)ask_all(f);
	assert_string_equal(got.text, "-|KCM6|-|-|3840;");
	assert_true(got.lacks && got.simple);
	assert_int_equal(got.code, 500);
	assert_int_equal(fake_bmc_count(&f->bmc, "GET /redfish/v1/Systems/1/Storage"), 1);
	assert_done(ask_unless(f, "7.10.30"));
	assert_string_equal(got.text, "-|KCM6|-|-|3840;");
	assert_true(got.lacks && got.simple);
	assert_int_equal(got.code, 0);
	assert_int_equal(fake_bmc_count(&f->bmc, "GET /redfish/v1/Systems/1/Storage"), 1);
}

static void a_bmc_that_is_away_is_left_alone(void **state)
{
	struct bmc_rig *f = *state;

	assert_done(bmc_read_system(f));
	f->bmc.unavailable = true; /* 503: the whole BMC is unavailable */
	for (int i = 0; i < 3; i++)
		assert_int_equal(ask(f), ERR_UNAVAILABLE);
	assert_int_equal(bmc_read_system(f), ERR_UNAVAILABLE);
	assert_true(f->err.retry_after_ms > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		bmc_test(drives_are_listed_with_what_tells_them_apart),
		bmc_test(a_bmc_that_lists_none_is_no_error),
		bmc_test(models_and_sizes_are_taken_where_there_is_nothing_else),
		bmc_test(a_long_list_takes_several_calls),
		bmc_test(what_is_not_served_is_passed_over_and_what_is_not_answered_is_asked_again),
		bmc_test(a_list_without_an_end_ends),
		bmc_test(a_drive_of_a_volume_that_is_not_served_is_left_out),
		bmc_test(a_list_that_is_not_served_is_answered_in_one_call),
		bmc_test(a_list_that_is_not_answered_may_be_answered_later),
		bmc_test(a_firmware_that_is_known_to_list_none_is_not_asked),
		bmc_test(a_simple_list_stands_in_for_one_that_is_not_served),
		bmc_test(a_bmc_that_is_away_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
