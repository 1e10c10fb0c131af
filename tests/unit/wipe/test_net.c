/* Tests how the agent configures the network, with interfaces, sysfs and a DHCP server that the
 * test creates. */
#include "tests/unit/testing.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <net/route.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include "base/mem.h"
#include "base/str.h"
#include "tests/unit/wipe/apart.h"
#include "wipe/dhcp.h"
#include "wipe/net.h"

#define MAC "02:00:00:12:34:56"
#define OTHER "02:00:00:65:43:21"

/* --- a DHCP server with one lease, at the other end of the interface -------------------------- */

#define ETH 14
#define IP 20
#define UDP 8
#define PAYLOAD (ETH + IP + UDP)

static void put16(uint8_t *p, size_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static size_t put_options(uint8_t *p, uint8_t type)
{
	const uint8_t options[] = {53, 1, type, 54, 4, 10, 9, 0, 1, 1,	4, 255, 255, 0,
				   0,  3, 4,	10, 9, 0,  1, 6, 4, 10, 9, 0,	53,  255};

	memcpy(p, options, sizeof(options));
	return sizeof(options);
}

/* Builds a reply (Ethernet, IPv4, UDP and BOOTP of RFC 2131) of this type to the request `asked`.
 * It is a broadcast, because the client has no address yet. Returns its length. */
static size_t make_answer(const uint8_t *asked, uint8_t *out, uint8_t type)
{
	uint8_t *p = out + PAYLOAD;
	size_t len;
	unsigned sum = 0;

	memset(out, 0, 600);
	p[0] = 2;
	p[1] = 1;
	p[2] = 6;
	memcpy(p + 4, asked + PAYLOAD + 4, 4); /* The transaction ID of the request. */
	memcpy(p + 16, (uint8_t[]){10, 9, 1, 2}, 4);
	memcpy(p + 28, asked + PAYLOAD + 28, 6);
	memcpy(p + 236, (uint8_t[]){99, 130, 83, 99}, 4);
	len = 240 + put_options(p + 240, type);
	memset(out, 0xff, 6);
	memcpy(out + 6, (uint8_t[]){2, 0, 0, 0, 0, 1}, 6);
	put16(out + 12, 0x0800);
	out[ETH] = 0x45;
	put16(out + ETH + 2, IP + UDP + len);
	out[ETH + 8] = 64;
	out[ETH + 9] = 17;
	memcpy(out + ETH + 12, (uint8_t[]){10, 9, 0, 1}, 4);
	memset(out + ETH + 16, 0xff, 4);
	for (int i = 0; i < IP; i += 2)
		sum += (unsigned)out[ETH + i] << 8 | out[ETH + i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	put16(out + ETH + 10, ~(sum + (sum >> 16)) & 0xffff);
	put16(out + ETH + IP, 67);
	put16(out + ETH + IP + 2, 68);
	put16(out + ETH + IP + 4, UDP + len); /* The UDP checksum stays 0, which means none. */
	return PAYLOAD + len;
}

static void *serve(void *arg)
{
	int fd = *(const int *)arg;
	uint8_t in[1600], out[1600];
	ssize_t n;

	while ((n = read(fd, in, sizeof(in))) > 0) {
		bool dhcp = n > PAYLOAD + 243 && in[12] == 8 && in[13] == 0 && in[ETH + 9] == 17 &&
			    in[ETH + IP + 3] == 67;
		size_t len;

		if (!dhcp)
			continue;
		len = make_answer(in, out,
				  in[PAYLOAD + 242] == DHCP_DISCOVER ? DHCP_OFFER : DHCP_ACK);
		if (write(fd, out, len) != (ssize_t)len)
			break;
	}
	return NULL;
}

static void start_server(int *fd)
{
	pthread_t t;

	if (!pthread_create(&t, NULL, serve, fd))
		pthread_detach(t);
}

/* --- called in the process with its own namespaces (apart.h) ---------------------------------- */

static void say_address(int s, unsigned long what, const char *nic, const char *name)
{
	struct ifreq r = {0};
	struct sockaddr_in in;
	char text[INET_ADDRSTRLEN] = "none";

	str_copy(r.ifr_name, sizeof(r.ifr_name), nic);
	if (ioctl(s, what, &r) == 0) {
		memcpy(&in, &r.ifr_addr, sizeof(in));
		inet_ntop(AF_INET, &in.sin_addr, text, sizeof(text));
	}
	printf("%s %s %s\n", nic, name, text);
}

/* Prints whether there is a route out of the local network. connect() of a UDP socket shows that
 * without sending a packet. */
static void say_route(void)
{
	struct sockaddr_in far = {.sin_family = AF_INET,
				  .sin_port = htons(443),
				  .sin_addr.s_addr = inet_addr("192.0.2.1")};
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	printf("route %s\n", connect(s, (struct sockaddr *)&far, sizeof(far)) ? "none" : "out");
	close(s);
}

static void say_all(const struct proto_boot *b)
{
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq lo = {.ifr_name = "lo"};
	char text[256] = "";
	struct err e;
	FILE *f;

	if (net_up(b, &e) < 0)
		printf("failed %d: %s\n", (int)e.kind, e.text);
	else
		puts("up");
	say_address(s, SIOCGIFADDR, "eth7", "address");
	say_address(s, SIOCGIFNETMASK, "eth7", "mask");
	say_address(s, SIOCGIFADDR, "eth8", "address");
	say_route();
	printf("lo %s\n",
	       ioctl(s, SIOCGIFFLAGS, &lo) == 0 && lo.ifr_flags & IFF_UP ? "up" : "down");
	f = fopen("/etc/resolv.conf", "re");
	if (f) {
		text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
		fclose(f);
	}
	printf("resolver %s\n", text);
	close(s);
}

static void with_address(void *arg)
{
	(void)arg;
	apart_nic("eth7", OTHER, 1);
	apart_nic("eth8", MAC, 1);
	say_all(&(struct proto_boot){
		.address = "10.1.0.17/24", .gateway = "10.1.0.1", .mac = "02:00:00:12:34:56"});
}

static void with_dhcp(void *arg)
{
	int fd = apart_nic("eth7", MAC, 1);

	(void)arg;
	apart_file("/etc/resolv.conf", "", 0);
	start_server(&fd);
	say_all(&(struct proto_boot){0});
}

/* net_renew() takes the interface down, which removes a route that was added by hand, and must then
 * create its own routes again. */
static void with_a_card_that_stands_still(void *arg)
{
	int fd = apart_nic("eth7", MAC, 1);
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_addr.s_addr = inet_addr("198.51.100.0")};
	struct sockaddr_in mask = {.sin_family = AF_INET,
				   .sin_addr.s_addr = inet_addr("255.255.255.0")};
	struct rtentry r = {.rt_flags = RTF_UP, .rt_dev = (char[]){"eth7"}};
	struct proto_boot b = {0};
	struct err e;

	(void)arg;
	apart_file("/etc/resolv.conf", "", 0);
	start_server(&fd);
	say_all(&b);
	memcpy(&r.rt_dst, &to, sizeof(to));
	memcpy(&r.rt_genmask, &mask, sizeof(mask));
	printf("by hand %s\n", ioctl(s, SIOCADDRT, &r) ? "refused" : "added");
	printf("renewed %d\n", net_renew(&b, &e));
	printf("by hand %s\n", ioctl(s, SIOCDELRT, &r) ? "gone" : "still there");
	say_address(s, SIOCGIFADDR, "eth7", "has again");
	printf("again ");
	say_route();
	close(s);
}

static void *plug_in(void *arg)
{
	struct timespec t = {.tv_nsec = 50000000};

	(void)arg;
	nanosleep(&t, NULL);
	apart_file("/sys/class/net/eth7/carrier", "1\n", 2);
	return NULL;
}

static void with_a_late_link(void *arg)
{
	pthread_t t;

	(void)arg;
	apart_nic("eth7", MAC, 0);
	if (!pthread_create(&t, NULL, plug_in, NULL))
		pthread_detach(t);
	say_all(&(struct proto_boot){.address = "10.1.0.17/16"});
}

static void without_hardware(void *arg)
{
	(void)arg;
	apart_nic("eth7", MAC, 1);
	unlink("/sys/class/net/eth7/device"); /* An interface without hardware, such as a bridge. */
	say_all(&(struct proto_boot){.address = "10.1.0.17/24"});
}

static void with_another_mac(void *arg)
{
	(void)arg;
	apart_nic("eth7", MAC, 1);
	say_all(&(struct proto_boot){.address = "10.1.0.17/24", .mac = OTHER});
}

static void with_a_bad_address(void *arg)
{
	(void)arg;
	apart_nic("eth7", MAC, 1);
	say_all(&(struct proto_boot){.address = "10.1.0.300/24"});
}

/* --- tests ------------------------------------------------------------------------------------ */

static void the_nic_with_the_boot_block_s_mac_gets_its_address(void **state)
{
	(void)state;
	apart_run(with_address, NULL);
	apart_assert_said("up\n");
	apart_assert_said("eth8 address 10.1.0.17\n");
	apart_assert_said("eth7 address none\n");
	apart_assert_said("route out\n");
	apart_assert_said("lo up\n");
	apart_assert_said("resolver \n");
}

static void without_an_address_it_asks_by_dhcp(void **state)
{
	(void)state;
	apart_run(with_dhcp, NULL);
	apart_assert_said("up\n");
	apart_assert_said("eth7 address 10.9.1.2\n");
	apart_assert_said("eth7 mask 255.255.0.0\n");
	apart_assert_said("route out\n");
	apart_assert_said("resolver nameserver 10.9.0.53\n");
}

static void a_card_is_taken_down_and_begins_anew(void **state)
{
	(void)state;
	apart_run(with_a_card_that_stands_still, NULL);
	apart_assert_said("by hand added\nrenewed 0\nby hand gone\n");
	apart_assert_said("eth7 has again 10.9.1.2\n");
	apart_assert_said("again route out\n");
}

static void a_link_that_comes_up_late_is_waited_for(void **state)
{
	(void)state;
	apart_run(with_a_late_link, NULL);
	apart_assert_said("up\n");
	apart_assert_said("eth7 address 10.1.0.17\n");
	apart_assert_said("eth7 mask 255.255.0.0\n");
	apart_assert_said("route none\n"); /* The boot block specifies no gateway. */
}

static void interfaces_without_hardware_are_left_alone(void **state)
{
	(void)state;
	apart_run(without_hardware, NULL);
	apart_assert_said("no network interface\n");
	apart_assert_said("eth7 address none\n");
}

static void a_mac_that_is_not_there_is_named(void **state)
{
	(void)state;
	apart_run(with_another_mac, NULL);
	apart_assert_said("no network interface with MAC " OTHER "\n");
	apart_assert_said("eth7 address none\n");
}

static void a_bad_address_of_the_boot_block_is_named(void **state)
{
	(void)state;
	apart_run(with_a_bad_address, NULL);
	apart_assert_said("boot block: address \"10.1.0.300/24\"");
	apart_assert_said("eth7 address none\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_nic_with_the_boot_block_s_mac_gets_its_address),
		cmocka_unit_test(without_an_address_it_asks_by_dhcp),
		cmocka_unit_test(a_card_is_taken_down_and_begins_anew),
		cmocka_unit_test(a_link_that_comes_up_late_is_waited_for),
		cmocka_unit_test(interfaces_without_hardware_are_left_alone),
		cmocka_unit_test(a_mac_that_is_not_there_is_named),
		cmocka_unit_test(a_bad_address_of_the_boot_block_is_named),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
