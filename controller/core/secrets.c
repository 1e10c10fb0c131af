/*
 * secrets: one entry per Secret that was requested, with at most one call in flight for each.
 */
#include <stdlib.h>
#include <string.h>

#include "controller/core/secrets.h"
#include "base/arena.h"
#include "base/crypto.h"
#include "base/data/json.h"
#include "base/loop/loop.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/call.h"

#define REFRESH_MS 30000
#define RETRY_MS 2000
#define REFRESH_EACH_MS 200 /* interval per known Secret: at most 5 reads per second in total */
#define RETRY_EACH_MS 20

struct secrets {
	struct loop_group *group;
	struct kube_client *client;
	char *own_ns;
	/* "ns/name" -> struct secret_entry */
	struct map *entries;
	void (*changed)(const char *ns, const char *name, void *arg);
	void *arg;
};

struct secret_entry {
	struct secrets *s;
	char *ns, *name, *version;
	enum secret_state state;
	/* key -> struct secret */
	struct map *values;
	struct kube_call *call;
	struct loop_timer timer;
	/* True: secrets_expect() was called; read the Secret every 30 s until it has changed */
	bool expected;
};

static void free_value(void *v)
{
	secret_free(v);
}

static void entry_free(void *p)
{
	struct secret_entry *en = p;

	kube_call_cancel(en->call);
	loop_timer_stop(&en->timer);
	map_free(en->values);
	free(en->ns);
	free(en->name);
	free(en->version);
	free(en);
}

struct secrets *secrets_new(struct loop_group *g, struct kube_client *c, const char *own_ns,
			    void (*changed)(const char *ns, const char *name, void *arg), void *arg)
{
	struct secrets *s = mem_new(struct secrets);

	s->group = g;
	s->client = c;
	s->own_ns = mem_strdup(own_ns);
	s->entries = map_new(entry_free);
	s->changed = changed;
	s->arg = arg;
	return s;
}

void secrets_free(struct secrets *s)
{
	if (!s)
		return;
	map_free(s->entries);
	free(s->own_ns);
	free(s);
}

/* Schedules the next read of the Secret: after at_least_ms, or, if that is longer, after each_ms
 * times the number of known Secrets. The longer delay is varied by 10 %, so that Secrets that were
 * read at one time are read again at different times. */
static void read_again(struct secret_entry *en, int64_t at_least_ms, int64_t each_ms)
{
	int64_t all = (int64_t)map_size(en->s->entries) * each_ms, ms = at_least_ms;
	struct loop *l = loop_of(en->s->group);

	if (all > ms && !en->expected)
		ms = all - all / 10 + (int64_t)loop_random_below(l, (uint64_t)all / 5);
	loop_timer_start(&en->timer, ms);
}

static void take(struct secret_entry *en, const json_t *o)
{
	const char *key, *version = json_str_at(o, "metadata", "resourceVersion");
	json_t *v;

	if (en->state == SECRET_LOADED && str_eq(version, en->version))
		return;
	map_clear(en->values);
	json_object_foreach (json_at(o, "data"), key, v) {
		const char *text = json_string_value(v);
		struct err e;
		size_t len;
		char *raw = text ? crypto_base64_decode(text, strlen(text), &len, &e) : NULL;

		if (!raw)
			continue;
		map_put(en->values, key, secret_new(raw, len));
		secret_wipe(raw, len);
		free(raw);
	}
	free(en->version);
	en->version = mem_strdup(str_or(version, ""));
	en->state = SECRET_LOADED;
	en->expected = false;
	en->s->changed(en->ns, en->name, en->s->arg);
}

static void on_secret(json_t *o, const struct err *e, void *arg)
{
	struct secret_entry *en = arg;
	enum secret_state was = en->state;

	en->call = NULL;
	if (!e) {
		read_again(en, REFRESH_MS, REFRESH_EACH_MS);
		take(en, o);
		return;
	}
	/* If a loaded Secret cannot be read now, it stays loaded: only ERR_NOT_FOUND proves that it
	 * was deleted. */
	if (e->kind == ERR_NOT_FOUND)
		en->state = SECRET_ABSENT;
	else if (was != SECRET_LOADED)
		en->state = e->kind == ERR_DENIED ? SECRET_DENIED : SECRET_ERROR;
	read_again(en, RETRY_MS, RETRY_EACH_MS);
	if (en->state != was)
		en->s->changed(en->ns, en->name, en->s->arg);
}

static void load(void *arg)
{
	struct secret_entry *en = arg;

	if (!en->call)
		en->call = kube_get(en->s->client, &KUBE_SECRETS, en->ns, en->name, on_secret, en);
}

static struct secret_entry *entry_of(struct secrets *s, const char *ns, const char *name)
{
	OWN(arena) a = arena_new();
	const char *key = arena_printf(a, "%s/%s", ns ? ns : s->own_ns, name);
	struct secret_entry *en = map_get(s->entries, key);

	if (en)
		return en;
	en = mem_new(struct secret_entry);
	en->s = s;
	en->ns = mem_strdup(ns ? ns : s->own_ns);
	en->name = mem_strdup(name);
	en->version = mem_strdup("");
	en->values = map_new(free_value);
	loop_timer_init(&en->timer, s->group, load, en);
	map_put(s->entries, key, en);
	load(en);
	return en;
}

enum secret_state secrets_want(struct secrets *s, const char *ns, const char *name)
{
	return entry_of(s, ns, name)->state;
}

const struct secret *secrets_value(struct secrets *s, const char *ns, const char *name,
				   const char *key)
{
	struct secret_entry *en = entry_of(s, ns, name);

	return en->state == SECRET_LOADED ? map_get(en->values, key) : NULL;
}

void secrets_expect(struct secrets *s, const char *ns, const char *name)
{
	struct secret_entry *en = entry_of(s, ns, name);

	if (en->expected)
		return;
	en->expected = true;
	if (en->state == SECRET_LOADED && !en->call)
		loop_timer_start(&en->timer, REFRESH_MS);
}

void secrets_reread(struct secrets *s, const char *ns, const char *name)
{
	struct secret_entry *en = entry_of(s, ns, name);

	if (!en->call)
		loop_timer_start(&en->timer, 0);
}

const char *secrets_version(struct secrets *s, const char *ns, const char *name)
{
	return entry_of(s, ns, name)->version;
}

void secrets_ensure(struct secrets *s, const char *name, const char *const *keys,
		    const struct secret *const *values, size_t n)
{
	struct secret_entry *en = entry_of(s, NULL, name);
	json_t *o, *data = json_object();

	for (size_t i = 0; i < n; i++) {
		char *text = crypto_base64(secret_expose(values[i]), secret_len(values[i]));

		json_object_set_new(data, keys[i], json_string(text));
		secret_wipe(text, strlen(text));
		free(text);
	}
	o = json_pack("{s:s, s:s, s:{s:s, s:s, s:{s:s}}, s:s, s:o}", "apiVersion", "v1", "kind",
		      "Secret", "metadata", "name", name, "namespace", en->ns, "labels",
		      "app.kubernetes.io/managed-by", "drover", "type", "Opaque", "data", data);
	kube_call_cancel(en->call);
	/* If another replica creates the Secret first, this call ends with a conflict. The next
	 * read, 2 s later, gets that replica's values. */
	en->call = kube_create(s->client, &KUBE_SECRETS, en->ns, o, on_secret, en);
	json_decref(o);
}

int secrets_check_endpoint(struct secrets *s, const char *field, const char *name,
			   const char *endpoint, struct err *e)
{
	const struct secret *there = secrets_value(s, NULL, name, "endpoint");

	if (!there)
		return err_set(e, ERR_NOT_FOUND, 0, "%s: Secret %s has no key endpoint", field,
			       name);
	/* mutant: netris-secret-endpoint */
	if (!secret_equal_bytes(there, endpoint, strlen(endpoint)))
		return err_set(e, ERR_DENIED, 0,
			       "%s: the key endpoint of Secret %s is not %.100s: the login may not "
			       "be sent there",
			       field, name, endpoint);
	return 0;
}
