#ifndef TESTS_CONTRACT_FAKE_BMC_H
#define TESTS_CONTRACT_FAKE_BMC_H

#include <stdbool.h>
#include <stdint.h>
#include "base/httpd/http_mem.h"
#include "base/httpd/httpd.h"
#include "base/loop/loop.h"

/*
 * fake_bmc: a BMC for tests of the client and the providers, small on purpose.
 * The switches are dialects and misdeeds; the journal is what the oracles read.
 *
 * With `capture` set, GETs are served from that folder (a tree of index.json)
 * and writes are only journalled.
 */
/* A drive that it lists; NULL, 0: not said. */
struct fake_drive {
	const char *serial, *model, *durable, *slot, *state;
	int64_t bytes;
	/* that it is a part of */
	const char *volume, *volume_durable;
	/* RAIDType of that; "None": the drive itself, called a volume */
	const char *raid;
	int64_t volume_bytes;
};

struct fake_bmc {
	/* dialects */
	/* no session service */
	bool basic_only;
	/* Basic is taken beside sessions */
	bool basic_too;
	/* the root answers 401 too */
	bool closed_root;
	/* below Storage, one to a Storage */
	const struct fake_drive *drives;
	unsigned ndrives;
	/* 500 for whatever is below Storage */
	bool storage_fails;
	/* SimpleStorage beside Storage */
	bool simple_too;
	/* ... as SimpleStorage alone, which knows models and sizes */
	bool simple_storage;
	/* its slot says HTTPS: 1 in the slot, 2 at InsertMedia, 3 in ActionInfo */
	int lists_https;
	/* media over plain HTTP are refused, and nothing lists that */
	bool https_only;
	/* its slot checks certificates: 1 and takes one, 2 and stops when it is told to */
	int verifies;
	/* there is an ActionInfo, which says no protocols unless lists_https is 3 */
	bool insert_info;
	/* slots under the Manager alone */
	bool managers_media;
	/* no slots until the action AMIVirtualMedia.EnableRMedia */
	bool media_off;
	/* ... and so long after it */
	int64_t media_ms;
	/* a CD slot comes first whose InsertMedia is refused */
	bool inner_slot;
	/* its Id */
	const char *inner_id;
	/* of the slot that takes media; NULL: Cd */
	const char *slot_id;
	/* it does not say what it takes */
	bool no_media_types;
	/* what media_off calls it; NULL: #AMIVirtualMedia.EnableRMedia */
	const char *enable_action;
	/* InsertMedia wants UserName and Password */
	bool named_media;
	/* no_cd: the slots take floppies */
	bool no_media, no_cd;
	/* no InsertMedia */
	bool patch_media;
	/* InsertMedia takes Image alone */
	bool bare_media;
	/* EjectMedia with a body: 415 */
	bool eject_no_body;
	/* Inserted stays true after an eject */
	bool eject_keeps_flag;
	/* reset values only in ActionInfo */
	bool action_info;
	bool no_force_off;
	/* Reset takes these too */
	bool force_on, power_cycle;
	/* On is taken and does nothing */
	bool on_ignored;
	/* On: 409 */
	bool on_refused;
	/* overrides are taken by the settings object alone */
	bool pending_boot;
	/* None is not among the boot targets */
	bool no_none_target;
	/* neither UefiHttp nor HttpBootUri */
	bool no_http_boot;
	/* HttpBootUri cannot be emptied, and nothing is said of it */
	bool http_sticks;
	/* ... 400 */
	bool http_refused;
	/* ... but by null */
	bool http_null;
	/* a boot that used HttpBootUri empties it (the tests' machines do the boot) */
	bool http_forgotten;
	/* the settings object lists Hdd alone, the System lists and takes all */
	bool pending_short;
	/* the System refuses overrides, the pending object takes and then shows them */
	bool boot_moved;
	/* the pending object shows overrides and refuses them, the System takes them */
	bool boot_shy;
	/* 400 when the boot mode comes with the target */
	bool refuse_mode;
	/* slots for floppies, listed before the one for CDs */
	unsigned floppies;
	bool only_once;
	/* If-Match is checked; always 412 */
	bool etags, etags_lie;
	/* ... and required, although no tag is given out */
	bool etags_hidden;
	/* ... and taken in this form alone: "W/" or "*"; NULL: as given */
	const char *etags_want;
	/* so many writes are answered 412, and the tag is another one after */
	unsigned etags_move;
	/* writes to the System and its media answer 202 with a task */
	bool tasks;
	/* ... whose monitor alone is told, which deletes the task when it has ended */
	bool task_bare;
	/* ... of which nothing is told */
	bool task_nowhere;
	/* ... on another server */
	bool task_elsewhere;
	/* ... gone when it has ended */
	bool task_vanishes;
	/* ... 404 for the first so many looks */
	unsigned task_late;
	/* "Completed" */
	const char *task_end;
	/* "OK" */
	const char *task_status;
	/* MessageId of its message; NULL: none */
	const char *task_message;
	/* how long it runs */
	int64_t task_ms;
	/* Retry-After, in seconds */
	const char *task_pause;
	/* a System without Reset, answering 503, is listed first */
	bool baseboard_first;
	/* Reset to what is already: 400 */
	bool same_state_400;
	/* the session's Location names another server */
	bool location_elsewhere;
	/* ... and its body names none */
	bool no_session_link;
	/* boots virtual CDs by the attribute ServerBoot alone */
	bool dell_attributes;
	/* ... which cannot be written */
	bool attributes_refused;
	/* the password: 1 at the login, 2 in all that follows it */
	int must_change;
	/* no resource has an @odata.type */
	bool untyped;
	/* Systems answers 308 to itself with a slash */
	bool redirect;
	const char *vendor, *model;
	/* of its Manager; NULL: 7.10.30 */
	const char *firmware;
	/* further members of the System, as JSON with ' for "; NULL: none */
	const char *health;
	const char *capture;
	/* misdeeds */
	/* takes the Reset and does nothing */
	bool power_lie;
	/* ... boot and media too */
	bool write_lie;
	int64_t power_delay_ms;
	/* the System is 100 MB */
	bool huge;
	/* ... or nested 40 deep */
	bool deep;
	/* the System is said to be on another server */
	bool foreign_link;
	/* the media collection's nextLink is itself */
	bool next_loop;
	/* 503 to everything behind the login */
	bool unavailable;
	/* ... with this Retry-After */
	const char *unavailable_s;
	/* the System is not JSON */
	bool garbage;
	/* Asked first for each request, counted from 0; true: it has answered, or never will. */
	bool (*tamper)(struct httpd_req *q, unsigned n, void *arg);
	void *tamper_arg;
	unsigned requests;
	/* accounts */
	const char *user, *password;
	/* wrong passwords until locked; 0: never */
	unsigned lock_after;
	/* 0: 8 */
	unsigned max_sessions;
	/* state */
	bool on;
	/* of the attribute; NULL: Normal */
	const char *first_device;
	/* that its slot was given; NULL: none */
	char *slot_ca;
	/* it was told to check none */
	bool unverified;
	char *image, *boot_target, *boot_enabled, *http_uri, *uuid, *serial;
	unsigned wrong_passwords;
	bool locked;
	/* tries that reached the BMC */
	unsigned logins;
	unsigned etag;
	/* enabled; -1: not */
	int64_t media_since;
	/* -1: none, or deleted */
	int64_t task_since;
	struct {
		/* 0: free */
		unsigned id;
		char token[24];
	} sessions[16];
	unsigned next_session;

	struct loop *loop;
	struct httpd *httpd;
	struct loop_timer power;
	bool power_target;
	/* "METHOD path body" */
	char *journal[512];
	unsigned njournal;
	/* reads are left out of the journal, and a full one forgets its oldest line */
	bool writes_only;
	/* after each change of power; NULL: nobody is told */
	void (*switched)(void *arg);
	void *switched_arg;
	/* of the newest PATCH; "": none */
	char if_match[64];
};

void fake_bmc_init(struct fake_bmc *b, struct loop_group *g);
void fake_bmc_done(struct fake_bmc *b);
/* A request that tamper said it has answered, and kept: it is answered now. */
void fake_bmc_answer(struct fake_bmc *b, struct httpd_req *q);
/* Its switch, pressed by whatever speaks another protocol than Redfish for it. */
void fake_bmc_switch(struct fake_bmc *b, bool on);
/* ... its slot (NULL: eject) and its override ("None", "Cd", "UefiHttp", ...), unless it lies. */
void fake_bmc_put_image(struct fake_bmc *b, const char *image);
void fake_bmc_put_target(struct fake_bmc *b, const char *target);
/* A line for the journal. */
void fake_bmc_note(struct fake_bmc *b, const char *line);
/* journal lines that start so */
unsigned fake_bmc_count(const struct fake_bmc *b, const char *start);
const char *fake_bmc_last(const struct fake_bmc *b, const char *start);
unsigned fake_bmc_sessions(const struct fake_bmc *b);
/* all sessions */
void fake_bmc_expire(struct fake_bmc *b);
/* anywhere but in logins */
bool fake_bmc_mentions(const struct fake_bmc *b, const char *text);

#endif
