/*
 * audit_log: `drover audit list` and `drover audit verify`: reads entries of the audit log from
 * files or from the host cluster. api/auditlog.c checks them.
 * Tests: tests/unit/cli/test_audit_log.c, tests/unit/cli/test_check.c
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/kinds.h"
#include "base/args.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/grid.h"
#include "cli/lease_holder.h"
#include "cli/verbs.h"

#define FILES_MAX 256
#define CLUSTER "the cluster"

struct audit_log {
	struct cli_options o;
	const char *machine, *tenant, *head;
	/* wall ms of the oldest entry to list; 0: all */
	int64_t since;
	const char *files[FILES_MAX];
	size_t nfiles;
	/* cluster: read the cluster although files were given. merged: lines of a file may be in
	 * any order, and repeated */
	bool cluster, merged;
	struct cli_client c;
	/* True: c is connected */
	bool open;
	struct arena *a;
	struct audit_check *check;
	/* name of the input that is being read */
	const char *input;
	/* listed entries: a table, or an array for JSON; both NULL: verify */
	struct grid *grid;
	json_t *list;
	/* unread: lines that end before their entry does, as after a crash; unread_at: the first of
	 * them. bad: other lines and members of segments that are no entries; bad_at: the first */
	size_t unread, bad;
	char unread_at[300], bad_at[300];
	/* number of entries that this version cannot list */
	size_t unlisted;
	/* digest of each listed entry -> "": inputs may overlap */
	struct map *listed;
	/* head_found: an entry has the digest of --head, or names it as the one before it.
	 * has_segments: the file that is being read has a segment */
	bool head_found, has_segments;
	/* segments of the cluster: how many, and the lowest number */
	size_t segments;
	int64_t lowest, highest;
	/* drover's own namespace; NULL: drover-system */
	const char *ns;
	/* newest segment that the leader recorded in its Lease; number 0: not known */
	struct audit_newest newest;
	/* newest_differs: an entry with the number of the recorded one has another digest.
	 * newest_unread: why the Lease could not be read; "": it was, or does not exist */
	bool newest_differs;
	char newest_unread[300];
};

/* --- entries ---------------------------------------------------------------------------------- */

static bool is_wanted(const struct audit_log *w, const struct audit_entry *e)
{
	return (!w->machine || (str_eq(e->kind, "Machine") && str_eq(e->name, w->machine))) &&
	       (!w->tenant || str_eq(e->tenant, w->tenant)) && e->time >= w->since;
}

/* Returns the user; a user who is not known is followed by the program. */
static const char *who_text(struct audit_log *w, const struct audit_entry *e)
{
	return e->program && str_eq(e->who, "unknown")
		       ? arena_printf(w->a, "%s (%s)", e->who, e->program)
		       : e->who;
}

static void add_cells(struct audit_log *w, const struct audit_entry *e)
{
	char time[STR_TIME_SIZE];

	grid_cell(w->grid, arena_printf(w->a, "%lld", (long long)e->seq));
	grid_cell(w->grid, str_time(time, e->time));
	grid_cell(w->grid, who_text(w, e));
	grid_cell(w->grid, e->event);
	grid_cell(w->grid, e->kind ? arena_printf(w->a, "%s/%s", e->kind, e->name) : NULL);
	grid_cell(w->grid, e->field);
	grid_cell(w->grid, e->from || e->to ? arena_printf(w->a, "%s -> %s", str_or(e->from, "-"),
							   str_or(e->to, "-"))
					    : NULL);
	grid_cell(w->grid,
		  arena_printf(w->a, "%s%s%s", str_or(e->why, ""), e->why && e->late ? ", " : "",
			       e->late ? "found later" : ""));
	grid_cell(w->grid, e->count ? arena_printf(w->a, "%lld", (long long)e->count) : NULL);
	grid_cell(w->grid, e->operation);
}

static void show_entry(struct audit_log *w, const json_t *j)
{
	struct audit_entry e = {0};
	struct err err;

	if (map_has(w->listed, str_or(json_str_at(j, "digest"), "")))
		return;
	map_put(w->listed, str_or(json_str_at(j, "digest"), ""), (void *)"");
	if (fields_decode(audit_entry_fields, j, NULL, &e, w->a, &err) < 0) {
		w->unlisted++;
		return;
	}
	if (!is_wanted(w, &e))
		return;
	if (w->list)
		json_array_append(w->list, (json_t *)j);
	else
		add_cells(w, &e);
}

static bool add_entry(struct audit_log *w, const json_t *j)
{
	/* Inputs may overlap, and have no order. */
	if (w->merged)
		audit_check_input(w->check, w->input);
	if (!audit_check_add(w->check, j))
		return false;
	w->head_found |= str_eq(json_str_at(j, "digest"), w->head) ||
			 str_eq(json_str_at(j, "previous"), w->head);
	w->newest_differs |= json_int_at(j, "seq") == w->newest.seq &&
			     !str_eq(json_str_at(j, "digest"), w->newest.digest);
	if (w->list || w->grid)
		show_entry(w, j);
	return true;
}

/* number: line of a file, or number of a segment in the cluster */
static void note_bad(struct audit_log *w, const char *where, size_t number)
{
	if (!w->bad++)
		str_format(w->bad_at, sizeof(w->bad_at), "%s: %s %zu", where,
			   str_eq(where, CLUSTER) ? "segment" : "line", number);
}

/* Adds the entries of a segment; where and line: as for note_bad(). */
static void add_segment(struct audit_log *w, const json_t *o, const char *where, size_t line)
{
	json_t *e;
	size_t i;

	w->has_segments = true;
	json_array_foreach (json_at(o, "spec", "entries"), i, e)
		if (!add_entry(w, e))
			note_bad(w, where, line);
}

/* --- inputs ----------------------------------------------------------------------------------- */

/* Notes a line that is no JSON. A crash cuts off a line of one entry, which is then written again;
 * nothing writes a segment again. */
static void note_broken(struct audit_log *w, const char *file, size_t line, const char *text)
{
	/* mutant: audit-broken-unchecked */
	if (w->has_segments || strstr(text, "\"apiVersion\"") || strstr(text, "\"spec\"")) {
		note_bad(w, file, line);
		return;
	}
	if (!w->unread++)
		str_format(w->unread_at, sizeof(w->unread_at), "%s: line %zu", file, line);
}

static void read_line(struct audit_log *w, const char *file, size_t number, const char *text,
		      size_t len)
{
	struct err e;
	OWN_JSON j = json_parse(text, len, &e);

	if (!j)
		note_broken(w, file, number, text);
	else if (json_is_array(json_at(j, "spec", "entries")))
		add_segment(w, j, file, number);
	else if (!add_entry(w, j))
		note_bad(w, file, number);
}

static int read_file(struct audit_log *w, const char *path)
{
	const char *name = str_eq(path, "-") ? "standard input" : path;
	FILE *f = str_eq(path, "-") ? stdin : fopen(path, "re");
	char *line = NULL;
	size_t cap = 0, number = 0;
	ssize_t n;
	int rc = 0;

	if (!f)
		return cli_failed(&w->c, "%s: %s", path, strerror(errno));
	w->input = name;
	w->has_segments = false;
	audit_check_input(w->check, name);
	while ((n = getline(&line, &cap, f)) > 0) {
		number++;
		if (n > 1)
			read_line(w, name, number, line, (size_t)n);
	}
	if (ferror(f))
		rc = cli_failed(&w->c, "%s: %s", path, strerror(errno));
	free(line);
	if (f != stdin)
		fclose(f);
	return rc;
}

static void on_segment(json_t *o, void *arg)
{
	struct audit_log *w = arg;
	const int64_t number = json_int_at(o, "spec", "number");

	if (!w->segments++ || number < w->lowest)
		w->lowest = number;
	w->highest = number > w->highest ? number : w->highest;
	if (!json_is_array(json_at(o, "spec", "entries")))
		note_bad(w, CLUSTER, (size_t)number);
	add_segment(w, o, CLUSTER, (size_t)number);
}

/* Reads which segment is the newest, before the segments themselves, so that it is among them. */
static void read_newest(struct audit_log *w)
{
	struct lease_holder h;
	struct err e;

	if (lease_holder_read(&w->c, str_or(w->ns, "drover-system"), &h, &e) == 0)
		w->newest = h.newest;
	else
		str_copy(w->newest_unread, sizeof(w->newest_unread), e.text);
}

static int read_cluster(struct audit_log *w)
{
	struct err e;

	if (!w->open && cli_open(&w->c, w->c.verb, &w->o) < 0)
		return 1;
	w->open = true;
	read_newest(w);
	w->input = CLUSTER;
	audit_check_input(w->check, CLUSTER);
	return cli_list(&w->c, OBJECT_AUDIT_SEGMENT, on_segment, w, &e) < 0
		       ? cli_report_unreadable(&w->c, OBJECT_AUDIT_SEGMENT, NULL, &e)
		       : 0;
}

static int read_all(struct audit_log *w)
{
	int rc = 0;

	for (size_t i = 0; i < w->nfiles; i++)
		rc |= read_file(w, w->files[i]);
	return rc || (w->nfiles && !w->cluster) ? rc : read_cluster(w);
}

/* --- verify ----------------------------------------------------------------------------------- */

static bool lacks_head(const struct audit_log *w, const struct audit_verdict *v)
{
	return v->entries && w->head && /* mutant: audit-head-unchecked */ !w->head_found;
}

/* Adds a fault if the end of the log is not what the leader recorded. */
static void check_newest(const struct audit_log *w, struct audit_verdict *v)
{
	const long long number = (long long)w->newest.number, seq = (long long)w->newest.seq;

	if (v->fault != AUDIT_GOOD || !number)
		return;
	if (/* mutant: audit-newest-unchecked */ w->newest.number > w->highest) {
		v->fault = AUDIT_MISSING;
		v->at = v->last + 1;
		v->until = w->newest.seq;
		str_format(v->text, sizeof(v->text),
			   "segment " AUDIT_SEGMENT_NAME ", the newest that drover recorded in its "
			   "Lease, was deleted, with all after entry %lld up to %lld",
			   number, (long long)v->last, seq);
	} else if (w->newest_differs) {
		v->fault = AUDIT_BENT;
		v->at = v->until = w->newest.seq;
		str_format(v->text, sizeof(v->text),
			   "entry %lld is not the one that drover recorded in its Lease: the log "
			   "was written anew",
			   seq);
	} else if (v->last < w->newest.seq) {
		v->fault = AUDIT_MISSING;
		v->at = v->last + 1;
		v->until = w->newest.seq;
		str_format(v->text, sizeof(v->text),
			   "the entries after %lld, up to %lld that drover recorded in its Lease, "
			   "are missing",
			   (long long)v->last, seq);
	}
}

/* Adds faults that only the inputs as a whole show. */
static void check_inputs(const struct audit_log *w, struct audit_verdict *v)
{
	if (v->fault == AUDIT_GOOD && w->segments && w->lowest > 1 &&
	    w->segments < AUDIT_SEGMENTS_KEPT) {
		v->fault = AUDIT_MISSING;
		v->at = 1;
		v->until = v->first - 1;
		str_format(v->text, sizeof(v->text),
			   "segments before " AUDIT_SEGMENT_NAME " were deleted: drover keeps the "
			   "newest %d, and the cluster has %zu",
			   (long long)w->lowest, AUDIT_SEGMENTS_KEPT, w->segments);
	} else if (v->fault == AUDIT_GOOD && /* mutant: audit-lines-unchecked */ w->bad) {
		v->fault = AUDIT_BENT;
		str_format(v->text, sizeof(v->text), "%s is not what drover writes, as %zu in all",
			   w->bad_at, w->bad);
	} else if (v->fault == AUDIT_GOOD && lacks_head(w, v) && v->first <= 1) {
		v->fault = AUDIT_MISSING;
		str_format(v->text, sizeof(v->text),
			   "no entry has the digest of --head: entries at the end are missing, or "
			   "the log was written anew");
	}
}

/* Returns where the result is printed; a client that is not connected has no stream. */
static FILE *out_of(const struct audit_log *w)
{
	return w->c.out ? w->c.out : stdout;
}

static void print_verdict(const struct audit_log *w, const struct audit_verdict *v)
{
	FILE *out = out_of(w);

	if (v->entries)
		fprintf(out, "%zu entries, %lld to %lld, last digest %s\n", v->entries,
			(long long)v->first, (long long)v->last, v->head);
	if (v->first > 1)
		fprintf(out, "The entries before %lld are in none of the inputs.\n",
			(long long)v->first);
	if (lacks_head(w, v) && v->first > 1)
		fprintf(out,
			"No entry has the digest of --head: it is older than entry %lld, or the "
			"log was written anew. Add the files that have it.\n",
			(long long)v->first);
	if (w->unread)
		fprintf(out,
			"%s is no entry and was ignored, as %zu lines in all: a line that a crash "
			"cut off is written again.\n",
			w->unread_at, w->unread);
	if (w->newest_unread[0])
		fprintf(out,
			"Whether the newest segments were deleted is not known, because the Lease "
			"cannot be read: %s.\n",
			w->newest_unread);
	if (v->fault != AUDIT_GOOD)
		fprintf(out, "%s: %s.\n", audit_fault_names[v->fault], v->text);
	else
		fprintf(out, "%s\n",
			v->entries ? "Every entry is as it was written."
				   : "There is nothing to check.");
}

static void print_json(const struct audit_log *w, const struct audit_verdict *v)
{
	OWN_JSON j = json_pack("{s:b, s:s, s:I, s:I, s:s, s:I, s:I, s:I, s:s, s:I, s:b}", "ok",
			       v->fault == AUDIT_GOOD && v->entries, "fault",
			       audit_fault_names[v->fault], "at", (json_int_t)v->at, "until",
			       (json_int_t)v->until, "text", v->text, "entries",
			       (json_int_t)v->entries, "first", (json_int_t)v->first, "last",
			       (json_int_t)v->last, "head", v->head, "ignoredLines",
			       (json_int_t)w->unread, "headFound", w->head && w->head_found);

	json_dumpf(j, stdout, JSON_INDENT(2));
	putchar('\n');
}

static int verify(struct audit_log *w)
{
	struct audit_verdict v;
	int rc = read_all(w);

	if (rc)
		return rc;
	v = audit_check_run(w->check);
	check_inputs(w, &v);
	check_newest(w, &v);
	str_printable(v.text);
	str_printable(w->unread_at);
	str_printable(w->newest_unread);
	if (w->o.json)
		print_json(w, &v);
	else
		print_verdict(w, &v);
	return v.fault == AUDIT_GOOD && v.entries ? 0 : 1;
}

int cli_do_audit_verify(struct cli_client *c, const char *ns)
{
	struct audit_log w = {.c = *c, .o.json = c->json, .open = true, .ns = ns};
	int rc;

	w.a = arena_new();
	w.check = audit_check_new();
	rc = verify(&w);
	audit_check_free(w.check);
	arena_free(w.a);
	return rc;
}

/* --- list ------------------------------------------------------------------------------------- */

static int list(struct audit_log *w)
{
	static const char *const heads[] = {"Seq",   "Time",   "Who", "Event", "Object",
					    "Field", "Change", "Why", "Count", "Operation"};
	static const struct grid_style style = {0};
	int rc;

	if (w->o.json) {
		w->list = json_array();
	} else {
		w->grid = grid_new();
		for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++)
			grid_head(w->grid, heads[i]);
	}
	w->listed = map_new(NULL);
	rc = read_all(w);
	if (!rc && w->list) {
		json_dumpf(w->list, stdout, JSON_INDENT(2));
		putchar('\n');
	} else if (!rc) {
		grid_print(w->grid, &style, stdout);
	}
	if (!rc && w->bad + w->unlisted)
		rc = cli_failed(&w->c,
				"%zu entries or lines cannot be shown: drover audit verify "
				"checks them",
				w->bad + w->unlisted);
	json_decref(w->list);
	grid_free(w->grid);
	map_free(w->listed);
	return rc;
}

/* Verifies the log in the cluster alone. */
static int verify_cluster(struct audit_log *w)
{
	w->open = cli_open(&w->c, w->c.verb, &w->o) == 0;
	return w->open ? cli_do_audit_verify(&w->c, w->ns) : 1;
}

/* --- the commands ----------------------------------------------------------------------------- */

enum { OPT_MACHINE = 0x6201, OPT_TENANT, OPT_SINCE, OPT_HEAD, OPT_CLUSTER, OPT_MERGED };

#define WITH_CLUSTER_ROW                                                                           \
	{                                                                                          \
		"with-cluster", OPT_CLUSTER, NULL, 0, "Also read the log in the cluster", 0        \
	}

static const struct argp_option list_options[] = {
	{"machine", OPT_MACHINE, "NAME", 0, "Only entries about this machine", 0},
	{"tenant", OPT_TENANT, "NAME", 0, "Only entries about this VirtualCluster", 0},
	{"since", OPT_SINCE, "TIME", 0,
	 "Only entries from then on: a time such as 2026-12-01T10:00:00Z, or an age such as 24h",
	 0},
	WITH_CLUSTER_ROW,
	CLI_OPTION_ROWS,
};

static const struct argp_option verify_options[] = {
	{"head", OPT_HEAD, "DIGEST", 0,
	 "The log must contain the entry with this digest, as an earlier check printed it", 0},
	{"merged", OPT_MERGED, NULL, 0,
	 "A log collector merged the output of replicas: lines may be repeated, in any order", 0},
	CLI_NAMESPACE_ROW,
	WITH_CLUSTER_ROW,
	CLI_OPTION_ROWS,
};

static void take_since(struct audit_log *w, const char *arg, struct argp_state *st)
{
	int64_t ms;

	if (str_to_duration(arg, &ms))
		w->since = (int64_t)time(NULL) * 1000 - ms;
	else if (!str_to_time(arg, &w->since))
		argp_error(st,
			   "--since: want a time such as 2026-12-01T10:00:00Z or a duration "
			   "such as 24h, got '%s'",
			   arg);
}

static error_t parse(int key, char *arg, struct argp_state *st)
{
	struct audit_log *w = st->input;

	switch (key) {
	case OPT_MACHINE:
		w->machine = arg;
		return 0;
	case OPT_TENANT:
		w->tenant = arg;
		return 0;
	case OPT_SINCE:
		take_since(w, arg, st);
		return 0;
	case OPT_HEAD:
		w->head = arg;
		return 0;
	case OPT_MERGED:
		w->merged = true;
		return 0;
	case 'n':
		w->ns = arg;
		return 0;
	case OPT_CLUSTER:
		w->cluster = true;
		return 0;
	case ARGP_KEY_ARG:
		if (w->nfiles == FILES_MAX)
			argp_error(st, "at most %d files", FILES_MAX);
		w->files[w->nfiles++] = arg;
		return 0;
	default:
		return cli_option(key, arg, st, &w->o);
	}
}

static const struct argp list_argp = {
	.options = list_options,
	.parser = parse,
	.args_doc = "[FILE|-...]",
	.doc = "List entries of the audit log: who changed what, every move of a machine, every "
	       "change of a policy.\v"
	       "Examples:\n  drover audit list --machine gpu-r1-07 --since 24h\n"
	       "  drover audit list --tenant team-a -o json\n"
	       "  drover audit list audit.jsonl --since 2026-12-01T00:00:00Z\n"
	       "Without FILE the log in the cluster is read. A FILE has one entry per "
	       "line, as `drover run --audit-log` writes it, or one AuditSegment per line.",
};

static const struct argp verify_argp = {
	.options = verify_options,
	.parser = parse,
	.args_doc = "[FILE|-...]",
	.doc = "Verify the audit log: each entry has the digest of the entry before it. Names the "
	       "first entry that was changed or replaced, is missing, is there twice, or is in "
	       "the wrong place.\v"
	       "Examples:\n  drover audit verify\n"
	       "  drover audit verify audit.jsonl.1 audit.jsonl\n"
	       "  drover audit verify audit.jsonl --with-cluster\n"
	       "  drover audit verify --head sha256:...\n"
	       "Files are checked without network access; without FILE the log in the cluster is "
	       "read. Keep the last digest where the people who run drover cannot change it: "
	       "--head then shows that nothing was removed from the end. Exit status 1: a fault "
	       "was found, or there is nothing to check.",
};

static int usage(const char *name, FILE *out)
{
	char *text =
		mem_printf("Usage: %s list [OPTION...] [FILE|-...]    list its entries\n"
			   "   or: %s verify [OPTION...] [FILE|-...]  check its chain of digests\n"
			   "The audit log of drover, from the cluster or from files.\n\nExamples:\n"
			   "  drover audit list --machine gpu-r1-07 --since 24h\n"
			   "  drover audit verify\n"
			   "  drover audit verify audit.jsonl --with-cluster\n\n"
			   "`%s list --help` and `%s verify --help` show the options.\n",
			   name, name, name, name);
	char *shown = str_starts(name, ARGS_PLUGIN) ? args_as_plugin(text) : mem_strdup(text);

	fputs(shown, out);
	free(shown);
	free(text);
	return out == stdout ? 0 : 2;
}

static bool asks_help(const char *arg)
{
	return str_eq(arg, "--help") || str_eq(arg, "-h") || str_eq(arg, "-?");
}

int cli_audit(int argc, char **argv)
{
	struct audit_log w = {0};
	const char *sub = argc > 1 ? argv[1] : "";
	const bool lists = str_eq(sub, "list");
	char title[64];
	int rc;

	if (!lists && !str_eq(sub, "verify"))
		return usage(argv[0], asks_help(sub) ? stdout : stderr);
	str_format(title, sizeof(title), "%s %s", argv[0], sub);
	argv[1] = title;
	args_parse(lists ? &list_argp : &verify_argp, argc - 1, argv + 1, &w);
	w.c.verb = title;
	w.a = arena_new();
	w.check = audit_check_new();
	rc = lists ? list(&w) : w.nfiles || w.head ? verify(&w) : verify_cluster(&w);
	audit_check_free(w.check);
	arena_free(w.a);
	if (w.open)
		cli_close(&w.c);
	return rc;
}
