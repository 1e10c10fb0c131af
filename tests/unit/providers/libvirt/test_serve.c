#include "tests/unit/testing.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/data/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "providers/libvirt/serve.h"

/* Tests the protocol of drover-libvirt with libvirt's test driver, within the test's own
 * process. */
#define HELLO                                                                                      \
	"{\"id\":1,\"op\":\"hello\",\"protocol\":1,\"uri\":\"test:///default\","                   \
	"\"pool\":\"default-pool\"}"
#define UUID "6695eb01-f6a4-8304-79aa-97f2502e193f"
#define MADE                                                                                       \
	"\"uuid\":\"8a1f5b1e-0000-4000-8000-c6c04f314733\","                                       \
	"\"owner\":\"1e0f\",\"machine\":\"lab-0\""

struct box {
	pthread_mutex_t lock;
	pthread_cond_t come;
	json_t *replies[64];
	size_t n;
	struct serve *serve;
};

static void on_answer(const char *line, size_t len, void *arg)
{
	struct box *b = arg;
	struct err e;

	pthread_mutex_lock(&b->lock);
	b->replies[b->n++] = json_parse(line, len, &e);
	pthread_cond_signal(&b->come);
	pthread_mutex_unlock(&b->lock);
}

static void box_open(struct box *b)
{
	*b = (struct box){.lock = PTHREAD_MUTEX_INITIALIZER, .come = PTHREAD_COND_INITIALIZER};
	b->serve = serve_new(on_answer, b);
}

static void box_close(struct box *b)
{
	serve_free(b->serve);
	for (size_t i = 0; i < b->n; i++)
		json_decref(b->replies[i]);
}

static const json_t *ask(struct box *b, const char *line)
{
	struct err e;
	OWN_JSON q = json_parse(line, strlen(line), &e);
	const json_t *found = NULL;

	assert_ok(serve_line(b->serve, line, strlen(line), &e), &e);
	pthread_mutex_lock(&b->lock);
	while (!found) {
		for (size_t i = 0; i < b->n; i++)
			if (json_int_at(b->replies[i], "id") == json_int_at(q, "id"))
				found = b->replies[i];
		if (!found)
			pthread_cond_wait(&b->come, &b->lock);
	}
	pthread_mutex_unlock(&b->lock);
	return found;
}

static void a_machine_is_asked_and_switched(void **state)
{
	struct box b;
	const json_t *r;

	(void)state;
	box_open(&b);
	assert_int_equal(json_int_at(ask(&b, HELLO), "protocol"), 1);
	r = ask(&b, "{\"id\":2,\"op\":\"observe\",\"domain\":\"test\",\"limitMs\":20000}");
	assert_string_equal(json_str_at(r, "power"), "On");
	assert_string_equal(json_str_at(r, "uuid"), UUID);
	assert_string_equal(json_str_at(r, "boot"), "disk");
	assert_true(json_is_null(json_object_get(r, "mediaURL")));
	r = ask(&b, "{\"id\":3,\"op\":\"power\",\"domain\":\"test\",\"uuid\":\"" UUID
		    "\",\"on\":false,\"fence\":3,\"operation\":\"01JD\",\"limitMs\":20000}");
	assert_null(json_at(r, "error"));
	r = ask(&b, "{\"id\":4,\"op\":\"boot\",\"domain\":\"test\",\"how\":\"media\","
		    "\"fence\":3,\"limitMs\":20000}");
	assert_null(json_at(r, "error"));
	r = ask(&b, "{\"id\":5,\"op\":\"observe\",\"domain\":\"test\",\"limitMs\":20000}");
	assert_string_equal(json_str_at(r, "power"), "Off");
	assert_string_equal(json_str_at(r, "boot"), "media");
	assert_int_equal(json_int_at(r, "fence"), 3);
	r = ask(&b, "{\"id\":6,\"op\":\"power\",\"domain\":\"test\",\"on\":true,"
		    "\"fence\":2,\"limitMs\":20000}");
	assert_string_equal(json_str_at(r, "error", "kind"), "conflict");
	box_close(&b);
}

static void machines_come_from_a_template(void **state)
{
	struct box b;
	const json_t *r;

	(void)state;
	box_open(&b);
	ask(&b, HELLO);
	r = ask(&b, "{\"id\":2,\"op\":\"define\",\"domain\":\"lab-0\"," MADE
		    ",\"cpus\":2,\"memoryBytes\":1073741824,"
		    "\"drives\":[{\"bytes\":1048576,\"bus\":\"sata\"}],\"limitMs\":20000}");
	assert_null(json_at(r, "error"));
	r = ask(&b, "{\"id\":3,\"op\":\"observe\",\"domain\":\"lab-0\",\"limitMs\":20000}");
	assert_string_equal(json_str_at(r, "power"), "Off");
	r = ask(&b,
		"{\"id\":4,\"op\":\"undefine\",\"domain\":\"lab-0\"," MADE ",\"limitMs\":20000}");
	assert_null(json_at(r, "error"));
	box_close(&b);
}

static void what_is_wrong_is_told(void **state)
{
	static const struct {
		const char *rest, *kind;
	} bad[] = {
		{"\"op\":\"observe\"}", "invalid"},
		{"\"op\":\"observe\",\"domain\":\"gone\"}", "not-found"},
		{"\"op\":\"sing\",\"domain\":\"test\"}", "unsupported"},
		{"\"op\":\"power\",\"domain\":\"test\",\"on\":false,\"limitMs\":1}", "timeout"},
		{"\"op\":\"define\",\"domain\":\"x\"}", "invalid"},
		{"\"op\":\"define\",\"domain\":\"x\"," MADE "}", "invalid"},
		{"\"op\":\"define\",\"domain\":\"x\"," MADE
		 ",\"cpus\":1,\"memoryBytes\":1,\"drives\":[{}]}",
		 "invalid"},
		{"\"op\":\"hello\"}", "invalid"},
	};
	struct box b;
	char line[512];

	(void)state;
	box_open(&b);
	ask(&b, HELLO);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		str_format(line, sizeof(line), "{\"id\":%zu,%s", i + 10, bad[i].rest);
		assert_string_equal(json_str_at(ask(&b, line), "error", "kind"), bad[i].kind);
	}
	assert_int_equal(json_int_at(ask(&b, "{\"id\":99,\"op\":\"ping\"}"), "id"), 99);
	box_close(&b);
}

static void what_is_no_request_ends_it(void **state)
{
	static const char *const bad[] = {
		"",	      "[]",
		"{}",	      "{\"id\":0,\"op\":\"ping\"}",
		"{\"id\":1}", "{\"id\":1,\"op\":\"observe\",\"domain\":\"test\"}"};
	struct box b;
	struct err e;

	(void)state;
	box_open(&b);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(serve_line(b.serve, bad[i], strlen(bad[i]), &e), -1);
	box_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_machine_is_asked_and_switched),
		cmocka_unit_test(machines_come_from_a_template),
		cmocka_unit_test(what_is_wrong_is_told),
		cmocka_unit_test(what_is_no_request_ends_it),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
