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
	const char *volume, *volume_durable; /* that it is a part of */
	const char *raid; /* RAIDType of that; "None": the drive itself, called a volume */
	int64_t volume_bytes;
};

struct fake_bmc {
	/* dialects */
	bool basic_only;		 /* no session service */
	bool basic_too;			 /* Basic is taken beside sessions */
	bool closed_root;		 /* the root answers 401 too */
	const struct fake_drive *drives; /* below Storage, one to a Storage */
	unsigned ndrives;
	bool storage_fails;  /* 500 for whatever is below Storage */
	bool simple_too;     /* SimpleStorage beside Storage */
	bool simple_storage; /* ... as SimpleStorage alone, which knows models and sizes */
	int lists_https; /* its slot says HTTPS: 1 in the slot, 2 at InsertMedia, 3 in ActionInfo */
	bool https_only; /* media over plain HTTP are refused, and nothing lists that */
	int verifies; /* its slot checks certificates: 1 and takes one, 2 and stops when it is told to */
	bool insert_info; /* there is an ActionInfo, which says no protocols unless lists_https is 3 */
	bool managers_media;  /* slots under the Manager alone */
	bool media_off;	      /* no slots until the action AMIVirtualMedia.EnableRMedia */
	int64_t media_ms;     /* ... and so long after it */
	bool inner_slot;      /* a CD slot comes first whose InsertMedia is refused */
	const char *inner_id; /* its Id */
	const char *slot_id;  /* of the slot that takes media; NULL: Cd */
	bool no_media_types;  /* it does not say what it takes */
	const char
		*enable_action; /* what media_off calls it; NULL: #AMIVirtualMedia.EnableRMedia */
	bool named_media;	/* InsertMedia wants UserName and Password */
	bool no_media, no_cd;	/* no_cd: the slots take floppies */
	bool patch_media;	/* no InsertMedia */
	bool bare_media;	/* InsertMedia takes Image alone */
	bool eject_no_body;	/* EjectMedia with a body: 415 */
	bool eject_keeps_flag;	/* Inserted stays true after an eject */
	bool action_info;	/* reset values only in ActionInfo */
	bool no_force_off;
	bool force_on, power_cycle; /* Reset takes these too */
	bool on_ignored;	    /* On is taken and does nothing */
	bool on_refused;	    /* On: 409 */
	bool pending_boot;	    /* overrides are taken by the settings object alone */
	bool no_none_target;	    /* None is not among the boot targets */
	bool no_http_boot;	    /* neither UefiHttp nor HttpBootUri */
	bool http_sticks;	    /* HttpBootUri cannot be emptied, and nothing is said of it */
	bool http_refused;	    /* ... 400 */
	bool http_null;		    /* ... but by null */
	bool http_forgotten; /* a boot that used HttpBootUri empties it (the tests' machines do the boot) */
	bool pending_short; /* the settings object lists Hdd alone, the System lists and takes all */
	bool boot_moved; /* the System refuses overrides, the pending object takes and then shows them */
	bool boot_shy; /* the pending object shows overrides and refuses them, the System takes them */
	bool refuse_mode;  /* 400 when the boot mode comes with the target */
	unsigned floppies; /* slots for floppies, listed before the one for CDs */
	bool only_once;
	bool etags, etags_lie;	/* If-Match is checked; always 412 */
	bool etags_hidden;	/* ... and required, although no tag is given out */
	const char *etags_want; /* ... and taken in this form alone: "W/" or "*"; NULL: as given */
	unsigned etags_move; /* so many writes are answered 412, and the tag is another one after */
	bool tasks;	     /* writes to the System and its media answer 202 with a task */
	bool task_bare; /* ... whose monitor alone is told, which deletes the task when it has ended */
	bool task_nowhere;	  /* ... of which nothing is told */
	bool task_elsewhere;	  /* ... on another server */
	bool task_vanishes;	  /* ... gone when it has ended */
	unsigned task_late;	  /* ... 404 for the first so many looks */
	const char *task_end;	  /* "Completed" */
	const char *task_status;  /* "OK" */
	const char *task_message; /* MessageId of its message; NULL: none */
	int64_t task_ms;	  /* how long it runs */
	const char *task_pause;	  /* Retry-After, in seconds */
	bool baseboard_first;	  /* a System without Reset, answering 503, is listed first */
	bool same_state_400;	  /* Reset to what is already: 400 */
	bool location_elsewhere;  /* the session's Location names another server */
	bool no_session_link;	  /* ... and its body names none */
	bool dell_attributes;	  /* boots virtual CDs by the attribute ServerBoot alone */
	bool attributes_refused;  /* ... which cannot be written */
	int must_change;	  /* the password: 1 at the login, 2 in all that follows it */
	bool untyped;		  /* no resource has an @odata.type */
	bool redirect;		  /* Systems answers 308 to itself with a slash */
	const char *vendor, *model;
	const char *firmware; /* of its Manager; NULL: 7.10.30 */
	const char *health;   /* further members of the System, as JSON with ' for "; NULL: none */
	const char *capture;
	/* misdeeds */
	bool power_lie; /* takes the Reset and does nothing */
	bool write_lie; /* ... boot and media too */
	int64_t power_delay_ms;
	bool huge;		   /* the System is 100 MB */
	bool deep;		   /* ... or nested 40 deep */
	bool foreign_link;	   /* the System is said to be on another server */
	bool next_loop;		   /* the media collection's nextLink is itself */
	bool unavailable;	   /* 503 to everything behind the login */
	const char *unavailable_s; /* ... with this Retry-After */
	bool garbage;		   /* the System is not JSON */
	/* Asked first for each request, counted from 0; true: it has answered, or never will. */
	bool (*tamper)(struct httpd_req *q, unsigned n, void *arg);
	void *tamper_arg;
	unsigned requests;
	/* accounts */
	const char *user, *password;
	unsigned lock_after;   /* wrong passwords until locked; 0: never */
	unsigned max_sessions; /* 0: 8 */
	/* state */
	bool on;
	const char *first_device; /* of the attribute; NULL: Normal */
	char *slot_ca;		  /* that its slot was given; NULL: none */
	bool unverified;	  /* it was told to check none */
	char *image, *boot_target, *boot_enabled, *http_uri, *uuid, *serial;
	unsigned wrong_passwords;
	bool locked;
	unsigned logins; /* tries that reached the BMC */
	unsigned etag;
	int64_t media_since; /* enabled; -1: not */
	int64_t task_since;  /* -1: none, or deleted */
	struct {
		unsigned id; /* 0: free */
		char token[24];
	} sessions[16];
	unsigned next_session;

	struct loop *loop;
	struct httpd *httpd;
	struct loop_timer power;
	bool power_target;
	char *journal[512]; /* "METHOD path body" */
	unsigned njournal;
	bool writes_only; /* reads are left out of the journal, and a full one forgets its oldest line */
	void (*switched)(void *arg); /* after each change of power; NULL: nobody is told */
	void *switched_arg;
	char if_match[64]; /* of the newest PATCH; "": none */
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
unsigned fake_bmc_count(const struct fake_bmc *b,
			const char *start); /* journal lines that start so */
const char *fake_bmc_last(const struct fake_bmc *b, const char *start);
unsigned fake_bmc_sessions(const struct fake_bmc *b);
void fake_bmc_expire(struct fake_bmc *b);			    /* all sessions */
bool fake_bmc_mentions(const struct fake_bmc *b, const char *text); /* anywhere but in logins */

#endif
