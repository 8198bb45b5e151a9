import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isFolderTaken, outFolder, slugOf } from "../../src/cli/out-folder.ts";
import { scratchFolder } from "./fake-host.ts";

const scratch = scratchFolder();

function among(...taken: readonly string[]): (path: string) => Promise<boolean> {
  return (path) => Promise.resolve(taken.includes(path));
}

const asked = { cwd: "/home/me", out: undefined, name: "game", force: false };

describe("outFolder", () => {
  it("is the folder that was named, taken or not", async () => {
    expect(await outFolder({ ...asked, out: "there", isTaken: among("/home/me/there") })).toBe("/home/me/there");
    expect(await outFolder({ ...asked, out: "/abs", isTaken: among() })).toBe("/abs");
  });

  it("is else the first free one of the project's name", async () => {
    const shelf = "/home/me/workspace/game";
    expect(await outFolder({ ...asked, isTaken: among() })).toBe(shelf);
    expect(await outFolder({ ...asked, isTaken: among(shelf, `${shelf}-2`) })).toBe(`${shelf}-3`);
  });

  it("is the first one, free or not, by force", async () => {
    expect(await outFolder({ ...asked, force: true, isTaken: () => Promise.resolve(true) })).toBe("/home/me/workspace/game");
  });

  it("does not look for ever", async () => {
    await expect(outFolder({ ...asked, isTaken: () => Promise.resolve(true) })).rejects.toMatchObject({ code: "WORKSPACE_CROWDED" });
  });
});

describe("isFolderTaken", () => {
  it("is so of a folder that holds something besides a repository and records of runs", async () => {
    const folder = join(scratch, "some");
    expect(await isFolderTaken(folder)).toBe(false);
    mkdirSync(join(folder, ".git"), { recursive: true });
    mkdirSync(join(folder, ".troupe"));
    expect(await isFolderTaken(folder)).toBe(false);
    writeFileSync(join(folder, "README.md"), "");
    expect(await isFolderTaken(folder)).toBe(true);
  });

  it("is so of a file's name, and not of one below a file", async () => {
    const file = join(scratch, "file");
    writeFileSync(file, "");
    expect(await isFolderTaken(file)).toBe(true);
    expect(await isFolderTaken(join(file, "below"))).toBe(false);
  });
});

describe("slugOf", () => {
  it.each([
    ["Create a 2048 game", "2048-game"],
    ["Please write me a simple Word-Counter!", "word-counter"],
    ["Écris un jeu d'échecs", "ecris-un-jeu-dechecs"],
    ["日本語のゲーム", "project"],
    ["../../etc/passwd", "etc-passwd"],
    ["create", "create"],
    ["", "project"],
    ["x".repeat(80), "x".repeat(40)],
    ["A markdown editor with a live preview and some more words", "markdown-editor-with-a-live-preview-and"],
  ])("of %j is %s", (idea, slug) => {
    expect(slugOf(idea)).toBe(slug);
  });

  it("is always a plain folder name of bounded length", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 200 }), (idea) => {
        expect(slugOf(idea)).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
        expect(slugOf(idea).length).toBeLessThanOrEqual(40);
      }),
    );
  });
});
