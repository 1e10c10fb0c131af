#include "providers/ec2/notices.h"

#include "base/str.h"
#include "providers/ec2/client.h"

static const char *const codes[] = {
	"marked-for-termination",
	"marked-for-stop",
	"instance-terminated-by-price",
	"instance-terminated-no-capacity",
	"instance-terminated-capacity-oversubscribed",
	"instance-stopped-by-price",
	"instance-stopped-no-capacity",
};

void ec2_notices_form(struct buf *b, const char *page, const char *next)
{
	query_begin(b, "DescribeSpotInstanceRequests", EC2_VERSION);
	query_add(b, "status-code", "Filter.1.Name");
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		query_add(b, codes[i], "Filter.1.Value.%zu", i + 1);
	query_add(b, page, "MaxResults");
	query_add(b, next, "NextToken");
}

bool ec2_notice_read(struct ec2_reply_node item, int64_t now, struct arena *a,
		     struct ec2_notice *out)
{
	const char *code = ec2_reply_text(item, "status/code", a);
	const char *since = ec2_reply_text(item, "status/updateTime", a);
	int64_t at;

	out->id = ec2_reply_text(item, "instanceId", a);
	if (!out->id || !code)
		return false;
	if (!since || !str_to_time(since, &at) || at > now)
		at = now;
	out->ends_at = at + EC2_NOTICE_MS;
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		if (str_eq(codes[i], code))
			return true;
	return false;
}
