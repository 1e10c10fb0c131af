#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"
#include "kube/lease.h"
#include "tests/unit/kube/fake_api.h"

#define PATH "/apis/coordination.k8s.io/v1/namespaces/drover/leases/leader"
#define SPEC(f, field) json_str_at(fake_api_get((f), PATH), "spec", field)

/* A candidate with its own connection to the server. */
struct replica {
	struct fake_api *f;
	char origin[64];
	struct http *http;
	struct kube_client *c;
	struct kube_lease *lease;
	unsigned started, stopped, released;
	int64_t transitions, started_at, stopped_at;
	bool free_when_stopped;
	/* Annotation of each renewal; NULL: none */
	const char *note;
};

static void on_started(int64_t transitions, void *arg)
{
	struct replica *r = arg;

	assert_true(kube_lease_held(r->lease));
	r->started++;
	r->transitions = transitions;
	r->started_at = loop_now(r->f->loop);
}

static void on_stopped(void *arg)
{
	struct replica *r = arg;

	assert_false(kube_lease_held(r->lease));
	r->stopped++;
	r->stopped_at = loop_now(r->f->loop);
	if (r->free_when_stopped) {
		kube_lease_free(r->lease);
		r->lease = NULL;
	}
}

static void on_released(void *arg)
{
	((struct replica *)arg)->released++;
}

static json_t *notes_of(void *arg)
{
	const struct replica *r = arg;

	return r->note ? json_pack("{s:s, s:n}", "note", r->note, "other", NULL) : NULL;
}

static void join_slower(struct replica *r, struct fake_api *f, const char *name, unsigned slower)
{
	struct kube_config config = {0};

	*r = (struct replica){.f = f};
	snprintf(r->origin, sizeof(r->origin), "https://%s.test:6443", name);
	http_mem_serve(f->net, r->origin, f->d);
	r->http =
		http_new(f->client_g, http_mem_transport(f->net, f->client_g, name, NULL, NULL), 0);
	config.server = r->origin;
	r->c = fake_api_client(f, f->client_g, r->http,
			       &(struct kube_client_spec){.config = &config});
	r->lease = kube_lease_new(f->client_g, &(struct kube_lease_spec){.client = r->c,
									 .ns = "drover",
									 .name = "leader",
									 .identity = name,
									 .slower = slower,
									 .on_started = on_started,
									 .on_stopped = on_stopped,
									 .annotations = notes_of,
									 .arg = r});
	assert_int_equal(kube_lease_renewed_age(r->lease), INT64_MAX);
}

static void join(struct replica *r, struct fake_api *f, const char *name)
{
	join_slower(r, f, name, 0);
}

static void leave(struct replica *r)
{
	kube_lease_free(r->lease);
	kube_client_free(r->c);
	http_free(r->http);
}

static void the_first_candidate_makes_the_lease_and_renews_it(void **state)
{
	struct fake_api f;
	struct replica a;
	char *first;
	size_t n;

	(void)state;
	fake_api_start(&f, NULL);
	join(&a, &f, "a");
	fake_api_run(&f, 500);
	assert_int_equal(a.started, 1);
	assert_int_equal(a.transitions, 1);
	assert_string_equal(SPEC(&f, "holderIdentity"), "a");
	assert_int_equal(json_int_at(fake_api_get(&f, PATH), "spec", "leaseDurationSeconds"), 15);
	assert_string_equal(SPEC(&f, "acquireTime"), SPEC(&f, "renewTime"));
	assert_true(str_ends(SPEC(&f, "renewTime"), "Z") && strchr(SPEC(&f, "renewTime"), '.'));
	first = mem_strdup(SPEC(&f, "acquireTime"));
	n = f.requests;
	for (int i = 0; i < 600; i++) {
		fake_api_run(&f, 100);
		assert_true(kube_lease_held(a.lease));
		assert_true(kube_lease_renewed_age(a.lease) <= 2700);
	}
	/* The lease is renewed every 2 s with jitter, and not read in between. */
	assert_true(f.requests - n >= 23 && f.requests - n <= 40);
	assert_int_equal(fake_api_count(&f, "GET " PATH), 1);
	assert_string_equal(SPEC(&f, "acquireTime"), first);
	assert_string_not_equal(SPEC(&f, "renewTime"), first);
	assert_int_equal(a.started, 1);
	free(first);
	leave(&a);
	fake_api_stop(&f);
}

static void a_leader_that_is_cut_off_stops_before_another_starts(void **state)
{
	struct fake_api f;
	struct replica a, b;
	int64_t cut;

	(void)state;
	fake_api_start(&f, NULL);
	join(&a, &f, "a");
	fake_api_run(&f, 500);
	join(&b, &f, "b");
	fake_api_run(&f, 60000);
	assert_int_equal(b.started, 0);

	http_mem_hang(f.net, a.origin, true);
	cut = loop_now(f.loop);
	fake_api_run(&f, 25000);
	assert_int_equal(a.stopped, 1);
	assert_true(a.stopped_at - cut < 10000);
	assert_int_equal(b.started, 1);
	assert_true(b.started_at - a.stopped_at >= 3000);
	assert_true(b.started_at - cut <= 20000);
	assert_int_equal(b.transitions, 2);
	assert_false(kube_lease_held(a.lease));

	/* After it is reconnected, the old leader waits like any candidate. */
	http_mem_hang(f.net, a.origin, false);
	fake_api_run(&f, 60000);
	assert_int_equal(a.started, 1);
	assert_int_equal(b.stopped, 0);
	assert_string_equal(SPEC(&f, "holderIdentity"), "b");
	leave(&a);
	leave(&b);
	fake_api_stop(&f);
}

/* The lease duration that the leader wrote tells the others how long to wait. */
static void a_slower_leader_is_waited_for_by_all(void **state)
{
	struct fake_api f;
	struct replica a, b;
	int64_t cut;

	(void)state;
	fake_api_start(&f, NULL);
	join_slower(&a, &f, "a", 8);
	fake_api_run(&f, 500);
	join(&b, &f, "b");
	fake_api_run(&f, 60000);
	assert_int_equal(json_int_at(fake_api_get(&f, PATH), "spec", "leaseDurationSeconds"), 120);
	http_mem_hang(f.net, a.origin, true);
	cut = loop_now(f.loop);
	fake_api_run(&f, 50000);
	assert_true(kube_lease_held(a.lease));
	fake_api_run(&f, 100000);
	assert_int_equal(a.stopped, 1);
	assert_int_equal(b.started, 1);
	assert_true(a.stopped_at - cut < 80000);
	assert_true(b.started_at - a.stopped_at >= 24000);
	leave(&a);
	leave(&b);
	fake_api_stop(&f);
}

static void the_clock_alone_says_whether_it_is_still_held(void **state)
{
	struct fake_api f;
	struct replica a;

	(void)state;
	fake_api_start(&f, NULL);
	join(&a, &f, "a");
	fake_api_run(&f, 500);
	http_mem_hang(f.net, a.origin, true);
	for (int i = 0; i < 200; i++) {
		fake_api_run(&f, 100);
		/* The clock alone decides whether the lease is held, in whatever order the timers
		 * run. */
		assert_true(kube_lease_held(a.lease) == (kube_lease_renewed_age(a.lease) < 9500));
		if (a.stopped)
			assert_int_equal(kube_lease_renewed_age(a.lease), INT64_MAX);
	}
	assert_int_equal(a.stopped, 1);
	leave(&a);
	fake_api_stop(&f);
}

static void a_short_fault_costs_no_leadership_and_a_long_one_a_new_term(void **state)
{
	struct fake_api f;
	struct replica a;

	(void)state;
	fake_api_start(&f, NULL);
	join(&a, &f, "a");
	fake_api_run(&f, 500);
	http_mem_serve(f.net, a.origin, NULL);
	fake_api_run(&f, 5000);
	http_mem_serve(f.net, a.origin, f.d);
	fake_api_run(&f, 60000);
	assert_int_equal(a.stopped, 0);
	assert_int_equal(a.started, 1);

	http_mem_serve(f.net, a.origin, NULL);
	fake_api_run(&f, 12000);
	assert_int_equal(a.stopped, 1);
	http_mem_serve(f.net, a.origin, f.d);
	fake_api_run(&f, 5000);
	/* The Lease still names this candidate, so it does not wait. */
	assert_int_equal(a.started, 2);
	assert_int_equal(a.transitions, 2);
	leave(&a);
	fake_api_stop(&f);
}

static enum http_mem_fault_kind lose_patches(const char *origin, const char *method,
					     const char *target, void *arg)
{
	unsigned *left = arg;

	(void)origin;
	(void)target;
	if (strcmp(method, "PATCH") != 0 || !*left)
		return HTTP_MEM_WELL;
	--*left;
	return HTTP_MEM_REPLY_LOST;
}

static void a_renewal_whose_answer_was_lost_is_read_again(void **state)
{
	struct fake_api f;
	struct replica a;
	unsigned lose = 2;

	(void)state;
	fake_api_start(&f, NULL);
	join(&a, &f, "a");
	fake_api_run(&f, 500);
	http_mem_fault(f.net, lose_patches, &lose);
	fake_api_run(&f, 30000);
	assert_int_equal(lose, 0);
	assert_int_equal(a.stopped, 0);
	assert_true(kube_lease_held(a.lease));
	assert_int_equal(fake_api_count(&f, "GET " PATH), 3);
	leave(&a);
	fake_api_stop(&f);
}

static void a_lease_taken_by_force_is_given_up_at_once(void **state)
{
	struct fake_api f;
	struct replica a;

	(void)state;
	fake_api_start(&f, NULL);
	join(&a, &f, "a");
	fake_api_run(&f, 500);
	fake_api_put(&f, PATH,
		     "{\"metadata\":{\"name\":\"leader\"},\"spec\":{\"holderIdentity\":\"z\","
		     "\"leaseDurationSeconds\":15,\"leaseTransitions\":7}}");
	fake_api_run(&f, 6000);
	assert_int_equal(a.stopped, 1);
	assert_true(a.stopped_at < 6000);
	/* z never renews. Its lease expires 15 s after this candidate first read it, whatever z's
	 * clock says. */
	fake_api_run(&f, 8000);
	assert_int_equal(a.started, 1);
	fake_api_run(&f, 8000);
	assert_int_equal(a.started, 2);
	assert_int_equal(a.transitions, 8);
	leave(&a);
	fake_api_stop(&f);
}

static void a_deleted_lease_is_made_anew_as_another_term(void **state)
{
	struct fake_api f;
	struct replica a;

	(void)state;
	fake_api_start(&f, NULL);
	join(&a, &f, "a");
	fake_api_run(&f, 500);
	json_object_del(f.objects, PATH);
	fake_api_run(&f, 10000);
	assert_int_equal(a.stopped, 1);
	assert_int_equal(a.started, 2);
	assert_int_equal(a.transitions, 2);
	leave(&a);
	fake_api_stop(&f);
}

/* The next holder reads what the last one wrote, and changes it only with its own renewals. */
static void annotations_are_written_with_renewals_and_read_by_the_next(void **state)
{
	struct fake_api f;
	struct replica a, b;

	(void)state;
	fake_api_start(&f, NULL);
	join(&a, &f, "a");
	a.note = "one";
	fake_api_run(&f, 500);
	assert_int_equal(a.started, 1);
	assert_null(json_at(fake_api_get(&f, PATH), "metadata", "annotations", "note"));
	assert_null(kube_lease_annotation(a.lease, "note"));
	fake_api_run(&f, 5000);
	assert_string_equal(kube_lease_annotation(a.lease, "note"), "one");
	assert_null(kube_lease_annotation(a.lease, "other"));
	leave(&a);
	join(&b, &f, "b");
	b.note = "two";
	for (int i = 0; i < 300 && !b.started; i++)
		fake_api_run(&f, 100);
	assert_int_equal(b.started, 1);
	assert_string_equal(kube_lease_annotation(b.lease, "note"), "one");
	fake_api_run(&f, 5000);
	assert_string_equal(json_str_at(fake_api_get(&f, PATH), "metadata", "annotations", "note"),
			    "two");
	b.note = NULL;
	fake_api_run(&f, 5000);
	assert_string_equal(kube_lease_annotation(b.lease, "note"), "two");
	leave(&b);
	fake_api_stop(&f);
}

static void a_released_lease_is_free_for_the_next(void **state)
{
	struct fake_api f;
	struct replica a, b;

	(void)state;
	fake_api_start(&f, NULL);
	join(&a, &f, "a");
	fake_api_run(&f, 500);
	join(&b, &f, "b");
	fake_api_run(&f, 10000);
	/* A candidate without the lease has nothing to release. */
	kube_lease_release(a.lease, on_released, &a);
	assert_false(kube_lease_held(a.lease));
	assert_int_equal(a.released, 0);
	fake_api_run(&f, 4000);
	assert_int_equal(a.released, 1);
	assert_int_equal(a.stopped, 0);
	assert_int_equal(b.started, 1);
	assert_int_equal(b.transitions, 2);
	fake_api_run(&f, 60000);
	assert_int_equal(a.started, 1);

	http_mem_hang(f.net, b.origin, true);
	kube_lease_release(b.lease, on_released, &b);
	fake_api_run(&f, 4000);
	assert_int_equal(b.released, 1);
	leave(&a);
	leave(&b);
	fake_api_stop(&f);
}

static void releasing_what_is_not_held_only_answers(void **state)
{
	struct fake_api f;
	struct replica a, b;

	(void)state;
	fake_api_start(&f, NULL);
	join(&a, &f, "a");
	fake_api_run(&f, 500);
	join(&b, &f, "b");
	fake_api_run(&f, 3000);
	kube_lease_release(b.lease, on_released, &b);
	assert_int_equal(b.released, 0);
	fake_api_run(&f, 3000);
	assert_int_equal(b.released, 1);
	assert_string_equal(SPEC(&f, "holderIdentity"), "a");
	leave(&a);
	leave(&b);
	fake_api_stop(&f);
}

static void a_lease_may_be_freed_when_it_stops(void **state)
{
	struct fake_api f;
	struct replica a;

	(void)state;
	fake_api_start(&f, NULL);
	join(&a, &f, "a");
	fake_api_run(&f, 500);
	a.free_when_stopped = true;
	http_mem_hang(f.net, a.origin, true);
	fake_api_run(&f, 20000);
	assert_null(a.lease);
	leave(&a);
	fake_api_stop(&f);
}

static void on_written(json_t *object, const struct err *e, void *arg)
{
	(void)object;
	(void)e;
	(void)arg;
}

static void a_full_bucket_does_not_hold_up_a_renewal(void **state)
{
	struct fake_api f;
	struct replica a;
	OWN_JSON object = json_pack("{s:{s:s}}", "metadata", "name", "x");

	(void)state;
	fake_api_start(&f, NULL);
	join(&a, &f, "a");
	fake_api_run(&f, 500);
	for (int i = 0; i < 20; i++) {
		for (int k = 0; k < 100; k++)
			kube_create(a.c, &KUBE_NODES, NULL, object, on_written, &a);
		fake_api_run(&f, 1000);
		assert_true(kube_lease_renewed_age(a.lease) < 3000);
	}
	leave(&a);
	fake_api_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_candidate_makes_the_lease_and_renews_it),
		cmocka_unit_test(a_leader_that_is_cut_off_stops_before_another_starts),
		cmocka_unit_test(a_slower_leader_is_waited_for_by_all),
		cmocka_unit_test(the_clock_alone_says_whether_it_is_still_held),
		cmocka_unit_test(a_short_fault_costs_no_leadership_and_a_long_one_a_new_term),
		cmocka_unit_test(a_renewal_whose_answer_was_lost_is_read_again),
		cmocka_unit_test(a_lease_taken_by_force_is_given_up_at_once),
		cmocka_unit_test(a_deleted_lease_is_made_anew_as_another_term),
		cmocka_unit_test(annotations_are_written_with_renewals_and_read_by_the_next),
		cmocka_unit_test(a_released_lease_is_free_for_the_next),
		cmocka_unit_test(releasing_what_is_not_held_only_answers),
		cmocka_unit_test(a_lease_may_be_freed_when_it_stops),
		cmocka_unit_test(a_full_bucket_does_not_hold_up_a_renewal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
