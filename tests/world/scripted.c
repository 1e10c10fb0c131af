#include "tests/world/scripted.h"

#include <string.h>
#include "base/str.h"
#include "tests/world/server.h"
#include "tests/world/world.h"

static void on_script(const struct http_reply *r, const struct err *e, void *arg)
{
	struct server *b = arg;

	b->script.call = NULL;
	if (!r)
		str_format(b->script.console, sizeof(b->script.console), "%s",
			   e->kind == ERR_PROTOCOL ? "the script is too long" : e->text);
	else if (r->status != 200)
		str_format(b->script.console, sizeof(b->script.console), "%d", r->status);
	else
		b->script.ran = true;
	b->script.done(b);
}

static void fetch(struct server *b)
{
	struct http_peer_spec s = {.base_url = b->tenant->origin, .plain_ok = true};
	struct http_call call = {.path = arena_printf(b->os, "/node/join?token=%s", b->token),
				 .max_body = 1 << 20,
				 .done = on_script,
				 .arg = b};
	struct err e;

	http_peer_free(b->script.peer);
	b->script.peer = http_peer_new(b->as_machine, &s, &e);
	b->script.call = http_start(b->script.peer, &call);
}

bool scripted_ready(struct server *b, void (*done)(struct server *b))
{
	const char *drive = b->drives[0].data + SERVER_CONFIG_AT;
	const char *ca = b->tenant->script.ca_pem ? b->tenant->script.ca_pem : b->world->ca_pem;

	if (!strstr(drive, "\nJOIN_METHOD=Script\n") || b->script.ran)
		return true;
	b->script.done = done;
	if (strstr(drive, ca)) {
		fetch(b);
	} else {
		str_copy(b->script.console, sizeof(b->script.console), "the CA does not verify it");
		done(b);
	}
	return false;
}

void scripted_stop(struct server *b)
{
	http_cancel(b->script.call);
	http_peer_free(b->script.peer);
	b->script.call = NULL;
	b->script.peer = NULL;
	b->script.ran = false;
}
