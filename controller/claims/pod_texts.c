#include "controller/claims/pod_texts.h"

#include "base/str.h"

#define REASONS_TOLD 5

const char *pod_texts_reason(const struct plan_pod *p)
{
	return p->nreasons ? plan_reason_names[p->reasons[0].code] : "NotServed";
}

/* Returns a text such as "; also NoCapacity in 2 other pools", in the arena. It counts the reasons
 * after the first REASONS_TOLD ones, by reason. */
static const char *others(const struct plan_pod *p, struct arena *a)
{
	size_t n[PLAN_REASONS] = {0};
	const char *text = "";

	for (size_t k = REASONS_TOLD; k < p->nreasons; k++)
		n[p->reasons[k].code]++;
	for (size_t c = 0; c < PLAN_REASONS; c++)
		if (n[c])
			text = arena_printf(a, "%s%s%s in %zu other pool%s", text,
					    *text ? ", " : "; also ", plan_reason_names[c], n[c],
					    n[c] == 1 ? "" : "s");
	return text;
}

const char *pod_texts_why(const struct plan_pod *p, struct arena *a)
{
	const char *text = "";

	for (size_t k = 0; k < p->nreasons && k < REASONS_TOLD; k++) {
		const struct plan_reason *why = &p->reasons[k];
		const bool known = why->code == p->reasons[0].code;

		text = arena_printf(a, "%s%s%s%s%s", text, k ? "; " : "",
				    known ? "" : plan_reason_names[why->code], known ? "" : ": ",
				    why->text);
	}
	return p->nreasons ? arena_printf(a, "%s%s", text, others(p, a))
			   : arena_printf(
				     a,
				     "the reason is not known; ask the operator to run `drover why "
				     "%s/%s/%s`",
				     p->tenant, p->ns, p->name);
}

/* True if the text of this reason contains numbers that change with any tenant's pods. The news
 * then contain only the pool, so that a changed number alone causes no event. */
static bool is_count(enum plan_reason_code code)
{
	return code == PLAN_NO_MACHINE || code == PLAN_HELD || code == PLAN_ERASE_BELOW_POLICY ||
	       code == PLAN_QUOTA || code == PLAN_POOL_LIMIT;
}

const char *pod_texts_news(const struct plan_pod *p, struct arena *a)
{
	const char *news = "";

	for (size_t k = 0; k < p->nreasons && k < REASONS_TOLD; k++) {
		const struct plan_reason *why = &p->reasons[k];

		news = arena_printf(a, "%s%s%s %s", news, k ? "; " : "",
				    plan_reason_names[why->code],
				    is_count(why->code) ? why->pool : why->text);
	}
	return news;
}

const char *pod_texts_coming(const char *machine, const char *pool, const char *claim,
			     struct arena *a)
{
	return arena_printf(a, "machine %s of pool %s is being prepared (claim %s)", machine, pool,
			    claim);
}

const char *pod_texts_delay(enum machine_state s)
{
	static const char *const lacks[MACHINE_STATES] = {
		[MACHINE_CLAIMED] = "its hardware is not checked yet",
		[MACHINE_IMAGING] = "its image is not written yet",
		[MACHINE_ATTACHING] = "its network port is not ready",
		[MACHINE_BOOTING] = "its operating system has not started yet",
		[MACHINE_JOINING] = "its Node has not joined the cluster yet",
		[MACHINE_GATING] = "its Node is not Ready yet, or lacks devices",
	};

	return s >= 0 && s < MACHINE_STATES ? lacks[s] : NULL;
}
