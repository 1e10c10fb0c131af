/* kube_review_token() over real TLS. The other cases are in test_client.c. */
#include "tests/unit/testing.h"

#include "base/str.h"
#include "kube/client.h"
#include "tests/unit/base/http/http_rig.h"

/* Replies with the user by the order of kube-apiserver: first the certificate, then the token. */
static void serve(struct httpd_req *q, void *arg)
{
	const struct httpd_identity *i = httpd_identity(q);
	struct secret *token = httpd_bearer(q);
	const char *user = i && !str_empty(i->cert_subject_cn) ? i->cert_subject_cn
			   : token			       ? secret_expose(token)
							       : "nobody";
	char text[200];

	(void)arg;
	str_format(text, sizeof(text), "{\"status\":{\"userInfo\":{\"username\":\"%s\"}}}", user);
	httpd_reply_json(q, 201, text);
	secret_free(token);
}

static void on_done(json_t *o, const struct err *e, void *arg)
{
	if (e)
		fail_msg("%s", e->text);
	str_copy(arg, 80, str_or(json_str_at(o, "status", "userInfo", "username"), "?"));
}

static bool has_user(void *arg)
{
	return *(const char *)arg != '\0';
}

/* A certificate would take precedence, so that every token would seem to be accepted. */
static void the_certificate_of_the_client_is_not_presented(void **state)
{
	static const char path[] = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
	struct secret *token = secret_from_str("abcdef.0123456789abcdef");
	char user[80] = "";
	struct kube_client *c;
	struct rig r;
	struct err e;

	(void)state;
	rig_start(&r, true);
	httpd_route(r.d, "POST", path, 4096, serve, NULL);
	httpd_route(r.d, "GET", path, 0, serve, NULL);
	struct kube_config config = {.server = r.url,
				     .local_ok = true,
				     .ca_pem = r.ca_pem,
				     .client_cert_pem = r.client_pem,
				     .client_key_pem = r.client_key};
	c = kube_client_new(r.client_g, r.h, &(struct kube_client_spec){.config = &config}, &e);
	if (!c)
		fail_msg("%s", e.text);
	kube_get_path(c, path, on_done, user);
	rig_until(&r, has_user, user);
	assert_string_equal(user, "tester");
	user[0] = '\0';
	kube_review_token(c, token, on_done, user);
	rig_until(&r, has_user, user);
	assert_string_equal(user, "abcdef.0123456789abcdef");
	secret_free(token);
	kube_client_free(c);
	rig_stop(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_certificate_of_the_client_is_not_presented),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
