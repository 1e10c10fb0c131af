#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/cli.h"
#include "tests/unit/controller/evidence_made.h"

/* --- the verb --------------------------------------------------------------------------------------- */

static char said[1 << 20];

/* Run it in a process of its own with this on standard input; what it wrote is in `said`. */
static int wipe(const char *input, const char *const *args)
{
	char *argv[16] = {(char *)"drover wipe"};
	int argc = 1, out[2], in[2], status;
	size_t n = 0;
	ssize_t got;
	pid_t pid;

	for (; args[argc - 1]; argc++)
		argv[argc] = (char *)args[argc - 1];
	assert_int_equal(pipe(out), 0);
	assert_int_equal(pipe(in), 0);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		unsetenv("KUBECONFIG");
		unsetenv("KUBERNETES_SERVICE_HOST");
		dup2(in[0], 0);
		dup2(out[1], 1);
		dup2(out[1], 2);
		close(in[1]);
		close(out[0]);
		close(out[1]);
		status = cli_wipe(argc, argv);
		fflush(NULL);
		_exit(status);
	}
	close(out[1]);
	close(in[0]);
	if (input)
		assert_int_equal(write(in[1], input, strlen(input)), strlen(input));
	close(in[1]);
	while ((got = read(out[0], said + n, sizeof(said) - 1 - n)) > 0)
		n += (size_t)got;
	said[n] = '\0';
	close(out[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}
#define WIPE(input, ...) wipe(input, (const char *const[]){__VA_ARGS__, NULL})

static void assert_said(const char *what)
{
	if (!strstr(said, what))
		fail_msg("want '%s' in: %.2000s", what, said);
}

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
	assert_said("gpu-1-41-2");
	assert_said("no agent signature: attempt not finished (AgentSilent: x)");
	assert_said("3 records: 2 proved clean, 0 failed, 1 not finished, 0 bad.");
	assert_said("Every record is what was signed.");
	assert_int_equal(WIPE(NULL, "verify", made.dir, "--key", made.drover_text, "-o", "json"),
			 0);
	assert_said("\"result\": \"unfinished\"");
	assert_said("\"ok\": true");
	assert_int_equal(
		WIPE(NULL, "verify", made.dir, "--key", made.drover_text, "--machine", "gpu-2"), 1);
	assert_said("There is nothing to check.");

	put_file(arena_printf(a, "%s/junk.json", sub), "{\"kind\":\"Pod\"}");
	assert_int_equal(WIPE(NULL, "verify", made.dir, "--keys", keys), 1);
	assert_said("is this a WipeRecord?");
	assert_said("DO NOT TRUST");
	put_file(arena_printf(a, "%s/junk.json", sub), "{\"kind\":");
	assert_int_equal(WIPE(NULL, "verify", made.dir, "--keys", keys, "-o", "json"), 1);
	assert_said("\"ok\": false");
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
	assert_said("1 record: 1 proved clean");
	json_object_set_new(json_at(o, "spec"), "verdict", json_string("Purge"));
	free(text);
	text = json_text(o);
	assert_int_equal(WIPE(text, "verify", "-", "--key", made.drover_text), 1);
	assert_said("BAD: spec.verdict: not what was signed");
	free(text);
}

static void wrong_usage_is_said(void **state)
{
	(void)state;
	assert_int_equal(wipe(NULL, (const char *const[]){NULL}), 2);
	assert_int_equal(WIPE(NULL, "clean"), 2);
	assert_int_equal(WIPE(NULL, "verify"), 2);
	assert_said("which files, folders or records?");
	assert_int_equal(WIPE(NULL, "verify", "x", "--key", "secret"), 2);
	assert_said("names no key");
	assert_int_equal(WIPE(NULL, "verify", "x", "--keys", "/nonexistent"), 2);
	assert_int_equal(WIPE("{}", "verify", "-"), 1);
	assert_said("whose signature?");
	assert_int_equal(WIPE(NULL, "verify", "/nonexistent/r.json", "--key", made.drover_text), 1);
	assert_said("/nonexistent/r.json");
	assert_int_equal(WIPE(NULL, "verify", "gpu-1-1-1"), 1); /* no cluster to ask */
	assert_said("host cluster");
	assert_int_equal(WIPE(NULL, "keys"), 1);
	assert_int_equal(WIPE(NULL, "verify", "--help"), 0);
	assert_said("kubectl get wiperecords");
}

/* --- by hand ---------------------------------------------------------------------------------------- */

/* The commands that docs/wipe.md gives under "By hand"; malloc'd. */
static char *by_hand(void)
{
	static char text[64 << 10];
	FILE *f = fopen("docs/wipe.md", "r");
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

/* Its status; what it wrote is in `said`. */
static int shell(const char *script)
{
	int out[2], status;
	size_t n = 0;
	ssize_t got;
	pid_t pid;

	assert_int_equal(pipe(out), 0);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		dup2(out[1], 1);
		dup2(out[1], 2);
		close(out[0]);
		if (chdir(made.dir) == 0)
			execl("/bin/sh", "sh", "-c", script, (char *)NULL);
		_exit(127);
	}
	close(out[1]);
	while ((got = read(out[0], said + n, sizeof(said) - 1 - n)) > 0)
		n += (size_t)got;
	said[n] = '\0';
	close(out[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
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
	if (access("/usr/bin/jq", X_OK) < 0 || access("/usr/bin/openssl", X_OK) < 0) {
		free(script);
		free(text);
		skip();
	}
	if (mkdir(made.dir, 0700) < 0) /* as the tests before left it */
		assert_int_equal(access(made.dir, W_OK), 0);
	put_file(arena_printf(a, "%s/record.json", made.dir), text);
	put_file(arena_printf(a, "%s/keys.txt", made.dir), made.drover_text);
	if (shell(script) != 0)
		fail_msg("%.2000s", said);
	assert_said("Signature Verified Successfully");
	second = strstr(strstr(said, "Verified") + 1, "Verified");
	assert_non_null(second);
	assert_said("countersigned by drover");
	assert_said("the agent is the one that is stated");
	evidence_digest(json_str_at(o, "spec", "envelope"), d);
	assert_said(crypto_digest_text(d, digest));
	assert_said("\"verdict\": \"Clear\"");
	free(text);

	/* A payload that was changed. */
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
	assert_int_not_equal(shell(script), 0);
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
		cmocka_unit_test(wrong_usage_is_said),
		cmocka_unit_test(the_commands_in_the_manual_check_a_record),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, made_setup, made_teardown);
}
