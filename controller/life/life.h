#ifndef CONTROLLER_LIFE_LIFE_H
#define CONTROLLER_LIFE_LIFE_H

#include <stdbool.h>
#include <stdint.h>
#include "api/machine_states.h"
#include "base/retry.h"
#include "controller/core/context.h"
#include "wipe/proto.h"
#include "controller/hardware/driver.h"

/*
 * life: what drives one Machine through the states of api/machine_states.def.
 *
 * The Machine's status is the journal and the lock; a struct life holds only
 * what can be found out again: sessions, the last look at the BMC, what is in flight.
 * life_tick() runs the step of the present state whenever something changed.
 * A step looks at what was observed, starts at most one act, and returns; it never
 * blocks and changes the state only by life_goto().
 *
 * Journal first.  life_act() lets an act go out only after status.operation names it:
 *
 *	switch (life_act(l, "power-on", LIFE_IDEMPOTENT)) {
 *	case LIFE_GO: provider_power(..., on_acted)	written down: do it now, once
 *	case LIFE_HOLD: return				being written, under way, or backing off
 *	}
 *
 * Each write is a merge patch with the Machine's resourceVersion: it is the quorum read
 * (an old view fails with a conflict) and the mutual exclusion with another leader.
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

enum life_class { LIFE_IDEMPOTENT, LIFE_PROBE_FIRST, LIFE_ONCE };
enum life_turn { LIFE_HOLD, LIFE_GO };

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

	int64_t tenancy_seen;	  /* in the turn before */
	int64_t record_after;	  /* not before, a WipeRecord is created: the last try failed */
	struct kube_call *write;  /* a patch of this Machine in flight */
	struct kube_call *call;	  /* another API call of a step in flight */
	bool took_over;		  /* our fence stands in the journal */
	struct {		  /* life/takeover.c */
		char begun[192];  /* the act that the journal shows; "" none */
		int64_t begun_at; /* loop_now() when it was first seen there */
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

/* Its provider or fabric is about to be freed: forget what hangs on it. */
void life_detach(struct life *l);
void life_agent_changed(void *life);
void life_kick(struct life *l); /* tick in the next turn */

/* --- for steps (life_*.c) --- */

/* The only place that changes status.state.  Written down before anything of the new state is done.
 * extra: further status members for the same patch (taken; may be NULL).  reason: not NULL when
 * something failed: it goes into status.failures with the claim, and into an event. */
void life_goto(struct life *l, enum machine_state to, json_t *extra, const char *reason,
	       const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* To quarantined, with the reason and its exit. */
void life_quarantine(struct life *l, enum machine_exit exit, const char *reason, const char *fmt,
		     ...) __attribute__((format(printf, 4, 5)));
/* Our fence: one above what the journal shows, from our first write on. */
int64_t life_fence(const struct life *l);
void life_set_time(json_t *o, const char *key, int64_t ms); /* RFC 3339; 0: null */
/* The machine fails its claim: to stopping. */
#define life_fail(l, ...) life_goto((l), MACHINE_STOPPING, NULL, __VA_ARGS__)
/* A new status.operation.id. */
void life_operation_id(struct life *l, char out[static 33]);
/* Patch status or spec (taken; exactly one is not NULL) without changing the state. */
void life_write(struct life *l, json_t *status, json_t *spec);
/* The conditions Ready, Reachable and Managed as they will be with this patch of status (NULL: without one), in the list
 * of all of them; gives.  NULL: they stand there already.  life_write() puts them into what it writes. */
json_t *life_conditions(const struct life *l, const json_t *status);
/* Put our finalizer on the Machine, or take it off; gives true when there was something to write. */
bool life_finalizer(struct life *l, bool on);
/* Say why nothing moves: status.operation.waitingFor and lastError, written when they changed. */
void life_wait(struct life *l, enum machine_waiting waiting_for, const char *reason,
	       const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* patience_ms: how long after it went out the act is not repeated. */
enum life_turn life_act(struct life *l, const char *step, enum life_class cls, int64_t patience_ms);
/* The lease is too old for a destructive request (ctx_may_destroy()): log it, once until it is not. */
bool life_withheld(struct life *l, const char *act);
/* The act ended.  An error is written down; the act goes out again after a backoff (2 s to 5 min). */
void life_acted(struct life *l, const struct err *e);
/* The closed list's name for a BMC's error. */
const char *life_bmc_reason(const struct err *e);

/* A new leader's first acts at the BMC (life/takeover.c): the journal as seen, also while another leads; a
 * look that was answered; another leads; and whether its predecessor can do nothing any more. */
void life_follow_saw(struct life *l, const struct machine *m);
void life_follow_looked(struct life *l);
void life_follow_forget(struct life *l);
bool life_follow_may_act(struct life *l);

/* A look at the BMC that is newer than the last act and max_age_ms; false: one is on its way. */
bool life_seen(struct life *l, int64_t max_age_ms);
/* Off, proved: two reads that say so, settle_ms apart, with no other answer between them, of one
 * identity, both later than the last power request. */
bool life_off_proved(struct life *l);
/* A person saw it off (REQUEST_CONFIRM_OFF names this operation): stands in for reads, never against a BMC
 * that answers On.  Writes who is believed into status.power.confirmedBy and an event, once; a BMC that answers On
 * voids it: the operation gets a new id.  Looks at the BMC itself; false: not confirmed, or not written yet. */
bool life_off_confirmed(struct life *l);
/* What the BMC says it is equals spec.identity; -1: ERR_CONFLICT (another machine), ERR_NOT_FOUND (not approved). */
int life_identity(const struct life *l, struct err *e);
/* A look at the fabric that is newer than the last act and max_age_ms; false: one is on its way. */
bool life_place_seen(struct life *l, int64_t max_age_ms);
/* In that segment, proved as far as the fabric can; starts what is missing. */
bool life_placed(struct life *l, const char *segment);
/* Switch it off through the BMC; nothing when a request is out. */
void life_power(struct life *l, bool on);
/* For acts at the BMC: may this one go out, the call for it, and what its done() passes on (life: call.arg). */
enum life_turn life_bmc_act(struct life *l, const char *step, enum life_class cls,
			    int64_t patience_ms);
struct provider_call life_bmc_call(struct life *l);
void life_bmc_acted(const struct provider_observation *o, const char *handle, const struct err *e,
		    void *life);
/* The agent of this operation is there: media in, override set, powered on, hello heard.  Starts what is missing. */
bool life_agent(struct life *l);
/* Give the order ("inspect", or "CLAIM/check" where the same boot may be asked again for another one; o->id is filled in)
 * and wait for its end.  NULL: under way. */
const struct proto_report *life_order(struct life *l, struct proto_order *o, const char *name);
/* What the agent said last of that order goes into status.operation.progress, now and then. */
void life_progress(struct life *l, const char *order);
/* The agent has gone: power off, media out, override cleared, all read back.  Starts what is missing,
 * after it took the agent's key out of status: its orders are all done, and no other leader waits for it. */
bool life_agent_off(struct life *l);
/* What is on was booted by us, as its BMC shows (a medium of whatever boot) or the journal says. */
bool life_shows_ours(const struct life *l);
/* Something is left at its BMC that life_agent_off() takes away. */
bool life_agent_left(const struct life *l);
/* It was seen off after an earlier boot by HTTP: that is being written down. */
bool life_boot_ends(struct life *l);
/* Its port may be moved for an agent: it is off, or what is on is ours, or nobody can reach that.  Else it
 * waits, since a journal that was put back may be of before a tenant. */
bool life_may_move(struct life *l);
/* What the journal says of a boot by HTTP is held against the network; false: that is being asked. */
bool life_boot_followed(struct life *l);
bool life_agent_dismissed(const struct life *l); /* that was written down */

/* Questions to API servers (life/ask.c).  A step asks through l->call, gets nothing yet, and sees the
 * answer in a later turn; a change of state forgets it. */
enum life_asked { ASK_NONE, ASK_OK, ASK_FAILED };
enum life_asked life_asked(const struct life *l, const char *about);
/* About to set l->call; t NULL: the host cluster. */
void life_asking(struct life *l, const char *about, struct tenant *t);
void life_answer(json_t *o, const struct err *e, void *life); /* kube_done of such a call */
void life_ask_again(struct life *l);			      /* a failed one, after a second */
/* Read the claim that the lock names from the API itself: ok when it is still that one and wanted. */
void life_ask_claim(struct life *l, const char *about);
/* What a step holds for its state is not worth anything any more; calls under way are as if never made. */
void life_drop_work(struct life *l);
/* The client of this tenant is about to be freed: calls through it are as if never asked. */
void life_hang_up(struct life *l, const struct tenant *t);
/* What the API itself says of the claim that the lock names: an entry missing in the cache is no proof. */
enum life_claim_is {
	LIFE_CLAIM_ASKED, /* it is being asked, or has to be asked again */
	LIFE_CLAIM_THERE, /* it is there and cannot be read: says so */
	LIFE_CLAIM_GONE,
	LIFE_CLAIM_REPLACED, /* another one has its name: a backup that was put back, as names are random */
};
enum life_claim_is life_claim_look(struct life *l);
/* ... it is gone, or replaced. */
bool life_claim_gone(struct life *l);
/* Deletions may be acted on: none of our CRDs is terminating. */
bool life_may_leave(struct life *l);
/* drover may act on this machine: managed, its BMC says that it is the one approved, no other has its identity.
 * False: it waits, and says for what. */
bool life_consented(struct life *l);
/* Another Machine has its identity or its BMC: says so (life_wait) and gives true. */
bool life_is_double(struct life *l);
/* Its owner, or its provider's, wants nothing to be done: says so and gives true. */
bool life_paused(struct life *l);
/* An approval to wipe that was not acted on yet, or NULL. */
const char *life_approved_wipe(const struct life *l);

const struct node_claim *life_claim(const struct life *l); /* the claim that holds the lock; NULL */
const struct node_claim *life_claim_wanting(
	const struct life *l); /* an unlocked claim that names this machine */
const struct provider_object *life_provider(const struct life *l);
int64_t life_deadline(const struct life *l); /* wall ms; 0: none */
/* How long this machine may be in that state, by its claim, its Provider or the table; 0: for ever. */
int64_t life_limit_ms(const struct life *l, enum machine_state s);
/* Records or claims tell of a later tenancy than status does: a backup was put back.  True: it begins again, as known. */
bool life_outdated(struct life *l);

void step_known(struct life *l);
void step_free(struct life *l);
void step_claimed(struct life *l);
void step_imaging(struct life *l);
void step_attaching(struct life *l);
void step_booting(struct life *l);
void step_joining(struct life *l);
void step_gating(struct life *l);
void step_serving(struct life *l);
void step_draining(struct life *l);
void step_stopping(struct life *l);
void step_isolating(struct life *l);
void step_leaving(struct life *l);
void step_dirty(struct life *l);
void step_inspecting(struct life *l);
void step_wiping(struct life *l);
void step_verifying(struct life *l);
void step_quarantined(struct life *l);
void step_retired(struct life *l);
void step_gone(struct life *l);

#endif
