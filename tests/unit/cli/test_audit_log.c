/* Tests `drover audit` on files. */
#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/auditlog.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "tests/unit/cli/program.h"
#include "tests/unit/cli/verb.h"

#define N 4
#define AUDIT(input, ...)                                                                          \
	verb_run("drover audit", cli_audit, input, (const char *const[]){__VA_ARGS__, NULL})

static char folder[64];
/* lines[i]: the entry i + 1 with a newline */
static char *lines[N], *head;

static int setup(void **state)
{
	const char *previous = AUDIT_GENESIS;
	struct audit_entry e = {.time = 1790000000000,
				.who = "drover",
				.event = AUDIT_STATE,
				.kind = "Machine",
				.uid = "u",
				.version = "7",
				.field = "status.state",
				.from = "free",
				.to = "claimed",
				.operation = "op-1",
				.why = "Empty",
				.tenant = "team-a"};

	(void)state;
	program_folder(folder);
	for (int i = 0; i < N; i++) {
		OWN_JSON j = NULL;
		char *text;

		e.name = i % 2 ? "gpu-2" : "gpu-1";
		e.late = i == 3;
		e.count = i == 3 ? 12 : 0;
		e.who = i == 2 ? "unknown" : "drover";
		e.program = i == 2 ? "kubectl-edit" : NULL;
		e.time += 3600 * 1000;
		e.tenant = i == 2 ? "team-b" : "team-a";
		j = audit_entry_encode(&e);
		audit_entry_seal(j, i + 1, previous);
		text = json_text(j);
		lines[i] = mem_printf("%s\n", text);
		free(text);
		free(head);
		head = mem_strdup(json_str_at(j, "digest"));
		previous = head;
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (int i = 0; i < N; i++)
		free(lines[i]);
	free(head);
	head = NULL;
	program_folder_done(folder);
	return 0;
}

/* Returns the lines whose numbers are the digits of order, as one text. */
static char *text_of(const char *order)
{
	char *text = mem_strdup("");

	for (; *order; order++) {
		char *more = mem_printf("%s%s", text, lines[*order - '1']);

		free(text);
		text = more;
	}
	return text;
}

static const char *put(const char *name, const char *text)
{
	static char path[2][128];
	static int at;
	FILE *f;

	at = !at;
	str_format(path[at], sizeof(path[at]), "%s/%s", folder, name);
	f = fopen(path[at], "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	return path[at];
}

static int verify(const char *order)
{
	char *text = text_of(order);
	int rc = AUDIT(text, "verify", "-");

	free(text);
	return rc;
}

static void a_good_file_is_verified_and_a_fault_is_named(void **state)
{
	(void)state;
	assert_int_equal(verify("1234"), 0);
	verb_assert_said("4 entries, 1 to 4, last digest sha256:");
	verb_assert_said("Every entry is as it was written.");
	assert_int_equal(verify("34"), 0);
	verb_assert_said("The entries before 3 are in none of the inputs.");
	assert_int_equal(verify("124"), 1);
	verb_assert_said("missing: entry 3 is missing.");
	assert_int_equal(verify("1223"), 1);
	verb_assert_said("doubled: entry 2 of standard input is there twice.");
	assert_int_equal(verify("1324"), 1);
	verb_assert_said("reordered: entry 2 of standard input is after a later entry.");
	assert_int_equal(verify(""), 1);
	verb_assert_said("There is nothing to check.");
}

static void rotated_files_are_verified_as_one_log(void **state)
{
	char *one = text_of("12"), *two = text_of("34");
	const char *a = put("log.1", one), *b = put("log", two);

	(void)state;
	assert_int_equal(AUDIT(NULL, "verify", b, a, "-o", "json"), 0);
	verb_assert_said("\"ok\": true");
	verb_assert_said("\"entries\": 4");
	assert_int_equal(AUDIT(NULL, "verify", a, b, "--head", head), 0);
	assert_int_equal(AUDIT(NULL, "verify", a, "--head", head), 1);
	verb_assert_said("missing: no entry has the digest of --head");
	free(one);
	free(two);
}

static void merged_lines_may_be_repeated_in_any_order(void **state)
{
	char *text = text_of("342311"), *hole = text_of("4211");

	(void)state;
	assert_int_equal(AUDIT(text, "verify", "-"), 1);
	assert_int_equal(AUDIT(text, "verify", "-", "--merged"), 0);
	verb_assert_said("4 entries, 1 to 4");
	assert_int_equal(AUDIT(hole, "verify", "-", "--merged"), 1);
	verb_assert_said("missing: entry 3 is missing.");
	free(text);
	free(hole);
}

static void a_line_that_was_cut_off_is_explained(void **state)
{
	char *rest = text_of("34"), *text;

	(void)state;
	text = mem_printf("%s%s%.40s\n%s", lines[0], lines[1], lines[2], rest);
	assert_int_equal(AUDIT(text, "verify", "-"), 0);
	verb_assert_said("standard input: line 3 is no entry and was ignored, as 1 lines in all");
	free(text);
	text = mem_printf("%s%s%.40s\n%s", lines[0], lines[1], lines[2], lines[3]);
	assert_int_equal(AUDIT(text, "verify", "-"), 1);
	verb_assert_said("missing: entry 3 is missing.");
	free(text);
	free(rest);
}

static void segments_of_kubectl_are_read(void **state)
{
	char *text = mem_printf("{\"kind\":\"AuditSegment\",\"spec\":{\"number\":1,\"entries\":"
				"[%s,%s]}}\n{\"spec\":{\"number\":2,\"entries\":[%s]}}\n",
				lines[0], lines[1], lines[2]);

	(void)state;
	for (char *c = text; *c; c++) /* one segment is one line */
		if (*c == '\n' && c[1] && c[1] != '{')
			*c = ' ';
	assert_int_equal(AUDIT(text, "verify", "-"), 0);
	verb_assert_said("3 entries, 1 to 3");
	free(text);
}

static void what_is_no_entry_is_a_fault(void **state)
{
	char *text = mem_printf("%s{\"seq\": 7}\n", lines[0]);

	(void)state;
	assert_int_equal(AUDIT(text, "verify", "-"), 1);
	verb_assert_said("bent: standard input: line 2 is not what drover writes, as 1 in all.");
	assert_int_equal(AUDIT(text, "list", "-"), 1);
	verb_assert_said("1 entries or lines cannot be shown");
	free(text);
	text = mem_printf("{\"spec\":{\"number\":1,\"entries\":[{}]}}\n%s", lines[0]);
	assert_int_equal(AUDIT(text, "verify", "-"), 1);
	verb_assert_said("bent: standard input: line 1 is not what drover writes");
	free(text);
	/* nothing writes a segment again that was cut off */
	text = mem_printf("%s{\"apiVersion\":\"drover.dev/v1alpha1\",\"spec\":{\"ent", lines[0]);
	assert_int_equal(AUDIT(text, "verify", "-"), 1);
	verb_assert_said("bent: standard input: line 2 is not what drover writes");
	free(text);
}

static void a_head_before_the_first_entry_is_no_fault(void **state)
{
	char *rest = text_of("34"), *all = text_of("1234");
	OWN_JSON second = json_loads(lines[1], 0, NULL);
	OWN_JSON first = json_loads(lines[0], 0, NULL);

	(void)state;
	assert_int_equal(AUDIT(rest, "verify", "-", "--head", json_str_at(second, "digest")), 0);
	assert_null(strstr(verb_said, "No entry has"));
	assert_int_equal(AUDIT(rest, "verify", "-", "--head", json_str_at(first, "digest")), 0);
	verb_assert_said("No entry has the digest of --head: it is older than entry 3");
	assert_int_equal(AUDIT(all, "verify", "-", "--head", "sha256:0"), 1);
	free(rest);
	free(all);
}

static void an_entry_of_two_inputs_is_listed_once(void **state)
{
	char *text = text_of("1212");

	(void)state;
	assert_int_equal(AUDIT(text, "list", "-", "--machine", "gpu-1"), 0);
	assert_non_null(strstr(verb_said, "Machine/gpu-1"));
	assert_null(strstr(strstr(verb_said, "Machine/gpu-1") + 1, "Machine/gpu-1"));
	free(text);
}

static void entries_are_listed_by_machine_tenant_and_time(void **state)
{
	char *text = text_of("1234");

	(void)state;
	assert_int_equal(AUDIT(text, "list", "-"), 0);
	verb_assert_said("unknown (kubectl-edit)");
	verb_assert_said("free -> claimed");
	verb_assert_said("Machine/gpu-1");
	verb_assert_said("Empty, found later");
	verb_assert_said("op-1");
	verb_assert_said(" 12 ");
	assert_int_equal(AUDIT(text, "list", "-", "--machine", "gpu-2"), 0);
	assert_null(strstr(verb_said, "gpu-1"));
	assert_int_equal(AUDIT(text, "list", "-", "--tenant", "team-b", "-o", "json"), 0);
	verb_assert_said("\"seq\": 3");
	assert_null(strstr(verb_said, "\"seq\": 2"));
	assert_int_equal(AUDIT(text, "list", "-", "--since", "2026-09-21T16:40:00Z"), 0);
	assert_null(strstr(verb_said, "15:13"));
	verb_assert_said("17:13:20Z");
	free(text);
}

static void wrong_usage_is_refused(void **state)
{
	(void)state;
	assert_int_equal(AUDIT(NULL, "show"), 2);
	verb_assert_said("Usage: drover audit list");
	assert_int_equal(AUDIT(NULL, "--help"), 0);
	assert_int_equal(AUDIT(NULL, "verify", "--help"), 0);
	verb_assert_said("Examples:");
	assert_int_equal(AUDIT(NULL, "list", "-", "--since", "soon"), 2);
	verb_assert_said("--since: want a time such as");
	assert_int_equal(AUDIT(NULL, "verify", "/no/such/file"), 1);
	verb_assert_said("/no/such/file: No such file or directory");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_good_file_is_verified_and_a_fault_is_named),
		TEST(rotated_files_are_verified_as_one_log),
		TEST(merged_lines_may_be_repeated_in_any_order),
		TEST(a_line_that_was_cut_off_is_explained),
		TEST(segments_of_kubectl_are_read),
		TEST(what_is_no_entry_is_a_fault),
		TEST(a_head_before_the_first_entry_is_no_fault),
		TEST(an_entry_of_two_inputs_is_listed_once),
		TEST(entries_are_listed_by_machine_tenant_and_time),
		TEST(wrong_usage_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
