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
 * life: drives one Machine through the states of api/machine_states.def.
 *
 * The Machine's status is both the journal and the lock. A struct life holds only what can be found
 * out again: sessions, the last observation of the BMC, requests in flight. Steps (steps/steps.h)
 * use it through the headers beside this one:
 *
 *   journal.h				status writes: changes of state, reasons for waiting
 *   act.h					acts, sent after the journal names them
 *   bmc.h power.h port.h			observations of and acts at BMC and fabric
 *   bmc_open.h				may the BMC be contacted?
 *   ask.h node.h				requests to API servers
 *   agent_boot.h boot_marks.h		the agent of an operation
 *   consent.h				may drover act at all?
 *   clean_proof.h wipe_attempt.h tenancy.h	is the machine clean?
 *   takeover.h				the first acts of a new leader
 *
 * A function named life_ensure_* returns true if the condition holds. On false, the missing part
 * has been requested, written or started, or life_wait() has told whom the machine waits for. A
 * function that takes a const life only reads.
 *
 * Each write is a merge patch with the Machine's resourceVersion. This replaces a quorum read (an
 * outdated view fails with a conflict) and excludes another leader.
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

/* The shared parts that every life uses; not owned. */
struct life_parts {
	struct context *c;
	const struct tenants *tenants;
	const struct drivers *drivers;
	struct fleet *fleet;
	struct agent_endpoint *agent_endpoint;
	const struct machine_index *machine_index;
	struct power_pacing *power_pacing;
	/* NULL: no guard, every login is tried */
	struct login_guard *login_guard;
};

/* The parts of a life. Each is written by one file, named in its comment; all others only read it.
 * Members that a second file writes say so. */

/* What the machine is attached with: driver, BMC and agent session (steps/tick.c). */
struct life_attached {
	/* resourceVersion of the Secret with the BMC's credentials */
	char *secret_version;
	/* text of the settings from which the agent session was created */
	char *seat;
	/* spec or Secret changed: attach again; also set by steps/requests.c */
	bool again;
	/* state of the logout at retirement (life/log_out.c) */
	enum { LIFE_LOGGED_IN, LIFE_LOGGING_OUT, LIFE_LOGGED_OUT } login;
	/* address of the BMC that the machine is, or was, attached to */
	char *address;
	/* session that was open at that BMC when it was detached (life/login.c) */
	char *left;
	/* why the BMC is not attached; kind ERR_NONE: it is attached, or spec has no BMC */
	struct err error;
};

/* The last observation of the BMC, and the read in flight (life/bmc.c). */
struct life_look {
	/* false: no read has succeeded yet, or it was forgotten */
	bool known;
	/* loop_now() at the start of the last successful read */
	int64_t read_at;
	/* loop_now() at the end of that read: a slow BMC needs many seconds */
	int64_t answered_at;
	/* loop_now() when the read in flight left the machine queue; 0: it is still queued */
	int64_t begun_at;
	/* loop_now() when the step first wanted an observation in this state; 0: not yet */
	int64_t wanted_at;
	enum provider_power power;
	/* identity that the BMC reports; "": not reported */
	char uuid[64];
	char serial[128];
	enum provider_override override;
	/* a boot medium is inserted */
	bool media;
	/* the media slot could be read */
	bool media_known;
	/* the slot lists HTTPS among its transfer protocols */
	bool media_https;
	/* the BMC verifies the certificate of the medium's server */
	bool media_verified;
	/* URL of the inserted medium; "": none */
	char media_url[512];
	/* URL that the BMC shows for HTTP boot; "": none */
	char http_url[512];
	/* IP address from which the BMC answered; "": unknown */
	char address[64];
	/* why the sensors could not be read last; "": they could, or were not tried */
	char unsensed[200];
	/* this process has read the sensors, so fault is their latest result */
	bool sensed;
	/* critical fault that the sensors report; "": none */
	char fault[256];
	/* read_at of the first of the consecutive reads that said Off; 0: the last read did not */
	int64_t off_since;
	/* session of the last successful read; "": none */
	char session_uri[256];
	/* "sha256:..." of a certificate trusted on first use; "": none learned */
	char learned_pin[80];
	/* number of successful reads */
	unsigned answered;
	/* a read is in flight or queued */
	bool busy;
	/* loop_now() before which no read starts (back-off) */
	int64_t after;
	struct backoff backoff;
	/* error of the last read; kind ERR_NONE: it succeeded, or there was none */
	struct err error;
};

/* Facts about the BMC for status.bmc (life/bmc_facts.c). */
struct life_facts {
	/* number of requests of earlier attachments */
	uint64_t calls;
	/* a trip is being counted: from leaving free until the return to free */
	bool on_trip;
	/* total number of requests when the trip began */
	uint64_t trip_from;
	/* loop_now() before which a latency alone is not written */
	int64_t latency_after;
	/* JSON text of the changes returned last; NULL: none */
	char *told;
	/* loop_now() before which the same changes are not returned again */
	int64_t told_after;
};

/* Waiting times in the Provider's machine queue (life/line.c). */
struct life_line {
	/* loop_now() since when a call waits in the queue; 0: none waits */
	int64_t since;
	/* total wait, in ms, of the calls of the present state that have left the queue */
	int64_t waited_ms;
	/* status.stateSince for which waited_ms is counted */
	int64_t of;
};

/* The drives that the BMC lists (life/listing.c). */
struct life_listing {
	/* "OPERATION/BOOT" of the agent's boot for which the list was read */
	char boot[96];
	/* v is the list of this boot */
	bool known;
	/* the list is being read */
	bool busy;
	/* owns the memory of v */
	struct arena *arena;
	struct listed_drive *v;
	size_t n;
	/* loop_now() before which the list is not read again */
	int64_t after;
	/* loop_now() since when the list has drives that the agent does not see; 0: it has none */
	int64_t differs_since;
	/* answers in this boot that the list, or a part of it, is not served */
	unsigned lacking;
	/* consecutive calls that failed for other reasons */
	unsigned failed;
	/* loop_now() when the last failed call ended */
	int64_t failed_at;
	struct backoff backoff;
	/* error of the last call that did not return the whole list */
	struct err error;
	/* what life/bmc_facts.c writes to status.bmc */
	enum {
		/* not asked, or not answered */
		LISTING_NOT_ASKED,
		/* the BMC serves the list, which may be empty */
		LISTING_TOLD,
		/* the BMC does not serve the list */
		LISTING_LACKS
	} says;
	/* wall ms at which `says` was set */
	int64_t said_at;
};

/* The last observation of the fabric (life/port.c). */
struct life_place {
	bool known;
	char segment[128];
	enum fabric_proof proof;
	/* why the proof is not better; "": the fabric gave no reason */
	char why[160];
	/* loop_now() at the start of the last successful observation */
	int64_t read_at;
	/* loop_now() at its end */
	int64_t answered_at;
	/* loop_now() when the step first wanted an observation in this state; 0: not yet */
	int64_t wanted_at;
	/* an observation or a move is in flight */
	bool busy;
	/* target segment of the move in flight; "": none */
	char moving[128];
};

/* The current act, which the journal names (life/act.c). */
struct life_acts {
	char step[48];
	/* written to the journal, may be sent; cleared by life/journal.c if the write failed */
	bool journaled;
	/* sent, and not answered yet */
	bool under_way;
	/* the act is due but withheld until the Lease is renewed; the refusal has been logged */
	bool withheld;
	/* loop_now() when the act was sent; 0: not sent by this process */
	int64_t began_at;
	/* loop_now() when an act was last answered; 0: never in this process */
	int64_t ended_at;
	/* loop_now() before which no act is sent (back-off) */
	int64_t after;
	struct backoff backoff;
};

/* Installation of the image by the Provider's manager (life/install.c). */
struct life_install {
	/* id of the operation for which the manager has accepted the installation; "": none */
	char acquired[64];
	/* id of the operation for which the manager has its node back; "": none */
	char released[64];
	/* operation for which a release is in flight */
	char releasing[64];
	/* handle of the progress query in flight */
	char asked[64];
	/* a progress query is in flight */
	bool busy;
	/* progress and text are the manager's last answer */
	bool known;
	/* loop_now() since when the manager does not answer while the machine is on; 0: it
	 * answers */
	int64_t away_since;
	/* loop_now() before which progress is not queried (polling interval, or back-off) */
	int64_t after;
	struct backoff backoff;
	enum provider_progress progress;
	char text[200];
	/* loop_now() since when the machine is UP; 0: it is not */
	int64_t up_since;
	/* error of the last query; kind ERR_NONE: it succeeded */
	struct err error;
};

/* Power requests (life/power.c). */
struct life_powered {
	/* the last request was withheld at the last moment, because the Lease was too old (S7) */
	bool unsent;
	/* loop_now() when the last request was answered */
	int64_t ended_at;
};

/* The boot of the agent (life/agent_boot.c). An Off read by life/bmc.c resets by_http, whereabouts
 * and due_at. */
struct life_boot {
	/* index of the boot method in use */
	unsigned way;
	/* "OPERATION/BOOT" for which `way` was chosen */
	char way_for[96];
	/* what the BMC said to the methods before this one; "": this is the first */
	char refused[256];
	/* media over plain HTTP were refused; HTTPS is tried (life/boot_way.c) */
	bool over_tls;
	/* the machine was switched on for an agent by HTTP boot */
	bool by_http;
	/* State of the check where the port is, for an HTTP boot that this process did not
	 * order. */
	enum { LIFE_NOT_ASKED, LIFE_ASKED, LIFE_ANSWERED } whereabouts;
	/* loop_now() since when the machine is on and its agent should call; 0: it is not */
	int64_t due_at;
};

/* First acts of a new leader (life/takeover.c). */
struct life_follow {
	/* identification of the act that the journal shows; "": none */
	char begun[192];
	/* loop_now() when this process first saw that act */
	int64_t begun_at;
	/* look.answered when another replica last led */
	unsigned from;
	/* the predecessor's requests to the BMC can no longer take effect */
	bool over;
	/* Target segment of a move of the port whose end this process will not learn; "": none. */
	char move[128];
	/* loop_now() when that move was first seen */
	int64_t move_at;
};

/* A request of a step to an API server (life/ask.c). */
struct life_question {
	/* in flight; set by the caller after life_asking() */
	struct kube_call *call;
	/* name of the request */
	char asking[64];
	/* tenant whose client is used; NULL: the host cluster */
	struct tenant *to;
	/* State and fence of the machine when the request was started. A queued request to a tenant
	 * is not sent if they have changed (life_ask_tenant()). */
	enum machine_state state;
	int64_t fence;
	/* The last answer; dropped when the state changes. */
	struct {
		/* name of the answered request; "": none */
		char about[64];
		bool ok;
		struct err err;
	} answer;
};

/* Writes of the Machine (life/journal.c). */
struct life_journal {
	/* writer of this Machine, and of objects that end with its claim */
	struct status_writer write;
	/* our fence is in the Machine's status; cleared by steps/tick.c when another replica
	 * leads */
	bool took_over;
	/* loop_now() of the last life_wait(); 0: never; also set by life/told.c */
	int64_t said_at;
	/* What this turn decided; steps/enter.c writes it at the end of the turn. */
	struct life_decided {
		/* false: this turn has decided nothing */
		bool made;
		/* the machine starts from the beginning (life_begin()) */
		bool begins;
		enum machine_state to;
		/* owned; NULL: none */
		json_t *extra;
		enum reason reason;
		char message[400];
	} decided;
};

/* Working data of the step of the present state. Dropped when the state changes or another replica
 * leads. Owned by the file of that step. */
struct life_work {
	/* NULL: this process has begun nothing */
	void *of;
	void (*free)(void *of);
	/* True if calls in `of` use the client of t */
	bool (*uses)(const void *of, const struct tenant *t);
	/* number of parts of the state that this process has done; initially 0 */
	int progress;
	/* loop_now() when the agent of a warm machine was asked to answer (steps/warm.c) */
	int64_t knocked_at;
};

/* Heartbeat of the machine's kubelet, observed from the end of draining on. A heartbeat that
 * changes after Off was read shows that the BMC is wrong (steps/stopping.c). */
struct life_beat {
	/* UID of the claim whose Node is observed */
	char of[64];
	/* the request for the Lease in flight; NULL: none */
	struct kube_call *call;
	/* tenant whose client `call` uses */
	struct tenant *to;
	/* renewTime of the Node's Lease; "": none seen */
	char text[64];
	/* the last request failed or returned no Lease: no heartbeat can be expected */
	bool silent;
	/* loop_now() at the start of the last request; 0: none */
	int64_t asked_at;
	/* loop_now() at the start of the newest answered request; 0: none */
	int64_t read_at;
	/* loop_now() when the heartbeat was last seen to change */
	int64_t changed_at;
	/* number of changes between two requests that both started after Off was read */
	unsigned after_off;
};

/* Whether the machine must leave its tenant (steps/leave_reason.c). */
struct life_leave {
	/* loop_now() since when the tenant says that the Node does not exist; 0: it does not say
	 * so */
	int64_t node_gone_at;
	/* loop_now() when the BurstPolicy of the claim was first missing; 0: it exists
	 * (life/paid.c) */
	int64_t policy_gone_at;
	/* wall ms before which emptiness does not count; also set by steps/hold.c */
	int64_t quiet_since;
	/* loop_now() before which the pool's disruption budget is not checked again */
	int64_t budget_after;
	/* the machine leaves for a reason that counts against a disruption budget, and that is
	 * being written; also set by steps/serving.c */
	bool giving_back;
};

/* The instance at an elastic Provider (steps/elastic.c). */
struct life_elastic {
	/* a launch or a termination is in flight */
	bool busy;
	/* loop_now(): a list counts only if it was requested after this; 0: none was wanted */
	int64_t since;
	/* loop_now() since when no list shows the instance; 0: one does */
	int64_t gone_from;
	/* loop_now() when the cloud accepted the termination; 0: it has not */
	int64_t ended_at;
	/* the cloud's answer to the launch, not yet written to status */
	enum { ELASTIC_NO_ANSWER, ELASTIC_LAUNCHED, ELASTIC_REFUSED } answer;
	/* ids of the launched instance, if answer is ELASTIC_LAUNCHED */
	char id[130];
	char provider_id[512];
	/* why the launch was refused, if answer is ELASTIC_REFUSED */
	struct err err;
};

struct life {
	struct context *c;
	const struct life_parts *parts;
	/* all lives; steps/lives.h */
	struct lives *all;
	char *name;
	/* name of the tenant that the machine serves, or served last; NULL: none yet */
	char *tenant;
	/* the Machine from the cache; valid during this turn */
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

	/* number of VolumeAttachments of the machine's Node; -1: not counted (life/node.c) */
	int volumes;
	/* loop_now() when life_progress() last wrote (life/progress.c) */
	int64_t progress_at;
	/* tenancy in the previous turn (steps/tick.c) */
	int64_t tenancy_seen;
	/* loop_now() before which no WipeRecord is created, because the last try failed
	 * (life/wipe_attempt.c) */
	int64_t record_after;

	struct loop_defer tick;
	struct loop_timer timer;
};

/* Schedules a tick of this machine in the next loop turn. */
void life_kick(struct life *l);

/* Frees the working data of the step and cancels its calls in flight. */
void life_drop_work(struct life *l);

/* Returns the fence of this leader: one above that in the journal until our first write, then the
 * same. */
int64_t life_fence(const struct life *l);
/* Sets o[key] to the time in RFC 3339; ms 0: null. */
void life_set_time(json_t *o, const char *key, int64_t ms);

/* True if a manager of the Provider installs the image, instead of the agent (life/install.h). */
bool life_is_managed(const struct life *l);

/* Writes a new random status.operation.id to out. */
void life_operation_id(struct life *l, char out[static 33]);
/* Returns the claim that holds the machine's lock; NULL: none, or not in the cache. */
const struct node_claim *life_claim(const struct life *l);
/* Returns a claim without a machine that names this machine; NULL: none. */
const struct node_claim *life_claim_wanting(const struct life *l);
const struct provider_object *life_provider(const struct life *l);
/* Returns the deadline of the present state, wall ms; 0: none. */
int64_t life_deadline(const struct life *l);

/* Upper bound of the default limit for wiping, however large the drives are. */
#define LIFE_WIPE_MOST_MS (7 * 24 * 3600 * INT64_C(1000))
/* Returns how long this machine may be in state s, in ms, from its claim, its Provider or the table
 * of states; 0: no limit. */
int64_t life_limit_ms(const struct life *l, enum machine_state s);

#endif
