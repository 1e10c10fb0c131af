#include "tests/unit/sim/ec2/rig.h"

#include "sim/ec2/ec2_impl.h"

/*
 * Tests how the simulated EC2 checks signatures: with AWS's published examples of Signature Version
 * 4, and with whole requests.
 */
#define SECRET "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
#define DATE "20150830T123600Z"

static void it_signs_as_the_published_examples_do(void **state)
{
	static const struct e2_pair plain[] = {{(char *)"host", (char *)"example.amazonaws.com"},
					       {(char *)"x-amz-date", (char *)DATE}};
	static const struct e2_pair form[] = {
		{(char *)"content-type", (char *)"application/x-www-form-urlencoded"},
		{(char *)"host", (char *)"example.amazonaws.com"},
		{(char *)"x-amz-date", (char *)DATE}};
	static const struct e2_pair spaces[] = {{(char *)"host", (char *)"example.amazonaws.com"},
						{(char *)"my-header1", (char *)" value1"},
						{(char *)"my-header2", (char *)" \"a   b   c\""},
						{(char *)"x-amz-date", (char *)DATE}};
	static const struct e2_pair query[] = {{(char *)"Param2", (char *)"value2"},
					       {(char *)"Param1", (char *)"value1"}};
	struct e2_signed r = {.method = "GET",
			      .path = "/",
			      .headers = plain,
			      .nheaders = 2,
			      .body = "",
			      .date = DATE,
			      .region = "us-east-1",
			      .service = "service"};
	char out[65];

	(void)state;
	e2_signature(&r, SECRET, out); /* Example get-vanilla. */
	assert_string_equal(out,
			    "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
	r.query = query; /* Example get-vanilla-query-order-key-case. */
	r.nquery = 2;
	e2_signature(&r, SECRET, out);
	assert_string_equal(out,
			    "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500");
	r.nquery = 0;
	r.headers = spaces; /* Example get-header-value-trim. */
	r.nheaders = 4;
	e2_signature(&r, SECRET, out);
	assert_string_equal(out,
			    "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736");
	r.method = "POST"; /* Example post-x-www-form-urlencoded. */
	r.headers = form;
	r.nheaders = 3;
	r.body = "Param1=value1";
	r.len = strlen("Param1=value1");
	e2_signature(&r, SECRET, out);
	assert_string_equal(out,
			    "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a");
}

/* --- whole requests --------------------------------------------------------------------------- */

static const struct sim_ec2_key keys[] = {
	{.id = "AKIDONE", .secret = SECRET},
	{.id = "AKIDTWO", .secret = "two", .session = "tok", .account = "222222222222"}};

struct asked {
	/* headers: names in SignedHeaders, separated by semicolons; NULL: the usual ones */
	const char *key, *secret, *region, *session, *headers;
	int64_t ahead_ms;
	/* Body that is sent instead of the signed body; NULL: the signed body is sent */
	const char *sent;
};

/* Signs and sends a request as *a says. Returns the error code of the answer; "" means success. */
static const char *ask(struct ec2_rig *r, const struct asked *a)
{
	static const char body[] = "Action=DescribeInstances&Version=2016-11-15";
	const char *names = str_or(a->headers, a->session ? "host;x-amz-date;x-amz-security-token"
							  : "host;x-amz-date");
	char time[STR_TIME_SIZE], date[20], signature[65], line[400];
	struct e2_pair v[] = {{(char *)"host", (char *)"ec2.example"},
			      {(char *)"x-amz-date", date},
			      {(char *)"x-amz-security-token", (char *)a->session}};
	struct e2_signed what = {.method = "POST",
				 .path = "/",
				 .headers = v,
				 .nheaders = a->session ? 3 : 2,
				 .body = body,
				 .len = strlen(body),
				 .date = date,
				 .region = str_or(a->region, "us-east-1"),
				 .service = "ec2"};
	struct http_header headers[3] = {{"X-Amz-Date", date},
					 {"Authorization", line},
					 {"X-Amz-Security-Token", str_or(a->session, "")}};

	str_time(time, loop_wall(r->loop) + a->ahead_ms);
	str_format(date, sizeof(date),
		   "%.4s%.2s%.2s"
		   "T%.2s%.2s%.2sZ",
		   time, time + 5, time + 8, time + 11, time + 14, time + 17);
	e2_signature(&what, a->secret, signature);
	str_format(line, sizeof(line),
		   "AWS4-HMAC-SHA256 Credential=%s/%.8s/%s/ec2/aws4_request, SignedHeaders=%s, "
		   "Signature=%s",
		   a->key, date, what.region, names, signature);
	ec2_send(r, "/", str_or(a->sent, body), headers, a->session ? 3 : 2);
	return ec2_value(r, "Code");
}

static void only_a_good_signature_is_answered(void **state)
{
	static const struct {
		struct asked a;
		const char *code;
		int status;
	} rows[] = {
		{{.key = "AKIDONE", .secret = SECRET}, "", 200},
		{{.key = "AKIDTWO", .secret = "two", .session = "tok"}, "", 200},
		{{.key = "AKIDTWO", .secret = "two", .session = "old"}, "AuthFailure", 401},
		{{.key = "AKIDTWO", .secret = "two"}, "AuthFailure", 401},
		{{.key = "AKIDONE", .secret = "wrong"}, "AuthFailure", 401},
		{{.key = "AKIDNONE", .secret = SECRET}, "AuthFailure", 401},
		{{.key = "AKIDONE", .secret = SECRET, .region = "mars-1"}, "AuthFailure", 401},
		{{.key = "AKIDONE",
		  .secret = SECRET,
		  .sent = "Action=DescribeRegions&Version=2016-11-15"},
		 "AuthFailure",
		 401},
		{{.key = "AKIDONE", .secret = SECRET, .headers = "x-amz-date"},
		 "IncompleteSignature",
		 400},
		{{.key = "AKIDONE", .secret = SECRET, .headers = "x-amz-date;host"},
		 "IncompleteSignature",
		 400},
		{{.key = "AKIDONE", .secret = SECRET, .ahead_ms = 14 * 60000}, "", 200},
		{{.key = "AKIDONE", .secret = SECRET, .ahead_ms = 16 * 60000},
		 "RequestExpired",
		 400},
		{{.key = "AKIDONE", .secret = SECRET, .ahead_ms = -16 * 60000},
		 "RequestExpired",
		 400},
	};
	struct ec2_rig *r = ec2_rig_new((struct sim_ec2_spec){.keys = keys, .nkeys = 2});

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_string_equal(ask(r, &rows[i].a), rows[i].code);
		assert_int_equal(r->status, rows[i].status);
	}
	assert_string_equal(ec2_error(r, EC2_LIST), "MissingAuthenticationToken");
	/* The server's clock is 20 min ahead, and its Date header shows that. */
	ec2_fault_set(r, (struct sim_ec2_fault){.what = "Skew", .value = 20 * 60000});
	assert_string_equal(ask(r, &rows[0].a), "RequestExpired");
	ec2_rig_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_signs_as_the_published_examples_do),
		cmocka_unit_test(only_a_good_signature_is_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
