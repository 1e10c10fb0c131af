#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * str: small string helpers that libc lacks; times and durations as text.
 */
/* True if both strings are equal; NULL equals only NULL. */
bool str_eq(const char *a, const char *b);
/* True for NULL and "". */
bool str_empty(const char *s);
bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);
/* Returns s; `otherwise` if s is NULL or "". */
const char *str_or(const char *s, const char *otherwise);

/* str_copy() copies src, str_format() prints into dst; the result is always NUL-terminated. False:
 * the text was truncated. */
bool str_copy(char *dst, size_t size, const char *src);
bool str_format(char *dst, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* True if the whole text is a decimal number from min to max. */
bool str_to_i64(const char *s, int64_t min, int64_t max, int64_t *out);
/* Like str_to_i64(), but refuses leading zeros and "-0", as Kubernetes does when it compares
 * taints. */
bool str_to_canonical_i64(const char *s, int64_t *out);

/* RFC 3339 times. str_to_time() reads "2026-12-01T10:20:00Z", also with fraction and offset, to
 * Unix ms. str_time() writes UTC with seconds, str_time_micro() with microseconds (Kubernetes
 * MicroTime). */
bool str_to_time(const char *s, int64_t *unix_ms);
#define STR_TIME_SIZE 40
const char *str_time(char out[static STR_TIME_SIZE], int64_t unix_ms);
const char *str_time_micro(char out[static STR_TIME_SIZE], int64_t unix_ms);

/* Reads a Go duration ("1h30m", "250ms", "0s") to ms; false: not a duration. The caller must handle
 * "Never". */
bool str_to_duration(const char *s, int64_t *ms);
/* Writes a duration as "1h30m" or "250ms". */
const char *str_duration(char out[static STR_TIME_SIZE], int64_t ms);

/* True if s is a valid RFC 1123 label (63 characters) or subdomain (253), a Kubernetes label value,
 * or a qualified name (prefix/name). */
bool str_is_dns_label(const char *s);
bool str_is_dns_subdomain(const char *s);
bool str_is_label_value(const char *s);
bool str_is_qualified_name(const char *s);

/* Replaces every byte that is not valid UTF-8 by '?', for example a truncated sequence at the end.
 * For foreign text in JSON. */
void str_clean(char *s);
/* Replaces every byte that is not valid UTF-8, and control characters (C0, DEL, C1), by '?'. For
 * foreign text on a terminal. */
void str_printable(char *s);
/* Returns the code point at s (n > 0 bytes left) and its length in *used; -1 and length 1 for bytes
 * that are not UTF-8. */
int32_t str_utf8(const char *s, size_t n, size_t *used);

/* Writes n bytes as hex digits and a NUL: 2n + 1 bytes to out. */
void str_hex(char *out, const void *data, size_t n);
/* Decodes 2n hex digits to n bytes. False: hex is not exactly that; out is then unchanged. */
bool str_unhex(void *out, const char *hex, size_t n);

#endif
