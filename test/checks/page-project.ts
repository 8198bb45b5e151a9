import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Criterion, PageStep } from "../../src/checks/acceptance.ts";
import { scratchFolder } from "../workspace/scratch.ts";

/** A project with these files. */
export function projectOf(files: Readonly<Record<string, string>>): string {
  const root = join(scratchFolder(), "project");
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return root;
}

/** A criterion that is checked by steps on a page. */
export function pageCriterion(id: string, ...steps: PageStep[]): Criterion {
  return { id, priority: "P0", given: "a page", when: "it is used", then: "it works", check: { kind: "page", steps } };
}

const BOARD_STYLE = `
  h2 { text-transform: uppercase }
  .columns { display: flex; gap: 1em }
  .column { min-height: 8em; width: 14em; border: 1px solid }
  .card { border: 1px solid; padding: .3em }
  [hidden], .gone { display: none }
`;

const BOARD_SCRIPT = `
  const state = JSON.parse(localStorage.getItem("board") ?? '{"todo":[],"done":[]}');
  const keep = () => { localStorage.setItem("board", JSON.stringify(state)); draw(); };
  function draw() {
    for (const name of Object.keys(state)) {
      const list = document.querySelector("#" + name + " .cards");
      list.replaceChildren(...state[name].map((title) => {
        const card = document.createElement("div");
        card.className = "card";
        card.draggable = true;
        card.textContent = title;
        card.addEventListener("dragstart", (event) => event.dataTransfer.setData("text/plain", name + "/" + title));
        card.addEventListener("dblclick", () => { state[name] = state[name].filter((one) => one !== title); keep(); });
        card.classList.toggle("gone", !title.includes(document.querySelector("#filter").value));
        return card;
      }));
    }
    document.querySelector("#count").textContent = state.todo.length + " open";
  }
  for (const column of document.querySelectorAll(".column")) {
    column.addEventListener("dragover", (event) => event.preventDefault());
    column.addEventListener("drop", (event) => {
      const [from, title] = event.dataTransfer.getData("text/plain").split("/");
      state[from] = state[from].filter((one) => one !== title);
      state[column.id].push(title);
      keep();
    });
  }
  document.querySelector("form").addEventListener("submit", (event) => {
    event.preventDefault();
    const field = document.querySelector("#title");
    if (field.value.trim() === "") return;
    state.todo.push(field.value.trim());
    field.value = "";
    keep();
  });
  document.querySelector("#filter").addEventListener("input", draw);
  document.querySelector("#size").addEventListener("change", (event) => { document.body.dataset.size = event.target.value; });
  document.querySelector("#later").addEventListener("click", () => setTimeout(() => { document.querySelector("#note").hidden = false; }, 700));
  document.querySelector("#clear").addEventListener("click", () => { if (confirm("Clear all?")) { state.todo = []; keep(); } });
  draw();
`;

/** A board that works. */
export const BOARD: Readonly<Record<string, string>> = {
  "index.html": `<!doctype html><html lang="en"><head><title>Board</title><link rel="stylesheet" href="style.css"></head><body><h1>Board</h1>
    <form><input id="title" placeholder="New card"><button>Add</button></form><input id="filter"><p id="count"></p>
    <select id="size"><option value="s">Small</option><option value="l">Large</option></select>
    <button id="later">Show note</button><button id="clear">Clear</button><p id="note" hidden>The note is here.</p>
    <div class="columns"><div class="column" id="todo"><h2>To do</h2><div class="cards"></div></div>
    <div class="column" id="done"><h2>Done</h2><div class="cards"></div></div></div><script src="js/board.js"></script></body></html>`,
  "style.css": BOARD_STYLE,
  "js/board.js": BOARD_SCRIPT,
};

/** Steps that add a card to the board. */
export function addCard(title: string): PageStep[] {
  return [
    { do: "type", at: "#title", text: title },
    { do: "press", at: "#title", key: "Enter" },
  ];
}
