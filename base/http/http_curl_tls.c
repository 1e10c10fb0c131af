#include "base/http/http_curl_impl.h"

#include <openssl/ssl.h>
#include <string.h>
#include <strings.h>
#include "base/str.h"

/*
 * Sets up the check of server certificates. With a CA, libcurl checks against that CA only. With a
 * pin, given or to be learned, a callback replaces the chain check during the handshake. Before
 * each request, also on a reused connection, the certificate is compared with the pin again,
 * because libcurl's connection cache knows nothing of pins. A pin is learned only at that second
 * comparison, because by then the handshake has proved that the server has the certificate's
 * private key.
 * Tests: tests/unit/base/http/test_http_curl.c
 */

static bool has_pin(const struct flight *f)
{
	return f->x->peer->pin_sha256 || f->x->peer->learn_pin;
}

static bool certificate_pin(const X509 *cert, char hex[static 65])
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned n = 0;

	if (!cert || !X509_digest(cert, EVP_sha256(), digest, &n) || n != 32)
		return false;
	str_hex(hex, digest, 32);
	return true;
}

/* True if the certificate matches the pin, or if no pin is known yet. */
static bool is_pinned(struct flight *f, const X509 *cert, char hex[static 65])
{
	const char *pin = f->x->peer->pin_sha256;

	if (certificate_pin(cert, hex) && (!pin || !strcasecmp(pin, hex)))
		return true;
	f->failed = true;
	err_note(&f->err, ERR_DENIED, 0, "%s: the server's certificate is not the pinned one",
		 f->x->origin);
	return false;
}

static int verify_pin(X509_STORE_CTX *ctx, void *arg)
{
	char hex[65];
	bool ok = is_pinned(arg, X509_STORE_CTX_get0_cert(ctx), hex);

	X509_STORE_CTX_set_error(ctx, ok ? X509_V_OK : X509_V_ERR_APPLICATION_VERIFICATION);
	return ok;
}

static CURLcode on_ssl_ctx(CURL *easy, void *ssl_ctx, void *arg)
{
	struct flight *f = arg;

	(void)easy;
	/* Forbid renegotiation, because the callback's argument f is valid only during the first
	 * handshake. */
	SSL_CTX_set_options(ssl_ctx, SSL_OP_NO_RENEGOTIATION);
	if (has_pin(f))
		SSL_CTX_set_cert_verify_callback(ssl_ctx, verify_pin, f);
	return CURLE_OK;
}

bool http_curl_check_connection(struct flight *f)
{
	struct curl_tlssessioninfo *tls = NULL;
	char hex[65];

	if (!has_pin(f) || !str_starts(f->x->origin, "https:"))
		return true;
	curl_easy_getinfo(f->easy, CURLINFO_TLS_SSL_PTR, &tls);
	if (!is_pinned(f, tls && tls->internals ? SSL_get0_peer_certificate(tls->internals) : NULL,
		       hex))
		return false;
	if (!f->x->peer->pin_sha256)
		http_transport_learned(f->x->req, hex);
	return true;
}

static void set_blob(CURL *easy, CURLoption option, const char *data, size_t len)
{
	/* The data is not copied: the peer outlives the exchange. */
	struct curl_blob blob = {.data = (char *)data, .len = len, .flags = CURL_BLOB_NOCOPY};

	curl_easy_setopt(easy, option, &blob);
}

void http_curl_set_trust(struct flight *f)
{
	const struct http_peer_spec *p = f->x->peer;

	curl_easy_setopt(f->easy, CURLOPT_SSL_VERIFYPEER, 1L);
	curl_easy_setopt(f->easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	curl_easy_setopt(f->easy, CURLOPT_SSL_CTX_FUNCTION, on_ssl_ctx);
	curl_easy_setopt(f->easy, CURLOPT_SSL_CTX_DATA, f);
	/* Do not check the name if there is a pin: the pin identifies one certificate, and BMC
	 * certificates have wrong names. Because of this setting libcurl does not reuse the
	 * connection for a peer without a pin. */
	curl_easy_setopt(f->easy, CURLOPT_SSL_VERIFYHOST, has_pin(f) ? 0L : 2L);
	if (has_pin(f) || p->ca_pem) {
		/* Clear libcurl's default CAs; otherwise they would be trusted in addition to the
		 * given one. */
		curl_easy_setopt(f->easy, CURLOPT_CAINFO, NULL);
		curl_easy_setopt(f->easy, CURLOPT_CAPATH, NULL);
	}
	if (p->ca_pem && !has_pin(f))
		set_blob(f->easy, CURLOPT_CAINFO_BLOB, p->ca_pem, strlen(p->ca_pem));
	if (p->client_cert_pem) {
		set_blob(f->easy, CURLOPT_SSLCERT_BLOB, p->client_cert_pem,
			 strlen(p->client_cert_pem));
		set_blob(f->easy, CURLOPT_SSLKEY_BLOB, secret_expose(p->client_key_pem),
			 secret_len(p->client_key_pem));
	}
}
