/*
 * bench_apiserver: measures drover's HTTP client together with the embedded API server as `drover
 * apiserver` runs it (TLS, tokens, RBAC, store on disk). Each runs in its own process, with 32
 * requests in flight. bench_embedded.py measures only the server, with a lighter client.
 *
 *   apiserver_client_creates_per_s   pods of 1 KB, each on disk before its answer
 *   apiserver_client_gets_per_s      reads of one of these pods
 *
 * The reference is the same client requesting /readyz of the same server: the cost of TLS and HTTP
 * alone. Argument: number of requests.
 */
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/http/http_curl.h"
#include "base/loop/loop_uv.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/up/server.h"
#include "tests/bench/entry.h"

/* KEPT: connections that are kept open. It is larger than IN_FLIGHT, because libcurl divides it
 * among all possible hosts */
enum { IN_FLIGHT = 32, KEPT = 32 * IN_FLIGHT, REQUESTS = 20000 };

static double seconds(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static _Noreturn void die(const char *what)
{
	(void)fprintf(stderr, "bench_apiserver: %s\n", what);
	exit(1);
}

/* --- the server ------------------------------------------------------------------------------- */

struct door {
	char url[128], ca_pem[4096], token[256];
};

static _Noreturn void serve(const char *folder, int to_parent)
{
	struct loop *l = loop_uv_new();
	struct loop_group *g = loop_group_new(l, "server");
	static struct door door;
	struct err e;
	struct up_server *s = up_server_new(
		g, &(struct up_server_spec){.folder = folder, .listen = "127.0.0.1:0"}, &e);

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!s)
		die(e.text);
	if (!str_copy(door.url, sizeof(door.url), up_server_url(s)) ||
	    !str_copy(door.ca_pem, sizeof(door.ca_pem), up_server_ca_pem(s)) ||
	    !str_copy(door.token, sizeof(door.token), secret_expose(up_server_token(s))) ||
	    write(to_parent, &door, sizeof(door)) != (ssize_t)sizeof(door))
		die("nobody wants the address");
	loop_run(l);
	exit(0);
}

static pid_t start_server(const char *folder, struct door *door)
{
	int fds[2];
	pid_t pid;

	if (pipe(fds) < 0 || (pid = fork()) < 0)
		die(strerror(errno));
	if (pid == 0)
		serve(folder, fds[1]);
	(void)close(fds[1]);
	if (read(fds[0], door, sizeof(*door)) != (ssize_t)sizeof(*door))
		die("the server did not start");
	(void)close(fds[0]);
	return pid;
}

/* --- the client ------------------------------------------------------------------------------- */

struct bench {
	struct loop *l;
	struct http_peer *p;
	struct secret *token;
	const char *method;
	unsigned status, begun, ended, total;
	void (*path)(char out[static 256], unsigned n);
};

static void pods(char out[static 256], unsigned n)
{
	(void)n;
	(void)snprintf(out, 256, "/api/v1/namespaces/default/pods");
}

static void pod(char out[static 256], unsigned n)
{
	(void)snprintf(out, 256, "/api/v1/namespaces/default/pods/train-%05u", n);
}

static void readyz(char out[static 256], unsigned n)
{
	(void)n;
	(void)snprintf(out, 256, "/readyz");
}

static const char *pod_body(unsigned n)
{
	static char body[2048];

	(void)snprintf(
		body, sizeof(body),
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"train-%05u\","
		"\"labels\":{\"app\":\"train\",\"team\":\"research\"},"
		"\"annotations\":{\"note\":\"%0600u\"}},"
		"\"spec\":{\"containers\":[{\"name\":\"main\","
		"\"image\":\"registry.example/train:v1\","
		"\"command\":[\"python\",\"train.py\"],"
		"\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"4\"}}}],"
		"\"tolerations\":[{\"key\":\"nvidia.com/gpu\",\"operator\":\"Exists\"}]}}",
		n, n);
	return body;
}

static void begin(struct bench *b);

static void on_reply(const struct http_reply *r, const struct err *e, void *arg)
{
	struct bench *b = arg;

	if (e || r->status != (int)b->status)
		die(e ? e->text : r->body);
	if (++b->ended == b->total)
		loop_stop(b->l);
	else if (b->begun < b->total)
		begin(b);
}

static void begin(struct bench *b)
{
	bool post = str_eq(b->method, "POST");
	const char *body = post ? pod_body(b->begun) : NULL;
	char path[256];

	b->path(path, b->begun++);
	(void)http_start(b->p, &(struct http_call){
				       .method = b->method,
				       .path = path,
				       .bearer = b->token,
				       .body = body,
				       .body_len = post ? strlen(body) : 0,
				       .done = on_reply,
				       .arg = b,
			       });
}

static double per_second(struct bench *b, const char *method, unsigned status, unsigned total,
			 void (*path)(char out[static 256], unsigned n))
{
	double from = seconds();

	b->method = method;
	b->status = status;
	b->begun = b->ended = 0;
	b->total = total;
	b->path = path;
	for (unsigned i = 0; i < IN_FLIGHT; i++)
		begin(b);
	loop_run(b->l);
	return total / (seconds() - from);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

static void print(const char *name, double value, double goal, double ready, unsigned n)
{
	entry_print(&(struct entry){
		.name = name,
		.unit = "1/s",
		.better = "higher",
		.value = value,
		.goal = goal,
		.reference = "GET /readyz",
		.reference_value = ready,
		.n = n,
	});
}

int main(int argc, char **argv)
{
	char *folder = mem_printf("%s/drover-bench-XXXXXX", str_or(getenv("TMPDIR"), "build"));
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : REQUESTS;
	struct bench b = {0};
	struct loop_group *g;
	struct http *h;
	struct door door;
	struct err e;
	double ready, creates, gets;
	pid_t server;

	mem_init();
	if (!mkdtemp(folder))
		die("no folder");
	server = start_server(folder, &door);
	b.l = loop_uv_new();
	g = loop_group_new(b.l, "client");
	h = http_new(g, http_curl_new(g, KEPT), 0);
	b.p = http_peer_new(
		h, &(struct http_peer_spec){.base_url = door.url, .ca_pem = door.ca_pem}, &e);
	b.token = secret_from_str(door.token);
	if (!b.p)
		die(e.text);

	/* The first requests open the connections and are not counted. */
	(void)per_second(&b, "GET", 200, 1000, readyz);
	ready = per_second(&b, "GET", 200, n, readyz);
	creates = per_second(&b, "POST", 201, n, pods);
	gets = per_second(&b, "GET", 200, n, pod);
	print("apiserver_client_creates_per_s", creates, 3000, ready, n);
	print("apiserver_client_gets_per_s", gets, 10000, ready, n);

	http_peer_free(b.p);
	http_free(h);
	secret_free(b.token);
	loop_group_free(g);
	loop_free(b.l);
	(void)kill(server, SIGKILL);
	(void)waitpid(server, NULL, 0);
	(void)nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	free(folder);
	return 0;
}
