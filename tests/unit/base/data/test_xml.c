#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/data/xml.h"
#include "base/mem.h"

static bool is_read(const char *text, size_t max)
{
	OWN(xml_doc) doc = xml_parse(text, strlen(text), max);

	return doc;
}

static void a_document_with_a_root_is_read_and_nothing_else(void **state)
{
	static const struct {
		const char *text;
		bool read;
	} rows[] = {
		{"<a/>", true},
		{"<?xml version='1.0' encoding='UTF-8'?><a b='c'><![CDATA[x]]></a>", true},
		{"<!-- c --><a/>\n", true},
		{"", false},
		{"text", false},
		{"<a>", false},
		{"<a/><b/>", false},
		{"<a></b>", false},
		{"<a b='1' b='2'/>", false},
		{"<a>\x01</a>", false},
		{"<a>\xff</a>", false},
		{"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xe4</a>", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (is_read(rows[i].text, 1000) != rows[i].read)
			fail_msg("%s", rows[i].text);
	/* UTF-16, which Expat itself would read */
	assert_null(xml_parse("\xff\xfe<\0a\0/\0>", 10, 1000));
	assert_true(is_read("<a/>", 4));
	assert_false(is_read("<a/>", 3));
}

static void entities_and_the_types_that_declare_them_are_refused(void **state)
{
	static const char *const refused[] = {
		"<a>&x;</a>",
		"<!DOCTYPE a><a/>",
		"<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>",
		"<!DOCTYPE a [<!ENTITY x 'y'><!ENTITY z '&x;&x;&x;&x;&x;&x;&x;&x;'>]><a>&z;</a>",
		"<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/hostname'>]><a>&x;</a>",
		"<!DOCTYPE a SYSTEM 'file:///nonexistent/a.dtd'><a/>",
		"<!DOCTYPE a [<!ENTITY % x SYSTEM 'http://127.0.0.1:1/'> %x;]><a/>",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		if (is_read(refused[i], 1000))
			fail_msg("%s", refused[i]);
}

static void very_many_elements_are_refused(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, SIZE_MAX);
	buf_puts(&b, "<a>");
	for (size_t i = 0; i < XML_NODES_MAX; i++)
		buf_puts(&b, "<b/>");
	buf_puts(&b, "</a>");
	assert_false(is_read(b.data, SIZE_MAX));
	buf_done(&b);
}

static bool nested_is_read(size_t depth)
{
	struct buf b;
	bool read;

	buf_init(&b, SIZE_MAX);
	for (size_t i = 0; i < depth; i++)
		buf_puts(&b, "<a>");
	for (size_t i = 0; i < depth; i++)
		buf_puts(&b, "</a>");
	read = is_read(b.data, SIZE_MAX);
	buf_done(&b);
	return read;
}

static void very_deep_elements_are_refused(void **state)
{
	(void)state;
	assert_true(nested_is_read(XML_DEPTH_MAX));
	assert_false(nested_is_read(XML_DEPTH_MAX + 1));
	assert_false(nested_is_read(XML_NODES_MAX / 3));
}

static void elements_and_texts_are_in_order(void **state)
{
	static const char text[] = "<p:r xmlns:p='urn:x' a='b'>\n  <x>one&lt;<y>&#x32;</y> 3</x>\n"
				   "<x><![CDATA[<4>]]></x><!-- no --><z/></p:r>";
	OWN(xml_doc) doc = xml_parse(text, strlen(text), 1000);
	OWN(arena) a = arena_new();
	const struct xml_node *root = xml_root(doc), *n = root->children;

	(void)state;
	assert_true(xml_is(root, "r", 1));
	assert_true(xml_is(root, "r/x", 1));
	assert_false(xml_is(root, "rr", 2));
	assert_true(xml_is(n, "x", 1));
	assert_string_equal(xml_text(n, a), "one<2 3");
	assert_false(xml_is(n->children, "x", 1));
	assert_string_equal(n->children->text, "one<");
	assert_true(xml_is(n->children->next, "y", 1));
	n = n->next;
	assert_string_equal(xml_text(n, a), "<4>");
	n = n->next;
	assert_true(xml_is(n, "z", 1));
	assert_string_equal(xml_text(n, a), "");
	assert_null(n->next);
	assert_null(root->next);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_document_with_a_root_is_read_and_nothing_else),
		cmocka_unit_test(entities_and_the_types_that_declare_them_are_refused),
		cmocka_unit_test(very_many_elements_are_refused),
		cmocka_unit_test(very_deep_elements_are_refused),
		cmocka_unit_test(elements_and_texts_are_in_order),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
