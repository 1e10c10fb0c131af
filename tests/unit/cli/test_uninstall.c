/* Tests `drover uninstall` on the simulated loop, with an embedded API server. */
#include "tests/unit/cli/verb.h"
#include "tests/unit/controller/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "api/annotations.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/uninstall.h"
#include "controller/rules/kept_bills.h"

static struct cli_client c;
static char *said;
static size_t said_len;
static char folder[] = "/tmp/drover-uninstall-XXXXXX", file[64];

static int setup(void **state)
{
	struct bench *d;

	bench_setup(state);
	d = *state;
	str_copy(folder, sizeof(folder), "/tmp/drover-uninstall-XXXXXX");
	assert_non_null(mkdtemp(folder));
	str_format(file, sizeof(file), "%s/objects.jsonl", folder);
	c = (struct cli_client){.verb = "drover uninstall",
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
	unlink(file);
	rmdir(folder);
	return bench_teardown(state);
}

static void assert_said(const char *what)
{
	fflush(c.out);
	if (!strstr(said, what))
		fail_msg("want '%s' in: %s", what, said);
}

static int uninstall(bool release)
{
	const struct cli_uninstall u = {
		.ns = BENCH_NS, .release = release, .save = release ? file : NULL, .yes = release};

	fclose(c.out);
	free(said);
	c.out = open_memstream(&said, &said_len);
	return cli_do_uninstall(&c, &u);
}

static void hold(struct bench *d, enum object_kind_id kind, const char *name, const char *by)
{
	bench_patch(d, kind, name, arena_printf(d->a, "{'metadata': {'finalizers': [%s]}}", by));
}

/* A fleet whose controller is gone: a tenant with a bill, its machine, and a record that waits for
 * its export; each has drover's finalizer. */
static void left_by_drover(struct bench *d)
{
	bench_fleet(d);
	hold(d, OBJECT_VIRTUAL_CLUSTER, "team-a", "'" FINALIZER_VIRTUAL_CLUSTER "'");
	bench_status(d, OBJECT_VIRTUAL_CLUSTER, "team-a",
		     "{'cost': {'time': '2026-11-20T12:00:00Z', 'charges': [{'month': '2026-11', "
		     "'pool': 'h100', 'provider': 'hall-a', 'instanceType': 'hgx', 'phase': "
		     "'Ready', 'gpus': 8, 'seconds': 7200}]}, 'debts': [{'nodeName': 'n-1', "
		     "'nodeUID': 'u', 'since': '2026-11-20T12:00:00Z'}]}");
	hold(d, OBJECT_MACHINE, "m-1", "'" FINALIZER_MACHINE "'");
	bench_status(d, OBJECT_MACHINE, "m-1",
		     "{'state': 'serving', 'claimRef': {'name': 'n-1', 'uid': 'u'}}");
	hold(d, OBJECT_PROVIDER, "hall-a", "'" FINALIZER_PROVIDER "'");
	bench_put(d, "{'kind': 'WipeRecord', 'metadata': {'name': 'm-1-41-1', 'finalizers': "
		     "['" FINALIZER_WIPE_RECORD "']}, 'spec': {'machine': {'name': 'm-1', 'uid': "
		     "'u'}, 'tenancy': 41, 'attempt': 1, 'startTime': '2026-12-01T09:00:00Z', "
		     "'endTime': '2026-12-01T09:01:10Z', 'verdict': 'Purge', 'agentTrust': "
		     "'BootNetwork', 'inventory': {'expected': 0, 'seen': 0}, 'devices': [], "
		     "'envelope': 'AAAA'}}");
}

static void lease(struct bench *d, const char *holder)
{
	char t[STR_TIME_SIZE];

	bench_must(d, &d->host, "POST",
		   "/apis/coordination.k8s.io/v1/namespaces/" BENCH_NS "/leases",
		   arena_printf(d->a,
				"{'apiVersion': 'coordination.k8s.io/v1', 'kind': 'Lease', "
				"'metadata': {'name': '" CONTROLLER_LEASE "'}, 'spec': "
				"{'holderIdentity': '%s', 'leaseDurationSeconds': 15, "
				"'renewTime': '%s'}}",
				holder, str_time_micro(t, loop_wall(d->l) - 1000)));
}

static void each_object_is_listed_with_what_it_loses(void **state)
{
	left_by_drover(*state);
	assert_int_equal(uninstall(false), 1);
	assert_said("virtualcluster/team-a   drover.dev/virtual-cluster   its bill is saved in a "
		    "ConfigMap; later costs are not recorded; 1 Nodes or bootstrap tokens stay in "
		    "its cluster, first Node n-1");
	assert_said("the machine (serving) stays in the network of claim n-1 and is not wiped");
	assert_said("proof that machine m-1 was wiped, which drover has not exported yet");
	assert_said("5 objects are left, 4 of them with a finalizer\n");
	assert_said("drover uninstall --release-finalizers --save FILE\n");
}

/* drover deletes its segments only with their definition. */
static void the_audit_log_is_counted_and_saved(void **state)
{
	struct bench *d = *state;
	char line[1024] = "";
	FILE *f;

	bench_put(d, "{'kind': 'AuditSegment', 'metadata': {'name': 'audit-00000001'}, 'spec': "
		     "{'number': 1, 'entries': [{'seq': 1, 'time': '2026-12-01T10:00:00Z', 'who': "
		     "'drover-0', 'event': 'LeaderStarted', 'previous': '" AUDIT_GENESIS
		     "', 'digest': '" AUDIT_GENESIS "'}]}}");
	assert_int_equal(uninstall(false), 0);
	assert_said("1 segments of the audit log are deleted with the definitions");
	assert_int_equal(uninstall(true), 0);
	f = fopen(file, "r");
	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	fclose(f);
	assert_non_null(strstr(line, "\"kind\":\"AuditSegment\""));
	assert_non_null(strstr(line, "\"seq\":1"));
}

static void while_drover_runs_it_removes_its_finalizers_itself(void **state)
{
	struct bench *d = *state;

	left_by_drover(d);
	lease(d, "drover-0");
	assert_int_equal(uninstall(false), 1);
	assert_said("drover runs (replica drover-0): delete the objects now");
	verb_errors_begin();
	assert_int_equal(uninstall(true), 1);
	verb_errors_end("would set its finalizers again");
	assert_int_not_equal(access(file, F_OK), 0);
	OWN_JSON m = bench_get(d, OBJECT_MACHINE, "m-1");
	assert_non_null(m);
}

/* A Deployment whose pods fail now may start a leader at any time. */
static void a_deployment_with_replicas_is_stopped_first(void **state)
{
	struct bench *d = *state;
	const char *deployments = "/apis/apps/v1/namespaces/" BENCH_NS "/deployments";

	left_by_drover(d);
	bench_must(d, &d->host, "POST", deployments,
		   "{'apiVersion': 'apps/v1', 'kind': 'Deployment', 'metadata': {'name': "
		   "'drover'}, 'spec': {'replicas': 2}}");
	verb_errors_begin();
	assert_int_equal(uninstall(true), 1);
	verb_errors_end("Deployment drover in namespace " BENCH_NS " starts drover: stop it first");
	OWN_JSON m = bench_get(d, OBJECT_MACHINE, "m-1");
	assert_non_null(m);
	bench_must(d, &d->host, "PATCH", arena_printf(d->a, "%s/drover", deployments),
		   "{'spec': {'replicas': 0}}");
	assert_int_equal(uninstall(true), 0);
}

static bool is_saved(const char *kind, const char *name)
{
	FILE *f = fopen(file, "r");
	char *line = NULL;
	size_t cap = 0;
	bool found = false;
	struct err e;

	assert_non_null(f);
	while (getline(&line, &cap, f) > 0) {
		OWN_JSON o = json_parse(line, strlen(line), &e);

		found |= str_eq(json_str_at(o, "kind"), kind) &&
			 str_eq(json_str_at(o, "metadata", "name"), name);
	}
	free(line);
	fclose(f);
	return found;
}

static void nothing_is_left_and_everything_is_saved(void **state)
{
	struct bench *d = *state;
	char map[KEPT_BILLS_NAME];
	const char *uid, *bill;

	left_by_drover(d);
	OWN_JSON vc = bench_get(d, OBJECT_VIRTUAL_CLUSTER, "team-a");
	uid = json_str_at(vc, "metadata", "uid");
	/* deleted by an operator before drover was gone for good */
	bench_must(d, &d->host, "DELETE", "/apis/drover.dev/v1alpha1/machines/m-1", NULL);
	verb_errors_begin();
	assert_int_equal(uninstall(true), 0);
	verb_errors_end("drover deletes these 5 objects");
	assert_said("no object of drover is left");
	assert_true(is_saved("VirtualCluster", "team-a"));
	assert_true(is_saved("Machine", "m-1"));
	assert_true(is_saved("WipeRecord", "m-1-41-1"));
	kept_bills_name(kept_bills_of(uid), map);
	OWN_JSON stored =
		bench_stored(&d->host, arena_printf(d->a, "configmaps/" BENCH_NS "/%s", map));
	bill = json_str_at(stored, "data", uid);
	assert_non_null(bill);
	assert_non_null(strstr(bill, "\"seconds\":7200"));
}

static void a_bill_that_cannot_be_saved_keeps_its_tenant(void **state)
{
	struct bench *d = *state;

	left_by_drover(d);
	d->host.denied_at = "/configmaps";
	verb_errors_begin();
	assert_int_equal(uninstall(true), 1);
	verb_errors_end("virtualcluster team-a is not deleted: its bill cannot be saved");
	d->host.denied_at = NULL;
	OWN_JSON vc = bench_get(d, OBJECT_VIRTUAL_CLUSTER, "team-a");
	assert_null(json_at(vc, "metadata", "deletionTimestamp"));
}

static void finalizers_of_others_stay(void **state)
{
	struct bench *d = *state;

	bench_fleet(d);
	hold(d, OBJECT_MACHINE, "m-1", "'" FINALIZER_MACHINE "', 'example.com/inventory'");
	verb_errors_begin();
	assert_int_equal(uninstall(true), 1);
	verb_errors_end("removes its finalizers");
	assert_said("machine/m-1 (deleted)   example.com/inventory");
	assert_said("no finalizer of drover is left: only the software that set");
}

static void a_file_that_exists_is_not_overwritten(void **state)
{
	struct bench *d = *state;
	FILE *f = fopen(file, "w");

	fputs("kept\n", f);
	fclose(f);
	left_by_drover(d);
	verb_errors_begin();
	assert_int_equal(uninstall(true), 1);
	verb_errors_end("give a file that does not exist");
	OWN_JSON m = bench_get(d, OBJECT_MACHINE, "m-1");
	assert_null(json_at(m, "metadata", "deletionTimestamp"));
}

static void programs_read_json(void **state)
{
	struct err e;

	left_by_drover(*state);
	c.json = true;
	assert_int_equal(uninstall(false), 1);
	fflush(c.out);
	OWN_JSON j = json_parse(said, said_len, &e);
	assert_int_equal(json_int_at(j, "left"), 5);
	assert_int_equal(json_int_at(j, "held"), 4);
	assert_string_equal(json_str_at(json_array_get(json_at(j, "objects"), 0), "finalizers"),
			    FINALIZER_VIRTUAL_CLUSTER);
}

static void a_wrong_command_line_is_refused_by_name(void **state)
{
#define UNINSTALL(...)                                                                             \
	verb_run("drover uninstall", cli_uninstall, NULL, (const char *const[]){__VA_ARGS__, NULL})
	(void)state;
	assert_int_equal(UNINSTALL("machines"), 2);
	verb_assert_said("takes no argument, got 'machines'");
	assert_int_equal(UNINSTALL("--release-finalizers"), 2);
	verb_assert_said("needs --save FILE");
	assert_int_equal(UNINSTALL("--check", "--release-finalizers", "--save", "x"), 2);
	verb_assert_said("cannot be combined");
	assert_int_equal(UNINSTALL("--yes"), 2);
	verb_assert_said("need --release-finalizers");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(each_object_is_listed_with_what_it_loses),
		T(the_audit_log_is_counted_and_saved),
		T(while_drover_runs_it_removes_its_finalizers_itself),
		T(a_deployment_with_replicas_is_stopped_first),
		T(nothing_is_left_and_everything_is_saved),
		T(a_bill_that_cannot_be_saved_keeps_its_tenant),
		T(finalizers_of_others_stay),
		T(a_file_that_exists_is_not_overwritten),
		T(programs_read_json),
		cmocka_unit_test(a_wrong_command_line_is_refused_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
