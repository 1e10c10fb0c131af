/* Tests the ConfigMap with the address of the view: who writes it, and when. */
#include "tests/unit/controller/bench.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "controller/view/published.h"

#define MAP "/api/v1/namespaces/drover-system/configmaps/drover-view"
#define URL "https://10.1.0.5:8444"

struct bed {
	struct bench *d;
	struct view_published *p;
};

static int setup(void **state)
{
	struct bed *b = calloc(1, sizeof(*b));

	assert_int_equal(bench_setup((void **)&b->d), 0);
	bench_keys(b->d);
	b->d->c.ready = b->d->c.leading = true;
	bench_run(b->d, 5000);
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bed *b = *state;
	struct bench *d = b->d;

	view_published_free(b->p);
	free(b);
	return bench_teardown((void **)&d);
}

static void start(struct bed *b, const char *url)
{
	b->p = view_published_new(&b->d->c, b->d->c.keys, url);
	bench_run(b->d, 2000);
}

/* Returns a value of the ConfigMap; "": not there. Valid until the end of the test. */
static const char *published(struct bed *b, const char *key)
{
	struct bench *d = b->d;
	struct err e;

	if (bench_do(d, &d->host, "GET", MAP, NULL) != 200)
		return "";
	OWN_JSON map = json_parse(d->text, strlen(d->text), &e);

	return arena_strdup(d->a, str_or(json_str_at(map, "data", key), ""));
}

static void the_leader_publishes_address_and_ca(void **state)
{
	struct bed *b = *state;

	start(b, URL);
	assert_string_equal(published(b, "endpoint"), URL);
	assert_string_equal(published(b, "ca.crt"), keys_ca_pem(b->d->c.keys));
}

static void without_an_address_the_ca_alone_is_published(void **state)
{
	struct bed *b = *state;
	struct bench *d = b->d;

	bench_must(
		d, &d->host, "POST", "/api/v1/namespaces/drover-system/configmaps",
		"{'metadata': {'name': 'drover-view'}, 'data': {'endpoint': 'https://10.9.9.9:1', "
		"'other': 'x'}}");
	start(b, NULL);
	assert_string_equal(published(b, "endpoint"), "");
	assert_string_equal(published(b, "other"), "x");
	assert_string_equal(published(b, "ca.crt"), keys_ca_pem(b->d->c.keys));
}

static void a_replica_writes_once_it_leads(void **state)
{
	struct bed *b = *state;
	struct bench *d = b->d;

	d->c.leading = false;
	start(b, URL);
	bench_run(d, 3 * VIEW_PUBLISHED_MS);
	assert_string_equal(published(b, "endpoint"), "");
	d->c.leading = true;
	bench_run(d, 2 * VIEW_PUBLISHED_MS);
	assert_string_equal(published(b, "endpoint"), URL);

	/* another replica leads meanwhile and publishes its own address */
	d->c.leading = false;
	bench_run(d, 2 * VIEW_PUBLISHED_MS);
	bench_must(d, &d->host, "PATCH", MAP, "{'data': {'endpoint': 'https://10.9.9.9:1'}}");
	bench_run(d, 2 * VIEW_PUBLISHED_MS);
	assert_string_equal(published(b, "endpoint"), "https://10.9.9.9:1");
	d->c.leading = true;
	bench_run(d, 2 * VIEW_PUBLISHED_MS);
	assert_string_equal(published(b, "endpoint"), URL);
}

static void an_error_is_tried_again(void **state)
{
	struct bed *b = *state;
	struct bench *d = b->d;

	d->host.denied_at = "/configmaps";
	start(b, URL);
	assert_true(d->host.denials > 0);
	d->host.denied_at = NULL;
	bench_run(d, 2 * VIEW_PUBLISHED_MS);
	assert_string_equal(published(b, "endpoint"), URL);
}

static void an_address_is_known_only_if_it_is_one_address(void **state)
{
	static const char *const unknown[] = {"0.0.0.0:8444", "[::]:8444", ":8444", "127.0.0.1:0"};
	char *url = view_published_url("[fd00::1]:8444");

	(void)state;
	assert_string_equal(url, "https://[fd00::1]:8444");
	free(url);
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		assert_null(view_published_url(unknown[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_leader_publishes_address_and_ca, setup,
						teardown),
		cmocka_unit_test_setup_teardown(without_an_address_the_ca_alone_is_published, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_replica_writes_once_it_leads, setup, teardown),
		cmocka_unit_test_setup_teardown(an_error_is_tried_again, setup, teardown),
		cmocka_unit_test(an_address_is_known_only_if_it_is_one_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
