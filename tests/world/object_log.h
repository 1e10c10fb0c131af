#ifndef TESTS_WORLD_OBJECT_LOG_H
#define TESTS_WORLD_OBJECT_LOG_H

#include "base/store/store.h"

/*
 * object_log: writes the objects of drover as they are stored in a simulated world, for judges that
 * others wrote (tests/real/judges.py).
 *
 * With the environment variable DROVER_OBJECT_LOG set to a directory, each process writes
 * DIR/PID.jsonl, one object a line: the first object of each shape. The shape of an object is its
 * kind, state or phase, policy, deletion, whether status is of the newest generation, and status
 * and reason of each condition.
 */
/* Writes the objects of new shapes that changed after revision `since` of the store. Does nothing
 * without DROVER_OBJECT_LOG. */
void object_log_look(struct store *s, uint64_t since);

#endif
