#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/str.h"
#include "providers/ec2/keys.h"

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void a_profile_of_a_shared_file_is_read(void **state)
{
	char path[] = "/tmp/ec2_keys_XXXXXX";
	struct ec2_keys k = {0};
	struct err e;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	write_file(path, "# people\n[default]\naws_access_key_id = AKID1\n"
			 "aws_secret_access_key=sec/ret=\n\n[ burst ]\r\n"
			 "aws_access_key_id=AKID2\r\naws_secret_access_key = two\r\n"
			 "aws_session_token = tok\r\n[empty]\naws_access_key_id=AKID3\n");
	assert_ok(ec2_keys_from_file(&k, path, "default", &e), &e);
	assert_string_equal(k.id, "AKID1");
	assert_string_equal(secret_expose(k.secret), "sec/ret=");
	assert_null(k.token);
	assert_ok(ec2_keys_from_file(&k, path, "burst", &e), &e);
	assert_string_equal(k.id, "AKID2");
	assert_string_equal(secret_expose(k.secret), "two");
	assert_string_equal(secret_expose(k.token), "tok");
	assert_int_equal(ec2_keys_from_file(&k, path, "empty", &e), -1);
	assert_int_equal(ec2_keys_from_file(&k, path, "none", &e), -1);
	assert_int_equal(e.kind, ERR_DENIED);
	assert_string_equal(k.id, "AKID2"); /* A read that failed does not change the keys. */
	unlink(path);
	assert_int_equal(ec2_keys_from_file(&k, path, "default", &e), -1);
	ec2_keys_done(&k);
}

static void the_environment_is_read(void **state)
{
	struct ec2_keys k = {0};
	struct err e;

	(void)state;
	unsetenv("AWS_SECRET_ACCESS_KEY");
	unsetenv("AWS_SESSION_TOKEN");
	setenv("AWS_ACCESS_KEY_ID", "AKID", 1);
	assert_int_equal(ec2_keys_from_environment(&k, &e), -1);
	setenv("AWS_SECRET_ACCESS_KEY", "s", 1);
	assert_ok(ec2_keys_from_environment(&k, &e), &e);
	assert_string_equal(k.id, "AKID");
	assert_int_equal(k.ends_at, 0);
	ec2_keys_done(&k);
}

static void answers_of_services_have_an_end(void **state)
{
	static const char json[] = "{\"Code\":\"Success\",\"AccessKeyId\":\"ASIA\","
				   "\"SecretAccessKey\":\"s\",\"Token\":\"t\","
				   "\"Expiration\":\"2025-11-24T17:00:00Z\"}";
	static const char endless[] = "{\"AccessKeyId\":\"ASIA\",\"SecretAccessKey\":\"s\"}";
	static const char xml[] =
		"<AssumeRoleWithWebIdentityResponse "
		"xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\">"
		"<AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>ASIB</AccessKeyId>"
		"<SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>"
		"<Expiration>2025-11-24T17:00:00Z</Expiration></Credentials>"
		"</AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>";
	static const char of_role[] =
		"<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>ASIC</AccessKeyId>"
		"<SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>"
		"<Expiration>2025-11-24T17:00:00Z</Expiration></Credentials>"
		"</AssumeRoleResult></AssumeRoleResponse>";
	struct ec2_keys k = {0};
	struct err e;

	(void)state;
	assert_ok(ec2_keys_from_metadata(&k, json, strlen(json), &e), &e);
	assert_string_equal(k.id, "ASIA");
	assert_int_equal(k.ends_at, 1764003600000);
	assert_ok(ec2_keys_from_sts(&k, xml, strlen(xml), &e), &e);
	assert_string_equal(k.id, "ASIB");
	assert_string_equal(secret_expose(k.token), "t");
	assert_int_equal(k.ends_at, 1764003600000);
	assert_ok(ec2_keys_from_sts(&k, of_role, strlen(of_role), &e), &e);
	assert_string_equal(k.id, "ASIC");
	assert_int_equal(ec2_keys_from_metadata(&k, endless, strlen(endless), &e), -1);
	assert_int_equal(ec2_keys_from_metadata(&k, "[]", 2, &e), -1);
	assert_int_equal(ec2_keys_from_sts(&k, "<a/>", 4, &e), -1);
	ec2_keys_done(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_profile_of_a_shared_file_is_read),
		cmocka_unit_test(the_environment_is_read),
		cmocka_unit_test(answers_of_services_have_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
