import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { EXIT_CODES } from "../../src/cli/errors.ts";
import { main } from "../../src/cli/program.ts";
import { fold } from "../../src/index.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { openaiStub } from "../../src/testing/index.ts";
import { brokenGreetJs, fence, greetJs } from "../actions/greeter.ts";
import { playing, resultOf } from "../adversarial/hostile-model.ts";
import { run as runProcess, start } from "./child.ts";
import { fakeHost, scratchFolder } from "./fake-host.ts";
import { command, eventsIn, expectEnd, expectRefusal, greeting } from "./kept-run.ts";

const cwd = scratchFolder();

/** A new folder to be in. */
function folder(name: string): string {
  const path = join(cwd, name);
  mkdirSync(path, { recursive: true });
  return path;
}

describe("words without a run", () => {
  it("prints its help, with every option and every exit code", async () => {
    const { code, stdout, stderr } = await command(cwd, ["--help"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const word of ["budget", "investment", "rounds", "n-round", "out", "model", "base-url", "seed", "sandbox", "json", "quiet", "yes"])
      expect(stdout).toContain(`--${word}`);
    for (const { code: known, meaning } of EXIT_CODES) expect(stdout).toContain(`${String(known).padEnd(4)} ${meaning}`);
  });

  it("prints its version", async () => {
    const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string };
    expect(await runProcess(["--version"], { cwd })).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
  });

  it("tells an error to a program too", async () => {
    const { stdout } = await command(cwd, ["--json", "--rounds", "0", "a game"]);
    expect(JSON.parse(stdout)).toMatchObject({ type: "error", code: "OPTION_INVALID" });
    const parsed = await command(cwd, ["--json", "--nonsense"]);
    expect(JSON.parse(parsed.stdout)).toMatchObject({ type: "error", code: "COMMAND_INVALID" });
  });

  it("ends with 7 where there is neither a model nor a script, and says how to get one", async () => {
    const { code, stderr, stdout } = await command(folder("keyless"), ["Write a poem about the sea"]);
    expect({ code, stdout }).toEqual({ code: 7, stdout: "" });
    for (const word of ["OPENAI_API_KEY", "TROUPE_BASE_URL", "troupe demo 2048", "troupe demo todo"]) expect(stderr).toContain(word);
    expect(readdirSync(folder("keyless"))).toEqual([]);
  });
});

describe("a bundled idea", () => {
  it("prints events that fold to the run, and the result last", async () => {
    const words = ["demo", "todo", "--out", "project", "--json", "--no-run-tests", "--seed", "7"];
    const { stdout } = await expectEnd(folder("json"), words, 0);
    const state = fold(eventsIn(stdout));
    expect(state).toMatchObject({ seed: "7", phase: { phase: "ended", status: "finished" } });
    expect(resultOf(stdout)).toMatchObject({
      type: "result",
      status: "finished",
      exitCode: 0,
      runId: state.runId,
      rounds: state.round,
      tests: { tests: "not run" },
      cost: { known: state.ledger.spent, unpriced: 0 },
      usage: state.ledger.usage,
    });
  });

  it("takes its idea from a file or from its input", async () => {
    const at = folder("sources");
    writeFileSync(join(at, "idea.md"), "Create a command line to-do list\n");
    await expectEnd(at, ["-f", "idea.md", "--rounds", "1", "--quiet"], 4);
    await expectEnd(at, ["-", "--rounds", "1", "--quiet"], 4, "", { stdin: "Create a command line to-do list\n" });
    await expectRefusal(at, ["-", "--quiet"], "IDEA_MISSING");
  });
});

describe("a model", () => {
  it("whose project is right takes it to the end", async () => {
    await using stub = await openaiStub({ handler: playing() });
    const at = folder("greeter");
    await expectEnd(at, greeting(stub.url, "--out", "project"), 0, /Tests\s+\d+ passed/);
    expect(stub.rejected).toEqual([]);
    expect(readFileSync(join(at, "project/src/greet.js"), "utf8")).toBe(greetJs);
  });

  it("whose project fails its own tests to the end is told with 6", { tags: ["company", "long"] }, async () => {
    const rounds = [1, 2, 3].flatMap((round) => [
      [`DebugError (round ${round})`, JSON.stringify({ analysis: "It is wrong.", files: ["src/greet.js"] })],
      [`FixCode: src/greet.js (round ${round})`, fence(`${brokenGreetJs}// ${round}\n`)],
    ]);
    const broken = { "WriteCode: src/greet.js": fence(brokenGreetJs), ...(Object.fromEntries(rounds) as Record<string, string>) };
    await using stub = await openaiStub({ handler: playing(broken) });
    const { stdout } = await expectEnd(folder("broken"), greeting(stub.url, "--out", "project", "--json"), 6, "without isolation");
    expect(resultOf(stdout)).toMatchObject({ exitCode: 6, status: "finished", tests: { tests: "failed" } });
  });

  it("never tells $0 for a call without a known price that Ctrl-C cut off", async () => {
    let tell = (): void => {};
    const asked = new Promise<void>((resolve) => (tell = resolve));
    await using stub = await openaiStub({
      handler: () => {
        tell();
        return { fault: "stall" };
      },
    });
    const host = fakeHost({ cwd: folder("no-price"), clock: systemClock });
    const code = main(host, ["Greet me", "--base-url", stub.url, "--model", "nobody-knows-it", "--out", "project"]);
    await asked;
    host.signal("SIGINT");
    expect(await code).toBe(130);
    expect(host.stdout.text).toMatch(/Cost +\$\? \(the price of nobody-knows-it is not known/);
  });

  it("is left in good order when its terminal is closed, however often that is told", { tags: ["company", "long"] }, async () => {
    await using stub = await openaiStub({ reply: { fault: "stall" } });
    const child = start(greeting(stub.url, "--out", "project", "--json"), { cwd: folder("hung-up") });
    await child.until("stdout", /step\.started/);
    child.process.kill("SIGHUP");
    child.process.kill("SIGHUP");
    expect(await child.ended).toBe(129);
    expect(resultOf(child.said.stdout)).toMatchObject({ type: "result", status: "stopped", exitCode: 129 });
  });

  it("without a known price is not bound by a budget: that is refused, and told how", async () => {
    const words = greeting("http://127.0.0.1:9/v1", "--model", "my-own", "--budget", "1");
    await expectRefusal(folder("unpriced"), words, "--allow-unpriced");
  });
});
