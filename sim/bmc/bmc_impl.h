#ifndef SIM_BMC_BMC_IMPL_H
#define SIM_BMC_BMC_IMPL_H

#include "base/data/json.h"
#include "base/list.h"
#include "base/loop/loop.h"
#include "sim/bmc/bmc.h"
#include "sim/bmc/dialect.h"
#include "sim/common/reply.h"

/*
 * bmc_impl: shared by the files of the BMC. A dialect (dialect.h) describes how BMCs of one make
 * answer.
 *
 *   bmc.c         one request: faults, login, resource, conditions
 *   reply.c       answers, with the common members
 *   path.c        paths of the simulated resources
 *   message.c     errors: messages of the Base registry; validation of request bodies
 *   login.c       sessions, accounts, lockout
 *   service.c     service root, $metadata, odata, registries, schemas
 *   system.c      the System: power, boot; the Chassis
 *   manager.c     the Manager and its slot for a CD
 *   task.c        actions that run as Tasks
 *   resource.c    resources of a tree (dialect.h): routes, and the simulated members
 *   writes.c      writes to a BMC of a dialect, with the quirks of that make
 *   event.c       the stream of events
 */
#define BMC_SESSIONS 16
#define BMC_ACCOUNTS 8
#define BMC_TASKS 16
#define BMC_STREAMS 4
#define BMC_TOKEN 33
#define BMC_TAG 32  /* Size of an ETag with its NUL. */
#define BMC_NAME 17 /* Size of a user name with its NUL. */

/* Privileges of an account; each value includes the privileges of the values before it. */
enum bmc_right { BMC_ANYBODY, BMC_LOGIN, BMC_COMPONENTS, BMC_ALL };

struct bmc_account {
	/* Number of the account; 0: the slot is free. */
	unsigned id;
	char user[BMC_NAME];
	struct secret *password;
	enum bmc_right right;
	bool enabled;
	/* Number of wrong passwords in a row. */
	unsigned wrong;
	int64_t wrong_at, locked_until;
};

struct bmc_session {
	/* Number of the session; 0: the slot is free. */
	unsigned id;
	unsigned account;
	char token[BMC_TOKEN];
	int64_t used_at, made_wall;
	char address[64];
};

struct bmc_task {
	/* Number of the task; 0: the slot is free. */
	unsigned id;
	char name[32], target[128];
	enum { TASK_RUNNING, TASK_COMPLETED, TASK_EXCEPTION } state;
	/* power: true if the task ends when the machine's power becomes `to`, and fails if that has
	 * not happened at `due`; false if the task ends at `due`. */
	bool power, to;
	/* True: the task ends as Exception, and its action is not executed. */
	bool fails;
	/* True: the action succeeds, but the task reports Exception (quirk ExceptionOK). */
	bool fine;
	/* Number of further reads of the task that are answered 404. */
	unsigned late;
	int64_t due, began_wall, ended_wall;
};

struct bmc_route;
struct sim_bmc {
	struct loop_group *group;
	struct sim_delays delays;
	struct sim_machine *m;
	/* Dialect of the BMC; NULL: the BMC follows the specification. */
	const struct sim_dialect *dialect;
	/* Routes of a BMC without a dialect; the last entry has path NULL. */
	const struct bmc_route *routes;
	/* UUID of the BMC itself. */
	char uuid[40];
	char asset_tag[64];
	bool indicator;

	/* Power state that the last event reported. */
	bool was_on;
	/* True: power is switched on again once it is off (ResetType PowerCycle). */
	bool again;
	/* Power state that will be requested of the machine when the timer `slow` expires. */
	bool wanted;
	struct loop_timer slow, vanish;

	struct bmc_account accounts[BMC_ACCOUNTS];
	struct bmc_session sessions[BMC_SESSIONS];
	unsigned next_session, next_account, next_task, next_event;
	int64_t session_timeout_s;
	struct bmc_task tasks[BMC_TASKS];
	struct loop_timer task_timer;
	/* Event streams (event.c). */
	struct list streams;
	unsigned nstreams;

	/* Dialects only: index of the media slot that holds the medium. */
	size_t slot;
	/* Dialects only: true once VerifyCertificate of the slots was set to false. */
	bool unverified;
	/* Dialects only: true if a medium was inserted in the slot and then ejected. */
	bool was_in;
	/* Dialects only: file name of the last medium. */
	char *last_name;
	/* Dialects only: loop time of EnableRMedia; -1: not enabled. */
	int64_t enabled_at;
	/* heard_at: loop time of the last request. switched_at: loop time of the last power change.
	 * INT64_MIN: none yet. */
	int64_t heard_at, switched_at;
	unsigned deaf, busy;
};

struct bmc_call {
	struct sim_bmc *b;
	struct httpd_req *q;
	const struct bmc_route *route;
	/* path: path of the request without a final slash. arg: text that {} of the route
	 * matched. */
	char path[256], arg[64];
	/* Dialects only: index of the slot, NIC or other resource that the path names. */
	size_t at;
	/* Body of the request, a JSON object; NULL: no body. */
	json_t *body;
	/* The resource before the write; set for writes only. */
	json_t *now;
	/* Members of the answer that change without a write, and so are not part of the ETag. */
	json_t *late;
	/* Messages of the error answer, collected so far. */
	json_t *errors;
	/* Account that the request logged in with; NULL: not logged in. */
	struct bmc_account *who;
	struct bmc_session *session;
};

struct bmc_route {
	/* Path of the resource; {} matches one path segment. */
	const char *path;
	/* @odata.type without '#'; NULL: not a resource. */
	const char *type;
	/* Returns the resource, which the caller owns. NULL: not found. JSON null: get() has
	 * already answered the request. */
	json_t *(*get)(struct bmc_call *c);
	void (*post)(struct bmc_call *c), (*patch)(struct bmc_call *c), (*del)(struct bmc_call *c);
	enum bmc_right reads, writes;
};
/* reply.c. bmc_reply(), bmc_reply_self() and bmc_reply_text() answer a request; each request gets
 * exactly one answer. */
void bmc_reply(struct bmc_call *c, int status, json_t *j /* takes ownership; NULL: no body */);
/* Adds the members that every resource has. Returns etag with the resource's ETag; NULL: the
 * resource has no ETag. */
const char *bmc_envelope(struct bmc_call *c, json_t *j, char etag[static BMC_TAG]);
/* Sets the header Allow to the methods of the request's route. */
void bmc_reply_allow(struct bmc_call *c);
/* Answers with the resource j. Takes ownership of j. */
void bmc_reply_resource(struct bmc_call *c, json_t *j);
/* Answers with the present state of the request's resource. */
void bmc_reply_self(struct bmc_call *c);
void bmc_reply_text(struct bmc_call *c, const char *content_type, const char *text);
json_t *bmc_link(const char *path);
json_t *bmc_collection(const char *name, json_t *members /* takes ownership */);
const char *bmc_address(const struct bmc_call *c);
bool bmc_fault(const struct sim_bmc *b, const char *what, int64_t *value);
/* Returns loop_now() of the BMC's loop. */
int64_t bmc_now(const struct sim_bmc *b);

/* message.c. After the message id follow as many texts as the message has arguments. */
#define bmc_message(property, ...) bmc_message_(property, __VA_ARGS__, (const char *)NULL)
#define bmc_complain(c, property, ...) bmc_complain_(c, property, __VA_ARGS__, (const char *)NULL)
#define bmc_error(c, status, ...) bmc_error_(c, status, __VA_ARGS__, (const char *)NULL)
json_t *bmc_message_(const char *property, const char *id, ...) __attribute__((sentinel));
void bmc_complain_(struct bmc_call *c, const char *property, const char *id, ...)
	__attribute__((sentinel));
void bmc_error_(struct bmc_call *c, int status, const char *id, ...) __attribute__((sentinel));
/* Answers with a message of a vendor's own registry. */
void bmc_error_as(struct bmc_call *c, int status, const char *full_id, const char *text);

enum bmc_kind { BMC_TEXT, BMC_TEXT_OR_NULL, BMC_NUMBER, BMC_FLAG, BMC_OBJECT };
struct bmc_property {
	/* Name of the member; NULL: end of the table. */
	const char *name;
	enum bmc_kind kind;
	/* NULL-terminated list of permitted texts; NULL: any value. */
	const char *const *allowed;
	/* Range of a number; if max > 0, also the range of a text's length. */
	int64_t min, max;
	const struct bmc_property *sub;
	bool required;
};
/* Checks the request body against the table t. Returns true if the body contains only writable
 * members with valid values; otherwise answers 400 and returns false. action: name of the action;
 * NULL for a resource. */
bool bmc_check(struct bmc_call *c, const struct bmc_property *t, const char *action);

/* login.c */
void bmc_login_init(struct sim_bmc *b, const char *user, const struct secret *password);
void bmc_login_done(struct sim_bmc *b);
/* Identifies the account of the request and sets c->who. If the request has no valid login, or the
 * account lacks the privilege `right`, answers 401 or 403 and returns false. */
bool bmc_admit(struct bmc_call *c, enum bmc_right right);
json_t *bmc_get_session_service(struct bmc_call *c);
void bmc_patch_session_service(struct bmc_call *c);
json_t *bmc_get_sessions(struct bmc_call *c);
void bmc_post_session(struct bmc_call *c);
json_t *bmc_get_session(struct bmc_call *c);
void bmc_delete_session(struct bmc_call *c);
json_t *bmc_get_account_service(struct bmc_call *c);
json_t *bmc_get_accounts(struct bmc_call *c);
void bmc_post_account(struct bmc_call *c);
json_t *bmc_get_account(struct bmc_call *c);
void bmc_patch_account(struct bmc_call *c);
void bmc_delete_account(struct bmc_call *c);
json_t *bmc_get_roles(struct bmc_call *c);
json_t *bmc_get_role(struct bmc_call *c);

/* service.c */
json_t *bmc_get_versions(struct bmc_call *c);
json_t *bmc_get_root(struct bmc_call *c);
json_t *bmc_get_odata(struct bmc_call *c);
json_t *bmc_get_metadata(struct bmc_call *c);
json_t *bmc_get_registries(struct bmc_call *c);
json_t *bmc_get_registry(struct bmc_call *c);
json_t *bmc_get_schemas(struct bmc_call *c);
json_t *bmc_get_schema(struct bmc_call *c);

/* system.c */
#define BMC_SYSTEM "/redfish/v1/Systems/1"
#define BMC_CHASSIS "/redfish/v1/Chassis/1"
json_t *bmc_get_systems(struct bmc_call *c);
json_t *bmc_get_system(struct bmc_call *c);
void bmc_patch_system(struct bmc_call *c);
json_t *bmc_get_reset_info(struct bmc_call *c);
void bmc_post_reset(struct bmc_call *c);
json_t *bmc_get_nics(struct bmc_call *c);
json_t *bmc_get_nic(struct bmc_call *c);
json_t *bmc_get_chassis_list(struct bmc_call *c);
json_t *bmc_get_chassis(struct bmc_call *c);
/* bmc_reset() executes a ResetType. bmc_reset_changes() returns true if that ResetType would change
 * the power, and sets *to to the new power state. */
void bmc_reset(struct sim_bmc *b, const char *type);
bool bmc_reset_changes(const struct sim_machine *m, const char *type, bool *to);
const char *bmc_boot_progress(const struct sim_machine *m);
void bmc_system_init(struct sim_bmc *b);
void bmc_system_done(struct sim_bmc *b);

/* manager.c */
#define BMC_MANAGER "/redfish/v1/Managers/1"
json_t *bmc_get_managers(struct bmc_call *c);
json_t *bmc_get_manager(struct bmc_call *c);
json_t *bmc_get_media(struct bmc_call *c);
json_t *bmc_get_slot(struct bmc_call *c);
void bmc_post_insert(struct bmc_call *c);
void bmc_post_eject(struct bmc_call *c);
/* Inserts the medium with this URL; image NULL ejects the medium. */
void bmc_put_medium(struct sim_bmc *b, const char *image);
void bmc_manager_init(struct sim_bmc *b);
void bmc_manager_done(struct sim_bmc *b);

/* task.c. bmc_wants_task() returns true if the action must be answered with a Task, because the
 * client prefers it (RFC 7240 respond-async) or a fault requires it. */
bool bmc_wants_task(const struct bmc_call *c);
/* Answers 202 with a new task. power true: the task ends when the machine's power becomes `to`;
 * otherwise it ends after a second. Returns false if the action must not be executed: the task will
 * fail, or there was no free task slot (answered 503). */
bool bmc_task(struct bmc_call *c, const char *name, bool power, bool to);
/* Ends the tasks that wait for a power state; call it after a change of the machine's power. */
void bmc_task_powered(struct sim_bmc *b);
json_t *bmc_get_task_service(struct bmc_call *c);
json_t *bmc_get_tasks(struct bmc_call *c);
json_t *bmc_get_task(struct bmc_call *c);
void bmc_delete_task(struct bmc_call *c);
json_t *bmc_get_monitor(struct bmc_call *c);
void bmc_task_init(struct sim_bmc *b);
void bmc_task_done(struct sim_bmc *b);

/* path.c. bmc_system_path(), bmc_sessions_path() and bmc_tasks_path() return the path of a
 * resource, with or without a dialect. */
const char *bmc_system_path(const struct sim_bmc *b);
const char *bmc_sessions_path(const struct sim_bmc *b);
const char *bmc_tasks_path(const struct sim_bmc *b);
/* Returns the path of the slot that holds the medium, or else of the slot that was used last
 * (initially the first). */
const char *bmc_slot_path(const struct sim_bmc *b);
/* Returns the tree of the BMC's dialect. */
const struct sim_tree *bmc_tree(const struct sim_bmc *b);
/* Returns the path of the collection in which slots appear after EnableRMedia; NULL: the tree has
 * no such slots. */
const char *bmc_late_media(const struct sim_bmc *b);
/* True if the slots that appear after EnableRMedia are there now. */
bool bmc_are_enabled(const struct sim_bmc *b);
/* Returns the ResetTypes that the tree permits, which the caller owns; NULL: the tree does not list
 * any. */
json_t *bmc_tree_allowed(const struct sim_bmc *b);
/* Returns slot `at` of the tree. NULL: the tree has no such slot, or its slots appear only after
 * EnableRMedia. */
const struct sim_slot *bmc_tree_slot(const struct sim_bmc *b, size_t at);

/* resource.c. Returns the route of c->path and sets c->arg and c->at; NULL: no such resource. */
const struct bmc_route *bmc_tree_route(struct bmc_call *c);
/* True if the mockup (captured resources) contains the answer to c->path with this query, for
 * example a page of a collection. */
bool bmc_tree_is_page(struct bmc_call *c);
/* Checks the If-Match of a write. False: the check failed and the request was answered. */
bool bmc_tree_condition(struct bmc_call *c);

/* writes.c: requests that write to a BMC of a dialect. */
void bmc_dialect_reset(struct bmc_call *c);
/* Handles a PATCH of the System. */
void bmc_dialect_boot(struct bmc_call *c);
/* Handles a PATCH of the System's settings object. */
void bmc_dialect_settings(struct bmc_call *c);
void bmc_dialect_attributes(struct bmc_call *c);
void bmc_dialect_insert(struct bmc_call *c);
void bmc_dialect_eject(struct bmc_call *c);
/* Handles a PATCH of a media slot. */
void bmc_dialect_slot(struct bmc_call *c);
void bmc_dialect_enable(struct bmc_call *c);
#define BMC_VCD "VCD-DVD" /* Boot target that a Dell attribute sets. */
#define BMC_FIRST_DEVICE "ServerBoot.1.FirstBootDevice"
#define BMC_BOOT_ONCE "ServerBoot.1.BootOnce"

/* event.c */
void bmc_event(struct sim_bmc *b, const char *id, const char *text, const char *origin);
json_t *bmc_get_event_service(struct bmc_call *c);
json_t *bmc_get_subscriptions(struct bmc_call *c);
json_t *bmc_get_stream(struct bmc_call *c);
void bmc_event_init(struct sim_bmc *b);
void bmc_event_done(struct sim_bmc *b);

#endif
