#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/mem.h"
#include "providers/libvirt/document.h"

static bool is_read(const char *text, size_t max)
{
	xmlDoc *doc = document_parse(text, strlen(text), max);

	xmlFreeDoc(doc);
	return doc;
}

static void a_document_with_a_root_is_read_and_nothing_else(void **state)
{
	static const struct {
		const char *text;
		bool read;
	} rows[] = {
		{"<a/>", true},	       {"<?xml version='1.0'?><a b='c'><![CDATA[x]]></a>", true},
		{"", false},	       {"text", false},
		{"<a>", false},	       {"<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>", false},
		{"<a>&x;</a>", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (is_read(rows[i].text, 1000) != rows[i].read)
			fail_msg("%s", rows[i].text);
	assert_true(is_read("<a/>", 4));
	assert_false(is_read("<a/>", 3));
}

static void very_many_elements_are_refused(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, SIZE_MAX);
	buf_puts(&b, "<a>");
	for (size_t i = 0; i < DOCUMENT_NODES_MAX; i++)
		buf_puts(&b, "<b/>");
	buf_puts(&b, "</a>");
	assert_false(is_read(b.data, SIZE_MAX));
	buf_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_document_with_a_root_is_read_and_nothing_else),
		cmocka_unit_test(very_many_elements_are_refused),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
