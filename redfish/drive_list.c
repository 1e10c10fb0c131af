#include "redfish/drive_list.h"

#include <stdlib.h>
#include "base/arena.h"

void rf_drives_free(struct rf_drives *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		free(s->todo[i].path);
	for (size_t i = 0; i < s->nvolumes; i++)
		free(s->volumes[i].path);
	free(s->simples);
	arena_free(s->strings);
	free(s);
}

void rf_drives_push(struct rf_drives *s, enum drive_node node, char *path)
{
	if (!path || s->n == RF_DRIVES_TODO || s->looks + s->n >= RF_DRIVES_LOOKS) {
		free(path);
		return;
	}
	s->todo[s->n].node = node;
	s->todo[s->n++].path = path;
}
