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
 * provider: where machines come from and how they are switched: one interface over Redfish, IPMI,
 * libvirt, BCM, clouds and exec.
 *
 * Every call names a target state or a desired thing, never a blind action; is asynchronous on the
 * loop thread; completes exactly once through call.done, never inside the starting function, with
 * done, started (handle) or an error; within PROVIDER_CALL_MS from when its turn in the provider's
 * own line came (limits of pace and places), for only then is a machine asked. ERR_DENIED with code
 * 401: the login was refused; it is not tried again by this attachment. A handle is for the
 * journal; only observe() tells progress after that. An error with code PROVIDER_OF_MANAGER is of
 * what manages the machines, not of the machine's BMC. ERR_DENIED with code
 * PROVIDER_PASSWORD_CHANGE: the BMC accepts the login, but no request until the password is
 * changed. This attachment does not log in again. An error with code PROVIDER_ADDRESS, also from
 * attach(): bmc_address has to be corrected. A slot that is NULL means unsupported: the wrappers
 * answer ERR_UNSUPPORTED and the lifecycle picks another way. Nothing here decides or repeats:
 * policy is the controller's.
 * Tests: tests/contract/test_provider.c
 */
#define PROVIDER_CALL_MS 60000
#define PROVIDER_OF_MANAGER 0x6d67	/* no HTTP status */
#define PROVIDER_ADDRESS 0x6164		/* no HTTP status */
#define PROVIDER_PASSWORD_CHANGE 0x7077 /* no HTTP status */

enum provider_power {
	PROVIDER_POWER_UNKNOWN,
	PROVIDER_POWER_OFF,
	PROVIDER_POWER_ON,
	PROVIDER_POWER_CHANGING
};
/* Unknown, Off, On, Changing */
extern const char *const provider_power_names[];
enum provider_boot {
	PROVIDER_BOOT_DISK /* no override */,
	PROVIDER_BOOT_MEDIA,
	PROVIDER_BOOT_HTTP
};

/* What boots next in place of the disk. */
enum provider_override {
	PROVIDER_OVERRIDE_NONE,
	/* virtual media */
	PROVIDER_OVERRIDE_MEDIA,
	PROVIDER_OVERRIDE_HTTP,
	/* whatever is none of drover's: network, USB, setup, what the BMC has no name for */
	PROVIDER_OVERRIDE_OTHER,
};

/* Type libvirt: one host, by the helper process drover-libvirt. */
struct provider_libvirt {
	/* of libvirt; storage pool of media and new drives */
	const char *uri, *pool;
	/* path of drover-libvirt; NULL: there is none */
	const char *helper;
	/* URIs that may be opened, letter for letter, NULL-terminated; NULL: none */
	const char *const *allowed;
};

/* Type exec: a program of the operator's own. */
struct provider_exec {
	/* NULL-terminated, no shell; [0] an absolute path */
	const char *const *command;
	/* paths that may be run, letter for letter, NULL-terminated; NULL: none */
	const char *const *allowed;
};

/* What manages the machines for their provider: BCM's head node. */
struct provider_manager {
	/* https://head:8081 */
	const char *endpoint;
	/* as in http_peer_spec */
	const char *ca_pem, *pin_sha256;
	/* with its key: the login, and no password is sent then */
	const char *cert_pem;
	const struct secret *key_pem;
	const char *user;
	const struct secret *password;
};

/* Type ec2: what may be launched, where, and as whom. */
enum provider_cloud_login {
	/* the keys given here */
	PROVIDER_LOGIN_KEYS,
	/* AWS_ACCESS_KEY_ID and its like, of this process */
	PROVIDER_LOGIN_ENVIRONMENT,
	/* a shared credentials file */
	PROVIDER_LOGIN_FILE,
	/* the role of the instance that drover runs on: its metadata service, version 2 */
	PROVIDER_LOGIN_INSTANCE,
	/* a role, by a token in a file: STS */
	PROVIDER_LOGIN_WEB_IDENTITY,
	/* The first of ENVIRONMENT, WEB_IDENTITY and FILE that the environment names; else
	 * INSTANCE. */
	PROVIDER_LOGIN_FOUND
};
struct provider_cloud_zone {
	const char *region, *zone, *subnet;
	/* NULL-terminated; NULL: the subnet's default */
	const char *const *security_groups;
	/* of that region; NULL: the provider's */
	const char *image;
};
struct provider_cloud_type {
	/* p5.48xlarge */
	const char *name;
	/* of kind EFA, one on each network card; 0: one ordinary interface */
	unsigned efa_interfaces;
	/* offered so */
	bool on_demand, spot;
};
struct provider_cloud_price {
	const char *type;
	/* NULL: in each */
	const char *region;
	/* elastic_market_names; NULL: OnDemand */
	const char *market;
	/* millionths of the currency */
	int64_t micros_per_hour;
};
struct provider_cloud {
	/* {region} in it is replaced; NULL: https://ec2.{region}.amazonaws.com */
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
	/* of the prices; NULL: USD */
	const char *currency;
	/* what the account has reserved is offered too */
	bool reservations;
	/* NULL: every zone has its own */
	const char *image;
	/* for people's SSH; NULL: none */
	const char *key_name;
	/* by name; NULL: none */
	const char *instance_profile;
	/* by name; NULL: none */
	const char *placement_group;
	/* /dev/sda1; NULL: the volume is as the image has it */
	const char *root_device;
	int64_t root_gib;
	enum provider_cloud_login login;
	/* KEYS */
	const char *access_key_id;
	const struct secret *secret_access_key, *session_token;
	/* FILE; NULL: as AWS's own tools have it */
	const char *file, *profile;
	/* WEB_IDENTITY; NULL: from the environment */
	const char *role_arn, *token_file;
	/* NULL: https://sts.{region}.amazonaws.com */
	const char *sts_endpoint;
	/* NULL: http://169.254.169.254 */
	const char *metadata_endpoint;
};

struct provider_spec {
	const char *name, *type;
	/* what boot media are fetched from; NULL: not known */
	const char *media_url;
	/* NULL: of another type */
	const struct provider_libvirt *libvirt;
	/* NULL: of another type */
	const struct provider_exec *exec;
	/* of type bcm; NULL: none. Copied */
	const struct provider_manager *manager;
	/* of type ec2; NULL: of another type. Copied */
	const struct provider_cloud *cloud;
	/* calls begun, all machines together; 0: as the type has it */
	double requests_per_s;
	/* 0: as the type has it */
	unsigned concurrent;
	struct loop_group *group;
	struct http *http;
	/* tests: http:// BMCs */
	bool plain_ok;
};
struct provider;
/* what a provider keeps for one machine: session, queue */
struct provider_machine;

struct provider_machine_spec {
	const char *name;
	/* of the Machine: who holds what its provider locks; NULL: nobody */
	const char *uid;
	/* what its manager calls it; NULL: its name */
	const char *node;
	const char *bmc_address;
	const char *user;
	const struct secret *password;
	const char *ca_pem, *pin_sha256;
	bool learn_pin;
	/* status.bmc.sessionURI of a predecessor; deleted first */
	const char *old_session;
};

/* How far what acquire() began is. */
enum provider_progress {
	/* nothing was asked, or nothing is known: neither failed nor done */
	PROVIDER_PROGRESS_UNKNOWN,
	/* asked for, and the machine has not booted into it */
	PROVIDER_PROGRESS_UNBEGUN,
	PROVIDER_PROGRESS_WAITING,
	/* by somebody else's decision */
	PROVIDER_PROGRESS_HELD,
	PROVIDER_PROGRESS_DONE,
	PROVIDER_PROGRESS_FAILED
};

/* What a managed machine is to run. */
struct provider_target {
	/* of its manager, by name */
	const char *category;
	/* in place of the category's; NULL: that */
	const char *image;
	/* management network; NULL: as it is */
	const char *network;
	/* block devices to be cleared, also beside the disk layout */
	const char *const *clear;
	size_t nclear;
};

/* One machine that a manager has. */
struct provider_found {
	/* NULL: not told */
	const char *node, *mac, *bmc_address, *serial;
	/* why drover leaves it alone; NULL: it need not */
	const char *refusal;
	/* its system is in touch with the manager */
	bool up;
};
struct provider_inventory {
	/* of the manager */
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

/* A drive that the machine's BMC lists, seen by the agent or not. What is not said is NULL or 0. */
struct provider_drive {
	const char *serial, *model;
	/* EUI, NAA or UUID, as given */
	const char *durable;
	/* for people */
	const char *slot;
	int64_t bytes;
	/* that it is a part of, by a RAID controller; NULL: none */
	const char *volume, *volume_durable;
	int64_t volume_bytes;
};

/* One look at a machine. */
struct provider_observation {
	/* loop_now() when the read was sent: freshness */
	int64_t read_at;
	enum provider_power power;
	/* as the BMC says; NULL: it does not */
	const char *system_uuid, *serial;
	enum provider_override boot_override;
	/* false: the media could not be read this time; true where there is no slot */
	bool media_known;
	bool media_inserted;
	/* NULL: none or unknown */
	const char *media_url;
	/* the slot lists HTTPS among what it fetches by */
	bool media_https;
	/* it checks the certificate of what it fetches so */
	bool media_verified;
	/* what HTTP boot would fetch, or did last; NULL: none or unknown */
	const char *http_url;
	/* that the BMC answers from; NULL: unknown */
	const char *address;
	/* to journal; NULL: none */
	const char *session_uri;
	/* trust on first use: to be stored; NULL: none */
	const char *learned_pin;
	/* What the machine's sensors call critical, for people; "": nothing; NULL: they were not
	 * read this time. */
	const char *fault;
	/* why they could not be read when that was tried last; NULL: they could */
	const char *unsensed;
	/* Managed: of the handle that was asked about. */
	enum provider_progress progress;
	/* in its manager's words; NULL: none */
	const char *handle_state;
	/* drives(): what is listed; drives_more: nothing yet, ask again. */
	const struct provider_drive *drives;
	size_t ndrives;
	bool drives_more;
	/* What of the list the BMC does not serve: its answer, HTTP status as code; 0: not asked
	 * (unless_firmware). NULL: drives is the whole list. */
	const struct err *drives_lack;
	/* that is the list itself, and drives are what a poorer list has */
	bool drives_simple;
};

/* What is known of a machine's BMC, for people.  Texts are the provider's, until its next call. */
#define PROVIDER_QUIRKS 16
struct provider_bmc {
	/* NULL: not said, or not read yet */
	const char *vendor, *product, *firmware;
	/* of its protocol */
	const char *service_version;
	/* ids of what is done otherwise with it */
	const char *quirks[PROVIDER_QUIRKS];
	size_t nquirks;
	/* how boot media go in: HTTP, HTTPS, Disabled, None; NULL: not known yet */
	const char *media;
	/* where; NULL: there is none, or none is known */
	const char *slot;
	/* Session, Basic; NULL: neither is open */
	const char *login;
	/* of an answer, smoothed; -1: none came */
	int64_t latency_ms;
	/* requests, since the machine was attached */
	uint64_t calls;
};

struct provider_call {
	/* journal id; idempotency key where the backend has one */
	const char *op_id;
	int64_t fence;
	/* observe: what an earlier call started; NULL: none */
	const char *handle;
	/* media, of https: CA of the server, PEM, for a slot that checks; read inside the call.
	 * NULL: not known. */
	const char *media_ca;
	/* drives: a BMC of this firmware version is known not to serve the list, and is not asked
	 * for it; ERR_UNSUPPORTED with code 0 if it has no poorer one. Read inside the call. NULL:
	 * asked whatever version it has. */
	const char *unless_firmware;
	/* Asked just before each request that changes the machine goes out (waiting for pace and
	 * login takes time): lease, fence and view still good? False: nothing is sent,
	 * ERR_CONFLICT. NULL: yes. */
	bool (*may_act)(void *arg);
	/* Asked before anything is changed, with what this very call has just read (the media are
	 * left out): is it the machine that is meant, as it has to be? -1: nothing is sent, and the
	 * call ends with that error. NULL: it is. */
	int (*fits)(const struct provider_observation *seen, void *arg, struct err *e);
	/* The login that the journal names, so that a successor can end it ("" where there is
	 * none): in another one nothing that changes the machine is sent, ERR_UNAVAILABLE; an
	 * observation tells the new one. NULL: any. */
	const char *session;
	/* Its turn came, and the machine is asked from now on. waited_ms: how long pace and places
	 * kept it, which is no silence of the machine. Not called when it is refused before. NULL:
	 * nobody wants to know. */
	void (*begun)(int64_t waited_ms, void *arg);
	/* o: observe() or drives() without an error, and valid during the call; else NULL. */
	void (*done)(const struct provider_observation *o, const char *handle, const struct err *e,
		     void *arg);
	void *arg;
};

/* A machine that is made: type libvirt. */
enum provider_bus { PROVIDER_BUS_SATA, PROVIDER_BUS_NVME };
/* sata, nvme */
extern const char *const provider_bus_names[];
#define PROVIDER_DRIVES 8
struct provider_template {
	/* uid of the Provider: who defined it, for ever */
	const char *owner;
	/* of the system, for ever */
	const char *uuid;
	int64_t cpus, memory_bytes;
	/* neither: a user network */
	const char *network, *bridge;
	/* of domain: kvm, qemu; NULL: kvm where the host has it */
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
	/* no done() after */
	void (*detach)(struct provider *p, struct provider_machine *m);
	void (*observe)(struct provider *p, struct provider_machine *m,
			const struct provider_call *c);
	void (*power)(struct provider *p, struct provider_machine *m, bool on,
		      const struct provider_call *c);
	void (*boot)(struct provider *p, struct provider_machine *m, enum provider_boot how,
		     const char *url, const struct provider_call *c);
	void (*media)(struct provider *p, struct provider_machine *m,
		      const char *url /* NULL: eject */, const struct provider_call *c);
	/* t is read inside the call. Defined: there, off, with its drives; undefined: gone with
	 * them. ERR_CONFLICT: one of that name is there and not drover's; what is on is not
	 * undefined. */
	void (*define)(struct provider *p, struct provider_machine *m,
		       const struct provider_template *t, const struct provider_call *c);
	void (*undefine)(struct provider *p, struct provider_machine *m,
			 const struct provider_template *t, const struct provider_call *c);
	/* Managed: what it boots next from the network installs the target anew; nothing boots it.
	 * Done: with a handle, for observe(). The same op_id again: the same handle, and nothing is
	 * begun anew. */
	void (*acquire)(struct provider *p, struct provider_machine *m,
			const struct provider_target *t, const struct provider_call *c);
	/* ... what acquire() changed is as it was, and nobody holds the machine. Nothing was:
	 * fine. */
	void (*release)(struct provider *p, struct provider_machine *m,
			const struct provider_call *c);
	/* Managed: what there is.  inventory: valid during done().  No done() after close(). */
	void (*discover)(struct provider *p,
			 void (*done)(const struct provider_inventory *i, const struct err *e,
				      void *arg),
			 void *arg);
	/* The drives that are listed, in several calls where the BMC is asked for each; no look at
	 * power or media. */
	void (*drives)(struct provider *p, struct provider_machine *m,
		       const struct provider_call *c);
	/* Whatever login is open is ended; a call after it opens one anew. */
	void (*log_out)(struct provider *p, struct provider_machine *m,
			const struct provider_call *c);
	/* The login that has been accepted and is open, also while the call that it is for still
	 * runs, or failed; NULL: none. only: no older one of ours is known to be open. */
	const char *(*session)(const struct provider_machine *m, bool *only);
	/* What is known of its BMC. False: nothing yet; calls and latency_ms are told all the
	 * same. */
	bool (*bmc)(const struct provider_machine *m, struct provider_bmc *out);
	/* A login that is still open and that no journal names, so that the next one ends it. */
	void (*inherit)(struct provider_machine *m, const char *session);
	/* It makes machines for money (elastic.h); NULL: there are those alone that a person put
	 * up. */
	const struct provider_elastic_ops *elastic;
};

struct provider {
	const struct provider_ops *ops;
	char *name;
	/* the implementation's */
	void *state;
	struct loop_group *group;
	/* answers of the wrappers under way */
	struct list refusals;
};

/* ERR_UNSUPPORTED names the type when there is no such provider. */
struct provider *provider_new(const struct provider_spec *s, struct err *e);
/* machines first */
void provider_free(struct provider *p);

/* The answer to a call that the provider cannot serve at all, with "no WHAT": for wrappers and
 * implementations. */
void provider_refuse(struct provider *p, const struct provider_call *c, const char *what);
/* provider_free()'s: no done() */
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
/* One at a time.  False: this type has nothing to discover, and done() does not come. */
bool provider_discover(struct provider *p,
		       void (*done)(const struct provider_inventory *i, const struct err *e,
				    void *arg),
		       void *arg);
/* it has acquire() */
bool provider_is_managed(const struct provider *p);
void provider_drives(struct provider *p, struct provider_machine *m, const struct provider_call *c);
const char *provider_session(const struct provider *p, const struct provider_machine *m,
			     bool *only);
bool provider_bmc(const struct provider *p, const struct provider_machine *m,
		  struct provider_bmc *out);
void provider_inherit(const struct provider *p, struct provider_machine *m, const char *session);
void provider_log_out(struct provider *p, struct provider_machine *m,
		      const struct provider_call *c);

/* As elastic.h says.  False: this type makes no machines, and done() does not come. */
bool provider_offers(struct provider *p, elastic_offers_done *done, void *arg);
bool provider_launch(struct provider *p, const struct elastic_launch *l,
		     elastic_instances_done *done, void *arg);
bool provider_list_owned(struct provider *p, const char *cluster, elastic_instances_done *done,
			 void *arg);
bool provider_terminate(struct provider *p, const char *region, const char *id,
			bool (*may_act)(void *arg), elastic_instances_done *done, void *arg);

#endif
