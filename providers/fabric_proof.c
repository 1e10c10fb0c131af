/* fabric_proof: names of enum fabric_proof.
 * Tests: tests/contract/test_fabric.c */
#include "providers/fabric.h"

const char *const fabric_proof_names[] = {"None", "Weak", "Strong"};
