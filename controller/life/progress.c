/*
 * progress: copies the agent's last progress report to status.operation.progress, for humans, at
 * most every five seconds within a phase of the order. Drover decides nothing by this progress. The
 * write of the next act or change of state clears it.
 */
#include <string.h>
#include "controller/life/progress.h"
#include "base/data/json.h"
#include "base/log.h"
#include "base/str.h"
#include "controller/agent/endpoint.h"
#include "controller/life/journal.h"
#include "controller/life/life.h"
#include "wipe/proto.h"

#define EVERY_MS 5000
/* Minimum interval between two writes when the phase has changed. It limits the writes for an agent
 * that changes its phase constantly. */
#define PHASE_MS 1000
#define STILL_MS 60000 /* time without progress after which no expected end is shown */
#define FAR_S (10 * 365 * 24 * 3600) /* longest time left for which an end is shown */

static int64_t expected_end(const struct life *l, const struct proto_report *r)
{
	int64_t left_s;

	if (r->bytes_per_s <= 0 || r->total_bytes <= r->done_bytes)
		return 0;
	left_s = (r->total_bytes - r->done_bytes) / r->bytes_per_s;
	return left_s < FAR_S ? loop_wall(l->c->loop) + left_s * 1000 : 0;
}

/* Returns for each drive how far its erasure was at the last report. If the wipe attempt never
 * ends, its WipeRecord states this. */
static json_t *reached(const struct proto_report *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->devices.n; i++) {
		const struct evidence_device *d = &r->devices.v[i];
		char wwn[257], technique[65];

		(void)str_copy(wwn, sizeof(wwn), str_or(d->wwn, ""));
		(void)str_copy(technique, sizeof(technique), str_or(d->technique, "Unknown"));
		str_clean(wwn);
		str_clean(technique);
		json_array_append_new(list, json_pack("{s:s, s:s, s:I}", "wwn", wwn, "technique",
						      technique, "erasedBytes",
						      (json_int_t)d->erased_bytes));
	}
	return list;
}

void life_progress(struct life *l, const char *order)
{
	const struct proto_report *r = agent_session_progress(l->agent, order);
	const struct machine_progress *was = l->m->status.operation->progress;
	int64_t now = loop_now(l->c->loop), end;
	char phase[65], time[STR_TIME_SIZE];
	bool still;
	json_t *p;

	/* Do not write while another write is pending, or before this leader has taken over the
	 * journal. */
	if (!r || writer_busy(&l->journal.write) || !l->journal.took_over)
		return;
	(void)str_copy(phase, sizeof(phase), str_or(r->phase, "busy"));
	str_clean(phase);
	if (was && l->progress_at &&
	    now - l->progress_at < (str_eq(was->phase, phase) ? EVERY_MS : PHASE_MS))
		return;
	still = was && str_eq(was->phase, phase) && was->done_bytes == r->done_bytes &&
		was->total_bytes == r->total_bytes;
	if (still && !l->progress_at)
		/* An earlier leader wrote the same progress. Count the time without progress from
		 * now. */
		l->progress_at = now;
	if (still && (!was->expected_end || now - l->progress_at < STILL_MS))
		return;
	end = still ? 0 : expected_end(l, r);
	p = json_pack("{s:s, s:I, s:I, s:I, s:o}", "phase", phase, "doneBytes",
		      (json_int_t)r->done_bytes, "totalBytes", (json_int_t)r->total_bytes,
		      "bytesPerSecond", (json_int_t)r->bytes_per_s, "expectedEnd",
		      end ? json_string(str_time(time, end)) : json_null());
	l->progress_at = now;
	p = json_pack("{s:{s:o}}", "operation", "progress", p);
	if (l->m->status.wipe_attempt && r->devices.n)
		json_object_set_new(p, "wipeAttempt", json_pack("{s:o}", "devices", reached(r)));
	life_write(l, p, NULL);
}
