#include "wipe/proto.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/data/json.h"
#include "base/mem.h"
#include "base/str.h"

/*
 * The limits below apply to a single message. The receiver checks what a message means (orders.c in
 * the agent, controller/agent in drover).
 */
#define MAX_PEM 12288
/* Largest CA bundle for an image server in bytes. The bundle of a Linux distribution has 220 KB. */
#define MAX_BUNDLE (512 << 10)
#define MAX_FILE (256u << 10)
#define MAX_ENVELOPE (900u << 10)

const char *const proto_order_kind_names[] = {
	[PROTO_INSPECT] = "inspect",
	[PROTO_WIPE] = "wipe",
	[PROTO_VERIFY] = "verify",
	[PROTO_WRITE] = "write",
	[PROTO_POWEROFF] = "poweroff",
	[PROTO_PROBE] = "probe",
	NULL,
};
const char *const proto_answer_names[] = {
	[PROTO_NOT_ASKED] = "NotAsked",
	[PROTO_SILENT] = "Silent",
	[PROTO_ANSWERED] = "Answered",
	NULL,
};
const char *const proto_write_names[] = {
	[PROTO_WRITE_IMAGE] = "image",
	[PROTO_WRITE_CONFIG] = "config",
	[PROTO_WRITE_STAMP] = "stamp",
	[PROTO_WRITE_UNSTAMP] = "unstamp",
	NULL,
};
const char *const proto_format_names[] = {"raw", "raw+zstd", NULL};
const char *const proto_report_state_names[] = {
	[PROTO_PROGRESS] = "progress",
	[PROTO_DONE] = "done",
	[PROTO_FAILED] = "failed",
	NULL,
};

static bool is_https(const char *s)
{
	return str_starts(s, "https://") && strlen(s) > strlen("https://");
}

static bool is_hex(const char *s)
{
	size_t n = strspn(s, "0123456789abcdef");

	return n >= 32 && n % 2 == 0 && !s[n];
}

static bool is_secret(const char *s)
{
	return strlen(s) == 64 && is_hex(s);
}

static bool is_digest(const char *s)
{
	uint8_t d[CRYPTO_SHA256];

	return crypto_digest_parse(s, d);
}

const struct field proto_boot_fields[] = {
	FIELD(proto_boot, endpoint, "endpoint", FIELD_STR, .required = true, .valid = is_https,
	      .want = "an https URL", .doc = "URL of drover's endpoint for agents."),
	FIELD(proto_boot, ca_pem, "ca", FIELD_STR, .required = true, .max_len = MAX_PEM,
	      .doc = "PEM certificates, the only ones that the agent trusts."),
	FIELD(proto_boot, machine, "machine", FIELD_STR, .required = true, .max_len = 253,
	      .doc = "Name of the Machine."),
	FIELD(proto_boot, operation, "operation", FIELD_STR, .required = true, .max_len = 128,
	      .doc = "Journal id of the operation that this boot belongs to."),
	FIELD(proto_boot, boot, "boot", FIELD_I64, .min = 1, .max = 1000000, .required = true,
	      .doc = "Number of the boot within the operation, from 1."),
	FIELD(proto_boot, secret, "secret", FIELD_STR, .required = true, .valid = is_secret,
	      .want = "64 hex digits",
	      .doc = "Secret with which the agent of this boot authenticates."),
	FIELD(proto_boot, wall_time, "wallTime", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "drover's clock, Unix milliseconds. The agent sets a clock that is behind, or "
		     "more than a day ahead."),
	FIELD(proto_boot, address, "address", FIELD_STR, .max_len = 18,
	      .doc = "IPv4 address and prefix length of the NIC; absent: DHCP."),
	FIELD(proto_boot, gateway, "gateway", FIELD_STR, .max_len = 15, .doc = "IPv4 gateway."),
	FIELD(proto_boot, mac, "mac", FIELD_STR, .max_len = 17,
	      .doc = "MAC of the NIC to use; absent: the first NIC with a link."),
	FIELDS_END,
};

static const struct field dmi_fields[] = {
	FIELD(proto_dmi, system_uuid, "systemUUID", FIELD_STR, .max_len = 64,
	      .doc = "SMBIOS system UUID, lower case."),
	FIELD(proto_dmi, serial, "serial", FIELD_STR, .max_len = 256,
	      .doc = "Serial number of the machine."),
	FIELD(proto_dmi, manufacturer, "manufacturer", FIELD_STR, .max_len = 256,
	      .doc = "Manufacturer of the machine."),
	FIELD(proto_dmi, product, "product", FIELD_STR, .max_len = 256,
	      .doc = "Model of the machine."),
	FIELDS_END,
};

const struct field proto_hello_fields[] = {
	FIELD(proto_hello, machine, "machine", FIELD_STR, .required = true, .max_len = 253,
	      .doc = "From the boot block."),
	FIELD(proto_hello, operation, "operation", FIELD_STR, .required = true, .max_len = 128,
	      .doc = "From the boot block."),
	FIELD(proto_hello, boot, "boot", FIELD_I64, .min = 1, .max = 1000000, .required = true,
	      .doc = "From the boot block."),
	FIELD(proto_hello, secret, "secret", FIELD_STR, .required = true, .valid = is_secret,
	      .want = "64 hex digits", .doc = "From the boot block."),
	FIELD(proto_hello, boot_id, "bootID", FIELD_STR, .required = true, .max_len = 64,
	      .doc = "The kernel's boot id."),
	FIELD(proto_hello, public_key, "publicKey", FIELD_STR, .required = true, .max_len = 64,
	      .doc = "Checks the signature of every later message."),
	FIELD(proto_hello, version, "version", FIELD_STR, .max_len = 128,
	      .doc = "Version of the agent."),
	FIELD(proto_hello, protocol, "protocol", FIELD_I64, .min = 1, .max = INT64_MAX, .def = "1",
	      .doc = "Number of the protocol between agent and drover."),
	FIELD_OBJ(proto_hello, dmi, "dmi", dmi_fields,
		  .doc = "Identity of the machine from SMBIOS."),
	FIELD(proto_hello, trust, "trust", FIELD_ENUM, .enums = wipe_trust_names,
	      .def = "\"BootNetwork\"", .doc = "Trust level of the agent, as in the evidence."),
	FIELD(proto_hello, probes, "probes", FIELD_BOOL,
	      .doc = "The agent supports the order probe."),
	FIELDS_END,
};

const struct field proto_welcome_fields[] = {
	FIELD(proto_welcome, wall_time, "wallTime", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "drover's clock, Unix milliseconds."),
	FIELDS_END,
};

static const struct field file_fields[] = {
	FIELD(proto_file, name, "name", FIELD_STR, .required = true, .max_len = 30,
	      .doc = "File name on the config drive."),
	FIELD(proto_file, content, "content", FIELD_STR, .max_len = MAX_FILE, .doc = "Text."),
	FIELDS_END,
};

/* Fields that may be zero are not required, because the encoder leaves zeros out of a message. */
const struct field proto_order_fields[] = {
	FIELD(proto_order, seq, "seq", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Sequence number of the order, for ?after=."),
	FIELD(proto_order, id, "id", FIELD_STR, .required = true, .max_len = 256,
	      .doc = "OPERATION/STEP, unique for a boot; the same id gets the same result."),
	FIELD(proto_order, fence, "fence", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Fence of the leader; lower than one seen before: refused."),
	FIELD(proto_order, kind, "kind", FIELD_ENUM, .enums = proto_order_kind_names,
	      .def = "\"inspect\"", .doc = "Kind of order."),
	FIELD(proto_order, nonce, "nonce", FIELD_STR, .max_len = 128, .valid = is_hex,
	      .want = "32 or more hex digits",
	      .doc = "Nonce from which canaries and sample positions are derived."),
	FIELD(proto_order, minimum_level, "minimumLevel", FIELD_ENUM, .enums = wipe_level_names,
	      .def = "\"Fail\"", .doc = "Minimum level; a drive below it is not stamped as clean."),
	FIELD(proto_order, minimum_level_hdd, "minimumLevelHdd", FIELD_ENUM,
	      .enums = wipe_level_names, .def = "\"Fail\"",
	      .doc = "Minimum level of spinning disks; Fail: as minimumLevel."),
	FIELD(proto_order, expected, "expected", FIELD_STRINGS, .max_items = 256,
	      .doc = "WWNs of the expected drives; empty: all drives that are seen."),
	FIELD(proto_order, noise, "noise", FIELD_STRINGS, .max_items = 256,
	      .doc = "inspect: WWNs of drives that may hold noise after their wipe."),
	FIELD(proto_order, samples, "samples", FIELD_I64, .min = 0, .max = 100000000,
	      .doc = "Random reads on each drive during verification."),
	FIELD(proto_order, cover, "cover", FIELD_STRINGS, .enums = statement_part_names,
	      .max_items = STATEMENT_PARTS,
	      .doc = "verify: parts other than drives that are overwritten as well."),
	FIELD_PTR(proto_order, evidence, "evidence", evidence_fields,
		  .doc = "verify: what drover knows; the agent adds its results and signs."),
	FIELD(proto_order, what, "what", FIELD_ENUM, .enums = proto_write_names, .def = "\"image\"",
	      .doc = "What to write."),
	FIELD(proto_order, drive, "drive", FIELD_STR, .max_len = 256, .doc = "WWN of the drive."),
	FIELD(proto_order, url, "url", FIELD_STR, .max_len = 2048, .doc = "URL of the image."),
	FIELD(proto_order, digest, "digest", FIELD_STR, .max_len = 128, .valid = is_digest,
	      .want = "sha256:<64 hex digits>", .doc = "SHA-256 of the bytes served at url."),
	FIELD(proto_order, format, "format", FIELD_ENUM, .enums = proto_format_names,
	      .def = "\"raw\"", .doc = "Format of the bytes served."),
	FIELD(proto_order, ca_pem, "ca", FIELD_STR, .max_len = MAX_BUNDLE,
	      .doc = "PEM certificates trusted for url; required when it is https."),
	FIELD_ITEMS(proto_order, files, "files", file_fields, .max_items = 8,
		    .doc = "Files of the config drive."),
	FIELD(proto_order, record, "record", FIELD_STR, .max_len = 253,
	      .doc = "Name of the WipeRecord for the stamp."),
	FIELD(proto_order, stamp, "stamp", FIELD_STR, .max_len = 128, .valid = is_digest,
	      .want = "sha256:<64 hex digits>", .doc = "Digest of the record for the stamp."),
	FIELD(proto_order, addresses, "addresses", FIELD_STRINGS, .max_items = PROTO_PROBES_MAX,
	      .max_len = 64, .doc = "probe: ADDRESS or ADDRESS:PORT of each target."),
	FIELDS_END,
};

static const struct field drive_fields[] = {
	FIELD(proto_drive, path, "path", FIELD_STR, .max_len = 64, .doc = "Device node."),
	FIELD(proto_drive, type, "type", FIELD_STR, .max_len = 32, .doc = "NVMe, SATA, SAS ..."),
	FIELD(proto_drive, model, "model", FIELD_STR, .max_len = 256, .doc = "Model."),
	FIELD(proto_drive, serial, "serial", FIELD_STR, .max_len = 256, .doc = "Serial number."),
	FIELD(proto_drive, wwn, "wwn", FIELD_STR, .required = true, .max_len = 256,
	      .doc = "Permanent identity of the drive."),
	FIELD(proto_drive, slot, "slot", FIELD_STR, .max_len = 64,
	      .doc = "Location of the drive in the machine."),
	FIELD(proto_drive, bytes, "bytes", FIELD_I64, .min = 0, .max = INT64_MAX, .doc = "Size."),
	FIELD(proto_drive, block_size, "blockSize", FIELD_I64, .min = 0, .max = 1 << 20,
	      .doc = "Logical block, bytes."),
	FIELD(proto_drive, rotational, "rotational", FIELD_BOOL, .doc = "Spinning disk."),
	FIELD(proto_drive, removable, "removable", FIELD_BOOL,
	      .doc = "Removable, as reported by the kernel."),
	FIELD(proto_drive, read_only, "readOnly", FIELD_BOOL, .doc = "Refuses writes."),
	FIELD(proto_drive, stamp, "stamp", FIELD_STR, .max_len = 128,
	      .doc = "Digest in the clean stamp found on the drive."),
	FIELD(proto_drive, stamp_record, "stampRecord", FIELD_STR, .max_len = 253,
	      .doc = "WipeRecord named by the stamp."),
	FIELD(proto_drive, fault, "fault", FIELD_STR, .max_len = 512,
	      .doc = "Why the drive is not visible completely, as by hidden sectors."),
	FIELD(proto_drive, again.clean, "cleanAgain", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "inspect with a nonce: blocks that are still as the wipe left them."),
	FIELD(proto_drive, again.dirty, "dirtyAgain", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "inspect with a nonce: blocks that differ or cannot be read."),
	FIELDS_END,
};
static const struct field nic_fields[] = {
	FIELD(proto_nic, name, "name", FIELD_STR, .max_len = 32, .doc = "Interface."),
	FIELD(proto_nic, mac, "mac", FIELD_STR, .max_len = 17, .doc = "Hardware address."),
	FIELD(proto_nic, driver, "driver", FIELD_STR, .max_len = 64, .doc = "Kernel driver."),
	FIELD(proto_nic, link, "link", FIELD_BOOL, .doc = "Has a carrier."),
	FIELD(proto_nic, mbit, "mbit", FIELD_I64, .min = 0, .max = 100000000,
	      .doc = "Speed in Mbit/s; 0: unknown."),
	FIELDS_END,
};
static const struct field gpu_fields[] = {
	FIELD(proto_gpu, address, "address", FIELD_STR, .max_len = 32, .doc = "PCI address."),
	FIELD(proto_gpu, id, "id", FIELD_STR, .max_len = 16, .doc = "PCI vendor:device."),
	FIELDS_END,
};
static const struct field controller_fields[] = {
	FIELD(proto_controller, address, "address", FIELD_STR, .required = true, .max_len = 32,
	      .doc = "PCI address."),
	FIELD(proto_controller, id, "id", FIELD_STR, .required = true, .max_len = 16,
	      .doc = "PCI vendor:device."),
	FIELD(proto_controller, class, "class", FIELD_STR, .max_len = 8, .doc = "PCI class."),
	FIELD(proto_controller, driver, "driver", FIELD_STR, .max_len = 64,
	      .doc = "Kernel driver; absent: drives behind the controller are not seen."),
	FIELD(proto_controller, fault, "fault", FIELD_STR, .max_len = 512,
	      .doc = "Why not everything that the controller holds is visible."),
	FIELDS_END,
};

const struct field proto_inventory_fields[] = {
	FIELD_OBJ(proto_inventory, dmi, "dmi", dmi_fields,
		  .doc = "Identity of the machine from SMBIOS."),
	FIELD(proto_inventory, cpus, "cpus", FIELD_I64, .min = 0, .max = 65536,
	      .doc = "Logical processors."),
	FIELD(proto_inventory, memory_bytes, "memoryBytes", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Memory that the kernel manages, in bytes."),
	FIELD_ITEMS(proto_inventory, drives, "drives", drive_fields, .max_items = 256,
		    .doc = "Every drive seen."),
	FIELD_ITEMS(proto_inventory, nics, "nics", nic_fields, .max_items = 64,
		    .doc = "Every network interface with a device."),
	FIELD_ITEMS(proto_inventory, gpus, "gpus", gpu_fields, .max_items = 64,
		    .doc = "Every PCI display controller."),
	FIELD_ITEMS(proto_inventory, controllers, "controllers", controller_fields,
		    .max_items = PROTO_CONTROLLERS_MAX, .doc = "Every PCI storage controller."),
	FIELDS_END,
};

static const struct field probe_fields[] = {
	FIELD(proto_probe, address, "address", FIELD_STR, .required = true, .max_len = 64,
	      .doc = "Address as in the order."),
	FIELD(proto_probe, answer, "answer", FIELD_ENUM, .enums = proto_answer_names,
	      .def = "\"NotAsked\"", .doc = "Result of the probe."),
	FIELDS_END,
};

const struct field proto_report_fields[] = {
	FIELD(proto_report, seq, "seq", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "seq of the order."),
	FIELD(proto_report, id, "id", FIELD_STR, .required = true, .max_len = 256,
	      .doc = "id of the order."),
	FIELD(proto_report, fence, "fence", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "fence of the order."),
	FIELD(proto_report, state, "state", FIELD_ENUM, .enums = proto_report_state_names,
	      .def = "\"progress\"", .doc = "State of the order."),
	FIELD(proto_report, phase, "phase", FIELD_STR, .max_len = 64, .doc = "Phase in progress."),
	FIELD(proto_report, done_bytes, "doneBytes", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Bytes done in this phase, all drives."),
	FIELD(proto_report, total_bytes, "totalBytes", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Bytes to do in this phase; 0: unknown."),
	FIELD(proto_report, bytes_per_s, "bytesPerSecond", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Rate since the phase began."),
	FIELD(proto_report, reason, "reason", FIELD_STR, .max_len = 64,
	      .doc = "Why it failed: one word of a closed list."),
	FIELD(proto_report, message, "message", FIELD_STR, .max_len = 1024,
	      .doc = "Human-readable text."),
	FIELD_PTR(proto_report, inventory, "inventory", proto_inventory_fields,
		  .doc = "Result of inspect."),
	FIELD_ITEMS(
		proto_report, devices, "devices", evidence_device_fields, .max_items = 256,
		.doc = "Result of wipe: one entry for each drive; before the end, its progress."),
	FIELD(proto_report, envelope, "envelope", FIELD_STR, .max_len = MAX_ENVELOPE,
	      .doc = "Result of verify: evidence signed by the agent."),
	FIELD(proto_report, drive, "drive", FIELD_STR, .max_len = 256,
	      .doc = "Result of write: WWN of the drive written."),
	FIELD(proto_report, nonce, "nonce", FIELD_STR, .max_len = 128,
	      .doc = "Result of probe: nonce of the order."),
	FIELD_ITEMS(proto_report, answers, "answers", probe_fields, .max_items = PROTO_PROBES_MAX,
		    .doc = "Result of probe: one for each address."),
	FIELDS_END,
};

char *proto_encode(const struct field *f, const void *msg)
{
	OWN_JSON j = fields_encode(f, msg);

	return json_text(j);
}

int proto_decode(const struct field *f, const char *text, size_t len, void *out, struct arena *a,
		 struct err *e)
{
	if (len > PROTO_MAX_MESSAGE)
		return err_set(e, ERR_PROTOCOL, 0, "message of %zu bytes, at most %u are allowed",
			       len, PROTO_MAX_MESSAGE);
	OWN_JSON j = json_parse(text, len, e);

	if (!j)
		return -1;
	if (!json_is_object(j))
		return err_set(e, ERR_PROTOCOL, 0, "message is not a JSON object");
	return fields_decode(f, j, NULL, out, a, e);
}

int proto_boot_write(const struct proto_boot *b, char *out, struct err *e)
{
	char *text = proto_encode(proto_boot_fields, b);
	size_t len = strlen(text);
	int rc = 0;

	if (len > PROTO_BOOT_BLOCK) {
		rc = err_set(e, ERR_INVALID, 0, "boot block would need %zu bytes, it has %d", len,
			     PROTO_BOOT_BLOCK);
	} else {
		memset(out, ' ', PROTO_BOOT_BLOCK);
		memcpy(out, text, len);
	}
	secret_wipe(text, len);
	free(text);
	return rc;
}

int proto_boot_read(const char *data, size_t len, struct arena *a, struct proto_boot *out,
		    struct err *e)
{
	if (len > PROTO_BOOT_BLOCK)
		return err_set(e, ERR_PROTOCOL, 0, "boot block of %zu bytes, want at most %d", len,
			       PROTO_BOOT_BLOCK);
	while (len && data[len - 1] == ' ')
		len--;
	if (len == strlen(PROTO_BOOT_MARK) && !memcmp(data, PROTO_BOOT_MARK, len))
		return err_set(e, ERR_NOT_FOUND, 0,
			       "boot block is not filled in: the image was not served by drover");
	if (proto_decode(proto_boot_fields, data, len, out, a, e) < 0)
		return err_wrap(e, "boot block");
	return 0;
}

void proto_boot_secret(const struct secret *key, const char *machine_uid, const char *operation,
		       int64_t boot, char out[static 65])
{
	uint8_t mac[CRYPTO_SHA256];
	char *text = mem_printf("%s\n%s\n%lld", machine_uid, operation, (long long)boot);

	crypto_hmac_sha256(key, text, strlen(text), mac);
	str_hex(out, mac, sizeof(mac));
	free(text);
}

/* Initialises b with the signed bytes: "METHOD TARGET\n" + body. */
static void put_signed(struct buf *b, const char *method, const char *target, const void *body,
		       size_t len)
{
	buf_init(b, PROTO_MAX_MESSAGE + 4096);
	buf_printf(b, "%s %s\n", method, target);
	if (len)
		buf_put(b, body, len);
}

char *proto_sign(const struct crypto_key *k, const char *method, const char *target,
		 const void *body, size_t len)
{
	struct buf b;
	uint8_t sig[CRYPTO_SIGNATURE];

	put_signed(&b, method, target, body, len);
	crypto_sign(k, b.data, b.len, sig);
	buf_done(&b);
	return crypto_base64(sig, sizeof(sig));
}

bool proto_signed(const struct crypto_key *k, const char *method, const char *target,
		  const void *body, size_t len, const char *signature)
{
	struct buf b;
	struct err e;
	size_t n = 0;
	bool ok;

	if (!signature || strlen(signature) > 2 * CRYPTO_SIGNATURE || len > PROTO_MAX_MESSAGE)
		return false;
	char *sig = crypto_base64_decode(signature, strlen(signature), &n, &e);

	if (!sig)
		return false;
	put_signed(&b, method, target, body, len);
	ok = n == CRYPTO_SIGNATURE && !b.over &&
	     crypto_verify(k, b.data, b.len, (const uint8_t *)sig);
	buf_done(&b);
	free(sig);
	return ok;
}

/*
 * Clean stamp: text, zeros, and in the last 32 bytes the SHA-256 of everything before these bytes,
 * so that a partly overwritten block is not a stamp. A stamp proves nothing by itself: drover
 * compares the digest in the stamp's text with the digest of the machine's newest WipeRecord.
 */
#define STAMP_MAGIC "drover clean stamp 1\n"
#define STAMP_TEXT (PROTO_STAMP_SIZE - CRYPTO_SHA256)

void proto_stamp_write(const char *record, const char *digest, char out[static PROTO_STAMP_SIZE])
{
	uint8_t sum[CRYPTO_SHA256];

	memset(out, 0, PROTO_STAMP_SIZE);
	snprintf(out, STAMP_TEXT, STAMP_MAGIC "%s\n%s\n", record, digest);
	crypto_sha256(out, STAMP_TEXT, sum);
	memcpy(out + STAMP_TEXT, sum, sizeof(sum));
}

/* Returns the next line at *at and advances *at. NULL: no complete line follows, or the line is
 * empty, too long, or has spaces or unprintable characters. */
static const char *stamp_line(const char **at, const char *end, size_t max, struct arena *a)
{
	const char *nl = memchr(*at, '\n', (size_t)(end - *at));
	const char *line = *at;

	if (!nl || nl == line || (size_t)(nl - line) > max)
		return NULL;
	for (const char *c = line; c < nl; c++)
		if (!isgraph((unsigned char)*c))
			return NULL;
	*at = nl + 1;
	return arena_strndup(a, line, (size_t)(nl - line));
}

bool proto_stamp_read(const char *block, struct arena *a, const char **record, const char **digest)
{
	const char *at = block + strlen(STAMP_MAGIC), *end = block + STAMP_TEXT;
	uint8_t sum[CRYPTO_SHA256];

	if (memcmp(block, STAMP_MAGIC, strlen(STAMP_MAGIC)) != 0)
		return false;
	crypto_sha256(block, STAMP_TEXT, sum);
	if (memcmp(sum, block + STAMP_TEXT, sizeof(sum)) != 0)
		return false;

	const char *r = stamp_line(&at, end, 253, a);
	const char *d = r ? stamp_line(&at, end, CRYPTO_DIGEST_TEXT, a) : NULL;

	if (!d || !is_digest(d))
		return false;
	*record = r;
	*digest = d;
	return true;
}
