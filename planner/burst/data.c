/*
 * data: which data sets work reads, and what moving those costs and takes that have no copy at an
 * offer. Each instance moves all data sets of its work for itself.
 * Tests: tests/unit/planner/burst/test_burst.c, tests/unit/planner/test_burst_oracle.c
 */
#include <string.h>

#include "base/str.h"
#include "planner/burst/burst_impl.h"

#define GB INT64_C(1000000000)

bool burst_data_names(const char *text, struct burst_names *out, struct arena *a)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";

	*out = (struct burst_names){arena_calloc(a, BURST_DATA_NAMES, sizeof(*out->v)), 0};
	for (;; text++) {
		const size_t n = strspn(text, letters);

		if (!n || n > BURST_DATA_NAME || out->n == BURST_DATA_NAMES)
			return false;
		out->v[out->n++] = arena_strndup(a, text, n);
		text += n;
		if (!*text)
			return true;
		if (*text != ',')
			return false;
	}
}

static size_t input_named(const struct burst_policy_in *p, const char *name)
{
	size_t i = 0;

	while (i < p->data.ninputs && !str_eq(p->data.inputs[i].name, name))
		i++;
	return i;
}

const char *burst_data_unknown(const struct burst_policy_in *p, const struct burst_work *w)
{
	for (size_t i = 0; i < w->data.n; i++)
		if (input_named(p, w->data.v[i]) == p->data.ninputs)
			return w->data.v[i];
	return NULL;
}

uint64_t burst_data_of(const struct burst_policy_in *p, const struct burst_work *w)
{
	uint64_t set = 0;

	for (size_t i = 0; i < w->data.n; i++) {
		const size_t k = input_named(p, w->data.v[i]);

		set |= k < p->data.ninputs ? UINT64_C(1) << k : 0;
	}
	return set;
}

static bool has_copy(const struct burst_dataset *d, const struct burst_offer *o)
{
	for (size_t i = 0; i < d->ncopies; i++)
		if (str_eq(d->copies[i].provider, o->provider) &&
		    /* mutant: burst-data-elsewhere */ (
			    !d->copies[i].region || str_eq(d->copies[i].region, o->kind.region)))
			return true;
	return false;
}

/* Returns x * factor / by, rounded up; INT64_MAX: too large. by must be positive. */
static int64_t scaled(__int128 x, int64_t factor, int64_t by)
{
	const __int128 y = (x * factor + by - 1) / by;

	return y > INT64_MAX ? INT64_MAX : (int64_t)y;
}

struct burst_moving burst_data_moving(const struct burst_policy_in *p, uint64_t set,
				      const struct burst_offer *o)
{
	struct burst_moving m = {0, 0};
	__int128 bytes = 0;

	if (!set)
		return m;
	for (size_t i = 0; i < p->data.ninputs; i++)
		if (set >> i & 1 && !has_copy(&p->data.inputs[i], o))
			bytes += p->data.inputs[i].bytes;
	m.egress = scaled(bytes, p->data.per_gb, GB);
	if (p->data.per_second > 0)
		m.ms = scaled(bytes, 1000, p->data.per_second);
	return m;
}
