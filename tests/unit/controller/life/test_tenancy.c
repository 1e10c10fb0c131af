/* Tests which WipeRecords count for the tenancy of a machine. */
#include "tests/unit/controller/bench.h"

#include <stdlib.h>
#include "base/str.h"
#include "controller/life/clean_proof.h"
#include "controller/life/tenancy.h"

#define UUID "4c4c4544-0000-1000-8000-000000000001"
#define SWAPPED "44454c4c-0000-0010-8000-000000000001"
#define OTHER "4c4c4544-0000-1000-8000-000000000002"

static void put(struct bench *d, const char *machine, const char *uuid, const char *serial,
		int64_t tenancy, int64_t attempt)
{
	struct wipe_record r = {.spec = {.evidence = {.machine = {.name = machine,
								  .uid = "u",
								  .system_uuid = uuid,
								  .serial = serial},
						      .tenancy = tenancy,
						      .attempt = attempt},
					 .envelope = "e30="}};
	OWN_JSON o = fields_encode(object_kinds[OBJECT_WIPE_RECORD].fields, &r);
	char *text;

	json_object_set_new(o, "kind", json_string("WipeRecord"));
	json_object_set_new(o, "metadata",
			    json_pack("{s:s}", "name",
				      arena_printf(d->a, "%s-%lld-%lld", machine,
						   (long long)tenancy, (long long)attempt)));
	text = json_text(o);
	bench_put(d, text);
	free(text);
}

static int64_t known(struct bench *d)
{
	struct life *l = bench_life(d, "m-1");
	const int64_t tenancy = life_tenancy_known(l);

	bench_life_done(l);
	return tenancy;
}

/* Gives m-1 the placeholder UUID of a mainboard and this serial number. */
static void has_only_a_serial(struct bench *d, const char *serial)
{
	bench_patch(d, OBJECT_MACHINE, "m-1",
		    arena_printf(d->a,
				 "{'spec': {'identity': {'systemUUID': "
				 "'00000000-0000-0000-0000-000000000000', 'serialNumber': '%s'}}}",
				 serial));
}

static void records_of_the_server_count_whatever_their_name(void **state)
{
	struct bench *d = *state;

	assert_int_equal(known(d), 0);
	put(d, "m-1", OTHER, "S2", 41, 1);
	assert_int_equal(known(d), 41);
	put(d, "m-7", UUID, "S7", 42, 1);
	assert_int_equal(known(d), 42);
	put(d, "m-8", SWAPPED, "S8", 43, 1);
	assert_int_equal(known(d), 43);
	/* Another server; its serial number proves nothing, because both have a UUID. */
	put(d, "m-9", OTHER, "S1", 44, 1);
	assert_int_equal(known(d), 43);
	has_only_a_serial(d, "S1");
	assert_int_equal(known(d), 44);
	put(d, "m-10", OTHER, "Default string", 45, 1);
	has_only_a_serial(d, "Default string");
	assert_int_equal(known(d), 41);
}

static void the_newest_attempt_of_the_present_tenancy_is_the_proof(void **state)
{
	struct bench *d = *state;
	struct life *l = bench_life(d, "m-1");

	assert_null(life_record(l));
	put(d, "m-1", UUID, "S1", 40, 9);
	put(d, "m-1", UUID, "S1", 41, 2);
	put(d, "m-1", UUID, "S1", 41, 1);
	put(d, "m-2", UUID, "S1", 41, 3);
	l->m = CTX_GET(&d->c, OBJECT_MACHINE, machine, "m-1");
	assert_non_null(life_record(l));
	assert_string_equal(life_record(l)->meta.name, "m-1-41-2");
	bench_life_done(l);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, bench_setup_fleet, bench_teardown)
	const struct CMUnitTest tests[] = {
		T(records_of_the_server_count_whatever_their_name),
		T(the_newest_attempt_of_the_present_tenancy_is_the_proof),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
