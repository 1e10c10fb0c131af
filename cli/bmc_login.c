#include "cli/bmc_login.h"

#include "base/crypto.h"
#include "base/str.h"
#include "controller/rules/machine.h"

static const void *read_object(struct cli_client *c, struct arena *a, enum object_kind_id kind,
			       const char *name, struct err *e)
{
	OWN_JSON o = cli_get(c, kind, name, e);
	void *out;

	if (!o || object_decode(&object_kinds[kind], o, a, &out, e) < 0)
		return NULL;
	return out;
}

int cli_bmc_read(struct cli_client *c, struct arena *a, const char *machine, struct cli_bmc *out,
		 struct err *e)
{
	*out = (struct cli_bmc){0};
	out->m = read_object(c, a, OBJECT_MACHINE, machine, e);
	out->p = out->m ? read_object(c, a, OBJECT_PROVIDER, out->m->spec.provider_ref.name, e)
			: NULL;
	return out->p ? 0 : -1;
}

/* Returns the decoded value of a key of a Secret, owned by the caller; NULL with *e. name: name of
 * the Secret, for the error. */
static struct secret *value_of(const json_t *secret, const char *name, const char *key,
			       struct err *e)
{
	const char *coded = json_str_at(secret, "data", key);

	if (coded)
		return cli_decoded(coded, e);
	err_note(e, ERR_NOT_FOUND, 0, "Secret %s has no key %s", name, key);
	return NULL;
}

static int read_ca(struct cli_client *c, const char *ns, struct cli_bmc *b, struct err *e)
{
	const struct object_secret_ref *ref = b->m->spec.bmc->tls.ca_secret_ref;
	OWN_JSON o = ref ? cli_secret(c, ns, ref->name, e) : NULL;

	if (!ref)
		return 0;
	b->ca = o ? value_of(o, ref->name, str_or(ref->key, "ca.crt"), e) : NULL;
	return b->ca ? 0 : err_wrap(e, "spec.bmc.tls.caSecretRef");
}

static int check_trust(const struct cli_bmc *b, struct err *e)
{
	char text[CRYPTO_DIGEST_TEXT] = "";
	uint8_t digest[CRYPTO_SHA256];
	const char *differs;

	if (b->ca) {
		crypto_sha256(secret_expose(b->ca), secret_len(b->ca), digest);
		crypto_digest_text(digest, text);
	}
	differs = machine_bmc_differs(b->m->spec.bmc, b->login, b->ca ? text : NULL,
				      b->m->status.trusted_bmc);
	/* mutant: console-untrusted probe-untrusted */
	if (!differs)
		return 0;
	return err_set(
		e, ERR_DENIED, 0,
		"%s differs from what was approved, so the password is not sent; to approve it: "
		"drover approve %s --bmc",
		differs, b->m->meta.name);
}

int cli_bmc_login(struct cli_client *c, const char *ns, struct cli_bmc *b, struct err *e)
{
	const struct object_secret_ref *ref;
	OWN_JSON o = NULL;

	if (!b->m->spec.bmc)
		return err_set(e, ERR_INVALID, 0, "the machine has no spec.bmc");
	ref = b->m->spec.bmc->credentials_secret_ref ? b->m->spec.bmc->credentials_secret_ref
						     : b->p->spec.credentials_secret_ref;
	if (!ref)
		return err_set(e, ERR_INVALID, 0,
			       "no Secret with the BMC's password is named: set "
			       "spec.bmc.credentialsSecretRef of the machine, or "
			       "spec.credentialsSecretRef of provider %s",
			       b->p->meta.name);
	b->login = ref->name;
	if (read_ca(c, ns, b, e) < 0 || check_trust(b, e) < 0)
		return -1;
	o = cli_secret(c, ns, b->login, e);
	if (!o)
		return err_wrap(
			e,
			"cannot read Secret %s in namespace %s, which contains the BMC password "
			"(your user needs the right to read this Secret)",
			b->login, ns);
	b->user = value_of(o, b->login, "username", e);
	b->password = b->user ? value_of(o, b->login, "password", e) : NULL;
	return b->password ? 0 : -1;
}

void cli_bmc_done(struct cli_bmc *b)
{
	secret_free(b->user);
	secret_free(b->password);
	secret_free(b->ca);
	*b = (struct cli_bmc){0};
}
