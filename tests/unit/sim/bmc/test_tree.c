/* Tests trees of resources: how mockup directories are read, how the simulated resources in them
 * are found, and that all others are served unchanged. */
#include "tests/unit/sim/bmc/bench.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "sim/bmc/dialect.h"
#include "sim/bmc/tree.h"

#define CAPTURES "../shared/captures"
#define EVERY 17 /* Every EVERY-th resource of a capture is compared */
#define LOGIN "{\"UserName\":\"admin\",\"Password\":\"correct horse\"}"

static char folder[64];

static int setup(void **state)
{
	(void)state;
	str_copy(folder, sizeof(folder), "/tmp/drover-tree-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static int teardown(void **state)
{
	(void)state;
	return nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Writes text to folder/path/name and creates missing directories. */
static void lay_down(const char *path, const char *name, const char *text)
{
	char *full = mem_printf("%s%s/%s", folder, path, name);
	FILE *f;

	for (char *at = full + strlen(folder) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		(void)mkdir(full, 0700);
		*at = '/';
	}
	f = fopen(full, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	free(full);
}

static void lay_mockup(const char *top)
{
	static const struct {
		const char *path, *text;
	} all[] = {
		{"", "{\"@odata.id\":\"/redfish/v1/\",\"Vendor\":\"Nobody\","
		     "\"Systems\":{\"@odata.id\":\"/redfish/v1/Systems/\"},"
		     "\"Links\":{\"Sessions\":{\"@odata.id\":\"/redfish/v1/Logins\"}}}"},
		{"/Systems", "{\"Members\":[{\"@odata.id\":\"/redfish/v1/Systems/Board\"},"
			     "{\"@odata.id\":\"/redfish/v1/Systems/Host/\"}]}"},
		{"/Systems/Board", "{\"Id\":\"Board\"}"},
		{"/Systems/Host",
		 "{\"Id\":\"Host\",\"PowerState\":\"On\",\"UUID\":\"x\",\"Boot\":{},\"Actions\":"
		 "{\"#ComputerSystem.Reset\":{\"target\":\"/redfish/v1/Systems/Host/Go\"}},"
		 "\"VirtualMedia\":{\"@odata.id\":\"/redfish/v1/Systems/Host/Media\"}}"},
		{"/Systems/Host/Media",
		 "{\"Members\":[{\"@odata.id\":\"/redfish/v1/Systems/Host/Media/1\"},"
		 "{\"@odata.id\":\"/redfish/v1/Systems/Host/Media/2\"}]}"},
		{"/Systems/Host/Media/1", "{\"MediaTypes\":[\"Floppy\"]}"},
		{"/Systems/Host/Media/2", "{\"MediaTypes\":[\"DVD\"],\"Actions\":"
					  "{\"#VirtualMedia.InsertMedia\":{\"target\":\"/in\"}}}"},
		{"/Sensors", "{\"page\":1}"},
		{"/Sensors?$skip=75", "{\"page\":2}"},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		char *path = mem_printf("%s%s", top, all[i].path);

		lay_down(path, "index.json", all[i].text);
		free(path);
	}
	lay_down(top[0] ? "/redfish/v1/$metadata" : "/$metadata", "index.xml", "<edmx/>");
}

/* --- reading mockup directories --------------------------------------------------------------- */

static void check_learnt(const struct sim_tree *t)
{
	assert_string_equal(t->sessions, "/redfish/v1/Logins");
	assert_string_equal(t->system, "/redfish/v1/Systems/Host");
	assert_string_equal(t->others[0], "/redfish/v1/Systems/Board");
	assert_string_equal(t->reset, "/redfish/v1/Systems/Host/Go");
	assert_int_equal(t->nslots, 2);
	assert_false(t->slots[0].cd);
	assert_true(t->slots[1].cd);
	assert_string_equal(t->slots[1].insert, "/in");
	assert_string_equal(t->slots[1].eject,
			    "/redfish/v1/Systems/Host/Media/2/Actions/VirtualMedia.EjectMedia");
	assert_null(t->tasks);
	assert_null(t->stream);
}

static void a_mockup_is_read_in_its_tall_and_in_its_short_form(void **state)
{
	static const char *const tops[] = {"/redfish/v1", ""};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		OWN(sim_tree) t = NULL;
		OWN_JSON host = NULL;
		const char *type;
		char *text;
		size_t len;
		struct err e;

		if (i > 0) {
			assert_int_equal(teardown(NULL), 0);
			assert_int_equal(setup(NULL), 0);
		}
		lay_mockup(tops[i]);
		t = sim_tree_open(folder, &e);
		if (!t)
			fail_msg("%s", e.text);
		check_learnt(t);
		/* Simulated resources are found whatever the case of the path. */
		host = sim_tree_get(t, "/redfish/v1/SYSTEMS/host");
		assert_string_equal(json_str_at(host, "Id"), "Host");
		assert_null(sim_tree_get(t, "/redfish/v1/Nothing"));
		assert_null(sim_tree_get(t, "/redfish/v10"));
		text = sim_tree_text(t, "/redfish/v1/$metadata", &len, &type);
		assert_int_equal(len, strlen("<edmx/>"));
		assert_true(str_starts(type, "application/xml"));
		free(text);
	}
}

static void a_folder_that_is_no_mockup_is_told(void **state)
{
	struct err e;

	(void)state;
	assert_null(sim_tree_open("/nowhere/at/all", &e));
	assert_non_null(strstr(e.text, "/nowhere/at/all: no service root"));
	lay_down("/redfish/v1", "index.json", "{\"Systems\":");
	assert_null(sim_tree_open(folder, &e));
	assert_non_null(strstr(e.text, "no service root"));
	lay_down("/redfish/v1", "index.json",
		 "{\"Systems\":{\"@odata.id\":\"/redfish/v1/Systems\"}}");
	lay_down("/redfish/v1/Systems", "index.json",
		 "{\"Members\":[{\"@odata.id\":\"/redfish/v1/Systems/1\"},null,7,"
		 "{\"@odata.id\":\"https://elsewhere/redfish/v1/Systems/2\"}]}");
	lay_down("/redfish/v1/Systems/1", "index.json", "{}");
	assert_null(sim_tree_open(folder, &e));
	assert_non_null(strstr(e.text, "no System can be switched"));
}

/* --- unchanged resources ---------------------------------------------------------------------- */

static void begin_in(struct bench *b, struct sim_dialects *d, const char *where)
{
	struct err e;

	sim_dialects_init(d);
	assert_ok(sim_dialects_add_tree(d, where, &e), &e);
	begin_as(b, NULL, d);
	assert_int_equal(call(b, "POST", d->v[0].tree->sessions, LOGIN, NULL), 201);
	str_copy(b->token, sizeof(b->token), b->token_sent);
}

static void what_is_not_there_is_404_and_pages_are_found(void **state)
{
	struct sim_dialects d;
	struct bench b;

	(void)state;
	lay_mockup("/redfish/v1");
	begin_in(&b, &d, folder);
	assert_true(str_starts(b.location, "/redfish/v1/Logins/"));
	assert_int_equal(get(&b, "/redfish/v1/Sensors?$skip=75"), 200);
	assert_int_equal(json_int_at(b.json, "page"), 2);
	assert_int_equal(get(&b, "/redfish/v1/Nothing"), 404);
	assert_int_equal(call(&b, "PATCH", "/redfish/v1/Nothing", "{}", NULL), 404);
	assert_int_equal(call(&b, "PATCH", "/redfish/v1/Sensors", "{}", NULL), 405);
	assert_int_equal(
		call(&b, "POST", "/redfish/v1/Systems/Host/Go", "{\"ResetType\":\"On\"}", NULL),
		204);
	pass(&b, 5000);
	assert_int_equal(get(&b, "/redfish/v1/systems/HOST"), 200);
	assert_string_equal(json_str_at(b.json, "PowerState"), "On");
	b.token[0] = '\0';
	assert_int_equal(get(&b, "/redfish/v1/$metadata"), 200);
	assert_string_equal(b.text, "<edmx/>");
	assert_int_equal(get(&b, "/redfish/v1/Sensors"), 401);
	end(&b);
	sim_dialects_done(&d);
}

/* --- captures of real BMCs -------------------------------------------------------------------- */

static struct bench *replayed;
static const struct sim_tree *of;
static unsigned seen, compared;

static bool lives(const char *path)
{
	const char *const fixed[] = {SIM_TREE_ROOT, of->session_service, of->sessions,	of->system,
				     of->settings,  of->tasks,		 of->attributes};

	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		if (fixed[i] && strcasecmp(fixed[i], path) == 0)
			return true;
	for (size_t i = 0; i < of->nslots; i++)
		if (strcasecmp(of->slots[i].path, path) == 0)
			return true;
	for (size_t i = 0; i < sizeof(of->nics) / sizeof(of->nics[0]) && of->nics[i]; i++)
		if (strcasecmp(of->nics[i], path) == 0)
			return true;
	for (size_t i = 0; i < sizeof(of->storages) / sizeof(of->storages[0]) && of->storages[i];
	     i++)
		if (strcasecmp(of->storages[i], path) == 0)
			return true;
	for (size_t i = 0; i < sizeof(of->managers) / sizeof(of->managers[0]); i++)
		if (of->managers[i] && strcasecmp(of->managers[i], path) == 0)
			return true;
	return str_starts(path, str_or(of->sessions, "none"));
}

static int compare_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	const char *rest = strstr(path, "/redfish/v1");
	char *uri;
	size_t n;
	FILE *f;

	(void)at;
	if (type != FTW_F || !rest || !str_ends(path, "/index.json") || strpbrk(rest, "?%$ ") ||
	    st->st_size > 500000 || seen++ % EVERY)
		return 0;
	uri = mem_strndup(rest, strlen(rest) - strlen("/index.json"));
	if (!lives(uri)) {
		char *text = mem_alloc((size_t)st->st_size);

		f = fopen(path, "r");
		assert_non_null(f);
		n = fread(text, 1, (size_t)st->st_size, f);
		(void)fclose(f);
		if (get(replayed, uri) != 200)
			fail_msg("%s: %d", uri, replayed->status);
		assert_int_equal(strlen(replayed->text), n);
		assert_memory_equal(replayed->text, text, n);
		compared++;
		free(text);
	}
	free(uri);
	return 0;
}

static void unpack(const char *archive)
{
	char path[300];
	int status;
	pid_t pid;

	str_format(path, sizeof(path), CAPTURES "/%s", archive);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		execlp("tar", "tar", "-xJf", path, "-C", folder, "--strip-components=1",
		       "--exclude=*/LogServices/*", "--exclude=*/Oem/*", "--wildcards",
		       "*/redfish/v1/index.json", "*/redfish/v1/*Service/*",
		       "*/redfish/v1/Systems/*", "*/redfish/v1/Managers/*", (char *)NULL);
		test_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void what_does_not_live_of_a_capture_is_told_byte_for_byte(void **state)
{
	DIR *d = opendir(CAPTURES);
	struct dirent *entry;

	(void)state;
	while (d && (entry = readdir(d)) != NULL) {
		struct sim_dialects all;
		struct bench b;

		if (!str_ends(entry->d_name, ".tar.xz"))
			continue;
		unpack(entry->d_name);
		begin_in(&b, &all, folder);
		replayed = &b;
		of = all.v[0].tree;
		compared = 0;
		nftw(folder, compare_one, 16, FTW_PHYS);
		print_message("    %s: %u resources\n", entry->d_name, compared);
		assert_true(compared > 10);
		end(&b);
		sim_dialects_done(&all);
		assert_int_equal(teardown(NULL), 0);
		assert_int_equal(setup(NULL), 0);
	}
	if (d)
		closedir(d);
}

#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(a_mockup_is_read_in_its_tall_and_in_its_short_form),
		test(a_folder_that_is_no_mockup_is_told),
		test(what_is_not_there_is_404_and_pages_are_found),
		test(what_does_not_live_of_a_capture_is_told_byte_for_byte),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
