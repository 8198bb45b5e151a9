import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { TaskPlanSchema } from "../../actions/index.ts";
import { type DemoIdea, demoIdeas, demoModel, matchIdea } from "../../src/cli/demo-script.ts";
import { AbortedError, type ChatRequest, ModelError } from "../../src/index.ts";
import { simulatedClock } from "../../src/testing/index.ts";

const ideas = await demoIdeas();

describe("the bundled ideas", () => {
  test("are those with a folder, by id, whatever the working folder", async () => {
    const folders = readdirSync(join(import.meta.dirname, "../../demo")).sort();
    expect(ideas.map(({ id }) => id)).toEqual(folders);
    expect(ideas.length).toBeGreaterThanOrEqual(3);
  });
});

describe("matching", () => {
  test.each(ideas)("$id is found by all its words", (idea) => {
    for (const words of [idea.id, idea.title, idea.idea, ...idea.aliases]) expect(matchIdea(words, ideas)?.id).toBe(idea.id);
  });

  test("no two ideas share a word for themselves", () => {
    for (const idea of ideas) {
      const others = ideas.filter((other) => other !== idea);
      for (const words of [idea.id, idea.title, idea.idea, ...idea.aliases]) expect(matchIdea(words, others)).toBeUndefined();
    }
  });
});

const waterfall = ideas.filter(({ crew }) => crew === "waterfall");
const game = ideas.find(({ id }) => id === "2048") as DemoIdea;
const { signal } = new AbortController();

function asking(...questions: readonly string[]): ChatRequest {
  return { messages: [{ role: "system", content: "# WriteTasks" }, ...questions.map((content) => ({ role: "user" as const, content }))] };
}

function file(idea: DemoIdea, path: string): string {
  return readFileSync(join(idea.folder, path), "utf8");
}

async function ask(question: string, idea = game): Promise<string> {
  return (await demoModel(idea).chat(asking(question), { signal })).content;
}

describe("answers", () => {
  test.each([
    "WriteCode: src/unknown.js",
    "WriteCode: ../../package.json",
    "WriteCode: /etc/passwd",
    "WriteTest: idea.json\u0000",
    "DebugError (round 9)",
    "Dance",
    "",
  ])("%j has no reply in the script, and the error says what to do", async (task) => {
    const error = await ask(`# ${task}`).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ModelError);
    expect(error).toMatchObject({ code: "MODEL_SCRIPT", retryable: false, message: expect.stringContaining("OPENAI_API_KEY") });
  });
});

describe("streaming", () => {
  test("ends at once when it is stopped", async () => {
    const stop = new AbortController();
    const clock = simulatedClock();
    const reading = (async () => {
      for await (const _chunk of demoModel(game, 5, clock).stream(asking("# WritePrd"), { signal: stop.signal })) stop.abort();
    })().catch((error: unknown) => error);
    while (!stop.signal.aborted) await clock.advance(5);
    expect(await reading).toBeInstanceOf(AbortedError);
  });
});

describe.each(waterfall)("$id", (idea) => {
  test("has a reply for every file of its plan, and no file that the plan does not name", () => {
    const plan = TaskPlanSchema.parse(JSON.parse(file(idea, "tasks.json")));
    const under = (folder: string): string[] => (existsSync(join(idea.folder, folder)) ? filesIn(join(idea.folder, folder)) : []);
    expect(under("code").sort()).toEqual([...plan.taskList].sort());
    expect(under("review").sort()).toEqual(plan.taskList.map((path) => `${path}.json`).sort());
    expect(
      under("tests")
        .map((path) => `tests/${path}`)
        .sort(),
    ).toEqual([...plan.testList].sort());
    for (const path of under("code-2")) expect(plan.taskList).toContain(path);
  });
});

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}
