/*
 * run_config: reads options from a YAML file and passes each to the parser of the command line.
 */
#include "cli/run_config.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "base/data/yaml.h"

#define FILE_MAX (64 << 10)
#define LINE_MAX_BYTES 255

static const struct argp_option *option_of(const struct argp_option *options, const char *name)
{
	for (; options->name; options++)
		if (str_eq(options->name, name))
			return options;
	return NULL;
}

/* Returns v as a JSON string, whose text stays at its address as long as the string exists; the
 * caller owns it. NULL: v is neither a string nor an integer. */
static json_t *text_of(json_t *v)
{
	char text[32];

	if (json_is_string(v))
		return json_incref(v);
	if (!json_is_integer(v))
		return NULL;
	str_format(text, sizeof(text), "%lld", (long long)json_integer_value(v));
	return json_string(text);
}

/* Passes one value v of option o to set(), and adds its text to keep, the array that owns all
 * texts. -1: *e, the value has a wrong type or is empty. */
static int give(const struct argp_option *o, json_t *v, json_t *keep, run_config_set *set, void *to,
		struct err *e)
{
	json_t *text;

	if (!o->arg) {
		if (!json_is_boolean(v))
			return err_set(e, ERR_INVALID, 0, "want true or false");
		if (json_is_true(v))
			set(o->key, NULL, to);
		return 0;
	}
	if (json_is_null(v) || (json_is_string(v) && str_empty(json_string_value(v))))
		return err_set(e, ERR_INVALID, 0, "has no value: %s", o->doc);
	text = text_of(v);
	if (!text || json_array_append_new(keep, text) < 0)
		return err_set(e, ERR_INVALID, 0,
			       "want text or a number; put the value in quotes if in doubt");
	set(o->key, (char *)json_string_value(text), to);
	return 0;
}

static int give_all(const struct argp_option *o, json_t *v, json_t *keep, run_config_set *set,
		    void *to, struct err *e)
{
	json_t *one;
	size_t i;

	if (!json_is_array(v))
		return give(o, v, keep, set, to, e);
	json_array_foreach (v, i, one)
		if (give(o, one, keep, set, to, e) < 0)
			return -1;
	return 0;
}

json_t *run_config_read(const char *path, const struct argp_option *options, run_config_set *set,
			void *to, struct err *e)
{
	OWN_JSON tree = NULL;
	OWN_JSON keep = json_array();
	const struct argp_option *o;
	const char *key;
	size_t len;
	char *text = file_text(path, FILE_MAX, &len, e);
	json_t *v;

	if (text) {
		tree = yaml_parse(text, len, e);
		if (!tree)
			err_note_wrap(e, "%s", path);
		else if (!json_is_object(tree))
			err_note(e, ERR_INVALID, 0, "%s: want a mapping of options", path);
	}
	free(text);
	if (!json_is_object(tree))
		return NULL;
	json_object_foreach (tree, key, v) {
		o = option_of(options, key);
		if (!o || str_eq(key, "config")) {
			err_note(e, ERR_INVALID, 0, "%s: %.64s: %s", path, key,
				 o ? "not allowed in the file"
				   : "no such option; `drover run --help` lists all options");
			return NULL;
		}
		if (give_all(o, v, keep, set, to, e) < 0) {
			err_note_wrap(e, "%s: %s", path, key);
			return NULL;
		}
	}
	return json_incref(keep);
}

char *run_config_line(const char *path, struct err *e)
{
	char *line = file_text(path, LINE_MAX_BYTES + 1, NULL, e);

	if (line)
		line[strcspn(line, "\r\n")] = '\0';
	return line;
}
