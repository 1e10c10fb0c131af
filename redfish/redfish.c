#include "redfish/internal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/mem.h"
#include "base/str.h"
#include "base/quoted.h"
#include "redfish/link.h"

#define CALL_MS 15000
/*
 * Circuit breaker: after BREAKER_FAILURES consecutive operations without a usable reply the client
 * pauses, and every call fails at once. After the pause one call is sent; its result ends or
 * prolongs the pause.
 */
#define BREAKER_FAILURES 3
#define BREAKER_BASE_MS 5000
#define BREAKER_CAP_MS 60000
#define SERVICE_ROOT "/redfish/v1/" /* The only path that DSP0266 fixes. */

static void pump(void *arg);

void rf_set(char **slot, char *text)
{
	free(*slot);
	*slot = text;
}

static void forget_candidates(struct redfish *r)
{
	for (size_t i = 0; i < r->ncandidates; i++)
		free(r->candidates[i]);
	r->ncandidates = r->next_candidate = 0;
}

void rf_forget(struct redfish *r)
{
	r->root_known = false;
	rf_set(&r->sessions_path, NULL);
	rf_set(&r->service_path, NULL);
	rf_set(&r->systems_path, NULL);
	rf_set(&r->managers_path, NULL);
	rf_set(&r->system_path, NULL);
	rf_set(&r->reset_target, NULL);
	rf_set(&r->reset_info, NULL);
	rf_set(&r->settings, NULL);
	rf_set(&r->no_overrides, NULL);
	r->has_overrides = false;
	rf_set(&r->slot, NULL);
	rf_set(&r->media, NULL);
	rf_set(&r->media_enable, NULL);
	rf_set(&r->attributes, NULL);
	r->no_attributes = false;
	r->cd_first = RF_UNKNOWN;
	for (size_t i = 0; i < sizeof(r->managers) / sizeof(*r->managers); i++)
		rf_set(&r->managers[i], NULL);
	json_decref(r->root);
	r->root = NULL;
	r->reset_types = r->quirks = 0;
	r->quirk_rows = 0;
	rf_set(&r->vendor, NULL);
	rf_set(&r->product, NULL);
	rf_set(&r->firmware, NULL);
	r->reset_asked = false;
	memset(r->tag_form, 0, sizeof(r->tag_form));
	r->no_slot_until = r->forms_until = INT64_MIN;
	r->form = 0;
	forget_candidates(r);
	rf_drives_free(r->drives);
	r->drives = NULL;
	rf_scan_free(r->scan);
	r->scan = NULL;
}

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
	loop_defer_init(&r->pump, g, pump, r);
	r->peer = http_peer_new(h, &peer, e);
	if (!r->peer) {
		redfish_free(r);
		return NULL;
	}
	return r;
}

static void op_free(struct rf_op *op)
{
	loop_timer_stop(&op->limit);
	loop_timer_stop(&op->wait);
	free(op->task.path);
	free(op->url);
	free(op->ca_pem);
	free(op->certificates);
	free(op->unless_firmware);
	free(op->system_etag);
	free(op->target);
	free(op->tag);
	json_decref(op->system);
	json_decref(op->pending);
	json_decref(op->slot);
	rf_scan_free(op->scan);
	rf_drives_free(op->listed);
	while (op->nbad > 0)
		free(op->bad_slots[--op->nbad]);
	free(op);
}

void redfish_free(struct redfish *r)
{
	if (!r)
		return;
	loop_defer_cancel(&r->pump);
	rf_abort(r);
	if (r->op)
		op_free(r->op);
	list_for_each (op, &r->queue, struct rf_op, link) {
		list_remove(&op->link);
		op_free(op);
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

/* Updates the circuit breaker from the result of the operation. */
static void judge(struct redfish *r, const struct err *e)
{
	int64_t now = loop_now(loop_of(r->group)), pause = 0;
	bool silent = e && r->silent && (e->kind == ERR_TIMEOUT || e->kind == ERR_UNAVAILABLE);

	if (!silent) {
		r->failures = 0;
		backoff_reset(&r->pause);
	} else if (++r->failures >= BREAKER_FAILURES) {
		pause = backoff_next(&r->pause, loop_random(loop_of(r->group)));
	}
	if (e && (e->code == 429 || (e->code == 503 && !rf_is_optional(r))) &&
	    (int64_t)e->retry_after_ms > pause)
		pause = e->retry_after_ms;
	r->not_before = pause > 0 ? now + pause : INT64_MIN;
	r->left_as = e && e->kind == ERR_CAPACITY ? ERR_CAPACITY : ERR_UNAVAILABLE;
	r->left_code = e ? e->code : 0;
}

static bool is_left_alone(const struct redfish *r, struct err *e)
{
	int64_t left = r->not_before == INT64_MIN ? 0 : r->not_before - loop_now(loop_of(r->group));

	if (left <= 0)
		return false;
	err_note(e, r->left_as, r->left_code,
		 "drover sends this BMC no request for another %lld s%s",
		 (long long)(left + 999) / 1000,
		 r->failures >= BREAKER_FAILURES ? ": it repeatedly did not answer"
						 : ", as the BMC asked");
	e->scope = ERR_MACHINE;
	e->retry_after_ms = (uint32_t)left;
	return true;
}

/* Ends the operation: removes it from every list, calls its owner's done() (which may free the
 * client), then frees the operation. */
static void finish(struct rf_op *op, const void *result, const struct err *e)
{
	struct redfish *r = op->r;
	struct err told;

	if (e) {
		/* A BMC may quote what was sent to it: remove password and token from the error. */
		told = *e;
		quoted_redact_err(&told, r->password, r->token);
		e = &told;
	}
	list_remove(&op->link);
	loop_timer_stop(&op->limit);
	if (r->op == op) {
		rf_abort(r);
		judge(r, e);
		r->op = NULL;
		if (!list_empty(&r->queue))
			loop_defer(&r->pump);
	}
	switch (op->kind) {
	case RF_READ_SYSTEM:
		op->done.seen(result, e, op->arg);
		break;
	case RF_READ_MEDIA:
		op->done.media(result, e, op->arg);
		break;
	case RF_DRIVES:
		op->done.drives(result, e, op->arg);
		break;
	case RF_ABILITIES:
		op->done.able(result, e, op->arg);
		break;
	case RF_POWER:
	case RF_BOOT:
	case RF_INSERT:
	case RF_EJECT:
	case RF_LOG_OUT:
		op->done.plain(e, op->arg);
		break;
	}
	op_free(op);
}

void rf_end(struct redfish *r, const void *result)
{
	finish(r->op, result, NULL);
}

void rf_fail(struct redfish *r, const struct err *e)
{
	struct err copy = *e;

	/* Forget the facts, so that the next operation reads them again: a missing or malformed
	 * resource means that the BMC was changed or updated. */
	if (copy.kind == ERR_NOT_FOUND || copy.kind == ERR_PROTOCOL)
		rf_forget(r);
	finish(r->op, NULL, &copy);
}

void rf_fail_as(struct redfish *r, enum err_kind kind, const char *text)
{
	struct err e;

	err_note(&e, kind, r->refused ? RF_REFUSED : 0, "%s", text);
	e.scope = ERR_MACHINE;
	rf_fail(r, &e);
}

bool rf_changes(const struct rf_op *op)
{
	return op->kind == RF_POWER || op->kind == RF_BOOT || op->kind == RF_INSERT ||
	       op->kind == RF_EJECT;
}

static void on_limit(void *arg)
{
	struct rf_op *op = arg;
	struct redfish *r = op->r;
	struct err e;

	err_note(&e, ERR_TIMEOUT, 0, "the BMC took longer than %d s", REDFISH_OP_MS / 1000);
	e.scope = ERR_MACHINE;
	if (r->op == op) {
		r->silent = r->silent || r->http;
		rf_scan_keep(r);
	}
	finish(op, NULL, &e);
}

static void on_waited(void *arg)
{
	struct rf_op *op = arg;

	op->waited(op->r);
}

void rf_wait(struct redfish *r, int64_t ms, void (*then)(struct redfish *r))
{
	r->op->waited = then;
	loop_timer_start(&r->op->wait, ms);
}

static void begin(struct redfish *r, const struct rf_reply *p)
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

static void pump(void *arg)
{
	struct redfish *r = arg;
	struct rf_op *op;
	struct err e;

	if (r->op || list_empty(&r->queue))
		return;
	op = list_first(&r->queue, struct rf_op, link);
	list_remove(&op->link);
	if (is_left_alone(r, &e)) {
		if (!list_empty(&r->queue))
			loop_defer(&r->pump);
		finish(op, NULL, &e);
		return;
	}
	r->op = op;
	r->silent = false;
	if (op->kind == RF_LOG_OUT && !r->token && !r->old_session)
		rf_end(r, NULL);
	else
		rf_ready(r, begin);
}

static struct rf_op *ask(struct redfish *r, enum rf_kind kind, void *arg)
{
	struct rf_op *op = mem_new(struct rf_op);

	op->r = r;
	op->kind = kind;
	op->arg = arg;
	loop_timer_init(&op->limit, r->group, on_limit, op);
	loop_timer_start(&op->limit, REDFISH_OP_MS);
	op->ends_at = loop_now(loop_of(r->group)) + REDFISH_OP_MS;
	loop_timer_init(&op->wait, r->group, on_waited, op);
	list_push_back(&r->queue, &op->link);
	loop_defer(&r->pump);
	return op;
}

void redfish_read_system(struct redfish *r,
			 void (*done)(const struct redfish_system *s, const struct err *e,
				      void *arg),
			 void *arg)
{
	ask(r, RF_READ_SYSTEM, arg)->done.seen = done;
}

void redfish_power(struct redfish *r, bool on, void (*done)(const struct err *e, void *arg),
		   void *arg)
{
	struct rf_op *op = ask(r, RF_POWER, arg);

	op->done.plain = done;
	op->on = on;
}

void redfish_boot(struct redfish *r, enum redfish_boot target, const char *http_uri,
		  void (*done)(const struct err *e, void *arg), void *arg)
{
	struct rf_op *op = ask(r, RF_BOOT, arg);

	op->done.plain = done;
	op->boot = target;
	op->url = mem_strdup(http_uri);
}

void redfish_read_media(struct redfish *r,
			void (*done)(const struct redfish_media *m, const struct err *e, void *arg),
			void *arg)
{
	ask(r, RF_READ_MEDIA, arg)->done.media = done;
}

void redfish_insert(struct redfish *r, const char *url, const char *ca_pem,
		    void (*done)(const struct err *e, void *arg), void *arg)
{
	struct rf_op *op = ask(r, RF_INSERT, arg);

	op->done.plain = done;
	op->url = mem_strdup(url);
	op->ca_pem = mem_strdup(ca_pem);
}

void redfish_eject(struct redfish *r, void (*done)(const struct err *e, void *arg), void *arg)
{
	ask(r, RF_EJECT, arg)->done.plain = done;
}

void redfish_read_drives(struct redfish *r, const char *unless_firmware,
			 void (*done)(const struct redfish_drives *d, const struct err *e,
				      void *arg),
			 void *arg)
{
	struct rf_op *op = ask(r, RF_DRIVES, arg);

	op->done.drives = done;
	op->unless_firmware = mem_strdup(unless_firmware);
}

void redfish_read_abilities(struct redfish *r,
			    void (*done)(const struct redfish_abilities *a, const struct err *e,
					 void *arg),
			    void *arg)
{
	ask(r, RF_ABILITIES, arg)->done.able = done;
}

void redfish_log_out(struct redfish *r, void (*done)(const struct err *e, void *arg), void *arg)
{
	ask(r, RF_LOG_OUT, arg)->done.plain = done;
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
