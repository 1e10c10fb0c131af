#ifndef BASE_SCHEDULE_H
#define BASE_SCHEDULE_H

#include <stdint.h>

/*
 * schedule: times as cron writes them: five fields (minute, hour, day, month, day of the week), or @yearly, @monthly, @weekly, @daily,
 * @hourly; in UTC.  Where day and day of the week are both named, one of them is enough.
 * Tests: tests/unit/base/test_schedule.c, tests/unit/controller/rules/test_disruption_budget.c
 */

/* Does a time of it lie in (now - duration, now]?  Unix ms.  1 or 0; -1: it cannot be read. */
int schedule_window(const char *schedule, int64_t duration_ms, int64_t now);

#endif
