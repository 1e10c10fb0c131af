#ifndef BASE_SCHEDULE_H
#define BASE_SCHEDULE_H

#include <stdint.h>
#include "base/err.h"

/*
 * schedule: reads the schedules of Kubernetes CronJobs, always in UTC: five fields (minute, hour,
 * day, month, weekday) or @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually.
 *
 * A schedule means what robfig/cron v3 reads in it. A range may not end before it begins. If both
 * day and weekday are restricted, either is enough. In addition, 7 means Sunday. Refused although
 * robfig/cron reads them: time zones, @every, signs, empty parts ("1,,2") and a range that begins
 * with * ("*-5").
 * Tests: tests/unit/base/test_schedule.c, tests/unit/controller/rules/test_disruption_budget.c
 */

/* Fails with ERR_INVALID and the reason if the schedule cannot be read or never occurs (30
 * February). */
int schedule_check(const char *schedule, struct err *e) __attribute__((warn_unused_result));

/* Returns 1 if a time of the schedule lies in (now - duration_ms, now], else 0; -1 if the schedule
 * cannot be read. now is Unix ms. */
int schedule_window(const char *schedule, int64_t duration_ms, int64_t now);

#endif
