/* Tests the deviations of each simulated make of BMC. A client that only follows the specification
 * fails with every one of them. */
#include "tests/unit/sim/bmc/bench.h"

#include "sim/bmc/dialect.h"

#define LOGIN "{\"UserName\":\"admin\",\"Password\":\"correct horse\"}"
#define BASIC "Authorization: Basic YWRtaW46Y29ycmVjdCBob3JzZQ=="
#define ON "{\"ResetType\":\"On\"}"
#define OFF "{\"ResetType\":\"ForceOff\"}"
#define MEDIUM "{\"Image\":\"" IMAGE "\"}"
#define BOOT_CD                                                                                    \
	"{\"Boot\":{\"BootSourceOverrideTarget\":\"Cd\",\"BootSourceOverrideEnabled\":\"Once\"}}"
#define IDRAC "/redfish/v1/Systems/System.Embedded.1"

struct make {
	struct sim_dialects dialects;
	struct bench b;
	/* Number of times that the firmware downloaded the medium */
	unsigned fetched;
};

static void serve_medium(struct httpd_req *q, void *arg)
{
	((struct make *)arg)->fetched++;
	httpd_reply(q, 404, NULL, NULL, 0);
}

static void speak(struct make *m, const char *name)
{
	char port[64];

	struct err e;

	sim_dialects_init(&m->dialects);
	assert_ok(sim_dialects_add(&m->dialects, name, &e), &e);
	begin_as(&m->b, NULL, &m->dialects);
	m->fetched = 0;
	httpd_route(m->b.httpd, "GET", "/boot/**", 0, serve_medium, m);
	http_mem_serve(m->b.net, "http://10.0.0.9", m->b.httpd);
	str_format(port, sizeof(port), "/sim/ports/%s", m->b.m->mac);
	assert_int_equal(call(&m->b, "PUT", port, "{\"segment\":\"quarantine\"}", NULL), 200);
}

/* Creates a BMC of the make `name` and logs in. */
static struct bench *log_in_to(struct make *m, const char *name)
{
	speak(m, name);
	assert_int_equal(call(&m->b, "POST", SESSIONS, LOGIN, NULL), 201);
	str_copy(m->b.token, sizeof(m->b.token), m->b.token_sent);
	return &m->b;
}

static void fall_silent(struct make *m)
{
	end(&m->b);
	sim_dialects_done(&m->dialects);
}

static int post(struct bench *b, const char *path, const char *body)
{
	return call(b, "POST", path, body, NULL);
}

static int patch(struct bench *b, const char *path, const char *body)
{
	return call(b, "PATCH", path, body, NULL);
}

/* Sends a PATCH with the current ETag of the resource; returns the HTTP status. */
static int patch_tagged(struct bench *b, const char *path, const char *body)
{
	char header[80];

	assert_int_equal(get(b, path), 200);
	str_format(header, sizeof(header), "If-Match: %s", b->etag);
	return call(b, "PATCH", path, body, header);
}

static const char *id_of(struct bench *b)
{
	const json_t *info = json_at(b->json, "error", "@Message.ExtendedInfo");

	return str_or(
		json_str_at(json_is_array(info) ? json_array_get(info, 0) : info, "MessageId"), "");
}

static const char *member_at(struct bench *b, const char *path, const char *name)
{
	assert_int_equal(get(b, path), 200);
	return json_str_at(b->json, name);
}

/* Powers the machine on; true if its firmware downloaded the medium. */
static bool boots_medium(struct make *m)
{
	unsigned before = m->fetched;

	sim_machine_power(m->b.m, true);
	pass(&m->b, 30000);
	return m->fetched > before;
}

/* --- makes ------------------------------------------------------------------------------------ */

static void idrac9(void **state)
{
	static const char attributes[] = "/redfish/v1/Managers/iDRAC.Embedded.1/Oem/Dell/"
					 "DellAttributes/iDRAC.Embedded.1",
			  slot[] = IDRAC "/VirtualMedia/1",
			  insert[] = IDRAC "/VirtualMedia/1/Actions/VirtualMedia.InsertMedia",
			  eject[] = IDRAC "/VirtualMedia/1/Actions/VirtualMedia.EjectMedia";
	struct make m;
	struct bench *b = log_in_to(&m, "idrac9");

	(void)state;
	assert_int_equal(post(b, IDRAC "/Actions/ComputerSystem.Reset", "{\"ResetType\":\"Up\"}"),
			 400);
	assert_true(json_is_object(json_at(b->json, "error", "@Message.ExtendedInfo")));
	assert_int_equal(post(b, eject, "{}"), 500);
	assert_int_equal(post(b, insert, MEDIUM), 204);
	assert_int_equal(post(b, insert, MEDIUM), 409);
	assert_int_equal(patch(b, IDRAC, BOOT_CD), 200);
	/* The machine does not boot the medium: for this make, Cd is the physical drive. */
	assert_false(boots_medium(&m));
	sim_machine_cut(b->m);
	assert_int_equal(patch(b, attributes,
			       "{\"Attributes\":{\""
			       "ServerBoot.1.FirstBootDevice"
			       "\":\"VCD-DVD\"}}"),
			 200);
	assert_string_equal(str_or(b->m->boot_target, ""), "VCD-DVD");
	assert_int_equal(get(b, IDRAC), 200);
	assert_string_equal(json_str_at(b->json, "Boot", "BootSourceOverrideTarget"), "None");
	assert_true(boots_medium(&m));
	assert_int_equal(get(b, attributes), 200);
	assert_string_equal(json_str_at(b->json, "Attributes", "ServerBoot.1.FirstBootDevice"),
			    "Normal");
	assert_int_equal(post(b, eject, "{}"), 204);
	assert_int_equal(get(b, slot), 200);
	assert_true(json_true_at(b->json, "Inserted"));
	for (int i = 0; i < 7; i++)
		assert_int_equal(post(b, SESSIONS, LOGIN), 201);
	assert_int_equal(post(b, SESSIONS, LOGIN), 503);
	assert_string_equal(id_of(b), "RAC0218");
	fall_silent(&m);
}

static void idrac10(void **state)
{
	static const char reset[] = IDRAC "/Actions/ComputerSystem.Reset",
			  insert[] = IDRAC "/VirtualMedia/1/Actions/VirtualMedia.InsertMedia";
	struct make m;
	struct bench *b = log_in_to(&m, "idrac10");
	char task[120];

	(void)state;
	assert_int_equal(post(b, reset, OFF), 409);
	assert_int_equal(post(b, reset, ON), 204);
	pass(b, 5000);
	assert_int_equal(post(b, reset, OFF), 204);
	pass(b, 5000);
	assert_false(b->m->on);
	assert_int_equal(post(b, reset, ON), 409);
	assert_string_equal(id_of(b), "IDRAC.2.8.ActionParameterValueConflict");
	pass(b, 10000);
	assert_int_equal(post(b, reset, ON), 204);
	assert_int_equal(patch(b, IDRAC "/Settings", BOOT_CD), 400);
	assert_int_equal(post(b, insert, MEDIUM), 500);
	assert_int_equal(post(b, insert, MEDIUM), 202);
	str_copy(task, sizeof(task), b->location);
	assert_int_equal(get(b, task), 404);
	assert_int_equal(get(b, task), 202);
	pass(b, 2000);
	assert_int_equal(get(b, task), 204);
	fall_silent(&m);
}

static void ilo(void **state)
{
	static const char slot[] = "/redfish/v1/Managers/1/VirtualMedia/2",
			  insert[] = "/redfish/v1/Managers/1/VirtualMedia/2/Actions/"
				     "VirtualMedia.InsertMedia",
			  eject[] = "/redfish/v1/Managers/1/VirtualMedia/2/Actions/"
				    "VirtualMedia.EjectMedia";
	struct make m;
	struct bench *b = log_in_to(&m, "ilo");

	(void)state;
	assert_true(str_starts(b->location, SESSIONS "/admin00000000"));
	assert_int_equal(patch(b, SYSTEM, "{\"Boot\":{\"BootSourceOverrideTarget\":\"None\"}}"),
			 400);
	assert_int_equal(get(b, SYSTEM), 200);
	assert_true(str_starts(b->etag, "W/\""));
	assert_int_equal(patch_tagged(b, SYSTEM, BOOT_CD), 200);
	assert_int_equal(call(b, "PATCH", SYSTEM, BOOT_CD, "If-Match: W/\"0\""), 412);
	assert_int_equal(post(b, RESET, ON), 200);
	pass(b, 1000);
	assert_int_equal(b->m->doing, SIM_POST);
	assert_int_equal(patch(b, SYSTEM, BOOT_CD), 400);
	assert_string_equal(id_of(b), "iLO.2.14.UnableToModifyDuringSystemPOST");
	assert_int_equal(post(b, insert, MEDIUM), 200);
	assert_int_equal(post(b, eject, NULL), 400);
	assert_int_equal(post(b, eject, "{}"), 200);
	assert_string_equal(member_at(b, slot, "Image"), "");
	pass(b, 31000);
	assert_int_equal(get(b, SYSTEM), 401);
	fall_silent(&m);

	b = log_in_to(&m, "ilo_unlicensed");
	assert_int_equal(post(b, insert, MEDIUM), 403);
	assert_string_equal(id_of(b), "iLO.2.14.LicenseKeyRequired");
	fall_silent(&m);
}

static void xcc(void **state)
{
	static const char slot[] = SYSTEM "/VirtualMedia/EXT1";
	struct make m;
	struct bench *b = log_in_to(&m, "xcc");
	char task[120];

	(void)state;
	assert_int_equal(patch(b, slot, MEDIUM), 428);
	assert_int_equal(patch_tagged(b, slot, MEDIUM), 200);
	assert_int_equal(
		post(b, SYSTEM "/VirtualMedia/EXT1/Actions/VirtualMedia.InsertMedia", MEDIUM), 404);
	assert_string_equal(member_at(b, slot, "Image"), IMAGE);
	assert_int_equal(patch_tagged(b, SYSTEM,
				      "{\"Boot\":{\"BootSourceOverrideTarget\":\"Cd\","
				      "\"BootSourceOverrideEnabled\":\"Continuous\"}}"),
			 400);
	assert_int_equal(patch_tagged(b, SYSTEM "/Pending", BOOT_CD), 400);
	assert_int_equal(post(b, RESET, ON), 202);
	str_copy(task, sizeof(task), b->location);
	pass(b, 5000);
	assert_int_equal(get(b, task), 204);
	assert_int_equal(get(b, task), 404);
	assert_int_equal(patch_tagged(b, slot, "{\"Image\":null}"), 200);
	assert_null(b->m->image);
	fall_silent(&m);
}

static void ami(void **state)
{
	static const char system[] = "/redfish/v1/Systems/DGX", sd[] = "/redfish/v1/Systems/DGX/SD",
			  media[] = "/redfish/v1/Managers/BMC/VirtualMedia",
			  enable[] = "/redfish/v1/Managers/BMC/Actions/Oem/"
				     "AMIVirtualMedia.EnableRMedia",
			  insert[] = "/redfish/v1/Managers/BMC/VirtualMedia/CD1/Actions/"
				     "VirtualMedia.InsertMedia";
	struct make m;
	struct bench *b = log_in_to(&m, "ami");

	(void)state;
	assert_int_equal(get(b, "/redfish/v1/Systems/HGX_Baseboard_0"), 503);
	assert_int_equal(patch_tagged(b, system, BOOT_CD), 400);
	assert_string_equal(id_of(b), "Ami.1.0.OperationSupportedInFutureStateURI");
	assert_int_equal(patch(b, sd, BOOT_CD), 428);
	assert_int_equal(patch_tagged(b, sd, BOOT_CD), 400);
	assert_int_equal(patch_tagged(b, sd,
				      "{\"Boot\":{\"BootSourceOverrideTarget\":\"Cd\","
				      "\"BootSourceOverrideEnabled\":\"Once\","
				      "\"BootSourceOverrideMode\":\"UEFI\"}}"),
			 204);
	assert_string_equal(b->m->boot_target, "Cd");
	assert_int_equal(get(b, media), 200);
	assert_int_equal(json_array_size(json_object_get(b->json, "Members")), 0);
	assert_int_equal(post(b, enable, "{\"RMediaState\":\"Enable\"}"), 204);
	assert_int_equal(post(b, insert, MEDIUM), 404);
	pass(b, 6000);
	assert_int_equal(get(b, media), 200);
	assert_int_equal(json_array_size(json_object_get(b->json, "Members")), 1);
	assert_int_equal(post(b, insert, MEDIUM), 400);
	assert_int_equal(post(b, insert,
			      "{\"Image\":\"" IMAGE
			      "\",\"UserName\":\"none\",\"Password\":\"none\"}"),
			 202);
	assert_string_equal(b->m->image, IMAGE);
	assert_int_equal(post(b, "/redfish/v1/Systems/DGX/Actions/ComputerSystem.Reset", ON), 202);
	pass(b, 5000);
	assert_true(b->m->on);
	assert_int_equal(get(b, "/redfish/v1/TaskService/Tasks/9002"), 200);
	assert_string_equal(json_str_at(b->json, "TaskState"), "Exception");
	assert_string_equal(json_str_at(b->json, "TaskStatus"), "OK");
	assert_int_equal(get(b, "/redfish/v1/Systems/HGX_Baseboard_0"), 200);
	assert_int_equal(get(b, "/redfish/v1/Systems/HGX_Baseboard_0/Processors/GPU_3"), 200);
	fall_silent(&m);
}

static void supermicro(void **state)
{
	static const char slot[] = "/redfish/v1/Managers/1/VirtualMedia/VirtualMedia1",
			  insert[] = "/redfish/v1/Managers/1/VirtualMedia/VirtualMedia1/Actions/"
				     "VirtualMedia.InsertMedia",
			  eject[] = "/redfish/v1/Managers/1/VirtualMedia/VirtualMedia1/Actions/"
				    "VirtualMedia.EjectMedia";
	struct make m;
	struct bench *b = log_in_to(&m, "supermicro");

	(void)state;
	assert_int_equal(get(b, slot), 200);
	assert_null(json_at(b->json, "Actions", "#VirtualMedia.EjectMedia"));
	assert_int_equal(post(b, insert, "{\"Image\":\"" IMAGE "\",\"Inserted\":true}"), 400);
	assert_int_equal(post(b, insert, MEDIUM), 202);
	assert_int_equal(get(b, slot), 200);
	assert_non_null(json_at(b->json, "Actions", "#VirtualMedia.EjectMedia"));
	assert_int_equal(patch_tagged(b, SYSTEM, BOOT_CD), 412);
	assert_int_equal(patch(b, SYSTEM, BOOT_CD), 200);
	assert_string_equal(member_at(b, SYSTEM, "PowerState"), "Off");
	assert_string_equal(json_str_at(b->json, "Boot", "BootSourceOverrideMode"), "Legacy");
	assert_false(boots_medium(&m));
	sim_machine_cut(b->m);
	assert_int_equal(patch(b, SYSTEM,
			       "{\"Boot\":{\"BootSourceOverrideTarget\":\"UsbCd\","
			       "\"BootSourceOverrideEnabled\":\"Once\","
			       "\"BootSourceOverrideMode\":\"UEFI\"}}"),
			 200);
	assert_true(boots_medium(&m));
	assert_int_equal(post(b, eject, "{}"), 415);
	assert_int_equal(post(b, eject, NULL), 202);
	assert_string_equal(member_at(b, slot, "ImageName"), "agent.iso");
	assert_false(json_true_at(b->json, "Inserted"));
	sim_machine_cut(b->m);
	assert_int_equal(post(b, RESET, ON), 200);
	pass(b, 10000);
	assert_false(b->m->on);
	assert_int_equal(post(b, RESET, ON), 200);
	pass(b, 10000);
	assert_true(b->m->on);
	fall_silent(&m);
}

static void openbmc(void **state)
{
	static const char system[] = "/redfish/v1/Systems/system",
			  inner[] = "/redfish/v1/Managers/bmc/VirtualMedia/USB0/Actions/"
				    "VirtualMedia.InsertMedia",
			  insert[] = "/redfish/v1/Managers/bmc/VirtualMedia/Slot_2/Actions/"
				     "VirtualMedia.InsertMedia";
	struct make m;
	struct bench *b;
	int64_t from;

	(void)state;
	speak(&m, "openbmc");
	b = &m.b;
	from = loop_now(b->loop);
	assert_int_equal(get(b, "/redfish/v1"), 200);
	assert_true(loop_now(b->loop) - from >= 4000);
	from = loop_now(b->loop);
	assert_int_equal(post(b, SESSIONS, LOGIN), 201);
	assert_true(loop_now(b->loop) - from < 1000);
	assert_true(str_starts(b->location, "https://bmc.internal/"));
	str_copy(b->token, sizeof(b->token), b->token_sent);
	assert_int_equal(post(b, inner, MEDIUM), 405);
	assert_string_equal(id_of(b), "ActionNotSupported");
	assert_int_equal(post(b, insert, MEDIUM), 400);
	assert_int_equal(
		post(b, insert, "{\"Image\":\"" IMAGE "\",\"TransferProtocolType\":\"HTTP\"}"),
		204);
	assert_int_equal(patch(b, system,
			       "{\"Boot\":{\"BootSourceOverrideTarget\":\"Cd\","
			       "\"BootSourceOverrideMode\":\"UEFI\"}}"),
			 400);
	sim_machine_power(b->m, true);
	pass(b, 1500);
	assert_true(b->m->on);
	assert_string_equal(member_at(b, system, "PowerState"), "Off");
	pass(b, 3000);
	assert_string_equal(member_at(b, system, "PowerState"), "On");
	fall_silent(&m);
}

static void basic(void **state)
{
	static const char system[] = "/redfish/v1/Systems/6aa3b1f0",
			  reset[] = "/redfish/v1/Systems/6aa3b1f0/Actions/ComputerSystem.Reset",
			  eject[] = "/redfish/v1/Systems/6aa3b1f0/VirtualMedia/Cd/Actions/"
				    "VirtualMedia.EjectMedia";
	struct make m;
	struct bench *b = &m.b;

	(void)state;
	speak(&m, "basic");
	assert_int_equal(call(b, "POST", SESSIONS, LOGIN, BASIC), 404);
	assert_int_equal(get(b, system), 401);
	assert_int_equal(call(b, "GET", system, NULL, BASIC), 200);
	assert_int_equal(call(b, "POST", reset, OFF, BASIC), 400);
	assert_int_equal(call(b, "POST", reset, ON, BASIC), 202);
	assert_string_equal(b->location, "");
	assert_int_equal(call(b, "PATCH", system,
			      "{\"Boot\":{\"BootSourceOverrideTarget\":\"None\"}}", BASIC),
			 400);
	assert_int_equal(call(b, "POST", eject, "{}", BASIC), 415);
	assert_int_equal(call(b, "POST", eject, NULL, BASIC), 400);
	fall_silent(&m);
}

/* --- all makes -------------------------------------------------------------------------------- */

/* Two machines of a make have different identifiers, and each answers the same every time. */
static void no_two_machines_are_one(void **state)
{
	struct make m;
	struct bench *b = log_in_to(&m, "xcc");
	char uuid[40];

	(void)state;
	assert_string_equal(member_at(b, SYSTEM, "UUID"), b->m->uuid);
	assert_string_equal(json_str_at(b->json, "SerialNumber"), b->m->serial);
	assert_string_equal(member_at(b, SYSTEM "/EthernetInterfaces/1", "MACAddress"), b->m->mac);
	assert_string_equal(member_at(b, SYSTEM "/EthernetInterfaces/2", "MACAddress"),
			    "02:01:00:00:01:00");
	assert_string_not_equal(b->m->uuid, sim_rack_machine(b->rack, 2)->uuid);
	str_copy(uuid, sizeof(uuid), member_at(b, "/redfish/v1/Managers/1", "UUID"));
	assert_string_not_equal(uuid, b->m->uuid);
	assert_string_equal(member_at(b, "/redfish/v1/Managers/1", "UUID"), uuid);
	fall_silent(&m);
}

/* Only makes with an event stream send events. */
static void events_come_where_there_is_a_stream(void **state)
{
	struct make m;
	struct bench *b = log_in_to(&m, "xcc");

	(void)state;
	assert_int_equal(call(b, "HEAD", "/redfish/v1/EventService/ServerSentEvent", NULL, NULL),
			 200);
	assert_string_equal(b->type, "text/event-stream");
	fall_silent(&m);
	b = log_in_to(&m, "ilo");
	assert_int_equal(get(b, "/redfish/v1/EventService/SSE"), 404);
	fall_silent(&m);
}

static void every_make_has_a_name_and_one_that_is_not_there_is_told(void **state)
{
	struct sim_dialects all;
	struct err e;

	(void)state;
	sim_dialects_init(&all);
	for (size_t i = 0; sim_dialect_name(i); i++) {
		assert_ok(sim_dialects_add(&all, sim_dialect_name(i), &e), &e);
		assert_string_equal(all.v[i].dialect->name, sim_dialect_name(i));
	}
	assert_true(all.n >= 9);
	assert_int_equal(sim_dialects_add(&all, "ilo9", &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	assert_non_null(strstr(e.text, "idrac9, idrac10, ilo,"));
	sim_dialects_done(&all);
}

static void a_file_that_is_wrong_is_told_where(void **state)
{
	static const struct {
		const char *yaml, *says;
	} cases[] = {
		{"- x", "dialect mine: want an object"},
		{"like: nobody", "like: unknown dialect nobody"},
		{"like: ilo\nabout: x\nquirks: {boot: {place: Here}}",
		 "quirks.boot.place: want System or Settings"},
		{"like: ilo\nabout: x\nquirks: {media: {sticky: true}}", "quirks.media.sticky"},
		{"like: ilo\nabout: x\nquirks: {first: 5}", "quirks.first: want"},
		{"like: ilo\nabout: x\nresources: {/redfish/v1: null}", "no service root"},
		{"like: ilo\nabout: x\nresources: {/redfish/v1/Systems/1: {Actions: null}}",
		 "no System can be switched"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sim_dialects all;
		struct err e;

		sim_dialects_init(&all);
		if (sim_dialects_add_text(&all, "mine", cases[i].yaml, strlen(cases[i].yaml), &e) ==
		    0)
			fail_msg("%s: read", cases[i].yaml);
		if (!strstr(e.text, cases[i].says))
			fail_msg("%s: %s", cases[i].yaml, e.text);
		sim_dialects_done(&all);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idrac9),
		cmocka_unit_test(idrac10),
		cmocka_unit_test(ilo),
		cmocka_unit_test(xcc),
		cmocka_unit_test(ami),
		cmocka_unit_test(supermicro),
		cmocka_unit_test(openbmc),
		cmocka_unit_test(basic),
		cmocka_unit_test(no_two_machines_are_one),
		cmocka_unit_test(events_come_where_there_is_a_stream),
		cmocka_unit_test(every_make_has_a_name_and_one_that_is_not_there_is_told),
		cmocka_unit_test(a_file_that_is_wrong_is_told_where),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
