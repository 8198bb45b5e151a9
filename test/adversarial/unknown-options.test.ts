import { describe, expect, test } from "vitest";
import { z } from "zod";
import { RunTests, WriteCodeReview, WritePrd } from "../../actions/index.ts";
import { waterfallCompany } from "../../roles/index.ts";
import { fileCache } from "../../src/adapters/file-cache.ts";
import { gptTokenizer } from "../../src/adapters/gpt-tokenizer.ts";
import { mcpServer } from "../../src/adapters/mcp.ts";
import { openaiEmbedder } from "../../src/adapters/openai-embedder.ts";
import { openai } from "../../src/adapters/openai.ts";
import { redisCache } from "../../src/adapters/redis.ts";
import { sqliteStore } from "../../src/adapters/sqlite-store.ts";
import { sqlite } from "../../src/adapters/sqlite.ts";
import {
  Agent,
  Brain,
  callTool,
  callTools,
  ChatMessage,
  ChatMemory,
  defineTool,
  graphOfThought,
  MessagesMemory,
  PlanningFlow,
  planAndSolve,
  react,
  reflexion,
  toolFailure,
  toolOutput,
  treeOfThought,
} from "../../src/agent/index.ts";
import {
  BrainMemory,
  createMessage,
  defineAction,
  defineRole,
  Environment,
  hashingEmbedder,
  LongTermMemory,
  Memory,
  memoryJournal,
  MemoryStorage,
  MessageQueue,
  Plan,
  priceOf,
  Team,
  usd,
  budgetPool,
  modelLimits,
} from "../../src/index.ts";
import { createClient, type RunClient } from "../../src/client/index.ts";
import { exportSnapshot } from "../../src/inspector/index.ts";
import { createServer } from "../../src/server/index.ts";
import { cassetteModel, memoryCache, openaiStub, scriptedModel } from "../../src/testing/index.ts";
import {
  braveSearch,
  createChatCompletion,
  duckDuckGoSearch,
  editorTool,
  fileSearchTool,
  manus,
  manusTools,
  shellTool,
  softwareEngineer,
  webFetchTool,
  webSearchTool,
} from "../../src/tools/index.ts";
import { fileWorkspace, memoryWorkspace, openWorkspace, refusedSandbox, runProjectTests } from "../../src/workspace/index.ts";

const model = scriptedModel([]);
const client = (): RunClient => createClient({ url: "http://localhost", fetch: () => Promise.reject(new Error("nothing is asked")) });
const ann = defineRole({ name: "Ann", step: () => undefined });
const machine = { workspace: memoryWorkspace(), sandbox: refusedSandbox("nothing runs here", "Run it elsewhere") };
const execute = (): string => "";

/** Each is called with options that it knows, and one more. */
const doors: readonly (readonly [string, (more: object) => unknown])[] = [
  ["new Environment", (more) => new Environment({ seed: 1, ...more })],
  ["run of an environment", (more) => new Environment().run({ rounds: 1, ...more })],
  ["addRole", (more) => new Environment().addRole(ann, { name: "Bea", ...more })],
  ["new Team", (more) => new Team({ name: "t", ...more })],
  ["run of a team", (more) => new Team().run("go", { rounds: 1, ...more })],
  ["resume", (more) => new Team().resume("r", { rounds: 1, ...more })],
  ["answer", (more) => new Team().answer("r", "q", "text", { rounds: 1, ...more })],
  ["fork", (more) => new Team().fork("r", { at: 1, ...more })],
  ["replay", (more) => new Team().replay("r", { ...more })],
  ["defineRole", (more) => defineRole({ name: "Ann", ...more })],
  ["defineRole with a step", (more) => defineRole({ name: "Ann", step: () => undefined, ...more })],
  ["a role's agent", (more) => new Environment().addRole(defineRole({ name: "Ann", reactMode: "agent", agent: { ...more } }))],
  [
    "a reaction",
    (more) => new Environment().addRole(defineRole({ name: "Ann", reactions: [{ on: "x", do: defineAction({ name: "A" }), ...more }] })),
  ],
  ["a role's memory", (more) => new Environment().addRole(defineRole({ name: "Ann", memory: { ...more } }))],
  ["what a role recalls", (more) => new Environment().addRole(defineRole({ name: "Ann", memory: { recall: { ...more } } }))],
  ["defineAction", (more) => defineAction({ name: "Write", ...more })],
  ["defineTool", (more) => defineTool({ name: "t", description: "", parameters: z.object({}), execute, ...more })],
  ["createMessage", (more) => createMessage("x", { sendTo: "Ann", ...more })],
  ["new MessageQueue", (more) => new MessageQueue({ limit: 1, ...more })],
  ["new Memory", (more) => new Memory({ limit: 1, ...more })],
  ["new Plan", (more) => new Plan({ goal: "g", ...more })],
  ["new BrainMemory", (more) => new BrainMemory({ model, ...more })],
  ["new MemoryStorage", (more) => new MemoryStorage({ roleId: "r", ...more })],
  ["searchSimilar", (more) => new MemoryStorage({ roleId: "r" }).searchSimilar("x", { k: 1, ...more })],
  ["new LongTermMemory", (more) => new LongTermMemory({ storage: new MemoryStorage({ roleId: "r" }), ...more })],
  ["hashingEmbedder", (more) => hashingEmbedder({ ...more })],
  ["memoryJournal", (more) => memoryJournal({ limit: 3, ...more })],
  ["new ChatMemory", (more) => new ChatMemory({ maxMessages: 3, ...more })],
  ["new MessagesMemory", (more) => new MessagesMemory({ ...more })],
  ["new Agent", (more) => new Agent({ name: "a", model, ...more })],
  ["new Agent with loops", (more) => new Agent({ name: "a", model, loops: { ...more } })],
  ["new Agent with compaction", (more) => new Agent({ name: "a", model, compaction: { ...more } })],
  ["run of an agent", (more) => new Agent({ name: "a", model }).run("go", { ...more })],
  ["new Brain", (more) => new Brain({ model, ...more })],
  ["react", (more) => react({ ...more })],
  ["reflexion", (more) => reflexion({ ...more })],
  ["planAndSolve", (more) => planAndSolve({ ...more })],
  ["treeOfThought", (more) => treeOfThought({ ...more })],
  ["graphOfThought", (more) => graphOfThought({ ...more })],
  ["new PlanningFlow", (more) => new PlanningFlow({ model, executors: { a: () => new Agent({ name: "a", model }) }, ...more })],
  ["sqlite", (more) => sqlite({ path: ":memory:", ...more })],
  ["sqliteStore", (more) => sqliteStore({ path: ":memory:", ...more })],
  ["redisCache", (more) => redisCache({ url: "redis://127.0.0.1:1", ...more })],
  ["fileCache", (more) => fileCache({ dir: "nowhere", ...more })],
  ["openai", (more) => openai({ model: "m", apiKey: "none", ...more })],
  ["openaiEmbedder", (more) => openaiEmbedder({ model: "m", apiKey: "none", ...more })],
  ["gptTokenizer", (more) => gptTokenizer({ model: "m", ...more })],
  ["mcpServer", (more) => mcpServer({ name: "s", server: { command: "false" }, ...more } as unknown as Parameters<typeof mcpServer>[0])],
  ["memoryCache", (more) => memoryCache({ ...more })],
  ["scriptedModel", (more) => scriptedModel([], { ...more })],
  ["cassetteModel", (more) => cassetteModel({ runId: "r", events: [] } as unknown as Parameters<typeof cassetteModel>[0], { ...more })],
  ["openaiStub", (more) => openaiStub({ replies: [], ...more } as unknown as Parameters<typeof openaiStub>[0])],
  ["callTool", (more) => callTool({ id: "c", type: "function", function: { name: "t", arguments: "{}" } }, { tools: [], ...more })],
  ["callTools", (more) => callTools([], { tools: [], ...more })],
  ["budgetPool", (more) => budgetPool(usd(1), { ...more })],
  ["modelLimits", (more) => modelLimits({ ...more })],
  ["manusTools", (more) => manusTools({ ...machine, ...more })],
  ["manus", (more) => manus({ ...machine, model, ...more })],
  ["softwareEngineer", (more) => softwareEngineer({ ...machine, model, ...more })],
  ["waterfallCompany", (more) => waterfallCompany({ ...machine, ...more })],
  ["new WritePrd", (more) => new WritePrd({ workspace: machine.workspace, ...more })],
  ["new WriteCodeReview", (more) => new WriteCodeReview({ workspace: machine.workspace, ...more })],
  ["new RunTests", (more) => new RunTests({ ...machine, ...more })],
  ["memoryWorkspace", (more) => memoryWorkspace({ ...more })],
  ["fileWorkspace", (more) => fileWorkspace({ root: "nowhere", ...more } as unknown as Parameters<typeof fileWorkspace>[0])],
  ["openWorkspace", (more) => openWorkspace({ root: "nowhere", ...more } as unknown as Parameters<typeof openWorkspace>[0])],
  ["editorTool", (more) => editorTool({ workspace: memoryWorkspace(), ...more })],
  ["fileSearchTool", (more) => fileSearchTool({ workspace: memoryWorkspace(), ...more })],
  ["shellTool", (more) => shellTool({ ...more } as unknown as Parameters<typeof shellTool>[0])],
  ["webFetchTool", (more) => webFetchTool({ ...more })],
  ["webSearchTool", (more) => webSearchTool({ providers: [duckDuckGoSearch()], ...more })],
  ["duckDuckGoSearch", (more) => duckDuckGoSearch({ ...more })],
  ["braveSearch", (more) => braveSearch({ apiKey: "none", ...more })],
  ["createChatCompletion", (more) => createChatCompletion({ ...more })],
  ["push of a queue", (more) => new MessageQueue().push(createMessage("x"), { priority: 1, ...more })],
  ["ChatMessage.user", (more) => ChatMessage.user("x", { ...more })],
  ["ChatMessage.tool", (more) => ChatMessage.tool({ content: "x", name: "t", toolCallId: "c", ...more })],
  ["a task of a plan", (more) => new Plan({ goal: "g", tasks: [{ id: "a", instruction: "b", ...more }] })],
  ["appendTask", (more) => new Plan({ goal: "g" }).appendTask({ id: "a", instruction: "b", ...more })],
  [
    "replaceTask",
    (more) => new Plan({ goal: "g", tasks: [{ id: "a", instruction: "b" }] }).replaceTask({ id: "a", instruction: "c", ...more }),
  ],
  ["hire", (more) => new Team().hire(ann, { name: "Bea", ...more })],
  ["toolOutput", (more) => toolOutput("x", { ...more })],
  ["toolFailure", (more) => toolFailure("x", { ...more })],
  ["permissions", (more) => new Agent({ name: "a", model, permissions: { default: "ask", ...more } })],
  ["a rule of permissions", (more) => new Agent({ name: "a", model, permissions: { rules: [{ tool: "t", decide: "deny", ...more }] } })],
  ["a rule of a tool", (more) => defineTool({ name: "t", description: "", permission: [{ decide: "deny", ...more }], execute })],
  ["a price", (more) => priceOf({ id: "m", price: { input: 1, output: 2, ...more } })],
  ["exportSnapshot", (more) => exportSnapshot(new Memory(), { ...more })],
  ["runProjectTests", (more) => runProjectTests({ root: "nowhere", sandbox: machine.sandbox, ...more })],
  ["listen", (more) => createServer({ team: new Team({ roles: [ann] }) }).listen({ port: 0, ...more })],
  ["close of a server", (more) => createServer({ team: new Team({ roles: [ann] }) }).close({ grace: 1, ...more })],
  ["commit of memoryWorkspace", (more) => memoryWorkspace().commit({ message: "m", author: "a", date: 1, ...more })],
  ["commit of fileWorkspace", (more) => fileWorkspace({ root: "nowhere" }).commit({ message: "m", author: "a", date: 1, ...more })],
  ...(["forget", "compress", "load", "save"] as const).map(
    (name) => [`${name} of a brain memory`, (more: object) => new BrainMemory({ model })[name](more)] as const,
  ),
  ["isRelated", (more) => new BrainMemory({ model }).isRelated("a", "b", more)],
  ["rewrite", (more) => new BrainMemory({ model }).rewrite("a", "b", more)],
  ["getTitle", (more) => new BrainMemory({ model }).getTitle("a", more)],
  ["summarize", (more) => new BrainMemory({ model }).summarize("a", more)],
  ...(["recover", "persist", "rebuild"] as const).map(
    (name) => [`${name} of a storage`, (more: object) => new MemoryStorage({ roleId: "r" })[name](more)] as const,
  ),
  ["has of a storage", (more) => new MemoryStorage({ roleId: "r" }).has("id", more)],
  ["add of a storage", (more) => new MemoryStorage({ roleId: "r" }).add(createMessage("x"), more)],
  ["addBatch of a storage", (more) => new MemoryStorage({ roleId: "r" }).addBatch([], more)],
  ["delete of a storage", (more) => new MemoryStorage({ roleId: "r" }).delete("id", more)],
  ...(["team", "list"] as const).map((name) => [`${name} of a client`, (more: object) => client()[name](more)] as const),
  ...(["read", "pause", "stop", "replay", "proceed", "export"] as const).map(
    (name) => [`${name} of a client`, (more: object) => client()[name]("r", more)] as const,
  ),
  ["start of a client", (more) => client().start({ idea: "go" }, more)],
  ["events of a client", (more) => client().events("r", more).next()],
  ["publish of a client", (more) => client().publish("r", "x", more)],
  ["say of a client", (more) => client().say("r", "x", more)],
  ["answer of a client", (more) => client().answer("r", "q", "x", more)],
  ["hire of a client", (more) => client().hire("r", "Ann", more)],
  ["retire of a client", (more) => client().retire("r", "Ann", more)],
  ["resume of a client", (more) => client().resume("r", {}, more)],
  ["fork of a client", (more) => client().fork("r", {}, more)],
  ["forget of a client", (more) => client().forget({ user: "u" }, more)],
];

describe("an option that nobody knows is refused, also from plain JavaScript", () => {
  test.each(doors)("%s", async (_door, open) => {
    // In a function that waits: some doors throw, others give a promise that fails.
    await expect((async () => void (await open({ unheardOf: 1 })))()).rejects.toMatchObject({
      code: "OPTION_UNKNOWN",
      data: { option: "unheardOf" },
    });
  });

  test.each([
    ["watches: of a role", () => defineRole({ name: "Ann", watches: ["x"] } as never), "watch"],
    ["maxRounds: of a run", () => new Team().run("go", { maxRounds: 3 } as never), "rounds"],
    ["schedular: of a team", () => new Team({ schedular: "eager" } as never), "scheduler"],
  ])("%s says what was meant", (_what, open, meant) => {
    expect(open).toThrow(`Did you mean ${meant}?`);
  });

  test("in ask and step of an activation it fails the activation", async () => {
    const asking = (more: object) => defineRole({ name: "Ann", react: async (rc) => void (await rc.ask("?", more)) });
    const stepping = (more: object) =>
      defineRole({ name: "Ann", react: async (rc) => void (await rc.step("s", {}, () => Promise.resolve(1), more)) });
    const human = defineRole({
      name: "Ann",
      react: async (rc) => void (await rc.human.ask("?", { choices: [{ value: "a", lable: "b" } as never] })),
    });
    for (const role of [asking({ temprature: 1 }), stepping({ idempotant: false }), human]) {
      const result = await new Team({ roles: [role], model: scriptedModel(["x"]) }).run("go").result;
      expect(result).toMatchObject({ status: "failed", error: { code: "OPTION_UNKNOWN" } });
    }
  });
});
