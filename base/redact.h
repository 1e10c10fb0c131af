#ifndef BASE_REDACT_H
#define BASE_REDACT_H

#include <stddef.h>

/*
 * redact: replaces credentials in a text. Texts quote BMCs, API servers, agents and programs, which
 * in turn quote what drover sent them: the address of a boot medium, a bootstrap token, a presigned
 * URL. These are replaced:
 *
 *   more than 32 hex digits in a row       tokens, boot secrets, digests; sha256:... stays
 *   hex digits after /boot/                boot secrets that were truncated
 *   the user and the query of a URL        https://user:password@host, ?X-Amz-Signature=...
 *   abcdef.0123456789abcdef                bootstrap tokens: the part behind the dot
 *   eyJ...                                 JSON Web Tokens
 *
 * Matches ignore case and also find encoded characters: %2F, %252F, \/, \u002f, &#x2f;, &#47;.
 * err_set() and err_wrap() call redact(), so no error contains such a secret, wherever its text
 * came from. Messages in the status of a Machine (controller/life/journal.c) pass through redact()
 * too.
 */
/* Replaces each byte of a credential in text by '*', in place. */
void redact(char *text);

/* Decodes the character at s, which may be encoded. Returns the character; *used: number of bytes
 * of its encoding. */
char redact_char(const char *s, size_t *used);

#endif
