import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sqlite } from "../../src/adapters/sqlite.ts";
import { defineRole, Team } from "../../src/index.ts";
import { openaiStub, type OpenAIStub, type StubReply } from "../../src/testing/index.ts";
import type { OpenAIBody } from "../../src/testing/stub-reply.ts";
import { command, eventsIn, expectEnd, expectRefusal, freshFolder, linesIn, newestIn } from "./kept-run.ts";

/** A server whose agent answers at once, with the last thing that it was told. */
function parrot(): Promise<OpenAIStub> {
  const handler = ({ messages }: OpenAIBody): StubReply => {
    const told = messages.flatMap(({ content }) => /(?:idea|wish) \w+/.exec(JSON.stringify(content))?.[0] ?? []);
    return { text: `I heard ${told.at(-1)}.` };
  };
  return openaiStub({ handler });
}

/** A finished run of an agent, in a folder of its own. */
async function finished(stub: OpenAIStub): Promise<{ readonly cwd: string; readonly id: string }> {
  const cwd = freshFolder();
  const words = ["agent", "idea one", "--base-url", stub.url, "--model", "stub-1", "--out", "notes", "--quiet"];
  await expectEnd(cwd, words, 0);
  return { cwd, id: await newestIn(cwd) };
}

const exported = async (cwd: string, id: string): Promise<string> => (await command(cwd, ["runs", "export", id])).stdout;

describe("troupe tell", () => {
  it("says something to a finished run, which goes on in its folder and answers", async () => {
    await using stub = await parrot();
    const { cwd, id } = await finished(stub);
    const told = await expectEnd(cwd, ["tell", id.slice(0, 6), "wish blue", "--base-url", stub.url], 0, "I heard wish blue.");
    expect(told.stderr).toContain(`Telling run ${id}, which ended as "finished": wish blue\n`);
    expect(told.stderr).toContain("It goes to Agent.\n");
    const types = eventsIn((await command(cwd, ["runs", "events", id, "--json"])).stdout).map(({ type }) => type);
    expect(types.filter((type) => type === "run.ended")).toHaveLength(2);
    expect(types.slice(types.indexOf("run.ended"), types.indexOf("run.ended") + 3)).toEqual(["run.ended", "run.resumed", "message"]);
    expect((await command(cwd, ["runs", "show", id])).stdout).toContain("wish blue");
    expect((await command(cwd, ["replay", id])).code).toBe(0);
    await expectEnd(cwd, ["resume", id], 0, "nothing is left to do");
  });

  it("takes the text from a file, from standard input, and for one role", async () => {
    await using stub = await parrot();
    const { cwd, id } = await finished(stub);
    writeFileSync(join(cwd, "wish.txt"), "wish green\n");
    const reach = ["--base-url", stub.url, "--json"];
    for (const [words, stdin, text] of [
      [["--file", "wish.txt"], "", "wish green"],
      [["-"], "wish red\n", "wish red"],
      [["wish grey", "--to", "Agent"], "", "wish grey"],
    ] as const) {
      const { stdout } = await expectEnd(cwd, ["tell", id, ...words, ...reach], 0, "", { stdin });
      const said = eventsIn(stdout).flatMap((event) => (event.type === "message" ? [event.message] : []));
      expect(said.at(-1)).toMatchObject({ content: text, sendTo: words.includes("--to" as never) ? ["Agent"] : ["<all>"] });
      expect(linesIn(stdout).at(-1)).toMatchObject({ type: "result", status: "finished", answer: `I heard ${text}.` });
    }
  });

  it("refuses what it cannot say, and leaves the run as it was", async () => {
    await using stub = await parrot();
    const { cwd, id } = await finished(stub);
    const before = await exported(cwd, id);
    for (const [words, code] of [
      [[id], "TEXT_MISSING"],
      [[id, " "], "TEXT_MISSING"],
      [[id, "-"], "TEXT_MISSING"],
      [[id, "make", "it", "blue"], "TEXT_UNQUOTED"],
      [[id, "wish", "--file", "wish.txt"], "TEXT_TWICE"],
      [[id, "--file", "missing.txt"], "FILE_UNREADABLE"],
      [[id, "wish", "--to", "Nobody"], "ROLE_UNKNOWN"],
      [[id, "wish", "--model", "other"], "MODEL_FIXED"],
      [["zzz", "wish"], "RUN_UNKNOWN"],
      [[], "COMMAND_INVALID"],
    ] as const) {
      await expectRefusal(cwd, ["tell", ...words], `(${code})`);
    }
    expect(await exported(cwd, id)).toBe(before);
  });

  it("does not go on with a run that came from elsewhere", async () => {
    await using stub = await parrot();
    const { cwd, id } = await finished(stub);
    const [other, record] = [freshFolder(), await exported(cwd, id)];
    await command(other, ["runs", "import", "-"], { stdin: record });
    await expectRefusal(other, ["tell", id, "wish blue", "--base-url", stub.url], "(RUN_ELSEWHERE)");
  });
});

/** An agent whose first call waits until the test opens it; the other calls are answered at once. */
async function working(replies: Promise<void>): Promise<{ readonly stub: OpenAIStub; readonly asked: Promise<void> }> {
  let called = (): void => {};
  const asked = new Promise<void>((resolve) => (called = resolve));
  const handler = async ({ messages }: OpenAIBody, n: number): Promise<StubReply> => {
    called();
    if (n === 0) await replies;
    const wishes = new Set(JSON.stringify(messages).match(/(?:idea|wish) \w+/g));
    return { text: `I heard ${[...wishes].join(" and ")}.` };
  };
  return { stub: await openaiStub({ handler }), asked };
}

describe("troupe tell while another process drives the run", () => {
  it("has that process receive each text once, and show it; the run hears it at its next step", async () => {
    const cwd = freshFolder();
    let open = (): void => {};
    const { stub, asked } = await working(new Promise((resolve) => (open = resolve)));
    await using _ = stub;
    const run = command(cwd, ["agent", "idea one", "--base-url", stub.url, "--model", "stub-1", "--out", "notes"]);
    await asked;
    const id = await newestIn(cwd);
    const env = { SOME_API_KEY: "sk-of-the-teller-0123456789" };
    const [told, other] = await Promise.all([
      expectEnd(cwd, ["tell", id.slice(0, 6), "wish blue sk-of-the-teller-0123456789", "--json"], 0, "", { env }),
      expectEnd(
        cwd,
        ["tell", id, "wish red", "--to", "Agent"],
        0,
        `Run ${id}, which another process drives, has received it. It goes to Agent`,
      ),
      expectRefusal(cwd, ["tell", id, "wish", "--to", "Nobody"], "(ROLE_UNKNOWN)"),
    ]);
    expect(linesIn(told.stdout)).toEqual([{ type: "told", runId: id, message: expect.any(String), recipients: ["Agent"] }]);
    expect(other.stdout).toBe("");
    open();
    const { code, stderr, stdout } = await run;
    expect([code, stdout + stderr]).toEqual([
      0,
      expect.stringMatching(/I heard idea one and wish (?:blue and wish red|red and wish blue)\./),
    ]);
    expect(stderr).toContain("Received: wish red");
    const record = await exported(cwd, id);
    expect(record).not.toContain("sk-of-the-teller");
    const said = eventsIn((await command(cwd, ["runs", "events", id, "--json"])).stdout).flatMap((event) =>
      event.type === "message" ? [event.message.content] : [],
    );
    expect(said.map((text) => text.slice(0, 9)).toSorted()).toEqual(["idea one", "wish blue", "wish red"]);
    expect((await command(cwd, ["replay", id])).code).toBe(0);
  });

  it("continues the run itself when its owner dies without an answer", async () => {
    await using stub = await parrot();
    const { cwd, id } = await finished(stub);
    const owner = sqlite({ path: join(cwd, ".troupe/runs.db") });
    let took = (): void => {};
    const isTaken = new Promise<void>((resolve) => (took = resolve));
    await owner.claim(id, { command: () => (took(), new Promise(() => undefined)) });
    const told = expectEnd(cwd, ["tell", id, "wish blue", "--base-url", stub.url], 0, "I heard wish blue.");
    await isTaken;
    await owner.close();
    await told;
  });
});

describe("a run that a program told something after its end", () => {
  it("is listed as told and shown as open, is exported and imported with it, and is what resume goes on with", async () => {
    const cwd = freshFolder();
    const journal = sqlite({ path: join(cwd, "runs.db") });
    const role = defineRole({ name: "Ann", react: (rc) => rc.message(`heard ${rc.news[0]?.content}`) });
    const team = new Team({ roles: [role], journal, seed: "s" });
    await team.run("idea", { id: "r" }).result;
    await team.send("r", "wish blue");
    await journal.close();
    const at = ["--store", "runs.db"];
    expect(linesIn((await command(cwd, ["runs", "ls", "--json", ...at])).stdout)).toMatchObject([{ id: "r", status: "finished", told: 1 }]);
    const { stdout } = await command(cwd, ["runs", "show", "r", ...at]);
    expect(stdout).toContain("Status   open: it was told something after it had finished\n");
    expect((await command(cwd, ["runs", "events", "r", ...at])).stdout).toMatch(/message +outside to Ann, UserRequirement: wish blue/);
    const record = (await command(cwd, ["runs", "export", "r", ...at])).stdout;
    expect((await command(cwd, ["runs", "import", "-", "--as", "copy", ...at], { stdin: record })).code).toBe(0);
    const again = sqlite({ path: join(cwd, "runs.db") });
    const result = await new Team({ roles: [role], journal: again, seed: "s" }).resume("copy").result;
    await again.close();
    expect(result.outputs.map(({ content }) => content)).toEqual(["heard idea", "heard wish blue"]);
  });
});
