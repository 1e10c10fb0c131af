#include "cli/top_screen.h"

#include <langinfo.h>
#include <locale.h>
#include <ncurses.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <unistd.h>

#include "base/str.h"

/* ESCAPE_MS: longest time in ms between the bytes that a terminal sends for one key */
enum { ESCAPE_MS = 100, CTRL_L = 0x0c, CTRL_Z = 0x1a, ESCAPE = 0x1b };

static struct {
	SCREEN *screen;
	int in, out;
	bool colour;
} term;

/* True if the terminal can move the cursor and clear the screen. */
static bool is_able(const char *type, int fd, struct err *e)
{
	int status;

	if (setupterm(type, fd, &status) == ERR || !cursor_address || !clear_screen) {
		err_note(e, ERR_INVALID, 0,
			 "terminal type '%s' is unknown or cannot move the cursor",
			 str_or(type, ""));
		return false;
	}
	return true;
}

static void start_colours(void)
{
	static const short colours[] = {[SCREEN_RED] = COLOR_RED,
					[SCREEN_YELLOW] = COLOR_YELLOW,
					[SCREEN_CYAN] = COLOR_CYAN,
					[SCREEN_GREEN] = COLOR_GREEN};

	term.colour = str_empty(getenv("NO_COLOR")) && has_colors() && start_color() == OK;
	if (!term.colour)
		return;
	use_default_colors();
	for (short look = SCREEN_RED; look <= SCREEN_GREEN; look++)
		init_pair(look, colours[look], -1);
}

int top_screen_open(FILE *in, FILE *out, struct err *e)
{
	const char *type = getenv("TERM");

	setlocale(LC_CTYPE, "");
	if (!is_able(type, fileno(out), e))
		return -1;
	term.in = fileno(in);
	term.out = fileno(out);
	term.screen = newterm(type, out, in);
	if (!term.screen)
		return err_set(e, ERR_INVALID, 0, "terminal type '%s' cannot be used",
			       str_or(type, ""));
	set_escdelay(ESCAPE_MS);
	raw();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	curs_set(0);
	start_colours();
	return 0;
}

void top_screen_close(void)
{
	endwin();
	delscreen(term.screen);
	term.screen = NULL;
}

static attr_t look_of(enum screen_look look)
{
	switch (look) {
	case SCREEN_RED:
	case SCREEN_YELLOW:
	case SCREEN_CYAN:
	case SCREEN_GREEN:
		if (term.colour)
			return (attr_t)COLOR_PAIR(look);
		return look == SCREEN_RED ? A_BOLD : A_NORMAL;
	case SCREEN_BOLD:
		return A_BOLD;
	case SCREEN_REVERSE:
		return A_REVERSE;
	case SCREEN_DIM:
		return A_DIM;
	case SCREEN_PLAIN:
		break;
	}
	return A_NORMAL;
}

static void put(size_t line, size_t column, enum screen_look look, const char *text, void *arg)
{
	attr_t attributes = look_of(look);

	(void)arg;
	attron(attributes);
	mvaddstr((int)line, (int)column, text);
	attroff(attributes);
}

void top_screen_draw(struct top_view *v)
{
	struct screen s = {.width = (size_t)COLS,
			   .height = (size_t)LINES,
			   .unicode = str_eq(nl_langinfo(CODESET), "UTF-8"),
			   .pen = {.put = put}};

	erase();
	top_view_draw(v, &s);
	move(LINES - 1, 0);
	refresh();
}

void top_screen_resized(void)
{
	struct winsize size;

	if (ioctl(term.out, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
}

/* Stops the process group as Ctrl-Z does, with the terminal restored; returns when it is
 * continued. */
static void suspend(void)
{
	struct sigaction stop = {.sa_handler = SIG_DFL}, was;

	endwin();
	sigaction(SIGTSTP, &stop, &was);
	kill(0, SIGTSTP);
	sigaction(SIGTSTP, &was, NULL);
	top_screen_resized();
	clearok(stdscr, TRUE);
}

static int key_of(int key)
{
	static const struct {
		int from, to;
	} keys[] = {{KEY_UP, TOP_UP},
		    {KEY_DOWN, TOP_DOWN},
		    {KEY_PPAGE, TOP_PAGE_UP},
		    {KEY_NPAGE, TOP_PAGE_DOWN},
		    {KEY_HOME, TOP_HOME},
		    {KEY_END, TOP_END},
		    {KEY_BACKSPACE, TOP_BACKSPACE},
		    {KEY_ENTER, '\n'},
		    {ESCAPE, TOP_ESCAPE}};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].from == key)
			return keys[i].to;
	return key < 0x80 ? key : 0;
}

bool top_screen_keys(struct top_view *v)
{
	int pending = 0, key;

	/* A terminal that is readable without a byte has been hung up. */
	if (ioctl(term.in, FIONREAD, &pending) < 0 || !pending)
		return false;
	while ((key = getch()) != ERR) {
		if (key == CTRL_Z)
			suspend();
		else if (key == CTRL_L)
			clearok(stdscr, TRUE);
		else if (!top_view_key(v, key_of(key)))
			return false;
		if (top_view_waits(v))
			break;
	}
	return true;
}
