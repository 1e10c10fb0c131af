/*
 * endpoint: the routes of hello, order and report, and the sessions behind them.  It believes an
 * agent by its boot secret, boot id and key; what the answers mean is judged by the steps.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "controller/agent/endpoint.h"
#include "base/address.h"
#include "base/arena.h"
#include "base/crypto.h"
#include "base/httpd/httpd_impl.h"
#include "base/list.h"
#include "base/log.h"
#include "base/loop/loop.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/agent/boot_media.h"

#define POLL_MS 30000
/* An agent whose poll was ended asks again at once, and it reports every second while it works. */
#define SUSPECT_MS 10000

struct agent_endpoint {
	struct loop_group *group;
	struct map *seats; /* machine -> struct agent_session */
	struct boot_media *media;
	char *ca_pem;
	struct secret *boot_key;
};

struct agent_session {
	struct agent_endpoint *agents;
	char *machine, *uid, *endpoint, *media_base, *address, *gateway, *mac;
	struct arena *lists;
	struct strings agent_networks, agent_proxies, media_proxies;
	void (*changed)(void *arg);
	void *arg;

	bool open, watching; /* one of them, or neither */
	enum agent_await await;
	char *operation;
	int64_t boot, fence;
	char secret[65];
	struct boot_media_item *item;
	char *url;
	char bmc[ADDRESS_TEXT];	    /* that may fetch it; "": not known */
	bool by_machine;	    /* the machine may */
	char fetcher[ADDRESS_TEXT]; /* which address that is, by its first fetch; "": none yet */
	bool told_fetch;	    /* of a fetch that was refused */

	struct agent_session_info session; /* strings are in session_arena */
	struct arena *session_arena;
	struct crypto_key *key;
	char *from; /* the agent's address; NULL: not heard yet.  In session_arena */
	bool intruder, rebooted;
	bool dismissed; /* it was told to power off: it does not come again */
	int64_t suspect_at; /* loop_now(): another boot called, and the first was not heard since; 0: none */
	char refusal[96];

	int64_t seq;
	char *order_id, *order_text;
	bool handed;		/* the order went out to an agent, by this process */
	struct httpd_req *poll; /* the agent waits for an order */
	struct loop_timer poll_timer;
	struct arena *report_arena, *progress_arena;
	struct proto_report *report, *progress;
};

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

int agent_endpoint_configure(struct agent_endpoint *a, const struct agent_endpoint_spec *s,
			     struct err *e)
{
	if (s->image && boot_media_load(a->media, s->image, e) < 0)
		return -1;
	free(a->ca_pem);
	a->ca_pem = mem_strdup(s->ca_pem);
	secret_free(a->boot_key);
	a->boot_key = secret_copy(s->boot_key);
	return 0;
}

bool agent_endpoint_ready(const struct agent_endpoint *a)
{
	return a->boot_key != NULL;
}

/* --- seats ------------------------------------------------------------------------------------- */

/* Answer the agent that waits: with the order, or (NULL) that there is none. */
static void poll_end(struct agent_session *s, const char *order)
{
	struct httpd_req *q = s->poll;

	if (!q)
		return;
	s->poll = NULL;
	loop_timer_stop(&s->poll_timer);
	httpd_on_gone(q, NULL,
		      NULL); /* it may go while the answer is under way: none of ours any more */
	s->handed |= order != NULL;
	if (order)
		httpd_reply_json(q, 200, order);
	else
		httpd_reply(q, 204, NULL, NULL, 0);
}

static void on_poll_timeout(void *arg)
{
	poll_end(arg, NULL);
}

static void on_poll_gone(void *arg)
{
	struct agent_session *s = arg;

	s->poll = NULL;
	loop_timer_stop(&s->poll_timer);
}

static struct strings copy_of(struct arena *a, const struct strings *from)
{
	struct strings s = {.v = arena_calloc(a, from->n + 1, sizeof(*s.v)), .n = from->n};

	for (size_t i = 0; i < s.n; i++)
		s.v[i] = arena_strdup(a, from->v[i]);
	return s;
}

struct agent_session *agent_session_new(struct agent_endpoint *a,
					const struct agent_session_spec *sp)
{
	struct agent_session *s = mem_new(struct agent_session);

	s->agents = a;
	s->lists = arena_new();
	s->agent_networks = copy_of(s->lists, &sp->agent_networks);
	s->agent_proxies = copy_of(s->lists, &sp->agent_proxies);
	s->media_proxies = copy_of(s->lists, &sp->media_proxies);
	s->machine = mem_strdup(sp->machine);
	s->uid = mem_strdup(sp->uid);
	s->endpoint = mem_strdup(sp->endpoint);
	s->media_base = mem_strdup(sp->media_url);
	s->address = mem_strdup(sp->address);
	s->gateway = mem_strdup(sp->gateway);
	s->mac = mem_strdup(sp->mac);
	s->changed = sp->changed;
	s->arg = sp->arg;
	loop_timer_init(&s->poll_timer, a->group, on_poll_timeout, s);
	map_put(a->seats, s->machine, s);
	return s;
}

static void forget_orders(struct agent_session *s)
{
	free(s->order_id);
	free(s->order_text);
	s->order_id = s->order_text = NULL;
	arena_free(s->report_arena);
	arena_free(s->progress_arena);
	s->report_arena = s->progress_arena = NULL;
	s->report = s->progress = NULL;
}

static void forget_session(struct agent_session *s)
{
	arena_free(s->session_arena);
	s->session_arena = NULL;
	s->session = (struct agent_session_info){0};
	crypto_key_free(s->key);
	s->key = NULL;
	s->from = NULL;
	s->intruder = s->rebooted = s->dismissed = false;
	s->suspect_at = 0;
	s->refusal[0] = '\0';
}

static void close_media(struct agent_session *s)
{
	boot_media_close(s->item);
	s->item = NULL;
	free(s->url);
	s->url = NULL;
	s->by_machine = s->told_fetch = false;
	s->bmc[0] = s->fetcher[0] = '\0';
}

void agent_session_watch(struct agent_session *s)
{
	if (!s->open)
		return;
	s->open = false;
	s->watching = s->dismissed = true;
	poll_end(s, NULL);
	forget_orders(s);
	close_media(s);
}

void agent_session_close(struct agent_session *s)
{
	if (!s->open && !s->watching)
		return;
	s->open = s->watching = false;
	s->await = AGENT_NOT_YET;
	poll_end(s, NULL);
	forget_orders(s);
	forget_session(s);
	close_media(s);
	secret_wipe(s->secret, sizeof(s->secret));
	free(s->operation);
	s->operation = NULL;
}

void agent_session_free(struct agent_session *s)
{
	if (!s)
		return;
	agent_session_close(s);
	loop_timer_stop(&s->poll_timer);
	map_del(s->agents->seats, s->machine);
	free(s->machine);
	free(s->uid);
	free(s->endpoint);
	free(s->media_base);
	free(s->address);
	free(s->gateway);
	free(s->mac);
	arena_free(s->lists);
	free(s);
}

bool agent_session_is_open(const struct agent_session *s, const char *operation, int64_t boot)
{
	return s->open && str_eq(s->operation, operation) && s->boot == boot;
}

bool agent_session_is_watching(const struct agent_session *s, const char *operation, int64_t boot)
{
	return s->watching && str_eq(s->operation, operation) && s->boot == boot;
}

void agent_session_await(struct agent_session *s, enum agent_await what)
{
	s->await = what;
}

void agent_session_media_for(struct agent_session *s, const char *bmc, bool machine)
{
	(void)address_host(bmc, s->bmc);
	s->by_machine = machine;
}

/* The media token is derived, so that any leader serves the same address. */
static const char *media_token(const struct agent_session *s, const char *operation, int64_t boot,
			       char out[static 65])
{
	OWN(arena) a = arena_new();
	const char *text =
		arena_printf(a, "media\n%s\n%s\n%lld", s->uid, operation, (long long)boot);
	uint8_t mac[CRYPTO_SHA256];

	crypto_hmac_sha256(s->agents->boot_key, text, strlen(text), mac);
	str_hex(out, mac, sizeof(mac));
	return out;
}

static char *address_of(const struct agent_session *s, const char *token)
{
	return mem_printf("%s/boot/%s/drover-agent.iso", s->media_base, token);
}

bool agent_session_makes(const struct agent_session *s, const char *operation, int64_t boot,
			 const char *url)
{
	char token[65];
	char *address = address_of(s, media_token(s, operation, boot, token));
	bool same = str_eq(address, url);

	free(address);
	return same;
}

static bool among(const char *address, const struct strings *networks)
{
	return address_in(address, (const char *const *)networks->v, networks->n);
}

/* Its static address stands in spec with the prefix of its network. */
static bool is_static_address(const struct agent_session *s, const char *address)
{
	char own[ADDRESS_TEXT];

	str_format(own, sizeof(own), "%.*s", (int)strcspn(s->address, "/"), s->address);
	return address_same(own, address);
}

/* Whether the machine can be what calls from there, as far as that is known. */
static bool can_be_machine(const struct agent_session *s, const char *address)
{
	if (s->address)
		return is_static_address(s, address);
	return !s->agent_networks.n || among(address, &s->agent_networks);
}

/* Virtual media are fetched by the BMC.  Firmware that boots by HTTP may have another lease than the agent:
 * the first address is its own for this boot, and not more. */
static bool may_fetch(const char *address, void *arg)
{
	struct agent_session *s = arg;
	bool may =
		among(address, &s->media_proxies) || (s->bmc[0] && address_same(s->bmc, address));

	if (!may && s->by_machine && can_be_machine(s, address) &&
	    (!s->fetcher[0] || address_same(s->fetcher, address))) {
		may = true;
		str_copy(s->fetcher, sizeof(s->fetcher), address);
	}
	if (!may && !s->told_fetch) {
		s->told_fetch = true;
		log_warn("boot medium not served: its address was asked for by a stranger",
			 LOG_S("machine", s->machine), LOG_S("caller", address),
			 LOG_S("bmc", s->bmc));
	}
	return may;
}

void agent_session_open(struct agent_session *s, const char *operation, int64_t boot, int64_t fence)
{
	struct proto_boot block = {0};
	char token[65];
	struct err e;

	if (agent_session_is_open(s, operation, boot)) {
		s->fence = fence;
		return;
	}
	agent_session_close(s);
	s->open = true;
	s->operation = mem_strdup(operation);
	s->boot = boot;
	s->fence = fence;
	proto_boot_secret(s->agents->boot_key, s->uid, operation, boot, s->secret);
	block = (struct proto_boot){
		.endpoint = s->endpoint,
		.ca_pem = s->agents->ca_pem,
		.machine = s->machine,
		.operation = operation,
		.boot = boot,
		.secret = s->secret,
		.wall_time = loop_wall(loop_of(s->agents->group)),
		.address = s->address,
		.gateway = s->gateway,
		.mac = s->mac,
	};
	media_token(s, operation, boot, token);
	s->item =
		boot_media_open(s->agents->media, token, &block,
				&(struct boot_media_readers){.may_read = may_fetch, .arg = s}, &e);
	if (s->item)
		s->url = address_of(s, token);
	else
		str_copy(s->refusal, sizeof(s->refusal), e.text);
}

void agent_session_restore(struct agent_session *s, const char *boot_id, const char *public_key,
			   struct err *e)
{
	struct crypto_key *k;

	if (!s->open || s->key || !(k = crypto_key_from_public(public_key, e)))
		return;
	s->key = k;
	s->session_arena = arena_new();
	s->session.boot_id = arena_strdup(s->session_arena, boot_id);
	s->session.public_key = arena_strdup(s->session_arena, public_key);
	s->session.last_seen = loop_now(loop_of(s->agents->group));
}

const char *agent_session_media_url(struct agent_session *s)
{
	return s->open ? s->url : NULL;
}

const struct agent_session_info *agent_session_info(const struct agent_session *s)
{
	return &s->session;
}

void agent_session_knock(struct agent_session *s)
{
	poll_end(s, NULL);
}

const char *agent_session_refusal(const struct agent_session *s)
{
	return s->refusal;
}

bool agent_session_intruder(const struct agent_session *s)
{
	return s->intruder;
}

bool agent_session_rebooted(const struct agent_session *s)
{
	return s->rebooted;
}

void agent_session_order(struct agent_session *s, const struct proto_order *o)
{
	struct proto_order copy = *o;

	if (!s->open || str_eq(s->order_id, o->id))
		return;
	forget_orders(s);
	copy.seq = ++s->seq;
	copy.fence = s->fence;
	s->order_id = mem_strdup(o->id);
	s->order_text = proto_encode(proto_order_fields, &copy);
	s->handed = false;
	s->dismissed |= o->kind == PROTO_POWEROFF;
	poll_end(s, s->order_text);
}

const struct proto_report *agent_session_result(const struct agent_session *s, const char *id)
{
	return s->report && str_eq(s->report->id, id) ? s->report : NULL;
}

const struct proto_report *agent_session_progress(const struct agent_session *s, const char *id)
{
	return s->progress && str_eq(s->progress->id, id) ? s->progress : NULL;
}

/* --- the endpoint ------------------------------------------------------------------------------ */

static void refuse(struct agent_session *s, struct httpd_req *q, int status, const char *why)
{
	struct err e;

	if (s)
		str_copy(s->refusal, sizeof(s->refusal), why);
	(void)!err_set(&e, status == 409 ? ERR_CONFLICT : ERR_DENIED, status, "%s", why);
	httpd_reply_err(q, &e);
}

/* What the caller sent is no message: its fault, not a server's behind us. */
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

/* From its own address: the first that was heard of it, or one of those that stand for any machine. */
static bool is_from_agent(const struct agent_session *s, const char *address)
{
	return among(address, &s->agent_proxies) || (s->from && address_same(s->from, address));
}

/* The address that the agent called from first is its own for this boot. */
static void hold_address(struct agent_session *s, const char *address)
{
	if (!s->from && !among(address, &s->agent_proxies))
		s->from = arena_strdup(s->session_arena, address);
}

static void second_caller(struct agent_session *s, struct httpd_req *q, const char *why)
{
	log_warn("second caller with the boot secret", LOG_S("machine", s->machine),
		 LOG_S("caller", httpd_identity(q)->address), LOG_S("why", why));
	s->intruder = true;
	refuse(s, q, s->open ? 409 : 403, s->open ? why : "not expected");
	s->changed(s->arg);
}

/*
 * A key is known for this boot, and the caller shows another one or another boot id.
 *
 * A machine that crashed and booted its medium again looks the same as a thief, and sends no end of its
 * old connection.  What tells them apart is whether the first agent lives: its poll is ended, so that a
 * living one asks again at once (caller()), and only after SUSPECT_MS of silence it is a reboot.
 */
static void other_hello(struct agent_session *s, struct httpd_req *q, const char *boot_id)
{
	int64_t now = loop_now(loop_of(s->agents->group));

	if (s->dismissed) {
		second_caller(s, q, "a caller after the agent was told to go");
		return;
	}
	if (str_eq(s->session.boot_id, boot_id)) {
		second_caller(s, q, "another key for this boot");
		return;
	}
	if (!s->suspect_at)
		s->suspect_at = now;
	else if (now - s->suspect_at >= SUSPECT_MS)
		s->rebooted = true;
	poll_end(s, NULL);
	refuse(s, q, 409,
	       s->intruder ? "another boot while the first one lives" : "the machine rebooted");
	s->changed(s->arg);
}

/* The first hello of this boot may be answered.  False: it was refused. */
static bool may_begin(struct agent_session *s, struct httpd_req *q)
{
	const char *address = httpd_identity(q)->address;
	char why[sizeof(s->refusal)];

	if (s->await == AGENT_NOT_YET) {
		second_caller(s, q, "a caller before the machine was switched on");
		return false;
	}
	if (s->await == AGENT_STARTING) {
		refuse(NULL, q, 403, "not expected");
		return false;
	}
	if (among(address, &s->agent_proxies) || can_be_machine(s, address))
		return true;
	str_format(why, sizeof(why), "called from %.*s, which is not the machine's address",
		   ADDRESS_TEXT, address);
	refuse(NULL, q, 403, "not expected");
	if (!str_eq(why, s->refusal)) {
		str_copy(s->refusal, sizeof(s->refusal), why);
		s->changed(s->arg);
	}
	return false;
}

/* Signed by the key that it names, and with this machine's boot secret.  NULL: it was refused. */
static struct agent_session *shown_secret(struct agent_endpoint *a, struct httpd_req *q,
					  const struct proto_hello *h, struct crypto_key **key)
{
	struct agent_session *s = map_get(a->seats, h->machine);
	struct err e;
	size_t len;
	const char *body = httpd_body(q, &len);

	/* One answer for "unknown", "closed" and "wrong secret": a caller learns nothing. */
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
	s->refusal[0] = '\0';
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
	} else if (!s->open) { /* the agent that was told to go: it powers off by itself */
		refuse(NULL, q, 403, "not expected");
	} else if (s->from && !is_from_agent(s, httpd_identity(q)->address)) {
		refuse(s, q, 403, "its agent calls from another address");
	} else if (s->session.public_key || may_begin(s, q)) {
		remember(s, &h, &key);
		welcome(s, q);
	}
	crypto_key_free(key);
}

/* The session of a signed request, or NULL after it was answered. */
static struct agent_session *caller(struct agent_endpoint *a, struct httpd_req *q,
				    const char *method, const char *target)
{
	const char *who = httpd_header(q, PROTO_HEADER_AGENT);
	const char *slash = who ? strrchr(who, '/') : NULL, *address = httpd_identity(q)->address;
	OWN(arena) tmp = arena_new();
	struct agent_session *s = NULL;
	size_t len;
	const char *body = httpd_body(q, &len);

	if (slash)
		s = map_get(a->seats, arena_strndup(tmp, who, (size_t)(slash - who)));
	if (!s || !s->open || !s->key || !str_eq(slash + 1, s->session.boot_id) ||
	    (s->from && !is_from_agent(s, address)) ||
	    !proto_signed(s->key, method, target, body, len,
			  httpd_header(q, PROTO_HEADER_SIGNATURE))) {
		refuse(NULL, q, 401, "no such session");
		return NULL;
	}
	hold_address(s, address); /* of a session that the journal knows */
	s->session.last_seen = loop_now(loop_of(a->group));
	s->session.heard = true;
	if (s->suspect_at &&
	    !s->intruder) { /* the first one lives, and another boot called: two hold the secret */
		log_warn("second caller with the boot secret", LOG_S("machine", s->machine),
			 LOG_S("why", "another boot while the first one lives"));
		s->intruder = true;
		s->rebooted = false;
		s->changed(s->arg);
	}
	return s;
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
	poll_end(s, NULL); /* the older one lost its agent */
	/* seq counts in this process alone: an agent that has seen more, or as much of what was never
	 * handed out, has seen another leader's. */
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
		poll_end(s, s->order_text);
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
	if (!str_eq(r->id, s->order_id)) { /* of an order that was replaced: heard, of no use */
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
	httpd_route(d, "POST", PROTO_HELLO_PATH, PROTO_MAX_MESSAGE, on_hello, a);
	httpd_route(d, "GET", PROTO_ORDER_PATH, 0, on_order, a);
	httpd_route(d, "POST", PROTO_REPORT_PATH, PROTO_MAX_MESSAGE, on_report, a);
}

void agent_endpoint_media_routes(struct agent_endpoint *a, struct httpd *d)
{
	boot_media_routes(a->media, d);
}
