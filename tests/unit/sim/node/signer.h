#ifndef TESTS_UNIT_SIM_NODE_SIGNER_H
#define TESTS_UNIT_SIM_NODE_SIGNER_H

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include "tests/unit/sim/node/town.h"

/*
 * signer: the certificates API of a cluster with its approver and signer, in front of the API
 * server of a town (town.h). It reads requests as kube-controller-manager does, but with OpenSSL
 * only. Each test program can include it only once.
 */
#define SIGNER_REQUESTS "/apis/certificates.k8s.io/v1/certificatesigningrequests"

struct signer {
	struct town *town;
	/* CertificateSigningRequests by name */
	json_t *requests;
	/* Number of requests that were created */
	unsigned posts;
	/* Condition that each request gets; NULL: requests are neither approved nor denied */
	const char *verdict;
	/* True: signs a key other than the requested one */
	bool other_key;
};
static struct signer signer;

static inline X509_REQ *signer_read(const json_t *request)
{
	const char *text = json_str_at(request, "spec", "request");
	struct err e;
	size_t len;
	char *pem = crypto_base64_decode(text, strlen(text), &len, &e);
	BIO *bio = BIO_new_mem_buf(pem, (int)len);
	X509_REQ *q = PEM_read_bio_X509_REQ(bio, NULL, NULL, NULL);

	assert_non_null(q);
	BIO_free(bio);
	free(pem);
	return q;
}

/* Writes the subject of a request to out and returns it, such as "O = system:nodes, CN =
 * system:node:claim-1". */
static inline const char *signer_subject(const json_t *request, char out[static 200])
{
	X509_REQ *q = signer_read(request);
	BIO *bio = BIO_new(BIO_s_mem());
	char *data;
	long n;

	X509_NAME_print_ex(bio, X509_REQ_get_subject_name(q), 0, XN_FLAG_ONELINE);
	n = BIO_get_mem_data(bio, &data);
	str_format(out, 200, "%.*s", (int)n, data);
	BIO_free(bio);
	X509_REQ_free(q);
	return out;
}

static inline EVP_PKEY *signer_ca_key(void)
{
	const struct secret *key = signer.town->ca_key;
	BIO *bio = BIO_new_mem_buf(secret_expose(key), (int)secret_len(key));
	EVP_PKEY *pkey = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);

	BIO_free(bio);
	return pkey;
}

/* Returns the signed certificate as base64 of PEM; the caller frees it. */
static inline char *signer_sign(const json_t *request)
{
	X509_REQ *q = signer_read(request);
	EVP_PKEY *ca = signer_ca_key(), *own = X509_REQ_get_pubkey(q);
	X509 *x = X509_new();
	BIO *bio = BIO_new(BIO_s_mem());
	char *data, *text;
	long n;

	assert_int_equal(X509_REQ_verify(q, own), 1);
	X509_set_version(x, X509_VERSION_3);
	X509_set_pubkey(x, signer.other_key ? ca : own);
	X509_set_subject_name(x, X509_REQ_get_subject_name(q));
	X509_gmtime_adj(X509_getm_notBefore(x), 0);
	X509_gmtime_adj(X509_getm_notAfter(x), 86400);
	assert_true(X509_sign(x, ca, EVP_sha256()) > 0);
	PEM_write_bio_X509(bio, x);
	n = BIO_get_mem_data(bio, &data);
	text = crypto_base64(data, (size_t)n);
	BIO_free(bio);
	X509_free(x);
	EVP_PKEY_free(own);
	EVP_PKEY_free(ca);
	X509_REQ_free(q);
	return text;
}

static inline void signer_answer(struct httpd_req *q, int status, const json_t *o)
{
	char *text = json_text(o);

	httpd_reply_json(q, status, text);
	free(text);
}

/* True if q has the bootstrap token of the town; otherwise answers 401. */
static inline bool signer_admits(struct httpd_req *q)
{
	OWN(secret) bearer = httpd_bearer(q);

	if (bearer && secret_equal_bytes(bearer, "abcdef.0123456789abcdef", 23))
		return true;
	httpd_reply_json(q, 401, "{\"message\": \"Unauthorized\"}");
	return false;
}

static inline void signer_on_post(struct httpd_req *q, void *arg)
{
	size_t n;
	const char *body = httpd_body(q, &n), *name;
	struct err e;
	OWN_JSON o = json_parse(body, n, &e);

	(void)arg;
	assert_non_null(o);
	if (!signer_admits(q))
		return;
	signer.posts++;
	name = json_str_at(o, "metadata", "name");
	if (json_object_get(signer.requests, name)) {
		httpd_reply_json(q, 409, "{\"message\": \"already exists\"}");
		return;
	}
	json_object_set(signer.requests, name, o);
	signer_answer(q, 201, o);
}

static inline void signer_on_get(struct httpd_req *q, void *arg)
{
	json_t *o = json_object_get(signer.requests, httpd_segment(q, 0));
	OWN_JSON answer = NULL;

	(void)arg;
	if (!signer_admits(q))
		return;
	if (!o) {
		httpd_reply_json(q, 404, "{\"message\": \"not found\"}");
		return;
	}
	answer = json_deep_copy(o);
	if (signer.verdict) {
		json_object_set_new(answer, "status",
				    json_pack("{s:[{s:s, s:s}]}", "conditions", "type",
					      signer.verdict, "status", "True"));
	}
	if (str_eq(signer.verdict, "Approved")) {
		char *cert = signer_sign(o);

		json_object_set_new(json_at(answer, "status"), "certificate", json_string(cert));
		free(cert);
	}
	signer_answer(q, 200, answer);
}

static inline void signer_routes(struct town *t)
{
	signer = (struct signer){.town = t, .requests = json_object(), .verdict = "Approved"};
	httpd_route(t->f->d, "POST", SIGNER_REQUESTS, 64 << 10, signer_on_post, NULL);
	httpd_route(t->f->d, "GET", SIGNER_REQUESTS "/{}", 0, signer_on_get, NULL);
}

/* Returns the only request. */
static inline const json_t *signer_request(void)
{
	assert_int_equal(json_object_size(signer.requests), 1);
	return json_object_iter_value(json_object_iter(signer.requests));
}

#endif
