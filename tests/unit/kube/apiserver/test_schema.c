#include "tests/unit/kube/apiserver/api_rig.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"
#include "kube/apiserver/server.h"

static json_t *parse(const char *text)
{
	struct err e;
	char copy[4096];
	json_t *j;

	assert_true(str_copy(copy, sizeof(copy), text));
	for (char *c = copy; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	j = json_parse(copy, strlen(copy), &e);
	if (!j)
		fail_msg("%s: %s", text, e.text);
	return j;
}

#define OBJECT(properties) "{'type':'object','properties':{" properties "}}"

#define ONE_OF(junctor)                                                                            \
	"{'type':'object','properties':{'x':{'type':'integer'},'y':{'type':'integer'}},'" junctor  \
	"':[{'required':['x']},{'required':['y']}]}"
#define EMBEDDED                                                                                   \
	"{'type':'object','x-kubernetes-embedded-resource':true,"                                  \
	"'x-kubernetes-preserve-unknown-fields':true}"

static void objects_are_pruned_and_defaulted(void **state)
{
	static const struct {
		const char *schema, *obj, *want;
	} cases[] = {
		{OBJECT("'a':{'type':'string'}"), "{'a':'x','b':1,'kind':'K','metadata':{'any':1}}",
		 "{'a':'x','kind':'K','metadata':{'any':1}}"},
		{OBJECT("'a':{'type':'object','properties':{'metadata':{'type':'object'}}}"),
		 "{'a':{'metadata':{'b':1},'kind':1}}", "{'a':{'metadata':{}}}"},
		{OBJECT("'a':{'type':'object','x-kubernetes-preserve-unknown-fields':true,"
			"'properties':{'b':{'type':'object'}}}"),
		 "{'a':{'x':1,'b':{'y':1}}}", "{'a':{'x':1,'b':{}}}"},
		{OBJECT("'a':{'type':'object','additionalProperties':{'type':'object'}}"),
		 "{'a':{'x':{'y':1}}}", "{'a':{'x':{}}}"},
		{OBJECT("'a':{'type':'object','x-kubernetes-embedded-resource':true}"),
		 "{'a':{'x':1,'kind':'K','apiVersion':'v1','metadata':{'any':1}}}",
		 "{'a':{'kind':'K','apiVersion':'v1','metadata':{'any':1}}}"},
		{OBJECT("'a':{'type':'array','items':{'type':'object'}}"), "{'a':[{'x':1}]}",
		 "{'a':[{}]}"},
		{OBJECT("'a':{'type':'string'},'b':{'type':'string','nullable':true}"),
		 "{'a':null,'b':null}", "{'b':null}"},
		{OBJECT("'a':{'type':'integer','default':3},'b':{'type':'integer','default':4}"),
		 "{'b':1}", "{'a':3,'b':1}"},
		{OBJECT("'a':{'type':'integer','default':3}"), "{'a':null}", "{'a':3}"},
		{OBJECT("'a':{'type':'object','default':{},"
			"'properties':{'b':{'type':'integer','default':1}}}"),
		 "{}", "{'a':{'b':1}}"},
		{OBJECT("'a':{'type':'object','properties':{'b':{'type':'integer','default':1}}}"),
		 "{}", "{}"},
		{OBJECT("'a':{'type':'array','items':{'type':'object',"
			"'properties':{'b':{'type':'integer','default':1}}}}"),
		 "{'a':[{},{'b':2}]}", "{'a':[{'b':1},{'b':2}]}"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fault f;
		OWN_JSON schema = parse(cases[i].schema);
		OWN_JSON obj = parse(cases[i].obj);
		OWN_JSON want = parse(cases[i].want);

		if (schema_apply(schema, NULL, obj, &f) < 0)
			fail_msg("%s: %s", cases[i].obj, f.text);
		if (!json_equal(obj, want))
			fail_msg("%s in %s", cases[i].obj, cases[i].schema);
	}
}

static void values_out_of_bounds_are_named(void **state)
{
	static const struct {
		/* schema: schema of a member "a". value: value of the member. says: expected error;
		 * NULL: the value is valid. */
		const char *schema, *value, *says;
	} cases[] = {
		{"{'type':'string'}", "1", "a: Invalid value: must be of type string"},
		{"{'type':'string'}", "'x'", NULL},
		{"{'type':'integer'}", "1.5", "of type integer"},
		{"{'type':'integer'}", "2.0", NULL},
		{"{'type':'number'}", "1.5", NULL},
		{"{'type':'boolean'}", "'true'", "of type boolean"},
		{"{'type':'object'}", "[]", "of type object"},
		{"{'type':'array','items':{'type':'string'}}", "{}", "of type array"},
		{"{'type':'array','items':{'type':'string'}}", "['x',1]", "a[1]: Invalid value"},
		{"{'x-kubernetes-int-or-string':true}", "'5%'", NULL},
		{"{'x-kubernetes-int-or-string':true}", "5", NULL},
		{"{'x-kubernetes-int-or-string':true}", "true", "integer or string"},
		{"{'type':'integer','minimum':1}", "0", "greater than or equal to 1"},
		{"{'type':'integer','minimum':1}", "1", NULL},
		{"{'type':'integer','minimum':1,'exclusiveMinimum':true}", "1", "greater than 1"},
		{"{'type':'integer','maximum':5}", "6", "less than or equal to 5"},
		{"{'type':'integer','maximum':5,'exclusiveMaximum':true}", "5", "less than 5"},
		{"{'type':'string','enum':['x','y']}", "'z'",
		 "Unsupported value: supported values: [\"x\",\"y\"]"},
		{"{'type':'string','enum':['x','y']}", "'y'", NULL},
		{"{'type':'string','minLength':2}", "'x'", "minLength is 2, got 1"},
		{"{'type':'string','maxLength':2}", "'äö'", NULL},
		{"{'type':'string','maxLength':2}", "'xyz'", "maxLength is 2, got 3"},
		{"{'type':'string','pattern':'^[a-z]+$'}", "'X'", "should match '^[a-z]+$'"},
		{"{'type':'string','pattern':'^[a-z]+$'}", "'x'", NULL},
		{"{'type':'string','format':'date-time'}", "'yesterday'", "RFC 3339"},
		{"{'type':'string','format':'date-time'}", "'2026-01-02T03:04:05Z'", NULL},
		{"{'type':'array','maxItems':1,'items':{'type':'string'}}", "['x','y']",
		 "maxItems is 1, got 2"},
		{"{'type':'array','x-kubernetes-list-type':'set','items':{'type':'string'}}",
		 "['x','y','x']", "a[2]: Duplicate value"},
		{"{'type':'array','x-kubernetes-list-type':'map',"
		 "'x-kubernetes-list-map-keys':['n'],'items':{'type':'object',"
		 "'properties':{'n':{'type':'string'},'v':{'type':'integer'}}}}",
		 "[{'n':'x','v':1},{'n':'x','v':2}]", "a[1]: Duplicate"},
		{"{'type':'object','additionalProperties':{'type':'string'},'maxProperties':1}",
		 "{'x':'1','y':'2'}", "maxProperties"},
		{"{'type':'object','additionalProperties':{'type':'string'}}", "{'x':1}",
		 "a.x: Invalid value"},
		{"{'type':'object','required':['r'],'properties':{'r':{'type':'string'}}}", "{}",
		 "a.r: Required value"},
		{"{'x-kubernetes-int-or-string':true,"
		 "'anyOf':[{'type':'integer'},{'type':'string'}]}",
		 "5", NULL},
		{"{'x-kubernetes-int-or-string':true}", "true", "integer or string"},
		{ONE_OF("anyOf"), "{'x':1}", NULL},
		{ONE_OF("anyOf"), "{'x':1,'y':1}", NULL},
		{ONE_OF("anyOf"), "{}", "at least one schema (anyOf)"},
		{ONE_OF("oneOf"), "{'y':1}", NULL},
		{ONE_OF("oneOf"), "{'x':1,'y':1}", "one and only one schema (oneOf)"},
		{ONE_OF("oneOf"), "{}", "one and only one schema (oneOf)"},
		{ONE_OF("allOf"), "{'x':1,'y':1}", NULL},
		{ONE_OF("allOf"), "{'x':1}", "a.y: Required value"},
		{"{'type':'integer','not':{'enum':[3]}}", "3", "must not validate the schema"},
		{"{'type':'integer','not':{'enum':[3]}}", "4", NULL},
		{"{'type':'number','multipleOf':0.5}", "1.5", NULL},
		{"{'type':'number','multipleOf':0.5}", "1.7", "multiple of 0.5"},
		{"{'type':'integer','format':'int32'}", "3000000000", "int32"},
		{"{'type':'integer','format':'int64'}", "3000000000", NULL},
		{"{'type':'string','format':'ipv4'}", "'10.0.0.256'", "ipv4"},
		{"{'type':'string','format':'ipv6'}", "'fe80::1'", NULL},
		{"{'type':'string','format':'cidr'}", "'10.0.0.0/33'", "cidr"},
		{"{'type':'string','format':'cidr'}", "'10.0.0.0/8'", NULL},
		{"{'type':'string','format':'uuid'}", "'0a8b7c9d-0000-4000-8000-00000000000'",
		 "uuid"},
		{"{'type':'string','format':'uuid'}", "'0a8b7c9d-0000-4000-8000-000000000000'",
		 NULL},
		{"{'type':'string','format':'date'}", "'2026-13-01'", "date"},
		{"{'type':'string','format':'date'}", "'2026-12-01'", NULL},
		{"{'type':'string','format':'byte'}", "'eA='", "byte"},
		{"{'type':'string','format':'duration'}", "'1h'", NULL},
		{"{'type':'string','format':'of-our-own'}", "'x'", NULL},
		{EMBEDDED, "{'kind':'K','x':1}", "a.apiVersion: Required value"},
		{EMBEDDED, "{'kind':'K','apiVersion':'v1','metadata':{'any':1}}", NULL},
		{EMBEDDED, "{'kind':'K','apiVersion':'v1','metadata':1}", "a.metadata"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fault f;
		char *schema_text = mem_printf(OBJECT("'a':%s"), cases[i].schema),
		     *obj_text = mem_printf("{'a':%s}", cases[i].value);
		OWN_JSON schema = parse(schema_text);
		OWN_JSON obj = parse(obj_text);
		int rc = schema_apply(schema, NULL, obj, &f);

		if ((rc < 0) != (cases[i].says != NULL))
			fail_msg("%s: %s", cases[i].value, rc < 0 ? f.text : "should be refused");
		if (rc < 0 && !strstr(f.text, cases[i].says))
			fail_msg("%s: want %s, got %s", cases[i].value, cases[i].says, f.text);
		free(schema_text);
		free(obj_text);
	}
}

static void patterns_hold_as_in_re2(void **state)
{
	static const struct {
		const char *pattern, *text;
		bool holds;
	} cases[] = {
		{"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$", "a.b-c",
		 true},
		{"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$", "a..b",
		 false},
		{"^\\d+$", "42", true},
		{"^\\d+$", "dd", false},
		{"^\\D$", "4", false},
		{"^(?:a|b){1,3}$", "abab", false},
		{"^(?:a|b){1,3}$", "aba", true},
		{"^a{2,}$", "a", false},
		{"^[[:digit:]]]$", "1]", true},
		{"^[[:digit:]]]$", "x]", false},
		{"^(a|)$", "b", false},
		/* Patterns that POSIX cannot express are accepted. */
		{"(?i)^a$", "B", true},
		{"^\\p{L}$", "1", true},
		{"^[\\d]$", "x", true},
		{"^(a)\\1$", "b", true},
		{"^(a", "b", true},
		{"^[a", "b", true},
		{"a\\", "b", true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		OWN(arena) a = arena_new();
		size_t work = 0;

		if (pattern_holds(NULL, cases[i].pattern, cases[i].text, a, &work) !=
		    cases[i].holds)
			fail_msg("%s of %s", cases[i].pattern, cases[i].text);
		assert_true(work > 0);
	}
}

/* A cached pattern gives the same result in any order, and costs the same share of a request's
 * budget. */
static void a_pattern_that_was_kept_holds_as_before(void **state)
{
	static const char *const patterns[] = {"^sha256:[0-9a-f]{64}$", "^(a)\\1$", "^a{1,400}$",
					       "^[a-z]+$"};
	static const char *const texts[] = {"abc", "", "A"};
	struct patterns *known = patterns_new();

	(void)state;
	for (int round = 0; round < 3; round++)
		for (size_t i = 0; i < 4; i++)
			for (size_t k = 0; k < 3; k++) {
				OWN(arena) a = arena_new();
				size_t once = 0, again = 0;

				assert_int_equal(
					pattern_holds(known, patterns[i], texts[k], a, &again),
					pattern_holds(NULL, patterns[i], texts[k], a, &once));
				assert_int_equal(once, again);
			}
	patterns_free(known);
}

/* Each of these patterns once filled the memory or took minutes. */
static void a_hostile_pattern_costs_nothing(void **state)
{
	static const char *const patterns[] = {
		"((a{1,255}){1,255}){1,255}",
		"a{1,30000}{1,30000}",
		("((((((((((((((((((((((((((((((a"
		 "+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+"),
		"a++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++",
		"a{99999999999999999999}",
	};
	char *deep = mem_alloc(4001);

	(void)state;
	memset(deep, '(', 4000);
	deep[4000] = '\0';
	for (size_t i = 0; i <= sizeof(patterns) / sizeof(*patterns); i++) {
		OWN(arena) a = arena_new();
		size_t work = 0;

		assert_true(pattern_holds(
			NULL, i < sizeof(patterns) / sizeof(*patterns) ? patterns[i] : deep, "b", a,
			&work));
		assert_true(work < 1000000);
	}
	free(deep);
}

/* Checks that an object of n parts is refused if the schema needs much work for each part. */
static void is_too_long(const char *schema_text, json_t *part, int n)
{
	OWN_JSON schema = parse(schema_text);
	OWN_JSON obj = json_pack("{s:[]}", "l");
	struct fault f;

	for (int i = 0; i < n; i++)
		json_array_append_new(json_object_get(obj, "l"), json_deep_copy(part));
	json_decref(part);
	assert_int_equal(schema_apply(schema, NULL, obj, &f), -1);
	assert_int_equal(f.kind, FAULT_INVALID);
	assert_non_null(strstr(f.text, "Too long"));
}

static void checks_and_defaults_end(void **state)
{
	char schema[4096], filler[1001];

	(void)state;
	memset(filler, 'x', sizeof(filler) - 1);
	filler[sizeof(filler) - 1] = '\0';
	snprintf(schema, sizeof(schema),
		 OBJECT("'l':{'type':'array','items':{'type':'object','properties':"
			"{'a':{'type':'string','default':'%s'}}}}"),
		 filler);
	is_too_long(schema, json_object(), 4000);
	is_too_long(OBJECT("'l':{'type':'array','items':{'type':'string',"
			   "'pattern':'^(a{1,99}){1,40}$'}}"),
		    json_string("a"), 1000);
}

static void a_server_with_schemas_heeds_those_of_its_definitions(void **state)
{
	struct api r;

	(void)state;
	api_start(&r, &(struct apiserver_spec){.schemas = true}, 100);
	api_do(&r, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
	       "{'metadata':{'name':'things.example.dev'},"
	       "'spec':{'group':'example.dev','scope':'Cluster',"
	       "'names':{'plural':'things','kind':'Thing'},"
	       "'versions':[{'name':'v1','served':true,'storage':true,"
	       "'subresources':{'status':{}},"
	       "'schema':{'openAPIV3Schema':{'type':'object','properties':{"
	       "'spec':{'type':'object','properties':{'n':{'type':'integer','minimum':1},"
	       "'d':{'type':'string','default':'x'}}},"
	       "'status':{'type':'object',"
	       "'properties':{'phase':{'type':'string','enum':['A','B']}}}}}}}]}}");
	assert_status(&r, 201);
	api_do(&r, "POST", "/apis/example.dev/v1/things",
	       "{'metadata':{'name':'a'},'spec':{'n':0}}");
	assert_status(&r, 422);
	api_do(&r, "POST", "/apis/example.dev/v1/things",
	       "{'metadata':{'name':'a'},'spec':{'n':1,'other':2}}");
	assert_status(&r, 201);
	assert_string_equal(api_str(&r, "spec.d"), "x");
	assert_int_equal(api_int(&r, "spec.other"), -1);
	api_patch(&r, "merge-patch+json", "/apis/example.dev/v1/things/a/status",
		  "{'status':{'phase':'C'}}");
	assert_status(&r, 422);
	api_patch(&r, "merge-patch+json", "/apis/example.dev/v1/things/a/status",
		  "{'status':{'phase':'B'}}");
	assert_status(&r, 200);
	assert_int_equal(api_int(&r, "metadata.generation"), 1);
	api_stop(&r);
}

#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

static void a_schema_that_is_not_structural_is_refused(void **state)
{
	static const struct {
		const char *schema, *says;
	} cases[] = {
		{OBJECT("'a':{'type':'string'}"), NULL},
		{"{'properties':{}}", "type: Invalid value: must be object at the root"},
		{OBJECT("'a':{}"), "properties.a.type: Required value"},
		{OBJECT("'a':{'type':'text'}"), "properties.a.type: Unsupported value"},
		{OBJECT("'a':{'x-kubernetes-int-or-string':true,"
			"'anyOf':[{'type':'integer'},{'type':'string'}]}"),
		 NULL},
		{OBJECT("'a':{'x-kubernetes-preserve-unknown-fields':true}"), NULL},
		{OBJECT("'a':{'type':'array'}"), "a.items: Required value"},
		{OBJECT("'a':{'type':'array','items':{'type':'object'},"
			"'x-kubernetes-list-type':'map'}"),
		 "x-kubernetes-list-map-keys"},
		{OBJECT("'a':{'type':'array','items':{'type':'object'},"
			"'x-kubernetes-list-type':'map',"
			"'x-kubernetes-list-map-keys':['n']}"),
		 "names of item properties"},
		{OBJECT("'a':{'type':'object','properties':{},"
			"'additionalProperties':{'type':'string'}}"),
		 "mutual exclusive"},
		{OBJECT("'a':{'type':'string','anyOf':[{'default':'x'}]}"),
		 "anyOf[0].default: Forbidden"},
		{OBJECT("'a':{'type':'integer','default':'x'}"), "a.default"},
		{OBJECT("'a':{'type':'object','not':{'properties':{'b':{'nullable':true}}}}"),
		 "not.properties.b.nullable"},
	};
	struct api r;

	(void)state;
	api_start(&r, &(struct apiserver_spec){.schemas = true, .checks = true}, 100);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *body = mem_printf("{'metadata':{'name':'things.example.dev'},"
					"'spec':{'group':'example.dev','scope':'Cluster',"
					"'names':{'plural':'things','kind':'Thing'},"
					"'versions':[{'name':'v1','served':true,"
					"'storage':true,'schema':{'openAPIV3Schema':%s}}]}}",
					cases[i].schema);

		api_do(&r, "POST", CRDS "?dryRun=All", body);
		if (r.status != (cases[i].says ? 422 : 201) ||
		    (cases[i].says && !strstr(api_str(&r, "message"), cases[i].says)))
			fail_msg("%s: %d %s", cases[i].schema, r.status, r.text);
		free(body);
	}
	api_stop(&r);
}

static void drovers_own_definitions_are_taken(void **state)
{
	struct api r;
	DIR *d = opendir("deploy/crds");
	unsigned taken = 0;

	(void)state;
	assert_non_null(d);
	api_start(&r, &(struct apiserver_spec){.schemas = true, .checks = true}, 100);
	for (struct dirent *entry; (entry = readdir(d));) {
		char path[600], *text = mem_calloc(1, 1 << 20);
		FILE *f;

		snprintf(path, sizeof(path), "deploy/crds/%s", entry->d_name);
		f = str_ends(path, ".yaml") ? fopen(path, "r") : NULL;
		if (f) {
			assert_int_not_equal(fread(text, 1, (1 << 20) - 1, f), 0);
			fclose(f);
			api_raw(&r, "POST", CRDS "?fieldValidation=Strict", "application/yaml",
				text);
			assert_status(&r, 201);
			taken++;
		}
		free(text);
	}
	closedir(d);
	assert_true(taken >= 5);
	api_stop(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_are_pruned_and_defaulted),
		cmocka_unit_test(values_out_of_bounds_are_named),
		cmocka_unit_test(patterns_hold_as_in_re2),
		cmocka_unit_test(a_pattern_that_was_kept_holds_as_before),
		cmocka_unit_test(a_hostile_pattern_costs_nothing),
		cmocka_unit_test(checks_and_defaults_end),
		cmocka_unit_test(a_server_with_schemas_heeds_those_of_its_definitions),
		cmocka_unit_test(a_schema_that_is_not_structural_is_refused),
		cmocka_unit_test(drovers_own_definitions_are_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
