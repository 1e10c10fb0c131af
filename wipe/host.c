#include "wipe/host.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/nvme_ioctl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "base/mem.h"
#include "base/str.h"
#include "wipe/sat.h"
#include "wipe/scsi.h"

static int admin_ioctl(int fd, struct nvme_passthru_cmd *c)
{
	return ioctl(fd, NVME_IOCTL_ADMIN_CMD, c);
}

static int rescan_ioctl(int fd)
{
	return ioctl(fd, NVME_IOCTL_RESCAN);
}

const struct host host_real = {.sys = "/sys",
			       .dev = "/dev",
			       .proc = "/proc",
			       .nvme_admin = admin_ioctl,
			       .nvme_rescan = rescan_ioctl,
			       .ata = sat_command,
			       .scsi = scsi_command};

size_t host_bytes(void *out, size_t max, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n;

	if (fd < 0)
		return 0;
	while (len < max && (n = read(fd, (char *)out + len, max - len)) > 0)
		len += (size_t)n;
	close(fd);
	return len;
}

static bool format_path(char *out, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));

static bool format_path(char *out, const char *fmt, va_list ap)
{
	int n = vsnprintf(out, PATH_MAX, fmt, ap);

	return n > 0 && n < PATH_MAX;
}

const char *host_line(struct arena *a, const char *fmt, ...)
{
	char path[PATH_MAX], text[512];
	size_t len, from = 0;
	va_list ap;
	bool fits;

	va_start(ap, fmt);
	fits = format_path(path, fmt, ap);
	va_end(ap);
	if (!fits || !(len = host_bytes(text, sizeof(text) - 1, path)))
		return NULL;
	text[len] = '\0';
	len = strcspn(text, "\n");
	while (len && (unsigned char)text[len - 1] <= ' ')
		len--;
	while (from < len && (unsigned char)text[from] <= ' ')
		from++;
	return len > from ? arena_strndup(a, text + from, len - from) : NULL;
}

int64_t host_number(int64_t otherwise, const char *fmt, ...)
{
	char path[PATH_MAX], text[64];
	size_t len;
	int64_t n;
	va_list ap;
	bool fits;

	va_start(ap, fmt);
	fits = format_path(path, fmt, ap);
	va_end(ap);
	if (!fits || !(len = host_bytes(text, sizeof(text) - 1, path)))
		return otherwise;
	text[len] = '\0';
	text[strcspn(text, " \n")] = '\0';
	return str_to_i64(text, INT64_MIN, INT64_MAX, &n) ? n : otherwise;
}

static int by_name(const void *a, const void *b)
{
	return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

size_t host_names(struct arena *a, const char *path, const char ***names)
{
	DIR *d = opendir(path);
	const char **v = NULL;
	size_t n = 0, cap = 0;
	struct dirent *de;

	*names = NULL;
	if (!d)
		return 0;
	while ((de = readdir(d)))
		if (de->d_name[0] != '.') {
			mem_grow(v, n, cap);
			v[n++] = arena_strdup(a, de->d_name);
		}
	closedir(d);
	if (n) {
		qsort(v, n, sizeof(*v), by_name);
		*names = arena_calloc(a, n, sizeof(*v));
		memcpy(*names, v, n * sizeof(*v));
	}
	free(v);
	return n;
}

const char *host_link(struct arena *a, const char *fmt, ...)
{
	char path[PATH_MAX], to[PATH_MAX];
	va_list ap;
	bool fits;
	ssize_t n;

	va_start(ap, fmt);
	fits = format_path(path, fmt, ap);
	va_end(ap);
	if (!fits || (n = readlink(path, to, sizeof(to) - 1)) <= 0)
		return NULL;
	to[n] = '\0';
	return arena_strdup(a, strrchr(to, '/') ? strrchr(to, '/') + 1 : to);
}
