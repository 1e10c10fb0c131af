#include "base/data/labels.h"

#include <stdlib.h>
#include <string.h>

const char *labels_get(const struct labels *l, const char *key)
{
	size_t low = 0, high = l->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int c = strcmp(l->v[mid].key, key);

		if (c == 0)
			return l->v[mid].value;
		if (c < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct label *)a)->key, ((const struct label *)b)->key);
}

void labels_sort(struct labels *l)
{
	if (l->n > 1)
		qsort(l->v, l->n, sizeof(l->v[0]), by_key);
}
