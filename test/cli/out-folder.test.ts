import fc from "fast-check";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { claimFolder, type ClaimFolder, inOutFolder, type OutFolderRequest, slugOf } from "../../src/cli/out-folder.ts";
import { titled } from "../titled.ts";
import { scratchFolder } from "./fake-host.ts";

const scratch = scratchFolder();

/** Claims everything but what is taken. */
function among(...taken: readonly string[]): ClaimFolder {
  return (path) => Promise.resolve(taken.includes(path) ? undefined : { path, release: () => Promise.resolve() });
}

const asked = { cwd: "/home/me", out: undefined, name: "game", force: false };
const nothingFree: ClaimFolder = () => Promise.resolve(undefined);

/** The folder that is worked in. */
function chosen(request: OutFolderRequest): Promise<string> {
  return inOutFolder(request, (folder) => Promise.resolve(folder));
}

describe("inOutFolder", () => {
  it("works in the folder that was named, taken or not", async () => {
    expect(await chosen({ ...asked, out: "there", claim: nothingFree })).toBe("/home/me/there");
    expect(await chosen({ ...asked, out: "/abs", claim: nothingFree })).toBe("/abs");
  });

  it("works else in the first free one of the project's name", async () => {
    const shelf = "/home/me/workspace/game";
    expect(await chosen({ ...asked, claim: among() })).toBe(shelf);
    expect(await chosen({ ...asked, claim: among(shelf, `${shelf}-2`) })).toBe(`${shelf}-3`);
  });

  it.each([false, true])("gives each of many at once a folder of its own (there is an empty one: %s)", async (isThere) => {
    const cwd = mkdtempSync(join(scratch, "many-"));
    if (isThere) mkdirSync(join(cwd, "workspace/game"), { recursive: true });
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
    expect(readdirSync(cwd)).toEqual(isThere ? ["workspace"] : []);
    if (isThere) expect(readdirSync(join(cwd, "workspace"))).toEqual(["game"]);
  });

  it("leaves what was written and nothing else, also when the work fails", async () => {
    const cwd = mkdtempSync(join(scratch, "leaves-"));
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

describe("claimFolder", () => {
  it("takes a folder that is empty or holds a repository alone, once", async () => {
    const folder = join(scratch, "some");
    mkdirSync(join(folder, ".git"), { recursive: true });
    const claim = await claimFolder(folder);
    expect(claim?.path).toBe(folder);
    expect(await claimFolder(folder)).toBeUndefined();
    await claim?.release();
    expect(readdirSync(folder)).toEqual([".git"]);
    writeFileSync(join(folder, "README.md"), "");
    expect(await claimFolder(folder)).toBeUndefined();
    expect(readdirSync(folder)).toEqual([".git", "README.md"]);
  });

  it("takes none that holds records of runs: somebody may be at work there", async () => {
    mkdirSync(join(scratch, "records/.troupe"), { recursive: true });
    expect(await claimFolder(join(scratch, "records"))).toBeUndefined();
    expect(readdirSync(join(scratch, "records"))).toEqual([".troupe"]);
  });

  it("does not take a file's name, and leaves it to the workspace to tell of one below a file", async () => {
    const file = join(scratch, "file");
    writeFileSync(file, "mine");
    expect(await claimFolder(file)).toBeUndefined();
    expect(await claimFolder(join(file, "below"))).toMatchObject({ path: join(file, "below") });
    expect(readFileSync(file, "utf8")).toBe("mine");
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
