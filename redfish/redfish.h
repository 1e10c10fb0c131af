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
 * scheme, host and port. Size (1 MiB), depth and members of a reply are bounded. Sources: DSP0266
 * (protocol), DSP0268 (schemas); deviations of real BMCs are in quirks.def.
 *
 * Login: POST to the Sessions collection named by the service root. Basic is used only if there is
 * no session service (the root names none, or it answers 404, 405 or 501), or if no session is free
 * (for 10 min, then a session is tried again), and never after a session has worked. Only sessions
 * opened by drover are deleted. A 401 during use leads to one new login, then to ERR_DENIED. A
 * refused login (400, 401, 403) is remembered: every further call of this client fails with
 * ERR_DENIED and code 401 at once, without a request to the BMC. For other credentials, or another
 * try, create a new client. ERR_DENIED with any other code concerns the certificate or one
 * resource.
 *
 * An operation that changes the machine first reads the System itself, and again after a login in
 * the middle of the operation. fits() decides whether this System is the intended machine.
 *
 * ERR_CONFLICT comes only from may_act() and fits().
 *
 * A 202 is followed to the end of its task, for at most 20 s. After that, or if the task is lost,
 * the request counts as accepted, which proves nothing.
 *
 * After three consecutive operations without a usable reply (none, or 5xx) the client pauses for 5
 * s, and longer, up to a minute, if the failures continue: every call fails at once with
 * ERR_UNAVAILABLE and retry_after_ms. A 429 or 503 has the same effect for the time that it asks
 * for. A new client does not pause.
 *
 * An operation consists of several exchanges and ends within REDFISH_OP_MS of its start, waiting
 * included.
 */
#define REDFISH_OP_MS 55000
/* Code of an error in the configured address: not the URL of a BMC, or a path that names no System.
 * Not an HTTP status. */
#define REDFISH_ADDRESS 0x6164
/* Code of ERR_DENIED: the BMC accepts the login, but no request until its password is changed.
 * Afterwards every call of this client fails with this code without a request, as after a refused
 * login. Not an HTTP status. */
#define REDFISH_PASSWORD_CHANGE 0x7077

struct redfish;
struct redfish_system;

struct redfish_spec {
	/* URL of the BMC or of a System, for example https://10.0.8.17/redfish/v1/Systems/1 or
	 * https://10.0.8.17. Without a path, the machine is the only System that has a Reset action
	 * and is not a DPU; if there are several, ERR_UNSUPPORTED lists them. */
	const char *system_url;
	/* Checks of the BMC's certificate, as in http_peer_spec. */
	const char *ca_pem, *pin_sha256;
	bool learn_pin;
	const char *user;
	const struct secret *password;
	/* URI of a predecessor's session, deleted at the first login; NULL: none. */
	const char *old_session;
	/* Limit of one HTTP exchange in ms; 0 means 15 s. */
	uint32_t call_ms;
	/* True: http:// is allowed (tests). */
	bool plain_ok;
	/* Called with an operation's arg just before each request that changes the machine is sent
	 * (never for logins); false: nothing is sent, the operation ends with ERR_CONFLICT. NULL:
	 * always allowed. */
	bool (*may_act)(void *arg);
	/* Called with an operation's arg and the System just read, before the operation changes
	 * the machine. Returns 0 if s is the intended machine; -1 with *e otherwise: nothing is
	 * sent, and the operation ends with that error. s: as from redfish_read_system(), except
	 * that overrides stored outside the System are missing. NULL: any machine is the
	 * intended one. */
	int (*fits)(const struct redfish_system *s, void *arg, struct err *e);
};
struct redfish *redfish_new(struct loop_group *g, struct http *h, const struct redfish_spec *s,
			    struct err *e);
/* Drops calls in flight without done(); leaves the session for the successor to delete. */
void redfish_free(struct redfish *r);
DEFINE_OWN(redfish)

/* Returns the URI of the client's session; NULL: none. */
const char *redfish_session_uri(const struct redfish *r);
/* True if no older session of drover is known to exist. */
bool redfish_session_is_only(const struct redfish *r);
/* Adds a predecessor's session, other than spec.old_session, to delete at the next login. */
void redfish_inherit(struct redfish *r, const char *session);
/* Returns the address that the latest reply came from; NULL: no reply yet. */
const char *redfish_address(const struct redfish *r);
/* Returns the pin (SHA-256 of the certificate) that this client learned with learn_pin; NULL:
 * none. */
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
	/* UUID in lower case, in the BMC's byte order. NULL: not reported, or a vendor's default
	 * that many machines share. */
	const char *system_uuid;
	const char *serial, *manufacturer, *model, *bios_version;
	/* BootSourceOverrideTarget as reported; "None" if disabled. "Cd" means virtual media;
	 * "PhysicalCd" means the physical drive (reported by BMCs of a vendor whose Cd is the
	 * physical drive). */
	const char *boot_target;
	/* BootSourceOverrideEnabled as reported: Disabled, Once or Continuous. */
	const char *boot_enabled;
	const char *boot_mode;
	const char *http_boot_uri;
	/* BootProgress.LastState as reported; NULL: not reported. */
	const char *boot_progress;
	bool health_reported;
	/* The critical parts, as text for display, if health_reported; "": none. */
	char fault[256];
};
/* Reads the System afresh; s is valid during done(). */
void redfish_read_system(struct redfish *r,
			 void (*done)(const struct redfish_system *s, const struct err *e,
				      void *arg),
			 void *arg);

/* Requests a power state. done() is called when the BMC has accepted the request, which proves
 * nothing: read the System. Off is ForceOff (GracefulShutdown only if the BMC lists nothing else).
 * If On has no effect, from the third request on ForceOn and PowerCycle are used as well.
 * Requesting the present state is not an error. */
void redfish_power(struct redfish *r, bool on, void (*done)(const struct err *e, void *arg),
		   void *arg);

enum redfish_boot {
	/* Clears the override. */
	REDFISH_BOOT_NONE,
	REDFISH_BOOT_CD,
	REDFISH_BOOT_HTTP,
	REDFISH_BOOT_HDD
};
/* Sets the boot override for the next boot; success proves nothing: read the System.
 * REDFISH_BOOT_NONE also empties HttpBootUri if the BMC permits. http_uri: address for
 * REDFISH_BOOT_HTTP. */
void redfish_boot(struct redfish *r, enum redfish_boot target, const char *http_uri,
		  void (*done)(const struct err *e, void *arg), void *arg);

/* State of the CD/DVD slot, in Systems/{}/VirtualMedia or Managers/{}/VirtualMedia. */
struct redfish_media {
	int64_t read_at;
	bool inserted;
	/* Image as reported; NULL or "": none. */
	const char *image;
	/* True: the slot lists HTTPS in its TransferProtocolType, in InsertMedia, or in
	 * InsertMedia's ActionInfo (AllowableValues, DSP0266). False: not listed, or no list. */
	bool takes_https;
	/* True: the slot verifies the certificate of the server from which it fetches
	 * (VerifyCertificate). False: it does not, or does not report it. */
	bool verifies;
};
void redfish_read_media(struct redfish *r,
			void (*done)(const struct redfish_media *m, const struct err *e, void *arg),
			void *arg);
/* Enables the slots if that needs a separate action, ejects the present medium, then inserts url
 * (no change if url is already inserted). ERR_UNSUPPORTED: the BMC has no CD slot; ERR_INVALID: the
 * BMC refuses every form of the request. ca_pem: CA of the server of an https url; a slot that
 * verifies certificates gets this CA, or else verification is turned off. NULL: not known. */
void redfish_insert(struct redfish *r, const char *url, const char *ca_pem,
		    void (*done)(const struct err *e, void *arg), void *arg);
/* Ejects the medium; an empty slot is success. */
void redfish_eject(struct redfish *r, void (*done)(const struct err *e, void *arg), void *arg);

/* Login that this client uses, for redfish_facts(). */
enum redfish_login { REDFISH_LOGIN_NONE, REDFISH_LOGIN_SESSION, REDFISH_LOGIN_BASIC };
enum redfish_slot_kind {
	/* The slot was not searched yet. */
	REDFISH_SLOT_UNKNOWN,
	/* There is no CD slot. */
	REDFISH_SLOT_NONE,
	/* No CD slot before remote media are enabled, which redfish_insert() does. */
	REDFISH_SLOT_DISABLED,
	/* The slot does not list HTTPS. */
	REDFISH_SLOT_HTTP,
	/* The slot lists HTTPS (takes_https of redfish_media). */
	REDFISH_SLOT_HTTPS
};
#define REDFISH_QUIRKS 16
struct redfish_facts {
	/* Path of the System; NULL: not read, and the other facts may be missing. */
	const char *system;
	/* Vendor, product and Redfish version for display; NULL: not reported, or no System was
	 * read. */
	const char *vendor, *product, *redfish_version;
	/* Firmware version of the System's Manager; NULL: not reported, or no Manager was read. */
	const char *firmware;
	struct {
		/* Id and name of a row in quirks.def; static texts. */
		const char *id, *name;
	} quirks[REDFISH_QUIRKS];
	size_t nquirks;
	enum redfish_slot_kind slot_kind;
	/* Path of the CD slot; NULL: none is known. */
	const char *slot;
	enum redfish_login login;
	/* Time from request to reply in ms, smoothed over about ten replies; -1: no reply yet. */
	int64_t latency_ms;
	/* Requests that this client has sent. */
	uint64_t calls;
};
/* Returns what this client has learned about its BMC, for display; sends no request. The texts
 * belong to the client and are valid until its next operation. */
struct redfish_facts redfish_facts(const struct redfish *r);

/* Functions of a BMC that drover can use, according to the lists in the BMC's resources; no
 * function is tried. */
struct redfish_abilities {
	/* The BMC lists a ResetType for on, and for off. */
	bool on, off;
	/* The BMC lists ForceOff; false: off can only ask the operating system to shut down. */
	bool forced_off;
	/* The BMC lists the targets REDFISH_BOOT_CD and REDFISH_BOOT_HTTP of redfish_boot(). */
	bool boots_cd, boots_http;
	/* The BMC names an UpdateService. */
	bool updates;
	/* InterfaceType of the System's first TrustedModule; NULL: none is named. */
	const char *tpm;
};
void redfish_read_abilities(struct redfish *r,
			    void (*done)(const struct redfish_abilities *a, const struct err *e,
					 void *arg),
			    void *arg);
/* Lists the Systems of a BMC that has several; the configured address must name one of them. Call
 * after a read failed with ERR_UNSUPPORTED. Writes at most max paths to v and returns their number;
 * 0: the read failed for another reason. */
size_t redfish_systems(const struct redfish *r, const char **v, size_t max);

/* A volume: several drives that the controller presents as one. */
struct redfish_volume {
	/* durable: globally unique name (EUI, NAA or UUID), as reported. */
	const char *name, *durable;
	/* Size in bytes; 0: not reported. */
	int64_t bytes;
};
/* A drive that the BMC lists; members that it does not report are NULL or 0. Texts are bounded,
 * printable and have no blanks at their ends. */
struct redfish_drive {
	const char *serial, *model;
	/* Globally unique name: EUI, NAA or UUID, as reported. */
	const char *durable;
	/* ServiceLabel, else Name; for display. */
	const char *slot;
	int64_t bytes;
	/* Volume that the drive is part of; NULL: none is reported. */
	const struct redfish_volume *volume;
};
struct redfish_drives {
	/* True: the list is incomplete and v is empty; call redfish_read_drives() again. */
	bool more;
	const struct redfish_drive *v;
	/* Number of drives, at most 256; 0: the BMC lists none. */
	size_t n;
	/* Error for the first part of the list that the BMC does not serve: v is incomplete. NULL:
	 * v is complete. */
	const struct err *lacks;
	/* True: the BMC does not serve Storage itself, and v comes from SimpleStorage. */
	bool simple;
};
/* Sends a few requests for the list of drives; call it again until d->more is false. d is valid
 * during done(). A part that the BMC does not serve (rf_is_lacking() in redfish/internal.h) is
 * left out. ERR_UNSUPPORTED with the HTTP status as code: the BMC does not serve the list, and
 * lists no drive elsewhere. Any other failure ends this call only; the next call continues the
 * list.
 *
 * unless_firmware: Storage is not requested if the Manager reports this firmware version (""
 * matches a Manager that reports none). Then d->lacks is ERR_UNSUPPORTED with code 0; if
 * SimpleStorage lists no drive either, this error ends the call. NULL: Storage is always
 * requested. */
void redfish_read_drives(struct redfish *r, const char *unless_firmware,
			 void (*done)(const struct redfish_drives *d, const struct err *e,
				      void *arg),
			 void *arg);

/* Ends the session of this client and the predecessor's (spec.old_session, for which the client
 * logs in). Sends nothing if there is neither. A later call logs in again. */
void redfish_log_out(struct redfish *r, void (*done)(const struct err *e, void *arg), void *arg);

#endif
