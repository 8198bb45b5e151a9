import { basename } from "node:path";
import { JournalError, UsageError } from "../../kernel/errors.ts";
import { freshRunId } from "../../kernel/id.ts";
import type { Json } from "../../kernel/json.ts";
import { thrownText } from "../../kernel/value-text.ts";
import type { Message } from "../../message/message.ts";
import type { Action } from "../../role/action.ts";
import { roleSpec } from "../../role/role-spec.ts";
import type { RunEvent } from "../../runtime/record/event.ts";
import { runInfo } from "../../runtime/record/journal.ts";
import { assertUnread, changedMessage, type MessageChange } from "../../runtime/replay/fork-copy.ts";
import { restoreFiles } from "../../workspace/restore-files.ts";
import { aboutFor, readAbout, type RunAbout } from "../about.ts";
import { assertOwnProject, crewOf, recordedParts } from "../company.ts";
import { NO_PORTS } from "../crew-file.ts";
import type { ExitCode } from "../errors.ts";
import { invalidOption } from "../option-words.ts";
import type { Flags } from "../options.ts";
import { earlierRounds, inConfirmedFolder, produce } from "../production.ts";
import { shown } from "../screen/text.ts";
import type { Session } from "../session.ts";
import { companySettings, type CompanySettings } from "../settings.ts";
import { sealOf, type Store } from "../store.ts";
import { eventAt, loadRun, withRun } from "../stored-run.ts";
import { readText } from "../text-file.ts";

export function fork(session: Session, flags: Flags, id: string): Promise<ExitCode> {
  return withRun(session, flags, id, (store, parentId) => forked(session, store, parentId, flags));
}

async function forked(session: Session, store: Store, parentId: string, flags: Flags): Promise<ExitCode> {
  const { host, screen } = session;
  const { signal } = session.interruptions;
  const { at, wanted, add } = await forkRequest(session, store, parentId, flags);
  const parent = await loadRun(store.journal, parentId, { at, signal });
  const change = await changesOf(wanted, readAbout(parent.state.about));
  for (const [nth, one] of change.entries()) assertUnread(one, changedMessage((wanted[nth] as WantedChange).event, one), parent.state);
  const hasMessage = add.length > 0;
  const { about, sandbox, chosen, ...recorded } = await recordedParts(session, store, parent, flags, hasMessage);
  assertOwnProject(about);
  const { out, seed = about.seed } = companySettings(flags);
  const settings: CompanySettings = { ...recorded.settings, out, seed };
  screen.say(screen.style.strong(`Forking run ${shown(parentId, 100)} at event ${at}.`));
  const asked = { settings, chosen, sandbox, idea: `fork of: ${about.idea}`, name: basename(about.out), isConfirmed: flags.yes === true };
  return inConfirmedFolder(session, asked, async (folder) => {
    const runId = freshRunId(host.clock.now());
    const parts = { settings, chosen, sandbox, folder, store, runId };
    const kept = aboutFor({ ...parts, idea: about.idea, version: host.version, seal: await sealOf(store, runId) });
    // The parent has paid for the shared part.
    const progress = Object.assign(parent.progress, { spent: 0, unpriced: 0, tokens: 0 });
    const { reuse = "all" } = flags;
    const options = { id: runId, at, change, add, about: kept, rounds: settings.rounds, reuse, signal };
    return produce(session, {
      ...parts,
      past: { progress, held: 0, files: undefined, rounds: earlierRounds(parent.state, hasMessage) },
      prepare: async ({ workspace }) => void (await restoreFiles(workspace, store.journal.read(parentId, 0), { at, signal })),
      begin: ({ team }) => team.fork(parentId, { ...options, ...(seed === undefined ? {} : { seed }) }),
    });
  });
}

interface WantedChange {
  readonly seq: number;
  readonly nth: number;
  readonly event: RunEvent;
  readonly file?: { readonly name: string; readonly text: string };
}

async function forkRequest({ host }: Session, { journal }: Store, runId: string, flags: Flags) {
  const info = await runInfo(journal, runId);
  const named = [...(flags.drop ?? []).map(wantedDrop), ...(flags.edit ?? []).map(wantedEdit)];
  const last = named.length === 0 ? info.events - 1 : Math.max(...named.map(({ seq }) => seq));
  const { at = last } = flags;
  const eventOf = async (seq: number): Promise<RunEvent> => {
    const event = seq > at ? undefined : await eventAt(journal, info, seq);
    if (event !== undefined) return event;
    const id = shown(runId, 60);
    const expected = `Expected the number of an event that is shared with run ${id}, 0 to ${Math.min(at, info.events - 1)}`;
    throw new JournalError("FORK_POINT", `${expected}, got ${seq}. See them: troupe runs events ${id}`);
  };
  await eventOf(at);
  const wanted: WantedChange[] = [];
  for (const { seq, nth, file } of named) {
    const edit = file === undefined ? {} : { file: { name: file, text: await readText(host, file, "--edit") } };
    wanted.push({ seq, nth, event: await eventOf(seq), ...edit });
  }
  const add: string[] = [];
  for (const file of flags.add ?? []) {
    const text = (await readText(host, file, "--add")).trim();
    if (text === "") throw new UsageError("OPTION_INVALID", `Expected a message in ${shown(file, 100)}, got an empty file.`);
    add.push(text);
  }
  return { at, wanted, add };
}

interface NamedMessage {
  readonly seq: number;
  readonly nth: number;
  readonly file?: string;
}

/** `12=file`, or `12.1=file` for the second message of event 12. */
function wantedEdit(text: string): NamedMessage {
  const [, seq, nth = "0", file] = /^(\d{1,10})(?:\.(\d{1,4}))?=(.+)$/s.exec(text) ?? [];
  if (seq !== undefined && file !== undefined) return { seq: Number(seq), nth: Number(nth), file };
  throw invalidOption("--edit", "the number of an event and a file, such as 12=idea.md", text);
}

/** `12`, or `12.1` for the second message of event 12. */
function wantedDrop(text: string): NamedMessage {
  const [, seq, nth = "0"] = /^(\d{1,10})(?:\.(\d{1,4}))?$/.exec(text) ?? [];
  if (seq !== undefined) return { seq: Number(seq), nth: Number(nth) };
  throw invalidOption("--drop", "the number of an event, such as 12", text);
}

async function changesOf(wanted: readonly WantedChange[], about: RunAbout | undefined): Promise<readonly MessageChange[]> {
  const isOfCrew = wanted.some(({ file }) => file !== undefined) && about !== undefined && about.agent === undefined;
  const actions = isOfCrew ? (await crewOf(about, NO_PORTS)).roles.flatMap((role) => roleSpec(role).actions) : [];
  return wanted.map((one) => (one.file === undefined ? { seq: one.seq, nth: one.nth, drop: true } : edited(one, one.file, actions)));
}

/** The change of a message to the content of a file. A message with data is edited as that data, in JSON; its text follows from it. */
function edited(
  { seq, nth, event }: WantedChange,
  { name, text }: NonNullable<WantedChange["file"]>,
  actions: readonly Action[],
): MessageChange {
  const { message } = changedMessage(event, { seq, nth });
  if (message.instructContent === undefined) return { seq, nth, content: text.trim() };
  const action = actions.find((one) => one.name === message.causeBy);
  const payload = parsedJson(text, name, message);
  if (action?.output === undefined) return { seq, nth, instructContent: payload };
  const parsed = action.output.safeParse(payload);
  if (!parsed.success) throw notData(name, message, parsed.error.message);
  return { seq, nth, instructContent: parsed.data, ...(action.render === undefined ? {} : { content: action.render(parsed.data) }) };
}

function parsedJson(text: string, file: string, message: Message): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw notData(file, message, thrownText(error));
  }
}

function notData(file: string, { causeBy }: Message, why: string): UsageError {
  const expected = `Expected ${shown(file, 100)} to hold the data of a message of ${shown(causeBy, 60)}, as JSON`;
  return new UsageError("EDIT_INVALID", `${expected}, but ${shown(why, 500)}. See it with: troupe runs events <id> --json`);
}
