/*
 * bench_wipe: measures how the agent overwrites a drive. The reference is fio on the same file,
 * with the same bytes, piece size, depth, and flush at the end.
 *
 *   wipe_overwrite_ratio   bytes per second of erase_run_all(), including canaries, relative to
 *                          fio's
 *
 * Both take turns and the result is the median of the rounds, because disks of virtual machines are
 * noisy. Argument: size in MiB. The file is in build/, which must be on a disk that supports
 * O_DIRECT. Its blocks are allocated before the measurement.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/data/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "wipe/dio.h"
#include "wipe/erase.h"

#define ROUNDS 5
#define DIR "build/bench-wipe"
#define NAME "nvme0n1"
#define FIO_OUT DIR "/fio.json"
#define FIO "/usr/bin/fio"
#define MIB (1 << 20)

static double seconds(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static _Noreturn void die(const char *what)
{
	(void)fprintf(stderr, "bench_wipe: %s\n", what);
	exit(1);
}

/* Creates the file and writes every block, so that all are allocated before the measurement. */
static void make_file(int64_t bytes)
{
	int fd = open(DIR "/dev/" NAME, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	char *buf = dio_buffer(MIB);

	if (fd < 0 || ftruncate(fd, bytes) < 0)
		die("no file in " DIR);
	memset(buf, 0x5a, MIB);
	for (int64_t at = 0; at < bytes; at += MIB)
		if (pwrite(fd, buf, MIB, at) != MIB)
			die("cannot fill the file");
	if (fsync(fd) < 0)
		die("fsync");
	(void)close(fd);
	free(buf);
}

static double overwrite(int64_t bytes)
{
	struct host h = {
		.sys = DIR "/sys", .dev = DIR "/dev", .proc = "/proc", .files_are_drives = true};
	struct proto_drive d = {
		.path = "/dev/" NAME, .type = "File", .wwn = "bench", .bytes = bytes};
	struct secret *nonce = secret_from_str("a1a2a3a4a5a6a7a8a9a0a1a2a3a4a5a6");
	struct erase x;
	struct err e;
	double began, took;
	int rc;

	erase_init(&x, &h, &d, nonce, WIPE_CLEAR, 0);
	began = seconds();
	erase_run_all(&(struct erase *){&x}, 1, &rc, &e);
	if (rc < 0)
		die(e.text);
	took = seconds() - began;
	erase_done(&x);
	secret_free(nonce);
	return took;
}

/* Runs fio; returns the time that fio itself reports, without its start and end. The time includes
 * the flush: with buffered writes, job_runtime grows by the time of the flush (measured with fio
 * 3.33). */
static double fio(int64_t bytes)
{
	char size[64];
	const char *argv[] = {FIO,
			      "--name=overwrite",
			      "--filename=" DIR "/dev/" NAME,
			      size,
			      "--ioengine=io_uring",
			      "--direct=1",
			      "--rw=write",
			      "--zero_buffers",
			      "--bs=" ERR_STR(ERASE_PIECE_KIB) "k",
			      "--iodepth=" ERR_STR(ERASE_DEPTH),
			      "--fixedbufs",
			      "--end_fsync=1",
			      "--output-format=json",
			      "--output=" FIO_OUT,
			      NULL};
	static const char *const env[] = {"PATH=/usr/bin:/bin", NULL};
	char text[65536];
	struct err e;
	FILE *f;
	size_t n;
	pid_t pid;
	int status;

	(void)snprintf(size, sizeof(size), "--size=%lld", (long long)bytes);
	if (posix_spawn(&pid, FIO, NULL, NULL, (char *const *)argv, (char *const *)env) != 0 ||
	    waitpid(pid, &status, 0) != pid || status)
		die("fio failed; is the package fio there?");
	f = fopen(FIO_OUT, "re");
	if (!f)
		die("fio wrote nothing");
	n = fread(text, 1, sizeof(text), f);
	(void)fclose(f);
	OWN_JSON j = json_parse(text, n, &e);
	const json_t *job = json_array_get(json_object_get(j, "jobs"), 0);
	double ms = json_number_value(json_object_get(job, "job_runtime"));

	if (ms <= 0)
		die("fio's output is not understood");
	return ms / 1000;
}

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

int main(int argc, char **argv)
{
	int64_t bytes = (argc > 1 ? strtoll(argv[1], NULL, 10) : 1024) * MIB;
	double ours[ROUNDS], theirs[ROUNDS], ratio[ROUNDS];

	mem_init();
	if (bytes < 4 * MIB)
		die("usage: bench_wipe [MIB]");
	(void)mkdir(DIR, 0755);
	(void)mkdir(DIR "/dev", 0755);
	make_file(bytes);
	for (int i = 0; i < ROUNDS; i++) {
		if (i % 2) {
			theirs[i] = fio(bytes);
			ours[i] = overwrite(bytes);
		} else {
			ours[i] = overwrite(bytes);
			theirs[i] = fio(bytes);
		}
		ratio[i] = theirs[i] / ours[i];
		(void)fprintf(stderr, "bench_wipe: %.0f MB/s, fio %.0f MB/s\n",
			      (double)bytes / ours[i] / 1e6, (double)bytes / theirs[i] / 1e6);
	}
	(void)unlink(DIR "/dev/" NAME);
	qsort(theirs, ROUNDS, sizeof(*theirs), by_size);
	qsort(ratio, ROUNDS, sizeof(*ratio), by_size);
	printf("{\"name\":\"wipe_overwrite_ratio\",\"value\":%.3f,\"unit\":\"ratio\",\"goal\":0.9,"
	       "\"better\":\"higher\",\"reference\":{\"name\":\"fio, io_uring, %dk x %d, MB/s\","
	       "\"value\":%.0f},\"ratio\":%.3f,\"n\":%d}\n",
	       ratio[ROUNDS / 2], ERASE_PIECE_KIB, ERASE_DEPTH,
	       (double)bytes / theirs[ROUNDS / 2] / 1e6, ratio[ROUNDS / 2], ROUNDS);
	return 0;
}
