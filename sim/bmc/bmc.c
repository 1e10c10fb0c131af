#include "sim/bmc/bmc_impl.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/crypto.h"
#include "base/mem.h"
#include "base/str.h"

/*
 * Handles one request (DSP0266 sections 7 to 9). The checks run in this sequence:
 *
 *   faults -> protocol version -> login -> resource -> method -> condition -> body -> handler
 *
 * An ETag is a digest of the resource, so that the ETag changes exactly when the resource changes.
 */
#define V1 "/redfish/v1"
/* Time without a request after which the BMC sleeps: the next request gets the first-request
 * latency again. */
#define ASLEEP_MS 60000

static const struct bmc_route routes[] = {
	{"/redfish", NULL, bmc_get_versions, NULL, NULL, NULL, BMC_ANYBODY, BMC_ALL},
	{V1, "ServiceRoot.v1_16_0.ServiceRoot", bmc_get_root, NULL, NULL, NULL, BMC_ANYBODY,
	 BMC_ALL},
	{V1 "/odata", NULL, bmc_get_odata, NULL, NULL, NULL, BMC_ANYBODY, BMC_ALL},
	{V1 "/$metadata", NULL, bmc_get_metadata, NULL, NULL, NULL, BMC_ANYBODY, BMC_ALL},
	{V1 "/SessionService", "SessionService.v1_1_9.SessionService", bmc_get_session_service,
	 NULL, bmc_patch_session_service, NULL, BMC_LOGIN, BMC_ALL},
	{V1 "/SessionService/Sessions", "SessionCollection.SessionCollection", bmc_get_sessions,
	 bmc_post_session, NULL, NULL, BMC_LOGIN, BMC_ANYBODY},
	{V1 "/SessionService/Sessions/{}", "Session.v1_7_0.Session", bmc_get_session, NULL, NULL,
	 bmc_delete_session, BMC_LOGIN, BMC_LOGIN},
	{V1 "/AccountService", "AccountService.v1_15_0.AccountService", bmc_get_account_service,
	 NULL, NULL, NULL, BMC_LOGIN, BMC_ALL},
	{V1 "/AccountService/Accounts", "ManagerAccountCollection.ManagerAccountCollection",
	 bmc_get_accounts, bmc_post_account, NULL, NULL, BMC_LOGIN, BMC_ALL},
	{V1 "/AccountService/Accounts/{}", "ManagerAccount.v1_12_0.ManagerAccount", bmc_get_account,
	 NULL, bmc_patch_account, bmc_delete_account, BMC_LOGIN, BMC_LOGIN},
	{V1 "/AccountService/Roles", "RoleCollection.RoleCollection", bmc_get_roles, NULL, NULL,
	 NULL, BMC_LOGIN, BMC_ALL},
	{V1 "/AccountService/Roles/{}", "Role.v1_3_1.Role", bmc_get_role, NULL, NULL, NULL,
	 BMC_LOGIN, BMC_ALL},
	{V1 "/Systems", "ComputerSystemCollection.ComputerSystemCollection", bmc_get_systems, NULL,
	 NULL, NULL, BMC_LOGIN, BMC_ALL},
	{BMC_SYSTEM, "ComputerSystem.v1_22_0.ComputerSystem", bmc_get_system, NULL,
	 bmc_patch_system, NULL, BMC_LOGIN, BMC_COMPONENTS},
	{BMC_SYSTEM "/ResetActionInfo", "ActionInfo.v1_4_0.ActionInfo", bmc_get_reset_info, NULL,
	 NULL, NULL, BMC_LOGIN, BMC_ALL},
	{BMC_SYSTEM "/Actions/ComputerSystem.Reset", NULL, NULL, bmc_post_reset, NULL, NULL,
	 BMC_LOGIN, BMC_COMPONENTS},
	{BMC_SYSTEM "/EthernetInterfaces",
	 "EthernetInterfaceCollection.EthernetInterfaceCollection", bmc_get_nics, NULL, NULL, NULL,
	 BMC_LOGIN, BMC_ALL},
	{BMC_SYSTEM "/EthernetInterfaces/1", "EthernetInterface.v1_11_0.EthernetInterface",
	 bmc_get_nic, NULL, NULL, NULL, BMC_LOGIN, BMC_ALL},
	{V1 "/Chassis", "ChassisCollection.ChassisCollection", bmc_get_chassis_list, NULL, NULL,
	 NULL, BMC_LOGIN, BMC_ALL},
	{BMC_CHASSIS, "Chassis.v1_25_0.Chassis", bmc_get_chassis, NULL, NULL, NULL, BMC_LOGIN,
	 BMC_ALL},
	{V1 "/Managers", "ManagerCollection.ManagerCollection", bmc_get_managers, NULL, NULL, NULL,
	 BMC_LOGIN, BMC_ALL},
	{BMC_MANAGER, "Manager.v1_19_0.Manager", bmc_get_manager, NULL, NULL, NULL, BMC_LOGIN,
	 BMC_ALL},
	{BMC_MANAGER "/VirtualMedia", "VirtualMediaCollection.VirtualMediaCollection",
	 bmc_get_media, NULL, NULL, NULL, BMC_LOGIN, BMC_ALL},
	{BMC_MANAGER "/VirtualMedia/Cd", "VirtualMedia.v1_6_0.VirtualMedia", bmc_get_slot, NULL,
	 NULL, NULL, BMC_LOGIN, BMC_ALL},
	{BMC_MANAGER "/VirtualMedia/Cd/Actions/VirtualMedia.InsertMedia", NULL, NULL,
	 bmc_post_insert, NULL, NULL, BMC_LOGIN, BMC_COMPONENTS},
	{BMC_MANAGER "/VirtualMedia/Cd/Actions/VirtualMedia.EjectMedia", NULL, NULL, bmc_post_eject,
	 NULL, NULL, BMC_LOGIN, BMC_COMPONENTS},
	{V1 "/TaskService", "TaskService.v1_2_0.TaskService", bmc_get_task_service, NULL, NULL,
	 NULL, BMC_LOGIN, BMC_ALL},
	{V1 "/TaskService/Tasks", "TaskCollection.TaskCollection", bmc_get_tasks, NULL, NULL, NULL,
	 BMC_LOGIN, BMC_ALL},
	{V1 "/TaskService/Tasks/{}", "Task.v1_7_0.Task", bmc_get_task, NULL, NULL, bmc_delete_task,
	 BMC_LOGIN, BMC_COMPONENTS},
	{V1 "/TaskService/TaskMonitors/{}", "Task.v1_7_0.Task", bmc_get_monitor, NULL, NULL, NULL,
	 BMC_LOGIN, BMC_ALL},
	{V1 "/EventService", "EventService.v1_10_0.EventService", bmc_get_event_service, NULL, NULL,
	 NULL, BMC_LOGIN, BMC_ALL},
	{V1 "/EventService/Subscriptions", "EventDestinationCollection.EventDestinationCollection",
	 bmc_get_subscriptions, NULL, NULL, NULL, BMC_LOGIN, BMC_ALL},
	{V1 "/EventService/SSE", NULL, bmc_get_stream, NULL, NULL, NULL, BMC_LOGIN, BMC_ALL},
	{V1 "/Registries", "MessageRegistryFileCollection.MessageRegistryFileCollection",
	 bmc_get_registries, NULL, NULL, NULL, BMC_LOGIN, BMC_ALL},
	{V1 "/Registries/{}", "MessageRegistryFile.v1_1_3.MessageRegistryFile", bmc_get_registry,
	 NULL, NULL, NULL, BMC_LOGIN, BMC_ALL},
	{V1 "/JsonSchemas", "JsonSchemaFileCollection.JsonSchemaFileCollection", bmc_get_schemas,
	 NULL, NULL, NULL, BMC_LOGIN, BMC_ALL},
	{V1 "/JsonSchemas/{}", "JsonSchemaFile.v1_1_4.JsonSchemaFile", bmc_get_schema, NULL, NULL,
	 NULL, BMC_LOGIN, BMC_ALL},
	{NULL, NULL, NULL, NULL, NULL, NULL, BMC_ALL, BMC_ALL},
};

/* --- one request ------------------------------------------------------------------------------ */

/* Applies the faults of faults.h that affect every request. Returns true if a fault applied: the
 * request is then answered, or will never be (BmcHang). */
static bool misbehave(struct bmc_call *c)
{
	int64_t value;
	char text[16];

	if (bmc_fault(c->b, "BmcHang", NULL))
		return true;
	if (bmc_fault(c->b, "BmcGarbage", NULL)) {
		bmc_reply_text(c, "application/json", "<html>\xff out of order");
		return true;
	}
	if (bmc_fault(c->b, "RetryAfter", &value)) {
		str_format(text, sizeof(text), "%lld", (long long)value);
		httpd_reply_header(c->q, "Retry-After", text);
		bmc_error(c, 503, "ServiceTemporarilyUnavailable", text);
		return true;
	}
	if (bmc_fault(c->b, "BmcStatus", &value)) {
		bmc_error(c, (int)value, "GeneralError");
		return true;
	}
	return false;
}

static bool matches(const char *pattern, const char *path, char *arg, size_t size)
{
	for (; *pattern && *path; pattern++, path++) {
		if (pattern[0] == '{') {
			size_t n = strcspn(path, "/");

			if (!n || n >= size)
				return false;
			memcpy(arg, path, n);
			arg[n] = '\0';
			pattern += 1;
			path += n - 1;
		} else if (*pattern != *path) {
			return false;
		}
	}
	return !*pattern && !*path;
}

static const struct bmc_route *find_route(struct bmc_call *c)
{
	size_t n;

	if (!str_copy(c->path, sizeof(c->path), httpd_path(c->q)))
		return NULL;
	n = strlen(c->path);
	if (n > 1 && c->path[n - 1] == '/')
		c->path[--n] = '\0';
	/* A POST to a collection's Members is a POST to the collection (DSP0266). */
	if (str_eq(httpd_method(c->q), "POST") && str_ends(c->path, "/Members"))
		c->path[n - strlen("/Members")] = '\0';
	if (c->b->dialect)
		return bmc_tree_route(c);
	for (const struct bmc_route *r = routes; r->path; r++)
		if (matches(r->path, c->path, c->arg, sizeof(c->arg)))
			return r;
	return NULL;
}

/* Checks the query parameters. False: a parameter was refused, and the request was answered.
 * Unknown parameters are ignored, unless their name begins with '$'. */
static bool query_ok(struct bmc_call *c)
{
	const char *name;

	for (size_t i = 0; (name = httpd_query_name(c->q, i)); i++) {
		if (*name != '$' || (c->b->dialect && bmc_tree_is_page(c)))
			continue;
		bmc_error(c, 501, "QueryNotSupported");
		return false;
	}
	return true;
}

/* Checks the header If-Match. False: the header does not match the resource's ETag, and the request
 * was answered. */
static bool condition_ok(struct bmc_call *c)
{
	const char *match = httpd_header(c->q, "If-Match");
	OWN_JSON now = json_copy(c->now);
	char etag[32];

	if (!match && bmc_fault(c->b, "EtagRequired", NULL)) {
		bmc_error(c, 428, "PreconditionRequired");
		return false;
	}
	if (c->b->dialect && !bmc_fault(c->b, "EtagAlways412", NULL))
		return bmc_tree_condition(c);
	if (!match)
		return true;
	bmc_envelope(c, now, etag);
	if ((str_eq(match, etag) || str_eq(match, "*")) && !bmc_fault(c->b, "EtagAlways412", NULL))
		return true;
	bmc_error(c, 412, "PreconditionFailed");
	return false;
}

/* Parses and checks the request body. False: the body was refused, and the request was answered. */
static bool body_ok(struct bmc_call *c)
{
	const char *type = httpd_header(c->q, "Content-Type");
	const char *text;
	size_t len;
	struct err e;

	text = httpd_body(c->q, &len);
	if (!len)
		return true;
	if (type && strncasecmp(type, "application/json", strlen("application/json")) != 0) {
		bmc_error(c, 415, "UnrecognizedRequestBody");
		return false;
	}
	c->body = json_parse(text, len, &e);
	if (!c->body)
		bmc_error(c, 400, "MalformedJSON");
	else if (!json_is_object(c->body))
		bmc_error(c, 400, "UnrecognizedRequestBody");
	return json_is_object(c->body);
}

static void read_resource(struct bmc_call *c)
{
	json_t *j;

	if (!c->route->get) {
		bmc_reply_allow(c);
		bmc_error(c, 405, "OperationNotAllowed");
		return;
	}
	if (!query_ok(c))
		return;
	j = c->route->get(c);
	if (json_is_null(j)) /* get() has answered the request already */
		return;
	if (j)
		bmc_reply_resource(c, j);
	else
		bmc_error(c, 404, "ResourceMissingAtURI", c->path);
}

static void write_resource(struct bmc_call *c, void (*fn)(struct bmc_call *c))
{
	bool changes = c->route->get && fn != c->route->post;

	if (changes) {
		c->now = c->route->get(c);
		if (!c->now) {
			bmc_error(c, 404, "ResourceMissingAtURI", c->path);
			return;
		}
		if (json_is_null(c->now)) /* get() has answered the request already */
			return;
	}
	if ((!changes || condition_ok(c)) && body_ok(c))
		fn(c);
}

static void serve(struct bmc_call *c)
{
	const char *method = httpd_method(c->q), *version = httpd_header(c->q, "OData-Version");
	bool reads = str_eq(method, "GET") || str_eq(method, "HEAD");
	void (*fn)(struct bmc_call *) = NULL;

	c->route = find_route(c);
	if (version && !str_eq(version, "4.0")) {
		bmc_error(c, 412, "HeaderInvalid", "OData-Version");
		return;
	}
	if (!bmc_admit(c, !c->route ? BMC_LOGIN : reads ? c->route->reads : c->route->writes))
		return;
	if (!c->route) {
		bmc_error(c, 404, "ResourceMissingAtURI", c->path);
		return;
	}
	if (reads) {
		read_resource(c);
		return;
	}
	if (str_eq(method, "POST"))
		fn = c->route->post;
	else if (str_eq(method, "PATCH"))
		fn = c->route->patch;
	else if (str_eq(method, "DELETE"))
		fn = c->route->del;
	if (fn) {
		write_resource(c, fn);
	} else {
		bmc_reply_allow(c);
		bmc_error(c, 405, "OperationNotAllowed");
	}
}

static void answer(struct httpd_req *q, void *arg)
{
	struct sim_bmc *b = arg;
	struct bmc_call c = {.b = b, .q = q};

	httpd_reply_header(q, "OData-Version", "4.0");
	httpd_reply_header(q, "Cache-Control", "no-cache");
	if (!misbehave(&c))
		serve(&c);
	json_decref(c.body);
	json_decref(c.now);
	json_decref(c.late);
	json_decref(c.errors);
}

/* Returns the delay of the answer in ms: BMCs of some makes are slow to answer the first request
 * after idle time. */
static int64_t latency(struct sim_bmc *b)
{
	const struct sim_quirks *q = &b->dialect->quirks;
	bool first = b->heard_at == INT64_MIN || bmc_now(b) - b->heard_at > ASLEEP_MS;

	b->heard_at = bmc_now(b);
	return q->latency_ms + (first ? q->first_ms : 0);
}

/* Handles a request, at once or after a delay; a delayed request has no effect until the delay has
 * passed. */
void sim_bmc_handle(struct httpd_req *q, struct sim_bmc *b)
{
	int64_t seconds = 0, ms;

	(void)bmc_fault(b, "BmcSlow", &seconds);
	ms = seconds * 1000 + (b->dialect ? latency(b) : 0);
	if (ms > 0)
		sim_delay(&b->delays, q, ms, answer, b);
	else
		answer(q, b);
}

/* --- start and end ---------------------------------------------------------------------------- */

struct sim_bmc *sim_bmc_new(struct loop_group *g, struct sim_machine *m,
			    const struct sim_dialect *d, const char *user,
			    const struct secret *password)
{
	struct sim_bmc *b = mem_new(struct sim_bmc);

	b->group = g;
	sim_delays_init(&b->delays, g);
	b->m = m;
	b->dialect = d;
	b->routes = routes;
	b->enabled_at = -1;
	b->heard_at = b->switched_at = INT64_MIN;
	/* Derives the UUID of the BMC from the machine's, so that it stays the same after a
	 * restart. */
	str_copy(b->uuid, sizeof(b->uuid), m->uuid);
	for (size_t i = 0; i < 8 && b->uuid[i]; i++)
		b->uuid[i] = "fedcba9876543210"[strtoul((char[]){b->uuid[i], '\0'}, NULL, 16)];
	bmc_login_init(b, user, password);
	bmc_system_init(b);
	bmc_manager_init(b);
	bmc_task_init(b);
	bmc_event_init(b);
	return b;
}

void sim_bmc_free(struct sim_bmc *b)
{
	if (!b)
		return;
	sim_delays_done(&b->delays);
	bmc_event_done(b);
	bmc_task_done(b);
	bmc_manager_done(b);
	bmc_system_done(b);
	bmc_login_done(b);
	free(b->last_name);
	free(b);
}

const char *sim_bmc_system(const struct sim_bmc *b)
{
	return bmc_system_path(b);
}
