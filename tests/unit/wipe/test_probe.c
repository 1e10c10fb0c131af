/* Tests the agent's probe on a machine whose only interface is connected to nothing: only its own
 * addresses answer. */
#include "tests/unit/testing.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/mem.h"
#include "tests/unit/wipe/apart.h"
#include "wipe/net.h"
#include "wipe/probe.h"

#define MAC "02:00:00:12:34:56"
#define LIMIT_MS 700

static const char *const asked[] = {
	"10.1.0.17",	   /* Own address */
	"127.0.0.1:4000",  /* Own address with a listener */
	"127.0.0.1:4001",  /* Own address without a listener */
	"[::1]:4001",	   /* Own address without a listener */
	"::1",		   /* Own address */
	"10.1.0.99",	   /* Unused address in the local network */
	"10.1.0.99:6443",  /* Unused address in the local network */
	"192.0.2.1",	   /* Address to which there is no route */
	"192.0.2.1:6443",  /* Address to which there is no route */
	"gateway.example", /* A name, not an address */
};
#define ASKED (sizeof(asked) / sizeof(*asked))

static void say_answers(void)
{
	const struct strings addresses = {(const char **)asked, ASKED};
	int answers[ASKED];

	probe_ask(&addresses, LIMIT_MS, answers);
	for (size_t i = 0; i < ASKED; i++)
		printf("%s %s\n", asked[i], proto_answer_names[answers[i]]);
}

static void up(void)
{
	struct err e;

	apart_nic("eth7", MAC, 1);
	if (net_up(&(struct proto_boot){.address = "10.1.0.17/24"}, &e) < 0)
		printf("failed %s\n", e.text);
}

static void listen_at(uint16_t port)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_port = htons(port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (bind(s, (struct sockaddr *)&at, sizeof(at)) || listen(s, 4))
		puts("failed");
}

static void on_a_machine(void *arg)
{
	(void)arg;
	up();
	listen_at(4000);
	say_answers();
}

static void without_a_descriptor(void *arg)
{
	struct rlimit few = {8, 8};

	(void)arg;
	up();
	while (dup(STDIN_FILENO) >= 0 && dup(STDIN_FILENO) < 7)
		;
	setrlimit(RLIMIT_NOFILE, &few);
	say_answers();
}

static void what_answers_is_told_from_what_is_silent(void **state)
{
	(void)state;
	apart_run(on_a_machine, NULL);
	apart_assert_said("10.1.0.17 Answered\n");
	apart_assert_said("127.0.0.1:4000 Answered\n");
	apart_assert_said("127.0.0.1:4001 Answered\n");
	apart_assert_said("[::1]:4001 Answered\n");
	apart_assert_said("\n::1 Answered\n");
	apart_assert_said("10.1.0.99 Silent\n");
	apart_assert_said("10.1.0.99:6443 Silent\n");
	apart_assert_said("192.0.2.1 Silent\n");
	apart_assert_said("192.0.2.1:6443 Silent\n");
	apart_assert_said("gateway.example NotAsked\n");
}

/* A probe that could not be sent is reported as NotAsked. Otherwise a machine without free
 * descriptors would seem to reach nothing. */
static void what_could_not_be_asked_is_not_silent(void **state)
{
	(void)state;
	apart_run(without_a_descriptor, NULL);
	apart_assert_said("10.1.0.99 NotAsked\n");
	apart_assert_said("10.1.0.99:6443 NotAsked\n");
	apart_assert_said("192.0.2.1 NotAsked\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_answers_is_told_from_what_is_silent),
		cmocka_unit_test(what_could_not_be_asked_is_not_silent),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
