#include "providers/probe_check.h"

#include "base/address.h"
#include "base/str.h"

/* Returns the first network of segment s that contains the address; NULL: none. */
static const char *network_with(const struct probe_check_segment *s, const char *address)
{
	for (size_t i = 0; i < s->nprefixes; i++)
		if (address_in(address, &s->prefixes[i], 1))
			return s->prefixes[i];
	return NULL;
}

static bool names(const struct probe_check_segment *s, const char *address)
{
	for (size_t i = 0; i < s->naddresses; i++)
		if (str_eq(s->addresses[i], address))
			return true;
	return false;
}

static bool against(const struct probe_check_segment *s, const char *address,
		    const struct probe_check_segment *other, probe_check_found *found, void *arg)
{
	const char *network = network_with(other, address);
	char of[128], says[400], mend[300];

	if (s->shared && other->shared && names(other, address))
		return false;
	str_format(of, sizeof(of), "probe of %.100s", s->name);
	if (network) {
		str_format(says, sizeof(says),
			   "%.60s lies in network %.60s of %.100s: if a machine there uses this "
			   "address, other machines there are quarantined because they reach it",
			   address, network, other->name);
		str_format(
			mend, sizeof(mend),
			"set %.150s to an address that no other segment uses, such as the gateway "
			"of this segment",
			s->field);
		found(of, "wrong", says, mend, arg);
		return true;
	}
	if (!names(other, address))
		return false;
	str_format(says, sizeof(says),
		   "%.60s is also listed for %.100s: no machine of either segment probes it",
		   address, other->name);
	str_format(mend, sizeof(mend), "set %.150s to an address that answers only in this segment",
		   s->field);
	found(of, "note", says, mend, arg);
	return true;
}

static void check_one(const struct probe_check_segment *v, size_t n, size_t at,
		      probe_check_found *found, void *arg)
{
	const struct probe_check_segment *s = &v[at];
	char of[128], mend[300];
	bool said = false;

	str_format(of, sizeof(of), "probe of %.100s", s->name);
	if (!s->naddresses) {
		str_format(mend, sizeof(mend),
			   "set %.200s to the gateway of this segment, or to another address that "
			   "answers only there (docs/network.md)",
			   s->field);
		found(of, "note",
		      "no probe address is configured: no packet can prove that a machine is in "
		      "this segment",
		      mend, arg);
		return;
	}
	for (size_t i = 0; i < s->naddresses; i++)
		for (size_t k = 0; k < n; k++)
			if (k != at)
				said |= against(s, s->addresses[i], &v[k], found, arg);
	if (!said)
		found(of, "ok",
		      s->nprefixes ? "the probe addresses are in no network of another segment"
				   : "the probe addresses are listed for no other segment",
		      NULL, arg);
}

void probe_check(const struct probe_check_segment *v, size_t n, probe_check_found *found, void *arg)
{
	for (size_t i = 0; i < n; i++)
		check_one(v, n, i, found, arg);
}
