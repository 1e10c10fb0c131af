/* Tests volume_objects: how a pod's PersistentVolumeClaim is evaluated, rule by rule. */
#include "tests/unit/testing.h"

#include <string.h>
#include "base/buf.h"
#include "base/data/json.h"
#include "base/data/scan.h"
#include "base/str.h"
#include "controller/tenant/volume_objects.h"

static void *project(struct arena *a, const struct scan_want *want, const char *text,
		     void *(*fn)(const json_t *, struct arena *, void *, struct err *))
{
	char *body = arena_strdup(a, text);
	struct err e;
	json_t *some;
	void *out;

	for (char *c = body; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	some = scan_parse(body, strlen(body), want, &e);
	if (!some)
		fail_msg("%s: %s", text, e.text);
	out = fn(some, a, NULL, &e);
	json_decref(some);
	assert_non_null(out);
	return out;
}

/* Returns the topology terms of the volume, such as "zone in (a,b), !x | ...". */
static const char *terms_text(struct arena *a, const struct world_volume *v)
{
	const char *text = "";

	for (size_t i = 0; i < v->n; i++) {
		text = arena_printf(a, "%s%s", text, i ? " | " : "");
		for (size_t k = 0; k < v->v[i].n; k++) {
			const struct requirement *q = &v->v[i].v[k];

			text = arena_printf(a, "%s%s%s %s", text, k ? ", " : "", q->key,
					    selector_op_name(q->op));
			for (size_t m = 0; m < q->nvalues; m++)
				text = arena_printf(a, "%s %s", text, q->values[m]);
		}
	}
	return text;
}

#define CLAIM(text) "{'metadata': {'name': 'data', 'namespace': 'ml'}, " text "}"
#define BOUND CLAIM("'spec': {'volumeName': 'pv-1'}, 'status': {'phase': 'Bound'}")
#define OF_CLASS(name) CLAIM("'spec': {'storageClassName': '" name "'}")
#define PV(text)                                                                                   \
	"{'metadata': {'name': 'pv-1'}, "                                                          \
	"'spec': {'claimRef': {'namespace': 'ml', 'name': 'data'}" text "}}"
#define TERMS(text) PV(", 'nodeAffinity': {'required': {'nodeSelectorTerms': [" text "]}}")
#define IN(key, value) "{'key': '" key "', 'operator': 'In', 'values': ['" value "']}"
#define WAITS(text)                                                                                \
	"{'metadata': {'name': 'fast'}, 'provisioner': 'ebs.csi.aws.com', "                        \
	"'volumeBindingMode': 'WaitForFirstConsumer'" text "}"
#define P "persistentVolumeClaim data"

static const struct {
	const char *claim, *volume, *class_, *says;
} rows[] = {
	/* Claims that are missing or unusable */
	{NULL, NULL, NULL, P " does not exist"},
	{CLAIM("'metadata2': {}"), NULL, NULL, P " is not bound, and names no StorageClass"},
	{"{'metadata': {'name': 'data', 'deletionTimestamp': '2026-12-01T10:00:00Z'}}", NULL, NULL,
	 P " is being deleted"},
	{CLAIM("'spec': {'volumeName': 'pv-1'}, 'status': {'phase': 'Lost'}"), NULL, NULL,
	 P " has lost its volume pv-1"},
	{CLAIM("'spec': {'volumeName': 'pv-1', 'storageClassName': 'fast'}, "
	       "'status': {'phase': 'Pending'}"),
	 PV(""), WAITS(""), P " is not bound to its volume pv-1 yet"},
	{"{'metadata': {'annotations': {'pv.kubernetes.io/bind-completed': 'yes'}}, "
	 "'spec': {'volumeName': 'pv-1'}}",
	 PV(""), NULL, "anywhere"},
	/* Claims that are bound to a volume */
	{BOUND, NULL, NULL, P ": its volume pv-1 does not exist"},
	{BOUND, "{'spec': {}}", NULL, P ": its volume pv-1 is bound to another claim"},
	{BOUND, "{'spec': {'claimRef': {'namespace': 'web', 'name': 'data'}}}", NULL,
	 P ": its volume pv-1 is bound to another claim"},
	{BOUND, PV(""), NULL, "anywhere"},
	{BOUND, PV(", 'nfs': {'server': 'x'}"), NULL, "anywhere"},
	{BOUND, PV(", 'csi': {'driver': 'ebs.csi.aws.com'}"), NULL, "anywhere; ebs.csi.aws.com"},
	{BOUND, PV(", 'nodeAffinity': {}"), NULL, "anywhere"},
	{BOUND, TERMS("{'matchExpressions': [" IN("zone", "a") "]}"), NULL, "zone In a"},
	{BOUND,
	 TERMS("{'matchExpressions': [" IN("zone",
					   "a") ", {'key': 'x', 'operator': 'DoesNotExist'}]}, "
						"{'matchExpressions': [" IN("zone", "b") "]}"),
	 NULL, "zone In a, x DoesNotExist | zone In b"},
	{BOUND, TERMS(""), NULL, ""},
	{BOUND, TERMS("{}"), NULL, ""},
	{BOUND, TERMS("{'matchExpressions': [{'key': 'x', 'operator': 'Near'}]}"), NULL,
	 P ": the topology of volume pv-1 is longer than 16 KiB, or cannot be read"},
	{BOUND, TERMS("{'matchFields': [{'key': 'spec.x', 'operator': 'In', 'values': ['n']}]}"),
	 NULL, P ": the topology of volume pv-1 is longer than 16 KiB, or cannot be read"},
	/* Volumes that exist on one node only */
	{BOUND, TERMS("{'matchExpressions': [" IN("kubernetes.io/hostname", "n1") "]}"), NULL,
	 "kubernetes.io/hostname In n1; on n1"},
	{BOUND, TERMS("{'matchFields': [" IN("metadata.name", "n1") "]}"), NULL,
	 ":metadata.name In n1; on n1"},
	{BOUND,
	 TERMS("{'matchExpressions': [" IN(
		 "kubernetes.io/hostname",
		 "n1") "]}, {'matchExpressions': [" IN("kubernetes.io/hostname", "n2") "]}"),
	 NULL, "kubernetes.io/hostname In n1 | kubernetes.io/hostname In n2"},
	/* Claims that are not bound yet */
	{OF_CLASS("fast"), NULL, NULL, P ": StorageClass fast does not exist"},
	{OF_CLASS("fast"), NULL, "{'provisioner': 'ebs.csi.aws.com'}",
	 P " is not bound yet: StorageClass fast binds without waiting for a pod (Immediate)"},
	{OF_CLASS("fast"), NULL,
	 "{'provisioner': 'ebs.csi.aws.com', 'volumeBindingMode': 'Immediate'}",
	 P " is not bound yet: StorageClass fast binds without waiting for a pod (Immediate)"},
	{OF_CLASS("fast"), NULL,
	 "{'volumeBindingMode': 'WaitForFirstConsumer', "
	 "'provisioner': 'kubernetes.io/no-provisioner'}",
	 P " is not bound, and StorageClass fast provisions no volumes"},
	{OF_CLASS("fast"), NULL, WAITS(""), "anywhere; ebs.csi.aws.com"},
	{OF_CLASS("fast"), NULL, WAITS(", 'allowedTopologies': []"), "anywhere; ebs.csi.aws.com"},
	{OF_CLASS("fast"), NULL,
	 WAITS(", 'allowedTopologies': [{'matchLabelExpressions': [{'key': 'zone', "
	       "'values': ['a', 'b']}, {'key': 'rack', 'values': ['1']}]}, "
	       "{'matchLabelExpressions': [{'key': 'zone', 'values': ['c']}]}]"),
	 "zone In a b, rack In 1 | zone In c; ebs.csi.aws.com"},
	{OF_CLASS("fast"), NULL,
	 WAITS(", 'allowedTopologies': [{'matchLabelExpressions': [{'values': ['a']}]}]"),
	 P ": the topology of StorageClass fast is longer than 16 KiB, or cannot be read"},
	{"{'metadata': {'annotations': {'volume.kubernetes.io/selected-node': 'n1'}}, "
	 "'spec': {'storageClassName': 'fast'}}",
	 NULL, WAITS(""), ":metadata.name In n1; on n1; ebs.csi.aws.com"},
};

static const char *judged(struct arena *a, size_t i, const char *ephemeral, const char *uid)
{
	struct volume_use u = {.ns = "ml", .name = "data", .ephemeral = ephemeral, .pod_uid = uid};
	struct volume_answer out;
	const char *why;

	if (rows[i].claim)
		u.claim = project(a, volume_want_claim, rows[i].claim, volume_project_claim);
	if (rows[i].volume)
		u.volume = project(a, volume_want_volume, rows[i].volume, volume_project_volume);
	if (rows[i].class_)
		u.class_ = project(a, volume_want_class, rows[i].class_, volume_project_class);
	why = volume_judge(&u, &out, a);
	if (why)
		return why;
	return arena_printf(a, "%s%s%s%s%s", out.anywhere ? "anywhere" : terms_text(a, &out.place),
			    out.place.node ? "; on " : "", str_or(out.place.node, ""),
			    out.driver ? "; " : "", str_or(out.driver, ""));
}

static void each_claim_means_what_kube_scheduler_reads_in_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		OWN(arena) a = arena_new();
		const char *text = judged(a, i, NULL, "u-1");

		if (!str_eq(text, rows[i].says))
			fail_msg("row %zu: \"%s\", not \"%s\"", i, text, rows[i].says);
	}
}

static void an_ephemeral_volume_is_its_pods_own(void **state)
{
	static const struct {
		const char *claim, *says;
	} owned[] = {
		{NULL, P " of ephemeral volume scratch is not created yet"},
		{BOUND,
		 P " has the name of ephemeral volume scratch, but does not belong to the pod"},
		{"{'metadata': {'ownerReferences': [{'uid': 'u-2', 'controller': true}]}, "
		 "'spec': {'volumeName': 'pv-1'}, 'status': {'phase': 'Bound'}}",
		 P " has the name of ephemeral volume scratch, but does not belong to the pod"},
		{"{'metadata': {'ownerReferences': [{'uid': 'u-1'}]}, "
		 "'spec': {'volumeName': 'pv-1'}, 'status': {'phase': 'Bound'}}",
		 P " has the name of ephemeral volume scratch, but does not belong to the pod"},
		{"{'metadata': {'ownerReferences': [{'uid': 'u-1', 'controller': true}]}, "
		 "'spec': {'volumeName': 'pv-1'}, 'status': {'phase': 'Bound'}}",
		 NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++) {
		OWN(arena) a = arena_new();
		struct volume_answer out;
		struct volume_use u = {
			.ns = "ml", .name = "data", .ephemeral = "scratch", .pod_uid = "u-1"};

		u.volume = project(a, volume_want_volume, PV(""), volume_project_volume);
		if (owned[i].claim)
			u.claim =
				project(a, volume_want_claim, owned[i].claim, volume_project_claim);
		if (!str_eq(volume_judge(&u, &out, a), owned[i].says))
			fail_msg("row %zu", i);
	}
}

/* A volume with a megabyte of terms costs no more than the part that drover reads; its pods
 * wait. */
static void terms_without_end_are_not_read(void **state)
{
	OWN(arena) a = arena_new();
	struct buf b;
	const struct volume *v;

	(void)state;
	buf_init(&b, 4u << 20);
	buf_printf(&b, "{'spec': {'nodeAffinity': {'required': {'nodeSelectorTerms': [");
	for (int i = 0; i < 20000; i++)
		buf_printf(&b, "%s{'matchExpressions': [" IN("zone", "a") "]}", i ? "," : "");
	buf_printf(&b, "]}}}}");
	v = project(a, volume_want_volume, b.data, volume_project_volume);
	assert_true(v->terms.unreadable);
	assert_int_equal(v->terms.n, 0);
	buf_done(&b);
}

static void a_csinode_has_counts_by_driver(void **state)
{
	OWN(arena) a = arena_new();
	const struct volume_limits *l =
		project(a, volume_want_limits,
			"{'metadata': {'name': 'n1'}, 'spec': {'drivers': [{'name': 'nfs'}, "
			"{'name': 'z', 'allocatable': {'count': 3}},"
			" {'name': 'ebs', 'allocatable': {'count': 25}}, "
			"{'name': 'none', 'allocatable': {}},"
			" {'name': 'odd', 'allocatable': {'count': -1}}, {'allocatable': {"
			"'count': 7}}, {'name': 'zero', 'allocatable': {'count': 0}}]}}",
			volume_project_limits);

	(void)state;
	assert_int_equal(l->counts.n, 3);
	assert_int_equal(quantity_floor(*resources_get(&l->counts, "@ebs")), 25);
	assert_int_equal(quantity_floor(*resources_get(&l->counts, "@z")), 3);
	assert_int_equal(quantity_floor(*resources_get(&l->counts, "@zero")), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_claim_means_what_kube_scheduler_reads_in_it),
		cmocka_unit_test(an_ephemeral_volume_is_its_pods_own),
		cmocka_unit_test(terms_without_end_are_not_read),
		cmocka_unit_test(a_csinode_has_counts_by_driver),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
