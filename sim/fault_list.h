#ifndef SIM_FAULT_LIST_H
#define SIM_FAULT_LIST_H

#include "base/data/json.h"
#include "sim/faults.h"

/*
 * fault_list: the faults of a rack that is running: those that it began with, and those that were
 * added since. A row that has struck as often as it should strikes no more and is not listed.
 * Tests: tests/unit/sim/test_faults.c
 */
struct fault_list;
/* copied; NULL: none */
struct fault_list *fault_list_new(const struct sim_faults *begin);
void fault_list_free(struct fault_list *l);

/* Rows in YAML or JSON, as sim_faults_read() takes them; all or none. */
int fault_list_add(struct fault_list *l, const char *text, size_t len, struct err *e)
	__attribute__((warn_unused_result));
/* Those that name this machine; NULL: all, also those for "*". */
void fault_list_clear(struct fault_list *l, const char *machine);

/* As sim_rack_fault() of that machine. chance: uniform in 0..999999, for rows with a
 * probability. */
bool fault_list_strikes(struct fault_list *l, const char *machine, const char *when,
			const char *what, uint64_t (*chance)(void *arg), void *arg, int64_t *value);
/* {faults: [{machine, what, when, value, left}]}; left: how often it will strike yet, absent: for
 * ever. Gives. */
json_t *fault_list_json(const struct fault_list *l);

#endif
