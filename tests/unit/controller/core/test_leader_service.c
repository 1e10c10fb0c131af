/* Tests the EndpointSlice of the leader's Service: who writes it, when, and what happens to it when
 * the leader changes. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>

#include "api/annotations.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/leader_service.h"
#include "tests/unit/kube/fake_api.h"

#define NS "drover-system"
#define SLICES "/apis/discovery.k8s.io/v1/namespaces/" NS "/endpointslices"
#define SLICE SLICES "/drover-leader"
#define LEASES "/apis/coordination.k8s.io/v1/namespaces/" NS "/leases/" CONTROLLER_LEASE
#define EVENTS "/api/v1/namespaces/" NS "/events"
#define TAKEOVER_MS 30000 /* longer than a Lease lasts, and a try to get it */

/* A replica with its own connection to the API server. */
struct replica {
	struct fake_api *f;
	char origin[64];
	struct http *http;
	struct context c;
	struct leader_service *s;
	/* True: the replica behaves as a stopped process, which does not learn that its Lease has
	 * expired. */
	bool stopped;
	unsigned done;
};

struct bed {
	struct fake_api f;
	struct replica a, b;
	/* Method of the requests to endpointslices that are answered with `status`; NULL: none. */
	const char *refused;
	int status;
	unsigned refusals;
	/* Called when the next request to the slice with method `before` arrives; NULL: nothing is
	 * called. */
	void (*meanwhile)(struct bed *b);
	const char *before;
};

static void on_started(int64_t transitions, void *arg)
{
	struct replica *r = arg;

	(void)transitions;
	r->c.leading = true;
	leader_service_lead(r->s);
}

static void on_stopped(void *arg)
{
	struct replica *r = arg;

	r->c.leading = r->stopped;
}

static void on_done(void *arg)
{
	((struct replica *)arg)->done++;
}

static bool serve(struct fake_api *f, struct httpd_req *q)
{
	struct bed *b = f->arg;
	void (*meanwhile)(struct bed *) = b->meanwhile;

	if (!str_starts(f->path, SLICES))
		return false;
	if (meanwhile && str_eq(httpd_method(q), b->before)) {
		b->meanwhile = NULL;
		meanwhile(b);
	}
	if (str_eq(httpd_method(q), "DELETE") &&
	    !str_eq(json_str_at(f->body, "preconditions", "resourceVersion"),
		    json_str_at(fake_api_get(f, SLICE), "metadata", "resourceVersion"))) {
		fake_api_status(q, 409, "Conflict", "the resourceVersion does not match");
		return true;
	}
	if (!str_eq(httpd_method(q), b->refused))
		return false;
	b->refusals++;
	fake_api_status(q, b->status, b->status == 403 ? "Forbidden" : "ServiceUnavailable",
			"endpointslices.discovery.k8s.io is forbidden");
	return true;
}

/* Starts a replica whose pod has the address ip. */
static void join(struct replica *r, struct bed *b, const char *name, const char *ip)
{
	struct kube_config config = {0};
	struct leader_service_spec s = {.service = LEADER_SERVICE,
					.pod_ip = ip,
					.node_name = "node-1",
					.agent_port = 8443,
					.media_port = 8080};
	struct fake_api *f = &b->f;

	*r = (struct replica){.f = f};
	str_format(r->origin, sizeof(r->origin), "https://%s.test:6443", name);
	http_mem_serve(f->net, r->origin, f->d);
	r->http =
		http_new(f->client_g, http_mem_transport(f->net, f->client_g, name, NULL, NULL), 0);
	config.server = r->origin;
	r->c.loop = f->loop;
	r->c.group = f->client_g;
	r->c.o.ns = NS;
	r->c.o.identity = name;
	r->c.host = fake_api_client(f, f->client_g, r->http,
				    &(struct kube_client_spec){.config = &config});
	r->c.events = kube_events_new(f->client_g, r->c.host, "drover.dev/controller", name);
	r->c.lease = kube_lease_new(f->client_g, &(struct kube_lease_spec){.client = r->c.host,
									   .ns = NS,
									   .name = CONTROLLER_LEASE,
									   .identity = name,
									   .on_started = on_started,
									   .on_stopped = on_stopped,
									   .arg = r});
	r->s = leader_service_new(&r->c, &s);
	fake_api_run(f, 1000);
}

static void leave(struct replica *r)
{
	if (!r->f)
		return;
	leader_service_free(r->s);
	kube_lease_free(r->c.lease);
	kube_events_free(r->c.events);
	kube_client_free(r->c.host);
	http_free(r->http);
}

static int setup(void **state)
{
	struct bed *b = calloc(1, sizeof(*b));

	fake_api_start(&b->f, NULL);
	b->f.serve = serve;
	b->f.arg = b;
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bed *b = *state;

	leave(&b->a);
	leave(&b->b);
	fake_api_stop(&b->f);
	free(b);
	return 0;
}

static json_t *endpoint(struct bed *b)
{
	return json_array_get(json_at(fake_api_get(&b->f, SLICE), "endpoints"), 0);
}

/* Returns the name of the pod in the slice; "": there is no slice. */
static const char *pod(struct bed *b)
{
	return str_or(json_str_at(endpoint(b), "targetRef", "name"), "");
}

static bool is_ready(struct bed *b)
{
	return json_true_at(endpoint(b), "conditions", "ready");
}

/* Returns the number of requests to the slice with this method, a creation included. */
static size_t sent(struct bed *b, const char *method)
{
	char line[256];

	str_format(line, sizeof(line), "%s %s", method, str_eq(method, "POST") ? SLICES : SLICE);
	return fake_api_count(&b->f, line);
}

/* Changes the slice as another writer does. */
static void change(struct bed *b, json_t *patch)
{
	json_t *o = json_merge_apply(fake_api_get(&b->f, SLICE), patch);
	char *text = json_text(o);

	fake_api_put(&b->f, SLICE, text);
	free(text);
	json_decref(o);
	json_decref(patch);
}

static void written_by_b(struct bed *b)
{
	change(b, json_pack("{s:[{s:[s], s:{s:s}}]}", "endpoints", "addresses", "10.2.0.2",
			    "targetRef", "name", "b"));
}

static void lead_is_lost_to_b(struct bed *b)
{
	b->a.c.leading = false;
	written_by_b(b);
}

/* Returns an event's text; NULL: no event has been written. */
static const char *event(struct bed *b, const char **reason)
{
	const char *path;
	json_t *o;

	json_object_foreach (b->f.objects, path, o) {
		if (!str_starts(path, EVENTS))
			continue;
		*reason = json_str_at(o, "reason");
		return json_str_at(o, "message");
	}
	return NULL;
}

/* --- the leader ------------------------------------------------------------------------------- */

static void the_leader_writes_its_pod_and_ports(void **state)
{
	struct bed *b = *state;
	json_t *o, *e;

	join(&b->a, b, "a", "10.2.0.1");
	o = fake_api_get(&b->f, SLICE);
	assert_non_null(o);
	e = endpoint(b);
	assert_string_equal(json_str_at(o, "metadata", "labels", "kubernetes.io/service-name"),
			    "drover");
	assert_string_equal(
		json_str_at(o, "metadata", "labels", "endpointslice.kubernetes.io/managed-by"),
		"drover.dev");
	assert_string_equal(json_str_at(o, "addressType"), "IPv4");
	assert_int_equal(json_array_size(json_at(o, "endpoints")), 1);
	assert_string_equal(json_string_value(json_array_get(json_at(e, "addresses"), 0)),
			    "10.2.0.1");
	assert_true(is_ready(b) && json_true_at(e, "conditions", "serving"));
	assert_true(json_is_false(json_at(e, "conditions", "terminating")));
	assert_string_equal(json_str_at(e, "nodeName"), "node-1");
	assert_string_equal(json_str_at(e, "targetRef", "kind"), "Pod");
	assert_string_equal(json_str_at(e, "targetRef", "namespace"), NS);
	assert_string_equal(pod(b), "a");
	assert_int_equal(json_array_size(json_at(o, "ports")), 2);
	for (size_t i = 0; i < 2; i++) {
		json_t *port = json_array_get(json_at(o, "ports"), i);

		assert_string_equal(json_str_at(port, "name"), i ? "media" : "agent");
		assert_string_equal(json_str_at(port, "protocol"), "TCP");
		assert_int_equal(json_int_at(port, "port"), i ? 8080 : 8443);
	}
}

static void a_slice_that_is_correct_is_only_read(void **state)
{
	struct bed *b = *state;
	size_t reads;

	join(&b->a, b, "a", "10.2.0.1");
	reads = sent(b, "GET");
	/* An admission webhook may add a member to each write; the version is still the one that
	 * was written. */
	json_object_set_new(endpoint(b), "zone", json_string("z-1"));
	fake_api_run(&b->f, 60 * LEADER_SERVICE_MS);
	assert_int_equal(sent(b, "PATCH"), 0);
	assert_int_equal(sent(b, "POST"), 1);
	assert_true(sent(b, "GET") - reads >= 59 && sent(b, "GET") - reads <= 61);
}

static void a_change_and_a_deletion_by_others_are_corrected(void **state)
{
	struct bed *b = *state;

	join(&b->a, b, "a", "10.2.0.1");
	written_by_b(b);
	fake_api_run(&b->f, LEADER_SERVICE_MS + 1000);
	assert_string_equal(pod(b), "a");
	change(b, json_pack("{s:[{s:s, s:i}]}", "ports", "name", "agent", "port", 1));
	fake_api_run(&b->f, LEADER_SERVICE_MS + 1000);
	assert_int_equal(json_array_size(json_at(fake_api_get(&b->f, SLICE), "ports")), 2);
	change(b, json_pack("{s:{s:{s:s}}}", "metadata", "labels", "kubernetes.io/service-name",
			    "other"));
	fake_api_run(&b->f, LEADER_SERVICE_MS + 1000);
	assert_string_equal(json_str_at(fake_api_get(&b->f, SLICE), "metadata", "labels",
					"kubernetes.io/service-name"),
			    "drover");
	/* A change that does not matter is left alone. */
	assert_int_equal(sent(b, "PATCH"), 3);
	change(b, json_pack("{s:{s:{s:s}}}", "metadata", "annotations", "a.example/b", "c"));
	fake_api_run(&b->f, LEADER_SERVICE_MS + 1000);
	assert_int_equal(sent(b, "PATCH"), 3);
	json_object_del(b->f.objects, SLICE);
	fake_api_run(&b->f, LEADER_SERVICE_MS + 1000);
	assert_string_equal(pod(b), "a");
	assert_string_equal(json_str_at(fake_api_get(&b->f, SLICE), "addressType"), "IPv4");
}

static void a_slice_of_the_other_address_family_is_replaced(void **state)
{
	struct bed *b = *state;

	fake_api_put(&b->f, SLICE,
		     "{\"metadata\":{\"name\":\"drover-leader\",\"uid\":\"u-1\"},\"addressType\":"
		     "\"IPv4\",\"endpoints\":[],\"ports\":[]}");
	join(&b->a, b, "a", "fd00::17");
	assert_string_equal(json_str_at(fake_api_get(&b->f, SLICE), "addressType"), "IPv6");
	assert_string_equal(pod(b), "a");
	assert_int_equal(sent(b, "DELETE"), 1);
	assert_int_equal(sent(b, "PATCH"), 0);
}

/* The slice is replaced between the leader's read and its deletion. */
static void a_slice_that_was_replaced_meanwhile_is_not_deleted(void **state)
{
	struct bed *b = *state;

	fake_api_put(&b->f, SLICE,
		     "{\"metadata\":{\"name\":\"drover-leader\",\"uid\":\"u-1\"},\"addressType\":"
		     "\"IPv4\",\"endpoints\":[],\"ports\":[]}");
	b->before = "DELETE";
	b->meanwhile = lead_is_lost_to_b;
	join(&b->a, b, "a", "fd00::17");
	fake_api_run(&b->f, 4 * LEADER_SERVICE_MS);
	assert_null(b->meanwhile);
	assert_int_equal(sent(b, "DELETE"), 1);
	assert_int_equal(sent(b, "POST"), 0);
	assert_string_equal(pod(b), "b");
}

/* --- another leader --------------------------------------------------------------------------- */

static void the_slice_follows_the_leader(void **state)
{
	struct bed *b = *state;

	join(&b->a, b, "a", "10.2.0.1");
	join(&b->b, b, "b", "10.2.0.2");
	assert_string_equal(pod(b), "a");
	http_mem_hang(b->f.net, b->a.origin, true);
	fake_api_run(&b->f, TAKEOVER_MS);
	assert_true(b->b.c.leading && !b->a.c.leading);
	assert_string_equal(pod(b), "b");
	assert_int_equal(sent(b, "PATCH"), 1);

	/* The former leader is connected again, and follows. */
	http_mem_hang(b->f.net, b->a.origin, false);
	fake_api_run(&b->f, 10 * LEADER_SERVICE_MS);
	assert_string_equal(pod(b), "b");
	assert_int_equal(sent(b, "PATCH"), 1);

	/* The former leader leads again. */
	http_mem_hang(b->f.net, b->b.origin, true);
	fake_api_run(&b->f, TAKEOVER_MS);
	assert_string_equal(pod(b), "a");
}

/* A replica whose process was stopped still assumes that it leads. */
static void a_replica_without_its_lease_writes_nothing(void **state)
{
	struct bed *b = *state;

	join(&b->a, b, "a", "10.2.0.1");
	join(&b->b, b, "b", "10.2.0.2");
	b->a.stopped = true;
	http_mem_hang(b->f.net, b->a.origin, true);
	fake_api_run(&b->f, TAKEOVER_MS);
	assert_string_equal(pod(b), "b");
	http_mem_hang(b->f.net, b->a.origin, false);
	assert_true(b->a.c.leading);
	leader_service_lead(b->a.s);
	fake_api_run(&b->f, 1000);
	assert_string_equal(pod(b), "b");
	assert_int_equal(sent(b, "PATCH"), 1);
}

/* The patch of a former leader was sent before its successor wrote, and arrives afterwards. */
static void a_late_patch_does_not_undo_the_successors_write(void **state)
{
	struct bed *b = *state;

	join(&b->a, b, "a", "10.2.0.1");
	change(b, json_pack("{s:[]}", "endpoints"));
	b->before = "PATCH";
	b->meanwhile = lead_is_lost_to_b;
	fake_api_run(&b->f, 4 * LEADER_SERVICE_MS);
	assert_null(b->meanwhile);
	assert_int_equal(sent(b, "PATCH"), 1);
	assert_string_equal(pod(b), "b");
}

static void a_leader_whose_patch_met_a_conflict_tries_again(void **state)
{
	struct bed *b = *state;

	join(&b->a, b, "a", "10.2.0.1");
	change(b, json_pack("{s:[]}", "endpoints"));
	b->before = "PATCH";
	b->meanwhile = written_by_b;
	fake_api_run(&b->f, LEADER_SERVICE_MS + 2000);
	assert_int_equal(sent(b, "PATCH"), 2);
	assert_string_equal(pod(b), "a");
}

/* --- errors ----------------------------------------------------------------------------------- */

static void a_missing_right_is_named_once_and_drover_goes_on(void **state)
{
	static const struct {
		const char *method, *verb;
	} rights[] = {{"GET", "get"}, {"POST", "create"}, {"PATCH", "patch"}};

	(void)state;
	for (size_t i = 0; i < sizeof(rights) / sizeof(rights[0]); i++) {
		const char *reason = NULL, *text;
		struct bed *b = NULL;
		char want[96];

		setup((void **)&b);
		b->refused = rights[i].method;
		b->status = 403;
		if (str_eq(b->refused, "PATCH"))
			fake_api_put(&b->f, SLICE,
				     "{\"metadata\":{\"name\":\"drover-leader\"},"
				     "\"addressType\":\"IPv4\"}");
		join(&b->a, b, "a", "10.2.0.1");
		fake_api_run(&b->f, 5 * LEADER_SERVICE_MS);
		assert_true(b->refusals >= 5 && b->refusals <= 7);
		text = event(b, &reason);
		assert_non_null(text);
		str_format(want, sizeof(want),
			   "cannot %s EndpointSlice drover-leader, by which machines reach",
			   rights[i].verb);
		assert_non_null(strstr(text, want));
		str_format(want, sizeof(want), "needs the right to %s endpointslices",
			   rights[i].verb);
		assert_non_null(strstr(text, want));
		assert_non_null(strstr(text, "deploy/rbac.yaml"));
		assert_string_equal(reason, "LeaderNotPublished");
		assert_int_equal(fake_api_count(&b->f, "POST " EVENTS), 1);
		assert_null(strstr(b->f.log, "PATCH " EVENTS));
		b->refused = NULL;
		fake_api_run(&b->f, LEADER_SERVICE_MS + 1000);
		assert_string_equal(pod(b), "a");
		teardown((void **)&b);
	}
}

static void an_error_that_passes_is_tried_again_soon(void **state)
{
	struct bed *b = *state;
	const char *reason;

	b->refused = "POST";
	b->status = 503;
	join(&b->a, b, "a", "10.2.0.1");
	assert_true(b->refusals > 0);
	b->refused = NULL;
	fake_api_run(&b->f, 2000);
	assert_string_equal(pod(b), "a");
	assert_null(event(b, &reason));
}

/* --- the end ---------------------------------------------------------------------------------- */

static void a_leader_that_stops_marks_its_endpoint(void **state)
{
	struct bed *b = *state;

	join(&b->a, b, "a", "10.2.0.1");
	leader_service_stop(b->a.s, on_done, &b->a);
	fake_api_run(&b->f, 1000);
	assert_int_equal(b->a.done, 1);
	assert_string_equal(pod(b), "a");
	assert_false(is_ready(b));
	assert_true(json_true_at(endpoint(b), "conditions", "terminating"));
	fake_api_run(&b->f, 5 * LEADER_SERVICE_MS);
	assert_false(is_ready(b));
	assert_int_equal(b->a.done, 1);

	/* The next leader's endpoint is ready. */
	join(&b->b, b, "b", "10.2.0.2");
	kube_lease_release(b->a.c.lease, on_done, &b->a);
	fake_api_run(&b->f, 5000);
	assert_string_equal(pod(b), "b");
	assert_true(is_ready(b));
}

static void a_leader_that_stops_leaves_the_slice_of_another(void **state)
{
	struct bed *b = *state;

	join(&b->a, b, "a", "10.2.0.1");
	b->before = "PATCH";
	b->meanwhile = written_by_b;
	leader_service_stop(b->a.s, on_done, &b->a);
	fake_api_run(&b->f, 5000);
	assert_null(b->meanwhile);
	assert_int_equal(b->a.done, 1);
	assert_string_equal(pod(b), "b");
}

static void the_end_does_not_wait_for_the_api_server(void **state)
{
	struct bed *b = *state;

	join(&b->a, b, "a", "10.2.0.1");
	join(&b->b, b, "b", "10.2.0.2");
	/* A replica that does not lead has nothing to mark. */
	leader_service_stop(b->b.s, on_done, &b->b);
	assert_int_equal(b->b.done, 1);
	http_mem_hang(b->f.net, b->a.origin, true);
	leader_service_stop(b->a.s, on_done, &b->a);
	fake_api_run(&b->f, 3000);
	assert_int_equal(b->a.done, 1);
	leader_service_stop(NULL, on_done, &b->a);
	assert_int_equal(b->a.done, 2);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(the_leader_writes_its_pod_and_ports),
		T(a_slice_that_is_correct_is_only_read),
		T(a_change_and_a_deletion_by_others_are_corrected),
		T(a_slice_of_the_other_address_family_is_replaced),
		T(a_slice_that_was_replaced_meanwhile_is_not_deleted),
		T(the_slice_follows_the_leader),
		T(a_replica_without_its_lease_writes_nothing),
		T(a_late_patch_does_not_undo_the_successors_write),
		T(a_leader_whose_patch_met_a_conflict_tries_again),
		cmocka_unit_test(a_missing_right_is_named_once_and_drover_goes_on),
		T(an_error_that_passes_is_tried_again_soon),
		T(a_leader_that_stops_marks_its_endpoint),
		T(a_leader_that_stops_leaves_the_slice_of_another),
		T(the_end_does_not_wait_for_the_api_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
