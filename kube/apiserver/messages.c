#include "kube/apiserver/messages.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/str.h"

static const struct message messages[] = {
#define MESSAGE(name, fields) {name, fields},
#include "kube/apiserver/messages.def"
};
#define NMESSAGES (sizeof(messages) / sizeof(*messages))

static int compare(const void *name, const void *m)
{
	return strcmp(name, ((const struct message *)m)->name);
}

const struct message *message_find(const char *name)
{
	return bsearch(name, messages, NMESSAGES, sizeof(*messages), compare);
}

/* Finds the message (type) of a kind. The name of a message begins with the first label of the API
 * group ("apps.v1.DaemonSet"). */
const struct message *message_of_kind(const char *group, const char *version, const char *kind)
{
	char name[160];

	if (str_eq(kind, "DeleteOptions"))
		return message_find("meta.v1.DeleteOptions");
	if (!*group)
		group = "core";
	return str_format(name, sizeof(name), "%.*s.%s.%s", (int)strcspn(group, "."), group,
			  version, kind)
		       ? message_find(name)
		       : NULL;
}

static const struct {
	const char *name;
	enum message_type type;
} types[] = {
	{"s", MESSAGE_STRING},
	{"b", MESSAGE_BYTES},
	{"t", MESSAGE_BOOL},
	{"i", MESSAGE_INT},
	{"l", MESSAGE_STRINGS},
	{"Time", MESSAGE_TIME},
	{"MicroTime", MESSAGE_MICRO_TIME},
	{"Quantity", MESSAGE_QUANTITY},
	{"IntOrString", MESSAGE_INT_OR_STRING},
	{"FieldsV1", MESSAGE_ANY},
	{"RawExtension", MESSAGE_ANY},
};

static void read_type(const struct message *m, const char *type, struct message_field *f)
{
	const char *dot = strrchr(m->name, '.');

	f->always = *type == '!';
	f->keeps_zero = *type == '=' || f->always;
	f->is_inline = *type == '~';
	type += f->keeps_zero || f->is_inline;
	f->list = str_starts(type, "[]");
	f->map = str_starts(type, "{}");
	type += f->list || f->map ? 2 : 0;
	f->type = MESSAGE_MESSAGE;
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (str_eq(types[i].name, type))
			f->type = types[i].type;
	if (f->type != MESSAGE_MESSAGE)
		return;
	if (strchr(type, '.'))
		(void)str_copy(f->of, sizeof(f->of), type);
	else
		(void)str_format(f->of, sizeof(f->of), "%.*s.%s", (int)(dot - m->name), m->name,
				 type);
}

/* Copies the next word of a row of the table messages.def to out; returns the position behind the
 * word. The assertion cannot fail, because a test makes sure that every word of the table fits. */
static const char *take_word(const char *text, char *out, size_t size)
{
	size_t n = strcspn(text, " ,");

	assert(n > 0 && n < size);
	memcpy(out, text, n);
	out[n] = '\0';
	return text + n + strspn(text + n, " ");
}

bool message_next(const struct message *m, const char **at, struct message_field *f)
{
	const char *text = *at ? *at : m->fields;
	char *name, type[sizeof(f->of)];

	if (!*text)
		return false;
	f->number = (unsigned)strtoul(text, &name, 10);
	text = take_word(name + strspn(name, " "), f->name, sizeof(f->name));
	text = take_word(text, type, sizeof(type));
	*at = text + strspn(text, ", ");
	f->of[0] = '\0';
	read_type(m, type, f);
	return true;
}
