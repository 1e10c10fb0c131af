/*
 * Reads the input as a tenant's kubeconfig. Asserts that no file is read, whatever the kubeconfig
 * contains. An accepted kubeconfig must name an https server on another host, with a CA and a
 * login. A TLS library must be able to read its certificates and keys without asking for a
 * passphrase.
 *
 * Input that begins with '1', '2' or '3' and a newline is PEM: the key, the certificate or the CA
 * of an otherwise valid kubeconfig, because no fuzzer gets far through base64.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/crypto.h"
#include "base/mem.h"
#include "base/pem.h"
#include "kube/config.h"
#include "tests/data/pems.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *around(const char *data, size_t size)
{
	static const char *const usual[] = {PEMS_KEY, PEMS_CERT, PEMS_CA};
	char *b64[3], *text;

	for (int i = 0; i < 3; i++)
		b64[i] = data[0] == '1' + i ? crypto_base64(data + 2, size - 2)
					    : crypto_base64(usual[i], strlen(usual[i]));
	text = mem_printf("current-context: x\n"
			  "contexts: [{name: x, context: {cluster: c, user: u}}]\n"
			  "users: [{name: u, user: {client-key-data: '%s', "
			  "client-certificate-data: '%s'}}]\n"
			  "clusters: [{name: c, cluster: {server: 'https://a.b', "
			  "certificate-authority-data: '%s'}}]\n",
			  b64[0], b64[1], b64[2]);
	for (int i = 0; i < 3; i++)
		free(b64[i]);
	return text;
}

static void check_again(const struct kube_config *c)
{
	struct err e;
	char *ca = pem_certs(c->ca_pem, strlen(c->ca_pem), PEM_CERTS_MAX, &e);

	assert(ca && !strcmp(ca, c->ca_pem) && !strstr(ca, "ENCRYPTED"));
	free(ca);
	if (c->client_key_pem) {
		assert(!strstr(secret_expose(c->client_key_pem), "ENCRYPTED"));
		assert(!strstr(c->client_cert_pem, "ENCRYPTED"));
		assert(pem_pair(c->client_cert_pem, c->client_key_pem, &e) == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *given = (const char *)data;
	char *text = size > 2 && given[0] >= '1' && given[0] <= '3' && given[1] == '\n'
			     ? around(given, size)
			     : mem_strndup(given, size);
	struct err e = {0};
	OWN(kube_config)
	c = kube_config_parse(text, strlen(text), KUBE_CONFIG_TENANT, NULL, NULL, &e);

	free(text);
	if (!c) {
		assert(e.kind != ERR_NONE);
		return 0;
	}
	assert(!strncmp(c->server, "https://", 8) && !strstr(c->server, "://localhost") &&
	       !strstr(c->server, "://127.") && !strchr(c->server, '@'));
	assert(c->ca_pem && !c->token_file && c->namespace_ && !c->local_ok);
	assert(c->token || (c->client_cert_pem && c->client_key_pem));
	check_again(c);
	return 0;
}
