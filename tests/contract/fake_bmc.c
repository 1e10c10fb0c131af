#include "tests/contract/fake_bmc.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/data/json.h"
#include "base/mem.h"
#include "base/str.h"

#define SYSTEM "/redfish/v1/Systems/1"
#define MANAGER "/redfish/v1/Managers/BMC"
#define SLOT "/VirtualMedia/Cd"
#define INNER "/VirtualMedia/Inner"
#define INSERT_INFO SYSTEM "/InsertMediaActionInfo"
#define CERTIFICATES "/redfish/v1/SlotCertificates"
#define ENABLE MANAGER "/Actions/Oem/AMIVirtualMedia.EnableRMedia"
#define ATTRIBUTES MANAGER "/Oem/Dell/DellAttributes"
#define MAX_SESSIONS                                                                               \
	(sizeof(((struct fake_bmc *)0)->sessions) / sizeof(((struct fake_bmc *)0)->sessions[0]))

static void set(char **slot, const char *text)
{
	char *copy = mem_strdup(text);

	free(*slot);
	*slot = copy;
}

/* --- replies ---------------------------------------------------------------------------------- */

static void reply(struct httpd_req *q, int status, json_t *j)
{
	char *text = j ? json_text(j) : NULL;

	if (text)
		httpd_reply_json(q, status, text);
	else
		httpd_reply(q, status, NULL, NULL, 0);
	free(text);
	json_decref(j);
}

static void refuse(struct httpd_req *q, int status, const char *id)
{
	reply(q, status,
	      json_pack("{s:{s:[{s:s,s:s}]}}", "error", "@Message.ExtendedInfo", "MessageId", id,
			"Message", "no"));
}

static json_t *link_to(const char *path)
{
	return json_pack("{s:s}", "@odata.id", path);
}

/* --- logins ----------------------------------------------------------------------------------- */

static bool password_ok(struct fake_bmc *b, const char *user, const char *password)
{
	b->logins++;
	if (b->locked)
		return false;
	if (str_eq(user, b->user) && str_eq(password, b->password)) {
		b->wrong_passwords = 0;
		return true;
	}
	b->wrong_passwords++;
	b->locked = b->lock_after && b->wrong_passwords >= b->lock_after;
	return false;
}

/* True if header, of the form "Basic dXNlcjpwYXNz", contains the right user and password. */
static bool basic_ok(struct fake_bmc *b, const char *header)
{
	static const char table[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char text[256];
	size_t n = 0;
	unsigned bits = 0, have = 0;
	char *colon;

	if (!header || !str_starts(header, "Basic "))
		return false;
	for (const char *s = header + 6; *s && *s != '=' && n + 1 < sizeof(text); s++) {
		const char *at = strchr(table, *s);

		assert(at);
		bits = bits << 6 | (unsigned)(at - table);
		have += 6;
		if (have >= 8) {
			have -= 8;
			text[n++] = (char)(bits >> have & 0xff);
		}
	}
	text[n] = '\0';
	colon = strchr(text, ':');
	if (!colon)
		return false;
	*colon = '\0';
	return password_ok(b, text, colon + 1);
}

static bool session_ok(struct fake_bmc *b, const char *token)
{
	for (size_t i = 0; token && i < MAX_SESSIONS; i++)
		if (b->sessions[i].id && str_eq(b->sessions[i].token, token))
			return true;
	return false;
}

#define ACCOUNT "/redfish/v1/AccountService/Accounts/3"

/* Returns the message PasswordChangeRequired in the words of the Redfish Base registry. */
static json_t *password_change(void)
{
	return json_pack(
		"[{s:s,s:s,s:[s]}]", "MessageId", "Base.1.13.PasswordChangeRequired", "Message",
		"The password provided for this account must be changed before access is granted. "
		" PATCH the Password property for this account located at the target URI '" ACCOUNT
		"' to complete this process.",
		"MessageArgs", ACCOUNT);
}

static void want_password_change(struct httpd_req *q)
{
	reply(q, 403,
	      json_pack("{s:{s:s,s:s,s:o}}", "error", "code", "Base.1.13.GeneralError", "message",
			"A general error has occurred.", "@Message.ExtendedInfo",
			password_change()));
}

static void open_session(struct fake_bmc *b, struct httpd_req *q, const json_t *body)
{
	unsigned cap = b->max_sessions ? b->max_sessions : 8;
	char uri[80], location[120];

	if (!password_ok(b, json_str_at(body, "UserName"), json_str_at(body, "Password"))) {
		refuse(q, 401, "Base.1.8.NoValidSession");
		return;
	}
	if (b->must_change == 1) {
		want_password_change(q);
		return;
	}
	for (size_t i = 0; i < cap; i++) {
		json_t *self;

		if (b->sessions[i].id)
			continue;
		b->sessions[i].id = ++b->next_session;
		str_format(b->sessions[i].token, sizeof(b->sessions[i].token), "token-%u",
			   b->next_session);
		str_format(uri, sizeof(uri), "/redfish/v1/SessionService/Sessions/%u",
			   b->next_session);
		str_format(location, sizeof(location), "%s%s",
			   b->location_elsewhere ? "https://bmc.internal" : "", uri);
		httpd_reply_header(q, "X-Auth-Token", b->sessions[i].token);
		httpd_reply_header(q, "Location", location);
		self = b->no_session_link ? json_object() : link_to(uri);
		if (b->must_change)
			json_object_set_new(self, "@Message.ExtendedInfo", password_change());
		reply(q, 201, self);
		return;
	}
	refuse(q, 503, "RAC0218");
}

static void close_session(struct fake_bmc *b, struct httpd_req *q, const char *id)
{
	for (size_t i = 0; i < MAX_SESSIONS; i++) {
		if (b->sessions[i].id && b->sessions[i].id == (unsigned)atoi(id)) {
			b->sessions[i].id = 0;
			reply(q, 204, NULL);
			return;
		}
	}
	refuse(q, 404, "Base.1.8.ResourceMissingAtURI");
}

/* --- resources -------------------------------------------------------------------------------- */

static json_t *root(const struct fake_bmc *b)
{
	json_t *j =
		json_pack("{s:s,s:s,s:s*,s:o,s:o}", "@odata.id", "/redfish/v1/", "RedfishVersion",
			  "1.11.0", "Vendor", b->vendor, "Systems", link_to("/redfish/v1/Systems"),
			  "Managers", link_to("/redfish/v1/Managers"));

	if (!b->basic_only) {
		json_object_set_new(j, "SessionService", link_to("/redfish/v1/SessionService"));
		json_object_set_new(j, "Links",
				    json_pack("{s:o}", "Sessions",
					      link_to("/redfish/v1/SessionService/Sessions")));
	}
	return j;
}

static json_t *boot(const struct fake_bmc *b, bool pending)
{
	bool shown = !b->pending_short &&
		     pending == (b->pending_boot ||
				 /* If boot_moved is set, the System shows the override only after a
				  * reset. */
				 b->boot_moved);
	json_t *j = json_pack("{s:s,s:s,s:o}", "BootSourceOverrideEnabled",
			      shown ? b->boot_enabled : "Disabled", "BootSourceOverrideTarget",
			      shown ? b->boot_target : "None", "BootSourceOverrideMode",
			      b->pending_boot ? json_null() : json_string("UEFI"));
	json_t *targets = json_pack("[s,s,s]", "Pxe", "Cd", "Hdd");

	if (!b->no_http_boot) {
		json_object_set_new(j, "HttpBootUri",
				    b->http_uri ? json_string(b->http_uri) : json_null());
		json_array_append_new(targets, json_string("UefiHttp"));
	}
	if (!b->no_none_target)
		json_array_append_new(targets, json_string("None"));
	if (b->vendor && str_eq(b->vendor, "Supermicro"))
		json_array_append_new(targets, json_string("UsbCd"));
	if (b->pending_short && pending) {
		json_array_clear(targets);
		json_array_append_new(targets, json_string("Hdd"));
	}
	if (!b->pending_boot || pending)
		json_object_set(j, "BootSourceOverrideTarget@Redfish.AllowableValues", targets);
	json_decref(targets);
	if (b->only_once)
		json_object_set_new(j, "BootSourceOverrideEnabled@Redfish.AllowableValues",
				    json_pack("[s,s]", "Disabled", "Once"));
	return j;
}

static json_t *reset_values(const struct fake_bmc *b)
{
	json_t *v = json_pack("[s,s,s]", "On", "ForceRestart", "GracefulShutdown");

	if (!b->no_force_off)
		json_array_append_new(v, json_string("ForceOff"));
	if (b->force_on)
		json_array_append_new(v, json_string("ForceOn"));
	if (b->power_cycle)
		json_array_append_new(v, json_string("PowerCycle"));
	return v;
}

static void add_health(json_t *system, const char *text)
{
	char *quoted = mem_strdup(text);
	struct err e;
	json_t *more;

	for (char *c = quoted; *c; c++)
		if (*c == '\'')
			*c = '"';
	more = json_parse(quoted, strlen(quoted), &e);
	assert(more);
	json_object_update(system, more);
	json_decref(more);
	free(quoted);
}

static json_t *system_json(const struct fake_bmc *b)
{
	json_t *reset = json_pack("{s:s}", "target", SYSTEM "/Actions/ComputerSystem.Reset");
	json_t *j = json_pack(
		"{s:s,s:s*,s:s,s:s,s:s*,s:s*,s:s,s:o,s:{s:o},s:{s:[o]}}", "@odata.id", SYSTEM,
		"@odata.type", b->untyped ? NULL : "#ComputerSystem.v1_16_0.ComputerSystem", "UUID",
		b->uuid, "SerialNumber", b->serial, "Manufacturer", b->vendor, "Model", b->model,
		"PowerState", b->on ? "On" : "Off", "Boot", boot(b, false), "Actions",
		"#ComputerSystem.Reset", reset, "Links", "ManagedBy", link_to(MANAGER));

	if (b->health)
		add_health(j, b->health);
	if (b->action_info)
		json_object_set_new(reset, "@Redfish.ActionInfo",
				    json_string(SYSTEM "/ResetActionInfo"));
	else
		json_object_set_new(reset, "ResetType@Redfish.AllowableValues", reset_values(b));
	if (!b->managers_media && !b->no_media)
		json_object_set_new(j, "VirtualMedia", link_to(SYSTEM "/VirtualMedia"));
	if (b->ndrives)
		json_object_set_new(
			j, b->simple_storage ? "SimpleStorage" : "Storage",
			link_to(b->simple_storage ? SYSTEM "/SimpleStorage" : SYSTEM "/Storage"));
	if (b->simple_too)
		json_object_set_new(j, "SimpleStorage", link_to(SYSTEM "/SimpleStorage"));
	if (b->pending_boot || b->boot_moved || b->boot_shy || b->pending_short)
		json_object_set_new(j, "@Redfish.Settings",
				    json_pack("{s:o}", "SettingsObject", link_to(SYSTEM "/SD")));
	return j;
}

static json_t *collection(const char *self, const char *member, bool loop)
{
	json_t *j = json_pack("{s:s,s:s*,s:[o]}", "@odata.id", self, "@odata.type",
			      str_ends(self, "/Systems")
				      ? "#ComputerSystemCollection.ComputerSystemCollection"
				      : NULL,
			      "Members", link_to(member));

	if (loop)
		json_object_set_new(j, "Members@odata.nextLink", json_string(self));
	return j;
}

/* Adds the list of transfer protocols (AllowableValues of DSP0266) where b->lists_https says: to
 * the slot, to its action InsertMedia, or to a separate resource that the action links to. */
static void add_protocols(const struct fake_bmc *b, json_t *slot)
{
	static const char listed[] = "TransferProtocolType@Redfish.AllowableValues";
	json_t *insert =
		json_object_get(json_object_get(slot, "Actions"), "#VirtualMedia.InsertMedia");

	if (b->lists_https == 1 || b->lists_https == 2)
		json_object_set_new(b->lists_https == 1 ? slot : insert, listed,
				    json_pack("[s,s]", "HTTP", "HTTPS"));
	if (b->insert_info || b->lists_https == 3)
		json_object_set_new(insert, "@Redfish.ActionInfo", json_string(INSERT_INFO));
}

static json_t *slot_json(const struct fake_bmc *b, const char *self)
{
	char insert[160], eject[160];
	json_t *j = json_pack("{s:s,s:s,s:[s,s],s:s?,s:b,s:s}", "@odata.id", self, "Id",
			      str_or(b->slot_id, "Cd"), "MediaTypes", b->no_cd ? "Floppy" : "CD",
			      b->no_cd ? "USBStick" : "DVD", "Image", b->image, "Inserted",
			      b->image || b->eject_keeps_flag, "ConnectedVia",
			      b->image ? "URI" : "NotConnected");

	if (b->verifies) {
		json_object_set_new(j, "VerifyCertificate", json_boolean(!b->unverified));
		json_object_set_new(j, "Certificates", link_to(CERTIFICATES));
	}
	if (b->no_media_types)
		json_object_del(j, "MediaTypes");
	if (b->patch_media) {
		add_protocols(b, j);
		return j;
	}
	str_format(insert, sizeof(insert), "%s/Actions/VirtualMedia.InsertMedia", self);
	str_format(eject, sizeof(eject), "%s/Actions/VirtualMedia.EjectMedia", self);
	json_object_set_new(j, "Actions",
			    json_pack("{s:{s:s},s:{s:s}}", "#VirtualMedia.InsertMedia", "target",
				      insert, "#VirtualMedia.EjectMedia", "target", eject));
	add_protocols(b, j);
	return j;
}

static json_t *insert_info(const struct fake_bmc *b)
{
	json_t *type = json_pack("{s:s,s:s}", "Name", "TransferProtocolType", "DataType", "String");

	if (b->lists_https == 3)
		json_object_set_new(type, "AllowableValues", json_pack("[s,s]", "NFS", "HTTPS"));
	return json_pack("{s:[{s:s},o]}", "Parameters", "Name", "Image", type);
}

static json_t *inner_json(const struct fake_bmc *b)
{
	return json_pack("{s:s,s:s,s:[s,s],s:n,s:b,s:{s:{s:s}}}", "@odata.id", SYSTEM INNER, "Id",
			 str_or(b->inner_id, "Inner"), "MediaTypes", "CD", "DVD", "Image",
			 "Inserted", 0, "Actions", "#VirtualMedia.InsertMedia", "target",
			 SYSTEM INNER "/Actions/VirtualMedia.InsertMedia");
}

static json_t *manager_json(const struct fake_bmc *b)
{
	json_t *j = json_pack("{s:s,s:s*,s:s,s:s,s:s,s:s}", "@odata.id", MANAGER, "@odata.type",
			      b->untyped ? NULL : "#Manager.v1_12_0.Manager", "Id", "BMC",
			      "FirmwareVersion", str_or(b->firmware, "7.10.30"), "UUID",
			      "3347314f-c0c6-5080-3410-00354c4c4544", "PowerState", "On");

	if (b->managers_media)
		json_object_set_new(j, "VirtualMedia", link_to(MANAGER "/VirtualMedia"));
	if (b->media_off)
		json_object_set_new(
			j, "Actions",
			json_pack("{s:{s:{s:s}}}", "Oem",
				  str_or(b->enable_action, "#AMIVirtualMedia.EnableRMedia"),
				  "target", ENABLE));
	if (b->dell_attributes)
		json_object_set_new(j, "Links",
				    json_pack("{s:{s:{s:[o,o]}}}", "Oem", "Dell", "DellAttributes",
					      link_to(ATTRIBUTES "/System"),
					      link_to(ATTRIBUTES "/BMC")));
	return j;
}

/* --- drives ----------------------------------------------------------------------------------- */

#define STORAGE SYSTEM "/Storage"

static json_t *links_below(const char *path, unsigned n)
{
	json_t *list = json_array();
	char member[128];

	for (unsigned i = 0; i < n; i++) {
		str_format(member, sizeof(member), "%s/%u", path, i);
		json_array_append_new(list, link_to(member));
	}
	return json_pack("{s:o}", "Members", list);
}

static json_t *drive_json(const struct fake_drive *d, unsigned i)
{
	char volume[80];
	json_t *j = json_pack("{s:s?,s:s?,s:I,s:{s:s},s:[{s:s?}],s:{s:{s:s?}}}", "SerialNumber",
			      d->serial, "Model", d->model, "CapacityBytes", (json_int_t)d->bytes,
			      "Status", "State", str_or(d->state, "Enabled"), "Identifiers",
			      "DurableName", d->durable, "PhysicalLocation", "PartLocation",
			      "ServiceLabel", d->slot);

	str_format(volume, sizeof(volume), STORAGE "/%u/Volumes/1", i);
	if (d->volume)
		json_object_set_new(j, "Links", json_pack("{s:[o]}", "Volumes", link_to(volume)));
	return j;
}

static json_t *storage(const struct fake_bmc *b, const char *path)
{
	const char *rest = path + strlen(STORAGE);
	const struct fake_drive *d;
	json_t *list;
	char drive[80];
	bool simple = b->simple_storage || b->simple_too;
	unsigned i;

	if (simple && str_eq(path, SYSTEM "/SimpleStorage"))
		return links_below(path, 1);
	if (simple && str_eq(path, SYSTEM "/SimpleStorage/0")) {
		list = json_array();
		for (i = 0; i < b->ndrives; i++)
			json_array_append_new(list, json_pack("{s:s?,s:s?,s:I}", "Model",
							      b->drives[i].model, "Name",
							      b->drives[i].slot, "CapacityBytes",
							      (json_int_t)b->drives[i].bytes));
		return json_pack("{s:o}", "Devices", list);
	}
	if (b->simple_storage || !str_starts(path, STORAGE))
		return NULL;
	if (!*rest)
		return links_below(path, b->ndrives);
	i = (unsigned)atoi(rest + 1);
	if (i >= b->ndrives)
		return NULL;
	d = &b->drives[i];
	rest = strchr(rest + 1, '/');
	str_format(drive, sizeof(drive), STORAGE "/%u/Drives/1", i);
	if (!rest)
		return json_pack("{s:[o]}", "Drives", link_to(drive));
	if (str_eq(rest, "/Drives/1"))
		return drive_json(d, i);
	if (str_eq(rest, "/Volumes/1") && d->volume)
		return json_pack("{s:s,s:s?,s:I,s:[{s:s?}]}", "Name", d->volume, "RAIDType",
				 str_or(d->raid, "RAID1"), "CapacityBytes",
				 (json_int_t)d->volume_bytes, "Identifiers", "DurableName",
				 d->volume_durable);
	return NULL;
}

#define FLOPPY SYSTEM "/VirtualMedia/Floppy"

static json_t *floppies(const struct fake_bmc *b, const char *path)
{
	json_t *members = json_array();
	char one[80];

	if (!str_eq(path, SYSTEM "/VirtualMedia")) {
		json_decref(members);
		return json_pack("{s:s,s:[s]}", "@odata.id", path, "MediaTypes", "Floppy");
	}
	for (unsigned i = 0; i < b->floppies; i++) {
		str_format(one, sizeof(one), FLOPPY "%u", i);
		json_array_append_new(members, link_to(one));
	}
	json_array_append_new(members, link_to(SYSTEM SLOT));
	return json_pack("{s:o}", "Members", members);
}

static json_t *resource(const struct fake_bmc *b, const char *path)
{
	const char *home = b->managers_media ? MANAGER : SYSTEM;
	char media[80], slot[80];

	str_format(media, sizeof(media), "%s/VirtualMedia", home);
	str_format(slot, sizeof(slot), "%s" SLOT, home);
	if (str_eq(path, "/redfish/v1/Systems"))
		return b->baseboard_first
			       ? json_pack("{s:[o,o]}", "Members",
					   link_to("/redfish/v1/Systems/HGX"), link_to(SYSTEM))
			       : collection(path,
					    b->foreign_link ? "https://10.6.6.6" SYSTEM : SYSTEM,
					    false);
	if (str_eq(path, SYSTEM))
		return system_json(b);
	if (str_eq(path, SYSTEM "/ResetActionInfo") && b->action_info)
		return json_pack("{s:[{s:s,s:o}]}", "Parameters", "Name", "ResetType",
				 "AllowableValues", reset_values(b));
	if (str_eq(path, SYSTEM "/SD") && (b->pending_boot || b->boot_shy || b->pending_short))
		return json_pack("{s:o}", "Boot", boot(b, true));
	if (str_eq(path, SYSTEM "/SD") && b->boot_moved)
		return str_eq(b->boot_target, "None") ? json_pack("{s:{s:[]}}", "Boot", "BootOrder")
						      : json_pack("{s:o}", "Boot", boot(b, true));
	if (b->ndrives && (str_starts(path, STORAGE) || str_starts(path, SYSTEM "/SimpleStorage")))
		return storage(b, path);
	if (b->floppies && (str_eq(path, SYSTEM "/VirtualMedia") || str_starts(path, FLOPPY)))
		return floppies(b, path);
	if (str_eq(path, "/redfish/v1/Managers"))
		return collection(path, MANAGER, false);
	if (str_eq(path, MANAGER))
		return manager_json(b);
	if (str_eq(path, ATTRIBUTES "/BMC") && b->dell_attributes)
		return json_pack("{s:{s:s,s:s}}", "Attributes", "ServerBoot.1.BootOnce", "Enabled",
				 "ServerBoot.1.FirstBootDevice", str_or(b->first_device, "Normal"));
	if (str_eq(path, media) && b->media_off &&
	    (b->media_since < 0 || loop_now(b->loop) - b->media_since < b->media_ms))
		return json_pack("{s:[]}", "Members");
	if (str_eq(path, media) && b->inner_slot)
		return json_pack("{s:[o,o]}", "Members", link_to(SYSTEM INNER), link_to(slot));
	if (str_eq(path, CERTIFICATES) && b->verifies)
		return b->slot_ca ? collection(path, CERTIFICATES "/1", false)
				  : json_pack("{s:[]}", "Members");
	if (str_eq(path, CERTIFICATES "/1") && b->slot_ca)
		return json_pack("{s:s}", "CertificateString", b->slot_ca);
	if (str_eq(path, SYSTEM INNER) && b->inner_slot)
		return inner_json(b);
	if (str_eq(path, media) && !b->no_media)
		return collection(path, slot, b->next_loop);
	if (str_eq(path, slot) && !b->no_media)
		return slot_json(b, slot);
	if (str_eq(path, INSERT_INFO) && (b->insert_info || b->lists_https == 3))
		return insert_info(b);
	return NULL;
}

/* --- tasks ------------------------------------------------------------------------------------ */

#define TASK "/redfish/v1/TaskService/Tasks/1"
#define MONITOR "/redfish/v1/TaskService/TaskMonitors/1"

static bool task_runs(const struct fake_bmc *b)
{
	return loop_now(b->loop) - b->task_since < b->task_ms;
}

static json_t *task_json(const struct fake_bmc *b)
{
	bool runs = task_runs(b);
	json_t *j = json_pack("{s:s,s:s,s:s,s:s,s:s}", "@odata.id", TASK, "@odata.type",
			      "#Task.v1_4_3.Task", "TaskMonitor", MONITOR, "TaskState",
			      runs ? "Running" : str_or(b->task_end, "Completed"), "TaskStatus",
			      str_or(b->task_status, "OK"));

	if (!runs && b->task_message)
		json_object_set_new(j, "Messages",
				    json_pack("[{s:s,s:s}]", "MessageId", b->task_message,
					      "Message", "it said no"));
	return j;
}

static void pause_header(const struct fake_bmc *b, struct httpd_req *q)
{
	if (b->task_pause)
		httpd_reply_header(q, "Retry-After", b->task_pause);
}

/* Answers a write that was accepted: with `status`, or, if b->tasks is set, with 202 and a task. */
static void taken(struct fake_bmc *b, struct httpd_req *q, int status)
{
	if (!b->tasks) {
		reply(q, status, status == 200 ? json_object() : NULL);
		return;
	}
	b->task_since = loop_now(b->loop);
	pause_header(b, q);
	if (!b->task_nowhere)
		httpd_reply_header(q, "Location",
				   b->task_elsewhere ? "https://10.6.6.6" MONITOR : MONITOR);
	reply(q, 202, b->task_bare || b->task_nowhere || b->task_elsewhere ? NULL : task_json(b));
}

static bool task_answered(struct fake_bmc *b, struct httpd_req *q, const char *path)
{
	bool monitor = str_eq(path, MONITOR);

	if (!monitor && !str_eq(path, TASK))
		return false;
	if (b->task_late) {
		b->task_late--;
		refuse(q, 404, "Base.1.8.ResourceMissingAtURI");
	} else if (b->task_since < 0 || (b->task_vanishes && !task_runs(b))) {
		refuse(q, 404, "Base.1.8.ResourceMissingAtURI");
	} else if (!monitor) {
		pause_header(b, q);
		reply(q, 200, task_json(b));
	} else if (task_runs(b)) {
		pause_header(b, q);
		reply(q, 202, NULL);
	} else {
		b->task_since = -1;
		if (str_eq(b->task_end, "Exception"))
			refuse(q, 400, str_or(b->task_message, "Base.1.8.GeneralError"));
		else
			reply(q, 204, NULL);
	}
	return true;
}

/* --- writes ----------------------------------------------------------------------------------- */

static void on_power(void *arg)
{
	struct fake_bmc *b = arg;
	bool changed = b->on != b->power_target;

	b->on = b->power_target;
	if (changed && b->switched)
		b->switched(b->switched_arg);
}

static void switch_power(struct fake_bmc *b, bool on)
{
	if (b->power_lie)
		return;
	b->power_target = on;
	if (b->power_delay_ms)
		loop_timer_start(&b->power, b->power_delay_ms);
	else
		on_power(b);
}

void fake_bmc_switch(struct fake_bmc *b, bool on)
{
	if (!(b->on_ignored && on))
		switch_power(b, on);
}

static void do_reset(struct fake_bmc *b, struct httpd_req *q, const json_t *body)
{
	const char *type = json_str_at(body, "ResetType");
	bool on = str_eq(type, "On") || (b->force_on && str_eq(type, "ForceOn")) ||
		  (b->power_cycle && str_eq(type, "PowerCycle"));
	bool off = str_eq(type, "ForceOff") && !b->no_force_off;

	if (!on && !off && !str_eq(type, "GracefulShutdown")) {
		refuse(q, 400, "Base.1.8.ActionParameterNotSupported");
		return;
	}
	if (b->same_state_400 && on == b->on) {
		refuse(q, 400, "Base.1.8.InvalidOperation");
		return;
	}
	if (b->on_refused && str_eq(type, "On")) {
		refuse(q, 409, "Base.1.8.ActionParameterValueConflict");
		return;
	}
	if (!(b->on_ignored && str_eq(type, "On"))) /* ForceOn still works if on_ignored is set. */
		switch_power(b, on);
	taken(b, q, 204);
}

static void do_boot(struct fake_bmc *b, struct httpd_req *q, const json_t *body, bool pending)
{
	const char *target = json_str_at(body, "Boot", "BootSourceOverrideTarget");
	const char *enabled = json_str_at(body, "Boot", "BootSourceOverrideEnabled");
	const json_t *address = json_at(body, "Boot", "HttpBootUri");
	const char *uri = json_is_null(address) ? "" : json_string_value(address);

	if (uri && !*uri && (b->http_refused || (b->http_null && !json_is_null(address)))) {
		refuse(q, 400, "Base.1.8.PropertyValueFormatError");
		return;
	}
	if ((b->refuse_mode && json_at(body, "Boot", "BootSourceOverrideMode")) ||
	    (b->only_once && str_eq(enabled, "Continuous")) ||
	    (b->no_none_target && str_eq(target, "None"))) {
		refuse(q, 400, "Base.1.8.PropertyValueNotInList");
		return;
	}
	if (b->boot_moved != b->boot_shy && pending == b->boot_shy) {
		refuse(q, 400,
		       pending ? "Base.1.8.PropertyNotWritable"
			       : "Ami.1.0.OperationSupportedInFutureStateURI");
		return;
	}
	if (target && !b->write_lie)
		set(&b->boot_target, target);
	if (enabled && !b->write_lie)
		set(&b->boot_enabled, enabled);
	if (uri && !b->write_lie && !(b->http_sticks && !*uri))
		set(&b->http_uri, uri);
	b->etag++;
	taken(b, q, 200);
}

void fake_bmc_put_image(struct fake_bmc *b, const char *image)
{
	if (!b->write_lie)
		set(&b->image, image);
}

void fake_bmc_put_target(struct fake_bmc *b, const char *target)
{
	if (b->write_lie)
		return;
	set(&b->boot_target, target);
	set(&b->boot_enabled, str_eq(target, "None") ? "Disabled" : "Continuous");
}

static void do_enable(struct fake_bmc *b, struct httpd_req *q, const json_t *body)
{
	if (str_eq(json_str_at(body, "RMediaState"), "Enable"))
		b->media_since = loop_now(b->loop);
	taken(b, q, 204);
}

static void do_attributes(struct fake_bmc *b, struct httpd_req *q, const json_t *body)
{
	const char *device = json_str_at(body, "Attributes", "ServerBoot.1.FirstBootDevice");

	if (b->attributes_refused || !device) {
		refuse(q, 400, "IDRAC.2.8.SYS407");
		return;
	}
	if (!b->write_lie)
		b->first_device = str_eq(device, "VCD-DVD") ? "VCD-DVD" : NULL;
	taken(b, q, 200);
}

static void do_media(struct fake_bmc *b, struct httpd_req *q, const json_t *body, bool insert)
{
	if (insert && b->named_media && !json_str_at(body, "UserName")) {
		refuse(q, 400, "Base.1.8.GeneralError");
	} else if (insert && b->bare_media && json_object_size(body) != 1) {
		refuse(q, 400, "Base.1.8.PropertyUnknown");
	} else if (insert && b->https_only && !str_starts(json_str_at(body, "Image"), "https:")) {
		refuse(q, 400, "Base.1.8.ActionParameterValueFormatError");
	} else if (insert && b->verifies && !b->unverified && !b->slot_ca) {
		refuse(q, 400, "Base.1.8.ResourceAtUriUnauthorized");
	} else if (insert && b->image) {
		refuse(q, 500, "Base.1.8.InternalError");
	} else if (!insert && !b->image) {
		refuse(q, 400, "Base.1.8.GeneralError");
	} else if (!insert && b->eject_no_body && body) {
		refuse(q, 415, "Base.1.8.MalformedJSON");
	} else {
		if (!b->write_lie)
			set(&b->image, insert ? json_str_at(body, "Image") : NULL);
		b->etag++;
		taken(b, q, 204);
	}
}

static void do_certificate(struct fake_bmc *b, struct httpd_req *q, const json_t *body)
{
	if (!str_eq(json_str_at(body, "CertificateType"), "PEM") ||
	    !json_str_at(body, "CertificateString")) {
		refuse(q, 400, "Base.1.8.PropertyMissing");
		return;
	}
	set(&b->slot_ca, json_str_at(body, "CertificateString"));
	taken(b, q, 201);
}

static void do_verify(struct fake_bmc *b, struct httpd_req *q, const json_t *body)
{
	b->unverified = !json_true_at(body, "VerifyCertificate");
	taken(b, q, 200);
}

static void write_to(struct fake_bmc *b, struct httpd_req *q, const char *path, const json_t *body)
{
	const char *method = httpd_method(q);
	bool patch = str_eq(method, "PATCH"), post = str_eq(method, "POST");

	if (post && str_ends(path, "/ComputerSystem.Reset"))
		do_reset(b, q, body);
	else if (post && str_eq(path, CERTIFICATES) && b->verifies == 1)
		do_certificate(b, q, body);
	else if (patch && b->verifies && json_object_get(body, "VerifyCertificate"))
		do_verify(b, q, body);
	else if (post && b->media_off && str_eq(path, ENABLE))
		do_enable(b, q, body);
	else if (post && str_eq(path, SYSTEM INNER "/Actions/VirtualMedia.InsertMedia"))
		refuse(q, 405, "Base.1.8.ActionNotSupported");
	else if (patch && (b->boot_moved || b->boot_shy) && str_starts(path, SYSTEM))
		do_boot(b, q, body, str_ends(path, "/SD"));
	else if (patch && str_eq(path, b->pending_boot ? SYSTEM "/SD" : SYSTEM))
		do_boot(b, q, body, b->pending_boot);
	else if (patch && b->dell_attributes && str_eq(path, ATTRIBUTES "/BMC"))
		do_attributes(b, q, body);
	else if (post && str_ends(path, "/VirtualMedia.InsertMedia"))
		do_media(b, q, body, true);
	else if (post && str_ends(path, "/VirtualMedia.EjectMedia"))
		do_media(b, q, body, false);
	else if (patch && b->patch_media && str_ends(path, SLOT))
		do_media(b, q, body, json_str_at(body, "Image") != NULL);
	else
		refuse(q, 405, "Base.1.8.OperationNotAllowed");
}

/* --- faults ----------------------------------------------------------------------------------- */

static int64_t read_spaces(char *out, size_t max, uint64_t pos, void *arg)
{
	(void)arg;
	if (pos >= 100u << 20)
		return -1;
	memset(out, ' ', max);
	return (int64_t)max;
}

static bool misbehave(struct fake_bmc *b, struct httpd_req *q, const char *path)
{
	static const struct httpd_reader spaces = {.read = read_spaces, .size = -1};
	char text[128];
	size_t n = 0;

	if (b->unavailable) {
		if (b->unavailable_s)
			httpd_reply_header(q, "Retry-After", b->unavailable_s);
		refuse(q, 503, "Ami.1.0.HMCCommuicationFailed");
		return true;
	}
	if (b->baseboard_first && str_eq(path, "/redfish/v1/Systems/HGX")) {
		refuse(q, 503, "Ami.1.0.HMCCommuicationFailed");
		return true;
	}
	if (!str_eq(path, SYSTEM) || !str_eq(httpd_method(q), "GET"))
		return false;
	if (b->huge) {
		httpd_reply_stream(q, 200, "application/json", &spaces);
	} else if (b->deep) {
		for (int i = 0; i < 40; i++)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "[");
		for (int i = 0; i < 40; i++)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "]");
		reply(q, 200, json_pack("{s:o}", "a", json_loads(text, 0, NULL)));
	} else if (b->garbage) {
		httpd_reply(q, 200, "application/json", "<html>", 6);
	} else {
		return false;
	}
	return true;
}

/* --- serving ---------------------------------------------------------------------------------- */

static void serve_capture(struct fake_bmc *b, struct httpd_req *q, const char *path)
{
	char *name = mem_printf("%s%s/index.json", b->capture, path);
	FILE *f = fopen(name, "r");
	char *text;
	size_t n;

	free(name);
	if (!f) {
		refuse(q, 404, "Base.1.8.ResourceMissingAtURI");
		return;
	}
	text = mem_alloc(4 << 20);
	n = fread(text, 1, 4 << 20, f);
	fclose(f);
	httpd_reply(q, 200, "application/json", text, n);
	free(text);
}

void fake_bmc_note(struct fake_bmc *b, const char *line)
{
	if (b->writes_only) {
		if (str_starts(line, "GET "))
			return;
		if (b->njournal == sizeof(b->journal) / sizeof(*b->journal)) {
			free(b->journal[0]);
			memmove(b->journal, b->journal + 1,
				sizeof(b->journal) - sizeof(*b->journal));
			b->njournal--;
		}
	}
	assert(b->njournal < sizeof(b->journal) / sizeof(*b->journal));
	b->journal[b->njournal++] = mem_strdup(line);
}

static void note(struct fake_bmc *b, struct httpd_req *q, const char *path, const char *body)
{
	char *line = mem_printf("%s %s %s", httpd_method(q), path, body);

	if (str_eq(httpd_method(q), "PATCH"))
		str_copy(b->if_match, sizeof(b->if_match), str_or(httpd_header(q, "If-Match"), ""));
	fake_bmc_note(b, line);
	free(line);
}

static bool etag_refused(struct fake_bmc *b, struct httpd_req *q, const char *etag)
{
	const char *match = httpd_header(q, "If-Match");

	if (!b->etags || !str_eq(httpd_method(q), "PATCH"))
		return false;
	if (b->etags_move) {
		b->etags_move--;
		b->etag++;
		refuse(q, 412, "Base.1.8.PreconditionFailed");
		return true;
	}
	if (b->etags_lie ? match != NULL
	    : str_eq(b->etags_want, "W/")
		    ? !match || !str_starts(match, "W/") || !str_eq(match + 2, etag)
	    : b->etags_want ? !str_eq(match, b->etags_want)
			    : !str_eq(match, etag)) {
		refuse(q, match ? 412 : 428, "Base.1.8.PreconditionFailed");
		return true;
	}
	return false;
}

static void serve(struct fake_bmc *b, struct httpd_req *q, const char *path, const json_t *body)
{
	char etag[32];
	json_t *j;

	str_format(etag, sizeof(etag), "\"%u\"", b->etag);
	if (misbehave(b, q, path) || etag_refused(b, q, etag))
		return;
	if (b->redirect && str_eq(path, "/redfish/v1/Systems") && !httpd_query(q, "again")) {
		httpd_reply_header(q, "Location", "/redfish/v1/Systems/?again=1");
		reply(q, 308, NULL);
		return;
	}
	if (!str_eq(httpd_method(q), "GET")) {
		write_to(b, q, path, body);
		return;
	}
	if (task_answered(b, q, path))
		return;
	if (b->storage_fails && str_starts(path, STORAGE)) {
		refuse(q, 500, "Base.1.8.InternalError");
		return;
	}
	j = resource(b, path);
	if (!j) {
		refuse(q, 404, "Base.1.8.ResourceMissingAtURI");
		return;
	}
	if (b->etags && !b->etags_hidden)
		httpd_reply_header(q, "ETag", etag);
	reply(q, 200, j);
}

void fake_bmc_answer(struct fake_bmc *b, struct httpd_req *q)
{
	const char *path = httpd_path(q), *method = httpd_method(q),
		   *sessions = "/redfish/v1/SessionService/Sessions";
	const char *basic = httpd_header(q, "Authorization");
	size_t len;
	const char *text = httpd_body(q, &len);
	OWN_JSON body = len ? json_loads(text, 0, NULL) : NULL;

	if (str_eq(path, "/redfish/v1") && !b->closed_root) {
		if (b->capture)
			serve_capture(b, q, path);
		else
			reply(q, 200, root(b));
	} else if (!b->basic_only && str_eq(path, sessions) && str_eq(method, "POST")) {
		open_session(b, q, body);
	} else if (b->basic_only && str_eq(path, sessions)) {
		refuse(q, 404, "Base.1.8.ResourceMissingAtURI");
	} else if (b->basic_only ? !basic_ok(b, basic)
				 : !session_ok(b, httpd_header(q, "X-Auth-Token")) &&
					   !(b->basic_too && basic_ok(b, basic))) {
		if (b->basic_only)
			httpd_reply_header(q, "WWW-Authenticate", "Basic realm=\"bmc\"");
		refuse(q, 401, "Base.1.8.NoValidSession");
	} else if (str_eq(method, "DELETE") && str_starts(path, sessions)) {
		close_session(b, q, path + strlen(sessions) + 1);
	} else if (b->must_change) {
		want_password_change(q);
	} else if (b->capture) {
		if (str_eq(method, "GET"))
			serve_capture(b, q, path);
		else
			reply(q, 204, NULL);
	} else if (str_eq(path, "/redfish/v1")) {
		reply(q, 200, root(b));
	} else {
		serve(b, q, path, body);
	}
}

static void on_request(struct httpd_req *q, void *arg)
{
	struct fake_bmc *b = arg;
	const char *path = httpd_path(q);
	size_t len;
	const char *text = httpd_body(q, &len);

	note(b, q, path, str_eq(path, "/redfish/v1/SessionService/Sessions") ? "" : text);
	if (!b->tamper || !b->tamper(q, b->requests++, b->tamper_arg))
		fake_bmc_answer(b, q);
}

void fake_bmc_init(struct fake_bmc *b, struct loop_group *g)
{
	*b = (struct fake_bmc){.user = "drover", .password = "correct horse"};
	b->loop = loop_of(g);
	set(&b->boot_target, "None");
	set(&b->boot_enabled, "Disabled");
	set(&b->uuid, "4C4C4544-0035-3410-8050-C6C04F314733");
	set(&b->serial, "CN7792154A0014");
	b->etag = 7;
	b->media_since = b->task_since = -1;
	loop_timer_init(&b->power, g, on_power, b);
	b->httpd = httpd_new(g);
	httpd_route(b->httpd, "*", "/**", 1 << 16, on_request, b);
}

void fake_bmc_done(struct fake_bmc *b)
{
	loop_timer_stop(&b->power);
	httpd_free(b->httpd);
	for (unsigned i = 0; i < b->njournal; i++)
		free(b->journal[i]);
	free(b->image);
	free(b->slot_ca);
	free(b->boot_target);
	free(b->boot_enabled);
	free(b->http_uri);
	free(b->uuid);
	free(b->serial);
}

unsigned fake_bmc_count(const struct fake_bmc *b, const char *start)
{
	unsigned n = 0;

	for (unsigned i = 0; i < b->njournal; i++)
		n += str_starts(b->journal[i], start);
	return n;
}

const char *fake_bmc_last(const struct fake_bmc *b, const char *start)
{
	for (unsigned i = b->njournal; i > 0; i--)
		if (str_starts(b->journal[i - 1], start))
			return b->journal[i - 1];
	return "";
}

unsigned fake_bmc_sessions(const struct fake_bmc *b)
{
	unsigned n = 0;

	for (size_t i = 0; i < MAX_SESSIONS; i++)
		n += b->sessions[i].id != 0;
	return n;
}

void fake_bmc_expire(struct fake_bmc *b)
{
	for (size_t i = 0; i < MAX_SESSIONS; i++)
		b->sessions[i].id = 0;
}

bool fake_bmc_mentions(const struct fake_bmc *b, const char *text)
{
	for (unsigned i = 0; i < b->njournal; i++)
		if (strstr(b->journal[i], text))
			return true;
	return false;
}
