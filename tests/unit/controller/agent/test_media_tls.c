/* Serves boot media over real TLS: libcurl as the client, libmicrohttpd as the server, and a CA
 * that the test creates. */
#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/mem.h"
#include "base/str.h"
#include "controller/agent/endpoint.h"
#include "tests/unit/base/http/http_rig.h"

#define SIZE 30000
#define BLOCK_AT 9000

struct wire {
	/* Rig whose listener uses TLS; plain is a second listener without TLS, with the same
	 * routes */
	struct rig r;
	struct httpd *plain;
	struct httpd_mhd *plain_mhd;
	struct agent_endpoint *agents;
	struct agent_session *seat;
	char path[32], plain_url[64];
};

static void on_changed(void *arg)
{
	(void)arg;
}

static void write_image(struct wire *w)
{
	static char image[SIZE];
	int fd;

	memset(image, 'x', SIZE);
	memset(image + BLOCK_AT, ' ', PROTO_BOOT_BLOCK);
	memcpy(image + BLOCK_AT, PROTO_BOOT_MARK, strlen(PROTO_BOOT_MARK));
	str_copy(w->path, sizeof(w->path), "/tmp/test_media.XXXXXX");
	fd = mkstemp(w->path);
	assert_int_equal(write(fd, image, SIZE), SIZE);
	close(fd);
}

/* Starts both listeners. https_too: the Provider has an http:// and an https:// URL; otherwise only
 * https://. */
static void start(struct wire *w, bool https_too)
{
	OWN(secret) key = secret_from_str("boot-key");
	struct agent_endpoint_spec es;
	struct agent_session_spec s = {
		.machine = "m-1",
		.uid = "uid-1",
		.endpoint = "https://10.1.0.5:8443",
		.changed = on_changed,
	};
	struct err e;

	memset(w, 0, sizeof(*w));
	rig_start(&w->r, true);
	write_image(w);
	w->plain = httpd_new(w->r.server_g);
	w->agents = agent_endpoint_new(w->r.server_g);
	agent_endpoint_media_routes(w->agents, w->r.d, true);
	agent_endpoint_media_routes(w->agents, w->plain, false);
	w->plain_mhd =
		httpd_mhd_new(w->plain, &(struct httpd_mhd_spec){.address = "127.0.0.1:0"}, &e);
	assert_non_null(w->plain_mhd);
	str_format(w->plain_url, sizeof(w->plain_url), "http://127.0.0.1:%d",
		   httpd_mhd_port(w->plain_mhd));
	es = (struct agent_endpoint_spec){.image = w->path, .ca_pem = w->r.ca_pem, .boot_key = key};
	assert_ok(agent_endpoint_configure(w->agents, &es, &e), &e);
	s.media_url = https_too ? w->plain_url : w->r.url;
	s.https_media_url = https_too ? w->r.url : NULL;
	w->seat = agent_session_new(w->agents, &s);
	agent_session_open(w->seat, "op-1", 1, 1);
	agent_session_media_for(w->seat, "127.0.0.1", false);
}

static void stop(struct wire *w)
{
	agent_session_free(w->seat);
	httpd_mhd_free(w->plain_mhd);
	httpd_free(w->plain);
	rig_stop(&w->r);
	agent_endpoint_free(w->agents);
	unlink(w->path);
}

/* Fetches the medium from one listener. ca_pem: the only CA that the client trusts; NULL: the
 * test's CA. */
static struct got fetch(struct wire *w, bool tls, const char *range, const char *ca_pem)
{
	const char *path = strstr(agent_session_media_url(w->seat), "/boot/");
	struct http_header h = {"Range", range};
	struct http_peer_spec s = {.base_url = tls ? w->r.url : w->plain_url,
				   .ca_pem = tls ? (ca_pem ? ca_pem : w->r.ca_pem) : NULL,
				   .plain_ok = !tls};
	struct http_call c = {.path = path, .headers = &h, .nheaders = range ? 1 : 0};
	struct got g = {0};
	struct err e;
	struct http_peer *p = http_peer_new(w->r.h, &s, &e), *rigs = w->r.p;

	assert_non_null(p);
	w->r.p = p;
	c.max_body = 1 << 20;
	rig_call(&w->r, &g, c);
	rig_done(&w->r, &g);
	w->r.p = rigs;
	http_peer_free(p);
	return g;
}

static void a_medium_of_https_is_served_in_ranges_and_never_in_the_clear(void **state)
{
	char range[40];
	struct wire w;
	struct got g;

	(void)state;
	start(&w, false);
	assert_true(str_starts(agent_session_media_url(w.seat), "https://"));
	str_format(range, sizeof(range), "bytes=%d-%d", BLOCK_AT, BLOCK_AT + 199);
	g = fetch(&w, true, range, NULL);
	assert_int_equal(g.status, 206);
	assert_int_equal(g.len, 200);
	assert_true(str_starts(g.body, "{\"endpoint\":\"https://10.1.0.5:8443\""));
	g = fetch(&w, true, "bytes=0-1", NULL);
	assert_int_equal(g.status, 206);
	assert_memory_equal(g.body, "xx", 2);
	g = fetch(&w, false, range, NULL);
	assert_int_equal(g.status, 404);
	stop(&w);
}

static void who_trusts_another_ca_gets_no_medium(void **state)
{
	struct rig other;
	struct wire w;
	struct got g;

	(void)state;
	start(&w, false);
	rig_start(&other, true);
	g = fetch(&w, true, "bytes=0-1", other.ca_pem);
	assert_true(g.failed);
	assert_int_equal(g.status, 0);
	rig_stop(&other);
	stop(&w);
}

/* If the Provider has both URLs, only the URL that was passed to the BMC serves the medium. */
static void the_way_that_was_offered_is_the_way(void **state)
{
	struct wire w;

	(void)state;
	start(&w, true);
	assert_int_equal(fetch(&w, false, "bytes=0-1", NULL).status, 206);
	agent_session_media_over(w.seat, true);
	assert_true(str_starts(agent_session_media_url(w.seat), "https://"));
	assert_true(agent_session_makes(w.seat, "op-1", 1, agent_session_media_url(w.seat)));
	assert_int_equal(fetch(&w, true, "bytes=0-1", NULL).status, 206);
	assert_int_equal(fetch(&w, false, "bytes=0-1", NULL).status, 404);
	agent_session_media_over(w.seat, false);
	assert_true(str_starts(agent_session_media_url(w.seat), "http://"));
	assert_true(agent_session_makes(w.seat, "op-1", 1, agent_session_media_url(w.seat)));
	assert_int_equal(fetch(&w, false, "bytes=0-1", NULL).status, 206);
	stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_medium_of_https_is_served_in_ranges_and_never_in_the_clear),
		cmocka_unit_test(who_trusts_another_ca_gets_no_medium),
		cmocka_unit_test(the_way_that_was_offered_is_the_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
