#include "tests/unit/testing.h"

#include "base/mem.h"
#include "base/str.h"
#include "providers/elastic.h"
#include "providers/exec_provider.h"
#include "providers/provider.h"
#include "tests/contract/fake_cloud.h"

/* Tests the cases that every provider which launches paid instances must pass
 * (providers/elastic.h). */
struct cloud {
	struct loop *loop;
	struct loop_group *group, *far;
	struct fake_cloud fake;
	struct provider *provider;
	/* Number of done() calls for the last call */
	unsigned answers;
	size_t n;
	struct err err;
	char id[64], state[16];
	int64_t micros;
	bool may;
	/* Calls that were reported to the watch */
	unsigned ended;
};

static void on_ended(const char *operation, int64_t ms, const struct err *e, void *arg)
{
	unsigned *ended = arg;

	(void)e;
	assert_non_null(operation);
	assert_true(ms >= 0);
	++*ended;
}

static void cloud_start(struct cloud *k)
{
	static const char *const command[] = {FAKE_CLOUD, NULL}, *const allowed[] = {FAKE_CLOUD,
										     NULL};
	static const struct provider_exec program = {.command = command, .allowed = allowed};
	struct provider_spec s = {
		.name = "sky", .type = "exec", .exec = &program, .watch = {on_ended, &k->ended}};
	struct err e;

	*k = (struct cloud){.loop = loop_sim_new(71, 1764000000000), .may = true};
	k->group = s.group = loop_group_new(k->loop, "drover");
	k->far = loop_group_new(k->loop, "cloud");
	fake_cloud_init(&k->fake, k->far);
	k->fake.zones[0].zone = "a";
	k->fake.zones[0].type = "big";
	k->fake.zones[0].micros = 2500000;
	k->fake.zones[0].capacity = -1;
	k->provider = provider_new(&s, &e);
	assert_non_null(k->provider);
}

static void cloud_stop(struct cloud *k)
{
	provider_free(k->provider);
	loop_sim_run_until(k->loop, loop_now(k->loop) + 1000);
	fake_cloud_done(&k->fake);
	loop_group_free(k->group);
	loop_group_free(k->far);
	loop_free(k->loop);
}

static void on_offers(const struct offer *o, size_t n, const struct err *e, void *arg)
{
	struct cloud *k = arg;

	k->answers++;
	k->n = n;
	k->err = e ? *e : (struct err){0};
	k->micros = n ? o[0].micros_per_hour : 0;
}

static void on_instances(const struct elastic_instance *v, size_t n, const struct err *e, void *arg)
{
	struct cloud *k = arg;

	k->answers++;
	k->n = n;
	k->err = e ? *e : (struct err){0};
	str_copy(k->id, sizeof(k->id), n ? v[0].id : "");
	str_copy(k->state, sizeof(k->state), n ? elastic_state_names[v[0].state] : "");
}

static bool may_act(void *arg)
{
	return ((struct cloud *)arg)->may;
}

/* Runs for ms. Asserts that exactly one answer came, and that it did not come before the call
 * returned. */
static void settle(struct cloud *k, int64_t ms)
{
	assert_int_equal(k->answers, 0);
	loop_sim_run_until(k->loop, loop_now(k->loop) + ms);
	assert_int_equal(k->answers, 1);
	/* A launch that drover withdrew is not reported. */
	assert_int_equal(k->ended, k->may);
	k->answers = k->ended = 0;
}

static void launch(struct cloud *k, const char *token, const char *zone)
{
	const struct elastic_tag tags[] = {{ELASTIC_TAG_CLUSTER, "c-1"},
					   {ELASTIC_TAG_MACHINE, "m-1"}};
	struct elastic_launch l = {
		.token = token,
		.offer = {.region = "r1", .zone = zone, .type = "big"},
		.user_data = "secret",
		.user_data_len = 6,
		.count = 1,
		.max_micros_per_hour = -1,
		.tags = tags,
		.ntags = 2,
		.may_act = may_act,
		.may_act_arg = k,
	};

	assert_true(provider_launch(k->provider, &l, on_instances, k));
}

static void list(struct cloud *k, const char *cluster)
{
	assert_true(provider_list_owned(k->provider, cluster, on_instances, k));
	settle(k, 5000);
}

static void an_offer_has_its_price(void **state)
{
	struct cloud k;

	(void)state;
	cloud_start(&k);
	assert_true(provider_offers(k.provider, on_offers, &k));
	settle(&k, 5000);
	assert_int_equal(k.n, 1);
	assert_int_equal(k.micros, 2500000);
	cloud_stop(&k);
}

static void the_same_token_again_launches_nothing_new(void **state)
{
	struct cloud k;

	(void)state;
	cloud_start(&k);
	k.fake.lose_launches = 1;
	launch(&k, "t-1", "a");
	settle(&k, PROVIDER_CALL_MS);
	assert_int_equal(k.err.kind, ERR_TIMEOUT);
	launch(&k, "t-1", "a");
	settle(&k, PROVIDER_CALL_MS);
	assert_int_equal(k.err.kind, ERR_NONE);
	assert_string_equal(k.id, "i-1");
	assert_int_equal(k.fake.launched, 1);
	assert_string_equal(
		list_entry(k.fake.instances.next, struct fake_instance, link)->user_data, "secret");
	launch(&k, "t-2", "a");
	settle(&k, 5000);
	assert_string_equal(k.id, "i-2");
	cloud_stop(&k);
}

static void what_is_owned_is_found_by_tag_alone_over_pages(void **state)
{
	struct cloud k;

	(void)state;
	cloud_start(&k);
	k.fake.page = 2;
	for (int i = 0; i < 5; i++) {
		launch(&k, &"abcde"[i], "a");
		settle(&k, 5000);
	}
	list(&k, "c-1");
	assert_int_equal(k.n, 5);
	list(&k, "c-2");
	assert_int_equal(k.n, 0);
	cloud_stop(&k);
}

static void terminate_is_idempotent_and_list_owned_says_gone(void **state)
{
	struct cloud k;

	(void)state;
	cloud_start(&k);
	launch(&k, "t-1", "a");
	settle(&k, 5000);
	for (int i = 0; i < 2; i++) {
		assert_true(provider_terminate(k.provider, "r1", "i-1", may_act, on_instances, &k));
		settle(&k, 10000);
		assert_int_equal(k.err.kind, ERR_NONE);
	}
	list(&k, "c-1");
	assert_string_equal(k.state, "Gone");
	assert_true(provider_terminate(k.provider, "r1", "i-9", may_act, on_instances, &k));
	settle(&k, 5000);
	assert_int_equal(k.err.kind, ERR_NONE);
	cloud_stop(&k);
}

static void refusals_have_a_kind_and_a_scope(void **state)
{
	struct cloud k;

	(void)state;
	cloud_start(&k);
	k.fake.zones[0].capacity = 0;
	launch(&k, "t-1", "a");
	settle(&k, 5000);
	assert_int_equal(k.err.kind, ERR_CAPACITY);
	assert_int_equal(k.err.scope, ERR_ZONE);
	k.fake.error = "quota";
	launch(&k, "t-1", "a");
	settle(&k, 5000);
	assert_int_equal(k.err.kind, ERR_QUOTA);
	assert_int_equal(k.err.scope, ERR_ACCOUNT);
	cloud_stop(&k);
}

static void what_may_not_be_done_any_more_is_not_sent(void **state)
{
	struct cloud k;

	(void)state;
	cloud_start(&k);
	k.may = false;
	launch(&k, "t-1", "a");
	settle(&k, 5000);
	assert_int_equal(k.err.kind, ERR_CONFLICT);
	assert_int_equal(k.fake.asked, 0);
	assert_true(provider_terminate(k.provider, "r1", "i-1", may_act, on_instances, &k));
	settle(&k, 5000);
	assert_int_equal(k.err.kind, ERR_CONFLICT);
	assert_int_equal(k.fake.terminations, 0);
	cloud_stop(&k);
}

static void a_provider_that_is_freed_answers_nothing_more(void **state)
{
	struct cloud k;

	(void)state;
	cloud_start(&k);
	launch(&k, "t-1", "a");
	k.may = false;
	launch(&k, "t-2", "a");
	assert_true(provider_list_owned(k.provider, "c-1", on_instances, &k));
	cloud_stop(&k);
	assert_int_equal(k.answers, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_offer_has_its_price),
		cmocka_unit_test(the_same_token_again_launches_nothing_new),
		cmocka_unit_test(what_is_owned_is_found_by_tag_alone_over_pages),
		cmocka_unit_test(terminate_is_idempotent_and_list_owned_says_gone),
		cmocka_unit_test(refusals_have_a_kind_and_a_scope),
		cmocka_unit_test(what_may_not_be_done_any_more_is_not_sent),
		cmocka_unit_test(a_provider_that_is_freed_answers_nothing_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
