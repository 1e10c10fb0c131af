#include "tests/unit/testing.h"

#include <stdlib.h>
#include "tests/simulated/http_mem.h"
#include "tests/simulated/loop_sim.h"
#include "base/str.h"
#include "providers/ec2/login.h"
#include "providers/ec2/provider.h"

#define START 1764000000000

/* A simulated metadata service and STS, which give keys that are valid for an hour */
struct rig {
	struct loop *loop;
	struct loop_group *group;
	struct http_mem_net *net;
	struct http *http;
	struct httpd *httpd;
	struct ec2_login *login;
	unsigned given, told;
	/* down: true if the metadata service answers 503. denied: true if the STS refuses the
	 * request */
	bool down, denied;
	/* Number of AssumeRole calls, headers of the last one, and XML of the error with which the
	 * next one is refused (NULL: none) */
	unsigned assumed;
	char authorization[600], date[SIGV4_DATE], token[16];
	const char *refusal;
	struct err err;
};

#define OTHER_ROLE "arn:aws:iam::210987654321:role/drover"
#define REFUSAL(code, message)                                                                     \
	"<ErrorResponse><Error><Code>" code "</Code><Message>" message                             \
	"</Message></Error></ErrorResponse>"

static const char *end_of(struct rig *r, char out[static STR_TIME_SIZE])
{
	return str_time(out, loop_wall(r->loop) + 3600000);
}

static void on_session(struct httpd_req *q, void *arg)
{
	(void)arg;
	if (!httpd_header(q, "X-aws-ec2-metadata-token-ttl-seconds"))
		httpd_reply(q, 400, "text/plain", "", 0);
	else
		httpd_reply(q, 200, "text/plain", "imds-session", 12);
}

static bool has_session(struct httpd_req *q)
{
	if (str_eq(httpd_header(q, "X-aws-ec2-metadata-token"), "imds-session"))
		return true;
	httpd_reply(q, 401, "text/plain", "", 0);
	return false;
}

static void on_role(struct httpd_req *q, void *arg)
{
	(void)arg;
	if (has_session(q))
		httpd_reply(q, 200, "text/plain", "drover role\n", 12);
}

static void on_keys(struct httpd_req *q, void *arg)
{
	struct rig *r = arg;
	char end[STR_TIME_SIZE], json[300];

	if (r->down) {
		httpd_reply(q, 503, "text/plain", "", 0);
	} else if (has_session(q)) {
		assert_string_equal(httpd_segment(q, 0), "drover role");
		str_format(json, sizeof(json),
			   "{\"AccessKeyId\":\"ASIA%u\",\"SecretAccessKey\":\"s\",\"Token\":\"t\","
			   "\"Expiration\":\"%s\"}",
			   ++r->given, end_of(r, end));
		httpd_reply_json(q, 200, json);
	}
}

static void give_keys(struct rig *r, struct httpd_req *q, const char *call)
{
	char end[STR_TIME_SIZE], xml[600];

	str_format(xml, sizeof(xml),
		   "<R><%sResult><Credentials><AccessKeyId>ASIA%u</AccessKeyId>"
		   "<SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>"
		   "%s</Expiration></Credentials></%sResult></R>",
		   call, ++r->given, end_of(r, end), call);
	httpd_reply(q, 200, "text/xml", xml, strlen(xml));
}

static void on_assume_role(struct rig *r, struct httpd_req *q, const char *form)
{
	assert_string_equal(form, "Action=AssumeRole&Version=2011-06-15"
				  "&RoleArn=arn%3Aaws%3Aiam%3A%3A210987654321%3Arole%2Fdrover"
				  "&RoleSessionName=hall-a&ExternalId=42");
	r->assumed++;
	str_copy(r->authorization, sizeof(r->authorization), httpd_header(q, "Authorization"));
	str_copy(r->date, sizeof(r->date), httpd_header(q, "X-Amz-Date"));
	str_copy(r->token, sizeof(r->token), str_or(httpd_header(q, "X-Amz-Security-Token"), ""));
	if (r->refusal)
		httpd_reply(q, 403, "text/xml", r->refusal, strlen(r->refusal));
	else
		give_keys(r, q, "AssumeRole");
	r->refusal = NULL;
}

static void on_sts(struct httpd_req *q, void *arg)
{
	static const char denied[] = REFUSAL("AccessDenied", "no");
	struct rig *r = arg;
	size_t len;
	const char *form = httpd_body(q, &len);

	if (str_starts(form, "Action=AssumeRole&")) {
		on_assume_role(r, q, form);
		return;
	}
	assert_string_equal(form, "Action=AssumeRoleWithWebIdentity&Version=2011-06-15"
				  "&RoleArn=arn%3Aaws%3Aiam%3A%3A123456789012%3Arole%2Fdrover"
				  "&RoleSessionName=drover&WebIdentityToken=ey.J.hb");
	if (r->denied)
		httpd_reply(q, 403, "text/xml", denied, strlen(denied));
	else
		give_keys(r, q, "AssumeRoleWithWebIdentity");
}

static void rig_init(struct rig *r, const struct provider_cloud *c)
{
	struct ec2_login_spec s = {.cloud = c, .region = "eu-west-1"};
	struct err e;

	*r = (struct rig){.loop = loop_sim_new(3, START)};
	s.group = r->group = loop_group_new(r->loop, "t");
	r->net = http_mem_net_new(r->loop);
	s.http = r->http =
		http_new(r->group, http_mem_transport(r->net, r->group, "10.0.0.1", NULL, NULL), 0);
	r->httpd = httpd_new(r->group);
	httpd_route(r->httpd, "PUT", "/latest/api/token", 0, on_session, r);
	httpd_route(r->httpd, "GET", "/latest/meta-data/iam/security-credentials/{}", 0, on_keys,
		    r);
	httpd_route(r->httpd, "GET", "/latest/meta-data/iam/security-credentials/**", 0, on_role,
		    r);
	httpd_route(r->httpd, "POST", "/", 65536, on_sts, r);
	http_mem_serve(r->net, "http://169.254.169.254", r->httpd);
	http_mem_serve(r->net, "https://sts.eu-west-1.amazonaws.com", r->httpd);
	r->login = ec2_login_new(&s, &e);
	if (!r->login)
		fail_msg("%s", e.text);
}

static void rig_done(struct rig *r)
{
	ec2_login_free(r->login);
	http_free(r->http);
	httpd_free(r->httpd);
	http_mem_net_free(r->net);
	loop_group_free(r->group);
	loop_free(r->loop);
}

static void on_told(const struct err *e, void *arg)
{
	struct rig *r = arg;

	r->told++;
	r->err = e ? *e : (struct err){0};
	loop_stop(r->loop);
}

static void wait_for(struct rig *r)
{
	struct ec2_login_waiter w = {.fn = on_told, .arg = r};
	unsigned before = r->told;

	ec2_login_wait(r->login, &w);
	assert_int_equal(r->told, before);
	loop_run(r->loop);
	assert_int_equal(r->told, before + 1);
}

static void stop(void *arg)
{
	loop_stop(arg);
}

static void pass(struct rig *r, int64_t ms)
{
	struct loop_timer t;

	loop_timer_init(&t, r->group, stop, r->loop);
	loop_timer_start(&t, ms);
	loop_run(r->loop);
}

static void ready(struct rig *r, const char *id)
{
	struct sigv4_credentials c;

	assert_true(ec2_login_ready(r->login, &c));
	assert_string_equal(c.access_key_id, id);
}

static bool is_ready(struct rig *r)
{
	struct sigv4_credentials c;

	return ec2_login_ready(r->login, &c);
}

static void keys_of_an_instance_are_renewed_before_they_end(void **state)
{
	const struct provider_cloud c = {.login = PROVIDER_LOGIN_INSTANCE};
	struct rig r;

	(void)state;
	rig_init(&r, &c);
	assert_false(is_ready(&r));
	wait_for(&r);
	assert_int_equal(r.err.kind, ERR_NONE);
	ready(&r, "ASIA1");
	pass(&r, 3600000 - LOGIN_EARLY_MS - 5000);
	ready(&r, "ASIA1");
	pass(&r, 10000);
	assert_false(is_ready(&r));
	wait_for(&r);
	ready(&r, "ASIA2");
	rig_done(&r);
}

static void what_holds_is_used_on_while_the_service_is_down(void **state)
{
	const struct provider_cloud c = {.login = PROVIDER_LOGIN_INSTANCE};
	struct rig r;

	(void)state;
	rig_init(&r, &c);
	wait_for(&r);
	r.down = true;
	pass(&r, 3600000 - LOGIN_EARLY_MS + 5000);
	wait_for(&r);
	assert_int_equal(r.err.kind, ERR_NONE);
	ready(&r, "ASIA1");
	pass(&r, 61000);
	assert_false(is_ready(&r)); /* The keys are about to expire, so a login is tried again. */
	pass(&r, LOGIN_EARLY_MS);
	wait_for(&r);
	assert_int_equal(r.err.kind, ERR_UNAVAILABLE);
	r.down = false;
	wait_for(&r);
	ready(&r, "ASIA2");
	rig_done(&r);
}

static void a_role_is_assumed_by_the_token_in_a_file(void **state)
{
	char path[] = "/tmp/ec2_token_XXXXXX";
	struct provider_cloud c = {.login = PROVIDER_LOGIN_WEB_IDENTITY,
				   .role_arn = "arn:aws:iam::123456789012:role/drover",
				   .token_file = path};
	int fd = mkstemp(path);
	struct rig r;

	(void)state;
	assert_int_equal(write(fd, "ey.J.hb\n", 8), 8);
	close(fd);
	rig_init(&r, &c);
	wait_for(&r);
	assert_int_equal(r.err.kind, ERR_NONE);
	ready(&r, "ASIA1");
	ec2_login_ended(r.login); /* Simulates EC2's answer that the keys have expired. */
	assert_false(is_ready(&r));
	r.denied = true;
	wait_for(&r);
	assert_int_equal(r.err.kind, ERR_DENIED);
	assert_non_null(strstr(r.err.text, "AssumeRoleWithWebIdentity: AccessDenied"));
	unlink(path);
	wait_for(&r);
	assert_int_equal(r.err.kind, ERR_NOT_FOUND);
	rig_done(&r);
}

/* Variables of the environment, which a role's webhook or a shell sets, take precedence over the
 * instance's own role. */
static void the_source_is_what_the_environment_names(void **state)
{
	const struct provider_cloud c = {.login = PROVIDER_LOGIN_FOUND};
	char path[] = "/tmp/ec2_found_XXXXXX";
	int fd = mkstemp(path);
	struct rig r;

	(void)state;
	unsetenv("AWS_ACCESS_KEY_ID");
	unsetenv("AWS_WEB_IDENTITY_TOKEN_FILE");
	unsetenv("AWS_SHARED_CREDENTIALS_FILE");
	unsetenv("AWS_PROFILE");
	rig_init(&r, &c);
	wait_for(&r);
	ready(&r, "ASIA1"); /* These keys are those of the metadata service. */
	rig_done(&r);

	assert_true(write(fd, "[default]\naws_access_key_id=FILE\naws_secret_access_key=s\n", 57) >
		    0);
	close(fd);
	setenv("AWS_SHARED_CREDENTIALS_FILE", path, 1);
	rig_init(&r, &c);
	wait_for(&r);
	ready(&r, "FILE");
	rig_done(&r);

	setenv("AWS_WEB_IDENTITY_TOKEN_FILE", "/nonexistent", 1);
	rig_init(&r, &c);
	wait_for(&r);
	/* AWS_WEB_IDENTITY_TOKEN_FILE alone is not enough: a role is needed as well. */
	assert_int_equal(r.err.kind, ERR_INVALID);
	assert_non_null(strstr(r.err.text, "web identity"));
	rig_done(&r);

	setenv("AWS_ACCESS_KEY_ID", "ENV", 1);
	setenv("AWS_SECRET_ACCESS_KEY", "s", 1);
	rig_init(&r, &c);
	wait_for(&r);
	ready(&r, "ENV");
	rig_done(&r);
	unlink(path);
	unsetenv("AWS_ACCESS_KEY_ID");
	unsetenv("AWS_SECRET_ACCESS_KEY");
	unsetenv("AWS_WEB_IDENTITY_TOKEN_FILE");
	unsetenv("AWS_SHARED_CREDENTIALS_FILE");
}

static void given_keys_that_ended_are_not_used_again(void **state)
{
	OWN(secret) s = secret_from_str("s");
	const struct provider_cloud c = {
		.login = PROVIDER_LOGIN_KEYS, .access_key_id = "AKID", .secret_access_key = s};
	struct rig r;

	(void)state;
	rig_init(&r, &c);
	ready(&r, "AKID");
	ec2_login_ended(r.login);
	assert_false(is_ready(&r));
	wait_for(&r);
	assert_int_equal(r.err.kind, ERR_DENIED);
	rig_done(&r);
}

/* --- the role of another account -------------------------------------------------------------- */

static void a_role_of_another_account_is_assumed_by_own_keys(void **state)
{
	OWN(secret) secret = secret_from_str("PLANTED");
	const struct provider_cloud c = {.login = PROVIDER_LOGIN_KEYS,
					 .access_key_id = "AKID",
					 .secret_access_key = secret,
					 .assume_role = {OTHER_ROLE, "42", "hall-a"}};
	struct rig r;

	(void)state;
	rig_init(&r, &c);
	assert_false(is_ready(&r));
	wait_for(&r);
	assert_int_equal(r.err.kind, ERR_NONE);
	ready(&r, "ASIA1");
	assert_non_null(strstr(r.authorization,
			       "Credential=AKID/20251124/eu-west-1/sts/aws4_request, "
			       "SignedHeaders=content-type;host;x-amz-date, "));
	assert_string_equal(r.token, "");
	pass(&r, 3600000 - LOGIN_EARLY_MS + 5000);
	assert_false(is_ready(&r));
	wait_for(&r);
	ready(&r, "ASIA2");
	ec2_login_ended(r.login); /* EC2 reports that the role's keys have expired. */
	r.refusal = REFUSAL("AccessDenied", "not with PLANTED");
	wait_for(&r);
	assert_int_equal(r.err.kind, ERR_DENIED);
	assert_int_equal(r.err.scope, ERR_ACCOUNT);
	assert_non_null(strstr(r.err.text, "AssumeRole " OTHER_ROLE ": AccessDenied"));
	assert_null(strstr(r.err.text, "PLANTED"));
	wait_for(&r);
	ready(&r, "ASIA3");
	rig_done(&r);
}

static void a_role_waits_for_the_credentials_that_sign_for_it(void **state)
{
	const struct provider_cloud c = {.login = PROVIDER_LOGIN_INSTANCE,
					 .assume_role = {OTHER_ROLE, "42", "hall-a"}};
	struct ec2_login_waiter gone = {.fn = on_told};
	struct rig r;

	(void)state;
	rig_init(&r, &c);
	r.down = true;
	wait_for(&r);
	assert_int_equal(r.err.kind, ERR_UNAVAILABLE);
	assert_non_null(strstr(r.err.text, "AssumeRole " OTHER_ROLE ": credentials of this"));
	assert_int_equal(r.assumed, 0);
	r.down = false;
	/* A waiter that leaves does not end the renewal, which serves the next waiter. */
	ec2_login_wait(r.login, &gone);
	ec2_login_leave(&gone);
	wait_for(&r);
	ready(&r, "ASIA2");
	assert_int_equal(r.assumed, 1);
	assert_non_null(strstr(r.authorization, "Credential=ASIA1/"));
	assert_string_equal(r.token, "t");
	/* STS reports that the instance's keys have expired, so they are renewed first. */
	ec2_login_ended(r.login);
	r.refusal = REFUSAL("ExpiredToken", "old");
	wait_for(&r);
	assert_int_equal(r.err.kind, ERR_DENIED);
	wait_for(&r);
	assert_non_null(strstr(r.authorization, "Credential=ASIA3/"));
	ready(&r, "ASIA4");
	rig_done(&r);
}

static void a_role_is_assumed_by_the_clock_of_sts(void **state)
{
	OWN(secret) s = secret_from_str("s");
	const struct provider_cloud c = {.login = PROVIDER_LOGIN_KEYS,
					 .access_key_id = "AKID",
					 .secret_access_key = s,
					 .assume_role = {OTHER_ROLE, "42", "hall-a"}};
	struct rig r;

	(void)state;
	rig_init(&r, &c);
	http_mem_clock(r.net, 900000);
	r.refusal = REFUSAL("SignatureDoesNotMatch", "old");
	wait_for(&r);
	assert_int_equal(r.err.kind, ERR_UNAVAILABLE);
	assert_non_null(strstr(r.err.text, "clock is 900 s behind"));
	wait_for(&r);
	assert_true(is_ready(&r));
	assert_string_equal(r.date, "20251124T161500Z");
	rig_done(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_of_an_instance_are_renewed_before_they_end),
		cmocka_unit_test(what_holds_is_used_on_while_the_service_is_down),
		cmocka_unit_test(a_role_is_assumed_by_the_token_in_a_file),
		cmocka_unit_test(the_source_is_what_the_environment_names),
		cmocka_unit_test(given_keys_that_ended_are_not_used_again),
		cmocka_unit_test(a_role_of_another_account_is_assumed_by_own_keys),
		cmocka_unit_test(a_role_waits_for_the_credentials_that_sign_for_it),
		cmocka_unit_test(a_role_is_assumed_by_the_clock_of_sts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
