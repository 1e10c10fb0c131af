/* Tests that a BurstState contains all of the input that the decisions use. */
#include "tests/unit/testing.h"

#include <string.h>
#include "base/arena.h"
#include "base/str.h"
#include "controller/burst/state.h"

#define AT INT64_C(1790000000000)
#define NAMES(...) ((const char *[]){__VA_ARGS__})

/* Returns metadata and spec of the BurstState of the input; the caller owns it. */
static json_t *body_of(const struct burst_input *in)
{
	json_t *spec = burst_state_spec(in), *work = json_array();

	for (size_t i = 0; i < in->nwork; i++)
		json_array_append_new(work, burst_state_work(&in->work[i]));
	json_object_set_new(spec, "work", work);
	return json_pack("{s:{s:s}, s:o}", "metadata", "name", "now", "spec", spec);
}

static const struct burst_offer offer = {.provider = "sky",
					 .kind = {.type = "gpu-8",
						  .region = "r1",
						  .zone = "b",
						  .reservation = "cr-1",
						  .market = MARKET_RESERVED,
						  .micros_per_hour = 20500000,
						  .currency = "USD",
						  .available = 3,
						  .ends_at = AT + 7200000},
					 .priced_at = AT - 60000,
					 .gpus = 8,
					 .link = BURST_EFA,
					 .product = "H100"};
static const struct burst_failure failure = {"sky", "r1", "a", "gpu-8", true, AT - 30000};
static const struct burst_rate rate = {"H100", "USD", 1250000};
static const struct burst_launch launch = {.policy = "research",
					   .tenant = "team-a",
					   .workload = "default/train",
					   .owner = "default/Job/train",
					   .provider = "sky",
					   .currency = "USD",
					   .at = AT - 3600000,
					   .spent = 20500000,
					   .committed = 4000000,
					   .over = {AT - 600000, AT, 20500000},
					   .nodes = 1,
					   .gpus = 8,
					   .starting = true,
					   .part = true,
					   .of_month = true};
static struct label pod_labels[] = {{"app", "train"}};
static struct burst_traits others[] = {{"lab", "batch", {pod_labels, 1}}};
static const struct burst_work work = {.tenant = "team-a",
				       .name = "default/train",
				       .owner = "default/Job/train",
				       .pods = 2,
				       .traits = {"default", "night", {pod_labels, 1}},
				       .others = {others, 1},
				       .gpus = 8,
				       .product = "H100",
				       .priority = 7,
				       .since = AT - 120000,
				       .p50 = AT + 60000,
				       .p90 = AT + 90000,
				       .impossible = true,
				       .saves = true,
				       .interval_ms = 1800000,
				       .approved = true,
				       .approved_by = {NAMES("research", "night"), 2},
				       .approval = "approved by alice",
				       .runs_ms = 5400000,
				       .said = true,
				       .wrong = "expected-runtime: want a duration",
				       .start_by = AT + 3600000,
				       .data_class = "public",
				       .restarts = 2,
				       .data = {NAMES("imagenet", "weights"), 2}};

static void a_state_contains_the_whole_input(void **state)
{
	const struct burst_input in = {.now = AT,
				       .offers = &offer,
				       .noffers = 1,
				       .work = &work,
				       .nwork = 1,
				       .failures = &failure,
				       .nfailures = 1,
				       .launches = &launch,
				       .nlaunches = 1,
				       .gpus_used = 24,
				       .gpus_owned = 32,
				       .rates = &rate,
				       .nrates = 1};
	OWN(arena) a = arena_new();
	OWN_JSON one = body_of(&in);
	struct burst_input out;
	const struct burst_work *w;
	struct err e;

	(void)state;
	assert_ok(burst_state_decode(one, &out, a, &e), &e);
	OWN_JSON two = body_of(&out);

	assert_true(json_equal(two, one));
	assert_int_equal(out.offers[0].kind.market, MARKET_RESERVED);
	assert_int_equal(out.offers[0].link, BURST_EFA);
	assert_int_equal(out.launches[0].over.until, AT);
	assert_true(out.launches[0].part && out.launches[0].of_month);
	assert_int_equal(out.gpus_used, 24);
	w = out.work;
	assert_int_equal(w->rank, 0);
	assert_int_equal(w->approved_by.n, 2);
	assert_string_equal(w->others.v[0].queue, "batch");
	assert_string_equal(w->wrong, work.wrong);
	assert_true(w->said);
	assert_string_equal(w->data.v[1], "weights");
	assert_string_equal(w->owner, "default/Job/train");
}

/* Files that an operator writes leave out what is usual. */
static void what_is_absent_has_its_usual_value(void **state)
{
	OWN(arena) a = arena_new();
	OWN_JSON j =
		json_pack("{s:{s:s}, s:{s:s, s:[{s:s, s:s, s:i, s:i, s:s}], s:[{s:s, s:s, s:s, "
			  "s:s, s:s}]}}",
			  "metadata", "name", "now", "spec", "now", "2026-11-29T12:00:00Z", "work",
			  "tenant", "a", "name", "x", "gpusPerPod", 8, "priority", 5, "since",
			  "2026-11-29T11:00:00Z", "launches", "tenant", "a", "provider", "sky",
			  "currency", "USD", "at", "2026-11-29T11:00:00Z", "spent", "3");
	struct burst_input in;
	struct err e;

	(void)state;
	assert_ok(burst_state_decode(j, &in, a, &e), &e);
	assert_int_equal(in.work[0].rank, 5);
	assert_int_equal(in.work[0].pods, 1);
	assert_string_equal(in.launches[0].policy, "");
	assert_string_equal(in.launches[0].workload, "");
	assert_int_equal(in.launches[0].over.until, 0);
	assert_int_equal(in.npolicies, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_state_contains_the_whole_input),
		cmocka_unit_test(what_is_absent_has_its_usual_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
