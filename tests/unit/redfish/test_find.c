/* Which System of a BMC is the machine. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/arena.h"
#include "base/data/json.h"
#include "base/str.h"
#include "tests/unit/redfish/bmc_rig.h"

#define SYSTEMS "/redfish/v1/Systems"

/* Systems beside the fake's own, which is SYSTEMS/1; each listed before it, with a Reset of its own. */
struct beside {
	const char *names[20], *type;
	unsigned n;
};

static bool with_others(struct httpd_req *q, unsigned n, void *arg)
{
	const struct beside *s = arg;
	const char *path = httpd_path(q), *name;
	OWN(arena) a = arena_new();
	OWN_JSON all = json_array();
	char *text;

	(void)n;
	if (!str_starts(path, SYSTEMS) || !str_eq(httpd_method(q), "GET"))
		return false;
	if (str_eq(path, SYSTEMS)) {
		for (unsigned i = 0; i < s->n; i++)
			json_array_append_new(
				all, json_pack("{s:s}", "@odata.id",
					       arena_printf(a, SYSTEMS "/%s", s->names[i])));
		json_array_append_new(all, json_pack("{s:s}", "@odata.id", SYSTEMS "/1"));
		json_array_append_new(all, json_pack("{s:s}", "@odata.id", SYSTEMS "/1"));
		text = json_text(all);
		httpd_reply_json(q, 200, arena_printf(a, "{\"Members\":%s}", text));
		free(text);
		return true;
	}
	for (unsigned i = 0; i < s->n; i++) {
		name = s->names[i];
		if (!str_eq(path + strlen(SYSTEMS "/"), name))
			continue;
		httpd_reply_json(
			q, 200,
			arena_printf(a,
				     "{\"SystemType\":\"%s\",\"PowerState\":\"On\",\"UUID\":"
				     "\"d0d0d0d0-0035-3410-8050-c6c04f314733\",\"Actions\":"
				     "{\"#ComputerSystem.Reset\":{\"target\":\"" SYSTEMS
				     "/%s/Actions/ComputerSystem.Reset\"}}}",
				     s->type, name));
		return true;
	}
	return false;
}

static struct bmc_rig *rig(void **state, struct beside *s)
{
	struct bmc_rig *f = *state;

	f->bmc.tamper = with_others;
	f->bmc.tamper_arg = s;
	f->bmc.on = true;
	return f;
}

/* BlueField cards come as Systems of their own, first in the list as often as not. */
static void a_dpu_is_no_machine(void **state)
{
	struct beside s = {.names = {"Bluefield", "DPU2"}, .type = "DPU", .n = 2};
	struct bmc_rig *f = rig(state, &s);

	assert_done(bmc_read_system(f));
	assert_string_equal(f->uuid, "4c4c4544-0035-3410-8050-c6c04f314733");
	assert_done(bmc_power(f, false));
	assert_false(f->bmc.on);
	assert_int_equal(fake_bmc_count(&f->bmc, "POST " SYSTEMS "/Bluefield"), 0);
	assert_int_equal(fake_bmc_count(&f->bmc, "POST " SYSTEMS "/1"), 1);
}

static void a_dpu_that_the_address_names_is_none_either(void **state)
{
	struct beside s = {.names = {"Bluefield"}, .type = "DPU", .n = 1};
	struct bmc_rig *f = rig(state, &s);

	f->spec.system_url = "https://10.0.8.17" SYSTEMS "/Bluefield";
	assert_int_equal(bmc_power(f, false), ERR_UNSUPPORTED);
	assert_non_null(strstr(f->err.text, "DPU"));
	assert_int_equal(fake_bmc_count(&f->bmc, "POST " SYSTEMS), 0);
}

static void several_hosts_are_listed_and_none_is_guessed(void **state)
{
	struct beside s = {.names = {"Node2"}, .type = "Physical", .n = 1};
	struct bmc_rig *f = rig(state, &s);

	assert_int_equal(bmc_read_system(f), ERR_UNSUPPORTED);
	assert_non_null(strstr(f->err.text, SYSTEMS "/Node2, " SYSTEMS "/1"));
	assert_int_equal(bmc_power(f, false), ERR_UNSUPPORTED);
	assert_true(f->bmc.on);
	assert_int_equal(fake_bmc_count(&f->bmc, "POST " SYSTEMS), 0);
	bmc_drop_client(f);
	f->spec.system_url = "https://10.0.8.17" SYSTEMS "/1"; /* as it asks for */
	assert_done(bmc_power(f, false));
	assert_false(f->bmc.on);
}

static void more_than_are_looked_at_are_too_many(void **state)
{
	struct beside s = {.type = "DPU", .n = 16};
	struct bmc_rig *f = rig(state, &s);
	OWN(arena) a = arena_new();

	for (unsigned i = 0; i < s.n; i++)
		s.names[i] = arena_printf(a, "card-%u", i);
	assert_int_equal(bmc_read_system(f), ERR_UNSUPPORTED);
	assert_non_null(strstr(f->err.text, "too many"));
	s.n = 15;
	assert_done(bmc_read_system(f));
	assert_string_equal(f->uuid, "4c4c4544-0035-3410-8050-c6c04f314733");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		bmc_test(a_dpu_is_no_machine),
		bmc_test(a_dpu_that_the_address_names_is_none_either),
		bmc_test(several_hosts_are_listed_and_none_is_guessed),
		bmc_test(more_than_are_looked_at_are_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
