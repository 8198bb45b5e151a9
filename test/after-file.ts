const ends: (() => unknown)[] = [];

/**
 * Registers what a helper module puts away after each test file. Test files share the modules of their worker, so `afterAll` in a helper
 * would run after the first file alone.
 */
export function afterEachFile(end: () => unknown): void {
  ends.push(end);
}

/** Runs what was registered. Called by the setup of every test file. */
export async function endFile(): Promise<void> {
  for (const end of ends) await end();
}
