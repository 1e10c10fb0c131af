#include "providers/ec2/events.h"

#include <string.h>
#include "base/data/json.h"
#include "base/str.h"
#include "providers/ec2/notices.h"

#define BODY_MAX 65536
/* Longest instance id, with a reserve: EC2's are i- and 17 digits. */
#define ID_MAX 32

static bool is_instance_id(const char *id)
{
	return id && str_starts(id, "i-") && strlen(id) <= ID_MAX &&
	       !id[2 + strspn(id + 2, "0123456789abcdefghijklmnopqrstuvwxyz-")];
}

bool ec2_event_read(const char *body, size_t len, int64_t now, struct arena *a,
		    struct ec2_event *out)
{
	struct err bad;
	OWN_JSON o = len <= BODY_MAX ? json_parse(body, len, &bad) : NULL;
	const char *id = json_str_at(o, "detail", "instance-id");
	const char *since = json_str_at(o, "time"), *type = json_str_at(o, "detail-type");
	const bool warns = str_eq(type, EC2_EVENT_WARNING);
	int64_t at;

	if (!str_eq(json_str_at(o, "source"), "aws.ec2") ||
	    (!warns && !str_eq(type, EC2_EVENT_RECOMMENDATION)) || !is_instance_id(id))
		return false;
	if (!since || !str_to_time(since, &at) || at > now)
		at = now;
	*out = (struct ec2_event){.id = arena_strdup(a, id),
				  .ends_at = warns ? at + EC2_NOTICE_MS : 0,
				  .at_risk_since = warns ? 0 : at};
	return true;
}
