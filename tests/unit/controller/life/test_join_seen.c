#include "tests/unit/testing.h"

#include <string.h>

#include "base/data/json.h"
#include "base/str.h"
#include "controller/life/join_seen.h"

#define T0 1795907325000 /* 2026-11-28T23:08:45Z */

static void note(struct join_seen *s, const char *text)
{
	struct err e;
	char json[600];
	size_t n = 0;

	/* single quotes for double quotes */
	for (; text[n] && n < sizeof(json) - 1; n++)
		json[n] = text[n] == '\'' ? '"' : text[n];
	json[n] = '\0';
	OWN_JSON o = json_parse(json, n, &e);
	if (!o)
		fail_msg("%s", e.text);
	join_seen_csr(s, o);
}

static void assert_text(const struct join_seen *s, const char *want)
{
	char text[JOIN_SEEN_TEXT];

	assert_string_equal(join_seen_text(s, "h100-1", "team-a", text), want);
}

static void without_a_check_only_the_node_is_named(void **state)
{
	struct join_seen s = {0};

	(void)state;
	assert_text(&s, "no Node h100-1 in the cluster of tenant team-a");
}

static void the_token_is_named_with_the_time_at_which_it_was_seen(void **state)
{
	struct join_seen s = {.token_seen = T0};

	(void)state;
	assert_text(&s, "no Node h100-1 in the cluster of tenant team-a; its bootstrap token "
			"existed at 23:08:45 UTC");
	s.token_again = T0 + 1000;
	assert_text(&s, "no Node h100-1 in the cluster of tenant team-a; its bootstrap token was "
			"deleted, and created again at 23:08:46 UTC");
}

static void no_csr_of_the_token_is_said_to_be_missing(void **state)
{
	struct join_seen s = {.token_id = "abcdef", .token_seen = T0};

	(void)state;
	note(&s,
	     "{'metadata': {'name': 'theirs'}, 'spec': {'username': 'system:bootstrap:other1'}}");
	note(&s, "{'metadata': {'name': 'theirs'}, 'spec': {'username': 'system:node:h100-1'}}");
	note(&s, "{'metadata': {'name': 'none'}}");
	join_seen_listed(&s, NULL);
	assert_text(&s, "no Node h100-1 and no CSR of its bootstrap token in the cluster of tenant "
			"team-a; its bootstrap token existed at 23:08:45 UTC");
}

static void the_newest_csr_of_the_token_is_named_with_its_state(void **state)
{
	struct join_seen s = {.token_id = "abcdef"};

	(void)state;
#define CSR(name, time, status)                                                                    \
	"{'metadata': {'name': '" name "', 'creationTimestamp': '2026-11-28T" time "Z'}, "         \
	"'spec': {'username': 'system:bootstrap:abcdef'}, 'status': " status "}"
	note(&s, CSR("node-csr-b", "23:00:01", "{}"));
	join_seen_listed(&s, NULL);
	assert_text(&s, "no Node h100-1 in the cluster of tenant team-a; its CSR node-csr-b waits "
			"for approval");
	note(&s, CSR("node-csr-a", "23:00:00", "{'conditions': [{'type': 'Denied'}]}"));
	assert_int_equal(s.csr, JOIN_CSR_PENDING);
	note(&s, CSR("node-csr-c", "23:00:02", "{'conditions': [{'type': 'Denied'}]}"));
	assert_text(&s, "no Node h100-1 in the cluster of tenant team-a; its CSR node-csr-c was "
			"denied or failed");
	note(&s, CSR("node-csr-d", "23:00:03", "{'conditions': [{'type': 'Approved'}]}"));
	assert_text(&s, "no Node h100-1 in the cluster of tenant team-a; its CSR node-csr-d is "
			"approved, but not signed");
	note(&s, CSR("node-csr-e", "23:00:04",
		     "{'conditions': [{'type': 'Approved'}], 'certificate': 'eA=='}"));
	join_seen_listed(&s, NULL);
	assert_text(&s, "no Node h100-1 in the cluster of tenant team-a; its CSR node-csr-e is "
			"signed");
}

static void a_list_that_is_refused_is_named_and_one_that_is_not_served_is_not(void **state)
{
	struct join_seen s = {.token_id = "abcdef"};
	struct err e;

	(void)state;
	err_note(&e, ERR_NOT_FOUND, 404, "no such resource");
	join_seen_listed(&s, &e);
	assert_text(&s, "no Node h100-1 in the cluster of tenant team-a");
	err_note(&e, ERR_DENIED, 403, "no");
	join_seen_listed(&s, &e);
	assert_text(&s, "no Node h100-1 in the cluster of tenant team-a; drover may not list its "
			"CSRs");
}

static void a_hostile_name_is_printable_and_bounded(void **state)
{
	struct join_seen s = {.token_id = "abcdef"};
	char text[JOIN_SEEN_TEXT], name[400];

	(void)state;
	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	memcpy(name, "x\x1b[2J", 5);
	OWN_JSON o = json_pack("{s:{s:s}, s:{s:s}}", "metadata", "name", name, "spec", "username",
			       "system:bootstrap:abcdef");
	join_seen_csr(&s, o);
	join_seen_text(&s, name + 10, name + 10, text);
	assert_true(strlen(text) < JOIN_SEEN_TEXT);
	assert_null(strchr(text, '\x1b'));
	assert_non_null(strstr(text, "; its CSR x?[2J"));
}

static void try(struct join_seen *s, const char *user, int status)
{
	OWN_JSON review =
		user ? json_pack("{s:{s:{s:s}}}", "status", "userInfo", "username", user) : NULL;
	struct err e;

	err_note(&e, status == 404 ? ERR_NOT_FOUND : ERR_DENIED, status, "no");
	join_seen_tried(s, review, user ? NULL : &e);
}

static void only_an_answer_about_the_token_itself_counts(void **state)
{
	struct join_seen s = {.token_id = "abcdef", .token_seen = T0};

	(void)state;
	try(&s, NULL, 403);
	try(&s, NULL, 404);
	try(&s, "system:anonymous", 0);
	try(&s, "system:bootstrap:other1", 0);
	try(&s, "system:bootstrap:abcdef2", 0);
	assert_int_equal(s.token, JOIN_TOKEN_UNKNOWN);
	try(&s, NULL, 401);
	assert_int_equal(s.token, JOIN_TOKEN_REFUSED);
	try(&s, NULL, 403);
	assert_int_equal(s.token, JOIN_TOKEN_REFUSED);
	try(&s, "system:bootstrap:abcdef", 0);
	assert_text(&s, "no Node h100-1 in the cluster of tenant team-a; its bootstrap token "
			"existed at 23:08:45 UTC, and the API server accepts it");
	try(&s, NULL, 401);
	note(&s, "{'metadata': {'name': 'c'}, 'spec': {'username': 'system:bootstrap:abcdef'}}");
	assert_int_equal(s.token, JOIN_TOKEN_UNKNOWN);
	s = (struct join_seen){.token_id = "abcdef", .token = JOIN_TOKEN_ACCEPTED};
	assert_text(&s,
		    "no Node h100-1 in the cluster of tenant team-a; the API server accepts its "
		    "bootstrap token");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_check_only_the_node_is_named),
		cmocka_unit_test(the_token_is_named_with_the_time_at_which_it_was_seen),
		cmocka_unit_test(no_csr_of_the_token_is_said_to_be_missing),
		cmocka_unit_test(the_newest_csr_of_the_token_is_named_with_its_state),
		cmocka_unit_test(a_list_that_is_refused_is_named_and_one_that_is_not_served_is_not),
		cmocka_unit_test(only_an_answer_about_the_token_itself_counts),
		cmocka_unit_test(a_hostile_name_is_printable_and_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
