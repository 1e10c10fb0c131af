#include "tests/unit/testing.h"

#include "base/str.h"
#include "providers/probe_check.h"

struct seen {
	unsigned ok, notes, wrong;
	/* Subject, text and remedy of the last finding that is not ok */
	char of[128], says[400], mend[300];
};

static void on_found(const char *of, const char *result, const char *says, const char *mend,
		     void *arg)
{
	struct seen *s = arg;

	s->ok += str_eq(result, "ok");
	s->notes += str_eq(result, "note");
	s->wrong += str_eq(result, "wrong");
	if (str_eq(result, "ok")) {
		assert_null(mend);
		return;
	}
	str_copy(s->of, sizeof(s->of), of);
	str_copy(s->says, sizeof(s->says), says);
	str_copy(s->mend, sizeof(s->mend), mend);
}

static const char *const gate_q[] = {"10.1.0.1", "10.9.9.9"},
			 *const gate_p[] = {"10.1.1.1", "10.9.9.9"},
			 *const gate_a[] = {"10.20.0.1", "10.20.0.10:6443"},
			 *const gate_b[] = {"10.20.1.1"};
static const char *const net_q[] = {"10.1.0.1/24"}, *const net_a[] = {"10.20.0.1/24"},
			 *const net_b[] = {"10.20.1.1/24"};

static void all(struct probe_check_segment v[static 4])
{
	v[0] = (struct probe_check_segment){"quarantine", "f.q", NULL, gate_q, 2, net_q, 1, 1};
	v[1] = (struct probe_check_segment){"provisioning", "f.p", NULL, gate_p, 2, NULL, 0, 1};
	v[2] = (struct probe_check_segment){"tenant a", "f.a", NULL, gate_a, 2, net_a, 1, 0};
	v[3] = (struct probe_check_segment){"tenant b", "f.b", NULL, gate_b, 1, net_b, 1, 0};
}

static void what_answers_in_one_segment_alone_is_well(void **state)
{
	struct probe_check_segment v[4];
	struct seen s = {0};

	(void)state;
	all(v);
	probe_check(v, 4, on_found, &s);
	assert_int_equal(s.ok, 4);
	assert_int_equal(s.notes + s.wrong, 0);
}

static void an_address_in_another_s_network_is_wrong(void **state)
{
	static const char *const a_in_b[] = {"10.20.1.7"}, *const b_in_q[] = {"10.1.0.9:443"};
	struct probe_check_segment v[4];
	struct seen s = {0};

	(void)state;
	all(v);
	v[2].addresses = a_in_b;
	v[2].naddresses = 1;
	probe_check(v, 4, on_found, &s);
	assert_int_equal(s.wrong, 1);
	assert_string_equal(s.of, "probe of tenant a");
	assert_non_null(strstr(s.says, "10.20.1.7 lies in network 10.20.1.1/24 of tenant b"));
	assert_non_null(strstr(s.mend, "f.a"));
	all(v);
	v[3].addresses = b_in_q;
	s = (struct seen){0};
	probe_check(v, 4, on_found, &s);
	assert_int_equal(s.wrong, 1);
	assert_non_null(strstr(s.says, "of quarantine"));
}

static void none_and_the_same_are_noted(void **state)
{
	struct probe_check_segment v[4];
	struct seen s = {0};

	(void)state;
	all(v);
	v[1].naddresses = 0;
	probe_check(v, 4, on_found, &s);
	assert_int_equal(s.notes, 1);
	assert_string_equal(s.of, "probe of provisioning");
	assert_non_null(strstr(s.mend, "f.p"));
	all(v);
	v[3].addresses = v[2].addresses;
	v[2].nprefixes = v[3].nprefixes = 0;
	s = (struct seen){0};
	probe_check(v, 4, on_found, &s);
	assert_int_equal(s.notes, 2);
	assert_non_null(strstr(s.says, "is also listed for tenant a"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_answers_in_one_segment_alone_is_well),
		cmocka_unit_test(an_address_in_another_s_network_is_wrong),
		cmocka_unit_test(none_and_the_same_are_noted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
