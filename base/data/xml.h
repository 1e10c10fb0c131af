#ifndef BASE_DATA_XML_H
#define BASE_DATA_XML_H

#include <libxml/tree.h>
#include <stddef.h>

/*
 * xml: parses untrusted XML with libxml2, within limits. Uses no network and prints nothing.
 * Refuses DTDs, and with them entities. Refuses more than XML_NODES_MAX elements and attributes,
 * because an element of four bytes of text uses up to 250 bytes of memory.
 *
 * Must be called from one thread only.
 * Tests: tests/unit/base/data/test_xml.c
 */
#define XML_NODES_MAX 200000

/* Returns a document with a root element; the caller calls xmlFreeDoc(). NULL: the text is not
 * well-formed XML, has a DTD, or is longer than len_max bytes. */
xmlDoc *xml_parse(const char *text, size_t len, size_t len_max);

#endif
