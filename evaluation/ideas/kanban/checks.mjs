const add = (text) => [
  { do: "type", at: "#new-card", text },
  { do: "click", at: "#add" },
];
const cards = (column, count) => ({ do: "expect", at: `[data-column=${column}] .card`, count });
const count = (column, equals) => ({ do: "expect", at: `[data-column=${column}] .count`, equals });
const first = (column) => `[data-column=${column}] .card`;
const right = { do: "press", at: first("todo"), key: "ArrowRight" };
const further = { do: "press", at: first("doing"), key: "ArrowRight" };
const doing = (text) => [...add(text), right];

export const list = {
  size: "M",
  stack: "page",
  start: { page: true },
  quality: ["no network", "no packages"],
  checks: [
    {
      says: "a card is added by the button",
      page: [...add("Buy milk"), cards("todo", 1), { do: "expect", at: ".card .title", equals: "Buy milk" }],
    },
    {
      says: "a card is added by Enter",
      page: [{ do: "type", at: "#new-card", text: "Walk" }, { do: "press", at: "#new-card", key: "Enter" }, cards("todo", 1)],
    },
    { says: "the field is empty afterwards", page: [...add("One"), { do: "expect", at: "#new-card", value: "" }] },
    { says: "an empty title adds nothing", page: [...add("   "), cards("todo", 0)] },
    {
      says: "new cards come at the end",
      page: [
        ...add("One"),
        ...add("Two"),
        { do: "expect", at: `${first("todo")}:last-child .title, ${first("todo")}:last-of-type .title`, contains: ["Two"] },
      ],
    },
    {
      says: "a card is dragged to Doing",
      page: [...add("Drag me"), { do: "drag", at: first("todo"), to: "[data-column=doing]" }, cards("todo", 0), cards("doing", 1)],
    },
    {
      says: "a card is dragged from To do to Done and back",
      page: [
        ...add("Drag me"),
        { do: "drag", at: first("todo"), to: "[data-column=done]" },
        cards("done", 1),
        { do: "drag", at: first("done"), to: "[data-column=todo]" },
        cards("done", 0),
        cards("todo", 1),
      ],
    },
    {
      says: "arrow keys move a card",
      page: [
        ...doing("Key"),
        cards("doing", 1),
        { do: "press", at: first("doing"), key: "ArrowLeft" },
        cards("todo", 1),
        cards("doing", 0),
      ],
    },
    {
      says: "a card in the first column does not move further left",
      page: [...add("Stay"), { do: "press", at: first("todo"), key: "ArrowLeft" }, cards("todo", 1)],
    },
    {
      says: "the columns count their cards",
      page: [...add("a"), ...add("b"), right, count("todo", "1"), count("doing", "1"), count("done", "0")],
    },
    {
      says: "Doing takes no fourth card, by key",
      page: [
        ...["a", "b", "c", "d"].flatMap(doing),
        cards("doing", 3),
        cards("todo", 1),
        { do: "expect", at: "#message", visible: true, matches: "\\S" },
      ],
    },
    {
      says: "Doing takes no fourth card, by dragging",
      page: [
        ...["a", "b", "c"].flatMap(doing),
        ...add("d"),
        { do: "drag", at: first("todo"), to: "[data-column=doing]" },
        cards("doing", 3),
        cards("todo", 1),
      ],
    },
    { says: "a card is deleted", page: [...add("Gone"), { do: "click", at: ".card .delete" }, cards("todo", 0), count("todo", "0")] },
    {
      says: "undo brings a deleted card back",
      page: [
        ...add("Back"),
        { do: "click", at: ".card .delete" },
        { do: "click", at: "#undo" },
        cards("todo", 1),
        { do: "expect", at: ".card .title", equals: "Back" },
      ],
    },
    {
      says: "editing keeps the new title with Enter",
      page: [
        ...add("Old"),
        { do: "click", at: ".card .edit" },
        { do: "type", at: ".editor", text: "New" },
        { do: "press", at: ".editor", key: "Enter" },
        { do: "expect", at: ".card .title", equals: "New" },
        { do: "reload" },
        { do: "expect", at: ".card .title", equals: "New" },
      ],
    },
    {
      says: "Escape leaves the old title",
      page: [
        ...add("Old"),
        { do: "click", at: ".card .edit" },
        { do: "type", at: ".editor", text: "New" },
        { do: "press", at: ".editor", key: "Escape" },
        { do: "expect", at: ".card .title", equals: "Old" },
      ],
    },
    {
      says: "an empty edit is not kept",
      page: [
        ...add("Old"),
        { do: "click", at: ".card .edit" },
        { do: "type", at: ".editor", text: "" },
        { do: "press", at: ".editor", key: "Enter" },
        { do: "reload" },
        { do: "expect", at: ".card .title", equals: "Old" },
      ],
    },
    {
      says: "search hides what does not match, in any case",
      page: [
        ...add("Apple pie"),
        { do: "type", at: "#search", text: "APPLE" },
        { do: "expect", at: ".card", visible: true },
        { do: "type", at: "#search", text: "zzz" },
        { do: "expect", at: "text=Apple pie", visible: false },
      ],
    },
    {
      says: "clear removes the cards of Done, and undo brings them back",
      page: [
        ...doing("x"),
        further,
        ...doing("y"),
        further,
        ...add("z"),
        { do: "click", at: "#clear-done" },
        cards("done", 0),
        cards("todo", 1),
        { do: "click", at: "#undo" },
        cards("done", 2),
      ],
    },
    {
      says: "everything is there after a reload",
      page: [
        ...add("one"),
        ...add("two"),
        right,
        { do: "reload" },
        cards("todo", 1),
        cards("doing", 1),
        { do: "expect", at: `${first("doing")} .title`, equals: "one" },
        { do: "expect", at: `${first("todo")} .title`, equals: "two" },
      ],
    },
    {
      says: "a deleted card does not come back with a reload",
      page: [...add("one"), ...add("two"), { do: "click", at: ".card .delete" }, { do: "reload" }, cards("todo", 1)],
    },
    {
      says: "a title is text",
      page: [
        ...add("<b>x</b>"),
        { do: "expect", at: ".card .title", equals: "<b>x</b>" },
        { do: "expect", at: ".card b", count: 0 },
        { do: "reload" },
        { do: "expect", at: ".card .title", equals: "<b>x</b>" },
        { do: "expect", at: ".card b", count: 0 },
      ],
    },
  ],
};
