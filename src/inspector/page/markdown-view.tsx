import type { ComponentChildren } from "preact";
import { type Block, markdownBlocks, type Span } from "../view/markdown.ts";

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
    case "table":
      return (
        <table>
          <thead>{rowView(block.head, "th")}</thead>
          <tbody>{block.rows.map((row) => rowView(row, "td"))}</tbody>
        </table>
      );
    default:
      return <p class={block.kind}>{spansView(block.spans)}</p>;
  }
}

function rowView(cells: readonly (readonly Span[])[], Cell: "th" | "td") {
  return (
    <tr>
      {cells.map((cell, nth) => (
        <Cell key={nth}>{spansView(cell)}</Cell>
      ))}
    </tr>
  );
}

function spansView(spans: readonly Span[]): ComponentChildren {
  return spans.map((span, key) => {
    if (typeof span === "string") return span;
    if (span.kind === "code") return <code key={key}>{span.text}</code>;
    return span.kind === "strong" ? <strong key={key}>{spansView(span.spans)}</strong> : <em key={key}>{spansView(span.spans)}</em>;
  });
}
