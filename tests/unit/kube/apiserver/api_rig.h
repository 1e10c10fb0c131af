#ifndef TESTS_UNIT_KUBE_APISERVER_API_RIG_H
#define TESTS_UNIT_KUBE_APISERVER_API_RIG_H

#include "tests/unit/testing.h"

#include "base/buf.h"
#include "tests/simulated/http_mem.h"
#include "base/data/json.h"
#include "tests/simulated/loop_sim.h"
#include "base/store/store.h"
#include "kube/apiserver/apiserver.h"

/* api_rig: an API server on the simulated loop, and an HTTP client for it. */
struct api {
	struct loop *l;
	struct loop_group *g;
	struct store *s;
	struct httpd *d;
	struct apiserver *a;
	struct http_mem_net *net;
	struct http *h;
	struct http_peer *p;
	/* Bearer token sent with every call; NULL: none. */
	struct secret *bearer;
	/* Headers Impersonate-User and Impersonate-Group; NULL: none. */
	const char *as, *as_group;
	/* Header Accept; NULL: none. */
	const char *accept;
	bool done;
	/* Status of the last call. */
	int status;
	/* Body of the last call as JSON, NULL if it is not JSON; valid until the next call. */
	json_t *j;
	char *text;
	/* Header Warning of the last call; "": none. */
	char warning[512];
};

void api_start(struct api *r, const struct apiserver_spec *spec, size_t history);
void api_start_on(struct api *r, const struct apiserver_spec *spec, size_t history,
		  struct store *(*store)(struct loop_group *g, size_t history));
void api_stop(struct api *r);
/* Call it after r->d and r->a were replaced: serves the new r->d at the server's address. */
void api_serve(struct api *r);
/* From now on the client shows a certificate with these names. */
void api_certify(struct api *r, const char *cn, const char *o);
/* CMocka setup: *state is a struct api with a history of 1000. */
int api_setup(void **state);
int api_teardown(void **state);

/* Makes a call and waits for it; returns the status. body may use single quotes in place of double
 * quotes. */
int api_do(struct api *r, const char *method, const char *path, const char *body);
int api_patch(struct api *r, const char *type, const char *path, const char *body);
int api_raw(struct api *r, const char *method, const char *path, const char *type,
	    const char *body);
/* Returns the string member at a path such as "metadata.name"; numbers index lists. NULL: not
 * found. */
const char *api_str(struct api *r, const char *dotted);
int64_t api_int(struct api *r, const char *dotted);
#define assert_status(r, want)                                                                     \
	do {                                                                                       \
		if ((r)->status != (want))                                                         \
			fail_msg("want %d, got %d: %s", (want), (r)->status, (r)->text);           \
	} while (0)

/* A watch and its events so far, as "ADDED name rev;". The watch sends the header api.accept. */
struct api_watch {
	struct api *r;
	struct http_req *q;
	struct buf line, said;
	/* One letter for each of the first events: 's' an object with a spec, 'o' a Table with an
	 * object, 'r' a Table without objects, '-' any other. */
	char shapes[16];
	bool ended, whole;
	/* True: reads nothing more until http_want(). */
	bool stalled;
	unsigned lines;
	int status;
	/* Number of bookmarks that ended the initial events. */
	unsigned initial_ends;
};
void api_watch_start(struct api *r, struct api_watch *w, const char *path);
void api_watch_stop(struct api_watch *w);
void api_run(struct api *r, int64_t ms);

#endif
