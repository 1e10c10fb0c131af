#include "providers/ec2/keys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/data/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "providers/ec2/query.h"

#define FILE_MAX 65536

void ec2_keys_done(struct ec2_keys *k)
{
	free(k->id);
	secret_free(k->secret);
	secret_free(k->token);
	*k = (struct ec2_keys){0};
}

/* The texts of one set of keys in a source; NULL: not there. */
struct key_texts {
	const char *id, *secret, *token;
};

static int fill(struct ec2_keys *k, const struct key_texts *t, int64_t ends_at, const char *from,
		struct err *e)
{
	if (str_empty(t->id) || str_empty(t->secret))
		return err_set(e, ERR_DENIED, 0, "no access key with its secret in %.150s", from);
	ec2_keys_done(k);
	k->id = mem_strdup(t->id);
	k->secret = secret_from_str(t->secret);
	k->token = str_empty(t->token) ? NULL : secret_from_str(t->token);
	k->ends_at = ends_at;
	return 0;
}

int ec2_keys_from_environment(struct ec2_keys *k, struct err *e)
{
	const struct key_texts t = {.id = getenv("AWS_ACCESS_KEY_ID"),
				    .secret = getenv("AWS_SECRET_ACCESS_KEY"),
				    .token = getenv("AWS_SESSION_TOKEN")};

	return fill(k, &t, 0, "the environment", e);
}

/* --- the shared credentials file -------------------------------------------------------------- */

static char *stripped(char *s)
{
	size_t n;

	s += strspn(s, " \t\r");
	for (n = strlen(s); n && strchr(" \t\r", s[n - 1]); n--)
		;
	s[n] = '\0';
	return s;
}

static void take(struct key_texts *t, char *line)
{
	char *value = strchr(line, '=');
	const char *name;

	if (!value)
		return;
	*value++ = '\0';
	name = stripped(line);
	value = stripped(value);
	if (str_eq(name, "aws_access_key_id"))
		t->id = value;
	else if (str_eq(name, "aws_secret_access_key"))
		t->secret = value;
	else if (str_eq(name, "aws_session_token"))
		t->token = value;
}

static struct key_texts find(char *text, const char *profile)
{
	struct key_texts t = {0};
	bool inside = false;
	char *rest = text, *line;

	while ((line = strsep(&rest, "\n"))) {
		line = stripped(line);
		if (*line == '#' || *line == ';')
			continue;
		if (*line == '[') {
			line[strcspn(line, "]")] = '\0';
			inside = str_eq(stripped(line + 1), profile);
		} else if (inside) {
			take(&t, line);
		}
	}
	return t;
}

int ec2_keys_from_file(struct ec2_keys *k, const char *path, const char *profile, struct err *e)
{
	OWN(arena) a = arena_new();
	char text[FILE_MAX + 1];
	struct key_texts t;
	FILE *file;
	size_t n;
	int rc;

	if (!path)
		path = getenv("AWS_SHARED_CREDENTIALS_FILE");
	if (!path)
		path = arena_printf(a, "%s/.aws/credentials", str_or(getenv("HOME"), ""));
	profile = str_or(profile, str_or(getenv("AWS_PROFILE"), "default"));
	file = fopen(path, "re");
	if (!file)
		return err_errno(e, errno, "%.150s", path);
	/* Switch off the buffer of stdio, which would keep a copy of the secret. */
	setvbuf(file, NULL, _IONBF, 0);
	n = fread(text, 1, FILE_MAX, file);
	(void)fclose(file);
	text[n] = '\0';
	t = find(text, profile);
	rc = fill(k, &t, 0, arena_printf(a, "%s, profile %s", path, profile), e);
	secret_wipe(text, sizeof(text));
	return rc;
}

/* --- replies of services ---------------------------------------------------------------------- */

int ec2_keys_from_metadata(struct ec2_keys *k, const char *json, size_t len, struct err *e)
{
	struct err bad;
	OWN_JSON o = json_parse(json, len, &bad);
	struct key_texts t;
	const char *end;
	int64_t ends_at;

	if (!json_is_object(o))
		return err_set(e, ERR_PROTOCOL, 0,
			       "the metadata service's credentials are not a JSON object");
	t.id = json_string_value(json_object_get(o, "AccessKeyId"));
	t.secret = json_string_value(json_object_get(o, "SecretAccessKey"));
	t.token = json_string_value(json_object_get(o, "Token"));
	end = json_string_value(json_object_get(o, "Expiration"));
	if (!end || !str_to_time(end, &ends_at))
		return err_set(e, ERR_PROTOCOL, 0,
			       "the metadata service's credentials have no expiry time");
	return fill(k, &t, ends_at, "the metadata service's reply", e);
}

int ec2_keys_from_sts(struct ec2_keys *k, const char *xml, size_t len, struct err *e)
{
	OWN(ec2_reply) r = ec2_reply_parse(xml, len, e);
	OWN(arena) a = arena_new();
	struct ec2_reply_node n;
	struct key_texts t;
	const char *end;
	int64_t ends_at;

	if (!r)
		return -1;
	n = ec2_reply_at(ec2_reply_root(r), "AssumeRoleResult/Credentials");
	if (!n.at)
		n = ec2_reply_at(ec2_reply_root(r), "AssumeRoleWithWebIdentityResult/Credentials");
	end = ec2_reply_text(n, "Expiration", a);
	if (!end || !str_to_time(end, &ends_at))
		return err_set(e, ERR_PROTOCOL, 0, "the credentials from STS have no expiry time");
	t = (struct key_texts){.id = ec2_reply_text(n, "AccessKeyId", a),
			       .secret = ec2_reply_text(n, "SecretAccessKey", a),
			       .token = ec2_reply_text(n, "SessionToken", a)};
	return fill(k, &t, ends_at, "the reply of STS", e);
}
