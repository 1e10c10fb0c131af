/* BMCs that turn out to belong to another machine when an act is sent, or that do not report which
 * machine they belong to. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "base/httpd/httpd.h"
#include "base/mem.h"
#include "base/str.h"
#include "tests/world/leaving.h"
#include "tests/world/world.h"

#define ANOTHER "ffffffff-0035-3410-8050-c6c04f314733"
#define SYSTEM "/redfish/v1/Systems/1"

static void set_text(char **slot, const char *text)
{
	free(*slot);
	*slot = mem_strdup(text);
}

static unsigned changes(const struct server *b)
{
	return fake_bmc_count(&b->bmc, "POST " SYSTEM) + fake_bmc_count(&b->bmc, "PATCH");
}

struct at {
	struct server *b;
	const char *step;
};

/* True once the journal names the step. At that time, drover has observed the preconditions of the
 * step and is sending its act. */
static bool at_step(void *arg)
{
	const struct at *a = arg;

	return str_eq(world_at(a->b, "status.operation.step"), a->step);
}

/* Lets the BMC of another machine answer at the address of b as soon as the journal names `step`.
 * Nothing may be changed at that BMC. */
static void exchange_at(struct sim_world *w, struct server *b, const char *step)
{
	struct at a = {b, step};
	unsigned before;

	print_message("%s\n", step);
	world_wait(w, at_step, &a, 1800, step);
	set_text(&b->bmc.uuid, ANOTHER);
	before = changes(b);
	world_run(w, 60 * 1000);
	assert_int_equal(changes(b), before);
	set_text(&b->bmc.uuid, b->uuid);
}

static void no_act_reaches_another_machine(void **state)
{
	static const char *const steps[] = {"insert-media", "boot-media", "power-on",
					    "eject-media"};
	struct sim_world w;

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		world_start(&w, 761, 1);
		world_replica(&w);
		exchange_at(&w, &w.servers[0], steps[i]);
		world_wait_reason(&w.servers[0], "DuplicateIdentity", 60);
		world_stop(&w);
	}
}

/* The machine that answers at the address may serve another tenant, which would lose power. */
static void a_neighbour_is_not_switched_off(void **state)
{
	struct sim_world w;
	struct server *b;

	(void)state;
	b = leaving_serving(&w, 764);
	leaving_begin(&w);
	exchange_at(&w, b, "power-off");
	assert_true(b->bmc.on);
	assert_string_equal(b->state, "stopping");
	world_wait_state(b, "free", 12 * 3600);
	world_stop(&w);
}

/* At the end of a wipe the agent powers its machine off. The BMC of another machine then reports
 * Off; that must not make this machine free. */
static void the_off_of_another_machine_makes_nobody_free(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	struct at a = {b, "order poweroff"};

	(void)state;
	world_start(&w, 762, 1);
	world_replica(&w);
	world_wait(&w, at_step, &a, 1800, "the agent's end");
	set_text(&b->bmc.uuid, ANOTHER);
	set_text(&b->bmc.image, NULL); /* so that no medium has to be ejected */
	world_run(&w, 600 * 1000);
	assert_false(b->bmc.on);
	assert_string_equal(b->state, "verifying");
	assert_string_equal(world_at(b, "status.operation.lastError.reason"), "DuplicateIdentity");
	set_text(&b->bmc.uuid, b->uuid);
	world_wait_state(b, "free", 600);
	world_stop(&w);
}

/* BMCs of GB200 and GH200 report no UUID while POST (the firmware's self-test) runs, nor anything
 * else that identifies the machine. */
struct post {
	struct server *b;
	int64_t since;
	unsigned withheld;
};

static bool withhold(struct httpd_req *q, unsigned n, void *arg)
{
	struct post *p = arg;
	struct server *b = p->b;
	bool off = !b->bmc.on;

	(void)n;
	(void)q;
	if (off)
		p->since = loop_now(b->world->loop);
	off = off || loop_now(b->world->loop) - p->since > 90000;
	set_text(&b->bmc.uuid, off ? b->uuid : "");
	p->withheld += !off;
	return false;
}

static void a_bmc_without_a_uuid_after_power_on_is_waited_for(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	struct post p = {.b = b};

	(void)state;
	world_start(&w, 763, 1);
	set_text(&b->bmc.serial, "");
	world_patch_machine(
		b, json_pack("{s:{s:s,s:n}}", "identity", "systemUUID", b->uuid, "serialNumber"));
	b->bmc.tamper = withhold;
	b->bmc.tamper_arg = &p;
	world_replica(&w);
	world_wait_reason(b, "IdentityNotTold", 600);
	world_wait_state(b, "free", 1800);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	world_wait_state(b, "serving", 60);
	leaving_begin(&w);
	world_wait_state(b, "wiping", 1800);
	world_wait_state(b, "free", 1800);
	assert_true(p.withheld > 0);
	assert_int_equal(json_array_size(json_at(b->object, "status", "failures")), 0);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_act_reaches_another_machine),
		cmocka_unit_test(a_neighbour_is_not_switched_off),
		cmocka_unit_test(the_off_of_another_machine_makes_nobody_free),
		cmocka_unit_test(a_bmc_without_a_uuid_after_power_on_is_waited_for),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
