/* Tests that the page of a large fleet is bounded: 500 tenants, 50 pools, 20 Providers and 1,000
 * machines, of which each has counted whatever can be counted. */
#include "tests/unit/controller/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include "api/machine_states.h"
#include "api/reasons.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/known_series.h"
#include "controller/gauges.h"
#include "controller/rules/pod_end.h"

enum { TENANTS = 500, POOLS = 50, PROVIDERS = 20, MACHINES = 1000, CLASSES = 40 };
/* What a page may have at most, and about a third more than it has */
enum { PAGE_BYTES = 7 << 20, PAGE_SERIES = 16000 };

static const char *const names[] = {"observe",	    "power_on", "power_off", "boot",
				    "insert_media", "drives",	"place",     "launch",
				    "list_owned",   "terminate"};

static const char *name(struct bench *d, const char *what, int i)
{
	return arena_printf(d->a, "%s-%03d", what, i);
}

/* Counts events of each kind for each tenant, pool and Provider. */
static void count_all(struct bench *d)
{
	struct counters *f = d->c.counters;
	struct err e, late;

	err_note(&e, ERR_DENIED, 0, "denied");
	err_note(&late, ERR_TIMEOUT, 0, "late");
	for (int i = 0; i < TENANTS; i++) {
		known_series_object(&d->c, OBJECT_VIRTUAL_CLUSTER, name(d, "tenant", i));
		for (int k = 0; k < CLASSES; k++)
			counters_pod_placed(f, name(d, "tenant", i), name(d, "class", k), 1000);
		for (int r = 0; r < POD_ENDS; r++)
			counters_pod_ended(f, name(d, "tenant", i), pod_end_names[r]);
	}
	for (int i = 0; i < POOLS; i++) {
		known_series_object(&d->c, OBJECT_NODE_POOL, name(d, "pool", i));
		for (enum reason r = 1; r <= 60; r++)
			counters_claim_failed(f, name(d, "pool", i), reason_name(r));
	}
	for (int i = 0; i < PROVIDERS; i++) {
		known_series_object(&d->c, OBJECT_PROVIDER, name(d, "rack", i));
		for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
			counters_provider_call(f, name(d, "rack", i), names[k], NULL, 100);
			counters_provider_call(f, name(d, "rack", i), names[k], &e, 100);
			counters_provider_call(f, name(d, "rack", i), names[k], &late, 100);
		}
	}
	for (enum reason r = 1; r <= 60; r++)
		for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
			counters_act_failed(f, names[k], reason_name(r));
}

/* Creates machines in all states, with pools and tenants, and with claims that do not exist. */
static void put_machines(struct bench *d)
{
	for (int i = 0; i < MACHINES; i++) {
		OWN(arena) a = arena_new();

		bench_must(d, &d->host, "POST", "/apis/" OBJECT_API_VERSION "/machines",
			   arena_printf(a,
					"{'apiVersion': '" OBJECT_API_VERSION "', 'kind': "
					"'Machine', 'metadata': {'name': 'gpu-%04d'}, 'spec': "
					"{'providerRef': {'name': 'hall-a'}, 'instanceType': "
					"'hgx', 'managementPolicy': 'Manage'}}",
					i));
		bench_must(
			d, &d->host, "PATCH",
			arena_printf(a, "/apis/" OBJECT_API_VERSION "/machines/gpu-%04d/status", i),
			arena_printf(a,
				     "{'status': {'state': '%s', 'pool': 'pool-%03d', 'tenant': "
				     "{'name': 'tenant-%03d', 'uid': 'u'}}}",
				     machine_state_info[i % MACHINE_STATES].name, i % POOLS,
				     i % TENANTS));
	}
	bench_run(d, 5000);
}

/* A family and the number of its lines. */
struct size {
	char family[80];
	size_t lines, series;
};

/* Returns the largest family of the page. Adds to *series the number of label sets. */
static struct size largest(const char *page, size_t *series)
{
	struct size is = {.lines = 0}, most = {.lines = 0};

	for (const char *p = page; *p; p += strcspn(p, "\n") + 1) {
		if (str_starts(p, "# HELP ")) {
			most = is.lines > most.lines ? is : most;
			is = (struct size){.lines = 0};
			str_format(is.family, sizeof(is.family), "%.*s", (int)strcspn(p + 7, " "),
				   p + 7);
		} else if (*p != '#') {
			const size_t n = strcspn(p, "{ ");

			is.lines++;
			*series += !str_starts(p + n, "{") ||
				   (strncmp(p + n - (n > 7 ? 7 : 0), "_bucket", 7) != 0 &&
				    strncmp(p + n - (n > 4 ? 4 : 0), "_sum", 4) != 0 &&
				    strncmp(p + n - (n > 8 ? 8 : 0), "_created", 8) != 0);
		}
	}
	return is.lines > most.lines ? is : most;
}

static void the_page_of_a_large_fleet_is_bounded(void **state)
{
	struct bench *d = *state;
	struct gauges *g = gauges_new(&d->c, d->tenants);
	struct size most;
	size_t series = 0, again = 0;
	struct buf b;

	put_machines(d);
	known_series_lead(&d->c);
	count_all(d);
	gauges_read(g);
	buf_init(&b, 64u << 20);
	metrics_write_open(d->c.metrics, &b);
	assert_false(b.over);
	most = largest(b.data, &series);
	printf("%zu series, %zu bytes; the most lines has %s: %zu\n", series, b.len, most.family,
	       most.lines);
	assert_true(b.len < PAGE_BYTES);
	assert_true(series < PAGE_SERIES);
	/* Names that come and go do not make it larger than its limits. */
	for (int i = 0; i < 20000; i++) {
		OWN(arena) a = arena_new();

		counters_pod_ended(d->c.counters, arena_printf(a, "other-%d", i), "failed");
		counters_pod_placed(d->c.counters, arena_printf(a, "other-%d", i), NULL, 1000);
		counters_claim_created(d->c.counters, arena_printf(a, "other-%d", i));
		counters_provider_call(d->c.counters, arena_printf(a, "other-%d", i), "observe",
				       NULL, 1000);
	}
	gauges_read(g);
	buf_clear(&b);
	metrics_write_open(d->c.metrics, &b);
	(void)largest(b.data, &again);
	printf("%zu series, %zu bytes after 20,000 other names\n", again, b.len);
	assert_true(b.len < PAGE_BYTES);
	assert_true(again < PAGE_SERIES);
	buf_done(&b);
	gauges_free(g);
}

#define T(name) cmocka_unit_test_setup_teardown(name, bench_setup_fleet, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {T(the_page_of_a_large_fleet_is_bounded)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
