/*
 * endpoint: routes for hello, order and report. Authenticates an agent by boot secret, boot id, key
 * and address. The steps interpret the reports.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "controller/agent/endpoint_impl.h"
#include "base/crypto.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"

#define POLL_MS 30000
/* Maximum total size of the hellos and reports of all agents that are being received at one time */
#define BODY_BUDGET (16u << 20)
/* Silence after which the first agent of a boot counts as dead. A living agent is not silent for
 * this time while it is checked: it polls again at once when its poll is ended, and it reports
 * every second while it works. */
#define SUSPECT_MS 10000

struct agent_endpoint *agent_endpoint_new(struct loop_group *g)
{
	struct agent_endpoint *a = mem_new(struct agent_endpoint);

	a->group = g;
	a->seats = map_new(NULL);
	a->media = boot_media_new();
	return a;
}

void agent_endpoint_free(struct agent_endpoint *a)
{
	if (!a)
		return;
	map_free(a->seats);
	boot_media_free(a->media);
	free(a->ca_pem);
	secret_free(a->boot_key);
	free(a);
}

const char *agent_endpoint_ca(const struct agent_endpoint *a)
{
	return a->ca_pem;
}

int agent_endpoint_configure(struct agent_endpoint *a, const struct agent_endpoint_spec *s,
			     struct err *e)
{
	bool same = a->boot_key && secret_equal(a->boot_key, s->boot_key) &&
		    str_eq(a->ca_pem, s->ca_pem),
	     was = a->boot_key != NULL;
	struct map_iter it;

	if (s->image && boot_media_load(a->media, s->image, s->image_key, e) < 0)
		return -1;
	if (same)
		return 0;
	free(a->ca_pem);
	a->ca_pem = mem_strdup(s->ca_pem);
	secret_free(a->boot_key);
	a->boot_key = secret_copy(s->boot_key);
	if (!was)
		return 0;
	log_info("boot key or agent CA changed: closing all agent sessions to make new boot media");
	map_for_each (it, a->seats) {
		struct agent_session *seat = it.value;

		agent_session_close(seat);
		seat->changed(seat->arg);
	}
	return 0;
}

void agent_endpoint_key_id(const struct agent_endpoint *a, char out[static AGENT_KEY_ID])
{
	OWN(arena) tmp = arena_new();
	const char *text = arena_printf(tmp, "id\n%s", str_or(a->ca_pem, ""));
	uint8_t mac[CRYPTO_SHA256];

	crypto_hmac_sha256(a->boot_key, text, strlen(text), mac);
	str_hex(out, mac, (AGENT_KEY_ID - 1) / 2);
}

bool agent_endpoint_ready(const struct agent_endpoint *a)
{
	return a->boot_key != NULL;
}

/* --- requests --------------------------------------------------------------------------------- */

/* Sets why the last caller was refused; "": it was not. */
static void set_refusal(struct agent_session *s, const char *why)
{
	str_copy(s->refusal, sizeof(s->refusal), why);
	s->other_protocol = false;
}

/* Refuses a request and closes its connection. A Service keeps an open connection at the replica
 * that accepted it; if that replica leads no longer, the agent must open a new connection to reach
 * the leader. */
static void refuse(struct agent_session *s, struct httpd_req *q, int status, const char *why)
{
	struct err e;

	httpd_reply_header(q, "Connection", "close");
	if (s)
		set_refusal(s, why);
	err_note(&e, status == 409 ? ERR_CONFLICT : ERR_DENIED, status, "%s", why);
	httpd_reply_err(q, &e);
}

/* Refuses a malformed message as the client's error (4xx), not as a server's failure. */
static void refuse_message(struct httpd_req *q, struct err *e)
{
	e->kind = ERR_INVALID;
	httpd_reply_err(q, e);
}

static bool same_secret(const struct agent_session *s, const char *shown)
{
	OWN(secret) mine = secret_from_str(s->secret);

	return secret_equal_bytes(mine, shown, strlen(shown));
}

/* True if `address` is the address from which the agent first called in this boot, or that of a
 * configured proxy. */
static bool is_from_agent(const struct agent_session *s, const char *address)
{
	return agent_among(address, &s->agent_proxies) ||
	       (s->from && address_same(s->from, address));
}

/* Binds the session to `address`, the caller's, unless the session is bound already. The address of
 * a proxy is never bound, because agents of several machines call from it. */
static void hold_address(struct agent_session *s, const char *address)
{
	if (!s->from && !agent_among(address, &s->agent_proxies))
		s->from = arena_strdup(s->session_arena, address);
}

static void second_caller(struct agent_session *s, struct httpd_req *q, const char *why)
{
	log_warn("a second caller presented the boot secret", LOG_S("machine", s->machine),
		 LOG_S("caller", httpd_identity(q)->address), LOG_S("why", why));
	s->intruder = true;
	refuse(s, q, s->open ? 409 : 403, s->open ? why : "not expected");
	s->changed(s->arg);
}

/*
 * Handles a hello with another key or boot id than those of this boot's first agent.
 *
 * A machine that crashed and booted its medium again looks the same as an attacker who has the
 * secret, because a crash does not close the old connection. The difference is whether the first
 * agent is alive. Therefore the first agent's poll is ended: a living agent polls again at once,
 * and caller() then reports a second caller. A reboot is assumed only if another such hello arrives
 * after SUSPECT_MS in which the first agent was silent.
 */
static void other_hello(struct agent_session *s, struct httpd_req *q, const char *boot_id)
{
	int64_t now = loop_now(loop_of(s->agents->group));

	if (s->dismissed) {
		second_caller(s, q, "called after the agent was told to power off");
		return;
	}
	if (str_eq(s->session.boot_id, boot_id)) {
		second_caller(s, q, "called with a different key for the same boot");
		return;
	}
	if (!s->suspect_at)
		s->suspect_at = now;
	else if (now - s->suspect_at >= SUSPECT_MS)
		s->rebooted = true;
	agent_session_answer(s, NULL);
	refuse(s, q, 409,
	       s->intruder ? "a different boot called while the first agent "
			     "is alive"
			   : "the machine rebooted");
	s->changed(s->arg);
}

/* True if the first hello of this boot may be accepted; false: the request has been refused. */
static bool may_begin(struct agent_session *s, struct httpd_req *q)
{
	const char *address = httpd_identity(q)->address;
	char why[sizeof(s->refusal)];

	/* mutant: hello-before-power */
	if (s->await == AGENT_NOT_YET) {
		second_caller(s, q, "called before the machine was switched on");
		return false;
	}
	if (s->await == AGENT_STARTING) {
		refuse(NULL, q, 403, "not expected");
		return false;
	}
	/* mutant: hello-from-anywhere */
	if (agent_among(address, &s->agent_proxies) || agent_session_can_be_at(s, address))
		return true;
	str_format(why, sizeof(why), "called from %.*s, which is not the machine's address",
		   ADDRESS_TEXT, address);
	refuse(NULL, q, 403, "not expected");
	if (!str_eq(why, s->refusal)) {
		set_refusal(s, why);
		s->changed(s->arg);
	}
	return false;
}

/* Returns the session named by hello *h if the hello presents the right boot secret and is signed
 * by the key in it. *key: that key, owned by the caller. NULL: the request has been refused. */
static struct agent_session *shown_secret(struct agent_endpoint *a, struct httpd_req *q,
					  const struct proto_hello *h, struct crypto_key **key)
{
	struct agent_session *s = map_get(a->seats, h->machine);
	struct err e;
	size_t len;
	const char *body = httpd_body(q, &len);

	/* Answer the same for "unknown", "closed" and "wrong secret", so that callers learn
	 * nothing. */
	if (!s || !(s->open || s->watching) || !str_eq(s->operation, h->operation) ||
	    s->boot != h->boot || !same_secret(s, h->secret)) {
		refuse(NULL, q, 403, "not expected");
		return NULL;
	}
	*key = crypto_key_from_public(h->public_key, &e);
	if (*key && proto_signed(*key, "POST", PROTO_HELLO_PATH, body, len,
				 httpd_header(q, PROTO_HEADER_SIGNATURE)))
		return s;
	crypto_key_free(*key);
	*key = NULL;
	refuse(s, q, 403, "bad signature");
	return NULL;
}

/* True if the agent speaks drover's protocol; false: the request has been refused. The agent of
 * another release may have a different one. */
static bool ensure_protocol(struct agent_session *s, struct httpd_req *q,
			    const struct proto_hello *h)
{
	char why[sizeof(s->refusal)];
	bool known;

	/* mutant: any-protocol */
	if (h->protocol == PROTO_VERSION)
		return true;
	str_format(why, sizeof(why),
		   "the agent on the boot medium, version %.40s, speaks protocol %lld, and this "
		   "drover, version %.40s, protocol %d",
		   str_or(h->version, "unknown"), (long long)h->protocol, DROVER_VERSION,
		   PROTO_VERSION);
	str_printable(why);
	known = str_eq(why, s->refusal);
	refuse(s, q, 403, why);
	s->other_protocol = true;
	if (!known) {
		log_warn("an agent of another version called", LOG_S("machine", s->machine),
			 LOG_S("why", why));
		s->changed(s->arg);
	}
	return false;
}

static void remember(struct agent_session *s, const struct proto_hello *h, struct crypto_key **key)
{
	if (!s->session.public_key) {
		s->session_arena = arena_new();
		s->session.boot_id = arena_strdup(s->session_arena, h->boot_id);
		s->session.public_key = arena_strdup(s->session_arena, h->public_key);
		s->key = *key;
		*key = NULL;
	}
	if (!s->session.system_uuid) {
		s->session.system_uuid = arena_strdup(s->session_arena, h->dmi.system_uuid);
		s->session.serial = arena_strdup(s->session_arena, h->dmi.serial);
		s->session.probes = h->probes;
		s->session.trust = h->trust < 0 ? WIPE_BOOT_NETWORK : h->trust;
	}
}

static void welcome(struct agent_session *s, struct httpd_req *q)
{
	struct loop *l = loop_of(s->agents->group);
	struct proto_welcome w = {.wall_time = loop_wall(l)};
	char *text = proto_encode(proto_welcome_fields, &w);

	hold_address(s, httpd_identity(q)->address);
	s->session.last_seen = loop_now(l);
	s->session.heard = true;
	set_refusal(s, "");
	httpd_reply_json(q, 200, text);
	free(text);
	s->changed(s->arg);
}

static void on_hello(struct httpd_req *q, void *arg)
{
	struct agent_endpoint *a = arg;
	OWN(arena) tmp = arena_new();
	struct proto_hello h = {0};
	struct agent_session *s;
	struct crypto_key *key = NULL;
	struct err e;
	size_t len;
	const char *body = httpd_body(q, &len);

	if (proto_decode(proto_hello_fields, body, len, &h, tmp, &e) < 0) {
		refuse_message(q, &e);
		return;
	}
	s = shown_secret(a, q, &h, &key);
	if (!s)
		return;
	if (s->session.public_key && (!str_eq(s->session.public_key, h.public_key) ||
				      !str_eq(s->session.boot_id, h.boot_id))) {
		other_hello(s, q, h.boot_id);
	} else if (!s->open) {
		/* a hello of the agent that was ordered to power off: refuse, but not as a second
		 * caller */
		refuse(NULL, q, 403, "not expected");
	} else if (s->from && !is_from_agent(s, httpd_identity(q)->address)) {
		refuse(s, q, 403, "the agent called from an address other than its first");
	} else if (s->session.public_key || (may_begin(s, q) && ensure_protocol(s, q, &h))) {
		remember(s, &h, &key);
		welcome(s, q);
	}
	crypto_key_free(key);
}

/* Returns the session that the request's header names, if boot id and address match; NULL: no such
 * session. The caller must still check the signature. */
static struct agent_session *named_session(struct agent_endpoint *a, const struct httpd_req *q)
{
	const char *who = httpd_header(q, PROTO_HEADER_AGENT);
	const char *slash = who ? strrchr(who, '/') : NULL;
	OWN(arena) tmp = arena_new();
	struct agent_session *s = NULL;

	if (slash)
		s = map_get(a->seats, arena_strndup(tmp, who, (size_t)(slash - who)));
	if (!s || !s->open || !s->key || !str_eq(slash + 1, s->session.boot_id) ||
	    (s->from && !is_from_agent(s, httpd_identity(q)->address)))
		return NULL;
	return s;
}

/* Called before the body of a report is read: true if the request's header names an open session.
 * Otherwise refuses the request. */
static bool names_session(struct httpd_req *q, void *arg)
{
	bool does = named_session(arg, q) != NULL;

	if (!does)
		refuse(NULL, q, 401, "no such session");
	return does;
}

/* Returns the session that sent the request, after checking its signature; NULL: the request has
 * been refused. */
static struct agent_session *caller(struct agent_endpoint *a, struct httpd_req *q,
				    const char *method, const char *target)
{
	struct agent_session *s = named_session(a, q);
	size_t len;
	const char *body = httpd_body(q, &len);

	if (!s || !proto_signed(s->key, method, target, body, len,
				httpd_header(q, PROTO_HEADER_SIGNATURE))) {
		refuse(NULL, q, 401, "no such session");
		return NULL;
	}
	/* bind the address here too: a session that agent_session_restore() restored from the
	 * journal has no address yet */
	hold_address(s, httpd_identity(q)->address);
	s->session.last_seen = loop_now(loop_of(a->group));
	s->session.heard = true;
	if (s->suspect_at && !s->intruder) {
		/* a hello of another boot arrived earlier, and now the first agent proves to be
		 * alive: two callers have the secret */
		log_warn("a second caller presented the boot secret", LOG_S("machine", s->machine),
			 LOG_S("why", "a different boot called while the first agent is alive"));
		s->intruder = true;
		s->rebooted = false;
		s->changed(s->arg);
	}
	return s;
}

static void on_poll_gone(void *arg)
{
	struct agent_session *s = arg;

	s->poll = NULL;
	loop_timer_stop(&s->poll_timer);
}

static void on_order(struct httpd_req *q, void *arg)
{
	struct agent_endpoint *a = arg;
	const char *after = httpd_query(q, "after");
	int64_t n;
	OWN(arena) tmp = arena_new();
	struct agent_session *s;

	if (!after || !str_to_i64(after, 0, INT64_MAX, &n)) {
		refuse(NULL, q, 401, "no such session");
		return;
	}
	s = caller(a, q, "GET", arena_printf(tmp, "%s?after=%s", PROTO_ORDER_PATH, after));
	if (!s)
		return;
	agent_session_answer(s, NULL); /* the agent has abandoned its earlier poll, so end it */
	/* seq numbers the orders of this process only. The agent sends n, the seq of the last order
	 * that it received. If n is higher than seq, or if this process never sent the order n, the
	 * agent received its last order from another leader. Then continue with numbers above n,
	 * because an order is sent only if its number is higher than the agent's. */
	if (n > s->seq || (n == s->seq && s->order_text && !s->handed)) {
		s->seq = n;
		if (s->order_text) {
			struct proto_order o = {0};
			struct err e;

			if (proto_decode(proto_order_fields, s->order_text, strlen(s->order_text),
					 &o, tmp, &e) == 0) {
				o.seq = ++s->seq;
				free(s->order_text);
				s->order_text = proto_encode(proto_order_fields, &o);
			}
		}
		n = s->seq - 1;
	}
	s->poll = q;
	httpd_on_gone(q, on_poll_gone, s);
	loop_timer_start(&s->poll_timer, POLL_MS);
	if (s->order_text && n < s->seq && !s->report)
		agent_session_answer(s, s->order_text);
}

static void on_report(struct httpd_req *q, void *arg)
{
	struct agent_endpoint *a = arg;
	struct agent_session *s = caller(a, q, "POST", PROTO_REPORT_PATH);
	struct arena *into;
	struct proto_report *r;
	struct err e;
	size_t len;
	const char *body;

	if (!s)
		return;
	body = httpd_body(q, &len);
	into = arena_new();
	r = arena_new_obj(into, struct proto_report);
	if (proto_decode(proto_report_fields, body, len, r, into, &e) < 0) {
		arena_free(into);
		refuse_message(q, &e);
		return;
	}
	if (!str_eq(r->id, s->order_id)) {
		/* report of an order that has been replaced: ignore it */
		arena_free(into);
	} else if (r->state == PROTO_PROGRESS) {
		arena_free(s->progress_arena);
		s->progress_arena = into;
		s->progress = r;
	} else {
		arena_free(s->report_arena);
		s->report_arena = into;
		s->report = r;
	}
	httpd_reply(q, 204, NULL, NULL, 0);
	s->changed(s->arg);
}

void agent_endpoint_api_routes(struct agent_endpoint *a, struct httpd *d)
{
	httpd_body_budget(d, BODY_BUDGET);
	httpd_route(d, "POST", PROTO_HELLO_PATH, PROTO_MAX_HELLO, on_hello, a);
	httpd_route(d, "GET", PROTO_ORDER_PATH, 0, on_order, a);
	httpd_route_admit(d, &(struct httpd_route_spec){.method = "POST",
							.pattern = PROTO_REPORT_PATH,
							.max_body = PROTO_MAX_MESSAGE,
							.admit = names_session,
							.fn = on_report,
							.arg = a});
}

void agent_endpoint_media_routes(struct agent_endpoint *a, struct httpd *d, bool tls)
{
	boot_media_routes(a->media, d, tls);
}
