#include "tests/unit/testing.h"

#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <utmp.h>
#include "base/str.h"
#include "tests/unit/cli/pty.h"

/* Longest wait for a text in s, on a machine with a core for each running process */
enum { LIMIT_S = 20 };

/* --- the terminal ----------------------------------------------------------------------------- */

static void blank(struct pty *p, size_t line, size_t from, size_t to)
{
	for (size_t i = from; i < to && i < PTY_COLUMNS; i++)
		p->cells[line][i] = ' ';
}

/* Scrolls the lines `from` to p->bottom - 1 by n lines, up or down. */
static void scroll_from(struct pty *p, size_t from, size_t n, bool up)
{
	size_t lines = p->bottom - from;

	n = n < lines ? n : lines;
	memmove(p->cells[up ? from : from + n], p->cells[up ? from + n : from],
		(lines - n) * sizeof(p->cells[0]));
	for (size_t i = 0; i < n; i++)
		blank(p, up ? p->bottom - n + i : from + i, 0, p->width);
}

static void down(struct pty *p)
{
	if (p->line + 1 == p->bottom)
		scroll_from(p, p->top, 1, true);
	else if (p->line + 1 < p->height)
		p->line++;
}

static void up(struct pty *p)
{
	if (p->line == p->top)
		scroll_from(p, p->top, 1, false);
	else
		p->line -= p->line > 0;
}

static void show(struct pty *p, unsigned point)
{
	if (p->column >= p->width) {
		p->column = 0;
		down(p);
	}
	p->cells[p->line][p->column++] = point;
}

static size_t clip(size_t at, size_t n)
{
	return at < n ? at : n - 1;
}

/* Applies a control sequence, ESC [ parameters final. */
static void control(struct pty *p, char final)
{
	const char *s = p->escape + 2;
	size_t n[2] = {0}, k = 0, one;

	if (*s == '?' || *s == '>')
		return;
	for (; *s; s++) {
		if (*s == ';' && final == 'm' && n[0] >= 30 && n[0] < 38)
			p->colours++;
		if (*s == ';' && k < 1)
			k++;
		else if (*s >= '0' && *s <= '9')
			n[k] = n[k] * 10 + (size_t)(*s - '0');
	}
	one = n[0] ? n[0] : 1;
	switch (final) {
	case 'H':
		p->line = clip(n[0] ? n[0] - 1 : 0, p->height);
		p->column = clip(n[1] ? n[1] - 1 : 0, p->width);
		break;
	case 'A':
		p->line -= one < p->line ? one : p->line;
		break;
	case 'B':
		p->line = clip(p->line + one, p->height);
		break;
	case 'C':
		p->column = clip(p->column + one, p->width);
		break;
	case 'D':
		p->column -= one < p->column ? one : p->column;
		break;
	case 'G':
		p->column = clip(one - 1, p->width);
		break;
	case 'd':
		p->line = clip(one - 1, p->height);
		break;
	case 'X':
		blank(p, p->line, p->column, p->column + one);
		break;
	case 'b':
		for (size_t i = 0; i < one; i++)
			show(p, p->cells[p->line][p->column - 1]);
		break;
	case 'P':
		memmove(&p->cells[p->line][p->column], &p->cells[p->line][p->column + one],
			(p->width - p->column - one) * sizeof(unsigned));
		blank(p, p->line, p->width - one, p->width);
		break;
	case '@':
		memmove(&p->cells[p->line][p->column + one], &p->cells[p->line][p->column],
			(p->width - p->column - one) * sizeof(unsigned));
		blank(p, p->line, p->column, p->column + one);
		break;
	case 'K':
		blank(p, p->line, n[0] == 0 ? p->column : 0, n[0] == 1 ? p->column + 1 : p->width);
		break;
	case 'J':
		for (size_t i = n[0] == 0 ? p->line + 1 : 0; i < p->height; i++)
			blank(p, i, 0, p->width);
		blank(p, p->line, n[0] == 0 ? p->column : 0, p->width);
		break;
	case 'm':
		p->colours += n[0] >= 30 && n[0] < 38;
		break;
	case 'r':
		p->top = one - 1;
		p->bottom = n[1] ? n[1] : p->height;
		p->line = p->column = 0;
		break;
	case 'S':
	case 'T':
		scroll_from(p, p->top, one, final == 'S');
		break;
	case 'L':
	case 'M':
		scroll_from(p, p->line, one, final == 'M');
		break;
	case 'h':
	case 'l':
	case 't':
		break;
	default:
		fail_msg("unknown sequence %s%c", p->escape + 1, final);
	}
}

/* Takes one byte of an escape sequence. */
static void escape(struct pty *p, char c)
{
	if (p->nescape == 1 && c != '[' && c != '(' && c != ')') {
		if (c == 'M')
			up(p);
		else if (c != '7' && c != '8' && c != '=' && c != '>')
			fail_msg("unknown sequence ESC %c (%d)", c, c);
		p->nescape = 0;
	} else if (p->nescape > 1 && p->escape[1] == '[' && c >= 0x40) {
		p->escape[p->nescape] = '\0';
		p->nescape = 0;
		control(p, c);
	} else if (p->nescape > 1 && p->escape[1] != '[') {
		p->nescape = 0;
	} else {
		assert_true(p->nescape + 1 < sizeof(p->escape));
		p->escape[p->nescape++] = c;
	}
}

static void take(struct pty *p, unsigned char c)
{
	p->bytes++;
	if (p->nescape) {
		escape(p, (char)c);
	} else if (c == 0x1b) {
		p->escape[p->nescape++] = (char)c;
	} else if (c == '\r') {
		p->column = 0;
	} else if (c == '\n') {
		down(p);
	} else if (c == '\b') {
		p->column -= p->column > 0;
	} else if (c == '\t') {
		p->column = clip((p->column | 7) + 1, p->width);
	} else if (c >= 0xc0) {
		p->more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
		p->point = c & (0x3fU >> p->more);
	} else if (c >= 0x80) {
		p->point = p->point << 6 | (c & 0x3fU);
		if (p->more && !--p->more)
			show(p, p->point);
	} else if (c >= 0x20 && c != 0x7f) {
		show(p, c);
	}
}

/* Waits at most ms for output and applies what has arrived. Returns false if the terminal was
 * closed. */
static bool read_for(struct pty *p, int ms)
{
	struct pollfd f = {.fd = p->fd, .events = POLLIN};
	unsigned char bytes[4096];
	ssize_t n;

	if (poll(&f, 1, ms) <= 0)
		return true;
	n = read(p->fd, bytes, sizeof(bytes));
	if (n <= 0)
		return false;
	for (ssize_t i = 0; i < n; i++)
		take(p, bytes[i]);
	return true;
}

const char *pty_screen(const struct pty *p)
{
	static char text[PTY_LINES * (PTY_COLUMNS * 4 + 1) + 1];
	char *to = text;

	for (size_t i = 0; i < p->height; i++) {
		for (size_t k = 0; k < p->width; k++) {
			unsigned c = p->cells[i][k];

			if (c < 0x80) {
				*to++ = (char)c;
				continue;
			}
			*to++ = (char)(c < 0x800 ? 0xc0 | c >> 6 : 0xe0 | c >> 12);
			if (c >= 0x800)
				*to++ = (char)(0x80 | (c >> 6 & 0x3f));
			*to++ = (char)(0x80 | (c & 0x3f));
		}
		*to++ = '\n';
	}
	*to = '\0';
	return text;
}

/* Returns the number of running processes for each core, at least 1: as much longer everything
 * takes. As in tests/tools/run-tests. */
static double overload(void)
{
	double load;

	if (getloadavg(&load, 1) != 1 || load < get_nprocs())
		return 1;
	return load / get_nprocs();
}

static void await(struct pty *p, const char *text, bool there)
{
	time_t since = time(NULL);

	while ((strstr(pty_screen(p), text) != NULL) != there)
		if (!read_for(p, 100) || (double)(time(NULL) - since) > LIMIT_S * overload())
			fail_msg("%s '%s' in:\n%s", there ? "want" : "unwanted", text,
				 pty_screen(p));
}

void pty_await(struct pty *p, const char *text)
{
	await(p, text, true);
}

void pty_without(struct pty *p, const char *text)
{
	await(p, text, false);
}

void pty_type(struct pty *p, const char *keys)
{
	assert_int_equal(write(p->fd, keys, strlen(keys)), strlen(keys));
}

/* --- the processes ---------------------------------------------------------------------------- */

/* Runs fn as a shell runs its foreground job; returns its exit status. */
static int shell(int (*fn)(void *arg), void *arg)
{
	pid_t job = fork();
	int status;

	if (job == 0) {
		setpgid(0, 0);
		signal(SIGTTOU, SIG_IGN);
		tcsetpgrp(STDIN_FILENO, getpid());
		signal(SIGTTOU, SIG_DFL);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		status = fn(arg);
		fflush(NULL);
		test_exit(status);
	}
	signal(SIGTTOU, SIG_IGN);
	while (waitpid(job, &status, WUNTRACED) == job && WIFSTOPPED(status)) {
		(void)!write(STDOUT_FILENO, "[stopped]\r\n", 11);
		usleep(300000);
		kill(-job, SIGCONT);
	}
	/* Becomes the foreground process again, as a shell does after its job has ended. */
	tcsetpgrp(STDIN_FILENO, getpid());
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void pty_start(struct pty *p, size_t width, size_t height, const char *type, const char *locale,
	       int (*fn)(void *arg), void *arg)
{
	struct winsize size = {.ws_row = (unsigned short)height, .ws_col = (unsigned short)width};

	int terminal;

	*p = (struct pty){.width = width, .height = height, .bottom = height};
	for (size_t i = 0; i < height; i++)
		blank(p, i, 0, width);
	fflush(NULL);
	assert_int_equal(openpty(&p->fd, &terminal, NULL, NULL, &size), 0);
	assert_int_equal(tcgetattr(p->fd, &p->before), 0);
	p->pid = fork();
	assert_true(p->pid >= 0);
	if (p->pid == 0) {
		close(p->fd);
		login_tty(terminal);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setenv("TERM", type, 1);
		setenv("LC_ALL", locale, 1);
		test_exit(shell(fn, arg));
	}
	close(terminal);
}

void pty_resize(struct pty *p, size_t width, size_t height)
{
	struct winsize size = {.ws_row = (unsigned short)height, .ws_col = (unsigned short)width};

	p->width = width;
	p->height = p->bottom = height;
	p->top = 0;
	for (size_t i = 0; i < height; i++)
		blank(p, i, 0, width);
	p->line = p->column = 0;
	assert_int_equal(ioctl(p->fd, TIOCSWINSZ, &size), 0);
}

int pty_end(struct pty *p)
{
	struct termios after;
	siginfo_t ended = {0};
	int status;

	/* The settings are read before waitpid(), because the terminal ends with its shell. */
	while (read_for(p, 100) && ended.si_pid == 0)
		assert_int_equal(waitid(P_PID, (id_t)p->pid, &ended, WEXITED | WNOHANG | WNOWAIT),
				 0);
	assert_int_equal(tcgetattr(p->fd, &after), 0);
	assert_int_equal(after.c_lflag, p->before.c_lflag);
	assert_int_equal(after.c_iflag, p->before.c_iflag);
	assert_int_equal(after.c_oflag, p->before.c_oflag);
	assert_int_equal(waitpid(p->pid, &status, 0), p->pid);
	close(p->fd);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
