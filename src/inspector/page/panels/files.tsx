import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { visibleText } from "../../../kernel/value-text.ts";
import { bytesIn, contentBefore, type FileHistory, filesAt, type FileVersion, pictureUrl } from "../../view/file-history.ts";
import { type DiffLine, diffHunks, lineDiff } from "../../view/line-diff.ts";
import type { SentFact } from "../../view/run-facts.ts";
import { shownLine } from "../../view/shown-text.ts";
import { counted, plural } from "../amounts.ts";
import { Button, type Column, DataTable, Facts, Select, TextView } from "../controls.tsx";
import { ActivationLink } from "../detail-parts.tsx";
import type { OpenRun, Selection, PanelProps } from "../open-run.ts";
import { MessageButton, TwoParts } from "./message-list.tsx";

const LINES = 600;
const MOST_COMPARED = 2_000_000;

export function FilesPanel({ run }: PanelProps) {
  const files = filesAt(run.timeline, run.shown.value);
  const chosen = run.selection.value;
  // The file stays while messages and activations around it are looked at.
  const last = useRef<Extract<Selection, { readonly kind: "file" }> | undefined>(undefined);
  if (chosen?.kind === "file") last.current = chosen;
  const { path: wanted, fork } = last.current ?? {};
  const file = files.find((one) => one.path === wanted && one.fork === fork) ?? files[0];
  if (file === undefined) return <p class="empty soft">No file has been written up to this event.</p>;
  const entries = files.map((one) => ({
    of: one,
    what: { kind: "file", path: one.path, fork: one.fork } as const,
    name: <span class="mono">{shownLine(one.path, 120)}</span>,
    words:
      (one.fork === undefined ? "" : `fork ${shownLine(one.fork, 40)}, `) +
      (one.isThere ? plural(one.versions.length, "version") : "removed or not written"),
  }));
  return (
    <TwoParts run={run} label="Files" entries={entries} chosen={file}>
      <FileDetail key={`${file.path} ${file.fork ?? ""}`} run={run} file={file} />
    </TwoParts>
  );
}

function FileDetail({ run, file }: { readonly run: OpenRun; readonly file: FileHistory }) {
  const number = useSignal<number | undefined>(undefined);
  const isWhole = useSignal(false);
  const version = file.versions[(number.value ?? file.versions.length) - 1] ?? file.versions.at(-1);
  if (version === undefined) return null;
  return (
    <article class="panel-detail body" aria-label={`File ${visibleText(file.path)}`}>
      <h2 class="mono">{shownLine(file.path, 200)}</h2>
      <div class="panel-bar flex">
        <Select
          name="Version"
          value={String(version.number)}
          options={file.versions.map((one) => [
            String(one.number),
            `${one.number} of ${file.versions.length}: ${one.outcome} by ${shownLine(one.activation.act, 60)}, event ${one.seq}`,
          ])}
          onValue={(value) => (number.value = Number(value))}
        />
        {version.base64 === undefined && (
          <Button aria-pressed={isWhole.value} onClick={() => (isWhole.value = !isWhole.value)}>
            Whole file
          </Button>
        )}
      </div>
      <Author run={run} version={version} />
      {version.base64 !== undefined ? (
        <Binary path={version.path} base64={version.base64} />
      ) : isWhole.value ? (
        <TextView text={version.content ?? ""} label="Content" />
      ) : (
        <Difference key={version.number} before={contentBefore(file, version.number)} after={version.content ?? ""} />
      )}
    </article>
  );
}

function Binary({ path, base64 }: { readonly path: string; readonly base64: string }) {
  const url = pictureUrl(base64);
  const size = `${counted(bytesIn(base64))} bytes`;
  if (url === undefined) return <p class="note frame small">This file is no text: {size}.</p>;
  return (
    <figure class="file-picture">
      <img src={url} alt={shownLine(path, 200)} />
      <figcaption class="soft small">{size}</figcaption>
    </figure>
  );
}

/** The record proves which activation wrote a version, and what it took; it does not prove which message asked for it. */
function Author({ run, version }: { readonly run: OpenRun; readonly version: FileVersion }) {
  const { activation, took, said, outcome } = version;
  const lines = (list: readonly SentFact[]) =>
    list.slice(0, 20).map(({ index, message }) => <MessageButton key={index} run={run} message={message} />);
  return (
    <Facts
      facts={[
        [
          outcome === "failed" ? "Tried by" : outcome === "removed" ? "Removed by" : "Written by",
          <ActivationLink run={run} act={activation.act} />,
        ],
        [took.length === 1 ? "It took" : `It took ${took.length}`, lines(took)],
        said.length > 0 && ["It said", lines(said)],
      ]}
    />
  );
}

function Difference({ before, after }: { readonly before: string; readonly after: string }) {
  const most = useSignal(LINES);
  if (before.length + after.length > MOST_COMPARED)
    return (
      <>
        <p class="note frame small">These texts are too long to be compared line by line.</p>
        <TextView text={after} label="Content" />
      </>
    );
  const lines = lineDiff(before, after);
  const hunks = diffHunks(lines);
  const added = lines.filter(({ kind }) => kind === "added").length;
  const removed = lines.filter(({ kind }) => kind === "removed").length;
  const changed = hunks.flatMap((hunk, nth) => hunk.map((line, index) => ({ ...line, isFirst: index === 0 && nth > 0 })));
  return (
    <>
      <p class="small numbers">
        {plural(added, "line")} added, {counted(removed)} removed
      </p>
      <div class="diff mono">
        <DataTable
          label="Difference from the version before"
          columns={DIFF_COLUMNS}
          rows={changed.slice(0, most.value)}
          keyOf={({ before: x = "", after: y = "" }) => `${x} ${y}`}
          lookOf={({ kind, isFirst }) => `diff-${kind}${isFirst ? " diff-gap" : ""}`}
        />
      </div>
      {changed.length > most.value && (
        <Button onClick={() => (most.value += LINES * 4)}>Show more of {counted(changed.length - most.value)} lines</Button>
      )}
    </>
  );
}

const SIGNS: Readonly<Record<DiffLine["kind"], readonly [string, string]>> = {
  same: [" ", ""],
  added: ["+", "added"],
  removed: ["−", "removed"],
};

const DIFF_COLUMNS: readonly Column<DiffLine>[] = [
  [<span class="hidden">Line before</span>, "diff-number soft", ({ before }) => before ?? ""],
  [<span class="hidden">Line after</span>, "diff-number soft", ({ after }) => after ?? ""],
  [<span class="hidden">Change</span>, "diff-sign", ({ kind }) => <DiffSign kind={kind} />],
  [<span class="hidden">Text</span>, "diff-text", ({ text }) => visibleText(text.slice(0, 2_000))],
];

function DiffSign({ kind }: Pick<DiffLine, "kind">) {
  const [sign, word] = SIGNS[kind];
  return (
    <>
      <span aria-hidden="true">{sign}</span>
      <span class="hidden">{word}</span>
    </>
  );
}
