#ifndef TESTS_UNIT_BASE_HTTP_HTTP_RIG_H
#define TESTS_UNIT_BASE_HTTP_HTTP_RIG_H

#include "base/http/http.h"
#include "tests/simulated/http_mem.h"
#include "base/httpd/httpd.h"
#include "base/httpd/httpd_mhd.h"
#include "base/loop/loop.h"

/*
 * http_rig: one client and one server, so that the same cases run in process on the simulated loop,
 * and over TLS through libcurl and libmicrohttpd on the real loop. A case starts calls, runs the
 * loop until a condition holds, and checks the results.
 */
struct rig {
	bool real;
	struct loop *loop;
	struct loop_group *client_g, *server_g;
	struct loop_timer guard;
	bool (*until)(void *arg);
	void *until_arg;
	bool late;

	struct httpd *d;
	struct http *h;
	struct http_peer *p;
	/* Only if not real. */
	struct http_mem_net *net;
	/* Only if real, like all members up to url. */
	struct httpd_mhd *mhd;
	char *ca_pem, *cert_pem, *client_pem;
	struct secret *ca_key, *key, *client_key;
	/* SHA-256 pin of the server's certificate. */
	char pin[65];
	char url[64];

	/* Statistics of the server. */
	unsigned served, gone, readers_done, inside, most_inside;
	uint64_t bytes_read;
	struct httpd_req *waiting;
	char seen[4096];
};

struct got {
	struct rig *rig;
	unsigned done, heads, pieces;
	int status;
	bool failed;
	struct err err;
	char body[8192];
	size_t len, streamed;
	uint32_t retry_after_ms;
	/* Header X-Test of the reply. */
	char header[256];
	struct http_req *req;
};

void rig_start(struct rig *r, bool real);
void rig_stop(struct rig *r);
/* Returns a client with its own certificate; max_in_flight applies to all its requests. */
struct http *rig_client(struct rig *r, unsigned max_in_flight);
struct http_peer_spec rig_spec(const struct rig *r);

/* Runs the loop until cond(arg) holds; fails the test after 20 seconds. */
void rig_until(struct rig *r, bool (*cond)(void *arg), void *arg);
void rig_run_ms(struct rig *r, int64_t ms);
/* Conditions for rig_until(): the first two take a struct rig, the third a struct got. */
bool rig_served(void *arg);
bool rig_gone(void *arg);
bool got_piece(void *arg);
/* Runs until g is done. */
void rig_done(struct rig *r, struct got *g);

/* Starts call c; its result is stored in *g. */
struct http_req *rig_call(struct rig *r, struct got *g, struct http_call c);
/* Starts a GET and runs until g is done. */
void rig_get(struct rig *r, struct got *g, const char *path);
void got_done(const struct http_reply *reply, const struct err *e, void *arg);
int got_data(const char *data, size_t len, void *arg, struct err *e);

/* The test cases; each gets a rig of its own. */
#define HTTP_CASES(X)                                                                              \
	X(a_request_reaches_its_handler_and_the_reply_comes_back)                                  \
	X(a_body_travels_both_ways)                                                                \
	X(a_large_body_travels_both_ways)                                                          \
	X(unknown_paths_and_methods_are_refused)                                                   \
	X(a_request_body_over_the_limit_is_refused)                                                \
	X(a_reply_over_the_limit_ends_early)                                                       \
	X(a_server_that_does_not_answer_runs_into_the_timeout)                                     \
	X(a_stream_that_stalls_runs_into_the_idle_limit)                                           \
	X(a_cancelled_request_is_not_heard_of)                                                     \
	X(done_may_cancel_another_request)                                                         \
	X(done_may_free_the_client)                                                                \
	X(done_may_start_the_next_request)                                                         \
	X(data_may_cancel_its_request)                                                             \
	X(a_peer_may_be_freed_with_requests_waiting)                                               \
	X(a_peer_has_no_more_in_flight_than_allowed)                                               \
	X(a_client_has_no_more_in_flight_than_allowed)                                             \
	X(a_wrong_pin_is_refused)                                                                  \
	X(the_right_pin_is_enough)                                                                 \
	X(a_learned_pin_is_reported_and_kept)                                                      \
	X(nobody_there_is_unavailable)                                                             \
	X(retry_after_is_understood)                                                               \
	X(a_paced_stream_waits_for_its_reader)                                                     \
	X(pieces_are_as_small_as_asked_for)                                                        \
	X(a_waiting_handler_hears_that_the_client_went_away)                                       \
	X(a_waiting_stream_hears_that_the_client_went_away)                                        \
	X(a_late_reply_arrives)                                                                    \
	X(a_sleeping_stream_goes_on_when_woken)                                                    \
	X(a_broken_reply_is_not_taken_for_whole)                                                   \
	X(control_characters_cannot_make_headers)                                                  \
	X(secrets_arrive_as_headers)                                                               \
	X(ranges_are_served)                                                                       \
	X(head_has_headers_and_no_body)                                                            \
	X(an_error_reply_is_collected_not_streamed)                                                \
	X(a_server_may_be_freed_with_requests_waiting)                                             \
	X(a_handler_may_free_the_server)                                                           \
	X(an_error_becomes_a_reply)                                                                \
	X(the_client_certificate_is_the_identity)

#define HTTP_CASE(name) void name(struct rig *r);
HTTP_CASES(HTTP_CASE)
#undef HTTP_CASE

#endif
