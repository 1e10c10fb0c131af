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

static void lists_merge_by_their_key_and_directives_are_followed(void **state)
{
	static const struct {
		/* want NULL: the patch is refused. */
		const char *doc, *patch, *want;
	} cases[] = {
		{"{'a':{'b':1,'c':2},'d':[1]}", "{'a':{'b':null,'x':3},'d':[2]}",
		 "{'a':{'c':2,'x':3},'d':[2]}"},
		{"{'conditions':[{'type':'A','status':'True'},{'type':'B','status':'True'}]}",
		 "{'conditions':[{'type':'B','status':'False'},{'type':'C'}]}",
		 "{'conditions':[{'type':'A','status':'True'},"
		 "{'type':'B','status':'False'},{'type':'C'}]}"},
		{"{}", "{'conditions':[{'type':'A'}]}", "{'conditions':[{'type':'A'}]}"},
		{"{'conditions':[{'type':'A'},{'type':'B'}]}",
		 "{'conditions':[{'$patch':'delete','type':'A'}]}",
		 "{'conditions':[{'type':'B'}]}"},
		{"{'conditions':[{'type':'A'},{'type':'B'}]}",
		 "{'conditions':[{'$patch':'replace'},{'type':'C'}]}",
		 "{'conditions':[{'type':'C'}]}"},
		{"{'conditions':[{'type':'A'}]}", "{'conditions':[{'type':'B'},{'status':'True'}]}",
		 NULL},
		{"{'conditions':[{'type':'A'}]}", "{'conditions':[]}", "{'conditions':[]}"},
		{"{'taints':[{'key':'a'}]}", "{'taints':[{'key':'b'}]}",
		 "{'taints':[{'key':'b'}]}"},
		{"{'containers':[{'name':'c','env':[{'name':'E','value':'1'}],'image':'i'}]}",
		 "{'containers':[{'name':'c','env':[{'name':'F','value':'2'}]}],"
		 "'$setElementOrder/containers':[{'name':'c'}]}",
		 "{'containers':[{'name':'c',"
		 "'env':[{'name':'E','value':'1'},{'name':'F','value':'2'}],'image':'i'}]}"},
		{"{'ports':[{'port':80,'n':1}]}", "{'ports':[{'port':80,'n':2},{'port':81}]}",
		 "{'ports':[{'port':80,'n':2},{'port':81}]}"},
		{"{'finalizers':['a','b']}", "{'finalizers':['b','c']}",
		 "{'finalizers':['a','b','c']}"},
		{"{'finalizers':['a','b']}",
		 "{'$deleteFromPrimitiveList/finalizers':['a'],'finalizers':['c']}",
		 "{'finalizers':['b','c']}"},
		{"{'a':{'b':1,'c':2}}", "{'a':{'$patch':'replace','x':3}}", "{'a':{'x':3}}"},
		{"{'a':{'b':1},'c':2}", "{'a':{'$patch':'delete'}}", "{'c':2}"},
		{"{'a':{'b':1,'c':2}}", "{'a':{'$retainKeys':['c','d'],'d':3}}",
		 "{'a':{'c':2,'d':3}}"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fault f;
		OWN_JSON doc = parse(cases[i].doc);
		OWN_JSON patch = parse(cases[i].patch);
		OWN_JSON got = strategic_apply(doc, patch, &f);
		OWN_JSON want = cases[i].want ? parse(cases[i].want) : NULL;

		if (!got != !want)
			fail_msg("%s: %s", cases[i].patch, got ? "should be refused" : f.text);
		if (got && !json_equal(got, want)) {
			char *text = json_text(got);

			print_message("got %s\n", text);
			free(text);
			fail_msg("%s", cases[i].patch);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_merge_by_their_key_and_directives_are_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
