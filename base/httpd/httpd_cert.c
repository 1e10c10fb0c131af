/*
 * httpd_cert: checks at intervals whether the CA has changed or the certificate is old, and reopens
 * the listener with a new certificate.
 *
 *   check -> due? -> issue -> close the old listener -> open the new one -> check ...
 *                      | refused: next check                | refused: old certificate, next check
 */
#include <stdlib.h>
#include <string.h>

#include "base/httpd/httpd_cert.h"
#include "base/crypto.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"

#define LOOK_MS 10000
#define AGAIN_MS 1000 /* Retry interval in ms while no listener is open. */
#define DAY_MS 86400000

struct httpd_cert {
	struct httpd *d;
	/* Copy of the caller's spec; its strings are copies too. */
	struct httpd_cert_spec spec;
	char *address;
	const char **names;
	size_t nnames;
	/* The open listener; NULL: reopening has failed so far. */
	struct httpd_mhd *listener;
	struct loop *loop;
	struct loop_timer timer;
	/* Certificate and CA in use. */
	char *cert_pem, *ca_pem;
	struct secret *key_pem, *ca_key;
	/* loop_now() at which the certificate was issued. */
	int64_t issued_at;
};

static int issue(struct httpd_cert *c, const char *ca_pem, const struct secret *ca_key,
		 struct err *e)
{
	struct secret *key = NULL;
	char *cert = NULL;

	if (crypto_cert_issue(&(struct crypto_cert_spec){.ca_pem = ca_pem,
							 .ca_key = ca_key,
							 .cn = "drover",
							 .names = c->names,
							 .wall_ms = loop_wall(c->loop),
							 .days = c->spec.days},
			      &cert, &key, e) < 0)
		return -1;
	free(c->cert_pem);
	free(c->ca_pem);
	secret_free(c->key_pem);
	secret_free(c->ca_key);
	c->cert_pem = cert;
	c->key_pem = key;
	c->ca_pem = mem_strdup(ca_pem);
	c->ca_key = secret_copy(ca_key);
	c->issued_at = loop_now(c->loop);
	return 0;
}

static int open_listener(struct httpd_cert *c, struct err *e)
{
	struct httpd_mhd_spec s = c->spec.listener;
	const char *colon = strrchr(c->address, ':');
	char address[128];
	unsigned port = c->listener ? httpd_mhd_port(c->listener) : 0;

	if (port && colon) {
		/* The caller asked for any free port: replace port 0 by the port that was assigned,
		 * so that the listener is always reopened on it. */
		str_format(address, sizeof(address), "%.*s:%u", (int)(colon - c->address),
			   c->address, port);
		free(c->address);
		c->address = mem_strdup(address);
	}
	httpd_mhd_free(c->listener);
	s.address = c->address;
	s.cert_pem = c->cert_pem;
	s.key_pem = c->key_pem;
	c->listener = httpd_mhd_new(c->d, &s, e);
	return c->listener ? 0 : -1;
}

static bool is_due(const struct httpd_cert *c, const char *ca_pem, const struct secret *ca_key)
{
	int64_t most = c->spec.renew_ms ? c->spec.renew_ms : (int64_t)c->spec.days * DAY_MS / 3 * 2;

	return loop_now(c->loop) - c->issued_at >= most || !str_eq(ca_pem, c->ca_pem) ||
	       !secret_equal(ca_key, c->ca_key);
}

static void on_look(void *arg)
{
	struct httpd_cert *c = arg;
	const struct secret *ca_key = NULL;
	const char *ca_pem = NULL;
	bool due = c->spec.ca(c->spec.arg, &ca_pem, &ca_key) && is_due(c, ca_pem, ca_key);
	struct err e;

	if (due && issue(c, ca_pem, ca_key, &e) < 0) {
		log_error("no new certificate: the CA cannot issue one",
			  LOG_S("listener", c->address), LOG_E(&e));
		due = false;
	}
	if (due)
		log_info("new certificate", LOG_S("listener", c->address));
	if ((due || !c->listener) && open_listener(c, &e) < 0)
		log_error("listener cannot be opened again", LOG_S("listener", c->address),
			  LOG_E(&e));
	loop_timer_start(&c->timer, !c->listener      ? AGAIN_MS
				    : c->spec.look_ms ? c->spec.look_ms
						      : LOOK_MS);
}

struct httpd_cert *httpd_cert_new(struct httpd *d, const struct httpd_cert_spec *s, struct err *e)
{
	struct httpd_cert *c = mem_new(struct httpd_cert);
	const struct secret *ca_key = NULL;
	const char *ca_pem = NULL;

	c->d = d;
	c->spec = *s;
	c->address = mem_strdup(s->listener.address);
	while (s->names[c->nnames])
		c->nnames++;
	c->names = mem_calloc(c->nnames + 1, sizeof(*c->names));
	for (size_t i = 0; i < c->nnames; i++)
		c->names[i] = mem_strdup(s->names[i]);
	c->loop = loop_of(httpd_group(d));
	loop_timer_init(&c->timer, httpd_group(d), on_look, c);
	if (!s->ca(s->arg, &ca_pem, &ca_key)) {
		err_note(e, ERR_UNAVAILABLE, 0, "there is no CA");
	} else if (issue(c, ca_pem, ca_key, e) == 0 && open_listener(c, e) == 0) {
		loop_timer_start(&c->timer, c->spec.look_ms ? c->spec.look_ms : LOOK_MS);
		return c;
	}
	httpd_cert_free(c);
	return NULL;
}

void httpd_cert_free(struct httpd_cert *c)
{
	if (!c)
		return;
	loop_timer_stop(&c->timer);
	httpd_mhd_free(c->listener);
	for (size_t i = 0; i < c->nnames; i++)
		free((char *)c->names[i]);
	free(c->names);
	free(c->address);
	free(c->cert_pem);
	free(c->ca_pem);
	secret_free(c->key_pem);
	secret_free(c->ca_key);
	free(c);
}
