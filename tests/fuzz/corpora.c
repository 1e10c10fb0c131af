/*
 * corpora: runs one fuzz target on its corpus, without a fuzzing engine.
 *
 * The Makefile links every target into this one program, under the name of its file, and makes one
 * symbolic link to the program for each target. The name of the link selects the target: fuzz_str
 * runs on the files of tests/fuzz/corpus/str, in the order of their names.
 *
 * The target gets the empty input and each file. It also gets at most CUTS beginnings of each file,
 * and at most FLIPS copies of each file with one bit flipped. Positions depend only on the size of
 * the file, so every run has the same inputs. Some targets also run on copies of the first GROWN
 * files, in which very many small values are inserted behind the first '[' or '>'. The output has
 * the form of CMocka, which tests/tools/run-tests reads. Each input is a case, which is named
 * before it runs, so a crash or a hang names its file.
 *
 * Under AddressSanitizer, an input fails if it makes the target allocate more than MOST_BYTES at
 * once, beside the input itself.
 */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/mem.h"

#define FOLDER "tests/fuzz/corpus"
#define PREFIX "fuzz_"
#define MAX_BYTES ((size_t)1 << 20) /* Largest size of a corpus file */
#define CUTS 16
#define FLIPS 32
#define GROWN 3
#define GROWN_VALUES 2000000
#define MOST_BYTES ((size_t)192 << 20)

#define TARGET(name) int name(const uint8_t *data, size_t size);
#include "targets.def"
#undef TARGET

static const struct target {
	const char *name;
	int (*run)(const uint8_t *data, size_t size);
} targets[] = {
#define TARGET(name_) {.name = #name_, .run = name_},
#include "targets.def"
#undef TARGET
};

/* Targets that parse one reply or file of another program, once. These also run on copies with
 * inserted values */
static const char *const grown[] = {"fuzz_bcm",	       "fuzz_domain", "fuzz_ec2",
				    "fuzz_evidence",   "fuzz_exact",  "fuzz_fields",
				    "fuzz_kubeconfig", "fuzz_netris", "fuzz_proto",
				    "fuzz_redfish",    "fuzz_yaml"};

/* Number of inputs that the target has processed */
static unsigned inputs;

/* --- memory ----------------------------------------------------------------------------------- */

/* Functions of AddressSanitizer (sanitizer/allocator_interface.h); NULL in a program that is built
 * without it. */
__attribute__((weak)) int __sanitizer_install_malloc_and_free_hooks(
	void (*on_malloc)(const volatile void *p, size_t size),
	void (*on_free)(const volatile void *p));
__attribute__((weak)) size_t __sanitizer_get_allocated_size(const volatile void *p);

static size_t allocated, peak;

static void on_malloc(const volatile void *p, size_t size)
{
	(void)p;
	allocated += size;
	peak = allocated > peak ? allocated : peak;
}

static void on_free(const volatile void *p)
{
	const size_t size = p ? __sanitizer_get_allocated_size(p) : 0;

	allocated -= size < allocated ? size : allocated;
}

/* --- one input -------------------------------------------------------------------------------- */

/* Returns the target of that name; NULL: no such target. */
static const struct target *target_find(const char *name)
{
	for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++)
		if (!strcmp(targets[i].name, name))
			return &targets[i];
	return NULL;
}

/* Runs the target on a copy of the first size bytes of data. The allocation has exactly this size,
 * so that AddressSanitizer reports a read beyond the input. what: name of the input. flip: index of
 * the byte in which one bit is flipped; negative: none. */
static void run(const struct target *t, const char *what, const char *data, size_t size,
		int64_t flip)
{
	uint8_t *copy = malloc(size);
	size_t before;

	if (size)
		memcpy(copy, data, size);
	if (flip >= 0)
		copy[flip] ^= (uint8_t)(1 << flip % 8);
	printf("[ RUN      ] %s\n", what);
	peak = allocated;
	before = allocated;
	t->run(copy, size);
	if (peak - before > MOST_BYTES + 8 * size) {
		printf("%s: %zu bytes were allocated at once\n", what, peak - before);
		exit(EXIT_FAILURE);
	}
	printf("[       OK ] %s\n", what);
	free(copy);
	inputs++;
}

/* Returns the distance between at most n positions that cover size bytes. The distance is odd, so
 * that position % 8, the number of the flipped bit, takes every value. */
static size_t stride(size_t size, size_t n)
{
	return (size + n - 1) / n | 1;
}

static void run_variations(const struct target *t, const char *name, const struct buf *file)
{
	char what[512];

	snprintf(what, sizeof(what), "%s: whole", name);
	run(t, what, file->data, file->len, -1);
	for (size_t at = 1; at < file->len; at += stride(file->len, CUTS)) {
		snprintf(what, sizeof(what), "%s: first_%zu_bytes", name, at);
		run(t, what, file->data, at, -1);
	}
	for (size_t at = 0; at < file->len; at += stride(file->len, FLIPS)) {
		snprintf(what, sizeof(what), "%s: byte_%zu_changed", name, at);
		run(t, what, file->data, file->len, (int64_t)at);
	}
}

/* Runs the target on a copy of the file, in which `value` is inserted GROWN_VALUES times behind the
 * first `mark`. */
static void run_grown(const struct target *t, const char *name, const struct buf *file,
		      const char *mark, const char *value)
{
	const char *at = memmem(file->data, file->len, mark, strlen(mark));
	const size_t before = at ? (size_t)(at - file->data) + strlen(mark) : 0;
	struct buf b;
	char what[512];

	if (!at)
		return;
	buf_init(&b, SIZE_MAX);
	buf_put(&b, file->data, before);
	for (size_t i = 0; i < GROWN_VALUES; i++)
		buf_puts(&b, value);
	buf_put(&b, file->data + before, file->len - before);
	snprintf(what, sizeof(what), "%s: grown_by_%s", name, value);
	run(t, what, b.data, b.len, -1);
	buf_done(&b);
}

static bool is_grown(const struct target *t)
{
	for (size_t i = 0; i < sizeof(grown) / sizeof(*grown); i++)
		if (!strcmp(t->name, grown[i]))
			return true;
	return false;
}

static bool read_file(const char *path, struct buf *out)
{
	FILE *f = fopen(path, "rb");
	char part[4096];
	size_t n;
	bool good = f != NULL;

	while (good && (n = fread(part, 1, sizeof(part), f)) > 0) {
		buf_put(out, part, n);
		good = !out->over;
	}
	good = good && !ferror(f);
	if (f)
		fclose(f);
	return good;
}

static bool run_file(const struct target *t, const char *folder, const char *name, bool grow)
{
	char *path = mem_printf("%s/%s", folder, name);
	struct buf file;
	bool good;

	buf_init(&file, MAX_BYTES);
	good = read_file(path, &file);
	if (good)
		run_variations(t, name, &file);
	if (good && grow) {
		run_grown(t, name, &file, "[", "{},");
		run_grown(t, name, &file, ">", "<x/>");
	}
	if (!good)
		printf("fuzz target %s: %s cannot be read, or has more than %zu bytes\n", t->name,
		       path, MAX_BYTES);
	buf_done(&file);
	free(path);
	return good;
}

static int is_visible(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

static bool run_corpus(const struct target *t)
{
	char *folder = mem_printf("%s/%s", FOLDER, t->name + strlen(PREFIX));
	struct dirent **files = NULL;
	int n = scandir(folder, &files, is_visible, alphasort);
	bool good = n > 0;

	if (good)
		run(t, "empty", "", 0, -1);
	else
		printf("fuzz target %s: no corpus in %s: %s\n", t->name, folder,
		       n < 0 ? strerror(errno) : "no file");
	for (int i = 0; i < n; i++) {
		good = good && run_file(t, folder, files[i]->d_name, i < GROWN && is_grown(t));
		free(files[i]);
	}
	free(files);
	free(folder);
	if (good)
		printf("%u inputs from %d file%s\n", inputs, n, n == 1 ? "" : "s");
	return good;
}

int main(void)
{
	const struct target *t = target_find(program_invocation_short_name);

	if (__sanitizer_install_malloc_and_free_hooks)
		(void)__sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
	/* Line buffering, because a sanitizer ends the program without flushing stdout. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!t) {
		printf("%s: not the name of a fuzz target\n", program_invocation_short_name);
		return EXIT_FAILURE;
	}
	return run_corpus(t) ? EXIT_SUCCESS : EXIT_FAILURE;
}
