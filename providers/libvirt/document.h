#ifndef PROVIDERS_LIBVIRT_DOCUMENT_H
#define PROVIDERS_LIBVIRT_DOCUMENT_H

#include <libxml/tree.h>
#include <stddef.h>

/*
 * document: parses untrusted XML with libxml2, within limits. Uses no network and prints nothing.
 * Refuses DTDs, and with them entities. Refuses more than DOCUMENT_NODES_MAX elements and
 * attributes, because an element of four bytes of text uses up to 250 bytes of memory.
 *
 * Must be called from one thread only.
 * Tests: tests/unit/providers/libvirt/test_document.c
 */
#define DOCUMENT_NODES_MAX 200000

/* Returns a document with a root element; the caller calls xmlFreeDoc(). NULL: the text is not
 * well-formed XML, has a DTD, or is longer than len_max bytes. */
xmlDoc *document_parse(const char *text, size_t len, size_t len_max);

#endif
