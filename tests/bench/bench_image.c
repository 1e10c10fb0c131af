/*
 * bench_image: writes an OS image (raw+zstd), which comes over HTTP from another process, to a
 * drive. Each of the possible limits is measured alone as well: the network (the same bytes from
 * the same server, discarded), the disk (fio writes the unpacked bytes with a flush; its
 * job_runtime includes end_fsync), and the processors (the same bytes in memory are hashed and
 * unpacked without being stored, by as many threads as there are processors, each of them all of
 * the image; the time is divided by their number).
 *
 *   image_write_ratio        the writer's rate relative to the slower of network and disk
 *   image_write_dense_ratio  the same ratio for an image without runs of zeros
 *   image_write_bound, image_write_dense_bound
 *                            these ratios, if no processor had been idle during the write: the
 *                            writer as it is reaches no more on the computer's processors
 *
 * The image is half zeros, and half bytes that compress to about a half, as in OS images, in frames
 * as pzstd makes them. Zeros are written with the zero operation, as on a drive with Write Zeroes;
 * fio writes them all, so that the first ratio can exceed 1. The file is filled again before each
 * measurement, so that all start from the same state.
 *
 * Each write of the image is between two measurements of the disk, because a virtual disk's rate
 * may change by a factor of five from one second to the next. The ratio of two neighbours would
 * then mostly show that change, so the ratio is that of the medians over all rounds. Each entry
 * also has the median of each limit (`limits`, in MB/s unpacked) and names the lowest. Two members
 * tell whether the run is reliable, and a third what the limit is:
 *
 *   disk_spread        the disk's highest rate divided by its lowest; above 2, repeat the run
 *   processors_share   the part of the processors' time that this program got when it asked for all
 *                      of it. Below 0.9, other programs compute: the writer needs processors, fio
 *                      needs almost none, so both ratios to the disk are too low
 *   processors_busy    the part of the processors' time in which they were not idle during the
 *                      write, for the writer, the server, the disk or other programs. Near 1, the
 *                      processors are the limit
 *
 * Argument: size in MiB.
 *
 * The server, unpacking, hashing and the disk's interrupts share the computer's processors. With
 * two processors and a fast disk, the processors are the limit.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>
#include "base/crypto.h"
#include "base/http/http_curl.h"
#include "base/data/json.h"
#include "base/loop/loop_uv.h"
#include "base/mem.h"
#include "base/str.h"
#include "wipe/dio.h"
#include "wipe/gpt.h"
#include "wipe/writer.h"

#define ROUNDS 7
#define DIR "build/bench-image"
#define NAME "nvme0n1"
#define FIO_OUT DIR "/fio.json"
#define FIO "/usr/bin/fio"
#define MIB (1 << 20)
#define FRAME (8 * MIB)	 /* Size of the frames that pzstd makes */
#define SLACK (16 * MIB) /* Space on the drive beyond the image */

static struct image {
	size_t bytes, packed_bytes;
	char *packed;
	char digest[CRYPTO_DIGEST_TEXT];
} image;

static double seconds(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double cpu_seconds(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static _Noreturn void die(const char *what)
{
	(void)fprintf(stderr, "bench_image: %s\n", what);
	exit(1);
}

/* --- the image -------------------------------------------------------------------------------- */

static void put(uint8_t *p, size_t n, uint64_t v)
{
	for (size_t i = 0; i < n; i++, v >>= 8)
		p[i] = (uint8_t)v;
}

static void make_image(size_t bytes, bool dense)
{
	uint8_t *raw = mem_alloc(bytes), *tail = mem_alloc(GPT_HEAD), d[CRYPTO_SHA256];
	struct gpt g = {.block = 512,
			.blocks = (int64_t)bytes / 512,
			.first_usable = 34,
			.last_usable = (int64_t)bytes / 512 - 34};
	uint64_t x = 88172645463325252u;
	size_t cap = ZSTD_compressBound(bytes);

	/* Noise and zeros alternate in pieces of 8 MiB; in noise, every second word is random. */
	for (size_t i = MIB; i < bytes - MIB; i += 16)
		if (dense || i / (8 * MIB) % 2 == 0) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			memcpy(raw + i, &x, 8);
		}
	memcpy(g.header, "EFI PART\0\0\1\0\134\0\0\0", 16);
	put(g.header + 40, 8, 34);
	put(g.header + 72, 8, 2);
	put(g.header + 80, 4, 128);
	put(g.header + 84, 4, 128);
	g.entries[0] = g.entries[16] = 1;
	put(g.entries + 32, 8, 2048);
	put(g.entries + 40, 8, bytes / 512 - 2048);
	gpt_write(&g, raw, tail);
	image.bytes = bytes;
	image.packed_bytes = 0;
	image.packed = mem_alloc(cap);
	for (size_t at = 0; at < bytes; at += FRAME)
		image.packed_bytes +=
			ZSTD_compress(image.packed + image.packed_bytes, cap - image.packed_bytes,
				      raw + at, bytes - at < FRAME ? bytes - at : FRAME, 3);
	crypto_sha256(image.packed, image.packed_bytes, d);
	(void)crypto_digest_text(d, image.digest);
	free(raw);
	free(tail);
}

/* --- the server ------------------------------------------------------------------------------- */

/* Serves one file from memory with sendfile(), as a web server does. Its processor time is taken
 * from the processors that are measured; on a real network, the server is another computer. */
static void serve_one(int peer, int file)
{
	char request[4096], head[128];
	ssize_t got = read(peer, request, sizeof(request)); /* A GET arrives in one piece. */
	off_t at = 0;

	(void)snprintf(head, sizeof(head),
		       "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
		       image.packed_bytes);
	if (got <= 0 || write(peer, head, strlen(head)) < 0)
		return;
	while (at < (off_t)image.packed_bytes)
		if (sendfile(peer, file, &at, image.packed_bytes - (size_t)at) <= 0)
			return;
}

static _Noreturn void serve(int listener)
{
	int file = memfd_create("image", MFD_CLOEXEC);
	size_t at = 0;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)signal(SIGPIPE, SIG_IGN);
	while (at < image.packed_bytes) {
		ssize_t n = write(file, image.packed + at, image.packed_bytes - at);

		if (n <= 0)
			die("no memory for the image");
		at += (size_t)n;
	}
	for (;;) {
		int peer = accept(listener, NULL, NULL);

		serve_one(peer, file);
		(void)close(peer);
	}
}

static pid_t start_server(unsigned *port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(a);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	pid_t pid;

	if (listener < 0 || bind(listener, (struct sockaddr *)&a, len) < 0 ||
	    listen(listener, 4) < 0 || getsockname(listener, (struct sockaddr *)&a, &len) < 0 ||
	    (pid = fork()) < 0)
		die("no server");
	if (pid == 0)
		serve(listener);
	(void)close(listener);
	*port = ntohs(a.sin_port);
	return pid;
}

/* --- measurements ----------------------------------------------------------------------------- */

struct client {
	struct loop *loop;
	struct loop_group *group;
	struct http *http;
	bool ended;
};

static void client_init(struct client *c)
{
	memset(c, 0, sizeof(*c));
	c->loop = loop_uv_new();
	c->group = loop_group_new(c->loop, "client");
	c->http = http_new(c->group, http_curl_new(c->group, 4), 4);
}

static void client_done(struct client *c)
{
	http_free(c->http);
	loop_group_free(c->group);
	loop_free(c->loop);
}

static void on_written(const char *reason, const struct err *e, void *arg)
{
	struct client *c = arg;

	if (reason)
		die(e->text);
	c->ended = true;
	loop_stop(c->loop);
}

static double write_image(unsigned port)
{
	struct host h = {
		.sys = DIR "/sys", .dev = DIR "/dev", .proc = "/proc", .files_are_drives = true};
	struct proto_drive d = {.path = "/dev/" NAME,
				.type = "File",
				.wwn = "bench",
				.bytes = (int64_t)image.bytes + SLACK};
	char url[64];
	struct client c;
	struct writer *w;
	double began, took;

	client_init(&c);
	(void)snprintf(url, sizeof(url), "http://127.0.0.1:%u/image", port);
	began = seconds();
	w = writer_start(
		c.group, c.http,
		&(struct writer_spec){
			.host = &h, .drive = &d, .url = url, .digest = image.digest, .format = 1},
		on_written, &c);
	loop_run(c.loop);
	took = seconds() - began;
	writer_free(w);
	client_done(&c);
	return took;
}

static struct http_req *fetching;

static int on_data(const char *data, size_t len, void *arg, struct err *e)
{
	(void)data, (void)len, (void)arg, (void)e;
	return 0;
}

static void on_fetched(const struct http_reply *r, const struct err *e, void *arg)
{
	struct client *c = arg;

	if (e || r->status != 200)
		die("the image cannot be fetched");
	fetching = NULL;
	loop_stop(c->loop);
}

static double fetch(unsigned port)
{
	char base[64];
	struct client c;
	struct http_peer *p;
	struct err e;
	double began, took;

	client_init(&c);
	(void)snprintf(base, sizeof(base), "http://127.0.0.1:%u", port);
	p = http_peer_new(c.http, &(struct http_peer_spec){.base_url = base, .plain_ok = true}, &e);
	if (!p)
		die(e.text);
	began = seconds();
	fetching = http_start(p, &(struct http_call){.path = "/image",
						     .no_timeout = true,
						     .max_body = SIZE_MAX / 2,
						     .on_data = on_data,
						     .done = on_fetched,
						     .arg = &c});
	loop_run(c.loop);
	took = seconds() - began;
	http_peer_free(p);
	client_done(&c);
	return took;
}

static void *process_one(void *arg)
{
	ZSTD_DCtx *zd = ZSTD_createDCtx();
	size_t cap = 4 * MIB;
	void *out = mem_alloc(cap);
	ZSTD_inBuffer in = {image.packed, image.packed_bytes, 0};
	uint8_t digest[CRYPTO_SHA256];

	(void)arg;
	while (in.pos < in.size) {
		ZSTD_outBuffer o = {out, cap, 0};

		if (ZSTD_isError(ZSTD_decompressStream(zd, &o, &in)))
			die("zstd");
	}
	crypto_sha256(image.packed, image.packed_bytes, digest);
	ZSTD_freeDCtx(zd);
	free(out);
	return NULL;
}

/* Returns the time in which all processors together were not idle since the computer's start. */
static double busy_seconds(void)
{
	/* user, nice, system, idle, iowait, irq, softirq, steal */
	double t[8], busy = 0;
	FILE *f = fopen("/proc/stat", "re");

	if (!f || fscanf(f, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &t[0], &t[1], &t[2], &t[3],
			 &t[4], &t[5], &t[6], &t[7]) != 8)
		die("no /proc/stat");
	(void)fclose(f);
	for (int i = 0; i < 8; i++)
		busy += i == 3 || i == 4 ? 0 : t[i];
	return busy / (double)sysconf(_SC_CLK_TCK);
}

/* Returns the time that all processors together need for the image. *share: the part of their time
 * that this process got meanwhile. */
static double process(double *share)
{
	const long n = sysconf(_SC_NPROCESSORS_ONLN);
	const double cpu = cpu_seconds(), began = seconds();
	pthread_t *threads = mem_calloc((size_t)n, sizeof(*threads));
	double took;

	for (long i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, process_one, NULL) != 0)
			die("no thread");
	for (long i = 0; i < n; i++)
		(void)pthread_join(threads[i], NULL);
	free(threads);
	took = seconds() - began;
	*share = (cpu_seconds() - cpu) / took / (double)n;
	return took / (double)n;
}

static double fio(void)
{
	char size[64], text[65536];
	const char *argv[] = {FIO,
			      "--name=image",
			      "--filename=" DIR "/dev/" NAME,
			      size,
			      "--ioengine=io_uring",
			      "--direct=1",
			      "--rw=write",
			      "--bs=1m",
			      "--iodepth=16",
			      "--fixedbufs",
			      "--end_fsync=1",
			      "--output-format=json",
			      "--output=" FIO_OUT,
			      NULL};
	static const char *const env[] = {"PATH=/usr/bin:/bin", NULL};
	struct err e;
	FILE *f;
	size_t n;
	pid_t pid;
	int status;

	(void)snprintf(size, sizeof(size), "--size=%zu", image.bytes);
	if (posix_spawn(&pid, FIO, NULL, NULL, (char *const *)argv, (char *const *)env) != 0 ||
	    waitpid(pid, &status, 0) != pid || status)
		die("fio failed; is the package fio there?");
	f = fopen(FIO_OUT, "re");
	if (!f)
		die("fio wrote nothing");
	n = fread(text, 1, sizeof(text), f);
	(void)fclose(f);
	OWN_JSON j = json_parse(text, n, &e);
	double ms = json_number_value(
		json_object_get(json_array_get(json_object_get(j, "jobs"), 0), "job_runtime"));

	if (ms <= 0)
		die("fio's output is not understood");
	return ms / 1000;
}

/* --- result ----------------------------------------------------------------------------------- */

static void make_drive(void)
{
	int fd = open(DIR "/dev/" NAME, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	char *buf = dio_buffer(MIB);

	memset(buf, 0x5a, MIB);
	if (fd < 0 || ftruncate(fd, (off_t)image.bytes + SLACK) < 0)
		die("no file in " DIR);
	for (size_t at = 0; at < image.bytes + SLACK; at += MIB)
		if (pwrite(fd, buf, MIB, (off_t)at) != MIB)
			die("cannot fill the file");
	/* Removes the file from the page cache. fio does this before it starts its clock; without
	 * this call, the measured direct writes would do it. */
	if (fsync(fd) < 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0)
		die("fsync");
	(void)close(fd);
	free(buf);
}

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Sorts the n times and returns their median. */
static double median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_size);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* Medians of all rounds, in seconds. */
struct medians {
	double ours, network, processors, share, busy, disk;
	/* Longest time of the disk divided by the shortest. */
	double disk_spread;
};

static double rate(double took)
{
	return (double)image.bytes / took / 1e6;
}

/* `took`: seconds for the image. */
static void report(const char *name, double took, double goal, const struct medians *m)
{
	const double slowest = m->network > m->disk ? m->network : m->disk;
	const char *limit = m->network > m->disk ? "network" : "disk";

	printf("{\"name\":\"%s\",\"value\":%.3f,\"unit\":\"ratio\",\"goal\":%.1f,"
	       "\"better\":\"higher\",\"reference\":{\"name\":\"%s alone, MB/s unpacked\","
	       "\"value\":%.0f},\"ratio\":%.3f,\"n\":%d,\"limits\":{\"network\":%.0f,"
	       "\"processors\":%.0f,\"disk\":%.0f},\"disk_spread\":%.1f,"
	       "\"processors_share\":%.2f,\"processors_busy\":%.2f}\n",
	       name, slowest / took, goal, limit, rate(slowest), slowest / took, ROUNDS,
	       rate(m->network), rate(m->processors), rate(m->disk), m->disk_spread, m->share,
	       m->busy);
}

static double disk_alone(void)
{
	make_drive();
	return fio();
}

static struct medians rounds(unsigned port)
{
	double ours[ROUNDS], network[ROUNDS], processors[ROUNDS], share[ROUNDS], busy[ROUNDS],
		disk[ROUNDS + 1];
	const double n = (double)sysconf(_SC_NPROCESSORS_ONLN);
	struct medians m;

	disk[0] = disk_alone();
	for (int i = 0; i < ROUNDS; i++) {
		double cpu;

		make_drive();
		cpu = cpu_seconds();
		busy[i] = busy_seconds();
		ours[i] = write_image(port);
		busy[i] = (busy_seconds() - busy[i]) / ours[i] / n;
		cpu = cpu_seconds() - cpu;
		network[i] = fetch(port);
		processors[i] = process(&share[i]);
		disk[i + 1] = disk_alone();
		(void)fprintf(stderr,
			      "bench_image: %.2f s (%.2f of CPU); network %.2f, processors %.2f, "
			      "disk %.2f before and %.2f after\n",
			      ours[i], cpu, network[i], processors[i], disk[i], disk[i + 1]);
	}
	m = (struct medians){median(ours, ROUNDS),
			     median(network, ROUNDS),
			     median(processors, ROUNDS),
			     median(share, ROUNDS),
			     median(busy, ROUNDS),
			     median(disk, ROUNDS + 1),
			     0};
	m.disk_spread = disk[ROUNDS] / disk[0]; /* median() has sorted the times. */
	return m;
}

static void measure(size_t bytes, bool dense)
{
	const double goal = dense ? 0.7 : 0.9;
	struct medians m;
	unsigned port;
	pid_t server;

	make_image(bytes, dense);
	server = start_server(&port);
	m = rounds(port);
	(void)kill(server, SIGKILL);
	(void)waitpid(server, NULL, 0);
	(void)fprintf(stderr,
		      "bench_image: medians: %.2f s; network %.2f, processors %.2f, disk %.2f "
		      "(slowest %.1f times the fastest); %.0f %% of the processors to be had\n",
		      m.ours, m.network, m.processors, m.disk, m.disk_spread, 100 * m.share);
	report(dense ? "image_write_dense_ratio" : "image_write_ratio", m.ours, goal, &m);
	report(dense ? "image_write_dense_bound" : "image_write_bound", m.ours * m.busy, goal, &m);
	free(image.packed);
}

int main(int argc, char **argv)
{
	size_t bytes = (size_t)(argc > 1 ? strtoll(argv[1], NULL, 10) : 1024) * MIB;

	mem_init();
	setenv("UV_THREADPOOL_SIZE", "64", 0); /* As many threads as in the agent. */
	if (bytes < 16 * (size_t)MIB)
		die("usage: bench_image [MIB]");
	(void)mkdir(DIR, 0755);
	(void)mkdir(DIR "/dev", 0755);
	measure(bytes, false);
	measure(bytes, true);
	(void)unlink(DIR "/dev/" NAME);
	return 0;
}
