#include "tests/unit/sim/machine/aisle.h"

#include <sys/stat.h>
#include "sim/machine/medium.h"
#include "wipe/proto.h"
#include "tests/data/pems.h"

#define MEDIA "http://10.0.8.2:8080"
#define HOME "https://10.1.0.5:8443"

/* One simulated machine, and a media server with one medium */
struct bench {
	struct aisle *f;
	char *medium;
	size_t len;
	unsigned served, ranges, breaks;
};

static int64_t read_medium(char *out, size_t max, uint64_t pos, void *arg)
{
	struct bench *b = arg;

	if (b->breaks && pos > b->len / 2) {
		b->breaks--;
		return -2;
	}
	if (max > b->len - pos)
		max = b->len - pos;
	memcpy(out, b->medium + pos, max);
	return (int64_t)max;
}

static void serve_medium(struct httpd_req *q, void *arg)
{
	struct bench *b = arg;
	struct httpd_content c = {.read = read_medium, .arg = b, .size = b->len};

	b->served++;
	b->ranges += httpd_header(q, "Range") != NULL;
	httpd_reply_content(q, &c);
}

/* Creates a medium that contains some texts which begin like a boot block but are not one. block:
 * true adds a real boot block. */
static void make_medium(struct bench *b, bool block)
{
	struct proto_boot boot = {
		.endpoint = HOME,
		.ca_pem = PEMS_CA,
		.machine = "gpu-1",
		.operation = "op-1",
		.boot = 1,
		.secret = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"};

	b->len = 700001;
	b->medium = mem_alloc(b->len);
	for (size_t i = 0; i < b->len; i++)
		b->medium[i] = "{\"endpoint\""[i % 11];
	if (block)
		assert_ok(proto_boot_write(&boot, b->medium + 500000, &b->f->e), &b->f->e);
}

static int setup(void **state)
{
	struct bench *b = mem_new(struct bench);

	b->f = aisle_new(true);
	httpd_route(b->f->d, "GET", "/m.iso", 0, serve_medium, b);
	http_mem_serve(b->f->net, MEDIA, b->f->d);
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bench *b = *state;

	aisle_free(b->f);
	free(b->medium);
	free(b);
	return 0;
}

static void set(char **slot, const char *text)
{
	free(*slot);
	*slot = mem_strdup(text);
}

static void insert(struct bench *b, const char *enabled)
{
	struct sim_machine *m = &b->f->m;

	set(&m->image, MEDIA "/m.iso");
	set(&m->boot_target, "Cd");
	set(&m->boot_enabled, enabled);
	sim_machine_save(m);
}

/* --- power ------------------------------------------------------------------------------------ */

static void power_takes_its_time_and_is_told(void **state)
{
	struct bench *b = *state;
	struct sim_machine *m = &b->f->m;
	bool to;

	b->f->site.times = (struct sim_times){.power_ms = 3000, .post_ms = 5000};
	sim_machine_power(m, true);
	assert_true(sim_machine_switching(m, &to));
	assert_true(to);
	aisle_run(b->f, 2900);
	assert_false(m->on);
	aisle_run(b->f, 500);
	assert_true(m->on);
	assert_int_equal(m->doing, SIM_POST);
	assert_int_equal(b->f->changes, 1);
	aisle_run(b->f, 5600);
	assert_int_equal(m->doing, SIM_NOTHING);
	sim_machine_power(m, false);
	aisle_run(b->f, 3400);
	assert_false(m->on);
	assert_int_equal(m->doing, SIM_OFF);
}

static void who_asks_for_the_other_thing_meanwhile_gets_that(void **state)
{
	struct bench *b = *state;

	sim_machine_power(&b->f->m, true);
	sim_machine_power(&b->f->m, false);
	aisle_run(b->f, 10000);
	assert_false(b->f->m.on);
	assert_int_equal(b->f->m.boots, 0);
}

static void each_boot_has_an_id_of_its_own(void **state)
{
	struct bench *b = *state;
	char first[40];

	sim_machine_power(&b->f->m, true);
	aisle_run(b->f, 5000);
	str_copy(first, sizeof(first), b->f->m.boot_id);
	assert_int_equal(strlen(first), 36);
	sim_machine_reboot(&b->f->m);
	assert_int_equal(b->f->m.doing, SIM_POST);
	assert_string_not_equal(b->f->m.boot_id, first);
	sim_machine_cut(&b->f->m);
	sim_machine_reboot(&b->f->m);
	assert_int_equal(b->f->m.doing, SIM_OFF);
	assert_int_equal(b->f->m.boots, 2);
}

/* --- what the machine boots ------------------------------------------------------------------- */

static void a_medium_boots_once_when_it_is_asked_for_once(void **state)
{
	struct bench *b = *state;
	struct sim_machine *m = &b->f->m;

	make_medium(b, true);
	insert(b, "Once");
	sim_machine_power(m, true);
	aisle_run(b->f, 5000);
	assert_int_equal(m->doing, SIM_AGENT);
	assert_string_equal(m->boot_enabled, "Disabled");
	assert_string_equal(m->boot_target, "None");
	sim_machine_reboot(m);
	aisle_run(b->f, 5000);
	assert_int_equal(m->doing, SIM_NOTHING);
	insert(b, "Continuous");
	sim_machine_reboot(m);
	aisle_run(b->f, 5000);
	sim_machine_reboot(m);
	aisle_run(b->f, 5000);
	assert_int_equal(m->doing, SIM_AGENT);
}

static void without_override_or_medium_the_disk_boots(void **state)
{
	struct bench *b = *state;
	struct sim_machine *m = &b->f->m;

	make_medium(b, true);
	insert(b, "Disabled");
	sim_machine_power(m, true);
	aisle_run(b->f, 5000);
	assert_int_equal(m->doing, SIM_NOTHING);
	insert(b, "Once");
	set(&m->image, NULL);
	sim_machine_reboot(m);
	aisle_run(b->f, 5000);
	assert_int_equal(m->doing, SIM_NOTHING);
	assert_int_equal(b->served, 0);
}

static void an_http_boot_needs_no_medium(void **state)
{
	struct bench *b = *state;
	struct sim_machine *m = &b->f->m;

	make_medium(b, true);
	set(&m->http_boot_uri, MEDIA "/m.iso");
	set(&m->boot_target, "UefiHttp");
	set(&m->boot_enabled, "Once");
	sim_machine_power(m, true);
	aisle_run(b->f, 5000);
	assert_int_equal(m->doing, SIM_AGENT);
}

static void a_medium_without_boot_block_boots_nothing(void **state)
{
	struct bench *b = *state;

	make_medium(b, false);
	insert(b, "Once");
	sim_machine_power(&b->f->m, true);
	aisle_run(b->f, 5000);
	assert_int_equal(b->f->m.doing, SIM_NOTHING);
	assert_int_equal(b->served, 1);
}

static void a_medium_that_breaks_off_is_taken_up_where_it_broke(void **state)
{
	struct bench *b = *state;

	make_medium(b, true);
	b->breaks = 3;
	insert(b, "Once");
	sim_machine_power(&b->f->m, true);
	aisle_run(b->f, 10000);
	assert_int_equal(b->f->m.doing, SIM_AGENT);
	assert_int_equal(b->served, 4);
	assert_int_equal(b->ranges, 3);
}

static void a_server_that_is_gone_does_not_hold_up_the_boot_for_ever(void **state)
{
	struct bench *b = *state;

	http_mem_serve(b->f->net, MEDIA, NULL);
	insert(b, "Once");
	sim_machine_power(&b->f->m, true);
	aisle_run(b->f, 10000);
	assert_int_equal(b->f->m.doing, SIM_NOTHING);
	assert_non_null(strstr(b->f->m.console, "nothing to boot"));
}

static void power_goes_while_the_medium_is_fetched(void **state)
{
	struct bench *b = *state;

	http_mem_hang(b->f->net, MEDIA, true);
	insert(b, "Once");
	sim_machine_power(&b->f->m, true);
	aisle_run(b->f, 2500);
	assert_int_equal(b->f->m.doing, SIM_POST);
	assert_non_null(b->f->m.medium);
	sim_machine_cut(&b->f->m);
	assert_null(b->f->m.medium);
	aisle_run(b->f, 10000);
	assert_int_equal(b->f->m.doing, SIM_OFF);
}

/* --- faults ----------------------------------------------------------------------------------- */

static void a_medium_may_vanish_and_firmware_may_boot_the_disk(void **state)
{
	struct bench *b = *state;
	struct sim_machine *m = &b->f->m;

	make_medium(b, true);
	insert(b, "Once");
	aisle_fault(b->f, "POST", "MediaVanishes", 1);
	sim_machine_power(m, true);
	aisle_run(b->f, 5000);
	assert_int_equal(m->doing, SIM_NOTHING);
	assert_null(m->image);
	insert(b, "Once");
	aisle_fault(b->f, "POST", "BootsDisk", 1);
	sim_machine_reboot(m);
	aisle_run(b->f, 5000);
	assert_int_equal(m->doing, SIM_NOTHING);
	assert_non_null(m->image);
}

static void a_reboot_in_post_is_another_boot(void **state)
{
	struct bench *b = *state;

	aisle_fault(b->f, "POST", "Reboot", 2);
	sim_machine_power(&b->f->m, true);
	aisle_run(b->f, 10000);
	assert_int_equal(b->f->m.boots, 3);
	assert_int_equal(b->f->m.doing, SIM_NOTHING);
}

/* --- a simulator that is killed --------------------------------------------------------------- */

static void power_settings_and_boot_count_survive_a_kill(void **state)
{
	struct bench *b = *state;
	struct sim_machine *m = &b->f->m;
	char boot_id[40];

	make_medium(b, true);
	sim_machine_power(m, true);
	aisle_run(b->f, 5000);
	insert(b, "Once");
	str_copy(boot_id, sizeof(boot_id), m->boot_id);
	aisle_kill(b->f);
	assert_true(m->on);
	assert_int_equal(m->boots, 1);
	assert_int_equal(m->doing, SIM_NOTHING);
	assert_string_equal(m->boot_id, boot_id);
	assert_string_equal(m->image, MEDIA "/m.iso");
	assert_string_equal(m->boot_enabled, "Once");
	sim_machine_cut(m);
	aisle_kill(b->f);
	assert_false(m->on);
	aisle_run(b->f, 10000);
	assert_int_equal(m->doing, SIM_OFF);
}

static void what_was_in_memory_boots_again_after_a_kill(void **state)
{
	struct bench *b = *state;
	struct sim_machine *m = &b->f->m;
	char boot_id[40];

	make_medium(b, true);
	insert(b, "Continuous");
	sim_machine_power(m, true);
	aisle_run(b->f, 5000);
	assert_int_equal(m->doing, SIM_AGENT);
	str_copy(boot_id, sizeof(boot_id), m->boot_id);
	aisle_kill(b->f);
	assert_int_equal(m->doing, SIM_POST);
	assert_string_not_equal(m->boot_id, boot_id);
	aisle_run(b->f, 5000);
	assert_int_equal(m->doing, SIM_AGENT);
	assert_int_equal(m->boots, 2);
}

static void a_state_that_cannot_be_read_is_a_problem_not_a_crash(void **state)
{
	struct bench *b = *state;
	char path[128];
	FILE *f;

	sim_machine_save(&b->f->m);
	sim_machine_done(&b->f->m);
	str_format(path, sizeof(path), "%s/gpu-1.json", b->f->dir);
	f = fopen(path, "w");
	fputs("{\"on\":tr", f);
	fclose(f);
	sim_machine_init(&b->f->m, &b->f->site, 1, NULL);
	assert_int_not_equal(b->f->m.problem.kind, ERR_NONE);
	assert_false(b->f->m.on);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(power_takes_its_time_and_is_told),
		T(who_asks_for_the_other_thing_meanwhile_gets_that),
		T(each_boot_has_an_id_of_its_own),
		T(a_medium_boots_once_when_it_is_asked_for_once),
		T(without_override_or_medium_the_disk_boots),
		T(an_http_boot_needs_no_medium),
		T(a_medium_without_boot_block_boots_nothing),
		T(a_medium_that_breaks_off_is_taken_up_where_it_broke),
		T(a_server_that_is_gone_does_not_hold_up_the_boot_for_ever),
		T(power_goes_while_the_medium_is_fetched),
		T(a_medium_may_vanish_and_firmware_may_boot_the_disk),
		T(a_reboot_in_post_is_another_boot),
		T(power_settings_and_boot_count_survive_a_kill),
		T(what_was_in_memory_boots_again_after_a_kill),
		T(a_state_that_cannot_be_read_is_a_problem_not_a_crash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
