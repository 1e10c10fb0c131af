#ifndef TESTS_WORLD_PLANE_H
#define TESTS_WORLD_PLANE_H

#include "base/http_mem.h"
#include "base/json.h"
#include "base/list.h"
#include "base/loop.h"
#include "base/store.h"
#include "kube/apiserver/apiserver.h"

/*
 * plane: one cluster's control plane in the simulated world: an API server on
 * a store in memory, a client for whatever is not drover, and a scheduler that
 * knows GPUs and taints.
 *
 * Reading goes past HTTP, straight to the store, so that an oracle can look
 * after every event.  Writing goes through the API server like everybody's.
 */
#define PLANE_INSIDE                                                                               \
	".inside:6443" /* where its own scheduler, kubelets and people find it, whatever else fails */

struct plane {
	const char *name;
	char origin[80], endpoint[80]; /* https://team-a:6443, team-a:6443 */
	char token[64];		       /* the only one that the API server lets in, as a bearer */
	struct loop *loop;
	struct loop_group *group;
	struct http_mem_net *net;
	struct store *store;
	struct apiserver *api;
	struct httpd *httpd;
	struct http *http;
	struct http_peer *peer;
	struct secret *bearer;
	struct list asks;
	bool away;
	bool owed; /* it may keep Nodes that drover could not delete */

	struct loop_timer scheduler;
	uint64_t scheduled; /* revision of the last look */
	bool binding;
};

void plane_init(struct plane *p, struct loop *l, struct http_mem_net *net, const char *name);
void plane_done(struct plane *p);

/* A kubeconfig with the token and this CA inline, for a server at that address; malloc'd. */
char *plane_kubeconfig(const struct plane *p, const char *server, const char *ca_pem);
/* Nobody reaches the API server any more (true), or again. */
void plane_away(struct plane *p, bool away);
/* A scheduler that binds pods to nodes with room, or marks them unschedulable. */
void plane_start_scheduler(struct plane *p);

/* body: taken.  o is NULL when there was no reply; done may be NULL. */
typedef void plane_done_fn(int status, json_t *o, void *arg);
void plane_ask(struct plane *p, const char *method, const char *path, json_t *body,
	       plane_done_fn *done, void *arg);

/* The object under a key such as "pods/default/train" or "machines.drover.dev/gpu-1"; gives, NULL: none. */
json_t *plane_get(const struct plane *p, const char *key);
/* Each object under the prefix; false from fn stops. */
void plane_each(const struct plane *p, const char *prefix, bool (*fn)(const json_t *o, void *arg),
		void *arg);

#endif
