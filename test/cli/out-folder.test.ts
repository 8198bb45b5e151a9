import fc from "fast-check";
import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { inOutFolder, type OutFolderRequest, slugOf } from "../../src/cli/company.ts";
import { titled } from "../titled.ts";
import { scratchFolder } from "./fake-host.ts";

const scratch = scratchFolder();
const fresh = (): string => mkdtempSync(join(scratch, "out-"));
const asked = { out: undefined, name: "game", force: false };

/** The folder that is worked in. */
function chosen(request: OutFolderRequest): Promise<string> {
  return inOutFolder(request, (folder) => Promise.resolve(folder));
}

describe("inOutFolder", () => {
  it("works in the named folder, else in the first new one of the project's name", async () => {
    const cwd = fresh();
    mkdirSync(join(cwd, "workspace/game"), { recursive: true });
    mkdirSync(join(cwd, "workspace/game-2"));
    expect(await chosen({ ...asked, cwd, out: "there" })).toBe(join(cwd, "there"));
    expect(await chosen({ ...asked, cwd, out: "/abs" })).toBe("/abs");
    expect(await chosen({ ...asked, cwd, force: true })).toBe(join(cwd, "workspace/game"));
    expect(await chosen({ ...asked, cwd })).toBe(join(cwd, "workspace/game-3"));
  });

  it("gives each of many simultaneous runs a folder of its own", async () => {
    const cwd = fresh();
    const all = Array.from({ length: 8 }, withResolvers<undefined>);
    const began = Array.from({ length: 8 }, withResolvers<string>);
    const works = all.map((go, n) =>
      inOutFolder({ ...asked, cwd }, async (folder) => {
        began[n]?.resolve(folder);
        await go.promise;
      }),
    );
    const folders = await Promise.all(began.map(({ promise }) => promise));
    expect(new Set(folders).size).toBe(8);
    expect(folders).toContain(join(cwd, "workspace/game"));
    for (const go of all) go.resolve(undefined);
    await Promise.all(works);
    expect(readdirSync(cwd, { recursive: true }).filter((path) => path !== "workspace")).toEqual([]);
  });

  it("leaves what was written and nothing else, also when the work fails", async () => {
    const cwd = fresh();
    const failing = inOutFolder({ ...asked, cwd }, (folder) => {
      writeFileSync(join(folder, "README.md"), "");
      return Promise.reject(new Error("the work broke"));
    });
    await expect(failing).rejects.toThrow("the work broke");
    expect(readdirSync(join(cwd, "workspace/game"))).toEqual(["README.md"]);
    await expect(inOutFolder({ ...asked, cwd }, () => Promise.reject(new Error("not confirmed")))).rejects.toThrow("not confirmed");
    expect(readdirSync(join(cwd, "workspace"))).toEqual(["game"]);
  });
});

function withResolvers<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => (resolve = settle));
  return { promise, resolve };
}

describe("slugOf", () => {
  it.each(
    titled([
      ["Create a 2048 game", "2048-game"],
      ["Please write me a simple Word-Counter!", "word-counter"],
      ["Écris un jeu d'échecs", "ecris-un-jeu-dechecs"],
      ["日本語のゲーム", "project"],
      ["../../etc/passwd", "etc-passwd"],
      ["create", "create"],
      ["", "project"],
      ["x".repeat(80), "x".repeat(40)],
      ["A markdown editor with a live preview and some more words", "markdown-editor-with-a-live-preview-and"],
    ]),
  )("of %s", (_case, idea, slug) => {
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
