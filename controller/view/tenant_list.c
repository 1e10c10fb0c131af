#include <stdlib.h>
#include <string.h>

#include "controller/view/tenant_list.h"
#include "api/annotations.h"
#include "base/arena.h"
#include "base/crypto.h"
#include "base/data/json.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/retry.h"
#include "base/str.h"
#include "controller/view/queue.h"

/* Maximum number of bytes of the JSON text without its pods */
#define REST_MAX 8192
/* Number of tenants that are handled in one loop turn */
#define TENANTS_EACH_TURN 20

struct tenant_list {
	struct context *c;
	const struct tenants *tenants;
	const struct waiting *waiting;
	struct loop_timer timer;
	/* Key: name of a tenant; value: struct note */
	struct map *notes;
	/* The round in progress, in which each tenant is handled once */
	struct list_round {
		/* NULL: no round is in progress */
		struct arena *arena;
		/* Names of the tenants, in the arena, and index of the next one */
		const char **tenants;
		size_t n, at;
		/* Key: name of a tenant; value: struct share */
		struct map *shares;
		/* Length of the queue of all tenants */
		size_t queue;
		/* waiting_number() of the list to which `shares` points */
		uint64_t number;
	} round;
};

/* What was written to one tenant's cluster. */
struct note {
	struct tenant_list *l;
	char *tenant;
	struct kube_call *call;
	/* Digest of the text that is being written or was written last, without its time */
	char digest[CRYPTO_DIGEST_TEXT];
	/* loop_now() before which nothing is written; 0: at once */
	int64_t due;
	/* loop_now() of the last successful write; 0: none, or the last write failed */
	int64_t written;
	/* True: a refused write was logged */
	bool refused;
	/* Delays after failed writes, reset by a successful one */
	struct backoff again;
	/* ConfigMap that is being written */
	json_t *object;
};

/* Rows of one tenant in the published list. */
struct share {
	const struct waiting_row **v;
	size_t n, cap;
};

static void share_free(void *p)
{
	struct share *s = p;

	free((void *)s->v);
	free(s);
}

static void note_free(void *p)
{
	struct note *n = p;

	kube_call_cancel(n->call);
	json_decref(n->object);
	free(n->tenant);
	free(n);
}

/* --- the text --------------------------------------------------------------------------------- */

static json_t *resources_json(const struct resources *r)
{
	json_t *o = json_object();
	char text[QUANTITY_TEXT];

	for (size_t i = 0; i < r->n; i++)
		json_object_set_new(o, r->v[i].name, json_string(quantity_format(r->v[i].q, text)));
	return o;
}

static size_t size_of(const json_t *j)
{
	return json_dumpb(j, NULL, 0, JSON_COMPACT);
}

/* Returns the content of the tenant's ConfigMap without its time, owned by the caller. own: the
 * tenant's rows; NULL: none of its pods waits. queue: length of the queue of all tenants. */
static json_t *content(const struct virtual_cluster *vc, const struct share *own, size_t queue)
{
	const size_t total = own ? own->n : 0;
	json_t *pods = json_array(), *o;
	size_t size = 0;

	for (size_t i = 0; i < total; i++) {
		OWN_JSON row = view_queue_row(own->v[i]);

		json_object_del(row, "tenant");
		size += size_of(row) + 1;
		if (size >= TENANT_LIST_MAX - REST_MAX)
			break;
		json_array_append(pods, row);
	}
	o = json_pack("{s:s, s:I, s:I, s:o, s:o, s:o}", "tenant", vc->meta.name, "total",
		      (json_int_t)total, "queueLength", (json_int_t)queue, "quota",
		      resources_json(&vc->spec.quota), "allocated",
		      resources_json(&vc->status.allocated), "pods", pods);
	if (json_array_size(pods) < total)
		json_object_set_new(o, "left",
				    json_integer((json_int_t)(total - json_array_size(pods))));
	return o;
}

static void digest_of(const json_t *content, char out[static CRYPTO_DIGEST_TEXT])
{
	uint8_t sum[CRYPTO_SHA256];
	char *text = json_text_sorted(content);

	crypto_sha256(text, strlen(text), sum);
	free(text);
	(void)crypto_digest_text(sum, out);
}

static json_t *config_map(json_t *content, int64_t now)
{
	char time[STR_TIME_SIZE], *text;
	json_t *o;

	json_object_set_new(content, "time", json_string(str_time(time, now)));
	text = json_text(content);
	o = json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:s}}", "apiVersion", "v1", "kind", "ConfigMap",
		      "metadata", "name", TENANT_LIST_NAME, "namespace", TENANT_LIST_NS, "data",
		      TENANT_LIST_KEY, text);
	free(text);
	return o;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void end(struct note *n, const struct err *e)
{
	const int64_t now = loop_now(n->l->c->loop);

	n->call = NULL;
	json_decref(n->object);
	n->object = NULL;
	if (!e)
		backoff_reset(&n->again);
	n->due = now + (!e ? TENANT_LIST_MS
			: e->kind == ERR_DENIED
				? TENANT_LIST_AGAIN_MS
				: backoff_next(&n->again, loop_random(n->l->c->loop)));
	n->written = e ? 0 : now;
	if (e && !n->refused)
		log_warn("the list of waiting pods cannot be written to the tenant's cluster",
			 LOG_S("tenant", n->tenant), LOG_E(e));
	n->refused = e;
}

static void on_created(json_t *object, const struct err *e, void *arg)
{
	(void)object;
	end(arg, e);
}

static void on_patched(json_t *object, const struct err *e, void *arg)
{
	struct note *n = arg;
	const struct tenant *t = tenant_get(n->l->tenants, n->tenant);

	(void)object;
	if (!e || e->kind != ERR_NOT_FOUND || !t || !t->client) {
		end(n, e);
		return;
	}
	n->call =
		kube_create(t->client, &KUBE_CONFIGMAPS, TENANT_LIST_NS, n->object, on_created, n);
}

static struct note *note_of(struct tenant_list *l, const char *tenant)
{
	struct note *n = map_get(l->notes, tenant);

	if (!n) {
		n = mem_new(struct note);
		n->l = l;
		n->tenant = mem_strdup(tenant);
		n->again = (struct backoff){TENANT_LIST_MS, TENANT_LIST_AGAIN_MS, 0};
		map_put(l->notes, tenant, n);
	}
	return n;
}

static void write_if_due(struct tenant_list *l, const struct tenant *t, const struct share *own,
			 size_t queue)
{
	const int64_t now = loop_now(l->c->loop);
	const struct virtual_cluster *vc =
		CTX_GET(l->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster, t->name);
	struct note *n = note_of(l, t->name);
	char digest[CRYPTO_DIGEST_TEXT];

	if (!vc || n->call || now < n->due || !tenant_usable(t) || !t->client)
		return;

	OWN_JSON o = content(vc, own, queue);

	digest_of(o, digest);
	if (n->written && str_eq(digest, n->digest) && now - n->written < TENANT_LIST_KEEP_MS)
		return;
	memcpy(n->digest, digest, sizeof(digest));
	n->object = config_map(o, loop_wall(l->c->loop));
	n->call = kube_patch(t->client, &KUBE_CONFIGMAPS, TENANT_LIST_NS, TENANT_LIST_NAME, NULL,
			     KUBE_PATCH_MERGE, n->object, on_patched, n);
}

/* Divides the published list among the tenants. Goes through the list once, not once for each
 * tenant. */
static void divide(struct tenant_list *l)
{
	struct list_round *r = &l->round;
	size_t n;
	const struct waiting_row *rows = waiting_rows(l->waiting, &n);

	map_clear(r->shares);
	r->queue = 0;
	r->number = waiting_number(l->waiting);
	for (size_t i = 0; i < n; i++) {
		struct share **s = (struct share **)map_slot(r->shares, rows[i].tenant);

		if (!*s)
			*s = mem_new(struct share);
		mem_grow((*s)->v, (*s)->n, (*s)->cap);
		(*s)->v[(*s)->n++] = &rows[i];
		r->queue += rows[i].at.place > 0;
	}
}

static void round_over(struct tenant_list *l)
{
	map_clear(l->round.shares);
	arena_free(l->round.arena);
	l->round.arena = NULL;
	loop_timer_start(&l->timer, TENANT_LIST_MS);
}

static void round_begin(struct tenant_list *l)
{
	struct list_round *r = &l->round;
	struct map_iter it;

	map_for_each (it, l->notes)
		if (!tenant_get(l->tenants, it.key))
			map_del(l->notes, it.key);
	r->arena = arena_new();
	r->tenants = arena_calloc(r->arena, map_size(l->tenants->map) + 1, sizeof(*r->tenants));
	r->n = r->at = 0;
	map_for_each (it, l->tenants->map)
		r->tenants[r->n++] = arena_strdup(r->arena, it.key);
	divide(l);
}

static void on_timer(void *arg)
{
	struct tenant_list *l = arg;
	struct list_round *r = &l->round;

	if (!r->arena)
		round_begin(l);
	/* Nothing is published before the first plan: an empty list would be wrong. */
	if (!l->c->leading || !waiting_number(l->waiting)) {
		round_over(l);
		return;
	}
	/* The rows of an earlier list are not valid any more. */
	if (r->number != waiting_number(l->waiting))
		divide(l);
	for (size_t i = 0; r->at < r->n && i < TENANTS_EACH_TURN; i++) {
		const char *name = r->tenants[r->at++];
		const struct tenant *t = tenant_get(l->tenants, name);

		if (t)
			write_if_due(l, t, map_get(r->shares, name), r->queue);
	}
	if (r->at < r->n)
		loop_timer_start(&l->timer, 0);
	else
		round_over(l);
}

void tenant_list_hang_up(struct tenant_list *l, const char *tenant)
{
	map_del(l->notes, tenant);
}

struct tenant_list *tenant_list_new(struct context *c, const struct tenants *tenants,
				    const struct waiting *waiting)
{
	struct tenant_list *l = mem_new(struct tenant_list);

	l->c = c;
	l->tenants = tenants;
	l->waiting = waiting;
	l->notes = map_new(note_free);
	l->round.shares = map_new(share_free);
	loop_timer_init(&l->timer, c->group, on_timer, l);
	loop_timer_start(&l->timer, TENANT_LIST_MS);
	return l;
}

void tenant_list_free(struct tenant_list *l)
{
	if (!l)
		return;
	loop_timer_stop(&l->timer);
	map_free(l->notes);
	map_free(l->round.shares);
	arena_free(l->round.arena);
	free(l);
}
