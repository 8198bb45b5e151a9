import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { replaceDefaultLogger } from "../../src/kernel/default-logger.ts";
import { silentLogger } from "../../src/kernel/emit.ts";
import { createMessage } from "../../src/message/message.ts";
import { defineAction } from "../../src/role/action.ts";
import { defineRole } from "../../src/role/role.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import { answering, listener, town } from "./town.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Runs a program of a user's in a process of its own, and returns what it wrote to stdout and to stderr. */
function written(program: string): { readonly stdout: string; readonly stderr: string } {
  const imports = `import { createMessage, defineAction, defineRole, Environment, Team } from ${JSON.stringify(`${root}dist/src/index.js`)};`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", `${imports}\n${program}`], { encoding: "utf8" });
  return { stdout, stderr };
}

describe("a program without a logger, in a process of its own", () => {
  test("gets its warnings on stderr, and nothing on stdout: a typo in watch, a dead address, an idea that nobody hears", () => {
    const { stdout, stderr } = written(`
      const Write = defineAction({ name: "Write", run: ({ message }) => message("hello", { sendTo: "Bobb" }) });
      const listener = defineRole({ name: "Lea", watch: ["Wrote"], actions: [defineAction({ name: "Read", run: () => "" })] });
      await new Team({ roles: [defineRole({ name: "Ann", actions: [Write] }), listener] }).run("go").result;
      const town = new Environment().addRole(listener);
      town.publishMessage(createMessage("idea", { causeBy: "Nothing" }));
      await town.run();
    `);
    expect(stdout).toBe("");
    for (const word of ["Wrote", "Bobb", "Nothing"]) expect(stderr).toContain(word);
    for (const line of stderr.trim().split("\n")) expect(line).toMatch(/^troupe: warning: /);
  });

  test("gets none with a silent logger", () => {
    const { stdout, stderr } = written(`
      const ann = defineRole({ name: "Ann", react: (rc) => rc.message("hello", { sendTo: "Bobb" }) });
      const logger = { debug() {}, info() {}, warn() {}, error() {} };
      console.log((await new Team({ roles: [ann], logger }).run("go").result).deadLetters.length);
    `);
    expect([stdout.trim(), stderr]).toEqual(["1", ""]);
  });
});

describe("RunWarnings.W1 the warnings of a run without a logger", () => {
  let lines: string[] = [];
  let putBack = (): void => {};
  beforeEach(() => {
    lines = [];
    const note = (text: string): void => void lines.push(text);
    putBack = replaceDefaultLogger({ ...silentLogger, warn: note, error: note });
  });
  afterEach(() => putBack());

  const lost = (name: string, to: readonly string[]): ReturnType<typeof answering> =>
    answering(name, (rc) => to.map((sendTo) => rc.message("hello", { sendTo })));

  test("are written once for each kind and role, and the others are counted at its end, and again in the next run", async () => {
    const environment = town([lost("Ann", ["A", "B", "C"]), lost("Ben", ["A", "B"]), listener("Cid")]);
    for (let run = 0; run < 2; run += 1) {
      lines = [];
      environment.publishMessage("go");
      await environment.run();
      expect(lines.filter((line) => line.startsWith("No role has the address"))).toHaveLength(2);
      expect(lines.slice(-2)).toEqual([expect.stringMatching(/^2 more warnings .*"A"/), expect.stringMatching(/^One more warning .*"A"/)]);
    }
  });

  test("show no secret, and no failure of a listener ends the run", async () => {
    const journal = memoryJournal();
    const team = new Team({ journal, secrets: ["s3cret-word"], roles: [lost("Ann", ["s3cret-word"])] });
    const run = team.run("go");
    run.on("act.ended", () => {
      throw new Error("s3cret-word");
    });
    await run.result;
    expect(lines.join()).not.toContain("s3cret-word");
    expect(lines).toHaveLength(2);
  });

  test("come from models and roles too", async () => {
    const talks = defineAction({ name: "Talk", run: ({ logger }) => void [1, 2, 3].map((n) => logger.warn(`number ${n} is odd`)) });
    const environment = town([defineRole({ name: "Tim", actions: [talks] })]);
    environment.publishMessage(createMessage("go"));
    await environment.run();
    expect(lines).toEqual(["number 1 is odd", expect.stringMatching(/^2 more warnings/)]);
  });
});
