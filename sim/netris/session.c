#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "sim/netris/netris_impl.h"

/*
 * Sessions, faults of requests, and answers. Latency and most faults
 * delay only the answer, so a request whose client timed out has taken effect nevertheless.
 *
 * Tests: tests/unit/sim/netris/test_netris.c, tests/contract/test_fabric.c
 */
#define COOKIE "connect.sid="

struct session {
	int64_t since;
};

void nt_reply_text(struct sim_netris *s, struct httpd_req *q, int status, const char *text)
{
	const char *method = httpd_method(q), *path = httpd_path(q);
	const struct fault *slow;
	int64_t ms = s->spec.latency_ms;

	if (nt_strikes(s, "LostReply", method, path)) {
		sim_reply_lost(q, status, "application/json");
		return;
	}
	if (nt_strikes(s, "Garbage", method, path))
		text = "<html>Bad Gateway</html>";
	slow = nt_strikes(s, "Slow", method, path);
	if (slow)
		ms += slow->value;
	if (nt_strikes(s, "Silent", method, path))
		ms = SIM_DELAY_NEVER;
	if (ms)
		sim_delay_reply(&s->delays, q, ms, status, "application/json", text);
	else
		httpd_reply_json(q, status, text);
}

/* Sends the answer in the envelope of the API. Takes ownership of data. */
void nt_reply(struct sim_netris *s, struct httpd_req *q, int status, json_t *data,
	      const char *message)
{
	bool good = status < 300 && !message;
	OWN_JSON j = json_pack("{s:o, s:o, s:s, s:{s:s, s:i}}", "isSuccess", nt_truth(s, good),
			       "data", data ? data : json_null(), "message", str_or(message, ""),
			       "meta", "apiVersion", "v2", "statusCode",
			       message && status == 200 ? 400 : status);
	char *text = json_text(j);

	nt_reply_text(s, q, status, text);
	free(text);
}

bool nt_admitted(struct sim_netris *s, struct httpd_req *q)
{
	const char *cookie = httpd_header(q, "Cookie"), *method = httpd_method(q);
	const char *path = httpd_path(q);
	const struct session *in;
	const struct fault *f;

	s->requests++;
	if (nt_strikes(s, "Expire", method, path))
		map_clear(s->sessions);
	in = cookie ? map_get(s->sessions, cookie) : NULL;
	if (!in || loop_now(s->loop) - in->since > s->spec.session_ms) {
		nt_reply(s, q, 401, NULL, "log in");
		return false;
	}
	f = nt_strikes(s, "Status", method, path);
	if (f) {
		nt_reply(s, q, (int)f->value, NULL, "injected fault Status");
		return false;
	}
	if (nt_strikes(s, "NotSuccess", method, path)) {
		nt_reply(s, q, 200, NULL, "injected fault NotSuccess");
		return false;
	}
	return true;
}

int64_t nt_asked_id(const struct httpd_req *q)
{
	int64_t id = 0;

	(void)str_to_i64(httpd_segment(q, 0), 1, INT64_MAX, &id);
	return id;
}

/* Returns the request body. NULL: the request is answered and must not be executed. */
json_t *nt_body(struct sim_netris *s, struct httpd_req *q)
{
	size_t len;
	struct err e;
	const char *text = httpd_body(q, &len);
	json_t *j;

	if (!nt_admitted(s, q))
		return NULL;
	if (nt_strikes(s, "Ignored", httpd_method(q), httpd_path(q))) {
		nt_reply(s, q, 200, NULL, NULL);
		return NULL;
	}
	j = str_eq(httpd_method(q), "DELETE") ? json_object() : json_parse(text, len, &e);
	if (json_is_object(j)) {
		s->changes++;
		return j;
	}
	json_decref(j);
	nt_reply(s, q, 400, NULL, "not a JSON object");
	return NULL;
}

void nt_on_auth(struct httpd_req *q, void *arg)
{
	struct sim_netris *s = arg;
	struct session *in;
	size_t len;
	struct err e;
	const char *body = httpd_body(q, &len);
	OWN_JSON j = json_parse(body, len, &e);
	uint8_t random[16];
	char hex[33], cookie[64], set[96];

	s->requests++;
	s->logins++;
	if (!str_eq(json_str_at(j, "user"), s->spec.user) ||
	    !str_eq(json_str_at(j, "password"), s->spec.password)) {
		nt_reply(s, q, 401, NULL, "wrong user or password");
		return;
	}
	loop_random_bytes(s->loop, random, sizeof(random));
	str_hex(hex, random, sizeof(random));
	str_format(cookie, sizeof(cookie), COOKIE "%s", hex);
	str_format(set, sizeof(set), "%s; Path=/; HttpOnly", cookie);
	/* Limits the number of sessions, because a client may log in any number of times. */
	if (map_size(s->sessions) >= 64)
		map_clear(s->sessions);
	in = mem_new(struct session);
	in->since = loop_now(s->loop);
	map_put(s->sessions, cookie, in);
	httpd_reply_header(q, "Set-Cookie", set);
	nt_reply(s, q, 200, NULL, NULL);
}
