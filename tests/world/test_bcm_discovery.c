/* Discovery: the nodes of a head node become Machines. If a node does not become a Machine, an
 * event gives the reason. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"
#include "tests/world/managed.h"

static struct sim_head_node *add(struct managed *m, const char *name, const char *bmc)
{
	return sim_head_add(m->head, name, "b8:ce:f6:09:09:09", bmc, NULL, NULL);
}

struct said {
	struct sim_world *w;
	const char *key, *text;
};

static bool is_said(void *arg)
{
	struct said *s = arg;
	OWN_JSON o = cluster_get(&s->w->host, s->key);
	char *text = o ? json_text(o) : NULL;
	bool there = text && strstr(text, s->text);

	free(text);
	return there;
}

static void wait_said(struct sim_world *w, const char *key, const char *text, int64_t limit_s)
{
	struct said s = {w, key, text};

	world_wait(w, is_said, &s, limit_s, text);
}

#define PROVIDER "providers.drover.dev/bcm-1"

static void nodes_become_machines_that_only_observe(void **state)
{
	struct sim_world w;
	struct managed m;
	OWN_JSON o = NULL;
	OWN_JSON none = NULL;

	(void)state;
	world_start(&w, 990, 1);
	managed_start(&m, &w);
	add(&m, "spare", "10.0.8.77");
	add(&m, "six", "fd00::8");
	add(&m, "far", "192.168.7.7");
	add(&m, "Bad-Name", "10.0.8.78");
	sim_head_set(add(&m, "head", "10.0.8.79"), "childType", "\"HeadNode\"");
	sim_head_set(add(&m, "data", "10.0.8.80"), "dataNode", "true");
	sim_head_set(add(&m, "dark", "10.0.8.81"), "powerControl", "\"none\"");
	world_replica(&w);
	wait_said(&w, "machines.drover.dev/spare", "https://10.0.8.77", 180);
	o = cluster_get(&w.host, "machines.drover.dev/spare");
	assert_string_equal(json_str_at(o, "spec", "providerRef", "name"), "bcm-1");
	assert_string_equal(json_str_at(o, "spec", "managementPolicy"), "Observe");
	assert_string_equal(json_str_at(o, "spec", "node"), "spare");
	assert_string_equal(json_str_at(o, "spec", "bootMACAddress"), "b8:ce:f6:09:09:09");
	assert_true(json_true_at(o, "spec", "bmc", "tls", "trustOnFirstUse"));
	wait_said(&w, PROVIDER, "head is a HeadNode in BCM", 180);
	wait_said(&w, PROVIDER, "data is a data node", 10);
	wait_said(&w, PROVIDER, "dark has no power control", 10);
	wait_said(&w, PROVIDER, "192.168.7.7, is in none of spec.bcm.bmcNetworks", 10);
	wait_said(&w, PROVIDER, "fd00::8, is in none", 10);
	wait_said(&w, PROVIDER, "its hostname is not a valid Machine name", 10);
	wait_said(&w, PROVIDER, "\"kubernetes-1.36\"", 10);
	wait_said(&w, PROVIDER, "\"version\":\"11.0\"", 10);
	none = cluster_get(&w.host, "machines.drover.dev/far");
	assert_null(none);
	/* A node that already has a Machine gets no second one. */
	json_decref(none);
	none = cluster_get(&w.host, "machines.drover.dev/n1");
	assert_null(none);
	managed_end(&m);
	world_stop(&w);
}

static bool few_machines(void *arg)
{
	return store_count(((struct sim_world *)arg)->host.store, "machines.drover.dev/") == 2;
}

/* An attacker on the head node can invent nodes. Therefore an admin limits the number of
 * Machines. */
static void no_more_machines_are_made_than_the_provider_says(void **state)
{
	struct sim_world w;
	struct managed m;
	OWN(arena) a = arena_new();

	(void)state;
	world_start(&w, 992, 1);
	managed_start(&m, &w);
	world_do(&w, &w.host, "PATCH", "/apis/drover.dev/v1alpha1/providers/bcm-1",
		 json_pack("{s:{s:{s:i}}}", "spec", "bcm", "maxMachines", 2));
	for (int i = 0; i < 9; i++)
		add(&m, arena_printf(a, "spare-%d", i), arena_printf(a, "10.0.8.%d", 90 + i));
	world_replica(&w);
	wait_said(&w, PROVIDER, "spec.bcm.maxMachines: the limit of 2 Machines is reached", 180);
	world_run(&w, 300 * 1000);
	assert_true(few_machines(&w));
	managed_end(&m);
	world_stop(&w);
}

static void a_call_that_is_not_allowed_stands_in_the_providers_status(void **state)
{
	struct sim_world w;
	struct managed m;

	(void)state;
	world_start(&w, 991, 1);
	managed_start(&m, &w);
	managed_fault(&m, "{\"what\":\"Denied\",\"call\":\"cmpart.getSoftwareImages\"}");
	world_replica(&w);
	wait_said(&w, PROVIDER, "cmpart.getSoftwareImages", 180);
	sim_head_well(m.head);
	wait_said(&w, PROVIDER, "\"kubernetes-1.36\"", 180);
	managed_end(&m);
	world_stop(&w);
}

struct event {
	const char *reason;
	bool seen;
};

static bool find_event(const json_t *o, void *arg)
{
	struct event *e = arg;

	e->seen |= str_eq(json_str_at(o, "reason"), e->reason);
	return true;
}

static void a_tenant_that_reaches_the_head_node_is_told(void **state)
{
	struct sim_world w;
	struct managed m;
	struct event e = {"HeadNodeReached", false};

	(void)state;
	world_start(&w, 992, 1);
	managed_start(&m, &w);
	world_replica(&w);
	world_wait_all(&w, "free", 900);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 2400);
	world_run(&w, 900000);
	cluster_each(&w.host, "events/", find_event, &e);
	/* no event, because DOWN is the expected state of a node that serves */
	assert_false(e.seen);
	w.servers[0].reaches_head = true;
	assert_true(sim_head_boots(w.servers[0].node));
	world_run(&w, 180000);
	cluster_each(&w.host, "events/", find_event, &e);
	assert_true(e.seen);
	assert_string_equal(w.servers[0].state, "serving");
	managed_end(&m);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_become_machines_that_only_observe),
		cmocka_unit_test(no_more_machines_are_made_than_the_provider_says),
		cmocka_unit_test(a_call_that_is_not_allowed_stands_in_the_providers_status),
		cmocka_unit_test(a_tenant_that_reaches_the_head_node_is_told),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
