#ifndef CONTROLLER_RULES_PROBE_JUDGE_H
#define CONTROLLER_RULES_PROBE_JUDGE_H

#include "wipe/proto.h"

/*
 * probe_judge: what a machine is asked to ask from where it is, and what the answers prove.
 *
 * A segment's own addresses have to answer, and those of every other segment must not. One of these
 * that answers is a leak, whatever else was heard. Without a leak it is proved only if every own
 * address answered and every other one was asked and silent: an answer that is missing proves
 * nothing. An address whose host is one of the segment's own too (tenants may number their networks
 * alike) tells nothing, and is not asked.
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
	/* than fit */
	bool more;
};

/* First the own ones.  Nothing is copied. */
void probe_targets_own(struct probe_targets *t, const struct strings *addresses,
		       const char *segment);
void probe_targets_others(struct probe_targets *t, const struct strings *addresses,
			  const char *segment);

struct probe_verdict {
	bool proved;
	/* the address; NULL: none */
	const char *leak;
	/* of a Node's word: all own addresses answered, and no other did */
	bool reached;
	/* it is not proved, or what leaks */
	char why[256];
};
/* What a Node that drover-join made says in its label drover.dev/probe (docs/image-contract.md):
 * MAC.VERDICT. The verdict is "proved", "silent" (an own address did not answer), "unknown", or
 * "leak." and the address that answered, ':' as '_' and without brackets. The MAC is of who has the
 * key, which stands on the config drive alone: the tenant's API server, through which the label
 * comes, has not. */
#define PROBE_MAC 16 /* hex digits */
void probe_label_mac(const char *key, const char *verdict, char out[static PROBE_MAC + 1]);
/* value NULL: there is no label. */
void probe_judge_label(const struct probe_targets *t, const char *key, const char *value,
		       struct probe_verdict *v);

/* r: the report of an order with this nonce. */
void probe_judge(const struct probe_targets *t, const char *nonce, const struct proto_report *r,
		 struct probe_verdict *v);

#endif
