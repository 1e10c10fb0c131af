#ifndef BASE_DATA_ITEMS_H
#define BASE_DATA_ITEMS_H

#include <stddef.h>
#include "base/err.h"

/*
 * items: find the elements of a list's items[] and the lines of a watch as
 * bytes arrive, so that a 75 MB list never becomes one tree.
 *
 * Feed bytes in chunks of any size; each complete element is handed out as
 * text, which is valid only during the call.  Memory is one element
 * (max_item bytes) plus the list's own metadata.
 *
 * ITEMS_LIST:  {"kind":"PodList","metadata":{...},"items":[{...},{...}]}.  What is not in items
 *              (kind, apiVersion, metadata in any order, and any other member) comes as one
 *              object through on_head at the end of the document.
 * ITEMS_LINES: one JSON object a line (watch); blank lines are ignored.
 */
enum items_mode { ITEMS_LIST, ITEMS_LINES };

struct items;
struct items_ops {
	/* Return -1 with *e set to stop; items_feed() then fails with the same error. */
	int (*on_item)(const char *text, size_t len, void *arg, struct err *e);
	int (*on_head)(const char *text, size_t len, void *arg, struct err *e); /* may be NULL */
};

struct items *items_new(enum items_mode mode, size_t max_item, const struct items_ops *ops,
			void *arg);
void items_free(struct items *it);
int items_feed(struct items *it, const char *data, size_t len, struct err *e)
	__attribute__((warn_unused_result));
/* End of input.  A list that is not complete is ERR_PROTOCOL; a partial last line of a watch is dropped. */
int items_end(struct items *it, struct err *e) __attribute__((warn_unused_result));

#endif
