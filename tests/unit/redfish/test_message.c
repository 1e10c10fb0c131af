/* Tests that errors of BMCs are reported in the BMC's words, with the matching error kind. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/str.h"
#include "tests/unit/redfish/bmc_rig.h"

#define SYSTEM "/redfish/v1/Systems/1"
#define INFO(list)                                                                                 \
	"{\"error\":{\"code\":\"Base.1.8.GeneralError\","                                          \
	"\"message\":\"A general error has occurred. "                                             \
	"See ExtendedInfo.\",\"@Message.ExtendedInfo\":" list "}}"
#define GENERAL                                                                                    \
	"{\"MessageId\":\"Base.1.8.GeneralError\",\"Message\":\"A general error has occurred.\"}"

struct answer {
	int status;
	const char *body, *retry_after;
	enum err_kind kind;
	/* Expected error text behind the part that names the request. */
	const char *text;
};

static bool answers(struct httpd_req *q, unsigned n, void *arg)
{
	const struct answer *a = arg;

	(void)n;
	if (!str_eq(httpd_path(q), SYSTEM) || !str_eq(httpd_method(q), "GET"))
		return false;
	if (a->retry_after)
		httpd_reply_header(q, "Retry-After", a->retry_after);
	httpd_reply_json(q, a->status, a->body);
	return true;
}

static void assert_told(struct bmc_rig *f, const struct answer *a)
{
	static const char request[] = "GET " SYSTEM ": ";

	redfish_free(f->r);
	f->r = NULL;
	fake_bmc_expire(&f->bmc);
	assert_done(bmc_read_system(f));
	while (f->bmc.njournal > 0)
		free(f->bmc.journal[--f->bmc.njournal]);
	f->bmc.tamper = answers;
	f->bmc.tamper_arg = (void *)a;
	assert_int_equal(bmc_read_system(f), a->kind);
	f->bmc.tamper = NULL;
	assert_true(str_starts(f->err.text, request));
	if (a->text)
		assert_string_equal(f->err.text + strlen(request), a->text);
}

static void words_are_the_bmcs_own(void **state)
{
	static const struct answer cases[] = {
		{400,
		 INFO("[{\"MessageId\":\"Base.1.8.PropertyMissing\","
		      "\"Message\":\"X is missing.\"}]"),
		 NULL, ERR_INVALID, "400 PropertyMissing: X is missing."},
		{400, INFO("{\"MessageId\":\"IDRAC.2.4.SYS999\",\"Message\":\"One object.\"}"),
		 NULL, ERR_INVALID, "400 SYS999: One object."},
		{400,
		 INFO("[" GENERAL ",{\"MessageId\":\"A.1.Busy\",\"Message\":\"In POST.\"},"
		      "{\"MessageId\":\"A.1.Again\",\"Message\":\"Try later.\"}]"),
		 NULL, ERR_INVALID, "400 Busy: In POST.; Again: Try later."},
		{400,
		 INFO("[{\"MessageId\":\"A.1.Same\",\"Message\":\"Once.\"},"
		      "{\"MessageId\":\"A.1.Same\",\"Message\":\"Once.\"}]"),
		 NULL, ERR_INVALID, "400 Same: Once."},
		{400, INFO("[" GENERAL "]"), NULL, ERR_INVALID,
		 "400 GeneralError: A general error has occurred."},
		{400,
		 INFO("[{\"MessageId\":\"A.1.NotKnown\",\"MessageArgs\":[\"Boot\",7,\"Cd\"]}]"),
		 NULL, ERR_INVALID, "400 NotKnown Boot, Cd"},
		{400, INFO("[{\"Message\":\"No id.\"}]"), NULL, ERR_INVALID, "400 No id."},
		{400, INFO("[]"), NULL, ERR_INVALID,
		 "400 Bad Request: A general error has occurred. See ExtendedInfo."},
		{400, INFO("[7,null,{}]"), NULL, ERR_INVALID,
		 "400 Bad Request: A general error has occurred. See ExtendedInfo."},
		{400, "{\"error\":{\"code\":\"iLO.0.10\",\"message\":\"Old form.\"}}", NULL,
		 ERR_INVALID, "400 Bad Request: Old form."},
		{400,
		 "{\"@Message.ExtendedInfo\":[{\"MessageId\":\"A.1.Bare\","
		 "\"Message\":\"No envelope.\"}]}",
		 NULL, ERR_INVALID, "400 Bare: No envelope."},
		{400, "{}", NULL, ERR_INVALID, "400 Bad Request"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_told(*state, &cases[i]);
}

static void a_status_is_the_kind_of_error_that_it_means(void **state)
{
	static const struct answer cases[] = {
		{403,
		 INFO("[{\"MessageId\":\"Base.1.8.InsufficientPrivilege\",\"Message\":\"No.\"}]"),
		 NULL, ERR_DENIED, "403 InsufficientPrivilege: No."},
		{404, "{}", NULL, ERR_NOT_FOUND, "404 Not Found"},
		{405, "{}", NULL, ERR_UNSUPPORTED, "405 Method Not Allowed"},
		{409, "{}", NULL, ERR_UNAVAILABLE, "409 Conflict"},
		{412, "{}", NULL, ERR_PROTOCOL, "412 Precondition Failed"},
		{428, "{}", NULL, ERR_INVALID, "428 Precondition Required"},
		{503, "{}", "40", ERR_UNAVAILABLE, "503 Service Unavailable"},
		{403,
		 INFO("[{\"MessageId\":\"SMC.1.0.OemLicenseNotPassed\",\"Message\":\"DCMS.\"}]"),
		 NULL, ERR_UNSUPPORTED, "403 OemLicenseNotPassed: DCMS."},
	};
	struct bmc_rig *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_told(f, &cases[i]);
		assert_int_equal(f->err.code, cases[i].status);
		assert_int_equal(f->err.retry_after_ms, cases[i].retry_after ? 40000 : 0);
	}
}

/* Messages of a hostile or defective BMC: the error contains no control sequences, no endless text,
 * and no part of the password. */
static void words_are_harmless(void **state)
{
	static const char start[] =
		"{\"error\":{\"@Message.ExtendedInfo\":[{\"MessageId\":\"A.1.Echo\",\"Message\":\"";
	struct bmc_rig *f = *state;
	char body[2048];

	assert_told(f,
		    &(struct answer){
			    400,
			    INFO("[{\"MessageId\":\"A.1.\\u001b[2J\",\"Message\":\"a\\nb\\u0007\"},"
				 "{\"Message\":\"root:correct horse, root:correct%20horse\"}]"),
			    NULL, ERR_INVALID, NULL});
	for (const char *s = f->err.text; *s; s++)
		assert_true((unsigned char)*s >= 0x20);
	assert_null(strstr(f->err.text, "horse"));
	for (size_t pad = 0; pad < 300; pad += 3) {
		str_format(body, sizeof(body),
			   "%s%*s root:correct horse\"},{\"Message\":\"%*s\"}]}}", start, (int)pad,
			   "", 600, "x");
		assert_told(f, &(struct answer){400, body, NULL, ERR_INVALID, NULL});
		assert_true(strlen(f->err.text) < sizeof(f->err.text));
		assert_null(strstr(f->err.text, "corr"));
	}
}

static bool login_says(struct httpd_req *q, unsigned n, void *arg)
{
	(void)n;
	if (!str_eq(httpd_method(q), "POST"))
		return false;
	httpd_reply_json(q, 403, arg);
	return true;
}

static void of_a_refused_login_the_id_is_told_and_nothing_that_it_quotes(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.tamper = login_says;
	f->bmc.tamper_arg =
		(void *)INFO("[" GENERAL ",{\"MessageId\":\"Base.1.8.AccountLocked\",\"Message\":"
			     "\"drover with secret-of-another is locked\"}]");
	assert_int_equal(bmc_read_system(f), ERR_DENIED);
	assert_int_equal(f->err.code, 401);
	assert_non_null(strstr(f->err.text, "user drover"));
	assert_non_null(strstr(f->err.text, "403 AccountLocked"));
	assert_null(strstr(f->err.text, "secret-of-another"));
	bmc_drop_client(f);
	f->bmc.tamper_arg = (void *)INFO("[{\"MessageId\":\"Base.1.8.secret of another\"}]");
	assert_int_equal(bmc_read_system(f), ERR_DENIED);
	assert_null(strstr(f->err.text, "secret"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		bmc_test(words_are_the_bmcs_own),
		bmc_test(a_status_is_the_kind_of_error_that_it_means),
		bmc_test(words_are_harmless),
		bmc_test(of_a_refused_login_the_id_is_told_and_nothing_that_it_quotes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
