#include "tests/unit/sim/ec2/rig.h"

/* Tests the faults of the simulated EC2: before, during and after an action. */
#define S 1000
#define RUN_IN(zone, more) EC2_RUN "SubnetId=subnet-" zone "&" more

static struct ec2_rig *rig(void)
{
	return ec2_rig_new((struct sim_ec2_spec){.pending_ms = 20 * S, .ending_ms = 30 * S});
}

static void a_request_is_refused_and_nothing_is_done(void **state)
{
	struct ec2_rig *r = rig();

	(void)state;
	ec2_fault_set(r, (struct sim_ec2_fault){
				 .what = "Throttle", .on = "RunInstances", .value = 7, .count = 1});
	ec2_fault_set(r, (struct sim_ec2_fault){
				 .what = "Status", .on = "DescribeTags", .value = 502, .count = 1});
	ec2_fault_set(r, (struct sim_ec2_fault){.what = "Error",
						.name = "UnauthorizedOperation",
						.on = "DescribeRegions",
						.value = 403});
	assert_string_equal(ec2_error(r, EC2_LIST), "");
	assert_string_equal(ec2_error(r, EC2_RUN), "RequestLimitExceeded");
	assert_int_equal(r->status, 503);
	assert_int_equal(r->retry_after_ms, 7000);
	assert_int_equal(ec2_ask(r, "Action=DescribeTags"), 502);
	assert_string_equal(ec2_error(r, "Action=DescribeRegions"), "UnauthorizedOperation");
	assert_int_equal(sim_ec2_launched(r->sim), 0);
	assert_string_equal(ec2_error(r, EC2_RUN), "");
	assert_int_equal(sim_ec2_calls(r->sim, "RunInstances"), 2);
	sim_ec2_well(r->sim);
	assert_string_equal(ec2_error(r, "Action=DescribeRegions"), "");
	ec2_rig_free(r);
}

/* A launch takes place, but the client gets no valid answer: a client that repeats its request
 * could launch twice. */
static void a_launch_is_done_though_its_answer_is_lost(void **state)
{
	static const char *const kinds[] = {"LostReply", "Silent", "StatusAfter", "Garbage"};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct ec2_rig *r = rig();

		ec2_fault_set(r, (struct sim_ec2_fault){.what = kinds[i],
							.on = "RunInstances",
							.value = 500,
							.count = 1});
		ec2_ask(r, EC2_RUN "ClientToken=t");
		assert_string_equal(ec2_value(r, "instanceId"), "");
		assert_int_equal(r->status, i < 2 ? 0 : i == 2 ? 500 : 200);
		assert_int_equal(sim_ec2_launched(r->sim), 1);
		assert_int_equal(ec2_ask(r, EC2_RUN "ClientToken=t"), 200);
		assert_string_not_equal(ec2_value(r, "instanceId"), "");
		assert_int_equal(sim_ec2_launched(r->sim), 1);
		ec2_rig_free(r);
	}
}

static void a_slow_answer_comes_when_it_is_time(void **state)
{
	struct ec2_rig *r = rig();

	(void)state;
	ec2_fault_set(r, (struct sim_ec2_fault){.what = "Slow", .value = 500});
	assert_int_equal(ec2_ask(r, EC2_LIST), 200);
	sim_ec2_well(r->sim);
	ec2_fault_set(r, (struct sim_ec2_fault){.what = "Slow", .value = 5000});
	assert_int_equal(ec2_ask(r, EC2_LIST), 0);
	ec2_rig_free(r);
}

static void capacity_is_of_a_type_a_zone_and_a_time(void **state)
{
	struct ec2_rig *r = rig();

	(void)state;
	ec2_fault_set(r, (struct sim_ec2_fault){.what = "Capacity",
						.type = "g6.xlarge",
						.zone = "eu-west-1a",
						.value = 2,
						.after_ms = 5 * S,
						.for_ms = 60 * S});
	assert_string_equal(ec2_error(r, RUN_IN("eu-west-1a", "")), "");
	ec2_pass(r, 5 * S);
	assert_string_equal(ec2_error(r, RUN_IN("eu-west-1a", "")), "");
	assert_string_equal(ec2_error(r, RUN_IN("eu-west-1a", "ClientToken=t")),
			    "InsufficientInstanceCapacity");
	assert_int_equal(r->status, 500);
	/* The failed launch did not use up its token. */
	assert_string_equal(ec2_error(r, RUN_IN("eu-west-1b", "ClientToken=t")), "");
	assert_string_equal(ec2_error(r, "Action=RunInstances&ImageId=ami-1&MinCount=1&MaxCount=1&"
					 "InstanceType=m7i.large&SubnetId=subnet-eu-west-1a"),
			    "");
	/* If the request names no zone, EC2 chooses one with capacity. */
	assert_string_equal(ec2_error(r, EC2_RUN), "");
	assert_string_equal(ec2_value(r, "availabilityZone"), "eu-west-1b");
	ec2_pass(r, 60 * S);
	assert_string_equal(ec2_error(r, RUN_IN("eu-west-1a", "ClientToken=t")), "");
	ec2_rig_free(r);
}

static void a_gang_gets_what_there_is_or_nothing(void **state)
{
	const char *four = "Action=RunInstances&ImageId=ami-1&InstanceType=g6.xlarge&MinCount=4&"
			   "MaxCount=4&SubnetId=subnet-eu-west-1a";
	const char *some = "Action=RunInstances&ImageId=ami-1&InstanceType=g6.xlarge&MinCount=1&"
			   "MaxCount=4&SubnetId=subnet-eu-west-1a";
	struct ec2_rig *r = rig();

	(void)state;
	ec2_fault_set(r, (struct sim_ec2_fault){.what = "Capacity", .value = 3});
	assert_string_equal(ec2_error(r, four), "InsufficientInstanceCapacity");
	assert_int_equal(sim_ec2_launched(r->sim), 0);
	assert_string_equal(ec2_error(r, some), "");
	assert_int_equal(ec2_count(r, "instanceId"), 3);
	sim_ec2_well(r->sim);
	ec2_fault_set(r, (struct sim_ec2_fault){.what = "Partial", .value = 2, .count = 1});
	assert_string_equal(ec2_error(r, four), "");
	assert_int_equal(ec2_count(r, "instanceId"), 2);
	assert_string_equal(ec2_error(r, four), "");
	assert_int_equal(ec2_count(r, "instanceId"), 4);
	ec2_rig_free(r);
}

static void quotas_count_what_lives(void **state)
{
	struct ec2_rig *r = rig();
	char terminate[100];

	(void)state;
	ec2_fault_set(r, (struct sim_ec2_fault){.what = "Quota", .value = 9});
	ec2_fault_set(r, (struct sim_ec2_fault){.what = "SpotQuota", .value = 1});
	assert_string_equal(ec2_error(r, EC2_RUN), "");
	assert_string_equal(ec2_error(r, EC2_RUN), "");
	str_format(terminate, sizeof(terminate), "Action=TerminateInstances&InstanceId.1=%s",
		   ec2_value(r, "instanceId"));
	assert_string_equal(ec2_error(r, EC2_RUN), "VcpuLimitExceeded");
	assert_string_equal(ec2_error(r, EC2_RUN "InstanceMarketOptions.MarketType=spot"), "");
	assert_string_equal(ec2_error(r, EC2_RUN "InstanceMarketOptions.MarketType=spot"),
			    "MaxSpotInstanceCountExceeded");
	assert_string_equal(ec2_error(r, terminate), "");
	assert_string_equal(ec2_error(r, EC2_RUN), "");
	ec2_rig_free(r);
}

static void what_was_launched_is_known_late_and_told_stale(void **state)
{
	struct ec2_rig *r = rig();
	char list[100], terminate[100];

	(void)state;
	ec2_fault_set(r, (struct sim_ec2_fault){
				 .what = "Late", .on = "DescribeInstances", .value = 5 * S});
	ec2_ask(r, EC2_RUN);
	str_format(list, sizeof(list), EC2_LIST "InstanceId.1=%s", ec2_value(r, "instanceId"));
	str_format(terminate, sizeof(terminate), "Action=TerminateInstances&InstanceId.1=%s",
		   r->value);
	assert_string_equal(ec2_error(r, list), "InvalidInstanceID.NotFound");
	ec2_ask(r, EC2_LIST);
	assert_int_equal(ec2_count(r, "instanceId"), 0);
	ec2_pass(r, 3 * S);
	assert_string_equal(ec2_error(r, list), "");
	ec2_fault_set(r, (struct sim_ec2_fault){.what = "Stale", .value = 10 * S});
	ec2_pass(r, 20 * S);
	ec2_ask(r, list);
	assert_string_equal(ec2_value(r, "name"), "pending");
	ec2_pass(r, 10 * S);
	ec2_ask(r, list);
	assert_string_equal(ec2_value(r, "name"), "running");
	/* A termination takes effect at once, although reads still return older data. */
	assert_string_equal(ec2_error(r, terminate), "");
	ec2_ask(r, list);
	assert_string_equal(ec2_value(r, "name"), "running");
	assert_int_equal(sim_ec2_live(r->sim), 0);
	ec2_rig_free(r);
}

static void a_launch_is_slow_or_dies(void **state)
{
	struct ec2_rig *r = rig();

	(void)state;
	ec2_fault_set(r,
		      (struct sim_ec2_fault){.what = "SlowPending", .value = 600 * S, .count = 1});
	ec2_ask(r, EC2_RUN);
	ec2_pass(r, 598 * S);
	ec2_ask(r, EC2_LIST);
	assert_string_equal(ec2_value(r, "name"), "pending");
	ec2_ask(r, EC2_LIST);
	assert_string_equal(ec2_value(r, "name"), "running");
	sim_ec2_well(r->sim);
	ec2_fault_set(r, (struct sim_ec2_fault){.what = "Dies",
						.value = 10 * S,
						.count = 1,
						.name = "Server.InsufficientInstanceCapacity"});
	ec2_ask(r, EC2_RUN);
	assert_string_equal(ec2_value(r, "name"), "pending");
	assert_int_equal(sim_ec2_live(r->sim), 2);
	ec2_pass(r, 10 * S);
	assert_int_equal(sim_ec2_live(r->sim), 1);
	assert_string_equal(r->changed, "g6.xlarge terminated -");
	ec2_ask(r, EC2_LIST "Filter.1.Name=instance-state-name&Filter.1.Value.1=terminated");
	assert_non_null(strstr(r->body, "<code>Server.InsufficientInstanceCapacity</code>"));
	ec2_rig_free(r);
}

static void a_spot_instance_is_warned_and_ended(void **state)
{
	struct ec2_rig *r = rig();

	(void)state;
	ec2_ask(r, EC2_RUN);
	ec2_ask(r, EC2_RUN "InstanceMarketOptions.MarketType=spot");
	ec2_pass(r, 60 * S);
	ec2_fault_set(r, (struct sim_ec2_fault){.what = "SpotNotice", .zone = "eu-west-1b"});
	ec2_ask(r, "Action=DescribeSpotInstanceRequests");
	assert_non_null(strstr(r->body, "<code>fulfilled</code>"));
	ec2_fault_set(r, (struct sim_ec2_fault){.what = "SpotNotice", .zone = "eu-west-1a"});
	ec2_ask(r, "Action=DescribeSpotInstanceRequests");
	assert_non_null(strstr(r->body, "<code>marked-for-termination</code>"));
	assert_int_equal(sim_ec2_live(r->sim), 2);
	ec2_pass(r, 120 * S);
	assert_int_equal(sim_ec2_live(r->sim), 1);
	ec2_ask(r, EC2_LIST "Filter.1.Name=instance-lifecycle&Filter.1.Value.1=spot");
	assert_non_null(strstr(r->body, "<code>Server.SpotInstanceTermination</code>"));
	ec2_rig_free(r);
}

static void pages_are_short_and_the_clock_is_wrong(void **state)
{
	struct ec2_rig *r = rig();

	(void)state;
	for (int i = 0; i < 3; i++)
		ec2_ask(r, EC2_RUN);
	ec2_fault_set(r, (struct sim_ec2_fault){.what = "Pages", .value = 2});
	ec2_ask(r, EC2_LIST);
	assert_int_equal(ec2_count(r, "instanceId"), 2);
	assert_int_equal(ec2_count(r, "nextToken"), 1);
	ec2_fault_set(r, (struct sim_ec2_fault){.what = "Skew", .value = 3600 * S});
	ec2_ask(r, EC2_RUN);
	assert_string_equal(ec2_value(r, "launchTime"), "2025-11-24T17:00:04Z");
	assert_string_equal(r->date, "Mon, 24 Nov 2025 17:00:04 GMT");
	ec2_rig_free(r);
}

static void faults_come_by_request(void **state)
{
	struct ec2_rig *r = rig();

	(void)state;
	assert_int_equal(ec2_send(r, "/sim/faults",
				  "{\"what\":\"Error\",\"name\":\"Odd\",\"on\":\"DescribeTags\","
				  "\"value\":418,\"count\":1}",
				  NULL, 0),
			 200);
	assert_string_equal(ec2_error(r, "Action=DescribeTags"), "Odd");
	assert_int_equal(r->status, 418);
	assert_string_equal(ec2_error(r, "Action=DescribeTags"), "");
	assert_int_equal(ec2_send(r, "/sim/faults", "{\"what\":\"Nonsense\"}", NULL, 0), 400);
	assert_int_equal(ec2_send(r, "/sim/faults", "nonsense", NULL, 0), 400);
	assert_int_equal(ec2_send(r, "/sim/reservations",
				  "{\"id\":\"cr-1\",\"type\":\"g6.xlarge\",\"zone\":\"eu-west-1a\","
				  "\"count\":2,\"endsInMs\":60000}",
				  NULL, 0),
			 200);
	ec2_ask(r, "Action=DescribeCapacityReservations");
	assert_string_equal(ec2_value(r, "totalInstanceCount"), "2");
	ec2_ask(r, EC2_RUN "ClientToken=tok");
	assert_int_equal(ec2_send(r, "/sim/instances", NULL, NULL, 0), 200);
	assert_non_null(strstr(r->body, "\"state\":\"pending\",\"spot\":false,\"token\":\"tok\""));
	ec2_rig_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_is_refused_and_nothing_is_done),
		cmocka_unit_test(a_launch_is_done_though_its_answer_is_lost),
		cmocka_unit_test(a_slow_answer_comes_when_it_is_time),
		cmocka_unit_test(capacity_is_of_a_type_a_zone_and_a_time),
		cmocka_unit_test(a_gang_gets_what_there_is_or_nothing),
		cmocka_unit_test(quotas_count_what_lives),
		cmocka_unit_test(what_was_launched_is_known_late_and_told_stale),
		cmocka_unit_test(a_launch_is_slow_or_dies),
		cmocka_unit_test(a_spot_instance_is_warned_and_ended),
		cmocka_unit_test(pages_are_short_and_the_clock_is_wrong),
		cmocka_unit_test(faults_come_by_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
