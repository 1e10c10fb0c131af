#include "tests/unit/testing.h"

#include <stdlib.h>
#include "tests/simulated/loop_sim.h"
#include "base/mem.h"
#include "base/str.h"
#include "providers/hardware.h"
#include "providers/provider.h"
#include "tests/contract/fake_ipmitool.h"

/* Tests cases that only IPMI has; tests/contract/test_provider.c has the cases common to all
 * providers. */
struct bench {
	struct loop *loop;
	struct loop_group *hardware, *group;
	struct fake_bmc bmc;
	struct fake_ipmitool ipmi;
	struct provider *provider;
	struct provider_machine *machine;
	bool gone;
	unsigned answers;
	struct err err;
	struct provider_observation seen;
	/* Fault of the last observation; "!": not reported */
	char fault[256];
	char unsensed[200];
};

static struct fake_bmc *find(const char *host, void *arg)
{
	struct bench *b = arg;

	return b->gone || !str_eq(host, "10.0.8.17") ? NULL : &b->bmc;
}

static struct provider_machine *attach(struct bench *b, const char *address, const char *user,
				       const char *password, struct err *e)
{
	OWN(secret) s = secret_from_str(password);

	return provider_attach(
		b->provider,
		&(struct provider_machine_spec){
			.name = "gpu-1", .bmc_address = address, .user = user, .password = s},
		e);
}

static void start(struct bench *b)
{
	struct provider_spec s = {.name = "old", .type = "ipmi"};
	struct err e;

	*b = (struct bench){.loop = loop_sim_new(7, 1764000000000)};
	b->hardware = loop_group_new(b->loop, "hardware");
	s.group = b->group = loop_group_new(b->loop, "controller");
	fake_bmc_init(&b->bmc, b->hardware);
	fake_ipmitool_init(&b->ipmi, b->hardware);
	b->ipmi.find = find;
	b->ipmi.arg = b;
	b->provider = provider_new(&s, &e);
	assert_non_null(b->provider);
	b->machine = attach(b, "ipmi://10.0.8.17", "drover", "correct horse", &e);
	assert_non_null(b->machine);
}

static void stop(struct bench *b)
{
	provider_detach(b->provider, b->machine);
	provider_free(b->provider);
	loop_sim_run_until(b->loop, loop_now(b->loop) + 1000);
	assert_int_equal(b->ipmi.starts, b->ipmi.ends);
	fake_bmc_done(&b->bmc);
	loop_group_free(b->group);
	loop_group_free(b->hardware);
	loop_free(b->loop);
}

static void on_done(const struct provider_observation *o, const char *handle, const struct err *e,
		    void *arg)
{
	struct bench *b = arg;

	(void)handle;
	b->answers++;
	err_clear(&b->err);
	if (e)
		b->err = *e;
	if (o) {
		b->seen = *o;
		str_copy(b->unsensed, sizeof(b->unsensed), str_or(o->unsensed, ""));
		str_copy(b->fault, sizeof(b->fault), o->fault ? o->fault : "!");
	}
}

static enum err_kind observe(struct bench *b)
{
	struct provider_call c = {.op_id = "01JD", .done = on_done, .arg = b};

	b->answers = 0;
	provider_observe(b->provider, b->machine, &c);
	loop_sim_run_until(b->loop, loop_now(b->loop) + PROVIDER_CALL_MS);
	assert_int_equal(b->answers, 1);
	return b->err.kind;
}

static enum err_kind power(struct bench *b, bool on)
{
	struct provider_call c = {.op_id = "01JD", .done = on_done, .arg = b};

	b->answers = 0;
	provider_power(b->provider, b->machine, on, &c);
	loop_sim_run_until(b->loop, loop_now(b->loop) + PROVIDER_CALL_MS);
	assert_int_equal(b->answers, 1);
	return b->err.kind;
}

static void addresses_and_logins_are_checked(void **state)
{
	static const struct {
		const char *address, *user, *password, *says;
	} bad[] = {
		{"https://10.0.8.17", "a", "b", "want ipmi://HOST"},
		{"ipmi://", "a", "b", "want ipmi://HOST"},
		{"ipmi://-I", "a", "b", "want ipmi://HOST"},
		{"ipmi://10.0.8.17:99999", "a", "b", "want ipmi://HOST"},
		{"ipmi://10.0.8.17/redfish", "a", "b", "want ipmi://HOST"},
		{"ipmi://a b", "a", "b", "want ipmi://HOST"},
		{"ipmi://10.0.8.17", "", "b", "a user of at most 16"},
		{"ipmi://10.0.8.17", "a-name-that-is-too-long", "b", "a user of at most 16"},
		{"ipmi://10.0.8.17", "a", "a password of 21 byte", "a password of at most 20"},
		{"ipmi://10.0.8.17", "a", "with a line's end\n", "without tabs and line breaks"},
		{"ipmi://10.0.8.17", "a", "tab\there", "without tabs and line breaks"},
	};
	static const char *const good[] = {"ipmi://10.0.8.17:6230", "ipmi://bmc-7.example.com/",
					   "ipmi://[fd00::17]:623"};
	struct bench b;
	struct err e;

	(void)state;
	start(&b);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_null(attach(&b, bad[i].address, bad[i].user, bad[i].password, &e));
		assert_int_equal(e.kind, ERR_INVALID);
		assert_non_null(strstr(e.text, bad[i].says));
	}
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		provider_detach(b.provider, attach(&b, good[i], "a", "b", &e));
	stop(&b);
}

static void each_trouble_has_its_name(void **state)
{
	struct bench b;
	struct err e;

	(void)state;
	start(&b);
	b.gone = true;
	assert_int_equal(observe(&b), ERR_UNAVAILABLE);
	assert_non_null(strstr(b.err.text, "does not answer IPMI"));
	b.gone = false;
	b.ipmi.no_sessions = true;
	assert_int_equal(observe(&b), ERR_CAPACITY);
	assert_non_null(strstr(b.err.text, "no free session"));
	b.ipmi.no_sessions = false;
	assert_int_equal(observe(&b), ERR_NONE);
	provider_detach(b.provider, b.machine);
	b.machine = attach(&b, "ipmi://10.0.8.17", "nobody", "correct horse", &e);
	assert_int_equal(observe(&b), ERR_DENIED);
	assert_int_equal(b.err.code, 401);
	assert_non_null(strstr(b.err.text, "no such user"));
	stop(&b);
}

static bool always(const char *host, void *arg)
{
	(void)host, (void)arg;
	return true;
}

static void one_that_hangs_is_killed_and_named(void **state)
{
	struct bench b;

	(void)state;
	start(&b);
	b.ipmi.hangs = always;
	assert_int_equal(observe(&b), ERR_TIMEOUT);
	assert_non_null(strstr(b.err.text, "ipmitool did not end within 20 s and was killed"));
	assert_int_equal(b.err.scope, ERR_MACHINE);
	assert_int_equal(b.ipmi.ends, b.ipmi.starts);
	b.ipmi.hangs = NULL;
	assert_int_equal(observe(&b), ERR_NONE);
	stop(&b);
}

static void what_is_as_it_should_be_is_not_sent(void **state)
{
	struct bench b;

	(void)state;
	start(&b);
	assert_int_equal(power(&b, false), ERR_NONE);
	assert_int_equal(fake_bmc_count(&b.bmc, "POST"), 0);
	assert_int_equal(power(&b, true), ERR_NONE);
	assert_int_equal(fake_bmc_count(&b.bmc, "POST chassis power on"), 1);
	assert_true(b.bmc.on);
	stop(&b);
}

/* Observes the machine; returns the fault text. NULL: the sensors were not read. */
static const char *sensed(struct bench *b)
{
	assert_int_equal(observe(b), ERR_NONE);
	return b->fault[0] == '!' ? NULL : b->fault;
}

static void pass(struct bench *b, int64_t ms)
{
	loop_sim_run_until(b->loop, loop_now(b->loop) + ms);
}

static bool senses(void *arg)
{
	return ((struct bench *)arg)->ipmi.sensings > 0;
}

/* Observes the machine and runs until the sensor read that follows is in progress. */
static void on_the_way(struct bench *b)
{
	struct provider_call c = {.op_id = "01JD", .done = on_done, .arg = b};

	provider_observe(b->provider, b->machine, &c);
	assert_true(loop_sim_run_cond(b->loop, senses, b, loop_now(b->loop) + 60000));
}

/* Runs for ms, in which a scheduled sensor read ends, then observes twice and returns the second
 * fault text. */
static const char *sensed_after(struct bench *b, int64_t ms)
{
	pass(b, ms);
	(void)sensed(b);
	return sensed(b);
}

static void sensors_are_read_now_and_then(void **state)
{
	struct bench b;

	(void)state;
	start(&b);
	assert_null(sensed(&b)); /* The observation is answered before the sensors are read. */
	assert_string_equal(sensed(&b), "");
	b.ipmi.sensors = "Fan 3            | 43h | cr  | 29.3 | 0 RPM\n";
	assert_string_equal(sensed(&b), "");
	assert_int_equal(b.ipmi.sensings, 1);
	assert_string_equal(sensed_after(&b, 10 * 60000), "Fan 3 (critical: 0 RPM)");
	assert_int_equal(b.ipmi.sensings, 2);
	b.ipmi.sensors = "Fan 3            | 43h | ok  | 29.3 | 3200 RPM\n";
	assert_string_equal(sensed_after(&b, 10 * 60000), "");
	stop(&b);
}

/* ipmitool would erase an empty repository of sensor records, so its sensors are not read. */
static void a_repository_that_is_empty_is_let_be(void **state)
{
	struct bench b;

	(void)state;
	start(&b);
	b.ipmi.records = 0;
	assert_null(sensed(&b));
	assert_null(sensed_after(&b, 30 * 60000));
	assert_int_equal(b.ipmi.sensings, 0);
	assert_string_equal(b.unsensed, "the BMC reports no sensor records");
	b.ipmi.records = 1;
	assert_string_equal(sensed_after(&b, 60 * 60000), "");
	stop(&b);
}

/* The hanging ipmitool is killed, later calls work, and no sensors are read for an hour. */
static void sensors_that_take_too_long_cost_no_look(void **state)
{
	struct bench b;

	(void)state;
	start(&b);
	b.ipmi.sensors = NULL;
	b.bmc.on = true;
	assert_null(sensed(&b));
	assert_int_equal(b.seen.power, PROVIDER_POWER_ON);
	assert_int_equal(b.ipmi.sensings, 1);
	assert_int_equal(b.ipmi.ends, b.ipmi.starts);
	assert_null(sensed_after(&b, 50 * 60000));
	assert_string_equal(b.unsensed, "ipmitool did not end within 20 s and was killed");
	assert_int_equal(b.ipmi.sensings, 1);
	b.ipmi.sensors = "";
	/* The sensors were not read again, so no faults are reported. */
	assert_null(sensed_after(&b, 10 * 60000));
	assert_int_equal(b.ipmi.sensings, 2);
	stop(&b);
}

static void look_again(const struct provider_observation *o, const char *handle,
		       const struct err *e, void *arg)
{
	struct bench *b = arg;
	struct provider_call c = {.op_id = "01JD", .done = look_again, .arg = b};

	on_done(o, handle, e, arg);
	if (b->answers < 8)
		provider_observe(b->provider, b->machine, &c);
}

static void looks_without_a_gap_leave_room_for_sensors(void **state)
{
	struct bench b;
	struct provider_call c = {.op_id = "01JD", .done = look_again, .arg = &b};

	(void)state;
	start(&b);
	provider_observe(b.provider, b.machine, &c);
	pass(&b, 120000);
	assert_int_equal(b.answers, 8);
	assert_int_equal(b.ipmi.sensings, 1);
	assert_string_equal(b.fault, "");
	stop(&b);
}

/* A change of power or boot waits until a sensor read in progress has ended, and no longer. */
static void a_change_waits_for_sensors_under_way(void **state)
{
	struct bench b;

	(void)state;
	start(&b);
	b.ipmi.sensors = NULL;
	on_the_way(&b);
	assert_int_equal(power(&b, true), ERR_NONE);
	assert_true(b.bmc.on);
	stop(&b);
	start(&b);
	b.ipmi.sensors = NULL;
	/* The machine is detached while ipmitool runs: stop() checks that the process ended. */
	on_the_way(&b);
	stop(&b);
}

/* If ipmitool dies, its partial list does not count as healthy. Critical sensors in the list are
 * reported nevertheless. */
static void one_that_dies_in_the_middle_is_named(void **state)
{
	struct bench b;

	(void)state;
	start(&b);
	(void)sensed(&b);
	assert_string_equal(sensed(&b), "");
	b.ipmi.sensors_status = 128 + 11;
	assert_null(sensed_after(&b, 10 * 60000));
	assert_non_null(strstr(b.unsensed,
			       "ipmitool (status 139) listed 1 sensors, not the complete list"));
	b.ipmi.sensors = "Fan 3            | 43h | cr  | 29.3 | 0 RPM\n";
	assert_string_equal(sensed_after(&b, 60 * 60000), "Fan 3 (critical: 0 RPM)");
	assert_string_equal(b.unsensed, "");
	stop(&b);
}

/* A list that is too long is truncated and does not count as healthy. Critical sensors in it are
 * reported nevertheless. */
static void sensors_told_in_part_are_not_well(void **state)
{
	static const char row[] = "Temp             | 01h | ok  |  3.1 | 25 degrees C\n";
	size_t n = sizeof(row) - 1, rows = (64 << 10) / n + 2;
	struct bench b;
	char *many = mem_calloc(rows + 1, n);

	(void)state;
	start(&b);
	for (size_t i = 0; i < rows; i++)
		memcpy(many + i * n, row, n);
	b.ipmi.sensors = many;
	assert_null(sensed(&b));
	assert_null(sensed(&b));
	assert_int_equal(b.ipmi.sensings, 1);
	memcpy(strstr(many, "ok"), "cr", 2);
	assert_string_equal(sensed_after(&b, 60 * 60000), "Temp (critical: 25 degrees C)");
	free(many);
	stop(&b);
}

/* Boot flags that have expired, or were never valid, do not count as an override. */
static void the_override_is_what_the_flags_say(void **state)
{
	struct bench b;

	(void)state;
	start(&b);
	assert_int_equal(observe(&b), ERR_NONE);
	assert_int_equal(b.seen.boot_override, PROVIDER_OVERRIDE_NONE);
	fake_bmc_put_target(&b.bmc, "Cd");
	assert_int_equal(observe(&b), ERR_NONE);
	assert_int_equal(b.seen.boot_override, PROVIDER_OVERRIDE_MEDIA);
	fake_bmc_put_target(&b.bmc, "Pxe");
	assert_int_equal(observe(&b), ERR_NONE);
	assert_int_equal(b.seen.boot_override, PROVIDER_OVERRIDE_OTHER);
	stop(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_and_logins_are_checked),
		cmocka_unit_test(each_trouble_has_its_name),
		cmocka_unit_test(one_that_hangs_is_killed_and_named),
		cmocka_unit_test(what_is_as_it_should_be_is_not_sent),
		cmocka_unit_test(the_override_is_what_the_flags_say),
		cmocka_unit_test(sensors_are_read_now_and_then),
		cmocka_unit_test(a_repository_that_is_empty_is_let_be),
		cmocka_unit_test(sensors_that_take_too_long_cost_no_look),
		cmocka_unit_test(looks_without_a_gap_leave_room_for_sensors),
		cmocka_unit_test(a_change_waits_for_sensors_under_way),
		cmocka_unit_test(one_that_dies_in_the_middle_is_named),
		cmocka_unit_test(sensors_told_in_part_are_not_well),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
