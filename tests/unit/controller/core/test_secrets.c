#include "tests/unit/controller/bench.h"

#include "base/str.h"

#define PATH "/api/v1/namespaces/" BENCH_NS "/secrets"

static enum secret_state want(struct bench *d, const char *name)
{
	return secrets_want(d->c.secrets, NULL, name);
}

static const char *value(struct bench *d, const char *name, const char *key)
{
	const struct secret *s = secrets_value(d->c.secrets, NULL, name, key);

	return s ? secret_expose(s) : NULL;
}

static void a_secret_is_read_when_it_is_first_wanted(void **state)
{
	struct bench *d = *state;

	bench_secret(d, "bmc", "username", "admin", "password", "p4ss\nword");
	assert_int_equal(want(d, "bmc"), SECRET_LOADING);
	assert_null(value(d, "bmc", "username"));
	assert_string_equal(secrets_version(d->c.secrets, NULL, "bmc"), "");
	bench_run(d, 1000);
	assert_int_equal(want(d, "bmc"), SECRET_LOADED);
	assert_string_equal(value(d, "bmc", "username"), "admin");
	assert_string_equal(value(d, "bmc", "password"), "p4ss\nword");
	assert_null(value(d, "bmc", "token"));
	assert_string_not_equal(secrets_version(d->c.secrets, NULL, "bmc"), "");
	assert_int_equal(d->secret_changes, 1);
	/* The same name in another namespace is another Secret. */
	assert_int_equal(secrets_want(d->c.secrets, "default", "bmc"), SECRET_LOADING);
}

static void a_change_is_seen_within_half_a_minute_and_told_once(void **state)
{
	struct bench *d = *state;
	char version[32];

	bench_secret(d, "bmc", "password", "old", NULL, NULL);
	want(d, "bmc");
	bench_run(d, 1000);
	str_copy(version, sizeof(version), secrets_version(d->c.secrets, NULL, "bmc"));
	bench_secret(d, "bmc", "password", "new", NULL, NULL);
	bench_run(d, 31000);
	assert_string_equal(value(d, "bmc", "password"), "new");
	assert_string_not_equal(secrets_version(d->c.secrets, NULL, "bmc"), version);
	assert_int_equal(d->secret_changes, 2);
	bench_run(d, 120000);
	assert_int_equal(d->secret_changes, 2);
}

/* drover normally reads a Secret again every 30 s. With one Secret for each machine and tenant,
 * there are too many for that, so at most a few are read per second. A Secret that is expected to
 * change is read before the others. */
static void of_many_a_few_are_read_in_a_second_and_what_is_expected_first(void **state)
{
	struct bench *d = *state;
	char name[32];

	for (int i = 0; i < 600; i++) {
		str_format(name, sizeof(name), "bmc-%d", i);
		if (i < 3)
			bench_secret(d, name, "password", "old", NULL, NULL);
		want(d, name);
	}
	bench_run(d, 60000);
	assert_string_equal(value(d, "bmc-1", "password"), "old");
	bench_secret(d, "bmc-1", "password", "new", NULL, NULL);
	bench_secret(d, "bmc-2", "password", "new", NULL, NULL);
	secrets_expect(d->c.secrets, NULL, "bmc-1");
	bench_run(d, 31000);
	assert_string_equal(value(d, "bmc-1", "password"), "new");
	bench_run(d, 132000); /* The time to read 600 Secrets at 5 per second, plus a tenth. */
	assert_string_equal(value(d, "bmc-2", "password"), "new");
	/* The Secret changed as expected, so from now on it is read only in turn with the
	 * others. */
	bench_run(d, 31000);
	bench_secret(d, "bmc-1", "password", "newer", NULL, NULL);
	bench_run(d, 60000);
	assert_string_equal(value(d, "bmc-1", "password"), "new");
}

static void an_absent_secret_is_looked_for_again(void **state)
{
	struct bench *d = *state;

	want(d, "bmc");
	bench_run(d, 1000);
	assert_int_equal(want(d, "bmc"), SECRET_ABSENT);
	assert_int_equal(d->secret_changes, 1);
	bench_run(d, 20000);
	/* A Secret that stays absent is not reported again. */
	assert_int_equal(d->secret_changes, 1);
	bench_secret(d, "bmc", "password", "x", NULL, NULL);
	bench_run(d, 5000);
	assert_int_equal(want(d, "bmc"), SECRET_LOADED);
}

static void a_secret_that_may_not_be_read_is_denied_until_it_may(void **state)
{
	struct bench *d = *state;

	bench_secret(d, "bmc", "password", "x", NULL, NULL);
	d->host.denied = true;
	want(d, "bmc");
	bench_run(d, 1000);
	assert_int_equal(want(d, "bmc"), SECRET_DENIED);
	d->host.denied = false;
	bench_run(d, 5000);
	assert_int_equal(want(d, "bmc"), SECRET_LOADED);
}

static void values_are_kept_while_the_api_fails(void **state)
{
	struct bench *d = *state;

	bench_secret(d, "bmc", "password", "x", NULL, NULL);
	want(d, "bmc");
	want(d, "late");
	bench_run(d, 1000);
	bench_away(d, &d->host, true);
	want(d, "never");
	bench_run(d, 120000);
	assert_int_equal(want(d, "bmc"), SECRET_LOADED);
	assert_string_equal(value(d, "bmc", "password"), "x");
	assert_int_equal(want(d, "never"), SECRET_ERROR);
	bench_away(d, &d->host, false);
	d->host.denied = true;
	bench_run(d, 60000);
	assert_int_equal(want(d, "bmc"), SECRET_LOADED);
	d->host.denied = false;
	bench_run(d, 40000);
	assert_int_equal(want(d, "never"), SECRET_ABSENT);
}

static void a_deleted_secret_has_no_values_any_more_but_may_come_back(void **state)
{
	struct bench *d = *state;

	bench_secret(d, "bmc", "password", "x", NULL, NULL);
	want(d, "bmc");
	bench_run(d, 1000);
	bench_must(d, &d->host, "DELETE", PATH "/bmc", NULL);
	bench_run(d, 35000);
	assert_int_equal(want(d, "bmc"), SECRET_ABSENT);
	assert_null(value(d, "bmc", "password"));
	bench_secret(d, "bmc", "password", "y", NULL, NULL);
	bench_run(d, 5000);
	assert_string_equal(value(d, "bmc", "password"), "y");
}

static void data_that_is_no_base64_is_left_out(void **state)
{
	struct bench *d = *state;

	bench_must(d, &d->host, "POST", PATH,
		   "{'apiVersion': 'v1', 'kind': 'Secret', 'metadata': {'name': 'odd'},"
		   " 'data': {'a': '%%%', 'b': 7, 'c': 'eA==', 'd': ''}}");
	want(d, "odd");
	bench_run(d, 1000);
	assert_int_equal(want(d, "odd"), SECRET_LOADED);
	assert_null(value(d, "odd", "a"));
	assert_null(value(d, "odd", "b"));
	assert_string_equal(value(d, "odd", "c"), "x");
	assert_string_equal(value(d, "odd", "d"), "");
}

static void ensure(struct bench *d, const char *name, const char *text)
{
	const char *keys[] = {"key"};
	OWN(secret) s = secret_from_str(text);
	const struct secret *values[] = {s};

	secrets_ensure(d->c.secrets, name, keys, values, 1);
}

static void what_is_ensured_is_made_and_labelled(void **state)
{
	struct bench *d = *state;

	want(d, "mine");
	bench_run(d, 500);
	ensure(d, "mine", "made here");
	bench_run(d, 500);
	assert_string_equal(value(d, "mine", "key"), "made here");
	OWN_JSON o = bench_stored(&d->host, "secrets/" BENCH_NS "/mine");
	assert_string_equal(json_str_at(o, "metadata", "labels", "app.kubernetes.io/managed-by"),
			    "drover");
}

static void another_replica_that_was_first_wins(void **state)
{
	struct bench *d = *state;

	want(d, "mine");
	bench_run(d, 500);
	assert_int_equal(want(d, "mine"), SECRET_ABSENT);
	bench_secret(d, "mine", "key", "made there", NULL, NULL);
	ensure(d, "mine", "made here");
	assert_null(value(d, "mine", "key"));
	bench_run(d, 5000);
	assert_string_equal(value(d, "mine", "key"), "made there");
	OWN_JSON o = bench_stored(&d->host, "secrets/" BENCH_NS "/mine");
	assert_string_equal(json_str_at(o, "data", "key"), "bWFkZSB0aGVyZQ==");
}

#define T(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_secret_is_read_when_it_is_first_wanted),
		T(a_change_is_seen_within_half_a_minute_and_told_once),
		T(of_many_a_few_are_read_in_a_second_and_what_is_expected_first),
		T(an_absent_secret_is_looked_for_again),
		T(a_secret_that_may_not_be_read_is_denied_until_it_may),
		T(values_are_kept_while_the_api_fails),
		T(a_deleted_secret_has_no_values_any_more_but_may_come_back),
		T(data_that_is_no_base64_is_left_out),
		T(what_is_ensured_is_made_and_labelled),
		T(another_replica_that_was_first_wins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
