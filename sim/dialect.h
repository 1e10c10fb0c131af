#ifndef SIM_DIALECT_H
#define SIM_DIALECT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/data/fields.h"
#include "base/err.h"
#include "sim/tree.h"

/*
 * dialect: how BMCs of one make answer, as data: a tree of resources, and what is done otherwise than by the book.
 *
 * Those of sim/dialects/NAME.yaml are built in.  A file is
 *
 *	about: one line
 *	match: {vendor: "Dell*"}       # of which trees of others it is the make, by their service root
 *	quirks: {...}                  # the members of struct sim_quirks
 *	resources: {PATH: {...}}       # our own, no copy of any maker's
 *	like: NAME                     # the built-in one that says what this one does not
 *
 * Q numbers are those of redfish/quirks.def; sources of the facts are told in the files.
 * A dialect is read only; everything on the loop thread.
 */
enum sim_answer {
	SIM_ANSWER_NO_CONTENT, /* 204 */
	SIM_ANSWER_OK,	       /* 200 with a message */
	SIM_ANSWER_TASK,       /* 202 with a monitor */
	SIM_ANSWER_NOWHERE,    /* 202 of which nothing more is told, against DSP0266 (T1) */
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
	int64_t latency_ms; /* of every answer */
	int64_t first_ms;   /* ... of the first after a minute without any */
	int errors;	    /* enum sim_errors: ExtendedInfo a list; one object (Q6); ids without a
			     * registry */
	int64_t storage;    /* status of whatever is below the System's Storage; 0: it is served */
	bool baseboard_needs_host; /* other Systems answer 503 while the host is off (Q10) */
	struct {
		int64_t slots, timeout_ms, lock_after, lock_ms;
		int location;	  /* enum sim_location: of a new session */
		const char *id;	  /* what its number stands behind */
		const char *full; /* MessageId when none is free */
		bool no_basic;
	} sessions;
	struct {
		int end;	      /* enum sim_task_end */
		bool gone_when_heard; /* deleted when its monitor told the end (T2) */
		int64_t late;	      /* so many looks are answered 404 (T4) */
	} tasks;
	struct {
		int if_match; /* enum sim_if_match */
		int form; /* enum sim_etag_form: strong: weak ones are taken without W/ alone; any: "*" alone */
	} etags;
	struct {
		int answer;	    /* enum sim_answer */
		int64_t same;	    /* status when it is so already; 0: it is taken (Q13) */
		int64_t on_busy_ms; /* On is refused with 409 for so long after off (Q13) */
		int64_t deaf;	    /* that many requests for On are taken and do nothing (Q12) */
		int64_t stale_ms;   /* PowerState is that old */
	} power;
	struct {
		int place; /* enum sim_place: which takes overrides (Q11, Q21) */
		int answer;
		int mode;	/* enum sim_mode: goes with the target (Q17, Q18) */
		const char *cd; /* the target that boots virtual media; NULL: Cd and UsbCd (Q30) */
		bool no_none;	/* target None is refused (Q20) */
		bool post_busy; /* nothing is taken during POST (Q20) */
	} boot;
	struct {
		int answer, body, eject_body;
		bool tls_only;	     /* plain HTTP is refused, and nothing lists that */
		bool verifies;	     /* ... and nothing is fetched until VerifyCertificate is off */
		int64_t empty_eject; /* status when nothing is in; 0: it is taken (Q28) */
		int64_t busy;	     /* so many inserts are answered 500 (Q28) */
		bool flag_stays;     /* Inserted stays true after an eject (Q28) */
		bool name_stays;     /* ImageName does (Q28) */
		bool eject_when_in;  /* the action EjectMedia is shown only then */
		int64_t enable_ms;   /* slots come so long after EnableRMedia */
		const char *
			licence; /* MessageId of the licence that is missing; NULL: it is there (Q33) */
		struct strings inner; /* slots that refuse media (Q27) */
	} media;
};

struct sim_dialect {
	const char *name, *about;
	struct {
		const char *vendor, *oem; /* globs, of the root's Vendor, of a name in its Oem */
	} match;
	struct sim_quirks quirks;
	const struct sim_tree *tree;
};
extern const struct field sim_quirks_fields[];

const char *sim_dialect_name(size_t n); /* of the nth built in, from 0; NULL: there are no more */

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
