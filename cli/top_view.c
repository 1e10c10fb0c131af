#include "cli/top_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/top_view_impl.h"

enum { PAGE = 10 };

enum order { BY_NEED, BY_NAME, BY_STATE, BY_AGE, BY_TENANT, BY_RACK, BY_PROGRESS, ORDERS };
static const char *const order_names[ORDERS] = {"need",	  "name", "state",   "age",
						"tenant", "rack", "progress"};
const char *const top_verb_names[] = {"", "retry", "release", "quarantine", "drain", "retire"};

static void free_row(void *p)
{
	struct top_row *r = p;

	json_decref(r->answer);
	free(r);
}

static void free_json(void *p)
{
	json_decref(p);
}

struct top_view *top_view_new(void)
{
	struct top_view *v = mem_new(struct top_view);

	v->machines = map_new(free_row);
	v->claims = map_new(free_json);
	v->queues = map_new(free_json);
	v->changed = true;
	return v;
}

void top_view_free(struct top_view *v)
{
	if (!v)
		return;
	map_free(v->machines);
	map_free(v->claims);
	map_free(v->queues);
	free(v->trouble);
	free(v->chosen);
	free(v->asked);
	free(v->said);
	free(v->opened);
	free(v->chain_trouble);
	json_decref(v->chain);
	free(v->shown);
	free(v->racked);
	free(v->racks);
	free(v->pods);
	free(v);
}

void top_view_trouble(struct top_view *v, const char *text)
{
	free(v->trouble);
	v->trouble = mem_strdup(text);
}

void top_view_now(struct top_view *v, int64_t now)
{
	v->now = now;
}

const char *top_view_order(const struct top_view *v)
{
	return order_names[v->order];
}

/* --- rows and their order --------------------------------------------------------------------- */

static const char *text_at(const json_t *o, const char *key)
{
	return str_or(json_str_at(o, key), "");
}

static enum top_need need_of(const json_t *m, enum machine_state s)
{
	if (s == MACHINE_QUARANTINED || json_object_get(m, "quarantine"))
		return NEED_OPERATOR;
	if (json_object_get(m, "lastError") || json_true_at(m, "slow"))
		return NEED_FAILS;
	if (s == MACHINE_SERVING)
		return NEED_SERVES;
	return s == MACHINE_FREE || s == MACHINE_KNOWN || s == MACHINE_RETIRED || s == MACHINE_GONE
		       ? NEED_RESTS
		       : NEED_MOVES;
}

void top_view_machine(struct top_view *v, const char *name, json_t *answer)
{
	struct top_row *r;

	v->changed = true;
	/* Empty the arrays that point to rows, because a row may be freed below. */
	v->rows = v->nracks = 0;
	if (!answer) {
		map_del(v->machines, name);
		return;
	}
	r = mem_new(struct top_row);
	r->answer = answer;
	r->name = text_at(answer, "name");
	r->state = machine_state_find(text_at(answer, "state"));
	r->need = need_of(answer, r->state);
	map_put(v->machines, name, r);
}

static void put_json(struct top_view *v, struct map *m, const char *name, json_t *o)
{
	v->changed = true;
	v->npods = 0;
	if (o)
		map_put(m, name, o);
	else
		map_del(m, name);
}

void top_view_claim(struct top_view *v, const char *name, json_t *answer)
{
	put_json(v, v->claims, name, answer);
}

void top_view_queue(struct top_view *v, const char *tenant, json_t *pods)
{
	put_json(v, v->queues, tenant, pods);
}

static int by_text(const struct top_row *a, const struct top_row *b, const char *key)
{
	return strcmp(text_at(a->answer, key), text_at(b->answer, key));
}

static double part_done(const json_t *m)
{
	const json_t *p = json_object_get(m, "progress");
	int64_t total = json_int_at(p, "totalBytes");

	return total > 0 ? (double)json_int_at(p, "doneBytes") / (double)total : p ? 0 : -1;
}

static int compare(const void *x, const void *y, void *arg)
{
	const struct top_row *a = *(struct top_row *const *)x, *b = *(struct top_row *const *)y;
	double p, q;
	int d = 0;

	switch ((enum order)((const struct top_view *)arg)->order) {
	case BY_NEED:
		d = (int)a->need - (int)b->need;
		d = d ? d : by_text(a, b, "since");
		break;
	case BY_STATE:
		d = (int)a->state - (int)b->state;
		break;
	case BY_AGE:
		d = by_text(a, b, "since");
		break;
	case BY_TENANT:
		d = by_text(a, b, "tenant");
		break;
	case BY_RACK:
		d = by_text(a, b, "rack");
		break;
	case BY_PROGRESS:
		p = part_done(a->answer);
		q = part_done(b->answer);
		d = (p < q) - (p > q);
		break;
	case BY_NAME:
	case ORDERS:
		break;
	}
	return d ? d : strcmp(a->name, b->name);
}

static int compare_racked(const void *x, const void *y)
{
	const struct top_row *a = *(struct top_row *const *)x, *b = *(struct top_row *const *)y;
	int d = by_text(a, b, "rack");

	d = d ? d : (int)a->need - (int)b->need;
	return d ? d : strcmp(a->name, b->name);
}

/* Returns the sort key of a pod: a pod whose machine is being prepared, then the queue, then pods
 * that no machine could run. */
static int64_t turn_of(const json_t *pod)
{
	int64_t place = json_int_at(pod, "now", "place");

	return place > 0 ? place : json_at(pod, "now", "claim") ? 0 : INT64_MAX;
}

static int compare_pods(const void *x, const void *y)
{
	const json_t *a = *(json_t *const *)x, *b = *(json_t *const *)y;
	int64_t p = turn_of(a), q = turn_of(b);
	int d = (p > q) - (p < q);

	return d ? d : strcmp(text_at(a, "name"), text_at(b, "name"));
}

const char *top_view_reason(const json_t *m)
{
	const char *reason = json_str_at(m, "quarantine", "reason");

	return reason ? reason : json_str_at(m, "lastError", "reason");
}

/* True if the filter shows the machine: a text in one of its columns, or COLUMN=VALUE. */
static bool is_let_through(const struct top_view *v, const struct top_row *r)
{
	static const char *const columns[] = {"name", "state", "tenant", "rack"};
	const char *reason = top_view_reason(r->answer), *text;
	size_t n;

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		text = text_at(r->answer, columns[i]);
		n = strlen(columns[i]);
		if (!strncmp(v->filter, columns[i], n) && v->filter[n] == '=')
			return str_eq(text, v->filter + n + 1);
	}
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		if (strcasestr(text_at(r->answer, columns[i]), v->filter))
			return true;
	return reason && strcasestr(reason, v->filter);
}

static void choose(struct top_view *v, size_t at)
{
	char *copy = at < v->rows ? mem_strdup(v->shown[at]->name) : NULL;

	free(v->chosen);
	v->chosen = copy;
	v->at = at;
}

static void settle_racks(struct top_view *v)
{
	v->racked = mem_calloc(v->rows + 1, sizeof(struct top_row *));
	v->racks = mem_calloc(v->rows + 1, sizeof(*v->racks));
	v->nracks = 0;
	memcpy(v->racked, v->shown, v->rows * sizeof(struct top_row *));
	qsort(v->racked, v->rows, sizeof(struct top_row *), compare_racked);
	for (size_t i = 0; i < v->rows; i++) {
		const char *rack = text_at(v->racked[i]->answer, "rack");

		if (!v->nracks || !str_eq(v->racks[v->nracks - 1].name, rack))
			v->racks[v->nracks++] = (struct top_rack){.name = rack, .first = i};
		v->racks[v->nracks - 1].n++;
	}
}

static void settle_pods(struct top_view *v)
{
	struct map_iter it;
	size_t n = 0, i;
	json_t *pod;

	map_for_each (it, v->queues)
		n += json_array_size(it.value);
	v->pods = mem_calloc(n + 1, sizeof(json_t *));
	v->npods = 0;
	map_for_each (it, v->queues)
		json_array_foreach (it.value, i, pod)
			v->pods[v->npods++] = pod;
	qsort(v->pods, v->npods, sizeof(json_t *), compare_pods);
}

void top_view_settle(struct top_view *v)
{
	struct map_iter it;
	size_t at = v->at;

	if (!v->changed)
		return;
	v->changed = false;
	free(v->shown);
	free(v->racked);
	free(v->racks);
	free(v->pods);
	v->shown = mem_calloc(map_size(v->machines) + 1, sizeof(struct top_row *));
	v->rows = 0;
	memset(v->states, 0, sizeof(v->states));
	map_for_each (it, v->machines) {
		struct top_row *r = it.value;

		if (r->state != MACHINE_STATE_NONE)
			v->states[r->state]++;
		if (is_let_through(v, r))
			v->shown[v->rows++] = r;
	}
	qsort_r(v->shown, v->rows, sizeof(struct top_row *), compare, v);
	for (size_t i = 0; v->chosen && i < v->rows; i++)
		if (str_eq(v->shown[i]->name, v->chosen))
			at = i;
	choose(v, at < v->rows ? at : v->rows ? v->rows - 1 : 0);
	settle_racks(v);
	settle_pods(v);
	v->rack_at = v->rack_at < v->nracks ? v->rack_at : 0;
	v->pod_at = v->pod_at < v->npods ? v->pod_at : 0;
}

json_t *top_view_json(struct top_view *v)
{
	json_t *machines = json_array(), *claims = json_array(), *queue = json_array();
	struct map_iter it;

	top_view_settle(v);
	for (size_t i = 0; i < v->rows; i++)
		json_array_append(machines, v->shown[i]->answer);
	map_for_each (it, v->claims)
		json_array_append(claims, it.value);
	for (size_t i = 0; i < v->npods; i++)
		json_array_append(queue, v->pods[i]);
	return json_pack("{s:o, s:o, s:o}", "machines", machines, "claims", claims, "queue", queue);
}

/* --- keys ------------------------------------------------------------------------------------- */

void top_view_said(struct top_view *v, const char *text)
{
	free(v->said);
	v->said = mem_strdup(text);
	v->scroll = 0;
}

struct top_action top_view_action(struct top_view *v)
{
	struct top_action a = {.verb = v->confirmed ? v->verb : TOP_NOTHING,
			       .machine = v->asked,
			       .reason = v->reason};

	v->confirmed = false;
	return a;
}

bool top_view_waits(const struct top_view *v)
{
	return v->confirmed;
}

const char *top_view_opened(const struct top_view *v)
{
	return v->opened;
}

void top_view_answer(struct top_view *v, const char *target, json_t *answer, const char *trouble)
{
	char *copy = mem_strdup(trouble);

	if (!v->opened || !str_eq(v->opened, target)) {
		json_decref(answer);
		free(copy);
		return;
	}
	if (answer) {
		json_decref(v->chain);
		v->chain = answer;
	}
	free(v->chain_trouble);
	v->chain_trouble = copy;
}

/* Opens the row with this target; NULL: closes the opened row. Takes ownership of target. */
static void open_row(struct top_view *v, char *target)
{
	free(v->opened);
	free(v->chain_trouble);
	json_decref(v->chain);
	v->opened = target;
	v->chain_trouble = NULL;
	v->chain = NULL;
}

static void stop_input(struct top_view *v)
{
	if (v->input == TOP_FILTER)
		v->filter[0] = '\0';
	v->input = TOP_NO_INPUT;
	v->changed = true;
}

/* Handles a key of the line in which the user types a filter or a reason. */
static void type(struct top_view *v, int key)
{
	char *text = v->input == TOP_FILTER ? v->filter : v->reason;
	size_t n = strlen(text);

	if (key == TOP_ESCAPE) {
		stop_input(v);
	} else if (key == '\n' || key == '\r') {
		if (v->input == TOP_REASON && !n)
			return;
		v->input = v->input == TOP_REASON ? TOP_SURE : TOP_NO_INPUT;
	} else if (key == TOP_BACKSPACE || key == 0x7f || key == 0x08) {
		text[n ? n - 1 : 0] = '\0';
	} else if (key >= 0x20 && key < 0x7f && n + 1 < TOP_TEXT) {
		text[n] = (char)key;
		text[n + 1] = '\0';
	}
	v->changed |= v->input != TOP_REASON;
}

static void ask(struct top_view *v, enum top_verb verb)
{
	if (!v->rows || v->panel != TOP_MACHINES)
		return;
	v->verb = verb;
	/* Copy the name: v->chosen changes if the machine is deleted while the question is
	 * shown. */
	free(v->asked);
	v->asked = mem_strdup(v->chosen);
	v->reason[0] = '\0';
	v->input = verb == TOP_RETRY || verb == TOP_RELEASE ? TOP_SURE : TOP_REASON;
}

static void move_in(size_t *at, size_t n, long by)
{
	if (!n)
		return;
	if (by < 0)
		*at -= (size_t)-by < *at ? (size_t)-by : *at;
	else
		*at += (size_t)by < n - 1 - *at ? (size_t)by : n - 1 - *at;
}

static void move(struct top_view *v, long by)
{
	size_t at = v->at;

	if (v->said || v->opened || v->help) {
		/* no upper limit here: drawing limits v->scroll to the length of the text */
		v->scroll = by < 0 && (size_t)-by > v->scroll ? 0
			    : by < 0			      ? v->scroll - (size_t)-by
							      : v->scroll + (size_t)by;
	} else if (v->panel == TOP_RACKS) {
		move_in(&v->rack_at, v->nracks, by);
	} else if (v->panel == TOP_QUEUE) {
		move_in(&v->pod_at, v->npods, by);
	} else {
		move_in(&at, v->rows, by);
		choose(v, at);
	}
}

static void enter(struct top_view *v)
{
	v->scroll = 0;
	if (v->said || v->opened || v->help) {
		top_view_said(v, NULL);
		v->help = false;
		open_row(v, NULL);
	} else if (v->panel == TOP_QUEUE && v->npods) {
		open_row(v, mem_strdup(json_str_at(v->pods[v->pod_at], "name")));
	} else if (v->panel == TOP_MACHINES && v->rows) {
		open_row(v, mem_printf("machine/%s", v->shown[v->at]->name));
	} else if (v->panel == TOP_RACKS && v->nracks) {
		str_format(v->filter, sizeof(v->filter), "rack=%s", v->racks[v->rack_at].name);
		v->panel = TOP_MACHINES;
		v->changed = true;
	}
}

static void escape(struct top_view *v)
{
	if (!v->help && !v->opened && !v->said) {
		v->filter[0] = '\0';
		v->changed = true;
	}
	v->help = false;
	open_row(v, NULL);
	top_view_said(v, NULL);
}

static void answer_question(struct top_view *v, int key)
{
	v->confirmed = key == 'y' || key == 'Y';
	v->input = TOP_NO_INPUT;
}

static bool is_verb(struct top_view *v, int key)
{
	static const struct {
		int key;
		enum top_verb verb;
	} verbs[] = {{'r', TOP_RETRY},
		     {'l', TOP_RELEASE},
		     {'Q', TOP_QUARANTINE},
		     {'D', TOP_DRAIN},
		     {'X', TOP_RETIRE}};

	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (verbs[i].key == key) {
			ask(v, verbs[i].verb);
			return true;
		}
	return false;
}

static bool is_move(struct top_view *v, int key)
{
	static const struct {
		int key;
		long by;
	} moves[] = {{'k', -1},
		     {TOP_UP, -1},
		     {'j', 1},
		     {TOP_DOWN, 1},
		     {TOP_PAGE_UP, -PAGE},
		     {TOP_PAGE_DOWN, PAGE},
		     {TOP_HOME, -(1L << 30)},
		     {TOP_END, 1L << 30}};

	for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++)
		if (moves[i].key == key) {
			move(v, moves[i].by);
			return true;
		}
	return false;
}

bool top_view_key(struct top_view *v, int key)
{
	top_view_settle(v);
	if (key == 3) /* Ctrl-C */
		return false;
	if (v->input == TOP_SURE) {
		answer_question(v, key);
		return true;
	}
	if (v->input != TOP_NO_INPUT) {
		type(v, key);
		return true;
	}
	if (is_move(v, key) || is_verb(v, key))
		return true;
	switch (key) {
	case 'q':
		return false;
	case TOP_ESCAPE:
		escape(v);
		break;
	case '?':
	case 'h':
		v->help = !v->help;
		v->scroll = 0;
		break;
	case '\n':
	case '\r':
		enter(v);
		break;
	case '\t':
		v->panel = (enum top_panel)((v->panel + 1) % TOP_PANELS);
		open_row(v, NULL);
		break;
	case 's':
		v->order = (v->order + 1) % ORDERS;
		v->changed = true;
		break;
	case '/':
		v->input = TOP_FILTER;
		v->panel = TOP_MACHINES;
		open_row(v, NULL);
		break;
	default:
		break;
	}
	return true;
}
