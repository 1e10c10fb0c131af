#ifndef BASE_DATA_XML_H
#define BASE_DATA_XML_H

#include <stdbool.h>
#include <stddef.h>
#include "base/arena.h"
#include "base/own.h"

/*
 * xml: parses untrusted XML with Expat, within limits, to a tree of elements and texts. Attributes,
 * comments and namespaces are dropped: the name of an element is the one without its prefix. Texts
 * of white space alone are dropped too.
 *
 * The encoding is UTF-8, whatever the document declares. A document type declaration is refused, so
 * there are no entities but the five of XML itself, and nothing is fetched. Also refused are more
 * than XML_NODES_MAX elements and attributes, because an element of four bytes of text uses up to a
 * hundred bytes of memory, and more than XML_DEPTH_MAX elements within one another.
 * Tests: tests/unit/base/data/test_xml.c, tests/fuzz/fuzz_ec2.c
 */
#define XML_NODES_MAX 200000
#define XML_DEPTH_MAX 100

struct xml_node {
	/* name of the element; NULL: the node is a text */
	const char *name;
	/* text; NULL: the node is an element */
	const char *text;
	/* first node within this element, and the next node behind this one; NULL: none */
	struct xml_node *children, *next;
	/* last node within this element; NULL: none */
	struct xml_node *last;
};

struct xml_doc;

/* Parses a document. The caller frees. NULL: the text is not well-formed XML, exceeds a limit, has
 * a document type declaration, or is longer than len_max bytes. */
struct xml_doc *xml_parse(const char *text, size_t len, size_t len_max);
void xml_doc_free(struct xml_doc *d);
DEFINE_OWN(xml_doc)

/* Returns the root element, which lives as long as d. */
const struct xml_node *xml_root(const struct xml_doc *d);
/* True if n is an element whose name is these len bytes. */
bool xml_is(const struct xml_node *n, const char *name, size_t len);
/* Returns all text within the element, in order, "" if it has none. */
char *xml_text(const struct xml_node *n, struct arena *a);

#endif
