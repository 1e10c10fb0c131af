#include <stdlib.h>
#include <string.h>
#include "base/data/json.h"
#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "providers/allowed.h"
#include "providers/child.h"
#include "providers/registry.h"

/*
 * Fabric type exec: a child process (child.h) moves the ports; docs/exec-fabric.md has the
 * protocol.
 *
 * At most IN_FLIGHT requests are with the process at a time; the others wait here in order, without
 * a time limit. So a program that serves a few at a time is not given thousands, most of which
 * would time out before it came to them. Each call ends at most CALL_MS after its request was
 * written. A later place() of the same machine is sent after the earlier one has ended.
 * Tests: tests/contract/test_fabric.c
 */
#define CALL_MS 60000
#define IN_FLIGHT 64
#define MAX_TEXT 253

struct exec {
	struct child *child;
	struct loop_group *group;
	/* Calls linked by exec_fabric_call.link. sent: the process has the request; waiting: not
	 * sent yet, in the order in which they were made; ending: refused, done() comes in the next
	 * loop turn */
	struct list sent, waiting, ending;
	unsigned in_flight;
	/* Set of the machines that have a place() in `sent` */
	struct map *placing;
	struct loop_defer pump;
};

struct exec_fabric_call {
	struct list link;
	struct exec *x;
	struct fabric_call call;
	bool place;
	char *machine, *mac, *segment, *op_id;
	/* Request in flight; NULL: not sent yet, or answered */
	struct child_call *request;
	/* Ends a call in `ending`. */
	struct loop_defer end;
};

static void call_free(struct exec_fabric_call *c)
{
	list_remove(&c->link);
	child_call_drop(c->request);
	loop_defer_cancel(&c->end);
	free(c->machine);
	free(c->mac);
	free(c->segment);
	free(c->op_id);
	free(c);
}

/* Calls done() of a call that was sent, and frees the call. The caller must return afterwards,
 * because done() may free the fabric. */
static void call_end(struct exec_fabric_call *c, const struct fabric_place *p, const struct err *e)
{
	list_remove(&c->link);
	c->request = NULL; /* Forget the request, because child.c frees it itself. */
	c->x->in_flight--;
	if (c->place)
		map_del(c->x->placing, c->machine);
	loop_defer(&c->x->pump);
	c->call.done(p, e, c->call.arg);
	call_free(c);
}

static void on_refused(void *arg)
{
	struct exec_fabric_call *c = arg;
	struct err e;

	err_note(&e, ERR_UNAVAILABLE, 0,
		 "the move was withdrawn before it was sent to the network driver");
	e.scope = ERR_MACHINE;
	list_remove(&c->link);
	c->call.done(NULL, &e, c->call.arg);
	call_free(c);
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

/* Reads the reply {"segment": "q-1" or null, "proof": "None" | "Weak" | "Strong"} into *p. -1:
 * invalid, with *e set. */
static int read_place(const json_t *j, struct fabric_place *p, struct err *e)
{
	const json_t *segment = json_object_get(j, "segment");
	const char *proof = json_str_at(j, "proof");

	if (!segment || (!json_is_null(segment) && !text_ok(json_string_value(segment))))
		return err_set(e, ERR_PROTOCOL, 0, "the reply to observe has no valid segment");
	p->segment = json_string_value(segment);
	for (int i = FABRIC_PROOF_NONE; i <= FABRIC_PROOF_STRONG; i++) {
		if (str_eq(proof, fabric_proof_names[i])) {
			p->proof = (enum fabric_proof)i;
			return 0;
		}
	}
	return err_set(e, ERR_PROTOCOL, 0, "the reply to observe has an unknown proof");
}

static void on_reply(const json_t *j, int64_t sent_at, const struct err *failed, void *arg)
{
	struct exec_fabric_call *c = arg;
	struct fabric_place place = {.read_at = sent_at};
	struct err e;

	if (failed) {
		call_end(c, NULL, failed);
	} else if (c->place) {
		call_end(c, NULL, NULL);
	} else if (read_place(j, &place, &e) < 0) {
		e.scope = ERR_MACHINE;
		call_end(c, NULL, &e);
	} else {
		call_end(c, &place, NULL);
	}
}

/* --- calls ------------------------------------------------------------------------------------ */

static void call_send(struct exec_fabric_call *c)
{
	json_t *j = json_pack("{s:s,s:s,s:s?,s:s?,s:I}", "op", c->place ? "place" : "observe",
			      "machine", c->machine, "mac", c->mac, "operation", c->op_id, "fence",
			      (json_int_t)c->call.fence);

	if (j && c->place)
		json_object_set_new(j, "segment", json_string(c->segment));
	c->request = child_ask(c->x->child, j, CALL_MS, on_reply, c);
}

/* Sends the call, or refuses it if its move is not allowed any more. */
static void send_or_refuse(struct exec_fabric_call *c)
{
	struct exec *x = c->x;
	const bool allowed = !c->place || !c->call.may_act || c->call.may_act(c->call.arg);

	list_remove(&c->link);
	list_push_back(allowed ? &x->sent : &x->ending, &c->link);
	if (!allowed) {
		loop_defer(&c->end);
		return;
	}
	x->in_flight++;
	if (c->place)
		map_put(x->placing, c->machine, x);
	call_send(c);
}

/* Sends the calls whose turn has come. */
static void pump(void *arg)
{
	struct exec *x = arg;

	list_for_each (c, &x->waiting, struct exec_fabric_call, link) {
		if (x->in_flight == IN_FLIGHT)
			return;
		if (!c->place || !map_has(x->placing, c->machine))
			send_or_refuse(c);
	}
}

static struct exec_fabric_call *call_new(struct exec *x, const struct fabric_port *p,
					 const struct fabric_call *fc)
{
	struct exec_fabric_call *c = mem_new(struct exec_fabric_call);

	c->x = x;
	c->call = *fc;
	c->machine = mem_strdup(p->machine);
	c->mac = mem_strdup(p->mac);
	c->op_id = mem_strdup(fc->op_id);
	loop_defer_init(&c->end, x->group, on_refused, c);
	list_push_back(&x->waiting, &c->link);
	return c;
}

static void exec_place(struct fabric *f, const struct fabric_port *p, const char *segment,
		       const struct fabric_call *fc)
{
	struct exec_fabric_call *c = call_new(f->state, p, fc);

	c->place = true;
	c->segment = mem_strdup(segment);
	pump(c->x);
}

static void exec_observe(struct fabric *f, const struct fabric_port *p,
			 const struct fabric_call *fc)
{
	pump(call_new(f->state, p, fc)->x);
}

static int exec_open(struct fabric *f, const struct fabric_spec *s, struct err *e)
{
	struct child_spec child = {.group = s->group, .argv = s->command};
	struct exec *x;

	if (!s->command || !s->command[0] || s->command[0][0] != '/')
		return err_set(e, ERR_INVALID, 0,
			       "network.exec.command: want an absolute path, got %.100s",
			       s->command ? str_or(s->command[0], "nothing") : "nothing");
	/* mutant: exec-any */
	if (!allowed_runs(s->allowed, s->command))
		return err_set(
			e, ERR_DENIED, 0,
			"network.exec.command: %.200s is not allowed: add it with --allow-exec",
			s->command[0]);
	x = mem_new(struct exec);
	x->child = child_new(&child);
	x->group = s->group;
	x->placing = map_new(NULL);
	list_init(&x->sent);
	list_init(&x->waiting);
	list_init(&x->ending);
	loop_defer_init(&x->pump, s->group, pump, x);
	f->state = x;
	return 0;
}

static void exec_close(struct fabric *f)
{
	struct exec *x = f->state;
	struct list *all[] = {&x->sent, &x->waiting, &x->ending};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		list_for_each (c, all[i], struct exec_fabric_call, link)
			call_free(c);
	loop_defer_cancel(&x->pump);
	map_free(x->placing);
	child_free(x->child);
	free(x);
}

const struct fabric_ops exec_fabric_ops = {
	.type = "exec",
	.open = exec_open,
	.close = exec_close,
	.place = exec_place,
	.observe = exec_observe,
};
