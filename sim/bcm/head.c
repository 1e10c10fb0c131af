#include "sim/bcm/head.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/crypto.h"
#include "base/data/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "sim/bcm/head_impl.h"

#define BODY_MAX (4u << 20)
#define SECOND 1000

/* One call of the JSON API. */
struct head_call {
	struct sim_head *h;
	struct httpd_req *q;
	struct arena *a;
	struct exact args;
	/* Name of the call, for example "cmdevice.getDevice". */
	const char *name;
	/* True: the call is completed, but the connection breaks during the reply. */
	bool lost;
};

/* --- the calls -------------------------------------------------------------------------------- */

static void reply(const struct head_call *c, const char *json)
{
	if (c->lost)
		sim_reply_lost(c->q, 200, "application/json");
	else
		httpd_reply_json(c->q, 200, json);
}

static void reply_error(const struct head_call *c, const char *text)
{
	reply(c, arena_printf(c->a, "{\"errormessage\":%s}", exact_quote(text, c->a)));
}

static struct exact argument(const struct head_call *c, size_t n)
{
	struct exact_iter it;

	exact_for_each(it, c->args) if (n-- == 0) return it.value;
	return (struct exact){0};
}

static struct sim_head_node *node_of(struct sim_head *h, const char *ref)
{
	struct sim_head_node *n = ref ? map_get(h->nodes, ref) : NULL;
	struct map_iter it;

	if (n || !ref)
		return n;
	map_for_each (it, h->nodes) {
		n = it.value;
		if (str_eq(n->uuid, ref))
			return n;
	}
	return NULL;
}

/* Returns the device of n as the client sees it: with fault Stale as it was before its last write,
 * as if BCM answered from a cache. */
static const char *shown(const struct head_call *c, const struct sim_head_node *n)
{
	return n->before && head_fault(c->h, "Stale", c->name) ? n->before : n->text;
}

static void get_devices(const struct head_call *c)
{
	struct map_iter it;
	struct buf out;

	buf_init(&out, 64u << 20);
	buf_puts(&out, "[");
	map_for_each (it, c->h->nodes) {
		buf_puts(&out, out.len > 1 ? "," : "");
		buf_puts(&out, shown(c, it.value));
	}
	buf_puts(&out, "]");
	reply(c, out.data);
	buf_done(&out);
}

static void get_device(const struct head_call *c)
{
	const struct sim_head_node *n = node_of(c->h, exact_str(argument(c, 0), c->a));

	reply(c, n ? shown(c, n) : "null");
}

static void moved(struct sim_head_node *n)
{
	sim_head_set(n, "notes", "\"written by another writer\"");
}

static void update_device(const struct head_call *c)
{
	static const char *const wanted[] = {"hostname", "mac", "category", "childType"};
	struct exact entity = argument(c, 0);
	struct sim_head_node *n = node_of(c->h, exact_str_at(entity, "uuid", c->a));
	struct fault *f = head_fault(c->h, "Invalid", c->name);
	const char *missing = f ? "mac" : NULL;
	char *old;

	if (!n) {
		reply_error(c, "Device not found");
		return;
	}
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		if (str_empty(exact_str_at(entity, wanted[i], c->a)))
			missing = wanted[i];
	if (missing) {
		reply(c,
		      arena_printf(c->a,
				   "{\"success\":false,"
				   "\"validation\":[{\"error_code\":1,\"field\":\"%s\",\"message\":"
				   "\"NOT_NULL: a value is needed\",\"severity\":\"ERROR\"}]}",
				   missing));
		return;
	}
	old = mem_strdup(n->text);
	if (!head_fault(c->h, "Ignored", c->name))
		head_put(n, arena_strndup(c->a, entity.at, entity.len));
	if (head_fault(c->h, "Overwrite", c->name)) {
		head_put(n, old);
		moved(n);
	}
	if (head_fault(c->h, "Moved", c->name))
		moved(n);
	free(old);
	sim_head_set(n, "modified", "false");
	reply(c, "{\"success\":true,"
		 "\"task_uuid\":\"00000000-0000-0000-0000-000000000000\",\"validation\":[]}");
}

static void power_operation(const struct head_call *c)
{
	struct exact op = argument(c, 0);
	const char *what = exact_str_at(op, "operation", c->a);
	struct exact_iter it;
	unsigned count = 0;

	exact_for_each(it, exact_member(op, "devices"))
	{
		struct sim_head_node *n = node_of(c->h, exact_str(it.value, c->a));

		if (!n || str_eq(head_member(n, "powerControl", c->a), "none"))
			continue;
		count++;
		head_power(n, what);
	}
	reply(c, arena_printf(c->a, "{\"count\":%u,\"index\":%u}", count, ++c->h->operations));
}

static void get_status(const struct head_call *c)
{
	struct exact_iter it;
	struct buf out;

	buf_init(&out, 16u << 20);
	buf_puts(&out, "[");
	exact_for_each(it, argument(c, 0))
	{
		const struct sim_head_node *n = node_of(c->h, exact_str(it.value, c->a));

		if (!n)
			continue;
		buf_puts(&out, out.len > 1 ? "," : "");
		buf_puts(&out, head_status(n, c->a));
	}
	buf_puts(&out, "]");
	reply(c, out.data);
	buf_done(&out);
}

static void get_categories(const struct head_call *c)
{
	reply(c, head_categories());
}

static void get_images(const struct head_call *c)
{
	reply(c, head_images());
}

static void get_networks(const struct head_call *c)
{
	reply(c, head_networks());
}

static const struct {
	const char *name;
	void (*answer)(const struct head_call *c);
} calls[] = {
	{"cmdevice.getDevices", get_devices},	      {"cmdevice.getNodes", get_devices},
	{"cmdevice.getDevice", get_device},	      {"cmdevice.updateDevice", update_device},
	{"cmdevice.getCategories", get_categories},   {"cmdevice.powerOperation", power_operation},
	{"cmpart.getSoftwareImages", get_images},     {"cmnet.getNetworks", get_networks},
	{"cmstatus.getStatusForDevices", get_status},
};

/* --- logins and calls ------------------------------------------------------------------------- */

static void dispatch(struct httpd_req *q, void *arg);

static bool by_certificate(const struct sim_head *h, const struct httpd_req *q)
{
	const char *cn = httpd_identity(q)->cert_subject_cn;

	return h->cert_cn && cn && str_eq(cn, h->cert_cn);
}

static bool by_cookie(const struct sim_head *h, const struct httpd_req *q)
{
	const char *sent = httpd_header(q, "Cookie");

	return h->cookie[0] && sent && str_starts(sent, "cm-login-token=") &&
	       str_eq(sent + strlen("cm-login-token="), h->cookie);
}

static void log_in(const struct head_call *c, struct exact body)
{
	const char *user = exact_str_at(body, "username", c->a);
	const char *password = exact_str_at(body, "password", c->a);
	uint8_t raw[16];

	if (!str_eq(user, c->h->user) || !password ||
	    !secret_equal_bytes(c->h->password, password, strlen(password))) {
		reply(c, "false");
		return;
	}
	loop_random_bytes(loop_of(c->h->group), raw, sizeof(raw));
	str_hex(c->h->cookie, raw, sizeof(raw));
	httpd_reply_header(
		c->q, "Set-Cookie",
		arena_printf(c->a, "cm-login-token=%s; Path=/; Secure; HttpOnly", c->h->cookie));
	reply(c, "true");
}

static void count(struct sim_head *h, const char *name)
{
	unsigned *n = map_get(h->counts, name);

	if (!n) {
		n = mem_new(unsigned);
		map_put(h->counts, name, n);
	}
	++*n;
}

unsigned sim_head_count(const struct sim_head *h, const char *call)
{
	const unsigned *n = map_get(h->counts, call);

	return n ? *n : 0;
}

/* Applies the faults that answer a call without executing it. Returns true if a fault applied. */
static bool fault_first(const struct head_call *c)
{
	struct fault *f;

	if ((f = head_fault(c->h, "ErrorMessage", c->name)) != NULL)
		reply_error(c, str_or(f->text, "boom"));
	else if (head_fault(c->h, "Null", c->name))
		reply(c, "null");
	else if (head_fault(c->h, "Denied", c->name))
		reply_error(c,
			    arena_printf(c->a, "Certificate does not allow access to %s", c->name));
	else if (head_fault(c->h, "NoCall", c->name))
		reply_error(c, arena_printf(c->a, "no such call: %s", c->name));
	else if ((f = head_fault(c->h, "Status", c->name)) != NULL)
		httpd_reply(c->q, (int)f->value, "text/plain", "injected fault", 14);
	else if (head_fault(c->h, "Hang", c->name))
		sim_delay(&c->h->delays, c->q, SIM_DELAY_NEVER, dispatch, c->h);
	else
		return false;
	return true;
}

static void answer(struct head_call *c)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (strcasecmp(calls[i].name, c->name) == 0) {
			c->name = calls[i].name;
			if (fault_first(c))
				return;
			c->lost = head_fault(c->h, "LostReply", c->name);
			calls[i].answer(c);
			return;
		}
	reply_error(c, arena_printf(c->a, "no such call: %s", c->name));
}

static void dispatch(struct httpd_req *q, void *arg)
{
	struct sim_head *h = arg;
	OWN(arena) a = arena_new();
	size_t len;
	const char *text = httpd_body(q, &len), *service, *name;
	struct head_call c = {.h = h, .q = q, .a = a};
	struct exact body;
	struct err e;

	if (exact_read(text, len, &body, &e) < 0 || exact_kind(body) != EXACT_OBJECT) {
		httpd_reply(q, 400, "text/plain", "not a JSON object", 17);
		return;
	}
	service = str_or(exact_str_at(body, "service", a), "");
	if (str_eq(service, "login")) {
		log_in(&c, body);
		return;
	}
	name = str_or(exact_str_at(body, "call", a), "");
	c.name = arena_printf(a, "%s.%s", service, name);
	c.args = exact_member(body, "args");
	count(h, c.name);
	answer(&c);
}

static void on_json(struct httpd_req *q, void *arg)
{
	struct sim_head *h = arg;
	OWN(arena) a = arena_new();
	size_t len;
	const char *text = httpd_body(q, &len);
	struct exact body = {0};
	struct fault *f;
	struct err e;
	const char *name = "";

	if (exact_read(text, len, &body, &e) == 0)
		name = arena_printf(a, "%s.%s", str_or(exact_str_at(body, "service", a), ""),
				    str_or(exact_str_at(body, "call", a), ""));
	if (loop_timer_active(&h->back)) {
		httpd_reply(q, 503, "text/plain", "cmd is not running", 18);
		return;
	}
	if (head_fault(h, "Expire", name))
		h->cookie[0] = '\0';
	if (!by_certificate(h, q) && !by_cookie(h, q) &&
	    !str_eq(exact_str_at(body, "service", a), "login")) {
		httpd_reply(q, 401, "text/plain", "log in", 6);
		return;
	}
	f = head_fault(h, "Slow", name);
	if (f)
		sim_delay(&h->delays, q, f->value, dispatch, h);
	else
		dispatch(q, h);
}

/* --- REST ------------------------------------------------------------------------------------- */

static bool by_basic(const struct sim_head *h, const struct httpd_req *q)
{
	const char *sent = httpd_header(q, "Authorization");
	char *text, *want;
	struct err e;
	size_t n;
	bool same;

	if (!sent || !str_starts(sent, "Basic ") || !h->user)
		return false;
	text = crypto_base64_decode(sent + 6, strlen(sent + 6), &n, &e);
	want = mem_printf("%s:%s", h->user, secret_expose(h->password));
	same = text && str_eq(text, want);
	secret_wipe(want, strlen(want));
	free(want);
	free(text);
	return same;
}

static bool may_rest(struct sim_head *h, struct httpd_req *q, const char *name)
{
	struct fault *f;

	if (loop_timer_active(&h->back)) {
		httpd_reply(q, 503, "text/plain", "cmd is not running", 18);
		return false;
	}
	if (!by_certificate(h, q) && !by_basic(h, q)) {
		httpd_reply(q, 401, "text/plain", "log in", 6);
		return false;
	}
	f = head_fault(h, "Status", name);
	if (f)
		httpd_reply(q, (int)f->value, "text/plain", "injected fault", 14);
	return !f;
}

static void on_version(struct httpd_req *q, void *arg)
{
	struct sim_head *h = arg;
	OWN(arena) a = arena_new();

	if (may_rest(h, q, "rest.version"))
		httpd_reply_json(q, 200,
				 arena_printf(a,
					      "{\"cm_version\":\"%s\","
					      "\"cmd_version\":\"3.1\",\"build_hash\":\"0000000\","
					      "\"build_index\":1,\"database_version\":36}",
					      h->version));
}

static void on_status(struct httpd_req *q, void *arg)
{
	struct sim_head *h = arg;
	OWN(arena) a = arena_new();
	const char *list = "";
	struct map_iter it;

	if (!may_rest(h, q, "rest.status"))
		return;
	map_for_each (it, h->nodes) {
		const struct sim_head_node *n = it.value;

		list = arena_printf(a, "%s%s{\"hostname\":\"%s\",\"status\":\"%s\"}", list,
				    *list ? "," : "", n->name, sim_head_state(n));
	}
	httpd_reply_json(q, 200, arena_printf(a, "[%s]", list));
}

/* --- requests of users ------------------------------------------------------------------------ */

static void on_nodes(struct httpd_req *q, void *arg)
{
	struct sim_head *h = arg;
	OWN(arena) a = arena_new();
	struct map_iter it;
	struct buf out;

	buf_init(&out, 16u << 20);
	buf_puts(&out, "[");
	map_for_each (it, h->nodes) {
		const struct sim_head_node *n = it.value;

		buf_printf(&out, "%s{\"hostname\":\"%s\",\"on\":%s,\"status\":%s}",
			   out.len > 1 ? ",\n" : "", n->name, n->on ? "true" : "false",
			   head_status(n, a));
	}
	buf_puts(&out, "]\n");
	httpd_reply_json(q, 200, out.data);
	buf_done(&out);
}

static struct sim_head_node *asked_for(struct httpd_req *q, struct sim_head *h)
{
	struct sim_head_node *n = sim_head_node(h, httpd_segment(q, 0));

	if (!n)
		httpd_reply(q, 404, "text/plain", "no such node", 12);
	return n;
}

static void on_one(struct httpd_req *q, void *arg)
{
	const struct sim_head_node *n = asked_for(q, arg);

	if (n)
		httpd_reply_json(q, 200, sim_head_device(n));
}

static void on_close(struct httpd_req *q, void *arg)
{
	struct sim_head_node *n = asked_for(q, arg);
	struct err e;
	size_t len;
	const char *text = httpd_body(q, &len);
	OWN_JSON o = n && len ? json_parse(text, len, &e) : json_object();

	if (!n)
		return;
	sim_head_close(n, !json_is_false(json_at(o, "closed")));
	httpd_reply_json(q, 200, "{}");
}

static void on_faults(struct httpd_req *q, void *arg)
{
	struct err e;
	size_t len;

	if (str_eq(httpd_method(q), "DELETE")) {
		sim_head_well(arg);
		httpd_reply_json(q, 200, "{}");
	} else if (sim_head_fault(arg, httpd_body(q, &len), &e) < 0) {
		httpd_reply_err(q, &e);
	} else {
		httpd_reply_json(q, 200, "{}");
	}
}

static void on_restart(struct httpd_req *q, void *arg)
{
	struct err e;
	size_t len;
	const char *text = httpd_body(q, &len);
	OWN_JSON o = len ? json_parse(text, len, &e) : json_object();

	if (!o) {
		httpd_reply_err(q, &e);
		return;
	}
	sim_head_restart(arg, json_at(o, "ms") ? json_int_at(o, "ms") : 5 * SECOND);
	httpd_reply_json(q, 200, "{}");
}

static void on_set_version(struct httpd_req *q, void *arg)
{
	struct sim_head *h = arg;
	struct err e;
	size_t len;
	const char *text = httpd_body(q, &len);
	OWN_JSON o = json_parse(text, len, &e);

	if (!json_str_at(o, "version")) {
		err_note(&e, ERR_INVALID, 0, "version: want a text such as 11.0");
		httpd_reply_err(q, &e);
		return;
	}
	str_copy(h->version, sizeof(h->version), json_str_at(o, "version"));
	httpd_reply_json(q, 200, "{}");
}

/* --- start and end ---------------------------------------------------------------------------- */

static void on_back(void *arg)
{
	struct sim_head *h = arg;
	struct map_iter it;

	map_for_each (it, h->nodes)
		head_begin_again(it.value);
}

void sim_head_restart(struct sim_head *h, int64_t gone_ms)
{
	h->cookie[0] = '\0';
	loop_timer_start(&h->back, gone_ms);
}

struct sim_head_node *sim_head_node(struct sim_head *h, const char *name)
{
	return map_get(h->nodes, name);
}

void sim_head_routes(struct sim_head *h, struct httpd *d)
{
	httpd_route(d, "POST", "/json", BODY_MAX, on_json, h);
	httpd_route(d, "GET", "/rest/v1/version", 0, on_version, h);
	httpd_route(d, "GET", "/rest/v1/status", 0, on_status, h);
	httpd_route(d, "GET", "/sim/nodes", 0, on_nodes, h);
	httpd_route(d, "GET", "/sim/nodes/{}", 0, on_one, h);
	httpd_route(d, "POST", "/sim/nodes/{}/close", 4096, on_close, h);
	httpd_route(d, "POST", "/sim/faults", 4096, on_faults, h);
	httpd_route(d, "DELETE", "/sim/faults", 0, on_faults, h);
	httpd_route(d, "POST", "/sim/restart", 4096, on_restart, h);
	httpd_route(d, "PUT", "/sim/version", 4096, on_set_version, h);
}

struct sim_head *sim_head_new(struct loop_group *g, const struct sim_head_spec *s)
{
	struct sim_head *h = mem_new(struct sim_head);

	h->group = g;
	h->user = mem_strdup(s->user);
	h->password = secret_copy(s->password);
	h->cert_cn = mem_strdup(s->cert_cn);
	str_copy(h->version, sizeof(h->version), str_or(s->version, "11.0"));
	h->boot_ms = s->boot_ms ? s->boot_ms : 3 * SECOND;
	h->install_ms = s->install_ms ? s->install_ms : 20 * SECOND;
	h->nodes = map_new(head_node_free);
	h->counts = map_new(free);
	list_init(&h->faults);
	sim_delays_init(&h->delays, g);
	loop_timer_init(&h->back, g, on_back, h);
	return h;
}

void sim_head_free(struct sim_head *h)
{
	if (!h)
		return;
	sim_delays_done(&h->delays);
	sim_head_well(h);
	loop_timer_stop(&h->back);
	map_free(h->nodes);
	map_free(h->counts);
	secret_free(h->password);
	free(h->user);
	free(h->cert_cn);
	free(h);
}
