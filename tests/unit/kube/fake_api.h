#ifndef TESTS_UNIT_KUBE_FAKE_API_H
#define TESTS_UNIT_KUBE_FAKE_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tests/simulated/http_mem.h"
#include "base/httpd/httpd.h"
#include "base/data/json.h"
#include "base/loop/loop.h"
#include "kube/client.h"

/*
 * fake_api: an API server on the simulated loop whose answers the test writes. Every request is
 * recorded, then passed to serve(). Requests that serve() does not handle go to a small store: GET,
 * POST, merge PATCH and DELETE of single objects, with versions and conflicts.
 */
#define FAKE_API_ORIGIN "https://api.test:6443"

struct fake_api;
struct fake_watch;

struct fake_api {
	struct loop *loop;
	struct loop_group *server_g, *client_g;
	struct http_mem_net *net;
	struct httpd *d;
	struct http *http;
	struct kube_client *c;
	/* Handles a request; false: the store handles it. */
	bool (*serve)(struct fake_api *f, struct httpd_req *q);
	void *arg;

	/* Requests as "GET /api/v1/nodes", in order. The members below describe the last
	 * request. */
	char log[65536];
	size_t log_len, requests;
	char path[512], content_type[128], bearer[128], agent[128];
	/* Body of the last request; NULL: no body, or not JSON. */
	json_t *body;

	/* The stored objects by path. */
	json_t *objects;
	int64_t rv;
	/* The last open watch. */
	struct fake_watch *watch;
	/* Number of watches opened so far. */
	size_t watches;
	/* Buffer size that the client asked of the transport for the last watch; 0: the default. */
	size_t watch_buffer;
};

/* spec NULL: the client gets defaults. spec->config may be NULL, too. */
void fake_api_start(struct fake_api *f, const struct kube_client_spec *spec);
void fake_api_stop(struct fake_api *f);
struct kube_client *fake_api_client(struct fake_api *f, struct loop_group *g, struct http *h,
				    const struct kube_client_spec *spec);
void fake_api_run(struct fake_api *f, int64_t ms);
/* Runs until cond(arg) holds, at most ms; false: cond did not hold in time. */
bool fake_api_until(struct fake_api *f, bool (*cond)(void *arg), void *arg, int64_t ms);
/* Returns how often this exact request was recorded. */
size_t fake_api_count(const struct fake_api *f, const char *line);

void fake_api_status(struct httpd_req *q, int code, const char *reason, const char *message);
/* Puts an object into the store with the next version. */
void fake_api_put(struct fake_api *f, const char *path, const char *json);
/* Returns a borrowed reference. */
json_t *fake_api_get(struct fake_api *f, const char *path);

/* Answers q with a stream that stays open. */
struct fake_watch *fake_api_watch(struct fake_api *f, struct httpd_req *q);
void fake_watch_send(struct fake_watch *w, const char *text);
/* Ends the stream properly, after the data sent so far. */
void fake_watch_end(struct fake_watch *w);
/* Breaks the connection, after the data sent so far. */
void fake_watch_break(struct fake_watch *w);

#endif
