#include "sim/node/node_impl.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"

/*
 * node_ask: requests of the node to its API server.
 * Tests: tests/unit/sim/node/test_node.c
 */
#define REPLY_MAX (16u << 20)

int64_t node_now(const struct sim_node *n)
{
	return loop_now(loop_of(n->group));
}

const char *node_time(const struct sim_node *n, char *out)
{
	return str_time(out, loop_wall(loop_of(n->group)));
}

struct node_call {
	struct list link;
	struct sim_node *node;
	struct http_req *req;
	node_done_fn *done;
	void *arg;
};

static void on_reply(const struct http_reply *r, const struct err *e, void *arg)
{
	struct node_call *c = arg;
	struct err bad;
	OWN_JSON o = r && r->body_len ? json_parse(r->body, r->body_len, &bad) : NULL;

	list_remove(&c->link);
	if (e)
		sim_machine_say(c->node->machine, "kubelet: %s", e->text);
	else if (r->status >= 400)
		sim_machine_say(c->node->machine, "kubelet: %d %s", r->status,
				str_or(json_str_at(o, "message"), ""));
	c->done(c->node, r ? r->status : 0, o, c->arg);
	free(c);
}

void node_ask(struct sim_node *n, const char *method, const char *path, json_t *body,
	      node_done_fn *done, void *arg)
{
	struct node_call *c = mem_new(struct node_call);
	char *text = body ? json_text(body) : NULL;
	struct http_call call = {
		.method = method,
		.path = path,
		.bearer = n->bearer,
		.body = text,
		.body_len = text ? strlen(text) : 0,
		.content_type = str_eq(method, "PATCH") ? "application/merge-patch+json" : NULL,
		.max_body = REPLY_MAX,
		.done = on_reply,
		.arg = c,
	};

	c->node = n;
	c->done = done;
	c->arg = arg;
	list_push_back(&n->calls, &c->link);
	c->req = http_start(n->peer, &call);
	free(text);
	json_decref(body);
}

bool node_reaches(const struct sim_node *n)
{
	return str_starts(n->machine->segment, "tenant/") &&
	       sim_machine_reaches(n->machine, n->origin);
}

void node_ask_free(struct sim_node *n)
{
	list_for_each (c, &n->calls, struct node_call, link) {
		http_cancel(c->req);
		free(c);
	}
}
