#ifndef BASE_SCHEDULE_H
#define BASE_SCHEDULE_H

#include <stdint.h>
#include "base/err.h"
#include "base/zone.h"

/*
 * schedule: reads the schedules of Kubernetes CronJobs: five fields (minute, hour, day, month,
 * weekday) or @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually.
 *
 * A schedule has the same meaning as in robfig/cron v3, which Kubernetes uses. A range must not end
 * before it begins. If both day and weekday are restricted, a time needs to match only one of them.
 * In addition to robfig/cron, 7 means Sunday. Refused although robfig/cron accepts them: time
 * zones in the text, @every, signs, empty parts ("1,,2") and a range that begins with * ("*-5").
 *
 * In a time zone whose clock is changed, the schedule occurs at each minute whose local time
 * matches: not at all at a time that the clock skips, and twice at a time that it shows twice.
 * Tests: tests/unit/base/test_schedule.c, tests/unit/controller/rules/test_disruption_budget.c
 */

/* Returns 0 if the schedule is valid. ERR_INVALID with the reason: the schedule cannot be parsed,
 * or never occurs (30 February). */
int schedule_check(const char *schedule, struct err *e) __attribute__((warn_unused_result));

/* Returns 1 if the schedule has a time in (now - duration_ms, now] in the zone (NULL: UTC), else 0;
 * -1 if the schedule cannot be parsed. now is in Unix ms. */
int schedule_window(const char *schedule, const struct zone *zone, int64_t duration_ms,
		    int64_t now);

#endif
