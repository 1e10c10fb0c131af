#ifndef BASE_REDACT_H
#define BASE_REDACT_H

#include <stddef.h>

/*
 * redact: strikes out of a text what would open something. Texts quote BMCs, API servers, agents
 * and programs, and those quote what they were given: the address of a boot medium, a bootstrap
 * token, a presigned URL.
 *
 *   more than 32 hex digits in a row	media tokens, boot secrets, digests of them; sha256:... is left
 *   hex digits after /boot/			the same, cut short
 *   the user of a URL, and its query	https://user:password@host, ?X-Amz-Signature=...
 *   abcdef.0123456789abcdef			bootstrap tokens: what is behind the dot
 *   eyJ...					JSON Web Tokens
 *
 * In any case, and in whatever an answer may make of it: %2F, %252F, \/, \u002f, &#x2f;, &#47;.
 * err_set() and err_wrap() call it, so that no error holds such a thing, wherever the text came in.
 * What is said of a Machine (controller/life/journal.c) passes it too.
 */
/* in place; each byte that goes becomes '*' */
void redact(char *text);

/* Returns the character that the text at s stands for, decoded, and the number of bytes that it
 * occupies. */
char redact_char(const char *s, size_t *used);

#endif
