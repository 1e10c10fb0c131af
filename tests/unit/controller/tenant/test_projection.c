#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include "api/annotations.h"
#include "base/buf.h"
#include "base/data/scan.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/tenant/projection.h"
#include "controller/tenant/tenant.h"

static struct tenant team = {.name = (char *)"team-a"};

struct fixture {
	struct arena *a;
	struct err e;
};

static int setup(void **state)
{
	struct fixture *f = mem_new(struct fixture);

	f->a = arena_new();
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	arena_free(f->a);
	free(f);
	return 0;
}

/* Parses JSON that is written with single instead of double quotes. */
static json_t *read_json(const char *text)
{
	char *copy = mem_strdup(text);
	struct err e;
	json_t *j;

	for (char *c = copy; *c; c++)
		if (*c == '\'')
			*c = '"';
	j = json_parse(copy, strlen(copy), &e);
	if (!j)
		fail_msg("%s: %s", e.text, copy);
	free(copy);
	return j;
}

/* Returns o as a cache reads it: only the members in want. */
static json_t *as_read(const json_t *o, const struct scan_want *want)
{
	char *text = json_text(o);
	struct err e;
	json_t *j = scan_parse(text, strlen(text), want, &e);

	if (!j)
		fail_msg("%s: %s", e.text, text);
	free(text);
	return j;
}

static struct world_pod *pod_of(struct fixture *f, const json_t *o)
{
	OWN_JSON read = as_read(o, tenant_want_pod);

	return tenant_project_pod(read, f->a, &team, &f->e);
}

static struct tenant_node *node_of(struct fixture *f, const json_t *o)
{
	OWN_JSON read = as_read(o, tenant_want_node);

	return tenant_project_node(read, f->a, &team, &f->e);
}

/* Returns a pod with this spec, marked unschedulable. */
static struct world_pod *pod(struct fixture *f, const char *spec)
{
	OWN_JSON o = read_json(
		"{'metadata': {'namespace': 'ml', 'name': 'train', 'uid': 'u-1'},"
		" 'status': {'phase': 'Pending', "
		"'conditions': [{'type': 'PodScheduled', 'status': 'False',"
		" 'reason': 'Unschedulable', 'lastTransitionTime': '2026-12-01T10:00:00Z'}]}}");
	struct world_pod *p;

	json_object_set_new(o, "spec", read_json(spec));
	p = pod_of(f, o);
	assert_non_null(p);
	return p;
}

static struct world_pod *whole_pod(struct fixture *f, const char *text)
{
	OWN_JSON o = read_json(text);
	OWN_JSON named = json_pack("{s:{s:s, s:s, s:s}}", "metadata", "namespace", "default",
				   "name", "p", "uid", "u");

	json_object_update_recursive(named, o);
	return pod_of(f, named);
}

static void assert_requests(const struct world_pod *p, const char *want)
{
	char got[512] = "", q[QUANTITY_TEXT];
	size_t at = 0;

	assert_null(p->unsupported);
	for (size_t i = 0; i < p->requests.n; i++)
		at += (size_t)snprintf(got + at, sizeof(got) - at, "%s%s=%s", i ? " " : "",
				       p->requests.v[i].name,
				       quantity_format(p->requests.v[i].q, q));
	assert_string_equal(got, want);
}

/* --- draining --------------------------------------------------------------------------------- */

static void how_a_pod_goes_is_read_from_it(void **state)
{
	const struct tenant_pod *p = (const struct tenant_pod *)whole_pod(
		*state,
		"{'metadata': {'deletionTimestamp': '2026-12-01T10:00:00Z', 'annotations': {"
		"'drover.dev/checkpoint': '20m', 'drover.dev/checkpoint-requested': 'then',"
		" 'drover.dev/checkpoint-done': 'yes'}}, 'spec': {'nodeName': 'n-1',"
		" 'terminationGracePeriodSeconds': 600}, 'status': {'phase': 'Running'}}");

	assert_int_equal(p->grace_s, 600);
	assert_true(p->running && p->world.terminating);
	assert_int_equal(p->going_until, 1796119200000);
	assert_string_equal(p->checkpoint->wanted, "20m");
	assert_string_equal(p->checkpoint->requested, "then");
	assert_string_equal(p->checkpoint->done, "yes");
	p = (const struct tenant_pod *)whole_pod(
		*state, "{'spec': {'terminationGracePeriodSeconds': -5, 'nodeName': 'n-1'},"
			" 'status': {'phase': 'Pending'}}");
	assert_int_equal(p->grace_s, 30);
	assert_false(p->running || p->world.terminating || p->going_until);
	assert_null(p->checkpoint);
}

static void a_pod_that_waits_says_too_that_it_saves_its_work(void **state)
{
	assert_true(
		whole_pod(*state, "{'metadata': {'annotations': {'drover.dev/checkpoint': '20m'}}}")
			->saves);
	assert_true(whole_pod(*state,
			      "{'metadata': {'annotations': {'drover.dev/checkpoint': '20m'}},"
			      " 'spec': {'nodeName': 'n-1'}}")
			    ->saves);
	assert_false(
		whole_pod(*state, "{'metadata': {'annotations': {'drover.dev/checkpoint': 'no'}}}")
			->saves);
	assert_false(whole_pod(*state, "{}")->saves);
}

static void of_a_long_annotation_only_the_beginning_is_kept(void **state)
{
	struct fixture *f = *state;
	const struct tenant_pod *p = (const struct tenant_pod *)whole_pod(
		f,
		arena_printf(f->a,
			     "{'metadata': {'annotations': {'drover.dev/checkpoint-done': '%0*d'}},"
			     " 'spec': {'nodeName': 'n-1'}, 'status': {'phase': 'Running'}}",
			     100000, 1));

	assert_int_equal(strlen(p->checkpoint->done), 64);
}

static void a_node_says_who_cordoned_it_and_since_when_it_is_not_ready(void **state)
{
	struct fixture *f = *state;
	OWN_JSON o = read_json("{'metadata': {'name': 'n', 'uid': 'u'}, "
			       "'spec': {'unschedulable': true, 'taints': [{"
			       "'key': 'drover.dev/draining', 'value': 'Empty', "
			       "'effect': 'NoSchedule'}]}, 'status': {"
			       "'conditions': [{'type': 'Ready', 'status': 'Unknown',"
			       " 'lastTransitionTime': '2026-12-01T10:00:00Z'}]}}");
	OWN_JSON bare = read_json("{'metadata': {'name': 'n', 'uid': 'u'},"
				  " 'spec': {'unschedulable': true, 'taints': []}}");
	const struct tenant_node *n = node_of(f, o);

	assert_true(n->draining && n->world.unschedulable && !n->world.ready);
	assert_int_equal(n->ready_since, 1796119200000);
	n = node_of(f, bare);
	assert_true(!n->draining && n->world.unschedulable);
	assert_int_equal(n->ready_since, 0);
}

/* --- requests --------------------------------------------------------------------------------- */

static void containers_are_summed_and_sorted_by_name(void **state)
{
	assert_requests(pod(*state, "{'containers': [{'resources': {'requests': {"
				    "'nvidia.com/gpu': '2', 'cpu': '500m'}}},"
				    " {'resources': {'requests': {'cpu': '1500m', 'memory': '1Gi', "
				    "'nvidia.com/gpu': 1}}}, {}]}"),
			"cpu=2 memory=1Gi nvidia.com/gpu=3");
	assert_requests(pod(*state, "{'containers': [{}]}"), "");
	assert_requests(pod(*state, "{}"), "");
}

static void a_limit_stands_in_for_each_request_that_is_not_given(void **state)
{
	assert_requests(
		pod(*state,
		    "{'containers': [{'resources': {'limits': {'nvidia.com/gpu': '8', 'cpu': '9'},"
		    " 'requests': {'cpu': '1'}}}]}"),
		"cpu=1 nvidia.com/gpu=8");
	assert_requests(
		pod(*state, "{'containers': [{'resources': {'limits': {'nvidia.com/gpu': '8'}}}]}"),
		"nvidia.com/gpu=8");
}

static void an_init_container_counts_only_where_it_is_larger_than_the_rest(void **state)
{
	assert_requests(
		pod(*state,
		    "{'containers': [{'resources': {'requests': {'cpu': '2', 'memory': '1Gi'}}}],"
		    " 'initContainers': [{'resources': {'requests': {"
		    "'cpu': '1', 'memory': '3Gi'}}},"
		    "                    {'resources': {'requests': {'cpu': '3'}}}]}"),
		"cpu=3 memory=3Gi");
}

static void a_sidecar_runs_beside_the_containers_and_beside_later_init_containers(void **state)
{
	/* The sidecar (1) and the container (2) need 3. The init container before the sidecar needs
	 * 3, the one after it 3 + 1 = 4: the maximum counts. */
	assert_requests(pod(*state,
			    "{'containers': [{'resources': {'requests': {'cpu': '2'}}}],"
			    " 'initContainers': [{'restartPolicy': 'Always', "
			    "'resources': {'requests': {'cpu': '1'}}},"
			    "                    {'resources': {'requests': {'cpu': '3'}}}]}"),
			"cpu=4");
	assert_requests(pod(*state, "{'containers': [{'resources': {'requests': {'cpu': '2'}}}],"
				    " 'initContainers': [{'resources': {'requests': {'cpu': '3'}}},"
				    "                    {'restartPolicy': 'Always', "
				    "'resources': {'requests': {'cpu': '1'}}}]}"),
			"cpu=3");
	assert_requests(pod(*state, "{'containers': [{'resources': {'requests': {'cpu': '2'}}}],"
				    " 'initContainers': [{'restartPolicy': 'Always', "
				    "'resources': {'requests': {'cpu': '5'}}}]}"),
			"cpu=7");
}

static void what_the_pod_asks_for_as_a_whole_replaces_the_sum(void **state)
{
	assert_requests(pod(*state, "{'resources': {'requests': {'cpu': '3', 'memory': '1Gi'}},"
				    " 'containers': [{'resources': {'requests': {'cpu': '5', "
				    "'nvidia.com/gpu': '1'}}}]}"),
			"cpu=3 memory=1Gi nvidia.com/gpu=1");
}

static void overhead_comes_on_top_of_everything(void **state)
{
	assert_requests(pod(*state,
			    "{'overhead': {'cpu': '250m', 'memory': '64Mi'},"
			    " 'resources': {'requests': {'cpu': '1'}}, 'containers': [{}]}"),
			"cpu=1250m memory=64Mi");
	assert_requests(pod(*state,
			    "{'overhead': {'cpu': '1'}, "
			    "'containers': [{'resources': {'requests': {'cpu': '1'}}}],"
			    " 'initContainers': [{'resources': {'requests': {'cpu': '4'}}}]}"),
			"cpu=5");
}

static void a_host_port_is_asked_for_once_by_protocol_and_number(void **state)
{
	assert_requests(pod(*state,
			    "{'containers': [{'ports': [{'containerPort': 80},"
			    " {'containerPort': 80, 'hostPort': 8080, 'hostIP': '10.0.0.1'},"
			    " {'containerPort': 80, 'hostPort': 8080, 'hostIP': '10.0.0.2'},"
			    " {'hostPort': 53, 'protocol': 'UDP'}]}], 'initContainers': ["
			    "{'ports': [{'hostPort': 1}]},"
			    " {'restartPolicy': 'Always', 'ports': [{'hostPort': 2}]}]}"),
			":TCP/2=1 :TCP/8080=1 :UDP/53=1");
	assert_string_equal(
		pod(*state, "{'containers': [{'ports': [{'hostPort': 65536}]}]}")->unsupported,
		"resource requests that cannot be read");
	assert_string_equal(
		pod(*state, "{'containers': [{'ports': [{'hostPort': -1}]}]}")->unsupported,
		"resource requests that cannot be read");
}

static void the_runtime_class_is_read(void **state)
{
	assert_string_equal(pod(*state, "{'runtimeClassName': 'vnode'}")->runtime_class, "vnode");
	assert_null(pod(*state, "{}")->runtime_class);
}

static void a_quantity_that_is_none_makes_the_pod_unsupported_and_says_so(void **state)
{
	static const char *const bad[] = {"'lots'", "''", "'1e999'", "true", "null",
					  "1e300",  "{}", "['1']",   "'-1'", "-1"};
	char spec[256];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		for (int at = 0; at < 4; at++) {
			static const char *const places[] = {
				"{'containers': [{'resources': {'requests': {'cpu': %s}}}]}",
				"{'initContainers': [{'resources': {'limits': {'cpu': %s}}}]}",
				"{'overhead': {'cpu': %s}}",
				"{'resources': {'requests': {'cpu': %s}}}",
			};
			const char *cut = strstr(places[at], "%s");

			str_format(spec, sizeof(spec), "%.*s%s%s", (int)(cut - places[at]),
				   places[at], bad[i], cut + 2);
			if (!str_eq(pod(*state, spec)->unsupported,
				    "resource requests that cannot be read"))
				fail_msg("taken: %s", spec);
		}
	}
}

static void members_of_the_wrong_type_are_taken_for_absent(void **state)
{
	static const char *const odd[] = {
		"{'containers': 7}",
		"{'containers': {'a': 1}}",
		"{'containers': [1, 'x', null]}",
		"{'containers': [{'resources': 'x'}]}",
		"{'containers': [{'resources': {'requests': [1]}}]}",
		"{'overhead': []}",
		"{'initContainers': [[]]}",
		"{'tolerations': {}}",
		"{'tolerations': [1]}",
		"{'nodeSelector': []}",
		"{'nodeSelector': {'a': 1}}",
		"{'affinity': 1}",
		"{'affinity': {'nodeAffinity': []}}",
		"{'priority': 'high'}",
		"{'topologySpreadConstraints': 'x'}",
		"{'volumes': [7]}",
		"{'schedulingGates': {}}",
		"{'resourceClaims': 1}",
		"{'nodeName': 7}",
		"[]",
		"null",
		"'spec'",
	};

	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		const struct world_pod *p = pod(*state, odd[i]);

		if (p->unsupported || p->requests.n || !p->unschedulable)
			fail_msg("%s", odd[i]);
	}
}

static void append_many(struct buf *b, const char *item, int n)
{
	for (int i = 0; i < n; i++)
		buf_printf(b, "%s%s", i ? "," : "", item);
}

static void a_list_beyond_reason_makes_the_pod_unsupported_and_costs_little(void **state)
{
	static const char *const lists[] = {
		"{'containers': [",
		"{'initContainers': [",
		"{'affinity': {'nodeAffinity': {'requiredDuringSchedulingIgnoredDuringExecution': {"
		"'nodeSelectorTerms': [",
		"{'affinity': {'nodeAffinity': {"
		"'preferredDuringSchedulingIgnoredDuringExecution': [",
	};
	static const char *const ends[] = {"]}", "]}", "]}}}}", "]}}}"};
	struct fixture *f = *state;

	for (int i = 0; i < 4; i++) {
		struct buf b;

		buf_init(&b, 4 << 20);
		buf_puts(&b, lists[i]);
		append_many(&b, "{}", 100000);
		buf_puts(&b, ends[i]);
		assert_non_null(pod(f, b.data)->unsupported);
		buf_done(&b);
		assert_true(arena_size(f->a) < (1 << 20));
	}
}

static void more_resources_than_reason_make_the_pod_unsupported(void **state)
{
	struct buf b;

	buf_init(&b, 1 << 20);
	buf_puts(&b, "{'containers': [{'resources': {'requests': {");
	for (int i = 0; i < 257; i++)
		buf_printf(&b, "%s'example.com/r%d': 1", i ? "," : "", i);
	buf_puts(&b, "}}}]}");
	assert_non_null(pod(*state, b.data)->unsupported);
	buf_done(&b);
}

static void a_sum_past_all_numbers_saturates(void **state)
{
	const struct world_pod *p =
		pod(*state,
		    "{'containers': [{'resources': {'requests': {'cpu': '9223372036854775807'}}},"
		    " {'resources': {'requests': {'cpu': '9223372036854775807'}}}]}");

	assert_true(quantity_ceil(p->requests.v[0].q) == INT64_MAX);
}

/* --- demand ----------------------------------------------------------------------------------- */

static void a_marked_pod_is_demand_since_its_mark(void **state)
{
	const struct world_pod *p = pod(
		*state, "{'priority': 1000, 'priorityClassName': 'research', 'containers': [{}]}");

	assert_string_equal(p->tenant, "team-a");
	assert_string_equal(p->ns, "ml");
	assert_string_equal(p->name, "train");
	assert_string_equal(p->uid, "u-1");
	assert_true(p->unschedulable);
	assert_int_equal(p->since, 1796119200000);
	assert_int_equal(p->priority, 1000);
	assert_string_equal(((const struct tenant_pod *)p)->unplaced->priority_class, "research");
	assert_false(p->daemon);
}

#define MARK                                                                                       \
	"'conditions': [{'type': 'PodScheduled', 'status': 'False', 'reason': 'Unschedulable'}]"

static void what_waits_for_something_else_is_no_demand(void **state)
{
	static const char *const others[] = {
		"{'status': {'phase': 'Pending'}}",
		"{'status': {'conditions': [{'type': 'PodScheduled', 'status': 'True', "
		"'reason': 'Unschedulable'}]}}",
		"{'status': {'conditions': [{'type': 'PodScheduled', 'status': 'False', "
		"'reason': 'SchedulingGated'}]}}",
		"{'status': {'conditions': [{'type': 'Ready', 'status': 'False', "
		"'reason': 'Unschedulable'}]}}",
		"{'status': {'conditions': 'Unschedulable'}}",
		"{'status': {" MARK "}, 'spec': {'nodeName': 'n-1'}}",
		"{'status': {" MARK "}, 'spec': {'schedulingGates': [{'name': 'quota'}]}}",
		"{'status': {" MARK "}, 'metadata': {'deletionTimestamp': '2026-12-01T10:00:00Z'}}",
		"{'status': {" MARK
		"}, 'metadata': {'ownerReferences': [{'kind': 'DaemonSet', 'controller': true}]}}",
		"{'status': {" MARK
		"}, 'metadata': {'annotations': {'kubernetes.io/config.mirror': 'x'}}}",
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		const struct world_pod *p = whole_pod(*state, others[i]);

		if (!p || p->unschedulable)
			fail_msg("taken for demand: %s", others[i]);
	}
	assert_true(whole_pod(*state, "{'status': {" MARK "}}")->unschedulable);
	assert_int_equal(whole_pod(*state, "{'status': {" MARK "}}")->since, 0);
	assert_true(whole_pod(*state,
			      "{'status': {" MARK
			      ", 'nominatedNodeName': ''}, 'spec': {'schedulingGates': []}}")
			    ->unschedulable);
}

#define GANG "'metadata': {'annotations': {'drover.dev/gang': 'g', 'drover.dev/gang-size': '2'}}"
#define GROUP "'metadata': {'annotations': {'scheduling.k8s.io/group-name': 'g'}}"

/* Schedulers other than kube-scheduler give other reasons for pods that wait for the rest of their
 * gang. */
static void a_pod_of_a_gang_is_demand_whatever_its_scheduler_says(void **state)
{
	static const char *const reasons[] = {"Unschedulable", "Schedulable", "Undetermined",
					      "SchedulerError", "NotEnoughResources"};
	static const char *const gangs[] = {GANG, GROUP};
	OWN(arena) a = arena_new();

	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++) {
		const char *status = arena_printf(
			a,
			"'status': {'conditions': [{'type': 'PodScheduled', 'status': 'False',"
			" 'reason': '%s'}]}",
			reasons[i]);

		for (size_t k = 0; k < 2; k++)
			assert_true(whole_pod(*state, arena_printf(a, "{%s, %s}", status, gangs[k]))
					    ->unschedulable);
		assert_int_equal(whole_pod(*state, arena_printf(a, "{%s}", status))->unschedulable,
				 !i);
	}
	assert_false(
		whole_pod(*state,
			  "{'status': {'conditions': [{'type': 'PodScheduled', 'status': 'False',"
			  " 'reason': 'SchedulingGated'}]}, " GANG "}")
			->unschedulable);
	assert_false(
		whole_pod(*state, "{'status': {'phase': 'Pending'}, " GANG "}")->unschedulable);
}

static void of_a_gang_what_succeeded_is_kept(void **state)
{
	const struct world_pod *p = whole_pod(
		*state,
		"{'spec': {'nodeName': 'n-1'}, 'status': {'phase': 'Succeeded'}, " GANG "}");

	assert_non_null(p);
	assert_true(p->done);
	assert_null(p->node);
	assert_false(p->unschedulable);
	assert_string_equal(p->name, "p");
	assert_int_equal(p->requests.n, 0);
	assert_null(whole_pod(*state, "{'status': {'phase': 'Failed'}, " GANG "}"));
	assert_null(whole_pod(
		*state, "{'status': {'phase': 'Succeeded'}, "
			"'metadata': {'deletionTimestamp': '2026-12-01T10:00:00Z',"
			" 'annotations': {'drover.dev/gang': 'g', 'drover.dev/gang-size': '2'}}}"));
}

static void a_pod_may_be_nominated_for_a_node(void **state)
{
	const struct world_pod *p =
		whole_pod(*state, "{'status': {" MARK ", 'nominatedNodeName': 'n-1'}}");

	assert_true(p->unschedulable && p->preempts);
	assert_string_equal(p->nominated, "n-1");
	p = whole_pod(*state, "{'status': {" MARK ", 'nominatedNodeName': 'n-1'},"
			      " 'spec': {'preemptionPolicy': 'Never'}}");
	assert_false(p->preempts);
	p = whole_pod(*state, "{'status': {" MARK ", 'nominatedNodeName': ''}}");
	assert_null(p->nominated);
	p = whole_pod(*state, "{'status': {" MARK ", 'nominatedNodeName': 'n-1'},"
			      " 'spec': {'nodeName': 'n-2'}}");
	assert_null(p->nominated);
}

static void a_finished_pod_is_left_out(void **state)
{
	assert_null(whole_pod(*state, "{'status': {'phase': 'Succeeded'}}"));
	assert_null(whole_pod(*state, "{'status': {'phase': 'Failed'}}"));
	assert_non_null(whole_pod(*state, "{'status': {'phase': 'Running'}}"));
}

#define GOING "'metadata': {'deletionTimestamp': '2026-11-22T00:35:41Z'}"

/* If the machine were switched off now, the pod object would remain until kube-controller-manager's
 * pod GC deletes it a minute later. */
static void a_finished_pod_that_is_being_deleted_keeps_its_node_until_it_is_gone(void **state)
{
	const struct tenant_pod *p = (const struct tenant_pod *)whole_pod(
		*state, "{" GOING
			", 'status': {'phase': 'Failed'}, 'spec': {'nodeName': 'n1', 'containers': "
			"[{'resources': {'requests': {'cpu': '1'}}}]}}");

	assert_non_null(p);
	assert_string_equal(p->world.node, "n1");
	assert_true(p->world.terminating);
	assert_false(p->running);
	assert_int_equal(p->world.requests.n, 0);
	/* The pod was never bound to a Node, so no kubelet has it. */
	assert_null(whole_pod(
		*state, "{" GOING ", 'status': {'phase': 'Failed'}, 'spec': {'nodeName': null}}"));
}

static void daemon_and_static_pods_are_known_for_what_they_are(void **state)
{
	assert_true(whole_pod(*state, "{'metadata': {'ownerReferences': [{'kind': 'DaemonSet', "
				      "'controller': true}]}}")
			    ->daemon);
	assert_true(
		whole_pod(
			*state,
			"{'metadata': {'ownerReferences': [{'kind': 'Node', 'controller': true}]}}")
			->daemon);
	assert_true(whole_pod(*state,
			      "{'metadata': {'annotations': {'kubernetes.io/config.mirror': 'x'}}}")
			    ->daemon);
	assert_false(whole_pod(*state, "{'metadata': {'ownerReferences': [{'kind': 'DaemonSet'}]}}")
			     ->daemon);
	assert_false(
		whole_pod(
			*state,
			"{'metadata': {'ownerReferences': [{'kind': 'Job', 'controller': true}]}}")
			->daemon);
}

static void of_a_bound_pod_only_its_size_is_kept(void **state)
{
	const struct world_pod *p =
		pod(*state,
		    "{'nodeName': 'n-1', 'nodeSelector': {'a': 'b'}, 'tolerations': [{'key': 'x'}],"
		    " 'containers': [{'resources': {'requests': {'cpu': '1'}}}],"
		    " 'volumes': [{'persistentVolumeClaim': {'claimName': 'c'}}]}");

	assert_string_equal(p->node, "n-1");
	assert_requests(p, "cpu=1");
	assert_int_equal(p->node_selector.n + p->tolerations.n + p->labels.n, 0);
}

/* --- constraints ------------------------------------------------------------------------------ */

static void selectors_tolerations_and_affinity_are_read(void **state)
{
	const struct world_pod *p = pod(
		*state,
		"{'nodeSelector': {'z': '1', 'a': '2'},"
		" 'tolerations': [{'operator': 'Exists'}, "
		"{'key': 'gpu', 'value': 'yes', 'effect': 'NoSchedule'}],"
		" 'affinity': {'nodeAffinity': {"
		"  'requiredDuringSchedulingIgnoredDuringExecution': {'nodeSelectorTerms': ["
		"    {'matchExpressions': [{'key': 'gpu', 'operator': 'In', "
		"'values': ['h100', 'h200']}]},"
		"    {'matchExpressions': [{'key': 'mem', 'operator': 'Gt', 'values': ['80']}]}]},"
		"  'preferredDuringSchedulingIgnoredDuringExecution': [{'weight': 7, 'preference':"
		"    {'matchExpressions': [{'key': 'rack', 'operator': 'NotIn', "
		"'values': ['r1']}]}}]}}}");

	assert_null(p->unsupported);
	assert_string_equal(labels_get(&p->node_selector, "a"), "2");
	assert_string_equal(p->node_selector.v[1].key, "z");
	assert_int_equal(p->tolerations.n, 2);
	assert_int_equal(p->tolerations.v[0].op, WORLD_TOLERATES_EXISTS);
	assert_null(p->tolerations.v[0].key);
	assert_int_equal(p->tolerations.v[1].op, WORLD_TOLERATES_EQUAL);
	assert_string_equal(p->tolerations.v[1].value, "yes");
	assert_string_equal(p->tolerations.v[1].effect, "NoSchedule");
	assert_int_equal(p->affinity.n, 2);
	assert_int_equal(p->affinity.v[0].v[0].op, SELECTOR_IN);
	assert_int_equal(p->affinity.v[0].v[0].nvalues, 2);
	assert_string_equal(p->affinity.v[0].v[0].values[1], "h200");
	assert_int_equal(p->affinity.v[1].v[0].op, SELECTOR_GT);
	assert_int_equal(p->preferences.n, 1);
	assert_int_equal(p->preferences.v[0].weight, 7);
	assert_int_equal(p->preferences.v[0].term.v[0].op, SELECTOR_NOT_IN);
}

#define SPREAD                                                                                     \
	"{'topologySpreadConstraints': [{'whenUnsatisfiable': 'DoNotSchedule', "                   \
	"'topologyKey': 'zone', 'maxSkew': 1"

static void which_nodes_a_spread_counts_is_read(void **state)
{
	static const struct {
		const char *spec;
		int min_domains;
		bool ignore_affinity, honor_taints;
	} cases[] = {
		{SPREAD "}]}", 0, false, false},
		{SPREAD ", 'minDomains': 3}]}", 3, false, false},
		{SPREAD ", 'nodeAffinityPolicy': 'Honor', 'nodeTaintsPolicy': 'Ignore'}]}", 0,
		 false, false},
		{SPREAD ", 'nodeAffinityPolicy': 'Ignore'}]}", 0, true, false},
		{SPREAD ", 'nodeTaintsPolicy': 'Honor'}]}", 0, false, true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct world_pod *p = pod(*state, cases[i].spec);

		assert_null(p->unsupported);
		assert_int_equal(p->topology.n, 1);
		assert_int_equal(p->topology.v[0].min_domains, cases[i].min_domains);
		assert_int_equal(p->topology.v[0].nodes.ignore_affinity, cases[i].ignore_affinity);
		assert_int_equal(p->topology.v[0].nodes.honor_taints, cases[i].honor_taints);
	}
}

static void constraints_that_the_planner_does_not_judge_are_named(void **state)
{
	static const struct {
		const char *spec, *says;
	} cases[] = {
		{"{'affinity': {'podAffinity': {"
		 "'requiredDuringSchedulingIgnoredDuringExecution': [{}]}}}",
		 "a required pod affinity that cannot be read"},
		{"{'affinity': {'podAntiAffinity': {"
		 "'requiredDuringSchedulingIgnoredDuringExecution': [{}]}}}",
		 "a required pod anti-affinity that cannot be read"},
		{"{'affinity': {'podAntiAffinity': {"
		 "'requiredDuringSchedulingIgnoredDuringExecution': ["
		 "{'topologyKey': 'zone', 'namespaceSelector': {'matchLabels': {'team': 'x'}}}]}}}",
		 "required pod anti-affinity with a namespaceSelector"},
		{SPREAD "}]}", NULL},
		{SPREAD ", 'nodeAffinityPolicy': 'Sometimes'}]}",
		 "topologySpreadConstraints that cannot be read"},
		{SPREAD ", 'nodeTaintsPolicy': 'Sometimes'}]}",
		 "topologySpreadConstraints that cannot be read"},
		{SPREAD
		 ", 'labelSelector': {'matchExpressions': [{'key': 'a', 'operator': 'Odd'}]}}]}",
		 "topologySpreadConstraints that cannot be read"},
		{SPREAD ", 'labelSelector': {'matchLabels': {'a': 1}}}]}",
		 "topologySpreadConstraints that cannot be read"},
		{"{'affinity': {'podAffinity': {"
		 "'requiredDuringSchedulingIgnoredDuringExecution': []},"
		 " 'podAntiAffinity': {'requiredDuringSchedulingIgnoredDuringExecution': [],"
		 " 'preferredDuringSchedulingIgnoredDuringExecution': [{}]}}}",
		 NULL},
		{"{'topologySpreadConstraints': [{'whenUnsatisfiable': 'ScheduleAnyway'}, "
		 "{'whenUnsatisfiable': 'DoNotSchedule'}]}",
		 "topologySpreadConstraints that cannot be read"},
		{"{'topologySpreadConstraints': [{'whenUnsatisfiable': 'ScheduleAnyway'}]}", NULL},
		{"{'volumes': [{'emptyDir': {}}, {'persistentVolumeClaim': {'claimName': 'c'}}]}",
		 NULL},
		{"{'volumes': [{'persistentVolumeClaim': {}}]}", "volumes that cannot be read"},
		{"{'volumes': [{'ephemeral': {}}]}", "volumes that cannot be read"},
		{"{'volumes': [{'emptyDir': {}}]}", NULL},
		{"{'resourceClaims': [{'name': 'gpu', "
		 "'resourceClaimTemplateName': 'one-gpu'}, {'name': 'b'}]}",
		 "resource claim gpu (ResourceClaimTemplate one-gpu)"},
		{"{'resourceClaims': [{'name': 'net', 'resourceClaimName': 'rail-1'}]}",
		 "resource claim net (ResourceClaim rail-1)"},
		{"{'resourceClaims': [{}]}", "resource claim  (ResourceClaimTemplate )"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (!str_eq(pod(*state, cases[i].spec)->unsupported, cases[i].says))
			fail_msg("%s", cases[i].spec);
}

static void a_pod_has_the_claims_of_its_volumes(void **state)
{
	static const struct {
		const char *volumes, *claims;
	} cases[] = {
		{"[]", ""},
		{"[{'name': 'a', 'emptyDir': {}}]", ""},
		{"[{'name': 'a', 'persistentVolumeClaim': {'claimName': 'c'}}]", "c"},
		{"[{'name': 'a', 'ephemeral': {'volumeClaimTemplate': {}}}]", "train-a(a)"},
		{"[{'name': 'a', 'persistentVolumeClaim': {'claimName': 'c'}}, "
		 "{'name': 'b', 'ephemeral': {}},"
		 " {'name': 'd', 'persistentVolumeClaim': {'claimName': 'c', 'readOnly': true}}]",
		 "c train-b(b)"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture *f = *state;
		const char *spec = arena_printf(f->a, "{'volumes': %s}", cases[i].volumes);
		const struct tenant_pod *p = (const struct tenant_pod *)pod(f, spec);
		const char *text = "";

		for (size_t k = 0; k < p->nclaims; k++)
			text = arena_printf(f->a, "%s%s%s%s%s%s", text, k ? " " : "",
					    p->claims[k].name, p->claims[k].ephemeral ? "(" : "",
					    str_or(p->claims[k].ephemeral, ""),
					    p->claims[k].ephemeral ? ")" : "");
		assert_string_equal(text, cases[i].claims);
	}
}

static struct world_pod *labelled(struct fixture *f, const char *spec)
{
	OWN_JSON o = read_json("{'metadata': {'namespace': 'ml', 'name': 'p', 'uid': 'u', "
			       "'labels': {'app': 'a', 'rev': '7'}}}");

	json_object_set_new(o, "spec", read_json(spec));
	return pod_of(f, o);
}

static bool picks(const struct world_topology *t, const char *app, const char *rev)
{
	struct label l[] = {{"app", app}, {"rev", rev}};
	const struct labels labels = {l, rev ? 2 : 1};

	return selector_matches(&t->pods, &labels);
}

static void where_other_pods_let_it_be_is_read(void **state)
{
	const struct world_pod *p = labelled(
		*state,
		"{'topologySpreadConstraints': [{'whenUnsatisfiable': 'DoNotSchedule', "
		"'topologyKey': 'zone',"
		"   'maxSkew': 2, 'labelSelector': {'matchLabels': {'app': 'a'}}, "
		"'matchLabelKeys': ['rev', 'none']},"
		"  {'whenUnsatisfiable': 'ScheduleAnyway', 'topologyKey': 'rack', 'maxSkew': 1}],"
		" 'affinity': {'podAffinity': {'requiredDuringSchedulingIgnoredDuringExecution': ["
		"   {'topologyKey': 'rack', 'labelSelector': {'matchExpressions': ["
		"    {'key': 'app', 'operator': 'In', 'values': ['a', 'b']}]}, 'namespaces': ['x', "
		"'y']}]},  'podAntiAffinity': {'requiredDuringSchedulingIgnoredDuringExecution': ["
		"   {'topologyKey': 'kubernetes.io/hostname', 'labelSelector': {}, "
		"'mismatchLabelKeys': ['rev']}]}}}");
	const struct world_topology *t = p->topology.v;

	assert_null(p->unsupported);
	assert_int_equal(p->topology.n, 3);
	assert_int_equal(t[0].kind, WORLD_APART);
	assert_string_equal(t[0].key, "kubernetes.io/hostname");
	assert_int_equal(t[0].nnamespaces, 0);
	assert_true(picks(&t[0], "b", "8") && !picks(&t[0], "b", "7"));
	assert_int_equal(t[1].kind, WORLD_TOGETHER);
	assert_string_equal(t[1].namespaces[1], "y");
	assert_true(picks(&t[1], "b", NULL) && !picks(&t[1], "c", NULL));
	assert_int_equal(t[2].kind, WORLD_SPREAD);
	assert_int_equal(t[2].max_skew, 2);
	assert_true(picks(&t[2], "a", "7") && !picks(&t[2], "a", "8") && !picks(&t[2], "b", "7"));
}

#define APART_BY(where)                                                                            \
	"'affinity': {'podAntiAffinity': {'requiredDuringSchedulingIgnoredDuringExecution': ["     \
	"{'topologyKey': 'zone', 'labelSelector': {}, 'namespaceSelector': " where "}]}}}"

static void an_empty_namespace_selector_is_every_namespace(void **state)
{
	const struct world_pod *p = labelled(*state, "{" APART_BY("{}"));

	assert_null(p->unsupported);
	assert_true(p->topology.v[0].everywhere);
	p = labelled(*state, "{" APART_BY("null"));
	assert_false(p->topology.v[0].everywhere);
}

/* drover does not read Namespaces, so the term is assumed to keep away pods in all of them. */
static void a_pod_that_runs_keeps_others_away_by_any_namespace_selector(void **state)
{
	const struct world_pod *p =
		labelled(*state, "{'nodeName': 'n-1', " APART_BY("{'matchLabels': {'team': 'x'}}"));

	assert_int_equal(p->topology.n, 1);
	assert_true(p->topology.v[0].everywhere);
}

static void a_selector_that_is_absent_selects_nobody(void **state)
{
	const struct world_pod *p =
		labelled(*state, "{'topologySpreadConstraints': [{'whenUnsatisfiable': "
				 "'DoNotSchedule', 'topologyKey': 'zone', 'maxSkew': 1}]}");

	assert_int_equal(p->topology.n, 1);
	assert_false(picks(&p->topology.v[0], "a", NULL));
	assert_false(picks(&p->topology.v[0], "a", "7"));
}

static void a_bound_pod_keeps_its_labels_and_whom_it_bans(void **state)
{
	const struct world_pod *p = labelled(
		*state,
		"{'nodeName': 'n-1', "
		"'topologySpreadConstraints': [{'whenUnsatisfiable': 'DoNotSchedule',"
		"  'topologyKey': 'zone', 'maxSkew': 1, 'labelSelector': {}}],"
		" 'affinity': {'podAffinity': {'requiredDuringSchedulingIgnoredDuringExecution': ["
		"   {'topologyKey': 'zone', 'labelSelector': {}}]},"
		"  'podAntiAffinity': {'requiredDuringSchedulingIgnoredDuringExecution': ["
		"   {'topologyKey': 'zone', 'labelSelector': {'matchLabels': {'app': 'a'}}}]}}}");

	assert_string_equal(labels_get(&p->labels, "app"), "a");
	assert_int_equal(p->topology.n, 1);
	assert_int_equal(p->topology.v[0].kind, WORLD_APART);
	assert_true(picks(&p->topology.v[0], "a", NULL));
}

/* --- nodes ------------------------------------------------------------------------------------ */

static struct tenant_node *node(struct fixture *f, const char *text)
{
	OWN_JSON o = read_json(text);

	return node_of(f, o);
}

static void a_node_says_who_it_is_and_what_it_holds(void **state)
{
	const struct tenant_node *n = node(
		*state, "{'metadata': {'name': 'h100-x', 'uid': 'u-9', 'resourceVersion': '17',"
			" 'creationTimestamp': '2026-12-01T10:00:00Z', "
			"'labels': {'drover.dev/nodeclaim': 'h100-x', 'a': 'b'}},"
			" 'spec': {'providerID': 'drover://hall-a/m-1', 'unschedulable': true,"
			"  'taints': [{'key': 'gpu', 'value': 'yes', 'effect': 'NoSchedule'}]},"
			" 'status': {'capacity': {'cpu': '8'}, "
			"'allocatable': {'nvidia.com/gpu': '8', 'cpu': '7500m', 'x': 'lots'},"
			"  'conditions': [{'type': 'MemoryPressure', 'status': 'False'}, "
			"{'type': 'Ready', 'status': 'True'}],"
			"  'nodeInfo': {'systemUUID': 'AB', 'bootID': 'boot-1'}}}");

	assert_string_equal(n->world.tenant, "team-a");
	assert_string_equal(n->world.name, "h100-x");
	assert_string_equal(n->world.claim, "h100-x");
	assert_true(n->world.ready);
	assert_true(n->world.unschedulable);
	assert_int_equal(n->world.allocatable.n, 2); /* values that cannot be parsed are omitted */
	assert_string_equal(n->world.allocatable.v[0].name, "cpu");
	assert_int_equal(quantity_milli_floor(n->world.allocatable.v[0].q), 7500);
	assert_int_equal(n->capacity.n, 1);
	assert_int_equal(n->world.taints.n, 1);
	assert_string_equal(n->world.taints.v[0].value, "yes");
	assert_false(n->unregistered);
	assert_string_equal(n->uid, "u-9");
	assert_string_equal(n->provider_id, "drover://hall-a/m-1");
	assert_string_equal(n->system_uuid, "AB");
	assert_string_equal(n->boot_id, "boot-1");
	assert_int_equal(n->created, 1796119200000);
	assert_string_equal(n->taints_json,
			    "[{\"key\":\"gpu\",\"value\":\"yes\",\"effect\":\"NoSchedule\"}]");
}

static void a_heartbeat_is_no_news_of_a_node(void **state)
{
	static const char is[] =
		"{'metadata': {'name': 'n', 'uid': 'u', 'resourceVersion': '1', "
		"'labels': {'a': 'b'}},"
		" 'spec': {'providerID': 'p', 'taints': [{'key': 'gpu', 'effect': 'NoSchedule'}]},"
		" 'status': {'capacity': {'cpu': '8'}, 'allocatable': {'cpu': '7'},"
		"  'conditions': [{'type': 'Ready', 'status': 'True', "
		"'lastHeartbeatTime': '2026-12-01T10:00:00Z',"
		"   'lastTransitionTime': '2026-12-01T09:00:00Z'}], "
		"'nodeInfo': {'systemUUID': 's', 'bootID': 'one'}}}";
	/* Replacements in the Node's text. The first two change members that are not compared. */
	static const char *const changes[][2] = {
		{"'resourceVersion': '1'", "'resourceVersion': '2'"},
		{"10:00:00Z", "10:00:10Z"},
		{"'uid': 'u'", "'uid': 'v'"},
		{"'a': 'b'", "'a': 'c'"},
		{"'a': 'b'", "'a': 'b', 'c': 'd'"},
		{"'providerID': 'p'", "'providerID': 'q'"},
		{"'key': 'gpu'", "'key': 'cpu'"},
		{"'spec': {", "'spec': {'unschedulable': true, "},
		{"'capacity': {'cpu': '8'}", "'capacity': {'cpu': '9'}"},
		{"'allocatable': {'cpu': '7'}", "'allocatable': {}"},
		{"'status': 'True'", "'status': 'Unknown'"},
		{"09:00:00Z", "09:00:01Z"},
		{"'systemUUID': 's'", "'systemUUID': 't'"},
		{"'bootID': 'one'", "'bootID': 'two'"},
	};
	const struct tenant_node *n = node(*state, is);

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		const char *at = strstr(is, changes[i][0]);
		char text[1024];

		assert_non_null(at);
		str_format(text, sizeof(text), "%.*s%s%s", (int)(at - is), is, changes[i][1],
			   at + strlen(changes[i][0]));
		assert_int_equal(tenant_node_same(n, node(*state, text)), i < 2);
	}
}

static void a_node_with_our_taint_is_not_registered_yet(void **state)
{
	assert_true(node(*state, "{'spec': {'taints': [{'key': 'a'}, "
				 "{'key': 'drover.dev/unregistered', 'effect': 'NoSchedule'}]}}")
			    ->unregistered);
}

static void a_node_that_says_next_to_nothing_is_taken_as_it_is(void **state)
{
	static const char *const poor[] = {
		"{}",
		"{'metadata': {}, 'spec': {}, 'status': {}}",
		"{'metadata': 1, 'spec': [], 'status': 'x'}",
		"{'spec': {'taints': 'x'}}",
		"{'status': {'conditions': {}, 'allocatable': [], 'nodeInfo': 3}}",
		"{'metadata': {'creationTimestamp': 'yesterday', "
		"'labels': {'drover.dev/nodeclaim': 5}}}",
		"{'status': {'conditions': [{'type': 'Ready', 'status': 'Unknown'}], "
		"'allocatable': {'cpu': '-4'}}}",
	};

	for (size_t i = 0; i < sizeof(poor) / sizeof(poor[0]); i++) {
		const struct tenant_node *n = node(*state, poor[i]);

		assert_non_null(n);
		assert_false(n->world.ready);
		assert_null(n->world.claim);
		assert_null(n->system_uuid);
		assert_int_equal(n->world.allocatable.n, 0);
		assert_int_equal(n->created, 0);
	}
	assert_string_equal(node(*state, "{'spec': {'taints': [{}, 7]}}")->world.taints.v[1].key,
			    "");
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* --- the members that a cache reads ----------------------------------------------------------- */

static void tell_labels(struct buf *b, const char *what, const struct labels *l)
{
	for (size_t i = 0; i < l->n; i++)
		buf_printf(b, " %s %s=%s", what, l->v[i].key, str_or(l->v[i].value, "-"));
}

static void tell_amounts(struct buf *b, const char *what, const struct resources *r)
{
	for (size_t i = 0; i < r->n; i++)
		buf_printf(b, " %s %s=%lld", what, r->v[i].name,
			   (long long)quantity_milli_floor(r->v[i].q));
}

static void tell_selector(struct buf *b, const struct selector *s)
{
	for (size_t i = 0; i < s->n; i++) {
		buf_printf(b, " (%s %d", s->v[i].key, s->v[i].op);
		for (size_t k = 0; k < s->v[i].nvalues; k++)
			buf_printf(b, " %s", s->v[i].values[k]);
		buf_puts(b, ")");
	}
}

static void tell_topology(struct buf *b, const struct world_topology *t)
{
	buf_printf(b, " topology %d %s %lld %lld %d %d", t->kind, t->key, (long long)t->max_skew,
		   (long long)t->min_domains, t->nodes.ignore_affinity, t->nodes.honor_taints);
	tell_selector(b, &t->pods);
	for (size_t i = 0; i < t->nnamespaces; i++)
		buf_printf(b, " in %s", t->namespaces[i]);
}

/* Budgets of scope Workload count a pod for the workload that created it. */
static void a_pod_is_a_part_of_what_made_it(void **state)
{
	static const struct {
		const char *meta, *said, *owner;
	} cases[] = {
		{"{}", NULL, NULL},
		{"{'ownerReferences': [{'kind': 'Job', 'name': 'sweep', "
		 "'uid': 'u', 'controller': true}]}",
		 NULL, "Job default/sweep"},
		{"{'ownerReferences': [{'kind': 'Job', 'name': 'sweep', 'uid': 'u'}]}", NULL, NULL},
		{"{'labels': {'pod-template-hash': '5f6'}, "
		 "'ownerReferences': [{'kind': 'ReplicaSet', "
		 "'name': 'web-5f6', 'uid': 'u', 'controller': true}]}",
		 NULL, "Deployment default/web"},
		{"{'labels': {'pod-template-hash': '5f6'}, "
		 "'ownerReferences': [{'kind': 'ReplicaSet', "
		 "'name': '-5f6', 'uid': 'u', 'controller': true}]}",
		 NULL, "ReplicaSet default/-5f6"},
		{"{'annotations': {'drover.dev/workload': 'sweep'}, "
		 "'ownerReferences': [{'kind': 'Job', "
		 "'name': 'sweep-1', 'uid': 'u', 'controller': true}]}",
		 "sweep", "Job default/sweep-1"},
		{"{'annotations': {'drover.dev/workload': ''}}", NULL, NULL},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct tenant_pod *tp;
		const struct pod_unplaced *u;

		tp = (const struct tenant_pod *)whole_pod(
			f, arena_printf(f->a, "{'metadata': %s, 'spec': {}}", cases[i].meta));
		u = tp->unplaced;
		assert_true(str_eq(u->workload, cases[i].said) || (!u->workload && !cases[i].said));
		if (!str_eq(str_or(u->owner, ""), str_or(cases[i].owner, "")))
			fail_msg("%s: %s", cases[i].meta, str_or(u->owner, "(none)"));
	}
}

static void tell_pod(struct buf *b, const struct tenant_pod *tp)
{
	const struct pod_checkpoint k =
		tp && tp->checkpoint ? *tp->checkpoint : (struct pod_checkpoint){0};
	const struct world_pod *p = (const struct world_pod *)tp;

	if (!tp) {
		buf_puts(b, "left out");
		return;
	}
	buf_printf(
		b,
		"%s %s %s %s %s daemon %d terminating %d unschedulable %d since %lld priority %lld",
		p->tenant, p->ns, p->name, p->uid, str_or(p->node, "-"), p->daemon, p->terminating,
		p->unschedulable, (long long)p->since, (long long)p->priority);
	buf_printf(b,
		   " grace %lld running %d large %d until %lld checkpoint %s %s %s unsupported %s",
		   (long long)tp->grace_s, tp->running, tp->large, (long long)tp->going_until,
		   str_or(k.wanted, "-"), str_or(k.requested, "-"), str_or(k.done, "-"),
		   str_or(p->unsupported, "-"));
	tell_amounts(b, "wants", &p->requests);
	tell_labels(b, "label", &p->labels);
	for (size_t i = 0; i < tp->nclaims; i++)
		buf_printf(b, " claim %s %s", tp->claims[i].name,
			   str_or(tp->claims[i].ephemeral, "-"));
	tell_labels(b, "on", &p->node_selector);
	for (size_t i = 0; i < p->affinity.n; i++)
		tell_selector(b, &p->affinity.v[i]);
	for (size_t i = 0; i < p->preferences.n; i++) {
		buf_printf(b, " prefers %lld", (long long)p->preferences.v[i].weight);
		tell_selector(b, &p->preferences.v[i].term);
	}
	for (size_t i = 0; i < p->tolerations.n; i++)
		buf_printf(b, " tolerates %s %s %s %d", str_or(p->tolerations.v[i].key, "-"),
			   str_or(p->tolerations.v[i].value, "-"),
			   str_or(p->tolerations.v[i].effect, "-"), (int)p->tolerations.v[i].op);
	for (size_t i = 0; i < p->topology.n; i++)
		tell_topology(b, &p->topology.v[i]);
}

static void tell_node(struct buf *b, const struct tenant_node *n)
{
	if (!n) {
		buf_puts(b, "left out");
		return;
	}
	buf_printf(b, "%s %s claim %s unschedulable %d ready %d since %lld created %lld",
		   n->world.tenant, str_or(n->world.name, "-"), str_or(n->world.claim, "-"),
		   n->world.unschedulable, n->world.ready, (long long)n->ready_since,
		   (long long)n->created);
	buf_printf(b, " %s %s %s %s taints %s %d %d", str_or(n->uid, "-"),
		   str_or(n->provider_id, "-"), str_or(n->system_uuid, "-"),
		   str_or(n->boot_id, "-"), str_or(n->taints_json, "-"), n->unregistered,
		   n->draining);
	for (size_t i = 0; i < n->world.taints.n; i++)
		buf_printf(b, " taint %s %s %s", n->world.taints.v[i].key,
			   str_or(n->world.taints.v[i].value, "-"),
			   str_or(n->world.taints.v[i].effect, "-"));
	tell_labels(b, "label", &n->world.labels);
	tell_amounts(b, "has", &n->world.allocatable);
	tell_amounts(b, "of", &n->capacity);
}

static uint64_t dice_state;

static size_t dice(size_t below)
{
	dice_state ^= dice_state << 13;
	dice_state ^= dice_state >> 7;
	dice_state ^= dice_state << 17;
	return (size_t)((dice_state >> 11) % below);
}

/* Returns a value of an unexpected type, as a hostile server would send it. */
static json_t *odd(void)
{
	switch (dice(8)) {
	case 0:
		return json_null();
	case 1:
		return json_integer((json_int_t)dice(3));
	case 2:
		return json_true();
	case 3:
		return json_array();
	case 4:
		return json_object();
	case 5:
		return json_pack("[{s:s}, i, [s]]", "key", "v", 1, "x");
	case 6:
		return json_pack("{s:s, s:{s:i}}", "key", "v", "resources", "a", 1);
	default:
		return json_string("x");
	}
}

/* Returns a copy of v in which one of every one_in values is missing or replaced, and which has
 * additional members. */
static json_t *vary(const json_t *v, size_t one_in)
{
	const char *name;
	json_t *out, *m;
	size_t i;

	if (!dice(one_in))
		return odd();
	if (!json_is_object(v) && !json_is_array(v))
		return json_deep_copy(v);
	out = json_is_array(v) ? json_array() : json_object();
	json_array_foreach (v, i, m)
		for (size_t n = dice(one_in) ? 1 : dice(4); n; n--)
			json_array_append_new(out, vary(m, one_in));
	json_object_foreach ((json_t *)(uintptr_t)v, name, m)
		if (dice(one_in))
			json_object_set_new(out, name, vary(m, one_in));
	if (json_is_object(v) && !dice(3))
		json_object_set_new(out, "unread", odd());
	return out;
}

static const char full_pod[] =
	"{'metadata': {'name': 'p', 'namespace': 'ml', 'uid': 'u', 'resourceVersion': '7', "
	"'labels': {'app': 'a', 'rev': '7'},"
	" 'annotations': {'" CHECKPOINT_WANTED "': 'true', '" CHECKPOINT_REQUESTED
	"': 'x', '" CHECKPOINT_DONE "': 'y', 'kubernetes.io/config.mirror': 'm', 'other': 'z'}, "
	"'deletionTimestamp': '2026-12-01T10:00:00Z',"
	" 'ownerReferences': [{'controller': true, 'kind': 'DaemonSet'}, "
	"{'kind': 'Job', 'controller': true}]},"
	" 'spec': {'nodeName': 'n', 'priority': 7, 'terminationGracePeriodSeconds': 30,"
	"  'containers': [{'name': 'c', 'resources': {'requests': {'cpu': '1', "
	"'nvidia.com/gpu': 8}, 'limits': {'memory': '1Gi', 'cpu': '2'}}},"
	"   {'resources': {'requests': {'cpu': '500m'}}}],"
	"  'initContainers': [{'restartPolicy': 'Always', "
	"'resources': {'requests': {'cpu': '1'}}}, {'resources': {'limits': {'cpu': '9'}}}],"
	"  'resources': {'requests': {'cpu': '12'}, 'limits': {'cpu': '13'}}, "
	"'overhead': {'cpu': '10m'},"
	"  'nodeSelector': {'zone': 'a'}, 'tolerations': [{'key': 'gpu', 'operator': 'Exists'}, "
	"{'key': 'a', 'value': 'b', 'effect': 'NoSchedule'}],"
	"  'affinity': {'nodeAffinity': {'requiredDuringSchedulingIgnoredDuringExecution': {"
	"'nodeSelectorTerms': ["
	"     {'matchExpressions': [{'key': 'zone', 'operator': 'In', 'values': ['a', 'b']}]}]},"
	"    'preferredDuringSchedulingIgnoredDuringExecution': [{'weight': 3, "
	"'preference': {'matchExpressions': [{'key': 'x', 'operator': 'Exists'}]}}]},"
	"   'podAffinity': {'requiredDuringSchedulingIgnoredDuringExecution': [{"
	"'topologyKey': 'rack', 'namespaces': ['x'],"
	"     'labelSelector': {'matchLabels': {'app': 'a'}, 'matchExpressions': [{'key': 'b', "
	"'operator': 'NotIn', 'values': ['c']}]}, 'matchLabelKeys': ['rev']}]},"
	"   'podAntiAffinity': {'requiredDuringSchedulingIgnoredDuringExecution': [{"
	"'topologyKey': 'host', 'labelSelector': {}, 'mismatchLabelKeys': ['rev']}]}},"
	"  'topologySpreadConstraints': [{'whenUnsatisfiable': 'DoNotSchedule', "
	"'topologyKey': 'zone', 'maxSkew': 2, 'minDomains': 1,"
	"    'nodeAffinityPolicy': 'Honor', 'nodeTaintsPolicy': 'Ignore', "
	"'labelSelector': {'matchLabels': {'app': 'a'}}}],"
	"  'schedulingGates': [{'name': 'g'}], "
	"'resourceClaims': [{'name': 'r', 'resourceClaimName': 'c'}],"
	"  'volumes': [{'emptyDir': {}}, {'persistentVolumeClaim': {'claimName': 'c'}}, "
	"{'name': 'e', 'ephemeral': {}}]},"
	" 'status': {'phase': 'Pending', 'nominatedNodeName': '', "
	"'conditions': [{'type': 'Ready', 'status': 'False'},"
	"   {'type': 'PodScheduled', 'status': 'False', 'reason': 'Unschedulable', "
	"'lastTransitionTime': '2026-12-01T10:00:00Z'}]}}";

static const char full_node[] =
	"{'metadata': {'name': 'n', 'uid': 'u', 'resourceVersion': '7', "
	"'creationTimestamp': '2026-12-01T10:00:00Z',"
	"  'labels': {'drover.dev/nodeclaim': 'n', 'a': 'b'}},"
	" 'spec': {'providerID': 'p', 'unschedulable': true, "
	"'taints': [{'key': 'drover.dev/draining', 'value': 'x', 'effect': 'NoSchedule'},"
	"   {'key': 'drover.dev/unregistered', 'effect': 'NoExecute', "
	"'timeAdded': '2026-12-01T10:00:00Z'}]},"
	" 'status': {'capacity': {'cpu': '8', 'memory': '1Gi'}, "
	"'allocatable': {'cpu': '7500m', 'x': 'lots'},"
	"  'conditions': [{'type': 'MemoryPressure', 'status': 'False'}, "
	"{'type': 'Ready', 'status': 'True', 'lastHeartbeatTime': 'h',"
	"    'lastTransitionTime': '2026-12-01T09:00:00Z'}], "
	"'nodeInfo': {'systemUUID': 's', 'bootID': 'b', 'kubeletVersion': 'v'},"
	"  'images': [{'names': ['i'], 'sizeBytes': 1}]}}";

/* Projecting only the members that a cache reads gives the same result as projecting the whole
 * object, even if members are missing or have an unexpected type. */
static void what_is_read_says_what_all_of_it_says(void **state)
{
	OWN_JSON pod_o = read_json(full_pod);
	OWN_JSON node_o = read_json(full_node);
	size_t left_out = 0, unsupported = 0;

	(void)state;
	dice_state = 88172645463325252;
	for (unsigned i = 0; i < 4000; i++) {
		bool is_pod = i % 4 != 0;
		OWN_JSON all = vary(is_pod ? pod_o : node_o, 8 + dice(60));
		OWN_JSON read = as_read(all, is_pod ? tenant_want_pod : tenant_want_node);
		OWN(arena) a = arena_new();
		struct err e = {0};
		struct buf x, y;

		buf_init(&x, 1u << 20);
		buf_init(&y, 1u << 20);
		if (is_pod) {
			struct tenant_pod *p = tenant_project_pod(all, a, &team, &e);

			tell_pod(&x, p);
			tell_pod(&y, tenant_project_pod(read, a, &team, &e));
			left_out += !p;
			unsupported += p && p->world.unsupported;
		} else {
			tell_node(&x, tenant_project_node(all, a, &team, &e));
			tell_node(&y, tenant_project_node(read, a, &team, &e));
		}
		if (strcmp(x.data, y.data) != 0)
			fail_msg("%s\nall:  %s\nread: %s", json_text(all), x.data, y.data);
		buf_done(&x);
		buf_done(&y);
	}
	/* Enough variations lacked members or were unsupported, so the loop tested different
	 * cases. */
	assert_in_range(left_out, 100, 2000);
	assert_in_range(unsupported, 500, 2900);
}

/* --- hostile objects -------------------------------------------------------------------------- */

/* Returns the object in text with a list of n copies of item at path[0].path[1]. */
static json_t *with_many(const char *text, const char *const path[2], const char *item, size_t n)
{
	json_t *o = read_json(text), *list = json_array(), *in;
	OWN_JSON one = read_json(item);

	while (n--)
		json_array_append(list, one);
	in = json_object_get(o, path[0]);
	json_object_set_new(in, path[1], list);
	return o;
}

static void lists_that_are_too_long_are_said_and_not_believed(void **state)
{
	static const struct {
		const char *path[2], *item;
	} cases[] = {
		{{"metadata", "ownerReferences"}, "{'kind': 'Job'}"},
		{{"spec", "containers"}, "{'resources': {}}"},
		{{"spec", "initContainers"}, "{'resources': {}}"},
		{{"spec", "schedulingGates"}, "{'name': 'g'}"},
		{{"spec", "resourceClaims"}, "{'name': 'g'}"},
		{{"spec", "volumes"}, "{'emptyDir': {}}"},
		{{"status", "conditions"}, "{'type': 'x'}"},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		OWN_JSON o = with_many(
			"{'metadata': {'namespace': 'ml', 'name': 'p', 'uid': 'u'}, 'spec': {},"
			" 'status': {}}",
			cases[i].path, cases[i].item, 20000);
		const struct tenant_pod *p = (const void *)pod_of(f, o);

		assert_true(p->large);
		assert_string_equal(p->world.unsupported,
				    "lists of containers, volumes or the like that are too long");
		assert_string_equal(p->world.uid, "u");
	}
}

/* Each init container is compared with all sidecars. Without a limit, a pod of 30 KB could block
 * the event loop. */
static void many_resources_in_many_init_containers_are_not_compared(void **state)
{
	struct fixture *f = *state;

	for (unsigned n = 10; n <= 250; n += 240) {
		OWN_JSON o =
			read_json("{'metadata': {'namespace': 'ml', 'name': 'p', 'uid': 'u'}}");
		json_t *list = json_array(), *amounts = json_object();

		for (unsigned i = 0; i < n; i++) {
			char name[16];

			(void)snprintf(name, sizeof(name), "r%u", i);
			json_object_set_new(amounts, name, json_integer(1));
		}
		json_array_append_new(list, json_pack("{s:s, s:{s:o}}", "restartPolicy", "Always",
						      "resources", "requests", amounts));
		for (unsigned i = 0; i < 250; i++)
			json_array_append_new(list, json_object());
		json_object_set_new(o, "spec", json_pack("{s:o}", "initContainers", list));
		assert_int_equal(
			str_eq(pod_of(f, o)->unsupported, "resource requests that cannot be read"),
			n > 10);
	}
}

static void a_node_with_more_than_is_read_has_no_room(void **state)
{
	static const char *const paths[][2] = {{"metadata", "labels"},
					       {"spec", "taints"},
					       {"status", "conditions"},
					       {"status", "allocatable"},
					       {"status", "capacity"}};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		OWN_JSON o = with_many(
			"{'metadata': {'name': 'n', 'uid': 'u'}, 'spec': {}, 'status': {}}",
			paths[i], "{'key': 'k', 'type': 'x'}", 3000);

		err_clear(&f->e);
		assert_null(node_of(f, o));
		assert_int_equal(f->e.kind, ERR_CAPACITY);
	}
}

/* --- what a bound pod requires of other Nodes ------------------------------------------------- */

#define BOUND(notes, spec)                                                                         \
	"{'metadata': {'creationTimestamp': '2026-12-01T10:00:00Z', 'annotations': {" notes        \
	"}, 'ownerReferences': [{'controller': true, 'kind': 'ReplicaSet', 'name': 'r', 'uid': "   \
	"'r'}]}, 'spec': {'nodeName': 'n-1'" spec "}, 'status': {'phase': 'Running'}}"

static void what_keeps_a_pod_on_its_node_is_read_from_it(void **state)
{
	static const struct {
		const char *pod;
		enum world_keep keep;
		int64_t until;
	} cases[] = {
		{BOUND("", ""), WORLD_KEEP_NOT, 0},
		{BOUND("'drover.dev/do-not-disrupt': 'true'", ""), WORLD_KEEP_ASKED, 0},
		{BOUND("'drover.dev/do-not-disrupt': 'false'", ""), WORLD_KEEP_NOT, 0},
		{BOUND("'drover.dev/do-not-disrupt': 'soon'", ""), WORLD_KEEP_ASKED, 0},
		{BOUND("'drover.dev/do-not-disrupt': '2h'", ""), WORLD_KEEP_ASKED, 1796126400000},
		{BOUND("'karpenter.sh/do-not-disrupt': 'true'", ""), WORLD_KEEP_ASKED, 0},
		{BOUND("'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false'", ""),
		 WORLD_KEEP_ASKED, 0},
		{BOUND("", ", 'volumes': [{'name': 'x', 'emptyDir': {}}]"), WORLD_KEEP_LOCAL, 0},
		{BOUND("", ", 'volumes': [{'name': 'x', 'emptyDir': {'medium': 'Memory'}}]"),
		 WORLD_KEEP_NOT, 0},
		{BOUND("", ", 'volumes': [{'name': 'x', 'hostPath': {'path': '/x'}}]"),
		 WORLD_KEEP_LOCAL, 0},
		{BOUND("'cluster-autoscaler.kubernetes.io/safe-to-evict': 'true'",
		       ", 'volumes': [{'name': 'x', 'emptyDir': {}}]"),
		 WORLD_KEEP_NOT, 0},
		{BOUND("", ", 'volumes': [{'name': 'x', 'configMap': {'name': 'c'}}]"),
		 WORLD_KEEP_NOT, 0},
		{BOUND("",
		       ", 'volumes': [{'name': 'x', 'persistentVolumeClaim': {'claimName': 'c'}}]"),
		 WORLD_KEEP_VOLUMES, 0},
		{BOUND("",
		       ", 'topologySpreadConstraints': [{'whenUnsatisfiable': 'DoNotSchedule'}]"),
		 WORLD_KEEP_OTHERS, 0},
		{BOUND("",
		       ", 'topologySpreadConstraints': [{'whenUnsatisfiable': 'ScheduleAnyway'}]"),
		 WORLD_KEEP_NOT, 0},
		{BOUND("", ", 'affinity': {'podAffinity': "
			   "{'requiredDuringSchedulingIgnoredDuringExecution': [{"
			   "'topologyKey': 'z'}]}}"),
		 WORLD_KEEP_OTHERS, 0},
		{BOUND("", ", 'resourceClaims': [{'name': 'gpu', 'resourceClaimName': 'c'}]"),
		 WORLD_KEEP_UNKNOWN, 0},
		{BOUND("",
		       ", 'affinity': {'nodeAffinity': "
		       "{'requiredDuringSchedulingIgnoredDuringExecution': "
		       "{'nodeSelectorTerms': [{'matchFields': [{'key': 'metadata.name'}]}]}}}"),
		 WORLD_KEEP_UNKNOWN, 0},
		{"{'spec': {'nodeName': 'n-1'}, 'status': {'phase': 'Running'}}", WORLD_KEEP_ALONE,
		 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct world_pod *p = whole_pod(*state, cases[i].pod);

		if ((int)p->keep != (int)cases[i].keep || p->keep_until != cases[i].until)
			fail_msg("%s: %d until %lld", cases[i].pod, (int)p->keep,
				 (long long)p->keep_until);
	}
}

static void what_ending_a_pod_costs_is_read_from_it(void **state)
{
	static const struct {
		const char *pod;
		int64_t cost;
	} cases[] = {
		{BOUND("'controller.kubernetes.io/pod-deletion-cost': '-7'", ""), -7},
		{BOUND("'controller.kubernetes.io/pod-deletion-cost': 'much'", ""), 0},
		{BOUND("'controller.kubernetes.io/pod-deletion-cost': '99999999999'", ""),
		 INT32_MAX},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(whole_pod(*state, cases[i].pod)->deletion_cost, cases[i].cost);
}

/* If a bound pod may never be moved, its requirements on a Node are not stored. Tolerations that
 * have no effect on Ready Nodes are never stored. */
static void what_a_bound_pod_asks_of_a_node_is_kept_as_far_as_it_may_be_moved(void **state)
{
#define ASKS                                                                                       \
	", 'nodeSelector': {'disk': 'ssd'}, 'tolerations': [{'key': 'a', 'operator': 'Exists'}, "  \
	"{'key': 'node.kubernetes.io/not-ready', 'operator': 'Exists'}]"
	const struct world_pod *p = whole_pod(*state, BOUND("", ASKS));

	assert_int_equal(p->node_selector.n, 1);
	assert_int_equal(p->tolerations.n, 1);
	assert_string_equal(p->tolerations.v[0].key, "a");
	p = whole_pod(*state, BOUND("'drover.dev/do-not-disrupt': 'true'", ASKS));
	assert_int_equal(p->node_selector.n, 0);
	assert_int_equal(p->tolerations.n, 0);
	p = whole_pod(*state, BOUND("'drover.dev/do-not-disrupt': '1h'", ASKS));
	assert_int_equal(p->node_selector.n, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_pod_is_a_part_of_what_made_it),
		T(how_a_pod_goes_is_read_from_it),
		T(what_keeps_a_pod_on_its_node_is_read_from_it),
		T(what_ending_a_pod_costs_is_read_from_it),
		T(what_a_bound_pod_asks_of_a_node_is_kept_as_far_as_it_may_be_moved),
		T(a_pod_that_waits_says_too_that_it_saves_its_work),
		T(of_a_long_annotation_only_the_beginning_is_kept),
		T(a_node_says_who_cordoned_it_and_since_when_it_is_not_ready),
		T(containers_are_summed_and_sorted_by_name),
		T(a_limit_stands_in_for_each_request_that_is_not_given),
		T(an_init_container_counts_only_where_it_is_larger_than_the_rest),
		T(a_sidecar_runs_beside_the_containers_and_beside_later_init_containers),
		T(what_the_pod_asks_for_as_a_whole_replaces_the_sum),
		T(overhead_comes_on_top_of_everything),
		T(a_host_port_is_asked_for_once_by_protocol_and_number),
		T(the_runtime_class_is_read),
		T(a_pod_has_the_claims_of_its_volumes),
		T(a_quantity_that_is_none_makes_the_pod_unsupported_and_says_so),
		T(members_of_the_wrong_type_are_taken_for_absent),
		T(a_list_beyond_reason_makes_the_pod_unsupported_and_costs_little),
		T(more_resources_than_reason_make_the_pod_unsupported),
		T(a_sum_past_all_numbers_saturates),
		T(a_marked_pod_is_demand_since_its_mark),
		T(what_waits_for_something_else_is_no_demand),
		T(a_pod_may_be_nominated_for_a_node),
		T(a_finished_pod_is_left_out),
		T(a_pod_of_a_gang_is_demand_whatever_its_scheduler_says),
		T(of_a_gang_what_succeeded_is_kept),
		T(a_finished_pod_that_is_being_deleted_keeps_its_node_until_it_is_gone),
		T(daemon_and_static_pods_are_known_for_what_they_are),
		T(of_a_bound_pod_only_its_size_is_kept),
		T(selectors_tolerations_and_affinity_are_read),
		T(where_other_pods_let_it_be_is_read),
		T(a_selector_that_is_absent_selects_nobody),
		T(a_bound_pod_keeps_its_labels_and_whom_it_bans),
		T(which_nodes_a_spread_counts_is_read),
		T(constraints_that_the_planner_does_not_judge_are_named),
		T(an_empty_namespace_selector_is_every_namespace),
		T(a_pod_that_runs_keeps_others_away_by_any_namespace_selector),
		T(a_node_says_who_it_is_and_what_it_holds),
		T(a_heartbeat_is_no_news_of_a_node),
		T(a_node_with_our_taint_is_not_registered_yet),
		T(a_node_that_says_next_to_nothing_is_taken_as_it_is),
		T(what_is_read_says_what_all_of_it_says),
		T(lists_that_are_too_long_are_said_and_not_believed),
		T(many_resources_in_many_init_containers_are_not_compared),
		T(a_node_with_more_than_is_read_has_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
