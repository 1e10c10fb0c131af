/* cost_compare: adds up the rows by GPU product and currency, then multiplies their GPU time by the
 * lowest rate of each kind. */
#include "cli/cost_compare.h"

#include <stdlib.h>
#include <string.h>

#include "base/market.h"
#include "base/money.h"
#include "base/str.h"
#include "controller/rules/ledger.h"

#define HOUR_S 3600

/* Sums of one GPU product and currency. seconds: GPU time. unpriced: part of it without a price;
 * on_owned: part of it on owned machines. */
struct sum {
	const char *product, *currency;
	int64_t seconds, unpriced, on_owned, paid;
};

static const struct cost_type *type_of(const struct cost_comparison *c,
				       const struct virtual_cluster_charge *x)
{
	for (size_t i = 0; i < c->ntypes; i++)
		if (str_eq(c->types[i].provider, x->provider) &&
		    str_eq(c->types[i].name, x->instance_type))
			return &c->types[i];
	return NULL;
}

static struct sum *sum_of(struct sum *v, size_t *n, const char *product, const char *currency)
{
	for (size_t i = 0; i < *n; i++)
		if (str_eq(v[i].product, product) && str_eq(v[i].currency, currency))
			return &v[i];
	v[*n] = (struct sum){.product = product, .currency = currency};
	return &v[(*n)++];
}

/* Adds a charge to its sum. Charges without GPUs, or of a type that no Provider has any more, are
 * left out. */
static int add(const struct cost_comparison *c, const struct virtual_cluster_charge *x,
	       struct sum *v, size_t *n, struct err *e)
{
	const struct cost_type *t = type_of(c, x);
	int64_t seconds, micro = 0;
	struct sum *s;

	if (!t || !t->product || x->gpus <= 0)
		return 0;
	s = sum_of(v, n, t->product, str_or(x->price_per_hour < 0 ? t->currency : x->currency, ""));
	if (!ledger_gpu_seconds(x, &seconds) || !money_add(&s->seconds, seconds) ||
	    (x->price_per_hour >= 0 && !ledger_amount(x, &micro)) || !money_add(&s->paid, micro))
		return err_set(e, ERR_INVALID, 0, "the sums of GPU %.63s are too large",
			       t->product);
	s->unpriced += x->price_per_hour < 0 ? seconds : 0;
	s->on_owned += t->elastic ? 0 : seconds;
	return 0;
}

/* True if price p of a machine with g GPUs is less for a GPU than the price of type `best`. */
static bool is_less(int64_t p, int64_t g, const struct cost_type *best, enum market m)
{
	int64_t a, b;

	return !best || !money_times(p, best->gpus, &a) || !money_times(best->price[m], g, &b) ||
	       a < b;
}

/* Returns the type with the lowest rate of a GPU hour, among owned machines or those of clouds.
 * NULL: none has a price in this currency. */
static const struct cost_type *lowest(const struct cost_comparison *c, const struct sum *s,
				      bool elastic, enum market m)
{
	const struct cost_type *best = NULL;

	for (size_t i = 0; i < c->ntypes; i++) {
		const struct cost_type *t = &c->types[i];

		if (t->elastic == elastic && t->gpus > 0 && t->price[m] >= 0 &&
		    str_eq(t->product, s->product) && str_eq(t->currency, s->currency) &&
		    is_less(t->price[m], t->gpus, best, m))
			best = t;
	}
	return best;
}

/* Sets o[key] to the price of the sum's GPU time on machines of type t. */
static void put_price(json_t *o, const char *key, const struct cost_type *t, enum market m,
		      int64_t gpu_seconds)
{
	char text[MONEY_TEXT];
	int64_t ms, micro;

	if (t && money_times(gpu_seconds, 1000, &ms) &&
	    money_for_ms(t->price[m], ms / t->gpus, &micro))
		json_object_set_new(o, key, json_string(money_format(micro, text)));
}

static double rate(const struct cost_type *t, enum market m)
{
	return (double)t->price[m] / (double)t->gpus;
}

/* Sets o[key] to the part of its time for which an owned GPU must be used so that it costs less
 * than a GPU of type t. */
static void put_even(json_t *o, const char *key, const struct cost_type *owned,
		     const struct cost_type *t, enum market m)
{
	if (owned && t && t->price[m] > 0)
		json_object_set_new(o, key, json_real(rate(owned, MARKET_ON_DEMAND) / rate(t, m)));
}

static int64_t owned_gpus(const struct cost_comparison *c, const char *product)
{
	int64_t n = 0;

	for (size_t i = 0; i < c->ntypes; i++)
		if (!c->types[i].elastic && str_eq(c->types[i].product, product))
			n += c->types[i].machines * c->types[i].gpus;
	return n;
}

static json_t *row_of(const struct cost_comparison *c, const struct sum *s)
{
	const struct cost_type *owned = lowest(c, s, false, MARKET_ON_DEMAND),
			       *demand = lowest(c, s, true, MARKET_ON_DEMAND),
			       *spot = lowest(c, s, true, MARKET_SPOT),
			       *reserved = lowest(c, s, true, MARKET_RESERVED);
	const int64_t gpus = owned_gpus(c, s->product);
	json_t *wins = json_object();
	char text[MONEY_TEXT];
	json_t *o = json_pack("{s:s, s:s, s:f, s:f, s:s, s:I, s:o}", "product", s->product,
			      "currency", s->currency, "gpuHours", (double)s->seconds / HOUR_S,
			      "gpuHoursWithoutPrice", (double)s->unpriced / HOUR_S, "paid",
			      money_format(s->paid, text), "ownedGPUs", (json_int_t)gpus,
			      "ownWinsAbove", wins);

	put_price(o, "owned", owned, MARKET_ON_DEMAND, s->seconds);
	put_price(o, "onDemand", demand, MARKET_ON_DEMAND, s->seconds);
	put_price(o, "spot", spot, MARKET_SPOT, s->seconds);
	put_price(o, "reserved", reserved, MARKET_RESERVED, s->seconds);
	if (gpus && c->seconds > 0)
		json_object_set_new(
			o, "ownedUse",
			json_real((double)s->on_owned / ((double)gpus * (double)c->seconds)));
	put_even(wins, "onDemand", owned, demand, MARKET_ON_DEMAND);
	put_even(wins, "reserved", owned, reserved, MARKET_RESERVED);
	return o;
}

static int by_name(const void *x, const void *y)
{
	const struct sum *a = x, *b = y;
	const int d = strcmp(a->product, b->product);

	return d ? d : strcmp(a->currency, b->currency);
}

json_t *cost_compare(const struct cost_comparison *c, struct arena *a, struct err *e)
{
	struct sum *v = arena_calloc(a, c->rows->n + 1, sizeof(*v));
	json_t *list = json_array();
	size_t n = 0;

	for (size_t i = 0; i < c->rows->n; i++)
		if (add(c, &c->rows->v[i].charge, v, &n, e) < 0) {
			json_decref(list);
			return NULL;
		}
	qsort(v, n, sizeof(*v), by_name);
	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, row_of(c, &v[i]));
	return list;
}

static const char *percent(const json_t *x, char out[static 16])
{
	if (json_is_number(x))
		str_format(out, 16, "%.0f %%", json_number_value(x) * 100);
	else
		str_copy(out, 16, "-");
	return out;
}

void cost_compare_table(const json_t *comparison, struct buf *out)
{
	char even[16], reserved[16], used[16];
	json_t *x;
	size_t i;

	buf_printf(out, "%-20s %-4s %10s %14s %14s %14s %14s %14s  %9s %9s %9s\n", "GPU", "",
		   "HOURS", "PAID", "OWNED", "ON DEMAND", "SPOT", "RESERVED", "OWN ABOVE",
		   "RESERVED", "USED");
	json_array_foreach (comparison, i, x)
		buf_printf(out, "%-20s %-4s %10.1f %14s %14s %14s %14s %14s  %9s %9s %9s\n",
			   json_str_at(x, "product"), json_str_at(x, "currency"),
			   json_number_value(json_object_get(x, "gpuHours")),
			   json_str_at(x, "paid"), str_or(json_str_at(x, "owned"), "-"),
			   str_or(json_str_at(x, "onDemand"), "-"),
			   str_or(json_str_at(x, "spot"), "-"),
			   str_or(json_str_at(x, "reserved"), "-"),
			   percent(json_at(x, "ownWinsAbove", "onDemand"), even),
			   percent(json_at(x, "ownWinsAbove", "reserved"), reserved),
			   percent(json_object_get(x, "ownedUse"), used));
	if (!json_array_size(comparison))
		buf_puts(out, "no charges for GPUs in this time\n");
}
