#ifndef CONTROLLER_RULES_PROBE_JUDGE_H
#define CONTROLLER_RULES_PROBE_JUDGE_H

#include "wipe/proto.h"

/*
 * probe_judge: selects the addresses that a machine probes in a segment, and judges the answers.
 *
 * Addresses of the segment itself must answer, and those of every other segment must not. If one of
 * these answers, that is a leak, whatever the other results. Without a leak, the segment is proved
 * only if every own address answered and every other address was probed and silent: a missing
 * result proves nothing. An address of another segment whose host is also one of the segment's own
 * (tenants may use the same address range) tells nothing, and is not probed.
 *
 * Pure. Tests: tests/unit/controller/rules/test_probe_judge.c
 */
struct probe_target {
	const char *address, *segment;
	bool own;
};
struct probe_targets {
	struct probe_target v[PROTO_PROBES_MAX];
	size_t n;
	/* true: there were more addresses than fit */
	bool more;
};

/* Adds the own addresses, or those of one other segment. The own ones must be added first. Nothing
 * is copied. */
void probe_targets_own(struct probe_targets *t, const struct strings *addresses,
		       const char *segment);
void probe_targets_others(struct probe_targets *t, const struct strings *addresses,
			  const char *segment);

struct probe_verdict {
	bool proved;
	/* address of another segment that answered; NULL: none */
	const char *leak;
	/* from a Node's label only: all own addresses answered, and no other did */
	bool reached;
	/* why the segment is not proved, or what leaks */
	char why[256];
};
/* Label drover.dev/probe of a Node that drover-join made (docs/image-contract.md): MAC.VERDICT. The
 * verdict is "proved", "silent" (an own address did not answer), "unknown", or "leak." and the
 * address that answered, with '_' for ':' and without brackets. The MAC proves that the writer has
 * the key, which only the config drive contains. The tenant's API server, which transmits the
 * label, does not have the key. */
#define PROBE_MAC 16 /* hex digits */
void probe_label_mac(const char *key, const char *verdict, char out[static PROBE_MAC + 1]);
/* Judges the label. value NULL: there is no label. */
void probe_judge_label(const struct probe_targets *t, const char *key, const char *value,
		       struct probe_verdict *v);

/* Judges the report r of an order with this nonce. */
void probe_judge(const struct probe_targets *t, const char *nonce, const struct proto_report *r,
		 struct probe_verdict *v);

#endif
