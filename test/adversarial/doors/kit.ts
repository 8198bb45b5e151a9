import { z } from "zod";
import { createMessage, defineAction, defineRole, exactIndex, hashingEmbedder, memoryJournal, MemoryStorage } from "../../../src/index.ts";
import { defineTool } from "../../../src/agent/index.ts";
import { simulatedClock } from "../../../src/testing/simulated-clock.ts";
import { memoryCache, memoryRunDriver, scriptedModel } from "../../../src/testing/index.ts";
import { inMemoryStore } from "../../../src/memory/message-store.ts";
import { estimatedTokens } from "../../../src/memory/tokens.ts";
import { directSteps } from "../../../src/kernel/step.ts";
import { memoryWorkspace, refusedSandbox } from "../../../src/workspace/index.ts";
import { whole } from "./right.ts";

/* Right values that many doors take. */

export const quiet = { debug() {}, info() {}, warn() {}, error() {} };
export const message = createMessage("hello");
export const action = defineAction({ name: "Draft", prompt: (ctx) => ctx.text });
export const tool = defineTool({ name: "look", description: "looks", execute: () => 1 });
export const role = (name = "Ada") => defineRole({ name, actions: [action] });
export const schemaWithDefaults = z.object({ a: z.string().default("x") });
const schema = z.object({ a: z.string() });
export const model = () => scriptedModel(() => "ok");
export const storage = () => new MemoryStorage({ roleId: "Ada" });

export const is = {
  model: () => whole(model()),
  journal: () => whole(memoryJournal()),
  driver: () => whole(memoryRunDriver()),
  clock: () => whole(simulatedClock()),
  logger: () => whole(quiet),
  signal: () => whole(new AbortController().signal),
  embedder: () => whole(hashingEmbedder()),
  index: () => whole(exactIndex()),
  tokens: () => whole(estimatedTokens),
  cache: () => whole(memoryCache()),
  store: () => whole(inMemoryStore()),
  steps: () => whole(directSteps(new AbortController().signal)),
  schema: () => whole(schema),
  workspace: () => whole(memoryWorkspace()),
  sandbox: () => whole(refusedSandbox("none here", "none")),
  message: () => whole(message),
  role: () => whole(role()),
  action: () => whole(action),
  tool: () => whole(tool),
};
