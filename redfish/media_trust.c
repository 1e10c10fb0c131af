#include "redfish/internal.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"

/*
 * Prepares a slot that verifies the certificate of the server from which it fetches
 * (VerifyCertificate, DSP0268), before it fetches from drover:
 *
 *   its Certificates -> contain drover's CA?     -> then()
 *                       \-> POST the CA          -> then()
 *                            \-> VerifyCertificate off, for this slot only -> then()
 *
 * If a resource is not served (rf_is_lacking()), the operation continues: InsertMedia gives a
 * better error.
 * Tests: tests/unit/redfish/test_media.c
 */
#define LOOKS 8 /* Maximum number of a slot's certificates that are read. */

static void trust_next(struct redfish *r);

static void on_unchecked(struct redfish *r, const struct rf_reply *p)
{
	if (p->err.kind == ERR_NONE || rf_is_lacking(p))
		r->op->then(r);
	else
		rf_fail(r, &p->err);
}

static void uncheck(struct redfish *r)
{
	rf_send(r, &(struct rf_request){.method = "PATCH",
					.path = mem_strdup(r->slot),
					.body = mem_strdup("{\"VerifyCertificate\":false}"),
					.if_match = rf_tag(r),
					.effect = true,
					.next = on_unchecked});
}

static void on_installed(struct redfish *r, const struct rf_reply *p)
{
	if (p->err.kind == ERR_NONE)
		r->op->then(r);
	else if (rf_is_lacking(p))
		uncheck(r);
	else
		rf_fail(r, &p->err);
}

static void install(struct redfish *r)
{
	OWN_JSON o = json_pack("{s:s,s:s}", "CertificateString", r->op->ca_pem, "CertificateType",
			       "PEM");

	if (o)
		rf_send(r, &(struct rf_request){.method = "POST",
						.path = mem_strdup(r->op->certificates),
						.body = json_text(o),
						.effect = true,
						.next = on_installed});
	else
		uncheck(r);
}

/* True if both PEM texts are equal apart from line ends, which BMCs change. */
static bool is_same_pem(const char *a, const char *b)
{
	for (;; a++, b++) {
		a += strspn(a, "\r\n");
		b += strspn(b, "\r\n");
		if (*a != *b || !*a)
			return *a == *b;
	}
}

static void on_certificate(struct redfish *r, const struct rf_reply *p)
{
	const char *pem = json_str_at(p->json, "CertificateString");

	if (p->err.kind != ERR_NONE && !rf_is_lacking(p))
		rf_fail(r, &p->err);
	else if (pem && is_same_pem(pem, r->op->ca_pem))
		r->op->then(r);
	else
		trust_next(r);
}

/* Reads the next certificate of the collection in op->pending. If no certificate is left, or LOOKS
 * were read, installs the CA in the slot. */
static void trust_next(struct redfish *r)
{
	const json_t *members = json_object_get(r->op->pending, "Members");
	unsigned n = r->op->looks++;
	struct err ignored;
	char *path = n < LOOKS ? rf_link(r, json_array_get(members, n), &ignored) : NULL;

	if (path)
		rf_get(r, path, on_certificate);
	else
		install(r);
}

static void on_certificates(struct redfish *r, const struct rf_reply *p)
{
	if (p->err.kind != ERR_NONE) {
		if (rf_is_lacking(p))
			uncheck(r);
		else
			rf_fail(r, &p->err);
		return;
	}
	json_decref(r->op->pending);
	r->op->pending = json_incref(p->json);
	r->op->looks = 0;
	trust_next(r);
}

void rf_media_trust(struct redfish *r, const json_t *slot, void (*then)(struct redfish *r))
{
	struct rf_op *op = r->op;
	struct err ignored;

	op->then = then;
	if (!str_starts(op->url, "https:") || !json_true_at(slot, "VerifyCertificate")) {
		then(r);
		return;
	}
	rf_set(&op->certificates, rf_link(r, json_object_get(slot, "Certificates"), &ignored));
	if (op->certificates && op->ca_pem)
		rf_get(r, mem_strdup(op->certificates), on_certificates);
	else
		uncheck(r);
}
