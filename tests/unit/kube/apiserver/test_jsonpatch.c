#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/str.h"
#include "kube/apiserver/server.h"

static json_t *parse(const char *text)
{
	struct err e;
	char copy[2048];
	json_t *j;

	assert_true(str_copy(copy, sizeof(copy), text));
	for (char *c = copy; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	j = json_parse(copy, strlen(copy), &e);
	if (!j)
		fail_msg("%s: %s", text, e.text);
	return j;
}

/* Most cases are examples of RFC 6902, appendix A. */
static void operations_do_what_the_rfc_says(void **state)
{
	static const struct {
		/* want NULL: the patch is refused. */
		const char *doc, *patch, *want;
	} cases[] = {
		{"{'foo':'bar'}", "[{'op':'add','path':'/baz','value':'qux'}]",
		 "{'baz':'qux','foo':'bar'}"},
		{"{'foo':['bar','baz']}", "[{'op':'add','path':'/foo/1','value':'qux'}]",
		 "{'foo':['bar','qux','baz']}"},
		{"{'baz':'qux','foo':'bar'}", "[{'op':'remove','path':'/baz'}]", "{'foo':'bar'}"},
		{"{'foo':['bar','qux','baz']}", "[{'op':'remove','path':'/foo/1'}]",
		 "{'foo':['bar','baz']}"},
		{"{'baz':'qux'}", "[{'op':'replace','path':'/baz','value':'boo'}]",
		 "{'baz':'boo'}"},
		{"{'foo':{'bar':'baz','waldo':'fred'},'qux':{'corge':'grault'}}",
		 "[{'op':'move','from':'/foo/waldo','path':'/qux/thud'}]",
		 "{'foo':{'bar':'baz'},'qux':{'corge':'grault','thud':'fred'}}"},
		{"{'foo':['all','grass','cows','eat']}",
		 "[{'op':'move','from':'/foo/1','path':'/foo/3'}]",
		 "{'foo':['all','cows','eat','grass']}"},
		{"{'baz':'qux','foo':['a',2,'c']}",
		 "[{'op':'test','path':'/baz','value':'qux'},"
		 "{'op':'test','path':'/foo/1','value':2}]",
		 "{'baz':'qux','foo':['a',2,'c']}"},
		{"{'baz':'qux'}", "[{'op':'test','path':'/baz','value':'bar'}]", NULL},
		{"{'foo':'bar'}", "[{'op':'add','path':'/child','value':{'grandchild':{}}}]",
		 "{'foo':'bar','child':{'grandchild':{}}}"},
		{"{'foo':'bar'}", "[{'op':'add','path':'/baz/bat','value':'qux'}]", NULL},
		{"{'/':9,'~1':10}", "[{'op':'test','path':'/~01','value':10}]", "{'/':9,'~1':10}"},
		{"{'/':9}", "[{'op':'replace','path':'/~1','value':8}]", "{'/':8}"},
		{"{'foo':['bar']}", "[{'op':'add','path':'/foo/-','value':['abc','def']}]",
		 "{'foo':['bar',['abc','def']]}"},
		{"{'a':{'b':1}}",
		 "[{'op':'copy','from':'/a','path':'/c'},{'op':'replace','path':'/c/b','value':2}]",
		 "{'a':{'b':1},'c':{'b':2}}"},
		{"{'a':1}", "[{'op':'add','path':'','value':{'b':2}}]", "{'b':2}"},
		{"{'a':1}", "[{'op':'add','path':'/a','value':null}]", "{'a':null}"},
		{"{'a':1}", "[{'op':'replace','path':'/b','value':2}]", NULL},
		{"{'a':1}", "[{'op':'remove','path':'/b'}]", NULL},
		{"{'a':1}", "[{'op':'remove','path':''}]", NULL},
		{"{'a':[1]}", "[{'op':'add','path':'/a/2','value':1}]", NULL},
		{"{'a':[1]}", "[{'op':'add','path':'/a/01','value':1}]", NULL},
		{"{'a':[1]}", "[{'op':'replace','path':'/a/-','value':1}]", NULL},
		{"{'a':[1]}", "[{'op':'remove','path':'/a/+0'}]", NULL},
		{"{'a':1}", "[{'op':'add','path':'a','value':1}]", NULL},
		{"{'a':1}", "[{'op':'add','path':'/b'}]", NULL},
		{"{'a':1}", "[{'op':'copy','from':'/x','path':'/b'}]", NULL},
		{"{'a':{'b':1}}", "[{'op':'move','from':'/a','path':'/a/b'}]", NULL},
		{"{'a':1}", "[{'op':'jump','path':'/a'}]", NULL},
		{"{'a':1}", "{}", NULL},
		{"{'a':1}", "[1]", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fault f;
		OWN_JSON doc = parse(cases[i].doc);
		OWN_JSON patch = parse(cases[i].patch);
		int rc = jsonpatch_apply(patch, &doc, &f);

		if ((rc == 0) != (cases[i].want != NULL))
			fail_msg("%s: %s", cases[i].patch, rc < 0 ? f.text : "should be refused");
		if (rc < 0) {
			assert_true(f.kind == FAULT_INVALID || f.kind == FAULT_BAD_REQUEST);
			continue;
		}

		OWN_JSON want = parse(cases[i].want);
		char *text = json_text(doc);

		if (!json_equal(doc, want))
			fail_msg("%s: got %s", cases[i].patch, text);
		free(text);
	}
}

static json_t *copies(int n)
{
	json_t *patch = json_array();

	for (int i = 0; i < n; i++)
		json_array_append_new(patch, json_pack("{s:s, s:s, s:s}", "op", "copy", "from",
						       "/a", "path", "/a/-"));
	return patch;
}

static void copying_a_list_into_itself_has_an_end(void **state)
{
	struct fault f;
	OWN_JSON wide = parse("{'a':['0123456789']}");
	OWN_JSON few = copies(3);
	OWN_JSON many = copies(60);

	(void)state;
	assert_int_equal(jsonpatch_apply(few, &wide, &f), 0);
	assert_int_equal(jsonpatch_apply(many, &wide, &f), -1);
	assert_int_equal(f.kind, FAULT_INVALID);
}

static void a_patch_does_not_nest_deeper_than_a_reader_bears(void **state)
{
	struct fault f;
	OWN_JSON doc = parse("{'a':{}}");
	OWN_JSON patch = json_array();
	char path[300] = "";

	(void)state;
	for (int i = 0; i < 62; i++) {
		strcat(path, "/a");
		json_array_append_new(
			patch, json_pack("{s:s, s:s, s:{}}", "op", "add", "path", path, "value"));
	}
	assert_int_equal(jsonpatch_apply(patch, &doc, &f), 0);

	OWN_JSON deeper = parse(
		"[{'op':'add','path':'/b','value':{}},{'op':'move','from':'/a','path':'/b/a'},"
		"{'op':'add','path':'/c','value':{}},{'op':'move','from':'/b','path':'/c/b'}]");

	assert_int_equal(jsonpatch_apply(deeper, &doc, &f), -1);
	assert_non_null(strstr(f.text, "deeper"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operations_do_what_the_rfc_says),
		cmocka_unit_test(copying_a_list_into_itself_has_an_end),
		cmocka_unit_test(a_patch_does_not_nest_deeper_than_a_reader_bears),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
