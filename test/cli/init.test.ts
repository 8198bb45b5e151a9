import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { manifest, root } from "../architecture/read-house.ts";
import { titled } from "../titled.ts";
import { command, expectRefusal, freshFolder } from "./kept-run.ts";

const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();

async function made(cwd: string, words: readonly string[]) {
  const { code, stdout, stderr } = await command(cwd, ["init", ...words, "--json"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout) as {
    readonly name: string;
    readonly folder: string;
    readonly troupe: string;
    readonly files: readonly string[];
  };
}

/** Puts links where npm would put packages. */
function link(folder: string): void {
  for (const [name, target] of [
    ["troupe", root],
    ...["zod", "@types/node"].map((one) => [one, join(root, "node_modules", one)]),
  ] as const) {
    const path = join(folder, "node_modules", name ?? "");
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(target ?? "", path);
  }
}

const node = (cwd: string, words: readonly string[]): string => execFileSync(process.execPath, words, { cwd, encoding: "utf8" });

describe("troupe init", () => {
  it.each([
    ["TypeScript", [], 8, "dist"],
    ["JavaScript", ["--js"], 7, "src"],
  ] as const)("makes a project in %s that compiles, passes its test and runs without a key", async (_language, words, count, built) => {
    const cwd = freshFolder();
    const { name, folder, troupe, files } = await made(cwd, ["writers", ...words]);
    expect([name, folder]).toEqual(["writers", join(cwd, "writers")]);
    expect(files.toSorted()).toEqual(filesOf(folder));
    expect(files).toHaveLength(count);
    const project = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as typeof manifest;
    expect(project).toMatchObject({ name: "writers", dependencies: { troupe, zod: manifest.peerDependencies["zod"] } });
    expect(readFileSync(join(folder, ".gitignore"), "utf8")).toContain("node_modules/");
    expect(readFileSync(join(folder, "README.md"), "utf8")).toMatch(/^# writers\n/);
    link(folder);
    if (built === "dist") node(folder, [join(root, "node_modules/typescript/bin/tsc")]);
    const [, , test = ""] = /(node --test )(\S+)/.exec(project.scripts["test"] ?? "") ?? [];
    const [, start = ""] = /node (\S+)/.exec(project.scripts["start"] ?? "") ?? [];
    expect(node(folder, ["--test", test])).toContain("# pass 1\n");
    expect(node(folder, [start])).toMatch(/^Wim: .+\nEda: .+\nfinished after 2 rounds, answered by a script\n$/);
  });

  it("depends on the folder that it runs from, where that came from no registry", async () => {
    const { folder, troupe } = await made(freshFolder(), ["writers"]);
    expect(join(folder, troupe.replace(/^file:/, ""), "/")).toBe(root);
    expect(readFileSync(join(folder, ".npmrc"), "utf8")).toBe("install-links=true\n");
  });

  it("takes a name, and works in this folder among hidden files", async () => {
    const cwd = freshFolder();
    mkdirSync(join(cwd, ".git"));
    expect(await made(cwd, ["--name", "@me/writers"])).toMatchObject({ name: "@me/writers", folder: cwd });
  });

  it("refuses a folder with files, lists those that it would overwrite, and changes nothing", async () => {
    const cwd = freshFolder();
    mkdirSync(join(cwd, "mine/src"), { recursive: true });
    for (const path of ["README.md", "notes.txt", "src/team.ts"]) writeFileSync(join(cwd, "mine", path), "mine");
    const { stderr } = await expectRefusal(cwd, ["init", "mine"], /PROJECT_FOLDER_TAKEN|README\.md, src\/team\.ts would be overwritten/);
    expect(stderr).toContain("notes.txt");
    expect(filesOf(join(cwd, "mine"))).toEqual(["README.md", "notes.txt", "src/team.ts"]);
    writeFileSync(join(cwd, ".gitignore"), "mine");
    mkdirSync(join(cwd, "hidden"));
    writeFileSync(join(cwd, "hidden/.gitignore"), "mine");
    await expectRefusal(cwd, ["init", "hidden"], ".gitignore would be overwritten");
    expect(readFileSync(join(cwd, "hidden/.gitignore"), "utf8")).toBe("mine");
  });

  it("refuses a file in place of the folder, or of a folder above it, and no folder at all", async () => {
    const cwd = freshFolder();
    writeFileSync(join(cwd, "file"), "mine");
    symlinkSync(join(cwd, "nowhere/below"), join(cwd, "dangling"));
    for (const folder of ["file", "file/below", "dangling"]) await expectRefusal(cwd, ["init", folder], "Name another");
    await expectRefusal(cwd, ["init", ""], "Name one");
    expect(readFileSync(join(cwd, "file"), "utf8")).toBe("mine");
    expect(existsSync(join(cwd, "nowhere"))).toBe(false);
  });

  it.each(
    titled([
      ["My App", "--name my-app"],
      ["_private", "--name private"],
      ["日本語", "--name my-team"],
      ["fs", "--name my-team"],
      ["troupe", "--name my-team"],
      ["\u001b[31mred", "--name 31mred"],
      ["x".repeat(215), "--name"],
    ]),
  )("refuses a name that npm does not take: %s", async (_case, name, advice) => {
    const cwd = freshFolder();
    const { stderr } = await expectRefusal(cwd, ["init", name], advice);
    await expectRefusal(cwd, ["init", "fine", "--name", name], "Expected the name of a package");
    expect(stderr).not.toContain("\u001b");
    expect(readdirSync(cwd)).toEqual([]);
  });

  // The longest path of Linux ends in the middle of a project: its longest file does not fit.
  it.runIf(process.platform === "linux")("leaves nothing where a file cannot be written", async () => {
    const cwd = freshFolder();
    const room = 4_095 - cwd.length - "/src/team.test.ts".length + 1;
    const folder = `/${"d".repeat(199)}`.repeat(Math.ceil(room / 200)).slice(1, room);
    expect(join(cwd, folder, "src/main.ts").length).toBeLessThan(4_096);
    await expectRefusal(cwd, ["init", folder, "--name", "deep"], "PROJECT_UNWRITABLE");
    expect(readdirSync(cwd)).toEqual([]);
  });

  it("begun twice at once, makes one project", async () => {
    const cwd = freshFolder();
    const both = await Promise.all([command(cwd, ["init", "writers"]), command(cwd, ["init", "writers"])]);
    expect(both.map(({ code }) => code).toSorted((a, b) => a - b)).toEqual([0, 2]);
    expect(filesOf(join(cwd, "writers"))).toHaveLength(8);
  });
});
