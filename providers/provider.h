#ifndef PROVIDERS_PROVIDER_H
#define PROVIDERS_PROVIDER_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "base/http/http.h"
#include "base/list.h"
#include "base/loop/loop.h"
#include "base/secret.h"
#include "providers/timed_calls.h"

/*
 * provider: one interface to the machines of a Provider, for Redfish, IPMI, libvirt, BCM, clouds
 * and programs of the operator (exec). This header opens a provider, attaches machines, and has the
 * rules for all calls. The calls themselves:
 *
 *   hardware.h	machines behind a BMC: observation, power, boot, media, drives
 *   managed.h	machines that a manager installs: inventory, installation
 *   elastic.h	paid instances: offers, launch, list, terminate
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
 * - ERR_UNSUPPORTED: this type does not have the call (its slot is NULL), and the caller uses
 *   another method.
 *
 * A provider makes no decisions and repeats no calls by itself: the controller does that.
 * Tests: tests/contract/test_provider.c
 */
#define PROVIDER_CALL_MS 60000
/* Error codes outside the range of HTTP status codes. */
#define PROVIDER_OF_MANAGER 0x6d67
#define PROVIDER_ADDRESS 0x6164
#define PROVIDER_PASSWORD_CHANGE 0x7077

struct provider_cloud;
struct provider_elastic_ops;
struct provider_exec;
struct provider_hardware_ops;
struct provider_libvirt;
struct provider_managed_ops;
struct provider_manager;
struct provider_observation;

struct provider_spec {
	const char *name, *type;
	/* Base URL from which BMCs fetch boot media; NULL: unknown */
	const char *media_url;
	/* Settings of type libvirt (libvirt_provider.h); NULL for other types */
	const struct provider_libvirt *libvirt;
	/* Settings of type exec (exec_provider.h); NULL for other types */
	const struct provider_exec *exec;
	/* Settings of type bcm (bcm/provider.h), copied; NULL for other types */
	const struct provider_manager *manager;
	/* Settings of type ec2 (ec2/provider.h), copied; NULL for other types */
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
/* State that a provider keeps for one machine: session and queue. Opaque to callers; jobs.h defines
 * the part that all implementations share. */
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
	/* True: a pod waits for this machine. Such calls come before others in the queue, except
	 * that every fourth call is another one if any waits. */
	bool awaited;
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

struct provider_ops {
	const char *type;
	int (*open)(struct provider *p, const struct provider_spec *s, struct err *e);
	void (*close)(struct provider *p);
	struct provider_machine *(*attach)(struct provider *p,
					   const struct provider_machine_spec *s, struct err *e);
	/* Frees m. Its pending calls end without done(). */
	void (*detach)(struct provider *p, struct provider_machine *m);
	/* Calls about one machine (hardware.h). NULL: this type only launches instances; attach and
	 * detach are then NULL too */
	const struct provider_hardware_ops *hardware;
	/* Calls of a manager (managed.h); NULL: this type has no manager */
	const struct provider_managed_ops *managed;
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
 * functions of hardware.h and managed.h, and by implementations. */
void provider_refuse(struct provider *p, const struct provider_call *c, const char *what);
/* Drops the pending answers of provider_refuse() without calling done(). Used by
 * provider_free(). */
void provider_refusals_drop(struct provider *p);

struct provider_machine *provider_attach(struct provider *p, const struct provider_machine_spec *s,
					 struct err *e);
void provider_detach(struct provider *p, struct provider_machine *m);

#endif
