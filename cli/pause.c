/*
 * pause: `drover pause` stops what drover does with a pool, a Provider, a tenant, a machine or a
 * BurstPolicy, or with all of them; `drover resume` lets drover continue.
 * Tests: tests/unit/cli/test_verbs.c
 */
#include <string.h>

#include "cli/verbs.h"
#include "api/annotations.h"
#include "base/arena.h"
#include "base/loop/loop.h"
#include "base/str.h"
#include "api/target.h"

/* Kinds with spec.paused, in the order in which --all pauses them: nothing is launched or taken for
 * new work before machines stand still. */
static const enum object_kind_id kinds[] = {OBJECT_BURST_POLICY, OBJECT_NODE_POOL,
					    OBJECT_VIRTUAL_CLUSTER, OBJECT_PROVIDER};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static bool has_paused(enum object_kind_id kind)
{
	for (size_t i = 0; i < KINDS; i++)
		if (kinds[i] == kind)
			return true;
	return false;
}

/* Returns the NAME in "TYPE/NAME" and sets *kind. NULL, after printing the error: the form is
 * wrong, or objects of the type cannot be paused. */
static const char *named(const struct cli_client *c, const char *what, enum object_kind_id *kind)
{
	const char *slash = strchr(what, '/');

	*kind = slash ? target_kind(what, (size_t)(slash - what)) : OBJECT_KINDS;
	if (slash && slash[1] && (*kind == OBJECT_MACHINE || has_paused(*kind)))
		return slash + 1;
	(void)cli_failed(c,
			 "want pool/NAME, provider/NAME, tenant/NAME, machine/NAME or "
			 "burstpolicy/NAME, got %s",
			 what);
	return NULL;
}

static json_t *paused(bool is)
{
	return json_pack("{s:{s:b}}", "spec", "paused", is);
}

/* --- machines --------------------------------------------------------------------------------- */

/* Sets spec.managementPolicy of a machine; `wanted` is its value so far. */
static int change_policy(struct cli_client *c, const char *name, const char *wanted,
			 const char *policy, const char *text)
{
	struct err e;
	OWN_JSON m = cli_get(c, OBJECT_MACHINE, name, &e);
	const char *is = str_or(json_str_at(m, "spec", "managementPolicy"), "Observe");

	if (!m)
		return cli_report_unreadable(c, OBJECT_MACHINE, name, &e);
	if (str_eq(is, policy)) {
		fprintf(c->out, "machine %s: spec.managementPolicy is %s already\n", name, policy);
		return 0;
	}
	if (!str_eq(is, wanted))
		return cli_failed(c,
				  "machine %s is retired or will be (spec.managementPolicy is "
				  "Retire); to take it back: drover approve %s",
				  name, name);
	if (!json_at(m, "spec", "identity"))
		return cli_failed(c, "machine %s was never approved: run `drover approve %s`", name,
				  name);
	return cli_write(c, OBJECT_MACHINE, name,
			 json_pack("{s:{s:s}, s:{s:s}}", "spec", "managementPolicy", policy,
				   "metadata", "resourceVersion",
				   str_or(json_str_at(m, "metadata", "resourceVersion"), "")),
			 text);
}

static int pause_machine(struct cli_client *c, const char *name)
{
	OWN(arena) a = arena_new();

	return change_policy(
		c, name, "Manage", "Observe",
		arena_printf(a,
			     "machine %s is paused: drover reads its state and changes "
			     "nothing, until `drover resume machine/%s`",
			     name, name));
}

static int resume_machine(struct cli_client *c, const char *name)
{
	OWN(arena) a = arena_new();

	return change_policy(
		c, name, "Observe", "Manage",
		arena_printf(a, "machine %s is no longer paused: drover manages it", name));
}

/* --- one object ------------------------------------------------------------------------------- */

static int pause_one(struct cli_client *c, enum object_kind_id kind, const char *name)
{
	static const char *const means[OBJECT_KINDS] = {
		[OBJECT_NODE_POOL] = "drover creates and removes no Node for it",
		[OBJECT_PROVIDER] =
			"drover leaves its machines as they are, but still ends instances of a "
			"BurstPolicy on time",
		[OBJECT_VIRTUAL_CLUSTER] = "drover creates and removes no Node for it",
		[OBJECT_BURST_POLICY] =
			"drover launches nothing for it, but still ends the instances that it "
			"launched on time",
	};
	OWN(arena) a = arena_new();

	return cli_write(c, kind, name, paused(true),
			 arena_printf(a, "%s %s is paused: %s, until `drover resume %s/%s`",
				      object_kinds[kind].singular, name, means[kind],
				      target_word(kind), name));
}

int cli_do_pause(struct cli_client *c, const char *what)
{
	enum object_kind_id kind;
	const char *name = named(c, what, &kind);

	if (!name)
		return 1;
	return kind == OBJECT_MACHINE ? pause_machine(c, name) : pause_one(c, kind, name);
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
				? "drover accepts the Nodes that its API server lists now as "
				  "all Nodes that the tenant has"
				: "drover may create NodeClaims for it again; failures before now "
				  "no longer count"));
}

static int resume_one(struct cli_client *c, enum object_kind_id kind, const char *name)
{
	OWN(arena) a = arena_new();

	return cli_write(
		c, kind, name, paused(false),
		arena_printf(
			a, "%s %s is no longer paused%s", object_kinds[kind].singular, name,
			kind == OBJECT_BURST_POLICY ? ""
			: kind == OBJECT_VIRTUAL_CLUSTER
				? "; if the tenant has lost Nodes (NodesLost), run the same "
				  "command again to accept that those Nodes are gone"
				: "; if drover had stopped creating NodeClaims after failures, run "
				  "the same command again to end that stop too"));
}

int cli_do_resume(struct cli_client *c, const char *what)
{
	enum object_kind_id kind;
	const char *name = named(c, what, &kind);
	struct err e;
	OWN_JSON o = name && kind != OBJECT_MACHINE ? cli_get(c, kind, name, &e) : NULL;

	if (!name)
		return 1;
	if (kind == OBJECT_MACHINE)
		return resume_machine(c, name);
	if (!o)
		return cli_report_unreadable(c, kind, name, &e);
	if (json_true_at(o, "spec", "paused"))
		return resume_one(c, kind, name);
	if (kind != OBJECT_BURST_POLICY)
		return open_line(c, kind, name);
	fprintf(c->out, "burstpolicy %s is not paused\n", name);
	return 0;
}

/* --- all objects ------------------------------------------------------------------------------ */

struct all {
	/* wanted value of spec.paused */
	bool pause;
	/* names of objects that have the other value, as JSON strings */
	json_t *names;
};

static void on_object(json_t *o, void *arg)
{
	struct all *all = arg;
	json_t *name = json_at(o, "metadata", "name");

	if (json_is_string(name) && json_true_at(o, "spec", "paused") != all->pause)
		json_array_append(all->names, name);
}

static int change_kind(struct cli_client *c, enum object_kind_id kind, bool pause, size_t *changed)
{
	OWN_JSON names = json_array();
	struct all all = {.pause = pause, .names = names};
	int status = 0;
	struct err e;
	json_t *x;
	size_t i;

	if (cli_list(c, kind, on_object, &all, &e) < 0)
		return cli_report_unreadable(c, kind, NULL, &e);
	json_array_foreach (names, i, x) {
		const char *name = json_string_value(x);

		status |= pause ? pause_one(c, kind, name) : resume_one(c, kind, name);
		++*changed;
	}
	return status;
}

int cli_do_pause_all(struct cli_client *c, bool pause)
{
	size_t changed = 0;
	int status = 0;

	for (size_t i = 0; i < KINDS; i++)
		status |= change_kind(c, kinds[pause ? i : KINDS - 1 - i], pause, &changed);
	if (!changed && !status)
		fprintf(c->out, "%s\n",
			pause ? "all pools, providers, tenants and BurstPolicies are paused already"
			      : "no pool, provider, tenant or BurstPolicy is paused");
	return status;
}
