#include "redfish/quirks.h"

#include <fnmatch.h>

#define QUIRK(id_, vendor_, product_, version_, bios_, member_, set_, clear_, why_)                \
	{.id = (id_),                                                                              \
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

unsigned quirks_of(const struct quirk_facts *f)
{
	unsigned flags = 0;

	for (size_t i = 0; i < quirk_rows_n; i++) {
		const struct quirk_row *q = &quirk_rows[i];

		if (!fits(q->vendor, f->vendor) || !fits(q->product, f->product) ||
		    !fits(q->redfish_version, f->redfish_version) || !fits(q->bios, f->bios))
			continue;
		if (q->member && !(f->has && f->has(q->member, f->arg)))
			continue;
		flags = (flags & ~q->clear) | q->set;
	}
	return flags;
}
