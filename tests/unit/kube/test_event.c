#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"
#include "kube/event.h"
#include "tests/unit/kube/fake_api.h"

#define EVENTS "/api/v1/namespaces/"

struct rig {
	struct fake_api f;
	struct kube_events *ev;
};

static const struct kube_ref pod = {"v1", "Pod", "team", "p-1", "uid-1"};
static const struct kube_ref node = {"v1", "Node", NULL, "n-1", NULL};

static void start(struct rig *r)
{
	fake_api_start(&r->f, &(struct kube_client_spec){
				      .qps = 1000, .burst = 5000, .max_in_flight = 5000});
	r->ev = kube_events_new(r->f.client_g, r->f.c, "drover.dev/controller", "drover-0");
}

static void stop(struct rig *r)
{
	kube_events_free(r->ev);
	fake_api_stop(&r->f);
}

/* Returns the nth event of the store, in order of creation. */
static const json_t *nth(struct rig *r, size_t n)
{
	const char *key;
	json_t *v;

	json_object_foreach (r->f.objects, key, v)
		if (!n--)
			return v;
	return NULL;
}

static void an_event_says_who_what_and_about_what(void **state)
{
	struct rig r;
	const json_t *e;

	(void)state;
	start(&r);
	kube_event(r.ev, &pod, "Warning", "NoCapacity", "Place", "3rd in the queue");
	kube_event(r.ev, &node, "Normal", "Joined", "Join", NULL);
	fake_api_run(&r.f, 1000);
	assert_int_equal(json_object_size(r.f.objects), 2);
	assert_int_equal(fake_api_count(&r.f, "POST " EVENTS "team/events"), 1);
	assert_int_equal(fake_api_count(&r.f, "POST " EVENTS "default/events"), 1);
	e = nth(&r, 0);
	if (!str_eq(json_str_at(e, "reason"), "NoCapacity"))
		e = nth(&r, 1);
	assert_string_equal(json_str_at(e, "apiVersion"), "v1");
	assert_string_equal(json_str_at(e, "kind"), "Event");
	assert_string_equal(json_str_at(e, "metadata", "namespace"), "team");
	assert_true(str_starts(json_str_at(e, "metadata", "name"), "p-1.") &&
		    str_is_dns_subdomain(json_str_at(e, "metadata", "name")));
	assert_string_equal(json_str_at(e, "reportingComponent"), "drover.dev/controller");
	assert_string_equal(json_str_at(e, "source", "component"), "drover.dev/controller");
	assert_string_equal(json_str_at(e, "reportingInstance"), "drover-0");
	assert_string_equal(json_str_at(e, "type"), "Warning");
	assert_string_equal(json_str_at(e, "action"), "Place");
	assert_string_equal(json_str_at(e, "message"), "3rd in the queue");
	assert_string_equal(json_str_at(e, "involvedObject", "kind"), "Pod");
	assert_string_equal(json_str_at(e, "involvedObject", "namespace"), "team");
	assert_string_equal(json_str_at(e, "involvedObject", "uid"), "uid-1");
	assert_true(str_ends(json_str_at(e, "eventTime"), "Z") &&
		    strchr(json_str_at(e, "eventTime"), '.'));
	stop(&r);
}

static void the_same_again_only_counts(void **state)
{
	struct rig r;

	(void)state;
	start(&r);
	/* The same event occurs once each second for two minutes. */
	for (int i = 0; i < 121; i++) {
		kube_event(r.ev, &pod, "Normal", "Waiting", "Place", "no machine");
		fake_api_run(&r.f, 1000);
	}
	assert_int_equal(json_object_size(r.f.objects), 1);
	assert_in_range(r.f.requests, 4, 6);
	fake_api_run(&r.f, 31000);
	assert_in_range(r.f.requests, 5, 6);
	assert_int_equal(json_int_at(nth(&r, 0), "series", "count"), 121);
	assert_true(strchr(json_str_at(nth(&r, 0), "series", "lastObservedTime"), '.') != NULL);
	assert_string_equal(json_str_at(nth(&r, 0), "message"), "no machine");
	fake_api_run(&r.f, 100000);
	assert_in_range(r.f.requests, 5, 6);
	/* A different note, and the same note after ten quiet minutes, make a new event. */
	kube_event(r.ev, &pod, "Normal", "Waiting", "Place", "two machines");
	fake_api_run(&r.f, 600000);
	assert_int_equal(json_object_size(r.f.objects), 2);
	kube_event(r.ev, &pod, "Normal", "Waiting", "Place", "no machine");
	fake_api_run(&r.f, 1000);
	assert_int_equal(json_object_size(r.f.objects), 3);
	stop(&r);
}

/* Returns the event with this note. */
static const json_t *of_note(struct rig *r, const char *note)
{
	const char *key;
	json_t *v;

	json_object_foreach (r->f.objects, key, v)
		if (str_eq(json_str_at(v, "message"), note))
			return v;
	return NULL;
}

/* Returns the member's time in seconds since the first event with note "a". */
static int64_t seconds(struct rig *r, const char *note, const char *member)
{
	int64_t t, from;

	assert_true(str_to_time(json_str_at(of_note(r, "a"), "firstTimestamp"), &from));
	assert_true(str_to_time(json_str_at(of_note(r, note), member), &t));
	return (t - from) / 1000;
}

static void the_times_and_the_count_are_those_that_kubectl_reads(void **state)
{
	struct rig r;
	const json_t *a;

	(void)state;
	start(&r);
	kube_event(r.ev, &pod, "Normal", "Waiting", "Place", "a");
	fake_api_run(&r.f, 10000);
	a = of_note(&r, "a");
	assert_int_equal(json_int_at(a, "count"), 1);
	assert_null(json_object_get(a, "series"));
	assert_int_equal(seconds(&r, "a", "lastTimestamp"), 0);
	assert_int_equal(seconds(&r, "a", "eventTime"), 0);
	assert_null(strchr(json_str_at(a, "firstTimestamp"), '.'));

	kube_event(r.ev, &pod, "Normal", "Waiting", "Place", "b");
	fake_api_run(&r.f, 50000);
	assert_int_equal(seconds(&r, "b", "firstTimestamp"), 10);
	assert_int_equal(seconds(&r, "b", "lastTimestamp"), 10);

	/* When the older event is repeated, its last time is later than that of the newer one. */
	for (int i = 0; i < 4; i++)
		kube_event(r.ev, &pod, "Normal", "Waiting", "Place", "a");
	fake_api_run(&r.f, 31000);
	a = of_note(&r, "a");
	assert_int_equal(json_int_at(a, "count"), 5);
	assert_int_equal(json_int_at(a, "series", "count"), 5);
	assert_int_equal(seconds(&r, "a", "lastTimestamp"), 60);
	assert_int_equal(seconds(&r, "a", "eventTime"), 0);
	assert_int_equal(json_int_at(of_note(&r, "b"), "count"), 1);
	assert_int_equal(seconds(&r, "b", "lastTimestamp"), 10);
	stop(&r);
}

static void repeats_before_the_first_is_written_are_counted(void **state)
{
	struct rig r;

	(void)state;
	start(&r);
	for (int i = 0; i < 5; i++)
		kube_event(r.ev, &pod, "Normal", "Waiting", "Place", "no machine");
	fake_api_run(&r.f, 1000);
	assert_int_equal(r.f.requests, 1);
	fake_api_run(&r.f, 30000);
	assert_int_equal(r.f.requests, 2);
	assert_int_equal(json_int_at(nth(&r, 0), "series", "count"), 5);
	stop(&r);
}

static void one_object_has_no_more_than_its_share(void **state)
{
	struct rig r;
	char note[32];

	(void)state;
	start(&r);
	for (int i = 0; i < 100; i++) {
		snprintf(note, sizeof(note), "note %d", i);
		kube_event(r.ev, &pod, "Normal", "Waiting", "Place", note);
	}
	kube_event(r.ev, &node, "Normal", "Joined", "Join", "here");
	fake_api_run(&r.f, 5000);
	assert_int_equal(json_object_size(r.f.objects), 26);
	fake_api_run(&r.f, 60000);
	kube_event(r.ev, &pod, "Normal", "Waiting", "Place", "later");
	fake_api_run(&r.f, 1000);
	assert_int_equal(json_object_size(r.f.objects), 27);
	stop(&r);
}

static void memory_is_bounded_by_forgetting_the_oldest(void **state)
{
	struct rig r;
	char name[32];
	struct kube_ref many = {"v1", "Pod", "team", name, NULL};

	(void)state;
	start(&r);
	for (int i = 0; i < 1100; i++) {
		snprintf(name, sizeof(name), "p-%d", i);
		kube_event(r.ev, &many, "Normal", "Waiting", "Place", "x");
		fake_api_run(&r.f, 50);
	}
	assert_int_equal(json_object_size(r.f.objects), 1100);
	/* The newest event still continues its series, the first one no longer does. */
	kube_event(r.ev, &many, "Normal", "Waiting", "Place", "x");
	fake_api_run(&r.f, 31000);
	assert_int_equal(json_object_size(r.f.objects), 1100);
	snprintf(name, sizeof(name), "p-0");
	kube_event(r.ev, &many, "Normal", "Waiting", "Place", "x");
	fake_api_run(&r.f, 1000);
	assert_int_equal(json_object_size(r.f.objects), 1101);
	stop(&r);
}

static void notes_are_cut_between_characters_and_are_text(void **state)
{
	struct rig r;
	char note[1600] = "";
	struct kube_ref odd = {"v1", "Pod", "team", "p-1", "\xff\xfe"};

	(void)state;
	start(&r);
	for (int i = 0; i < 500; i++)
		strcat(note, "\xe2\x82\xac"); /* Three bytes each; 1024 is not a multiple of 3. */
	kube_event(r.ev, &pod, "Normal", "Long", "Say", note);
	fake_api_run(&r.f, 1000);
	assert_int_equal(strlen(json_str_at(nth(&r, 0), "message")), 1023);
	kube_event(r.ev, &odd, "Normal", "Odd", "Say", "a\xc3z");
	fake_api_run(&r.f, 1000);
	assert_string_equal(json_str_at(nth(&r, 1), "message"), "a?z");
	assert_string_equal(json_str_at(nth(&r, 1), "involvedObject", "uid"), "??");
	stop(&r);
}

static bool refuse(struct fake_api *f, struct httpd_req *q)
{
	const char *method = f->arg;

	if (strcmp(httpd_method(q), method) != 0)
		return false;
	fake_api_status(q, 404, "NotFound", "namespaces \"team\" not found");
	return true;
}

static void an_event_that_cannot_be_written_is_dropped(void **state)
{
	struct rig r;

	(void)state;
	start(&r);
	r.f.serve = refuse;
	r.f.arg = (void *)(uintptr_t) "POST";
	kube_event(r.ev, &pod, "Normal", "Waiting", "Place", "x");
	fake_api_run(&r.f, 120000);
	assert_int_equal(r.f.requests, 1);
	/* The refused event does not count as written. */
	r.f.serve = NULL;
	kube_event(r.ev, &pod, "Normal", "Waiting", "Place", "x");
	fake_api_run(&r.f, 1000);
	assert_int_equal(json_object_size(r.f.objects), 1);
	/* The event was deleted on the server, so a new series begins. */
	r.f.serve = refuse;
	r.f.arg = (void *)(uintptr_t) "PATCH";
	kube_event(r.ev, &pod, "Normal", "Waiting", "Place", "x");
	fake_api_run(&r.f, 31000);
	kube_event(r.ev, &pod, "Normal", "Waiting", "Place", "x");
	fake_api_run(&r.f, 1000);
	assert_int_equal(json_object_size(r.f.objects), 2);
	stop(&r);
}

static void events_may_be_freed_while_they_are_written(void **state)
{
	struct rig r;

	(void)state;
	start(&r);
	kube_event(r.ev, &pod, "Normal", "Waiting", "Place", "x");
	kube_event(r.ev, &pod, "Normal", "Waiting", "Place", "x");
	stop(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_event_says_who_what_and_about_what),
		cmocka_unit_test(the_same_again_only_counts),
		cmocka_unit_test(the_times_and_the_count_are_those_that_kubectl_reads),
		cmocka_unit_test(repeats_before_the_first_is_written_are_counted),
		cmocka_unit_test(one_object_has_no_more_than_its_share),
		cmocka_unit_test(memory_is_bounded_by_forgetting_the_oldest),
		cmocka_unit_test(notes_are_cut_between_characters_and_are_text),
		cmocka_unit_test(an_event_that_cannot_be_written_is_dropped),
		cmocka_unit_test(events_may_be_freed_while_they_are_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
