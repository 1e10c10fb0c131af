#ifndef BASE_DATA_LABELS_H
#define BASE_DATA_LABELS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * labels: a map from string to string, sorted by key, like metadata.labels. The struct only points
 * to strings that the caller owns (usually in an arena).
 */
struct label {
	const char *key, *value;
};
struct labels {
	struct label *v;
	size_t n;
};

/* Returns the value of key; NULL: l has no such key. */
const char *labels_get(const struct labels *l, const char *key);
/* Sorts l->v by key. The caller must call it after it has filled l->v itself. */
void labels_sort(struct labels *l);

#endif
