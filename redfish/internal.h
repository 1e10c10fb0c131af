#ifndef REDFISH_INTERNAL_H
#define REDFISH_INTERNAL_H

#include "base/data/json.h"
#include "base/list.h"
#include "base/retry.h"
#include "base/uuid.h"
#include "redfish/quirks.h"
#include "redfish/redfish.h"

/*
 * internal: what the files of the client share; one client cut into files, hence one prefix (rf_).
 *
 *	redfish.c   operations: queue, deadline, end
 *	exchange.c  one request and its reply: login header, redirects, errors
 *	message.c   what it says of an error
 *	body.c      the object in a reply: bounds, charset
 *	session.c   service root, login, the predecessor's session
 *	find.c      which System is the machine, and what is known of it
 *	system.c    what the System says, and its power
 *	boot.c      the boot override
 *	oem.c       ... where virtual CDs have one of their own
 *	media.c     the slot for a CD
 *	drives.c    the drives that it lists
 *	tag.c       If-Match: what BMCs make of it
 *	task.c      work that a BMC does after its reply (202)
 *	facts.c     what is known of the BMC, for people
 *	abilities.c what it can do, by what it lists
 *
 * An operation is a chain of steps.  A step gets the reply to the request before
 * it and either sends the next one (rf_send), or ends the operation (rf_end,
 * rf_fail): one of them, as its last act, since the operation's owner may free
 * everything in its done().
 */
#define RF_REFUSED 401 /* code of a refused login, see redfish.h */
#define RF_STR 256     /* longest text taken over from a BMC */

struct rf_reply {
	/* 0: there was no reply */
	int status;
	/* NULL: no object */
	json_t *json;
	/* to be sent as If-Match; NULL: none */
	const char *etag;
	const char *location;
	/* WWW-Authenticate */
	const char *challenge;
	struct secret *token;
	/* loop_now() when the request went out, for the last time */
	int64_t sent_at;
	/* of a 2xx reply; that of others is in err */
	uint32_t retry_after_ms;
	/* kind ERR_NONE for 2xx */
	struct err err;
	/* err is how a task ended (with status 409): look at the effect before believing it */
	bool by_task;
};
typedef void rf_step(struct redfish *r, const struct rf_reply *p);

enum rf_login { RF_SESSION, RF_NOBODY /* no login at all */, RF_BASIC };

struct rf_request {
	/* NULL: GET */
	const char *method;
	/* taken; as link_path() gave it */
	char *path;
	/* taken; NULL: none */
	char *body;
	/* taken; NULL: none */
	char *if_match;
	/* cleared before it is freed, never quoted */
	bool secret_body;
	/* changes the machine: ask may_act first */
	bool effect;
	/* part of logging in: a 401 is an answer, not a reason to log in */
	bool own_login;
	/* of own_login requests; others use what the session says */
	enum rf_login login;
	unsigned redirects;
	rf_step *next;
};

struct rf_identity {
	/* "": not given */
	char uuid[UUID_TEXT], serial[RF_STR];
};

enum rf_known { RF_UNKNOWN, RF_NO, RF_YES };

/* In what form a BMC takes the tag that it gave; see tag.c. */
enum rf_tag_form { RF_TAG_GIVEN, RF_TAG_OTHER, RF_TAG_ANY, RF_TAG_NONE };
enum rf_tag_of { RF_TAG_SYSTEM, RF_TAG_SLOT, RF_TAGS };

/* The task behind a 202. */
struct rf_task {
	/* the step that waits for the reply; NULL: no task */
	rf_step *next;
	char *path;
	/* it has told its state */
	bool seen;
	unsigned polls, missed;
	/* polled no longer */
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
	/* what follows the wait */
	void (*waited)(struct redfish *r);
	/* loop_now() of the limit */
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
	/* of the server of url; NULL: not known */
	char *ca_pem;
	/* the slot's collection, while the CA is looked for there */
	char *certificates;
	/* ... at so many of its members */
	unsigned looks;
	bool logged_in_again;
	/* the System was read in this operation and session, and is the one that is meant */
	bool proved;
	/* old sessions are being deleted, were, to make room for a new one */
	bool freeing, freed;
	/* of the ladder that the operation is on */
	unsigned rung;
	/* read in this operation; owned */
	json_t *system;
	int64_t system_at;
	char *system_etag;
	/* that was read; owned */
	json_t *slot;
	int64_t slot_at;
	/* the settings object, when boot options go there; owned */
	json_t *pending;
	/* what is being written to */
	char *target;
	/* its ETag */
	char *tag;
	enum rf_tag_of tag_of;
	enum rf_tag_form form;
	bool tag_reread;
	/* the write that a tag was refused for */
	void (*again)(struct redfish *r);
	/* what follows a look at what is the maker's own */
	void (*then)(struct redfish *r);
	struct rf_task task;
	/* the ResetType that was sent */
	const char *way;
	/* the override goes to the other place: pending object, System */
	bool moved;
	struct rf_scan *scan;
	/* they took no medium in this operation */
	char *bad_slots[4];
	size_t nbad;
	/* what done() is told of; owned */
	struct rf_drives *listed;
	/* of redfish_read_drives(); owned */
	char *unless_firmware;
	/* requests of a list of drives so far */
	unsigned steps;
	/* looks for slots since they were enabled */
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

	/* of rf_op, waiting */
	struct list queue;
	/* the one being served */
	struct rf_op *op;
	struct loop_defer pump;
	struct http_req *http;
	/* in flight, or to be sent again after a login */
	struct rf_request req;
	/* in flight during logins */
	struct rf_request login;
	/* what the operation does once there are a session and a System */
	rf_step *ready;
	/* resuming: send req again after the login */
	bool logging_in, resuming;
	/* used_at: last time that the session worked */
	int64_t sent_at, used_at;
	/* smoothed; -1: nothing was answered yet */
	int64_t latency_us;
	/* requests that were sent */
	uint64_t calls;

	/* the breaker */
	/* the last exchange of the operation brought no useful answer */
	bool silent;
	/* operations in a row that ended without a useful answer */
	unsigned failures;
	struct backoff pause;
	/* nothing is sent before; INT64_MIN: at will */
	int64_t not_before;
	/* the kind of failure until then */
	enum err_kind left_as;
	/* code of the error that started the pause */
	int left_code;

	/* session */
	char *session_uri, *old_session, *stale_session;
	struct secret *token;
	bool session_worked, basic, refused;
	/* account whose password has to be changed; NULL: none */
	char *must_change;
	/* what the root names for sessions is not there */
	bool no_service;
	/* basic for want of a free session, until then; Basic is not taken here */
	bool lent, no_basic;
	int64_t lent_until;

	/* facts; forgotten when a known resource has gone */
	bool root_known;
	char *sessions_path, *service_path, *systems_path, *managers_path;
	char *system_path, *system_fixed;
	/* kept small: Vendor, Product, RedfishVersion, Oem's names */
	json_t *root;
	char *reset_target, *reset_info;
	/* the pending object; the one that was looked at and has no boot options */
	char *settings, *no_overrides;
	/* a pending object of this BMC has shown some */
	bool has_overrides;
	/* bits of enum rf_reset; 0: unknown */
	unsigned reset_types;
	/* asks for power since the machine was last seen on */
	unsigned on_tries;
	bool reset_asked;
	/* what worked last */
	enum rf_tag_form tag_form[RF_TAGS];
	/* where the maker's own override is */
	char *attributes;
	bool no_attributes;
	/* it says that the virtual CD boots */
	enum rf_known cd_first;
	/* a search for the slot that time cut off; NULL: none */
	struct rf_scan *scan;
	char *slot;
	/* it lists HTTPS among its protocols */
	enum rf_known slot_https;
	/* a list that is being read; NULL: none */
	struct rf_drives *drives;
	/* the action that makes slots appear */
	char *media_enable;
	/* looked for in vain; not again before */
	int64_t no_slot_until;
	/* of InsertMedia's body that was taken last, from 1; 0: not known */
	unsigned form;
	/* all were refused: one alone is sent before */
	int64_t forms_until;
	/* what the System links to: where slots are */
	char *managers[4], *media;
	unsigned quirks;
	uint64_t quirk_rows;
	/* for redfish_facts(); NULL: not said, or not read */
	char *vendor, *product, *firmware;
	/* the root names an UpdateService */
	bool updates;

	/* Systems to look at */
	char *candidates[16];
	size_t ncandidates, next_candidate;
	/* bits: candidates that are a host and can be switched */
	unsigned switchable;
	/* the answer if nothing that is tried after it succeeds */
	struct err kept_err;
};

enum rf_reset {
	RF_RESET_ON = 1,
	RF_RESET_FORCE_ON = 2,
	RF_RESET_FORCE_OFF = 4,
	RF_RESET_GRACEFUL_OFF = 8,
	RF_RESET_POWER_CYCLE = 16,
	/* so that a list of others is not taken for none */
	RF_RESET_OTHER = 32,
};

/* redfish.c */
/* is it one that changes the machine? */
bool rf_changes(const struct rf_op *op);
/* the operation is done; result for readers */
void rf_end(struct redfish *r, const void *result);
void rf_fail(struct redfish *r, const struct err *e);
void rf_fail_as(struct redfish *r, enum err_kind kind, const char *text);
/* facts, not the session */
void rf_forget(struct redfish *r);
/* frees what was there; takes text */
void rf_set(char **slot, char *text);
/* The step's last act, with no request in flight: then(r) after so long. */
void rf_wait(struct redfish *r, int64_t ms, void (*then)(struct redfish *r));

/* exchange.c */
/* takes what q holds; *q is empty after */
void rf_send(struct redfish *r, struct rf_request *q);
void rf_get(struct redfish *r, char *path /* taken */, rf_step *next);
/* r->req once more, after a login */
void rf_resend(struct redfish *r);
void rf_abort(struct redfish *r);
/* of {"@odata.id": ...}, or a string; NULL: absent or bad (*e) */
char *rf_link(const struct redfish *r, const json_t *ref, struct err *e);
/* bounded and printable */
bool rf_text_ok(const char *s);
/* The resource that is asked for is one that the BMC may lack (below the System's lists of drives).
 * A failure there does not count as one of the BMC: its other resources answer for it. */
bool rf_is_optional(const struct redfish *r);
/* The BMC answered, and the answer means that it does not serve this resource: asking again soon
 * does not help. False: it was served, or not answered, or the BMC is busy (408, 429, 502 to 504,
 * or it asks for a pause). */
bool rf_is_lacking(const struct rf_reply *p);

/* message.c */
#define RF_WORDS 1024
/* Returns the messages of a reply (a list, or one object); NULL: none. */
const json_t *rf_messages(const json_t *body);
/* Sets kind and retry_after_ms of *e from the ids of the messages, where the ids are more exact
 * than the status. */
void rf_heed(const json_t *messages, struct err *e);
/* Writes ids and texts of all messages to out.  False: the messages have neither. */
bool rf_words(const json_t *messages, char out[static RF_WORDS]);
/* Writes the first specific message id to out, and no text, because a text may quote the login.
 * False: no such id. */
bool rf_message_id(const json_t *messages, char out[static RF_WORDS]);
/* Sets r->must_change and *e if the body has the message PasswordChangeRequired.  False: it has
 * not. */
bool rf_password_change(struct redfish *r, const json_t *body, struct err *e);
/* Sets *e to the error of a required password change; r->must_change must be set. */
void rf_password_err(const struct redfish *r, struct err *e);

/* body.c: returns a new reference to the object in a reply; NULL with ERR_PROTOCOL. */
json_t *rf_body(const struct http_reply *http, struct err *e);

/* tag.c */
void rf_tag_read(struct redfish *r, enum rf_tag_of of, const char *tag /* NULL: none */);
/* for If-Match, malloc'd; NULL: without */
char *rf_tag(const struct redfish *r);
/* remembered for this BMC */
void rf_tag_worked(struct redfish *r);
/* Was it the tag that was refused, and is there another form?  Then again(r) follows. */
bool rf_tag_climb(struct redfish *r, const struct rf_reply *p, void (*again)(struct redfish *r));

/* task.c */
/* false: no task, p is the reply */
bool rf_task_follow(struct redfish *r, const struct rf_reply *p);

/* session.c */
/* logged in, System known; then(r, NULL) */
void rf_ready(struct redfish *r, rf_step *then);
void rf_log_out(struct redfish *r);
/* after a 401: then resend */
void rf_login_again(struct redfish *r);

/* find.c */
/* then r->ready */
void rf_find_system(struct redfish *r);
/* bits of enum rf_reset; 0: no list */
unsigned rf_reset_types(const json_t *values);
/* Returns true if the reply is a ComputerSystem and no DPU.  False: the operation has ended with an
 * error that names the type. */
bool rf_ensure_system(struct redfish *r, const struct rf_reply *p);
/* false: the operation has ended */
bool rf_learn_system(struct redfish *r, const struct rf_reply *p);

/* system.c */
void rf_system_read(struct redfish *r);
void rf_system_power(struct redfish *r);
void rf_identity_of(const json_t *system, struct rf_identity *out);
/* s points into system and id. */
void rf_parse(const json_t *system, int64_t read_at, struct redfish_system *s,
	      const struct rf_identity *id);

void rf_parse_boot(const json_t *boot, struct redfish_system *s);
/* The type of Reset that switches it so; NULL: it lists none. */
const char *rf_reset_type(const struct redfish *r, bool on);
/* The types that its ActionInfo lists. */
void rf_learn_resets(struct redfish *r, const json_t *info);
/* health.c: health_told and fault of s. */
void rf_health_read(const json_t *system, struct redfish_system *s);
/* True: next() gets the pending object, which goes through rf_pending_read(). */
bool rf_look_at_pending(struct redfish *r, rf_step *next);
/* op->pending, target and tag are set if it has boot overrides.  False: it could not be read. */
bool rf_pending_read(struct redfish *r, const struct rf_reply *p);

/* boot.c */
void rf_boot(struct redfish *r);
/* By what System and pending object list, which the operation has read. */
bool rf_boots_from(struct redfish *r, enum redfish_boot how);

/* oem.c: the override where virtual CDs have another one; else it is then(r) at once */
/* the standard's Cd is the drive in the box here */
bool rf_oem_has_cd(const struct redfish *r);
/* r->cd_first is fresh */
void rf_oem_read(struct redfish *r, void (*then)(struct redfish *r));
/* then(r) where the standard override is to be set too, or alone. */
void rf_oem_boot(struct redfish *r, void (*then)(struct redfish *r));

/* The action of this Manager that makes media slots appear, and its body.  NULL: none. */
char *rf_oem_media(const struct redfish *r, const json_t *manager);
#define RF_ENABLE_MEDIA "{\"RMediaState\":\"Enable\"}"

/* media.c */
void rf_media_read(struct redfish *r);
void rf_media_insert(struct redfish *r);
void rf_media_eject(struct redfish *r);
void rf_scan_free(struct rf_scan *s);
/* The operation has no time left: its search goes on in the next one. */
void rf_scan_keep(struct redfish *r);

/* media_trust.c: then(r) when this slot, read just now, checks nothing, or has the CA of what it
 * shall fetch. */
void rf_media_trust(struct redfish *r, const json_t *slot, void (*then)(struct redfish *r));

/* abilities.c */
void rf_abilities_read(struct redfish *r);

/* facts.c */
/* so long did an answer take */
void rf_latency(struct redfish *r, int64_t ms);
/* json: of a Manager of the System. */
void rf_learn_manager(struct redfish *r, const json_t *manager);
/* A text of the BMC that is fit to be shown; NULL else.  malloc'd. */
char *rf_text_of(const char *s);

/* drives.c */
void rf_drives_read(struct redfish *r);
void rf_drives_free(struct rf_drives *s);

#endif
