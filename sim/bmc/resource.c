#include "sim/bmc/bmc_impl.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/mem.h"
#include "base/str.h"

/*
 * bmc_tree: a BMC whose resources are those of a tree (tree.h). Simulated members replace those of
 * the tree:
 *
 *   System and its settings object  identity, power, boot override
 *   slots for media                 the inserted medium
 *   sessions, tasks, events         those of the simulator
 *   NICs, Managers, service root    addresses and UUIDs, unique in the rack
 *   storage                         the machine's drives, in the first storage resource of the tree
 *
 * All other resources are served unchanged.
 * Tests: tests/unit/sim/bmc/test_dialect.c, tests/contract/test_dialects.c
 */
#define MONITORS SIM_TREE_ROOT "/TaskService/TaskMonitors"
#define ENABLED "CD1" /* Id of the slot that appears after EnableRMedia. */

/* --- reads ------------------------------------------------------------------------------------ */

static bool same(const char *a, const char *b)
{
	return a && b && strcasecmp(a, b) == 0;
}

/* Replaces a member only if the tree has that member, because a simulated BMC must not show members
 * that its make does not have. */
static void lay(json_t *j, const char *member, json_t *value /* takes ownership */)
{
	if (json_object_get(j, member))
		json_object_set_new(j, member, value);
	else
		json_decref(value);
}

static json_t *lies_there(struct bmc_call *c)
{
	return sim_tree_get(bmc_tree(c->b), c->path);
}

static json_t *get_root(struct bmc_call *c)
{
	json_t *j = lies_there(c);

	lay(j, "UUID", json_string(c->b->uuid));
	/* Reports that no query parameters are supported, even if the captured BMC supported
	 * some. */
	lay(j, "ProtocolFeaturesSupported",
	    json_pack("{s:b,s:b,s:b,s:b}", "ExcerptQuery", 0, "FilterQuery", 0, "OnlyMemberQuery",
		      0, "SelectQuery", 0));
	return j;
}

static json_t *get_session_service(struct bmc_call *c)
{
	json_t *j = lies_there(c);

	lay(j, "SessionTimeout", json_integer(c->b->session_timeout_s));
	return j;
}

static json_t *get_members(struct bmc_call *c, json_t *ours /* takes ownership: a collection */)
{
	json_t *j = lies_there(c);

	if (!j)
		return ours;
	json_object_set(j, "Members", json_object_get(ours, "Members"));
	lay(j, "Members@odata.count",
	    json_integer((json_int_t)json_array_size(json_object_get(ours, "Members"))));
	json_decref(ours);
	return j;
}

static json_t *get_sessions(struct bmc_call *c)
{
	return get_members(c, bmc_get_sessions(c));
}

/* Returns the collection of Tasks: first the simulator's Tasks, then those in the tree. */
static json_t *get_tasks(struct bmc_call *c)
{
	OWN_JSON there = lies_there(c);
	json_t *ours = bmc_get_tasks(c), *members = json_object_get(ours, "Members"), *v;
	size_t i;

	json_array_foreach (json_object_get(there, "Members"), i, v)
		json_array_append(members, v);
	return get_members(c, ours);
}

static json_t *get_manager(struct bmc_call *c)
{
	json_t *j = lies_there(c);
	char now[STR_TIME_SIZE];

	if (json_object_get(j, "DateTime"))
		c->late = json_pack("{s:s}", "DateTime",
				    str_time(now, loop_wall(loop_of(c->b->group))));
	if (c->at == 0)
		lay(j, "UUID", json_string(c->b->uuid));
	return j;
}

/* Returns a NIC with MAC addresses that no other BMC of the rack has. */
static json_t *get_nic(struct bmc_call *c)
{
	static const char *const members[] = {"MACAddress", "PermanentMACAddress"};
	const struct sim_machine *m = c->b->m;
	json_t *j = lies_there(c);
	char mac[20];

	str_copy(mac, sizeof(mac), m->mac);
	if (c->at > 0)
		str_format(mac, sizeof(mac), "02:%02x:%02x:%02x:%02x:00", (unsigned)c->at & 255,
			   m->number >> 16 & 255, m->number >> 8 & 255, m->number & 255);
	for (size_t i = 0; i < 2; i++) {
		const char *was = json_str_at(j, members[i]);

		for (char *p = mac; was && strpbrk(was, "ABCDEF") && *p; p++)
			*p = (char)toupper((unsigned char)*p);
		if (!str_empty(was))
			lay(j, members[i], json_string(mac));
	}
	return j;
}

/* --- the System ------------------------------------------------------------------------------- */

static const char *power_state(const struct sim_bmc *b)
{
	bool on = b->m->on;
	int64_t stale = b->dialect->quirks.power.stale_ms;

	if (stale && b->switched_at != INT64_MIN && bmc_now(b) - b->switched_at < stale)
		on = !on;
	return on ? "On" : "Off";
}

/* True if the System reports no boot override. An override set by the Dell attribute is not
 * reported. */
static bool no_override(const struct sim_machine *m)
{
	return !m->boot_enabled || str_eq(m->boot_enabled, "Disabled") ||
	       str_eq(m->boot_target, BMC_VCD);
}

static void lay_boot(const struct sim_bmc *b, json_t *boot, bool here)
{
	const struct sim_machine *m = b->m;

	if (!here || no_override(m)) {
		if (!str_eq(json_str_at(boot, "BootSourceOverrideEnabled"), "Disabled")) {
			lay(boot, "BootSourceOverrideEnabled", json_string("Disabled"));
			lay(boot, "BootSourceOverrideTarget", json_string("None"));
		}
	} else {
		lay(boot, "BootSourceOverrideEnabled", json_string(m->boot_enabled));
		lay(boot, "BootSourceOverrideTarget", json_string(m->boot_target));
		lay(boot, "BootSourceOverrideMode",
		    json_string(m->legacy_boot ? "Legacy" : "UEFI"));
	}
	if (here && m->http_boot_uri)
		lay(boot, "HttpBootUri", json_string(m->http_boot_uri));
}

static json_t *get_system(struct bmc_call *c)
{
	const struct sim_bmc *b = c->b;
	const struct sim_machine *m = b->m;
	json_t *j = lies_there(c), *progress = json_object_get(j, "BootProgress");
	char uuid[40];

	str_copy(uuid, sizeof(uuid), m->uuid);
	if (bmc_fault(b, "WrongUUID", NULL))
		uuid[35] = uuid[35] == '0' ? '1' : '0';
	json_object_set_new(j, "UUID", json_string(uuid));
	json_object_set_new(j, "SerialNumber", json_string(m->serial));
	json_object_set_new(j, "PowerState", json_string(power_state(b)));
	lay_boot(b, json_object_get(j, "Boot"), b->dialect->quirks.boot.place == SIM_PLACE_SYSTEM);
	if (progress)
		lay(progress, "LastState", json_string(bmc_boot_progress(m)));
	return j;
}

static json_t *get_settings(struct bmc_call *c)
{
	json_t *j = lies_there(c);

	if (c->b->dialect->quirks.boot.place == SIM_PLACE_SETTINGS)
		lay_boot(c->b, json_object_get(j, "Boot"), true);
	return j;
}

/* Returns a GPU baseboard, which is a System of its own. Answers 503 if baseboards of this make
 * have power only while the host is on, and the host is off. */
static json_t *get_other_system(struct bmc_call *c)
{
	if (!c->b->dialect->quirks.baseboard_needs_host || c->b->m->on)
		return lies_there(c);
	bmc_error_as(c, 503, "Ami.1.0.HMCCommuicationFailed",
		     "The baseboard's controller does not answer.");
	return json_null();
}

static json_t *get_attributes(struct bmc_call *c)
{
	const struct sim_machine *m = c->b->m;
	json_t *j = lies_there(c), *all = json_object_get(j, "Attributes");
	bool cd = str_eq(m->boot_target, BMC_VCD) && str_eq(m->boot_enabled, "Once");

	lay(all, BMC_FIRST_DEVICE, json_string(cd ? BMC_VCD : "Normal"));
	if (cd)
		lay(all, BMC_BOOT_ONCE, json_string("Enabled"));
	return j;
}

/* --- media ------------------------------------------------------------------------------------ */

static json_t *get_media(struct bmc_call *c)
{
	json_t *j = lies_there(c);
	char path[160];

	if (!same(c->path, bmc_late_media(c->b)) || !bmc_are_enabled(c->b))
		return j;
	str_format(path, sizeof(path), "%s/" ENABLED, c->path);
	json_object_set_new(j, "Members", json_pack("[o]", bmc_link(path)));
	lay(j, "Members@odata.count", json_integer(1));
	return j;
}

static json_t *late_slot(const char *path)
{
	char insert[220], eject[220];

	str_format(insert, sizeof(insert), "%s/Actions/VirtualMedia.InsertMedia", path);
	str_format(eject, sizeof(eject), "%s/Actions/VirtualMedia.EjectMedia", path);
	return json_pack("{s:s,s:s,s:s,s:s,s:s,s:[s,s],s:n,s:n,s:b,s:s,s:{s:{s:s},s:{s:s}}}",
			 "@odata.id", path, "@odata.type", "#VirtualMedia.v1_3_2.VirtualMedia",
			 "@odata.etag", "\"1\"", "Id", ENABLED, "Name", "Virtual CD", "MediaTypes",
			 "CD", "DVD", "Image", "ImageName", "Inserted", 0, "ConnectedVia",
			 "NotConnected", "Actions", "#VirtualMedia.InsertMedia", "target", insert,
			 "#VirtualMedia.EjectMedia", "target", eject);
}

static json_t *get_slot(struct bmc_call *c)
{
	const struct sim_bmc *b = c->b;
	const struct sim_slot *s = bmc_tree_slot(b, c->at);
	json_t *j = s ? lies_there(c) : late_slot(c->path),
	       *actions = json_object_get(j, "Actions");
	const char *image = c->at == b->slot ? b->m->image : NULL,
		   *slash = image ? strrchr(image, '/') : NULL;
	bool was_in = b->was_in && c->at == b->slot;

	if (image) {
		json_object_set_new(j, "Image", json_string(image));
		lay(j, "ImageName", json_string(slash ? slash + 1 : image));
		lay(j, "ConnectedVia", json_string("URI"));
	} else if (was_in && b->dialect->quirks.media.name_stays) {
		lay(j, "ImageName", json_string(str_or(b->last_name, "")));
	}
	if (b->dialect->quirks.media.verifies)
		json_object_set_new(j, "VerifyCertificate", json_boolean(!b->unverified));
	lay(j, "Inserted", json_boolean(image || (was_in && b->dialect->quirks.media.flag_stays)));
	if (s && s->insert && b->dialect->quirks.media.eject_when_in && image)
		json_object_set_new(actions, "#VirtualMedia.EjectMedia",
				    json_pack("{s:s}", "target", s->eject));
	else if (b->dialect->quirks.media.eject_when_in)
		json_object_del(actions, "#VirtualMedia.EjectMedia");
	return j;
}

/* --- drives ----------------------------------------------------------------------------------- */

#define DRIVE_ID "SIM-"

static json_t *get_no_storage(struct bmc_call *c)
{
	bmc_error_as(c, (int)c->b->dialect->quirks.storage, "Base.1.8.InternalError",
		     "Drives cannot be listed.");
	return json_null();
}

static json_t *get_storage(struct bmc_call *c)
{
	const struct sim_machine *m = c->b->m;
	json_t *j = lies_there(c), *drives = json_array();
	char path[200];

	for (unsigned i = 0; c->at == 0 && i < m->ndrives; i++) {
		str_format(path, sizeof(path), "%s/Drives/" DRIVE_ID "%u", c->path, i);
		json_array_append_new(drives, bmc_link(path));
	}
	lay(j, "Drives@odata.count", json_integer((json_int_t)json_array_size(drives)));
	json_object_set_new(j, "Drives", drives);
	json_object_del(j, "Volumes");
	return j;
}

/* Returns a SimpleStorage, which lists only models and sizes. The machine's drives are in it only
 * if the tree has no Storage. */
static json_t *get_simple_storage(struct bmc_call *c)
{
	bool here = c->at == 0 && !bmc_tree(c->b)->storages[0];
	const struct sim_machine *m = c->b->m;
	json_t *j = lies_there(c), *all = json_array();
	char name[32];

	for (unsigned i = 0; here && i < m->ndrives; i++) {
		if (drive_failed(m->drives[i]))
			continue;
		str_format(name, sizeof(name), "Device %u", i);
		json_array_append_new(
			all, json_pack("{s:s,s:s,s:I,s:{s:s,s:s}}", "Name", name, "Model",
				       i ? MACHINE_DATA_MODEL : MACHINE_ROOT_MODEL, "CapacityBytes",
				       (json_int_t)drive_bytes(m->drives[i]), "Status", "State",
				       "Enabled", "Health", "OK"));
	}
	lay(j, "Devices@odata.count", json_integer((json_int_t)json_array_size(all)));
	json_object_set_new(j, "Devices", all);
	return j;
}

/* Returns a drive with the identity that the simulated agent reports (wipe.c); a pulled drive
 * is reported as an empty bay. */
static json_t *get_drive(struct bmc_call *c)
{
	const struct sim_machine *m = c->b->m;
	char serial[48];
	int64_t n;

	if (!str_to_i64(c->arg + strlen(DRIVE_ID), 0, m->ndrives - 1, &n))
		return NULL;
	if (drive_failed(m->drives[n]))
		return json_pack("{s:s,s:s,s:{s:s}}", "Id", c->arg, "Name", "Drive bay", "Status",
				 "State", "Absent");
	str_format(serial, sizeof(serial), "%sN%lld", m->serial, (long long)n);
	return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:I,s:[{s:s,s:s}],s:{s:s,s:s}}", "Id", c->arg,
			 "Name", "Drive", "Model", n ? MACHINE_DATA_MODEL : MACHINE_ROOT_MODEL,
			 "SerialNumber", serial, "MediaType", "SSD", "Protocol", "NVMe",
			 "CapacityBytes", (json_int_t)drive_bytes(m->drives[n]), "Identifiers",
			 "DurableName", m->wwns[n], "DurableNameFormat", "EUI", "Status", "State",
			 "Enabled", "Health", "OK");
}

/* --- all other resources ---------------------------------------------------------------------- */

/* Returns the path with the first query parameter, because pages of collections were captured with
 * their query: "Sensors?$skip=75". */
static char *with_query(struct bmc_call *c)
{
	const char *name = httpd_query_name(c->q, 0);

	return name ? mem_printf("%s?%s=%s", c->path, name, str_or(httpd_query(c->q, name), ""))
		    : mem_strdup(c->path);
}

bool bmc_tree_is_page(struct bmc_call *c)
{
	char *path = with_query(c);
	OWN_JSON j = sim_tree_get(bmc_tree(c->b), path);

	free(path);
	return j;
}

static json_t *get_other(struct bmc_call *c)
{
	char *path = with_query(c), *text;
	const char *type;
	size_t len;

	text = sim_tree_text(bmc_tree(c->b), path, &len, &type);
	if (text)
		httpd_reply(c->q, 200, type, text, len);
	free(text);
	free(path);
	return text ? json_null() : NULL;
}

/* --- routes ----------------------------------------------------------------------------------- */

enum place {
	/* Resources that are readable without a login. */
	OPEN,
	ROOT,
	SESSION_SERVICE,
	SESSION_LIST,
	SESSION,
	SYSTEM,
	SETTINGS,
	RESET,
	OTHER_SYSTEM,
	MANAGER,
	ATTRIBUTES,
	MEDIA,
	SLOT,
	INSERT,
	EJECT,
	ENABLE,
	TASK_LIST,
	TASK,
	MONITOR,
	STREAM,
	NIC,
	NO_STORAGE,
	STORAGE,
	SIMPLE_STORAGE,
	DRIVE,
	OTHER,
};

#define SESSION_TYPE "Session.v1_7_0.Session"
#define TASK_TYPE "Task.v1_7_0.Task"
#define DRIVE_TYPE "Drive.v1_17_0.Drive"
static const struct bmc_route routes[] = {
	[OPEN] = {"", NULL, get_other, NULL, NULL, NULL, BMC_ANYBODY, BMC_ALL},
	[ROOT] = {"", NULL, get_root, NULL, NULL, NULL, BMC_ANYBODY, BMC_ALL},
	[SESSION_SERVICE] = {"", NULL, get_session_service, NULL, bmc_patch_session_service, NULL,
			     BMC_LOGIN, BMC_ALL},
	[SESSION_LIST] = {"", NULL, get_sessions, bmc_post_session, NULL, NULL, BMC_LOGIN,
			  BMC_ANYBODY},
	[SESSION] = {"", SESSION_TYPE, bmc_get_session, NULL, NULL, bmc_delete_session, BMC_LOGIN,
		     BMC_LOGIN},
	[SYSTEM] = {"", NULL, get_system, NULL, bmc_dialect_boot, NULL, BMC_LOGIN, BMC_COMPONENTS},
	[SETTINGS] = {"", NULL, get_settings, NULL, bmc_dialect_settings, NULL, BMC_LOGIN,
		      BMC_COMPONENTS},
	[RESET] = {"", NULL, NULL, bmc_dialect_reset, NULL, NULL, BMC_LOGIN, BMC_COMPONENTS},
	[OTHER_SYSTEM] = {"", NULL, get_other_system, NULL, NULL, NULL, BMC_LOGIN, BMC_ALL},
	[MANAGER] = {"", NULL, get_manager, NULL, NULL, NULL, BMC_LOGIN, BMC_ALL},
	[ATTRIBUTES] = {"", NULL, get_attributes, NULL, bmc_dialect_attributes, NULL, BMC_LOGIN,
			BMC_COMPONENTS},
	[MEDIA] = {"", NULL, get_media, NULL, NULL, NULL, BMC_LOGIN, BMC_ALL},
	[SLOT] = {"", NULL, get_slot, NULL, bmc_dialect_slot, NULL, BMC_LOGIN, BMC_COMPONENTS},
	[INSERT] = {"", NULL, NULL, bmc_dialect_insert, NULL, NULL, BMC_LOGIN, BMC_COMPONENTS},
	[EJECT] = {"", NULL, NULL, bmc_dialect_eject, NULL, NULL, BMC_LOGIN, BMC_COMPONENTS},
	[ENABLE] = {"", NULL, NULL, bmc_dialect_enable, NULL, NULL, BMC_LOGIN, BMC_COMPONENTS},
	[TASK_LIST] = {"", NULL, get_tasks, NULL, NULL, NULL, BMC_LOGIN, BMC_ALL},
	[TASK] = {"", TASK_TYPE, bmc_get_task, NULL, NULL, bmc_delete_task, BMC_LOGIN,
		  BMC_COMPONENTS},
	[MONITOR] = {"", TASK_TYPE, bmc_get_monitor, NULL, NULL, NULL, BMC_LOGIN, BMC_ALL},
	[STREAM] = {"", NULL, bmc_get_stream, NULL, NULL, NULL, BMC_LOGIN, BMC_ALL},
	[NIC] = {"", NULL, get_nic, NULL, NULL, NULL, BMC_LOGIN, BMC_ALL},
	[NO_STORAGE] = {"", NULL, get_no_storage, NULL, NULL, NULL, BMC_LOGIN, BMC_ALL},
	[STORAGE] = {"", NULL, get_storage, NULL, NULL, NULL, BMC_LOGIN, BMC_ALL},
	[SIMPLE_STORAGE] = {"", NULL, get_simple_storage, NULL, NULL, NULL, BMC_LOGIN, BMC_ALL},
	[DRIVE] = {"", DRIVE_TYPE, get_drive, NULL, NULL, NULL, BMC_LOGIN, BMC_ALL},
	[OTHER] = {"", NULL, get_other, NULL, NULL, NULL, BMC_LOGIN, BMC_ALL},
};

static bool among(char *const *list, size_t n, const char *path, size_t *at)
{
	for (size_t i = 0; i < n && list[i]; i++) {
		if (!same(list[i], path))
			continue;
		*at = i;
		return true;
	}
	return false;
}
#define AMONG(list_, path_, at_) among(list_, sizeof(list_) / sizeof(*(list_)), path_, at_)

/* True if the path is directly below collection; copies its last segment to c->arg. */
static bool is_member(struct bmc_call *c, const char *collection)
{
	size_t n = collection ? strlen(collection) : 0;

	return n && strncasecmp(c->path, collection, n) == 0 && c->path[n] == '/' &&
	       !strchr(c->path + n + 1, '/') && str_copy(c->arg, sizeof(c->arg), c->path + n + 1);
}

static bool is_slot(struct bmc_call *c, enum place *out)
{
	const struct sim_tree *t = bmc_tree(c->b);

	for (c->at = 0; c->at < t->nslots; c->at++) {
		const struct sim_slot *s = &t->slots[c->at];

		*out = same(s->path, c->path)	  ? SLOT
		       : same(s->insert, c->path) ? INSERT
		       : same(s->eject, c->path)  ? EJECT
						  : OTHER;
		if (*out != OTHER)
			return true;
	}
	return false;
}

static bool is_late_slot(struct bmc_call *c, enum place *out)
{
	static const struct {
		const char *rest;
		enum place place;
	} of[] = {{"/" ENABLED, SLOT},
		  {"/" ENABLED "/Actions/VirtualMedia.InsertMedia", INSERT},
		  {"/" ENABLED "/Actions/VirtualMedia.EjectMedia", EJECT}};
	const char *media = bmc_late_media(c->b);
	size_t n = media ? strlen(media) : 0;

	if (!n || !bmc_are_enabled(c->b) || strncasecmp(c->path, media, n) != 0)
		return false;
	c->at = 0;
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		*out = of[i].place;
		if (str_eq(c->path + n, of[i].rest))
			return true;
	}
	return false;
}

static enum place single(const struct sim_tree *t, const char *path)
{
	const struct {
		const char *path;
		enum place place;
	} of[] = {
		{SIM_TREE_ROOT, ROOT},
		{"/redfish", OPEN},
		{SIM_TREE_ROOT "/$metadata", OPEN},
		{SIM_TREE_ROOT "/odata", OPEN},
		{t->session_service, SESSION_SERVICE},
		{t->sessions, SESSION_LIST},
		{t->system, SYSTEM},
		{t->settings, SETTINGS},
		{t->reset, RESET},
		{t->attributes, ATTRIBUTES},
		{t->enable, ENABLE},
		{t->tasks, TASK_LIST},
		{t->stream, STREAM},
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		if (same(of[i].path, path))
			return of[i].place;
	return OTHER;
}

static bool is_drive(struct bmc_call *c)
{
	char drives[160];

	return bmc_tree(c->b)->storages[0] &&
	       str_format(drives, sizeof(drives), "%s/Drives", bmc_tree(c->b)->storages[0]) &&
	       is_member(c, drives) && str_starts(c->arg, DRIVE_ID);
}

static bool is_no_storage(struct bmc_call *c)
{
	char list[160];

	return c->b->dialect->quirks.storage && bmc_tree(c->b)->system &&
	       str_format(list, sizeof(list), "%s/Storage", bmc_tree(c->b)->system) &&
	       str_starts(c->path, list);
}

/* True if the path is a Task of the simulator in this collection; captured Tasks have lower
 * numbers. */
static bool is_task(struct bmc_call *c, const char *collection)
{
	int64_t id;

	if (!is_member(c, collection) || !str_to_i64(c->arg, 1, UINT32_MAX, &id))
		return false;
	for (size_t i = 0; i < BMC_TASKS; i++)
		if (c->b->tasks[i].id == id)
			return true;
	return false;
}

static bool is_there(struct bmc_call *c)
{
	OWN_JSON j = lies_there(c);

	return j;
}

const struct bmc_route *bmc_tree_route(struct bmc_call *c)
{
	const struct sim_tree *t = bmc_tree(c->b);
	bool reads = str_eq(httpd_method(c->q), "GET") || str_eq(httpd_method(c->q), "HEAD");
	enum place at = single(t, c->path);

	if (at != OTHER || is_slot(c, &at) || is_late_slot(c, &at))
		return &routes[at];
	if (is_member(c, t->sessions))
		return &routes[SESSION];
	if (is_task(c, bmc_tasks_path(c->b)))
		return &routes[TASK];
	if (is_task(c, MONITORS))
		return &routes[MONITOR];
	if (AMONG(t->others, c->path, &c->at))
		return &routes[OTHER_SYSTEM];
	if (AMONG(t->managers, c->path, &c->at))
		return &routes[MANAGER];
	if (AMONG(t->media, c->path, &c->at))
		return &routes[MEDIA];
	if (AMONG(t->nics, c->path, &c->at))
		return &routes[NIC];
	if (is_no_storage(c))
		return &routes[NO_STORAGE];
	if (AMONG(t->storages, c->path, &c->at))
		return &routes[STORAGE];
	if (AMONG(t->simple_storages, c->path, &c->at))
		return &routes[SIMPLE_STORAGE];
	if (is_drive(c))
		return &routes[DRIVE];
	return reads || is_there(c) ? &routes[OTHER] : NULL;
}

/* --- ETags ------------------------------------------------------------------------------------ */

static bool tag_fits(const struct sim_bmc *b, const char *match, const char *etag)
{
	switch ((enum sim_etag_form)b->dialect->quirks.etags.form) {
	case SIM_ETAG_GIVEN:
		return str_eq(match, etag) || str_eq(match, "*");
	case SIM_ETAG_STRONG:
		return str_eq(match, str_starts(etag, "W/") ? etag + 2 : etag) ||
		       str_eq(match, "*");
	case SIM_ETAG_ANY:
		return str_eq(match, "*");
	}
	return false;
}

bool bmc_tree_condition(struct bmc_call *c)
{
	const char *match = httpd_header(c->q, "If-Match"), *etag;
	OWN_JSON now = json_copy(c->now);
	int how = c->b->dialect->quirks.etags.if_match;
	bool good = true;
	char text[BMC_TAG];

	/* Accepts the write: built-in resources (sessions, tasks) do not check If-Match, and some
	 * makes ignore it. */
	if (c->route->type || how == SIM_MATCH_IGNORED)
		return true;
	etag = bmc_envelope(c, now, text);
	if (!match && how == SIM_MATCH_REQUIRED) {
		bmc_error(c, 428, "PreconditionRequired");
		return false;
	}
	if (match)
		good = how != SIM_MATCH_REFUSED && tag_fits(c->b, match, str_or(etag, ""));
	if (match && how == SIM_MATCH_CHECKED && !etag)
		good = true;
	if (!good)
		bmc_error(c, 412, "PreconditionFailed");
	return good;
}
