/*
 * node_cert: how the kubelet gets its client certificate: TLS bootstrap, as kubeadm configures it.
 *
 *   key --bootstrap token--> CertificateSigningRequest --approved, signed--> system:node:NAME
 *
 * If the API server does not serve CertificateSigningRequests, or the request is not signed within
 * SIGN_MS, the bootstrap token itself is used. If the token is refused, the node begins again.
 *
 * The key is stored on the root drive before the request is sent, and the request's name is derived
 * from the key. So a node that lost power while it waited requests the same certificate again. A
 * certificate that does not belong to this key is not accepted.
 * Tests: tests/unit/sim/node/test_join.c
 */
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/pem.h"
#include "base/str.h"
#include "sim/machine/iso.h"
#include "sim/node/node_impl.h"

#define REQUESTS "/apis/certificates.k8s.io/v1/certificatesigningrequests"
#define SIGNER "kubernetes.io/kube-apiserver-client-kubelet"
/* Time in ms to wait for a signature. A real kubelet waits an hour; here the node falls back to the
 * bootstrap token sooner, so that this is visible in a demo. */
#define SIGN_MS 30000

/* --- credentials on the root drive ------------------------------------------------------------ */

static const char *const words[] = {
	[NODE_NO_IDENTITY] = "key", [NODE_TOKEN] = "token", [NODE_CERTIFICATE] = "certificate"};

static char *heading(const struct sim_node *n, enum node_who who)
{
	return mem_printf("sim kubelet of %s: %s\n", n->name, words[who]);
}

static int64_t pki_at(const struct drive *root)
{
	return sim_cidata_at(drive_bytes(root)) - NODE_PKI_BYTES;
}

static int save(struct sim_node *n, enum node_who who, struct err *e)
{
	struct drive *root = n->machine->drives[0];
	char *head = heading(n, who), *block = mem_calloc(NODE_PKI_BYTES, 1);
	bool fits = str_format(block, NODE_PKI_BYTES, "%s%s%s", head,
			       n->key ? secret_expose(n->key) : "", str_or(n->cert, ""));
	int rc = fits ? drive_write(root, block, NODE_PKI_BYTES, pki_at(root), e)
		      : err_set(e, ERR_INVALID, 0,
				"the certificate is too large for its place on "
				"the drive");

	secret_wipe(block, NODE_PKI_BYTES);
	free(block);
	free(head);
	return rc;
}

static void take(struct sim_node *n, enum node_who who, const char *text)
{
	struct err e;

	n->key = pem_key(text, strlen(text), &e);
	if (n->key && who == NODE_CERTIFICATE)
		n->cert = pem_certs(text, strlen(text), PEM_CERTS_MAX, &e);
	if (n->cert && pem_pair(n->cert, n->key, &e) < 0) {
		free(n->cert);
		n->cert = NULL;
	}
	n->who = who == NODE_CERTIFICATE && !n->cert ? NODE_NO_IDENTITY : who;
}

static void use_credentials(struct sim_node *n)
{
	const struct secret *kubelet = n->machine->site->kubelet_token;

	if (n->who == NODE_CERTIFICATE || (n->who == NODE_TOKEN && kubelet)) {
		secret_free(n->bearer);
		n->bearer = n->who == NODE_TOKEN ? secret_copy(kubelet) : NULL;
	}
}

void node_read_credentials(struct sim_node *n)
{
	static const enum node_who kept[] = {NODE_NO_IDENTITY, NODE_TOKEN, NODE_CERTIFICATE};
	struct drive *root = n->machine->drives[0];
	char *block = mem_calloc(NODE_PKI_BYTES + 1, 1);
	struct err e;

	if (drive_read(root, block, NODE_PKI_BYTES, pki_at(root), &e) < 0)
		sim_machine_say(n->machine, "kubelet: %s", e.text);
	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
		char *head = heading(n, kept[i]);

		if (str_starts(block, head))
			take(n, kept[i], block + strlen(head));
		free(head);
	}
	use_credentials(n);
	secret_wipe(block, NODE_PKI_BYTES);
	free(block);
}

void node_is_registered(struct sim_node *n)
{
	struct err e;

	if (n->who != NODE_BOOTSTRAP)
		return;
	n->who = NODE_TOKEN;
	if (save(n, n->who, &e) < 0)
		sim_machine_say(n->machine, "kubelet: %s", e.text);
	use_credentials(n);
}

void node_is_refused(struct sim_node *n)
{
	if (n->who == NODE_BOOTSTRAP)
		n->who = NODE_NO_IDENTITY;
}

/* --- the request ------------------------------------------------------------------------------ */

static void use_certificate(struct sim_node *n, const char *text)
{
	struct err e;
	size_t len;

	n->cert = crypto_base64_decode(text, strlen(text), &len, &e);
	if (n->cert && node_connect(n, &e) == 0 && save(n, NODE_CERTIFICATE, &e) == 0) {
		n->who = NODE_CERTIFICATE;
		use_credentials(n);
		return;
	}
	sim_machine_say(n->machine, "join: the certificate of %s: %s", n->request, e.text);
	free(n->cert);
	n->cert = NULL;
}

static bool has_condition(const json_t *request, const char *type)
{
	json_t *c;
	size_t i;

	json_array_foreach (json_at(request, "status", "conditions"), i, c)
		if (str_eq(json_str_at(c, "type"), type))
			return true;
	return false;
}

static void on_looked(struct sim_node *n, int status, const json_t *o, void *arg)
{
	const char *cert = json_str_at(o, "status", "certificate");

	(void)arg;
	if (status == 404)
		/* Creates the request again at the next step, because the cluster has deleted
		 * it. */
		n->requested = false;
	else if (has_condition(o, "Denied") || has_condition(o, "Failed"))
		sim_machine_say(n->machine, "join: %s: the cluster denied the certificate",
				n->request);
	else if (has_condition(o, "Approved") && !str_empty(cert))
		use_certificate(n, cert);
	else if (node_now(n) >= n->requested_at + SIGN_MS) {
		n->who = NODE_BOOTSTRAP;
		n->requested_at = node_now(n);
	} else {
		sim_machine_say(n->machine, "join: %s waits for its certificate", n->request);
	}
	n->identified(n);
}

static void on_requested(struct sim_node *n, int status, const json_t *o, void *arg)
{
	(void)o;
	(void)arg;
	if (status == 201 || status == 409) {
		n->requested = true;
		n->requested_at = node_now(n);
	} else if (status == 403 || status == 404) {
		n->who = NODE_BOOTSTRAP;
	}
	n->identified(n);
}

static json_t *request_json(struct sim_node *n, struct err *e)
{
	char *cn = mem_printf("system:node:%s", n->name), *pem, *text = NULL, hex[65];
	uint8_t spki[CRYPTO_SHA256];
	json_t *o = NULL;

	pem = crypto_csr(n->key, cn, "system:nodes", spki, e);
	free(cn);
	if (!pem)
		return NULL;
	str_hex(hex, spki, sizeof(spki));
	str_format(n->request, sizeof(n->request), "node-csr-%s", hex);
	text = crypto_base64(pem, strlen(pem));
	o = json_pack("{s:s, s:s, s:{s:s}, s:{s:s, s:s, s:[s, s]}}", "apiVersion",
		      "certificates.k8s.io/v1", "kind", "CertificateSigningRequest", "metadata",
		      "name", n->request, "spec", "request", text, "signerName", SIGNER, "usages",
		      "digital signature", "client auth");
	free(text);
	free(pem);
	return o;
}

static int make_key(struct sim_node *n, struct err *e)
{
	if (n->key)
		return 0;
	n->key = crypto_ec_key_new();
	if (save(n, NODE_NO_IDENTITY, e) == 0)
		return 0;
	secret_free(n->key);
	n->key = NULL;
	return -1;
}

void node_identify(struct sim_node *n, void (*done)(struct sim_node *n))
{
	json_t *request;
	struct err e;

	n->identified = done;
	if (n->requested) {
		char path[sizeof(REQUESTS) + sizeof(n->request)];

		str_format(path, sizeof(path), REQUESTS "/%s", n->request);
		node_ask(n, "GET", path, NULL, on_looked, NULL);
		return;
	}
	request = make_key(n, &e) < 0 ? NULL : request_json(n, &e);
	if (request) {
		node_ask(n, "POST", REQUESTS, request, on_requested, NULL);
		return;
	}
	sim_machine_say(n->machine, "join: %s", e.text);
	done(n);
}
