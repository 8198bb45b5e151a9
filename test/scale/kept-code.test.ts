import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { root } from "../architecture/read-house.ts";

/** What every hop comes by, and what was thrown away with a closed span and the state of the run before. */
const EVERY_HOP = ["applyEnd", "takeEffect", "deliver", "plainTurn", "#startReady"];

const runs = `
  import { createMessage, defineAction, defineRole, Environment } from ${JSON.stringify(pathToFileURL(`${root}/dist/src/index.js`).href)};

  const HOPS = 4_000;
  const player = (name, other) => {
    const run = ({ message, text }) => (Number(text) >= HOPS ? undefined : message(String(Number(text) + 1), { sendTo: other }));
    return defineRole({ name, watch: [], actions: [defineAction({ name: "Hit" + name, run })] });
  };
  for (let run = 0; run < 4; run += 1) {
    const environment = new Environment({ seed: "s", scheduler: "eager" }).addRoles([player("One", "Other"), player("Other", "One")]);
    environment.publishMessage(createMessage("0", { sendTo: "One" }));
    const { messages } = await environment.run({ rounds: 1e9 });
    console.log("hops " + (messages.length - 1));
  }

  // What the engine must throw away, and tell.
  class Told { told = 1; }
  const held = new Told();
  function control() { return held.told; }
  function asked(times) { let sum = 0; for (let n = 0; n < times; n += 1) sum += control(); return sum; }
  for (let n = 0; n < 200; n += 1) asked(1_000);
  held.told = 2;
  held.told = "three";
  asked(1_000);
`;

/** Names of functions in the lines that tell of something. */
function namesAfter(told: RegExp, printed: string): readonly string[] {
  return printed.split("\n").flatMap((line) => {
    const [, rest] = line.split(told);
    return /^(#?\w+)/.exec(rest ?? "")?.[1] ?? [];
  });
}

const chunks = `${root}/dist/chunks`;
const built = readdirSync(chunks)
  .map((file) => readFileSync(`${chunks}/${file}`, "utf8"))
  .join("\n");

it("what the engine compiled for the hops of one run serves the next", () => {
  const flags = ["--single-threaded", "--trace-deopt", "--input-type=module", "--eval", runs];
  const { status, stdout, stderr } = spawnSync(process.execPath, flags, { encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout.match(/^hops 4000$/gm)).toHaveLength(4);
  const changed = namesAfter(/marking dependent code .*SharedFunctionInfo /, stdout);
  expect(changed.filter((name) => name === "control" || name === "asked")).not.toEqual([]);
  expect(EVERY_HOP.filter((name) => !built.includes(`${name}(`))).toEqual([]);
  expect(EVERY_HOP.filter((name) => changed.includes(name))).toEqual([]);
  // Whom the log asks was a closure of each run.
  expect(namesAfter(/wrong call target.*JSFunction /, stdout)).not.toContain("recordEnd");
});
