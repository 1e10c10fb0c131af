#ifndef BASE_DATA_AGE_H
#define BASE_DATA_AGE_H

#include "base/data/json.h"

/*
 * age: how long ago something was, as kubectl writes it: "5m10s", "3h", "2d2h".
 */
/* A string; gives. time: RFC 3339; <unknown> when it is none, <invalid> when it is still to
 * come. */
json_t *age_json(const char *time, int64_t wall_ms);

#endif
