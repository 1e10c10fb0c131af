#ifndef TESTS_UNIT_BASE_STORE_STORE_FAULTS_H
#define TESTS_UNIT_BASE_STORE_STORE_FAULTS_H

/*
 * store_faults: a failing disk for SQLite. Every database opened after store_faults_install() uses
 * it. The calls that change the disk are counted: write, sync, truncate, delete.
 */
void store_faults_install(void);
/* Lets the nth counted call from now on (1: the next) and all later ones fail with this SQLite code
 * (SQLITE_FULL, SQLITE_IOERR_WRITE...); 0: no failure. */
void store_faults_set(unsigned nth, int code);
/* Returns nonzero if the failure occurred. */
int store_faults_happened(void);
/* store_faults_lose_unsynced() simulates a power cut: in every existing file it undoes what was not
 * synced since store_faults_forget(). All files must be closed. */
void store_faults_forget(void);
void store_faults_lose_unsynced(void);
/* Returns the number of syncs so far. */
unsigned store_faults_syncs(void);

#endif
