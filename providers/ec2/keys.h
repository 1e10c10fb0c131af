#ifndef PROVIDERS_EC2_KEYS_H
#define PROVIDERS_EC2_KEYS_H

#include <stdint.h>
#include "base/err.h"
#include "base/secret.h"

/*
 * keys: one set of credentials, and functions that read it from the environment, a shared
 * credentials file, the metadata service's JSON, or a reply of STS.
 * Tests: tests/unit/providers/ec2/test_keys.c
 */
struct ec2_keys {
	char *id;
	/* token NULL: no session token */
	struct secret *secret, *token;
	/* Expiry of the credentials, Unix ms; 0: they do not expire */
	int64_t ends_at;
};
void ec2_keys_done(struct ec2_keys *k);

/* Reads AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN. Like the other three
 * ec2_keys_from_...() functions, replaces *k on success, and leaves *k unchanged on error. */
int ec2_keys_from_environment(struct ec2_keys *k, struct err *e);
/* Reads the section [PROFILE] of an INI file: aws_access_key_id, aws_secret_access_key,
 * aws_session_token. path NULL: AWS_SHARED_CREDENTIALS_FILE or ~/.aws/credentials. profile NULL:
 * AWS_PROFILE or "default". These are the defaults of AWS's tools. */
int ec2_keys_from_file(struct ec2_keys *k, const char *path, const char *profile, struct err *e);
int ec2_keys_from_metadata(struct ec2_keys *k, const char *json, size_t len, struct err *e);
/* xml: reply of AssumeRole or AssumeRoleWithWebIdentity */
int ec2_keys_from_sts(struct ec2_keys *k, const char *xml, size_t len, struct err *e);

#endif
