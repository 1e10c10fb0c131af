/* burst_print: one function for each part of the output, first as JSON, then as a table. */
#include "cli/burst/print.h"

#include <stdio.h>

#include "base/market.h"
#include "base/money.h"
#include "base/str.h"

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
	char money[MONEY_TEXT], time[STR_TIME_SIZE];
	json_t *offers = json_array();
	json_t *j = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "tenant", d->work->tenant, "work",
			      d->work->name, "policy", d->policy ? d->policy->name : "", "mode",
			      d->policy ? burst_mode_names[d->policy->mode] : "", "reason",
			      burst_code_names[d->code], "message", burst_text(d, a));

	if (d->offer) {
		json_object_set_new(j, "nodes", json_integer(d->nodes));
		json_object_set_new(j, "cost", json_string(money_format(d->cost, money)));
		json_object_set_new(j, "currency", json_string(d->policy->cost.currency));
		if (d->egress)
			json_object_set_new(j, "egress",
					    json_string(money_format(d->egress, money)));
		if (d->stage_ms)
			json_object_set_new(j, "stageTime",
					    json_string(str_duration(time, d->stage_ms)));
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
	if (x->forecast >= 0)
		json_object_set_new(j, "forecast", json_string(money_format(x->forecast, alert)));
	return j;
}

void burst_print_json(const struct burst *b, json_t *aside, struct arena *a)
{
	json_t *decisions = json_array(), *accounts = json_array(), *errors = json_array();
	OWN_JSON all = json_pack("{s:o, s:o, s:o, s:O*}", "decisions", decisions, "budgets",
				 accounts, "errors", errors, "aside", aside);

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
		(void)printf(": %lld x %s %s in %s, costs at most %s %s in total%s\n",
			     (long long)d->nodes, market_names[d->offer->kind.market],
			     d->offer->kind.type,
			     of(str_or(d->offer->kind.zone, d->offer->kind.region)),
			     money_format(d->cost, money), d->policy->cost.currency,
			     burst_moving_text(d, a));
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

static void print_aside(const json_t *aside)
{
	const json_t *x;
	size_t i;

	json_array_foreach (aside, i, x)
		(void)printf("%s %s: %s: %s\n", of(json_str_at(x, "tenant")),
			     of(json_str_at(x, "work")), of(json_str_at(x, "reason")),
			     of(json_str_at(x, "message")));
}

void burst_print_table(const struct burst *b, const json_t *aside, struct arena *a)
{
	char amount[MONEY_TEXT], before[MONEY_TEXT], after[MONEY_TEXT], forecast[MONEY_TEXT];

	for (size_t i = 0; i < b->n; i++)
		print_decision(b, &b->v[i], a);
	print_aside(aside);
	(void)printf("%zu of %zu pods and gangs would get cloud instances.\n", b->chosen,
		     b->n + json_array_size(aside));
	for (size_t i = 0; i < b->naccounts; i++) {
		const struct burst_account *x = &b->accounts[i];

		(void)printf(
			"policy %s, budget (%s%s%s, per %s): %s of %s %s used; with this plan %s "
			"%s%s%s%s\n",
			x->policy->name, burst_scope_names[x->budget->scope], *x->of ? " " : "",
			x->of, burst_period_names[x->budget->per], money_format(x->before, before),
			money_format(x->amount, amount), x->policy->cost.currency,
			money_format(x->after, after), x->policy->cost.currency,
			x->alert >= 0 ? " (reaches the alert threshold)" : "",
			x->forecast >= 0 ? "; forecast for the period " : "",
			x->forecast >= 0 ? money_format(x->forecast, forecast) : "");
	}
	for (size_t i = 0; i < b->in->npolicies; i++)
		if (b->errors[i])
			(void)printf("error: policy %s: %s\n", b->policies[i]->name, b->errors[i]);
}
