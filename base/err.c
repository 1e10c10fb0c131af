#include "base/err.h"
#include "base/mem.h"
#include "base/redact.h"
#include "base/str.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Replaces control characters by blanks, because a text may quote foreign bytes, which must not
 * move the terminal's cursor or end a line. */
static void scrub(char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			*s = ' ';
}

/* Drops an incomplete UTF-8 sequence at the end of a truncated text. */
static void trim_utf8(char *s)
{
	size_t len = strlen(s), i = len, want;
	unsigned char c;

	while (i > 0 && len - i < 4 && ((unsigned char)s[i - 1] & 0xc0) == 0x80)
		i--;
	if (i == 0)
		return;
	c = (unsigned char)s[i - 1];
	want = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
	if (want > 1 && len - (i - 1) < want)
		s[i - 1] = '\0';
}

__attribute__((format(printf, 2, 0))) static void vtext(struct err *e, const char *fmt, va_list ap)
{
	int n = vsnprintf(e->text, sizeof(e->text), fmt, ap);

	if (n < 0)
		e->text[0] = '\0';
	else if ((size_t)n >= sizeof(e->text))
		trim_utf8(e->text);
	scrub(e->text);
	/* Repair the text: a format such as "%.80s" may have truncated foreign text inside a UTF-8
	 * sequence. */
	str_clean(e->text);
	redact(e->text);
}

static void head(struct err *e, enum err_kind kind, int code, const char *where)
{
	e->kind = kind;
	e->scope = ERR_REQUEST;
	e->code = code;
	e->retry_after_ms = 0;
	e->where = where;
}

/* Formats into a separate buffer, because the arguments may point into *e (a new text may quote the
 * old one). */
int err_set_at(struct err *e, enum err_kind kind, int code, const char *where, const char *fmt, ...)
{
	struct err t;
	va_list ap;

	va_start(ap, fmt);
	vtext(&t, fmt, ap);
	va_end(ap);
	head(&t, kind, code, where);
	*e = t;
	return -1;
}

/* Sets e->text to "first: second", truncated to its size. */
static void join(struct err *e, const char *first, const char *second)
{
	char all[sizeof(e->text)];
	int n = snprintf(all, sizeof(all), "%s: %s", first, second);

	if (n < 0)
		return;
	if ((size_t)n >= sizeof(all))
		trim_utf8(all);
	redact(all);
	memcpy(e->text, all, (size_t)n < sizeof(all) ? (size_t)n + 1 : sizeof(all));
}

int err_wrap(struct err *e, const char *fmt, ...)
{
	struct err clause;
	va_list ap;

	va_start(ap, fmt);
	vtext(&clause, fmt, ap);
	va_end(ap);
	join(e, clause.text, e->text);
	return -1;
}

static enum err_kind kind_of_errno(int num)
{
	switch (num) {
	case EINVAL:
	case ENAMETOOLONG:
	case ENOTDIR:
	case EISDIR:
	case EBADF:
	case EFAULT:
	case ERANGE:
	case E2BIG:
		return ERR_INVALID;
	case EACCES:
	case EPERM:
	case EROFS:
		return ERR_DENIED;
	case ENOENT:
	case ENODEV:
	case ENXIO:
	case ESRCH:
		return ERR_NOT_FOUND;
	case EEXIST:
	case ESTALE:
		return ERR_CONFLICT;
	case ENOSYS:
	case ENOTTY:
	case EOPNOTSUPP:
	case EPROTONOSUPPORT:
	case EAFNOSUPPORT:
		return ERR_UNSUPPORTED;
	case EPROTO:
	case EBADMSG:
	case EMSGSIZE:
		return ERR_PROTOCOL;
	case ETIMEDOUT:
		return ERR_TIMEOUT;
	case ENOSPC:
		return ERR_CAPACITY;
	case EDQUOT:
		return ERR_QUOTA;
	default:
		return ERR_UNAVAILABLE;
	}
}

int err_errno_at(struct err *e, int num, const char *where, const char *fmt, ...)
{
	struct err t;
	char reason[128];
	va_list ap;

	va_start(ap, fmt);
	vtext(&t, fmt, ap);
	va_end(ap);
	head(&t, kind_of_errno(num), num, where);
	/* GNU's strerror_r() may return a static text instead of filling the buffer. */
	join(&t, t.text, strerror_r(num, reason, sizeof(reason)));
	*e = t;
	return -1;
}

void err_clear(struct err *e)
{
	memset(e, 0, sizeof(*e));
}

void err_save(struct err **slot, const struct err *e)
{
	struct err *now = e ? mem_new(struct err) : NULL;

	if (now)
		*now = *e;
	free(*slot);
	*slot = now;
}

/*
 * True for the kinds that may pass with time: peers return, others free capacity, prices change.
 * ERR_QUOTA is not one of them, because a quota does not change by itself. Neither is ERR_CONFLICT,
 * because the caller must first read the object again.
 */
bool err_is_transient(const struct err *e)
{
	return e->kind == ERR_TIMEOUT || e->kind == ERR_UNAVAILABLE || e->kind == ERR_CAPACITY ||
	       e->kind == ERR_PRICE;
}

const char *err_kind_name(enum err_kind kind)
{
	static const char *const names[ERR_KINDS] = {
		[ERR_NONE] = "none",
		[ERR_INVALID] = "invalid",
		[ERR_DENIED] = "denied",
		[ERR_NOT_FOUND] = "not-found",
		[ERR_CONFLICT] = "conflict",
		[ERR_UNSUPPORTED] = "unsupported",
		[ERR_PROTOCOL] = "protocol",
		[ERR_TIMEOUT] = "timeout",
		[ERR_UNAVAILABLE] = "unavailable",
		[ERR_CAPACITY] = "capacity",
		[ERR_QUOTA] = "quota",
		[ERR_PRICE] = "price",
	};

	return (unsigned)kind < ERR_KINDS ? names[kind] : "unknown";
}

enum err_kind err_kind_of_http(int status)
{
	if (status >= 200 && status <= 299)
		return ERR_NONE;
	switch (status) {
	case 401:
	case 403:
		return ERR_DENIED;
	case 404:
	case 410:
		return ERR_NOT_FOUND;
	case 405:
	case 406:
	case 415:
	case 501:
	case 505:
		return ERR_UNSUPPORTED;
	case 408:
		return ERR_TIMEOUT;
	case 409:
	case 412:
		return ERR_CONFLICT;
	case 423:
	case 425:
	case 429:
		return ERR_UNAVAILABLE;
	case 507:
		return ERR_CAPACITY;
	default:
		break;
	}
	if (status >= 400 && status <= 499)
		return ERR_INVALID;
	if (status >= 500 && status <= 599)
		return ERR_UNAVAILABLE;
	/* A redirect that was not followed, or a number that is not an HTTP status. */
	return ERR_PROTOCOL;
}
