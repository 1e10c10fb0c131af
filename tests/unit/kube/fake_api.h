#ifndef TESTS_UNIT_KUBE_FAKE_API_H
#define TESTS_UNIT_KUBE_FAKE_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/httpd/http_mem.h"
#include "base/httpd/httpd.h"
#include "base/data/json.h"
#include "base/loop/loop.h"
#include "kube/client.h"

/*
 * fake_api: an API server whose answers the test writes, on the simulated
 * loop.  Every request is noted, then goes to the test's serve(); what that
 * leaves alone goes to a small store: GET, POST, merge PATCH and DELETE of
 * single objects with versions and conflicts.
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
	/* False: left to the store. */
	bool (*serve)(struct fake_api *f, struct httpd_req *q);
	void *arg;

	/* What was asked: "GET /api/v1/nodes", in order; the rest is of the last request. */
	char log[65536];
	size_t log_len, requests;
	char path[512], content_type[128], bearer[128], agent[128];
	/* NULL: none, or no JSON */
	json_t *body;

	/* by path */
	json_t *objects;
	int64_t rv;
	/* the last one that is open */
	struct fake_watch *watch;
	/* opened so far */
	size_t watches;
};

/* spec: NULL for a client with defaults; its config may be NULL, too. */
void fake_api_start(struct fake_api *f, const struct kube_client_spec *spec);
void fake_api_stop(struct fake_api *f);
struct kube_client *fake_api_client(struct fake_api *f, struct loop_group *g, struct http *h,
				    const struct kube_client_spec *spec);
void fake_api_run(struct fake_api *f, int64_t ms);
/* Until cond(arg), at most ms; false: it did not come. */
bool fake_api_until(struct fake_api *f, bool (*cond)(void *arg), void *arg, int64_t ms);
/* how often it was asked exactly so */
size_t fake_api_count(const struct fake_api *f, const char *line);

void fake_api_status(struct httpd_req *q, int code, const char *reason, const char *message);
/* Put an object into the store as it is, with the next version. */
void fake_api_put(struct fake_api *f, const char *path, const char *json);
/* borrowed */
json_t *fake_api_get(struct fake_api *f, const char *path);

/* Answer q with a stream that stays open. */
struct fake_watch *fake_api_watch(struct fake_api *f, struct httpd_req *q);
void fake_watch_send(struct fake_watch *w, const char *text);
/* after what was sent: a proper end */
void fake_watch_end(struct fake_watch *w);
/* after what was sent: the connection is cut */
void fake_watch_break(struct fake_watch *w);

#endif
