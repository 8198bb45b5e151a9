import { pathToFileURL } from "node:url";
import { UsageError } from "../kernel/errors.ts";
import { systemCode } from "../kernel/system-error.ts";
import { clauseText, thrownText } from "../kernel/value-text.ts";
import { shown } from "./screen/text.ts";

/**
 * Imports a module of the user.
 *
 * @param what "a module with a crew"
 * @throws UsageError of the given code
 */
export async function importedModule(path: string, what: string, code: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await import(pathToFileURL(path).href)) as Readonly<Record<string, unknown>>;
  } catch (cause) {
    const isTypeScript = systemCode(cause) === "ERR_UNKNOWN_FILE_EXTENSION";
    const advice = isTypeScript
      ? ` This Node.js reads no TypeScript: use 22.18 or newer, or install tsx and set NODE_OPTIONS="--import tsx".`
      : "";
    const text = `Expected ${shown(path, 200)} to be ${what}, but it cannot be loaded: ${clauseText(shown(thrownText(cause), 300))}.${advice}`;
    throw new UsageError(code, text, { cause });
  }
}
