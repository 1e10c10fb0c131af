#ifndef TESTS_CONTRACT_FAKE_BMC_H
#define TESTS_CONTRACT_FAKE_BMC_H

#include <stdbool.h>
#include <stdint.h>
#include "base/httpd/http_mem.h"
#include "base/httpd/httpd.h"
#include "base/loop/loop.h"

/*
 * fake_bmc: a small BMC for tests of the Redfish client and the providers. The flags select
 * dialects and faults; tests check the journal of requests.
 *
 * With `capture` set, GETs are served from that folder (a tree of index.json), and writes are only
 * recorded in the journal.
 */
/* A drive that the BMC lists; NULL or 0: not reported. */
struct fake_drive {
	const char *serial, *model, *durable, *slot, *state;
	int64_t bytes;
	/* Volume that contains the drive. */
	const char *volume, *volume_durable;
	/* RAIDType of the volume; "None": the drive itself, listed as a volume. */
	const char *raid;
	int64_t volume_bytes;
};

struct fake_bmc {
	/* --- dialects ------------------------------------------------------------------------- */
	/* No session service. */
	bool basic_only;
	/* Basic is accepted beside sessions. */
	bool basic_too;
	/* The service root needs a login too (401). */
	bool closed_root;
	/* Drives listed below Storage, one per Storage. */
	const struct fake_drive *drives;
	unsigned ndrives;
	/* 500 for everything below Storage. */
	bool storage_fails;
	/* SimpleStorage beside Storage. */
	bool simple_too;
	/* SimpleStorage only, which reports models and sizes. */
	bool simple_storage;
	/* Where the slot lists HTTPS: 1 in the slot, 2 at InsertMedia, 3 in ActionInfo; 0 means
	 * nowhere. */
	int lists_https;
	/* Media over plain HTTP are refused, and no property announces it. */
	bool https_only;
	/* The slot checks certificates: 1 and accepts a CA, 2 and stops checking when asked; 0: no
	 * check. */
	int verifies;
	/* InsertMedia has an ActionInfo, which lists no protocols unless lists_https is 3. */
	bool insert_info;
	/* Slots only under the Manager. */
	bool managers_media;
	/* No slots before the action AMIVirtualMedia.EnableRMedia. */
	bool media_off;
	/* Time from that action until the slots appear. */
	int64_t media_ms;
	/* The first CD slot refuses InsertMedia. */
	bool inner_slot;
	/* Id of that first slot. */
	const char *inner_id;
	/* Id of the slot that accepts media; NULL: Cd. */
	const char *slot_id;
	/* The slot does not list its media types. */
	bool no_media_types;
	/* Name of the action that enables media (media_off); NULL:
	 * #AMIVirtualMedia.EnableRMedia. */
	const char *enable_action;
	/* InsertMedia requires UserName and Password. */
	bool named_media;
	/* no_cd: the slots accept only floppies. */
	bool no_media, no_cd;
	/* Media are inserted by PATCH; no InsertMedia. */
	bool patch_media;
	/* InsertMedia accepts only Image. */
	bool bare_media;
	/* EjectMedia with a body: 415. */
	bool eject_no_body;
	/* Inserted stays true after an eject. */
	bool eject_keeps_flag;
	/* Reset types are listed only in ActionInfo. */
	bool action_info;
	bool no_force_off;
	/* Reset also supports ForceOn, PowerCycle. */
	bool force_on, power_cycle;
	/* On is accepted without an effect. */
	bool on_ignored;
	/* On: 409. */
	bool on_refused;
	/* Only the settings object accepts boot overrides. */
	bool pending_boot;
	/* None is not listed among the boot targets. */
	bool no_none_target;
	/* Neither UefiHttp nor HttpBootUri. */
	bool no_http_boot;
	/* Clearing HttpBootUri is accepted without an effect. */
	bool http_sticks;
	/* Clearing HttpBootUri: 400. */
	bool http_refused;
	/* HttpBootUri can be cleared only with null. */
	bool http_null;
	/* A boot that used HttpBootUri clears it (the tests' machines perform the boot). */
	bool http_forgotten;
	/* The settings object lists only Hdd; the System lists and accepts all targets. */
	bool pending_short;
	/* The System refuses overrides; the pending object accepts and then shows them. */
	bool boot_moved;
	/* The pending object shows overrides and refuses them; the System accepts them. */
	bool boot_shy;
	/* 400 for a boot mode sent together with the target. */
	bool refuse_mode;
	/* Number of floppy slots listed before the CD slot. */
	unsigned floppies;
	bool only_once;
	/* etags: If-Match is checked. etags_lie: always 412. */
	bool etags, etags_lie;
	/* If-Match is required, although no ETag is sent. */
	bool etags_hidden;
	/* If-Match is accepted only in this form: "W/" or "*"; NULL: as sent. */
	const char *etags_want;
	/* Number of writes that are answered 412 and followed by a new ETag. */
	unsigned etags_move;
	/* Writes to the System and its media answer 202 with a task. */
	bool tasks;
	/* The 202 contains only the task monitor, which deletes the task when it has ended. */
	bool task_bare;
	/* The 202 contains no link to the task. */
	bool task_nowhere;
	/* The link to the task names a different server. */
	bool task_elsewhere;
	/* The task is deleted when it has ended. */
	bool task_vanishes;
	/* Number of first reads of the task that are answered 404. */
	unsigned task_late;
	/* Final TaskState, such as "Completed". */
	const char *task_end;
	/* Final TaskStatus, such as "OK". */
	const char *task_status;
	/* MessageId of the task's message; NULL: none. */
	const char *task_message;
	/* Duration of the task. */
	int64_t task_ms;
	/* Retry-After, in seconds. */
	const char *task_pause;
	/* A System without Reset that answers 503 is listed first. */
	bool baseboard_first;
	/* Reset to the present state: 400. */
	bool same_state_400;
	/* Location of the new session names a different server. */
	bool location_elsewhere;
	/* The body of the new session has no link either. */
	bool no_session_link;
	/* Virtual CDs are booted only by the attribute ServerBoot. */
	bool dell_attributes;
	/* That attribute cannot be written. */
	bool attributes_refused;
	/* The password must be changed: 1 announced at the login, 2 at every request after it; 0:
	 * no. */
	int must_change;
	/* No resource has an @odata.type. */
	bool untyped;
	/* Systems answers 308 to itself with a trailing slash. */
	bool redirect;
	const char *vendor, *model;
	/* Firmware version of the Manager; NULL: 7.10.30. */
	const char *firmware;
	/* Further members of the System, as JSON with ' instead of "; NULL: none. */
	const char *health;
	const char *capture;
	/* --- faults --------------------------------------------------------------------------- */
	/* Reset is accepted without an effect. */
	bool power_lie;
	/* Boot and media changes are accepted without an effect. */
	bool write_lie;
	int64_t power_delay_ms;
	/* The System is 100 MB. */
	bool huge;
	/* The System is nested 40 deep. */
	bool deep;
	/* The link to the System names a different server. */
	bool foreign_link;
	/* nextLink of the media collection is the collection itself. */
	bool next_loop;
	/* 503 for every request that needs a login. */
	bool unavailable;
	/* Retry-After of that 503. */
	const char *unavailable_s;
	/* The System is not JSON. */
	bool garbage;
	/* Called first for each request, counted from 0. True: tamper has answered or will never
	 * answer. */
	bool (*tamper)(struct httpd_req *q, unsigned n, void *arg);
	void *tamper_arg;
	unsigned requests;
	/* --- accounts ------------------------------------------------------------------------- */
	const char *user, *password;
	/* Wrong passwords until the account is locked; 0 means never. */
	unsigned lock_after;
	/* 0 means 8. */
	unsigned max_sessions;
	/* --- state ---------------------------------------------------------------------------- */
	bool on;
	/* Value of the attribute FirstBootDevice; NULL: Normal. */
	const char *first_device;
	/* CA that was installed for the slot; NULL: none. */
	char *slot_ca;
	/* The slot was told not to check certificates. */
	bool unverified;
	char *image, *boot_target, *boot_enabled, *http_uri, *uuid, *serial;
	unsigned wrong_passwords;
	bool locked;
	/* Login attempts that reached the BMC. */
	unsigned logins;
	unsigned etag;
	/* Time at which media were enabled; -1: not enabled. */
	int64_t media_since;
	/* Start of the task; -1: none, or deleted. */
	int64_t task_since;
	struct {
		/* 0: unused entry. */
		unsigned id;
		char token[24];
	} sessions[16];
	unsigned next_session;

	struct loop *loop;
	struct httpd *httpd;
	struct loop_timer power;
	bool power_target;
	/* Requests as "METHOD path body". */
	char *journal[512];
	unsigned njournal;
	/* Reads are not recorded, and a full journal drops its oldest line. */
	bool writes_only;
	/* Called after each change of power; NULL: not wanted. */
	void (*switched)(void *arg);
	void *switched_arg;
	/* If-Match of the last PATCH; "": none. */
	char if_match[64];
};

void fake_bmc_init(struct fake_bmc *b, struct loop_group *g);
void fake_bmc_done(struct fake_bmc *b);
/* Answers a request that tamper held back. */
void fake_bmc_answer(struct fake_bmc *b, struct httpd_req *q);
/* Switches the machine, for fakes that speak other protocols than Redfish. */
void fake_bmc_switch(struct fake_bmc *b, bool on);
/* Sets the image in the slot (NULL: eject), for fakes that speak other protocols;
 * fake_bmc_put_target() sets the override ("None", "Cd", "UefiHttp", ...). Neither has an effect
 * with write_lie. */
void fake_bmc_put_image(struct fake_bmc *b, const char *image);
void fake_bmc_put_target(struct fake_bmc *b, const char *target);
/* Adds a line to the journal. */
void fake_bmc_note(struct fake_bmc *b, const char *line);
/* Returns the number of journal lines that begin with start. */
unsigned fake_bmc_count(const struct fake_bmc *b, const char *start);
const char *fake_bmc_last(const struct fake_bmc *b, const char *start);
unsigned fake_bmc_sessions(const struct fake_bmc *b);
/* Ends all sessions. */
void fake_bmc_expire(struct fake_bmc *b);
/* Returns true if text occurs in a journal line other than a login. */
bool fake_bmc_mentions(const struct fake_bmc *b, const char *text);

#endif
