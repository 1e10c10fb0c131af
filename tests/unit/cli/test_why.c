/* Tests `drover why` for objects of any kind, and for everything that is stuck, with a client on
 * the simulated loop. */
#include "tests/unit/cli/verb.h"
#include "tests/unit/controller/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/str.h"
#include "cli/cli.h"
#include "cli/verbs.h"
#include "cli/why_near.h"

static struct cli_client c;
static char *said;
static size_t said_len;

static int setup(void **state)
{
	struct bench *d;

	bench_setup(state);
	d = *state;
	bench_fleet(d);
	c = (struct cli_client){.verb = "drover why",
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

static int why(const char *target)
{
	return cli_do_why(&c, target, BENCH_NS);
}

/* Returns the time `ms` from now in the form of RFC 3339. */
static const char *at(struct bench *d, int64_t ms)
{
	char t[STR_TIME_SIZE];

	return arena_strdup(d->a, str_time(t, loop_wall(d->l) + ms));
}

static void has_condition(struct bench *d, enum object_kind_id kind, const char *name,
			  const char *type, const char *status, const char *reason,
			  const char *message)
{
	bench_status(d, kind, name,
		     arena_printf(d->a,
				  "{'conditions': [{'type': '%s', 'status': '%s', 'reason': '%s', "
				  "'message': '%s', "
				  "'lastTransitionTime': '%s'}]}",
				  type, status, reason, message, at(d, -125000)));
}

static void a_name_is_found_whatever_it_is_of(void **state)
{
	(void)state;
	assert_int_equal(why("m-1"), 0);
	assert_said("Machine m-1\n");
	assert_int_equal(why("h100"), 0);
	assert_said("NodePool h100\n");
	assert_int_equal(why("team-a"), 0);
	assert_said("VirtualCluster team-a\n");
	assert_int_equal(why("provider/hall-a"), 0);
	assert_said("Provider hall-a\n");
	verb_errors_begin();
	assert_int_equal(why("no-such"), 1);
	verb_errors_end("drover has no object named no-such");
}

static void a_type_is_looked_at_alone(void **state)
{
	(void)state;
	verb_errors_begin();
	assert_int_equal(why("machine/h100"), 1);
	verb_errors_end("there is no Machine h100; `drover get machines` lists them");
	verb_errors_begin();
	assert_int_equal(why("claim/m-1"), 1);
	verb_errors_end("there is no NodeClaim m-1");
	verb_errors_begin();
	assert_int_equal(why("pool/m-1"), 1);
	verb_errors_end("there is no NodePool m-1");
}

static void a_line_that_is_stopped_says_what_opens_it(void **state)
{
	has_condition(*state, OBJECT_NODE_POOL, "h100", "LineStopped", "True", "JoinTimeout",
		      "JoinTimeout on 3 machines");
	assert_int_equal(why("pool/h100"), 0);
	assert_said("state         Stopped, for 2m5s\n");
	assert_said("stopped by    JoinTimeout: JoinTimeout on 3 machines, 2m5s ago\n");
	assert_said("once you have fixed the cause: drover resume pool/h100");
	assert_int_equal(cli_do_stuck(&c, NULL), 0);
	assert_said("Needs an operator (1)\n"
		    "  nodepool/h100  Stopped for 2m5s, JoinTimeout: ");
}

/* The remedy of the stopped line names the object; that of its condition Ready would not. */
static void a_line_that_is_stopped_is_helped_once(void **state)
{
	struct bench *d = *state;

	bench_status(d, OBJECT_NODE_POOL, "h100",
		     "{'conditions': [{'type': 'LineStopped', 'status': 'True', 'reason': "
		     "'JoinTimeout', 'message': 'x', 'lastTransitionTime': "
		     "'2026-01-01T00:00:00Z'}, {'type': 'Ready', 'status': 'False', 'reason': "
		     "'LineStopped', 'message': 'x', 'lastTransitionTime': "
		     "'2026-01-01T00:00:00Z'}]}");
	assert_int_equal(why("pool/h100"), 0);
	assert_said("drover resume pool/h100");
	assert_unsaid("drover resume pool/NAME");
}

static void what_a_person_paused_is_no_alarm(void **state)
{
	bench_patch(*state, OBJECT_PROVIDER, "hall-a", "{'spec': {'paused': true}}");
	assert_int_equal(cli_do_stuck(&c, NULL), 0);
	assert_said("Held or paused by an operator (1)\n"
		    "  provider/hall-a  Paused ");
	assert_said("what helps: to end the pause: drover resume provider/hall-a\n");
	assert_unsaid("Needs an operator");
}

static void a_tenant_says_what_keeps_it_from_machines(void **state)
{
	has_condition(*state, OBJECT_VIRTUAL_CLUSTER, "team-a", "Ready", "False",
		      "KubeconfigAbsent", "there is no Secret team-a");
	assert_int_equal(why("tenant/team-a"), 0);
	assert_said("state         NotReady, for 2m5s\n");
	assert_said("what helps    create the Secret that spec.kubeconfigSecretRef names");
	assert_int_equal(cli_do_stuck(&c, NULL), 0);
	assert_said(
		"virtualcluster/team-a  NotReady for 2m5s, KubeconfigAbsent: there is no Secret");
}

static void an_edit_that_cannot_be_used_needs_a_person(void **state)
{
	has_condition(*state, OBJECT_NODE_POOL, "h100", "Valid", "False", "Invalid",
		      "spec.limits.nodes: want a number");
	assert_int_equal(cli_do_stuck(&c, NULL), 0);
	assert_said("Needs an operator (1)\n");
	assert_said("spec.limits.nodes: want a number");
	assert_said("what helps: correct the field that condition Valid reports: kubectl edit "
		    "nodepool h100\n");
}

static void a_drain_without_end_says_who_keeps_it(void **state)
{
	struct bench *d = *state;

	bench_put(d, "{'kind': 'Drain', 'metadata': {'name': 'psu'}, 'spec': {'reason': 'fan', "
		     "'machineNames': ['m-1']}, 'status': {'phase': 'Draining', 'targets': [{"
		     "'machine': 'm-1', 'phase': 'Evicting', 'podsLeft': 2, 'blockedBy': "
		     "'PodDisruptionBudget default/web'}, {'machine': 'm-2', 'phase': 'Done'}]}}");
	assert_int_equal(why("drain/psu"), 0);
	assert_said("reason        fan\n");
	assert_said("not done      m-1 Evicting, pods left: 2, blocked by PodDisruptionBudget "
		    "default/web\n");
	assert_unsaid("m-2");
	assert_said("drover cancel psu");
	assert_int_equal(cli_do_stuck(&c, NULL), 0);
	assert_said("Needs an operator (1)\n"
		    "  drain/psu  Draining for ");
	/* A Drain with a deadline ends by itself, so it is not stuck. */
	bench_patch(d, OBJECT_DRAIN, "psu",
		    arena_printf(d->a, "{'spec': {'deadline': '%s'}}", at(d, 600000)));
	rewind(c.out);
	assert_int_equal(cli_do_stuck(&c, NULL), 0);
	assert_said("nothing is stuck");
}

static void quarantined(struct bench *d, const char *since)
{
	bench_status(
		d, OBJECT_MACHINE, "m-1",
		arena_printf(d->a,
			     "{'state': 'quarantined', 'stateSince': '%s', 'quarantine': {"
			     "'reason': 'DriveMissing', 'message': 'eui.2 was not seen', 'exit': "
			     "'operator', 'since': '%s'}}",
			     since, since));
}

static void the_worst_is_told_first(void **state)
{
	struct bench *d = *state;
	const char *person, *late, *held;

	quarantined(d, at(d, -7200000));
	has_condition(d, OBJECT_VIRTUAL_CLUSTER, "team-a", "Ready", "False", "Unreachable", "x");
	bench_patch(d, OBJECT_PROVIDER, "hall-a", "{'spec': {'paused': true}}");
	bench_put(d, arena_printf(
			     d->a,
			     "{'kind': 'Machine', 'metadata': {'name': 'm-2'}, 'spec': {"
			     "'providerRef': {'name': 'hall-a'}}, 'status': {'state': 'stopping', "
			     "'stateSince': '%s', 'operation': {'step': 'power-off', 'deadline': "
			     "'%s'}}}",
			     at(d, -400000), at(d, -100000)));
	assert_int_equal(cli_do_stuck(&c, NULL), 0);
	person = strstr(all_said(),
			"Needs an operator (2)\n"
			"  machine/m-1  quarantined for 120m, DriveMissing: eui.2 was not seen\n"
			"      what helps: put the drive");
	late = strstr(all_said(), "Overdue or unreachable (1)\n  machine/m-2  stopping for 6m40s");
	held = strstr(all_said(), "Held or paused by an operator (1)");
	if (!person || !late || !held || person > late || late > held)
		fail_msg("%s", all_said());
	/* team-a is listed after m-1 in the first group, because team-a entered its state later. */
	assert_said("  virtualcluster/team-a  NotReady");
	assert_said("5 objects checked; `drover why TYPE/NAME` shows one in full\n");
}

static void programs_read_all_as_json(void **state)
{
	struct bench *d = *state;
	OWN_JSON j = NULL;
	struct err e;

	quarantined(d, at(d, -1000));
	c.json = true;
	assert_int_equal(cli_do_stuck(&c, NULL), 0);
	j = json_parse(all_said(), strlen(all_said()), &e);
	assert_int_equal(json_int_at(j, "seen"), 4);
	assert_int_equal(json_array_size(json_at(j, "stuck")), 1);
	assert_string_equal(json_str_at(json_array_get(json_at(j, "stuck"), 0), "object"),
			    "machine/m-1");
	assert_string_equal(json_str_at(json_array_get(json_at(j, "stuck"), 0), "need"), "Person");
	assert_string_equal(json_str_at(json_array_get(json_at(j, "stuck"), 0), "reason"),
			    "DriveMissing");
}

static void attaches(struct bench *d, int64_t since, int64_t deadline)
{
	bench_status(
		d, OBJECT_MACHINE, "m-1",
		arena_printf(
			d->a,
			"{'state': 'attaching', 'stateSince': '%s', 'operation': {'step': 'place "
			"tenant/team-a', 'waitingFor': 'Device', 'deadline': '%s'}}",
			at(d, since), at(d, deadline)));
}

static void what_takes_longer_than_most_is_told_before_it_fails(void **state)
{
	struct bench *d = *state;

	attaches(d, -50000, 550000);
	assert_int_equal(cli_do_stuck(&c, NULL), 0);
	assert_said("nothing is stuck");
	attaches(d, -70000, 530000);
	assert_int_equal(cli_do_stuck(&c, NULL), 0);
	assert_said("Slower than usual, nothing has failed yet (1)\n"
		    "  machine/m-1  attaching for 70s, waits for hardware or another system\n"
		    "      what helps: check its switch port");
	assert_said("to try again now: drover retry m-1");
	assert_said("      then run:   drover retry m-1\n");
	/* With an error, the machine is overdue: something has failed. */
	bench_status(d, OBJECT_MACHINE, "m-1",
		     "{'operation': {'lastError': {'reason': 'NetworkNotConfirmed', 'message': "
		     "'still in quarantine'}}}");
	assert_int_equal(cli_do_stuck(&c, NULL), 0);
	assert_said("Overdue or unreachable (1)\n  machine/m-1  attaching for 70s, "
		    "NetworkNotConfirmed: still in quarantine\n");
	bench_status(d, OBJECT_MACHINE, "m-1", "{'operation': {'lastError': null}}");
	/* Past its deadline, the machine is listed as overdue, not as slow. */
	attaches(d, -700000, -100000);
	assert_int_equal(cli_do_stuck(&c, NULL), 0);
	assert_said("Overdue or unreachable (1)\n  machine/m-1  attaching for 11m");
	assert_said("check that drover has a leader");
}

static void a_fleet_at_rest_is_not_stuck(void **state)
{
	struct bench *d = *state;

	bench_status(
		d, OBJECT_MACHINE, "m-1",
		"{'state': 'wiping', 'operation': {'step': 'order wipe', 'waitingFor': 'Device'}}");
	assert_int_equal(cli_do_stuck(&c, NULL), 0);
	assert_said("nothing is stuck; 4 objects checked\n");
}

static void waits_for_approval(struct bench *d, const char *reason)
{
	bench_status(
		d, OBJECT_MACHINE, "m-1",
		arena_printf(d->a,
			     "{'state': 'known', 'operation': {'step': 'look', 'waitingFor': "
			     "'Approval', 'lastError': {'reason': '%s', 'message': 'x', 'time': "
			     "'%s'}}}",
			     reason, at(d, -1000)));
}

/* A machine that was never approved needs no operator: whole racks may be observed without being
 * managed. A machine whose BMC was replaced needs one. */
static void a_machine_that_nobody_wants_managed_is_no_alarm(void **state)
{
	struct bench *d = *state;

	waits_for_approval(d, "NotApproved");
	assert_int_equal(cli_do_stuck(&c, NULL), 0);
	assert_said("Held or paused by an operator (1)\n"
		    "  machine/m-1  known");
	waits_for_approval(d, "BmcNotTrusted");
	assert_int_equal(cli_do_stuck(&c, NULL), 0);
	assert_said("Needs an operator (1)\n"
		    "  machine/m-1  known");
}

static void many_are_counted_on_a_terminal(void **state)
{
	struct bench *d = *state;

	for (int i = 0; i < 12; i++)
		bench_put(d,
			  arena_printf(
				  d->a,
				  "{'kind': 'Drain', 'metadata': {'name': 'd-%d'}, 'spec': {"
				  "'reason': 'fan', 'machineNames': ['m-1']}, 'status': {'phase': "
				  "'Draining', 'targets': [{'machine': 'm-1', 'phase': "
				  "'Evicting', 'blockedBy': 'PodDisruptionBudget x'}]}}",
				  i));
	c.tty = true;
	assert_int_equal(cli_do_stuck(&c, NULL), 0);
	assert_said("\033[31mNeeds an operator (12)\033[0m\n");
	assert_said("  2 more; `drover why | cat` shows all\n");
	rewind(c.out);
	c.tty = false;
	assert_int_equal(cli_do_stuck(&c, NULL), 0);
	assert_said("drain/d-11 ");
	assert_said("Needs an operator (12)\n");
}

static void what_cannot_be_read_is_an_error_with_a_way_out(void **state)
{
	struct bench *d = *state;

	d->host.denied = true;
	verb_errors_begin();
	assert_int_equal(cli_do_stuck(&c, NULL), 1);
	verb_errors_end("the cluster does not know this user");
	d->host.denied = false;
	assert_string_equal(str_or(all_said(), ""), "");
}

static void a_wrong_command_line_is_refused_by_name(void **state)
{
	static const struct {
		const char *args[5], *said;
	} lines[] = {
		{{"a/b/c/d", NULL}, "want NAME, TYPE/NAME or TENANT/NAMESPACE/POD"},
		{{"machine/", NULL}, "want NAME, TYPE/NAME"},
		{{"a", "b", "c", NULL}, "one object at a time"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_int_equal(verb_run("drover why", cli_why, NULL, lines[i].args), 2);
		verb_assert_said(lines[i].said);
	}
}

static void a_type_that_is_not_explained_is_refused_by_name(void **state)
{
	static const struct {
		const char *target, *said;
	} lines[] = {
		{"box/m-1", "unknown type 'box'; types: pod, machines"},
		{"machin/m-1", "unknown type 'machin'; did you mean machine?; types: pod"},
		{"pod/train-0", "name a pod as TENANT/NAMESPACE/POD"},
		{"wipe/w-1", "`drover get wipe w-1 -o yaml` shows it"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		verb_errors_begin();
		assert_int_equal(cli_do_why_here(&c, lines[i].target, NULL, "default", NULL), 1);
		verb_errors_end(lines[i].said);
	}
}

static void texts_of_others_reach_the_terminal_clean(void **state)
{
	has_condition(*state, OBJECT_VIRTUAL_CLUSTER, "team-a", "Ready", "False", "Refused",
		      "a\\u001b[2Jb");
	assert_int_equal(cli_do_stuck(&c, NULL), 0);
	assert_said("Refused: a?[2Jb\n");
}

static void a_machine_whose_tenant_is_away_says_whose_problem_it_is(void **state)
{
	struct bench *d = *state;

	bench_put(d, "{'kind': 'NodeClaim', 'metadata': {'name': 'c-1'}, 'spec': {'nodePoolRef': {"
		     "'name': 'h100'}, 'virtualClusterRef': {'name': 'team-a'}}, 'status': {"
		     "'phase': 'Ready'}}");
	bench_status(d, OBJECT_MACHINE, "m-1",
		     "{'state': 'serving', 'claimRef': {'name': 'c-1', 'uid': 'u'}, 'tenant': {"
		     "'name': 'team-a'}, 'power': {'state': 'On'}}");
	has_condition(d, OBJECT_VIRTUAL_CLUSTER, "team-a", "Ready", "False", "Unreachable",
		      "connection refused");
	assert_int_equal(why("m-1"), 0);
	assert_said("chain         VirtualCluster team-a: NotReady, for 2m5s: Unreachable: "
		    "connection refused\n");
	assert_said("chain         NodeClaim c-1: Ready");
	assert_said("chain         NodePool h100: ");
	assert_said("chain         Provider hall-a: ");
	assert_said("chain         Device m-1: On\n");
	assert_said("whose problem the tenant: its cluster, pods or users; cause: tenant/team-a\n");
	rewind(c.out);
	assert_int_equal(why("claim/c-1"), 0);
	assert_said("whose problem the tenant");
}

static void a_cause_in_the_chain_brings_its_command(void **state)
{
	bench_patch(*state, OBJECT_PROVIDER, "hall-a", "{'spec': {'paused': true}}");
	assert_int_equal(why("pool/h100"), 0);
	assert_said("chain         Provider hall-a: Paused");
	assert_said("whose problem an operator of drover; cause: provider/hall-a\n");
	assert_said("then run      drover resume provider/hall-a\n");
}

static void a_name_that_does_not_exist_brings_near_names(void **state)
{
	struct bench *d = *state;

	bench_status(d, OBJECT_VIRTUAL_CLUSTER, "team-a",
		     "{'waiting': [{'pod': 'default/train\\u001b0', 'reason': 'NoPool'}]}");
	verb_errors_begin();
	assert_int_equal(why("m-2"), 1);
	verb_errors_end("drover why: did you mean machine/m-1?\n");
	verb_errors_begin();
	assert_int_equal(why("pool/h10"), 1);
	verb_errors_end("did you mean pool/h100?\n");
	verb_errors_begin();
	assert_int_equal(why("team-b/default/train-0"), 1);
	verb_errors_end("did you mean tenant/team-a?\n");
	/* Only the tenant of the pod is read. A name in status must not control the terminal. */
	d->host.counted_at = "/virtualclusters/team-a";
	verb_errors_begin();
	why_near(&c, "team-a/default/train-1");
	verb_errors_end("did you mean team-a/default/train?0?\n");
	assert_int_equal(d->host.counted, 1);
	verb_errors_begin();
	assert_int_equal(why("nothing-like-it"), 1);
	verb_errors_end("name a pod as TENANT/NAMESPACE/POD\n");
	assert_null(strstr(str_or(all_said(), ""), "did you mean"));
}

static void a_burst_policy_shows_each_offer_with_cost_and_reason(void **state)
{
	bench_must(
		*state, &((struct bench *)*state)->host, "POST",
		"/apis/drover.dev/v1alpha1/burstpolicies",
		"{'apiVersion': 'drover.dev/v1alpha1', 'kind': 'BurstPolicy', 'metadata': {'name': "
		"'research'}, 'spec': {'mode': 'Enforce', 'match': {'tenants': "
		"['team-a']}, 'trigger': {}, "
		"'budget': [{'scope': 'Policy', 'amount': '100', 'per': 'Month'}], "
		"'tiers': [{'market': 'OnDemand'}], 'offers': [{'name': 'o', "
		"'provider': 'aws', 'regions': ['eu'], 'instanceTypes': ['p5']}], "
		"'cost': {'currency': 'USD', 'bootAndStageTime': '10m'}}}");
	bench_must(
		*state, &((struct bench *)*state)->host, "PATCH",
		"/apis/drover.dev/v1alpha1/burstpolicies/research/status",
		"{'status': {'conditions': [{'type': 'Active', 'status': 'True', 'reason': "
		"'Enforce', 'message': 'It launches nothing now.', 'lastTransitionTime': "
		"'2026-01-01T00:00:00Z'}], 'spend': [{'scope': 'Policy', 'per': 'Month', 'amount': "
		"'100', 'spent': '90', 'forecast': '120', 'alert': '0.8'}], 'decisions': [{"
		"'tenant': 'team-a', 'work': 'default/p', "
		"'reason': 'NoOffer', 'message': 'none of 2 offers is suitable', 'offers': [{"
		"'provider': 'aws', 'zone': 'a', 'instanceType': 'p5', 'market': 'OnDemand', "
		"'cost': '23.5', 'reason': 'BudgetExhausted', 'message': 'it may cost 23.5, the "
		"budget leaves 10'}, {'provider': 'aws', 'region': 'eu', 'instanceType': 'p4', "
		"'market': 'Spot', 'reason': 'PriceUnknown', 'message': 'its price is not "
		"known'}]}]}}");
	assert_int_equal(why("burstpolicy/research"), 0);
	assert_said("  state         Enforce");
	assert_said(
		"  burst         research: default/p of team-a: NoOffer: none of 2 offers is "
		"suitable\n  offer         aws p5 OnDemand in a, 23.5 USD: BudgetExhausted: it "
		"may cost 23.5, the budget leaves 10\n  offer         aws p4 Spot in eu, cost not "
		"known: PriceUnknown: its price is not known\n  budget        90 of 100 USD "
		"spent, forecast 120, beyond the alert at 0.8, Policy per Month\n");
	assert_said("chain         Provider aws: Missing: NotFound");
	assert_int_equal(cli_do_pause(&c, "burstpolicy/research"), 0);
	rewind(c.out);
	assert_int_equal(why("research"), 0);
	assert_said("  state         Paused");
	assert_said("then run      drover resume burstpolicy/research\n");
}

static void a_drain_shows_the_machines_that_it_waits_for(void **state)
{
	struct bench *d = *state;

	bench_put(d, "{'kind': 'Drain', 'metadata': {'name': 'psu'}, 'spec': {'reason': 'fan', "
		     "'machineNames': ['m-1']}, 'status': {'phase': 'Draining', 'targets': [{"
		     "'machine': 'm-1', 'phase': 'Evicting'}]}}");
	assert_int_equal(why("drain/psu"), 0);
	assert_said("chain         Machine m-1: ");
	assert_said("chain         Provider hall-a: ");
	assert_said("then run      drover cancel psu\n");
}

/* The other machines of its Drain are not what a machine depends on. */
static void a_machine_that_drains_shows_its_drain_and_no_other_machine(void **state)
{
	struct bench *d = *state;

	bench_put(d, "{'kind': 'Drain', 'metadata': {'name': 'psu'}, 'spec': {'reason': 'fan', "
		     "'machineNames': ['m-1', 'm-2']}, 'status': {'phase': 'Draining', 'targets': "
		     "[{'machine': 'm-1', 'phase': 'Evicting'}, {'machine': 'm-2', 'phase': "
		     "'Evicting'}]}}");
	bench_status(d, OBJECT_MACHINE, "m-1",
		     "{'state': 'draining', 'power': {'state': 'On'}, 'leave': {'reason': 'Drain', "
		     "'drain': 'psu', 'then': 'Release'}}");
	assert_int_equal(why("m-1"), 0);
	assert_said("chain         Drain psu: Draining");
	assert_unsaid("chain         Machine ");
	assert_said("chain         Device m-1: On\n");
	assert_unsaid("cause: ");
}

static void assert_read_once(struct bench *d, const char *path)
{
	d->host.counted = 0;
	d->host.counted_at = path;
	assert_int_equal(why("machine/m-1"), 0);
	assert_int_equal(d->host.counted, 1);
}

static void each_object_of_a_chain_is_read_once(void **state)
{
	struct bench *d = *state;

	bench_put(d, "{'kind': 'NodeClaim', 'metadata': {'name': 'c-1'}, 'spec': {'nodePoolRef': {"
		     "'name': 'h100'}, 'virtualClusterRef': {'name': 'team-a'}}, 'status': {"
		     "'phase': 'Ready', 'conditions': [{'type': 'Ready', 'status': 'False', "
		     "'reason': 'NodeNotReady', 'message': 'its Node is NotReady'}]}}");
	bench_put(d, "{'kind': 'Drain', 'metadata': {'name': 'psu'}, 'spec': {'reason': 'fan', "
		     "'machineNames': ['m-1']}, 'status': {'phase': 'Pending'}}");
	bench_patch(d, OBJECT_NODE_POOL, "h100",
		    "{'spec': {'disruption': {'budgets': [{'nodes': '0'}]}}}");
	bench_status(d, OBJECT_MACHINE, "m-1",
		     "{'state': 'serving', 'claimRef': {'name': 'c-1', 'uid': 'u'}, 'tenant': {"
		     "'name': 'team-a'}, 'leave': {'reason': 'Drain', 'drain': 'psu'}}");
	assert_read_once(d, "/machines/m-1");
	assert_said("drover releases no empty Node of pool h100");
	assert_said("its Node is NotReady");
	assert_said("chain         Drain psu: Pending");
	assert_read_once(d, "/virtualclusters/team-a");
	assert_read_once(d, "/nodeclaims/c-1");
	assert_read_once(d, "/nodepools/h100");
	assert_read_once(d, "/drains/psu");
	assert_read_once(d, "/providers/hall-a");
}

static void the_node_and_the_budget_count_for_a_machine_in_service_alone(void **state)
{
	struct bench *d = *state;

	bench_put(d, "{'kind': 'NodeClaim', 'metadata': {'name': 'c-1'}, 'spec': {'nodePoolRef': {"
		     "'name': 'h100'}, 'virtualClusterRef': {'name': 'team-a'}}, 'status': {"
		     "'phase': 'Pending'}}");
	bench_patch(d, OBJECT_NODE_POOL, "h100",
		    "{'spec': {'disruption': {'budgets': [{'nodes': '0'}]}}}");
	bench_status(d, OBJECT_MACHINE, "m-1",
		     "{'state': 'booting', 'claimRef': {'name': 'c-1', 'uid': 'u'}, 'tenant': {"
		     "'name': 'team-a'}}");
	assert_int_equal(why("m-1"), 0);
	assert_said("chain         NodePool h100: ");
	assert_unsaid("drover releases no empty Node");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_name_is_found_whatever_it_is_of),
		T(a_type_is_looked_at_alone),
		T(a_line_that_is_stopped_says_what_opens_it),
		T(a_line_that_is_stopped_is_helped_once),
		T(what_a_person_paused_is_no_alarm),
		T(a_tenant_says_what_keeps_it_from_machines),
		T(an_edit_that_cannot_be_used_needs_a_person),
		T(a_drain_without_end_says_who_keeps_it),
		T(the_worst_is_told_first),
		T(programs_read_all_as_json),
		T(what_takes_longer_than_most_is_told_before_it_fails),
		T(a_fleet_at_rest_is_not_stuck),
		T(a_machine_that_nobody_wants_managed_is_no_alarm),
		T(many_are_counted_on_a_terminal),
		T(what_cannot_be_read_is_an_error_with_a_way_out),
		cmocka_unit_test(a_wrong_command_line_is_refused_by_name),
		T(a_type_that_is_not_explained_is_refused_by_name),
		T(texts_of_others_reach_the_terminal_clean),
		T(a_machine_whose_tenant_is_away_says_whose_problem_it_is),
		T(a_cause_in_the_chain_brings_its_command),
		T(a_name_that_does_not_exist_brings_near_names),
		T(a_burst_policy_shows_each_offer_with_cost_and_reason),
		T(a_drain_shows_the_machines_that_it_waits_for),
		T(a_machine_that_drains_shows_its_drain_and_no_other_machine),
		T(each_object_of_a_chain_is_read_once),
		T(the_node_and_the_budget_count_for_a_machine_in_service_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
