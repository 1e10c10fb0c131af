/* Tests how the client finds the machine among a BMC's Systems. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/arena.h"
#include "base/data/json.h"
#include "base/str.h"
#include "tests/unit/redfish/bmc_rig.h"

#define SYSTEMS "/redfish/v1/Systems"

/* Systems in addition to the fake's SYSTEMS/1; each is listed before it and has its own Reset. */
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

/* BlueField cards appear as separate Systems, often first in the list. */
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
	assert_int_equal(f->err.code, REDFISH_ADDRESS);
	assert_int_equal(fake_bmc_count(&f->bmc, "POST " SYSTEMS), 0);
}

static void several_hosts_are_listed_and_none_is_guessed(void **state)
{
	struct beside s = {.names = {"Node2"}, .type = "Physical", .n = 1};
	struct bmc_rig *f = rig(state, &s);

	assert_int_equal(bmc_read_system(f), ERR_UNSUPPORTED);
	assert_non_null(strstr(f->err.text, SYSTEMS "/Node2, " SYSTEMS "/1"));
	assert_int_equal(f->err.code, REDFISH_ADDRESS);
	assert_int_equal(bmc_power(f, false), ERR_UNSUPPORTED);
	assert_true(f->bmc.on);
	assert_int_equal(fake_bmc_count(&f->bmc, "POST " SYSTEMS), 0);
	bmc_drop_client(f);
	/* This is the path that the error asks for. */
	f->spec.system_url = "https://10.0.8.17" SYSTEMS "/1";
	assert_done(bmc_power(f, false));
	assert_false(f->bmc.on);
}

/* The System is composed of the hosts that are listed beside it. These hosts have power of their
 * own, so the client must not guess. */
static void a_composed_system_is_one_of_several(void **state)
{
	struct beside s = {.names = {"Composed"}, .type = "Composed", .n = 1};
	struct bmc_rig *f = rig(state, &s);

	assert_int_equal(bmc_read_system(f), ERR_UNSUPPORTED);
	assert_non_null(strstr(f->err.text, SYSTEMS "/Composed, " SYSTEMS "/1"));
	bmc_drop_client(f);
	f->spec.system_url = ORIGIN SYSTEMS "/Composed";
	assert_done(bmc_read_system(f));
	assert_string_equal(f->uuid, "d0d0d0d0-0035-3410-8050-c6c04f314733");
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

/* A Manager also has UUID and PowerState, but they are its own. */
static void assert_is_no_system(struct bmc_rig *f, const char *path, const char *type)
{
	OWN(arena) a = arena_new();

	f->spec.system_url = arena_printf(a, ORIGIN "%s", path);
	str_copy(f->uuid, sizeof(f->uuid), "-");
	assert_int_equal(bmc_read_system(f), ERR_INVALID);
	assert_int_equal(f->err.code, REDFISH_ADDRESS);
	assert_string_equal(f->uuid, "-");
	assert_non_null(
		strstr(f->err.text, arena_printf(a, ORIGIN "%s is no ComputerSystem", path)));
	assert_non_null(strstr(f->err.text, type));
	assert_int_equal(bmc_power(f, false), ERR_INVALID);
	assert_int_equal(bmc_boot(f, REDFISH_BOOT_CD, NULL), ERR_INVALID);
	assert_int_equal(bmc_insert(f, MEDIA), ERR_INVALID);
	assert_int_equal(bmc_read_media(f), ERR_INVALID);
	assert_null(redfish_facts(f->r).system);
	assert_int_equal(fake_bmc_count(&f->bmc, "PATCH"), 0);
	assert_int_equal(fake_bmc_count(&f->bmc, "POST " SYSTEMS), 0);
	bmc_drop_client(f);
}

static void an_address_that_names_another_resource_is_believed_nothing(void **state)
{
	static const char manager[] = "/redfish/v1/Managers/BMC";
	struct bmc_rig *f = *state;

	assert_is_no_system(f, manager, "#Manager.v1_12_0.Manager");
	assert_is_no_system(f, "/redfish/v1/Managers/BMC/", "#Manager.v1_12_0.Manager");
	assert_is_no_system(f, SYSTEMS, "#ComputerSystemCollection.ComputerSystemCollection");
	f->bmc.untyped = true;
	assert_is_no_system(f, manager, "no @odata.type");
}

/* Some replies have no @odata.type (metadata=none). ComputerSystem.Reset is an action of Systems
 * only. */
static void a_system_without_a_type_is_known_by_its_reset(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.untyped = true;
	f->spec.system_url = ORIGIN SYSTEMS "/1";
	assert_done(bmc_read_system(f));
	assert_string_equal(f->uuid, "4c4c4544-0035-3410-8050-c6c04f314733");
	assert_done(bmc_power(f, true));
}

static bool turned_into_a_manager(struct httpd_req *q, unsigned n, void *arg)
{
	(void)n;
	(void)arg;
	if (!str_eq(httpd_path(q), SYSTEMS "/1") || !str_eq(httpd_method(q), "GET"))
		return false;
	httpd_reply_json(q, 200,
			 "{\"@odata.type\":\"#Manager.v1_12_0.Manager\",\"PowerState\":\"Off\","
			 "\"UUID\":\"3347314f-c0c6-5080-3410-00354c4c4544\"}");
	return true;
}

/* A path from the list of Systems later shows something else. That is an error of the BMC, not of
 * the configured address. */
static void a_system_that_turns_into_something_else_is_believed_no_more(void **state)
{
	struct bmc_rig *f = *state;

	assert_done(bmc_read_system(f));
	f->bmc.tamper = turned_into_a_manager;
	assert_int_equal(bmc_read_system(f), ERR_PROTOCOL);
	assert_int_not_equal(f->err.code, REDFISH_ADDRESS);
	assert_int_equal(bmc_power(f, true), ERR_UNSUPPORTED);
	f->bmc.tamper = NULL;
	assert_done(bmc_power(f, true));
}

static void slashes_at_the_end_and_doubled_ones_are_the_same_address(void **state)
{
	static const char *const paths[] = {
		"",	      "/",	     "/redfish/v1",    "/redfish/v1/", "//redfish//v1//",
		SYSTEMS "/1", SYSTEMS "/1/", "/" SYSTEMS "//1"};
	struct bmc_rig *f = *state;
	OWN(arena) a = arena_new();

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		f->spec.system_url = arena_printf(a, ORIGIN "%s", paths[i]);
		assert_done(bmc_read_system(f));
		assert_string_equal(f->uuid, "4c4c4544-0035-3410-8050-c6c04f314733");
		bmc_drop_client(f);
	}
	assert_int_equal(fake_bmc_count(&f->bmc, "GET //"), 0);
}

static void a_system_that_does_not_exist_is_an_address_to_correct(void **state)
{
	struct bmc_rig *f = *state;

	f->spec.system_url = ORIGIN SYSTEMS "/9";
	assert_int_equal(bmc_read_system(f), ERR_NOT_FOUND);
	assert_int_equal(f->err.code, REDFISH_ADDRESS);
	assert_non_null(strstr(f->err.text, ORIGIN SYSTEMS "/9"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		bmc_test(a_dpu_is_no_machine),
		bmc_test(a_dpu_that_the_address_names_is_none_either),
		bmc_test(several_hosts_are_listed_and_none_is_guessed),
		bmc_test(a_composed_system_is_one_of_several),
		bmc_test(more_than_are_looked_at_are_too_many),
		bmc_test(an_address_that_names_another_resource_is_believed_nothing),
		bmc_test(a_system_without_a_type_is_known_by_its_reset),
		bmc_test(a_system_that_turns_into_something_else_is_believed_no_more),
		bmc_test(slashes_at_the_end_and_doubled_ones_are_the_same_address),
		bmc_test(a_system_that_does_not_exist_is_an_address_to_correct),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
