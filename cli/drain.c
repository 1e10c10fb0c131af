/*
 * drain: `drover drain` creates a Drain object and shows its progress; `drover cancel` cancels a
 * Drain.
 * Tests: tests/unit/cli/test_verbs.c, tests/unit/cli/test_client.c
 */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/resources.h"
#include "base/args.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/data/selector.h"
#include "base/loop/loop.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/screen.h"
#include "cli/verbs.h"
#include "kube/cache.h"

/* maximum number of machines that are shown on a terminal at one time; the others are only
 * counted */
#define ROWS_MAX 20

/* --- creating a Drain ------------------------------------------------------------------------- */

static json_t *selector(const char *text, struct arena *a, struct err *e)
{
	json_t *list = json_array(), *values;
	struct selector s;

	if (selector_parse(text, a, &s, e) < 0) {
		json_decref(list);
		return NULL;
	}
	for (size_t i = 0; i < s.n; i++) {
		if (s.v[i].op == SELECTOR_GT || s.v[i].op == SELECTOR_LT) {
			err_note(e, ERR_INVALID, 0, "%s: Gt and Lt are not supported in a Drain",
				 s.v[i].key);
			json_decref(list);
			return NULL;
		}
		values = json_array();
		for (size_t k = 0; k < s.v[i].nvalues; k++)
			json_array_append_new(values, json_string(s.v[i].values[k]));
		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:o}", "key", s.v[i].key, "operator",
						selector_op_name(s.v[i].op), "values", values));
	}
	return json_pack("{s:o}", "matchExpressions", list);
}

/* Returns the list of the Machines' names, owned by the caller. NULL with *e if a given name is
 * neither a Machine nor a NodeClaim with a machine. */
static json_t *machines(struct cli_client *c, const struct cli_drain *d, struct err *e)
{
	json_t *list = json_array();

	for (size_t i = 0; i < d->nnames; i++) {
		OWN_JSON m = cli_machine(c, d->names[i], e);

		if (!m) {
			json_decref(list);
			return NULL;
		}
		json_array_append(list, json_at(m, "metadata", "name"));
	}
	return list;
}

static void set_time(json_t *o, const char *key, int64_t ms)
{
	char t[STR_TIME_SIZE];

	if (ms)
		json_object_set_new(o, key, json_string(str_time(t, ms)));
}

static json_t *build(struct cli_client *c, const struct cli_drain *d, struct arena *a,
		     const char *name, struct err *e)
{
	json_t *who = d->selector ? selector(d->selector, a, e) : machines(c, d, e), *spec;

	if (!who)
		return NULL;
	spec = json_pack("{s:s, s:o, s:s*, s:s*, s:I, s:s}", "reason", d->reason,
			 d->selector ? "machineSelector" : "machineNames", who, "onDeadline",
			 d->on_deadline, "then", d->then, "concurrent", (json_int_t)d->concurrent,
			 "gangs", d->split ? "Split" : "Whole");
	set_time(spec, "notBefore", d->not_before);
	set_time(spec, "deadline", d->deadline);
	return json_pack("{s:s, s:s, s:{s:s}, s:o}", "apiVersion", OBJECT_API_VERSION, "kind",
			 "Drain", "metadata", "name", name, "spec", spec);
}

struct count {
	struct loop *loop;
	size_t n;
	bool in, known;
};

static void on_match(json_t *object, void *arg)
{
	(void)object;
	((struct count *)arg)->n++;
}

static void on_recount(void *arg)
{
	((struct count *)arg)->n = 0;
}

static void on_counted(const char *rv, const struct err *e, void *arg)
{
	struct count *n = arg;

	(void)rv;
	n->in = true;
	n->known = !e;
	loop_stop(n->loop);
}

/* Warns the operator if no machine matches the selector, because usually a label was mistyped. The
 * Drain is still created, because labels can be set until it begins. A caller who may not list
 * machines gets no warning. */
static void warn_of_nobody(struct cli_client *c, const struct cli_drain *d)
{
	struct count n = {.loop = c->loop};
	struct kube_list_spec s = {
		.resource = &object_resources[OBJECT_MACHINE],
		.label_selector = d->selector,
		.on_item = on_match,
		.on_restart = on_recount,
		.done = on_counted,
		.arg = &n,
	};
	char t[STR_TIME_SIZE];

	(void)kube_list(c->host, &s);
	while (!n.in)
		loop_run(c->loop);
	if (!n.known || n.n)
		return;
	if (d->not_before > loop_wall(c->loop))
		(void)cli_failed(
			c,
			"no machine matches %s now; the Drain selects its machines when it "
			"begins, at %s: if none matches then, it ends at once as Partial "
			"and does nothing",
			d->selector, str_time(t, d->not_before));
	else
		(void)cli_failed(
			c,
			"no machine matches %s: the Drain ends at once as Partial and does "
			"nothing; to list the labels: kubectl get machines --show-labels",
			d->selector);
}

int cli_do_drain(struct cli_client *c, const struct cli_drain *d)
{
	OWN(arena) a = arena_new();
	uint8_t raw[3];
	char tail[7];
	const char *name;
	char t[STR_TIME_SIZE];
	struct err e;
	json_t *o;
	int status;

	if (d->deadline && d->deadline <= loop_wall(c->loop)) {
		(void)cli_failed(
			c,
			"--deadline %s is in the past: the Drain would end at once and do nothing",
			str_time(t, d->deadline));
		return 2;
	}
	loop_random_bytes(c->loop, raw, sizeof(raw));
	str_hex(tail, raw, sizeof(raw));
	name = arena_printf(a, "drain-%.40s-%s", d->nnames ? d->names[0] : "machines", tail);
	o = build(c, d, a, name, &e);
	if (!o)
		return cli_failed_read(c, &e);
	if (d->selector)
		warn_of_nobody(c, d);
	status = cli_make(
		c, OBJECT_DRAIN, o,
		d->wait ? arena_printf(a, "drain %s created", name)
			: arena_printf(a,
				       "drain %s created; to follow: drover drain --follow %s; to "
				       "stop it: drover cancel %s",
				       name, name, name));
	return status || !d->wait ? status : cli_do_follow(c, name);
}

int cli_do_cancel(struct cli_client *c, const char *drain)
{
	OWN(arena) a = arena_new();

	return cli_write(
		c, OBJECT_DRAIN, drain, json_pack("{s:{s:b}}", "spec", "cancelled", 1),
		arena_printf(
			a,
			"drain %s: cancelled; machines that have already left their tenant do not "
			"return",
			drain));
}

/* --- progress --------------------------------------------------------------------------------- */

struct follow {
	struct cli_client *c;
	const char *name;
	struct kube_cache *cache;
	/* machine name -> the line that was last printed about the machine */
	struct map *said;
	/* number of lines on the terminal that the next draw() overwrites */
	size_t drawn;
	/* gone: the Drain does not exist or was deleted. over: the Drain has ended. cut: the
	 * operator pressed Ctrl-C, or SIGTERM arrived. */
	bool gone, over, cut;
	bool unhealthy;
	int phase;
	/* message of the Drain's condition Ready, which tells how the Drain ended */
	char message[300];
};

static void *project(const json_t *o, struct arena *a, void *arg, struct err *e)
{
	const struct follow *f = arg;
	void *out = NULL;

	if (!str_eq(json_str_at(o, "metadata", "name"), f->name))
		return NULL;
	return object_decode(&object_kinds[OBJECT_DRAIN], o, a, &out, e) < 0 ? NULL : out;
}

static enum screen_look look_of(const char *phase)
{
	return str_eq(phase, "Done")					? SCREEN_GREEN
	       : str_eq(phase, "Failed") || str_eq(phase, "Escalating") ? SCREEN_RED
	       : str_eq(phase, "Evicting")				? SCREEN_YELLOW
	       : str_eq(phase, "Leaving") || str_eq(phase, "Wiping")	? SCREEN_CYAN
									: SCREEN_DIM;
}

static bool in_progress(const struct drain_target *t)
{
	return !str_eq(t->phase, "Pending") && !str_eq(t->phase, "Done") &&
	       !str_eq(t->phase, "Stopped") && !str_eq(t->phase, "Cancelled");
}

/* Draws the table of machines over the previous one. If there are more machines than rows, draws
 * only those in progress. */
static void draw(struct follow *f, const struct drain *d)
{
	OWN(arena) a = arena_new();
	struct buf text;
	struct screen_text t = {.out = &text, .colour = cli_colours(f->c)};
	struct screen s = {.limit = SIZE_MAX, .pen = screen_text_pen(&t)};
	size_t rows = 0, done = 0, most;

	buf_init(&text, 1 << 20);
	screen_size(&s);
	/* The heading, the last line and the cursor need a line each. */
	most = s.height < 4 ? 1 : s.height - 3 < ROWS_MAX ? s.height - 3 : ROWS_MAX;
	if (f->drawn)
		buf_printf(&text, "\033[%zuA\033[J", f->drawn);
	screen_line(
		&s, SCREEN_PLAIN,
		arena_printf(a, "%-24s %-11s %5s  %s", "MACHINE", "PHASE", "PODS", "BLOCKED BY"));
	for (size_t i = 0; i < d->status.targets.n; i++) {
		const struct drain_target *g = &d->status.targets.v[i];

		done += str_eq(g->phase, "Done");
		if (rows >= most || (d->status.targets.n > most && !in_progress(g)))
			continue;
		rows++;
		screen_add(&s, SCREEN_PLAIN, arena_printf(a, "%-24.63s ", g->machine));
		screen_add(&s, look_of(g->phase), arena_printf(a, "%-11s", g->phase));
		screen_line(&s, SCREEN_PLAIN,
			    arena_printf(a, " %5lld  %.60s", (long long)g->pods_left,
					 str_or(g->blocked_by, "")));
	}
	screen_line(
		&s, SCREEN_PLAIN,
		arena_printf(
			a, "%s: %zu of %zu done",
			drain_phase_names[d->status.phase < 0 ? DRAIN_PENDING : d->status.phase],
			done, d->status.targets.n));
	screen_text_end(&t);
	fwrite(text.data, 1, text.len, f->c->out);
	buf_done(&text);
	f->drawn = s.line;
}

/* Prints one line for each machine whose progress has changed since its last line. */
static void list(struct follow *f, const struct drain *d)
{
	char line[512];

	for (size_t i = 0; i < d->status.targets.n; i++) {
		const struct drain_target *t = &d->status.targets.v[i];

		str_format(line, sizeof(line), "%s %s", t->machine, t->phase);
		if (t->pods_left || t->blocked_by)
			str_format(line, sizeof(line), "%s %s pods=%lld%s%s", t->machine, t->phase,
				   (long long)t->pods_left, t->blocked_by ? " blocked by " : "",
				   str_or(t->blocked_by, ""));
		str_clean(line);
		if (str_eq(map_get(f->said, t->machine), line))
			continue;
		map_put(f->said, t->machine, mem_strdup(line));
		fprintf(f->c->out, "%s\n", line);
	}
}

static void on_change(const struct kube_entry *old, const struct kube_entry *new_, void *arg)
{
	struct follow *f = arg;
	const struct drain *d = new_ ? new_->object : NULL;
	const struct condition *ready;

	(void)old;
	if (!d) {
		f->gone = true;
		loop_stop(f->c->loop);
		return;
	}
	f->phase = d->status.phase;
	f->over = d->status.completion_time != 0;
	ready = condition_get(&d->status.conditions, "Ready");
	str_copy(f->message, sizeof(f->message), ready ? str_or(ready->message, "") : "");
	str_clean(f->message);
	if (!f->c->json && d->status.start_time) {
		if (cli_moves_cursor(f->c))
			draw(f, d);
		else
			list(f, d);
		fflush(f->c->out);
	}
	if (f->over)
		loop_stop(f->c->loop);
}

static void on_sync(void *arg)
{
	struct follow *f = arg;

	f->gone = !kube_cache_size(f->cache);
	if (f->gone)
		loop_stop(f->c->loop);
}

static void on_health(const struct err *e, void *arg)
{
	struct follow *f = arg;

	if (e && !f->unhealthy) {
		(void)cli_failed(f->c, "%s; retrying", e->text);
		f->drawn = 0; /* The table is no longer directly above the cursor. */
	}
	f->unhealthy = e != NULL;
}

static void on_signal(int signum, void *arg)
{
	struct follow *f = arg;

	(void)signum;
	f->cut = true;
	loop_stop(f->c->loop);
}

static int told(const struct follow *f)
{
	struct err e;
	OWN_JSON o = NULL;

	if (f->cut) {
		fprintf(stderr,
			"\n"
			"drain %s continues; to follow: drover drain --follow %s; to stop it: "
			"drover cancel %s (machines that have left their tenant do not return)\n",
			f->name, f->name, f->name);
		return 1;
	}
	if (f->gone)
		return cli_failed(f->c, "drain %s does not exist or was deleted", f->name);
	if (f->c->json) {
		o = cli_get(f->c, OBJECT_DRAIN, f->name, &e);
		if (!o)
			return cli_failed_read(f->c, &e);
		json_dumpf(o, f->c->out, JSON_INDENT(2));
		fputc('\n', f->c->out);
	} else if (!cli_moves_cursor(f->c)) {
		fprintf(f->c->out, "drain %s %s%s%s\n", f->name, drain_phase_names[f->phase],
			f->message[0] ? ": " : "", f->message);
	} else if (f->message[0]) {
		fprintf(f->c->out, "%s\n", f->message);
	}
	return f->phase == DRAIN_SUCCEEDED ? 0 : 1;
}

int cli_do_follow(struct cli_client *c, const char *drain)
{
	struct follow f = {.c = c, .name = drain, .said = map_new(free)};
	OWN(arena) a = arena_new();
	struct kube_cache_spec s = {
		.client = c->host,
		.resource = &object_resources[OBJECT_DRAIN],
		.field_selector = arena_printf(a, "metadata.name=%s", drain),
		.project = project,
		.on_change = on_change,
		.on_sync = on_sync,
		.on_health = on_health,
		.arg = &f,
	};
	struct loop_signal *in = loop_signal(c->group, SIGINT, on_signal, &f),
			   *term = loop_signal(c->group, SIGTERM, on_signal, &f);
	int status;

	f.cache = kube_cache_new(c->group, &s);
	while (!f.gone && !f.over && !f.cut)
		loop_run(c->loop);
	kube_cache_free(f.cache);
	status = told(&f);
	loop_signal_free(in);
	loop_signal_free(term);
	map_free(f.said);
	return status;
}

/* --- the command line ------------------------------------------------------------------------- */

enum { DEADLINE = 256, ON_DEADLINE, NOT_BEFORE, SPLIT, FOLLOW };

struct drain_args {
	struct cli_options o;
	struct cli_drain d;
	const char *names[1000];
	const char *deadline, *not_before, *follow;
	bool split;
};

static const struct argp_option options[] = {
	{"reason", 'r', "TEXT", 0,
	 "Why the machines are drained; shown to everyone who looks at the Drain (required)", 0},
	{"selector", 'l', "LABELS", 0,
	 "Select machines by label instead of by name, such as topology.drover.dev/rack=r1", 0},
	{"then", 't', "Release|Hold|Quarantine|Retire", 0,
	 "What happens to a drained machine. Release: wipe, then offer to any tenant (`drover "
	 "release` is something else: it ends a hold or a quarantine); Hold: keep on, without new "
	 "pods; Quarantine: wipe, keep out of use until `drover release`; Retire: wipe, stop "
	 "managing (default: Release)",
	 0},
	{"concurrent", 'c', "N", 0, "Drain at most N machines at a time (default: 1)", 0},
	{"deadline", DEADLINE, "TIME", 0,
	 "When to apply --on-deadline: 2h (from now) or 2026-12-01T04:00:00Z (default: never)", 0},
	{"on-deadline", ON_DEADLINE, "Stop|Escalate", 0,
	 "What happens at the deadline. Stop: machines that have not left their tenant stay in "
	 "service; Escalate: delete the remaining pods, even against PodDisruptionBudgets, then "
	 "switch the machines off (default: Stop)",
	 0},
	{"not-before", NOT_BEFORE, "TIME", 0,
	 "Begin at this time, written as for --deadline (default: now)", 0},
	{"split-gangs", SPLIT, NULL, 0,
	 "Drain the machines of one gang (pods that start together) independently (default: "
	 "together, even if that exceeds --concurrent)",
	 0},
	{"wait", 'w', NULL, 0, "Show progress until the Drain has ended", 0},
	{"follow", FOLLOW, "DRAIN", 0, "Only show the progress of an existing Drain", 0},
	CLI_OPTION_ROWS,
};

static void check(struct drain_args *v, struct argp_state *st)
{
	if (v->follow) {
		if (v->d.nnames || v->d.selector)
			argp_error(st, "--follow shows an existing Drain; do not name machines");
		return;
	}
	if (v->d.nnames && v->d.selector)
		argp_error(st, "give machines either by name or by --selector, not both");
	if (!v->d.nnames && !v->d.selector)
		argp_error(st, "give machines by name, or with --selector");
	if (str_empty(v->d.reason))
		argp_error(st, "--reason is required: say why the machines are drained");
	if (v->d.on_deadline && !v->deadline)
		argp_error(st, "--on-deadline needs --deadline");
}

static error_t parse(int key, char *arg, struct argp_state *st)
{
	struct drain_args *v = st->input;

	switch (key) {
	case 'r':
		v->d.reason = arg;
		return 0;
	case 'l':
		v->d.selector = arg;
		return 0;
	case 't':
		if (!str_among(arg, drain_then_names))
			argp_error(st, "--then: want Release, Hold, Quarantine or Retire, got %s",
				   arg);
		v->d.then = arg;
		return 0;
	case 'c':
		if (!str_to_i64(arg, 1, 1000, &v->d.concurrent))
			argp_error(st, "--concurrent: want 1 to 1000, got %s", arg);
		return 0;
	case 'w':
		v->d.wait = true;
		return 0;
	case DEADLINE:
		v->deadline = arg;
		return 0;
	case ON_DEADLINE:
		if (!str_eq(arg, "Stop") && !str_eq(arg, "Escalate"))
			argp_error(st, "--on-deadline: want Stop or Escalate, got %s", arg);
		v->d.on_deadline = arg;
		return 0;
	case NOT_BEFORE:
		v->not_before = arg;
		return 0;
	case SPLIT:
		v->d.split = true;
		return 0;
	case FOLLOW:
		v->follow = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (v->d.nnames == sizeof(v->names) / sizeof(v->names[0]))
			argp_error(st, "at most 1000 machines");
		v->names[v->d.nnames++] = arg;
		return 0;
	case ARGP_KEY_END:
		check(v, st);
		return 0;
	default:
		return cli_option(key, arg, st, &v->o);
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "[NODE|MACHINE...]",
	.doc = "Drain machines from their tenants: cordon the Node, evict its pods, switch the "
	       "machine off and wipe it; or, with --then Hold, keep it on without pods. After the "
	       "wipe the machine is offered to any tenant again; for a broken machine use --then "
	       "Quarantine.\v"
	       "Examples:\n"
	       "  drover drain gpu-r1-07 --reason 'fan 2 is dying' --then Quarantine\n"
	       "  drover drain h100-x7k2p --reason 'CHG-4411' --then Hold\n"
	       "  drover drain --selector topology.drover.dev/rack=r1 --reason 'PSU' \\\n"
	       "    --concurrent 2 --deadline 2h --on-deadline Escalate --then Quarantine\n"
	       "NODE is the name of a Node that drover manages, which is also the name of its "
	       "NodeClaim. Ctrl-C ends the display; the Drain continues.\n"
	       "To do the same with kubectl, create a Drain object.",
};

int64_t cli_time(int64_t now, const char *text)
{
	int64_t ms;

	if (!text)
		return 0;
	if (str_to_duration(text, &ms) && ms > 0)
		return now + ms;
	return str_to_time(text, &ms) && ms > 0 ? ms : -1;
}

int cli_drain(int argc, char **argv)
{
	struct drain_args v = {.d = {.concurrent = 1}};
	struct cli_client c;
	int status;

	args_parse(&argp, argc, argv, &v);
	v.d.names = v.names;
	if (cli_open(&c, "drover drain", &v.o) < 0)
		return 1;
	v.d.deadline = cli_time(loop_wall(c.loop), v.deadline);
	v.d.not_before = cli_time(loop_wall(c.loop), v.not_before);
	if (v.d.deadline < 0 || v.d.not_before < 0) {
		(void)cli_failed(&c, "--%s: want a time such as 2h or 2026-12-01T04:00:00Z, got %s",
				 v.d.deadline < 0 ? "deadline" : "not-before",
				 v.d.deadline < 0 ? v.deadline : v.not_before);
		status = 2;
	} else {
		status = v.follow ? cli_do_follow(&c, v.follow) : cli_do_drain(&c, &v.d);
	}
	cli_close(&c);
	return status;
}
