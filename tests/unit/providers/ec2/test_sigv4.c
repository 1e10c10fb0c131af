#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/str.h"
#include "providers/ec2/sigv4.h"

/*
 * Tests the signer with AWS's published suite (aws-sig-v4-test-suite), and that the order of
 * headers and parameters does not change the signature. The suite signs as AKIDEXAMPLE, us-east-1,
 * "service", 2015-08-30T12:36:00Z.
 */
#define AT 1440938160000
#define HOST                                                                                       \
	{                                                                                          \
		"Host", "example.amazonaws.com"                                                    \
	}

struct vector {
	const char *name, *method, *path;
	struct http_header query[3], headers[5];
	const char *body, *token, *names, *signature;
};

static const struct vector vectors[] = {
	{"get-vanilla",
	 "GET",
	 "/",
	 {{0}},
	 {HOST},
	 "",
	 NULL,
	 "host;x-amz-date",
	 "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
	{"get-vanilla-query-order-key-case",
	 "GET",
	 "/",
	 {{"Param2", "value2"}, {"Param1", "value1"}},
	 {HOST},
	 "",
	 NULL,
	 "host;x-amz-date",
	 "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
	{"get-vanilla-utf8-query",
	 "GET",
	 "/",
	 {{"\341\210\264", "bar"}},
	 {HOST},
	 "",
	 NULL,
	 "host;x-amz-date",
	 "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"},
	{"get-utf8",
	 "GET",
	 "/\341\210\264",
	 {{0}},
	 {HOST},
	 "",
	 NULL,
	 "host;x-amz-date",
	 "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"},
	{"get-unreserved",
	 "GET",
	 "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
	 {{0}},
	 {HOST},
	 "",
	 NULL,
	 "host;x-amz-date",
	 "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"},
	{"get-header-key-duplicate",
	 "GET",
	 "/",
	 {{0}},
	 {HOST, {"My-Header1", "value2"}, {"My-Header1", "value2"}, {"My-Header1", "value1"}},
	 "",
	 NULL,
	 "host;my-header1;x-amz-date",
	 "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"},
	{"get-header-value-order",
	 "GET",
	 "/",
	 {{0}},
	 {HOST,
	  {"My-Header1", "value4"},
	  {"My-Header1", "value1"},
	  {"My-Header1", "value3"},
	  {"My-Header1", "value2"}},
	 "",
	 NULL,
	 "host;my-header1;x-amz-date",
	 "08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01"},
	{"get-header-value-trim",
	 "GET",
	 "/",
	 {{0}},
	 {HOST, {"My-Header1", " value1"}, {"My-Header2", " \"a   b   c\""}},
	 "",
	 NULL,
	 "host;my-header1;my-header2;x-amz-date",
	 "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"},
	{"post-vanilla",
	 "POST",
	 "/",
	 {{0}},
	 {HOST},
	 "",
	 NULL,
	 "host;x-amz-date",
	 "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
	{"post-header-key-sort",
	 "POST",
	 "/",
	 {{0}},
	 {HOST, {"My-Header1", "value1"}},
	 "",
	 NULL,
	 "host;my-header1;x-amz-date",
	 "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c"},
	{"post-header-value-case",
	 "POST",
	 "/",
	 {{0}},
	 {HOST, {"My-Header1", "VALUE1"}},
	 "",
	 NULL,
	 "host;my-header1;x-amz-date",
	 "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d"},
	{"post-x-www-form-urlencoded",
	 "POST",
	 "/",
	 {{0}},
	 {HOST, {"Content-Type", "application/x-www-form-urlencoded"}},
	 "Param1=value1",
	 NULL,
	 "content-type;host;x-amz-date",
	 "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
	{"post-sts-header-before",
	 "POST",
	 "/",
	 {{0}},
	 {HOST},
	 "",
	 "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxf"
	 "pSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPk"
	 "yQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBA"
	 "z+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==",
	 "host;x-amz-date;x-amz-security-token",
	 "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"},
};

static size_t count(const struct http_header *v, size_t max)
{
	size_t n = 0;

	while (n < max && v[n].name)
		n++;
	return n;
}

static void it_signs_as_the_published_vectors_do(void **state)
{
	OWN(secret) key = secret_from_str("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY");

	(void)state;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++) {
		const struct vector *v = &vectors[i];
		OWN(secret) token = v->token ? secret_from_str(v->token) : NULL;
		struct sigv4_credentials c = {"AKIDEXAMPLE", key, token};
		struct sigv4_request r = {.method = v->method,
					  .path = v->path,
					  .query = v->query,
					  .nquery = count(v->query, 3),
					  .headers = v->headers,
					  .nheaders = count(v->headers, 5),
					  .body = v->body,
					  .body_len = strlen(v->body),
					  .region = "us-east-1",
					  .service = "service",
					  .at = AT};
		char want[600];
		char *got = sigv4_authorization(&r, &c);

		str_format(want, sizeof(want),
			   "AWS4-HMAC-SHA256 "
			   "Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
			   "SignedHeaders=%s, Signature=%s",
			   v->names, v->signature);
		if (strcmp(got, want))
			fail_msg("%s: %s", v->name, got);
		free(got);
	}
}

/* --- independence of order -------------------------------------------------------------------- */

static uint32_t next(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static void shuffle(struct http_header *v, size_t n, uint32_t *seed)
{
	for (size_t i = n; i > 1; i--) {
		size_t j = next(seed) % i;
		struct http_header t = v[i - 1];

		v[i - 1] = v[j];
		v[j] = t;
	}
}

static void order_and_case_do_not_change_what_is_signed(void **state)
{
	struct http_header query[] = {{"b", "2"},     {"a", "9"},   {"a", "1"}, {"A", ""},
				      {"a-b", "x y"}, {"a b", "+"}, {"~", "/"}};
	struct http_header headers[] = {HOST,
					{"x-amz-a", "1"},
					{"X-AMZ-A-B", "2"},
					{"accept", ""},
					{"Content-Type", "text/plain;  charset=utf-8"}};
	struct sigv4_credentials c = {.access_key_id = "A"};
	struct sigv4_request r = {.method = "POST",
				  .path = "/",
				  .query = query,
				  .nquery = 7,
				  .headers = headers,
				  .nheaders = 5,
				  .region = "r",
				  .service = "s",
				  .at = AT};
	struct buf first, again;
	uint32_t seed = 7;

	(void)state;
	buf_init(&first, 1 << 16);
	buf_init(&again, 1 << 16);
	sigv4_canonical(&r, &c, &first);
	assert_non_null(
		strstr(first.data, "\nA=&a=1&a=9&a%20b=%2B&a-b=x%20y&b=2&~=%2F\naccept:\n"));
	assert_non_null(
		strstr(first.data, "\naccept;content-type;host;x-amz-a;x-amz-a-b;x-amz-date\n"));
	for (int i = 0; i < 500; i++) {
		shuffle(query, 7, &seed);
		shuffle(headers, 5, &seed);
		buf_clear(&again);
		sigv4_canonical(&r, &c, &again);
		assert_string_equal(again.data, first.data);
	}
	buf_done(&first);
	buf_done(&again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_signs_as_the_published_vectors_do),
		cmocka_unit_test(order_and_case_do_not_change_what_is_signed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
