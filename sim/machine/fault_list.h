#ifndef SIM_MACHINE_FAULT_LIST_H
#define SIM_MACHINE_FAULT_LIST_H

#include "base/data/json.h"
#include "sim/machine/faults.h"

/*
 * fault_list: the faults of a running rack: those with which the rack was started, and those added
 * since. A row is one fault in the file format of faults.h. A row that has applied `count` times
 * has no effect and is not listed.
 * Tests: tests/unit/sim/machine/test_faults.c
 */
struct fault_list;
/* Creates a list with a copy of *begin; begin NULL: an empty list. */
struct fault_list *fault_list_new(const struct sim_faults *begin);
void fault_list_free(struct fault_list *l);

/* Adds the rows in a YAML or JSON text, as sim_faults_read() reads them. If any row is not valid,
 * no row is added. */
int fault_list_add(struct fault_list *l, const char *text, size_t len, struct err *e)
	__attribute__((warn_unused_result));
/* Removes the rows that name this machine; machine NULL: removes all rows, also those for "*". */
void fault_list_clear(struct fault_list *l, const char *machine);

/* True if the fault `what` applies to the machine now; then counts the fault down. The rules are
 * those of sim_machine_fault(). chance() returns a uniform number in 0..999999, for rows with a
 * probability. */
bool fault_list_strikes(struct fault_list *l, const char *machine, const char *when,
			const char *what, uint64_t (*chance)(void *arg), void *arg, int64_t *value);
/* Returns {faults: [{machine, what, when, value, left}]}, which the caller owns. left: number of
 * times that the row still applies; absent: no limit. */
json_t *fault_list_json(const struct fault_list *l);

#endif
