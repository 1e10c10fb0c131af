/* Tests replies in the encodings that firmware sends. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/str.h"
#include "tests/unit/redfish/bmc_rig.h"

#define SYSTEM "/redfish/v1/Systems/1"
#define TYPED "{\"@odata.type\":\"#ComputerSystem.v1_16_0.ComputerSystem\",\"PowerState\":\"On\","

struct body {
	/* Headers and body of the reply; NULL: missing. */
	const char *type, *encoding, *text;
	int status;
};

static bool answer(struct httpd_req *q, unsigned n, void *arg)
{
	const struct body *b = arg;

	(void)n;
	if (!str_eq(httpd_path(q), SYSTEM) || !str_eq(httpd_method(q), "GET"))
		return false;
	if (b->encoding)
		httpd_reply_header(q, "Content-Encoding", b->encoding);
	httpd_reply(q, b->status, b->type, b->text, b->text ? strlen(b->text) : 0);
	return true;
}

static enum err_kind read_body(struct bmc_rig *f, struct body b)
{
	enum err_kind kind;

	f->spec.system_url = ORIGIN SYSTEM;
	f->bmc.tamper = answer;
	f->bmc.tamper_arg = &b;
	kind = bmc_read_system(f);
	f->bmc.tamper = NULL;
	return kind;
}

static void a_byte_order_mark_is_no_error(void **state)
{
	struct bmc_rig *f = *state;

	assert_done(
		read_body(f, (struct body){"application/json", NULL,
					   "\xef\xbb\xbf" TYPED "\"SerialNumber\":\"S1\"}", 200}));
	assert_string_equal(f->serial, "S1");
	assert_int_equal(
		read_body(f,
			  (struct body){NULL, NULL,
					"\xef\xbb\xbf{\"error\":{\"message\":\"not so\"}}", 400}),
		ERR_INVALID);
	assert_non_null(strstr(f->err.text, "not so"));
}

static void latin_text_is_read_where_it_is_said_to_be_that(void **state)
{
	static const char text[] = TYPED "\"SerialNumber\":\"Ger\xe4t\"}";
	static const char *const types[] = {"application/json;charset=ISO-8859-1",
					    "application/json; odata=x; Charset=\"latin1\"",
					    "application/json;charset=ISO8859-1"};
	struct bmc_rig *f = *state;

	for (size_t i = 0; i < 3; i++) {
		assert_done(read_body(f, (struct body){types[i], NULL, text, 200}));
		assert_string_equal(f->serial, "Ger\xc3\xa4t");
	}
	assert_int_equal(read_body(f, (struct body){"application/json", NULL, text, 200}),
			 ERR_PROTOCOL);
	assert_non_null(strstr(f->err.text, "0xe4"));
	assert_done(read_body(f, (struct body){"application/json;charset=utf-8", NULL,
					       TYPED "\"SerialNumber\":\"Ger\xc3\xa4t\"}", 200}));
	assert_string_equal(f->serial, "Ger\xc3\xa4t");
}

static void what_is_no_json_is_called_what_it_is(void **state)
{
	static const struct {
		struct body body;
		enum err_kind kind;
		const char *says;
	} cases[] = {
		{{"text/html", NULL, "\n<!DOCTYPE html><title>Log in</title>", 200},
		 ERR_PROTOCOL,
		 "a page of HTML or XML"},
		{{"application/json", NULL, NULL, 200}, ERR_PROTOCOL, "an empty reply"},
		{{"application/json", NULL, " \r\n", 200}, ERR_PROTOCOL, "an empty reply"},
		{{NULL, NULL, NULL, 204}, ERR_PROTOCOL, "an empty reply"},
		{{"application/json", "gzip", "\x1f\x8b\x08", 200}, ERR_PROTOCOL, "compressed"},
		{{"application/json", NULL, "[]", 200}, ERR_PROTOCOL, "not a JSON object"},
		{{"application/json", NULL, "\"x\"", 200}, ERR_PROTOCOL, "not a JSON object"},
		{{"text/html", NULL, "<html>x</html>", 500},
		 ERR_UNAVAILABLE,
		 "500 Internal Server Error"},
		{{"text/html", NULL, "<html>x</html>", 403}, ERR_DENIED, "403 Forbidden"},
		{{"text/plain", NULL, "no\x1bmore\n", 404}, ERR_NOT_FOUND, "404 Not Found: no"},
	};
	struct bmc_rig *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(read_body(f, cases[i].body), cases[i].kind);
		if (!strstr(f->err.text, cases[i].says))
			fail_msg("%s: want %s", f->err.text, cases[i].says);
		assert_null(strstr(f->err.text, "<html>"));
		assert_null(strchr(f->err.text, '\x1b'));
	}
	assert_done(bmc_read_system(f));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		bmc_test(a_byte_order_mark_is_no_error),
		bmc_test(latin_text_is_read_where_it_is_said_to_be_that),
		bmc_test(what_is_no_json_is_called_what_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
