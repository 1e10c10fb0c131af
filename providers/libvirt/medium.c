#include "providers/libvirt/medium.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/http.h>
#include <openssl/ssl.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "base/str.h"

#define PIECE 65536

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

struct place {
	char *host, *port, *path, *query;
	int tls;
};

static void place_done(struct place *p)
{
	OPENSSL_free(p->host);
	OPENSSL_free(p->port);
	OPENSSL_free(p->path);
	OPENSSL_free(p->query);
}

static int place_of(const char *url, struct place *p, struct err *e)
{
	char *user = NULL, *fragment = NULL;
	int number, ok;

	memset(p, 0, sizeof(*p));
	if (!str_starts(url, "http://") && !str_starts(url, "https://"))
		return err_set(e, ERR_UNSUPPORTED, 0,
			       "the medium's URL must begin with http:// or https://");
	ok = OSSL_HTTP_parse_url(url, &p->tls, &user, &p->host, &p->port, &number, &p->path,
				 &p->query, &fragment);
	OPENSSL_free(user);
	OPENSSL_free(fragment);
	if (!ok)
		return err_set(e, ERR_INVALID, 0, "the medium's address is not a URL");
	return 0;
}

/* Returns OpenSSL's text for its last error on this thread. */
static const char *why(void)
{
	const char *text = ERR_reason_error_string(ERR_peek_last_error());

	return text ? text : "no answer";
}

struct tls {
	SSL_CTX *ctx;
	const char *host;
};

/* Callback of OSSL_HTTP_open(): adds TLS to the connection (`connect` true), or removes it. */
static BIO *on_connection(BIO *bio, void *arg, int connect, int detail)
{
	struct tls *t = arg;
	BIO *top;
	SSL *ssl;

	if (!connect) {
		top = BIO_pop(bio);
		return top ? top : bio;
	}
	(void)detail;
	top = BIO_new_ssl(t->ctx, 1);
	if (!top)
		return NULL;
	BIO_get_ssl(top, &ssl);
	if (!ssl || SSL_set1_host(ssl, t->host) != 1 ||
	    SSL_set_tlsext_host_name(ssl, t->host) != 1) {
		BIO_free(top);
		return NULL;
	}
	return BIO_push(top, bio);
}

static int read_body(BIO *body, int64_t deadline_ms, struct buf *into, struct err *e)
{
	char piece[PIECE];

	for (;;) {
		int n = BIO_read(body, piece, sizeof(piece));

		if (now_ms() > deadline_ms)
			return err_set(e, ERR_TIMEOUT, 0, "not received in time");
		if (n > 0) {
			if (buf_add(into, piece, (size_t)n, e) < 0)
				return -1;
		} else if (!BIO_should_retry(body)) {
			return n == 0 ? 0 : err_set(e, ERR_UNAVAILABLE, 0, "%s", why());
		}
	}
}

static int fetch(const struct place *p, struct tls *t, int64_t deadline_ms, struct buf *into,
		 struct err *e)
{
	int left_s = (int)((deadline_ms - now_ms()) / 1000), rc = -1;
	OSSL_HTTP_REQ_CTX *q;
	char *elsewhere = NULL, *path = NULL;
	BIO *body = NULL;

	if (left_s <= 0)
		return err_set(e, ERR_TIMEOUT, 0, "no time is left to fetch it");
	ERR_clear_error();
	q = OSSL_HTTP_open(p->host, p->port, NULL, "", p->tls, NULL, NULL,
			   p->tls ? on_connection : NULL, t, 0, left_s);
	if (!q)
		return err_set(e, ERR_UNAVAILABLE, 0, "%s", why());
	if (!str_empty(p->query)) {
		size_t n = strlen(p->path) + strlen(p->query) + 2;

		path = OPENSSL_malloc(n);
		if (path)
			str_format(path, n, "%s?%s", p->path, p->query);
	}
	if (OSSL_HTTP_set1_request(q, path ? path : p->path, NULL, NULL, NULL, NULL, 0, MEDIUM_MAX,
				   left_s, 0))
		body = OSSL_HTTP_exchange(q, &elsewhere);
	if (body)
		rc = read_body(body, deadline_ms, into, e);
	if (rc == 0 && into->len != OSSL_HTTP_REQ_CTX_get_resp_len(q))
		rc = err_set(e, ERR_PROTOCOL, 0, "received %zu of %zu bytes", into->len,
			     OSSL_HTTP_REQ_CTX_get_resp_len(q));
	if (!body && elsewhere)
		err_note(e, ERR_PROTOCOL, 0,
			 "the server answered with a redirect, which is not followed");
	else if (!body)
		err_note(e, ERR_UNAVAILABLE, 0, "%s", why());
	OPENSSL_free(elsewhere);
	OPENSSL_free(path);
	/* Release only the reference to the body that OSSL_HTTP_exchange() returned. */
	BIO_free(body);
	OSSL_HTTP_close(q, rc == 0);
	ERR_clear_error();
	return rc;
}

int medium_fetch(const char *url, int64_t deadline_ms, struct buf *into, struct err *e)
{
	struct tls t = {0};
	struct place p;
	int rc;

	if (place_of(url, &p, e) < 0)
		return -1;
	t.host = p.host;
	if (p.tls) {
		t.ctx = SSL_CTX_new(TLS_client_method());
		SSL_CTX_set_min_proto_version(t.ctx, TLS1_2_VERSION);
		SSL_CTX_set_default_verify_paths(t.ctx);
		SSL_CTX_set_verify(t.ctx, SSL_VERIFY_PEER, NULL);
	}
	rc = fetch(&p, &t, deadline_ms, into, e);
	if (rc == 0 && into->len == 0)
		rc = err_set(e, ERR_PROTOCOL, 0, "the file is empty");
	SSL_CTX_free(t.ctx);
	if (rc < 0)
		err_note_wrap(e, "the boot medium from %.64s:%.8s", p.host, p.port);
	place_done(&p);
	return rc;
}

bool medium_source(const char *url, char *out, size_t size)
{
	struct addrinfo hints = {.ai_socktype = SOCK_DGRAM, .ai_flags = AI_NUMERICSERV}, *found;
	struct sockaddr_storage own;
	socklen_t len = sizeof(own);
	struct place p;
	struct err e;
	bool known = false;
	int fd;

	if (!url || place_of(url, &p, &e) < 0)
		return false;
	if (getaddrinfo(p.host, p.port, &hints, &found) == 0) {
		/* Let the kernel choose the local address: connect() on a datagram socket sends
		 * nothing. */
		fd = socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		known = fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen) == 0 &&
			getsockname(fd, (struct sockaddr *)&own, &len) == 0 &&
			getnameinfo((struct sockaddr *)&own, len, out, (socklen_t)size, NULL, 0,
				    NI_NUMERICHOST) == 0;
		if (fd >= 0)
			close(fd);
		freeaddrinfo(found);
	}
	place_done(&p);
	return known;
}
