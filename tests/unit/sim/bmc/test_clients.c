#include "tests/unit/sim/bmc/bench.h"

#include "providers/hardware.h"
#include "providers/provider.h"
#include "redfish/redfish.h"

/*
 * Tests drover's own Redfish client and provider against the simulated BMC, with and without
 * faults.
 */
#define PIN "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

struct seen {
	bool done, failed;
	struct err err;
	enum redfish_power power;
	bool inserted;
	char uuid[40], serial[40], target[32], image[128];
};

static void on_system(const struct redfish_system *s, const struct err *e, void *arg)
{
	struct seen *o = arg;

	o->done = true;
	o->failed = e != NULL;
	if (e) {
		o->err = *e;
		return;
	}
	o->power = s->power;
	str_copy(o->uuid, sizeof(o->uuid), str_or(s->system_uuid, ""));
	str_copy(o->serial, sizeof(o->serial), str_or(s->serial, ""));
	str_copy(o->target, sizeof(o->target), str_or(s->boot_target, ""));
}

static void on_media(const struct redfish_media *m, const struct err *e, void *arg)
{
	struct seen *o = arg;

	o->done = true;
	o->failed = e != NULL;
	if (e) {
		o->err = *e;
		return;
	}
	o->inserted = m->inserted;
	str_copy(o->image, sizeof(o->image), str_or(m->image, ""));
}

static void on_plain(const struct err *e, void *arg)
{
	struct seen *o = arg;

	o->done = true;
	o->failed = e != NULL;
	if (e)
		o->err = *e;
}

/* Accepts the System if its UUID is the one that was seen last, or if none was seen yet. */
static int fits(const struct redfish_system *s, void *arg, struct err *e)
{
	const struct seen *o = arg;

	return !o->uuid[0] || str_eq(s->system_uuid, o->uuid)
		       ? 0
		       : err_set(e, ERR_CONFLICT, 0, "another machine");
}

static bool was_seen(void *arg)
{
	return ((struct seen *)arg)->done;
}

static void wait_seen(struct bench *b, struct seen *o)
{
	assert_true(loop_sim_run_cond(b->loop, was_seen, o, loop_now(b->loop) + 120000));
	if (o->failed)
		fail_msg("%s", o->err.text);
	o->done = false;
}

static struct redfish *client(struct bench *b)
{
	struct redfish_spec s = {
		.system_url = BMC,
		.pin_sha256 = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		.user = "admin",
		.password = b->password,
		.fits = fits};
	struct err e;
	struct redfish *r = redfish_new(b->group, b->http, &s, &e);

	if (!r)
		fail_msg("%s", e.text);
	return r;
}

static void walk(struct bench *b)
{
	struct redfish *r = client(b);
	struct seen o = {0};

	redfish_read_system(r, on_system, &o);
	wait_seen(b, &o);
	assert_int_equal(o.power, REDFISH_POWER_OFF);
	assert_string_equal(o.uuid, b->m->uuid);
	assert_string_equal(o.serial, b->m->serial);

	redfish_insert(r, IMAGE, NULL, on_plain, &o);
	wait_seen(b, &o);
	redfish_read_media(r, on_media, &o);
	wait_seen(b, &o);
	assert_true(o.inserted);
	assert_string_equal(o.image, IMAGE);
	assert_string_equal(b->m->image, IMAGE);
	redfish_boot(r, REDFISH_BOOT_CD, NULL, on_plain, &o);
	wait_seen(b, &o);
	assert_string_equal(b->m->boot_target, "Cd");

	redfish_power(r, true, on_plain, &o);
	wait_seen(b, &o);
	pass(b, 5000);
	redfish_read_system(r, on_system, &o);
	wait_seen(b, &o);
	assert_int_equal(o.power, REDFISH_POWER_ON);
	assert_true(b->m->on);

	redfish_power(r, false, on_plain, &o);
	wait_seen(b, &o);
	pass(b, 5000);
	assert_false(b->m->on);
	redfish_eject(r, on_plain, &o);
	wait_seen(b, &o);
	assert_null(b->m->image);
	redfish_boot(r, REDFISH_BOOT_NONE, NULL, on_plain, &o);
	wait_seen(b, &o);
	redfish_read_system(r, on_system, &o);
	wait_seen(b, &o);
	assert_string_equal(o.target, "None");
	redfish_free(r);
}

static void the_client_does_all_it_wants(void **state)
{
	struct bench b;

	(void)state;
	begin(&b, NULL);
	walk(&b);
	end(&b);
}

static void it_does_so_where_the_bmc_is_difficult(void **state)
{
	static const char *const faults[] = {
		"faults: [{machine: gpu-1, what: EtagAlways412}]",
		"faults: [{machine: gpu-1, what: EtagRequired}]",
		"faults: [{machine: gpu-1, what: Async}]",
		"faults: [{machine: gpu-1, what: PowerSlow, value: 2}]",
		"faults: [{machine: gpu-1, what: BmcSlow, value: 3}]",
		"faults: [{machine: gpu-1, what: LoginMoved, value: 301}]",
		"faults: [{machine: gpu-1, what: LoginMoved, value: 308}]",
		/* The client falls back to Basic authentication. */
		"faults: [{machine: gpu-1, what: SessionsFull}]",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct bench b;

		print_message("%s\n", faults[i]);
		begin(&b, faults[i]);
		walk(&b);
		end(&b);
	}
}

static const struct err *failure_of(struct bench *b, struct seen *o)
{
	assert_true(loop_sim_run_cond(b->loop, was_seen, o, loop_now(b->loop) + 120000));
	o->done = false;
	return o->failed ? &o->err : NULL;
}

static void it_says_what_kind_of_failure_it_met(void **state)
{
	static const struct {
		const char *faults;
		enum err_kind kind;
	} cases[] = {
		{"faults: [{machine: gpu-1, what: BmcStatus, value: 500}]", ERR_UNAVAILABLE},
		{"faults: [{machine: gpu-1, what: RetryAfter, value: 20}]", ERR_UNAVAILABLE},
		{"faults: [{machine: gpu-1, what: BmcGarbage}]", ERR_PROTOCOL},
		{"faults: [{machine: gpu-1, what: PasswordChange}]", ERR_DENIED},
		{"faults: [{machine: gpu-1, what: BmcHang}]", ERR_TIMEOUT},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct seen o = {0};
		const struct err *e;
		struct redfish *r;
		struct bench b;

		begin(&b, cases[i].faults);
		r = client(&b);
		redfish_read_system(r, on_system, &o);
		e = failure_of(&b, &o);
		if (!e || e->kind != cases[i].kind)
			fail_msg("%s: %s: %s", cases[i].faults, e ? err_kind_name(e->kind) : "well",
				 e ? e->text : "");
		redfish_free(r);
		end(&b);
	}
}

/* --- the circuit breaker ---------------------------------------------------------------------- */

static enum http_mem_fault_kind count(const char *origin, const char *method, const char *target,
				      void *arg)
{
	(void)origin, (void)method, (void)target;
	++*(unsigned *)arg;
	return HTTP_MEM_WELL;
}

static enum err_kind read_kind(struct bench *b, struct redfish *r, struct seen *o)
{
	const struct err *e;

	redfish_read_system(r, on_system, o);
	e = failure_of(b, o);
	return e ? e->kind : ERR_NONE;
}

/* Every half second until `at`, asserts that a call fails at once and sends no request. */
static void assert_quiet_until(struct bench *b, struct redfish *r, const unsigned *sent, int64_t at)
{
	unsigned before = *sent;
	struct seen o = {0};

	for (;;) {
		assert_int_equal(read_kind(b, r, &o), ERR_UNAVAILABLE);
		assert_true(o.err.retry_after_ms > 0);
		if (loop_now(b->loop) + 500 >= at)
			break;
		pass(b, 500);
	}
	assert_int_equal(*sent, before);
}

static void assert_recovers(struct bench *b, struct redfish *r)
{
	struct seen o = {0};

	assert_int_equal(call(b, "DELETE", "/sim/faults", NULL, NULL), 200);
	pass(b, 1000);
	for (int i = 0; i < 4; i++)
		assert_int_equal(read_kind(b, r, &o), ERR_NONE);
}

static void it_leaves_one_alone_that_hangs_and_comes_back_to_it(void **state)
{
	struct seen o = {0};
	struct redfish *r;
	unsigned sent = 0;
	struct bench b;

	(void)state;
	begin(&b, "faults: [{machine: gpu-1, what: BmcHang}]");
	http_mem_fault(b.net, count, &sent);
	r = client(&b);
	for (unsigned i = 0; i < 3; i++) {
		unsigned before = sent;

		assert_int_equal(read_kind(&b, r, &o), ERR_TIMEOUT);
		assert_true(sent > before);
	}
	assert_int_equal(read_kind(&b, r, &o), ERR_UNAVAILABLE);
	assert_quiet_until(&b, r, &sent, loop_now(b.loop) + o.err.retry_after_ms);
	assert_recovers(&b, r);
	redfish_free(r);
	end(&b);
}

static void it_leaves_one_alone_for_as_long_as_that_asks(void **state)
{
	struct seen o = {0};
	struct redfish *r;
	unsigned sent = 0;
	struct bench b;

	(void)state;
	begin(&b, "faults: [{machine: gpu-1, what: RetryAfter, value: 20}]");
	http_mem_fault(b.net, count, &sent);
	r = client(&b);
	assert_int_equal(read_kind(&b, r, &o), ERR_UNAVAILABLE);
	assert_true(sent > 0);
	assert_quiet_until(&b, r, &sent, loop_now(b.loop) + 20000);
	assert_recovers(&b, r);
	redfish_free(r);
	end(&b);
}

static void it_acts_on_no_machine_that_became_another(void **state)
{
	static const char wrong[] = "faults: [{machine: '*', what: WrongUUID}]";
	struct seen o = {0};
	const struct err *e;
	struct redfish *r;
	struct bench b;

	(void)state;
	begin(&b, NULL);
	r = client(&b);
	redfish_read_system(r, on_system, &o);
	wait_seen(&b, &o);
	assert_int_equal(call(&b, "POST", "/sim/faults", wrong, NULL), 200);
	redfish_power(r, true, on_plain, &o);
	e = failure_of(&b, &o);
	assert_non_null(e);
	assert_int_equal(e->kind, ERR_CONFLICT);
	pass(&b, 5000);
	assert_false(b.m->on);
	redfish_free(r);
	end(&b);
}

/* --- the provider ----------------------------------------------------------------------------- */

struct look {
	bool done;
	struct err err;
	enum provider_power power;
	enum provider_override override;
	bool media;
	char uuid[40], url[128], session[128];
};

static void on_look(const struct provider_observation *p, const char *handle, const struct err *e,
		    void *arg)
{
	struct look *o = arg;

	(void)handle;
	*o = (struct look){.done = true};
	if (e)
		o->err = *e;
	if (!p)
		return;
	o->power = p->power;
	o->override = p->boot_override;
	o->media = p->media_inserted;
	str_copy(o->uuid, sizeof(o->uuid), str_or(p->system_uuid, ""));
	str_copy(o->url, sizeof(o->url), str_or(p->media_url, ""));
	str_copy(o->session, sizeof(o->session), str_or(p->session_uri, ""));
}

static bool was_looked(void *arg)
{
	return ((struct look *)arg)->done;
}

static void wait_look(struct bench *b, struct look *o)
{
	assert_true(loop_sim_run_cond(b->loop, was_looked, o, loop_now(b->loop) + 120000));
	if (o->err.kind != ERR_NONE)
		fail_msg("%s", o->err.text);
	o->done = false;
}

/* Powers the machine up and down by the provider. Each of its calls must end within 60 s, including
 * the first ones. */
static void bring_up_and_down(const char *faults)
{
	struct provider_machine_spec s = {
		.name = "gpu-1", .bmc_address = BMC SYSTEM, .user = "admin", .pin_sha256 = PIN};
	struct look o = {0};
	const struct provider_call c = {.op_id = "1", .done = on_look, .arg = &o};
	struct provider_machine *m;
	struct provider *p;
	struct bench b;
	struct err e;

	begin(&b, faults);
	s.password = b.password;
	p = provider_new(
		&(struct provider_spec){
			.name = "rack", .type = "redfish", .group = b.group, .http = b.http},
		&e);
	m = p ? provider_attach(p, &s, &e) : NULL;
	if (!m)
		fail_msg("%s", e.text);
	provider_observe(p, m, &c);
	wait_look(&b, &o);
	assert_int_equal(o.power, PROVIDER_POWER_OFF);
	assert_string_equal(o.uuid, b.m->uuid);
	assert_true(str_starts(o.session, SESSIONS "/"));
	provider_media(p, m, IMAGE, &c);
	wait_look(&b, &o);
	provider_boot(p, m, PROVIDER_BOOT_MEDIA, NULL, &c);
	wait_look(&b, &o);
	provider_observe(p, m, &c);
	wait_look(&b, &o);
	assert_true(o.media && o.override == PROVIDER_OVERRIDE_MEDIA);
	assert_string_equal(o.url, IMAGE);
	provider_power(p, m, true, &c);
	wait_look(&b, &o);
	provider_observe(p, m, &c);
	wait_look(&b, &o);
	assert_int_equal(o.power, faults ? PROVIDER_POWER_ON : PROVIDER_POWER_CHANGING);
	pass(&b, 5000);
	provider_power(p, m, false, &c);
	wait_look(&b, &o);
	pass(&b, 5000);
	provider_media(p, m, NULL, &c);
	wait_look(&b, &o);
	provider_boot(p, m, PROVIDER_BOOT_DISK, NULL, &c);
	wait_look(&b, &o);
	provider_observe(p, m, &c);
	wait_look(&b, &o);
	assert_int_equal(o.power, PROVIDER_POWER_OFF);
	assert_false(o.media || o.override != PROVIDER_OVERRIDE_NONE);
	provider_detach(p, m);
	provider_free(p);
	end(&b);
}

static void the_provider_brings_it_up_and_down(void **state)
{
	(void)state;
	bring_up_and_down(NULL);
	bring_up_and_down("faults: [{machine: gpu-1, what: BmcSlow, value: 3}]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_client_does_all_it_wants),
		cmocka_unit_test(it_does_so_where_the_bmc_is_difficult),
		cmocka_unit_test(it_says_what_kind_of_failure_it_met),
		cmocka_unit_test(it_leaves_one_alone_that_hangs_and_comes_back_to_it),
		cmocka_unit_test(it_leaves_one_alone_for_as_long_as_that_asks),
		cmocka_unit_test(it_acts_on_no_machine_that_became_another),
		cmocka_unit_test(the_provider_brings_it_up_and_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
