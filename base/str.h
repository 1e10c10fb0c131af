#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * str: small string helpers that libc lacks, times and durations as text.
 */
/* NULL equals only NULL */
bool str_eq(const char *a, const char *b);
/* NULL or "" */
bool str_empty(const char *s);
bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);
/* otherwise if NULL or "" */
const char *str_or(const char *s, const char *otherwise);

/* Copy, always terminated; false if it was cut. */
bool str_copy(char *dst, size_t size, const char *src);
bool str_format(char *dst, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Whole text is a decimal number in range. */
bool str_to_i64(const char *s, int64_t min, int64_t max, int64_t *out);
/* Like str_to_i64(), but refuses leading zeros and "-0", as Kubernetes does in taints that are
 * compared. */
bool str_to_canonical_i64(const char *s, int64_t *out);

/* RFC 3339: parse "2026-12-01T10:20:00Z", with fraction and offset, to Unix milliseconds;
 * format in UTC with seconds, or with microseconds (Kubernetes MicroTime). */
bool str_to_time(const char *s, int64_t *unix_ms);
#define STR_TIME_SIZE 40
const char *str_time(char out[static STR_TIME_SIZE], int64_t unix_ms);
const char *str_time_micro(char out[static STR_TIME_SIZE], int64_t unix_ms);

/* Go durations ("1h30m", "250ms", "0s"; "Never" is the caller's business) to milliseconds. */
bool str_to_duration(const char *s, int64_t *ms);
/* "1h30m", "250ms" */
const char *str_duration(char out[static STR_TIME_SIZE], int64_t ms);

/* RFC 1123 label (63) and subdomain (253), Kubernetes label value, qualified name (prefix/name). */
bool str_is_dns_label(const char *s);
bool str_is_dns_subdomain(const char *s);
bool str_is_label_value(const char *s);
bool str_is_qualified_name(const char *s);

/* Every byte that is no valid UTF-8, a sequence cut at the end among them, becomes '?': for
 * foreign text that goes into JSON. */
void str_clean(char *s);
/* The same, and no control character is left (C0, DEL, C1): for foreign text that reaches a
 * terminal. */
void str_printable(char *s);
/* The code point at s (n > 0 bytes left) and its length; -1 and 1 for what is not UTF-8. */
int32_t str_utf8(const char *s, size_t n, size_t *used);

/* 2n + 1 bytes */
void str_hex(char *out, const void *data, size_t n);
/* exactly n bytes */
bool str_unhex(void *out, const char *hex, size_t n);

#endif
