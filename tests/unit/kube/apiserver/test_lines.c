#include "tests/unit/testing.h"

#include <stdlib.h>
#include "tests/simulated/loop_sim.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/apiserver/lines.h"

struct fixture {
	struct loop *l;
	struct loop_group *g;
	struct lines *c;
};

static int setup(void **state)
{
	struct fixture *f = mem_new(struct fixture);

	f->l = loop_sim_new(1, 0);
	f->g = loop_group_new(f->l, "test");
	f->c = lines_new(f->g);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	lines_free(f->c);
	loop_group_free(f->g);
	loop_free(f->l);
	free(f);
	return 0;
}

static struct store_event event(uint64_t rev, const char *value)
{
	return (struct store_event){
		.type = STORE_PUT,
		.entry = {.key = "k", .value = value, .value_len = strlen(value), .rev = rev},
	};
}

static const struct resource kind = {.kind = "ConfigMap"};
static const struct filter stored = {.form = "stored"}, also_stored = {.form = "stored"},
			   partial = {.form = "partial", .partial = true};

static void assert_line(struct line *l, const char *want)
{
	assert_non_null(l);
	assert_int_equal(l->len, strlen(want));
	assert_memory_equal(l->text, want, l->len);
	line_unref(l);
}

#define OBJECT "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"7\"}}"
#define NOW "{\"type\":\"MODIFIED\",\"object\":" OBJECT "}\n"

static void watches_of_one_form_share_the_line(void **state)
{
	struct fixture *f = *state;
	struct store_event ev = event(7, OBJECT);
	struct line *a = shared_line(lines_of(f->c, &ev), "MODIFIED", &stored, &kind),
		    *b = shared_line(lines_of(f->c, &ev), "MODIFIED", &also_stored, &kind);

	assert_ptr_equal(a, b);
	assert_line(a, NOW);
	/* The line outlives the batch while a watch has it. */
	loop_run(f->l);
	assert_int_equal(b->refs, 1);
	assert_line(b, NOW);
}

static void each_type_and_form_has_its_own_line(void **state)
{
	struct fixture *f = *state;
	struct store_event ev = event(8, "{\"metadata\":{\"name\":\"a\"},\"data\":{\"k\":\"v\"}}");

	ev.prev_value = "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"7\"},\"data\":{}}";
	for (int i = 0; i < 2; i++) {
		struct shared *s = lines_of(f->c, &ev);

		assert_line(shared_line(s, "ADDED", &partial, &kind),
			    "{\"type\":\"ADDED\",\"object\":{\"kind\":\"PartialObjectMetadata\","
			    "\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{\"name\":\"a\"}}}\n");
		assert_line(shared_line(s, "ADDED", &stored, &kind),
			    "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\"},"
			    "\"data\":{\"k\":\"v\"}}}\n");
		/* The selection was left: the last state that was selected. */
		assert_line(shared_line(s, "DELETED", &stored, &kind),
			    "{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"name\":\"a\","
			    "\"resourceVersion\":\"8\"},\"data\":{}}}\n");
		assert_string_equal(json_str_at(shared_object(s), "data", "k"), "v");
		assert_string_equal(json_str_at(shared_before(s), "metadata", "resourceVersion"),
				    "7");
	}
}

static void what_is_not_json_has_no_line(void **state)
{
	struct fixture *f = *state;
	struct store_event ev = event(8, "?");

	assert_null(shared_line(lines_of(f->c, &ev), "ADDED", &partial, &kind));
	assert_null(shared_object(lines_of(f->c, &ev)));
	assert_null(shared_before(lines_of(f->c, &ev)));
}

static bool is_shared(struct fixture *f, const struct store_event *ev)
{
	struct line *a = shared_line(lines_of(f->c, ev), "MODIFIED", &stored, &kind), *b;
	/* Other events come in between, as for a watch that has several. */
	struct store_event other = event(1000000, OBJECT);
	bool shared;

	line_unref(shared_line(lines_of(f->c, &other), "ADDED", &stored, &kind));
	b = shared_line(lines_of(f->c, ev), "MODIFIED", &stored, &kind);
	shared = a == b;
	line_unref(a);
	assert_int_equal(b->len,
			 ev->entry.value_len + strlen("{\"type\":\"MODIFIED\",\"object\":}\n"));
	line_unref(b);
	return shared;
}

static void the_cache_is_bounded(void **state)
{
	struct fixture *f = *state;
	struct store_event first = event(100, OBJECT), last = event(100 + 1023, OBJECT),
			   far = event(100 + 1024, OBJECT), older = event(99, OBJECT), big;
	char *text = mem_alloc((5 << 20) + 1);

	memset(text, 'x', 5 << 20);
	text[5 << 20] = '\0';
	big = event(101, text);
	assert_true(is_shared(f, &first));
	assert_true(is_shared(f, &last));
	assert_false(is_shared(f, &far));
	assert_false(is_shared(f, &older));
	assert_false(is_shared(f, &big));
	assert_true(is_shared(f, &first));
	/* After the batch another one begins. */
	loop_run(f->l);
	assert_true(is_shared(f, &far));
	free(text);
}

static void a_queue_counts_what_is_left(void **state)
{
	struct line_queue q = {.max = 80};
	struct line *l = line_new("A", "0123456789", 10);
	size_t len = l->len;
	char out[100];

	(void)state;
	assert_int_equal(len, strlen("{\"type\":\"A\",\"object\":0123456789}\n"));
	assert_int_equal(line_queue_read(&q, out, sizeof(out)), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(line_queue_add(&q, line_ref(l)), len * (size_t)(i + 1) <= q.max);
	assert_int_equal(q.bytes, 2 * len);
	assert_int_equal(l->refs, 3);
	assert_int_equal(line_queue_read(&q, out, len + 1), len + 1);
	assert_memory_equal(out, l->text, len);
	assert_int_equal(out[len], '{');
	assert_int_equal(q.bytes, len - 1);
	assert_int_equal(l->refs, 2);
	assert_true(line_queue_add(&q, line_ref(l)));
	assert_int_equal(line_queue_read(&q, out, sizeof(out)), 2 * len - 1);
	assert_memory_equal(out, l->text + 1, len - 1);
	assert_memory_equal(out + len - 1, l->text, len);
	assert_int_equal(q.bytes, 0);
	assert_null(q.v);
	assert_int_equal(l->refs, 1);
	/* Slots of lines that were read are used again. */
	q.max = SIZE_MAX;
	for (int i = 0; i < 1000; i++) {
		assert_true(line_queue_add(&q, line_ref(l)));
		assert_true(i == 0 || line_queue_read(&q, out, len) == len);
	}
	assert_true(q.cap < 100);
	assert_int_equal(q.bytes, len);
	line_queue_clear(&q);
	assert_int_equal(l->refs, 1);
	line_unref(l);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(watches_of_one_form_share_the_line),
		CASE(each_type_and_form_has_its_own_line),
		CASE(what_is_not_json_has_no_line),
		CASE(the_cache_is_bounded),
		cmocka_unit_test(a_queue_counts_what_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
