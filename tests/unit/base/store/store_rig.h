#ifndef TESTS_UNIT_BASE_STORE_STORE_RIG_H
#define TESTS_UNIT_BASE_STORE_STORE_RIG_H

/* A new folder under $TMPDIR or /tmp; removed, and freed, with all that is in it (NULL:
 * nothing). */
char *store_rig_folder(void);
void store_rig_remove(char *folder);

#endif
