#include "tests/unit/controller/bench.h"

#include <stdlib.h>
#include "base/str.h"
#include "controller/life/clean_proof.h"
#include "controller/rules/wipe_judge.h"

static struct evidence_device drives[2];
static int64_t success[] = {0};

/* Returns the evidence of a good wipe of m-1. All results share one array of drives, so use one
 * result at a time. */
static struct evidence good(const struct life *l)
{
	struct evidence ev = {
		.tenancy = 41,
		.attempt = 1,
		.start_time = 1764000000000,
		.end_time = 1764000060000,
		.verdict = WIPE_PURGE,
		.agent_trust = WIPE_BOOT_NETWORK,
	};

	drives[0] = (struct evidence_device){.type = "NVMe",
					     .wwn = "eui.1",
					     .level = WIPE_PURGE,
					     .technique = "SanitizeCryptoErase",
					     .raw_status = {success, 1},
					     .model = "m",
					     .serial = "1",
					     .bytes = 1000,
					     .canaries = {.planted = 64},
					     .reads = {.clean = 10512}};
	drives[1] = drives[0];
	drives[1].wwn = "eui.2";
	drives[1].serial = "2";
	ev.machine.name = "m-1";
	ev.machine.uid = l->m->meta.uid;
	ev.inventory.expected = ev.inventory.seen = 2;
	ev.devices.v = drives;
	ev.devices.n = 2;
	return ev;
}

static int setup(void **state)
{
	bench_setup(state);
	bench_fleet(*state);
	bench_keys(*state);
	return 0;
}

static void refused(const struct life *l, const struct evidence *ev,
		    const struct object_wipe_floor *floor, const char *says)
{
	struct err e = {0};

	assert_int_equal(wipe_judge(l->m, life_provider(l), ev, floor, &e), -1);
	if (!strstr(e.text, says))
		fail_msg("%s, want: %s", e.text, says);
}

/* --- judging ---------------------------------------------------------------------------------- */

static void good_evidence_is_good(void **state)
{
	struct bench *d = *state;
	struct life *l = bench_life(d, "m-1");
	struct evidence ev = good(l);

	assert_ok(wipe_judge(l->m, life_provider(l), &ev, NULL, &d->e), &d->e);
	bench_life_done(l);
}

static void evidence_of_another_machine_or_tenancy_is_none(void **state)
{
	struct life *l = bench_life(*state, "m-1");
	struct evidence ev = good(l);

	ev.machine.name = "m-2";
	refused(l, &ev, NULL, "the evidence is for machine m-2");
	ev = good(l);
	ev.machine.uid = "another";
	refused(l, &ev, NULL, "the evidence is for machine m-1");
	ev.machine.name = NULL;
	refused(l, &ev, NULL, "for machine (none)");
	ev = good(l);
	ev.tenancy = 40;
	refused(l, &ev, NULL, "is for tenancy 40, but the machine has tenancy 41");
	ev.tenancy = 42;
	refused(l, &ev, NULL, "is for tenancy 42, but the machine has tenancy 41");
	bench_life_done(l);
}

static void a_failed_wipe_is_none(void **state)
{
	struct life *l = bench_life(*state, "m-1");
	struct evidence ev = good(l);

	ev.verdict = WIPE_FAIL;
	refused(l, &ev, NULL, "the wipe failed");
	bench_life_done(l);
}

/* The error must tell the operator which drive to replace. */
static void a_failed_wipe_names_the_drive(void **state)
{
	static const char *wwns[] = {"eui.2"};
	struct bench *d = *state;
	struct life *l;
	struct evidence ev;

	bench_must(
		d, &d->host, "PATCH", "/apis/" OBJECT_API_VERSION "/machines/m-1",
		"{'spec': {'drives': [{'wwn': 'eui.1', 'bytes': 1000}, {'wwn': 'eui.2', 'bytes': "
		"1000, 'serialNumber': 'S2', 'slot': 'bay 5'}]}}");
	l = bench_life(d, "m-1");
	ev = good(l);
	ev.verdict = drives[1].level = WIPE_FAIL;
	drives[1].reason = "DriveFailed";
	refused(l, &ev, NULL, "the wipe failed: drive eui.2 (serial S2, bay 5): DriveFailed");
	drives[1].message = "Format NVM: status 2002h";
	refused(l, &ev, NULL, "(serial S2, bay 5): DriveFailed: Format NVM: status 2002h");
	drives[1].message = NULL;
	ev.inventory.missing = (struct strings){wwns, 1};
	refused(l, &ev, NULL, "the wipe failed: drive eui.2 (serial S2, bay 5) is missing (1 of 2");
	ev.verdict = WIPE_PURGE;
	refused(l, &ev, NULL, "1 missing, 0 extra: eui.2 (serial S2, bay 5)");
	bench_life_done(l);
}

/* If a drive failed for a known reason, the machine is quarantined for that reason. */
static void the_reason_of_a_drive_is_the_reason(void **state)
{
	static const struct {
		const char *of_drive;
		enum reason reason;
	} rows[] = {{"ReadOnly", REASON_ReadOnly},
		    {"NamespaceHidden", REASON_NamespaceHidden},
		    {"SectorsHidden", REASON_SectorsHidden},
		    {"DriveLocked", REASON_DriveLocked},
		    {"DriveZoned", REASON_DriveZoned},
		    {"CanaryLost", REASON_CanaryLost},
		    {"DriveFailed", REASON_DriveFailed},
		    {"EraseUnverified", REASON_EraseUnverified},
		    {"something new", REASON_EraseUnverified}};
	struct life *l = bench_life(*state, "m-1");

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct evidence ev = good(l);

		ev.verdict = drives[1].level = WIPE_FAIL;
		drives[1].reason = rows[i].of_drive;
		assert_int_equal(wipe_judge_reason(l->m, &ev), rows[i].reason);
	}
	bench_life_done(l);
}

static void every_expected_drive_must_be_there_and_no_other(void **state)
{
	static const char *wwns[] = {"eui.9"};
	struct life *l = bench_life(*state, "m-1");
	struct evidence ev = good(l);

	ev.devices.n = 1;
	refused(l, &ev, NULL, "2 drives expected, 1 wiped, 0 missing, 0 extra");
	ev.devices.n = 0;
	refused(l, &ev, NULL, "2 drives expected, 0 wiped");
	ev = good(l);
	ev.inventory.missing = (struct strings){wwns, 1};
	refused(l, &ev, NULL, "1 missing");
	ev = good(l);
	ev.inventory.extra = (struct strings){wwns, 1};
	refused(l, &ev, NULL, "1 extra");
	ev = good(l);
	/* The agent wiped less than the drive's size: the rest was hidden from it. */
	drives[1].bytes = 999;
	refused(l, &ev, NULL, "drive eui.2: 1000 bytes expected, 999 wiped");
	ev = good(l);
	drives[1].wwn = "eui.3";
	refused(l, &ev, NULL, "no evidence for drive eui.2");
	/* The statement lists the same drive twice instead of both drives. */
	drives[1].wwn = "eui.1";
	refused(l, &ev, NULL, "no evidence for drive eui.2");
	drives[1].wwn = NULL;
	refused(l, &ev, NULL, "no evidence for drive eui.2");
	bench_life_done(l);
}

static void where_no_drive_is_expected_nothing_is_clean(void **state)
{
	struct bench *d = *state;
	struct evidence ev;
	struct life *l;

	bench_patch(d, OBJECT_MACHINE, "m-1", "{'spec': {'drives': null}}");
	l = bench_life(d, "m-1");
	ev = good(l);
	ev.devices.n = 0;
	refused(l, &ev, NULL, "spec.drives is empty");
	bench_life_done(l);
}

static void one_bad_sign_on_one_drive_is_enough(void **state)
{
	struct bench *d = *state;
	struct life *l = bench_life(d, "m-1");
	struct evidence ev = good(l);

	drives[1].level = WIPE_FAIL;
	refused(l, &ev, NULL, "drive eui.2: Fail");
	ev = good(l);
	drives[1].canaries.found = 1;
	refused(l, &ev, NULL, "1 found afterwards");
	ev = good(l);
	drives[0].reads.dirty = 1;
	refused(l, &ev, NULL, "1 dirty");
	ev = good(l);
	drives[0].reads.unreadable = 3;
	refused(l, &ev, NULL, "3 unreadable");
	ev = good(l);
	drives[1].canaries.planted = 0;
	refused(l, &ev, NULL, "drive eui.2: of 64 canaries 0 planted");
	drives[1].canaries.planted = 63;
	refused(l, &ev, NULL, "of 64 canaries 63 planted");
	ev = good(l);
	drives[0].reads.clean = 0;
	refused(l, &ev, NULL,
		"drive eui.1: of 64 canaries 64 planted, 0 found afterwards; of 10512 "
		"reads 0 clean");
	drives[0].reads.clean = 10511;
	refused(l, &ev, NULL, "of 10512 reads 10511 clean");
	bench_life_done(l);
	bench_patch(d, OBJECT_MACHINE, "m-1",
		    "{'spec': {'drives': [{'wwn': 'eui.1', 'bytes': 2097152}, "
		    "{'wwn': 'eui.2', 'bytes': 1000}]}}");
	bench_run(d, 1000);
	l = bench_life(d, "m-1");
	ev = good(l);
	drives[0].bytes = 2 << 20; /* A small drive needs as many sample reads as a large one. */
	drives[0].reads.clean = 10511;
	refused(l, &ev, NULL, "of 10512 reads 10511 clean");
	drives[0].reads.clean++;
	assert_int_equal(wipe_judge(l->m, life_provider(l), &ev, NULL, &(struct err){0}), 0);
	bench_life_done(l);
}

/* A thief of an agent's key can sign anything, so impossible combinations of values are
 * refused. */
static void technique_last_answer_and_time_bear_the_level_out(void **state)
{
	static int64_t failed[] = {0, 5};
	struct bench *d = *state;
	struct life *l = bench_life(d, "m-1");
	struct evidence ev = good(l);

	drives[1].technique = "None";
	refused(l, &ev, NULL, "drive eui.2: technique None reaches Fail at most, not Purge");
	ev = good(l);
	drives[1].technique = "Overwrite";
	refused(l, &ev, NULL, "technique Overwrite reaches Clear at most, not Purge");
	ev = good(l);
	drives[0].raw_status = (struct ints){failed, 2};
	refused(l, &ev, NULL, "drive eui.1: rawStatus: the drive's last answer is 5, not 0");
	ev = good(l);
	drives[0].raw_status.n = 0;
	refused(l, &ev, NULL, "rawStatus");
	bench_life_done(l);
	bench_patch(d, OBJECT_MACHINE, "m-1",
		    "{'spec': {'drives': [{'wwn': 'eui.1', 'bytes': 4000000000000}, {'wwn': "
		    "'eui.2', 'bytes': 1000}]}}");
	l = bench_life(d, "m-1");
	ev = good(l);
	drives[0].bytes = 4000000000000;
	assert_ok(wipe_judge(l->m, life_provider(l), &ev, NULL, &d->e), &d->e);
	ev.end_time = ev.start_time + 1000;
	refused(l, &ev, NULL, "in 1999 ms; the minimum is 2000 ms");
	bench_life_done(l);
}

static void the_providers_floor_counts_for_each_medium(void **state)
{
	struct bench *d = *state;
	struct life *l = bench_life(d, "m-1");
	struct evidence ev = good(l);

	drives[0].level = WIPE_CLEAR;
	refused(l, &ev, NULL, "drive eui.1 reached Clear, the provider requires Purge");
	drives[0].rotational = true;
	assert_ok(wipe_judge(l->m, life_provider(l), &ev, NULL, &d->e), &d->e);
	drives[0].rotational = false;
	for (size_t i = 0; i < 4; i++) {
		drives[0].type = ((const char *[]){"SATA", "SAS", "Other", "NVMe"})[i];
		refused(l, &ev, NULL, "the provider requires Purge");
	}
	bench_life_done(l);
}

static void the_claims_floor_comes_on_top(void **state)
{
	struct bench *d = *state;
	struct object_wipe_floor floor = {.minimum_level = {WIPE_PURGE, WIPE_PURGE},
					  .minimum_trust = WIPE_BOOT_NETWORK};
	struct life *l = bench_life(d, "m-1");
	struct evidence ev = good(l);

	drives[0].rotational = true;
	drives[0].level = WIPE_CLEAR;
	assert_ok(wipe_judge(l->m, life_provider(l), &ev, NULL, &d->e), &d->e);
	refused(l, &ev, &floor, "the claim requires Purge");
	floor.minimum_level.hdd = WIPE_CLEAR;
	assert_ok(wipe_judge(l->m, life_provider(l), &ev, &floor, &d->e), &d->e);
	floor.minimum_trust = WIPE_SECURE_BOOT;
	refused(l, &ev, &floor,
		"the agent's trust level is BootNetwork, but the claim requires SecureBoot");
	ev.agent_trust = WIPE_QUOTE;
	assert_ok(wipe_judge(l->m, life_provider(l), &ev, &floor, &d->e), &d->e);
	bench_life_done(l);
}

static struct statement memory(void)
{
	return (struct statement){.part = STATEMENT_SYSTEM_MEMORY,
				  .outcome = STATEMENT_COVERED,
				  .technique = "Overwritten",
				  .total_bytes = 100,
				  .covered_bytes = 99};
}

static void what_must_be_covered_is_asked_for(void **state)
{
	static const char *names[] = {"SystemMemory"};
	struct bench *d = *state;
	struct object_wipe_floor floor = {.minimum_level = {WIPE_CLEAR, WIPE_CLEAR},
					  .must_cover = {names, 1}};
	struct life *l = bench_life(d, "m-1");
	struct evidence ev = good(l);
	struct statement s = memory();

	refused(l, &ev, &floor,
		"SystemMemory was not covered, the claim requires it: the record does not "
		"mention it");
	ev.statements.v = &s;
	ev.statements.n = 1;
	assert_ok(wipe_judge(l->m, life_provider(l), &ev, &floor, &d->e), &d->e);
	s.outcome = STATEMENT_NOT_COVERED;
	s.message = "the kernel gave little";
	refused(l, &ev, &floor, "the claim requires it: the kernel gave little");
	assert_ok(wipe_judge(l->m, life_provider(l), &ev, NULL, &d->e), &d->e);
	bench_must(d, &d->host, "PATCH", "/apis/" OBJECT_API_VERSION "/providers/hall-a",
		   "{'spec': {'wipe': {'mustCover': ['SystemMemory']}}}");
	refused(l, &ev, NULL, "SystemMemory was not covered, the provider requires it");
	bench_life_done(l);
}

/* Evidence with a failed statement is no proof, even if no rule requires the statement. In this
 * one, the memory did not return what was written. */
static void a_statement_that_failed_is_no_proof(void **state)
{
	struct bench *d = *state;
	struct life *l = bench_life(d, "m-1");
	struct evidence ev = good(l);
	struct statement s = memory();

	s.outcome = STATEMENT_FAILED;
	s.message = "8 bytes did not read back";
	ev.statements.v = &s;
	ev.statements.n = 1;
	refused(l, &ev, NULL, "SystemMemory: 8 bytes did not read back");
	assert_int_equal(wipe_judge_reason(l->m, &ev), REASON_EraseUnverified);
	bench_life_done(l);
}

static void the_providers_floor_of_trust_counts_and_it_must_be_known(void **state)
{
	struct bench *d = *state;
	struct life *l = bench_life(d, "m-1");
	struct evidence ev = good(l);

	bench_patch(d, OBJECT_PROVIDER, "hall-a", "{'spec': {'wipe': {'minimumTrust': 'Quote'}}}");
	refused(l, &ev, NULL,
		"the agent's trust level is BootNetwork, but the provider requires Quote");
	bench_must(d, &d->host, "DELETE", "/apis/" OBJECT_API_VERSION "/providers/hall-a", NULL);
	bench_run(d, 1000);
	refused(l, &ev, NULL, "the Provider does not exist");
	bench_life_done(l);
}

static void the_worst_level_of_each_medium_is_what_the_planner_sees(void **state)
{
	struct evidence_device v[] = {{.type = "NVMe", .level = WIPE_PURGE},
				      {.type = "SATA", .level = WIPE_CLEAR},
				      {.type = "SAS", .rotational = true, .level = WIPE_PURGE},
				      {.type = "SATA", .rotational = true, .level = WIPE_PURGE}};
	struct evidence ev = {.devices = {v, 4}};
	int flash, hdd;

	(void)state;
	wipe_judge_levels(&ev, &flash, &hdd);
	assert_int_equal(flash, WIPE_CLEAR);
	assert_int_equal(hdd, WIPE_PURGE);
	ev.devices.n = 1;
	wipe_judge_levels(&ev, &flash, &hdd);
	assert_int_equal(hdd, -1);
	ev.devices.n = 0;
	wipe_judge_levels(&ev, &flash, &hdd);
	assert_int_equal(flash, -1);
}

/* --- records ---------------------------------------------------------------------------------- */

/* Writes a record to the API, signed by a new agent and by `drover` (NULL: not countersigned). */
static void put_record(struct bench *d, const char *name, const struct evidence *ev,
		       const struct crypto_key *drover)
{
	OWN(crypto_key) agent = crypto_key_new();
	char *envelope = evidence_sign(ev, agent),
	     *both = drover ? evidence_countersign(envelope, drover, &d->e) : NULL, *text;
	struct wipe_record r = {.meta.name = name,
				.spec = {.evidence = *ev, .envelope = both ? both : envelope}};
	OWN_JSON o = fields_encode(object_kinds[OBJECT_WIPE_RECORD].fields, &r);

	json_object_set_new(o, "kind", json_string("WipeRecord"));
	json_object_set_new(o, "metadata", json_pack("{s:s}", "name", name));
	text = json_text(o);
	bench_put(d, text);
	free(text);
	free(both);
	free(envelope);
}

static void not_clean(struct bench *d, const char *says)
{
	struct life *l = bench_life(d, "m-1");
	struct err e = {0};

	assert_int_equal(life_clean(l, NULL, &e), -1);
	assert_int_equal(e.kind, ERR_DENIED);
	if (!strstr(e.text, says))
		fail_msg("%s, want: %s", e.text, says);
	bench_life_done(l);
}

static struct evidence good_of(struct bench *d)
{
	struct life *l = bench_life(d, "m-1");
	struct evidence ev = good(l);

	bench_life_done(l);
	return ev;
}

static void a_machine_with_a_record_of_its_tenancy_signed_twice_is_clean(void **state)
{
	struct bench *d = *state;
	const struct evidence ev = good_of(d);
	struct object_wipe_floor floor = {.minimum_level = {WIPE_PURGE, WIPE_PURGE},
					  .minimum_trust = WIPE_QUOTE};
	struct life *l;

	not_clean(d, "no readable WipeRecord of tenancy 41");
	put_record(d, "m-1-41-1", &ev, keys_evidence(d->c.keys));
	l = bench_life(d, "m-1");
	assert_ok(life_clean(l, NULL, &d->e), &d->e);
	assert_int_equal(life_clean(l, &floor, &d->e), -1);
	bench_life_done(l);
}

static void the_newest_record_of_the_present_tenancy_counts(void **state)
{
	struct bench *d = *state;
	struct evidence ev = good_of(d);
	struct life *l;

	put_record(d, "m-1-41-1", &ev, keys_evidence(d->c.keys));
	ev.attempt = 2;
	ev.verdict = WIPE_FAIL;
	put_record(d, "m-1-41-2", &ev, keys_evidence(d->c.keys));
	ev.attempt = 9;
	ev.tenancy = 40;
	put_record(d, "m-1-40-9", &ev, keys_evidence(d->c.keys));
	ev.tenancy = 41;
	ev.machine.name = "m-2";
	put_record(d, "m-2-41-9", &ev, keys_evidence(d->c.keys));
	l = bench_life(d, "m-1");
	assert_string_equal(life_record(l)->meta.name, "m-1-41-2");
	bench_life_done(l);
	/* status.lastWipe still names the first record. */
	not_clean(d, "no readable WipeRecord of tenancy 41");
	bench_status(d, OBJECT_MACHINE, "m-1", "{'lastWipe': {'record': 'm-1-41-2'}}");
	not_clean(d, "the wipe failed");
}

static void the_status_must_say_so_too(void **state)
{
	struct bench *d = *state;
	const struct evidence ev = good_of(d);

	put_record(d, "m-1-41-1", &ev, keys_evidence(d->c.keys));
	bench_status(d, OBJECT_MACHINE, "m-1", "{'clean': false}");
	not_clean(d, "status.clean is false");
	bench_status(d, OBJECT_MACHINE, "m-1", "{'clean': true, 'lastWipe': {'tenancy': 40}}");
	not_clean(d, "no readable WipeRecord of tenancy 41");
	bench_status(d, OBJECT_MACHINE, "m-1", "{'tenancy': 42, 'lastWipe': {'tenancy': 42}}");
	not_clean(d, "no readable WipeRecord of tenancy 42");
}

static void a_record_without_our_signature_is_nothing(void **state)
{
	struct bench *d = *state;
	const struct evidence ev = good_of(d);

	put_record(d, "m-1-41-1", &ev, NULL);
	{
		struct life *l = bench_life(d, "m-1");

		assert_int_equal(life_clean(l, NULL, &d->e), -1);
		assert_true(str_starts(d->e.text, "WipeRecord m-1-41-1: "));
		bench_life_done(l);
	}
}

static void a_record_countersigned_by_a_stranger_is_nothing(void **state)
{
	struct bench *d = *state;
	OWN(crypto_key) stranger = crypto_key_new();
	const struct evidence ev = good_of(d);

	put_record(d, "m-1-41-1", &ev, stranger);
	not_clean(d, "WipeRecord m-1-41-1: ");
}

static void a_record_countersigned_by_an_old_key_of_ours_still_counts(void **state)
{
	struct bench *d = *state;
	const struct evidence ev = good_of(d);
	OWN(crypto_key) next = crypto_key_new();
	OWN(secret) pem = crypto_key_pem(next);
	char old[CRYPTO_PUBLIC_TEXT];
	struct life *l;

	put_record(d, "m-1-41-1", &ev, keys_evidence(d->c.keys));
	crypto_key_public(keys_evidence(d->c.keys), old);
	bench_secret(d, "drover-evidence-key", "private.pem", secret_expose(pem), "public-1", old);
	bench_run(d, 35000);
	assert_true(keys_ready(d->c.keys, NULL));
	l = bench_life(d, "m-1");
	assert_ok(life_clean(l, NULL, &d->e), &d->e);
	bench_life_done(l);
	bench_must(d, &d->host, "PATCH",
		   "/api/v1/namespaces/" BENCH_NS "/secrets/drover-evidence-key",
		   "{'data': {'public-1': null}}");
	bench_run(d, 35000);
	assert_true(keys_ready(d->c.keys, NULL));
	not_clean(d, "WipeRecord m-1-41-1: ");
}

static void what_is_shown_must_be_what_was_signed(void **state)
{
	struct bench *d = *state;
	struct evidence ev = good_of(d);

	drives[0].level = ev.verdict = WIPE_CLEAR;
	put_record(d, "m-1-41-1", &ev, keys_evidence(d->c.keys));
	not_clean(d, "reached Clear");
	/* Another writer changes the shown fields of the record, so that the result looks better
	 * than the signed one. */
	drives[0].level = WIPE_PURGE;
	OWN_JSON fields = fields_encode(object_kinds[OBJECT_WIPE_RECORD].fields,
					&(struct wipe_record){.spec.evidence = ev});
	OWN_JSON patch =
		json_pack("{s:{s:O}}", "spec", "devices", json_at(fields, "spec", "devices"));
	char *text = json_text(patch);

	bench_patch(d, OBJECT_WIPE_RECORD, "m-1-41-1", text);
	free(text);
	not_clean(d, "spec.devices[0].level: not what was signed");
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(good_evidence_is_good),
		T(evidence_of_another_machine_or_tenancy_is_none),
		T(a_failed_wipe_is_none),
		T(a_failed_wipe_names_the_drive),
		T(the_reason_of_a_drive_is_the_reason),
		T(every_expected_drive_must_be_there_and_no_other),
		T(where_no_drive_is_expected_nothing_is_clean),
		T(one_bad_sign_on_one_drive_is_enough),
		T(technique_last_answer_and_time_bear_the_level_out),
		T(the_providers_floor_counts_for_each_medium),
		T(the_claims_floor_comes_on_top),
		T(what_must_be_covered_is_asked_for),
		T(a_statement_that_failed_is_no_proof),
		T(the_providers_floor_of_trust_counts_and_it_must_be_known),
		T(the_worst_level_of_each_medium_is_what_the_planner_sees),
		T(a_machine_with_a_record_of_its_tenancy_signed_twice_is_clean),
		T(the_newest_record_of_the_present_tenancy_counts),
		T(the_status_must_say_so_too),
		T(a_record_without_our_signature_is_nothing),
		T(a_record_countersigned_by_a_stranger_is_nothing),
		T(a_record_countersigned_by_an_old_key_of_ours_still_counts),
		T(what_is_shown_must_be_what_was_signed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
