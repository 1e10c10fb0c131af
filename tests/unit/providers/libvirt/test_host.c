#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"
#include "providers/libvirt/host.h"

/*
 * Tests providers/libvirt with libvirt's test driver, which needs neither root nor a daemon:
 * test:///default has one running domain, "test", and the pool "default-pool".
 * tests/real/libvirt.py tests what only QEMU supports.
 */
#define UUID "6695eb01-f6a4-8304-79aa-97f2502e193f"
#define MADE "8a1f5b1e-0000-4000-8000-c6c04f314733"

static struct host *host;

static int set_up(void **state)
{
	(void)state;
	host = host_new(&(struct host_spec){.uri = "test:///default",
					    .pool = "default-pool",
					    .media_url = "http://127.0.0.1:8080"});
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	host_free(host);
	return 0;
}

static struct host_call call(const char *domain, int64_t fence)
{
	return (struct host_call){
		.domain = domain, .uuid = NULL, .fence = fence, .deadline_ms = INT64_MAX};
}

static struct host_observation look(const char *domain, struct arena *a)
{
	struct host_observation l = {0};
	struct err e;

	assert_ok(host_observe(host, domain, a, &l, &e), &e);
	return l;
}

static void a_domain_is_observed(void **state)
{
	OWN(arena) a = arena_new();
	struct host_observation l = look("test", a);

	(void)state;
	assert_string_equal(l.power, "On");
	assert_string_equal(l.facts.uuid, UUID);
	assert_int_equal(l.facts.boot, DOMAIN_BOOT_DISK);
	assert_false(l.facts.inserted);
	assert_string_equal(l.address, "127.0.0.1");
}

static void power_is_a_target(void **state)
{
	struct host_call c = call("test", 1);
	struct err e;

	(void)state;
	for (int i = 0; i < 4; i++) {
		OWN(arena) a = arena_new();
		bool on = i >= 2;

		assert_ok(host_power(host, &c, on, &e), &e);
		assert_string_equal(look("test", a).power, on ? "On" : "Off");
	}
}

static void boot_is_the_next_start_s(void **state)
{
	OWN(arena) a = arena_new();
	struct host_call c = call("test", 1);
	struct err e;

	(void)state;
	assert_ok(host_boot(host, &c, true, &e), &e);
	assert_int_equal(look("test", a).facts.boot, DOMAIN_BOOT_MEDIA);
	assert_ok(host_boot(host, &c, false, &e), &e);
	assert_int_equal(look("test", a).facts.boot, DOMAIN_BOOT_DISK);
}

/* A leader that was replaced has a lower fence and can change nothing. */
static void a_lower_fence_is_refused(void **state)
{
	OWN(arena) a = arena_new();
	struct host_call newer = call("test", 9), older = call("test", 8);
	struct err e;

	(void)state;
	assert_ok(host_power(host, &newer, true, &e), &e);
	assert_int_equal(look("test", a).facts.fence, 9);
	assert_int_equal(host_power(host, &older, false, &e), -1);
	assert_int_equal(e.kind, ERR_CONFLICT);
	assert_int_equal(host_boot(host, &older, true, &e), -1);
	assert_int_equal(host_media(host, &older, NULL, &e), -1);
	assert_int_equal(e.kind, ERR_CONFLICT);
	assert_string_equal(look("test", a).power, "On");
	assert_ok(host_power(host, &newer, false, &e), &e);
	assert_string_equal(look("test", a).power, "Off");
}

static void one_that_was_deleted_is_named(void **state)
{
	struct host_call c = call("gone", 1);
	OWN(arena) a = arena_new();
	struct host_observation l;
	struct err e;

	(void)state;
	assert_int_equal(host_observe(host, "gone", a, &l, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	assert_non_null(strstr(e.text, "no domain gone: define it again, or retire the machine"));
	assert_int_equal(host_power(host, &c, false, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
}

static void another_domain_of_that_name_is_left_alone(void **state)
{
	struct host_call c = call("test", 1);
	OWN(arena) a = arena_new();
	struct err e;

	(void)state;
	c.uuid = MADE;
	assert_int_equal(host_power(host, &c, false, &e), -1);
	assert_int_equal(e.kind, ERR_UNAVAILABLE);
	assert_string_equal(look("test", a).power, "On");
	c.uuid = UUID;
	assert_ok(host_power(host, &c, false, &e), &e);
}

static void media_go_into_what_is_off(void **state)
{
	struct host_call c = call("test", 1);
	struct err e;

	(void)state;
	assert_int_equal(host_media(host, &c, "http://127.0.0.1:1/boot/x", &e), -1);
	assert_int_equal(e.kind, ERR_UNAVAILABLE);
	assert_non_null(strstr(e.text, "is on"));
	assert_ok(host_power(host, &c, false, &e), &e);
	assert_int_equal(host_media(host, &c, "http://127.0.0.1:1/boot/x", &e), -1);
	assert_non_null(strstr(e.text, "the boot medium from 127.0.0.1:1"));
	assert_null(strstr(e.text, "boot/x"));
	assert_ok(host_media(host, &c, NULL, &e), &e);
}

static struct host_machine made(void)
{
	return (struct host_machine){.name = "lab-0",
				     .uuid = MADE,
				     .provider = "1e0f",
				     .machine = "lab-0",
				     .cpus = 2,
				     .memory_bytes = 1 << 30,
				     .network = "default",
				     .ndrives = 1,
				     .drives = {{.bytes = 1 << 20}}};
}

static void machines_are_defined_and_undefined(void **state)
{
	struct host_machine m = made();
	struct host_call c = call("lab-0", 1);
	OWN(arena) a = arena_new();
	struct host_observation l;
	struct err e;

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_ok(host_define(host, &m, &e), &e);
	l = look("lab-0", a);
	assert_string_equal(l.power, "Off");
	assert_string_equal(l.facts.uuid, MADE);
	assert_string_equal(l.facts.provider, "1e0f");
	/* drover refuses to undefine a domain of another owner, and one that is on. */
	assert_int_equal(host_undefine(host, "lab-0", MADE, "2222", "lab-0", &e), -1);
	assert_int_equal(e.kind, ERR_CONFLICT);
	m.provider = "2222";
	assert_int_equal(host_define(host, &m, &e), -1);
	assert_int_equal(e.kind, ERR_CONFLICT);
	assert_int_equal(host_undefine(host, "test", UUID, "1e0f", "test", &e), -1);
	assert_int_equal(e.kind, ERR_CONFLICT);
	assert_ok(host_power(host, &c, true, &e), &e);
	assert_int_equal(host_undefine(host, "lab-0", MADE, "1e0f", "lab-0", &e), -1);
	assert_ok(host_power(host, &c, false, &e), &e);
	for (int i = 0; i < 2; i++)
		assert_ok(host_undefine(host, "lab-0", MADE, "1e0f", "lab-0", &e), &e);
	assert_int_equal(host_observe(host, "lab-0", a, &l, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
}

static void a_host_that_is_not_there_is_named(void **state)
{
	OWN(arena) a = arena_new();
	struct host_observation l;
	struct host *none = host_new(&(struct host_spec){
		.uri = "qemu:///system?socket=/nonexistent/drover", .pool = "default"});
	struct err e;

	(void)state;
	assert_int_equal(host_observe(none, "test", a, &l, &e), -1);
	assert_int_equal(e.kind, ERR_UNAVAILABLE);
	assert_int_equal(e.scope, ERR_PROVIDER);
	assert_non_null(strstr(e.text, "cannot connect to libvirt"));
	host_free(none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_domain_is_observed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(power_is_a_target, set_up, tear_down),
		cmocka_unit_test_setup_teardown(boot_is_the_next_start_s, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_lower_fence_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_that_was_deleted_is_named, set_up, tear_down),
		cmocka_unit_test_setup_teardown(another_domain_of_that_name_is_left_alone, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(media_go_into_what_is_off, set_up, tear_down),
		cmocka_unit_test_setup_teardown(machines_are_defined_and_undefined, set_up,
						tear_down),
		cmocka_unit_test(a_host_that_is_not_there_is_named),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
