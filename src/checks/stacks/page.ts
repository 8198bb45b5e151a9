import type { Stack } from "../stack.ts";

/** Pages that a browser opens from the disk. */
export const pageStack: Stack = {
  name: "page",
  description: "a page in a browser: HTML, CSS and JavaScript that work when index.html is opened from the disk, without a server",
  rules: [
    "index.html works when it is opened from the disk (file://), without a server, a build step or the network: no CDN, no web font, no fetch of a file. " +
      "Styles stand in styles.css, scripts under src/; index.html names all of them by relative paths.",
    'Scripts are classic scripts at the end of the body: <script src="src/cards.js"></script>, in the order in which they need each other. Never write ' +
      'type="module", import or export in a file that the page loads: browsers refuse modules from the disk. Classic scripts share one global scope, so each file ' +
      "wraps its code in (() => { ... })();, or a name that two files declare stops the page.",
    "Logic without the DOM stands in files of its own, which run in the page and in Node.js alike: they add their functions to one global object, as in " +
      "globalThis.Kanban = { ...globalThis.Kanban, moveCard }; and never touch document, window or localStorage. src/app.js, which is loaded last, connects " +
      "them with the DOM.",
    "State that outlives a reload is kept in localStorage. Reading it expects that it is missing, broken or refused, and begins with an empty state then. Text of " +
      "users enters the page by textContent or value, never by innerHTML.",
    "Every element that a person uses has an id or a data-testid, and a label or visible text: checks find elements by CSS selectors and by their text. What can " +
      "be dragged can also be done by a button or a key.",
    "Tests of the logic stand in tests/<file>.test.mjs and use node:test and node:assert/strict. They load a script for its effect, import " +
      '"../src/cards.js", and call globalThis.Kanban.moveCard(...). Each test asserts something that would fail if the code were wrong; none is skipped. They need ' +
      'no DOM. package.json has "private": true and "scripts": { "test": "node --test" }, and no "type".',
    'README.md says in a section "Use" that index.html is to be opened, and what can be done there.',
  ],
  layout: ["index.html", "README.md"],
  sources: [".html", ".css", ".js"],
  testPath: "tests/cards.test.mjs",
  test: ["node", "--test"],
  install: ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund"],
  page: "index.html",
};
