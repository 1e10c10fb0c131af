#ifndef BASE_DATA_QUANTITY_H
#define BASE_DATA_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

/*
 * quantity: a Kubernetes resource.Quantity, exactly, without floating point.
 *
 * Held in billionths in 128 bits: smallest step n, largest 2^63-1 whole units
 * as in the API (source: k8s.io/apimachinery/pkg/api/resource).  Suffixes n u
 * m (none) k M G T P E, Ki Mi Gi Ti Pi Ei, and exponents (1e3, 1.5E2).
 * Fractions below n are rounded up, as the API does.
 */
struct quantity {
	__int128 nano;
};

#define QUANTITY_TEXT 48

/* Input past the range or with a wrong suffix: ERR_INVALID, naming the text. */
int quantity_parse(const char *s, struct quantity *out, struct err *e)
	__attribute__((warn_unused_result));
/* Canonical decimal text that quantity_parse() reads back to the same value; binary suffix if the
 * value is a whole number of Ki, Mi, ... and at least 1Ki. Integers keep no suffix below that. */
const char *quantity_format(struct quantity q, char out[static QUANTITY_TEXT]);
struct quantity quantity_of(int64_t whole);
/* A number that JSON or YAML has without quotes (0.5), to 15 digits; false past the range. */
bool quantity_of_real(double v, struct quantity *out);

static inline int quantity_cmp(struct quantity a, struct quantity b)
{
	return a.nano < b.nano ? -1 : a.nano > b.nano;
}
struct quantity quantity_add(struct quantity a, struct quantity b); /* saturates */
struct quantity quantity_sub(struct quantity a, struct quantity b);
/* whole units, rounded up, saturated */
int64_t quantity_ceil(struct quantity q);
int64_t quantity_floor(struct quantity q);
int64_t quantity_milli_ceil(struct quantity q);
int64_t quantity_milli_floor(struct quantity q);

/* A resource list: "cpu", "memory", "nvidia.com/gpu" ... sorted by name. */
struct resource {
	const char *name;
	struct quantity q;
};
struct resources {
	struct resource *v;
	size_t n;
};
/* by name, as resources_get() needs it */
void resources_sort(struct resources *r);
/* in the same order */
bool resources_equal(const struct resources *a, const struct resources *b);
/* NULL: absent */
const struct quantity *resources_get(const struct resources *r, const char *name);

#endif
