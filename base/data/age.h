#ifndef BASE_DATA_AGE_H
#define BASE_DATA_AGE_H

#include "base/data/json.h"

/*
 * age: formats the time since an event as kubectl does: "5m10s", "3h", "2d2h".
 */
/* Returns the age at wall_ms of an RFC 3339 time as a new JSON string. "<unknown>": time is not RFC
 * 3339; "<invalid>": time lies in the future. */
json_t *age_json(const char *time, int64_t wall_ms);

#endif
