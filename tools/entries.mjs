// node tools/entries.mjs
// Imports every entry of the packed package as a user does who has installed no optional peer: with the compiler, strict and without skipLibCheck,
// and with Node. Needs no network.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { npm } from "./npm.mjs";
import { root } from "./root.mjs";

const COMPILER_OPTIONS = {
  ...{ target: "es2023", lib: ["es2024", "dom", "dom.iterable"], module: "nodenext", types: ["node"], noEmit: true },
  ...{ strict: true, skipLibCheck: false, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
};

const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** The names under which a program imports the entries. */
export const entries = Object.keys(manifest.exports)
  .filter((path) => path !== "./package.json")
  .map((path) => `${manifest.name}${path.slice(1)}`);

/** Writes a program that imports every entry. @returns its name */
export function writeProgram(project) {
  const imports = entries.map((entry, n) => `import * as m${n} from "${entry}";`);
  writeFileSync(
    join(project, "all.ts"),
    `${imports.join("\n")}\nexport const all: readonly object[] = [${entries.map((_, n) => `m${n}`).join(", ")}];\n`,
  );
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions: COMPILER_OPTIONS, files: ["all.ts"] }));
  writeFileSync(join(project, "all.mjs"), `for (const entry of ${JSON.stringify(entries)}) await import(entry);\n`);
}

function makeProject(project) {
  const packages = join(project, "node_modules");
  mkdirSync(join(packages, manifest.name), { recursive: true });
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "user", private: true, type: "module" }));
  const packed = npm(["pack", "--silent", "--ignore-scripts", "--pack-destination", project], { stdio: ["ignore", "pipe", "inherit"] });
  const tarball = join(project, packed.stdout.trim());
  const unpacked = spawnSync("tar", ["-xzf", tarball, "--strip-components=1", "-C", join(packages, manifest.name)], { stdio: "inherit" });
  if (packed.status !== 0 || unpacked.status !== 0) throw new Error("The package could not be packed and unpacked.");
  for (const name of [...Object.keys(manifest.dependencies), "zod", "@types/node"]) {
    mkdirSync(dirname(join(packages, name)), { recursive: true });
    symlinkSync(join(root, "node_modules", name), join(packages, name));
  }
  writeProgram(project);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const project = realpathSync(mkdtempSync(join(tmpdir(), "troupe-entries-")));
  try {
    makeProject(project);
    const options = { cwd: project, stdio: "inherit" };
    const compiled = spawnSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", "."], options);
    const run = spawnSync(process.execPath, ["all.mjs"], options);
    process.exitCode = compiled.status === 0 && run.status === 0 ? 0 : 1;
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
}
