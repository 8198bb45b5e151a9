import { readFileSync } from "node:fs";
import { isRecord } from "../kernel/value-kind.ts";

/** The most folders between a file of this package and its manifest: the sources are nearer to it than what is built. */
const DEEPEST = 5;

interface OwnPackage {
  /** The address of its folder, with a slash at the end. */
  readonly folder: string;
  readonly version: string;
}

function ownPackage(): OwnPackage | undefined {
  for (let up = 1; up <= DEEPEST; up += 1) {
    const folder = new URL("../".repeat(up), import.meta.url);
    try {
      const manifest: unknown = JSON.parse(readFileSync(new URL("package.json", folder), "utf8"));
      if (isRecord(manifest) && manifest["name"] === "troupe" && typeof manifest["version"] === "string")
        return { folder: folder.href, version: manifest["version"] };
    } catch {
      // The manifest is at another place.
    }
  }
  return undefined;
}

/** Returns the version in the manifest of this package; "unknown" where it is not found. */
export function ownVersion(): string {
  return ownPackage()?.version ?? "unknown";
}

/** Returns the addresses of the folders with the code of this package. */
export function ownFolders(): readonly string[] {
  const { folder } = ownPackage() ?? {};
  return folder === undefined ? [] : ["src/", "dist/src/", "dist/chunks/"].map((part) => `${folder}${part}`);
}
