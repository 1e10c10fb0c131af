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
 *	POST /agent/v1/hello              struct proto_hello -> struct proto_welcome
 *	GET  /agent/v1/order?after=N      long poll (30 s): 200 struct proto_order, or 204 none
 *	POST /agent/v1/report             struct proto_report -> 204
 *
 * Every request carries
 *	Drover-Agent: MACHINE/BOOTID
 *	Drover-Signature: base64 of Ed25519 over "METHOD TARGET\n" + body
 * with the key whose public half was in hello.  The same secret, key and boot id get the same
 * welcome again.  An order with a fence lower than the highest seen is refused; an order whose id was done is
 * answered with the same result again.  An agent is given no order of a kind that its hello does not offer (probes).  A 401 or 403 ends the agent's session: it powers off after 10 minutes of them.
 *
 * The boot block (docs/agent.md): a file of exactly PROTO_BOOT_BLOCK bytes, JSON padded with
 * spaces, that stands once and contiguous in the ISO and reaches user space as
 * /.extra/credentials/drover.cred.  A fresh image holds PROTO_BOOT_MARK followed by spaces, which is
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
	const char *endpoint;  /* https://host:port */
	const char *ca_pem;    /* pinned: trusts this alone */
	const char *machine;   /* its name */
	const char *operation; /* journal id that this boot belongs to */
	int64_t boot;	       /* boot number under that operation, from 1 */
	const char *secret;    /* 64 hex digits: HMAC-SHA256(boot key, "uid\noperation\nboot") */
	int64_t wall_time;     /* Unix ms; a clock that is earlier or a day ahead is set */
	const char *address;   /* 10.1.0.17/24; NULL: DHCP */
	const char *gateway;
	const char *mac; /* the NIC to use; NULL: the first with a link */
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
	const char *system_uuid; /* lower case */
	const char *serial, *manufacturer, *product;
};

struct proto_hello {
	const char *machine, *operation;
	int64_t boot;
	const char *secret;
	const char *boot_id;	/* /proc/sys/kernel/random/boot_id */
	const char *public_key; /* ed25519:... */
	const char *version;
	struct proto_dmi dmi;
	int trust;   /* enum wipe_trust */
	bool probes; /* it knows the order probe */
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
extern const char *const proto_order_kind_names[]; /* inspect wipe verify write poweroff probe */
enum proto_write { PROTO_WRITE_IMAGE, PROTO_WRITE_CONFIG, PROTO_WRITE_STAMP, PROTO_WRITE_UNSTAMP };
extern const char *const proto_write_names[]; /* image config stamp unstamp */

struct proto_file {
	const char *name;    /* meta-data, user-data, network-config, drover-join.cfg */
	const char *content; /* text */
};

struct proto_order {
	int64_t seq;	/* for ?after= */
	const char *id; /* of the order: OPERATION/STEP, unique for a boot; same id, same result */
	int64_t fence;
	int kind; /* enum proto_order_kind */

	/* wipe and verify; of inspect the nonce of the last wipe: then each drive is read again; of probe the one that its
	 * report has to show */
	const char *nonce;     /* hex; canaries are HMAC(nonce, wwn, offset) */
	int minimum_level;     /* enum wipe_level */
	int minimum_level_hdd; /* ... of what spins; Fail: as the others */
	struct strings
		noise; /* inspect: WWNs of drives that may hold noise, and not zeros or ones alone */
	struct strings expected; /* WWNs; empty at the first inspection: all that is seen */
	int64_t samples;	 /* reads per drive in verify */
	struct strings
		cover; /* verify: parts beside the drives (statement_part_names) that are overwritten as well, which takes its time */
	struct evidence *
		evidence; /* verify: what the controller knows (machine, tenancy, attempt, previous, digests,
					 * tenant); the agent fills in the rest and signs.  NULL otherwise */

	/* write */
	int what;		  /* enum proto_write */
	const char *drive;	  /* image, config: WWN of the root device */
	const char *url, *digest; /* image; digest of the bytes served */
	int format;		  /* 0 raw, 1 raw+zstd */
	const char *
		ca_pem; /* for an https image URL; NULL: the agent's own CA bundle is empty, so required */
	struct {
		struct proto_file *v;
		size_t n;
	} files;		    /* config */
	const char *record, *stamp; /* stamp: WipeRecord name, digest text */

	/* probe: what to ask, as address_service() reads it.  Which of them are to answer the agent is not told. */
	struct strings addresses;
};
#define PROTO_PROBES_MAX 512
extern const struct field proto_order_fields[];
extern const char *const proto_format_names[]; /* raw, raw+zstd */

struct proto_drive {
	const char *path; /* /dev/nvme0n1 */
	const char *type, *model, *serial, *wwn;
	const char *slot; /* where it is, for people (wipe/slot.h); NULL: nothing tells */
	const char
		*subsystem; /* the agent's alone: of an NVMe namespace (wipe/nvme.h); else NULL */
	int64_t bytes, block_size;
	bool rotational, removable, read_only;
	const char *stamp; /* digest text of a clean stamp found on it; NULL: none */
	const char *stamp_record;
	const char *fault; /* why not all of it can be seen; NULL: it can */
	struct {
		int64_t clean,
			dirty; /* blocks, of an inspection with a nonce; unreadable ones are dirty */
	} again;
};
struct proto_nic {
	const char *name, *mac, *driver;
	bool link;
	int64_t mbit;
};
struct proto_gpu {
	const char *address, *id; /* 0000:01:00.0, 10de:2330 */
};
/* A storage controller on PCI.  What hangs on one that no driver has taken is not seen. */
struct proto_controller {
	const char *address, *id; /* 0000:00:0e.0, 8086:201d */
	const char *class;	  /* PCI class and programming interface: 010400 */
	const char *driver;	  /* NULL: none has taken it */
	const char *fault;	  /* why not all that it holds is seen; NULL: it is */
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

/* What came of asking an address: an ICMP echo, or a TCP connection where a port stands behind it.  A connection that is
 * refused is an answer too: packets go there and back. */
enum proto_answer {
	PROTO_NOT_ASKED, /* it could not be: nothing is known */
	PROTO_SILENT,
	PROTO_ANSWERED,
};
extern const char *const proto_answer_names[]; /* NotAsked Silent Answered */
struct proto_probe {
	const char *address; /* as in the order */
	int answer;	     /* enum proto_answer */
};

enum proto_report_state { PROTO_PROGRESS, PROTO_DONE, PROTO_FAILED };
extern const char *const proto_report_state_names[]; /* progress done failed */

struct proto_report {
	int64_t seq;
	const char *id; /* the order's */
	int64_t fence;
	int state;
	const char *phase; /* progress: "canaries", "overwrite", "image" ... */
	int64_t done_bytes, total_bytes, bytes_per_s;
	const char *reason,
		*message; /* failed: one of the closed list (ImageMismatch, DriveFailed ...); message also when done, of the first drive that failed */
	struct proto_inventory *inventory; /* inspect; NULL otherwise */
	struct {
		struct evidence_device *v;
		size_t n;
	} devices;	      /* wipe; progress of wipe and verify: how far each is */
	const char *envelope; /* verify: evidence, signed by the agent */
	const char *drive;    /* write image, config: the WWN written */
	const char *nonce;    /* probe: the order's */
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
