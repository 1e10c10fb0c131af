#ifndef CONTROLLER_TENANT_READ_RESULT_H
#define CONTROLLER_TENANT_READ_RESULT_H

#include <stdbool.h>
#include "base/err.h"

/*
 * read_result: whether a cache can read objects of its kind in a tenant's cluster.
 * Tests: tests/unit/controller/tenant/test_devices.c,
 * tests/unit/controller/tenant/test_pod_groups.c, tests/unit/controller/tenant/test_volumes.c
 */
struct read_result {
	/* denied: drover may not read the kind; absent: the API server does not serve it */
	bool denied, absent;
	/* text of the last error other than denied; "": none */
	char error[160];
};

/* Sets *r from the argument of a cache's on_health(); e NULL: the kind is read. Returns true if *r
 * has changed. */
bool read_result_set(struct read_result *r, const struct err *e);

#endif
