/* Tests which part of the queue is written to a tenant's own cluster, and when. */
#include "tests/unit/controller/bench.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "api/annotations.h"
#include "controller/view/tenant_list.h"

#define KEY "configmaps/drover-system/drover-queue"

struct bed {
	struct bench *d;
	struct waiting *waiting;
	struct tenant_list *list;
};

static void on_published(void *arg)
{
	(void)arg;
}

static int setup(void **state)
{
	struct bed *b = calloc(1, sizeof(*b));
	struct bench *d;

	assert_int_equal(bench_setup_fleet((void **)&b->d), 0);
	d = b->d;
	d->c.leading = true;
	b->waiting = waiting_new(&d->c, on_published, b);
	b->list = tenant_list_new(&d->c, d->tenants, b->waiting);
	bench_must(d, &d->team, "POST", "/api/v1/namespaces",
		   "{'metadata': {'name': 'drover-system'}}");
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bed *b = *state;
	struct bench *d = b->d;

	tenant_list_free(b->list);
	waiting_free(b->waiting);
	free(b);
	return bench_teardown((void **)&d);
}

/* Publishes a list in which n pods of team-a wait behind one pod of team-b. */
static void publish(struct bed *b, int n, const char *message)
{
	waiting_begin(b->waiting);
	for (int i = 0; i <= n; i++)
		waiting_put(b->waiting,
			    &(struct waiting_row){.tenant = i ? "team-a" : "team-b",
						  .at = {.pod = arena_printf(b->d->a, "ns/p-%d", i),
							 .place = i + 1,
							 .reason = "NoCapacity",
							 .message = message}});
	waiting_end(b->waiting);
	bench_run(b->d, TENANT_LIST_MS + 1000);
}

/* Returns the list in the tenant's cluster, which the caller owns; NULL: none. */
static json_t *stored(struct bed *b, char **rv)
{
	OWN_JSON o = bench_stored(&b->d->team, KEY);
	const char *text = json_str_at(o, "data", TENANT_LIST_KEY);
	struct err e;

	if (rv) {
		free(*rv);
		*rv = mem_strdup(json_str_at(o, "metadata", "resourceVersion"));
	}
	return text ? json_parse(text, strlen(text), &e) : NULL;
}

static void a_tenant_learns_its_pods_and_of_others_a_number(void **state)
{
	struct bed *b = *state;
	OWN_JSON j = NULL;
	char *text;

	bench_patch(b->d, OBJECT_VIRTUAL_CLUSTER, "team-a",
		    "{'spec': {'quota': {'nvidia.com/gpu': '64'}}}");
	bench_status(b->d, OBJECT_VIRTUAL_CLUSTER, "team-a",
		     "{'allocated': {'nvidia.com/gpu': '8'}}");
	publish(b, 2, "all taken");
	j = stored(b, NULL);
	assert_non_null(j);
	assert_string_equal(json_str_at(j, "tenant"), "team-a");
	assert_int_equal(json_int_at(j, "total"), 2);
	assert_int_equal(json_int_at(j, "queueLength"), 3);
	assert_string_equal(json_str_at(j, "quota", "nvidia.com/gpu"), "64");
	assert_string_equal(json_str_at(j, "allocated", "nvidia.com/gpu"), "8");
	assert_int_equal(json_array_size(json_object_get(j, "pods")), 2);
	assert_string_equal(json_str_at(json_array_get(json_object_get(j, "pods"), 0), "pod"),
			    "ns/p-1");
	assert_int_equal(json_int_at(json_array_get(json_object_get(j, "pods"), 0), "place"), 2);
	assert_non_null(json_str_at(j, "time"));
	assert_null(json_object_get(j, "left"));
	text = json_text(j);
	assert_null(strstr(text, "team-b"));
	free(text);
}

static void nothing_is_written_before_the_first_plan_or_by_a_replica(void **state)
{
	struct bed *b = *state;

	bench_run(b->d, 60000);
	assert_null(stored(b, NULL));
	b->d->c.leading = false;
	publish(b, 1, "m");
	assert_null(stored(b, NULL));
}

static void an_empty_list_is_written_too(void **state)
{
	struct bed *b = *state;
	OWN_JSON j = NULL;

	waiting_begin(b->waiting);
	waiting_end(b->waiting);
	bench_run(b->d, TENANT_LIST_MS + 1000);
	j = stored(b, NULL);
	assert_non_null(j);
	assert_int_equal(json_int_at(j, "total"), 0);
}

static void it_is_written_again_when_it_changed_and_every_five_minutes(void **state)
{
	struct bed *b = *state;
	char *first = NULL, *rv = NULL;

	publish(b, 1, "m");
	json_decref(stored(b, &first));
	bench_run(b->d, TENANT_LIST_KEEP_MS - 3 * TENANT_LIST_MS);
	json_decref(stored(b, &rv));
	assert_string_equal(rv, first);
	bench_run(b->d, 5 * TENANT_LIST_MS);
	json_decref(stored(b, &rv));
	assert_string_not_equal(rv, first);
	free(first);
	first = mem_strdup(rv);
	publish(b, 1, "another message");
	json_decref(stored(b, &rv));
	assert_string_not_equal(rv, first);
	free(first);
	free(rv);
}

static void a_cluster_that_refuses_is_asked_again_in_ten_minutes(void **state)
{
	struct bed *b = *state;
	unsigned denials;

	b->d->team.denied_at = "/configmaps";
	publish(b, 1, "m");
	denials = b->d->team.denials;
	assert_true(denials > 0);
	bench_run(b->d, TENANT_LIST_AGAIN_MS - 2 * TENANT_LIST_MS);
	assert_int_equal(b->d->team.denials, denials);
	b->d->team.denied_at = NULL;
	bench_run(b->d, 3 * TENANT_LIST_MS);

	OWN_JSON j = stored(b, NULL);

	assert_non_null(j);
}

/* A tenant's cluster without the namespace, for example because nobody applied
 * deploy/tenant-rbac.yaml. */
static void a_missing_namespace_is_tried_ever_more_rarely(void **state)
{
	struct bed *b = *state;
	struct bench *d = b->d;
	unsigned first;

	bench_must(d, &d->team, "DELETE", "/api/v1/namespaces/drover-system", NULL);
	d->team.counted_at = "/configmaps";
	publish(b, 1, "m");
	bench_run(d, 4 * TENANT_LIST_MS);
	first = d->team.counted;
	assert_true(first > 0);
	bench_run(d, 2 * TENANT_LIST_AGAIN_MS);
	d->team.counted = 0;
	bench_run(d, 2 * TENANT_LIST_AGAIN_MS);
	/* A patch, and the creation that follows it, every 5 to 10 minutes */
	assert_in_range(d->team.counted, 2, 10);

	bench_must(d, &d->team, "POST", "/api/v1/namespaces",
		   "{'metadata': {'name': 'drover-system'}}");
	bench_run(d, TENANT_LIST_AGAIN_MS + 2 * TENANT_LIST_MS);

	OWN_JSON j = stored(b, NULL);

	assert_non_null(j);
}

static void the_size_is_bounded(void **state)
{
	struct bed *b = *state;
	OWN_JSON j = NULL;
	OWN_JSON o = NULL;
	char message[1000];

	memset(message, 'x', sizeof(message));
	message[sizeof(message) - 1] = '\0';
	publish(b, 1000, message);
	j = stored(b, NULL);
	o = bench_stored(&b->d->team, KEY);
	assert_in_range(strlen(json_str_at(o, "data", TENANT_LIST_KEY)), TENANT_LIST_MAX / 2,
			TENANT_LIST_MAX);
	assert_int_equal(json_int_at(j, "total"), 1000);
	assert_int_equal(json_array_size(json_object_get(j, "pods")) + json_int_at(j, "left"),
			 1000);
}

static void a_tenant_that_is_hung_up_gets_its_list_later(void **state)
{
	struct bed *b = *state;
	OWN_JSON j = NULL;

	publish(b, 1, "m");
	tenant_list_hang_up(b->list, "team-a");
	tenant_list_hang_up(b->list, "team-z");
	publish(b, 2, "m");
	j = stored(b, NULL);
	assert_int_equal(json_int_at(j, "total"), 2);
}

/* More tenants than one loop turn handles. All of them use one cluster. */
static void each_of_many_tenants_gets_its_list(void **state)
{
	struct bed *b = *state;
	struct bench *d = b->d;

	publish(b, 1, "m");
	for (int i = 0; i < 45; i++)
		bench_put(d, arena_printf(
				     d->a,
				     "{'kind': 'VirtualCluster', 'metadata': {'name': 'more-%d'}, "
				     "'spec': {'kubeconfigSecretRef': {'name': 'team-a'}, "
				     "'joinEndpoint': '10.20.0.10:6443', 'quota': {}, "
				     "'network': {'segment': 'more-%d', 'addressing': 'DHCP'}}}",
				     i, i));
	publish(b, 2, "m");
	bench_run(d, 2 * TENANT_LIST_MS);
	d->team.counted_at = TENANT_LIST_NAME;
	publish(b, 3, "m");
	bench_run(d, 2 * TENANT_LIST_MS);
	assert_int_equal(d->team.counted, 46);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_tenant_learns_its_pods_and_of_others_a_number),
		T(nothing_is_written_before_the_first_plan_or_by_a_replica),
		T(an_empty_list_is_written_too),
		T(it_is_written_again_when_it_changed_and_every_five_minutes),
		T(a_cluster_that_refuses_is_asked_again_in_ten_minutes),
		T(a_missing_namespace_is_tried_ever_more_rarely),
		T(the_size_is_bounded),
		T(a_tenant_that_is_hung_up_gets_its_list_later),
		T(each_of_many_tenants_gets_its_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
