import { readable, takes } from "../kernel/argument.ts";
import { throwIfAborted } from "../kernel/abort.ts";
import { UsageError } from "../kernel/errors.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import type { ToolCall } from "../model/chat-message.ts";
import { type CalledTool, notRun } from "./call-outcome.ts";
import { type CallToolOptions, callToolOptions, checkToolCalls, wholeOptions, type WholeCallOptions } from "./call-options.ts";
import { answered, isReady, permit, type ReadyCall, readyCall, runReady, told } from "./call-tool.ts";
import { checkChoiceForm, forbiddenBy, type ToolChoice } from "./tool-choice.ts";

/** What the calls of one reply are made with. */
export interface CallToolsOptions extends CallToolOptions {
  /** Calls under way at once. Default: 4. */
  readonly concurrency?: number | undefined;
  /** What the model was told it may call: providers let models call more than that. Default: "auto". */
  readonly choice?: ToolChoice | undefined;
}

const callToolsOptions: Known<CallToolsOptions> = { ...callToolOptions, concurrency: true, choice: true };

/** More calls in one reply are not made: a model that asks for so many has gone astray. */
const MAX_CALLS = 128;

/**
 * The calls of one reply, each answered, in their order.
 *
 * B1 calls run side by side, at most `concurrency` at once; one of a tool that is not `parallel`, or that `ends`, runs alone, after all
 * before it and before all after it. B2 persons are asked one at a time, before any call of those that run side by side begins. B3 after a
 * call that ended the work none runs: the rest is `skipped`. B4 two calls of one id cannot be told apart by their answers: the second does not
 * run. B5 when the door throws, no further call begins, and what is under way is awaited first.
 *
 * @throws like `callTool`; UsageError `CONCURRENCY_INVALID`, `TOOL_CHOICE_INVALID`
 */
export async function callTools(calls: readonly ToolCall[], given: CallToolsOptions): Promise<readonly CalledTool[]> {
  takes("callTools", "calls", calls, readable);
  takes("callTools", "options", given, readable);
  checkToolCalls(calls);
  checkKnownOptions("callTools", given, callToolsOptions);
  const options = wholeOptions(given);
  const { signal } = options;
  const { concurrency = 4, choice = "auto" } = given;
  checkChoiceForm(choice);
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw new UsageError("CONCURRENCY_INVALID", `Expected a whole number of 1 or more calls at once, got ${concurrency}.`);
  }
  const taken = new Set<string>();
  const looked = calls.map(
    (call, index) => refusal(call, index, taken) ?? forbiddenBy(choice, call, options.tools) ?? readyCall(call, options),
  );
  const answers: CalledTool[] = [];
  for (const group of sideBySide(looked)) {
    throwIfAborted(signal);
    const [only] = group;
    if (answers.some((answer) => answer.ends)) answers.push(...group.map((one) => told(skipped(one.call), options)));
    else if (group.length === 1 && only !== undefined) answers.push(await answered(only, options));
    else answers.push(...(await runGroup(group, concurrency, options)));
  }
  return answers;
}

type Looked = ReadyCall | CalledTool;

function refusal(call: ToolCall, index: number, taken: Set<string>): CalledTool | undefined {
  if (index >= MAX_CALLS) return notRun(call, "skipped", `only the first ${MAX_CALLS} calls of one reply are made. Make fewer at once.`);
  if (taken.has(call.id)) {
    return notRun(call, "invalid", "a call before it has the same id, so that nobody can tell their answers apart. Call again, alone.");
  }
  taken.add(call.id);
  return undefined;
}

function skipped(call: ToolCall): CalledTool {
  return notRun(call, "skipped", "a call before it had ended the work.");
}

/** Calls that may run side by side, in their order. */
function sideBySide(looked: readonly Looked[]): readonly (readonly Looked[])[] {
  const groups: Looked[][] = [];
  let isOpen = false;
  for (const one of looked) {
    const isAlone = isReady(one) && (!one.tool.parallel || one.tool.ends);
    const last = groups.at(-1);
    if (last === undefined || !isOpen || isAlone) groups.push([one]);
    else last.push(one);
    isOpen = !isAlone;
  }
  return groups;
}

async function runGroup(group: readonly Looked[], concurrency: number, options: WholeCallOptions): Promise<readonly CalledTool[]> {
  const permitted: Looked[] = [];
  for (const one of group) permitted.push(isReady(one) && one.decision === "ask" ? await permit(one, options) : one);
  const answers = new Map<number, CalledTool>();
  let next = 0;
  let isOver = false;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < permitted.length && !isOver; index = next++) {
      const one = permitted[index];
      if (one === undefined) continue;
      try {
        answers.set(index, isReady(one) ? await runReady(one, options) : told(one, options));
      } catch (error) {
        isOver = true;
        throw error;
      }
    }
  };
  const workers = Array.from({ length: Math.min(concurrency, permitted.length) }, worker);
  const failed = (await Promise.allSettled(workers)).find((end) => end.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return permitted.flatMap((_, index) => answers.get(index) ?? []);
}
