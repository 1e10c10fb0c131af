#include "tests/unit/testing.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/loop/loop_uv.h"
#include "base/mem.h"
#include "base/str.h"
#include "providers/exec_check.h"
#include "tests/contract/fake_bmc.h"
#include "tests/contract/fake_cloud.h"
#include "tests/contract/fake_libvirt.h"

/* Tests exec_check (`drover provider test`) with a program that follows the protocol, with each
 * possible violation, and with the shipped examples. */
struct hall {
	struct loop *loop;
	struct loop_group *group;
	struct fake_libvirt program;
	struct fake_bmc machine;
	/* Findings of the check; NULL: the check has not ended */
	json_t *findings;
	unsigned wrong, answered;
};

static struct fake_bmc *find(const char *machine, const char **address, void *arg)
{
	struct hall *h = arg;

	*address = "127.0.0.1";
	return str_eq(machine, "u-7") ? &h->machine : NULL;
}

static void hall_start(struct hall *h)
{
	*h = (struct hall){.loop = loop_sim_new(31, 1764000000000)};
	h->group = loop_group_new(h->loop, "check");
	fake_bmc_init(&h->machine, h->group);
	fake_libvirt_init(&h->program, h->group);
	h->program.find = find;
	h->program.arg = h;
}

static void hall_stop(struct hall *h)
{
	loop_sim_run_until(h->loop, loop_now(h->loop) + 1000);
	fake_bmc_done(&h->machine);
	loop_group_free(h->group);
	loop_free(h->loop);
	fake_libvirt_done(&h->program);
	json_decref(h->findings);
}

static void on_done(const json_t *findings, unsigned wrong, void *arg)
{
	struct hall *h = arg;

	h->findings = json_deep_copy(findings);
	h->wrong = wrong;
	h->answered++;
	loop_stop(h->loop);
}

static void check(struct hall *h, bool changes)
{
	static const char *const argv[] = {FAKE_EXEC, NULL};
	struct exec_check_spec s = {.group = h->group,
				    .command = argv,
				    .machine = "u-7",
				    .changes = changes,
				    .fence = 1000,
				    .done = on_done,
				    .arg = h};
	struct exec_check *c = exec_check_new(&s);

	loop_sim_run_until(h->loop, loop_now(h->loop) + 900000);
	exec_check_free(c);
	assert_int_equal(h->answered, 1);
}

static const char *says(const struct hall *h, const char *of, const char *result)
{
	size_t i;
	json_t *f;

	json_array_foreach (h->findings, i, f)
		if (str_eq(json_str_at(f, "of"), of) && str_eq(json_str_at(f, "result"), result))
			return json_str_at(f, "says");
	return NULL;
}

static void a_program_that_keeps_to_it_passes(void **state)
{
	struct hall h;

	(void)state;
	hall_start(&h);
	check(&h, true);
	assert_int_equal(h.wrong, 0);
	assert_int_equal(json_array_size(h.findings), 22);
	assert_int_equal(h.program.starts, 2);
	assert_false(h.machine.on);
	assert_null(h.machine.image);
	assert_string_equal(h.machine.boot_target, "None");
	hall_stop(&h);
}

static void without_leave_nothing_is_changed(void **state)
{
	struct hall h;

	(void)state;
	hall_start(&h);
	h.machine.on = true;
	check(&h, false);
	assert_int_equal(h.wrong, 0);
	assert_int_equal(json_array_size(h.findings), 4);
	assert_int_equal(fake_bmc_count(&h.machine, "POST"), 0);
	assert_true(h.machine.on);
	hall_stop(&h);
}

static void what_it_does_wrong_is_named(void **state)
{
	static const struct {
		bool forgets, power_lie, write_lie, no_uuid;
		const char *error, *of, *result, *says;
	} cases[] = {
		{.forgets = true,
		 .of = "request of an older leader",
		 .result = "wrong",
		 .says = "the program carried it out"},
		{.power_lie = true,
		 .of = "power On",
		 .result = "wrong",
		 .says = "never observed On"},
		{.write_lie = true,
		 .of = "insert medium",
		 .result = "wrong",
		 .says = "mediaURL never showed"},
		{.no_uuid = true, .of = "observe", .result = "note", .says = "no uuid"},
		{.error = "unavailable",
		 .of = "unknown machine",
		 .result = "wrong",
		 .says = "refused as unavailable, want not-found"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct hall h;

		hall_start(&h);
		h.program.no_fences = cases[i].forgets;
		h.machine.power_lie = cases[i].power_lie;
		h.machine.write_lie = cases[i].write_lie;
		h.program.error = cases[i].error;
		if (cases[i].no_uuid) {
			free(h.machine.uuid);
			h.machine.uuid = NULL;
		}
		check(&h, true);
		if (!says(&h, cases[i].of, cases[i].result) ||
		    !strstr(says(&h, cases[i].of, cases[i].result), cases[i].says))
			fail_msg("%zu: %s", i, json_dumps(h.findings, JSON_INDENT(1)));
		assert_true((h.wrong > 0) == str_eq(cases[i].result, "wrong"));
		hall_stop(&h);
	}
}

static void a_program_that_answers_nothing_is_given_up(void **state)
{
	struct hall h;

	(void)state;
	hall_start(&h);
	h.program.deaf = true;
	check(&h, false);
	assert_int_equal(h.wrong, json_array_size(h.findings));
	assert_non_null(strstr(says(&h, "ping", "wrong"), FAKE_EXEC));
	hall_stop(&h);
}

/* Runs the shipped example as a real process on the real loop. */
static void the_example_passes(void **state)
{
	char folder[] = "/tmp/drover-exec-XXXXXX", table[64], program[PATH_MAX];
	const char *const argv[] = {program, table, NULL};
	struct hall h = {.loop = loop_uv_new()};
	struct exec_check_spec s = {.command = argv,
				    .machine = "u-7",
				    .changes = true,
				    .fence = 1000,
				    .done = on_done,
				    .arg = &h};
	struct exec_check *c;
	FILE *f;

	(void)state;
	h.group = s.group = loop_group_new(h.loop, "check");
	assert_non_null(mkdtemp(folder));
	assert_non_null(realpath("examples/exec-provider/machines", program));
	str_format(table, sizeof(table), "%s/machines.json", folder);
	f = fopen(table, "w");
	fputs("{\"u-7\": {\"uuid\": \"4c4c4544-0035-3410-8050-c6c04f314733\"}}", f);
	fclose(f);
	c = exec_check_new(&s);
	while (!h.answered)
		loop_run(h.loop);
	if (h.wrong)
		fail_msg("%s", json_dumps(h.findings, JSON_INDENT(1)));
	exec_check_free(c);
	loop_group_free(h.group);
	loop_free(h.loop);
	json_decref(h.findings);
	unlink(table);
	rmdir(folder);
}

struct sky {
	struct hall h;
	struct fake_cloud cloud;
};

static void check_cloud(struct sky *s, bool no_tokens)
{
	static const char *const argv[] = {FAKE_CLOUD, NULL};
	struct exec_check_spec x = {.command = argv,
				    .machine = "big",
				    .cloud = true,
				    .changes = true,
				    .fence = 1000,
				    .done = on_done,
				    .arg = &s->h};
	struct exec_check *c;

	hall_start(&s->h);
	x.group = s->h.group;
	fake_cloud_init(&s->cloud, s->h.group);
	s->cloud.zones[0].zone = "a";
	s->cloud.zones[0].type = "big";
	s->cloud.zones[0].capacity = -1;
	s->cloud.no_tokens = no_tokens;
	s->cloud.visible_ms = 3000;
	c = exec_check_new(&x);
	loop_sim_run_until(s->h.loop, loop_now(s->h.loop) + 900000);
	exec_check_free(c);
	loop_sim_run_until(s->h.loop, loop_now(s->h.loop) + 1000);
}

static void a_cloud_that_keeps_to_it_passes_and_nothing_is_left(void **state)
{
	struct sky s;

	(void)state;
	check_cloud(&s, false);
	assert_int_equal(s.h.wrong, 0);
	assert_int_equal(json_array_size(s.h.findings), 12);
	assert_int_equal(s.cloud.launched, 1);
	assert_int_equal(fake_cloud_alive(&s.cloud), 0);
	fake_cloud_done(&s.cloud);
	hall_stop(&s.h);
}

static void a_cloud_that_launches_twice_for_one_token_is_told_so(void **state)
{
	struct sky s;

	(void)state;
	check_cloud(&s, true);
	assert_int_equal(s.h.wrong, 2);
	assert_string_equal(says(&s.h, "launch with the same token", "wrong"),
			    "a second instance was launched");
	fake_cloud_done(&s.cloud);
	hall_stop(&s.h);
}

/* Runs a shipped program against a simulation of its cloud's API. Exactly one instance of `type` is
 * launched and terminated. */
static void shipped_passes(const char *fake, const char *program, const char *type)
{
	char folder[] = "/tmp/drover-cloud-XXXXXX", table[64], fake_path[PATH_MAX], path[PATH_MAX];
	const char *argv[] = {fake_path, path, table, NULL};
	struct hall h = {.loop = loop_uv_new()};
	struct exec_check_spec s = {.command = argv,
				    .machine = type,
				    .cloud = true,
				    .changes = true,
				    .fence = 1000,
				    .done = on_done,
				    .arg = &h};
	struct exec_check *c;

	s.group = h.group = loop_group_new(h.loop, "check");
	assert_non_null(mkdtemp(folder));
	assert_non_null(realpath(fake, fake_path));
	assert_non_null(realpath(program, path));
	str_format(table, sizeof(table), "%s/instances.json", folder);
	c = exec_check_new(&s);
	while (!h.answered)
		loop_run(h.loop);
	if (h.wrong)
		fail_msg("%s", json_dumps(h.findings, JSON_INDENT(1)));
	assert_int_equal(json_array_size(h.findings), 12);
	assert_non_null(says(&h, "offers", "ok"));
	exec_check_free(c);
	loop_group_free(h.group);
	loop_free(h.loop);
	json_decref(h.findings);
	unlink(table);
	str_format(table, sizeof(table), "%s/instances.json.key", folder);
	unlink(table);
	rmdir(folder);
}

static void the_shipped_lambda_passes(void **state)
{
	(void)state;
	shipped_passes("tests/contract/fake_lambda", "examples/exec-provider/lambda", "gpu_8x");
}

static void the_shipped_latitude_passes(void **state)
{
	(void)state;
	shipped_passes("tests/contract/fake_latitude", "examples/exec-provider/latitude/latitude",
		       "g4-rtx6kpro-large");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_that_keeps_to_it_passes),
		cmocka_unit_test(without_leave_nothing_is_changed),
		cmocka_unit_test(what_it_does_wrong_is_named),
		cmocka_unit_test(the_shipped_lambda_passes),
		cmocka_unit_test(the_shipped_latitude_passes),
		cmocka_unit_test(a_cloud_that_keeps_to_it_passes_and_nothing_is_left),
		cmocka_unit_test(a_cloud_that_launches_twice_for_one_token_is_told_so),
		cmocka_unit_test(a_program_that_answers_nothing_is_given_up),
		cmocka_unit_test(the_example_passes),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
