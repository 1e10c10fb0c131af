/*
 * elastic: names of markets and instance states.
 * Tests: tests/contract/test_elastic.c
 */
#include "providers/elastic.h"

const char *const elastic_state_names[] = {"Unknown", "Pending", "Running", "Ending", "Gone"};
