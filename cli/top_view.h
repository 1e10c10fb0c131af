#ifndef CLI_TOP_VIEW_H
#define CLI_TOP_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include "base/buf.h"
#include "base/data/json.h"
#include "cli/screen.h"

/*
 * top_view: the content of `drover top`, without a terminal: racks, machines, the queue of pods,
 * the claims in progress, and details of one machine or pod. Keys sort, filter, open details, and
 * ask for actions, which the caller runs. cli/top_view.c has rows and keys, cli/top_draw.c the
 * layout.
 *
 * Machines and claims are explanations from explain_object() (controller/explain/explain.h), with
 * additional members: `rack` and `progress.bytesPerSecond` of a machine, `etaP50` and `etaP90` of a
 * claim. Pods are explanations from explain_pod() and explain_pod_now(). Control characters in
 * texts never reach the screen, because users can write such texts.
 * Tests: tests/unit/cli/test_top.c
 */
struct top_view;
struct top_view *top_view_new(void);
void top_view_free(struct top_view *v);

/* top_view_machine() and top_view_claim() add or replace one machine or claim; NULL removes it.
 * Both take ownership of the answer. The selected machine stays selected, by its name. */
void top_view_machine(struct top_view *v, const char *name, json_t *answer);
void top_view_claim(struct top_view *v, const char *name, json_t *answer);
/* Replaces the waiting pods of a tenant; takes ownership of the array. NULL: none. */
void top_view_queue(struct top_view *v, const char *tenant, json_t *pods);
/* Sets the time for ages. now: wall ms. */
void top_view_now(struct top_view *v, int64_t now);
/* Sets the error of the last read. The view then shows text, and since when it was not updated.
 * text NULL: the last read succeeded. */
void top_view_trouble(struct top_view *v, const char *text);

/* Returns the target of the opened row, as for explain_ask() (cli/explain_ask.h): "machine/NAME" or
 * "TENANT/NAMESPACE/POD". NULL: no row is open. Valid until the next call of top_view_key(). */
const char *top_view_opened(const struct top_view *v);
/* Shows the answer of explain_ask() in the opened row, instead of what the row's object alone
 * explains. target: as it was asked; ignored if this row is no longer open. answer: the view takes
 * ownership; NULL: keep the last answer. trouble: why the answer is missing or incomplete; NULL:
 * it is complete. */
void top_view_answer(struct top_view *v, const char *target, json_t *answer, const char *trouble);

/* Returns {machines, claims, queue}, sorted and filtered as the view shows them; the caller owns
 * it. */
json_t *top_view_json(struct top_view *v);

/* keys of top_view_key() besides characters */
enum {
	TOP_UP = 0x200000,
	TOP_DOWN,
	TOP_PAGE_UP,
	TOP_PAGE_DOWN,
	TOP_HOME,
	TOP_END,
	TOP_ESCAPE,
	TOP_BACKSPACE
};
/* Handles a key: a character or one of the TOP_... keys. False: the user quits. */
bool top_view_key(struct top_view *v, int key);

enum top_verb { TOP_NOTHING, TOP_RETRY, TOP_RELEASE, TOP_QUARANTINE, TOP_DRAIN, TOP_RETIRE };
/* An action that the user has confirmed. */
struct top_action {
	enum top_verb verb;
	/* valid until the next call of top_view_key() */
	const char *machine, *reason;
};
/* Returns the action that the last key confirmed, once; verb TOP_NOTHING: none. */
struct top_action top_view_action(struct top_view *v);
/* True if top_view_action() has an action. */
bool top_view_waits(const struct top_view *v);
/* Shows text (lines) until a key is pressed: the output of an action. */
void top_view_said(struct top_view *v, const char *text);

/* Draws the view on a screen whose height and width are set; height 0: the whole fleet, without a
 * selected row. */
void top_view_draw(struct top_view *v, struct screen *s);
/* Appends one screen of this size to `out` as text; 0: no limit. Each line ends with a newline. */
void top_view_print(struct top_view *v, size_t width, size_t height, struct buf *out);

#endif
