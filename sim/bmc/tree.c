#include "sim/bmc/tree.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include "base/mem.h"
#include "base/str.h"

#define COUNT(v) (sizeof(v) / sizeof(*(v)))

static char *lower(const char *path)
{
	char *s = mem_strdup(path);

	for (char *at = s; *at; at++)
		*at = (char)tolower((unsigned char)*at);
	return s;
}

/* --- reading ---------------------------------------------------------------------------------- */

static char *read_file(const char *path, size_t *len)
{
	FILE *f = fopen(path, "re");
	char *text = NULL;
	struct stat st;

	if (!f)
		return NULL;
	if (fstat(fileno(f), &st) == 0 && S_ISREG(st.st_mode) && st.st_size < SIM_TREE_TEXT_MAX) {
		text = mem_alloc((size_t)st.st_size + 1);
		*len = fread(text, 1, (size_t)st.st_size, f);
		text[*len] = '\0';
	}
	(void)fclose(f);
	return text;
}

/* Returns the path of a resource's file, malloc'd. In the tall form of a mockup (tree.h), /redfish
 * is the parent directory of v1. */
static char *file_of(const struct sim_tree *t, const char *path, const char *name)
{
	const char *rest = path + strlen(SIM_TREE_ROOT);

	if (str_eq(path, "/redfish"))
		return mem_printf("%s/../%s", t->folder, name);
	if (strncasecmp(path, SIM_TREE_ROOT, strlen(SIM_TREE_ROOT)) != 0 || (*rest && *rest != '/'))
		return NULL;
	return mem_printf("%s%s/%s", t->folder, rest, name);
}

char *sim_tree_text(const struct sim_tree *t, const char *path, size_t *len, const char **type)
{
	static const char *const names[][2] = {{"index.json", "application/json; charset=utf-8"},
					       {"index.xml", "application/xml; charset=utf-8"}};
	char *text = NULL;

	for (size_t i = 0; t->folder && !text && i < COUNT(names); i++) {
		char *name = file_of(t, path, names[i][0]);

		*type = names[i][1];
		text = name ? read_file(name, len) : NULL;
		free(name);
	}
	if (!t->folder) {
		OWN_JSON j = sim_tree_get(t, path);

		text = j ? json_text(j) : NULL;
		*len = text ? strlen(text) : 0;
		*type = names[0][1];
	}
	return text;
}

json_t *sim_tree_get(const struct sim_tree *t, const char *path)
{
	char *key = lower(path), *text = NULL;
	json_t *j = json_deep_copy(json_object_get(t->kept, key));
	const char *type;
	struct err e;
	size_t len;

	free(key);
	if (!j && t->folder)
		text = sim_tree_text(t, path, &len, &type);
	if (text)
		j = json_parse(text, len, &e);
	free(text);
	if (j && !json_is_object(j)) {
		json_decref(j);
		j = NULL;
	}
	return j;
}

/* --- simulated resources ---------------------------------------------------------------------- */

/* Returns the path in a link, without a final slash, malloc'd; NULL: none. */
static char *path_in(const json_t *link)
{
	const char *s =
		json_is_string(link) ? json_string_value(link) : json_str_at(link, "@odata.id");
	size_t n = s ? strlen(s) : 0;

	if (!s || *s != '/')
		return NULL;
	return mem_strndup(s, n > 1 && s[n - 1] == '/' ? n - 1 : n);
}

/* Reads into the cache a resource that the simulator is going to change. Returns the resource,
 * borrowed; NULL: not found. */
static const json_t *keep(struct sim_tree *t, const char *path)
{
	json_t *j = path ? sim_tree_get(t, path) : NULL;
	char *key;

	if (!j)
		return NULL;
	key = lower(path);
	json_object_set_new(t->kept, key, j);
	free(key);
	return j;
}

static bool put(char **list, size_t n, char *path /* takes ownership */)
{
	for (size_t i = 0; path && i < n; i++) {
		if (!list[i]) {
			list[i] = path;
			return true;
		}
		if (strcasecmp(list[i], path) == 0)
			break;
	}
	free(path);
	return false;
}

static bool takes_cds(const json_t *slot)
{
	json_t *v;
	size_t i;

	json_array_foreach (json_at(slot, "MediaTypes"), i, v)
		if (str_eq(json_string_value(v), "CD") || str_eq(json_string_value(v), "DVD"))
			return true;
	return false;
}

static void learn_slot(struct sim_tree *t, char *path /* takes ownership */)
{
	const json_t *j = path && t->nslots < SIM_TREE_SLOTS ? keep(t, path) : NULL;
	struct sim_slot *s;

	for (size_t i = 0; j && i < t->nslots; i++)
		if (strcasecmp(t->slots[i].path, path) == 0)
			j = NULL;
	if (!j) {
		free(path);
		return;
	}
	s = &t->slots[t->nslots++];
	s->path = path;
	s->cd = takes_cds(j);
	s->insert = path_in(json_at(j, "Actions", "#VirtualMedia.InsertMedia", "target"));
	s->eject = path_in(json_at(j, "Actions", "#VirtualMedia.EjectMedia", "target"));
	/* Adds the URL of EjectMedia itself, because a tree may omit that action: Supermicro shows
	 * it only while a medium is inserted. */
	if (s->insert && !s->eject)
		s->eject = mem_printf("%s/Actions/VirtualMedia.EjectMedia", s->path);
}

static void learn_media(struct sim_tree *t, const json_t *owner)
{
	char *path = path_in(json_object_get(owner, "VirtualMedia"));
	const json_t *j = keep(t, path);
	json_t *v;
	size_t i;

	if (!j || !put(t->media, COUNT(t->media), mem_strdup(path))) {
		free(path);
		return;
	}
	free(path);
	json_array_foreach (json_object_get(j, "Members"), i, v)
		learn_slot(t, path_in(v));
}

static void learn_attributes(struct sim_tree *t, const json_t *manager)
{
	const char *id = json_str_at(manager, "Id");
	json_t *v;
	size_t i;

	json_array_foreach (json_at(manager, "Links", "Oem", "Dell", "DellAttributes"), i, v) {
		char *path = path_in(v), *slash = path ? strrchr(path, '/') : NULL;

		if (slash && str_eq(slash + 1, id) && !t->attributes && keep(t, path))
			t->attributes = path;
		else
			free(path);
	}
}

static void learn_manager(struct sim_tree *t, const char *path)
{
	const json_t *j = keep(t, path);

	learn_media(t, j);
	learn_attributes(t, j);
	if (!t->enable)
		t->enable = path_in(
			json_at(j, "Actions", "Oem", "#AMIVirtualMedia.EnableRMedia", "target"));
}

static void learn_managers(struct sim_tree *t, const json_t *root, const json_t *system)
{
	char *path = path_in(json_object_get(root, "Managers"));
	OWN_JSON all = path ? sim_tree_get(t, path) : NULL;
	json_t *v;
	size_t i;

	json_array_foreach (json_at(system, "Links", "ManagedBy"), i, v)
		put(t->managers, COUNT(t->managers), path_in(v));
	json_array_foreach (json_object_get(all, "Members"), i, v)
		put(t->managers, COUNT(t->managers), path_in(v));
	for (i = 0; i < COUNT(t->managers) && t->managers[i]; i++)
		learn_manager(t, t->managers[i]);
	free(path);
}

/* Adds the paths of the members of one of the System's collections to the list. */
static void learn_members(struct sim_tree *t, const json_t *system, const char *collection,
			  char **list, size_t max)
{
	char *path = path_in(json_object_get(system, collection));
	OWN_JSON all = path ? sim_tree_get(t, path) : NULL;
	json_t *v;
	size_t i;

	json_array_foreach (json_object_get(all, "Members"), i, v) {
		char *one = path_in(v);

		if (keep(t, one))
			put(list, max, one);
		else
			free(one);
	}
	free(path);
}

static void learn_switch(struct sim_tree *t, const json_t *system)
{
	const json_t *reset = json_at(system, "Actions", "#ComputerSystem.Reset");

	t->reset = path_in(json_object_get(reset, "target"));
	t->reset_info = path_in(json_object_get(reset, "@Redfish.ActionInfo"));
	t->settings = path_in(json_at(system, "@Redfish.Settings", "SettingsObject"));
	(void)keep(t, t->reset_info);
	(void)keep(t, t->settings);
}

/* Selects the machine's System: the first System that can be switched on and off. The other Systems
 * are GPU baseboards. */
static void learn_systems(struct sim_tree *t, const json_t *root)
{
	char *path = path_in(json_object_get(root, "Systems"));
	OWN_JSON all = path ? sim_tree_get(t, path) : NULL;
	json_t *v;
	size_t i;

	json_array_foreach (json_object_get(all, "Members"), i, v) {
		char *one = path_in(v);
		OWN_JSON j = one ? sim_tree_get(t, one) : NULL;

		if (!t->system && json_at(j, "Actions", "#ComputerSystem.Reset", "target"))
			t->system = one;
		else
			put(t->others, COUNT(t->others), one);
	}
	free(path);
}

static int learn(struct sim_tree *t, struct err *e)
{
	OWN_JSON service = NULL;
	OWN_JSON events = NULL;
	OWN_JSON tasks = NULL;
	const json_t *root = keep(t, SIM_TREE_ROOT), *system;
	char *path;

	if (!root)
		return err_set(e, ERR_INVALID, 0,
			       "no service root: want redfish/v1/index.json in this directory, or "
			       "index.json if it is v1 itself");
	t->session_service = path_in(json_object_get(root, "SessionService"));
	t->sessions = path_in(json_at(root, "Links", "Sessions"));
	service = t->session_service ? sim_tree_get(t, t->session_service) : NULL;
	if (!t->sessions)
		t->sessions = path_in(json_object_get(service, "Sessions"));
	path = path_in(json_object_get(root, "EventService"));
	events = path ? sim_tree_get(t, path) : NULL;
	t->stream = path_in(json_object_get(events, "ServerSentEventUri"));
	free(path);
	path = path_in(json_object_get(root, "Tasks"));
	tasks = path ? sim_tree_get(t, path) : NULL;
	t->tasks = path_in(json_object_get(tasks, "Tasks"));
	free(path);
	learn_systems(t, root);
	system = keep(t, t->system);
	if (!system)
		return err_set(e, ERR_INVALID, 0,
			       "no System can be switched: want one with the action "
			       "ComputerSystem.Reset");
	learn_switch(t, system);
	learn_members(t, system, "EthernetInterfaces", t->nics, COUNT(t->nics));
	learn_members(t, system, "Storage", t->storages, COUNT(t->storages));
	learn_members(t, system, "SimpleStorage", t->simple_storages, COUNT(t->simple_storages));
	learn_media(t, system);
	learn_managers(t, root, system);
	return 0;
}

/* --- start and end ---------------------------------------------------------------------------- */

static bool is_there(const char *folder, const char *rest)
{
	char *path = mem_printf("%s%s/index.json", folder, rest);
	FILE *f = fopen(path, "re");

	free(path);
	if (f)
		(void)fclose(f);
	return f != NULL;
}

struct sim_tree *sim_tree_open(const char *folder, struct err *e)
{
	OWN(sim_tree) t = mem_new(struct sim_tree);

	t->kept = json_object();
	t->folder =
		mem_printf("%s%s", folder, is_there(folder, SIM_TREE_ROOT) ? SIM_TREE_ROOT : "");
	if (learn(t, e) < 0) {
		err_note_wrap(e, "%s", folder);
		return NULL;
	}
	return give(t);
}

struct sim_tree *sim_tree_of(json_t *resources, struct err *e)
{
	OWN(sim_tree) t = mem_new(struct sim_tree);
	const char *path;
	json_t *j;

	t->kept = json_object();
	json_object_foreach (resources, path, j) {
		char *key = lower(path);

		if (json_is_object(j) && !json_object_get(j, "@odata.id"))
			json_object_set_new(j, "@odata.id", json_string(path));
		json_object_set(t->kept, key, j);
		free(key);
	}
	json_decref(resources);
	return learn(t, e) < 0 ? NULL : give(t);
}

static void free_all(char **list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(list[i]);
}

void sim_tree_free(struct sim_tree *t)
{
	if (!t)
		return;
	free(t->session_service);
	free(t->sessions);
	free(t->tasks);
	free(t->stream);
	free(t->system);
	free(t->reset);
	free(t->reset_info);
	free(t->settings);
	free(t->enable);
	free(t->attributes);
	free_all(t->managers, COUNT(t->managers));
	free_all(t->media, COUNT(t->media));
	free_all(t->nics, COUNT(t->nics));
	free_all(t->others, COUNT(t->others));
	free_all(t->storages, COUNT(t->storages));
	free_all(t->simple_storages, COUNT(t->simple_storages));
	for (size_t i = 0; i < t->nslots; i++) {
		free(t->slots[i].path);
		free(t->slots[i].insert);
		free(t->slots[i].eject);
	}
	free(t->folder);
	json_decref(t->kept);
	free(t);
}
