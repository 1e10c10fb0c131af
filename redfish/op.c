/*
 * op: the queue of operations, their deadlines and their ends.
 * Tests: tests/unit/redfish/test_redfish.c
 */
#include "redfish/internal.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/quoted.h"

/*
 * Circuit breaker: after BREAKER_FAILURES consecutive operations without a usable reply the client
 * pauses, and every call fails at once. After the pause one call is sent; its result ends or
 * prolongs the pause.
 */
#define BREAKER_FAILURES 3

void rf_request_done(struct rf_request *q)
{
	free(q->path);
	free(q->if_match);
	if (q->body && q->secret_body)
		secret_wipe(q->body, strlen(q->body));
	free(q->body);
	*q = (struct rf_request){0};
}

void rf_abort(struct redfish *r)
{
	http_cancel(r->http);
	r->http = NULL;
	rf_request_done(&r->req);
	rf_request_done(&r->login);
}

bool rf_is_optional(const struct redfish *r)
{
	return r->op && r->op->kind == RF_DRIVES && r->drives;
}

void rf_op_free(struct rf_op *op)
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
	rf_op_free(op);
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

void rf_pump(void *arg)
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
	r->begin(r);
}

struct rf_op *rf_ask(struct redfish *r, enum rf_kind kind, void *arg)
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
