/* document: counts '<' and '=' before parsing. Their number is an upper bound for the number of
 * elements and attributes. */
#include "providers/libvirt/document.h"

#include <limits.h>
#include <string.h>

#include <libxml/parser.h>

static void on_error(void *arg, const char *fmt, ...)
{
	(void)arg;
	(void)fmt;
}

static bool too_many(const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len && n <= DOCUMENT_NODES_MAX; i++)
		n += text[i] == '<' || text[i] == '=';
	/* mutant: document-nodes */
	return n > DOCUMENT_NODES_MAX;
}

xmlDoc *document_parse(const char *text, size_t len, size_t len_max)
{
	xmlDoc *doc = NULL;

	xmlSetGenericErrorFunc(NULL, on_error);
	if (len <= len_max && len <= INT_MAX && !memmem(text, len, "<!DOCTYPE", 9) &&
	    !too_many(text, len))
		doc = xmlReadMemory(text, (int)len, NULL, NULL,
				    XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING |
					    XML_PARSE_NOCDATA);
	if (doc && !xmlGetIntSubset(doc) && xmlDocGetRootElement(doc))
		return doc;
	xmlFreeDoc(doc);
	return NULL;
}
