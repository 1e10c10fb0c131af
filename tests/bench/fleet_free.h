#ifndef TESTS_BENCH_FLEET_FREE_H
#define TESTS_BENCH_FLEET_FREE_H

#include "wipe/evidence.h"

/*
 * fleet_free: free machines for fleet.h. Each has its wipe record, signed by an agent and by the
 * evidence key in the host cluster's Secrets, so that pods can get the machine.
 */

/* Returns the key that countersigns wipe records, and puts its Secret into the host cluster, as the
 * controller would have done. */
static inline struct crypto_key *fleet_evidence_key(struct fleet *f)
{
	struct crypto_key *key = crypto_key_new();
	OWN(secret) pem = crypto_key_pem(key);
	char *b64 = crypto_base64(secret_expose(pem), secret_len(pem));
	OWN(arena) a = arena_new();

	fleet_put(f, &f->host, "secrets/drover-system/drover-evidence-key",
		  arena_printf(a,
			       "{'apiVersion': 'v1', 'kind': 'Secret', 'metadata': {'name': "
			       "'drover-evidence-key',"
			       " 'namespace': 'drover-system', 'uid': 'evidence'}, 'data': "
			       "{'private.pem': '%s'}}",
			       b64));
	free(b64);
	return key;
}

static inline char *fleet_envelope(const struct fleet *f, unsigned m, const char *uuid,
				   struct evidence *ev, struct arena *a)
{
	static int64_t success[] = {0};
	static const char *not_covered[] = {EVIDENCE_NOT_COVERED};
	static struct evidence_device drive;
	char *one, *both;
	struct err e;

	drive = (struct evidence_device){.type = "NVMe",
					 .model = "Micron 7450",
					 .serial = "22A",
					 .wwn = arena_printf(a, "eui.%08x", m),
					 .bytes = 960197124096,
					 .technique = "SanitizeCryptoErase",
					 .raw_status = {success, 1},
					 .level = WIPE_PURGE,
					 .canaries = {64, 0},
					 .reads = {10512, 0, 0}};
	*ev = (struct evidence){
		.machine = {arena_printf(a, "m-%u", m), arena_printf(a, "uid-m-%u", m), uuid,
			    arena_printf(a, "S%u", m)},
		.tenancy = 2,
		.attempt = 1,
		.nonce_digest = "sha256:11",
		.policy_digest = "sha256:22",
		.start_time = 1793520000000,
		.end_time = 1793520070000,
		.verdict = WIPE_PURGE,
		.agent_trust = WIPE_BOOT_NETWORK,
		.inventory = {.expected = 1, .seen = 1},
		.devices = {&drive, 1},
		.not_covered = {not_covered, sizeof(not_covered) / sizeof(not_covered[0])},
	};
	one = evidence_sign(ev, f->agent_key);
	both = evidence_countersign(one, f->evidence_key, &e);
	free(one);
	if (!both)
		fleet_die(e.text);
	return both;
}

static inline void fleet_record(struct fleet *f, unsigned m, const char *uuid, struct arena *a)
{
	struct wipe_record r = {0};
	char *envelope = fleet_envelope(f, m, uuid, &r.spec.evidence, a), *text;
	OWN_JSON o = NULL;

	r.spec.envelope = envelope;
	o = fields_encode(object_kinds[OBJECT_WIPE_RECORD].fields, &r);
	json_object_set_new(o, "apiVersion", json_string(OBJECT_API_VERSION));
	json_object_set_new(o, "kind", json_string("WipeRecord"));
	json_object_del(o, "metadata");
	text = json_text(o);
	fleet_put(f, &f->host, arena_printf(a, "wiperecords.drover.dev/m-%u-2-1", m),
		  arena_printf(a, "{'metadata': {'name': 'm-%u-2-1', 'uid': 'record-%u'}, %s", m, m,
			       text + 1));
	free(text);
	free(envelope);
}

static inline void fleet_free_machine(struct fleet *f, unsigned m, const char *uuid,
				      struct arena *a)
{
	fleet_put(f, &f->host, arena_printf(a, "machines.drover.dev/m-%u", m),
		  arena_printf(
			  a,
			  "{'apiVersion': 'drover.dev/v1alpha1', 'kind': 'Machine', 'metadata': "
			  "{'name': 'm-%u',"
			  " 'uid': 'uid-m-%u', 'generation': 1, 'finalizers': "
			  "['drover.dev/machine']},"
			  " 'spec': {'providerRef': {'name': 'rack'}, 'instanceType': 'gpu-8', "
			  "'managementPolicy': 'Manage',"
			  " 'identity': {'systemUUID': '%s', 'serialNumber': 'S%u'}, "
			  "'bootMACAddress': '52:54:00:00:%02x:%02x',"
			  " 'drives': [{'wwn': 'eui.%08x', 'bytes': 960197124096}],"
			  " 'bmc': {'address': 'http://127.0.0.1:%u/redfish/v1/Systems/%u', "
			  "'credentialsSecretRef': {'name': 'bmc-%u'},"
			  " 'tls': {'trustOnFirstUse': true}}},"
			  " 'status': {'state': 'free', 'stateSince': '2026-11-01T10:10:00Z', "
			  "'tenancy': 2, 'clean': true,"
			  " 'lastWipe': {'record': 'm-%u-2-1', 'tenancy': 2},"
			  " 'operation': {'id': '0123456789abcdef0123456789abcdef', 'fence': 3}, "
			  "'power': {'state': 'Off'},"
			  " 'identity': {'systemUUID': '%s', 'serialNumber': 'S%u'}}}",
			  m, m, uuid, m, m >> 8, m & 255, m, f->bmc.port, m, m, m, uuid, m));
	fleet_record(f, m, uuid, a);
}

#endif
