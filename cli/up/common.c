/*
 * common: URLs and certificates of `drover up`. Separate from up.c because rack.c and objects.c,
 * which up.c calls, need these functions too.
 * Tests: tests/real/up.py, examples/demo.py
 */
#include "base/crypto.h"
#include "base/mem.h"
#include "cli/up/up.h"

char *up_url(const struct up *u, const char *scheme, enum up_port port)
{
	return mem_printf("%s://127.0.0.1:%lld", scheme, (long long)(u->port + port));
}

int up_certificate(const struct up *u, const char *const *names, char **cert_pem,
		   struct secret **key, struct err *e)
{
	return crypto_cert_issue(up_server_ca_pem(u->host.server), up_server_ca_key(u->host.server),
				 "drover up", names, loop_wall(u->loop), UP_CERT_DAYS, cert_pem,
				 key, e);
}
