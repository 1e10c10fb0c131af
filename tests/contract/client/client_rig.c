#include "tests/contract/client/client_rig.h"

#include "base/http/http_curl.h"
#include "base/loop/loop_uv.h"
#include "base/mem.h"
#include "base/str.h"

/* --- waiting ---------------------------------------------------------------------------------- */

struct wait {
	struct rig *r;
	bool (*holds)(void *arg);
	void *arg;
	int64_t until;
	bool met;
	struct loop_timer timer;
};

static void on_tick(void *arg)
{
	struct wait *w = arg;

	w->met = w->holds(w->arg);
	if (w->met || loop_now(w->r->l) > w->until)
		loop_stop(w->r->l);
	else
		loop_timer_start(&w->timer, 5);
}

bool client_wait_for(struct rig *r, bool (*holds)(void *arg), void *arg, int64_t limit_ms)
{
	struct wait w = {.r = r, .holds = holds, .arg = arg, .until = loop_now(r->l) + limit_ms};

	loop_timer_init(&w.timer, r->g, on_tick, &w);
	loop_timer_start(&w.timer, 0);
	loop_run(r->l);
	loop_timer_stop(&w.timer);
	return w.met;
}

void client_on_answer(json_t *object, const struct err *e, void *arg)
{
	struct answer *a = arg;

	a->done = true;
	a->failed = e != NULL;
	if (e)
		a->e = *e;
	a->j = json_incref(object);
}

bool client_is_answered(void *arg)
{
	return ((struct answer *)arg)->done;
}

void client_create(struct rig *r, struct answer *a, const struct kube_resource *kind, json_t *obj)
{
	ASK(r, a, kube_create(r->c, kind, r->ns, obj, client_on_answer, a));
	json_decref(obj);
	assert_answered(a);
}

/* --- the rig ---------------------------------------------------------------------------------- */

static void quiet_begin(void *arg)
{
	(void)arg;
}

static void quiet_item(json_t *object, uint64_t digest, void *arg)
{
	(void)object, (void)digest, (void)arg;
}

static int quiet_end(const char *rv, void *arg, struct err *e)
{
	struct rig *r = arg;

	(void)e;
	assert_true(str_copy(r->quiet_rv, sizeof(r->quiet_rv), rv));
	return 0;
}

static void quiet_event(bool deleted, json_t *object, uint64_t digest, void *arg)
{
	(void)deleted, (void)object, (void)digest, (void)arg;
}

static void quiet_health(const struct err *e, void *arg)
{
	(void)e, (void)arg;
}

static const struct kube_reflect_ops quiet_ops = {
	.list_begin = quiet_begin,
	.list_item = quiet_item,
	.list_end = quiet_end,
	.event = quiet_event,
	.health = quiet_health,
};

int client_setup(void **state)
{
	struct rig *r = mem_new(struct rig);
	struct answer a = {0};
	json_t *ns;
	struct err e;

	r->keeper = keeper_new();
	r->l = loop_uv_new();
	r->g = loop_group_new(r->l, "client");
	r->h = http_new(r->g, http_curl_new(r->g, 64), 0);
	r->c = kube_client_new(r->g, r->h,
			       &(struct kube_client_spec){
				       .config = keeper_config(r->keeper),
				       .name = "server",
				       .qps = 10000,
				       .burst = 10000,
				       .timeout_ms = ANSWER_MS,
			       },
			       &e);
	if (!r->c)
		fail_msg("%s", e.text);
	snprintf(r->ns, sizeof(r->ns), "client-%06llx",
		 (unsigned long long)loop_random_below(r->l, 1 << 24));
	ns = json_pack("{s:s, s:s, s:{s:s}}", "apiVersion", "v1", "kind", "Namespace", "metadata",
		       "name", r->ns);
	ASK(r, &a, kube_create(r->c, &KUBE_NAMESPACES, NULL, ns, client_on_answer, &a));
	assert_answered(&a);
	json_decref(ns);
	json_decref(a.j);
	r->quiet = kube_reflect_new(r->g, &(struct kube_reflect_spec){
						  .client = r->c,
						  .resource = &KUBE_SECRETS,
						  .ns = r->ns,
						  .max_item = 1 << 20,
						  .ops = &quiet_ops,
						  .arg = r,
					  });
	*state = r;
	return 0;
}

int client_teardown(void **state)
{
	struct rig *r = *state;

	kube_reflect_free(r->quiet);
	kube_client_free(r->c);
	http_free(r->h);
	loop_group_free(r->g);
	loop_free(r->l);
	keeper_free(r->keeper);
	free(r);
	return 0;
}
