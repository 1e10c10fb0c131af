#include "cli/wipe_report.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"

struct report {
	struct arena *a;
	bool html;
	struct buf *out;
};

/* --- text and HTML ---------------------------------------------------------------------------- */

/* Returns a copy of an untrusted text that is safe in the output; wipe_report.h describes what is
 * replaced. */
static const char *safe(const struct report *r, const char *text)
{
	char *copy = arena_strdup(r->a, text);
	struct buf b;

	str_printable(copy);
	/* mutant: report-escape */
	if (!r->html)
		return copy;
	buf_init(&b, 16 << 20);
	buf_puts(&b, "");
	for (const char *c = copy; *c; c++)
		switch (*c) {
		case '&':
			buf_puts(&b, "&amp;");
			break;
		case '<':
			buf_puts(&b, "&lt;");
			break;
		case '>':
			buf_puts(&b, "&gt;");
			break;
		case '"':
			buf_puts(&b, "&quot;");
			break;
		case '\'':
			buf_puts(&b, "&#39;");
			break;
		default:
			buf_put(&b, c, 1);
		}
	copy = arena_strdup(r->a, b.over ? "(too long)" : b.data);
	buf_done(&b);
	return copy;
}

static void begin(const struct report *r, const char *title)
{
	if (!r->html) {
		buf_printf(r->out, "%s\n", title);
		return;
	}
	buf_printf(r->out,
		   "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		   "style-src 'unsafe-inline'\">\n<title>%s</title>\n<style>\n"
		   "body{font:16px/1.4 sans-serif;margin:2em auto;max-width:60em;padding:0 1em}\n"
		   "table{border-collapse:collapse;width:100%%}\n"
		   "th,td{border-bottom:1px solid #ccc;padding:.2em .6em;text-align:left;"
		   "vertical-align:top;overflow-wrap:anywhere}\nth{width:30%%}\n"
		   "h2{border-top:2px solid #000;padding-top:.6em}\n"
		   "@media print{h2{break-before:page}}\n"
		   "</style>\n</head>\n<body>\n<h1>%s</h1>\n",
		   title, title);
}

static void end(const struct report *r)
{
	if (r->html)
		buf_puts(r->out, "</body>\n</html>\n");
}

/* Begins a table of pairs below a heading. level: 2 for a record, 3 for a part of one. */
static void table(const struct report *r, int level, const char *heading)
{
	if (r->html)
		buf_printf(r->out, "<h%d>%s</h%d>\n<table>\n", level, safe(r, heading), level);
	else
		buf_printf(r->out, "\n%s%s\n", level == 2 ? "" : "  ", safe(r, heading));
}

static void table_end(const struct report *r)
{
	if (r->html)
		buf_puts(r->out, "</table>\n");
}

/* Writes a row with key and value. Writes nothing if value is NULL or "". */
static void pair(const struct report *r, const char *key, const char *value)
{
	if (str_empty(value))
		return;
	buf_printf(r->out,
		   r->html ? "<tr><th scope=\"row\">%s</th><td>%s</td></tr>\n" : "    %-14s %s\n",
		   key, safe(r, value));
}

static void note(const struct report *r, const char *text)
{
	buf_printf(r->out, r->html ? "<p>%s</p>\n" : "\n%s\n", safe(r, text));
}

/* --- records ---------------------------------------------------------------------------------- */

static const char *list_of(const struct report *r, const struct strings *s)
{
	const char *all = "";

	for (size_t i = 0; i < s->n; i++)
		all = arena_printf(r->a, "%s%s%s", all, i ? ", " : "", s->v[i]);
	return all;
}

/* Returns "NAME (ID)", or only the one of the two that is set; NULL: neither is set. */
static const char *named(const struct report *r, const char *name, const char *id)
{
	if (str_empty(name) || str_empty(id))
		return str_empty(name) ? id : name;
	return arena_printf(r->a, "%s (%s)", name, id);
}

static const char *size_of(const struct report *r, int64_t bytes)
{
	return arena_printf(r->a, "%lld bytes (%.1f GB)", (long long)bytes, (double)bytes / 1e9);
}

static const char *level_text(const struct report *r, int level)
{
	if (level == WIPE_FAIL)
		return "Fail: not wiped to any level";
	return arena_printf(r->a, "%s (NIST SP 800-88)", wipe_level_names[level]);
}

/* Returns the result codes of the erase commands: "0 (success)", "0, 5 (not a success)". */
static const char *codes_of(const struct report *r, const struct ints *codes)
{
	const char *all = "";

	for (size_t i = 0; i < codes->n; i++)
		all = arena_printf(r->a, "%s%s%lld", all, i ? ", " : "", (long long)codes->v[i]);
	if (codes->n)
		all = arena_printf(r->a, "%s (%s)", all,
				   codes->v[codes->n - 1] ? "the last command failed" : "success");
	return all;
}

static void drive(const struct report *r, size_t number, const struct evidence_device *d)
{
	table(r, 3,
	      arena_printf(r->a, "Drive %zu: %s", number,
			   str_or(str_or(d->model, d->type), "unknown model")));
	pair(r, "Type",
	     arena_printf(r->a, "%s, %s", str_or(d->type, "unknown"),
			  d->rotational ? "spinning disk" : "solid state"));
	pair(r, "Serial number", d->serial);
	pair(r, "Identity", d->wwn);
	pair(r, "Size", size_of(r, d->bytes));
	pair(r, "Technique", d->technique);
	pair(r, "Result code", codes_of(r, &d->raw_status));
	pair(r, "Level", level_text(r, d->level));
	pair(r, "Verification",
	     arena_printf(
		     r->a,
		     "%lld test marks (canaries) were written before the wipe, %lld found after "
		     "it; of %lld blocks read back %lld were clean, %lld not clean, %lld "
		     "unreadable",
		     (long long)d->canaries.planted, (long long)d->canaries.found,
		     (long long)(d->reads.clean + d->reads.dirty + d->reads.unreadable),
		     (long long)d->reads.clean, (long long)d->reads.dirty,
		     (long long)d->reads.unreadable));
	pair(r, "Reason", d->reason);
	pair(r, "Message", d->message);
	table_end(r);
}

static void statement(const struct report *r, const struct statement *s)
{
	pair(r, statement_part_names[s->part],
	     arena_printf(r->a, "%s: %lld of %lld bytes%s%s", statement_outcome_names[s->outcome],
			  (long long)s->covered_bytes, (long long)s->total_bytes,
			  s->message ? "; " : "", str_or(s->message, "")));
}

static const char *result_text(const struct report *r, const struct audit_record *v)
{
	switch (v->result) {
	case AUDIT_BAD:
		return "DO NOT TRUST this record: it differs from what was signed, or contains no "
		       "proof of a wipe";
	case AUDIT_UNFINISHED:
		return "NOT WIPED: the attempt did not finish";
	case AUDIT_FAILED:
		return "NOT WIPED: the wipe failed";
	case AUDIT_PROVED:
		break;
	}
	return arena_printf(r->a, "WIPED: every drive to level %s or higher, and verified",
			    wipe_level_names[v->evidence->verdict]);
}

static const char *chain_text(const struct report *r, const struct audit_record *v)
{
	const char *before = str_or(v->evidence->previous.name, "");

	if (str_eq(v->chain, "first"))
		return "the first record of this machine";
	if (str_eq(v->chain, "linked"))
		return arena_printf(
			r->a, "linked to the previous record, %s, which was checked too", before);
	if (str_eq(v->chain, "gap"))
		return arena_printf(r->a,
				    "INCOMPLETE: the previous record, %s, is missing, although "
				    "earlier records were given; add it, or find out who "
				    "removed it",
				    before);
	return arena_printf(
		r->a, "names the previous record, %s, which was not given to this command", before);
}

static void record(const struct report *r, const struct audit_record *v)
{
	const struct evidence *ev = v->evidence;
	char time[STR_TIME_SIZE];

	table(r, 2, arena_printf(r->a, "Record %s", str_or(v->record, v->source)));
	pair(r, "Result", result_text(r, v));
	if (v->result == AUDIT_BAD) {
		/* Print no contents of the record, because a reader would take them for proved. */
		pair(r, "Cause", v->error);
		pair(r, "Source", v->source);
		table_end(r);
		return;
	}
	pair(r, "Cause", ev->unfinished);
	pair(r, "Level", level_text(r, ev->verdict));
	pair(r, "Machine", ev->machine.name);
	pair(r, "Serial number", ev->machine.serial);
	pair(r, "System UUID", ev->machine.system_uuid);
	pair(r, "Tenant before",
	     str_or(named(r, ev->virtual_cluster.name, ev->virtual_cluster.uid), "none"));
	pair(r, "Tenancy",
	     arena_printf(r->a, "%lld (counts the uses of this machine), attempt %lld to wipe it",
			  (long long)ev->tenancy, (long long)ev->attempt));
	if (ev->start_time)
		pair(r, "Began", str_time(time, ev->start_time));
	if (ev->end_time)
		pair(r, "Ended", str_time(time, ev->end_time));
	pair(r, "Drives",
	     arena_printf(r->a, "%lld expected, %lld found", (long long)ev->inventory.expected,
			  (long long)ev->inventory.seen));
	pair(r, "Missing", list_of(r, &ev->inventory.missing));
	pair(r, "Not expected", list_of(r, &ev->inventory.extra));
	pair(r, "Signatures",
	     v->result == AUDIT_UNFINISHED ? "valid: drover's signature; the agent did not sign"
					   : "valid: the agent's signature and drover's signature");
	if (v->result != AUDIT_UNFINISHED)
		pair(r, "Agent", wipe_trust_names[ev->agent_trust]);
	pair(r, "Chain", chain_text(r, v));
	pair(r, "Digest", v->digest);
	for (size_t i = 0; i < ev->statements.n; i++)
		statement(r, &ev->statements.v[i]);
	pair(r, "Not covered", list_of(r, &ev->not_covered));
	for (size_t i = 0; i < ev->waivers.n; i++)
		pair(r, "Not wiped", evidence_waiver_text(&ev->waivers.v[i], r->a));
	table_end(r);
	for (size_t i = 0; i < ev->devices.n; i++)
		drive(r, i + 1, &ev->devices.v[i]);
}

bool wipe_report(const struct audit *a, const char *only, bool html, struct buf *out)
{
	OWN(arena) tmp = arena_new();
	const struct report r = {.a = tmp, .html = html, .out = out};
	size_t n = 0, wrong = 0;

	begin(&r, "Wipe report");
	for (size_t i = 0; i < audit_records(a); i++) {
		struct audit_record v = audit_record_at(a, i);

		if (only && !str_eq(v.record, only))
			continue;
		record(&r, &v);
		n++;
		wrong += v.result == AUDIT_BAD || str_eq(v.chain, "gap");
	}
	if (!n)
		note(&r, "There is no such record.");
	else if (wrong)
		note(&r, arena_printf(tmp, "%zu of %zu records: DO NOT TRUST, or INCOMPLETE.",
				      wrong, n));
	else
		note(&r, arena_printf(tmp,
				      "%zu record%s checked: signatures, fields, verdict and chain "
				      "agree.",
				      n, n == 1 ? "" : "s"));
	note(&r, "A report proves only as much as the public keys with which the records were "
		 "checked. A level is that of NIST SP 800-88 and holds for the drives above, not "
		 "for the parts under \"Not covered\".");
	end(&r);
	return n && !wrong;
}
