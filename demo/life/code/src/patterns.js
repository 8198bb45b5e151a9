// The patterns to choose from, drawn as pictures: O is a living cell.
(() => {
  "use strict";

  const { createWorld, setCells } = globalThis.Life.world;

  const PATTERNS = [
    {
      id: "gun",
      name: "Glider gun",
      note: "Found by Bill Gosper in 1970. It sends out a glider every 30 generations.",
      picture: [
        "........................O...........",
        "......................O.O...........",
        "............OO......OO............OO",
        "...........O...O....OO............OO",
        "OO........O.....O...OO..............",
        "OO........O...O.OO....O.O...........",
        "..........O.....O.......O...........",
        "...........O...O....................",
        "............OO......................",
      ],
    },
    {
      id: "glider",
      name: "Glider",
      note: "Five cells that walk: one step down and to the right in 4 generations.",
      picture: [".O.", "..O", "OOO"],
    },
    {
      id: "spaceship",
      name: "Lightweight spaceship",
      note: "Flies sideways at half the speed of light: two cells in 4 generations.",
      picture: [".O..O", "O....", "O...O", "OOOO."],
    },
    {
      id: "pulsar",
      name: "Pulsar",
      note: "The best known oscillator. It repeats every 3 generations.",
      picture: [
        "..OOO...OOO..",
        ".............",
        "O....O.O....O",
        "O....O.O....O",
        "O....O.O....O",
        "..OOO...OOO..",
        ".............",
        "..OOO...OOO..",
        "O....O.O....O",
        "O....O.O....O",
        "O....O.O....O",
        ".............",
        "..OOO...OOO..",
      ],
    },
    {
      id: "pentadecathlon",
      name: "Pentadecathlon",
      note: "A row of ten becomes an oscillator that repeats every 15 generations.",
      picture: ["OOOOOOOOOO"],
    },
    {
      id: "r-pentomino",
      name: "R-pentomino",
      note: "Five cells that keep a large world busy for 1103 generations.",
      picture: [".OO", "OO.", ".O."],
    },
    {
      id: "acorn",
      name: "Acorn",
      note: "Seven cells that grow for more than 5000 generations where there is room.",
      picture: [".O.....", "...O...", "OO..OOO"],
    },
    {
      id: "diehard",
      name: "Diehard",
      note: "Vanishes without a trace, but only after 130 generations.",
      picture: ["......O.", "OO......", ".O...OOO"],
    },
  ];

  const patternOf = (id) => PATTERNS.find((pattern) => pattern.id === id);

  /** The living cells of a picture, counted from its top left corner. */
  function pointsOf(picture) {
    return picture.flatMap((row, y) => [...row].flatMap((letter, x) => (letter === "O" ? [{ x, y }] : [])));
  }

  /** An empty world with the picture in its centre. */
  function worldOf({ picture }, width, height) {
    const left = Math.floor((width - picture[0].length) / 2);
    const top = Math.floor((height - picture.length) / 2);
    const points = pointsOf(picture).map(({ x, y }) => ({ x: x + left, y: y + top }));
    return setCells(createWorld(width, height), points, true);
  }

  globalThis.Life.patterns = Object.freeze({ PATTERNS, patternOf, pointsOf, worldOf });
})();
