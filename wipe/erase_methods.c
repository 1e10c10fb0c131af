#include "wipe/erase_methods.h"

#include <errno.h>
#include "base/str.h"
#include "wipe/drives.h"
#include "wipe/format.h"
#include "wipe/ring.h"
#include "wipe/sanitize.h"

/* Returns 1.5 times the I/O timeout (RING_STALL_MS, or stall_ms in tests). The I/O timeout must
 * expire before the guard (the timer in batch.c) gives the drive up, because only the error of the
 * I/O names the cause. */
int64_t erase_methods_patience_ms(const struct host *h)
{
	int64_t stall = h->stall_ms ? h->stall_ms : RING_STALL_MS;

	return stall + stall / 2;
}

void erase_methods_phase(struct erase *x, const char *phase, int64_t total, int64_t patience_ms)
{
	struct erase_progress *g = &x->progress;

	atomic_store(&g->patience_ms,
		     patience_ms ? patience_ms : erase_methods_patience_ms(x->host));
	atomic_store(&g->done_bytes, 0);
	atomic_store(&g->total_bytes, total);
	atomic_store(&g->phase, phase);
}

static int nvme_can(struct pass *p, struct err *e)
{
	const struct host *h = p->x->host;

	if (nvme_abilities(h, drive_name(p->x->drive), p->dio.fd, p->identify, &p->nvme, e) < 0)
		return -1;
	p->sanitizes = p->nvme.sanicap;
	p->how = &nvme_sanitize;
	return 0;
}

/* Reports no error for an ATA or SCSI drive that reports no abilities, because such a drive is
 * overwritten. */
int erase_methods_abilities(struct pass *p, struct err *e)
{
	const struct host *h = p->x->host;
	const char *type = p->x->drive->type;

	if (str_eq(type, "NVMe") && h->nvme_admin)
		return nvme_can(p, e);
	if (str_eq(type, "SATA") && h->ata) {
		ata_abilities(h, p->dio.fd, &p->ata);
		p->sanitizes = p->ata.sanitizes;
		p->how = &ata_sanitize;
	}
	if (str_eq(type, "SAS") && h->scsi) {
		scsi_abilities(h, p->dio.fd, p->identify, &p->scsi);
		p->sanitizes = p->scsi.sanitizes;
		p->how = &scsi_sanitize;
	}
	return 0;
}

static int format(struct pass *p, enum format_erase erase, struct err *e)
{
	struct erase_progress *g = &p->x->progress;
	struct format f = {.host = p->x->host,
			   .fd = p->dio.fd,
			   .nvme = &p->nvme,
			   .bytes = p->dio.bytes,
			   .done = &g->done_bytes,
			   .patience_ms = &g->patience_ms};
	int rc;

	erase_methods_phase(p->x, "format", p->dio.bytes, format_limit_ms(erase, p->dio.bytes));
	rc = format_run(&f, erase, e);
	*p->status = f.status;
	return rc;
}

static bool has_sanitize_crypto(const struct pass *p)
{
	return p->sanitizes & SANITIZES_CRYPTO;
}

static bool has_sanitize_block(const struct pass *p)
{
	return p->sanitizes & SANITIZES_BLOCK;
}

static bool has_sanitize_overwrite(const struct pass *p)
{
	return p->sanitizes & SANITIZES_OVERWRITE;
}

/* True if Format may be sent. If a Format by this controller erases all namespaces, the drive must
 * have no other namespace. */
static bool can_format(const struct pass *p)
{
	return p->nvme.format && (p->nvme.alone || !p->nvme.format_all);
}

static struct sanitize watched(struct pass *p)
{
	erase_methods_phase(p->x, "sanitize", p->dio.bytes,
			    SANITIZE_SILENT_MS + ERASE_METHODS_FLUSH_MS);
	return (struct sanitize){.host = p->x->host,
				 .patience_ms = &p->x->progress.patience_ms,
				 .fd = p->dio.fd,
				 .page = p->identify,
				 .done = &p->x->progress.done_bytes,
				 .total = p->dio.bytes};
}

static int sanitize(struct pass *p, enum sanitize_action action, struct err *e)
{
	struct sanitize s = watched(p);
	enum sanitize_end end = p->how->run(&s, action, e);

	*p->status = s.status;
	p->final = end != SANITIZE_REFUSED;
	p->broken = end == SANITIZE_FAILED;
	return end == SANITIZE_DONE ? 0 : -1;
}

static int run_sanitize_block(struct pass *p, struct err *e)
{
	return sanitize(p, SANITIZE_BLOCK, e);
}

static int run_sanitize_overwrite(struct pass *p, struct err *e)
{
	return sanitize(p, SANITIZE_OVERWRITE, e);
}

static bool has_crypto(const struct pass *p)
{
	return can_format(p) && p->nvme.format_crypto;
}

static int run_crypto(struct pass *p, struct err *e)
{
	return format(p, FORMAT_CRYPTO, e);
}

static int run_sanitize_crypto(struct pass *p, struct err *e)
{
	return sanitize(p, SANITIZE_CRYPTO, e);
}

static bool has_format(const struct pass *p)
{
	return can_format(p);
}

static int run_user_data(struct pass *p, struct err *e)
{
	return format(p, FORMAT_USER_DATA, e);
}

/* --- ATA ------------------------------------------------------------------------------------- */

static bool has_erase(const struct pass *p)
{
	return p->ata.erase && !p->ata.erase_frozen;
}

static bool has_erase_enhanced(const struct pass *p)
{
	return has_erase(p) && p->ata.erase_enhanced;
}

static int security_erase(struct pass *p, bool enhanced, struct err *e)
{
	int64_t limit = ata_erase_limit_ms(&p->ata, enhanced);

	erase_methods_phase(p->x, "security erase", 0, limit + ERASE_METHODS_FLUSH_MS);
	return ata_erase(p->x->host, p->dio.fd, enhanced, limit, p->status, e);
}

static int run_erase_enhanced(struct pass *p, struct err *e)
{
	return security_erase(p, true, e);
}

static int run_erase(struct pass *p, struct err *e)
{
	return security_erase(p, false, e);
}

/* --- SCSI ------------------------------------------------------------------------------------ */

static bool has_format_unit(const struct pass *p)
{
	return p->scsi.format;
}

static int run_format_unit(struct pass *p, struct err *e)
{
	struct sanitize s = watched(p);
	enum sanitize_end end;

	atomic_store(&p->x->progress.phase, "format unit");
	end = scsi_format(&s, e);
	*p->status = s.status;
	return end == SANITIZE_DONE ? 0 : -1;
}

static bool has_write_same(const struct pass *p)
{
	return p->scsi.same;
}

static int run_write_same(struct pass *p, struct err *e)
{
	struct erase_progress *g = &p->x->progress;
	struct sanitize s = watched(p);
	int rc;

	erase_methods_phase(p->x, "write same", p->dio.bytes, ERASE_METHODS_FLUSH_MS);
	rc = scsi_write_same(&s, &p->scsi, &g->erased_bytes, e);
	*p->status = s.status;
	return rc ? rc : dio_flush(&p->dio, e);
}

/* --- overwrite ------------------------------------------------------------------------------- */

struct sweep {
	struct erase_progress *progress;
	int64_t at, end;
};

static bool next_zeros(struct ring_piece *p, void *arg)
{
	struct sweep *s = arg;

	if (s->at == s->end)
		return false;
	p->off = s->at;
	p->len = s->end - s->at < ERASE_METHODS_PIECE ? (size_t)(s->end - s->at)
						      : ERASE_METHODS_PIECE;
	s->at += (int64_t)p->len;
	return true;
}

static int zeros_written(const struct ring_piece *p, struct err *e, void *arg)
{
	struct sweep *s = arg;

	if (e)
		return -1;
	atomic_fetch_add(&s->progress->done_bytes, (int64_t)p->len);
	atomic_fetch_add(&s->progress->erased_bytes, (int64_t)p->len);
	return 0;
}

static bool always(const struct pass *p)
{
	(void)p;
	return true;
}

static int run_overwrite(struct pass *p, struct err *e)
{
	struct erase_progress *g = &p->x->progress;
	struct sweep s = {.progress = g, .end = p->dio.bytes};
	struct ring_job j = {.write = true, .next = next_zeros, .done = zeros_written, .arg = &s};
	int rc;

	erase_methods_phase(p->x, "overwrite", p->dio.bytes, 0);
	rc = ring_run(p->zeros, &p->dio, &j, e);
	atomic_store(&g->patience_ms, ERASE_METHODS_FLUSH_MS);
	return rc ? rc : dio_flush(&p->dio, e);
}

/* The erase methods, strongest first. To add a method, also for another kind of drive, add a row;
 * the row's condition (`applies`) may use everything that erase_methods_abilities() reads. */
const struct erase_method erase_methods[ERASE_METHODS] = {
	{"SanitizeCryptoErase", VERIFY_CHANGED, true, has_sanitize_crypto, run_sanitize_crypto},
	{"SanitizeBlockErase", VERIFY_CONSTANT, true, has_sanitize_block, run_sanitize_block},
	{"SanitizeOverwrite", VERIFY_ZEROS, true, has_sanitize_overwrite, run_sanitize_overwrite},
	{"SecurityEraseEnhanced", VERIFY_CHANGED, false, has_erase_enhanced, run_erase_enhanced},
	{"SecurityErase", VERIFY_CONSTANT, false, has_erase, run_erase},
	{"FormatCrypto", VERIFY_CHANGED, false, has_crypto, run_crypto},
	{"FormatUserData", VERIFY_CONSTANT, false, has_format, run_user_data},
	{"FormatUnit", VERIFY_CONSTANT, false, has_format_unit, run_format_unit},
	{"WriteSame", VERIFY_ZEROS, false, has_write_same, run_write_same},
	{"Overwrite", VERIFY_ZEROS, false, always, run_overwrite},
};

void erase_methods_note(struct pass *p, const char *technique)
{
	struct erase *x = p->x;

	x->device.technique = technique;
	atomic_store(&x->progress.technique, technique);
	p->status = &x->status[x->device.raw_status.n++];
	*p->status = 0;
}

/* Returns the technique of a kind of Sanitize that the drive supports, and sets *action to that
 * kind. Prefers a kind other than `failed`. NULL: the drive supports no Sanitize. */
static const char *other_kind(const struct pass *p, unsigned failed, unsigned *action)
{
	static const struct {
		enum sanitize_action action;
		unsigned bit;
		const char *technique;
	} kinds[] = {{SANITIZE_BLOCK, SANITIZES_BLOCK, "SanitizeBlockErase"},
		     {SANITIZE_CRYPTO, SANITIZES_CRYPTO, "SanitizeCryptoErase"},
		     {SANITIZE_OVERWRITE, SANITIZES_OVERWRITE, "SanitizeOverwrite"}};
	const char *technique = NULL;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (p->sanitizes & kinds[i].bit && (!technique || *action == failed)) {
			*action = kinds[i].action;
			technique = kinds[i].technique;
		}
	return technique;
}

/* Makes the drive recover from a Sanitize that failed before this boot. The result is ignored: the
 * canaries show whether data remained. */
static void recover_earlier(struct pass *p, struct sanitize *s)
{
	unsigned action = 0;
	const char *technique = other_kind(p, s->failed, &action);
	struct err refused;

	if (p->nvme.nsid && !p->nvme.alone)
		action = 0;
	s->status = 0;
	(void)!p->how->recover(s, action, &refused);
	if (action && s->status) {
		erase_methods_note(p, technique);
		*p->status = s->status;
	}
}

int erase_methods_await_sanitize(struct pass *p, struct err *e)
{
	struct sanitize s;
	enum sanitize_end end;

	if (!p->sanitizes)
		return 0;
	s = watched(p);
	end = p->how->wait(&s, e);
	if (end == SANITIZE_FAILED)
		recover_earlier(p, &s);
	return end == SANITIZE_LOST ? -1 : 0;
}

bool erase_methods_recover(struct pass *p)
{
	struct sanitize s = watched(p);
	struct err refused;

	return !p->how->recover(&s, 0, &refused);
}

int erase_methods_mend(struct pass *p)
{
	static const char *const techniques[] = {
		[FORMAT_USER_DATA] = "FormatUserData", [FORMAT_CRYPTO] = "FormatCrypto"};
	struct err refused;

	if (has_format_unit(p)) {
		erase_methods_note(p, "FormatUnit");
		return run_format_unit(p, &refused);
	}
	if (!can_format(p))
		return -1;
	for (unsigned ses = has_crypto(p) ? FORMAT_CRYPTO : FORMAT_USER_DATA; ses; ses--) {
		erase_methods_note(p, techniques[ses]);
		if (!format(p, ses, &refused))
			return 0;
	}
	return -1;
}
