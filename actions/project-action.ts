import { Action, type ActionContext, type Address, type InputsOf, type Message, ROUTE_TO_ALL, UsageError } from "../src/index.ts";
import type { Workspace } from "../src/workspace/index.ts";
import type { z } from "zod";
import { type ProjectFile, ProjectFiles } from "./project-files.ts";

/** What every action on a project is made with. */
export interface ProjectActionOptions {
  /** Where the project is written. */
  readonly workspace: Workspace;
  /** Who hears of the result. Default: everyone who watches the action. */
  readonly sendTo?: readonly Address[];
}

/** What an action made: the files it wrote, and how its commit says it in one line. */
export interface Made {
  readonly files: readonly { readonly path: string }[];
  readonly summary: string;
}

/** An action that works on a project: it writes files, commits them, and tells the result as a typed message. */
export abstract class ProjectAction<O, N extends readonly Address[]> extends Action<O, N> {
  protected readonly files: ProjectFiles;
  readonly #sendTo: readonly Address[];

  constructor(options: ProjectActionOptions) {
    super();
    this.files = new ProjectFiles(options.workspace);
    this.#sendTo = options.sendTo ?? [ROUTE_TO_ALL];
  }

  override sendTo(_ctx: ActionContext<InputsOf<N>>, _output: O | undefined): readonly Address[] {
    return this.#sendTo;
  }

  /** Commits what was made and gives the message that tells of it; the commit names the message. Without files there is no commit. */
  protected async conclude(ctx: ActionContext<InputsOf<N>>, output: O, made: Made): Promise<Message<O>> {
    const message = ctx.message<O>(this.render?.(output) ?? made.summary, { instructContent: output, sendTo: this.sendTo(ctx, output) });
    const paths = made.files.map(({ path }) => path);
    if (paths.length > 0) await this.files.commit(ctx, { message: made.summary, paths, messageId: message.id });
    return message;
  }

  /** Writes files, one step each. */
  protected async write(ctx: ActionContext<InputsOf<N>>, files: readonly ProjectFile[]): Promise<void> {
    for (const file of files) await this.files.write(ctx, file);
  }
}

/**
 * The typed payload of a message.
 *
 * @throws UsageError `INPUT_INVALID` when somebody published the message without one, or with another.
 */
export function payloadOf<T>(message: Message<T>, schema: z.ZodType<T>): T {
  const parsed = schema.safeParse(message.instructContent);
  if (parsed.success) return parsed.data;
  throw new UsageError(
    "INPUT_INVALID",
    `Expected message ${message.id}, caused by ${message.causeBy}, to carry what that action gives: ${parsed.error.message}. Put it into instructContent.`,
    { cause: parsed.error },
  );
}

/** A document in both its forms: JSON for programs, Markdown for people. */
export function documentFiles(kind: "prd" | "system_design" | "task", name: string, value: unknown, text: string): readonly ProjectFile[] {
  return [
    { path: `docs/${kind}/${name}.json`, content: JSON.stringify(value, undefined, 2) },
    { path: `docs/${kind}/${name}.md`, content: text },
  ];
}
