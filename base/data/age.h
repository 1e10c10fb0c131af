#ifndef BASE_DATA_AGE_H
#define BASE_DATA_AGE_H

#include "base/arena.h"
#include "base/data/json.h"

/*
 * age: formats the time since an event as kubectl does: "5m10s", "3h", "2d2h".
 */
/* Returns the age of time (RFC 3339) at wall_ms as a new JSON string. "<unknown>": time is not RFC
 * 3339; "<invalid>": time is later than wall_ms. */
json_t *age_json(const char *time, int64_t wall_ms);
/* Returns the distance of an RFC 3339 time from wall_ms, such as "2m3s ago" or "in 5s", in the
 * arena; "": time is NULL or not RFC 3339. */
const char *age_span(const char *time, int64_t wall_ms, struct arena *a);

#endif
