#include "tests/unit/controller/bench.h"

#include "api/annotations.h"
#include "base/str.h"
#include "controller/core/machine_lists.h"

struct names {
	char text[256];
	unsigned most;
};

static bool note(const struct machine *m, void *arg)
{
	struct names *x = arg;

	str_format(x->text + strlen(x->text), sizeof(x->text) - strlen(x->text), "%s ",
		   m->meta.name);
	return --x->most;
}

/* Returns the names of at most `most` Machines of the list, each followed by a space. The buffer is
 * static. */
static const char *on(const struct bench *d, enum machine_list list, unsigned most)
{
	static struct names x;

	x = (struct names){.most = most};
	machine_lists_each(&d->c, list, note, &x);
	return x.text;
}

static void put(struct bench *d, const char *name, const char *finalizers, const char *status)
{
	bench_put(d,
		  arena_printf(d->a,
			       "{'kind': 'Machine', 'metadata': {'name': '%s', 'finalizers': %s}, "
			       "'spec': {'providerRef': {'name': 'hall-a'}}, 'status': %s}",
			       name, finalizers, status));
}

static void a_machine_is_on_the_lists_that_its_status_says(void **state)
{
	struct bench *d = *state;

	put(d, "a", "[]", "{'state': 'free'}");
	put(d, "b", "[]", "{'state': 'serving'}");
	put(d, "c", "['" FINALIZER_PROVISIONED "']",
	    "{'state': 'dirty', 'failures': [{'time': '2026-11-01T10:00:00Z', 'reason': "
	    "'JoinTimeout'}]}");
	put(d, "e", "[]", "{}");
	put(d, "f", "[]", "{'state': 'known'}");
	assert_string_equal(on(d, MACHINES_SPARE, 9), "a ");
	assert_string_equal(on(d, MACHINES_KNOWN, 9), "e f ");
	assert_string_equal(on(d, MACHINES_FAILED, 9), "c ");
	assert_string_equal(on(d, MACHINES_PROVISIONED, 9), "c ");
	bench_status(d, OBJECT_MACHINE, "b", "{'warmFor': {'name': 'h100', 'uid': 'u'}}");
	bench_status(d, OBJECT_MACHINE, "c", "{'state': 'free', 'failures': null}");
	assert_string_equal(on(d, MACHINES_SPARE, 9), "a b c ");
	assert_string_equal(on(d, MACHINES_SPARE, 2), "a b ");
	assert_string_equal(on(d, MACHINES_FAILED, 9), "");
	bench_status(d, OBJECT_MACHINE, "a", "{'state': 'claimed'}");
	assert_string_equal(on(d, MACHINES_SPARE, 9), "b c ");
	bench_status(d, OBJECT_MACHINE, "e", "{'state': 'free'}");
	assert_string_equal(on(d, MACHINES_KNOWN, 9), "f ");
}

static void a_machine_that_has_gone_is_on_no_list(void **state)
{
	struct bench *d = *state;

	put(d, "a", "[]", "{'state': 'free'}");
	machine_lists_put(d->c.machine_lists, "a", NULL);
	assert_string_equal(on(d, MACHINES_SPARE, 9), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_machine_is_on_the_lists_that_its_status_says,
						bench_setup, bench_teardown),
		cmocka_unit_test_setup_teardown(a_machine_that_has_gone_is_on_no_list, bench_setup,
						bench_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
