/* Tests what `drover check` finds in an installation, with a client on the simulated loop. */
#include "tests/unit/cli/verb.h"
#include "tests/unit/controller/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "api/annotations.h"
#include "api/crd.h"
#include "base/data/yaml.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/findings.h"
#include "cli/verbs.h"

#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define ADMISSION "admissionregistration.k8s.io"
#define POLICIES "/apis/" ADMISSION "/v1/validatingadmissionpolicies"
#define BINDINGS "/apis/" ADMISSION "/v1/validatingadmissionpolicybindings"

static struct cli_client c;
static char *said;
/* number of policies in deploy/rbac.yaml */
static size_t npolicies;
static size_t said_len;

static int setup(void **state)
{
	struct bench *d;

	bench_setup(state);
	d = *state;
	c = (struct cli_client){.verb = "drover check",
				.loop = d->l,
				.group = d->g,
				.http = d->c.http,
				.host = d->c.host,
				.out = open_memstream(&said, &said_len)};
	return 0;
}

static int teardown(void **state)
{
	fclose(c.out);
	free(said);
	return bench_teardown(state);
}

static const char *all_said(void)
{
	fflush(c.out);
	return said;
}

static void assert_said(const char *what)
{
	if (!strstr(all_said(), what))
		fail_msg("want '%s' in: %s", what, said);
}

static void assert_unsaid(const char *what)
{
	if (strstr(all_said(), what))
		fail_msg("'%s' is in: %s", what, said);
}

static int check(void)
{
	fclose(c.out);
	free(said);
	c.out = open_memstream(&said, &said_len);
	return cli_do_check(&c, BENCH_NS);
}

/* Escapes single quotes in text, since the bench replaces them by double quotes. */
static const char *as_bench_text(struct bench *d, const char *text)
{
	struct buf b;
	const char *copy;

	buf_init(&b, 1 << 20);
	for (; *text; text++) {
		if (*text == '\'')
			buf_puts(&b, "\\u0027");
		else
			buf_put(&b, text, 1);
	}
	copy = arena_strdup(d->a, b.data);
	buf_done(&b);
	return copy;
}

/* Installs the CustomResourceDefinitions that drover prints, in place of the bench's short ones. */
static void install_definitions(struct bench *d)
{
	struct buf text;
	struct err e;
	json_t *v, *all;
	size_t i;

	buf_init(&text, 16 << 20);
	crds_write(&text);
	all = yaml_parse_all(text.data, text.len, &e);
	buf_done(&text);
	json_array_foreach (all, i, v) {
		char *body = json_text(v);

		bench_must(d, &d->host, "PATCH",
			   arena_printf(d->a, CRDS "/%s", json_str_at(v, "metadata", "name")),
			   as_bench_text(d, body));
		free(body);
	}
	json_decref(all);
}

/* Creates the Lease of a leader that renewed it `ago` ms before now. */
static void lease(struct bench *d, int64_t ago)
{
	char t[STR_TIME_SIZE];

	bench_must(d, &d->host, "POST",
		   "/apis/coordination.k8s.io/v1/namespaces/" BENCH_NS "/leases",
		   arena_printf(d->a,
				"{'apiVersion': 'coordination.k8s.io/v1', 'kind': 'Lease', "
				"'metadata': {'name': '" CONTROLLER_LEASE "'}, 'spec': "
				"{'holderIdentity': 'drover-0', 'leaseDurationSeconds': 15, "
				"'renewTime': '%s'}}",
				str_time_micro(t, loop_wall(d->l) - ago)));
}

static void account(struct bench *d)
{
	bench_must(
		d, &d->host, "POST", "/api/v1/namespaces/" BENCH_NS "/serviceaccounts",
		"{'apiVersion': 'v1', 'kind': 'ServiceAccount', 'metadata': {'name': 'drover'}}");
}

static void secrets(struct bench *d)
{
	static const char *const names[] = {KEYS_BOOT,	   KEYS_EVIDENCE, KEYS_AGENT_CA,
					    "bmc-default", "bmc-1",	  "team-a"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		bench_secret(d, names[i], "password", "hunter2-the-value", NULL, NULL);
}

/* Defines a resource of the group that contains admission policies. */
static void define(struct bench *d, const char *plural, const char *kind)
{
	bench_must(d, &d->host, "POST", CRDS,
		   arena_printf(d->a,
				"{'metadata': {'name': '%s." ADMISSION "'}, 'spec': {'group': "
				"'" ADMISSION "', 'scope': 'Cluster', 'names': {'plural': '%s', "
				"'singular': 'x-%s', 'kind': '%s'}, 'versions': [{'name': 'v1', "
				"'served': true, 'storage': true, 'schema': {'openAPIV3Schema': "
				"{'type': 'object', 'x-kubernetes-preserve-unknown-fields': "
				"true}}}]}}",
				plural, plural, plural, kind));
}

/* Applies all policies of deploy/rbac.yaml. */
static void policies(struct bench *d)
{
	OWN_JSON all = NULL;
	struct buf text;
	struct err e;
	size_t i;
	json_t *v;

	npolicies = 0;
	define(d, "validatingadmissionpolicies", "ValidatingAdmissionPolicy");
	define(d, "validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding");
	buf_init(&text, 1 << 20);
	assert_int_equal(file_read("deploy/rbac.yaml", &text, &e), 0);
	all = yaml_parse_all(text.data, text.len, &e);
	buf_done(&text);
	json_array_foreach (all, i, v) {
		const char *kind = json_str_at(v, "kind");
		char *body = json_text(v);

		if (str_starts(kind, "ValidatingAdmissionPolicy"))
			bench_must(d, &d->host, "POST",
				   str_eq(kind, "ValidatingAdmissionPolicy") ? POLICIES : BINDINGS,
				   as_bench_text(d, body));
		npolicies += str_eq(kind, "ValidatingAdmissionPolicy");
		free(body);
	}
}

static void whole(struct bench *d)
{
	install_definitions(d);
	lease(d, 1000);
	account(d);
	policies(d);
	secrets(d);
	bench_fleet(d);
	bench_patch(d, OBJECT_NODE_POOL, "h100",
		    "{'spec': {'template': {'spec': {'requirements': null}}}}");
}

static void the_policies_of_the_installation_are_in_force(void **state)
{
	struct bench *d = *state;

	whole(d);
	if (check() != 0)
		fail_msg("%s", all_said());
	/* Each policy of the file is checked. */
	assert_said(arena_printf(d->a, "OK     policy drover-oncall and %zu more: in force\n",
				 npolicies - 1));
	bench_must(d, &d->host, "DELETE", POLICIES "/drover-approval", NULL);
	bench_must(d, &d->host, "DELETE", BINDINGS "/drover-audit", NULL);
	bench_must(d, &d->host, "PATCH", BINDINGS "/drover-oncall",
		   "{'spec': {'validationActions': ['Warn']}}");
	bench_must(d, &d->host, "PATCH", POLICIES "/drover-requested-by",
		   "{'spec': {'failurePolicy': 'Ignore'}}");
	assert_int_equal(check(), 1);
	assert_said("wrong  policy drover-approval: not installed: any user who may change "
		    "NodeClaims can approve them, in the name of another\n"
		    "       kubectl apply -f deploy/rbac.yaml, or helm upgrade\n");
	assert_said("wrong  policy drover-audit: not in force, because its "
		    "ValidatingAdmissionPolicyBinding is missing: ");
	assert_said("wrong  policy drover-oncall: not in force, because its "
		    "ValidatingAdmissionPolicyBinding does not deny: ");
	assert_said("wrong  policy drover-requested-by: its failurePolicy is not Fail");
}

static void an_api_server_without_policies_is_a_warning(void **state)
{
	struct bench *d = *state;

	whole(d);
	bench_must(d, &d->host, "DELETE", CRDS "/validatingadmissionpolicies." ADMISSION, NULL);
	bench_must(d, &d->host, "DELETE", CRDS "/validatingadmissionpolicybindings." ADMISSION,
		   NULL);
	assert_int_equal(check(), 0);
	assert_said("warn   admission policies: the API server does not serve "
		    "ValidatingAdmissionPolicies");
	assert_said("nothing wrong, 1 warning\n");
}

static void policies_that_the_user_may_not_read_are_unknown(void **state)
{
	struct bench *d = *state;

	whole(d);
	d->host.denied_at = POLICIES;
	assert_int_equal(check(), 0);
	assert_said("?      admission policies: ");
	assert_said("give your user the permission `get` on validatingadmissionpolicies\n");
	assert_unsaid("policy drover-oncall");
}

static void nothing_is_wrong_with_a_whole_installation(void **state)
{
	whole(*state);
	if (check() != 0)
		fail_msg("%s", all_said());
	assert_said("OK     API server: reachable, v1.36.2\n");
	assert_said("OK     clock: the API server's clock agrees with the local clock\n");
	assert_said("and 9 more: established, and the same as in this drover\n");
	assert_said("OK     your rights: your user has the rights of the ClusterRole "
		    "drover-admin\n");
	assert_said("OK     drover's rights: complete, as in deploy/rbac.yaml\n");
	assert_said("OK     controller: the leader is replica drover-0, which renewed its Lease ");
	assert_said("OK     machines: 1 in all; none needs an operator\n");
	assert_said("Secret " BENCH_NS "/" KEYS_BOOT " and 5 more: exists\n");
	assert_said("nothing wrong\n");
	assert_unsaid("hunter2");
}

static void an_empty_cluster_is_told_what_to_apply(void **state)
{
	struct bench *d = *state;

	bench_must(d, &d->host, "DELETE", CRDS "/machines.drover.dev", NULL);
	assert_int_equal(check(), 1);
	assert_said("wrong  machines.drover.dev: not installed\n"
		    "       drover crds | kubectl apply -f -\n");
	assert_said("differs from the definition of this drover");
	assert_said("wrong  controller: no controller has ever run here: there is no Lease "
		    "drover-controller in namespace " BENCH_NS "\n");
	assert_said("?      drover's rights: namespace " BENCH_NS " has no ServiceAccount drover");
	assert_said("wrong  drover-boot-key and 1 more: missing");
	assert_said("wrong  drover-evidence-key: missing: no wipe record can be signed\n");
}

static void a_definition_of_another_version_is_told_by_its_field(void **state)
{
	struct bench *d = *state;

	whole(d);
	bench_must(d, &d->host, "PATCH", CRDS "/drains.drover.dev",
		   "{'spec': {'names': {'shortNames': ['dr9']}}}");
	assert_int_equal(check(), 1);
	assert_said("wrong  drains.drover.dev: differs from the definition of this drover");
	assert_said(", at spec.names.shortNames[0]\n");
}

static void a_leader_that_is_not_heard_of(void **state)
{
	struct bench *d = *state;

	lease(d, 60000);
	assert_int_equal(check(), 1);
	assert_said("wrong  controller: the leader, replica drover-0, has not renewed its Lease "
		    "for ");
	assert_said("kubectl -n " BENCH_NS " get pods -l app=drover");
	bench_must(d, &d->host, "PATCH",
		   "/apis/coordination.k8s.io/v1/namespaces/" BENCH_NS "/leases/" CONTROLLER_LEASE,
		   "{'spec': {'holderIdentity': ''}}");
	assert_int_equal(check(), 1);
	assert_said("wrong  controller: no replica of the controller is the leader\n");
}

/* --- the audit log ---------------------------------------------------------------------------- */

/* Writes an annotation of the Lease. */
static void lease_note(struct bench *d, const char *key, const char *value)
{
	bench_must(d, &d->host, "PATCH",
		   "/apis/coordination.k8s.io/v1/namespaces/" BENCH_NS "/leases/" CONTROLLER_LEASE,
		   arena_printf(d->a, "{'metadata': {'annotations': {'%s': '%s'}}}", key, value));
}

static void a_file_of_the_audit_log_that_is_not_written_is_wrong(void **state)
{
	struct bench *d = *state;

	lease(d, 1000);
	lease_note(d, AUDIT_FILE_FAILS,
		   "2026-12-01T10:00:00Z replica drover-0 cannot write the file of its audit log: "
		   "/log/audit: No space left on device");
	assert_int_equal(check(), 1);
	assert_said("wrong  audit log: replica drover-0 cannot write the file of its audit log: "
		    "/log/audit: No space left on device\n");
	assert_said("make room on the disk");
	assert_null(strstr(said, "2026-12-01"));
}

/* Creates segments 1 to n, with one entry each. digests[i]: digest of the entry i + 1. */
static void segments(struct bench *d, int n, const char *digests[])
{
	const char *previous = AUDIT_GENESIS;

	for (int i = 1; i <= n; i++) {
		json_t *e = json_pack("{s:s, s:s, s:s}", "time", "2026-12-01T10:00:00Z", "who",
				      "drover", "event", AUDIT_LEADER);
		OWN_JSON s = NULL;
		char *text;

		audit_entry_seal(e, i, previous);
		previous = digests[i - 1] = arena_strdup(d->a, json_str_at(e, "digest"));
		s = json_pack("{s:s, s:s, s:{s:o}, s:{s:i, s:[o]}}", "apiVersion",
			      OBJECT_API_VERSION, "kind", "AuditSegment", "metadata", "name",
			      json_sprintf(AUDIT_SEGMENT_NAME, (long long)i), "spec", "number", i,
			      "entries", e);
		text = json_text(s);
		bench_put(d, text);
		free(text);
	}
}

/* Starts an output of its own, so that assert_said() sees the last command only. */
static void said_anew(void)
{
	fclose(c.out);
	free(said);
	c.out = open_memstream(&said, &said_len);
}

static void a_deleted_newest_segment_of_the_audit_log_is_named(void **state)
{
	struct bench *d = *state;
	const char *digests[3];

	segments(d, 3, digests);
	assert_int_equal(cli_do_audit_verify(&c, BENCH_NS), 0); /* there is no Lease yet */
	lease(d, 1000);
	lease_note(d, AUDIT_NEWEST, arena_printf(d->a, "3 3 %s", digests[2]));
	assert_int_equal(cli_do_audit_verify(&c, BENCH_NS), 0);
	assert_said("Every entry is as it was written.");
	said_anew();
	lease_note(d, AUDIT_NEWEST, arena_printf(d->a, "3 3 %s", digests[1]));
	assert_int_equal(cli_do_audit_verify(&c, BENCH_NS), 1);
	assert_said("bent: entry 3 is not the one that drover recorded in its Lease");
	said_anew();
	lease_note(d, AUDIT_NEWEST, arena_printf(d->a, "3 5 %s", digests[2]));
	assert_int_equal(cli_do_audit_verify(&c, BENCH_NS), 1);
	assert_said("missing: the entries after 3, up to 5 that drover recorded");
	said_anew();
	lease_note(d, AUDIT_NEWEST, arena_printf(d->a, "3 3 %s", digests[2]));
	bench_must(d, &d->host, "DELETE",
		   "/apis/" OBJECT_API_VERSION "/auditsegments/audit-00000003", NULL);
	assert_int_equal(cli_do_audit_verify(&c, BENCH_NS), 1);
	assert_said("missing: segment audit-00000003, the newest that drover recorded in its "
		    "Lease, was deleted, with all after entry 2 up to 3.");
}

static void a_record_of_the_newest_segment_is_read_strictly(void **state)
{
	static const char *const bad[] = {NULL,
					  "",
					  "1",
					  "1 2",
					  "1 2 sha256:0",
					  "0 1 " AUDIT_GENESIS,
					  "1 0 " AUDIT_GENESIS,
					  "1 1 " AUDIT_GENESIS " ",
					  "9999999999999 1 " AUDIT_GENESIS};
	struct audit_newest n;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_false(audit_newest_parse(bad[i], &n));
		assert_int_equal(n.number, 0);
	}
	assert_true(audit_newest_parse("12 3456 " AUDIT_GENESIS, &n));
	assert_int_equal(n.number, 12);
	assert_int_equal(n.seq, 3456);
	assert_string_equal(n.digest, AUDIT_GENESIS);
}

/* A new key could not verify the existing records, so the advice must be to restore the old key. */
static void a_lost_evidence_key_is_to_be_restored(void **state)
{
	struct bench *d = *state;

	whole(d);
	bench_must(d, &d->host, "DELETE", "/api/v1/namespaces/" BENCH_NS "/secrets/" KEYS_EVIDENCE,
		   NULL);
	bench_put(
		d,
		"{'kind': 'WipeRecord', 'metadata': {'name': 'm-1-41-1'}, 'spec': {'machine': "
		"{'name': 'm-1', 'uid': 'u'}, 'tenancy': 41, 'attempt': 1, 'startTime': "
		"'2026-12-01T09:00:00Z', 'endTime': '2026-12-01T09:01:10Z', 'verdict': 'Purge', "
		"'agentTrust': 'BootNetwork', 'inventory': {'expected': 0, 'seen': 0}, 'devices': "
		"[], 'envelope': 'AAAA'}}");
	assert_int_equal(check(), 1);
	assert_said("WipeRecords exist: until it is restored, no machine is wiped, "
		    "offered or claimed\n"
		    "       restore it from a backup");
}

static void of_a_secret_nothing_but_its_metadata_is_sent(void **state)
{
	struct bench *d = *state;
	struct err e;
	OWN_JSON o = NULL;

	secrets(d);
	o = cli_metadata(&c, &KUBE_SECRETS, BENCH_NS, "bmc-1", &e);
	assert_string_equal(json_str_at(o, "kind"), "PartialObjectMetadata");
	assert_string_equal(json_str_at(o, "metadata", "name"), "bmc-1");
	assert_null(json_object_get(o, "data"));
}

static void what_objects_name_and_is_not_there(void **state)
{
	struct bench *d = *state;

	whole(d);
	bench_must(d, &d->host, "DELETE", "/api/v1/namespaces/" BENCH_NS "/secrets/bmc-default",
		   NULL);
	bench_patch(d, OBJECT_NODE_POOL, "h100",
		    "{'spec': {'virtualClusterSelector': {'matchLabels': {'tier': 'gold'}},"
		    " 'template': {'spec': {'providerRefs': [{'name': 'hall-z'}]}}}}");
	for (int i = 2; i < 5; i++)
		bench_put(d, arena_printf(
				     d->a,
				     "{'kind': 'Machine', 'metadata': {'name': 'm-%d'}, 'spec': "
				     "{'providerRef': {'name': 'hall-a'}, 'instanceType': 'dgx'}}",
				     i));
	assert_int_equal(check(), 1);
	assert_said("wrong  provider/hall-a: refers to Secret " BENCH_NS
		    "/bmc-default, which does not exist\n");
	assert_said("create secret generic bmc-default, or correct the name\n");
	assert_said("wrong  nodepool/h100: refers to Provider hall-z, which does not exist\n");
	assert_said("wrong  nodepool/h100: spec.virtualClusterSelector matches no "
		    "VirtualCluster\n");
	assert_said(
		"wrong  machine/m-2 and 2 more: refers to instance type dgx, which its Provider "
		"does "
		"not have\n");
	assert_said("wrong  machine/m-2 and 2 more: has no spec.identity");
	assert_said("5 wrong\n");
}

static void what_a_person_must_do_is_said_as_drover_why_says_it(void **state)
{
	struct bench *d = *state;

	whole(d);
	bench_status(d, OBJECT_VIRTUAL_CLUSTER, "team-a",
		     "{'conditions': [{'type': 'Ready', 'status': 'False', 'reason': "
		     "'KubeconfigRefused', 'message': 'users[0].user.exec', 'lastTransitionTime': "
		     "'2026-01-01T00:00:00Z'}]}");
	bench_status(d, OBJECT_MACHINE, "m-1",
		     "{'state': 'quarantined', 'quarantine': {'reason': 'DriveMissing', 'since': "
		     "'2026-01-01T00:00:00Z'}}");
	assert_int_equal(check(), 1);
	assert_said("wrong  virtualcluster/team-a: KubeconfigRefused: users[0].user.exec\n");
	assert_said("wrong  machines: 1 in all; need an operator: 1; overdue or unreachable: 0\n"
		    "       drover why lists these machines\n");
}

static void who_may_read_nothing_is_told_what_cannot_be_told(void **state)
{
	struct bench *d = *state;

	whole(d);
	d->host.denied_at = "/secrets/";
	assert_int_equal(check(), 0);
	assert_said("?      Secret " BENCH_NS "/" KEYS_BOOT
		    " and 5 more: your user may not read this Secret\n");
	assert_said("nothing wrong, 1 could not be checked\n");
	d->host.denied_at = NULL;
	bench_away(d, &d->host, true);
	assert_int_equal(check(), 1);
	assert_said("wrong  API server: ");
	assert_unsaid("controller:");
	bench_away(d, &d->host, false);
}

static void programs_read_json(void **state)
{
	struct err e;
	OWN_JSON j = NULL;

	whole(*state);
	c.json = true;
	assert_int_equal(check(), 0);
	fflush(c.out);
	j = json_parse(said, said_len, &e);
	assert_int_equal(json_int_at(j, "wrong"), 0);
	assert_string_equal(json_str_at(json_array_get(json_at(j, "findings"), 0), "result"), "ok");
}

/* --- the leader's Service --------------------------------------------------------------------- */

#define SERVICES "/api/v1/namespaces/" BENCH_NS "/services"
#define SLICES "/apis/discovery.k8s.io/v1/namespaces/" BENCH_NS "/endpointslices"

/* Makes the bench's API server serve EndpointSlices, a kind that it does not have. */
static void serve_slices(struct bench *d)
{
	bench_must(d, &d->host, "POST", CRDS,
		   "{'metadata': {'name': 'endpointslices.discovery.k8s.io'}, 'spec': {'group': "
		   "'discovery.k8s.io', 'scope': 'Namespaced', 'names': {'plural': "
		   "'endpointslices', 'singular': 'endpointslice', 'kind': 'EndpointSlice'}, "
		   "'versions': [{'name': 'v1', 'served': true, 'storage': true, 'schema': "
		   "{'openAPIV3Schema': {'type': 'object', "
		   "'x-kubernetes-preserve-unknown-fields': true}}}]}}");
	bench_run(d, 1000);
}

static void slice(struct bench *d, const char *name, const char *writer, const char *pod)
{
	bench_must(d, &d->host, "POST", SLICES,
		   arena_printf(d->a,
				"{'metadata': {'name': '%s', 'labels': "
				"{'kubernetes.io/service-name': 'drover', "
				"'endpointslice.kubernetes.io/managed-by': '%s'}}, 'addressType': "
				"'IPv4', 'endpoints': [{'addresses': ['10.2.0.1'], 'conditions': "
				"{'ready': true}, 'targetRef': {'name': '%s'}}]}",
				name, writer, pod));
}

static void the_service_leads_to_the_leader_or_what_is_wrong_is_named(void **state)
{
	struct bench *d = *state;

	whole(d);
	serve_slices(d);
	/* drover runs without such a Service, on a host outside the cluster for example. */
	assert_int_equal(check(), 0);
	assert_unsaid("service/");

	bench_must(d, &d->host, "POST", SERVICES,
		   "{'metadata': {'name': 'drover'}, 'spec': {'ports': [{'name': 'agent', 'port': "
		   "8443}]}}");
	assert_int_equal(check(), 1);
	assert_said("wrong  service/drover: leads to no replica: it has no selector, and no leader "
		    "has written EndpointSlice drover-leader\n"
		    "       run drover with --leader-service drover;");

	slice(d, "drover-leader", "drover.dev", "drover-0");
	assert_int_equal(check(), 0);
	assert_said("OK     service/drover: leads to the leader, pod drover-0 at address "
		    "10.2.0.1\n");

	bench_must(d, &d->host, "PATCH", SLICES "/drover-leader",
		   "{'endpoints': [{'addresses': ['10.2.0.1'], 'conditions': {'ready': false}, "
		   "'targetRef': {'name': 'drover-0'}}]}");
	assert_int_equal(check(), 1);
	assert_said("the endpoint of the leader, pod drover-0, is marked as not ready\n");

	bench_must(d, &d->host, "PATCH", SLICES "/drover-leader",
		   "{'endpoints': [{'addresses': ['10.2.0.1'], 'conditions': {'ready': true}, "
		   "'targetRef': {'name': 'drover-1'}}]}");
	assert_int_equal(check(), 1);
	assert_said("wrong  service/drover: leads to pod drover-1, but the leader is drover-0\n");

	/* what remains of a Service that had a selector */
	slice(d, "drover-x7k2p", "endpointslice-controller.k8s.io", "drover-1");
	assert_int_equal(check(), 1);
	assert_said("wrong  service/drover: EndpointSlice drover-x7k2p, which drover did not "
		    "write, leads to other addresses than the leader's\n"
		    "       kubectl -n " BENCH_NS " delete endpoints drover --ignore-not-found; "
		    "kubectl -n " BENCH_NS " delete endpointslice drover-x7k2p\n");

	bench_must(d, &d->host, "PATCH", SERVICES "/drover",
		   "{'spec': {'selector': {'app': 'drover'}}}");
	assert_int_equal(check(), 1);
	assert_said("wrong  service/drover: has a selector, so it also leads to replicas that are "
		    "not the leader\n");
	/* An installation with one replica has a selector, and no slice of a leader. */
	bench_must(d, &d->host, "DELETE", SLICES "/drover-leader", NULL);
	assert_int_equal(check(), 0);
	assert_unsaid("service/");
}

/* A Service of another name is known by the slice that its leader wrote. */
static void a_service_that_is_missing_or_may_not_be_read(void **state)
{
	struct bench *d = *state;

	whole(d);
	serve_slices(d);
	bench_must(d, &d->host, "POST", SLICES,
		   "{'metadata': {'name': 'front-leader', 'labels': {'kubernetes.io/service-name': "
		   "'front', 'endpointslice.kubernetes.io/managed-by': 'drover.dev'}}}");
	assert_int_equal(check(), 1);
	assert_said("wrong  service/front: missing, although the leader runs with "
		    "--leader-service front\n");
	d->host.denied_at = "/services/front";
	assert_int_equal(check(), 0);
	assert_said("?      service/front: ");
	assert_said("give your user the permission `get` on services in drover's namespace\n");
	d->host.denied_at = "/endpointslices";
	assert_int_equal(check(), 0);
	assert_said("?      service/drover: ");
	assert_said(
		"give your user the permission `list` on endpointslices in drover's namespace\n");
}

/* --- an API server that answers access reviews ------------------------------------------------ */

#define REVIEWER "https://reviewer.test:6443"

struct reviewer {
	struct httpd *d;
	struct kube_client *client;
	/* Text in an access review; each review that contains the text is denied */
	const char *denies;
	/* Name of the caller; NULL: not answered */
	const char *user;
	/* Version of the API server; NULL: v1.29.4 */
	const char *version;
};

static void on_review(struct httpd_req *q, void *arg)
{
	const struct reviewer *r = arg;
	size_t len;

	httpd_reply_json(q, 201,
			 strstr(httpd_body(q, &len), r->denies)
				 ? "{\"status\": {\"allowed\": false}}"
				 : "{\"status\": {\"allowed\": true}}");
}

static void on_who(struct httpd_req *q, void *arg)
{
	const struct reviewer *r = arg;
	char text[256];

	str_format(text, sizeof(text), "{\"status\": {\"userInfo\": {\"username\": \"%s\"}}}",
		   str_or(r->user, ""));
	httpd_reply_json(q, 201, text);
}

static void on_any(struct httpd_req *q, void *arg)
{
	const struct reviewer *r = arg;
	char text[128];

	str_format(text, sizeof(text), "{\"gitVersion\": \"%s\", \"items\": []}",
		   str_or(r->version, "v1.29.4"));
	httpd_reply_header(q, "Date", "Mon, 24 Nov 2025 18:00:00 GMT");
	httpd_reply_json(q, 200, text);
}

static void reviewer_start(struct reviewer *r, struct bench *d)
{
	struct kube_config *cfg = mem_new(struct kube_config);
	struct kube_client_spec cs = {.config = cfg, .name = "host", .qps = 1000, .burst = 1000};
	struct err e;

	cfg->server = mem_strdup(REVIEWER);
	cfg->token = secret_from_str("a-token-0123456789");
	r->d = httpd_new(d->server_g);
	httpd_route(r->d, "POST", "/apis/authorization.k8s.io/v1/**", 4096, on_review, r);
	httpd_route(r->d, "POST", "/apis/authentication.k8s.io/v1/**", 4096, on_who, r);
	httpd_route(r->d, "*", "/**", 4096, on_any, r);
	http_mem_serve(d->net, REVIEWER, r->d);
	r->client = kube_client_new(d->g, d->c.http, &cs, &e);
	assert_non_null(r->client);
	kube_config_free(cfg);
	c.host = r->client;
}

static void reviewer_stop(struct reviewer *r, struct bench *d)
{
	http_mem_serve(d->net, REVIEWER, NULL);
	kube_client_free(r->client);
	httpd_free(r->d);
}

static void rights_that_lack_are_named(void **state)
{
	struct bench *d = *state;
	struct reviewer r = {.denies = "\"leases\""};

	reviewer_start(&r, d);
	assert_int_equal(check(), 1);
	assert_said("wrong  drover's rights: system:serviceaccount:" BENCH_NS
		    ":drover may not get, create, patch leases in namespace " BENCH_NS "\n"
		    "       kubectl apply -f deploy/rbac.yaml; or bind a Role to the "
		    "ServiceAccount with this rule: - {apiGroups: [coordination.k8s.io], "
		    "resources: [leases], verbs: [get, create, patch]}\n");
	assert_unsaid("configmaps in namespace");
	assert_said("OK     your rights: your user has the rights of the ClusterRole "
		    "drover-admin\n");
	r.denies = "\"drover-leader\"";
	assert_int_equal(check(), 1);
	assert_said("may not get, patch, delete endpointslices drover-leader in namespace " BENCH_NS
		    "\n");
	r.denies = "administer";
	assert_int_equal(check(), 1);
	assert_said("OK     your rights: your user has the rights of the ClusterRole "
		    "drover-oncall\n");
	assert_said("may not administer machines\n");
	r.denies = "list";
	assert_int_equal(check(), 1);
	assert_said("wrong  your rights: your user (name unknown) cannot read drover's objects");
	assert_said("--clusterrole=drover-view --user='YOU'");
	r.user = "system:serviceaccount:ci:robot";
	assert_int_equal(check(), 1);
	assert_said("your user system:serviceaccount:ci:robot cannot read drover's objects");
	assert_said("--clusterrole=drover-view --serviceaccount=ci:robot;");
	reviewer_stop(&r, d);
}

static void clocks_apart_and_an_old_server(void **state)
{
	struct bench *d = *state;
	struct reviewer r = {.denies = "no such"};

	reviewer_start(&r, d);
	assert_int_equal(check(), 1);
	assert_said("wrong  clock: the API server's clock is ");
	assert_said(" ahead of the local clock\n");
	assert_said("wrong  API server: version v1.29.4 is too old\n");
	reviewer_stop(&r, d);
}

static void a_version_two_minors_away_is_a_warning(void **state)
{
	static const struct {
		const char *version, *said;
	} rows[] = {
		{"v1.34.1", "warn   API server: reachable, v1.34.1: 2 minor versions older than "
			    "1.36, with which this drover was tested\n       upgrade the host"},
		{"v1.35.0", "OK     API server: reachable, v1.35.0\n"},
		{"v1.38.0-rc.1", "warn   API server: reachable, v1.38.0-rc.1: 2 minor versions "
				 "newer than 1.36"},
		{"v1.x", "?      API server: the API server reports an unknown version: v1.x\n"},
	};
	struct bench *d = *state;
	struct reviewer r = {.denies = "no such"};

	reviewer_start(&r, d);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		r.version = rows[i].version;
		(void)check();
		assert_said(rows[i].said);
	}
	reviewer_stop(&r, d);
}

static void a_token_that_is_not_valid_is_told_to_log_in(void **state)
{
	struct bench *d = *state;

	d->host.denied = true;
	assert_int_equal(check(), 1);
	assert_said("wrong  your login: ");
	assert_said("the cluster does not know this user: log in again");
	assert_unsaid("?  ");
	d->host.denied = false;
}

/* --- the Deployment --------------------------------------------------------------------------- */

static void deployment(struct bench *d, int ready)
{
	bench_must(d, &d->host, "POST", "/apis/apps/v1/namespaces/" BENCH_NS "/deployments",
		   "{'apiVersion': 'apps/v1', 'kind': 'Deployment', 'metadata': {'name': "
		   "'drover'}, 'spec': {'replicas': 2, 'selector': {'matchLabels': {'app': "
		   "'drover'}}, 'template': {'metadata': {'labels': {'app': 'drover'}}, 'spec': "
		   "{'containers': [{'name': 'drover', 'image': 'registry.example/drover:0.1'}]}}}"
		   "}");
	bench_must(d, &d->host, "PATCH",
		   "/apis/apps/v1/namespaces/" BENCH_NS "/deployments/drover/status",
		   arena_printf(d->a, "{'status': {'readyReplicas': %d}}", ready));
}

static void replica(struct bench *d, const char *name, const char *digest)
{
	bench_must(d, &d->host, "POST", "/api/v1/namespaces/" BENCH_NS "/pods",
		   arena_printf(d->a,
				"{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': '%s', "
				"'labels': {'app': 'drover'}}, 'spec': {'containers': [{'name': "
				"'drover', 'image': 'registry.example/drover:0.1'}]}}",
				name));
	bench_must(d, &d->host, "PATCH",
		   arena_printf(d->a, "/api/v1/namespaces/" BENCH_NS "/pods/%s/status", name),
		   arena_printf(d->a,
				"{'status': {'containerStatuses': [{'name': 'drover', 'imageID': "
				"'registry.example/drover@sha256:%s'}]}}",
				digest));
}

static void the_image_that_runs_is_shown_by_its_digest(void **state)
{
	struct bench *d = *state;

	whole(d);
	deployment(d, 2);
	replica(d, "drover-a", "11aa");
	replica(d, "drover-b", "11aa");
	/* An evicted pod of an earlier version stays in the API. */
	replica(d, "drover-old", "00cc");
	bench_must(d, &d->host, "PATCH", "/api/v1/namespaces/" BENCH_NS "/pods/drover-old/status",
		   "{'status': {'phase': 'Failed'}}");
	assert_int_equal(check(), 0);
	assert_said("OK     image: registry.example/drover:0.1, which is sha256:11aa (drover-a, "
		    "drover-b)\n");
	assert_said("OK     replicas: 2 of 2 are ready\n");
}

static void replicas_of_two_images_are_a_warning(void **state)
{
	struct bench *d = *state;

	whole(d);
	deployment(d, 1);
	replica(d, "drover-a", "11aa");
	replica(d, "drover-b", "22bb");
	assert_int_equal(check(), 0);
	assert_said("warn   image: replicas run different images: sha256:11aa (drover-a); "
		    "sha256:22bb (drover-b)\n");
	assert_said("warn   replicas: 1 of 2 are ready\n");
	assert_said("nothing wrong, 2 warnings\n");
}

/* --- probes ----------------------------------------------------------------------------------- */

/* Only the agent endpoint of the fleet answers. */
static void addresses_are_probed_from_here(void **state)
{
	struct bench *d = *state;
	struct reviewer agent = {.denies = "no such"};

	whole(d);
	agent.d = httpd_new(d->server_g);
	httpd_route(agent.d, "*", "/**", 4096, on_any, &agent);
	http_mem_serve(d->net, "https://10.1.0.5:8443", agent.d);
	assert_int_equal(check(), 0);
	assert_unsaid("agent endpoint");
	fclose(c.out);
	free(said);
	c.out = open_memstream(&said, &said_len);
	assert_int_equal(cli_do_check_probing(&c, BENCH_NS), 1);
	assert_said("OK     agent endpoint of provider/hall-a: reached\n");
	assert_said("wrong  BMC of machine/m-1: https://10.0.8.17");
	assert_said("check the route and the firewalls between here and the network of the BMCs");
	assert_said("wrong  boot media of provider/hall-a: http://10.0.8.2:8080 cannot be reached");
	http_mem_serve(d->net, "https://10.1.0.5:8443", NULL);
	httpd_free(agent.d);
}

static void a_provider_that_isolates_nothing_is_a_warning(void **state)
{
	struct bench *d = *state;

	whole(d);
	bench_status(d, OBJECT_PROVIDER, "hall-a",
		     "{'conditions': [{'type': 'Isolating', 'status': 'False', 'reason': "
		     "'NoNetworkDriver', 'message': 'spec.network.type is none', "
		     "'lastTransitionTime': '2026-01-01T00:00:00Z'}]}");
	assert_int_equal(check(), 0);
	assert_said("warn   provider/hall-a: not Isolating: NoNetworkDriver: spec.network.type is "
		    "none\n       choose a network fabric");
}

static void daemonsets_that_cannot_be_read_are_a_warning(void **state)
{
	struct bench *d = *state;

	whole(d);
	bench_status(d, OBJECT_VIRTUAL_CLUSTER, "team-a",
		     "{'conditions': [{'type': 'DaemonSetsRead', 'status': 'False', 'reason': "
		     "'NotPermitted', 'message': 'drover may not', 'lastTransitionTime': "
		     "'2026-01-01T00:00:00Z'}]}");
	assert_int_equal(check(), 0);
	assert_said("warn   virtualcluster/team-a: not DaemonSetsRead: NotPermitted: drover may "
		    "not\n       kubectl apply -f deploy/tenant-rbac.yaml");
}

static void texts_of_others_reach_the_terminal_clean(void **state)
{
	OWN(findings) f = findings_new();

	(void)state;
	findings_add(f, FINDING_OK, "a", NULL, "well");
	findings_add(f, FINDING_WRONG, "m\x1b[31m", "mend\x07", "says\n\x1b]0;x");
	findings_print(f, false, false, c.out);
	assert_said("wrong  m?[31m: says??]0;x\n       mend?\nOK     a: well\n1 wrong\n");
}

static void a_wrong_command_line_is_refused_by_name(void **state)
{
	(void)state;
	assert_int_equal(
		verb_run("drover check", cli_check, NULL, (const char *const[]){"pools", NULL}), 2);
	verb_assert_said("takes no argument, got 'pools'");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(nothing_is_wrong_with_a_whole_installation),
		T(the_policies_of_the_installation_are_in_force),
		T(an_api_server_without_policies_is_a_warning),
		T(policies_that_the_user_may_not_read_are_unknown),
		T(an_empty_cluster_is_told_what_to_apply),
		T(a_definition_of_another_version_is_told_by_its_field),
		T(a_leader_that_is_not_heard_of),
		T(a_file_of_the_audit_log_that_is_not_written_is_wrong),
		T(a_deleted_newest_segment_of_the_audit_log_is_named),
		T(a_record_of_the_newest_segment_is_read_strictly),
		T(a_lost_evidence_key_is_to_be_restored),
		T(of_a_secret_nothing_but_its_metadata_is_sent),
		T(what_objects_name_and_is_not_there),
		T(what_a_person_must_do_is_said_as_drover_why_says_it),
		T(who_may_read_nothing_is_told_what_cannot_be_told),
		T(programs_read_json),
		T(the_service_leads_to_the_leader_or_what_is_wrong_is_named),
		T(a_service_that_is_missing_or_may_not_be_read),
		T(rights_that_lack_are_named),
		T(clocks_apart_and_an_old_server),
		T(a_version_two_minors_away_is_a_warning),
		T(a_token_that_is_not_valid_is_told_to_log_in),
		T(the_image_that_runs_is_shown_by_its_digest),
		T(replicas_of_two_images_are_a_warning),
		T(addresses_are_probed_from_here),
		T(a_provider_that_isolates_nothing_is_a_warning),
		T(daemonsets_that_cannot_be_read_are_a_warning),
		T(texts_of_others_reach_the_terminal_clean),
		cmocka_unit_test(a_wrong_command_line_is_refused_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
