import type { Message, RoleContext } from "../../src/index.ts";
import type { Workspace } from "../../src/workspace/index.ts";
import { bullets } from "../markdown.ts";
import type { PromptPart } from "../prompt.ts";
import { DeliverySchema, failureMarks } from "./delivery.ts";
import { WorkReportSchema } from "./project-gate.ts";
import { type ShownFiles, shownFiles } from "./shown-files.ts";
import {
  checksPart,
  isOrder,
  newestOrder,
  ownParts,
  parted,
  renderOrder,
  sharedParts,
  type WorkOrder,
  WorkOrderSchema,
  WRITTEN_BY_MANAGER,
} from "./work-order.ts";

/** The files that a worker is shown with its order. */
export interface AssignedFiles {
  /** Those of the design: equal for all who begin from it. */
  readonly design: ShownFiles;
  /** The others that it needs. */
  readonly others: ShownFiles;
}

/** The prompt of a worker in parts. */
export interface AssignmentParts {
  readonly order: WorkOrder;
  readonly files: AssignedFiles;
  /** False: it does not need the checks of the criteria. */
  readonly hasChecks: boolean;
  /** The role and its way of working. */
  readonly role: string;
}

/** A project with more files is shown only where the work is. */
const SMALL_PROJECT = 60;

/**
 * The text of an assignment. It begins with what all colleagues share, so that a provider's cache of prefixes serves them all, and ends with
 * what this one is to do.
 */
export function assignmentText(rc: Pick<RoleContext, "memory" | "news" | "name">, parts: AssignmentParts): string {
  const { order, files, hasChecks, role } = parts;
  const said = saidIn(rc.news);
  return parted([
    ...sharedParts(order),
    ["Files of the design as they are now", files.design.text],
    ...(hasChecks ? [checksPart(order)] : []),
    ...ownParts(order),
    ["Other files as they are now", files.others.text],
    ["Your work so far", bullets(attemptsIn(rc))],
    ...said,
    ["Your role", role],
  ]);
}

/** Returns the text with which a file was shown. */
export type ShownText = (path: string) => string | undefined;

/** The texts of the files that a worker is shown. */
export function shownText({ design, others }: AssignedFiles): ShownText {
  return (path) => design.files.get(path) ?? others.files.get(path);
}

/**
 * Reads the files that a worker needs: those of the design, and others of the project, first those of its task and those that the news names.
 *
 * @param isOther true for a path that is shown beside the design. Documents of the company never are: the order has what they say
 */
export async function assignedFiles(
  rc: RoleContext,
  workspace: Workspace,
  order: WorkOrder,
  isOther: (path: string) => boolean,
): Promise<AssignedFiles> {
  const all = await rc.step("list files", {}, async () => workspace.list(), { fresh: true });
  const own = all.filter((path) => !WRITTEN_BY_MANAGER.has(path));
  const designed = new Set(order.design?.files.map(({ path }) => path));
  const evidence = [order.feedback.at(-1) ?? order.requirement, ...saidIn(rc.news).map(([, text]) => text)].join("\n");
  const task = order.tasks?.find(({ id }) => id === order.task);
  const isNamed = (path: string): boolean => evidence.includes(path);
  const rank = (path: string): number => (task?.owns.includes(path) === true ? 0 : isNamed(path) ? 1 : 2);
  const others = own.filter((path) => !designed.has(path) && isOther(path));
  const near = own.length <= SMALL_PROJECT ? others : others.filter(isNamed);
  const design = [...designed].filter((path) => own.includes(path));
  return {
    design: await shownFiles(rc, workspace, design, rank),
    others: await shownFiles(rc, workspace, near, rank),
  };
}

/** The news besides the order, as text. */
function saidIn(news: readonly Message[]): readonly PromptPart[] {
  return news.flatMap(({ sentFrom, content, instructContent }): PromptPart[] => {
    if (!isOrder(instructContent)) return [[`From ${sentFrom}`, content]];
    const order = renderOrder(WorkOrderSchema.parse(instructContent));
    const more = content.startsWith(order) ? content.slice(order.length).trim() : content;
    const [, heading = `From ${sentFrom}`, said = more] = /^## (.*)\n([^]*)$/.exec(more) ?? [];
    return [[heading, said]];
  });
}

/** The worker's earlier attempts at the user's present words and its present task, with their findings: a new attempt must differ from them. */
function attemptsIn({ memory, news, name }: Pick<RoleContext, "memory" | "news" | "name">): readonly string[] {
  const isNews = new Set(news.map(({ id }) => id));
  const all = memory.get().filter(({ id }) => !isNews.has(id));
  const present = newestOrder(memory);
  const begin = all.findIndex(({ instructContent: payload }) => {
    if (!isOrder(payload)) return false;
    const { feedback, task } = WorkOrderSchema.parse(payload);
    return feedback.length === present?.feedback.length && task === present.task;
  });
  return all.slice(begin === -1 ? all.length : begin).flatMap(({ sentFrom, instructContent }) => {
    const work = WorkReportSchema.safeParse(instructContent);
    if (work.success) return sentFrom === name ? [`You said: ${work.data.summary}`] : [];
    const delivery = DeliverySchema.safeParse(instructContent);
    return delivery.success ? [`Then the verification found: ${failureMarks(delivery.data.verification).join("; ")}`] : [];
  });
}
