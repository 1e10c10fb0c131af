#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"
#include "base/str.h"
#include "base/zone.h"

#define HOUR INT64_C(3600000)
#define TIMES 400

static uint64_t seed = 7;
static int64_t draw(int64_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (int64_t)((seed >> 33) % (uint64_t)n);
}

static int64_t at(const char *text)
{
	int64_t ms;

	assert_true(str_to_time(text, &ms));
	return ms;
}

static const struct zone *zone(struct zones *zs, const char *name)
{
	const struct zone *z = NULL;
	struct err e;

	assert_int_equal(zones_get(zs, name, &z, &e), 0);
	return z;
}

static const char *const names[] = {
	"Europe/Berlin",       "America/New_York", "Australia/Lord_Howe", "America/St_Johns",
	"Asia/Kathmandu",      "Europe/Dublin",	   "Africa/Casablanca",	  "Asia/Beirut",
	"America/Havana",      "Pacific/Apia",	   "America/Nuuk",	  "Etc/GMT+5",
	"America/Scoresbysund"};
#define NAMES (sizeof(names) / sizeof(*names))

/* Writes times to v: random ones from 1950 to 2190, most of them within hours of a change. */
static void pick_times(const struct zone *z, int64_t v[static TIMES])
{
	for (int i = 0; i < TIMES; i++) {
		const int64_t any = (draw(INT64_C(240) * 31556952) - INT64_C(20) * 31556952) * 1000,
			      change = zone_change(z, any);

		v[i] = draw(4) && change != INT64_MAX
			       ? change + (draw(3) ? draw(7200) - 3600 : draw(3) - 1) * 1000
			       : any;
	}
}

static int64_t offset_of(const char *text)
{
	int sign, h, m, s;
	char c;

	assert_int_equal(sscanf(text, "%c%d:%d:%d", &c, &h, &m, &s), 4);
	sign = c == '-' ? -1 : 1;
	return sign * ((h * 60 + m) * 60 + s) * INT64_C(1000);
}

static void an_offset_is_that_of_the_program_date(void **state)
{
	OWN(zones) zs = zones_new();
	char path[] = "/tmp/drover-zone-XXXXXX", command[256], line[64];
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	for (size_t k = 0; k < NAMES; k++) {
		const struct zone *z = zone(zs, names[k]);
		int64_t v[TIMES];
		FILE *f = fopen(path, "w");

		assert_non_null(f);
		pick_times(z, v);
		for (int i = 0; i < TIMES; i++)
			fprintf(f, "@%lld\n", (long long)(v[i] / 1000));
		fclose(f);
		str_format(command, sizeof(command), "TZ=%s date -f %s +%%::z", names[k], path);
		f = popen(command, "r");
		assert_non_null(f);
		for (int i = 0; i < TIMES; i++) {
			assert_non_null(fgets(line, sizeof(line), f));
			if (zone_offset(z, v[i]) != offset_of(line))
				fail_msg("%s at %lld: %lld, date: %s", names[k],
					 (long long)(v[i] / 1000),
					 (long long)(zone_offset(z, v[i]) / 1000), line);
		}
		assert_int_equal(pclose(f), 0);
	}
	unlink(path);
}

static void a_change_separates_the_offsets(void **state)
{
	OWN(zones) zs = zones_new();
	const struct zone *z = zone(zs, "Europe/Berlin");

	(void)state;
	assert_true(zone_change(z, at("2026-07-01T00:00:00Z")) == at("2026-10-25T01:00:00Z"));
	assert_true(zone_change(z, at("2026-10-25T00:59:59Z")) == at("2026-10-25T01:00:00Z"));
	assert_true(zone_change(z, at("2026-10-25T01:00:00Z")) == at("2027-03-28T01:00:00Z"));
	assert_true(zone_offset(z, at("2026-10-25T01:00:00Z") - 1) == 2 * HOUR);
	assert_true(zone_offset(z, at("2026-10-25T01:00:00Z")) == HOUR);
	/* Beyond the last change of the file, by its rule. */
	assert_true(zone_change(z, at("2120-07-01T00:00:00Z")) == at("2120-10-27T01:00:00Z"));
	assert_true(zone_change(zone(zs, "UTC"), 0) == INT64_MAX);
	assert_true(zone_offset(NULL, at("2026-07-01T00:00:00Z")) == 0);
}

static void a_local_time_that_is_skipped_begins_at_the_change(void **state)
{
	OWN(zones) zs = zones_new();
	const struct zone *berlin = zone(zs, "Europe/Berlin"), *beirut = zone(zs, "Asia/Beirut");

	(void)state;
	assert_true(zone_first(berlin, at("2026-07-01T00:00:00Z")) == at("2026-06-30T22:00:00Z"));
	assert_true(zone_first(berlin, at("2026-03-29T02:30:00Z")) == at("2026-03-29T01:00:00Z"));
	/* 02:30 comes twice. */
	assert_true(zone_first(berlin, at("2026-10-25T02:30:00Z")) == at("2026-10-25T00:30:00Z"));
	/* The clock goes from 00:00 to 01:00: the day has no midnight. */
	assert_true(zone_first(beirut, at("2026-03-29T00:00:00Z")) == at("2026-03-28T22:00:00Z"));
	/* The clock goes back from 00:00 to 23:00 of the day before. */
	assert_true(zone_first(beirut, at("2026-10-25T00:00:00Z")) == at("2026-10-24T22:00:00Z"));
	assert_true(zone_first(NULL, 5) == 5);
}

static void any_local_time_is_found_at_its_first_time(void **state)
{
	OWN(zones) zs = zones_new();

	(void)state;
	for (size_t k = 0; k < NAMES; k++) {
		const struct zone *z = zone(zs, names[k]);
		int64_t v[TIMES];

		pick_times(z, v);
		for (int i = 0; i < TIMES; i++) {
			const int64_t local = v[i] + zone_offset(z, v[i]),
				      first = zone_first(z, local);

			assert_true(first <= v[i]);
			assert_true(first + zone_offset(z, first) == local);
			assert_true(first - 1 + zone_offset(z, first - 1) < local);
		}
	}
}

static void a_name_that_is_not_a_zone_is_refused_by_name(void **state)
{
	static const char *const wrong[] = {"",
					    "../../etc/passwd",
					    "/etc/passwd",
					    "Europe/../UTC",
					    "Europe/",
					    "Europe//Berlin",
					    "localtime",
					    "posixrules",
					    "right/Europe/Berlin",
					    "Europe Berlin"};
	static const char *const absent[] = {"Europe/Atlantis", "zone.tab", "Europe", "tzdata"};
	OWN(zones) zs = zones_new();
	const struct zone *z = NULL;
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_int_equal(zone_check(wrong[i], &e), -1);
		assert_int_equal(e.kind, ERR_INVALID);
		assert_non_null(strstr(e.text, wrong[i]));
	}
	for (size_t i = 0; i < sizeof(absent) / sizeof(*absent); i++) {
		assert_int_equal(zones_get(zs, absent[i], &z, &e), -1);
		assert_non_null(strstr(e.text, absent[i]));
		assert_null(z);
	}
	assert_int_equal(zone_check("UTC", &e), 0);
	assert_int_equal(zone_check("Europe/Berlin", &e), 0);
	assert_ptr_equal(zone(zs, "Europe/Berlin"), zone(zs, "Europe/Berlin"));
}

/* A file that was cut or changed gives an error or a zone, and no access outside its bytes. */
static void a_broken_file_is_refused_or_read_within_its_bounds(void **state)
{
	struct err e;
	size_t len, refused = 0;
	char *good = file_text("/usr/share/zoneinfo/Europe/Berlin", ZONE_FILE_MAX, &len, &e);

	(void)state;
	assert_non_null(good);
	for (int i = 0; i < 20000; i++) {
		const size_t is = draw(3) ? len : (size_t)draw((int64_t)len);
		char *bytes = malloc(is + 1);
		struct zone *z = NULL;

		assert_non_null(bytes);
		bytes = realloc(memcpy(bytes, good, is), is ? is : 1);
		for (int64_t n = is == len ? 1 + draw(4) : 0; n > 0; n--)
			bytes[draw(draw(2) ? 60 : (int64_t)len)] = (char)draw(256);
		refused += zone_parse(bytes, is, &z, &e) < 0;
		if (z) {
			const int64_t t = draw(INT64_C(1) << 31) * 1000;

			assert_true(zone_change(z, t) > t);
			assert_true(llabs(zone_offset(z, t)) < 26 * HOUR);
			(void)zone_first(z, t);
		}
		zone_free(z);
		free(bytes);
	}
	assert_true(refused > 4000);
	free(good);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_offset_is_that_of_the_program_date),
		cmocka_unit_test(a_change_separates_the_offsets),
		cmocka_unit_test(a_local_time_that_is_skipped_begins_at_the_change),
		cmocka_unit_test(any_local_time_is_found_at_its_first_time),
		cmocka_unit_test(a_name_that_is_not_a_zone_is_refused_by_name),
		cmocka_unit_test(a_broken_file_is_refused_or_read_within_its_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
