#ifndef PROVIDERS_PROVIDER_H
#define PROVIDERS_PROVIDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/market.h"
#include "base/err.h"
#include "base/http/http.h"
#include "base/list.h"
#include "base/loop/loop.h"
#include "base/secret.h"
#include "providers/elastic.h"
#include "providers/timed_calls.h"

/*
 * provider: one interface to the machines of a Provider, for Redfish, IPMI, libvirt, BCM, clouds
 * and programs of the operator (exec). Its calls observe machines, switch them on and off, set what
 * they boot, and install them.
 *
 * Each call names a target state or a wanted object, so a repeated call is harmless. All calls are
 * asynchronous on the loop thread. Each call ends with exactly one call of call.done(), never
 * inside the starting function. The result is: done, started (with a handle) or an error. A call
 * ends at most PROVIDER_CALL_MS after its turn in the provider's queue came. The wait for that turn
 * (limits of rate and concurrency) has no limit, because the machine is not asked during the wait.
 *
 * The caller records a handle in the journal (fields of Machine status); afterwards only observe()
 * reports progress.
 *
 * Errors with a special meaning:
 *
 * - ERR_DENIED with code 401: the login was refused, and this attachment (attach() to detach())
 *   does not try it again.
 * - ERR_DENIED with code PROVIDER_PASSWORD_CHANGE: the BMC accepts the login but refuses every
 *   request until the password is changed; this attachment does not log in again.
 * - Code PROVIDER_ADDRESS, also from attach(): bmc_address must be corrected.
 * - Code PROVIDER_OF_MANAGER: the error concerns the manager of the machines (the BCM head node),
 *   not the BMC of the machine.
 * - ERR_UNSUPPORTED: this type does not have the call (its slot in provider_ops is NULL), and the
 *   caller uses another method.
 *
 * A provider makes no decisions and repeats no calls by itself: the controller does that.
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

/* Boot override: what the BMC reports that the machine boots next instead of its disk. */
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
	/* uri: URI of the libvirt host. pool: name of the storage pool for boot media and new
	 * drives. */
	const char *uri, *pool;
	/* Path of the program drover-libvirt; NULL: not installed */
	const char *helper;
	/* URIs of the libvirt hosts that drover may open, compared byte by byte. NULL-terminated;
	 * NULL: none. */
	const char *const *allowed;
};

/* Settings of type exec: machines are switched by a program of the operator. */
struct provider_exec {
	/* argv of the program, NULL-terminated, run without a shell; [0] is an absolute path. */
	const char *const *command;
	/* Programs that drover may run, with first arguments (allowed.h). NULL-terminated; NULL:
	 * none. */
	const char *const *allowed;
};

/* The system that manages the machines of a provider: the BCM head node. */
struct provider_manager {
	/* URL of the manager, such as https://head:8081 */
	const char *endpoint;
	/* CA certificates and certificate fingerprint of the manager, as in struct
	 * http_peer_spec */
	const char *ca_pem, *pin_sha256;
	/* Client certificate. Together with key_pem it is the login, and user and password are not
	 * sent. */
	const char *cert_pem;
	const struct secret *key_pem;
	const char *user;
	const struct secret *password;
};

/* Settings of type ec2: source of the credentials. */
enum provider_cloud_login {
	/* The members access_key_id and secret_access_key of struct provider_cloud. */
	PROVIDER_LOGIN_KEYS,
	/* AWS_ACCESS_KEY_ID and related variables of this process */
	PROVIDER_LOGIN_ENVIRONMENT,
	/* a shared credentials file */
	PROVIDER_LOGIN_FILE,
	/* the role of the instance on which drover itself runs, from the instance's metadata
	 * service (version 2) */
	PROVIDER_LOGIN_INSTANCE,
	/* a role, obtained from STS with a token in a file */
	PROVIDER_LOGIN_WEB_IDENTITY,
	/* the first of ENVIRONMENT, WEB_IDENTITY and FILE whose variables are set in this process;
	 * otherwise INSTANCE */
	PROVIDER_LOGIN_FOUND
};
struct provider_cloud_zone {
	const char *region, *zone, *subnet;
	/* IDs of security groups, NULL-terminated; NULL: the default group of the subnet */
	const char *const *security_groups;
	/* Image ID in this region; NULL: the image in struct provider_cloud */
	const char *image;
};
struct provider_cloud_type {
	/* Name of the instance type, such as p5.48xlarge. */
	const char *name;
	/* Number of EFA interfaces, one on each network card; 0: one ordinary network interface */
	unsigned efa_interfaces;
	/* Purchase options to offer. */
	bool on_demand, spot;
};
struct provider_cloud_price {
	const char *type;
	/* Region in which the price applies; NULL: every region */
	const char *region;
	enum market market;
	/* Price of one instance for one hour, in millionths of the currency */
	int64_t micros_per_hour;
};
struct provider_cloud {
	/* URL of the EC2 API; {region} is replaced by the region. NULL:
	 * https://ec2.{region}.amazonaws.com. */
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
	/* Default image ID; NULL: each zone sets its own */
	const char *image;
	/* Name of the SSH key pair with which operators log in to instances; NULL: none */
	const char *key_name;
	/* Name of the instance profile; NULL: none */
	const char *instance_profile;
	/* Name of the placement group; NULL: none */
	const char *placement_group;
	/* Device name of the root volume, such as /dev/sda1, whose size is set to root_gib; NULL:
	 * size as in the image */
	const char *root_device;
	int64_t root_gib;
	enum provider_cloud_login login;
	/* Used only with PROVIDER_LOGIN_KEYS */
	const char *access_key_id;
	const struct secret *secret_access_key, *session_token;
	/* Credentials file and its section, used only with PROVIDER_LOGIN_FILE; NULL: the defaults
	 * of the AWS tools */
	const char *file, *profile;
	/* Role and path of the token file, used only with PROVIDER_LOGIN_WEB_IDENTITY; NULL: from
	 * the environment */
	const char *role_arn, *token_file;
	/* URL of STS (the AWS service that issues temporary credentials); NULL:
	 * https://sts.{region}.amazonaws.com */
	const char *sts_endpoint;
	/* URL of the instance metadata service; NULL: http://169.254.169.254 */
	const char *metadata_endpoint;
};

struct provider_spec {
	const char *name, *type;
	/* Base URL from which BMCs fetch boot media; NULL: unknown */
	const char *media_url;
	/* Settings of type libvirt; NULL for other types */
	const struct provider_libvirt *libvirt;
	/* Settings of type exec; NULL for other types */
	const struct provider_exec *exec;
	/* Settings of type bcm, copied; NULL for other types */
	const struct provider_manager *manager;
	/* Settings of type ec2, copied; NULL for other types */
	const struct provider_cloud *cloud;
	/* Highest number of calls started per second, for all machines together; 0: the default of
	 * the type */
	double requests_per_s;
	/* Highest number of calls that run at the same time; 0: the default of the type */
	unsigned concurrent;
	struct loop_group *group;
	struct http *http;
	/* True: BMC addresses with http:// are allowed, for tests */
	bool plain_ok;
	/* Observer of all calls; .ended NULL: none */
	struct call_watch watch;
};
struct provider;
/* State that a provider keeps for one machine: session and queue. */
struct provider_machine;

struct provider_machine_spec {
	const char *name;
	/* UID of the Machine; the provider stores it at the manager to mark the machine as owned by
	 * drover. NULL: none. */
	const char *uid;
	/* Name of the machine at its manager; NULL: the same as `name` */
	const char *node;
	const char *bmc_address;
	const char *user;
	const struct secret *password;
	const char *ca_pem, *pin_sha256;
	bool learn_pin;
	/* URI of a session that an earlier leader recorded in status.bmc.sessionURI; the provider
	 * deletes this session first. NULL: none. */
	const char *old_session;
};

/* Progress of the installation that acquire() prepared. */
enum provider_progress {
	/* not requested, or progress not known */
	PROVIDER_PROGRESS_UNKNOWN,
	/* requested, but the machine has not yet booted into the installation */
	PROVIDER_PROGRESS_UNBEGUN,
	PROVIDER_PROGRESS_WAITING,
	/* Stopped by a decision of another user of the manager (a BCM administrator). */
	PROVIDER_PROGRESS_HELD,
	PROVIDER_PROGRESS_DONE,
	PROVIDER_PROGRESS_FAILED
};

/* Installation that acquire() prepares on a machine of a manager (BCM). */
struct provider_target {
	/* Name of the category (set of node settings) at the manager */
	const char *category;
	/* Name of the software image to use; NULL: the image of the category */
	const char *image;
	/* Name of the management network; NULL: keep the present one */
	const char *network;
	/* Paths of block devices to clear, in addition to those that the disk layout clears */
	const char *const *clear;
	size_t nclear;
};

/* One machine that the manager reports in its inventory. */
struct provider_found {
	/* Name, boot MAC address, BMC address and serial number; NULL: not reported */
	const char *node, *mac, *bmc_address, *serial;
	/* Why drover cannot manage this machine; NULL: it can */
	const char *refusal;
	/* True if the operating system of the machine is in contact with the manager. */
	bool up;
};
struct provider_inventory {
	/* Version of the manager's software */
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
	/* Permanent identifier (EUI, NAA or UUID) as the BMC reports it */
	const char *durable;
	/* Human-readable location of the drive */
	const char *slot;
	int64_t bytes;
	/* Name and permanent identifier of the RAID volume that contains the drive; NULL: none */
	const char *volume, *volume_durable;
	int64_t volume_bytes;
};

/* One observation of a machine. */
struct provider_observation {
	/* loop_now() when the read was sent; the reported state is from this time or later. */
	int64_t read_at;
	enum provider_power power;
	/* System UUID and serial number as the BMC reports them; NULL: not reported */
	const char *system_uuid, *serial;
	enum provider_override boot_override;
	/* True: the state of the virtual media was read, or the machine has no media slot. False:
	 * it could not be read this time. */
	bool media_known;
	bool media_inserted;
	/* URL of the inserted medium; NULL: none or unknown */
	const char *media_url;
	/* True if the media slot can fetch media by HTTPS, as far as the BMC reports it. */
	bool media_https;
	/* True if the BMC reports that the media slot checks the certificate of the HTTPS
	 * server. */
	bool media_verified;
	/* URL for HTTP boot, set for the next boot or used by the last one; NULL: none or
	 * unknown */
	const char *http_url;
	/* Network address from which the BMC answers; NULL: unknown */
	const char *address;
	/* URI of the open BMC session, which the caller must record in the journal; NULL: none */
	const char *session_uri;
	/* Fingerprint of the BMC's certificate that was accepted at first contact and must be
	 * stored; NULL: none */
	const char *learned_pin;
	/* Human-readable list of sensors in a critical state; "": none. NULL: the sensors were not
	 * read this time. */
	const char *fault;
	/* Why the last attempt to read the sensors failed; NULL: it did not fail */
	const char *unsensed;
	/* Machines of a manager only: progress of the installation named by provider_call.handle */
	enum provider_progress progress;
	/* State of the installation in the manager's words; NULL: none */
	const char *handle_state;
	/* Result of the call drives(). drives_more: true if the list is not complete yet and
	 * drives() has to be called again. */
	const struct provider_drive *drives;
	size_t ndrives;
	bool drives_more;
	/* Why `drives` is incomplete: the error of the request for the part of the list that the
	 * BMC does not serve; its code is the HTTP status. Code 0: that part was not requested
	 * (provider_call.unless_firmware). NULL: `drives` is the complete list. */
	const struct err *drives_lack;
	/* True: the BMC does not serve the full list at all, and `drives` comes from a list with
	 * less detail (SimpleStorage) */
	bool drives_simple;
};

/* Human-readable facts about the BMC of a machine. The texts belong to the provider and are valid
 * until its next call. */
#define PROVIDER_QUIRKS 16
struct provider_bmc {
	/* Vendor, product and firmware version of the BMC; NULL: not reported, or not read yet */
	const char *vendor, *product, *firmware;
	/* Version of the management protocol, such as Redfish 1.15.0 */
	const char *service_version;
	/* IDs of the quirks (deviations from the standard, redfish/quirks.def) that apply */
	const char *quirks[PROVIDER_QUIRKS];
	size_t nquirks;
	/* How the BMC gets boot media: HTTP, HTTPS, Disabled or None; NULL: not known yet */
	const char *media;
	/* Slot used for boot media; NULL: none, or not known yet. */
	const char *slot;
	/* Kind of the open login, Session or Basic; NULL: no login is open */
	const char *login;
	/* Smoothed latency of an answer, in ms; -1: no answer yet. */
	int64_t latency_ms;
	/* Number of requests since the machine was attached. */
	uint64_t calls;
};

struct provider_call {
	/* ID of the operation, from the journal; sent as idempotency key if the backend supports
	 * one */
	const char *op_id;
	int64_t fence;
	/* For observe(): handle that an earlier call returned; NULL: none */
	const char *handle;
	/* For media() with an https URL: CA certificate of the HTTPS server in PEM, for a media
	 * slot that checks certificates. Read inside the call. NULL: unknown. */
	const char *media_ca;
	/* For drives(): BMC firmware version that is known not to serve the full drive list. A BMC
	 * with this version is not asked for that list. If it has no list with less detail either,
	 * the call ends with ERR_UNSUPPORTED and code 0. Read inside the call. NULL: always ask. */
	const char *unless_firmware;
	/* Called just before each request that changes the machine, because waiting for rate
	 * limit and login takes time. Must return true while lease, fence and the caller's data
	 * are still valid. False: no request is sent, and the call ends with ERR_CONFLICT. NULL:
	 * always true. */
	bool (*may_act)(void *arg);
	/* Called before the first change with the state that this call has just read (without
	 * media). Must return 0 if this is the intended machine in an acceptable state. -1 with *e
	 * set: nothing is sent, and the call ends with *e. NULL: always 0. */
	int (*fits)(const struct provider_observation *seen, void *arg, struct err *e);
	/* URI of the BMC session that is recorded in the journal, so that a later leader can end
	 * it; "": none is recorded. If the open session is a different one, no change is sent and
	 * the call ends with ERR_UNAVAILABLE; the next observation then reports the new session.
	 * NULL: any session will do. */
	const char *session;
	/* Called when the turn of this call has come and the machine is about to be asked.
	 * waited_ms: time spent in drover's own queue, during which a missing answer is not the
	 * machine's fault. Not called if the call is refused before its turn. NULL: not wanted. */
	void (*begun)(int64_t waited_ms, void *arg);
	/* Called once when the call has ended. o: result of a successful observe() or drives(),
	 * valid during done(), else NULL. handle: names the started installation for later
	 * observe() calls; NULL: none. e: the error; NULL: success. */
	void (*done)(const struct provider_observation *o, const char *handle, const struct err *e,
		     void *arg);
	void *arg;
};

/* Kind of drive interface of a machine that drover creates from a template (type libvirt). */
enum provider_bus { PROVIDER_BUS_SATA, PROVIDER_BUS_NVME };
/* Names of enum provider_bus, by value: sata, nvme. */
extern const char *const provider_bus_names[];
#define PROVIDER_DRIVES 8
struct provider_template {
	/* UID of the Provider that defines the machine; never changes */
	const char *owner;
	/* System UUID; never changes. */
	const char *uuid;
	int64_t cpus, memory_bytes;
	/* Name of the libvirt network, or of the bridge of the host; both NULL: a user network (NAT
	 * by QEMU) */
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
	/* Frees m. Its pending calls end without done(). */
	void (*detach)(struct provider *p, struct provider_machine *m);
	void (*observe)(struct provider *p, struct provider_machine *m,
			const struct provider_call *c);
	void (*power)(struct provider *p, struct provider_machine *m, bool on,
		      const struct provider_call *c);
	void (*boot)(struct provider *p, struct provider_machine *m, enum provider_boot how,
		     const char *url, const struct provider_call *c);
	/* Inserts the boot medium at url; url NULL: ejects the medium */
	void (*media)(struct provider *p, struct provider_machine *m, const char *url,
		      const struct provider_call *c);
	/* define() creates the machine with its drives; afterwards it is off. undefine() deletes
	 * the machine and its drives; it refuses while the machine is on. ERR_CONFLICT: a machine
	 * of that name exists that drover does not own. t is read inside the call. */
	void (*define)(struct provider *p, struct provider_machine *m,
		       const struct provider_template *t, const struct provider_call *c);
	void (*undefine)(struct provider *p, struct provider_machine *m,
			 const struct provider_template *t, const struct provider_call *c);
	/* For machines of a manager only. Sets up the manager so that the next network boot of the
	 * machine installs the target; acquire() itself does not boot the machine. done() gets a
	 * handle for observe(). A repeated call with the same op_id returns the same handle and
	 * starts nothing. */
	void (*acquire)(struct provider *p, struct provider_machine *m,
			const struct provider_target *t, const struct provider_call *c);
	/* For machines of a manager only. Undoes the changes of acquire() and removes the mark at
	 * the manager that drover owns the machine. Success if there is nothing to undo. */
	void (*release)(struct provider *p, struct provider_machine *m,
			const struct provider_call *c);
	/* For types with a manager only: reads the inventory of the manager. done() gets the
	 * inventory, valid during the call, or NULL and an error. It is not called after
	 * close(). */
	void (*discover)(struct provider *p,
			 void (*done)(const struct provider_inventory *i, const struct err *e,
				      void *arg),
			 void *arg);
	/* Reads the list of drives from the BMC, but neither power nor media. If the BMC must be
	 * asked for each drive, several calls are needed (drives_more). */
	void (*drives)(struct provider *p, struct provider_machine *m,
		       const struct provider_call *c);
	/* Ends the open login, if any; the next call logs in again. */
	void (*log_out)(struct provider *p, struct provider_machine *m,
			const struct provider_call *c);
	/* Returns the URI of the session that is accepted and open, even while the call that opened
	 * it still runs or after that call failed; NULL: none. *only: true if no older session of
	 * drover is known to be open. */
	const char *(*session)(const struct provider_machine *m, bool *only);
	/* Writes the known facts about the BMC to *out. False: no facts are known yet, but calls
	 * and latency_ms are set. */
	bool (*bmc)(const struct provider_machine *m, struct provider_bmc *out);
	/* Passes the URI of a session that is still open but recorded in no journal, so that the
	 * next login ends it. */
	void (*inherit)(struct provider_machine *m, const char *session);
	/* Calls that launch paid instances (elastic.h); NULL: this type launches none and uses only
	 * machines that an operator installed */
	const struct provider_elastic_ops *elastic;
};

struct provider {
	const struct provider_ops *ops;
	char *name;
	/* Private data of the implementation, which frees it in close() */
	void *state;
	struct loop_group *group;
	/* Pending answers of provider_refuse() */
	struct list refusals;
	struct timed_calls timed;
};

/* Creates the provider. Returns NULL with *e set on error; an unknown type gives
 * ERR_UNSUPPORTED. */
struct provider *provider_new(const struct provider_spec *s, struct err *e);
/* Closes and frees the provider. The caller must have detached all machines. */
void provider_free(struct provider *p);

/* Ends the call c with ERR_UNSUPPORTED and the text "no WHAT", in a later loop turn. Used by the
 * functions below and by implementations. */
void provider_refuse(struct provider *p, const struct provider_call *c, const char *what);
/* Drops the pending answers of provider_refuse() without calling done(). Used by
 * provider_free(). */
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
/* Calls discover(). The caller must not start a second discovery before done() of the first was
 * called. False: this type has no inventory, and done() is not called. */
bool provider_discover(struct provider *p,
		       void (*done)(const struct provider_inventory *i, const struct err *e,
				    void *arg),
		       void *arg);
/* True if machines are installed by a manager, that is, if the type implements acquire(). */
bool provider_is_managed(const struct provider *p);
void provider_drives(struct provider *p, struct provider_machine *m, const struct provider_call *c);
const char *provider_session(const struct provider *p, const struct provider_machine *m,
			     bool *only);
bool provider_bmc(const struct provider *p, const struct provider_machine *m,
		  struct provider_bmc *out);
void provider_inherit(const struct provider *p, struct provider_machine *m, const char *session);
void provider_log_out(struct provider *p, struct provider_machine *m,
		      const struct provider_call *c);

/* provider_offers() to provider_terminate() make the calls of elastic.h. False: this type launches
 * no instances, and done() is not called. */
bool provider_offers(struct provider *p, elastic_offers_done *done, void *arg);
bool provider_launch(struct provider *p, const struct elastic_launch *l,
		     elastic_instances_done *done, void *arg);
bool provider_list_owned(struct provider *p, const char *cluster, elastic_instances_done *done,
			 void *arg);
bool provider_terminate(struct provider *p, const char *region, const char *id,
			bool (*may_act)(void *arg), elastic_instances_done *done, void *arg);

#endif
