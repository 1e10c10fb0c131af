#include "redfish/quirks.h"

#include <fnmatch.h>

#define QUIRK(id_, name_, vendor_, product_, version_, bios_, member_, set_, clear_, why_)         \
	{.id = (id_),                                                                              \
	 .name = (name_),                                                                          \
	 .vendor = (vendor_),                                                                      \
	 .product = (product_),                                                                    \
	 .redfish_version = (version_),                                                            \
	 .bios = (bios_),                                                                          \
	 .member = (member_),                                                                      \
	 .set = (set_),                                                                            \
	 .clear = (clear_),                                                                        \
	 .why = (why_)},
const struct quirk_row quirk_rows[] = {
#include "redfish/quirks.def"
};
#undef QUIRK
const size_t quirk_rows_n = sizeof(quirk_rows) / sizeof(*quirk_rows);

static bool fits(const char *glob, const char *fact)
{
	return !glob || (fact && fnmatch(glob, fact, FNM_CASEFOLD) == 0);
}

_Static_assert(sizeof(quirk_rows) / sizeof(*quirk_rows) <= 64, "rows are bits of struct quirks");

static bool matches(const struct quirk_row *q, const struct quirk_facts *f)
{
	return fits(q->vendor, f->vendor) && fits(q->product, f->product) &&
	       fits(q->redfish_version, f->redfish_version) && fits(q->bios, f->bios) &&
	       (!q->member || (f->has && f->has(q->member, f->arg)));
}

/* Clears the flags of by->clear in *out. Removes an earlier row from out->rows if by->clear
 * contains all flags that the row sets. */
static void correct(struct quirks *out, const struct quirk_row *by)
{
	for (size_t i = 0; quirk_rows + i < by; i++) {
		unsigned set = quirk_rows[i].set;

		if (set && (set & ~by->clear) == 0)
			out->rows &= ~(UINT64_C(1) << i);
	}
	out->flags &= ~by->clear;
}

struct quirks quirks_of(const struct quirk_facts *f)
{
	struct quirks out = {0};

	for (size_t i = 0; i < quirk_rows_n; i++) {
		const struct quirk_row *q = &quirk_rows[i];

		if (!matches(q, f))
			continue;
		if (q->set || (out.flags & q->clear))
			out.rows |= UINT64_C(1) << i;
		correct(&out, q);
		out.flags |= q->set;
	}
	return out;
}
