#ifndef BASE_DATA_QUANTITY_H
#define BASE_DATA_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

/*
 * quantity: a Kubernetes resource.Quantity, exact, without floating point.
 *
 * The value is stored in billionths in 128 bits: the smallest step is 1n, the largest value 2^63-1
 * whole units, as in the API (k8s.io/apimachinery/pkg/api/resource). Suffixes: n u m (none) k M G T
 * P E, Ki Mi Gi Ti Pi Ei, and exponents (1e3, 1.5E2). As in the API, a fraction smaller than 1n is
 * rounded up to 1n.
 */
struct quantity {
	__int128 nano;
};

#define QUANTITY_TEXT 48

/* Parses a quantity. Fails with ERR_INVALID, naming the text, if the value is out of range or the
 * suffix is wrong. */
int quantity_parse(const char *s, struct quantity *out, struct err *e)
	__attribute__((warn_unused_result));
/* Writes a text that quantity_parse() reads back as the same value. A whole number gets the largest
 * binary suffix (Ki, Mi, ...) of which it is a multiple, or no suffix; a fraction gets the suffix
 * n, u or m. */
const char *quantity_format(struct quantity q, char out[static QUANTITY_TEXT]);
struct quantity quantity_of(int64_t whole);
/* Converts an unquoted JSON or YAML number (0.5), rounded to 15 significant digits; false: out of
 * range. */
bool quantity_of_real(double v, struct quantity *out);

static inline int quantity_cmp(struct quantity a, struct quantity b)
{
	return a.nano < b.nano ? -1 : a.nano > b.nano;
}
/* quantity_add() and quantity_sub() saturate: a result out of range becomes the largest or smallest
 * value. */
struct quantity quantity_add(struct quantity a, struct quantity b);
struct quantity quantity_sub(struct quantity a, struct quantity b);
/* Convert to whole units (quantity_ceil(), quantity_floor()) or to thousandths
 * (quantity_milli_ceil(), quantity_milli_floor()). The ceil functions round up, the floor functions
 * down; a result out of range becomes the nearest int64_t. */
int64_t quantity_ceil(struct quantity q);
int64_t quantity_floor(struct quantity q);
int64_t quantity_milli_ceil(struct quantity q);
int64_t quantity_milli_floor(struct quantity q);

/* A resource list ("cpu", "memory", "nvidia.com/gpu" ...), sorted by name. */
struct resource {
	const char *name;
	struct quantity q;
};
struct resources {
	struct resource *v;
	size_t n;
};
/* Sorts r by name, as resources_get() requires. */
void resources_sort(struct resources *r);
/* True if both have the same entries in the same order. */
bool resources_equal(const struct resources *a, const struct resources *b);
/* Returns the quantity of name; NULL: r has no such name. r must be sorted. */
const struct quantity *resources_get(const struct resources *r, const char *name);

#endif
