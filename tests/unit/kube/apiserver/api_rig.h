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
	struct secret *bearer;	   /* shown with every call; NULL: none */
	const char *as, *as_group; /* Impersonate-User and -Group; NULL: none */
	const char *accept;	   /* NULL: none is sent */
	bool done;
	int status; /* of the last call */
	json_t *j;  /* its body, NULL if it is none; until the next call */
	char *text;
	char warning[512]; /* the header Warning of the last call; "": none */
};

void api_start(struct api *r, const struct apiserver_spec *spec, size_t history);
void api_start_on(struct api *r, const struct apiserver_spec *spec, size_t history,
		  struct store *(*store)(struct loop_group *g, size_t history));
void api_stop(struct api *r);
void api_serve(struct api *r); /* again, after d and a were made anew */
/* From now on the client has a certificate with these names. */
void api_certify(struct api *r, const char *cn, const char *o);
int api_setup(void **state); /* a struct api, history 1000 */
int api_teardown(void **state);

/* Do it and wait; gives the status.  body in single quotes for double ones. */
int api_do(struct api *r, const char *method, const char *path, const char *body);
int api_patch(struct api *r, const char *type, const char *path, const char *body);
int api_raw(struct api *r, const char *method, const char *path, const char *type,
	    const char *body);
const char *api_str(struct api *r,
		    const char *dotted); /* "metadata.name", numbers index lists; NULL */
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
	bool stalled; /* reads nothing more until http_want() */
	unsigned lines;
	int status;
	unsigned initial_ends; /* bookmarks that end the initial events */
};
void api_watch_start(struct api *r, struct api_watch *w, const char *path);
void api_watch_stop(struct api_watch *w);
void api_run(struct api *r, int64_t ms);

#endif
