#include "tests/unit/sim/bmc/bench.h"

/*
 * Tests the simulated BMC alone, request by request.
 */
/* --- protocol --------------------------------------------------------------------------------- */

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

/* Follows every link in j. Each must lead to a resource with its own @odata.id and type. */
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
		int status =
			call(&b, cases[i].method, cases[i].path, cases[i].body, cases[i].header);

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
	/* The BMC's clock is not part of the ETag. */
	assert_int_equal(get(&b, "/redfish/v1/Managers/1"), 200);
	str_format(match, sizeof(match), "If-None-Match: %s", b.etag);
	pass(&b, 5000);
	assert_int_equal(call(&b, "GET", "/redfish/v1/Managers/1", NULL, match), 304);
	end(&b);
}

static void power_and_boot_do_what_they_are_told(void **state)
{
	struct bench b;

	(void)state;
	begin(&b, NULL);
	log_in(&b);
	assert_int_equal(call(&b, "PATCH", SYSTEM,
			      "{\"Boot\":{\"BootSourceOverrideTarget\":\"UefiHttp\","
			      "\"HttpBootUri\":\"http://10.0.0.9/x\"}}",
			      NULL),
			 200);
	assert_string_equal(b.m->boot_target, "UefiHttp");
	assert_string_equal(b.m->boot_enabled, "Once");
	assert_string_equal(b.m->http_boot_uri, "http://10.0.0.9/x");
	/* Target None and Enabled Disabled mean the same: setting one sets the other. */
	assert_int_equal(call(&b, "PATCH", SYSTEM,
			      "{\"Boot\":{\"BootSourceOverrideTarget\":\"None\"}}", NULL),
			 200);
	assert_string_equal(json_str_at(b.json, "Boot", "BootSourceOverrideEnabled"), "Disabled");
	assert_int_equal(call(&b, "PATCH", SYSTEM,
			      "{\"Boot\":{\"BootSourceOverrideTarget\":\"Cd\","
			      "\"BootSourceOverrideEnabled\":\"Continuous\"}}",
			      NULL),
			 200);
	assert_string_equal(b.m->boot_enabled, "Continuous");
	assert_int_equal(call(&b, "PATCH", SYSTEM,
			      "{\"Boot\":{\"BootSourceOverrideEnabled\":\"Disabled\"}}", NULL),
			 200);
	assert_string_equal(json_str_at(b.json, "Boot", "BootSourceOverrideTarget"), "None");
	assert_int_equal(call(&b, "PATCH", SYSTEM,
			      "{\"Boot\":{\"BootSourceOverrideTarget\":\"UefiHttp\"}}", NULL),
			 200);
	assert_string_equal(b.m->boot_enabled, "Once");
	assert_int_equal(call(&b, "POST", RESET, "{\"ResetType\":\"On\"}", NULL), 204);
	get(&b, SYSTEM);
	assert_string_equal(json_str_at(b.json, "PowerState"), "PoweringOn");
	pass(&b, 1000);
	get(&b, SYSTEM);
	assert_string_equal(json_str_at(b.json, "PowerState"), "On");
	assert_string_equal(json_str_at(b.json, "BootProgress", "LastState"),
			    "SystemHardwareInitializationComplete");
	/* The firmware resets the override Once as soon as it has read it. */
	pass(&b, 5000);
	get(&b, SYSTEM);
	assert_string_equal(json_str_at(b.json, "Boot", "BootSourceOverrideTarget"), "None");
	assert_string_equal(json_str_at(b.json, "Boot", "BootSourceOverrideEnabled"), "Disabled");
	assert_int_equal(b.m->boots, 1);
	assert_int_equal(call(&b, "POST", RESET, "{\"ResetType\":\"ForceRestart\"}", NULL), 204);
	pass(&b, 5000);
	assert_int_equal(b.m->boots, 2);
	assert_int_equal(call(&b, "POST", RESET, "{\"ResetType\":\"PowerCycle\"}", NULL), 204);
	pass(&b, 5000);
	assert_true(b.m->on);
	assert_int_equal(b.m->boots, 3);
	assert_int_equal(call(&b, "POST", RESET, "{\"ResetType\":\"PushPowerButton\"}", NULL), 204);
	get(&b, SYSTEM);
	assert_string_equal(json_str_at(b.json, "PowerState"), "PoweringOff");
	pass(&b, 5000);
	assert_false(b.m->on);
	end(&b);
}

static void a_slot_takes_one_medium(void **state)
{
	struct bench b;

	(void)state;
	begin(&b, NULL);
	log_in(&b);
	assert_int_equal(call(&b, "POST", INSERT, "{\"Image\":\"" IMAGE "\"}", NULL), 204);
	get(&b, SLOT);
	assert_string_equal(json_str_at(b.json, "Image"), IMAGE);
	assert_string_equal(json_str_at(b.json, "ImageName"), "agent.iso");
	assert_string_equal(json_str_at(b.json, "ConnectedVia"), "URI");
	assert_true(json_true_at(b.json, "Inserted"));
	assert_int_equal(call(&b, "POST", INSERT, "{\"Image\":\"http://b/c\"}", NULL), 409);
	assert_string_equal(message(&b, 0), "ResourceInUse");
	assert_int_equal(call(&b, "POST", EJECT, NULL, NULL), 204);
	assert_int_equal(call(&b, "POST", EJECT, "{}", NULL), 204);
	get(&b, SLOT);
	assert_false(json_true_at(b.json, "Inserted"));
	assert_true(json_is_null(json_object_get(b.json, "Image")));
	end(&b);
}

/* --- sessions and accounts -------------------------------------------------------------------- */

#define LOGIN "{\"UserName\":\"admin\",\"Password\":\"correct horse\"}"
#define WRONG "{\"UserName\":\"admin\",\"Password\":\"wrong\"}"
#define ADMIN_BASIC "Authorization: Basic YWRtaW46Y29ycmVjdCBob3JzZQ=="

static void sessions_are_few_and_end(void **state)
{
	char first[120], token[80];
	struct bench b;

	(void)state;
	begin(&b, NULL);
	log_in(&b);
	str_copy(first, sizeof(first), b.location);
	str_copy(token, sizeof(token), b.token);
	assert_true(str_starts(first, SESSIONS "/"));
	for (int i = 1; i < 8; i++)
		assert_int_equal(call(&b, "POST", SESSIONS, LOGIN, NULL), 201);
	assert_int_equal(call(&b, "POST", SESSIONS, LOGIN, NULL), 503);
	assert_string_equal(message(&b, 0), "SessionLimitExceeded");
	assert_string_equal(b.retry_after, "30");
	assert_int_equal(call(&b, "DELETE", first, NULL, NULL), 204);
	assert_int_equal(get(&b, SYSTEM), 401);
	b.token[0] = '\0';
	assert_int_equal(call(&b, "POST", SESSIONS "/Members", LOGIN, NULL), 201);
	str_copy(b.token, sizeof(b.token), b.token_sent);
	assert_true(strcmp(token, b.token) != 0);
	assert_int_equal(
		call(&b, "PATCH", "/redfish/v1/SessionService", "{\"SessionTimeout\":60}", NULL),
		200);
	pass(&b, 50000);
	/* The session stays valid, because it was used in between. */
	assert_int_equal(get(&b, SYSTEM), 200);
	pass(&b, 50000);
	assert_int_equal(get(&b, SESSIONS), 200);
	assert_int_equal(json_int_at(b.json, "Members@odata.count"), 1);
	pass(&b, 61000);
	assert_int_equal(get(&b, SYSTEM), 401);
	end(&b);
}

static void a_guesser_is_locked_out_for_a_while(void **state)
{
	struct bench b;

	(void)state;
	begin(&b, NULL);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(call(&b, "POST", SESSIONS, WRONG, NULL), 401);
		assert_null(b.text ? strstr(b.text, "wrong") : NULL);
	}
	assert_int_equal(call(&b, "POST", SESSIONS, LOGIN, NULL), 401);
	assert_int_equal(call(&b, "GET", SYSTEM, NULL, ADMIN_BASIC), 401);
	pass(&b, 31000);
	assert_int_equal(call(&b, "GET", SYSTEM, NULL, ADMIN_BASIC), 200);
	assert_int_equal(call(&b, "POST", SESSIONS, LOGIN, NULL), 201);
	end(&b);
}

static void a_role_bounds_what_an_account_may(void **state)
{
#define ACCOUNTS "/redfish/v1/AccountService/Accounts"
	static const char eve[] = "Authorization: Basic ZXZlOmV2ZXNkcm9wcGVy";
	struct bench b;

	(void)state;
	begin(&b, NULL);
	log_in(&b);
	assert_int_equal(
		call(&b, "POST", ACCOUNTS,
		     "{\"UserName\":\"eve\",\"Password\":\"short\",\"RoleId\":\"ReadOnly\"}", NULL),
		400);
	assert_int_equal(
		call(&b, "POST", ACCOUNTS,
		     "{\"UserName\":\"eve\",\"Password\":\"evesdropper\",\"RoleId\":\"ReadOnly\"}",
		     NULL),
		201);
	assert_string_equal(b.location, ACCOUNTS "/2");
	assert_true(json_is_null(json_object_get(b.json, "Password")));
	b.token[0] = '\0';
	assert_int_equal(call(&b, "GET", SYSTEM, NULL, eve), 200);
	assert_int_equal(call(&b, "POST", RESET, "{\"ResetType\":\"On\"}", eve), 403);
	assert_string_equal(message(&b, 0), "InsufficientPrivilege");
	assert_int_equal(call(&b, "PATCH", SYSTEM, "{\"AssetTag\":\"e\"}", eve), 403);
	assert_int_equal(call(&b, "GET", ACCOUNTS "/1", NULL, eve), 403);
	assert_int_equal(call(&b, "PATCH", ACCOUNTS "/1", "{\"Password\":\"stolen12\"}", eve), 403);
	assert_int_equal(call(&b, "PATCH", ACCOUNTS "/2", "{\"RoleId\":\"Administrator\"}", eve),
			 400);
	assert_int_equal(call(&b, "PATCH", ACCOUNTS "/2", "{\"Password\":\"evesdropped\"}", eve),
			 200);
	assert_int_equal(call(&b, "GET", SYSTEM, NULL, eve), 401);
	assert_int_equal(call(&b, "DELETE", ACCOUNTS "/2", NULL, ADMIN_BASIC), 204);
	assert_int_equal(call(&b, "DELETE", ACCOUNTS "/1", NULL, ADMIN_BASIC), 405);
	pass(&b, 5000);
	assert_false(b.m->on);
	end(&b);
}

/* --- tasks and events ------------------------------------------------------------------------- */

#define ASYNC "Prefer: respond-async"

static void what_takes_time_becomes_a_task_on_request(void **state)
{
	char monitor[120], task[120];
	struct bench b;

	(void)state;
	begin(&b, NULL);
	log_in(&b);
	assert_int_equal(call(&b, "POST", RESET, "{\"ResetType\":\"On\"}", ASYNC), 202);
	str_copy(monitor, sizeof(monitor), b.location);
	assert_true(str_starts(monitor, "/redfish/v1/TaskService/TaskMonitors/"));
	assert_string_equal(b.retry_after, "1");
	assert_string_equal(json_str_at(b.json, "TaskState"), "Running");
	str_copy(task, sizeof(task), json_str_at(b.json, "@odata.id"));
	assert_int_equal(get(&b, monitor), 202);
	assert_int_equal(call(&b, "DELETE", task, NULL, NULL), 409);
	pass(&b, 2000);
	assert_true(b.m->on);
	assert_int_equal(get(&b, task), 200);
	assert_string_equal(json_str_at(b.json, "TaskState"), "Completed");
	assert_int_equal(json_int_at(b.json, "PercentComplete"), 100);
	assert_int_equal(get(&b, monitor), 204);
	/* The task of a PowerCycle ends when the power is on again, not when it is off. */
	assert_int_equal(call(&b, "POST", RESET, "{\"ResetType\":\"PowerCycle\"}", ASYNC), 202);
	pass(&b, 700);
	assert_false(b.m->on);
	assert_int_equal(get(&b, "/redfish/v1/TaskService/TaskMonitors/2"), 202);
	pass(&b, 2000);
	assert_true(b.m->on);
	assert_int_equal(get(&b, "/redfish/v1/TaskService/TaskMonitors/2"), 204);
	assert_int_equal(call(&b, "POST", INSERT, "{\"Image\":\"" IMAGE "\"}", ASYNC), 202);
	pass(&b, 2000);
	assert_int_equal(get(&b, b.location), 204);
	assert_string_equal(b.m->image, IMAGE);
	assert_int_equal(call(&b, "DELETE", task, NULL, NULL), 204);
	assert_int_equal(get(&b, task), 404);
	assert_int_equal(get(&b, monitor), 404);
	end(&b);
}

static void the_oldest_task_makes_room(void **state)
{
	struct bench b;

	(void)state;
	begin(&b, NULL);
	log_in(&b);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(call(&b, "POST", EJECT, NULL, ASYNC), 202);
		pass(&b, 1100);
	}
	get(&b, "/redfish/v1/TaskService/Tasks");
	assert_int_equal(json_int_at(b.json, "Members@odata.count"), 16);
	assert_int_equal(get(&b, "/redfish/v1/TaskService/Tasks/4"), 404);
	for (int i = 0; i < 16; i++)
		assert_int_equal(call(&b, "POST", EJECT, NULL, ASYNC), 202);
	assert_int_equal(call(&b, "POST", EJECT, NULL, ASYNC), 503);
	end(&b);
}

struct listener {
	char text[8192];
	size_t len;
	bool over;
};

static int on_piece(const char *data, size_t len, void *arg, struct err *e)
{
	struct listener *l = arg;

	(void)e;
	assert_true(l->len + len < sizeof(l->text));
	memcpy(l->text + l->len, data, len);
	l->len += len;
	l->text[l->len] = '\0';
	return 0;
}

static void on_over(const struct http_reply *r, const struct err *e, void *arg)
{
	(void)r;
	(void)e;
	((struct listener *)arg)->over = true;
}

static struct http_req *listen_to(struct bench *b, struct listener *l)
{
	struct http_header h = {"X-Auth-Token", b->token};

	*l = (struct listener){.len = 0};
	return http_start(b->peer, &(struct http_call){.path = "/redfish/v1/EventService/SSE",
						       .headers = &h,
						       .nheaders = 1,
						       .no_timeout = true,
						       .on_data = on_piece,
						       .done = on_over,
						       .arg = l});
}

static void events_stream_to_whoever_listens(void **state)
{
	struct listener l[5];
	struct bench b;
	struct http_req *q;

	(void)state;
	begin(&b, NULL);
	log_in(&b);
	q = listen_to(&b, &l[0]);
	pass(&b, 15000);
	assert_non_null(strstr(l[0].text, ": alive\n\n"));
	assert_null(strstr(l[0].text, "data: "));
	call(&b, "POST", RESET, "{\"ResetType\":\"On\"}", NULL);
	pass(&b, 3000);
	assert_non_null(strstr(l[0].text, "id: 1\ndata: {"));
	assert_non_null(strstr(l[0].text, "PowerStateChanged"));
	assert_non_null(strstr(l[0].text, SYSTEM));
	/* The stream of a client that disconnects becomes free. A fifth stream is refused. */
	http_cancel(q);
	pass(&b, 1000);
	b.token[0] = '\0';
	log_in(&b);
	for (int i = 0; i < 5; i++)
		listen_to(&b, &l[i]);
	pass(&b, 1000);
	for (int i = 0; i < 4; i++)
		assert_false(l[i].over);
	assert_true(l[4].over);
	end(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_root_is_open_and_the_rest_is_not),
		cmocka_unit_test(every_link_leads_somewhere),
		cmocka_unit_test(wrong_methods_bodies_and_queries_are_told_apart),
		cmocka_unit_test(an_etag_guards_what_it_was_read_from),
		cmocka_unit_test(power_and_boot_do_what_they_are_told),
		cmocka_unit_test(a_slot_takes_one_medium),
		cmocka_unit_test(sessions_are_few_and_end),
		cmocka_unit_test(a_guesser_is_locked_out_for_a_while),
		cmocka_unit_test(a_role_bounds_what_an_account_may),
		cmocka_unit_test(what_takes_time_becomes_a_task_on_request),
		cmocka_unit_test(the_oldest_task_makes_room),
		cmocka_unit_test(events_stream_to_whoever_listens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
