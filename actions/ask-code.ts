import { OutputError, type RoleContext } from "../src/index.ts";
import { readCodeReply } from "./code-reply.ts";
import { inFence } from "./fenced-block.ts";
import { shortened } from "./markdown.ts";

/** How a file is asked for; the last words of every prompt for code. */
const ANSWER =
  "Answer with the whole file, complete and ready to run, in one fenced code block and nothing else. Leave nothing out and write no placeholders. If the file itself has lines of three backticks, use a longer fence.";

/** Characters of a reply that could not be used which the model is shown again. */
const SHOWN_REPLY = 2_000;
/** Characters of it that an error keeps. */
const KEPT_REPLY = 20_000;

/**
 * Asks for the content of one file. A reply without it is asked for once more, with what was wrong.
 *
 * @throws OutputError `CODE_MISSING` when the second reply holds no file either; its data keeps the path and the reply.
 * @throws ModelError, ControlError
 */
export async function askCode(ctx: RoleContext, path: string, prompt: string): Promise<string> {
  const question = `${prompt}\n\n${ANSWER}`;
  const first = await ctx.ask(question);
  const read = readCodeReply(first, path);
  if (read.kind === "code") return read.code;
  const shown = inFence(shortened(first, SHOWN_REPLY));
  const second = await ctx.ask(
    `${question}\n\nYour last reply ${read.fault}, so it could not be used. It was:\n${shown}\n\nNow the file ${path} again. ${ANSWER}`,
  );
  const again = readCodeReply(second, path);
  if (again.kind === "code") return again.code;
  throw new OutputError(
    "CODE_MISSING",
    `Expected the file ${path} in a fenced block, also after asking again, but the reply ${again.fault}. Use a model that can write code.`,
    { data: { path, fault: again.fault, text: shortened(second, KEPT_REPLY) } },
  );
}
