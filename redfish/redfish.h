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
 * redfish: one BMC: session, identity, power, boot override, virtual media.
 *
 * One call in flight for each BMC; further ones wait in order. Everything is asynchronous on the
 * loop thread; done() comes exactly once, never inside the starting function. Links are followed,
 * paths never built; every address that a BMC gives must have the configured scheme, host and port.
 * Bodies are bounded (1 MiB), depth and members too. Sources: DSP0266 (protocol), DSP0268
 * (schemas); what real BMCs do instead is in quirks.def.
 *
 * Login: POST to the Sessions collection named by the service root; Basic only where there is no
 * session service (none is named; or 404, 405, 501: as below), or no session is free (for 10 min,
 * then a session is tried for again), and never after a session once worked. Of sessions only those
 * are deleted that drover opened. 401 in the middle of use: one new login, then ERR_DENIED. A
 * refused login (400, 401, 403) is remembered for this credential: every further call of this
 * client fails with ERR_DENIED at once, without touching the BMC; for other credentials, or another
 * try, make a new client. Such an error has the code 401; ERR_DENIED with any other is about the
 * certificate or one resource.
 *
 * An operation that changes the machine first reads the System itself, and again after a login in
 * the middle of it: what it changes is the machine that this read showed, and fits() says whether
 * it is the one that is meant.
 *
 * ERR_CONFLICT is of may_act() and fits(); nothing else is.
 *
 * A 202 is followed to the end of its task, for 20 s at the longest; after that, or when the task
 * is lost, it counts as taken, which proves nothing.
 *
 * After three operations in a row without a useful answer (none, or 5xx) the BMC is left alone for
 * 5 s, up to a minute when it goes on so: every call fails at once with ERR_UNAVAILABLE and
 * retry_after_ms. So it is for as long as a 429 or 503 asked for. A new client does not wait.
 *
 * An operation is several exchanges and ends within REDFISH_OP_MS of being asked for, waiting
 * included.
 */
#define REDFISH_OP_MS 55000
/* Code of an error of the configured address: no URL of a BMC, or a path that names no System. */
#define REDFISH_ADDRESS 0x6164 /* no HTTP status */
/* Code of ERR_DENIED: the BMC accepts the login, but no request until the password is changed.
 * Afterwards every call of this client fails so without a request, as after a refused login. */
#define REDFISH_PASSWORD_CHANGE 0x7077 /* no HTTP status */

struct redfish;
struct redfish_system;

struct redfish_spec {
	/* https://10.0.8.17/redfish/v1/Systems/1, or only https://10.0.8.17: then the one System
	 * with Reset that is no DPU; where there are several, ERR_UNSUPPORTED lists them */
	const char *system_url;
	/* as in http_peer_spec */
	const char *ca_pem, *pin_sha256;
	bool learn_pin;
	const char *user;
	const struct secret *password;
	/* URI of a predecessor's session, deleted at the first login; NULL: none */
	const char *old_session;
	/* limit of one HTTP exchange; 0: 15 s */
	uint32_t call_ms;
	/* http:// (tests) */
	bool plain_ok;
	/* Called with an operation's arg just before each request that changes the machine goes out
	 * (never for logins); false: nothing is sent, the operation ends with ERR_CONFLICT. NULL:
	 * always. */
	bool (*may_act)(void *arg);
	/* Called with an operation's arg and the System that it has just read, before it changes
	 * the machine: is this the one that is meant? -1: nothing is sent, the operation ends with
	 * that error. s: as redfish_read_system() gives it, but for overrides that stand elsewhere
	 * than in the System. NULL: it is. */
	int (*fits)(const struct redfish_system *s, void *arg, struct err *e);
};
struct redfish *redfish_new(struct loop_group *g, struct http *h, const struct redfish_spec *s,
			    struct err *e);
/* ends what is in flight without done(); the session is left for the successor to delete */
void redfish_free(struct redfish *r);
/* NULL: none */
DEFINE_OWN(redfish)
const char *redfish_session_uri(const struct redfish *r);
/* No older session of ours is known to be there beside it. */
bool redfish_session_is_only(const struct redfish *r);
/* A session of a client before this one that spec.old_session is not: deleted at the next login
 * too. */
void redfish_inherit(struct redfish *r, const char *session);
/* that it answers from, by its newest reply; NULL: none came */
const char *redfish_address(const struct redfish *r);
/* NULL: none */
const char *redfish_learned_pin(const struct redfish *r);

enum redfish_power {
	REDFISH_POWER_UNKNOWN,
	REDFISH_POWER_OFF,
	REDFISH_POWER_ON,
	REDFISH_POWER_TURNING_ON,
	REDFISH_POWER_TURNING_OFF
};

/* What one fresh read of the System said. */
struct redfish_system {
	/* loop_now() when the request was sent */
	int64_t read_at;
	enum redfish_power power;
	/* lower case, in the order of the BMC; NULL: none, or a maker's default */
	const char *system_uuid;
	const char *serial, *manufacturer, *model, *bios_version;
	/* BootSourceOverrideTarget as given, "None" when disabled; "Cd" is virtual media, and
	 * "PhysicalCd" where the maker means the drive in the box by that */
	const char *boot_target;
	/* Disabled, Once, Continuous */
	const char *boot_enabled;
	const char *boot_mode;
	const char *http_boot_uri;
	/* NULL: not given */
	const char *boot_progress;
	bool health_told;
	/* health_told: what is Critical, for people; "": nothing */
	char fault[256];
};
/* s is valid during done(). */
void redfish_read_system(struct redfish *r,
			 void (*done)(const struct redfish_system *s, const struct err *e,
				      void *arg),
			 void *arg);

/* Ask for a power state; done() when the BMC took the request, which proves nothing: read the
 * system. Off is ForceOff (GracefulShutdown only where there is nothing else). On that has no
 * effect is asked for in other ways from the third time on: ForceOn, PowerCycle. Asking for what
 * already is, is not an error. */
void redfish_power(struct redfish *r, bool on, void (*done)(const struct err *e, void *arg),
		   void *arg);

enum redfish_boot {
	REDFISH_BOOT_NONE /* clear the override */,
	REDFISH_BOOT_CD,
	REDFISH_BOOT_HTTP,
	REDFISH_BOOT_HDD
};
/* Clearing empties HttpBootUri too, where the BMC lets it: read the system. */
void redfish_boot(struct redfish *r, enum redfish_boot target, const char *http_uri,
		  void (*done)(const struct err *e, void *arg), void *arg);

/* The CD/DVD slot, in Systems/{}/VirtualMedia or Managers/{}/VirtualMedia. */
struct redfish_media {
	int64_t read_at;
	bool inserted;
	/* as given; NULL or "": none */
	const char *image;
	/* it lists HTTPS: TransferProtocolType of the slot, of InsertMedia, or of its ActionInfo
	 * (AllowableValues, DSP0266). False: it does not, or lists nothing */
	bool takes_https;
	/* it checks the certificate of what it fetches over TLS (VerifyCertificate); false: it does
	 * not, or does not say */
	bool verifies;
};
void redfish_read_media(struct redfish *r,
			void (*done)(const struct redfish_media *m, const struct err *e, void *arg),
			void *arg);
/* Enables the slots where that is an action of their own. Ejects what is there first, then inserts
 * (nothing to do when it is this very image); ERR_UNSUPPORTED when the BMC has no slot for a CD,
 * ERR_INVALID when it refuses every form. ca_pem: by which the server of an https url can be
 * checked; a slot that checks is given it, or else stops checking. NULL: not known. */
void redfish_insert(struct redfish *r, const char *url, const char *ca_pem,
		    void (*done)(const struct err *e, void *arg), void *arg);
/* nothing there: fine */
void redfish_eject(struct redfish *r, void (*done)(const struct err *e, void *arg), void *arg);

/* What this client has learnt of its BMC, for people; it asks for nothing. */
enum redfish_login { REDFISH_LOGIN_NONE, REDFISH_LOGIN_SESSION, REDFISH_LOGIN_BASIC };
enum redfish_way {
	/* the slot was not looked for yet */
	REDFISH_WAY_UNKNOWN,
	/* there is no slot for a CD */
	REDFISH_WAY_NONE,
	/* ... before remote media are enabled, which redfish_insert() does */
	REDFISH_WAY_DISABLED,
	/* the slot lists no HTTPS */
	REDFISH_WAY_HTTP,
	/* takes_https of redfish_media */
	REDFISH_WAY_HTTPS
};
#define REDFISH_QUIRKS 16
struct redfish_facts {
	/* its path; NULL: it was not read, and all of it may be missing */
	const char *system;
	/* NULL: not said, or no System was read */
	const char *vendor, *product, *redfish_version;
	/* of its Manager; NULL: not said, or no Manager was read */
	const char *firmware;
	struct {
		/* of quirks.def; static */
		const char *id, *name;
	} quirks[REDFISH_QUIRKS];
	size_t nquirks;
	enum redfish_way way;
	/* path of the slot for a CD; NULL: none is known */
	const char *slot;
	enum redfish_login login;
	/* of an answer, smoothed over some ten; -1: none came */
	int64_t latency_ms;
	/* requests that this client has sent */
	uint64_t calls;
};
/* Texts are the client's, until its next operation. */
struct redfish_facts redfish_facts(const struct redfish *r);

/* What a BMC can do for drover, by what it lists; nothing is tried. */
struct redfish_abilities {
	/* it takes a Reset for that */
	bool on, off;
	/* ... ForceOff; else what runs there is asked to go */
	bool forced_off;
	/* redfish_boot() */
	bool boots_cd, boots_http;
	/* it names an UpdateService */
	bool updates;
	/* InterfaceType of the System's first TrustedModule; NULL: it names none */
	const char *tpm;
};
void redfish_read_abilities(struct redfish *r,
			    void (*done)(const struct redfish_abilities *a, const struct err *e,
					 void *arg),
			    void *arg);
/* After a read failed with ERR_UNSUPPORTED: the paths of the Systems that the address has to choose
 * among; 0: that was not why. */
size_t redfish_systems(const struct redfish *r, const char **v, size_t max);

/* Several drives that the controller shows as one. */
struct redfish_volume {
	/* durable: as of a drive */
	const char *name, *durable;
	/* 0: not said */
	int64_t bytes;
};
/* A drive that the BMC lists; what it does not say is NULL or 0. Texts are bounded, printable and
 * without blanks at their ends. */
struct redfish_drive {
	const char *serial, *model;
	/* EUI, NAA or UUID, as given */
	const char *durable;
	/* ServiceLabel, else Name: for people */
	const char *slot;
	int64_t bytes;
	/* that it is part of; NULL: none is said */
	const struct redfish_volume *volume;
};
struct redfish_drives {
	/* ask again: the list goes on, and v is empty */
	bool more;
	const struct redfish_drive *v;
	/* at most 256; 0: it lists none */
	size_t n;
	/* The first part of the list that the BMC answered for and does not serve: v is short of
	 * it. NULL: v is the whole list. */
	const struct err *lacks;
	/* lacks is of Storage itself, and v is what SimpleStorage lists */
	bool simple;
};
/* Sends a few requests for the list; call it again until `more` is false. A part that the BMC does
 * not serve (rf_is_lacking() in redfish/internal.h) is left out. ERR_UNSUPPORTED with the HTTP
 * status as code: the BMC does not serve the list, and lists no drive elsewhere. Any other failure
 * ends the call alone, and the next one goes on. unless_firmware: Storage is not asked for if the
 * Manager reports this firmware version ("": it reports none); `lacks`, or the error if
 * SimpleStorage lists none, is then ERR_UNSUPPORTED with code 0. NULL: asked for in any case. d is
 * valid during done(). */
void redfish_read_drives(struct redfish *r, const char *unless_firmware,
			 void (*done)(const struct redfish_drives *d, const struct err *e,
				      void *arg),
			 void *arg);

/* Ends the session of this client, and its predecessor's (spec.old_session, for which it logs in);
 * without either nothing is sent. A call after it logs in anew. */
void redfish_log_out(struct redfish *r, void (*done)(const struct err *e, void *arg), void *arg);

#endif
