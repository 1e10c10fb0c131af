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
 * evidence: the report of one wipe attempt, signed by the agent that made the attempt and
 * countersigned by drover.
 *
 * The envelope is DSSE (https://github.com/secure-systems-lab/dsse): JSON {payload, payloadType,
 * signatures[{keyid, sig}]}, stored as base64 text. The payload is canonical JSON (sorted keys, no
 * spaces) of an in-toto Statement v1. Its predicateType is EVIDENCE_PREDICATE; its predicate is
 * struct evidence plus "agentKey", the agent's public key, so that both signatures cover the
 * agent's identity. keyid is the public key's text ("ed25519:..."). The first signature is the
 * agent's, the second drover's. Both sign the same bytes (DSSE's pre-authentication encoding, PAE).
 */
#define EVIDENCE_PAYLOAD_TYPE "application/vnd.in-toto+json"
#define EVIDENCE_PREDICATE "https://drover.dev/wipe/v1"

/*
 * predicateType of the record of an attempt that did not complete (the agent was lost, the order
 * failed, the deadline passed). Such an attempt has no report signed by its agent, so its record
 * rests on drover alone: one signature (drover's), no "agentKey", the verdict Fail, and the cause
 * in "unfinished". The record shows that an attempt was made and never proves a wipe:
 * evidence_open() refuses it.
 */
#define EVIDENCE_UNFINISHED "https://drover.dev/wipe-unfinished/v1"

/* Result levels of NIST SP 800-88r2 and IEEE 2883, in ascending order. */
enum wipe_level { WIPE_FAIL, WIPE_CLEAR, WIPE_PURGE };
/* Names of enum wipe_level: "Fail", "Clear", "Purge", NULL. */
extern const char *const wipe_level_names[];
enum wipe_trust { WIPE_BOOT_NETWORK, WIPE_SECURE_BOOT, WIPE_QUOTE };
/* Names of enum wipe_trust: "BootNetwork", "SecureBoot", "Quote", NULL. */
extern const char *const wipe_trust_names[];

/* Parts of the machine that no erase method of a drive reaches. Every record lists these parts in
 * notCovered, except those that one of the record's statements covers; see docs/wipe.md. */
#define EVIDENCE_NOT_COVERED                                                                       \
	"GPUMemory", "SystemMemory", "Firmware", "BMC", "TPM", "NIC", "UEFIVariables",             \
		"RemovableUSB"
#define EVIDENCE_NOT_COVERED_MAX 32

/* Number of canaries on each drive, however small the drive is. A record that reports fewer is not
 * plausible. */
#define EVIDENCE_CANARIES 64
/* Number of reads of 4096 bytes that cover the first and the last MiB. */
#define EVIDENCE_EDGE_READS 512
/* EVIDENCE_AGAIN_READS: number of blocks read on each drive when the machine boots again before its
 * next use. The blocks are those of both edges, those at the positions of the canaries, and
 * EVIDENCE_AGAIN_SAMPLES samples. The drive's first block, which belongs to the edges and to the
 * canaries, is not read, because it contains the stamp. */
#define EVIDENCE_AGAIN_SAMPLES 1000
#define EVIDENCE_AGAIN_READS                                                                       \
	(EVIDENCE_EDGE_READS - 1 + EVIDENCE_CANARIES - 1 + EVIDENCE_AGAIN_SAMPLES)
/* Number of samples per drive in a verification. With 10000 samples a residue of 0.046 % of the
 * drive is found with a probability of 99 %. */
#define EVIDENCE_SAMPLES 10000

struct evidence_device {
	/* NVMe, SATA, SAS, MMC, Virtio and so on. */
	const char *type;
	const char *model, *serial, *wwn;
	int64_t bytes;
	/* True for a spinning disk; false for every other medium, which counts as flash. */
	bool rotational;
	/* Erase method used, such as SanitizeCryptoErase, FormatUserData or Overwrite; None: no
	 * method was used. */
	const char *technique;
	/* Results of the erase commands in order of sending; the last is that of `technique`. 0 is
	 * success. Empty: no command was sent, or no result is known. */
	struct ints raw_status;
	/* Bytes processed by `technique` at the last report, for progress reports and for an
	 * attempt that did not complete. The value does not show how much data remains. */
	int64_t erased_bytes;
	/* enum wipe_level. */
	int level;
	/* Reason if level is Fail: EraseUnverified, DriveFailed and so on; otherwise NULL. */
	const char *reason;
	/* Explanation of the reason: the drive's result and the command. */
	const char *message;
	struct {
		int64_t planted, found;
	} canaries;
	struct {
		int64_t clean, dirty, unreadable;
	} reads;
};
extern const struct field evidence_device_fields[];
/* Returns the highest level that a technique can earn (IEEE 2883-2022); Fail: not an erase
 * technique. */
int evidence_highest_level(const char *technique);
/* True if the technique may leave random-looking data (noise); false if it leaves all zeros or all
 * ones. */
bool evidence_leaves_noise(const char *technique);
/* Returns the shortest plausible duration, in ms, for the technique on a drive of this medium and
 * size. */
int64_t evidence_least_ms(const struct evidence_device *d);
/* Checks that the level of `d` can be true. The technique must earn the level; the drive's last
 * result must be success; took_ms, an upper bound of the whole attempt, must be at least
 * evidence_least_ms(). The counts must show that nothing is left: all canaries planted and none
 * found, both edges and `samples` samples read, each clean. ERR_DENIED names what is not
 * plausible. */
int evidence_bears_out(const struct evidence_device *d, int64_t samples, int64_t took_ms,
		       struct err *e) __attribute__((warn_unused_result));

/* What an administrator let go without a wipe. */
enum evidence_waived {
	/* a drive that left spec.drives of the Machine */
	WAIVED_DRIVE,
	/* a drive that only the BMC lists, and that spec.unseenDrives accounts for */
	WAIVED_UNSEEN_DRIVE,
	/* the machine was taken over as serving, without a wipe before */
	WAIVED_ADOPTION,
	/* the machine was retired without a wipe after its last tenant */
	WAIVED_RETIREMENT,
};
/* Names of enum evidence_waived: "Drive", "UnseenDrive", "Adoption", "Retirement", NULL. */
extern const char *const evidence_waived_names[];

/* Maximum number of waivers of one machine. */
#define EVIDENCE_WAIVERS_MAX 128

/* The decision of an administrator that a wipe is not needed. */
struct evidence_waiver {
	/* enum evidence_waived */
	int what;
	/* The drive, as spec.drives or the BMC names it; NULL: all drives of the machine, or not
	 * known. */
	const char *wwn, *serial;
	/* User who decided. */
	const char *by;
	/* Unix ms, by the clock of that user's computer. */
	int64_t time;
	/* Reason that the user gave; NULL: none. */
	const char *reason;
	/* Tenancy in which the decision was made; for an adoption, the one that it began. */
	int64_t tenancy;
};
extern const struct field evidence_waiver_fields[];
/* Returns one sentence about the waiver, in the arena: "drive S1 (eui.1) left the machine without a
 * wipe: alice, 2026-12-01T10:00:00Z, shredded". The texts are those of the record: they may contain
 * any character. */
const char *evidence_waiver_text(const struct evidence_waiver *w, struct arena *a);

struct evidence {
	struct {
		const char *name, *uid, *system_uuid, *serial;
	} machine;
	/* Number of the tenancy that this wipe ends. */
	int64_t tenancy;
	int64_t attempt;
	/* Tenant that the machine served last; empty: no tenant before. */
	struct {
		const char *name, *uid;
	} virtual_cluster;
	/* The machine's last record; empty: none. */
	struct {
		const char *name, *digest;
	} previous;
	const char *nonce_digest, *policy_digest;
	/* Unix ms, whole seconds. */
	int64_t start_time, end_time;
	/* enum wipe_level: at most the lowest level of all devices. */
	int verdict;
	/* What the agent's identity rests on; value of enum wipe_trust. */
	int agent_trust;
	struct {
		int64_t expected, seen;
		/* WWNs of expected drives that were not found, and of found drives that were not
		 * expected. */
		struct strings missing, extra;
	} inventory;
	struct {
		struct evidence_device *v;
		size_t n;
	} devices;
	/* Names of parts that the wipe does not cover: GPUMemory, BMC and so on. */
	struct strings not_covered;
	/* Waivers of this tenancy and of the one before. Empty: none. */
	struct {
		struct evidence_waiver *v;
		size_t n;
	} waivers;
	/* Statements on parts that are not drives. Empty for agents that make no statements. */
	struct {
		struct statement *v;
		size_t n;
	} statements;
	/* Why the attempt did not complete, so that the record has no agent's signature; NULL: the
	 * agent signed it. */
	const char *unfinished;
};
/* Rows of a field table for a struct `type_` that contains a struct evidence as its member
 * `member_`, such as WipeRecord.spec. */
extern const struct field evidence_machine_fields[], evidence_cluster_fields[],
	evidence_previous_fields[], evidence_inventory_fields[];
#define EVIDENCE_ROWS(type_, member_)                                                              \
	FIELD_OBJ(type_, member_.machine, "machine", evidence_machine_fields, .required = true,    \
		  .doc = "The machine whose drives were wiped."),                                  \
		FIELD(type_, member_.tenancy, "tenancy", FIELD_I64, .min = 0, .max = INT64_MAX,    \
		      .required = true,                                                            \
		      .doc = "Serial number of the tenancy (use of the machine by one tenant; "    \
			     "status.tenancy of the Machine) that this wipe ends."),               \
		FIELD(type_, member_.attempt, "attempt", FIELD_I64, .min = 1, .max = 1000000,      \
		      .required = true,                                                            \
		      .doc = "Serial number of the wipe attempt within the tenancy, from 1."),     \
		FIELD_OBJ(type_, member_.virtual_cluster, "virtualCluster",                        \
			  evidence_cluster_fields,                                                 \
			  .doc = "The tenant that the machine served last."),                      \
		FIELD_OBJ(type_, member_.previous, "previous", evidence_previous_fields,           \
			  .doc = "The machine's WipeRecord before this one."),                     \
		FIELD(type_, member_.nonce_digest, "nonceDigest", FIELD_STR, .max_len = 128,       \
		      .doc = "SHA-256 digest of the nonce from which the canaries were derived."), \
		FIELD(type_, member_.policy_digest, "policyDigest", FIELD_STR, .max_len = 128,     \
		      .doc = "SHA-256 digest of the wipe policy that applied to the attempt."),    \
		FIELD(type_, member_.start_time, "startTime", FIELD_TIME,                          \
		      .doc = "Time at which the attempt began."),                                  \
		FIELD(type_, member_.end_time, "endTime", FIELD_TIME,                              \
		      .doc = "Time at which the verification ended, or at which an incomplete "    \
			     "attempt was given up."),                                             \
		FIELD(type_, member_.verdict, "verdict", FIELD_ENUM, .enums = wipe_level_names,    \
		      .required = true,                                                            \
		      .doc = "Result of the attempt: the lowest level of all drives. Fail: also "  \
			     "if the attempt did not complete, or if a drive was found that was "  \
			     "not expected."),                                                     \
		FIELD(type_, member_.agent_trust, "agentTrust", FIELD_ENUM,                        \
		      .enums = wipe_trust_names, .required = true,                                 \
		      .doc = "Trust level of the agent (the program that wiped the machine). "     \
			     "BootNetwork: the agent connected over the provisioning network, "    \
			     "and no hardware measured its boot. SecureBoot, Quote: no agent of "  \
			     "this version reaches these levels."),                                \
		FIELD_OBJ(type_, member_.inventory, "inventory", evidence_inventory_fields,        \
			  .doc = "Expected drives compared with drives found."),                   \
		FIELD_ITEMS(type_, member_.devices, "devices", evidence_device_fields,             \
			    .max_items = 256, .doc = "One entry for each drive."),                 \
		FIELD(type_, member_.not_covered, "notCovered", FIELD_STRINGS,                     \
		      .max_items = EVIDENCE_NOT_COVERED_MAX,                                       \
		      .doc = "Parts of the machine that this wipe does not cover."),               \
		FIELD_ITEMS(type_, member_.waivers, "waivers", evidence_waiver_fields,             \
			    .max_items = EVIDENCE_WAIVERS_MAX,                                     \
			    .doc = "What administrators let go without a wipe, in this tenancy "   \
				   "and the one before."),                                         \
		FIELD_ITEMS(type_, member_.statements, "statements", statement_fields,             \
			    .max_items = STATEMENT_PARTS,                                          \
			    .doc = "Results for parts of the machine other than drives."),         \
		FIELD(type_, member_.unfinished, "unfinished", FIELD_STR,                          \
		      .doc = "Reason for which the attempt did not complete. The record of such "  \
			     "an attempt is signed by drover only, not by the agent. Not set if "  \
			     "the attempt completed.")
extern const struct field evidence_fields[];

/* True if part, a name of EVIDENCE_NOT_COVERED, is covered by a statement. */
bool evidence_covers(const struct evidence *ev, const char *part);

/* Returns an upper bound of the attempt's duration in ms, because the record's times are truncated
 * to whole seconds. */
int64_t evidence_took_ms(const struct evidence *ev);

/* Returns the envelope (malloc'd base64), signed with the agent's key. */
char *evidence_sign(const struct evidence *ev, const struct crypto_key *agent);
/* Returns the envelope with drover's signature added (malloc'd). NULL: the envelope is malformed,
 * does not have exactly one signature (ERR_PROTOCOL), or its signature is invalid. */
char *evidence_countersign(const char *envelope, const struct crypto_key *key, struct err *e);
/* Checks the signatures of an envelope and decodes it into *out. agent_public: key of the
 * agent's session. drover_publics: the n accepted countersigners; n 0: the envelope must not be
 * countersigned yet. ERR_DENIED names the invalid signature; ERR_PROTOCOL names what is
 * malformed. */
int evidence_open(const char *envelope, const char *agent_public, const char *const *drover_publics,
		  size_t n, struct arena *a, struct evidence *out, struct err *e)
	__attribute__((warn_unused_result));
/* Opens an envelope as evidence_open() does, but with the agent's key that the envelope's first
 * keyid names. For auditors: they may trust that key because drover's countersignature covers
 * it. */
int evidence_open_countersigned(const char *envelope, const char *const *drover_publics, size_t n,
				struct arena *a, struct evidence *out, struct err *e)
	__attribute__((warn_unused_result));
/* Returns the envelope of an unfinished attempt, with drover's signature only. */
char *evidence_sign_unfinished(const struct evidence *ev, const struct crypto_key *drover);
/* True if the envelope declares itself unfinished; signatures are not checked. */
bool evidence_is_unfinished(const char *envelope);
/* Opens the envelope of an unfinished attempt. Checks and errors are those of
 * evidence_open_countersigned(), except that there is no agent's signature. */
int evidence_open_unfinished(const char *envelope, const char *const *drover_publics, size_t n,
			     struct arena *a, struct evidence *out, struct err *e)
	__attribute__((warn_unused_result));
/* Compares two records. ERR_DENIED names the first field ("spec.devices[0].level") that differs. */
int evidence_compare(const struct evidence *shown, const struct evidence *signed_, struct err *e)
	__attribute__((warn_unused_result));
/* Compares the JSON of a WipeRecord's spec, except its envelope, with the signed record. A member
 * that this version does not know, and a number written as text, also count as differences. Errors
 * as for evidence_compare(). */
int evidence_compare_shown(const json_t *spec, const struct evidence *signed_, struct err *e)
	__attribute__((warn_unused_result));
/* Computes the SHA-256 of the envelope text. The clean stamp and `previous` of the next record
 * contain this digest. */
void evidence_digest(const char *envelope, uint8_t out[static CRYPTO_SHA256]);

#endif
