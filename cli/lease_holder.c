/* lease_holder: compares the last renewal of the controller's Lease with the present time. */
#include "cli/lease_holder.h"

#include <string.h>

#include "api/annotations.h"
#include "base/arena.h"
#include "base/loop/loop.h"
#include "base/str.h"

/* text: "TIME TEXT", or NULL. */
static void read_failure(struct lease_holder *out, const char *text)
{
	const char *space = text ? strchr(text, ' ') : NULL;
	int64_t since;

	if (!space)
		return;
	str_format(out->audit_file_since, sizeof(out->audit_file_since), "%.*s",
		   (int)(space - text), text);
	if (!str_to_time(out->audit_file_since, &since))
		out->audit_file_since[0] = '\0';
	str_copy(out->audit_file_fails, sizeof(out->audit_file_fails), space + 1);
	str_printable(out->audit_file_fails);
}

int lease_holder_read(struct cli_client *c, const char *ns, struct lease_holder *out, struct err *e)
{
	OWN(arena) a = arena_new();
	int64_t renewed, at, now = loop_wall(c->loop);
	OWN_JSON l = cli_path(
		c,
		arena_printf(a,
			     "/apis/coordination.k8s.io/v1/namespaces/%s/leases/" CONTROLLER_LEASE,
			     ns),
		e);
	const char *holder = json_str_at(l, "spec", "holderIdentity"),
		   *time = json_str_at(l, "spec", "renewTime");

	*out = (struct lease_holder){0};
	if (!l)
		return e->kind == ERR_NOT_FOUND ? 0 : -1;
	if (kube_client_date(c->host, &renewed, &at))
		now = renewed + loop_now(c->loop) - at;
	read_failure(out, json_str_at(l, "metadata", "annotations", AUDIT_FILE_FAILS));
	(void)audit_newest_parse(json_str_at(l, "metadata", "annotations", AUDIT_NEWEST),
				 &out->newest);
	out->state = LEASE_FREE;
	if (str_empty(holder) || !str_to_time(str_or(time, ""), &renewed))
		return 0;
	str_copy(out->name, sizeof(out->name), holder);
	out->age_ms = now < renewed ? 0 : now - renewed;
	out->state = now - renewed > json_int_at(l, "spec", "leaseDurationSeconds") * 1000
			     ? LEASE_EXPIRED
			     : LEASE_HELD;
	return 0;
}
