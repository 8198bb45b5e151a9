/**
 * The cases of the bench: what one unit of work is, and how much of it each peer is given. `sizes` names, for each peer, how many units one
 * process does; a list is a row each. A peer that is not named does not have the case, and `without` says why where it is worth a word.
 *
 * `measure` is what is compared: `each` microseconds for one unit, `whole` milliseconds for all of them, `heap` bytes of heap for one.
 * `slow` bounds the rounds of sizes that take long by themselves; `flags` are for Node.
 */
const M = 1_000_000;
const BIG = ["--max-old-space-size=12000"];

export const TABLE = [
  {
    name: "hop",
    unit: "a message to the other one, observed, thought over and answered",
    measure: "each",
    sizes: {
      troupe: [2_000, 20_000, 200_000, M],
      bare: [20_000, M],
      nact: [2_000, 20_000, 200_000, M],
      xstate: [2_000, 20_000, 200_000],
      langgraph: [100, 500, 2_000],
      mastra: [100, 500, 2_000],
      "openai-agents": [100, 500],
    },
    slow: { troupe: { [M]: 3 }, langgraph: { 2_000: 3 }, mastra: { 2_000: 3 }, "openai-agents": { 500: 3 } },
    flags: BIG,
  },
  {
    name: "hop-rounds",
    unit: "the same in rounds, which is the default scheduler",
    measure: "each",
    sizes: {
      troupe: [20_000, 200_000],
      "troupe:hop": [20_000, 200_000],
      "xstate:hop": [20_000, 200_000],
      "nact:hop": [20_000, 200_000],
    },
    flags: BIG,
  },
  {
    name: "hop-no-memory",
    unit: "a hop in an environment that forgets",
    measure: "each",
    sizes: { troupe: [20_000, 200_000, M], "troupe:hop": [20_000, 200_000] },
    slow: { troupe: { [M]: 3 } },
    flags: BIG,
  },
  {
    name: "hop-step",
    unit: "a hop of roles that are plain functions over a state",
    measure: "each",
    sizes: { troupe: [20_000, 200_000, M], "troupe:hop": [20_000, 200_000], "bare:hop": [20_000, M], "nact:hop": [20_000, 200_000, M] },
    slow: { troupe: { [M]: 3 }, "nact:hop": { [M]: 3 } },
    flags: BIG,
  },
  {
    name: "hop-step-no-memory",
    unit: "the same, in an environment that forgets",
    measure: "each",
    sizes: { troupe: [20_000, 200_000, M], "troupe:hop-step": [200_000], "bare:hop": [20_000, 200_000, M] },
    slow: { troupe: { [M]: 3 } },
    flags: BIG,
  },
  {
    name: "hop-payload",
    unit: "a message with a plan of thirty tasks to the other one, who passes it on",
    measure: "each",
    sizes: { troupe: [2_000, 20_000], bare: [20_000] },
    flags: BIG,
  },
  { name: "listened", unit: "a hop with a listener to every act", measure: "each", sizes: { troupe: [200_000], "troupe:hop": [200_000] } },
  {
    name: "chain",
    unit: "one message through a hundred participants",
    measure: "each",
    sizes: { troupe: [1_000], nact: [1_000], xstate: [1_000], langgraph: [10], mastra: [10] },
  },
  {
    name: "fanout",
    unit: "one of the recipients of one message, which it observes and acts upon",
    measure: "each",
    sizes: {
      troupe: [10, 1_000, 10_000, M],
      bare: [10_000],
      nact: [10, 1_000, 10_000, M],
      xstate: [10, 1_000, 10_000],
      langgraph: [10, 1_000, 10_000],
      mastra: [10, 1_000],
    },
    slow: { troupe: { [M]: 3 }, nact: { [M]: 3 }, langgraph: { 10_000: 1 } },
    flags: BIG,
  },
  {
    name: "fanout-step",
    unit: "the same, of roles that are plain functions over a state",
    measure: "each",
    sizes: { troupe: [1_000, 10_000, M], "troupe:fanout": [10_000], "bare:fanout": [10_000], "nact:fanout": [10_000, M] },
    slow: { troupe: { [M]: 3 }, "nact:fanout": { [M]: 3 } },
    flags: BIG,
  },
  {
    name: "fanin",
    unit: "one of the messages to one participant",
    measure: "each",
    sizes: { troupe: [10_000], nact: [10_000], xstate: [10_000] },
  },
  {
    name: "publish",
    unit: "a broadcast that one watches, among so many who do not: published and in the mailbox",
    measure: "each",
    sizes: { troupe: [1_000, M], bare: [1_000, M] },
    slow: { troupe: { [M]: 3 } },
    flags: BIG,
    without: { nact: "no broadcast", xstate: "no broadcast", langgraph: "no broadcast", mastra: "no broadcast" },
  },
  {
    name: "typed",
    unit: "an answer of a model without latency, read against a schema",
    measure: "each",
    sizes: { troupe: [1_000], ai: [500], "openai-agents": [200] },
  },
  {
    name: "stream",
    unit: "an answer of a model without latency in 100 pieces, each handed to the caller",
    measure: "each",
    sizes: { troupe: [200], ai: [200], "openai-agents": [100], langgraph: [100] },
  },
  {
    name: "agent",
    unit: "one step of an agent: a call of a tool that does nothing",
    measure: "each",
    sizes: { troupe: [50, 500], ai: [50, 500], "openai-agents": [50, 500], langgraph: [50, 200] },
    slow: { ai: { 500: 3 }, "openai-agents": { 500: 3 }, langgraph: { 200: 3 } },
  },
  {
    name: "durable",
    unit: "a hop of a run that is kept on the disk",
    measure: "each",
    sizes: { troupe: [5_000], bare: [1_000], langgraph: [200] },
    without: {
      nact: "no store in the package",
      xstate: "no store in the package",
      "openai-agents": "no store of runs",
      ai: "no store of runs",
    },
  },
  {
    name: "resume",
    unit: "a run of so many hops on the disk is opened, gone on with for one hop, and ended",
    measure: "whole",
    sizes: { troupe: [200, 5_000], langgraph: [200] },
  },
  {
    name: "parallel",
    unit: "16 participants who wait 200 ms for a model each",
    measure: "whole",
    sizes: { troupe: [16], bare: [16], nact: [16], langgraph: [16], mastra: [16], "openai-agents": [16], ai: [16] },
  },
  {
    name: "idle",
    unit: "one participant that waits, in bytes of heap",
    measure: "heap",
    sizes: { troupe: [10_000], nact: [10_000], xstate: [10_000] },
  },
  {
    name: "idle-full",
    unit: "one that waits and has reactions, typed actions, state, addresses and a goal, in bytes of heap",
    measure: "heap",
    sizes: { troupe: [10_000] },
  },
  {
    name: "idle-agent",
    unit: "one agent with a tool that waits, in bytes of heap",
    measure: "heap",
    sizes: { troupe: [10_000], "openai-agents": [10_000], ai: [10_000], langgraph: [300], mastra: [1_000] },
  },
  {
    name: "million",
    unit: "a million participants are made: milliseconds for all",
    measure: "whole",
    sizes: { troupe: [M], nact: [M], xstate: [M] },
    slow: { troupe: { [M]: 3 }, nact: { [M]: 3 }, xstate: { [M]: 1 } },
    flags: BIG,
  },
  {
    name: "crowd",
    unit: "ten messages to each of so many, one after another: milliseconds for all, and the same final state every time",
    measure: "whole",
    sizes: { troupe: [10_000, 100_000], nact: [10_000, 100_000] },
    slow: { troupe: { 100_000: 2 }, nact: { 100_000: 2 } },
    flags: BIG,
  },
  {
    name: "crowd-step",
    unit: "the same, of roles that are plain functions over a state",
    measure: "whole",
    sizes: { troupe: [10_000, M], "troupe:crowd": [10_000], "nact:crowd": [10_000, M] },
    slow: { troupe: { [M]: 2 }, "nact:crowd": { [M]: 2 } },
    flags: BIG,
  },
];

const PEERS = ["nact", "xstate", "ai", "openai-agents", "langgraph", "mastra"];

/** Whole processes, from their start to their end; `bare` is Node alone. None of the peers' packages has a command. */
export const COLD = [
  { name: "import", unit: "a process that imports it and ends", how: "import", peers: ["troupe", "bare", "zod", ...PEERS] },
  {
    name: "first-message",
    unit: "a process that brings a first message to somebody and ends",
    how: "message",
    peers: ["troupe", "bare", ...PEERS],
  },
  { name: "help", unit: "a process that tells how the command is used", how: "help", peers: ["troupe", "bare"] },
];

/** Packages that are installed alone; the versions are those of this folder's package.json. */
export const INSTALLED = {
  nact: ["nact"],
  xstate: ["xstate"],
  ai: ["ai", "zod"],
  "openai-agents": ["@openai/agents", "zod"],
  langgraph: ["@langchain/langgraph", "@langchain/core", "zod"],
  "langgraph with its SQLite saver": ["@langchain/langgraph", "@langchain/core", "@langchain/langgraph-checkpoint-sqlite", "zod"],
  mastra: ["@mastra/core", "zod"],
};
