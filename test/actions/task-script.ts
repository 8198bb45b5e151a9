import type { ChatRequest } from "../../src/index.ts";
import { type ScriptedModel, scriptedModel, type ScriptedReply } from "../../src/testing/index.ts";
import type { ScriptedOptions } from "../../src/testing/scripted-model.ts";

/** Replies by task: one for all its questions, or one for each of them in turn. */
export type TaskReplies = Readonly<Record<string, ScriptedReply | readonly ScriptedReply[]>>;

/** The task a question names in its first line. When a reply is asked for again, that is the question before. */
export function taskOf(request: ChatRequest): string {
  const questions = request.messages.filter((message) => message.role === "user").map((message) => message.content ?? "");
  return (
    questions
      .find((question) => question.startsWith("# "))
      ?.split("\n")[0]
      ?.slice(2) ?? ""
  );
}

/** All text of the user's side of a request. */
export function questionIn(request: ChatRequest | undefined): string {
  return (request?.messages ?? []).flatMap((message) => (message.role === "user" ? [message.content ?? ""] : [])).join("\n\n");
}

/** A model that answers by task. A task it has no reply for, or no more, is an error of the test. */
export function taskModel(replies: TaskReplies, options: ScriptedOptions = {}): ScriptedModel {
  const used = new Map<string, number>();
  return scriptedModel((request) => {
    const task = taskOf(request);
    const given = replies[task];
    const list: readonly (ScriptedReply | undefined)[] = Array.isArray(given) ? given : [];
    const n = used.get(task) ?? 0;
    used.set(task, n + 1);
    const reply = Array.isArray(given) ? list[n] : (given as ScriptedReply | undefined);
    if (reply === undefined) throw new Error(`the script has no reply number ${n + 1} for: ${task}`);
    return reply;
  }, options);
}

/** The tasks a model was asked, in order. */
export function tasksOf(model: ScriptedModel): string[] {
  return model.calls.map(taskOf);
}
