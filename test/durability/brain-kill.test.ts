import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { figure, tries } from "../long.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { sourceProgram } from "../kernel/source-program.ts";
import { type main, memoryIn, type Span, spansOf } from "./brain-child.ts";

/*
 * A brain memory in files, killed while it stores and sums up. `npm test` does it a few times, and `npm run long -- kill` two hundred times.
 */

const root = fileURLToPath(new URL("../..", import.meta.url));
const KILLS = tries(3, 200);

const program = await sourceProgram(fileURLToPath(new URL("brain-child.ts", import.meta.url)));

/** Lets a process work on the memory until it has stored so many messages more, and kills it in the middle of what it does then. */
function killedAfter(dir: string, count: number): Promise<number> {
  const task: Parameters<typeof main>[0] = { dir };
  const child = spawn(process.execPath, ["--input-type=module", "-", JSON.stringify(task)], { cwd: root, stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.end(program);
  let said = "";
  let trouble = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    if (said.split("\n").length > count) child.kill("SIGKILL");
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => (trouble += text));
  return new Promise((resolve, reject) => {
    child.once("close", (_code, signal) => {
      // A line that a kill cut off was never said.
      if (signal === "SIGKILL") resolve(Number(said.split("\n").at(-2)));
      else reject(new Error(`it ended by itself: ${trouble}`));
    });
  });
}

test(
  `a brain memory that is killed ${KILLS} times loses nothing that was stored, and holds nothing twice`,
  { tags: "kill", timeout: 900_000 },
  async () => {
    const dir = scratchFolder();
    let messages = 0;
    for (let n = 0; n < KILLS; n++) {
      const stored = await killedAfter(dir, 1 + ((n * 7) % 23));
      const brain = memoryIn(dir);
      expect(await brain.load()).toEqual({ kind: "loaded" });
      const spans = spansOf(brain);
      expect(gaps(spans), JSON.stringify(spans)).toEqual([]);
      messages = spans.at(-1)?.[1] ?? 0;
      expect(messages).toBeGreaterThanOrEqual(stored);
    }
    expect(messages).toBeGreaterThan(KILLS);
    figure(`killed ${KILLS} processes over ${messages} messages of a brain memory: none lost, none doubled`);
  },
);

/** Returns the places where the spans do not follow each other from 1 on. */
function gaps(spans: readonly Span[]): Span[] {
  return spans.filter(([from], place) => from !== (spans[place - 1]?.[1] ?? 0) + 1);
}
