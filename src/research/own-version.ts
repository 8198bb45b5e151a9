import { readFileSync } from "node:fs";
import { isRecord } from "../kernel/value-kind.ts";

/** The most folders between a file of this package and its manifest: the sources are nearer to it than what is built. */
const DEEPEST = 5;

/** Returns the version in the manifest of this package; "unknown" where it is not found. */
export function ownVersion(): string {
  for (let up = 1; up <= DEEPEST; up += 1) {
    try {
      const manifest: unknown = JSON.parse(readFileSync(new URL(`${"../".repeat(up)}package.json`, import.meta.url), "utf8"));
      if (isRecord(manifest) && manifest["name"] === "troupe" && typeof manifest["version"] === "string") return manifest["version"];
    } catch {
      // The manifest is at another place.
    }
  }
  return "unknown";
}
