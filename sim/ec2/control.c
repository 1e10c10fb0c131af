#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"
#include "sim/ec2/ec2_impl.h"

/*
 * Control requests below /sim/, without a signature, and interruption notices.
 *
 * Tests: tests/unit/sim/ec2/test_fault.c
 */
#define NOTICE_MS 120000
#define BODY_MAX 65536

static int notice(struct sim_ec2 *s, const struct sim_ec2_fault *f)
{
	int64_t now = loop_now(s->loop);

	list_for_each (i, &s->instances, struct e2_instance, link) {
		if (!i->spot || e2_state_at(i, now) != E2_RUNNING || !fault_is_of(f->name, i->id) ||
		    !fault_is_of(f->type, i->type->name) || !fault_is_of(f->zone, i->zone))
			continue;
		i->noticed = now;
		e2_end(s, i, now + (f->value ? f->value : NOTICE_MS),
		       "Server.SpotInstanceTermination: Spot instance termination");
	}
	e2_watch(s);
	return 0;
}

int sim_ec2_fault(struct sim_ec2 *s, const struct sim_ec2_fault *in, struct err *e)
{
	return str_eq(in->what, "SpotNotice") ? notice(s, in) : e2_fault_add(s, in, e);
}

static void reply(struct httpd_req *q, json_t *j /* takes ownership */)
{
	char *text = json_text(j);

	httpd_reply_json(q, 200, text);
	free(text);
	json_decref(j);
}

static json_t *tags_of(const struct e2_instance *i)
{
	json_t *t = json_object();

	for (size_t k = 0; k < i->ntags; k++)
		json_object_set_new(t, i->tags[k].key, json_string(i->tags[k].value));
	return t;
}

static void on_instances(struct httpd_req *q, void *arg)
{
	struct sim_ec2 *s = arg;
	int64_t now = loop_now(s->loop);
	json_t *all = json_array();

	list_for_each (i, &s->instances, struct e2_instance, link)
		json_array_append_new(
			all, json_pack("{s:s, s:s, s:s, s:s, s:s, s:b, s:s?, s:I, s:o}", "id",
				       i->id, "type", i->type->name, "zone", i->zone, "account",
				       i->account, "state", e2_state_names[e2_state_at(i, now)],
				       "spot", i->spot, "token", i->token, "micros",
				       (json_int_t)e2_cost(i, now), "tags", tags_of(i)));
	reply(q, all);
}

/* Replies with the total cost so far, and the cost of the next hour at the present rate. */
static void on_bill(struct httpd_req *q, void *arg)
{
	struct sim_ec2 *s = arg;
	int64_t now = loop_now(s->loop), rate = 0;
	json_t *reserved = json_array();

	list_for_each (i, &s->instances, struct e2_instance, link)
		if (e2_state_at(i, now) == E2_RUNNING && !i->reserved)
			rate += i->spot ? i->type->spot_micros : i->type->micros;
	list_for_each (r, &s->reserved, struct e2_reserved, link) {
		json_array_append_new(reserved, json_pack("{s:s, s:I}", "id", r->id, "micros",
							  (json_int_t)e2_reserved_cost(r, now)));
		if (r->upfront < 0 && now >= r->starts && now < r->ends)
			rate += r->type->micros * r->count;
	}
	reply(q, json_pack("{s:s, s:I, s:I, s:I, s:I, s:o}", "currency", s->currency, "micros",
			   (json_int_t)sim_ec2_micros(s), "microsPerHour", (json_int_t)rate,
			   "launched", (json_int_t)s->launched, "live", (json_int_t)sim_ec2_live(s),
			   "reservations", reserved));
}

static json_t *body_of(struct httpd_req *q)
{
	size_t len;
	struct err e;
	const char *text = httpd_body(q, &len);
	json_t *j = json_parse(text, len, &e);

	/* Changes the kind, because the error is in the request, not in an answer. */
	e.kind = ERR_INVALID;
	if (!j)
		httpd_reply_err(q, &e);
	return j;
}

static void on_fault(struct httpd_req *q, void *arg)
{
	OWN_JSON j = body_of(q);
	struct err e;

	if (!j)
		return;
	if (sim_ec2_fault(arg,
			  &(struct sim_ec2_fault){.what = json_str_at(j, "what"),
						  .on = json_str_at(j, "on"),
						  .type = json_str_at(j, "type"),
						  .zone = json_str_at(j, "zone"),
						  .name = json_str_at(j, "name"),
						  .value = json_int_at(j, "value"),
						  .count = json_int_at(j, "count"),
						  .after_ms = json_int_at(j, "afterMs"),
						  .for_ms = json_int_at(j, "forMs")},
			  &e) < 0)
		httpd_reply_err(q, &e);
	else
		httpd_reply_json(q, 200, "{}");
}

static void on_well(struct httpd_req *q, void *arg)
{
	sim_ec2_well(arg);
	httpd_reply_json(q, 200, "{}");
}

static void on_reserve(struct httpd_req *q, void *arg)
{
	struct sim_ec2 *s = arg;
	OWN_JSON j = body_of(q);
	int64_t now = loop_now(s->loop);
	struct err e;
	const json_t *ends = json_at(j, "endsInMs"), *upfront = json_at(j, "upfrontMicros");

	if (!j)
		return;
	if (sim_ec2_reserve(s,
			    &(struct sim_ec2_reservation){
				    .id = json_str_at(j, "id"),
				    .type = json_str_at(j, "type"),
				    .zone = json_str_at(j, "zone"),
				    .account = json_str_at(j, "account"),
				    .count = json_int_at(j, "count"),
				    .starts = now + json_int_at(j, "startsInMs"),
				    .ends = ends ? now + json_integer_value(ends) : 0,
				    .upfront_micros = upfront ? json_integer_value(upfront) : -1},
			    &e) < 0)
		httpd_reply_err(q, &e);
	else
		httpd_reply_json(q, 200, "{}");
}

void e2_control_routes(struct sim_ec2 *s, struct httpd *d)
{
	httpd_route(d, "GET", "/sim/instances", 0, on_instances, s);
	httpd_route(d, "GET", "/sim/bill", 0, on_bill, s);
	httpd_route(d, "POST", "/sim/faults", BODY_MAX, on_fault, s);
	httpd_route(d, "DELETE", "/sim/faults", BODY_MAX, on_well, s);
	httpd_route(d, "POST", "/sim/reservations", BODY_MAX, on_reserve, s);
}
