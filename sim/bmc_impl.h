#ifndef SIM_BMC_IMPL_H
#define SIM_BMC_IMPL_H

#include "base/data/json.h"
#include "base/list.h"
#include "base/loop/loop.h"
#include "sim/bmc.h"
#include "sim/dialect.h"

/*
 * bmc_impl: what the files of the BMC share.
 *
 *   bmc.c           one request: faults, who asks, which resource, conditions, envelope
 *   bmc_message.c   errors: messages of the Base registry; what a body may say
 *   bmc_login.c     sessions, accounts, lockout
 *   bmc_service.c   service root, $metadata, odata, registries, schemas
 *   bmc_system.c    the System: power, boot; its Chassis
 *   bmc_manager.c   the Manager and its slot for a CD
 *   bmc_task.c      actions that take their time
 *   bmc_tree.c      ... where the resources are a tree's (dialect.h): which one is meant, and what lives in it
 *   bmc_dialect.c   ... and what may be done to it, as that make takes it
 *   bmc_event.c     the stream of events
 */
#define BMC_SESSIONS 16
#define BMC_ACCOUNTS 8
#define BMC_TASKS 16
#define BMC_STREAMS 4
#define BMC_TOKEN 33
#define BMC_NAME 17 /* of a user, with its end */

/* What a role may do: each may what those before it may. */
enum bmc_right { BMC_ANYBODY, BMC_LOGIN, BMC_COMPONENTS, BMC_ALL };

struct bmc_account {
	/* 0: free */
	unsigned id;
	char user[BMC_NAME];
	struct secret *password;
	enum bmc_right right;
	bool enabled;
	/* passwords in a row */
	unsigned wrong;
	int64_t wrong_at, locked_until;
};

struct bmc_session {
	/* 0: free */
	unsigned id;
	unsigned account;
	char token[BMC_TOKEN];
	int64_t used_at, made_wall;
	char address[64];
};

struct bmc_task {
	/* 0: free */
	unsigned id;
	char name[32], target[128];
	enum { TASK_RUNNING, TASK_COMPLETED, TASK_EXCEPTION } state;
	/* ends when the machine's power is `to`; else at `due` */
	bool power, to;
	/* it will end as an exception, and has no effect */
	bool fails;
	/* it says that it is one, and had its effect */
	bool fine;
	/* looks that do not find it yet */
	unsigned late;
	int64_t due, began_wall, ended_wall;
};

struct sim_bmc {
	struct loop_group *group;
	struct sim_machine *m;
	/* NULL: by the book */
	const struct sim_dialect *dialect;
	/* the BMC's own */
	char uuid[40];
	char asset_tag[64];
	bool indicator;

	/* as last told; on again once off */
	bool was_on, again;
	/* what is asked of the machine when `slow` ends */
	bool wanted;
	struct loop_timer slow, vanish;

	struct bmc_account accounts[BMC_ACCOUNTS];
	struct bmc_session sessions[BMC_SESSIONS];
	unsigned next_session, next_account, next_task, next_event;
	int64_t session_timeout_s;
	struct bmc_task tasks[BMC_TASKS];
	struct loop_timer task_timer;
	/* bmc_event.c */
	struct list streams;
	unsigned nstreams;

	/* of a dialect */
	/* that the medium is in */
	size_t slot;
	/* its slots were told to check no certificate */
	bool unverified;
	/* something was, in this slot */
	bool was_in;
	/* of what was */
	char *last_name;
	/* slots were asked for; -1: not */
	int64_t enabled_at;
	/* INT64_MIN: never */
	int64_t heard_at, switched_at;
	unsigned deaf, busy;
};

struct bmc_route;
struct bmc_call {
	struct sim_bmc *b;
	struct httpd_req *q;
	const struct bmc_route *route;
	/* without a slash at the end; what {} matched */
	char path[256], arg[64];
	/* of a dialect: which slot, NIC */
	size_t at;
	/* an object; NULL: none */
	json_t *body;
	/* writes: what the resource says, before */
	json_t *now;
	/* members that change by themselves: no part of the ETag */
	json_t *late;
	/* messages */
	json_t *errors;
	/* NULL: nobody */
	struct bmc_account *who;
	struct bmc_session *session;
};

struct bmc_route {
	/* {}: one segment */
	const char *path;
	/* @odata.type without '#'; NULL: no resource */
	const char *type;
	/* gives what it says; NULL: there is none, or answered already */
	json_t *(*get)(struct bmc_call *c);
	void (*post)(struct bmc_call *c), (*patch)(struct bmc_call *c), (*del)(struct bmc_call *c);
	enum bmc_right reads, writes;
};
/* ends with path NULL */
extern const struct bmc_route bmc_routes[];

/* bmc.c: one of these is the answer */
void bmc_reply(struct bmc_call *c, int status, json_t *j /* taken; NULL: no body */);
/* what the resource says now */
void bmc_reply_self(struct bmc_call *c);
void bmc_reply_text(struct bmc_call *c, const char *content_type, const char *text);
json_t *bmc_link(const char *path);
json_t *bmc_collection(const char *name, json_t *members /* taken */);
const char *bmc_address(const struct bmc_call *c);
bool bmc_fault(const struct sim_bmc *b, const char *what, int64_t *value);
/* loop_now() */
int64_t bmc_now(const struct sim_bmc *b);
void bmc_set(char **slot, const char *text);

/* bmc_message.c */
/* After the id as many texts as the message has arguments. */
#define bmc_message(property, ...) bmc_message_(property, __VA_ARGS__, (const char *)NULL)
#define bmc_complain(c, property, ...) bmc_complain_(c, property, __VA_ARGS__, (const char *)NULL)
#define bmc_error(c, status, ...) bmc_error_(c, status, __VA_ARGS__, (const char *)NULL)
json_t *bmc_message_(const char *property, const char *id, ...) __attribute__((sentinel));
void bmc_complain_(struct bmc_call *c, const char *property, const char *id, ...)
	__attribute__((sentinel));
void bmc_error_(struct bmc_call *c, int status, const char *id, ...) __attribute__((sentinel));
/* A message of a maker's own registry. */
void bmc_error_as(struct bmc_call *c, int status, const char *full_id, const char *text);

enum bmc_kind { BMC_TEXT, BMC_TEXT_OR_NULL, BMC_NUMBER, BMC_FLAG, BMC_OBJECT };
struct bmc_property {
	/* NULL ends the table */
	const char *name;
	enum bmc_kind kind;
	/* NULL-terminated */
	const char *const *allowed;
	/* of numbers; of the length of texts when max > 0 */
	int64_t min, max;
	const struct bmc_property *sub;
	bool required;
};
/* Does the body say only what may be written? False: answered with 400. action: NULL for
 * resources. */
bool bmc_check(struct bmc_call *c, const struct bmc_property *t, const char *action);

/* bmc_login.c */
void bmc_login_init(struct sim_bmc *b, const char *user, const struct secret *password);
void bmc_login_done(struct sim_bmc *b);
/* Sets who; false: answered with 401 or 403. */
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
/* Does as this ResetType says; and what will become of the power: false, it stays. */
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
/* NULL: out */
void bmc_put_medium(struct sim_bmc *b, const char *image);
void bmc_manager_init(struct sim_bmc *b);
void bmc_manager_done(struct sim_bmc *b);

/* bmc_task.c */
/* Should this action be answered with a Task: the client prefers it (RFC 7240 respond-async), or a
 * fault says so? */
bool bmc_wants_task(const struct bmc_call *c);
/* Answers 202; the task ends when the machine's power becomes `to`, without `power` after a second.
 * False: it will fail, or none is free (answered 503): nothing is to be done. */
bool bmc_task(struct bmc_call *c, const char *name, bool power, bool to);
/* the machine's power has changed */
void bmc_task_powered(struct sim_bmc *b);
json_t *bmc_get_task_service(struct bmc_call *c);
json_t *bmc_get_tasks(struct bmc_call *c);
json_t *bmc_get_task(struct bmc_call *c);
void bmc_delete_task(struct bmc_call *c);
json_t *bmc_get_monitor(struct bmc_call *c);
void bmc_task_init(struct sim_bmc *b);
void bmc_task_done(struct sim_bmc *b);

/* bmc_tree.c: where things are */
const char *bmc_system_path(const struct sim_bmc *b);
const char *bmc_sessions_path(const struct sim_bmc *b);
const char *bmc_tasks_path(const struct sim_bmc *b);
/* that the medium is in, or would be */
const char *bmc_slot_path(const struct sim_bmc *b);
/* The route of c->path; NULL: there is no such resource.  Sets c->arg, c->at. */
const struct bmc_route *bmc_tree_route(struct bmc_call *c);
/* Was this very query captured? */
bool bmc_tree_is_page(struct bmc_call *c);
/* Sets the tag of what lives, in the form that the tree has it; NULL: it has none there. */
const char *bmc_tree_etag(struct bmc_call *c, json_t *j, char etag[static 32]);
/* of a write; false: answered */
bool bmc_tree_condition(struct bmc_call *c);
/* ResetTypes; new; NULL: not said */
json_t *bmc_tree_allowed(const struct sim_bmc *b);
/* There is a slot at this place of the tree; false: it is one that was enabled, or none at all. */
const struct sim_slot *bmc_tree_slot(const struct sim_bmc *b, size_t at);

/* bmc_dialect.c */
void bmc_dialect_reset(struct bmc_call *c);
/* PATCH of the System */
void bmc_dialect_boot(struct bmc_call *c);
/* ... of its pending object */
void bmc_dialect_settings(struct bmc_call *c);
void bmc_dialect_attributes(struct bmc_call *c);
void bmc_dialect_insert(struct bmc_call *c);
void bmc_dialect_eject(struct bmc_call *c);
/* PATCH */
void bmc_dialect_slot(struct bmc_call *c);
void bmc_dialect_enable(struct bmc_call *c);
#define BMC_VCD "VCD-DVD" /* the target behind a Dell's attribute */
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
