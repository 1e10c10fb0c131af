/* Tests that one agent can work while hundreds of slow callers without any secret are connected,
 * over real sockets. */
#include "tests/unit/testing.h"

#include <arpa/inet.h>
#include <errno.h>
#include <malloc.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include "base/http/http_curl.h"
#include "base/httpd/httpd_mhd.h"
#include "base/loop/loop_uv.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/agent/endpoint.h"

#define CROWD 600
#define PER_ADDRESS 64
#define CONNECTIONS 128
#define GUARD_MS 60000

struct flood {
	struct loop *loop;
	struct loop_group *server_g, *client_g, *look_g;
	struct httpd *d;
	struct httpd_mhd *mhd;
	struct agent_endpoint *agents;
	struct agent_session *seat;
	struct http *h;
	struct http_peer *p;
	struct crypto_key *key;
	char public[CRYPTO_PUBLIC_TEXT], secret[65];
	struct http_req *q;
	bool done;
	int status;
	int fds[CROWD];
	unsigned n;
	struct loop_timer look, guard;
	bool (*until)(struct flood *f);
	bool late;
};

static void on_changed(void *arg)
{
	(void)arg;
}

/* --- time ------------------------------------------------------------------------------------- */

static void on_look(void *arg)
{
	struct flood *f = arg;

	if (f->until(f))
		loop_stop(f->loop);
	else
		loop_timer_start(&f->look, 2);
}

static void on_guard(void *arg)
{
	struct flood *f = arg;

	f->late = true;
	loop_stop(f->loop);
}

static void run_until(struct flood *f, bool (*until)(struct flood *f))
{
	f->until = until;
	loop_timer_start(&f->look, 0);
	loop_timer_start(&f->guard, GUARD_MS);
	loop_run(f->loop);
	loop_timer_stop(&f->look);
	loop_timer_stop(&f->guard);
	if (f->late)
		fail_msg("what the test waits for did not happen");
}

/* --- the agent -------------------------------------------------------------------------------- */

static void on_reply(const struct http_reply *r, const struct err *e, void *arg)
{
	struct flood *f = arg;

	(void)e;
	f->q = NULL;
	f->done = true;
	f->status = r ? r->status : -1;
}

static bool is_done(struct flood *f)
{
	return f->done;
}

static int ask(struct flood *f, const char *method, const char *target, const char *body)
{
	size_t len = body ? strlen(body) : 0;
	char *sig = proto_sign(f->key, method, target, body, len);
	struct http_header h[] = {{PROTO_HEADER_AGENT, "m-1/boot-a"},
				  {PROTO_HEADER_SIGNATURE, sig}};
	struct http_call c = {.method = method,
			      .path = target,
			      .headers = h,
			      .nheaders = 2,
			      .body = body,
			      .body_len = len,
			      .timeout_ms = 50000,
			      .done = on_reply,
			      .arg = f};

	f->done = false;
	f->q = http_start(f->p, &c);
	free(sig);
	run_until(f, is_done);
	return f->status;
}

static void work(struct flood *f, const char *id)
{
	struct proto_hello h = {.machine = "m-1",
				.operation = "op-1",
				.boot = 1,
				.secret = f->secret,
				.boot_id = "boot-a",
				.public_key = f->public,
				.version = "1",
				.protocol = PROTO_VERSION,
				.dmi = {.system_uuid = "uuid-1", .serial = "S1"}};
	struct proto_order o = {.id = id, .kind = PROTO_INSPECT};
	struct proto_report r = {.id = id, .state = PROTO_DONE};
	char *text = proto_encode(proto_hello_fields, &h);
	char target[64];

	str_format(target, sizeof(target), PROTO_ORDER_PATH "?after=%d", id[0] - 'a');
	assert_int_equal(ask(f, "POST", PROTO_HELLO_PATH, text), 200);
	free(text);
	agent_session_order(f->seat, &o);
	assert_int_equal(ask(f, "GET", target, NULL), 200);
	text = proto_encode(proto_report_fields, &r);
	assert_int_equal(ask(f, "POST", PROTO_REPORT_PATH, text), 204);
	free(text);
	assert_non_null(agent_session_result(f->seat, id));
}

/* --- the flood -------------------------------------------------------------------------------- */

/* Opens a connection from 127.0.1.HOST without waiting. */
static int dial(struct flood *f, unsigned host)
{
	struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr = {htonl(0x7f000100 + host)}},
			   to = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)httpd_mhd_port(f->mhd)),
				 .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_true(fd >= 0 && f->n < CROWD);
	assert_int_equal(bind(fd, (struct sockaddr *)&from, sizeof(from)), 0);
	assert_true(connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 || errno == EINPROGRESS);
	f->fds[f->n++] = fd;
	return fd;
}

static bool is_over(int fd)
{
	char got[512];
	ssize_t n = recv(fd, got, sizeof(got), MSG_DONTWAIT | MSG_NOSIGNAL);

	return n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
}

static bool crowd_is_gone(struct flood *f)
{
	unsigned left = 0;

	for (unsigned i = 0; i < f->n; i++)
		if (f->fds[i] >= 0) {
			if (is_over(f->fds[i])) {
				close(f->fds[i]);
				f->fds[i] = -1;
			} else {
				(void)!send(f->fds[i], " ", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
				left++;
			}
		}
	return !left;
}

static unsigned crowd(const struct flood *f)
{
	unsigned left = 0;

	for (unsigned i = 0; i < f->n; i++)
		left += f->fds[i] >= 0 && !is_over(f->fds[i]);
	return left;
}

static void go_home(struct flood *f)
{
	for (unsigned i = 0; i < f->n; i++)
		if (f->fds[i] >= 0)
			close(f->fds[i]);
	f->n = 0;
}

/* --- setup ------------------------------------------------------------------------------------ */

static void begin(struct flood *f, unsigned connections, int64_t body_ms)
{
	OWN(secret) key = secret_from_str("boot-key");
	struct agent_endpoint_spec es = {.ca_pem = "-----CA-----", .boot_key = key};
	struct agent_session_spec ss = {.machine = "m-1",
					.uid = "uid-1",
					.endpoint = "https://drover",
					.media_url = "http://drover",
					.changed = on_changed};
	struct httpd_mhd_spec ms = {.address = "127.0.0.1:0",
				    .max_connections = connections,
				    .per_address = PER_ADDRESS,
				    .body_ms = body_ms};
	struct http_peer_spec ps = {.plain_ok = true};
	struct rlimit files;
	char url[64];
	struct err e;

	*f = (struct flood){0};
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	f->loop = loop_uv_new();
	f->server_g = loop_group_new(f->loop, "server");
	f->client_g = loop_group_new(f->loop, "agent");
	f->look_g = loop_group_new(f->loop, "look");
	loop_timer_init(&f->look, f->look_g, on_look, f);
	loop_timer_init(&f->guard, f->look_g, on_guard, f);
	f->d = httpd_new(f->server_g);
	f->agents = agent_endpoint_new(f->server_g);
	assert_ok(agent_endpoint_configure(f->agents, &es, &e), &e);
	agent_endpoint_api_routes(f->agents, f->d);
	f->seat = agent_session_new(f->agents, &ss);
	agent_session_open(f->seat, "op-1", 1, 1);
	agent_session_await(f->seat, AGENT_DUE);
	proto_boot_secret(key, "uid-1", "op-1", 1, f->secret);
	f->mhd = httpd_mhd_new(f->d, &ms, &e);
	if (!f->mhd)
		fail_msg("%s", e.text);
	f->key = crypto_key_new();
	crypto_key_public(f->key, f->public);
	f->h = http_new(f->client_g, http_curl_new(f->client_g, 10), 0);
	str_format(url, sizeof(url), "http://127.0.0.1:%u", httpd_mhd_port(f->mhd));
	ps.base_url = url;
	f->p = http_peer_new(f->h, &ps, &e);
	assert_non_null(f->p);
}

static void end(struct flood *f)
{
	go_home(f);
	http_peer_free(f->p);
	http_free(f->h);
	httpd_mhd_free(f->mhd);
	agent_session_free(f->seat);
	httpd_free(f->d);
	agent_endpoint_free(f->agents);
	crypto_key_free(f->key);
	loop_group_free(f->look_g);
	loop_group_free(f->client_g);
	loop_group_free(f->server_g);
	loop_free(f->loop);
}

/* Opens more connections from one address than the listener accepts in all. */
static void one_address_does_not_fill_the_listener(void **state)
{
	struct flood f;

	(void)state;
	begin(&f, CONNECTIONS, 0);
	for (int i = 0; i < 4 * CONNECTIONS; i++)
		(void)dial(&f, 2);
	work(&f, "a");
	assert_int_equal(crowd(&f), PER_ADDRESS);
	end(&f);
}

/* 100 hosts announce a body of 1 MiB each, six times, and send as much as they can. */
static void who_is_not_known_sends_no_megabytes(void **state)
{
	static const char *const heads[] = {
		"POST /agent/v1/report HTTP/1.1\r\nHost: x\r\nDrover-Agent: m-1/guessed\r\n"
		"Content-Length: 1048576\r\n\r\n",
		"POST /agent/v1/report HTTP/1.1\r\nHost: x\r\nDrover-Agent: m-1/guessed\r\n"
		"Transfer-Encoding: chunked\r\n\r\n40000\r\n",
		"POST /agent/v1/hello HTTP/1.1\r\nHost: x\r\nContent-Length: 1048576\r\n\r\n",
	};
	static char piece[64 << 10];
	size_t before = mallinfo2().uordblks;
	struct flood f;

	(void)state;
	begin(&f, 1024, 0);
	for (unsigned i = 0; i < CROWD; i++) {
		const char *head = heads[i % 3];
		int fd = dial(&f, 2 + i % 100);

		(void)!send(fd, head, strlen(head), MSG_NOSIGNAL);
		(void)!send(fd, piece, sizeof(piece), MSG_NOSIGNAL);
	}
	work(&f, "a");
	/* The unauthenticated callers' bodies are not stored. */
	assert_true(mallinfo2().uordblks < before + (12u << 20));
	end(&f);
}

/* The slow callers send bodies as long as a hello may be, byte by byte. Each request ends when its
 * time limit is over. */
static void slow_bodies_end_and_the_agent_works_on(void **state)
{
	static const char head[] =
		"POST /agent/v1/hello HTTP/1.1\r\nHost: x\r\nContent-Length: 8000\r\n\r\n{";
	struct flood f;

	(void)state;
	begin(&f, 1024, 1500);
	for (unsigned i = 0; i < CROWD; i++)
		(void)!send(dial(&f, 2 + i % 100), head, sizeof(head) - 1, MSG_NOSIGNAL);
	work(&f, "a");
	run_until(&f, crowd_is_gone);
	work(&f, "b");
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_address_does_not_fill_the_listener),
		cmocka_unit_test(who_is_not_known_sends_no_megabytes),
		cmocka_unit_test(slow_bodies_end_and_the_agent_works_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
