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
 * proto: what drover-agent, on the machine, and drover say to each other.
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
 * was done is answered with the same result again. An agent is given no order of a kind that its
 * hello does not offer (probes). A 401 or 403 ends the agent's session: it powers off after 10
 * minutes of them.
 *
 * The boot block (docs/agent.md): a file of exactly PROTO_BOOT_BLOCK bytes, JSON padded with
 * spaces, that stands once and contiguous in the ISO and reaches user space as
 * /.extra/credentials/drover.cred. A fresh image holds PROTO_BOOT_MARK followed by spaces, which is
 * how the server finds the offset to patch.
 */
#define PROTO_BOOT_BLOCK 16384
#define PROTO_BOOT_MARK "{\"drover-boot-block\":\"unpatched\"}"
#define PROTO_HELLO_PATH "/agent/v1/hello"
#define PROTO_ORDER_PATH "/agent/v1/order"
#define PROTO_REPORT_PATH "/agent/v1/report"
#define PROTO_HEADER_AGENT "Drover-Agent"
#define PROTO_HEADER_SIGNATURE "Drover-Signature"
#define PROTO_MAX_MESSAGE (1u << 20)
#define PROTO_MAX_HELLO 8192 /* of hello alone: it comes from somebody who is not known yet */

struct proto_boot {
	/* https://host:port */
	const char *endpoint;
	/* pinned: trusts this alone */
	const char *ca_pem;
	/* its name */
	const char *machine;
	/* journal id that this boot belongs to */
	const char *operation;
	/* boot number under that operation, from 1 */
	int64_t boot;
	/* 64 hex digits: HMAC-SHA256(boot key, "uid\noperation\nboot") */
	const char *secret;
	/* Unix ms; a clock that is earlier or a day ahead is set */
	int64_t wall_time;
	/* 10.1.0.17/24; NULL: DHCP */
	const char *address;
	const char *gateway;
	/* the NIC to use; NULL: the first with a link */
	const char *mac;
};
extern const struct field proto_boot_fields[];
/* Fill out (PROTO_BOOT_BLOCK bytes); ERR_INVALID when it does not fit. */
int proto_boot_write(const struct proto_boot *b, char *out, struct err *e)
	__attribute__((warn_unused_result));
int proto_boot_read(const char *data, size_t len, struct arena *a, struct proto_boot *out,
		    struct err *e) __attribute__((warn_unused_result));
/* The secret's text for a boot key. */
void proto_boot_secret(const struct secret *key, const char *machine_uid, const char *operation,
		       int64_t boot, char out[static 65]);

struct proto_dmi {
	/* lower case */
	const char *system_uuid;
	const char *serial, *manufacturer, *product;
};

struct proto_hello {
	const char *machine, *operation;
	int64_t boot;
	const char *secret;
	/* /proc/sys/kernel/random/boot_id */
	const char *boot_id;
	/* ed25519:... */
	const char *public_key;
	const char *version;
	struct proto_dmi dmi;
	/* enum wipe_trust */
	int trust;
	/* it knows the order probe */
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
/* inspect wipe verify write poweroff probe */
extern const char *const proto_order_kind_names[];
enum proto_write { PROTO_WRITE_IMAGE, PROTO_WRITE_CONFIG, PROTO_WRITE_STAMP, PROTO_WRITE_UNSTAMP };
/* image config stamp unstamp */
extern const char *const proto_write_names[];

struct proto_file {
	/* meta-data, user-data, network-config, drover-join.cfg */
	const char *name;
	/* text */
	const char *content;
};

struct proto_order {
	/* for ?after= */
	int64_t seq;
	/* of the order: OPERATION/STEP, unique for a boot; same id, same result */
	const char *id;
	int64_t fence;
	/* enum proto_order_kind */
	int kind;

	/* wipe and verify; of inspect the nonce of the last wipe: then each drive is read again; of
	 * probe the one that its report has to show */
	/* hex; canaries are HMAC(nonce, wwn, offset) */
	const char *nonce;
	/* enum wipe_level */
	int minimum_level;
	/* ... of what spins; Fail: as the others */
	int minimum_level_hdd;
	/* inspect: WWNs of drives that may hold noise, and not zeros or ones alone */
	struct strings noise;
	/* WWNs; empty at the first inspection: all that is seen */
	struct strings expected;
	/* reads per drive in verify */
	int64_t samples;
	/* verify: parts beside the drives (statement_part_names) that are overwritten as well,
	 * which takes its time */
	struct strings cover;
	/* verify: what the controller knows (machine, tenancy, attempt, previous, digests, tenant);
	 * the agent fills in the rest and signs. NULL otherwise */
	struct evidence *evidence;

	/* write */
	/* enum proto_write */
	int what;
	/* image, config: WWN of the root device */
	const char *drive;
	/* image; digest of the bytes served */
	const char *url, *digest;
	/* 0 raw, 1 raw+zstd */
	int format;
	/* for an https image URL; NULL: the agent's own CA bundle is empty, so required */
	const char *ca_pem;
	struct {
		struct proto_file *v;
		size_t n;
	} files; /* config */
	/* stamp: WipeRecord name, digest text */
	const char *record, *stamp;

	/* probe: what to ask, as address_service() reads it. Which of them are to answer the agent
	 * is not told. */
	struct strings addresses;
};
#define PROTO_PROBES_MAX 512
extern const struct field proto_order_fields[];
/* raw, raw+zstd */
extern const char *const proto_format_names[];

struct proto_drive {
	/* /dev/nvme0n1 */
	const char *path;
	const char *type, *model, *serial, *wwn;
	/* where it is, for people (wipe/slot.h); NULL: nothing tells */
	const char *slot;
	/* the agent's alone: of an NVMe namespace (wipe/nvme.h); else NULL */
	const char *subsystem;
	int64_t bytes, block_size;
	bool rotational, removable, read_only;
	/* digest text of a clean stamp found on it; NULL: none */
	const char *stamp;
	const char *stamp_record;
	/* why not all of it can be seen; NULL: it can */
	const char *fault;
	struct {
		/* blocks, of an inspection with a nonce; unreadable ones are dirty */
		int64_t clean, dirty;
	} again;
};
struct proto_nic {
	const char *name, *mac, *driver;
	bool link;
	int64_t mbit;
};
struct proto_gpu {
	/* 0000:01:00.0, 10de:2330 */
	const char *address, *id;
};
/* A storage controller on PCI.  What hangs on one that no driver has taken is not seen. */
struct proto_controller {
	/* 0000:00:0e.0, 8086:201d */
	const char *address, *id;
	/* PCI class and programming interface: 010400 */
	const char *class;
	/* NULL: none has taken it */
	const char *driver;
	/* why not all that it holds is seen; NULL: it is */
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

/* What came of asking an address: an ICMP echo, or a TCP connection where a port stands behind it.
 * A connection that is refused is an answer too: packets go there and back. */
enum proto_answer {
	/* it could not be: nothing is known */
	PROTO_NOT_ASKED,
	PROTO_SILENT,
	PROTO_ANSWERED,
};
/* NotAsked Silent Answered */
extern const char *const proto_answer_names[];
struct proto_probe {
	/* as in the order */
	const char *address;
	/* enum proto_answer */
	int answer;
};

enum proto_report_state { PROTO_PROGRESS, PROTO_DONE, PROTO_FAILED };
/* progress done failed */
extern const char *const proto_report_state_names[];

struct proto_report {
	int64_t seq;
	/* the order's */
	const char *id;
	int64_t fence;
	int state;
	/* progress: "canaries", "overwrite", "image" ... */
	const char *phase;
	int64_t done_bytes, total_bytes, bytes_per_s;
	/* failed: one of the closed list (ImageMismatch, DriveFailed ...); message also when done,
	 * of the first drive that failed */
	const char *reason, *message;
	/* inspect; NULL otherwise */
	struct proto_inventory *inventory;
	struct {
		struct evidence_device *v;
		size_t n;
	} devices; /* wipe; progress of wipe and verify: how far each is */
	/* verify: evidence, signed by the agent */
	const char *envelope;
	/* write image, config: the WWN written */
	const char *drive;
	/* probe: the order's */
	const char *nonce;
	struct {
		struct proto_probe *v;
		size_t n;
	} answers; /* probe: one for each address, in their order */
};
extern const struct field proto_report_fields[];

/* JSON text (malloc'd) of a message, and back; decoding is bounded by PROTO_MAX_MESSAGE. */
char *proto_encode(const struct field *f, const void *msg);
int proto_decode(const struct field *f, const char *text, size_t len, void *out, struct arena *a,
		 struct err *e) __attribute__((warn_unused_result));

/* The value of Drover-Signature, malloc'd; and its check. */
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
