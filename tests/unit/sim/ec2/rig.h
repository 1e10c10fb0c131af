#ifndef TESTS_UNIT_SIM_EC2_RIG_H
#define TESTS_UNIT_SIM_EC2_RIG_H

#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "tests/simulated/http_mem.h"
#include "tests/simulated/loop_sim.h"
#include "base/mem.h"
#include "base/str.h"
#include "sim/ec2/ec2.h"

/* ec2_rig: the simulated EC2 service, and a client that posts forms to the service and reads values
 * from its answers. */
#define EC2_ORIGIN "https://ec2.example"
#define EC2_RUN "Action=RunInstances&ImageId=ami-1&InstanceType=g6.xlarge&MinCount=1&MaxCount=1&"
#define EC2_LIST "Action=DescribeInstances&"

struct ec2_rig {
	struct loop *loop;
	struct loop_group *group;
	struct http_mem_net *net;
	struct httpd *httpd;
	struct http *http;
	struct http_peer *peer;
	struct sim_ec2 *sim;
	int answers, status;
	uint32_t retry_after_ms;
	bool broken;
	char *body, *date;
	char value[200];
	unsigned changes;
	char changed[64];
};

static inline void ec2_on_change(const struct sim_ec2_instance *i, void *arg)
{
	struct ec2_rig *r = arg;

	r->changes++;
	str_format(r->changed, sizeof(r->changed), "%s %s %.20s", i->type, i->state,
		   str_or(i->user_data, "-"));
}

static inline void ec2_on_reply(const struct http_reply *p, const struct err *e, void *arg)
{
	struct ec2_rig *r = arg;

	(void)e;
	free(r->body);
	free(r->date);
	r->answers++;
	r->broken = !p;
	r->status = p ? p->status : 0;
	r->retry_after_ms = p ? p->retry_after_ms : 0;
	r->body = mem_strdup(p ? p->body : "");
	r->date = mem_strdup(p ? http_reply_header(p, "Date") : NULL);
}

static inline struct ec2_rig *ec2_rig_new(struct sim_ec2_spec s)
{
	struct ec2_rig *r = mem_new(struct ec2_rig);
	struct err e;

	mem_init();
	r->loop = loop_sim_new(3, 1764000000000);
	s.group = r->group = loop_group_new(r->loop, "ec2");
	s.on_change = ec2_on_change;
	s.arg = r;
	r->sim = sim_ec2_new(&s, &e);
	assert_non_null(r->sim);
	r->httpd = httpd_new(r->group);
	sim_ec2_routes(r->sim, r->httpd);
	r->net = http_mem_net_new(r->loop);
	http_mem_serve(r->net, EC2_ORIGIN, r->httpd);
	r->http = http_new(r->group, http_mem_transport(r->net, r->group, "a", NULL, NULL), 0);
	r->peer = http_peer_new(r->http, &(struct http_peer_spec){.base_url = EC2_ORIGIN}, &e);
	assert_non_null(r->peer);
	return r;
}

static inline void ec2_rig_free(struct ec2_rig *r)
{
	http_peer_free(r->peer);
	http_free(r->http);
	httpd_free(r->httpd);
	http_mem_net_free(r->net);
	sim_ec2_free(r->sim);
	loop_group_free(r->group);
	loop_free(r->loop);
	free(r->body);
	free(r->date);
	free(r);
}

static inline void ec2_pass(struct ec2_rig *r, int64_t ms)
{
	loop_sim_run_until(r->loop, loop_now(r->loop) + ms);
}

/* Sends a request and runs for one second of loop time. Returns the HTTP status; 0: the connection
 * broke. */
static inline int ec2_send(struct ec2_rig *r, const char *path, const char *body,
			   const struct http_header *headers, size_t n)
{
	struct http_call call = {.method = body ? "POST" : "GET",
				 .path = path,
				 .body = body,
				 .body_len = body ? strlen(body) : 0,
				 .content_type = "application/x-www-form-urlencoded",
				 .headers = headers,
				 .nheaders = n,
				 .max_body = 8u << 20,
				 .timeout_ms = 900,
				 .done = ec2_on_reply,
				 .arg = r};
	int before = r->answers;

	http_start(r->peer, &call);
	ec2_pass(r, 1000);
	assert_int_equal(r->answers, before + 1);
	return r->status;
}

/* Posts the form `action`, to which Version is added; returns the HTTP status. */
static inline int ec2_ask(struct ec2_rig *r, const char *action)
{
	char *form = mem_printf("%s%sVersion=2016-11-15", action, str_ends(action, "&") ? "" : "&");
	int status = ec2_send(r, "/", form, NULL, 0);

	free(form);
	return status;
}

/* Returns the text of the n-th (from 0) element with this name in the last answer; "" if there is
 * none. */
static inline const char *ec2_nth(struct ec2_rig *r, const char *element, unsigned n)
{
	char open[80];
	const char *at = r->body, *end;

	str_format(open, sizeof(open), "<%s>", element);
	for (unsigned i = 0; at && i <= n; i++) {
		at = strstr(at, open);
		at = at ? at + strlen(open) : NULL;
	}
	end = at ? strchr(at, '<') : NULL;
	str_format(r->value, sizeof(r->value), "%.*s", end ? (int)(end - at) : 0, end ? at : "");
	return r->value;
}

static inline const char *ec2_value(struct ec2_rig *r, const char *element)
{
	return ec2_nth(r, element, 0);
}

static inline unsigned ec2_count(const struct ec2_rig *r, const char *element)
{
	char open[80];
	unsigned n = 0;

	str_format(open, sizeof(open), "<%s>", element);
	for (const char *at = r->body; (at = strstr(at, open)); at++)
		n++;
	return n;
}

/* Posts the form and returns the error code of the answer; "" means success. */
static inline const char *ec2_error(struct ec2_rig *r, const char *action)
{
	ec2_ask(r, action);
	return ec2_value(r, "Code");
}

static inline void ec2_fault_set(struct ec2_rig *r, struct sim_ec2_fault f)
{
	struct err e;

	assert_int_equal(sim_ec2_fault(r->sim, &f, &e), 0);
}

#endif
