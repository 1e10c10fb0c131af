/* Requests of operators: drain, quarantine, release, retry, retire, adopt. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "api/annotations.h"
#include "base/str.h"
#include "controller/steps/requests.h"
#include "tests/world/leaving.h"
#include "tests/world/world.h"

#define GROUP "/apis/" OBJECT_API_VERSION
#define RESET "POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset"

/* --- helpers ---------------------------------------------------------------------------------- */

static const char *const pods[] = {"p-1", "p-2", "p-3", "p-4"};

static bool verbs_all_serve(void *arg)
{
	const struct sim_world *w = arg;

	for (unsigned i = 0; i < w->nboxes; i++)
		if (!str_eq(w->servers[i].state, "serving"))
			return false;
	return true;
}

/* Starts a world in which every machine serves a pod of team-a. */
static void verbs_serving(struct sim_world *w, uint64_t seed, unsigned servers)
{
	world_start(w, seed, servers);
	w->reasons_have_pages = true;
	world_replica(w);
	for (unsigned i = 0; i < servers; i++)
		world_pod(w, &w->tenants[0], pods[i]);
	for (unsigned i = 0; i < servers; i++)
		world_wait_running(w, &w->tenants[0], pods[i], 1800);
	world_wait(w, verbs_all_serve, w, 300, "all of them serve");
}

/* Creates a Drain. names: list of machine names in YAML. more: further members of spec, each after
 * a comma. */
static void verbs_drain(struct sim_world *w, const char *name, const char *names, const char *more)
{
	char text[600];

	str_format(text, sizeof(text),
		   "apiVersion: " OBJECT_API_VERSION "\nkind: Drain\nmetadata: {name: %s}\n"
		   "spec: {reason: PSU swap, machineNames: [%s]%s}\n",
		   name, names, more);
	world_apply(w, text);
}

static void verbs_cancel(struct sim_world *w, const char *name)
{
	char path[200];

	str_format(path, sizeof(path), GROUP "/drains/%s", name);
	world_do(w, &w->host, "PATCH", path, json_pack("{s:{s:b}}", "spec", "cancelled", 1));
}

static void verbs_annotate(struct server *b, const char *key, const char *value)
{
	char path[200];

	str_format(path, sizeof(path), GROUP "/machines/%s", b->name);
	world_do(b->world, &b->world->host, "PATCH", path,
		 json_pack("{s:{s:{s:s?}}}", "metadata", "annotations", key, value));
}

/* Returns the phase of the Drain (nth < 0) or of its nth target. */
static const char *verbs_phase(struct sim_world *w, const char *name, int nth)
{
	static char text[40];
	char key[100];
	OWN_JSON o = NULL;
	const char *p;

	str_format(key, sizeof(key), "drains.drover.dev/%s", name);
	o = cluster_get(&w->host, key);
	p = nth < 0 ? json_str_at(o, "status", "phase")
		    : json_str_at(json_array_get(json_at(o, "status", "targets"), (size_t)nth),
				  "phase");
	str_copy(text, sizeof(text), str_or(p, ""));
	return text;
}

static bool verbs_ended(void *arg)
{
	struct sim_world *w = arg;
	const char *p = verbs_phase(w, "psu", -1);
	OWN_JSON o = cluster_get(&w->host, "drains.drover.dev/psu");

	return p[0] && json_str_at(o, "status", "completionTime");
}

static unsigned verbs_on_their_way(const struct sim_world *w)
{
	unsigned n = 0;

	for (unsigned i = 0; i < w->nboxes; i++)
		n += str_eq(w->servers[i].state, "draining") ||
		     str_eq(w->servers[i].state, "stopping") ||
		     str_eq(w->servers[i].state, "isolating") ||
		     str_eq(w->servers[i].state, "leaving");
	return n;
}

struct verbs_watch {
	struct sim_world *w;
	unsigned most;
};

static bool verbs_ended_watched(void *arg)
{
	struct verbs_watch *v = arg;
	unsigned n = verbs_on_their_way(v->w);

	if (n > v->most)
		v->most = n;
	return verbs_ended(v->w);
}

/* --- drains ----------------------------------------------------------------------------------- */

static void a_rack_is_drained_two_machines_at_a_time(void **state)
{
	struct sim_world w;
	struct verbs_watch v = {.w = &w};

	(void)state;
	verbs_serving(&w, 101, 4);
	verbs_drain(&w, "psu", "gpu-1, gpu-2, gpu-3, gpu-4", ", concurrent: 2");
	world_wait(&w, verbs_ended_watched, &v, 3600, "the rack is drained");
	assert_int_equal(v.most, 2);
	assert_string_equal(verbs_phase(&w, "psu", -1), "Succeeded");
	world_run(&w, 5000); /* the finished request is cleared after the machine is free */
	for (unsigned i = 0; i < 4; i++) {
		assert_string_equal(w.servers[i].state, "free");
		assert_string_equal(world_at(&w.servers[i], "status.leave.reason"), "");
		assert_true(server_is_blank(&w.servers[i]));
	}
	world_stop(&w);
}

static void a_drain_cancelled_in_the_middle_undoes_what_has_not_left(void **state)
{
	struct sim_world w;

	(void)state;
	verbs_serving(&w, 103, 2);
	verbs_drain(&w, "psu", "gpu-1, gpu-2", "");
	world_wait_state(&w.servers[0], "stopping", 300);
	verbs_cancel(&w, "psu");
	world_wait(&w, verbs_ended, &w, 1800, "the drain has ended");
	assert_string_equal(verbs_phase(&w, "psu", -1), "Cancelled");
	assert_string_equal(verbs_phase(&w, "psu", 0), "Done");
	assert_string_equal(verbs_phase(&w, "psu", 1), "Cancelled");
	assert_string_equal(w.servers[0].state, "free");
	assert_string_equal(w.servers[1].state, "serving");
	assert_string_equal(world_at(&w.servers[1], "status.leave.reason"), "");
	world_stop(&w);
}

static void a_leader_killed_during_a_drain_is_followed(void **state)
{
	static const char *const states[] = {"draining", "stopping", "leaving", "wiping"};

	(void)state;
	for (unsigned i = 0; i < sizeof(states) / sizeof(*states); i++) {
		struct sim_world w;
		struct verbs_watch v = {.w = &w};

		verbs_serving(&w, 110 + i, 2);
		verbs_drain(&w, "psu", "gpu-1, gpu-2", ", then: Quarantine");
		world_wait_state(&w.servers[0], states[i], 600);
		world_kill(&w.replicas[0]);
		world_replica(&w);
		world_wait(&w, verbs_ended_watched, &v, 3600, "the drain has ended");
		assert_true(v.most <= 1);
		assert_string_equal(verbs_phase(&w, "psu", -1), "Succeeded");
		assert_string_equal(w.servers[0].state, "quarantined");
		assert_string_equal(w.servers[1].state, "quarantined");
		world_stop(&w);
	}
}

/* --- quarantine, release, retire -------------------------------------------------------------- */

static void a_drain_to_quarantine_ends_there_wiped_until_it_is_released(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	verbs_serving(&w, 120, 1);
	verbs_drain(&w, "psu", "gpu-1", ", then: Quarantine");
	world_wait_state(b, "quarantined", 1800);
	assert_true(server_is_blank(b));
	assert_string_equal(b->claim, "");
	assert_string_equal(world_at(b, "status.quarantine.reason"), "QuarantinedByOperator");
	assert_string_equal(world_at(b, "status.quarantine.exit"), "operator");
	assert_string_equal(world_at(b, "status.quarantine.message"), "PSU swap");
	assert_string_equal(world_at(b, "status.leave.then"), "");
	world_pod(&w, &w.tenants[1], "next");
	world_run(&w, 7 * 3600 * 1000); /* longer than any quarantine with exit auto */
	assert_string_equal(b->state, "quarantined");
	assert_string_equal(verbs_phase(&w, "psu", -1), "Succeeded");
	verbs_annotate(b, REQUEST_RELEASE, "1");
	world_wait_state(b, "wiping", 900);
	world_wait_running(&w, &w.tenants[1], "next", 1800);
	assert_string_equal(world_at(b, "status.requests.release"), "1");
	world_stop(&w);
}

static void a_drain_to_retirement_ends_there_wiped(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	verbs_serving(&w, 121, 1);
	verbs_drain(&w, "psu", "gpu-1", ", then: Retire");
	world_wait_state(b, "retired", 1800);
	world_run(&w, 10000);
	assert_true(server_is_blank(b));
	assert_string_equal(b->claim, "");
	assert_string_equal(world_at(b, "spec.managementPolicy"), "Retire");
	assert_string_equal(world_at(b, "status.leave.then"), "");
	assert_string_equal(verbs_phase(&w, "psu", -1), "Succeeded");
	world_stop(&w);
}

/* Only a Drain or the deletion of a claim ends a tenancy. */
static void a_policy_to_retire_waits_for_the_end_of_the_tenancy(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	verbs_serving(&w, 128, 1);
	world_patch_machine(b, json_pack("{s:s}", "managementPolicy", "Retire"));
	world_run(&w, 6 * 3600 * 1000);
	assert_string_equal(b->state, "serving");
	assert_true(*b->claim);
	verbs_drain(&w, "psu", "gpu-1", "");
	world_wait_state(b, "retired", 1800);
	assert_true(server_is_blank(b));
	world_stop(&w);
}

/* Returns the reason of the machine's condition Managed; "": no such condition. */
static const char *managed_reason(const struct server *b)
{
	json_t *x;
	size_t i;

	json_array_foreach (json_at(b->object, "status", "conditions"), i, x)
		if (str_eq(json_str_at(x, "type"), "Managed"))
			return str_or(json_str_at(x, "reason"), "");
	return "";
}

/* Drains the machine, whose wipe fails, to retirement, and waits until it is quarantined. */
static void drained_unwiped(struct sim_world *w, uint64_t seed)
{
	struct server *b = &w->servers[0];

	verbs_serving(w, seed, 1);
	b->wipe_fails = true;
	verbs_drain(w, "psu", "gpu-1", ", then: Retire");
	world_wait_state(b, "quarantined", 1800);
	world_run(w, 7 * 3600 * 1000); /* longer than any quarantine with exit auto */
	assert_string_equal(b->state, "quarantined");
	assert_false(server_is_blank(b));
	assert_string_equal(managed_reason(b), "WipeRequired");
	assert_true(leaving_was_told(&w->host, "WipeRequired", "the machine does not retire"));
	assert_int_equal(leaving_events(w, "WipeRequired"), 1);
	assert_string_equal(world_at(b, "status.quarantine.reason"), "DriveFailed");
	assert_string_equal(verbs_phase(w, "psu", -1), "Partial");
}

static void waive(struct server *b, int64_t tenancy)
{
	world_patch_machine(b, json_pack("{s:[{s:s, s:s, s:s, s:s, s:I}]}", "waivers", "what",
					 "Retirement", "by", "alice", "at", "2026-12-01T10:00:00Z",
					 "reason", "burnt down", "tenancy", (json_int_t)tenancy));
}

static void a_machine_that_was_not_wiped_does_not_retire(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	drained_unwiped(&w, 1210);
	b->wipe_fails = false; /* an operator replaced the drive and approves the wipe */
	world_patch_machine(b,
			    json_pack("{s:{s:s,s:s}}", "approval", "action", "Wipe", "id", "01"));
	world_wait_state(b, "retired", 1800);
	assert_true(server_is_blank(b));
	world_run(&w, 10000);
	assert_string_equal(managed_reason(b), "Retired");
	world_stop(&w);
}

/* A waiver of an earlier tenancy was about other data. */
static void a_machine_that_cannot_be_wiped_retires_with_a_waiver(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	drained_unwiped(&w, 1211);
	waive(b, b->tenancy - 1);
	world_run(&w, 600 * 1000);
	assert_string_equal(b->state, "quarantined");
	waive(b, b->tenancy);
	world_wait_state(b, "retired", 60);
	world_stop(&w);
}

static bool machine_is_gone(void *arg)
{
	const struct server *b = arg;

	return !leaving_has(&b->world->host, "machines.drover.dev", b->name);
}

/* The object stays until an administrator lets the machine go, also without its Provider. */
static void a_machine_that_was_not_wiped_is_not_deleted(void **state)
{
	(void)state;
	for (int lost = 0; lost < 2; lost++) {
		struct sim_world w;
		struct server *b = &w.servers[0];

		verbs_serving(&w, 1212 + (uint64_t)lost, 1);
		b->wipe_fails = true;
		world_do(&w, &w.host, "DELETE", GROUP "/machines/gpu-1", NULL);
		world_delete_pod(&w, &w.tenants[0], "p-1");
		world_release(b);
		world_wait_state(b, "quarantined", 1800);
		if (lost) {
			world_do(&w, &w.host, "DELETE", GROUP "/providers/rack", NULL);
			world_do(&w, &w.host, "PATCH", GROUP "/providers/rack",
				 json_pack("{s:{s:[]}}", "metadata", "finalizers"));
		}
		world_run(&w, 7 * 3600 * 1000);
		assert_false(machine_is_gone(b));
		assert_string_equal(managed_reason(b), "WipeRequired");
		waive(b, b->tenancy);
		world_wait(&w, machine_is_gone, b, 60, "the Machine is gone");
		world_stop(&w);
	}
}

static void a_free_machine_is_taken_out_of_use_and_let_back(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 122, 1);
	world_replica(&w);
	world_wait_state(b, "free", 600);
	/* A release request that exists already does not end a later quarantine. */
	verbs_annotate(b, REQUEST_RELEASE, "from before");
	verbs_annotate(b, REQUEST_QUARANTINE, "GPU 3 falls off the bus");
	world_wait_state(b, "quarantined", 10);
	assert_string_equal(world_at(b, "status.quarantine.message"), "GPU 3 falls off the bus");
	world_pod(&w, &w.tenants[0], "train");
	world_run(&w, 3600 * 1000);
	assert_string_equal(b->state, "quarantined");
	verbs_annotate(b, REQUEST_QUARANTINE, NULL);
	/* a technician who repaired the machine may have left data on it */
	world_wait_state(b, "wiping", 300);
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	world_stop(&w);
}

/* The quarantine is requested while a tenant uses the machine. */
static void a_mark_waits_until_the_tenant_has_left(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	verbs_serving(&w, 123, 1);
	verbs_annotate(b, REQUEST_QUARANTINE, "RMA");
	world_run(&w, 120 * 1000);
	world_check_serving(&w, &w.tenants[0], "p-1");
	world_delete_pod(&w, &w.tenants[0], "p-1");
	world_pod(&w, &w.tenants[1], "next");
	world_release(b);
	world_wait_state(b, "quarantined", 1800);
	assert_true(server_is_blank(b));
	world_stop(&w);
}

static void a_person_ends_the_wait_of_a_quarantine(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 124, 1);
	world_media(&w, false);
	world_replica(&w);
	world_wait_state(b, "quarantined", 3600);
	world_wait_reason(b, "AgentSilent", 60);
	world_media(&w, true);
	verbs_annotate(b, REQUEST_RETRY, "one");
	world_wait_state(b, "stopping", 5);
	assert_string_equal(world_at(b, "status.requests.retry"), "one");
	leaving_wait_event(&w, &w.host, "Retried", "ended the quarantine with a retry");
	world_wait_state(b, "free", 900);
	/* The machine is quarantined again. The old annotation, whose value was acted on, is no new
	 * request. */
	world_media(&w, false);
	world_patch_machine(b,
			    json_pack("{s:{s:s,s:s}}", "approval", "action", "Wipe", "id", "01"));
	world_wait_state(b, "quarantined", 7200);
	world_run(&w, 60 * 1000);
	assert_string_equal(b->state, "quarantined");
	world_stop(&w);
}

static void a_refused_login_is_tried_once_more_at_a_request(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	const char *right;

	(void)state;
	world_start(&w, 125, 1);
	right = b->bmc.password;
	b->bmc.password = "changed by hand";
	world_replica(&w);
	world_wait_reason(b, "BmcAuthFailed", 60);
	world_run(&w, 600 * 1000);
	assert_int_equal(b->bmc.logins, 1);
	verbs_annotate(b, REQUEST_RETRY, "one");
	world_run(&w, 600 * 1000);
	assert_int_equal(b->bmc.logins, 2);
	assert_true(
		leaving_was_told(&w.host, "Retried", "drover tries the refused login once more"));
	b->bmc.password = right;
	verbs_annotate(b, REQUEST_RETRY, "two");
	world_wait_state(b, "free", 900);
	world_stop(&w);
}

/* --- approve ---------------------------------------------------------------------------------- */

static void a_changed_drive_is_shown_and_may_be_approved(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	json_t *list, *d, *fewer = json_array();
	size_t i;

	(void)state;
	verbs_serving(&w, 130, 1);
	str_copy(b->drives[1].wwn, sizeof(b->drives[1].wwn), "eui.new");
	world_delete_pod(&w, &w.tenants[0], "p-1");
	world_release(b);
	world_wait_reason(b, "DriveMissing", 1800);
	world_wait_state(b, "quarantined", 60);
	list = json_at(b->object, "status", "inventory", "drives");
	assert_string_equal(json_str_at(json_array_get(list, 1), "wwn"), "eui.new");
	json_array_foreach (list, i, d)
		json_array_append(fewer, d);
	world_patch_machine(b, json_pack("{s:o,s:{s:s,s:s}}", "drives", fewer, "approval", "action",
					 "Wipe", "id", "01"));
	world_wait_state(b, "free", 900);
	world_stop(&w);
}

/* An operator has to decide about storage without a driver: no inspection has seen its drives, so
 * drover could not report them as missing later. */
static void storage_without_a_driver_is_a_persons_decision(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	json_t *seen;

	(void)state;
	world_start(&w, 131, 1);
	b->undriven = true;
	server_put_old_system(b);
	world_replica(&w);
	world_wait_reason(b, "StorageNotDriven", 1800);
	world_wait_state(b, "quarantined", 60);
	assert_null(json_at(b->object, "spec", "drives"));
	assert_non_null(strstr(world_at(b, "status.quarantine.message"), "8086:201d"));
	assert_false(server_is_blank(b));
	seen = json_at(b->object, "status", "inventory", "drives");
	assert_int_equal(json_array_size(seen), 2);
	world_patch_machine(b, json_pack("{s:O,s:O,s:{s:s,s:s}}", "drives", seen, "controllers",
					 json_at(b->object, "status", "inventory", "controllers"),
					 "approval", "action", "Wipe", "id", "01"));
	world_wait_state(b, "free", 900);
	leaving_wait_event(&w, &w.host, "StorageNotDriven", "not wiped: the drives behind");
	world_stop(&w);
}

/* The drive behind a failed controller disappears. drover still knows the drive from the first
 * inspection. */
static void a_controller_that_lost_its_driver_or_hides_something_is_no_clean_machine(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct sim_world w;
		struct server *b = &w.servers[0];
		json_t *seen;

		world_start(&w, 133 + i, 1);
		world_replica(&w);
		world_wait_state(b, "free", 1800);
		seen = json_at(b->object, "spec", "controllers");
		assert_int_equal(json_array_size(seen), 1);
		assert_int_equal(json_int_at(json_array_get(seen, 0), "driven"), 2);
		if (i)
			b->hides = "namespace 2 cannot be attached: status 119h";
		else
			b->dead = true;
		world_patch_machine(
			b, json_pack("{s:{s:s,s:s}}", "approval", "action", "Wipe", "id", "01"));
		world_wait_state(b, "quarantined", 1800);
		assert_string_equal(world_at(b, "status.quarantine.reason"),
				    i ? "StorageHidden" : "InventoryMismatch");
		assert_non_null(strstr(world_at(b, "status.quarantine.message"),
				       i ? "namespace 2" : "2 of PCI ID 144d:a80a with a driver"));
		world_stop(&w);
	}
}

/* Lets a tenant's workload run on the machine while its Machine object is lost, and with it all
 * records. */
static void verbs_lost(struct sim_world *w, uint64_t seed, char claim[static 128])
{
	struct server *b = &w->servers[0];

	verbs_serving(w, seed, 1);
	str_copy(claim, 128, b->claim);
	w->restored = true;
	world_do(w, &w->host, "DELETE", GROUP "/machines/gpu-1", NULL);
	world_do(w, &w->host, "PATCH", GROUP "/machines/gpu-1",
		 json_pack("{s:{s:[]}}", "metadata", "finalizers"));
	world_machine(w, b);
	world_wait_reason(b, "PowerStateUnexpected", 300);
}

static void verbs_adopt(struct server *b, const char *id, const char *claim)
{
	world_patch_machine(b, json_pack("{s:{s:s,s:s,s:s}}", "approval", "action", "Adopt", "id",
					 id, "claim", claim));
}

/* Replaces the claim, which names the lost Machine object. The new claim has the same name, that of
 * the Node, and names the new Machine object, as an operator would write it. */
static void verbs_claim_again(struct sim_world *w, const char *name)
{
	struct server *b = &w->servers[0];
	char key[200], path[200];
	OWN_JSON o = NULL;
	json_t *spec;

	str_format(key, sizeof(key), "nodeclaims.drover.dev/%s", name);
	str_format(path, sizeof(path), GROUP "/nodeclaims/%s", name);
	o = cluster_get(&w->host, key);
	assert_non_null(o);
	world_do(w, &w->host, "DELETE", path, NULL);
	world_do(w, &w->host, "PATCH", path, json_pack("{s:{s:[]}}", "metadata", "finalizers"));
	spec = json_deep_copy(json_object_get(o, "spec"));
	json_object_set_new(spec, "machineRef",
			    json_pack("{s:s,s:s}", "name", b->name, "uid",
				      json_str_at(b->object, "metadata", "uid")));
	world_do(w, &w->host, "POST", GROUP "/nodeclaims",
		 json_pack("{s:s,s:s,s:{s:s,s:[s],s:{s:s,s:s}},s:o}", "apiVersion",
			   OBJECT_API_VERSION, "kind", "NodeClaim", "metadata", "name", name,
			   "finalizers", FINALIZER_CLAIM, "labels", "drover.dev/nodepool", "gpus",
			   "drover.dev/virtual-cluster", "team-a", "spec", spec));
}

static void a_running_server_is_adopted_by_the_claim_that_it_serves(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	char claim[128];
	int64_t tenancy;
	unsigned resets;

	(void)state;
	verbs_lost(&w, 140, claim);
	tenancy = b->tenancy;
	resets = fake_bmc_count(&b->bmc, RESET);
	verbs_adopt(b, "01", "no-such-claim");
	world_wait_reason(b, "ClaimNotFound", 300);
	assert_non_null(strstr(world_at(b, "status.operation.lastError.message"),
			       "NodeClaim no-such-claim does not exist; create it"));
	assert_string_equal(b->state, "known");
	str_copy(b->segment, sizeof(b->segment), "tenant/team-b");
	verbs_adopt(b, "02", claim);
	world_wait_reason(b, "NetworkNotConfirmed", 300);
	world_run(&w, 300 * 1000);
	assert_string_equal(b->state, "known");
	str_copy(b->segment, sizeof(b->segment), "tenant/team-a");
	verbs_adopt(b, "03",
		    /* this claim names the lost Machine; the Node proves the identity */
		    claim);
	world_wait_state(b, "serving", 300);
	assert_int_equal(b->tenancy, tenancy + 1);
	assert_string_equal(b->claim, claim);
	assert_string_equal(world_at(b, "status.tenant.name"), "team-a");
	assert_string_not_equal(world_at(b, "status.bootID"), "");
	assert_string_equal(world_at(b, "status.approvalID"), "03");
	assert_false(json_true_at(b->object, "status", "clean"));
	assert_int_equal(fake_bmc_count(&b->bmc, RESET), resets);
	w.restored = false;
	world_delete_pod(&w, &w.tenants[0], "p-1"); /* then it leaves like any other machine */
	world_release(b);
	world_wait_state(b, "free", 1800);
	assert_true(server_is_blank(b));
	world_stop(&w);
}

static void a_server_whose_node_is_not_proved_is_not_adopted(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	char claim[128], path[200];

	(void)state;
	verbs_lost(&w, 141, claim);
	str_format(path, sizeof(path), "/api/v1/nodes/%s/status", claim);
	world_do(&w, &w.tenants[0], "PATCH", path,
		 json_pack("{s:{s:{s:s}}}", "status", "nodeInfo", "systemUUID",
			   "ffffffff-0035-3410-8050-c6c04f314733"));
	verbs_claim_again(&w, claim);
	world_run(&w, 300 * 1000); /* the claim waits; the approval comes later */
	verbs_adopt(b, "01", claim);
	world_wait_reason(b, "NodeIdentityMismatch", 300);
	world_run(&w, 600 * 1000);
	assert_string_equal(b->state, "known");
	assert_true(b->bmc.on);
	str_format(path, sizeof(path), "nodeclaims.drover.dev/%s", claim);
	{
		OWN_JSON o = cluster_get(&w.host, path);

		assert_non_null(o); /* the claim waits for the machine without a time limit */
	}
	world_stop(&w);
}

/* --- two Machines for one machine ------------------------------------------------------------- */

static void a_twin_that_comes_in_the_middle_stops_both(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0], twin;
	unsigned resets;

	(void)state;
	world_start(&w, 150, 1);
	world_replica(&w);
	world_wait_state(b, "free", 600);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(b, "imaging", 300);
	twin = *b;
	str_copy(twin.name, sizeof(twin.name), "gpu-twin");
	world_machine(&w, &twin);
	world_wait_reason(b, "DuplicateIdentity", 60);
	resets = fake_bmc_count(&b->bmc, RESET);
	world_run(&w, 3600 * 1000);
	assert_int_equal(fake_bmc_count(&b->bmc, RESET), resets);
	assert_string_not_equal(b->state, "serving");
	world_do(&w, &w.host, "DELETE", GROUP "/machines/gpu-twin", NULL);
	world_wait_running(&w, &w.tenants[0], "train", 12 * 3600);
	world_stop(&w);
}

/* The new leader carries the retry out before it knows any agent of the machine. */
static void a_retry_that_was_asked_for_without_a_leader_is_carried_out(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 791, 1);
	world_replica(&w);
	world_wait_state(b, "free", 3600);
	world_kill(&w.replicas[0]);
	world_do(&w, &w.host, "PATCH", GROUP "/machines/gpu-1",
		 json_pack("{s:{s:{s:s}}}", "metadata", "annotations", REQUEST_RETRY, "one"));
	world_replica(&w);
	world_run(&w, 60000);
	assert_string_equal(world_at(b, "status.requests.retry"), "one");
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rack_is_drained_two_machines_at_a_time),
		cmocka_unit_test(a_retry_that_was_asked_for_without_a_leader_is_carried_out),
		cmocka_unit_test(a_drain_cancelled_in_the_middle_undoes_what_has_not_left),
		cmocka_unit_test(a_leader_killed_during_a_drain_is_followed),
		cmocka_unit_test(a_drain_to_quarantine_ends_there_wiped_until_it_is_released),
		cmocka_unit_test(a_drain_to_retirement_ends_there_wiped),
		cmocka_unit_test(a_policy_to_retire_waits_for_the_end_of_the_tenancy),
		cmocka_unit_test(a_machine_that_was_not_wiped_does_not_retire),
		cmocka_unit_test(a_machine_that_cannot_be_wiped_retires_with_a_waiver),
		cmocka_unit_test(a_machine_that_was_not_wiped_is_not_deleted),
		cmocka_unit_test(a_free_machine_is_taken_out_of_use_and_let_back),
		cmocka_unit_test(a_mark_waits_until_the_tenant_has_left),
		cmocka_unit_test(a_person_ends_the_wait_of_a_quarantine),
		cmocka_unit_test(a_refused_login_is_tried_once_more_at_a_request),
		cmocka_unit_test(a_changed_drive_is_shown_and_may_be_approved),
		cmocka_unit_test(storage_without_a_driver_is_a_persons_decision),
		cmocka_unit_test(
			a_controller_that_lost_its_driver_or_hides_something_is_no_clean_machine),
		cmocka_unit_test(a_running_server_is_adopted_by_the_claim_that_it_serves),
		cmocka_unit_test(a_server_whose_node_is_not_proved_is_not_adopted),
		cmocka_unit_test(a_twin_that_comes_in_the_middle_stops_both),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
