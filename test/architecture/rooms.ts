/**
 * The rooms of the house and who may import whom.
 *
 * The table is the law: a room is what it is because of its place here. `packages` are the npm packages a room may name, `lazy` those it may
 * load later; `node` the built-in
 * modules: a list, or "any".
 */
export interface Room {
  readonly name: string;
  readonly kind: "core" | "edge" | "shelf" | "cli" | "index";
  readonly packages: readonly string[];
  /** Packages it may name in a type or an `import()` alone. */
  readonly lazy?: readonly string[];
  readonly node: readonly string[] | "any";
}

const CORE_PACKAGES = ["zod", "eventemitter3", "p-queue"];
/** The modules that a room may load when it first needs them, and must not import before. */
const LAZY: Readonly<Record<string, readonly string[]>> = {
  memory: ["minisearch"],
  model: ["jsonrepair"],
  workspace: ["quickjs-emscripten"],
  research: ["@rgrove/parse-xml", "hyparquet-writer", "jstat", "ml-matrix", "vega", "vega-interpreter", "vega-lite"],
};
/**
 * The modules of Node that a core room may import: random values and hashes. The model follows a chain of waits, to find the activation that code runs in. The
 * runtime writes snapshots as structured clones.
 */
const NODE: Readonly<Record<string, readonly string[]>> = {
  model: ["node:crypto", "node:async_hooks"],
  runtime: ["node:crypto", "node:v8", "node:zlib"],
};
const CORE = ["kernel", "message", "model", "memory", "tool", "agent", "role", "runtime", "team"];
const EDGES: Readonly<Record<string, readonly string[]>> = {
  adapters: [
    "zod",
    "openai",
    "libsql",
    "redis",
    "gpt-tokenizer",
    "@modelcontextprotocol/client",
    "@opentelemetry/api",
    "yaml",
    "pg",
    "graphile-worker",
    "aws4fetch",
    "@restatedev/restate-sdk",
  ],
  tools: ["zod"],
  workspace: ["zod"],
  checks: ["zod", "acorn", "shell-quote"],
  testing: ["zod"],
  client: ["zod"],
  inspector: ["zod", "preact", "@preact/signals", "diff"],
  server: ["zod", "hono", "@hono/node-server"],
  fleet: ["zod"],
  edges: [],
  research: [],
};
/** Edges that stand on what programs get too: of the core the kernel alone, of other edges their doors. */
const ON_THE_PUBLIC: ReadonlySet<string> = new Set(["research"]);

/** All rooms, in order. */
export const ROOMS: readonly Room[] = [
  ...CORE.map((name): Room => ({
    name,
    kind: "core",
    packages: CORE_PACKAGES,
    lazy: LAZY[name] ?? [],
    node: NODE[name] ?? ["node:crypto"],
  })),
  ...Object.entries(EDGES).map(([name, packages]): Room => ({ name, kind: "edge", packages, lazy: LAZY[name] ?? [], node: "any" })),
  { name: "index", kind: "index", packages: [], node: [] },
  { name: "actions", kind: "shelf", packages: ["zod"], node: ["node:crypto", "node:path", "node:path/posix"] },
  {
    name: "roles",
    kind: "shelf",
    packages: ["zod"],
    lazy: ["@dagrejs/graphlib"],
    node: ["node:crypto", "node:fs/promises", "node:path", "node:path/posix"],
  },
  { name: "cli", kind: "cli", packages: ["commander", "zod"], node: "any" },
];

/**
 * Files of a later room that an earlier one loads when it first needs them, and whose types it may name: the owner of a run may be another process, and
 * a conversation with an agent is a run of a team.
 */
const LOADED: ReadonlySet<string> = new Set(["team>src/fleet/remote-runs.ts", "agent>src/team/agent-conversation.ts"]);

/** True for a file that a room may load by `import()`, and name in a type, and must not import. */
export function mayLoad(from: Room, to: string): boolean {
  return LOADED.has(`${from.name}>${to}`);
}

/** The room a file lives in, or undefined when it lives in none: `src/stray.ts`, a folder the table does not know. */
export function roomOf(path: string): Room | undefined {
  const [top, second, third] = path.split("/");
  const name = /^src\/(index|memories|ports)\.ts$/.test(path) ? "index" : top === "src" ? (third === undefined ? undefined : second) : top;
  return ROOMS.find((room) => room.name === name);
}

/** Adapters that need no vendor, or load it with their first call, and are published with the core. */
const ON_THE_ROOT: ReadonlySet<string> = new Set(["src/adapters/openai.ts", "src/adapters/file-cache.ts"]);

/** Tools may write through the workspace, although it stands after them. */
const EXCEPTIONS: ReadonlySet<string> = new Set(["tools>workspace"]);

/** Tools are defined in the core and published with the agents. */
const TOOLS_DOOR = "src/agent/index.ts";

/**
 * A room on the public may follow a run by the list of events, the one function that changes its state, event by event, and the view of the state that
 * a stop condition gets.
 */
const FOLD_DOORS: ReadonlySet<string> = new Set([
  "src/runtime/record/apply.ts",
  "src/runtime/record/event.ts",
  "src/runtime/stop-condition.ts",
]);

/** True when a file of the first room may import the file `to` of the second. */
export function mayImport(from: Room, room: Room, to: string): boolean {
  if (from === room) return true;
  if (room.name === "testing" && from.kind !== "cli") return false;
  switch (from.kind) {
    case "cli":
      return true;
    case "index":
      return room.kind === "core" || ON_THE_ROOT.has(to);
    case "core":
      return room.kind === "core" && isEarlier(room, from);
    case "edge":
      if (ON_THE_PUBLIC.has(from.name))
        return room.name === "kernel" || room.kind === "index" || FOLD_DOORS.has(to) || (room.kind === "edge" && isDoor(to));
      return room.kind === "core" || (room.kind === "edge" && (isEarlier(room, from) || EXCEPTIONS.has(`${from.name}>${room.name}`)));
    case "shelf":
      return room.kind === "index" || to === TOOLS_DOOR || room.kind === "edge" || (room.kind === "shelf" && isEarlier(room, from));
  }
}

/** Returns whether research may import a file of an edge: its index, or, among the adapters, the file of one vendor. */
function isDoor(path: string): boolean {
  return /^src\/(adapters\/[^/]+|[^/]+\/index)\.ts$/.test(path);
}

function isEarlier(a: Room, b: Room): boolean {
  return ROOMS.indexOf(a) < ROOMS.indexOf(b);
}
