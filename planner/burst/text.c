/*
 * text: writes a burst_code and its two numbers as text, using the table
 * planner/burst/codes.def.
 * Tests: tests/unit/planner/burst/test_burst.c
 */
#include "base/buf.h"
#include "base/money.h"
#include "base/str.h"
#include "planner/burst/burst_impl.h"

const char *const burst_code_names[] = {
#define BURST_CODE(id, name, words) [BURST_##id] = (name),
#include "planner/burst/codes.def"
#undef BURST_CODE
	NULL,
};
const char *const burst_mode_names[] = {"Shadow", "Recommend", "Enforce", NULL};
const char *const burst_scope_names[] = {"Policy",   "Tenant", "Workload",
					 "Provider", "Global", NULL};
const char *const burst_period_names[] = {"Hour", "Day", "Week", "Month", "Quarter", "Total", NULL};
static const char *const code_words[] = {
#define BURST_CODE(id, name, words) [BURST_##id] = (words),
#include "planner/burst/codes.def"
#undef BURST_CODE
};

static void put_number(struct buf *b, char how, int64_t n)
{
	char money[MONEY_TEXT], time[STR_TIME_SIZE];

	if (how == '$')
		buf_puts(b, money_format(n, money));
	else if (how == '~')
		buf_puts(b, n < 0 ? "never" : str_duration(time, n / 1000 * 1000));
	else if (how == '%')
		buf_printf(b, "%lld %%", (long long)(n / 10000));
	else
		buf_printf(b, "%lld", (long long)n);
}

static const char *text(enum burst_code code, int64_t is, int64_t limit, const char *about,
			struct arena *a)
{
	const char *s, *out;
	struct buf b;

	buf_init(&b, 4096);
	for (s = code_words[code]; *s; s++) {
		if (*s == '?') {
			buf_puts(&b, str_or(about, ""));
		} else if ((*s == '$' || *s == '~' || *s == '#' || *s == '%') &&
			   (s[1] == '0' || s[1] == '1')) {
			put_number(&b, *s, s[1] == '0' ? is : limit);
			s++;
		} else {
			buf_put(&b, s, 1);
		}
	}
	out = arena_strdup(a, b.data);
	buf_done(&b);
	return out;
}

const char *burst_why_text(const struct burst_why *y, struct arena *a)
{
	return text(y->code, y->is, y->limit, NULL, a);
}

const char *burst_launch_text(const struct burst_decision *d, struct arena *a)
{
	const struct offer *o = &burst_best(d)->kind;
	char money[MONEY_TEXT];

	return arena_printf(a, "%lld x %s %s in %s for at most %s %s%s", (long long)d->nodes,
			    market_names[o->market], o->type, str_or(o->zone, o->region),
			    money_format(d->cost, money), d->policy->cost.currency,
			    burst_moving_text(d, a));
}

const char *burst_moving_text(const struct burst_decision *d, struct arena *a)
{
	char money[MONEY_TEXT], time[STR_TIME_SIZE];

	if (!d->egress && !d->stage_ms)
		return "";
	return arena_printf(a, ", with %s for moving data%s%s", money_format(d->egress, money),
			    d->stage_ms ? ", which takes " : "",
			    d->stage_ms ? str_duration(time, (d->stage_ms + 999) / 1000 * 1000)
					: "");
}

const char *burst_text(const struct burst_decision *d, struct arena *a)
{
	const char *then;

	if (d->code != BURST_APPROVAL && d->code != BURST_BEYOND)
		return text(d->code, d->is, d->limit, d->about, a);
	then = d->proposed ? burst_launch_text(d, a)
			   : arena_printf(a, "nothing could be launched now: %s",
					  text(d->then, d->is, d->limit, d->about, a));
	return arena_printf(a, "%s (%s): drover approve burst/%s/%s/%s",
			    text(d->code, d->is, d->limit, NULL, a), then, d->policy->name,
			    d->work->tenant, d->work->name);
}
