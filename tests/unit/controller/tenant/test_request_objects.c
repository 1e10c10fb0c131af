/* Tests request_objects: how ProvisioningRequests are read, hostile ones included, and the
 * conditions that drover writes. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "base/data/json.h"
#include "base/str.h"
#include "controller/tenant/request_objects.h"
#include "controller/tenant/request_slots.h"
#include "controller/tenant/tenant.h"

#define QUEUED "queued.drover.dev"
#define ATOMIC "best-effort-atomic-scale-up.autoscaling.x-k8s.io"
#define CHECK "check-capacity.autoscaling.x-k8s.io"
#define CREATED ((int64_t)1790000000000) /* 2026-09-21T14:13:20Z */
#define MIN ((int64_t)60000)

/* Projects the request o and takes ownership of it. Returns NULL if drover ignores the object; *e
 * may contain the reason. */
static struct request_object *project(struct arena *a, json_t *o, struct err *e)
{
	struct request_object *r;

	assert_non_null(o);
	*e = (struct err){0};
	r = request_project(o, a, NULL, e);
	json_decref(o);
	return r;
}

static json_t *request(const char *class_, json_t *sets, json_t *parameters, json_t *conditions)
{
	return json_pack("{s:{s:s,s:s,s:s,s:i,s:s},s:{s:s,s:o,s:o},s:{s:o}}", "metadata", "name",
			 "train", "namespace", "ns", "uid", "u1", "generation", 1,
			 "creationTimestamp", "2026-09-21T14:13:20Z", "spec",
			 "provisioningClassName", class_, "podSets", sets, "parameters",
			 parameters ? parameters : json_object(), "status", "conditions",
			 conditions ? conditions : json_array());
}

static json_t *set_of(const char *template_, json_int_t count)
{
	return json_pack("{s:{s:s},s:I}", "podTemplateRef", "name", template_, "count", count);
}

static json_t *two(void)
{
	return json_pack("[o]", set_of("t", 2));
}

static const char *refusal(struct arena *a, json_t *sets, json_t *parameters)
{
	struct err e;
	const struct request_object *r = project(a, request(QUEUED, sets, parameters, NULL), &e);

	assert_non_null(r);
	assert_true(!r->refused == (r->pods > 0));
	return r->refused ? arena_printf(a, "%s: %s", r->because, r->refused) : "good";
}

static void what_cannot_be_served_is_refused_by_name(void **state)
{
	OWN(arena) a = arena_new();
	json_t *many = json_array(), *huge = json_array();
	char *long_ = malloc(70001);

	(void)state;
	for (int i = 0; i < 33; i++)
		json_array_append_new(many, set_of("t", 1));
	for (int i = 0; i < 32; i++)
		json_array_append_new(huge, set_of("t", 2147483647));
	memset(long_, 'x', 70000);
	long_[70000] = '\0';
	assert_string_equal(refusal(a, two(), NULL), "good");
	assert_string_equal(refusal(a, json_array(), NULL),
			    "PodSetsNotRead: spec.podSets must have 1 to 32 elements");
	assert_string_equal(refusal(a, many, NULL),
			    "PodSetsNotRead: spec.podSets must have 1 to 32 elements");
	assert_non_null(strstr(refusal(a, huge, NULL), "TooBig: podSets[0] wants 2147483647"));
	assert_non_null(
		strstr(refusal(a, json_pack("[o,o]", set_of("t", 4000), set_of("t", 97)), NULL),
		       "TooBig: podSets[1] wants 97 pods: a request may have 4096"));
	assert_string_equal(
		refusal(a, json_pack("[o,o]", set_of("t", 4000), set_of("u", 96)), NULL), "good");
	assert_non_null(strstr(refusal(a, json_pack("[o]", set_of("t", -1)), NULL), "podSets[0]"));
	assert_non_null(strstr(refusal(a, json_pack("[o]", set_of("a/b", 1)), NULL), "podSets[0]"));
	assert_non_null(strstr(refusal(a, json_pack("[o]", set_of(long_, 1)), NULL), "PodSets"));
	assert_non_null(strstr(refusal(a, json_string("no list"), NULL), "PodSetsNotRead"));
	assert_non_null(strstr(refusal(a, two(), json_pack("{s:s}", "noRetry", "true")),
			       "ParameterNotSupported: parameter noRetry: true"));
	assert_non_null(strstr(refusal(a, two(), json_pack("{s:s}", "ValidUntilSeconds", "soon")),
			       "ParameterNotSupported"));
	assert_non_null(
		strstr(refusal(a, two(), json_pack("{s:s}", "x", long_)), "ParameterNotSupported"));
	free(long_);
}

static void whose_it_is_not_is_left_alone(void **state)
{
	OWN(arena) a = arena_new();
	json_t *o = request(QUEUED, two(), NULL, NULL), *conditions = json_array();
	struct err e;

	(void)state;
	assert_null(project(a, request("another.example", two(), NULL, NULL), &e));
	assert_int_equal(e.kind, ERR_NONE);
	json_object_set_new(json_object_get(o, "metadata"), "deletionTimestamp",
			    json_string("2026-09-21T14:13:20Z"));
	assert_null(project(a, o, &e));
	assert_int_equal(e.kind, ERR_NONE);
	for (int i = 0; i < 17; i++)
		json_array_append_new(conditions,
				      json_pack("{s:s,s:s}", "type", "a", "status", "True"));
	assert_null(project(a, request(QUEUED, two(), NULL, conditions), &e));
	/* A status write replaces all conditions, so it would delete those that were not read. */
	assert_int_equal(e.kind, ERR_CAPACITY);
	assert_null(
		project(a, request(QUEUED, two(), NULL, json_pack("[{s:s}]", "type", "a")), &e));
	assert_int_equal(e.kind, ERR_CAPACITY);
}

/* --- conditions ------------------------------------------------------------------------------- */

static json_t *condition(const char *type, const char *status, const char *at)
{
	return json_pack("{s:s,s:s,s:s,s:s,s:s}", "type", type, "status", status, "reason", "R",
			 "message", "m", "lastTransitionTime", at);
}

/* Returns the conditions that change, such as "Accepted=True Provisioned=False(NoCapacity)". */
static const char *said(struct arena *a, const struct request_object *o,
			const struct request_result *s, int64_t now)
{
	struct conditions cs;
	const char *text = "";

	if (!request_conditions(o, s, now, a, &cs))
		return "";
	for (size_t i = 0; i < cs.n; i++) {
		const struct condition *c = &cs.v[i], *was = condition_get(&o->conditions, c->type);

		if (was && was->status == c->status && str_eq(was->reason, c->reason))
			continue;
		text = arena_printf(a, "%s%s%s=%s(%s)", text, *text ? " " : "", c->type,
				    condition_status_names[c->status], c->reason);
	}
	return text;
}

static void conditions_follow_from_the_class_and_what_is_there(void **state)
{
	const struct request_result unknown = {0}, served = {.served = true},
				    waits = {.reason = "NoCapacity", .text = "place 3"},
				    never = {.reason = "TooBig", .text = "x", .never = true};
	static const char *const none[] = {NULL, NULL}, *const once[] = {"noRetry", "true"},
				 *const hour[] = {"ValidUntilSeconds", "3600"};
	const struct {
		const char *class_, *const *parameter;
		const struct request_result *said;
		int64_t after;
		const char *text;
	} rows[] = {
		{QUEUED, none, &unknown, 0, "Accepted=True(Accepted)"},
		{QUEUED, none, &waits, 0, "Accepted=True(Accepted) Provisioned=False(NoCapacity)"},
		{QUEUED, none, &never, 0, "Accepted=True(Accepted) Provisioned=False(TooBig)"},
		{QUEUED, none, &waits, 30 * 24 * 60 * MIN,
		 "Accepted=True(Accepted) Provisioned=False(NoCapacity)"},
		{QUEUED, hour, &waits, 60 * MIN, "Accepted=True(Accepted) Failed=True(NoCapacity)"},
		{QUEUED, none, &served, 0,
		 "Accepted=True(Accepted) Provisioned=True(CapacityIsProvisioned)"},
		{ATOMIC, none, &waits, 0, "Accepted=True(Accepted) Provisioned=False(NoCapacity)"},
		{ATOMIC, none, &never, 0, "Accepted=True(Accepted) Failed=True(TooBig)"},
		{ATOMIC, hour, &waits, 60 * MIN - 1,
		 "Accepted=True(Accepted) Provisioned=False(NoCapacity)"},
		{ATOMIC, hour, &waits, 60 * MIN, "Accepted=True(Accepted) Failed=True(NoCapacity)"},
		{ATOMIC, hour, &unknown, 60 * MIN, "Accepted=True(Accepted) Failed=True(Expired)"},
		{ATOMIC, hour, &served, 60 * MIN,
		 "Accepted=True(Accepted) Provisioned=True(CapacityIsProvisioned)"},
		{ATOMIC, none, &waits, 7 * 24 * 60 * MIN,
		 "Accepted=True(Accepted) Failed=True(NoCapacity)"},
		{CHECK, none, &waits, 0, "Accepted=True(Accepted) Provisioned=False(NoCapacity)"},
		{CHECK, none, &never, 0, "Accepted=True(Accepted) Provisioned=False(TooBig)"},
		{CHECK, once, &waits, 0, "Accepted=True(Accepted) Failed=True(NoCapacity)"},
		{CHECK, once, &unknown, 0, "Accepted=True(Accepted)"},
		{CHECK, none, &served, 0,
		 "Accepted=True(Accepted) Provisioned=True(CapacityIsFound)"},
	};
	OWN(arena) a = arena_new();
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *const *p = rows[i].parameter;
		json_t *parameters = p[0] ? json_pack("{s:s}", p[0], p[1]) : NULL;
		const struct request_object *o =
			project(a, request(rows[i].class_, two(), parameters, NULL), &e);

		assert_string_equal(said(a, o, rows[i].said, CREATED + rows[i].after),
				    rows[i].text);
	}
}

static void a_booking_ends_and_what_is_over_stays_so(void **state)
{
	static const char *const ends[] = {"Failed", "BookingExpired", "CapacityRevoked"};
	const struct request_result waits = {.reason = "NoCapacity", .text = "place 3"};
	OWN(arena) a = arena_new();
	const struct request_object *o;
	struct conditions cs;
	struct err e;

	(void)state;
	o = project(a,
		    request(QUEUED, two(), NULL,
			    json_pack("[o,o]",
				      condition("theirs.example/x", "True", "2026-09-21T14:00:00Z"),
				      condition("Provisioned", "True", "2026-09-21T14:14:20Z"))),
		    &e);
	assert_int_equal(request_phase(o, CREATED + MIN), REQUEST_BOOKED);
	assert_int_equal(request_due(o), CREATED + 11 * MIN);
	assert_string_equal(said(a, o, &waits, CREATED + 11 * MIN - 1), "");
	assert_int_equal(request_phase(o, CREATED + 11 * MIN), REQUEST_OVER);
	assert_string_equal(said(a, o, &waits, CREATED + 11 * MIN),
			    "BookingExpired=True(CapacityReservationTimeExpired)");
	assert_true(request_conditions(o, &waits, CREATED + 11 * MIN, a, &cs));
	/* Three conditions: the one of another writer is repeated unchanged. */
	assert_int_equal(cs.n, 3);
	assert_string_equal(cs.v[0].type, "theirs.example/x");
	assert_string_equal(cs.v[0].message, "m");
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		o = project(a,
			    request(ATOMIC, two(), NULL,
				    json_pack("[o]",
					      condition(ends[i], "True", "2026-09-21T14:14:20Z"))),
			    &e);
		assert_int_equal(request_phase(o, CREATED + MIN), REQUEST_OVER);
		assert_string_equal(said(a, o, &waits, CREATED + 30 * 24 * 60 * MIN), "");
	}
}

/* --- pod slots -------------------------------------------------------------------------------- */

static struct tenant_pod pod(const char *uid, const char *node, struct resources requests)
{
	return (struct tenant_pod){
		.world = {.ns = "ns", .name = uid, .uid = uid, .node = node, .requests = requests}};
}

static void a_pod_takes_a_seat_of_its_set_and_spends_it_with_its_node(void **state)
{
	struct resource gpu = {"nvidia.com/gpu", quantity_of(8)}, cpu = {"cpu", quantity_of(1)};
	const struct world_pod large = {.requests = {&gpu, 1}}, small = {.requests = {&cpu, 1}};
	const struct world_pod *const like[] = {&large, &small};
	struct tenant_pod a1 = pod("a", NULL, small.requests), b = pod("b", NULL, small.requests),
			  c = pod("c", NULL, small.requests), d = pod("d", NULL, small.requests);
	OWN(arena) a = arena_new();
	const struct request_object *o;
	struct request_slots *s;
	struct world_pod w;
	struct err e;

	(void)state;
	o = project(a,
		    request(QUEUED, json_pack("[o,o]", set_of("t", 1), set_of("u", 2)), NULL, NULL),
		    &e);
	s = request_slots_new("ns", "train", o);
	assert_string_equal(request_slots_pod_name(s, 2, a), "train:1:1");
	assert_int_equal(request_slots_find(s, "train:1:1"), 2);
	assert_true(request_slots_find(s, "train:1:2") == SIZE_MAX);
	assert_true(request_slots_find(s, "train:2:0") == SIZE_MAX);
	assert_true(request_slots_find(s, "train:x") == SIZE_MAX);
	assert_int_equal(request_slots_take(s, &a1, like), 1);
	/* A pod that already has a slot gets no second one. */
	assert_true(request_slots_take(s, &a1, like) == SIZE_MAX);
	assert_int_equal(request_slots_take(s, &b, like), 2);
	/* The pod gets a slot of the other pod set. */
	assert_int_equal(request_slots_take(s, &c, like), 0);
	assert_true(request_slots_take(s, &d, like) == SIZE_MAX);
	assert_int_equal(request_slots_leave(s, &b), 2);
	a1.world.node = "n-1";
	assert_true(request_slots_take(s, &a1, like) == SIZE_MAX);
	/* The slot of a pod that is bound to a Node is used up and not returned. */
	assert_true(request_slots_leave(s, &a1) == SIZE_MAX);
	w = request_slots_pod(s, o, REQUEST_WAITS, 2, &small, a);
	assert_string_equal(w.gang.key, "ns/provisioningrequests.autoscaling.x-k8s.io/train");
	assert_int_equal(w.gang.min, 1); /* Two of the three slots are assigned to pods. */
	assert_string_equal(w.uid, "u1:1:1");
	assert_int_equal(w.also.n, 0);
	w = request_slots_pod(s, o, REQUEST_BOOKED, 2, &small, a);
	/* A booked slot needs an existing Node, so it creates no machine. */
	assert_string_equal(w.also.v[0].key, "kubernetes.io/hostname");
	request_slots_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_cannot_be_served_is_refused_by_name),
		cmocka_unit_test(whose_it_is_not_is_left_alone),
		cmocka_unit_test(conditions_follow_from_the_class_and_what_is_there),
		cmocka_unit_test(a_booking_ends_and_what_is_over_stays_so),
		cmocka_unit_test(a_pod_takes_a_seat_of_its_set_and_spends_it_with_its_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
