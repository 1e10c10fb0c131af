#include "tests/contract/fake_cloud.h"

#include <stdlib.h>
#include <string.h>
#include "base/crypto.h"
#include "base/data/json.h"
#include "base/mem.h"
#include "base/str.h"

struct process {
	struct list link;
	struct fake_cloud *f;
	/* Process of the program; NULL: the program has ended */
	struct loop_child *child;
	/* List of open requests, linked by request.link */
	struct list requests;
};

struct request {
	struct list link;
	struct process *p;
	json_t *j;
	struct loop_timer timer;
};

static void request_free(struct request *q)
{
	list_remove(&q->link);
	loop_timer_stop(&q->timer);
	json_decref(q->j);
	free(q);
}

static void say(struct process *p, json_t *j)
{
	char *text = json_text(j);

	if (p->child)
		loop_sim_child_line(p->child, text, strlen(text));
	free(text);
	json_decref(j);
}

static void fail(struct process *p, json_int_t id, const char *kind, const char *message)
{
	say(p, json_pack("{s:I,s:{s:s,s:s}}", "id", id, "error", "kind", kind, "message", message));
}

/* --- instances -------------------------------------------------------------------------------- */

void fake_cloud_kill(struct fake_instance *i)
{
	if (i->gone)
		return;
	i->gone = i->ending = true;
	i->ended_at = loop_now(i->cloud->loop);
	loop_timer_stop(&i->timer);
	if (i->told && i->cloud->on_ended)
		i->cloud->on_ended(i, i->cloud->arg);
}

static void on_instance(void *arg)
{
	struct fake_instance *i = arg;

	if (i->ending) {
		fake_cloud_kill(i);
		return;
	}
	i->running_at = loop_now(i->cloud->loop);
	i->told = true;
	if (i->cloud->on_running)
		i->cloud->on_running(i, i->cloud->arg);
}

static json_t *instance_json(const struct fake_instance *i)
{
	const char *state = i->gone	    ? "Gone"
			    : i->ending	    ? "Ending"
			    : i->running_at ? "Running"
					    : "Pending";

	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:O, s:o*}", "instance", i->id,
			 "providerID", i->id, "region", i->region, "zone", i->zone, "type", i->type,
			 "token", i->token, "state", state, "tags", i->tags, "atRiskSince",
			 i->at_risk_since ? json_integer(i->at_risk_since) : NULL);
}

static bool is_listed(const struct fake_cloud *f, const struct fake_instance *i)
{
	int64_t now = loop_now(f->loop);

	return now - i->launched_at >= f->visible_ms &&
	       (!i->gone || now - i->ended_at < f->told_ms);
}

unsigned fake_cloud_alive(const struct fake_cloud *f)
{
	return fake_cloud_alive_of(f, NULL);
}

unsigned fake_cloud_alive_of(const struct fake_cloud *f, const char *claim_uid)
{
	unsigned n = 0;

	list_for_each (i, &f->instances, struct fake_instance, link)
		n += !i->gone &&
		     (!claim_uid || str_eq(json_str_at(i->tags, "drover.dev/claim"), claim_uid));
	return n;
}

/* --- requests --------------------------------------------------------------------------------- */

static void tell_offers(struct process *p, json_int_t id)
{
	struct fake_cloud *f = p->f;
	json_t *list = json_array();

	for (size_t k = 0; k < FAKE_CLOUD_ZONES && f->zones[k].zone; k++)
		json_array_append_new(
			list, json_pack("{s:s, s:s, s:s, s:s, s:s*, s:I, s:s}", "region",
					str_or(f->zones[k].region, "r1"), "zone", f->zones[k].zone,
					"type", f->zones[k].type, "market",
					f->zones[k].reservation ? "Reserved"
					: f->zones[k].spot	? "Spot"
								: "OnDemand",
					"reservation", f->zones[k].reservation, "microsPerHour",
					(json_int_t)f->zones[k].micros, "currency",
					str_or(f->zones[k].currency, "USD")));
	say(p, json_pack("{s:I, s:o}", "id", id, "offers", list));
}

static struct fake_instance *by_token(struct fake_cloud *f, const char *token)
{
	list_for_each (i, &f->instances, struct fake_instance, link)
		if (str_eq(i->token, token))
			return i;
	return NULL;
}

static struct fake_instance *start(struct fake_cloud *f, const json_t *j, size_t zone)
{
	struct fake_instance *i = mem_new(struct fake_instance);
	const char *data = json_str_at(j, "userData");
	size_t len;
	struct err e;

	f->launched++;
	f->zones[zone].capacity -= f->zones[zone].capacity > 0;
	i->cloud = f;
	str_format(i->id, sizeof(i->id), "i-%u", f->launched);
	str_copy(i->zone, sizeof(i->zone), f->zones[zone].zone);
	i->region = str_or(f->zones[zone].region, "r1");
	str_copy(i->type, sizeof(i->type), f->zones[zone].type);
	str_copy(i->token, sizeof(i->token), json_str_at(j, "token"));
	i->tags = json_deep_copy(json_object_get(j, "tags"));
	i->user_data = data ? (char *)crypto_base64_decode(data, strlen(data), &len, &e) : NULL;
	i->launched_at = loop_now(f->loop);
	loop_timer_init(&i->timer, f->group, on_instance, i);
	list_push_back(&f->instances, &i->link);
	if (f->dying) {
		f->dying--;
		i->ending = true;
	}
	if (f->stopping) {
		f->stopping--;
		i->ending = true;
		return i;
	}
	loop_timer_start(&i->timer, f->boot_ms);
	return i;
}

static void launch(struct process *p, const json_t *j, json_int_t id)
{
	struct fake_cloud *f = p->f;
	const char *token = json_str_at(j, "token"), *zone = json_str_at(j, "offer", "zone"),
		   *type = json_str_at(j, "offer", "type");
	struct fake_instance *i = f->no_tokens ? NULL : by_token(f, token);
	size_t k = 0;

	f->asked++;
	if (f->error) {
		fail(p, id, f->error, "the cloud says no");
		return;
	}
	while (k < FAKE_CLOUD_ZONES && f->zones[k].zone &&
	       (!str_eq(f->zones[k].zone, zone) || !str_eq(f->zones[k].type, type)))
		k++;
	if (i && (!str_eq(i->zone, zone) || !str_eq(i->type, type))) {
		fail(p, id, "conflict", "that token was for something else");
		return;
	}
	if (!i && (k == FAKE_CLOUD_ZONES || !f->zones[k].zone ||
		   !str_eq(f->zones[k].reservation, json_str_at(j, "offer", "reservation")))) {
		fail(p, id, "invalid", "there is no such offer");
		return;
	}
	if (!i && !f->zones[k].capacity) {
		fail(p, id, "capacity", "none left");
		return;
	}
	if (!i)
		i = start(f, j, k);
	if (f->lose_launches) {
		f->lose_launches--;
		return;
	}
	say(p, json_pack("{s:I, s:[o]}", "id", id, "instances", instance_json(i)));
}

static void list_owned(struct process *p, const json_t *j, json_int_t id)
{
	struct fake_cloud *f = p->f;
	const char *cluster = json_str_at(j, "cluster"), *after = json_str_at(j, "after");
	json_t *list = json_array(), *reply;
	char next[24] = "";

	f->lists += !after;
	list_for_each (i, &f->instances, struct fake_instance, link) {
		if (after) { /* Skips the instances up to the last one of the previous page. */
			after = str_eq(i->id, after) ? NULL : after;
			continue;
		}
		if (!is_listed(f, i) ||
		    !str_eq(json_str_at(i->tags, "drover.dev/cluster"), cluster))
			continue;
		json_array_append_new(list, instance_json(i));
		if (f->page && json_array_size(list) >= f->page) {
			str_copy(next, sizeof(next), i->id);
			break;
		}
	}
	reply = json_pack("{s:I, s:o}", "id", id, "instances", list);
	if (next[0])
		json_object_set_new(reply, "next", json_string(next));
	say(p, reply);
}

static void terminate(struct process *p, const json_t *j, json_int_t id)
{
	struct fake_cloud *f = p->f;
	json_t *list = json_array();

	f->terminations++;
	list_for_each (i, &f->instances, struct fake_instance, link) {
		if (!str_eq(i->id, json_str_at(j, "instance")))
			continue;
		if (!i->gone && (!i->ending || !loop_timer_active(&i->timer))) {
			i->ending = true;
			loop_timer_start(&i->timer, f->end_ms);
		}
		json_array_append_new(list, instance_json(i));
	}
	if (f->lose_ends) {
		f->lose_ends--;
		json_decref(list);
		return;
	}
	say(p, json_pack("{s:I, s:o}", "id", id, "instances", list));
}

static void on_time(void *arg)
{
	struct request *q = arg;
	struct process *p = q->p;
	json_t *j = json_incref(q->j);
	const char *op = json_str_at(j, "op");
	json_int_t id = json_int_at(j, "id");

	if (p->f->deaf) {
		json_decref(j);
		request_free(q);
		return;
	}
	request_free(q);
	if (str_eq(op, "offers"))
		tell_offers(p, id);
	else if (str_eq(op, "launch"))
		launch(p, j, id);
	else if (str_eq(op, "list-owned"))
		list_owned(p, j, id);
	else if (str_eq(op, "terminate"))
		terminate(p, j, id);
	else
		fail(p, id, "unsupported", "it is a cloud");
	json_decref(j);
}

/* --- the process ------------------------------------------------------------------------------ */

static void process_end(struct process *p)
{
	struct loop_child *c = p->child;

	if (!c)
		return;
	p->child = NULL;
	list_for_each (q, &p->requests, struct request, link)
		request_free(q);
	loop_sim_child_exit(c, 0);
}

static void on_start(struct loop_child *c, const char *const *argv, void **state, void *arg)
{
	struct fake_cloud *f = arg;
	struct process *p = mem_new(struct process);

	(void)argv;
	p->f = f;
	p->child = c;
	list_init(&p->requests);
	list_push_back(&f->processes, &p->link);
	*state = p;
}

static void on_line(struct loop_child *c, const char *line, size_t len, void *state)
{
	struct process *p = state;
	json_t *j = json_loadb(line, len, 0, NULL);
	const char *op = json_str_at(j, "op");
	struct request *q;

	(void)c;
	if (str_eq(op, "hello") || str_eq(op, "ping")) {
		say(p, json_pack("{s:I,s:i}", "id", json_int_at(j, "id"), "protocol", 1));
		json_decref(j);
		return;
	}
	q = mem_new(struct request);
	q->p = p;
	q->j = j;
	loop_timer_init(&q->timer, p->f->group, on_time, q);
	list_push_back(&p->requests, &q->link);
	loop_timer_start(&q->timer, p->f->ms);
}

static void on_eof(struct loop_child *c, void *state)
{
	(void)c;
	process_end(state);
}

static void on_free(void *state)
{
	struct process *p = state;

	list_for_each (q, &p->requests, struct request, link)
		request_free(q);
	list_remove(&p->link);
	free(p);
}

void fake_cloud_init(struct fake_cloud *f, struct loop_group *g)
{
	struct loop_sim_program p = {
		.start = on_start, .line = on_line, .eof = on_eof, .free = on_free, .arg = f};

	*f = (struct fake_cloud){.ms = 50,
				 .boot_ms = 20000,
				 .end_ms = 5000,
				 .told_ms = 600000,
				 .group = g,
				 .loop = loop_of(g)};
	list_init(&f->processes);
	list_init(&f->instances);
	loop_sim_program(f->loop, FAKE_CLOUD, &p);
}

void fake_cloud_done(struct fake_cloud *f)
{
	list_for_each (i, &f->instances, struct fake_instance, link) {
		loop_timer_stop(&i->timer);
		list_remove(&i->link);
		json_decref(i->tags);
		free(i->user_data);
		free(i);
	}
}
