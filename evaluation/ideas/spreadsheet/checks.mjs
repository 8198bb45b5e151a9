const at = (cell) => `[data-cell=${cell}]`;
const select = (cell) => ({ do: "click", at: at(cell) });
const set = (cell, text) => [select(cell), { do: "type", at: "#formula", text }, { do: "press", at: "#formula", key: "Enter" }];
const shows = (cell, equals) => ({ do: "expect", at: at(cell), equals });
const click = (id) => ({ do: "click", at: `#${id}` });
const formula = (text, equals) => [...set("J20", text), shows("J20", equals)];

export const list = {
  size: "L",
  stack: "page",
  start: { page: true },
  quality: ["no network", "no packages"],
  checks: [
    {
      says: "the sheet has two hundred cells",
      page: [
        { do: "expect", at: "td[data-cell]", count: 200 },
        { do: "expect", at: at("J20"), count: 1 },
      ],
    },
    {
      says: "a click selects a cell and tells its name",
      page: [
        select("B3"),
        { do: "expect", at: `${at("B3")}.selected`, count: 1 },
        { do: "expect", at: ".selected", count: 1 },
        { do: "expect", at: "#cell-name", contains: ["B3"] },
      ],
    },
    {
      says: "a typed text is shown, and Enter selects the cell below",
      page: [...set("A1", "hello"), shows("A1", "hello"), { do: "expect", at: `${at("A2")}.selected`, count: 1 }],
    },
    {
      says: "the field shows what was typed",
      page: [...set("A1", "=1+2"), shows("A1", "3"), select("A1"), { do: "expect", at: "#formula", value: "=1+2" }],
    },
    {
      says: "Escape throws away",
      page: [
        ...set("A1", "5"),
        select("A1"),
        { do: "type", at: "#formula", text: "6" },
        { do: "press", at: "#formula", key: "Escape" },
        shows("A1", "5"),
      ],
    },
    {
      says: "precedence",
      page: [
        ...formula("=2+3*4^2/8", "8"),
        ...formula("=(2+3)*4", "20"),
        ...formula("=2^3^2", "512"),
        ...formula("=-2^2", "-4"),
        ...formula("=10-4-3", "3"),
      ],
    },
    { says: "no noise", page: formula("=0.1+0.2", "0.3") },
    { says: "references, also absolute and in lower case", page: [...set("A1", "4"), ...formula("=a1*2+$A$1", "12")] },
    { says: "an empty cell is 0, or an empty text", page: [...formula("=B9+1", "1"), ...formula('="x"&B9&"y"', "xy")] },
    {
      says: "sums of ranges pass over texts",
      page: [
        ...set("A1", "1"),
        ...set("A2", "two"),
        ...set("B1", "3"),
        ...set("B2", "4"),
        ...formula("=SUM(A1:B2)", "8"),
        ...formula("=COUNT(A1:B2)", "3"),
        ...formula("=AVERAGE(A1:B1)", "2"),
        ...formula("=MAX(A1:B2)-MIN(A1:B2)", "3"),
      ],
    },
    {
      says: "functions",
      page: [
        ...formula("=ROUND(2.345,1)", "2.3"),
        ...formula("=ABS(-3)", "3"),
        ...formula('=LEN("four")', "4"),
        ...formula('=UPPER("abc")', "ABC"),
        ...formula('=CONCAT("a",1,"b")', "a1b"),
      ],
    },
    {
      says: "comparisons and logic",
      page: [
        ...formula("=1<2", "TRUE"),
        ...formula("=1<>1", "FALSE"),
        ...formula('=IF(AND(1<2,NOT(3<2)),"yes","no")', "yes"),
        ...formula("=OR(1>2,2>3)", "FALSE"),
      ],
    },
    { says: "IF calculates only the branch it needs", page: formula("=IF(1=1,5,1/0)", "5") },
    {
      says: "errors are told apart",
      page: [
        ...formula("=1/0", "#DIV/0!"),
        ...formula("=NOPE(1)", "#NAME?"),
        ...formula("=Z99", "#REF!"),
        ...formula('="a"*2', "#VALUE!"),
        ...formula("=1+", "#SYNTAX!"),
        ...formula("=(1", "#SYNTAX!"),
      ],
    },
    { says: "errors travel", page: [...set("A1", "=1/0"), ...formula("=A1+1", "#DIV/0!")] },
    {
      says: "circles are found, and end when they are broken",
      page: [
        ...set("A1", "=B1"),
        ...set("B1", "=A1"),
        shows("A1", "#CYCLE!"),
        shows("B1", "#CYCLE!"),
        ...set("B1", "7"),
        shows("A1", "7"),
        ...set("C1", "=C1"),
        shows("C1", "#CYCLE!"),
      ],
    },
    {
      says: "what depends on a cell is calculated again",
      page: [...set("C1", "=B1*2"), ...set("B1", "=A1+1"), ...set("A1", "1"), shows("C1", "4"), ...set("A1", "9"), shows("C1", "20")],
    },
    {
      says: "undo and redo",
      page: [
        ...set("A1", "1"),
        ...set("A1", "2"),
        click("undo"),
        shows("A1", "1"),
        click("undo"),
        shows("A1", ""),
        click("redo"),
        click("redo"),
        shows("A1", "2"),
      ],
    },
    {
      says: "fill down moves relative references and leaves absolute ones",
      page: [
        ...set("A1", "1"),
        ...set("A2", "2"),
        ...set("A3", "3"),
        ...set("B1", "=A1*$A$1+10"),
        select("B1"),
        click("fill-down"),
        click("fill-down"),
        shows("B2", "12"),
        shows("B3", "13"),
        select("B3"),
        { do: "expect", at: "#formula", value: "=A3*$A$1+10" },
      ],
    },
    {
      says: "export writes the values as CSV",
      page: [...set("A1", "x,y"), ...set("B2", "=1+1"), click("export"), { do: "expect", at: "#csv", value: '"x,y",\n,2' }],
    },
    {
      says: "import reads CSV as if typed, and one undo takes it back",
      page: [
        { do: "type", at: "#csv", text: '5,"=A1*2"\n"a ""b""",' },
        click("import"),
        shows("A1", "5"),
        shows("B1", "10"),
        shows("A2", 'a "b"'),
        click("undo"),
        shows("A1", ""),
        shows("A2", ""),
      ],
    },
    {
      says: "clear can be undone",
      page: [
        ...set("A1", "1"),
        ...set("B2", "2"),
        click("clear"),
        shows("A1", ""),
        shows("B2", ""),
        click("undo"),
        shows("A1", "1"),
        shows("B2", "2"),
      ],
    },
    {
      says: "everything is there after a reload",
      page: [
        ...set("A1", "3"),
        ...set("B1", "=A1*3"),
        { do: "reload" },
        shows("B1", "9"),
        select("B1"),
        { do: "expect", at: "#formula", value: "=A1*3" },
      ],
    },
    { says: "text is text", page: [...set("A1", "<i>x</i>"), shows("A1", "<i>x</i>"), { do: "expect", at: "td i", count: 0 }] },
    {
      says: "arrow keys move the selection",
      page: [
        select("B2"),
        { do: "press", at: at("B2"), key: "ArrowRight" },
        { do: "expect", at: `${at("C2")}.selected`, count: 1 },
        { do: "press", at: at("C2"), key: "ArrowDown" },
        { do: "expect", at: `${at("C3")}.selected`, count: 1 },
      ],
    },
  ],
};
