/*
 * elastic: names of what clouds sell and of what becomes of it.
 * Tests: tests/contract/test_elastic.c
 */
#include "providers/elastic.h"

const char *const elastic_market_names[] = {"OnDemand", "Spot", "Reserved"};
const char *const elastic_state_names[] = {"Unknown", "Pending", "Running", "Ending", "Gone"};
