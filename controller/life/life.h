#ifndef CONTROLLER_LIFE_LIFE_H
#define CONTROLLER_LIFE_LIFE_H

#include <stdbool.h>
#include <stdint.h>
#include "api/machine_states.h"
#include "api/reasons.h"
#include "base/retry.h"
#include "controller/core/context.h"
#include "controller/core/status_writer.h"
#include "controller/rules/listed.h"
#include "wipe/proto.h"
#include "controller/hardware/driver.h"

/*
 * life: what drives one Machine through the states of api/machine_states.def.
 *
 * The Machine's status is the journal and the lock; a struct life holds only what can be found out
 * again: sessions, the last look at the BMC, what is in flight. Steps (steps/steps.h) use it
 * through the headers beside this one:
 *
 *   journal.h    what is written: changes of state, why nothing moves	act.h	 acts, after the journal
 *   bmc.h power.h port.h	   looks and acts at BMC and fabric	ask.h node.h	 questions to API servers
 *   bmc_open.h		   may the BMC be asked?
 *   agent_boot.h boot_marks.h  the agent of an operation		consent.h	 may anything be done?
 *   clean_proof.h wipe_attempt.h tenancy.h	is it clean?		takeover.h	 a new leader's first acts
 *
 * What is called life_ensure_* acts: true, it is so; false, not yet, and what is missing was asked,
 * written or started now or before, or, where others have to bring it about, life_wait() says for
 * what. What takes a const life only reads.
 *
 * Each write is a merge patch with the Machine's resourceVersion: it is the quorum read (an old
 * view fails with a conflict) and the mutual exclusion with another leader.
 * Tests: tests/world/test_review.c, tests/world/test_bmc.c, tests/world/test_leave.c
 */
struct agent_endpoint;
struct drivers;
struct fleet;
struct life;
struct lives;
struct login_guard;
struct machine_index;
struct power_pacing;
struct tenant;
struct tenants;

/* The parts below that every life uses; borrowed. */
struct life_parts {
	struct context *c;
	const struct tenants *tenants;
	const struct drivers *drivers;
	struct fleet *fleet;
	struct agent_endpoint *agent_endpoint;
	const struct machine_index *machine_index;
	struct power_pacing *power_pacing;
	/* NULL: every login is tried */
	struct login_guard *login_guard;
};

/* The parts of a life. Each has one owner, the file whose functions fill it in; the others read it.
 * A member that another file sets too says so. */

/* What its driver and its agent's seat were attached with (steps/tick.c). */
struct life_attached {
	/* of the credentials of its BMC */
	char *secret_version;
	/* what the agent's session was made of */
	char *seat;
	/* spec or Secret changed: attach anew; set by steps/requests.c too */
	bool again;
	enum { LIFE_LOGGED_IN, LIFE_LOGGING_OUT, LIFE_LOGGED_OUT } login; /* life/log_out.c */
	/* of the BMC that it is, or was, attached to */
	char *address;
	/* the session that was open there when it was detached (life/login.c) */
	char *left;
	/* why it is not attached to its BMC; kind ERR_NONE: it is, or there is none */
	struct err error;
};

/* The looks at the BMC, and the last of them (life/bmc.c). */
struct life_look {
	bool known;
	/* loop_now() when it was asked */
	int64_t read_at;
	/* ... when all of it was answered: a slow BMC needs many seconds */
	int64_t answered_at;
	/* ... when its BMC was asked for the one that is on its way; 0: it is in line */
	int64_t begun_at;
	/* ... when the step first wanted one in this state; 0: it has not */
	int64_t wanted_at;
	enum provider_power power;
	char uuid[64], serial[128];
	enum provider_override override;
	bool media, media_known, media_https, media_verified;
	char media_url[512], http_url[512];
	/* of the BMC; "": not known */
	char address[64];
	/* why its sensors could not be read last; "": they could, or nothing was tried */
	char unsensed[200];
	/* by this process: fault is what the sensors said last */
	bool sensed;
	/* "": nothing is critical */
	char fault[256];
	/* read_at of the first of the reads that all said off; 0: not off */
	int64_t off_since;
	char session_uri[256], learned_pin[80];
	/* so many looks were */
	unsigned answered;
	/* one is on its way */
	bool busy;
	/* not before: backing off */
	int64_t after;
	struct backoff backoff;
	/* of the last one; kind ERR_NONE: it was answered, or there was none yet */
	struct err error;
};

/* What is told of its BMC (life/bmc_facts.c). */
struct life_facts {
	/* requests of its attachments that are over */
	uint64_t calls;
	bool on_trip;
	/* calls when that began */
	uint64_t trip_from;
	/* loop_now(): not written for itself before */
	int64_t latency_after;
	/* news that were given last; NULL: none */
	char *told;
	/* loop_now(): the same are not given before */
	int64_t told_after;
};

/* Its calls in the Provider's line (life/line.c). */
struct life_line {
	/* loop_now() since when a call waits there; 0: none */
	int64_t since;
	/* of those that have begun in the state at hand */
	int64_t waited_ms;
	/* stateSince that they are of */
	int64_t of;
};

/* The drives that the BMC lists (life/listing.c). */
struct life_listing {
	/* operation and boot of the agent that it is of */
	char boot[96];
	/* busy: it is being asked */
	bool known, busy;
	/* of v */
	struct arena *arena;
	struct listed_drive *v;
	size_t n;
	/* not before it is asked again */
	int64_t after;
	/* loop_now() since when it lists what the agent does not see; 0: it does not */
	int64_t differs_since;
	/* answers in this boot that the list, or a part of it, is not served */
	unsigned lacking;
	/* calls in a row that failed otherwise */
	unsigned failed;
	/* loop_now() when the last of these ended */
	int64_t failed_at;
	struct backoff backoff;
	/* of the last call that did not bring the whole list */
	struct err error;
	enum {
		/* or it did not answer that */
		LISTING_NOT_ASKED,
		/* it lists drives, or says that there are none */
		LISTING_TOLD,
		/* it does not serve the list */
		LISTING_LACKS
	} says; /* what life/bmc_facts.c writes down */
	/* wall ms */
	int64_t said_at;
};

/* The last look at the fabric (life/port.c). */
struct life_place {
	bool known;
	char segment[128];
	enum fabric_proof proof;
	/* ... and no better one; "": nothing was said */
	char why[160];
	/* as of a look at the BMC */
	int64_t read_at, answered_at, wanted_at;
	/* a look or a move is on its way */
	bool busy;
	/* ... the move, and where to; "" none */
	char moving[128];
};

/* The act under way: the one that the journal names (life/act.c). */
struct life_acts {
	char step[48];
	/* written down, may go out; life/journal.c: it was not written after all */
	bool journaled;
	/* went out, not yet answered */
	bool under_way;
	/* the one that is due is: it was told, and goes out when the lease is renewed */
	bool withheld;
	/* loop_now() when it went out and was answered; 0: not by this process */
	int64_t began_at, ended_at;
	/* backing off until */
	int64_t after;
	struct backoff backoff;
};

/* What its Provider's manager installs (life/install.c). */
struct life_install {
	/* operation for which that was answered */
	char acquired[64], released[64];
	/* ... for which a release is under way */
	char releasing[64];
	/* handle of the question that is under way */
	char asked[64];
	bool busy, known;
	/* loop_now(): the manager does not answer, and the machine is on; 0: it does */
	int64_t away_since;
	/* not before: polling, or backing off */
	int64_t after;
	struct backoff backoff;
	enum provider_progress progress;
	char text[200];
	/* loop_now(); 0: it is not */
	int64_t up_since;
	/* of the last question; kind ERR_NONE: it was answered */
	struct err error;
};

/* Requests to switch it on or off (life/power.c). */
struct life_powered {
	/* the last one was kept back at the last moment: the lease was too old (S7) */
	bool unsent;
	/* loop_now() when one was answered last */
	int64_t ended_at;
};

/* How its agent is booted (life/agent_boot.c); an off that life/bmc.c reads ends all but the
 * ways. */
struct life_boot {
	/* which of the ways to boot the agent is tried */
	unsigned way;
	/* ... of which operation and boot */
	char way_for[96];
	/* what the BMC said to those before it; "": it is the first */
	char refused[256];
	/* plain media were refused, and those over TLS are tried (life/boot_way.c) */
	bool over_tls;
	/* what is on was switched on for an agent by HTTP */
	bool by_http;
	/* Where it is, asked for a boot that this process did not order. */
	enum { LIFE_NOT_ASKED, LIFE_ASKED, LIFE_ANSWERED } whereabouts;
	/* loop_now() since when it is on and its agent is to call; 0: it is not */
	int64_t due_at;
};

/* A new leader's first acts (life/takeover.c). */
struct life_follow {
	/* the act that the journal shows; "" none */
	char begun[192];
	/* loop_now() when it was first seen there */
	int64_t begun_at;
	/* look.answered when another led */
	unsigned from;
	bool over;
	/* The segment that a move of the port leads to whose end this process does not hear; ""
	 * none. */
	char move[128];
	/* loop_now() when it was first seen begun */
	int64_t move_at;
};

/* A question of a step to an API server (life/ask.c). */
struct life_question {
	/* in flight; set by who asks, after life_asking() */
	struct kube_call *call;
	/* which question it asks */
	char asking[64];
	/* whose client it goes through; NULL: the host's */
	struct tenant *to;
	/* The machine when it was asked: a call to a tenant does not leave the line on what is past
	 * (life_ask_tenant()). */
	enum machine_state state;
	int64_t fence;
	/* What was found out; forgotten when the state changes. */
	struct {
		/* which question; "" none */
		char about[64];
		bool ok;
		struct err err;
	} answer;
};

/* Writes of the Machine (life/journal.c). */
struct life_journal {
	/* of this Machine, and of what ends with its claim */
	struct status_writer write;
	/* our fence stands in it; steps/tick.c: another leads */
	bool took_over;
	/* loop_now() when life_wait() said why nothing moves last; 0: never; life/told.c too */
	int64_t said_at;
	/* What this turn decided; steps/enter.c takes it at the end of the turn. */
	struct life_decided {
		bool made, begins;
		enum machine_state to;
		/* owned; NULL: none */
		json_t *extra;
		enum reason reason;
		char message[400];
	} decided;
};

/* What a step holds for its state; forgotten when the state changes or another replica leads (the
 * step's own file). */
struct life_work {
	/* NULL: nothing was begun by this process */
	void *of;
	void (*free)(void *of);
	/* calls go through its client */
	bool (*uses)(const void *of, const struct tenant *t);
	/* parts of the state that this process has done; 0 at its start */
	int progress;
	/* loop_now(): the agent of a warm machine was asked whether it is there (steps/warm.c) */
	int64_t knocked_at;
};

/* The heartbeat of its kubelet, from the end of draining on: one that changes after off was read
 * says that the BMC is wrong (steps/stopping.c). */
struct life_beat {
	/* uid of the claim whose Node it is of */
	char of[64];
	struct kube_call *call;
	/* whose client `call` goes through */
	struct tenant *to;
	/* renewTime of its Lease; "": none seen */
	char text[64];
	/* the last answer was none: nothing is to be heard there */
	bool silent;
	int64_t asked_at;
	/* loop_now() when the newest one that was answered was asked; 0: none */
	int64_t read_at;
	/* ... when it was seen to change last */
	int64_t changed_at;
	/* changes between questions that were both asked after off was read */
	unsigned after_off;
};

/* Whether it has to leave its tenant (steps/leave_reason.c). */
struct life_leave {
	/* loop_now() since when its tenant says that it has no such Node; 0: it does not */
	int64_t node_gone_at;
	/* loop_now() when the BurstPolicy of the claim was first missing; 0: it exists
	 * (life/paid.c) */
	int64_t policy_gone_at;
	/* wall ms: an emptiness that began before does not count; set by steps/hold.c */
	int64_t quiet_since;
	/* loop_now(): its pool has nothing to spare before */
	int64_t budget_after;
	/* it is being written down that it leaves for a budget's sake; set by steps/serving.c */
	bool giving_back;
};

/* Its instance at an elastic Provider (steps/elastic.c). */
struct life_elastic {
	/* a launch or an end is on its way */
	bool busy;
	/* loop_now(): only a list that was asked for since then counts; 0: none was wanted */
	int64_t since;
	/* ... since when no list shows it; 0: one does */
	int64_t gone_from;
	/* ... when the cloud took the order to end it; 0: it has not */
	int64_t ended_at;
	enum {
		ELASTIC_NO_ANSWER,
		ELASTIC_LAUNCHED,
		ELASTIC_REFUSED
	} answer; /* of the launch, to be written */
	char id[130], provider_id[512];
	struct err err;
};

struct life {
	struct context *c;
	const struct life_parts *parts;
	/* steps/lives.h */
	struct lives *all;
	char *name;
	/* that it serves, or served last; NULL: none yet */
	char *tenant;
	/* the latest, from the cache; valid in this turn */
	const struct machine *m;
	enum machine_state state;

	struct driver *driver;
	struct provider_machine *bmc;
	struct agent_session *agent;

	struct life_attached attached;
	struct life_look look;
	struct life_facts facts;
	struct life_line line;
	struct life_listing listing;
	struct life_place place;
	struct life_acts act;
	struct life_powered power;
	struct life_install install;
	struct life_boot boot;
	struct life_follow follow;
	struct life_question question;
	struct life_journal journal;
	struct life_elastic elastic;
	struct life_work work;
	struct life_beat beat;
	struct life_leave leave;

	/* VolumeAttachments that name its Node; -1: not looked for (life/node.c) */
	int volumes;
	/* loop_now() when life_progress() wrote last (life/progress.c) */
	int64_t progress_at;
	/* in the turn before (steps/tick.c) */
	int64_t tenancy_seen;
	/* not before, a WipeRecord is created: the last try failed (life/wipe_attempt.c) */
	int64_t record_after;

	struct loop_defer tick;
	struct loop_timer timer;
};

/* tick in the next turn */
void life_kick(struct life *l);

/* What a step holds for its state is not worth anything any more; calls under way are as if never
 * made. */
void life_drop_work(struct life *l);

/* Our fence: one above what the journal shows, from our first write on. */
int64_t life_fence(const struct life *l);
/* RFC 3339; 0: null */
void life_set_time(json_t *o, const char *key, int64_t ms);

/* Its Provider's manager installs it, in place of the agent's writing an image (life/install.h). */
bool life_is_managed(const struct life *l);

/* A new status.operation.id. */
void life_operation_id(struct life *l, char out[static 33]);
/* the claim that holds the lock; NULL */
const struct node_claim *life_claim(const struct life *l);
/* an unlocked claim that names this machine */
const struct node_claim *life_claim_wanting(const struct life *l);
const struct provider_object *life_provider(const struct life *l);
/* wall ms; 0: none */
int64_t life_deadline(const struct life *l);

/* How long this machine may be in that state, by its claim, its Provider or the table; 0: for
 * ever. */
#define LIFE_WIPE_MOST_MS (7 * 24 * 3600 * INT64_C(1000)) /* however large its drives are */
int64_t life_limit_ms(const struct life *l, enum machine_state s);

#endif
