#ifndef CLI_TOP_SCREEN_H
#define CLI_TOP_SCREEN_H

#include <stdio.h>
#include "base/err.h"
#include "cli/top_view.h"

/*
 * top_screen: draws the view of `drover top` on a terminal, with ncurses, which sends only what has
 * changed. The program has one screen at a time.
 * Tests: tests/unit/cli/test_top_screen.c
 */

/* Takes over the terminal of in and out: unbuffered keys without echo; Ctrl-C and Ctrl-Z arrive as
 * keys. Returns 0, or -1 with *e if the type of the terminal (TERM) is unknown or cannot move the
 * cursor; the terminal is then unchanged. */
int top_screen_open(FILE *in, FILE *out, struct err *e);
/* Restores the terminal. */
void top_screen_close(void);

void top_screen_draw(struct top_view *v);
/* Passes the pressed keys to the view until none is left or the view has an action. Ctrl-Z restores
 * the terminal and stops the process group until it is continued. False: the user quits, or the
 * terminal is gone. */
bool top_screen_keys(struct top_view *v);
/* Adapts to the size of the terminal; call after SIGWINCH. */
void top_screen_resized(void);

#endif
