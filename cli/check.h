#ifndef CLI_CHECK_H
#define CLI_CHECK_H

#include "cli/client.h"
#include "cli/findings.h"

/*
 * check: the parts of `drover check`: each asks the host cluster for one thing that an installation
 * needs, and puts what it found behind the findings. They read, and change nothing.
 * Tests: tests/unit/cli/test_check.c
 */
struct check {
	struct cli_client *c;
	/* drover's own */
	const char *ns;
	struct findings *f;
	/* drover's rights cannot be asked for, and that was said */
	bool mute;
};

struct check_right {
	/* NULL: none */
	const char *group, *resource, *sub, *verb, *ns, *name;
};
/* Adds a finding if drover's ServiceAccount lacks the right r.  mend: remedy in that finding. */
void check_right(struct check *k, const struct check_right *r, const char *mend);

/* The caller's rights to drover's objects, and those that deploy/rbac.yaml gives drover's
 * ServiceAccount. */
void check_rights(struct check *k);
/* drover's own keys; Providers, VirtualClusters, NodePools and Machines: what each needs of a
 * person, and whether what they name exists, Secrets by their metadata alone. */
void check_objects(struct check *k);

#endif
