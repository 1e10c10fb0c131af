#include "base/loop/service.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "base/mem.h"
#include "base/str.h"

/* Longest interval of reports: a new status is seen at most this late. */
#define INTERVAL_MS 5000
/* A start that is not complete may last this much longer than until the next report. */
#define EXTRA_MS 60000
/* Delay before a datagram that was not accepted is sent again. */
#define AGAIN_MS 1000
/* Lowest usable $WATCHDOG_USEC. Below it half of the limit would be less than one millisecond. */
#define WATCHDOG_MIN_US 2000
#define WATCHDOG_MAX_US ((int64_t)24 * 3600 * 1000000)

struct service {
	int fd;
	struct sockaddr_un to;
	socklen_t to_len;
	struct loop_timer timer;
	/* interval of reports in ms */
	int64_t interval_ms;
	bool watched;
	void (*status)(struct buf *line, void *arg);
	void *arg;
	/* status line that was sent last; "": none */
	char sent[SERVICE_STATUS_MAX + 1];
	/* True once the event has happened, and once a datagram that contains it was accepted. */
	bool ready, ready_sent, stopping, stopping_sent;
};

static int set_address(struct service *s, const char *name, struct err *e)
{
	size_t len = strlen(name);

	s->to.sun_family = AF_UNIX;
	if ((name[0] != '/' && name[0] != '@') || !name[1])
		return err_set(e, ERR_INVALID, 0, "NOTIFY_SOCKET: want a path or @NAME, got %.100s",
			       name);
	if (len >= sizeof(s->to.sun_path))
		return err_set(e, ERR_INVALID, 0, "NOTIFY_SOCKET: longer than %zu bytes",
			       sizeof(s->to.sun_path) - 1);
	memcpy(s->to.sun_path, name, len + 1);
	s->to_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + 1);
	if (name[0] == '@') {
		/* an abstract name begins with a NUL byte, and ends without one */
		s->to.sun_path[0] = '\0';
		s->to_len--;
	}
	return 0;
}

/* True if the variables name another process than this one: a parent that the watchdog watches. */
static bool watches_another(const char *pid)
{
	int64_t n;

	return !str_empty(pid) && !(str_to_i64(pid, 1, INT32_MAX, &n) && n == getpid());
}

int service_watchdog(struct service *s, const char *limit_us, const char *pid, struct err *e)
{
	int64_t us;

	if (s->fd < 0 || str_empty(limit_us) || watches_another(pid))
		return 0;
	if (!str_to_i64(limit_us, WATCHDOG_MIN_US, WATCHDOG_MAX_US, &us))
		return err_set(e, ERR_INVALID, 0,
			       "WATCHDOG_USEC: want %d to %lld microseconds, got %.40s",
			       WATCHDOG_MIN_US, (long long)WATCHDOG_MAX_US, limit_us);
	s->watched = true;
	if (us / 2000 < INTERVAL_MS)
		s->interval_ms = us / 2000;
	return 0;
}

/* Writes the present status line to `line`, cut, and with '?' for each control character: a newline
 * would begin another report. */
static void read_status(const struct service *s, char line[static SERVICE_STATUS_MAX + 1])
{
	struct buf b;

	buf_init(&b, SERVICE_STATUS_MAX * 4);
	s->status(&b, s->arg);
	str_copy(line, SERVICE_STATUS_MAX + 1, b.data);
	str_clean(line);
	for (char *c = line; *c; c++)
		if ((unsigned char)*c < ' ')
			*c = '?';
	buf_done(&b);
}

static void compose(const struct service *s, const char *status, struct buf *out)
{
	if (s->ready && !s->ready_sent)
		buf_puts(out, "READY=1\n");
	if (!s->ready && !s->stopping)
		buf_printf(out, "EXTEND_TIMEOUT_USEC=%lld\n",
			   (long long)(s->interval_ms + EXTRA_MS) * 1000);
	if (s->stopping && !s->stopping_sent)
		buf_puts(out, "STOPPING=1\n");
	if (status[0] && !str_eq(status, s->sent))
		buf_printf(out, "STATUS=%s\n", status);
	if (s->watched)
		buf_puts(out, "WATCHDOG=1\n");
}

static bool send_all(const struct service *s, const struct buf *b)
{
	return sendto(s->fd, b->data, b->len, MSG_DONTWAIT | MSG_NOSIGNAL,
		      (const struct sockaddr *)&s->to, s->to_len) == (ssize_t)b->len;
}

static void report(void *arg)
{
	struct service *s = arg;
	char status[SERVICE_STATUS_MAX + 1];
	bool accepted = true;
	struct buf b;

	read_status(s, status);
	buf_init(&b, sizeof(status) + 200);
	compose(s, status, &b);
	if (b.len)
		accepted = send_all(s, &b);
	buf_done(&b);
	if (accepted) {
		s->ready_sent = s->ready;
		s->stopping_sent = s->stopping;
		str_copy(s->sent, sizeof(s->sent), status);
	}
	loop_timer_start(&s->timer,
			 accepted || s->interval_ms < AGAIN_MS ? s->interval_ms : AGAIN_MS);
}

struct service *service_new(struct loop_group *g, const struct service_spec *spec, struct err *e)
{
	struct service *s = mem_new(struct service);

	s->fd = -1;
	s->interval_ms = INTERVAL_MS;
	s->status = spec->status;
	s->arg = spec->arg;
	loop_timer_init(&s->timer, g, report, s);
	if (str_empty(spec->socket))
		return s;
	if (set_address(s, spec->socket, e) < 0) {
		service_free(s);
		return NULL;
	}
	s->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (s->fd < 0) {
		err_note_errno(e, errno, "NOTIFY_SOCKET: socket");
		service_free(s);
		return NULL;
	}
	loop_timer_start(&s->timer, 0);
	return s;
}

void service_free(struct service *s)
{
	if (!s)
		return;
	loop_timer_stop(&s->timer);
	if (s->fd >= 0)
		close(s->fd);
	free(s);
}

void service_ready(struct service *s)
{
	if (!s || s->fd < 0 || s->ready || s->stopping)
		return;
	s->ready = true;
	report(s);
}

void service_stopping(struct service *s)
{
	if (!s || s->fd < 0 || s->stopping)
		return;
	s->stopping = true;
	report(s);
}
