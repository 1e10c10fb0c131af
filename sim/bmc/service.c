#include "sim/bmc/bmc_impl.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"

/*
 * bmc_service: the service root, OData documents, registries and schemas. Registries and schemas
 * are references to DMTF's publications; no copies are shipped.
 * Tests: tests/unit/sim/bmc/test_bmc.c
 */
#define SCHEMAS "http://redfish.dmtf.org/schemas/v1/"
#define BASE "Base.1.18.1"

static const struct {
	const char *name, *path;
} services[] = {
	{"AccountService", "/redfish/v1/AccountService"},
	{"Chassis", "/redfish/v1/Chassis"},
	{"EventService", "/redfish/v1/EventService"},
	{"JsonSchemas", "/redfish/v1/JsonSchemas"},
	{"Managers", "/redfish/v1/Managers"},
	{"Registries", "/redfish/v1/Registries"},
	{"SessionService", "/redfish/v1/SessionService"},
	{"Systems", "/redfish/v1/Systems"},
	{"Tasks", "/redfish/v1/TaskService"},
};
#define SERVICES (sizeof(services) / sizeof(services[0]))

json_t *bmc_get_versions(struct bmc_call *c)
{
	(void)c;
	return json_pack("{s:s}", "v1", "/redfish/v1/");
}

static json_t *features(void)
{
	return json_pack("{s:b,s:b,s:b,s:b,s:{s:b,s:b,s:b,s:b},s:{s:b,s:b}}", "ExcerptQuery", 0,
			 "FilterQuery", 0, "OnlyMemberQuery", 0, "SelectQuery", 0, "ExpandQuery",
			 "ExpandAll", 0, "Levels", 0, "Links", 0, "NoLinks", 0, "DeepOperations",
			 "DeepPATCH", 0, "DeepPOST", 0);
}

json_t *bmc_get_root(struct bmc_call *c)
{
	json_t *j = json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:o,s:{s:o}}", "Id", "RootService", "Name",
			      "Root Service", "RedfishVersion", "1.20.0", "UUID", c->b->uuid,
			      "Vendor", "drover", "Product", "drover simulated BMC",
			      "ProtocolFeaturesSupported", features(), "Links", "Sessions",
			      bmc_link("/redfish/v1/SessionService/Sessions"));

	for (size_t i = 0; i < SERVICES; i++)
		json_object_set_new(j, services[i].name, bmc_link(services[i].path));
	return j;
}

json_t *bmc_get_odata(struct bmc_call *c)
{
	json_t *all = json_pack("[{s:s,s:s,s:s},{s:s,s:s,s:s}]", "name", "Service", "kind",
				"Singleton", "url", "/redfish/v1/", "name", "Sessions", "kind",
				"Singleton", "url", "/redfish/v1/SessionService/Sessions");

	(void)c;
	for (size_t i = 0; i < SERVICES; i++)
		json_array_append_new(all, json_pack("{s:s,s:s,s:s}", "name", services[i].name,
						     "kind", "Singleton", "url", services[i].path));
	return json_pack("{s:s,s:o}", "@odata.context", "/redfish/v1/$metadata", "value", all);
}

/* short_name() returns the length of "ComputerSystem" in "ComputerSystem.v1_22_0.ComputerSystem",
 * versioned_name() the length of "ComputerSystem.v1_22_0". */
static int short_name(const char *type)
{
	return (int)strcspn(type, ".");
}

static int versioned_name(const char *type)
{
	return (int)(strrchr(type, '.') - type);
}

/* True if a route before r has the same type. */
static bool seen_before(const struct bmc_call *c, const struct bmc_route *r)
{
	for (const struct bmc_route *o = c->b->routes; o < r; o++)
		if (str_eq(o->type, r->type))
			return true;
	return false;
}

static void reference(struct buf *b, const char *type)
{
	int n = short_name(type), v = versioned_name(type);

	buf_printf(b,
		   "<edmx:Reference Uri=\"" SCHEMAS
		   "%.*s_v1.xml\">\n<edmx:Include Namespace=\"%.*s\"/>\n",
		   n, type, n, type);
	if (v > n)
		buf_printf(b, "<edmx:Include Namespace=\"%.*s\"/>\n", v, type);
	buf_puts(b, "</edmx:Reference>\n");
}

json_t *bmc_get_metadata(struct bmc_call *c)
{
	static const char *const more[] = {"Message.v1_1_2.Message", "Resource.v1_17_0.Resource",
					   "Event.v1_9_0.Event", "RedfishExtensions.v1_0_0.x"};
	struct buf b;

	buf_init(&b, 65536);
	buf_puts(&b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		     "<edmx:Edmx xmlns:edmx=\"http://docs.oasis-open.org/odata/ns/edmx\" "
		     "Version=\"4.0\">\n");
	for (const struct bmc_route *r = c->b->routes; r->path; r++)
		if (r->type && !seen_before(c, r))
			reference(&b, r->type);
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		reference(&b, more[i]);
	buf_puts(
		&b,
		"<edmx:DataServices>\n"
		"<Schema xmlns=\"http://docs.oasis-open.org/odata/ns/edm\" Namespace=\"Service\">\n"
		"<EntityContainer Name=\"Service\" "
		"Extends=\"ServiceRoot.v1_16_0.ServiceContainer\"/>\n"
		"</Schema>\n</edmx:DataServices>\n</edmx:Edmx>\n");
	bmc_reply_text(c, "application/xml; charset=utf-8", b.data);
	buf_done(&b);
	return json_null();
}

json_t *bmc_get_registries(struct bmc_call *c)
{
	(void)c;
	return bmc_collection("Message registries",
			      json_pack("[o]", bmc_link("/redfish/v1/Registries/" BASE)));
}

json_t *bmc_get_registry(struct bmc_call *c)
{
	if (!str_eq(c->arg, BASE))
		return NULL;
	return json_pack("{s:s,s:s,s:s,s:[s],s:[{s:s,s:s}]}", "Id", BASE, "Name",
			 "Base Message Registry File", "Registry", "Base.1.18", "Languages", "en",
			 "Location", "Language", "en", "PublicationUri",
			 "https://redfish.dmtf.org/registries/" BASE ".json");
}

json_t *bmc_get_schemas(struct bmc_call *c)
{
	json_t *all = json_array();
	char path[128];

	for (const struct bmc_route *r = c->b->routes; r->path; r++) {
		if (!r->type || seen_before(c, r))
			continue;
		str_format(path, sizeof(path), "/redfish/v1/JsonSchemas/%.*s",
			   versioned_name(r->type), r->type);
		json_array_append_new(all, bmc_link(path));
	}
	return bmc_collection("Schemas", all);
}

json_t *bmc_get_schema(struct bmc_call *c)
{
	const struct bmc_route *r = c->b->routes;
	char uri[160], schema[96];

	while (r->path && !(r->type && (size_t)versioned_name(r->type) == strlen(c->arg) &&
			    str_starts(r->type, c->arg)))
		r++;
	if (!r->path)
		return NULL;
	str_format(uri, sizeof(uri), SCHEMAS "%s.json", c->arg);
	str_format(schema, sizeof(schema), "#%s", r->type);
	return json_pack("{s:s,s:s,s:s,s:[s],s:[{s:s,s:s}]}", "Id", c->arg, "Name", c->arg,
			 "Schema", schema, "Languages", "en", "Location", "Language", "en",
			 "PublicationUri", uri);
}
