import { PassThrough, type Readable } from "node:stream";
import { LONGEST_TIMEOUT } from "./process.ts";
import type { Sandbox, SandboxRequest, SandboxResult } from "./sandbox.ts";

/** A request of `run`, or of a program that stays and is talked to. */
export interface TalkedRequest extends SandboxRequest {
  readonly talk?: { readonly input: Readable; readonly onOutput: (chunk: Uint8Array) => void };
}

/** Makes the `start` of a sandbox from its `run`: one way into the sandbox, whether a program stays or not. */
export function startBy(run: (request: TalkedRequest) => Promise<SandboxResult>): NonNullable<Sandbox["start"]> {
  return ({ onOutput, timeout = LONGEST_TIMEOUT, ...request }) => {
    const input = new PassThrough();
    const ended = run({ ...request, timeout, talk: { input, onOutput } }).finally(() => input.destroy());
    // Who started it hears of a failure where they wait for the end, and may not have come to that yet.
    ended.catch(() => {});
    return { write: (text) => void (input.destroyed || input.write(text)), ended };
  };
}
