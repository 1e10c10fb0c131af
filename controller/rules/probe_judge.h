#ifndef CONTROLLER_RULES_PROBE_JUDGE_H
#define CONTROLLER_RULES_PROBE_JUDGE_H

#include "wipe/proto.h"

/*
 * probe_judge: selects the addresses that a machine probes in a segment, and judges the answers.
 *
 * Addresses of the segment itself (own addresses) must answer. Addresses of every other segment
 * must not answer: if one does, that is a leak, whatever the other results. Without a leak, the
 * segment is proved only if every own address answered and every other address was probed and was
 * silent; a missing result proves nothing. An address of another segment is not probed if its host
 * is also the host of an own address (tenants may use the same address range), because an answer
 * would prove nothing.
 *
 * Pure functions. Tests: tests/unit/controller/rules/test_probe_judge.c
 */
struct probe_target {
	const char *address, *segment;
	bool own;
};
struct probe_targets {
	struct probe_target v[PROTO_PROBES_MAX];
	size_t n;
	/* true: there were more than PROTO_PROBES_MAX addresses, and some were left out */
	bool more;
};

/* probe_targets_own() adds the addresses of the probed segment itself; call it first.
 * probe_targets_others() adds the addresses of one other segment. Strings are borrowed, not
 * copied. */
void probe_targets_own(struct probe_targets *t, const struct strings *addresses,
		       const char *segment);
void probe_targets_others(struct probe_targets *t, const struct strings *addresses,
			  const char *segment);

struct probe_verdict {
	bool proved;
	/* address of another segment that answered although it must not; NULL: none */
	const char *leak;
	/* only set by probe_judge_label(): true if the image reports that all own addresses
	 * answered and no other did */
	bool reached;
	/* why the segment is not proved, or which address leaks; for human readers */
	char why[256];
};
/* Computes the MAC in label drover.dev/probe of a Node, which drover-join on the image sets
 * (docs/image-contract.md). The label is MAC.VERDICT. VERDICT is "proved", "silent" (an own address
 * did not answer), "unknown", or "leak." and the address that answered, with '_' for ':' and
 * without brackets.
 *
 * The MAC proves that the writer has the key, which only the machine's config drive contains. The
 * tenant's API server, through which the label arrives, does not have the key. */
#define PROBE_MAC 16 /* number of hex digits of the MAC */
void probe_label_mac(const char *key, const char *verdict, char out[static PROBE_MAC + 1]);
/* Decides what the value of a Node's label drover.dev/probe (MAC.VERDICT, see probe_label_mac())
 * proves about the machine's segment; sets all members of *v. key: key of the MAC. value NULL: the
 * Node has no such label. Without a label, or with a wrong MAC, nothing is proved. */
void probe_judge_label(const struct probe_targets *t, const char *key, const char *value,
		       struct probe_verdict *v);

/* Judges the report r of a probe order with this nonce; sets all members of *v. */
void probe_judge(const struct probe_targets *t, const char *nonce, const struct proto_report *r,
		 struct probe_verdict *v);

#endif
