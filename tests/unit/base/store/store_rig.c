#include "tests/unit/base/store/store_rig.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"

char *store_rig_folder(void)
{
	char *folder = mem_printf("%s/drover-store-XXXXXX", str_or(getenv("TMPDIR"), "/tmp"));

	if (!mkdtemp(folder)) {
		perror(folder);
		abort();
	}
	return folder;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

void store_rig_remove(char *folder)
{
	if (folder)
		nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	free(folder);
}
