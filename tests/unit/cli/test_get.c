/* Tests `drover get` with a client on the simulated loop. */
#include "tests/unit/cli/verb.h"
#include "tests/unit/controller/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/data/yaml.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/grid.h"
#include "api/target.h"
#include "cli/verbs.h"

static struct cli_client c;
static char *said;
static size_t said_len;

static int setup(void **state)
{
	struct bench *d;

	bench_setup(state);
	d = *state;
	bench_fleet(d);
	c = (struct cli_client){.verb = "drover get",
				.loop = d->l,
				.group = d->g,
				.host = d->c.host,
				.out = open_memstream(&said, &said_len)};
	return 0;
}

static int teardown(void **state)
{
	fclose(c.out);
	free(said);
	return bench_teardown(state);
}

static void assert_said(const char *what)
{
	fflush(c.out);
	if (!strstr(said, what))
		fail_msg("want '%s' in: %s", what, said);
}

static int get(struct cli_get_options look, const char *a, const char *b)
{
	const char *targets[] = {a, b};

	look.targets = targets;
	look.n = b ? 2 : 1;
	return cli_do_get(&c, &look);
}

static void serves(struct bench *d)
{
	bench_status(d, OBJECT_MACHINE, "m-1",
		     "{'state': 'serving', 'claimRef': {'name': 'c-1', 'uid': 'u-1'}}");
}

static void the_columns_are_those_of_the_definition(void **state)
{
	serves(*state);
	assert_int_equal(get((struct cli_get_options){0}, "machines", NULL), 0);
	assert_said("NAME   STATE     SINCE");
	assert_said("m-1    serving   ");
	assert_said("   c-1     ");
	fflush(c.out);
	assert_null(strstr(said, "TENANCY"));
	assert_null(strstr(said, "\033"));
	assert_int_equal(
		get((struct cli_get_options){.form = CLI_WIDE, .width = 20}, "machine", "m-1"), 0);
	assert_said("TENANCY   AGE\n");
	assert_said("   hall-a   ");
	assert_said("   41        ");
}

static void a_terminal_has_colours_and_is_not_overrun(void **state)
{
	serves(*state);
	c.tty = true;
	assert_int_equal(get((struct cli_get_options){.width = 24}, "machines", NULL), 0);
	assert_said("NAME   STATE     SINCE\n");
	assert_said("\033[32mserving\033[0m   ");
	assert_said(
		"(columns that do not fit: Claim, Power, Waiting, Error, Valid, Age; -o wide shows "
		"all)\n");
}

static void programs_read_json_yaml_and_names(void **state)
{
	struct bench *d = *state;
	struct err e;
	OWN_JSON j = NULL;

	assert_int_equal(get((struct cli_get_options){.form = CLI_JSON}, "machine/m-1", NULL), 0);
	fflush(c.out);
	j = json_parse(said, said_len, &e);
	assert_string_equal(json_str_at(j, "kind"), "Machine");
	assert_string_equal(json_str_at(j, "metadata", "name"), "m-1");
	json_decref(j);
	rewind(c.out);
	assert_int_equal(get((struct cli_get_options){.form = CLI_YAML}, "machines", NULL), 0);
	fflush(c.out);
	j = yaml_parse(said, said_len, &e);
	assert_string_equal(json_str_at(j, "kind"), "List");
	assert_string_equal(json_str_at(json_array_get(json_at(j, "items"), 0), "apiVersion"),
			    "drover.dev/v1alpha1");
	assert_int_equal(get((struct cli_get_options){.form = CLI_NAME}, "machines,pools", NULL),
			 0);
	assert_said("machine.drover.dev/m-1\nnodepool.drover.dev/h100\n");
	(void)d;
}

static void several_types_are_several_tables_with_types_before_the_names(void **state)
{
	(void)state;
	assert_int_equal(get((struct cli_get_options){0}, "pool/h100", "tenant/team-a"), 0);
	assert_said("nodepool.drover.dev/h100   ");
	assert_said("\n\nNAME ");
	assert_said("virtualcluster.drover.dev/team-a   ");
}

static void labels_choose(void **state)
{
	struct bench *d = *state;

	bench_must(d, &d->host, "PATCH", "/apis/" OBJECT_API_VERSION "/machines/m-1",
		   "{'metadata': {'labels': {'rack': 'r1'}}}");
	assert_int_equal(
		get((struct cli_get_options){.selector = "rack in (r1,r2)", .headless = true},
		    "machines", NULL),
		0);
	assert_said("m-1 ");
	fflush(c.out);
	assert_null(strstr(said, "NAME"));
	verb_errors_begin();
	assert_int_equal(get((struct cli_get_options){.selector = "rack=r9"}, "machines", NULL), 0);
	verb_errors_end("no machines with labels rack=r9\n");
}

static void what_is_not_there_is_said_and_the_rest_shown(void **state)
{
	(void)state;
	verb_errors_begin();
	assert_int_equal(get((struct cli_get_options){0}, "machine/m-9", "machine/m-1"), 1);
	verb_errors_end("drover get: there is no machine m-9; `drover get machines` lists them\n");
	assert_said("m-1 ");
}

static void a_cluster_without_the_types_is_told_from_one_without_the_object(void **state)
{
	struct bench *d = *state;

	bench_must(d, &d->host, "DELETE",
		   "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/drains.drover.dev",
		   NULL);
	verb_errors_begin();
	assert_int_equal(get((struct cli_get_options){0}, "drain", "psu"), 1);
	verb_errors_end("this cluster has no type drains.drover.dev");
	verb_errors_begin();
	assert_int_equal(get((struct cli_get_options){0}, "drains", NULL), 1);
	verb_errors_end("install the types: drover crds | kubectl apply -f -");
}

static void without_rights_it_says_which(void **state)
{
	struct bench *d = *state;

	d->host.denied = true;
	verb_errors_begin();
	assert_int_equal(get((struct cli_get_options){0}, "machines", NULL), 1);
	verb_errors_end("the cluster does not know this user");
	d->host.denied = false;
}

static void types_have_the_names_that_people_use(void **state)
{
	static const struct {
		const char *word;
		enum object_kind_id kind;
	} words[] = {
		{"machines", OBJECT_MACHINE},
		{"Machine", OBJECT_MACHINE},
		{"machine.drover.dev", OBJECT_MACHINE},
		{"machines.v1alpha1.drover.dev", OBJECT_MACHINE},
		{"claim", OBJECT_NODE_CLAIM},
		{"pools", OBJECT_NODE_POOL},
		{"tenant", OBJECT_VIRTUAL_CLUSTER},
		{"wipes", OBJECT_WIPE_RECORD},
		{"providers", OBJECT_PROVIDER},
		{"drain", OBJECT_DRAIN},
		{"burstpolicies", OBJECT_BURST_POLICY},
		{"pods", OBJECT_KINDS},
		{"machines.example.dev", OBJECT_KINDS},
		{"", OBJECT_KINDS},
		{"a-word-that-is-longer-than-the-name-of-any-type-could-ever-become-here",
		 OBJECT_KINDS},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (target_kind(words[i].word, strlen(words[i].word)) != words[i].kind)
			fail_msg("'%s'", words[i].word);
}

static void no_control_character_reaches_the_terminal(void **state)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	struct grid *g = grid_new();

	(void)state;
	grid_head(g, "Name");
	grid_head(g, "Reason");
	grid_cell(g, "a\x1b[31mb\xc2\x9b"
		     "c");
	grid_cell(g, "");
	grid_cell(g, "\xc3\xa4");
	grid_cell(g, "x\ny");
	grid_print(g, &(struct grid_style){0}, f);
	fclose(f);
	assert_string_equal(text, "NAME        REASON\na?[31mb?c   -\n\xc3\xa4           x?y\n");
	free(text);
	grid_free(g);
}

static void a_wrong_command_line_is_refused_by_name(void **state)
{
	static const struct {
		const char *args[5], *said;
	} lines[] = {
		{{NULL}, "give a type, one of machines, claims"},
		{{"pods", NULL}, "unknown type 'pods'"},
		{{"machines,pods", NULL}, "unknown type 'pods'"},
		{{"machines", "-o", "xml", NULL}, "want wide, json, yaml or name, got 'xml'"},
		{{"machine/", NULL}, "want TYPE/NAME, got 'machine/'"},
		{{"machine/m-1", "m-2", NULL}, "unknown type 'm-2'"},
		{{"machine/m-1", "pools", NULL}, "want TYPE/NAME, got 'pools'"},
		{{"machines,pools", "m-1", NULL}, "with several types"},
		{{"machines", "m-1", "-lrack=r1", NULL}, "names or --selector"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_int_equal(verb_run("drover get", cli_get_objects, NULL, lines[i].args), 2);
		verb_assert_said(lines[i].said);
	}
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(the_columns_are_those_of_the_definition),
		T(a_terminal_has_colours_and_is_not_overrun),
		T(programs_read_json_yaml_and_names),
		T(several_types_are_several_tables_with_types_before_the_names),
		T(labels_choose),
		T(what_is_not_there_is_said_and_the_rest_shown),
		T(a_cluster_without_the_types_is_told_from_one_without_the_object),
		T(without_rights_it_says_which),
		cmocka_unit_test(types_have_the_names_that_people_use),
		cmocka_unit_test(no_control_character_reaches_the_terminal),
		cmocka_unit_test(a_wrong_command_line_is_refused_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
