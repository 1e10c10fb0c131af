#include "kube/trim.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"

static const char member[] = "\"managedFields\":[";
#define MEMBER_LEN (sizeof(member) - 1)

/* The byte after the array that begins at p; NULL: it does not end. */
static const char *array_end(const char *p, const char *end)
{
	size_t depth = 0;

	while (p < end) {
		char c = *p++;

		if (c == '"') {
			while (p < end && *p != '"')
				p += *p == '\\' ? 2 : 1;
			p++;
		} else if (c == '[' || c == '{') {
			depth++;
		} else if ((c == ']' || c == '}') && !--depth) {
			return p;
		}
	}
	return NULL;
}

/*
 * A quote after a brace or comma opens a name: one inside a string has a
 * backslash before it, and one that ended a string would be followed by a
 * colon, comma or bracket.  Text where that is not so is no JSON, with the
 * member or without.
 */
json_t *kube_trim_parse(const char *text, size_t len, struct err *e)
{
	const char *at = memmem(text, len, member, MEMBER_LEN), *end = text + len, *after;
	char *rest;
	size_t head;
	json_t *j;

	if (!at || at == text || (at[-1] != '{' && at[-1] != ','))
		return json_parse(text, len, e);
	after = array_end(at + MEMBER_LEN - 1, end);
	if (!after || after >= end || (*after != ',' && *after != '}'))
		return json_parse(text, len, e);
	/* One comma goes with it, if there is one. */
	if (at[-1] == ',')
		at--;
	else if (*after == ',')
		after++;
	head = (size_t)(at - text);
	rest = mem_alloc(head + (size_t)(end - after) + 1);
	memcpy(rest, text, head);
	memcpy(rest + head, after, (size_t)(end - after));
	j = json_parse(rest, head + (size_t)(end - after), e);
	free(rest);
	return j;
}
