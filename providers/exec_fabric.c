#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "base/data/json.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/retry.h"
#include "base/str.h"
#include "providers/registry.h"

/*
 * A child process moves the ports.  It speaks JSON lines: docs/exec-fabric.md.
 *
 * One child at a time, started by the first call that needs it and again, with
 * backoff, by the first call after it died.  Calls under way when it dies fail: their effect may
 * have happened, observe() tells.  Each call has CALL_MS from the line on; a later place() of
 * the same machine is sent when the earlier one has ended.
 * Tests: tests/contract/test_fabric.c
 */
#define CALL_MS 60000
#define MAX_LINE (64u << 10)
#define MAX_TEXT 253

struct exec {
	struct loop_group *group;
	char **argv;
	struct loop_child *child; /* NULL: none */
	bool greeted;
	uint64_t next_id, hello_id;
	struct backoff backoff;
	int64_t not_before;   /* no new child until then */
	struct list calls;    /* of call.link, in order of asking */
	char last_words[200]; /* of standard error, for the error text */
};

struct call {
	struct list link;
	struct exec *x;
	struct fabric_call call;
	bool place, sent, ended;
	char *machine, *mac, *segment, *op_id;
	uint64_t id;
	int64_t sent_at;
	struct loop_timer limit;
	struct loop_defer end; /* answers err */
	struct err err;
};

static void call_free(struct call *c)
{
	list_remove(&c->link);
	loop_timer_stop(&c->limit);
	loop_defer_cancel(&c->end);
	free(c->machine);
	free(c->mac);
	free(c->segment);
	free(c->op_id);
	free(c);
}

static void send_next(struct exec *x, const char *machine);

/* The last act of whoever calls it: done() may free the fabric. */
static void call_end(struct call *c, const struct fabric_place *p, const struct err *e)
{
	list_remove(&c->link);
	loop_timer_stop(&c->limit);
	if (c->place)
		send_next(c->x, c->machine);
	c->call.done(p, e, c->call.arg);
	call_free(c);
}

static void on_end(void *arg)
{
	struct call *c = arg;

	call_end(c, NULL, &c->err);
}

/* Fail it in the next turn. */
static void call_fail(struct call *c, const struct err *e)
{
	if (c->ended)
		return;
	c->ended = true;
	c->err = *e;
	loop_timer_stop(&c->limit);
	loop_defer(&c->end);
}

static void on_limit(void *arg)
{
	struct call *c = arg;
	struct err e;

	(void)!err_set(&e, ERR_TIMEOUT, 0, "%s did not answer within %d s", c->x->argv[0],
		       CALL_MS / 1000);
	e.scope = ERR_MACHINE;
	call_fail(c, &e);
}

/* --- the child ------------------------------------------------------------------------------------ */

/* It is gone or unfit: everything sent fails with e, and a new one has to wait. */
static void child_lost(struct exec *x, const struct err *e)
{
	struct loop *l = loop_of(x->group);

	loop_child_free(x->child);
	x->child = NULL;
	x->not_before = loop_now(l) + backoff_next(&x->backoff, loop_random(l));
	list_for_each (c, &x->calls, struct call, link)
		if (c->sent)
			call_fail(c, e);
}

/* No end of file for this one: what it has begun must not happen beside its successor. */
static void child_unfit(struct exec *x, const struct err *e)
{
	loop_child_kill(x->child, SIGKILL);
	child_lost(x, e);
}

static enum err_kind kind_of(const char *name)
{
	for (int k = ERR_NONE + 1; k < ERR_KINDS; k++)
		if (str_eq(name, err_kind_name((enum err_kind)k)))
			return (enum err_kind)k;
	return ERR_PROTOCOL;
}

static bool text_ok(const char *s)
{
	if (!s || strlen(s) > MAX_TEXT)
		return false;
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			return false;
	return true;
}

static void read_error(const json_t *error, struct err *e)
{
	json_int_t after = json_int_at(error, "retryAfterMs");

	(void)!err_set(e, kind_of(json_str_at(error, "kind")), 0, "%s",
		       str_or(json_str_at(error, "message"), "the network driver failed"));
	if (after > 0)
		e->retry_after_ms = after > 300000 ? 300000 : (uint32_t)after;
	e->scope = ERR_MACHINE;
}

/* {"segment": "q-1" or null, "proof": "None" | "Weak" | "Strong"} */
static int read_place(const json_t *j, struct fabric_place *p, struct err *e)
{
	const json_t *segment = json_object_get(j, "segment");
	const char *proof = json_str_at(j, "proof");

	if (!segment || (!json_is_null(segment) && !text_ok(json_string_value(segment))))
		return err_set(e, ERR_PROTOCOL, 0, "a place without a segment");
	p->segment = json_string_value(segment);
	for (int i = FABRIC_PROOF_NONE; i <= FABRIC_PROOF_STRONG; i++) {
		if (str_eq(proof, fabric_proof_names[i])) {
			p->proof = (enum fabric_proof)i;
			return 0;
		}
	}
	return err_set(e, ERR_PROTOCOL, 0, "a place with an unknown proof");
}

static void on_hello(struct exec *x, const json_t *j)
{
	struct err e;

	if (json_int_at(j, "protocol") == 1) {
		x->greeted = true;
		return;
	}
	(void)!err_set(&e, ERR_UNSUPPORTED, 0, "%s does not speak protocol 1", x->argv[0]);
	e.scope = ERR_PROVIDER;
	child_unfit(x, &e);
}

static struct call *call_of(const struct exec *x, uint64_t id)
{
	list_for_each (c, &x->calls, struct call, link)
		if (c->sent && !c->ended && c->id == id)
			return c;
	return NULL;
}

static void on_reply(struct exec *x, const json_t *j, uint64_t id)
{
	struct call *c = call_of(x, id);
	struct fabric_place place = {0};
	struct err e;

	if (!c) /* came too late: its time was over */
		return;
	backoff_reset(&x->backoff);
	place.read_at = c->sent_at;
	if (json_at(j, "error")) {
		read_error(json_at(j, "error"), &e);
		call_end(c, NULL, &e);
	} else if (c->place) {
		call_end(c, NULL, NULL);
	} else if (read_place(j, &place, &e) < 0) {
		e.scope = ERR_MACHINE;
		call_end(c, NULL, &e);
	} else {
		call_end(c, &place, NULL);
	}
}

static void on_line(const char *line, size_t len, void *arg)
{
	struct exec *x = arg;
	struct err e;
	OWN_JSON j = json_parse(line, len, &e);
	json_int_t id = json_int_at(j, "id");

	if (j && id > 0 && (uint64_t)id == x->hello_id && !x->greeted) {
		on_hello(x, j);
	} else if (j && id > 0 && x->greeted) {
		on_reply(x, j, (uint64_t)id);
	} else {
		(void)!err_set(&e, ERR_PROTOCOL, 0, "%s: not a reply: %.100s", x->argv[0], line);
		e.scope = ERR_PROVIDER;
		child_unfit(x, &e);
	}
}

/* Only the beginning of the latest piece is kept; err_set() takes control characters out. */
static void on_stderr(const char *data, size_t len, void *arg)
{
	struct exec *x = arg;
	size_t n = len < sizeof(x->last_words) - 1 ? len : sizeof(x->last_words) - 1;

	while (n > 0 && data[n - 1] == '\n')
		n--;
	if (n == 0)
		return;
	memcpy(x->last_words, data, n);
	x->last_words[n] = '\0';
}

static void on_exit_(int status, const struct err *e, void *arg)
{
	struct exec *x = arg;
	struct err lost;

	if (e)
		lost = *e;
	else
		(void)!err_set(&lost, ERR_UNAVAILABLE, status, "%s ended with status %d: %s",
			       x->argv[0], status, str_or(x->last_words, "no message"));
	lost.scope = ERR_PROVIDER;
	child_lost(x, &lost);
}

static void write_line(struct exec *x, json_t *j /* taken */)
{
	char *text = json_text(j);

	loop_child_write(x->child, text, strlen(text));
	loop_child_write(x->child, "\n", 1);
	free(text);
	json_decref(j);
}

static int child_start(struct exec *x, struct err *e)
{
	static const char *const env[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8",
					  NULL};
	struct loop_spawn s = {
		.argv = (const char *const *)x->argv,
		.env = env,
		.max_line = MAX_LINE,
		.on_line = on_line,
		.on_stderr = on_stderr,
		.on_exit = on_exit_,
		.arg = x,
	};
	int64_t now = loop_now(loop_of(x->group));

	if (now < x->not_before) {
		(void)!err_set(e, ERR_UNAVAILABLE, 0, "%s is not running: %s", x->argv[0],
			       str_or(x->last_words, "no message"));
		e->retry_after_ms = (uint32_t)(x->not_before - now);
		e->scope = ERR_PROVIDER;
		return -1;
	}
	x->child = loop_spawn(x->group, &s, e);
	if (!x->child) {
		x->not_before = now + backoff_next(&x->backoff, loop_random(loop_of(x->group)));
		e->scope = ERR_PROVIDER;
		return -1;
	}
	x->greeted = false;
	x->last_words[0] = '\0';
	x->hello_id = ++x->next_id;
	write_line(x, json_pack("{s:I,s:s,s:i}", "id", (json_int_t)x->hello_id, "op", "hello",
				"protocol", 1));
	return 0;
}

/* --- calls ---------------------------------------------------------------------------------------- */

static void call_send(struct call *c)
{
	struct exec *x = c->x;
	struct err e;
	json_t *j;

	if (!x->child && child_start(x, &e) < 0) {
		call_fail(c, &e);
		return;
	}
	c->id = ++x->next_id;
	j = json_pack("{s:I,s:s,s:s,s:s?,s:s?,s:I,s:i}", "id", (json_int_t)c->id, "op",
		      c->place ? "place" : "observe", "machine", c->machine, "mac", c->mac,
		      "operation", c->op_id, "fence", (json_int_t)c->call.fence, "limitMs",
		      CALL_MS);
	if (!j) {
		(void)!err_set(&e, ERR_INVALID, 0, "a name that is not UTF-8");
		call_fail(c, &e);
		return;
	}
	if (c->place)
		json_object_set_new(j, "segment", json_string(c->segment));
	c->sent = true;
	c->sent_at = loop_now(loop_of(x->group));
	loop_timer_start(&c->limit, CALL_MS);
	write_line(x, j);
}

static bool place_under_way(const struct exec *x, const char *machine)
{
	list_for_each (c, &x->calls, struct call, link)
		if (c->place && str_eq(c->machine, machine))
			return true;
	return false;
}

/* The next place of this machine, if none is under way any more. */
static void send_next(struct exec *x, const char *machine)
{
	list_for_each (c, &x->calls, struct call, link) {
		if (!c->place || !str_eq(c->machine, machine))
			continue;
		if (!c->sent && !c->ended)
			call_send(c);
		return;
	}
}

static struct call *call_new(struct exec *x, const struct fabric_port *p,
			     const struct fabric_call *fc)
{
	struct call *c = mem_new(struct call);

	c->x = x;
	c->call = *fc;
	c->machine = mem_strdup(p->machine);
	c->mac = mem_strdup(p->mac);
	c->op_id = mem_strdup(fc->op_id);
	loop_timer_init(&c->limit, x->group, on_limit, c);
	loop_defer_init(&c->end, x->group, on_end, c);
	return c;
}

static void exec_place(struct fabric *f, const struct fabric_port *p, const char *segment,
		       const struct fabric_call *fc)
{
	struct exec *x = f->state;
	struct call *c = call_new(x, p, fc);
	bool wait = place_under_way(x, p->machine);

	c->place = true;
	c->segment = mem_strdup(segment);
	list_push_back(&x->calls, &c->link);
	if (!wait)
		call_send(c);
}

static void exec_observe(struct fabric *f, const struct fabric_port *p,
			 const struct fabric_call *fc)
{
	struct exec *x = f->state;
	struct call *c = call_new(x, p, fc);

	list_push_back(&x->calls, &c->link);
	call_send(c);
}

/* Whoever may write Providers may not choose what runs with drover's rights: whoever starts drover does. */
static bool is_allowed(const struct fabric_spec *s)
{
	for (size_t i = 0; s->allowed && s->allowed[i]; i++)
		if (str_eq(s->allowed[i], s->command[0]))
			return true;
	return false;
}

static int exec_open(struct fabric *f, const struct fabric_spec *s, struct err *e)
{
	struct exec *x;
	size_t n = 0;

	while (s->command && s->command[n])
		n++;
	if (n == 0 || s->command[0][0] != '/')
		return err_set(e, ERR_INVALID, 0,
			       "network.exec.command: want an absolute path, got %.100s",
			       n ? s->command[0] : "nothing");
	if (!is_allowed(s))
		return err_set(
			e, ERR_DENIED, 0,
			"network.exec.command: %.200s may not be run: no --allow-exec names it",
			s->command[0]);
	x = mem_new(struct exec);
	x->group = s->group;
	x->argv = mem_calloc(n + 1, sizeof(*x->argv));
	for (size_t i = 0; i < n; i++)
		x->argv[i] = mem_strdup(s->command[i]);
	x->backoff = (struct backoff){.base_ms = 1000, .cap_ms = 60000};
	x->not_before = INT64_MIN;
	list_init(&x->calls);
	f->state = x;
	return 0;
}

static void exec_close(struct fabric *f)
{
	struct exec *x = f->state;

	loop_child_free(x->child);
	list_for_each (c, &x->calls, struct call, link)
		call_free(c);
	for (size_t i = 0; x->argv[i]; i++)
		free(x->argv[i]);
	free(x->argv);
	free(x);
}

const struct fabric_ops exec_fabric_ops = {
	.type = "exec",
	.open = exec_open,
	.close = exec_close,
	.place = exec_place,
	.observe = exec_observe,
};
