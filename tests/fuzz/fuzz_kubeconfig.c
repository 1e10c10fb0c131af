/*
 * A tenant's kubeconfig: whatever it says, no file is read, and what is
 * accepted is an https server elsewhere with a CA and a login.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "kube/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err e = {0};
	OWN(kube_config)
	c = kube_config_parse((const char *)data, size, KUBE_CONFIG_TENANT, NULL, NULL, &e);

	if (!c) {
		assert(e.kind != ERR_NONE);
		return 0;
	}
	assert(!strncmp(c->server, "https://", 8) && !strstr(c->server, "://localhost") &&
	       !strstr(c->server, "://127.") && !strchr(c->server, '@'));
	assert(c->ca_pem && !c->token_file && c->namespace_);
	assert(c->token || (c->client_cert_pem && c->client_key_pem));
	return 0;
}
