#include "tests/unit/testing.h"

#include "base/str.h"
#include "providers/ec2/known.h"

struct told {
	unsigned n;
	enum elastic_state state;
	char id[20];
};

static void add(const struct elastic_instance *i, void *arg)
{
	struct told *t = arg;

	t->n++;
	t->state = i->state;
	str_copy(t->id, sizeof(t->id), i->id);
}

static const struct elastic_tag ours = {ELASTIC_TAG_CLUSTER, "c"};

static void see(struct ec2_known *k, const char *id, enum elastic_state state, int64_t now)
{
	struct elastic_instance i = {.id = id, .state = state, .tags = &ours, .ntags = 1};

	ec2_known_see(k, &i, now);
}

static struct told missing(struct ec2_known *k, const char *cluster, const char *listed,
			   int64_t now)
{
	OWN(map) ids = map_new(NULL);
	struct told t = {0};

	if (listed)
		map_put(ids, listed, &t);
	ec2_known_missing(k, cluster, ids, now, add, &t);
	return t;
}

static void what_is_not_listed_is_unknown_then_gone_then_forgotten(void **state)
{
	OWN(ec2_known) k = ec2_known_new();
	struct told t;

	(void)state;
	see(k, "i-1", ELASTIC_PENDING, 1000);
	see(k, "i-2", ELASTIC_RUNNING, 1000);
	t = missing(k, "c", "i-2", 1000 + ELASTIC_UNLISTED_MS - 1);
	assert_int_equal(t.n, 1);
	assert_string_equal(t.id, "i-1");
	assert_int_equal(t.state, ELASTIC_UNKNOWN);
	t = missing(k, "c", "i-2", 1000 + ELASTIC_UNLISTED_MS);
	assert_int_equal(t.state, ELASTIC_TERMINATED);
	assert_int_equal(missing(k, "c", "i-2", 1000 + ELASTIC_UNLISTED_MS).n, 0);
}

static void what_ended_or_is_of_another_cluster_is_not_missed(void **state)
{
	OWN(ec2_known) k = ec2_known_new();

	(void)state;
	see(k, "i-1", ELASTIC_RUNNING, 1000);
	assert_int_equal(missing(k, "another", NULL, 2000).n, 0);
	see(k, "i-1", ELASTIC_TERMINATED, 3000);
	assert_int_equal(missing(k, "c", NULL, 4000).n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_listed_is_unknown_then_gone_then_forgotten),
		cmocka_unit_test(what_ended_or_is_of_another_cluster_is_not_missed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
