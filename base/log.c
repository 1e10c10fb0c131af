#include "base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/str.h"

/*
 * A line is built on the caller's stack and written with one write(2) under the lock, so lines of
 * different threads never mix. A value is truncated at VALUE bytes. A field that does not fit into
 * the rest of the line is omitted as a whole, and the line then ends with truncated=true. So every
 * line is well formed, as text and as JSON.
 */
enum { LINE = 16 * 1024, VALUE = 4096, TAIL = 64 };

static struct {
	/* Protects all members except `least` and `format`, which are atomic. */
	pthread_mutex_t lock;
	atomic_int least, format;
	void (*fn)(const char *line, size_t len, void *arg);
	void *fn_arg;
	int64_t (*wall_ms)(void *arg);
	void *wall_arg;
} out = {.lock = PTHREAD_MUTEX_INITIALIZER, .least = LOG_INFO, .format = LOG_TEXT};

void log_config(enum log_level least, enum log_format format)
{
	atomic_store(&out.least, (int)least);
	atomic_store(&out.format, (int)format);
}

void log_redirect(void (*fn)(const char *line, size_t len, void *arg), void *arg)
{
	pthread_mutex_lock(&out.lock);
	out.fn = fn;
	out.fn_arg = arg;
	pthread_mutex_unlock(&out.lock);
}

void log_clock(int64_t (*wall_ms)(void *arg), void *arg)
{
	pthread_mutex_lock(&out.lock);
	out.wall_ms = wall_ms;
	out.wall_arg = arg;
	pthread_mutex_unlock(&out.lock);
}

/* --- one line --- */

struct log_line {
	bool json;
	/* True: the current field does not fit. */
	bool over;
	/* True: at least one field was omitted. */
	bool cut;
	size_t len;
	char text[LINE];
};

static void add(struct log_line *l, const char *s, size_t n)
{
	if (l->over || n > LINE - TAIL - l->len) {
		l->over = true;
		return;
	}
	memcpy(l->text + l->len, s, n);
	l->len += n;
}

static void adds(struct log_line *l, const char *s)
{
	add(l, s, strlen(s));
}

/* True if the character may be written as it is: it does not move the cursor, end a line or change
 * the text direction. */
static bool is_plain(int32_t c)
{
	return c >= 0x20 && c != 0x7f && !(c >= 0x80 && c <= 0x9f) && c != 0x061c && c != 0x200e &&
	       c != 0x200f && !(c >= 0x2028 && c <= 0x202e) && !(c >= 0x2066 && c <= 0x2069) &&
	       c != 0xfeff;
}

static void add_quoted(struct log_line *l, const char *s)
{
	size_t left = strnlen(s, VALUE + 1), used;
	bool cut = left > VALUE;
	char hex[8];

	left -= cut;
	add(l, "\"", 1);
	for (; left > 0; s += used, left -= used) {
		int32_t c = str_utf8(s, left, &used);

		if (c < 0 && cut && left < 4)
			/* Stop here: the remaining bytes are a UTF-8 sequence that was split by the
			 * truncation. */
			break;
		if (c == '"')
			adds(l, "\\\"");
		else if (c == '\\')
			adds(l, "\\\\");
		else if (c == '\n')
			adds(l, "\\n");
		else if (c == '\r')
			adds(l, "\\r");
		else if (c == '\t')
			adds(l, "\\t");
		else if (c >= 0 && is_plain(c))
			add(l, s, used);
		else {
			snprintf(hex, sizeof(hex), "\\u%04x",
				 c < 0 ? 0xfffdu : (unsigned)c & 0xffffu);
			adds(l, hex);
		}
	}
	if (cut)
		adds(l, "...");
	add(l, "\"", 1);
}

static bool is_word(const char *s)
{
	size_t n =
		strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@+-");

	return n > 0 && s[n] == '\0' && n <= VALUE;
}

static void add_key(struct log_line *l, const char *key)
{
	if (l->json) {
		if (l->len > 1)
			add(l, ",", 1);
		add_quoted(l, key);
		add(l, ":", 1);
		return;
	}
	if (l->len > 0)
		add(l, " ", 1);
	adds(l, key);
	add(l, "=", 1);
}

/* Ends a field that began at offset `before`; removes it again if it does not fit completely. */
static void end_field(struct log_line *l, size_t before)
{
	if (!l->over)
		return;
	l->len = before;
	l->over = false;
	l->cut = true;
}

static void add_str(struct log_line *l, const char *key, const char *value)
{
	size_t before = l->len;

	add_key(l, key);
	if (!value)
		adds(l, l->json ? "null" : "-");
	else if (!l->json && is_word(value))
		adds(l, value);
	else
		add_quoted(l, value);
	end_field(l, before);
}

static void add_int(struct log_line *l, const char *key, int64_t value)
{
	size_t before = l->len;
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, value);
	add_key(l, key);
	adds(l, text);
	end_field(l, before);
}

static void add_err(struct log_line *l, const char *key, const struct err *e)
{
	char name[64];

	add_str(l, key, e ? e->text : NULL);
	if (!e)
		return;
	snprintf(name, sizeof(name), "%s_kind", key);
	add_str(l, name, err_kind_name(e->kind));
	snprintf(name, sizeof(name), "%s_where", key);
	if (e->where)
		add_str(l, name, e->where);
}

static void compose(struct log_line *l, enum log_level level, int64_t now_ms, const char *message,
		    const struct log_field *f)
{
	static const char *const names[] = {"debug", "info", "warn", "error"};
	char stamp[STR_TIME_SIZE];

	if (l->json)
		add(l, "{", 1);
	str_time_micro(stamp, now_ms);
	/* Remove the three digits below milliseconds, which are always 0, because the clock has
	 * milliseconds. */
	memcpy(stamp + 23, "Z", 2);
	add_str(l, "time", stamp);
	add_str(l, "level", names[level]);
	add_str(l, "msg", message);
	for (; f->type != LOG_F_END; f++) {
		if (f->type == LOG_F_STR)
			add_str(l, f->key, f->s);
		else if (f->type == LOG_F_INT)
			add_int(l, f->key, f->i);
		else
			add_err(l, f->key, f->e);
	}
	/* This note always fits, because TAIL bytes were reserved for it. */
	if (l->cut)
		l->len += (size_t)snprintf(l->text + l->len, TAIL, "%s",
					   l->json ? ",\"truncated\":true" : " truncated=true");
	if (l->json)
		l->text[l->len++] = '}';
	l->text[l->len++] = '\n';
}

/* Writes to standard error. Drops the line if standard error is closed or would block, because the
 * program must not wait for a log. */
static void write_all(const char *s, size_t n)
{
	while (n > 0) {
		ssize_t done = write(STDERR_FILENO, s, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return;
		s += done;
		n -= (size_t)done;
	}
}

static int64_t system_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void log_write(enum log_level level, const char *message, const struct log_field *fields)
{
	struct log_line l;
	int saved = errno;

	if ((int)level < atomic_load(&out.least))
		return;
	l.json = atomic_load(&out.format) == LOG_JSON;
	l.over = l.cut = false;
	l.len = 0;
	pthread_mutex_lock(&out.lock);
	compose(&l, level, out.wall_ms ? out.wall_ms(out.wall_arg) : system_ms(), message, fields);
	if (out.fn)
		out.fn(l.text, l.len, out.fn_arg);
	else
		write_all(l.text, l.len);
	pthread_mutex_unlock(&out.lock);
	errno = saved;
}
