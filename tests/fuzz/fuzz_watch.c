/*
 * Simulates a server's answers to a cache: the first line of the input answers lists, the rest
 * answers watches. Asserts that every reported change is complete, and that the cache contains what
 * was reported.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "tests/simulated/http_mem.h"
#include "base/httpd/httpd.h"
#include "tests/simulated/loop_sim.h"
#include "base/map.h"
#include "kube/cache.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct world {
	const char *list, *watch;
	size_t list_len, watch_len;
	struct kube_cache *cache;
	struct map *told;
};

static void on_request(struct httpd_req *q, void *arg)
{
	struct world *w = arg;

	if (httpd_query(q, "watch"))
		httpd_reply(q, 200, "application/json", w->watch, w->watch_len);
	else
		httpd_reply(q, 200, "application/json", w->list, w->list_len);
}

static const struct scan_want meta[] = {KUBE_WANT_META, SCAN_END};
static const struct scan_want want[] = {SCAN_SOME("metadata", meta), SCAN_PLAIN("v"), SCAN_END};

static void *project(const json_t *object, struct arena *a, void *arg, struct err *e)
{
	const json_t *value = json_object_get(object, "v");

	(void)arg;
	if (json_is_null(value))
		return NULL;
	if (value && !json_is_integer(value)) {
		err_note(e, ERR_INVALID, 0, "v: want a number");
		return NULL;
	}
	return arena_alloc(a, 8);
}

static char *key(const struct kube_entry *e)
{
	size_t n = strlen(e->ns) + strlen(e->name) + 2;
	char *k = malloc(n);

	assert(k);
	memcpy(k, e->ns, strlen(e->ns));
	k[strlen(e->ns)] = '/';
	memcpy(k + strlen(e->ns) + 1, e->name, strlen(e->name) + 1);
	return k;
}

static void on_change(const struct kube_entry *old, const struct kube_entry *new_, void *arg)
{
	struct world *w = arg;
	char *k = key(old ? old : new_);

	assert(old || new_);
	assert(*(old ? old : new_)->name && map_has(w->told, k) == !!old);
	if (new_)
		map_put(w->told, k, w);
	else
		map_del(w->told, k);
	free(k);
}

static bool was_told(const struct kube_entry *e, void *arg)
{
	struct world *w = arg;
	char *k = key(e);

	assert(map_has(w->told, k));
	free(k);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nl = memchr(data, '\n', size);
	struct world w = {.list = (const char *)data,
			  .list_len = nl ? (size_t)(nl - data) : size,
			  .watch = ""};
	struct kube_config config = {.server = (char *)(uintptr_t) "https://api"};
	struct loop *l = loop_sim_new(1, 0);
	struct loop_group *g = loop_group_new(l, "all");
	struct http_mem_net *net = http_mem_net_new(l);
	struct httpd *d = httpd_new(g);
	struct http *h = http_new(g, http_mem_transport(net, g, "c", NULL, NULL), 0);
	struct kube_client *c;
	struct err e;

	if (nl) {
		w.watch = (const char *)nl + 1;
		w.watch_len = size - w.list_len - 1;
	}
	w.told = map_new(NULL);
	httpd_route(d, "GET", "/**", 0, on_request, &w);
	http_mem_serve(net, "https://api:443", d);
	c = kube_client_new(g, h, &(struct kube_client_spec){.config = &config}, &e);
	assert(c);
	w.cache = kube_cache_new(g, &(struct kube_cache_spec){.client = c,
							      .resource = &KUBE_PODS,
							      .want = want,
							      .same_untold = size & 1,
							      .project = project,
							      .on_change = on_change,
							      .max_item = 512,
							      .arg = &w});
	loop_sim_run_until(l, 20000);
	assert(kube_cache_size(w.cache) == map_size(w.told));
	kube_cache_each(w.cache, was_told, &w);
	kube_cache_free(w.cache);
	kube_client_free(c);
	http_free(h);
	httpd_free(d);
	http_mem_net_free(net);
	loop_group_free(g);
	loop_free(l);
	map_free(w.told);
	return 0;
}
