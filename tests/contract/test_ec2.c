#include "tests/unit/testing.h"

#include <stdlib.h>
#include "tests/simulated/http_mem.h"
#include "base/log.h"
#include "tests/simulated/loop_sim.h"
#include "base/mem.h"
#include "base/str.h"
#include "providers/ec2/events.h"
#include "providers/ec2/provider.h"
#include "providers/ec2/queue.h"
#include "providers/elastic.h"
#include "providers/provider.h"
#include "tests/contract/fake_ec2.h"
#include "tests/contract/fake_sqs.h"

/* Tests what only type ec2 does. test_elastic.c has the cases common to all providers that launch
 * paid instances. */
#define START 1764000000000
#define SECRET "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
#define CLUSTER "uid-of-kube-system"
#define TOKENS "IQoJb3JpZ2luX2VjEXAMPLETOKEN"
#define ROLE_TOKEN "FwoGZXIvYXdzEROLETOKEN"
#define QUEUE "https://sqs.eu-west-1.test/1234/drover"

struct world {
	struct loop *loop;
	struct loop_group *cloud, *group;
	struct http_mem_net *net;
	struct http *http;
	struct fake_ec2 near, far;
	struct secret *secret, *session;
	struct provider *provider;
	/* STS, the role that the next open_provider() assumes (arn NULL: none), and the error with
	 * which STS refuses it (NULL: none) */
	struct httpd *sts;
	const char *role, *sts_refusal;
	/* The queue, and its URL for the next open_provider(); NULL: without the queue */
	struct fake_sqs sqs;
	const char *queue;
	char log[1 << 16];
	size_t logged;
};

struct answer {
	struct world *w;
	unsigned count;
	bool allowed;
	struct err err;
	struct elastic_instance v[16];
	/* node: providerID of the first instance */
	char ids[16][40], reasons[16][60], tags[16][64], node[80];
	struct offer offers[16];
	size_t n;
};

static void on_log(const char *line, size_t len, void *arg)
{
	struct world *w = arg;

	if (w->logged + len >= sizeof(w->log))
		w->logged = 0;
	memcpy(w->log + w->logged, line, len);
	w->logged += len;
	w->log[w->logged] = '\0';
}

static const char *const groups[] = {"sg-1", "sg-2", NULL};
static const struct provider_cloud_zone zones[] = {
	{"eu-west-1", "eu-west-1a", "subnet-1", groups, NULL},
	{"us-east-1", "us-east-1b", "subnet-2", NULL, "ami-far"},
};
static const struct provider_cloud_type types[] = {
	{"g5.xlarge", 0, true, true},
	{"p5.48xlarge", 2, true, false},
};
static const struct provider_cloud_price prices[] = {
	{"g5.xlarge", NULL, MARKET_ON_DEMAND, 1006000},
	{"g5.xlarge", "eu-west-1", MARKET_ON_DEMAND, 1123000},
	{"g5.xlarge", NULL, MARKET_SPOT, 400000},
};

static void open_provider(struct world *w)
{
	const struct provider_cloud_queue queue = {w->queue, "eu-west-1"};
	struct provider_cloud c = {.endpoint = "https://ec2.{region}.test",
				   .zones = {zones, 2},
				   .types = {types, 2},
				   .prices = {prices, 3},
				   .queues = {&queue, w->queue ? 1 : 0},
				   .image = "ami-near",
				   .reservations = true,
				   .key_name = "people",
				   .root_device = "/dev/sda1",
				   .root_gib = 200,
				   .login = PROVIDER_LOGIN_KEYS,
				   .access_key_id = "AKIDEXAMPLE",
				   .secret_access_key = w->secret,
				   .session_token = w->session,
				   .assume_role = {.arn = w->role},
				   .sts_endpoint = "https://sts.test"};
	struct provider_spec s = {
		.name = "aws", .type = "ec2", .cloud = &c, .group = w->group, .http = w->http};
	struct err e;

	provider_free(w->provider);
	w->provider = provider_new(&s, &e);
	if (!w->provider)
		fail_msg("%s", e.text);
}

/* Gives keys of the role that are valid for an hour to the owner of SECRET. */
static void on_sts(struct httpd_req *q, void *arg)
{
	struct world *w = arg;
	char end[STR_TIME_SIZE], xml[600];

	assert_non_null(strstr(httpd_header(q, "Authorization"),
			       "Credential=AKIDEXAMPLE/20251124/eu-west-1/sts/aws4_request"));
	assert_string_equal(httpd_header(q, "X-Amz-Security-Token"), TOKENS);
	if (w->sts_refusal) {
		httpd_reply(q, 403, "text/xml", w->sts_refusal, strlen(w->sts_refusal));
		return;
	}
	str_format(xml, sizeof(xml),
		   "<AssumeRoleResponse><AssumeRoleResult><Credentials>"
		   "<AccessKeyId>ASIAROLE</AccessKeyId><SecretAccessKey>other</SecretAccessKey>"
		   "<SessionToken>" ROLE_TOKEN "</SessionToken><Expiration>%s</Expiration>"
		   "</Credentials></AssumeRoleResult></AssumeRoleResponse>",
		   str_time(end, loop_wall(w->loop) + 3600000));
	httpd_reply(q, 200, "text/xml", xml, strlen(xml));
}

static struct world *world_new(void)
{
	struct world *w = mem_new(struct world);

	log_redirect(on_log, w);
	log_config(LOG_DEBUG, LOG_TEXT);
	w->loop = loop_sim_new(5, START);
	w->cloud = loop_group_new(w->loop, "cloud");
	w->group = loop_group_new(w->loop, "controller");
	w->net = http_mem_net_new(w->loop);
	w->http =
		http_new(w->group, http_mem_transport(w->net, w->group, "10.0.0.1", NULL, NULL), 0);
	fake_ec2_start(&w->near, w->cloud, "eu-west-1");
	fake_ec2_start(&w->far, w->cloud, "us-east-1");
	http_mem_serve(w->net, "https://ec2.eu-west-1.test", w->near.httpd);
	http_mem_serve(w->net, "https://ec2.us-east-1.test", w->far.httpd);
	w->sts = httpd_new(w->cloud);
	httpd_route(w->sts, "POST", "/", 65536, on_sts, w);
	http_mem_serve(w->net, "https://sts.test", w->sts);
	fake_sqs_start(&w->sqs, w->cloud, QUEUE);
	http_mem_serve(w->net, "https://sqs.eu-west-1.test", w->sqs.httpd);
	w->secret = secret_from_str(SECRET);
	w->session = secret_from_str(TOKENS);
	open_provider(w);
	return w;
}

static void world_free(struct world *w)
{
	assert_null(strstr(w->log, SECRET));
	assert_null(strstr(w->log, TOKENS));
	assert_null(strstr(w->log, ROLE_TOKEN));
	provider_free(w->provider);
	secret_free(w->secret);
	secret_free(w->session);
	http_free(w->http);
	httpd_free(w->sts);
	fake_sqs_done(&w->sqs);
	fake_ec2_done(&w->near);
	fake_ec2_done(&w->far);
	http_mem_net_free(w->net);
	loop_group_free(w->group);
	loop_group_free(w->cloud);
	loop_free(w->loop);
	log_redirect(NULL, NULL);
	free(w);
}

/* --- calls ------------------------------------------------------------------------------------ */

static void on_instances(const struct elastic_instance *v, size_t n, const struct err *e, void *arg)
{
	struct answer *a = arg;

	a->count++;
	a->err = e ? *e : (struct err){0};
	a->n = n;
	assert_true(n <= 16);
	str_copy(a->node, sizeof(a->node), n ? str_or(v[0].provider_id, "") : "");
	for (size_t i = 0; i < n; i++) {
		a->v[i] = v[i];
		str_copy(a->ids[i], sizeof(a->ids[i]), v[i].id);
		str_copy(a->reasons[i], sizeof(a->reasons[i]), str_or(v[i].reason, ""));
		for (size_t t = 0; t < v[i].ntags; t++)
			if (str_eq(v[i].tags[t].key, ELASTIC_TAG_CLAIM))
				str_copy(a->tags[i], sizeof(a->tags[i]), v[i].tags[t].value);
	}
	loop_stop(a->w->loop);
}

static void on_offers(const struct offer *o, size_t n, const struct err *e, void *arg)
{
	struct answer *a = arg;

	a->count++;
	a->err = e ? *e : (struct err){0};
	a->n = n;
	assert_true(n <= 16);
	for (size_t i = 0; i < n; i++)
		a->offers[i] = o[i];
	loop_stop(a->w->loop);
}

static void wait_for(struct answer *a)
{
	/* done() must not be called before the starting function returns. */
	assert_int_equal(a->count, 0);
	loop_run(a->w->loop);
	assert_int_equal(a->count, 1);
}

static bool may(void *arg)
{
	return ((struct answer *)arg)->allowed;
}

static const struct elastic_tag own_tags[] = {
	{ELASTIC_TAG_CLUSTER, CLUSTER},
	{ELASTIC_TAG_MACHINE, "burst 1+1=2'"},
	{ELASTIC_TAG_CLAIM, "claim-uid"},
};

static struct elastic_launch launch_of(const char *token, int64_t count)
{
	return (struct elastic_launch){.token = token,
				       .offer = {.region = "eu-west-1",
						 .zone = "eu-west-1a",
						 .type = "g5.xlarge",
						 .micros_per_hour = 1123000},
				       .user_data = "join me",
				       .user_data_len = 7,
				       .count = count,
				       .max_micros_per_hour = -1,
				       .tags = own_tags,
				       .ntags = 3};
}

static struct answer launch(struct world *w, const struct elastic_launch *l)
{
	struct answer a = {.w = w};

	assert_true(provider_launch(w->provider, l, on_instances, &a));
	wait_for(&a);
	return a;
}

static struct answer launch_as(struct world *w, const char *token, int64_t count)
{
	struct elastic_launch l = launch_of(token, count);

	return launch(w, &l);
}

static struct answer list(struct world *w)
{
	struct answer a = {.w = w};

	assert_true(provider_list_owned(w->provider, CLUSTER, on_instances, &a));
	wait_for(&a);
	return a;
}

static struct answer end(struct world *w, const char *id)
{
	struct answer a = {.w = w, .allowed = true};

	assert_true(provider_terminate(w->provider, "eu-west-1", id, may, on_instances, &a));
	wait_for(&a);
	return a;
}

static void fault(struct fake_ec2 *f, const char *action, int status, const char *body, bool after)
{
	f->fault_action = action;
	f->fault_status = status;
	f->fault_body = body;
	f->fault_after = after;
}
#define ERROR_XML(code)                                                                            \
	"<Response><Errors><Error><Code>" code                                                     \
	"</Code><Message>why</Message></Error></Errors><RequestID>r</RequestID></Response>"

static void later(void *arg)
{
	loop_stop(arg);
}

static void pass(struct world *w, int64_t ms)
{
	struct loop_timer t;

	loop_timer_init(&t, w->group, later, w->loop);
	loop_timer_start(&t, ms);
	loop_run(w->loop);
}

static void has(const struct fake_ec2 *f, const char *name, const char *value)
{
	char text[300];
	const char *got = fake_ec2_param(f, name, text, sizeof(text));

	if (!str_eq(got, value))
		fail_msg("%s: %s", name, str_or(got, "(none)"));
}

/* --- tokens ----------------------------------------------------------------------------------- */

static void the_same_token_launches_once(void **state)
{
	struct world *w = world_new();
	struct answer a = launch_as(w, "t-1", 2), b;

	(void)state;
	assert_int_equal(a.err.kind, ERR_NONE);
	assert_int_equal(a.n, 2);
	assert_int_equal(a.v[0].state, ELASTIC_PENDING);
	assert_string_equal(a.node, "aws:///eu-west-1a/i-eu-west-1-0");
	b = launch_as(w, "t-1", 2);
	assert_int_equal(b.n, 2);
	assert_string_equal(a.ids[1], b.ids[1]);
	assert_int_equal(w->near.n, 2);
	world_free(w);
}

static void a_launch_that_was_obeyed_and_not_answered_may_have_happened(void **state)
{
	struct world *w = world_new();
	struct answer a;

	(void)state;
	fault(&w->near, "RunInstances", 500, ERROR_XML("InternalError"), true);
	a = launch_as(w, "t-1", 1);
	assert_int_equal(a.err.kind, ERR_TIMEOUT);
	fault(&w->near, "RunInstances", 200, "<Run", true);
	a = launch_as(w, "t-1", 1);
	assert_int_equal(a.err.kind, ERR_TIMEOUT);
	http_mem_hang(w->net, "https://ec2.eu-west-1.test", true);
	a = launch_as(w, "t-1", 1);
	assert_int_equal(a.err.kind, ERR_TIMEOUT);
	http_mem_hang(w->net, "https://ec2.eu-west-1.test", false);
	a = launch_as(w, "t-1", 1);
	assert_int_equal(a.err.kind, ERR_NONE);
	assert_int_equal(w->near.n, 1);
	world_free(w);
}

static void what_may_not_act_any_more_sends_nothing(void **state)
{
	struct world *w = world_new();
	struct elastic_launch l = launch_of("t-1", 1);
	struct answer a = {.w = w};

	(void)state;
	l.may_act = may;
	l.may_act_arg = &a;
	assert_true(provider_launch(w->provider, &l, on_instances, &a));
	wait_for(&a);
	assert_int_equal(a.err.kind, ERR_CONFLICT);
	a = (struct answer){.w = w};
	assert_true(provider_terminate(w->provider, "eu-west-1", "i-1", may, on_instances, &a));
	wait_for(&a);
	assert_int_equal(a.err.kind, ERR_CONFLICT);
	assert_int_equal(w->near.calls, 0);
	world_free(w);
}

/* --- tags ------------------------------------------------------------------------------------- */

static void what_is_owned_is_found_by_tag_alone_in_each_region(void **state)
{
	struct world *w = world_new();
	struct elastic_launch l = launch_of("far", 1);
	struct answer a;

	(void)state;
	launch_as(w, "t-1", 3);
	l.offer.region = "us-east-1";
	l.offer.zone = "us-east-1b";
	launch(w, &l);
	str_copy(w->near.v[1].cluster, sizeof(w->near.v[1].cluster), "another");
	open_provider(w); /* The new provider remembers nothing of the launches. */
	a = list(w);
	assert_int_equal(a.err.kind, ERR_NONE);
	assert_int_equal(a.n, 3);
	for (size_t i = 0; i < a.n; i++)
		assert_string_equal(a.tags[i], "claim-uid");
	fault(&w->far, "DescribeInstances", 503, ERROR_XML("Unavailable"), false);
	a = list(w);
	assert_int_equal(a.err.kind, ERR_UNAVAILABLE);
	assert_int_equal(a.n, 2);
	world_free(w);
}

static void a_launch_says_all_that_matters(void **state)
{
	struct world *w = world_new();
	struct elastic_launch l = launch_of("t-1", 2);
	struct answer a = launch(w, &l);
	const struct fake_ec2 *f = &w->near;

	(void)state;
	assert_int_equal(a.err.kind, ERR_NONE);
	has(f, "MinCount", "2");
	has(f, "MaxCount", "2");
	has(f, "ClientToken", "t-1");
	has(f, "ImageId", "ami-near");
	has(f, "SubnetId", "subnet-1");
	has(f, "SecurityGroupId.2", "sg-2");
	has(f, "UserData", "am9pbiBtZQ==");
	has(f, "MetadataOptions.HttpTokens", "required");
	has(f, "InstanceMarketOptions.MarketType", NULL);
	has(f, "TagSpecification.1.ResourceType", "instance");
	has(f, "TagSpecification.2.ResourceType", "volume");
	has(f, "TagSpecification.2.Tag.2.Value", "burst 1+1=2'");
	has(f, "TagSpecification.2.Tag.3.Value", "claim-uid");
	has(f, "BlockDeviceMapping.1.Ebs.VolumeSize", "200");
	has(f, "KeyName", "people");
	assert_non_null(strstr(f->authorization,
			       "/eu-west-1/ec2/aws4_request, SignedHeaders="
			       "content-type;host;x-amz-date;x-amz-security-token,"));
	assert_string_equal(f->token, TOKENS);
	l.token = "t-2";
	l.offer.market = MARKET_SPOT;
	l.max_micros_per_hour = 1500000;
	a = launch(w, &l);
	assert_int_equal(a.v[0].market, MARKET_SPOT);
	has(f, "InstanceMarketOptions.MarketType", "spot");
	has(f, "InstanceMarketOptions.SpotOptions.MaxPrice", "1.500000");
	l.token = "t-3";
	l.offer.type = "p5.48xlarge";
	l.offer.market = MARKET_ON_DEMAND;
	launch(w, &l);
	has(f, "SubnetId", NULL);
	has(f, "SecurityGroupId.1", NULL);
	has(f, "NetworkInterface.1.InterfaceType", "efa");
	has(f, "NetworkInterface.1.DeviceIndex", "0");
	has(f, "NetworkInterface.2.NetworkCardIndex", "1");
	has(f, "NetworkInterface.2.DeviceIndex", "1");
	has(f, "NetworkInterface.2.SecurityGroupId.1", "sg-1");
	world_free(w);
}

static void what_was_not_given_is_not_launched(void **state)
{
	struct world *w = world_new();
	struct elastic_launch l = launch_of("t-1", 1);

	(void)state;
	l.offer.type = "x9.metal";
	assert_int_equal(launch(w, &l).err.kind, ERR_INVALID);
	l.offer.type = "p5.48xlarge";
	l.offer.market = MARKET_SPOT;
	assert_int_equal(launch(w, &l).err.kind, ERR_INVALID);
	l = launch_of("t-1", 1);
	l.offer.zone = "eu-west-1c";
	assert_int_equal(launch(w, &l).err.kind, ERR_INVALID);
	l = launch_of("t-1", 0);
	assert_int_equal(launch(w, &l).err.kind, ERR_INVALID);
	l = launch_of("", 1);
	assert_int_equal(launch(w, &l).err.kind, ERR_INVALID);
	assert_int_equal(w->near.calls, 0);
	world_free(w);
}

/* --- errors ----------------------------------------------------------------------------------- */

static void errors_have_a_kind_and_a_scope(void **state)
{
	static const struct {
		int status;
		const char *body;
		enum err_kind kind;
		enum err_scope scope;
	} cases[] = {
		{500, ERROR_XML("InsufficientInstanceCapacity"), ERR_CAPACITY, ERR_ZONE},
		{400, ERROR_XML("VcpuLimitExceeded"), ERR_QUOTA, ERR_ACCOUNT},
		{400, ERROR_XML("SpotMaxPriceTooLow"), ERR_PRICE, ERR_ZONE},
		{400, ERROR_XML("InvalidAMIID.NotFound"), ERR_INVALID, ERR_REQUEST},
		{401, ERROR_XML("AuthFailure"), ERR_DENIED, ERR_ACCOUNT},
		{503, ERROR_XML("RequestLimitExceeded"), ERR_UNAVAILABLE, ERR_ACCOUNT},
		{400, ERROR_XML("IdempotentParameterMismatch"), ERR_CONFLICT, ERR_REQUEST},
	};
	struct world *w = world_new();
	char token[16];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct answer a;

		str_format(token, sizeof(token), "t-%zu", i);
		fault(&w->near, "RunInstances", cases[i].status, cases[i].body, false);
		a = launch_as(w, token, 1);
		if (a.err.kind != cases[i].kind || a.err.scope != cases[i].scope)
			fail_msg("%s: %s", cases[i].body, a.err.text);
	}
	assert_int_equal(w->near.n, 0);
	world_free(w);
}

/* --- present and ended instances -------------------------------------------------------------- */

static void fewer_than_asked_for_are_told_with_an_error(void **state)
{
	struct world *w = world_new();
	struct answer a;

	(void)state;
	fault(&w->near, "RunInstances", 200,
	      "<RunInstancesResponse><instancesSet><item><instanceId>i-7</instanceId></item>"
	      "</instancesSet></RunInstancesResponse>",
	      false);
	a = launch_as(w, "t-1", 2);
	assert_int_equal(a.err.kind, ERR_PROTOCOL);
	assert_int_equal(a.n, 1);
	assert_string_equal(a.ids[0], "i-7");
	world_free(w);
}

static void ending_is_idempotent_and_seen_by_the_list(void **state)
{
	struct world *w = world_new();
	struct answer a = launch_as(w, "t-1", 1);
	const char *id = w->near.v[0].id;

	(void)state;
	a = end(w, id);
	assert_int_equal(a.err.kind, ERR_NONE);
	assert_int_equal(a.v[0].state, ELASTIC_ENDING);
	assert_int_equal(end(w, id).err.kind, ERR_NONE);
	assert_int_equal(list(w).v[0].state, ELASTIC_ENDING);
	str_copy(w->near.v[0].state, sizeof(w->near.v[0].state), "terminated");
	assert_int_equal(list(w).v[0].state, ELASTIC_TERMINATED);
	a = end(w, "i-never");
	assert_int_equal(a.err.kind, ERR_NONE);
	assert_int_equal(a.v[0].state, ELASTIC_UNKNOWN);
	world_free(w);
}

static void what_is_not_shown_yet_is_not_gone(void **state)
{
	struct world *w = world_new();
	struct answer a = launch_as(w, "t-1", 1);

	(void)state;
	w->near.v[0].hidden = true;
	a = list(w);
	assert_int_equal(a.n, 1);
	assert_int_equal(a.v[0].state, ELASTIC_UNKNOWN);
	assert_string_equal(a.tags[0], "claim-uid");
	w->near.v[0].hidden = false;
	pass(w, ELASTIC_UNLISTED_MS);
	assert_int_equal(list(w).v[0].state, ELASTIC_PENDING);
	w->near.v[0].hidden = true;
	pass(w, ELASTIC_UNLISTED_MS - 10000);
	assert_int_equal(list(w).v[0].state, ELASTIC_UNKNOWN);
	pass(w, 10000);
	a = list(w);
	assert_int_equal(a.v[0].state, ELASTIC_TERMINATED);
	assert_string_equal(a.reasons[0], "the cloud does not list this instance");
	assert_int_equal(list(w).n, 0);
	world_free(w);
}

/* --- clocks ----------------------------------------------------------------------------------- */

static void a_wrong_clock_is_named_and_no_credential_blamed(void **state)
{
	struct world *w = world_new();
	struct answer a;

	(void)state;
	http_mem_clock(w->net, 900000);
	fault(&w->near, "RunInstances", 401, ERROR_XML("AuthFailure"), false);
	a = launch_as(w, "t-1", 1);
	assert_int_equal(a.err.kind, ERR_UNAVAILABLE);
	assert_non_null(strstr(a.err.text, "clock is 900 s behind"));
	/* drover now signs with the cloud's clock, so a refusal concerns the login. */
	fault(&w->near, "RunInstances", 401, ERROR_XML("AuthFailure"), false);
	a = launch_as(w, "t-1", 1);
	assert_int_equal(a.err.kind, ERR_DENIED);
	world_free(w);
}

/* --- accounts --------------------------------------------------------------------------------- */

static void the_role_of_another_account_launches_there(void **state)
{
	struct world *w = world_new();
	struct answer a;

	(void)state;
	w->role = "arn:aws:iam::210987654321:role/drover";
	w->sts_refusal = "<ErrorResponse><Error><Code>AccessDenied</Code><Message>no</Message>"
			 "</Error></ErrorResponse>";
	open_provider(w);
	a = launch_as(w, "t-1", 1);
	assert_int_equal(a.err.kind, ERR_DENIED);
	assert_int_equal(a.err.scope, ERR_ACCOUNT);
	if (!strstr(a.err.text, "AssumeRole arn:aws:iam::210987654321:role/drover: AccessDenied"))
		fail_msg("%s", a.err.text);
	assert_int_equal(w->near.calls, 0);
	w->sts_refusal = NULL;
	a = launch_as(w, "t-1", 1);
	assert_int_equal(a.err.kind, ERR_NONE);
	assert_non_null(strstr(w->near.authorization,
			       "Credential=ASIAROLE/20251124/eu-west-1/ec2/aws4_request"));
	assert_string_equal(w->near.token, ROLE_TOKEN);
	assert_int_equal(list(w).n, 1);
	world_free(w);
}

/* --- offers ----------------------------------------------------------------------------------- */

static void offers_are_what_was_given_with_its_price(void **state)
{
	struct world *w = world_new();
	struct answer a = {.w = w};

	(void)state;
	assert_true(provider_offers(w->provider, on_offers, &a));
	wait_for(&a);
	assert_int_equal(a.err.kind, ERR_NONE);
	assert_int_equal(a.n, 6);
	/* The price that is configured for the region. */
	assert_int_equal(a.offers[0].micros_per_hour, 1123000);
	assert_int_equal(a.offers[1].market, MARKET_SPOT);
	assert_int_equal(a.offers[1].micros_per_hour, 400000);
	assert_int_equal(a.offers[2].micros_per_hour, -1);
	assert_null(a.offers[2].currency);
	assert_int_equal(a.offers[3].micros_per_hour, 1006000);
	world_free(w);
}

static void a_reservation_is_offered_until_it_ends_and_launched_into(void **state)
{
	struct world *w = world_new();
	struct elastic_launch l = launch_of("t-1", 1);
	struct answer a = {.w = w};

	(void)state;
	w->near.reservations =
		"<item><capacityReservationId>cr-1</capacityReservationId><state>active</state>"
		"<instanceType>p5.48xlarge</instanceType>"
		"<availabilityZone>eu-west-1a</availabilityZone>"
		"<availableInstanceCount>3</availableInstanceCount>"
		"<reservationType>capacity-block</reservationType>"
		"<endDate>2025-11-24T17:00:00.000Z</endDate></item>"
		"<item><capacityReservationId>cr-2</capacityReservationId><state>active</state>"
		"<instanceType>p5.48xlarge</instanceType>"
		"<availabilityZone>eu-west-1c</availabilityZone>"
		"</item>";
	l.offer.type = "p5.48xlarge";
	l.offer.market = MARKET_RESERVED;
	l.offer.reservation = "cr-1";
	/* The offers were not read yet, so it is unknown whether the reservation is a capacity
	 * block. */
	assert_int_equal(launch(w, &l).err.kind, ERR_UNAVAILABLE);
	assert_true(provider_offers(w->provider, on_offers, &a));
	wait_for(&a);
	assert_int_equal(a.n, 7);
	assert_int_equal(a.offers[6].market, MARKET_RESERVED);
	assert_int_equal(a.offers[6].available, 3);
	/* The block ends at 17:00; 30 minutes before that, instances end. The test began at
	 * 16:00. */
	assert_int_equal(a.offers[6].ends_at, START + 1800000);
	a = launch(w, &l);
	assert_int_equal(a.err.kind, ERR_NONE);
	has(&w->near, "InstanceMarketOptions.MarketType", "capacity-block");
	has(&w->near,
	    "CapacityReservationSpecification.CapacityReservationTarget.CapacityReservationId",
	    "cr-1");
	a = (struct answer){.w = w};
	fault(&w->near, "DescribeCapacityReservations", 500, "<html>500", false);
	assert_true(provider_offers(w->provider, on_offers, &a));
	wait_for(&a);
	assert_int_equal(a.err.kind, ERR_UNAVAILABLE);
	/* The configured offers remain, even though reservations cannot be read. */
	assert_int_equal(a.n, 6);
	world_free(w);
}

/* --- interruptions by the cloud --------------------------------------------------------------- */

static void a_spot_notice_is_told_by_the_list(void **state)
{
	struct world *w = world_new();
	struct answer a = launch_as(w, "t-1", 2);
	char text[400];

	(void)state;
	assert_int_equal(list(w).v[0].ends_at, 0);
	w->near.v[0].spot = true;
	str_format(text, sizeof(text),
		   "<item><instanceId>%s</instanceId>"
		   "<status><code>instance-terminated-no-capacity</code>"
		   "<updateTime>2025-11-24T15:59:30.000Z</updateTime></status></item>",
		   w->near.v[0].id);
	w->near.spot_requests = text;
	a = list(w);
	assert_int_equal(a.err.kind, ERR_NONE);
	assert_int_equal(a.n, 2);
	assert_int_equal(a.v[0].ends_at, START + 90000);
	assert_int_equal(a.v[1].ends_at, 0);
	has(&w->near, "Filter.1.Name", "status-code");
	/* Without the right to read spot requests, the list still succeeds. */
	fault(&w->near, "DescribeSpotInstanceRequests", 403, ERROR_XML("UnauthorizedOperation"),
	      false);
	a = list(w);
	assert_int_equal(a.err.kind, ERR_NONE);
	assert_int_equal(a.n, 2);
	assert_int_equal(a.v[0].ends_at, 0);
	/* An instance that is already ending gets no notice. */
	str_copy(w->near.v[0].state, sizeof(w->near.v[0].state), "shutting-down");
	assert_int_equal(list(w).v[0].ends_at, 0);
	world_free(w);
}

static void events_in_the_queue_are_told_by_the_list(void **state)
{
	struct world *w = world_new();

	(void)state;
	w->queue = QUEUE;
	open_provider(w);
	launch_as(w, "t-1", 2);
	fake_sqs_event(&w->sqs, EC2_EVENT_RECOMMENDATION, "i-eu-west-1-1", START - 3000);
	fake_sqs_event(&w->sqs, EC2_EVENT_WARNING, "i-eu-west-1-0", START + 45000);
	fake_sqs_event(&w->sqs, EC2_EVENT_WARNING, "i-eu-west-1-0", START + 30000);
	fake_sqs_put(&w->sqs, "no JSON");
	pass(w, 60000);
	/* Only who lists instances takes messages. */
	assert_int_equal(w->sqs.polls, 0);
	list(w);
	pass(w, 500);
	assert_int_equal(json_array_size(w->sqs.messages), 0);
	for (int i = 0; i < 2; i++) {
		struct answer a = list(w);

		assert_int_equal(a.n, 2);
		assert_int_equal(a.v[0].ends_at, START + 30000 + 120000);
		assert_int_equal(a.v[0].at_risk_since, 0);
		assert_int_equal(a.v[1].ends_at, 0);
		assert_int_equal(a.v[1].at_risk_since, START - 3000);
		pass(w, 5000);
	}
	/* Without a list, no messages are taken. */
	pass(w, EC2_QUEUE_WANTED_MS + 60000);
	w->sqs.polls = 0;
	pass(w, 60000);
	assert_int_equal(w->sqs.polls, 0);
	world_free(w);
}

static void a_queue_that_cannot_be_read_is_named_and_the_list_goes_on(void **state)
{
	struct world *w = world_new();

	(void)state;
	w->queue = QUEUE;
	w->sqs.refusal = "QueueDoesNotExist";
	open_provider(w);
	launch_as(w, "t-1", 1);
	assert_int_equal(list(w).n, 1);
	pass(w, 500);
	assert_non_null(strstr(w->log, QUEUE));
	assert_non_null(strstr(w->log, "QueueDoesNotExist"));
	assert_int_equal(w->sqs.polls, 1);
	w->sqs.refusal = NULL;
	pass(w, 61000);
	assert_true(w->sqs.polls > 1);
	assert_int_equal(list(w).n, 1);
	world_free(w);
}

static void what_runs_in_a_block_ends_half_an_hour_before_it(void **state)
{
	struct world *w = world_new();
	struct answer a = launch_as(w, "t-1", 1);

	(void)state;
	w->near.v[0].reservation = "cr-1";
	w->near.reservations =
		"<item><capacityReservationId>cr-1</capacityReservationId><state>active</state>"
		"<instanceType>p5.48xlarge</instanceType>"
		"<availabilityZone>eu-west-1a</availabilityZone>"
		"<reservationType>capacity-block</reservationType>"
		"<endDate>2025-11-24T17:00:00.000Z</endDate></item>";
	a = list(w);
	assert_int_equal(a.err.kind, ERR_NONE);
	assert_int_equal(a.v[0].market, MARKET_RESERVED);
	assert_int_equal(a.v[0].ends_at, START + 1800000);
	/* Without the right to read reservations, those that were read before still count. */
	fault(&w->near, "DescribeCapacityReservations", 403, ERROR_XML("UnauthorizedOperation"),
	      false);
	a = list(w);
	assert_int_equal(a.err.kind, ERR_NONE);
	assert_int_equal(a.v[0].ends_at, START + 1800000);
	world_free(w);
}

/* --- main ------------------------------------------------------------------------------------- */

static void a_provider_that_is_freed_says_nothing_more(void **state)
{
	struct world *w = world_new();
	struct elastic_launch l = launch_of("t-1", 1);
	struct answer a = {.w = w};

	(void)state;
	assert_true(provider_launch(w->provider, &l, on_instances, &a));
	assert_true(provider_list_owned(w->provider, CLUSTER, on_instances, &a));
	assert_true(provider_offers(w->provider, on_offers, &a));
	assert_true(provider_terminate(w->provider, "nowhere", "i-1", NULL, on_instances, &a));
	provider_free(w->provider);
	w->provider = NULL;
	pass(w, 60000);
	assert_int_equal(a.count, 0);
	world_free(w);
}

static void a_thousand_launches_end(void **state)
{
	struct world *w = world_new();
	struct elastic_launch l = launch_of("t-1", 1);
	struct answer a = {.w = w};

	(void)state;
	for (int i = 0; i < 1000; i++)
		assert_true(provider_launch(w->provider, &l, on_instances, &a));
	while (a.count < 1000)
		loop_run(w->loop);
	assert_int_equal(a.count, 1000);
	assert_int_equal(w->near.n, 1);
	world_free(w);
}

static bool counted(void *arg)
{
	(*(unsigned *)arg)++;
	return true;
}

static void a_launch_is_asked_for_its_right_when_it_goes_and_not_while_it_waits(void **state)
{
	struct world *w = world_new();
	struct elastic_launch l = launch_of("t-1", 1);
	struct answer a = {.w = w};
	unsigned asked = 0;

	(void)state;
	l.may_act = counted;
	l.may_act_arg = &asked;
	http_mem_hang(w->net, "https://ec2.eu-west-1.test", true);
	for (int i = 0; i < 100; i++)
		assert_true(provider_launch(w->provider, &l, on_instances, &a));
	pass(w, 25000);
	assert_int_equal(a.count, 0);
	assert_int_equal(asked, 64);
	while (a.count < 100)
		loop_run(w->loop);
	assert_int_equal(asked, 100);
	world_free(w);
}

static void other_types_launch_nothing_and_say_so(void **state)
{
	struct world *w = world_new();
	struct provider_spec s = {
		.name = "r", .type = "redfish", .group = w->group, .http = w->http};
	struct elastic_launch l = launch_of("t-1", 1);
	struct err e;

	(void)state;
	provider_free(w->provider);
	w->provider = provider_new(&s, &e);
	assert_false(provider_launch(w->provider, &l, on_instances, w));
	assert_false(provider_list_owned(w->provider, CLUSTER, on_instances, w));
	assert_false(provider_offers(w->provider, on_offers, w));
	assert_false(provider_terminate(w->provider, "eu-west-1", "i", NULL, on_instances, w));
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_token_launches_once),
		cmocka_unit_test(a_launch_that_was_obeyed_and_not_answered_may_have_happened),
		cmocka_unit_test(what_may_not_act_any_more_sends_nothing),
		cmocka_unit_test(what_is_owned_is_found_by_tag_alone_in_each_region),
		cmocka_unit_test(a_launch_says_all_that_matters),
		cmocka_unit_test(what_was_not_given_is_not_launched),
		cmocka_unit_test(errors_have_a_kind_and_a_scope),
		cmocka_unit_test(fewer_than_asked_for_are_told_with_an_error),
		cmocka_unit_test(ending_is_idempotent_and_seen_by_the_list),
		cmocka_unit_test(what_is_not_shown_yet_is_not_gone),
		cmocka_unit_test(a_wrong_clock_is_named_and_no_credential_blamed),
		cmocka_unit_test(the_role_of_another_account_launches_there),
		cmocka_unit_test(offers_are_what_was_given_with_its_price),
		cmocka_unit_test(a_reservation_is_offered_until_it_ends_and_launched_into),
		cmocka_unit_test(a_spot_notice_is_told_by_the_list),
		cmocka_unit_test(events_in_the_queue_are_told_by_the_list),
		cmocka_unit_test(a_queue_that_cannot_be_read_is_named_and_the_list_goes_on),
		cmocka_unit_test(what_runs_in_a_block_ends_half_an_hour_before_it),
		cmocka_unit_test(a_provider_that_is_freed_says_nothing_more),
		cmocka_unit_test(a_thousand_launches_end),
		cmocka_unit_test(
			a_launch_is_asked_for_its_right_when_it_goes_and_not_while_it_waits),
		cmocka_unit_test(other_types_launch_nothing_and_say_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
