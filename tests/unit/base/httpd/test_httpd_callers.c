#include "tests/unit/testing.h"

#include <arpa/inet.h>
#include <malloc.h>
#include <netinet/in.h>
#include <stdio.h>
#include "base/httpd/httpd_callers.h"

struct any {
	union {
		struct sockaddr sa;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	};
};

static struct any at(const char *text)
{
	struct any a = {0};

	if (inet_pton(AF_INET, text, &a.v4.sin_addr) == 1) {
		a.sa.sa_family = AF_INET;
	} else {
		assert_int_equal(inet_pton(AF_INET6, text, &a.v6.sin6_addr), 1);
		a.sa.sa_family = AF_INET6;
	}
	return a;
}

static void an_address_holds_so_many_connections(void **state)
{
	struct httpd_callers *c = httpd_callers_new(3);
	struct any a = at("10.1.0.17"), b = at("10.1.0.18");
	struct httpd_caller *who[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_true(httpd_callers_admit(c, &a.sa, 1000));
		who[i] = httpd_callers_enter(c, &a.sa, 1000);
	}
	assert_false(httpd_callers_admit(c, &a.sa, 1000));
	assert_false(httpd_callers_admit(c, &a.sa, 9000)); /* new tokens do not help */
	assert_true(httpd_callers_admit(c, &b.sa, 1000));
	httpd_callers_leave(who[1]);
	assert_true(httpd_callers_admit(c, &a.sa, 9000));
	httpd_callers_leave(who[0]);
	httpd_callers_leave(who[2]);
	httpd_callers_free(c);
}

static void who_comes_and_goes_all_the_time_runs_out_of_tokens(void **state)
{
	struct httpd_callers *c = httpd_callers_new(2);
	struct any a = at("10.1.0.17");
	int n = 0;

	(void)state;
	while (httpd_callers_admit(c, &a.sa, 1000)) {
		httpd_callers_leave(httpd_callers_enter(c, &a.sa, 1000));
		n++;
	}
	assert_int_equal(n, 8);
	assert_false(httpd_callers_admit(c, &a.sa, 1499));
	assert_true(httpd_callers_admit(c, &a.sa, 1500)); /* limit 2: two new tokens a second */
	httpd_callers_free(c);
}

static void refusals_cost_and_time_gives_back(void **state)
{
	struct httpd_callers *c = httpd_callers_new(2);
	struct any a = at("10.1.0.17");
	struct httpd_caller *who = httpd_callers_enter(c, &a.sa, 0);

	(void)state;
	for (int i = 0; i < 7; i++) {
		assert_false(httpd_caller_exhausted(who, 0));
		httpd_caller_refused(who, 0);
	}
	assert_true(httpd_caller_exhausted(who, 0));
	httpd_caller_refused(who, 0); /* tokens do not become negative */
	assert_false(httpd_caller_exhausted(who, 500));
	/* After a year, the bucket contains no more than its maximum of eight tokens. */
	for (int i = 0; i < 8; i++)
		httpd_caller_refused(who, 31536000000);
	assert_true(httpd_caller_exhausted(who, 31536000000));
	httpd_callers_leave(who);
	httpd_callers_free(c);
}

static void an_ipv6_host_is_its_network(void **state)
{
	struct httpd_callers *c = httpd_callers_new(1);
	struct any a = at("fd00:1:2:3::1"), b = at("fd00:1:2:3:ffff::2"),
		   other = at("fd00:1:2:4::1"), m = at("::ffff:10.1.0.17"),
		   n = at("::ffff:10.1.0.18");
	struct httpd_caller *who = httpd_callers_enter(c, &a.sa, 0),
			    *mapped = httpd_callers_enter(c, &m.sa, 0),
			    *nobody = httpd_callers_enter(c, NULL, 0);

	(void)state;
	assert_false(httpd_callers_admit(c, &b.sa, 0));
	assert_true(httpd_callers_admit(c, &other.sa, 0));
	assert_false(httpd_callers_admit(c, &m.sa, 0));
	assert_true(httpd_callers_admit(c, &n.sa, 0));
	assert_false(httpd_callers_admit(c, NULL, 0));
	httpd_callers_leave(who);
	httpd_callers_leave(mapped);
	httpd_callers_leave(nobody);
	httpd_callers_free(c);
}

/* Addresses that appear once do not fill the memory; addresses that lack tokens stay recorded. */
static void addresses_are_forgotten_when_they_are_as_good_as_new(void **state)
{
	struct httpd_callers *c = httpd_callers_new(1);
	struct any a = at("10.1.0.17");
	struct httpd_caller *who = httpd_callers_enter(c, &a.sa, 0);
	size_t before = mallinfo2().uordblks;
	char text[40];

	(void)state;
	httpd_callers_leave(who);
	for (int i = 0; i < 50000; i++) {
		struct any x;

		snprintf(text, sizeof(text), "10.2.%d.%d", i / 250, i % 250);
		x = at(text);
		httpd_callers_leave(httpd_callers_enter(c, &x.sa, i));
	}
	/* 50,000 records would take 8 MB */
	assert_true(mallinfo2().uordblks < before + (2u << 20));
	for (int i = 0; i < 4; i++)
		httpd_callers_leave(httpd_callers_enter(c, &a.sa, 50000));
	for (int i = 0; i < 900; i++) {
		struct any x;

		snprintf(text, sizeof(text), "10.3.%d.%d", i / 250, i % 250);
		x = at(text);
		httpd_callers_leave(httpd_callers_enter(c, &x.sa, 50000 + i));
	}
	assert_false(httpd_callers_admit(c, &a.sa, 50900));
	httpd_callers_free(c);
}

static void without_a_limit_all_are_let_in(void **state)
{
	struct httpd_callers *c = httpd_callers_new(0);
	struct any a = at("10.1.0.17");

	(void)state;
	for (int i = 0; i < 100; i++) {
		struct httpd_caller *who;

		assert_true(httpd_callers_admit(c, &a.sa, 0));
		who = httpd_callers_enter(c, &a.sa, 0);
		httpd_caller_refused(who, 0);
		assert_false(httpd_caller_exhausted(who, 0));
	}
	httpd_callers_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_holds_so_many_connections),
		cmocka_unit_test(who_comes_and_goes_all_the_time_runs_out_of_tokens),
		cmocka_unit_test(refusals_cost_and_time_gives_back),
		cmocka_unit_test(an_ipv6_host_is_its_network),
		cmocka_unit_test(addresses_are_forgotten_when_they_are_as_good_as_new),
		cmocka_unit_test(without_a_limit_all_are_let_in),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
