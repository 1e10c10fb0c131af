#ifndef CONTROLLER_LIFE_LIFE_H
#define CONTROLLER_LIFE_LIFE_H

#include <stdbool.h>
#include <stdint.h>
#include "api/machine_states.h"
#include "api/reasons.h"
#include "base/retry.h"
#include "controller/core/context.h"
#include "controller/core/status_writer.h"
#include "wipe/proto.h"
#include "controller/hardware/driver.h"

/*
 * life: what drives one Machine through the states of api/machine_states.def.
 *
 * The Machine's status is the journal and the lock; a struct life holds only what can be found out
 * again: sessions, the last look at the BMC, what is in flight.  Steps (steps/steps.h) use it through the
 * headers beside this one:
 *
 *	journal.h    what is written: changes of state, why nothing moves	act.h	 acts, after the journal
 *	bmc.h power.h port.h	   looks and acts at BMC and fabric	ask.h node.h	 questions to API servers
 *	agent_boot.h boot_marks.h  the agent of an operation		consent.h	 may anything be done?
 *	clean_proof.h wipe_attempt.h tenancy.h	is it clean?		takeover.h	 a new leader's first acts
 *
 * What is called life_ensure_* acts: true, it is so; false, not yet, and what is missing was asked, written or started
 * now or before, or, where others have to bring it about, life_wait() says for what.  What takes a const life only reads.
 *
 * Each write is a merge patch with the Machine's resourceVersion: it is the quorum read (an old view
 * fails with a conflict) and the mutual exclusion with another leader.
 * Tests: tests/world/test_review.c, tests/world/test_bmc.c, tests/world/test_leave.c
 */
struct agent_endpoint;
struct drivers;
struct life;
struct lives;
struct login_guard;
struct power_pacing;
struct tenant;
struct tenants;

/* The parts below that every life uses; borrowed. */
struct life_parts {
	struct context *c;
	const struct tenants *tenants;
	const struct drivers *drivers;
	struct agent_endpoint *agent_endpoint;
	struct power_pacing *power_pacing;
	struct login_guard *login_guard; /* NULL: every login is tried */
};

struct life {
	struct context *c;
	const struct life_parts *parts;
	struct lives *all; /* steps/lives.h */
	char *name;
	const struct machine *m; /* the latest, from the cache; valid in this turn */
	enum machine_state state;

	struct driver *driver;
	struct provider_machine *bmc;
	char *bmc_secret_version; /* of the credentials that bmc was attached with */
	int64_t generation;
	bool reattach; /* spec or Secret changed */
	struct agent_session *agent;
	char *agent_digest;

	/* The last look at the BMC. */
	struct {
		bool known;
		int64_t read_at; /* loop_now() when it was asked */
		enum provider_power power;
		char uuid[64], serial[128];
		bool override, media, media_known;
		char media_url[512], http_url[512];
		int64_t off_since; /* read_at of the first of the reads that all said off; 0: not off */
	} seen;
	char session_uri[256], learned_pin[80];
	bool observing;
	int64_t observe_after; /* not before: backing off */
	struct backoff observe_backoff;
	struct err
		observe_error; /* of the last look; kind ERR_NONE: it was answered, or there was none yet */

	/* The heartbeat of its kubelet, from stopping on: one that changes after off was read says that the
	 * BMC is wrong (steps/stopping.c). */
	struct {
		struct kube_call *call;
		struct tenant *to; /* whose client `call` goes through */
		char text[64];	   /* renewTime of its Lease; "": none seen */
		bool silent;	   /* the last answer was none: nothing is to be heard there */
		int64_t asked_at;
		int64_t read_at; /* loop_now() when the newest one that was answered was asked; 0: none */
		int64_t changed_at; /* ... when it was seen to change last */
		unsigned
			after_off; /* changes between questions that were both asked after off was read */
	} beat;
	int volumes; /* VolumeAttachments that name its Node; -1: not looked for */

	/* The last look at the fabric. */
	struct {
		bool known;
		char segment[128];
		enum fabric_proof proof;
		int64_t read_at;
	} place;
	bool placing;

	/* The act under way: the one that the journal names. */
	char act[48];
	bool journaled; /* written down, may go out */
	bool acting;	/* went out, not yet answered */
	bool unsent;	/* ... and was kept back at the last moment: the lease was too old (S7) */
	bool withheld; /* the one that is due is: it was told, and goes out when the lease is renewed */
	int64_t acted_at,
		act_end; /* loop_now() when it went out and was answered; 0: not by this process */
	unsigned boot_way; /* which of the ways to boot the agent is tried */
	bool http_booted;  /* what is on was switched on for an agent by HTTP (life/agent_boot.c) */
	/* ... where it is, asked for a boot that this process did not order. */
	enum { LIFE_NOT_ASKED, LIFE_ASKED, LIFE_ANSWERED } whereabouts;
	char boot_way_for[96]; /* ... of which operation and boot */
	int64_t power_end;     /* loop_now() when a power request was answered last */
	int64_t act_after;     /* backing off until */
	struct backoff act_backoff;

	int64_t tenancy_seen; /* in the turn before */
	int64_t record_after; /* not before, a WipeRecord is created: the last try failed */
	/* What this turn decided (journal.h); the tick enacts it at the end of the turn. */
	struct life_decided {
		bool made, begins;
		enum machine_state to;
		json_t *extra; /* owned; NULL: none */
		enum reason reason;
		char message[400];
	} decided;

	struct status_writer write; /* of this Machine, and of what ends with its claim */
	struct kube_call *call;	    /* another API call of a step in flight */
	bool took_over;		    /* our fence stands in the journal */
	struct {		    /* life/takeover.c */
		char begun[192];    /* the act that the journal shows; "" none */
		int64_t begun_at;   /* loop_now() when it was first seen there */
		unsigned looks;
		bool over;
	} follow;
	int64_t progress_at; /* loop_now() when life_progress() wrote last */
	int progress;	 /* parts of the present state that this process has done; 0 at its start */
	char asking[64]; /* which question `call` asks */
	struct tenant *call_to; /* whose client `call` goes through; NULL: the host's */
	/* What a step found out through `call`; forgotten when the state changes. */
	struct {
		char about[64]; /* which question; "" none */
		bool ok;
		struct err err;
	} answer;

	/* What a step holds for its state; forgotten when the state changes or another replica leads. */
	struct {
		void *of; /* NULL: nothing was begun by this process */
		void (*free)(void *of);
		bool (*uses)(const void *of,
			     const struct tenant *t); /* calls go through its client */
	} work;
	int64_t quiet_since;  /* wall ms: an emptiness that began before does not count */
	int64_t budget_after; /* loop_now(): its pool has nothing to spare before */
	bool giving_back;     /* it is being written down that it leaves for a budget's sake */

	int64_t knocked_at; /* loop_now(): the agent of a warm machine was asked whether it is there (steps/warm.c) */

	struct loop_defer tick;
	struct loop_timer timer;
};

void life_kick(struct life *l); /* tick in the next turn */

/* What a step holds for its state is not worth anything any more; calls under way are as if never made. */
void life_drop_work(struct life *l);

/* Our fence: one above what the journal shows, from our first write on. */
int64_t life_fence(const struct life *l);
void life_set_time(json_t *o, const char *key, int64_t ms); /* RFC 3339; 0: null */

/* A new status.operation.id. */
void life_operation_id(struct life *l, char out[static 33]);
const struct node_claim *life_claim(const struct life *l); /* the claim that holds the lock; NULL */
const struct node_claim *life_claim_wanting(
	const struct life *l); /* an unlocked claim that names this machine */
const struct provider_object *life_provider(const struct life *l);
int64_t life_deadline(const struct life *l); /* wall ms; 0: none */

/* How long this machine may be in that state, by its claim, its Provider or the table; 0: for ever. */
int64_t life_limit_ms(const struct life *l, enum machine_state s);

#endif
