/* The record of each wipe, and what it proves. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <unistd.h>
#include "base/crypto.h"
#include "base/str.h"
#include "cli/audit.h"
#include "controller/core/record_files.h"
#include "tests/world/bootagent.h"
#include "tests/world/leaving.h"
#include "tests/world/world.h"
#include "wipe/evidence.h"
#include "wipe/proto.h"

#define RECORDS "wiperecords.drover.dev/"

static json_t *record_of(struct sim_world *w, const char *name)
{
	char key[128];

	str_format(key, sizeof(key), RECORDS "%s", name);
	return cluster_get(&w->host, key);
}

static bool count(const json_t *o, void *arg)
{
	(void)o;
	++*(unsigned *)arg;
	return true;
}

static unsigned records(struct sim_world *w)
{
	unsigned n = 0;

	cluster_each(&w->host, RECORDS, count, &n);
	return n;
}

/* Returns drover's public key, as an auditor has it. */
static const char *our_public(struct sim_world *w, struct arena *a)
{
	OWN_JSON o = cluster_get(&w->host, "secrets/drover-system/drover-evidence-key");
	const char *b64 = json_str_at(o, "data", "private.pem");
	char text[CRYPTO_PUBLIC_TEXT];
	struct err e;
	size_t n;
	char *pem = b64 ? crypto_base64_decode(b64, strlen(b64), &n, &e) : NULL;
	OWN(secret) s = pem ? secret_from_str(pem) : NULL;
	OWN(crypto_key) k = s ? crypto_key_from_pem(s, &e) : NULL;

	free(pem);
	assert_non_null(k);
	return arena_strdup(a, crypto_key_public(k, text));
}

/* Checks that the attempt ended without the agent's evidence: only drover's record gives the
 * reason. */
static void is_unfinished(struct sim_world *w, const char *name, const char *why)
{
	OWN(arena) a = arena_new();
	OWN_JSON o = record_of(w, name);
	const char *envelope = json_str_at(o, "spec", "envelope"), *publics[] = {our_public(w, a)};
	struct evidence ev;
	struct err e;

	if (!envelope)
		fail_msg("there is no record %s", name);
	assert_true(evidence_is_unfinished(envelope));
	assert_ok(evidence_open_unfinished(envelope, publics, 1, a, &ev, &e), &e);
	assert_int_equal(ev.verdict, WIPE_FAIL);
	assert_int_equal(ev.devices.n, SERVER_DRIVES);
	assert_int_equal(ev.devices.v[1].level, WIPE_FAIL);
	if (!strstr(ev.unfinished, why))
		fail_msg("%s: \"%s\" does not say %s", name, ev.unfinished, why);
	assert_string_equal(json_str_at(o, "spec", "unfinished"), ev.unfinished);
	assert_int_equal(evidence_open_countersigned(envelope, publics, 1, a, &ev, &e), -1);
}

/* Checks that each record of the machine names the previous one and its digest, from the first
 * on. */
static void chain_holds(struct sim_world *w, const char *const *names, size_t n)
{
	OWN(arena) a = arena_new();
	const char *name = "", *digest = "";

	for (size_t i = 0; i < n; i++) {
		OWN_JSON o = record_of(w, names[i]);
		const char *envelope = json_str_at(o, "spec", "envelope");
		uint8_t d[CRYPTO_SHA256];
		char text[CRYPTO_DIGEST_TEXT];

		if (!envelope)
			fail_msg("there is no record %s", names[i]);
		assert_string_equal(str_or(json_str_at(o, "spec", "previous", "name"), ""), name);
		assert_string_equal(str_or(json_str_at(o, "spec", "previous", "digest"), ""),
				    digest);
		evidence_digest(envelope, d);
		name = names[i];
		digest = arena_strdup(a, crypto_digest_text(d, text));
	}
	assert_int_equal(records(w), n);
}

/* --- every attempt is recorded ---------------------------------------------------------------- */

static void an_attempt_whose_agent_reboots_is_recorded_by_drover_alone(void **state)
{
	static const char *const orders[] = {"wipe", "verify"};
	static const char *const names[] = {"gpu-1-1-1", "gpu-1-1-2"};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct sim_world w;
		struct server *b = &w.servers[0];
		OWN_JSON good = NULL;

		world_start(&w, 70 + i, 1);
		b->reboots_at = orders[i];
		world_replica(&w);
		world_wait_state(b, "free", 3600);
		is_unfinished(&w, names[0], "AgentSilent: the agent was silent");
		chain_holds(&w, names, 2);
		good = record_of(&w, names[1]);
		assert_string_equal(json_str_at(good, "spec", "verdict"), "Clear");
		assert_int_equal(json_int_at(good, "spec", "attempt"), 2);
		assert_string_equal(world_at(b, "status.lastWipe.record"), names[1]);
		assert_null(json_at(b->object, "status", "wipeAttempt"));
		world_stop(&w);
	}
}

static bool lets_it_be(void *arg)
{
	struct server *b = arg;

	return str_eq(b->state, "quarantined") && !json_at(b->object, "status", "wipeAttempt") &&
	       records(b->world) == 1;
}

static void an_attempt_that_a_second_caller_ended_is_recorded(void **state)
{
	static const char *const names[] = {"gpu-1-1-1"};
	struct sim_world w;
	struct server *b = &w.servers[0];
	struct bootagent *intruder;

	(void)state;
	world_start(&w, 72, 1);
	world_replica(&w);
	world_wait_state(b, "wiping", 300);
	intruder = bootagent_new(b, b->block, PROTO_BOOT_BLOCK);
	world_wait(&w, lets_it_be, b, 300, "recorded");
	bootagent_free(intruder);
	is_unfinished(&w, names[0], "SecondCaller");
	chain_holds(&w, names, 1);
	world_stop(&w);
}

/* The record of an interrupted attempt contains the last reported progress of each drive, and its
 * verdict is a failure. */
static void an_attempt_that_was_cut_off_says_how_far_each_drive_was(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	struct bootagent *intruder;
	OWN_JSON o = NULL;
	const json_t *devices;

	(void)state;
	world_start(&w, 77, 1);
	b->wipe_ms = 120000;
	world_replica(&w);
	world_wait_state(b, "wiping", 300);
	world_run(&w, 60000);
	intruder = bootagent_new(b, b->block, PROTO_BOOT_BLOCK);
	world_wait(&w, lets_it_be, b, 300, "recorded");
	bootagent_free(intruder);
	is_unfinished(&w, "gpu-1-1-1", "SecondCaller");
	o = record_of(&w, "gpu-1-1-1");
	devices = json_at(o, "spec", "devices");
	assert_string_equal(json_str_at(json_array_get(devices, 0), "technique"), "None");
	assert_string_equal(json_str_at(json_array_get(devices, 1), "technique"), "Overwrite");
	assert_in_range(json_int_at(json_array_get(devices, 1), "erasedBytes"), 40000ll << 20,
			70000ll << 20);
	assert_string_equal(json_str_at(json_array_get(devices, 1), "level"), "Fail");
	world_stop(&w);
}

static void attempts_are_counted_through_all_failures(void **state)
{
	static const char *const names[] = {"gpu-1-1-1", "gpu-1-1-2", "gpu-1-1-3", "gpu-1-2-1"};
	struct sim_world w;
	struct server *b = &w.servers[0];
	OWN_JSON third = NULL;

	(void)state;
	world_start(&w, 73, 1);
	server_put_old_system(b);
	b->wipe_fails = true;
	b->reboots_at = "wipe";
	world_replica(&w);
	world_wait_state(b, "quarantined", 3600); /* the second attempt finished, and failed */
	b->wipe_fails = false;
	world_patch_machine(b,
			    json_pack("{s:{s:s,s:s}}", "approval", "action", "Wipe", "id", "03"));
	world_wait_state(b, "free", 3600);
	third = record_of(&w, names[2]);
	assert_string_equal(json_str_at(third, "spec", "verdict"), "Clear");
	chain_holds(&w, names, 3);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	world_wait_state(b, "serving", 60);
	world_delete_pod(&w, &w.tenants[0], "train");
	world_release(b);
	world_wait_state(b, "free", 3600);
	chain_holds(&w, names, 4);
	world_stop(&w);
}

static void a_leader_that_dies_leaves_no_gap(void **state)
{
	(void)state;
	for (int64_t ms = 200; ms < 14000; ms += 1900) {
		static const char *const names[] = {"gpu-1-1-1", "gpu-1-1-2"};
		struct sim_world w;
		struct server *b = &w.servers[0];

		world_start(&w, 74, 1);
		b->reboots_at = "verify";
		world_replica(&w);
		world_wait_state(b, "verifying", 300);
		world_run(&w, ms);
		world_kill(&w.replicas[0]);
		world_replica(&w);
		world_wait_state(b, "free", 3600);
		chain_holds(&w, names, 2);
		world_stop(&w);
	}
}

/* --- export to files -------------------------------------------------------------------------- */

static bool not_held(const json_t *o, void *arg)
{
	(void)arg;
	assert_int_equal(json_array_size(json_at(o, "metadata", "finalizers")), 0);
	return true;
}

static void every_record_leaves_the_cluster_as_a_file(void **state)
{
	static const char *const names[] = {"gpu-1-1-1", "gpu-1-1-2", "gpu-1-2-1"};
	OWN(arena) a = arena_new();
	OWN(audit) audit = audit_new();
	char dir[] = "/tmp/drover-evidence-XXXXXX";
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	assert_non_null(mkdtemp(dir));
	world_start(&w, 75, 1);
	w.evidence_dir = dir;
	b->reboots_at = "verify";
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 3600);
	world_wait_state(b, "serving", 60);
	world_kill(&w.replicas[0]);
	world_replica(&w);
	world_delete_pod(&w, &w.tenants[0], "train");
	world_release(b);
	world_wait_state(b, "free", 3600);
	world_run(&w, 20000);
	chain_holds(&w, names, 3);
	cluster_each(&w.host, RECORDS, not_held, NULL);
	audit_keys(audit, our_public(&w, a));
	for (size_t i = 0; i < 3; i++) {
		const char *path = arena_printf(a, "%s/gpu-1", dir),
			   *name = arena_printf(a, "%s.json", names[i]);
		struct err e;
		char *text = record_files_read(path, name, &e);

		if (!text)
			fail_msg("%s/%s: %s", path, name, e.text);
		audit_add(audit, name, text, strlen(text));
		free(text);
		unlink(arena_printf(a, "%s/%s", path, name));
	}
	audit_run(audit, NULL);
	assert_int_equal(audit_count(audit, AUDIT_PROVED), 2);
	assert_int_equal(audit_count(audit, AUDIT_UNFINISHED), 1);
	unlink(arena_printf(a, "%s/keys.json", dir));
	rmdir(arena_printf(a, "%s/gpu-1", dir));
	assert_int_equal(rmdir(dir), 0);
	world_stop(&w);
}

/* --- backups ---------------------------------------------------------------------------------- */

/* Restores an earlier status in the store, without the API server, as a restore of etcd does. */
static void restore_status(struct server *b, const json_t *status)
{
	struct sim_world *w = b->world;
	struct store_change c = {.if_rev = -1};
	OWN_JSON o = json_deep_copy(b->object);
	char key[80], *text, next[24];
	struct err e;
	uint64_t rev;

	str_format(next, sizeof(next), "%llu", (unsigned long long)store_rev(w->host.store) + 1);
	json_object_set_new(json_at(o, "metadata"), "resourceVersion", json_string(next));
	json_object_set(o, "status", (json_t *)status);
	text = json_text(o);
	str_format(key, sizeof(key), "machines.drover.dev/%s", b->name);
	c.key = key;
	c.value = text;
	c.value_len = strlen(text);
	assert_ok(store_commit(w->host.store, &c, 1, &rev, NULL, NULL, &e), &e);
	free(text);
	/* The status comes from a backup: from here on, the invariants check only new acts of
	 * drover, not earlier tenants and claims. */
	w->restored = true;
	b->rev = rev;
	json_decref(b->object);
	b->object = json_incref(o);
	str_copy(b->state, sizeof(b->state), world_at(b, "status.state"));
	str_copy(b->claim, sizeof(b->claim), world_at(b, "status.claimRef.name"));
	b->tenancy = json_int_at(o, "status", "tenancy");
	b->seen_fence = 0;
}

static json_t *status_of(const struct server *b)
{
	return json_deep_copy(json_at(b->object, "status"));
}

/* A restored status reports free, clean, tenancy 1. Since that backup, a tenant got the machine. */
static void a_restored_status_does_not_switch_a_tenant_off(void **state)
{
	(void)state;
	for (unsigned running = 0; running < 2; running++) {
		struct sim_world w;
		struct server *b = &w.servers[0];
		OWN_JSON old = NULL;

		world_start(&w, 80, 1);
		world_replica(&w);
		world_wait_state(b, "free", 600);
		old = status_of(b);
		world_pod(&w, &w.tenants[0], "train");
		world_wait_running(&w, &w.tenants[0], "train", 1800);
		world_wait_state(b, "serving", 60);
		assert_int_equal(b->tenancy, 2);
		if (!running)
			world_kill(&w.replicas[0]);
		restore_status(b, old);
		if (!running)
			world_replica(&w);
		world_wait_reason(b, "PowerStateUnexpected", 300);
		assert_string_equal(b->state, "known");
		assert_true(b->tenancy > 2);
		assert_false(json_true_at(b->object, "status", "clean"));
		world_pod(&w, &w.tenants[1], "next");
		world_run(&w, 3600 * 1000);
		assert_true(b->bmc.on);
		assert_int_equal(b->doing, SERVER_OS);
		assert_string_equal(b->claim, "");
		world_stop(&w);
	}
}

/* A restored status reports free, clean, tenancy 1. Since that backup, a tenant's data was written;
 * in the last case the data was also wiped and the wipe recorded. */
static void a_restored_status_does_not_make_a_machine_clean(void **state)
{
	static const char *const until[] = {"leaving", "dirty", "wiping", "free"};

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct sim_world w;
		struct server *b = &w.servers[0];
		OWN_JSON old = NULL;
		OWN_JSON newest = NULL;

		world_start(&w, 81, 1);
		world_replica(&w);
		world_wait_state(b, "free", 600);
		old = status_of(b);
		world_pod(&w, &w.tenants[0], "train");
		world_wait_running(&w, &w.tenants[0], "train", 1800);
		world_wait_state(b, "serving", 60);
		world_delete_pod(&w, &w.tenants[0], "train");
		world_release(b);
		world_wait_state(b, until[i], 600);
		world_kill(&w.replicas[0]);
		server_power(b, false);
		b->switched_off = 0;
		b->fence = 0;
		restore_status(b, old);
		world_replica(&w);
		world_pod(&w, &w.tenants[1], "next");
		if (!i) { /* the Node still exists in the first tenant's cluster */
			world_wait_reason(b, "PowerStateUnexpected", 300);
			world_run(&w, 3600 * 1000);
			assert_false(server_is_blank(b));
			assert_string_equal(b->claim, "");
			world_stop(&w);
			continue;
		}
		/* The invariants check the drives. */
		world_wait_running(&w, &w.tenants[1], "next", 7200);
		assert_true(b->tenancy > 2);
		newest = record_of(&w, world_at(b, "status.lastWipe.record"));
		assert_int_equal(json_int_at(newest, "spec", "tenancy"), b->tenancy - 1);
		world_stop(&w);
	}
}

/* --- levels ----------------------------------------------------------------------------------- */

#define POLICY "{s:{s:{s:{s:s,s:s}}}}", "spec", "wipe", "minimumLevel", "flash"

struct told {
	const char *reason;
	bool found;
};

static bool tells(const json_t *o, void *arg)
{
	struct told *t = arg;

	t->found |= str_eq(json_str_at(o, "reason"), t->reason);
	return !t->found;
}

static bool was_told(struct cluster *p, const char *reason)
{
	struct told t = {reason, false};

	cluster_each(p, "events/", tells, &t);
	return t.found;
}

/* Each row makes one value of the evidence false. If drover countersigned it, the evidence would
 * count for another machine, hide whose data was wiped, or pass a minimum level that nothing
 * checked. */
static void evidence_of_what_the_agent_was_not_told_is_not_countersigned(void **state)
{
	static const struct {
		const char *uuid, *serial, *tenant, *trust;
		int64_t later, took;
	} lies[] = {{.uuid = "4c4c4544-0035-3410-8050-c6c04f314799"},
		    {.serial = "another"},
		    {.tenant = "team-z"},
		    {.trust = "SecureBoot"},
		    {.later = 25 * INT64_C(3600000)},
		    {.later = -25 * INT64_C(3600000)},
		    /* by drover's clock, the wipe took only seconds */
		    {.took = 2 * INT64_C(3600000)}};

	(void)state;
	for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		struct sim_world w;
		struct server *b = &w.servers[0];

		world_start(&w, 640 + i, 1);
		b->swears_uuid = lies[i].uuid;
		b->swears_serial = lies[i].serial;
		b->swears_tenant = lies[i].tenant;
		b->swears_trust = lies[i].trust;
		b->swears_later = lies[i].later;
		b->swears_took = lies[i].took;
		world_replica(&w);
		world_wait_reason(b, "EraseUnverified", 1800);
		world_wait_state(b, "quarantined", 60);
		if (lies[i].took)
			assert_non_null(
				strstr(world_at(b, "status.quarantine.message"), "sooner than"));
		world_stop(&w);
	}
}

/* Sets spec.waivers as `drover approve --drives` does. */
static void waive(struct sim_world *w, int64_t tenancy)
{
	world_do(w, &w->host, "PATCH", "/apis/drover.dev/v1alpha1/machines/gpu-1",
		 json_pack("{s:{s:[{s:s, s:s, s:s, s:s, s:s, s:s, s:I}]}}", "spec", "waivers",
			   "what", "Drive", "wwn", "eui.9", "serialNumber", "S9", "by", "alice",
			   "at", "2026-12-01T10:00:00Z", "reason", "shredded", "tenancy",
			   (json_int_t)tenancy));
}

/* Fails the test unless the newest record of the machine has, or lacks, the waiver of waive(). */
static void has_waiver(struct sim_world *w, bool has)
{
	OWN(arena) a = arena_new();
	OWN_JSON o = record_of(w, world_at(&w->servers[0], "status.lastWipe.record"));
	const char *publics[] = {our_public(w, a)};
	struct evidence ev;
	struct err e;

	assert_ok(evidence_open_countersigned(json_str_at(o, "spec", "envelope"), publics, 1, a,
					      &ev, &e),
		  &e);
	assert_ok(evidence_compare_shown(json_at(o, "spec"), &ev, &e), &e);
	assert_int_equal(ev.waivers.n, has);
	if (has)
		assert_string_equal(evidence_waiver_text(&ev.waivers.v[0], a),
				    "drive S9 (eui.9) left the machine without a wipe: alice, "
				    "2026-12-01T10:00:00Z, shredded");
}

static void serve_and_release(struct sim_world *w, const char *pod)
{
	world_pod(w, &w->tenants[0], pod);
	world_wait_running(w, &w->tenants[0], pod, 3600);
	world_delete_pod(w, &w->tenants[0], pod);
	world_release(&w->servers[0]);
	world_wait_state(&w->servers[0], "free", 3600);
}

/* The records of the tenancy and of the next one name the drive. */
static void a_drive_that_was_let_go_is_in_the_next_records(void **state)
{
	struct sim_world w;

	(void)state;
	world_start(&w, 9301, 1);
	world_replica(&w);
	world_wait_state(&w.servers[0], "free", 3600);
	serve_and_release(&w, "one");
	has_waiver(&w, false);
	waive(&w, json_int_at(w.servers[0].object, "status", "tenancy"));
	serve_and_release(&w, "two");
	has_waiver(&w, true);
	serve_and_release(&w, "three");
	serve_and_release(&w, "four");
	has_waiver(&w, false);
	world_stop(&w);
}

static void evidence_without_the_waivers_of_its_order_is_not_countersigned(void **state)
{
	struct sim_world w;

	(void)state;
	world_start(&w, 9302, 1);
	w.servers[0].hides_waivers = true;
	waive(&w, 1);
	world_replica(&w);
	world_wait_reason(&w.servers[0], "EraseUnverified", 1800);
	world_stop(&w);
}

/* The agent read zeros and signed the evidence, but the drive had not stored the zeros. */
static void a_drive_that_forgets_its_wipe_is_seen_at_the_next_claim(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	OWN_JSON record = NULL;

	(void)state;
	world_start(&w, 87, 1);
	b->forgets = 1;
	server_put_old_system(b);
	memset(b->drives[1].data + SERVER_DRIVE_BYTES - 64, 'x', 64);
	memset(b->drives[0].data + SERVER_DRIVE_BYTES - 64, 'x', 64);
	world_replica(&w);
	world_wait_state(b, "free", 1800);
	assert_false(server_is_blank(b)); /* drover cannot detect the data yet */
	assert_string_equal(world_at(b, "status.lastWipe.record"), "gpu-1-1-1");
	world_pod(&w, &w.tenants[0], "train");
	world_wait_reason(b, "WipeRevoked", 1800);
	leaving_wait_event(&w, &w.host, "WipeRevoked", "WipeRecord gpu-1-1-1 is no longer valid");
	world_wait_state(b, "wiping", 1800);
	/* The second record has the verdict Fail and only drover's signature. It replaces the first
	 * record as the newest of that tenancy. */
	record = record_of(&w, "gpu-1-1-2");
	assert_string_equal(json_str_at(record, "spec", "verdict"), "Fail");
	assert_non_null(strstr(json_str_at(record, "spec", "unfinished"),
			       "WipeRevoked: WipeRecord gpu-1-1-1 is no longer valid: drive"));
	assert_string_equal(json_str_at(record, "spec", "previous", "name"), "gpu-1-1-1");
	world_wait_state(b, "serving", 3600);
	assert_string_equal(world_at(b, "status.lastWipe.record"), "gpu-1-1-3");
	world_stop(&w);
}

/* The machine is wiped and found dirty three times; a fourth wipe would not help. */
static void a_drive_that_forgets_each_wipe_waits_for_a_person(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 88, 1);
	b->forgets = 99;
	server_put_old_system(b);
	memset(b->drives[1].data + SERVER_DRIVE_BYTES - 64, 'x', 64);
	world_replica(&w);
	world_wait_state(b, "free", 1800);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(b, "quarantined", 4 * 3600);
	assert_string_equal(world_at(b, "status.quarantine.reason"), "FailsRepeatedly");
	assert_string_equal(world_at(b, "status.quarantine.exit"), "operator");
	assert_non_null(strstr(world_at(b, "status.quarantine.message"), "WipeRevoked"));
	assert_int_equal(json_int_at(b->object, "status", "tenancy"), 1);
	/* none of these wipes lets the machine retire */
	assert_string_equal(world_at(b, "status.lastWipe.record"), "");
	world_patch_machine(b, json_pack("{s:s}", "managementPolicy", "Retire"));
	world_run(&w, 600 * 1000);
	assert_string_equal(b->state, "quarantined");
	world_stop(&w);
}

/* A drive that was not read again does not count as clean. */
/* Three claims fail because no Node comes. The last wipe is proved all the same. */
static void a_machine_that_fails_repeatedly_may_retire_by_its_last_wipe(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 8801, 1);
	b->no_kubelet = true;
	world_replica(&w);
	world_wait_state(b, "free", 1800);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(b, "quarantined", 24 * 3600);
	assert_string_equal(world_at(b, "status.quarantine.reason"), "FailsRepeatedly");
	assert_string_equal(world_at(b, "status.quarantine.exit"), "auto");
	assert_true(b->tenancy > 1);
	assert_int_equal(json_int_at(b->object, "status", "lastWipe", "tenancy"), b->tenancy);
	world_patch_machine(b, json_pack("{s:s}", "managementPolicy", "Retire"));
	world_wait_state(b, "retired", 60);
	world_stop(&w);
}

static void a_drive_that_was_not_read_again_is_not_clean(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 89, 1);
	world_replica(&w);
	world_wait_state(b, "free", 1800);
	b->reads_once = true;
	world_pod(&w, &w.tenants[0], "train");
	world_wait_reason(b, "WipeRevoked", 1800);
	b->reads_once = false;
	world_wait_state(b, "serving", 3600);
	world_stop(&w);
}

static void a_wipe_below_the_providers_floor_is_quarantined(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	OWN_JSON record = NULL;

	(void)state;
	world_start(&w, 85, 1);
	world_do(&w, &w.host, "PATCH", "/apis/" OBJECT_API_VERSION "/providers/rack",
		 json_pack(POLICY, "Purge", "hdd", "Clear"));
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(b, "quarantined", 600);
	assert_string_equal(world_at(b, "status.quarantine.reason"), "EraseBelowPolicy");
	assert_string_equal(world_at(b, "status.quarantine.exit"), "operator");
	record = record_of(&w, "gpu-1-1-1");
	assert_string_equal(json_str_at(record, "spec", "verdict"), "Clear");
	/* The agent is switched off. */
	world_run(&w, 300 * 1000);
	assert_false(b->bmc.on);
	assert_null(b->bmc.image);
	world_run(&w, 3600 * 1000);
	assert_string_equal(b->state, "quarantined");
	world_stop(&w);
}

/* Rotational drives cannot be purged. So the default policy has a separate minimum level for
 * rotational drives, and only that level applies to them. */
static void what_spins_is_held_to_the_floor_of_what_spins(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 89, 1);
	b->spins = true;
	world_do(&w, &w.host, "PATCH", "/apis/" OBJECT_API_VERSION "/providers/rack",
		 json_pack(POLICY, "Purge", "hdd", "Clear"));
	world_do(&w, &w.host, "PATCH", "/apis/" OBJECT_API_VERSION "/nodepools/gpus",
		 json_pack(POLICY, "Purge", "hdd", "Clear"));
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 1200);
	assert_int_equal(records(&w), 1);
	world_stop(&w);
}

/* Large drives take a day to overwrite; small ones should not be waited for as long. */
static void a_wipe_has_as_long_as_the_provider_says(void **state)
{
	static const struct {
		const char *deadline;
		int64_t wipe_s;
		bool in_time;
	} cases[] = {{"8h", 7 * 3600, true}, {"20m", 1800, false}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct sim_world w;
		struct server *b = &w.servers[0];

		world_start(&w, 590 + i, 1);
		b->wipe_ms = cases[i].wipe_s * 1000;
		world_do(&w, &w.host, "PATCH", "/apis/" OBJECT_API_VERSION "/providers/rack",
			 json_pack("{s:{s:{s:s}}}", "spec", "wipe", "deadline", cases[i].deadline));
		world_replica(&w);
		world_wait_state(b, cases[i].in_time ? "free" : "quarantined",
				 cases[i].in_time ? 8 * 3600 : 1700);
		world_stop(&w);
	}
}

/* The Provider accepts Clear, the pool does not: its pods get the reason, other pods are served. */
static void a_machine_below_the_pools_level_is_not_offered_to_it(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 86, 1);
	world_do(&w, &w.host, "PATCH", "/apis/" OBJECT_API_VERSION "/nodepools/gpus",
		 json_pack(POLICY, "Purge", "hdd", "Clear"));
	world_replica(&w);
	world_wait_state(b, "free", 600);
	world_pod(&w, &w.tenants[0], "train");
	world_run(&w, 1200 * 1000);
	assert_string_equal(b->state, "free");
	assert_true(was_told(&w.tenants[0], "EraseBelowPolicy"));
	/* The machine must not be wiped again and again while the pod waits. */
	assert_int_equal(records(&w), 1);
	world_do(&w, &w.host, "PATCH", "/apis/" OBJECT_API_VERSION "/nodepools/gpus",
		 json_pack(POLICY, "Clear", "hdd", "Clear"));
	world_wait_running(&w, &w.tenants[0], "train", 1200);
	world_stop(&w);
}

static bool names_memory(const json_t *record)
{
	size_t i;
	const json_t *v;

	json_array_foreach (json_at(record, "spec", "notCovered"), i, v)
		if (str_eq(json_string_value(v), "SystemMemory"))
			return true;
	return false;
}

/* Memory is overwritten only where a policy requires it, because it takes time. */
static void memory_is_covered_where_a_pool_wants_it(void **state)
{
	for (int wanted = 0; wanted < 2; wanted++) {
		struct sim_world w;
		OWN_JSON record = NULL;

		(void)state;
		world_start(&w, 87, 1);
		if (wanted)
			world_do(&w, &w.host, "PATCH",
				 "/apis/" OBJECT_API_VERSION "/nodepools/gpus",
				 json_pack("{s:{s:{s:[s]}}}", "spec", "wipe", "mustCover",
					   "SystemMemory"));
		world_replica(&w);
		world_pod(&w, &w.tenants[0], "train");
		world_wait_running(&w, &w.tenants[0], "train", 1200);
		record = record_of(&w, "gpu-1-1-1");
		assert_int_equal(json_array_size(json_at(record, "spec", "statements")), wanted);
		assert_int_equal(names_memory(record), !wanted);
		world_stop(&w);
	}
}

static void memory_below_the_providers_floor_is_quarantined(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 88, 1);
	b->keeps_memory = true;
	world_do(&w, &w.host, "PATCH", "/apis/" OBJECT_API_VERSION "/providers/rack",
		 json_pack("{s:{s:{s:[s]}}}", "spec", "wipe", "mustCover", "SystemMemory"));
	world_replica(&w);
	world_wait_state(b, "quarantined", 600);
	assert_string_equal(world_at(b, "status.quarantine.reason"), "EraseBelowPolicy");
	assert_non_null(
		strstr(world_at(b, "status.quarantine.message"), "SystemMemory was not covered"));
	world_stop(&w);
}

static void a_drive_that_fails_is_named(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 87, 1);
	b->wipe_fails = true;
	world_replica(&w);
	world_wait_state(b, "quarantined", 600);
	assert_string_equal(world_at(b, "status.quarantine.reason"), "DriveFailed");
	assert_non_null(strstr(world_at(b, "status.quarantine.message"), b->drives[1].wwn));
	assert_non_null(strstr(world_at(b, "status.quarantine.message"), "slot 2"));
	assert_string_equal(world_at(b, "status.quarantine.exit"), "operator");
	world_stop(&w);
}

/* The drive existed when the wipe began: the operator at the machine should look for an empty
 * slot. */
static void a_drive_that_is_pulled_out_amid_the_wipe_is_called_missing(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	OWN_JSON record = NULL;

	(void)state;
	world_start(&w, 88, 1);
	b->wipe_ms = 20000;
	world_replica(&w);
	world_wait_state(b, "wiping", 600);
	world_run(&w, 10000);
	assert_string_equal(b->state, "wiping");
	b->drive_gone = true;
	world_wait_state(b, "quarantined", 600);
	assert_string_equal(world_at(b, "status.quarantine.reason"), "DriveMissing");
	assert_non_null(strstr(world_at(b, "status.quarantine.message"), b->drives[1].wwn));
	assert_non_null(strstr(world_at(b, "status.quarantine.message"), "slot 2"));
	assert_string_equal(world_at(b, "status.quarantine.exit"), "operator");
	record = cluster_get(&w.host, "wiperecords.drover.dev/gpu-1-1-1");
	assert_string_equal(json_str_at(record, "spec", "verdict"), "Fail");
	world_stop(&w);
}

/* --- the key ---------------------------------------------------------------------------------- */

#define KEY_PATH "/api/v1/namespaces/drover-system/secrets"

static json_t *take_key_away(struct sim_world *w)
{
	json_t *key = cluster_get(&w->host, "secrets/drover-system/drover-evidence-key");

	assert_non_null(key);
	world_do(w, &w->host, "DELETE", KEY_PATH "/drover-evidence-key", NULL);
	json_object_del(json_at(key, "metadata"), "resourceVersion");
	json_object_del(json_at(key, "metadata"), "uid");
	return key;
}

static void no_key_was_made(struct sim_world *w)
{
	OWN_JSON made = cluster_get(&w->host, "secrets/drover-system/drover-evidence-key");

	assert_null(made);
}

static void without_its_key_nothing_is_released(void **state)
{
	(void)state;
	for (unsigned restart = 0; restart < 2; restart++) {
		struct sim_world w;
		struct server *b = &w.servers[0];
		json_t *key;

		world_start(&w, 82, 1);
		world_replica(&w);
		world_pod(&w, &w.tenants[0], "train");
		world_wait_running(&w, &w.tenants[0], "train", 1800);
		world_wait_state(b, "serving", 60);
		key = take_key_away(&w);
		if (restart) {
			world_kill(&w.replicas[0]);
			world_replica(&w);
		}
		world_run(&w, 60000);
		world_delete_pod(&w, &w.tenants[0], "train");
		world_release(b); /* the machine leaves its tenant anyway */
		world_wait_state(b, "dirty", 900);
		world_wait_reason(b, "EvidenceKeyMissing", 300);
		world_run(&w, 4 * 3600 * 1000);
		assert_string_equal(b->state, "dirty");
		assert_int_equal(records(&w), 1);
		no_key_was_made(&w);
		world_do(&w, &w.host, "POST", KEY_PATH, key);
		world_wait_state(b, "free", 1800);
		assert_int_equal(records(&w), 2);
		world_stop(&w);
	}
}

static void without_its_key_a_free_machine_is_not_called_dirty(void **state)
{
	(void)state;
	for (unsigned restart = 0; restart < 2; restart++) {
		struct sim_world w;
		struct server *b = &w.servers[0];
		json_t *key;

		world_start(&w, 83, 1);
		world_replica(&w);
		world_wait_state(b, "free", 600);
		key = take_key_away(&w);
		if (restart) {
			world_kill(&w.replicas[0]);
			world_replica(&w);
		}
		world_run(&w, 60000);
		world_pod(&w, &w.tenants[0], "train");
		world_wait_reason(b, "EvidenceKeyMissing", 600);
		world_run(&w, 600 * 1000);
		assert_string_equal(b->state, "free");
		assert_false(world_has_failure(b, "EraseUnverified"));
		no_key_was_made(&w);
		world_do(&w, &w.host, "POST", KEY_PATH, key);
		world_wait_running(&w, &w.tenants[0], "train", 3600);
		assert_int_equal(records(&w), 1);
		world_stop(&w);
	}
}

/* The key is lost during a wipe: the verified wipe waits for the signature and is not repeated. */
static void a_wipe_under_way_waits_for_the_key(void **state)
{
	static const char *const names[] = {"gpu-1-1-1", "gpu-1-2-1"};
	struct sim_world w;
	struct server *b = &w.servers[0];
	unsigned boots;
	json_t *key;

	(void)state;
	world_start(&w, 84, 1);
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	world_wait_state(b, "serving", 60);
	world_delete_pod(&w, &w.tenants[0], "train");
	world_release(b);
	world_wait_state(b, "dirty", 900);
	world_wait_state(b, "wiping", 900);
	boots = b->boots;
	key = take_key_away(&w);
	world_kill(&w.replicas[0]);
	world_replica(&w);
	world_wait_reason(b, "EvidenceKeyMissing", 300);
	assert_string_equal(b->state, "verifying");
	world_run(&w, 2 * 3600 * 1000);
	assert_string_equal(b->state, "verifying");
	no_key_was_made(&w);
	world_do(&w, &w.host, "POST", KEY_PATH, key);
	world_wait_state(b, "free", 900);
	assert_int_equal(b->boots, boots);
	chain_holds(&w, names, 2);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_attempt_whose_agent_reboots_is_recorded_by_drover_alone),
		cmocka_unit_test(an_attempt_that_a_second_caller_ended_is_recorded),
		cmocka_unit_test(an_attempt_that_was_cut_off_says_how_far_each_drive_was),
		cmocka_unit_test(attempts_are_counted_through_all_failures),
		cmocka_unit_test(a_leader_that_dies_leaves_no_gap),
		cmocka_unit_test(every_record_leaves_the_cluster_as_a_file),
		cmocka_unit_test(a_restored_status_does_not_switch_a_tenant_off),
		cmocka_unit_test(a_restored_status_does_not_make_a_machine_clean),
		cmocka_unit_test(evidence_of_what_the_agent_was_not_told_is_not_countersigned),
		cmocka_unit_test(a_drive_that_was_let_go_is_in_the_next_records),
		cmocka_unit_test(evidence_without_the_waivers_of_its_order_is_not_countersigned),
		cmocka_unit_test(a_wipe_below_the_providers_floor_is_quarantined),
		cmocka_unit_test(a_drive_that_forgets_its_wipe_is_seen_at_the_next_claim),
		cmocka_unit_test(a_drive_that_forgets_each_wipe_waits_for_a_person),
		cmocka_unit_test(a_machine_that_fails_repeatedly_may_retire_by_its_last_wipe),
		cmocka_unit_test(a_drive_that_was_not_read_again_is_not_clean),
		cmocka_unit_test(what_spins_is_held_to_the_floor_of_what_spins),
		cmocka_unit_test(a_wipe_has_as_long_as_the_provider_says),
		cmocka_unit_test(a_machine_below_the_pools_level_is_not_offered_to_it),
		cmocka_unit_test(memory_is_covered_where_a_pool_wants_it),
		cmocka_unit_test(memory_below_the_providers_floor_is_quarantined),
		cmocka_unit_test(a_drive_that_fails_is_named),
		cmocka_unit_test(a_drive_that_is_pulled_out_amid_the_wipe_is_called_missing),
		cmocka_unit_test(without_its_key_nothing_is_released),
		cmocka_unit_test(without_its_key_a_free_machine_is_not_called_dirty),
		cmocka_unit_test(a_wipe_under_way_waits_for_the_key),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
