#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "sim/ec2/ec2_impl.h"

/*
 * Requests and answers: actions, their parameters, and faults of the answer.
 *
 * A parameter that the action does not have is an error, as in EC2, so that a misspelled parameter
 * is noticed.
 *
 * Tests: tests/unit/sim/ec2/test_ec2.c, tests/unit/sim/ec2/test_fault.c
 */
#define BODY_MAX (4u << 20)
#define TYPE "text/xml;charset=UTF-8"
#define ANSWER_MAX (64u << 20)
#define VERSION "2016-11-15"
#define XMLNS "http://ec2.amazonaws.com/doc/" VERSION "/"
#define PARAMS 40
#define FILTERS "Filter.#.Name", "Filter.#.Value.#"

static const struct action {
	const char *name;
	void (*run)(struct e2_call *c);
	const char *params[PARAMS];
} actions[] = {
	{"RunInstances",
	 e2_run_instances,
	 {"ImageId",
	  "InstanceType",
	  "MinCount",
	  "MaxCount",
	  "SubnetId",
	  "SecurityGroupId.#",
	  "NetworkInterface.#.*",
	  "KeyName",
	  "IamInstanceProfile.Arn",
	  "IamInstanceProfile.Name",
	  "UserData",
	  "BlockDeviceMapping.#.*",
	  "Placement.*",
	  "InstanceMarketOptions.*",
	  "CapacityReservationSpecification.*",
	  "MetadataOptions.*",
	  "InstanceInitiatedShutdownBehavior",
	  "EbsOptimized",
	  "Monitoring.Enabled",
	  "TagSpecification.#.ResourceType",
	  "TagSpecification.#.Tag.#.Key",
	  "TagSpecification.#.Tag.#.Value",
	  "ClientToken"}},
	{"DescribeInstances",
	 e2_describe_instances,
	 {FILTERS, "InstanceId.#", "MaxResults", "NextToken"}},
	{"TerminateInstances", e2_terminate_instances, {"InstanceId.#"}},
	{"CreateTags", e2_create_tags, {"ResourceId.#", "Tag.#.Key", "Tag.#.Value"}},
	{"DescribeTags", e2_describe_tags, {FILTERS, "MaxResults", "NextToken"}},
	{"DescribeSpotInstanceRequests",
	 e2_describe_spot_requests,
	 {FILTERS, "MaxResults", "NextToken"}},
	{"DescribeRegions", e2_describe_regions, {"RegionName.#", "AllRegions"}},
	{"DescribeAvailabilityZones", e2_describe_zones, {"ZoneName.#", "AllAvailabilityZones"}},
	{"DescribeInstanceTypes",
	 e2_describe_types,
	 {FILTERS, "InstanceType.#", "MaxResults", "NextToken"}},
	{"DescribeInstanceTypeOfferings",
	 e2_describe_offerings,
	 {FILTERS, "LocationType", "MaxResults", "NextToken"}},
	{"DescribeSpotPriceHistory",
	 e2_describe_spot_prices,
	 {FILTERS, "InstanceType.#", "ProductDescription.#", "AvailabilityZone", "StartTime",
	  "EndTime", "MaxResults", "NextToken"}},
	{"DescribeCapacityReservations",
	 e2_describe_reservations,
	 {FILTERS, "CapacityReservationId.#", "MaxResults", "NextToken"}},
};

/* --- sending answers -------------------------------------------------------------------------- */

static void put_date(struct e2_call *c)
{
	static const char *const days[] = {"Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"};
	static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
					     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
	int64_t wall = e2_wall(c->s), month = 0;
	char t[STR_TIME_SIZE], date[64];

	str_time(t, wall);
	str_format(date, 3, "%.2s", t + 5);
	(void)str_to_i64(date[0] == '0' ? date + 1 : date, 1, 12, &month);
	str_format(date, sizeof(date), "%s, %.2s %s %.4s %.8s GMT", days[wall / 86400000 % 7],
		   t + 8, months[month ? month - 1 : 0], t, t + 11);
	httpd_reply_header(c->q, "Date", date);
}

static void answer(struct e2_call *c, int status, const char *text)
{
	struct fault *f;

	httpd_reply_header(c->q, "x-amzn-RequestId", c->id);
	if (e2_stands(c->s, "Skew", NULL, NULL, NULL))
		put_date(c);
	if (e2_strikes(c->s, "LostReply", c->action)) {
		sim_reply_lost(c->q, status, "text/xml");
		return;
	}
	if (e2_strikes(c->s, "Garbage", c->action))
		text = "<html><body>Bad Gateway";
	f = e2_strikes(c->s, "StatusAfter", c->action);
	if (f) {
		status = (int)f->value;
		text = "";
	}
	if (e2_strikes(c->s, "Silent", c->action))
		sim_delay_reply(&c->s->delays, c->q, SIM_DELAY_NEVER, status, TYPE, text);
	else if ((f = e2_strikes(c->s, "Slow", c->action)))
		sim_delay_reply(&c->s->delays, c->q, f->value, status, TYPE, text);
	else
		httpd_reply(c->q, status, TYPE, text, strlen(text));
}

static void answer_error(struct e2_call *c)
{
	struct buf b;
	char after[24];

	if (c->retry_after_s) {
		str_format(after, sizeof(after), "%lld", (long long)c->retry_after_s);
		httpd_reply_header(c->q, "Retry-After", after);
	}
	buf_init(&b, ANSWER_MAX);
	buf_puts(&b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Response><Errors><Error>");
	e2_text(&b, "Code", c->code);
	e2_text(&b, "Message", c->message);
	buf_puts(&b, "</Error></Errors>");
	e2_text(&b, "RequestID", c->id);
	buf_puts(&b, "</Response>\n");
	answer(c, c->status, b.data);
	buf_done(&b);
}

static void answer_well(struct e2_call *c)
{
	struct buf b;

	buf_init(&b, ANSWER_MAX);
	buf_printf(&b,
		   "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<%sResponse xmlns=\"" XMLNS "\">",
		   c->action);
	e2_text(&b, "requestId", c->id);
	buf_put(&b, c->out.data, c->out.len);
	buf_printf(&b, "</%sResponse>\n", c->action);
	answer(c, 200, b.data);
	buf_done(&b);
}

/* --- requests --------------------------------------------------------------------------------- */

static bool has_param(const struct action *a, const char *name)
{
	if (str_eq(name, "Action") || str_eq(name, "Version") || str_eq(name, "DryRun"))
		return true;
	for (size_t i = 0; i < PARAMS && a->params[i]; i++)
		if (e2_is_param(a->params[i], name))
			return true;
	return false;
}

static void act(struct e2_call *c)
{
	const struct action *a = NULL;

	for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++)
		if (str_eq(actions[i].name, c->action))
			a = &actions[i];
	if (!a) {
		e2_fail(c, 400, "InvalidAction", "The action %s is not valid for this web service.",
			c->action);
		return;
	}
	if (!str_eq(e2_param(c, "Version"), VERSION)) {
		e2_fail(c, 400, "NoSuchVersion", "The requested version is not available.");
		return;
	}
	for (size_t i = 0; i < c->form.n; i++)
		if (!has_param(a, c->form.v[i].name)) {
			e2_fail(c, 400, "UnknownParameter", "The parameter %s is not recognized",
				c->form.v[i].name);
			return;
		}
	a->run(c);
}

static void count(struct sim_ec2 *s, const char *action)
{
	unsigned *n = map_get(s->calls, action);

	if (!n) {
		n = mem_new(unsigned);
		map_put(s->calls, action, n);
	}
	++*n;
}

/* Applies the faults Status and Throttle before the action. Returns true if Status applied and
 * answered the request. Throttle only sets the error of the request. */
static bool is_struck(struct e2_call *c)
{
	struct fault *f = e2_strikes(c->s, "Status", c->action);

	if (f) {
		httpd_reply(c->q, (int)f->value, TYPE, "", 0);
		return true;
	}
	f = e2_strikes(c->s, "Throttle", c->action);
	if (f) {
		c->retry_after_s = f->value;
		e2_fail(c, 503, "RequestLimitExceeded", "Request limit exceeded.");
	}
	return false;
}

static void on_post(struct httpd_req *q, void *arg)
{
	struct sim_ec2 *s = arg;
	struct e2_call c = {.s = s, .q = q, .now = loop_now(s->loop)};
	struct fault *f;
	size_t len;
	const char *body = httpd_body(q, &len);

	buf_init(&c.out, ANSWER_MAX);
	str_format(c.id, sizeof(c.id), "00000000-0000-4000-8000-%012llx",
		   (unsigned long long)++s->next);
	if (!e2_form_parse(&c.form, body, len))
		e2_fail(&c, 400, "MalformedQueryString", "The body is not a valid form.");
	c.action = str_or(e2_param(&c, "Action"), "");
	if (*c.action)
		count(s, c.action);
	count(s, "");
	e2_forget(s);
	if (!is_struck(&c)) {
		if (!c.code && e2_is_signed(&c)) {
			f = e2_strikes(s, "Error", c.action);
			if (f)
				e2_fail(&c, f->value ? (int)f->value : 400,
					str_or(f->name, "InternalError"), "Injected fault.");
			else
				act(&c);
		}
		if (c.code)
			answer_error(&c);
		else
			answer_well(&c);
	}
	free(c.next);
	buf_done(&c.out);
	e2_form_done(&c.form);
}

void sim_ec2_routes(struct sim_ec2 *s, struct httpd *d)
{
	httpd_route(d, "POST", "/", BODY_MAX, on_post, s);
	e2_control_routes(s, d);
}
