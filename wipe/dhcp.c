#include "wipe/dhcp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* Offsets in the BOOTP header (RFC 951): 0 op, 1 hardware type, 2 length of the hardware address, 4
 * xid, 10 flags, 16 yiaddr, 28 hardware address, 236 magic cookie, 240 options. */
enum { AT_XID = 4, AT_FLAGS = 10, AT_YOUR = 16, AT_MAC = 28, AT_COOKIE = 236, AT_OPTIONS = 240 };
enum {
	OPT_PAD = 0,
	OPT_MASK = 1,
	OPT_ROUTER = 3,
	OPT_DNS = 6,
	OPT_ADDRESS = 50,
	OPT_TYPE = 53,
	OPT_SERVER = 54,
	OPT_WANT = 55,
	OPT_CLIENT = 61,
	OPT_END = 255
};
static const uint8_t cookie[4] = {99, 130, 83, 99};

static uint8_t *option(uint8_t *p, uint8_t code, const void *data, uint8_t len)
{
	p[0] = code;
	p[1] = len;
	memcpy(p + 2, data, len);
	return p + 2 + len;
}

void dhcp_build(uint8_t out[static DHCP_SIZE], int type, const uint8_t mac[static 6], uint32_t xid,
		const struct dhcp_lease *lease)
{
	static const uint8_t want[] = {OPT_MASK, OPT_ROUTER, OPT_DNS};
	uint8_t kind = (uint8_t)type, id[7] = {1}, *p = out + AT_OPTIONS;

	memset(out, 0, DHCP_SIZE);
	out[0] = out[1] = 1;
	out[2] = 6;
	memcpy(out + AT_XID, &xid, 4);
	/* Requests a broadcast reply: a unicast would not reach an interface without an address. */
	out[AT_FLAGS] = 0x80;
	memcpy(out + AT_MAC, mac, 6);
	memcpy(out + AT_COOKIE, cookie, 4);
	memcpy(id + 1, mac, 6);
	p = option(p, OPT_TYPE, &kind, 1);
	p = option(p, OPT_CLIENT, id, sizeof(id));
	if (type == DHCP_REQUEST) {
		p = option(p, OPT_ADDRESS, &lease->address, 4);
		p = option(p, OPT_SERVER, &lease->server, 4);
	}
	p = option(p, OPT_WANT, want, sizeof(want));
	*p = OPT_END;
}

static void take(struct dhcp_lease *l, int *type, uint8_t code, const uint8_t *v, size_t n)
{
	switch (code) {
	case OPT_TYPE:
		*type = n == 1 ? v[0] : 0;
		break;
	case OPT_MASK:
		if (n == 4)
			memcpy(&l->mask, v, 4);
		break;
	case OPT_ROUTER:
		if (n >= 4)
			memcpy(&l->router, v, 4);
		break;
	case OPT_DNS:
		memcpy(l->dns, v, n >= 8 ? 8 : n >= 4 ? 4 : 0);
		break;
	case OPT_SERVER:
		if (n == 4)
			memcpy(&l->server, v, 4);
		break;
	default:
		break;
	}
}

int dhcp_parse(const uint8_t *p, size_t len, const uint8_t mac[static 6], uint32_t xid,
	       struct dhcp_lease *out)
{
	struct dhcp_lease l = {0};
	int type = 0;
	size_t at = AT_OPTIONS;

	if (len < AT_OPTIONS || p[0] != 2 || memcmp(p + AT_XID, &xid, 4) != 0 ||
	    memcmp(p + AT_MAC, mac, 6) != 0 || memcmp(p + AT_COOKIE, cookie, 4) != 0)
		return 0;
	memcpy(&l.address, p + AT_YOUR, 4);
	while (at < len && p[at] != OPT_END) {
		uint8_t code = p[at++], n;

		if (code == OPT_PAD)
			continue;
		if (at == len)
			return 0;
		n = p[at++];
		if (n > len - at)
			return 0;
		take(&l, &type, code, p + at, n);
		at += n;
	}
	if ((type != DHCP_OFFER && type != DHCP_ACK && type != DHCP_NAK) ||
	    (type != DHCP_NAK && (!l.address || !l.server)))
		return 0;
	*out = l;
	return type;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * (int64_t)1000 + t.tv_nsec / 1000000;
}

static int open_socket(const char *interface, struct err *e)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), on = 1;
	struct sockaddr_in me = {.sin_family = AF_INET, .sin_port = htons(68)};

	if (fd < 0)
		return err_errno(e, errno, "socket");
	if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, interface,
		       (socklen_t)strlen(interface) + 1) ||
	    setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof(on)) ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(fd, (struct sockaddr *)&me, sizeof(me))) {
		int num = errno;

		close(fd);
		return err_errno(e, num, "%s: DHCP socket", interface);
	}
	return fd;
}

/* Waits for a reply until the monotonic time `until`. Returns its type; 0: no reply. */
static int receive(int fd, const uint8_t mac[static 6], uint32_t xid, int64_t until,
		   struct dhcp_lease *out)
{
	uint8_t packet[1500];

	for (;;) {
		int64_t left = until - now_ms();
		struct timeval tv = {.tv_sec = left / 1000, .tv_usec = left % 1000 * 1000};
		ssize_t n;
		int type;

		if (left <= 0)
			return 0;
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
		n = recv(fd, packet, sizeof(packet), 0);
		if (n > 0 && (type = dhcp_parse(packet, (size_t)n, mac, xid, out)))
			return type;
	}
}

int dhcp_ask(const char *interface, const uint8_t mac[static 6], int limit_ms,
	     struct dhcp_lease *out, struct err *e)
{
	struct sockaddr_in all = {.sin_family = AF_INET,
				  .sin_port = htons(67),
				  .sin_addr.s_addr = htonl(INADDR_BROADCAST)};
	int64_t end = now_ms() + limit_ms, wait = 250;
	struct dhcp_lease offer, lease;
	uint8_t packet[DHCP_SIZE];
	uint32_t xid = 0;
	int fd = open_socket(interface, e), ask = DHCP_DISCOVER, type;

	if (fd < 0)
		return -1;
	(void)!getrandom(&xid, sizeof(xid), GRND_NONBLOCK);
	for (; now_ms() < end; wait = wait < 4000 ? wait * 2 : wait) {
		dhcp_build(packet, ask, mac, xid, &offer);
		(void)!sendto(fd, packet, sizeof(packet), 0, (struct sockaddr *)&all, sizeof(all));
		type = receive(fd, mac, xid, now_ms() + wait, &lease);
		if (ask == DHCP_DISCOVER && type == DHCP_OFFER) {
			offer = lease;
			ask = DHCP_REQUEST;
			wait = 250;
		} else if (ask == DHCP_REQUEST && type == DHCP_ACK) {
			close(fd);
			*out = lease;
			return 0;
		} else if (type == DHCP_NAK) {
			ask = DHCP_DISCOVER;
		}
	}
	close(fd);
	return err_set(e, ERR_TIMEOUT, 0, "%s: no DHCP server answered", interface);
}
