/*
 * session: state of one machine while an agent may call or has called: the agent's orders, and who
 * may fetch the machine's boot medium. endpoint.c authenticates callers.
 * Tests: tests/unit/controller/agent/test_endpoint.c, tests/unit/controller/agent/test_callers.c
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "controller/agent/endpoint_impl.h"
#include "base/crypto.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"

/* --- sessions --------------------------------------------------------------------------------- */

void agent_session_answer(struct agent_session *s, const char *order)
{
	struct httpd_req *q = s->poll;

	if (!q)
		return;
	s->poll = NULL;
	loop_timer_stop(&s->poll_timer);
	httpd_on_gone(q, NULL,
		      /* no callback, because the session may be freed before the reply is sent */
		      NULL);
	s->handed |= order != NULL;
	if (order)
		httpd_reply_json(q, 200, order);
	else
		httpd_reply(q, 204, NULL, NULL, 0);
}

static void on_poll_timeout(void *arg)
{
	agent_session_answer(arg, NULL);
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
	s->https_base = mem_strdup(sp->https_media_url);
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
	s->intruder = s->rebooted = s->dismissed = s->other_protocol = false;
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
	agent_session_answer(s, NULL);
	forget_orders(s);
	close_media(s);
}

void agent_session_close(struct agent_session *s)
{
	if (!s->open && !s->watching)
		return;
	s->open = s->watching = false;
	s->await = AGENT_NOT_YET;
	agent_session_answer(s, NULL);
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
	free(s->https_base);
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

/* Writes the token of the media URL to out and returns out. The token is derived from the boot key,
 * so that any leader serves the same URL. */
static const char *media_token(const struct agent_session *s, const char *operation, int64_t boot,
			       char out[static 65])
{
	OWN(arena) a = arena_new();
	const char *text =
		arena_printf(a, "media\n%s\n%s\n%lld", s->uid, operation, (long long)boot);
	uint8_t mac[CRYPTO_SHA256];

	/* mutant: media-token */
	crypto_hmac_sha256(s->agents->boot_key, text, strlen(text), mac);
	str_hex(out, mac, sizeof(mac));
	return out;
}

static bool is_address(const char *base, const char *token, const char *url)
{
	char *address = base ? mem_printf("%s/boot/%s/drover-agent.iso", base, token) : NULL;
	bool same = address && str_eq(address, url);

	free(address);
	return same;
}

static void offer(struct agent_session *s, const char *base)
{
	char token[65];

	free(s->url);
	s->url = mem_printf("%s/boot/%s/drover-agent.iso", base,
			    media_token(s, s->operation, s->boot, token));
}

void agent_session_media_over(struct agent_session *s, bool https)
{
	if (!s->item)
		return;
	offer(s, https && s->https_base ? s->https_base : s->media_base);
	boot_media_tls_only(s->item, str_starts(s->url, "https://"));
}

bool agent_session_makes(const struct agent_session *s, const char *operation, int64_t boot,
			 const char *url)
{
	char token[65];

	(void)media_token(s, operation, boot, token);
	return is_address(s->media_base, token, url) || is_address(s->https_base, token, url);
}

bool agent_among(const char *address, const struct strings *networks)
{
	return address_in(address, (const char *const *)networks->v, networks->n);
}

/* True if `address` is the machine's static address. The static address in the Provider is written
 * with a prefix length ("/24"), which is ignored. */
static bool is_static_address(const struct agent_session *s, const char *address)
{
	char own[ADDRESS_TEXT];

	str_format(own, sizeof(own), "%.*s", (int)strcspn(s->address, "/"), s->address);
	return address_same(own, address);
}

bool agent_session_can_be_at(const struct agent_session *s, const char *address)
{
	if (s->address)
		return is_static_address(s, address);
	return !s->agent_networks.n || agent_among(address, &s->agent_networks);
}

/* Decides who may fetch the boot medium: the BMC for virtual media, the machine itself for a boot
 * over HTTP, and configured proxies. Firmware that boots over HTTP may have another DHCP lease than
 * the agent. Therefore the first machine address that fetches the medium is bound for this boot,
 * separately from the address of the agent. */
static bool may_fetch(const char *address, void *arg)
{
	struct agent_session *s = arg;
	bool may = agent_among(address, &s->media_proxies) ||
		   (s->bmc[0] && address_same(s->bmc, address));

	if (!may && s->by_machine && agent_session_can_be_at(s, address) &&
	    (!s->fetcher[0] || address_same(s->fetcher, address))) {
		may = true;
		str_copy(s->fetcher, sizeof(s->fetcher), address);
	}
	if (!may && !s->told_fetch) {
		s->told_fetch = true;
		log_warn("boot medium refused: the caller is neither the BMC, the machine "
			 "nor a proxy",
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
	if (s->item) {
		offer(s, s->media_base);
		boot_media_tls_only(s->item, !s->https_base && str_starts(s->url, "https://"));
	} else {
		str_copy(s->refusal, sizeof(s->refusal), e.text);
	}
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

void agent_session_check_alive(struct agent_session *s)
{
	agent_session_answer(s, NULL);
}

const char *agent_session_refusal(const struct agent_session *s)
{
	return s->refusal;
}

bool agent_session_has_other_protocol(const struct agent_session *s)
{
	return s->other_protocol;
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
	agent_session_answer(s, s->order_text);
}

const struct proto_report *agent_session_result(const struct agent_session *s, const char *id)
{
	return s->report && str_eq(s->report->id, id) ? s->report : NULL;
}

const struct proto_report *agent_session_progress(const struct agent_session *s, const char *id)
{
	return s->progress && str_eq(s->progress->id, id) ? s->progress : NULL;
}
