#include "base/data/age.h"

#include "base/str.h"

/* Formats s seconds like HumanDuration() of k8s.io/apimachinery/pkg/util/duration. */
static json_t *human(int64_t s)
{
	int64_t m = s / 60, h = s / 3600, d = h / 24, y = d / 365;

	if (s < 0)
		return json_string(s < -1 ? "<invalid>" : "0s");
	if (s < 120)
		return json_sprintf("%llds", (long long)s);
	if (m < 10)
		return s % 60 ? json_sprintf("%lldm%llds", (long long)m, (long long)(s % 60))
			      : json_sprintf("%lldm", (long long)m);
	if (m < 180)
		return json_sprintf("%lldm", (long long)m);
	if (h < 8)
		return m % 60 ? json_sprintf("%lldh%lldm", (long long)h, (long long)(m % 60))
			      : json_sprintf("%lldh", (long long)h);
	if (h < 48)
		return json_sprintf("%lldh", (long long)h);
	if (d < 8)
		return h % 24 ? json_sprintf("%lldd%lldh", (long long)d, (long long)(h % 24))
			      : json_sprintf("%lldd", (long long)d);
	if (y < 2)
		return json_sprintf("%lldd", (long long)d);
	if (y < 8)
		return d % 365 ? json_sprintf("%lldy%lldd", (long long)y, (long long)(d % 365))
			       : json_sprintf("%lldy", (long long)y);
	return json_sprintf("%lldy", (long long)y);
}

json_t *age_json(const char *time, int64_t wall_ms)
{
	int64_t ms;

	if (!time || !str_to_time(time, &ms))
		return json_string("<unknown>");
	return human(ms > wall_ms ? -((ms - wall_ms) / 1000) : (wall_ms - ms) / 1000);
}

const char *age_span(const char *time, int64_t wall_ms, struct arena *a)
{
	char d[STR_TIME_SIZE];
	int64_t t;

	if (!time || !str_to_time(time, &t))
		return "";
	str_duration(d, (t < wall_ms ? wall_ms - t : t - wall_ms) / 1000 * 1000);
	return t <= wall_ms ? arena_printf(a, "%s ago", d) : arena_printf(a, "in %s", d);
}
