#ifndef CLI_TOP_VIEW_IMPL_H
#define CLI_TOP_VIEW_IMPL_H

#include "api/machine_states.h"
#include "base/map.h"
#include "cli/top_view.h"

/*
 * top_view_impl: what cli/top_view.c and cli/top_draw.c share.
 */
enum { TOP_TEXT = 200 };
enum top_panel { TOP_MACHINES, TOP_RACKS, TOP_QUEUE, TOP_PANELS };
enum top_input { TOP_NO_INPUT, TOP_FILTER, TOP_REASON, TOP_SURE };

/* how urgently a machine needs attention, in the order of the rows */
enum top_need { NEED_OPERATOR, NEED_FAILS, NEED_MOVES, NEED_SERVES, NEED_RESTS, NEEDS };

struct top_row {
	json_t *answer;
	const char *name;
	enum machine_state state;
	enum top_need need;
};

struct top_rack {
	const char *name;
	/* rows of the rack in v->racked: the first one, and their number */
	size_t first, n;
};

struct top_view {
	/* machines: name -> struct top_row. claims: name -> explanation. queues: tenant -> array of
	 * the explanations of its waiting pods. */
	struct map *machines, *claims, *queues;
	int64_t now;
	/* error of the last read; NULL: none */
	char *trouble;
	int order;
	char filter[TOP_TEXT], reason[TOP_TEXT];
	enum top_input input;
	enum top_verb verb;
	bool confirmed, help;
	/* opened: target of the opened row, a row of panel, as for explain_ask(); NULL: no row is
	 * open. chain: answer to it; NULL: not read yet. chain_trouble: error of its last read;
	 * NULL: none */
	char *opened, *chain_trouble;
	json_t *chain;
	enum top_panel panel;
	/* output of the last action; NULL: none is shown */
	char *said;
	/* name of the selected machine; NULL: none was selected yet, so the first row counts as
	 * selected */
	char *chosen;
	/* name of the machine for which the user is asked to confirm an action or to give its
	 * reason; NULL: no question yet */
	char *asked;
	/* index of the selected rack and of the selected pod; scroll: first shown line of an opened
	 * text */
	size_t rack_at, pod_at, scroll;
	/* true: rows have changed since shown, racks, pods and states were computed */
	bool changed;
	/* machines that match the filter. shown: in the chosen order. racked: grouped by rack. */
	struct top_row **shown, **racked;
	size_t rows, at;
	struct top_rack *racks;
	size_t nracks;
	/* waiting pods in the order of the queue; borrowed from queues */
	json_t **pods;
	size_t npods;
	size_t states[MACHINE_STATES];
};

/* Computes shown, racks, pods and states again if rows have changed since the last call. */
void top_view_settle(struct top_view *v);
const char *top_view_order(const struct top_view *v);
/* Returns the reason of an error or quarantine of a machine; NULL: none. */
const char *top_view_reason(const json_t *answer);
extern const char *const top_verb_names[];

#endif
