#include "tests/unit/controller/bench.h"

#include <stdlib.h>
#include "base/str.h"
#include "controller/core/record_index.h"

#define UUID "4c4c4544-0035-3410-8050-c6c04f314733"
#define SWAPPED "44454C4C-3500-1034-8050-C6C04F314733"

static const char *found[8];
static unsigned nfound;

static bool note(const struct wipe_record *r, void *arg)
{
	(void)arg;
	found[nfound++] = r->meta.name;
	return nfound < 8;
}

static unsigned ask(const struct bench *d, enum record_key key, const char *value)
{
	nfound = 0;
	record_index_each(&d->c, key, value, note, NULL);
	return nfound;
}

static void put(struct bench *d, const char *name, const char *machine, const char *uuid,
		const char *serial)
{
	struct wipe_record r = {.spec = {.evidence = {.machine = {.name = machine,
								  .uid = "u",
								  .system_uuid = uuid,
								  .serial = serial},
						      .tenancy = 1,
						      .attempt = 1,
						      .start_time = 1764000000000,
						      .end_time = 1764000000000},
					 .envelope = "e30="}};
	OWN_JSON o = fields_encode(object_kinds[OBJECT_WIPE_RECORD].fields, &r);
	char *text;

	json_object_set_new(o, "kind", json_string("WipeRecord"));
	json_object_set_new(o, "metadata", json_pack("{s:s}", "name", name));
	text = json_text(o);
	bench_put(d, text);
	free(text);
}

static void records_are_found_by_the_machine_s_name_uuid_and_serial(void **state)
{
	struct bench *d = *state;

	put(d, "one", "m-1", UUID, "S1");
	put(d, "two", "m-1", "00000000-0000-0000-0000-000000000000", NULL);
	put(d, "three", "m-2", SWAPPED, "S1");
	assert_int_equal(ask(d, RECORD_BY_MACHINE, "m-1"), 2);
	assert_string_equal(found[0], "one");
	assert_string_equal(found[1], "two");
	assert_int_equal(ask(d, RECORD_BY_MACHINE, "m-3"), 0);
	assert_int_equal(ask(d, RECORD_BY_UUID, UUID), 2);
	assert_int_equal(ask(d, RECORD_BY_UUID, SWAPPED), 2);
	assert_string_equal(found[1], "three");
	/* A placeholder identifies no machine. */
	assert_int_equal(ask(d, RECORD_BY_UUID, "00000000-0000-0000-0000-000000000000"), 0);
	assert_int_equal(ask(d, RECORD_BY_UUID, NULL), 0);
	assert_int_equal(ask(d, RECORD_BY_SERIAL, "S1"), 2);
	assert_int_equal(ask(d, RECORD_BY_SERIAL, NULL), 0);
}

static void a_record_that_has_gone_is_not_found(void **state)
{
	struct bench *d = *state;

	put(d, "one", "m-1", UUID, "S1");
	assert_int_equal(ask(d, RECORD_BY_MACHINE, "m-1"), 1);
	bench_must(d, &d->host, "DELETE", "/apis/" OBJECT_API_VERSION "/wiperecords/one", NULL);
	bench_run(d, 1000);
	assert_int_equal(ask(d, RECORD_BY_MACHINE, "m-1"), 0);
	assert_int_equal(ask(d, RECORD_BY_UUID, UUID), 0);
}

static void it_says_whether_it_has_changed(void **state)
{
	struct bench *d = *state;
	const struct wipe_record r = {.spec = {.evidence = {.machine = {.name = "m-1"}}}};

	assert_true(record_index_put(d->c.record_index, "one", &r));
	assert_false(record_index_put(d->c.record_index, "one", &r));
	assert_true(record_index_put(d->c.record_index, "one", NULL));
	assert_false(record_index_put(d->c.record_index, "one", NULL));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)
	const struct CMUnitTest tests[] = {
		T(records_are_found_by_the_machine_s_name_uuid_and_serial),
		T(a_record_that_has_gone_is_not_found),
		T(it_says_whether_it_has_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
