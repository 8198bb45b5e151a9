import { eitherSignal, withTimeout } from "../kernel/abort.ts";
import { contentHash } from "../kernel/json.ts";
import type { Attempts, StepPort } from "../kernel/step.ts";
import { callModel, type CallPolicy } from "../model/call.ts";
import type { ChatModel, Usage } from "../model/chat-model.ts";
import type { Embedder, EmbedOptions } from "./embedder.ts";

/** Bytes of a number in a vector. */
const BYTES = 4;

/** Options of {@link meteredEmbedder}. */
export interface MeterParts {
  readonly steps: StepPort;
  readonly policy: CallPolicy;
  /** Deadline of all attempts by the policy's clock. After it the embedder fails as if it were unreachable. Default: none. */
  readonly until?: number | undefined;
}

/**
 * Makes every batch of an embedder that is not free a recorded step, paid as a model call is. The strings are recorded by hash.
 * @throws ModelError, ControlError
 */
export function meteredEmbedder(embedder: Embedder, { steps, policy, until = Infinity }: MeterParts): Embedder {
  const { id, model = id } = embedder;
  const timeLeft = (): number => Math.max(1, until - policy.clock.now());
  const embed: Embedder["embed"] = async (texts, o = {}) => {
    const { kind = "document", signal = new AbortController().signal } = o;
    if (embedder.isFree === true) {
      return withTimeout(policy.clock, timeLeft(), `an embedding by ${id}`, signal, (inner) =>
        embedder.embed(texts, { ...o, signal: inner }),
      );
    }
    const request = { embedder: id, kind, texts: texts.map((text) => contentHash(text).slice(0, 32)) };
    const vectors = await steps.step({ kind: "embedding", name: model, request, metered: true }, async ({ attempts, signal: ended }) => {
      let made: readonly string[] = [];
      const embeds: ChatModel["chat"] = async (_request, { signal: inner }) => {
        let usage: Usage | undefined;
        const onUsage: EmbedOptions["onUsage"] = ({ inputTokens }) => (usage = { inputTokens, outputTokens: 0 });
        made = (await embedder.embed(texts, { signal: inner, kind, isOneTry: true, onUsage })).map(encoded);
        return { content: "embedded", toolCalls: [], finishReason: "stop", ...(usage && { usage }) };
      };
      const asked = { ...asModel(embedder, embeds), ...(until === Infinity ? {} : { timeouts: { call: timeLeft() } }) };
      const deps = { ...policy, attempts: inProcess(attempts), signal: eitherSignal(ended, signal) };
      await callModel(asked, { messages: [{ role: "user", content: texts.join("\n") }], maxTokens: 1 }, deps);
      return made;
    });
    return vectors.map(decoded);
  };
  if (embedder.isFree === true && until === Infinity) return embedder;
  const { dimensions, maxBatch, maxChars, threshold } = embedder;
  return { id, dimensions, maxBatch, maxChars, threshold, embed };
}

/** Leaves out `run`: a port of effects knows chat models only. */
function inProcess(attempts: Attempts): Attempts {
  return {
    open: (hold, o) => attempts.open(hold, o),
    settle: (outcome) => attempts.settle(outcome),
    get current() {
      return attempts.current;
    },
  };
}

function asModel({ id, model = id, price }: Embedder, chat: ChatModel["chat"]): ChatModel {
  // `streams: false`: it is never called.
  const stream: ChatModel["stream"] = async function* () {
    yield* [];
  };
  return { id: model, ...(price === undefined ? {} : { price }), streams: false, chat, stream };
}

/** Writes 32-bit numbers as base64: a third of the size of digits. */
function encoded(vector: ArrayLike<number>): string {
  const bytes = new DataView(new ArrayBuffer(vector.length * BYTES));
  for (let n = 0; n < vector.length; n++) bytes.setFloat32(n * BYTES, vector[n] as number, true);
  return btoa(String.fromCharCode(...new Uint8Array(bytes.buffer)));
}

function decoded(text: string): Float32Array {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Float32Array.from({ length: bytes.length / BYTES }, (_, n) => view.getFloat32(n * BYTES, true));
}
