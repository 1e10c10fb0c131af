#ifndef TESTS_UNIT_KUBE_APISERVER_API_RIG_H
#define TESTS_UNIT_KUBE_APISERVER_API_RIG_H

#include "tests/unit/testing.h"

#include "base/buf.h"
#include "base/httpd/http_mem.h"
#include "base/data/json.h"
#include "base/loop/loop_sim.h"
#include "base/store/store.h"
#include "kube/apiserver/apiserver.h"

/* api_rig: a server on the simulated loop, and a client that speaks HTTP to it. */
struct api {
	struct loop *l;
	struct loop_group *g;
	struct store *s;
	struct httpd *d;
	struct apiserver *a;
	struct http_mem_net *net;
	struct http *h;
	struct http_peer *p;
	/* shown with every call; NULL: none */
	struct secret *bearer;
	/* Impersonate-User and -Group; NULL: none */
	const char *as, *as_group;
	/* NULL: none is sent */
	const char *accept;
	bool done;
	/* of the last call */
	int status;
	/* its body, NULL if it is none; until the next call */
	json_t *j;
	char *text;
	/* the header Warning of the last call; "": none */
	char warning[512];
};

void api_start(struct api *r, const struct apiserver_spec *spec, size_t history);
void api_start_on(struct api *r, const struct apiserver_spec *spec, size_t history,
		  struct store *(*store)(struct loop_group *g, size_t history));
void api_stop(struct api *r);
/* again, after d and a were made anew */
void api_serve(struct api *r);
/* From now on the client has a certificate with these names. */
void api_certify(struct api *r, const char *cn, const char *o);
/* a struct api, history 1000 */
int api_setup(void **state);
int api_teardown(void **state);

/* Do it and wait; gives the status.  body in single quotes for double ones. */
int api_do(struct api *r, const char *method, const char *path, const char *body);
int api_patch(struct api *r, const char *type, const char *path, const char *body);
int api_raw(struct api *r, const char *method, const char *path, const char *type,
	    const char *body);
/* "metadata.name", numbers index lists; NULL */
const char *api_str(struct api *r, const char *dotted);
int64_t api_int(struct api *r, const char *dotted);
#define assert_status(r, want)                                                                     \
	do {                                                                                       \
		if ((r)->status != (want))                                                         \
			fail_msg("want %d, got %d: %s", (want), (r)->status, (r)->text);           \
	} while (0)

/* An open watch: what it said, as "ADDED name rev;" */
struct api_watch {
	struct api *r;
	struct http_req *q;
	struct buf line, said;
	bool ended, whole;
	/* reads nothing more until http_want() */
	bool stalled;
	unsigned lines;
	int status;
	/* bookmarks that end the initial events */
	unsigned initial_ends;
};
void api_watch_start(struct api *r, struct api_watch *w, const char *path);
void api_watch_stop(struct api_watch *w);
void api_run(struct api *r, int64_t ms);

#endif
