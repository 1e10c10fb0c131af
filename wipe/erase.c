#include "wipe/erase.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/mem.h"
#include "base/str.h"
#include "wipe/ata.h"
#include "wipe/dio.h"
#include "wipe/drives.h"
#include "wipe/erase_methods.h"
#include "wipe/nvme.h"
#include "wipe/ring.h"
#include "wipe/tcg.h"

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * (int64_t)1000 + t.tv_nsec / 1000000;
}

int64_t erase_samples(int64_t asked)
{
	if (asked <= 0)
		return VERIFY_SAMPLES;
	return asked < VERIFY_MAX_SAMPLES ? asked : VERIFY_MAX_SAMPLES;
}

void erase_init(struct erase *x, const struct host *h, const struct proto_drive *d,
		const struct secret *nonce, int minimum_level, int64_t samples)
{
	memset(x, 0, sizeof(*x));
	x->host = h;
	x->drive = d;
	x->nonce = nonce;
	x->minimum_level = minimum_level;
	x->samples = erase_samples(samples);
	x->begun = now_ms();
	x->device.type = d->type;
	x->device.model = d->model;
	x->device.serial = d->serial;
	x->device.wwn = d->wwn;
	x->device.bytes = d->bytes;
	x->device.rotational = d->rotational;
	x->device.technique = "None";
	x->device.raw_status.v = x->status;
	x->device.level = WIPE_FAIL;
	x->device.reason = "NotWiped";
	erase_methods_phase(x, "canaries", 0, 0);
}

void erase_done(struct erase *x)
{
	free(x->prints);
	x->prints = NULL;
}

static int fail(struct erase *x, const char *reason)
{
	x->device.level = WIPE_FAIL;
	x->device.reason = reason;
	return -1;
}

/* Sets the drive's result to Fail, with reason DriveMissing if its device no longer exists,
 * otherwise DriveFailed. Returns -1. */
static int fail_drive(struct erase *x)
{
	return fail(x, dio_gone(x->host, drive_name(x->drive)) ? "DriveMissing" : "DriveFailed");
}

/* Returns rc. On failure adds the drive's path to the error, and stores the text of the first
 * failure in device.message. */
static int explain(struct erase *x, int rc, struct err *e)
{
	if (!rc)
		return 0;
	err_note_wrap(e, "%s", x->drive->path);
	if (!x->device.message) {
		(void)str_copy(x->why, sizeof(x->why), e->text);
		str_clean(x->why);
		x->device.message = x->why;
	}
	return -1;
}

/* Initialises p. first: the drive's first pass, whose I/O rings p uses too; equal to p if p is
 * itself the first pass. write: p also writes. */
static void init_pass(struct pass *p, struct erase *x, struct pass *first, bool write)
{
	memset(p, 0, sizeof(*p));
	p->x = x;
	p->dio.fd = -1;
	p->borrows = first != p;
	if (write)
		p->zeros = p->borrows ? first->zeros
				      : ring_new(x->host, ERASE_DEPTH, ERASE_METHODS_PIECE, true);
	p->identify = dio_buffer(VERIFY_BLOCK);
	p->verify = (struct verify){
		.drive = &p->dio,
		.nonce = x->nonce,
		.wwn = x->drive->wwn,
		.ring = p->borrows ? first->verify.ring
				   : ring_new(x->host, RING_DEPTH, VERIFY_BLOCK, false),
		.done_bytes = &x->progress.done_bytes,
		.why = &p->unreadable,
	};
}

static int open_pass(struct pass *p, bool write, struct err *e)
{
	const struct erase *x = p->x;

	if (dio_open(&p->dio, x->host, drive_name(x->drive), write, e) < 0)
		return -1;
	/* Refuses a drive whose size changed since it was listed, because it is probably another
	 * drive. */
	if (p->dio.bytes != x->drive->bytes)
		return err_set(e, ERR_CONFLICT, 0, "the drive's size changed since it was listed");
	return drive_check(x->host, x->drive, e);
}

static void close_pass(struct pass *p)
{
	if (!p->borrows) {
		ring_free(p->zeros);
		ring_free(p->verify.ring);
	}
	dio_close(&p->dio);
	free(p->identify);
}

/* Waits until the shortest plausible duration of the erase method has passed since the time
 * `since`, because a drive may report completion before its erase has ended. Does not wait after an
 * overwrite, whose data is written when the drive reports completion. */
static void let_it_end(const struct pass *p, enum verify_accept accept, int64_t since)
{
	int64_t left = since + evidence_least_ms(&p->x->device) - now_ms();
	struct timespec nap = {.tv_sec = left / 1000, .tv_nsec = left % 1000 * 1000000};

	if (accept != VERIFY_ZEROS && left > 0)
		nanosleep(&nap, NULL);
}

/* Stores fingerprints of edges and samples before a cryptographic erase, because blocks may read as
 * noise afterwards. */
static void remember(struct pass *p)
{
	struct erase *x = p->x;

	if (!x->prints) {
		x->nprints = x->samples;
		x->prints =
			mem_calloc(EVIDENCE_EDGE_READS + (size_t)x->nprints, sizeof(*x->prints));
	}
	verify_fingerprint(&p->verify, x->nprints, x->prints);
}

static void begin_method(struct pass *p, const struct erase_method *r)
{
	atomic_store(&p->x->progress.erased_bytes, 0);
	erase_methods_note(p, r->technique);
	p->x->accept = r->accept;
	if (r->accept == VERIFY_CHANGED)
		remember(p);
}

static int send_method(struct pass *p, const struct erase_method *r, struct err *e)
{
	int rc = r->run(p, e);

	if (rc < 0 && !*p->status)
		*p->status = e->code;
	return rc;
}

/* Reads the samples that erase_verify() will read later, because another erase method can still
 * remove residue that is found now. Returns -1 if a sample is dirty, that is, not as method r
 * leaves blocks; unreadable blocks are left to erase_verify(). */
static int look_at_samples(struct pass *p, const struct erase_method *r, struct err *e)
{
	struct erase *x = p->x;
	const bool print = r->accept == VERIFY_CHANGED;
	struct verify_counts n = {0};

	p->dirty = 0;
	if (r == &erase_methods[ERASE_METHODS - 1]) /* no method follows */
		return 0;
	erase_methods_phase(x, "samples", 2 * VERIFY_EDGE + x->samples * (int64_t)VERIFY_BLOCK, 0);
	verify_sample(&p->verify, r->accept, x->samples,
		      print ? (const uint8_t(*)[16])x->prints : NULL,
		      print ? EVIDENCE_EDGE_READS + (size_t)x->nprints : 0, &n);
	p->dirty = n.dirty;
	/* mutant: samples-not-mended */
	if (!n.dirty)
		return 0;
	(void)fail(x, "EraseUnverified");
	return err_set(e, ERR_PROTOCOL, 0,
		       "%s reported success, but %d of the checked blocks still hold data",
		       r->technique, (int)n.dirty);
}

/* Checks the drive after a method reported success: by duration, canaries and samples. -1: data may
 * be left. */
static int look_for_residue(struct pass *p, const struct erase_method *r, int64_t since,
			    struct err *e)
{
	struct erase *x = p->x;
	int64_t unreadable = 0;
	int found;

	/* Refuses an overwrite by the drive's own command that ended sooner than the medium can be
	 * written: the drive only marked the blocks as zeros. */
	if (r->accept == VERIFY_ZEROS && r != &erase_methods[ERASE_METHODS - 1] &&
	    now_ms() - since < evidence_least_ms(&x->device)) {
		(void)fail(x, "EraseUnverified");
		return err_set(e, ERR_PROTOCOL, 0,
			       "%s ended too early to have written the whole drive", r->technique);
	}
	let_it_end(p, r->accept, since);
	atomic_store(&x->progress.erased_bytes, x->device.bytes);
	erase_methods_phase(x, "canaries", VERIFY_CANARIES * VERIFY_BLOCK, 0);
	found = verify_find(&p->verify, &unreadable);
	x->device.canaries.found = found;
	if (found) {
		(void)fail(x, "EraseUnverified");
		return err_set(e, ERR_PROTOCOL, 0, "%s reported success but left %d canaries",
			       r->technique, found);
	}
	/* Accepts unreadable canaries after a cryptographic erase, because a block may then be
	 * unreadable until it is written again; the samples decide about the result. */
	if (unreadable && r->accept != VERIFY_CHANGED) {
		(void)fail_drive(x);
		*e = p->unreadable;
		return err_wrap(e, "%d canary positions cannot be read", (int)unreadable);
	}
	if (look_at_samples(p, r, e) < 0)
		return -1;
	x->device.level = evidence_highest_level(r->technique);
	x->device.reason = NULL;
	return 0;
}

static int run_method(struct pass *p, const struct erase_method *r, struct err *e)
{
	int64_t since = now_ms();

	begin_method(p, r);
	if (send_method(p, r, e) < 0)
		return fail_drive(p->x);
	return look_for_residue(p, r, since, e);
}

/* Turns the volatile write cache off, because some drives lose data at a power loss that they
 * reported as flushed. */
static void cache_off(const struct pass *p)
{
	const struct host *h = p->x->host;

	if (p->nvme.cache)
		nvme_cache_off(h, p->dio.fd);
	else if (h->ata && str_eq(p->x->drive->type, "SATA"))
		ata_cache_off(h, p->dio.fd);
}

static bool keeps_locked(const struct pass *p)
{
	const char *type = p->x->drive->type;
	bool knows = p->nvme.security || p->ata.trusted || str_eq(type, "SAS");

	return knows && tcg_locked(p->x->host, p->dio.fd, type, p->identify);
}

static int plant(struct pass *p, struct err *e)
{
	struct erase *x = p->x;
	int planted;

	erase_methods_phase(x, "canaries", 2 * VERIFY_CANARIES * VERIFY_BLOCK, 0);
	planted = verify_plant(&p->verify, e);
	/* If the canaries could not be written, formats the drive and writes them again. A drive
	 * that timed out or has disappeared is not formatted, because the Format would block for
	 * hours. */
	if (planted < 0 && e->code != ETIMEDOUT && !dio_gone(x->host, drive_name(x->drive)) &&
	    !erase_methods_mend(p)) {
		erase_methods_phase(x, "canaries", 2 * VERIFY_CANARIES * VERIFY_BLOCK, 0);
		planted = verify_plant(&p->verify, e);
	}
	if (planted == VERIFY_CANARIES) {
		x->device.canaries.planted = planted;
		return 0;
	}
	/* Checks whether the drive is locked. A drive that timed out is not checked, because it
	 * gets no further commands. */
	if ((planted >= 0 || e->code != ETIMEDOUT) && keeps_locked(p)) {
		(void)fail(x, "DriveLocked");
		return err_set(
			e, ERR_DENIED, 0,
			"the drive encrypts itself and is locked by its owner: revert it with the "
			"PSID on its label");
	}
	if (planted < 0)
		return fail_drive(x);
	x->device.canaries.planted = planted;
	(void)fail(x, "CanaryLost");
	return err_set(e, ERR_PROTOCOL, 0, "of %d canaries written only %d could be read back",
		       VERIFY_CANARIES, planted);
}

/* Runs all steps before the first erase method: reads abilities, waits for an earlier Sanitize,
 * writes canaries. -1: the drive is not wiped. */
static int prepare(struct pass *p, struct err *e)
{
	struct erase *x = p->x;

	x->device.raw_status.n = 0;
	if (erase_methods_abilities(p, e) < 0 || erase_methods_await_sanitize(p, e) < 0)
		return fail_drive(x);
	/* Refuses a drive with a hidden namespace: Format and overwrite do not erase it, and
	 * whether a Sanitize did cannot be checked. */
	if (p->nvme.hidden) {
		(void)fail(x, "NamespaceHidden");
		return err_set(e, ERR_UNSUPPORTED, 0,
			       "namespace %u of this drive has no block device",
			       (unsigned)p->nvme.hidden);
	}
	cache_off(p);
	return plant(p, e);
}

static bool is_zoned(const struct erase *x)
{
	OWN(arena) a = arena_new();

	return str_eq(host_line(a, "%s/block/%s/queue/zoned", x->host->sys, drive_name(x->drive)),
		      "host-managed");
}

static int begin_pass(struct pass *p, struct err *e)
{
	struct erase *x = p->x;

	if (x->drive->read_only) {
		(void)fail(x, "ReadOnly");
		return err_set(e, ERR_DENIED, 0, "%s is read-only", x->drive->path);
	}
	/* Refuses a drive with zones, because it accepts no writes at unpredictable positions. */
	if (is_zoned(x)) {
		(void)fail(x, "DriveZoned");
		return err_set(e, ERR_UNSUPPORTED, 0,
			       "the drive has zones that must be written sequentially");
	}
	if (x->drive->fault) {
		(void)fail(x, "SectorsHidden");
		return err_set(e, ERR_UNSUPPORTED, 0, "%s: %s", x->drive->path, x->drive->fault);
	}
	if (open_pass(p, true, e) < 0)
		return fail_drive(x);
	return prepare(p, e);
}

/* --- a subsystem: one command for all its namespaces ------------------------------------------ */

/* True if the n passes cover everything that a Sanitize would erase, so that canaries are written
 * to each part and each part is checked afterwards. */
static bool is_whole(const struct pass *p, size_t n)
{
	struct nvme_set set = {.n = n};
	const char **names = mem_calloc(n, sizeof(*names));
	uint32_t *nsids = mem_calloc(n, sizeof(*nsids));
	/* Counts a drive that is not NVMe as whole only if it is the only pass, because such a
	 * drive does not report its parts. */
	bool whole = p[0].nvme.nsid || n == 1;

	for (size_t i = 0; i < n; i++) {
		names[i] = drive_name(p[i].x->drive);
		nsids[i] = p[i].nvme.nsid;
	}
	set.names = names;
	set.nsids = nsids;
	for (size_t i = 0; whole && i < n; i++)
		whole = p[i].sanitizes && (!p[i].nvme.nsid || nvme_only(p[i].x->host, p[i].dio.fd,
									p[i].identify, &set));
	free(names);
	free(nsids);
	return whole;
}

static bool all_can(const struct pass *p, size_t n, const struct erase_method *r)
{
	for (size_t i = 0; i < n; i++)
		if (!r->applies(&p[i]))
			return false;
	return true;
}

/* Fails all n namespaces if a Sanitize that reported success left data in one of them. */
static void distrust(struct pass *p, size_t n, const struct erase_method *r, int *rc, struct err *e)
{
	int64_t left = 0;

	for (size_t i = 0; i < n; i++)
		left += p[i].x->device.canaries.found + p[i].dirty;
	for (size_t i = 0; left && i < n; i++)
		if (!rc[i]) {
			rc[i] = fail(p[i].x, "EraseUnverified");
			err_note(&e[i], ERR_PROTOCOL, 0,
				 "%s reported success but left %d canaries or blocks with data "
				 "in other namespaces of this drive",
				 r->technique, (int)left);
		}
}

/* Sends the command of method r once, through the first pass; checks and records the result of each
 * pass. */
static void run_for_all(struct pass *p, size_t n, const struct erase_method *r, int *rc,
			struct err *e)
{
	int64_t since = now_ms();
	int sent;

	for (size_t i = 0; i < n; i++)
		begin_method(&p[i], r);
	sent = send_method(&p[0], r, &e[0]);
	for (size_t i = 0; i < n; i++) {
		*p[i].status = *p[0].status;
		p[i].final = p[0].final;
		if (i && sent < 0)
			e[i] = e[0];
		rc[i] = sent < 0 ? fail_drive(p[i].x) : look_for_residue(&p[i], r, since, &e[i]);
	}
	/* mutant: sanitize-half-believed */
	if (!sent)
		distrust(p, n, r, rc, e);
}

/* Tries the Sanitize methods on all n passes. If a Sanitize began and then failed, at most one
 * further Sanitize is sent, once the drive has left its failure mode: the next kind that applies,
 * or the same kind again if there is none. Afterwards no weaker method is used, whatever the
 * result. */
static void run_subsystem(struct pass *p, size_t n, int *rc, struct err *e)
{
	const struct erase_method *failed = NULL;
	bool over = /* mutant: sanitize-unasked */ !is_whole(p, n), again = true;

	for (size_t i = 0; !over && i < ERASE_METHODS; i++) {
		const struct erase_method *r = &erase_methods[i];

		if (!r->subsystem || !all_can(p, n, r))
			continue;
		run_for_all(p, n, r, rc, e);
		if (!p[0].final)
			continue;
		again = !failed;
		over = !p[0].broken || !again || !erase_methods_recover(p);
		failed = r;
	}
	if (!over && failed && again)
		run_for_all(p, n, failed, rc, e);
	for (size_t i = 0; failed && i < n; i++)
		p[i].final = true;
}

/* Tries the methods that erase a single namespace, strongest first. -1: none succeeded. */
static int run_ladder(struct pass *p, struct err *e)
{
	for (size_t i = 0; i < ERASE_METHODS; i++)
		if (!erase_methods[i].subsystem && erase_methods[i].applies(p) &&
		    !run_method(p, &erase_methods[i], e))
			return 0;
	return -1;
}

/* Removes the time limit of this part of the drive. While other parts of the drive are processed,
 * their limits apply. */
static void rest(struct erase *x)
{
	atomic_store(&x->progress.patience_ms, 0);
}

/* Ends a pass; reports a level below the policy's minimum as an error. The recorded level is not
 * lowered, because drover decides whether it is sufficient. */
static int end_pass(const struct pass *p, int rc, struct err *e)
{
	struct erase *x = p->x;

	rest(x);
	if (!rc && x->device.level < x->minimum_level) {
		x->device.reason = "EraseBelowPolicy";
		rc = err_set(
			e, ERR_UNSUPPORTED, 0, "%s reaches less than the required level %s%s",
			x->device.technique, wipe_level_names[x->minimum_level],
			p->ata.erase_frozen || p->ata.sanitize_frozen
				? "; firmware froze the drive's stronger methods: power-cycle it"
				: "");
	}
	return explain(x, rc, e);
}

void erase_run_all(struct erase *const *x, size_t n, int *rc, struct err *e)
{
	struct pass *p = mem_calloc(n, sizeof(*p));
	bool ready = true;

	for (size_t i = 0; i < n; i++)
		init_pass(&p[i], x[i], p, true);
	for (size_t i = 0; i < n; i++) {
		rc[i] = begin_pass(&p[i], &e[i]);
		p[i].lost = rc[i] < 0;
		ready &= !rc[i];
		rest(x[i]);
	}
	if (ready && p[0].nvme.nsid)
		run_subsystem(p, n, rc, e);
	/* Erases paths to one drive, or drives with the same identity, one by one, because only
	 * NVMe namespaces (nsid not 0) can share one Sanitize. */
	for (size_t i = 0; i < n && !p[0].nvme.nsid; i++)
		if (!p[i].lost)
			run_subsystem(&p[i], 1, &rc[i], &e[i]);
	for (size_t i = 0; i < n; i++) {
		if (!p[i].lost && !p[i].final)
			rc[i] = run_ladder(&p[i], &e[i]);
		rc[i] = end_pass(&p[i], rc[i], &e[i]);
	}
	for (size_t i = n; i-- > 0;)
		close_pass(&p[i]);
	free(p);
}

static int verify_drive(struct erase *x, int64_t samples, struct err *e)
{
	struct pass p;
	struct verify_counts n = {0};
	int64_t unreadable = 0;
	bool print = x->accept == VERIFY_CHANGED;
	int rc;

	if (samples < 0 || samples > VERIFY_MAX_SAMPLES)
		samples = VERIFY_MAX_SAMPLES;
	if (print && samples > x->nprints)
		samples = x->nprints;
	erase_methods_phase(x, "verify",
			    2 * VERIFY_EDGE + (VERIFY_CANARIES + samples) * (int64_t)VERIFY_BLOCK,
			    0);
	/* Opens the drive again with O_DIRECT, so that nothing written through the earlier
	 * descriptor is cached. */
	init_pass(&p, x, &p, false);
	rc = open_pass(&p, false, e);
	if (!rc) {
		x->device.canaries.found = verify_find(&p.verify, &unreadable);
		verify_sample(&p.verify, x->accept, samples,
			      print ? (const uint8_t(*)[16])x->prints : NULL,
			      print ? EVIDENCE_EDGE_READS + (size_t)x->nprints : 0, &n);
	}
	close_pass(&p);
	if (rc < 0)
		return fail_drive(x);
	x->device.reads.clean = n.clean;
	x->device.reads.dirty = n.dirty;
	x->device.reads.unreadable = n.unreadable + unreadable;
	/* Confirms only a wipe that succeeded; a failed wipe keeps its reason. */
	if (x->device.level == WIPE_FAIL)
		return err_set(e, ERR_INVALID, 0, "the drive was not wiped: %s", x->device.reason);
	if (x->device.canaries.found || n.dirty) {
		(void)fail(x, "EraseUnverified");
		return err_set(e, ERR_PROTOCOL, 0, "%d canaries and %d blocks with data found",
			       (int)x->device.canaries.found, (int)n.dirty);
	}
	if (x->device.reads.unreadable) {
		(void)fail_drive(x);
		*e = p.unreadable;
		return err_wrap(e, "%d blocks cannot be read", (int)x->device.reads.unreadable);
	}
	if (evidence_bears_out(&x->device, samples, now_ms() - x->begun, e) < 0)
		return fail(x, "EraseUnverified");
	if (x->device.level < x->minimum_level)
		return err_set(e, ERR_UNSUPPORTED, 0,
			       "the drive was erased, but below the policy's level");
	return 0;
}

int erase_verify(struct erase *x, int64_t samples, struct err *e)
{
	return explain(x, verify_drive(x, samples, e), e);
}
