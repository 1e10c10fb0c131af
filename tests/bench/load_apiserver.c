/*
 * load_apiserver: a lightweight client that keeps an API server busy, so that the server is
 * measured and not the client.
 *
 *   load_apiserver ADDRESS:PORT CA CREDENTIAL create|get|watch CONNECTIONS SECONDS PREFIX
 *
 * CREDENTIAL is a file with a client certificate and its key, or with a token. For create and get,
 * each connection has one request in flight at a time, for ConfigMaps of 1 KiB in namespace
 * default, named PREFIX-number. The program then prints the number of answers and the seconds. get
 * reads the objects PREFIX-0 to PREFIX-99 of an earlier create. watch opens CONNECTIONS watches,
 * prints "open", and keeps the watches until its input ends.
 */
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include "base/str.h"

#define ANSWER_MAX 16384
#define PATH "/api/v1/namespaces/default/configmaps"
/* ConfigMaps of an otherwise empty namespace: the watch is measured, not its initial list */
#define WATCHED "/api/v1/namespaces/kube-public/configmaps"

struct load {
	const char *host, *port, *prefix;
	char auth[4096];
	char data[1025];
	SSL_CTX *tls;
	struct addrinfo *where;
};

static _Noreturn void die(const char *what)
{
	(void)fprintf(stderr, "load_apiserver: %s\n", what);
	ERR_print_errors_fp(stderr);
	exit(1);
}

static double now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Reads a client certificate with its key, or a token, from the file. */
static void set_credential(struct load *l, const char *file)
{
	char text[4000];
	FILE *f = fopen(file, "re");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	if (!f)
		die("cannot read the credential");
	(void)fclose(f);
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (!str_starts(text, "-----BEGIN")) {
		(void)str_format(l->auth, sizeof(l->auth), "Authorization: Bearer %s\r\n", text);
		return;
	}
	if (SSL_CTX_use_certificate_chain_file(l->tls, file) != 1 ||
	    SSL_CTX_use_PrivateKey_file(l->tls, file, SSL_FILETYPE_PEM) != 1)
		die("the certificate is not to be used");
}

static SSL *open_one(const struct load *l)
{
	int fd = socket(l->where->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
	SSL *s = SSL_new(l->tls);

	if (fd < 0 || connect(fd, l->where->ai_addr, l->where->ai_addrlen) < 0)
		die("cannot connect");
	(void)setsockopt(fd, IPPROTO_TCP, 1 /* TCP_NODELAY */, &on, sizeof(on));
	if (!s || SSL_set1_host(s, l->host) != 1 || SSL_set_fd(s, fd) != 1 || SSL_connect(s) != 1)
		die("no TLS");
	return s;
}

static void put(SSL *s, const char *text, size_t len)
{
	if (SSL_write(s, text, (int)len) != (int)len)
		die("cannot send");
}

/* Reads one answer, which must have Content-Length; returns its HTTP status. */
static int take(SSL *s)
{
	static char text[ANSWER_MAX + 1];
	size_t n = 0, want = 0;

	while (!want || n < want) {
		int got = SSL_read(s, text + n, (int)(ANSWER_MAX - n));
		const char *body, *length;

		if (got <= 0)
			die("the connection broke");
		n += (size_t)got;
		text[n] = '\0';
		if (want || !(body = strstr(text, "\r\n\r\n")))
			continue;
		length = strcasestr(text, "\r\nContent-Length:");
		if (!length || length > body)
			die("an answer without a length");
		want = (size_t)(body - text) + 4 + strtoul(length + 17, NULL, 10);
		if (want > ANSWER_MAX)
			die("an answer that is too long");
	}
	return atoi(text + 9);
}

static void ask_create(const struct load *l, SSL *s, unsigned number)
{
	char text[4096 + 4096 + 1200], body[1200];
	int len, all;

	len = snprintf(
		body, sizeof(body),
		"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"%s-%u\"},"
		"\"data\":{\"k\":\"%s\"}}",
		l->prefix, number, l->data);
	all = snprintf(
		text, sizeof(text),
		"POST " PATH
		" HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"
		"%s\r\n%s",
		l->host, len, l->auth, body);
	put(s, text, (size_t)all);
}

static void ask_get(const struct load *l, SSL *s, unsigned number)
{
	char text[8192];
	int all = snprintf(text, sizeof(text),
			   "GET " PATH
			   "/%s-%u HTTP/1.1\r\nHost: %s\r\nAccept: application/json\r\n%s\r\n",
			   l->prefix, number % 100, l->host, l->auth);

	put(s, text, (size_t)all);
}

static void run(const struct load *l, bool create, unsigned connections, double seconds)
{
	SSL **all = calloc(connections, sizeof(SSL *));
	unsigned number = 0, answered = 0;
	double from;

	for (unsigned i = 0; all && i < connections; i++)
		all[i] = open_one(l);
	from = now();
	/* Each connection sends its next request once its answer was read, one connection after the
	 * other. */
	for (unsigned i = 0; i < connections; i++)
		(create ? ask_create : ask_get)(l, all[i], number++);
	while (now() - from < seconds || answered < number) {
		SSL *s = all[answered % connections];
		int code = take(s);

		if (code != (create ? 201 : 200))
			die("an answer of another code");
		answered++;
		if (now() - from < seconds)
			(create ? ask_create : ask_get)(l, s, number++);
		else if (answered == number)
			break;
	}
	(void)printf("%u %.6f\n", answered, now() - from);
}

static void watch(const struct load *l, unsigned connections)
{
	static const char request[] =
		"GET " WATCHED "?watch=true&timeoutSeconds=600 HTTP/1.1\r\nHost: %s\r\n%s\r\n";
	char text[8192], answer[4096];
	int len = snprintf(text, sizeof(text), request, l->host, l->auth);

	for (unsigned i = 0; i < connections; i++) {
		SSL *s = open_one(l);

		put(s, text, (size_t)len);
		if (SSL_read(s, answer, sizeof(answer)) < 12 || atoi(answer + 9) != 200)
			die("no watch");
	}
	(void)puts("open");
	(void)fflush(stdout);
	(void)!read(0, text, 1);
}

int main(int argc, char **argv)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct load l = {0};
	struct rlimit files;
	char host[256], *colon;

	if (argc != 8 || !str_copy(host, sizeof(host), argv[1]) || !(colon = strrchr(host, ':')))
		die("ADDRESS:PORT CA CREDENTIAL create|get|watch CONNECTIONS SECONDS PREFIX");
	*colon = '\0';
	l.host = host;
	l.port = colon + 1;
	l.prefix = argv[7];
	memset(l.data, 'x', sizeof(l.data) - 1);
	(void)getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &files);
	l.tls = SSL_CTX_new(TLS_client_method());
	if (!l.tls || SSL_CTX_load_verify_locations(l.tls, argv[2], NULL) != 1)
		die("cannot read the CA");
	SSL_CTX_set_verify(l.tls, SSL_VERIFY_PEER, NULL);
	SSL_CTX_set_mode(l.tls, SSL_MODE_AUTO_RETRY | SSL_MODE_RELEASE_BUFFERS);
	set_credential(&l, argv[3]);
	if (getaddrinfo(l.host, l.port, &hints, &l.where))
		die("no such address");
	if (str_eq(argv[4], "watch"))
		watch(&l, (unsigned)atoi(argv[5]));
	else
		run(&l, str_eq(argv[4], "create"), (unsigned)atoi(argv[5]), atof(argv[6]));
	freeaddrinfo(l.where);
	return 0;
}
