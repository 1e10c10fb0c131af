#ifndef BASE_DATA_LABELS_H
#define BASE_DATA_LABELS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * labels: string to string, sorted by key, as in metadata.labels.  A plain
 * view: the strings belong to whoever made it (an arena as a rule).
 */
struct label {
	const char *key, *value;
};
struct labels {
	struct label *v;
	size_t n;
};

/* NULL: absent */
const char *labels_get(const struct labels *l, const char *key);
/* after filling v by hand */
void labels_sort(struct labels *l);

#endif
