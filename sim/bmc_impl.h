#ifndef SIM_BMC_IMPL_H
#define SIM_BMC_IMPL_H

#include "base/data/json.h"
#include "base/list.h"
#include "base/loop/loop.h"
#include "sim/bmc.h"
#include "sim/dialect.h"

/*
 * bmc_impl: shared by the files of the BMC.
 *
 *   bmc.c           one request: faults, login, resource, conditions, common members
 *   bmc_message.c   errors: messages of the Base registry; validation of request bodies
 *   bmc_login.c     sessions, accounts, lockout
 *   bmc_service.c   service root, $metadata, odata, registries, schemas
 *   bmc_system.c    the System: power, boot; its Chassis
 *   bmc_manager.c   the Manager and its slot for a CD
 *   bmc_task.c      actions that run as Tasks
 *   bmc_tree.c      resources of a tree (dialect.h): routes, and the simulated members
 *   bmc_dialect.c   writes to a BMC of a dialect, with the quirks of its make
 *   bmc_event.c     the stream of events
 */
#define BMC_SESSIONS 16
#define BMC_ACCOUNTS 8
#define BMC_TASKS 16
#define BMC_STREAMS 4
#define BMC_TOKEN 33
#define BMC_NAME 17 /* Size of a user name with its NUL. */

/* Privileges; each includes those before it. */
enum bmc_right { BMC_ANYBODY, BMC_LOGIN, BMC_COMPONENTS, BMC_ALL };

struct bmc_account {
	/* 0: slot is free. */
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
	/* 0: slot is free. */
	unsigned id;
	unsigned account;
	char token[BMC_TOKEN];
	int64_t used_at, made_wall;
	char address[64];
};

struct bmc_task {
	/* 0: slot is free. */
	unsigned id;
	char name[32], target[128];
	enum { TASK_RUNNING, TASK_COMPLETED, TASK_EXCEPTION } state;
	/* True: the task ends when the machine's power is `to`, and fails at `due`. False: the task
	 * ends at `due`. */
	bool power, to;
	/* The task ends as Exception, without effect. */
	bool fails;
	/* The task succeeded, but reports Exception (quirk ExceptionOK). */
	bool fine;
	/* Number of reads that still answer 404. */
	unsigned late;
	int64_t due, began_wall, ended_wall;
};

struct sim_bmc {
	struct loop_group *group;
	struct sim_machine *m;
	/* NULL: the BMC follows the specification. */
	const struct sim_dialect *dialect;
	/* UUID of the BMC itself. */
	char uuid[40];
	char asset_tag[64];
	bool indicator;

	/* Power state of the last event. */
	bool was_on;
	/* Switch on again once the power is off (PowerCycle). */
	bool again;
	/* Power state that is requested of the machine when `slow` expires. */
	bool wanted;
	struct loop_timer slow, vanish;

	struct bmc_account accounts[BMC_ACCOUNTS];
	struct bmc_session sessions[BMC_SESSIONS];
	unsigned next_session, next_account, next_task, next_event;
	int64_t session_timeout_s;
	struct bmc_task tasks[BMC_TASKS];
	struct loop_timer task_timer;
	/* Event streams (bmc_event.c). */
	struct list streams;
	unsigned nstreams;

	/* Dialects only: index of the slot with the medium. */
	size_t slot;
	/* Dialects only: VerifyCertificate of the slots was set to false. */
	bool unverified;
	/* Dialects only: the slot had a medium that was ejected. */
	bool was_in;
	/* Dialects only: file name of the last medium. */
	char *last_name;
	/* Dialects only: time of EnableRMedia; -1: not enabled. */
	int64_t enabled_at;
	/* Times of the last request and of the last power change; INT64_MIN: none yet. */
	int64_t heard_at, switched_at;
	unsigned deaf, busy;
};

struct bmc_route;
struct bmc_call {
	struct sim_bmc *b;
	struct httpd_req *q;
	const struct bmc_route *route;
	/* path: without a final slash. arg: text that {} matched. */
	char path[256], arg[64];
	/* Dialects only: index of the slot, NIC and so on. */
	size_t at;
	/* An object; NULL: no body. */
	json_t *body;
	/* Writes only: the resource before the write. */
	json_t *now;
	/* Members that change by themselves and are not part of the ETag. */
	json_t *late;
	/* Messages of the error answer. */
	json_t *errors;
	/* NULL: not logged in. */
	struct bmc_account *who;
	struct bmc_session *session;
};

struct bmc_route {
	/* {} matches one segment. */
	const char *path;
	/* @odata.type without '#'; NULL: not a resource. */
	const char *type;
	/* Returns the resource, which the caller owns; NULL: not found; JSON null: already
	 * answered. */
	json_t *(*get)(struct bmc_call *c);
	void (*post)(struct bmc_call *c), (*patch)(struct bmc_call *c), (*del)(struct bmc_call *c);
	enum bmc_right reads, writes;
};
/* The last entry has path NULL. */
extern const struct bmc_route bmc_routes[];

/* bmc.c: each request is answered by one of these three. */
void bmc_reply(struct bmc_call *c, int status, json_t *j /* takes ownership; NULL: no body */);
/* Answers with the present resource. */
void bmc_reply_self(struct bmc_call *c);
void bmc_reply_text(struct bmc_call *c, const char *content_type, const char *text);
json_t *bmc_link(const char *path);
json_t *bmc_collection(const char *name, json_t *members /* takes ownership */);
const char *bmc_address(const struct bmc_call *c);
bool bmc_fault(const struct sim_bmc *b, const char *what, int64_t *value);
/* Returns loop_now(). */
int64_t bmc_now(const struct sim_bmc *b);
void bmc_set(char **slot, const char *text);

/* bmc_message.c: after the id follow as many texts as the message has arguments. */
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
	/* NULL: end of the table. */
	const char *name;
	enum bmc_kind kind;
	/* NULL-terminated; NULL: any value. */
	const char *const *allowed;
	/* Range of a number; if max > 0, also of the length of a text. */
	int64_t min, max;
	const struct bmc_property *sub;
	bool required;
};
/* True if the body contains only valid values for writable members; otherwise answers 400. action:
 * NULL for resources. */
bool bmc_check(struct bmc_call *c, const struct bmc_property *t, const char *action);

/* bmc_login.c */
void bmc_login_init(struct sim_bmc *b, const char *user, const struct secret *password);
void bmc_login_done(struct sim_bmc *b);
/* Sets c->who; if the login or its privileges do not suffice, answers 401 or 403 and returns
 * false. */
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

/* bmc_service.c */
json_t *bmc_get_versions(struct bmc_call *c);
json_t *bmc_get_root(struct bmc_call *c);
json_t *bmc_get_odata(struct bmc_call *c);
json_t *bmc_get_metadata(struct bmc_call *c);
json_t *bmc_get_registries(struct bmc_call *c);
json_t *bmc_get_registry(struct bmc_call *c);
json_t *bmc_get_schemas(struct bmc_call *c);
json_t *bmc_get_schema(struct bmc_call *c);

/* bmc_system.c */
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
/* bmc_reset() executes a ResetType. bmc_reset_changes() returns true if it would change the power,
 * to *to. */
void bmc_reset(struct sim_bmc *b, const char *type);
bool bmc_reset_changes(const struct sim_machine *m, const char *type, bool *to);
const char *bmc_boot_progress(const struct sim_machine *m);
void bmc_system_init(struct sim_bmc *b);
void bmc_system_done(struct sim_bmc *b);

/* bmc_manager.c */
#define BMC_MANAGER "/redfish/v1/Managers/1"
json_t *bmc_get_managers(struct bmc_call *c);
json_t *bmc_get_manager(struct bmc_call *c);
json_t *bmc_get_media(struct bmc_call *c);
json_t *bmc_get_slot(struct bmc_call *c);
void bmc_post_insert(struct bmc_call *c);
void bmc_post_eject(struct bmc_call *c);
/* Inserts a medium; NULL ejects it. */
void bmc_put_medium(struct sim_bmc *b, const char *image);
void bmc_manager_init(struct sim_bmc *b);
void bmc_manager_done(struct sim_bmc *b);

/* bmc_task.c: true if the action is to be answered with a Task: the client prefers it (RFC 7240
 * respond-async), or a fault requires it. */
bool bmc_wants_task(const struct bmc_call *c);
/* Answers 202 with a new task. With `power` the task ends when the machine's power becomes `to`,
 * otherwise after a second. Returns false if the action must not be executed: the task will fail,
 * or all tasks are running (answered 503). */
bool bmc_task(struct bmc_call *c, const char *name, bool power, bool to);
/* Ends tasks after a change of the machine's power. */
void bmc_task_powered(struct sim_bmc *b);
json_t *bmc_get_task_service(struct bmc_call *c);
json_t *bmc_get_tasks(struct bmc_call *c);
json_t *bmc_get_task(struct bmc_call *c);
void bmc_delete_task(struct bmc_call *c);
json_t *bmc_get_monitor(struct bmc_call *c);
void bmc_task_init(struct sim_bmc *b);
void bmc_task_done(struct sim_bmc *b);

/* bmc_tree.c: paths of resources, with and without a dialect. */
const char *bmc_system_path(const struct sim_bmc *b);
const char *bmc_sessions_path(const struct sim_bmc *b);
const char *bmc_tasks_path(const struct sim_bmc *b);
/* Path of the slot with the medium, or of the slot that was used last (initially the first). */
const char *bmc_slot_path(const struct sim_bmc *b);
/* Returns the route of c->path and sets c->arg and c->at; NULL: no such resource. */
const struct bmc_route *bmc_tree_route(struct bmc_call *c);
/* True if the mockup contains a page captured with this query. */
bool bmc_tree_is_page(struct bmc_call *c);
/* Sets the ETag of a simulated resource in the form that the tree uses; NULL if the tree has none
 * for it. */
const char *bmc_tree_etag(struct bmc_call *c, json_t *j, char etag[static 32]);
/* Checks the If-Match of a write; false: answered. */
bool bmc_tree_condition(struct bmc_call *c);
/* Returns the permitted ResetTypes, which the caller owns; NULL: the tree does not list them. */
json_t *bmc_tree_allowed(const struct sim_bmc *b);
/* Returns slot `at` of the tree; NULL if there is none, or if the slots appear only after
 * EnableRMedia. */
const struct sim_slot *bmc_tree_slot(const struct sim_bmc *b, size_t at);

/* bmc_dialect.c: requests that write to a BMC of a dialect. */
void bmc_dialect_reset(struct bmc_call *c);
/* PATCH of the System. */
void bmc_dialect_boot(struct bmc_call *c);
/* PATCH of the System's settings object. */
void bmc_dialect_settings(struct bmc_call *c);
void bmc_dialect_attributes(struct bmc_call *c);
void bmc_dialect_insert(struct bmc_call *c);
void bmc_dialect_eject(struct bmc_call *c);
/* PATCH of a media slot. */
void bmc_dialect_slot(struct bmc_call *c);
void bmc_dialect_enable(struct bmc_call *c);
#define BMC_VCD "VCD-DVD" /* Boot target set by a Dell attribute. */
#define BMC_FIRST_DEVICE "ServerBoot.1.FirstBootDevice"
#define BMC_BOOT_ONCE "ServerBoot.1.BootOnce"

/* bmc_event.c */
void bmc_event(struct sim_bmc *b, const char *id, const char *text, const char *origin);
json_t *bmc_get_event_service(struct bmc_call *c);
json_t *bmc_get_subscriptions(struct bmc_call *c);
json_t *bmc_get_stream(struct bmc_call *c);
void bmc_event_init(struct sim_bmc *b);
void bmc_event_done(struct sim_bmc *b);

#endif
