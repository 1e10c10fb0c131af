#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include "base/data/items.h"
#include "base/data/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct count {
	size_t items, bytes, heads;
	json_t *list, *head;
};

static int on_item(const char *text, size_t len, void *arg, struct err *e)
{
	struct count *c = arg;
	json_t *j = json_parse(text, len, e);

	c->items++;
	c->bytes += len;
	if (!j)
		return -1;
	json_array_append_new(c->list, j);
	return 0;
}

static int on_head(const char *text, size_t len, void *arg, struct err *e)
{
	struct count *c = arg;

	assert(++c->heads == 1);
	c->head = json_parse(text, len, e);
	return c->head ? 0 : -1;
}

static int run(enum items_mode mode, const char *data, size_t size, size_t chunk, struct count *c)
{
	static const struct items_ops ops = {.on_item = on_item, .on_head = on_head};
	struct items *it = items_new(mode, 4096, &ops, c);
	struct err e;
	int rc = 0;

	c->list = json_array();
	for (size_t i = 0; i < size && rc == 0; i += chunk)
		rc = items_feed(it, data + i, size - i < chunk ? size - i : chunk, &e);
	if (rc == 0)
		rc = items_end(it, &e);
	items_free(it);
	return rc;
}

/* The size of the chunks changes nothing, and what is accepted is what a whole parser sees.
 * First byte: mode and size of the chunks. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct count whole = {0}, parts = {0};
	enum items_mode mode;
	const char *text;
	int rc;

	if (!size)
		return 0;
	mode = data[0] & 1 ? ITEMS_LINES : ITEMS_LIST;
	text = (const char *)data + 1;
	rc = run(mode, text, size - 1, size, &whole);
	assert(run(mode, text, size - 1, 1 + (data[0] >> 1) % 16, &parts) == rc);
	assert(whole.items == parts.items && whole.bytes == parts.bytes &&
	       whole.heads == parts.heads);
	if (rc == 0 && mode == ITEMS_LIST) {
		struct err e;
		OWN_JSON j = json_parse(text, size - 1, &e);
		json_t *items = json_object_get(j, "items");

		/* The parser also refuses duplicates between an item's depth and the list's: then j is NULL. */
		if (j && (json_is_array(items) || !items || json_is_null(items)))
			assert(json_array_size(items) == whole.items);
	}
	json_decref(whole.list);
	json_decref(parts.list);
	json_decref(whole.head);
	json_decref(parts.head);
	return 0;
}
