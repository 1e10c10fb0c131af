#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * str: small string functions that libc lacks; times and durations as text.
 */
/* True if both strings are equal; NULL equals only NULL. */
bool str_eq(const char *a, const char *b);
/* True if s equals one of names, an array that ends with NULL. */
bool str_among(const char *s, const char *const *names);
/* True for NULL and "". */
bool str_empty(const char *s);
bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);
/* Returns s; returns `otherwise` if s is NULL or "". */
const char *str_or(const char *s, const char *otherwise);

/* str_copy() copies src to dst, str_format() prints to dst as printf() does. The text in dst is
 * always NUL-terminated. False: the text was truncated. */
bool str_copy(char *dst, size_t size, const char *src);
bool str_format(char *dst, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* True if the whole text is a decimal number from min to max. */
bool str_to_i64(const char *s, int64_t min, int64_t max, int64_t *out);
/* Like str_to_i64(), but refuses leading zeros and "-0", as Kubernetes does when it compares
 * taints. */
bool str_to_canonical_i64(const char *s, int64_t *out);

/* Functions for RFC 3339 times. str_to_time() parses "2026-12-01T10:20:00Z", also with fraction and
 * offset from UTC, into Unix ms. str_time() writes the time in UTC with seconds, str_time_micro()
 * with microseconds (Kubernetes MicroTime). */
bool str_to_time(const char *s, int64_t *unix_ms);
#define STR_TIME_SIZE 40
const char *str_time(char out[static STR_TIME_SIZE], int64_t unix_ms);
const char *str_time_micro(char out[static STR_TIME_SIZE], int64_t unix_ms);

/* Parses a Go duration ("1h30m", "250ms", "0s") into ms; false: not a duration. "Never" is not a
 * duration: the caller must handle it. */
bool str_to_duration(const char *s, int64_t *ms);
/* Writes a duration as "1h30m" or "250ms". */
const char *str_duration(char out[static STR_TIME_SIZE], int64_t ms);

/* The functions return true if s is a valid RFC 1123 label (at most 63 characters), RFC 1123
 * subdomain (at most 253), Kubernetes label value, or qualified name (prefix/name). */
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
/* Returns the code point at s, of which n > 0 bytes are left; *used: number of its bytes. Returns
 * -1 with *used 1 if the bytes are not UTF-8. */
int32_t str_utf8(const char *s, size_t n, size_t *used);

/* Writes n bytes as hex digits and a NUL; out must have room for 2n + 1 bytes. */
void str_hex(char *out, const void *data, size_t n);
/* Decodes 2n hex digits to n bytes. False: hex is not exactly 2n hex digits; out is then
 * unchanged. */
bool str_unhex(void *out, const char *hex, size_t n);

#endif
