/*
 * cost: `drover cost`: prints what the machines of each tenant cost, by month, up to now.
 * Tests: tests/unit/cli/test_cost.c, tests/unit/cli/test_cost_kept.c
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/args.h"
#include "base/arena.h"
#include "base/loop/loop.h"
#include "base/market.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/cost_compare.h"
#include "cli/cost_print.h"
#include "controller/rules/kept_bills.h"
#include "controller/rules/ledger.h"
#include "controller/rules/provider.h"

#define OUT_MAX (64u << 20)

enum cost_format { FORMAT_TABLE, FORMAT_JSON, FORMAT_CSV, FORMAT_FOCUS, FORMAT_OPENCOST, FORMATS };
static const char *const formats[FORMATS] = {"table", "json", "csv", "focus", "opencost"};

struct cost {
	struct cli_options o;
	const char *month, *tenant, *type, *ns;
	enum cost_format format;
	struct cli_client c;
	struct arena *a;
	struct cost_rows rows;
	/* true: the VirtualCluster of --tenant, or a bill of it, was found */
	bool known;
	/* set of the UIDs of the existing VirtualClusters: {uid: true} */
	json_t *standing;
	struct err e;
	bool failed;
	/* number of bills, and of charges in bills, that could not be decoded */
	size_t left_out;
	/* only for opencost: Provider and instance type of the price, and the number of instance
	 * types that matched */
	const char *provider;
	const struct provider_object_instance_type *priced;
	size_t prices;
	/* only for --compare */
	bool compare;
	struct cost_type *types;
	size_t ntypes, types_room;
	char this_month[LEDGER_MONTH_SIZE];
};

enum { MONTH = 0x6101, TENANT, TYPE, COMPARE };

static const struct argp_option options[] = {
	CLI_CLUSTER_ROWS,
	{"output", 'o', "table|json|csv|focus|opencost", 0, "Output format (default: table)", 0},
	{"month", MONTH, "YYYY-MM", 0, "Only this month, UTC (default: every recorded month)", 0},
	{"tenant", TENANT, "NAME", 0, "Only this VirtualCluster", 0},
	CLI_NAMESPACE_ROW,
	{"instance-type", TYPE, "NAME", 0, "Only this instance type", 0},
	{"compare", COMPARE, 0, 0,
	 "Show what the GPU hours of a month would have cost on owned machines and in clouds, and "
	 "from which use on owning costs less (default month: this one)",
	 0},
	{0}};

static error_t parse(int key, char *arg, struct argp_state *st)
{
	struct cost *w = st->input;
	int64_t begin, end;

	switch (key) {
	case 'o':
		for (int f = 0; f < FORMATS; f++)
			if (str_eq(arg, formats[f])) {
				w->format = (enum cost_format)f;
				return 0;
			}
		argp_error(st, "--output: want table, json, csv, focus or opencost, got '%s'", arg);
		return 0;
	case MONTH:
		if (!ledger_month_times(arg, &begin, &end))
			argp_error(st, "--month: want a month such as 2026-11, got '%s'", arg);
		w->month = arg;
		return 0;
	case TENANT:
		w->tenant = arg;
		return 0;
	case 'n':
		w->ns = arg;
		return 0;
	case TYPE:
		w->type = arg;
		return 0;
	case COMPARE:
		w->compare = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(st, "unexpected argument '%s'; select a tenant with --tenant", arg);
		return 0;
	case ARGP_KEY_END:
		if (w->format == FORMAT_OPENCOST && (w->month || w->tenant))
			argp_error(st,
				   "--output opencost prints current prices and cannot be combined "
				   "with --month or --tenant");
		if (w->compare && w->format != FORMAT_TABLE && w->format != FORMAT_JSON)
			argp_error(st, "--compare: --output is table or json");
		return 0;
	default:
		return cli_option(key, arg, st, &w->o);
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.doc = "Show what the machines of each tenant cost, by month, up to now.\v"
	       "Examples:\n"
	       "  drover cost --month 2026-11\n"
	       "  drover cost --tenant team-a -o csv > team-a.csv\n"
	       "  drover cost --month 2026-11 -o focus > focus.csv\n"
	       "  drover cost --compare --month 2026-11\n"
	       "  drover cost -o opencost --instance-type hgx-h100-8\n"
	       "focus: CSV in the columns of FOCUS 1.0, without charges that have no price. "
	       "opencost: the price of one instance type, charged to its GPUs, as OpenCost custom "
	       "pricing. The command changes nothing. It reads VirtualClusters, and ConfigMaps "
	       "drover-bills-* for deleted tenants; for opencost, Providers; for --compare, "
	       "Providers and Machines.",
};

static void add_row(struct cost *w, const struct cost_row *r)
{
	w->rows.v = arena_grow(w->a, w->rows.v, w->rows.n, sizeof(*w->rows.v));
	w->rows.v[w->rows.n++] = *r;
}

static void add_bill(struct cost *w, const char *name, const char *uid,
		     const struct virtual_cluster_cost *cost)
{
	struct virtual_cluster_cost c = ledger_at(cost, w->rows.now, w->a);

	w->known = true;
	for (size_t i = 0; i < c.charges.n; i++) {
		const struct virtual_cluster_charge *x = &c.charges.v[i];

		if (x->seconds && (!w->month || str_eq(w->month, x->month)) &&
		    (!w->type || str_eq(w->type, x->instance_type)))
			add_row(w, &(struct cost_row){name, uid, *x});
	}
}

static bool is_wanted(const struct cost *w, const char *tenant)
{
	return !w->tenant || str_eq(w->tenant, tenant);
}

/* A bill that is being decoded. what: where it is, for messages. report_unread() reports on
 * standard error what cannot be decoded, and sets the exit status to 1. */
struct bill_reading {
	struct cost *w;
	const char *what;
};

static void report_unread(const struct bill_reading *r, const char *effect, const struct err *e)
{
	fprintf(stderr, "%s: %s: the bill %s: %s\n", r->w->c.verb, r->what, effect, e->text);
	r->w->left_out++;
}

static void on_unread(const struct err *e, void *arg)
{
	report_unread(arg, "is incomplete, because a part cannot be read", e);
}

static void on_tenant(json_t *o, void *arg)
{
	struct cost *w = arg;
	const char *name = str_or(json_str_at(o, "metadata", "name"), "");
	struct bill_reading r = {w, arena_printf(w->a, "VirtualCluster %s", name)};
	const json_t *cost = json_at(o, "status", "cost");
	struct virtual_cluster_cost *c;
	struct err e;

	json_object_set_new(w->standing, str_or(json_str_at(o, "metadata", "uid"), ""),
			    json_true());
	if (!is_wanted(w, name))
		return;
	c = cost ? arena_new_obj(w->a, struct virtual_cluster_cost) : NULL;
	if (c && kept_bill_cost(cost, w->a, c, on_unread, &r, &e) < 0) {
		report_unread(&r, "cannot be read and is left out", &e);
		c = NULL;
	}
	add_bill(w, arena_strdup(w->a, name),
		 arena_strdup(w->a, str_or(json_str_at(o, "metadata", "uid"), "")), c);
}

/* Adds the stored bills of deleted VirtualClusters. The controller stores a bill before it removes
 * the VirtualCluster's finalizer, so the caller must have read the existing VirtualClusters before:
 * then each bill is found in one of the two places. The stored bill of a VirtualCluster that exists
 * is ignored, so that no bill counts twice. */
static int add_kept(struct cost *w)
{
	for (int i = 0; i < KEPT_BILLS; i++) {
		char name[KEPT_BILLS_NAME];
		const char *path, *uid;
		OWN_JSON map = NULL;
		struct err e;
		json_t *v;

		kept_bills_name(i, name);
		path = arena_printf(w->a, "/api/v1/namespaces/%s/configmaps/%s", w->ns, name);
		map = cli_path(&w->c, path, &e);
		if (!map && e.kind == ERR_DENIED) {
			fprintf(stderr,
				"%s: bills of deleted tenants are left out, because your user may "
				"not read ConfigMaps drover-bills-*: %s\n",
				w->c.verb, e.text);
			return 0;
		}
		if (!map && e.kind != ERR_NOT_FOUND)
			return cli_failed_read(&w->c, &e);
		json_object_foreach (json_at(map, "data"), uid, v) {
			struct bill_reading r = {
				w, arena_printf(w->a, "ConfigMap %s, key %s", name, uid)};
			struct kept_bill b;

			if (json_object_get(w->standing, uid))
				continue;
			if (kept_bill_read(str_or(json_string_value(v), ""), w->a, &b, on_unread,
					   &r, &e) < 0)
				report_unread(&r, "cannot be read and is left out", &e);
			else if (is_wanted(w, b.name))
				add_bill(w, b.name, arena_strdup(w->a, uid), &b.cost);
		}
	}
	return 0;
}

/* Takes the price of the instance type for opencost, if it is the wanted one. */
static void take_price(struct cost *w, const struct provider_object *p,
		       const struct provider_object_instance_type *t)
{
	if (w->type ? !str_eq(t->name, w->type) : t->price_per_hour < 0)
		return;
	w->prices++;
	w->provider = p->meta.name;
	w->priced = t;
}

/* Adds the instance type to those of --compare. */
static void take_type(struct cost *w, const struct provider_object *p,
		      const struct provider_object_instance_type *t)
{
	mem_grow(w->types, w->ntypes, w->types_room);
	w->types[w->ntypes++] =
		(struct cost_type){.provider = p->meta.name,
				   .name = t->name,
				   .product = labels_get(&t->labels, "nvidia.com/gpu.product"),
				   .currency = t->currency,
				   .gpus = provider_type_gpus(t),
				   .elastic = provider_is_elastic(p),
				   .price = {[MARKET_ON_DEMAND] = t->price_per_hour,
					     [MARKET_SPOT] = t->spot_price_per_hour,
					     [MARKET_RESERVED] = t->reserved_price_per_hour}};
}

static void on_provider(json_t *o, void *arg)
{
	struct cost *w = arg;
	const struct provider_object *p;
	void *object;

	if (w->failed)
		return;
	if (object_decode(&object_kinds[OBJECT_PROVIDER], o, w->a, &object, &w->e) < 0) {
		w->failed = true;
		return;
	}
	p = object;
	for (size_t i = 0; i < p->spec.instance_types.n; i++)
		(w->compare ? take_type : take_price)(w, p, &p->spec.instance_types.v[i]);
}

/* Reads all Providers. Returns 0, or 1 after printing the cause. */
static int read_providers(struct cost *w)
{
	if (cli_list(&w->c, OBJECT_PROVIDER, on_provider, w, &w->e) < 0)
		return cli_report_unreadable(&w->c, OBJECT_PROVIDER, NULL, &w->e);
	return w->failed ? cli_failed(&w->c, "%s", w->e.text) : 0;
}

static int print_json(const struct cost *w, json_t *j)
{
	if (!j)
		return cli_failed(&w->c, "%s", w->e.text);
	json_dumpf(j, w->c.out, JSON_INDENT(2));
	fputc('\n', w->c.out);
	json_decref(j);
	return 0;
}

static int show_prices(struct cost *w)
{
	if (read_providers(w))
		return 1;
	if (!w->prices && w->type)
		return cli_failed(&w->c, "no Provider has instance type %s", w->type);
	if (!w->prices)
		return cli_failed(&w->c, "no instance type has a price; set pricePerHour in "
					 "spec.instanceTypes of the Provider");
	if (w->prices > 1 && w->type)
		return cli_failed(&w->c,
				  "%zu Providers have instance type %s; opencost output can show "
				  "the price of only one",
				  w->prices, w->type);
	if (w->prices > 1)
		return cli_failed(&w->c,
				  "%zu instance types have a price; select one with "
				  "--instance-type",
				  w->prices);
	return print_json(w, cost_opencost(w->provider, w->priced, &w->e));
}

/* --- comparison ------------------------------------------------------------------------------- */

static void on_machine(json_t *o, void *arg)
{
	struct cost *w = arg;
	const char *provider = json_str_at(o, "spec", "providerRef", "name"),
		   *type = json_str_at(o, "spec", "instanceType");

	for (size_t i = 0; i < w->ntypes; i++)
		w->types[i].machines +=
			str_eq(w->types[i].provider, provider) && str_eq(w->types[i].name, type);
}

static int compare(struct cost *w)
{
	struct cost_comparison c = {.rows = &w->rows};
	int64_t begin, end;
	struct buf b;
	json_t *j;

	if (read_providers(w))
		return 1;
	if (cli_list(&w->c, OBJECT_MACHINE, on_machine, w, &w->e) < 0)
		return cli_report_unreadable(&w->c, OBJECT_MACHINE, NULL, &w->e);
	c.types = w->types;
	c.ntypes = w->ntypes;
	(void)ledger_month_times(w->month, &begin, &end);
	c.seconds = ((w->rows.now < end ? w->rows.now : end) - begin) / 1000;
	j = cost_compare(&c, w->a, &w->e);
	if (!j || w->format == FORMAT_JSON)
		return print_json(w, j) || w->left_out;
	buf_init(&b, OUT_MAX);
	cost_compare_table(j, &b);
	fwrite(b.data, 1, b.len, w->c.out);
	buf_done(&b);
	json_decref(j);
	return w->left_out != 0;
}

static int print_text(struct cost *w, struct buf *b)
{
	size_t left_out = 0;
	int rc = w->format == FORMAT_CSV     ? cost_csv(&w->rows, b, &w->e)
		 : w->format == FORMAT_FOCUS ? cost_focus(&w->rows, b, &left_out, &w->e)
					     : cost_table(&w->rows, b, &w->e);

	if (rc < 0)
		return cli_failed(&w->c, "%s", w->e.text);
	if (b->over)
		return cli_failed(&w->c,
				  "output is larger than %u MiB; select a --month or a --tenant",
				  OUT_MAX >> 20);
	if (left_out)
		fprintf(stderr,
			"%s: charges left out because they have no price: %zu. Set pricePerHour in "
			"spec.instanceTypes of the Provider, for future hours\n",
			w->c.verb, left_out);
	fwrite(b->data, 1, b->len, w->c.out);
	return 0;
}

static int show(struct cost *w)
{
	struct buf b;
	int status;

	if (w->format == FORMAT_OPENCOST)
		return show_prices(w);
	w->rows.now = loop_wall(w->c.loop);
	if (w->compare && !w->month) {
		ledger_month(w->rows.now, w->this_month);
		w->month = w->this_month;
	}
	if (cli_list(&w->c, OBJECT_VIRTUAL_CLUSTER, on_tenant, w, &w->e) < 0)
		return cli_report_unreadable(&w->c, OBJECT_VIRTUAL_CLUSTER, NULL, &w->e);
	if (add_kept(w))
		return 1;
	if (w->tenant && !w->known)
		return cli_failed(&w->c,
				  "there is no VirtualCluster %s, and no bill of a deleted "
				  "VirtualCluster of that name",
				  w->tenant);
	cost_sort(&w->rows);
	if (w->compare)
		return compare(w);
	if (w->format == FORMAT_JSON)
		return print_json(w, cost_json(&w->rows, &w->e)) || w->left_out;
	buf_init(&b, OUT_MAX);
	status = print_text(w, &b);
	buf_done(&b);
	return status || w->left_out;
}

int cli_cost(int argc, char **argv)
{
	OWN(arena) a = arena_new();
	struct cost w = {.a = a, .ns = "drover-system"};
	int status;

	args_parse(&argp, argc, argv, &w);
	if (cli_open(&w.c, "drover cost", &w.o) < 0)
		return 1;
	w.standing = json_object();
	status = show(&w);
	json_decref(w.standing);
	free(w.types);
	cli_close(&w.c);
	return status;
}
