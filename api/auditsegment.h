#ifndef API_AUDITSEGMENT_H
#define API_AUDITSEGMENT_H

#include "api/auditlog.h"
#include "api/common.h"

/*
 * auditsegment: the kind AuditSegment: a part of the audit log. Only drover writes segments, and
 * only appends: the API server refuses a change of an entry that a segment contains.
 * controller/core/audit_trail.h writes them; field tables and checks: api/auditsegment.c.
 * Tests: tests/unit/api/test_kinds.c
 */

/* Highest number of entries in one segment. */
#define AUDIT_SEGMENT_ENTRIES 256
/* A segment is full once its entries have this many bytes (audit_entry_bytes()). The API server
 * accepts three times as many. */
#define AUDIT_SEGMENT_BYTES (512u << 10)
/* Number of segments that stay in the API. Older ones are deleted. */
#define AUDIT_SEGMENTS_KEPT 128

struct audit_segment_spec {
	/* number of the segment, counted from 1; also in its name, AUDIT_SEGMENT_NAME */
	int64_t number;
	struct {
		struct audit_entry *v;
		size_t n;
	} entries;
};
#define AUDIT_SEGMENT_NAME "audit-%08lld"
struct audit_segment {
	struct object_meta meta;
	struct audit_segment_spec spec;
};
/* The newest segment that a leader wrote, as the Lease of the controller has it. Because the Lease
 * is no segment, the deletion of the newest segment is noticed although no later one names it. */
struct audit_newest {
	/* number of the segment; 0: not known */
	int64_t number;
	/* sequence number and digest of its last entry */
	int64_t seq;
	char digest[CRYPTO_DIGEST_TEXT];
};
#define AUDIT_NEWEST_FORMAT "%lld %lld %s"
/* Parses a text of AUDIT_NEWEST_FORMAT. Returns false, and sets number to 0, if it is NULL or
 * different. */
bool audit_newest_parse(const char *text, struct audit_newest *out);
/* True if nothing more is appended to a segment with n entries of `bytes` bytes. */
static inline bool audit_segment_is_full(size_t n, size_t bytes)
{
	return n >= AUDIT_SEGMENT_ENTRIES || bytes >= AUDIT_SEGMENT_BYTES;
}

#endif
