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

/* The fields of a message are read several times per write of an object. So the functions below
 * use neither printf nor strtoul. */
static const struct {
	const char *name;
	size_t len;
	enum message_type type;
} types[] = {
#define TYPE(name, type)                                                                           \
	{                                                                                          \
		name, sizeof(name) - 1, type                                                       \
	}
	TYPE("s", MESSAGE_STRING),
	TYPE("b", MESSAGE_BYTES),
	TYPE("t", MESSAGE_BOOL),
	TYPE("i", MESSAGE_INT),
	TYPE("l", MESSAGE_STRINGS),
	TYPE("Time", MESSAGE_TIME),
	TYPE("MicroTime", MESSAGE_MICRO_TIME),
	TYPE("Quantity", MESSAGE_QUANTITY),
	TYPE("IntOrString", MESSAGE_INT_OR_STRING),
	TYPE("FieldsV1", MESSAGE_ANY),
	TYPE("RawExtension", MESSAGE_ANY),
};

/* Appends text to out, which has *n bytes of `size`. The assertion cannot fail, because a test
 * makes sure that every word of the table messages.def fits. */
static void append(char *out, size_t size, size_t *n, const char *text, size_t len)
{
	assert(len < size - *n);
	memcpy(out + *n, text, len);
	*n += len;
	out[*n] = '\0';
}

static void read_type(const struct message *m, const char *type, size_t len,
		      struct message_field *f)
{
	const char *begin = type;
	size_t n = 0;

	f->always = *type == '!';
	f->keeps_zero = *type == '=' || f->always;
	f->is_inline = *type == '~';
	type += f->keeps_zero || f->is_inline;
	f->list = str_starts(type, "[]");
	f->map = str_starts(type, "{}");
	type += f->list || f->map ? 2 : 0;
	len -= (size_t)(type - begin);
	f->type = MESSAGE_MESSAGE;
	f->of[0] = '\0';
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (types[i].len == len && memcmp(types[i].name, type, len) == 0) {
			f->type = types[i].type;
			return;
		}
	/* A name without a group and version is of the same ones as m. */
	if (!memchr(type, '.', len))
		append(f->of, sizeof(f->of), &n, m->name,
		       (size_t)(strrchr(m->name, '.') + 1 - m->name));
	append(f->of, sizeof(f->of), &n, type, len);
}

static size_t word_length(const char *text)
{
	size_t n = 0;

	while (text[n] && text[n] != ' ' && text[n] != ',')
		n++;
	return n;
}

bool message_next(const struct message *m, const char **at, struct message_field *f)
{
	const char *text = *at ? *at : m->fields;
	size_t len, n = 0;

	if (!*text)
		return false;
	f->number = 0;
	for (; *text >= '0' && *text <= '9'; text++)
		f->number = f->number * 10 + (unsigned)(*text - '0');
	text += *text == ' ';
	len = word_length(text);
	append(f->name, sizeof(f->name), &n, text, len);
	text += len + (text[len] == ' ');
	len = word_length(text);
	read_type(m, text, len, f);
	text += len;
	while (*text == ' ' || *text == ',')
		text++;
	*at = text;
	return true;
}
