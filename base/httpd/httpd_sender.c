#include "base/httpd/httpd_sender.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include "base/mem.h"

/* Largest number of buffers that a session passes at once. gnutls flushes at most 32. */
#define BUFFERS_MAX 32

void httpd_sender_init(struct httpd_sender *s, gnutls_session_t session, int fd)
{
	*s = (struct httpd_sender){.fd = fd};
	/* The session still receives from fd itself. */
	gnutls_transport_set_ptr2(session, (gnutls_transport_ptr_t)(intptr_t)fd, s);
	gnutls_transport_set_vec_push_function(session, httpd_sender_push);
}

void httpd_sender_done(struct httpd_sender *s)
{
	free(s->held);
	s->held = NULL;
	s->len = 0;
}

void httpd_sender_hold(struct httpd_sender *s)
{
	s->hold = true;
}

static ssize_t keep(struct httpd_sender *s, const giovec_t *v, int n)
{
	size_t len = 0;

	for (int i = 0; i < n; i++)
		len += v[i].iov_len;
	s->held = mem_alloc(len);
	s->len = 0;
	for (int i = 0; i < n; i++) {
		memcpy(s->held + s->len, v[i].iov_base, v[i].iov_len);
		s->len += v[i].iov_len;
	}
	return (ssize_t)len;
}

/* Removes the first n of the held bytes. */
static void drop_held(struct httpd_sender *s, size_t n)
{
	if (n == s->len) {
		httpd_sender_done(s);
		return;
	}
	s->len -= n;
	memmove(s->held, s->held + n, s->len);
}

ssize_t httpd_sender_push(gnutls_transport_ptr_t ptr, const giovec_t *v, int n)
{
	struct httpd_sender *s = ptr;
	struct iovec all[BUFFERS_MAX + 1];
	struct msghdr m = {.msg_iov = all};
	ssize_t sent;

	if (s->hold && !s->held) {
		s->hold = false;
		return keep(s, v, n);
	}
	n = n > BUFFERS_MAX ? BUFFERS_MAX : n;
	if (s->held)
		all[m.msg_iovlen++] = (struct iovec){s->held, s->len};
	memcpy(all + m.msg_iovlen, v, (size_t)n * sizeof(*v));
	m.msg_iovlen += (size_t)n;
	sent = sendmsg(s->fd, &m, MSG_NOSIGNAL);
	if (sent < 0 || !s->held)
		return sent;

	size_t of_held = (size_t)sent < s->len ? (size_t)sent : s->len;

	drop_held(s, of_held);
	if ((size_t)sent > of_held)
		return sent - (ssize_t)of_held;
	errno = EAGAIN;
	return -1;
}
