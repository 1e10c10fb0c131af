/*
 * load_apiserver: a lightweight client that keeps an API server busy, so that the server is
 * measured and not the client.
 *
 *   load_apiserver ADDRESS:PORT CA CREDENTIAL ACTION CONNECTIONS SECONDS PREFIX
 *
 * CREDENTIAL is a file with a client certificate and its key, or with a token. For create and get,
 * each connection has one request in flight at a time, for ConfigMaps of 1 KiB in namespace
 * default, named PREFIX-number. The program then prints the number of answers and the seconds. get
 * reads the objects PREFIX-0 to PREFIX-99 of an earlier create. watch opens CONNECTIONS watches,
 * prints "open", and keeps the watches until its input ends.
 *
 * follow, beside and flood measure watches that deliver events, in namespace kube-public. follow
 * opens CONNECTIONS watches from the present revision, prints "open", and reads all events until
 * its input ends and no further event arrives for QUIET_MS. It then prints the number of events and
 * the seconds between the first and the last one. beside creates objects one after another over one
 * connection, with a pause of PAUSE_MS between them, and prints the number of objects and the
 * median time of a create in ms. apart does so in namespace default, whose objects these watches do
 * not receive. flood is beside without pauses. beside-get reads one object instead of creating one
 * each time. beside, apart and beside-get run with real-time priority if the user may: otherwise
 * their times include that in which the watches' client has the processors.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include "base/str.h"

#define ANSWER_MAX 16384
#define QUIET_MS 300
#define PAUSE_MS 20
#define CREATES_MAX 100000
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

static void ask_create(const struct load *l, SSL *s, const char *path, unsigned number)
{
	char text[4096 + 4096 + 1200], body[1200];
	int len, all;

	len = snprintf(
		body, sizeof(body),
		"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"%s-%u\"},"
		"\"data\":{\"k\":\"%s\"}}",
		l->prefix, number, l->data);
	all = snprintf(text, sizeof(text),
		       "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"
		       "Content-Length: %d\r\n%s\r\n%s",
		       path, l->host, len, l->auth, body);
	put(s, text, (size_t)all);
}

static void ask_get(const struct load *l, SSL *s, const char *path, unsigned number)
{
	char text[8192];
	int all = snprintf(text, sizeof(text),
			   "GET %s/%s-%u HTTP/1.1\r\nHost: %s\r\nAccept: application/json\r\n%s"
			   "\r\n",
			   path, l->prefix, number % 100, l->host, l->auth);

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
		(create ? ask_create : ask_get)(l, all[i], PATH, number++);
	while (now() - from < seconds || answered < number) {
		SSL *s = all[answered % connections];
		int code = take(s);

		if (code != (create ? 201 : 200))
			die("an answer of another code");
		answered++;
		if (now() - from < seconds)
			(create ? ask_create : ask_get)(l, s, PATH, number++);
		else if (answered == number)
			break;
	}
	(void)printf("%u %.6f\n", answered, now() - from);
}

/* Opens n watches of WATCHED and returns them. from: their resourceVersion; NULL: not set. */
static SSL **open_watches(const struct load *l, unsigned n, const char *from)
{
	SSL **all = calloc(n, sizeof(SSL *));
	char text[8192], answer[4096];
	int len = snprintf(text, sizeof(text),
			   "GET " WATCHED
			   "?watch=true&timeoutSeconds=600%s%s HTTP/1.1\r\nHost: %s\r\n%s\r\n",
			   from ? "&resourceVersion=" : "", str_or(from, ""), l->host, l->auth);

	for (unsigned i = 0; all && i < n; i++) {
		all[i] = open_one(l);
		put(all[i], text, (size_t)len);
		if (SSL_read(all[i], answer, sizeof(answer)) < 12 || atoi(answer + 9) != 200)
			die("no watch");
	}
	(void)puts("open");
	(void)fflush(stdout);
	return all;
}

static void watch(const struct load *l, unsigned connections)
{
	char end;

	free(open_watches(l, connections, NULL));
	(void)!read(0, &end, 1);
}

/* --- watches that deliver events -------------------------------------------------------------- */

/* Copies the resourceVersion of the list of WATCHED, which has no items yet, to out. */
static void read_revision(const struct load *l, char *out, size_t size)
{
	static char text[ANSWER_MAX + 1];
	static const char member[] = "\"resourceVersion\":\"";
	SSL *s = open_one(l);
	int len = snprintf(text, sizeof(text),
			   "GET " WATCHED "?limit=1 HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n"
			   "%s\r\n",
			   l->host, l->auth),
	    n = 0;
	char *at;

	put(s, text, (size_t)len);
	for (int got; (got = SSL_read(s, text + n, ANSWER_MAX - n)) > 0;)
		n += got;
	text[n] = '\0';
	if (!(at = strstr(text, member)))
		die("a list without a resourceVersion");
	at += strlen(member);
	at[strcspn(at, "\"")] = '\0';
	if (!str_copy(out, size, at))
		die("a resourceVersion that is too long");
	SSL_free(s);
}

struct follower {
	SSL *s;
	/* Last byte that was read. */
	char last;
};

/* Reads what has arrived; returns the number of events. An event ends with a newline, which in a
 * chunked reply is the only one without a carriage return before it. */
static unsigned long follow_one(struct follower *f)
{
	static char text[65536];
	unsigned long events = 0;
	int n;

	while ((n = SSL_read(f->s, text, sizeof(text))) > 0)
		for (int i = 0; i < n; i++) {
			events += text[i] == '\n' && f->last != '\r';
			f->last = text[i];
		}
	if (SSL_get_error(f->s, n) != SSL_ERROR_WANT_READ)
		die("a watch broke");
	return events;
}

static struct follower *followers_new(SSL **all, unsigned n, int set)
{
	struct follower *f = calloc(n, sizeof(*f));

	for (unsigned i = 0; f && i < n; i++) {
		struct epoll_event ev = {.events = EPOLLIN, .data.ptr = &f[i]};
		int fd = SSL_get_fd(all[i]);

		f[i].s = all[i];
		if (fcntl(fd, F_SETFL, O_NONBLOCK) < 0 ||
		    epoll_ctl(set, EPOLL_CTL_ADD, fd, &ev) < 0)
			die(strerror(errno));
	}
	return f;
}

static void follow(const struct load *l, unsigned connections)
{
	struct epoll_event input = {.events = EPOLLIN}, got[256];
	int set = epoll_create1(EPOLL_CLOEXEC), n;
	unsigned long events = 0;
	double first = 0, last = 0;
	bool ended = false;
	char rev[32];

	read_revision(l, rev, sizeof(rev));

	SSL **all = open_watches(l, connections, rev);
	struct follower *f = followers_new(all, connections, set);

	(void)epoll_ctl(set, EPOLL_CTL_ADD, 0, &input);
	while ((n = epoll_wait(set, got, 256, ended ? QUIET_MS : -1)) > 0)
		for (int i = 0; i < n; i++) {
			unsigned long more;

			if (!got[i].data.ptr) {
				(void)epoll_ctl(set, EPOLL_CTL_DEL, 0, NULL);
				ended = true;
				continue;
			}
			more = follow_one(got[i].data.ptr);
			if (more && !events)
				first = now();
			if (more)
				last = now();
			events += more;
		}
	(void)printf("%lu %.6f\n", events, last - first);
	free(f);
	free(all);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void take_precedence(void)
{
	const struct sched_param first = {.sched_priority = 1};

	if (sched_setscheduler(0, SCHED_FIFO, &first))
		(void)fprintf(stderr, "load_apiserver: no real-time priority: %s\n",
			      strerror(errno));
}

static void beside(const struct load *l, const char *path, double seconds, unsigned pause_ms,
		   bool create)
{
	static double took[CREATES_MAX];
	SSL *s = open_one(l);
	double from, asked;
	unsigned n = 0;

	if (!create) {
		ask_create(l, s, path, 0);
		if (take(s) != 201)
			die("an answer of another code");
	}
	if (pause_ms)
		take_precedence();
	from = now();
	while ((asked = now()) - from < seconds && n < CREATES_MAX) {
		(create ? ask_create : ask_get)(l, s, path, create ? n : 0);
		if (take(s) != (create ? 201 : 200))
			die("an answer of another code");
		took[n++] = now() - asked;
		(void)usleep(pause_ms * 1000);
	}
	qsort(took, n, sizeof(*took), by_value);
	(void)printf("%u %.6f\n", n, took[n / 2] * 1000);
	SSL_free(s);
}

int main(int argc, char **argv)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct load l = {0};
	struct rlimit files;
	char host[256], *colon;

	if (argc != 8 || !str_copy(host, sizeof(host), argv[1]) || !(colon = strrchr(host, ':')))
		die("ADDRESS:PORT CA CREDENTIAL create|get|watch|follow|beside|beside-get|apart|"
		    "flood CONNECTIONS SECONDS PREFIX");
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
	else if (str_eq(argv[4], "follow"))
		follow(&l, (unsigned)atoi(argv[5]));
	else if (str_eq(argv[4], "beside"))
		beside(&l, WATCHED, atof(argv[6]), PAUSE_MS, true);
	else if (str_eq(argv[4], "beside-get"))
		beside(&l, PATH, atof(argv[6]), PAUSE_MS, false);
	else if (str_eq(argv[4], "apart"))
		beside(&l, PATH, atof(argv[6]), PAUSE_MS, true);
	else if (str_eq(argv[4], "flood"))
		beside(&l, WATCHED, atof(argv[6]), 0, true);
	else
		run(&l, str_eq(argv[4], "create"), (unsigned)atoi(argv[5]), atof(argv[6]));
	freeaddrinfo(l.where);
	return 0;
}
