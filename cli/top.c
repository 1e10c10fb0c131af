/*
 * top: `drover top`. On a terminal it watches the fleet, shows each change and reads keys. On a
 * pipe, on a terminal that cannot move its cursor, or as JSON, it prints the whole fleet once.
 * cli/top_view.c has the content, cli/top_screen.c the terminal.
 * Tests: tests/unit/cli/test_top.c, tests/unit/cli/test_top_live.c
 */
#include <argp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api/resources.h"
#include "base/args.h"
#include "base/arena.h"
#include "base/loop/loop.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/explain_ask.h"
#include "cli/top_screen.h"
#include "cli/top_view.h"
#include "cli/verbs.h"
#include "controller/explain/answer.h"
#include "controller/explain/explain.h"
#include "kube/cache.h"

#define RACK "topology.drover.dev/rack"
/* REDRAW_MS: shortest time between two updates of the screen, except for an update after a key.
 * AGES_MS: interval at which ages are updated. EXPLAIN_MS: interval at which explanations are
 * computed again, because they depend on the time. ASK_MS: time from an answer about the opened
 * row to the next question. */
enum { REDRAW_MS = 1000, AGES_MS = 10000, EXPLAIN_MS = 60000, ASK_MS = 4000 };

/* --- objects ---------------------------------------------------------------------------------- */

static const enum object_kind_id kinds[] = {OBJECT_MACHINE, OBJECT_NODE_CLAIM,
					    OBJECT_VIRTUAL_CLUSTER};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* An object as read: either the decoded object, or the error of decoding it. */
struct seen {
	void *object;
	const char *name, *bad;
};

static struct seen *see(enum object_kind_id kind, const json_t *o, struct arena *a)
{
	struct seen *s = arena_new_obj(a, struct seen);
	struct err e;

	s->name = arena_strdup(a, str_or(json_str_at(o, "metadata", "name"), ""));
	if (object_decode(&object_kinds[kind], o, a, &s->object, &e) < 0)
		s->bad = arena_strdup(a, e.text);
	return s;
}

static void show_machine(struct top_view *v, const struct seen *s, int64_t now)
{
	const struct machine *m = s->object;
	json_t *answer;

	if (s->bad) {
		answer = json_pack("{s:s, s:{s:s, s:s}}", "state", "known", "lastError", "reason",
				   "Unreadable", "message", s->bad);
		answer_put(answer, "name", s->name);
	} else {
		answer = explain_object(OBJECT_MACHINE, m, now);
		answer_put(answer, "rack", labels_get(&m->meta.labels, RACK));
		if (m->status.operation && m->status.operation->progress)
			json_object_set_new(
				json_object_get(answer, "progress"), "bytesPerSecond",
				json_integer(m->status.operation->progress->bytes_per_second));
	}
	top_view_machine(v, s->name, answer);
}

/* Shows a claim that is in progress: it is not deleted, ended, failed or serving, and its Node is
 * not Ready yet. */
static void show_claim(struct top_view *v, const struct seen *s, int64_t now)
{
	const struct node_claim *n = s->object;
	json_t *answer;

	if (s->bad || condition_is_true(&n->status.conditions, "Ready") ||
	    n->meta.deletion_timestamp || str_eq(n->status.phase, "Failed") ||
	    str_eq(n->status.phase, "Ended") || str_eq(n->status.phase, "serving")) {
		top_view_claim(v, s->name, NULL);
		return;
	}
	answer = explain_object(OBJECT_NODE_CLAIM, n, now);
	answer_time(answer, "etaP50", n->status.eta.p50);
	answer_time(answer, "etaP90", n->status.eta.p90);
	top_view_claim(v, s->name, answer);
}

static void show_queue(struct top_view *v, const struct seen *s)
{
	const struct virtual_cluster *vc = s->object;
	OWN(arena) a = arena_new();
	json_t *pods = json_array(), *pod;

	for (size_t i = 0; !s->bad && i < vc->status.waiting.n; i++) {
		const char *path = vc->status.waiting.v[i].pod, *slash = strchr(path, '/');

		if (!slash)
			continue;
		path = arena_strndup(a, path, (size_t)(slash - path));
		pod = explain_pod(vc, path, slash + 1);
		explain_pod_now(pod, vc, path, slash + 1);
		json_array_append_new(pods, pod);
	}
	top_view_queue(v, s->name, pods);
}

static void show(struct top_view *v, enum object_kind_id kind, const struct seen *s, int64_t now)
{
	if (kind == OBJECT_MACHINE)
		show_machine(v, s, now);
	else if (kind == OBJECT_NODE_CLAIM)
		show_claim(v, s, now);
	else
		show_queue(v, s);
}

static void hide(struct top_view *v, enum object_kind_id kind, const char *name)
{
	if (kind == OBJECT_MACHINE)
		top_view_machine(v, name, NULL);
	else if (kind == OBJECT_NODE_CLAIM)
		top_view_claim(v, name, NULL);
	else
		top_view_queue(v, name, NULL);
}

/* --- once ------------------------------------------------------------------------------------- */

struct top_reading {
	struct cli_client *c;
	struct top_view *v;
	enum object_kind_id kind;
};

static void on_listed(json_t *o, void *arg)
{
	struct top_reading *r = arg;
	OWN(arena) a = arena_new();

	show(r->v, r->kind, see(r->kind, o, a), loop_wall(r->c->loop));
}

static void print_once(struct cli_client *c, struct top_view *v)
{
	OWN_JSON all = NULL;
	struct buf text;

	top_view_now(v, loop_wall(c->loop));
	if (c->json) {
		all = top_view_json(v);
		json_dumpf(all, c->out, JSON_INDENT(2));
		fputc('\n', c->out);
		return;
	}
	buf_init(&text, 1 << 28);
	top_view_print(v, 0, 0, &text);
	fwrite(text.data, 1, text.len, c->out);
	buf_done(&text);
}

int cli_do_top(struct cli_client *c)
{
	struct top_reading r = {.c = c, .v = top_view_new()};
	struct err e;
	int status = 0;

	for (size_t i = 0; i < KINDS && !status; i++) {
		r.kind = kinds[i];
		if (cli_list(c, r.kind, on_listed, &r, &e) < 0)
			status = cli_report_unreadable(c, r.kind, NULL, &e);
	}
	if (!status)
		print_once(c, r.v);
	top_view_free(r.v);
	return status;
}

/* --- watching --------------------------------------------------------------------------------- */

struct top;

struct watched {
	struct top *top;
	enum object_kind_id kind;
	struct kube_cache *cache;
	/* error of list or watch; kind ERR_NONE: none */
	struct err e;
};

struct top {
	struct cli_client *c;
	/* drover's own namespace */
	const char *ns;
	struct top_view *view;
	struct watched watched[KINDS];
	struct loop_timer redraw;
	struct loop_fd *keys;
	/* aged, explained: wall ms at which ages, and explanations, were last computed */
	int64_t aged, explained;
	/* asked: target of the opened row; NULL: no row is open. question: what is being read about
	 * it; NULL: nothing. ask_at: loop_now() from which it is read again */
	char *asked;
	struct explain_question *question;
	int64_t ask_at;
	/* changed: the screen does not show the newest objects */
	bool changed, due, key, resized, answered;
	/* number of the signal that ends the program; 0: none yet */
	int ended;
};

static void *project(const json_t *o, struct arena *a, void *arg, struct err *e)
{
	const struct watched *w = arg;

	(void)e;
	return see(w->kind, o, a);
}

static void on_change(const struct kube_entry *old, const struct kube_entry *new_, void *arg)
{
	struct watched *w = arg;

	if (new_)
		show(w->top->view, w->kind, new_->object, loop_wall(w->top->c->loop));
	else
		hide(w->top->view, w->kind, old->name);
	w->top->changed = true;
}

static void on_sync(void *arg)
{
	loop_stop(((struct watched *)arg)->top->c->loop);
}

static void on_health(const struct err *e, void *arg)
{
	struct watched *w = arg;
	struct top *t = w->top;
	const char *trouble = NULL;

	w->e = e ? *e : (struct err){0};
	for (size_t i = 0; i < KINDS; i++)
		if (t->watched[i].e.kind != ERR_NONE)
			trouble = t->watched[i].e.text;
	top_view_trouble(t->view, trouble);
	t->changed = true;
	loop_stop(t->c->loop);
}

/* Waits for the first list of each kind. Returns the exit status. */
static int begin(struct top *t)
{
	struct watched *w;

	for (size_t i = 0; i < KINDS; i++) {
		w = &t->watched[i];
		*w = (struct watched){.top = t, .kind = kinds[i]};
		w->cache = kube_cache_new(
			t->c->group,
			&(struct kube_cache_spec){.client = t->c->host,
						  .resource = &object_resources[w->kind],
						  .project = project,
						  .on_change = on_change,
						  .on_sync = on_sync,
						  .on_health = on_health,
						  .arg = w});
	}
	for (size_t i = 0; i < KINDS; i++) {
		w = &t->watched[i];
		while (!kube_cache_synced(w->cache) && w->e.kind == ERR_NONE)
			loop_run(t->c->loop);
		if (!kube_cache_synced(w->cache))
			return cli_report_unreadable(t->c, w->kind, NULL, &w->e);
	}
	return 0;
}

static bool explain_again(const struct kube_entry *entry, void *arg)
{
	const struct watched *w = arg;

	show(w->top->view, w->kind, entry->object, w->top->explained);
	return true;
}

/* --- the opened row --------------------------------------------------------------------------- */

static void on_answer(const json_t *answer, const struct err *e, void *arg)
{
	struct top *t = arg;

	t->question = NULL;
	t->ask_at = loop_now(t->c->loop) + ASK_MS;
	top_view_answer(t->view, t->asked, json_deep_copy(answer), e ? e->text : NULL);
	t->answered = true;
	loop_stop(t->c->loop);
}

static void forget_question(struct top *t)
{
	explain_ask_cancel(t->question);
	free(t->asked);
	t->question = NULL;
	t->asked = NULL;
	t->ask_at = 0;
}

/* Reads what belongs to the opened row, and again ASK_MS after each answer. The view goes on
 * meanwhile. */
static void ask_about_opened(struct top *t)
{
	const struct explain_asker with = {.host = t->c->host,
					   .loop = t->c->loop,
					   .group = t->c->group,
					   .http = t->c->http,
					   .ns = t->ns};
	const char *target = top_view_opened(t->view);

	if (!str_eq(target, t->asked)) {
		forget_question(t);
		t->asked = mem_strdup(target);
	}
	if (target && !t->question && loop_now(t->c->loop) >= t->ask_at)
		t->question = explain_ask(&with, target, on_answer, t);
}

/* --- actions ---------------------------------------------------------------------------------- */

static int act(struct cli_client *c, const struct top_action *a)
{
	const char *names[] = {a->machine};

	switch (a->verb) {
	case TOP_RETRY:
		return cli_do_retry(c, a->machine);
	case TOP_RELEASE:
		return cli_do_release(c, a->machine);
	case TOP_QUARANTINE:
		return cli_do_quarantine(c, a->machine, a->reason);
	case TOP_DRAIN:
		return cli_do_drain(c, &(struct cli_drain){.names = names,
							   .nnames = 1,
							   .reason = a->reason,
							   .concurrent = 1});
	case TOP_RETIRE:
		return cli_do_retire(c, a->machine, a->reason);
	case TOP_NOTHING:
		break;
	}
	return 0;
}

static char *content_of(int fd)
{
	off_t n = lseek(fd, 0, SEEK_END);
	char *text = mem_calloc((size_t)(n < 0 ? 0 : n) + 1, 1);

	if (n > 0 && pread(fd, text, (size_t)n, 0) != n)
		*text = '\0';
	return text;
}

/* Runs the command of an action that the user confirmed in the view. The view then shows what the
 * command printed on standard output and standard error. */
static void run_action(struct top *t)
{
	struct top_action a = top_view_action(t->view);
	struct cli_client c = *t->c;
	int fd, was;
	char *said;

	if (a.verb == TOP_NOTHING)
		return;
	fd = memfd_create("said", MFD_CLOEXEC);
	was = dup(STDERR_FILENO);
	c.out = fd < 0 || was < 0 ? NULL : fdopen(fd, "w");
	if (!c.out) {
		if (fd >= 0)
			close(fd);
		top_view_said(t->view, "not done: drover top has too many open files; restart it");
	} else {
		setvbuf(c.out, NULL, _IONBF, 0);
		fflush(stderr);
		dup2(fd, STDERR_FILENO);
		c.verb = "drover top";
		c.tty = false;
		loop_fd_want(t->keys, 0);
		(void)CLI_REPEAT(&c, act(&c, &a));
		loop_fd_want(t->keys, LOOP_READ);
		fflush(stderr);
		dup2(was, STDERR_FILENO);
		said = content_of(fd);
		top_view_said(t->view, said);
		free(said);
		fclose(c.out);
	}
	if (was >= 0)
		close(was);
	t->ask_at = 0;
}

/* --- on a terminal ---------------------------------------------------------------------------- */

static void on_signal(int signum, void *arg)
{
	struct top *t = arg;

	if (signum == SIGWINCH)
		t->resized = true;
	else
		t->ended = signum;
	loop_stop(t->c->loop);
}

static void on_key(int events, void *arg)
{
	struct top *t = arg;

	if (events & LOOP_HANGUP)
		t->ended = SIGHUP;
	t->key = true;
	loop_stop(t->c->loop);
}

static void on_redraw(void *arg)
{
	struct top *t = arg;

	t->due = true;
	loop_timer_start(&t->redraw, REDRAW_MS);
	loop_stop(t->c->loop);
}

static void update(struct top *t)
{
	int64_t now = loop_wall(t->c->loop);

	if (now - t->explained >= EXPLAIN_MS) {
		t->explained = now;
		for (size_t i = 0; i < KINDS; i++)
			kube_cache_each(t->watched[i].cache, explain_again, &t->watched[i]);
	}
	t->aged = now;
	top_view_now(t->view, now);
	top_screen_draw(t->view);
	t->changed = false;
}

static void watch(struct top *t)
{
	bool go_on = true;

	update(t);
	while (go_on && !t->ended) {
		loop_run(t->c->loop);
		if (t->resized)
			top_screen_resized();
		if (t->key)
			go_on = top_screen_keys(t->view);
		if (go_on)
			run_action(t);
		if (go_on)
			ask_about_opened(t);
		if (t->resized || t->key || t->answered ||
		    (t->due && (t->changed || loop_wall(t->c->loop) - t->aged >= AGES_MS)))
			update(t);
		t->resized = t->key = t->due = t->answered = false;
	}
}

static void watch_on_screen(struct top *t)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH};
	struct loop_signal *caught[4];

	for (size_t i = 0; i < 4; i++)
		caught[i] = loop_signal(t->c->group, signals[i], on_signal, t);
	loop_timer_init(&t->redraw, t->c->group, on_redraw, t);
	loop_timer_start(&t->redraw, REDRAW_MS);
	t->keys = loop_fd(t->c->group, STDIN_FILENO, on_key, t);
	loop_fd_want(t->keys, LOOP_READ);
	t->explained = loop_wall(t->c->loop);
	watch(t);
	forget_question(t);
	loop_fd_free(t->keys);
	loop_timer_stop(&t->redraw);
	for (size_t i = 0; i < 4; i++)
		loop_signal_free(caught[i]);
}

/* Runs the live view. Returns the exit status. */
static int on_terminal(struct cli_client *c, const char *ns)
{
	struct top t = {.c = c, .ns = ns, .view = top_view_new()};
	struct err e;
	int status = begin(&t);

	if (!status && top_screen_open(stdin, c->out, &e) < 0) {
		fprintf(stderr, "%s: %s, so the fleet is printed once\n", c->verb, e.text);
		print_once(c, t.view);
	} else if (!status) {
		watch_on_screen(&t);
		top_screen_close();
	}
	for (size_t i = 0; i < KINDS; i++)
		kube_cache_free(t.watched[i].cache);
	top_view_free(t.view);
	return t.ended && t.ended != SIGINT ? 128 + t.ended : status;
}

/* --- the command ------------------------------------------------------------------------------ */

struct top_args {
	struct cli_options o;
	const char *ns;
};

static const struct argp_option options[] = {CLI_NAMESPACE_ROW, CLI_OPTION_ROWS};

static error_t parse(int key, char *arg, struct argp_state *st)
{
	struct top_args *v = st->input;

	if (key != 'n')
		return cli_option(key, arg, st, &v->o);
	if (!str_is_dns_label(arg))
		argp_error(st, "--namespace: want the name of a namespace, got '%s'", arg);
	v->ns = arg;
	return 0;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.doc = "Show the fleet: racks, machines, what each machine does and waits for, the queue "
	       "of pods, claims in progress.\v"
	       "On a terminal each change is shown: up and down select a machine, Enter shows why "
	       "it waits, as drover why does, Tab shows racks or the queue, s sorts, / filters, r "
	       "retries, ? lists the keys, q quits. On a pipe the fleet is printed once.\n\n"
	       "Examples:\n"
	       "  drover top\n"
	       "  drover top | head -3\n"
	       "  drover top -o json | jq '.machines[].state'\n",
};

int cli_top(int argc, char **argv)
{
	struct top_args v = {.ns = "drover-system"};
	struct cli_client c;
	int status;

	args_parse(&argp, argc, argv, &v);
	if (cli_open(&c, argv[0], &v.o) < 0)
		return 1;
	status = c.tty && !c.json && isatty(STDIN_FILENO) ? on_terminal(&c, v.ns) : cli_do_top(&c);
	cli_close(&c);
	return status;
}
