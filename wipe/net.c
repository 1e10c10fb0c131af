#include "wipe/net.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <net/route.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "base/str.h"
#include "wipe/dhcp.h"
#include "wipe/host.h"

#define LINK_WAIT_MS 10000
#define DHCP_MS 8000

bool net_parse_cidr(const char *text, uint32_t *address, uint32_t *mask)
{
	char host[32];
	const char *slash = strchr(text, '/');
	int64_t bits;
	struct in_addr a;

	if (!slash || (size_t)(slash - text) >= sizeof(host) ||
	    !str_to_i64(slash + 1, 1, 32, &bits))
		return false;
	memcpy(host, text, (size_t)(slash - text));
	host[slash - text] = '\0';
	if (inet_pton(AF_INET, host, &a) != 1)
		return false;
	*address = a.s_addr;
	*mask = htonl(UINT32_MAX << (32 - bits));
	return true;
}

static int set_flag(int fd, const char *name, bool up)
{
	struct ifreq r = {0};

	str_copy(r.ifr_name, sizeof(r.ifr_name), name);
	if (ioctl(fd, SIOCGIFFLAGS, &r) < 0)
		return -1;
	if (up)
		r.ifr_flags |= IFF_UP;
	else
		r.ifr_flags &= (short)~IFF_UP;
	return ioctl(fd, SIOCSIFFLAGS, &r);
}

static void put_addr(struct sockaddr *to, uint32_t address)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = address};

	memcpy(to, &in, sizeof(in));
}

static int set_address(int fd, const char *name, const struct dhcp_lease *l, struct err *e)
{
	struct ifreq r = {0};
	struct rtentry route = {.rt_flags = RTF_UP | RTF_GATEWAY};

	str_copy(r.ifr_name, sizeof(r.ifr_name), name);
	put_addr(&r.ifr_addr, l->address);
	if (ioctl(fd, SIOCSIFADDR, &r) < 0)
		return err_errno(e, errno, "%s: cannot set address", name);
	put_addr(&r.ifr_netmask, l->mask);
	if (l->mask && ioctl(fd, SIOCSIFNETMASK, &r) < 0)
		return err_errno(e, errno, "%s: cannot set netmask", name);
	if (!l->router)
		return 0;
	put_addr(&route.rt_dst, 0);
	put_addr(&route.rt_genmask, 0);
	put_addr(&route.rt_gateway, l->router);
	if (ioctl(fd, SIOCADDRT, &route) < 0 && errno != EEXIST)
		return err_errno(e, errno, "%s: cannot set gateway", name);
	return 0;
}

/* Writes the DNS servers of the lease to /etc/resolv.conf, needed if the endpoint is a host
 * name. */
static void write_resolver(const struct dhcp_lease *l)
{
	FILE *f = fopen("/etc/resolv.conf", "we");

	if (!f)
		return;
	for (size_t i = 0; i < 2; i++) {
		char text[INET_ADDRSTRLEN];
		struct in_addr a = {l->dns[i]};

		if (l->dns[i] && inet_ntop(AF_INET, &a, text, sizeof(text)))
			fprintf(f, "nameserver %s\n", text);
	}
	fclose(f);
}

static bool hardware_address(int fd, const char *name, uint8_t mac[static 6])
{
	struct ifreq r = {0};

	str_copy(r.ifr_name, sizeof(r.ifr_name), name);
	if (ioctl(fd, SIOCGIFHWADDR, &r) < 0 || r.ifr_hwaddr.sa_family != ARPHRD_ETHER)
		return false;
	memcpy(mac, r.ifr_hwaddr.sa_data, 6);
	return true;
}

static int configure(int fd, const char *name, const struct proto_boot *b, struct err *e)
{
	struct dhcp_lease l = {0};
	struct in_addr gateway;
	uint8_t mac[6];

	if (b->address) {
		if (!net_parse_cidr(b->address, &l.address, &l.mask))
			return err_set(e, ERR_INVALID, 0, "boot block: address \"%s\"", b->address);
		if (b->gateway && inet_pton(AF_INET, b->gateway, &gateway) == 1)
			l.router = gateway.s_addr;
		return set_address(fd, name, &l, e);
	}
	if (!hardware_address(fd, name, mac))
		return err_set(e, ERR_UNSUPPORTED, 0, "%s is not Ethernet", name);
	if (dhcp_ask(name, mac, DHCP_MS, &l, e) < 0)
		return -1;
	write_resolver(&l);
	return set_address(fd, name, &l, e);
}

/* True if the interface has hardware and the requested MAC; mac NULL: any MAC. */
static bool wanted(struct arena *a, const char *name, const char *mac)
{
	const char *its = host_line(a, "/sys/class/net/%s/address", name);

	if (!host_link(a, "/sys/class/net/%s/device", name))
		return false;
	return !mac || (its && !strcasecmp(its, mac));
}

static int try_all(int fd, const struct proto_boot *b, struct err *e)
{
	OWN(arena) a = arena_new();
	const char **names;
	size_t n = host_names(a, "/sys/class/net", &names), found = 0, linked = 0;

	for (size_t i = 0; i < n; i++)
		if (wanted(a, names[i], b->mac) && !set_flag(fd, names[i], true))
			found++;
	for (int waited = 0; found && !linked && waited < LINK_WAIT_MS; waited += 10) {
		struct timespec t = {.tv_nsec = waited ? 10000000 : 0};

		nanosleep(&t, NULL);
		for (size_t i = 0; i < n; i++) {
			if (!wanted(a, names[i], b->mac) ||
			    host_number(0, "/sys/class/net/%s/carrier", names[i]) != 1)
				continue;
			linked++;
			if (!configure(fd, names[i], b, e))
				return 0;
		}
	}
	if (!found)
		return err_set(e, ERR_NOT_FOUND, 0, "no network interface%s%s",
			       b->mac ? " with MAC " : "", str_or(b->mac, ""));
	return linked ? -1 : err_set(e, ERR_UNAVAILABLE, 0, "no network interface has a link");
}

int net_up(const struct proto_boot *b, struct err *e)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc;

	if (fd < 0)
		return err_errno(e, errno, "socket");
	(void)!set_flag(fd, "lo", true);
	rc = try_all(fd, b, e);
	close(fd);
	return rc;
}

static void take_down(int fd, const struct proto_boot *b)
{
	OWN(arena) a = arena_new();
	const char **names;
	size_t n = host_names(a, "/sys/class/net", &names);

	for (size_t i = 0; i < n; i++)
		if (wanted(a, names[i], b->mac))
			(void)!set_flag(fd, names[i], false);
}

int net_renew(const struct proto_boot *b, struct err *e)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return err_errno(e, errno, "socket");
	take_down(fd, b);
	close(fd);
	return net_up(b, e);
}
