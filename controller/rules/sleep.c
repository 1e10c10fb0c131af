/*
 * sleep: interprets the workload of a tenant's control plane, including the annotations that
 * vCluster sets when it pauses or restores a tenant. tenant/sleep.c reads the workload from the
 * host cluster.
 */
#include "controller/rules/sleep.h"
#include "api/annotations.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/data/json.h"
#include "base/str.h"

#define PAUSED "loft.sh/paused"
#define RESTORING "loft.sh/restoring"

static int64_t number(const json_t *v, int64_t absent)
{
	return json_is_integer(v) ? json_integer_value(v) : absent;
}

__attribute__((format(printf, 4, 5))) static void say(struct tenant_sleep_view *v,
						      enum tenant_sleep_is is, const char *reason,
						      const char *fmt, ...)
{
	va_list ap;

	*v = (struct tenant_sleep_view){.is = is, .reason = reason};
	va_start(ap, fmt);
	(void)vsnprintf(v->message, sizeof(v->message), fmt, ap);
	va_end(ap);
	str_clean(v->message);
}

void tenant_sleep_read(const json_t *o, const char *what, struct tenant_sleep_view *out)
{
	const char *uid = json_str_at(o, "metadata", "uid");
	int64_t generation = number(json_at(o, "metadata", "generation"), 0);
	int64_t seen = number(json_at(o, "status", "observedGeneration"), 0);
	int64_t pods = number(json_at(o, "status", "replicas"), 0);

	if (json_at(o, "metadata", "deletionTimestamp"))
		say(out, TENANT_SLEEP_UNKNOWN, "ControlPlaneDeleted", "%s is being deleted", what);
	else if (number(json_at(o, "spec", "replicas"), 1) != 0)
		say(out, TENANT_SLEEP_NO, "Awake", "%s is not scaled to 0", what);
	else if (str_eq(json_str_at(o, "metadata", "annotations", RESTORING), "true"))
		say(out, TENANT_SLEEP_NO, "Restoring", "%s is being restored", what);
	else if (str_empty(uid) || strlen(uid) > 64 || generation < 1)
		say(out, TENANT_SLEEP_UNKNOWN, "ControlPlaneUnreadable",
		    "%s has no UID of 1 to 64 bytes, or no generation", what);
	else if (seen < generation || pods != 0)
		say(out, TENANT_SLEEP_NO, "GoingToSleep",
		    "%s is scaled to 0, but its pods still exist", what);
	else if (str_eq(json_str_at(o, "metadata", "annotations", PAUSED), "true"))
		say(out, TENANT_SLEEP_YES, "Paused", "%s is paused", what);
	else
		say(out, TENANT_SLEEP_YES, "ScaledToZero", "%s is scaled to 0", what);
	if (out->is == TENANT_SLEEP_YES)
		str_format(out->object, sizeof(out->object), "%s/%lld", uid, (long long)generation);
}

int64_t tenant_sleep_until(const struct virtual_cluster *vc)
{
	return vc->status.asleep_since && vc->spec.sleep_grace >= 0
		       ? vc->status.asleep_since + vc->spec.sleep_grace
		       : 0;
}

int64_t tenant_sleep_debt_since(const struct virtual_cluster *vc, int64_t since)
{
	const struct condition *c = condition_get(&vc->status.conditions, TENANT_SLEEP_CONDITION);

	if (!c || vc->meta.deletion_timestamp)
		return since;
	if (c->status == CONDITION_TRUE)
		return INT64_MAX;
	return c->last_transition_time > since ? c->last_transition_time : since;
}

bool tenant_sleep_refused(const struct err *e, const char *what, struct tenant_sleep_view *out)
{
	if (e->kind == ERR_DENIED)
		say(out, TENANT_SLEEP_UNKNOWN, "NotPermitted",
		    "drover may not get %.140s: apply deploy/tenant-kubeconfig.yaml", what);
	else if (e->kind == ERR_NOT_FOUND)
		say(out, TENANT_SLEEP_UNKNOWN, "ControlPlaneNotFound", "%s does not exist", what);
	else
		return false;
	return true;
}
