#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"
#include "tests/contract/fake_ipmitool.h"
#include "tests/world/server.h"
#include "tests/world/world.h"

/* A machine behind IPMI: it is switched off, and then reported as one that cannot boot an agent. */
struct old {
	struct sim_world w;
	struct fake_ipmitool ipmi;
	bool hangs;
};

static struct fake_bmc *find(const char *host, void *arg)
{
	struct old *o = arg;

	return str_eq(host, "10.0.8.1") ? &o->w.servers[0].bmc : NULL;
}

static bool hangs(const char *host, void *arg)
{
	(void)host;
	return ((struct old *)arg)->hangs;
}

static void start(struct old *o, uint64_t seed)
{
	struct sim_world *w = &o->w;

	*o = (struct old){.hangs = false};
	world_start(w, seed, 0);
	fake_ipmitool_init(&o->ipmi, w->hardware);
	o->ipmi.find = find;
	o->ipmi.hangs = hangs;
	o->ipmi.arg = o;
	world_apply(w, "apiVersion: drover.dev/v1alpha1\nkind: Provider\nmetadata: {name: old}\n"
		       "spec:\n  type: ipmi\n  credentialsSecretRef: {name: bmc}\n"
		       "  boot: {mediaURL: \"" WORLD_MEDIA "\"}\n"
		       "  agent: {endpoint: \"" WORLD_AGENT "\"}\n"
		       "  network:\n    type: exec\n    exec: {command: [" WORLD_FABRIC "]}\n"
		       "    segments: {quarantine: quarantine, provisioning: provisioning}\n");
	server_init(&w->servers[0], w, 1);
	w->nboxes = 1;
	world_do(w, &w->host, "POST", "/apis/drover.dev/v1alpha1/machines",
		 json_pack("{s:s,s:s,s:{s:s},s:{s:{s:s},s:s,s:{s:s},s:{s:s}}}", "apiVersion",
			   "drover.dev/v1alpha1", "kind", "Machine", "metadata", "name",
			   w->servers[0].name, "spec", "providerRef", "name", "old",
			   "managementPolicy", "Manage", "identity", "systemUUID",
			   w->servers[0].uuid, "bmc", "address", "ipmi://10.0.8.1"));
}

static void what_ipmi_cannot_do_is_named(void **state)
{
	struct old o;
	struct server *b = &o.w.servers[0];

	(void)state;
	start(&o, 4201);
	server_power(b, true);
	world_replica(&o.w);
	world_wait_state(b, "dirty", 1800);
	assert_false(b->bmc.on);
	assert_string_equal(world_at(b, "status.power.state"), "Off");
	world_wait_reason(b, "BmcUnsupported", 1800);
	assert_non_null(strstr(world_at(b, "status.operation.lastError.message"),
			       "provider type ipmi: no "));
	assert_int_not_equal(o.ipmi.starts, 0);
	world_stop(&o.w);
}

static void an_ipmitool_that_hangs_is_named(void **state)
{
	struct old o;
	struct server *b = &o.w.servers[0];

	(void)state;
	start(&o, 4202);
	o.hangs = true;
	world_replica(&o.w);
	world_wait_reason(b, "BmcUnreachable", 1800);
	assert_non_null(strstr(world_at(b, "status.operation.lastError.message"),
			       "ipmitool did not end within 20 s and was killed"));
	o.hangs = false;
	world_wait_state(b, "dirty", 3600);
	world_stop(&o.w);
}

static void a_refused_password_is_tried_once(void **state)
{
	struct old o;
	struct server *b = &o.w.servers[0];

	(void)state;
	start(&o, 4203);
	o.ipmi.password = "another one";
	world_replica(&o.w);
	world_wait_reason(b, "BmcAuthFailed", 1800);
	world_run(&o.w, 600000);
	assert_int_equal(o.ipmi.logins, 1);
	o.ipmi.password = WORLD_PASSWORD;
	world_do(&o.w, &o.w.host, "PATCH", "/apis/drover.dev/v1alpha1/machines/gpu-1",
		 json_pack("{s:{s:{s:s}}}", "metadata", "annotations", "drover.dev/retry", "1"));
	world_wait_state(b, "dirty", 3600);
	world_stop(&o.w);
}

static bool is_healthy(struct old *o, const char *want)
{
	char text[512];
	json_t *x;
	size_t i;

	json_array_foreach (json_at(o->w.servers[0].object, "status", "conditions"), i, x) {
		if (!str_eq(json_str_at(x, "type"), "Healthy"))
			continue;
		str_format(text, sizeof(text), "%s %s %s", json_str_at(x, "status"),
			   json_str_at(x, "reason"), str_or(json_str_at(x, "message"), ""));
		return str_eq(text, want);
	}
	return false;
}

static void wait_healthy(struct old *o, const char *want)
{
	for (int i = 0; i < 3 * 3600 && !is_healthy(o, want); i++)
		world_run(&o->w, 1000);
	assert_true(is_healthy(o, want));
}

/* A critical fault that the sensors report appears in a condition, which is cleared when the fault
 * ends. The machine's operation continues. */
static void what_its_sensors_call_critical_is_named(void **state)
{
	struct old o;
	struct server *b = &o.w.servers[0];

	(void)state;
	start(&o, 4204);
	o.ipmi.sensors =
		"PS2 Status       | c9h | ok  | 10.2 | Presence detected, Power Supply AC lost\n";
	world_replica(&o.w);
	world_wait_state(b, "dirty", 1800);
	wait_healthy(&o, "False HardwareFault PS2 Status (Power Supply AC lost)");
	o.ipmi.sensors = "PS2 Status       | c9h | ok  | 10.2 | Presence detected\n";
	wait_healthy(&o, "True NothingCritical ");
	o.ipmi.sensors = NULL;
	wait_healthy(&o, "Unknown SensorsUnread ipmitool did not end within 20 s and was killed");
	world_stop(&o.w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_ipmi_cannot_do_is_named),
		cmocka_unit_test(an_ipmitool_that_hangs_is_named),
		cmocka_unit_test(a_refused_password_is_tried_once),
		cmocka_unit_test(what_its_sensors_call_critical_is_named),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
