/* Tests which changes of an object become entries of the audit log. */
#include "tests/unit/testing.h"

#include <stdlib.h>

#include "api/annotations.h"
#include "base/data/yaml.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/audit_entries.h"
#include "kube/want.h"

#define NOW 1790000000000

struct seen {
	char text[4096];
};

/* Appends the entry as one line: who event kind/name field from->to (why, operation). */
static void add(const struct audit_entry *e, void *arg)
{
	struct seen *s = arg;
	char *line = mem_printf(
		"%s %s %s/%s%s%s %s->%s%s%s%s%s%s%s%s%s\n", e->who, e->event, e->kind, e->name,
		e->field ? " " : "", str_or(e->field, ""), str_or(e->from, ""), str_or(e->to, ""),
		e->why ? " why=" : "", str_or(e->why, ""), e->operation ? " op=" : "",
		str_or(e->operation, ""), e->tenant ? " tenant=" : "", str_or(e->tenant, ""),
		e->program ? " program=" : "", str_or(e->program, ""));

	assert_int_equal(e->time, NOW);
	assert_true(strlen(s->text) + strlen(line) < sizeof(s->text));
	strcat(s->text, line);
	free(line);
}

static const void *decoded(enum object_kind_id kind, const char *yaml, struct arena *a)
{
	struct err e;
	OWN_JSON all = yaml ? yaml_parse_all(yaml, strlen(yaml), &e) : NULL;
	void *out = NULL;
	struct object_meta *m;
	const char *writer;

	if (!yaml)
		return NULL;
	assert_ok(object_decode(&object_kinds[kind], json_array_get(all, 0), a, &out, &e), &e);
	m = out;
	m->written = kube_last_writer(json_array_get(all, 0), &writer);
	m->writer = writer ? arena_strdup(a, writer) : NULL;
	return out;
}

static void assert_entries(enum object_kind_id kind, const char *old, const char *new_,
			   const char *want)
{
	OWN(arena) a = arena_new();
	struct seen s = {""};

	audit_entries_of(kind, decoded(kind, old, a), decoded(kind, new_, a), NOW, add, &s);
	assert_string_equal(s.text, want);
}

static void a_move_of_a_machine_has_its_operation_and_reason(void **state)
{
	(void)state;
	assert_entries(OBJECT_MACHINE,
		       "metadata: {name: gpu-1, uid: u1, generation: 1}\n"
		       "spec: {providerRef: {name: p}, instanceType: t}\n"
		       "status: {state: serving}\n",
		       "metadata: {name: gpu-1, uid: u1, generation: 1}\n"
		       "spec: {providerRef: {name: p}, instanceType: t}\n"
		       "status: {state: draining, tenant: {name: team-a}, leave: {reason: Empty},"
		       " operation: {id: gpu-1-7, step: cordon, class: idempotent}}\n",
		       "drover StateChanged Machine/gpu-1 status.state serving->draining why=Empty "
		       "op=gpu-1-7 tenant=team-a\n");
	/* a change of other status is no entry */
	assert_entries(OBJECT_MACHINE,
		       "metadata: {name: gpu-1, uid: u1, generation: 1}\n"
		       "spec: {providerRef: {name: p}, instanceType: t}\nstatus: {state: free}\n",
		       "metadata: {name: gpu-1, uid: u1, generation: 1}\n"
		       "spec: {providerRef: {name: p}, instanceType: t}\n"
		       "status: {state: free, power: {state: Off}}\n",
		       "");
}

static void a_changed_spec_has_names_of_fields_and_no_values(void **state)
{
	(void)state;
	assert_entries(OBJECT_VIRTUAL_CLUSTER,
		       "metadata: {name: team-a, uid: u1, generation: 3}\n"
		       "spec: {kubeconfigSecretRef: {name: one}, quota: {nvidia.com/gpu: 8}}\n",
		       "metadata: {name: team-a, uid: u1, generation: 4}\n"
		       "spec: {kubeconfigSecretRef: {name: two}, quota: {nvidia.com/gpu: 16}}\n",
		       "unknown SpecChanged VirtualCluster/team-a "
		       "kubeconfigSecretRef.name,quota.nvidia.com/gpu 3->4 tenant=team-a\n");
}

/* A request for deletion increases the generation; a field may be unknown to this drover. */
static void a_generation_is_recorded_even_if_no_field_changed(void **state)
{
	(void)state;
	assert_entries(OBJECT_VIRTUAL_CLUSTER,
		       "metadata: {name: team-a, uid: u1, generation: 3}\n"
		       "spec: {kubeconfigSecretRef: {name: one}, quota: {nvidia.com/gpu: 8}}\n",
		       "metadata: {name: team-a, uid: u1, generation: 4,"
		       " deletionTimestamp: 2026-12-01T10:00:00Z}\n"
		       "spec: {kubeconfigSecretRef: {name: one}, quota: {nvidia.com/gpu: 8}}\n",
		       "unknown DeletionRequested VirtualCluster/team-a 3->4 tenant=team-a\n");
	assert_entries(OBJECT_VIRTUAL_CLUSTER,
		       "metadata: {name: team-a, uid: u1, generation: 3}\n"
		       "spec: {kubeconfigSecretRef: {name: one}, quota: {nvidia.com/gpu: 8}}\n",
		       "metadata: {name: team-a, uid: u1, generation: 4}\n"
		       "spec: {kubeconfigSecretRef: {name: one}, quota: {nvidia.com/gpu: 8}}\n",
		       "unknown SpecChanged VirtualCluster/team-a 3->4 tenant=team-a\n");
}

static void a_verb_names_its_user(void **state)
{
	static const char before[] =
		"metadata: {name: gpu-1, uid: u1, generation: 1, annotations: {other.dev/x: a,"
		" drover.dev/requested-by: \"joe 2026-12-01T09:00:00Z\", drover.dev/release: r}}\n"
		"spec: {providerRef: {name: p}, instanceType: t}\n";

	(void)state;
	assert_entries(
		OBJECT_MACHINE, before,
		"metadata: {name: gpu-1, uid: u1, generation: 1, annotations: {other.dev/x: b,"
		" drover.dev/requested-by: \"jane doe 2026-12-01T10:00:00Z\","
		" drover.dev/quarantine: noisy fan}}\n"
		"spec: {providerRef: {name: p}, instanceType: t}\n",
		"jane doe AnnotationChanged Machine/gpu-1 drover.dev/quarantine ->noisy fan\n"
		"jane doe AnnotationChanged Machine/gpu-1 drover.dev/release r->\n");
	/* the annotation of an earlier change names nobody */
	assert_entries(OBJECT_MACHINE, before,
		       "metadata: {name: gpu-1, uid: u1, generation: 1, annotations: {"
		       " drover.dev/requested-by: \"joe 2026-12-01T09:00:00Z\"}}\n"
		       "spec: {providerRef: {name: p}, instanceType: t}\n",
		       "unknown AnnotationChanged Machine/gpu-1 drover.dev/release r->\n");
}

/* As `kubectl edit` leaves it after `kubectl apply`. drover wrote the finalizer and status. */
static void a_change_without_a_user_names_its_program(void **state)
{
#define APPLIED                                                                                    \
	"{manager: kubectl-client-side-apply, operation: Update, time: \"2026-12-01T10:00:00Z\"}," \
	"{manager: drover, operation: Update, time: \"2026-12-01T10:00:01Z\"},"                    \
	"{manager: drover, subresource: status, time: \"2026-12-01T12:00:00Z\"}"
#define POOL(generation, more, paused)                                                             \
	"metadata: {name: h, uid: u1, generation: " generation ", managedFields: [" APPLIED more   \
	"]}\nspec: {kubeconfigSecretRef: {name: one}, quota: {nvidia.com/gpu: 8}, paused: " paused \
	"}\n"
	static const char by_edit[] = ",{manager: kubectl-edit, operation: Update, time: "
				      "\"2026-12-01T11:00:00Z\"}";
	static const char was[] = POOL("3", "", "false");
	char *edited = mem_printf(POOL("4", "%s", "true"), by_edit),
	     *again = mem_printf(POOL("5", "%s", "false"), by_edit);

	(void)state;
	assert_entries(OBJECT_VIRTUAL_CLUSTER, was, edited,
		       "unknown SpecChanged VirtualCluster/h paused 3->4 tenant=h "
		       "program=kubectl-edit\n");
	/* A write that moved no entry names nobody, nor does one of an object read without them. */
	assert_entries(OBJECT_VIRTUAL_CLUSTER, edited, again,
		       "unknown SpecChanged VirtualCluster/h paused 4->5 tenant=h\n");
	assert_entries(OBJECT_VIRTUAL_CLUSTER,
		       "metadata: {name: h, uid: u1, generation: 3}\n"
		       "spec: {kubeconfigSecretRef: {name: one}, quota: {nvidia.com/gpu: 8}}\n",
		       edited, "unknown SpecChanged VirtualCluster/h paused 3->4 tenant=h\n");
	assert_entries(OBJECT_VIRTUAL_CLUSTER, NULL, edited,
		       "unknown Created VirtualCluster/h ->4 tenant=h program=kubectl-edit\n");
	assert_entries(OBJECT_VIRTUAL_CLUSTER, edited, NULL,
		       "unknown Deleted VirtualCluster/h -> tenant=h\n");
	free(edited);
	free(again);
}

static void a_waiver_has_its_user_its_drive_and_its_reason(void **state)
{
	static const char one[] =
		"{what: Drive, wwn: eui.1, serialNumber: S1, by: alice, at: 2026-12-01T10:00:00Z,"
		" reason: shredded, tenancy: 4}";
	char *before =
		     mem_printf("metadata: {name: gpu-1, uid: u1, generation: 1}\n"
				"spec: {providerRef: {name: p}, instanceType: t, waivers: [%s]}\n",
				one),
	     *after = mem_printf("metadata: {name: gpu-1, uid: u1, generation: 2}\n"
				 "spec: {providerRef: {name: p}, instanceType: t, waivers: [%s, "
				 "{what: Retirement, by: bob, at: 2026-12-01T11:00:00Z, tenancy: "
				 "4}]}\n",
				 one);

	(void)state;
	assert_entries(OBJECT_MACHINE, before, after,
		       "unknown SpecChanged Machine/gpu-1 waivers 1->2\n"
		       "bob WipeWaived Machine/gpu-1 spec.waivers.Retirement.machine ->the machine "
		       "was retired without a wipe after its last tenant: bob, "
		       "2026-12-01T11:00:00Z\n");
	free(before);
	free(after);
}

/* The first machine lost drover's finalizer; the third one is in the log with its waiver. */
static void a_machine_that_is_deleted_unwiped_says_so(void **state)
{
#define SERVED                                                                                     \
	"metadata: {name: gpu-1, uid: u1, generation: 2}\n"                                        \
	"spec: {providerRef: {name: p}, instanceType: t%s}\n"                                      \
	"status: {state: %s, tenancy: 4, tenant: {name: team-a},"                                  \
	" lastWipe: {record: r, tenancy: %d}}\n"
	static const struct {
		const char *spec, *state;
		int wiped;
		const char *why;
	} of[] = {
		{"", "serving", 3,
		 " why=no wipe after tenancy 4 was proved or waived; last state serving"},
		{"", "free", 4, ""},
		{", waivers: [{what: Retirement, by: bob, at: 2026-12-01T11:00:00Z, tenancy: 4}]",
		 "retired", 3, ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		char *was = mem_printf(SERVED, of[i].spec, of[i].state, of[i].wiped),
		     *want = mem_printf("unknown Deleted Machine/gpu-1 ->%s tenant=team-a\n",
					of[i].why);

		assert_entries(OBJECT_MACHINE, was, NULL, want);
		free(was);
		free(want);
	}
}

/* A cloud instance is never wiped. Only one that was seen terminated was released. */
static void an_instance_that_is_deleted_was_released_unwiped_or_may_run(void **state)
{
#define LAUNCHED                                                                                   \
	"metadata: {name: b-1, uid: u1, generation: 1}\n"                                          \
	"spec: {providerRef: {name: p}, instanceType: t, elastic: {claim: {name: b-1, uid: c}}}\n" \
	"status: {state: %s, tenancy: 1, tenant: {name: team-a}, instance: {attempt: 1%s}}\n"
	static const struct {
		const char *state, *more, *why;
	} of[] = {
		{"gone", ", id: i-1",
		 " why=instance i-1: released to the cloud, not wiped by drover"},
		{"serving", ", id: i-1", " why=instance i-1 may still run; last state serving"},
		{"gone", "", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		char *was = mem_printf(LAUNCHED, of[i].state, of[i].more),
		     *want = mem_printf("unknown Deleted Machine/b-1 ->%s tenant=team-a\n",
					of[i].why);

		assert_entries(OBJECT_MACHINE, was, NULL, want);
		free(was);
		free(want);
	}
}

static void objects_come_and_go(void **state)
{
	static const char claim[] =
		"metadata: {name: c1, uid: u1, annotations: {drover.dev/for-pods: \"1\"}}\n"
		"spec: {virtualClusterRef: {name: team-a}, nodePoolRef: {name: h}, "
		"image: {kubernetesVersion: \"1.36\", category: c}}\n"
		"status: {phase: imaging}\n";
	static const char drain[] = "metadata: {name: d1, uid: u2, generation: 1}\n"
				    "spec: {machineNames: [gpu-1], reason: firmware}\n"
				    "status: {phase: Pending}\n";

	(void)state;
	assert_entries(OBJECT_NODE_CLAIM, NULL, claim,
		       "drover Created NodeClaim/c1 -> tenant=team-a\n");
	assert_entries(OBJECT_NODE_CLAIM, claim, NULL,
		       "unknown Deleted NodeClaim/c1 -> tenant=team-a\n");
	assert_entries(OBJECT_NODE_CLAIM, claim,
		       "metadata: {name: c1, uid: u1, deletionTimestamp: 2026-12-01T10:00:00Z}\n"
		       "spec: {virtualClusterRef: {name: team-a}, nodePoolRef: {name: h}, "
		       "image: {kubernetesVersion: \"1.36\", category: c}}\n"
		       "status: {phase: Failed, conditions: [{type: Ready, status: \"False\", "
		       "reason: BootFailed}]}\n",
		       "unknown DeletionRequested NodeClaim/c1 -> tenant=team-a\n"
		       "drover StateChanged NodeClaim/c1 status.phase ->Failed why=BootFailed "
		       "tenant=team-a\n");
	assert_entries(OBJECT_DRAIN, NULL, drain,
		       "unknown Created Drain/d1 ->1 why=firmware\n"
		       "drover StateChanged Drain/d1 status.phase ->Pending why=firmware\n");
}

static void a_long_text_is_cut_between_characters(void **state)
{
	OWN(arena) a = arena_new();
	char *yaml, long_text[1200] = "";
	struct seen s = {""};

	(void)state;
	for (int i = 0; i < 500; i++)
		strcat(long_text, "é");
	yaml = mem_printf("metadata: {name: d1, uid: u2, generation: 1}\n"
			  "spec: {machineNames: [gpu-1], reason: %s}\n",
			  long_text);
	audit_entries_of(OBJECT_DRAIN, NULL, decoded(OBJECT_DRAIN, yaml, a), NOW, add, &s);
	str_clean(s.text);
	assert_null(strchr(s.text, '?'));
	assert_true(strlen(s.text) < 600);
	free(yaml);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_move_of_a_machine_has_its_operation_and_reason),
		cmocka_unit_test(a_changed_spec_has_names_of_fields_and_no_values),
		cmocka_unit_test(a_generation_is_recorded_even_if_no_field_changed),
		cmocka_unit_test(a_verb_names_its_user),
		cmocka_unit_test(a_change_without_a_user_names_its_program),
		cmocka_unit_test(a_waiver_has_its_user_its_drive_and_its_reason),
		cmocka_unit_test(a_machine_that_is_deleted_unwiped_says_so),
		cmocka_unit_test(an_instance_that_is_deleted_was_released_unwiped_or_may_run),
		cmocka_unit_test(objects_come_and_go),
		cmocka_unit_test(a_long_text_is_cut_between_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
