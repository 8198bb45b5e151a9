import type { ComponentChildren } from "preact";
import { type Block, markdownBlocks, type Span } from "../view/markdown.ts";
import { DataTable } from "./controls.tsx";

/** The Markdown of a model, a person or a file as elements. Its HTML is text. */
export function markdownView(text: string): ComponentChildren {
  return markdownBlocks(text).map((block, key) => <BlockView key={key} {...block} />);
}

function BlockView(block: Block) {
  switch (block.kind) {
    case "heading":
      return <h4>{spansView(block.spans)}</h4>;
    case "code":
      return <pre>{block.text}</pre>;
    case "list": {
      const items = block.items.map(([depth, spans], nth) => (
        <li key={nth} class={`depth-${depth}`}>
          {spansView(spans)}
        </li>
      ));
      return block.start === undefined ? <ul>{items}</ul> : <ol start={block.start}>{items}</ol>;
    }
    case "table": {
      const columns = block.head.map((title, nth) => [spansView(title), undefined, (row: Row) => spansView(row[nth] ?? [])] as const);
      return <DataTable label="Table" columns={columns} rows={block.rows} />;
    }
    default:
      return <p class={block.kind}>{spansView(block.spans)}</p>;
  }
}

type Row = readonly (readonly Span[])[];

function spansView(spans: readonly Span[]): ComponentChildren {
  return spans.map((span, key) => {
    if (typeof span === "string") return span;
    if (span.kind === "code") return <code key={key}>{span.text}</code>;
    return span.kind === "strong" ? <strong key={key}>{spansView(span.spans)}</strong> : <em key={key}>{spansView(span.spans)}</em>;
  });
}
