#ifndef WIPE_PROTO_H
#define WIPE_PROTO_H

#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/crypto.h"
#include "base/err.h"
#include "base/data/fields.h"
#include "wipe/evidence.h"

/*
 * proto: the protocol between drover-agent, on the machine, and drover.
 *
 * The agent is always the client, over TLS with the CA from its boot block.
 *
 *   POST /agent/v1/hello              struct proto_hello -> struct proto_welcome
 *   GET  /agent/v1/order?after=N      long poll (30 s): 200 struct proto_order, or 204 none
 *   POST /agent/v1/report             struct proto_report -> 204
 *
 * Every request carries
 *   Drover-Agent: MACHINE/BOOTID
 *   Drover-Signature: base64 of Ed25519 over "METHOD TARGET\n" + body
 * The signing key is the private key of the public key in hello. A second hello with the same
 * secret, key and boot id gets the same welcome again.
 *
 * The fence of an order is a number that is higher with each leader. The agent refuses an order
 * with a fence lower than the highest fence seen. An order whose id was already done is answered
 * with the stored result. An agent gets no order of a kind that its hello does not offer
 * (`probes`). A 401 or 403 ends the agent's session; after 10 minutes of such replies the agent
 * powers off.
 *
 * The boot block (docs/agent.md) is JSON padded with spaces to exactly PROTO_BOOT_BLOCK bytes. The
 * boot ISO contains the block once, contiguously; in user space the block is the file
 * /.extra/credentials/drover.cred. In a newly built image the block is PROTO_BOOT_MARK followed by
 * spaces. By this text the server finds the offset at which to patch the image.
 */
#define PROTO_BOOT_BLOCK 16384
#define PROTO_BOOT_MARK "{\"drover-boot-block\":\"unpatched\"}"
#define PROTO_HELLO_PATH "/agent/v1/hello"
#define PROTO_ORDER_PATH "/agent/v1/order"
#define PROTO_REPORT_PATH "/agent/v1/report"
#define PROTO_HEADER_AGENT "Drover-Agent"
#define PROTO_HEADER_SIGNATURE "Drover-Signature"
#define PROTO_MAX_MESSAGE (1u << 20)
/* Largest size of hello in bytes; smaller than other messages because its sender is not
 * authenticated yet. */
#define PROTO_MAX_HELLO 8192

/* Number of this protocol. drover accepts the hello of another release's agent if both have the
 * same number. Raise it with a change that the agent or the drover of an earlier release would
 * misunderstand; a new optional field needs no new number. */
#define PROTO_VERSION 1

struct proto_boot {
	/* Address of drover's agent server: https://host:port. */
	const char *endpoint;
	/* The only CA that the agent trusts for drover, as PEM. */
	const char *ca_pem;
	/* Name of the Machine. */
	const char *machine;
	/* Journal id of the operation that ordered this boot. */
	const char *operation;
	/* Number of the boot within that operation, from 1. */
	int64_t boot;
	/* 64 hex digits: HMAC-SHA256(boot key, "uid\noperation\nboot"). */
	const char *secret;
	/* Time at which the boot block was written, Unix ms. The agent sets its clock to this time
	 * if the clock is earlier, or ahead of it by more than a day. */
	int64_t wall_time;
	/* Address of the NIC, such as 10.1.0.17/24; NULL: DHCP. */
	const char *address;
	const char *gateway;
	/* MAC of the NIC to use; NULL: the first NIC with a link. */
	const char *mac;
};
extern const struct field proto_boot_fields[];
/* Writes the boot block into out (PROTO_BOOT_BLOCK bytes). ERR_INVALID: the boot block does not
 * fit. */
int proto_boot_write(const struct proto_boot *b, char *out, struct err *e)
	__attribute__((warn_unused_result));
int proto_boot_read(const char *data, size_t len, struct arena *a, struct proto_boot *out,
		    struct err *e) __attribute__((warn_unused_result));
/* Derives the boot secret from the boot key `key`, and writes its text into out. */
void proto_boot_secret(const struct secret *key, const char *machine_uid, const char *operation,
		       int64_t boot, char out[static 65]);

struct proto_dmi {
	/* System UUID from SMBIOS, in lower case. */
	const char *system_uuid;
	const char *serial, *manufacturer, *product;
};

struct proto_hello {
	const char *machine, *operation;
	int64_t boot;
	const char *secret;
	/* Contents of /proc/sys/kernel/random/boot_id. */
	const char *boot_id;
	/* Public half of the agent's key: "ed25519:...". */
	const char *public_key;
	/* Release of the agent, for display. */
	const char *version;
	/* PROTO_VERSION of the agent; agents of protocol 1 may leave it out. */
	int64_t protocol;
	struct proto_dmi dmi;
	/* What the agent's identity rests on; value of enum wipe_trust. */
	int trust;
	/* True: the agent supports the order probe. */
	bool probes;
};
extern const struct field proto_hello_fields[];

struct proto_welcome {
	int64_t wall_time;
};
extern const struct field proto_welcome_fields[];

enum proto_order_kind {
	PROTO_INSPECT,
	PROTO_WIPE,
	PROTO_VERIFY,
	PROTO_WRITE,
	PROTO_POWEROFF,
	PROTO_PROBE
};
/* Names of enum proto_order_kind: inspect wipe verify write poweroff probe, NULL. */
extern const char *const proto_order_kind_names[];
enum proto_write { PROTO_WRITE_IMAGE, PROTO_WRITE_CONFIG, PROTO_WRITE_STAMP, PROTO_WRITE_UNSTAMP };
/* Names of enum proto_write: image config stamp unstamp, NULL. */
extern const char *const proto_write_names[];

struct proto_file {
	/* Name of the file: meta-data, user-data, network-config or drover-join.cfg. */
	const char *name;
	/* Contents of the file, text. */
	const char *content;
};

struct proto_order {
	/* Sequence number of the order; the agent sends it as ?after= of its next poll. */
	int64_t seq;
	/* OPERATION/STEP, unique within a boot; the same id yields the same result. */
	const char *id;
	int64_t fence;
	/* Kind of order: enum proto_order_kind. Later fields name the kinds that use them. */
	int kind;

	/* Hex text. wipe, verify: secret from which the canaries (test blocks) are derived:
	 * HMAC(nonce, wwn, offset). inspect: nonce of the last wipe, for checking blocks of each
	 * drive again. probe: value that the report must repeat. */
	const char *nonce;
	/* wipe: level that each drive must reach, enum wipe_level. */
	int minimum_level;
	/* wipe: level that spinning disks must reach; WIPE_FAIL: minimum_level applies to them
	 * too. */
	int minimum_level_hdd;
	/* inspect: WWNs of drives that may hold random-looking data (noise) instead of only zeros
	 * or ones. */
	struct strings noise;
	/* WWNs of the drives that the machine should have; empty means every drive that is found,
	 * as at the first inspection. */
	struct strings expected;
	/* wipe, verify: number of samples read on each drive; 0 means VERIFY_SAMPLES. */
	int64_t samples;
	/* verify: names of parts other than drives (statement_part_names) that are to be
	 * overwritten too, which takes time. */
	struct strings cover;
	/* verify: the record's fields that the controller knows (machine, tenancy, attempt,
	 * previous, digests, tenant). The agent fills in the other fields and signs the record.
	 * NULL for other kinds of order. */
	struct evidence *evidence;

	/* write: what to write, enum proto_write. The members below, up to `stamp`, are for write
	 * orders only. */
	int what;
	/* image, config: WWN of the drive to write, the root device. */
	const char *drive;
	/* image: URL of the image, and digest of the bytes that the server sends, before
	 * unpacking. */
	const char *url, *digest;
	/* image: 0 raw, 1 raw+zstd (proto_format_names). */
	int format;
	/* CA of the image server as PEM. Required for an https URL, because the agent has no CA
	 * bundle. */
	const char *ca_pem;
	/* config: files of the config drive. */
	struct {
		struct proto_file *v;
		size_t n;
	} files;
	/* stamp: name of the WipeRecord, and its digest as text. */
	const char *record, *stamp;

	/* probe: addresses in the form that address_service() reads. The order does not say which
	 * of them should answer. */
	struct strings addresses;
};
#define PROTO_PROBES_MAX 512
extern const struct field proto_order_fields[];
/* Names of image formats: raw, raw+zstd, NULL. */
extern const char *const proto_format_names[];

struct proto_drive {
	/* Path of the drive's device node: /dev/nvme0n1. */
	const char *path;
	const char *type, *model, *serial, *wwn;
	/* Location of the drive, for display (wipe/slot.h); NULL: unknown. */
	const char *slot;
	/* Subsystem of an NVMe namespace (wipe/nvme.h), used inside the agent only; NULL: not
	 * NVMe. */
	const char *subsystem;
	int64_t bytes, block_size;
	bool rotational, removable, read_only;
	/* Digest text of the clean stamp found on the drive; NULL: none. */
	const char *stamp;
	const char *stamp_record;
	/* Reason for which the drive does not show all its data; NULL: the drive shows all. */
	const char *fault;
	struct {
		/* Numbers of checked blocks that still contain what the last wipe left (clean), and
		 * of all other blocks (dirty); set by an inspection with a nonce. Unreadable blocks
		 * count as dirty. */
		int64_t clean, dirty;
	} again;
};
struct proto_nic {
	const char *name, *mac, *driver;
	bool link;
	int64_t mbit;
};
struct proto_gpu {
	/* PCI address 0000:01:00.0; vendor and device id 10de:2330. */
	const char *address, *id;
};
/* A storage controller on PCI. Drives on a controller without a driver are not seen. */
struct proto_controller {
	/* PCI address 0000:00:0e.0; vendor and device id 8086:201d. */
	const char *address, *id;
	/* PCI class and programming interface: 010400. */
	const char *class;
	/* Name of the kernel driver; NULL: no driver. */
	const char *driver;
	/* Reason for which the controller does not show all its drives; NULL: it shows all. */
	const char *fault;
};
#define PROTO_CONTROLLERS_MAX 64

struct proto_inventory {
	struct proto_dmi dmi;
	int64_t cpus, memory_bytes;
	struct {
		struct proto_drive *v;
		size_t n;
	} drives;
	struct {
		struct proto_nic *v;
		size_t n;
	} nics;
	struct {
		struct proto_gpu *v;
		size_t n;
	} gpus;
	struct {
		struct proto_controller *v;
		size_t n;
	} controllers;
};
extern const struct field proto_inventory_fields[];

/* Result of probing an address by an ICMP echo, or by a TCP connection if it has a port. A refused
 * connection is an answer too: packets pass in both directions. */
enum proto_answer {
	/* The address could not be probed: nothing is known. */
	PROTO_NOT_ASKED,
	PROTO_SILENT,
	PROTO_ANSWERED,
};
/* Names of enum proto_answer: NotAsked Silent Answered, NULL. */
extern const char *const proto_answer_names[];
struct proto_probe {
	/* Address exactly as in the order. */
	const char *address;
	/* Result of the probe: enum proto_answer. */
	int answer;
};

enum proto_report_state { PROTO_PROGRESS, PROTO_DONE, PROTO_FAILED };
/* Names of enum proto_report_state: progress done failed, NULL. */
extern const char *const proto_report_state_names[];

struct proto_report {
	int64_t seq;
	/* Id of the order that this report answers. */
	const char *id;
	int64_t fence;
	int state;
	/* In progress reports: "canaries", "overwrite", "image" and so on. */
	const char *phase;
	int64_t done_bytes, total_bytes, bytes_per_s;
	/* In failed reports: a reason of the closed list (ImageMismatch, DriveFailed ...), and
	 * its explanation. A done report may have a message too: that of the first drive that
	 * failed. */
	const char *reason, *message;
	/* inspect: the machine's inventory; NULL for other kinds. */
	struct proto_inventory *inventory;
	/* Result of each drive (wipe), or progress of each drive (wipe, verify). */
	struct {
		struct evidence_device *v;
		size_t n;
	} devices;
	/* verify: evidence, signed by the agent. */
	const char *envelope;
	/* write image, config: WWN of the drive written. */
	const char *drive;
	/* probe: nonce of the order. */
	const char *nonce;
	/* probe: one answer per address, in the order's sequence. */
	struct {
		struct proto_probe *v;
		size_t n;
	} answers;
};
extern const struct field proto_report_fields[];

/* proto_encode() returns a message as JSON text (malloc'd). proto_decode() decodes a message of at
 * most PROTO_MAX_MESSAGE bytes into *out. */
char *proto_encode(const struct field *f, const void *msg);
int proto_decode(const struct field *f, const char *text, size_t len, void *out, struct arena *a,
		 struct err *e) __attribute__((warn_unused_result));

/* proto_sign() returns the value of the header Drover-Signature for a request (malloc'd).
 * proto_signed() is true if `signature` is such a value, signed by the key k. */
char *proto_sign(const struct crypto_key *k, const char *method, const char *target,
		 const void *body, size_t len);
bool proto_signed(const struct crypto_key *k, const char *method, const char *target,
		  const void *body, size_t len, const char *signature);

/* The clean stamp: one block of PROTO_STAMP_SIZE bytes at byte 0 of each drive. */
#define PROTO_STAMP_SIZE 4096
void proto_stamp_write(const char *record, const char *digest, char out[static PROTO_STAMP_SIZE]);
/* Reads the clean stamp from a block of PROTO_STAMP_SIZE bytes: sets *record and *digest, in the
 * arena. False: the block is not a stamp. */
bool proto_stamp_read(const char *block, struct arena *a, const char **record, const char **digest);

#endif
