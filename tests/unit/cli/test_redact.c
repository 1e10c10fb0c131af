/* Tests which parts of texts and objects are redacted, and which stay. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "cli/redact.h"

static void credentials_in_texts_go_and_the_rest_stays(void **state)
{
	static const struct {
		const char *text, *left;
	} rows[] = {
		{"GET https://admin:pw-1@10.0.8.17/redfish/v1 failed",
		 "GET https://REDACTED@10.0.8.17/redfish/v1 failed"},
		{"http://img/node.raw?X-Amz-Signature=abc, again",
		 "http://img/node.raw?REDACTED, again"},
		{"https://h/p#token", "https://h/p?REDACTED"},
		{"Authorization: Bearer abc.def", "Authorization: Bearer REDACTED"},
		{"sent bearer abc123 to it", "sent bearer REDACTED to it"},
		{"password=hunter2 user=x", "password=REDACTED user=x"},
		{"{\"token\": \"abc\", \"n\": 1}", "{\"token\": \"REDACTED\", \"n\": 1}"},
		{"--api-key=zzz", "--api-key=REDACTED"},
		{"--password zz,z --user x", "--password REDACTED --user x"},
		{"--password-file /etc/pw", "--password-file /etc/pw"},
		{"the password of the BMC", "the password of the BMC"},
		{"aws_secret_access_key = a/b+c", "aws_secret_access_key = REDACTED"},
		{"{\"Password\" : \"a b,c;'<\", \"n\": 1}",
		 "{\"Password\" : \"REDACTED\", \"n\": 1}"},
		{"body {\\\"password\\\": \\\"zzz\\\"} sent",
		 "body {\\\"password\\\": \\\"REDACTED\"} sent"},
		{"password='a \"b' x", "password='REDACTED' x"},
		{"password=a,b;c d", "password=REDACTED d"},
		{"get https://root:a,b;c@10.0.0.1/x, again",
		 "get https://REDACTED@10.0.0.1/x, again"},
		{"client-key-data: MHcCAQ==", "client-key-data: REDACTED"},
		{"cert LS0tLS1CRUdJTiBFQyBQUklW/+== end", "cert REDACTED end"},
		{"kube YXBpVmVyc2lvbjogdjEK end", "kube REDACTED end"},
		{"kubeadm join --x abcdef.0123456789abcdef now", "kubeadm join --x REDACTED now"},
		{"eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln end", "REDACTED end"},
		{"key AKIAIOSFODNN7EXAMPLE.", "key REDACTED."},
		{"a -----BEGIN EC PRIVATE KEY-----\nMHc\n-----END EC PRIVATE KEY----- b",
		 "a REDACTED b"},
		{"-----BEGIN PRIVATE KEY-----\ncut", "REDACTED"},
		{"-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----",
		 "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----"},
		{"DriveMissing: 2 of 8 drives, sha256:0011223344556677, 10:20:30",
		 "DriveMissing: 2 of 8 drives, sha256:0011223344556677, 10:20:30"},
		{"Secret bmc-1 in namespace x is not there",
		 "Secret bmc-1 in namespace x is not there"},
		{"", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buf b;

		buf_init(&b, 1 << 20);
		buf_puts(&b, "");
		redact_text(rows[i].text, &b);
		if (strcmp(b.data, rows[i].left) != 0)
			fail_msg("'%s': want '%s', got '%s'", rows[i].text, rows[i].left, b.data);
		buf_done(&b);
	}
}

static void credentials_in_objects_go_and_names_of_secrets_stay(void **state)
{
	static const char text[] =
		"{'metadata': {'name': 'm-1', 'managedFields': [1], 'labels': {'rack': 'r1'}, "
		"'annotations': {"
		"'kubectl.kubernetes.io/last-applied-configuration': 'PLANTED', 'who/knows': "
		"'PLANTED', "
		"'drover.dev/retry': '2026-01-01T00:00:00Z'}}, 'spec': {'credentialsSecretRef': "
		"{'name': 'bmc-1'}, "
		"'bmcPassword': 'PLANTED', 'deep': [{'Token': 'PLANTED'}, "
		"'https://u:PLANTED@h/x'], "
		"'exec': {'command': ['/etc/drover/x', '--pw', 'PLANTED']}, 'key': 'config', 'n': "
		"3, 'env': [{'name': 'X', 'value': 'PLANTED'}]}, "
		"'status': {'conditions': [{'message': 'login with password: PLANTED failed'}]}}";
	char *copy = mem_strdup(text), *left;
	struct err e;
	json_t *o;

	(void)state;
	for (char *c = copy; *c; c++)
		if (*c == '\'')
			*c = '"';
	o = json_parse(copy, strlen(copy), &e);
	assert_non_null(o);
	redact_object(o);
	left = json_text(o);
	if (strstr(left, "PLANTED"))
		fail_msg("%s", left);
	assert_string_equal(json_str_at(o, "spec", "credentialsSecretRef", "name"), "bmc-1");
	assert_string_equal(json_str_at(o, "spec", "key"), "config");
	assert_string_equal(json_str_at(o, "metadata", "labels", "rack"), "r1");
	assert_string_equal(json_str_at(o, "metadata", "annotations", "drover.dev/retry"),
			    "2026-01-01T00:00:00Z");
	assert_null(json_at(o, "metadata", "managedFields"));
	assert_non_null(strstr(left, "/etc/drover/x"));
	json_decref(o);
	free(left);
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(credentials_in_texts_go_and_the_rest_stays),
		cmocka_unit_test(credentials_in_objects_go_and_names_of_secrets_stay),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
