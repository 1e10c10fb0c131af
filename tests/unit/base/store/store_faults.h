#ifndef TESTS_UNIT_BASE_STORE_STORE_FAULTS_H
#define TESTS_UNIT_BASE_STORE_STORE_FAULTS_H

/*
 * store_faults: a disk that fails, as SQLite sees it: every database that is opened after
 * store_faults_install() goes through it.  Counted are the calls that change the disk: write, sync,
 * truncate, delete.
 */
void store_faults_install(void);
/* The nth such call from now on (1: the next) and all after it fail with this code of SQLite
 * (SQLITE_FULL, SQLITE_IOERR_WRITE...); 0: none. */
void store_faults_set(unsigned nth, int code);
/* Did it? */
int store_faults_happened(void);
/* The power goes: of every file that is there, what was not synced since store_faults_forget() is
 * undone.  All of them closed. */
void store_faults_forget(void);
void store_faults_lose_unsynced(void);
/* Syncs so far. */
unsigned store_faults_syncs(void);

#endif
