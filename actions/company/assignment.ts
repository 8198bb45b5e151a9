import { type Message, type RoleContext, TroupeError } from "../../src/index.ts";
import type { Workspace } from "../../src/workspace/index.ts";
import { bullets, shortened } from "../markdown.ts";
import { parted, type PromptPart } from "../prompt.ts";
import { DeliverySchema, failureMarks } from "./delivery.ts";
import { type WorkReport, WorkReportSchema } from "./work-report.ts";
import {
  changingParts,
  isOrder,
  newestOrder,
  ownParts,
  saidBeside,
  sharedParts,
  type WorkOrder,
  WorkOrderSchema,
  WRITTEN_BY_MANAGER,
} from "./work-order.ts";
import { fileInPrompt } from "../project-files.ts";

/** Files of a project that a worker is shown before its first step. */
interface ShownFiles {
  readonly text: string;
  readonly files: ReadonlyMap<string, string>;
}

/** Some 8,000 tokens. */
const SHOWN_BYTES = 30_000;
const MOST_READ = 60;
const MOST_NAMED = 100;

interface FoundFile {
  readonly path: string;
  readonly bytes: number;
  readonly text: string | null;
}

/**
 * Reads files for a prompt, as a step: whole ones while they fit, in the order of the paths, and the names of the others.
 *
 * @param rank where not all fit, the lowest are chosen first
 */
async function shownFiles(
  rc: Pick<RoleContext, "step">,
  workspace: Workspace,
  paths: readonly string[],
  rank: (path: string) => number,
): Promise<ShownFiles> {
  const chosen = paths.toSorted((one, other) => rank(one) - rank(other)).slice(0, MOST_READ);
  if (chosen.length === 0) return { text: "", files: new Map() };
  const found = await rc.step("read project", { paths: chosen }, () => readEach(workspace, chosen), { fresh: true });
  const files = new Map(found.flatMap(({ path, text }) => (text === null ? [] : [[path, text] as const])));
  const sizes = new Map(found.map(({ path, bytes }) => [path, bytes]));
  const shown = paths.flatMap((path) => {
    const content = files.get(path);
    return content === undefined ? [] : [fileInPrompt({ path, content })];
  });
  return { text: [...shown, ...leftOut(paths, files, sizes)].join("\n\n"), files };
}

async function readEach(workspace: Workspace, paths: readonly string[]): Promise<readonly FoundFile[]> {
  const found: FoundFile[] = [];
  let room = SHOWN_BYTES;
  for (const path of paths) {
    const bytes = await bytesOf(workspace, path);
    if (bytes === undefined) continue;
    const isShown = bytes !== null && bytes.length <= room && !bytes.includes(0);
    if (isShown) room -= bytes.length;
    found.push({ path, bytes: bytes?.length ?? SHOWN_BYTES, text: isShown ? Buffer.from(bytes).toString("utf8") : null });
  }
  return found;
}

async function bytesOf(workspace: Workspace, path: string): Promise<Uint8Array | null | undefined> {
  try {
    return await workspace.readBytes(path, SHOWN_BYTES);
  } catch (error) {
    if (!TroupeError.isInstance(error) || error.code !== "WORKSPACE_LIMIT") throw error;
    return null;
  }
}

function leftOut(paths: readonly string[], files: ReadonlyMap<string, string>, sizes: ReadonlyMap<string, number>): readonly string[] {
  const others = paths.filter((path) => !files.has(path));
  if (others.length === 0) return [];
  const named = others.slice(0, MOST_NAMED).map((path) => {
    const bytes = sizes.get(path);
    return bytes === undefined ? path : bytes < SHOWN_BYTES ? `${path} (${bytes} bytes)` : `${path} (large)`;
  });
  const more = others.length > MOST_NAMED ? `, and ${others.length - MOST_NAMED} more` : "";
  return [`Not shown: ${named.join(", ")}${more}.`];
}

interface AssignedFiles {
  readonly design: ShownFiles;
  readonly others: ShownFiles;
}

interface AssignmentParts {
  readonly order: WorkOrder;
  readonly files: AssignedFiles;
  readonly role: PromptPart;
  /** Parts that come last. */
  readonly own?: readonly PromptPart[];
}

/** For workers that read files themselves. */
export const NO_FILES: AssignedFiles = { design: { text: "", files: new Map() }, others: { text: "", files: new Map() } };

/** A larger project is shown only where the work is. */
const SMALL_PROJECT = 60;

/** It begins with what all colleagues share, so that a provider's cache of prefixes serves them all. */
export function assignmentText(rc: Pick<RoleContext, "memory" | "news" | "name">, parts: AssignmentParts): string {
  const { order, files, role, own = [] } = parts;
  const said = saidIn(rc.news);
  return parted([
    ...sharedParts(order),
    ...changingParts(order),
    ["Files of the design as they are now", files.design.text],
    ...ownParts(order),
    ["Other files as they are now", files.others.text],
    ["Your work so far", bullets(attemptsIn(rc))],
    ...said,
    role,
    ...own,
  ]);
}

export type ShownText = (path: string) => string | undefined;

export function shownText({ design, others }: AssignedFiles): ShownText {
  return (path) => design.files.get(path) ?? others.files.get(path);
}

/**
 * Reads the files that a worker needs: those of the design, and others, first those of its task and those that the news names.
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

function saidIn(news: readonly Message[]): readonly PromptPart[] {
  return news.flatMap((message): PromptPart[] => {
    const { sentFrom, content, instructContent } = message;
    if (!isOrder(instructContent)) return [[`From ${sentFrom === "" ? "the user" : sentFrom}`, content]];
    return [[`From ${sentFrom}`, saidBeside(message)]];
  });
}

function attemptsIn({ memory, news, name }: Pick<RoleContext, "memory" | "news" | "name">): readonly string[] {
  const isNews = new Set(news.map(({ id }) => id));
  const all = memory.get().filter(({ id }) => !isNews.has(id));
  const present = newestOrder(memory);
  const begin = all.findIndex(({ instructContent: payload }) => {
    if (!isOrder(payload)) return false;
    const { feedback, task } = WorkOrderSchema.parse(payload);
    return feedback.length === present?.feedback.length && task === present.task;
  });
  const since = all.slice(begin === -1 ? all.length : begin);
  const newest = since.findLastIndex(
    ({ sentFrom, instructContent }) => sentFrom === name && WorkReportSchema.safeParse(instructContent).success,
  );
  return since.flatMap(({ sentFrom, instructContent }, at) => {
    const work = WorkReportSchema.safeParse(instructContent);
    if (work.success) return sentFrom === name ? saidOf(work.data, at === newest) : [];
    const delivery = DeliverySchema.safeParse(instructContent);
    return delivery.success ? [`Then the verification found: ${failureMarks(delivery.data.verification).join("; ")}`] : [];
  });
}

const EVIDENCE = 8_000;

/** The evidence of the newest attempt, which no one has answered, is shown again. */
function saidOf({ summary, failing, notRun = [] }: WorkReport, isNewest: boolean): readonly string[] {
  const skipped = notRun.map((call) => `A call of yours was not made. ${call}`);
  const found = isNewest && failing !== undefined ? [`Your checks had found:\n${shortened(failing, EVIDENCE)}`] : [];
  return [`You said: ${summary}`, ...skipped, ...found];
}
