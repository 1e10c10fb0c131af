/* Tests how a file with options of `drover run` is read, without starting `drover run`. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/run_config.h"

enum { NAME = 1, POLL, JSON, CONFIG };

static const struct argp_option options[] = {
	{"agent-name", NAME, "HOST", 0, "Host or address", 0},
	{"poll-ms", POLL, "MS", 0, "Between looks", 0},
	{"log-json", JSON, NULL, 0, "JSON lines", 0},
	{"config", CONFIG, "FILE", 0, "Options from a file", 0},
	{0},
};

static char said[512], path[] = "/tmp/drover-run-config-XXXXXX";

static void set(int key, char *arg, void *to)
{
	struct buf *b = to;

	buf_printf(b, "%d=%s;", key, arg ? arg : "-");
}

/* Reads a file with this text. Returns the options that were set, or the error. */
static const char *read_text(const char *text)
{
	FILE *f = fopen(path, "we");
	struct buf b;
	struct err e;
	json_t *keep;

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	buf_init(&b, sizeof(said) - 1);
	keep = run_config_read(path, options, set, &b, &e);
	str_copy(said, sizeof(said), keep ? b.data : e.text);
	json_decref(keep);
	buf_done(&b);
	return said;
}

static void each_value_is_given_in_order(void **state)
{
	(void)state;
	assert_string_equal(
		read_text("agent-name: [a.example, 10.1.0.5]\npoll-ms: 500\nlog-json: true\n"),
		"1=a.example;1=10.1.0.5;2=500;3=-;");
	assert_string_equal(read_text("log-json: false\nagent-name: b\n"), "1=b;");
	assert_string_equal(read_text("{}"), "");
}

static void what_is_wrong_is_told_by_file_and_key(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"agent-nam: x\n", "agent-nam: no such option"},
		{"agent-name:\n", "agent-name: has no value: Host or address"},
		{"agent-name: ''\n", "agent-name: has no value"},
		{"agent-name: [a, '']\n", "agent-name: has no value"},
		{"agent-name: {a: b}\n", "agent-name: want text or a number"},
		{"agent-name: [[a]]\n", "agent-name: want text or a number"},
		{"poll-ms: 1.5\n", "poll-ms: want text or a number"},
		{"agent-name: true\n", "agent-name: want text or a number"},
		{"log-json: 'yes'\n", "log-json: want true or false"},
		{"config: /etc/x\n", "config: not allowed in the file"},
		{"- agent-name\n", "want a mapping of options"},
		{"agent-name: a\nagent-name: b\n", "agent-name"},
		{"agent-name: [\n", "line "},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (!strstr(read_text(cases[i].text), cases[i].says))
			fail_msg("%s: %s", cases[i].text, said);
		assert_non_null(strstr(said, path));
	}
}

static void a_file_that_is_too_large_or_away_is_named(void **state)
{
	struct err e;
	char *text = mem_alloc(70000);

	(void)state;
	memset(text, '#', 69999);
	text[69999] = '\0';
	assert_non_null(strstr(read_text(text), path));
	free(text);
	assert_null(run_config_read("/nonexistent/x.yaml", options, set, NULL, &e));
	assert_non_null(strstr(e.text, "/nonexistent/x.yaml"));
}

static void a_line_is_read_without_its_end(void **state)
{
	struct err e;
	char *line;

	(void)state;
	(void)read_text("ed25519:AAAA=\n");
	line = run_config_line(path, &e);
	assert_string_equal(line, "ed25519:AAAA=");
	free(line);
	assert_null(run_config_line("/nonexistent/key", &e));
	assert_non_null(strstr(e.text, "/nonexistent/key"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_value_is_given_in_order),
		cmocka_unit_test(what_is_wrong_is_told_by_file_and_key),
		cmocka_unit_test(a_file_that_is_too_large_or_away_is_named),
		cmocka_unit_test(a_line_is_read_without_its_end),
	};
	int fd = mkstemp(path), failed;

	mem_init();
	if (fd < 0)
		return 1;
	close(fd);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}
