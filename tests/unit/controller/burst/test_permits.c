#include "tests/unit/testing.h"

#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/burst/permits.h"

struct heard {
	struct permits *s;
	unsigned changed, used, unused;
};

static void on_changed(const struct permit *p, void *arg)
{
	(void)p;
	((struct heard *)arg)->changed++;
}

static void on_over(const struct permit *p, bool used, void *arg)
{
	struct heard *h = arg;

	assert_string_equal(p->provider, "sky");
	h->used += used;
	h->unused += !used;
}

static struct permit of(const char *work)
{
	static const struct permit_pod pods[] = {{"default", "train"}};

	return (struct permit){.tenant = "team-a",
			       .work = work,
			       .provider = "sky",
			       .type = "gpu-8",
			       .nodes = 2,
			       .pods = pods,
			       .npods = 1};
}

static void begin(struct heard *h)
{
	*h = (struct heard){0};
	h->s = permits_new(on_changed, h);
}

static struct world_pod pod(const char *name, const char *gang)
{
	return (struct world_pod){
		.tenant = "team-a", .ns = "default", .name = name, .gang.key = gang};
}

/* A permit (of a burst decision) belongs to one piece of work. A pod and a gang of the same name
 * are two pieces of work; a pod of a gang belongs to the gang's work. */
static void each_work_has_its_own(void **state)
{
	const struct world_pod train = pod("train", NULL), other = pod("other", NULL),
			       member = pod("train", "default/train");
	const struct permit a = of("default/train");
	OWN(arena) ar = arena_new();
	struct heard h;

	(void)state;
	begin(&h);
	permits_add(h.s, &a, false);
	assert_int_equal(h.changed, 1);
	assert_non_null(permits_of_pod(h.s, &train));
	assert_null(permits_of_pod(h.s, &other));
	assert_null(permits_of_pod(h.s, &member));
	permits_add(h.s, &a, true);
	assert_non_null(permits_of_pod(h.s, &member));
	assert_ptr_not_equal(permits_of_pod(h.s, &member), permits_of_pod(h.s, &train));
	assert_null(permits_of_pod(h.s, &train)->gang.uid);
	assert_non_null(permits_of_pod(h.s, &member)->gang.uid);
	for (int64_t i = 0; i < 2; i++)
		assert_ptr_equal(permits_of_machine(
					 h.s, permits_machine(permits_of_pod(h.s, &train), i, ar)),
				 permits_of_pod(h.s, &train));
	assert_null(permits_of_machine(h.s, "sky/gpu-8/0"));
	permits_free(h.s);
}

/* A plan uses up the permits that existed when it began. A permit added while the plan is made
 * belongs to the next plan. */
static void a_plan_ends_those_that_it_began_with(void **state)
{
	const struct permit a = of("default/a"), b = of("default/b"), c = of("default/c");
	OWN(arena) ar = arena_new();
	const struct world_pod pod_a = pod("a", NULL);
	struct heard h;

	(void)state;
	begin(&h);
	permits_add(h.s, &a, false);
	permits_add(h.s, &b, false);
	permits_begin(h.s);
	permits_add(h.s, &c, false);
	permits_used(h.s, permits_machine(permits_of_pod(h.s, &pod_a), 1, ar));
	permits_end(h.s, on_over, &h);
	assert_int_equal(h.used, 1);
	assert_int_equal(h.unused, 1);
	assert_false(permits_has(h.s, "team-a", "default/a", false));
	assert_true(permits_has(h.s, "team-a", "default/c", false));
	assert_int_equal(h.changed, 5);
	permits_clear(h.s);
	assert_false(permits_has(h.s, "team-a", "default/c", false));
	assert_int_equal(h.changed, 6);
	permits_free(h.s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_work_has_its_own),
		cmocka_unit_test(a_plan_ends_those_that_it_began_with),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
