/*
 * plant: writes data as a tenant leaves it behind, so that a test can look for it after the wipe.
 *
 *   /plant MARKER PLACE [MARKER PLACE ...]
 *
 * It writes PLANT_BYTES of lines of 64 bytes, with MARKER and a number, to each PLACE. A PLACE is a
 * file, or nvme:SERIAL, which means beginning, middle and end of the drive with this serial number.
 * Then it waits until it is stopped. It runs in a pod with the host's root directory at /host.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE 64
#define PLANT_BYTES (1 << 20)
#define DRIVES 16

static char bytes[PLANT_BYTES + 1];

static void on_stop(int signo)
{
	(void)signo;
	_exit(0);
}

static int put(int fd, off_t at)
{
	size_t done = 0;

	while (done < PLANT_BYTES) {
		ssize_t n = pwrite(fd, bytes + done, PLANT_BYTES - done, at + (off_t)done);
		if (n <= 0)
			return -1;
		done += (size_t)n;
	}
	return 0;
}

static int plant_drive(const char *serial)
{
	char path[64], found[64];
	off_t size;
	int fd;

	for (int i = 0; i < DRIVES; i++) {
		FILE *f;

		snprintf(path, sizeof(path), "/sys/class/nvme/nvme%d/serial", i);
		f = fopen(path, "r");
		if (!f)
			continue;
		if (!fgets(found, sizeof(found), f))
			found[0] = '\0';
		fclose(f);
		found[strcspn(found, " \n")] = '\0';
		if (strcmp(found, serial) != 0)
			continue;
		snprintf(path, sizeof(path), "/host/dev/nvme%dn1", i);
		fd = open(path, O_WRONLY);
		size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
		if (size < PLANT_BYTES || put(fd, 0) < 0 || put(fd, size / 2) < 0 ||
		    put(fd, size - PLANT_BYTES) < 0 || fsync(fd) < 0)
			return -1;
		return close(fd);
	}
	return -1;
}

static int plant_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || put(fd, 0) < 0 || fsync(fd) < 0)
		return -1;
	return close(fd);
}

int main(int argc, char **argv)
{
	const struct sigaction stop = {.sa_handler = on_stop};

	if (sigaction(SIGINT, &stop, 0) < 0 || sigaction(SIGTERM, &stop, 0) < 0)
		return 1;
	for (int i = 1; i + 1 < argc; i += 2) {
		const char *place = argv[i + 1];
		bool drive = strncmp(place, "nvme:", 5) == 0;

		for (int n = 0; n < PLANT_BYTES / LINE; n++)
			snprintf(bytes + n * LINE, LINE + 1, "%-54.54s %08d\n", argv[i], n);
		if ((drive ? plant_drive(place + 5) : plant_file(place)) < 0) {
			perror(place);
			return 1;
		}
	}
	for (;;)
		pause();
}
