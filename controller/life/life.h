#ifndef CONTROLLER_LIFE_LIFE_H
#define CONTROLLER_LIFE_LIFE_H

#include <stdbool.h>
#include <stdint.h>
#include "api/machine_states.h"
#include "api/reasons.h"
#include "base/retry.h"
#include "controller/life/join_seen.h"
#include "controller/core/context.h"
#include "controller/core/status_writer.h"
#include "controller/rules/listed.h"
#include "providers/elastic.h"
#include "providers/hardware.h"
#include "wipe/proto.h"
#include "controller/hardware/driver.h"

/*
 * life: drives one Machine through the states of api/machine_states.def.
 *
 * The Machine's status is both the journal (what was begun, for the next leader) and the lock of
 * the machine. A struct life contains only what can be found out again: sessions, the last
 * observation of the BMC, requests in flight. Steps (steps/steps.h) use it through the headers in
 * this folder:
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
 * A function named life_ensure_* returns true if the condition in its name holds. When it returns
 * false, it has requested, written or started the missing part, or life_wait() has reported whom
 * the machine waits for. A function that takes a const life only reads.
 *
 * Each write is a merge patch with the Machine's resourceVersion. A write that is based on an
 * outdated view therefore fails with a conflict. This replaces a quorum read, and excludes another
 * leader.
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
	/* Keeps one refused password from being tried at many BMCs; NULL: no guard, every login is
	 * tried */
	struct login_guard *login_guard;
};

/* The following structs are the parts of a life. The comment of each struct names the one file that
 * writes it; other files only read it. If a second file writes a member, the member's comment says
 * so. */

/* Driver, BMC and agent session to which the machine is attached (steps/tick.c) */
struct life_attached {
	/* resourceVersion of the Secret with the BMC's credentials, as used for the attachment */
	char *secret_version;
	/* text of all settings from which the agent session was created. If the text for the
	 * present settings differs, a new session must be created. */
	char *seat;
	/* True: attach the BMC again, because spec or Secret changed; also set by
	 * steps/requests.c */
	bool again;
	/* state of the logout from the BMC at retirement (life/log_out.c) */
	enum { LIFE_LOGGED_IN, LIFE_LOGGING_OUT, LIFE_LOGGED_OUT } login;
	/* spec.bmc.address of the BMC that the machine is, or was last, attached to */
	char *address;
	/* URI of the session that was open at that BMC when it was detached; NULL: none
	 * (life/login.c) */
	char *left;
	/* Error of the last attempt to attach the BMC (driver_attach(): login data and trust are
	 * resolved, and the driver has a handle for the BMC). NULL: the attempt succeeded, or there
	 * was none, because spec has no BMC or the BMC is not trusted
	 * (life_bmc_trusted()). */
	struct err *error;
};

/* Sizes of the texts of a BMC that are stored, with their final NUL: a URI of a session, and a
 * URL */
#define LIFE_URI_SIZE 256
#define LIFE_URL_SIZE 512

/* The last observation of the BMC, and the read in flight (life/bmc.c). */
struct life_observation {
	/* True: the other members show a successful read. False: no read has succeeded, or it was
	 * forgotten. */
	bool known;
	/* loop_now() at the start of the last successful read */
	int64_t read_at;
	/* loop_now() at the end of the last successful read. Kept besides read_at, because a slow
	 * BMC needs many seconds for a read. */
	int64_t answered_at;
	/* loop_now() when the read in flight left the machine queue (of slow calls); 0: it is still
	 * queued */
	int64_t begun_at;
	/* loop_now() when the present state first wanted an observation; 0: it has not wanted one
	 * yet */
	int64_t wanted_at;
	enum provider_power power;
	/* system UUID that the BMC reports; "": not reported */
	char uuid[64];
	char serial[128];
	enum provider_override override;
	/* True: a boot medium is inserted */
	bool media;
	/* True: the last read could read the media slot. False: the other media members mean
	 * nothing. */
	bool media_known;
	/* True: the media slot lists HTTPS among its transfer protocols */
	bool media_https;
	/* True: the BMC verifies the certificate of the server that serves the boot medium */
	bool media_verified;
	/* URL of the inserted medium; NULL: none */
	char *media_url;
	/* URL that the BMC shows for UEFI HTTP boot; NULL: none */
	char *http_url;
	/* IP address from which the BMC answered; "": unknown */
	char address[64];
	/* why the sensors could not be read at the last attempt; NULL: they were read, or reading
	 * was not tried */
	char *unsensed;
	/* True: this process has read the sensors, so that `fault` is their latest result */
	bool sensed;
	/* critical fault that the sensors report; NULL: none */
	char *fault;
	/* loop_now() at the start of the first of the consecutive reads that reported Off; 0: the
	 * last read did not report Off */
	int64_t off_since;
	/* URI of the BMC session that the last successful read used; NULL: none */
	char *session_uri;
	/* "sha256:..." of a certificate trusted on first use; "": none learned */
	char learned_pin[80];
	/* number of successful reads */
	unsigned answered;
	/* True: a read is in flight or queued */
	bool busy;
	/* loop_now() before which no read starts, because of the back-off */
	int64_t after;
	struct backoff backoff;
	/* error of the last read; NULL: that read succeeded, or there was no read */
	struct err *error;
};

/* Facts about the BMC for status.bmc (life/bmc_facts.c). */
struct life_facts {
	/* number of BMC requests in earlier attachments */
	uint64_t calls;
	/* True: a trip is being counted. A trip is the time from leaving state free until the
	 * return to it. */
	bool on_trip;
	/* total number of BMC requests when the trip began */
	uint64_t trip_from;
	/* loop_now() before which a change of the latency alone is not written */
	int64_t latency_after;
	/* JSON text of the changes that life_bmc_changes() returned last; NULL: none */
	char *told;
	/* loop_now() before which the same changes (told) are not returned again */
	int64_t told_after;
};

/* Waiting times of this machine's calls in the machine queue of its Provider (life/queue_wait.c) */
struct life_queue {
	/* loop_now() since when a call of this machine waits in the queue; 0: no call waits */
	int64_t since;
	/* total wait, in ms, of the calls of the present state that have left the queue */
	int64_t waited_ms;
	/* status.stateSince of the state for which waited_ms is counted */
	int64_t of;
};

/* The drives that the BMC lists, for comparison with those that the agent sees (life/listing.c) */
struct life_listing {
	/* The agent's boot for which the list was read, as "OPERATION/BOOT": status.operation.id
	 * and its bootNumber. When the machine's present boot differs, this struct is reset. "":
	 * none */
	char boot[96];
	/* True: v is the list of drives of this boot */
	bool known;
	/* True: the list is being read */
	bool busy;
	/* memory of v; owned */
	struct arena *arena;
	struct listed_drive *v;
	size_t n;
	/* loop_now() before which the list is not read again */
	int64_t after;
	/* loop_now() since when the list contains drives that the agent does not see; 0: no such
	 * drives */
	int64_t differs_since;
	/* number of answers in this boot that the BMC does not serve the list, or a part of it */
	unsigned lacking;
	/* number of consecutive calls that failed for other reasons than a missing list */
	unsigned failed;
	/* loop_now() when the last failed call ended */
	int64_t failed_at;
	struct backoff backoff;
	/* error of the last call that did not return the whole list */
	struct err error;
	/* whether the BMC serves the list; life/bmc_facts.c writes this to status.bmc */
	enum {
		/* not asked yet, or no answer yet */
		LISTING_NOT_ASKED,
		/* the BMC serves the list; the list may be empty */
		LISTING_SERVED,
		/* the BMC does not serve the list */
		LISTING_LACKS
	} says;
	/* wall ms at which `says` was set */
	int64_t said_at;
};

/* The last observation of the machine's port at the fabric (life/port.c) */
struct life_port {
	bool known;
	char segment[128];
	enum fabric_proof proof;
	/* why the fabric does not give a better proof; "": the fabric gave no reason */
	char why[160];
	/* loop_now() at the start of the last successful observation */
	int64_t read_at;
	/* loop_now() at the end of the last successful observation */
	int64_t answered_at;
	/* loop_now() when the present state first wanted an observation; 0: it has not wanted one
	 * yet */
	int64_t wanted_at;
	/* True: an observation or a move of the port is in flight */
	bool busy;
	/* target segment of the move in flight; "": none */
	char moving[128];
};

/* The current act: a request that changes something, named in the journal before it is sent
 * (life/act.c) */
struct life_acts {
	char step[48];
	/* True: the act is written to the journal, so it may be sent. Also cleared by
	 * life/journal.c if that write failed. */
	bool journaled;
	/* True: the act was sent and has not been answered yet */
	bool in_progress;
	/* True: an act is due, but was withheld because the Lease was not renewed in time or the
	 * clock disagrees with the API server's clock. This was logged, and is not logged again. */
	bool withheld;
	/* loop_now() when the act was sent; 0: this process has not sent it */
	int64_t began_at;
	/* loop_now() when an act was last answered; 0: never in this process */
	int64_t ended_at;
	/* loop_now() before which no act is sent, because of the back-off */
	int64_t after;
	struct backoff backoff;
};

/* Installation of the image by the Provider's manager (life/install.c). */
struct life_install {
	/* id of the operation for which the manager has accepted the installation; "": none */
	char acquired[64];
	/* id of the operation for which the manager has taken its node back; "": none */
	char released[64];
	/* id of the operation for which a release is in flight */
	char releasing[64];
	/* install handle for which the progress query in flight asks */
	char asked[64];
	/* a progress query is in flight */
	bool busy;
	/* True: progress and text are the manager's last answer */
	bool known;
	/* loop_now() at the first failed query since the manager last answered, while the machine
	 * is on; 0: the manager answers */
	int64_t away_since;
	/* loop_now() before which progress is not queried, because of the polling interval or
	 * back-off */
	int64_t after;
	struct backoff backoff;
	enum provider_progress progress;
	char text[200];
	/* loop_now() since when the manager reports the machine as UP; 0: it does not */
	int64_t up_since;
	/* error of the last query; kind ERR_NONE: the query succeeded */
	struct err error;
};

/* Power requests of this process to the BMC (life/power.c) */
struct life_powered {
	/* True: the last request was withheld immediately before it was sent, because the Lease was
	 * too old (safety invariant S7) */
	bool unsent;
	/* loop_now() when the last request was answered */
	int64_t ended_at;
};

/* The boot of the agent (life/agent_boot.c). When life/bmc.c reads Off, it resets by_http,
 * whereabouts and due_at. */
struct life_boot {
	/* index of the boot method in use, among the boot methods of the Provider */
	unsigned method;
	/* "OPERATION/BOOT" of the boot for which `method` was chosen; NULL: none */
	char *method_for;
	/* errors of the BMC for the boot methods before this one; NULL: this is the first method */
	char *refused;
	/* True: the BMC refused media over plain HTTP, so drover offers HTTPS
	 * (life/boot_method.c) */
	bool over_tls;
	/* True: the machine is on because it was switched on for an agent by HTTP boot */
	bool by_http;
	/* State of the check in which segment the port is. Needed for an HTTP boot that status or
	 * the BMC shows but this process did not start. */
	enum { LIFE_NOT_ASKED, LIFE_ASKED, LIFE_ANSWERED } whereabouts;
	/* loop_now() since when the machine is on and a call of its agent is expected; 0: no call
	 * is expected */
	int64_t due_at;
	/* True: an operator requested a retry while the agent was refused because of its version,
	 * so that the machine is booted again at once */
	bool retry;
};

/* What the previous leader may still have in flight; a new leader acts only once that is over
 * (life/takeover.h) */
struct life_follow {
	/* text that identifies the last act that the journal shows as begun; NULL: none */
	char *begun;
	/* loop_now() when this process first saw the act `begun` in the journal */
	int64_t begun_at;
	/* value of observation.answered (the number of successful reads) when another replica last
	 * led */
	unsigned from;
	/* True: requests of the previous leader to the BMC can no longer take effect */
	bool over;
	/* Target segment of a move of the machine's port whose result this process will never
	 * receive: the previous leader sent the request, or this process dropped it. NULL: no such
	 * move. */
	char *move;
	/* loop_now() when this process first saw the move */
	int64_t move_at;
};

/* A request of a step to an API server (life/ask.c). */
struct life_question {
	/* request in flight; NULL: none. Set by the caller after life_asking(). */
	struct kube_call *call;
	/* name of the request that was started last */
	char asking[64];
	/* tenant whose client is used; NULL: the host cluster */
	struct tenant *to;
	/* State and fence of the machine when the request was started. A request to a tenant that
	 * is still queued is not sent if one of them has changed (life_ask_tenant()). */
	enum machine_state state;
	int64_t fence;
	/* The last answer. Dropped when the state changes. */
	struct {
		/* name of the answered request; "": none */
		char about[64];
		bool ok;
		/* error of the last request that failed; NULL: none has */
		struct err *err;
	} answer;
};

/* Writes of the Machine (life/journal.c). */
struct life_journal {
	/* Status writer for this Machine, and for objects that end with the machine's claim */
	struct status_writer write;
	/* True: the Machine's status contains the fence of this leader. Also cleared by
	 * steps/tick.c when another replica leads. */
	bool took_over;
	/* loop_now() when a reason for waiting was last reported; 0: never. Also set by
	 * life/stale_reason.c. */
	int64_t said_at;
	/* Change of state that this turn has decided; NULL: none. steps/enter.c writes and frees it
	 * at the end of the turn. */
	struct life_decided {
		/* True: the machine starts again from the beginning (life_begin()) */
		bool begins;
		enum machine_state to;
		/* further members of the status patch; owned; NULL: none */
		json_t *extra;
		enum reason reason;
		char message[400];
	} * decided;
};

/* Working data of the step of the present state. Dropped when the state changes or another replica
 * leads. Written by the file of that step. */
struct life_work {
	/* data of the step; NULL: this process has not begun anything of the step in this state */
	void *of;
	void (*free)(void *of);
	/* Returns true if a call in `of` uses the client of tenant t. */
	bool (*uses)(const void *of, const struct tenant *t);
	/* how far this process has come in this state, as numbered by the step; initially 0 */
	int progress;
	/* loop_now() when the agent of a warm machine was asked to answer (steps/warm.c) */
	int64_t knocked_at;
	/* what the tenant's API server shows of a booting machine (life/join_seen.h) */
	struct join_seen join;
};

/* Heartbeat of the machine's kubelet (the Lease of its Node), observed from the end of draining on.
 * A heartbeat that changes after Off was read shows that the BMC is wrong (steps/stopping.c). */
struct life_beat {
	/* UID of the claim whose Node is observed */
	char of[64];
	/* request for the Node's Lease in flight; NULL: none */
	struct kube_call *call;
	/* tenant whose client `call` uses */
	struct tenant *to;
	/* renewTime of the Node's Lease, as last read; "": none read */
	char text[64];
	/* True: the last request failed or returned no Lease, so that no heartbeat can be
	 * expected */
	bool silent;
	/* loop_now() at the start of the last request; 0: none */
	int64_t asked_at;
	/* loop_now() at the start of the newest answered request; 0: none */
	int64_t read_at;
	/* loop_now() when renewTime of the Lease was last seen to change */
	int64_t changed_at;
	/* Number of signs that the machine runs although the BMC reports Off. A sign is a change of
	 * renewTime between two requests that both started after the first read of Off, or a
	 * message that drover's agent sent after that read. From BEATS_ALIVE signs on
	 * (steps/stopping.c), the BMC's Off is not believed. */
	unsigned after_off;
};

/* Facts that decide whether the machine must leave its tenant (steps/leave_reason.c) */
struct life_leave {
	/* loop_now() since when the tenant's API server reports that the machine's Node does not
	 * exist; 0: the Node exists, or is not known to be missing. */
	int64_t node_gone_at;
	/* loop_now() when the BurstPolicy of the claim was first missing; 0: not missing. Written
	 * by life/paid.c. */
	int64_t policy_gone_at;
	/* wall ms before which the time for which the machine is empty, underused or drifted is not
	 * counted. Written by steps/hold.c. */
	int64_t quiet_since;
	/* loop_now() before which the pool's disruption budget is not checked again */
	int64_t budget_after;
	/* True: drover has begun to make the machine leave its tenant for a reason that counts
	 * against a disruption budget. Needed while the change of state is being written. Written
	 * by steps/serving.c. */
	bool giving_back;
};

/* The cloud instance of a machine at an elastic Provider (steps/elastic.c) */
struct life_elastic {
	/* True: a launch or a termination is in flight */
	bool busy;
	/* loop_now() when this process first wanted a list of instances. Only a list requested
	 * after this time counts. 0: no list was wanted yet */
	int64_t since;
	/* loop_now() at which an absence of the instance from the lists began to be counted; 0: the
	 * last list shows it */
	int64_t gone_from;
	/* loop_now() when the cloud accepted the termination; 0: not accepted */
	int64_t ended_at;
	/* the cloud's answer to the launch that is not written to status yet */
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
	/* set of all lives (steps/lives.h) */
	struct lives *all;
	char *name;
	/* name of the tenant that the machine serves, or served last; NULL: none yet */
	char *tenant;
	/* the Machine from the cache; valid during this turn only */
	const struct machine *m;
	enum machine_state state;

	struct driver *driver;
	struct provider_machine *bmc;
	struct agent_session *agent;

	struct life_attached attached;
	struct life_observation observation;
	struct life_facts facts;
	struct life_queue queue;
	/* drives that the BMC lists; NULL: not asked */
	struct life_listing *listing;
	struct life_port port;
	struct life_acts act;
	struct life_powered power;
	/* installation by a manager; NULL: none was begun by this process */
	struct life_install *install;
	struct life_boot boot;
	struct life_follow follow;
	struct life_question question;
	struct life_journal journal;
	/* cloud instance; NULL: none was handled by this process */
	struct life_elastic *elastic;
	struct life_work work;
	struct life_beat beat;
	struct life_leave leave;

	/* number of VolumeAttachments of the machine's Node; -1: not counted. Written by
	 * life/node.c. */
	int volumes;
	/* loop_now() when life_progress() last wrote progress; 0: never. Written by
	 * life/progress.c. */
	int64_t progress_at;
	/* status.tenancy in the previous turn. Written by steps/tick.c. */
	int64_t tenancy_seen;
	/* loop_now() before which no WipeRecord is created, because the last attempt to create one
	 * failed. Written by life/wipe_attempt.c. */
	int64_t record_after;
	/* True: an event of this state has reported that the machine must be wiped before it
	 * retires. Written by steps/rest.c. */
	bool unwiped_told;

	struct loop_defer tick;
	struct loop_timer timer;
};

/* Frees the memory that the parts above own, except what life_free() of steps/tick.c ends first:
 * sessions, calls, and the working data of the step. */
void life_parts_free(struct life *l);

/* Schedules a tick (one turn of the machine) in the next loop turn. */
void life_kick(struct life *l);

/* Frees the working data of the step and cancels its calls in flight. */
void life_drop_work(struct life *l);

/* Returns this leader's fence for the machine (a number that is higher with each leader). Until the
 * first write of this leader, that is the fence in the journal plus one; afterwards, the fence in
 * the journal. */
int64_t life_fence(const struct life *l);
/* Sets o[key] to the wall time ms in RFC 3339; ms 0: to null. */
void life_set_time(json_t *o, const char *key, int64_t ms);

/* True if a manager of the Provider (such as BCM) installs the image, instead of the agent
 * (life/install.h). */
bool life_is_managed(const struct life *l);

/* Writes a new random operation id (for status.operation.id) to out. */
void life_operation_id(struct life *l, char out[static 33]);
/* Returns the claim to which the machine is bound (status.claimRef); NULL: none, or not in the
 * cache. */
const struct node_claim *life_claim(const struct life *l);
/* Returns a claim that names this machine and is not bound to a machine yet; NULL: none. */
const struct node_claim *life_claim_wanting(const struct life *l);
const struct provider_object *life_provider(const struct life *l);
/* Returns the deadline of the present state, wall ms; 0: none. */
int64_t life_deadline(const struct life *l);

/* Upper bound of the default time limit for wiping. It applies however large the drives are. */
#define LIFE_WIPE_MOST_MS (7 * 24 * 3600 * INT64_C(1000))
/* Returns the longest time that this machine may be in state s, in ms; 0: no limit. The limit comes
 * from the machine's claim, its Provider, or the table of states. */
int64_t life_limit_ms(const struct life *l, enum machine_state s);

#endif
