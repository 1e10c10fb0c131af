#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "tests/unit/controller/rules/evidence_made.h"
#include "tests/unit/cli/verb.h"

/* --- the command ------------------------------------------------------------------------------ */

#define WIPE(input, ...)                                                                           \
	verb_run("drover wipe", cli_wipe, input, (const char *const[]){__VA_ARGS__, NULL})

static void put_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void a_folder_as_it_was_exported_is_checked(void **state)
{
	OWN(arena) a = arena_new();
	json_t *list[3];
	const char *sub = arena_printf(a, "%s/gpu-1", made.dir),
		   *keys = arena_printf(a, "%s/keys.json", made.dir), *path;

	(void)state;
	made_chain(list);
	assert_int_equal(mkdir(sub, 0755), 0);
	for (int i = 0; i < 3; i++) {
		char *text = json_text(list[i]);

		path = arena_printf(a, "%s/%s.json", sub, json_str_at(list[i], "metadata", "name"));
		put_file(path, text);
		free(text);
	}
	put_file(keys,
		 arena_printf(a, "{\"keys\":[\"%s\",\"%s\"]}", made.other_text, made.drover_text));
	assert_int_equal(WIPE(NULL, "verify", made.dir, "--keys", keys), 0);
	verb_assert_said("gpu-1-41-2");
	verb_assert_said("no agent signature: attempt not finished (AgentSilent: x)");
	verb_assert_said("3 records: 2 proved clean, 0 failed, 1 not finished, 0 bad.");
	verb_assert_said("Every record matches what was signed.");
	assert_int_equal(WIPE(NULL, "verify", made.dir, "--key", made.drover_text, "-o", "json"),
			 0);
	verb_assert_said("\"result\": \"unfinished\"");
	verb_assert_said("\"ok\": true");
	assert_int_equal(
		WIPE(NULL, "verify", made.dir, "--key", made.drover_text, "--machine", "gpu-2"), 1);
	verb_assert_said("There is nothing to check.");

	path = arena_printf(a, "%s/pipe.json", sub);
	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(60); /* Reading the pipe would block; then the alarm ends the test. */
	assert_int_equal(WIPE(NULL, "verify", made.dir, "--keys", keys), 1);
	alarm(0);
	unlink(path);
	put_file(arena_printf(a, "%s/junk.json", sub), "{\"kind\":\"Pod\"}");
	assert_int_equal(WIPE(NULL, "verify", made.dir, "--keys", keys), 1);
	verb_assert_said("spec.envelope: missing");
	verb_assert_said("DO NOT TRUST");
	put_file(arena_printf(a, "%s/junk.json", sub), "{\"kind\":");
	assert_int_equal(WIPE(NULL, "verify", made.dir, "--keys", keys, "-o", "json"), 1);
	verb_assert_said("\"ok\": false");
	unlink(arena_printf(a, "%s/junk.json", sub));
	for (int i = 0; i < 3; i++) {
		unlink(arena_printf(a, "%s/%s.json", sub,
				    json_str_at(list[i], "metadata", "name")));
		json_decref(list[i]);
	}
	unlink(keys);
	rmdir(sub);
	rmdir(made.dir);
}

static void standard_input_is_a_file_too(void **state)
{
	struct evidence ev = made_sample();
	OWN_JSON o = made_record(&ev);
	char *text = json_text(o);

	(void)state;
	assert_int_equal(WIPE(text, "verify", "-", "--key", made.drover_text), 0);
	verb_assert_said("1 record: 1 proved clean");
	json_object_set_new(json_at(o, "spec"), "verdict", json_string("Purge"));
	free(text);
	text = json_text(o);
	assert_int_equal(WIPE(text, "verify", "-", "--key", made.drover_text), 1);
	verb_assert_said("BAD: spec.verdict: not what was signed");
	free(text);
}

static void a_report_is_printed_as_text_and_as_a_page(void **state)
{
	struct evidence ev = made_sample();
	OWN_JSON o = made_record(&ev);
	char *text = json_text(o);

	(void)state;
	assert_int_equal(WIPE(text, "report", "-", "--key", made.drover_text), 0);
	verb_assert_said("WIPED: every drive to level Clear or higher, and verified");
	assert_int_equal(WIPE(text, "report", "-", "--key", made.drover_text, "--html"), 0);
	assert_true(str_starts(verb_said, "<!DOCTYPE html>"));
	assert_int_equal(
		WIPE(text, "report", "-", "--key", made.drover_text, "--record", "gpu-1-41-1"), 0);
	assert_int_equal(
		WIPE(text, "report", "-", "--key", made.drover_text, "--record", "gpu-1-41-2"), 1);
	verb_assert_said("There is no such record.");
	/* A key that did not sign proves nothing. */
	assert_int_equal(WIPE(text, "report", "-", "--key", made.other_text), 1);
	verb_assert_said("DO NOT TRUST");
	free(text);
	assert_int_equal(WIPE(NULL, "report"), 2);
	verb_assert_said("give files, folders or records");
	assert_int_equal(WIPE("{}", "report", "-"), 1);
	verb_assert_said("give the public keys");
	assert_int_equal(WIPE(NULL, "report", "a-1-1", "b-1-1", "--key", made.drover_text), 1);
	verb_assert_said("give at most one WipeRecord or Machine of the cluster");
	assert_int_equal(WIPE(NULL, "report", "a-1-1", "-o", "json"), 2);
	assert_int_equal(WIPE(NULL, "report", "/nonexistent/r.json", "--key", made.drover_text), 1);
	assert_null(strstr(verb_said, "Wipe report"));
}

static void wrong_usage_is_said(void **state)
{
	(void)state;
	assert_int_equal(verb_run("drover wipe", cli_wipe, NULL, (const char *const[]){NULL}), 2);
	assert_int_equal(WIPE(NULL, "clean"), 2);
	assert_int_equal(WIPE(NULL, "verify"), 2);
	verb_assert_said("give files, folders or records");
	assert_int_equal(WIPE(NULL, "verify", "x", "--key", "secret"), 2);
	verb_assert_said("contains no key");
	assert_int_equal(WIPE(NULL, "verify", "x", "--keys", "/nonexistent"), 2);
	assert_int_equal(WIPE("{}", "verify", "-"), 1);
	verb_assert_said("give the public keys");
	assert_int_equal(WIPE(NULL, "verify", "/nonexistent/r.json", "--key", made.drover_text), 1);
	verb_assert_said("/nonexistent/r.json");
	/* There is no cluster from which records or keys could be read. */
	assert_int_equal(WIPE(NULL, "verify", "gpu-1-1-1"), 1);
	verb_assert_said("host cluster");
	assert_int_equal(WIPE(NULL, "keys"), 1);
	assert_int_equal(WIPE(NULL, "keys", "-o", "json"), 1);
	verb_assert_said("host cluster");
	assert_int_equal(WIPE(NULL, "keys", "-o", "yaml"), 2);
	verb_assert_said("--output: want json, got 'yaml'");
	assert_int_equal(WIPE(NULL, "verify", "--help"), 0);
	verb_assert_said("kubectl get wiperecords");
}

/* --- verifying by hand ------------------------------------------------------------------------ */

/* Returns the shell commands in docs/evidence.md under "By hand"; the caller frees them. */
static char *by_hand(void)
{
	static char text[64 << 10];
	FILE *f = fopen("docs/evidence.md", "r");
	char *from, *to;
	size_t n;

	assert_non_null(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	from = strstr(text, "## By hand");
	assert_non_null(from);
	from = strstr(from, "```sh\n") + strlen("```sh\n");
	to = strstr(from, "```");
	assert_non_null(to);
	return mem_printf("set -eu\n%.*s", (int)(to - from), from);
}

/* Runs the script in argv[1] by /bin/sh. verb_run() calls this function. */
static int shell(int argc, char **argv)
{
	(void)argc;
	if (chdir(made.dir) == 0)
		execl("/bin/sh", "sh", "-c", argv[1], (char *)NULL);
	return 127;
}

static void the_commands_in_the_manual_check_a_record(void **state)
{
	static const char *const files[] = {"record.json",  "keys.txt", "envelope.json",
					    "payload.json", "signed",	"key.der",
					    "sig"};
	OWN(arena) a = arena_new();
	struct evidence ev = made_sample();
	OWN_JSON o = made_record(&ev);
	char *script = by_hand(), *text = json_text(o), digest[CRYPTO_DIGEST_TEXT];
	uint8_t d[CRYPTO_SHA256];
	const char *second;

	(void)state;
	if (access("/usr/bin/jq", X_OK) < 0 || access("/usr/bin/openssl", X_OK) < 0)
		fail_msg("jq and openssl are needed: tests/tools/deps build installs them");
	if (mkdir(made.dir, 0700) < 0) /* The directory may exist from an earlier test. */
		assert_int_equal(access(made.dir, W_OK), 0);
	put_file(arena_printf(a, "%s/record.json", made.dir), text);
	put_file(arena_printf(a, "%s/keys.txt", made.dir), made.drover_text);
	if (verb_run("sh", shell, NULL, (const char *const[]){script, NULL}) != 0)
		fail_msg("%.2000s", verb_said);
	verb_assert_said("Signature Verified Successfully");
	second = strstr(strstr(verb_said, "Verified") + 1, "Verified");
	assert_non_null(second);
	verb_assert_said("countersigned by drover");
	verb_assert_said("the agent is the one that is stated");
	evidence_digest(json_str_at(o, "spec", "envelope"), d);
	verb_assert_said(crypto_digest_text(d, digest));
	verb_assert_said("\"verdict\": \"Clear\"");
	free(text);

	/* A payload that was changed after it was signed must be refused. */
	{
		OWN_JSON envelope = made_decoded(json_str_at(o, "spec", "envelope"));
		OWN_JSON statement = made_decoded(json_str_at(envelope, "payload"));
		char *forged;

		json_object_set_new(json_at(statement, "predicate"), "verdict",
				    json_string("Purge"));
		forged = made_around(envelope, statement);
		json_object_set_new(json_at(o, "spec"), "envelope", json_string(forged));
		free(forged);
	}
	text = json_text(o);
	put_file(arena_printf(a, "%s/record.json", made.dir), text);
	assert_int_not_equal(verb_run("sh", shell, NULL, (const char *const[]){script, NULL}), 0);
	free(text);
	free(script);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		unlink(arena_printf(a, "%s/%s", made.dir, files[i]));
	rmdir(made.dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_folder_as_it_was_exported_is_checked),
		cmocka_unit_test(standard_input_is_a_file_too),
		cmocka_unit_test(a_report_is_printed_as_text_and_as_a_page),
		cmocka_unit_test(wrong_usage_is_said),
		cmocka_unit_test(the_commands_in_the_manual_check_a_record),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, made_setup, made_teardown);
}
