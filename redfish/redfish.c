#include "redfish/internal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/mem.h"
#include "base/str.h"
#include "base/quoted.h"
#include "redfish/link.h"

#define CALL_MS 15000
#define BREAKER_BASE_MS 5000
#define BREAKER_CAP_MS 60000
#define SERVICE_ROOT "/redfish/v1/" /* The only path that DSP0266 fixes. */

static void forget_session(struct redfish *r)
{
	secret_free(r->token);
	r->token = NULL;
	rf_set(&r->session_uri, NULL);
	rf_set(&r->stale_session, NULL);
}

/* Returns (malloc'd) the path with each run of slashes replaced by one slash. */
static char *squeezed(const char *path)
{
	char *out = mem_strdup(path), *at = out;

	for (const char *s = path; *s; s++)
		if (*s != '/' || s[1] != '/')
			*at++ = *s;
	*at = '\0';
	return out;
}

static bool is_root(const char *path)
{
	return !*path || str_eq(path, "/") || str_eq(path, SERVICE_ROOT) ||
	       str_eq(path, "/redfish/v1");
}

/* Begins the operation's own work. */
static void work(struct redfish *r, const struct rf_reply *p)
{
	(void)p;
	switch (r->op->kind) {
	case RF_READ_SYSTEM:
		rf_system_read(r);
		break;
	case RF_POWER:
		rf_system_power(r);
		break;
	case RF_BOOT:
		rf_boot(r);
		break;
	case RF_READ_MEDIA:
		rf_media_read(r);
		break;
	case RF_INSERT:
		rf_media_insert(r);
		break;
	case RF_EJECT:
		rf_media_eject(r);
		break;
	case RF_DRIVES:
		rf_drives_read(r);
		break;
	case RF_ABILITIES:
		rf_abilities_read(r);
		break;
	case RF_LOG_OUT:
		rf_log_out(r);
		break;
	}
}

static void begin(struct redfish *r)
{
	if (r->op->kind == RF_LOG_OUT && !r->token && !r->old_session)
		rf_end(r, NULL);
	else
		rf_ready(r, work);
}

struct redfish *redfish_new(struct loop_group *g, struct http *h, const struct redfish_spec *s,
			    struct err *e)
{
	struct http_peer_spec peer = {
		.ca_pem = s->ca_pem,
		.pin_sha256 = s->pin_sha256,
		.learn_pin = s->learn_pin,
		.max_in_flight = 1,
		.plain_ok = s->plain_ok,
	};
	struct redfish *r;
	const char *path;
	char *origin = link_origin(s->system_url, &path, e);

	if (!origin)
		return NULL;
	if (!s->plain_ok && strncasecmp(origin, "https:", 6) != 0) {
		err_note(e, ERR_INVALID, REDFISH_ADDRESS,
			 "want a BMC address with https://, got %.80s: no "
			 "password is sent in the clear",
			 s->system_url);
		free(origin);
		return NULL;
	}
	peer.base_url = origin;
	r = mem_new(struct redfish);
	r->origin = origin;
	list_init(&r->queue);
	r->group = g;
	r->no_slot_until = r->forms_until = r->not_before = INT64_MIN;
	r->latency_us = -1;
	r->pause = (struct backoff){.base_ms = BREAKER_BASE_MS, .cap_ms = BREAKER_CAP_MS};
	r->call_ms = s->call_ms ? s->call_ms : CALL_MS;
	r->may_act = s->may_act;
	r->fits = s->fits;
	r->user = mem_strdup(s->user);
	r->password = secret_copy(s->password);
	r->old_session = str_empty(s->old_session) ? NULL : mem_strdup(s->old_session);
	r->system_fixed = squeezed(path);
	if (is_root(r->system_fixed))
		rf_set(&r->system_fixed, NULL);
	loop_defer_init(&r->pump, g, rf_pump, r);
	r->begin = begin;
	r->on_refused = rf_login_again;
	r->on_accepted = rf_task_follow;
	r->peer = http_peer_new(h, &peer, e);
	if (!r->peer) {
		redfish_free(r);
		return NULL;
	}
	return r;
}

void redfish_free(struct redfish *r)
{
	if (!r)
		return;
	loop_defer_cancel(&r->pump);
	rf_abort(r);
	if (r->op)
		rf_op_free(r->op);
	list_for_each (op, &r->queue, struct rf_op, link) {
		list_remove(&op->link);
		rf_op_free(op);
	}
	http_peer_free(r->peer);
	rf_forget(r);
	forget_session(r);
	free(r->old_session);
	free(r->must_change);
	free(r->system_fixed);
	free(r->origin);
	free(r->user);
	secret_free(r->password);
	free(r);
}

void redfish_read_system(struct redfish *r,
			 void (*done)(const struct redfish_system *s, const struct err *e,
				      void *arg),
			 void *arg)
{
	rf_ask(r, RF_READ_SYSTEM, arg)->done.seen = done;
}

void redfish_power(struct redfish *r, bool on, void (*done)(const struct err *e, void *arg),
		   void *arg)
{
	struct rf_op *op = rf_ask(r, RF_POWER, arg);

	op->done.plain = done;
	op->on = on;
}

void redfish_boot(struct redfish *r, enum redfish_boot target, const char *http_uri,
		  void (*done)(const struct err *e, void *arg), void *arg)
{
	struct rf_op *op = rf_ask(r, RF_BOOT, arg);

	op->done.plain = done;
	op->boot = target;
	op->url = mem_strdup(http_uri);
}

void redfish_read_media(struct redfish *r,
			void (*done)(const struct redfish_media *m, const struct err *e, void *arg),
			void *arg)
{
	rf_ask(r, RF_READ_MEDIA, arg)->done.media = done;
}

void redfish_insert(struct redfish *r, const char *url, const char *ca_pem,
		    void (*done)(const struct err *e, void *arg), void *arg)
{
	struct rf_op *op = rf_ask(r, RF_INSERT, arg);

	op->done.plain = done;
	op->url = mem_strdup(url);
	op->ca_pem = mem_strdup(ca_pem);
}

void redfish_eject(struct redfish *r, void (*done)(const struct err *e, void *arg), void *arg)
{
	rf_ask(r, RF_EJECT, arg)->done.plain = done;
}

void redfish_read_drives(struct redfish *r, const char *unless_firmware,
			 void (*done)(const struct redfish_drives *d, const struct err *e,
				      void *arg),
			 void *arg)
{
	struct rf_op *op = rf_ask(r, RF_DRIVES, arg);

	op->done.drives = done;
	op->unless_firmware = mem_strdup(unless_firmware);
}

void redfish_read_abilities(struct redfish *r,
			    void (*done)(const struct redfish_abilities *a, const struct err *e,
					 void *arg),
			    void *arg)
{
	rf_ask(r, RF_ABILITIES, arg)->done.able = done;
}

void redfish_log_out(struct redfish *r, void (*done)(const struct err *e, void *arg), void *arg)
{
	rf_ask(r, RF_LOG_OUT, arg)->done.plain = done;
}

const char *redfish_session_uri(const struct redfish *r)
{
	return r->session_uri;
}

bool redfish_session_is_only(const struct redfish *r)
{
	return !r->old_session && !r->stale_session;
}

void redfish_inherit(struct redfish *r, const char *session)
{
	if (!r->stale_session)
		r->stale_session = mem_strdup(session);
}

const char *redfish_address(const struct redfish *r)
{
	return http_peer_reached(r->peer);
}

const char *redfish_learned_pin(const struct redfish *r)
{
	return http_peer_learned(r->peer);
}
