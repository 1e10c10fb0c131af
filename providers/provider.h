#ifndef PROVIDERS_PROVIDER_H
#define PROVIDERS_PROVIDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "base/http/http.h"
#include "base/list.h"
#include "base/loop/loop.h"
#include "base/secret.h"
#include "providers/elastic.h"

/*
 * provider: where machines come from and how they are switched. One interface for Redfish, IPMI,
 * libvirt, BCM, clouds and programs (exec).
 *
 * Each call names a target state or a wanted object, so a repeated call is harmless. Each call is
 * asynchronous on the loop thread. It ends with exactly one call of call.done(), never inside the
 * starting function: done, started (with a handle) or an error. A call ends at most
 * PROVIDER_CALL_MS after its turn in the provider's queue came. The wait for that turn (limits of
 * rate and concurrency) has no limit, because the machine is not asked during the wait.
 *
 * A handle is recorded in the journal; afterwards only observe() reports progress.
 *
 * Errors: ERR_DENIED with code 401: the login was refused, and this attachment does not try it
 * again. ERR_DENIED with code PROVIDER_PASSWORD_CHANGE: the BMC accepts the login but refuses every
 * request until the password is changed; this attachment does not log in again. Code
 * PROVIDER_ADDRESS, also from attach(): bmc_address must be corrected. Code PROVIDER_OF_MANAGER:
 * the error concerns the manager of the machines (the BCM head node), not the BMC of the machine. A
 * NULL slot in provider_ops means unsupported: the wrapper answers ERR_UNSUPPORTED, and the caller
 * uses another method.
 *
 * A provider takes no decisions and repeats nothing: policy belongs to the controller.
 * Tests: tests/contract/test_provider.c
 */
#define PROVIDER_CALL_MS 60000
/* Error codes outside the range of HTTP status codes. */
#define PROVIDER_OF_MANAGER 0x6d67
#define PROVIDER_ADDRESS 0x6164
#define PROVIDER_PASSWORD_CHANGE 0x7077

enum provider_power {
	PROVIDER_POWER_UNKNOWN,
	PROVIDER_POWER_OFF,
	PROVIDER_POWER_ON,
	PROVIDER_POWER_CHANGING
};
/* Names of enum provider_power, by value: Unknown, Off, On, Changing. */
extern const char *const provider_power_names[];
enum provider_boot {
	/* no boot override */
	PROVIDER_BOOT_DISK,
	PROVIDER_BOOT_MEDIA,
	PROVIDER_BOOT_HTTP
};

/* Boot override: what the machine boots next instead of its disk. */
enum provider_override {
	PROVIDER_OVERRIDE_NONE,
	/* virtual media */
	PROVIDER_OVERRIDE_MEDIA,
	PROVIDER_OVERRIDE_HTTP,
	/* Any override that drover does not set: network, USB, firmware setup, or a value that the
	 * BMC has no name for. */
	PROVIDER_OVERRIDE_OTHER,
};

/* Settings of type libvirt: one libvirt host, reached through the helper process drover-libvirt. */
struct provider_libvirt {
	/* URI of the libvirt host; storage pool for boot media and new drives. */
	const char *uri, *pool;
	/* Path of drover-libvirt; NULL: not installed. */
	const char *helper;
	/* URIs of the hosts that drover may open, compared byte by byte. NULL-terminated; NULL:
	 * none. */
	const char *const *allowed;
};

/* Settings of type exec: a program of the operator. */
struct provider_exec {
	/* argv, NULL-terminated, run without a shell; [0] is an absolute path. */
	const char *const *command;
	/* Programs that drover may run, with first arguments (allowed.h). NULL-terminated; NULL:
	 * none. */
	const char *const *allowed;
};

/* The system that manages the machines of a provider: the BCM head node. */
struct provider_manager {
	/* URL, such as https://head:8081. */
	const char *endpoint;
	/* As in struct http_peer_spec. */
	const char *ca_pem, *pin_sha256;
	/* Client certificate; with key_pem it is the login, and no password is sent. */
	const char *cert_pem;
	const struct secret *key_pem;
	const char *user;
	const struct secret *password;
};

/* Settings of type ec2: source of the credentials. */
enum provider_cloud_login {
	/* access_key_id and secret_access_key of struct provider_cloud */
	PROVIDER_LOGIN_KEYS,
	/* AWS_ACCESS_KEY_ID and related variables of this process */
	PROVIDER_LOGIN_ENVIRONMENT,
	/* a shared credentials file */
	PROVIDER_LOGIN_FILE,
	/* the role of the instance on which drover runs, from its metadata service (version 2) */
	PROVIDER_LOGIN_INSTANCE,
	/* a role, obtained from STS with a token in a file */
	PROVIDER_LOGIN_WEB_IDENTITY,
	/* the first of ENVIRONMENT, WEB_IDENTITY and FILE for which variables are set; otherwise
	 * INSTANCE */
	PROVIDER_LOGIN_FOUND
};
struct provider_cloud_zone {
	const char *region, *zone, *subnet;
	/* NULL-terminated; NULL: the default group of the subnet. */
	const char *const *security_groups;
	/* Image ID in this region; NULL: image of struct provider_cloud. */
	const char *image;
};
struct provider_cloud_type {
	/* Name of the instance type, such as p5.48xlarge. */
	const char *name;
	/* Number of EFA interfaces, one on each network card; 0 means one ordinary interface. */
	unsigned efa_interfaces;
	/* Purchase options to offer. */
	bool on_demand, spot;
};
struct provider_cloud_price {
	const char *type;
	/* NULL: every region. */
	const char *region;
	/* One of elastic_market_names; NULL: OnDemand. */
	const char *market;
	/* Millionths of the currency, for one instance and hour. */
	int64_t micros_per_hour;
};
struct provider_cloud {
	/* URL in which {region} is replaced; NULL: https://ec2.{region}.amazonaws.com. */
	const char *endpoint;
	const char *ca_pem;
	struct {
		const struct provider_cloud_zone *v;
		size_t n;
	} zones;
	struct {
		const struct provider_cloud_type *v;
		size_t n;
	} types;
	struct {
		const struct provider_cloud_price *v;
		size_t n;
	} prices;
	/* ISO 4217 currency of the prices; NULL: USD. */
	const char *currency;
	/* True: also offer the capacity that the account has reserved. */
	bool reservations;
	/* Default image ID; NULL: each zone has its own. */
	const char *image;
	/* Name of the key pair for SSH by operators; NULL: none. */
	const char *key_name;
	/* Name; NULL: none. */
	const char *instance_profile;
	/* Name; NULL: none. */
	const char *placement_group;
	/* Device name of the root volume, such as /dev/sda1; NULL: size as in the image. */
	const char *root_device;
	int64_t root_gib;
	enum provider_cloud_login login;
	/* Only for PROVIDER_LOGIN_KEYS. */
	const char *access_key_id;
	const struct secret *secret_access_key, *session_token;
	/* Only for PROVIDER_LOGIN_FILE; NULL: the defaults of the AWS tools. */
	const char *file, *profile;
	/* Only for PROVIDER_LOGIN_WEB_IDENTITY; NULL: from the environment. */
	const char *role_arn, *token_file;
	/* NULL: https://sts.{region}.amazonaws.com. */
	const char *sts_endpoint;
	/* NULL: http://169.254.169.254. */
	const char *metadata_endpoint;
};

struct provider_spec {
	const char *name, *type;
	/* Base URL from which BMCs fetch boot media; NULL: unknown. */
	const char *media_url;
	/* Type libvirt only; otherwise NULL. */
	const struct provider_libvirt *libvirt;
	/* Type exec only; otherwise NULL. */
	const struct provider_exec *exec;
	/* Type bcm only; otherwise NULL. Copied. */
	const struct provider_manager *manager;
	/* Type ec2 only; otherwise NULL. Copied. */
	const struct provider_cloud *cloud;
	/* Highest rate of started calls, all machines together; 0 means the default of the type. */
	double requests_per_s;
	/* Highest number of concurrent calls; 0 means the default of the type. */
	unsigned concurrent;
	struct loop_group *group;
	struct http *http;
	/* Allows http:// BMCs, for tests. */
	bool plain_ok;
};
struct provider;
/* State that a provider keeps for one machine: session and queue. */
struct provider_machine;

struct provider_machine_spec {
	const char *name;
	/* UID of the Machine, with which the provider marks the machine as owned by drover at the
	 * manager; NULL: none. */
	const char *uid;
	/* Name of the machine at its manager; NULL: equal to name. */
	const char *node;
	const char *bmc_address;
	const char *user;
	const struct secret *password;
	const char *ca_pem, *pin_sha256;
	bool learn_pin;
	/* status.bmc.sessionURI that an earlier leader recorded; this session is deleted first.
	 * NULL: none. */
	const char *old_session;
};

/* Progress of the installation that acquire() started. */
enum provider_progress {
	/* not requested, or not known: neither failed nor done */
	PROVIDER_PROGRESS_UNKNOWN,
	/* requested, but the machine has not booted into the installation yet */
	PROVIDER_PROGRESS_UNBEGUN,
	PROVIDER_PROGRESS_WAITING,
	/* stopped by a decision of another user of the manager */
	PROVIDER_PROGRESS_HELD,
	PROVIDER_PROGRESS_DONE,
	PROVIDER_PROGRESS_FAILED
};

/* What a managed machine is to run. */
struct provider_target {
	/* Name of the category at the manager. */
	const char *category;
	/* Name of the software image to use instead of the category's; NULL: the category's. */
	const char *image;
	/* Name of the management network; NULL: unchanged. */
	const char *network;
	/* Block devices to clear, in addition to those of the disk layout. */
	const char *const *clear;
	size_t nclear;
};

/* One machine that the manager reports. */
struct provider_found {
	/* NULL: not reported. */
	const char *node, *mac, *bmc_address, *serial;
	/* Why drover does not manage this machine; NULL: no objection. */
	const char *refusal;
	/* True if the operating system of the machine is in contact with the manager. */
	bool up;
};
struct provider_inventory {
	/* Version of the manager. */
	const char *version;
	struct {
		struct provider_found *v;
		size_t n;
	} machines;
	struct {
		const char **v;
		size_t n;
	} categories, images, networks;
};

/* A drive listed by the BMC of the machine, whether or not the agent finds it. Members that are not
 * reported are NULL or 0. */
struct provider_drive {
	const char *serial, *model;
	/* Permanent identifier as reported: EUI, NAA or UUID. */
	const char *durable;
	/* Human-readable location. */
	const char *slot;
	int64_t bytes;
	/* Volume of a RAID controller that contains the drive; NULL: none. */
	const char *volume, *volume_durable;
	int64_t volume_bytes;
};

/* One observation of a machine. */
struct provider_observation {
	/* loop_now() when the read was sent; decides how fresh the observation is. */
	int64_t read_at;
	enum provider_power power;
	/* As reported by the BMC; NULL: not reported. */
	const char *system_uuid, *serial;
	enum provider_override boot_override;
	/* False: the media could not be read this time. True also if the machine has no media
	 * slot. */
	bool media_known;
	bool media_inserted;
	/* NULL: none or unknown. */
	const char *media_url;
	/* True if the slot supports HTTPS for fetching media. */
	bool media_https;
	/* True if the slot checks the certificate of the HTTPS server. */
	bool media_verified;
	/* URL for HTTP boot, of the next or of the last boot; NULL: none or unknown. */
	const char *http_url;
	/* Address from which the BMC answers; NULL: unknown. */
	const char *address;
	/* Session to record in the journal; NULL: none. */
	const char *session_uri;
	/* Certificate fingerprint accepted on first use, to be stored; NULL: none. */
	const char *learned_pin;
	/* Human-readable list of sensors in a critical state; "": none. NULL: the sensors were not
	 * read this time. */
	const char *fault;
	/* Why the last attempt to read the sensors failed; NULL: it succeeded. */
	const char *unsensed;
	/* Managed machines: progress for the handle in provider_call. */
	enum provider_progress progress;
	/* State as the manager words it; NULL: none. */
	const char *handle_state;
	/* Result of drives(). drives_more: the list is not complete yet; call drives() again. */
	const struct provider_drive *drives;
	size_t ndrives;
	bool drives_more;
	/* Answer of the BMC to the part of the drive list that it does not serve, with the HTTP
	 * status as code; code 0 means that the BMC was not asked (unless_firmware). NULL: drives
	 * is the complete list. */
	const struct err *drives_lack;
	/* True if the BMC does not serve the full list at all, and drives comes from a list with
	 * less detail (SimpleStorage). */
	bool drives_simple;
};

/* Human-readable facts about the BMC of a machine. Texts belong to the provider and are valid until
 * its next call. */
#define PROVIDER_QUIRKS 16
struct provider_bmc {
	/* NULL: not reported, or not read yet. */
	const char *vendor, *product, *firmware;
	/* Version of the management protocol. */
	const char *service_version;
	/* IDs of the quirks in force. */
	const char *quirks[PROVIDER_QUIRKS];
	size_t nquirks;
	/* How boot media are inserted: HTTP, HTTPS, Disabled or None; NULL: not known yet. */
	const char *media;
	/* Slot used for boot media; NULL: none, or not known yet. */
	const char *slot;
	/* Session or Basic; NULL: no login is open. */
	const char *login;
	/* Smoothed latency of an answer, in ms; -1: no answer yet. */
	int64_t latency_ms;
	/* Number of requests since the machine was attached. */
	uint64_t calls;
};

struct provider_call {
	/* Operation id from the journal; idempotency key if the backend supports one. */
	const char *op_id;
	int64_t fence;
	/* observe(): handle that an earlier call returned; NULL: none. */
	const char *handle;
	/* media() with an https URL: CA of the server in PEM, for a slot that checks certificates;
	 * read inside the call. NULL: unknown. */
	const char *media_ca;
	/* drives(): firmware version that is known not to serve the drive list. A BMC of this
	 * version is not asked for that list; ERR_UNSUPPORTED with code 0 if the BMC has no list
	 * with less detail either. Read inside the call. NULL: always ask. */
	const char *unless_firmware;
	/* Called just before each request that changes the machine, because waiting for rate limit
	 * and login takes time. Returns true while lease, fence and the caller's data are still
	 * valid. False: nothing is sent, ERR_CONFLICT. NULL: always true. */
	bool (*may_act)(void *arg);
	/* Called before the first change with the state that this call has just read (media
	 * excluded). Returns 0 if this is the intended machine in an acceptable state. -1: nothing
	 * is sent, and the call ends with *e. NULL: always 0. */
	int (*fits)(const struct provider_observation *seen, void *arg, struct err *e);
	/* Session recorded in the journal, so that a later leader can end it; "" if none is
	 * recorded. If the open session is a different one, no change is sent: ERR_UNAVAILABLE, and
	 * the next observation reports the new session. NULL: any session. */
	const char *session;
	/* Called when the turn of this call came and the machine is asked. waited_ms: time in the
	 * queue of drover, which does not count as silence of the machine. Not called if the call
	 * is refused before. NULL: not wanted. */
	void (*begun)(int64_t waited_ms, void *arg);
	/* o: result of a successful observe() or drives(), valid during done(); NULL otherwise. */
	void (*done)(const struct provider_observation *o, const char *handle, const struct err *e,
		     void *arg);
	void *arg;
};

/* Machine created from a template: type libvirt. */
enum provider_bus { PROVIDER_BUS_SATA, PROVIDER_BUS_NVME };
/* Names of enum provider_bus, by value: sata, nvme. */
extern const char *const provider_bus_names[];
#define PROVIDER_DRIVES 8
struct provider_template {
	/* UID of the Provider that defines the machine; never changes. */
	const char *owner;
	/* System UUID; never changes. */
	const char *uuid;
	int64_t cpus, memory_bytes;
	/* Both NULL: a user network. */
	const char *network, *bridge;
	/* Domain type: kvm or qemu; NULL: kvm if the host supports it. */
	const char *type;
	size_t ndrives;
	struct {
		enum provider_bus bus;
		int64_t bytes;
	} drives[PROVIDER_DRIVES];
};

struct provider_ops {
	const char *type;
	int (*open)(struct provider *p, const struct provider_spec *s, struct err *e);
	void (*close)(struct provider *p);
	struct provider_machine *(*attach)(struct provider *p,
					   const struct provider_machine_spec *s, struct err *e);
	/* Drops the calls of m without done(). */
	void (*detach)(struct provider *p, struct provider_machine *m);
	void (*observe)(struct provider *p, struct provider_machine *m,
			const struct provider_call *c);
	void (*power)(struct provider *p, struct provider_machine *m, bool on,
		      const struct provider_call *c);
	void (*boot)(struct provider *p, struct provider_machine *m, enum provider_boot how,
		     const char *url, const struct provider_call *c);
	/* url NULL: eject */
	void (*media)(struct provider *p, struct provider_machine *m, const char *url,
		      const struct provider_call *c);
	/* define(): afterwards the machine exists with its drives and is off. undefine():
	 * afterwards machine and drives are deleted; a machine that is on is not undefined.
	 * ERR_CONFLICT: a machine of that name exists that drover does not own. t is read inside
	 * the call. */
	void (*define)(struct provider *p, struct provider_machine *m,
		       const struct provider_template *t, const struct provider_call *c);
	void (*undefine)(struct provider *p, struct provider_machine *m,
			 const struct provider_template *t, const struct provider_call *c);
	/* Managed machines only. Afterwards the next network boot of the machine installs the
	 * target; acquire() itself boots nothing. done() gets a handle for observe(). A repeated
	 * call with the same op_id returns the same handle and starts nothing. */
	void (*acquire)(struct provider *p, struct provider_machine *m,
			const struct provider_target *t, const struct provider_call *c);
	/* Undoes the changes of acquire() and clears the ownership of the machine at the manager.
	 * Success if there is nothing to undo. */
	void (*release)(struct provider *p, struct provider_machine *m,
			const struct provider_call *c);
	/* Managed machines only: reads the inventory of the manager. inventory: valid during
	 * done(). No done() after close(). */
	void (*discover)(struct provider *p,
			 void (*done)(const struct provider_inventory *i, const struct err *e,
				      void *arg),
			 void *arg);
	/* Reads the drives that the BMC lists; needs several calls if the BMC must be asked for
	 * each drive (drives_more). Reads neither power nor media. */
	void (*drives)(struct provider *p, struct provider_machine *m,
		       const struct provider_call *c);
	/* Ends the open login, if any; the next call logs in again. */
	void (*log_out)(struct provider *p, struct provider_machine *m,
			const struct provider_call *c);
	/* Returns the session that is accepted and open, even while the call that opened it still
	 * runs or after it failed; NULL: none. *only: true if no older session of drover is known
	 * to be open. */
	const char *(*session)(const struct provider_machine *m, bool *only);
	/* Fills in the known facts about the BMC. Returns false if no facts are known yet; calls
	 * and latency_ms are filled in even then. */
	bool (*bmc)(const struct provider_machine *m, struct provider_bmc *out);
	/* Passes a session that is still open but recorded in no journal; the next login ends
	 * it. */
	void (*inherit)(struct provider_machine *m, const char *session);
	/* Calls that launch paid instances (elastic.h); NULL: this type uses only machines that an
	 * operator installed. */
	const struct provider_elastic_ops *elastic;
};

struct provider {
	const struct provider_ops *ops;
	char *name;
	/* Owned by the implementation. */
	void *state;
	struct loop_group *group;
	/* Pending answers of provider_refuse(). */
	struct list refusals;
};

/* NULL with e on error; ERR_UNSUPPORTED names the type if it is unknown. */
struct provider *provider_new(const struct provider_spec *s, struct err *e);
/* All machines must be detached before. */
void provider_free(struct provider *p);

/* Answers c with ERR_UNSUPPORTED and "no WHAT", in a later loop turn. For the wrappers and the
 * implementations. */
void provider_refuse(struct provider *p, const struct provider_call *c, const char *what);
/* Drops pending refusals without done(). For provider_free(). */
void provider_refusals_drop(struct provider *p);

struct provider_machine *provider_attach(struct provider *p, const struct provider_machine_spec *s,
					 struct err *e);
void provider_detach(struct provider *p, struct provider_machine *m);
void provider_observe(struct provider *p, struct provider_machine *m,
		      const struct provider_call *c);
void provider_power(struct provider *p, struct provider_machine *m, bool on,
		    const struct provider_call *c);
void provider_boot(struct provider *p, struct provider_machine *m, enum provider_boot how,
		   const char *url, const struct provider_call *c);
void provider_media(struct provider *p, struct provider_machine *m, const char *url,
		    const struct provider_call *c);
void provider_define(struct provider *p, struct provider_machine *m,
		     const struct provider_template *t, const struct provider_call *c);
void provider_undefine(struct provider *p, struct provider_machine *m,
		       const struct provider_template *t, const struct provider_call *c);
void provider_acquire(struct provider *p, struct provider_machine *m,
		      const struct provider_target *t, const struct provider_call *c);
void provider_release(struct provider *p, struct provider_machine *m,
		      const struct provider_call *c);
/* Only one call at a time. False: this type has no inventory, and done() is not called. */
bool provider_discover(struct provider *p,
		       void (*done)(const struct provider_inventory *i, const struct err *e,
				    void *arg),
		       void *arg);
/* True if the type implements acquire(). */
bool provider_is_managed(const struct provider *p);
void provider_drives(struct provider *p, struct provider_machine *m, const struct provider_call *c);
const char *provider_session(const struct provider *p, const struct provider_machine *m,
			     bool *only);
bool provider_bmc(const struct provider *p, const struct provider_machine *m,
		  struct provider_bmc *out);
void provider_inherit(const struct provider *p, struct provider_machine *m, const char *session);
void provider_log_out(struct provider *p, struct provider_machine *m,
		      const struct provider_call *c);

/* See elastic.h. False: this type launches no instances, and done() is not called. */
bool provider_offers(struct provider *p, elastic_offers_done *done, void *arg);
bool provider_launch(struct provider *p, const struct elastic_launch *l,
		     elastic_instances_done *done, void *arg);
bool provider_list_owned(struct provider *p, const char *cluster, elastic_instances_done *done,
			 void *arg);
bool provider_terminate(struct provider *p, const char *region, const char *id,
			bool (*may_act)(void *arg), elastic_instances_done *done, void *arg);

#endif
