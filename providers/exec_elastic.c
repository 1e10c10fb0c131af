#include "providers/exec_elastic.h"

#include <stdlib.h>
#include <string.h>
#include "base/market.h"
#include "base/arena.h"
#include "base/crypto.h"
#include "base/data/json.h"
#include "base/mem.h"
#include "base/secret.h"
#include "base/str.h"
#include "providers/helper.h"

#define LIMIT_MS (PROVIDER_CALL_MS - 1000)
#define PAGES_MAX 1000
#define TEXT_MAX 2048

/* One call of struct provider_elastic_ops; its answer may consist of several pages. */
struct exec_elastic_call {
	struct list link;
	struct helper *helper;
	struct child_call *request;
	struct loop_defer refused;
	struct err err;
	struct arena *strings;
	/* Value of the cluster tag, for list-owned only; otherwise NULL */
	const char *cluster;
	struct offer *offers;
	struct elastic_instance *instances;
	size_t n, room, pages;
	int64_t deadline;
	elastic_offers_done *offered;
	elastic_instances_done *done;
	void *arg;
};

static void call_free(struct exec_elastic_call *c)
{
	list_remove(&c->link);
	loop_defer_cancel(&c->refused);
	arena_free(c->strings);
	free(c->offers);
	free(c->instances);
	free(c);
}

static void end(struct exec_elastic_call *c, const struct err *failed)
{
	struct err e;

	if (failed) {
		e = *failed;
		e.scope = e.kind == ERR_CAPACITY			       ? ERR_ZONE
			  : e.kind == ERR_QUOTA || e.kind == ERR_DENIED	       ? ERR_ACCOUNT
			  : e.kind == ERR_UNAVAILABLE || e.kind == ERR_TIMEOUT ? ERR_PROVIDER
									       : ERR_REQUEST;
	}
	/* Unlink the call before its callback, because the callback may free the provider. */
	list_remove(&c->link);
	if (c->offered)
		c->offered(c->offers, failed ? 0 : c->n, failed ? &e : NULL, c->arg);
	else
		c->done(c->instances, c->n, failed ? &e : NULL, c->arg);
	call_free(c);
}

static void on_refused(void *arg)
{
	struct exec_elastic_call *c = arg;

	end(c, &c->err);
}

/* --- reading ---------------------------------------------------------------------------------- */

static const char *text_at(struct exec_elastic_call *c, const json_t *j, const char *name)
{
	const char *v = json_str_at(j, name);

	return v && strlen(v) <= TEXT_MAX ? arena_strdup(c->strings, v) : NULL;
}

static int64_t int_at(const json_t *j, const char *name, int64_t absent)
{
	const json_t *v = json_object_get(j, name);

	return json_is_integer(v) ? json_integer_value(v) : absent;
}

/* Returns the index in `names` of the word in the member `name` of j; if the member is missing, the
 * index of `absent`. -1: unknown word, or the member is missing and absent is NULL. */
static int word_at(const json_t *j, const char *name, const char *const *names, size_t n,
		   const char *absent)
{
	const char *v = str_or(json_str_at(j, name), absent);

	for (size_t i = 0; v && i < n; i++)
		if (str_eq(v, names[i]))
			return (int)i;
	return -1;
}

static int read_offer(struct exec_elastic_call *c, const json_t *j, struct offer *o, struct err *e)
{
	int market = word_at(j, "market", market_names, 3, "OnDemand");

	*o = (struct offer){
		.region = text_at(c, j, "region"),
		.zone = text_at(c, j, "zone"),
		.type = text_at(c, j, "type"),
		.reservation = text_at(c, j, "reservation"),
		.micros_per_hour = int_at(j, "microsPerHour", -1),
		.currency = text_at(c, j, "currency"),
		.available = int_at(j, "available", -1),
		.ends_at = int_at(j, "endsAt", 0),
	};
	if (market < 0 || str_empty(o->region) || str_empty(o->type))
		return err_set(e, ERR_PROTOCOL, 0,
			       "an offer has no region, no type or an unknown market");
	o->market = (enum market)market;
	return 0;
}

static void read_tags(struct exec_elastic_call *c, const json_t *tags, struct elastic_instance *i)
{
	struct elastic_tag *v = arena_calloc(c->strings, json_object_size(tags) + 1, sizeof(*v));
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)tags, key, value)
		if (json_is_string(value))
			v[i->ntags++] = (struct elastic_tag){
				arena_strdup(c->strings, key),
				arena_strdup(c->strings, json_string_value(value))};
	i->tags = v;
}

static int read_instance(struct exec_elastic_call *c, const json_t *j, struct elastic_instance *i,
			 struct err *e)
{
	int state = word_at(j, "state", elastic_state_names, 5, NULL),
	    market = word_at(j, "market", market_names, 3, "OnDemand");

	*i = (struct elastic_instance){
		.id = text_at(c, j, "instance"),
		.provider_id = text_at(c, j, "providerID"),
		.region = text_at(c, j, "region"),
		.zone = text_at(c, j, "zone"),
		.type = text_at(c, j, "type"),
		.token = text_at(c, j, "token"),
		.reason = text_at(c, j, "reason"),
		.address = text_at(c, j, "address"),
		.launched_at = int_at(j, "launchedAt", 0),
		.ends_at = int_at(j, "endsAt", 0),
		.at_risk_since = int_at(j, "atRiskSince", 0),
	};
	if (str_empty(i->id) || str_empty(i->region) || state < 0 || market < 0)
		return err_set(e, ERR_PROTOCOL, 0,
			       "an instance has no name, no region, or an unknown state or market");
	i->state = (enum elastic_state)state;
	i->market = (enum market)market;
	read_tags(c, json_object_get(j, "tags"), i);
	return 0;
}

static void make_room(struct exec_elastic_call *c, size_t more)
{
	if (c->n + more <= c->room)
		return;
	c->room = (c->n + more) * 2;
	if (c->offered)
		c->offers = mem_realloc_array(c->offers, c->room, sizeof(*c->offers));
	else
		c->instances = mem_realloc_array(c->instances, c->room, sizeof(*c->instances));
}

static int read_page(struct exec_elastic_call *c, const json_t *list, struct err *e)
{
	size_t i;
	json_t *j;

	if (!json_is_array(list))
		return err_set(e, ERR_PROTOCOL, 0, "the reply of the program has no list %s",
			       c->offered ? "offers" : "instances");
	make_room(c, json_array_size(list));
	json_array_foreach (list, i, j) {
		if ((c->offered ? read_offer(c, j, &c->offers[c->n], e)
				: read_instance(c, j, &c->instances[c->n], e)) < 0)
			return -1;
		c->n++;
	}
	return 0;
}

/* --- requests --------------------------------------------------------------------------------- */

static void on_reply(const json_t *reply, int64_t sent_at, const struct err *failed, void *arg);

static void ask(struct exec_elastic_call *c, json_t *request)
{
	int64_t left = c->deadline - loop_now(loop_of(c->helper->queue.group));

	c->request = child_ask(c->helper->child, request, left > 1000 ? left : 1000, on_reply, c);
}

static void on_reply(const json_t *reply, int64_t sent_at, const struct err *failed, void *arg)
{
	struct exec_elastic_call *c = arg;
	const char *next = json_str_at(reply, "next");
	struct err e;

	(void)sent_at;
	c->request = NULL;
	if (failed) {
		end(c, failed);
		return;
	}
	if (read_page(c, json_object_get(reply, c->offered ? "offers" : "instances"), &e) < 0) {
		end(c, &e);
		return;
	}
	if (!next || !(c->offered || c->cluster)) {
		end(c, NULL);
		return;
	}
	if (++c->pages >= PAGES_MAX) {
		err_note(&e, ERR_PROTOCOL, 0, "the list of the program has too many pages");
		end(c, &e);
		return;
	}
	ask(c, c->offered ? json_pack("{s:s, s:s}", "op", "offers", "after", next)
			  : json_pack("{s:s, s:s, s:s}", "op", "list-owned", "cluster", c->cluster,
				      "after", next));
}

static struct exec_elastic_call *call_new(struct provider *p, elastic_instances_done *done,
					  void *arg)
{
	struct helper *g = p->state;
	struct exec_elastic_call *c = mem_new(struct exec_elastic_call);

	c->helper = g;
	c->strings = arena_new();
	c->deadline = loop_now(loop_of(p->group)) + LIMIT_MS;
	c->done = done;
	c->arg = arg;
	loop_defer_init(&c->refused, p->group, on_refused, c);
	list_push_back(&g->elastic, &c->link);
	return c;
}

static bool may_go(struct exec_elastic_call *c, bool (*may_act)(void *arg), void *arg)
{
	if (!may_act || may_act(arg))
		return true;
	err_note(&c->err, ERR_CONFLICT, 0, "not sent: the request is no longer wanted");
	loop_defer(&c->refused);
	return false;
}

static void exec_offers(struct provider *p, elastic_offers_done *done, void *arg)
{
	struct exec_elastic_call *c = call_new(p, NULL, arg);

	c->offered = done;
	ask(c, json_pack("{s:s}", "op", "offers"));
}

static json_t *launch_request(const struct elastic_launch *l)
{
	const struct offer *o = &l->offer;
	json_t *tags = json_object(), *data = json_null();
	char *text = l->user_data ? crypto_base64(l->user_data, l->user_data_len) : NULL;

	for (size_t i = 0; i < l->ntags; i++)
		json_object_set_new(tags, l->tags[i].key, json_string(l->tags[i].value));
	if (text) {
		data = json_string(text);
		secret_wipe(text, strlen(text));
		free(text);
	}
	return json_pack("{s:s, s:s, s:{s:s, s:s?, s:s, s:s, s:s?}, s:s?, s:o, s:I, s:I, s:o}",
			 "op", "launch", "token", l->token, "offer", "region", o->region, "zone",
			 o->zone, "type", o->type, "market", market_names[o->market], "reservation",
			 o->reservation, "image", l->image, "userData", data, "count",
			 (json_int_t)l->count, "maxMicrosPerHour",
			 (json_int_t)l->max_micros_per_hour, "tags", tags);
}

static void exec_launch(struct provider *p, const struct elastic_launch *l,
			elastic_instances_done *done, void *arg)
{
	struct exec_elastic_call *c = call_new(p, done, arg);

	if (may_go(c, l->may_act, l->may_act_arg))
		ask(c, launch_request(l));
}

static void exec_list_owned(struct provider *p, const char *cluster, elastic_instances_done *done,
			    void *arg)
{
	struct exec_elastic_call *c = call_new(p, done, arg);

	c->cluster = arena_strdup(c->strings, cluster);
	ask(c, json_pack("{s:s, s:s}", "op", "list-owned", "cluster", cluster));
}

static void exec_terminate(struct provider *p, const char *region, const char *id,
			   bool (*may_act)(void *arg), elastic_instances_done *done, void *arg)
{
	struct exec_elastic_call *c = call_new(p, done, arg);

	if (may_go(c, may_act, arg))
		ask(c, json_pack("{s:s, s:s, s:s}", "op", "terminate", "region", region, "instance",
				 id));
}

void exec_elastic_drop(struct provider *p)
{
	struct helper *g = p->state;

	list_for_each (c, &g->elastic, struct exec_elastic_call, link) {
		child_call_drop(c->request);
		call_free(c);
	}
}

const struct provider_elastic_ops exec_elastic_ops = {
	.offers = exec_offers,
	.launch = exec_launch,
	.list_owned = exec_list_owned,
	.terminate = exec_terminate,
};
