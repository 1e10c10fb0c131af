/*
 * check_policies: checks that the admission policies of deploy/rbac.yaml are installed and in
 * force. The roles alone cannot limit fields: without the policies, the roles may change more than
 * their descriptions say.
 * Tests: tests/unit/cli/test_check.c
 */
#include "base/arena.h"
#include "base/str.h"
#include "cli/check.h"

#define GROUP_PATH "/apis/admissionregistration.k8s.io/v1"
#define POLICIES "validatingadmissionpolicies"
#define BINDINGS "validatingadmissionpolicybindings"
#define APPLY "kubectl apply -f deploy/rbac.yaml, or helm upgrade"

/* The policies of deploy/rbac.yaml, and what is possible without each. Bindings have the same
 * names. */
static const struct policy {
	const char *name, *without;
} policies[] = {
	{"drover-oncall", "the role drover-oncall may change as much as drover-admin"},
	{"drover-approval",
	 "any user who may change NodeClaims can approve them, in the name of another"},
	{"drover-burst-approval",
	 "any user who may change BurstLedgers can approve work and reset costs, in the name of "
	 "another"},
	{"drover-waivers",
	 "drives and machines can go without a wipe, unrecorded or in the name of another"},
	{"drover-audit", "any user who may change AuditSegments can write the audit log"},
	{"drover-requested-by", "the audit log and Drains may name another user than the real one"},
	{"drover-claim-status",
	 "any user who may change the status of NodeClaims can record decisions and bind machines"},
};

/* True if the API server serves admission policies. False: a finding says why they cannot be
 * checked. */
static bool are_served(struct check *k)
{
	struct err e;
	OWN_JSON o = cli_path(k->c, GROUP_PATH, &e);
	json_t *v;
	size_t i;

	json_array_foreach (json_at(o, "resources"), i, v)
		if (str_eq(json_str_at(v, "name"), POLICIES))
			return true;
	if (!o && e.kind != ERR_NOT_FOUND)
		findings_add(k->f, FINDING_UNKNOWN, "admission policies", NULL, "%s", e.text);
	else
		findings_add(k->f, FINDING_WARNING, "admission policies",
			     "use Kubernetes 1.30 or later for the host cluster; until then give "
			     "drover-oncall only to users who may have drover-admin",
			     "the API server does not serve ValidatingAdmissionPolicies, so the "
			     "policies of deploy/rbac.yaml are not in force");
	return false;
}

static bool denies(const json_t *binding, const char *policy)
{
	json_t *v;
	size_t i;

	if (!str_eq(json_str_at(binding, "spec", "policyName"), policy))
		return false;
	json_array_foreach (json_at(binding, "spec", "validationActions"), i, v)
		if (str_eq(json_string_value(v), "Deny"))
			return true;
	return false;
}

/* Reads a policy or binding. Returns it, owned by the caller. NULL: it is missing, or *known is set
 * to false and a finding reports the error. */
static json_t *fetch(struct check *k, const char *resource, const char *name, bool *known)
{
	OWN(arena) a = arena_new();
	struct err e;
	json_t *o = cli_path(k->c, arena_printf(a, GROUP_PATH "/%s/%s", resource, name), &e);

	*known = o || e.kind == ERR_NOT_FOUND;
	if (!*known)
		findings_add(k->f, FINDING_UNKNOWN, "admission policies",
			     arena_printf(a, "give your user the permission `get` on %s", resource),
			     "%s", e.text);
	return o;
}

/* Returns false if the policy could not be read. */
static bool check_policy(struct check *k, const struct policy *p)
{
	OWN(arena) a = arena_new();
	const char *of = arena_printf(a, "policy %s", p->name);
	bool known;
	OWN_JSON policy = fetch(k, POLICIES, p->name, &known);
	OWN_JSON binding = policy ? fetch(k, BINDINGS, p->name, &known) : NULL;

	if (!known)
		return false;
	if (!policy)
		findings_add(k->f, FINDING_WRONG, of, APPLY, "not installed: %s", p->without);
	else if (!binding || !denies(binding, p->name))
		findings_add(k->f, FINDING_WRONG, of, APPLY,
			     "not in force, because its ValidatingAdmissionPolicyBinding %s: %s",
			     binding ? "does not deny" : "is missing", p->without);
	else if (!str_eq(json_str_at(policy, "spec", "failurePolicy"), "Fail"))
		findings_add(k->f, FINDING_WRONG, of, APPLY,
			     "its failurePolicy is not Fail, so an error in it admits everything: "
			     "%s",
			     p->without);
	else
		findings_add(k->f, FINDING_OK, of, NULL, "in force");
	return true;
}

void check_policies(struct check *k)
{
	if (!are_served(k))
		return;
	for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++)
		if (!check_policy(k, &policies[i]))
			return;
}
