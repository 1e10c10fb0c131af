#ifndef REDFISH_REDFISH_H
#define REDFISH_REDFISH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "base/http/http.h"
#include "base/loop/loop.h"
#include "base/own.h"
#include "base/secret.h"

/*
 * redfish: client of one BMC: session, identity, power, boot override, virtual media.
 *
 * One call is in flight for each BMC; further calls wait in order. Everything is asynchronous on
 * the loop thread; done() is called exactly once, never inside the starting function. The client
 * follows links and never builds paths; every address that a BMC returns must have the configured
 * scheme, host and port. Bodies are bounded (1 MiB), as are depth and members. Sources: DSP0266
 * (protocol), DSP0268 (schemas); deviations of real BMCs are in quirks.def.
 *
 * Login: POST to the Sessions collection named by the service root. Basic is used only if there is
 * no session service (none is named; or 404, 405, 501), or if no session is free (for 10 min, then
 * a session is tried again), and never after a session has worked. Only sessions opened by drover
 * are deleted. A 401 during use leads to one new login, then to ERR_DENIED. A refused login (400,
 * 401, 403) is remembered for this credential: every further call of this client fails with
 * ERR_DENIED at once, without a request to the BMC; for other credentials, or another try, create a
 * new client. Such an error has code 401; ERR_DENIED with any other code concerns the certificate
 * or one resource.
 *
 * An operation that changes the machine first reads the System itself, and again after a login in
 * the middle of the operation: it changes the machine that this read showed, and fits() decides
 * whether that is the intended machine.
 *
 * ERR_CONFLICT comes only from may_act() and fits().
 *
 * A 202 is followed to the end of its task, for at most 20 s. After that, or if the task is lost,
 * the request counts as accepted, which proves nothing.
 *
 * After three consecutive operations without a usable reply (none, or 5xx) the client pauses for 5
 * s, up to a minute if it continues: every call fails at once with ERR_UNAVAILABLE and
 * retry_after_ms. A 429 or 503 has the same effect for the time that it asks for. A new client does
 * not pause.
 *
 * An operation consists of several exchanges and ends within REDFISH_OP_MS of its start, waiting
 * included.
 */
#define REDFISH_OP_MS 55000
/* Code of an error in the configured address: not the URL of a BMC, or a path that names no System.
 * Not an HTTP status. */
#define REDFISH_ADDRESS 0x6164
/* Code of ERR_DENIED: the BMC accepts the login, but no request until the password is changed.
 * Afterwards every call of this client fails in this way without a request, as after a refused
 * login. Not an HTTP status. */
#define REDFISH_PASSWORD_CHANGE 0x7077

struct redfish;
struct redfish_system;

struct redfish_spec {
	/* https://10.0.8.17/redfish/v1/Systems/1, or only https://10.0.8.17: then the only
	 * System with a Reset action that is not a DPU; if there are several, ERR_UNSUPPORTED
	 * lists them. */
	const char *system_url;
	/* As in http_peer_spec. */
	const char *ca_pem, *pin_sha256;
	bool learn_pin;
	const char *user;
	const struct secret *password;
	/* URI of a predecessor's session, deleted at the first login; NULL: none. */
	const char *old_session;
	/* Limit of one HTTP exchange in ms; 0 means 15 s. */
	uint32_t call_ms;
	/* Allows http:// (tests). */
	bool plain_ok;
	/* Called with an operation's arg just before each request that changes the machine is sent
	 * (never for logins); false: nothing is sent, the operation ends with ERR_CONFLICT. NULL:
	 * always allowed. */
	bool (*may_act)(void *arg);
	/* Called with an operation's arg and the System just read, before the operation changes the
	 * machine: is this the intended machine? -1: nothing is sent, the operation ends with that
	 * error. s: as from redfish_read_system(), except overrides that are stored elsewhere than
	 * in the System. NULL: always the intended machine. */
	int (*fits)(const struct redfish_system *s, void *arg, struct err *e);
};
struct redfish *redfish_new(struct loop_group *g, struct http *h, const struct redfish_spec *s,
			    struct err *e);
/* Drops calls in flight without done(); leaves the session for the successor to delete. */
void redfish_free(struct redfish *r);
/* URI of the session; NULL: none. */
DEFINE_OWN(redfish)
const char *redfish_session_uri(const struct redfish *r);
/* True if no older session of drover is known to exist. */
bool redfish_session_is_only(const struct redfish *r);
/* Adds a predecessor's session, other than spec.old_session, to delete at the next login. */
void redfish_inherit(struct redfish *r, const char *session);
/* Address that the latest reply came from; NULL: no reply yet. */
const char *redfish_address(const struct redfish *r);
/* NULL: none. */
const char *redfish_learned_pin(const struct redfish *r);

enum redfish_power {
	REDFISH_POWER_UNKNOWN,
	REDFISH_POWER_OFF,
	REDFISH_POWER_ON,
	REDFISH_POWER_TURNING_ON,
	REDFISH_POWER_TURNING_OFF
};

/* Result of one fresh read of the System. */
struct redfish_system {
	/* loop_now() when the request was sent. */
	int64_t read_at;
	enum redfish_power power;
	/* Lower case, in the BMC's byte order; NULL: none, or a vendor's default. */
	const char *system_uuid;
	const char *serial, *manufacturer, *model, *bios_version;
	/* BootSourceOverrideTarget as reported, "None" if disabled; "Cd" means virtual media,
	 * "PhysicalCd" the physical drive where the vendor's Cd means that. */
	const char *boot_target;
	/* Disabled, Once or Continuous. */
	const char *boot_enabled;
	const char *boot_mode;
	const char *http_boot_uri;
	/* NULL: not reported. */
	const char *boot_progress;
	bool health_told;
	/* With health_told: the critical parts, as text for display; "": none. */
	char fault[256];
};
/* s is valid during done(). */
void redfish_read_system(struct redfish *r,
			 void (*done)(const struct redfish_system *s, const struct err *e,
				      void *arg),
			 void *arg);

/* Requests a power state. done() is called when the BMC has accepted the request, which proves
 * nothing: read the System. Off is ForceOff (GracefulShutdown only if nothing else is listed). If
 * On has no effect, from the third request on ForceOn and PowerCycle are used as well. Requesting
 * the present state is not an error. */
void redfish_power(struct redfish *r, bool on, void (*done)(const struct err *e, void *arg),
		   void *arg);

enum redfish_boot {
	/* Clears the override. */
	REDFISH_BOOT_NONE,
	REDFISH_BOOT_CD,
	REDFISH_BOOT_HTTP,
	REDFISH_BOOT_HDD
};
/* Clearing also empties HttpBootUri if the BMC permits: read the System. */
void redfish_boot(struct redfish *r, enum redfish_boot target, const char *http_uri,
		  void (*done)(const struct err *e, void *arg), void *arg);

/* The CD/DVD slot, in Systems/{}/VirtualMedia or Managers/{}/VirtualMedia. */
struct redfish_media {
	int64_t read_at;
	bool inserted;
	/* As reported; NULL or "": none. */
	const char *image;
	/* The slot lists HTTPS: in its TransferProtocolType, in InsertMedia, or in its ActionInfo
	 * (AllowableValues, DSP0266). False: not listed, or no list. */
	bool takes_https;
	/* The slot verifies the certificate of the server that it fetches from (VerifyCertificate);
	 * false: it does not, or does not report it. */
	bool verifies;
};
void redfish_read_media(struct redfish *r,
			void (*done)(const struct redfish_media *m, const struct err *e, void *arg),
			void *arg);
/* Enables the slots if that needs a separate action, ejects the present medium, then inserts url
 * (no change if url is already inserted). ERR_UNSUPPORTED: the BMC has no CD slot; ERR_INVALID: it
 * refuses every form. ca_pem: CA of the server of an https url; a slot that verifies certificates
 * gets this CA, or else verification is turned off. NULL: not known. */
void redfish_insert(struct redfish *r, const char *url, const char *ca_pem,
		    void (*done)(const struct err *e, void *arg), void *arg);
/* An empty slot is success. */
void redfish_eject(struct redfish *r, void (*done)(const struct err *e, void *arg), void *arg);

/* What this client has learned about its BMC, for display; sends no request. */
enum redfish_login { REDFISH_LOGIN_NONE, REDFISH_LOGIN_SESSION, REDFISH_LOGIN_BASIC };
enum redfish_way {
	/* The slot was not searched yet. */
	REDFISH_WAY_UNKNOWN,
	/* There is no CD slot. */
	REDFISH_WAY_NONE,
	/* No CD slot before remote media are enabled, which redfish_insert() does. */
	REDFISH_WAY_DISABLED,
	/* The slot does not list HTTPS. */
	REDFISH_WAY_HTTP,
	/* As takes_https of redfish_media. */
	REDFISH_WAY_HTTPS
};
#define REDFISH_QUIRKS 16
struct redfish_facts {
	/* Its path; NULL: not read, and the other facts may be missing. */
	const char *system;
	/* NULL: not reported, or no System was read. */
	const char *vendor, *product, *redfish_version;
	/* Version of its Manager; NULL: not reported, or no Manager was read. */
	const char *firmware;
	struct {
		/* From quirks.def; static. */
		const char *id, *name;
	} quirks[REDFISH_QUIRKS];
	size_t nquirks;
	enum redfish_way way;
	/* Path of the CD slot; NULL: none is known. */
	const char *slot;
	enum redfish_login login;
	/* Time of a reply, smoothed over about ten; -1: no reply yet. */
	int64_t latency_ms;
	/* Requests that this client has sent. */
	uint64_t calls;
};
/* The texts belong to the client and are valid until its next operation. */
struct redfish_facts redfish_facts(const struct redfish *r);

/* What a BMC can do for drover, by what it lists; nothing is tried. */
struct redfish_abilities {
	/* It lists a ResetType for on, and for off. */
	bool on, off;
	/* It lists ForceOff; otherwise the operating system is asked to shut down. */
	bool forced_off;
	/* Targets for redfish_boot(). */
	bool boots_cd, boots_http;
	/* It names an UpdateService. */
	bool updates;
	/* InterfaceType of the System's first TrustedModule; NULL: none is named. */
	const char *tpm;
};
void redfish_read_abilities(struct redfish *r,
			    void (*done)(const struct redfish_abilities *a, const struct err *e,
					 void *arg),
			    void *arg);
/* After a read failed with ERR_UNSUPPORTED: the paths of the Systems among which the address has to
 * choose; 0: another cause. */
size_t redfish_systems(const struct redfish *r, const char **v, size_t max);

/* Several drives that the controller presents as one. */
struct redfish_volume {
	/* durable: as for a drive. */
	const char *name, *durable;
	/* 0: not reported. */
	int64_t bytes;
};
/* A drive that the BMC lists; members that it does not report are NULL or 0. Texts are bounded,
 * printable and have no blanks at their ends. */
struct redfish_drive {
	const char *serial, *model;
	/* EUI, NAA or UUID, as reported. */
	const char *durable;
	/* ServiceLabel, else Name; for display. */
	const char *slot;
	int64_t bytes;
	/* Volume that the drive is part of; NULL: none is reported. */
	const struct redfish_volume *volume;
};
struct redfish_drives {
	/* The list continues: call again; v is empty. */
	bool more;
	const struct redfish_drive *v;
	/* At most 256; 0: none is listed. */
	size_t n;
	/* The first part of the list that the BMC answered for and does not serve: v is incomplete.
	 * NULL: v is complete. */
	const struct err *lacks;
	/* lacks concerns Storage itself, and v comes from SimpleStorage. */
	bool simple;
};
/* Sends a few requests for the list; call it again until `more` is false. A part that the BMC does
 * not serve (rf_is_lacking() in redfish/internal.h) is left out. ERR_UNSUPPORTED with the HTTP
 * status as code: the BMC does not serve the list, and lists no drive elsewhere. Any other failure
 * ends this call only, and the next call continues. unless_firmware: Storage is not requested if
 * the Manager reports this firmware version ("": it reports none); `lacks`, or the error if
 * SimpleStorage lists none, is then ERR_UNSUPPORTED with code 0. NULL: Storage is always requested.
 * d is valid during done(). */
void redfish_read_drives(struct redfish *r, const char *unless_firmware,
			 void (*done)(const struct redfish_drives *d, const struct err *e,
				      void *arg),
			 void *arg);

/* Ends the session of this client, and its predecessor's (spec.old_session, for which it logs in);
 * sends nothing if there is neither. A later call logs in again. */
void redfish_log_out(struct redfish *r, void (*done)(const struct err *e, void *arg), void *arg);

#endif
