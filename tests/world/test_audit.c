/* The audit log of whole replicas: every move of a machine is in it once, whoever led. */
#include "tests/unit/testing.h"

#include <stdlib.h>

#include "api/auditsegment.h"
#include "base/mem.h"
#include "base/str.h"
#include "tests/world/world.h"

#define SEGMENTS "auditsegments.drover.dev"
/* longest time from a change to its entry, with a change of the leader in between */
#define TAKEOVER_MS 40000

/* Returns all entries of the log in the order of their segments. Fails the test unless the chain is
 * good and begins with the first entry. */
static json_t *entries(struct sim_world *w)
{
	OWN(audit_check) c = audit_check_new();
	json_t *all = json_array(), *e;
	struct audit_verdict v;
	size_t k;

	audit_check_input(c, "api");
	for (long long n = 1;; n++) {
		char key[96];
		OWN_JSON s = NULL;

		str_format(key, sizeof(key), SEGMENTS "/" AUDIT_SEGMENT_NAME, n);
		s = cluster_get(&w->host, key);
		if (!s)
			break;
		assert_int_equal(json_int_at(s, "spec", "number"), n);
		json_array_foreach (json_at(s, "spec", "entries"), k, e) {
			assert_true(audit_check_add(c, e));
			json_array_append(all, e);
		}
	}
	v = audit_check_run(c);
	assert_string_equal(v.text, "");
	assert_true(!v.entries || v.first == 1);
	return all;
}

/* Returns the number of entries with this event and name, and value `to` unless to is NULL. */
static unsigned count(const json_t *all, const char *event, const char *name, const char *to)
{
	unsigned n = 0;
	json_t *e;
	size_t i;

	json_array_foreach ((json_t *)all, i, e)
		n += str_eq(json_str_at(e, "event"), event) &&
		     str_eq(json_str_at(e, "name"), name) &&
		     (!to || str_eq(json_str_at(e, "to"), to));
	return n;
}

/* Fails the test unless the state changes of the machine form one path, each beginning where the
 * last one ended, up to its present state. Returns their number. */
static unsigned assert_path(const json_t *all, const struct server *b)
{
	const char *at = NULL;
	unsigned n = 0;
	json_t *e;
	size_t i;

	json_array_foreach ((json_t *)all, i, e) {
		if (!str_eq(json_str_at(e, "event"), AUDIT_STATE) ||
		    !str_eq(json_str_at(e, "name"), b->name))
			continue;
		if (at)
			assert_string_equal(json_str_at(e, "from"), at);
		at = json_str_at(e, "to");
		n++;
	}
	assert_non_null(at);
	assert_string_equal(at, world_at(b, "status.state"));
	return n;
}

static void a_circle_of_a_machine_is_in_the_log(void **state)
{
	struct sim_world w;
	OWN_JSON all = NULL;

	(void)state;
	world_start(&w, 9100, 1);
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 900);
	world_delete_pod(&w, &w.tenants[0], "train");
	world_release(&w.servers[0]);
	world_wait_state(&w.servers[0], "free", 3600);
	world_run(&w, 5000);
	all = entries(&w);
	assert_true(assert_path(all, &w.servers[0]) > 8);
	assert_int_equal(count(all, AUDIT_STATE, w.servers[0].name, "serving"), 1);
	assert_int_equal(count(all, AUDIT_STATE, w.servers[0].name, "wiping"), 2);
	world_settle(&w);
	world_stop(&w);
}

static void two_replicas_write_each_entry_once(void **state)
{
	struct sim_world w;
	OWN_JSON all = NULL;

	(void)state;
	world_start(&w, 9101, 2);
	world_replica(&w);
	world_run(&w, 5000);
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_run(&w, 60000);
	for (int i = 0; i < 3; i++) {
		struct replica *leader = world_leader(&w);

		if (leader)
			world_kill(leader);
		world_replica(&w);
		world_run(&w, 20000 + 7000 * i);
	}
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	world_run(&w, TAKEOVER_MS);
	all = entries(&w);
	assert_path(all, &w.servers[0]);
	assert_path(all, &w.servers[1]);
	assert_true(count(all, AUDIT_LEADER, NULL, NULL) >= 3);
	world_settle(&w);
	world_stop(&w);
}

/* The only replica dies while the machine moves on its own (the agent boots, its claim goes). */
static void what_happened_while_nobody_ran_is_found_later(void **state)
{
	struct sim_world w;
	OWN_JSON all = NULL;
	json_t *e;
	size_t i;
	bool late = false;

	(void)state;
	world_start(&w, 9102, 1);
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 900);
	world_run(&w, 5000);
	world_kill(&w.replicas[0]);
	world_apply(&w, "apiVersion: drover.dev/v1alpha1\nkind: Drain\nmetadata: {name: night}\n"
			"spec: {machineNames: [none-such], reason: firmware}\n");
	world_run(&w, 300000);
	world_replica(&w);
	world_run(&w, TAKEOVER_MS);
	all = entries(&w);
	json_array_foreach (all, i, e)
		late |= str_eq(json_str_at(e, "event"), AUDIT_CREATED) &&
			str_eq(json_str_at(e, "name"), "night") && json_true_at(e, "late");
	assert_true(late);
	assert_int_equal(count(all, AUDIT_CREATED, "night", NULL), 1);
	assert_path(all, &w.servers[0]);
	world_settle(&w);
	world_stop(&w);
}

static void a_deleted_segment_is_noticed_and_the_chain_goes_on(void **state)
{
	struct sim_world w;
	OWN_JSON second = NULL;
	json_t *first;
	char key[96];

	(void)state;
	world_start(&w, 9103, 1);
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 900);
	world_run(&w, 5000);
	world_do(&w, &w.host, "DELETE", "/apis/drover.dev/v1alpha1/auditsegments/audit-00000001",
		 NULL);
	world_run(&w, 10000);
	str_format(key, sizeof(key), SEGMENTS "/" AUDIT_SEGMENT_NAME, 2ll);
	second = cluster_get(&w.host, key);
	first = json_array_get(json_at(second, "spec", "entries"), 0);
	assert_true(json_int_at(first, "seq") > 8);
	assert_string_equal(json_str_at(first, "event"), AUDIT_DAMAGED);
	assert_string_equal(json_str_at(first, "to"), "audit-00000001");
	world_settle(&w);
	world_stop(&w);
}

/* The Lease records the newest segment, so its numbers are not used again. */
static void a_newest_segment_deleted_while_nobody_ran_is_noticed(void **state)
{
	struct sim_world w;
	OWN_JSON second = NULL;
	json_t *list;
	char key[96];

	(void)state;
	world_start(&w, 9105, 1);
	world_replica(&w);
	world_wait_state(&w.servers[0], "free", 1800);
	world_run(&w, 10000);
	world_kill(&w.replicas[0]);
	world_do(&w, &w.host, "DELETE", "/apis/drover.dev/v1alpha1/auditsegments/audit-00000001",
		 NULL);
	world_run(&w, 60000);
	world_replica(&w);
	world_run(&w, TAKEOVER_MS);
	str_format(key, sizeof(key), SEGMENTS "/" AUDIT_SEGMENT_NAME, 2ll);
	second = cluster_get(&w.host, key);
	list = json_at(second, "spec", "entries");
	assert_true(json_int_at(json_array_get(list, 0), "seq") > 8);
	assert_int_equal(count(list, AUDIT_DAMAGED, NULL, "audit-00000001"), 1);
	world_settle(&w);
	world_stop(&w);
}

#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

/* The definition of AuditSegment is missing when drover starts. */
static void drover_works_without_the_definition_of_the_log(void **state)
{
	struct sim_world w;
	OWN_JSON crd = NULL;
	OWN_JSON none = NULL;
	OWN_JSON all = NULL;

	(void)state;
	world_start(&w, 9104, 1);
	crd = cluster_get(&w.host, "customresourcedefinitions.apiextensions.k8s.io/" SEGMENTS);
	if (!crd)
		crd = cluster_get(&w.host, "customresourcedefinitions/" SEGMENTS);
	assert_non_null(crd);
	json_object_del(json_object_get(crd, "metadata"), "resourceVersion");
	world_do(&w, &w.host, "DELETE", CRDS "/" SEGMENTS, NULL);
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 900);
	none = entries(&w);
	assert_int_equal(json_array_size(none), 0);
	world_do(&w, &w.host, "POST", CRDS, json_incref(crd));
	world_run(&w, 120000);
	all = entries(&w);
	assert_path(all, &w.servers[0]);
	world_settle(&w);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_circle_of_a_machine_is_in_the_log),
		cmocka_unit_test(two_replicas_write_each_entry_once),
		cmocka_unit_test(what_happened_while_nobody_ran_is_found_later),
		cmocka_unit_test(a_deleted_segment_is_noticed_and_the_chain_goes_on),
		cmocka_unit_test(a_newest_segment_deleted_while_nobody_ran_is_noticed),
		cmocka_unit_test(drover_works_without_the_definition_of_the_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
