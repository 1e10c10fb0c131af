#ifndef TESTS_UNIT_BASE_STORE_STORE_RIG_H
#define TESTS_UNIT_BASE_STORE_STORE_RIG_H

/* store_rig_folder() creates a new directory under $TMPDIR or /tmp. store_rig_remove() deletes it
 * with its content and frees the name; NULL is ignored. */
char *store_rig_folder(void);
void store_rig_remove(char *folder);

#endif
