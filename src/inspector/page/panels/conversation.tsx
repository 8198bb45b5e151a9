import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { visibleText } from "../../../kernel/value-text.ts";
import { Conversation } from "../../view/conversation.ts";
import type { SentFact } from "../../view/run-facts.ts";
import { shownLine } from "../../view/shown-text.ts";
import { beginningOf, spokenLine } from "../../view/spoken.ts";
import { counted, plural } from "../amounts.ts";
import { Button, Choose, TextView } from "../controls.tsx";
import { RoleLink } from "../detail-parts.tsx";
import { markdownView } from "../markdown-view.tsx";
import type { OpenRun, PanelProps } from "../open-run.ts";
import { Badge } from "../status.tsx";
import { Result } from "./result.tsx";
import { huesOf, WholeRun } from "./whole-run.tsx";

const FIRST = 100;
/** Characters of a content that is shown whole where its sender says nothing beside it. */
const SHORT = 700;

type Turn = ReturnType<Conversation["at"]>[number];

export function ConversationPanel({ run }: PanelProps) {
  const talk = useMemo(() => new Conversation(run.timeline), [run]);
  const most = useSignal(FIRST);
  const turns = talk.at(run.shown.value);
  const hues = huesOf(run);
  const threads = new Map<number, Turn[]>();
  for (const turn of turns.slice(0, most.value)) threads.set(turn.thread, [...(threads.get(turn.thread) ?? []), turn]);
  return (
    <div class="talk">
      <div class="body">
        <Result run={run} />
        <section class="stack" aria-label="Conversation">
          {turns.length === 0 && <p class="soft">No message has been sent up to this event.</p>}
          {[...threads].map(([thread, list]) => (
            <ol key={thread} class="thread frame" aria-label={`Thread ${thread + 1}`}>
              {list.map((turn) => (
                <TurnView key={turn.sent.index} run={run} talk={talk} hues={hues} turn={turn} />
              ))}
            </ol>
          ))}
          {turns.length > most.value && (
            <Button onClick={() => (most.value += 2 * FIRST)}>Show more ({counted(turns.length - most.value)} messages left)</Button>
          )}
        </section>
      </div>
      <WholeRun run={run} hues={hues} />
    </div>
  );
}

interface TalkProps {
  readonly run: OpenRun;
  readonly talk: Conversation;
  readonly hues: ReadonlyMap<string, string>;
}

function TurnView({ turn: { sent, answers, points }, ...talk }: TalkProps & { readonly turn: Turn }) {
  const isDispute = points.length > 0;
  // A message does not change once it is sent, and this page is drawn with every part of a run that is read.
  const said = useMemo(() => [sent, ...answers].map((one) => <Said key={one.index} {...talk} sent={one} />), [sent, answers.length]);
  return (
    <li class={isDispute ? "dispute" : undefined}>
      {isDispute && <h3>Dispute</h3>}
      {said}
      {points.map(({ why, outcome }, nth) => (
        <p key={nth} class="small">
          <Badge sign={DISPUTES[outcome]} /> {shownLine(why, 240)}
        </p>
      ))}
    </li>
  );
}

const DISPUTES = {
  open: ["warn", "question", "Open"],
  corrected: ["good", "done", "Corrected"],
  stays: ["info", "none", "Stays"],
  answered: ["info", "say", "Answered"],
} as const;

function Said({ run, talk, hues, sent }: TalkProps & { readonly sent: SentFact }) {
  const { message } = sent;
  const to = talk.recipientsOf(sent);
  const answered = talk.answeredBy(sent);
  const quoted = answered.at(-1)?.message;
  const name = nameOf(message.sentFrom);
  const isRole = message.sentFrom !== "";
  return (
    <article
      class={isRole ? "said of-role" : "said"}
      style={{ "--hue": hues.get(message.sentFrom) }}
      aria-label={`Message ${sent.index + 1} from ${name}`}
    >
      <span class="face strong" aria-hidden="true">
        {name.slice(0, String.fromCodePoint(name.codePointAt(0) ?? 0).length)}
      </span>
      <div class="said-body tight">
        <p class="flex">
          <span class="said-name strong nowrap">{isRole ? <RoleLink run={run} name={message.sentFrom} /> : name}</span>
          {to.length > 0 && <span class="soft">to {shownLine(to.join(", "), 120)}</span>}
          <span class="tag tiny soft mono">{shownLine(message.causeBy, 60)}</span>
        </p>
        {quoted !== undefined && (
          <p class="quote cut soft">
            {nameOf(quoted.sentFrom)}: {spokenLine(quoted, 160)}
            {answered.length > 1 && ` (and ${plural(answered.length - 1, "other message")})`}
          </p>
        )}
        <Words run={run} sent={sent} />
      </div>
    </article>
  );
}

function Words({ run, sent: { index, message } }: { readonly run: OpenRun; readonly sent: SentFact }) {
  const isOpen = useSignal(false);
  const { id, speech, content } = message;
  const isWhole = speech === undefined && content.length <= SHORT;
  const { title, words } = useMemo(() => beginningOf(content), [content]);
  return (
    <>
      {speech !== undefined && <p class="words">{visibleText(speech)}</p>}
      {speech === undefined && !isWhole && (
        <p class="words">
          {title !== "" && <strong>{title}. </strong>}
          {shownLine(words, 280)}
        </p>
      )}
      {(isWhole || isOpen.value) && <TextView text={content} label={`Content of message ${index + 1}`} as={markdownView} />}
      <p class="flex">
        {!isWhole && content !== speech && (
          <Button look="plain" aria-expanded={isOpen.value} onClick={() => (isOpen.value = !isOpen.value)}>
            {isOpen.value ? "Less" : `Whole message (${counted(content.length)} characters)`}
          </Button>
        )}
        <Choose class="choose soft" run={run} what={{ kind: "message", id }}>
          Details
        </Choose>
      </p>
    </>
  );
}

function nameOf(sentFrom: string): string {
  return sentFrom === "" ? "The user" : shownLine(sentFrom, 60);
}
