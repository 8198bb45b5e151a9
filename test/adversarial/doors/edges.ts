import { Memory, usd, budgetPool } from "../../../src/index.ts";
import { VerificationCache } from "../../../src/checks/index.ts";
import { exportSnapshot, messageFlow } from "../../../src/inspector/index.ts";
import { scriptedModel, simulatedClock } from "../../../src/testing/index.ts";
import { memoryWorkspace, refusedSandbox } from "../../../src/workspace/index.ts";
import { RecordedFiles } from "../../../src/workspace/recorded-files.ts";
import { ShardedStorage } from "../../../src/memory/sharded-storage.ts";
import type { Door, Instances } from "./core.ts";
import { is, message, storage } from "./kit.ts";
import { any, data, or, real, whole } from "./right.ts";

const price = { input: 1.5, output: 2.5 };
const limits = { concurrency: 1, requestsPerSecond: 1.5, requestsPerMinute: 1.5, tokensPerMinute: 1.5 };
const aiSdkModel = { specificationVersion: "v3", provider: "p", modelId: "m", doGenerate() {}, doStream() {} };
const folder = "/dev/null/nowhere";
const snapshot = await exportSnapshot(new Memory(), { clock: simulatedClock(0) });
const flow = messageFlow([message]);
const event = () => or({ v: 1, runId: "r", seq: 0, time: 0, type: "run.ended", status: "finished" }, 5, null, [5]);
const timed = () => ({ timeout: 5, signal: is.signal() });
const project = () => ({ root: folder, sandbox: is.sandbox(), ...timed() });
const forked = {
  workspace: memoryWorkspace(),
  forks: {
    open: async () => memoryWorkspace(),
    workspace: () => memoryWorkspace(),
    compare: async () => ({ kind: "changes", changes: [] }),
    update: async () => ({ updated: [], conflicts: [] }),
    remove: async () => {},
  },
};
const verification = { verdicts: [], suites: [], faults: [] };
const criteria = () => [data({ id: "c1", text: any("t"), check: { kind: any("file") } })];
const fetching = async () => new Response("{}", { headers: { "content-type": "application/json" } });
const server = () => ({
  model: "m",
  apiKey: "k",
  baseURL: "http://127.0.0.1:9/v1",
  organization: "o",
  headers: { a: "b" },
  stream: false,
  fetch: fetching,
});
const pg = () => ({
  url: "postgres://127.0.0.1:9/x",
  schema: "s",
  patience: 5,
  timeout: 5,
  connections: 2,
  logger: is.logger(),
  clock: is.clock(),
});
const files = () => ({
  root: folder,
  limits: { files: 5, bytes: 5, fileBytes: 5 },
  git: or(true, 5, "x", null),
  isOwn: () => true,
  closed: ["a"],
});
const web = () => ({ allow: ["10.0.0.1"], resolve: async () => [] });
const machine = () => ({ workspace: is.workspace(), sandbox: is.sandbox() });

export const edgeInstances: Instances = {
  RecordedFiles: () => new RecordedFiles(),
  VerificationCache: () => new VerificationCache(refusedSandbox("none", "none")),
  ShardedStorage: () => new ShardedStorage({ shards: [storage()] }),
};

export const tools: Readonly<Record<string, Door>> = {
  manus: () => [{ ...machine(), model: is.model(), search: [whole({ name: "s", search() {} })], web: or(false, 5, "x", null, true) }],
  manusTools: () => [{ ...machine(), search: [whole({ name: "s", search() {} })], web: or(web(), 5, "x", null, true) }],
  softwareEngineer: () => [{ ...machine(), model: is.model() }],
  createChatCompletion: () => [{ schema: is.schema(), description: "d" }],
  board: () => [{ ...machine(), checks: { unit: ["npm", "test"] }, claims: 1, timeout: 5, tokens: 100 }],
  notes: () => [{ longest: 100, tokens: 100 }],
  checkedDoneTool: () => [{ ...machine(), checks: [["npm", "test"]], timeout: 5 }],
  shellTool: () => [{ ...machine(), refuse: () => undefined }],
  codeTool: () => [{ ...machine(), refuse: () => undefined }],
  pythonTool: () => [{ ...machine(), refuse: () => undefined }],
  editorTool: () => [{ workspace: is.workspace(), refuse: () => "x", shown: () => "x", check: async () => "x" }],
  writeFilesTool: () => [{ workspace: is.workspace(), refuse: () => "x", shown: () => "x", check: async () => "x" }],
  readFilesTool: () => [{ workspace: is.workspace(), limit: 5 }],
  fileSearchTool: () => [{ workspace: is.workspace(), ignore: ["a"] }],
  lookTool: () => [{ workspace: is.workspace(), readPdf: async () => "x" }],
  webFetchTool: () => [{ ...web(), maxBytes: 5, maxRedirects: 5, timeout: 5 }],
  webSearchTool: () => [{ providers: [whole({ name: "s", search() {} })], maxWait: 5 }],
  duckDuckGoSearch: () => [{ baseURL: "https://a.example", access: web() }],
  braveSearch: () => [{ apiKey: "k", baseURL: "https://a.example", access: web() }],
};

export const adapters: Readonly<Record<string, Door>> = {
  budgetPool: () => [or(usd(1), "x", -1, null, {}), { parent: whole(budgetPool(usd(1))), name: "n" }],
  modelLimits: () => [limits],
  fallback: () => [or([is.model(), is.model()], 5, "x", null, [], [5, 5]), { on: ["refusal"], tries: 2 }],
  route: () => [or(() => scriptedModel([]), 5, "x", null, {}), "route"],
  aiSdk: () => [
    whole(aiSdkModel),
    { price, maxOutputTokens: 5, takes: ["image/*"], providerOptions: { p: any({}) }, timeouts: { firstByte: 5, silence: 5, call: 5 } },
  ],
  debugMemory: () => [[is.message()]],
  exportSnapshot: () => [whole(new Memory()), { clock: is.clock() }],
  importSnapshot: () => [or(snapshot, 5, "x", null, {}, [5]), whole(new Memory())],
  snapshotLines: () => [or(snapshot, 5, "x", null, {}, [5])],
  messageFlow: () => [[or(message, 5, null, "x")]],
  flowGraphviz: () => [whole(flow)],
  flowMermaid: () => [whole(flow)],
  describeRole: () => [is.role()],
  forget: () => [
    { user: "u", conversation: "c", tenant: "t" },
    { journal: is.journal(), stores: [is.store()], caches: [is.cache()], runs: () => true, clock: is.clock() },
  ],
  mcpServer: () => [
    {
      name: "n",
      server: { command: "no-such-command", args: ["a"], env: { A: "b" }, cwd: "/" },
      trust: true,
      connectTimeout: 5,
      timeout: 5,
      signal: is.signal(),
      clock: is.clock(),
      logger: is.logger(),
    },
  ],
  mcpToolName: () => ["s", "t"],
  traceRun: () => [
    [event()],
    { tracer: whole({ startSpan() {} }), meter: whole({ createHistogram() {}, createCounter() {} }), content: true, provider: "p" },
  ],
  openai: () => [
    {
      ...server(),
      extra: { a: any(1) },
      price,
      maxOutputTokens: 5,
      takes: ["image/*"],
      dialect: { maxTokensField: "max_tokens" },
      dropsRepeats: true,
      timeouts: { firstByte: 5, silence: 5, call: 5 },
    },
  ],
  openaiEmbedder: () => [
    {
      ...server(),
      dimensions: 5,
      maxBatch: 5,
      maxChars: 5,
      threshold: real(0.5),
      prefix: { query: "q", document: "d" },
      price,
      clock: is.clock(),
    },
  ],
  sqlite: () => [{ path: "/dev/null/nowhere.db" }],
  sqliteStore: () => [{ path: "/dev/null/nowhere.db" }],
  "new ShardedStorage": () => [{ shards: [whole(storage())] }],
  "ShardedStorage.has": () => [or(message, 5, null, {}, [5]), { runId: "r", signal: is.signal() }],
  "ShardedStorage.add": () => [is.message(), { runId: "r", signal: is.signal() }],
  "ShardedStorage.addBatch": () => [[is.message()], { runId: "r", signal: is.signal() }],
  "ShardedStorage.searchSimilar": () => [or(message, 5, null, {}, [5]), { k: 2, signal: is.signal() }],
  "ShardedStorage.delete": () => [or(message, 5, null, {}, [5]), { runId: "r", signal: is.signal() }],
  "ShardedStorage.deleteOlderThan": () => [real(5)],
  "ShardedStorage.persist": () => [{ signal: is.signal() }],
  flushOnSignals: () => [
    or({ persist: async () => {} }, 5, "x", null, {}, [5]),
    { signals: ["SIGTERM"], timeout: 5, onError: () => {}, clock: is.clock() },
  ],
  postgres: () => [{ ...pg(), grace: 5 }],
  postgresBudget: () => [{ ...pg(), name: "n", amount: 5, parent: whole(budgetPool(usd(1))) }],
  postgresLimits: () => [{ ...pg(), name: "n", ...limits }],
  postgresStore: () => [pg()],
  fileCache: () => [{ dir: folder, clock: is.clock() }],
  fileObjects: () => [{ dir: folder, mostBytes: 5 }],
  s3Objects: () => [
    {
      endpoint: "https://s3.example",
      bucket: "bucket",
      prefix: "p",
      region: "r",
      credentials: { accessKeyId: "a", secretAccessKey: "s", sessionToken: "t" },
      mostBytes: 5,
      retries: 5,
      timeout: 5,
      clock: is.clock(),
    },
  ],
  redisCache: () => [
    { url: "redis://127.0.0.1:9", fallback: is.cache(), timeout: 5, connectTimeout: 5, logger: is.logger(), clock: is.clock() },
  ],
  graphileDriver: () => [pg()],
  restateDriver: () => [
    {
      ingress: "http://127.0.0.1:8",
      admin: "http://127.0.0.1:9",
      host: "127.0.0.1",
      port: 5,
      timeout: 5,
      logger: is.logger(),
      clock: is.clock(),
    },
  ],
  gptTokenizer: () => [{ model: "gpt-4o" }],
};

export const workspaces: Readonly<Record<string, Door>> = {
  fileWorkspace: () => [files()],
  openWorkspace: () => [{ ...files(), force: true, signal: is.signal() }],
  repoMap: () => [{ workspace: is.workspace(), budget: 50, focus: "f", signal: is.signal() }],
  workspaceForks: () => [{ workspace: whole({ list() {}, inspectGit() {}, read() {} }), limits: { files: 5, bytes: 5, fileBytes: 5 } }],
  ...Object.fromEntries(
    ["compareFork", "openFork", "removeFork", "updateFork"].map((name) => [name, () => [is.steps(), whole(forked), "n"]]),
  ),
  commitFiles: () => [is.steps(), is.workspace(), { message: "m", author: "a", date: real(5) }],
  mergeFork: () => [is.steps(), whole(forked), "n", data({ message: "m", author: "a", date: real(5) })],
  memoryWorkspace: () => [{ limits: { files: 5, bytes: 500, fileBytes: 50 }, files: { "a.txt": "a" } }],
  visible: () => ["a", 5],
  refusedSandbox: () => ["r", "h"],
  chooseSandbox: () => ["none"],
  codingAgent: () => [{ command: ["claude", "-p"], env: { HOME: "/" }, silence: 1_000, timeout: 2_000, clock: is.clock() }],
  runProjectTests: () => [{ ...project(), files: ["a"] }],
};

export const checks: Readonly<Record<string, Door>> = {
  isProven: () => [or(verification, 5, "x", null, [5])],
  verifyProject: () => [
    {
      ...project(),
      criteria: criteria(),
      stack: "node",
      planned: ["a"],
      depth: "syntax",
      progress: () => {},
    },
  ],
  "new VerificationCache": () => [is.sandbox(), () => undefined],
  "VerificationCache.verify": () => [{ root: folder, timeout: 5, signal: is.signal(), criteria: criteria(), depth: "syntax" }, () => true],
  findVacuous: () => [{ sandbox: is.sandbox(), criteria: criteria(), ...timed() }],
  installPackages: () => [{ ...project(), stack: "node", registry: "https://registry.example" }],
  missingPageMeans: () => [is.sandbox()],
  findNondeterminism: () => ["x"],
  stackNamed: () => ["node"],
  stackOf: () => [["a.ts"]],
  renderVerdicts: () => [[data({ id: "c", priority: "must", outcome: "proven", evidence: "e" })]],
  renderVerification: () => [or(verification, 5, "x", null, {}, [5])],
};
