#include "providers/exec_provider.h"

#include "base/data/json.h"
#include "base/str.h"
#include "providers/allowed.h"
#include "providers/exec_elastic.h"
#include "providers/helper.h"
#include "providers/registry.h"

/*
 * Provider type exec: a program of the operator switches machines whose management interface drover
 * does not support, or launches instances in a cloud (exec_elastic.h); docs/provider-protocol.md.
 * The program has its own credentials; drover passes it none.
 * Tests: tests/contract/test_provider.c, tests/world/test_exec.c
 */
#define RATE 50
#define CONCURRENT 64

static const struct helper_words words = {
	.type = "exec", .self = "the program", .thing = "machine", .http = true};

/* Opens the provider if --allow-exec allows its command. The user who starts drover chooses which
 * programs run with drover's rights; users who may only write Providers must not. */
static int exec_open(struct provider *p, const struct provider_spec *s, struct err *e)
{
	const struct provider_exec *x = s->exec;
	struct child_spec child = {.group = s->group, .pings = true};

	if (!x || !x->command || !x->command[0] || x->command[0][0] != '/')
		return err_set(e, ERR_INVALID, 0, "exec.command: want an absolute path, got %.100s",
			       x && x->command ? str_or(x->command[0], "nothing") : "nothing");
	if (!allowed_runs(x->allowed, x->command))
		return err_set(e, ERR_DENIED, 0,
			       "exec.command: %.200s is not allowed: add it with --allow-exec",
			       x->command[0]);
	child.argv = x->command;
	child.hello = json_pack("{s:s,s:s?}", "provider", s->name, "mediaURL", s->media_url);
	p->state = helper_new(&words, s, child_new(&child), RATE, CONCURRENT);
	return 0;
}

static void exec_close(struct provider *p)
{
	exec_elastic_drop(p);
	helper_close(p);
}

static const struct provider_hardware_ops hardware = {
	.observe = helper_observe,
	.power = helper_power,
	.boot = helper_boot,
	.media = helper_media,
};

const struct provider_ops exec_provider_ops = {
	.type = "exec",
	.open = exec_open,
	.close = exec_close,
	.attach = helper_attach,
	.detach = helper_detach,
	.hardware = &hardware,
	.elastic = &exec_elastic_ops,
};
