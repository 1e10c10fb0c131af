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
 * provider: where machines come from and how they are switched: one interface
 * over Redfish, IPMI, libvirt, BCM, clouds and exec.
 *
 * Every call names a target state or a desired thing, never a blind action; is
 * asynchronous on the loop thread; completes exactly once through call.done,
 * never inside the starting function, with done, started (handle) or an error; within PROVIDER_CALL_MS from when its
 * turn in the provider's own line came (limits of pace and places), for only then is a machine asked.
 * ERR_DENIED with code 401: the login was refused; it is not tried again by this attachment.
 * A handle is for the journal; only observe() tells progress after that.
 * An error with code PROVIDER_OF_MANAGER is of what manages the machines, not of the machine's BMC.
 * ERR_DENIED with code PROVIDER_PASSWORD_CHANGE: the BMC accepts the login, but no request until
 * the password is changed.  This attachment does not log in again.
 * An error with code PROVIDER_ADDRESS, also from attach(): bmc_address has to be corrected.
 * A slot that is NULL means unsupported: the wrappers answer ERR_UNSUPPORTED and
 * the lifecycle picks another way.  Nothing here decides or repeats: policy is the controller's.
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
extern const char *const provider_power_names[]; /* Unknown, Off, On, Changing */
enum provider_boot {
	PROVIDER_BOOT_DISK /* no override */,
	PROVIDER_BOOT_MEDIA,
	PROVIDER_BOOT_HTTP
};

/* What boots next in place of the disk. */
enum provider_override {
	PROVIDER_OVERRIDE_NONE,
	PROVIDER_OVERRIDE_MEDIA, /* virtual media */
	PROVIDER_OVERRIDE_HTTP,
	PROVIDER_OVERRIDE_OTHER, /* whatever is none of drover's: network, USB, setup, what the BMC has no name for */
};

/* Type libvirt: one host, by the helper process drover-libvirt. */
struct provider_libvirt {
	const char *uri, *pool; /* of libvirt; storage pool of media and new drives */
	const char *helper;	/* path of drover-libvirt; NULL: there is none */
	const char *const *
		allowed; /* URIs that may be opened, letter for letter, NULL-terminated; NULL: none */
};

/* Type exec: a program of the operator's own. */
struct provider_exec {
	const char *const *command; /* NULL-terminated, no shell; [0] an absolute path */
	const char *const *
		allowed; /* paths that may be run, letter for letter, NULL-terminated; NULL: none */
};

/* What manages the machines for their provider: BCM's head node. */
struct provider_manager {
	const char *endpoint;		 /* https://head:8081 */
	const char *ca_pem, *pin_sha256; /* as in http_peer_spec */
	const char *cert_pem;		 /* with its key: the login, and no password is sent then */
	const struct secret *key_pem;
	const char *user;
	const struct secret *password;
};

/* Type ec2: what may be launched, where, and as whom. */
enum provider_cloud_login {
	PROVIDER_LOGIN_KEYS,	    /* the keys given here */
	PROVIDER_LOGIN_ENVIRONMENT, /* AWS_ACCESS_KEY_ID and its like, of this process */
	PROVIDER_LOGIN_FILE,	    /* a shared credentials file */
	PROVIDER_LOGIN_INSTANCE, /* the role of the instance that drover runs on: its metadata service, version 2 */
	PROVIDER_LOGIN_WEB_IDENTITY, /* a role, by a token in a file: STS */
	/* The first of ENVIRONMENT, WEB_IDENTITY and FILE that the environment names; else INSTANCE. */
	PROVIDER_LOGIN_FOUND
};
struct provider_cloud_zone {
	const char *region, *zone, *subnet;
	const char *const *security_groups; /* NULL-terminated; NULL: the subnet's default */
	const char *image;		    /* of that region; NULL: the provider's */
};
struct provider_cloud_type {
	const char *name; /* p5.48xlarge */
	unsigned
		efa_interfaces; /* of kind EFA, one on each network card; 0: one ordinary interface */
	bool on_demand, spot;	/* offered so */
};
struct provider_cloud_price {
	const char *type;
	const char *region;	 /* NULL: in each */
	const char *market;	 /* elastic_market_names; NULL: OnDemand */
	int64_t micros_per_hour; /* millionths of the currency */
};
struct provider_cloud {
	const char *
		endpoint; /* {region} in it is replaced; NULL: https://ec2.{region}.amazonaws.com */
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
	const char *currency;	      /* of the prices; NULL: USD */
	bool reservations;	      /* what the account has reserved is offered too */
	const char *image;	      /* NULL: every zone has its own */
	const char *key_name;	      /* for people's SSH; NULL: none */
	const char *instance_profile; /* by name; NULL: none */
	const char *placement_group;  /* by name; NULL: none */
	const char *root_device;      /* /dev/sda1; NULL: the volume is as the image has it */
	int64_t root_gib;
	enum provider_cloud_login login;
	const char *access_key_id; /* KEYS */
	const struct secret *secret_access_key, *session_token;
	const char *file, *profile;	   /* FILE; NULL: as AWS's own tools have it */
	const char *role_arn, *token_file; /* WEB_IDENTITY; NULL: from the environment */
	const char *sts_endpoint;	   /* NULL: https://sts.{region}.amazonaws.com */
	const char *metadata_endpoint;	   /* NULL: http://169.254.169.254 */
};

struct provider_spec {
	const char *name, *type;
	const char *media_url; /* what boot media are fetched from; NULL: not known */
	const struct provider_libvirt *libvirt; /* NULL: of another type */
	const struct provider_exec *exec;	/* NULL: of another type */
	const struct provider_manager *manager; /* of type bcm; NULL: none.  Copied */
	const struct provider_cloud *cloud;	/* of type ec2; NULL: of another type.  Copied */
	double requests_per_s; /* calls begun, all machines together; 0: as the type has it */
	unsigned concurrent;   /* 0: as the type has it */
	struct loop_group *group;
	struct http *http;
	bool plain_ok; /* tests: http:// BMCs */
};
struct provider;
struct provider_machine; /* what a provider keeps for one machine: session, queue */

struct provider_machine_spec {
	const char *name;
	const char *uid;  /* of the Machine: who holds what its provider locks; NULL: nobody */
	const char *node; /* what its manager calls it; NULL: its name */
	const char *bmc_address;
	const char *user;
	const struct secret *password;
	const char *ca_pem, *pin_sha256;
	bool learn_pin;
	const char *old_session; /* status.bmc.sessionURI of a predecessor; deleted first */
};

/* How far what acquire() began is. */
enum provider_progress {
	PROVIDER_PROGRESS_UNKNOWN, /* nothing was asked, or nothing is known: neither failed nor done */
	PROVIDER_PROGRESS_UNBEGUN, /* asked for, and the machine has not booted into it */
	PROVIDER_PROGRESS_WAITING,
	PROVIDER_PROGRESS_HELD, /* by somebody else's decision */
	PROVIDER_PROGRESS_DONE,
	PROVIDER_PROGRESS_FAILED
};

/* What a managed machine is to run. */
struct provider_target {
	const char *category;	  /* of its manager, by name */
	const char *image;	  /* in place of the category's; NULL: that */
	const char *network;	  /* management network; NULL: as it is */
	const char *const *clear; /* block devices to be cleared, also beside the disk layout */
	size_t nclear;
};

/* One machine that a manager has. */
struct provider_found {
	const char *node, *mac, *bmc_address, *serial; /* NULL: not told */
	const char *refusal; /* why drover leaves it alone; NULL: it need not */
	bool up;	     /* its system is in touch with the manager */
};
struct provider_inventory {
	const char *version; /* of the manager */
	struct {
		struct provider_found *v;
		size_t n;
	} machines;
	struct {
		const char **v;
		size_t n;
	} categories, images, networks;
};

/* A drive that the machine's BMC lists, seen by the agent or not.  What is not said is NULL or 0. */
struct provider_drive {
	const char *serial, *model;
	const char *durable; /* EUI, NAA or UUID, as given */
	const char *slot;    /* for people */
	int64_t bytes;
	const char *volume,
		*volume_durable; /* that it is a part of, by a RAID controller; NULL: none */
	int64_t volume_bytes;
};

/* One look at a machine. */
struct provider_observation {
	int64_t read_at; /* loop_now() when the read was sent: freshness */
	enum provider_power power;
	const char *system_uuid, *serial; /* as the BMC says; NULL: it does not */
	enum provider_override boot_override;
	bool media_known; /* false: the media could not be read this time; true where there is no slot */
	bool media_inserted;
	const char *media_url; /* NULL: none or unknown */
	bool media_https;      /* the slot lists HTTPS among what it fetches by */
	bool media_verified;   /* it checks the certificate of what it fetches so */
	const char *http_url;  /* what HTTP boot would fetch, or did last; NULL: none or unknown */
	const char *address;   /* that the BMC answers from; NULL: unknown */
	const char *session_uri; /* to journal; NULL: none */
	const char *learned_pin; /* trust on first use: to be stored; NULL: none */
	/* What the machine's sensors call critical, for people; "": nothing; NULL: they were not read this time. */
	const char *fault;
	const char *
		unsensed; /* why they could not be read when that was tried last; NULL: they could */
	/* Managed: of the handle that was asked about. */
	enum provider_progress progress;
	const char *handle_state; /* in its manager's words; NULL: none */
	/* drives(): what is listed; drives_more: nothing yet, ask again. */
	const struct provider_drive *drives;
	size_t ndrives;
	bool drives_more;
	/* What of the list the BMC does not serve: its answer, HTTP status as code; 0: not asked (unless_firmware).  NULL:
	 * drives is the whole list. */
	const struct err *drives_lack;
	bool drives_simple; /* that is the list itself, and drives are what a poorer list has */
};

/* What is known of a machine's BMC, for people.  Texts are the provider's, until its next call. */
#define PROVIDER_QUIRKS 16
struct provider_bmc {
	const char *vendor, *product, *firmware; /* NULL: not said, or not read yet */
	const char *service_version;		 /* of its protocol */
	const char *quirks[PROVIDER_QUIRKS];	 /* ids of what is done otherwise with it */
	size_t nquirks;
	const char
		*media; /* how boot media go in: HTTP, HTTPS, Disabled, None; NULL: not known yet */
	const char *slot;   /* where; NULL: there is none, or none is known */
	const char *login;  /* Session, Basic; NULL: neither is open */
	int64_t latency_ms; /* of an answer, smoothed; -1: none came */
	uint64_t calls;	    /* requests, since the machine was attached */
};

struct provider_call {
	const char *op_id; /* journal id; idempotency key where the backend has one */
	int64_t fence;
	const char *handle; /* observe: what an earlier call started; NULL: none */
	/* media, of https: CA of the server, PEM, for a slot that checks; read inside the call.  NULL: not known. */
	const char *media_ca;
	/* drives: a BMC of this firmware version is known not to serve the list, and is not asked for it; ERR_UNSUPPORTED
	 * with code 0 if it has no poorer one.  Read inside the call.  NULL: asked whatever version it has. */
	const char *unless_firmware;
	/* Asked just before each request that changes the machine goes out (waiting for pace and login
	 * takes time): lease, fence and view still good?  False: nothing is sent, ERR_CONFLICT.  NULL: yes. */
	bool (*may_act)(void *arg);
	/* Asked before anything is changed, with what this very call has just read (the media are left out): is it the
	 * machine that is meant, as it has to be?  -1: nothing is sent, and the call ends with that error.  NULL: it is. */
	int (*fits)(const struct provider_observation *seen, void *arg, struct err *e);
	/* The login that the journal names, so that a successor can end it ("" where there is none): in another
	 * one nothing that changes the machine is sent, ERR_UNAVAILABLE; an observation tells the new one.
	 * NULL: any. */
	const char *session;
	/* Its turn came, and the machine is asked from now on.  waited_ms: how long pace and places kept it, which is no
	 * silence of the machine.  Not called when it is refused before.  NULL: nobody wants to know. */
	void (*begun)(int64_t waited_ms, void *arg);
	/* o: observe() or drives() without an error, and valid during the call; else NULL. */
	void (*done)(const struct provider_observation *o, const char *handle, const struct err *e,
		     void *arg);
	void *arg;
};

/* A machine that is made: type libvirt. */
enum provider_bus { PROVIDER_BUS_SATA, PROVIDER_BUS_NVME };
extern const char *const provider_bus_names[]; /* sata, nvme */
#define PROVIDER_DRIVES 8
struct provider_template {
	const char *owner; /* uid of the Provider: who defined it, for ever */
	const char *uuid;  /* of the system, for ever */
	int64_t cpus, memory_bytes;
	const char *network, *bridge; /* neither: a user network */
	const char *type;	      /* of domain: kvm, qemu; NULL: kvm where the host has it */
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
	void (*detach)(struct provider *p, struct provider_machine *m); /* no done() after */
	void (*observe)(struct provider *p, struct provider_machine *m,
			const struct provider_call *c);
	void (*power)(struct provider *p, struct provider_machine *m, bool on,
		      const struct provider_call *c);
	void (*boot)(struct provider *p, struct provider_machine *m, enum provider_boot how,
		     const char *url, const struct provider_call *c);
	void (*media)(struct provider *p, struct provider_machine *m,
		      const char *url /* NULL: eject */, const struct provider_call *c);
	/* t is read inside the call.  Defined: there, off, with its drives; undefined: gone with them.  ERR_CONFLICT: one of
	 * that name is there and not drover's; what is on is not undefined. */
	void (*define)(struct provider *p, struct provider_machine *m,
		       const struct provider_template *t, const struct provider_call *c);
	void (*undefine)(struct provider *p, struct provider_machine *m,
			 const struct provider_template *t, const struct provider_call *c);
	/* Managed: what it boots next from the network installs the target anew; nothing boots it.  Done: with a handle,
	 * for observe().  The same op_id again: the same handle, and nothing is begun anew. */
	void (*acquire)(struct provider *p, struct provider_machine *m,
			const struct provider_target *t, const struct provider_call *c);
	/* ... what acquire() changed is as it was, and nobody holds the machine.  Nothing was: fine. */
	void (*release)(struct provider *p, struct provider_machine *m,
			const struct provider_call *c);
	/* Managed: what there is.  inventory: valid during done().  No done() after close(). */
	void (*discover)(struct provider *p,
			 void (*done)(const struct provider_inventory *i, const struct err *e,
				      void *arg),
			 void *arg);
	/* The drives that are listed, in several calls where the BMC is asked for each; no look at power or media. */
	void (*drives)(struct provider *p, struct provider_machine *m,
		       const struct provider_call *c);
	/* Whatever login is open is ended; a call after it opens one anew. */
	void (*log_out)(struct provider *p, struct provider_machine *m,
			const struct provider_call *c);
	/* The login that has been accepted and is open, also while the call that it is for still runs, or failed; NULL: none.
	 * only: no older one of ours is known to be open. */
	const char *(*session)(const struct provider_machine *m, bool *only);
	/* What is known of its BMC.  False: nothing yet; calls and latency_ms are told all the same. */
	bool (*bmc)(const struct provider_machine *m, struct provider_bmc *out);
	/* A login that is still open and that no journal names, so that the next one ends it. */
	void (*inherit)(struct provider_machine *m, const char *session);
	/* It makes machines for money (elastic.h); NULL: there are those alone that a person put up. */
	const struct provider_elastic_ops *elastic;
};

struct provider {
	const struct provider_ops *ops;
	char *name;
	void *state; /* the implementation's */
	struct loop_group *group;
	struct list refusals; /* answers of the wrappers under way */
};

/* ERR_UNSUPPORTED names the type when there is no such provider. */
struct provider *provider_new(const struct provider_spec *s, struct err *e);
void provider_free(struct provider *p); /* machines first */

/* The answer to a call that the provider cannot serve at all, with "no WHAT": for wrappers and implementations. */
void provider_refuse(struct provider *p, const struct provider_call *c, const char *what);
void provider_refusals_drop(struct provider *p); /* provider_free()'s: no done() */

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
bool provider_is_managed(const struct provider *p); /* it has acquire() */
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
