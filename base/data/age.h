#ifndef BASE_DATA_AGE_H
#define BASE_DATA_AGE_H

#include "base/data/json.h"

/*
 * age: formats the time since an event as kubectl does: "5m10s", "3h", "2d2h".
 */
/* Returns the age of time (RFC 3339) at wall_ms as a new JSON string. "<unknown>": time is not RFC
 * 3339; "<invalid>": time is later than wall_ms. */
json_t *age_json(const char *time, int64_t wall_ms);

#endif
