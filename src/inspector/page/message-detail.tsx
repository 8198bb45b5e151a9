import { useSignal } from "@preact/signals";
import { visibleText } from "../../kernel/value-text.ts";
import type { MessageFile } from "../../message/file.ts";
import { messageDetail, type Recipient } from "../view/detail.ts";
import type { SentFact } from "../view/run-facts.ts";
import { shownLine } from "../view/shown-text.ts";
import { momentOf } from "../view/run-terms.ts";
import type { ClockKind } from "../../runtime/schedulers/scheduler.ts";
import { pictureUrl } from "../view/file-history.ts";
import { counted, momentText } from "./amounts.ts";
import { Button, Choose, Facts, Fault, Form, JsonView, Part, TextField, TextView, useTask } from "./controls.tsx";
import { ActivationLine, CauseList, clockFact, MessageLine, RoleLink, senderOf } from "./detail-parts.tsx";
import { markdownView } from "./markdown-view.tsx";
import type { OpenRun } from "./open-run.ts";
import { FIRST_PANEL, hashOf } from "./route.ts";
import type { RunSource } from "./run-source.ts";
import { Icon } from "./status.tsx";

interface MessageViewProps {
  readonly run: OpenRun;
  readonly source: RunSource;
  readonly sent: SentFact;
}

export function MessageView({ run, source, sent }: MessageViewProps) {
  const detail = messageDetail(run.timeline, sent.index, run.shown.value);
  if (detail === undefined) return <p class="soft">The message is sent by event {sent.seq}, after the event that is shown.</p>;
  const { message, seq } = sent;
  const { by } = detail;
  const time = run.timeline.event(seq)?.time;
  return (
    <>
      <Facts
        facts={[
          ["From", message.sentFrom === "" ? senderOf(sent) : <RoleLink run={run} name={message.sentFrom} />],
          ["To", message.sendTo.map((address) => shownLine(address, 60)).join(", ")],
          ["Cause", <span class="tag tiny soft mono">{shownLine(message.causeBy, 100)}</span>],
          by && ["Sent by", <ActivationLine run={run} fact={by} />],
          [
            "Event",
            <Choose run={run} what={{ kind: "event", seq }}>{`${seq}${time === undefined ? "" : `, ${momentText(time)}`}`}</Choose>,
          ],
          clockFact(run, seq),
          ["Id", <span class="mono">{shownLine(message.id, 100)}</span>],
        ]}
      />
      <Part title="Content">
        {message.speech !== undefined && <p class="said-words">{visibleText(message.speech)}</p>}
        <TextView text={message.content} label="Content of the message" as={markdownView} />
      </Part>
      <FileList run={run} source={source} files={message.files ?? []} />
      {message.instructContent !== undefined && message.instructContent !== null && (
        <Part title="Typed content">
          <JsonView value={message.instructContent} label="Typed content of the message" />
        </Part>
      )}
      <Recipients run={run} sent={sent} recipients={detail.recipients} />
      {detail.parents.length > 0 && (
        <Part title="Answers">
          <ul class="lines tight">
            {detail.parents.map(({ id, sent: parent }) => (
              <li key={id}>
                {parent === undefined ? <span class="mono">{shownLine(id, 100)}</span> : <MessageLine run={run} sent={parent} />}
              </li>
            ))}
          </ul>
        </Part>
      )}
      <CauseList run={run} start={{ kind: "message", index: sent.index }} />
      <ForkForm key={message.id} run={run} source={source} sent={sent} />
    </>
  );
}

function FileList({ files, ...rest }: Pick<MessageViewProps, "run" | "source"> & { readonly files: readonly MessageFile[] }) {
  if (files.length === 0) return null;
  return (
    <Part title="Files">
      <ul class="lines tight">
        {files.map((file) => (
          <FileLine key={file.hash} file={file} {...rest} />
        ))}
      </ul>
    </Part>
  );
}

/** A picture is shown on request, because it may be large. What it is follows from its bytes. */
function FileLine({ run, source, file }: Pick<MessageViewProps, "run" | "source"> & { readonly file: MessageFile }) {
  const url = useSignal<string | undefined>(undefined);
  const { fault, start, isBusy } = useTask();
  const { file: read } = source;
  const show = async (): Promise<void> => {
    url.value = pictureUrl((await read?.(run.id, file.hash)) ?? "");
  };
  const name = shownLine(file.name, 200);
  return (
    <li>
      <span>{name}</span> <span class="soft small">{`${shownLine(file.type, 100)}, ${counted(file.size)} bytes`}</span>{" "}
      {read !== undefined && file.type.startsWith("image/") && url.value === undefined && (
        <Button disabled={isBusy} onClick={() => start(show)}>
          Show
        </Button>
      )}
      <Fault text={fault} />
      {url.value !== undefined && (
        <figure class="file-picture">
          <img src={url.value} alt={name} />
        </figure>
      )}
    </li>
  );
}

function ForkForm({ run, source, sent }: MessageViewProps) {
  const isOpen = useSignal(false);
  const text = useSignal(sent.message.content);
  const task = useTask();
  const { actions } = source;
  if (actions === undefined) return null;
  const fork = async (): Promise<void> => {
    const change = text.value === sent.message.content ? [] : [{ seq: sent.seq, nth: sent.nth, content: text.value }];
    const id = await actions.fork(run.id, sent.seq, change);
    location.hash = hashOf({ page: "run", run: id, panel: FIRST_PANEL });
  };
  if (!isOpen.value)
    return (
      <Button onClick={() => (isOpen.value = true)}>
        <Icon name="fork" /> Fork here with this message edited
      </Button>
    );
  return (
    <Form task={task} submit={() => task.start(fork)} verb="Fork" cancel={["Cancel", () => (isOpen.value = false)]}>
      <TextField name="The message in the fork" text={text} rows={8} />
      <p class="small soft">
        The new run shares everything up to event {sent.seq} and pays only for what differs. This run stays as it is.
      </p>
    </Form>
  );
}

function Recipients({ run, sent, recipients }: Omit<MessageViewProps, "source"> & { readonly recipients: readonly Recipient[] }) {
  return (
    <Part title="Recipients">
      {sent.isRemoved && <p class="small">The fork has removed it: no role received it.</p>}
      {recipients.length === 0 && !sent.isRemoved && <p class="small soft">No role watches for it.</p>}
      <ul class="lines tight">
        {recipients.map((recipient, index) => (
          <li key={index}>
            <RoleLink run={run} name={recipient.role} />
            <span class="soft">
              {deliveryWords(recipient, run.timeline.now.clock)}
              {FATE_WORDS[recipient.fate](recipient.seq)}
            </span>
            {recipient.taker !== undefined && <ActivationLine run={run} fact={recipient.taker} />}
            {recipient.fault?.reads !== undefined && (
              <div class="delivery-reads">
                <p class="small">What arrives there, rewritten by {policies(recipient.fault.by)}:</p>
                <TextView
                  text={recipient.fault.reads.content}
                  label={`What ${shownLine(recipient.role, 60)} reads${recipient.fault.copy === undefined ? "" : `, copy ${recipient.fault.copy}`}`}
                />
              </div>
            )}
          </li>
        ))}
        {sent.dead.map((address) => (
          <li key={address} class="bad">
            {shownLine(address, 60)}: no role has this address
          </li>
        ))}
      </ul>
    </Part>
  );
}

function policies(by: readonly string[]): string {
  return by.map((name) => shownLine(name, 60)).join(" and ");
}

function deliveryWords({ fate, due, fault }: Recipient, clock: ClockKind): string {
  const said = [
    ...(fault?.copy === undefined ? [] : [`copy ${fault.copy}`]),
    ...(fault === undefined || fate === "lost" ? [] : [`by the edges: ${policies(fault.by)}`]),
    ...(due === undefined ? [] : [`due: ${momentOf(clock, due)}`]),
    ...(fault === undefined || fate !== "lost" ? [] : [policies(fault.by)]),
  ];
  return said.length === 0 ? "" : `${said.join("; ")}: `;
}

const FATE_WORDS: Readonly<Record<Recipient["fate"], (seq: number) => string>> = {
  "on its way": () => "on its way",
  waiting: () => "waits in the mailbox",
  taken: (seq) => `taken at event ${seq} by`,
  dropped: (seq) => `dropped from a full mailbox at event ${seq}`,
  lost: () => "lost on its way, by the edges",
  dead: (seq) => `a dead letter at event ${seq}: the role was retired`,
  double: () => "had it already",
};
