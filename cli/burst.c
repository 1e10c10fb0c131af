/*
 * burst: `drover burst plan` shows which launches the BurstPolicies would decide on now, and why
 * each other offer is not chosen. `drover burst reset` is in cli/burst_reset.c.
 * Tests: tests/unit/cli/test_burst.c
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/args.h"
#include "base/market.h"
#include "base/file.h"
#include "base/money.h"
#include "base/str.h"
#include "cli/burst_file.h"
#include "cli/cli.h"
#include "cli/verbs.h"

#define FILES 16

struct verb {
	const char *paths[FILES];
	size_t n;
	bool json;
	enum { NOTHING, PLAN, RESET } asked;
	/* arguments of `reset` */
	const char *policy, *reason;
	struct cli_options o;
};

static const struct argp_option options[] = {
	{"filename", 'f', "FILE", 0,
	 "YAML file with BurstPolicies, or with the BurstState (waiting work, cloud offers, "
	 "earlier launches), or both; may be repeated, but only one file has the BurstState",
	 0},
	{"output", 'o', "table|json", 0, "Output format (default: table)", 0},
	{"reason", 'r', "TEXT", 0,
	 "For reset: why the cost is cleared; drover records the text in the policy's BurstLedger",
	 0},
	CLI_CLUSTER_ROWS,
	{0}};

static error_t parse(int key, char *arg, struct argp_state *st)
{
	struct verb *v = st->input;

	switch (key) {
	case 'f':
		if (v->n == FILES)
			argp_error(st, "--filename: at most %d files", FILES);
		v->paths[v->n++] = arg;
		return 0;
	case 'o':
		if (!str_eq(arg, "table") && !str_eq(arg, "json"))
			argp_error(st, "--output: want table or json, got '%s'", arg);
		v->json = str_eq(arg, "json");
		return 0;
	case 'r':
		v->reason = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (v->asked == RESET && !v->policy)
			v->policy = arg;
		else if (!v->asked && str_eq(arg, "plan"))
			v->asked = PLAN;
		else if (!v->asked && str_eq(arg, "reset"))
			v->asked = RESET;
		else
			argp_error(st, "want plan or reset, got '%s'", arg);
		return 0;
	case ARGP_KEY_END:
		if (v->asked == RESET && (!v->policy || str_empty(v->reason)))
			argp_error(st, "reset needs the name of a BurstPolicy and --reason TEXT");
		if (v->asked != RESET && (!v->asked || !v->n))
			argp_error(st,
				   "give a command: plan -f FILE, or reset POLICY --reason TEXT");
		return 0;
	default:
		return cli_option(key, arg, st, &v->o);
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "plan -f FILE\nreset POLICY",
	.doc = "plan: show which waiting work the BurstPolicies in FILE would send to a cloud now, "
	       "to which offer and at what cost, and why each other offer is not chosen. The "
	       "command contacts no cluster and no cloud, and launches nothing.\n\n"
	       "reset: clear the cost of ended launches from the policy's budgets. Running "
	       "launches still count. The BurstLedger records who, when, why and how much.\v"
	       "Examples:\n"
	       "  drover burst plan -f examples/burst/research.yaml \\\n"
	       "      -f examples/burst/scenarios/research.yaml\n"
	       "  drover burst reset research --reason 'new fiscal year'\n"
	       "docs/burst.md describes the file format.",
};

static const char *of(const char *x)
{
	return str_or(x, "-");
}

/* --- JSON ------------------------------------------------------------------------------------- */

static json_t *offer_json(const struct burst_decision *d, const struct burst_offer *o, size_t i,
			  struct arena *a)
{
	const struct burst_why y = burst_why(d, i);
	char money[MONEY_TEXT];
	json_t *j = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "provider", o->provider,
			      "region", o->kind.region, "zone", of(o->kind.zone), "instanceType",
			      o->kind.type, "market", market_names[o->kind.market], "reason",
			      burst_code_names[y.code], "message", burst_why_text(&y, a));

	if (y.cost >= 0)
		json_object_set_new(j, "cost", json_string(money_format(y.cost, money)));
	return j;
}

static json_t *decision_json(const struct burst *b, const struct burst_decision *d, struct arena *a)
{
	char money[MONEY_TEXT];
	json_t *offers = json_array();
	json_t *j = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "tenant", d->work->tenant, "work",
			      d->work->name, "policy", d->policy ? d->policy->name : "", "mode",
			      d->policy ? burst_mode_names[d->policy->mode] : "", "reason",
			      burst_code_names[d->code], "message", burst_text(d, a));

	if (d->offer) {
		json_object_set_new(j, "nodes", json_integer(d->nodes));
		json_object_set_new(j, "cost", json_string(money_format(d->cost, money)));
		json_object_set_new(j, "currency", json_string(d->policy->cost.currency));
	}
	for (size_t i = 0; d->shape && i < b->in->noffers; i++)
		json_array_append_new(offers, offer_json(d, b->offers[i], i, a));
	json_object_set_new(j, "offers", offers);
	return j;
}

static json_t *account_json(const struct burst_account *x)
{
	char amount[MONEY_TEXT], before[MONEY_TEXT], after[MONEY_TEXT], alert[MONEY_TEXT];
	json_t *j = json_pack(
		"{s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "policy", x->policy->name, "scope",
		burst_scope_names[x->budget->scope], "per", burst_period_names[x->budget->per],
		"of", x->of, "amount", money_format(x->amount, amount), "before",
		money_format(x->before, before), "after", money_format(x->after, after));

	if (x->alert >= 0)
		json_object_set_new(j, "alert", json_string(money_format(x->alert, alert)));
	return j;
}

static void print_json(const struct burst *b, struct arena *a)
{
	json_t *decisions = json_array(), *accounts = json_array(), *errors = json_array();
	OWN_JSON all = json_pack("{s:o, s:o, s:o}", "decisions", decisions, "budgets", accounts,
				 "errors", errors);

	for (size_t i = 0; i < b->n; i++)
		json_array_append_new(decisions, decision_json(b, &b->v[i], a));
	for (size_t i = 0; i < b->naccounts; i++)
		json_array_append_new(accounts, account_json(&b->accounts[i]));
	for (size_t i = 0; i < b->in->npolicies; i++)
		if (b->errors[i])
			json_array_append_new(errors, json_pack("{s:s, s:s}", "policy",
								b->policies[i]->name, "message",
								b->errors[i]));
	(void)json_dumpf(all, stdout, JSON_INDENT(2));
	(void)putchar('\n');
}

/* --- table ------------------------------------------------------------------------------------ */

static void print_decision(const struct burst *b, const struct burst_decision *d, struct arena *a)
{
	char money[MONEY_TEXT];

	(void)printf("%s %s", d->work->tenant, d->work->name);
	if (d->policy)
		(void)printf(" (policy %s, %s)", d->policy->name,
			     burst_mode_names[d->policy->mode]);
	if (d->offer)
		(void)printf(": %lld x %s %s in %s, costs at most %s %s in total\n",
			     (long long)d->nodes, market_names[d->offer->kind.market],
			     d->offer->kind.type,
			     of(str_or(d->offer->kind.zone, d->offer->kind.region)),
			     money_format(d->cost, money), d->policy->cost.currency);
	else
		(void)printf(": %s: %s\n", burst_code_names[d->code], burst_text(d, a));
	for (size_t i = 0; d->shape && i < b->in->noffers; i++) {
		const struct burst_offer *o = b->offers[i];
		const struct burst_why y = burst_why(d, i);

		(void)printf("  %-12s %-12s %-14s %-9s %10s  %s: %s\n", o->provider,
			     of(str_or(o->kind.zone, o->kind.region)), o->kind.type,
			     market_names[o->kind.market],
			     y.cost < 0 ? "-" : money_format(y.cost, money),
			     burst_code_names[y.code], burst_why_text(&y, a));
	}
}

static void print_table(const struct burst *b, struct arena *a)
{
	char amount[MONEY_TEXT], before[MONEY_TEXT], after[MONEY_TEXT];

	for (size_t i = 0; i < b->n; i++)
		print_decision(b, &b->v[i], a);
	(void)printf("%zu of %zu pods and gangs would get cloud instances.\n", b->chosen, b->n);
	for (size_t i = 0; i < b->naccounts; i++) {
		const struct burst_account *x = &b->accounts[i];

		(void)printf(
			"policy %s, budget (%s%s%s, per %s): %s of %s %s used; with this plan %s "
			"%s%s\n",
			x->policy->name, burst_scope_names[x->budget->scope], *x->of ? " " : "",
			x->of, burst_period_names[x->budget->per], money_format(x->before, before),
			money_format(x->amount, amount), x->policy->cost.currency,
			money_format(x->after, after), x->policy->cost.currency,
			x->alert >= 0 ? " (reaches the alert threshold)" : "");
	}
	for (size_t i = 0; i < b->in->npolicies; i++)
		if (b->errors[i])
			(void)printf("error: policy %s: %s\n", b->policies[i]->name, b->errors[i]);
}

/* --- the command ------------------------------------------------------------------------------ */

static int plan(const struct verb *v, struct scenario_file *files, char **texts, struct arena *a,
		struct err *e)
{
	struct burst_input in;
	const struct burst *b;
	OWN(zones) zones = zones_new();
	size_t len;

	for (size_t i = 0; i < v->n; i++) {
		texts[i] = file_text(v->paths[i], SCENARIO_BYTES, &len, e);
		if (!texts[i] || scenario_parse(&files[i], v->paths[i], texts[i], len, e) < 0)
			return -1;
	}
	if (burst_file_read(files, v->n, zones, &in, a, e) < 0)
		return -1;
	b = burst_decide(&in, a);
	if (v->json)
		print_json(b, a);
	else
		print_table(b, a);
	return 0;
}

static int reset(const struct verb *v)
{
	const struct cli_options o = {v->o.kubeconfig, v->o.context, v->json};
	struct cli_client c;
	int rc;

	if (cli_open(&c, "drover burst", &o) < 0)
		return 1;
	rc = CLI_REPEAT(&c, cli_do_burst_reset(&c, v->policy, v->reason));
	cli_close(&c);
	return rc;
}

int cli_burst(int argc, char **argv)
{
	OWN(arena) a = arena_new();
	struct scenario_file files[FILES] = {0};
	char *texts[FILES] = {0};
	struct verb v = {0};
	struct err e;
	int rc;

	args_parse(&argp, argc, argv, &v);
	if (v.asked == RESET)
		return reset(&v);
	rc = plan(&v, files, texts, a, &e);
	if (rc < 0)
		(void)fprintf(stderr, "drover burst: %s\n", e.text);
	for (size_t i = 0; i < v.n; i++) {
		scenario_file_done(&files[i]);
		free(texts[i]);
	}
	return rc < 0;
}
