import { open, rm } from "node:fs/promises";
import { TroupeError, UsageError } from "../kernel/errors.ts";
import { shown } from "./screen/text.ts";

/** Characters that are written at once. */
const PIECE = 64 * 1024;

/** Writes a file that only its owner can read and that is not there yet. @returns how many lines @throws UsageError `EXPORT_UNWRITABLE` */
export async function writeNewFile(place: string, lines: AsyncIterable<string> | Iterable<string>): Promise<number> {
  const handle = await open(place, "wx", 0o600).catch((error: unknown) => {
    throw unwritable(place, error);
  });
  try {
    let count = 0;
    let waiting = "";
    for await (const line of lines) {
      waiting += `${line}\n`;
      count += 1;
      if (waiting.length < PIECE) continue;
      await handle.appendFile(waiting);
      waiting = "";
    }
    await handle.appendFile(waiting);
    await handle.close();
    return count;
  } catch (error) {
    await handle.close().catch(() => {});
    await rm(place, { force: true });
    throw TroupeError.isInstance(error) ? error : unwritable(place, error);
  }
}

function unwritable(place: string, error: unknown): UsageError {
  const { code, message } = error as NodeJS.ErrnoException;
  const reason = code === "EEXIST" ? "it is there already" : message;
  const text = `Expected to write the new file "${shown(place, 300)}", but ${shown(reason, 200)}. Choose another.`;
  return new UsageError("EXPORT_UNWRITABLE", text, { cause: error });
}
