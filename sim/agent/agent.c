#include "sim/agent/agent_impl.h"

#include <stdlib.h>
#include <string.h>
#include "base/data/json.h"
#include "base/mem.h"
#include "base/str.h"

#define AGAIN_MS 1000
#define POLL_MS 45000 /* Time limit of a poll in ms; drover answers a poll within 30 s. */
#define PROGRESS_MS 1000
#define REFUSED_MS (10 * 60 * 1000)
/* Time in ms for the report of a poweroff to arrive before the power goes off. */
#define OFF_MS 300

static void on_session(void *arg);

static struct loop *loop_here(const struct sim_agent *a)
{
	return loop_of(a->group);
}

/* --- requests --------------------------------------------------------------------------------- */

/* Sends a signed request. Returns NULL if the machine cannot reach drover from its segment; the
 * caller tries again later. */
static struct http_req *ask(struct sim_agent *a, const char *method, const char *target,
			    const char *body,
			    void (*done)(const struct http_reply *r, const struct err *e,
					 void *arg))
{
	size_t len = body ? strlen(body) : 0;
	char *sig;
	struct http_header h[] = {{PROTO_HEADER_AGENT, a->who}, {PROTO_HEADER_SIGNATURE, NULL}};
	struct http_call c = {
		.method = method,
		.path = target,
		.headers = h,
		.nheaders = 2,
		.body = body,
		.body_len = len,
		.timeout_ms = POLL_MS,
		.max_body = PROTO_MAX_MESSAGE,
		.done = done,
		.arg = a,
	};
	struct http_req *q;

	if (!sim_machine_reaches(a->machine, a->boot.endpoint))
		return NULL;
	sig = proto_sign(a->key, method, target, body, len);
	h[1].value = sig;
	q = http_start(a->peer, &c);
	free(sig);
	return q;
}

/* Returns true if drover accepted the request. *off: set to true if the machine must power off,
 * because drover has answered 401 or 403 for ten minutes. */
static bool judge(struct sim_agent *a, const struct http_reply *r, const struct err *e, bool *off)
{
	int64_t now = loop_now(loop_here(a));

	*off = false;
	/* Ignores a reply that arrives after the switch has moved the machine's port, as if the
	 * reply were lost. */
	if (!sim_machine_reaches(a->machine, a->boot.endpoint))
		return false;
	if (r && r->status < 300) {
		a->refused_since = 0;
		return true;
	}
	sim_machine_say(a->machine, "agent: %s", e ? e->text : r->body);
	if (!r || (r->status != 401 && r->status != 403))
		return false;
	a->welcome = false;
	if (!a->refused_since)
		a->refused_since = now;
	*off = now - a->refused_since >= REFUSED_MS;
	return false;
}

/* --- reports ---------------------------------------------------------------------------------- */

static void on_reported(const struct http_reply *r, const struct err *e, void *arg)
{
	struct sim_agent *a = arg;
	struct agent_letter *first = list_first(&a->outbox, struct agent_letter, link);
	bool off, good = judge(a, r, e, &off), result = a->sending != NULL;

	a->report_req = NULL;
	a->sending = NULL;
	if (off) {
		sim_machine_cut(a->machine);
		return;
	}
	/* Removes the sent report, because drover accepted it, or refused it in a way that sending
	 * it again would not change. */
	if (result && first && (good || (r && r->status < 500 && r->status != 429 && a->welcome))) {
		list_remove(&first->link);
		free(first->text);
		free(first);
	}
	if (!list_empty(&a->outbox))
		loop_timer_start(&a->report_timer, good ? 0 : AGAIN_MS);
	else if (a->order)
		loop_timer_start(&a->report_timer, PROGRESS_MS);
}

static char *progress_text(const struct sim_agent *a)
{
	struct proto_report r = {
		.id = a->order->id,
		.seq = a->order->seq,
		.fence = a->order->fence,
		.state = PROTO_PROGRESS,
		.phase = a->phase,
		.done_bytes = a->done_bytes,
		.total_bytes = a->total_bytes,
		.bytes_per_s = a->bytes_per_s,
	};

	return proto_encode(proto_report_fields, &r);
}

static void on_report_timer(void *arg)
{
	struct sim_agent *a = arg;
	struct agent_letter *first = list_first(&a->outbox, struct agent_letter, link);
	char *text = NULL;

	if (a->report_req || a->silent || (!first && !a->order))
		return;
	if (a->welcome) {
		text = first ? mem_strdup(first->text) : progress_text(a);
		a->report_req = ask(a, "POST", PROTO_REPORT_PATH, text, on_reported);
		a->sending = a->report_req && first ? first->text : NULL;
	}
	if (!a->report_req)
		loop_timer_start(&a->report_timer, AGAIN_MS);
	free(text);
}

/* --- orders ----------------------------------------------------------------------------------- */

static void run_next(struct sim_agent *a);

static void on_step(void *arg)
{
	struct sim_agent *a = arg;

	a->step(a);
}

static const char *lacks(const struct proto_order *o)
{
	if (o->kind == PROTO_WIPE)
		return o->nonce ? NULL : "nonce";
	if (o->kind == PROTO_PROBE)
		return !o->nonce ? "nonce" : !o->addresses.n ? "addresses" : NULL;
	if (o->kind == PROTO_VERIFY)
		return !o->nonce ? "nonce" : !o->evidence ? "evidence" : NULL;
	if (o->kind != PROTO_WRITE || o->what == PROTO_WRITE_UNSTAMP)
		return NULL;
	if (o->what == PROTO_WRITE_STAMP)
		return !o->record ? "record" : !o->stamp ? "stamp" : NULL;
	if (!o->drive)
		return "drive";
	if (o->what == PROTO_WRITE_CONFIG)
		return o->files.n ? NULL : "files";
	return !o->url ? "url" : !o->digest ? "digest" : NULL;
}

/* Begins the order a->order. A fault may reboot the machine here, which frees *a. */
static void begin(struct sim_agent *a)
{
	const char *name = proto_order_kind_names[a->order->kind];
	const char *absent = lacks(a->order);
	struct sim_machine *m = a->machine;

	sim_machine_say(m, "agent: %s", a->order->id);
	if (sim_machine_fault(m, name, "Reboot", NULL)) {
		sim_machine_reboot(m);
		return;
	}
	a->silent |= sim_machine_fault(m, name, "AgentSilent", NULL);
	a->pull = sim_machine_fault(m, name, "PullDrive", NULL);
	for (unsigned i = 0; i < m->ndrives; i++)
		drive_lie(m->drives[i], false);
	a->phase = name;
	a->done_bytes = a->total_bytes = a->bytes_per_s = 0;
	a->stepped_at = loop_now(loop_here(a));
	if (!loop_timer_active(&a->report_timer))
		loop_timer_start(&a->report_timer, PROGRESS_MS);
	if (a->pull && a->order->kind != PROTO_WIPE)
		drive_fail(m->drives[m->ndrives - 1], true);
	if (absent)
		agent_fail(a, "OrderInvalid", "%s: is missing", absent);
	else if (a->order->kind == PROTO_INSPECT)
		agent_begin_inspect(a);
	else if (a->order->kind == PROTO_WIPE)
		agent_begin_wipe(a);
	else if (a->order->kind == PROTO_VERIFY)
		agent_begin_verify(a);
	else if (a->order->kind == PROTO_PROBE)
		agent_begin_probe(a);
	else
		agent_begin_write(a);
}

static void run_next(struct sim_agent *a)
{
	if (a->order || !a->next)
		return;
	arena_free(a->order_arena);
	a->order_arena = a->next_arena;
	a->order = a->next;
	a->next_arena = NULL;
	a->next = NULL;
	begin(a);
}

static void refuse_stale(struct sim_agent *a, const struct proto_order *o)
{
	char text[100], *letter;
	struct proto_report r = {.seq = o->seq,
				 .id = o->id,
				 .fence = o->fence,
				 .state = PROTO_FAILED,
				 .reason = "StaleFence",
				 .message = text};

	str_format(text, sizeof(text), "fence %lld is lower than %lld", (long long)o->fence,
		   (long long)a->fence);
	letter = proto_encode(proto_report_fields, &r);
	agent_post(a, letter);
	free(letter);
}

/* Sends the stored result of an order again, with the sequence number and fence of the repeated
 * order. */
static void repeat(struct sim_agent *a, const struct proto_order *o, const char *known)
{
	struct err e;
	OWN_JSON j = json_parse(known, strlen(known), &e);
	char *text;

	json_object_set_new(j, "seq", json_integer(o->seq));
	json_object_set_new(j, "fence", json_integer(o->fence));
	text = json_text(j);
	agent_post(a, text);
	free(text);
}

static void off_with_a_word(struct sim_agent *a, const struct proto_order *o)
{
	struct proto_report r = {
		.seq = o->seq, .id = o->id, .fence = o->fence, .state = PROTO_DONE};
	char *text = proto_encode(proto_report_fields, &r);

	agent_post(a, text);
	free(text);
	loop_timer_start(&a->off_timer, OFF_MS);
}

/* Handles an order that drover sent. Takes ownership of *into if the order is to be carried out. */
static void take(struct sim_agent *a, struct proto_order *o, struct arena **into)
{
	const char *known;

	if (o->seq > a->after)
		a->after = o->seq;
	if (o->fence < a->fence) {
		refuse_stale(a, o);
		return;
	}
	a->fence = o->fence;
	known = map_get(a->results, o->id);
	if (known) {
		repeat(a, o, known);
	} else if (o->kind == PROTO_POWEROFF) {
		off_with_a_word(a, o);
	} else if (!a->order || !str_eq(a->order->id, o->id)) {
		arena_free(a->next_arena);
		a->next = o;
		a->next_arena = give(*into);
	}
}

static void on_order(const struct http_reply *r, const struct err *e, void *arg)
{
	struct sim_agent *a = arg;
	struct arena *into;
	struct proto_order *o;
	struct err bad;
	bool off;

	a->session_req = NULL;
	if (!judge(a, r, e, &off)) {
		if (off)
			sim_machine_cut(a->machine);
		else
			loop_timer_start(&a->session_timer, AGAIN_MS);
		return;
	}
	loop_timer_start(&a->session_timer, r->status == 200 ? 0 : 10);
	if (r->status != 200)
		return;
	into = arena_new();
	o = arena_new_obj(into, struct proto_order);
	if (proto_decode(proto_order_fields, r->body, r->body_len, o, into, &bad) < 0) {
		sim_machine_say(a->machine, "agent: order: %s", bad.text);
		loop_timer_start(&a->session_timer, AGAIN_MS);
	} else {
		take(a, o, &into);
	}
	arena_free(into);
}

/* --- session ---------------------------------------------------------------------------------- */

static void on_hello(const struct http_reply *r, const struct err *e, void *arg)
{
	struct sim_agent *a = arg;
	bool off;

	a->session_req = NULL;
	a->welcome = judge(a, r, e, &off);
	if (off) {
		sim_machine_cut(a->machine);
		return;
	}
	if (a->welcome) {
		sim_machine_say(a->machine, "agent: welcome");
		a->silent |= sim_machine_fault(a->machine, "Agent", "AgentSilent", NULL);
		if (sim_machine_fault(a->machine, "Agent", "Reboot", NULL)) {
			sim_machine_reboot(a->machine);
			return;
		}
	}
	loop_timer_start(&a->session_timer, a->welcome ? 0 : AGAIN_MS);
}

static struct http_req *hello(struct sim_agent *a)
{
	struct proto_hello h = {
		.machine = a->boot.machine,
		.operation = a->boot.operation,
		.boot = a->boot.boot,
		.secret = a->boot.secret,
		.boot_id = a->machine->boot_id,
		.public_key = a->public_key,
		.version = a->version,
		.protocol = a->protocol,
		.dmi = a->dmi,
		.trust = WIPE_BOOT_NETWORK,
		.probes = true,
	};
	char *text = proto_encode(proto_hello_fields, &h);
	struct http_req *q = ask(a, "POST", PROTO_HELLO_PATH, text, on_hello);

	secret_wipe(text, strlen(text));
	free(text);
	return q;
}

/* Sends hello, or polls for the next order, unless a hello or poll is in progress. Then begins the
 * queued order, if there is one. */
static void on_session(void *arg)
{
	struct sim_agent *a = arg;
	char target[80];

	if (a->session_req || a->silent)
		goto begin;
	if (!a->welcome) {
		a->session_req = hello(a);
	} else {
		str_format(target, sizeof(target), PROTO_ORDER_PATH "?after=%lld",
			   (long long)a->after);
		a->session_req = ask(a, "GET", target, NULL, on_order);
	}
	if (!a->session_req)
		loop_timer_start(&a->session_timer, AGAIN_MS);
begin:
	run_next(a);
}

static void on_off(void *arg)
{
	struct sim_agent *a = arg;

	sim_machine_cut(a->machine);
}

/* --- life ------------------------------------------------------------------------------------- */

struct sim_agent *sim_agent_new(struct loop_group *g, struct sim_machine *m, const char *block,
				size_t len, struct err *e)
{
	struct sim_agent *a = mem_new(struct sim_agent);
	struct http_peer_spec s = {.user_agent = "sim-agent"};

	a->group = g;
	a->machine = m;
	a->arena = arena_new();
	a->results = map_new(free);
	list_init(&a->outbox);
	loop_timer_init(&a->session_timer, g, on_session, a);
	loop_timer_init(&a->report_timer, g, on_report_timer, a);
	loop_timer_init(&a->off_timer, g, on_off, a);
	loop_timer_init(&a->step_timer, g, on_step, a);
	if (proto_boot_read(block, len, a->arena, &a->boot, e) < 0)
		goto failed;
	a->key = crypto_key_new();
	crypto_key_public(a->key, a->public_key);
	str_format(a->who, sizeof(a->who), "%s/%s", a->boot.machine, m->boot_id);
	a->dmi = (struct proto_dmi){.system_uuid = m->uuid,
				    .serial = m->serial,
				    .manufacturer = "drover",
				    .product = m->model};
	if (sim_machine_fault(m, "Agent", "WrongUUID", NULL))
		a->dmi.system_uuid = "00000000-0000-0000-0000-000000000bad";
	a->version = "sim-" DROVER_VERSION;
	a->protocol = PROTO_VERSION;
	if (sim_machine_fault(m, "Agent", "AgentVersion", NULL)) {
		a->version = "sim-other";
		a->protocol++;
	}
	s.base_url = a->boot.endpoint;
	s.ca_pem = a->boot.ca_pem;
	a->peer = http_peer_new(m->site->http, &s, e);
	if (!a->peer)
		goto failed;
	sim_machine_say(m, "agent: booting");
	loop_timer_start(&a->session_timer, sim_machine_jitter(m, sim_machine_times(m).kernel_ms));
	return a;
failed:
	sim_agent_free(a);
	return NULL;
}

void sim_agent_free(struct sim_agent *a)
{
	if (!a)
		return;
	loop_timer_stop(&a->session_timer);
	loop_timer_stop(&a->report_timer);
	loop_timer_stop(&a->off_timer);
	loop_timer_stop(&a->step_timer);
	http_cancel(a->session_req);
	http_cancel(a->report_req);
	if (a->write)
		a->write_free(a->write);
	http_peer_free(a->peer);
	list_for_each (l, &a->outbox, struct agent_letter, link) {
		free(l->text);
		free(l);
	}
	map_free(a->results);
	crypto_key_free(a->key);
	arena_free(a->order_arena);
	arena_free(a->next_arena);
	arena_free(a->wiped_arena);
	arena_free(a->arena);
	free(a);
}
