#include "base/httpd/httpd_peer.h"

#include <arpa/inet.h>
#include <gnutls/x509.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include "base/crypto.h"
#include "base/mem.h"
#include "base/str.h"

#define NAME_MAX_BYTES 256

struct httpd_peer {
	char address[80];
	char cn[NAME_MAX_BYTES], o[NAME_MAX_BYTES], sha256[2 * CRYPTO_SHA256 + 1];
	bool looked;
	struct httpd_identity identity;
};

static void write_address(char *out, size_t size, const struct sockaddr *a)
{
	char ip[INET6_ADDRSTRLEN] = "";

	if (a && a->sa_family == AF_INET) {
		const struct sockaddr_in *v4 = (const struct sockaddr_in *)a;

		inet_ntop(AF_INET, &v4->sin_addr, ip, sizeof(ip));
		str_format(out, size, "%s:%u", ip, ntohs(v4->sin_port));
	} else if (a && a->sa_family == AF_INET6) {
		const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)a;

		inet_ntop(AF_INET6, &v6->sin6_addr, ip, sizeof(ip));
		str_format(out, size, "[%s]:%u", ip, ntohs(v6->sin6_port));
	} else {
		str_copy(out, size, "unknown");
	}
}

struct httpd_peer *httpd_peer_new(const struct sockaddr *address)
{
	struct httpd_peer *p = mem_new(struct httpd_peer);

	write_address(p->address, sizeof(p->address), address);
	p->identity.address = p->address;
	return p;
}

void httpd_peer_free(struct httpd_peer *p)
{
	free(p);
}

static bool is_trusted(gnutls_session_t session)
{
	gnutls_typed_vdata_st purpose = {
		.type = GNUTLS_DT_KEY_PURPOSE_OID,
		.data = (unsigned char *)GNUTLS_KP_TLS_WWW_CLIENT,
	};
	unsigned status = 1;

	return gnutls_certificate_type_get(session) == GNUTLS_CRT_X509 &&
	       gnutls_certificate_verify_peers(session, &purpose, 1, &status) == 0 && status == 0;
}

/* Reads a name from a certificate's subject into out. Returns out; NULL: the certificate has no
 * such name, or the name is not a plain string. */
static const char *name_of(gnutls_x509_crt_t cert, const char *oid, char out[static NAME_MAX_BYTES])
{
	size_t n = NAME_MAX_BYTES;

	if (gnutls_x509_crt_get_dn_by_oid(cert, oid, 0, 0, out, &n) != 0 || strlen(out) != n)
		return NULL;
	return out;
}

static void look_at_certificate(struct httpd_peer *p, gnutls_session_t session)
{
	unsigned n = 0;
	const gnutls_datum_t *chain = gnutls_certificate_get_peers(session, &n);
	uint8_t digest[CRYPTO_SHA256];
	gnutls_x509_crt_t cert;

	if (!chain || !n || !is_trusted(session) || gnutls_x509_crt_init(&cert) != 0)
		return;
	if (gnutls_x509_crt_import(cert, &chain[0], GNUTLS_X509_FMT_DER) == 0) {
		crypto_sha256(chain[0].data, chain[0].size, digest);
		str_hex(p->sha256, digest, sizeof(digest));
		p->identity.cert_sha256 = p->sha256;
		p->identity.cert_subject_cn = name_of(cert, GNUTLS_OID_X520_COMMON_NAME, p->cn);
		p->identity.cert_subject_o = name_of(cert, GNUTLS_OID_X520_ORGANIZATION_NAME, p->o);
	}
	gnutls_x509_crt_deinit(cert);
}

const struct httpd_identity *httpd_peer_identity(struct httpd_peer *p, gnutls_session_t session)
{
	static const struct httpd_identity nobody = {.address = "unknown"};

	if (!p)
		return &nobody;
	if (session && !p->looked) {
		p->looked = true;
		look_at_certificate(p, session);
	}
	return &p->identity;
}
