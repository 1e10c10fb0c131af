#include "controller/explain/waits.h"

#include <stddef.h>
#include "base/str.h"

const struct wait_info wait_info[WAITS] = {
	[WAIT_HARDWARE] = {"hardware or another system", "device", false},
	[WAIT_RATE] = {"drover's own rate limit", "drover", false},
	[WAIT_BUDGET] = {"a PodDisruptionBudget", "drover", false},
	[WAIT_OPERATOR] = {"an operator", "operator", true},
	[WAIT_APPROVAL] = {"approval", "operator", true},
	[WAIT_SECRET] = {"a corrected Secret", "operator", true},
	[WAIT_BMC_ADDRESS] = {"a corrected BMC address", "operator", true},
	[WAIT_PODS] = {"its pods to leave", "tenant", false},
	[WAIT_PODS_NO_DEADLINE] = {"the pods of its machines to leave; the Drain has no deadline",
				   "tenant", false},
	[WAIT_CHECKPOINT] = {"its work to be saved (checkpoint)", "tenant", false},
	[WAIT_TENANT] = {"the tenant's API server", "tenant", false},
	[WAIT_NEXT_TRY] = {"its next try", "drover", false},
};

const struct wait_info *wait_find(const char *text)
{
	for (size_t i = 0; text && i < WAITS; i++)
		if (str_eq(wait_info[i].text, text))
			return &wait_info[i];
	return NULL;
}
