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
 * with the key whose public half was in hello. The same secret, key and boot id get the same
 * welcome again. An order with a fence lower than the highest seen is refused; an order whose id
 * was already done is answered with the same result. An agent gets no order of a kind that its
 * hello does not offer (probes). A 401 or 403 ends the agent's session: after 10 minutes of them it
 * powers off.
 *
 * The boot block (docs/agent.md): a file of exactly PROTO_BOOT_BLOCK bytes, JSON padded with
 * spaces, that is contained once and contiguously in the ISO and reaches user space as
 * /.extra/credentials/drover.cred. A fresh image contains PROTO_BOOT_MARK followed by spaces, by
 * which the server finds the offset to patch.
 */
#define PROTO_BOOT_BLOCK 16384
#define PROTO_BOOT_MARK "{\"drover-boot-block\":\"unpatched\"}"
#define PROTO_HELLO_PATH "/agent/v1/hello"
#define PROTO_ORDER_PATH "/agent/v1/order"
#define PROTO_REPORT_PATH "/agent/v1/report"
#define PROTO_HEADER_AGENT "Drover-Agent"
#define PROTO_HEADER_SIGNATURE "Drover-Signature"
#define PROTO_MAX_MESSAGE (1u << 20)
/* Limit of hello, smaller because its sender is not authenticated yet. */
#define PROTO_MAX_HELLO 8192

struct proto_boot {
	/* https://host:port. */
	const char *endpoint;
	/* Pinned: the only CA that is trusted. */
	const char *ca_pem;
	/* Name of the Machine. */
	const char *machine;
	/* Journal id of the operation that this boot belongs to. */
	const char *operation;
	/* Number of the boot within that operation, from 1. */
	int64_t boot;
	/* 64 hex digits: HMAC-SHA256(boot key, "uid\noperation\nboot"). */
	const char *secret;
	/* Unix ms; a clock that is earlier, or ahead by a day, is set. */
	int64_t wall_time;
	/* 10.1.0.17/24; NULL: DHCP. */
	const char *address;
	const char *gateway;
	/* MAC of the NIC to use; NULL: the first with a link. */
	const char *mac;
};
extern const struct field proto_boot_fields[];
/* Fills out (PROTO_BOOT_BLOCK bytes); ERR_INVALID if it does not fit. */
int proto_boot_write(const struct proto_boot *b, char *out, struct err *e)
	__attribute__((warn_unused_result));
int proto_boot_read(const char *data, size_t len, struct arena *a, struct proto_boot *out,
		    struct err *e) __attribute__((warn_unused_result));
/* Derives the secret's text from a boot key. */
void proto_boot_secret(const struct secret *key, const char *machine_uid, const char *operation,
		       int64_t boot, char out[static 65]);

struct proto_dmi {
	/* Lower case. */
	const char *system_uuid;
	const char *serial, *manufacturer, *product;
};

struct proto_hello {
	const char *machine, *operation;
	int64_t boot;
	const char *secret;
	/* /proc/sys/kernel/random/boot_id. */
	const char *boot_id;
	/* "ed25519:...". */
	const char *public_key;
	const char *version;
	struct proto_dmi dmi;
	/* enum wipe_trust. */
	int trust;
	/* Supports the order probe. */
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
/* inspect wipe verify write poweroff probe. */
extern const char *const proto_order_kind_names[];
enum proto_write { PROTO_WRITE_IMAGE, PROTO_WRITE_CONFIG, PROTO_WRITE_STAMP, PROTO_WRITE_UNSTAMP };
/* image config stamp unstamp. */
extern const char *const proto_write_names[];

struct proto_file {
	/* meta-data, user-data, network-config, drover-join.cfg. */
	const char *name;
	/* Text. */
	const char *content;
};

struct proto_order {
	/* Value for ?after=. */
	int64_t seq;
	/* OPERATION/STEP, unique within a boot; the same id yields the same result. */
	const char *id;
	int64_t fence;
	/* enum proto_order_kind. */
	int kind;

	/* wipe and verify; for inspect the nonce of the last wipe: each drive is then read again;
	 * for probe the value that its report must repeat. */
	/* Hex; canaries are HMAC(nonce, wwn, offset). */
	const char *nonce;
	/* enum wipe_level. */
	int minimum_level;
	/* For spinning disks; Fail: as minimum_level. */
	int minimum_level_hdd;
	/* inspect: WWNs of drives that may hold noise instead of only zeros or ones. */
	struct strings noise;
	/* WWNs; empty at the first inspection: every drive that is seen. */
	struct strings expected;
	/* Reads per drive in verify. */
	int64_t samples;
	/* verify: parts that are not drives (statement_part_names) to be overwritten too, which
	 * takes time. */
	struct strings cover;
	/* verify: what the controller knows (machine, tenancy, attempt, previous, digests, tenant);
	 * the agent fills in the rest and signs. NULL otherwise. */
	struct evidence *evidence;

	/* write: */
	/* enum proto_write. */
	int what;
	/* image, config: WWN of the root device. */
	const char *drive;
	/* image; digest: of the bytes served. */
	const char *url, *digest;
	/* 0 raw, 1 raw+zstd. */
	int format;
	/* Required for an https image URL, because the agent has no CA bundle. */
	const char *ca_pem;
	struct {
		struct proto_file *v;
		size_t n;
	} files; /* For config. */
	/* For stamp: name of the WipeRecord, digest text. */
	const char *record, *stamp;

	/* probe: addresses in the form that address_service() reads. The agent does not learn which
	 * of them should answer. */
	struct strings addresses;
};
#define PROTO_PROBES_MAX 512
extern const struct field proto_order_fields[];
/* raw, raw+zstd. */
extern const char *const proto_format_names[];

struct proto_drive {
	/* /dev/nvme0n1. */
	const char *path;
	const char *type, *model, *serial, *wwn;
	/* Location of the drive, for display (wipe/slot.h); NULL: unknown. */
	const char *slot;
	/* Used by the agent only: subsystem of an NVMe namespace (wipe/nvme.h); else NULL. */
	const char *subsystem;
	int64_t bytes, block_size;
	bool rotational, removable, read_only;
	/* Digest text of the clean stamp found on the drive; NULL: none. */
	const char *stamp;
	const char *stamp_record;
	/* Why the drive is not visible completely; NULL: it is. */
	const char *fault;
	struct {
		/* Blocks, for an inspection with a nonce; unreadable blocks count as dirty. */
		int64_t clean, dirty;
	} again;
};
struct proto_nic {
	const char *name, *mac, *driver;
	bool link;
	int64_t mbit;
};
struct proto_gpu {
	/* 0000:01:00.0, 10de:2330. */
	const char *address, *id;
};
/* A storage controller on PCI. Drives on a controller without a driver are not seen. */
struct proto_controller {
	/* 0000:00:0e.0, 8086:201d. */
	const char *address, *id;
	/* PCI class and programming interface: 010400. */
	const char *class;
	/* NULL: no driver. */
	const char *driver;
	/* Why not everything that it holds is visible; NULL: everything is. */
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
	/* It could not be probed: nothing is known. */
	PROTO_NOT_ASKED,
	PROTO_SILENT,
	PROTO_ANSWERED,
};
/* NotAsked Silent Answered. */
extern const char *const proto_answer_names[];
struct proto_probe {
	/* As in the order. */
	const char *address;
	/* enum proto_answer. */
	int answer;
};

enum proto_report_state { PROTO_PROGRESS, PROTO_DONE, PROTO_FAILED };
/* progress done failed. */
extern const char *const proto_report_state_names[];

struct proto_report {
	int64_t seq;
	/* Id of the order. */
	const char *id;
	int64_t fence;
	int state;
	/* progress: "canaries", "overwrite", "image" and so on. */
	const char *phase;
	int64_t done_bytes, total_bytes, bytes_per_s;
	/* failed: a reason of the closed list (ImageMismatch, DriveFailed ...). message is also set
	 * if done: that of the first drive that failed. */
	const char *reason, *message;
	/* For inspect; else NULL. */
	struct proto_inventory *inventory;
	struct {
		struct evidence_device *v;
		size_t n;
	} devices; /* For wipe; in progress of wipe and verify: the progress of each drive. */
	/* verify: evidence, signed by the agent. */
	const char *envelope;
	/* write image, config: WWN of the drive written. */
	const char *drive;
	/* probe: the order's nonce. */
	const char *nonce;
	struct {
		struct proto_probe *v;
		size_t n;
	} answers; /* probe: one per address, in the order's sequence. */
};
extern const struct field proto_report_fields[];

/* Returns a message as JSON text (malloc'd), and decodes one; decoding is bounded by
 * PROTO_MAX_MESSAGE. */
char *proto_encode(const struct field *f, const void *msg);
int proto_decode(const struct field *f, const char *text, size_t len, void *out, struct arena *a,
		 struct err *e) __attribute__((warn_unused_result));

/* Returns the value of Drover-Signature, malloc'd; and verifies one. */
char *proto_sign(const struct crypto_key *k, const char *method, const char *target,
		 const void *body, size_t len);
bool proto_signed(const struct crypto_key *k, const char *method, const char *target,
		  const void *body, size_t len, const char *signature);

/* The clean stamp: one block of PROTO_STAMP_SIZE bytes at byte 0 of each drive. */
#define PROTO_STAMP_SIZE 4096
void proto_stamp_write(const char *record, const char *digest, char out[static PROTO_STAMP_SIZE]);
/* False: not a stamp. */
bool proto_stamp_read(const char *block, struct arena *a, const char **record, const char **digest);

#endif
