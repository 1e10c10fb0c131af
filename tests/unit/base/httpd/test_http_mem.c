#include "tests/unit/testing.h"

#include "tests/unit/base/http/http_rig.h"

#include <stdlib.h>
#include "base/crypto.h"
#include "tests/simulated/loop_sim.h"

#define IN_PROCESS(name)                                                                           \
	static void in_process_##name(void **state)                                                \
	{                                                                                          \
		struct rig r;                                                                      \
                                                                                                   \
		(void)state;                                                                       \
		rig_start(&r, false);                                                              \
		name(&r);                                                                          \
		rig_stop(&r);                                                                      \
	}
HTTP_CASES(IN_PROCESS)

/* --- faults of the simulated network ---------------------------------------------------------- */

static void a_hanging_origin_never_answers(void **state)
{
	struct rig r;
	struct got g;

	(void)state;
	rig_start(&r, false);
	http_mem_hang(r.net, r.url, true);
	rig_call(&r, &g, (struct http_call){.path = "/hello/x", .timeout_ms = 1000});
	rig_done(&r, &g);
	assert_int_equal(g.err.kind, ERR_TIMEOUT);
	http_mem_hang(r.net, r.url, false);
	rig_get(&r, &g, "/hello/x");
	assert_int_equal(g.status, 200);
	rig_stop(&r);
}

static void an_origin_that_is_taken_away_breaks_what_is_in_flight(void **state)
{
	struct rig r;
	struct got g;

	(void)state;
	rig_start(&r, false);
	rig_call(&r, &g, (struct http_call){.path = "/wait"});
	rig_run_ms(&r, 20);
	assert_int_equal(r.served, 1);
	http_mem_serve(r.net, r.url, NULL);
	rig_done(&r, &g);
	assert_int_equal(g.err.kind, ERR_UNAVAILABLE);
	rig_run_ms(&r, 20);
	assert_int_equal(r.gone, 1);
	rig_get(&r, &g, "/hello/x");
	assert_int_equal(g.err.kind, ERR_UNAVAILABLE);
	http_mem_serve(r.net, "https://server:443", r.d);
	rig_get(&r, &g, "/hello/x");
	assert_int_equal(g.status, 200);
	rig_stop(&r);
}

static void a_changed_certificate_is_refused_after_the_first(void **state)
{
	struct http_peer_spec spec;
	struct http_peer *old;
	struct rig r;
	struct got g;
	struct err e;

	(void)state;
	rig_start(&r, false);
	spec = rig_spec(&r);
	spec.learn_pin = true;
	old = r.p;
	r.p = http_peer_new(r.h, &spec, &e);
	rig_get(&r, &g, "/hello/x");
	assert_string_equal(http_peer_learned(r.p), r.pin);
	r.pin[0] = 'b';
	http_mem_pin(r.net, r.url, r.pin);
	rig_get(&r, &g, "/hello/x");
	assert_int_equal(g.err.kind, ERR_DENIED);
	http_peer_free(r.p);
	r.p = old;
	rig_stop(&r);
}

static void a_peers_own_certificate_is_who_it_is(void **state)
{
	OWN(secret) key = NULL;
	struct http_peer_spec spec;
	struct http_peer *old;
	struct rig r;
	struct got g;
	struct err e;
	char *cert;

	(void)state;
	rig_start(&r, false);
	assert_ok(crypto_ca_new("system:node:n1", 1764583200000, 1, &cert, &key, &e), &e);
	spec = rig_spec(&r);
	spec.client_cert_pem = cert;
	spec.client_key_pem = key;
	old = r.p;
	r.p = http_peer_new(r.h, &spec, &e);
	rig_get(&r, &g, "/who");
	assert_string_equal(r.seen, "system:node:n1/-");
	http_peer_free(r.p);
	r.p = old;
	rig_get(&r, &g, "/who");
	assert_string_equal(r.seen, "tester/-");
	free(cert);
	rig_stop(&r);
}

static enum http_mem_fault_kind next_fate(const char *origin, const char *method,
					  const char *target, void *arg)
{
	assert_string_equal(origin, "https://server:443");
	assert_string_equal(method, "GET");
	assert_string_equal(target, "/hello/x");
	return *(enum http_mem_fault_kind *)arg;
}

static void faults_come_before_or_after_the_effect(void **state)
{
	enum http_mem_fault_kind fate = HTTP_MEM_REFUSED;
	struct rig r;
	struct got g;

	(void)state;
	rig_start(&r, false);
	http_mem_fault(r.net, next_fate, &fate);
	rig_get(&r, &g, "/hello/x");
	assert_int_equal(g.err.kind, ERR_UNAVAILABLE);
	assert_int_equal(r.served, 0);
	fate = HTTP_MEM_REPLY_LOST;
	rig_get(&r, &g, "/hello/x");
	assert_int_equal(g.err.kind, ERR_UNAVAILABLE);
	assert_int_equal(r.served, 1);
	fate = HTTP_MEM_SILENT;
	rig_call(&r, &g, (struct http_call){.path = "/hello/x", .timeout_ms = 100});
	rig_done(&r, &g);
	assert_int_equal(g.err.kind, ERR_TIMEOUT);
	assert_int_equal(r.served, 2);
	fate = HTTP_MEM_TWICE;
	rig_get(&r, &g, "/hello/x");
	assert_int_equal(g.status, 200);
	assert_int_equal(r.served, 4);
	fate = HTTP_MEM_WELL;
	rig_get(&r, &g, "/hello/x");
	assert_int_equal(g.status, 200);
	assert_int_equal(r.served, 5);
	rig_stop(&r);
}

static void a_crashed_client_hears_nothing_and_its_server_notices(void **state)
{
	struct rig r;
	struct got g[2];

	(void)state;
	rig_start(&r, false);
	rig_call(&r, &g[0], (struct http_call){.path = "/wait"});
	rig_run_ms(&r, 20);
	rig_call(&r, &g[1], (struct http_call){.path = "/hello/x"});
	loop_group_drop(r.client_g);
	rig_run_ms(&r, 50);
	assert_int_equal(g[0].done + g[1].done, 0);
	http_free(r.h);
	r.h = NULL;
	rig_run_ms(&r, 50);
	assert_int_equal(r.gone, 1);
	rig_stop(&r);
}

static void a_crashed_server_answers_nothing_until_it_is_freed(void **state)
{
	struct rig r;
	struct got g;

	(void)state;
	rig_start(&r, false);
	rig_call(&r, &g, (struct http_call){.path = "/stall", .on_data = got_data});
	rig_run_ms(&r, 20);
	assert_int_equal(r.bytes_read, 5);
	loop_group_drop(r.server_g);
	httpd_wake(r.waiting);
	rig_run_ms(&r, 1000);
	assert_int_equal(g.done, 0);
	httpd_free(r.d);
	r.d = NULL;
	loop_group_free(r.server_g);
	r.server_g = NULL;
	rig_done(&r, &g);
	assert_int_equal(g.err.kind, ERR_UNAVAILABLE);
	rig_stop(&r);
}

static void the_same_seed_gives_the_same_run(void **state)
{
	int64_t took[2];
	unsigned pieces[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct rig r;
		struct got g;
		int64_t from;

		rig_start(&r, false);
		from = loop_now(r.loop);
		rig_call(&r, &g,
			 (struct http_call){.path = "/zeros?size=300000", .on_data = got_data});
		rig_done(&r, &g);
		assert_int_equal(g.streamed, 300000);
		took[i] = loop_now(r.loop) - from;
		pieces[i] = g.pieces;
		rig_stop(&r);
	}
	assert_int_equal(took[0], took[1]);
	assert_int_equal(pieces[0], pieces[1]);
	assert_true(pieces[0] > 5);
}

static void a_net_may_go_before_its_clients(void **state)
{
	struct rig r;
	struct got g;

	(void)state;
	rig_start(&r, false);
	rig_call(&r, &g, (struct http_call){.path = "/wait"});
	rig_run_ms(&r, 20);
	http_mem_net_free(r.net);
	r.net = NULL;
	rig_done(&r, &g);
	assert_int_equal(g.err.kind, ERR_UNAVAILABLE);
	rig_get(&r, &g, "/hello/x");
	assert_int_equal(g.err.kind, ERR_UNAVAILABLE);
	rig_stop(&r);
}

int main(void)
{
#define ENTRY(name) cmocka_unit_test(in_process_##name),
	const struct CMUnitTest tests[] = {
		HTTP_CASES(ENTRY) cmocka_unit_test(a_hanging_origin_never_answers),
		cmocka_unit_test(an_origin_that_is_taken_away_breaks_what_is_in_flight),
		cmocka_unit_test(a_changed_certificate_is_refused_after_the_first),
		cmocka_unit_test(a_peers_own_certificate_is_who_it_is),
		cmocka_unit_test(faults_come_before_or_after_the_effect),
		cmocka_unit_test(a_crashed_client_hears_nothing_and_its_server_notices),
		cmocka_unit_test(a_crashed_server_answers_nothing_until_it_is_freed),
		cmocka_unit_test(the_same_seed_gives_the_same_run),
		cmocka_unit_test(a_net_may_go_before_its_clients),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
