#include "cli/cost_print.h"

#include <stdlib.h>
#include <string.h>
#include "base/money.h"
#include "base/str.h"
#include "controller/rules/ledger.h"
#include "controller/rules/provider.h"

#define GPU "nvidia.com/gpu"

/* --- numbers ---------------------------------------------------------------------------------- */

static int too_much(const struct cost_row *r, struct err *e)
{
	return err_set(e, ERR_INVALID, 0,
		       "tenant %s, month %s: the sum of the charges is too large", r->tenant,
		       r->charge.month);
}

/* Formats seconds as hours with six decimals, rounded down, for JSON and CSV. Returns `out`. */
static const char *hours(int64_t seconds, char out[static MONEY_TEXT])
{
	const int64_t rest = seconds % 3600;

	return money_format(seconds / 3600 * MONEY_UNIT + rest * MONEY_UNIT / 3600, out);
}

/* Formats seconds as hours with one decimal, for the table. Returns `out`. */
static const char *short_hours(int64_t seconds, char out[static MONEY_TEXT])
{
	str_format(out, MONEY_TEXT, "%lld.%lld", (long long)(seconds / 3600),
		   (long long)(seconds % 3600 / 360));
	return out;
}

/* Returns the amount as text in buf; NULL: it is not known (-1). */
static const char *money_or_none(int64_t micro, char buf[static MONEY_TEXT])
{
	return micro < 0 ? NULL : money_format(micro, buf);
}

/* Computes the GPU-seconds of a row and its cost in millionths (0 if its price is not known).
 * Returns 0, or -1 with *e if a result is too large. */
static int worth(const struct cost_row *r, int64_t *gpu_seconds, int64_t *micro, struct err *e)
{
	*micro = 0;
	if (!ledger_gpu_seconds(&r->charge, gpu_seconds) ||
	    *gpu_seconds > INT64_MAX / MONEY_UNIT * 3600 ||
	    (r->charge.price_per_hour >= 0 && !ledger_amount(&r->charge, micro)))
		return too_much(r, e);
	return 0;
}

/* --- order ------------------------------------------------------------------------------------ */

static int by_all(const void *a, const void *b)
{
	const struct cost_row *x = a, *y = b;
	const char *const of_x[] = {x->tenant,	    x->charge.month,	x->charge.currency,
				    x->charge.pool, x->charge.provider, x->charge.instance_type};
	const char *const of_y[] = {y->tenant,	    y->charge.month,	y->charge.currency,
				    y->charge.pool, y->charge.provider, y->charge.instance_type};
	int d = 0;

	for (size_t i = 0; i < sizeof(of_x) / sizeof(of_x[0]) && !d; i++)
		d = strcmp(str_or(of_x[i], ""), str_or(of_y[i], ""));
	return d ? d : x->charge.phase - y->charge.phase;
}

void cost_sort(struct cost_rows *r)
{
	if (r->n)
		qsort(r->v, r->n, sizeof(*r->v), by_all);
}

/* --- table ------------------------------------------------------------------------------------ */

enum { PHASES = PHASE_WIPING + 1 };

struct group {
	int64_t gpu[PHASES], all, machine, micro;
};

static bool same_group(const struct cost_row *a, const struct cost_row *b)
{
	return str_eq(a->tenant, b->tenant) && str_eq(a->charge.month, b->charge.month) &&
	       str_eq(str_or(a->charge.currency, ""), str_or(b->charge.currency, ""));
}

static int add_row(struct group *g, const struct cost_row *r, struct err *e)
{
	int64_t gpu, micro;

	if (worth(r, &gpu, &micro, e) < 0)
		return -1;
	if (!money_add(&g->gpu[r->charge.phase], gpu) || !money_add(&g->all, gpu) ||
	    !money_add(&g->machine, r->charge.seconds) || !money_add(&g->micro, micro))
		return too_much(r, e);
	return 0;
}

int cost_table(const struct cost_rows *r, struct buf *out, struct err *e)
{
	size_t width = strlen("TENANT");

	for (size_t i = 0; i < r->n; i++)
		if (strlen(r->v[i].tenant) > width)
			width = strlen(r->v[i].tenant);
	buf_printf(out, "%-*s  %-7s  %13s  %9s  %9s  %9s  %9s  %9s  %16s\n", (int)width, "TENANT",
		   "MONTH", "MACHINE-HOURS", "GPU-HOURS", "ALLOCATED", "READY", "DRAINING",
		   "WIPING", "COST");
	for (size_t i = 0, next; i < r->n; i = next) {
		const struct cost_row *first = &r->v[i];
		struct group g = {0};
		char t[PHASES + 2][MONEY_TEXT], money[MONEY_TEXT];

		for (next = i; next < r->n && same_group(first, &r->v[next]); next++)
			if (add_row(&g, &r->v[next], e) < 0)
				return -1;
		for (int p = 0; p < PHASES; p++)
			short_hours(g.gpu[p], t[p]);
		buf_printf(out, "%-*s  %-7s  %13s  %9s  %9s  %9s  %9s  %9s  ", (int)width,
			   first->tenant, first->charge.month, short_hours(g.machine, t[PHASES]),
			   short_hours(g.all, t[PHASES + 1]), t[PHASE_ALLOCATED], t[PHASE_READY],
			   t[PHASE_DRAINING], t[PHASE_WIPING]);
		if (first->charge.price_per_hour >= 0)
			buf_printf(out, "%12s %s\n", money_format(g.micro, money),
				   str_or(first->charge.currency, ""));
		else
			buf_printf(out, "%16s\n", "no price");
	}
	return 0;
}

/* --- JSON and CSV ----------------------------------------------------------------------------- */

json_t *cost_json(const struct cost_rows *r, struct err *e)
{
	OWN_JSON list = json_array();
	char now[STR_TIME_SIZE];

	for (size_t i = 0; i < r->n; i++) {
		const struct virtual_cluster_charge *c = &r->v[i].charge;
		int64_t gpu, micro;
		char money[MONEY_TEXT], price[MONEY_TEXT];

		if (worth(&r->v[i], &gpu, &micro, e) < 0)
			return NULL;
		json_array_append_new(
			list,
			json_pack("{s:s, s:s, s:s*, s:s*, s:s*, s:s, s:I, s:I, s:s*, s:s*, s:s*}",
				  "tenant", r->v[i].tenant, "month", c->month, "pool", c->pool,
				  "provider", c->provider, "instanceType", c->instance_type,
				  "phase", virtual_cluster_phase_names[c->phase], "machineSeconds",
				  (json_int_t)c->seconds, "gpuSeconds", (json_int_t)gpu,
				  "pricePerHour", money_or_none(c->price_per_hour, price),
				  "currency", c->currency, "cost",
				  c->price_per_hour < 0 ? NULL : money_format(micro, money)));
	}
	return json_pack("{s:s, s:O}", "time", str_time(now, r->now), "charges", list);
}

/* Writes one CSV field, in quotes if RFC 4180 requires them. */
static void put(struct buf *out, const char *text)
{
	const char *s = str_or(text, "");

	if (!strpbrk(s, ",\"\r\n")) {
		buf_printf(out, "%s", s);
		return;
	}
	buf_printf(out, "\"");
	for (; *s; s++)
		buf_printf(out, *s == '"' ? "\"\"" : "%c", *s);
	buf_printf(out, "\"");
}

static void put_line(struct buf *out, const char *const *fields, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_printf(out, ",");
		put(out, fields[i]);
	}
	buf_printf(out, "\r\n");
}
#define PUT_LINE(out_, list_) put_line((out_), (list_), sizeof(list_) / sizeof((list_)[0]))

int cost_csv(const struct cost_rows *r, struct buf *out, struct err *e)
{
	static const char *const head[] = {"tenant",	   "month",    "pool",	       "provider",
					   "instanceType", "phase",    "machineHours", "gpuHours",
					   "pricePerHour", "currency", "cost"};

	PUT_LINE(out, head);
	for (size_t i = 0; i < r->n; i++) {
		const struct virtual_cluster_charge *c = &r->v[i].charge;
		char machine[MONEY_TEXT], gpus[MONEY_TEXT], money[MONEY_TEXT], price[MONEY_TEXT];
		int64_t gpu, micro;

		if (worth(&r->v[i], &gpu, &micro, e) < 0)
			return -1;
		{
			const char *const line[] = {
				r->v[i].tenant,
				c->month,
				c->pool,
				c->provider,
				c->instance_type,
				virtual_cluster_phase_names[c->phase],
				hours(c->seconds, machine),
				hours(gpu, gpus),
				money_or_none(c->price_per_hour, price),
				c->currency,
				c->price_per_hour < 0 ? NULL : money_format(micro, money),
			};

			PUT_LINE(out, line);
		}
	}
	return 0;
}

static const char *const focus_head[] = {
	"BilledCost",
	"BillingAccountId",
	"BillingAccountName",
	"BillingCurrency",
	"BillingPeriodEnd",
	"BillingPeriodStart",
	"ChargeCategory",
	"ChargeClass",
	"ChargeDescription",
	"ChargeFrequency",
	"ChargePeriodEnd",
	"ChargePeriodStart",
	"ConsumedQuantity",
	"ConsumedUnit",
	"ContractedCost",
	"ContractedUnitPrice",
	"EffectiveCost",
	"InvoiceIssuerName",
	"ListCost",
	"ListUnitPrice",
	"PricingCategory",
	"PricingQuantity",
	"PricingUnit",
	"ProviderName",
	"PublisherName",
	"ResourceId",
	"ResourceName",
	"ResourceType",
	"ServiceCategory",
	"ServiceName",
	"SkuId",
	"SkuPriceId",
	"SubAccountId",
	"SubAccountName",
	"Tags",
	"x_GpuHours",
	"x_NodePool",
	"x_Phase",
};

static int put_focus(const struct cost_row *r, int64_t now, struct buf *out, struct err *e)
{
	const struct virtual_cluster_charge *c = &r->charge;
	char begin[STR_TIME_SIZE], end[STR_TIME_SIZE], until[STR_TIME_SIZE], used[MONEY_TEXT],
		gpus[MONEY_TEXT], money[MONEY_TEXT], about[512], sku[400], price_id[440];
	char each[MONEY_TEXT];
	const char *cost, *price = money_format(c->price_per_hour, each),
			  *type = str_or(c->instance_type, "");
	const char *provider = str_or(c->provider, ""),
		   *phase = virtual_cluster_phase_names[c->phase];
	int64_t gpu, micro, from, to;

	if (worth(r, &gpu, &micro, e) < 0)
		return -1;
	if (!ledger_month_times(c->month, &from, &to))
		return err_set(e, ERR_INVALID, 0, "%s: \"%s\" is not a month", r->tenant, c->month);
	cost = money_format(micro, money);
	hours(c->seconds, used);
	str_format(about, sizeof(about), "%s of %s, pool %s: %s", type, provider,
		   str_or(c->pool, ""), phase);
	str_format(sku, sizeof(sku), "%s/%s", provider, type);
	str_format(price_id, sizeof(price_id), "%s/%s", sku, price);
	str_time(begin, from);
	str_time(end, to);
	str_time(until, now > from && now < to ? now : to);
	{
		const char *const line[] = {
			cost,	       "drover",  "drover",
			c->currency,   end,	  begin,
			"Usage",       NULL,	  about,
			"Usage-Based", until,	  begin,
			used,	       "Hours",	  cost,
			price,	       cost,	  provider,
			cost,	       price,	  "Standard",
			used,	       "Hours",	  provider,
			provider,      sku,	  type,
			"Machine",     "Compute", "GPU machines",
			sku,	       price_id,  str_or(r->uid, r->tenant),
			r->tenant,     NULL,	  hours(gpu, gpus),
			c->pool,       phase,
		};

		_Static_assert(sizeof(line) == sizeof(focus_head), "a value for each column");
		PUT_LINE(out, line);
	}
	return 0;
}

int cost_focus(const struct cost_rows *r, struct buf *out, size_t *left_out, struct err *e)
{
	*left_out = 0;
	PUT_LINE(out, focus_head);
	for (size_t i = 0; i < r->n; i++) {
		if (r->v[i].charge.price_per_hour < 0)
			++*left_out;
		else if (put_focus(&r->v[i], r->now, out, e) < 0)
			return -1;
	}
	return 0;
}

json_t *cost_opencost(const char *provider, const struct provider_object_instance_type *t,
		      struct err *e)
{
	const int64_t gpus = provider_type_gpus(t), price = t->price_per_hour;
	char each[MONEY_TEXT], about[512];

	if (gpus <= 0 || price < 0) {
		err_note(e, ERR_INVALID, 0, "instance type %s of Provider %s has no %s", t->name,
			 provider, gpus > 0 ? "pricePerHour" : GPU);
		return NULL;
	}
	money_format(price / gpus + (price % gpus > 0), each);
	str_format(about, sizeof(about),
		   "%s of Provider %s, its whole price charged to its GPUs, in %s", t->name,
		   provider, str_or(t->currency, ""));
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "provider",
			 "custom", "description", about, "CPU", "0", "spotCPU", "0", "RAM", "0",
			 "spotRAM", "0", "GPU", each, "storage", "0", "zoneNetworkEgress", "0",
			 "regionNetworkEgress", "0", "internetNetworkEgress", "0");
}
