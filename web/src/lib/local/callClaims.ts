// Which calls this browser has begun with, so that no two of its pages make the same
// one: the one that writes it down first makes it.

const DATABASE_NAME = 'tenon-calls';
const STORE = 'begun';
/** Nobody asks about older ones. */
const RETENTION_MS = 60 * 60 * 1000;

/** A call is not held up by a database that another page keeps from opening. */
const OPEN_TIMEOUT_MS = 1_000;

let opened: Promise<IDBDatabase | undefined> | undefined;

/** Whether the call is this page's to make. */
export async function claimCall(callId: string): Promise<boolean> {
  opened ??= open();
  const database = await opened;
  // Where nothing can be written down, Tenon alone sees to it that a call is made once.
  if (!database) return true;
  return new Promise((resolve) => {
    try {
      const transaction = database.transaction(STORE, 'readwrite', { durability: 'relaxed' });
      const added = transaction.objectStore(STORE).add(Date.now(), callId);
      added.onsuccess = () => resolve(true);
      added.onerror = (event) => {
        event.preventDefault();
        resolve(added.error?.name !== 'ConstraintError');
      };
    } catch {
      resolve(true);
    }
  });
}

function open(): Promise<IDBDatabase | undefined> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(undefined), OPEN_TIMEOUT_MS);
    try {
      const opening = indexedDB.open(DATABASE_NAME, 1);
      opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
      opening.onsuccess = () => {
        const database = opening.result;
        const again = () => (opened = undefined);
        database.onclose = again;
        database.onversionchange = () => {
          database.close();
          again();
        };
        sweep(database);
        resolve(database);
        // The open may complete after the timeout.
        opened = Promise.resolve(database);
      };
      opening.onerror = () => resolve(undefined);
      opening.onblocked = () => resolve(undefined);
    } catch {
      resolve(undefined);
    }
  });
}

function sweep(database: IDBDatabase): void {
  const store = database.transaction(STORE, 'readwrite').objectStore(STORE);
  const cursor = store.openCursor();
  cursor.onsuccess = () => {
    const row = cursor.result;
    if (!row) return;
    if (Date.now() - Number(row.value) > RETENTION_MS) row.delete();
    row.continue();
  };
}
