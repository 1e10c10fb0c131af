#ifndef TESTS_CONTRACT_FAKE_BMC_H
#define TESTS_CONTRACT_FAKE_BMC_H

#include <stdbool.h>
#include <stdint.h>
#include "tests/simulated/http_mem.h"
#include "base/httpd/httpd.h"
#include "base/loop/loop.h"

/*
 * fake_bmc: a small BMC for tests of the Redfish client and of the providers. Its flags select
 * dialects (differences between BMCs) and faults. Tests check its journal, which records the
 * requests.
 *
 * If `capture` is set, GETs are served from that directory (a tree of index.json), and writes are
 * only recorded in the journal.
 */
/* A drive that the BMC lists; a member that is NULL or 0 is not reported. */
struct fake_drive {
	const char *serial, *model, *durable, *slot, *state;
	int64_t bytes;
	/* Name and durable name of the volume that contains the drive */
	const char *volume, *volume_durable;
	/* RAIDType of the volume; "None": the volume is the drive itself */
	const char *raid;
	int64_t volume_bytes;
};

struct fake_bmc {
	/* --- dialects ------------------------------------------------------------------------- */
	/* True: the BMC has no session service */
	bool basic_only;
	/* True: the BMC accepts Basic authentication beside sessions */
	bool basic_too;
	/* True: even the service root requires a login (401) */
	bool closed_root;
	/* Drives that the BMC lists below Storage, one in each Storage */
	const struct fake_drive *drives;
	unsigned ndrives;
	/* True: 500 for every request below Storage */
	bool storage_fails;
	/* True: the BMC has SimpleStorage beside Storage */
	bool simple_too;
	/* True: the BMC has SimpleStorage only, which reports models and sizes */
	bool simple_storage;
	/* Where the slot lists HTTPS as a protocol: 1 in the slot, 2 at InsertMedia, 3 in
	 * ActionInfo; 0: nowhere */
	int lists_https;
	/* True: media over plain HTTP are refused, although no property says so */
	bool https_only;
	/* How the slot checks the certificate of a media server. 0: not at all; 1: a CA can be
	 * installed, or the check switched off; 2: the check can only be switched off */
	int verifies;
	/* True: InsertMedia has an ActionInfo, which lists protocols only if lists_https is 3 */
	bool insert_info;
	/* True: media slots exist only under the Manager */
	bool managers_media;
	/* True: no slots exist until the action AMIVirtualMedia.EnableRMedia is called */
	bool media_off;
	/* Time in ms from the call of EnableRMedia until the slots exist */
	int64_t media_ms;
	/* True: a CD slot that refuses InsertMedia is listed before the usual slot */
	bool inner_slot;
	/* Id of the slot that inner_slot adds */
	const char *inner_id;
	/* Id of the slot that accepts media; NULL: Cd. */
	const char *slot_id;
	/* True: the slot does not list its media types */
	bool no_media_types;
	/* Name of the action that enables media (see media_off); NULL:
	 * #AMIVirtualMedia.EnableRMedia */
	const char *enable_action;
	/* True: InsertMedia requires UserName and Password */
	bool named_media;
	/* no_media: the BMC has no slots. no_cd: the slots accept only floppies */
	bool no_media, no_cd;
	/* True: media are inserted by PATCH, and InsertMedia does not exist */
	bool patch_media;
	/* True: InsertMedia accepts no parameter except Image */
	bool bare_media;
	/* True: EjectMedia with a body is refused (415) */
	bool eject_no_body;
	/* True: Inserted stays true after an eject */
	bool eject_keeps_flag;
	/* True: reset types are listed only in ActionInfo */
	bool action_info;
	bool no_force_off;
	/* True: Reset also supports ForceOn (force_on), PowerCycle (power_cycle) */
	bool force_on, power_cycle;
	/* True: a Reset to On is accepted without an effect */
	bool on_ignored;
	/* True: a Reset to On is refused (409) */
	bool on_refused;
	/* True: only the settings object accepts boot overrides */
	bool pending_boot;
	/* True: None is not listed among the boot targets */
	bool no_none_target;
	/* True: the BMC has neither target UefiHttp nor HttpBootUri */
	bool no_http_boot;
	/* True: clearing HttpBootUri is accepted without an effect */
	bool http_sticks;
	/* True: clearing HttpBootUri is refused (400) */
	bool http_refused;
	/* True: HttpBootUri can be cleared only with null */
	bool http_null;
	/* True: HttpBootUri is cleared by the boot that used it (the machines in the tests perform
	 * the boot) */
	bool http_forgotten;
	/* True: the settings object lists only Hdd, while the System lists and accepts all
	 * targets */
	bool pending_short;
	/* True: the System refuses overrides; the settings object accepts them and then shows
	 * them */
	bool boot_moved;
	/* True: the settings object shows overrides but refuses them; the System accepts them */
	bool boot_shy;
	/* True: a boot mode in the same request as the target is refused (400) */
	bool refuse_mode;
	/* Number of floppy slots that are listed before the CD slot */
	unsigned floppies;
	bool only_once;
	/* etags: If-Match is checked. etags_lie: every If-Match fails (412) */
	bool etags, etags_lie;
	/* True: If-Match is required, although the BMC sends no ETag */
	bool etags_hidden;
	/* Only form of If-Match that is accepted: "W/" or "*"; NULL: the ETag as the BMC sent it */
	const char *etags_want;
	/* Number of next writes that are answered 412; each changes the ETag */
	unsigned etags_move;
	/* True: writes to the System and its media are answered 202 with a task */
	bool tasks;
	/* True: the 202 has no body, only a Location with the task monitor. The task is deleted
	 * when the monitor is read after the task has ended */
	bool task_bare;
	/* True: the 202 contains no link to the task */
	bool task_nowhere;
	/* True: the link to the task names a different server */
	bool task_elsewhere;
	/* True: the task is deleted when it has ended */
	bool task_vanishes;
	/* Number of reads of the task that are answered 404 at first */
	unsigned task_late;
	/* TaskState after the end, such as "Completed" */
	const char *task_end;
	/* TaskStatus after the end, such as "OK" */
	const char *task_status;
	/* MessageId of the task's message; NULL: none */
	const char *task_message;
	/* Duration of the task, ms */
	int64_t task_ms;
	/* Retry-After of a task in progress, in seconds; NULL: none */
	const char *task_pause;
	/* True: a System that has no Reset and answers 503 is listed first */
	bool baseboard_first;
	/* True: a Reset to the present power state is refused (400) */
	bool same_state_400;
	/* True: Location of a new session names a different server */
	bool location_elsewhere;
	/* True: the body of a new session contains no link either */
	bool no_session_link;
	/* True: virtual CDs are booted only by the attribute ServerBoot (Dell) */
	bool dell_attributes;
	/* True: writes of the attribute ServerBoot are refused (400) */
	bool attributes_refused;
	/* Effect of a password that must be changed. 0: none; 1: every login is refused; 2: every
	 * request after the login is refused */
	int must_change;
	/* True: no resource has an @odata.type */
	bool untyped;
	/* True: Systems answers 308, a redirect to itself with a trailing slash */
	bool redirect;
	const char *vendor, *model;
	/* Firmware version of the Manager; NULL: 7.10.30. */
	const char *firmware;
	/* Further members of the System, as JSON with ' instead of "; NULL: none */
	const char *health;
	const char *capture;
	/* --- faults --------------------------------------------------------------------------- */
	/* True: Reset is accepted without an effect */
	bool power_lie;
	/* True: changes of boot and media are accepted without an effect */
	bool write_lie;
	int64_t power_delay_ms;
	/* True: the System is 100 MB long */
	bool huge;
	/* True: the System is nested 40 levels deep */
	bool deep;
	/* True: the link to the System names a different server */
	bool foreign_link;
	/* True: nextLink of the media collection points to the collection itself */
	bool next_loop;
	/* True: 503 for every request that requires a login */
	bool unavailable;
	/* Retry-After of the 503 that `unavailable` causes, in seconds; NULL: none */
	const char *unavailable_s;
	/* True: the System is not JSON */
	bool garbage;
	/* Called for each request before the BMC serves it; n counts the requests from 0. Returns
	 * true if the BMC must not serve the request: tamper() has answered the request, answers it
	 * later (fake_bmc_answer()), or leaves it without an answer. NULL: the BMC serves every
	 * request */
	bool (*tamper)(struct httpd_req *q, unsigned n, void *arg);
	void *tamper_arg;
	unsigned requests;
	/* --- accounts ------------------------------------------------------------------------- */
	const char *user, *password;
	/* Number of wrong passwords after which the account is locked; 0: never */
	unsigned lock_after;
	/* Highest number of sessions; 0 means 8 */
	unsigned max_sessions;
	/* --- state ---------------------------------------------------------------------------- */
	bool on;
	/* Value of the attribute FirstBootDevice; NULL: Normal */
	const char *first_device;
	/* CA certificate that was installed for the slot; NULL: none */
	char *slot_ca;
	/* True: VerifyCertificate of the slot was set to false */
	bool unverified;
	char *image, *boot_target, *boot_enabled, *http_uri, *uuid, *serial;
	unsigned wrong_passwords;
	bool locked;
	/* Number of login attempts that reached the BMC */
	unsigned logins;
	unsigned etag;
	/* Loop time at which media were enabled; -1: not enabled */
	int64_t media_since;
	/* Loop time at which the task began; -1: there is no task, or it was deleted */
	int64_t task_since;
	struct {
		/* Id of the session; 0: unused entry */
		unsigned id;
		char token[24];
	} sessions[16];
	unsigned next_session;

	struct loop *loop;
	struct httpd *httpd;
	struct loop_timer power;
	bool power_target;
	/* Requests received, each as "METHOD path body" */
	char *journal[512];
	unsigned njournal;
	/* True: reads are not recorded, and a full journal drops its oldest line */
	bool writes_only;
	/* Called after each change of power; NULL: no such function */
	void (*switched)(void *arg);
	void *switched_arg;
	/* If-Match of the last PATCH; "": the header was absent */
	char if_match[64];
};

void fake_bmc_init(struct fake_bmc *b, struct loop_group *g);
void fake_bmc_done(struct fake_bmc *b);
/* Answers a request for which tamper() returned true without answering it. */
void fake_bmc_answer(struct fake_bmc *b, struct httpd_req *q);
/* Switches the machine on or off, for fakes that speak protocols other than Redfish. */
void fake_bmc_switch(struct fake_bmc *b, bool on);
/* For fakes that speak other protocols: fake_bmc_put_image() sets the image in the slot (NULL:
 * ejects it); fake_bmc_put_target() sets the boot override ("None", "Cd", "UefiHttp", ...). Neither
 * has an effect if write_lie is set. */
void fake_bmc_put_image(struct fake_bmc *b, const char *image);
void fake_bmc_put_target(struct fake_bmc *b, const char *target);
/* Adds a line to the journal. */
void fake_bmc_note(struct fake_bmc *b, const char *line);
/* fake_bmc_count() returns the number of journal lines that begin with start; fake_bmc_last() the
 * last of them. */
unsigned fake_bmc_count(const struct fake_bmc *b, const char *start);
const char *fake_bmc_last(const struct fake_bmc *b, const char *start);
unsigned fake_bmc_sessions(const struct fake_bmc *b);
/* Ends all sessions. */
void fake_bmc_expire(struct fake_bmc *b);
/* True if text occurs in a journal line that is not a login. */
bool fake_bmc_mentions(const struct fake_bmc *b, const char *text);

#endif
