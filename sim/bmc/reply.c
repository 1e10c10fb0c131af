#include "sim/bmc/bmc_impl.h"

#include <stdlib.h>
#include <string.h>
#include "base/crypto.h"
#include "base/mem.h"
#include "base/str.h"

/*
 * bmc_reply: answers, with the members and headers that every resource has. An ETag is a digest of
 * the resource, so that the ETag changes exactly when the resource changes.
 * Tests: tests/unit/sim/bmc/test_bmc.c, tests/unit/sim/bmc/test_dialect.c
 */
#define V1 "/redfish/v1"

json_t *bmc_link(const char *path)
{
	return json_pack("{s:s}", "@odata.id", path);
}

json_t *bmc_collection(const char *name, json_t *members)
{
	return json_pack("{s:s,s:I,s:o}", "Name", name, "Members@odata.count",
			 (json_int_t)json_array_size(members), "Members", members);
}

int64_t bmc_now(const struct sim_bmc *b)
{
	return loop_now(loop_of(b->group));
}

const char *bmc_address(const struct bmc_call *c)
{
	return str_or(httpd_identity(c->q)->address, "unknown");
}

bool bmc_fault(const struct sim_bmc *b, const char *what, int64_t *value)
{
	return sim_machine_fault(b->m, "Request", what, value);
}

void bmc_reply(struct bmc_call *c, int status, json_t *j)
{
	char *text;

	if (!j) {
		httpd_reply(c->q, status, NULL, NULL, 0);
		return;
	}
	text = json_text(j);
	httpd_reply(c->q, status, "application/json; charset=utf-8", text, strlen(text));
	free(text);
	json_decref(j);
}

void bmc_reply_text(struct bmc_call *c, const char *content_type, const char *text)
{
	httpd_reply(c->q, 200, content_type, text, strlen(text));
}

/* Writes the ETag of the resource to out: a digest of the resource's JSON. Returns true if the ETag
 * fits into out. */
static bool bmc_etag(json_t *j, char out[static 32])
{
	uint8_t digest[CRYPTO_SHA256];
	char hex[17], *text = json_text_sorted(j);

	crypto_sha256(text, strlen(text), digest);
	free(text);
	str_hex(hex, digest, 8);
	return str_format(out, 32, "\"%s\"", hex);
}

void bmc_reply_allow(struct bmc_call *c)
{
	const struct bmc_route *r = c->route;
	char text[64] = "";

	str_format(text, sizeof(text), "%s%s%s%s", r->get ? "GET, HEAD" : "",
		   r->post ? r->get ? ", POST" : "POST" : "", r->patch ? ", PATCH" : "",
		   r->del ? ", DELETE" : "");
	httpd_reply_header(c->q, "Allow", text);
}

static void describe(struct bmc_call *c)
{
	char text[160];
	const char *type = c->route ? c->route->type : NULL,
		   *dot = type ? strrchr(type, '.') : NULL;

	if (!dot)
		return;
	str_format(text, sizeof(text),
		   "<http://redfish.dmtf.org/schemas/v1/%.*s.json>; rel=describedby",
		   (int)(dot - type), type);
	httpd_reply_header(c->q, "Link", text);
}

/* Computes the ETag of j. If the tree's ETag of the resource is weak, the computed one is weak too;
 * if the tree has none, returns NULL. */
static const char *tree_etag(struct bmc_call *c, json_t *j, char etag[static BMC_TAG])
{
	const char *was = json_str_at(j, "@odata.etag");
	char digest[20], *text;
	uint64_t sum = 14695981039346656037u; /* FNV-1a: enough to distinguish versions */

	if (str_empty(was))
		return NULL;
	text = json_text_sorted(j);
	for (const char *p = text; *p; p++)
		sum = (sum ^ (unsigned char)*p) * 1099511628211u;
	free(text);
	str_format(digest, sizeof(digest), "%016llx", (unsigned long long)sum);
	str_format(etag, BMC_TAG, "%s\"%s\"", str_starts(was, "W/") ? "W/" : "", digest);
	json_object_set_new(j, "@odata.etag", json_string(etag));
	if (c->late)
		json_object_update(j, c->late);
	return etag;
}

const char *bmc_envelope(struct bmc_call *c, json_t *j, char etag[static 32])
{
	char type[96];

	if (!c->route->type)
		return c->b->dialect ? tree_etag(c, j, etag) : NULL;
	json_object_set_new(j, "@odata.id", json_string(str_eq(c->path, V1) ? V1 "/" : c->path));
	str_format(type, sizeof(type), "#%s", c->route->type);
	json_object_set_new(j, "@odata.type", json_string(type));
	bmc_etag(j, etag);
	json_object_set_new(j, "@odata.etag", json_string(etag));
	if (c->late)
		json_object_update(j, c->late);
	return etag;
}

void bmc_reply_resource(struct bmc_call *c, json_t *j)
{
	const char *known = httpd_header(c->q, "If-None-Match");
	char text[32];
	const char *etag = bmc_envelope(c, j, text);

	bmc_reply_allow(c);
	describe(c);
	if (etag)
		httpd_reply_header(c->q, "ETag", etag);
	if (etag && str_eq(known, etag) && str_eq(httpd_method(c->q), "GET")) {
		json_decref(j);
		bmc_reply(c, 304, NULL);
		return;
	}
	bmc_reply(c, 200, j);
}

void bmc_reply_self(struct bmc_call *c)
{
	bmc_reply_resource(c, c->route->get(c));
}
