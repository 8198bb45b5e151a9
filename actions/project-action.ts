import { Action, type ActionContext, type Address, type Message, ROUTE_TO_ALL, UsageError, type InputsOf } from "../src/index.ts";
import { kinds, checkKnownOptions, type Known } from "../src/ports.ts";
import type { Workspace } from "../src/workspace/index.ts";
import type { z } from "zod";
import { type ProjectFile, ProjectFiles } from "./project-files.ts";

/** Options of every action on a project. */
export interface ProjectActionOptions {
  readonly workspace: Workspace;
  /** Default: everyone who watches the action. */
  readonly sendTo?: readonly Address[];
}

/** @internal */
export const projectActionOptions: Known<ProjectActionOptions> = { workspace: kinds.workspace, sendTo: kinds.addresses };

export interface Made {
  readonly files: readonly { readonly path: string }[];
  readonly summary: string;
  readonly speech?: string | undefined;
}

/** An action that writes into the project of its run. */
export abstract class ProjectAction<O, N extends readonly Address[]> extends Action<O, N> {
  protected readonly files: ProjectFiles;
  readonly #sendTo: readonly Address[];

  /**
   * @param known the options of a subclass that takes more
   * @throws UsageError `ARGUMENT_INVALID` without a workspace, `OPTION_UNKNOWN`
   */
  constructor(options: ProjectActionOptions, known: Known<Record<string, unknown>> = projectActionOptions) {
    super();
    checkProjectOptions(`new ${new.target.name}`, options, known);
    this.files = new ProjectFiles(options.workspace);
    this.#sendTo = options.sendTo ?? [ROUTE_TO_ALL];
  }

  override sendTo(_ctx: ActionContext<InputsOf<N>>, _output: O | undefined): readonly Address[] {
    return this.#sendTo;
  }

  /** The commit names the message. Without files there is no commit. */
  protected async conclude(ctx: ActionContext<InputsOf<N>>, output: O, made: Made): Promise<Message<O>> {
    const message = ctx.message<O>(this.render?.(output) ?? made.summary, {
      instructContent: output,
      speech: made.speech,
      sendTo: this.sendTo(ctx, output),
    });
    const paths = made.files.map(({ path }) => path);
    if (paths.length > 0) await this.files.commit(ctx, { message: made.summary, paths, messageId: message.id });
    return message;
  }

  protected async write(ctx: ActionContext<InputsOf<N>>, files: readonly ProjectFile[]): Promise<void> {
    for (const file of files) await this.files.write(ctx, file);
  }
}

/**
 * @internal
 * @throws UsageError `ARGUMENT_INVALID` without a workspace, `OPTION_UNKNOWN`
 */
export function checkProjectOptions(maker: string, options: unknown, known: Known<Record<string, unknown>>): void {
  if (!hasWorkspace(options)) {
    throw new UsageError("ARGUMENT_INVALID", `Expected the options of ${maker} to have a workspace. Write ${maker}({ workspace }).`);
  }
  checkKnownOptions(maker, options, known);
}

function hasWorkspace(options: unknown): boolean {
  try {
    const { workspace } = options as { readonly workspace?: unknown };
    return typeof workspace === "object" && workspace !== null;
  } catch {
    return false;
  }
}

/** @throws UsageError `ARGUMENT_INVALID` for a value that is no message or no schema; `INPUT_INVALID` for another payload */
export function payloadOf<T>(message: Message<T>, schema: z.ZodType<T>): T {
  const parsed = payloadIn(message, schema);
  if (parsed.success) return parsed.data;
  throw new UsageError(
    "INPUT_INVALID",
    `Expected message ${message.id}, caused by ${message.causeBy}, to carry what that action gives: ${parsed.error.message}. Put it into instructContent.`,
    { cause: parsed.error },
  );
}

function payloadIn<T>(message: Message<T>, schema: z.ZodType<T>): z.ZodSafeParseResult<T> {
  try {
    return schema.safeParse(message.instructContent);
  } catch (error) {
    throw new UsageError("ARGUMENT_INVALID", "Expected payloadOf to get a message and a zod schema. Write payloadOf(message, PrdSchema).", {
      cause: error,
    });
  }
}

export function documentFiles(kind: "prd" | "system_design" | "task", name: string, value: unknown, text: string): readonly ProjectFile[] {
  return [
    { path: `docs/${kind}/${name}.json`, content: JSON.stringify(value, undefined, 2) },
    { path: `docs/${kind}/${name}.md`, content: text },
  ];
}
