#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "sim/ec2/ec2_impl.h"

/*
 * DescribeInstances, DescribeTags, DescribeSpotInstanceRequests, and the XML of an instance.
 *
 * Tests: tests/unit/sim/ec2/test_ec2.c, tests/unit/sim/ec2/test_fault.c
 */
#define PAGE_MIN 5
#define NEXT "drover-" /* Prefix of a NextToken; the number of the last listed instance follows. */

/* Returns the loop time whose state is reported: now, or earlier with fault Stale. */
static int64_t told_at(struct e2_call *c)
{
	const struct fault *f = e2_stands(c->s, "Stale", c->action, NULL, NULL);

	return c->now - (f ? f->value : 0);
}

bool e2_is_known(struct e2_call *c, const struct e2_instance *i)
{
	const struct fault *late = e2_stands(c->s, "Late", c->action, i->type->name, i->zone);

	if (!str_eq(i->account, c->account) || !e2_in_region(i->zone, c->region))
		return false;
	if (i->gone != E2_NEVER && c->now >= i->gone + c->s->spec.gone_ms)
		return false;
	return !late || c->now >= i->launched + late->value;
}

/* --- filters ---------------------------------------------------------------------------------- */

bool e2_filters(struct e2_call *c,
		int (*has)(const void *item, const char *name, const char *pattern),
		const void *item)
{
	const char *name, *pattern;

	for (int n = 1; (name = e2_param(c, "Filter.%d.Name", n)); n++) {
		bool any = false;

		for (int k = 1; (pattern = e2_param(c, "Filter.%d.Value.%d", n, k)); k++) {
			int is = has(item, name, pattern);

			if (is < 0) {
				e2_fail(c, 400, "InvalidParameterValue",
					"The filter '%s' is invalid", name);
				return false;
			}
			any = any || is;
		}
		if (!any)
			return false;
	}
	return true;
}

struct listed {
	const struct e2_instance *i;
	int64_t at;
};

static int has_tag(const struct e2_instance *i, const char *key, const char *pattern)
{
	for (size_t k = 0; k < i->ntags; k++)
		if (key ? str_eq(i->tags[k].key, key) && e2_glob(pattern, i->tags[k].value)
			: e2_glob(pattern, i->tags[k].key))
			return 1;
	return 0;
}

static int instance_has(const void *item, const char *name, const char *pattern)
{
	const struct listed *l = item;
	const struct e2_instance *i = l->i;
	enum e2_state state = e2_state_at(i, l->at);
	char code[8];
	const struct {
		const char *name, *value;
	} plain[] = {
		{"instance-state-name", e2_state_names[state]},
		{"instance-state-code", code},
		{"instance-id", i->id},
		{"instance-type", i->type->name},
		{"availability-zone", i->zone},
		{"client-token", i->token},
		{"image-id", i->image},
		{"subnet-id", i->subnet},
		{"reservation-id", i->reservation},
		{"owner-id", i->account},
		{"instance-lifecycle", i->spot ? "spot" : NULL},
		{"spot-instance-request-id", i->spot ? i->spot_request : NULL},
		{"capacity-reservation-id", i->reserved ? i->reserved->id : NULL},
	};

	str_format(code, sizeof(code), "%d", e2_state_codes[state]);
	if (str_starts(name, "tag:"))
		return has_tag(i, name + strlen("tag:"), pattern);
	if (str_eq(name, "tag-key"))
		return has_tag(i, NULL, pattern);
	for (size_t k = 0; k < sizeof(plain) / sizeof(*plain); k++)
		if (str_eq(plain[k].name, name))
			return plain[k].value && e2_glob(pattern, plain[k].value);
	return -1;
}

/* --- XML -------------------------------------------------------------------------------------- */

static void state_xml(struct buf *b, enum e2_state state)
{
	e2_open(b, "instanceState");
	e2_int(b, "code", e2_state_codes[state]);
	e2_text(b, "name", e2_state_names[state]);
	e2_close(b, "instanceState");
}

/* Writes the reason of an instance's end; splits "Server.InternalError: Internal error on launch"
 * into code and message. */
static void reason_xml(struct buf *b, const struct e2_instance *i, int64_t at)
{
	const char *colon = at >= i->ending && i->why ? strchr(i->why, ':') : NULL;
	char code[64];

	e2_text(b, "reason", colon ? i->why : "");
	if (!colon)
		return;
	str_format(code, sizeof(code), "%.*s", (int)(colon - i->why), i->why);
	e2_open(b, "stateReason");
	e2_text(b, "code", code);
	e2_text(b, "message", i->why);
	e2_close(b, "stateReason");
}

static void tags_xml(struct buf *b, const struct e2_instance *i)
{
	e2_open(b, "tagSet");
	for (size_t k = 0; k < i->ntags; k++) {
		e2_open(b, "item");
		e2_text(b, "key", i->tags[k].key);
		e2_text(b, "value", i->tags[k].value);
		e2_close(b, "item");
	}
	e2_close(b, "tagSet");
}

static void address_xml(struct e2_call *c, const struct e2_instance *i)
{
	unsigned net = 0;
	char ip[20], name[64];

	for (size_t k = 0; c->s->zones[k] && c->s->zones[k] != i->zone; k++)
		net++;
	str_format(ip, sizeof(ip), "10.%u.%u.%u", 20 + net % 200, (unsigned)(i->seq / 250 % 250),
		   (unsigned)(i->seq % 250) + 4);
	str_format(name, sizeof(name), "ip-%s.%s.compute.internal", ip, c->region);
	for (char *p = name; p < name + 3 + strlen(ip); p++)
		*p = *p == '.' ? '-' : *p;
	e2_text(&c->out, "privateDnsName", name);
	e2_text(&c->out, "privateIpAddress", ip);
}

static void instance_xml(struct e2_call *c, const struct e2_instance *i, int64_t at)
{
	struct buf *b = &c->out;
	enum e2_state state = e2_state_at(i, at);

	e2_open(b, "item");
	e2_text(b, "instanceId", i->id);
	e2_text(b, "imageId", i->image);
	state_xml(b, state);
	if (state < E2_ENDING)
		address_xml(c, i);
	reason_xml(b, i, at);
	e2_int(b, "amiLaunchIndex", i->index);
	e2_text(b, "instanceType", i->type->name);
	e2_time(b, "launchTime", i->launched_wall);
	e2_open(b, "placement");
	e2_text(b, "availabilityZone", i->zone);
	e2_text(b, "tenancy", "default");
	e2_close(b, "placement");
	e2_text(b, "subnetId", state < E2_ENDING ? i->subnet : NULL);
	if (i->spot) {
		e2_text(b, "instanceLifecycle", "spot");
		e2_text(b, "spotInstanceRequestId", i->spot_request);
	}
	if (i->reserved) {
		if (i->reserved->upfront >= 0)
			e2_text(b, "instanceLifecycle", "capacity-block");
		e2_text(b, "capacityReservationId", i->reserved->id);
	}
	if (i->profile) {
		e2_open(b, "iamInstanceProfile");
		e2_text(b, "arn", i->profile);
		e2_close(b, "iamInstanceProfile");
	}
	e2_text(b, "clientToken", i->token);
	tags_xml(b, i);
	e2_close(b, "item");
}

static void open_reservation(struct e2_call *c, const struct e2_instance *i)
{
	e2_text(&c->out, "reservationId", i->reservation);
	e2_text(&c->out, "ownerId", i->account);
	e2_text(&c->out, "groupSet", "");
	e2_open(&c->out, "instancesSet");
}

void e2_reservation_xml(struct e2_call *c, const struct e2_instance *first)
{
	open_reservation(c, first);
	list_for_each (i, &c->s->instances, struct e2_instance, link)
		if (str_eq(i->reservation, first->reservation))
			instance_xml(c, i, c->now);
	e2_close(&c->out, "instancesSet");
}

/* --- pages ------------------------------------------------------------------------------------ */

struct page {
	/* after: number of the last instance of the previous page. most: maximum number of
	 * instances on this page. n: number of instances listed so far. */
	int64_t after, most, n;
	bool ids;
};

static bool read_page(struct e2_call *c, struct page *p)
{
	const struct fault *small = e2_stands(c->s, "Pages", c->action, NULL, NULL);
	const char *next = e2_param(c, "NextToken");

	*p = (struct page){.ids = e2_param(c, "InstanceId.1") != NULL};
	if (p->ids && e2_param(c, "MaxResults"))
		e2_fail(c, 400, "InvalidParameterCombination",
			"The parameter instancesSet cannot be used with the parameter maxResults");
	else if (next && (!str_starts(next, NEXT) ||
			  !str_to_i64(next + strlen(NEXT), 0, INT64_MAX - 1, &p->after)))
		e2_fail(c, 400, "InvalidParameterValue", "Unable to parse pagination token");
	if (c->code || !e2_number(c, "MaxResults", PAGE_MIN, E2_PAGE, E2_PAGE, &p->most))
		return false;
	if (small && small->value > 0 && small->value < p->most && !p->ids)
		p->most = small->value;
	return true;
}

/* True if all requested ids exist. False: an id is unknown, and the error of the request is set. */
static bool asked_ids_exist(struct e2_call *c)
{
	const char *id;

	for (int n = 1; (id = e2_param(c, "InstanceId.%d", n)); n++) {
		const struct e2_instance *i = map_get(c->s->by_id, id);

		if (i && e2_is_known(c, i))
			continue;
		e2_fail(c, 400, "InvalidInstanceID.NotFound", "The instance ID '%s' does not exist",
			id);
		return false;
	}
	return true;
}

static bool is_asked(const struct e2_call *c, const struct page *p, const char *id)
{
	const char *asked;

	for (int n = 1; p->ids && (asked = e2_param(c, "InstanceId.%d", n)); n++)
		if (str_eq(asked, id))
			return true;
	return !p->ids;
}

/* Calls fn for each instance of the requested page, in order; sets c->next if more instances
 * follow. */
static void each_listed(struct e2_call *c, struct page *p,
			int (*has)(const void *item, const char *name, const char *pattern),
			void (*fn)(struct e2_call *c, const struct listed *l, void *arg), void *arg)
{
	struct listed l = {.at = told_at(c)};
	uint64_t last = 0;
	char next[40];

	list_for_each (i, &c->s->instances, struct e2_instance, link) {
		l.i = i;
		if ((int64_t)i->seq <= p->after || l.at < i->launched || !e2_is_known(c, i) ||
		    !is_asked(c, p, i->id) || !e2_filters(c, has, &l))
			continue;
		if (p->n == p->most) {
			str_format(next, sizeof(next), NEXT "%llu", (unsigned long long)last);
			c->next = mem_strdup(next);
			break;
		}
		p->n++;
		last = i->seq;
		fn(c, &l, arg);
	}
}

static void put_listed(struct e2_call *c, const struct listed *l, void *arg)
{
	const char **open = arg;

	if (!str_eq(*open, l->i->reservation)) {
		if (*open)
			buf_puts(&c->out, "</instancesSet></item>");
		e2_open(&c->out, "item");
		open_reservation(c, l->i);
		*open = l->i->reservation;
	}
	instance_xml(c, l->i, l->at);
}

void e2_describe_instances(struct e2_call *c)
{
	const char *open = NULL;
	struct page p;

	if (!read_page(c, &p) || !asked_ids_exist(c))
		return;
	e2_open(&c->out, "reservationSet");
	each_listed(c, &p, instance_has, put_listed, &open);
	if (open)
		buf_puts(&c->out, "</instancesSet></item>");
	e2_close(&c->out, "reservationSet");
	e2_text(&c->out, "nextToken", c->next);
}

/* --- spot requests ---------------------------------------------------------------------------- */

static const char *request_code(const struct listed *l)
{
	const bool over = l->at >= l->i->ending, noticed = l->at >= l->i->noticed;

	return over && noticed ? "instance-terminated-no-capacity"
	       : over	       ? "instance-terminated-by-user"
	       : noticed       ? "marked-for-termination"
			       : "fulfilled";
}

static int request_has(const void *item, const char *name, const char *pattern)
{
	const struct listed *l = item;

	if (str_eq(name, "status-code"))
		return l->i->spot && e2_glob(pattern, request_code(l));
	if (str_eq(name, "state"))
		return l->i->spot && e2_glob(pattern, l->at >= l->i->ending ? "closed" : "active");
	return instance_has(item, name, pattern);
}

static void put_request(struct e2_call *c, const struct listed *l, void *arg)
{
	const struct e2_instance *i = l->i;
	struct buf *b = &c->out;
	bool over = l->at >= i->ending, noticed = l->at >= i->noticed;
	int64_t since = noticed ? i->noticed : over ? i->ending : i->launched;

	(void)arg;
	if (!i->spot)
		return;
	e2_open(b, "item");
	e2_text(b, "spotInstanceRequestId", i->spot_request);
	e2_text(b, "instanceId", i->id);
	e2_text(b, "state", over ? "closed" : "active");
	e2_text(b, "type", "one-time");
	e2_open(b, "status");
	e2_text(b, "code", request_code(l));
	e2_time(b, "updateTime", i->launched_wall + since - i->launched);
	e2_close(b, "status");
	e2_text(b, "launchedAvailabilityZone", i->zone);
	e2_close(b, "item");
}

void e2_describe_spot_requests(struct e2_call *c)
{
	struct page p;

	if (!read_page(c, &p))
		return;
	e2_open(&c->out, "spotInstanceRequestSet");
	each_listed(c, &p, request_has, put_request, NULL);
	e2_close(&c->out, "spotInstanceRequestSet");
	e2_text(&c->out, "nextToken", c->next);
}

/* --- tags ------------------------------------------------------------------------------------- */

struct told_tag {
	const struct e2_instance *i;
	const struct e2_tag *t;
};

static int tag_has(const void *item, const char *name, const char *pattern)
{
	const struct told_tag *t = item;

	if (str_starts(name, "tag:"))
		return has_tag(t->i, name + strlen("tag:"), pattern);
	return str_eq(name, "key")	       ? e2_glob(pattern, t->t->key)
	       : str_eq(name, "value")	       ? e2_glob(pattern, t->t->value)
	       : str_eq(name, "resource-id")   ? e2_glob(pattern, t->i->id)
	       : str_eq(name, "resource-type") ? e2_glob(pattern, "instance")
					       : -1;
}

void e2_describe_tags(struct e2_call *c)
{
	struct buf *b = &c->out;

	e2_open(b, "tagSet");
	list_for_each (i, &c->s->instances, struct e2_instance, link)
		for (size_t k = 0; k < i->ntags && !c->code; k++) {
			struct told_tag t = {i, &i->tags[k]};

			if (!e2_is_known(c, i) || !e2_filters(c, tag_has, &t))
				continue;
			e2_open(b, "item");
			e2_text(b, "resourceId", i->id);
			e2_text(b, "resourceType", "instance");
			e2_text(b, "key", t.t->key);
			e2_text(b, "value", t.t->value);
			e2_close(b, "item");
		}
	e2_close(b, "tagSet");
}
