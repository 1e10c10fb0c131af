/*
 * burstpolicy_check: conditions on a BurstPolicy that its field table does not express.
 * Tests: tests/unit/api/test_burstpolicy.c
 */
#include "api/tables.h"
#include "base/money.h"
#include "base/zone.h"

/* Largest data set, 64Pi; the sum of BURST_POLICY_DATASETS of them is an int64_t. */
#define BYTES_MAX ((int64_t)1 << 56)

/* Values of scope and per that are compared. */
enum { BURST_POLICY_OF_WORKLOAD = 2, BURST_POLICY_TOTAL = 5 };

static bool has_offer(const struct burst_policy *p, const char *name)
{
	for (size_t i = 0; i < p->spec.offers.n; i++)
		if (str_eq(p->spec.offers.v[i].name, name))
			return true;
	return false;
}

static int check_part(const char *text, const char *path, struct err *e)
{
	int64_t micro;

	if (money_parse(text, &micro, e) < 0)
		return err_wrap(e, "%s", path);
	if (micro > MONEY_UNIT)
		return err_set(e, ERR_INVALID, 0, "%s: want a fraction from 0 to 1, got \"%s\"",
			       path, text);
	return 0;
}

static int check_names(const struct burst_policy *p, struct err *e)
{
	for (size_t i = 0; i < p->spec.tiers.n; i++) {
		const struct burst_policy_tier *t = &p->spec.tiers.v[i];

		for (size_t k = 0; k < t->offers.n; k++)
			if (!has_offer(p, t->offers.v[k]))
				return err_set(e, ERR_INVALID, 0,
					       "spec.tiers[%zu].offers[%zu]: want a name among "
					       "spec.offers, got \"%s\"",
					       i, k, t->offers.v[k]);
	}
	for (size_t i = 0; i < p->spec.cost.prices.n; i++)
		if (!has_offer(p, p->spec.cost.prices.v[i].offer))
			return err_set(
				e, ERR_INVALID, 0,
				"spec.cost.prices[%zu].offer: want a name among spec.offers, got "
				"\"%s\"",
				i, p->spec.cost.prices.v[i].offer);
	return 0;
}

static int check_factors(const struct burst_policy *p, struct err *e)
{
	for (size_t i = 0; i < p->spec.offers.n; i++) {
		const struct labels *l = &p->spec.offers.v[i].gpu_equivalence;

		for (size_t k = 0; k < l->n; k++) {
			int64_t micro;

			if (money_parse(l->v[k].value, &micro, e) < 0)
				return err_wrap(e, "spec.offers[%zu].gpuEquivalence.%s", i,
						l->v[k].key);
			if (micro <= 0 || micro > 1000 * MONEY_UNIT)
				return err_set(
					e, ERR_INVALID, 0,
					"spec.offers[%zu].gpuEquivalence.%s: want more than 0 and "
					"at most 1000, got \"%s\"",
					i, l->v[k].key, l->v[k].value);
		}
	}
	return 0;
}

static int check_exhausted(const struct burst_policy *p, struct err *e)
{
	for (size_t i = 0; i < p->spec.budget.n; i++)
		if (p->spec.budget.v[i].on_exhausted && p->spec.budget.v[i].mode)
			return err_set(
				e, ERR_INVALID, 0,
				"spec.budget[%zu].onExhausted: %s requires mode Hard", i,
				burst_policy_exhausted_names[p->spec.budget.v[i].on_exhausted]);
	return 0;
}

static int check_carried(const struct burst_policy *p, struct err *e)
{
	for (size_t i = 0; i < p->spec.budget.n; i++) {
		const struct burst_policy_budget *b = &p->spec.budget.v[i];

		if (b->carry_over < 0)
			continue;
		if (b->per == BURST_POLICY_TOTAL)
			return err_set(e, ERR_INVALID, 0,
				       "spec.budget[%zu].carryOver: a budget per Total has no last "
				       "period",
				       i);
		if (b->scope == BURST_POLICY_OF_WORKLOAD)
			return err_set(
				e, ERR_INVALID, 0,
				"spec.budget[%zu].carryOver: not for scope Workload, because "
				"a new workload has no last period",
				i);
	}
	return 0;
}

static int check_parts(const struct burst_policy *p, struct err *e)
{
	for (size_t i = 0; i < p->spec.budget.n; i++)
		for (size_t k = 0; k < p->spec.budget.v[i].alert_at.n; k++) {
			char path[64];

			str_format(path, sizeof(path), "spec.budget[%zu].alertAt[%zu]", i, k);
			if (check_part(p->spec.budget.v[i].alert_at.v[k], path, e) < 0)
				return -1;
		}
	return 0;
}

static int check_window_zones(const struct burst_policy_window *v, size_t n, const char *list,
			      struct err *e)
{
	for (size_t i = 0; i < n; i++)
		if (zone_check(str_or(v[i].timezone, "UTC"), e) < 0)
			return err_wrap(e, "spec.windows.%s[%zu].timezone", list, i);
	return 0;
}

static int check_zones(const struct burst_policy_spec *s, struct err *e)
{
	for (size_t i = 0; i < s->budget.n; i++)
		if (zone_check(str_or(s->budget.v[i].timezone, "UTC"), e) < 0)
			return err_wrap(e, "spec.budget[%zu].timezone", i);
	if (check_window_zones(s->windows.allow.v, s->windows.allow.n, "allow", e) < 0 ||
	    check_window_zones(s->windows.deny.v, s->windows.deny.n, "deny", e) < 0)
		return -1;
	if (zone_check(str_or(s->windows.freeze_timezone, "UTC"), e) < 0)
		return err_wrap(e, "spec.windows.freezeTimezone");
	return 0;
}

static int check_bytes(struct quantity q, int64_t least, const char *path, struct err *e)
{
	char text[QUANTITY_TEXT];

	if (quantity_cmp(q, quantity_of(least)) >= 0 &&
	    quantity_cmp(q, quantity_of(BYTES_MAX)) <= 0)
		return 0;
	return err_set(e, ERR_INVALID, 0, "%s: want %lld to 64Pi bytes, got %s", path,
		       (long long)least, quantity_format(q, text));
}

static int check_data(const struct burst_policy_data *d, struct err *e)
{
	char path[64];

	for (size_t i = 0; i < d->inputs.n; i++) {
		str_format(path, sizeof(path), "spec.data.inputs[%zu].size", i);
		if (check_bytes(d->inputs.v[i].size, 1, path, e) < 0)
			return -1;
	}
	if (check_bytes(d->bytes_per_second, 0, "spec.data.bytesPerSecond", e) < 0)
		return -1;
	if (d->max_stage_time && !quantity_floor(d->bytes_per_second))
		return err_set(e, ERR_INVALID, 0,
			       "spec.data.maxStageTime: requires spec.data.bytesPerSecond");
	return 0;
}

int burst_policy_check(const void *object, const void *old, struct err *e)
{
	const struct burst_policy *p = object;
	const struct burst_policy_trigger *t = &p->spec.trigger;
	const struct burst_policy_range *gang = &p->spec.match.gang_size,
					*prio = p->spec.match.priority;

	(void)old;
	if (!t->max_queue_wait && !t->predicted_wait_over && !t->deadline_slack_under &&
	    !t->queued_gpus_over && !t->on_prem_impossible)
		return err_set(
			e, ERR_INVALID, 0,
			"spec.trigger: want at least one of maxQueueWait, predictedWaitOver, "
			"deadlineSlackUnder, queuedGPUsOver and onPremImpossible");
	if (object_selector_check(&p->spec.match.workload_selector,
				  "spec.match.workloadSelector.matchExpressions", e) < 0)
		return -1;
	if (gang->max && gang->min > gang->max)
		return err_set(e, ERR_INVALID, 0,
			       "spec.match.gangSize: min must not be greater than max");
	if (prio && prio->min > prio->max)
		return err_set(e, ERR_INVALID, 0,
			       "spec.match.priority: min must not be greater than max");
	if (p->spec.limits.per_tenant_share >= 0 && !p->spec.limits.nodes)
		return err_set(e, ERR_INVALID, 0,
			       "spec.limits.perTenantShare: requires spec.limits.nodes");
	if (check_names(p, e) < 0 || check_factors(p, e) < 0 || check_zones(&p->spec, e) < 0 ||
	    check_exhausted(p, e) < 0 || check_carried(p, e) < 0)
		return -1;
	if (p->spec.data && check_data(p->spec.data, e) < 0)
		return -1;
	return check_parts(p, e);
}
