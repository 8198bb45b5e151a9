import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

/** PATH without relative entries, which would find programs in the folder worked in, a plain locale, and no keys. */
export function plainEnvironment(): Record<string, string> {
  const env: Record<string, string> = { PATH: searchPath(), LC_ALL: "C.UTF-8" };
  for (const name of ["SystemRoot", "SystemDrive", "PATHEXT", "TEMP", "TMP"]) {
    const value = process.platform === "win32" ? process.env[name] : undefined;
    if (value !== undefined) env[name] = value;
  }
  return env;
}

/** The absolute path of a program on the PATH; undefined when it is not there. */
export function findProgram(name: string): string | undefined {
  for (const folder of searchPath().split(delimiter)) {
    const file = join(folder, process.platform === "win32" ? `${name}.exe` : name);
    if (folder !== "" && isProgram(file)) return file;
  }
  return undefined;
}

function searchPath(): string {
  const entries = (process.env["PATH"] ?? "").split(delimiter);
  return entries.filter((entry) => isAbsolute(entry)).join(delimiter);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
