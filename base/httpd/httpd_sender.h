#ifndef BASE_HTTPD_HTTPD_SENDER_H
#define BASE_HTTPD_HTTPD_SENDER_H

#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * httpd_sender: sends the TLS records of one connection to its socket.
 *
 * libmicrohttpd sends headers and body of a reply as two TLS records, each with a system call, and
 * each may wake the client. httpd_sender_hold() delays the record of the headers until the record
 * of the body, so that one system call sends both.
 *
 * Used on the loop's thread. Embedded in the state of the connection, whose end ends it too.
 */
struct httpd_sender {
	int fd;
	/* True: the next record is held back. */
	bool hold;
	/* Bytes that are held back; NULL: none. */
	char *held;
	size_t len;
};

/* Makes s send what the session sends; fd: the connection's socket, which s does not own. */
void httpd_sender_init(struct httpd_sender *s, gnutls_session_t session, int fd);
/* Frees s; bytes that are held back are not sent. */
void httpd_sender_done(struct httpd_sender *s);

/* Holds back the next record until another one follows. The caller must know that another record
 * follows at once. */
void httpd_sender_hold(struct httpd_sender *s);

/* Sends what the session passes (gnutls_vec_push_func); ptr: the struct httpd_sender. Returns the
 * number of bytes that the session need not pass again; -1 with errno: none. */
ssize_t httpd_sender_push(gnutls_transport_ptr_t ptr, const giovec_t *v, int n);

#endif
