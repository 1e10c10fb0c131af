/* Tests that a history outlives its process, and what is refused when it is read. */
#include "tests/unit/controller/bench.h"

#include <stdlib.h>

#include "base/crypto.h"
#include "base/str.h"
#include "controller/view/gpu_history_code.h"
#include "controller/view/gpu_history_store.h"

#define MAPS "/api/v1/namespaces/drover-system/configmaps"
#define MINUTE INT64_C(60000)

struct bed {
	struct bench *d;
	struct gpu_history *h;
	struct gpu_history_store *store;
	unsigned done;
};

static int setup(void **state)
{
	struct bed *b = calloc(1, sizeof(*b));

	assert_int_equal(bench_setup((void **)&b->d), 0);
	b->d->c.leading = true;
	b->h = gpu_history_new();
	b->store = gpu_history_store_new(&b->d->c, b->h);
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bed *b = *state;
	struct bench *d = b->d;

	gpu_history_store_free(b->store);
	gpu_history_free(b->h);
	free(b);
	return bench_teardown((void **)&d);
}

/* Replaces the store and its history by new ones, as in a new process, and begins to lead. */
static void restart(struct bed *b)
{
	gpu_history_store_free(b->store);
	gpu_history_free(b->h);
	b->h = gpu_history_new();
	b->store = gpu_history_store_new(&b->d->c, b->h);
	gpu_history_store_lead(b->store);
	bench_run(b->d, 10000);
}

static int64_t step_now(const struct bed *b)
{
	return loop_wall(b->d->l) / GPU_HISTORY_STEP_MS;
}

static unsigned part_now(const struct bed *b)
{
	return (unsigned)(step_now(b) / GPU_HISTORY_DAY_STEPS % 8);
}

/* Adds a sample of the present step with n GPUs of team-a. */
static void sample(struct bed *b, int64_t n)
{
	const int64_t step = step_now(b);

	assert_true(gpu_history_open(b->h, step));
	gpu_column_add(gpu_history_tenant(b->h, "team-a"), step, n);
	gpu_history_store_changed(b->store, step);
}

/* Returns the GPUs of team-a; -1: the step has no sample. */
static int64_t gpus_at(const struct bed *b, int64_t step)
{
	if (!gpu_history_has(b->h, step))
		return -1;
	return gpu_column_at(gpu_history_tenant(b->h, "team-a"), step);
}

/* Returns the ConfigMap of the present day; the caller owns it. NULL: it does not exist. */
static json_t *stored(struct bed *b)
{
	return bench_stored(
		&b->d->host,
		arena_printf(b->d->a, "configmaps/drover-system/drover-history-%u", part_now(b)));
}

static char *version(struct bed *b)
{
	OWN_JSON o = stored(b);

	return arena_strdup(b->d->a, str_or(json_str_at(o, "metadata", "resourceVersion"), ""));
}

static void on_done(void *arg)
{
	((struct bed *)arg)->done++;
}

static void a_restart_keeps_the_history(void **state)
{
	struct bed *b = *state;
	const int64_t first = step_now(b);

	gpu_history_store_lead(b->store);
	bench_run(b->d, 10000);
	for (int i = 0; i < 4; i++) {
		sample(b, 8 * (i + 1));
		bench_run(b->d, 5 * MINUTE);
	}
	gpu_history_store_finish(b->store, on_done, b);
	bench_run(b->d, 2000);
	assert_int_equal(b->done, 1);
	restart(b);
	for (int i = 0; i < 4; i++)
		assert_int_equal(gpus_at(b, first + i), 8 * (i + 1));
	assert_int_equal(gpu_history_newest(b->h), first + 3);
	/* the next leader continues the same day */
	sample(b, 40);
	gpu_history_store_finish(b->store, on_done, b);
	bench_run(b->d, 2000);
	restart(b);
	assert_int_equal(gpus_at(b, first), 8);
	assert_int_equal(gpus_at(b, gpu_history_newest(b->h)), 40);
}

static void it_is_written_every_15_minutes(void **state)
{
	struct bed *b = *state;
	const char *last = "";
	unsigned writes = 0;

	gpu_history_store_lead(b->store);
	for (int i = 0; i < 24; i++) {
		bench_run(b->d, 5 * MINUTE);
		sample(b, 8);
		bench_run(b->d, 100);
		writes += !str_eq(version(b), last);
		last = version(b);
	}
	assert_in_range(writes, 6, 8);
	OWN_JSON o = stored(b);

	assert_string_equal(json_str_at(o, "metadata", "labels", "app.kubernetes.io/managed-by"),
			    "drover");
}

static void midnight_begins_a_new_part(void **state)
{
	struct bed *b = *state;
	const unsigned first = part_now(b);
	int64_t step = step_now(b);

	gpu_history_store_lead(b->store);
	bench_run(b->d, 1000);
	sample(b, 8);
	bench_run(b->d, 24 * 60 * MINUTE);
	sample(b, 16);
	bench_run(b->d, 1000);
	assert_int_equal(part_now(b), (first + 1) % 8);
	restart(b);
	assert_int_equal(gpus_at(b, step), 8);
	assert_int_equal(gpus_at(b, step + GPU_HISTORY_DAY_STEPS), 16);
}

/* Creates the ConfigMap of the present day. */
static void put(struct bed *b, const char *labels, const char *data)
{
	bench_must(b->d, &b->d->host, "POST", MAPS,
		   arena_printf(b->d->a,
				"{'metadata': {'name': 'drover-history-%u', 'labels': {%s}}, "
				"'binaryData': {'day': '%s'}}",
				part_now(b), labels, data));
}

#define OURS "'app.kubernetes.io/managed-by': 'drover'"

static void a_damaged_part_begins_anew(void **state)
{
	struct bed *b = *state;

	put(b, OURS, "RFJWSAEAAAA=");
	gpu_history_store_lead(b->store);
	bench_run(b->d, 10000);
	assert_int_equal(gpu_history_newest(b->h), -1);
	sample(b, 8);
	gpu_history_store_finish(b->store, on_done, b);
	bench_run(b->d, 2000);
	restart(b);
	assert_int_equal(gpus_at(b, gpu_history_newest(b->h)), 8);
}

static void a_foreign_configmap_is_not_written(void **state)
{
	struct bed *b = *state;

	put(b, "'app': 'another'", "RFJWSAEAAAA=");
	gpu_history_store_lead(b->store);
	bench_run(b->d, 10000);
	sample(b, 8);
	gpu_history_store_finish(b->store, on_done, b);
	bench_run(b->d, 2000);
	assert_int_equal(b->done, 1);
	OWN_JSON o = stored(b);

	assert_string_equal(json_str_at(o, "binaryData", "day"), "RFJWSAEAAAA=");
}

static void what_another_replica_wrote_is_kept(void **state)
{
	struct bed *b = *state;
	OWN(gpu_history) other = gpu_history_new();
	const int64_t first = step_now(b);
	char *data, *text;
	size_t len;

	gpu_history_store_lead(b->store);
	bench_run(b->d, 10000);
	assert_true(gpu_history_open(other, first));
	gpu_column_add(gpu_history_tenant(other, "team-a"), first, 24);
	data = gpu_history_encode(other, first / GPU_HISTORY_DAY_STEPS, &len);
	text = crypto_base64(data, len);
	put(b, OURS, text);
	free(text);
	free(data);
	bench_run(b->d, 16 * MINUTE);
	sample(b, 8);
	bench_run(b->d, MINUTE);
	restart(b);
	assert_int_equal(gpus_at(b, first), 24);
	assert_int_equal(gpus_at(b, gpu_history_newest(b->h)), 8);
}

static void a_deleted_part_is_created_again(void **state)
{
	struct bed *b = *state;

	gpu_history_store_lead(b->store);
	bench_run(b->d, 16 * MINUTE);
	sample(b, 8);
	bench_run(b->d, 1000);
	bench_must(b->d, &b->d->host, "DELETE",
		   arena_printf(b->d->a, MAPS "/drover-history-%u", part_now(b)), NULL);
	bench_run(b->d, 16 * MINUTE);
	sample(b, 16);
	bench_run(b->d, MINUTE);
	OWN_JSON o = stored(b);

	assert_non_null(o);
}

static void a_part_is_not_written_before_it_was_read(void **state)
{
	struct bed *b = *state;
	const int64_t first = step_now(b);

	gpu_history_store_lead(b->store);
	bench_run(b->d, 10000);
	sample(b, 8);
	gpu_history_store_finish(b->store, on_done, b);
	bench_run(b->d, 1000);
	b->d->host.denied_at = "drover-history";
	restart(b);
	bench_run(b->d, 30 * MINUTE);
	sample(b, 16);
	bench_run(b->d, 30 * MINUTE);
	assert_true(b->d->host.denials < 40);
	assert_int_equal(gpus_at(b, first), -1);
	b->d->host.denied_at = NULL;
	bench_run(b->d, 10 * MINUTE);
	assert_int_equal(gpus_at(b, first), 8);
	restart(b);
	assert_int_equal(gpus_at(b, first), 8);
	assert_int_equal(gpus_at(b, first + 6), 16);
}

static void a_stop_before_the_first_read_writes_nothing(void **state)
{
	struct bed *b = *state;

	/* Waits until the day belongs to a part that is not read first, because the first read is
	 * already in flight when the stop begins. */
	while (part_now(b) == 0)
		bench_run(b->d, 60 * MINUTE);
	gpu_history_store_lead(b->store);
	sample(b, 8);
	gpu_history_store_finish(b->store, on_done, b);
	bench_run(b->d, 3000);
	assert_int_equal(b->done, 1);
	assert_string_equal(version(b), "");
}

static void a_stop_does_not_wait_for_a_dead_api_server(void **state)
{
	struct bed *b = *state;

	gpu_history_store_lead(b->store);
	bench_run(b->d, 10000);
	sample(b, 8);
	http_mem_hang(b->d->net, BENCH_HOST, true);
	gpu_history_store_finish(b->store, on_done, b);
	gpu_history_store_finish(b->store, on_done, b);
	bench_run(b->d, 3000);
	assert_int_equal(b->done, 1);
	http_mem_hang(b->d->net, BENCH_HOST, false);
}

static void a_replica_that_does_not_lead_writes_nothing(void **state)
{
	struct bed *b = *state;

	gpu_history_store_lead(b->store);
	bench_run(b->d, 16 * MINUTE);
	b->d->c.leading = false;
	sample(b, 8);
	bench_run(b->d, MINUTE);
	gpu_history_store_finish(b->store, on_done, b);
	bench_run(b->d, MINUTE);
	assert_int_equal(b->done, 1);
	assert_string_equal(version(b), "");
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_restart_keeps_the_history),
		T(it_is_written_every_15_minutes),
		T(midnight_begins_a_new_part),
		T(a_damaged_part_begins_anew),
		T(a_foreign_configmap_is_not_written),
		T(what_another_replica_wrote_is_kept),
		T(a_deleted_part_is_created_again),
		T(a_part_is_not_written_before_it_was_read),
		T(a_stop_before_the_first_read_writes_nothing),
		T(a_stop_does_not_wait_for_a_dead_api_server),
		T(a_replica_that_does_not_lead_writes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
