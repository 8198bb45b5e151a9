import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { fileWorkspace } from "../../src/workspace/file-workspace.ts";
import { scratchFolder } from "./scratch.ts";

/**
 * Puts a link to a folder outside in the place of a folder of the project and takes it back, as fast as it can, until its input ends. Tells
 * what it ever saw outside with content.
 */
const RACER = String.raw`
const fs = require("node:fs"), path = require("node:path");
const [root, outside] = process.argv.slice(1);
const [src, kept] = [path.join(root, "src"), path.join(root, "kept")];
let ends = false;
process.stdin.on("end", () => { ends = true; }).resume();
const seen = new Set();
// The workspace makes the folder when it is missing for a moment: then a step here fails, and the next round goes on from there.
function tried(step) { try { step(); } catch {} }
function look() {
  const until = process.hrtime.bigint() + BigInt(Math.floor(Math.random() * 100_000));
  do {
    for (const name of fs.readdirSync(outside)) {
      const stats = fs.lstatSync(path.join(outside, name), { throwIfNoEntry: false });
      if (stats !== undefined && stats.size > 0) seen.add(name);
    }
  } while (process.hrtime.bigint() < until);
}
function flip() {
  for (let n = 0; n < 50; n++) {
    fs.rmSync(kept, { recursive: true, force: true });
    tried(() => fs.renameSync(src, kept));
    tried(() => fs.symlinkSync(outside, src));
    look();
    tried(() => fs.unlinkSync(src));
    tried(() => fs.renameSync(kept, src));
    look();
  }
  if (ends) process.stdout.write(JSON.stringify([...seen]));
  else setImmediate(flip);
}
process.stdout.write("ready\n");
flip();
`;
/** Enough for the unguarded way to fail many times over, in a second or two. */
const WRITES = 1_000;

describe.skipIf(process.platform === "win32")("a workspace whose folder another process turns into a link and back", () => {
  it("Workspace.W1 never has a byte outside, neither for good nor for a moment", { tags: ["company", "long"] }, async () => {
    const base = scratchFolder();
    const [root, outside] = [join(base, "project"), join(base, "outside")];
    mkdirSync(join(root, "src"), { recursive: true });
    mkdirSync(outside);
    const racer = spawn(process.execPath, ["-e", RACER, root, outside], { stdio: ["pipe", "pipe", "inherit"] });
    await once(racer.stdout, "readable");
    const said = text(racer.stdout);
    const workspace = fileWorkspace({ root, git: false });
    let [written, refused] = [0, 0];
    for (let n = 0; n < WRITES; n++) {
      await workspace.write(`src/file${n}.js`, "the model's text").then(
        () => (written += 1),
        () => (refused += 1),
      );
    }
    racer.stdin.end();
    const [seen] = /\[.*\]/.exec(await said) ?? [];
    expect(readdirSync(outside)).toEqual([]);
    expect(seen).toBe("[]");
    expect(written + refused).toBe(WRITES);
    expect(refused).toBeGreaterThan(0);
  });
});
