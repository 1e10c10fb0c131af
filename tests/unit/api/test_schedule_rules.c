#include "tests/unit/testing.h"

#include <regex.h>
#include <string.h>
#include "api/kinds.h"
#include "base/schedule.h"
#include "base/str.h"

/* Compares the CEL rules for schedules, which an API server evaluates, with schedule_check(). Both
 * must accept the same texts. */
static const struct field *find(const struct field *f, const char *name)
{
	const struct field *found = NULL;

	for (; f->name && !found; f++)
		found = str_eq(f->name, name) ? f : f->sub ? find(f->sub, name) : NULL;
	return found;
}

static const struct field_rule *rules(void)
{
	const struct field *f = find(object_kinds[OBJECT_NODE_POOL].fields, "schedule");

	assert_non_null(f);
	assert_ptr_equal(f->rules, find(object_kinds[OBJECT_BURST_POLICY].fields, "cron")->rules);
	return f->rules;
}

/* Compiles the first regular expression of a CEL rule. It must mean the same in RE2 (CEL) and as
 * POSIX ERE (here). */
static void compile(regex_t *re, const char *rule)
{
	const char *begin = strstr(rule, "matches('") + strlen("matches('");
	const char *end = strstr(begin, "')");
	char pattern[2048];

	assert_true((size_t)(end - begin) < sizeof(pattern));
	memcpy(pattern, begin, (size_t)(end - begin));
	pattern[end - begin] = '\0';
	assert_int_equal(regcomp(re, pattern, REG_EXTENDED | REG_NOSUB), 0);
}

static uint64_t seed = 362436069;

static unsigned draw(unsigned n)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return (unsigned)(seed >> 33) % n;
}

static void make(char *out, size_t size)
{
	static const char *const words[] = {"*",   "?",	  "0",	 "5",	 "07",	"31", "59",   "60",
					    "sun", "mon", "jan", "feb",	 "7",	"8",  "2",    "13",
					    "24",  "fri", "30",	 "*/15", "*/0", "x",  "mon-", ","};
	static const char *const joints[] = {" ", " ", " ", " ", "  ", ",", "-", "/", "\t"};
	unsigned n = 4 + draw(4);

	*out = '\0';
	for (unsigned i = 0; i < n; i++) {
		const char *word = words[draw(draw(3) ? 4 : sizeof(words) / sizeof(*words))];
		const char *joint = joints[draw(sizeof(joints) / sizeof(*joints))];

		str_format(out + strlen(out), size - strlen(out), "%s%s", i ? joint : "", word);
	}
}

static void the_api_server_refuses_what_the_code_refuses(void **state)
{
	const struct field_rule *r = rules();
	regex_t shape, never;
	unsigned good = 0, bad = 0, lost = 0;

	(void)state;
	compile(&shape, r[0].rule);
	compile(&never, r[2].rule);
	for (int i = 0; i < 200000; i++) {
		char text[256];
		struct err e = {0};
		bool read, ends, comes;

		make(text, sizeof(text));
		if (!draw(50))
			str_copy(text, sizeof(text), draw(2) ? "0 0 30,31 2 *" : "0 0 31 4,jun ?");
		read = schedule_check(text, &e) == 0;
		ends = strstr(e.text, "ends before it begins");
		comes = !str_starts(e.text, "never comes");
		if ((regexec(&shape, text, 0, NULL, 0) == 0) != (read || !comes) && !ends)
			fail_msg("\"%s\": the rule differs: %s", text, e.text);
		if (regexec(&never, text, 0, NULL, 0) == 0 && read)
			fail_msg("\"%s\": the rule says never", text);
		good += read, bad += !read, lost += !comes;
	}
	assert_true(good > 1000 && bad > 1000 && lost > 1000);
	regfree(&shape);
	regfree(&never);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_api_server_refuses_what_the_code_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
