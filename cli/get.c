/*
 * get: `drover get`. Prints objects as a table with the columns of their CustomResourceDefinitions,
 * as kubectl does, or as JSON, YAML or names.
 * Tests: tests/unit/cli/test_get.c
 */
#include <argp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/verbs.h"
#include "base/args.h"
#include "base/buf.h"
#include "base/data/age.h"
#include "base/data/json_path.h"
#include "base/data/yaml.h"
#include "base/loop/loop.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/get_watch.h"
#include "cli/grid.h"
#include "api/target.h"

/* --- reading ---------------------------------------------------------------------------------- */

struct get {
	struct cli_client *c;
	const struct cli_get_options *opts;
	/* objects to print, each with apiVersion and kind, in the order of the arguments */
	json_t *found;
	/* kind of the objects that are being listed */
	enum object_kind_id kind;
};

/* Appends o to g->found in the form in which kubectl prints objects: apiVersion and kind first, no
 * managedFields. */
static void add(struct get *g, json_t *o)
{
	json_t *s = json_pack("{s:s, s:s}", "apiVersion", OBJECT_API_VERSION, "kind",
			      object_kinds[g->kind].kind);

	json_object_update(s, o);
	json_object_del(json_object_get(s, "metadata"), "managedFields");
	json_array_append_new(g->found, s);
}

static int ask_one(struct get *g, enum object_kind_id kind, const char *name)
{
	struct err e;
	OWN_JSON o = cli_get(g->c, kind, name, &e);

	if (!o)
		return cli_report_unreadable(g->c, kind, name, &e);
	g->kind = kind;
	add(g, o);
	return 0;
}

static void on_item(json_t *o, void *arg)
{
	add(arg, o);
}

static int ask_all(struct get *g, enum object_kind_id kind)
{
	size_t before = json_array_size(g->found);
	struct err e;

	g->kind = kind;
	if (cli_list_selected(g->c, kind, g->opts->selector, on_item, g, &e) < 0)
		return cli_report_unreadable(g->c, kind, NULL, &e);
	if (json_array_size(g->found) == before && g->opts->form <= CLI_WIDE)
		fprintf(stderr, "no %s%s%s\n", object_kinds[kind].plural,
			g->opts->selector ? " with labels " : "", str_or(g->opts->selector, ""));
	return 0;
}

/* Returns the kind of the first type in s, which ends at ',' or '/'. *rest: the text after the
 * type. */
static enum object_kind_id type_at(const char *s, const char **rest)
{
	size_t len = strcspn(s, ",/");

	*rest = s + len;
	return target_kind(s, len);
}

static int ask(struct get *g)
{
	const struct cli_get_options *l = g->opts;
	const char *rest;
	enum object_kind_id kind = type_at(l->targets[0], &rest);
	int status = 0;

	if (*rest == '/') {
		for (size_t i = 0; i < l->n; i++) {
			kind = type_at(l->targets[i], &rest);
			status |= ask_one(g, kind, rest + 1);
		}
		return status;
	}
	for (size_t i = 1; i < l->n; i++)
		status |= ask_one(g, kind, l->targets[i]);
	for (rest = l->targets[0]; l->n == 1 && rest; rest = *rest ? rest + 1 : NULL)
		status |= ask_all(g, type_at(rest, &rest));
	return status;
}

/* --- printing --------------------------------------------------------------------------------- */

static const struct object_kind *kind_of(const json_t *o)
{
	return object_kind_find(json_str_at(o, "kind"));
}

static const char *name_of(const json_t *o)
{
	return str_or(json_str_at(o, "metadata", "name"), "");
}

static void add_cell(struct grid *t, const json_t *o, const struct object_column *c, int64_t now)
{
	const json_t *v = json_path(o, c->path);
	OWN_JSON age = NULL;
	char *text;

	if (v && str_eq(c->type, "date"))
		v = age = age_json(json_string_value(v), now);
	if (!v || json_is_null(v) || json_is_string(v)) {
		grid_cell(t, json_string_value(v));
		return;
	}
	text = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY);
	grid_cell(t, text);
	free(text);
}

static void add_row(struct get *g, struct grid *t, const json_t *o, bool mixed)
{
	static const struct object_column born = {"Age", "date", ".metadata.creationTimestamp", 0};
	const struct object_kind *k = kind_of(o);
	int64_t now = loop_wall(g->c->loop);
	char *named = mem_printf("%s." OBJECT_GROUP "/%s", k->singular, name_of(o));

	grid_cell(t, mixed ? named : name_of(o));
	free(named);
	for (const struct object_column *c = k->columns; c->name; c++)
		if (!c->priority || g->opts->form == CLI_WIDE)
			add_cell(t, o, c, now);
	add_cell(t, o, &born, now);
}

/* Prints one table with the object at index `from` and those after it that have the same kind.
 * Returns the index of the first object of another kind. mixed: print names with their type. */
static size_t print_table(struct get *g, size_t from, bool mixed)
{
	const struct object_kind *k = kind_of(json_array_get(g->found, from));
	struct grid *t = grid_new();
	size_t i = from;

	grid_head(t, "Name");
	for (const struct object_column *c = k->columns; c->name; c++)
		if (!c->priority || g->opts->form == CLI_WIDE)
			grid_head(t, c->name);
	grid_head(t, "Age");
	for (; i < json_array_size(g->found) && kind_of(json_array_get(g->found, i)) == k; i++)
		add_row(g, t, json_array_get(g->found, i), mixed);
	grid_print(t,
		   &(struct grid_style){.width = g->opts->form == CLI_WIDE ? 0 : g->opts->width,
					.colour = cli_colours(g->c),
					.headless = g->opts->headless},
		   g->c->out);
	grid_free(t);
	return i;
}

static void print_tables(struct get *g)
{
	const struct object_kind *first = kind_of(json_array_get(g->found, 0));
	bool mixed = false;
	size_t i;
	json_t *v;

	json_array_foreach (g->found, i, v)
		mixed |= kind_of(v) != first;
	for (i = 0; i < json_array_size(g->found);) {
		if (i)
			fputc('\n', g->c->out);
		i = print_table(g, i, mixed);
	}
}

static void print_names(const struct get *g)
{
	size_t i;
	json_t *v;

	json_array_foreach (g->found, i, v)
		fprintf(g->c->out, "%s." OBJECT_GROUP "/%s\n", kind_of(v)->singular, name_of(v));
}

static int print_whole(struct get *g)
{
	const struct cli_get_options *l = g->opts;
	bool one = json_array_size(g->found) == 1 && (l->n == 2 || strchr(l->targets[0], '/'));
	OWN_JSON all = one ? json_incref(json_array_get(g->found, 0))
			   : json_pack("{s:s, s:s, s:O}", "apiVersion", "v1", "kind", "List",
				       "items", g->found);
	struct buf b;
	bool over;

	if (l->form == CLI_JSON) {
		json_dumpf(all, g->c->out, JSON_INDENT(2));
		fputc('\n', g->c->out);
		return 0;
	}
	buf_init(&b, 1 << 30);
	yaml_print(all, &b);
	over = b.over;
	if (!over)
		fwrite(b.data, 1, b.len, g->c->out);
	buf_done(&b);
	return over ? cli_failed(g->c, "more than 1 GiB of YAML; use -o json, which has no limit")
		    : 0;
}

struct watching {
	struct loop *loop;
	bool cut;
};

static void on_signal(int signum, void *arg)
{
	struct watching *w = arg;

	(void)signum;
	w->cut = true;
	loop_stop(w->loop);
}

/* Prints changes until SIGINT or SIGTERM arrives. check() has verified that the arguments are one
 * type and at most one name. Returns the exit status. */
static int watch(struct cli_client *c, const struct cli_get_options *opts)
{
	struct watching s = {.loop = c->loop};
	const char *rest;
	enum object_kind_id kind = type_at(opts->targets[0], &rest);
	OWN(get_watch)
	w = get_watch_new(c, opts, kind,
			  *rest == '/'	 ? rest + 1
			  : opts->n == 2 ? opts->targets[1]
					 : NULL);
	struct loop_signal *in = loop_signal(c->group, SIGINT, on_signal, &s),
			   *term = loop_signal(c->group, SIGTERM, on_signal, &s);

	while (!s.cut && !get_watch_failed(w))
		loop_run(c->loop);
	loop_signal_free(in);
	loop_signal_free(term);
	return get_watch_failed(w) ? cli_report_unreadable(c, kind, NULL, get_watch_failed(w)) : 0;
}

int cli_do_get(struct cli_client *c, const struct cli_get_options *opts)
{
	if (opts->watch)
		return watch(c, opts);

	OWN_JSON found = json_array();
	struct get g = {.c = c, .opts = opts, .found = found};
	int status = ask(&g);

	if (status && !json_array_size(found))
		return status;
	if (opts->form == CLI_NAME)
		print_names(&g);
	else if (opts->form <= CLI_WIDE)
		print_tables(&g);
	else
		status |= print_whole(&g);
	return status;
}

/* --- the command ------------------------------------------------------------------------------ */

enum { NO_HEADERS = 256 };

struct get_args {
	struct cli_options o;
	struct cli_get_options opts;
	const char *targets[256];
};

static const struct argp_option options[] = {
	CLI_CLUSTER_ROWS,
	{"output", 'o', "wide|json|yaml|name", 0,
	 "Output format; wide: a table with all columns (default: a table that fits the terminal)",
	 0},
	{"selector", 'l', "LABELS", 0,
	 "Only objects with these labels, such as rack=r1,gen in (a,b),!old", 0},
	{"watch", 'w', NULL, 0, "After the list, print a row for each change until Ctrl-C", 0},
	{"no-headers", NO_HEADERS, NULL, 0, "Omit the header line", 0},
	{0}};

static enum cli_form form_of(const char *arg, struct argp_state *st)
{
	static const char *const forms[] = {
		[CLI_WIDE] = "wide", [CLI_JSON] = "json", [CLI_YAML] = "yaml", [CLI_NAME] = "name"};

	for (int i = CLI_WIDE; i <= CLI_NAME; i++)
		if (str_eq(arg, forms[i]))
			return (enum cli_form)i;
	argp_error(st, "--output: want wide, json, yaml or name, got '%s'", arg);
	return CLI_TABLE;
}

/* Ends the program with an error for unknown types and invalid combinations. Valid arguments are
 * TYPE/NAME throughout, or TYPE[,TYPE], or one TYPE followed by names. */
static void check(const struct cli_get_options *l, struct argp_state *st)
{
	const char *rest = "";
	bool with_names;

	if (!l->n)
		argp_error(st, "give a type, one of " TARGET_KINDS);
	with_names = strchr(l->targets[0], '/');
	for (size_t i = 0; i < (with_names ? l->n : 1); i++) {
		const char *s = l->targets[i];

		do {
			enum object_kind_id kind = type_at(s, &rest);

			if (kind == OBJECT_KINDS)
				argp_error(st, "unknown type '%.*s'; types: " TARGET_KINDS,
					   (int)(rest - s), s);
			s = rest + 1;
		} while (*rest == ',');
		if (with_names != (*rest == '/') || (with_names && str_empty(rest + 1)))
			argp_error(st, "want TYPE/NAME, got '%s'", l->targets[i]);
	}
	if (!with_names && l->n > 1 && strchr(l->targets[0], ','))
		argp_error(st, "with several types, give each name as TYPE/NAME, such as "
			       "machine/gpu-r1-07");
	if (l->selector && (with_names || l->n > 1))
		argp_error(st, "give either names or --selector, not both");
	if (!l->watch)
		return;
	if (l->form > CLI_WIDE)
		argp_error(st, "--watch prints a table: the only -o it accepts is wide");
	if (l->n > (with_names ? 1 : 2) || strchr(l->targets[0], ','))
		argp_error(st, "--watch: give one type, and at most one name");
}

static error_t parse(int key, char *arg, struct argp_state *st)
{
	struct get_args *v = st->input;

	switch (key) {
	case 'o':
		v->opts.form = form_of(arg, st);
		return 0;
	case 'l':
		v->opts.selector = arg;
		return 0;
	case 'w':
		v->opts.watch = true;
		return 0;
	case NO_HEADERS:
		v->opts.headless = true;
		return 0;
	case ARGP_KEY_ARG:
		if (v->opts.n == sizeof(v->targets) / sizeof(v->targets[0]))
			argp_error(st, "at most %zu names at a time", v->opts.n - 1);
		v->targets[v->opts.n++] = arg;
		return 0;
	case ARGP_KEY_END:
		check(&v->opts, st);
		return 0;
	default:
		return cli_option(key, arg, st, &v->o);
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "TYPE[,TYPE...]\nTYPE NAME...\nTYPE/NAME...",
	.doc = "List objects of the host cluster; types: " TARGET_KINDS ".\v"
	       "Examples:\n"
	       "  drover get machines\n"
	       "  drover get machines -l topology.drover.dev/rack=r1 -o wide\n"
	       "  drover get claim h100-x7k2p -o yaml\n"
	       "  drover get machine/gpu-r1-07 pool/h100\n"
	       "  drover get machines -o name | grep r1-\n"
	       "  drover get claims -w\n"
	       "With -w, drover prints another row whenever the columns of an object change, and "
	       "a last one, marked deleted, when the object is deleted. On a narrow terminal, "
	       "columns that do not fit are left out and named below the table. Exit status 1: an "
	       "object does not exist, or the cluster could not be read.",
};

int cli_get_objects(int argc, char **argv)
{
	struct get_args v = {0};
	struct winsize size;
	struct cli_client c;
	int status;

	v.opts.targets = v.targets;
	args_parse(&argp, argc, argv, &v);
	if (cli_open(&c, "drover get", &v.o) < 0)
		return 1;
	if (c.tty && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		v.opts.width = size.ws_col;
	status = cli_do_get(&c, &v.opts);
	cli_close(&c);
	return status;
}
