#ifndef BASE_DATA_LABELS_H
#define BASE_DATA_LABELS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * labels: string to string, sorted by key, as in metadata.labels. The struct only points to strings
 * that the caller owns (usually in an arena).
 */
struct label {
	const char *key, *value;
};
struct labels {
	struct label *v;
	size_t n;
};

/* Returns the value of key; NULL: absent. */
const char *labels_get(const struct labels *l, const char *key);
/* Sorts v; call it after filling v by hand. */
void labels_sort(struct labels *l);

#endif
