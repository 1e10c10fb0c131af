#include "wipe/evidence.h"

#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/data/json.h"
#include "base/mem.h"
#include "base/str.h"

/*
 *   envelope text = base64( {"payload":P,"payloadType":T,"signatures":[agent, drover]} )
 *   P             = base64( statement )
 *   signed bytes  = "DSSEv1" len(T) T len(statement) statement, one space between
 *
 * Both JSON texts must be canonical, so that each has only one spelling: the signatures cover the
 * statement's text, and the next record stores the digest of the envelope's text.
 */
#define STATEMENT_TYPE "https://in-toto.io/Statement/v1"
/* Largest envelope in bytes: an API server stores no larger object. */
#define ENVELOPE_MAX (1u << 20)

const char *const wipe_level_names[] = {"Fail", "Clear", "Purge", NULL};
const char *const evidence_waived_names[] = {"Drive", "UnseenDrive", "Adoption", "Retirement",
					     NULL};
const char *const wipe_trust_names[] = {"BootNetwork", "SecureBoot", "Quote", NULL};

/* --- tables --- */

/* Row for a count. A count is required, because zero is a finding: the record must contain it, not
 * imply it by a missing member. */
#define COUNT(outer_, member_, name_, doc_)                                                        \
	FIELD_IN(evidence_device, outer_, member_, name_, FIELD_I64, .min = 0, .max = INT64_MAX,   \
		 .required = true, .doc = (doc_))

static const struct field canary_fields[] = {
	COUNT(canaries, planted, "planted", "Number of canaries written before the wipe."),
	COUNT(canaries, found, "found",
	      "Number of canaries found after the wipe. 0: none was left."),
	FIELDS_END,
};

static const struct field read_fields[] = {
	COUNT(reads, clean, "clean", "Number of samples without residual data."),
	COUNT(reads, dirty, "dirty", "Number of samples with residual data."),
	COUNT(reads, unreadable, "unreadable", "Number of samples that the drive could not read."),
	FIELDS_END,
};

const struct field evidence_device_fields[] = {
	FIELD(evidence_device, type, "type", FIELD_STR, .max_len = 32,
	      .doc = "Type of the drive: NVMe, SATA, SAS, MMC, Virtio and so on."),
	FIELD(evidence_device, model, "model", FIELD_STR, .max_len = 128,
	      .doc = "Model of the drive."),
	FIELD(evidence_device, serial, "serialNumber", FIELD_STR, .max_len = 128,
	      .doc = "Serial number of the drive."),
	FIELD(evidence_device, wwn, "wwn", FIELD_STR, .max_len = 256,
	      .doc = "World-wide name of the drive, or an ID that drover uses instead if the drive "
		     "has none."),
	FIELD(evidence_device, bytes, "bytes", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Capacity in bytes."),
	FIELD(evidence_device, rotational, "rotational", FIELD_BOOL,
	      .doc = "Whether the drive is a spinning disk. All other drives count as flash."),
	FIELD(evidence_device, technique, "technique", FIELD_STR, .max_len = 64,
	      .doc = "Erase method: SanitizeCryptoErase, Overwrite and so on. None: no method was "
		     "used."),
	FIELD(evidence_device, raw_status, "rawStatus", FIELD_INTS, .max_items = 16,
	      .doc = "Result codes of the erase commands in the order of sending. The last code "
		     "belongs to the method in the field technique. 0: success."),
	FIELD(evidence_device, erased_bytes, "erasedBytes", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Number of bytes erased, according to the agent's last report. Set only if "
		     "the attempt did not complete. This number is no proof of erasure."),
	FIELD(evidence_device, level, "level", FIELD_ENUM, .enums = wipe_level_names,
	      .required = true, .doc = "Level that was reached and verified (NIST SP 800-88)."),
	FIELD(evidence_device, reason, "reason", FIELD_STR, .max_len = 256,
	      .doc = "Reason code if level is Fail, such as EraseUnverified."),
	FIELD(evidence_device, message, "message", FIELD_STR, .max_len = 256,
	      .doc = "Human-readable details of reason: the drive's result and the command."),
	FIELD_OBJ(evidence_device, canaries, "canaries", canary_fields, .required = true,
		  .doc = "Counts of canaries. A canary is a block with known content, derived from "
			 "the nonce. It is written before the wipe and must not be found after "
			 "it."),
	FIELD_OBJ(evidence_device, reads, "reads", read_fields, .required = true,
		  .doc = "Counts of samples: blocks that were read back after the wipe."),
	FIELDS_END,
};

const struct field evidence_machine_fields[] = {
	FIELD_IN(evidence, machine, name, "name", FIELD_STR, .required = true, .max_len = 253,
		 .doc = "Name of the Machine."),
	FIELD_IN(evidence, machine, uid, "uid", FIELD_STR, .max_len = 64,
		 .doc = "UID of the Machine."),
	FIELD_IN(evidence, machine, system_uuid, "systemUUID", FIELD_STR, .max_len = 64,
		 .doc = "System UUID that the agent read."),
	FIELD_IN(evidence, machine, serial, "serialNumber", FIELD_STR, .max_len = 128,
		 .doc = "Serial number that the agent read."),
	FIELDS_END,
};

const struct field evidence_cluster_fields[] = {
	FIELD_IN(evidence, virtual_cluster, name, "name", FIELD_STR, .max_len = 253,
		 .doc = "Name of the VirtualCluster; absent if the machine had no tenant before."),
	FIELD_IN(evidence, virtual_cluster, uid, "uid", FIELD_STR, .max_len = 64,
		 .doc = "UID of the VirtualCluster."),
	FIELDS_END,
};

const struct field evidence_previous_fields[] = {
	FIELD_IN(evidence, previous, name, "name", FIELD_STR, .max_len = 253,
		 .doc = "Name of the WipeRecord; absent in the first record."),
	FIELD_IN(evidence, previous, digest, "digest", FIELD_STR, .max_len = 128,
		 .doc = "SHA-256 digest of the envelope of the previous WipeRecord."),
	FIELDS_END,
};

const struct field evidence_inventory_fields[] = {
	FIELD_IN(evidence, inventory, expected, "expected", FIELD_I64, .min = 0, .max = 100000,
		 .required = true, .doc = "Number of drives that were expected."),
	FIELD_IN(evidence, inventory, seen, "seen", FIELD_I64, .min = 0, .max = 100000,
		 .required = true, .doc = "Number of drives that were found."),
	FIELD_IN(evidence, inventory, missing, "missing", FIELD_STRINGS, .max_items = 256,
		 .doc = "WWNs of expected drives that were not found."),
	FIELD_IN(evidence, inventory, extra, "extra", FIELD_STRINGS, .max_items = 256,
		 .doc = "WWNs of found drives that were not expected."),
	FIELDS_END,
};

const struct field evidence_waiver_fields[] = {
	FIELD(evidence_waiver, what, "what", FIELD_ENUM, .enums = evidence_waived_names,
	      .required = true,
	      .doc = "What was let go without a wipe. Drive: a drive that left spec.drives of the "
		     "Machine. UnseenDrive: a drive that only the BMC lists. Adoption: the "
		     "machine was taken over while it served. Retirement: the machine was retired "
		     "after its last tenant."),
	FIELD(evidence_waiver, wwn, "wwn", FIELD_STR, .max_len = 256,
	      .doc = "World-wide name of the drive, or the ID by which the BMC lists it. Not set: "
		     "all drives of the machine."),
	FIELD(evidence_waiver, serial, "serialNumber", FIELD_STR, .max_len = 128,
	      .doc = "Serial number of the drive, if known."),
	FIELD(evidence_waiver, by, "by", FIELD_STR, .required = true, .max_len = 256,
	      .doc = "User who decided."),
	FIELD(evidence_waiver, time, "at", FIELD_TIME, .required = true,
	      .doc = "Time of the decision, by the clock of that user's computer."),
	FIELD(evidence_waiver, reason, "reason", FIELD_STR, .max_len = 512,
	      .doc = "Reason that the user gave."),
	FIELD(evidence_waiver, tenancy, "tenancy", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .required = true,
	      .doc = "Tenancy (status.tenancy of the Machine) in which the decision was made; for "
		     "an adoption, the one that it began."),
	FIELDS_END,
};

const char *evidence_waiver_text(const struct evidence_waiver *w, struct arena *a)
{
	static const char *const done[] = {
		[WAIVED_DRIVE] = "left the machine without a wipe",
		[WAIVED_UNSEEN_DRIVE] = "is listed by the BMC only, and was not wiped",
		[WAIVED_ADOPTION] = "was taken over in service, without a wipe before",
		[WAIVED_RETIREMENT] = "was retired without a wipe after its last tenant",
	};
	char time[STR_TIME_SIZE];
	const char *drive = str_or(w->serial, w->wwn),
		   *id = w->serial && w->wwn ? arena_printf(a, " (%s)", w->wwn) : "";

	return arena_printf(a, "%s%s%s %s: %s, %s%s%s", drive ? "drive " : "the machine",
			    str_or(drive, ""), id, done[w->what], w->by, str_time(time, w->time),
			    w->reason ? ", " : "", str_or(w->reason, ""));
}

/* Struct that contains the evidence, as EVIDENCE_ROWS() requires. */
struct holder {
	struct evidence ev;
};

const struct field evidence_fields[] = {
	EVIDENCE_ROWS(holder, ev),
	FIELDS_END,
};

/* --- statement --- */

/* Returns one subject for each device of the predicate: the digest of the device's identity. The
 * records of a drive can be found by this digest. */
static json_t *subjects(const json_t *predicate)
{
	json_t *list = json_array(), *d;
	size_t i;

	json_array_foreach (json_at(predicate, "devices"), i, d) {
		char *id = mem_printf("%s|%s|%s", str_or(json_str_at(d, "model"), ""),
				      str_or(json_str_at(d, "serialNumber"), ""),
				      str_or(json_str_at(d, "wwn"), ""));
		uint8_t digest[CRYPTO_SHA256];
		char hex[2 * CRYPTO_SHA256 + 1];

		crypto_sha256(id, strlen(id), digest);
		str_hex(hex, digest, sizeof(digest));
		json_array_append_new(
			list, json_pack("{s:s, s:{s:s}}", "name", id, "digest", "sha256", hex));
		free(id);
	}
	return list;
}

/*
 * Returns the statement as canonical JSON. The agent's key is part of the signed text; otherwise
 * the holder of a countersigned record could replace the agent's signature. agent NULL: an
 * unfinished attempt.
 */
static char *statement_text(const struct evidence *ev, const struct crypto_key *agent)
{
	json_t *predicate = fields_encode(evidence_fields, ev), *subject = subjects(predicate);
	char public[CRYPTO_PUBLIC_TEXT];
	OWN_JSON j = json_pack("{s:s, s:s, s:o, s:o}", "_type", STATEMENT_TYPE, "predicateType",
			       agent ? EVIDENCE_PREDICATE : EVIDENCE_UNFINISHED, "predicate",
			       predicate, "subject", subject);

	if (agent)
		json_object_set_new(predicate, "agentKey",
				    json_string(crypto_key_public(agent, public)));
	return json_text_sorted(j);
}

/* Initialises b with the signed bytes (DSSE's pre-authentication encoding). */
static void encode_pae(struct buf *b, const char *payload, size_t len)
{
	buf_init(b, SIZE_MAX);
	buf_printf(b, "DSSEv1 %zu %s %zu ", strlen(EVIDENCE_PAYLOAD_TYPE), EVIDENCE_PAYLOAD_TYPE,
		   len);
	buf_put(b, payload, len);
}

static json_t *make_signature(const struct crypto_key *key, const char *payload, size_t len)
{
	char public[CRYPTO_PUBLIC_TEXT];
	uint8_t raw[CRYPTO_SIGNATURE];
	struct buf pae;
	json_t *j;
	char *sig;

	encode_pae(&pae, payload, len);
	crypto_sign(key, pae.data, pae.len, raw);
	buf_done(&pae);
	sig = crypto_base64(raw, sizeof(raw));
	j = json_pack("{s:s, s:s}", "keyid", crypto_key_public(key, public), "sig", sig);
	free(sig);
	return j;
}

static char *envelope_text(const json_t *envelope)
{
	char *text = json_text_sorted(envelope), *b64 = crypto_base64(text, strlen(text));

	free(text);
	return b64;
}

/* Returns the envelope with one signature; takes ownership of payload. */
static char *signed_by(char *payload, const struct crypto_key *key)
{
	char *b64 = crypto_base64(payload, strlen(payload));
	OWN_JSON j =
		json_pack("{s:s, s:s, s:[o]}", "payload", b64, "payloadType", EVIDENCE_PAYLOAD_TYPE,
			  "signatures", make_signature(key, payload, strlen(payload)));

	free(b64);
	free(payload);
	return envelope_text(j);
}

char *evidence_sign(const struct evidence *ev, const struct crypto_key *agent)
{
	return signed_by(statement_text(ev, agent), agent);
}

char *evidence_sign_unfinished(const struct evidence *ev, const struct crypto_key *drover)
{
	return signed_by(statement_text(ev, NULL), drover);
}

/* --- envelope --- */

struct opened {
	json_t *envelope;
	/* Borrowed from envelope. */
	json_t *signatures;
	char *payload;
	size_t len;
};

static void opened_done(struct opened *o)
{
	json_decref(o->envelope);
	free(o->payload);
}

/* Parses a JSON object; refuses text that is not canonical. */
static json_t *parse_canonical(const char *text, size_t len, const char *what, struct err *e)
{
	json_t *j = json_parse(text, len, e);
	char *again;
	bool same;

	if (!j) {
		e->kind = ERR_PROTOCOL;
		err_note_wrap(e, "%s", what);
		return NULL;
	}
	again = json_text_sorted(j);
	same = strlen(again) == len && memcmp(again, text, len) == 0;
	free(again);
	if (same && json_is_object(j))
		return j;
	json_decref(j);
	err_note(e, ERR_PROTOCOL, 0, "%s: not a canonical JSON object", what);
	return NULL;
}

static bool is_signature(const json_t *s)
{
	return json_object_size(s) == 2 && json_str_at(s, "keyid") && json_str_at(s, "sig");
}

static int split(struct opened *o, struct err *e)
{
	const char *payload = json_str_at(o->envelope, "payload");
	struct err ignored;
	size_t i;
	json_t *s;

	if (json_object_size(o->envelope) != 3 || !payload ||
	    !str_eq(json_str_at(o->envelope, "payloadType"), EVIDENCE_PAYLOAD_TYPE))
		return err_set(e, ERR_PROTOCOL, 0,
			       "envelope: want payload, signatures and "
			       "payloadType " EVIDENCE_PAYLOAD_TYPE);
	o->payload = crypto_base64_decode(payload, strlen(payload), &o->len, &ignored);
	if (!o->payload)
		return err_set(e, ERR_PROTOCOL, 0, "envelope: payload is not base64");
	o->signatures = json_at(o->envelope, "signatures");
	if (json_array_size(o->signatures) < 1 || json_array_size(o->signatures) > 2)
		return err_set(e, ERR_PROTOCOL, 0, "envelope: want one or two signatures");
	json_array_foreach (o->signatures, i, s)
		if (!is_signature(s))
			return err_set(e, ERR_PROTOCOL, 0,
				       "envelope: signature %zu: want keyid and sig", i);
	return 0;
}

/* Decodes an envelope into *o without checking its signatures. -1 with *e: there is nothing to
 * free. */
static int open_envelope(const char *envelope, struct opened *o, struct err *e)
{
	struct err ignored;
	size_t len;
	char *text;

	*o = (struct opened){0};
	if (!envelope || strnlen(envelope, ENVELOPE_MAX + 1) > ENVELOPE_MAX)
		return err_set(e, ERR_PROTOCOL, 0, "envelope: %s",
			       envelope ? "larger than 1 MiB" : "absent");
	text = crypto_base64_decode(envelope, strlen(envelope), &len, &ignored);
	if (!text)
		return err_set(e, ERR_PROTOCOL, 0, "envelope: not base64");
	o->envelope = parse_canonical(text, len, "envelope", e);
	free(text);
	if (!o->envelope)
		return -1;
	if (split(o, e) == 0)
		return 0;
	opened_done(o);
	return -1;
}

/* Checks signature i of the envelope with the given public key. whose: "agent's" or "drover's", for
 * the error text. */
static int check_signature(const struct opened *o, size_t i, const char *public, const char *whose,
			   struct err *e)
{
	const json_t *s = json_array_get(o->signatures, i);
	const char *sig = json_str_at(s, "sig");
	OWN(crypto_key) key = NULL;
	struct err ignored;
	struct buf pae;
	size_t len;
	char *raw;
	bool good;

	if (!str_eq(json_str_at(s, "keyid"), public))
		return err_set(e, ERR_DENIED, 0, "%s signature is by another key", whose);
	key = crypto_key_from_public(public, &ignored);
	if (!key)
		return err_set(e, ERR_DENIED, 0, "%s key is malformed", whose);
	raw = crypto_base64_decode(sig, strlen(sig), &len, &ignored);
	encode_pae(&pae, o->payload, o->len);
	good = raw && len == CRYPTO_SIGNATURE &&
	       crypto_verify(key, pae.data, pae.len, (const uint8_t *)raw);
	buf_done(&pae);
	free(raw);
	if (!good)
		return err_set(e, ERR_DENIED, 0, "%s signature is bad", whose);
	return 0;
}

static const char *keyid_at(const struct opened *o, size_t i)
{
	return json_str_at(json_array_get(o->signatures, i), "keyid");
}

/* Checks the agent's signature first, so that an invalid envelope is never countersigned. */
char *evidence_countersign(const char *envelope, const struct crypto_key *key, struct err *e)
{
	struct opened o;
	char *text = NULL;

	if (open_envelope(envelope, &o, e) < 0)
		return NULL;
	if (json_array_size(o.signatures) != 1) {
		err_note(e, ERR_PROTOCOL, 0, "envelope: already countersigned");
	} else if (check_signature(&o, 0, keyid_at(&o, 0), "agent's", e) == 0) {
		json_array_append_new(o.signatures, make_signature(key, o.payload, o.len));
		text = envelope_text(o.envelope);
	}
	opened_done(&o);
	return text;
}

/* --- opening an envelope ---------------------------------------------------------------------- */

/* Checks that signature i is valid and made with one of drover's n keys. */
static int check_ours(const struct opened *o, size_t i, const char *const *publics, size_t n,
		      struct err *e)
{
	for (size_t k = 0; k < n; k++)
		if (str_eq(publics[k], keyid_at(o, i)))
			return check_signature(o, i, publics[k], "drover's", e);
	return err_set(e, ERR_DENIED, 0, "drover's signature is by an unknown key");
}

static int check_signatures(const struct opened *o, const char *agent_public,
			    const char *const *drover_publics, size_t n, struct err *e)
{
	size_t want = n > 0 ? 2 : 1;

	if (json_array_size(o->signatures) != want)
		return err_set(e, ERR_DENIED, 0,
			       want == 2 ? "drover's signature is missing"
					 : "drover's signature is present too early");
	if (check_signature(o, 0, agent_public, "agent's", e) < 0)
		return -1;
	return want == 1 ? 0 : check_ours(o, 1, drover_publics, n, e);
}

/* Checks that the verdict does not exceed any device's level. An unfinished attempt must have a
 * reason and the verdict Fail. */
static int check_verdict(const struct evidence *ev, bool unfinished, struct err *e)
{
	if (unfinished && (!ev->unfinished || ev->verdict != WIPE_FAIL))
		return err_set(e, ERR_PROTOCOL, 0,
			       "predicate.unfinished: want a reason, and the verdict Fail");
	if (!unfinished && ev->unfinished)
		return err_set(e, ERR_PROTOCOL, 0,
			       "predicate.unfinished: is set, but an agent signed");
	if (!ev->devices.n && ev->verdict != WIPE_FAIL)
		return err_set(e, ERR_PROTOCOL, 0, "predicate.verdict: %s, but there is no device",
			       wipe_level_names[ev->verdict]);
	for (size_t i = 0; i < ev->devices.n; i++)
		if (ev->devices.v[i].level < ev->verdict)
			return err_set(e, ERR_PROTOCOL, 0,
				       "predicate.verdict: %s, but devices[%zu] is %s",
				       wipe_level_names[ev->verdict], i,
				       wipe_level_names[ev->devices.v[i].level]);
	return 0;
}

bool evidence_covers(const struct evidence *ev, const char *part)
{
	const struct strings one = {&part, 1};

	return statement_parts(&one) & statement_covered(ev->statements.v, ev->statements.n);
}

/* Checks that no part covered by a statement is also listed in notCovered, and that the counts of
 * each statement match its outcome. */
static int check_statements(const struct evidence *ev, struct err *e)
{
	if (statement_check(ev->statements.v, ev->statements.n, e) < 0)
		return err_wrap(e, "predicate");
	for (size_t i = 0; i < ev->not_covered.n; i++)
		if (evidence_covers(ev, ev->not_covered.v[i]))
			return err_set(e, ERR_PROTOCOL, 0,
				       "predicate.notCovered[%zu]: %s, which a statement covers", i,
				       ev->not_covered.v[i]);
	return 0;
}

/* Decodes the signed statement into *out. Refuses members that this version of drover does not
 * know, because they could not be compared with the published WipeRecord. */
static int decode_statement(const struct opened *o, bool unfinished, struct arena *a,
			    struct evidence *out, struct err *e)
{
	const char *type = unfinished ? EVIDENCE_UNFINISHED : EVIDENCE_PREDICATE;
	OWN_JSON j = parse_canonical(o->payload, o->len, "statement", e);
	OWN_JSON want = NULL;
	struct evidence ev = {0};
	json_t *predicate;

	if (!j)
		return -1;
	if (json_object_size(j) != 4 || !str_eq(json_str_at(j, "_type"), STATEMENT_TYPE) ||
	    !str_eq(json_str_at(j, "predicateType"), type))
		return err_set(e, ERR_PROTOCOL, 0, "statement: want an in-toto statement of %s",
			       type);
	predicate = json_at(j, "predicate");
	if (!unfinished) {
		if (!str_eq(json_str_at(predicate, "agentKey"), keyid_at(o, 0)))
			return err_set(e, ERR_DENIED, 0,
				       "agent's signature is not by the key stated in agentKey");
		/* Removes agentKey before decoding, because it is not a member of struct
		 * evidence. */
		json_object_del(predicate, "agentKey");
	}
	if (fields_decode_strict(evidence_fields, predicate, "predicate", &ev, a, e) < 0) {
		e->kind = ERR_PROTOCOL;
		return -1;
	}
	want = subjects(predicate);
	if (!json_equal(json_at(j, "subject"), want))
		return err_set(e, ERR_PROTOCOL, 0, "statement: subject does not match devices");
	if (check_verdict(&ev, unfinished, e) < 0 || check_statements(&ev, e) < 0)
		return -1;
	*out = ev;
	return 0;
}

/* Opens an envelope as evidence_open() does; agent_public NULL: accepts the agent's key that the
 * envelope names. */
static int open_evidence(const char *envelope, const char *agent_public,
			 const char *const *drover_publics, size_t n, struct arena *a,
			 struct evidence *out, struct err *e)
{
	struct opened o;
	int rc;

	if (open_envelope(envelope, &o, e) < 0)
		return -1;
	rc = check_signatures(&o, agent_public ? agent_public : keyid_at(&o, 0), drover_publics, n,
			      e);
	if (rc == 0)
		rc = decode_statement(&o, false, a, out, e);
	opened_done(&o);
	return rc;
}

int evidence_open(const char *envelope, const char *agent_public, const char *const *drover_publics,
		  size_t n, struct arena *a, struct evidence *out, struct err *e)
{
	return open_evidence(envelope, str_or(agent_public, "none"), drover_publics, n, a, out, e);
}

int evidence_open_countersigned(const char *envelope, const char *const *drover_publics, size_t n,
				struct arena *a, struct evidence *out, struct err *e)
{
	/* Refuses n 0 here, because for open_evidence() n 0 means an envelope without
	 * countersignature. */
	if (n == 0)
		return err_set(e, ERR_DENIED, 0, "no key of drover to check the signature with");
	return open_evidence(envelope, NULL, drover_publics, n, a, out, e);
}

bool evidence_is_unfinished(const char *envelope)
{
	OWN_JSON j = NULL;
	struct opened o;
	struct err e;
	bool is;

	if (open_envelope(envelope, &o, &e) < 0)
		return false;
	j = json_parse(o.payload, o.len, &e);
	is = str_eq(json_str_at(j, "predicateType"), EVIDENCE_UNFINISHED);
	opened_done(&o);
	return is;
}

int evidence_open_unfinished(const char *envelope, const char *const *drover_publics, size_t n,
			     struct arena *a, struct evidence *out, struct err *e)
{
	struct opened o;
	int rc;

	if (open_envelope(envelope, &o, e) < 0)
		return -1;
	rc = json_array_size(o.signatures) == 1
		     ? check_ours(&o, 0, drover_publics, n, e)
		     : err_set(e, ERR_PROTOCOL, 0, "envelope: want only drover's signature");
	if (rc == 0)
		rc = decode_statement(&o, true, a, out, e);
	opened_done(&o);
	return rc;
}

/* --- comparing --- */

/* True if a and b differ; appends the path of the first difference to *path. */
static bool differs(const json_t *a, const json_t *b, struct buf *path)
{
	size_t len = path->len;
	const char *key;
	json_t *v;

	if (json_is_object(a) && json_is_object(b)) {
		json_object_foreach ((json_t *)a, key, v) {
			buf_printf(path, ".%s", key);
			if (differs(v, json_object_get(b, key), path))
				return true;
			path->len = len;
		}
		json_object_foreach ((json_t *)b, key, v) {
			buf_printf(path, ".%s", key);
			if (!json_object_get(a, key))
				return true;
			path->len = len;
		}
		return false;
	}
	if (json_is_array(a) && json_is_array(b)) {
		size_t n = json_array_size(a), m = json_array_size(b);

		for (size_t i = 0; i < n || i < m; i++) {
			buf_printf(path, "[%zu]", i);
			if (differs(json_array_get(a, i), json_array_get(b, i), path))
				return true;
			path->len = len;
		}
		return false;
	}
	return !a || !b || !json_equal(a, b);
}

static int compare(const json_t *shown, const struct evidence *signed_, struct err *e)
{
	OWN_JSON b = fields_encode(evidence_fields, signed_);
	struct buf path;
	int rc = 0;

	buf_init(&path, 1024);
	buf_puts(&path, "spec");
	if (differs(shown, b, &path))
		rc = err_set(e, ERR_DENIED, 0, "%s: not what was signed", path.data);
	buf_done(&path);
	return rc;
}

int evidence_compare(const struct evidence *shown, const struct evidence *signed_, struct err *e)
{
	OWN_JSON a = fields_encode(evidence_fields, shown);

	return compare(a, signed_, e);
}

int evidence_compare_shown(const json_t *spec, const struct evidence *signed_, struct err *e)
{
	OWN_JSON a = json_copy((json_t *)spec);

	json_object_del(a, "envelope");
	return compare(a, signed_, e);
}

void evidence_digest(const char *envelope, uint8_t out[static CRYPTO_SHA256])
{
	crypto_sha256(envelope, strlen(envelope), out);
}
