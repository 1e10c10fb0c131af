#include "providers/provider.h"

#include <stdlib.h>
#include "tests/simulated/loop_sim.h"
#include "base/mem.h"
#include "tests/unit/testing.h"
#include "providers/hardware.h"

/* Tests the wrappers around a provider's functions; tests/contract/test_provider.c has the cases
 * common to all providers. */

static void an_unknown_type_is_unsupported(void **state)
{
	struct provider_spec s = {.name = "x", .type = "fax"};
	struct err e;

	(void)state;
	assert_null(provider_new(&s, &e));
	assert_int_equal(e.kind, ERR_UNSUPPORTED);
	assert_non_null(strstr(e.text, "fax"));
}

static void empty_close(struct provider *p)
{
	(void)p;
}

struct answer {
	unsigned count;
	enum err_kind kind;
};

static void on_done(const struct provider_observation *o, const char *handle, const struct err *e,
		    void *arg)
{
	struct answer *a = arg;

	(void)o, (void)handle;
	a->count++;
	a->kind = e ? e->kind : ERR_NONE;
}

static void an_empty_slot_answers_unsupported_later(void **state)
{
	static const struct provider_ops ops = {.type = "bare", .close = empty_close};
	struct loop *l = loop_sim_new(1, 0);
	struct loop_group *g = loop_group_new(l, "provider");
	struct provider *p = mem_new(struct provider);
	struct answer a[4] = {0}, last = {0};
	struct provider_call c[4], unheard = {.done = on_done, .arg = &last};

	(void)state;
	p->ops = &ops;
	p->group = g;
	list_init(&p->refusals);
	timed_calls_init(&p->timed, g, NULL);
	for (int i = 0; i < 4; i++)
		c[i] = (struct provider_call){.done = on_done, .arg = &a[i]};
	provider_observe(p, NULL, &c[0]);
	provider_power(p, NULL, true, &c[1]);
	provider_boot(p, NULL, PROVIDER_BOOT_DISK, NULL, &c[2]);
	provider_media(p, NULL, NULL, &c[3]);
	for (int i = 0; i < 4; i++)
		assert_int_equal(a[i].count, 0);
	loop_sim_run_until(l, loop_now(l) + 1000);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(a[i].count, 1);
		assert_int_equal(a[i].kind, ERR_UNSUPPORTED);
	}
	provider_power(p, NULL, true, &unheard);
	provider_free(p);
	loop_sim_run_until(l, loop_now(l) + 1000);
	assert_int_equal(last.count, 0);
	loop_group_free(g);
	loop_free(l);
}

static void every_power_has_a_name(void **state)
{
	(void)state;
	assert_string_equal(provider_power_names[PROVIDER_POWER_UNKNOWN], "Unknown");
	assert_string_equal(provider_power_names[PROVIDER_POWER_OFF], "Off");
	assert_string_equal(provider_power_names[PROVIDER_POWER_ON], "On");
	assert_string_equal(provider_power_names[PROVIDER_POWER_CHANGING], "Changing");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_unknown_type_is_unsupported),
		cmocka_unit_test(an_empty_slot_answers_unsupported_later),
		cmocka_unit_test(every_power_has_a_name),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
