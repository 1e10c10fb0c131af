#include "tests/unit/testing.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/crypto.h"
#include "base/data/json.h"
#include "base/loop/loop_uv.h"
#include "base/mem.h"
#include "base/str.h"
#include "providers/elastic.h"
#include "providers/exec_provider.h"
#include "providers/provider.h"

/* Tests the shipped program for Latitude.sh (examples/exec-provider/latitude) against a simulation
 * of that cloud's API, which keeps its servers and user data in a file. Each row of faults starts
 * the program anew, as a new leader does. */
#define PLAN "g4-rtx6kpro-large"
#define WORDS 8

struct cloud {
	struct loop *loop;
	struct loop_group *group;
	struct provider *provider;
	char folder[40], table[64], fake[PATH_MAX], program[PATH_MAX];
	/* The last answer */
	bool answered;
	size_t n;
	struct err err;
	char id[64], state[16], claim[64], reason[64];
	int64_t launched_at;
	struct {
		char region[16];
		int64_t micros, available;
	} offers[4];
};

static void on_answer(struct cloud *k, size_t n, const struct err *e)
{
	k->answered = true;
	k->n = n;
	k->err = e ? *e : (struct err){0};
	loop_stop(k->loop);
}

static void on_offers(const struct offer *o, size_t n, const struct err *e, void *arg)
{
	struct cloud *k = arg;

	for (size_t i = 0; i < n && i < 4; i++) {
		str_copy(k->offers[i].region, sizeof(k->offers[i].region), o[i].region);
		k->offers[i].micros = o[i].micros_per_hour;
		k->offers[i].available = o[i].available;
	}
	on_answer(k, n, e);
}

static void on_instances(const struct elastic_instance *v, size_t n, const struct err *e, void *arg)
{
	struct cloud *k = arg;

	str_copy(k->id, sizeof(k->id), n ? v[0].id : "");
	str_copy(k->state, sizeof(k->state), n ? elastic_state_names[v[0].state] : "");
	str_copy(k->reason, sizeof(k->reason), n ? str_or(v[0].reason, "") : "");
	k->claim[0] = '\0';
	for (size_t i = 0; n && i < v[0].ntags; i++)
		if (str_eq(v[0].tags[i].key, ELASTIC_TAG_CLAIM))
			str_copy(k->claim, sizeof(k->claim), v[0].tags[i].value);
	k->launched_at = n ? v[0].launched_at : 0;
	on_answer(k, n, e);
}

static void await(struct cloud *k)
{
	while (!k->answered)
		loop_run(k->loop);
	k->answered = false;
}

/* Starts the program with these faults and options of the simulation, separated by spaces. */
static void start(struct cloud *k, const char *words)
{
	char text[200], *rest = text, *word;
	const char *command[3 + WORDS + 1] = {k->fake, k->program, k->table};
	const char *const allowed[] = {k->fake, NULL};
	struct provider_exec program = {.command = command, .allowed = allowed};
	struct provider_spec s = {.name = "l", .type = "exec", .exec = &program, .group = k->group};
	size_t n = 3;
	struct err e;

	str_copy(text, sizeof(text), words);
	while ((word = strsep(&rest, " ")))
		if (*word)
			command[n++] = word;
	assert_true(n <= 3 + WORDS);
	provider_free(k->provider);
	k->provider = provider_new(&s, &e);
	if (!k->provider)
		fail_msg("%s", e.text);
}

static void cloud_start(struct cloud *k, const char *words)
{
	*k = (struct cloud){.loop = loop_uv_new(), .folder = "/tmp/drover-latitude-XXXXXX"};
	k->group = loop_group_new(k->loop, "drover");
	assert_non_null(mkdtemp(k->folder));
	str_format(k->table, sizeof(k->table), "%s/state", k->folder);
	assert_non_null(realpath("tests/contract/fake_latitude", k->fake));
	assert_non_null(realpath("examples/exec-provider/latitude/latitude", k->program));
	start(k, words);
}

static void cloud_stop(struct cloud *k)
{
	char key[80];

	provider_free(k->provider);
	loop_group_free(k->group);
	loop_free(k->loop);
	str_format(key, sizeof(key), "%s.key", k->table);
	unlink(k->table);
	unlink(key);
	rmdir(k->folder);
}

static void launch_data(struct cloud *k, const char *token, const char *site, const char *data)
{
	const struct elastic_tag tags[] = {{ELASTIC_TAG_CLUSTER, "c-1"},
					   {ELASTIC_TAG_MACHINE, "m-1"},
					   {ELASTIC_TAG_CLAIM, "u-1"}};
	struct elastic_launch l = {
		.token = token,
		.offer = {.region = site, .type = PLAN},
		.user_data = data,
		.user_data_len = strlen(data),
		.count = 1,
		.max_micros_per_hour = -1,
		.tags = tags,
		.ntags = 3,
	};

	assert_true(provider_launch(k->provider, &l, on_instances, k));
	await(k);
}

static void launch(struct cloud *k, const char *token, const char *site)
{
	launch_data(k, token, site, "#cloud-config\n{}\n");
}

static void list(struct cloud *k, const char *cluster)
{
	assert_true(provider_list_owned(k->provider, cluster, on_instances, k));
	await(k);
}

static void terminate(struct cloud *k, const char *id)
{
	assert_true(provider_terminate(k->provider, "DAL", id, NULL, on_instances, k));
	await(k);
}

static json_t *table(const struct cloud *k)
{
	json_t *j = json_load_file(k->table, 0, NULL);

	assert_non_null(j);
	return j;
}

/* Returns the number of servers that were ever created (made), or of the user data that exist. */
static size_t made(const struct cloud *k)
{
	OWN_JSON j = table(k);

	return (size_t)json_int_at(j, "made");
}

static size_t stored(const struct cloud *k)
{
	OWN_JSON j = table(k);

	return json_array_size(json_object_get(j, "user_data"));
}

static size_t requests(const struct cloud *k, const char *what)
{
	OWN_JSON j = table(k);

	return (size_t)json_int_at(json_object_get(j, "requests"), what);
}

static void refused(const struct cloud *k, enum err_kind kind, enum err_scope scope)
{
	if (k->err.kind != kind || k->err.scope != scope)
		fail_msg("%s, scope %d: %s", err_kind_name(k->err.kind), k->err.scope, k->err.text);
}

/* --- offers ----------------------------------------------------------------------------------- */

/* The plan is on the second page of the cloud's list. */
static void an_offer_is_a_plan_at_a_site_with_its_price_and_stock(void **state)
{
	struct cloud k;

	(void)state;
	cloud_start(&k, "");
	assert_true(provider_offers(k.provider, on_offers, &k));
	await(&k);
	assert_int_equal(k.n, 2);
	assert_string_equal(k.offers[0].region, "CHI");
	assert_int_equal(k.offers[0].available, 0);
	assert_string_equal(k.offers[1].region, "DAL");
	assert_int_equal(k.offers[1].available, -1);
	/* 16.1234567, rounded up to a millionth */
	assert_int_equal(k.offers[1].micros, 16123457);
	cloud_stop(&k);
}

/* --- launches --------------------------------------------------------------------------------- */

static void a_launch_is_answered_before_the_server_is_deployed(void **state)
{
	struct cloud k;

	(void)state;
	cloud_start(&k, "");
	launch(&k, "t-1", "DAL");
	assert_int_equal(k.err.kind, ERR_NONE);
	assert_string_equal(k.state, "Pending");
	for (int i = 0; i < 2; i++) {
		list(&k, "c-1");
		assert_string_equal(k.state, "Pending");
	}
	list(&k, "c-1");
	assert_string_equal(k.id, "sv_1");
	assert_string_equal(k.state, "Running");
	assert_string_equal(k.claim, "u-1");
	assert_true(k.launched_at > 0);
	list(&k, "c-2");
	assert_int_equal(k.n, 0);
	cloud_stop(&k);
}

static void a_token_is_one_server_also_for_the_next_process(void **state)
{
	struct cloud k;

	(void)state;
	cloud_start(&k, "");
	launch(&k, "t-1", "DAL");
	launch(&k, "t-1", "DAL");
	assert_string_equal(k.id, "sv_1");
	start(&k, "");
	launch(&k, "t-1", "DAL");
	assert_string_equal(k.id, "sv_1");
	launch(&k, "t-1", "CHI");
	refused(&k, ERR_CONFLICT, ERR_REQUEST);
	launch(&k, "t-2", "DAL");
	assert_string_equal(k.id, "sv_2");
	assert_int_equal(made(&k), 2);
	assert_int_equal(stored(&k), 2);
	cloud_stop(&k);
}

static void a_lost_answer_is_found_by_the_hostname(void **state)
{
	struct cloud k;

	(void)state;
	cloud_start(&k, "lost");
	launch(&k, "t-1", "DAL");
	assert_int_equal(k.err.kind, ERR_NONE);
	assert_string_equal(k.id, "sv_1");
	list(&k, "c-1");
	assert_string_equal(k.claim, "u-1");
	assert_int_equal(made(&k), 1);
	cloud_stop(&k);
}

/* The answer is lost, and the server is not listed yet: a second server must not be created while
 * the first may still appear. */
static void what_is_not_listed_yet_is_waited_for(void **state)
{
	struct cloud k;

	(void)state;
	cloud_start(&k, "lost hidden");
	launch(&k, "t-1", "DAL");
	refused(&k, ERR_TIMEOUT, ERR_PROVIDER);
	start(&k, "hidden later=60");
	launch(&k, "t-1", "DAL");
	refused(&k, ERR_UNAVAILABLE, ERR_PROVIDER);
	assert_true(k.err.retry_after_ms > 0 && k.err.retry_after_ms <= 60000);
	assert_int_equal(made(&k), 1);
	start(&k, "later=130");
	launch(&k, "t-1", "DAL");
	assert_string_equal(k.id, "sv_1");
	assert_int_equal(made(&k), 1);
	cloud_stop(&k);
}

/* A launch whose request never reached the cloud leaves user data without a server. */
static void what_never_appears_is_launched_after_the_wait(void **state)
{
	struct cloud k;

	(void)state;
	cloud_start(&k, "lost hidden");
	launch(&k, "t-1", "DAL");
	refused(&k, ERR_TIMEOUT, ERR_PROVIDER);
	start(&k, "hidden later=130");
	launch(&k, "t-1", "DAL");
	assert_int_equal(k.err.kind, ERR_NONE);
	assert_int_equal(made(&k), 2);
	assert_int_equal(stored(&k), 1);
	cloud_stop(&k);
}

static void no_stock_is_a_lack_of_capacity_and_leaves_nothing(void **state)
{
	struct cloud k;

	(void)state;
	cloud_start(&k, "sold-out");
	launch(&k, "t-1", "DAL");
	refused(&k, ERR_CAPACITY, ERR_ZONE);
	assert_non_null(strstr(k.err.text, "No stock availability"));
	assert_int_equal(stored(&k), 0);
	start(&k, "");
	launch(&k, "t-2", "DAL");
	assert_string_equal(k.id, "sv_1");
	cloud_stop(&k);
}

static void a_refused_key_is_denied_for_the_account(void **state)
{
	struct cloud k;

	(void)state;
	cloud_start(&k, "locked");
	launch(&k, "t-1", "DAL");
	refused(&k, ERR_DENIED, ERR_ACCOUNT);
	list(&k, "c-1");
	refused(&k, ERR_DENIED, ERR_ACCOUNT);
	cloud_stop(&k);
}

/* After a 429 the program sends no more writes for the stated time, wherever the cloud states
 * it. */
static void a_rate_limit_is_kept_for_the_time_that_the_cloud_states(void **state)
{
	static const struct {
		const char *fault;
		uint32_t ms;
	} cases[] = {{"throttled", 45000}, {"header", 30000}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct cloud k;

		cloud_start(&k, cases[i].fault);
		launch(&k, "t-1", "DAL");
		refused(&k, ERR_UNAVAILABLE, ERR_PROVIDER);
		assert_int_equal(k.err.retry_after_ms, cases[i].ms);
		launch(&k, "t-1", "DAL");
		refused(&k, ERR_UNAVAILABLE, ERR_PROVIDER);
		assert_true(k.err.retry_after_ms > 0 && k.err.retry_after_ms <= cases[i].ms);
		assert_int_equal(requests(&k, "POST /user_data"), 1);
		assert_int_equal(requests(&k, "POST /servers"), 0);
		cloud_stop(&k);
	}
}

/* One of two servers fails: the other one is listed as it is. */
static void a_failed_deployment_is_ending_and_can_be_terminated(void **state)
{
	struct cloud k;

	(void)state;
	cloud_start(&k, "broken");
	launch(&k, "t-1", "DAL");
	assert_string_equal(k.state, "Pending");
	start(&k, "");
	launch(&k, "t-2", "DAL");
	list(&k, "c-1");
	assert_int_equal(k.n, 2);
	assert_string_equal(k.id, "sv_1");
	assert_string_equal(k.state, "Ending");
	assert_string_equal(k.reason, "the deployment failed");
	terminate(&k, "sv_1");
	assert_string_equal(k.state, "Ending");
	list(&k, "c-1");
	list(&k, "c-1");
	assert_int_equal(k.n, 1);
	assert_string_equal(k.id, "sv_2");
	terminate(&k, "sv_1");
	assert_int_equal(k.err.kind, ERR_NONE);
	assert_int_equal(k.n, 0);
	cloud_stop(&k);
}

static void the_setup_script_runs_before_the_join(void **state)
{
	static const char data[] =
		"#cloud-config\n{\"write_files\": [{\"path\": \"/run/drover/x\"}], "
		"\"runcmd\": [[\"systemctl\", \"start\", \"x\"]]}\n";
	char script[80], words[120], *text;
	const char *content;
	size_t len;
	struct cloud k;
	struct err e;
	FILE *f;

	(void)state;
	cloud_start(&k, "");
	str_format(script, sizeof(script), "%s/setup", k.folder);
	f = fopen(script, "w");
	fputs("echo installed\n", f);
	fclose(f);
	str_format(words, sizeof(words), "-- --setup %s", script);
	start(&k, words);
	launch_data(&k, "t-1", "DAL", data);
	assert_int_equal(k.err.kind, ERR_NONE);
	{
		OWN_JSON j = table(&k);
		OWN_JSON config = NULL;

		content = json_str_at(json_array_get(json_object_get(j, "user_data"), 0),
				      "attributes", "content");
		text = (char *)crypto_base64_decode(content, strlen(content), &len, &e);
		assert_non_null(text);
		assert_true(str_starts(text, "#cloud-config\n"));
		config = json_loadb(text + 14, len - 14, 0, NULL);
		assert_int_equal(json_array_size(json_object_get(config, "write_files")), 2);
		assert_string_equal(
			json_str_at(json_array_get(json_object_get(config, "write_files"), 1),
				    "path"),
			"/run/drover/setup");
		assert_string_equal(
			json_string_value(json_array_get(
				json_array_get(json_object_get(config, "runcmd"), 0), 1)),
			"/run/drover/setup");
		free(text);
	}
	unlink(script);
	cloud_stop(&k);
}

/* --- lists ------------------------------------------------------------------------------------ */

static void a_list_has_all_pages_and_no_server_of_others(void **state)
{
	struct cloud k;

	(void)state;
	cloud_start(&k, "crowded");
	launch(&k, "t-1", "DAL");
	list(&k, "c-1");
	assert_int_equal(k.n, 1);
	assert_string_equal(k.id, "sv_1");
	cloud_stop(&k);
}

/* Without the tags drover would take the server for one that nobody owns. */
static void a_server_whose_tags_were_deleted_fails_the_list_and_is_named(void **state)
{
	struct cloud k;

	(void)state;
	cloud_start(&k, "");
	launch(&k, "t-1", "DAL");
	{
		OWN_JSON j = table(&k);

		json_array_clear(json_object_get(j, "user_data"));
		assert_int_equal(json_dump_file(j, k.table, 0), 0);
	}
	list(&k, "c-1");
	refused(&k, ERR_UNAVAILABLE, ERR_PROVIDER);
	assert_non_null(strstr(k.err.text, "sv_1"));
	list(&k, "c-2");
	assert_int_equal(k.err.kind, ERR_NONE);
	cloud_stop(&k);
}

static void user_data_goes_after_its_server(void **state)
{
	struct cloud k;

	(void)state;
	cloud_start(&k, "");
	launch(&k, "t-1", "DAL");
	launch(&k, "t-2", "DAL");
	terminate(&k, "sv_1");
	list(&k, "c-1");
	list(&k, "c-1");
	assert_int_equal(stored(&k), 2);
	start(&k, "later=3600");
	list(&k, "c-1");
	assert_int_equal(stored(&k), 1);
	list(&k, "c-1");
	assert_int_equal(stored(&k), 1);
	assert_string_equal(k.claim, "u-1");
	cloud_stop(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_offer_is_a_plan_at_a_site_with_its_price_and_stock),
		cmocka_unit_test(a_launch_is_answered_before_the_server_is_deployed),
		cmocka_unit_test(a_token_is_one_server_also_for_the_next_process),
		cmocka_unit_test(a_lost_answer_is_found_by_the_hostname),
		cmocka_unit_test(what_is_not_listed_yet_is_waited_for),
		cmocka_unit_test(what_never_appears_is_launched_after_the_wait),
		cmocka_unit_test(no_stock_is_a_lack_of_capacity_and_leaves_nothing),
		cmocka_unit_test(a_refused_key_is_denied_for_the_account),
		cmocka_unit_test(a_rate_limit_is_kept_for_the_time_that_the_cloud_states),
		cmocka_unit_test(a_failed_deployment_is_ending_and_can_be_terminated),
		cmocka_unit_test(the_setup_script_runs_before_the_join),
		cmocka_unit_test(a_list_has_all_pages_and_no_server_of_others),
		cmocka_unit_test(a_server_whose_tags_were_deleted_fails_the_list_and_is_named),
		cmocka_unit_test(user_data_goes_after_its_server),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
