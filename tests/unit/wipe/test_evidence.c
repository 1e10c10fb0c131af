#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/data/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "wipe/evidence.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct {
	struct crypto_key *agent, *drover, *other;
	char agent_text[CRYPTO_PUBLIC_TEXT], drover_text[CRYPTO_PUBLIC_TEXT],
		other_text[CRYPTO_PUBLIC_TEXT];
	struct arena *arena;
} keys;

static int setup(void **state)
{
	(void)state;
	keys.agent = crypto_key_new();
	keys.drover = crypto_key_new();
	keys.other = crypto_key_new();
	crypto_key_public(keys.agent, keys.agent_text);
	crypto_key_public(keys.drover, keys.drover_text);
	crypto_key_public(keys.other, keys.other_text);
	keys.arena = arena_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	crypto_key_free(keys.agent);
	crypto_key_free(keys.drover);
	crypto_key_free(keys.other);
	arena_free(keys.arena);
	return 0;
}

static struct evidence_device devices[2];
static int64_t statuses[] = {0x4002, 5}, others[] = {0, 5};
static const char *missing[] = {"eui.0003"};
static const char *not_covered[] = {"GPUMemory", "BMC"};
static struct statement_node node = {0, 100, 99};
static struct statement memory = {.part = STATEMENT_SYSTEM_MEMORY,
				  .outcome = STATEMENT_COVERED,
				  .technique = "Overwritten",
				  .total_bytes = 100,
				  .covered_bytes = 99,
				  .nodes = {&node, 1}};

static struct evidence sample(void)
{
	devices[0] = (struct evidence_device){.type = "NVMe",
					      .model = "Micron 7450",
					      .serial = "22A",
					      .wwn = "eui.0001",
					      .bytes = 960197124096,
					      .technique = "SanitizeCryptoErase",
					      .level = WIPE_PURGE,
					      .canaries = {64, 0},
					      .reads = {10000, 0, 0}};
	devices[1] = (struct evidence_device){.type = "SATA",
					      .wwn = "eui.0002",
					      .technique = "Overwrite",
					      .raw_status = {statuses, 2},
					      .level = WIPE_FAIL,
					      .reason = "DriveFailed",
					      .message = "Format NVM: status 2002h",
					      .reads = {1, 2, 3}};
	return (struct evidence){
		.machine = {"gpu-1", "31b0", "4c4c4544-0001", "J7XK2T3"},
		.tenancy = 41,
		.attempt = 2,
		.virtual_cluster = {"team-b", "1e0f"},
		.previous = {"gpu-1-40-1", "sha256:00"},
		.nonce_digest = "sha256:11",
		.policy_digest = "sha256:22",
		.start_time = 1796120400000,
		.end_time = 1796120470000,
		.verdict = WIPE_FAIL,
		.agent_trust = WIPE_SECURE_BOOT,
		.inventory = {.expected = 3, .seen = 2, .missing = {missing, 1}},
		.devices = {devices, 2},
		.not_covered = {not_covered, 2},
	};
}

static char *decoded(const char *b64)
{
	struct err e;
	size_t n;
	char *text = crypto_base64_decode(b64, strlen(b64), &n, &e);

	assert_non_null(text);
	return text;
}

static int open_agent(const char *envelope, struct evidence *out, struct err *e)
{
	return evidence_open(envelope, keys.agent_text, NULL, 0, keys.arena, out, e);
}

/* Returns an envelope with this statement, correctly signed with key. */
static char *envelope_of(const char *statement, const char *payload_type,
			 const struct crypto_key *key)
{
	char *pae = mem_printf("DSSEv1 %zu %s %zu %s", strlen(payload_type), payload_type,
			       strlen(statement), statement);
	char *payload = crypto_base64(statement, strlen(statement)), *sig, *text, *out;
	char public[CRYPTO_PUBLIC_TEXT];
	uint8_t raw[CRYPTO_SIGNATURE];

	crypto_sign(key, pae, strlen(pae), raw);
	sig = crypto_base64(raw, sizeof(raw));
	text = mem_printf("{\"payload\":\"%s\",\"payloadType\":\"%s\",\"signatures\":"
			  "[{\"keyid\":\"%s\",\"sig\":\"%s\"}]}",
			  payload, payload_type, crypto_key_public(key, public), sig);
	out = crypto_base64(text, strlen(text));
	free(text);
	free(sig);
	free(payload);
	free(pae);
	return out;
}

static char *statement_of(const struct evidence *ev)
{
	char *envelope = evidence_sign(ev, keys.agent), *text = decoded(envelope), *statement;
	struct err e;
	json_t *j = json_parse(text, strlen(text), &e);

	statement = decoded(json_str_at(j, "payload"));
	json_decref(j);
	free(text);
	free(envelope);
	return statement;
}

static void what_was_signed_is_opened(void **state)
{
	struct evidence ev = sample(), got;
	char *envelope = evidence_sign(&ev, keys.agent);
	struct err e;

	(void)state;
	assert_ok(open_agent(envelope, &got, &e), &e);
	assert_ok(evidence_compare(&ev, &got, &e), &e);
	assert_string_equal(got.machine.system_uuid, "4c4c4544-0001");
	assert_int_equal(got.tenancy, 41);
	assert_int_equal(got.devices.n, 2);
	assert_int_equal(got.devices.v[1].reads.unreadable, 3);
	assert_int_equal(got.devices.v[1].raw_status.n, 2);
	assert_int_equal(got.devices.v[1].raw_status.v[1], 5);
	assert_string_equal(got.inventory.missing.v[0], "eui.0003");
	assert_int_equal(got.end_time, 1796120470000);
	free(envelope);
}

/* The expected text was written by hand from objects.yaml and the in-toto Statement v1. */
static void the_statement_is_canonical_and_says_zeros(void **state)
{
	struct evidence ev = {.machine = {.name = "gpu-1"},
			      .tenancy = 1,
			      .attempt = 1,
			      .verdict = WIPE_PURGE,
			      .devices = {devices, 1},
			      .inventory = {.expected = 1, .seen = 1},
			      .start_time = 1796120400000,
			      .end_time = 1796120400000};
	char *statement, want[1200];

	(void)state;
	devices[0] = (struct evidence_device){.wwn = "eui.1", .level = WIPE_PURGE};
	statement = statement_of(&ev);
	snprintf(want, sizeof(want),
		 "{\"_type\":\"https://in-toto.io/Statement/v1\",\"predicate\":{"
		 "\"agentKey\":\"%s\",\"agentTrust\":\"BootNetwork\",\"attempt\":1,\"devices\":[{"
		 "\"canaries\":{\"found\":0,\"planted\":0},\"level\":\"Purge\","
		 "\"reads\":{\"clean\":0,\"dirty\":0,\"unreadable\":0},\"wwn\":\"eui.1\"}],"
		 "\"endTime\":\"2026-12-01T10:20:00Z\",\"inventory\":{\"expected\":1,\"seen\":1},"
		 "\"machine\":{\"name\":\"gpu-1\"},\"startTime\":\"2026-12-01T10:20:00Z\","
		 "\"tenancy\":1,\"verdict\":\"Purge\"},"
		 "\"predicateType\":\"https://drover.dev/wipe/v1\",\"subject\":[{\"digest\":{"
		 "\"sha256\":\"4149be7de62e6b913d32c9fc430328474babbcfbb958aae5d433589f8a3193fd\"},"
		 "\"name\":\"||eui.1\"}]}",
		 keys.agent_text);
	assert_string_equal(statement, want);
	free(statement);
}

static void both_signatures_are_over_the_dsse_bytes(void **state)
{
	struct evidence ev = sample(), got;
	const char *const droverkeys[] = {keys.other_text, keys.drover_text};
	char *first = evidence_sign(&ev, keys.agent), *statement = statement_of(&ev), *by_hand,
	     *both;
	struct err e;

	(void)state;
	/* Ed25519 is deterministic, so an envelope that the test builds itself has the same
	 * text. */
	by_hand = envelope_of(statement, EVIDENCE_PAYLOAD_TYPE, keys.agent);
	assert_string_equal(first, by_hand);
	both = evidence_countersign(first, keys.drover, &e);
	assert_non_null(both);
	assert_ok(evidence_open(both, keys.agent_text, droverkeys, 2, keys.arena, &got, &e), &e);
	assert_ok(evidence_compare(&ev, &got, &e), &e);
	assert_ok(evidence_open_countersigned(both, droverkeys, 2, keys.arena, &got, &e), &e);
	assert_ok(evidence_compare(&ev, &got, &e), &e);
	free(by_hand);
	free(statement);
	free(first);
	free(both);
}

static void denied(int rc, const struct err *e, const char *why)
{
	assert_int_equal(rc, -1);
	assert_int_equal(e->kind, ERR_DENIED);
	if (!strstr(e->text, why))
		fail_msg("\"%s\" does not say \"%s\"", e->text, why);
}

static void a_signature_by_anybody_else_is_denied(void **state)
{
	const char *const drover[] = {keys.drover_text}, *const other[] = {keys.other_text};
	struct evidence ev = sample(), got;
	char *first = evidence_sign(&ev, keys.agent), *both, *twice;
	struct err e;

	(void)state;
	both = evidence_countersign(first, keys.drover, &e);
	denied(evidence_open(first, keys.other_text, NULL, 0, keys.arena, &got, &e), &e, "agent's");
	denied(evidence_open(first, NULL, NULL, 0, keys.arena, &got, &e), &e, "agent's");
	denied(evidence_open(first, "", NULL, 0, keys.arena, &got, &e), &e, "agent's");
	denied(evidence_open(first, keys.agent_text, drover, 1, keys.arena, &got, &e), &e,
	       "missing");
	denied(evidence_open(both, keys.agent_text, NULL, 0, keys.arena, &got, &e), &e,
	       "too early");
	denied(evidence_open(both, keys.other_text, drover, 1, keys.arena, &got, &e), &e,
	       "agent's");
	denied(evidence_open(both, keys.agent_text, other, 1, keys.arena, &got, &e), &e,
	       "drover's");
	denied(evidence_open_countersigned(both, other, 1, keys.arena, &got, &e), &e, "drover's");
	denied(evidence_open_countersigned(both, NULL, 0, keys.arena, &got, &e), &e, "no key");
	denied(evidence_open_countersigned(first, NULL, 0, keys.arena, &got, &e), &e, "no key");
	denied(evidence_open_countersigned(first, drover, 1, keys.arena, &got, &e), &e, "missing");

	twice = evidence_countersign(both, keys.drover, &e);
	assert_null(twice);
	assert_int_equal(e.kind, ERR_PROTOCOL);
	free(first);
	free(both);
}

/* drover's signature covers the agent's key, so the signature of the agent cannot be replaced. */
static void another_cannot_claim_to_have_been_the_agent(void **state)
{
	const char *const drover[] = {keys.drover_text};
	struct evidence ev = sample(), got;
	char *statement = statement_of(&ev), *forged, *both;
	struct err e;

	(void)state;
	forged = envelope_of(statement, EVIDENCE_PAYLOAD_TYPE, keys.other);
	denied(evidence_open(forged, keys.other_text, NULL, 0, keys.arena, &got, &e), &e, "stated");
	both = evidence_countersign(forged, keys.drover, &e);
	assert_non_null(both);
	denied(evidence_open_countersigned(both, drover, 1, keys.arena, &got, &e), &e, "stated");
	free(both);
	free(forged);
	free(statement);
}

/* The names of the keys are exchanged, or one signature is put in the place of the other. */
static void signatures_cannot_change_places(void **state)
{
	const char *const drover[] = {keys.drover_text};
	struct evidence ev = sample(), got;
	char *first = evidence_sign(&ev, keys.agent), *both, *text, *again;
	json_t *j, *list, *s;
	struct err e;

	(void)state;
	both = evidence_countersign(first, keys.drover, &e);
	text = decoded(both);
	j = json_parse(text, strlen(text), &e);
	list = json_at(j, "signatures");
	s = json_incref(json_array_get(list, 0));
	json_array_remove(list, 0);
	json_array_append_new(list, s);
	free(text);
	text = json_text_sorted(j);
	again = crypto_base64(text, strlen(text));
	denied(evidence_open(again, keys.agent_text, drover, 1, keys.arena, &got, &e), &e,
	       "agent's");
	free(again);
	free(text);

	json_object_set_new(json_array_get(list, 0), "keyid", json_string(keys.agent_text));
	json_object_set_new(json_array_get(list, 1), "keyid", json_string(keys.drover_text));
	text = json_text_sorted(j);
	again = crypto_base64(text, strlen(text));
	denied(evidence_open(again, keys.agent_text, drover, 1, keys.arena, &got, &e), &e,
	       "agent's");
	free(again);
	free(text);
	json_decref(j);
	free(first);
	free(both);
}

static void no_character_of_an_envelope_can_be_changed(void **state)
{
	const char *const drover[] = {keys.drover_text};
	struct evidence ev = sample(), got;
	char *first = evidence_sign(&ev, keys.agent), *both;
	size_t n;
	struct err e;

	(void)state;
	both = evidence_countersign(first, keys.drover, &e);
	n = strlen(both);
	for (size_t i = 0; i < n; i++) {
		char was = both[i];

		both[i] = was == 'A' ? 'B' : 'A';
		if (evidence_open(both, keys.agent_text, drover, 1, keys.arena, &got, &e) == 0)
			fail_msg("character %zu of %zu", i, n);
		both[i] = was;
	}
	for (size_t i = 0; i < n; i += 7) {
		char was = both[i];

		both[i] = '\0';
		assert_int_equal(
			evidence_open(both, keys.agent_text, drover, 1, keys.arena, &got, &e), -1);
		both[i] = was;
	}
	assert_ok(evidence_open(both, keys.agent_text, drover, 1, keys.arena, &got, &e), &e);
	free(first);
	free(both);
}

static void a_malformed_envelope_is_a_protocol_error(void **state)
{
	static const char *const bad[] = {
		"",
		"x",
		"{",
		"[]",
		"{}",
		"null",
		"{\"payload\":\"\",\"payloadType\":\"x\",\"signatures\":[]}",
		"{\"payload\":\"\",\"payloadType\":\"application/vnd.in-toto+json\","
		"\"signatures\":[]}",
		"{\"payload\":\"\",\"payloadType\":\"application/vnd.in-toto+json\","
		"\"signatures\":{}}",
		"{\"payload\":\"\",\"payloadType\":\"application/vnd.in-toto+json\","
		"\"signatures\":[1]}",
		"{\"payload\":\"?\",\"payloadType\":\"application/vnd.in-toto+json\","
		"\"signatures\":[{}]}",
		"{\"payload\":\"\",\"payloadType\":\"application/vnd.in-toto+json\","
		"\"signatures\":[{\"keyid\":\"a\"}]}",
		"{\"payload\":\"\",\"payloadType\":\"application/vnd.in-toto+json\","
		"\"signatures\":[{\"keyid\":\"a\",\"sig\":1}]}",
	};
	struct evidence ev = sample(), got = {.tenancy = 99};
	char *envelope = evidence_sign(&ev, keys.agent), *text = decoded(envelope), *b64, *huge;
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		b64 = crypto_base64(bad[i], strlen(bad[i]));
		assert_int_equal(open_agent(b64, &got, &e), -1);
		assert_int_equal(e.kind, ERR_PROTOCOL);
		assert_null(evidence_countersign(b64, keys.drover, &e));
		assert_int_equal(e.kind, ERR_PROTOCOL);
		free(b64);
	}
	assert_int_equal(open_agent(NULL, &got, &e), -1);
	/* The argument is JSON instead of base64. */
	assert_int_equal(open_agent(text, &got, &e), -1);
	assert_int_equal(e.kind, ERR_PROTOCOL);
	/* The same JSON value with additional white space; then with an additional member. */
	huge = mem_printf(" %s", text);
	b64 = crypto_base64(huge, strlen(huge));
	assert_int_equal(open_agent(b64, &got, &e), -1);
	assert_int_equal(e.kind, ERR_PROTOCOL);
	free(b64);
	free(huge);
	huge = mem_printf("{\"more\":1,%s", text + 1);
	b64 = crypto_base64(huge, strlen(huge));
	assert_int_equal(open_agent(b64, &got, &e), -1);
	assert_int_equal(e.kind, ERR_PROTOCOL);
	free(b64);
	free(huge);
	huge = mem_alloc((2u << 20) + 1);
	memset(huge, 'A', 2u << 20);
	assert_int_equal(open_agent(huge, &got, &e), -1);
	assert_int_equal(e.kind, ERR_PROTOCOL);
	free(huge);
	assert_int_equal(got.tenancy, 99); /* *out is not changed after a failure. */
	free(text);
	free(envelope);
}

/* A valid signature of the agent does not make every statement acceptable. */
static void a_signed_statement_must_still_make_sense(void **state)
{
	static const struct {
		const char *from, *to, *why;
	} cases[] = {
		{"in-toto.io/Statement/v1", "in-toto.io/Statement/v2", "statement"},
		{"drover.dev/wipe/v1", "drover.dev/wipe/v2", "statement"},
		{"\"tenancy\":41", "\"tenancy\":-1", "tenancy"},
		{"\"tenancy\":41", "\"tenancy\":41.5", "tenancy"},
		{"\"tenancy\":41,", "", "tenancy"},
		{"\"attempt\":2", "\"attempt\":0", "attempt"},
		{"\"verdict\":\"Fail\"", "\"verdict\":\"Purge\"", "verdict"},
		{"\"verdict\":\"Fail\"", "\"verdict\":\"Clear\"", "devices[1]"},
		{"\"verdict\":\"Fail\"", "\"verdict\":\"Best\"", "verdict"},
		{"\"tenancy\":41", "\"surprise\":1,\"tenancy\":41", "surprise"},
		{"\"tenancy\":41", "\"tenancy\": 41", "canonical"},
		{"\"missing\":[\"eui.0003\"],\"seen\":2", "\"seen\":2,\"missing\":[\"eui.0003\"]",
		 "canonical"},
		{"\"tenancy\":41", "\"tenancy\":41,\"tenancy\":41", "statement"},
		{"\"found\":0,", "", "found"},
		/* The form of older records is refused, with the name of the field. It must not
		 * count as success. */
		{"\"rawStatus\":[16386,5]", "\"rawStatus\":5", "devices[1].rawStatus"},
		{"\"rawStatus\":[16386,5]", "\"rawStatus\":0", "devices[1].rawStatus"},
		{"\"rawStatus\":[16386,5]", "\"rawStatus\":[0,\"x\"]", "devices[1].rawStatus[1]"},
		{"\"name\":\"Micron 7450|22A|eui.0001\"", "\"name\":\"other\"", "subject"},
		{"\"model\":\"Micron 7450\"", "\"model\":\"Micron 7451\"", "subject"},
	};
	struct evidence ev = sample(), got;
	char *statement = statement_of(&ev);
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char *at = strstr(statement, cases[i].from), *changed, *envelope;

		assert_non_null(at);
		changed = mem_printf("%.*s%s%s", (int)(at - statement), statement, cases[i].to,
				     at + strlen(cases[i].from));
		envelope = envelope_of(changed, EVIDENCE_PAYLOAD_TYPE, keys.agent);
		if (open_agent(envelope, &got, &e) == 0)
			fail_msg("%s was opened", cases[i].to);
		assert_int_equal(e.kind, ERR_PROTOCOL);
		if (!strstr(e.text, cases[i].why))
			fail_msg("\"%s\" does not say \"%s\"", e.text, cases[i].why);
		free(envelope);
		free(changed);
	}
	free(statement);
}

static void another_payload_type_is_refused_though_signed(void **state)
{
	struct evidence ev = sample(), got;
	char *statement = statement_of(&ev),
	     *envelope = envelope_of(statement, "text/plain", keys.agent);
	struct err e;

	(void)state;
	assert_int_equal(open_agent(envelope, &got, &e), -1);
	assert_int_equal(e.kind, ERR_PROTOCOL);
	free(envelope);
	free(statement);
}

static void nobody_countersigns_below_a_bad_signature(void **state)
{
	struct evidence ev = sample();
	char *envelope = evidence_sign(&ev, keys.agent), *text = decoded(envelope), *b64, *keyid;
	struct err e;

	(void)state;
	keyid = strstr(text, keys.agent_text);
	assert_non_null(keyid);
	memcpy(keyid, keys.other_text, strlen(keys.other_text));
	b64 = crypto_base64(text, strlen(text));
	assert_null(evidence_countersign(b64, keys.drover, &e));
	assert_int_equal(e.kind, ERR_DENIED);
	free(b64);
	free(text);
	free(envelope);
}

static void expect_difference(const struct evidence *shown, const char *path)
{
	struct evidence ev = sample();
	struct evidence_device d[2] = {devices[0], devices[1]};
	char want[128];
	struct err e;

	ev.devices.v = d;
	snprintf(want, sizeof(want), "%s: not what was signed", path);
	denied(evidence_compare(shown, &ev, &e), &e, want);
	assert_int_equal(strncmp(e.text, path, strlen(path)), 0);
	denied(evidence_compare(&ev, shown, &e), &e, want);
}

static void every_field_that_differs_is_named(void **state)
{
	static const char *extra[] = {"eui.0009"}, *short_list[] = {"GPUMemory"};
	struct evidence ev;
	struct evidence_device d[2];
	struct err e;

#define DIFFERS(change, path)                                                                      \
	do {                                                                                       \
		ev = sample();                                                                     \
		d[0] = devices[0];                                                                 \
		d[1] = devices[1];                                                                 \
		ev.devices.v = d;                                                                  \
		change;                                                                            \
		expect_difference(&ev, path);                                                      \
	} while (0)

	(void)state;
	DIFFERS(ev.machine.name = "gpu-2", "spec.machine.name");
	DIFFERS(ev.machine.uid = "x", "spec.machine.uid");
	DIFFERS(ev.machine.system_uuid = "x", "spec.machine.systemUUID");
	DIFFERS(ev.machine.serial = "x", "spec.machine.serialNumber");
	DIFFERS(ev.machine.serial = NULL, "spec.machine.serialNumber");
	DIFFERS(ev.tenancy = 40, "spec.tenancy");
	DIFFERS(ev.attempt = 1, "spec.attempt");
	DIFFERS(ev.virtual_cluster.name = "team-c", "spec.virtualCluster.name");
	DIFFERS(ev.virtual_cluster.uid = "", "spec.virtualCluster.uid");
	DIFFERS(ev.previous.name = "x", "spec.previous.name");
	DIFFERS(ev.previous.digest = "x", "spec.previous.digest");
	DIFFERS(ev.nonce_digest = "x", "spec.nonceDigest");
	DIFFERS(ev.policy_digest = NULL, "spec.policyDigest");
	DIFFERS(ev.start_time += 1000, "spec.startTime");
	DIFFERS(ev.end_time -= 1000, "spec.endTime");
	DIFFERS(ev.verdict = WIPE_CLEAR, "spec.verdict");
	DIFFERS(ev.agent_trust = WIPE_QUOTE, "spec.agentTrust");
	DIFFERS(ev.inventory.expected = 2, "spec.inventory.expected");
	DIFFERS(ev.inventory.seen = 3, "spec.inventory.seen");
	DIFFERS(ev.inventory.missing.n = 0, "spec.inventory.missing");
	DIFFERS((ev.inventory.extra = (struct strings){extra, 1}), "spec.inventory.extra");
	DIFFERS(ev.devices.n = 1, "spec.devices[1]");
	DIFFERS(d[0].type = "SATA", "spec.devices[0].type");
	DIFFERS(d[0].model = "x", "spec.devices[0].model");
	DIFFERS(d[0].serial = "x", "spec.devices[0].serialNumber");
	DIFFERS(d[0].wwn = "x", "spec.devices[0].wwn");
	DIFFERS(d[0].bytes--, "spec.devices[0].bytes");
	DIFFERS(d[0].technique = "None", "spec.devices[0].technique");
	DIFFERS(d[1].raw_status.n = 1, "spec.devices[1].rawStatus[1]");
	DIFFERS(d[1].raw_status.v = others, "spec.devices[1].rawStatus[0]");
	DIFFERS(d[1].level = WIPE_PURGE, "spec.devices[1].level");
	DIFFERS(d[1].reason = NULL, "spec.devices[1].reason");
	DIFFERS(d[1].message = "another", "spec.devices[1].message");
	DIFFERS(d[0].canaries.planted = 63, "spec.devices[0].canaries.planted");
	DIFFERS(d[0].canaries.found = 1, "spec.devices[0].canaries.found");
	DIFFERS(d[0].reads.clean = 1, "spec.devices[0].reads.clean");
	DIFFERS(d[1].reads.dirty = 0, "spec.devices[1].reads.dirty");
	DIFFERS(d[1].reads.unreadable = 0, "spec.devices[1].reads.unreadable");
	DIFFERS((ev.not_covered = (struct strings){short_list, 1}), "spec.notCovered[1]");
	DIFFERS((ev.statements.v = &memory, ev.statements.n = 1), "spec.statements");
#undef DIFFERS
	ev = sample();
	ev.inventory.extra = (struct strings){NULL, 0};
	assert_ok(evidence_compare(&ev, &ev, &e), &e);
}

/* A part that a statement covers must not be in notCovered, and counts must match the outcome. */
static void statements_bear_themselves_out(void **state)
{
	struct evidence ev = sample(), out;
	struct statement s = memory;
	const char *both[] = {"GPUMemory", "SystemMemory"};
	OWN(arena) a = arena_new();
	struct err e;
	char *envelope;

	(void)state;
	ev.statements.v = &s;
	ev.statements.n = 1;
	envelope = evidence_sign(&ev, keys.agent);
	assert_ok(evidence_open(envelope, keys.agent_text, NULL, 0, a, &out, &e), &e);
	free(envelope);
	assert_int_equal(out.statements.n, 1);
	assert_int_equal(out.statements.v[0].nodes.v[0].covered_bytes, 99);
	assert_ok(evidence_compare(&ev, &out, &e), &e);
	assert_true(evidence_covers(&out, "SystemMemory"));
	assert_false(evidence_covers(&out, "TPM"));

	ev.not_covered = (struct strings){both, 2};
	envelope = evidence_sign(&ev, keys.agent);
	assert_int_equal(evidence_open(envelope, keys.agent_text, NULL, 0, a, &out, &e), -1);
	assert_non_null(strstr(e.text, "notCovered[1]: SystemMemory, which a statement covers"));
	free(envelope);
	ev.not_covered.n = 1;
	s.bad_bytes = 8;
	envelope = evidence_sign(&ev, keys.agent);
	assert_int_equal(evidence_open(envelope, keys.agent_text, NULL, 0, a, &out, &e), -1);
	assert_non_null(strstr(e.text, "its counts do not show that"));
	free(envelope);
}

/* A record that only drover signed shows that an attempt was made. It never proves a wipe. */
static void an_attempt_without_an_end_is_never_proof(void **state)
{
	const char *const ours[] = {keys.other_text, keys.drover_text}, *const other[] = {
										keys.other_text};
	struct evidence ev = sample(), got;
	char *lone, *agents, *both;
	struct err e;

	(void)state;
	ev.unfinished = "AgentSilent: the agent said nothing for 5 minutes";
	lone = evidence_sign_unfinished(&ev, keys.drover);
	assert_true(evidence_is_unfinished(lone));
	assert_ok(evidence_open_unfinished(lone, ours, 2, keys.arena, &got, &e), &e);
	assert_ok(evidence_compare(&ev, &got, &e), &e);
	denied(evidence_open_unfinished(lone, other, 1, keys.arena, &got, &e), &e, "drover's");
	denied(evidence_open_unfinished(lone, NULL, 0, keys.arena, &got, &e), &e, "drover's");
	denied(evidence_open_countersigned(lone, ours, 2, keys.arena, &got, &e), &e, "missing");
	assert_int_equal(evidence_open(lone, keys.drover_text, NULL, 0, keys.arena, &got, &e), -1);
	assert_non_null(strstr(e.text, EVIDENCE_PREDICATE));
	both = evidence_countersign(lone, keys.drover, &e);
	assert_int_equal(evidence_open_countersigned(both, ours, 2, keys.arena, &got, &e), -1);
	assert_int_equal(evidence_open_unfinished(both, ours, 2, keys.arena, &got, &e), -1);
	free(both);
	free(lone);

	/* A record of an unfinished attempt needs a reason and the verdict Fail. */
	ev.unfinished = NULL;
	lone = evidence_sign_unfinished(&ev, keys.drover);
	assert_int_equal(evidence_open_unfinished(lone, ours, 2, keys.arena, &got, &e), -1);
	assert_non_null(strstr(e.text, "unfinished"));
	free(lone);
	ev.unfinished = "x";
	ev.verdict = WIPE_CLEAR;
	ev.devices.n = 0;
	lone = evidence_sign_unfinished(&ev, keys.drover);
	assert_int_equal(evidence_open_unfinished(lone, ours, 2, keys.arena, &got, &e), -1);
	free(lone);

	/* Evidence of an agent is not accepted as a record of an unfinished attempt. */
	ev = sample();
	agents = evidence_sign(&ev, keys.agent);
	assert_false(evidence_is_unfinished(agents));
	assert_int_equal(evidence_open_unfinished(agents, &(const char *){keys.agent_text}, 1,
						  keys.arena, &got, &e),
			 -1);
	free(agents);
	ev.unfinished = "x";
	agents = evidence_sign(&ev, keys.agent);
	assert_int_equal(open_agent(agents, &got, &e), -1);
	assert_non_null(strstr(e.text, "unfinished"));
	free(agents);
	assert_false(evidence_is_unfinished("AAAA"));
}

/* A level above Fail needs at least one device. */
static void a_record_of_no_drive_proves_nothing(void **state)
{
	struct evidence ev = sample(), got;
	char *envelope;
	struct err e;

	(void)state;
	ev.devices.n = 0;
	envelope = evidence_sign(&ev, keys.agent);
	assert_ok(open_agent(envelope, &got, &e), &e);
	free(envelope);
	ev.verdict = WIPE_CLEAR;
	envelope = evidence_sign(&ev, keys.agent);
	assert_int_equal(open_agent(envelope, &got, &e), -1);
	assert_int_equal(e.kind, ERR_PROTOCOL);
	free(envelope);
}

/* A drive may report any bytes as its name. The record must be readable nevertheless. */
static void odd_names_of_devices_still_open(void **state)
{
	struct evidence ev = sample(), got;
	char *envelope;
	struct err e;

	(void)state;
	devices[0].model = "bad \xff\xfe bytes";
	devices[1].model = "quote \" | back\\slash \n \xc3\xa9";
	envelope = evidence_sign(&ev, keys.agent);
	assert_ok(open_agent(envelope, &got, &e), &e);
	assert_string_equal(got.devices.v[1].model, devices[1].model);
	free(envelope);
}

static void the_digest_is_of_the_envelope_text(void **state)
{
	uint8_t d[CRYPTO_SHA256];
	char hex[2 * CRYPTO_SHA256 + 1];

	(void)state;
	evidence_digest("abc", d);
	str_hex(hex, d, sizeof(d));
	assert_string_equal(hex,
			    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_signed_is_opened),
		cmocka_unit_test(the_statement_is_canonical_and_says_zeros),
		cmocka_unit_test(both_signatures_are_over_the_dsse_bytes),
		cmocka_unit_test(a_signature_by_anybody_else_is_denied),
		cmocka_unit_test(another_cannot_claim_to_have_been_the_agent),
		cmocka_unit_test(signatures_cannot_change_places),
		cmocka_unit_test(no_character_of_an_envelope_can_be_changed),
		cmocka_unit_test(a_malformed_envelope_is_a_protocol_error),
		cmocka_unit_test(a_signed_statement_must_still_make_sense),
		cmocka_unit_test(another_payload_type_is_refused_though_signed),
		cmocka_unit_test(nobody_countersigns_below_a_bad_signature),
		cmocka_unit_test(every_field_that_differs_is_named),
		cmocka_unit_test(statements_bear_themselves_out),
		cmocka_unit_test(an_attempt_without_an_end_is_never_proof),
		cmocka_unit_test(a_record_of_no_drive_proves_nothing),
		cmocka_unit_test(odd_names_of_devices_still_open),
		cmocka_unit_test(the_digest_is_of_the_envelope_text),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
