#ifndef REDFISH_INTERNAL_H
#define REDFISH_INTERNAL_H

#include "base/data/json.h"
#include "base/list.h"
#include "base/retry.h"
#include "base/uuid.h"
#include "redfish/quirks.h"
#include "redfish/redfish.h"

/*
 * internal: shared declarations of the client's files; one client split into files, hence one
 * prefix (rf_).
 *
 *   redfish.c   the public functions; which step begins an operation
 *   op.c        operations: queue, deadline, end
 *   exchange.c  one request and its reply: login header, redirects, errors
 *   text.c      texts: bounds, copies
 *   message.c   the messages in an error reply
 *   body.c      the object in a reply: bounds, charset
 *   session.c   service root, login, the predecessor's session
 *   find.c      which System is the machine, and the facts about it
 *   parse.c     what a System says of itself
 *   system.c    state and power of the System
 *   boot.c      the boot override
 *   oem.c       vendors' own overrides for virtual CDs
 *   media.c     the virtual CD slot; scan.c: what its search has read
 *   drives.c    the list of drives; drive_list.c: its contents so far
 *   tag.c       If-Match, and how BMCs handle it
 *   task.c      work that a BMC does after its reply (202)
 *   facts.c     what is known of the BMC, for display
 *   abilities.c what the BMC can do, by what it lists
 *
 * An operation is a chain of steps. A step gets the reply to the request before it. As its last act
 * it either sends the next request (rf_send) or ends the operation (rf_end, rf_fail), because the
 * operation's owner may free everything in its done().
 */
#define RF_REFUSED 401 /* Code of a refused login, see redfish.h. */
#define RF_STR 256     /* Longest text that is copied from a BMC. */

struct rf_reply {
	/* HTTP status; 0: no reply. */
	int status;
	/* Object in the body, or NULL. */
	json_t *json;
	/* ETag for If-Match; NULL: none. */
	const char *etag;
	const char *location;
	/* WWW-Authenticate header; NULL: none. */
	const char *challenge;
	struct secret *token;
	/* loop_now() at which the request was last sent. */
	int64_t sent_at;
	/* Retry-After of a 2xx reply, in ms; for other replies the value is in err. */
	uint32_t retry_after_ms;
	/* Error of the exchange; kind ERR_NONE for a 2xx reply. */
	struct err err;
	/* True: err (with status 409) is the failure that a task reported. Task results are
	 * unreliable, so check the effect first. */
	bool by_task;
};
typedef void rf_step(struct redfish *r, const struct rf_reply *p);

/* Login of a request: session token, no login at all (RF_NO_LOGIN), or HTTP Basic. */
enum rf_login { RF_SESSION, RF_NO_LOGIN, RF_BASIC };

struct rf_request {
	/* HTTP method; NULL means GET. */
	const char *method;
	/* Path from link_path(); rf_send() takes ownership. */
	char *path;
	/* JSON body; rf_send() takes ownership; NULL: none. */
	char *body;
	/* Value of the If-Match header; rf_send() takes ownership; NULL: none. */
	char *if_match;
	/* True: the body contains the password. It is cleared before it is freed, and never
	 * quoted. */
	bool secret_body;
	/* True: the request changes the machine, so may_act() is called first. */
	bool effect;
	/* True: the request is part of logging in; a 401 is then a result, not a reason to log
	 * in. */
	bool own_login;
	/* Login of a request with own_login; other requests use the session or Basic, whichever is
	 * in use. */
	enum rf_login login;
	unsigned redirects;
	rf_step *next;
};

struct rf_identity {
	/* UUID and serial number of the System; "": not reported. */
	char uuid[UUID_TEXT], serial[RF_STR];
};

enum rf_known { RF_UNKNOWN, RF_NO, RF_YES };

/* Form in which an ETag is sent back; see tag.c. */
enum rf_tag_form { RF_TAG_GIVEN, RF_TAG_OTHER, RF_TAG_ANY, RF_TAG_NONE };
enum rf_tag_of { RF_TAG_SYSTEM, RF_TAG_SLOT, RF_TAGS };

/* The task that a BMC named in a 202 reply. */
struct rf_task {
	/* Step that gets the task's result; NULL: no task in progress. */
	rf_step *next;
	char *path;
	/* True: the task has reported its state at least once. */
	bool seen;
	unsigned polls, missed;
	/* loop_now() at which polling ends. */
	int64_t until;
};

enum rf_kind {
	RF_READ_SYSTEM,
	RF_POWER,
	RF_BOOT,
	RF_READ_MEDIA,
	RF_INSERT,
	RF_EJECT,
	RF_DRIVES,
	RF_ABILITIES,
	RF_LOG_OUT
};

struct rf_op {
	struct list link;
	struct redfish *r;
	enum rf_kind kind;
	struct loop_timer limit, wait;
	/* Function that rf_wait() calls when the time has passed. */
	void (*waited)(struct redfish *r);
	/* loop_now() at which the operation times out. */
	int64_t ends_at;
	union {
		void (*plain)(const struct err *e, void *arg);
		void (*seen)(const struct redfish_system *s, const struct err *e, void *arg);
		void (*media)(const struct redfish_media *m, const struct err *e, void *arg);
		void (*drives)(const struct redfish_drives *d, const struct err *e, void *arg);
		void (*able)(const struct redfish_abilities *a, const struct err *e, void *arg);
	} done;
	void *arg;
	bool on;
	enum redfish_boot boot;
	char *url;
	/* PEM of the CA that signed the certificate of url's server; NULL: not known. */
	char *ca_pem;
	/* URI of the slot's collection of certificates; set while media_trust.c searches the
	 * collection for the CA, otherwise NULL. */
	char *certificates;
	/* Number of members of certificates read so far. */
	unsigned looks;
	bool logged_in_again;
	/* True: the System was read in this operation and session, and is the intended machine. */
	bool proved;
	/* freeing: old sessions are being deleted to make room for a new one. freed: old sessions
	 * were deleted for that purpose. */
	bool freeing, freed;
	/* Number of the variant in use, from 0, for requests with fallback variants. */
	unsigned variant;
	/* The System as read in this operation; owned. */
	json_t *system;
	int64_t system_at;
	char *system_etag;
	/* The virtual CD slot as read in this operation; owned. */
	json_t *slot;
	int64_t slot_at;
	/* The settings object, if boot options are written there; owned. */
	json_t *pending;
	/* Path of the resource that is written. */
	char *target;
	/* ETag of target; NULL: none. */
	char *tag;
	enum rf_tag_of tag_of;
	enum rf_tag_form form;
	bool tag_reread;
	/* Function that repeats the write with another form of the ETag. */
	void (*again)(struct redfish *r);
	/* Function that continues the operation after a preparation: the vendor's own settings were
	 * read or set (oem.c), or the slot was prepared (media_trust.c). */
	void (*then)(struct redfish *r);
	struct rf_task task;
	/* The ResetType that was sent. */
	const char *reset_type;
	/* True: the override is being written to the other location: the pending object instead of
	 * the System, or vice versa. */
	bool moved;
	struct rf_scan *scan;
	/* Paths of slots that accepted no medium in this operation. */
	char *bad_slots[4];
	size_t nbad;
	/* Result for the done() of RF_DRIVES; owned. */
	struct rf_drives *listed;
	/* Argument of redfish_read_drives(); owned. */
	char *unless_firmware;
	/* Requests for the list of drives in this operation so far. */
	unsigned steps;
	/* Searches for slots since the slots were enabled. */
	unsigned rescans;
	bool enabled;
};

struct redfish {
	struct loop_group *group;
	struct http_peer *peer;
	char *origin, *user;
	struct secret *password;
	uint32_t call_ms;
	bool (*may_act)(void *arg);
	int (*fits)(const struct redfish_system *s, void *arg, struct err *e);

	/* Waiting operations (struct rf_op). */
	struct list queue;
	/* The operation in progress; NULL: none. */
	struct rf_op *op;
	struct loop_defer pump;
	/* Set once by redfish_new(), since op.c and exchange.c know neither operations, nor logins,
	 * nor tasks. begin: begins the operation r->op. on_refused: after a 401, rf_login_again().
	 * on_accepted: after any other reply, rf_task_follow(). */
	void (*begin)(struct redfish *r);
	void (*on_refused)(struct redfish *r);
	bool (*on_accepted)(struct redfish *r, const struct rf_reply *p);
	struct http_req *http;
	/* The operation's request: in flight, or to be sent again after a login. */
	struct rf_request req;
	/* The request of a login in progress (root, login, deleted session, proof). */
	struct rf_request login;
	/* Step that begins the operation's own work, once a session and a System are known. */
	rf_step *ready;
	/* logging_in: a login is in progress. resuming: send req again after the login. */
	bool logging_in, resuming;
	/* sent_at: loop_now() of the last request; used_at: loop_now() of the last successful use
	 * of the session. */
	int64_t sent_at, used_at;
	/* Smoothed time from request to reply, in microseconds; -1: no reply yet. */
	int64_t latency_us;
	/* Number of requests sent. */
	uint64_t calls;

	/* True: the last exchange of the operation brought no usable reply (for the circuit
	 * breaker). */
	bool silent;
	/* Number of consecutive operations that ended without a usable reply. */
	unsigned failures;
	struct backoff pause;
	/* loop_now() before which nothing is sent; INT64_MIN: no pause. */
	int64_t not_before;
	/* Kind of the error with which operations fail during the pause. */
	enum err_kind left_as;
	/* Code of the error that began the pause. */
	int left_code;

	/* URIs of the current session, of the predecessor's, and of a session of this client that
	 * was refused. */
	char *session_uri, *old_session, *stale_session;
	struct secret *token;
	bool session_worked, basic, refused;
	/* Account whose password has to be changed; NULL: none. */
	char *must_change;
	/* True: the session service that the root names does not exist. */
	bool no_service;
	/* lent: Basic is used instead of a session until lent_until. no_basic: the BMC refuses
	 * Basic. */
	bool lent, no_basic;
	int64_t lent_until;

	/* Facts about the BMC; forgotten by rf_forget(), for example after a known resource has
	 * disappeared. */
	bool root_known;
	char *sessions_path, *service_path, *systems_path, *managers_path;
	char *system_path, *system_fixed;
	/* Copy of the service root, reduced to Vendor, Product, RedfishVersion and the names in
	 * Oem. */
	json_t *root;
	char *reset_target, *reset_info;
	/* settings: path of the pending object (the System's settings object). no_overrides: path
	 * of a pending object that was read and has no boot overrides. */
	char *settings, *no_overrides;
	/* True: a pending object of this BMC has shown boot overrides. */
	bool has_overrides;
	/* ResetTypes that the System lists, as bits of enum rf_reset; 0: unknown. */
	unsigned reset_types;
	/* Power-on requests since the machine was last seen on. */
	unsigned on_tries;
	bool reset_asked;
	/* Form of the ETag that worked last, for each kind of resource. */
	enum rf_tag_form tag_form[RF_TAGS];
	/* Path of the resource that contains the vendor's own override. */
	char *attributes;
	bool no_attributes;
	/* Whether the vendor's setting makes the virtual CD boot. */
	enum rf_known cd_first;
	/* An unfinished search for the slot, to be continued; NULL: none. */
	struct rf_scan *scan;
	char *slot;
	/* Whether the slot lists HTTPS among its transfer protocols. */
	enum rf_known slot_https;
	/* The list of drives that is being read; NULL: none. */
	struct rf_drives *drives;
	/* Path of the Manager's action that makes media slots appear; NULL: not needed. */
	char *media_enable;
	/* loop_now() before which the search is not repeated after it found no slot. */
	int64_t no_slot_until;
	/* Form of InsertMedia's body that was accepted last, from 1; 0: not known. */
	unsigned form;
	/* loop_now() until which only one form is tried, because the BMC refused all of them.
	 * forms_tls: true if it refused them for an image over HTTPS; false: over plain HTTP. */
	int64_t forms_until;
	bool forms_tls;
	/* Where slots are searched. managers: the System's Managers. media: the System's own
	 * VirtualMedia collection. */
	char *managers[4], *media;
	unsigned quirks;
	uint64_t quirk_rows;
	/* Facts for redfish_facts(); NULL: not reported, or not read. */
	char *vendor, *product, *firmware;
	/* True: the service root names an UpdateService. */
	bool updates;

	/* Paths of the Systems to examine. */
	char *candidates[16];
	size_t ncandidates, next_candidate;
	/* Bits: indexes of the candidates that are a host with a Reset action. */
	unsigned switchable;
	/* Error with which the operation ends if none of its further attempts succeeds. */
	struct err saved_err;
};

enum rf_reset {
	RF_RESET_ON = 1,
	RF_RESET_FORCE_ON = 2,
	RF_RESET_FORCE_OFF = 4,
	RF_RESET_GRACEFUL_OFF = 8,
	RF_RESET_POWER_CYCLE = 16,
	/* Any ResetType without a bit of its own. With this bit, a list that contains only such
	 * types differs from 0, which means "no list". */
	RF_RESET_OTHER = 32,
};

/* --- text.c ----------------------------------------------------------------------------------- */
/* Replaces the text in *slot: frees the previous one and takes ownership of text. */
void rf_set(char **slot, char *text);
/* True if s is short (less than RF_STR bytes) and has no control characters. */
bool rf_text_ok(const char *s);
/* Returns a copy of a BMC's text that is fit for display, malloc'd; NULL: not fit. */
char *rf_text_of(const char *s);

/* --- op.c ------------------------------------------------------------------------------------- */
/* Adds an operation to the queue. arg: argument of its done(). */
struct rf_op *rf_ask(struct redfish *r, enum rf_kind kind, void *arg);
/* Begins the next operation, if none is in progress. arg: the client. */
void rf_pump(void *arg);
void rf_op_free(struct rf_op *op);
/* True if the operation changes the machine. */
bool rf_changes(const struct rf_op *op);
/* True while drives.c reads the list of drives. A BMC may lack these resources, so a failure here
 * does not count as a failure of the BMC. */
bool rf_is_optional(const struct redfish *r);
/* Ends the operation successfully. Result: argument for the done() of a read operation; NULL for
 * other operations. */
void rf_end(struct redfish *r, const void *result);
void rf_fail(struct redfish *r, const struct err *e);
void rf_fail_as(struct redfish *r, enum err_kind kind, const char *text);
/* Calls then(r) after ms. Must be the last act of the step, with no request in flight. */
void rf_wait(struct redfish *r, int64_t ms, void (*then)(struct redfish *r));
/* Cancels the request in flight, and forgets the operation's requests. */
void rf_abort(struct redfish *r);
void rf_request_done(struct rf_request *q);

/* --- exchange.c ------------------------------------------------------------------------------- */
/* Sends the request. Takes ownership of the texts in *q and clears *q. */
void rf_send(struct redfish *r, struct rf_request *q);
void rf_get(struct redfish *r, char *path /* Takes ownership of path. */, rf_step *next);
/* Sends r->req once more; for use after a login. */
void rf_resend(struct redfish *r);
/* Returns the path of {"@odata.id": ...} or of a string; NULL: absent or invalid (*e). */
char *rf_link(const struct redfish *r, const json_t *ref, struct err *e);
/* True if the reply means that the BMC does not serve this resource, so that an early retry is
 * useless. False: the resource was served, no reply came, or the BMC is busy (408, 429, 502 to 504,
 * or Retry-After). */
bool rf_is_lacking(const struct rf_reply *p);

/* --- message.c -------------------------------------------------------------------------------- */
#define RF_WORDS 1024
/* Returns the messages of a reply (an array, or one object); NULL: none. */
const json_t *rf_messages(const json_t *body);
/* Sets kind and retry_after_ms of *e from the ids of the messages, if an id is more exact than the
 * HTTP status. */
void rf_heed(const json_t *messages, struct err *e);
/* Writes ids and texts of all messages to out. Returns false if the messages have neither. */
bool rf_words(const json_t *messages, char out[static RF_WORDS]);
/* Writes the id of the first specific message to out. Writes no text, because a text may quote the
 * login. Returns false if no message has a specific id. */
bool rf_message_id(const json_t *messages, char out[static RF_WORDS]);
/* Checks a body for the message PasswordChangeRequired: if found, sets r->must_change and *e and
 * returns true. */
bool rf_password_change(struct redfish *r, const json_t *body, struct err *e);
/* Sets *e to the error of a required password change; r->must_change must be set. */
void rf_password_err(const struct redfish *r, struct err *e);

/* body.c: returns a new reference to the object in a reply; NULL with ERR_PROTOCOL in *e. */
json_t *rf_body(const struct http_reply *http, struct err *e);

/* --- tag.c ------------------------------------------------------------------------------------ */
/* Stores the ETag of the resource that will be written, and the form of ETag to begin with. tag
 * NULL: the resource has no ETag. */
void rf_tag_read(struct redfish *r, enum rf_tag_of of, const char *tag);
/* Returns the value of If-Match for the next write, malloc'd; NULL: send no If-Match. */
char *rf_tag(const struct redfish *r);
/* Remembers the form of ETag that just worked for this BMC. */
void rf_tag_worked(struct redfish *r);
/* True if the reply refused the ETag and another form is left: then again(r) is called, at once or
 * after a new read of the resource. */
bool rf_tag_next(struct redfish *r, const struct rf_reply *p, void (*again)(struct redfish *r));

/* --- task.c ----------------------------------------------------------------------------------- */
/* Begins to poll the task if p is a 202 that names one. Returns false if p names no task; p is then
 * the final reply. */
bool rf_task_follow(struct redfish *r, const struct rf_reply *p);

/* --- session.c -------------------------------------------------------------------------------- */
/* Logs in and finds the System if necessary, then calls then(r, NULL). */
void rf_ready(struct redfish *r, rf_step *then);
void rf_log_out(struct redfish *r);
/* Logs in after a 401, then sends the refused request again. */
void rf_login_again(struct redfish *r);

/* --- find.c ----------------------------------------------------------------------------------- */
/* Finds the System, then calls r->ready. */
void rf_find_system(struct redfish *r);
/* Returns the ResetTypes in a JSON list as bits of enum rf_reset; 0: no list. */
unsigned rf_reset_types(const json_t *values);
/* Returns true if the reply is a ComputerSystem and no DPU.  False: the operation has ended with an
 * error that names the type. */
bool rf_ensure_system(struct redfish *r, const struct rf_reply *p);
/* Learns links and quirks of the System in the reply. Returns false if the System is not the
 * intended machine; the operation has then ended. */
bool rf_learn_system(struct redfish *r, const struct rf_reply *p);

/* --- parse.c ---------------------------------------------------------------------------------- */
enum redfish_power rf_power_of(const json_t *system);
void rf_identity_of(const json_t *system, struct rf_identity *out);
/* Fills *s from a System. Texts in *s point into system and id. */
void rf_parse(const json_t *system, int64_t read_at, struct redfish_system *s,
	      const struct rf_identity *id);

void rf_parse_boot(const json_t *boot, struct redfish_system *s);

/* --- system.c --------------------------------------------------------------------------------- */
void rf_system_read(struct redfish *r);
void rf_system_power(struct redfish *r);
/* Returns the ResetType for on or off; NULL: none is listed. */
const char *rf_reset_type(const struct redfish *r, bool on);
/* Reads the ResetTypes from the ActionInfo. */
void rf_learn_resets(struct redfish *r, const json_t *info);
/* health.c: sets health_reported and fault of *s. */
void rf_health_read(const json_t *system, struct redfish_system *s);
/* Requests the pending object, whose reply next() must pass to rf_pending_read(). Returns false,
 * without a request, if the System has no pending object, or if that object is known to have no
 * boot overrides. */
bool rf_look_at_pending(struct redfish *r, rf_step *next);
/* Sets pending, target and tag of the operation if the pending object has boot overrides. Returns
 * false if the pending object could not be read. */
bool rf_pending_read(struct redfish *r, const struct rf_reply *p);

/* --- boot.c ----------------------------------------------------------------------------------- */
void rf_boot(struct redfish *r);
/* True if the machine can boot from `how`, according to the lists of boot targets in the System and
 * in the pending object, which the operation has already read. */
bool rf_boots_from(struct redfish *r, enum redfish_boot how);

/* --- oem.c: vendors' overrides for virtual CDs; without one, then(r) is called at once -------- */
/* True if the standard target Cd means the physical drive on this BMC. */
bool rf_oem_has_cd(const struct redfish *r);
/* Sets r->cd_first (whether the vendor's setting makes the virtual CD boot), then calls then(r). */
void rf_oem_read(struct redfish *r, void (*then)(struct redfish *r));
/* Sets the vendor's override. Calls then(r) if the standard override is needed as well, or
 * instead. */
void rf_oem_boot(struct redfish *r, void (*then)(struct redfish *r));

/* Returns the path of the Manager's action that makes media slots appear; its body is
 * RF_ENABLE_MEDIA. NULL: the action does not exist. */
char *rf_oem_media(const struct redfish *r, const json_t *manager);
#define RF_ENABLE_MEDIA "{\"RMediaState\":\"Enable\"}"

/* --- media.c ---------------------------------------------------------------------------------- */
void rf_media_read(struct redfish *r);
void rf_media_insert(struct redfish *r);
void rf_media_eject(struct redfish *r);
void rf_scan_free(struct rf_scan *s);
/* Saves the unfinished search in r->scan when the operation runs out of time; the next operation
 * continues it. */
void rf_scan_keep(struct redfish *r);

/* media_trust.c: makes the slot accept the certificate of the url's server, then calls then(r).
 * slot: as read just now. A slot that verifies nothing, or trusts the CA already, needs no
 * request. */
void rf_media_trust(struct redfish *r, const json_t *slot, void (*then)(struct redfish *r));

/* --- abilities.c ------------------------------------------------------------------------------ */
void rf_abilities_read(struct redfish *r);

/* --- facts.c ---------------------------------------------------------------------------------- */
/* Records the time that a reply took. */
void rf_latency(struct redfish *r, int64_t ms);
/* Records the firmware version of a Manager of the System. manager: the resource. */
void rf_learn_manager(struct redfish *r, const json_t *manager);
/* Forgets all facts about the BMC, but not the session. */
void rf_forget(struct redfish *r);

/* --- drives.c --------------------------------------------------------------------------------- */
void rf_drives_read(struct redfish *r);
void rf_drives_free(struct rf_drives *s);

#endif
