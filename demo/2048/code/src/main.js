// Wires the parts together: a command changes the state, the view shows it, the storage keeps it.
(() => {
  "use strict";

  const { DIRECTIONS } = globalThis.Game2048.board;
  const game = globalThis.Game2048.game;
  const { listenToKeys, listenToSwipes } = globalThis.Game2048.input;
  const storage = globalThis.Game2048.storage.createStorage(() => window.localStorage, "game-2048");
  const view = globalThis.Game2048.view.createView();

  let state = game.fromSaved(storage.load());
  const isNewPlayer = state === null;
  state ??= game.start({ random: Math.random });
  view.show(state, { appear: isNewPlayer });

  function change(next, how) {
    if (next === state) return;
    state = next;
    view.show(state, how);
    storage.save(game.toSaved(state));
  }

  function move(direction) {
    if (game.statusOf(state) !== "playing") return;
    const result = game.play(state, direction, Math.random);
    if (result.move === null) view.refuse();
    else change(result.state, { move: result.move });
  }

  const commands = {
    undo: () => change(game.undo(state)),
    new: () => change(game.restart(state, Math.random), { appear: true }),
    "keep-playing": () => change(game.keepPlaying(state)),
  };

  const run = (command) => (DIRECTIONS.includes(command) ? move(command) : commands[command]());

  listenToKeys(document, run);
  listenToSwipes(document.getElementById("board"), run);
  for (const button of document.querySelectorAll("[data-command]")) {
    button.addEventListener("click", () => run(button.dataset.command));
  }
})();
