#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/http_mem.h"
#include "base/json.h"
#include "base/loop_sim.h"
#include "base/mem.h"
#include "base/str.h"
#include "providers/provider.h"
#include "redfish/redfish.h"
#include "sim/rack.h"

/*
 * The BMC by itself, request by request, and as drover's own client sees it.
 */
#define BMC "https://127.10.0.2:8443"
#define SYSTEM "/redfish/v1/Systems/1"
#define RESET SYSTEM "/Actions/ComputerSystem.Reset"
#define SLOT "/redfish/v1/Managers/1/VirtualMedia/Cd"
#define INSERT SLOT "/Actions/VirtualMedia.InsertMedia"
#define SESSIONS "/redfish/v1/SessionService/Sessions"
#define IMAGE "http://10.0.0.9/boot/abc/agent.iso"

struct bench {
	struct loop *loop;
	struct loop_group *hardware, *group;
	struct http_mem_net *net;
	struct httpd *httpd;
	struct http *http, *machines_http;
	struct http_peer *peer;
	struct secret *password, *wrong;
	struct arena *arena;
	struct sim_faults faults;
	struct sim_rack *rack;
	struct sim_machine *m;
	char token[80];
	/* of the last call */
	bool done;
	int status;
	struct err err;
	char etag[40], location[120], retry_after[16], allow[64], type[40], link[120];
	char token_sent[80];
	json_t *json;
	char *text;
};

static void begin(struct bench *b, const char *faults)
{
	struct sim_rack_spec s = {.machines = 2, .drive_bytes = 1 << 20, .user = "admin"};
	struct http_peer_spec peer = {.base_url = BMC, .max_in_flight = 4};
	struct err e;

	*b = (struct bench){.loop = loop_sim_new(7, 1764000000000)};
	b->hardware = loop_group_new(b->loop, "hardware");
	b->group = loop_group_new(b->loop, "client");
	b->net = http_mem_net_new(b->loop);
	b->httpd = httpd_new(b->hardware);
	b->http = http_new(b->group, http_mem_transport(b->net, b->group, "10.0.0.1", NULL, NULL), 0);
	b->machines_http = http_new(
		b->hardware, http_mem_transport(b->net, b->hardware, "10.0.0.2", NULL, NULL), 0);
	b->password = secret_from_str("correct horse");
	b->wrong = secret_from_str("wrong");
	b->arena = arena_new();
	if (faults)
		assert_ok(sim_faults_read(faults, strlen(faults), b->arena, &b->faults, &e), &e);
	s.password = b->password;
	s.http = b->machines_http;
	s.faults = &b->faults;
	b->rack = sim_rack_new(b->hardware, &s, &e);
	if (!b->rack)
		fail_msg("%s", e.text);
	b->m = sim_rack_machine(b->rack, 1);
	sim_rack_routes(b->rack, b->httpd);
	http_mem_serve(b->net, BMC, b->httpd);
	http_mem_pin(b->net, BMC,
		     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
	peer.pin_sha256 = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
	b->peer = http_peer_new(b->http, &peer, &e);
	if (!b->peer)
		fail_msg("%s", e.text);
}

static void end(struct bench *b)
{
	json_decref(b->json);
	free(b->text);
	http_peer_free(b->peer);
	http_free(b->http);
	httpd_free(b->httpd);
	sim_rack_free(b->rack);
	http_free(b->machines_http);
	http_mem_net_free(b->net);
	arena_free(b->arena);
	secret_free(b->password);
	secret_free(b->wrong);
	loop_group_free(b->group);
	loop_group_free(b->hardware);
	loop_free(b->loop);
}

static void keep(char *out, size_t size, const struct http_reply *r, const char *name)
{
	str_copy(out, size, str_or(http_reply_header(r, name), ""));
}

static void on_done(const struct http_reply *r, const struct err *e, void *arg)
{
	struct bench *b = arg;
	struct err ignored;

	b->done = true;
	b->status = r ? r->status : 0;
	b->err = e ? *e : (struct err){0};
	if (!r)
		return;
	keep(b->etag, sizeof(b->etag), r, "ETag");
	keep(b->location, sizeof(b->location), r, "Location");
	keep(b->retry_after, sizeof(b->retry_after), r, "Retry-After");
	keep(b->allow, sizeof(b->allow), r, "Allow");
	keep(b->type, sizeof(b->type), r, "Content-Type");
	keep(b->link, sizeof(b->link), r, "Link");
	keep(b->token_sent, sizeof(b->token_sent), r, "X-Auth-Token");
	b->text = mem_strndup(r->body, r->body_len);
	b->json = json_parse(r->body, r->body_len, &ignored);
}

static bool is_done(void *arg)
{
	return ((struct bench *)arg)->done;
}

/* One call; the header "Name: value" or NULL.  Its status, 0 without an answer in a minute. */
static int call(struct bench *b, const char *method, const char *path, const char *body,
		const char *header)
{
	struct http_header h[2] = {{"X-Auth-Token", b->token}};
	struct http_call c = {.method = method,
			      .path = path,
			      .body = body,
			      .body_len = body ? strlen(body) : 0,
			      .headers = h,
			      .nheaders = 1,
			      .timeout_ms = 60000,
			      .done = on_done,
			      .arg = b};
	char name[64] = "";

	json_decref(b->json);
	free(b->text);
	b->json = NULL;
	b->text = NULL;
	b->done = false;
	if (!b->token[0]) {
		h[0] = (struct http_header){"X-Nothing", "1"};
	}
	if (header) {
		const char *colon = strchr(header, ':');

		memcpy(name, header, (size_t)(colon - header));
		h[c.nheaders++] = (struct http_header){name, colon + 2};
	}
	http_start(b->peer, &c);
	assert_true(loop_sim_run_cond(b->loop, is_done, b, loop_now(b->loop) + 120000));
	return b->status;
}

static int get(struct bench *b, const char *path)
{
	return call(b, "GET", path, NULL, NULL);
}

static void log_in(struct bench *b)
{
	b->token[0] = '\0';
	assert_int_equal(call(b, "POST", SESSIONS,
			      "{\"UserName\":\"admin\",\"Password\":\"correct horse\"}", NULL),
			 201);
	str_copy(b->token, sizeof(b->token), b->token_sent);
	assert_int_equal(strlen(b->token), 32);
}

static void pass(struct bench *b, int64_t ms)
{
	loop_sim_run_until(b->loop, loop_now(b->loop) + ms);
}

/* The MessageId of the nth message, without registry and version. */
static const char *message(struct bench *b, size_t n)
{
	const json_t *j = json_array_get(json_at(b->json, "error", "@Message.ExtendedInfo"), n);
	const char *id = json_str_at(j, "MessageId");

	if (!id)
		return "";
	assert_true(str_starts(id, "Base.1.18."));
	return id + strlen("Base.1.18.");
}

/* --- drover's own client -------------------------------------------------------------------------- */

struct seen {
	bool done, failed;
	struct err err;
	enum redfish_power power;
	bool inserted;
	char uuid[40], serial[40], target[32], image[128];
};

static void on_system(const struct redfish_system *s, const struct err *e, void *arg)
{
	struct seen *o = arg;

	o->done = true;
	o->failed = e != NULL;
	if (e) {
		o->err = *e;
		return;
	}
	o->power = s->power;
	str_copy(o->uuid, sizeof(o->uuid), str_or(s->system_uuid, ""));
	str_copy(o->serial, sizeof(o->serial), str_or(s->serial, ""));
	str_copy(o->target, sizeof(o->target), str_or(s->boot_target, ""));
}

static void on_media(const struct redfish_media *m, const struct err *e, void *arg)
{
	struct seen *o = arg;

	o->done = true;
	o->failed = e != NULL;
	if (e) {
		o->err = *e;
		return;
	}
	o->inserted = m->inserted;
	str_copy(o->image, sizeof(o->image), str_or(m->image, ""));
}

static void on_plain(const struct err *e, void *arg)
{
	struct seen *o = arg;

	o->done = true;
	o->failed = e != NULL;
	if (e)
		o->err = *e;
}

static bool was_seen(void *arg)
{
	return ((struct seen *)arg)->done;
}

static void wait_seen(struct bench *b, struct seen *o)
{
	assert_true(loop_sim_run_cond(b->loop, was_seen, o, loop_now(b->loop) + 120000));
	if (o->failed)
		fail_msg("%s", o->err.text);
	o->done = false;
}

static struct redfish *client(struct bench *b)
{
	struct redfish_spec s = {
		.system_url = BMC,
		.pin_sha256 = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		.user = "admin",
		.password = b->password};
	struct err e;
	struct redfish *r = redfish_new(b->group, b->http, &s, &e);

	if (!r)
		fail_msg("%s", e.text);
	return r;
}

static void walk(struct bench *b)
{
	struct redfish *r = client(b);
	struct seen o = {0};

	redfish_read_system(r, on_system, &o);
	wait_seen(b, &o);
	assert_int_equal(o.power, REDFISH_POWER_OFF);
	assert_string_equal(o.uuid, b->m->uuid);
	assert_string_equal(o.serial, b->m->serial);

	redfish_insert(r, IMAGE, on_plain, &o);
	wait_seen(b, &o);
	redfish_read_media(r, on_media, &o);
	wait_seen(b, &o);
	assert_true(o.inserted);
	assert_string_equal(o.image, IMAGE);
	assert_string_equal(b->m->image, IMAGE);
	redfish_boot(r, REDFISH_BOOT_CD, NULL, on_plain, &o);
	wait_seen(b, &o);
	assert_string_equal(b->m->boot_target, "Cd");

	redfish_power(r, true, on_plain, &o);
	wait_seen(b, &o);
	pass(b, 5000);
	redfish_read_system(r, on_system, &o);
	wait_seen(b, &o);
	assert_int_equal(o.power, REDFISH_POWER_ON);
	assert_true(b->m->on);

	redfish_power(r, false, on_plain, &o);
	wait_seen(b, &o);
	pass(b, 5000);
	assert_false(b->m->on);
	redfish_eject(r, on_plain, &o);
	wait_seen(b, &o);
	assert_null(b->m->image);
	redfish_boot(r, REDFISH_BOOT_NONE, NULL, on_plain, &o);
	wait_seen(b, &o);
	redfish_read_system(r, on_system, &o);
	wait_seen(b, &o);
	assert_string_equal(o.target, "None");
	redfish_free(r);
}

static void drovers_client_does_all_it_wants(void **state)
{
	struct bench b;

	(void)state;
	begin(&b, NULL);
	walk(&b);
	end(&b);
}

/* --- protocol ------------------------------------------------------------------------------------- */

static void the_root_is_open_and_the_rest_is_not(void **state)
{
	struct bench b;

	(void)state;
	begin(&b, NULL);
	assert_int_equal(get(&b, "/redfish"), 200);
	assert_string_equal(json_str_at(b.json, "v1"), "/redfish/v1/");
	assert_int_equal(get(&b, "/redfish/v1/"), 200);
	assert_string_equal(json_str_at(b.json, "@odata.id"), "/redfish/v1/");
	assert_true(str_starts(b.link, "<http://redfish.dmtf.org/schemas/v1/ServiceRoot."));
	assert_int_equal(get(&b, "/redfish/v1/odata"), 200);
	assert_int_equal(get(&b, "/redfish/v1/$metadata"), 200);
	assert_true(str_starts(b.type, "application/xml"));
	assert_int_equal(get(&b, SYSTEM), 401);
	assert_string_equal(message(&b, 0), "NoValidSession");
	assert_int_equal(get(&b, "/redfish/v1/Nothing"), 401);
	log_in(&b);
	assert_int_equal(get(&b, SYSTEM), 200);
	assert_int_equal(get(&b, "/redfish/v1/Nothing"), 404);
	assert_string_equal(message(&b, 0), "ResourceMissingAtURI");
	end(&b);
}

/* Every link that is found is followed: each leads somewhere, and says who it is. */
static void follow(struct bench *b, json_t *known, const json_t *j)
{
	const char *name;
	size_t i;
	json_t *v;

	if (json_is_array(j))
		json_array_foreach (j, i, v)
			follow(b, known, v);
	if (!json_is_object(j))
		return;
	json_object_foreach ((json_t *)j, name, v) {
		if (str_eq(name, "@odata.id") && !json_object_get(known, json_string_value(v)))
			json_object_set_new(known, json_string_value(v), json_false());
		else
			follow(b, known, v);
	}
}

static void every_link_leads_somewhere(void **state)
{
	OWN_JSON known = json_object();
	struct bench b;
	bool more = true;

	(void)state;
	begin(&b, NULL);
	log_in(&b);
	json_object_set_new(known, "/redfish/v1/", json_false());
	while (more) {
		const char *path;
		json_t *v;

		more = false;
		json_object_foreach (known, path, v) {
			if (json_is_true(v))
				continue;
			if (get(&b, path) != 200)
				fail_msg("%s: %d", path, b.status);
			assert_string_equal(json_str_at(b.json, "@odata.id"), path);
			assert_string_equal(json_str_at(b.json, "@odata.etag"), b.etag);
			json_object_set_new(known, path, json_true());
			follow(&b, known, b.json);
			more = true;
			break;
		}
	}
	assert_true(json_object_size(known) > 40);
	end(&b);
}

static void wrong_methods_bodies_and_queries_are_told_apart(void **state)
{
	static const struct {
		const char *method, *path, *body, *header;
		int status;
		const char *message;
	} cases[] = {
		{"DELETE", SYSTEM, NULL, NULL, 405, "OperationNotAllowed"},
		{"PUT", SYSTEM, "{}", NULL, 405, "OperationNotAllowed"},
		{"POST", SYSTEM, "{}", NULL, 405, "OperationNotAllowed"},
		{"GET", RESET, NULL, NULL, 405, "OperationNotAllowed"},
		{"PATCH", SYSTEM, "{", NULL, 400, "MalformedJSON"},
		{"PATCH", SYSTEM, "[]", NULL, 400, "UnrecognizedRequestBody"},
		{"PATCH", SYSTEM, NULL, NULL, 400, "MalformedJSON"},
		{"PATCH", SYSTEM, "{}", NULL, 400, "EmptyJSON"},
		{"PATCH", SYSTEM, "{\"@odata.id\":\"/x\"}", NULL, 400, "NoOperation"},
		{"PATCH", SYSTEM, "{\"Nonsense\":1}", NULL, 400, "PropertyUnknown"},
		{"PATCH", SYSTEM, "{\"UUID\":\"1\"}", NULL, 400, "PropertyNotWritable"},
		{"PATCH", SYSTEM, "{\"AssetTag\":1}", NULL, 400, "PropertyValueTypeError"},
		{"PATCH", SYSTEM, "{\"Boot\":{\"BootSourceOverrideTarget\":\"Moon\"}}", NULL, 400,
		 "PropertyValueNotInList"},
		{"PATCH", "/redfish/v1/SessionService", "{\"SessionTimeout\":1}", NULL, 400,
		 "PropertyValueOutOfRange"},
		{"PATCH", SYSTEM, "{\"AssetTag\":\"x\"}", "Content-Type: text/plain", 415,
		 "UnrecognizedRequestBody"},
		{"POST", RESET, "{}", NULL, 400, "ActionParameterMissing"},
		{"POST", RESET, NULL, NULL, 400, "ActionParameterMissing"},
		{"POST", RESET, "{\"ResetType\":\"Off\"}", NULL, 400,
		 "ActionParameterValueNotInList"},
		{"POST", RESET, "{\"ResetType\":1}", NULL, 400, "ActionParameterValueTypeError"},
		{"POST", RESET, "{\"ResetType\":\"On\",\"Why\":1}", NULL, 400,
		 "ActionParameterUnknown"},
		{"POST", INSERT, "{\"Image\":\"ftp://x/y\"}", NULL, 400,
		 "ActionParameterValueNotInList"},
		{"GET", SYSTEM "?$expand=*", NULL, NULL, 501, "QueryNotSupported"},
		{"GET", SYSTEM, NULL, "OData-Version: 3.0", 412, "HeaderInvalid"},
	};
	struct bench b;

	(void)state;
	begin(&b, NULL);
	log_in(&b);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int status = call(&b, cases[i].method, cases[i].path, cases[i].body, cases[i].header);

		if (status != cases[i].status || !str_eq(message(&b, 0), cases[i].message))
			fail_msg("%s %s %s: %d %s", cases[i].method, cases[i].path, cases[i].body,
				 status, message(&b, 0));
		if (status == 405)
			assert_true(b.allow[0]);
	}
	assert_false(b.m->on);
	assert_int_equal(get(&b, SYSTEM "?nonsense=1"), 200);
	assert_string_equal(b.allow, "GET, HEAD, PATCH");
	end(&b);
}

static void an_etag_guards_what_it_was_read_from(void **state)
{
	struct bench b;
	char match[64], old[64];

	(void)state;
	begin(&b, NULL);
	log_in(&b);
	assert_int_equal(get(&b, SYSTEM), 200);
	str_format(old, sizeof(old), "If-Match: %s", b.etag);
	str_format(match, sizeof(match), "If-None-Match: %s", b.etag);
	assert_int_equal(call(&b, "GET", SYSTEM, NULL, match), 304);
	assert_int_equal(call(&b, "PATCH", SYSTEM, "{\"AssetTag\":\"a\"}", old), 200);
	assert_string_equal(json_str_at(b.json, "AssetTag"), "a");
	assert_int_equal(call(&b, "PATCH", SYSTEM, "{\"AssetTag\":\"b\"}", old), 412);
	assert_string_equal(message(&b, 0), "PreconditionFailed");
	assert_int_equal(call(&b, "PATCH", SYSTEM, "{\"AssetTag\":\"c\"}", "If-Match: *"), 200);
	assert_int_equal(call(&b, "GET", SYSTEM, NULL, match), 200);
	assert_string_equal(json_str_at(b.json, "AssetTag"), "c");
	/* A clock is no change. */
	assert_int_equal(get(&b, "/redfish/v1/Managers/1"), 200);
	str_format(match, sizeof(match), "If-None-Match: %s", b.etag);
	pass(&b, 5000);
	assert_int_equal(call(&b, "GET", "/redfish/v1/Managers/1", NULL, match), 304);
	end(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(drovers_client_does_all_it_wants),
		cmocka_unit_test(the_root_is_open_and_the_rest_is_not),
		cmocka_unit_test(every_link_leads_somewhere),
		cmocka_unit_test(wrong_methods_bodies_and_queries_are_told_apart),
		cmocka_unit_test(an_etag_guards_what_it_was_read_from),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
