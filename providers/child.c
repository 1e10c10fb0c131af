#include "providers/child.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "base/data/json.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/retry.h"
#include "base/str.h"

struct child {
	struct loop_group *group;
	char **argv, **env;
	json_t *hello;
	/* The running process; NULL: none runs */
	struct loop_child *process;
	bool pings, greeted;
	uint64_t next_id, hello_id;
	/* Number of lines written to the current process (asked) and read from it (answered). */
	uint64_t asked, answered;
	/* ID of the ping that has no answer yet; 0: none */
	uint64_t ping_id;
	struct loop_timer ping_limit, hello_limit;
	/* IDs of requests that timed out and are still unanswered. */
	uint64_t stuck[CHILD_STUCK];
	unsigned nstuck;
	struct backoff backoff;
	/* loop_now() before which no new process may be started */
	int64_t not_before;
	/* Pending calls, linked by child_call.link, in the order of child_ask() */
	struct list calls;
	/* Latest output of the process on standard error, for error texts */
	char last_words[200];
};

struct child_call {
	struct list link;
	struct child *c;
	void (*done)(const json_t *reply, int64_t sent_at, const struct err *e, void *arg);
	void *arg;
	bool sent, ended;
	uint64_t id;
	int64_t sent_at, limit_ms;
	struct loop_timer limit;
	/* Ends the call with `err` in a later loop turn */
	struct loop_defer end;
	struct err err;
};

void child_call_drop(struct child_call *call)
{
	if (!call)
		return;
	list_remove(&call->link);
	loop_timer_stop(&call->limit);
	loop_defer_cancel(&call->end);
	free(call);
}

/* Calls done() and frees the call. The caller must return afterwards, because done() may free the
 * child. */
static void call_end(struct child_call *call, const json_t *reply, const struct err *e)
{
	list_remove(&call->link);
	loop_timer_stop(&call->limit);
	call->done(reply, call->sent_at, e, call->arg);
	child_call_drop(call);
}

static void on_end(void *arg)
{
	struct child_call *call = arg;

	call_end(call, NULL, &call->err);
}

/* Ends the call with e in a later loop turn. */
static void call_fail(struct child_call *call, const struct err *e)
{
	if (call->ended)
		return;
	call->ended = true;
	call->err = *e;
	loop_timer_stop(&call->limit);
	loop_defer(&call->end);
}

/* --- the process ------------------------------------------------------------------------------ */

/* Fails with e every request that was sent, and lets a new process start only after a back-off.
 * Call after the process ended or became unusable. */
static void process_lost(struct child *c, const struct err *e)
{
	struct loop *l = loop_of(c->group);

	loop_child_free(c->process);
	c->process = NULL;
	c->nstuck = 0;
	c->ping_id = 0;
	loop_timer_stop(&c->ping_limit);
	loop_timer_stop(&c->hello_limit);
	c->not_before = loop_now(l) + backoff_next(&c->backoff, loop_random(l));
	list_for_each (call, &c->calls, struct child_call, link)
		if (call->sent)
			call_fail(call, e);
}

/* Ends an unusable process and fails its requests with e. The process is killed, because with only
 * its input closed, its unfinished work could run beside the next process. */
static void process_unfit(struct child *c, const struct err *e)
{
	loop_child_kill(c->process, SIGKILL);
	process_lost(c, e);
}

static void write_line(struct child *c, json_t *j)
{
	char *text = json_text(j);

	loop_child_write(c->process, text, strlen(text));
	loop_child_write(c->process, "\n", 1);
	free(text);
	json_decref(j);
	c->asked++;
}

/* Kills a process that does not answer. what: text for the error of the pending calls. words: text
 * for the error of calls during the back-off. */
static void silent(struct child *c, const char *what, const char *words)
{
	struct err e;

	err_note(&e, ERR_UNAVAILABLE, 0, "%s %s and was killed", c->argv[0], what);
	e.scope = ERR_PROVIDER;
	str_copy(c->last_words, sizeof(c->last_words), words);
	process_unfit(c, &e);
}

static void on_no_hello(void *arg)
{
	char what[80];

	str_format(what, sizeof(what), "did not answer the hello within %d s",
		   CHILD_HELLO_MS / 1000);
	silent(arg, what, "it did not answer the hello");
}

static void on_no_pong(void *arg)
{
	silent(arg, "hangs (no answer to a ping)", "it hung");
}

/* Records the timed-out request id as unanswered. Then sends a ping to find out whether the process
 * answers anything at all. Kills the process instead if CHILD_STUCK requests are unanswered
 * already. */
static void owes(struct child *c, uint64_t id)
{
	if (c->nstuck == CHILD_STUCK) {
		silent(c, "hangs (too many requests without an answer)", "it hung");
		return;
	}
	c->stuck[c->nstuck++] = id;
	if (c->ping_id)
		return;
	c->ping_id = ++c->next_id;
	loop_timer_start(&c->ping_limit, CHILD_PING_MS);
	write_line(c, json_pack("{s:I,s:s}", "id", (json_int_t)c->ping_id, "op", "ping"));
}

static void pays(struct child *c, uint64_t id)
{
	for (unsigned i = 0; i < c->nstuck; i++)
		if (c->stuck[i] == id)
			c->stuck[i--] = c->stuck[--c->nstuck];
}

static void on_limit(void *arg)
{
	struct child_call *call = arg;
	struct child *c = call->c;
	struct err e;

	err_note(&e, ERR_TIMEOUT, 0, "%s did not answer within %lld s", c->argv[0],
		 (long long)call->limit_ms / 1000);
	e.scope = ERR_MACHINE;
	call_fail(call, &e);
	if (c->pings && c->process)
		owes(c, call->id);
}

static enum err_kind kind_of(const char *name)
{
	for (int k = ERR_NONE + 1; k < ERR_KINDS; k++)
		if (str_eq(name, err_kind_name((enum err_kind)k)))
			return (enum err_kind)k;
	return ERR_PROTOCOL;
}

static void read_error(const json_t *error, struct err *e)
{
	json_int_t after = json_int_at(error, "retryAfterMs");

	err_note(e, kind_of(json_str_at(error, "kind")), 0, "%s",
		 str_or(json_str_at(error, "message"), "failed without a message"));
	if (after > 0)
		e->retry_after_ms = after > 300000 ? 300000 : (uint32_t)after;
	e->scope = ERR_MACHINE;
}

static void on_hello(struct child *c, const json_t *j)
{
	struct err e;

	if (json_int_at(j, "protocol") == 1) {
		c->greeted = true;
		loop_timer_stop(&c->hello_limit);
		return;
	}
	err_note(&e, ERR_UNSUPPORTED, 0,
		 "%s does not support version 1 of drover's provider protocol", c->argv[0]);
	e.scope = ERR_PROVIDER;
	process_unfit(c, &e);
}

static struct child_call *call_of(const struct child *c, uint64_t id)
{
	list_for_each (call, &c->calls, struct child_call, link)
		if (call->sent && !call->ended && call->id == id)
			return call;
	return NULL;
}

static void on_reply(struct child *c, const json_t *j, uint64_t id)
{
	struct child_call *call = call_of(c, id);
	struct err e;

	pays(c, id);
	if (id == c->ping_id) {
		c->ping_id = 0;
		loop_timer_stop(&c->ping_limit);
	}
	if (!call) /* Ignore the answer, because it came after the call's time limit. */
		return;
	backoff_reset(&c->backoff);
	if (json_at(j, "error")) {
		read_error(json_at(j, "error"), &e);
		call_end(call, NULL, &e);
	} else {
		call_end(call, j, NULL);
	}
}

static void on_line(const char *line, size_t len, void *arg)
{
	struct child *c = arg;
	struct err e;
	OWN_JSON j = json_parse(line, len, &e);
	json_int_t id = json_int_at(j, "id");

	c->answered++;
	/* mutant: child-unasked */
	if (j && (c->answered > c->asked || (id > 0 && (uint64_t)id > c->next_id))) {
		err_note(&e, ERR_PROTOCOL, 0, "%s sent an answer without a request: %.100s",
			 c->argv[0], line);
		e.scope = ERR_PROVIDER;
		process_unfit(c, &e);
	} else if (j && id > 0 && (uint64_t)id == c->hello_id && !c->greeted) {
		on_hello(c, j);
	} else if (j && id > 0 && c->greeted) {
		on_reply(c, j, (uint64_t)id);
	} else {
		err_note(&e, ERR_PROTOCOL, 0, "%s sent a line that is not a valid reply: %.100s",
			 c->argv[0], line);
		e.scope = ERR_PROVIDER;
		process_unfit(c, &e);
	}
}

/* Keeps the beginning of the latest output for error texts. err_set() removes control characters
 * later. */
static void on_stderr(const char *data, size_t len, void *arg)
{
	struct child *c = arg;
	size_t n = len < sizeof(c->last_words) - 1 ? len : sizeof(c->last_words) - 1;

	while (n > 0 && data[n - 1] == '\n')
		n--;
	if (n == 0)
		return;
	memcpy(c->last_words, data, n);
	c->last_words[n] = '\0';
}

static void on_exit_(int status, const struct err *e, void *arg)
{
	struct child *c = arg;
	struct err lost;

	if (e)
		lost = *e;
	else
		err_note(&lost, ERR_UNAVAILABLE, status, "%s ended with status %d: %s", c->argv[0],
			 status, str_or(c->last_words, "no message"));
	lost.scope = ERR_PROVIDER;
	process_lost(c, &lost);
}

static int process_start(struct child *c, struct err *e)
{
	struct loop_spawn s = {
		.argv = (const char *const *)c->argv,
		.env = (const char *const *)c->env,
		.max_line = CHILD_MAX_LINE,
		.on_line = on_line,
		.on_stderr = on_stderr,
		.on_exit = on_exit_,
		.arg = c,
	};
	int64_t now = loop_now(loop_of(c->group));
	json_t *hello;

	if (now < c->not_before) {
		err_note(e, ERR_UNAVAILABLE, 0, "%s is not running: %s", c->argv[0],
			 str_or(c->last_words, "no message"));
		e->retry_after_ms = (uint32_t)(c->not_before - now);
		e->scope = ERR_PROVIDER;
		return -1;
	}
	c->process = loop_spawn(c->group, &s, e);
	if (!c->process) {
		c->not_before = now + backoff_next(&c->backoff, loop_random(loop_of(c->group)));
		e->scope = ERR_PROVIDER;
		return -1;
	}
	c->greeted = false;
	c->last_words[0] = '\0';
	c->hello_id = ++c->next_id;
	c->asked = c->answered = 0;
	hello = json_pack("{s:I,s:s,s:i}", "id", (json_int_t)c->hello_id, "op", "hello", "protocol",
			  1);
	json_object_update(hello, c->hello);
	write_line(c, hello);
	loop_timer_start(&c->hello_limit, CHILD_HELLO_MS);
	return 0;
}

/* --- requests --------------------------------------------------------------------------------- */

struct child_call *child_ask(struct child *c, json_t *request, int64_t limit_ms,
			     void (*done)(const json_t *reply, int64_t sent_at, const struct err *e,
					  void *arg),
			     void *arg)
{
	struct child_call *call = mem_new(struct child_call);
	struct err e;

	call->c = c;
	call->done = done;
	call->arg = arg;
	call->limit_ms = limit_ms;
	call->sent_at = loop_now(loop_of(c->group));
	loop_timer_init(&call->limit, c->group, on_limit, call);
	loop_defer_init(&call->end, c->group, on_end, call);
	list_push_back(&c->calls, &call->link);
	if (!request) {
		err_note(&e, ERR_INVALID, 0, "the request contains a name that is not UTF-8");
		call_fail(call, &e);
	} else if (!c->process && process_start(c, &e) < 0) {
		json_decref(request);
		call_fail(call, &e);
	} else {
		call->id = ++c->next_id;
		call->sent = true;
		json_object_set_new(request, "id", json_integer((json_int_t)call->id));
		json_object_set_new(request, "limitMs", json_integer((json_int_t)limit_ms));
		loop_timer_start(&call->limit, limit_ms);
		write_line(c, request);
	}
	return call;
}

static char **copied(const char *const *list)
{
	size_t n = 0;
	char **out;

	while (list[n])
		n++;
	out = mem_calloc(n + 1, sizeof(*out));
	for (size_t i = 0; i < n; i++)
		out[i] = mem_strdup(list[i]);
	return out;
}

static void free_list(char **list)
{
	for (size_t i = 0; list[i]; i++)
		free(list[i]);
	free(list);
}

struct child *child_new(const struct child_spec *s)
{
	static const char *const env[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8",
					  NULL};
	struct child *c = mem_new(struct child);

	c->group = s->group;
	c->argv = copied(s->argv);
	c->env = copied(s->env ? s->env : env);
	c->hello = s->hello ? s->hello : json_object();
	c->pings = s->pings;
	c->backoff = (struct backoff){.base_ms = 1000, .cap_ms = 60000};
	c->not_before = INT64_MIN;
	list_init(&c->calls);
	loop_timer_init(&c->ping_limit, s->group, on_no_pong, c);
	loop_timer_init(&c->hello_limit, s->group, on_no_hello, c);
	return c;
}

void child_free(struct child *c)
{
	if (!c)
		return;
	loop_child_free(c->process);
	loop_timer_stop(&c->ping_limit);
	loop_timer_stop(&c->hello_limit);
	list_for_each (call, &c->calls, struct child_call, link)
		child_call_drop(call);
	free_list(c->argv);
	free_list(c->env);
	json_decref(c->hello);
	free(c);
}
