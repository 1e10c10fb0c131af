#ifndef WIPE_EVIDENCE_H
#define WIPE_EVIDENCE_H

#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/crypto.h"
#include "base/err.h"
#include "base/data/fields.h"
#include "base/data/json.h"
#include "wipe/statement.h"

/*
 * evidence: what one wipe attempt did and found, signed by the agent that did
 * it and countersigned by drover.
 *
 * The envelope is DSSE (https://github.com/secure-systems-lab/dsse): JSON
 * {payload, payloadType, signatures[{keyid, sig}]}, written here as base64 text.
 * The payload is canonical JSON (sorted keys, no spaces) of an in-toto Statement v1
 * whose predicateType is EVIDENCE_PREDICATE and whose predicate is the struct below and "agentKey",
 * the agent's public key: so both signatures say which agent it was.
 * keyid is the public key's text ("ed25519:...").  The first signature is the agent's, the second
 * drover's; both are over the same PAE bytes.
 */
#define EVIDENCE_PAYLOAD_TYPE "application/vnd.in-toto+json"
#define EVIDENCE_PREDICATE "https://drover.dev/wipe/v1"

/*
 * An attempt that did not come to its end (the agent was lost, the order failed, the deadline
 * passed) has nothing that its agent signed. Its record is drover's word alone: the same envelope
 * with the predicateType below, one signature, drover's, no "agentKey", the verdict Fail and in
 * "unfinished" why. It says that an attempt was made and is never proof of a wipe: evidence_open()
 * refuses it.
 */
#define EVIDENCE_UNFINISHED "https://drover.dev/wipe-unfinished/v1"

/* What NIST SP 800-88r2 / IEEE 2883 call the result.  In order: higher is better. */
enum wipe_level { WIPE_FAIL, WIPE_CLEAR, WIPE_PURGE };
/* "Fail", "Clear", "Purge", NULL */
extern const char *const wipe_level_names[];
enum wipe_trust { WIPE_BOOT_NETWORK, WIPE_SECURE_BOOT, WIPE_QUOTE };
/* "BootNetwork", "SecureBoot", "Quote", NULL */
extern const char *const wipe_trust_names[];

/* What no drive's technique touches, named in every record but for what a statement of it covers;
 * see docs/wipe.md. */
#define EVIDENCE_NOT_COVERED                                                                       \
	"GPUMemory", "SystemMemory", "Firmware", "BMC", "TPM", "NIC", "UEFIVariables",             \
		"RemovableUSB"
#define EVIDENCE_NOT_COVERED_MAX 32

/* What is done to each drive, however small, and so the least that a proof of its wipe shows. */
#define EVIDENCE_CANARIES 64
#define EVIDENCE_EDGE_READS 512 /* the first and the last MiB, by 4096 bytes */
/* What is read of each drive when the machine comes up again before its next use: both edges and
 * the places of the canaries but for the first block, which holds the stamp, and so many
 * samples. */
#define EVIDENCE_AGAIN_SAMPLES 1000
#define EVIDENCE_AGAIN_READS                                                                       \
	(EVIDENCE_EDGE_READS - 1 + EVIDENCE_CANARIES - 1 + EVIDENCE_AGAIN_SAMPLES)
#define EVIDENCE_SAMPLES 10000 /* find a residue of 0.046 % of the drive with 99 % */

struct evidence_device {
	/* NVMe, SATA, SAS, MMC, Virtio ... */
	const char *type;
	const char *model, *serial, *wwn;
	int64_t bytes;
	/* a spinning disk; all else counts as flash */
	bool rotational;
	/* SanitizeCryptoErase, FormatCrypto, FormatUserData, Overwrite, None */
	const char *technique;
	/* what it answered to each command that was to erase it, in order, the technique's last; 0:
	 * success. Empty: none was sent, or what it answered is not known */
	struct ints raw_status;
	/* of an attempt without an end, and on the way: how far the technique was when it was heard
	 * of last; says nothing of what is left */
	int64_t erased_bytes;
	/* enum wipe_level */
	int level;
	/* when level is Fail: EraseUnverified, DriveFailed, ... */
	const char *reason;
	/* the same for people: what it answered, and to what */
	const char *message;
	struct {
		int64_t planted, found;
	} canaries;
	struct {
		int64_t clean, dirty, unreadable;
	} reads;
};
extern const struct field evidence_device_fields[];
/* The best that a technique can earn (IEEE 2883-2022); Fail: it is no technique that erases. */
int evidence_highest_level(const char *technique);
/* What it leaves behind may be noise; else it is constant. */
bool evidence_leaves_noise(const char *technique);
/* No drive of its medium and size is done with its technique in less. */
int64_t evidence_least_ms(const struct evidence_device *d);
/* Can its level be true? Its technique earns that much, the drive's last answer was success, it
 * took no less than evidence_least_ms(), and its counts say that nothing is left: all canaries
 * planted and none found, both edges and so many samples read, each clean. took_ms: the whole
 * attempt, at most. ERR_DENIED tells what cannot be. */
int evidence_bears_out(const struct evidence_device *d, int64_t samples, int64_t took_ms,
		       struct err *e) __attribute__((warn_unused_result));

struct evidence {
	struct {
		const char *name, *uid, *system_uuid, *serial;
	} machine;
	/* the one that this ends */
	int64_t tenancy;
	int64_t attempt;
	struct {
		const char *name, *uid;
	} virtual_cluster; /* empty: none before */
	struct {
		const char *name, *digest;
	} previous; /* last record of this machine; empty: none */
	const char *nonce_digest, *policy_digest;
	/* Unix ms, whole seconds */
	int64_t start_time, end_time;
	/* enum wipe_level: the worst device's */
	int verdict;
	/* enum wipe_trust */
	int agent_trust;
	struct {
		int64_t expected, seen;
		/* WWNs */
		struct strings missing, extra;
	} inventory;
	struct {
		struct evidence_device *v;
		size_t n;
	} devices;
	/* GPUMemory, BMC, ... */
	struct strings not_covered;
	struct {
		struct statement *v;
		size_t n;
	} statements; /* of parts that are no drives; none in records of agents that make none */
	/* why there is no agent's signature; NULL: there is one */
	const char *unfinished;
};
/* Rows for a table whose struct holds a struct evidence as `member_` (WipeRecord.spec does). */
extern const struct field evidence_machine_fields[], evidence_cluster_fields[],
	evidence_previous_fields[], evidence_inventory_fields[];
#define EVIDENCE_ROWS(type_, member_)                                                              \
	FIELD_OBJ(type_, member_.machine, "machine", evidence_machine_fields, .required = true,    \
		  .doc = "The machine whose drives were wiped."),                                  \
		FIELD(type_, member_.tenancy, "tenancy", FIELD_I64, .min = 0, .max = INT64_MAX,    \
		      .required = true, .doc = "The tenancy that this wipe ends."),                \
		FIELD(type_, member_.attempt, "attempt", FIELD_I64, .min = 1, .max = 1000000,      \
		      .required = true, .doc = "Counts the attempts for one tenancy, from 1."),    \
		FIELD_OBJ(type_, member_.virtual_cluster, "virtualCluster",                        \
			  evidence_cluster_fields,                                                 \
			  .doc = "The tenant that the machine served last."),                      \
		FIELD_OBJ(type_, member_.previous, "previous", evidence_previous_fields,           \
			  .doc = "The record before this one of the same machine."),               \
		FIELD(type_, member_.nonce_digest, "nonceDigest", FIELD_STR, .max_len = 128,       \
		      .doc = "SHA-256 of the nonce from which canaries were derived."),            \
		FIELD(type_, member_.policy_digest, "policyDigest", FIELD_STR, .max_len = 128,     \
		      .doc = "SHA-256 of the wipe policy that was in force."),                     \
		FIELD(type_, member_.start_time, "startTime", FIELD_TIME,                          \
		      .doc = "When the attempt began."),                                           \
		FIELD(type_, member_.end_time, "endTime", FIELD_TIME,                              \
		      .doc = "When verification ended."),                                          \
		FIELD(type_, member_.verdict, "verdict", FIELD_ENUM, .enums = wipe_level_names,    \
		      .required = true, .doc = "The worst device's level."),                       \
		FIELD(type_, member_.agent_trust, "agentTrust", FIELD_ENUM,                        \
		      .enums = wipe_trust_names, .required = true,                                 \
		      .doc = "How far the agent itself is to be believed."),                       \
		FIELD_OBJ(type_, member_.inventory, "inventory", evidence_inventory_fields,        \
			  .doc = "Expected drives against seen ones."),                            \
		FIELD_ITEMS(type_, member_.devices, "devices", evidence_device_fields,             \
			    .max_items = 256, .doc = "One entry for each drive."),                 \
		FIELD(type_, member_.not_covered, "notCovered", FIELD_STRINGS,                     \
		      .max_items = EVIDENCE_NOT_COVERED_MAX,                                       \
		      .doc = "What this wipe says nothing about."),                                \
		FIELD_ITEMS(type_, member_.statements, "statements", statement_fields,             \
			    .max_items = STATEMENT_PARTS,                                          \
			    .doc = "What was done to parts of the machine that are no drives."),   \
		FIELD(type_, member_.unfinished, "unfinished", FIELD_STR,                          \
		      .doc = "Why the attempt did not come to its end: no agent signed, drover alone did.")
extern const struct field evidence_fields[];

/* A name of EVIDENCE_NOT_COVERED that a statement covers all the same. */
bool evidence_covers(const struct evidence *ev, const char *part);

/* The longest that the attempt took: its times are cut to whole seconds. */
int64_t evidence_took_ms(const struct evidence *ev);

/* Envelope text (malloc'd base64), signed by the agent's key. */
char *evidence_sign(const struct evidence *ev, const struct crypto_key *agent);
/* Add drover's signature; ERR_PROTOCOL if the envelope is not one with exactly one signature. */
char *evidence_countersign(const char *envelope, const struct crypto_key *key, struct err *e);
/* Check the signatures and decode.  agent_public: the key of the agent session.  drover_publics:
 * acceptable countersigners, n of them; 0: the envelope must not be countersigned yet.
 * ERR_DENIED names which signature is bad; ERR_PROTOCOL what is malformed. */
int evidence_open(const char *envelope, const char *agent_public, const char *const *drover_publics,
		  size_t n, struct arena *a, struct evidence *out, struct err *e)
	__attribute__((warn_unused_result));
/* As evidence_open, but takes the agent's key from the envelope's first keyid: for auditors, who
 * learn it from there because drover's countersignature vouches for it. */
int evidence_open_countersigned(const char *envelope, const char *const *drover_publics, size_t n,
				struct arena *a, struct evidence *out, struct err *e)
	__attribute__((warn_unused_result));
/* The envelope of an attempt that is not finished, with drover's signature alone. */
char *evidence_sign_unfinished(const struct evidence *ev, const struct crypto_key *drover);
/* It says so itself; no signature was looked at. */
bool evidence_is_unfinished(const char *envelope);
/* As evidence_open_countersigned(), for those alone. */
int evidence_open_unfinished(const char *envelope, const char *const *drover_publics, size_t n,
			     struct arena *a, struct evidence *out, struct err *e)
	__attribute__((warn_unused_result));
/* ERR_DENIED naming the first field ("spec.devices[0].level") in which they differ. */
int evidence_compare(const struct evidence *shown, const struct evidence *signed_, struct err *e)
	__attribute__((warn_unused_result));
/* As evidence_compare(), with the JSON of a WipeRecord's spec: a member that the tables do not know
 * and a number that is written as text differ too. */
int evidence_compare_shown(const json_t *spec, const struct evidence *signed_, struct err *e)
	__attribute__((warn_unused_result));
/* SHA-256 of the envelope text: what the clean stamp and `previous` carry. */
void evidence_digest(const char *envelope, uint8_t out[static CRYPTO_SHA256]);

#endif
