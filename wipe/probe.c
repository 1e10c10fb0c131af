#include "wipe/probe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "base/address.h"
#include "base/mem.h"
#include "base/str.h"

/*
 * Uses one socket per probed service (address with a port), and one raw socket per address family
 * for all ICMP echoes. An echo reply is recognised by 14 random bytes and the index of the probed
 * address, whichever address of the probed host sends the reply.
 *
 * Tests: tests/unit/wipe/test_probe.c
 */
#define ECHO_EVERY_MS 1000
#define MARK 14

struct echo {
	uint8_t type, code;
	uint16_t sum, id, seq;
	uint8_t mark[MARK];
	uint16_t which;
};

struct one {
	struct sockaddr_storage to;
	socklen_t len;
	/* echo: the address is probed by ICMP echo. sent: an echo was sent, or an attempt showed
	 * that no echo can reach the address. */
	bool echo, sent;
	/* Socket of a TCP probe; -1: none, or the probe has ended. */
	int fd;
	bool settled;
};

struct asking {
	struct one *v;
	size_t n;
	int *answers;
	/* Raw sockets for IPv4 and IPv6. */
	int raw[2];
	uint8_t mark[MARK];
};

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void settle(struct asking *a, size_t i, int answer)
{
	a->answers[i] = answer;
	a->v[i].settled = true;
	if (a->v[i].fd >= 0)
		close(a->v[i].fd);
	a->v[i].fd = -1;
}

/* Returns the enum proto_answer that follows from a socket error. */
static int answer_of(int error)
{
	switch (error) {
	case 0:
	case ECONNREFUSED: /* A refused connection proves that a packet came back. */
	case ECONNRESET:
		return PROTO_ANSWERED;
	case ENETUNREACH:
	case EHOSTUNREACH:
	case EHOSTDOWN:
	case ETIMEDOUT:
		return PROTO_SILENT;
	default:
		return PROTO_NOT_ASKED;
	}
}

/* --- services --------------------------------------------------------------------------------- */

static void ask_service(struct asking *a, size_t i)
{
	struct one *o = &a->v[i];

	o->fd = socket(o->to.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (o->fd < 0)
		settle(a, i, PROTO_NOT_ASKED);
	else if (connect(o->fd, (struct sockaddr *)&o->to, o->len) == 0)
		settle(a, i, PROTO_ANSWERED);
	else if (errno != EINPROGRESS)
		settle(a, i, answer_of(errno));
}

static void read_service(struct asking *a, size_t i)
{
	int error = 0;
	socklen_t len = sizeof(error);

	if (getsockopt(a->v[i].fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
		error = errno;
	settle(a, i, answer_of(error));
}

/* --- echoes ----------------------------------------------------------------------------------- */

static bool is_v6(const struct one *o)
{
	return o->to.ss_family == AF_INET6;
}

static uint16_t checksum(const void *data, size_t len)
{
	const uint8_t *p = data;
	uint32_t sum = 0;

	for (size_t i = 0; i + 1 < len; i += 2)
		sum += (uint32_t)p[i] << 8 | p[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons((uint16_t)~sum);
}

static void send_echo(struct asking *a, size_t i)
{
	struct one *o = &a->v[i];
	struct echo e = {.type = is_v6(o) ? ICMP6_ECHO_REQUEST : ICMP_ECHO,
			 .which = htons((uint16_t)i)};
	int fd = a->raw[is_v6(o)];

	if (fd < 0) {
		settle(a, i, PROTO_NOT_ASKED);
		return;
	}
	memcpy(e.mark, a->mark, MARK);
	if (!is_v6(o)) /* For IPv6 the kernel computes the checksum. */
		e.sum = checksum(&e, sizeof(e));
	if (sendto(fd, &e, sizeof(e), 0, (struct sockaddr *)&o->to, o->len) >= 0 ||
	    answer_of(errno) == PROTO_SILENT)
		o->sent = true;
}

static void read_echoes(struct asking *a, bool v6)
{
	uint8_t packet[256];
	struct echo e;
	ssize_t got;

	while ((got = recv(a->raw[v6], packet, sizeof(packet), 0)) > 0) {
		/* Skips the IP header, which only IPv4 packets include. */
		size_t at = v6 ? 0 : (size_t)(packet[0] & 15) * 4;

		if ((size_t)got < at + sizeof(e))
			continue;
		memcpy(&e, packet + at, sizeof(e));
		if (e.type == (v6 ? ICMP6_ECHO_REPLY : ICMP_ECHOREPLY) &&
		    memcmp(e.mark, a->mark, MARK) == 0 && ntohs(e.which) < a->n &&
		    !a->v[ntohs(e.which)].settled)
			settle(a, ntohs(e.which), PROTO_ANSWERED);
	}
}

/* --- all addresses ---------------------------------------------------------------------------- */

/* Parses an address of the order into *o. False: the text is not a valid address. */
static bool read_target(const char *text, struct one *o)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)&o->to;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&o->to;
	char host[ADDRESS_TEXT];
	uint16_t port;

	if (!address_service(text, host, &port))
		return false;
	o->echo = port == 0;
	if (inet_pton(AF_INET, host, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(port);
		o->len = sizeof(*v4);
	} else {
		(void)inet_pton(AF_INET6, host, &v6->sin6_addr);
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons(port);
		o->len = sizeof(*v6);
	}
	return true;
}

static void ask_all(struct asking *a, const struct strings *addresses)
{
	for (size_t i = 0; i < a->n; i++) {
		a->v[i].fd = -1;
		if (!read_target(addresses->v[i], &a->v[i]))
			settle(a, i, PROTO_NOT_ASKED);
		else if (!a->v[i].echo)
			ask_service(a, i);
	}
}

static void echo_all(struct asking *a)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->v[i].echo && !a->v[i].settled)
			send_echo(a, i);
}

/* Waits up to ms milliseconds for answers and records them. False: no probe still waits for an
 * answer. */
static bool wait_for_some(struct asking *a, struct pollfd *p, int ms)
{
	size_t n = 2;
	bool left = false;

	for (int k = 0; k < 2; k++)
		p[k] = (struct pollfd){.fd = a->raw[k], .events = POLLIN};
	for (size_t i = 0; i < a->n; i++) {
		left |= !a->v[i].settled;
		p[n++] = (struct pollfd){.fd = a->v[i].fd, .events = POLLOUT};
	}
	if (!left)
		return false;
	if (poll(p, n, ms) <= 0)
		return true;
	for (int k = 0; k < 2; k++)
		if (p[k].revents)
			read_echoes(a, k == 1);
	for (size_t i = 0; i < a->n; i++)
		if (p[i + 2].revents && a->v[i].fd >= 0)
			read_service(a, i);
	return true;
}

void probe_ask(const struct strings *addresses, int limit_ms, int *answers)
{
	struct asking a = {.v = mem_calloc(addresses->n + 1, sizeof(*a.v)),
			   .n = addresses->n,
			   .answers = answers};
	struct pollfd *p = mem_calloc(addresses->n + 2, sizeof(*p));
	int64_t end = now_ms() + limit_ms, next = 0, now;

	a.raw[0] = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_ICMP);
	a.raw[1] = socket(AF_INET6, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_ICMPV6);
	(void)!getrandom(a.mark, sizeof(a.mark), 0);
	ask_all(&a, addresses);
	while ((now = now_ms()) < end) {
		int64_t until = next < end ? next : end;

		if (now >= next) {
			echo_all(&a);
			next = now + ECHO_EVERY_MS;
			until = next < end ? next : end;
		}
		if (!wait_for_some(&a, p, (int)(until - now)))
			break;
	}
	for (size_t i = 0; i < a.n; i++)
		if (!a.v[i].settled)
			settle(&a, i, a.v[i].echo && !a.v[i].sent ? PROTO_NOT_ASKED : PROTO_SILENT);
	for (int k = 0; k < 2; k++)
		if (a.raw[k] >= 0)
			close(a.raw[k]);
	free(p);
	free(a.v);
}

/* --- on a worker thread ----------------------------------------------------------------------- */

struct probe {
	struct loop_work *work;
	/* Copies of the order's addresses, because the order may be freed before the probe ends. */
	struct strings addresses;
	char *nonce;
	int *answers;
	void (*done)(struct proto_report *r, void *arg);
	void *arg;
};

static void probe_drop(void *arg)
{
	struct probe *p = arg;

	for (size_t i = 0; i < p->addresses.n; i++)
		free((char *)p->addresses.v[i]);
	free(p->addresses.v);
	free(p->answers);
	free(p->nonce);
	free(p);
}

static void run(void *arg)
{
	struct probe *p = arg;

	probe_ask(&p->addresses, PROBE_MS, p->answers);
}

static void on_run(void *arg)
{
	struct probe *p = arg;
	struct proto_report r = {.state = PROTO_DONE, .nonce = p->nonce};

	r.answers.v = mem_calloc(p->addresses.n + 1, sizeof(*r.answers.v));
	r.answers.n = p->addresses.n;
	for (size_t i = 0; i < r.answers.n; i++)
		r.answers.v[i] = (struct proto_probe){p->addresses.v[i], p->answers[i]};
	p->done(&r, p->arg);
	free(r.answers.v);
	probe_drop(p);
}

struct probe *probe_start(struct loop_group *g, const struct proto_order *o,
			  void (*done)(struct proto_report *r, void *arg), void *arg)
{
	struct probe *p = mem_new(struct probe);

	p->done = done;
	p->arg = arg;
	p->nonce = mem_strdup(o->nonce);
	p->addresses.v = mem_calloc(o->addresses.n + 1, sizeof(*p->addresses.v));
	for (size_t i = 0; i < o->addresses.n; i++)
		p->addresses.v[p->addresses.n++] = mem_strdup(o->addresses.v[i]);
	p->answers = mem_calloc(p->addresses.n + 1, sizeof(*p->answers));
	p->work = loop_work(g, run, on_run, probe_drop, p);
	return p;
}

void probe_free(struct probe *p)
{
	if (p)
		loop_work_abandon(p->work);
}
