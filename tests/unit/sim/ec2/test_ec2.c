#include "tests/unit/sim/ec2/rig.h"

/* Tests the simulated EC2: launches, answers, cost and terminations. */
#define S 1000
#define HOUR ((int64_t)3600 * S)

static struct ec2_rig *rig(void)
{
	return ec2_rig_new((struct sim_ec2_spec){.pending_ms = 20 * S, .ending_ms = 30 * S});
}

static const char *state_now(struct ec2_rig *r)
{
	assert_int_equal(ec2_ask(r, EC2_LIST), 200);
	return ec2_value(r, "name");
}

static void an_instance_goes_its_way_by_the_clock(void **state)
{
	struct ec2_rig *r = rig();
	char id[40], terminate[100];

	(void)state;
	assert_int_equal(ec2_ask(r, EC2_RUN
				 "UserData=aGk%3D&ClientToken=t1&SubnetId=subnet-eu-west-1b&"
				 "TagSpecification.1.ResourceType=instance&"
				 "TagSpecification.1.Tag.1.Key=drover.dev/claim&"
				 "TagSpecification.1.Tag.1.Value=a%3C%26b+c"),
			 200);
	str_copy(id, sizeof(id), ec2_value(r, "instanceId"));
	assert_true(str_starts(id, "i-0"));
	assert_string_equal(ec2_value(r, "name"), "pending");
	assert_string_equal(ec2_value(r, "availabilityZone"), "eu-west-1b");
	assert_string_equal(ec2_value(r, "clientToken"), "t1");
	assert_string_equal(ec2_value(r, "value"), "a&lt;&amp;b c");
	assert_non_null(strstr(r->body, "<RunInstancesResponse xmlns=\"http://ec2.amazonaws.com/"));
	ec2_pass(r, 20 * S);
	assert_string_equal(state_now(r), "running");
	assert_string_equal(r->changed, "g6.xlarge running hi");
	str_format(terminate, sizeof(terminate), "Action=TerminateInstances&InstanceId.1=%s", id);
	assert_int_equal(ec2_ask(r, terminate), 200);
	assert_string_equal(ec2_nth(r, "name", 0), "shutting-down");
	assert_string_equal(ec2_nth(r, "name", 1), "running");
	ec2_pass(r, 30 * S);
	assert_string_equal(state_now(r), "terminated");
	assert_string_equal(r->changed, "g6.xlarge terminated hi");
	assert_int_equal(r->changes, 3);
	assert_non_null(strstr(r->body, "<code>Client.UserInitiatedShutdown</code>"));
	assert_int_equal(ec2_ask(r, terminate), 200);
	ec2_pass(r, HOUR);
	assert_string_equal(state_now(r), "");
	assert_string_equal(ec2_error(r, terminate), "InvalidInstanceID.NotFound");
	ec2_rig_free(r);
}

/* The bill covers the seconds from running to shutting-down, rounded up to whole seconds, and at
 * least a minute. */
static void seconds_that_run_cost_money(void **state)
{
	struct ec2_rig *r = rig();
	struct sim_ec2_instance one;
	char id[40], terminate[100];

	(void)state;
	ec2_ask(r, EC2_RUN);
	str_copy(id, sizeof(id), ec2_value(r, "instanceId"));
	ec2_pass(r, 18 * S);
	assert_int_equal(sim_ec2_micros(r->sim), 0);
	ec2_pass(r, 2 * S);
	assert_int_equal(sim_ec2_micros(r->sim), (804800 * 60 + 3599) / 3600);
	ec2_pass(r, HOUR - 1 * S);
	assert_int_equal(sim_ec2_micros(r->sim), 804800);
	assert_true(sim_ec2_find(r->sim, id, &one));
	assert_int_equal(one.micros, 804800);
	assert_string_equal(one.state, "running");
	str_format(terminate, sizeof(terminate), "Action=TerminateInstances&InstanceId.1=%s", id);
	ec2_ask(r, terminate);
	ec2_pass(r, 48 * HOUR);
	assert_in_range(sim_ec2_micros(r->sim), 804800, 804800 + 224);
	ec2_ask(r, EC2_LIST);
	assert_in_range(sim_ec2_micros(r->sim), 804800, 804800 + 224);
	assert_int_equal(ec2_send(r, "/sim/bill", NULL, NULL, 0), 200);
	assert_non_null(strstr(r->body, "\"launched\":1,\"live\":0"));
	ec2_rig_free(r);
}

static void the_same_token_launches_once(void **state)
{
	struct ec2_rig *r = rig();
	char first[40];

	(void)state;
	ec2_ask(r, EC2_RUN "ClientToken=t&SubnetId=subnet-eu-west-1a");
	str_copy(first, sizeof(first), ec2_value(r, "instanceId"));
	assert_int_equal(ec2_ask(r, "SubnetId=subnet-eu-west-1a&ClientToken=t&" EC2_RUN), 200);
	assert_string_equal(ec2_value(r, "instanceId"), first);
	assert_string_equal(
		ec2_error(r, EC2_RUN "ClientToken=t&SubnetId=subnet-eu-west-1a&KeyName=k"),
		"IdempotentParameterMismatch");
	assert_int_equal(sim_ec2_launched(r->sim), 1);
	/* In a different zone, the same token makes a new launch. */
	assert_string_equal(ec2_error(r, EC2_RUN "ClientToken=t&SubnetId=subnet-eu-west-1b"), "");
	assert_int_equal(sim_ec2_launched(r->sim), 2);
	ec2_ask(r, EC2_LIST "Filter.1.Name=client-token&Filter.1.Value.1=t");
	assert_int_equal(ec2_count(r, "instanceId"), 2);
	ec2_rig_free(r);
}

static void filters_choose_and_pages_hold_all(void **state)
{
	struct ec2_rig *r = rig();
	char next[200], seen = 0;

	(void)state;
	for (int i = 0; i < 6; i++) {
		char *form = mem_printf(
			EC2_RUN
			"TagSpecification.1.ResourceType=instance&TagSpecification.1.Tag.1.Key=n&"
			"TagSpecification.1.Tag.1.Value=v%d",
			i / 2);

		assert_int_equal(ec2_ask(r, form), 200);
		free(form);
	}
	assert_int_equal(ec2_ask(r, EC2_RUN), 200);
	ec2_ask(r, EC2_LIST "Filter.1.Name=tag:n&Filter.1.Value.1=v0&Filter.1.Value.2=v2&"
			    "Filter.2.Name=instance-state-name&Filter.2.Value.1=pending");
	assert_int_equal(ec2_count(r, "instanceId"), 4);
	ec2_ask(r, EC2_LIST "Filter.1.Name=tag-key&Filter.1.Value.1=*&Filter.2.Name=instance-state-"
			    "name&Filter.2.Value.1=running");
	assert_int_equal(ec2_count(r, "instanceId"), 0);
	assert_string_equal(ec2_error(r, EC2_LIST "Filter.1.Name=nonsense&Filter.1.Value.1=v"),
			    "InvalidParameterValue");
	for (next[0] = '\0';;) {
		char *form =
			mem_printf(EC2_LIST "MaxResults=5%s%s", *next ? "&NextToken=" : "", next);

		ec2_ask(r, form);
		free(form);
		assert_true(ec2_count(r, "instanceId") <= 5);
		seen += (char)ec2_count(r, "instanceId");
		if (!*str_or(ec2_value(r, "nextToken"), ""))
			break;
		str_copy(next, sizeof(next), r->value);
	}
	assert_int_equal(seen, 7);
	assert_string_equal(ec2_error(r, EC2_LIST "MaxResults=5&InstanceId.1=i-1"),
			    "InvalidParameterCombination");
	ec2_rig_free(r);
}

static void what_is_wrong_is_refused_by_its_code(void **state)
{
	static const struct {
		const char *form, *code;
	} rows[] = {
		{EC2_RUN "InstanceTyp=g6.xlarge", "UnknownParameter"},
		{EC2_RUN "Tag.1.Key=a", "UnknownParameter"},
		{"Action=RunInstances&ImageId=x&InstanceType=g6.xlarge&MinCount=1&MaxCount=1",
		 "InvalidAMIID.Malformed"},
		{"Action=RunInstances&ImageId=ami-1&InstanceType=q9&MinCount=1&MaxCount=1",
		 "InvalidParameterValue"},
		{"Action=RunInstances&ImageId=ami-1&InstanceType=g6.xlarge&MaxCount=1",
		 "MissingParameter"},
		{EC2_RUN "SubnetId=subnet-eu-west-1z", "InvalidSubnetID.NotFound"},
		{EC2_RUN "SubnetId=subnet-us-east-1a", "InvalidSubnetID.NotFound"},
		{EC2_RUN "SubnetId=subnet-eu-west-1a&NetworkInterface.1.DeviceIndex=0",
		 "InvalidParameterCombination"},
		{EC2_RUN "UserData=%21", "InvalidUserData.Malformed"},
		{EC2_RUN "InstanceMarketOptions.MarketType=spot&"
			 "InstanceMarketOptions.SpotOptions.MaxPrice=0.349999",
		 "SpotMaxPriceTooLow"},
		{EC2_RUN "CapacityReservationSpecification.CapacityReservationTarget."
			 "CapacityReservationId=cr-1",
		 "InvalidCapacityReservationId.NotFound"},
		{EC2_RUN "DryRun=true", "DryRunOperation"},
		{"Action=TerminateInstances&InstanceId.1=i-1", "InvalidInstanceID.NotFound"},
		{"Action=StopInstances&InstanceId.1=i-1", "InvalidAction"},
		{"Action=%zz", "MalformedQueryString"},
	};
	struct ec2_rig *r = rig();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_string_equal(ec2_error(r, rows[i].form), rows[i].code);
	assert_int_equal(sim_ec2_launched(r->sim), 0);
	assert_string_equal(ec2_error(r, EC2_RUN "InstanceMarketOptions.MarketType=spot&"
						 "InstanceMarketOptions.SpotOptions.MaxPrice=0.35"),
			    "");
	ec2_rig_free(r);
}

static void a_reservation_has_so_much_room_and_its_price(void **state)
{
	struct ec2_rig *r = rig();
	struct sim_ec2_reservation block = {.id = "cr-b",
					    .type = "p5.48xlarge",
					    .zone = "eu-west-1a",
					    .count = 1,
					    .ends = loop_now(r->loop) + 2 * HOUR,
					    .upfront_micros = 900};
	struct sim_ec2_reservation odcr = {.id = "cr-o",
					   .type = "m7i.large",
					   .zone = "eu-west-1b",
					   .count = 2,
					   .starts = loop_now(r->loop),
					   .upfront_micros = -1};
	struct err e;
	const char *run =
		"Action=RunInstances&ImageId=ami-1&InstanceType=p5.48xlarge&MinCount=1&MaxCount=1&"
		"InstanceMarketOptions.MarketType=capacity-block&"
		"CapacityReservationSpecification.CapacityReservationTarget.CapacityReservationId="
		"cr-b";

	(void)state;
	assert_int_equal(sim_ec2_reserve(r->sim, &block, &e), 0);
	assert_string_equal(ec2_error(r, run), "");
	assert_string_equal(ec2_error(r, run), "ReservationCapacityExceeded");
	ec2_ask(r, "Action=DescribeCapacityReservations");
	assert_string_equal(ec2_value(r, "availableInstanceCount"), "0");
	assert_string_equal(ec2_value(r, "reservationType"), "capacity-block");
	assert_int_equal(sim_ec2_live(r->sim), 1);
	ec2_pass(r, HOUR + 30 * 60 * S);
	assert_int_equal(sim_ec2_live(r->sim), 0);
	assert_string_equal(r->changed, "p5.48xlarge shutting-down -");
	assert_int_equal(sim_ec2_micros(r->sim), 900);
	assert_string_equal(ec2_error(r, run), "InvalidCapacityReservationState");

	odcr.starts = loop_now(r->loop);
	assert_int_equal(sim_ec2_reserve(r->sim, &odcr, &e), 0);
	ec2_pass(r, HOUR);
	assert_int_equal(sim_ec2_micros(r->sim), 900 + 2 * 100800);
	odcr.count = 1;
	assert_int_equal(sim_ec2_reserve(r->sim, &odcr, &e), 0);
	ec2_pass(r, HOUR);
	assert_int_equal(sim_ec2_micros(r->sim), 900 + 3 * 100800);
	ec2_rig_free(r);
}

static void offers_are_told_by_region_zone_and_price(void **state)
{
	struct err e;
	OWN_JSON prices = json_pack("{s:[{s:s, s:i, s:I, s:I, s:[s]}]}", "types", "name", "big",
				    "vcpus", 8, "microsPerHour", (json_int_t)2000000,
				    "spotMicrosPerHour", (json_int_t)500001, "zones", "eu-west-1c");
	OWN_JSON wrong = json_pack("{s:[{s:s, s:i, s:i, s:[s]}]}", "types", "name", "big", "vcpus",
				   8, "microsPerHour", 1, "zones", "mars-1a");
	struct ec2_rig *r = ec2_rig_new((struct sim_ec2_spec){.prices = prices});

	(void)state;
	ec2_ask(r, "Action=DescribeSpotPriceHistory");
	assert_string_equal(ec2_value(r, "spotPrice"), "0.500001");
	assert_int_equal(ec2_count(r, "spotPrice"), 1);
	ec2_ask(r, "Action=DescribeInstanceTypeOfferings&LocationType=availability-zone");
	assert_string_equal(ec2_value(r, "location"), "eu-west-1c");
	ec2_ask(r, "Action=DescribeRegions");
	assert_int_equal(ec2_count(r, "regionName"), 2);
	assert_string_equal(ec2_error(r, "Action=RunInstances&ImageId=ami-1&InstanceType=big&"
					 "MinCount=1&MaxCount=1&SubnetId=subnet-eu-west-1a"),
			    "Unsupported");
	assert_null(sim_ec2_new(&(struct sim_ec2_spec){.group = r->group, .prices = wrong}, &e));
	assert_string_equal(e.text, "types[0].zones: unknown zone mars-1a");
	ec2_rig_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_instance_goes_its_way_by_the_clock),
		cmocka_unit_test(seconds_that_run_cost_money),
		cmocka_unit_test(the_same_token_launches_once),
		cmocka_unit_test(filters_choose_and_pages_hold_all),
		cmocka_unit_test(what_is_wrong_is_refused_by_its_code),
		cmocka_unit_test(a_reservation_has_so_much_room_and_its_price),
		cmocka_unit_test(offers_are_told_by_region_zone_and_price),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
