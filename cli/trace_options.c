#include "cli/trace_options.h"

#include <string.h>
#include "base/file.h"
#include "base/secret.h"
#include "base/str.h"
#include "controller/core/spans.h"

#define CA_BYTES (512 << 10)
#define TOKEN_BYTES (16 << 10)

/* Returns the token in the file, without the newline behind it; NULL with *e. */
static struct secret *read_token(const char *path, struct err *e)
{
	struct secret *s = NULL;
	struct buf b;
	size_t n;

	buf_init(&b, TOKEN_BYTES);
	if (file_read(path, &b, e) == 0) {
		n = strcspn(b.data, "\r\n");
		if (n)
			s = secret_new(b.data, n);
		else
			err_note(e, ERR_INVALID, 0, "%s: has no token", path);
	}
	secret_wipe(b.data, b.len);
	buf_done(&b);
	return s;
}

int trace_options_apply(const struct trace_options *o, struct controller *c, struct err *e)
{
	struct spans_spec s = {.endpoint = o->endpoint};
	OWN(secret) token = NULL;
	struct buf ca;
	int rc = 0;

	if (!o->endpoint)
		return o->ca_file || o->token_file
			       ? err_set(e, ERR_INVALID, 0,
					 "--traces-ca and --traces-token-file need "
					 "--traces-endpoint")
			       : 0;
	buf_init(&ca, CA_BYTES);
	if (o->ca_file)
		rc = file_read(o->ca_file, &ca, e) < 0 ? err_wrap(e, "--traces-ca") : 0;
	if (!rc && o->token_file) {
		s.token = token = read_token(o->token_file, e);
		rc = token ? 0 : err_wrap(e, "--traces-token-file");
	}
	s.ca_pem = o->ca_file ? ca.data : NULL;
	if (!rc && controller_trace(c, &s, e) < 0)
		rc = err_wrap(e, "--traces-endpoint");
	buf_done(&ca);
	return rc;
}
