import { UsageError } from "../kernel/errors.ts";

/** Loads a package that a program installs only when it needs it. @throws UsageError `PACKAGE_MISSING` */
export async function optionalPackage<T>(name: string, version: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    throw missingPackage(name, version, cause);
  }
}

export function missingPackage(name: string, version: string, cause: unknown): UsageError {
  return new UsageError(
    "PACKAGE_MISSING",
    `Expected the package "${name}" (${version}) beside this one, got none that can be loaded. Install it: npm install ${name}@${version}.`,
    { cause },
  );
}
