#ifndef SIM_BMC_DIALECT_H
#define SIM_BMC_DIALECT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/data/fields.h"
#include "base/err.h"
#include "sim/bmc/tree.h"

/*
 * dialect: how BMCs of one make answer, as data: a tree of resources, and the deviations from the
 * specification.
 *
 * The files sim/bmc/dialects/NAME.yaml are built in. A file contains
 *
 *   about: one line
 *   match: {vendor: "Dell*"}       # service roots of other trees that belong to this make
 *   quirks: {...}                  # members of struct sim_quirks
 *   resources: {PATH: {...}}       # written for drover, no copy of any vendor's
 *   like: NAME                     # built-in dialect that supplies what this file omits
 *
 * Numbers such as Q17 begin the ids of the rows in redfish/quirks.def. The dialect files name the
 * sources of the facts. A dialect is read-only; everything runs on the loop thread.
 */
enum sim_answer {
	/* Answers 204. */
	SIM_ANSWER_NO_CONTENT,
	/* Answers 200 with a message. */
	SIM_ANSWER_OK,
	/* Answers 202 with the address of a task monitor. */
	SIM_ANSWER_TASK,
	/* Answers 202 without a task monitor or Task, which violates DSP0266. */
	SIM_ANSWER_NOWHERE,
};
enum sim_location { SIM_LOCATION_PATH, SIM_LOCATION_ELSEWHERE, SIM_LOCATION_NONE };
enum sim_errors { SIM_ERRORS_LIST, SIM_ERRORS_OBJECT, SIM_ERRORS_BARE };
enum sim_task_end { SIM_TASK_WELL, SIM_TASK_EXCEPTION_OK, SIM_TASK_GONE };
enum sim_if_match { SIM_MATCH_CHECKED, SIM_MATCH_IGNORED, SIM_MATCH_REQUIRED, SIM_MATCH_REFUSED };
enum sim_etag_form { SIM_ETAG_GIVEN, SIM_ETAG_STRONG, SIM_ETAG_ANY };
enum sim_place { SIM_PLACE_SYSTEM, SIM_PLACE_SETTINGS };
enum sim_mode { SIM_MODE_OPTIONAL, SIM_MODE_REQUIRED, SIM_MODE_REFUSED, SIM_MODE_FORGOTTEN };
enum sim_media_body { SIM_BODY_ANY, SIM_BODY_BARE, SIM_BODY_WORDY, SIM_BODY_NAMED };
enum sim_eject_body { SIM_EJECT_ANY, SIM_EJECT_OBJECT, SIM_EJECT_NONE };

struct sim_quirks {
	/* Latency of every answer, in ms. */
	int64_t latency_ms;
	/* Additional latency of the first answer after a minute without requests, in ms. */
	int64_t first_ms;
	/* Form of error messages, enum sim_errors. LIST: ExtendedInfo is a list. OBJECT:
	 * ExtendedInfo is one object. BARE: MessageIds do not begin with the name of a registry. */
	int errors;
	/* HTTP status of the answers for everything below the System's Storage; 0 means that
	 * Storage is served normally. */
	int64_t storage;
	/* True: the other Systems (GPU baseboards) answer 503 while the host is off. */
	bool baseboard_needs_host;
	struct {
		int64_t slots, timeout_ms, lock_after, lock_ms;
		/* Location header of a new session, enum sim_location. */
		int location;
		/* Text before the number in a session's id and path. */
		const char *id;
		/* MessageId of the error when no session slot is free. */
		const char *full;
		bool no_basic;
	} sessions;
	struct {
		/* How a Task ends, enum sim_task_end. */
		int end;
		/* True: the Task is deleted once its monitor has reported the Task's end. */
		bool gone_when_heard;
		/* Number of reads of a new Task that are answered 404. */
		int64_t late;
	} tasks;
	struct {
		/* Handling of If-Match, enum sim_if_match. */
		int if_match;
		/* Accepted form of an ETag in If-Match, enum sim_etag_form. STRONG: a weak ETag is
		 * accepted only without its prefix W/. ANY: only "*" is accepted. */
		int form;
	} etags;
	struct {
		/* Answer to a Reset, enum sim_answer. */
		int answer;
		/* HTTP status of the answer to a Reset to the present power state; 0 means that
		 * such a Reset is accepted. */
		int64_t same;
		/* Time after power-off in which the Reset On is refused with 409, in ms. */
		int64_t on_busy_ms;
		/* Number of Resets to On that are accepted without effect before a Reset to On has
		 * an effect. */
		int64_t deaf;
		/* Delay in ms with which the System reports a change of its PowerState. */
		int64_t stale_ms;
	} power;
	struct {
		/* Resource that accepts boot overrides, enum sim_place. */
		int place;
		int answer;
		/* Handling of BootSourceOverrideMode in a request with the target, enum sim_mode
		 * (Q17, Q18). */
		int mode;
		/* Boot target that boots virtual media; NULL: Cd and UsbCd do (Q30). */
		const char *cd;
		/* True: the boot target None is refused (Q20). */
		bool no_none;
		/* True: boot overrides are refused during POST (Q20). */
		bool post_busy;
	} boot;
	struct {
		int answer, body, eject_body;
		/* True: media URLs with plain HTTP are refused, and no property lists that
		 * restriction. */
		bool tls_only;
		/* True: media are refused until VerifyCertificate is set to false. */
		bool verifies;
		/* HTTP status of the answer to an eject without a medium; 0 means that such an
		 * eject is accepted. */
		int64_t empty_eject;
		/* Number of inserts that are answered 500 before an insert succeeds. */
		int64_t busy;
		/* True: the member Inserted stays true after an eject. */
		bool flag_stays;
		/* True: the member ImageName stays set after an eject. */
		bool name_stays;
		/* True: the action EjectMedia is shown only while a medium is inserted. */
		bool eject_when_in;
		/* Time from EnableRMedia until the media slots appear, in ms. */
		int64_t enable_ms;
		/* MessageId of the error for a missing licence; NULL: the licence is present. */
		const char *licence;
		/* Names of media slots that refuse media. */
		struct strings inner;
	} media;
};

struct sim_dialect {
	const char *name, *about;
	struct {
		/* Glob patterns by which a mockup's make is recognised: for its service root's
		 * Vendor, and for the name of a member of the root's Oem. */
		const char *vendor, *oem;
	} match;
	struct sim_quirks quirks;
	const struct sim_tree *tree;
};
extern const struct field sim_quirks_fields[];

/* Returns the name of the built-in dialect n (from 0), or NULL after the last. */
const char *sim_dialect_name(size_t n);

/* The dialects of one rack, in the order in which they were added; the machines use them in
 * turn. */
struct sim_dialects {
	struct arena *arena;
	struct {
		const struct sim_dialect *dialect;
		struct sim_tree *tree;
	} v[32];
	size_t n;
};
void sim_dialects_init(struct sim_dialects *s);
void sim_dialects_done(struct sim_dialects *s);
/* Adds a built-in dialect. ERR_NOT_FOUND: no dialect has that name; the error text lists all of
 * them. */
int sim_dialects_add(struct sim_dialects *s, const char *name, struct err *e)
	__attribute__((warn_unused_result));
/* Adds a mockup directory. It gets the quirks of the built-in dialect that matches its service
 * root, or no quirks if none matches. */
int sim_dialects_add_tree(struct sim_dialects *s, const char *folder, struct err *e)
	__attribute__((warn_unused_result));
/* Adds the dialect in the text of a dialect file. Errors name the member and the permitted
 * values. */
int sim_dialects_add_text(struct sim_dialects *s, const char *name, const char *yaml, size_t len,
			  struct err *e) __attribute__((warn_unused_result));

#endif
