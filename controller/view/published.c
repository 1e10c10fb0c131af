#include <stdlib.h>

#include "controller/view/published.h"
#include "api/annotations.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"

struct view_published {
	struct context *c;
	struct keys *keys;
	char *url;
	/* CA that was written since this replica began to lead; NULL: none */
	char *written;
	struct kube_call *call;
	struct loop_timer look;
};

static json_t *data_json(const struct view_published *p)
{
	json_t *data = json_pack("{s:s}", "ca.crt", p->written);

	/* In a merge patch, null removes the URL that another replica has published. */
	json_object_set_new(data, "endpoint", p->url ? json_string(p->url) : json_null());
	return data;
}

static void forget(struct view_published *p)
{
	free(p->written);
	p->written = NULL;
}

static void on_written(json_t *o, const struct err *e, void *arg)
{
	struct view_published *p = arg;

	(void)o;
	p->call = NULL;
	if (!e)
		return;
	log_warn("address of the view not published", LOG_S("configmap", VIEW_NAME), LOG_E(e));
	forget(p);
}

static void on_patched(json_t *o, const struct err *e, void *arg)
{
	struct view_published *p = arg;
	json_t *data;
	OWN_JSON all = NULL;

	if (!e || e->kind != ERR_NOT_FOUND) {
		on_written(o, e, arg);
		return;
	}
	data = data_json(p);
	if (!p->url)
		json_object_del(data, "endpoint");
	all = json_pack("{s:s, s:s, s:{s:s, s:s, s:{s:s}}, s:o}", "apiVersion", "v1", "kind",
			"ConfigMap", "metadata", "name", VIEW_NAME, "namespace", p->c->o.ns,
			"labels", "app.kubernetes.io/managed-by", "drover", "data", data);
	p->call = kube_create(p->c->host, &KUBE_CONFIGMAPS, p->c->o.ns, all, on_written, p);
}

static void look(void *arg)
{
	struct view_published *p = arg;
	const char *ca = keys_ca_pem(p->keys);
	OWN_JSON patch = NULL;

	loop_timer_start(&p->look, VIEW_PUBLISHED_MS);
	if (!p->c->leading)
		forget(p);
	if (!p->c->leading || p->call || !ca || str_eq(p->written, ca))
		return;
	forget(p);
	p->written = mem_strdup(ca);
	patch = json_pack("{s:o}", "data", data_json(p));
	p->call = kube_patch(p->c->host, &KUBE_CONFIGMAPS, p->c->o.ns, VIEW_NAME, NULL,
			     KUBE_PATCH_MERGE, patch, on_patched, p);
}

struct view_published *view_published_new(struct context *c, struct keys *keys, const char *url)
{
	struct view_published *p = mem_new(struct view_published);

	p->c = c;
	p->keys = keys;
	p->url = mem_strdup(url);
	loop_timer_init(&p->look, c->group, look, p);
	loop_timer_start(&p->look, 0);
	return p;
}

void view_published_free(struct view_published *p)
{
	if (!p)
		return;
	loop_timer_stop(&p->look);
	kube_call_cancel(p->call);
	forget(p);
	free(p->url);
	free(p);
}

char *view_published_url(const char *listen)
{
	if (str_starts(listen, "0.0.0.0:") || str_starts(listen, "[::]:") || *listen == ':' ||
	    str_ends(listen, ":0"))
		return NULL;
	return mem_printf("https://%s", listen);
}
