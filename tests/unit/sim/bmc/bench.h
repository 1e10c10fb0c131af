#ifndef TESTS_UNIT_SIM_BMC_BENCH_H
#define TESTS_UNIT_SIM_BMC_BENCH_H

#include "tests/unit/testing.h"

#include <stdlib.h>
#include "tests/simulated/http_mem.h"
#include "base/data/json.h"
#include "tests/simulated/loop_sim.h"
#include "base/mem.h"
#include "base/str.h"
#include "sim/rack/rack.h"

/*
 * bmc_bench: a simulated rack of two machines on a simulated loop. A test sends one request at a
 * time to the BMC of the first machine.
 */
#define BMC "https://127.10.0.2:8443"
#define SYSTEM "/redfish/v1/Systems/1"
#define RESET SYSTEM "/Actions/ComputerSystem.Reset"
#define SLOT "/redfish/v1/Managers/1/VirtualMedia/Cd"
#define INSERT SLOT "/Actions/VirtualMedia.InsertMedia"
#define SESSIONS "/redfish/v1/SessionService/Sessions"
#define EJECT SLOT "/Actions/VirtualMedia.EjectMedia"
#define IMAGE "http://10.0.0.9/boot/abc/agent.iso"

struct bench {
	struct loop *loop;
	struct loop_group *hardware, *group;
	struct http_mem_net *net;
	struct httpd *httpd;
	struct http *http, *machines_http;
	struct http_peer *peer;
	struct secret *password, *wrong;
	struct arena *arena;
	struct sim_faults faults;
	struct sim_rack *rack;
	struct sim_machine *m;
	char token[80];
	/* Result of the last call */
	bool done;
	int status;
	struct err err;
	char etag[40], location[120], retry_after[16], allow[64], type[40], link[120];
	char token_sent[80];
	json_t *json;
	char *text;
};

static inline void begin_as(
	struct bench *b, const char *faults,
	const struct sim_dialects *dialects /* NULL: the BMCs follow the specification */)
{
	struct sim_rack_spec s = {
		.machines = 2, .drive_bytes = 1 << 20, .user = "admin", .dialects = dialects};
	struct http_peer_spec peer = {.base_url = BMC, .max_in_flight = 8};
	struct err e;

	*b = (struct bench){.loop = loop_sim_new(7, 1764000000000)};
	b->hardware = loop_group_new(b->loop, "hardware");
	b->group = loop_group_new(b->loop, "client");
	b->net = http_mem_net_new(b->loop);
	b->httpd = httpd_new(b->hardware);
	b->http =
		http_new(b->group, http_mem_transport(b->net, b->group, "10.0.0.1", NULL, NULL), 0);
	b->machines_http = http_new(
		b->hardware, http_mem_transport(b->net, b->hardware, "10.0.0.2", NULL, NULL), 0);
	b->password = secret_from_str("correct horse");
	b->wrong = secret_from_str("wrong");
	b->arena = arena_new();
	if (faults)
		assert_ok(sim_faults_read(faults, strlen(faults), b->arena, &b->faults, &e), &e);
	s.password = b->password;
	s.http = b->machines_http;
	s.faults = &b->faults;
	b->rack = sim_rack_new(b->hardware, &s, &e);
	if (!b->rack)
		fail_msg("%s", e.text);
	b->m = sim_rack_machine(b->rack, 1);
	sim_rack_routes(b->rack, b->httpd);
	http_mem_serve(b->net, BMC, b->httpd);
	http_mem_pin(b->net, BMC,
		     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
	peer.pin_sha256 = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
	b->peer = http_peer_new(b->http, &peer, &e);
	if (!b->peer)
		fail_msg("%s", e.text);
}

static inline void begin(struct bench *b, const char *faults)
{
	begin_as(b, faults, NULL);
}

static inline void end(struct bench *b)
{
	json_decref(b->json);
	free(b->text);
	http_peer_free(b->peer);
	http_free(b->http);
	httpd_free(b->httpd);
	sim_rack_free(b->rack);
	http_free(b->machines_http);
	http_mem_net_free(b->net);
	arena_free(b->arena);
	secret_free(b->password);
	secret_free(b->wrong);
	loop_group_free(b->group);
	loop_group_free(b->hardware);
	loop_free(b->loop);
}

static inline void keep(char *out, size_t size, const struct http_reply *r, const char *name)
{
	str_copy(out, size, str_or(http_reply_header(r, name), ""));
}

static inline void on_done(const struct http_reply *r, const struct err *e, void *arg)
{
	struct bench *b = arg;
	struct err ignored;

	b->done = true;
	b->status = r ? r->status : 0;
	b->err = e ? *e : (struct err){0};
	if (!r)
		return;
	keep(b->etag, sizeof(b->etag), r, "ETag");
	keep(b->location, sizeof(b->location), r, "Location");
	keep(b->retry_after, sizeof(b->retry_after), r, "Retry-After");
	keep(b->allow, sizeof(b->allow), r, "Allow");
	keep(b->type, sizeof(b->type), r, "Content-Type");
	keep(b->link, sizeof(b->link), r, "Link");
	keep(b->token_sent, sizeof(b->token_sent), r, "X-Auth-Token");
	b->text = mem_strndup(r->body, r->body_len);
	b->json = json_parse(r->body, r->body_len, &ignored);
}

static inline bool is_done(void *arg)
{
	return ((struct bench *)arg)->done;
}

/* Sends a request and waits for up to a minute. header: "Name: value" or NULL. Returns the HTTP
 * status; 0: no answer came. */
static inline int call(struct bench *b, const char *method, const char *path, const char *body,
		       const char *header)
{
	struct http_header h[2] = {{"X-Auth-Token", b->token}};
	struct http_call c = {.method = method,
			      .path = path,
			      .body = body,
			      .body_len = body ? strlen(body) : 0,
			      .headers = h,
			      .nheaders = 1,
			      .timeout_ms = 60000,
			      .done = on_done,
			      .arg = b};
	char name[64] = "";

	json_decref(b->json);
	free(b->text);
	b->json = NULL;
	b->text = NULL;
	b->done = false;
	if (!b->token[0]) {
		h[0] = (struct http_header){"X-Nothing", "1"};
	}
	if (header) {
		const char *colon = strchr(header, ':');

		memcpy(name, header, (size_t)(colon - header));
		h[c.nheaders++] = (struct http_header){name, colon + 2};
	}
	http_start(b->peer, &c);
	assert_true(loop_sim_run_cond(b->loop, is_done, b, loop_now(b->loop) + 120000));
	return b->status;
}

static inline int get(struct bench *b, const char *path)
{
	return call(b, "GET", path, NULL, NULL);
}

static inline void log_in(struct bench *b)
{
	b->token[0] = '\0';
	assert_int_equal(call(b, "POST", SESSIONS,
			      "{\"UserName\":\"admin\",\"Password\":\"correct horse\"}", NULL),
			 201);
	str_copy(b->token, sizeof(b->token), b->token_sent);
	assert_int_equal(strlen(b->token), 32);
}

static inline void pass(struct bench *b, int64_t ms)
{
	loop_sim_run_until(b->loop, loop_now(b->loop) + ms);
}

/* Returns the MessageId of message n in the last answer, without registry and version. */
static inline const char *message(struct bench *b, size_t n)
{
	const json_t *j = json_array_get(json_at(b->json, "error", "@Message.ExtendedInfo"), n);
	const char *id = json_str_at(j, "MessageId");

	if (!id)
		return "";
	assert_true(str_starts(id, "Base.1.18."));
	return id + strlen("Base.1.18.");
}

#endif
