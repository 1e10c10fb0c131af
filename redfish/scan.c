#include "redfish/scan.h"

#include <stdlib.h>
#include "base/str.h"

void rf_scan_free(struct rf_scan *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		free(s->todo[i].path);
	for (size_t i = 0; i < s->nseen; i++)
		free(s->seen[i]);
	free(s->second_best);
	free(s);
}

void rf_scan_push(struct rf_scan *s, enum media_node node, char *path)
{
	if (!path)
		return;
	for (size_t i = 0; i < s->nseen; i++) {
		if (str_eq(s->seen[i], path)) {
			free(path);
			return;
		}
	}
	if (s->n == RF_SCAN_TODO) {
		free(path);
		return;
	}
	s->todo[s->n].node = node;
	s->todo[s->n++].path = path;
}

/* Saves the scan so that the next operation continues it, unless this operation already tried or
 * enabled a slot: the next operation could not see that in the scan. */
void rf_scan_keep(struct redfish *r)
{
	struct rf_scan *s = r->op->scan;

	if (!s || s->nseen == 0 || r->op->nbad > 0 || r->op->enabled)
		return;
	rf_scan_free(r->scan);
	r->scan = s;
	r->op->scan = NULL;
	/* The latest request has no reply yet: put it back, so that it is sent again. */
	s->todo[s->n].node = s->asked;
	s->todo[s->n++].path = s->seen[--s->nseen];
}
