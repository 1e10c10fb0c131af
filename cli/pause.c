/*
 * pause: `drover pause` stops new claims of a pool, a Provider or a tenant; `drover resume` lets
 * them start again.
 * Tests: tests/unit/cli/test_verbs.c
 */
#include <string.h>

#include "cli/verbs.h"
#include "api/annotations.h"
#include "base/arena.h"
#include "base/loop/loop.h"
#include "base/str.h"
#include "api/target.h"

/* Returns the NAME in "TYPE/NAME" and sets *kind. NULL, after printing the error: the form is
 * wrong, or objects of the type cannot be paused. */
static const char *named(const struct cli_client *c, const char *what, enum object_kind_id *kind)
{
	const char *slash = strchr(what, '/');

	*kind = slash ? target_kind(what, (size_t)(slash - what)) : OBJECT_KINDS;
	if (slash && slash[1] &&
	    (*kind == OBJECT_NODE_POOL || *kind == OBJECT_PROVIDER ||
	     *kind == OBJECT_VIRTUAL_CLUSTER))
		return slash + 1;
	(void)cli_failed(c, "want pool/NAME, provider/NAME or tenant/NAME, got %s", what);
	return NULL;
}

static json_t *paused(bool is)
{
	return json_pack("{s:{s:b}}", "spec", "paused", is);
}

int cli_do_pause(struct cli_client *c, const char *what)
{
	static const char *const means[OBJECT_KINDS] = {
		[OBJECT_NODE_POOL] = "no Node is created or removed for it",
		[OBJECT_PROVIDER] =
			"its machines stay as they are, but instances of a BurstPolicy still end "
			"on time",
		[OBJECT_VIRTUAL_CLUSTER] = "no Node is created or removed for it",
	};
	OWN(arena) a = arena_new();
	enum object_kind_id kind;
	const char *name = named(c, what, &kind);

	if (!name)
		return 1;
	return cli_write(c, kind, name, paused(true),
			 arena_printf(a, "%s %s is paused: %s, until `drover resume %s/%s`",
				      object_kinds[kind].singular, name, means[kind],
				      target_word(kind), name));
}

/* Sets the annotation drover.dev/resume to the current time. On a pool or Provider, this closes the
 * circuit breaker; on a tenant, it accepts that missing Nodes are gone. Returns the exit status. */
static int open_line(struct cli_client *c, enum object_kind_id kind, const char *name)
{
	OWN(arena) a = arena_new();
	char now[STR_TIME_SIZE];

	return cli_write(
		c, kind, name, cli_annotation(c, REQUEST_RESUME, str_time(now, loop_wall(c->loop))),
		arena_printf(
			a, "%s %s: %s", object_kinds[kind].singular, name,
			kind == OBJECT_VIRTUAL_CLUSTER
				? "the Nodes that its API server lists now are accepted as all of "
				  "its Nodes"
				: "new claims may start; failures before now no longer count"));
}

int cli_do_resume(struct cli_client *c, const char *what)
{
	OWN(arena) a = arena_new();
	enum object_kind_id kind;
	const char *name = named(c, what, &kind);
	struct err e;
	OWN_JSON o = name ? cli_get(c, kind, name, &e) : NULL;

	if (!name)
		return 1;
	if (!o)
		return cli_report_unreadable(c, kind, name, &e);
	if (!json_true_at(o, "spec", "paused"))
		return open_line(c, kind, name);
	return cli_write(
		c, kind, name, paused(false),
		arena_printf(
			a,
			"%s %s is no longer paused; if failures stopped new claims, run the same "
			"command again to let them start",
			object_kinds[kind].singular, name));
}
