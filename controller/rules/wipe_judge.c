/*
 * wipe_judge: compares decoded evidence with the machine, its drives and the required levels, drive
 * by drive.
 */
#include "controller/rules/wipe_judge.h"

#include "base/str.h"
#include "controller/rules/inventory.h"

/* True unless the agent reported the drive as rotating: all other drives, also SATA and SAS, count
 * as flash. */
static bool is_flash(const struct evidence_device *d)
{
	return !d->rotational;
}

void wipe_judge_levels(const struct evidence *ev, int *flash, int *hdd)
{
	*flash = *hdd = -1;
	for (size_t i = 0; i < ev->devices.n; i++) {
		const struct evidence_device *d = &ev->devices.v[i];
		int *worst = is_flash(d) ? flash : hdd;

		if (*worst < 0 || d->level < *worst)
			*worst = d->level;
	}
}

static const struct evidence_device *device_of(const struct evidence *ev, const char *wwn)
{
	for (size_t i = 0; i < ev->devices.n; i++)
		if (str_eq(ev->devices.v[i].wwn, wwn))
			return &ev->devices.v[i];
	return NULL;
}

static const char *why_not_covered(const struct evidence *ev, const char *part)
{
	for (size_t i = 0; i < ev->statements.n; i++)
		if (str_eq(statement_part_names[ev->statements.v[i].part], part))
			return str_or(ev->statements.v[i].message, "no reason given");
	return "the record does not mention it";
}

static int judge_floor(const struct machine *m, const struct evidence *ev,
		       const struct object_wipe_floor *f, const char *whose, struct err *e)
{
	const unsigned covered = statement_covered(ev->statements.v, ev->statements.n);
	char drive[INVENTORY_DRIVE_TEXT];
	const char *lacks;

	for (size_t i = 0; i < ev->devices.n; i++) {
		const struct evidence_device *d = &ev->devices.v[i];
		int want = is_flash(d) ? f->minimum_level.flash : f->minimum_level.hdd;

		if (want < WIPE_CLEAR)
			want = WIPE_CLEAR;
		if (d->level < want)
			return err_set(e, ERR_DENIED, 0, "drive %s reached %s, %s requires %s",
				       inventory_drive_text(m, d->wwn, drive),
				       wipe_level_names[d->level], whose, wipe_level_names[want]);
	}
	/* mutant: judge-trust */
	if (ev->agent_trust < f->minimum_trust)
		return err_set(e, ERR_DENIED, 0,
			       "the agent's trust level is %s, but %s requires %s",
			       wipe_trust_names[ev->agent_trust], whose,
			       wipe_trust_names[f->minimum_trust]);
	lacks = statement_lacks(covered, statement_parts(&f->must_cover));
	/* mutant: judge-covered */
	if (lacks)
		return err_set(e, ERR_DENIED, 0, "%s was not covered, %s requires it: %s", lacks,
			       whose, why_not_covered(ev, lacks));
	return 0;
}

/* Sets *e to the first drive that made the wipe fail, with serial number and slot so that the
 * operator finds the drive. Always returns -1. */
static int refuse_failed(const struct machine *m, const struct evidence *ev, struct err *e)
{
	char drive[INVENTORY_DRIVE_TEXT];

	if (ev->inventory.missing.n)
		return err_set(e, ERR_DENIED, 0,
			       "the wipe failed: drive %s is missing (%zu of %zu drives are)",
			       inventory_drive_text(m, ev->inventory.missing.v[0], drive),
			       ev->inventory.missing.n, m->spec.drives.n);
	for (size_t i = 0; i < ev->devices.n; i++)
		if (ev->devices.v[i].level < WIPE_CLEAR)
			return err_set(e, ERR_DENIED, 0, "the wipe failed: drive %s: %s%s%s",
				       inventory_drive_text(m, ev->devices.v[i].wwn, drive),
				       str_or(ev->devices.v[i].reason, "no reason given"),
				       ev->devices.v[i].message ? ": " : "",
				       str_or(ev->devices.v[i].message, ""));
	return err_set(e, ERR_DENIED, 0, "the wipe failed");
}

/* Checks the wipe itself, independent of the required level: machine, tenancy, verdict, every
 * drive, and that no part failed. -1: *e names what is wrong. */
static int judge_wipe(const struct machine *m, const struct evidence *ev, struct err *e)
{
	const struct object_drives *want = &m->spec.drives;
	char drive[INVENTORY_DRIVE_TEXT];

	/* mutant: judge-machine */
	if (!str_eq(ev->machine.name, m->meta.name) || !str_eq(ev->machine.uid, m->meta.uid))
		return err_set(e, ERR_DENIED, 0, "the evidence is for machine %s",
			       str_or(ev->machine.name, "(none)"));
	/* mutant: judge-tenancy */
	if (ev->tenancy != m->status.tenancy)
		return err_set(e, ERR_DENIED, 0,
			       "the evidence is for tenancy %lld, but the machine has tenancy %lld",
			       (long long)ev->tenancy, (long long)m->status.tenancy);
	if (ev->verdict < WIPE_CLEAR)
		return refuse_failed(m, ev, e);
	if (!want->n)
		return err_set(e, ERR_DENIED, 0, "spec.drives is empty, so no drive is expected");
	/* mutant: judge-number */
	if (ev->inventory.missing.n || ev->inventory.extra.n || ev->devices.n != want->n)
		return err_set(e, ERR_DENIED, 0,
			       "%zu drives expected, %zu wiped, %zu missing, %zu extra%s%s",
			       want->n, ev->devices.n, ev->inventory.missing.n,
			       ev->inventory.extra.n,
			       ev->inventory.missing.n || ev->inventory.extra.n ? ": " : "",
			       ev->inventory.missing.n
				       ? inventory_drive_text(m, ev->inventory.missing.v[0], drive)
			       : ev->inventory.extra.n
				       ? inventory_drive_text(m, ev->inventory.extra.v[0], drive)
				       : "");
	for (size_t i = 0; i < want->n; i++) {
		const struct evidence_device *d = device_of(ev, want->v[i].wwn);

		if (!d)
			return err_set(e, ERR_DENIED, 0, "no evidence for drive %s",
				       inventory_drive_text(m, want->v[i].wwn, drive));
		/* mutant: judge-size */
		/* a drive with another size than expected may have hidden sectors that were not
		 * wiped */
		if (d->bytes != want->v[i].bytes)
			return err_set(e, ERR_DENIED, 0,
				       "drive %s: %lld bytes expected, %lld wiped",
				       inventory_drive_text(m, d->wwn, drive),
				       (long long)want->v[i].bytes, (long long)d->bytes);
	}
	for (size_t i = 0; i < ev->devices.n; i++) {
		const struct evidence_device *d = &ev->devices.v[i];

		if (d->level < WIPE_CLEAR)
			return err_set(e, ERR_DENIED, 0, "drive %s: %s",
				       inventory_drive_text(m, d->wwn, drive),
				       wipe_level_names[d->level]);
		/* mutant: judge-technique */
		if (evidence_bears_out(d, EVIDENCE_SAMPLES, evidence_took_ms(ev), e) < 0)
			return err_wrap(e, "drive %s", inventory_drive_text(m, d->wwn, drive));
	}
	/* Refuse if the wipe of a part other than a drive was tried and failed, because
	 * that part may still have data. */
	for (size_t i = 0; i < ev->statements.n; i++)
		if (ev->statements.v[i].outcome == STATEMENT_FAILED)
			return err_set(e, ERR_DENIED, 0, "%s: %s",
				       statement_part_names[ev->statements.v[i].part],
				       str_or(ev->statements.v[i].message, "no reason given"));
	return 0;
}

int wipe_judge(const struct machine *m, const struct provider_object *p, const struct evidence *ev,
	       const struct object_wipe_floor *floor, struct err *e)
{
	if (judge_wipe(m, ev, e) < 0)
		return -1;
	if (!p)
		return err_set(e, ERR_NOT_FOUND, 0,
			       "the Provider does not exist, so its wipe requirements are unknown");
	/* mutant: judge-floor */
	if (judge_floor(m, ev, &p->spec.wipe.floor, "the provider", e) < 0)
		return -1;
	return floor ? judge_floor(m, ev, floor, "the claim", e) : 0;
}

enum reason wipe_judge_reason(const struct machine *m, const struct evidence *ev)
{
	/* The most useful reasons for an operator come first: those on which an operator can
	 * act. */
	static const enum reason told[] = {
		REASON_DriveMissing,  REASON_ReadOnly,	  REASON_NamespaceHidden,
		REASON_SectorsHidden, REASON_DriveLocked, REASON_DriveZoned,
		REASON_CanaryLost,    REASON_DriveFailed, REASON_EraseBelowPolicy};
	struct err e;

	if (ev->inventory.missing.n)
		return REASON_DriveMissing;
	if (ev->inventory.extra.n)
		return REASON_DriveUnknown;
	for (size_t k = 0; k < sizeof(told) / sizeof(*told); k++)
		for (size_t i = 0; i < ev->devices.n; i++)
			if (reason_find(ev->devices.v[i].reason) == told[k])
				return told[k];
	return judge_wipe(m, ev, &e) < 0 ? REASON_EraseUnverified : REASON_EraseBelowPolicy;
}
