import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, cpSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEachFile } from "../after-file.ts";
import { scratchFolder } from "./scratch.ts";

/** The user's own git: no configuration of the machine, so that the tests mean the same everywhere. */
export function git(root: string, ...args: readonly string[]): string {
  const env = { PATH: process.env["PATH"], GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null", HOME: "/nonexistent" };
  const settings = [
    "user.name=User",
    "user.email=user@example.test",
    "safe.directory=*",
    "init.defaultBranch=main",
    "protocol.file.allow=always",
  ];
  const given = settings.flatMap((setting) => ["-c", setting]);
  return execFileSync("git", [...given, "-C", root, ...args], { env, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trimEnd();
}

export function put(root: string, path: string, content: string | Buffer): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

/** The content of every path below a folder, as a hash or the target of a link, with its mode; without `.git` and `.troupe`. */
export function fingerprint(root: string): Record<string, string> {
  const found: Record<string, string> = {};
  const visit = (folder: string): void => {
    for (const name of readdirSync(join(root, folder))) {
      const path = folder === "" ? name : `${folder}/${name}`;
      if (path === ".git" || path === ".troupe") continue;
      const stats = lstatSync(join(root, path));
      if (stats.isDirectory()) visit(path);
      else
        found[path] =
          `${(stats.mode & 0o777).toString(8)} ${stats.isSymbolicLink() ? readlinkSync(join(root, path)) : hashOf(join(root, path))}`;
    }
  };
  visit("");
  return found;
}

function hashOf(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex").slice(0, 16);
}

/** Made once for each test file, by some thirty processes of git, and copied for each test. */
let made: string | undefined;
afterEachFile(() => (made = undefined));

/** A repository with everything committed that a user's project may hold: odd bytes, rights, links, a submodule, ignored files, a nested repository. */
export function userProject(): string {
  made ??= newProject();
  const root = scratchFolder();
  cpSync(made, root, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  return root;
}

function newProject(): string {
  const [root, module] = [scratchFolder(), scratchFolder()];
  git(module, "init", "--quiet");
  put(module, "lib.js", "export const lib = 1;\n");
  git(module, "add", ".");
  git(module, "commit", "--quiet", "-m", "lib");
  git(root, "init", "--quiet");
  put(root, "README.md", "# Project\n");
  put(root, "src/app.js", "export const app = 1;\n");
  put(root, "crlf.txt", "one\r\ntwo\r\n");
  put(root, "open-end.txt", "no final newline");
  put(root, "bom.txt", "\ufeffbyte order mark\n");
  put(root, "pic.png", Buffer.from([0x89, 0x50, 0, 255, 13, 10, 13]));
  put(root, "run.sh", "#!/bin/sh\necho run\n");
  chmodSync(join(root, "run.sh"), 0o755);
  symlinkSync("/etc/hostname", join(root, "outside"));
  symlinkSync("src/app.js", join(root, "inside"));
  put(root, ".gitignore", "build/\n*.secret\nnested/\n");
  git(root, "submodule", "--quiet", "add", module, "vendor/lib");
  git(root, "add", ".");
  git(root, "commit", "--quiet", "-m", "Begin");
  put(root, "build/out.js", "built");
  put(root, "keys.secret", "s3cret");
  put(root, "nested/own.txt", "another repository");
  git(join(root, "nested"), "init", "--quiet");
  return root;
}
