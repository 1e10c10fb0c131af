#include "tests/contract/fake_ec2.h"

#include <stdlib.h>
#include <string.h>
#include "base/str.h"

static int hex(char c)
{
	return c >= 'a' ? c - 'a' + 10 : c >= 'A' ? c - 'A' + 10 : c - '0';
}

static void decode(const char *body, char *out, size_t size)
{
	size_t n = 0;

	for (; *body && n + 1 < size; body++) {
		if (*body == '%' && body[1] && body[2]) {
			out[n++] = (char)(hex(body[1]) * 16 + hex(body[2]));
			body += 2;
		} else {
			out[n++] = *body == '&' ? '\n' : *body == '+' ? ' ' : *body;
		}
	}
	out[n] = '\0';
}

const char *fake_ec2_param(const struct fake_ec2 *f, const char *name, char *out, size_t size)
{
	size_t len = strlen(name);

	for (const char *line = f->form; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, len) && line[len] == '=') {
			str_format(out, size, "%.*s", (int)strcspn(line + len + 1, "\n"),
				   line + len + 1);
			return out;
		}
	}
	return NULL;
}

static bool is(const struct fake_ec2 *f, const char *name, const char *value)
{
	char text[200];

	return str_eq(fake_ec2_param(f, name, text, sizeof(text)), value);
}

static void item(struct buf *b, const struct fake_ec2_instance *i)
{
	buf_printf(b,
		   "<item><instanceId>%s</instanceId><instanceState><code>0</code><name>%s</name>"
		   "</instanceState><instanceType>%s</instanceType><placement><availabilityZone>%s"
		   "</availabilityZone></placement><clientToken>%s</clientToken>"
		   "<launchTime>2025-11-24T16:00:00.000Z</launchTime><tagSet>%s</tagSet>%s"
		   "<capacityReservationId>%s</capacityReservationId></item>",
		   i->id, i->state, i->type, i->zone, i->token, i->tags,
		   i->spot ? "<instanceLifecycle>spot</instanceLifecycle>" : "",
		   str_or(i->reservation, ""));
}

static void make(struct fake_ec2 *f)
{
	struct fake_ec2_instance *i = &f->v[f->n];
	char name[60], key[100], value[100];

	memset(i, 0, sizeof(*i));
	str_format(i->id, sizeof(i->id), "i-%s-%zu", f->region, f->n++);
	fake_ec2_param(f, "InstanceType", i->type, sizeof(i->type));
	fake_ec2_param(f, "Placement.AvailabilityZone", i->zone, sizeof(i->zone));
	fake_ec2_param(f, "ClientToken", i->token, sizeof(i->token));
	str_copy(i->state, sizeof(i->state), "pending");
	i->spot = is(f, "InstanceMarketOptions.MarketType", "spot");
	for (int t = 1;; t++) {
		size_t used = strlen(i->tags);

		str_format(name, sizeof(name), "TagSpecification.1.Tag.%d.Key", t);
		if (!fake_ec2_param(f, name, key, sizeof(key)))
			return;
		str_format(name, sizeof(name), "TagSpecification.1.Tag.%d.Value", t);
		fake_ec2_param(f, name, value, sizeof(value));
		str_format(i->tags + used, sizeof(i->tags) - used,
			   "<item><key>%s</key><value>%s</value></item>", key, value);
		if (str_eq(key, "drover.dev/cluster"))
			str_copy(i->cluster, sizeof(i->cluster), value);
	}
}

static void run(struct fake_ec2 *f, struct buf *b)
{
	char text[80], token[72];
	int64_t count = 0;
	bool again = false;

	fake_ec2_param(f, "ClientToken", token, sizeof(token));
	for (size_t i = 0; i < f->n; i++)
		again = again || str_eq(f->v[i].token, token);
	str_to_i64(fake_ec2_param(f, "MinCount", text, sizeof(text)), 1, 32, &count);
	while (!again && count--)
		make(f);
	buf_puts(b, "<RunInstancesResponse><instancesSet>");
	for (size_t i = 0; i < f->n; i++)
		if (str_eq(f->v[i].token, token))
			item(b, &f->v[i]);
	buf_puts(b, "</instancesSet></RunInstancesResponse>");
}

static void describe(struct fake_ec2 *f, struct buf *b)
{
	char text[80] = "", cluster[80] = "";
	int64_t from = 0;
	size_t shown = 0, i;

	fake_ec2_param(f, "Filter.1.Value.1", cluster, sizeof(cluster));
	if (fake_ec2_param(f, "NextToken", text, sizeof(text)))
		str_to_i64(text, 0, FAKE_EC2_INSTANCES, &from);
	buf_puts(b, "<DescribeInstancesResponse><reservationSet>");
	for (i = (size_t)from; i < f->n && shown < FAKE_EC2_PAGE; i++) {
		if (f->v[i].hidden || !is(f, "Filter.1.Name", "tag:drover.dev/cluster") ||
		    !str_eq(f->v[i].cluster, cluster))
			continue;
		buf_puts(b, "<item><instancesSet>");
		item(b, &f->v[i]);
		buf_puts(b, "</instancesSet></item>");
		shown++;
	}
	buf_puts(b, "</reservationSet>");
	if (i < f->n)
		buf_printf(b, "<nextToken>%zu</nextToken>", i);
	buf_puts(b, "</DescribeInstancesResponse>");
}

/* Terminates the instance that the form names. Writes the answer to b and returns its HTTP
 * status. */
static int terminate(struct fake_ec2 *f, struct buf *b)
{
	for (size_t i = 0; i < f->n; i++) {
		if (f->v[i].hidden || !is(f, "InstanceId.1", f->v[i].id))
			continue;
		if (!str_eq(f->v[i].state, "terminated"))
			str_copy(f->v[i].state, sizeof(f->v[i].state), "shutting-down");
		buf_printf(
			b,
			"<TerminateInstancesResponse><instancesSet><item><instanceId>%s"
			"</instanceId><currentState><code>32</code><name>%s</name></currentState>"
			"</item></instancesSet></TerminateInstancesResponse>",
			f->v[i].id, f->v[i].state);
		return 200;
	}
	buf_puts(b, "<Response><Errors><Error><Code>InvalidInstanceID.NotFound</Code>"
		    "<Message>no</Message></Error></Errors></Response>");
	return 400;
}

static int obey(struct fake_ec2 *f, struct buf *b)
{
	if (is(f, "Action", "TerminateInstances"))
		return terminate(f, b);
	if (is(f, "Action", "RunInstances"))
		run(f, b);
	else if (is(f, "Action", "DescribeInstances"))
		describe(f, b);
	else if (is(f, "Action", "DescribeSpotInstanceRequests"))
		buf_printf(b, "<R><spotInstanceRequestSet>%s</spotInstanceRequestSet></R>",
			   str_or(f->spot_requests, ""));
	else
		buf_printf(b, "<R><capacityReservationSet>%s</capacityReservationSet></R>",
			   str_or(f->reservations, ""));
	return 200;
}

static void on_call(struct httpd_req *q, void *arg)
{
	struct fake_ec2 *f = arg;
	size_t len;
	struct buf b;
	int status;

	f->calls++;
	decode(httpd_body(q, &len), f->form, sizeof(f->form));
	str_copy(f->authorization, sizeof(f->authorization),
		 str_or(httpd_header(q, "Authorization"), ""));
	str_copy(f->token, sizeof(f->token), str_or(httpd_header(q, "X-Amz-Security-Token"), ""));
	buf_init(&b, 1 << 20);
	if (f->fault_action && is(f, "Action", f->fault_action)) {
		f->fault_action = NULL;
		if (f->fault_after)
			(void)obey(f, &b);
		httpd_reply(q, f->fault_status, "text/xml", f->fault_body, strlen(f->fault_body));
	} else {
		status = obey(f, &b);
		httpd_reply(q, status, "text/xml", b.data, b.len);
	}
	buf_done(&b);
}

void fake_ec2_start(struct fake_ec2 *f, struct loop_group *g, const char *region)
{
	*f = (struct fake_ec2){.region = region, .httpd = httpd_new(g)};
	httpd_route(f->httpd, "POST", "/", 1 << 20, on_call, f);
}

void fake_ec2_done(struct fake_ec2 *f)
{
	httpd_free(f->httpd);
}
