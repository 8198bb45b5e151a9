import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import type { House } from "./laws.ts";

/** The checkout, with a closing slash. */
export const root: string = fileURLToPath(new URL("../../", import.meta.url));

/** One entry of `exports` in package.json that stands for a module. */
export interface EntryPoint {
  /** As a user writes it: `troupe/testing`. */
  readonly name: string;
  /** The path of its source from the top of the house, as the other two paths are. */
  readonly source: string;
  readonly types: string;
  readonly default: string;
}

/** package.json, as far as the tests ask about it. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly files: readonly string[];
  readonly bin: Readonly<Record<string, string>>;
  readonly engines: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string | Omit<EntryPoint, "name" | "source">>>;
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional?: boolean }>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

export const manifest: Manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Manifest;

export const entryPoints: readonly EntryPoint[] = Object.entries(manifest.exports).flatMap(([path, target]) =>
  typeof target === "string"
    ? []
    : [
        {
          name: `${manifest.name}${path.slice(1)}`,
          source: posix.normalize(target.default).replace(/^dist\/(.*)\.js$/, "$1.ts"),
          types: posix.normalize(target.types),
          default: posix.normalize(target.default),
        },
      ],
);

/** The text of every TypeScript file below the given folders. */
export function readHouse(folders: readonly string[]): House {
  const house = new Map<string, string>();
  for (const folder of folders)
    for (const path of [".ts", ".tsx"].flatMap((suffix) => filesBelow(folder, suffix)))
      house.set(path, readFileSync(join(root, path), "utf8"));
  return house;
}

/** Paths from the top of the house, sorted, without installed packages below it. */
export function filesBelow(folder: string, suffix: string): string[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(suffix))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length).replaceAll("\\", "/"))
    .filter((path) => folder.includes("node_modules") || !path.includes("/node_modules/"))
    .sort();
}
