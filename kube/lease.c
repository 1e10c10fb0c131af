#include "kube/lease.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "kube/call.h"

/*
 * Acquires and renews the Lease. If the renewal that began at t is the last one that succeeds:
 *
 *   t + 2 s    the next renewal begins ...
 *   t + 9.5 s  no renewal has succeeded: on_stopped(), nothing may be written any more
 *   t + 15 s   the earliest moment at which another replica may acquire the lease: it counts
 *              15 s from when it saw the renewal, which is later than t
 *
 * Every write contains the resourceVersion that was read, so of two candidates only one can
 * succeed. After any failure the lease is read again first, because a write whose reply was lost
 * may have taken effect.
 */
#define DURATION_S 15
/* Pause between renewals in ms; up to RETRY_SPREAD_MS are added at random, so it is 2 s on
 * average. */
#define RETRY_MS 1500
#define RETRY_SPREAD_MS 1000
#define STOP_MS 9500
#define CALL_MS 3000
#define MAX_DURATION_S 3600

struct kube_lease {
	struct loop_group *group;
	/* Copy of the caller's spec. Do not use its strings; ns, name and identity below are
	 * copies. */
	struct kube_lease_spec spec;
	char *ns, *name, *identity;
	/* next: timer of the next try; stop: timer at whose end the holder must stop writing. */
	struct loop_timer next, stop;
	struct loop_defer released;
	struct kube_call *call;
	int64_t call_began;

	bool held, releasing;
	/* loop_now() at the start of the last successful renewal. */
	int64_t renewed_at;

	/* resourceVersion of the lease as last read; NULL: the lease must be read before the next
	 * write. */
	char *rv;
	char *seen_rv, *holder;
	/* metadata.annotations as last read; NULL: none. */
	json_t *annotations;
	int64_t transitions, duration_ms;
	/* loop_now() at which seen_rv was first seen. */
	int64_t changed_at;

	void (*on_released)(void *arg);
	void *released_arg;
};

static int64_t now(const struct kube_lease *l)
{
	return loop_now(loop_of(l->group));
}

static void set(char **p, const char *s)
{
	char *copy = mem_strdup(s);

	free(*p);
	*p = copy;
}

static int64_t stop_ms(const struct kube_lease *l)
{
	return (int64_t)STOP_MS * l->spec.slower;
}

static void again(struct kube_lease *l)
{
	int64_t ms = RETRY_MS + (int64_t)loop_random_below(loop_of(l->group), RETRY_SPREAD_MS + 1);

	loop_timer_start(&l->next, ms * l->spec.slower);
}

/* Ends this replica's term as holder and calls on_stopped(), which may free l. */
static void lost(struct kube_lease *l)
{
	l->held = false;
	loop_timer_stop(&l->stop);
	if (l->spec.on_stopped)
		l->spec.on_stopped(l->spec.arg);
}

/* Records what the server returned as the current lease. */
static void observe(struct kube_lease *l, const json_t *lease)
{
	const char *rv = str_or(json_str_at(lease, "metadata", "resourceVersion"), "");
	int64_t seconds = json_int_at(lease, "spec", "leaseDurationSeconds");

	if (!str_eq(rv, l->seen_rv)) {
		set(&l->seen_rv, rv);
		l->changed_at = now(l);
	}
	set(&l->rv, *rv ? rv : NULL);
	set(&l->holder, str_or(json_str_at(lease, "spec", "holderIdentity"), ""));
	json_decref(l->annotations);
	l->annotations = json_incref(json_at(lease, "metadata", "annotations"));
	l->transitions = json_int_at(lease, "spec", "leaseTransitions");
	if (seconds < 1 || seconds > MAX_DURATION_S)
		seconds = DURATION_S * l->spec.slower;
	l->duration_ms = seconds * 1000;
}

static void send_call(struct kube_lease *l, const char *method, bool collection, const json_t *body,
		      kube_done *done)
{
	struct err e;
	char *path = kube_path(&KUBE_LEASES, l->ns, collection ? NULL : l->name, NULL, &e);

	l->call = kube_call_json(l->spec.client, method, path, &e, done, l);
	kube_call_body(l->call, body,
		       collection ? "application/json" : "application/merge-patch+json");
	l->call->urgent = true; /* The lease must not wait for the rate limit. */
	l->call->counted = false;
	l->call->timeout_ms = CALL_MS * l->spec.slower;
	l->call_began = now(l);
	kube_call_start(l->call);
}

/* --- hold it ---------------------------------------------------------------------------------- */

static void on_written(json_t *lease, const struct err *e, void *arg)
{
	struct kube_lease *l = arg;
	bool fresh = !l->held;

	l->call = NULL;
	again(l);
	if (e) {
		set(&l->rv, NULL);
		return;
	}
	observe(l, lease);
	/* The compare-and-swap on resourceVersion does not prove that this replica is the holder:
	 * check the holder in the reply. A reply after the stop time is ignored too. */
	if (!str_eq(l->holder, l->identity) || now(l) - l->call_began >= stop_ms(l))
		return;
	l->held = true;
	l->renewed_at = l->call_began;
	loop_timer_start(&l->stop, l->renewed_at + stop_ms(l) - now(l));
	if (fresh && l->spec.on_started)
		l->spec.on_started(l->transitions, l->spec.arg);
}

/* Acquires the lease, or renews it if it is held. */
static void write_lease(struct kube_lease *l, bool create)
{
	char text[STR_TIME_SIZE];
	const char *time = str_time_micro(text, loop_wall(loop_of(l->group)));
	OWN_JSON body = json_pack("{s:{}, s:{s:s, s:i, s:s}}", "metadata", "spec", "holderIdentity",
				  l->identity, "leaseDurationSeconds",
				  (int)(DURATION_S * l->spec.slower), "renewTime", time);
	json_t *meta = json_object_get(body, "metadata"), *spec = json_object_get(body, "spec"),
	       *notes = l->held && l->spec.annotations ? l->spec.annotations(l->spec.arg) : NULL;

	if (notes)
		json_object_set_new(meta, "annotations", notes);
	if (!l->held) {
		json_object_set_new(spec, "acquireTime", json_string(time));
		json_object_set_new(spec, "leaseTransitions", json_integer(l->transitions + 1));
	}
	if (create) {
		json_object_set_new(body, "apiVersion", json_string("coordination.k8s.io/v1"));
		json_object_set_new(body, "kind", json_string("Lease"));
		json_object_set_new(meta, "name", json_string(l->name));
		json_object_set_new(meta, "namespace", json_string(l->ns));
	} else {
		json_object_set_new(meta, "resourceVersion", json_string(l->rv));
	}
	send_call(l, create ? "POST" : "PATCH", create, body, on_written);
}

static void on_read(json_t *lease, const struct err *e, void *arg)
{
	struct kube_lease *l = arg;

	l->call = NULL;
	if (e && e->code == 404) {
		/* The lease was deleted, so it has no holder: if this replica was the holder, it
		 * ends its term; otherwise it creates the lease. */
		set(&l->holder, "");
		if (l->held) {
			again(l);
			lost(l);
		} else {
			write_lease(l, true);
		}
		return;
	}
	if (e) {
		again(l);
		return;
	}
	observe(l, lease);
	if (l->held && !str_eq(l->holder, l->identity)) {
		again(l);
		lost(l);
		return;
	}
	if (l->rv && (str_empty(l->holder) || str_eq(l->holder, l->identity) ||
		      now(l) - l->changed_at >= l->duration_ms))
		write_lease(l, false);
	else
		again(l);
}

static void on_next(void *arg)
{
	struct kube_lease *l = arg;

	/* After a long pause of the process this timer may run before on_stop(): do not renew a
	 * term whose stop time has passed. */
	if (l->held && !kube_lease_held(l)) {
		set(&l->rv, NULL);
		again(l);
		lost(l);
	} else if (l->held && l->rv) {
		write_lease(l, false);
	} else {
		send_call(l, "GET", false, NULL, on_read);
	}
}

static void on_stop(void *arg)
{
	struct kube_lease *l = arg;

	/* Cancel a renewal in progress, because its late reply would begin a new term with the
	 * number (leaseTransitions) of the old one. */
	kube_call_cancel(l->call);
	l->call = NULL;
	set(&l->rv, NULL);
	again(l);
	lost(l);
}

/* --- release ---------------------------------------------------------------------------------- */

static void on_release_done(void *arg)
{
	struct kube_lease *l = arg;

	if (l->on_released)
		l->on_released(l->released_arg);
}

static void on_given_back(json_t *lease, const struct err *e, void *arg)
{
	struct kube_lease *l = arg;

	(void)e;
	l->call = NULL;
	if (lease)
		observe(l, lease);
	on_release_done(l);
}

static void on_release_read(json_t *lease, const struct err *e, void *arg)
{
	struct kube_lease *l = arg;
	OWN_JSON body = NULL;

	l->call = NULL;
	if (!e)
		observe(l, lease);
	if (e || !l->rv || !str_eq(l->holder, l->identity)) {
		on_release_done(l);
		return;
	}
	body = json_pack("{s:{s:s}, s:{s:s}}", "metadata", "resourceVersion", l->rv, "spec",
			 "holderIdentity", "");
	send_call(l, "PATCH", false, body, on_given_back);
}

void kube_lease_release(struct kube_lease *l, void (*done)(void *arg), void *arg)
{
	bool held = l->held;

	if (l->releasing)
		return;
	l->releasing = true;
	l->held = false;
	l->on_released = done;
	l->released_arg = arg;
	kube_call_cancel(l->call);
	l->call = NULL;
	loop_timer_stop(&l->next);
	loop_timer_stop(&l->stop);
	if (held)
		send_call(l, "GET", false, NULL, on_release_read);
	else
		loop_defer(&l->released);
}

/* --- life cycle and queries ------------------------------------------------------------------- */

struct kube_lease *kube_lease_new(struct loop_group *g, const struct kube_lease_spec *s)
{
	struct kube_lease *l = mem_new(struct kube_lease);

	l->group = g;
	l->spec = *s;
	l->spec.slower = s->slower ? s->slower : 1;
	l->spec.ns = l->ns = mem_strdup(s->ns);
	l->spec.name = l->name = mem_strdup(s->name);
	l->spec.identity = l->identity = mem_strdup(s->identity);
	l->holder = mem_strdup("");
	loop_timer_init(&l->next, g, on_next, l);
	loop_timer_init(&l->stop, g, on_stop, l);
	loop_defer_init(&l->released, g, on_release_done, l);
	loop_timer_start(&l->next, 0);
	return l;
}

void kube_lease_free(struct kube_lease *l)
{
	if (!l)
		return;
	kube_call_cancel(l->call);
	loop_timer_stop(&l->next);
	loop_timer_stop(&l->stop);
	loop_defer_cancel(&l->released);
	free(l->ns);
	free(l->name);
	free(l->identity);
	free(l->rv);
	free(l->seen_rv);
	free(l->holder);
	json_decref(l->annotations);
	free(l);
}

const char *kube_lease_holder(const struct kube_lease *l)
{
	return l->holder;
}

const char *kube_lease_annotation(const struct kube_lease *l, const char *key)
{
	return json_str_at(l->annotations, key);
}

bool kube_lease_held(const struct kube_lease *l)
{
	return kube_lease_renewed_age(l) < stop_ms(l);
}

int64_t kube_lease_renewed_age(const struct kube_lease *l)
{
	return l->held ? loop_clock(loop_of(l->group)) - l->renewed_at : INT64_MAX;
}
