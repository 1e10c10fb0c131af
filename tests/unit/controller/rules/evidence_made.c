#include "tests/unit/controller/rules/evidence_made.h"

#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/arena.h"
#include "base/str.h"
#include "api/kinds.h"

struct made made;

static const char *not_covered[] = {"GPUMemory", "BMC"};
struct evidence_device made_drives[2];
static int64_t success[] = {0};

struct evidence made_sample(void)
{
	made_drives[0] = (struct evidence_device){.type = "NVMe",
						  .model = "Micron 7450",
						  .serial = "22A",
						  .wwn = "eui.0001",
						  .bytes = 960197124096,
						  .technique = "SanitizeCryptoErase",
						  .raw_status = {success, 1},
						  .level = WIPE_PURGE,
						  .canaries = {64, 0},
						  .reads = {10512, 0, 0}};
	made_drives[1] = made_drives[0];
	made_drives[1].wwn = "eui.0002";
	made_drives[1].rotational = true;
	made_drives[1].level = WIPE_CLEAR;
	made_drives[1].technique = "Overwrite";
	return (struct evidence){
		.machine = {"gpu-1", "31b0", "4c4c4544-0001", "J7XK2T3"},
		.tenancy = 41,
		.attempt = 1,
		.virtual_cluster = {"team-b", "1e0f"},
		.previous = {"gpu-1-40-1", "sha256:00"},
		.nonce_digest = "sha256:11",
		.policy_digest = "sha256:22",
		.start_time = 1796120400000,
		.end_time = 1796120470000,
		.verdict = WIPE_CLEAR,
		.agent_trust = WIPE_BOOT_NETWORK,
		.inventory = {.expected = 2, .seen = 2},
		.devices = {made_drives, 2},
		.not_covered = {not_covered, 2},
	};
}

char *made_envelope(const struct evidence *ev, const struct crypto_key *drover)
{
	struct err e;
	char *one, *both;

	if (ev->unfinished)
		return evidence_sign_unfinished(ev, drover);
	one = evidence_sign(ev, made.agent);
	both = evidence_countersign(one, drover, &e);
	assert_non_null(both);
	free(one);
	return both;
}

json_t *made_record_with(const struct evidence *ev, const char *envelope)
{
	OWN(arena) a = arena_new();
	struct wipe_record r = {.spec = {.evidence = *ev, .envelope = envelope}};
	json_t *o = fields_encode(object_kinds[OBJECT_WIPE_RECORD].fields, &r);

	json_object_set_new(o, "apiVersion", json_string(OBJECT_API_VERSION));
	json_object_set_new(o, "kind", json_string("WipeRecord"));
	json_object_set_new(o, "metadata",
			    json_pack("{s:s, s:{s:s}}", "name",
				      arena_printf(a, "%s-%lld-%lld", ev->machine.name,
						   (long long)ev->tenancy, (long long)ev->attempt),
				      "labels", "drover.dev/machine", ev->machine.name));
	return o;
}

json_t *made_record(const struct evidence *ev)
{
	char *envelope = made_envelope(ev, made.drover);
	json_t *o = made_record_with(ev, envelope);

	free(envelope);
	return o;
}

int made_setup(void **state)
{
	(void)state;
	made.agent = crypto_key_new();
	made.drover = crypto_key_new();
	made.other = crypto_key_new();
	crypto_key_public(made.drover, made.drover_text);
	crypto_key_public(made.other, made.other_text);
	str_copy(made.dir, sizeof(made.dir), "/tmp/drover-audit-XXXXXX");
	return mkdtemp(made.dir) ? 0 : -1;
}

int made_teardown(void **state)
{
	(void)state;
	crypto_key_free(made.agent);
	crypto_key_free(made.drover);
	crypto_key_free(made.other);
	return 0;
}

void made_chain(json_t *out[3])
{
	static const int64_t number[3][2] = {{40, 1}, {41, 1}, {41, 2}};
	char name[64] = "", digest[CRYPTO_DIGEST_TEXT] = "";

	for (int i = 0; i < 3; i++) {
		struct evidence ev = made_sample();
		uint8_t d[CRYPTO_SHA256];

		ev.tenancy = number[i][0];
		ev.attempt = number[i][1];
		ev.previous.name = i ? name : NULL;
		ev.previous.digest = i ? digest : NULL;
		if (i == 1) {
			ev.unfinished = "AgentSilent: x";
			ev.verdict = made_drives[0].level = made_drives[1].level = WIPE_FAIL;
		}
		out[i] = made_record(&ev);
		evidence_digest(json_str_at(out[i], "spec", "envelope"), d);
		crypto_digest_text(d, digest);
		str_copy(name, sizeof(name), json_str_at(out[i], "metadata", "name"));
	}
}

char *made_around(const json_t *envelope, const json_t *statement)
{
	OWN_JSON o = json_deep_copy(envelope);
	char *text = json_text_sorted(statement), *b64 = crypto_base64(text, strlen(text)), *all,
	     *out;

	json_object_set_new(o, "payload", json_string(b64));
	free(b64);
	free(text);
	all = json_text_sorted(o);
	out = crypto_base64(all, strlen(all));
	free(all);
	return out;
}

json_t *made_decoded(const char *b64)
{
	struct err e;
	size_t n;
	char *text = crypto_base64_decode(b64, strlen(b64), &n, &e);
	json_t *j = json_parse(text, n, &e);

	free(text);
	assert_non_null(j);
	return j;
}
