#ifndef SIM_DIALECT_H
#define SIM_DIALECT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/data/fields.h"
#include "base/err.h"
#include "sim/tree.h"

/*
 * dialect: how BMCs of one make answer, as data: a tree of resources, and what is done otherwise
 * than by the book.
 *
 * Those of sim/dialects/NAME.yaml are built in. A file is
 *
 *   about: one line
 *   match: {vendor: "Dell*"}       # of which trees of others it is the make, by their service root
 *   quirks: {...}                  # the members of struct sim_quirks
 *   resources: {PATH: {...}}       # our own, no copy of any maker's
 *   like: NAME                     # the built-in one that says what this one does not
 *
 * Q numbers are those of redfish/quirks.def; sources of the facts are told in the files. A dialect
 * is read only; everything on the loop thread.
 */
enum sim_answer {
	/* 204 */
	SIM_ANSWER_NO_CONTENT,
	/* 200 with a message */
	SIM_ANSWER_OK,
	/* 202 with a monitor */
	SIM_ANSWER_TASK,
	/* 202 of which nothing more is told, against DSP0266 (T1) */
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
	/* of every answer */
	int64_t latency_ms;
	/* ... of the first after a minute without any */
	int64_t first_ms;
	/* enum sim_errors: ExtendedInfo a list; one object (Q6); ids without a registry */
	int errors;
	/* status of whatever is below the System's Storage; 0: it is served */
	int64_t storage;
	/* other Systems answer 503 while the host is off (Q10) */
	bool baseboard_needs_host;
	struct {
		int64_t slots, timeout_ms, lock_after, lock_ms;
		/* enum sim_location: of a new session */
		int location;
		/* what its number stands behind */
		const char *id;
		/* MessageId when none is free */
		const char *full;
		bool no_basic;
	} sessions;
	struct {
		/* enum sim_task_end */
		int end;
		/* deleted when its monitor told the end (T2) */
		bool gone_when_heard;
		/* so many looks are answered 404 (T4) */
		int64_t late;
	} tasks;
	struct {
		/* enum sim_if_match */
		int if_match;
		/* enum sim_etag_form: strong: weak ones are taken without W/ alone; any: "*"
		 * alone */
		int form;
	} etags;
	struct {
		/* enum sim_answer */
		int answer;
		/* status when it is so already; 0: it is taken (Q13) */
		int64_t same;
		/* On is refused with 409 for so long after off (Q13) */
		int64_t on_busy_ms;
		/* that many requests for On are taken and do nothing (Q12) */
		int64_t deaf;
		/* PowerState is that old */
		int64_t stale_ms;
	} power;
	struct {
		/* enum sim_place: which takes overrides (Q11, Q21) */
		int place;
		int answer;
		/* enum sim_mode: goes with the target (Q17, Q18) */
		int mode;
		/* the target that boots virtual media; NULL: Cd and UsbCd (Q30) */
		const char *cd;
		/* target None is refused (Q20) */
		bool no_none;
		/* nothing is taken during POST (Q20) */
		bool post_busy;
	} boot;
	struct {
		int answer, body, eject_body;
		/* plain HTTP is refused, and nothing lists that */
		bool tls_only;
		/* ... and nothing is fetched until VerifyCertificate is off */
		bool verifies;
		/* status when nothing is in; 0: it is taken (Q28) */
		int64_t empty_eject;
		/* so many inserts are answered 500 (Q28) */
		int64_t busy;
		/* Inserted stays true after an eject (Q28) */
		bool flag_stays;
		/* ImageName does (Q28) */
		bool name_stays;
		/* the action EjectMedia is shown only then */
		bool eject_when_in;
		/* slots come so long after EnableRMedia */
		int64_t enable_ms;
		/* MessageId of the licence that is missing; NULL: it is there (Q33) */
		const char *licence;
		/* slots that refuse media (Q27) */
		struct strings inner;
	} media;
};

struct sim_dialect {
	const char *name, *about;
	struct {
		/* globs, of the root's Vendor, of a name in its Oem */
		const char *vendor, *oem;
	} match;
	struct sim_quirks quirks;
	const struct sim_tree *tree;
};
extern const struct field sim_quirks_fields[];

/* of the nth built in, from 0; NULL: there are no more */
const char *sim_dialect_name(size_t n);

/* Those that one rack speaks, in order of adding: its machines take turns. */
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
/* One that is built in; ERR_NOT_FOUND lists all. */
int sim_dialects_add(struct sim_dialects *s, const char *name, struct err *e)
	__attribute__((warn_unused_result));
/* A mockup folder, with the quirks of the built-in dialect that its root matches, or none. */
int sim_dialects_add_tree(struct sim_dialects *s, const char *folder, struct err *e)
	__attribute__((warn_unused_result));
/* The text of a file; errors name the member and what is allowed. */
int sim_dialects_add_text(struct sim_dialects *s, const char *name, const char *yaml, size_t len,
			  struct err *e) __attribute__((warn_unused_result));

#endif
